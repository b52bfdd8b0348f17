#include "harness/labs/hosts/remote_stream.h"
#include "harness/labs/hosts/capture/pcaps.h"
#include "harness/labs/hosts/sonic/counters.h"
#include "harness/traffic/printed.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/clock.h"
#include "lib/formats/lines.h"
#include "lib/output/print.h"
#include "lib/roce/completion.h"
#include "lib/xalloc.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* However fast a program prints, the other hosts and the end of the run are looked at after this
 * number of chunks. For messages that is more than a pipe holds: all of the last ones of a program that has
 * ended. */
#define CHUNK         65536
#define CHUNKS_A_TURN 16
#define SAYING_CHUNK  1024
#define SAID_A_TURN   128
#define SAID_LIMIT    4096
#define PRINTED_LIMIT 65536     /* of a tool that prints a table */
#define RANKS_LIMIT   (1 << 20) /* of a collective, which prints a line for each rank too */

/* The host of the program; of a sampler of several NICs the machine. */
static const char *host_name(const struct stream *s)
{
    return s->nics ? remote_machine_name(s->host) : s->host->lab->name;
}

/* Does its tool read all of the output at its end? */
static bool is_read_whole(const struct stream *s)
{
    return s->kind == STREAM_COLLECTIVE ||
           ((s->kind == STREAM_TRAFFIC || s->kind == STREAM_SERVER) && s->job && s->job->tool->read);
}

void stream_add_complaint(const struct stream *s, struct text *out)
{
    const char *said = text_string(&s->said), *error = strstr(said, ": error: ");
    struct text made = {0};
    if (s->kind == STREAM_COLLECTIVE)
        return;
    if (error)
        text_add(&made, "%.*s", (int)strcspn(error + strlen(": error: "), "\n"), error + strlen(": error: "));
    else if (is_read_whole(s) && s->job->tool->explain)
        s->job->tool->explain(s->job, said, text_string(&s->printed), &made);
    else if (!strstr(said, ": warning: "))
        text_add(&made, "%s", said);
    text_add(out, "%s%.700s", made.length ? ": " : "", text_string(&made));
    text_free(&made);
}

/* ---- the start */

/*
 * A remote program has no terminal, so it gets no signal when the connection ends. Therefore a watcher
 * process reads the shell's standard input and terminates the program when that is closed (the shell
 * becomes the program by exec, so its process id stays the same). When the program has ended, its process
 * id may be another's: the watcher's parent, by proc(5), is not the program any more. The program's own
 * input, if any, is the first lines.
 */
#define WATCH \
    "cat <&3; read -r pid name state parent rest </proc/self/stat; [ \"$parent\" = $$ ] && kill -TERM $$"
#define UNTIL_CLOSED "exec 3<&0; (" WATCH ") >/dev/null 2>&1 & exec \"$@\" 3<&- "
static const char without_input[] = UNTIL_CLOSED "</dev/null";
static const char with_input[] = "IFS= read -r input; " UNTIL_CLOSED "<<END\n$input\nEND";
static const char with_secret[] =
    "IFS= read -r secret; IFS= read -r input; " UNTIL_CLOSED "<<END\n$secret\n$input\nEND";

/* All lines go to the program, now and later, by a coprocess of bash: the program must stay this process,
 * and a minimal guest has no /dev/fd. */
static const char with_all_input[] =
    "exec 3<&0; coproc MORE { exec 2>/dev/null; " WATCH "; }; exec \"$@\" <&\"${MORE[0]}\" 3<&-";

static const char *script_of(const struct stream_request *request)
{
    return request->more     ? with_all_input
           : request->secret ? with_secret
           : request->input  ? with_input
                             : without_input;
}

#define INPUT_NS (10 * NS_PER_S) /* time limit for the connection to take a program's input */

/* Write to its standard input; the connection may be slow, or hang. */
static int write_input(struct stream *s, const struct text *lines, const char *doing, struct error *e)
{
    int result = lines->failed   ? error_set(e, "out of memory")
                 : lines->length ? process_write(&s->process, lines->data, lines->length, INPUT_NS, e)
                                 : 0;
    return result == 0 ? 0 : error_prefix(e, "host %s: %s", host_name(s), doing);
}

