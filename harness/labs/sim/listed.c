#include "harness/labs/sim/listed.h"

static size_t role_count(const struct sim_lab *lab)
{
    return lab->run->cell->scenario.roles.count;
}

static bool is_host(const struct sim_lab *lab, size_t role)
{
    return lab->setup.node_of_role[role].kind == SIM_HOST;
}

/* Columns of all hosts or switches. */
static size_t count_columns(const struct sim_lab *lab, bool hosts)
{
    size_t columns = 0;
    for (size_t role = 0; role < role_count(lab); role++)
        if (is_host(lab, role) == hosts)
            columns += lab->series[role].count;
    return columns;
}

/* Those that are listed are the first ones; at least one is. */
static void list_first(struct sim_lab *lab, bool hosts, size_t room)
{
    size_t columns = 0;
    bool any = false;
    for (size_t role = 0; role < role_count(lab); role++) {
        if (is_host(lab, role) != hosts)
            continue;
        columns += lab->series[role].count;
        if (any && columns > room)
            recorder_unlist(lab->run->recorder, role);
        any = true;
    }
}

void listed_choose(struct sim_lab *lab)
{
    size_t hosts = count_columns(lab, true), switches = count_columns(lab, false), half = LISTED_COLUMNS / 2;
    if (lab->run->cell->scenario.sample.roles.count || hosts + switches <= LISTED_COLUMNS)
        return;
    /* half for hosts, half for switches, and what one does not need for the other */
    list_first(lab, true, switches < half ? LISTED_COLUMNS - switches : half);
    list_first(lab, false, hosts < half ? LISTED_COLUMNS - hosts : half);
}

int listed_check(const struct cell *cell, const struct sim *sim, const struct sim_setup *setup,
                 struct error *e)
{
    const struct list_of *named = &cell->scenario.sample.roles;
    char *const *roles = named->items;
    struct sim_senders senders;
    size_t columns = 0;
    int result = 0;
    if (sim_senders_make(&senders, setup) != 0)
        return error_set(e, "out of memory");
    for (size_t i = 0; result == 0 && i < named->count; i++) {
        struct sim_series series;
        int role = scenario_role_index(&cell->scenario, roles[i]); /* it is one of the scenario's */
        result = sim_series_open(&series, sim, &senders, setup->node_of_role[role],
                                 scenario_groups(&cell->scenario), e);
        columns += series.count;
        sim_series_close(&series);
    }
    sim_senders_free(&senders);
    if (result == 0 && columns > LISTED_COLUMNS_MOST)
        result =
            error_set(e,
                      "sample.roles: the %zu roles have %zu columns: a result has room for %d; name fewer "
                      "roles, or fewer groups in sample.groups",
                      named->count, columns, LISTED_COLUMNS_MOST);
    return result;
}
