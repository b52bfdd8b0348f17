/* The figures of repeated runs: mean, standard deviation and confidence interval of each, in memory that does not grow with the runs. */
#ifndef HARNESS_SPREADS_H
#define HARNESS_SPREADS_H

#include "lib/statistics/spread.h"
#include <jansson.h>

struct spread_figure;
struct spreads {
    struct spread_figure *figures; /* in the order in which they came first */
    size_t count, capacity;
    json_t *places; /* name -> index */
    size_t runs;
};

/* How many bytes a document may still take, as text and in memory. */
struct room {
    size_t text, memory;
};
/* What a value takes in a document that json_file_save writes, indented by so much. */
struct room room_of(const json_t *value, size_t indent);

/* The figures of one run's result (docs/result.md, repeated). -1: out of memory. A zeroed struct has none. */
int spreads_add_result(struct spreads *spreads, const json_t *result);
/* The spread of a figure; of none if there is no such figure. */
struct spread spreads_of(const struct spreads *spreads, const char *name);
/* {NAME: {"unit", "count", "mean", "stddev", "ci95"}}: the first ones, as many as there is room for; *left_out are not in it. A new
 * reference. */
json_t *spreads_json(const struct spreads *spreads, struct room room, size_t *left_out);
void spreads_free(struct spreads *spreads);

#endif
