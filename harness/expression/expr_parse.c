/* Expressions as text: the functions that they have, and the parser. */
#include "harness/expression/expr.h"
#include "harness/expression/expr_tree.h"
#include "lib/collective/result_collectives.h"
#include "lib/schedule/job.h"
#include "lib/document/nearest.h"
#include "lib/names/range.h"
#include "lib/roce/counters.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions */

const struct expr_function_row expr_functions[EXPR_FUNCTIONS] = {
    [DELTA] = {.name = "delta", .of = OF_COUNTER, .key = "delta", .combine = COMBINE_SUM},
    [RATE] = {.name = "rate", .of = OF_COUNTER, .key = "rate_per_s", .combine = COMBINE_SUM},
    [TOTAL] = {.name = "total", .of = OF_COUNTER, .key = "total", .combine = COMBINE_SUM},
    [FIRST] = {.name = "first", .of = OF_COUNTER | OF_GAUGE, .key = "first", .combine = COMBINE_SUM},
    [LAST] = {.name = "last", .of = OF_COUNTER | OF_GAUGE, .key = "last", .combine = COMBINE_SUM},
    [MIN] = {.name = "min", .of = OF_GAUGE | OF_FLOW, .key = "min", .combine = COMBINE_MIN},
    [MAX] = {.name = "max", .of = OF_GAUGE | OF_FLOW, .key = "max", .combine = COMBINE_MAX},
    [MEAN] = {.name = "mean", .of = OF_GAUGE | OF_FLOW, .key = "mean", .combine = COMBINE_MEAN},
    [SUM] = {.name = "sum", .of = OF_FLOW, .combine = COMBINE_SUM},
    [COUNT_OF] = {.name = "count",
                  .of = OF_COUNTER | OF_GAUGE | OF_FLOW,
                  .key = "last",
                  .combine = COMBINE_COUNT,
                  .own = DIMENSION_COUNT},
    /* (sum x)^2 / (n sum x^2): R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness and
     * Discrimination for Resource Allocation in Shared Computer Systems, DEC-TR-301, 1984. */
    [JAIN] = {.name = "jain", .of = OF_FLOW, .combine = COMBINE_JAIN, .own = DIMENSION_SHARE, .two = true},
    [STDDEV] = {.name = "stddev", .of = OF_FLOW, .combine = COMBINE_STDDEV, .two = true},
    [P50] = {.name = "p50", .of = OF_GAUGE | OF_FLOW, .key = "p50", .combine = COMBINE_QUANTILE, .q = 0.5},
    [P90] = {.name = "p90", .of = OF_GAUGE | OF_FLOW, .key = "p90", .combine = COMBINE_QUANTILE, .q = 0.9},
    [P99] = {.name = "p99", .of = OF_GAUGE | OF_FLOW, .key = "p99", .combine = COMBINE_QUANTILE, .q = 0.99},
    [P99_9] =
        {.name = "p99_9", .of = OF_GAUGE | OF_FLOW, .key = "p99_9", .combine = COMBINE_QUANTILE, .q = 0.999},
};

enum dimension expr_function_dimension(enum expr_function function, enum dimension d)
{
    return expr_functions[function].own ? expr_functions[function].own : d;
}

void expr_functions_of(int of, char *out, size_t size)
{
    size_t left = 0, used = 0;
    for (size_t i = 0; i < EXPR_FUNCTIONS; i++)
        left += (expr_functions[i].of & of) != 0;
    out[0] = '\0';
    for (size_t i = 0; i < EXPR_FUNCTIONS && used < size; i++) {
        if (!(expr_functions[i].of & of))
            continue;
        left--;
        used += (size_t)snprintf(out + used, size - used, "%s%s", expr_functions[i].name,
                                 left > 1    ? ", "
                                 : left == 1 ? " or "
                                             : "");
    }
}

/* ---- the parser */

#define DEPTH_LIMIT 64
#define OTHER_WORD  "other"

static const char *const signs[] = {"<=", ">=", "==", "!=", "<", ">"};

struct parser {
    const char *text, *at;
    int depth;
    bool in_other;
    struct error *e;
};

static int parser_column(const struct parser *p)
{
    return (int)(p->at - p->text) + 1;
}

