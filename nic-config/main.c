/* nic-config: read, apply, compare and put back the settings of a host's network interfaces. docs/nic-config.1 */
#include "nic-config/transaction.h"

#include "lib/log.h"
#include "lib/document/options.h"
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_JOURNAL "/var/lib/nic-config/journal"

enum status { DONE = 0, DIFFERS = 1, WRONG_USE = 2, REFUSED = 3, INTERRUPTED = 130 };

struct arguments {
    int help, version, skip_missing, go_on;
    const char *journal, *root, *fault;
};

#define AT(member) .offset = offsetof(struct arguments, member)
static const struct option_spec specs[] = {
    {"skip-missing", 0, OPTION_FLAG, AT(skip_missing),
     .help = "leave out what this machine has no place for"},
    {"continue", 0, OPTION_FLAG, AT(go_on), .help = "set: go on with the journal that is there"},
    {"journal", 0, OPTION_STRING, AT(journal), "FILE", "where old settings are kept (" DEFAULT_JOURNAL ")"},
    {"root", 0, OPTION_STRING, AT(root), "DIR", "read and write sys, debugfs and configfs below DIR"},
    {"fault", 0, OPTION_STRING, AT(fault), "N:WHAT", .help = NULL},
    {"help", 'h', OPTION_FLAG, AT(help), .help = "say this"},
    {"version", 0, OPTION_FLAG, AT(version), .help = "print the version"},
    {0},
};
#undef AT

/* What a command works with. */
struct job {
    const struct arguments *arguments;
    const char **names;
    size_t count;
    struct host host;
    struct journal journal;
    struct transaction transaction;
    json_t *output;
};

/* ---- output */

static void tell(struct job *job, const char *key, json_t *value)
{
    json_object_set_new(job->output, key, value);
}

static void tell_list(struct job *job, const char *key, json_t *value)
{
    json_object_set(job->output, key, value);
}

static json_t *document_of(json_t *interfaces)
{
    return json_pack("{s:i,s:o}", "schema", 1, "interfaces", interfaces);
}

static enum status fail(struct job *job, enum status status, const struct error *e)
{
    log_error("%s", e->text);
    tell(job, "ok", json_false());
    tell(job, "error", json_string(e->text));
    return status;
}

/* ---- commands */

static json_t *facts_of(const struct transaction *t)
{
    json_t *all = json_object();
    for (size_t i = 0; i < t->count; i++) {
        const struct subject *s = &t->subjects[i];
        json_t *facts = device_facts(&s->device),
               *thresholds = json_object_get(t->thresholds, s->device.name);
        json_object_set(facts, "places", s->places);
        json_object_set(facts, "missing", s->missing);
        json_object_set(facts, "unread", s->unread);
        if (thresholds)
            json_object_set(facts, "thresholds", thresholds);
        json_object_set_new(all, s->device.name, facts);
    }
    return all;
}

static enum status run_get(struct job *job)
{
    struct error e = {""};
    json_t *names = json_array();
    for (size_t i = 0; i < job->count; i++)
        json_array_append_new(names, json_string(job->names[i]));
    if (job->count == 0) {
        json_decref(names);
        names = device_list(&job->host, &e);
    }
    int result = names ? transaction_read(&job->transaction, names, &e) : -1;
    json_decref(names);
    if (result != 0)
        return fail(job, REFUSED, &e);
    tell(job, "schema", json_integer(1));
    tell(job, "interfaces", transaction_document(&job->transaction, 'b'));
    tell(job, "facts", facts_of(&job->transaction));
    tell(job, "journal", json_pack("{s:s,s:b}", "path", job->journal.path, "open", job->journal.begun));
    return DONE;
}

/* What plan, diff and set begin with. */
static enum status prepare(struct job *job)
{
    struct error e = {""};
    json_t *interfaces = document_load(job->names[0], &e);
    if (!interfaces)
        return fail(job, WRONG_USE, &e);
    int result = transaction_prepare(&job->transaction, interfaces, &e);
    json_decref(interfaces);
    if (result != 0)
        return fail(job, REFUSED, &e);
    tell(job, "before", document_of(transaction_document(&job->transaction, 'b')));
    tell(job, "wanted", document_of(transaction_document(&job->transaction, 'w')));
    return DONE;
}

static enum status run_plan(struct job *job)
{
    enum status status = prepare(job);
    if (status == DONE)
        transaction_compare(&job->transaction);
    return status;
}

