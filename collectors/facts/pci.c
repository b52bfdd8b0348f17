#include "collectors/facts/pci.h"

#include "collectors/sources/slow_files.h"
#include "lib/kernel/sysfs.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names and paths */

static bool is_hex(const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isxdigit((unsigned char)text[i]))
            return false;
    return true;
}

/* Length of an address at the start of text: domains have four digits, or more behind some host bridges. 0:
 * none. */
static size_t address_length(const char *text)
{
    size_t domain = strspn(text, "0123456789abcdefABCDEF");
    const char *rest = text + domain;
    if (domain < 4 || domain > 8 || strnlen(rest, 8) < 8 || rest[0] != ':' || !is_hex(rest + 1, 2) ||
        rest[3] != ':' || !is_hex(rest + 4, 2) || rest[6] != '.' || rest[7] < '0' || rest[7] > '7')
        return 0;
    return domain + 8;
}

bool pci_address_valid(const char *address)
{
    size_t length = address_length(address);
    return length > 0 && length < PCI_ADDRESS && address[length] == '\0';
}

/* The host bridge's folder: the last part of the path that is "pciDDDD:BB". */
static const char *find_host_bridge(const char *path, size_t *length)
{
    const char *found = NULL;
    for (const char *at = strstr(path, "/pci"); at; at = strstr(at + 1, "/pci")) {
        size_t size = strcspn(at + 1, "/");
        if (size < 10 || size > 14 || !isxdigit((unsigned char)at[4]) || at[1 + size - 3] != ':')
            continue;
        found = at + 1;
        *length = size;
    }
    return found;
}

int pci_chain_parse(const char *path, struct pci_chain *chain, struct error *e)
{
    size_t length = 0;
    const char *at = find_host_bridge(path, &length);
    *chain = (struct pci_chain){0};
    if (!at)
        return error_set(e, "%.200s is not a path below a PCI host bridge", path);
    memcpy(chain->host_bridge, at, length);
    for (at += length; *at == '/'; at += length) {
        at++;
        length = address_length(at);
        if (length == 0 || length >= PCI_ADDRESS || (at[length] != '/' && at[length] != '\0'))
            break;
        if (chain->count == PCI_DEPTH)
            return error_set(e, "%.200s is deeper than %d PCI bridges", path, PCI_DEPTH);
        memcpy(chain->addresses[chain->count], at, length);
        chain->addresses[chain->count++][length] = '\0';
    }
    return chain->count > 0 ? 0 : error_set(e, "%.200s does not name a PCI device", path);
}

void pci_bars_parse(const char *text, uint64_t bytes[PCI_BARS])
{
    memset(bytes, 0, PCI_BARS * sizeof bytes[0]);
    for (int i = 0; i < PCI_BARS && *text != '\0'; i++) {
        char *end;
        unsigned long long first = strtoull(text, &end, 16);
        unsigned long long last = *end == ' ' ? strtoull(end, &end, 16) : 0;
        if (*end == ' ' && last > first)
            bytes[i] = last - first + 1;
        text = strchr(text, '\n');
        if (!text)
            return;
        text++;
    }
}

/* ---- reading */

static int64_t number_of(const char *root, const char *address, const char *file)
{
    int64_t value;
    return sysfs_number(&value, root, "/sys/bus/pci/devices/%s/%s", address, file) ? value : -1;
}

static int64_t speed_of(const char *root, const char *address, const char *file)
{
    char text[64];
    ssize_t length = sysfs_text(text, sizeof text, root, "/sys/bus/pci/devices/%s/%s", address, file);
    int64_t speed = length > 0 ? slow_text_value(SLOW_LINK_SPEED, text, (size_t)length) : LINES_NULL;
    return speed == LINES_NULL ? -1 : speed;
}

