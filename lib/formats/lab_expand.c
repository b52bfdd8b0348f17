/* Expands a lab: writes ranges of names out, generates hosts, switches and links from a topology, makes a
 * node of each NIC of a host with several, and copies the shared values into each of them. */
#include "lib/document/json_text.h"
#include "lib/formats/lab.h"
#include "lib/document/json_file.h"
#include "lib/names/range.h"
#include "lib/physics/nic_models.h"
#include <stdlib.h>
#include <string.h>

#define LINK_LIMIT         100000 /* as many as a lab may have */
#define MOST_NICS          64     /* of a host, and GPUs */
#define GROUPS             2      /* of rail_leaf_spine; not fallbacks, which every result would have */
#define RAILS              8
#define SHARED_LIMIT_BYTES ((size_t)512 << 20)

static const char *const topology_names[] = {
    "star", "dumbbell", "leaf_spine", "fat_tree", "rail_leaf_spine", "dual_plane", NULL};

#define AT(member) .offset = offsetof(struct lab_topology, member)
static const struct field topology_fields[] = {
    {"kind", FIELD_CHOICE, AT(kind), .choices = topology_names, .required = true,
     .help = "Shape of the network."},
    {"hosts", FIELD_INTEGER, AT(hosts), .min = 1, .max = 10000, .fallback = "8",
     .help = "Number of hosts: of the star, on each side of the dumbbell, on each leaf of leaf_spine, in "
             "each group "
             "of rail_leaf_spine, or on each pair of leaves of dual_plane."},
    {"leaves", FIELD_INTEGER, AT(leaves), .min = 1, .max = 1000, .fallback = "4",
     .help = "Number of leaves of leaf_spine, or of each plane of dual_plane."},
    {"spines", FIELD_INTEGER, AT(spines), .min = 0, .max = 1000, .fallback = "4",
     .help = "Number of spines of leaf_spine, of rail_leaf_spine, or of each plane of dual_plane. With 0 the "
             "rails "
             "of rail_leaf_spine are not joined."},
    {"groups", FIELD_INTEGER, AT(groups), .min = 1, .max = 1000,
     .help = "Number of groups of hosts of rail_leaf_spine: each has a leaf for each rail. Default: 2."},
    {"rails", FIELD_INTEGER, AT(rails), .min = 1, .max = MOST_NICS,
     .help = "Number of NICs of each host of rail_leaf_spine, rail0 and up. Default: 8."},
    {"k", FIELD_INTEGER, AT(k), .min = 2, .max = 32, .fallback = "4",
     .help = "Number of ports of each switch of fat_tree; must be even."},
    {"uplink", FIELD_STRING, AT(uplink),
     .help = "Rate of the links between switches. Default: the rate of all links."},
    {0},
};
#undef AT
const struct table lab_topology_table = {
    "lab.topology",
    "Generate nodes and links: hosts h0, h1, ...; switches s0 (star), s0, s1 (dumbbell), leaf0, spine0 "
    "(leaf_spine, rail_leaf_spine, dual_plane), edge0, agg0, core0 (fat_tree). Hosts have the NICs rail0, "
    "rail1, ... "
    "(rail_leaf_spine) or plane0 and plane1 (dual_plane).",
    sizeof(struct lab_topology), topology_fields, NULL};

static json_t *child_of(json_t *document, const char *key, json_t *empty)
{
    json_t *there = json_object_get(document, key);
    if (there) {
        json_decref(empty);
        return there;
    }
    json_object_set_new(document, key, empty);
    return empty;
}

/* The lists to which a topology adds its nodes and links. */
struct drawing {
    json_t *hosts, *switches, *links;
    const char *uplink;
};

static void draw_node(json_t *nodes, const char *kind, int64_t i)
{
    char name[32];
    snprintf(name, sizeof name, "%s%lld", kind, (long long)i);
    if (!json_object_get(nodes, name))
        json_object_set_new(nodes, name, json_object());
}

static void draw_link(struct drawing *d, const char *a, int64_t i, const char *b, int64_t k)
{
    json_t *link = json_make("{s:[o,o]}", "between", json_textf("%s%lld", a, (long long)i),
                             json_textf("%s%lld", b, (long long)k));
    if (d->uplink && strcmp(a, "h") != 0)
        json_object_set_new(link, "rate", json_text(d->uplink));
    json_array_append_new(d->links, link);
}

