/* A database of SQLite 3. It is written as one transaction without a journal, under another name: nobody
 * reads it before it is whole. */
#include "reports/export/sink.h"

#include "lib/clock.h"
#include "lib/folder/fresh.h"
#include "lib/interrupt.h"
#include "lib/log.h"
#include "lib/output/visible.h"
#include "lib/text.h"
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SORTING_SAID_NS (5 * NS_PER_S)
#define SORTING_STEPS   100000 /* of SQLite's machine between two calls of sorting() */

struct export_sink {
    const struct folder *folder;
    const char *name;
    struct fresh fresh;
    sqlite3 *db;
    sqlite3_stmt *inserts[EXPORT_TABLES]; /* NULL: the table is not wanted */
    uint32_t wanted;
    int64_t sorting_ns;                     /* since when an index is made, or when that was said last */
    struct text shown[EXPORT_MOST_COLUMNS]; /* texts of a row */
};

/* Why a write failed, which SQLite does not keep: the file is lost anyway, and one more byte at its end fails
 * for the same reason. */
static int reason_of_write(const struct export_sink *s)
{
    struct stat status;
    int code = sqlite3_errcode(s->db);
    if ((code == SQLITE_FULL || code == SQLITE_IOERR) && fstat(s->fresh.fd, &status) == 0 &&
        pwrite(s->fresh.fd, "", 1, status.st_size) < 0)
        return errno;
    return code == SQLITE_FULL ? ENOSPC : 0;
}

static int fail(const struct export_sink *s, struct error *e)
{
    if (sqlite3_errcode(s->db) == SQLITE_INTERRUPT && interrupt_check(e) != 0)
        return -1;
    int reason = reason_of_write(s);
    if (reason)
        return error_set_errno(e, reason, "writing %s/%s", s->folder->path, s->name);
    return error_set(e, "writing %s/%s: %s", s->folder->path, s->name, sqlite3_errmsg(s->db));
}

static int execute(const struct export_sink *s, const char *sql, struct error *e)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, e);
}

/* ---- tables */

/* Samples have the number of their series in place of its names: a tenth of the bytes. The view "samples" has
 * the names. */
static const char samples_tables[] =
    "CREATE TABLE sample_values(series INTEGER, time_ns INTEGER, value INTEGER);"
    "CREATE VIEW samples AS SELECT run, host, counter, time_ns, value "
    "FROM sample_values JOIN series USING (series);";
static const char samples_insert[] = "INSERT INTO sample_values VALUES (?,?,?)";

static void add_create(enum export_table table, struct text *sql)
{
    static const char *const types[] = {
        [EXPORT_INTEGER] = " INTEGER", [EXPORT_REAL] = " REAL", [EXPORT_TEXT] = " TEXT", [EXPORT_ANY] = ""};
    const struct export_column *c = export_tables[table].columns;
    text_add(sql, "CREATE TABLE %s(", export_tables[table].name);
    bool numbers = table == EXPORT_RUNS || table == EXPORT_SERIES; /* its rows, in the first column */
    for (size_t i = 0; c[i].name; i++)
        text_add(sql, "%s\"%s\"%s%s", i ? ", " : "", c[i].name, types[c[i].kind],
                 numbers && i == 0 ? " PRIMARY KEY" : "");
    text_add(sql, ");");
}

static void add_insert(enum export_table table, struct text *sql)
{
    text_add(sql, "INSERT INTO %s VALUES (", export_tables[table].name);
    for (size_t i = 0; i < export_column_count(table); i++)
        text_add(sql, "%s", i ? ",?" : "?");
    text_add(sql, ")");
}

static int make_table(struct export_sink *s, enum export_table table, struct error *e)
{
    struct text create = {0}, insert = {0};
    if (table != EXPORT_SAMPLES) {
        add_create(table, &create);
        add_insert(table, &insert);
    } else {
        text_add(&create, "%s", samples_tables);
        text_add(&insert, "%s", samples_insert);
    }
    int result = create.failed || insert.failed ? error_set(e, "out of memory for %s", s->name) : 0;
    if (result == 0)
        result = execute(s, text_string(&create), e);
    if (result == 0 &&
        sqlite3_prepare_v2(s->db, text_string(&insert), -1, &s->inserts[table], NULL) != SQLITE_OK)
        result = fail(s, e);
    text_free(&create);
    text_free(&insert);
    return result;
}

/* ---- rows */

static int insert_row(struct export_sink *s, sqlite3_stmt *insert, struct error *e)
{
    int code = sqlite3_step(insert);
    int result = code == SQLITE_DONE ? 0 : fail(s, e);
    sqlite3_reset(insert);
    return result;
}

/* A terminal that shows the database gets no escape sequences of a result from elsewhere. */
static const char *visible(struct text *shown, const char *bytes)
{
    text_clear(shown);
    visible_add(shown, bytes, strlen(bytes), VISIBLE_TEXT);
    return text_string(shown);
}

