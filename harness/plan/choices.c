/*
 * The "sweep" of a scenario: ranges and samples as lists of values, and the combinations of all lists, by
 * their number.
 */
#include "harness/plan/choices.h"

#include "harness/plan/condition.h"
#include "harness/plan/value_range.h"
#include "lib/document/json_text.h"
#include "lib/document/table.h"
#include "lib/random.h"
#include "lib/text.h"
#include "lib/units.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- draws */

static const char *const methods[] = {"random", "latin-hypercube", NULL};
enum method { METHOD_RANDOM, METHOD_LATIN_HYPERCUBE };

struct written_draw {
    int64_t count, seed;
    int method;
    json_t *over;
};

#define AT(member) .offset = offsetof(struct written_draw, member)
static const struct field draw_fields[] = {
    {"count", FIELD_INTEGER, AT(count), .min = 1, .max = SWEEP_MOST_VALUES, .required = true,
     .help = "So many samples."},
    {"method", FIELD_CHOICE, AT(method), .choices = methods, .fallback = "\"latin-hypercube\"",
     .help = "How they are drawn."},
    {"seed", FIELD_INTEGER, AT(seed), .min = 0, .max = INT64_MAX, .fallback = "1",
     .help = "Another seed, other samples."},
    {"over", FIELD_JSON, AT(over), .required = true,
     .help =
         "Map of path to a list, or to {\"from\": VALUE, \"to\": VALUE, \"scale\": \"linear\" or \"log\"}."},
    {0},
};
#undef AT
static const struct table draw_table = {"draw", "Samples of ranges.", sizeof(struct written_draw),
                                        draw_fields, NULL};

/* The strata in random order (Fisher and Yates). */
static void shuffle_strata(struct random *random, size_t *strata, size_t count)
{
    for (size_t i = 0; i < count; i++)
        strata[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t k = random_below(random, i), other = strata[k];
        strata[k] = strata[i - 1];
        strata[i - 1] = other;
    }
}

static json_t *draw_path(const struct written_draw *w, const json_t *range_json, struct random *random,
                         struct error *e)
{
    size_t count = (size_t)w->count;
    struct value_range range;
    if (value_range_parse(range_json, &range, e) != 0)
        return NULL;
    size_t *strata = calloc(count, sizeof *strata);
    json_t *values = strata ? json_array() : NULL;
    if (!values)
        error_set(e, "out of memory");
    if (strata && w->method == METHOD_LATIN_HYPERCUBE)
        shuffle_strata(random, strata, count);
    for (size_t i = 0; values && i < count; i++) {
        double at = random_unit(random);
        if (w->method == METHOD_LATIN_HYPERCUBE)
            at = ((double)strata[i] + at) / (double)count;
        json_array_append_new(values, value_range_at(&range, at, count));
    }
    free(strata);
    return values;
}

/* Value `i` of each path, as one text. The caller frees it. */
static char *values_of(const json_t *lists, size_t i)
{
    struct text words = {0};
    const char *path;
    json_t *values;
    json_object_foreach((json_t *)(uintptr_t)lists, path, values)
    {
        json_add_canonical(json_array_get(values, i), &words);
        text_add(&words, "\n");
    }
    return text_take(&words);
}

/* How often a sample that is there already is drawn again: of ranges that have twice as many samples as are
 * asked for, nearly all then come. */
#define MOST_TRIES 1000

static int draw_again(const struct written_draw *w, json_t *lists, size_t i, struct random *random,
                      struct error *e)
{
    const char *path;
    json_t *range_json;
    json_object_foreach(w->over, path, range_json)
    {
        struct value_range range;
        if (value_range_parse(range_json, &range, e) != 0)
            return -1;
        json_array_set_new(json_object_get(lists, path), i,
                           value_range_at(&range, random_unit(random), (size_t)w->count));
    }
    return 0;
}

/* A sample that came before, as those of few whole numbers do, gives way to another one. */
static int draw_others(const struct written_draw *w, json_t *lists, struct random *random, struct error *e)
{
    json_t *seen = json_object();
    int result = 0;
    for (size_t i = 0; result == 0 && i < (size_t)w->count; i++) {
        char *key = values_of(lists, i);
        for (size_t tries = 0; result == 0 && key && json_object_get(seen, key); tries++) {
            if (tries == MOST_TRIES)
                result = error_set(
                    e,
                    "count: %lld samples are wanted, and no more than %zu different ones were found "
                    "in the ranges: lower it, or widen them",
                    (long long)w->count, i);
            else
                result = draw_again(w, lists, i, random, e);
            free(key);
            key = result == 0 ? values_of(lists, i) : NULL;
        }
        if (result == 0 && (!key || json_put(seen, key, json_true()) != 0))
            result = error_set(e, "out of memory");
        free(key);
    }
    json_decref(seen);
    return result;
}

