#include "lib/program/program.h"
#include "harness/slurm/allocation.h"
#include "harness/slurm/slurm.h"
#include "lib/log.h"
#include "harness/run/options.h"
#include "lib/document/table.h"

static const struct field fields[] = {
    {.name = "lab",
     .letter = 'l',
     .kind = FIELD_STRING,
     .offset = offsetof(struct sweep_request, lab),
     .argument = "LAB",
     .help = "The lab to run on (otherwise HARNESS_LAB, the lab of the configuration file, or the simulated "
             "lab that the "
             "scenario names)."},
    {.name = "set",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct sweep_request, sets),
     .argument = "KEY=VALUE",
     .help =
         "Change a value, such as flows.*.message=4KiB; lab.KEY changes the lab. May be given several times. "
         "VALUE is JSON, or else a string."},
    OPTION_OUT(struct sweep_request),
    OPTION_DURATION(struct sweep_request),
    {.name = "repeat",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct sweep_request, repeats),
     .argument = "N",
     .help = "Repeat each cell N times. Each repetition of a simulated run uses the next seed.",
     .fallback = "1",
     .min = 1,
     .max = SWEEP_MOST_REPEATS},
    OPTION_SEED(struct sweep_request, "The seed of the simulator, and of random permutations."),
    OPTION_JOBS(
        struct sweep_request,
        "Runs at a time, each a process of its own (otherwise as many as there are processors for their "
        "threads; a lab of hosts has one run at a time)."),
    {.name = "threads",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct sweep_request, threads),
     .argument = "N",
     .help = "Threads of each simulated run (otherwise the processors that the runs at a time leave, at most "
             "one for 32 hosts). The results are the same for every number.",
     .min = 1,
     .max = 4096},
    {.name = "on",
     .kind = FIELD_STRING,
     .offset = offsetof(struct sweep_request, on),
     .argument = "slurm[:PROFILE]",
     .help = "Run the sweep on a cluster with Slurm, as a job of several tasks. The profile is one of the "
             "configuration file (otherwise its profile default, if there is one). --jobs then is the number "
             "of tasks at "
             "a time."},
    {.name = "cells_per_task",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct sweep_request, cells_per_task),
     .argument = "N",
     .help = "With --on: the runs of a task (otherwise as many as take a minute, by the time that the first "
             "run takes "
             "here).",
     .min = 1,
     .max = 1000000000},
    {.name = "detach",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct sweep_request, detach),
     .help = "With --on: do not wait for the job. harness status FOLDER shows how it stands, "
             "harness run --resume FOLDER runs what is missing."},
    {.name = "resume",
     .kind = FIELD_STRING,
     .offset = offsetof(struct sweep_request, resume),
     .argument = "FOLDER",
     .help = "Run what is missing in the folder of a sweep that was interrupted or killed, in place of a "
             "SCENARIO. Whole "
             "results in it are kept."},
    {.name = "hosts_from",
     .kind = FIELD_STRING,
     .offset = offsetof(struct sweep_request, hosts_from),
     .argument = "slurm",
     .help = "Take the names of an ssh lab's hosts, in the lab's order, from the nodes of the job of Slurm "
             "that this runs in "
             "(SLURM_JOB_NODELIST)."},
    {.name = "against",
     .kind = FIELD_STRING,
     .offset = offsetof(struct sweep_request, against),
     .argument = "RESULT",
     .help =
         "Compare with this earlier result at the end, as harness compare does: a folder, or the name of a "
         "baseline (docs/compare.md)."},
    {.name = "fail_if",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct sweep_request, fail_if),
     .argument = "RULE",
     .help = "With --against: fail (exit status 1) if this holds, such as \"goodput < 97% of old\". May be "
             "given several times."},
    {.name = "dry_run",
     .letter = 'n',
     .kind = FIELD_BOOL,
     .offset = offsetof(struct sweep_request, dry_run),
     .help = "Check everything, print what would be run, and change nothing."},
    {.name = "json",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct sweep_request, json),
     .help = "Print one JSON document: the index of the runs, each with its figures and verdicts."},
    {.name = "no_report",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct sweep_request, no_report),
     .help = "Do not draw a report."},
    {.name = "quiet",
     .letter = 'q',
     .kind = FIELD_BOOL,
     .offset = offsetof(struct sweep_request, quiet),
     .help = "Print errors and warnings only, no progress and no summary."},
    {.name = "yes",
     .letter = 'y',
     .kind = FIELD_BOOL,
     .offset = offsetof(struct sweep_request, yes),
     .help = "Run a sweep of more than a million combinations."},
    {0},
};
static const struct table options = {.name = "run", .size = sizeof(struct sweep_request), .fields = fields};

/* What the folder itself says. */
static int check_resume(const struct call *call, struct error *e)
{
    static const char *const kept[] = {"lab", "set", "hosts_from", "out", "duration", "repeat", "seed", NULL};
    if (call->count > 0)
        return error_set(e, "--resume: the folder says which scenario it is of: give no SCENARIO");
    return request_check_kept(call->document, kept, e);
}

/* What only a cluster knows. */
static int check_on(const struct sweep_request *request, struct error *e)
{
    if (!request->on && (request->detach || request->cells_per_task != FIELD_UNSET))
        return error_set(e, "--%s is for a cluster: give --on too",
                         request->detach ? "detach" : "cells-per-task");
    return 0;
}

static int check_against(const struct sweep_request *request, struct error *e)
{
    if (request->fail_if.count && !request->against)
        return error_set(e, "--fail-if: it compares with an earlier result: give --against too");
    if (request->against && request->detach)
        return error_set(e,
                         "--against: with --detach nobody waits for the end: compare with harness compare");
    return 0;
}

static int run_or_resume(const struct sweep_request *asked, const struct user_config *config, bool has_out,
                         struct error *e)
{
    struct sweep_request request = *asked;
    struct slurm_choice choice;
    if (slurm_choose(&choice, &request, config, has_out, e) != 0)
        return program_fail(EXIT_USAGE, e);
    return request.resume ? sweep_resume(&request, NULL) : sweep_run(&request, NULL);
}

static int run_run(const struct call *call)
{
    struct sweep_request request = *(const struct sweep_request *)call->options;
    struct error e;
    int wrong = request.resume     ? check_resume(call, &e)
                : call->count == 0 ? error_set(&e, "run: expected a SCENARIO, or --resume FOLDER")
                                   : 0;
    struct user_config config = {0};
    struct words sets = {0};
    if (wrong || check_on(&request, &e) != 0 || check_against(&request, &e) != 0 ||
        allocation_take(request.hosts_from, request.lab, &request.sets, &sets, &e) != 0 ||
        (request.on && config_load(&config, &e) != 0)) {
        words_free(&sets);
        return program_fail(EXIT_USAGE, &e);
    }
    request.scenario = request.resume ? NULL : call->arguments[0];
    int status = run_or_resume(&request, &config, json_object_get(call->document, "out") != NULL, &e);
    words_free(&sets);
    config_free(&config);
    return status;
}

const struct command command_run = {
    .name = "run",
    .arguments = "[SCENARIO]",
    .about = "Run a scenario on a lab, and write a report.",
    .options = &options,
    .least = 0,
    .most = 1,
    .run = run_run,
};
