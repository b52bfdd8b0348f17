#include "harness/slurm/submission.h"

#include "harness/slurm/commands.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/log.h"
#include "lib/program/program.h"
#include "lib/text.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER       "slurm"
#define TASKS        "tasks.json"
#define MOST_NUMBER  1000000
#define MOST_AT_ONCE 4096
#define MOST_FAILED  900 /* bytes of a sentence */
#define LOG_TAIL     4096

size_t submission_tasks(const struct submission *s)
{
    return (s->count + s->per_task - 1) / s->per_task;
}

size_t submission_task_of(const struct submission *s, size_t k)
{
    return k / s->per_task + 1;
}

static size_t number_of(const char *name)
{
    size_t length = strspn(name, "0123456789");
    return *name == '0' || name[length] || length > 6 ? 0 : strtoul(name, NULL, 10);
}

size_t submission_last(const char *sweep)
{
    size_t last = 0;
    char *path = files_join(sweep, FOLDER);
    DIR *entries = path ? opendir(path) : NULL;
    for (const struct dirent *entry; entries && (entry = readdir(entries));)
        if (number_of(entry->d_name) > last)
            last = number_of(entry->d_name);
    if (entries)
        closedir(entries);
    free(path);
    return last;
}

static char *path_of(const char *sweep, size_t number)
{
    struct text path = {0};
    text_add(&path, "%s/" FOLDER "/%zu", sweep, number);
    return text_take(&path);
}

/* ---- writing */

static json_t *submission_document(const struct submission *s)
{
    json_t *runs = json_array();
    for (size_t k = 0; k < s->count; k++)
        json_array_append_new(runs, json_integer((json_int_t)s->runs[k] + 1));
    return json_make("{s:i,s:s,s:s,s:s,s:I,s:I,s:I,s:o}", "schema", 1, "program", "harness", "version",
                     HARNESS_VERSION, "job_name", s->name, "runs_per_task", (json_int_t)s->per_task,
                     "runs_at_a_time", (json_int_t)s->at_a_time, "time_ns", (json_int_t)s->time_ns, "runs",
                     runs);
}

int submission_keep(struct submission *s, const char *sweep, struct error *e)
{
    s->number = submission_last(sweep) + 1;
    s->time_ns = clock_realtime_ns();
    s->folder = s->number <= MOST_NUMBER ? path_of(sweep, s->number) : NULL;
    char *path = s->folder ? files_join(s->folder, TASKS) : NULL;
    json_t *document = submission_document(s);
    int result = !path || !document                      ? error_set(e, "out of memory")
                 : files_make_folders(s->folder, e) != 0 ? -1
                                                         : json_file_save(path, document, e);
    json_decref(document);
    free(path);
    return result;
}

/* ---- reading */

static int submission_take_number(const json_t *document, const char *key, json_int_t most, size_t *into,
                                  struct error *e)
{
    const json_t *value = json_object_get(document, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 1 || number > most)
        return error_set(e, "%s: expected a whole number from 1 to %lld", key, (long long)most);
    *into = (size_t)number;
    return 0;
}

static int submission_take_runs(struct submission *s, const json_t *list, size_t run_count, struct error *e)
{
    json_t *run;
    size_t k;
    s->count = json_array_size(list);
    s->runs = calloc(s->count + 1, sizeof *s->runs);
    if (!s->runs)
        return error_set(e, "out of memory");
    if (s->count < 1 || s->count > run_count)
        return error_set(e, "runs: expected 1 to %zu numbers", run_count);
    json_array_foreach(list, k, run)
    {
        json_int_t number = json_integer_value(run);
        if (number < 1 || (size_t)number > run_count)
            return error_set(e, "runs[%zu]: expected a whole number from 1 to %zu", k, run_count);
        s->runs[k] = (size_t)number - 1;
    }
    return 0;
}

