#include "lib/folder/sweep_index.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/formats/result_shape.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)64 << 20)

bool sweep_index_exists(const struct folder *folder)
{
    return folder_has(folder, SWEEP_INDEX) || folder_has(folder, SWEEP_INDEX_LINES);
}

/* The first line is the index without cells, each other line a cell. */
static int index_add_line(json_t **index, const char *line, size_t length, const char *name, struct error *e)
{
    json_t *value = json_file_parse(line, length, name, *index ? DOCUMENT_LINE : DOCUMENT_INDEX, e);
    if (!value)
        return -1;
    if (*index)
        return json_array_append_new(json_object_get(*index, "cells"), value);
    *index = value;
    if (json_is_object(value) && json_object_set_new(value, "cells", json_array()) == 0)
        return 0;
    return error_set(e, "%s: expected an object, the index without its cells", name);
}

/* A last line without its end was cut off by a kill. */
static json_t *index_parse_lines(const char *text, size_t length, const char *path, struct error *e)
{
    json_t *index = NULL;
    size_t number = 0;
    char name[400];
    for (const char *end; (end = memchr(text, '\n', length));
         length -= (size_t)(end + 1 - text), text = end + 1) {
        snprintf(name, sizeof name, "%.300s/%s, line %zu", path, SWEEP_INDEX_LINES, ++number);
        if (index_add_line(&index, text, (size_t)(end - text), name, e) != 0) {
            json_decref(index);
            return NULL;
        }
    }
    if (!index)
        error_set(e, "%s/%s has no whole line", path, SWEEP_INDEX_LINES);
    return index;
}

/* ---- runs that have ended and are in no line: others made them, or the program was killed before it wrote
 * the line */

static int compare_numbers(const void *a, const void *b)
{
    const size_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/* The numbers of the folders whose names are numbers, in order, except those in the index. The caller
 * frees. */
static size_t *index_unlisted_runs(const struct folder *folder, const json_t *known, size_t *count)
{
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    size_t *numbers = NULL, room = 0;
    *count = 0;
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        size_t length = strspn(entry->d_name, "0123456789");
        if (!length || length > 9 || entry->d_name[length] || json_object_get(known, entry->d_name))
            continue;
        if (*count == room) {
            size_t *more = realloc(numbers, (room = room * 2 + 64) * sizeof *numbers);
            if (!more)
                break;
            numbers = more;
        }
        numbers[(*count)++] = strtoul(entry->d_name, NULL, 10);
    }
    if (entries)
        closedir(entries);
    else if (fd >= 0)
        close(fd);
    if (*count)
        qsort(numbers, *count, sizeof *numbers, compare_numbers);
    return numbers;
}

/* One that cannot be read is added, too, to be left out with the others that cannot. */
static void index_add_run(json_t *cells, const struct folder *folder, size_t number)
{
    struct folder in = {.fd = -1};
    char name[24];
    snprintf(name, sizeof name, "%02zu", number);
    bool there = folder_open_in(&in, folder, name, false, NULL) == 0 && folder_has(&in, "result.json");
    json_t *result = there ? json_file_load_in(&in, "result.json", DOCUMENT_RESULT, NULL) : NULL;
    folder_close(&in);
    if (result) /* a reader of the run says what was wrong */
        json_decref(result_take_out_wrong(RESULT_DOCUMENT, result));
    if (there)
        json_array_append_new(cells, json_make("{s:s,s:O?,s:O?,s:O?,s:O?,s:O?}", "folder", name, "cell",
                                               json_object_get(result, "cell"), "repeat",
                                               json_object_get(result, "repeat"), "origin",
                                               json_object_get(result, "origin"), "verdict",
                                               json_object_get(result, "verdict"), "complete",
                                               json_object_get(result, "complete")));
    json_decref(result);
}

static void index_add_runs(json_t *index, const struct folder *folder)
{
    json_t *cells = json_object_get(index, "cells"), *known = json_object(), *cell;
    size_t i, count;
    json_array_foreach(cells, i, cell)
    {
        const char *name = json_string_value(json_object_get(cell, "folder"));
        if (name)
            json_object_set_new(known, name, json_true());
    }
    size_t *numbers = index_unlisted_runs(folder, known, &count);
    for (size_t k = 0; k < count; k++)
        index_add_run(cells, folder, numbers[k]);
    free(numbers);
    json_decref(known);
}

