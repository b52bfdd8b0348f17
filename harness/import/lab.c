/* The lab of an imported case, and the network of a case whose files have none. */
#include "harness/import/import.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/formats/lab.h"
#include "lib/units.h"
#include <inttypes.h>
#include <string.h>

static json_t *nodes_json(const struct import *import, bool switches)
{
    json_t *nodes = json_object();
    for (size_t i = 0; i < import->nodes;) {
        size_t end = i;
        while (end < import->nodes && import->is_switch[end] == import->is_switch[i] &&
               import->left_out[end] == import->left_out[i])
            end++;
        if (import->is_switch[i] == switches && !import->left_out[i]) {
            json_t *name = import_names(import, i, end - 1);
            json_object_set_new(nodes, json_string_value(name), json_object());
            json_decref(name);
        }
        i = end;
    }
    return nodes;
}

/* ---- links */

static bool alike(const struct import_link *one, const struct import_link *other)
{
    return one->rate_bps == other->rate_bps && one->delay_ps == other->delay_ps &&
           one->loss_per_billion == other->loss_per_billion;
}

/* How many links from `first` on are the links of neighbouring nodes of one kind with one node: a range
 * stands for them. */
static size_t links_in_range(const struct import *import, size_t first)
{
    const struct import_link *link = &import->links[first];
    size_t n = 1;
    while (first + n < import->link_count && link[n].a == link->a + n && link[n].b == link->b &&
           import->is_switch[link[n].a] == import->is_switch[link->a] && alike(link, &link[n]))
        n++;
    return n;
}

static json_t *links_json(const struct import *import)
{
    json_t *links = json_array();
    for (size_t i = 0; i < import->link_count;) {
        const struct import_link *link = &import->links[i];
        size_t n = links_in_range(import, i);
        char rate[40], delay[40];
        json_t *one =
            json_make("{s:[o,o],s:s,s:s}", "between", import_names(import, link->a, link->a + n - 1),
                      import_names(import, link->b, link->b), "rate",
                      units_write(UNIT_RATE_BPS, link->rate_bps, UNITS_ANY, rate, sizeof rate), "delay",
                      units_write(UNIT_TIME_PS, link->delay_ps, UNITS_ANY, delay, sizeof delay));
        if (link->loss_per_billion)
            json_object_set_new(one, "loss", json_real((double)link->loss_per_billion / 1e9));
        json_array_append_new(links, one);
        i += n;
    }
    return links;
}

/* ---- common values, of another lab */

static bool is_of_nodes(const char *pattern)
{
    static const char *const whole[] = {"hosts", "switches", "links", "topology", "roles", "scaled"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strncmp(pattern, whole[i], strlen(whole[i])) == 0)
            return true;
    return false;
}

/* Where the values come from goes with them; the lengths and rates of links are the file's. */
static void take_sources(json_t *lab, const json_t *physics)
{
    json_t *sources = json_object_get(lab, "sources");
    const char *pattern;
    json_t *source;
    json_object_foreach(json_object_get(physics, "sources"), pattern, source)
    {
        if (!is_of_nodes(pattern) && strncmp(pattern, "defaults.link", 13) != 0)
            json_object_set(sources, pattern, source);
    }
}

static int take_physics(json_t *lab, const char *path, struct error *e)
{
    static const char *const taken[] = {"defaults", "framing", "truncate_to_ns", "udp_port"};
    json_t *physics = json_file_load(path, DOCUMENT_LAB, e);
    if (!physics)
        return -1;
    const char *driver = json_string_value(json_object_get(physics, "driver"));
    int result = 0;
    if (!driver || strcmp(driver, "sim") != 0)
        result = error_set(e, "%s: expected a simulated lab, whose common values are taken", path);
    else if (!json_object_get(physics, "defaults"))
        result = error_set(e, "%s: the lab has no common values (defaults), which could be taken", path);
    for (size_t i = 0; result == 0 && i < sizeof taken / sizeof *taken; i++) {
        json_t *value = json_object_get(physics, taken[i]);
        if (value)
            json_object_set_new(lab, taken[i], json_deep_copy(value));
    }
    if (result == 0)
        take_sources(lab, physics);
    json_decref(physics);
    return result;
}

/* A topology's links have one rate and delay; links of a file have their own. */
static void take_link_defaults(json_t *lab, const struct import *import)
{
    json_t *defaults = json_object_get(lab, "defaults");
    if (!defaults)
        json_object_set_new(lab, "defaults", defaults = json_object());
    char rate[40], delay[40];
    if (!import->topology)
        json_object_del(defaults, "link");
    else
        json_object_set_new(
            defaults, "link",
            json_make("{s:s,s:s}", "rate",
                      units_write(UNIT_RATE_BPS, import->rate_bps, UNITS_ANY, rate, sizeof rate), "delay",
                      units_write(UNIT_TIME_PS, import->delay_ps, UNITS_ANY, delay, sizeof delay)));
}

static json_t *title_of(const struct import *import)
{
    if (import->topology)
        return json_textf("Simulated: a network for %s, a file of %s", import->flow_path, import->format);
    return json_textf("Simulated: the network of %s, a file of %s", import->network_path, import->format);
}

