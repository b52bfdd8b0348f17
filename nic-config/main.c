/* nic-config: read, apply, compare and put back the settings of a host's network interfaces.
 * docs/nic-config.1 */
#include "nic-config/transaction.h"

#include "lib/document/json_text.h"
#include "lib/log.h"
#include "lib/program/program.h"
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    int skip_missing, go_on;
    const char *journal, *root;
};

#define AT(member) .offset = offsetof(struct arguments, member)
/* Option of every command. */
#define ROOT_OPTION                                                           \
    {                                                                         \
        .name = "root", .kind = FIELD_STRING, AT(root), .argument = "FOLDER", \
        .help = "Read and write /sys, debugfs and configfs below FOLDER."     \
    }
/* Options of the commands that know what was set. */
#define COMMON_OPTIONS                                \
    {.name = "journal",                               \
     .kind = FIELD_STRING,                            \
     AT(journal),                                     \
     .argument = "FILE",                              \
     .help = "The file that keeps the old settings.", \
     .fallback = "\"/var/lib/nic-config/journal\""},  \
        ROOT_OPTION
/* Option of the commands that take a document of settings. */
#define SKIP_MISSING                                                  \
    {                                                                 \
        .name = "skip_missing", .kind = FIELD_BOOL, AT(skip_missing), \
        .help = "Skip settings that this machine does not have."      \
    }

static const struct field settle_fields[] = {ROOT_OPTION, {0}};
static const struct field common_fields[] = {COMMON_OPTIONS, {0}};
static const struct field document_fields[] = {SKIP_MISSING, COMMON_OPTIONS, {0}};
static const struct field set_fields[] = {
    {.name = "continue",
     .kind = FIELD_BOOL,
     AT(go_on),
     .help = "Continue the existing journal. It keeps the oldest values, which restore returns to."},
    SKIP_MISSING,
    COMMON_OPTIONS,
    {0},
};
#undef AT
static const struct table settle_options = {
    .name = "options", .size = sizeof(struct arguments), .fields = settle_fields};
static const struct table common_options = {
    .name = "options", .size = sizeof(struct arguments), .fields = common_fields};
static const struct table document_options = {
    .name = "options", .size = sizeof(struct arguments), .fields = document_fields};
static const struct table set_options = {
    .name = "options", .size = sizeof(struct arguments), .fields = set_fields};

/* What a command works with. */
struct job {
    const struct arguments *arguments;
    const char *const *names;
    size_t count;
    struct host host;
    struct journal journal;
    struct transaction transaction;
    bool compared; /* the machine was read and the document checked: changes and thresholds are known */
    json_t *output;
};

/* ---- output */

static void add_answer(struct job *job, const char *key, json_t *value)
{
    json_object_set_new(job->output, key, value);
}

static void tell_list(struct job *job, const char *key, json_t *value)
{
    json_object_set(job->output, key, value);
}

static json_t *document_of(json_t *interfaces)
{
    return json_make("{s:i,s:o}", "schema", 1, "interfaces", interfaces);
}

static enum exit_status fail(struct job *job, enum exit_status status, const struct error *e)
{
    log_error("%s", e->text);
    add_answer(job, "ok", json_false());
    add_answer(job, "error", json_text(e->text));
    return status;
}

/* The journal is not whole. */
static enum exit_status fail_damaged(struct job *job, const char *what_next)
{
    struct error e = {""};
    const json_t *damage = job->journal.damage;
    size_t more = json_array_size(damage) - 1;
    error_set(&e, "the journal %s is damaged: %s", job->journal.path,
              json_string_value(json_array_get(damage, 0)));
    if (more > 0)
        error_set(&e, "the journal %s is damaged: %s (and %zu more)", job->journal.path,
                  json_string_value(json_array_get(damage, 0)), more);
    struct error whole;
    error_set(&whole, "%s: %s", e.text, what_next);
    json_object_set(job->output, "damage", job->journal.damage);
    return fail(job, EXIT_LAB, &whole);
}

