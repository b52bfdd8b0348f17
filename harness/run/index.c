#include "harness/run/index.h"

#include "harness/run/results.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/sweep_index.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int write_line(struct index *index, const json_t *value, struct error *e)
{
    char *line = json_dumps(value, JSON_COMPACT);
    if (!line)
        return error_set(e, "out of memory for a line of %s/" SWEEP_INDEX_LINES, index->folder);
    fprintf(index->lines.stream, "%s\n", line);
    free(line);
    return record_file_flush(&index->lines, e);
}

static int remove_file(const char *folder, const char *name, struct error *e)
{
    char *path = files_join(folder, name);
    int result = !path                                  ? error_set(e, "out of memory")
                 : unlink(path) != 0 && errno != ENOENT ? error_set_errno(e, errno, "removing %s", path)
                                                        : 0;
    free(path);
    return result;
}

int index_open(struct index *index, const char *folder, json_t *head, size_t count, struct error *e)
{
    *index = (struct index){.folder = folder,
                            .head = head,
                            .entries = calloc(count + 1, sizeof *index->entries),
                            .count = count,
                            .lines = {.fd = -1}};
    if (!head || !index->entries)
        return error_set(e, "out of memory for %zu runs", count);
    if (!folder)
        return 0;
    if (record_file_open(&index->lines, folder, SWEEP_INDEX_LINES, e) != 0)
        return -1;
    return write_line(index, head, e) != 0 ? -1 : record_file_sync(&index->lines, e);
}

int index_add(struct index *index, size_t i, json_t *entry, struct error *e)
{
    if (!entry)
        return error_set(e, "out of memory for the index");
    index->entries[i] = entry;
    index->with[verdict_said_by(entry)]++;
    index->warned += json_object_get(entry, "warnings") != NULL;
    return index->folder ? write_line(index, entry, e) : 0;
}

enum verdict index_verdict(const struct index *index)
{
    enum verdict worst = VERDICT_INCOMPLETE;
    while (worst > VERDICT_UNJUDGED && !index->with[worst] && !index->judged[worst])
        worst--;
    return worst;
}

json_t *index_document(const struct index *index)
{
    json_t *document = json_copy(index->head), *cells = json_array();
    for (size_t i = 0; i < index->count; i++)
        if (index->entries[i])
            json_array_append(cells, index->entries[i]);
    json_object_set_new(document, "cells", cells);
    if (json_array_size(cells))
        json_object_set_new(document, "origin", json_text(origin_names[origin_of_result(document)]));
    return document;
}

static void end_head(struct index *index, const char *why)
{
    char *finished = results_time();
    json_object_set_new(index->head, "complete", json_boolean(!why));
    json_object_set_new(index->head, "verdict",
                        json_text(verdict_names[why ? VERDICT_INCOMPLETE : index_verdict(index)]));
    json_object_set_new(index->head, "finished", json_text(finished ? finished : ""));
    if (why)
        json_object_set_new(index->head, "reason", json_text(why));
    free(finished);
}

int index_finish(struct index *index, const char *why, struct error *e)
{
    end_head(index, why);
    if (!index->folder)
        return 0;
    struct error late; /* what is in memory is written as a whole now */
    record_file_close(&index->lines, &late);
    char *path = files_join(index->folder, SWEEP_INDEX);
    json_t *document = index_document(index);
    int result = path && document ? json_file_save(path, document, e) : error_set(e, "out of memory");
    json_decref(document);
    free(path);
    return result == 0 ? remove_file(index->folder, SWEEP_INDEX_LINES, e) : -1;
}

int index_unfinish(struct index *index, struct error *e)
{
    return remove_file(index->folder, SWEEP_INDEX, e);
}

void index_close(struct index *index)
{
    record_file_close(&index->lines, NULL);
    for (size_t i = 0; index->entries && i < index->count; i++)
        json_decref(index->entries[i]);
    free(index->entries);
    json_decref(index->head);
    *index = (struct index){.lines = {.fd = -1}};
}
