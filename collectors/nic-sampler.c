/* nic-sampler: the counters of a NIC, its RDMA device, qdiscs, links and GPU, as lines (docs/lines.md) or for
 * Prometheus. */
#include "collectors/sampler/sampling.h"
#include "lib/clock.h"
#include "lib/document/nearest.h"
#include "lib/kernel/sysfs.h"
#include "lib/log.h"
#include "lib/program/program.h"
#include "lib/roce/counters.h"
#include "lib/text.h"
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    const char *netdev, *rdma, *groups, *prometheus, *root;
    struct list_of nics; /* char * */
    int64_t gpu, every_ns, count;
    int optional_counters, realtime;
};

static const char groups_help[] =
    "Sample only columns of these groups, separated by commas: all"
#define GROUP(id, name, meaning) ", " name
#include "lib/roce/counters.def"
    " (default all). A source is not read when none of its columns is requested.";

static const struct field fields[] = {
    {.name = "netdev",
     .kind = FIELD_STRING,
     .offset = offsetof(struct arguments, netdev),
     .argument = "INTERFACE",
     .help = "The network interface to sample."},
    {.name = "rdma",
     .kind = FIELD_STRING,
     .offset = offsetof(struct arguments, rdma),
     .argument = "DEV[/PORT]",
     .help = "The RDMA device and its port. Without it, the device of the interface is used. A device that "
             "is named "
             "must exist."},
    {.name = "nic",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct arguments, nics),
     .argument = "INTERFACE[:rdma=DEV[/PORT]][:gpu=N]",
     .help =
         "Sample this NIC, in place of --netdev, --rdma and --gpu. Given several times, all of them are "
         "sampled by one process, "
         "one after the other, and each line says which one it is of. What the machine has once is in the "
         "lines of the first."},
    {.name = "gpu",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct arguments, gpu),
     .argument = "N",
     .help = "The GPU to sample, by its NVML number. It is read through libnvidia-ml.so.1.",
     .min = 0,
     .max = 255},
    {.name = "every",
     .kind = FIELD_QUANTITY,
     .offset = offsetof(struct arguments, every_ns),
     .argument = "TIME",
     .help = "The time between samples (default 10ms; with --prometheus 1s).",
     .unit = UNIT_TIME_NS,
     .min = 100 * NS_PER_US,
     .max = 3600 * NS_PER_S},
    {.name = "groups",
     .kind = FIELD_STRING,
     .offset = offsetof(struct arguments, groups),
     .argument = "LIST",
     .help = groups_help},
    {.name = "count",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct arguments, count),
     .argument = "N",
     .help = "End after N samples.",
     .min = 1,
     .max = INT64_MAX},
    {.name = "optional_counters",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct arguments, optional_counters),
     .help = "Switch on the optional counters of the RDMA device, and restore them at the end. Needs "
             "CAP_NET_ADMIN."},
    {.name = "realtime",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct arguments, realtime),
     .help = "Run with real-time priority (SCHED_FIFO, priority 1). "
             "Sampling 1000 times a "
             "second on a busy host needs this. Without CAP_SYS_NICE a warning is printed."},
    {.name = "prometheus",
     .kind = FIELD_STRING,
     .offset = offsetof(struct arguments, prometheus),
     .argument = "[ADDRESS]:PORT",
     .help = "Serve the values over HTTP at /metrics instead of printing lines. The format is the text "
             "format of Prometheus. "
             "Without ADDRESS it listens on loopback (127.0.0.1) only; 0.0.0.0 or [::] is every address. "
             "Each scrape takes a new sample."},
    {.name = "root",
     .kind = FIELD_STRING,
     .offset = offsetof(struct arguments, root),
     .argument = "FOLDER",
     .help = "Read /sys and /proc below FOLDER."},
    {0},
};
static const struct table options = {.name = "options", .size = sizeof(struct arguments), .fields = fields};

static int parse_groups(const char *list, uint32_t *groups, struct error *e)
{
    *groups = 0;
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        uint32_t bits = counters_group_bits(list, length);
        if (bits == 0) {
            char word[32];
            snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), list);
            const char *near = nearest_word(word, counter_group_choices);
            return error_set(e, "--groups: group \"%s\" does not exist%s%s; the groups are %s", word,
                             near ? ", did you mean " : "", near ? near : "", counter_group_list);
        }
        *groups |= bits;
        list += length + (list[length] == ',');
    }
    return *groups != 0 ? 0 : error_set(e, "--groups: expected at least one group");
}

/* "mlx5_0" or "mlx5_0/1" */
static int parse_rdma(const char *text, struct target *target, struct error *e)
{
    size_t length = strcspn(text, "/");
    int64_t port = 1;
    if (length == 0 || length >= sizeof target->rdma ||
        (text[length] == '/' && (!sysfs_parse_number(text + length + 1, &port) || port < 1 || port > 255)))
        return error_set(e, "--rdma %.80s: expected DEVICE or DEVICE/PORT, such as mlx5_0/1", text);
    memcpy(target->rdma, text, length);
    target->rdma[length] = '\0';
    target->rdma_port = (unsigned int)port;
    return 0;
}

/* A bond's own statistics have no pauses: its ports count them. */
static void warn_of_bond(const struct target *target)
{
    char ports[256];
    if (sysfs_text(ports, sizeof ports, target->root, "/sys/class/net/%s/bonding/slaves", target->netdev) > 0)
        log_warning(
            "%s is a bond upon %s: pauses, buffers and bytes of each priority are counted by its ports "
            "alone; sample each of them",
            target->netdev, ports);
}