static enum status run_diff(struct job *job)
{
    enum status status = run_plan(job);
    return status == DONE && json_array_size(job->transaction.changes) > 0 ? DIFFERS : status;
}

/* Put back what a set has written so far. The journal stays when that fails, or when it is older than this set. */
static enum status undo(struct job *job, enum status status, bool first)
{
    struct error e = {""};
    bool undone = !job->transaction.wrote || transaction_undo(&job->transaction, &e) == 0;
    tell(job, "undone", json_boolean(undone));
    if (!undone)
        log_error("%s; nic-config restore tries again", e.text);
    if (undone && first && journal_remove(&job->journal, &e) != 0)
        log_warning("%s", e.text);
    return status;
}

static enum status apply(struct job *job)
{
    struct error e = {""};
    bool first = !job->journal.begun;
    int result = transaction_apply(&job->transaction, &e);
    if (result == 0) {
        tell(job, "read_back", document_of(transaction_document(&job->transaction, 'r')));
        return DONE;
    }
    if (result == 1)
        error_set(&e, "interrupted");
    enum status status = fail(job, result == 1 ? INTERRUPTED : REFUSED, &e);
    if (job->transaction.asked) {
        tell_list(job, "asked", job->transaction.asked);
        tell_list(job, "read", job->transaction.read);
    }
    return undo(job, status, first);
}

static enum status run_set(struct job *job)
{
    struct error e = {""};
    if (job->journal.begun && !job->arguments->go_on) {
        error_set(&e,
                  "the journal %s holds settings that were not put back: run nic-config restore (or keep, to "
                  "leave them), or "
                  "give --continue",
                  job->journal.path);
        return fail(job, REFUSED, &e);
    }
    enum status status = prepare(job);
    if (status != DONE) {
        if (!job->journal.begun)
            (void)journal_remove(&job->journal, NULL);
        return status;
    }
    return apply(job);
}

static enum status run_restore(struct job *job)
{
    struct error e = {""};
    struct transaction *t = &job->transaction;
    if (job->journal.begun) {
        tell(job, "since_ns", json_integer(job->journal.since_ns));
        tell(job, "rebooted", json_boolean(job->journal.rebooted));
    }
    int result = job->journal.begun ? transaction_restore(t, &e) : 0;
    tell_list(job, "restored", t->restored);
    tell_list(job, "gone", t->gone);
    tell_list(job, "failed", t->failed);
    if (result == 0 && journal_remove(&job->journal, &e) != 0)
        result = -1;
    return result == 0 ? DONE : fail(job, REFUSED, &e);
}

static enum status run_keep(struct job *job)
{
    struct error e = {""};
    return journal_remove(&job->journal, &e) == 0 ? DONE : fail(job, REFUSED, &e);
}

enum lists { NO_LISTS, WITH_LISTS };

struct command {
    const char *name;
    enum status (*run)(struct job *job);
    size_t least, most;   /* arguments */
    bool journal, create; /* opens the journal, makes it */
    enum lists lists;
};
static const struct command commands[] = {
    {"get", run_get, 0, 4096, false, false, NO_LISTS},     {"plan", run_plan, 1, 1, false, false, WITH_LISTS},
    {"diff", run_diff, 1, 1, false, false, WITH_LISTS},    {"set", run_set, 1, 1, true, true, WITH_LISTS},
    {"restore", run_restore, 0, 0, true, false, NO_LISTS}, {"keep", run_keep, 0, 0, true, false, NO_LISTS},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static const struct command *find_command(const char *name, struct error *e)
{
    const char *names[COMMANDS + 1] = {NULL};
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
        names[i] = commands[i].name;
    }
    const char *near = options_nearest(name, names);
    error_set(e, "unknown command \"%.40s\"%s%s%s", name,
              near ? "; did you mean \"" : ": get, plan, diff, set, restore, keep", near ? near : "",
              near ? "\"?" : "");
    return NULL;
}

/* ---- the frame */

