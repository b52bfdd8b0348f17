/*
 * Expectations and published figures of a cell, judged over the result of one run; and, where repetitions or
 * another cell belong to it, over all runs of the sweep: both sides are evaluated in each run, other(...) in
 * the run with the same repetition of the other cell, and the means are compared.
 */
#include "harness/judge/verdict.h"

#include "harness/plan/condition.h"
#include "lib/document/json_text.h"
#include "lib/formats/origin.h"
#include "lib/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum verdict verdict_said_by(const json_t *document)
{
    enum verdict said = verdict_of(json_string_value(json_object_get(document, "verdict")));
    return said == VERDICT_NONE ? VERDICT_INCOMPLETE : said;
}

static bool host_can(const json_t *host, const char *capability)
{
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(host, "capabilities"), i, name)
    {
        if (strcmp(json_string_value(name), capability) == 0)
            return true;
    }
    return false;
}

/* For some capabilities one place in the lab is enough; all others must be present on every sending and
 * receiving host. */
static bool lab_can(const json_t *result, const char *capability)
{
    bool one_is_enough = strcmp(capability, "ecn-mark") == 0 || strcmp(capability, "switch") == 0;
    const char *role;
    json_t *host;
    size_t can = 0, all = 0;
    json_object_foreach(json_object_get(result, "hosts"), role, host)
    {
        if (!one_is_enough && host_can(host, "switch") && !host_can(host, "rdma"))
            continue;
        all++;
        can += host_can(host, capability);
    }
    return one_is_enough ? can > 0 : all > 0 && can == all;
}

const char *verdict_lacking(const struct list_of *needs, const json_t *result)
{
    const int *items = needs->items;
    for (size_t i = 0; i < needs->count; i++)
        if (lab_can(result, need_capability(items[i])) == need_is_absence(items[i]))
            return need_names[items[i]];
    return NULL;
}

static const char *lab_name(const json_t *result)
{
    const char *name = json_string_value(json_object_get(json_object_get(result, "lab"), "name"));
    return name ? name : "?";
}

static json_t *lacking_words(const json_t *result, const char *lacking)
{
    bool absence = *lacking == '!';
    return json_textf("lab %s %s %s", lab_name(result), absence ? "has" : "lacks", lacking + absence);
}

static json_t *number_json(double value)
{
    if (isnan(value))
        return json_null();
    return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *condition_words(const char *beginning, const json_t *when)
{
    struct text words = {0};
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)when, path, value)
    {
        char *shown = json_bare(value);
        text_add(&words, "%s%s %s%s", words.length ? ", and " : beginning, path,
                 condition_is_comparison(value) ? "" : "is ", shown ? shown : "?");
        free(shown);
    }
    json_t *result = json_text(text_string(&words));
    text_free(&words);
    return result;
}

/* The unit in which values are said, and what one of it is: that of the largest, so that all have the same.
 */
struct said_in {
    double one;
    const char *unit;
};

static struct said_in said_in(const char *unit, double left, double right)
{
    double most = fmax(fabs(left), fabs(right));
    if (strcmp(unit, "b/s") == 0 && most >= 1e6)
        return (struct said_in){1e9, "Gb/s"};
    if (strcmp(unit, "bytes") == 0 && most >= 1e9)
        return (struct said_in){1e9, "GB"};
    return (struct said_in){1, unit};
}

static void add_number(struct text *out, double value, struct said_in in)
{
    double shown = value / in.one;
    bool whole = shown == floor(shown) && fabs(shown) < 9e15;
    text_add(out, whole ? "%.0f" : fabs(shown) >= 1e6 ? "%.1f" : "%.6g", shown);
    if (value != 0)
        text_add(out, "%s%s", *in.unit ? " " : "", in.unit);
}

