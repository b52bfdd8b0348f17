#include "harness/compare/rule.h"

#include "lib/document/nearest.h"
#include "lib/names/range.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLD "old"

/* ---- figures by their names */

static const struct {
    const char *name, *value;
} figures[] = {
    {"goodput", "sum(flows.*.goodput_bps)"},
    {"delivered", "sum(flows.*.delivered_bps)"},
    {"messages", "sum(flows.*.messages_per_s)"},
    {"latency_p50", "max(flows.*.latency_p50_ns)"},
    {"latency_p99", "max(flows.*.latency_p99_ns)"},
    {"latency_p99_9", "max(flows.*.latency_p99_9_ns)"},
    {"completion_p50", "max(flows.*.completion_p50_ns)"},
    {"completion_p99", "max(flows.*.completion_p99_ns)"},
    {"pauses", "delta(*.rx_prio?_pause)"},
    {"cnps", "delta(*.rp_cnp_handled)"},
    {"resends", "sum(flows.*.retransmitted_packets)"},
};
#define FIGURES (sizeof figures / sizeof *figures)

const char *rule_figure_name(size_t i)
{
    return i < FIGURES ? figures[i].name : NULL;
}

static const char *figure_value(const char *word)
{
    for (size_t i = 0; i < FIGURES; i++)
        if (strcmp(figures[i].name, word) == 0)
            return figures[i].value;
    return NULL;
}

