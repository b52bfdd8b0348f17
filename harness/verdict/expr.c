#include "harness/verdict/expr.h"
#include "harness/verdict/counters.h"
#include "lib/document/nearest.h"
#include "lib/text.h"
#include "lib/units.h"
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_LIMIT 64

/* What a number measures. Numbers are kept in the unit named beside. */
enum dimension { PLAIN, TIME_NS, BYTES, RATE_BPS, PER_SECOND, ANY };
static const char *const dimension_units[] = {"", "ns", "bytes", "b/s", "/s", ""};
static const char *const dimension_words[] = {"a plain number", "a time",          "a size",
                                              "a rate",         "events a second", "zero"};

enum node_kind { NUMBER, STATISTIC, ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE };
enum function { DELTA, RATE, FIRST, LAST, MIN, MAX, MEAN, SUM, COUNT_OF, TOTAL };
static const char *const function_names[] = {"delta", "rate", "first", "last",  "min", "max",
                                             "mean",  "sum",  "count", "total", NULL};
enum comparison { LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, NOT_EQUAL };
static const struct sign {
    const char *text;
    enum comparison comparison;
} signs[] = {{"<=", LESS_EQUAL}, {">=", GREATER_EQUAL}, {"==", EQUAL},
             {"!=", NOT_EQUAL},  {"<", LESS},           {">", GREATER}};

struct node {
    enum node_kind kind;
    int column;
    double number;
    enum dimension dimension; /* of a NUMBER */
    enum function function;
    char *group; /* of a STATISTIC: a glob over roles, or "flows" */
    char *flow;  /* a glob over flows, or NULL */
    char *name;  /* counter or value */
    struct node *left, *right;
};

struct expr {
    struct node *left, *right; /* right only in a check */
    const struct sign *sign;
    int column; /* of the comparison */
};

/* ---- what flows have */

static const struct {
    const char *name;
    enum dimension dimension;
} flow_values[] = {
    {"goodput_bps", RATE_BPS},
    {"goodput_MiBps", PLAIN},
    {"messages_per_s", PER_SECOND},
    {"bytes", BYTES},
    {"messages", PLAIN},
    {"errors", PLAIN},
    {"latency_min_ns", TIME_NS},
    {"latency_mean_ns", TIME_NS},
    {"latency_p50_ns", TIME_NS},
    {"latency_p90_ns", TIME_NS},
    {"latency_p99_ns", TIME_NS},
    {"latency_p99_9_ns", TIME_NS},
    {"latency_p99_99_ns", TIME_NS},
    {"latency_max_ns", TIME_NS},
    {"retransmitted_packets", PLAIN},
    {"completion_mean_ns", TIME_NS},
    {"completion_p50_ns", TIME_NS},
    {"completion_p99_ns", TIME_NS},
    {"completion_max_ns", TIME_NS},
    {"slowdown_mean", PLAIN},
    {"slowdown_p50", PLAIN},
    {"slowdown_p99", PLAIN},
    {"slowdown_max", PLAIN},
};
#define FLOW_VALUES (sizeof flow_values / sizeof *flow_values)