/* "25, expected < 210.6" */
static json_t *beside_expected(const struct expr_result *r)
{
    struct text words = {0};
    struct said_in in = said_in(r->unit, r->left, r->right);
    add_number(&words, r->left, in);
    text_add(&words, ", expected %s ", r->sign);
    add_number(&words, r->right, in);
    if (*r->note)
        text_add(&words, "; %s", r->note);
    json_t *result = json_text(text_string(&words));
    text_free(&words);
    return result;
}

static void entry_skip(json_t *entry, json_t *reason)
{
    json_object_set_new(entry, "verdict", json_text("skipped"));
    json_object_set_new(entry, "reason", reason);
}

/* What a figure lacks is also a warning of the result. `kind`: "expectation" */
static void warn_of_few(json_t *result, const char *kind, const char *name, const struct expr_result *r)
{
    if (*r->few)
        json_array_append_new(json_object_get(result, "warnings"),
                              json_textf("%s \"%s\": %s", kind, name, r->few));
}

/* The same of a figure that is judged beside another cell, of what it reads in this run. */
static void warn_of_few_here(const struct expr *expr, json_t *result, const char *kind, const char *name)
{
    struct expr_result r = {.unit = ""};
    expr_evaluate(expr, result, NULL, &r);
    warn_of_few(result, kind, name, &r);
}

static void entry_decide(const struct expr *check, json_t *result, json_t *entry)
{
    struct expr_result r = {.unit = ""};
    enum expr_outcome outcome = expr_evaluate(check, result, NULL, &r);
    warn_of_few(result, "expectation", json_string_value(json_object_get(entry, "name")), &r);
    json_object_set_new(entry, "left", number_json(r.left));
    json_object_set_new(entry, "right", number_json(r.right));
    json_object_set_new(entry, "unit", json_text(r.unit));
    if (outcome == EXPR_UNKNOWN) { /* the verdict is then that of the others */
        json_array_append_new(json_object_get(result, "warnings"),
                              json_textf("expectation \"%s\" was not judged: %s",
                                         json_string_value(json_object_get(entry, "name")), r.reason));
        entry_skip(entry, json_text(r.reason));
        return;
    }
    json_object_set_new(entry, "verdict", json_text(outcome == EXPR_TRUE ? "passed" : "failed"));
    json_object_set_new(entry, "reason", beside_expected(&r));
}

/* ---- runs in which nothing moved */

#define NOTHING_MOVED "nothing was moved, and it holds of any run without traffic"

/* No flow moved anything, in the measure phase or, if it ended, before. What does not say so may have. */
static bool is_idle(const json_t *result)
{
    const char *name;
    json_t *flow, *flows = json_object_get(result, "flows");
    bool idle = json_object_size(flows) && !json_object_size(json_object_get(result, "collectives")) &&
                !json_object_size(json_object_get(result, "jobs"));
    json_object_foreach(flows, name, flow)
    {
        const json_t *bytes = json_object_get(flow, "bytes");
        idle = idle && json_is_integer(bytes) && json_integer_value(bytes) == 0 &&
               json_integer_value(json_object_get(flow, "delivered_bytes")) == 0 &&
               !json_object_get(flow, "completion_ns");
    }
    return idle;
}

static bool is_verdict(const json_t *entry, enum verdict verdict)
{
    return verdict_of(json_string_value(json_object_get(entry, "verdict"))) == verdict;
}

/* "Nothing is lost" is true of itself where nothing moved: a run in which nothing else passed is not passed.
 */
static void take_back(const struct cell *cell, json_t *result, json_t *expectations)
{
    size_t i;
    json_t *entry;
    bool says_something = !is_idle(result);
    json_array_foreach(json_object_get(result, "verify"), i, entry) says_something =
        says_something || is_verdict(entry, VERDICT_PASSED);
    json_array_foreach(expectations, i, entry) says_something =
        says_something || is_verdict(entry, VERDICT_FAILED) ||
        (is_verdict(entry, VERDICT_PASSED) && !expr_holds_of_silence(cell->checks[i]));
    json_array_foreach(expectations, i, entry)
    {
        if (!says_something && is_verdict(entry, VERDICT_PASSED))
            entry_skip(entry, json_text(NOTHING_MOVED));
    }
}

