#include "lib/document/json_text.h"
#include "lib/formats/lab.h"
#include "lib/formats/lab_kinds.h"
#include "lib/physics/host.h"
#include "lib/physics/fabric.h"
#include "lib/formats/find.h"
#include "lib/document/json_file.h"
#include "lib/document/nearest.h"
#include "lib/formats/scenario.h"
#include "lib/formats/settings.h"
#include "lib/joined.h"
#include <string.h>
#include <stdlib.h>

/* ---- kinds */

const struct lab_kind lab_kinds[] = {
#define KIND(NAME, HELP, HOST, ...) \
    {#NAME, {"lab." #NAME, HELP, sizeof(struct lab), NAME##_fields, NULL}, sizeof(HOST), __VA_ARGS__},
    LAB_KINDS(KIND)
#undef KIND
        {0},
};

const struct lab_kind *lab_kind(const struct lab *lab)
{
    return &lab_kinds[lab->driver];
}

const struct lab_kind *lab_kind_named(const char *name)
{
    for (const struct lab_kind *kind = lab_kinds; kind->name; kind++)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

/* The kind that a document names; NULL with a sentence. */
static const struct lab_kind *kind_of(const json_t *json, struct error *e)
{
    const json_t *said = json_object_get(json, "driver");
    struct text names = {0};
    if (!json_is_object(json)) {
        error_set(e, "the document is not an object: expected a lab");
        return NULL;
    }
    const struct lab_kind *kind = json_is_string(said) ? lab_kind_named(json_string_value(said)) : NULL;
    if (kind)
        return kind;
    for (size_t i = 0; lab_kinds[i].name; i++)
        text_add(&names, "%s\"%s\"", i == 0 ? "" : lab_kinds[i + 1].name ? ", " : " or ", lab_kinds[i].name);
    if (!said) {
        error_set(e, "driver is missing: expected %s", text_string(&names));
    } else {
        char *shown = json_dumps(said, JSON_ENCODE_ANY | JSON_COMPACT);
        error_set(e, "driver: %.60s is unknown: expected %s", shown ? shown : "?", text_string(&names));
        free(shown);
    }
    text_free(&names);
    return NULL;
}

/* ---- hosts, switches and links */

static const void *item_at(const struct list_of *list, size_t size, size_t i)
{
    return i < list->count ? (const char *)list->items + i * size : NULL;
}

const struct lab_host *lab_host_at(const struct lab *lab, size_t i)
{
    return lab_kind(lab)->simulated ? NULL : item_at(&lab->hosts, sizeof(struct lab_host), i);
}

const struct physics_host *lab_sim_host_at(const struct lab *lab, size_t i)
{
    return lab_kind(lab)->simulated ? item_at(&lab->hosts, sizeof(struct physics_host), i) : NULL;
}

const struct physics_switch *lab_switch_at(const struct lab *lab, size_t i)
{
    return lab_kind(lab)->simulated ? item_at(&lab->switches, sizeof(struct physics_switch), i) : NULL;
}

const struct lab_switch *lab_real_switch_at(const struct lab *lab, size_t i)
{
    return lab_kind(lab)->simulated ? NULL : item_at(&lab->switches, sizeof(struct lab_switch), i);
}

const struct lab_link *lab_link_at(const struct lab *lab, size_t i)
{
    return item_at(&lab->links, sizeof(struct lab_link), i);
}

const char *lab_node_name(const struct lab *lab, size_t i)
{
    if (i < lab->hosts.count) /* the structs of all kinds of hosts begin with the name */
        return *(char *const *)item_at(&lab->hosts, lab_kind(lab)->host_size, i);
    const struct physics_switch *simulated = lab_switch_at(lab, i - lab->hosts.count);
    const struct lab_switch *real = lab_real_switch_at(lab, i - lab->hosts.count);
    return simulated ? simulated->name : real ? real->name : NULL;
}

size_t lab_node_count(const struct lab *lab)
{
    return lab->hosts.count + lab->switches.count;
}

/* ---- machines */

/* What the host says itself. */
static const char *machine_of(const struct lab *lab, size_t host)
{
    const struct lab_host *real = lab_host_at(lab, host);
    const struct physics_host *simulated = lab_sim_host_at(lab, host);
    return real ? real->machine : simulated ? simulated->machine : NULL;
}

const char *lab_machine_name(const struct lab *lab, size_t host)
{
    const char *machine = machine_of(lab, host);
    return machine ? machine : lab_node_name(lab, host);
}

bool lab_same_machine(const struct lab *lab, size_t host, size_t other)
{
    return host == other || strcmp(lab_machine_name(lab, host), lab_machine_name(lab, other)) == 0;
}

size_t lab_machine_first(const struct lab *lab, size_t host)
{
    while (host > 0 && lab_same_machine(lab, host, host - 1))
        host--;
    return host;
}

int lab_machine_index(const struct lab *lab, const char *name)
{
    const json_t *index = json_object_get(lab->machine_index, name);
    return index ? (int)json_integer_value(index) : -1;
}

const char *lab_nic_name(const struct lab *lab, size_t host)
{
    const char *machine = machine_of(lab, host), *name = lab_node_name(lab, host);
    size_t length = machine ? strlen(machine) : 0;
    return machine && strncmp(name, machine, length) == 0 && name[length] == '.' ? name + length + 1 : NULL;
}

void lab_add_nics(const struct lab *lab, size_t first, const char *role, struct text *out)
{
    for (size_t i = first; i < lab->hosts.count && lab_same_machine(lab, first, i); i++) {
        const char *nic = lab_nic_name(lab, i);
        if (i == first + 8)
            text_add(out, ", ...");
        if (i >= first + 8)
            return;
        text_add(out, "%s%.100s%s%.60s", i == first ? "" : ", ", nic ? role : lab_node_name(lab, i),
                 nic ? "." : "", nic ? nic : "");
    }
}

const char *lab_link_port(const struct lab_link *link, const char *name)
{
    const struct named_string *ports = link->ports.items;
    for (size_t i = 0; i < link->ports.count; i++)
        if (strcmp(ports[i].name, name) == 0)
            return ports[i].value;
    return NULL;
}

int64_t lab_link_delay_ps(const struct lab_link *link)
{
    return link->delay_ps != FIELD_UNSET    ? link->delay_ps
           : link->length_mm != FIELD_UNSET ? link->length_mm * PHYSICS_CABLE_PS_PER_MM
                                            : 0;
}

const char *lab_link_peer(const struct lab_link *link, const char *name)
{
    char *const *ends = link->between.items;
    return strcmp(ends[0], name) == 0 ? ends[1] : strcmp(ends[1], name) == 0 ? ends[0] : NULL;
}

const char *lab_guest_name(const struct lab_host *host)
{
    return host->machine ? host->machine : host->name;
}

bool lab_forwards(const struct lab_host *host)
{
    return host->extra_nics.count > 0 || host->forwarding;
}

bool lab_gpu_paced(const struct lab_gpu *gpu)
{
    return gpu->write_bps != FIELD_UNSET || gpu->stalls_per_s > 0;
}

const char *lab_flow_address(const struct lab_nic *nic)
{
    return nic->vlan ? nic->vlan->address : nic->address;
}

/* ---- roles */

int lab_node_index(const struct lab *lab, const char *name)
{
    const json_t *index = json_object_get(lab->node_index, name);
    return index ? (int)json_integer_value(index) : -1;
}

const char *lab_node_of(const struct lab *lab, const char *role)
{
    const json_t *index = json_object_get(lab->role_index, role);
    const struct named_string *roles = lab->roles.items;
    if (index)
        return roles[json_integer_value(index)].value;
    const char *nic = strrchr(role, '.');
    index = nic ? json_object_getn(lab->role_index, role, (size_t)(nic - role)) : NULL;
    if (!index)
        return role;
    char name[FORM_ROLE_MOST + 80];
    snprintf(name, sizeof name, "%s%s", roles[json_integer_value(index)].value, nic);
    int node = lab_node_index(lab, name);
    return node >= 0 ? lab_node_name(lab, (size_t)node) : role;
}

int lab_host_of(const struct lab *lab, const char *role)
{
    int i = lab_node_index(lab, lab_node_of(lab, role));
    return i >= 0 && (size_t)i < lab->hosts.count ? i : -1;
}

int lab_switch_of(const struct lab *lab, const char *role)
{
    int i = lab_kind(lab)->simulated ? lab_node_index(lab, lab_node_of(lab, role)) : -1;
    return i >= 0 && (size_t)i >= lab->hosts.count ? i - (int)lab->hosts.count : -1;
}

const struct lab_host *lab_real_host(const struct lab *lab, const char *role)
{
    int i = lab_host_of(lab, role);
    return i < 0 ? NULL : lab_host_at(lab, (size_t)i);
}

/* The number of a real switch, or -1. */
static int real_switch_named(const struct lab *lab, const char *name)
{
    int i = lab_kind(lab)->simulated ? -1 : lab_node_index(lab, name);
    return i >= 0 && (size_t)i >= lab->hosts.count ? i - (int)lab->hosts.count : -1;
}

const struct lab_switch *lab_real_switch(const struct lab *lab, const char *role)
{
    int i = real_switch_named(lab, lab_node_of(lab, role));
    return i < 0 ? NULL : lab_real_switch_at(lab, (size_t)i);
}

/* ---- parsing */

static int unknown_node(const struct lab *lab, const char *path, const char *name, struct error *e)
{
    const char **words = calloc(lab_node_count(lab) + 1, sizeof *words);
    int machine = lab_machine_index(lab, name);
    if (!words)
        return error_set(e, "%s: out of memory", path);
    if (machine >= 0) {
        struct text nics = {0};
        free(words);
        lab_add_nics(lab, (size_t)machine, name, &nics);
        error_set(e, "%s: host \"%.60s\" has several NICs: expected one of %s", path, name,
                  text_string(&nics));
        text_free(&nics);
        return -1;
    }
    for (size_t n = 0; n < lab_node_count(lab); n++)
        words[n] = lab_node_name(lab, n);
    const char *near = nearest_word(name, words);
    error_set(e, "%s: the lab has no host or switch \"%.60s\"%s%s%s", path, name,
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    free(words);
    return -1;
}

/* The first of equal names counts. */
static int index_names(struct lab *lab, struct error *e)
{
    const struct named_string *roles = lab->roles.items;
    const char *name;
    int failed = 0;
    lab->node_index = json_object();
    lab->role_index = json_object();
    lab->machine_index = json_object();
    for (size_t i = 0; i < lab->hosts.count; i++)
        if (lab_nic_name(lab, i) && !json_object_get(lab->machine_index, lab_machine_name(lab, i)))
            failed |= json_object_set_new(lab->machine_index, lab_machine_name(lab, i),
                                          json_integer((json_int_t)i));
    for (size_t i = 0; (name = lab_node_name(lab, i)); i++)
        if (!json_object_get(lab->node_index, name))
            failed |= json_object_set_new(lab->node_index, name, json_integer((json_int_t)i));
    for (size_t i = 0; i < lab->roles.count; i++)
        if (!json_object_get(lab->role_index, roles[i].name))
            failed |= json_object_set_new(lab->role_index, roles[i].name, json_integer((json_int_t)i));
    return failed ? error_set(e, "out of memory for the names of the lab") : 0;
}

static int check_links(const struct lab *lab, struct error *e)
{
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        char path[64];
        if (link->between.count != 2)
            return error_set(e, "links[%zu].between: %zu names: expected two", i, link->between.count);
        for (size_t k = 0; k < 2; k++) {
            snprintf(path, sizeof path, "links[%zu].between[%zu]", i, k);
            if (lab_node_index(lab, ends[k]) < 0)
                return unknown_node(lab, path, ends[k], e);
        }
        if (strcmp(ends[0], ends[1]) == 0)
            return error_set(e, "links[%zu].between: both ends are \"%s\"", i, ends[0]);
        if (link->lossy_at && (!lab_kind(lab)->simulated || !lab_link_peer(link, link->lossy_at) ||
                               lab_node_index(lab, link->lossy_at) < (int)lab->hosts.count))
            return error_set(e,
                             "links[%zu].lossy_at: \"%.60s\": expected the name of a simulated switch in "
                             "\"between\"",
                             i, link->lossy_at);
        if (lab_kind(lab)->simulated && link->rate_bps == FIELD_UNSET)
            return error_set(e, "links[%zu].rate is missing: a simulated link needs one, such as 25Gb/s", i);
    }
    return 0;
}

/* Each name in `ports` is a real switch at one of the link's ends, and each port has one cable. `taken`:
 * "switch port" -> number of a link. */
static int check_link_ports(const struct lab *lab, size_t i, json_t *taken, struct error *e)
{
    const struct lab_link *link = lab_link_at(lab, i);
    const struct named_string *ports = link->ports.items;
    for (size_t k = 0; k < link->ports.count; k++) {
        char key[160];
        if (!lab_link_peer(link, ports[k].name))
            return error_set(e, "links[%zu].ports: %s is not an end of this link", i, ports[k].name);
        if (real_switch_named(lab, ports[k].name) < 0)
            return error_set(
                e, "links[%zu].ports: %s is not a switch that runs SONiC: only the ports of such are named",
                i, ports[k].name);
        snprintf(key, sizeof key, "%s %s", ports[k].name, ports[k].value);
        const json_t *first = json_object_get(taken, key);
        if (first)
            return error_set(e, "links[%zu].ports.%s: %s has a cable already: that of links[%lld]", i,
                             ports[k].name, ports[k].value, (long long)json_integer_value(first));
        json_object_set_new(taken, key, json_integer((json_int_t)i));
    }
    return 0;
}

/* A cable to a real switch ends at a NIC: a guest's virtual NIC has none. */
static int check_link_to_switch(const struct lab *lab, size_t i, struct error *e)
{
    char *const *ends = lab_link_at(lab, i)->between.items;
    for (size_t k = 0; k < 2; k++) {
        int at = real_switch_named(lab, ends[k]) < 0 ? -1 : lab_node_index(lab, ends[1 - k]);
        const struct lab_host *host = at >= 0 ? lab_host_at(lab, (size_t)at) : NULL;
        if (host && host->domain && !host->nic.pci)
            return error_set(e,
                             "links[%zu]: %s is a guest with a virtual NIC, which has no cable to switch %s: "
                             "give it nic.pci, or leave the link out",
                             i, host->name, ends[k]);
    }
    return 0;
}

static int check_switches(const struct lab *lab, struct error *e)
{
    const struct lab_switch *s;
    json_t *taken = json_object();
    int result = 0;
    for (size_t i = 0; result == 0 && (s = lab_real_switch_at(lab, i)); i++)
        if (!s->ssh == !s->config)
            result = error_set(e, "switches.%s: has %s: a switch is reached by ssh, or recorded in config",
                               s->name, s->ssh ? "both ssh and config" : "neither ssh nor config");
        else if (s->ssh && strlen(s->ssh) > LAB_MAX_SSH)
            result = error_set(e, "switches.%s.ssh: has %zu characters: expected at most %d", s->name,
                               strlen(s->ssh), LAB_MAX_SSH);
        else if ((size_t)lab_node_index(lab, s->name) < lab->hosts.count)
            result = error_set(e, "switches.%s: a host has this name already", s->name);
    for (size_t i = 0; result == 0 && i < lab->links.count; i++)
        result = check_link_ports(lab, i, taken, e) != 0 ? -1 : check_link_to_switch(lab, i, e);
    json_decref(taken);
    return result;
}

/* The virtual switch at an end of a link; -1: another node. */
static int virtual_switch_at(const struct lab *lab, const char *name)
{
    const struct lab_host *host = lab_host_at(lab, (size_t)lab_node_index(lab, name));
    return host && host->forwarding ? lab_node_index(lab, name) : -1;
}

/* Virtual switches flood to unknown addresses and know no spanning tree: the links between them close no
 * ring. */
static int check_tree(const struct lab *lab, struct error *e)
{
    const struct lab_link *link;
    int result = 0;
    uint32_t *joined = joined_make(lab->hosts.count);
    if (!joined)
        return error_set(e, "out of memory");
    for (size_t i = 0; result == 0 && (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        int a = virtual_switch_at(lab, ends[0]), b = virtual_switch_at(lab, ends[1]);
        if (a >= 0 && b >= 0 && !joined_link(joined, (uint32_t)a, (uint32_t)b))
            result = error_set(e,
                               "links[%zu]: %s and %s are joined already, and frames would go round: virtual "
                               "switches know no spanning tree; leave out one of these links",
                               i, ends[0], ends[1]);
    }
    free(joined);
    return result;
}

/* A host of a libvirt lab is a guest (domain and profile), or a host that is only reached by ssh. */
static int check_guest(const struct lab_host *h, struct error *e)
{
    if (h->ssh && (h->domain || h->profile))
        return error_set(
            e, "hosts.%s: has both ssh and %s: a guest has domain and profile, any other host only ssh",
            h->name, h->domain ? "domain" : "profile");
    if (!h->ssh && !(h->domain && h->profile))
        return error_set(e, "hosts.%s: %s is missing: a guest needs domain and profile", h->name,
                         h->domain ? "profile" : "domain");
    return 0;
}

/* Each virtual CPU has a CPU of the machine. */
static int check_pins(const struct lab_host *h, struct error *e)
{
    unsigned *cpus;
    size_t count;
    if (!h->pin.vcpus)
        return 0;
    if (cpu_list_parse(h->pin.vcpus, &cpus, &count, e) != 0)
        return -1;
    free(cpus);
    return (int64_t)count == h->vcpus
               ? 0
               : error_set(e,
                           "hosts.%s.pin.vcpus: \"%s\" has %zu CPUs: expected %lld, one for each virtual CPU",
                           h->name, h->pin.vcpus, count, (long long)h->vcpus);
}

/* Host i has an address in the management subnet, below the broadcast address. */
static int check_room(const struct lab *lab, const struct lab_host *host, size_t i, struct error *e)
{
    struct lab_subnet subnet;
    if (!lab->management.subnet || !lab_subnet_parse(lab->management.subnet, &subnet) ||
        i + LAB_FIRST_GUEST < (1u << (32 - subnet.prefix)) - 1)
        return 0;
    return error_set(e, "management.subnet: %s has no address left for host %s (number %zu)",
                     lab->management.subnet, host->name, i + 1);
}

/* A guest has one port for each link, and one for ssh. */
static int check_ports(const struct lab *lab, const struct lab_host *host, struct error *e)
{
    const struct lab_link *link;
    size_t count = 0;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        count += strcmp(ends[0], host->name) == 0 || strcmp(ends[1], host->name) == 0;
    }
    return count < LAB_GUEST_PORTS ? 0
                                   : error_set(e, "hosts.%s: has %zu links: a guest has at most %d",
                                               host->name, count, LAB_GUEST_PORTS - 1);
}

static int check_guests(const struct lab *lab, struct error *e)
{
    const struct lab_host *host, *other;
    if (lab->management.network && lab->management.subnet)
        return error_set(e, "management: has both network and subnet: expected one");
    for (size_t i = 0; (host = lab_host_at(lab, i)); i++) {
        if (check_guest(host, e) != 0 || check_pins(host, e) != 0 || check_room(lab, host, i, e) != 0 ||
            check_ports(lab, host, e) != 0)
            return -1;
        for (size_t k = 0; k < i && (other = lab_host_at(lab, k)); k++)
            if (host->domain && other->domain && strcmp(host->domain, other->domain) == 0 &&
                !lab_same_machine(lab, i, k))
                return error_set(e,
                                 "hosts.%s.domain: %s is already the domain of host %s: give both the same "
                                 "\"machine\" where they are one",
                                 host->name, host->domain, other->name);
    }
    return 0;
}

/* Names that are copied into places of fixed size. */
static int check_length(const struct lab_host *host, const char *key, const char *word, size_t most,
                        struct error *e)
{
    return !word || strlen(word) <= most
               ? 0
               : error_set(e, "hosts.%.80s.%s: has %zu characters: expected at most %zu", host->name, key,
                           strlen(word), most);
}

static int check_lengths(const struct lab *lab, struct error *e)
{
    const struct lab_host *host;
    for (size_t i = 0; (host = lab_host_at(lab, i)); i++)
        if (check_length(host, "programs", host->programs, LAB_MAX_PROGRAMS, e) != 0 ||
            check_length(host, "ssh", host->ssh, LAB_MAX_SSH, e) != 0)
            return -1;
    return 0;
}

static int check_vlan(const struct lab_host *host, struct error *e)
{
    const char *address = host->nic.vlan->address;
    if (host->nic.address && lab_same_network(host->nic.address, address))
        return error_set(e,
                         "hosts.%s.nic.vlan.address: %s is in the network of nic.address %s: packets would "
                         "leave without a tag; give the VLAN a network of its own",
                         host->name, address, host->nic.address);
    return 0;
}

/* Flows end at a host's own NIC. A host that forwards passes tagged frames on as they are. */
static int check_vlans(const struct lab *lab, struct error *e)
{
    const struct lab_host *host;
    for (size_t i = 0; (host = lab_host_at(lab, i)); i++) {
        const struct lab_nic *extra = host->extra_nics.items;
        bool tagged = host->extra_nics.count > 0 && host->nic.vlan;
        for (size_t k = 0; k < host->extra_nics.count; k++)
            tagged = tagged || extra[k].vlan;
        if (tagged)
            return error_set(e,
                             "hosts.%s: a host with extra_nics passes tagged frames on as they are: give "
                             "vlan to the hosts at which flows end",
                             host->name);
        if (host->nic.vlan && check_vlan(host, e) != 0)
            return -1;
    }
    return 0;
}

/* Two hosts of a lab cannot have one address. */
static int check_addresses(const struct lab *lab, struct error *e)
{
    json_t *taken = json_object();
    const struct lab_host *host, *other;
    int result = 0;
    for (size_t i = 0; result == 0 && (host = lab_host_at(lab, i)); i++) {
        size_t length = host->nic.address ? strcspn(host->nic.address, "/") : 0;
        const json_t *first = length ? json_object_getn(taken, host->nic.address, length) : NULL;
        if (first && (other = lab_host_at(lab, (size_t)json_integer_value(first))))
            result = error_set(e, "hosts.%s.nic.address: %s is already the address of host %s", host->name,
                               host->nic.address, other->name);
        else if (length)
            json_object_setn_new(taken, host->nic.address, length, json_integer((json_int_t)i));
    }
    json_decref(taken);
    return result;
}

static int take_device(json_t *taken, const struct lab *lab, size_t i, const char *key, const char *word,
                       struct error *e)
{
    json_t *device = word ? json_textf("%s %s %s", lab_machine_name(lab, i), key, word) : NULL;
    const char *place = json_string_value(device);
    const json_t *first = place ? json_object_get(taken, place) : NULL;
    int result = first ? error_set(e,
                                   "hosts.%s.%s: %s is already that of %s: each NIC of a machine is a "
                                   "device of its own",
                                   lab_node_name(lab, i), key, word, json_string_value(first))
                       : 0;
    if (place && !first)
        json_object_set_new(taken, place, json_text(lab_node_name(lab, i)));
    json_decref(device);
    return result;
}

static int take_nic(json_t *taken, const struct lab *lab, size_t i, const struct lab_nic *nic,
                    struct error *e)
{
    return take_device(taken, lab, i, "nic.netdev", nic->netdev, e) != 0 ||
                   take_device(taken, lab, i, "nic.rdma", nic->rdma, e) != 0 ||
                   take_device(taken, lab, i, "nic.mac", nic->mac, e) != 0 ||
                   take_device(taken, lab, i, "nic.pci", nic->pci, e) != 0
               ? -1
               : 0;
}

/* Two NICs of a machine are not one device, whose counters and flows would be taken for both's. */
static int check_devices(const struct lab *lab, struct error *e)
{
    json_t *taken = json_object();
    const struct lab_host *host;
    int result = 0;
    for (size_t i = 0; result == 0 && (host = lab_host_at(lab, i)); i++) {
        const struct lab_nic *extra = host->extra_nics.items;
        result = take_nic(taken, lab, i, &host->nic, e);
        for (size_t k = 0; result == 0 && k < host->extra_nics.count; k++)
            result = take_nic(taken, lab, i, &extra[k], e);
    }
    json_decref(taken);
    return result;
}

#define SSH_PORT 22

/* Is a machine's destination another's, as far as the words tell: the same host and port, and not two users
 * (a gateway may lead each to a machine of its own)? `taken`: {"host:port": [path, user]}. */
static int check_destination(json_t *taken, const char *kind, const char *name, const char *ssh, int64_t port,
                             struct error *e)
{
    const char *at = strrchr(ssh, '@'), *host = at ? at + 1 : ssh;
    json_t *user = at ? json_textn(ssh, (size_t)(at - ssh)) : json_null();
    json_t *key = json_textf("%.300s:%lld", host, (long long)(port > 0 ? port : SSH_PORT));
    const json_t *first = json_object_get(taken, json_string_value(key)), *other = json_array_get(first, 1);
    int result = 0;
    if (first && (json_is_null(user) || json_is_null(other) || json_equal(user, other)))
        result =
            error_set(e,
                      "%s%s.%s.ssh: %.100s leads to the machine of %s already: each host and switch of a lab "
                      "is a machine of its own; a machine with several NICs is one host with \"nics\"",
                      kind, strcmp(kind, "switch") == 0 ? "es" : "s", name, ssh,
                      json_string_value(json_array_get(first, 0)));
    else if (!first)
        json_object_set_new(taken, json_string_value(key),
                            json_make("[o,O]", json_textf("%s %s", kind, name), user));
    json_decref(key);
    json_decref(user);
    return result;
}

static int check_destinations(const struct lab *lab, struct error *e)
{
    json_t *taken = json_object();
    const struct lab_host *host;
    const struct lab_switch *s;
    int result = 0;
    for (size_t i = 0; result == 0 && (host = lab_host_at(lab, i)); i++)
        if (host->ssh && lab_machine_first(lab, i) == i)
            result = check_destination(taken, "host", host->name, host->ssh, host->port, e);
    for (size_t i = 0; result == 0 && (s = lab_real_switch_at(lab, i)); i++)
        if (s->ssh)
            result = check_destination(taken, "switch", s->name, s->ssh, s->port, e);
    json_decref(taken);
    return result;
}

static bool same_word(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

#define MOST_MACHINES 1000

/* The hosts of one machine are reached in one way, and its programs are in one place. */
static int check_machines(const struct lab *lab, struct error *e)
{
    const struct lab_host *host, *first;
    size_t machines = 0;
    for (size_t i = 0; (host = lab_host_at(lab, i)); i++) {
        first = lab_host_at(lab, lab_machine_first(lab, i));
        machines += first == host;
        if (machines > MOST_MACHINES)
            return error_set(e, "hosts: more than %d machines, each of which has a connection",
                             MOST_MACHINES);
        const char *differs = !same_word(host->ssh, first->ssh)                   ? "ssh"
                              : !same_word(host->domain, first->domain)           ? "domain"
                              : !same_word(host->profile, first->profile)         ? "profile"
                              : host->port != first->port                         ? "port"
                              : !same_word(host->identity, first->identity)       ? "identity"
                              : !same_word(host->known_hosts, first->known_hosts) ? "known_hosts"
                              : !same_word(host->programs, first->programs)       ? "programs"
                              : host->sudo != first->sudo                         ? "sudo"
                                                                                  : NULL;
        if (differs)
            return error_set(e, "hosts.%s.%s: differs from that of %s, which is the same machine \"%s\"",
                             host->name, differs, first->name, lab_machine_name(lab, i));
        if (first != host && (lab_forwards(host) || lab_forwards(first)))
            return error_set(e,
                             "hosts.%s: is one machine with %s: a host that forwards is all of its machine",
                             host->name, first->name);
    }
    return 0;
}

/* "scaled" replaces what scenarios set: its paths lead into scenarios. */
static int check_scaled(const struct lab *lab, struct error *e)
{
    const char *path;
    json_t *value;
    json_object_foreach(lab->scaled, path, value)
    {
        if (table_check_path(&scenario_table, path, e) != 0)
            return error_prefix(e, "scaled.%.100s", path);
    }
    return 0;
}

int32_t lab_number_in_name(const char *name)
{
    const char *end = name + strcspn(name, "."), *at = end;
    while (at > name && at[-1] >= '0' && at[-1] <= '9')
        at--;
    long number = 0;
    for (const char *digit = at; digit < end && number <= 65535; digit++)
        number = number * 10 + (*digit - '0');
    return at < end && number <= 65535 ? (int32_t)number : -1;
}

static int check_numbers(const struct lab *lab, struct error *e)
{
    for (size_t i = 0; lab->ecmp_numbers == ECMP_NUMBERS_NAMES && i < lab_node_count(lab); i++)
        if (lab_number_in_name(lab_node_name(lab, i)) < 0)
            return error_set(
                e,
                "ecmp_numbers: \"names\" needs a number from 0 to 65535 in the name of each node: "
                "\"%.60s\" has none",
                lab_node_name(lab, i));
    return 0;
}

static int check_lab(const struct lab *lab, struct error *e)
{
    const struct named_string *roles = lab->roles.items;
    int result = 0;
    for (size_t i = 0; result == 0 && i < lab->roles.count; i++)
        if (lab_node_index(lab, roles[i].value) < 0 && lab_machine_index(lab, roles[i].value) < 0) {
            char path[160];
            snprintf(path, sizeof path, "roles.%.100s", roles[i].name);
            result = unknown_node(lab, path, roles[i].value, e);
        }
    if (result == 0)
        result = check_links(lab, e);
    if (result == 0)
        result = check_switches(lab, e);
    if (result == 0)
        result = check_tree(lab, e);
    if (result == 0)
        result = check_numbers(lab, e);
    if (result == 0)
        result = check_lengths(lab, e);
    if (result == 0)
        result = check_vlans(lab, e);
    if (result == 0 && lab_kind(lab)->guests)
        result = check_guests(lab, e);
    if (result == 0)
        result = check_addresses(lab, e);
    if (result == 0)
        result = check_devices(lab, e);
    if (result == 0)
        result = check_machines(lab, e);
    if (result == 0)
        result = check_destinations(lab, e);
    if (result == 0)
        result = check_scaled(lab, e);
    return result;
}

static int begin_at(const char *document, char **path, struct error *e)
{
    char *whole = *path ? find_path_of(document, *path) : NULL;
    if (*path && !whole)
        return error_set(e, "out of memory");
    free(*path);
    *path = whole;
    return 0;
}

/* The files of this machine that the document names: relative paths begin at its folder. */
static int begin_paths(const struct lab *lab, const char *document, struct error *e)
{
    struct lab_host *hosts = lab_kind(lab)->simulated ? NULL : lab->hosts.items;
    struct lab_switch *switches = lab_kind(lab)->simulated ? NULL : lab->switches.items;
    for (size_t i = 0; hosts && i < lab->hosts.count; i++)
        if (begin_at(document, &hosts[i].identity, e) != 0 ||
            begin_at(document, &hosts[i].known_hosts, e) != 0)
            return -1;
    for (size_t i = 0; switches && i < lab->switches.count; i++)
        if (begin_at(document, &switches[i].identity, e) != 0 ||
            begin_at(document, &switches[i].known_hosts, e) != 0 ||
            begin_at(document, &switches[i].config, e) != 0)
            return -1;
    return 0;
}

static void begin_files(json_t *json, const char *document)
{
    static const char *const files[] = {"identity", "known_hosts", "config"};
    json_t *value;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *file = json_string_value(json_object_get(json, files[i]));
        char *whole = file ? find_path_of(document, file) : NULL;
        if (whole)
            json_put(json, files[i], json_text(whole));
        free(whole);
    }
    const char *key;
    json_object_foreach(json, key, value)
    {
        begin_files(value, document);
    }
}

json_t *lab_from_elsewhere(const json_t *json, const char *path)
{
    json_t *copy = json_deep_copy(json);
    begin_files(copy, path);
    return copy;
}

int lab_parse(const json_t *json, const char *path, struct lab *lab, struct error *e)
{
    memset(lab, 0, sizeof *lab);
    const struct lab_kind *kind = kind_of(json, e);
    if (!kind || table_parse(&kind->table, json, lab, e) != 0)
        return -1;
    if (index_names(lab, e) != 0 || check_lab(lab, e) != 0 || (path && begin_paths(lab, path, e) != 0)) {
        lab_free(lab);
        return -1;
    }
    return 0;
}

int lab_load(const char *path, struct lab *lab, struct error *e)
{
    json_t *written = json_file_load(path, DOCUMENT_LAB, e);
    if (!written)
        return -1;
    json_t *json = lab_expand(written, e);
    int result = json ? lab_parse(json, path, lab, e) : -1;
    json_decref(json);
    json_decref(written);
    return result == 0 ? 0 : error_prefix(e, "%s", path);
}

void lab_free(struct lab *lab)
{
    json_decref(lab->node_index);
    json_decref(lab->role_index);
    json_decref(lab->machine_index);
    table_free(&lab_kind(lab)->table, lab);
}

/* ---- its JSON Schema */

/* A topology makes hosts, so that a lab may name none. */
static void schema_take_topology(json_t *schema)
{
    json_t *required = json_object_get(schema, "required"), *key;
    size_t i;
    if (!json_object_get(json_object_get(schema, "properties"), "topology"))
        return;
    json_array_foreach(required, i, key)
    {
        if (strcmp(json_string_value(key), "hosts") == 0 && json_array_remove(required, i) == 0)
            break;
    }
    json_object_set_new(schema, "anyOf",
                        json_make("[{s:[s]},{s:[s]}]", "required", "hosts", "required", "topology"));
}

json_t *lab_schema(void)
{
    json_t *any = json_array();
    for (const struct lab_kind *kind = lab_kinds; kind->name; kind++) {
        json_t *schema = table_schema(&kind->table);
        json_object_set_new(json_object_get(json_object_get(schema, "properties"), "driver"), "const",
                            json_text(kind->name));
        json_object_del(schema, "$schema");
        schema_take_topology(schema);
        json_array_append_new(any, schema);
    }
    return json_make("{s:s,s:s,s:o}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
                     "lab", "oneOf", any);
}
