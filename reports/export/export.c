#include "reports/export/export.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/folder/fresh.h"
#include "lib/folder/output.h"
#include "lib/interrupt.h"
#include "lib/units.h"
#include "lib/folder/sweep_index.h"
#include "reports/export/rows.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_SQLITE "export.sqlite"
#define NAME_CSV    "export-csv"

void export_made_free(struct export_made *made)
{
    text_free(&made->path);
    damaged_free(&made->damaged);
}

/* ---- which tables */

static int table_named(const char *name, size_t length)
{
    for (int i = 0; i < EXPORT_TABLES; i++)
        if (strlen(export_tables[i].name) == length && strncmp(export_tables[i].name, name, length) == 0)
            return i;
    return -1;
}

static int unknown_table(const char *name, size_t length, struct error *e)
{
    struct text known = {0};
    for (int i = 0; i < EXPORT_TABLES; i++)
        text_add(&known, "%s%s", i ? ", " : "", export_tables[i].name);
    error_set(e, "--tables: \"%.*s\" is not a table: expected some of %s, with commas between them",
              (int)length, name, text_string(&known));
    text_free(&known);
    return -1;
}

/* Always with "runs", which says what the numbers of the others mean; samples have their names in
 * "series". */
static int choose_tables(const char *names, uint32_t *wanted, struct error *e)
{
    *wanted = names ? 1u << EXPORT_RUNS | 1u << EXPORT_COLUMNS : (1u << EXPORT_TABLES) - 1;
    for (size_t length; names && *names; names += length + (names[length] == ',')) {
        length = strcspn(names, ",");
        int table = table_named(names, length);
        if (table < 0)
            return unknown_table(names, length, e);
        *wanted |= 1u << table;
    }
    if (*wanted & 1u << EXPORT_SAMPLES)
        *wanted |= 1u << EXPORT_SERIES;
    return 0;
}

/* ---- results */

/* Folders of sweeps and runs that were exported. */
struct seen {
    json_t *folders;
    size_t again;
    struct damaged *damaged;
};

/* Was this folder exported before: named twice, perhaps through the link "latest", or as a run of a sweep? */
static bool seen_before(struct seen *seen, const struct folder *folder)
{
    struct stat status;
    char key[64];
    if (fstat(folder->fd, &status) != 0)
        return false;
    snprintf(key, sizeof key, "%jx %jx", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    bool before = json_object_get(seen->folders, key);
    json_object_set_new(seen->folders, key, json_true());
    seen->again += before;
    return before;
}

static int run_seen_before(struct seen *seen, const struct run *run, bool *before, struct error *e)
{
    struct folder folder;
    int result = run_open_folder(run, &folder, e);
    *before = result == 0 && seen_before(seen, &folder);
    folder_close(&folder);
    return result;
}

/* `judged`: of the cell's sweep (sweep_index_judged); a run that was named alone looks for its own. */
static int add_run(struct rows *rows, const char *result, const char *cell, const json_t *judged,
                   struct seen *seen, struct error *e)
{
    struct run run;
    bool before = false;
    int done = run_load(&run, result, cell, e);
    if (done == 0 && cell)
        run_note_judged(&run, result, judged, cell);
    else if (done == 0)
        run_look_for_sweep(&run);
    if (done == 0)
        done = run_seen_before(seen, &run, &before, e);
    if (done == 0)
        done = interrupt_check(e);
    if (done == 0 && !before) {
        rows->run = &run;
        rows->number++;
        rows_tell(rows);
        done = export_lines(rows, e) != 0 ? -1 : export_facts(rows, e);
        damaged_add(seen->damaged, &run);
        rows->run = NULL;
    }
    run_free(&run);
    return done;
}

static int add_judged(struct rows *rows, enum export_table table, const struct export_value given[2],
                      const json_t *entries, struct error *e)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(entries, i, entry)
    {
        if (json_is_object(entry) && rows_add(rows, table, given, 2, entry, e) != 0)
            return -1;
    }
    return 0;
}