/* The journal came with a copy of another machine's disk. */
static enum exit_status fail_foreign(struct job *job)
{
    struct error e = {""};
    error_set(&e,
              "the journal %s was written on another machine (/etc/machine-id was another): its settings are "
              "not this machine's, and nothing was changed; nic-config keep removes it",
              job->journal.path);
    return fail(job, EXIT_LAB, &e);
}

/* ---- the work of the commands */

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
        json_put(all, s->device.name, facts);
    }
    return all;
}

static enum exit_status run_get(struct job *job)
{
    struct error e = {""};
    json_t *names = json_array();
    for (size_t i = 0; i < job->count; i++) {
        if (!device_name_valid(job->names[i])) {
            json_decref(names);
            error_set(&e, "\"%.40s\" is not a valid interface name", job->names[i]);
            return fail(job, EXIT_LAB, &e);
        }
        json_array_append_new(names, json_text(job->names[i]));
    }
    if (job->count == 0) {
        json_decref(names);
        names = device_list(&job->host, &e);
    }
    int result = names ? transaction_read(&job->transaction, names, &e) : -1;
    json_decref(names);
    if (result != 0)
        return fail(job, EXIT_LAB, &e);
    add_answer(job, "schema", json_integer(1));
    add_answer(job, "interfaces", transaction_document(&job->transaction, 'b'));
    add_answer(job, "facts", facts_of(&job->transaction));
    add_answer(job, "journal",
               json_make("{s:s,s:b,s:b}", "path", job->journal.path, "open",
                         job->journal.begun || json_array_size(job->journal.damage) > 0, "whole",
                         json_array_size(job->journal.damage) == 0));
    return EXIT_DONE;
}

/* First part of plan, diff and set. */
static enum exit_status prepare(struct job *job)
{
    struct error e = {""};
    json_t *interfaces = document_load(job->names[0], &e);
    if (!interfaces)
        return fail(job, EXIT_USAGE, &e);
    if (json_object_size(interfaces) == 0)
        log_warning("the document names no interface: \"interfaces\" is empty");
    int result = transaction_prepare(&job->transaction, interfaces, &e);
    json_decref(interfaces);
    if (result != 0)
        return fail(job, EXIT_LAB, &e);
    job->compared = true;
    add_answer(job, "before", document_of(transaction_document(&job->transaction, 'b')));
    add_answer(job, "wanted", document_of(transaction_document(&job->transaction, 'w')));
    return EXIT_DONE;
}

static enum exit_status run_plan(struct job *job)
{
    enum exit_status status = prepare(job);
    if (status == EXIT_DONE)
        transaction_compare(&job->transaction);
    return status;
}

static enum exit_status run_diff(struct job *job)
{
    enum exit_status status = run_plan(job);
    return status == EXIT_DONE && json_array_size(job->transaction.changes) > 0 ? EXIT_FAILED : status;
}

/* Put back what a set has written so far. The journal stays when that fails, or when it is older than this
 * set. */
static enum exit_status undo(struct job *job, enum exit_status status, bool first)
{
    struct error e = {""};
    bool undone = !job->transaction.wrote || transaction_undo(&job->transaction, &e) == 0;
    add_answer(job, "undone", json_boolean(undone));
    if (!undone)
        log_error("%s; run nic-config restore to try again", e.text);
    if (undone && first && journal_remove(&job->journal, &e) != 0)
        log_warning("%s", e.text);
    return status;
}

static enum exit_status apply_document(struct job *job)
{
    struct error e = {""};
    bool first = !job->journal.begun;
    int result = transaction_apply(&job->transaction, &e);
    if (result == 0) {
        transaction_read_thresholds(&job->transaction);
        add_answer(job, "read_back", document_of(transaction_document(&job->transaction, 'r')));
        return EXIT_DONE;
    }
    if (result == 1)
        error_set(&e, "interrupted");
    enum exit_status status = fail(job, result == 1 ? EXIT_INTERRUPTED : EXIT_LAB, &e);
    if (job->transaction.asked) {
        tell_list(job, "asked", job->transaction.asked);
        tell_list(job, "read", job->transaction.read);
    }
    return undo(job, status, first);
}

