#include "verify/verify.h"

#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/folder.h"
#include "lib/folder/result_files.h"
#include "lib/formats/result_shape.h"
#include "lib/interrupt.h"
#include "lib/log.h"
#include "lib/packets/capture.h"
#include "lib/output/print.h"
#include "lib/output/verdicts.h"
#include "lib/program/program.h"
#include "lib/text.h"
#include "lib/units.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct verify_options {
    const char *settings;
    struct list_of hosts;
    int json;
};

static const struct field fields[] = {
    {.name = "settings",
     .kind = FIELD_STRING,
     .offset = offsetof(struct verify_options, settings),
     .argument = "FILE",
     .help =
         "What must be known beyond the packets: the hosts' settings, addresses, time-outs (harness schema "
         "verify). What is not stated is not judged. Of a run with a capture, its settings.json, its "
         "result.json or "
         "its folder will do. Default: of a run's own capture, those of the run; else none."},
    {.name = "host",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct verify_options, hosts),
     .argument = "ADDRESS",
     .help = "IP address of a host at whose port the packets were captured, unless the file says it "
             "(if_MACaddr). "
             "May be given several times."},
    {.name = "json",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct verify_options, json),
     .help = "Print one JSON document."},
    {0},
};
static const struct table options = {
    .name = "verify.options", .size = sizeof(struct verify_options), .fields = fields};

#define BELOW 20 /* columns before a check's reason */

static void print_kind(const json_t *kind)
{
    json_int_t count = json_integer_value(json_object_get(kind, "count"));
    size_t i;
    json_t *packet;
    print_out("%*s%lld x %s\n", BELOW, "", (long long)count,
              json_string_value(json_object_get(kind, "kind")));
    json_array_foreach(json_object_get(kind, "packets"), i, packet)
    {
        print_out("%*spacket %lld", BELOW + 2, "",
                  (long long)json_integer_value(json_object_get(packet, "packet")));
        const json_t *time = json_object_get(packet, "time_ns");
        char seconds[32];
        if (time)
            print_out(" at %s s", units_write_seconds(json_integer_value(time), seconds, sizeof seconds));
        print_out(": %s\n", json_string_value(json_object_get(packet, "text")));
    }
    if ((json_int_t)json_array_size(json_object_get(kind, "packets")) < count)
        print_out("%*sand %lld more\n", BELOW + 2, "",
                  (long long)count - (long long)json_array_size(json_object_get(kind, "packets")));
}

static void print_entry(const json_t *entry)
{
    size_t i;
    json_t *item;
    print_out("%-8s %-10s %s\n", json_string_value(json_object_get(entry, "verdict")),
              json_string_value(json_object_get(entry, "check")),
              json_string_value(json_object_get(entry, "reason")));
    json_array_foreach(json_object_get(entry, "findings"), i, item) print_kind(item);
    verdict_print_not_judged(entry, BELOW);
}

/* Something found; nothing found; nothing judged, or not all that was seen. */
static int exit_status(const json_t *checks)
{
    struct verdict_counts counts = verdicts_count(checks);
    bool open = false;
    size_t i;
    json_t *entry;
    json_array_foreach(checks, i, entry) open = open || json_object_get(entry, "open");
    return counts.failures ? EXIT_FAILED : counts.ok && !open ? EXIT_DONE : EXIT_SKIPPED;
}

static int print_result(const json_t *result, bool as_json)
{
    const json_t *checks = json_object_get(result, "checks");
    struct verdict_counts counts = verdicts_count(checks);
    size_t i;
    json_t *entry;
    if (as_json) {
        json_print(stdout, result, 17);
    } else {
        json_array_foreach(checks, i, entry) print_entry(entry);
        json_array_foreach(json_object_get(result, "not_judged"), i, entry)
            print_out("%-8s %-10s not judged: %s\n", "", "all", json_string_value(entry));
        json_int_t packets = json_integer_value(json_object_get(result, "packets"));
        print_out("%lld %s%s: ", (long long)packets, THINGS(packets, "packet"),
                  json_object_get(result, "cut") ? " of a file that is cut short" : "");
        verdicts_print_counts(&counts);
    }
    return exit_status(checks);
}

/* "-" is standard input. A named pipe is opened when a program writes into it. */
static int open_capture(const char *path, struct error *e)
{
    struct stat status;
    if (strcmp(path, "-") != 0 && lstat(path, &status) == 0 && S_ISFIFO(status.st_mode))
        log_info("%s is a pipe: waiting until a program writes into it (Ctrl-C ends this)", path);
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return error_set_errno(e, errno, "open %s", path);
    if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
        close(fd);
        return error_set(e, "open %s: it is neither a file nor a pipe", path);
    }
    return fd;
}

#define LAST_NS NS_PER_S /* for a pipe's writer to end after Ctrl-C */

struct pipe_source {
    int fd;
    struct interrupt interrupt;
    int64_t until_ns; /* after a signal; 0: there was none */
};

/* Ctrl-C ends the writer of a pipe, too, such as tcpdump, which then writes its last packets: they are read
 * until it has ended. */