static int add_repeated(struct rows *rows, const char *result, const json_t *index, struct error *e)
{
    const json_t *cell;
    size_t i;
    json_array_foreach(json_object_get(index, "repeated"), i, cell)
    {
        char *choices = json_shown(json_object_get(cell, "cell"));
        const struct export_value given[] = {export_text(result), export_text(choices)};
        int done =
            add_judged(rows, EXPORT_REPEATED, given, json_object_get(cell, "expectations"), e) != 0 ||
            add_judged(rows, EXPORT_REPEATED_PUBLISHED, given, json_object_get(cell, "published"), e) != 0;
        free(choices);
        if (done)
            return -1;
    }
    return 0;
}

static int add_cells(struct rows *rows, const char *result, const json_t *index, struct seen *seen,
                     struct error *e)
{
    json_t *taken = json_object();
    const json_t *cell;
    size_t i;
    int done = 0;
    json_array_foreach(json_object_get(index, "cells"), i, cell)
    {
        const char *name = run_cell_folder(cell, taken);
        done = name ? add_run(rows, result, name, json_object_get(index, "repeated"), seen, e)
                    : error_set(e, "%s: the index: cell %zu does not name a folder of its own", result, i);
        if (done != 0)
            break;
    }
    json_decref(taken);
    if (done == 0)
        done = add_repeated(rows, result, index, e);
    return done != 0 || i ? done : error_set(e, "there is no finished run in %s", result);
}

static int add_result(struct rows *rows, const char *result, struct seen *seen, struct error *e)
{
    struct folder folder;
    json_t *index = NULL;
    if (folder_open(&folder, result, e) != 0) {
        folder_close(&folder);
        return error_prefix(e, "%s is not a result", result);
    }
    bool is_sweep = sweep_index_exists(&folder), before = is_sweep && seen_before(seen, &folder);
    int done = is_sweep && !before && !(index = sweep_index_load(&folder, e)) ? -1 : 0;
    folder_close(&folder);
    damaged_add_left_out(seen->damaged, index);
    if (done == 0 && !before)
        done =
            is_sweep ? add_cells(rows, result, index, seen, e) : add_run(rows, result, NULL, NULL, seen, e);
    json_decref(index);
    return done;
}

static int add_columns(struct rows *rows, struct error *e)
{
    for (int i = 0; i < EXPORT_TABLES; i++) {
        for (const struct export_column *c = export_tables[i].columns;
             rows_wanted(rows, (enum export_table)i) && c->name; c++) {
            const struct export_value given[] = {export_text(export_tables[i].name), export_text(c->name),
                                                 export_text(*c->unit ? c->unit : NULL),
                                                 export_text(*c->meaning ? c->meaning : NULL)};
            if (rows_add(rows, EXPORT_COLUMNS, given, 4, NULL, e) != 0)
                return -1;
        }
    }
    return 0;
}

static int add_all(struct rows *rows, const char *const *results, size_t count, struct export_made *made,
                   struct error *e)
{
    struct seen seen = {.folders = json_object(), .damaged = &made->damaged};
    int done = add_columns(rows, e);
    for (size_t i = 0; done == 0 && i < count; i++)
        done = add_result(rows, results[i], &seen, e);
    json_decref(seen.folders);
    made->again = seen.again;
    made->runs = rows->number;
    made->samples = rows->samples;
    return done;
}

/* ---- where to */

/* The name at the end of --out, and the folder before it. */
static int open_named(const struct export_options *options, struct folder *folder, char **name,
                      struct error *e)
{
    size_t length = strlen(options->out);
    while (options->format == EXPORT_CSV && length > 1 && options->out[length - 1] == '/')
        length--;
    size_t begin = length;
    while (begin && options->out[begin - 1] != '/')
        begin--;
    *name = strndup(options->out + begin, length - begin);
    char *parent = begin ? strndup(options->out, begin > 1 ? begin - 1 : 1) : strdup(".");
    int result = -1;
    if (!*name || !parent)
        error_set(e, "out of memory for %s", options->out);
    else if (!**name || strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0)
        error_set(e, "--out: %s is a folder that exists: expected the name of a new one, or of a file",
                  options->out);
    else
        result = folder_open(folder, parent, e);
    free(parent);
    return result;
}

/* The folder and the name of the output. The caller frees the name. */
static int open_place(const char *const *results, size_t count, const struct export_options *options,
                      struct folder *folder, char **name, struct error *e)
{
    *folder = (struct folder){.fd = -1};
    *name = NULL;
    if (options->out)
        return open_named(options, folder, name, e);
    if (count != 1)
        return error_set(e, "several results are one export: --out says which file or folder it shall be");
    *name = strdup(options->format == EXPORT_CSV ? NAME_CSV : NAME_SQLITE);
    return *name ? folder_open(folder, results[0], e) : error_set(e, "out of memory");
}

