#include "harness/judge/over.h"

#include "harness/judge/verdict_inside.h"
#include "lib/document/json_text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is judged */

static void find_other(struct over_item *item, const struct cell *cell, const struct cell_places *places)
{
    const json_t *against = item->expect ? item->expect->against : item->published->against;
    item->other = NO_CELL;
    if (!against)
        return;
    item->other = cell_places_other(places, cell, against);
    if (item->other == NO_CELL)
        item->why =
            verdict_condition_words("the sweep has no cell with otherwise the same values where ", against);
    else if (item->other == cell_places_other(places, cell, NULL))
        item->why = json_text("it is the cell that the others are compared with");
}

static void add_item(struct over *over, struct over_item item, const struct cell *cell,
                     const struct cell_places *places)
{
    find_other(&item, cell, places);
    over->items[over->count++] = item;
}

int over_open(struct over *over, const struct cell *c, const struct verdict_scope *scope,
              const struct cell_places *places, struct error *e)
{
    const struct scenario_expect *expect = c->scenario.expect.items;
    const struct scenario_published *published = c->scenario.published.items;
    *over = (struct over){.repeats = scope->repeats};
    over->items = calloc(c->scenario.expect.count + c->scenario.published.count + 1, sizeof *over->items);
    if (!over->items)
        return error_set(e, "out of memory for %zu expectations", c->scenario.expect.count);
    for (size_t i = 0; i < c->scenario.expect.count; i++) {
        const char *later = verdict_later((enum expect_over)expect[i].over, expect[i].against, scope);
        if (later && plan_when(c, expect[i].when))
            add_item(over, (struct over_item){.expect = &expect[i], .expr = c->checks[i], .later = later}, c,
                     places);
    }
    for (size_t i = 0; i < c->scenario.published.count; i++) {
        const char *later = verdict_later(OVER_RUN, published[i].against, scope);
        if (later && plan_when(c, published[i].when))
            add_item(over,
                     (struct over_item){.published = &published[i], .expr = c->published[i], .later = later},
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

/* ---- run by run */

/* Why a run has no figures, or NULL: its lab lacks what its cell needs. */
static const char *did_not_run(const json_t *result)
{
    return json_object_size(json_object_get(result, "flows")) ||
                   json_object_size(json_object_get(result, "collectives"))
               ? NULL
               : json_string_value(json_object_get(result, "reason"));
}

static json_t *why_not(const struct over_item *item, const char *name, const json_t *result,
                       const json_t *other)
{
    const struct list_of *needs = item->expect ? &item->expect->needs : &item->published->needs;
    const char *lacking = verdict_lacking(needs, result);
    if (lacking)
        return verdict_lacking_words(result, lacking);
    json_t *incomparable = item->published ? verdict_incomparable(result) : NULL;
    if (incomparable)
        return incomparable;
    if (did_not_run(result))
        return json_text(did_not_run(result));
    if (item->other != NO_CELL && !other)
        return json_textf("run %s: the run of the other cell has no whole result", name);
    if (other && did_not_run(other))
        return json_textf("the other cell did not run: %s", did_not_run(other));
    return NULL;
}

void over_take(struct over_item *item, const char *name, const json_t *result, const json_t *other)
{
    struct expr_result r = {.unit = ""};
    if (!item->why)
        item->why = why_not(item, name, result, other);
    if (item->why)
        return;
    if (expr_evaluate(item->expr, result, other, &r) == EXPR_UNKNOWN) {
        item->why = json_textf("run %s: %s", name, r.reason);
        return;
    }
    if (item->left.count && strcmp(item->unit, r.unit) != 0)
        item->why = json_textf("run %s: its unit is \"%s\", that of others \"%s\"", name, r.unit, item->unit);
    snprintf(item->unit, sizeof item->unit, "%s", r.unit);
    spread_add(&item->left, r.left);
    spread_add(&item->right, r.right);
}

/* ---- the judgement */

/* The interval with two digits: it is no more certain than that. */
static double two_digits(double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.2g", value);
    return strtod(digits, NULL);
}

static void add_spread(struct text *out, const struct spread *spread, const char *unit)
{
    verdict_add_number(out, spread->mean, unit);
    if (spread->ci95 > 0) {
        text_add(out, " +- ");
        verdict_add_number(out, two_digits(spread->ci95), unit);
    }
}

/* "mean of 4 runs 0.91 +- 0.02, expected > 0.85" */
static json_t *beside_expected(const struct over_item *item, const struct spread *left,
                               const struct spread *right)
{
    struct text words = {0};
    if (left->count > 1)
        text_add(&words, "mean of %zu runs ", left->count);
    add_spread(&words, left, item->unit);
    text_add(&words, ", expected %s ", expr_sign(item->expr));
    add_spread(&words, right, item->unit);
    json_t *result = json_text(text_string(&words));
    text_free(&words);
    return result;
}

/* Why it is not judged; NULL: it is. A new reference. */
static json_t *reason_of(const struct over *over, const struct over_item *item)
{
    if (item->why)
        return json_incref(item->why);
    return item->left.count < over->repeats
               ? json_textf("only %zu of %zu runs have a whole result", item->left.count, over->repeats)
               : NULL;
}

static json_t *judge(const struct over *over, const struct over_item *item, enum verdict *verdict)
{
    const struct spread left = spread_of_sums(&item->left), right = spread_of_sums(&item->right);
    json_t *entry = json_make("{s:s,s:s,s:s,s:O*}", "name", item->expect->name, "check", item->expect->check,
                              "over", item->later, "against", item->expect->against);
    json_t *reason = reason_of(over, item);
    if (reason) {
        verdict_skip(entry, reason);
        *verdict = VERDICT_SKIPPED;
        return entry;
    }
    *verdict = expr_compare(item->expr, left.mean, right.mean) ? VERDICT_PASSED : VERDICT_FAILED;
    json_object_set_new(entry, "verdict", json_text(verdict_names[*verdict]));
    json_object_set_new(entry, "count", json_integer((json_int_t)left.count));
    json_object_set_new(entry, "left", verdict_number(left.mean));
    json_object_set_new(entry, "left_ci95", verdict_number(left.ci95));
    json_object_set_new(entry, "right", verdict_number(right.mean));
    json_object_set_new(entry, "right_ci95", verdict_number(right.ci95));
    json_object_set_new(entry, "unit", json_text(item->unit));
    json_object_set_new(entry, "reason", beside_expected(item, &left, &right));
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
        json_array_append_new(list, judge(over, &over->items[i], &one));
        *verdict = one > *verdict ? one : *verdict;
    }
    return list;
}

static json_t *publish(const struct over *over, const struct over_item *item)
{
    const struct spread measured = spread_of_sums(&item->left);
    json_t *entry = verdict_published(item->published), *reason = reason_of(over, item);
    json_object_set_new(entry, "over", json_text(item->later));
    json_object_set(entry, "against", item->published->against);
    if (reason)
        json_object_set_new(entry, "reason", reason);
    verdict_measured(entry, item->published->value, reason ? NAN : measured.mean);
    if (!reason) {
        json_object_set_new(entry, "count", json_integer((json_int_t)measured.count));
        json_object_set_new(entry, "ci95", verdict_number(measured.ci95));
    }
    return entry;
}

json_t *over_published(const struct over *over)
{
    json_t *list = json_array();
    for (size_t i = 0; i < over->count; i++)
        if (over->items[i].published)
            json_array_append_new(list, publish(over, &over->items[i]));
    return list;
}
