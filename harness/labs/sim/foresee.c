#include "harness/labs/sim/foresee.h"
#include "harness/labs/sim/listed.h"
#include "harness/labs/sim/memory.h"
#include "lib/roce/counters.h"
#include <string.h>

static int foresee(const struct cell *cell, struct sim_setup *setup, uint64_t *bytes, struct error *e)
{
    if (sim_memory_check(cell, setup, bytes, e) != 0)
        return -1;
    for (size_t i = 0; i < setup->config.flow_count; i++)
        setup->flows[i].record_latency = false; /* nothing runs: 30 KB a flow */
    struct sim *sim = sim_new(&setup->config, e);
    int result = sim ? listed_check(cell, sim, setup, e) : -1;
    sim_free(sim);
    return result;
}

int sim_foresee_cell(const struct cell *cell, uint64_t *bytes, struct error *e)
{
    struct sim_setup setup;
    const struct scenario_collective *collectives = cell->scenario.collectives.items;
    if (cell->scenario.collectives.count)
        return error_set(e,
                         "collective %s: lab %s is simulated, and collectives run between GPUs of real hosts "
                         "only; traffic of pattern ring-all-reduce is simulated",
                         collectives[0].name, cell->lab.name);
    if (sim_setup_make(cell, 1, &setup, e) != 0)
        return -1;
    int result = foresee(cell, &setup, bytes, e);
    sim_setup_free(&setup);
    return result == 0 ? 0 : error_prefix(e, "lab %s", cell->lab.name);
}

/* Is a counter, or everything that a glob may match, known to the simulator alone? Families that begin with any text match almost any
 * glob and are ignored. */
static bool only_simulated(const char *glob)
{
    size_t count;
    const struct counter *rows = counters_all(&count), *row = counters_find(glob);
    if (!strpbrk(glob, "*?["))
        return row && row->origin == COUNTER_FROM_SIM;
    for (size_t i = 0; i < count; i++)
        if (rows[i].origin != COUNTER_FROM_SIM && rows[i].origin != COUNTER_FROM_DRIVER &&
            rows[i].pattern[0] != '*' && counters_pattern_overlaps(rows[i].pattern, glob))
            return false;
    return true;
}

static void describe(const struct sim_lab *lab, struct sim_node node, struct text *out)
{
    const char *name = sim_setup_node_name(lab->run->cell, &lab->setup, node);
    const struct lab_link *link;
    size_t ports = 0;
    text_add(out, "%s is %s of lab %s", name,
             node.kind == SIM_HOST     ? "a host"
             : node.kind == SIM_BRIDGE ? "a forwarding host"
                                       : "a switch",
             lab->run->cell->lab.name);
    for (size_t i = 0; (link = lab_link_at(&lab->run->cell->lab, i)); i++) {
        char *const *ends = link->between.items;
        ports += strcmp(ends[0], name) == 0 || strcmp(ends[1], name) == 0;
    }
    if (node.kind == SIM_SWITCH && ports)
        text_add(out, " with ports 0 to %zu", ports - 1);
}

static int lacks(const struct sim_lab *lab, const struct sim_series *series, const char *glob,
                 struct error *e)
{
    struct text node = {0};
    const char *near = sim_series_nearest(series, lab->sim, glob);
    describe(lab, series->node, &node);
    if (near && series->node.kind == SIM_HOST && counters_find(near) != counters_find(glob))
        near = NULL; /* a counter of something else */
    error_set(e, "%s and has no counter %.100s%s%s%s", text_string(&node), glob,
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    text_free(&node);
    return -1;
}

int sim_foresee_counter(struct sim_lab *lab, size_t role, const char *glob, struct error *e)
{
    struct sim_series series;
    struct sim_senders senders;
    if (!lab->sim && !(lab->sim = sim_new(&lab->setup.config, e)))
        return error_prefix(e, "lab %s", lab->run->cell->lab.name);
    if (sim_senders_make(&senders, &lab->setup) != 0)
        return error_set(e, "out of memory");
    int result = sim_series_open(&series, lab->sim, &senders, lab->setup.node_of_role[role], UINT32_MAX, e);
    if (result == 0 && !sim_series_match(&series, lab->sim, &lab->setup, glob) &&
        (series.node.kind == SIM_SWITCH || only_simulated(glob)))
        result = lacks(lab, &series, glob, e);
    sim_series_close(&series);
    sim_senders_free(&senders);
    return result;
}