json_t *import_lab(const struct import *import, const struct import_request *request, struct error *e)
{
    json_t *lab = json_make("{s:i,s:s,s:o,s:s,s:{}}", "schema", 1, "name", request->name, "title",
                            title_of(import), "driver", "sim", "sources");
    json_t *sources = json_object_get(lab, "sources");
    if (import->topology)
        json_object_set_new(sources, "topology",
                            json_textf("assumed for %s, a file of %s", import->flow_path, import->format));
    else
        json_object_set_new(sources, "links",
                            json_textf("%s, a file of %s", import->network_path, import->format));
    for (size_t i = 0; i < json_array_size(import->notes); i++) {
        json_t *key = json_textf("import.%zu", i);
        json_object_set(sources, json_string_value(key), json_array_get(import->notes, i));
        json_decref(key);
    }
    if (import->topology) {
        json_object_set(lab, "topology", import->topology);
    } else {
        json_object_set_new(lab, "hosts", nodes_json(import, false));
        json_object_set_new(lab, "switches", nodes_json(import, true));
        json_object_set_new(lab, "links", links_json(import));
    }
    if (request->physics && take_physics(lab, request->physics, e) != 0) {
        json_decref(lab);
        return NULL;
    }
    take_link_defaults(lab, import);
    if (import->udp_port)
        json_object_set_new(lab, "udp_port", json_integer((json_int_t)import->udp_port));
    return lab;
}

/* ---- networks of cases that have none */

#define MOST_PORTS 32    /* of a switch of a fat tree */
#define MOST_STAR  10000 /* hosts of a star (lib/formats/lab_expand.c) */

/* htsim, FatTreeTopology::set_params: k^3/4 hosts, or with two tiers k leaves with k/2 hosts each, and k/2
 * spines. NULL: no such tree has so many hosts. */
static json_t *fat_tree(int64_t hosts, int64_t tiers)
{
    for (int64_t k = 2; tiers == 3 && k <= MOST_PORTS; k += 2)
        if (k * k * k / 4 == hosts)
            return json_make("{s:s,s:I}", "kind", "fat_tree", "k", (json_int_t)k);
    for (int64_t k = 2; tiers == 2 && k * k / 2 <= hosts; k += 2)
        if (k * k / 2 == hosts)
            return json_make("{s:s,s:I,s:I,s:I}", "kind", "leaf_spine", "hosts", (json_int_t)k / 2, "leaves",
                             (json_int_t)k, "spines", (json_int_t)k / 2);
    return NULL;
}

int import_fat_tree(struct import *import, int64_t tiers, struct error *e)
{
    const int64_t hosts = (int64_t)import->nodes, others = tiers == 3 ? 2 : 3;
    import->topology = fat_tree(hosts, tiers);
    if (import->topology)
        return 0;
    json_t *other = fat_tree(hosts, others);
    json_decref(other);
    if (other)
        return error_set(e,
                         "%s: %" PRId64
                         " nodes do not make a fat tree of %d tiers, but one of %d: give --tiers %d, or "
                         "a lab with at least that number of hosts as --lab",
                         import->flow_path, hosts, (int)tiers, (int)others, (int)others);
    return error_set(
        e,
        "%s: %" PRId64
        " nodes do not make a fat tree of 2 or 3 tiers, which have k^2/2 (2, 8, 18, 32, 50 ...) and "
        "k^3/4 (2, 16, 54, 128, 250, 432, 686, 1024 ... 8192) hosts: give a lab with at least "
        "that number of hosts as --lab",
        import->flow_path, hosts);
}

int import_star(struct import *import, struct error *e)
{
    if (import->nodes > MOST_STAR)
        return error_set(e, "%s: %zu hosts on one switch: expected at most %d, or a lab as --lab",
                         import->flow_path, import->nodes, MOST_STAR);
    import->topology = json_make("{s:s,s:I}", "kind", "star", "hosts", (json_int_t)import->nodes);
    return import->topology ? 0 : error_set(e, "out of memory");
}

/* Names of the hosts in the lab's order; the slowest link and the longest one, for the duration. */
static int import_take_hosts(struct import *import, const struct lab *lab, struct error *e)
{
    const struct lab_link *link;
    import->names = json_array();
    for (size_t i = 0; i < import->nodes; i++)
        json_array_append_new(import->names, json_text(lab_node_name(lab, i)));
    import->rate_bps = import->delay_ps = 0;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        if (!import->rate_bps || link->rate_bps < import->rate_bps)
            import->rate_bps = link->rate_bps;
        int64_t delay_ps = link->delay_ps != FIELD_UNSET    ? link->delay_ps
                           : link->length_mm != FIELD_UNSET ? link->length_mm * 5
                                                            : 0;
        import->delay_ps = delay_ps > import->delay_ps ? delay_ps : import->delay_ps;
    }
    return json_array_size(import->names) == import->nodes ? 0 : error_set(e, "out of memory");
}

int import_take_lab(struct import *import, const char *path, struct error *e)
{
    struct lab lab;
    if (lab_load(path, &lab, e) != 0)
        return -1;
    int result = 0;
    if (!lab_kind(&lab)->simulated)
        result = error_set(e, "%s: expected a simulated lab", path);
    else if (lab.hosts.count < import->nodes)
        result = error_set(e, "%s has %zu hosts: %s needs %zu", path, lab.hosts.count, import->flow_path,
                           import->nodes);
    else
        result = import_take_hosts(import, &lab, e);
    lab_free(&lab);
    return result;
}