/* The lines that the script reads. */
static int give_input(struct stream *s, const struct stream_request *request, struct error *e)
{
    struct text lines = {0};
    char doing[100];
    snprintf(doing, sizeof doing, "giving %s its input", s->program);
    if (request->secret)
        text_add(&lines, "%s\n", request->secret->text);
    if (request->secret || request->input)
        text_add(&lines, "%s\n", request->input ? request->input : "");
    int result = write_input(s, &lines, doing, e);
    text_free(&lines);
    return result;
}

int stream_say(struct stream *s, const char *line, struct error *e)
{
    struct text lines = {0};
    char doing[100];
    snprintf(doing, sizeof doing, "telling %s to start", s->program);
    text_add(&lines, "%s\n", line);
    int result = write_input(s, &lines, doing, e);
    text_free(&lines);
    return result;
}

int stream_start(struct stream *s, const struct stream_request *request, struct error *e)
{
    struct words w = {0};
    *s = (struct stream){.kind = request->kind,
                         .program = request->program,
                         .job = request->job,
                         .collective = request->collective,
                         .role = request->role,
                         .host = request->host,
                         .spool = request->spool,
                         .series = request->series,
                         .heard_ns = clock_monotonic_ns()};
    words_add_all(&w,
                  (const char *const[]){request->more ? "bash" : "sh", "-c", script_of(request), "sh", NULL});
    words_add_all(&w, (const char *const *)request->words->items);
    int result = words_whole(&w, e);
    if (result == 0)
        result = ssh_start(s->host->ssh, (const char *const *)w.items, PROCESS_IN | PROCESS_OUT | PROCESS_ERR,
                           &s->process, e);
    words_free(&w);
    if (result != 0)
        return -1;
    s->running = true;
    if (give_input(s, request, e) != 0) {
        stream_close(s);
        return -1;
    }
    return 0;
}

void stream_poll(const struct stream *s, struct pollfd fds[2])
{
    fds[0] = (struct pollfd){.fd = s->running ? s->process.out : -1, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = s->running ? s->process.err : -1, .events = POLLIN};
}

/* ---- messages */

/* The last lines of a collective are kept: mpirun's messages have several, and lines of dashes around
 * them. */
static void hear_collective(struct stream *s)
{
    nccl_debug_take(&s->debug, s->saying.data, s->saying.length);
    if (nccl_debug_is_message(s->saying.data, s->saying.length))
        return;
    if (s->said.length > SAID_LIMIT)
        text_clear(&s->said);
    text_add(&s->said, "%s\n", text_string(&s->saying));
}

/* The first lines are kept, of which later ones are consequences. */
static void hear_tool(struct stream *s)
{
    if (s->said.length + s->saying.length < SAID_LIMIT)
        text_add(&s->said, "%s\n", text_string(&s->saying));
}

/* Into run.log, which takes a certain amount of a host: its programs could fill the disk. */
static void __attribute__((format(printf, 3, 4)))
log_of_host(struct stream *s, const struct lab_run *run, const char *format, ...)
{
    struct text line = {0};
    va_list values;
    va_start(values, format);
    text_add_list(&line, format, values);
    va_end(values);
    if (s->host->log.bytes + line.length <= STREAM_LOG_MOST) {
        s->host->log.bytes += line.length;
        if (run->log)
            print_to(run->log, "%s\n", text_string(&line));
    } else {
        s->host->log.lines_left_out++;
        s->host->log.bytes_left_out += line.length;
    }
    text_free(&line);
}

static void take_message(struct stream *s, const struct lab_run *run)
{
    if (!s->saying.length)
        return;
    if (s->kind == STREAM_COLLECTIVE) {
        hear_collective(s);
    } else if (is_read_whole(s)) {
        hear_tool(s);
    } else {
        text_clear(&s->said);
        text_add_bytes(&s->said, s->saying.data, s->saying.length);
    }
    if (s->spool)
        spool_read_message(s->spool, text_string(&s->said));
    log_of_host(s, run, "%s: %s", host_name(s), text_string(&s->saying));
    text_clear(&s->saying);
}

