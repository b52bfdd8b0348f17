#include "nic-config/journal.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define JOURNAL_LIMIT (256 << 20)
#define ROOM_STEP     4096

/* ---- records */

/* Was the record written since the last boot? */
static bool same_boot(const char *boot)
{
    char *now = files_read_line("/proc/sys/kernel/random/boot_id", NULL);
    bool same = now && boot && strcmp(now, boot) == 0;
    free(now);
    return same;
}

/* The machine's identity (machine-id(5)); NULL where it has none yet. The caller frees. */
static char *machine_id(void)
{
    char *id = files_read_line("/etc/machine-id", NULL);
    if (id && strspn(id, "0123456789abcdef") == 32 && id[32] == '\0')
        return id;
    free(id);
    return NULL;
}

/* Of this process: "net:[4026531840]"; "" when it is not known. */
static void read_namespace(char *name, size_t size)
{
    ssize_t length = readlink("/proc/self/ns/net", name, size - 1);
    name[length > 0 ? length : 0] = '\0';
}

/* What was not recorded, or is not known now, does not differ. */
static bool differ(const char *then, const char *now)
{
    return then && now && then[0] != '\0' && now[0] != '\0' && strcmp(then, now) != 0;
}

static void take_begin(struct journal *j, const json_t *record)
{
    char *machine = machine_id(), namespace[64];
    read_namespace(namespace, sizeof namespace);
    j->begun = true;
    j->since_ns = json_integer_value(json_object_get(record, "time_ns"));
    j->rebooted = !same_boot(json_string_value(json_object_get(record, "boot")));
    j->foreign = j->rebooted && differ(json_string_value(json_object_get(record, "machine")), machine);
    j->elsewhere = !j->rebooted && differ(json_string_value(json_object_get(record, "netns")), namespace);
    free(machine);
}

/* A journal that grows says so in a record of its own. */
static void take_room(struct journal *j, const json_t *record)
{
    json_int_t room = json_integer_value(json_object_get(record, "room"));
    if (room > 0 && room <= JOURNAL_LIMIT && (size_t)room > j->room)
        j->room = (size_t)room;
}