static void parser_skip_space(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static struct expr_node *parser_fail(struct parser *p, const char *expected)
{
    if (*p->at)
        error_set(p->e, "\"%.200s\", column %d: expected %s, found \"%.20s\"", p->text, parser_column(p),
                  expected, p->at);
    else
        error_set(p->e, "\"%.200s\", column %d: expected %s, but it ends here", p->text, parser_column(p),
                  expected);
    return NULL;
}

static void free_node(struct expr_node *node)
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

static struct expr_node *new_node(struct parser *p, enum expr_node_kind kind, struct expr_node *left,
                                  struct expr_node *right)
{
    struct expr_node *node = xcalloc(1, sizeof *node);
    *node = (struct expr_node){.kind = kind, .column = parser_column(p), .left = left, .right = right};
    return node;
}

static struct expr_node *parse_sum(struct parser *p);

/* How many characters the digits of a number take: "10", "2.5", "1e-3". */
static size_t digits_at(const char *at)
{
    size_t length = strspn(at, "0123456789.");
    if (!length || (at[length] != 'e' && at[length] != 'E'))
        return length;
    size_t sign = at[length + 1] == '+' || at[length + 1] == '-';
    size_t exponent = strspn(at + length + 1 + sign, "0123456789");
    return exponent ? length + 1 + sign + exponent : length;
}

/* How many characters of a unit are at `at`: "ms", "Gb/s", "/s", "%". */
static size_t letters_at(const char *at)
{
    size_t length = 0;
    while (isalpha((unsigned char)at[length]) || at[length] == '%' ||
           (at[length] == '/' && at[length + 1] == 's' && !isalnum((unsigned char)at[length + 2])))
        length++;
    return length;
}

/* Convert a number with a unit ("10ms") to its dimension's unit. A number that is not whole there ("0.5ns")
 * is so many times one of the unit. */
static int apply_unit(struct expr_node *node, const char *word, const char *unit)
{
    char one[80];
    snprintf(one, sizeof one, "1%.60s", unit);
    static const struct {
        enum unit unit;
        enum dimension dimension;
    } kinds[] = {{UNIT_TIME_NS, DIMENSION_TIME_NS},
                 {UNIT_BYTES, DIMENSION_BYTES},
                 {UNIT_RATE_BPS, DIMENSION_RATE_BPS},
                 {UNIT_PER_SECOND, DIMENSION_PER_SECOND}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int64_t value;
        if (units_parse(kinds[k].unit, word, &value, NULL) == 0)
            node->number = (double)value;
        else if (units_parse(kinds[k].unit, one, &value, NULL) == 0)
            node->number *= (double)value;
        else
            continue;
        node->dimension = kinds[k].dimension;
        return 0;
    }
    return -1;
}

bool expr_unit_known(const char *unit, enum dimension *d)
{
    struct expr_node one = {.number = 1};
    char word[80];
    snprintf(word, sizeof word, "1%.60s", unit);
    bool known = strcmp(unit, "%") == 0 || (*unit && apply_unit(&one, word, unit) == 0);
    *d = one.dimension;
    return known;
}

/* "10", "2.5", "10ms", "40 Gb/s", "5%": one blank may stand before the unit, as in documents. */
static struct expr_node *parse_number(struct parser *p)
{
    char word[64], *end;
    size_t digits = digits_at(p->at), blank = p->at[digits] == ' ',
           letters = letters_at(p->at + digits + blank);
    blank = letters ? blank : 0;
    if (digits + letters >= sizeof word)
        return parser_fail(p, "a shorter number");
    memcpy(word, p->at, digits);
    memcpy(word + digits, p->at + digits + blank, letters);
    word[digits + letters] = '\0';
    double number = strtod(word, &end);
    if ((size_t)(end - word) != digits || !isfinite(number))
        return parser_fail(p, "a number");
    struct expr_node *node = new_node(p, NUMBER, NULL, NULL);
    node->number = number;
    node->dimension = number == 0 && !letters ? DIMENSION_ANY : DIMENSION_NUMBER;
    if (letters == 1 && *end == '%') {
        node->number /= 100;
        node->dimension = DIMENSION_SHARE;
    } else if (letters && apply_unit(node, word, end) != 0) {
        if (blank) { /* a word behind a number without a unit */
            p->at += digits;
            return node;
        }
        free_node(node);
        p->at += digits + blank;
        return parser_fail(p, "a unit such as ms, KiB, Gb/s, /s or %");
    }
    p->at += digits + blank + letters;
    return node;
}

#define COLLECTIVES "collectives"

bool expr_is_of_collectives(const struct expr_node *node)
{
    return node->group && strcmp(node->group, COLLECTIVES) == 0;
}

bool expr_is_of_jobs(const struct expr_node *node)
{
    return node->group && strcmp(node->group, "jobs") == 0;
}

const char *expr_listed_value(const struct expr_node *node, size_t i, const char **unit, const char **words)
{
    return expr_is_of_collectives(node) ? result_collective_name(i, unit, words)
           : expr_is_of_jobs(node)      ? result_job_name(i, unit, words)
                                        : NULL;
}

/* The length of the name of a flow before its value: up to the last dot, as FLOW.NIC has one itself. */
static size_t flow_at(const char *at, const char *allowed)
{
    size_t length = strspn(at, allowed), next;
    while (length && at[length] == '.' && (next = strspn(at + length + 1, allowed)) &&
           at[length + 1 + next] == '.')
        length += 1 + next;
    return length;
}

/* ROLE.COUNTER, flows.FLOW.VALUE, collectives.NAME.VALUE or jobs.NAME.VALUE, up to the closing bracket. */
static int parse_selector(struct parser *p, struct expr_node *node)
{
#define ALLOWED "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-*?[]/:"
    static const char allowed[] = ALLOWED, of_counter[] = ALLOWED "."; /* "rx_priority_3_xoff.nic" of ice */
    parser_skip_space(p);
    size_t first = strspn(p->at, allowed);
    if (!first)
        return parser_fail(p, "a role (or *, flows, collectives or jobs)"), -1;
    node->column = parser_column(p);
    node->group = xstrndup(p->at, first);
    p->at += first;
    if (*p->at != '.')
        return parser_fail(p, "a dot and the name of a counter"), -1;
    p->at++;
    bool counter = !node->group || (strcmp(node->group, "flows") != 0 && !expr_is_of_collectives(node) &&
                                    !expr_is_of_jobs(node));
    size_t second = strspn(p->at, counter ? of_counter : allowed);
    if (!counter && strcmp(node->group, "flows") == 0)
        second = flow_at(p->at, allowed);
    if (!second)
        return parser_fail(p, "a name"), -1;
    if (!counter) {
        const char *value = expr_is_of_collectives(node)
                                ? "a dot and a value of a collective, such as avg_busbw_GBps"
                            : expr_is_of_jobs(node) ? "a dot and a value of a job's ranks, such as end_ns"
                                                    : "a dot and a flow's value, such as goodput_bps";
        node->flow = xstrndup(p->at, second);
        p->at += second;
        if (*p->at != '.')
            return parser_fail(p, value), -1;
        p->at++;
        second = strspn(p->at, allowed);
        if (!second)
            return parser_fail(p, value + strlen("a dot and ")), -1;
    }
    node->name = xstrndup(p->at, second);
    p->at += second;
    parser_skip_space(p);
    if (*p->at != ')')
        return parser_fail(p, "\")\""), -1;
    p->at++;
    return 0;
}

/* other(VALUE) */
static struct expr_node *parse_other(struct parser *p)
{
    struct expr_node *node = new_node(p, OTHER, NULL, NULL);
    if (p->in_other) {
        free_node(node);
        return parser_fail(p, "a value of the other cell, without another other()");
    }
    p->at += strlen(OTHER_WORD);
    parser_skip_space(p);
    if (*p->at != '(') {
        free_node(node);
        return parser_fail(p, "\"(\"");
    }
    p->at++;
    p->in_other = true;
    node->left = parse_sum(p);
    p->in_other = false;
    parser_skip_space(p);
    if (!node->left || *p->at != ')') {
        bool whole = node->left;
        free_node(node);
        return whole ? parser_fail(p, "\")\"") : NULL;
    }
    p->at++;
    return node;
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(word, at, length) == 0;
}

/* "flows.f.goodput_bps" has no value by itself: several flows, and several samples, may be meant. */
static struct expr_node *bare_selector(struct parser *p, size_t length)
{
    bool flow = strncmp(p->at, "flows.", 6) == 0;
    error_set(p->e, "\"%.200s\", column %d: %.*s needs a function: write %s(%.*s), or another one of %s",
              p->text, parser_column(p), (int)length, p->at, flow ? "sum" : "delta", (int)length, p->at,
              flow ? "min, max and mean" : "rate, total, min, max and mean");
    return NULL;
}

static struct expr_node *unknown_function(struct parser *p, size_t length)
{
    size_t selector = strcspn(p->at, " \t<>=!()");
    if (length && memchr(p->at, '.', selector))
        return bare_selector(p, selector);
    const char *names[EXPR_FUNCTIONS + 2] = {0};
    char word[32], all[160], expected[240];
    for (size_t i = 0; i < EXPR_FUNCTIONS; i++)
        names[i] = expr_functions[i].name;
    names[EXPR_FUNCTIONS] = OTHER_WORD;
    snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), p->at);
    const char *near = nearest_word(word, names);
    expr_functions_of(OF_COUNTER | OF_GAUGE | OF_FLOW, all, sizeof all);
    snprintf(expected, sizeof expected, "%s%s%s%s", near ? "\"" : "", near ? near : "",
             near ? "\", or one of " : "", all);
    return parser_fail(p, expected);
}