static enum exit_status run_set(struct job *job)
{
    struct error e = {""};
    if (json_array_size(job->journal.damage) > 0)
        return fail_damaged(job, "restore returns to what is certain in it, and keep removes it");
    if (job->journal.foreign)
        return fail_foreign(job);
    if (job->journal.begun && !job->arguments->go_on) {
        error_set(
            &e,
            "the journal %s contains settings that were not restored: run nic-config restore (or keep, to "
            "keep the current ones), or "
            "give --continue",
            job->journal.path);
        return fail(job, EXIT_LAB, &e);
    }
    enum exit_status status = prepare(job);
    if (status != EXIT_DONE) {
        if (!job->journal.begun)
            (void)journal_remove(&job->journal, NULL);
        return status;
    }
    return apply_document(job);
}

static enum exit_status run_restore(struct job *job)
{
    struct error e = {""};
    struct transaction *t = &job->transaction;
    if (job->journal.begun) {
        add_answer(job, "since_ns", json_integer(job->journal.since_ns));
        add_answer(job, "rebooted", json_boolean(job->journal.rebooted));
    }
    if (job->journal.foreign)
        return fail_foreign(job);
    if (job->journal.old)
        log_warning("the journal %s is of an older nic-config: it has no checksums, and no routes",
                    job->journal.path);
    int result = json_object_size(job->journal.before) > 0 ? transaction_restore(t, &e) : 0;
    tell_list(job, "restored", t->restored);
    tell_list(job, "gone", t->gone);
    tell_list(job, "failed", t->failed);
    if (result == 0 && json_array_size(job->journal.damage) > 0)
        return fail_damaged(job,
                            "what is certain was restored, and the journal is left; look at the interfaces, "
                            "then nic-config keep removes it");
    if (result == 0 && journal_remove(&job->journal, &e) != 0)
        result = -1;
    return result == 0 ? EXIT_DONE : fail(job, EXIT_LAB, &e);
}

static enum exit_status run_keep(struct job *job)
{
    struct error e = {""};
    return journal_remove(&job->journal, &e) == 0 ? EXIT_DONE : fail(job, EXIT_LAB, &e);
}

static int open_all(struct job *job, struct device *all, struct error *e)
{
    for (size_t i = 0; i < job->count; i++) {
        if (device_open(&all[i], &job->host, job->names[i], e) != 0)
            return -1;
        if (all[i].index == 0)
            return error_set(e, "there is no interface %s", job->names[i]);
    }
    return 0;
}

/* A host's link may flap also when the other end's settings change. */
static enum exit_status run_settle(struct job *job)
{
    struct error e = {""};
    struct device *all = calloc(job->count, sizeof *all);
    if (!all) {
        error_set(&e, "out of memory");
        return fail(job, EXIT_LAB, &e);
    }
    json_t *changes = json_object();
    int result = open_all(job, all, &e);
    if (result == 0)
        result = device_settle_all(all, job->count, FLAP_LATER_NS, &e);
    for (size_t i = 0; result == 0 && i < job->count; i++)
        json_object_set_new(changes, job->names[i], json_integer(all[i].carrier_changes));
    add_answer(job, "carrier_changes", changes);
    free(all);
    return result == 0 ? EXIT_DONE : fail(job, EXIT_LAB, &e);
}

/* ---- running a command */

static void block_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGPIPE);
    sigprocmask(SIG_BLOCK, &signals, NULL);
}

static void tell_lists(struct job *job)
{
    struct transaction *t = &job->transaction;
    if (job->compared)
        tell_list(job, "changes", t->changes);
    tell_list(job, "skipped", t->skipped);
    tell_list(job, "warnings", t->warnings);
    if (job->compared)
        tell_list(job, "thresholds", t->thresholds);
}

/* How a command uses the journal, and what it adds to the output. */
struct manner {
    enum exit_status (*run)(struct job *job);
    bool journal, create; /* opens the journal; creates it if it is missing */
    bool lists;
};

