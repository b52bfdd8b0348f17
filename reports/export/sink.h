/* Where the rows of an export go: a database, or a folder of CSV files. */
#ifndef REPORTS_EXPORT_SINK_H
#define REPORTS_EXPORT_SINK_H

#include "lib/error.h"
#include "lib/folder/folder.h"
#include "reports/export/tables.h"
#include <stdbool.h>
#include <stdint.h>

struct export_value {
    enum export_kind kind; /* of what it holds; not EXPORT_ANY */
    bool known;            /* else it is NULL, or an empty field */
    int64_t integer;
    double real;
    const char *text; /* any bytes */
};

struct export_series {
    int64_t number, run;
    const char *host, *counter;
    int64_t count;                /* of its samples up to now */
    int64_t time_ns, first, last; /* of the last one, and values */
    bool changes;
};

struct export_sink;
struct export_sink_kind {
    /* Begin `name` in the folder, under another name; `wanted` has a bit for each table. */
    struct export_sink *(*open)(const struct folder *folder, const char *name, uint32_t wanted,
                                struct error *e);
    /* `values` by column. Not for samples. */
    int (*row)(struct export_sink *sink, enum export_table table, const struct export_value *values,
               struct error *e);
    int (*sample)(struct export_sink *sink, const struct export_series *series, int64_t time_ns,
                  int64_t value, struct error *e);
    /* All is written: give it its name, in the place of what has that name if `replace`. */
    int (*finish)(struct export_sink *sink, bool replace, struct error *e);
    /* Remove what was not finished, and free. */
    void (*close)(struct export_sink *sink);
};

/* The user_version of a database, as a byte. */
#define EXPORT_SQLITE_VERSION "\1"

extern const struct export_sink_kind export_csv, export_sqlite;

#endif
