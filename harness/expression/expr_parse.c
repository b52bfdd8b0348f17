/* Expressions as text. */
#include "harness/expression/expr.h"
#include "harness/expression/expr_tree.h"
#include "lib/document/nearest.h"
#include "lib/units.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_LIMIT 64
#define OTHER_WORD  "other"

static const struct expr_sign signs[] = {{"<=", LESS_EQUAL}, {">=", GREATER_EQUAL}, {"==", EQUAL},
                                         {"!=", NOT_EQUAL},  {"<", LESS},           {">", GREATER}};

struct parser {
    const char *text, *at;
    int depth;
    bool in_other;
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

static struct expr_node *fail(struct parser *p, const char *expected)
{
    if (*p->at)
        error_set(p->e, "\"%.200s\", column %d: expected %s, found \"%.20s\"", p->text, column(p), expected,
                  p->at);
    else
        error_set(p->e, "\"%.200s\", column %d: expected %s, but it ends here", p->text, column(p), expected);
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
    struct expr_node *node = calloc(1, sizeof *node);
    if (!node) {
        error_set(p->e, "out of memory");
        free_node(left);
        free_node(right);
        return NULL;
    }
    *node = (struct expr_node){.kind = kind, .column = column(p), .left = left, .right = right};
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

/* Convert a number with a unit ("10ms") to its dimension's unit. */
static int apply_unit(struct expr_node *node, const char *word)
{
    static const struct {
        enum unit unit;
        enum dimension dimension;
    } kinds[] = {{UNIT_TIME_NS, DIMENSION_TIME_NS},
                 {UNIT_BYTES, DIMENSION_BYTES},
                 {UNIT_RATE_BPS, DIMENSION_RATE_BPS},
                 {UNIT_PER_SECOND, DIMENSION_PER_SECOND}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int64_t value;
        if (units_parse(kinds[k].unit, word, &value, NULL) != 0)
            continue;
        node->number = (double)value;
        node->dimension = kinds[k].dimension;
        return 0;
    }
    return -1;
}

/* "10", "2.5", "10ms", "40Gb/s", "5%": the unit follows without a space. */
static struct expr_node *parse_number(struct parser *p)
{
    char word[64], *end;
    size_t digits = digits_at(p->at), letters = letters_at(p->at + digits);
    if (digits + letters >= sizeof word)
        return fail(p, "a shorter number");
    memcpy(word, p->at, digits + letters);
    word[digits + letters] = '\0';
    double number = strtod(word, &end);
    if ((size_t)(end - word) != digits || !isfinite(number))
        return fail(p, "a number");
    struct expr_node *node = new_node(p, NUMBER, NULL, NULL);
    if (!node)
        return NULL;
    node->number = number;
    node->dimension = number == 0 && !letters ? DIMENSION_ANY : DIMENSION_PLAIN;
    if (letters == 1 && *end == '%') {
        node->number /= 100;
    } else if (letters && apply_unit(node, word) != 0) {
        free_node(node);
        p->at += digits;
        return fail(p, "a unit such as ms, KiB, Gb/s, /s or %");
    }
    p->at += digits + letters;
    return node;
}

#define COLLECTIVES "collectives"

bool expr_is_of_collectives(const struct expr_node *node)
{
    return node->group && strcmp(node->group, COLLECTIVES) == 0;
}

/* ROLE.COUNTER, flows.FLOW.VALUE or collectives.NAME.VALUE, up to the closing bracket. */
static int parse_selector(struct parser *p, struct expr_node *node)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-*?[]/:";
    skip_space(p);
    size_t first = strspn(p->at, allowed);
    if (!first)
        return fail(p, "a role (or *, flows or collectives)"), -1;
    node->column = column(p);
    node->group = strndup(p->at, first);
    p->at += first;
    if (*p->at != '.')
        return fail(p, "a dot and the name of a counter"), -1;
    p->at++;
    size_t second = strspn(p->at, allowed);
    if (!second)
        return fail(p, "a name"), -1;
    if (node->group && (strcmp(node->group, "flows") == 0 || expr_is_of_collectives(node))) {
        const char *value = expr_is_of_collectives(node)
                                ? "a dot and a value of a collective, such as avg_busbw_GBps"
                                : "a dot and a flow's value, such as goodput_bps";
        node->flow = strndup(p->at, second);
        p->at += second;
        if (*p->at != '.')
            return fail(p, value), -1;
        p->at++;
        second = strspn(p->at, allowed);
        if (!second)
            return fail(p, value + strlen("a dot and ")), -1;
    }
    node->name = strndup(p->at, second);
    p->at += second;
    skip_space(p);
    if (*p->at != ')')
        return fail(p, "\")\""), -1;
    p->at++;
    return node->name && node->group ? 0 : error_set(p->e, "out of memory");
}

/* other(VALUE) */
static struct expr_node *parse_other(struct parser *p)
{
    struct expr_node *node = new_node(p, OTHER, NULL, NULL);
    if (!node)
        return NULL;
    if (p->in_other) {
        free_node(node);
        return fail(p, "a value of the other cell, without another other()");
    }
    p->at += strlen(OTHER_WORD);
    skip_space(p);
    if (*p->at != '(') {
        free_node(node);
        return fail(p, "\"(\"");
    }
    p->at++;
    p->in_other = true;
    node->left = parse_sum(p);
    p->in_other = false;
    skip_space(p);
    if (!node->left || *p->at != ')') {
        bool whole = node->left;
        free_node(node);
        return whole ? fail(p, "\")\"") : NULL;
    }
    p->at++;
    return node;
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(word, at, length) == 0;
}

static struct expr_node *unknown_function(struct parser *p, size_t length)
{
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
    return fail(p, expected);
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
    if (!node)
        return NULL;
    node->function = (enum expr_function)function;
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

static struct expr_node *parse_factor(struct parser *p)
{
    struct expr_node *node;
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

/* A chain of operators of one precedence, left associative. */
static struct expr_node *parse_chain(struct parser *p, const char *operators,
                                     const enum expr_node_kind kinds[2],
                                     struct expr_node *(*operand)(struct parser *))
{
    struct expr_node *left = operand(p);
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
        struct expr_node *right = operand(p);
        if (!right) {
            free_node(left);
            return NULL;
        }
        left = new_node(p, kinds[found - operators], left, right);
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
    struct parser p = {.text = text, .at = text, .e = e};
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
