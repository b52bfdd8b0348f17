/* host-facts: what a host is made of, and whether GPUDirect RDMA and lossless RoCE can be trusted on it. */
#include "collectors/facts/checks.h"
#include "collectors/facts/facts.h"
#include "collectors/facts/nccl.h"
#include "collectors/program.h"
#include "collectors/facts/traffic_probe.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/log.h"
#include "lib/kernel/sysfs.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    struct program_arguments common;
    const char *netdev, *bundle;
    int64_t buffer_bytes, gpu;
    int check, nccl_env, measure;
};

static const struct option_spec specs[] = {
    {.name = "netdev",
     .kind = OPTION_STRING,
     .offset = offsetof(struct arguments, netdev),
     .argument = "IF",
     .help = "only this network interface"},
    {.name = "check",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct arguments, check),
     .help = "print the verdicts as a table; exit code 1 when one is failure"},
    {.name = "nccl-env",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct arguments, nccl_env),
     .help = "print the NCCL settings that follow, as shell"},
    {.name = "buffer",
     .kind = OPTION_QUANTITY,
     .offset = offsetof(struct arguments, buffer_bytes),
     .argument = "SIZE",
     .help = "GPU memory that will be registered (64MiB)",
     .unit = UNIT_BYTES,
     .min = 4096,
     .max = INT64_C(1) << 40},
    {.name = "bundle",
     .kind = OPTION_STRING,
     .offset = offsetof(struct arguments, bundle),
     .argument = "FILE",
     .help = "versions that belong together, to compare with"},
    {.name = "measure",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct arguments, measure),
     .help = "watch the counters of NIC and GPU for a second (needs --netdev and --gpu)"},
    {.name = "gpu",
     .kind = OPTION_INTEGER,
     .offset = offsetof(struct arguments, gpu),
     .argument = "N",
     .help = "GPU for --measure, by NVML's number",
     .min = 0,
     .max = 255},
    PROGRAM_OPTIONS("/sys, /proc and /etc"),
};

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
            status = EXIT_FAILED_CHECK;
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
    struct facts_source source = {.root = a->common.root ? a->common.root : "", .live = !a->common.root};
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
    const char *root = a->common.root ? a->common.root : "";
    if (!sysfs_exists(root, "/sys"))
        return error_set(e, "there is no folder %s/sys to read", root);
    if (a->netdev && (!sysfs_safe_name(a->netdev) || !sysfs_exists(root, "/sys/class/net/%s", a->netdev)))
        return error_set(e, "there is no network interface %.60s in %s/sys/class/net", a->netdev, root);
    if (a->measure && (!a->netdev || a->gpu < 0 || a->common.root))
        return error_set(e, "--measure needs --netdev and --gpu, and the running host");
    return 0;
}

static int gather(const void *arguments)
{
    const struct arguments *a = arguments;
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
    static const struct program_spec program = {
        .name = "host-facts",
        .synopsis = "[OPTION...]",
        .about = "Prints what this host is made of as one JSON document, with a verdict on every check.",
        .specs = specs,
        .work = gather,
    };
    struct arguments a = {.buffer_bytes = INT64_C(64) << 20, .gpu = -1};
    return program_run(&program, argc, argv, &a.common);
}