static int flow_value(const char *name)
{
    for (size_t i = 0; i < FLOW_VALUES; i++)
        if (strcmp(flow_values[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* A counter's unit as a dimension; *scale brings it to the dimension's unit. */
static enum dimension dimension_of_unit(const char *unit, double *scale)
{
    static const struct {
        const char *unit;
        enum dimension dimension;
        double scale;
    } known[] = {{"ns", TIME_NS, 1},        {"us", TIME_NS, 1e3},   {"ms", TIME_NS, 1e6},
                 {"seconds", TIME_NS, 1e9}, {"bytes", BYTES, 1},    {"bytes/s", RATE_BPS, 8},
                 {"b/s", RATE_BPS, 1},      {"Mb/s", RATE_BPS, 1e6}};
    *scale = 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].unit, unit) == 0) {
            *scale = known[i].scale;
            return known[i].dimension;
        }
    return PLAIN;
}

/* A value a second: bytes become bits, time becomes a share. */
static enum dimension dimension_of_rate(enum dimension d, double *scale)
{
    if (d == TIME_NS) {
        *scale *= 1e-9;
        return PLAIN;
    }
    if (d == BYTES) {
        *scale *= 8;
        return RATE_BPS;
    }
    return PER_SECOND;
}

/* ---- parsing */

struct parser {
    const char *text, *at;
    int depth;
    struct error *e;
};

static int column(const struct parser *p)
{
    return (int)(p->at - p->text) + 1;
}

static void skip_space(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static struct node *fail(struct parser *p, const char *expected)
{
    if (*p->at)
        error_set(p->e, "\"%.200s\", column %d: expected %s, found \"%.20s\"", p->text, column(p), expected,
                  p->at);
    else
        error_set(p->e, "\"%.200s\", column %d: expected %s, but it ends here", p->text, column(p), expected);
    return NULL;
}

static void free_node(struct node *node)
{
    if (!node)
        return;
    free_node(node->left);
    free_node(node->right);
    free(node->group);
    free(node->flow);
    free(node->name);
    free(node);
}

static struct node *new_node(struct parser *p, enum node_kind kind, struct node *left, struct node *right)
{
    struct node *node = calloc(1, sizeof *node);
    if (!node) {
        error_set(p->e, "out of memory");
        free_node(left);
        free_node(right);
        return NULL;
    }
    *node = (struct node){.kind = kind, .column = column(p), .left = left, .right = right};
    return node;
}

static struct node *parse_sum(struct parser *p);

/* "10", "2.5", "10ms", "40Gb/s", "5%": the unit follows without a space. */
static struct node *parse_number(struct parser *p)
{
    static const struct {
        enum unit unit;
        enum dimension dimension;
    } kinds[] = {{UNIT_TIME_NS, TIME_NS},
                 {UNIT_BYTES, BYTES},
                 {UNIT_RATE_BPS, RATE_BPS},
                 {UNIT_PER_SECOND, PER_SECOND}};
    char word[64], *end;
    size_t digits = strspn(p->at, "0123456789."), letters = 0;
    if (digits && strchr("eE", p->at[digits]) && p->at[digits] &&
        (isdigit((unsigned char)p->at[digits + 1]) ||
         (strchr("+-", p->at[digits + 1]) && isdigit((unsigned char)p->at[digits + 2]))))
        digits += 2 + strspn(p->at + digits + 2, "0123456789");
    while (isalpha((unsigned char)p->at[digits + letters]) || p->at[digits + letters] == '%' ||
           (p->at[digits + letters] == '/' && p->at[digits + letters + 1] == 's' &&
            !isalnum((unsigned char)p->at[digits + letters + 2])))
        letters++;
    if (digits + letters >= sizeof word)
        return fail(p, "a number of sensible length");
    memcpy(word, p->at, digits + letters);
    word[digits + letters] = '\0';
    double number = strtod(word, &end);
    if ((size_t)(end - word) != digits || !isfinite(number))
        return fail(p, "a number");
    struct node *node = new_node(p, NUMBER, NULL, NULL);
    if (!node)
        return NULL;
    node->number = number;
    node->dimension = number == 0 && !letters ? ANY : PLAIN;
    if (letters == 1 && *end == '%') {
        node->number /= 100;
    } else if (letters) {
        int64_t value = 0;
        size_t k = 0;
        while (k < sizeof kinds / sizeof *kinds && units_parse(kinds[k].unit, word, &value, NULL) != 0)
            k++;
        if (k == sizeof kinds / sizeof *kinds) {
            free_node(node);
            p->at += digits;
            return fail(p, "a unit such as ms, KiB, Gb/s, /s or %");
        }
        node->number = (double)value;
        node->dimension = kinds[k].dimension;
    }
    p->at += digits + letters;
    return node;
}

static char *copy(const char *from, size_t length)
{
    return strndup(from, length);
}

/* ROLE.COUNTER or flows.FLOW.VALUE, up to the closing bracket. */
static int parse_selector(struct parser *p, struct node *node)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-*?[]/:";
    skip_space(p);
    size_t first = strspn(p->at, allowed);
    if (!first)
        return fail(p, "a role (or * or flows)"), -1;
    node->column = column(p);
    node->group = copy(p->at, first);
    p->at += first;
    if (*p->at != '.')
        return fail(p, "a dot and the name of a counter"), -1;
    p->at++;
    size_t second = strspn(p->at, allowed);
    if (!second)
        return fail(p, "a name"), -1;
    if (node->group && strcmp(node->group, "flows") == 0) {
        node->flow = copy(p->at, second);
        p->at += second;
        if (*p->at != '.')
            return fail(p, "a dot and a flow's value, such as goodput_bps"), -1;
        p->at++;
        second = strspn(p->at, allowed);
        if (!second)
            return fail(p, "a flow's value, such as goodput_bps"), -1;
    }
    node->name = copy(p->at, second);
    p->at += second;
    skip_space(p);
    if (*p->at != ')')
        return fail(p, "\")\""), -1;
    p->at++;
    return node->name && node->group ? 0 : error_set(p->e, "out of memory");
}

static struct node *parse_statistic(struct parser *p)
{
    size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    int function = 0;
    while (function_names[function] && (strlen(function_names[function]) != length ||
                                        strncmp(function_names[function], p->at, length) != 0))
        function++;
    if (!function_names[function]) {
        char word[32], expected[160];
        snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), p->at);
        const char *near = nearest_word(word, function_names);
        snprintf(expected, sizeof expected,
                 "%s%s%sdelta, total, rate, first, last, min, max, mean, sum or count", near ? "\"" : "",
                 near ? near : "", near ? "\", or one of " : "");
        return fail(p, expected);
    }
    struct node *node = new_node(p, STATISTIC, NULL, NULL);
    if (!node)
        return NULL;
    node->function = (enum function)function;
    p->at += length;
    skip_space(p);
    if (*p->at != '(') {
        free_node(node);
        return fail(p, "\"(\"");
    }
    p->at++;
    if (parse_selector(p, node) != 0) {
        free_node(node);
        return NULL;
    }
    return node;
}

