#include "lib/formats/lab_words.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- PCI */

int pci_parse(const char *text, struct pci_address *a, struct error *e)
{
    int end = 0;
    *a = (struct pci_address){0};
    bool read =
        (sscanf(text, "%4x:%2x:%2x.%1x%n", &a->domain, &a->bus, &a->slot, &a->function, &end) == 4 &&
         text[end] == '\0') ||
        (a->domain = 0, end = 0,
         sscanf(text, "%2x:%2x.%1x%n", &a->bus, &a->slot, &a->function, &end) == 3 && text[end] == '\0');
    if (!read || strspn(text, "0123456789abcdefABCDEF:.") != strlen(text) || a->slot > 31 || a->function > 7)
        return error_set(e, "\"%.40s\" is not %s: expected %s", text, form_pci.is, form_pci.expected);
    return 0;
}

char *pci_format(const struct pci_address *a, char *buffer)
{
    snprintf(buffer, 16, "%04x:%02x:%02x.%x", a->domain & 0xffff, a->bus & 0xff, a->slot & 0x1f,
             a->function & 7);
    return buffer;
}

static bool is_pci(const char *text)
{
    struct pci_address address;
    return pci_parse(text, &address, NULL) == 0;
}

const struct form form_pci = {"a PCI address", "one such as 0000:41:00.0", .fits = is_pci};

/* ---- CPUs */

#define MAX_CPU 4096u

static bool read_number(const char **at, unsigned *value)
{
    const char *start = *at;
    *value = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        if ((*value = *value * 10 + (unsigned)(**at - '0')) >= MAX_CPU)
            return false;
    return *at > start;
}

int cpu_list_parse(const char *text, unsigned **cpus, size_t *count, struct error *e)
{
    const char *at = text;
    *count = 0;
    *cpus = calloc(MAX_CPU, sizeof **cpus);
    while (*cpus) {
        unsigned from, to;
        if (!read_number(&at, &from))
            break;
        to = from;
        if (*at == '-' && (at++, !read_number(&at, &to)))
            break;
        if (to < from || to >= MAX_CPU || *count + (to - from) >= MAX_CPU)
            break;
        for (unsigned cpu = from; cpu <= to; cpu++)
            (*cpus)[(*count)++] = cpu;
        if (*at == '\0')
            return 0;
        if (*at++ != ',')
            break;
    }
    if (*cpus)
        error_set(e, "\"%.60s\" is not %s: expected %s", text, form_cpus.is, form_cpus.expected);
    else
        error_set(e, "out of memory");
    free(*cpus);
    *cpus = NULL;
    *count = 0;
    return -1;
}

static bool is_cpus(const char *text)
{
    unsigned *cpus;
    size_t count;
    bool fits = cpu_list_parse(text, &cpus, &count, NULL) == 0;
    free(cpus);
    return fits;
}

const struct form form_cpus = {"a list of CPUs", "one such as 2-15,34-47 (below 4096)", .fits = is_cpus};

/* ---- networks */

/* Parse "10.0.0.1/24" or "fd00::1/64" into 4 or 16 bytes: the family (AF_INET, AF_INET6), or 0 if it is
 * neither. */
static int address_parse(const char *text, uint8_t bytes[16], int *prefix)
{
    char host[INET6_ADDRSTRLEN] = "", rest;
    const char *slash = strchr(text, '/');
    int family = strchr(text, ':') ? AF_INET6 : AF_INET;
    if (!slash || strspn(slash + 1, "0123456789") != strlen(slash + 1) || strlen(slash) > 4)
        return 0; /* scanf would also take signs and line breaks */
    if (sscanf(text, "%45[0-9a-fA-F.:]/%d%c", host, prefix, &rest) != 2 || *prefix < 0 ||
        *prefix > (family == AF_INET ? 32 : 128) || inet_pton(family, host, bytes) != 1)
        return 0;
    return family;
}

bool address_is_ip(const char *text)
{
    uint8_t bytes[16];
    int prefix;
    if (strchr(text, '/'))
        return address_parse(text, bytes, &prefix) != 0;
    return inet_pton(strchr(text, ':') ? AF_INET6 : AF_INET, text, bytes) == 1;
}

/* "52:54:00:12:34:56" */
static bool address_is_mac(const char *text)
{
    size_t i = 0;
    for (; text[i]; i++)
        if (i >= 17 || (i % 3 == 2 ? text[i] != ':' : !strchr("0123456789abcdefABCDEF", text[i])))
            return false;
    return i == 17;
}

bool lab_subnet_parse(const char *text, struct lab_subnet *subnet)
{
    char address[INET_ADDRSTRLEN + 4], rest;
    struct in_addr base;
    const char *slash = strchr(text, '/');
    size_t length = slash ? (size_t)(slash - text) : 0;
    if (!slash || length >= sizeof address || strspn(slash + 1, "0123456789") != strlen(slash + 1))
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    if (sscanf(slash, "/%2d%c", &subnet->prefix, &rest) != 1 || subnet->prefix < 8 || subnet->prefix > 28 ||
        inet_pton(AF_INET, address, &base) != 1)
        return false;
    subnet->base = ntohl(base.s_addr);
    return (subnet->base & ((1u << (32 - subnet->prefix)) - 1)) == 0;
}

static bool is_subnet(const char *text)
{
    struct lab_subnet subnet;
    return lab_subnet_parse(text, &subnet);
}

