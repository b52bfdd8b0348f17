/* Could an expression ever be decided, by what the scenario sends and samples? */
#include "harness/expression/expr.h"
#include "harness/expression/expr_tree.h"
#include "lib/roce/counters.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- counters: is their group sampled? */

/* The groups of the counters that a glob may match, one bit each. Families of names match almost any glob, so they count only if
 * nothing else matches. */
static uint32_t groups_of_glob(const char *glob)
{
    size_t count;
    const struct counter *rows = counters_all(&count);
    uint32_t listed = 0, families = 0;
    for (size_t i = 0; i < count; i++)
        if (counters_pattern_overlaps(rows[i].pattern, glob))
            *(strchr(rows[i].pattern, '*') ? &families : &listed) |= 1U << rows[i].group;
    return listed ? listed : families;
}

static uint32_t groups_of(const char *name)
{
    char near[128];
    if (strpbrk(name, "*?["))
        return groups_of_glob(name);
    const struct counter *row = counters_known(name, near, sizeof near);
    return row ? 1U << row->group : UINT32_MAX;
}

static int decide_counter(const struct expr_node *node, const struct scenario *scenario, struct error *e)
{
    uint32_t groups = groups_of(node->name);
    size_t group = 0;
    if (groups & scenario_groups(scenario))
        return 0;
    while (counter_group_names[group] && !(groups >> group & 1))
        group++;
    const char *name = counter_group_names[group] ? counter_group_names[group] : "other";
    return error_set(e, "column %d: %s is of group %s, which is not sampled: add \"%s\" to sample.groups",
                     node->column, node->name, name, name);
}

/* ---- values of flows */

/* What a name stands for: a flow, a traffic pattern, or one flow of a pattern. */
enum sender { FLOW = 1, PATTERN = 2, PART = 4 };

/* Values that not every flow has, by the beginning of their names. */
static const struct {
    const char *prefix;
    int senders;
    bool at_end; /* only flows that end have it */
    const char *whose;
} families[] = {
    {"latency_", FLOW, false, "flows of \"flows\", not of traffic patterns"},
    {"completion_", FLOW | PATTERN | PART, true, "flows with an end: give it a \"size\""},
    {"slowdown_", PATTERN, true, "traffic patterns whose flows end: give it a \"size\""},
};
#define FAMILIES (sizeof families / sizeof *families)

/* What the names that a glob matches are, which of them end, and how many there are. */
struct senders {
    int all, ending;
    size_t flows, parts, patterns;
    size_t whole; /* patterns of which no single flow matches */
};

static void note(struct senders *found, enum sender sender, bool ends)
{
    found->all |= sender;
    found->ending |= ends ? sender : 0;
}

static void find_traffic(const char *glob, const struct scenario_traffic *traffic, struct senders *found)
{
    int64_t count = scenario_traffic_flows(traffic);
    bool ends = scenario_traffic_ends(traffic), own = fnmatch(glob, traffic->name, 0) == 0;
    size_t parts = 0;
    char name[160];
    if (own)
        note(found, PATTERN, ends);
    found->patterns += own;
    if (count < 0 || count > SCENARIO_PATTERN_FLOWS)
        count = count < 0 ? SCENARIO_PATTERN_FLOWS : 0;
    for (int64_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%.120s/%" PRId64, traffic->name, i);
        parts += fnmatch(glob, name, 0) == 0;
    }
    if (parts)
        note(found, PART, ends);
    found->parts += parts;
    found->whole += own && !parts;
}

/* How many values a statistic has: a pattern's own counts where it has no single flows, or they lack the value. */
static size_t values_of(const struct senders *found, int have)
{
    size_t patterns = have & PART ? found->whole : found->patterns;
    return (have & FLOW ? found->flows : 0) + (have & PART ? found->parts : 0) +
           (have & PATTERN ? patterns : 0);
}

static int decide_flow(const struct expr_node *node, const struct scenario *scenario, struct error *e)
{
    const struct scenario_flow *flows = scenario->flows.items;
    const struct scenario_traffic *traffic = scenario->traffic.items;
    struct senders found = {0};
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (fnmatch(node->flow, flows[i].name, 0) == 0) {
            note(&found, FLOW, flows[i].size_bytes != FIELD_UNSET);
            found.flows++;
        }
    for (size_t i = 0; i < scenario->traffic.count; i++)
        find_traffic(node->flow, &traffic[i], &found);
    if (!found.all)
        return error_set(
            e,
            "column %d: no traffic has a flow \"%.60s\": the flows of a pattern are NAME/0, NAME/1, "
            "..., and have figures of their own only in patterns of at most %d",
            node->column, node->flow, SCENARIO_PATTERN_FLOWS);
    int have = FLOW | PATTERN | PART;
    for (size_t i = 0; i < FAMILIES; i++) {
        if (strncmp(node->name, families[i].prefix, strlen(families[i].prefix)) != 0)
            continue;
        have = families[i].senders;
        if (!((families[i].at_end ? found.ending : found.all) & have))
            return error_set(e, "column %d: flows.%.60s has no %s, which is a value of %s", node->column,
                             node->flow, node->name, families[i].whose);
    }
    if (expr_functions[node->function].two && values_of(&found, have) < 2)
        return error_set(
            e, "column %d: %s of one value says nothing: expected at least two flows that match %.60s",
            node->column, expr_functions[node->function].name, node->flow);
    return 0;
}

/* ---- values of collectives */

static int decide_collective(const struct expr_node *node, const struct scenario *scenario, struct error *e)
{
    const struct scenario_collective *items = scenario->collectives.items;
    bool checks = false;
    for (size_t i = 0; i < scenario->collectives.count; i++)
        checks = checks || (fnmatch(node->flow, items[i].name, 0) == 0 && items[i].validate == 1);
    if (checks || strcmp(node->name, "wrong") != 0)
        return 0;
    return error_set(e, "column %d: collectives.%.60s has no wrong elements, because validate is false",
                     node->column, node->flow);
}

/* ---- the tree */

static int decide(const struct expr_node *node, const struct scenario *scenario, size_t *statistics,
                  struct error *e)
{
    if (!node)
        return 0;
    if (node->kind == DIVIDE && node->right->kind == NUMBER && node->right->number == 0)
        return error_set(e, "column %d: division by zero", node->column);
    if (node->kind == STATISTIC) {
        ++*statistics;
        if (expr_is_of_collectives(node))
            return decide_collective(node, scenario, e);
        return node->flow ? decide_flow(node, scenario, e) : decide_counter(node, scenario, e);
    }
    return decide(node->left, scenario, statistics, e) != 0 ||
                   decide(node->right, scenario, statistics, e) != 0
               ? -1
               : 0;
}

int expr_decidable(const struct expr *expr, const struct scenario *scenario, struct error *e)
{
    size_t statistics = 0;
    if (decide(expr->left, scenario, &statistics, e) != 0 ||
        decide(expr->right, scenario, &statistics, e) != 0)
        return -1;
    if (!statistics)
        return error_set(
            e, "it reads no counter and no value of a flow or collective, so it says nothing about a run");
    return 0;
}
