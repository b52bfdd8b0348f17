#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/log.h"
#include "reports/export/export.h"
#include "lib/text.h"
#include <inttypes.h>
#include <string.h>

struct export_arguments {
    int format;
    const char *out;
    const char *tables;
    int force;
    int yes;
};

static const char *const formats[] = {[EXPORT_SQLITE] = "sqlite", [EXPORT_CSV] = "csv", NULL};

static const struct field fields[] = {
    {.name = "format",
     .kind = FIELD_CHOICE,
     .offset = offsetof(struct export_arguments, format),
     .choices = formats,
     .fallback = "\"sqlite\"",
     .help = "A database of SQLite 3, or a folder with a CSV file for each table."},
    {.name = "out",
     .letter = 'o',
     .kind = FIELD_STRING,
     .offset = offsetof(struct export_arguments, out),
     .argument = "PATH",
     .help = "The file or folder to write (otherwise export.sqlite or export-csv/ in the result). Needed for "
             "several results."},
    {.name = "tables",
     .kind = FIELD_STRING,
     .offset = offsetof(struct export_arguments, tables),
     .argument = "LIST",
     .help =
         "Only these tables, with commas between them, and runs and columns. Without samples and series an "
         "export is small."},
    {.name = "force",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct export_arguments, force),
     .help = "Replace an export that exists."},
    {.name = "yes",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct export_arguments, yes),
     .help = "Write an export of more than 1 GB."},
    {0},
};
static const struct table options = {
    .name = "export", .size = sizeof(struct export_arguments), .fields = fields};

/* "--out x.csv" without a format would be a database called x.csv. */
static bool ends_in_csv(const char *path)
{
    size_t length = path ? strlen(path) : 0;
    return length > 4 && strcmp(path + length - 4, ".csv") == 0;
}

static int run_export(const struct call *call)
{
    const struct export_arguments *said = call->options;
    const struct export_options how = {(enum export_format)said->format, said->out, said->tables,
                                       said->force == 1, said->yes == 1};
    struct export_made made;
    struct error e;
    if (ends_in_csv(said->out)) {
        log_error("--out: %s: %s", said->out,
                  how.format == EXPORT_CSV
                      ? "CSV files are several, in a folder: give the folder's name"
                      : "a database is not a CSV file: --format=csv writes a folder of them");
        return EXIT_USAGE;
    }
    int result = export_results(call->arguments, call->count, &how, &made, &e), status = EXIT_USAGE;
    if (result == 0) {
        status = damaged_warn(&made.damaged) ? EXIT_FAILED : EXIT_DONE;
        print_out_line("%s", text_string(&made.path));
        log_info("%" PRId64 " %s, %" PRId64 " %s", made.runs, THINGS(made.runs, "run"), made.samples,
                 THINGS(made.samples, "sample"));
        if (made.constants)
            log_info("%" PRId64 " of %" PRId64
                     " counters and gauges never change: of their samples, the first and "
                     "the last are there",
                     made.constants, made.series);
        if (made.again)
            log_info("%zu %s named more than once, and exported once", made.again,
                     made.again == 1 ? "result was" : "results were");
    } else {
        log_error("%s", e.text);
    }
    export_made_free(&made);
    return status;
}

const struct command command_export = {
    .name = "export",
    .arguments = "RESULT...",
    .about = "Write results as a SQLite database or as CSV files.",
    .options = &options,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_export,
};
