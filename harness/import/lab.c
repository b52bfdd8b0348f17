/* The lab of an imported case, and the network of a case whose files have none. */
#include "harness/import/import.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/formats/lab.h"
#include "lib/units.h"
#include <inttypes.h>
#include <string.h>

/* What a node of the lab says of itself: the NICs of a host with several. */
static json_t *node_json(const struct import *import, size_t node)
{
    unsigned ports = import->ports[node], nvlinks = import->nvlinks[node];
    json_t *of_node = json_object(), *nics;
    if (import->ecn_of && import->ecn_of[node])
        json_object_set(of_node, "ecn", json_array_get(import->ecn, import->ecn_of[node] - 1));
    if (ports + nvlinks <= 1)
        return of_node;
    json_object_set_new(of_node, "nics", nics = json_object());
    for (int kind = 0; kind < 2; kind++) {
        unsigned count = kind ? nvlinks : ports;
        json_t *name = count > 1 ? json_textf("%s[0-%u]", kind ? "nvlink" : "port", count - 1)
                                 : json_text(kind ? "nvlink0" : "port0");
        if (count)
            json_object_set_new(nics, json_string_value(name), json_object());
        json_decref(name);
    }
    return of_node;
}

static bool nodes_alike(const struct import *import, size_t a, size_t b)
{
    return import->is_switch[a] == import->is_switch[b] && import->left_out[a] == import->left_out[b] &&
           import->ports[a] == import->ports[b] && import->nvlinks[a] == import->nvlinks[b] &&
           (!import->ecn_of ||
            json_equal(json_array_get(import->ecn, (size_t)import->ecn_of[a] - 1),
                       json_array_get(import->ecn, (size_t)import->ecn_of[b] - 1)) ||
            import->ecn_of[a] == import->ecn_of[b]);
}

static json_t *nodes_json(const struct import *import, bool switches)
{
    json_t *nodes = json_object();
    for (size_t i = 0; i < import->nodes;) {
        size_t end = i;
        while (end < import->nodes && nodes_alike(import, end, i))
            end++;
        if (import->is_switch[i] == switches && !import->left_out[i]) {
            json_t *name = import_names(import, i, end - 1);
            json_object_set_new(nodes, json_string_value(name), node_json(import, i));
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
           one->loss_per_billion == other->loss_per_billion && one->a_port == other->a_port &&
           one->b_port == other->b_port;
}

/* The links of a node, and then those of the next node likewise: of host after host with so many NICs, each
 * to its switch; or each to the next switch. */
struct pattern {
    size_t period, count; /* links of a node; nodes */
    uint32_t step;        /* of the other ends */
};

#define MOST_PERIOD 256 /* links of a node, with each of which every other one is compared */

/* Is link i the one a period before it, of the next node? */
static bool continues(const struct import *import, size_t i, const struct pattern *p)
{
    const struct import_link *link = &import->links[i], *before = link - p->period;
    return i < import->link_count && link->a == before->a + 1 && link->b == before->b + p->step &&
           import->is_switch[link->a] == import->is_switch[before->a] &&
           import->is_switch[link->b] == import->is_switch[before->b] && alike(link, before);
}

/* How many nodes there may be: the links of a switch keep their order, which numbers its ports, as long as no
 * switch is in two of the ranges. */
static size_t most_nodes(const struct import *import, size_t first, const struct pattern *p)
{
    const struct import_link *links = &import->links[first];
    size_t most = import->link_count;
    for (size_t i = 0; p->step && i < p->period; i++)
        for (size_t k = 0; k < i; k++) {
            size_t apart = links[i].b > links[k].b ? links[i].b - links[k].b : links[k].b - links[i].b;
            most = apart < most ? apart : most;
        }
    return most;
}

/* How ranges of names stand for the links from `first` on: the pattern that takes in the most of them. */
static struct pattern pattern_at(const struct import *import, size_t first)
{
    size_t period = 1;
    while (first + period < import->link_count && import->links[first + period].a == import->links[first].a)
        period++;
    struct pattern best = {period, 1, 0};
    for (uint32_t step = 0; step < 2 && period <= MOST_PERIOD; step++) {
        struct pattern p = {period, 1, step};
        size_t most = most_nodes(import, first, &p), same = 0;
        while (p.count < most && continues(import, first + p.count * period + same, &p))
            if (++same == period) {
                same = 0;
                p.count++;
            }
        if (p.count > best.count)
            best = p;
    }
    return best;
}

static json_t *link_json(const struct import *import, const struct import_link *link, const struct pattern *p)
{
    char rate[40], delay[40];
    size_t more = p->count - 1;
    json_t *one = json_make(
        "{s:[o,o],s:s,s:s}", "between", import_port_names(import, link->a, link->a + more, link->a_port),
        import_port_names(import, link->b, link->b + p->step * more, link->b_port), "rate",
        units_write(UNIT_RATE_BPS, link->rate_bps, UNITS_ANY, rate, sizeof rate), "delay",
        units_write(UNIT_TIME_PS, link->delay_ps, UNITS_ANY, delay, sizeof delay));
    if (link->loss_per_billion)
        json_object_set_new(one, "loss", json_real((double)link->loss_per_billion / 1e9));
    return one;
}

static json_t *links_json(const struct import *import)
{
    json_t *links = json_array();
    for (size_t i = 0; i < import->link_count;) {
        struct pattern p = pattern_at(import, i);
        for (size_t k = 0; k < p.period; k++)
            json_array_append_new(links, link_json(import, &import->links[i + k], &p));
        i += p.period * p.count;
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
    json_merge_deep(lab, import->lab_values);
    if (import->own_numbers)
        json_object_set_new(lab, "ecmp_numbers", json_text("names"));
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
        int64_t delay_ps = lab_link_delay_ps(link);
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
