/* What only guests with virtual devices have. */
#include "harness/labs/hosts/virtual.h"
#include "lib/document/json_text.h"
#include "lib/formats/flow.h"
#include "lib/physics/fabric.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRIORITIES  8
#define CODE_POINTS 64
#define PS_PER_US   1000000

/* ---- switches: what the scenario says */

static unsigned priorities_of(const json_t *list)
{
    unsigned bits = 0;
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        bits |= 1u << (json_integer_value(item) % PRIORITIES);
    }
    return bits;
}

/* A code point without an entry has mlx5's priority, which nic-config too uses. */
static void add_priorities(const json_t *wanted, struct text *lines)
{
    const char *trust = json_string_value(json_object_get(wanted, "trust"));
    const json_t *map = json_object_get(wanted, "dscp_to_prio");
    text_add(lines, "trust_dscp %d\n", trust && strcmp(trust, "dscp") == 0);
    for (int dscp = 0; dscp < CODE_POINTS; dscp++) {
        char key[8];
        snprintf(key, sizeof key, "%d", dscp);
        const json_t *entry = json_object_get(map, key);
        text_add(lines, "dscp %d %lld\n", dscp, entry ? (long long)json_integer_value(entry) : dscp / 8);
    }
}

/* ---- switches: what the lab says */

static int64_t count_ports(const struct lab *lab, const struct lab_host *host)
{
    const struct lab_link *link;
    int64_t count = 0;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        count += strcmp(ends[0], host->name) == 0 || strcmp(ends[1], host->name) == 0;
    }
    return count;
}

/* The headroom of all ports' lossless priorities is not shared. */
static int add_buffer(const struct lab *lab, const struct lab_host *host, unsigned lossless,
                      struct text *lines, struct error *e)
{
    const struct physics_switch *s = host->forwarding;
    int64_t headroom = s->headroom_bytes * __builtin_popcount(lossless) * count_ports(lab, host);
    if (headroom >= s->buffer_bytes)
        return error_set(
            e,
            "host %s: switch.buffer: of %lld bytes the headroom of its lossless priorities takes "
            "%lld: nothing is left to share",
            host->name, (long long)s->buffer_bytes, (long long)headroom);
    text_add(lines, "shared_bytes %lld\n", (long long)(s->buffer_bytes - headroom));
    text_add(lines, "headroom_bytes %lld\n", (long long)s->headroom_bytes);
    text_add(lines, "hysteresis_bytes %lld\n", (long long)s->xon_offset_bytes);
    text_add(lines, "alpha_eighths %lld\n", s->xoff_bytes ? 0LL : (long long)(s->xoff_alpha * 8));
    text_add(lines, "threshold_bytes %lld\n", (long long)s->xoff_bytes);
    return 0;
}

/* Packets of the other priorities are not marked: a ConnectX sends them too as ECN-capable, unless DCQCN
 * is switched off there, which the kernel's own drivers cannot do. */
static void add_ecn(const struct physics_ecn *ecn, const json_t *wanted, struct text *lines)
{
    unsigned marked = priorities_of(json_object_get(wanted, "ecn")) |
                      priorities_of(json_object_get(wanted, "ecn_rp")) |
                      priorities_of(json_object_get(wanted, "ecn_np"));
    for (int p = 0; p < PRIORITIES; p++) {
        bool on = marked >> p & 1;
        text_add(lines, "ecn_min_bytes %d %lld\n", p, on ? (long long)ecn->kmin_bytes : 0);
        text_add(lines, "ecn_max_bytes %d %lld\n", p, on ? (long long)ecn->kmax_bytes : 0);
        text_add(lines, "ecn_percent %d %ld\n", p, lround(ecn->pmax * 100));
    }
}

static void add_watchdog(const struct physics_watchdog *watchdog, struct text *lines)
{
    int64_t restore_ps = watchdog->restore_ps == FIELD_UNSET ? watchdog->detect_ps : watchdog->restore_ps;
    text_add(lines, "watchdog_us %lld\n", (long long)(watchdog->detect_ps / PS_PER_US));
    text_add(lines, "restore_us %lld\n", (long long)(restore_ps / PS_PER_US));
}

int virtual_switch_lines(const struct lab *lab, const struct lab_host *host, const json_t *wanted,
                         struct text *lines, struct error *e)
{
    unsigned lossless = priorities_of(json_object_get(wanted, "pfc"));
    if (add_buffer(lab, host, lossless, lines, e) != 0)
        return -1;
    text_add(lines, "pfc %u\n", lossless);
    add_priorities(wanted, lines);
    add_ecn(&host->forwarding->ecn, wanted, lines);
    add_watchdog(&host->forwarding->watchdog, lines);
    return 0;
}

/* ---- switches: on the guest */

/* A line at a time; the module says in the kernel's log what is wrong with one. */
static const char write_lines_script[] =
    "while read -r line; do echo \"$line\" > /sys/kernel/debug/virtual-connectx/switch/setting || "
    "{ echo \"$line: $(dmesg | grep 'virtual ConnectX' | tail -n 1)\" >&2; exit 1; }; done";

