/* Checks expressions against a scenario: are names known, are units compatible, and could a run ever decide
 * it? */
#include "harness/expression/expr.h"
#include "harness/expression/expr_tree.h"
#include "lib/collective/result_collectives.h"
#include "lib/schedule/job.h"
#include "lib/document/nearest.h"
#include "lib/names/range.h"
#include "lib/roce/counters.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what an expression reads */

static void each_counter(const struct expr_node *node, expr_counter *each, void *context)
{
    if (!node)
        return;
    if (node->kind == STATISTIC && !node->flow)
        each(context, node->group, node->name, expr_functions[node->function].key);
    each_counter(node->left, each, context);
    each_counter(node->right, each, context);
}

void expr_each_counter(const struct expr *expr, expr_counter *each, void *context)
{
    each_counter(expr->left, each, context);
    each_counter(expr->right, each, context);
}

bool expr_units_unlike(const struct counter *a, const struct counter *b)
{
    double scale;
    return expr_unit_dimension(a->unit, &scale) != expr_unit_dimension(b->unit, &scale);
}

/* Not what is only counted, which has the key "last", too. */
bool expr_key_takes(const char *key, const struct counter *c)
{
    int of = c->kind == COUNTER_GAUGE ? OF_GAUGE : OF_COUNTER;
    bool takes = false;
    for (size_t i = 0; i < EXPR_FUNCTIONS; i++)
        takes = takes || (expr_functions[i].key && strcmp(expr_functions[i].key, key) == 0 &&
                          expr_functions[i].of & of);
    return takes && strcmp(key, expr_functions[COUNT_OF].key) != 0;
}

bool expr_is_over_samples(const struct expr_node *node, const char *counter)
{
    static const char *const keep_largest[] = {"*_peak_bytes", "*_watermark"};
    const struct expr_function_row *function = &expr_functions[node->function];
    bool over = function->of & OF_GAUGE && node->function != FIRST && node->function != LAST;
    for (size_t i = 0; i < sizeof keep_largest / sizeof *keep_largest; i++)
        over = over && !(node->function == MAX && fnmatch(keep_largest[i], counter, 0) == 0);
    return over;
}

static bool is_gauge(const char *name)
{
    char near[128];
    size_t count;
    const struct counter *rows = counters_all(&count), *row = counters_known(name, near, sizeof near);
    for (size_t i = 0; !row && strpbrk(name, "*?[") && i < count; i++)
        if (rows[i].kind == COUNTER_GAUGE && !strchr(rows[i].pattern, '*') &&
            counters_pattern_overlaps(rows[i].pattern, name))
            return true;
    return row && row->kind == COUNTER_GAUGE;
}

static const struct expr_node *over_samples(const struct expr_node *node)
{
    if (!node)
        return NULL;
    if (node->kind == STATISTIC)
        return !node->flow && expr_is_over_samples(node, node->name) && is_gauge(node->name) ? node : NULL;
    const struct expr_node *found = over_samples(node->left);
    return found ? found : over_samples(node->right);
}

bool expr_reads_samples(const struct expr *expr, char *text, size_t size)
{
    const struct expr_node *found = over_samples(expr->left);
    if (!found)
        found = over_samples(expr->right);
    if (found)
        snprintf(text, size, "%s(%s.%s)", expr_functions[found->function].name, found->group, found->name);
    return found;
}

static bool reads_other(const struct expr_node *node)
{
    return node && (node->kind == OTHER || reads_other(node->left) || reads_other(node->right));
}

bool expr_reads_other(const struct expr *expr)
{
    return reads_other(expr->left) || reads_other(expr->right);
}