/* Over what an expectation or published figure is judged at the end of the sweep (struct over): "repeats",
 * "cells"; NULL: in each run. */
static const char *verdict_later(enum expect_over over, const json_t *against,
                                 const struct verdict_scope *scope)
{
    return against && scope->cells > 1                  ? "cells"
           : over == OVER_REPEATS && scope->repeats > 1 ? "repeats"
                                                        : NULL;
}

/* The run's own numbers are kept, its verdict is not this expectation's. */
static void put_off(const struct expr *check, json_t *result, const char *later, json_t *entry)
{
    bool repeats = strcmp(later, "repeats") == 0;
    json_object_set_new(entry, "over", json_text(later));
    if (repeats)
        entry_decide(check, result, entry);
    else
        warn_of_few_here(check, result, "expectation", json_string_value(json_object_get(entry, "name")));
    entry_skip(entry, json_textf("judged %s, at the end of the sweep",
                                 repeats ? "over the repetitions" : "beside another cell"));
}

static json_t *judge_expectation(const struct cell *cell, size_t i, const struct verdict_scope *scope,
                                 json_t *result, const char *why_not)
{
    const struct scenario_expect *expect = (const struct scenario_expect *)cell->scenario.expect.items + i;
    json_t *entry = json_make("{s:s,s:s}", "name", expect->name, "check", expect->check);
    const char *lacking = verdict_lacking(&expect->needs, result),
               *later = verdict_later((enum expect_over)expect->over, expect->against, scope);
    if (!plan_when(cell, expect->when))
        entry_skip(entry, condition_words("only when ", expect->when));
    else if (lacking)
        entry_skip(entry, lacking_words(result, lacking));
    else if (why_not)
        entry_skip(entry, json_text(why_not));
    else if (later)
        put_off(cell->checks[i], result, later, entry);
    else
        entry_decide(cell->checks[i], result, entry);
    return entry;
}

json_t *verdict_broken(const struct cell *cell, size_t i, const json_t *so_far)
{
    const struct scenario_expect *expect = (const struct scenario_expect *)cell->scenario.expect.items + i;
    struct expr_result r = {.unit = ""};
    if (!plan_when(cell, expect->when) || expect->needs.count || expect->over != OVER_RUN ||
        expect->against || expr_evaluate(cell->checks[i], so_far, NULL, &r) != EXPR_FALSE ||
        !expr_is_settled(cell->checks[i], &r))
        return NULL;
    *r.note = '\0'; /* of the time to come, which was not read */
    return json_make("{s:s,s:s,s:o,s:o,s:s,s:s,s:o}", "name", expect->name, "check", expect->check, "left",
                     number_json(r.left), "right", number_json(r.right), "unit", r.unit, "verdict", "failed",
                     "reason", beside_expected(&r));
}

static json_t *reason_not_comparable(const json_t *result)
{
    enum origin origin = origin_of_result(result);
    return origin == ORIGIN_VIRTUAL || origin == ORIGIN_MIXED
               ? json_textf("lab %s has virtual NICs", lab_name(result))
               : NULL;
}

static json_t *published_entry(const struct cell *cell, const struct scenario_published *p)
{
    json_t *entry = json_make("{s:s,s:s,s:f,s:s,s:s}", "name", p->name, "of", p->of, "published", p->value,
                              "unit", p->unit ? p->unit : "", "source", p->source);
    json_t *conditions = plan_conditions(cell, p);
    if (json_object_size(conditions))
        json_object_set(entry, "conditions", conditions);
    json_decref(conditions);
    return entry;
}

/* `origin`: of the value. */
static void entry_set_value(json_t *entry, double published, double value, enum origin origin)
{
    json_object_set_new(entry, "value", isnan(value) ? json_null() : json_real(value));
    if (isnan(value))
        return;
    json_object_set_new(entry, "origin", json_text(origin_names[origin]));
    if (published != 0)
        json_object_set_new(entry, "difference_percent",
                            json_real((value - published) / fabs(published) * 100));
}