static int submission_parse(struct submission *s, const json_t *document, size_t run_count, struct error *e)
{
    const char *name = json_string_value(json_object_get(document, "job_name"));
    if (!name || !slurm_is_name(name))
        return error_set(e, "job_name: expected a name that begins with harness-");
    s->name = strdup(name);
    s->time_ns = json_integer_value(json_object_get(document, "time_ns"));
    if (!s->name ||
        submission_take_number(document, "runs_per_task", (json_int_t)run_count, &s->per_task, e) != 0 ||
        submission_take_number(document, "runs_at_a_time", MOST_AT_ONCE, &s->at_a_time, e) != 0 ||
        submission_take_runs(s, json_object_get(document, "runs"), run_count, e) != 0)
        return s->name ? -1 : error_set(e, "out of memory");
    if (submission_tasks(s) > SLURM_MOST_TASKS)
        return error_set(e, "runs: expected at most %d tasks of %zu runs", SLURM_MOST_TASKS, s->per_task);
    return 0;
}

int submission_load(struct submission *s, const char *sweep, size_t number, size_t run_count, struct error *e)
{
    struct folder folder = {.fd = -1};
    *s = (struct submission){.folder = path_of(sweep, number), .number = number};
    json_t *document = s->folder && folder_open(&folder, s->folder, e) == 0
                           ? json_file_load_in(&folder, TASKS, DOCUMENT_REQUEST, e)
                           : NULL;
    int result = document ? submission_parse(s, document, run_count, e) : -1;
    if (document && result != 0)
        error_prefix(e, "%s/" TASKS, s->folder);
    folder_close(&folder);
    json_decref(document);
    return result;
}

void submission_free(struct submission *s)
{
    free(s->folder);
    free(s->name);
    free(s->runs);
    *s = (struct submission){0};
}

/* ---- what tasks leave */

void submission_say_failed(const char *folder, const char *sentence)
{
    char *path = files_join(folder, SUBMISSION_FAILED);
    if (path)
        files_write_atomic(path, sentence, strlen(sentence), NULL); /* its log has it too */
    free(path);
}

/* At most `most` bytes, the last ones; NULL: there is no such file, or it is empty. */
static char *submission_read_tail(const struct submission *s, const char *name, off_t most)
{
    struct folder folder;
    struct stat status;
    char *text = NULL;
    int fd = folder_open(&folder, s->folder, NULL) == 0 ? folder_open_file(&folder, name, NULL) : -1;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0 && (text = calloc((size_t)most + 1, 1))) {
        ssize_t got = pread(fd, text, (size_t)most, status.st_size > most ? status.st_size - most : 0);
        text[got > 0 ? got : 0] = '\0';
    }
    if (fd >= 0)
        close(fd);
    folder_close(&folder);
    return text;
}

char *submission_failed(const struct submission *s)
{
    char *text = submission_read_tail(s, SUBMISSION_FAILED, MOST_FAILED);
    if (text)
        text[strcspn(text, "\n")] = '\0';
    return text;
}

/* ---- clocks */

#define BEGUN "task %zu began on node %63s at %" SCNd64 " s"
#define OFF_S 3 /* a clock that is read in whole seconds, and a little between */

const char *submission_node(char *buffer, size_t size)
{
    const char *name = getenv("SLURMD_NODENAME");
    if (name)
        return name;
    buffer[0] = '\0';
    (void)gethostname(buffer, size - 1);
    return buffer;
}

void submission_say_begun(size_t task)
{
    char host[256] = "";
    log_info("task %zu began on node %s at %" PRId64 " s", task, submission_node(host, sizeof host),
             (int64_t)(clock_realtime_ns() / NS_PER_S));
}

static bool read_begun(const struct submission *s, size_t task, char node[64], int64_t *time_s)
{
    char name[40];
    size_t said;
    snprintf(name, sizeof name, "task-%zu.log", task);
    char *text = submission_read_tail(s, name, LOG_TAIL), *at = text, *found = NULL;
    while (at && (at = strstr(at, ": task ")))
        found = at++;
    bool read = found && sscanf(found + 2, BEGUN, &said, node, time_s) == 3 && said == task;
    free(text);
    return read && *time_s >= 0 && *time_s < INT64_MAX / NS_PER_S;
}