/* NIC number `nic` of host h; what the document says of the host's NICs lies over what is drawn. */
static void draw_nic(struct drawing *d, const char *kind, int64_t h, int64_t nic)
{
    char name[32], of_nic[32];
    snprintf(name, sizeof name, "h%lld", (long long)h);
    snprintf(of_nic, sizeof of_nic, "%s%lld", kind, (long long)nic);
    json_t *host = child_of(d->hosts, name, json_object());
    json_t *nics = json_is_object(host) ? child_of(host, "nics", json_object()) : NULL;
    if (json_is_object(nics) && !json_object_get(nics, of_nic))
        json_object_set_new(nics, of_nic, json_object());
}

static void draw_nic_link(struct drawing *d, const char *kind, int64_t h, int64_t nic, int64_t leaf)
{
    draw_nic(d, kind, h, nic);
    json_array_append_new(d->links, json_make("{s:[o,o]}", "between",
                                              json_textf("h%lld.%s%lld", (long long)h, kind, (long long)nic),
                                              json_textf("leaf%lld", (long long)leaf)));
}

static void draw_leaves(struct drawing *d, int64_t leaves, int64_t spines)
{
    for (int64_t leaf = 0; leaf < leaves; leaf++)
        draw_node(d->switches, "leaf", leaf);
    for (int64_t spine = 0; spine < spines; spine++)
        draw_node(d->switches, "spine", spine);
}

/* NIC i of each host is on leaf i of its group; every leaf has a link to every spine. */
static void draw_rail_leaf_spine(struct drawing *d, const struct lab_topology *t)
{
    int64_t leaves = t->groups * t->rails;
    draw_leaves(d, leaves, t->spines);
    for (int64_t h = 0; h < t->groups * t->hosts; h++)
        for (int64_t rail = 0; rail < t->rails; rail++)
            draw_nic_link(d, "rail", h, rail, h / t->hosts * t->rails + rail);
    for (int64_t leaf = 0; leaf < leaves; leaf++)
        for (int64_t spine = 0; spine < t->spines; spine++)
            draw_link(d, "leaf", leaf, "spine", spine);
}

/* Two networks of leaves and spines, which nothing joins: each host has a NIC in both. */
static void draw_dual_plane(struct drawing *d, const struct lab_topology *t)
{
    draw_leaves(d, 2 * t->leaves, 2 * t->spines);
    for (int64_t h = 0; h < t->leaves * t->hosts; h++)
        for (int64_t plane = 0; plane < 2; plane++)
            draw_nic_link(d, "plane", h, plane, plane * t->leaves + h / t->hosts);
    for (int64_t leaf = 0; leaf < 2 * t->leaves; leaf++)
        for (int64_t spine = 0; spine < t->spines; spine++)
            draw_link(d, "leaf", leaf, "spine", leaf / t->leaves * t->spines + spine);
}

static void draw_star(struct drawing *d, const struct lab_topology *t)
{
    draw_node(d->switches, "s", 0);
    for (int64_t h = 0; h < t->hosts; h++) {
        draw_node(d->hosts, "h", h);
        draw_link(d, "h", h, "s", 0);
    }
}

static void draw_dumbbell(struct drawing *d, const struct lab_topology *t)
{
    for (int64_t s = 0; s < 2; s++) {
        draw_node(d->switches, "s", s);
        for (int64_t h = 0; h < t->hosts; h++) {
            draw_node(d->hosts, "h", s * t->hosts + h);
            draw_link(d, "h", s * t->hosts + h, "s", s);
        }
    }
    draw_link(d, "s", 0, "s", 1);
}

static void draw_leaf_spine(struct drawing *d, const struct lab_topology *t)
{
    draw_leaves(d, t->leaves, t->spines);
    for (int64_t leaf = 0; leaf < t->leaves; leaf++) {
        for (int64_t h = 0; h < t->hosts; h++) {
            draw_node(d->hosts, "h", leaf * t->hosts + h);
            draw_link(d, "h", leaf * t->hosts + h, "leaf", leaf);
        }
    }
    for (int64_t leaf = 0; leaf < t->leaves; leaf++)
        for (int64_t spine = 0; spine < t->spines; spine++)
            draw_link(d, "leaf", leaf, "spine", spine);
}

