/* Faults that a virtual ConnectX has: lines for its model. */
#include "harness/labs/hosts/faults/means.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* It names the file that the model reads faults from. */
#define LEFT "left=" FAULTS_LEFT_NIC "; "
/* $1: the network device. The number of the PCI function is that of its folder. */
#define FIND                                                                                                \
    "device=$(readlink \"/sys/class/net/$1/device\"); "                                                     \
    "fault=/sys/kernel/debug/virtual-connectx/${device##*.}/fault; "                                        \
    "[ -w \"$fault\" ] || { echo \"$1 is no virtual ConnectX ($fault is not there), and only that one has " \
    "such faults; if it has Soft-RoCE, name its RDMA device in the lab (nic.rdma, such as rxe0)\" >&2; "    \
    "exit 1; }; "
#define OFF "[ ! -e \"$fault\" ] || echo off > \"$fault\" || exit 1; "

static int find(struct remote_host *h, const struct host_faults *f, struct error *e)
{
    static const char script[] = FIND;
    const char *const argv[] = {"sh", "-c", script, "sh", h->netdev, NULL};
    (void)f;
    return ssh_must(h->ssh, argv, NULL, NULL, REMOTE_COMMAND_NS, e);
}

/* The lines come by standard input. */
static const char begin_script[] =
    LEFT FIND "echo \"$fault\" > $left.new && mv $left.new $left && echo off > \"$fault\" || exit 1; "
              "while read -r line; do echo \"$line\" > \"$fault\" || "
              "{ echo \"$line: $(dmesg | grep 'virtual ConnectX' | tail -n 1)\" >&2; exit 1; }; done";

static int begin(struct remote_host *h, const struct host_faults *f, struct error *e)
{
    const char *const argv[] = {"sh", "-c", begin_script, "sh", h->netdev, NULL};
    struct text lines = {0};
    for (size_t i = 0; i < f->count; i++)
        if (fault_is_of(&f->rules[i], h, false) && !f->rules[i].fault.storm)
            text_add(&lines, "%s\n", text_string(&f->rules[i].fault.line));
    int result = lines.failed ? error_set(e, "out of memory")
                              : ssh_must(h->ssh, argv, text_string(&lines), NULL, REMOTE_COMMAND_NS, e);
    text_free(&lines);
    return result;
}

/* Lines "NANOSECONDS storm ...", the time on this host's clock. The NIC counts from when it is told, hence the host works that out. */
static const char schedule_script[] =
    LEFT "fault=$(cat $left) || exit 1; while read -r start line; do left_ns=$((start - $(date +%s%N))); "
         "[ $left_ns -gt 0 ] || { echo late; exit 0; }; "
         "echo \"$line after $(((left_ns + 999999) / 1000000))\" > \"$fault\" || "
         "{ echo \"$line: $(dmesg | grep 'virtual ConnectX' | tail -n 1)\" >&2; exit 1; }; done";

static int schedule(struct remote_host *h, const struct host_faults *f, int64_t zero_ns, struct error *e)
{
    const char *const argv[] = {"sh", "-c", schedule_script, NULL};
    struct text lines = {0}, said = {0};
    for (size_t i = 0; i < f->count; i++)
        if (fault_is_of(&f->rules[i], h, false) && f->rules[i].fault.storm)
            text_add(&lines, "%" PRId64 " %s\n", zero_ns + f->rules[i].fault.start_ns,
                     text_string(&f->rules[i].fault.line));
    int result = lines.failed ? error_set(e, "out of memory")
                              : ssh_must(h->ssh, argv, text_string(&lines), &said, REMOTE_COMMAND_NS, e);
    if (result == 0)
        result = said.length > 0;
    text_free(&lines);
    text_free(&said);
    return result;
}

/* "drop sent data seen 20 met 1", a line a rule of this host, in their order. */
static void take_counts(const struct remote_host *h, struct host_faults *f, char *lines)
{
    for (size_t i = 0; i < f->count; i++) {
        struct fault_rule *rule = &f->rules[i];
        if (!fault_is_of(rule, h, false) || rule->fault.storm)
            continue;
        const char *line = strsep(&lines, "\n"), *seen = line ? strstr(line, " seen ") : NULL;
        rule->counted = seen &&
                        sscanf(seen, " seen %" SCNd64 " met %" SCNd64, &rule->seen, &rule->met) == 2 &&
                        rule->met >= 0 && rule->seen >= rule->met;
    }
}

static int end(struct remote_host *h, struct host_faults *f, struct error *e)
{
    static const char script[] = LEFT "fault=$(cat $left) && cat \"$fault\" && " OFF "rm $left";
    static const char *const argv[] = {"sh", "-c", script, NULL};
    struct text out = {0};
    int result = ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    char *lines = result == 0 ? text_take(&out) : NULL;
    if (lines)
        take_counts(h, f, lines);
    else if (result == 0)
        result = error_set(e, "out of memory");
    free(lines);
    text_free(&out);
    return result;
}

static int restore(struct remote_host *h, struct error *e)
{
    static const char script[] =
        LEFT "[ -e $left ] || exit 0; fault=$(cat $left) || exit 1; " OFF "rm $left && echo restored";
    return !h->lab->domain || h->lab->nic.pci ? 0 : faults_ask(h, script, e);
}

const struct fault_means fault_means_nic = {.filter = false,
                                            .find = find,
                                            .begin = begin,
                                            .schedule = schedule,
                                            .end = end,
                                            .restore = restore,
                                            .ended = "the faults of its virtual ConnectX"};