static void take_messages(struct stream *s, const struct lab_run *run)
{
    char chunk[SAYING_CHUNK];
    ssize_t got;
    for (int turn = 0;
         turn < SAID_A_TURN && s->process.err >= 0 && (got = read(s->process.err, chunk, sizeof chunk)) > 0;
         turn++)
        for (ssize_t i = 0; i < got; i++) {
            bool control = (unsigned char)chunk[i] < ' ' && chunk[i] != '\t';
            if (chunk[i] == '\n')
                take_message(s, run);
            else if (!control && s->saying.length < SAID_LIMIT)
                text_add_bytes(&s->saying, &chunk[i], 1);
        }
}

/* ---- lines */

/* Does this line say that the driver is connected? A damaged line does not. */
static bool says_ready(const char *text, size_t length)
{
    struct line line;
    struct error ignored;
    if (lines_parse(text, length, &line, &ignored) != 0)
        return false;
    const char *what = line.kind == LINE_EVENT ? json_string_value(json_object_get(line.json, "what")) : NULL;
    bool ready = what && strcmp(what, "ready") == 0;
    lines_free_parsed(&line);
    return ready;
}

static int take_flow_line(struct stream *s, const struct lab_run *run, const char *line, size_t length,
                          struct error *e)
{
    s->ready = s->ready || (s->job->tool->awaits_start && says_ready(line, length));
    return recorder_flow(run->recorder, s->role, line, length, e);
}

/* A line for the tool, and for run.log. A line too many is not kept, and the output then is not what the
 * tool prints. */
static int keep_line(struct stream *s, const struct lab_run *run, const char *line, size_t length,
                     struct error *e)
{
    int limit = s->kind == STREAM_COLLECTIVE ? RANKS_LIMIT : PRINTED_LIMIT;
    if (s->kind != STREAM_COLLECTIVE && s->job->tool->needs && !s->job->tool->needs(line, length)) {
        log_of_host(s, run, "%s: %s: %.*s", host_name(s), s->program, (int)length, line);
        return 0;
    }
    if (s->printed.length + length + 1 > (size_t)limit) {
        s->unreadable = true;
        error_set(&s->why, "its output has more than %d bytes", limit);
        return error_set(e, "host %s: %s: %s", host_name(s), s->program, s->why.text);
    }
    text_add_bytes(&s->printed, line, length);
    if (s->printed.failed)
        return error_set(e, "out of memory for the output of %s", s->program);
    log_of_host(s, run, "%s: %s: %s", host_name(s), s->program,
                text_string(&s->printed) + s->printed.length - length);
    text_add_bytes(&s->printed, "\n", 1);
    return 0;
}

/* All that a driver has printed becomes flow lines, all that a collective has printed its figures. */
static int read_whole(struct stream *s, const struct lab_run *run)
{
    struct text made = {0};
    if (s->kind == STREAM_COLLECTIVE) {
        s->figures = s->collective->tool->read(s->collective, text_string(&s->printed), s->printed.length,
                                               &s->debug, &s->wrong, &s->why);
        return s->figures ? 0 : -1;
    }
    int64_t time_ns = clock_realtime_ns() + s->host->offset_ns;
    int result =
        s->job->tool->read(s->job, text_string(&s->printed), s->printed.length, time_ns, &made, &s->why);
    if (result == 0)
        result = recorder_flow(run->recorder, s->role, text_string(&made), made.length, &s->why);
    text_free(&made);
    return result;
}

void stream_ran(const struct stream *s, struct text *command)
{
    const char *printed = text_string(&s->printed);
    size_t before = strlen(TRAFFIC_RAN), length = strcspn(printed, "\n");
    if (is_read_whole(s) && strncmp(printed, TRAFFIC_RAN, before) == 0)
        text_add_bytes(command, printed + before, (length < SAID_LIMIT ? length : SAID_LIMIT) - before);
}