/* Al-Fares et al., SIGCOMM 2008: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches,
 * k^3/4 hosts. */
static void draw_fat_tree(struct drawing *d, const struct lab_topology *t)
{
    int64_t half = t->k / 2;
    for (int64_t core = 0; core < half * half; core++)
        draw_node(d->switches, "core", core);
    for (int64_t pod = 0; pod < t->k; pod++) {
        for (int64_t i = 0; i < half; i++) {
            int64_t edge = pod * half + i;
            draw_node(d->switches, "edge", edge);
            draw_node(d->switches, "agg", edge);
            for (int64_t h = 0; h < half; h++) {
                draw_node(d->hosts, "h", edge * half + h);
                draw_link(d, "h", edge * half + h, "edge", edge);
            }
        }
        for (int64_t i = 0; i < half; i++)
            for (int64_t k = 0; k < half; k++) {
                draw_link(d, "edge", pod * half + i, "agg", pod * half + k);
                draw_link(d, "agg", pod * half + i, "core", i * half + k);
            }
    }
}

static int check_topology(const struct lab_topology *t, struct error *e)
{
    int64_t links = t->kind == TOPOLOGY_LEAF_SPINE        ? t->leaves * (t->hosts + t->spines)
                    : t->kind == TOPOLOGY_RAIL_LEAF_SPINE ? t->groups * t->rails * (t->hosts + t->spines)
                    : t->kind == TOPOLOGY_DUAL_PLANE      ? 2 * t->leaves * (t->hosts + t->spines)
                                                          : 0;
    const char *kind = topology_names[t->kind];
    if (t->kind == TOPOLOGY_FAT_TREE && t->k % 2)
        return error_set(e, "topology.k: %lld is odd: expected an even number of ports", (long long)t->k);
    if ((t->kind == TOPOLOGY_LEAF_SPINE || t->kind == TOPOLOGY_DUAL_PLANE) && !t->spines)
        return error_set(e, "topology.spines: 0: expected at least 1 of %s", kind);
    if (links > LINK_LIMIT && t->kind == TOPOLOGY_RAIL_LEAF_SPINE)
        return error_set(
            e,
            "topology: %lld groups of %lld rails with %lld hosts and %lld spines are more than %d "
            "links",
            (long long)t->groups, (long long)t->rails, (long long)t->hosts, (long long)t->spines, LINK_LIMIT);
    if (links > LINK_LIMIT)
        return error_set(e, "topology: %s%lld leaves with %lld hosts and %lld spines are more than %d links",
                         t->kind == TOPOLOGY_DUAL_PLANE ? "twice " : "", (long long)t->leaves,
                         (long long)t->hosts, (long long)t->spines, LINK_LIMIT);
    return 0;
}

static const struct {
    void (*draw)(struct drawing *d, const struct lab_topology *t);
    const char *keys[5]; /* that it takes besides "kind" */
} topologies[] = {
    [TOPOLOGY_STAR] = {draw_star, {"hosts"}},
    [TOPOLOGY_DUMBBELL] = {draw_dumbbell, {"hosts", "uplink"}},
    [TOPOLOGY_LEAF_SPINE] = {draw_leaf_spine, {"hosts", "leaves", "spines", "uplink"}},
    [TOPOLOGY_FAT_TREE] = {draw_fat_tree, {"k", "uplink"}},
    [TOPOLOGY_RAIL_LEAF_SPINE] = {draw_rail_leaf_spine, {"hosts", "groups", "rails", "spines", "uplink"}},
    [TOPOLOGY_DUAL_PLANE] = {draw_dual_plane, {"hosts", "leaves", "spines", "uplink"}},
};
#define TOPOLOGY_KEYS (sizeof topologies->keys / sizeof *topologies->keys)

/* A key of another kind would be ignored, and the network not the one that it says. Results have all defaults
 * written out. */
