#include "collectors/facts/pci_config.h"

#include "lib/kernel/sysfs.h"
#include <string.h>

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

static void parse_acs(const uint8_t *bytes, size_t length, size_t at, struct pci_acs *acs)
{
    if (at + 8 > length)
        return;
    uint32_t registers = word_at(bytes, at + 4);
    *acs = (struct pci_acs){
        .present = true, .capability = (uint16_t)registers, .control = (uint16_t)(registers >> 16)};
}

/* Sizes are powers of two from 1 MiB; bits 4 to 31 of the capability register list the possible sizes, bits 8
 * to 12 of the control register hold the current size, its bits 5 to 7 the number of BARs. */
static void parse_resizable(const uint8_t *bytes, size_t length, size_t at, struct pci_resizable_bar *bars)
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
}

void pci_config_parse(const uint8_t *bytes, size_t length, struct pci_config *config)
{
    memset(config, 0, sizeof *config);
    if (length > PCI_CONFIG_BYTES)
        length = PCI_CONFIG_BYTES;
    parse_express(bytes, length, &config->express);
    config->extended = length > EXTENDED_START;
    size_t at = EXTENDED_START;
    /* The number of steps is limited to the possible number of capabilities, because the list may be cyclic. */
    for (int steps = 0;
         steps < (PCI_CONFIG_BYTES - EXTENDED_START) / 4 && at >= EXTENDED_START && at + 4 <= length;
         steps++) {
        uint32_t header = word_at(bytes, at);
        if (header == 0 || header == UINT32_MAX)
            return;
        if ((header & 0xffff) == CAPABILITY_ACS)
            parse_acs(bytes, length, at, &config->acs);
        if ((header & 0xffff) == CAPABILITY_REBAR)
            parse_resizable(bytes, length, at, config->bars);
        at = header >> 20 & ~3U;
    }
}

void pci_config_read(const char *root, const char *address, struct pci_config *config)
{
    uint8_t bytes[PCI_CONFIG_BYTES];
    ssize_t length = sysfs_bytes(bytes, sizeof bytes, root, "/sys/bus/pci/devices/%s/config", address);
    pci_config_parse(bytes, length > 0 ? (size_t)length : 0, config);
}
