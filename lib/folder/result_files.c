#include "lib/folder/result_files.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/sweep_index.h"
#include "lib/packets/capture.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESULT "result.json"

/* ---- by the run */

static int is_listed(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, RESULT) != 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static json_t *list_files(const struct folder *folder, struct error *e)
{
    struct dirent **names = NULL;
    json_t *list = json_array();
    int count = scandirat(folder->fd, ".", &names, is_listed, by_name);
    if (count < 0)
        error_set_errno(e, errno, "reading the folder %s", folder->path);
    for (int i = 0; i < count; i++) {
        struct stat status;
        if (fstatat(folder->fd, names[i]->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            json_array_append_new(
                list, json_make("{s:s,s:I}", "name", names[i]->d_name, "bytes", (json_int_t)status.st_size));
        free(names[i]);
    }
    free(names);
    if (count >= 0)
        return list;
    json_decref(list);
    return NULL;
}

json_t *result_files_list(const char *path, bool sync, struct error *e)
{
    struct folder folder;
    json_t *list = NULL;
    if (folder_open(&folder, path, e) == 0 &&
        (!sync || (folder_sync_files(&folder, e) == 0 && folder_sync(&folder, "..", e) == 0)))
        list = list_files(&folder, e);
    folder_close(&folder);
    return list;
}

/* ---- by a reader */

/* By these a folder is known as that of a run or a sweep, also of one that was interrupted. */
static const char *const names[] = {RESULT,          "samples.jsonl", "flows.jsonl",     "pauses.jsonl",
                                    "settings.json", "run.log",       "request.json",    SWEEP_INDEX,
                                    CAPTURE_FILE,    "tasks.json",    SWEEP_INDEX_LINES, NULL};

/* The entry of a file; NULL: there is none. */
static const json_t *find_listed(const json_t *list, const char *name)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(list, i, entry)
    {
        const char *listed = json_string_value(json_object_get(entry, "name"));
        if (listed && strcmp(listed, name) == 0)
            return entry;
    }
    return NULL;
}

static bool is_listed_in_result(const struct folder *folder, const char *name)
{
    json_t *result =
        folder_has(folder, RESULT) ? json_file_load_in(folder, RESULT, DOCUMENT_RESULT, NULL) : NULL;
    bool found = find_listed(json_object_get(result, "files"), name) != NULL;
    json_decref(result);
    return found;
}

bool result_files_have(const struct folder *folder, const char *name)
{
    bool named = false;
    for (size_t i = 0; names[i]; i++)
        named = named || strcmp(names[i], name) == 0;
    return folder_has(folder, name) && (named || is_listed_in_result(folder, name));
}

static int check_size(const char *name, int64_t bytes, int64_t had, struct error *e)
{
    return bytes == had ? 0
                        : error_set(e, "%s has %" PRId64 " bytes, and had %" PRId64 " when the run ended",
                                    name, bytes, had);
}

static int check_file(const struct folder *folder, const char *name, json_int_t bytes, struct error *e)
{
    struct stat status;
    if (fstatat(folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? error_set(e, "%s is missing: the run wrote %" PRId64 " bytes of it", name,
                                           (int64_t)bytes)
                               : error_set_errno(e, errno, "reading %s/%s", folder->path, name);
    if (!S_ISREG(status.st_mode))
        return error_set(e, "%s is not a regular file: the run wrote one of %" PRId64 " bytes", name,
                         (int64_t)bytes);
    return check_size(name, status.st_size, bytes, e);
}

/* A whole run ended the last line of each file of lines: zeros are there where a disk lost what was written.
 */
static int check_end(const struct folder *folder, const char *name, json_int_t bytes, struct error *e)
{
    const char *dot = strrchr(name, '.');
    char last;
    if (!dot || strcmp(dot, ".jsonl") != 0 || bytes < 1)
        return 0;
    int fd = folder_open_file(folder, name, e);
    ssize_t got = fd >= 0 ? pread(fd, &last, 1, bytes - 1) : 0;
    if (got < 0)
        error_set_errno(e, errno, "reading %s/%s", folder->path, name);
    if (fd >= 0)
        close(fd);
    return fd < 0 || got < 0 ? -1
           : got && last == '\n'
               ? 0
               : error_set(e, "%s: its last line, at byte %" PRId64 ", has no end", name, (int64_t)bytes);
}

/* Does the list have what every run writes, and what lies in the folder and only a run writes? */
static int check_list(const struct folder *folder, const json_t *list, struct error *e)
{
    static const char *const written[] = {"run.log",      "samples.jsonl", "flows.jsonl",
                                          "pauses.jsonl", "settings.json", "capture.pcapng"};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (!find_listed(list, written[i]) && (i == 0 || folder_has(folder, written[i])))
            return error_set(e, RESULT ": files: %s is not among them%s", written[i],
                             folder_has(folder, written[i]) ? ", and is in the folder" : "");
    return 0;
}

static int check_phases(const json_t *phases, struct error *e)
{
    size_t i;
    json_t *phase;
    int64_t ended = 0;
    json_array_foreach(phases, i, phase)
    {
        int64_t start = json_integer_value(json_object_get(phase, "start_ns")),
                end = json_integer_value(json_object_get(phase, "end_ns"));
        if (end < start)
            return error_set(
                e, RESULT ": phases[%zu] is from %" PRId64 " to %" PRId64 " ns: it ends before it starts", i,
                start, end);
        if (json_object_get(phase, "start_ns") && start < ended)
            return error_set(e,
                             RESULT ": phases[%zu] starts at %" PRId64
                                    " ns, and what is before it ends at %" PRId64 " ns",
                             i, start, ended);
        ended = end;
    }
    return 0;
}

int result_files_check(const struct folder *folder, const json_t *result, struct error *e)
{
    const json_t *list = json_object_get(result, "files"), *entry;
    size_t i;
    if (check_phases(json_object_get(result, "phases"), e) != 0)
        return -1;
    if (!list)
        return 0;
    if (!json_is_boolean(json_object_get(result, "complete")))
        return error_set(e, RESULT ": complete: expected true or false");
    if (!json_is_array(list))
        return error_set(e, RESULT ": files: expected a list");
    json_array_foreach(list, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        const json_t *bytes = json_object_get(entry, "bytes");
        if (!name || !*name || strchr(name, '/') || !json_is_integer(bytes))
            return error_set(e, RESULT ": files[%zu]: expected the name of a file and its bytes", i);
        if (check_file(folder, name, json_integer_value(bytes), e) != 0 ||
            (json_is_true(json_object_get(result, "complete")) &&
             check_end(folder, name, json_integer_value(bytes), e) != 0))
            return -1;
    }
    return check_list(folder, list, e);
}

int result_files_check_size(const struct folder *folder, const json_t *result, const char *name,
                            struct error *e)
{
    const json_t *bytes = json_object_get(find_listed(json_object_get(result, "files"), name), "bytes");
    struct stat status;
    if (!json_is_integer(bytes) || fstatat(folder->fd, name, &status, 0) != 0)
        return 0;
    return check_size(name, status.st_size, json_integer_value(bytes), e);
}

static int is_visible_folder(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

bool result_files_any(const char *folder, const char *const files[])
{
    bool has = false;
    for (size_t i = 0; !has && files[i]; i++) {
        char *path = files_join(folder, files[i]);
        has = path && files_exist(path);
        free(path);
    }
    return has;
}

/* The last folder by name in this one that has one of the files; `deeper`: or in the only one that is in it.
 * NULL: none. */
static char *last_that_has(const char *folder, const char *const files[], bool deeper)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_visible_folder, by_name);
    char *found = NULL;
    for (int i = count; i-- > 0;) {
        char *below = found ? NULL : files_join(folder, entries[i]->d_name);
        if (below && result_files_any(below, files)) {
            found = below;
        } else {
            if (below && deeper && count == 1)
                found = last_that_has(below, files, false);
            free(below);
        }
        free(entries[i]);
    }
    free(entries);
    return found;
}

char *result_files_meant(const char *folder, const char *const files[])
{
    const char *slash = files_exist(folder) ? NULL : strrchr(folder, '/');
    char *at = slash ? strndup(folder, (size_t)(slash - folder)) : strdup(folder);
    char *found = at ? last_that_has(at, files, true) : NULL;
    free(at);
    return found;
}
