#include "harness/labs/sim/listed.h"

static size_t role_count(const struct sim_lab *lab)
{
    return lab->run->cell->scenario.roles.count;
}

static bool is_host(const struct sim_lab *lab, size_t role)
{
    return lab->setup.node_of_role[role].kind == SIM_HOST;
}

/* Columns of all hosts or switches, or of those that are listed. */
static size_t count_columns(const struct sim_lab *lab, bool hosts, bool listed)
{
    size_t columns = 0;
    for (size_t role = 0; role < role_count(lab); role++)
        if (is_host(lab, role) == hosts && (!listed || recorder_lists(lab->run->recorder, role)))
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

int listed_choose(struct sim_lab *lab, struct error *e)
{
    size_t named = lab->run->cell->scenario.sample.roles.count;
    size_t hosts = count_columns(lab, true, named > 0), switches = count_columns(lab, false, named > 0);
    if (named && hosts + switches > LISTED_COLUMNS_MOST)
        return error_set(e,
                         "sample.roles: the %zu roles have %zu columns: a result has room for %d; name fewer "
                         "roles, or fewer groups in sample.groups",
                         named, hosts + switches, LISTED_COLUMNS_MOST);
    if (named || hosts + switches <= LISTED_COLUMNS)
        return 0;
    /* half for hosts, half for switches, and what one does not need for the other */
    size_t half = LISTED_COLUMNS / 2;
    list_first(lab, true, switches < half ? LISTED_COLUMNS - switches : half);
    list_first(lab, false, hosts < half ? LISTED_COLUMNS - hosts : half);
    return 0;
}
