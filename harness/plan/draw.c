#include "harness/plan/draw.h"
#include "harness/plan/sweep_values.h"
#include "lib/document/table.h"
#include "lib/random.h"
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define BELOW_ONE (1 - DBL_EPSILON) /* a quotient may be rounded to 1 */

static const char *const methods[] = {"random", "latin-hypercube", NULL};
enum method { RANDOM, LATIN_HYPERCUBE };

struct written {
    int64_t count, seed;
    int method;
    json_t *over;
};

#define AT(member) .offset = offsetof(struct written, member)
static const struct field fields[] = {
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
static const struct table draw_table = {"draw", "Samples of ranges.", sizeof(struct written), fields, NULL};

/* A number from 0 to below `count`. */
static size_t below(struct random *random, size_t count)
{
    return (size_t)(random_unit(random) * (double)count);
}

/* The strata in random order (Fisher and Yates). */
static void shuffle(struct random *random, size_t *strata, size_t count)
{
    for (size_t i = 0; i < count; i++)
        strata[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t k = below(random, i), other = strata[k];
        strata[k] = strata[i - 1];
        strata[i - 1] = other;
    }
}

static json_t *draw_path(const struct written *w, const json_t *range_json, struct random *random,
                         struct error *e)
{
    size_t count = (size_t)w->count;
    struct sweep_range range;
    if (sweep_range_parse(range_json, &range, e) != 0)
        return NULL;
    size_t *strata = calloc(count, sizeof *strata);
    json_t *values = strata ? json_array() : NULL;
    if (!values)
        error_set(e, "out of memory");
    if (strata && w->method == LATIN_HYPERCUBE)
        shuffle(random, strata, count);
    for (size_t i = 0; values && i < count; i++) {
        double at = random_unit(random);
        if (w->method == LATIN_HYPERCUBE)
            at = ((double)strata[i] + at) / (double)count;
        json_array_append_new(values, sweep_range_at(&range, fmin(at, BELOW_ONE), count));
    }
    free(strata);
    return values;
}

static int draw_all(const struct written *w, json_t *lists, struct error *e)
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
    return 0;
}

json_t *draw(const json_t *written, struct error *e)
{
    struct written w;
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
