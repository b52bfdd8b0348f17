#include "harness/labs/sim/listed.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

/* ---- which roles are listed */

/* What decides: the nodes of the roles, and how many columns each has. */
struct choice {
    const struct cell *cell;
    const struct sim_node *nodes;
    const size_t *columns;
    bool *listed;
};

/* Columns of all hosts, or of all else. */
static size_t count_columns(const struct choice *c, bool hosts)
{
    size_t columns = 0;
    for (size_t role = 0; role < c->cell->scenario.roles.count; role++)
        if ((c->nodes[role].kind == SIM_HOST) == hosts)
            columns += c->columns[role];
    return columns;
}

/* Those that are listed are the first ones; at least one is. */
static void list_first(const struct choice *c, bool hosts, size_t room)
{
    size_t columns = 0;
    bool any = false;
    for (size_t role = 0; role < c->cell->scenario.roles.count; role++) {
        if ((c->nodes[role].kind == SIM_HOST) != hosts)
            continue;
        columns += c->columns[role];
        c->listed[role] = !any || columns <= room;
        any = true;
    }
}

/* Those of sample.roles; without it half of the room is for hosts and half for switches, and what one does not need for the other. */
static void choose(const struct choice *c)
{
    const struct list_of *named = &c->cell->scenario.sample.roles;
    char *const *names = named->items;
    for (size_t i = 0; i < named->count; i++)
        c->listed[scenario_role_index(&c->cell->scenario, names[i])] = true;
    if (named->count)
        return;
    size_t hosts = count_columns(c, true), switches = count_columns(c, false), half = LISTED_COLUMNS / 2;
    bool all = hosts + switches <= LISTED_COLUMNS;
    list_first(c, true, all || switches < half ? LISTED_COLUMNS - switches : half);
    list_first(c, false, all || hosts < half ? LISTED_COLUMNS - hosts : half);
}

int listed_choose(struct sim_lab *lab)
{
    size_t roles = lab->run->cell->scenario.roles.count, *columns = calloc(roles + 1, sizeof *columns);
    bool *listed = calloc(roles + 1, sizeof *listed);
    for (size_t role = 0; columns && role < roles; role++)
        columns[role] = lab->series[role].count;
    if (columns && listed)
        choose(&(struct choice){lab->run->cell, lab->setup.node_of_role, columns, listed});
    for (size_t role = 0; columns && listed && role < roles; role++)
        if (!listed[role])
            recorder_unlist(lab->run->recorder, role);
    int result = columns && listed ? 0 : -1;
    free(columns);
    free(listed);
    return result;
}

/* ---- before a run */

static int refuse_role(const char *role, const struct sim_series *series, const struct sim *sim,
                       struct error *e)
{
    size_t groups[COUNTER_GROUPS];
    struct text text = {0};
    sim_series_count_groups(series, sim, groups);
    for (size_t i = 0; i < COUNTER_GROUPS; i++)
        if (groups[i])
            text_add(&text, "%s%s %zu", text.length ? ", " : "", counter_group_names[i], groups[i]);
    error_set(e,
              "role %s has %zu columns, a line of samples has room for %d: leave groups out of sample.groups "
              "(%s), or name in sample.roles which roles are listed",
              role, series->count, LINES_MAX_COLUMNS, text_string(&text));
    text_free(&text);
    return -1;
}

static int count_roles(const struct cell *cell, const struct sim *sim, const struct sim_setup *setup,
                       const struct sim_senders *senders, size_t *columns, struct error *e)
{
    for (size_t role = 0; role < cell->scenario.roles.count; role++) {
        struct sim_series series;
        int result = sim_series_open(&series, sim, senders, setup->node_of_role[role],
                                     scenario_groups(&cell->scenario), e);
        columns[role] = series.count;
        sim_series_close(&series);
        if (result != 0)
            return -1;
    }
    return 0;
}

/* A reader takes no line with more columns, and no result with more of them in all. */
static int check_listed(const struct choice *c, const struct sim *sim, const struct sim_senders *senders,
                        struct error *e)
{
    size_t sum = 0, count = 0;
    for (size_t role = 0; role < c->cell->scenario.roles.count; role++) {
        if (!c->listed[role])
            continue;
        sum += c->columns[role];
        count++;
        if (c->columns[role] <= LINES_MAX_COLUMNS)
            continue;
        struct sim_series series;
        int result =
            sim_series_open(&series, sim, senders, c->nodes[role], scenario_groups(&c->cell->scenario), e);
        if (result == 0)
            result = refuse_role(scenario_role(&c->cell->scenario, role), &series, sim, e);
        sim_series_close(&series);
        return result;
    }
    if (sum <= LISTED_COLUMNS_MOST)
        return 0;
    return error_set(e,
                     "sample.roles: the %zu roles have %zu columns: a result has room for %d; name fewer "
                     "roles, or fewer groups in sample.groups",
                     count, sum, LISTED_COLUMNS_MOST);
}

int listed_check(const struct cell *cell, const struct sim *sim, const struct sim_setup *setup,
                 struct error *e)
{
    size_t roles = cell->scenario.roles.count, *columns = calloc(roles + 1, sizeof *columns);
    bool *listed = calloc(roles + 1, sizeof *listed);
    struct sim_senders senders = {0};
    int result = -1;
    if (!columns || !listed || sim_senders_make(&senders, setup) != 0)
        error_set(e, "out of memory");
    else
        result = count_roles(cell, sim, setup, &senders, columns, e);
    if (result == 0) {
        const struct choice c = {cell, setup->node_of_role, columns, listed};
        choose(&c);
        result = check_listed(&c, sim, &senders, e);
    }
    sim_senders_free(&senders);
    free(columns);
    free(listed);
    return result;
}