static int check_keys(const json_t *topology, int kind, struct error *e)
{
    const char *const *own = topologies[kind].keys;
    for (const struct field *f = topology_fields; f->name; f++) {
        const json_t *value = json_object_get(topology, f->name);
        bool is_default = f->fallback && json_integer_value(value) == strtoll(f->fallback, NULL, 10),
             takes = !value || json_is_null(value) || is_default || strcmp(f->name, "kind") == 0;
        struct text keys = {0};
        for (size_t i = 0; i < TOPOLOGY_KEYS && own[i]; i++) {
            takes = takes || strcmp(own[i], f->name) == 0;
            text_add(&keys, "%s%s", i ? ", " : "", own[i]);
        }
        if (!takes)
            error_set(e, "topology.%s: kind %s has no %s: it has %s", f->name, topology_names[kind], f->name,
                      text_string(&keys));
        text_free(&keys);
        if (!takes)
            return -1;
    }
    return 0;
}

static int draw_topology(json_t *document, const json_t *topology, struct error *e)
{
    struct lab_topology t;
    if (table_parse(&lab_topology_table, topology, &t, e) != 0)
        return error_prefix(e, "topology");
    t.groups = t.groups == FIELD_UNSET ? GROUPS : t.groups;
    t.rails = t.rails == FIELD_UNSET ? RAILS : t.rails;
    struct drawing d = {.uplink = t.uplink};
    d.hosts = child_of(document, "hosts", json_object());
    d.switches = child_of(document, "switches", json_object());
    d.links = child_of(document, "links", json_array());
    int result = check_keys(topology, t.kind, e) == 0 ? check_topology(&t, e) : -1;
    if (!json_is_object(d.hosts) || !json_is_object(d.switches) || !json_is_array(d.links))
        result = error_set(e, "%s, to which \"topology\" adds its own: expected %s",
                           !json_is_object(d.hosts)      ? "hosts"
                           : !json_is_object(d.switches) ? "switches"
                                                         : "links",
                           json_is_object(d.hosts) && json_is_object(d.switches) ? "a list" : "an object");
    if (result == 0)
        topologies[t.kind].draw(&d, &t);
    table_free(&lab_topology_table, &t);
    return result;
}

static bool is_simulated(const json_t *document)
{
    const char *driver = json_string_value(json_object_get(document, "driver"));
    const struct lab_kind *kind = driver ? lab_kind_named(driver) : NULL;
    return kind && kind->simulated;
}

static void share_in_object(json_t *nodes, const json_t *shared)
{
    const char *name;
    json_t *node;
    void *next;
    json_object_foreach_safe(nodes, next, name, node)
    {
        json_object_set_new(nodes, name, json_merged(shared, node));
    }
}

/* A host that is a switch has a switch's keys in "switch". With `shared` NULL they are counted only. */
static size_t share_in_hosts(json_t *hosts, const json_t *shared)
{
    const char *name;
    json_t *host;
    size_t count = 0;
    json_object_foreach(hosts, name, host)
    {
        json_t *own = json_object_get(host, "switch");
        if (!json_is_object(own))
            continue;
        count++;
        if (shared)
            json_object_set_new(host, "switch", json_merged(shared, own));
    }
    return count;
}

static int share_defaults(json_t *document, json_t *defaults, struct error *e)
{
    static const struct {
        const char *key, *nodes;
    } kinds[] = {{"host", "hosts"}, {"switch", "switches"}, {"link", "links"}};
    const char *key;
    json_t *shared;
    if (!json_is_object(defaults))
        return error_set(e, "defaults: expected an object with host, switch and link");
    json_object_foreach(defaults, key, shared)
    {
        size_t k = 0;
        while (k < 3 && strcmp(kinds[k].key, key) != 0)
            k++;
        if (k == 3)
            return error_set(e, "defaults: unknown key \"%.60s\": expected host, switch or link", key);
        if (!json_is_object(shared))
            return error_set(e, "defaults.%s: expected an object", key);
        json_t *nodes = json_object_get(document, kinds[k].nodes);
        json_t *hosts = strcmp(key, "switch") == 0 ? json_object_get(document, "hosts") : NULL;
        size_t in_hosts = share_in_hosts(hosts, NULL);
        if (!nodes && !in_hosts && strcmp(key, "switch") == 0)
            return error_set(e, "defaults.switch: the lab has no switches");
        size_t memory =
            json_file_memory_of(shared) * (json_object_size(nodes) + json_array_size(nodes) + in_hosts);
        if (memory > SHARED_LIMIT_BYTES)
            return error_set(
                e, "defaults.%s: copied to each of the %s it would take %zu MiB of memory: at most %zu MiB",
                key, kinds[k].nodes, memory >> 20, SHARED_LIMIT_BYTES >> 20);
        if (strcmp(key, "host") != 0 || !is_simulated(document))
            share_in_object(nodes, shared);
        share_in_hosts(hosts, shared);
        for (size_t i = 0; i < json_array_size(nodes); i++)
            json_array_set_new(nodes, i, json_merged(shared, json_array_get(nodes, i)));
    }
    return 0;
}

