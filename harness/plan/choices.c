#include "harness/plan/choices.h"
#include "harness/plan/condition.h"
#include "harness/plan/draw.h"
#include "harness/plan/sweep_values.h"
#include "lib/document/json_text.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Words of a sweep that are no paths: no key of a scenario has these names. */
enum word { WORD_PATH, WORD_ZIP, WORD_DRAW, WORD_EXCEPT, WORD_ONLY };

static enum word word_of(const char *key)
{
    static const char *const words[] = {
        [WORD_ZIP] = "zip", [WORD_DRAW] = "draw", [WORD_EXCEPT] = "except", [WORD_ONLY] = "only"};
    for (size_t i = WORD_ZIP; i < sizeof words / sizeof *words; i++)
        if (strcmp(key, words[i]) == 0)
            return (enum word)i;
    return WORD_PATH;
}

/* ---- axes */

/* Takes `lists`. */
static int add_axis(struct choices *c, json_t *lists, struct error *e)
{
    const char *path;
    json_t *values;
    struct axis *grown = lists ? realloc(c->axes, (c->axis_count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        json_decref(lists);
        return error_set(e, "out of memory");
    }
    c->axes = grown;
    struct axis *axis = &c->axes[c->axis_count++];
    *axis = (struct axis){.lists = lists};
    json_object_foreach(lists, path, values)
    {
        axis->count = json_array_size(values);
        if (json_object_get(c->lists, path))
            return error_set(e, "%.100s: the sweep has this path twice", path);
        if (json_object_set(c->lists, path, values) != 0)
            return error_set(e, "out of memory");
    }
    return 0;
}

static int add_path(struct choices *c, const char *path, const json_t *written, struct error *e)
{
    json_t *values = sweep_values(written, e), *lists = values ? json_object() : NULL;
    if (!values)
        return error_prefix(e, "sweep.%.100s", path);
    if (lists)
        json_object_set(lists, path, values);
    json_decref(values);
    return add_axis(c, lists, e);
}

/* The lists of paths that go together. */
static json_t *zip(const json_t *group, struct error *e)
{
    json_t *lists = json_object(), *written;
    const char *path, *first = NULL;
    size_t count = 0;
    if (json_object_size(group) < 2) {
        error_set(e, "expected an object of at least two paths such as {\"PATH\": [VALUE, ...], \"PATH\": "
                     "[VALUE, ...]}");
        goto failed;
    }
    json_object_foreach((json_t *)(uintptr_t)group, path, written)
    {
        json_t *values = sweep_values(written, e);
        if (!values) {
            error_prefix(e, "%.100s", path);
            goto failed;
        }
        json_object_set_new(lists, path, values);
        if (first && json_array_size(values) != count) {
            error_set(e, "%.100s has %zu values and %.100s has %zu: values that go together are equally many",
                      first, count, path, json_array_size(values));
            goto failed;
        }
        first = path;
        count = json_array_size(values);
    }
    return lists;
failed:
    json_decref(lists);
    return NULL;
}

static int add_zips(struct choices *c, const json_t *groups, struct error *e)
{
    size_t i;
    json_t *group;
    if (json_array_size(groups) == 0)
        return error_set(
            e, "sweep.zip: expected a list such as [{\"PATH\": [VALUE, ...], \"PATH\": [VALUE, ...]}]");
    json_array_foreach(groups, i, group)
    {
        json_t *lists = zip(group, e);
        if (!lists || add_axis(c, lists, e) != 0)
            return error_prefix(e, "sweep.zip[%zu]", i);
    }
    return 0;
}

static int add_draw(struct choices *c, const json_t *written, struct error *e)
{
    json_t *lists = draw(written, e);
    return lists && add_axis(c, lists, e) == 0 ? 0 : error_prefix(e, "sweep.draw");
}

static int take_axes(struct choices *c, const json_t *sweep, struct error *e)
{
    const char *key;
    json_t *written;
    if (sweep && !json_is_object(sweep))
        return error_set(e, "sweep: expected an object such as {\"PATH\": [VALUE, ...]}");
    json_object_foreach((json_t *)(uintptr_t)sweep, key, written)
    {
        enum word word = word_of(key);
        int result = word == WORD_PATH   ? add_path(c, key, written, e)
                     : word == WORD_ZIP  ? add_zips(c, written, e)
                     : word == WORD_DRAW ? add_draw(c, written, e)
                                         : 0;
        if (result != 0)
            return -1;
    }
    return 0;
}

static int count_combinations(struct choices *c, bool many, struct error *e)
{
    c->count = 1;
    for (size_t i = 0; i < c->axis_count; i++) {
        if (__builtin_mul_overflow(c->count, c->axes[i].count, &c->count) ||
            c->count > SIZE_MAX / sizeof *c->kept)
            return error_set(e, "sweep: more combinations than can be counted");
    }
    if (c->count > CHOICES_MANY && !many)
        return error_set(e, "sweep: %zu combinations are more than %d: if they are meant, add --yes",
                         c->count, CHOICES_MANY);
    return 0;
}

/* Combination i of all, also of those that are not kept. */
static json_t *combination(const struct choices *choices, size_t i)
{
    json_t *choice = json_object(), *values;
    const char *path;
    size_t cells = 1;
    for (size_t k = 0; k < choices->axis_count; k++)
        cells *= choices->axes[k].count;
    for (size_t k = 0; choice && k < choices->axis_count; k++) {
        size_t count = choices->axes[k].count;
        cells /= count;
        json_object_foreach(choices->axes[k].lists, path, values)
        {
            json_object_set(choice, path, json_array_get(values, i / cells % count));
        }
    }
    return choice;
}

/* ---- which combinations are kept */

struct asked {
    const json_t *choice;
    choices_values values_at;
    const void *context;
    json_t *seen; /* paths that matched */
};

static json_t *values_of_choice(const void *context, const char *path)
{
    const struct asked *asked = context;
    json_t *chosen = json_object_get(asked->choice, path);
    json_t *values =
        chosen ? json_make("[O]", chosen) : asked->values_at(asked->context, asked->choice, path);
    if (json_array_size(values))
        json_object_set_new(asked->seen, path, json_true());
    return values;
}

/* Does one of the conditions hold? */
static int one_holds(const json_t *conditions, const char *key, const struct asked *asked, struct error *e)
{
    int holds = 0;
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        int one = condition_holds(json_array_get(conditions, i), values_of_choice, asked, e);
        if (one < 0)
            return error_prefix(e, "sweep.%s[%zu]", key, i);
        holds |= one;
    }
    return holds;
}

