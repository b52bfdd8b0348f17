#include "lib/output/print.h"
#include "lib/output/visible.h"
#include "lib/program/program.h"
#include "harness/labs/hosts/parallel.h"
#include "harness/labs/hosts/host.h"
#include "harness/labs/hosts/faults/faults.h"
#include "harness/labs/hosts/sonic/redis.h"
#include "harness/labs/hosts/sonic/switches.h"
#include "harness/labs/hosts/virtual.h"
#include "lib/log.h"
#include "lib/clock.h"
#include "lib/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct restore_options {
    const char *lab;
};

static const struct field fields[] = {
    {.name = "lab",
     .letter = 'l',
     .kind = FIELD_STRING,
     .offset = offsetof(struct restore_options, lab),
     .argument = "LAB",
     .help =
         "The lab whose hosts are restored (otherwise HARNESS_LAB, or the lab of the configuration file)."},
    {0},
};
static const struct table options = {
    .name = "restore", .size = sizeof(struct restore_options), .fields = fields};

/* A value for people: without JSON's quotes, and only the beginning of a long one. */
static void add_value(struct text *out, const json_t *value)
{
    char *whole = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    const char *words = whole ? whole : json_string_value(value);
    text_add(out, "%.80s%s", words ? words : "?", words && strlen(words) > 80 ? "..." : "");
    free(whole);
}

/* A line, whatever a host or a switch has in its names and values. */
static void add_line(struct text *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_line(struct text *lines, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    visible_add_line(lines, format, arguments);
    va_end(arguments);
    text_add(lines, "\n");
}

/* "data0 mtu is 4200 again (found 4000)" */
static void add_restored_setting(const char *host, const json_t *entry, struct text *lines)
{
    const char *interface = json_string_value(json_object_get(entry, "interface"));
    const char *setting = json_string_value(json_object_get(entry, "setting"));
    const json_t *put_back = json_object_get(entry, "put_back");
    struct text words = {0};
    const char *text = json_string_value(put_back);
    if (text && strcmp(text, "absent") == 0) {
        text_add(&words, "is removed again");
    } else if (json_is_null(put_back) || (text && !*text)) {
        text_add(&words, "has no %s again", setting ? setting : "?");
    } else {
        text_add(&words, "%s is ", setting ? setting : "?");
        add_value(&words, put_back);
        text_add(&words, " again (found ");
        add_value(&words, json_object_get(entry, "found"));
        text_add(&words, ")");
    }
    add_line(lines, "%s: %s %s", host, interface ? interface : "?", text_string(&words));
    text_free(&words);
}

static void add_time_of_run(const char *host, const json_t *answer, struct text *lines)
{
    time_t since = (time_t)(json_integer_value(json_object_get(answer, "since_ns")) / NS_PER_S);
    struct tm utc;
    char when[40];
    if (since <= 0 || !gmtime_r(&since, &utc) || !strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc))
        return;
    text_add(lines, "%s: found settings that an interrupted run changed at %s%s\n", host, when,
             json_is_true(json_object_get(answer, "rebooted")) ? "; the host was rebooted in the meantime"
                                                               : "");
}

/* other: something that is not nic-config's was restored. */
static void add_answer(const char *host, const json_t *answer, bool other, struct text *lines)
{
    size_t i;
    json_t *entry;
    const json_t *restored = json_object_get(answer, "restored"), *gone = json_object_get(answer, "gone");
    add_time_of_run(host, answer, lines);
    if (json_array_size(restored) == 0 && json_array_size(gone) == 0 && !other)
        text_add(lines, "%s: nothing to restore\n", host);
    json_array_foreach(restored, i, entry)
    {
        add_restored_setting(host, entry, lines);
    }
    json_array_foreach(gone, i, entry)
    {
        const char *interface = json_string_value(json_object_get(entry, "interface"));
        const char *why = json_string_value(json_object_get(entry, "why"));
        add_line(lines, "%s: %s is not changed: %s", host, interface ? interface : "?", why ? why : "?");
    }
}

