/* nic-sampler: the counters of a NIC, its RDMA device, qdiscs, links and GPU, as lines (docs/lines.md) or for Prometheus. */
#include "collectors/sources/names.h"
#include "collectors/program.h"
#include "collectors/sampler/sampling.h"
#include "lib/clock.h"
#include "lib/document/options.h"
#include "lib/kernel/sysfs.h"
#include "lib/text.h"
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    struct program_arguments common;
    const char *netdev, *rdma, *groups, *prometheus;
    int64_t gpu, every_ns, count;
    int optional_counters, realtime;
};

static const struct option_spec specs[] = {
    {.name = "netdev",
     .kind = OPTION_STRING,
     .offset = offsetof(struct arguments, netdev),
     .argument = "IF",
     .help = "network interface"},
    {.name = "rdma",
     .kind = OPTION_STRING,
     .offset = offsetof(struct arguments, rdma),
     .argument = "DEV[/PORT]",
     .help = "RDMA device (else the one of the interface)"},
    {.name = "gpu",
     .kind = OPTION_INTEGER,
     .offset = offsetof(struct arguments, gpu),
     .argument = "N",
     .help = "GPU, by NVML's number",
     .min = 0,
     .max = 255},
    {.name = "every",
     .kind = OPTION_QUANTITY,
     .offset = offsetof(struct arguments, every_ns),
     .argument = "TIME",
     .help = "time between samples (10ms; with --prometheus 1s)",
     .unit = UNIT_TIME_NS,
     .min = 100 * NS_PER_US,
     .max = 3600 * NS_PER_S},
    {.name = "groups",
     .kind = OPTION_STRING,
     .offset = offsetof(struct arguments, groups),
     .argument = "LIST",
     .help = "pfc,ecn,throughput,drops,errors,pcie,queue,link,dcqcn,other (all)"},
    {.name = "count",
     .kind = OPTION_INTEGER,
     .offset = offsetof(struct arguments, count),
     .argument = "N",
     .help = "end after N samples",
     .min = 1,
     .max = INT64_MAX},
    {.name = "optional-counters",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct arguments, optional_counters),
     .help = "switch the RDMA device's optional counters on, and off again at the end"},
    {.name = "realtime",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct arguments, realtime),
     .help = "run before ordinary processes (SCHED_FIFO), for fast sampling on a busy host"},
    {.name = "prometheus",
     .kind = OPTION_STRING,
     .offset = offsetof(struct arguments, prometheus),
     .argument = "[ADDRESS]:PORT",
     .help = "serve the values over HTTP instead of printing lines"},
    PROGRAM_OPTIONS("/sys and /proc"),
};

static int parse_groups(const char *list, uint32_t *groups, struct error *e)
{
    *groups = 0;
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        uint32_t bit = 0;
        for (uint32_t i = 0; names_groups[i]; i++)
            if (strlen(names_groups[i]) == length && strncmp(names_groups[i], list, length) == 0)
                bit = 1U << i;
        if (bit == 0) {
            char word[32];
            snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), list);
            const char *near = options_nearest(word, names_groups);
            return error_set(e, "--groups: there is no group \"%s\"%s%s; there are %s", word,
                             near ? ", did you mean " : "", near ? near : "",
                             "pfc, ecn, throughput, drops, errors, pcie, queue, link, dcqcn, other");
        }
        *groups |= bit;
        list += length + (list[length] == ',');
    }
    return *groups != 0 ? 0 : error_set(e, "--groups: no group is named");
}

/* "mlx5_0" or "mlx5_0/1" */
static int parse_rdma(const char *text, struct target *target, struct error *e)
{
    size_t length = strcspn(text, "/");
    int64_t port = 1;
    if (length == 0 || length >= sizeof target->rdma ||
        (text[length] == '/' && (!sysfs_parse_number(text + length + 1, &port) || port < 1 || port > 255)))
        return error_set(e, "--rdma %.80s: expected a device and perhaps a port, such as mlx5_0/1", text);
    memcpy(target->rdma, text, length);
    target->rdma[length] = '\0';
    target->rdma_port = (unsigned int)port;
    return 0;
}

static int find_netdev(const char *name, struct target *target, struct error *e)
{
    if (strlen(name) >= sizeof target->netdev || !sysfs_safe_name(name))
        return error_set(e, "--netdev %.80s: this cannot be the name of a network interface", name);
    snprintf(target->netdev, sizeof target->netdev, "%s", name);
    target->ifindex = if_nametoindex(name);
    if (target->ifindex != 0)
        return 0;
    struct if_nameindex *names = if_nameindex();
    struct text there = {0};
    for (size_t i = 0; names && names[i].if_index != 0 && i < 32; i++)
        text_add(&there, "%s%s", i > 0 ? ", " : "", names[i].if_name);
    if (names)
        if_freenameindex(names);
    error_set(e, "there is no network interface %s; there are: %s", name, text_string(&there));
    text_free(&there);
    return -1;
}

static int make_target(const struct arguments *a, struct target *target, struct error *e)
{
    *target = (struct target){.root = a->common.root ? a->common.root : "",
                              .gpu = (int)a->gpu,
                              .optional_counters = a->optional_counters > 0,
                              .every_ns = a->every_ns};
    if (!a->netdev && !a->rdma && a->gpu < 0)
        return error_set(e,
                         "nothing to sample: name an interface with --netdev, a device with --rdma or --gpu");
    if (a->netdev && find_netdev(a->netdev, target, e) == -1)
        return -1;
    return a->rdma ? parse_rdma(a->rdma, target, e) : 0;
}

static int make_plan(const struct arguments *a, struct sampling_plan *plan, struct error *e)
{
    *plan = (struct sampling_plan){.groups = UINT32_MAX,
                                   .every_ns = a->every_ns,
                                   .count = a->count,
                                   .prometheus = a->prometheus,
                                   .realtime = a->realtime > 0};
    if (make_target(a, &plan->target, e) == -1)
        return -1;
    return a->groups ? parse_groups(a->groups, &plan->groups, e) : 0;
}

static int sample(const void *arguments)
{
    struct arguments a = *(const struct arguments *)arguments;
    struct sampling_plan plan;
    struct error e = {0};
    if (a.every_ns == 0)
        a.every_ns = a.prometheus ? NS_PER_S : 10 * NS_PER_MS;
    if (make_plan(&a, &plan, &e) == -1)
        return program_fail(EXIT_USAGE, &e);
    return sampling_run(&plan, &e) == 0 ? EXIT_DONE : program_fail(EXIT_LAB, &e);
}

int main(int argc, char **argv)
{
    static const struct program_spec program = {
        .name = "nic-sampler",
        .synopsis = "--netdev IF [OPTION...]",
        .about = "Prints the counters of a NIC and what belongs to it as JSON lines.",
        .specs = specs,
        .work = sample,
    };
    struct arguments a = {.gpu = -1};
    return program_run(&program, argc, argv, &a.common);
}