/* ---- hosts with several NICs: each is a node of its own, HOST.NIC */

#define MOST_NODES 100000 /* as many hosts as a lab may have */

static const struct form form_nic = {"a valid name",
                                     "at most 32 letters, digits, '_', '-', of which '-' is not the first",
                                     .characters = "_-", .most = 32};

/* A host's NICs or GPUs: its own over those of the defaults, without those that are null. *map NULL: it has
 * none. A new reference. */
static int take_map(const char *host, const char *key, const json_t *own, const json_t *shared, json_t **map,
                    struct error *e)
{
    const char *name;
    json_t *value, *merged;
    *map = NULL;
    if (json_is_null(own) || (!own && !json_is_object(shared)))
        return 0;
    if (own && !json_is_object(own))
        return error_set(e, "hosts.%.80s.%s: expected an object of names", host, key);
    merged = own ? json_merged(json_is_object(shared) ? shared : NULL, own) : json_merged(NULL, shared);
    if (json_object_size(merged) == 0 || json_object_size(merged) > MOST_NICS) {
        error_set(e, "hosts.%.80s.%s: %zu items: expected 1 to %d", host, key, json_object_size(merged),
                  MOST_NICS);
        json_decref(merged);
        return -1;
    }
    json_object_foreach(merged, name, value)
    {
        if (form_fits(&form_nic, name) && json_is_object(value))
            continue;
        if (json_is_object(value))
            error_set(e, "hosts.%.80s.%s: \"%.60s\" is not %s: expected %s", host, key, name, form_nic.is,
                      form_nic.expected);
        else
            error_set(e, "hosts.%.80s.%s.%.60s: expected an object", host, key, name);
        json_decref(merged);
        return -1;
    }
    *map = merged;
    return 0;
}

/* GPUs are numbered in their order, as NVML does, and have what the defaults' "gpu" says. */
static void complete_gpus(json_t *gpus, const json_t *shared, bool simulated)
{
    const char *name;
    json_t *gpu;
    void *next;
    json_int_t i = 0;
    json_object_foreach_safe(gpus, next, name, gpu)
    {
        json_t *whole = json_is_object(shared) ? json_merged(shared, gpu) : json_copy(gpu);
        const json_t *index = json_object_get(whole, "index");
        const char *words = json_string_value(index);
        if (!simulated && !index)
            json_object_set_new(whole, "index", json_integer(i));
        else if (words && *words && strspn(words, "0123456789") == strlen(words) && strlen(words) < 7)
            json_object_set_new(whole, "index", json_integer(strtol(words, NULL, 10))); /* of a range's {} */
        json_object_set_new(gpus, name, whole);
        i++;
    }
}

/* Put the GPU that is nearest to NIC i of n into its node: the one that the NIC names, or else by order. */
static int put_nearest(json_t *node, const char *path, json_t *gpus, size_t i, size_t n, struct error *e)
{
    const char *named = json_string_value(json_object_get(json_object_get(node, "nic"), "gpu")), *name;
    json_t *gpu, *nearest = named ? json_object_get(gpus, named) : NULL;
    size_t k = 0;
    if (named && !nearest)
        return error_set(e, "%s.gpu: the host has no GPU \"%.60s\" among its gpus", path, named);
    json_object_foreach(gpus, name, gpu)
    {
        if (!nearest && k++ == i * json_object_size(gpus) / n)
            nearest = gpu;
    }
    if (nearest && !json_object_get(node, "gpu"))
        json_object_set_new(node, "gpu", json_copy(nearest));
    return 0;
}

