#include "harness/run/options.h"
#include "harness/search/search.h"
#include "harness/slurm/slurm.h"
#include "lib/program/program.h"

static const struct field fields[] = {
    {.name = "lab",
     .letter = 'l',
     .kind = FIELD_STRING,
     .offset = offsetof(struct sweep_request, lab),
     .argument = "LAB",
     .help = "The lab to run on, as for harness run."},
    {.name = "set",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct sweep_request, sets),
     .argument = "KEY=VALUE",
     .help = "Change a value of the scenario, such as search.runs=200; lab.KEY changes the lab. May be given "
             "several times."},
    OPTION_OUT(struct sweep_request),
    OPTION_DURATION(struct sweep_request),
    OPTION_SEED(struct sweep_request,
                "The seed of the choice of candidates, and the first one of the simulator."),
    OPTION_JOBS(
        struct sweep_request,
        "Runs of a simulated lab at a time (otherwise as many as there are processors for). The answer is "
        "the same for every number."),
    {.name = "on",
     .kind = FIELD_STRING,
     .offset = offsetof(struct sweep_request, on),
     .argument = "slurm[:PROFILE]",
     .help = "Run each round on a cluster with Slurm (docs/sweeps.md)."},
    {.name = "resume",
     .kind = FIELD_STRING,
     .offset = offsetof(struct sweep_request, resume),
     .argument = "FOLDER",
     .help = "Go on in the folder of a search that was interrupted or killed, in place of a SCENARIO."},
    {.name = "dry_run",
     .letter = 'n',
     .kind = FIELD_BOOL,
     .offset = offsetof(struct sweep_request, dry_run),
     .help = "Check everything, print what would be searched, and change nothing."},
    {.name = "json",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct sweep_request, json),
     .help = "Print search.json."},
    {.name = "no_report",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct sweep_request, no_report),
     .help = "Draw no page."},
    {.name = "quiet",
     .letter = 'q',
     .kind = FIELD_BOOL,
     .offset = offsetof(struct sweep_request, quiet),
     .help = "Print errors and warnings only."},
    {0},
};
static const struct table options = {
    .name = "search", .size = sizeof(struct sweep_request), .fields = fields};

static int run_search(const struct call *call)
{
    static const char *const kept[] = {"lab", "set", "out", "duration", "seed", NULL};
    struct sweep_request request = *(const struct sweep_request *)call->options;
    struct user_config config = {0};
    struct error e;
    request.threads = request.cells_per_task = FIELD_UNSET;
    request.repeats = 1;
    int wrong = request.resume && call->count
                    ? error_set(&e, "--resume: the folder says which scenario it is of: give no SCENARIO")
                : request.resume   ? request_check_kept(call->document, kept, &e)
                : call->count == 0 ? error_set(&e, "search: expected a SCENARIO, or --resume FOLDER")
                                   : 0;
    if (wrong || (request.on && config_load(&config, &e) != 0))
        return program_fail(EXIT_USAGE, &e);
    request.scenario = request.resume ? NULL : call->arguments[0];
    struct slurm_choice choice;
    int status =
        slurm_choose(&choice, &request, &config, json_object_get(call->document, "out") != NULL, &e) == 0
            ? search_run(&request)
            : program_fail(EXIT_USAGE, &e);
    config_free(&config);
    return status;
}

const struct command command_search = {
    .name = "search",
    .arguments = "[SCENARIO]",
    .about = "Search for the best values of a scenario's settings.",
    .options = &options,
    .least = 0,
    .most = 1,
    .run = run_search,
};