static ssize_t pipe_source_read(void *context, void *into, size_t room)
{
    struct pipe_source *p = context;
    for (;;) {
        struct pollfd both[] = {{.fd = p->fd, .events = POLLIN}, {.fd = p->interrupt.fd, .events = POLLIN}};
        int signals = interrupt_count(&p->interrupt);
        if (signals && !p->until_ns)
            p->until_ns = clock_monotonic_ns() + LAST_NS;
        int64_t left_ns = p->until_ns - clock_monotonic_ns();
        if (signals > 1 || (signals && left_ns <= 0)) {
            log_warning(
                "interrupted: the pipe's writer goes on, and what it has written until now is judged");
            return 0;
        }
        int ready = poll(both, 2, signals ? (int)(left_ns / NS_PER_MS) + 1 : -1);
        if (ready < 0 && errno != EINTR)
            return -1;
        if (ready > 0 && both[0].revents)
            return read(p->fd, into, room);
    }
}

static json_t *judge_pipe(int fd, const char *path, const struct verify_settings *settings,
                          const struct checker *const *which, struct error *e)
{
    struct pipe_source from = {.fd = fd};
    if (interrupt_open(&from.interrupt, e) != 0)
        return NULL;
    struct capture_reader *capture = capture_read_new(pipe_source_read, &from, path, e);
    json_t *result = capture ? verify_capture(capture, settings, which, e) : NULL;
    capture_read_free(capture);
    interrupt_close(&from.interrupt);
    return result;
}

static json_t *judge_file(int fd, const char *path, const struct verify_settings *settings,
                          const struct checker *const *which, struct error *e)
{
    struct capture_reader *capture = capture_read_of(fd, path, e);
    json_t *result = capture ? verify_capture(capture, settings, which, e) : NULL;
    capture_read_free(capture);
    return result;
}

static json_t *judge_capture(const char *path, const struct verify_settings *settings,
                             const struct checker *const *which, struct error *e)
{
    struct stat status;
    int fd = open_capture(path, e);
    if (fd < 0)
        return NULL;
    bool piped = fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
    json_t *result = (piped ? judge_pipe : judge_file)(fd, path, settings, which, e);
    close(fd);
    return result;
}

/* The checkers that were named, or all. */
static int choose(const struct call *call, const struct checker **which, size_t room, struct error *e)
{
    size_t count = 0;
    for (size_t i = 1; i < call->count && count < room; i++) {
        const struct checker *one = verify_find(call->arguments[i], e);
        if (!one)
            return -1;
        bool known = false;
        for (size_t k = 0; k < count; k++)
            known = known || which[k] == one;
        if (!known)
            which[count++] = one;
    }
    for (size_t i = 0; call->count == 1 && checkers[i] && count < room; i++)
        which[count++] = checkers[i];
    which[count] = NULL;
    return 0;
}

#define MOST_CHECKERS 16

/* ---- a run's own settings */

#define RESULT_FILE "result.json"

/* The folder that a path is in, if its file has this name; NULL: it has another. The caller frees it. */
static char *folder_of(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    if (strcmp(file, name) != 0)
        return NULL;
    return slash ? strndup(path, (size_t)(slash - path + 1)) : strdup("./");
}

static bool has_result(const char *folder)
{
    char *path = files_join(folder, RESULT_FILE);
    bool has = path && files_exist(path);
    free(path);
    return has;
}

/* The result of the run in a folder; what it has that cannot be is said. */
static json_t *result_of_run(const char *folder, struct error *e)
{
    struct folder run = {.fd = -1};
    json_t *result =
        folder_open(&run, folder, e) == 0 ? json_file_load_in(&run, RESULT_FILE, DOCUMENT_RESULT, e) : NULL;
    const json_t *schema = json_object_get(result, "schema");
    folder_close(&run);
    if (result && json_integer_value(schema) != 1) {
        error_set(e, "%s" RESULT_FILE " has a schema other than 1: a newer harness wrote it", folder);
        json_decref(result);
        return NULL;
    }
    return result;
}

/* What the run in a folder kept of its settings for its capture. *doubt, a new text: the result was changed
 * since, so that they need not be the run's; NULL: nothing shows that. */
static json_t *settings_of_run(const char *folder, char **doubt, struct error *e)
{
    json_t *result = result_of_run(folder, e), *wrong = NULL, *sentence;
    size_t i;
    if (result)
        wrong = result_take_out_wrong(RESULT_DOCUMENT, result);
    json_array_foreach(wrong, i, sentence)
    {
        log_warning("%s%s", folder, json_string_value(sentence));
    }
    if (i)
        *doubt = strdup("the run's " RESULT_FILE ", which has the settings, was changed");
    const json_t *capture = json_object_get(result, "capture");
    json_t *settings = json_incref(json_object_get(capture, "settings"));
    if (json_object_get(capture, "left_out_from_ns"))
        log_warning("%s: the capture ended before the run did, where it reached its limit", folder);
    if (result && !settings)
        error_set(
            e,
            "%s: the result has no settings to judge packets by: its run captured none, or was made by an "
            "earlier version",
            folder);
    json_decref(wrong);
    json_decref(result);
    return settings;
}