/* A host's maps, and what its nodes have in common. */
struct machine {
    const char *name;
    json_t *host;   /* without its maps */
    json_t *nics;   /* NULL: the host is a node itself */
    json_t *gpus;   /* NULL: none */
    bool simulated; /* a node has its nearest GPU alone */
};

static int add_node(const struct machine *m, const char *name, const json_t *nic, size_t i, json_t *nodes,
                    struct error *e)
{
    char path[200];
    json_t *node = json_copy(m->host);
    snprintf(path, sizeof path, nic ? "hosts.%.80s.nics.%.60s" : "hosts.%.80s.nic", m->name, name);
    if (nic) {
        json_object_set_new(node, "machine", json_text(m->name));
        json_object_set(node, "nic", (json_t *)(uintptr_t)nic);
    }
    if (m->gpus && put_nearest(node, path, m->gpus, i, nic ? json_object_size(m->nics) : 1, e) != 0) {
        json_decref(node);
        return -1;
    }
    if (m->gpus && !m->simulated)
        json_object_set(node, "gpus", m->gpus);
    json_t *key = nic ? json_textf("%s.%s", m->name, name) : json_text(m->name);
    bool again = json_object_get(nodes, json_string_value(key));
    if (again)
        error_set(e, "%s: the lab has a host \"%.100s\" besides", path, json_string_value(key));
    else
        json_object_set(nodes, json_string_value(key), node);
    json_decref(key);
    json_decref(node);
    return again ? -1 : 0;
}

static int add_nodes(const struct machine *m, json_t *nodes, struct error *e)
{
    static const char *const not_with_nics[] = {"extra_nics", "switch", "machine"};
    const char *name;
    json_t *nic;
    size_t i = 0;
    if (!m->nics)
        return add_node(m, m->name, NULL, 0, nodes, e);
    for (size_t k = 0; k < sizeof not_with_nics / sizeof *not_with_nics; k++)
        if (json_object_get(m->host, not_with_nics[k]))
            return error_set(e, "hosts.%.80s: has nics, whose nodes are %.80s.NIC, and \"%s\": expected one",
                             m->name, m->name, not_with_nics[k]);
    if (json_object_size(nodes) + json_object_size(m->nics) > MOST_NODES)
        return error_set(e, "hosts: their NICs are more than %d", MOST_NODES);
    json_object_foreach(m->nics, name, nic)
    {
        if (add_node(m, name, nic, i++, nodes, e) != 0)
            return -1;
    }
    return 0;
}

/* Add the nodes of a host, which is one itself unless it has "nics". `shared`: the defaults of hosts. */
static int split_host(const char *name, json_t *host, const json_t *shared, bool simulated, json_t *nodes,
                      struct error *e)
{
    const json_t *nic = json_object_get(host, "nic"), *nics = json_object_get(host, "nics"),
                 *gpus = json_object_get(host, "gpus");
    const json_t *shared_nics = nic && !json_is_null(nic) ? NULL : json_object_get(shared, "nics");
    const json_t *shared_gpus = json_object_get(host, "gpu") ? NULL : json_object_get(shared, "gpus");
    struct machine m = {.name = name, .simulated = simulated};
    if (!json_is_object(host) || (!nics && !gpus && !shared_nics && !shared_gpus)) {
        if (json_object_get(nodes, name))
            return error_set(e, "hosts.%.80s: is also a NIC of another host", name);
        json_object_set(nodes, name, host);
        return 0;
    }
    if (nic && !json_is_null(nic) && nics && !json_is_null(nics))
        return error_set(
            e, "hosts.%.80s: has nic and nics: expected nics with all NICs, or nic for a single one", name);
    int result = take_map(name, "nics", nics, shared_nics, &m.nics, e);
    if (result == 0)
        result = take_map(name, "gpus", gpus, shared_gpus, &m.gpus, e);
    m.host = json_copy(host);
    json_object_del(m.host, "nics");
    json_object_del(m.host, "gpus");
    if (m.gpus)
        complete_gpus(m.gpus, json_object_get(shared, "gpu"), simulated);
    if (result == 0)
        result = add_nodes(&m, nodes, e);
    json_decref(m.host);
    json_decref(m.nics);
    json_decref(m.gpus);
    return result;
}

