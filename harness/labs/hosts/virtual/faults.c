#include "harness/labs/hosts/virtual/faults.h"

#include "harness/labs/hosts/at_once.h"
#include "harness/plan/real/faults.h"
#include "lib/document/json_text.h"
#include "lib/faults/injection.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* On the guest, in memory like the model's state: neither outlives a boot. It names the file that the model reads faults from. */
#define LEFT "left=/run/harness-virtual-faults; "

struct rule {
    size_t role; /* the first that the host has */
    char *line;
    bool counted;
    int64_t seen, met;
};

struct host_faults {
    struct rule *rules; /* as the scenario's */
    size_t count, room;
    bool begun;
};

static bool has_faults(const struct host_faults *f, size_t role)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->rules[i].role == role)
            return true;
    return false;
}

/* ---- before the run */

static size_t first_role_of(const struct remote_lab *lab, const struct lab_host *host)
{
    size_t role = 0;
    while (role + 1 < lab->host_count && lab->hosts[role].lab != host)
        role++;
    return role;
}

static int make_rules(const struct remote_lab *lab, struct host_faults *f, struct error *e)
{
    const struct cell *cell = lab->run->cell;
    for (; f->count < cell->scenario.injections.count; f->count++) {
        struct rule *rule = &f->rules[f->count];
        const struct lab_host *host;
        struct text line = {0};
        int result = faults_of_rule(&cell->scenario, &cell->lab, f->count, &host, &line, e);
        rule->line = text_take(&line);
        if (result != 0 || !rule->line)
            return result != 0 ? -1 : error_set(e, "out of memory");
        rule->role = first_role_of(lab, host);
        if (lab->hosts[rule->role].lab != host)
            return error_set(e, "inject[%zu]: host %s has no role in the scenario", f->count, host->name);
    }
    return 0;
}

/* $1: the network device. The number of the PCI function is that of its folder. */
#define FIND                                                                                                \
    "device=$(readlink \"/sys/class/net/$1/device\"); "                                                     \
    "fault=/sys/kernel/debug/virtual-connectx/${device##*.}/fault; "                                        \
    "[ -w \"$fault\" ] || { echo \"$1 is no virtual ConnectX ($fault is not there), and only that one has " \
    "such faults\" >&2; exit 1; }; "

static int find_role(struct remote_lab *lab, size_t role, void *context, json_t *warnings, struct error *e)
{
    struct remote_host *h = &lab->hosts[role];
    static const char find[] = FIND;
    const char *const argv[] = {"sh", "-c", find, "sh", h->netdev, NULL};
    (void)warnings;
    if (!has_faults(context, role) || ssh_must(h->ssh, argv, NULL, NULL, REMOTE_COMMAND_NS, e) == 0)
        return 0;
    return error_prefix(e, "inject");
}

int virtual_faults_find(struct remote_lab *lab, struct error *e)
{
    size_t count = lab->run->cell->scenario.injections.count;
    if (!count)
        return 0;
    struct host_faults *f = lab->faults = calloc(1, sizeof *f);
    if (!f || !(f->rules = calloc(count, sizeof *f->rules)))
        return error_set(e, "out of memory");
    f->room = count;
    return make_rules(lab, f, e) != 0 ? -1 : hosts_at_once(lab, lab->host_count, find_role, f, e);
}

/* ---- the run */

/* The lines come by standard input. */
static const char begin_script[] =
    LEFT FIND "echo \"$fault\" > $left.new && mv $left.new $left && echo off > \"$fault\" || exit 1; "
              "while read -r line; do echo \"$line\" > \"$fault\" || "
              "{ echo \"$line: $(dmesg | grep 'virtual ConnectX' | tail -n 1)\" >&2; exit 1; }; done";

static int begin_role(struct remote_lab *lab, size_t role, void *context, json_t *warnings, struct error *e)
{
    const struct host_faults *f = context;
    struct remote_host *h = &lab->hosts[role];
    const char *const argv[] = {"sh", "-c", begin_script, "sh", h->netdev, NULL};
    struct text lines = {0};
    (void)warnings;
    for (size_t i = 0; i < f->count; i++)
        if (f->rules[i].role == role)
            text_add(&lines, "%s\n", f->rules[i].line);
    int result = lines.length ? ssh_must(h->ssh, argv, text_string(&lines), NULL, REMOTE_COMMAND_NS, e) : 0;
    text_free(&lines);
    return result == 0 ? 0 : error_prefix(e, "inject");
}