static enum exit_status run_job(struct job *job, const struct manner *manner)
{
    struct error e = {""};
    const char *path = job->arguments->journal;
    int opened = !path             ? 0
                 : manner->journal ? journal_open(&job->journal, path, manner->create, &e)
                                   : journal_peek(&job->journal, path, &e);
    enum exit_status status = EXIT_LAB;
    transaction_init(&job->transaction, &job->host, &job->journal);
    job->transaction.skip_missing = job->arguments->skip_missing;
    block_signals();
    if (opened == 0)
        status = manner->run(job);
    else
        fail(job, EXIT_LAB, &e);
    if (manner->lists)
        tell_lists(job);
    transaction_free(&job->transaction);
    journal_close(&job->journal);
    return status;
}

static int run_call(const struct call *call, const struct manner *manner)
{
    const struct arguments *arguments = call->options;
    struct job job = {.arguments = arguments,
                      .names = call->arguments,
                      .count = call->count,
                      .host = {.root = ""},
                      .journal = {.fd = -1}};
    if (arguments->root && strcmp(arguments->root, "/") != 0)
        job.host.root = arguments->root;
    job.output = json_make("{s:i,s:s,s:s,s:b}", "schema", 1, "program", "nic-config", "version",
                           HARNESS_VERSION, "ok", 1);
    enum exit_status status = run_job(&job, manner);
    if (json_print(stdout, job.output, 15) != 0 || fflush(stdout) != 0)
        log_warning("the output could not be written: %s", strerror(errno));
    json_decref(job.output);
    host_close(&job.host);
    return (int)status;
}

/* ---- the commands */

static int get_command(const struct call *call)
{
    return run_call(call, &(struct manner){.run = run_get});
}

static int plan_command(const struct call *call)
{
    return run_call(call, &(struct manner){.run = run_plan, .lists = true});
}

static int diff_command(const struct call *call)
{
    return run_call(call, &(struct manner){.run = run_diff, .lists = true});
}

static int set_command(const struct call *call)
{
    return run_call(call, &(struct manner){.run = run_set, .journal = true, .create = true, .lists = true});
}

static int restore_command(const struct call *call)
{
    return run_call(call, &(struct manner){.run = run_restore, .journal = true});
}

static int keep_command(const struct call *call)
{
    return run_call(call, &(struct manner){.run = run_keep, .journal = true});
}

static int settle_command(const struct call *call)
{
    return run_call(call, &(struct manner){.run = run_settle});
}

static const struct command command_get = {
    .name = "get",
    .arguments = "[INTERFACE...]",
    .about = "Print the current settings of interfaces.",
    .options = &common_options,
    .most = SIZE_MAX,
    .run = get_command,
};
static const struct command command_plan = {
    .name = "plan",
    .arguments = "DOCUMENT",
    .about = "Print what the command set would change.",
    .options = &document_options,
    .least = 1,
    .most = 1,
    .run = plan_command,
};
static const struct command command_diff = {
    .name = "diff",
    .arguments = "DOCUMENT",
    .about = "Compare the document with the machine. The exit status is 1 when something differs.",
    .options = &document_options,
    .least = 1,
    .most = 1,
    .run = diff_command,
};
static const struct command command_set = {
    .name = "set",
    .arguments = "DOCUMENT",
    .about = "Apply settings and keep the old ones in the journal.",
    .options = &set_options,
    .least = 1,
    .most = 1,
    .run = set_command,
};
static const struct command command_restore = {
    .name = "restore",
    .about = "Restore the settings of the journal, and remove the journal.",
    .options = &common_options,
    .run = restore_command,
};
static const struct command command_keep = {
    .name = "keep",
    .about = "Leave the settings as they are, and remove the journal.",
    .options = &common_options,
    .run = keep_command,
};
static const struct command command_settle = {
    .name = "settle",
    .arguments = "INTERFACE...",
    .about = "Wait until the links of interfaces are up and stay up.",
    .options = &settle_options,
    .least = 1,
    .most = SIZE_MAX,
    .run = settle_command,
};

int main(int argc, char **argv)
{
    static const struct command *const commands[] = {
        &command_get,     &command_plan, &command_diff,   &command_set,
        &command_restore, &command_keep, &command_settle, NULL};
    static const struct program program = {
        .name = "nic-config",
        .about = "Read, apply, compare and restore the settings of this host's network interfaces.",
        .commands = commands,
    };
    return program_main(&program, argc, argv);
}
