#include "harness/slurm/commands.h"

#include "lib/clock.h"
#include "lib/names/letters.h"
#include "lib/output/visible.h"
#include "lib/process.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUBMIT_NS (120 * NS_PER_S)
#define ASK_NS    (20 * NS_PER_S)
#define MARK      "harness-"
#define LETTERS   8 /* at the end of a name, chosen at random */
#define MOST_NAME 100
#define MARGIN_S  60 /* before the time limit, at most a quarter of it: a task ends by itself */

/* ---- running them */

/* What a command says on standard error, without its own name before it. */
static int refused(const char *command, const struct text *said, int status, struct error *e)
{
    const char *words = text_string(said);
    size_t length = strcspn(words, "\n"), own = strlen(command);
    if (strncmp(words, command, own) == 0 && words[own] == ':')
        return error_set(e, "%.*s", (int)length, words);
    return length ? error_set(e, "%s: %.*s", command, (int)length, words)
                  : error_set(e, "%s ended with %d", command, status);
}

static int run(const char *const argv[], const char *input, struct text *out, int64_t timeout_ns,
               struct error *e)
{
    struct text err = {0};
    int status = process_run(argv, input, out, &err, timeout_ns, e);
    int result = status > 0 ? refused(argv[0], &err, status, e) : status;
    text_free(&err);
    return result;
}

int slurm_find(struct error *e)
{
    static const char *const commands[] = {"sbatch", "squeue", "scancel"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!process_on_path(commands[i]))
            return error_set(e,
                             "%s is not on PATH: Slurm's commands are needed on this machine, as on a "
                             "login node of the cluster",
                             commands[i]);
    return 0;
}

/* ---- names */

static bool is_plain(char c)
{
    return isalnum((unsigned char)c) || strchr("._-", c);
}

bool slurm_is_name(const char *name)
{
    size_t length = strlen(name);
    if (strncmp(name, MARK, strlen(MARK)) != 0 || length > MOST_NAME)
        return false;
    for (const char *c = name; *c; c++)
        if (!is_plain(*c))
            return false;
    return true;
}

char *slurm_new_name(const char *scenario)
{
    char letters[LETTERS + 1];
    struct text name = {0};
    letters_random(letters, LETTERS);
    text_add(&name, MARK);
    for (size_t i = 0; i < 64 && scenario[i]; i++)
        text_add(&name, "%c", is_plain(scenario[i]) ? scenario[i] : '-');
    text_add(&name, "-%s", letters);
    return text_take(&name);
}

/* ---- sbatch */

struct words {
    const char **items;
    size_t count;
    struct text kept[16]; /* those that were made here */
    size_t kept_count;
};

static void add(struct words *w, const char *word)
{
    w->items[w->count++] = word;
}