/* What redis prints in place of an answer is an error's text. */
static int take_reading(struct stream *s, const struct lab_run *run, const char *line, size_t length,
                        struct error *e)
{
    struct text sample = {0};
    int64_t time_ns;
    json_t *reading = json_file_parse(line, length, host_name(s), DOCUMENT_LINE, e);
    int result = reading ? sonic_series_sample(s->series, reading, &sample, &time_ns, e) : -1;
    json_decref(reading);
    if (result == 0) {
        s->sample_ns = time_ns;
        result = recorder_sample(run->recorder, s->role, text_string(&sample), sample.length, e);
    } else {
        error_prefix(e, "host %s: %s", host_name(s), s->program);
        recorder_damaged(run->recorder, s->role, e);
    }
    text_free(&sample);
    return result;
}

/* ---- samplers of several NICs */

void stream_add_nic(struct stream *s, size_t role, const char *netdev)
{
    struct text sample = {0}, object = {0};
    text_add(&sample, "[\"%s\",", netdev);
    text_add(&object, "{\"nic\":\"%s\",", netdev);
    s->nics = xreallocarray(s->nics, s->nic_count + 1, sizeof *s->nics);
    s->nics[s->nic_count++] = (struct stream_nic){
        .role = role, .begins_sample = text_take(&sample), .begins_object = text_take(&object)};
}

/* Does the line begin like this? Then so many bytes of it are that. */
static size_t begins(const char *line, size_t length, const char *with)
{
    size_t most = with ? strlen(with) : SIZE_MAX;
    return length > most && memcmp(line, with, most) == 0 ? most : 0;
}

static void note_sample(struct stream *s, struct stream_nic *nic, const char *values)
{
    nic->sample_ns = strtoll(values, NULL, 10);
    s->sample_ns = nic->sample_ns;
    for (size_t i = 0; i < s->nic_count; i++)
        if (s->nics[i].sample_ns < s->sample_ns)
            s->sample_ns = s->nics[i].sample_ns;
}

/* To the role whose NIC the line names: a sample without its name, as a sampler of one NIC writes it. */
static int take_nic_sample(struct stream *s, const struct lab_run *run, const char *line, size_t length,
                           struct error *e)
{
    for (size_t i = 0; i < s->nic_count; i++) {
        struct stream_nic *nic = &s->nics[i];
        size_t named = begins(line, length, nic->begins_sample);
        if (named) {
            struct text sample = {0};
            text_add(&sample, "[");
            text_add_bytes(&sample, line + named, length - named);
            note_sample(s, nic, line + named);
            int result = recorder_sample(run->recorder, nic->role, text_string(&sample), sample.length, e);
            text_free(&sample);
            return result;
        }
        if (begins(line, length, nic->begins_object))
            return recorder_sample(run->recorder, nic->role, line, length, e);
    }
    error_set(e, "host %s: %s: a line is of none of the NICs that are sampled: \"%.60s\"", host_name(s),
              s->program, line);
    recorder_damaged(run->recorder, s->role, e);
    return -1;
}

/* A damaged line is only mentioned in the log; a full disk ends the run. */
static int take_line(struct stream *s, const struct lab_run *run, const char *line, size_t length,
                     struct error *e)
{
    struct error wrong;
    int result = 0;
    s->lines++;
    if (s->series) {
        result = take_reading(s, run, line, length, &wrong);
    } else if (s->nics) {
        result = take_nic_sample(s, run, line, length, &wrong);
    } else if (s->kind == STREAM_SAMPLER) {
        s->sample_ns = *line == '[' ? strtoll(line + 1, NULL, 10) : s->sample_ns;
        result = recorder_sample(run->recorder, s->role, line, length, &wrong);
    } else if (is_read_whole(s))
        result = s->unreadable ? 0 : keep_line(s, run, line, length, &wrong);
    else if (s->kind == STREAM_TRAFFIC)
        result = take_flow_line(s, run, line, length, &wrong);
    if (result == 0)
        return 0;
    log_of_host(s, run, "%s", wrong.text);
    return recorder_flush(run->recorder, e);
}