static int draw_all(const struct written_draw *w, json_t *lists, struct error *e)
{
    struct random random;
    const char *path;
    json_t *range;
    if (json_object_size(w->over) == 0)
        return error_set(e, "over: expected an object such as {\"PATH\": {\"from\": VALUE, \"to\": VALUE}}");
    random_seed(&random, (uint64_t)w->seed);
    json_object_foreach(w->over, path, range)
    {
        json_t *values = draw_path(w, range, &random, e);
        if (!values)
            return error_prefix(e, "over.%.100s", path);
        json_object_set_new(lists, path, values);
    }
    return draw_others(w, lists, &random, e);
}

json_t *sweep_draw(const json_t *written, struct error *e)
{
    struct written_draw w;
    json_t *lists = json_object();
    if (!json_is_object(written)) {
        error_set(e, "expected an object such as {\"count\": 20, \"seed\": 1, \"over\": {\"PATH\": RANGE}}");
    } else if (table_parse(&draw_table, written, &w, e) == 0) {
        int result = draw_all(&w, lists, e);
        table_free(&draw_table, &w);
        if (result == 0)
            return lists;
    }
    json_decref(lists);
    return NULL;
}

/* ---- the words of a sweep */

/* Words of a sweep that are not paths: no key of a scenario has these names. */
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

/* ---- values that make identical cells */

static int refuse_repeated(const json_t *lists, size_t first, size_t again, struct error *e)
{
    const char *path = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)lists));
    const json_t *values = json_object_get(lists, path);
    char *one = json_shown(json_array_get(values, first)), *other = json_shown(json_array_get(values, again));
    error_set(
        e,
        "%.100s: value %zu, %.60s, is value %zu, %.60s, again: their cells would be identical (--repeat runs "
        "each cell several times)",
        path, again + 1, other ? other : "?", first + 1, one ? one : "?");
    free(one);
    free(other);
    return -1;
}

/* Samples of a draw are not the same; of a zip all values together count. */
static int check_repeated(const json_t *lists, size_t count, struct error *e)
{
    json_t *seen = json_object();
    int result = 0;
    for (size_t i = 0; result == 0 && i < count; i++) {
        char *key = values_of(lists, i);
        const json_t *before = key ? json_object_get(seen, key) : NULL;
        if (before)
            result = refuse_repeated(lists, (size_t)json_integer_value(before), i, e);
        else if (!key || json_put(seen, key, json_integer((json_int_t)i)) != 0)
            result = error_set(e, "out of memory");
        free(key);
    }
    json_decref(seen);
    return result;
}

/* Value `value` of one path; of each other that comes before `end` (NULL: all) the first value. `last`: put
 * the path behind all others. `value` SIZE_MAX: without the path. */
static json_t *choice_with(const struct choices *c, const char *which, size_t value, const char *end,
                           bool last)
{
    json_t *choice = json_object(), *values;
    const char *path;
    json_object_foreach(c->lists, path, values)
    {
        if (end && strcmp(path, end) == 0)
            break;
        if (strcmp(path, which) != 0)
            json_object_set(choice, path, json_array_get(values, 0));
        else if (!last && value != SIZE_MAX)
            json_object_set(choice, path, json_array_get(values, value));
    }
    if (last)
        json_object_set(choice, which, json_array_get(json_object_get(c->lists, which), value));
    return choice;
}

struct documents {
    const struct choices *choices;
    choices_document of;
    const void *context;
};

/* Takes both over. */
static bool make_same(const struct documents *d, json_t *one, json_t *other)
{
    json_t *a = d->of(d->context, one), *b = d->of(d->context, other);
    bool same = json_equal(a, b);
    json_decref(a);
    json_decref(b);
    json_decref(one);
    json_decref(other);
    return same;
}

/* Do values of a path change nothing where they stand, of those that would behind the paths before `end`? */
static bool is_overwritten(const struct documents *d, const char *path, const char *end)
{
    const struct choices *c = d->choices;
    size_t count = json_array_size(json_object_get(c->lists, path));
    bool would = false;
    for (size_t i = 0; i < count; i++) {
        if (!make_same(d, choice_with(c, path, i, end, false), choice_with(c, path, SIZE_MAX, end, false)))
            return false;
        would = would ||
                !make_same(d, choice_with(c, path, i, end, true), choice_with(c, path, SIZE_MAX, end, false));
    }
    return would;
}

