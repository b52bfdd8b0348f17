#include "harness/doctor/probe/ends.h"

#include <stdlib.h>
#include <string.h>

/* ---- groups of nodes: groups[i] is a node of the same group, or i itself, which then names the group */

static size_t group_of(const size_t *groups, size_t node)
{
    while (groups[node] != node)
        node = groups[node];
    return node;
}

/* "leaf0:3" is a port of leaf0. */
static long node_of(const struct lab *lab, const char *place)
{
    char *name = strndup(place, strcspn(place, ":"));
    long node = name ? lab_node_index(lab, name) : -1;
    free(name);
    return node;
}

static void join(const struct lab *lab, size_t *groups)
{
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *names = link->between.items;
        long a = link->between.count == 2 ? node_of(lab, names[0]) : -1;
        long b = a >= 0 ? node_of(lab, names[1]) : -1;
        if (b >= 0)
            groups[group_of(groups, (size_t)a)] = group_of(groups, (size_t)b);
    }
}

/* The group of each node; the caller frees. */
static size_t *find_groups(const struct lab *lab)
{
    size_t count = 0;
    while (lab_node_name(lab, count))
        count++;
    size_t *groups = calloc(count + 1, sizeof *groups);
    for (size_t i = 0; groups && i < count; i++)
        groups[i] = lab->links.count ? i : 0;
    if (groups)
        join(lab, groups);
    return groups;
}

/* ---- ends */

static bool may_send(const struct lab *lab, long host)
{
    const struct lab_host *real = host >= 0 ? lab_host_at(lab, (size_t)host) : NULL;
    return host >= 0 && !(real && lab_forwards(real));
}

static const char *name_at(const struct cell *cell, const struct lab *lab, size_t i)
{
    return cell ? scenario_role(&cell->scenario, i) : i < lab->hosts.count ? lab_node_name(lab, i) : NULL;
}

int probe_ends(const struct cell *cell, const struct lab *lab, struct probe_end **ends, size_t *count,
               struct error *e)
{
    size_t most = cell ? cell->scenario.roles.count : lab->hosts.count;
    size_t *groups = find_groups(lab);
    const char *name;
    *count = 0;
    *ends = calloc(most + 1, sizeof **ends);
    if (!groups || !*ends) {
        free(groups);
        return error_set(e, "out of memory for %zu hosts", most);
    }
    for (size_t i = 0; (name = name_at(cell, lab, i)); i++) {
        long host = cell ? lab_host_of(lab, name) : (long)i;
        if (may_send(lab, host))
            (*ends)[(*count)++] = (struct probe_end){name, group_of(groups, (size_t)host)};
    }
    free(groups);
    return 0;
}