static json_t *compare_published(const struct cell *cell, size_t i, const struct verdict_scope *scope,
                                 json_t *result, const char *why_not)
{
    const struct scenario_published *p =
        (const struct scenario_published *)cell->scenario.published.items + i;
    struct expr_result r = {.left = NAN, .unit = ""};
    const char *lacking = verdict_lacking(&p->needs, result),
               *later = verdict_later(OVER_RUN, p->against, scope);
    json_t *entry = published_entry(cell, p),
           *reason = lacking ? lacking_words(result, lacking) : reason_not_comparable(result);
    if (!reason)
        reason = plan_published_why_not(cell, p);
    if (!reason && why_not)
        reason = json_text(why_not);
    if (!reason && later) {
        json_object_set_new(entry, "over", json_text(later));
        warn_of_few_here(cell->published[i], result, "published figure", p->name);
        reason = json_text("it reads another cell: at the end of the sweep");
    }
    if (!reason && expr_evaluate(cell->published[i], result, NULL, &r) == EXPR_UNKNOWN)
        reason = json_text(r.reason);
    if (reason)
        json_object_set_new(entry, "reason", reason);
    else if (*r.note)
        json_object_set_new(entry, "note", json_text(r.note));
    if (!reason)
        warn_of_few(result, "published figure", p->name, &r);
    entry_set_value(entry, p->value, reason ? NAN : r.left, origin_of_result(result));
    return entry;
}

enum verdict verdict_judge(const struct cell *cell, const struct verdict_scope *scope, json_t *result,
                           const char *why_not)
{
    const struct scenario_published *published = cell->scenario.published.items;
    json_t *expectations = json_array(), *figures = json_array();
    for (size_t i = 0; i < cell->scenario.expect.count; i++)
        json_array_append_new(expectations, judge_expectation(cell, i, scope, result, why_not));
    for (size_t i = 0; i < cell->scenario.published.count; i++)
        if (plan_when(cell, published[i].when))
            json_array_append_new(figures, compare_published(cell, i, scope, result, why_not));
    take_back(cell, result, expectations);
    json_object_set_new(result, "expectations", expectations);
    json_object_set_new(result, "published", figures);
    enum verdict verdict = verdict_of_result(result);
    if (verdict == VERDICT_NONE && !why_not)
        json_object_set_new(result, "reason",
                            json_text("nothing was judged: the scenario has no expectations"));
    if (verdict == VERDICT_NONE)
        verdict = why_not ? VERDICT_SKIPPED : VERDICT_UNJUDGED;
    json_object_set_new(result, "verdict", json_text(verdict_names[verdict]));
    return verdict;
}

/* ---- over the runs of a sweep: what is judged */

static void over_find_other(struct over_item *item, const struct cell *cell, const struct cell_places *places)
{
    const json_t *against = item->expect ? item->expect->against : item->published->against;
    item->other = NO_CELL;
    if (item->published)
        item->why = plan_published_why_not(cell, item->published);
    if (item->why || !against)
        return;
    item->other = cell_places_other(places, cell, against);
    if (item->other == NO_CELL)
        item->why = condition_words("the sweep has no cell with otherwise the same values where ", against);
    else if (item->other == cell_places_other(places, cell, NULL))
        item->why = json_text("it is the cell that the others are compared with");
}

static void over_add_item(struct over *over, struct over_item item, const struct cell *cell,
                          const struct cell_places *places)
{
    over_find_other(&item, cell, places);
    over->items[over->count++] = item;
}