int choices_check_effects(const struct choices *c, choices_document document_of, const void *context,
                          struct error *e)
{
    const struct documents d = {c, document_of, context};
    const char *path;
    json_t *values;
    json_object_foreach(c->lists, path, values)
    {
        void *by = json_object_iter_at(c->lists, path), *next = json_object_iter_next(c->lists, by);
        if (!next) /* nothing comes after the last */
            break;
        if (!is_overwritten(&d, path, NULL))
            continue;
        do {
            by = next;
            next = json_object_iter_next(c->lists, by);
        } while (next && !is_overwritten(&d, path, json_object_iter_key(next)));
        return error_set(e, "sweep: %.100s changes nothing: %.100s, later in the sweep, sets it again", path,
                         json_object_iter_key(by));
    }
    return 0;
}

/* Are they numbers, quantities of one unit, or words, so that other text is another value? */
static bool are_of_one_kind(const json_t *values)
{
    enum unit first = UNIT_COUNT;
    json_t *value;
    size_t i;
    json_array_foreach(values, i, value)
    {
        enum unit unit = UNIT_COUNT;
        int64_t number;
        if (json_is_string(value) && !units_find(json_string_value(value), &unit, &number))
            unit = UNIT_COUNT;
        first = i == 0 ? unit : first;
        bool numbers = json_is_number(value) && json_is_number(json_array_get(values, 0));
        if (!numbers && (json_typeof(value) != json_typeof(json_array_get(values, 0)) || unit != first ||
                         json_is_object(value) || json_is_array(value)))
            return false;
    }
    return true;
}

/* Is a value of the axis, when it is read, an earlier one? */
static int check_same_of(const struct documents *d, const struct axis *axis, struct error *e)
{
    json_t *seen = json_object(), *values;
    int result = 0;
    for (size_t i = 0; result == 0 && i < axis->count; i++) {
        json_t *choice = json_copy(d->choices->lists);
        const char *path;
        json_object_foreach(d->choices->lists, path, values)
        {
            json_object_set(choice, path, json_array_get(values, json_object_get(axis->lists, path) ? i : 0));
        }
        json_t *parsed = d->of(d->context, choice);
        char *key = parsed ? json_dumps(parsed, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        const json_t *before = key ? json_object_get(seen, key) : NULL;
        if (before)
            result = refuse_repeated(axis->lists, (size_t)json_integer_value(before), i, e);
        else if (key)
            json_object_set_new(seen, key, json_integer((json_int_t)i));
        free(key);
        json_decref(parsed);
        json_decref(choice);
    }
    json_decref(seen);
    return result;
}

int choices_check_same(const struct choices *c, choices_document parsed_of, const void *context,
                       struct error *e)
{
    const struct documents d = {c, parsed_of, context};
    for (size_t k = 0; k < c->axis_count; k++) {
        const char *path;
        json_t *values;
        bool plain = true;
        json_object_foreach(c->axes[k].lists, path, values)
        {
            plain = plain && are_of_one_kind(values);
        }
        if (!plain && !c->axes[k].drawn && c->axes[k].count > 1 && check_same_of(&d, &c->axes[k], e) != 0)
            return error_prefix(e, "sweep");
    }
    return 0;
}

/* ---- axes, which are combined */

/* Takes `lists`. `drawn`: by chance, so a path's values may come again. */
static int add_axis(struct choices *c, json_t *lists, bool drawn, struct error *e)
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
    *axis = (struct axis){.lists = lists, .drawn = drawn};
    json_object_foreach(lists, path, values)
    {
        axis->count = json_array_size(values);
        if (json_object_get(c->lists, path))
            return error_set(e, "%.100s: the sweep has this path twice", path);
        if (json_object_set(c->lists, path, values) != 0)
            return error_set(e, "out of memory");
    }
    return drawn ? 0 : check_repeated(lists, axis->count, e);
}

static int add_path(struct choices *c, const char *path, const json_t *written, struct error *e)
{
    json_t *values = sweep_values(written, e), *lists = values ? json_object() : NULL;
    if (!values)
        return error_prefix(e, "sweep.%.100s", path);
    if (lists)
        json_object_set(lists, path, values);
    json_decref(values);
    return add_axis(c, lists, false, e) == 0 ? 0 : error_prefix(e, "sweep");
}

