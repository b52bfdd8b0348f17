/* Rows of an export on their way to its sink, and what all parts of an export share. */
#ifndef REPORTS_EXPORT_ROWS_H
#define REPORTS_EXPORT_ROWS_H

#include "reports/export/sink.h"
#include "reports/results/run.h"
#include <jansson.h>

/* What a first reading finds, before anything is written. */
struct survey {
    struct surveyed {
        int64_t samples;
        bool changes;
    } * series; /* by number, from 1 */
    size_t count, capacity;
    int64_t runs, samples, bytes; /* to be written; bytes about */
    int64_t constants;            /* series with more than two samples, all the same */
};

struct rows {
    const struct export_sink_kind *kind; /* NULL: the first reading */
    struct export_sink *sink;
    struct survey *survey;
    enum export_format format;
    uint32_t wanted;         /* tables, a bit each */
    struct run *run;         /* that is being exported */
    int64_t number;          /* its, from 1 */
    int64_t series, samples; /* up to now */
    int64_t told_ns;         /* when progress was shown last */
};

struct export_value export_integer(int64_t value);
struct export_value export_real(double value);     /* NAN: unknown */
struct export_value export_text(const char *text); /* NULL: unknown */

bool rows_wanted(const struct rows *rows, enum export_table table);

/*
 * A row: the first `count` columns from `given`, the others from `object` by their keys. A value of another
 * type than its column's is unknown. Rows of a table that is not wanted are none.
 */
int rows_add(struct rows *rows, enum export_table table, const struct export_value *given, size_t count,
             const json_t *object, struct error *e);

/* A row for each number, text, true, false and null in the value; `given` comes before the path and the
 * value. Lists of numbers and texts alone are one value. */
int rows_add_leaves(struct rows *rows, enum export_table table, const struct export_value *given,
                    size_t count, const json_t *value, struct error *e);

/* Say how far it is, every few seconds. */
void rows_tell(struct rows *rows);

/* facts.c: what result.json and settings.json say of the run. */
int export_facts(struct rows *rows, struct error *e);
/* lines.c: samples, intervals and pauses. */
int export_lines(struct rows *rows, struct error *e);

#endif