int over_open(struct over *over, const struct cell *c, const struct verdict_scope *scope,
              const struct cell_places *places, struct error *e)
{
    const struct scenario_expect *expect = c->scenario.expect.items;
    const struct scenario_published *published = c->scenario.published.items;
    *over = (struct over){.cell = c, .repeats = scope->repeats};
    over->items = calloc(c->scenario.expect.count + c->scenario.published.count + 1, sizeof *over->items);
    if (!over->items)
        return error_set(e, "out of memory for %zu expectations", c->scenario.expect.count);
    for (size_t i = 0; i < c->scenario.expect.count; i++) {
        const char *later = verdict_later((enum expect_over)expect[i].over, expect[i].against, scope);
        if (later && plan_when(c, expect[i].when))
            over_add_item(over,
                          (struct over_item){.expect = &expect[i], .expr = c->checks[i], .later = later}, c,
                          places);
    }
    for (size_t i = 0; i < c->scenario.published.count; i++) {
        const char *later = verdict_later(OVER_RUN, published[i].against, scope);
        if (later && plan_when(c, published[i].when))
            over_add_item(
                over, (struct over_item){.published = &published[i], .expr = c->published[i], .later = later},
                c, places);
    }
    return 0;
}

void over_close(struct over *over)
{
    for (size_t i = 0; i < over->count; i++)
        json_decref(over->items[i].why);
    free(over->items);
    *over = (struct over){0};
}

/* ---- over the runs of a sweep: run by run */

/* Why a run has no figures, or NULL: its lab lacks what its cell needs. */
static const char *reason_of_no_run(const json_t *result)
{
    return json_object_size(json_object_get(result, "flows")) ||
                   json_object_size(json_object_get(result, "collectives")) ||
                   json_object_size(json_object_get(result, "jobs"))
               ? NULL
               : json_string_value(json_object_get(result, "reason"));
}

static json_t *over_why_not(const struct over_item *item, const char *name, const json_t *result,
                            const json_t *other)
{
    const struct list_of *needs = item->expect ? &item->expect->needs : &item->published->needs;
    const char *lacking = verdict_lacking(needs, result);
    if (lacking)
        return lacking_words(result, lacking);
    json_t *incomparable = item->published ? reason_not_comparable(result) : NULL;
    if (incomparable)
        return incomparable;
    if (reason_of_no_run(result))
        return json_text(reason_of_no_run(result));
    if (item->other != NO_CELL && !other)
        return json_textf("run %s: the run of the other cell has no whole result", name);
    if (other && reason_of_no_run(other))
        return json_textf("the other cell did not run: %s", reason_of_no_run(other));
    return NULL;
}

void over_take(struct over_item *item, const char *name, const json_t *result, const json_t *other)
{
    struct expr_result r = {.unit = ""};
    item->origin = origin_of_result(result);
    if (!item->why)
        item->why = over_why_not(item, name, result, other);
    if (item->why)
        return;
    if (expr_evaluate(item->expr, result, other, &r) == EXPR_UNKNOWN) {
        item->why = json_textf("run %s: %s", name, r.reason);
        return;
    }
    if (item->left.count && strcmp(item->unit, r.unit) != 0)
        item->why = json_textf("run %s: its unit is \"%s\", that of others \"%s\"", name, r.unit, item->unit);
    snprintf(item->unit, sizeof item->unit, "%s", r.unit);
    if (!*item->note)
        snprintf(item->note, sizeof item->note, "%s", r.note);
    item->idle += item->expect && is_idle(result) && expr_holds_of_silence(item->expr);
    spread_add(&item->left, r.left);
    spread_add(&item->right, r.right);
}

/* ---- over the runs of a sweep: the judgement */

static void add_spread(struct text *out, const struct spread *spread, struct said_in in)
{
    add_number(out, spread->mean, in);
    if (spread->ci95 > 0) {
        text_add(out, " +- ");
        add_number(out, spread_two_digits(spread->ci95), in);
    }
}

