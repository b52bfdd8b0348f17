/* Do the counters that expectations read exist, and are there enough samples of them? A host whose counters
 * were not seen may have them. */
#include "harness/doctor/check.h"

#include "harness/plan/decidable.h"
#include "lib/names/range.h"
#include "lib/roce/counters.h"

struct search {
    const struct cell *cell;
    const json_t *columns;
    const char *role, *counter; /* globs: the first counter that was not found */
    const char *unseen;         /* a role that it may be on */
};

/* Does a counter of this row exist once the settings are applied: a qdisc's where RED is installed, pauses
 * where PFC is enabled? */
static bool row_comes_with(const struct counter *row, const json_t *settings)
{
    if (row->origin == COUNTER_FROM_QDISC)
        return json_is_object(json_object_get(settings, "red"));
    return row->group == COUNTER_GROUP_PFC && json_array_size(json_object_get(settings, "pfc")) > 0;
}

static bool comes_with_settings(const struct search *search, const char *role, const char *counter)
{
    json_t *wanted = scenario_role_settings(search->cell->scenario_json, role);
    size_t count;
    const struct counter *rows = counters_all(&count);
    bool comes = false;
    for (size_t i = 0; !comes && i < count; i++)
        comes = row_comes_with(&rows[i], wanted) && counters_pattern_overlaps(rows[i].pattern, counter);
    json_decref(wanted);
    return comes;
}

static bool is_sampled(const json_t *names, const char *counter)
{
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
    {
        if (glob_matches(counter, json_string_value(name)))
            return true;
    }
    return false;
}

static void search_counter(void *context, const char *role_glob, const char *counter_glob, const char *key)
{
    (void)key;
    struct search *search = context;
    const char *role, *unseen = NULL;
    for (size_t i = 0; (role = scenario_role(&search->cell->scenario, i)); i++) {
        const json_t *names = json_object_get(search->columns, role);
        if (!name_matches(role_glob, role))
            continue;
        if (is_sampled(names, counter_glob) || (names && comes_with_settings(search, role, counter_glob)))
            return;
        if (!names)
            unseen = role;
    }
    /* A counter that no host has decides; one that was not looked for everywhere does not. */
    if (search->counter && !search->unseen)
        return;
    search->role = role_glob;
    search->counter = counter_glob;
    search->unseen = unseen;
}

static void examine_counters(const struct doctor_subject *x)
{
    const struct cell *cell = x->cell;
    const struct scenario_expect *expect = cell->scenario.expect.items;
    for (size_t i = 0; i < cell->scenario.expect.count; i++) {
        struct search search = {.cell = cell, .columns = x->seen->columns};
        if (plan_when(cell, expect[i].when))
            expr_each_counter(cell->checks[i], search_counter, &search);
        if (!search.counter)
            continue;
        if (search.unseen)
            doctor_add(x->entries, search.role, "counters", "unknown", NULL,
                       "whether there is a counter %s is not known, as those of %s were not seen: \"%s\" "
                       "may be skipped",
                       search.counter, search.unseen, expect[i].name);
        else
            doctor_add(x->entries, search.role, "counters", "warning", NULL,
                       "there is no counter %s: \"%s\" will be skipped", search.counter, expect[i].name);
        doctor_add_evidence(x->entries, "columns of nic-sampler --count 1");
    }
}

const struct doctor_check doctor_counters = {.name = "counters",
                                             .scope = DOCTOR_CELL,
                                             .when = DOCTOR_EXAMINES,
                                             .needs = DOCTOR_NEEDS_REAL,
                                             .examine = examine_counters};

/* ---- gauges: what lies between two samples is not seen */

static void examine_samples(const struct doctor_subject *x)
{
    const struct scenario *scenario = &x->cell->scenario;
    int64_t every_ns = scenario->sample.every_ns, measure_ns = scenario->phases.measure_ns;
    char every[40], measure[40], gauge[160];
    struct judgement j;
    if (measure_ns / every_ns + 1 >= SCENARIO_FEW_SAMPLES)
        return;
    units_format(UNIT_TIME_NS, every_ns, every, sizeof every);
    units_format(UNIT_TIME_NS, measure_ns, measure, sizeof measure);
    for (size_t i = 0; plan_judgement(x->cell, i, &j); i++) {
        if (!plan_when(x->cell, j.when) || !expr_reads_samples(j.expr, gauge, sizeof gauge))
            continue;
        doctor_add(x->entries, x->lab->name, "samples", "warning",
                   "shorten sample.every or lengthen phases.measure",
                   "%s[%zu] reads %s, of which fewer than %d samples lie in the measured phase: sample.every "
                   "is %s, and phases.measure %s",
                   j.list, j.index, gauge, SCENARIO_FEW_SAMPLES, every, measure);
        doctor_add_evidence(x->entries, "sample.every, phases.measure and %s", j.list);
    }
}

const struct doctor_check doctor_samples = {.name = "samples",
                                            .scope = DOCTOR_CELL,
                                            .when = DOCTOR_WARNS_OF_RUN | DOCTOR_EXAMINES,
                                            .examine = examine_samples};