static int find_netdev(const char *name, struct target *target, struct error *e)
{
    if (strlen(name) >= sizeof target->netdev || !sysfs_safe_name(name))
        return error_set(e, "--netdev %.80s: this is not a valid name of a network interface", name);
    snprintf(target->netdev, sizeof target->netdev, "%s", name);
    target->ifindex = if_nametoindex(name);
    if (target->ifindex != 0) {
        warn_of_bond(target);
        return 0;
    }
    struct if_nameindex *names = if_nameindex();
    struct text there = {0};
    for (size_t i = 0; names && names[i].if_index != 0 && i < 32; i++)
        text_add(&there, "%s%s", i > 0 ? ", " : "", names[i].if_name);
    if (names)
        if_freenameindex(names);
    error_set(e,
              "there is no network interface %s; the interfaces are: %s; one of another network namespace "
              "can be read "
              "there alone (ip netns exec NAME; nsenter -t PID -n)",
              name, text_string(&there));
    text_free(&there);
    return -1;
}

static struct target target_of(const struct arguments *a)
{
    return (struct target){.root = a->root ? a->root : "",
                           .gpu = a->gpu == FIELD_UNSET ? -1 : (int)a->gpu,
                           .optional_counters = a->optional_counters > 0,
                           .every_ns = a->every_ns};
}

static int make_target(const struct arguments *a, struct target *target, struct error *e)
{
    *target = target_of(a);
    if (!a->netdev && !a->rdma && a->gpu == FIELD_UNSET)
        return error_set(
            e, "nothing to sample: give an interface with --netdev, or a device with --rdma or --gpu");
    if (a->netdev && find_netdev(a->netdev, target, e) == -1)
        return -1;
    return a->rdma ? parse_rdma(a->rdma, target, e) : 0;
}

/* ---- several NICs */

/* One of the words after the interface, which the kernel lets have no colon. */
static int parse_word(const char *nic, const char *word, struct target *target, struct error *e)
{
    int64_t gpu;
    if (strncmp(word, "rdma=", 5) == 0)
        return parse_rdma(word + 5, target, e);
    if (strncmp(word, "gpu=", 4) == 0 && sysfs_parse_number(word + 4, &gpu) && gpu >= 0 && gpu <= 255) {
        target->gpu = (int)gpu;
        return 0;
    }
    return error_set(
        e, "--nic %.80s: expected INTERFACE, and behind colons rdma=DEVICE, rdma=DEVICE/PORT or gpu=N", nic);
}

/* "ens1:rdma=mlx5_0/1:gpu=0" */
static int parse_nic(const struct arguments *a, const char *nic, struct target *target, struct error *e)
{
    char words[256], *rest = words;
    *target = target_of(a);
    if (strlen(nic) >= sizeof words)
        return error_set(e, "--nic %.80s...: this is too long", nic);
    snprintf(words, sizeof words, "%s", nic);
    const char *name = strsep(&rest, ":");
    if (strpbrk(name, "\"\\"))
        return error_set(
            e,
            "--nic %.80s: lines cannot say that they are of this interface: sample it alone, with "
            "--netdev",
            nic);
    if (find_netdev(name, target, e) == -1)
        return -1;
    while (rest)
        if (parse_word(nic, strsep(&rest, ":"), target, e) == -1)
            return -1;
    return 0;
}

static int make_targets(const struct arguments *a, struct sampling_plan *plan, struct error *e)
{
    char *const *nics = a->nics.items;
    if (a->netdev || a->rdma || a->gpu != FIELD_UNSET)
        return error_set(e, "--nic stands for --netdev, --rdma and --gpu: give these, or --nic");
    if (a->nics.count > SAMPLING_MOST_NICS)
        return error_set(e, "--nic: at most %d NICs are sampled together", SAMPLING_MOST_NICS);
    for (size_t i = 0; i < a->nics.count; i++) {
        struct target *target = &plan->targets[i];
        if (parse_nic(a, nics[i], target, e) == -1)
            return -1;
        target->shared = i > 0;
        for (size_t k = 0; k < i; k++)
            if (strcmp(plan->targets[k].netdev, target->netdev) == 0)
                return error_set(e, "--nic: %s is given twice", target->netdev);
    }
    plan->count_targets = a->nics.count;
    plan->named = true;
    return 0;
}

static int make_plan(const struct arguments *a, struct sampling_plan *plan, struct error *e)
{
    *plan = (struct sampling_plan){.groups = UINT32_MAX,
                                   .every_ns = a->every_ns,
                                   .count = a->count,
                                   .prometheus = a->prometheus,
                                   .realtime = a->realtime > 0,
                                   .count_targets = 1};
    if ((a->nics.count ? make_targets(a, plan, e) : make_target(a, &plan->targets[0], e)) == -1)
        return -1;
    return a->groups ? parse_groups(a->groups, &plan->groups, e) : 0;
}

static int sample(const struct call *call)
{
    struct arguments a = *(const struct arguments *)call->options;
    struct sampling_plan plan;
    struct error e = {0};
    if (a.every_ns == FIELD_UNSET)
        a.every_ns = a.prometheus ? NS_PER_S : 10 * NS_PER_MS;
    if (a.count == FIELD_UNSET)
        a.count = 0;
    if (make_plan(&a, &plan, &e) == -1)
        return program_fail(EXIT_USAGE, &e);
    return sampling_run(&plan, &e) == 0 ? EXIT_DONE : program_fail(EXIT_LAB, &e);
}

int main(int argc, char **argv)
{
    static const struct command command = {
        .about = "Print the counters of a NIC, its RDMA device, queues, link and GPU as JSON lines.",
        .options = &options,
        .run = sample,
    };
    static const struct command *const commands[] = {&command, NULL};
    static const struct program program = {
        .name = "nic-sampler", .about = "Sample the counters of a NIC.", .commands = commands};
    return program_main(&program, argc, argv);
}