/* The lists of paths that go together. */
static json_t *read_zip(const json_t *group, struct error *e)
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
            error_set(
                e,
                "%.100s has %zu values and %.100s has %zu: paths that go together need equally many values",
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
        json_t *lists = read_zip(group, e);
        if (!lists || add_axis(c, lists, false, e) != 0)
            return error_prefix(e, "sweep.zip[%zu]", i);
    }
    return 0;
}

static int add_draw(struct choices *c, const json_t *written, struct error *e)
{
    json_t *lists = sweep_draw(written, e);
    return lists && add_axis(c, lists, true, e) == 0 ? 0 : error_prefix(e, "sweep.draw");
}

static int add_axes(struct choices *c, const json_t *sweep, struct error *e)
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
static json_t *combination_at(const struct choices *choices, size_t i)
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

struct lookup {
    const struct choice_conditions *conditions;
    const json_t *choice;
};

static json_t *values_of_choice(const void *context, const char *path)
{
    const struct lookup *lookup = context;
    const struct choice_conditions *c = lookup->conditions;
    json_t *chosen = json_object_get(lookup->choice, path);
    json_t *values = chosen ? json_make("[O]", chosen) : c->values_at(c->context, lookup->choice, path);
    if (json_array_size(values))
        json_object_set_new(c->seen, path, json_true());
    return values;
}

/* "except[0] settings.ecn" */
static void place_of(struct text *place, const char *key, size_t i, const char *path)
{
    text_clear(place);
    text_add(place, "%s[%zu]: %.100s", key, i, path);
}

#define SHOWN_VALUES 6

/* A condition compares what is at a path with a value: count here whether it matched, and keep some of the
 * values found there. */
static void note_met(const struct lookup *lookup, const char *place, const char *path, bool met)
{
    json_t *seen = json_object_get(lookup->conditions->met, place), *values, *value, *of;
    size_t i;
    if (!seen) {
        seen = json_make("{s:b,s:b,s:{}}", "met", false, "missed", false, "values");
        json_object_set_new(lookup->conditions->met, place, seen);
    }
    json_object_set_new(seen, met ? "met" : "missed", json_true());
    of = json_object_get(seen, "values");
    values = json_object_size(of) < SHOWN_VALUES ? values_of_choice(lookup, path) : NULL;
    json_array_foreach(values, i, value)
    {
        char *shown = json_shown(value);
        json_object_set_new(of, shown ? shown : "?", json_true());
        free(shown);
    }
    json_decref(values);
}

/* Does condition i of the key hold? For each of its values, whether it matched is counted. */
static int one_holds(const json_t *condition, const char *key, size_t i, const struct lookup *lookup,
                     struct error *e)
{
    const char *path;
    json_t *wanted;
    struct text place = {0};
    int holds = 1;
    json_object_foreach((json_t *)(uintptr_t)condition, path, wanted)
    {
        json_t *alone = json_make("{s:O}", path, wanted);
        int one = condition_holds(alone, values_of_choice, lookup, e);
        json_decref(alone);
        holds = one < 0 ? -1 : holds & one;
        if (one < 0)
            break;
        place_of(&place, key, i, path);
        if (lookup->conditions->met)
            note_met(lookup, text_string(&place), path, one);
    }
    text_free(&place);
    return holds;
}

/* Does one of the conditions hold? */
static int any_holds(const json_t *conditions, const char *key, const struct lookup *lookup, struct error *e)
{
    int holds = 0;
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        int one = one_holds(json_array_get(conditions, i), key, i, lookup, e);
        if (one < 0)
            return error_prefix(e, "%s.%s[%zu]", lookup->conditions->of, key, i);
        holds |= one;
    }
    return holds;
}

int conditions_admit(const struct choice_conditions *c, const json_t *choice, struct error *e)
{
    const struct lookup lookup = {c, choice};
    int left_out = any_holds(c->except, "except", &lookup, e),
        in = left_out < 0 ? -1
             : c->only    ? any_holds(c->only, "only", &lookup, e)
                          : 1;
    return in < 0 ? -1 : in && !left_out;
}

static int check_list(const struct choice_conditions *c, const json_t *list, const char *key, struct error *e)
{
    size_t i;
    json_t *condition;
    if (list && json_array_size(list) == 0)
        return error_set(e, "%s.%s: expected a list of conditions such as [{\"PATH\": \">= 64KiB\"}]", c->of,
                         key);
    json_array_foreach(list, i, condition)
    {
        if (json_object_size(condition) == 0)
            return error_set(e, "%s.%s[%zu]: expected a condition such as {\"PATH\": \">= 64KiB\"}", c->of,
                             key, i);
    }
    return 0;
}

