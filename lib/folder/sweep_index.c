#include "lib/folder/sweep_index.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)64 << 20)

bool sweep_index_exists(const struct folder *folder)
{
    return folder_has(folder, SWEEP_INDEX) || folder_has(folder, SWEEP_INDEX_LINES);
}

/* The first line is the index without cells, each other line a cell. */
static int take_line(json_t **index, const char *line, size_t length, const char *name, struct error *e)
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
static json_t *parse_lines(const char *text, size_t length, const char *path, struct error *e)
{
    json_t *index = NULL;
    size_t number = 0;
    char name[400];
    for (const char *end; (end = memchr(text, '\n', length));
         length -= (size_t)(end + 1 - text), text = end + 1) {
        snprintf(name, sizeof name, "%.300s/%s, line %zu", path, SWEEP_INDEX_LINES, ++number);
        if (take_line(&index, text, (size_t)(end - text), name, e) != 0) {
            json_decref(index);
            return NULL;
        }
    }
    if (!index)
        error_set(e, "%s/%s has no whole line", path, SWEEP_INDEX_LINES);
    return index;
}

json_t *sweep_index_load(const struct folder *folder, struct error *e)
{
    if (folder_has(folder, SWEEP_INDEX))
        return json_file_load_in(folder, SWEEP_INDEX, DOCUMENT_INDEX, e);
    size_t length;
    int fd = folder_open_file(folder, SWEEP_INDEX_LINES, e);
    char *text = fd >= 0 ? files_read_descriptor(fd, SWEEP_INDEX_LINES, MOST_BYTES, &length, e) : NULL;
    json_t *index = text ? parse_lines(text, length, folder->path, e) : NULL;
    if (fd >= 0)
        close(fd);
    free(text);
    return index;
}