/* "3:EBUSY", "3:kill" */
static int parse_fault(const char *text, struct fault *fault, struct error *e)
{
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"EPERM", EPERM},   {"ENOENT", ENOENT},         {"EIO", EIO},
                  {"ENOMEM", ENOMEM}, {"EBUSY", EBUSY},           {"EINVAL", EINVAL},
                  {"ERANGE", ERANGE}, {"EOPNOTSUPP", EOPNOTSUPP}, {"kill", 0}};
    char *end;
    if (!text)
        return 0;
    long at = strtol(text, &end, 10);
    for (size_t i = 0; at > 0 && at < 100000 && *end == ':' && i < sizeof errors / sizeof errors[0]; i++)
        if (strcmp(end + 1, errors[i].name) == 0) {
            *fault = (struct fault){.at = (int)at, .error = errors[i].number};
            return 0;
        }
    return error_set(e,
                     "--fault \"%.40s\": expected N:WHAT, WHAT one of EPERM ENOENT EIO ENOMEM EBUSY EINVAL "
                     "ERANGE EOPNOTSUPP kill",
                     text);
}

static void block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void tell_lists(struct job *job)
{
    struct transaction *t = &job->transaction;
    tell_list(job, "changes", t->changes);
    tell_list(job, "skipped", t->skipped);
    tell_list(job, "warnings", t->warnings);
    tell_list(job, "thresholds", t->thresholds);
}

static enum status run(struct job *job, const struct command *command)
{
    struct error e = {""};
    const char *path = job->arguments->journal ? job->arguments->journal : DEFAULT_JOURNAL;
    int opened = command->journal ? journal_open(&job->journal, path, command->create, &e)
                                  : journal_peek(&job->journal, path, &e);
    enum status status = REFUSED;
    transaction_init(&job->transaction, &job->host, &job->journal);
    job->transaction.skip_missing = job->arguments->skip_missing;
    block_signals();
    if (opened == 0)
        status = command->run(job);
    else
        fail(job, REFUSED, &e);
    if (command->lists == WITH_LISTS)
        tell_lists(job);
    transaction_free(&job->transaction);
    journal_close(&job->journal);
    return status;
}

static enum status run_job(const struct command *command, const struct arguments *arguments,
                           const char **names, size_t count)
{
    struct error e = {""};
    struct job job = {.arguments = arguments, .names = names, .count = count, .host = {.root = ""}};
    if (arguments->root && strcmp(arguments->root, "/") != 0)
        job.host.root = arguments->root;
    if (parse_fault(arguments->fault, &job.host.fault, &e) != 0) {
        log_error("%s", e.text);
        return WRONG_USE;
    }
    job.output = json_pack("{s:i,s:s,s:s,s:b}", "schema", 1, "program", "nic-config", "version",
                           HARNESS_VERSION, "ok", 1);
    enum status status = run(&job, command);
    if (json_dumpf(job.output, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) != 0 ||
        putchar('\n') == EOF || fflush(stdout) != 0)
        log_warning("the output could not be written");
    json_decref(job.output);
    host_close(&job.host);
    return status;
}

/* The command line's command and its arguments; NULL with a sentence. */
static const struct command *choose(const char **words, size_t count, struct error *e)
{
    if (count == 0) {
        error_set(e, "a command is missing: get, plan, diff, set, restore, keep");
        return NULL;
    }
    const struct command *command = find_command(words[0], e);
    if (!command || (count - 1 >= command->least && count - 1 <= command->most))
        return command;
    error_set(e, "%s takes %s", command->name,
              command->most == 0   ? "no argument"
              : command->most == 1 ? "one document (a file, or - for standard input)"
                                   : "interfaces");
    return NULL;
}

static enum status run_words(const struct arguments *arguments, const char **words, size_t count)
{
    struct error e = {""};
    const struct command *command = choose(words, count, &e);
    if (command)
        return run_job(command, arguments, words + 1, count - 1);
    log_error("%s; see nic-config --help", e.text);
    return WRONG_USE;
}

int main(int argc, char **argv)
{
    struct error e = {""};
    struct arguments arguments = {0};
    const char **words = NULL;
    size_t count = 0;
    enum status status = DONE;
    if (options_parse(specs, argc, argv, &arguments, &words, &count, &e) != 0) {
        log_error("%s; see nic-config --help", e.text);
        return WRONG_USE;
    }
    if (arguments.help)
        options_help(stdout, "nic-config", "get [INTERFACE...] | plan|diff|set DOCUMENT | restore | keep",
                     "Read, apply, compare and put back the settings of this host's network interfaces.",
                     specs);
    else if (arguments.version)
        puts("nic-config " HARNESS_VERSION);
    else
        status = run_words(&arguments, words, count);
    options_free(specs, &arguments, words);
    return (int)status;
}
