/* The network of a case whose files have none. */
#include "harness/import/import.h"
#include "lib/document/json_text.h"
#include "lib/formats/lab.h"
#include <string.h>

#define MOST_PORTS 32    /* of a switch of a fat tree */
#define MOST_STAR  10000 /* hosts of a star (lib/formats/lab_expand.c) */

/* htsim, FatTreeTopology::set_params: k^3/4 hosts, or with two tiers k leaves with k/2 hosts each, and k/2 spines. */
int import_fat_tree(struct import *import, int64_t tiers, struct error *e)
{
    const int64_t hosts = (int64_t)import->nodes;
    for (int64_t k = 2; tiers == 3 && k <= MOST_PORTS; k += 2)
        if (k * k * k / 4 == hosts)
            import->topology = json_make("{s:s,s:I}", "kind", "fat_tree", "k", (json_int_t)k);
    for (int64_t k = 2; tiers == 2 && k * k / 2 <= hosts; k += 2)
        if (k * k / 2 == hosts)
            import->topology =
                json_make("{s:s,s:I,s:I,s:I}", "kind", "leaf_spine", "hosts", (json_int_t)k / 2, "leaves",
                          (json_int_t)k, "spines", (json_int_t)k / 2);
    if (import->topology)
        return 0;
    return error_set(e,
                     "%s: %zu nodes do not make a fat tree of %d tiers, which has %s hosts: give --tiers %d, "
                     "or a lab with "
                     "that number of hosts as --lab",
                     import->flow_path, import->nodes, (int)tiers,
                     tiers == 3 ? "k^3/4 (2, 16, 54, 128, 250, 432, 686, 1024 ... 8192)"
                                : "k^2/2 (2, 8, 18, 32, 50 ...)",
                     tiers == 3 ? 2 : 3);
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
static int take_hosts(struct import *import, const struct lab *lab, struct error *e)
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
        result = take_hosts(import, &lab, e);
    lab_free(&lab);
    return result;
}