/* A guest that is off keeps its journal; its settings are restored once it runs again. A paused guest is
 * resumed when it is connected to. */
static bool is_off(const struct host_way *way, struct text *lines)
{
    const struct lab_host *host = way->host;
    enum virt_state state;
    struct error e;
    if (!way->virt || !host->domain || virt_domain_state(way->virt, host->domain, &state, &e) != 0 ||
        state == VIRT_RUNNING || state == VIRT_PAUSED)
        return false;
    text_add(lines, "%s: guest %s is %s: nothing can be restored now\n", way->name, host->domain,
             virt_state_names[state]);
    return true;
}

static int restore_machine(void *context, size_t i, const struct host_way *way, struct text *lines,
                           struct error *e)
{
    struct remote_host h;
    (void)context;
    (void)i;
    if (is_off(way, lines))
        return 0;
    int opened = remote_host_open_locked(&h, way, e);
    if (opened < 0)
        return -1;
    if (opened == 1)
        log_warning("%s", e->text);
    json_t *answer = remote_settings_restore(&h, e);
    int gpu = answer ? virtual_gpu_restore(&h, e) : -1;
    if (gpu > 0)
        text_add(lines, "%s: the memory that stands for a GPU's is as fast as the host's again\n", way->name);
    size_t before = lines->length;
    int faults = gpu >= 0 ? host_faults_restore(&h, lines, e) : -1;
    if (answer)
        add_answer(way->name, answer, gpu > 0 || lines->length > before, lines);
    json_decref(answer);
    remote_host_close(&h);
    return faults < 0 ? -1 : 0;
}

/* A recorded file has nothing that a run changed. */
static int restore_switch(const struct lab_switch *s, struct lab_lock *lock, struct error *e)
{
    struct text lines = {0};
    if (s->config)
        return 0;
    if (lab_lock_switch(lock, s, e) != 0)
        return -1;
    json_t *unlocked = json_array(), *sentence;
    size_t i;
    struct ssh_session *session = sonic_open_locked(s, lock, NULL, unlocked, e);
    json_array_foreach(unlocked, i, sentence) log_warning("%s", json_string_value(sentence));
    json_decref(unlocked);
    json_t *answer = session ? switch_restore(s, session, e) : NULL;
    if (answer)
        add_answer(s->name, answer, false, &lines);
    print_out("%s", text_string(&lines));
    text_free(&lines);
    if (session)
        ssh_close(session);
    json_decref(answer);
    return answer ? 0 : -1;
}

static size_t restore_switches(const struct lab *lab)
{
    struct error e;
    const struct lab_switch *s;
    size_t failures = 0;
    struct lab_lock *lock = lab_real_switch_at(lab, 0) ? lab_lock(lab, "restore", &e) : NULL;
    if (!lock && lab_real_switch_at(lab, 0)) {
        log_error("%s", e.text);
        return 1;
    }
    for (size_t i = 0; (s = lab_real_switch_at(lab, i)); i++)
        if (restore_switch(s, lock, &e) != 0) {
            log_error("%s", e.text);
            failures++;
        }
    lab_unlock(lock);
    return failures;
}

static int restore_lab(struct lab *lab)
{
    struct error e;
    size_t failures = 0;
    if (lab_kind(lab)->simulated)
        print_out("lab %s is simulated: nothing to restore\n", lab->name);
    else if (lab_hosts_run(lab, "restore", restore_machine, NULL, &failures, &e) != 0)
        return program_fail(EXIT_LAB, &e);
    failures += restore_switches(lab);
    return failures ? EXIT_LAB : EXIT_DONE;
}

static int run_restore(const struct call *call)
{
    const struct restore_options *said = call->options;
    struct lab lab;
    struct error e;
    char *path = lab_hosts_load(said->lab, &lab, &e);
    if (!path)
        return program_fail(EXIT_USAGE, &e);
    int status = restore_lab(&lab);
    lab_free(&lab);
    free(path);
    return status;
}

const struct command command_restore = {
    .name = "restore",
    .about = "Restore the settings that an interrupted run left on hosts.",
    .options = &options,
    .run = run_restore,
};