static struct node *parse_factor(struct parser *p)
{
    struct node *node;
    skip_space(p);
    if (++p->depth > DEPTH_LIMIT) {
        error_set(p->e, "\"%.200s\", column %d: nested more than %d deep", p->text, column(p), DEPTH_LIMIT);
        return NULL;
    }
    if (isdigit((unsigned char)*p->at)) {
        node = parse_number(p);
    } else if (*p->at == '-') {
        p->at++;
        node = parse_factor(p);
        node = node ? new_node(p, NEGATE, node, NULL) : NULL;
    } else if (*p->at == '(') {
        p->at++;
        node = parse_sum(p);
        skip_space(p);
        if (node && *p->at != ')') {
            free_node(node);
            return fail(p, "\")\"");
        }
        p->at += node ? 1 : 0;
    } else if (isalpha((unsigned char)*p->at)) {
        node = parse_statistic(p);
    } else {
        node = fail(p, "a number, a statistic such as delta(b.tx_prio0_pause), or \"(\"");
    }
    p->depth--;
    return node;
}

/* A chain of operators of one rank, to the left. */
static struct node *parse_chain(struct parser *p, const char *operators, const enum node_kind kinds[2],
                                struct node *(*operand)(struct parser *))
{
    struct node *left = operand(p);
    for (int links = 0; left; links++) {
        skip_space(p);
        const char *found = *p->at ? strchr(operators, *p->at) : NULL;
        if (!found)
            return left;
        if (links > DEPTH_LIMIT) {
            free_node(left);
            return fail(p, "a shorter expression");
        }
        p->at++;
        struct node *right = operand(p);
        if (!right) {
            free_node(left);
            return NULL;
        }
        left = new_node(p, kinds[found - operators], left, right);
    }
    return NULL;
}

static struct node *parse_product(struct parser *p)
{
    return parse_chain(p, "*/", (const enum node_kind[]){MULTIPLY, DIVIDE}, parse_factor);
}

static struct node *parse_sum(struct parser *p)
{
    return parse_chain(p, "+-", (const enum node_kind[]){ADD, SUBTRACT}, parse_product);
}

static int parse_check(struct parser *p, struct expr *expr)
{
    size_t i = 0;
    expr->column = column(p);
    while (i < sizeof signs / sizeof *signs && strncmp(signs[i].text, p->at, strlen(signs[i].text)) != 0)
        i++;
    if (i == sizeof signs / sizeof *signs)
        return fail(p, "a comparison (< <= > >= == !=)"), -1;
    expr->sign = &signs[i];
    p->at += strlen(expr->sign->text);
    expr->right = parse_sum(p);
    return expr->right ? 0 : -1;
}

struct expr *expr_compile(const char *text, bool check, struct error *e)
{
    struct parser p = {text, text, 0, e};
    struct expr *expr = calloc(1, sizeof *expr);
    if (!expr) {
        error_set(e, "out of memory");
        return NULL;
    }
    expr->left = parse_sum(&p);
    skip_space(&p);
    if (!expr->left || (check && parse_check(&p, expr) != 0))
        goto failed;
    skip_space(&p);
    if (*p.at) {
        fail(&p, check ? "the end" : "the end of the value");
        goto failed;
    }
    return expr;
failed:
    expr_free(expr);
    return NULL;
}