static int add_row(struct export_sink *s, enum export_table table, const struct export_value *values,
                   struct error *e)
{
    sqlite3_stmt *insert = s->inserts[table];
    for (int i = 0; export_tables[table].columns[i].name; i++) {
        const struct export_value *v = &values[i];
        if (!v->known)
            sqlite3_bind_null(insert, i + 1);
        else if (v->kind == EXPORT_INTEGER)
            sqlite3_bind_int64(insert, i + 1, v->integer);
        else if (v->kind == EXPORT_REAL)
            sqlite3_bind_double(insert, i + 1, v->real);
        else if (sqlite3_bind_text(insert, i + 1, visible(&s->shown[i], v->text), -1, SQLITE_STATIC) !=
                     SQLITE_OK ||
                 s->shown[i].failed)
            return error_set(e, "writing %s/%s: a text does not fit into memory", s->folder->path, s->name);
    }
    return insert_row(s, insert, e);
}

static int add_sample(struct export_sink *s, const struct export_series *series, int64_t time_ns,
                      int64_t value, struct error *e)
{
    sqlite3_stmt *insert = s->inserts[EXPORT_SAMPLES];
    sqlite3_bind_int64(insert, 1, series->number);
    sqlite3_bind_int64(insert, 2, time_ns);
    sqlite3_bind_int64(insert, 3, value);
    return insert_row(s, insert, e);
}

/* ---- the file */

static void close_database(struct export_sink *s)
{
    for (int i = 0; i < EXPORT_TABLES; i++) {
        sqlite3_finalize(s->inserts[i]);
        s->inserts[i] = NULL;
    }
    sqlite3_close(s->db);
    s->db = NULL;
}

static void close_sqlite(struct export_sink *s)
{
    close_database(s);
    for (size_t i = 0; i < EXPORT_MOST_COLUMNS; i++)
        text_free(&s->shown[i]);
    fresh_remove(&s->fresh, s->folder);
    free(s);
}

static int open_database(struct export_sink *s, struct error *e)
{
    struct text path = {0}, begin = {0};
    /* a path that begins with "file:" would be a URI */
    text_add(&path, "%s%s/%s", *s->folder->path == '/' ? "" : "./", s->folder->path, s->fresh.name);
    text_add(&begin,
             "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
             "PRAGMA cache_size=-16384; PRAGMA user_version=%d; BEGIN;",
             *EXPORT_SQLITE_VERSION);
    int result = path.failed || begin.failed ? error_set(e, "out of memory for %s", s->name) : 0;
    if (result == 0 && sqlite3_open_v2(text_string(&path), &s->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        result = fail(s, e);
    if (result == 0)
        result = execute(s, text_string(&begin), e);
    text_free(&path);
    text_free(&begin);
    return result;
}

/* SQLite calls this while an index is made. */
static int sorting(void *sink)
{
    struct export_sink *s = sink;
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns - s->sorting_ns > SORTING_SAID_NS) {
        s->sorting_ns = now_ns;
        log_info("sorting the rows of %s/%s", s->folder->path, s->name);
    }
    return interrupt_check(NULL);
}

static struct export_sink *open_sqlite(const struct folder *folder, const char *name, uint32_t wanted,
                                       struct error *e)
{
    struct export_sink *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory for %s/%s", folder->path, name);
        return NULL;
    }
    *s = (struct export_sink){.folder = folder, .name = name, .fresh.fd = -1, .wanted = wanted};
    int result = fresh_file(&s->fresh, folder, name, e);
    if (result == 0)
        result = open_database(s, e);
    for (int i = 0; result == 0 && i < EXPORT_TABLES; i++)
        if (wanted & 1u << i)
            result = make_table(s, (enum export_table)i, e);
    if (result == 0)
        return s;
    close_sqlite(s);
    return NULL;
}

/* An index is made after the rows: it is sorted once. */
static int add_indexes(const struct export_sink *s, struct error *e)
{
    static const struct {
        enum export_table table;
        const char *sql;
    } indexes[] = {
        {EXPORT_SAMPLES, "CREATE INDEX samples_by_series ON sample_values(series, time_ns)"},
        {EXPORT_SERIES, "CREATE INDEX series_by_counter ON series(counter, run, host)"},
        {EXPORT_COUNTERS, "CREATE INDEX counters_by_counter ON counters(counter, run, host)"},
        {EXPORT_CHOICES, "CREATE INDEX choices_by_run ON choices(run)"},
        {EXPORT_INTERVALS, "CREATE INDEX intervals_by_run ON intervals(run, flow, time_ns)"},
        {EXPORT_PAUSES, "CREATE INDEX pauses_by_run ON pauses(run, host, priority, start_ns)"},
    };
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++)
        if (s->wanted & 1u << indexes[i].table && execute(s, indexes[i].sql, e) != 0)
            return -1;
    return 0;
}

static int finish_sqlite(struct export_sink *s, bool replace, struct error *e)
{
    struct stat status;
    s->sorting_ns = clock_monotonic_ns();
    sqlite3_progress_handler(s->db, SORTING_STEPS, sorting, s);
    if (add_indexes(s, e) != 0 || execute(s, "COMMIT", e) != 0)
        return -1;
    close_database(s);
    if (fsync(s->fresh.fd) != 0)
        return error_set_errno(e, errno, "writing %s/%s", s->folder->path, s->name);
    if (fstat(s->fresh.fd, &status) != 0 || status.st_size == 0)
        return error_set(e, "writing %s/%s: it is empty: SQLite has written another file", s->folder->path,
                         s->name);
    return fresh_publish(&s->fresh, s->folder, s->name, replace, e);
}

const struct export_sink_kind export_sqlite = {open_sqlite, add_row, add_sample, finish_sqlite, close_sqlite};