const struct form form_subnet = {"an IPv4 network with a prefix length of 8 to 28",
                                 "one such as 198.51.100.0/26", .fits = is_subnet};

bool lab_same_network(const char *one, const char *other)
{
    uint8_t a[16], b[16];
    int a_bits, b_bits, family = address_parse(one, a, &a_bits);
    if (family == 0 || family != address_parse(other, b, &b_bits))
        return false;
    for (int bit = 0; bit < a_bits && bit < b_bits; bit++)
        if ((a[bit / 8] ^ b[bit / 8]) & (0x80 >> bit % 8))
            return false;
    return true;
}

static bool is_network_address(const char *text)
{
    return strchr(text, '/') && address_is_ip(text);
}

const struct form form_address = {"an IPv4 or IPv6 address", "one such as 10.0.0.1/24",
                                  .fits = address_is_ip};
const struct form form_network_address = {"an address with a prefix length", "one such as 10.0.1.1/24",
                                          .fits = is_network_address};
const struct form form_mac = {"a MAC address", "one such as 52:54:00:12:34:56", .fits = address_is_mac};

/* ---- folders */

/* It stands in XML and in commands of libvirt and QEMU. */
static bool is_folder(const char *text)
{
    return *text == '/' && !strpbrk(text, "<>&'\"") && form_fits(&form_line, text);
}

const struct form form_folder = {"an absolute path", "one such as /srv/images, without < > & and quotes",
                                 .fits = is_folder};

/* ---- URIs of libvirt
 * libvirt runs what some of them name: "command" for the transports ssh and ext, "netcat" on the other
 * machine; "keyfile", "sshauth", "known_hosts" and "no_verify" choose how that machine is trusted, and
 * qemu:///embed runs the hypervisor in this process (libvirt, "Connection URIs"). So transports, paths and
 * parameters are those of this list. */

static bool is_one_of(const char *text, size_t length, const char *const words[])
{
    for (; *words; words++)
        if (strlen(*words) == length && strncmp(text, *words, length) == 0)
            return true;
    return false;
}

static bool is_made_of(const char *text, size_t length, const char *also)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", text[i]) &&
            !strchr(also, text[i]))
            return false;
    return length > 0 && *text != '-';
}

/* "0" to "65535" */
static bool is_port(const char *text, size_t length)
{
    return length > 0 && length <= 5 && strspn(text, "0123456789") >= length &&
           strtol(text, NULL, 10) <= 65535;
}

/* "[user@]host[:port]", the host a name, an IPv4 address, or an IPv6 address in brackets. */
static bool is_machine(const char *text, size_t length)
{
    const char *end = text + length, *at = memchr(text, '@', length);
    const char *host = at ? at + 1 : text;
    if (at && !is_made_of(text, (size_t)(at - text), "._-"))
        return false;
    bool bracket = host < end && *host == '[';
    const char *stop =
        bracket ? memchr(host, ']', (size_t)(end - host)) : memchr(host, ':', (size_t)(end - host));
    const char *rest = stop ? stop + bracket : end;
    if (bracket ? !stop || !is_made_of(host + 1, (size_t)(stop - host - 1), ":.%")
                : !is_made_of(host, (size_t)(rest - host), "._-"))
        return false;
    return rest == end || (*rest == ':' && is_port(rest + 1, (size_t)(end - rest - 1)));
}

/* "socket=/run/x": only where libvirt's daemon of this machine listens. */
static bool is_socket(const char *text, size_t length)
{
    static const char key[] = "socket=/";
    size_t skip = sizeof key - 1;
    return length > skip && strncmp(text, key, skip) == 0 && is_made_of(text + skip, length - skip, "/._-");
}

/* "mode=direct&no_tty=1": what is given after the '?'. */
static bool are_parameters(const char *text, bool local)
{
    static const char *const harmless[] = {"mode=auto", "mode=direct", "mode=legacy",  "no_tty=0",
                                           "no_tty=1",  "proxy=auto",  "proxy=native", NULL};
    for (;;) {
        size_t length = strcspn(text, "&");
        if (!is_one_of(text, length, harmless) && !(local && is_socket(text, length)))
            return false;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

bool lab_uri_fits(const char *uri)
{
    static const char *const local[] = {"qemu", "qemu+unix", NULL}, *const far[] = {"qemu+ssh", "qemu+tls",
                                                                                    NULL};
    static const char *const paths[] = {"/system", "/session", NULL};
    size_t scheme = strcspn(uri, ":");
    if (strcmp(uri, "test:///default") == 0)
        return true;
    bool here = is_one_of(uri, scheme, local);
    if ((!here && !is_one_of(uri, scheme, far)) || strncmp(uri + scheme, "://", 3) != 0)
        return false;
    const char *machine = uri + scheme + 3, *path = strpbrk(machine, "/?");
    if (!path || (here ? path != machine : !is_machine(machine, (size_t)(path - machine))))
        return false;
    size_t length = strcspn(path, "?");
    return is_one_of(path, length, paths) &&
           (path[length] == '\0' || are_parameters(path + length + 1, here));
}

const struct form form_uri = {"a URI of libvirt's QEMU driver that a lab may have",
                              "one such as qemu:///system, qemu:///session or "
                              "qemu+ssh://user@host:22/system, with no other parameters than "
                              "mode, no_tty, proxy=auto or native, and socket on this machine: with others "
                              "libvirt runs programs, or trusts "
                              "machines that it does not know",
                              .fits = lab_uri_fits};