/* What has the name now may stand there only if it can be replaced by what comes. */
static int check_free(const struct folder *folder, const char *name, const struct export_options *options,
                      struct error *e)
{
    struct stat status;
    if (fstatat(folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    bool is_folder = S_ISDIR(status.st_mode), wanted = options->format == EXPORT_CSV;
    if (options->replace && is_folder != wanted && (is_folder || S_ISREG(status.st_mode)))
        return error_set(e, "%s/%s is %sa folder, and would be replaced by %s: --out names another place",
                         folder->path, name, is_folder ? "" : "not ",
                         wanted ? "a folder of CSV files" : "a database");
    if (options->replace && is_folder)
        return 0;
    if (is_folder)
        return error_set(
            e, "%s/%s exists: --force replaces the files of tables in it, --out names another place",
            folder->path, name);
    const struct output output = {.what = "an export",
                                  .begins = "SQLite format 3",
                                  .length = sizeof "SQLite format 3",
                                  .also = "\0\0\0" EXPORT_SQLITE_VERSION,
                                  .also_at = 60, /* user_version: sqlite.org/fileformat2.html */
                                  .also_length = 4,
                                  .can_force = true,
                                  .force = options->replace};
    return output_check(folder, name, &output, e);
}

static int check_size(const struct survey *survey, const struct export_options *options, struct error *e)
{
    char size[32], most[32];
    if (survey->bytes <= EXPORT_LARGE_BYTES || options->large)
        return 0;
    units_write(UNIT_BYTES, survey->bytes / 100000000 * 100000000, UNITS_DECIMAL, size, sizeof size);
    units_write(UNIT_BYTES, EXPORT_LARGE_BYTES, UNITS_DECIMAL, most, sizeof most);
    return error_set(e,
                     "the export would have about %s, more than %s, with %" PRId64
                     " samples: --yes writes it, --tables without samples is small",
                     size, most, survey->samples);
}

/* Read everything once, to know what will be written. */
static int survey_all(const struct rows *rows, const char *const *results, size_t count,
                      const struct export_options *options, struct error *e)
{
    struct rows reading = *rows;
    struct export_made read = {0};
    reading.kind = NULL;
    int result = add_all(&reading, results, count, &read, e);
    rows->survey->runs = read.runs;
    export_made_free(&read);
    return result == 0 ? check_size(rows->survey, options, e) : -1;
}

static int export_to(const struct folder *folder, const char *name, const char *const *results, size_t count,
                     const struct export_options *options, struct rows *rows, struct export_made *made,
                     struct error *e)
{
    if (check_free(folder, name, options, e) != 0 || survey_all(rows, results, count, options, e) != 0)
        return -1;
    fresh_clear(folder);
    rows->sink = rows->kind->open(folder, name, rows->wanted, e);
    if (!rows->sink)
        return -1;
    int result = add_all(rows, results, count, made, e);
    if (result == 0)
        result = rows->kind->finish(rows->sink, options->replace, e);
    rows->kind->close(rows->sink);
    return result;
}

int export_results(const char *const *results, size_t count, const struct export_options *options,
                   struct export_made *made, struct error *e)
{
    struct survey survey = {0};
    struct rows rows = {.kind = options->format == EXPORT_CSV ? &export_csv : &export_sqlite,
                        .survey = &survey,
                        .format = options->format,
                        .told_ns = clock_monotonic_ns()};
    struct folder folder;
    char *name;
    *made = (struct export_made){0};
    if (choose_tables(options->tables, &rows.wanted, e) != 0)
        return -1;
    int result = open_place(results, count, options, &folder, &name, e);
    if (result == 0 && name)
        result = export_to(&folder, name, results, count, options, &rows, made, e);
    made->series = rows.series;
    made->constants = survey.constants;
    free(survey.series);
    if (options->out)
        text_add(&made->path, "%s", options->out);
    else if (result == 0)
        text_add(&made->path, "%s/%s", folder.path, name);
    folder_close(&folder);
    free(name);
    return result;
}