int conditions_check(const struct choice_conditions *c, struct error *e)
{
    return check_list(c, c->except, "except", e) == 0 ? check_list(c, c->only, "only", e) : -1;
}

static int check_seen(const struct choice_conditions *c, const json_t *list, const char *key, struct error *e)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *path;
        json_t *wanted;
        json_object_foreach(json_array_get(list, i), path, wanted)
        {
            if (!json_object_get(c->seen, path))
                return error_set(e, "%s.%s[%zu]: nothing in the scenario as it is written matches %.100s",
                                 c->of, key, i, path);
        }
    }
    return 0;
}

int conditions_check_seen(const struct choice_conditions *c, struct error *e)
{
    return check_seen(c, c->except, "except", e) == 0 ? check_seen(c, c->only, "only", e) : -1;
}

/* A value that no combination has is a slip, and so is one that none has not: "!= gpuu". */
static int check_met(const struct choice_conditions *c, const json_t *list, const char *key, struct error *e)
{
    const char *path, *value;
    json_t *wanted, *is;
    struct text place = {0}, values = {0};
    for (size_t i = 0; i < json_array_size(list); i++)
        json_object_foreach(json_array_get(list, i), path, wanted)
        {
            place_of(&place, key, i, path);
            json_t *seen = json_object_get(c->met, text_string(&place));
            const char *text = json_string_value(wanted);
            bool never = seen && json_is_false(json_object_get(seen, "met")),
                 always = seen && json_is_false(json_object_get(seen, "missed")) && text &&
                          strncmp(text, "!=", 2) == 0;
            if (!never && !always)
                continue;
            json_object_foreach(json_object_get(seen, "values"), value, is)
            {
                text_add(&values, "%s%.80s", values.length ? ", " : "", value);
            }
            char *shown = json_shown(wanted);
            error_set(e, "%s.%s is %.80s in %s combination: it is %s", c->of, text_string(&place),
                      shown ? shown : "?", never ? "no" : "every", text_string(&values));
            free(shown);
            text_free(&values);
            text_free(&place);
            return -1;
        }
    text_free(&place);
    return 0;
}

int conditions_check_met(const struct choice_conditions *c, struct error *e)
{
    return check_met(c, c->except, "except", e) == 0 ? check_met(c, c->only, "only", e) : -1;
}

static int keep_combinations(struct choices *c, const struct choice_conditions *conditions, struct error *e)
{
    size_t kept = 0;
    int admitted = 0;
    c->kept = calloc(c->count, sizeof *c->kept);
    if (!c->kept)
        return error_set(e, "out of memory");
    for (size_t i = 0; admitted >= 0 && i < c->count; i++) {
        json_t *choice = combination_at(c, i);
        admitted = conditions_admit(conditions, choice, e);
        if (admitted == 1)
            c->kept[kept++] = i;
        json_decref(choice);
    }
    c->count = kept;
    return admitted < 0 ? -1 : 0;
}

static int choose_combinations(struct choices *c, const json_t *sweep, bool as_written,
                               choices_values values_at, const void *context, struct error *e)
{
    struct choice_conditions conditions = {.of = "sweep",
                                           .except = json_object_get(sweep, "except"),
                                           .only = json_object_get(sweep, "only"),
                                           .values_at = values_at,
                                           .context = context};
    if (!conditions.except && !conditions.only)
        return 0;
    if (conditions_check(&conditions, e) != 0)
        return -1;
    size_t combinations = c->count;
    conditions.seen = json_object();
    conditions.met = as_written ? json_object() : NULL;
    int result = keep_combinations(c, &conditions, e);
    if (result == 0)
        result = conditions_check_seen(&conditions, e);
    if (result == 0 && as_written)
        result = conditions_check_met(&conditions, e);
    if (result == 0 && c->count == 0)
        result = error_set(e, "sweep: except and only leave none of %zu combinations", combinations);
    json_decref(conditions.seen);
    json_decref(conditions.met);
    return result;
}

/* ---- the whole sweep */

int choices_parse(const json_t *sweep, bool many, bool as_written, choices_values values_at,
                  const void *context, struct choices *choices, struct error *e)
{
    *choices = (struct choices){.lists = json_object()};
    if (add_axes(choices, sweep, e) == 0 && count_combinations(choices, many, e) == 0 &&
        choose_combinations(choices, sweep, as_written, values_at, context, e) == 0)
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
    return combination_at(choices, choices->kept ? choices->kept[i] : i);
}
