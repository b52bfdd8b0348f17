/* host-facts: inventory of a host, and checks for GPUDirect RDMA and lossless RoCE. */
#include "collectors/facts/checks.h"
#include "collectors/facts/facts.h"
#include "collectors/facts/nccl.h"
#include "collectors/facts/traffic_probe.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/formats/flow.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/output/verdicts.h"
#include "lib/program/program.h"
#include "lib/kernel/sysfs.h"
#include <stdbool.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    const char *netdev, *bundle, *policy, *root;
    struct list_of tools, nccl_nics;
    int64_t buffer_bytes, gpu;
    int memory;
    int check, nccl_env, measure;
};

static const struct field fields[] = {
    {.name = "netdev",
     .kind = FIELD_STRING,
     .offset = offsetof(struct arguments, netdev),
     .argument = "INTERFACE",
     .help = "Describe only this network interface. Without it, all interfaces of devices are described."},
    {.name = "tools",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct arguments, tools),
     .argument = "INTERFACE",
     .help = "Ask firmware tools and lldpctl about this network interface alone; given several times, about "
             "these. Without it, they are asked about all that are described, which takes time on hosts with "
             "many."},
    {.name = "check",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct arguments, check),
     .help =
         "Print the verdicts as a table, and whether the host is ready for RDMA with the memory of --memory; "
         "the exit status is 1 when it is not, or a verdict is failure."},
    {.name = "nccl_env",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct arguments, nccl_env),
     .help = "Print the NCCL settings that follow from the facts, as shell, each with its reason."},
    {.name = "nccl_nic",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct arguments, nccl_nics),
     .argument = "INTERFACE",
     .help =
         "With --nccl-env: let NCCL use this network interface; given several times, these. Without it, that "
         "of --netdev, or all."},
    {.name = "buffer",
     .kind = FIELD_QUANTITY,
     .offset = offsetof(struct arguments, buffer_bytes),
     .argument = "SIZE",
     .help = "The size of the GPU memory that will be registered with the NIC.",
     .unit = UNIT_BYTES,
     .min = 4096,
     .max = INT64_C(1) << 40,
     .fallback = "\"64MiB\""},
    {.name = "memory",
     .letter = 'm',
     .kind = FIELD_CHOICE,
     .offset = offsetof(struct arguments, memory),
     .choices = flow_memory_names,
     .help =
         "The memory of the flows. What must register GPU memory with the NIC depends on the route: gpu, any "
         "that works.",
     .fallback = "\"gpu\""},
    {.name = "cluster_policy",
     .kind = FIELD_STRING,
     .offset = offsetof(struct arguments, policy),
     .argument = "FILE",
     .help = "Check NVIDIA GPU operator's ClusterPolicy, as kubectl get clusterpolicies.nvidia.com -o json "
             "prints "
             "it."},
    {.name = "bundle",
     .kind = FIELD_STRING,
     .offset = offsetof(struct arguments, bundle),
     .argument = "FILE",
     .help = "Compare the installed versions with this bundle, a JSON document. Its keys are kernel, ofed, "
             "driver, cuda and "
             "nic_firmware; guest-setup/bundles contains such documents."},
    {.name = "measure",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct arguments, measure),
     .help = "Read the counters of the NIC and the GPU for one second, which the check gpu-counters uses, "
             "and run "
             "gdrcopy_copybw if it is installed. It needs --netdev and --gpu."},
    {.name = "gpu",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct arguments, gpu),
     .argument = "N",
     .help = "The GPU for --measure, by its NVML number.",
     .min = 0,
     .max = 255},
    {.name = "root",
     .kind = FIELD_STRING,
     .offset = offsetof(struct arguments, root),
     .argument = "FOLDER",
     .help = "Read /sys, /proc and /etc below FOLDER. The running host is not queried."},
    {0},
};
static const struct table options = {.name = "options", .size = sizeof(struct arguments), .fields = fields};

static int print_json(const json_t *document)
{
    if (json_print(stdout, document, 17) == 0 && fflush(stdout) == 0)
        return EXIT_DONE;
    log_error("the document could not be written to standard output: %s", strerror(errno));
    return EXIT_LAB;
}

#define BELOW 24 /* columns before what a check is about */

static void print_check(const json_t *check)
{
    const char *verdict = json_string_value(json_object_get(check, "verdict"));
    print_out("%-8s %-14s %s: %s\n", verdict, json_string_value(json_object_get(check, "check")),
              json_string_value(json_object_get(check, "subject")),
              json_string_value(json_object_get(check, "reason")));
    verdict_print_below(check, BELOW, strcmp(verdict, "ok") != 0);
}

#define MOST_REASONS 3 /* in the last line; the table has them all */

/* "GPUDirect RDMA: not ready: there is no RDMA device; and 2 more" */
static void print_answer(const json_t *ready)
{
    const char *answer = json_string_value(json_object_get(ready, "answer"));
    const json_t *why = json_object_get(ready, "why"), *reason;
    bool yes = strcmp(answer, "yes") == 0, no = strcmp(answer, "no") == 0;
    size_t i, count = json_array_size(why);
    print_out("%s: %s", json_string_value(json_object_get(ready, "for")),
              yes  ? "ready"
              : no ? "not ready"
                   : "not known whether it is ready");
    json_array_foreach(why, i, reason)
    {
        if (i < MOST_REASONS)
            print_out("%s%s", i ? "; " : ": ", json_string_value(reason));
    }
    if (count > MOST_REASONS)
        print_out("; and %zu more", count - MOST_REASONS);
    print_out("\n");
}