void submission_compare_clocks(const struct submission *s, struct text *out)
{
    int64_t from_s = s->time_ns / NS_PER_S, until_s = clock_realtime_ns() / NS_PER_S, time_s;
    char node[64], marked[80];
    struct text seen = {0};
    for (size_t task = 1; s->time_ns > 0 && task <= submission_tasks(s); task++) {
        if (!read_begun(s, task, node, &time_s) || (time_s > from_s - OFF_S && time_s < until_s + OFF_S))
            continue;
        snprintf(marked, sizeof marked, "|%s|", node);
        if (seen.length && strstr(text_string(&seen), marked))
            continue;
        text_add(&seen, "%s", marked);
        text_add(out,
                 "the clock of node %s is off by %" PRId64
                 " s at least: by it task %zu began %s; times in its results are wrong\n",
                 node, time_s < from_s ? from_s - time_s : time_s - until_s, task,
                 time_s < from_s ? "before it was submitted" : "in the future");
    }
    text_free(&seen);
}

char *submission_last_words(const struct submission *s, size_t task)
{
    char name[40];
    snprintf(name, sizeof name, "task-%zu.log", task);
    char *text = submission_read_tail(s, name, LOG_TAIL), *end = text ? text + strlen(text) : NULL;
    while (text && end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    char *line = text ? strrchr(text, '\n') : NULL, *words = text ? strdup(line ? line + 1 : text) : NULL;
    free(text);
    if (words && strlen(words) > MOST_FAILED / 2)
        words[MOST_FAILED / 2] = '\0';
    return words;
}

/* ---- ends */

static bool same_end(const struct slurm_end *a, const struct slurm_end *b)
{
    return strcmp(a->state, b->state) == 0 && strcmp(a->node, b->node) == 0 && strcmp(a->why, b->why) == 0;
}

/* The words of a state that says all; else what the task said last. */
static void add_how_task_ended(const struct submission *s, size_t task, const struct slurm_end *end,
                               struct text *out)
{
    static const struct {
        const char *state, *how;
    } known[] = {{"CANCELLED", "was cancelled"},
                 {"TIMEOUT", "reached its time limit"},
                 {"DEADLINE", "reached its deadline"},
                 {"OUT_OF_MEMORY", "needed more memory than it may have"},
                 {"PREEMPTED", "had to make room for another job"},
                 {"NODE_FAIL", "was lost with its node"},
                 {"BOOT_FAIL", "was lost with its node, which did not boot"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].state, end->state) == 0) {
            text_add(out, "%s", known[i].how);
            return;
        }
    char *words = submission_last_words(s, task);
    if (words && *words)
        text_add(out, "ended before its runs did; the last line of %s/task-%zu.log: %s", s->folder, task,
                 words);
    else
        text_add(out,
                 "ended before its runs did, and there is no word of it in %s: do the nodes see this folder?",
                 s->folder);
    free(words);
}

static const struct slurm_end *end_of(const struct slurm_queue *queue, size_t task)
{
    return &queue->ends[queue->ends[task].state[0] ? task : 0];
}

void submission_say_ends(const struct submission *s, const struct slurm_queue *queue, const bool lost[],
                         struct text *out)
{
    size_t tasks = submission_tasks(s);
    for (size_t task = 1; task <= tasks; task++) {
        const struct slurm_end *end = end_of(queue, task);
        size_t same = 0, before = 0;
        for (size_t other = 1; lost[task] && other <= tasks; other++)
            if (lost[other] && same_end(end, end_of(queue, other))) {
                before += other < task;
                same++;
            }
        if (!lost[task] || before)
            continue;
        text_add(out, "%s", out->length ? "; " : "");
        if (end->why[0]) {
            text_add(out, "node %s: %s", end->node, end->why);
        } else {
            text_add(out, end->node[0] ? "task %zu, on node %s, " : "task %zu%s ", task, end->node);
            add_how_task_ended(s, task, end, out);
        }
        if (same > 1)
            text_add(out, " (and %zu more %s)", same - 1, THINGS(same - 1, "task"));
    }
}

void submission_remove_all(const char *sweep)
{
    char *path = files_join(sweep, FOLDER);
    if (path)
        files_remove_tree(path, NULL); /* a task that is just ending may still hold its log */
    free(path);
}