void expr_free(struct expr *expr)
{
    if (!expr)
        return;
    free_node(expr->left);
    free_node(expr->right);
    free(expr);
}

static void each_counter(const struct node *node, void (*each)(void *, const char *, const char *),
                         void *context)
{
    if (!node)
        return;
    if (node->kind == STATISTIC && !node->flow)
        each(context, node->group, node->name);
    each_counter(node->left, each, context);
    each_counter(node->right, each, context);
}

void expr_each_counter(const struct expr *expr,
                       void (*each)(void *context, const char *role, const char *counter), void *context)
{
    each_counter(expr->left, each, context);
    each_counter(expr->right, each, context);
}

/* ---- validation */

static int unknown(const struct node *node, const char *what, const char *word, const char *near,
                   struct error *e)
{
    return error_set(e, "column %d: there is no %s \"%.80s\"%s%s%s", node->column, what, word,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int validate_role(const struct node *node, const struct scenario *scenario, struct error *e)
{
    char *const *roles = scenario->roles.items;
    for (size_t i = 0; i < scenario->roles.count; i++)
        if (fnmatch(node->group, roles[i], 0) == 0)
            return 0;
    const char **words = calloc(scenario->roles.count + 1, sizeof *words);
    if (!words)
        return error_set(e, "out of memory");
    memcpy(words, roles, scenario->roles.count * sizeof *words);
    unknown(node, "role", node->group, nearest_word(node->group, words), e);
    free(words);
    return -1;
}

/* Flows of a traffic pattern are NAME/0, NAME/1, ...: their number is known only later. */
static bool matches_traffic(const char *glob, const char *name)
{
    char first[160];
    snprintf(first, sizeof first, "%.150s/0", name);
    return fnmatch(glob, first, 0) == 0 || fnmatch(glob, name, 0) == 0 ||
           (strncmp(glob, name, strlen(name)) == 0 && glob[strlen(name)] == '/');
}

static int validate_flow(const struct node *node, const struct scenario *scenario, struct error *e)
{
    const struct scenario_flow *flows = scenario->flows.items;
    const struct scenario_traffic *traffic = scenario->traffic.items;
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (fnmatch(node->flow, flows[i].name, 0) == 0)
            return 0;
    for (size_t i = 0; i < scenario->traffic.count; i++)
        if (matches_traffic(node->flow, traffic[i].name))
            return 0;
    const char **words = calloc(scenario->flows.count + 1, sizeof *words);
    if (!words)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < scenario->flows.count; i++)
        words[i] = flows[i].name;
    unknown(node, "flow", node->flow, nearest_word(node->flow, words), e);
    free(words);
    return -1;
}

static int validate_flow_value(const struct node *node, enum dimension *dimension, struct error *e)
{
    const char *words[FLOW_VALUES + 1] = {0};
    int i = flow_value(node->name);
    if (i < 0) {
        for (size_t k = 0; k < FLOW_VALUES; k++)
            words[k] = flow_values[k].name;
        return unknown(node, "flow value", node->name, nearest_word(node->name, words), e);
    }
    if (node->function != SUM && node->function != MIN && node->function != MAX && node->function != MEAN &&
        node->function != COUNT_OF)
        return error_set(e,
                         "column %d: %s does not fit a flow's value: expected sum, min, max, mean or count",
                         node->column, function_names[node->function]);
    *dimension = node->function == COUNT_OF ? PLAIN : flow_values[i].dimension;
    return 0;
}

static int validate_counter(const struct node *node, enum dimension *dimension, struct error *e)
{
    const struct counter_name *entry = counters_find(node->name);
    bool glob = strpbrk(node->name, "*?[");
    double scale;
    char near[128];
    if (glob ? !counters_match(node->name) : !entry)
        return unknown(node, "counter", node->name, counters_nearest(node->name, near, sizeof near), e);
    *dimension = entry ? dimension_of_unit(entry->unit, &scale) : PLAIN;
    if (node->function == SUM)
        return error_set(e,
                         "column %d: sum is for values of flows: expected delta or rate for a counter, min, "
                         "max, mean or last for a gauge",
                         node->column);
    if (entry && !glob && entry->gauge &&
        (node->function == DELTA || node->function == RATE || node->function == TOTAL))
        return error_set(e, "column %d: %s is a gauge: expected min, max, mean, first or last, not %s",
                         node->column, node->name, function_names[node->function]);
    if (entry && !glob && !entry->gauge &&
        (node->function == MIN || node->function == MAX || node->function == MEAN))
        return error_set(e, "column %d: %s is a counter: expected delta, rate, first or last, not %s",
                         node->column, node->name, function_names[node->function]);
    if (node->function == RATE)
        *dimension = dimension_of_rate(*dimension, &scale);
    if (node->function == COUNT_OF)
        *dimension = PLAIN;
    return 0;
}

static bool go_together(enum dimension a, enum dimension b)
{
    return a == b || a == ANY || b == ANY || (a == PER_SECOND && b == PLAIN) ||
           (a == PLAIN && b == PER_SECOND);
}

static enum dimension stronger(enum dimension a, enum dimension b)
{
    return a == ANY || (a == PLAIN && b == PER_SECOND) ? b : a;
}

/* Products: a plain number scales, equal dimensions divide away. */
static enum dimension product(enum node_kind kind, enum dimension a, enum dimension b)
{
    if (kind == DIVIDE && a == b)
        return PLAIN;
    if (b == PLAIN || b == ANY)
        return a;
    return kind == MULTIPLY && (a == PLAIN || a == ANY) ? b : PLAIN;
}

static int dimension_of(const struct node *node, const struct scenario *scenario, enum dimension *dimension,
                        struct error *e)
{
    enum dimension left = PLAIN, right = PLAIN;
    if (node->kind == NUMBER) {
        *dimension = node->dimension;
        return 0;
    }
    if (node->kind == STATISTIC && node->flow)
        return validate_flow(node, scenario, e) != 0 ? -1 : validate_flow_value(node, dimension, e);
    if (node->kind == STATISTIC)
        return validate_role(node, scenario, e) != 0 ? -1 : validate_counter(node, dimension, e);
    if (dimension_of(node->left, scenario, &left, e) != 0 ||
        (node->right && dimension_of(node->right, scenario, &right, e) != 0))
        return -1;
    if (node->kind == MULTIPLY || node->kind == DIVIDE) {
        *dimension = product(node->kind, left, right);
        return 0;
    }
    if (node->kind != NEGATE && !go_together(left, right))
        return error_set(e, "column %d: %s and %s cannot be added", node->column, dimension_words[left],
                         dimension_words[right]);
    *dimension = node->kind == NEGATE ? left : stronger(left, right);
    return 0;
}

int expr_validate(const struct expr *expr, const struct scenario *scenario, struct error *e)
{
    enum dimension left = PLAIN, right = PLAIN;
    if (dimension_of(expr->left, scenario, &left, e) != 0)
        return -1;
    if (!expr->right)
        return 0;
    if (dimension_of(expr->right, scenario, &right, e) != 0)
        return -1;
    if (!go_together(left, right))
        return error_set(e,
                         "column %d: %s is compared with %s: write the unit, such as 10ms, 64KiB or 25Gb/s",
                         expr->column, dimension_words[left], dimension_words[right]);
    return 0;
}

/* ---- evaluation */

struct evaluation {
    const json_t *result;
    struct expr_result *out;
};

/* What a statistic gathers over everything that its globs match. */
struct gathered {
    size_t count;
    double sum, min, max;
    enum dimension dimension;
};

static void gather(struct gathered *g, double value)
{
    g->min = g->count == 0 || value < g->min ? value : g->min;
    g->max = g->count == 0 || value > g->max ? value : g->max;
    g->sum += value;
    g->count++;
}

static void gather_counter(const struct node *node, const json_t *counter, struct gathered *g)
{
    static const char *const keys[] = {"delta", "rate_per_s", "first", "last", "min",
                                       "max",   "mean",       "",      "last", "total"};
    const json_t *value = json_object_get(counter, keys[node->function]);
    const char *unit = json_string_value(json_object_get(counter, "unit"));
    double scale;
    enum dimension d = dimension_of_unit(unit ? unit : "", &scale);
    if (node->function == RATE)
        d = dimension_of_rate(d, &scale);
    if (!json_is_number(value))
        return;
    g->dimension = node->function == COUNT_OF ? PLAIN : d;
    gather(g, json_number_value(value) * scale);
}

static void gather_counters(const struct node *node, const json_t *result, struct gathered *g)
{
    const char *role, *name;
    json_t *host, *counter;
    json_object_foreach(json_object_get(result, "hosts"), role, host)
    {
        if (fnmatch(node->group, role, 0) != 0)
            continue;
        json_object_foreach(json_object_get(host, "counters"), name, counter)
        {
            if (fnmatch(node->name, name, 0) == 0)
                gather_counter(node, counter, g);
        }
    }
}

/* "latency_p50_ns" lies at latency_ns.p50, "completion_max_ns" at completion_ns.max, "slowdown_p99" at
 * slowdown.p99. */
static const json_t *flow_member(const json_t *flow, const char *name)
{
    static const struct {
        const char *prefix, *object, *suffix;
    } nested[] = {{"latency_", "latency_ns", "_ns"},
                  {"completion_", "completion_ns", "_ns"},
                  {"slowdown_", "slowdown", ""}};
    for (size_t i = 0; i < 3; i++) {
        size_t skip = strlen(nested[i].prefix), tail = strlen(nested[i].suffix);
        if (strncmp(name, nested[i].prefix, skip) != 0)
            continue;
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)(strlen(name) - skip - tail), name + skip);
        return json_object_get(json_object_get(flow, nested[i].object), key);
    }
    return json_object_get(flow, name);
}