/* The run that --settings names; NULL: it is a document of its own. The caller frees it. */
static char *run_of_settings(const char *path)
{
    static const char *const files[] = {"settings.json", RESULT_FILE};
    if (has_result(path))
        return strdup(path);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *folder = folder_of(path, files[i]);
        if (folder && has_result(folder))
            return folder;
        free(folder);
    }
    return NULL;
}

/* Those of --settings, of the run that the capture is of, or none. *doubt as above. */
static int load_settings(const struct verify_options *said, const char *capture,
                         struct verify_settings *settings, char **doubt, struct error *e)
{
    char *run = said->settings ? run_of_settings(said->settings) : folder_of(capture, CAPTURE_FILE);
    json_t *document = run && (said->settings || has_result(run)) ? settings_of_run(run, doubt, e) : NULL;
    bool named = run && said->settings;
    int done = -1;
    if (document) {
        done = verify_settings_parse(settings, document, &said->hosts, e);
        if (done == 0)
            log_info("judged by the settings of the run in %s%s", run,
                     named ? "" : " (--settings names others)");
        else
            error_prefix(e, "%s: the run's settings", run);
    } else if (!named) {
        if (run && has_result(run))
            log_warning("%s", e->text);
        done = verify_settings_load(settings, said->settings, &said->hosts, e);
    }
    json_decref(document);
    free(run);
    return done;
}

/* The capture of a run's folder, or the path itself. The caller frees it. */
static char *capture_of(const char *path, struct error *e)
{
    struct stat status;
    if (strcmp(path, "-") == 0 || stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return strdup(path);
    char *capture = files_join(path, CAPTURE_FILE);
    if (capture && files_exist(capture))
        return capture;
    error_set(e, "%s has no " CAPTURE_FILE ": name a run's folder (of a sweep, one of 01, 02, ...) or a file",
              path);
    free(capture);
    return NULL;
}

/* Is the capture of a run's folder as long as it was? -1: the sentence says that it is not. */
static int check_capture_bytes(const char *folder, struct error *e)
{
    static const char *const wanted[] = {"files", NULL};
    struct folder run = {.fd = -1};
    struct error found;
    json_t *result = folder_open(&run, folder, NULL) == 0
                         ? json_file_load_parts_in(&run, RESULT_FILE, DOCUMENT_RESULT, wanted, NULL)
                         : NULL;
    int same = result_files_check_size(&run, result, CAPTURE_FILE, &found);
    if (same != 0)
        error_set(e, "%s%s: it was changed, or is of another run", folder, found.text);
    folder_close(&run);
    json_decref(result);
    return same;
}

/* What holds of the capture as a whole leaves every checker open that found nothing. */
static void leave_open(json_t *judged, const char *why)
{
    json_t *check;
    size_t i;
    json_array_append_new(json_object_get(judged, "not_judged"), json_text(why));
    json_array_foreach(json_object_get(judged, "checks"), i, check)
    {
        if (!json_object_get(check, "open"))
            json_object_set_new(check, "open", json_text(why));
        if (strcmp(json_string_value(json_object_get(check, "verdict")), "ok") == 0)
            json_object_set_new(check, "verdict", json_text("unknown"));
    }
}

static int run_verify(const struct call *call)
{
    const struct verify_options *said = call->options;
    const struct checker *which[MOST_CHECKERS + 1];
    struct verify_settings settings;
    struct error e;
    char *doubt = NULL, *capture = capture_of(call->arguments[0], &e);
    if (!capture || choose(call, which, MOST_CHECKERS, &e) != 0 ||
        load_settings(said, capture, &settings, &doubt, &e) != 0) {
        free(doubt);
        free(capture);
        return program_fail(EXIT_USAGE, &e);
    }
    char *own = folder_of(capture, CAPTURE_FILE);
    struct error why;
    bool changed = own && check_capture_bytes(own, &why) != 0;
    if (own && !changed && !said->settings && has_result(own))
        settings.complete = settings.times; /* of a simulated run */
    json_t *result = judge_capture(capture, &settings, which, &e);
    if (result && changed)
        leave_open(result, why.text);
    if (result && doubt)
        leave_open(result, doubt);
    free(doubt);
    verify_settings_free(&settings);
    free(capture);
    free(own);
    if (!result)
        return program_fail(EXIT_USAGE, &e);
    int status = print_result(result, said->json);
    json_decref(result);
    return status;
}

const struct command command_verify = {
    .name = "verify",
    .arguments = "CAPTURE|RUN [CHECKER...]",
    .about = "Judge the packets of a pcap or pcapng file, or of a run's capture: go-back-n, cnp, dcqcn, pfc, "
             "ecn, icrc.",
    .options = &options,
    .least = 1,
    .most = 1 + MOST_CHECKERS,
    .words = capture_check_names,
    .run = run_verify,
};