static void add_made(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_made(struct words *w, const char *format, ...)
{
    va_list arguments;
    struct text *made = &w->kept[w->kept_count++];
    va_start(arguments, format);
    text_add_list(made, format, arguments);
    va_end(arguments);
    add(w, text_string(made));
}

static void add_profile(struct words *w, const struct slurm_profile *p)
{
    char *const *more = p->sbatch.items;
    for (size_t i = 0; i < p->sbatch.count; i++)
        add(w, more[i]);
    if (p->partition)
        add_made(w, "--partition=%s", p->partition);
    if (p->account)
        add_made(w, "--account=%s", p->account);
    if (p->qos)
        add_made(w, "--qos=%s", p->qos);
    if (p->time_ns != FIELD_UNSET)
        add_made(w, "--time=%lld", (long long)((p->time_ns + 60 * NS_PER_S - 1) / (60 * NS_PER_S)));
    if (p->memory_bytes != FIELD_UNSET)
        add_made(w, "--mem=%lldM", (long long)((p->memory_bytes + (1 << 20) - 1) >> 20));
    add_made(w, "--cpus-per-task=%lld", (long long)p->cpus);
}

/* Ours come last, so that no other option changes what this program relies on. */
static void add_job(struct words *w, const struct slurm_job *job, const struct slurm_profile *p)
{
    long long limit_s = p->time_ns == FIELD_UNSET ? 4LL * MARGIN_S : p->time_ns / NS_PER_S;
    add(w, "--parsable");
    add_made(w, "--job-name=%s", job->name);
    add(w, "--chdir=/"); /* the script looks whether the node sees the sweep's folder, and may write there */
    add(w, "--output=/dev/null");
    if (job->exclude) { /* besides the nodes of the profile's own */
        char *const *more = p->sbatch.items;
        const char *own = "";
        for (size_t i = 0; i < p->sbatch.count; i++)
            own = strncmp(more[i], "--exclude=", 10) == 0 ? more[i] + 10 : own;
        add_made(w, "--exclude=%s%s%s", own, *own ? "," : "", job->exclude);
    }
    if (job->at_a_time)
        add_made(w, "--array=1-%zu%%%zu", job->tasks, job->at_a_time);
    else
        add_made(w, "--array=1-%zu", job->tasks);
    add_made(w, "--signal=B:TERM@%lld", limit_s / 4 < MARGIN_S ? limit_s / 4 : MARGIN_S);
    add(w, job->requeue ? "--requeue" : "--no-requeue");
}

int slurm_submit(const struct slurm_job *job, const struct slurm_profile *profile, struct error *e)
{
    struct words w = {.items = calloc(profile->sbatch.count + 32, sizeof *w.items)};
    struct text out = {0};
    if (!w.items)
        return error_set(e, "out of memory");
    add(&w, "sbatch");
    add_profile(&w, profile);
    add_job(&w, job, profile);
    int result = run(w.items, job->script, &out, SUBMIT_NS, e);
    for (size_t i = 0; i < w.kept_count; i++)
        text_free(&w.kept[i]);
    text_free(&out);
    free(w.items);
    return result;
}

/* ---- squeue, scancel */

static bool has_words(const char *begin, const char *end, const char *words)
{
    return memmem(begin, (size_t)(end - begin), words, strlen(words));
}

static bool has_ended(const char *state, size_t length)
{
    static const char *const ends[] = {"COMPLETED", "CANCELLED", "FAILED",   "TIMEOUT", "NODE_FAIL",
                                       "PREEMPTED", "BOOT_FAIL", "DEADLINE", "REVOKED", "OUT_OF_MEMORY"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strlen(ends[i]) == length && strncmp(state, ends[i], length) == 0)
            return true;
    return false;
}

/* What Slurm prints between two bars, as text for a line. Returns what is behind the second. */
static const char *take_field(const char *at, const char *end, char *into, size_t room)
{
    const char *bar = memchr(at, '|', (size_t)(end - at)), *stop = bar ? bar : end;
    visible_copy(into, room, at, (size_t)(stop - at), VISIBLE_LINE);
    return bar ? bar + 1 : end;
}

/* A comment of the user's own says nothing of a node. */
static void take_end(struct slurm_end *to, const char *state, size_t length, const char *rest,
                     const char *end)
{
    snprintf(to->state, sizeof to->state, "%.*s", (int)length, state);
    rest = take_field(rest, end, to->node, sizeof to->node);
    visible_copy(to->why, sizeof to->why, rest, (size_t)(end - rest), VISIBLE_LINE);
    if (strncmp(to->why, SLURM_SAID, strlen(SLURM_SAID)) != 0)
        to->why[0] = '\0';
    else
        memmove(to->why, to->why + strlen(SLURM_SAID), strlen(to->why + strlen(SLURM_SAID)) + 1);
}

/* "7|RUNNING|None|n1|": a task's number, its state, the reason for which it waits, its node, its comment. */
static int take_line(const char *line, size_t length, struct slurm_queue *queue, struct error *e)
{
    char *end;
    static const char rest_of_array[] = "N/A|"; /* tasks that were cancelled together before they began */
    bool all = strncmp(line, rest_of_array, strlen(rest_of_array)) == 0;
    unsigned long task = isdigit((unsigned char)*line) ? strtoul(line, &end, 10) : 0;
    const char *state = task  ? end + 1
                        : all ? line + strlen(rest_of_array)
                              : line,
               *bar = memchr(line, '|', length);
    const char *reason = bar ? memchr(bar + 1, '|', length - (size_t)(bar + 1 - line)) : NULL;
    if ((!all && (task < 1 || task > SLURM_MOST_TASKS || *end != '|')) || !reason)
        return error_set(e, "squeue: expected TASK|STATE|REASON, found \"%.*s\"",
                         (int)(length < 200 ? length : 200), line);
    const char *stop = line + length, *rest = memchr(reason + 1, '|', (size_t)(stop - reason - 1));
    size_t state_length = (size_t)(reason - state);
    if (has_ended(state, state_length)) {
        take_end(&queue->ends[task], state, state_length, rest ? rest + 1 : stop, stop);
        return 0;
    }
    if (all)
        return 0;
    queue->ends[task] = (struct slurm_end){.state = ""};
    length = rest ? (size_t)(rest - line) : length;
    bool waits = strncmp(state, "PENDING|", 8) == 0 || strncmp(state, "REQUEUE", 7) == 0;
    queue->states[task] = waits ? SLURM_WAITING : SLURM_RUNNING;
    queue->held += waits && has_words(reason + 1, line + length, "requeued held");
    if (waits) {
        snprintf(queue->reason, sizeof queue->reason, "%.*s", (int)(line + length - reason - 1), reason + 1);
        for (char *c = queue->reason; *c; c++) /* it stands in a line of fixed width */
            *c = *c >= ' ' && *c < 0x7f ? *c : '?';
    }
    return 0;
}

static void count_tasks(struct slurm_queue *queue)
{
    for (size_t task = 1; task <= SLURM_MOST_TASKS; task++) {
        queue->waiting += queue->states[task] == SLURM_WAITING;
        queue->running += queue->states[task] == SLURM_RUNNING;
    }
}

#define USER_OPTION 40

/* What administrators may do to other users' jobs is not wanted. */
static const char *own_jobs(char option[USER_OPTION])
{
    snprintf(option, USER_OPTION, "--user=%lu", (unsigned long)geteuid());
    return option;
}

int slurm_read_queue(const char *text, struct slurm_queue *queue, struct error *e)
{
    *queue = (struct slurm_queue){0};
    for (const char *line = text; *line; line += line[0] == '\n') {
        size_t length = strcspn(line, "\n");
        if (take_line(line, length, queue, e) != 0)
            return -1;
        line += length;
    }
    count_tasks(queue);
    return 0;
}

int slurm_ask(const char *name, struct slurm_queue *queue, struct error *e)
{
    char user[USER_OPTION];
    struct text by_name = {0}, out = {0};
    text_add(&by_name, "--name=%s", name);
    const char *argv[] = {"squeue",     own_jobs(user), text_string(&by_name),     "--array",
                          "--noheader", "--states=all", "--format=%K|%T|%r|%N|%k", NULL};
    int result = run(argv, NULL, &out, ASK_NS, e);
    if (result == 0)
        result = slurm_read_queue(text_string(&out), queue, e);
    text_free(&by_name);
    text_free(&out);
    return result;
}

int slurm_cancel(const char *name, struct error *e)
{
    char user[USER_OPTION];
    struct text by_name = {0};
    text_add(&by_name, "--name=%s", name);
    const char *argv[] = {"scancel", "--quiet", own_jobs(user), text_string(&by_name), NULL};
    int result = run(argv, NULL, NULL, ASK_NS, e);
    text_free(&by_name);
    return result;
}