static void gather_flows(const struct node *node, const json_t *result, struct gathered *g)
{
    const char *name;
    json_t *flow;
    int known = flow_value(node->name);
    json_object_foreach(json_object_get(result, "flows"), name, flow)
    {
        const json_t *value = fnmatch(node->flow, name, 0) == 0 ? flow_member(flow, node->name) : NULL;
        if (json_is_number(value))
            gather(g, json_number_value(value));
    }
    g->dimension = known < 0 || node->function == COUNT_OF ? PLAIN : flow_values[known].dimension;
}

static double statistic(const struct node *node, struct evaluation *v, enum dimension *dimension)
{
    struct gathered g = {.dimension = PLAIN};
    if (node->flow)
        gather_flows(node, v->result, &g);
    else
        gather_counters(node, v->result, &g);
    *dimension = g.dimension;
    if (node->function == COUNT_OF)
        return (double)g.count;
    if (g.count == 0) {
        snprintf(v->out->reason, sizeof v->out->reason, "there is no %s%s%.60s.%.100s in the result",
                 node->flow ? "flows." : "", "", node->flow ? node->flow : node->group, node->name);
        return NAN;
    }
    if (node->function == MIN)
        return g.min;
    if (node->function == MAX)
        return g.max;
    return node->function == MEAN ? g.sum / (double)g.count : g.sum;
}

