/* Faults that a virtual ConnectX has as it sends frames, and storms of pauses: lines for its model
 * (virtual-connectx/model/faults/faults.h). */
#include "harness/labs/hosts/faults/means.h"

#include "lib/clock.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a NIC cannot do */

static int check_action(const struct injection_rule *r, const char *path, struct error *e)
{
    if (r->action > INJECT_DUPLICATE)
        return error_set(
            e,
            "%s.do: \"%s\" is simulated only: a virtual ConnectX drops, corrupts, marks, delays and "
            "duplicates frames",
            path, injection_action_name(r));
    if (r->priority != FIELD_UNSET)
        return error_set(e, "%s.priority: frames of a priority are simulated only: leave it out", path);
    return 0;
}

static int check_choice(const struct injection_rule *r, const char *path, struct error *e)
{
    struct injection_choice choice = injection_choice(r);
    if (!isnan(r->probability))
        return error_set(e,
                         "%s.probability: a virtual ConnectX does not draw frames: give \"nth\" and "
                         "\"every\"",
                         path);
    if (r->phase != 0 || r->start_ns != 0 || r->stop_ns != FIELD_UNSET)
        return error_set(e,
                         "%s: a virtual ConnectX knows no times of a run: leave out \"phase\", \"start\" and "
                         "\"stop\"; frames are counted from the first one on",
                         path);
    if (choice.first > FAULT_MOST_FRAMES || choice.every > FAULT_MOST_FRAMES)
        return error_set(e, "%s: a virtual ConnectX counts to %d: found %" PRId64, path, FAULT_MOST_FRAMES,
                         choice.first > choice.every ? choice.first : choice.every);
    return 0;
}

static int check_delay(const struct injection_rule *r, const char *path, struct error *e)
{
    if (r->delay_ns == FIELD_UNSET)
        return 0;
    if (r->action == INJECT_DUPLICATE)
        return error_set(e, "%s.delay: a virtual ConnectX sends a copy right behind the frame: leave it out",
                         path);
    if (r->delay_ns % NS_PER_MS == 0)
        return 0;
    return error_set(e, "%s.delay: a virtual ConnectX delays by whole milliseconds: found %" PRId64 " ns",
                     path, r->delay_ns);
}

/* A NIC's faults are for all that it sends. */
static int check_alone(const struct fault_request *q, struct error *e)
{
    const char *other = fault_other_flow(q, NULL);
    if (other)
        return error_set(
            e,
            "%s.flow: a NIC does not tell flows apart, and %s sends such packets of flow \"%.80s\" "
            "too: give \"link\"",
            q->path, q->from, other);
    return 0;
}

/* ---- the line */

static void write_line(const struct injection_rule *r, struct text *line)
{
    struct injection_choice choice = injection_choice(r);
    text_add(line, "%s sent %s %" PRId64, injection_action_name(r),
             r->packet == INJECT_PFC ? "pause" : injection_packet_name(r), choice.first);
    if (r->delay_ns != FIELD_UNSET)
        text_add(line, " %lld", r->delay_ns / NS_PER_MS);
    text_add(line, " step %" PRId64, choice.every);
    if (choice.most <= FAULT_MOST_FRAMES)
        text_add(line, " count %" PRId64, choice.most);
}

static int make_nic_fault(const struct fault_request *q, const struct lab_host *host, struct fault *fault,
                          struct error *e)
{
    if (check_action(q->rule, q->path, e) != 0 || check_choice(q->rule, q->path, e) != 0 ||
        check_delay(q->rule, q->path, e) != 0 || check_alone(q, e) != 0)
        return -1;
    fault->host = host;
    write_line(q->rule, &fault->line);
    return 0;
}

/* ---- on the host */

/* It names the files that the model reads faults from, a line for each NIC that has some. */
#define LEFT "left=" FAULTS_LEFT_NIC "; "
/* $1: the network device. The number of the PCI function is that of its folder. */
#define FIND                                                                                               \
    "device=$(readlink \"/sys/class/net/$1/device\"); "                                                    \
    "fault=/sys/kernel/debug/virtual-connectx/${device##*.}/fault; "                                       \
    "[ -w \"$fault\" ] || { echo \"$1 is not a virtual ConnectX ($fault is not there), and only that one " \
    "has "                                                                                                 \
    "such faults; if it has Soft-RoCE, name its RDMA device in the lab (nic.rdma, such as rxe0)\" >&2; "   \
    "exit 1; }; "