static struct expr_node *parse_statistic(struct parser *p)
{
    size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    int function = 0;
    if (is_word(p->at, length, OTHER_WORD))
        return parse_other(p);
    while (function < EXPR_FUNCTIONS && !is_word(p->at, length, expr_functions[function].name))
        function++;
    if (function == EXPR_FUNCTIONS)
        return unknown_function(p, length);
    struct expr_node *node = new_node(p, STATISTIC, NULL, NULL);
    node->function = (enum expr_function)function;
    p->at += length;
    parser_skip_space(p);
    if (*p->at != '(') {
        free_node(node);
        return parser_fail(p, "\"(\"");
    }
    p->at++;
    if (parse_selector(p, node) != 0) {
        free_node(node);
        return NULL;
    }
    return node;
}

static struct expr_node *parse_factor(struct parser *p)
{
    struct expr_node *node;
    parser_skip_space(p);
    if (++p->depth > DEPTH_LIMIT) {
        error_set(p->e, "\"%.200s\", column %d: nested more than %d deep", p->text, parser_column(p),
                  DEPTH_LIMIT);
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
        parser_skip_space(p);
        if (node && *p->at != ')') {
            free_node(node);
            return parser_fail(p, "\")\"");
        }
        p->at += node ? 1 : 0;
    } else if (isalpha((unsigned char)*p->at)) {
        node = parse_statistic(p);
    } else {
        node = parser_fail(p, "a number, a statistic such as delta(b.tx_prio0_pause), or \"(\"");
    }
    p->depth--;
    return node;
}