/* ---- runs whose results cannot be read, or are others' */

/* Is the result that of the run which the index has in its folder? Folders may have been renamed. */
static int index_check_run(const json_t *entry, const json_t *result, const char *path, struct error *e)
{
    const json_t *cell = json_object_get(entry, "cell"), *has_cell = json_object_get(result, "cell");
    const json_t *repeat = json_object_get(entry, "repeat"), *has_repeat = json_object_get(result, "repeat");
    bool same_cell = !json_is_object(cell) || !json_is_object(has_cell) || json_same(cell, has_cell);
    bool same_repeat =
        !json_is_integer(repeat) || !json_is_integer(has_repeat) || json_same(repeat, has_repeat);
    if (same_cell && same_repeat)
        return 0;
    char *shown = json_shown(same_cell ? has_repeat : has_cell),
         *wanted = json_shown(same_cell ? repeat : cell);
    error_set(e, "%s/result.json is of %s %.100s, and the index has %.100s there", path,
              same_cell ? "repetition" : "the cell", shown ? shown : "", wanted ? wanted : "");
    free(shown);
    free(wanted);
    return -1;
}

/* Has the index another verdict than the result? It is then taken from the result, and said. */
static void index_compare_verdict(json_t *index, json_t *entry, json_t *result, const char *path)
{
    json_decref(result_take_out_wrong(RESULT_DOCUMENT, result)); /* a reader of the run says what was wrong */
    json_t *verdict = json_object_get(result, "verdict");
    const char *said = json_string_value(json_object_get(entry, "verdict")), *is = json_string_value(verdict);
    if (!said || !is || strcmp(said, is) == 0)
        return;
    if (!json_object_get(index, SWEEP_WRONG))
        json_object_set_new(index, SWEEP_WRONG, json_array());
    json_array_append_new(
        json_object_get(index, SWEEP_WRONG),
        json_textf("%s: the index says %.20s, and its result %s: it is taken as that", path, said, is));
    json_object_set(entry, "verdict", verdict);
    json_object_set(entry, "complete", json_object_get(result, "complete"));
}

static bool index_run_is_readable(json_t *index, const struct folder *folder, const char *name, json_t *entry,
                                  struct error *e)
{
    struct folder in = {.fd = -1};
    json_t *result = folder_open_in(&in, folder, name, false, e) == 0
                         ? json_file_load_in(&in, "result.json", DOCUMENT_RESULT, e)
                         : NULL;
    bool readable = json_is_object(json_object_get(result, "scenario"));
    if (result && !readable)
        error_set(e, "%s/result.json is not the result of a run: it has no scenario", in.path);
    readable = readable && index_check_run(entry, result, in.path, e) == 0;
    if (readable)
        index_compare_verdict(index, entry, result, in.path);
    folder_close(&in);
    json_decref(result);
    return readable;
}

/* The index then says that the sweep is not complete, and why. Names that lead elsewhere are the reader's. */
static int index_leave_out_unreadable(json_t *index, const struct folder *folder, struct error *e)
{
    json_t *cells = json_object_get(index, "cells"), *kept = json_array(), *cell;
    size_t i, all = json_array_size(cells);
    struct error first = {""}, why;
    json_array_foreach(cells, i, cell)
    {
        const char *name = json_string_value(json_object_get(cell, "folder"));
        if (!name || !*name || *name == '.' || strchr(name, '/') ||
            index_run_is_readable(index, folder, name, cell, &why))
            json_array_append(kept, cell);
        else if (!first.text[0])
            first = why;
    }
    size_t left_out = all - json_array_size(kept);
    if (!left_out) {
        json_decref(kept);
        return 0;
    }
    const char *reason = json_string_value(json_object_get(index, "reason"));
    json_t *sentence =
        json_textf("%s: %zu of %zu runs are left out, as their results cannot be read or are others': %s%s",
                   folder->path, left_out, all, left_out > 1 ? "the first: " : "", first.text);
    if (left_out == all)
        error_set(e, "%s", json_string_value(sentence));
    json_object_set(index, SWEEP_LEFT_OUT, sentence);
    json_object_set_new(index, "reason",
                        reason ? json_textf("%s; %s", reason, json_string_value(sentence))
                               : json_incref(sentence));
    json_object_set_new(index, "complete", json_false());
    json_object_set_new(index, "verdict", json_text("incomplete"));
    json_object_set_new(index, "cells", kept);
    json_decref(sentence);
    return left_out == all ? -1 : 0;
}