/* With which power of the time does a value grow, in which its counters count? */
static int power_of_time(const struct expr_node *node)
{
    if (!node || node->kind == NUMBER)
        return 0;
    if (node->kind == STATISTIC && expr_functions[node->function].own)
        return 0;
    if (node->kind == STATISTIC && node->flow)
        return expr_flow_value_counts(node->name);
    if (node->kind == STATISTIC)
        return node->function == DELTA || node->function == TOTAL ||
               ((node->function == FIRST || node->function == LAST) && !is_gauge(node->name));
    int left = power_of_time(node->left), right = power_of_time(node->right);
    return node->kind == MULTIPLY ? left + right : node->kind == DIVIDE ? left - right : left ? left : right;
}

bool expr_grows_with_time(const struct expr *expr)
{
    return power_of_time(expr->left) != 0;
}

static int refuse_unknown(const struct expr_node *node, const char *what, const char *word, const char *near,
                          struct error *e)
{
    return error_set(e, "column %d: there is no %s \"%.80s\"%s%s%s", node->column, what, word,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* Is a glob one of a NIC of a role, or of a flow of a NIC, as far as is known without a lab? */
static bool is_below(const char *glob, const char *name)
{
    const char *dot = strrchr(glob, '.');
    char *above = dot && dot[1] ? xstrndup(glob, (size_t)(dot - glob)) : NULL;
    bool below = above && glob_matches(above, name);
    free(above);
    return below;
}

static int validate_role(const struct expr_node *node, const struct scenario *scenario, struct error *e)
{
    char *const *roles = scenario->roles.items;
    for (size_t i = 0; i < scenario->roles.count; i++)
        if (name_matches(node->group, roles[i]) || (!scenario->bound && is_below(node->group, roles[i])))
            return 0;
    const char **words = xcalloc(scenario->roles.count + 1, sizeof *words);
    memcpy(words, roles, scenario->roles.count * sizeof *words);
    refuse_unknown(node, "role", node->group, nearest_word(node->group, words), e);
    free(words);
    return -1;
}

/* Flows of a traffic pattern are NAME/0, NAME/1, ...: their number is known only later. */
static bool matches_traffic(const char *glob, const char *name)
{
    char first[160];
    snprintf(first, sizeof first, "%.150s/0", name);
    return glob_matches(glob, first) || name_matches(glob, name) ||
           (strncmp(glob, name, strlen(name)) == 0 && glob[strlen(name)] == '/');
}

static int validate_flow(const struct expr_node *node, const struct scenario *scenario, struct error *e)
{
    const struct scenario_flow *flows = scenario->flows.items;
    const struct scenario_traffic *traffic = scenario->traffic.items;
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (name_matches(node->flow, flows[i].name) ||
            (!scenario->bound && is_below(node->flow, flows[i].name)))
            return 0;
    for (size_t i = 0; i < scenario->traffic.count; i++)
        if (matches_traffic(node->flow, traffic[i].name) ||
            (!scenario->bound && is_below(node->flow, traffic[i].name)))
            return 0;
    const char **words = xcalloc(scenario->flows.count + 1, sizeof *words);
    for (size_t i = 0; i < scenario->flows.count; i++)
        words[i] = flows[i].name;
    refuse_unknown(node, "flow", node->flow, nearest_word(node->flow, words), e);
    free(words);
    return -1;
}

static int unknown_flow_value(const struct expr_node *node, struct error *e)
{
    const char *words[64] = {0}, *word;
    enum dimension d;
    for (size_t i = 0; i + 1 < sizeof words / sizeof *words && (word = expr_flow_value(i, &d)); i++)
        words[i] = word;
    return refuse_unknown(node, "flow value", node->name, nearest_word(node->name, words), e);
}

/* A statistic must fit what it is of. */
static int validate_function(const struct expr_node *node, int of, const char *what, struct error *e)
{
    char expected[160];
    if (expr_functions[node->function].of & of)
        return 0;
    expr_functions_of(of, expected, sizeof expected);
    return error_set(e, "column %d: %.120s is %s: expected %s, not %s", node->column, node->name, what,
                     expected, expr_functions[node->function].name);
}

static int validate_flow_value(const struct expr_node *node, enum dimension *dimension, struct error *e)
{
    if (!expr_flow_dimension(node->name, dimension))
        return unknown_flow_value(node, e);
    *dimension = expr_function_dimension(node->function, *dimension);
    return validate_function(node, OF_FLOW, "a value of flows", e);
}

/* The pattern meets one of the names, which end with NULL. Frees the list. */
static int validate_pattern(const struct expr_node *node, const char *what, const char **names,
                            struct error *e)
{
    bool found = false;
    for (size_t i = 0; names[i]; i++)
        found = found || glob_matches(node->flow, names[i]);
    if (!found)
        refuse_unknown(node, what, node->flow, nearest_word(node->flow, names), e);
    free(names);
    return found ? 0 : -1;
}

static int validate_collective(const struct expr_node *node, const struct scenario *scenario, struct error *e)
{
    const struct scenario_collective *items = scenario->collectives.items;
    const char **names = xcalloc(scenario->collectives.count + 1, sizeof *names);
    for (size_t i = 0; i < scenario->collectives.count; i++)
        names[i] = items[i].name;
    return validate_pattern(node, "collective", names, e);
}

static int validate_job(const struct expr_node *node, const struct scenario *scenario, struct error *e)
{
    const struct scenario_job *items = scenario->jobs.items;
    const char **names = xcalloc(scenario->jobs.count + 1, sizeof *names);
    for (size_t i = 0; i < scenario->jobs.count; i++)
        names[i] = items[i].name;
    return validate_pattern(node, "job", names, e);
}

static int validate_listed_value(const struct expr_node *node, enum dimension *dimension, struct error *e)
{
    const char *words[32] = {0}, *known, *unit, *meaning;
    bool found = false;
    double scale;
    for (size_t i = 0;
         i + 1 < sizeof words / sizeof *words && (known = expr_listed_value(node, i, &unit, &meaning)); i++) {
        words[i] = known;
        if (strcmp(known, node->name) != 0)
            continue;
        *dimension = expr_unit_dimension(unit, &scale);
        found = true;
    }
    if (!found)
        return refuse_unknown(node, expr_is_of_jobs(node) ? "value of jobs" : "value of collectives",
                              node->name, nearest_word(node->name, words), e);
    *dimension = expr_function_dimension(node->function, *dimension);
    return validate_function(node, OF_FLOW,
                             expr_is_of_jobs(node) ? "a value of jobs" : "a value of collectives", e);
}

/* The counters that a glob may match: false if there are none. If all have one dimension, the glob has it;
 * else that is known only where the columns of the lab are. Families of unlisted names are ignored, as they
 * overlap with almost any glob. */
static bool glob_dimension(const char *glob, enum dimension *dimension)
{
    size_t count;
    const struct counter *rows = counters_all(&count);
    bool any = false;
    *dimension = DIMENSION_PLAIN;
    for (size_t i = 0; i < count; i++) {
        double scale;
        if (rows[i].origin == COUNTER_FROM_DRIVER || rows[i].pattern[0] == '*' ||
            !counters_pattern_overlaps(rows[i].pattern, glob))
            continue;
        enum dimension d = expr_unit_dimension(rows[i].unit, &scale);
        *dimension = !any || d == *dimension ? d : DIMENSION_ANY;
        any = true;
    }
    return any;
}

static int counter_dimension(const struct expr_node *node, enum dimension *dimension, struct error *e)
{
    char near[128];
    double scale;
    const struct counter *row = counters_known(node->name, near, sizeof near);
    bool glob = strpbrk(node->name, "*?["), gauge = row && row->kind == COUNTER_GAUGE;
    if (glob ? !glob_dimension(node->name, dimension) : !row)
        return refuse_unknown(node, "counter", node->name, !glob && *near ? near : NULL, e);
    if (glob)
        return validate_function(node, OF_COUNTER | OF_GAUGE, "of counters and gauges", e);
    *dimension = expr_unit_dimension(row->unit, &scale);
    return validate_function(node, gauge ? OF_GAUGE : OF_COUNTER,
                             gauge ? "a gauge"
                             : row->origin == COUNTER_FROM_DRIVER
                                 ? "not a listed gauge, and taken for a counter of a driver"
                                 : "a counter",
                             e);
}

/* A counter of a driver may have a dot, but not one behind what looks like a NIC of the role. */
static int refuse_near_nic(const struct expr_node *node, const struct scenario *scenario, struct error *e)
{
    char *const *roles = scenario->roles.items;
    const char *dot = strchr(node->name, '.'), *nic;
    char *part = dot ? xstrndup(node->name, (size_t)(dot - node->name)) : NULL;
    const char **words = part ? xcalloc(scenario->roles.count + 1, sizeof *words) : NULL;
    size_t count = 0;
    for (size_t i = 0; part && i < scenario->roles.count; i++)
        if (!glob_matches(node->group, roles[i]) && name_matches(node->group, roles[i]) &&
            (nic = strrchr(roles[i], '.')))
            words[count++] = nic + 1;
    const char *near = count ? nearest_word(part, words) : NULL;
    if (near)
        error_set(e, "column %d: role %.60s has no NIC \"%.60s\"; did you mean \"%.60s.%s\"?", node->column,
                  node->group, part, node->group, near);
    free(part);
    free(words);
    return near ? -1 : 0;
}

static int validate_counter(const struct expr_node *node, const struct scenario *scenario,
                            enum dimension *dimension, struct error *e)
{
    double scale = 1;
    if (refuse_near_nic(node, scenario, e) != 0 || counter_dimension(node, dimension, e) != 0)
        return -1;
    if (node->function == RATE)
        *dimension = expr_rate_dimension(*dimension, &scale);
    *dimension = expr_function_dimension(node->function, *dimension);
    return 0;
}

static int dimension_of(const struct expr_node *node, const struct scenario *scenario,
                        enum dimension *dimension, struct error *e)
{
    enum dimension left = DIMENSION_PLAIN, right = DIMENSION_PLAIN;
    if (node->kind == NUMBER) {
        *dimension = node->dimension;
        return 0;
    }
    if (node->kind == STATISTIC && expr_is_of_collectives(node))
        return validate_collective(node, scenario, e) != 0 ? -1 : validate_listed_value(node, dimension, e);
    if (node->kind == STATISTIC && expr_is_of_jobs(node))
        return validate_job(node, scenario, e) != 0 ? -1 : validate_listed_value(node, dimension, e);
    if (node->kind == STATISTIC && node->flow)
        return validate_flow(node, scenario, e) != 0 ? -1 : validate_flow_value(node, dimension, e);
    if (node->kind == STATISTIC)
        return validate_role(node, scenario, e) != 0 ? -1 : validate_counter(node, scenario, dimension, e);
    if (dimension_of(node->left, scenario, &left, e) != 0 ||
        (node->right && dimension_of(node->right, scenario, &right, e) != 0))
        return -1;
    if (node->kind == MULTIPLY || node->kind == DIVIDE) {
        double by;
        if (expr_product(node->kind == DIVIDE, left, right, dimension, &by))
            return 0;
        return error_set(e, "column %d: %s %s %s has no unit that could be compared", node->column,
                         expr_dimension_words(left), node->kind == DIVIDE ? "divided by" : "times",
                         expr_dimension_words(right));
    }
    if (node->right && !expr_go_together(left, right))
        return error_set(e, "column %d: %s and %s cannot be added", node->column, expr_dimension_words(left),
                         expr_dimension_words(right));
    *dimension = node->right ? expr_sum_dimension(left, right) : left;
    return 0;
}

static int check_share(const struct expr *expr, const struct scenario *scenario, struct error *e)
{
    double limit;
    const struct expr_node *of = expr_limited(expr, &limit);
    if (!of || limit <= 1 || !expr_is_share(of, scenario))
        return 0;
    return error_set(
        e,
        "column %d: the rate of %s is a share of the time, from 0 to 1, and is compared with %g: "
        "write %g%% for that many per cent",
        expr->column, of->name, limit, limit);
}

/* What to write depends on the side that is a number. */
static int refuse_comparison(const struct expr *expr, enum dimension left, enum dimension right,
                             struct error *e)
{
    bool number = expr->right->kind == NUMBER || expr->left->kind == NUMBER;
    enum dimension of_number = expr->right->kind == NUMBER ? right : left,
                   wanted = expr->right->kind == NUMBER ? left : right;
    const char *how =
        !number ? "compare what has the same unit"
        : wanted == DIMENSION_COUNT && of_number == DIMENSION_PER_SECOND
            ? "compare a rate, such as rate(a.rx_prio0_pause), or write the number without a unit"
        : expr_is_plain(wanted)    ? "write the number without a unit"
        : expr_is_plain(of_number) ? "write the unit, such as 10ms, 64KiB or 25Gb/s"
                                   : "write the unit of the other side";
    return error_set(e, "column %d: %s is compared with %s: %s", expr->column, expr_dimension_words(left),
                     expr_dimension_words(right), how);
}

int expr_validate(const struct expr *expr, const struct scenario *scenario, struct error *e)
{
    enum dimension left = DIMENSION_PLAIN, right = DIMENSION_PLAIN;
    if (dimension_of(expr->left, scenario, &left, e) != 0)
        return -1;
    if (!expr->right)
        return 0;
    if (dimension_of(expr->right, scenario, &right, e) != 0)
        return -1;
    if (!expr_go_together(left, right))
        return refuse_comparison(expr, left, right, e);
    return check_share(expr, scenario, e);
}

/* The statistic of a value that is not multiplied or divided; NULL: it is. */
static const struct expr_node *unscaled(const struct expr_node *node)
{
    const struct expr_node *left, *right;
    if (node->kind == STATISTIC)
        return expr_functions[node->function].own ? NULL : node;
    if (node->kind == NUMBER || node->kind == MULTIPLY || node->kind == DIVIDE)
        return NULL;
    left = unscaled(node->left);
    right = node->right ? unscaled(node->right) : left;
    return left && right ? left : NULL;
}

/* The unit in which a result has a plain number: "MiB/s"; "" without one. */
static const char *unit_of_plain(const struct expr_node *statistic)
{
    const char *known, *unit, *meaning;
    enum dimension d;
    for (size_t i = 0; (known = expr_listed_value(statistic, i, &unit, &meaning)); i++)
        if (strcmp(known, statistic->name) == 0)
            return unit;
    for (size_t i = 0; statistic->flow && (known = expr_flow_value(i, &d)); i++)
        if (strcmp(known, statistic->name) == 0)
            return expr_flow_value_unit(i);
    return "";
}

/* Only plain numbers have units that the scenario names: words, or what they were divided by. */
int expr_check_unit(const struct expr *value, const struct scenario *scenario, const char *unit,
                    struct error *e)
{
    enum dimension d = DIMENSION_PLAIN, named = DIMENSION_PLAIN;
    if (dimension_of(value->left, scenario, &d, e) != 0)
        return -1;
    d = expr_is_plain(d) ? DIMENSION_PLAIN : d;
    const struct expr_node *plain = d == DIMENSION_PLAIN ? unscaled(value->left) : NULL;
    const char *own = plain ? unit_of_plain(plain) : expr_dimension_unit(d);
    bool known = expr_unit_known(unit, &named), free_choice = d == DIMENSION_PLAIN && !plain;
    if (strcmp(unit, own) == 0 || free_choice ||
        (!known && (d == DIMENSION_PLAIN || d == DIMENSION_PER_SECOND)))
        return 0;
    if (known && named == d)
        return error_set(e, "\"%.40s\", but the value is %s%s: divide it by 1%.40s", unit,
                         *own ? "in " : "a plain number", own, unit);
    return error_set(e, "\"%.40s\", but the value is %s%s: write %s%s%s", unit,
                     *own ? "in " : "a plain number", own, *own ? "\"" : "no unit", own, *own ? "\"" : "");
}

/* ---- counters: is their group sampled? */

/* The groups of the counters that a glob may match, one bit each. Families of names match almost any glob, so
 * they count only if nothing else matches. */
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
    {"completion_", FLOW | PATTERN | PART, true, "flows with an end"},
    {"slowdown_", PATTERN, true, "traffic patterns whose flows end"},
};
#define FAMILIES (sizeof families / sizeof *families)

/* What the names that a glob matches are, which of them end, and how many there are. */
struct senders {
    int all, ending;
    size_t flows, parts, patterns;
    size_t whole; /* patterns of which no single flow matches */
};

static void names_note(struct senders *found, enum sender sender, bool ends)
{
    found->all |= sender;
    found->ending |= ends ? sender : 0;
}

static void find_traffic(const char *glob, const struct scenario_traffic *traffic, struct senders *found)
{
    int64_t count = scenario_traffic_flows(traffic);
    bool ends = scenario_traffic_ends(traffic), own = name_matches(glob, traffic->name);
    size_t parts = 0;
    char name[160];
    if (own)
        names_note(found, PATTERN, ends);
    found->patterns += own;
    if (count < 0 || count > SCENARIO_PATTERN_FLOWS)
        count = count < 0 ? SCENARIO_PATTERN_FLOWS : 0;
    for (int64_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%.120s/%" PRId64, traffic->name, i);
        parts += glob_matches(glob, name);
    }
    if (parts)
        names_note(found, PART, ends);
    found->parts += parts;
    found->whole += own && !parts;
}

/* How many values a statistic has: a pattern's own counts where it has no single flows, or they lack the
 * value. */
static size_t count_values_of(const struct senders *found, int have)
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
        if (name_matches(node->flow, flows[i].name)) {
            names_note(&found, FLOW, flows[i].size_bytes != FIELD_UNSET);
            found.flows++;
        }
    for (size_t i = 0; i < scenario->traffic.count; i++)
        find_traffic(node->flow, &traffic[i], &found);
    if (!found.all && !scenario->bound && strchr(node->flow, '.'))
        return 0; /* of a NIC that no lab has named */
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
            return error_set(e, "column %d: flows.%.60s has no %s, which is a value of %s%s", node->column,
                             node->flow, node->name, families[i].whose,
                             families[i].at_end && (found.all & have) ? ": give it a \"size\"" : "");
    }
    if (expr_functions[node->function].two && count_values_of(&found, have) < 2)
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
        checks = checks || (glob_matches(node->flow, items[i].name) && items[i].validate == 1);
    if (checks || strcmp(node->name, "wrong") != 0)
        return 0;
    return error_set(e, "column %d: collectives.%.60s has no wrong elements, because validate is false",
                     node->column, node->flow);
}

/* ---- the tree */

static int decide_node(const struct expr_node *node, const struct scenario *scenario, size_t *statistics,
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
        if (expr_is_of_jobs(node))
            return 0;
        return node->flow ? decide_flow(node, scenario, e) : decide_counter(node, scenario, e);
    }
    return decide_node(node->left, scenario, statistics, e) != 0 ||
                   decide_node(node->right, scenario, statistics, e) != 0
               ? -1
               : 0;
}

int expr_decidable(const struct expr *expr, const struct scenario *scenario, struct error *e)
{
    size_t statistics = 0;
    if (decide_node(expr->left, scenario, &statistics, e) != 0 ||
        decide_node(expr->right, scenario, &statistics, e) != 0)
        return -1;
    if (!statistics)
        return error_set(
            e,
            "it reads no counter and no value of a flow, collective or job, so it says nothing about a run");
    return 0;
}