static int take_chunk(struct stream *s, const struct lab_run *run, const char *chunk, size_t length,
                      struct error *e)
{
    if (s->spool)
        return spool_write(s->spool, chunk, length, e);
    while (length) {
        const char *newline = memchr(chunk, '\n', length);
        size_t part = newline ? (size_t)(newline - chunk) : length;
        text_add_bytes(&s->line, chunk, part);
        if (s->line.length > LINES_MAX_LENGTH)
            return error_set(e, "host %s: %s printed a line of more than %d bytes", host_name(s), s->program,
                             LINES_MAX_LENGTH);
        if (!newline)
            return 0;
        if (s->line.length && take_line(s, run, s->line.data, s->line.length, e) != 0)
            return -1;
        text_clear(&s->line);
        chunk += part + 1;
        length -= part + 1;
    }
    return 0;
}

/* The program has ended within a line. A tool's table is read as it stands. */
static int take_last_line(struct stream *s, const struct lab_run *run, struct error *e)
{
    struct error cut;
    if (!s->line.length || s->spool)
        return 0;
    if (is_read_whole(s))
        return take_line(s, run, s->line.data, s->line.length, e);
    if (s->kind != STREAM_SAMPLER && s->kind != STREAM_TRAFFIC)
        return 0;
    error_set(&cut, "%s: the last line of %s is incomplete: \"%.60s\"",
              scenario_role(&run->cell->scenario, s->role), s->program, text_string(&s->line));
    if (run->log)
        print_to(run->log, "%s\n", cut.text);
    recorder_damaged(run->recorder, s->role, &cut);
    return 0;
}

int stream_take(struct stream *s, const struct lab_run *run, struct error *e)
{
    char chunk[CHUNK];
    ssize_t got = 1;
    if (!s->running)
        return 0;
    take_messages(s, run);
    for (int turn = 0; turn < CHUNKS_A_TURN && (got = read(s->process.out, chunk, sizeof chunk)) > 0;
         turn++) {
        s->heard_ns = clock_monotonic_ns();
        if (take_chunk(s, run, chunk, (size_t)got, e) != 0)
            return -1;
    }
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        take_messages(s, run);
        take_message(s, run);
        s->running = false;
        return take_last_line(s, run, e);
    }
    return 0;
}

/* ---- the end */

bool stream_may_end(const struct stream *s)
{
    return s->kind == STREAM_TRAFFIC || s->kind == STREAM_COLLECTIVE ||
           (s->kind == STREAM_SERVER && s->job->tool->server_for_each_job);
}

void stream_tell_end(struct stream *s)
{
    if (s->process.in >= 0)
        close(s->process.in);
    s->process.in = -1;
    s->cut = s->cut || s->running;
}

/* What it printed is read once. */
static bool is_readable(struct stream *s, const struct lab_run *run)
{
    if (!s->unreadable && !s->was_read)
        s->unreadable = read_whole(s, run) != 0;
    s->was_read = true;
    return !s->unreadable;
}

/* A completion error among what a tool without lines said: as a line of its first flow, for the result. */
static bool note_completion(const struct stream *s, const struct lab_run *run, const struct text *said)
{
    const char *at = text_string(said), *end = at + said->length;
    struct printed_line one;
    struct error ignored;
    int status, vendor;
    while (printed_next(&at, end, &one)) {
        if (!completion_read(one.at, one.length, &status, &vendor))
            continue;
        struct text words = {0};
        completion_explain_printed(status, vendor, &words);
        json_t *line = json_make("{s:s,s:s,s:I,s:s,s:s,s:o}", "type", "error", "flow", s->job->flows[0]->name,
                                 "time_ns", (json_int_t)(clock_realtime_ns() + s->host->offset_ns), "status",
                                 completion_name(status), "text", text_string(&words), "completion",
                                 completion_json(status, vendor));
        char *text = json_dumps(line, JSON_COMPACT);
        if (text)
            (void)recorder_flow(run->recorder, s->role, text, strlen(text), &ignored);
        free(text);
        json_decref(line);
        text_free(&words);
        return true;
    }
    return false;
}