static int unknown_figure(const char *word, struct error *e)
{
    const char *names[FIGURES + 1] = {0};
    struct text all = {0};
    for (size_t i = 0; i < FIGURES; i++) {
        names[i] = figures[i].name;
        text_add(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = nearest_word(word, names);
    error_set(e,
              "there is no figure \"%.60s\"%s%s%s: expected one of %s, or an expression such as "
              "max(flows.*.latency_p99_ns)",
              word, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "", text_string(&all));
    text_free(&all);
    return -1;
}

/* ---- from the rule to an expression */

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(word, at, length) == 0;
}

/* The bytes of a number with its unit: "97%", "5us", "40 Gb/s". */
static size_t number_at(const char *at)
{
    size_t length = strspn(at, "0123456789."), blank = at[length] == ' ', unit = length + blank, end = unit;
    while (isalpha((unsigned char)at[end]) || at[end] == '%' ||
           (at[end] == '/' && at[end + 1] == 's' && !isalnum((unsigned char)at[end + 2])))
        end++;
    bool is_unit =
        end > unit && !is_word(at + unit, end - unit, "of") && !is_word(at + unit, end - unit, OLD);
    return is_unit ? end : length;
}

/* "old + 10%": a share of nothing is added. `at` has the number, `out` what is before it. */
static int refuse_added(const char *at, size_t length, const struct text *out, struct error *e)
{
    const char *behind = at + length + strspn(at + length, " ");
    size_t before = out->length;
    while (before && isspace((unsigned char)out->data[before - 1]))
        before--;
    char sign = before ? out->data[before - 1] : '\0';
    bool taken = *behind == '*' || *behind == '/' || strncmp(behind, "of", 2) == 0;
    if (at[length - 1] != '%' || taken || (sign != '+' && sign != '-' && *behind != '+' && *behind != '-'))
        return 0;
    double share = strtod(at, NULL) / 100;
    return error_set(e, "%.*s is added, and not of what: write %s * %g", (int)(length < 40 ? length : 40), at,
                     OLD, sign == '-' ? 1 - share : 1 + share);
}

/* A word of the left side, up to its bracket: a figure stands for its value. */
static int add_figure(const char *at, size_t length, struct text *out, struct error *e)
{
    char *word = xstrndup(at, length);
    const char *value = figure_value(word);
    bool function = at[length + strspn(at + length, " ")] == '(';
    text_add(out, "%s", value && !function ? value : word);
    int result = value || function ? 0 : unknown_figure(word, e);
    free(word);
    return result;
}

/* A word of the right side: `old`, and "of", which multiplies a share. */
static int add_old(const char *at, size_t length, const char *left, struct text *out, struct error *e)
{
    if (is_word(at, length, OLD))
        text_add(out, "other(%s)", left);
    else if (is_word(at, length, "of") && out->length && out->data[out->length - 1] == '%')
        text_add(out, " *");
    else if (is_word(at, length, "of"))
        return error_set(e, "\"of\" stands behind a share: expected such as 97%% of %s", OLD);
    else
        return error_set(e, "\"%.*s\": expected numbers with their units and %s on the right side",
                         (int)(length < 40 ? length : 40), at, OLD);
    return 0;
}

/* One side of a rule as an expression; `left`: it is the right one, and this the other. */
static int add_side(const char *at, const char *end, const char *left, struct text *out, struct error *e)
{
    int result = 0;
    while (result == 0 && at < end) {
        size_t number = isdigit((unsigned char)*at) ? number_at(at) : 0, word = strspn(at, letters),
               bracket = *at == '(' && !left ? strcspn(at, ")") : 0;
        bool of_function = bracket && out->length && strchr(letters, out->data[out->length - 1]);
        size_t length = number ? number : word ? word : of_function ? bracket : 1;
        if (isspace((unsigned char)*at) && out->length && out->data[out->length - 1] == '%')
            ; /* 97 % of old */
        else if (number && left && refuse_added(at, number, out, e) != 0)
            result = -1;
        else if (number || !word)
            text_add(out, "%.*s", (int)length, at);
        else
            result = left ? add_old(at, word, left, out, e) : add_figure(at, word, out, e);
        at += length;
    }
    return result;
}

/* The left side as a value. */
static int add_left(const char *rule, size_t length, struct text *out, struct error *e)
{
    while (length && isspace((unsigned char)rule[length - 1]))
        length--;
    if (!length)
        return error_set(e, "expected a figure such as goodput before the sign");
    if (add_side(rule, rule + length, NULL, out, e) != 0)
        return -1;
    struct expr *value = expr_compile(text_string(out), false, e);
    int result = !value                    ? -1
                 : expr_reads_other(value) ? error_set(e,
                                                       "other(...) is of the cells of one sweep: expected %s "
                                                       "on the right side",
                                                       OLD)
                                           : 0;
    expr_free(value);
    return result;
}

struct expr *rule_compile(const char *rule, struct error *e)
{
    rule += strspn(rule, " ");
    size_t length = strcspn(rule, "<>=!"), sign = strspn(rule + length, "<>=!");
    const char *right = rule + length + sign;
    struct text left = {0}, whole = {0};
    struct expr *expr = NULL;
    int result = sign ? add_left(rule, length, &left, e)
                      : error_set(e, "it has no sign: expected a rule such as \"goodput < 97%% of %s\"", OLD);
    if (result == 0) {
        text_add(&whole, "%s %.*s", text_string(&left), (int)sign, rule + length);
        result = add_side(right, right + strlen(right), text_string(&left), &whole, e);
    }
    if (result == 0)
        expr = expr_compile(text_string(&whole), true, e);
    if (!expr)
        error_prefix(e, "\"%.100s\"", rule);
    text_free(&left);
    text_free(&whole);
    return expr;
}

/* ---- what it reads */

struct unlisted {
    const json_t *result;
    const char *role; /* whose counter was not kept */
};

/* Of roles that are not listed a result has only the counters that its own expectations read. */
static void find_unlisted(void *context, const char *group, const char *counter, const char *key)
{
    struct unlisted *u = context;
    const char *role;
    json_t *host;
    (void)key;
    json_object_foreach(json_object_get(u->result, "hosts"), role, host)
    {
        if (!u->role && json_is_false(json_object_get(host, "listed")) && name_matches(group, role) &&
            !json_object_get(json_object_get(host, "counters"), counter))
            u->role = role;
    }
}

/* Columns are those of an expression that the user did not write. */
static const char *without_column(const char *reason)
{
    const char *colon = strncmp(reason, "column ", 7) == 0 ? strstr(reason, ": ") : NULL;
    return colon ? colon + 2 : reason;
}

void rule_read(struct expr *rule, const json_t *result, bool old, struct rule_value *out)
{
    struct expr_result r;
    struct unlisted unlisted = {.result = result};
    expr_name_roles_of(rule, result);
    enum expr_outcome outcome = expr_evaluate(rule, result, result, &r);
    *out = (struct rule_value){.value = old ? r.right : r.left, .unit = r.unit};
    expr_each_counter(rule, find_unlisted, &unlisted);
    if (unlisted.role)
        snprintf(out->why, sizeof out->why, "counters of %.60s were not kept, as the run does not list it",
                 unlisted.role);
    else
        snprintf(out->why, sizeof out->why, "%.299s",
                 outcome == EXPR_UNKNOWN ? without_column(r.reason) : r.note);
    if (unlisted.role || outcome == EXPR_UNKNOWN)
        out->value = NAN;
}