static void read_link(const char *root, struct pci_device *d)
{
    d->link.speed_mtps = speed_of(root, d->address, "current_link_speed");
    d->link.max_speed_mtps = speed_of(root, d->address, "max_link_speed");
    d->link.width = number_of(root, d->address, "current_link_width");
    d->link.max_width = number_of(root, d->address, "max_link_width");
    /* A width of 255 or 0 means unknown (drivers/pci/pci-sysfs.c passes the register's value on). */
    if (d->link.width <= 0 || d->link.width > 32)
        d->link.width = -1;
    if (d->link.max_width <= 0 || d->link.max_width > 32)
        d->link.max_width = -1;
}

int pci_device_read(const char *root, const char *address, struct pci_device *device, struct error *e)
{
    char resources[4096];
    *device = (struct pci_device){.numa_node = -1};
    if (!pci_address_valid(address))
        return error_set(e, "\"%.40s\" is not a PCI address: expected one such as 0000:41:00.0", address);
    snprintf(device->address, sizeof device->address, "%s", address);
    char *path = sysfs_resolve(root, "/sys/bus/pci/devices/%s", address);
    if (!path)
        return error_set(e, "there is no PCI device %s", address);
    int result = pci_chain_parse(path, &device->chain, e);
    free(path);
    if (result == -1)
        return -1;
    device->vendor = number_of(root, address, "vendor");
    device->device = number_of(root, address, "device");
    device->class = number_of(root, address, "class");
    device->numa_node = number_of(root, address, "numa_node");
    (void)sysfs_link(device->driver, sizeof device->driver, root, "/sys/bus/pci/devices/%s/driver", address);
    read_link(root, device);
    ssize_t length =
        sysfs_bytes(resources, sizeof resources - 1, root, "/sys/bus/pci/devices/%s/resource", address);
    resources[length > 0 ? length : 0] = '\0';
    pci_bars_parse(resources, device->bar_bytes);
    return 0;
}

/* ---- relations */

const char *pci_relation_name(enum pci_relation relation)
{
    static const char *const names[] = {
        [PCI_SAME] = "X",    [PCI_PIX] = "PIX", [PCI_PXB] = "PXB",         [PCI_PHB] = "PHB",
        [PCI_NODE] = "NODE", [PCI_SYS] = "SYS", [PCI_UNKNOWN] = "unknown",
    };
    return names[relation];
}

size_t pci_chain_common(const struct pci_chain *a, const struct pci_chain *b)
{
    size_t i = 0;
    if (strcmp(a->host_bridge, b->host_bridge) != 0)
        return 0;
    while (i < a->count && i < b->count && strcmp(a->addresses[i], b->addresses[i]) == 0)
        i++;
    return i;
}

enum pci_relation pci_relation(const struct pci_device *a, const struct pci_device *b, size_t nodes)
{
    size_t common = pci_chain_common(&a->chain, &b->chain);
    if (strcmp(a->address, b->address) == 0)
        return PCI_SAME;
    if (common > 0) {
        /* Below the shared bridges each side has its own bridges, then the device. One switch leaves one
         * downstream port on each side; more bridges mean further switches. */
        size_t left = a->chain.count - common, right = b->chain.count - common;
        return left <= 2 && right <= 2 ? PCI_PIX : PCI_PXB;
    }
    if (strcmp(a->chain.host_bridge, b->chain.host_bridge) == 0)
        return PCI_PHB;
    if (nodes == 1)
        return PCI_NODE;
    if (a->numa_node < 0 || b->numa_node < 0)
        return PCI_UNKNOWN;
    return a->numa_node == b->numa_node ? PCI_NODE : PCI_SYS;
}

/* ---- configuration space */

#define STATUS             0x06
#define STATUS_LIST        0x10 /* there is a list of capabilities */
#define FIRST_CAPABILITY   0x34
#define HEADER_END         0x40
#define CAPABILITY_EXPRESS 0x10
#define EXTENDED_START     0x100
#define CAPABILITY_ACS     0x000d
#define CAPABILITY_REBAR   0x0015

static uint32_t word_at(const uint8_t *bytes, size_t at)
{
    return (uint32_t)bytes[at] | (uint32_t)bytes[at + 1] << 8 | (uint32_t)bytes[at + 2] << 16 |
           (uint32_t)bytes[at + 3] << 24;
}