#define OFF "[ ! -e \"$fault\" ] || echo off > \"$fault\" || exit 1; "

static int nic_find(struct remote_host *h, const struct host_faults *f, struct error *e)
{
    static const char script[] = FIND;
    const char *const argv[] = {"sh", "-c", script, "sh", h->netdev, NULL};
    (void)f;
    return ssh_must(h->ssh, argv, NULL, NULL, REMOTE_COMMAND_NS, e);
}

/* The lines come by standard input. */
static const char begin_script[] =
    LEFT FIND "{ cat $left 2> /dev/null; echo \"$fault\"; } | sort -u > $left.new && mv $left.new $left && "
              "echo off > \"$fault\" || exit 1; "
              "while read -r line; do echo \"$line\" > \"$fault\" || "
              "{ echo \"$line: $(dmesg | grep 'virtual ConnectX' | tail -n 1)\" >&2; exit 1; }; done";

static int nic_begin(struct remote_host *h, const struct host_faults *f, struct error *e)
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

/* Lines "NANOSECONDS storm ...", the time on this host's clock. The NIC counts from when it is told, hence
 * the host works that out. What it was told before is taken back first. */
static const char schedule_script[] =
    FIND "echo storm 0 > \"$fault\" || exit 1; while read -r start line; do "
         "left_ns=$((start - $(date +%s%N))); "
         "[ $left_ns -gt 0 ] || { echo late; exit 0; }; "
         "echo \"$line after $(((left_ns + 999999) / 1000000))\" > \"$fault\" || "
         "{ echo \"$line: $(dmesg | grep 'virtual ConnectX' | tail -n 1)\" >&2; exit 1; }; done";

static int nic_schedule(struct remote_host *h, const struct host_faults *f, const int64_t *zero_ns,
                        struct error *e)
{
    const char *const argv[] = {"sh", "-c", schedule_script, "sh", h->netdev, NULL};
    struct text lines = {0}, said = {0};
    for (size_t i = 0; zero_ns && i < f->count; i++)
        if (fault_is_of(&f->rules[i], h, false) && f->rules[i].fault.storm)
            text_add(&lines, "%" PRId64 " %s\n", *zero_ns + f->rules[i].fault.start_ns,
                     text_string(&f->rules[i].fault.line));
    int result = lines.failed ? error_set(e, "out of memory")
                              : ssh_must(h->ssh, argv, text_string(&lines), &said, REMOTE_COMMAND_NS, e);
    if (result == 0)
        result = said.length > 0;
    text_free(&lines);
    text_free(&said);
    return result;
}

/* "drop sent data seen 20 met 1", one line per rule of this host, in their order. */
static void parse_counts(const struct remote_host *h, struct host_faults *f, char *lines)
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

static int nic_end(struct remote_host *h, struct host_faults *f, struct error *e)
{
    static const char script[] =
        LEFT FIND "cat \"$fault\" && " OFF "grep -vxF \"$fault\" $left > $left.new; "
                  "if [ -s $left.new ]; then mv $left.new $left; else rm -f $left $left.new; fi";
    const char *const argv[] = {"sh", "-c", script, "sh", h->netdev, NULL};
    struct text out = {0};
    int result = ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    char *lines = result == 0 ? text_take(&out) : NULL;
    if (lines)
        parse_counts(h, f, lines);
    else if (result == 0)
        result = error_set(e, "out of memory");
    free(lines);
    text_free(&out);
    return result;
}

static int nic_restore(struct remote_host *h, struct error *e)
{
    static const char script[] =
        LEFT "[ -e $left ] || exit 0; while read -r fault; do " OFF "done < $left || exit 1; "
             "rm $left && echo restored";
    return !h->lab->domain || h->lab->nic.pci ? 0 : faults_ask(h, script, e);
}

const struct fault_means fault_means_nic = {.filter = false,
                                            .make = make_nic_fault,
                                            .find = nic_find,
                                            .begin = nic_begin,
                                            .schedule = nic_schedule,
                                            .end = nic_end,
                                            .restore = nic_restore,
                                            .ended = "the faults of its virtual ConnectX"};
