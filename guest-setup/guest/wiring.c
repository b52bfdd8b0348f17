#include "guest-setup/guest/wiring.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names */

/* FNV-1a over strings: values derived from names are the same every time. */
static uint32_t hash_words(const char *const words[], size_t count)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < count; i++)
        for (const char *c = words[i]; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash ^ hash >> 24;
}

/* A MAC address with QEMU's prefix. */
static void make_mac(const struct lab *lab, const struct lab_host *host, const char *port, char mac[18])
{
    const char *const words[] = {lab->name, "/", lab_guest_name(host), "/", port};
    uint32_t hash = hash_words(words, sizeof words / sizeof *words);
    snprintf(mac, 18, "52:54:00:%02x:%02x:%02x", (hash >> 16) & 255, (hash >> 8) & 255, hash & 255);
}

/* A port of the machine's loopback, below the kernel's ephemeral ports (from 32768). */
static int make_socket_port(const struct lab *lab, const char *what, const char *host)
{
    const char *const words[] = {lab->name, "/", what, "/", host};
    return 20000 + (int)(hash_words(words, sizeof words / sizeof *words) % 12000);
}

/* Is the lab run by a user's own libvirt? */
static bool is_session(const struct lab *lab)
{
    return strstr(lab->uri, "/session");
}

static void network_name(const struct lab *lab, const char *what, char *name, size_t size)
{
    snprintf(name, size, "harness-%.64s-%.20s", lab->name, what);
}

static void link_name(const struct lab *lab, size_t link, char *name, size_t size)
{
    char what[32];
    snprintf(what, sizeof what, "link%zu", link % 100000);
    network_name(lab, what, name, size);
}

/* The number of the guest's first node in the lab. */
static size_t first_node(const struct lab *lab, const struct lab_host *host)
{
    return lab_machine_first(lab, (size_t)(host - lab_host_at(lab, 0)));
}

/* ---- the management subnet */

static int parse_subnet(const char *text, struct lab_subnet *subnet, struct error *e)
{
    return lab_subnet_parse(text, subnet)
               ? 0
               : error_set(e, "management.subnet: \"%.60s\" is not %s: expected %s", text, form_subnet.is,
                           form_subnet.expected);
}

static void format_address(uint32_t address, char *text)
{
    struct in_addr in = {.s_addr = htonl(address)};
    inet_ntop(AF_INET, &in, text, INET_ADDRSTRLEN);
}

static int management_port(const struct lab *lab, const struct lab_host *host, struct wiring_port *port,
                           struct error *e)
{
    struct lab_subnet subnet = {.prefix = 24};
    size_t index = first_node(lab, host);
    *port = (struct wiring_port){.name = "mgmt0"};
    make_mac(lab, host, "mgmt0", port->mac);
    if (is_session(lab)) {
        port->plug = PLUG_FORWARD;
        port->local_port = make_socket_port(lab, "ssh", lab_guest_name(host));
        snprintf(port->address, sizeof port->address, "10.0.2.15/24"); /* QEMU forwards to this address */
        return 0;
    }
    if (!lab->management.subnet) {
        snprintf(port->network, sizeof port->network, "%s",
                 lab->management.network ? lab->management.network : "default");
        return 0;
    }
    if (parse_subnet(lab->management.subnet, &subnet, e) != 0)
        return -1;
    char address[INET_ADDRSTRLEN];
    format_address(subnet.base + LAB_FIRST_GUEST + (uint32_t)index, address);
    snprintf(port->address, sizeof port->address, "%s/%d", address, subnet.prefix);
    network_name(lab, "mgmt", port->network, sizeof port->network);
    return 0;
}

/* ---- links */

static const struct lab_host *host_named(const struct lab *lab, const char *name)
{
    const struct lab_host *host;
    for (size_t i = 0; (host = lab_host_at(lab, i)); i++)
        if (strcmp(host->name, name) == 0)
            break;
    return host;
}

/* A link is virtual when a guest's end of it is not a PCI device; then ends[0] and ends[1] are both
 * virtual. */
static bool is_virtual_end(const struct lab_host *host)
{
    return host && host->domain && !host->nic.pci;
}

static bool is_virtual(const struct lab *lab, const struct lab_link *link)
{
    char *const *ends = link->between.items;
    return is_virtual_end(host_named(lab, ends[0])) && is_virtual_end(host_named(lab, ends[1]));
}

static bool link_has_end(const struct lab_link *link, const char *host)
{
    char *const *ends = link->between.items;
    return strcmp(ends[0], host) == 0 || strcmp(ends[1], host) == 0;
}

/* The lab's NIC that corresponds to a data interface: the NIC that names it, else nic, then extra_nics in
 * order. */