/* A chain of operators of one precedence, left associative. */
static struct expr_node *parse_chain(struct parser *p, const char *operators,
                                     const enum expr_node_kind kinds[2],
                                     struct expr_node *(*operand)(struct parser *))
{
    struct expr_node *left = operand(p);
    for (int links = 0; left; links++) {
        parser_skip_space(p);
        const char *found = *p->at ? strchr(operators, *p->at) : NULL;
        if (!found)
            return left;
        if (links > DEPTH_LIMIT) {
            free_node(left);
            return parser_fail(p, "a shorter expression");
        }
        int column = parser_column(p);
        p->at++;
        struct expr_node *right = operand(p);
        if (!right) {
            free_node(left);
            return NULL;
        }
        left = new_node(p, kinds[found - operators], left, right);
        left->column = column;
    }
    return NULL;
}

static struct expr_node *parse_product(struct parser *p)
{
    return parse_chain(p, "*/", (const enum expr_node_kind[]){MULTIPLY, DIVIDE}, parse_factor);
}

static struct expr_node *parse_sum(struct parser *p)
{
    return parse_chain(p, "+-", (const enum expr_node_kind[]){ADD, SUBTRACT}, parse_product);
}

static int parse_check(struct parser *p, struct expr *expr)
{
    size_t i = 0;
    expr->column = parser_column(p);
    while (i < sizeof signs / sizeof *signs && strncmp(signs[i], p->at, strlen(signs[i])) != 0)
        i++;
    if (i == sizeof signs / sizeof *signs)
        return parser_fail(p, "a comparison (< <= > >= == !=)"), -1;
    expr->sign = signs[i];
    p->at += strlen(expr->sign);
    expr->right = parse_sum(p);
    return expr->right ? 0 : -1;
}