static json_t *lines_as_json(struct text *lines)
{
    json_t *list = json_array();
    char *rest = text_take(lines), *all = rest, *line;
    while (rest && (line = strsep(&rest, "\n")))
        if (*line)
            json_array_append_new(list, json_text(line));
    free(all);
    return json_make("{s:o}", "switch", list);
}

json_t *virtual_switch_set(struct remote_host *h, const struct lab *lab, const json_t *wanted,
                           struct error *e)
{
    const char *const argv[] = {"sh", "-c", write_lines_script, NULL};
    struct text lines = {0};
    json_t *taken = NULL;
    if (virtual_switch_lines(lab, h->lab, wanted, &lines, e) == 0 &&
        ssh_must(h->ssh, argv, text_string(&lines), NULL, REMOTE_COMMAND_NS, e) == 0)
        taken = lines_as_json(&lines);
    text_free(&lines);
    return taken;
}

/* ---- memory that stands for a GPU's */

/* On the guest, in memory like the model's state: neither outlives a boot. A line for each NIC's. */
#define LEFT  "left=/run/harness-virtual-gpu; "
#define RANGE "range 0x%llx 0x%llx"

static void add_range(struct text *line)
{
    text_add(line, RANGE, FLOW_VIRTUAL_GPU_ADDRESS, FLOW_VIRTUAL_GPU_BYTES);
}

void virtual_gpu_line(const struct lab_gpu *gpu, struct text *line)
{
    add_range(line);
    if (gpu->write_bps != FIELD_UNSET)
        text_add(line, " write_bytes_per_s %" PRId64, gpu->write_bps / 8);
    if (gpu->stalls_per_s > 0)
        text_add(line, " stalls_per_s %" PRId64 " stall_mean_ns %" PRId64 " stall_window_ns %" PRId64,
                 gpu->stalls_per_s, gpu->stall_mean_ns, gpu->stall_window_ns);
}

bool virtual_gpu_wanted(const struct scenario *scenario, const char *role, const struct lab_host *host)
{
    const struct scenario_flow *flows = scenario->flows.items;
    bool used = false;
    for (size_t i = 0; i < scenario->flows.count; i++)
        used |= flow_in_gpu_memory(flows[i].memory) &&
                (strcmp(flows[i].from, role) == 0 || strcmp(flows[i].to, role) == 0);
    return used && host->gpu && lab_gpu_paced(host->gpu);
}

/* Only such a host is looked at. */
static bool may_have_gpu_memory(const struct lab_host *host)
{
    return host->gpu && !host->gpu->pci;
}

/* $1: the network device, $2: the line. The number of the PCI function is that of its folder. */
static const char set_pace_script[] =
    LEFT "device=$(readlink \"/sys/class/net/$1/device\"); "
         "pace=/sys/kernel/debug/virtual-connectx/${device##*.}/pace; "
         "[ -w \"$pace\" ] || { echo \"$1 is not a virtual ConnectX ($pace is not there)\" >&2; exit 1; }; "
         "{ cat $left 2> /dev/null; echo \"$pace\"; } | sort -u > $left.new && mv $left.new $left || exit 1; "
         "echo \"$2\" > \"$pace\" || { dmesg | grep 'virtual ConnectX' | tail -n 1 >&2; exit 1; }";

json_t *virtual_gpu_set(struct remote_host *h, struct error *e)
{
    struct text line = {0};
    virtual_gpu_line(h->lab->gpu, &line);
    h->slowed = true;
    const char *const argv[] = {"sh", "-c", set_pace_script, "sh", h->netdev, text_string(&line), NULL};
    int result = ssh_must(h->ssh, argv, NULL, NULL, REMOTE_COMMAND_NS, e);
    json_t *taken = result == 0 ? json_text(text_string(&line)) : NULL;
    if (result != 0)
        error_prefix(e, "the memory that stands for host %s's GPU (gpu.write, gpu.stalls_per_s)",
                     h->lab->name);
    text_free(&line);
    return taken;
}

bool virtual_gpu_left(struct remote_host *h)
{
    static const char *const argv[] = {"sh", "-c", LEFT "test -e $left", NULL};
    return may_have_gpu_memory(h->lab) &&
           ssh_run(h->ssh, argv, NULL, NULL, NULL, REMOTE_COMMAND_NS, NULL) == 0;
}

/* $1: a line without limits, which takes the place of the one that was set. Rules that others set stay. */
static const char restore_pace_script[] =
    LEFT "[ -e $left ] || exit 0; while read -r pace; do "
         "[ ! -e \"$pace\" ] || echo \"$1\" > \"$pace\" || exit 1; done < $left || exit 1; "
         "rm $left && echo restored";

int virtual_gpu_restore(struct remote_host *h, struct error *e)
{
    struct text line = {0}, out = {0};
    add_range(&line);
    const char *const argv[] = {"sh", "-c", restore_pace_script, "sh", text_string(&line), NULL};
    int result = may_have_gpu_memory(h->lab) ? ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e) : 0;
    if (result != 0)
        error_prefix(e, "the memory that stands for host %s's GPU stays slow", h->lab->name);
    else
        result = out.length > 0;
    text_free(&line);
    text_free(&out);
    return result;
}