static void note_failure(const struct stream *s, const struct lab_run *run)
{
    if ((s->kind == STREAM_TRAFFIC || s->kind == STREAM_SERVER) && is_read_whole(s) &&
        !note_completion(s, run, &s->said))
        note_completion(s, run, &s->printed);
}

/* Its exit status is 0. */
static enum stream_outcome end_well(struct stream *s, const struct lab_run *run, struct error *e)
{
    if (s->kind == STREAM_SERVER || !is_read_whole(s))
        return STREAM_WELL;
    if (is_readable(s, run))
        return STREAM_WELL;
    struct text more = {0};
    note_failure(s, run);
    stream_add_complaint(s, &more); /* some versions fail with exit status 0 */
    error_set(e, "host %s: %s: %s%.700s", host_name(s), s->program, s->why.text, text_string(&more));
    text_free(&more);
    return STREAM_BADLY;
}

/* A rank that died makes a table that is whole no result. */
static void drop_figures(struct stream *s)
{
    json_decref(s->figures);
    s->figures = NULL;
}

/* What a completion error means, and the last lines of its messages and of its output: nccl-tests says on
 * standard output what went wrong, mpirun on standard error, NCCL the cause in a warning between other
 * messages. */
static void complain_of_collective(const struct stream *s, struct text *how)
{
    struct text said = {0}, printed = {0};
    if (s->debug.failed_status) {
        text_add(how, ": ");
        completion_explain_printed(s->debug.failed_status, s->debug.failed_vendor, how);
    }
    printed_tail(text_string(&s->said), s->said.length, &said);
    printed_tail(text_string(&s->printed), s->printed.length, &printed);
    text_add(how, "%s%.350s%s%s%s%.350s", said.length ? ": " : "", text_string(&said),
             *s->debug.warned ? "; NCCL warned: " : "", s->debug.warned,
             printed.length ? "; its output ends with: " : "", text_string(&printed));
    text_free(&said);
    text_free(&printed);
}

enum stream_outcome stream_outcome(struct stream *s, const struct lab_run *run, int64_t wait_ns,
                                   struct error *e)
{
    struct error gone;
    int ended = s->reaped ? 1 : process_wait(&s->process, wait_ns, &s->status, e);
    if (ended <= 0)
        return ended < 0 ? STREAM_BADLY : STREAM_NOT_YET;
    s->reaped = true;
    take_messages(s, run); /* its last messages on stderr may come after the end of its output */
    take_message(s, run);
    int status = s->status;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return end_well(s, run, e);
    if (s->kind == STREAM_COLLECTIVE && WIFEXITED(status) && is_readable(s, run) && s->wrong)
        return STREAM_WELL;
    drop_figures(s);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 255 && !ssh_alive(s->host->ssh, &gone)) {
        error_set(e, "%s", gone.text);
        return STREAM_BADLY;
    }
    struct text how = {0};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 255) /* from ssh itself: the program had no exit status */
        text_add(&how, "was killed on the host");
    else
        process_describe(status, &how);
    if (s->kind == STREAM_COLLECTIVE)
        complain_of_collective(s, &how);
    note_failure(s, run);
    stream_add_complaint(s, &how);
    error_set(e, "host %s: %s %s", host_name(s), s->program, text_string(&how));
    text_free(&how);
    return STREAM_BADLY;
}

void stream_close(struct stream *s)
{
    process_stop(&s->process, NS_PER_S);
    text_free(&s->line);
    text_free(&s->said);
    text_free(&s->saying);
    text_free(&s->printed);
    for (size_t i = 0; i < s->nic_count; i++) {
        free(s->nics[i].begins_sample);
        free(s->nics[i].begins_object);
    }
    free(s->nics);
    drop_figures(s);
}
