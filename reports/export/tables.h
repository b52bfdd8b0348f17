/* The tables of an export, a row each: what the database and the files have, and the table "columns" says. */
#ifndef REPORTS_EXPORT_TABLES_H
#define REPORTS_EXPORT_TABLES_H

#include <stddef.h>

enum export_format { EXPORT_SQLITE, EXPORT_CSV };

enum export_kind {
    EXPORT_INTEGER, /* of 64 bits; true and false are 1 and 0 */
    EXPORT_REAL,    /* a number; whole ones stay whole in CSV */
    EXPORT_TEXT,
    EXPORT_ANY /* a value of a document: a number, or a text */
};

struct export_column {
    const char *name;
    enum export_kind kind;
    const char *unit; /* "": none, or that of the row's column "unit" */
    const char *meaning;
    const char *key; /* where the value stands in the row's JSON object ("latency_ns.p50"); NULL: it is given
                        otherwise */
};

enum export_table {
    EXPORT_RUNS,
    EXPORT_CHOICES,
    EXPORT_PHASES,
    EXPORT_HOSTS,
    EXPORT_COUNTERS,
    EXPORT_TOTALS,
    EXPORT_FLOWS,
    EXPORT_COLLECTIVES,
    EXPORT_COLLECTIVE_SIZES,
    EXPORT_JOBS,
    EXPORT_INTERVALS,
    EXPORT_PAUSES,
    EXPORT_SERIES,
    EXPORT_SAMPLES,
    EXPORT_SETTINGS,
    EXPORT_FACTS,
    EXPORT_SCENARIO,
    EXPORT_EXPECTATIONS,
    EXPORT_PUBLISHED,
    EXPORT_REPEATED,
    EXPORT_REPEATED_PUBLISHED,
    EXPORT_WARNINGS,
    EXPORT_COLUMNS,
    EXPORT_TABLES
};

#define EXPORT_MOST_COLUMNS 64

struct export_table_of {
    const char *name;
    const char *meaning;
    const struct export_column *columns; /* ended by one without a name */
};
extern const struct export_table_of export_tables[EXPORT_TABLES];

size_t export_column_count(enum export_table table);

#endif
