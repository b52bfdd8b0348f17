#include "harness/burn_in/burn_in.h"
#include "harness/burn_in/stages.h"
#include "harness/run/options.h"
#include "harness/slurm/allocation.h"
#include "lib/program/program.h"

#define NAMED(name, ...) " " name
static const struct field fields[] = {
    OPTION_OUT(struct burn_in_request),
    {.name = "stages",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct burn_in_request, stages),
     .argument = "STAGE",
     .help = "Run this one of the stages" BURN_IN_STAGES(NAMED) ". May be given several times; otherwise all "
                                                                "that the lab can have."},
    {.name = "soak",
     .kind = FIELD_QUANTITY,
     .offset = offsetof(struct burn_in_request, soak_ns),
     .argument = "TIME",
     .help = "At the end, send on all NICs for so long, and count errors. Otherwise there is no such stage.",
     .unit = UNIT_TIME_NS,
     .min = 1000,
     .max = 604800000000000},
    {.name = "baseline",
     .kind = FIELD_STRING,
     .offset = offsetof(struct burn_in_request, baseline),
     .argument = "RESULT",
     .help =
         "An accepted burn-in, whose figures this one has to reach: a folder, its burn-in.json, or the name "
         "of a baseline (docs/compare.md)."},
    {.name = "fail_if",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct burn_in_request, fail_if),
     .argument = "RULE",
     .help = "Fail (exit status 1) also if this holds of a NIC: \"host_tx < 97% of old\" (host_rx, gpu_tx, "
             "gpu_rx; "
             "old is the baseline), \"host_rx < 380Gb/s\". May be given several times."},
    {.name = "hosts_from",
     .kind = FIELD_STRING,
     .offset = offsetof(struct burn_in_request, hosts_from),
     .argument = "slurm",
     .help = "Take the names of an ssh lab's hosts, in the lab's order, from the nodes of the job of Slurm "
             "that this runs in (SLURM_JOB_NODELIST)."},
    {.name = "set",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct burn_in_request, sets),
     .argument = "KEY=VALUE",
     .help = "Change a value of every stage's scenario, as harness run does; lab.KEY changes the lab. May be "
             "given several times."},
    OPTION_SEED(struct burn_in_request, "The seed of the simulator."),
    OPTION_JOBS(struct burn_in_request,
                "Runs of a simulated lab at a time (otherwise as many as there are processors for)."),
    {.name = "resume",
     .kind = FIELD_STRING,
     .offset = offsetof(struct burn_in_request, resume),
     .argument = "FOLDER",
     .help =
         "Run what is missing in the folder of a burn-in that was interrupted or killed, in place of a LAB."},
    {.name = "dry_run",
     .letter = 'n',
     .kind = FIELD_BOOL,
     .offset = offsetof(struct burn_in_request, dry_run),
     .help = "Check everything, print the plan with its time, and change nothing."},
    {.name = "json",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct burn_in_request, json),
     .help = "Print burn-in.json (harness schema burn-in)."},
    {.name = "no_report",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct burn_in_request, no_report),
     .help = "Draw no page, neither of the burn-in nor of its stages."},
    {.name = "quiet",
     .letter = 'q',
     .kind = FIELD_BOOL,
     .offset = offsetof(struct burn_in_request, quiet),
     .help = "Print errors and warnings only."},
    {0},
};
static const struct table options = {
    .name = "burn-in", .size = sizeof(struct burn_in_request), .fields = fields};

static int run_burn_in(const struct call *call)
{
    struct burn_in_request request = *(const struct burn_in_request *)call->options;
    static const char *const kept[] = {"stages", "soak", "baseline",   "set",
                                       "seed",   "out",  "hosts_from", NULL};
    struct error e;
    request.lab = call->count ? call->arguments[0] : NULL;
    if (request.resume && call->count) {
        error_set(&e, "--resume: the folder says which lab it is of: give no LAB");
        return program_fail(EXIT_USAGE, &e);
    }
    struct words sets = {0};
    if ((request.resume && request_check_kept(call->document, kept, &e) != 0) ||
        allocation_take(request.hosts_from, request.lab, &request.sets, &sets, &e) != 0) {
        words_free(&sets);
        return program_fail(EXIT_USAGE, &e);
    }
    int status = burn_in_run(&request);
    words_free(&sets);
    return status;
}

const struct command command_burn_in = {
    .name = "burn-in",
    .arguments = "[LAB]",
    .about = "Test the hosts of a lab before they are used, stage by stage, and name what is bad.",
    .options = &options,
    .least = 0,
    .most = 1,
    .run = run_burn_in,
};
