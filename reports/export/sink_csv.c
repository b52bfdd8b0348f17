/* A folder with a CSV file for each table. */
#include "reports/export/sink.h"

#include "lib/folder/fresh.h"
#include "lib/output/csv.h"
#include "lib/text.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELD_BYTES (64u << 10) /* that wait to be written, of each file */

struct file {
    int fd; /* -1: the table is not wanted */
    struct text held;
};

struct export_sink {
    const struct folder *folder;
    const char *name;
    struct fresh fresh;
    struct file files[EXPORT_TABLES];
    uint32_t wanted;
};

static void file_name(enum export_table table, char name[64])
{
    snprintf(name, 64, "%s.csv", export_tables[table].name);
}

/* ---- rows */

static int write_held(const struct export_sink *s, enum export_table table, struct file *file,
                      struct error *e)
{
    const char *bytes = text_string(&file->held);
    size_t length = file->held.length;
    if (file->held.failed)
        return error_set(e, "out of memory for %s/%s", s->folder->path, s->name);
    while (length) {
        ssize_t written = write(file->fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return error_set_errno(e, errno, "writing %s/%s/%s.csv", s->folder->path, s->name,
                                   export_tables[table].name);
        bytes += written;
        length -= (size_t)written;
    }
    text_clear(&file->held);
    return 0;
}

static int end_row(const struct export_sink *s, enum export_table table, struct file *file, struct error *e)
{
    text_add_bytes(&file->held, CSV_LINE_END, sizeof CSV_LINE_END - 1);
    return file->held.length < HELD_BYTES ? 0 : write_held(s, table, file, e);
}

static void add_value(struct text *out, const struct export_value *value)
{
    if (!value->known)
        return;
    if (value->kind == EXPORT_INTEGER)
        text_add(out, "%" PRId64, value->integer);
    else if (value->kind == EXPORT_REAL)
        csv_number(out, value->real);
    else
        csv_text(out, value->text);
}

static int add_row(struct export_sink *s, enum export_table table, const struct export_value *values,
                   struct error *e)
{
    struct file *file = &s->files[table];
    for (size_t i = 0; export_tables[table].columns[i].name; i++) {
        if (i)
            text_add_bytes(&file->held, ",", 1);
        add_value(&file->held, &values[i]);
    }
    return end_row(s, table, file, e);
}

static int add_sample(struct export_sink *s, const struct export_series *series, int64_t time_ns,
                      int64_t value, struct error *e)
{
    const struct export_value values[] = {
        {.kind = EXPORT_INTEGER, .known = true, .integer = series->run},
        {.kind = EXPORT_TEXT, .known = true, .text = series->host},
        {.kind = EXPORT_TEXT, .known = true, .text = series->counter},
        {.kind = EXPORT_INTEGER, .known = true, .integer = time_ns},
        {.kind = EXPORT_INTEGER, .known = true, .integer = value},
    };
    return add_row(s, EXPORT_SAMPLES, values, e);
}

/* ---- files */

static int open_file(struct export_sink *s, enum export_table table, struct error *e)
{
    char name[64];
    struct file *file = &s->files[table];
    file_name(table, name);
    file->fd = openat(s->fresh.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return error_set_errno(e, errno, "creating %s/%s/%s", s->folder->path, s->name, name);
    for (const struct export_column *c = export_tables[table].columns; c->name; c++)
        text_add(&file->held, "%s%s", c == export_tables[table].columns ? "" : ",", c->name);
    return end_row(s, table, file, e);
}

static int close_file(struct export_sink *s, enum export_table table, struct error *e)
{
    struct file *file = &s->files[table];
    if (file->fd < 0)
        return 0;
    int result = write_held(s, table, file, e);
    if (result == 0 && fsync(file->fd) != 0)
        result = error_set_errno(e, errno, "writing %s/%s/%s.csv", s->folder->path, s->name,
                                 export_tables[table].name);
    close(file->fd);
    file->fd = -1;
    return result;
}

static void close_csv(struct export_sink *s)
{
    for (int i = 0; i < EXPORT_TABLES; i++) {
        if (s->files[i].fd >= 0)
            close(s->files[i].fd);
        text_free(&s->files[i].held);
    }
    fresh_remove(&s->fresh, s->folder);
    free(s);
}

static struct export_sink *open_csv(const struct folder *folder, const char *name, uint32_t wanted,
                                    struct error *e)
{
    struct export_sink *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory for %s/%s", folder->path, name);
        return NULL;
    }
    *s = (struct export_sink){.folder = folder, .name = name, .fresh.fd = -1, .wanted = wanted};
    for (int i = 0; i < EXPORT_TABLES; i++)
        s->files[i].fd = -1;
    int result = fresh_folder(&s->fresh, folder, name, e);
    for (int i = 0; result == 0 && i < EXPORT_TABLES; i++)
        if (wanted & 1u << i)
            result = open_file(s, (enum export_table)i, e);
    if (result == 0)
        return s;
    close_csv(s);
    return NULL;
}

/* ---- the name */

/* A fresh folder is its owner's alone: give it what the files in it were given, by the user's umask. */
static int publish_file(const struct export_sink *s, int file, struct error *e)
{
    struct stat status;
    if (fstat(file, &status) == 0 &&
        fchmod(s->fresh.fd, 0700 | (status.st_mode & 0066) | (status.st_mode & 0044) >> 2) == 0)
        return 0;
    return error_set_errno(e, errno, "writing %s/%s", s->folder->path, s->name);
}

/* Into a folder that exists: each file is whole, and files of tables that are not wanted now are removed. */
static int move_into(const struct export_sink *s, struct error *e)
{
    struct folder there = {.fd = -1};
    char name[64];
    int result = folder_open_in(&there, s->folder, s->name, false, e);
    for (int i = 0; result == 0 && i < EXPORT_TABLES; i++) {
        file_name((enum export_table)i, name);
        if (s->wanted & 1u << i)
            result = fresh_move(&s->fresh, &there, name, e);
        else if (folder_check_place(&there, name, e) != 0)
            result = -1;
        else if (unlinkat(there.fd, name, 0) != 0 && errno != ENOENT)
            result = error_set_errno(e, errno, "removing %s/%s", there.path, name);
    }
    folder_close(&there);
    return result;
}

static int finish_csv(struct export_sink *s, bool replace, struct error *e)
{
    int result = 0, first = 0;
    while (s->files[first].fd < 0)
        first++;
    result = publish_file(s, s->files[first].fd, e);
    for (int i = 0; result == 0 && i < EXPORT_TABLES; i++)
        result = close_file(s, (enum export_table)i, e);
    if (result != 0)
        return -1;
    if (replace && folder_has(s->folder, s->name))
        return move_into(s, e);
    return fresh_publish(&s->fresh, s->folder, s->name, false, e);
}

const struct export_sink_kind export_csv = {open_csv, add_row, add_sample, finish_csv, close_csv};