static void take_before(struct journal *j, const char *interface, const json_t *record)
{
    json_t *settings = json_object_get(record, "settings"), *pci = json_object_get(record, "pci"),
           *index = json_object_get(record, "index");
    if (!json_is_object(settings) || json_object_get(j->before, interface))
        return;
    json_object_set_new(j->before, interface,
                        json_make("{s:O,s:s,s:I,s:O*,s:O*}", "settings", settings, "pci",
                                  json_is_string(pci) ? json_string_value(pci) : "", "index",
                                  (json_int_t)(json_is_integer(index) ? json_integer_value(index) : 0),
                                  "address", json_object_get(record, "address"), "bound",
                                  json_object_get(record, "bound")));
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

static void take_write(struct journal *j, const char *interface, const char *knob, json_t *settings)
{
    json_t *knobs = knobs_of(j, interface), *earlier = json_object_get(json_object_get(knobs, knob), "all"),
           *all = earlier ? json_incref(earlier) : json_array();
    if (json_is_object(settings)) {
        json_array_append(all, settings);
        json_object_set_new(knobs, knob,
                            json_make("{s:O,s:b,s:O}", "settings", settings, "finished", 0, "all", all));
    }
    json_decref(all);
}

static void take_written(struct journal *j, const char *interface, const char *knob)
{
    json_t *write = json_object_get(knobs_of(j, interface), knob);
    if (write)
        json_object_set_new(write, "finished", json_true());
}

static int apply_record(struct journal *j, const json_t *record, struct error *e)
{
    const char *type = json_string_value(json_object_get(record, "type"));
    const char *interface = json_string_value(json_object_get(record, "interface"));
    const char *knob = json_string_value(json_object_get(record, "knob"));
    if (!type)
        return error_set(e, "a record has no type");
    take_room(j, record);
    if (strcmp(type, "begin") == 0)
        take_begin(j, record);
    else if (strcmp(type, "room") == 0)
        return 0;
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

/* ---- lines */

uint32_t journal_crc(const char *text, size_t length)
{
    return (uint32_t)crc32(0, (const Bytef *)text, (uInt)length);
}

static void __attribute__((format(printf, 2, 3))) damaged(struct journal *j, const char *format, ...)
{
    struct error e;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(e.text, sizeof e.text, format, arguments);
    va_end(arguments);
    json_array_append_new(j->damage, json_text(e.text));
}

/* The record of a line, when its checksum is right; its number. NULL with a sentence. */
static json_t *record_of(const char *line, size_t length, int64_t *number, struct error *e)
{
    json_error_t where;
    char head[16], *json;
    snprintf(head, sizeof head, "%08x ", length > 9 ? journal_crc(line + 9, length - 9) : 0);
    if (length < 12 || memcmp(line, head, 9) != 0) {
        error_set(e, "its checksum is wrong");
        return NULL;
    }
    *number = strtoll(line + 9, &json, 10);
    if (*number < 1 || *number > JOURNAL_LIMIT || json >= line + length) { /* a record has many bytes */
        error_set(e, "it has no number");
        return NULL;
    }
    json_t *record = json_loadb(json, length - (size_t)(json - line), JSON_REJECT_DUPLICATES, &where);
    if (!record)
        error_set(e, "%s", where.text);
    return record;
}

static void parse_line(struct journal *j, const char *text, size_t length, int line)
{
    struct error e = {""};
    json_error_t where;
    int64_t number = j->records + 1;
    json_t *record = j->old ? json_loadb(text, length, JSON_REJECT_DUPLICATES, &where)
                            : record_of(text, length, &number, &e);
    if (!record && j->old)
        error_set(&e, "%s", where.text);
    if (record && number > j->records + 1)
        damaged(j, "before line %d: %lld records are missing", line, (long long)(number - j->records - 1));
    if (record && number <= j->records)
        damaged(j, "line %d: it is record %lld, but comes after record %lld", line, (long long)number,
                (long long)j->records);
    else if (!record || apply_record(j, record, &e) != 0)
        damaged(j, "line %d: %s", line, e.text);
    /* a damaged line was one record, too */
    j->records = !record ? j->records + 1 : number > j->records ? number : j->records;
    json_decref(record);
}

static bool all_spaces(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ')
            return false;
    return true;
}

/* Interfaces that were written to, but whose earlier settings are in no record. */
static void look_for_before(struct journal *j)
{
    const char *interface;
    json_t *knobs;
    json_object_foreach(j->written, interface, knobs)
    {
        if (!json_object_get(j->before, interface))
            damaged(j, "settings of %s were written, but its earlier ones are not in the journal", interface);
    }
}

/* What follows the last line: room, perhaps with the beginning of a record that was cut by a crash. Whole
 * JSON is not a beginning, nor is a zero: room is on the disk, as spaces, before a record is. */
static void look_at_tail(struct journal *j, const char *tail, size_t length)
{
    const char *json = memchr(tail, '{', length);
    size_t used = length;
    while (used > 0 && tail[used - 1] == ' ')
        used--;
    json_t *record = !json || j->old ? NULL
                                     : json_loadb(json, length - (size_t)(json - tail),
                                                  JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, NULL);
    if (record || (used > 0 && (tail[0] == ' ' || tail[0] == '\0')))
        damaged(j, "behind line %lld: the end of the journal was changed", (long long)j->records);
    json_decref(record);
}

void journal_parse(struct journal *j, const char *text, size_t length)
{
    const char *at = text, *stop = text + length, *newline;
    j->old = length > 0 && text[0] == '{';
    for (int line = 1; at < stop && (newline = memchr(at, '\n', (size_t)(stop - at))); line++) {
        parse_line(j, at, (size_t)(newline - at), line);
        at = newline + 1;
    }
    j->end = (size_t)(at - text);
    look_at_tail(j, at, length - j->end);
    if (j->room > length)
        damaged(j, "it has %zu bytes of %zu: its end was cut off", length, j->room);
    else if (!j->begun && (j->end > 0 || length < ROOM_STEP))
        damaged(j, "its first record is missing");
    look_for_before(j);
    if (length > j->room)
        j->room = length;
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

static int write_at(struct journal *j, const char *text, size_t length, size_t at, struct error *e)
{
    while (length > 0) {
        ssize_t done = pwrite(j->fd, text, length, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return error_set_errno(e, done < 0 ? errno : ENOSPC, "writing the journal %s", j->path);
        text += done;
        at += (size_t)done;
        length -= (size_t)done;
    }
    return 0;
}

/* Fill the file with spaces between two places. */
static int write_spaces(struct journal *j, size_t from, size_t to, struct error *e)
{
    char spaces[4096];
    memset(spaces, ' ', sizeof spaces);
    for (size_t size; from < to; from += size) {
        size = to - from < sizeof spaces ? to - from : sizeof spaces;
        if (write_at(j, spaces, size, from, e) != 0)
            return -1;
    }
    return 0;
}

static int sync_file(struct journal *j, struct error *e)
{
    return fsync(j->fd) == 0 ? 0 : error_set_errno(e, errno, "writing the journal %s", j->path);
}

/* A new journal appears at its path with room, so that an empty one is known to be cut. 1: there is one
 * now. */
static int create_journal(struct journal *j, struct error *e)
{
    char name[64], *folder = strdup(j->path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[slash == folder] = '\0';
    int fd = folder ? open(slash ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    bool nameless = fd >= 0;
    free(folder);
    j->fd = nameless ? fd : open(j->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (j->fd < 0)
        return errno == EEXIST ? 1 : error_set_errno(e, errno, "creating the journal %s", j->path);
    snprintf(name, sizeof name, "/proc/self/fd/%d", j->fd);
    if (flock(j->fd, LOCK_EX | LOCK_NB) != 0 || write_spaces(j, 0, ROOM_STEP, e) != 0 ||
        sync_file(j, e) != 0) {
        if (!nameless)
            (void)unlink(j->path);
        return -1;
    }
    if (!nameless || linkat(AT_FDCWD, name, AT_FDCWD, j->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    int number = errno;
    close(j->fd);
    j->fd = -1;
    return number == EEXIST ? 1 : error_set_errno(e, number, "creating the journal %s", j->path);
}

/* Open and lock the file at the path, and check afterwards that it is still there: another process may have
 * removed it in between. 1: there is none. */
static int open_locked(struct journal *j, bool create, struct error *e)
{
    for (;;) {
        struct stat status;
        j->fd = open(j->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (j->fd < 0 && (errno != ENOENT || !create))
            return errno == ENOENT ? 1 : error_set_errno(e, errno, "opening the journal %s", j->path);
        if (j->fd < 0) {
            int made = create_journal(j, e);
            if (made != 1)
                return made;
            continue;
        }
        if (flock(j->fd, LOCK_EX | LOCK_NB) != 0)
            return errno == EWOULDBLOCK
                       ? error_set(e, "another nic-config is running (it has locked the journal %s)", j->path)
                       : error_set_errno(e, errno, "locking the journal %s", j->path);
        if (fstat(j->fd, &status) == 0 && status.st_nlink > 0)
            return S_ISREG(status.st_mode)
                       ? 0
                       : error_set(e, "opening the journal %s: it is not a regular file", j->path);
        close(j->fd);
    }
}

/* The action of a record that was cut by a crash was not done either. Remove the record, so that the next one
 * has no rest of it behind its end. */
static int cut_torn_line(struct journal *j, const char *text, size_t length, struct error *e)
{
    if (all_spaces(text + j->end, length - j->end))
        return 0;
    if (j->old) {
        j->room = j->end;
        return ftruncate(j->fd, (off_t)j->end) == 0
                   ? 0
                   : error_set_errno(e, errno, "removing the incomplete last line of %s", j->path);
    }
    if (write_spaces(j, j->end, length, e) != 0 || sync_file(j, e) != 0)
        return error_prefix(e, "removing the incomplete last line");
    return 0;
}

void journal_init(struct journal *j, const char *path)
{
    *j = (struct journal){.path = strdup(path),
                          .fd = -1,
                          .damage = json_array(),
                          .before = json_object(),
                          .written = json_object()};
}

/* The open file is looked at: another may have its name by now. */
static char *read_records(struct journal *j, int fd, size_t *length, struct error *e)
{
    char *text = files_read_descriptor(fd, j->path, JOURNAL_LIMIT, length, e);
    if (text)
        journal_parse(j, text, *length);
    else
        error_prefix(e, "the journal %s", j->path);
    return text;
}

int journal_open(struct journal *j, const char *path, bool create, struct error *e)
{
    size_t length = 0;
    journal_init(j, path);
    if (create && make_folder_of(path, e) != 0)
        return error_prefix(e, "creating the journal's folder");
    int result = open_locked(j, create, e);
    if (result != 0)
        return result == 1 ? 0 : -1;
    char *text = read_records(j, j->fd, &length, e);
    if (!text)
        return -1;
    /* a damaged journal stays as it is */
    result = json_array_size(j->damage) > 0 ? 0 : cut_torn_line(j, text, length, e);
    free(text);
    return result;
}

int journal_peek(struct journal *j, const char *path, struct error *e)
{
    size_t length = 0;
    journal_init(j, path);
    if (!files_exist(path))
        return 0;
    int fd = files_open(path, e);
    char *text = fd >= 0 ? read_records(j, fd, &length, e) : NULL;
    if (fd >= 0)
        close(fd);
    free(text);
    return text ? 0 : -1;
}

void journal_close(struct journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    free(j->path);
    json_decref(j->damage);
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
    json_array_clear(j->damage);
    j->begun = j->done = false;
    return 0;
}

/* ---- writing */

size_t journal_size_of(const json_t *json)
{
    return json_dumpb(json, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) + JOURNAL_RECORD_BYTES;
}

/* The line of a record; the caller frees. */
static char *line_of(const struct journal *j, const json_t *record)
{
    char *text = json_dumps(record, JSON_COMPACT), *body = NULL, *line = NULL;
    if (text && j->old && asprintf(&line, "%s\n", text) < 0)
        line = NULL;
    if (text && !j->old && asprintf(&body, "%lld %s", (long long)(j->records + 1), text) > 0 &&
        asprintf(&line, "%08x %s\n", journal_crc(body, strlen(body)), body) < 0)
        line = NULL;
    free(body);
    free(text);
    return line;
}

/* Spaces for the bytes, so that the disk has the room; without it nothing remains of the try. */
static int take_space(struct journal *j, size_t bytes, struct error *e)
{
    size_t wanted = (j->end + bytes + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
    if (wanted <= j->room)
        return 0;
    if (wanted > JOURNAL_LIMIT)
        return error_set(e, "the journal %s would have %zu bytes; it may have %d", j->path, wanted,
                         JOURNAL_LIMIT);
    if (write_spaces(j, j->room, wanted, e) != 0 || sync_file(j, e) != 0) {
        (void)ftruncate(j->fd, (off_t)j->room);
        return error_prefix(e, "taking %zu bytes for the journal, which restore needs later", wanted);
    }
    j->room = wanted;
    return 1;
}

/* Write a line, and sync it to disk. Its end, the newline, is its last byte. */
static int write_line(struct journal *j, const char *line, size_t length, struct error *e)
{
    if (write_at(j, line, length, j->end, e) == 0 && sync_file(j, e) == 0)
        return 0;
    /* nothing of it may stay: the next one is shorter perhaps */
    size_t stop = j->end + length;
    (void)write_spaces(j, j->end, stop < j->room ? stop : j->room, NULL);
    if (stop > j->room)
        (void)ftruncate(j->fd, (off_t)j->room);
    return -1;
}

static int append(struct journal *j, json_t *record, struct error *e);

static json_t *room_record(const struct journal *j)
{
    return json_make("{s:s,s:I}", "type", "room", "room", (json_int_t)j->room);
}

/* Records say how long the file is: so it is known whether its end is there. */
static int make_room(struct journal *j, size_t length, struct error *e)
{
    if (j->old || j->end + length <= j->room)
        return 0;
    return take_space(j, length + JOURNAL_RECORD_BYTES, e) < 0 ? -1 : append(j, room_record(j), e);
}

/* Append one record, and process it like a record that was read. A damaged journal stays as it is. */
static int append(struct journal *j, json_t *record, struct error *e)
{
    bool whole = json_array_size(j->damage) == 0;
    int result = record && (!whole || make_room(j, journal_size_of(record), e) == 0) ? 0 : -1;
    char *line = result == 0 && whole ? line_of(j, record) : NULL;
    size_t length = line ? strlen(line) : 0;
    if (result == 0 && whole)
        result =
            line ? write_line(j, line, length, e) : error_set(e, "out of memory for a record of the journal");
    if (result == 0) {
        j->end += length;
        j->records += line ? 1 : 0;
        j->room = j->room > j->end ? j->room : j->end;
        result = apply_record(j, record, e);
    }
    free(line);
    json_decref(record);
    return result;
}

int journal_begin(struct journal *j, size_t bytes, struct error *e)
{
    int larger = j->old ? 0 : take_space(j, bytes + 4 * JOURNAL_RECORD_BYTES, e);
    if (larger < 0)
        return -1;
    if (j->begun)
        return larger ? append(j, room_record(j), e) : 0;
    char *boot = files_read_line("/proc/sys/kernel/random/boot_id", NULL), *machine = machine_id(),
         namespace[64];
    read_namespace(namespace, sizeof namespace);
    int result = append(j,
                        json_make("{s:s,s:i,s:s,s:I,s:s,s:s,s:s,s:I}", "type", "begin", "schema", 2,
                                  "version", HARNESS_VERSION, "time_ns", (json_int_t)clock_realtime_ns(),
                                  "boot", boot ? boot : "", "machine", machine ? machine : "", "netns",
                                  namespace, "room", (json_int_t)j->room),
                        e);
    free(machine);
    free(boot);
    sync_folder_of(j->path);
    return result;
}

int journal_note_before(struct journal *j, const char *interface, const char *pci, int index,
                        const char *address, const json_t *settings, const json_t *bound, struct error *e)
{
    if (json_object_get(j->before, interface))
        return 0;
    return append(j,
                  json_make("{s:s,s:s,s:s,s:i,s:s*,s:O,s:O*}", "type", "before", "interface", interface,
                            "pci", pci, "index", index, "address", address, "settings", settings, "bound",
                            (json_t *)(uintptr_t)bound),
                  e);
}

int journal_note_write(struct journal *j, const char *interface, const char *knob, const json_t *settings,
                       struct error *e)
{
    return append(j,
                  json_make("{s:s,s:s,s:s,s:O}", "type", "write", "interface", interface, "knob", knob,
                            "settings", settings),
                  e);
}

int journal_note_written(struct journal *j, const char *interface, const char *knob, struct error *e)
{
    return append(j, json_make("{s:s,s:s,s:s}", "type", "written", "interface", interface, "knob", knob), e);
}

int journal_note_done(struct journal *j, struct error *e)
{
    return append(j, json_make("{s:s}", "type", "done"), e);
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

const json_t *journal_all(const struct journal *j, const char *interface, const char *knob)
{
    return json_object_get(write_of(j, interface, knob), "all");
}

bool journal_unfinished(const struct journal *j, const char *interface, const char *knob)
{
    const json_t *write = write_of(j, interface, knob);
    return write && !json_is_true(json_object_get(write, "finished"));
}
