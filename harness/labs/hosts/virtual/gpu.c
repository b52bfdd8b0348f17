#include "harness/labs/hosts/virtual/gpu.h"
#include "lib/document/json_text.h"
#include "lib/formats/flow.h"
#include <inttypes.h>
#include <string.h>

/* On the guest, in memory like the model's state: neither outlives a boot. */
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
static bool may_have(const struct lab_host *host)
{
    return host->gpu && !host->gpu->pci;
}

/* $1: the network device, $2: the line. The number of the PCI function is that of its folder. */
static const char set[] =
    LEFT "device=$(readlink \"/sys/class/net/$1/device\"); "
         "pace=/sys/kernel/debug/virtual-connectx/${device##*.}/pace; "
         "[ -w \"$pace\" ] || { echo \"$1 is no virtual ConnectX ($pace is not there)\" >&2; exit 1; }; "
         "echo \"$pace\" > $left.new && mv $left.new $left || exit 1; "
         "echo \"$2\" > \"$pace\" || { dmesg | grep 'virtual ConnectX' | tail -n 1 >&2; exit 1; }";

json_t *virtual_gpu_set(struct remote_host *h, struct error *e)
{
    struct text line = {0};
    virtual_gpu_line(h->lab->gpu, &line);
    h->slowed = true;
    const char *const argv[] = {"sh", "-c", set, "sh", h->netdev, text_string(&line), NULL};
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
    return may_have(h->lab) && ssh_run(h->ssh, argv, NULL, NULL, NULL, REMOTE_COMMAND_NS, NULL) == 0;
}

/* $1: a line without limits, which takes the place of the one that was set. Rules that others set stay. */
static const char restore[] = LEFT "[ -e $left ] || exit 0; pace=$(cat $left) || exit 1; "
                                   "[ ! -e \"$pace\" ] || echo \"$1\" > \"$pace\" || exit 1; "
                                   "rm $left && echo restored";

int virtual_gpu_restore(struct remote_host *h, struct error *e)
{
    struct text line = {0}, out = {0};
    add_range(&line);
    const char *const argv[] = {"sh", "-c", restore, "sh", text_string(&line), NULL};
    int result = may_have(h->lab) ? ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e) : 0;
    if (result != 0)
        error_prefix(e, "the memory that stands for host %s's GPU stays slow", h->lab->name);
    else
        result = out.length > 0;
    text_free(&line);
    text_free(&out);
    return result;
}