/* Nodes of one machine follow each other: the machines are in the order of their first nodes. */
static json_t *in_machines(json_t *nodes)
{
    json_t *machines = json_object(), *ordered, *node, *own;
    const char *name, *machine;
    bool named = false;
    json_object_foreach(nodes, name, node)
    {
        machine = json_string_value(json_object_get(node, "machine"));
        named = named || machine;
        own = child_of(machines, machine ? machine : name, json_object());
        json_object_set(own, name, node);
    }
    ordered = named ? json_object() : json_incref(nodes);
    json_object_foreach(named ? machines : NULL, machine, own)
    {
        json_object_update(ordered, own);
    }
    json_decref(machines);
    return ordered;
}

/* An end that is a host of a single NIC in "nics" is that NIC. */
static void name_single_nics(json_t *links, const json_t *hosts, const json_t *nodes)
{
    json_t *link, *end;
    size_t i, k;
    json_array_foreach(links, i, link)
    {
        json_t *between = json_object_get(link, "between");
        json_array_foreach(between, k, end)
        {
            const char *name = json_string_value(end), *nic;
            json_t *nics = name && !json_object_get(nodes, name)
                               ? json_object_get(json_object_get(hosts, name), "nics")
                               : NULL;
            if (json_object_size(nics) == 1 && (nic = json_object_iter_key(json_object_iter(nics))))
                json_array_set_new(between, k, json_textf("%s.%s", name, nic));
        }
    }
}

static int check_shared_map(const json_t *shared, const char *key, struct error *e)
{
    const json_t *map = json_object_get(shared, key);
    return !map || json_is_object(map) || json_is_null(map)
               ? 0
               : error_set(e, "defaults.host.%s: expected an object of names", key);
}

static int split_hosts(json_t *document, const json_t *defaults, struct error *e)
{
    json_t *hosts = json_object_get(document, "hosts"), *host, *nodes = json_object();
    const json_t *shared = json_object_get(defaults, "host");
    bool simulated = is_simulated(document);
    const char *name;
    int result = check_shared_map(shared, "nics", e) != 0 ? -1 : check_shared_map(shared, "gpus", e);
    json_object_foreach(hosts, name, host)
    {
        if (result == 0)
            result = split_host(name, host, shared, simulated, nodes, e);
    }
    json_object_foreach(hosts, name, host)
    {
        bool split = json_is_object(json_object_get(host, "nics")); /* its own name is no node's */
        if (result == 0 && split && json_object_get(nodes, name))
            result = error_set(e, "hosts.%.80s: is also a NIC of another host", name);
    }
    if (result == 0 && json_is_object(hosts)) {
        name_single_nics(json_object_get(document, "links"), hosts, nodes);
        json_object_set_new(document, "hosts", in_machines(nodes));
    }
    json_decref(nodes);
    return result;
}

/* What the nodes have in "nics" and "gpus" is theirs already. A new reference. */
static json_t *without_maps(json_t *defaults)
{
    json_t *shared = json_object_get(defaults, "host"), *rest = json_copy(defaults);
    if (json_is_object(shared)) {
        shared = json_copy(shared);
        json_object_del(shared, "nics");
        json_object_del(shared, "gpus");
        json_object_set_new(rest, "host", shared);
    }
    return rest;
}

/* A NIC in a slot of its own has its values over those of the host's "pcie". */
static void lift_slots(json_t *hosts)
{
    const char *name;
    json_t *host;
    json_object_foreach(hosts, name, host)
    {
        json_t *nic = json_object_get(host, "nic"), *pcie = json_object_get(nic, "pcie");
        if (!json_is_object(pcie))
            continue;
        json_object_set_new(host, "pcie", json_merged(json_object_get(host, "pcie"), pcie));
        nic = json_copy(nic);
        json_object_del(nic, "pcie");
        json_object_set_new(host, "nic", nic);
    }
}

/* ---- values of simulated hosts */