static double evaluate(const struct node *node, struct evaluation *v, enum dimension *dimension)
{
    enum dimension left_dimension, right_dimension = PLAIN;
    if (node->kind == NUMBER) {
        *dimension = node->dimension;
        return node->number;
    }
    if (node->kind == STATISTIC)
        return statistic(node, v, dimension);
    double left = evaluate(node->left, v, &left_dimension);
    double right = node->right ? evaluate(node->right, v, &right_dimension) : 0;
    *dimension = stronger(left_dimension, right_dimension);
    if (node->kind == MULTIPLY || node->kind == DIVIDE)
        *dimension = product(node->kind, left_dimension, right_dimension);
    switch (node->kind) {
    case ADD:
        return left + right;
    case SUBTRACT:
        return left - right;
    case MULTIPLY:
        return left * right;
    case DIVIDE:
        if (right == 0)
            snprintf(v->out->reason, sizeof v->out->reason, "column %d: division by zero", node->column);
        return right == 0 ? NAN : left / right;
    default:
        *dimension = left_dimension;
        return -left;
    }
}

static bool compare(enum comparison comparison, double left, double right)
{
    switch (comparison) {
    case LESS:
        return left < right;
    case LESS_EQUAL:
        return left <= right;
    case GREATER:
        return left > right;
    case GREATER_EQUAL:
        return left >= right;
    case EQUAL:
        return left == right;
    case NOT_EQUAL:
        return left != right;
    }
    return false;
}

enum expr_outcome expr_evaluate(const struct expr *expr, const json_t *result, struct expr_result *out)
{
    struct evaluation v = {result, out};
    enum dimension left, right = ANY;
    *out = (struct expr_result){.right = NAN, .unit = "", .sign = expr->sign ? expr->sign->text : ""};
    out->left = evaluate(expr->left, &v, &left);
    if (expr->right)
        out->right = evaluate(expr->right, &v, &right);
    enum dimension both = stronger(left, right);
    out->unit = dimension_units[both == ANY ? PLAIN : both];
    if (isnan(out->left) || (expr->right && isnan(out->right)))
        return EXPR_UNKNOWN;
    return !expr->sign || compare(expr->sign->comparison, out->left, out->right) ? EXPR_TRUE : EXPR_FALSE;
}