/* "mean of 4 runs 0.91 +- 0.02, expected > 0.85"; "0.91 in all 4 runs, expected > 0.85" */
static json_t *means_beside_expected(const struct over_item *item, const struct spread *left,
                                     const struct spread *right)
{
    struct text words = {0};
    struct said_in in = said_in(item->unit, left->mean, right->mean);
    bool equal = left->count > 1 && left->stddev == 0;
    if (left->count > 1 && !equal)
        text_add(&words, "mean of %zu runs ", left->count);
    add_spread(&words, left, in);
    if (equal)
        text_add(&words, " in all %zu runs", left->count);
    text_add(&words, ", expected %s ", expr_sign(item->expr));
    add_spread(&words, right, in);
    if ((left->ci95 > 0 || right->ci95 > 0) && !spread_apart(left, right))
        text_add(&words, "; the difference is within their spread");
    if (*item->note)
        text_add(&words, "; %s", item->note);
    json_t *result = json_text(text_string(&words));
    text_free(&words);
    return result;
}

/* Why it is not judged; NULL: it is. A new reference. */
static json_t *over_reason_of(const struct over *over, const struct over_item *item)
{
    if (item->why)
        return json_incref(item->why);
    if (item->idle && item->idle == item->left.count)
        return json_text(NOTHING_MOVED);
    return item->left.count < over->repeats
               ? json_textf("only %zu of %zu runs have a whole result", item->left.count, over->repeats)
               : NULL;
}

static json_t *over_judge(const struct over *over, const struct over_item *item, enum verdict *verdict)
{
    const struct spread left = spread_of_sums(&item->left), right = spread_of_sums(&item->right);
    json_t *entry = json_make("{s:s,s:s,s:s,s:O*}", "name", item->expect->name, "check", item->expect->check,
                              "over", item->later, "against", item->expect->against);
    json_t *reason = over_reason_of(over, item);
    if (reason) {
        entry_skip(entry, reason);
        *verdict = VERDICT_SKIPPED;
        return entry;
    }
    *verdict = expr_compare(item->expr, left.mean, right.mean) ? VERDICT_PASSED : VERDICT_FAILED;
    json_object_set_new(entry, "verdict", json_text(verdict_names[*verdict]));
    json_object_set_new(entry, "count", json_integer((json_int_t)left.count));
    json_object_set_new(entry, "left", number_json(left.mean));
    json_object_set_new(entry, "left_ci95", number_json(left.ci95));
    json_object_set_new(entry, "right", number_json(right.mean));
    json_object_set_new(entry, "right_ci95", number_json(right.ci95));
    json_object_set_new(entry, "unit", json_text(item->unit));
    json_object_set_new(entry, "reason", means_beside_expected(item, &left, &right));
    return entry;
}

json_t *over_expectations(const struct over *over, enum verdict *verdict)
{
    json_t *list = json_array();
    *verdict = VERDICT_SKIPPED;
    for (size_t i = 0; i < over->count; i++) {
        enum verdict one;
        if (!over->items[i].expect)
            continue;
        json_array_append_new(list, over_judge(over, &over->items[i], &one));
        *verdict = one > *verdict ? one : *verdict;
    }
    return list;
}

static json_t *over_publish(const struct over *over, const struct over_item *item)
{
    const struct spread value = spread_of_sums(&item->left);
    json_t *entry = published_entry(over->cell, item->published), *reason = over_reason_of(over, item);
    json_object_set_new(entry, "over", json_text(item->later));
    json_object_set(entry, "against", item->published->against);
    if (reason)
        json_object_set_new(entry, "reason", reason);
    entry_set_value(entry, item->published->value, reason ? NAN : value.mean, item->origin);
    if (!reason) {
        json_object_set_new(entry, "count", json_integer((json_int_t)value.count));
        json_object_set_new(entry, "ci95", number_json(value.ci95));
        if (*item->note)
            json_object_set_new(entry, "note", json_text(item->note));
    }
    return entry;
}

json_t *over_published(const struct over *over)
{
    json_t *list = json_array();
    for (size_t i = 0; i < over->count; i++)
        if (over->items[i].published)
            json_array_append_new(list, over_publish(over, &over->items[i]));
    return list;
}