const struct expr_node *expr_limited(const struct expr *check, double *limit)
{
    bool turned = check->left->kind == NUMBER;
    const struct expr_node *of = turned ? check->right : check->left,
                           *number = turned ? check->left : check->right;
    *limit = number->number;
    return number->kind == NUMBER && of->kind == STATISTIC ? of : NULL;
}

/* Jain's index is never above 1. */
static int check_index(const struct expr *check, struct error *e)
{
    double limit;
    const struct expr_node *of = expr_limited(check, &limit);
    if (!of || of->function != JAIN || limit <= 1)
        return 0;
    return error_set(e,
                     "column %d: jain is an index from 0 to 1, and is compared with %g: write %g%% for that "
                     "many per cent",
                     check->column, limit, limit);
}

/* ---- where a role ends and its counter begins */

typedef bool is_role_fn(const void *context, const char *glob);

struct roles {
    is_role_fn *has;
    const void *context;
    bool unbound; /* no lab has named NICs: one may be in front of a counter that is known */
};

/* The place of the dot of "a.rail3.COUNTER" that ends the role: that of the longest one there is. */
static size_t role_at(const char *whole, const struct roles *roles)
{
    size_t first = strcspn(whole, "."), longest = 0;
    for (size_t dot = first; whole[dot]; dot += 1 + strcspn(whole + dot + 1, ".")) {
        char *role = xstrndup(whole, dot), near[128];
        const struct counter *counter = counters_known(whole + dot + 1, near, sizeof near);
        bool known = counter && counter->origin != COUNTER_FROM_DRIVER, glob = strpbrk(role, "*?[");
        if ((roles->has(roles->context, role) && (known || !longest || !glob)) ||
            (roles->unbound && known && longest))
            longest = dot;
        free(role);
    }
    return longest ? longest : first;
}

static void name_role(struct expr_node *node, const struct roles *roles)
{
    if (!node)
        return;
    if (node->kind == STATISTIC && !node->flow && strchr(node->name, '.')) {
        char *whole = xasprintf("%s.%s", node->group, node->name);
        size_t dot = role_at(whole, roles);
        free(node->group);
        free(node->name);
        node->group = xstrndup(whole, dot);
        node->name = xstrdup(whole + dot + 1);
        free(whole);
    }
    name_role(node->left, roles);
    name_role(node->right, roles);
}

static bool is_role_of_scenario(const void *context, const char *glob)
{
    const struct scenario *scenario = context;
    char *const *roles = scenario->roles.items;
    for (size_t i = 0; i < scenario->roles.count; i++)
        if (name_matches(glob, roles[i]))
            return true;
    return false;
}

static bool is_role_of_result(const void *context, const char *glob)
{
    const json_t *result = context;
    const char *role;
    json_t *host;
    json_object_foreach(json_object_get(result, "hosts"), role, host)
    {
        if (name_matches(glob, role))
            return true;
    }
    return false;
}

void expr_name_roles(struct expr *expr, const struct scenario *scenario)
{
    const struct roles roles = {is_role_of_scenario, scenario, !scenario->bound};
    name_role(expr->left, &roles);
    name_role(expr->right, &roles);
}

void expr_name_roles_of(struct expr *expr, const json_t *result)
{
    const struct roles roles = {is_role_of_result, result, false};
    name_role(expr->left, &roles);
    name_role(expr->right, &roles);
}

/* ---- all */

struct expr *expr_compile(const char *text, bool check, struct error *e)
{
    struct parser p = {.text = text, .at = text, .e = e};
    struct expr *expr = xcalloc(1, sizeof *expr);
    expr->left = parse_sum(&p);
    parser_skip_space(&p);
    if (!expr->left || (check && parse_check(&p, expr) != 0))
        goto failed;
    parser_skip_space(&p);
    if (*p.at) {
        parser_fail(&p, check ? "the end" : "the end of the value");
        goto failed;
    }
    if (check && check_index(expr, e) != 0)
        goto failed;
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
