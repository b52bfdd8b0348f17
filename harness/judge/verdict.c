#include "harness/judge/verdict_inside.h"
#include "harness/plan/condition.h"

#include "lib/document/json_text.h"
#include "lib/formats/origin.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const verdict_names[] = {"skipped", "passed", "failed", "incomplete"};

enum verdict verdict_said_by(const json_t *document)
{
    const char *name = json_string_value(json_object_get(document, "verdict"));
    for (enum verdict v = VERDICT_SKIPPED; name && v < VERDICT_INCOMPLETE; v++)
        if (strcmp(name, verdict_names[v]) == 0)
            return v;
    return VERDICT_INCOMPLETE;
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

/* For some capabilities one place in the lab is enough; all others must be present on every sending and receiving host. */
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

json_t *verdict_lacking_words(const json_t *result, const char *lacking)
{
    bool absence = *lacking == '!';
    return json_textf("lab %s %s %s", lab_name(result), absence ? "has" : "lacks", lacking + absence);
}

json_t *verdict_number(double value)
{
    if (isnan(value))
        return json_null();
    return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

json_t *verdict_condition_words(const char *beginning, const json_t *when)
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

void verdict_add_number(struct text *out, double value, const char *unit)
{
    bool rate = strcmp(unit, "b/s") == 0 && fabs(value) >= 1e6;
    bool many = strcmp(unit, "bytes") == 0 && fabs(value) >= 1e9;
    double shown = rate ? value / 1e9 : many ? value / (1 << 30) : value;
    bool whole = shown == floor(shown) && fabs(shown) < 9e15;
    text_add(out, whole ? "%.0f" : fabs(shown) >= 1e6 ? "%.1f" : many ? "%.2f" : "%.6g", shown);
    if (value != 0)
        text_add(out, "%s%s", *unit ? " " : "", rate ? "Gb/s" : many ? "GiB" : unit);
}

/* "25, expected < 210.6" */
static json_t *beside_expected(const struct expr_result *r)
{
    struct text words = {0};
    verdict_add_number(&words, r->left, r->unit);
    text_add(&words, ", expected %s ", r->sign);
    verdict_add_number(&words, r->right, r->unit);
    json_t *result = json_text(text_string(&words));
    text_free(&words);
    return result;
}

void verdict_skip(json_t *entry, json_t *reason)
{
    json_object_set_new(entry, "verdict", json_text("skipped"));
    json_object_set_new(entry, "reason", reason);
}

static void decide(const struct expr *check, const json_t *result, json_t *entry)
{
    struct expr_result r = {.unit = ""};
    enum expr_outcome outcome = expr_evaluate(check, result, NULL, &r);
    json_object_set_new(entry, "left", verdict_number(r.left));
    json_object_set_new(entry, "right", verdict_number(r.right));
    json_object_set_new(entry, "unit", json_text(r.unit));
    if (outcome == EXPR_UNKNOWN) {
        verdict_skip(entry, json_text(r.reason));
        return;
    }
    json_object_set_new(entry, "verdict", json_text(outcome == EXPR_TRUE ? "passed" : "failed"));
    json_object_set_new(entry, "reason", beside_expected(&r));
}

const char *verdict_later(enum expect_over over, const json_t *against, const struct verdict_scope *scope)
{
    return against && scope->cells > 1                  ? "cells"
           : over == OVER_REPEATS && scope->repeats > 1 ? "repeats"
                                                        : NULL;
}

/* The run's own numbers are kept, its verdict is not this expectation's. */
static void put_off(const struct expr *check, const json_t *result, const char *later, json_t *entry)
{
    bool repeats = strcmp(later, "repeats") == 0;
    json_object_set_new(entry, "over", json_text(later));
    if (repeats)
        decide(check, result, entry);
    verdict_skip(entry, json_textf("judged %s, at the end of the sweep",
                                   repeats ? "over the repetitions" : "beside another cell"));
}

static json_t *judge_one(const struct cell *cell, size_t i, const struct verdict_scope *scope,
                         const json_t *result, const char *why_not)
{
    const struct scenario_expect *expect = (const struct scenario_expect *)cell->scenario.expect.items + i;
    json_t *entry = json_make("{s:s,s:s}", "name", expect->name, "check", expect->check);
    const char *lacking = verdict_lacking(&expect->needs, result),
               *later = verdict_later((enum expect_over)expect->over, expect->against, scope);
    if (!plan_when(cell, expect->when))
        verdict_skip(entry, verdict_condition_words("only when ", expect->when));
    else if (lacking)
        verdict_skip(entry, verdict_lacking_words(result, lacking));
    else if (why_not)
        verdict_skip(entry, json_text(why_not));
    else if (later)
        put_off(cell->checks[i], result, later, entry);
    else
        decide(cell->checks[i], result, entry);
    return entry;
}

json_t *verdict_incomparable(const json_t *result)
{
    enum origin origin = origin_of_result(result);
    return origin == ORIGIN_VIRTUAL || origin == ORIGIN_MIXED
               ? json_textf("lab %s has virtual NICs", lab_name(result))
               : NULL;
}

json_t *verdict_published(const struct scenario_published *p)
{
    return json_make("{s:s,s:s,s:f,s:s,s:s}", "name", p->name, "of", p->of, "published", p->value, "unit",
                     p->unit ? p->unit : "", "source", p->source);
}

void verdict_measured(json_t *entry, double published, double measured)
{
    json_object_set_new(entry, "measured", isnan(measured) ? json_null() : json_real(measured));
    if (!isnan(measured) && published != 0)
        json_object_set_new(entry, "difference_percent",
                            json_real((measured - published) / fabs(published) * 100));
}

static json_t *publish_one(const struct cell *cell, size_t i, const struct verdict_scope *scope,
                           const json_t *result, const char *why_not)
{
    const struct scenario_published *p =
        (const struct scenario_published *)cell->scenario.published.items + i;
    struct expr_result r = {.left = NAN, .unit = ""};
    const char *lacking = verdict_lacking(&p->needs, result),
               *later = verdict_later(OVER_RUN, p->against, scope);
    json_t *entry = verdict_published(p),
           *reason = lacking ? verdict_lacking_words(result, lacking) : verdict_incomparable(result);
    if (!reason && why_not)
        reason = json_text(why_not);
    if (!reason && later) {
        json_object_set_new(entry, "over", json_text(later));
        reason = json_text("it reads another cell: at the end of the sweep");
    }
    if (!reason && expr_evaluate(cell->published[i], result, NULL, &r) == EXPR_UNKNOWN)
        reason = json_text(r.reason);
    if (reason)
        json_object_set_new(entry, "reason", reason);
    verdict_measured(entry, p->value, r.left);
    return entry;
}

/* The verdict so far, and an entry that was decided. */
static enum verdict with_entry(enum verdict verdict, const json_t *entry)
{
    const char *said = json_string_value(json_object_get(entry, "verdict"));
    if (strcmp(said, "failed") == 0)
        return VERDICT_FAILED;
    return strcmp(said, "passed") == 0 && verdict == VERDICT_SKIPPED ? VERDICT_PASSED : verdict;
}

enum verdict verdict_judge(const struct cell *cell, const struct verdict_scope *scope, json_t *result,
                           const char *why_not)
{
    const struct scenario_published *published = cell->scenario.published.items;
    json_t *expectations = json_array(), *figures = json_array();
    enum verdict verdict = VERDICT_SKIPPED;
    size_t at;
    const json_t *judged;
    for (size_t i = 0; i < cell->scenario.expect.count; i++) {
        json_t *entry = judge_one(cell, i, scope, result, why_not);
        verdict = with_entry(verdict, entry);
        json_array_append_new(expectations, entry);
    }
    json_array_foreach(json_object_get(result, "verify"), at, judged) verdict = with_entry(verdict, judged);
    if (cell->scenario.expect.count + cell->scenario.verify.count == 0 && !why_not)
        verdict = VERDICT_PASSED; /* it ran, and there are no expectations */
    for (size_t i = 0; i < cell->scenario.published.count; i++)
        if (plan_when(cell, published[i].when))
            json_array_append_new(figures, publish_one(cell, i, scope, result, why_not));
    if (json_is_false(json_object_get(result, "complete")))
        verdict = VERDICT_INCOMPLETE;
    json_object_set_new(result, "expectations", expectations);
    json_object_set_new(result, "published", figures);
    json_object_set_new(result, "verdict", json_text(verdict_names[verdict]));
    return verdict;
}