static json_t *index_load_lines(const struct folder *folder, struct error *e)
{
    size_t length;
    int fd = folder_open_file(folder, SWEEP_INDEX_LINES, e);
    char *text = fd >= 0 ? files_read_descriptor(fd, SWEEP_INDEX_LINES, MOST_BYTES, &length, e) : NULL;
    json_t *index = text ? index_parse_lines(text, length, folder->path, e) : NULL;
    if (fd >= 0)
        close(fd);
    free(text);
    if (index)
        index_add_runs(index, folder);
    return index;
}

static void index_take_out_wrong(json_t *index, const struct folder *folder)
{
    json_t *known = json_object_get(index, SWEEP_WRONG), *named = known ? json_incref(known) : json_array();
    json_t *wrong = result_take_out_wrong(INDEX_DOCUMENT, index), *sentence;
    size_t i;
    json_array_foreach(wrong, i, sentence)
    {
        json_array_append_new(named, json_textf("%s/%s", folder->path, json_string_value(sentence)));
    }
    if (json_array_size(named))
        json_object_set(index, SWEEP_WRONG, named);
    json_decref(named);
    json_decref(wrong);
}

/* The first line of index.jsonl. */
static json_t *index_load_first_line(const struct folder *folder, struct error *e)
{
    int fd = folder_open_file(folder, SWEEP_INDEX_LINES, e);
    json_t *head = fd >= 0 ? json_file_load_next_line(fd, SWEEP_INDEX_LINES, DOCUMENT_INDEX, e) : NULL;
    if (fd >= 0)
        close(fd);
    return head;
}

json_t *sweep_index_summary(const struct folder *folder, struct error *e)
{
    static const char *const paths[] = {"scenario", "complete", "reason", "started",  "finished",
                                        "sweep",    "runs",     "cells",  "repeated", NULL};
    json_t *head = folder_has(folder, SWEEP_INDEX)
                       ? json_file_load_parts_in(folder, SWEEP_INDEX, DOCUMENT_INDEX, paths, e)
                       : index_load_first_line(folder, e);
    if (head)
        json_decref(result_take_out_wrong(INDEX_DOCUMENT, head));
    if (head && !json_object_get(head, "cells") && !json_object_get(head, "sweep")) {
        error_set(e, "%s: its index is not that of a sweep: it has no cells", folder->path);
        json_decref(head);
        return NULL;
    }
    size_t listed = json_array_size(json_object_get(head, "cells"));
    if (head && (size_t)json_integer_value(json_object_get(head, "runs")) < listed)
        json_object_set_new(head, "runs", json_integer((json_int_t)listed));
    json_object_del(head, "cells");
    return head;
}

json_t *sweep_index_judged(const struct folder *folder)
{
    static const char *const paths[] = {"repeated", NULL};
    json_t *index = folder_has(folder, SWEEP_INDEX)
                        ? json_file_load_parts_in(folder, SWEEP_INDEX, DOCUMENT_INDEX, paths, NULL)
                        : NULL;
    if (index)
        json_decref(result_take_out_wrong(INDEX_DOCUMENT, index));
    json_t *judged = json_incref(json_object_get(index, "repeated"));
    json_decref(index);
    return judged;
}

json_t *sweep_index_judged_of(const json_t *judged, const char *name)
{
    size_t i, j;
    json_t *entry, *folder;
    json_array_foreach(judged, i, entry)
    {
        json_array_foreach(json_object_get(entry, "folders"), j, folder)
        {
            if (json_is_string(folder) && strcmp(json_string_value(folder), name) == 0)
                return entry;
        }
    }
    return NULL;
}

enum verdict sweep_index_verdict(enum verdict own, const json_t *entry)
{
    return verdict_with(own, json_object_get(entry, "expectations"));
}

json_t *sweep_index_load(const struct folder *folder, struct error *e)
{
    json_t *index = folder_has(folder, SWEEP_INDEX)
                        ? json_file_load_in(folder, SWEEP_INDEX, DOCUMENT_INDEX, e)
                        : index_load_lines(folder, e);
    if (index)
        json_object_del(index, SWEEP_WRONG); /* it is for readers, not of the file */
    if (index && index_leave_out_unreadable(index, folder, e) == 0) {
        index_take_out_wrong(index, folder);
        return index;
    }
    json_decref(index);
    return NULL;
}