int virtual_faults_begin(struct remote_lab *lab, struct error *e)
{
    if (!lab->faults)
        return 0;
    lab->faults->begun = true;
    return hosts_at_once(lab, lab->host_count, begin_role, lab->faults, e);
}

/* "drop sent data seen 20 met 1", a line a rule of this host, in their order. */
static void take_counts(struct host_faults *f, size_t role, char *lines)
{
    for (size_t i = 0; i < f->count; i++) {
        struct rule *rule = &f->rules[i];
        if (rule->role != role)
            continue;
        const char *line = strsep(&lines, "\n"), *seen = line ? strstr(line, " seen ") : NULL;
        rule->counted = seen && sscanf(seen, " seen %" SCNd64 " met %" SCNd64, &rule->seen, &rule->met) == 2;
    }
}

#define OFF "[ ! -e \"$fault\" ] || echo off > \"$fault\" || exit 1; "
static const char end_script[] = LEFT "fault=$(cat $left) && cat \"$fault\" && " OFF "rm $left";

static int end_role(struct remote_lab *lab, size_t role, void *context, json_t *warnings, struct error *e)
{
    static const char *const argv[] = {"sh", "-c", end_script, NULL};
    struct remote_host *h = &lab->hosts[role];
    struct text out = {0};
    if (!has_faults(context, role))
        return 0;
    int result =
        h->silent ? error_set(e, "it is silent") : ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    char *lines = result == 0 ? text_take(&out) : NULL;
    if (lines)
        take_counts(context, role, lines);
    else
        json_array_append_new(warnings,
                              json_textf("inject: what the faults of host %s met is not known, and they were "
                                         "not ended: %s; a run or `harness restore` ends them",
                                         h->lab->name, result == 0 ? "out of memory" : e->text));
    free(lines);
    text_free(&out);
    return 0;
}

void virtual_faults_end(struct remote_lab *lab)
{
    struct error ignored;
    if (lab->faults && lab->faults->begun)
        hosts_at_once(lab, lab->host_count, end_role, lab->faults, &ignored);
}

/* ---- the result */

static void add_rule(const struct remote_lab *lab, size_t i, json_t *injected, json_t *warnings)
{
    const struct injection_rule *r =
        (const struct injection_rule *)lab->run->cell->scenario.injections.items + i;
    const struct rule *rule = &lab->faults->rules[i];
    json_t *entry = injection_json(r, i);
    if (rule->counted) {
        json_object_set_new(entry, "seen", json_integer(rule->seen));
        json_object_set_new(entry, "injected", json_integer(rule->met));
    }
    if (rule->counted && !rule->met)
        json_array_append_new(warnings, injection_warning(entry));
    json_array_append_new(injected, entry);
}

void virtual_faults_add_to_result(const struct remote_lab *lab, json_t *result)
{
    if (!lab->faults || !lab->faults->begun)
        return;
    json_t *injected = json_array();
    for (size_t i = 0; i < lab->faults->count; i++)
        add_rule(lab, i, injected, json_object_get(result, "warnings"));
    json_object_set_new(result, "injected", injected);
}

void virtual_faults_free(struct host_faults *f)
{
    if (!f)
        return;
    for (size_t i = 0; f->rules && i < f->room; i++)
        free(f->rules[i].line);
    free(f->rules);
    free(f);
}

/* ---- what a run has left */

int virtual_faults_restore(struct remote_host *h, struct error *e)
{
    static const char restore[] =
        LEFT "[ -e $left ] || exit 0; fault=$(cat $left) || exit 1; " OFF "rm $left && echo restored";
    static const char *const argv[] = {"sh", "-c", restore, NULL};
    struct text out = {0};
    if (!h->lab->domain || h->lab->nic.pci)
        return 0;
    int result = ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    if (result != 0)
        error_prefix(e, "the faults that a run left in host %s's virtual ConnectX", h->lab->name);
    else
        result = out.length > 0;
    text_free(&out);
    return result;
}
