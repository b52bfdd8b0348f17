/* host-facts: inventory of a host, and checks for GPUDirect RDMA and lossless RoCE. */
#include "collectors/facts/checks.h"
#include "collectors/facts/facts.h"
#include "collectors/facts/nccl.h"
#include "collectors/facts/traffic_probe.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/log.h"
#include "lib/program/program.h"
#include "lib/kernel/sysfs.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    const char *netdev, *bundle, *root;
    int64_t buffer_bytes, gpu;
    int check, nccl_env, measure;
};

static const struct field fields[] = {
    {.name = "netdev",
     .kind = FIELD_STRING,
     .offset = offsetof(struct arguments, netdev),
     .argument = "INTERFACE",
     .help = "Describe only this network interface. Without it, all interfaces of devices are described."},
    {.name = "check",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct arguments, check),
     .help = "Print the verdicts as a table; the exit status is 1 when one is failure."},
    {.name = "nccl_env",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct arguments, nccl_env),
     .help = "Print the NCCL settings that follow from the facts, as shell, each with its reason."},
    {.name = "buffer",
     .kind = FIELD_QUANTITY,
     .offset = offsetof(struct arguments, buffer_bytes),
     .argument = "SIZE",
     .help = "The size of the GPU memory that will be registered with the NIC.",
     .unit = UNIT_BYTES,
     .min = 4096,
     .max = INT64_C(1) << 40,
     .fallback = "\"64MiB\""},
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
     .help = "Read the counters of the NIC and the GPU for one second. The check gpu-counters uses them. It "
             "needs "
             "--netdev and --gpu."},
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
    if (json_dumpf(document, stdout, JSON_INDENT(2)) == 0 && fputc('\n', stdout) != EOF &&
        fflush(stdout) == 0)
        return EXIT_DONE;
    log_error("the document could not be written to standard output");
    return EXIT_LAB;
}

static int print_table(const json_t *checks)
{
    size_t i;
    const json_t *check;
    int status = EXIT_DONE;
    json_array_foreach(checks, i, check)
    {
        const char *verdict = json_string_value(json_object_get(check, "verdict"));
        const char *fix = json_string_value(json_object_get(check, "fix"));
        printf("%-8s %-14s %s: %s\n", verdict, json_string_value(json_object_get(check, "check")),
               json_string_value(json_object_get(check, "subject")),
               json_string_value(json_object_get(check, "reason")));
        if (fix)
            printf("%-8s %-14s -> %s\n", "", "", fix);
        if (strcmp(verdict, "failure") == 0)
            status = EXIT_FAILED;
    }
    return status;
}

static int print_environment(const json_t *facts, const char *netdev)
{
    struct text out = {0};
    struct error e = {0};
    int status = EXIT_DONE;
    if (nccl_environment(facts, netdev, &out, &e) == -1) {
        log_error("%s", e.text);
        status = EXIT_LAB;
    } else {
        fputs(text_string(&out), stdout);
    }
    text_free(&out);
    return status;
}

static int run(const struct arguments *a, const json_t *bundle)
{
    struct facts_source source = {.root = a->root ? a->root : "", .live = !a->root};
    json_t *traffic = a->measure ? traffic_probe(a->netdev, (int)a->gpu, NS_PER_S) : NULL;
    json_t *facts = facts_gather(&source, a->netdev);
    struct checks_wanted wanted = {.buffer_bytes = a->buffer_bytes, .bundle = bundle, .traffic = traffic};
    json_t *checks = checks_run(facts, &wanted);
    int status;
    if (traffic)
        json_object_set(facts, "traffic", traffic);
    json_object_set(facts, "checks", checks);
    if (a->nccl_env)
        status = print_environment(facts, a->netdev);
    else
        status = a->check ? print_table(checks) : print_json(facts);
    json_decref(checks);
    json_decref(facts);
    json_decref(traffic);
    return status;
}

static int validate(const struct arguments *a, struct error *e)
{
    const char *root = a->root ? a->root : "";
    if (!sysfs_exists(root, "/sys"))
        return error_set(
            e, "the folder %s/sys does not exist: expected a copy of a host's /sys, /proc and /etc", root);
    if (a->netdev && (!sysfs_safe_name(a->netdev) || !sysfs_exists(root, "/sys/class/net/%s", a->netdev)))
        return error_set(e, "there is no network interface %.60s in %s/sys/class/net", a->netdev, root);
    if (a->measure && (!a->netdev || a->gpu == FIELD_UNSET || a->root))
        return error_set(e, "--measure needs --netdev and --gpu, and does not work with --root");
    return 0;
}

static int gather(const struct call *call)
{
    const struct arguments *a = call->options;
    struct error e = {0};
    json_t *bundle = NULL;
    if (validate(a, &e) == -1 || (a->bundle && !(bundle = json_file_load(a->bundle, &e))))
        return program_fail(EXIT_USAGE, &e);
    int status = run(a, bundle);
    json_decref(bundle);
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
