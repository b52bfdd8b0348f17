#include "nic-config/journal.h"

#include "lib/clock.h"
#include "lib/files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOURNAL_LIMIT (16 << 20)

/* ---- records */

/* Was the record written since the last boot? */
static bool same_boot(const char *boot)
{
    char *now = files_read_line("/proc/sys/kernel/random/boot_id", NULL);
    bool same = now && boot && strcmp(now, boot) == 0;
    free(now);
    return same;
}

static void take_begin(struct journal *j, const json_t *record)
{
    j->begun = true;
    j->since_ns = json_integer_value(json_object_get(record, "time_ns"));
    j->rebooted = !same_boot(json_string_value(json_object_get(record, "boot")));
}

static void take_before(struct journal *j, const char *interface, const json_t *record)
{
    json_t *settings = json_object_get(record, "settings"), *pci = json_object_get(record, "pci");
    if (!json_is_object(settings) || json_object_get(j->before, interface))
        return;
    json_object_set_new(
        j->before, interface,
        json_pack("{s:O,s:s}", "settings", settings, "pci", pci ? json_string_value(pci) : ""));
}

static json_t *knobs_of(struct journal *j, const char *interface)
{
    json_t *knobs = json_object_get(j->written, interface);
    if (!knobs) {
        knobs = json_object();
        json_object_set_new(j->written, interface, knobs);
    }
    return knobs;
}

static void take_write(struct journal *j, const char *interface, const char *knob, const json_t *settings)
{
    if (json_is_object(settings))
        json_object_set_new(knobs_of(j, interface), knob,
                            json_pack("{s:O,s:b}", "settings", settings, "finished", 0));
}

static void take_written(struct journal *j, const char *interface, const char *knob)
{
    json_t *write = json_object_get(knobs_of(j, interface), knob);
    if (write)
        json_object_set_new(write, "finished", json_true());
}

static int take(struct journal *j, const json_t *record, struct error *e)
{
    const char *type = json_string_value(json_object_get(record, "type"));
    const char *interface = json_string_value(json_object_get(record, "interface"));
    const char *knob = json_string_value(json_object_get(record, "knob"));
    if (!type)
        return error_set(e, "a record has no type");
    if (strcmp(type, "begin") == 0)
        take_begin(j, record);
    else if (strcmp(type, "done") == 0)
        j->done = true;
    else if (!interface)
        return error_set(e, "a record of type \"%.20s\" does not name an interface", type);
    else if (strcmp(type, "before") == 0)
        take_before(j, interface, record);
    else if (knob && strcmp(type, "write") == 0)
        take_write(j, interface, knob, json_object_get(record, "settings"));
    else if (knob && strcmp(type, "written") == 0)
        take_written(j, interface, knob);
    else
        return error_set(e, "unknown record \"%.20s\"", type);
    return 0;
}

int journal_parse(struct journal *j, const char *text, size_t length, struct error *e)
{
    const char *end;
    for (int line = 1; length > 0 && (end = memchr(text, '\n', length)); line++) {
        json_error_t where;
        json_t *record = json_loadb(text, (size_t)(end - text), JSON_REJECT_DUPLICATES, &where);
        int result = record ? take(j, record, e) : error_set(e, "%s", where.text);
        json_decref(record);
        if (result != 0)
            return error_prefix(e, "line %d", line);
        length -= (size_t)(end - text) + 1;
        text = end + 1;
    }
    return 0;
}

/* ---- the file */

static int make_folder_of(const char *path, struct error *e)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    int result = 0;
    if (slash && slash != folder) {
        *slash = '\0';
        result = files_make_folders(folder, e);
    }
    free(folder);
    return result;
}

/* The folder's entry must be on disk too. */
static void sync_folder_of(const char *path)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[slash == folder] = '\0';
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

/* Open and lock the file at the path, and check afterwards that it is still there: another process may have
 * removed it in between. */