static const json_t *model_in(const json_t *host)
{
    return json_object_get(json_object_get(host, "nic"), "model");
}

/* The host's own, which may be null: none; else that of the defaults. */
static int model_of(const json_t *shared, const json_t *host)
{
    const json_t *own = model_in(host);
    return nic_model_named(json_string_value(own ? own : model_in(shared)));
}

/* What the lab itself says of a host, also that a value is null. */
static json_t *said_of_host(const json_t *shared, const json_t *host)
{
    json_t *said = shared ? json_deep_copy(shared) : json_object();
    json_merge_deep(said, host);
    return said;
}

/* The values of simulated hosts: the host's own lie over the defaults, and these over those of the NIC's
 * model, if the table has it. The lab's sources get those of the values that come from there. */
static void share_in_sim_hosts(json_t *document, const json_t *shared)
{
    json_t *hosts = json_object_get(document, "hosts"), *host, *below[NIC_MODEL_COUNT] = {0};
    json_t *sources = json_object(), *all;
    const char *name;
    void *next;
    json_object_foreach_safe(hosts, next, name, host)
    {
        int model = model_of(shared, host);
        if (model >= 0 && !below[model]) {
            json_t *values = nic_model_document(model);
            below[model] = shared ? json_merged(values, shared) : json_incref(values);
            json_decref(values);
        }
        if (model > NIC_MODEL_IDEAL) {
            json_t *said = said_of_host(shared, host);
            nic_model_add_sources(sources, model, said);
            json_decref(said);
        }
        if (model >= 0 || shared)
            json_object_set_new(hosts, name, json_merged(model >= 0 ? below[model] : shared, host));
    }
    for (int i = 0; i < NIC_MODEL_COUNT; i++)
        json_decref(below[i]);
    all = json_object_size(sources) ? child_of(document, "sources", json_object()) : NULL;
    json_object_update_missing(all, sources);
    json_decref(sources);
}

/* What is null without a default is as if it were not there. */
static void drop_nulls(json_t *document)
{
    json_t *nothing = json_object();
    share_in_object(json_object_get(document, "hosts"), nothing);
    share_in_object(json_object_get(document, "switches"), nothing);
    json_decref(nothing);
}

static int expand_ranges(json_t *document, struct error *e)
{
    static const struct expand_ends ends = {.one = "between", .list = true};
    static const char *const of_hosts[] = {"nics", "gpus", NULL};
    return expand_nested_keys(document, "hosts", of_hosts, e) == 0 &&
                   expand_nested_keys(document, "defaults", of_hosts, e) == 0 &&
                   expand_keys(document, "switches", e) == 0 && expand_map(document, "roles", e) == 0 &&
                   expand_items(document, "links", &ends, e) == 0
               ? 0
               : -1;
}

json_t *lab_expand_ranges(const json_t *json, struct error *e)
{
    json_t *document = json_copy((json_t *)(uintptr_t)json);
    if (!document)
        error_set(e, "out of memory");
    if (document && expand_ranges(document, e) == 0)
        return document;
    json_decref(document);
    return NULL;
}

json_t *lab_expand(const json_t *json, struct error *e)
{
    json_t *document = json_deep_copy(json), *topology = NULL, *defaults = NULL;
    int result = expand_ranges(document, e);
    if (result == 0) {
        topology = json_incref(json_object_get(document, "topology"));
        defaults = json_incref(json_object_get(document, "defaults"));
        json_object_del(document, "topology");
        json_object_del(document, "defaults");
    }
    if (result == 0 && topology)
        result = draw_topology(document, topology, e);
    if (result == 0)
        result = split_hosts(document, defaults, e);
    if (result == 0 && defaults) {
        json_t *rest = without_maps(defaults);
        json_decref(defaults);
        defaults = rest;
        result = share_defaults(document, defaults, e);
    }
    if (result != 0) {
        json_decref(document);
        document = NULL;
    }
    if (is_simulated(document)) {
        share_in_sim_hosts(document, json_object_get(defaults, "host"));
        lift_slots(json_object_get(document, "hosts"));
    }
    drop_nulls(document);
    json_decref(topology);
    json_decref(defaults);
    return document;
}