static const struct lab_nic *nic_of(const struct lab_host *host, const char *name, size_t number)
{
    const struct lab_nic *extra = host->extra_nics.items;
    if (host->nic.netdev && strcmp(host->nic.netdev, name) == 0)
        return &host->nic;
    for (size_t i = 0; i < host->extra_nics.count; i++)
        if (extra[i].netdev && strcmp(extra[i].netdev, name) == 0)
            return &extra[i];
    if (number == 0 && !host->nic.netdev)
        return &host->nic;
    return number > 0 && number <= host->extra_nics.count && !extra[number - 1].netdev ? &extra[number - 1]
                                                                                       : NULL;
}

/* The port `name` of a guest for a link; number: which of the node's links it is. */
static void data_port(const struct lab *lab, const struct lab_host *host, size_t link, size_t number,
                      const char *name, struct wiring_port *port)
{
    const struct lab_link *cable = lab_link_at(lab, link);
    *port = (struct wiring_port){.mtu = cable->mtu == FIELD_UNSET ? 0 : cable->mtu,
                                 .rate_bps = cable->rate_bps == FIELD_UNSET ? 0 : cable->rate_bps};
    char *const *ends = cable->between.items;
    const char *peer = ends[strcmp(ends[0], host->name) == 0];
    port->peer_profile = host_named(lab, peer)->profile;
    snprintf(port->name, sizeof port->name, "%s", name);
    link_name(lab, link, port->network, sizeof port->network);
    make_mac(lab, host, port->name, port->mac);
    if (is_session(lab)) {
        port->plug = PLUG_UDP;
        port->local_port = make_socket_port(lab, port->network, host->name);
        port->peer_port = make_socket_port(lab, port->network, peer);
    }
    port->nic_address = number == 0 ? host->nic.address : NULL;
    const struct lab_nic *nic = nic_of(host, port->name, number);
    if (nic && nic->address)
        snprintf(port->address, sizeof port->address, "%s", nic->address);
    if (nic && nic->mac)
        snprintf(port->mac, sizeof port->mac, "%s", nic->mac);
}

/* Add the ports of one of the guest's nodes, in the order of its links. */
static int add_data_ports(const struct lab *lab, const struct lab_host *node, struct wiring *wiring,
                          struct error *e)
{
    const struct lab_link *link;
    for (size_t i = 0, number = 0; (link = lab_link_at(lab, i)); i++) {
        char name[16];
        if (!link_has_end(link, node->name) || !is_virtual(lab, link))
            continue;
        if (wiring->count == WIRING_MAX_PORTS)
            return error_set(e, "hosts.%s: has more than %d links", lab_guest_name(node),
                             WIRING_MAX_PORTS - 1);
        snprintf(name, sizeof name, "data%zu", (wiring->count - 1) % 1000);
        data_port(lab, node, i, number++, name, &wiring->ports[wiring->count++]);
    }
    return 0;
}

size_t wiring_nodes(const struct lab *lab, const struct lab_host *host)
{
    size_t first = first_node(lab, host), count = 0;
    while (lab_host_at(lab, first + count) && lab_same_machine(lab, first, first + count))
        count++;
    return count;
}

int wiring_of_guest(const struct lab *lab, const struct lab_host *host, struct wiring *wiring,
                    struct error *e)
{
    size_t first = first_node(lab, host), nodes = wiring_nodes(lab, host);
    *wiring = (struct wiring){.count = 1};
    if (management_port(lab, host, &wiring->ports[0], e) != 0)
        return -1;
    for (size_t i = 0; i < nodes; i++)
        if (add_data_ports(lab, lab_host_at(lab, first + i), wiring, e) != 0)
            return -1;
    return 0;
}

int wiring_networks(const struct lab *lab, struct wiring_network **networks, size_t *count, struct error *e)
{
    const struct lab_link *link;
    struct lab_subnet subnet = {.prefix = 24};
    *count = 0;
    *networks = calloc(lab->links.count + 1, sizeof **networks);
    if (!*networks)
        return error_set(e, "out of memory");
    if (is_session(lab))
        return 0;
    if (lab->management.subnet) {
        struct wiring_network *n = &(*networks)[(*count)++];
        if (parse_subnet(lab->management.subnet, &subnet, e) != 0) {
            free(*networks);
            *networks = NULL;
            return -1;
        }
        network_name(lab, "mgmt", n->name, sizeof n->name);
        format_address(subnet.base + 1, n->address);
        n->prefix = subnet.prefix;
    }
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        if (!is_virtual(lab, link))
            continue;
        struct wiring_network *n = &(*networks)[(*count)++];
        link_name(lab, i, n->name, sizeof n->name);
        n->mtu = link->mtu == FIELD_UNSET ? 0 : link->mtu;
    }
    return 0;
}