static int print_table(const json_t *checks, const json_t *ready)
{
    struct verdict_counts counts = verdicts_count(checks);
    bool no = strcmp(json_string_value(json_object_get(ready, "answer")), "no") == 0;
    size_t i;
    const json_t *check;
    json_array_foreach(checks, i, check) print_check(check);
    verdicts_print_counts(&counts);
    print_answer(ready);
    return counts.failures > 0 || no ? EXIT_FAILED : EXIT_DONE;
}

static int print_environment(const json_t *facts, const struct arguments *a)
{
    struct text out = {0};
    struct error e = {0};
    int status = EXIT_DONE;
    const char *const *nics = a->nccl_nics.count ? a->nccl_nics.items : &a->netdev;
    size_t count = a->nccl_nics.count ? a->nccl_nics.count : a->netdev != NULL;
    if (nccl_environment(facts, nics, count, &out, &e) == -1) {
        log_error("%s", e.text);
        status = EXIT_LAB;
    } else {
        print_out("%s", text_string(&out));
    }
    text_free(&out);
    return status;
}

static int gather_and_check(const struct arguments *a, const json_t *bundle, const json_t *policy)
{
    struct facts_source source = {
        .root = a->root ? a->root : "", .live = !a->root, .tools = a->tools.count ? &a->tools : NULL};
    json_t *traffic = a->measure ? traffic_probe(a->netdev, (int)a->gpu, NS_PER_S) : NULL;
    json_t *facts = facts_gather(&source, a->netdev);
    struct checks_wanted wanted = {.buffer_bytes = a->buffer_bytes,
                                   .memory = a->memory,
                                   .policy = policy,
                                   .bundle = bundle,
                                   .traffic = traffic};
    if (a->measure)
        json_object_set_new(json_object_get(facts, "gdrcopy"), "copybw", gdrcopy_probe((int)a->gpu));
    json_t *checks = checks_run(facts, &wanted), *ready = checks_answer(facts, checks, &wanted);
    int status;
    if (traffic)
        json_object_set(facts, "traffic", traffic);
    json_object_set(facts, "checks", checks);
    json_object_set(facts, "ready", ready);
    if (a->nccl_env)
        status = print_environment(facts, a);
    else
        status = a->check ? print_table(checks, ready) : print_json(facts);
    json_decref(ready);
    json_decref(checks);
    json_decref(facts);
    json_decref(traffic);
    return status;
}

static int check_interface(const char *root, const char *name, struct error *e)
{
    if (sysfs_safe_name(name) && sysfs_exists(root, "/sys/class/net/%s", name))
        return 0;
    return error_set(e, "there is no network interface %.60s in %s/sys/class/net", name, root);
}

static int validate(const struct arguments *a, struct error *e)
{
    const char *root = a->root ? a->root : "";
    if (!sysfs_exists(root, "/sys"))
        return error_set(
            e, "the folder %s/sys does not exist: expected a copy of a host's /sys, /proc and /etc", root);
    char *const *tools = a->tools.items; /* a copied tree has none */
    if (a->netdev && check_interface(root, a->netdev, e) != 0)
        return -1;
    for (size_t i = 0; !a->root && i < a->tools.count; i++)
        if (check_interface(root, tools[i], e) != 0)
            return -1;
    char *const *nics = a->nccl_nics.items;
    for (size_t i = 0; i < a->nccl_nics.count; i++)
        if (check_interface(root, nics[i], e) != 0)
            return -1;
    if (a->nccl_nics.count && (!a->nccl_env || a->netdev))
        return error_set(e, "--nccl-nic goes with --nccl-env, and in place of --netdev");
    if (a->measure && (!a->netdev || a->gpu == FIELD_UNSET || a->root))
        return error_set(e, "--measure needs --netdev and --gpu, and does not work with --root");
    return 0;
}

static int gather(const struct call *call)
{
    const struct arguments *a = call->options;
    struct error e = {0};
    json_t *bundle = NULL, *policy = NULL;
    bool good = validate(a, &e) == 0 &&
                (!a->bundle || (bundle = json_file_load(a->bundle, DOCUMENT_SCENARIO, &e))) &&
                (!a->policy || (policy = json_file_load(a->policy, DOCUMENT_SCENARIO, &e)));
    int status = good ? gather_and_check(a, bundle, policy) : program_fail(EXIT_USAGE, &e);
    json_decref(bundle);
    json_decref(policy);
    return status;
}

int main(int argc, char **argv)
{
    static const struct command command = {
        .about = "Print an inventory of this host as one JSON document, with a verdict on every check.",
        .options = &options,
        .run = gather,
    };
    static const struct command *const commands[] = {&command, NULL};
    static const struct program program = {
        .name = "host-facts", .about = "Describe a host and check it.", .commands = commands};
    return program_main(&program, argc, argv);
}