static int open_locked(struct journal *j, bool create, struct error *e)
{
    for (;;) {
        struct stat status;
        j->fd = open(j->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
        if (j->fd < 0)
            return errno == ENOENT && !create ? 1
                                              : error_set_errno(e, errno, "opening the journal %s", j->path);
        if (flock(j->fd, LOCK_EX | LOCK_NB) != 0)
            return errno == EWOULDBLOCK
                       ? error_set(e, "another nic-config is running (it has locked the journal %s)", j->path)
                       : error_set_errno(e, errno, "locking the journal %s", j->path);
        if (fstat(j->fd, &status) == 0 && status.st_nlink > 0)
            return 0;
        close(j->fd);
    }
}

/* The action of a record that was cut by a crash was not done either. Remove the record, so that the next one
 * begins on a new line. */
static int cut_torn_line(struct journal *j, const char *text, size_t length, struct error *e)
{
    const char *last = length > 0 ? memrchr(text, '\n', length) : NULL;
    size_t whole = last ? (size_t)(last - text) + 1 : 0;
    if (whole == length || ftruncate(j->fd, (off_t)whole) == 0)
        return 0;
    return error_set_errno(e, errno, "removing the incomplete last line of %s", j->path);
}

static void clear(struct journal *j, const char *path)
{
    *j = (struct journal){.path = strdup(path), .fd = -1, .before = json_object(), .written = json_object()};
}

static char *read_records(struct journal *j, size_t *length, struct error *e)
{
    char *text = files_read(j->path, JOURNAL_LIMIT, length, e);
    if (text && journal_parse(j, text, *length, e) == 0)
        return text;
    free(text);
    error_prefix(e, "the journal %s", j->path);
    return NULL;
}

int journal_open(struct journal *j, const char *path, bool create, struct error *e)
{
    size_t length = 0;
    clear(j, path);
    if (create && make_folder_of(path, e) != 0)
        return error_prefix(e, "creating the journal's folder");
    int result = open_locked(j, create, e);
    if (result != 0)
        return result == 1 ? 0 : -1;
    char *text = read_records(j, &length, e);
    if (!text)
        return -1;
    result = cut_torn_line(j, text, length, e);
    free(text);
    return result;
}

int journal_peek(struct journal *j, const char *path, struct error *e)
{
    size_t length = 0;
    clear(j, path);
    if (!files_exist(path))
        return 0;
    char *text = read_records(j, &length, e);
    free(text);
    return text ? 0 : -1;
}

void journal_close(struct journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    free(j->path);
    json_decref(j->before);
    json_decref(j->written);
    *j = (struct journal){.fd = -1};
}

int journal_remove(struct journal *j, struct error *e)
{
    if (unlink(j->path) != 0 && errno != ENOENT)
        return error_set_errno(e, errno, "removing the journal %s", j->path);
    sync_folder_of(j->path);
    json_object_clear(j->before);
    json_object_clear(j->written);
    j->begun = j->done = false;
    return 0;
}

/* ---- writing */

/* Append one record, sync it to disk, and process it like a record that was read. */
static int append(struct journal *j, json_t *record, struct error *e)
{
    char *text = json_dumps(record, JSON_COMPACT);
    size_t length = text ? strlen(text) : 0;
    int result = 0;
    if (!text) {
        result = error_set(e, "out of memory for a record of the journal");
    } else {
        text[length++] = '\n';
        if (write(j->fd, text, length) != (ssize_t)length || fsync(j->fd) != 0)
            result = error_set_errno(e, errno, "writing the journal %s", j->path);
    }
    if (result == 0)
        result = take(j, record, e);
    free(text);
    json_decref(record);
    return result;
}

int journal_begin(struct journal *j, struct error *e)
{
    if (j->begun)
        return 0;
    char *boot = files_read_line("/proc/sys/kernel/random/boot_id", NULL);
    int result =
        append(j,
               json_pack("{s:s,s:i,s:s,s:I,s:s}", "type", "begin", "schema", 1, "version", HARNESS_VERSION,
                         "time_ns", (json_int_t)clock_realtime_ns(), "boot", boot ? boot : ""),
               e);
    free(boot);
    sync_folder_of(j->path);
    return result;
}

int journal_note_before(struct journal *j, const char *interface, const char *pci, const json_t *settings,
                        struct error *e)
{
    if (json_object_get(j->before, interface))
        return 0;
    return append(j,
                  json_pack("{s:s,s:s,s:s,s:O}", "type", "before", "interface", interface, "pci", pci,
                            "settings", settings),
                  e);
}

int journal_note_write(struct journal *j, const char *interface, const char *knob, const json_t *settings,
                       struct error *e)
{
    return append(j,
                  json_pack("{s:s,s:s,s:s,s:O}", "type", "write", "interface", interface, "knob", knob,
                            "settings", settings),
                  e);
}

int journal_note_written(struct journal *j, const char *interface, const char *knob, struct error *e)
{
    return append(j, json_pack("{s:s,s:s,s:s}", "type", "written", "interface", interface, "knob", knob), e);
}

int journal_note_done(struct journal *j, struct error *e)
{
    return append(j, json_pack("{s:s}", "type", "done"), e);
}

/* ---- queries */

static const json_t *write_of(const struct journal *j, const char *interface, const char *knob)
{
    return json_object_get(json_object_get(j->written, interface), knob);
}

const json_t *journal_last(const struct journal *j, const char *interface, const char *knob)
{
    return json_object_get(write_of(j, interface, knob), "settings");
}

bool journal_unfinished(const struct journal *j, const char *interface, const char *knob)
{
    const json_t *write = write_of(j, interface, knob);
    return write && !json_is_true(json_object_get(write, "finished"));
}