/* The list within the first 256 bytes: at each place a capability's number and the next one's place. */
static void parse_express(const uint8_t *bytes, size_t length, struct pci_express *express)
{
    size_t at = length >= HEADER_END && bytes[STATUS] & STATUS_LIST ? bytes[FIRST_CAPABILITY] & ~3U : 0;
    /* limited, because the list may be cyclic */
    for (int steps = 0; steps < (EXTENDED_START - HEADER_END) / 4 && at >= HEADER_END && at + 10 <= length;
         steps++) {
        if (bytes[at] == CAPABILITY_EXPRESS) {
            *express = (struct pci_express){.present = true,
                                            .control = (uint16_t)(bytes[at + 8] | bytes[at + 9] << 8)};
            return;
        }
        at = bytes[at + 1] & ~3U;
    }
}

/* False: its registers are not in what was read. */
static bool parse_acs(const uint8_t *bytes, size_t length, size_t at, struct pci_acs *acs)
{
    if (at + 8 > length)
        return false;
    uint32_t registers = word_at(bytes, at + 4);
    *acs = (struct pci_acs){
        .present = true, .capability = (uint16_t)registers, .control = (uint16_t)(registers >> 16)};
    return true;
}

/* Sizes are powers of two from 1 MiB; bits 4 to 31 of the capability register list the possible sizes, bits 8
 * to 12 of the control register hold the current size, its bits 5 to 7 the number of BARs. False: not all of
 * it is in what was read. */
static bool parse_resizable(const uint8_t *bytes, size_t length, size_t at, struct pci_resizable_bar *bars)
{
    size_t count = at + 12 <= length ? word_at(bytes, at + 8) >> 5 & 7 : 0;
    for (size_t i = 0; i < count && at + 12 + 8 * i <= length; i++) {
        uint32_t sizes = word_at(bytes, at + 4 + 8 * i) >> 4, control = word_at(bytes, at + 8 + 8 * i);
        size_t index = control & 7, exponent = control >> 8 & 0x3f;
        if (index >= 6 || sizes == 0 || exponent > 40)
            continue;
        bars[index] = (struct pci_resizable_bar){
            .present = true,
            .current_bytes = UINT64_C(1) << (20 + exponent),
            .largest_bytes = UINT64_C(1) << (20 + 31 - __builtin_clz(sizes)),
        };
    }
    return count > 0 && at + 12 + 8 * (count - 1) <= length;
}

void pci_config_parse(const uint8_t *bytes, size_t length, struct pci_config *config)
{
    memset(config, 0, sizeof *config);
    if (length > PCI_CONFIG_BYTES)
        length = PCI_CONFIG_BYTES;
    parse_express(bytes, length, &config->express);
    bool whole = true;
    size_t at = EXTENDED_START;
    /* The number of steps is limited to the possible number of capabilities, because the list may be
     * cyclic. */
    for (int steps = 0;
         steps < (PCI_CONFIG_BYTES - EXTENDED_START) / 4 && at >= EXTENDED_START && at + 4 <= length;
         steps++) {
        uint32_t header = word_at(bytes, at);
        if (header == UINT32_MAX) /* a function that does not answer reads as ones */
            return;
        if ((header & 0xffff) == CAPABILITY_ACS)
            whole = parse_acs(bytes, length, at, &config->acs) && whole;
        if ((header & 0xffff) == CAPABILITY_REBAR)
            whole = parse_resizable(bytes, length, at, config->bars) && whole;
        at = header >> 20 & ~3U;
    }
    config->extended = whole && at == 0;
}

void pci_config_read(const char *root, const char *address, struct pci_config *config)
{
    uint8_t bytes[PCI_CONFIG_BYTES];
    ssize_t length = sysfs_bytes(bytes, sizeof bytes, root, "/sys/bus/pci/devices/%s/config", address);
    pci_config_parse(bytes, length > 0 ? (size_t)length : 0, config);
}