static int keep(struct choices *c, const json_t *except, const json_t *only, struct asked *asked,
                struct error *e)
{
    size_t kept = 0;
    int left_out = 0, in = 1;
    c->kept = calloc(c->count, sizeof *c->kept);
    if (!c->kept)
        return error_set(e, "out of memory");
    for (size_t i = 0; left_out >= 0 && in >= 0 && i < c->count; i++) {
        json_t *choice = combination(c, i);
        asked->choice = choice;
        left_out = one_holds(except, "except", asked, e);
        in = left_out < 0 ? 0 : only ? one_holds(only, "only", asked, e) : 1;
        if (left_out == 0 && in == 1)
            c->kept[kept++] = i;
        json_decref(choice);
    }
    c->count = kept;
    return left_out < 0 || in < 0 ? -1 : 0;
}

static int check_conditions(const json_t *conditions, const char *key, struct error *e)
{
    size_t i;
    json_t *condition;
    if (conditions && json_array_size(conditions) == 0)
        return error_set(e, "sweep.%s: expected a list of conditions such as [{\"PATH\": \">= 64KiB\"}]",
                         key);
    json_array_foreach(conditions, i, condition)
    {
        if (json_object_size(condition) == 0)
            return error_set(e, "sweep.%s[%zu]: expected a condition such as {\"PATH\": \">= 64KiB\"}", key,
                             i);
    }
    return 0;
}

/* A path that matches nothing is a slip: its condition says nothing. */
static int check_seen(const json_t *conditions, const char *key, const json_t *seen, struct error *e)
{
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        const char *path;
        json_t *wanted;
        json_object_foreach(json_array_get(conditions, i), path, wanted)
        {
            if (!json_object_get(seen, path))
                return error_set(e, "sweep.%s[%zu]: nothing in the scenario as it is written matches %.100s",
                                 key, i, path);
        }
    }
    return 0;
}

static int choose(struct choices *c, const json_t *sweep, choices_values values_at, const void *context,
                  struct error *e)
{
    const json_t *except = json_object_get(sweep, "except"), *only = json_object_get(sweep, "only");
    struct asked asked = {.values_at = values_at, .context = context};
    if (!except && !only)
        return 0;
    if (check_conditions(except, "except", e) != 0 || check_conditions(only, "only", e) != 0)
        return -1;
    size_t combinations = c->count;
    asked.seen = json_object();
    int result = keep(c, except, only, &asked, e);
    if (result == 0 &&
        (check_seen(except, "except", asked.seen, e) != 0 || check_seen(only, "only", asked.seen, e) != 0))
        result = -1;
    if (result == 0 && c->count == 0)
        result = error_set(e, "sweep: except and only leave none of %zu combinations", combinations);
    json_decref(asked.seen);
    return result;
}

/* ---- all */

int choices_parse(const json_t *sweep, bool many, choices_values values_at, const void *context,
                  struct choices *choices, struct error *e)
{
    *choices = (struct choices){.lists = json_object()};
    if (take_axes(choices, sweep, e) == 0 && count_combinations(choices, many, e) == 0 &&
        choose(choices, sweep, values_at, context, e) == 0)
        return 0;
    choices_free(choices);
    return -1;
}

void choices_free(struct choices *choices)
{
    for (size_t i = 0; i < choices->axis_count; i++)
        json_decref(choices->axes[i].lists);
    free(choices->axes);
    free(choices->kept);
    json_decref(choices->lists);
    *choices = (struct choices){0};
}

json_t *choices_at(const struct choices *choices, size_t i)
{
    return combination(choices, choices->kept ? choices->kept[i] : i);
}
