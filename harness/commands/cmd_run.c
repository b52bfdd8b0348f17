#include "harness/commands/commands.h"
#include "harness/run/sweep.h"
#include "lib/log.h"
#include "lib/document/table.h"

static const struct option_spec options[] = {
    {.name = "lab",
     .letter = 'l',
     .kind = OPTION_STRING,
     .offset = offsetof(struct sweep_request, lab),
     .argument = "LAB",
     .help = "Where to run; else HARNESS_LAB, else the config file's, else the scenario's simulated lab."},
    {.name = "set",
     .kind = OPTION_STRINGS,
     .offset = offsetof(struct sweep_request, sets),
     .argument = "KEY=VALUE",
     .help = "Change a value, such as flows.*.message=4KiB; lab.KEY addresses the lab."},
    {.name = "out",
     .letter = 'o',
     .kind = OPTION_STRING,
     .offset = offsetof(struct sweep_request, out),
     .argument = "FOLDER",
     .help = "Where results go (results)."},
    {.name = "duration",
     .letter = 'd',
     .kind = OPTION_QUANTITY,
     .offset = offsetof(struct sweep_request, duration_ns),
     .argument = "TIME",
     .help = "Length of the measure phase.",
     .unit = UNIT_TIME_NS,
     .min = 1000,
     .max = 86400000000000},
    {.name = "repeat",
     .kind = OPTION_INTEGER,
     .offset = offsetof(struct sweep_request, repeats),
     .argument = "N",
     .help = "Run every cell so often; simulated runs with seeds one after the other.",
     .min = 1,
     .max = 10000},
    {.name = "seed",
     .kind = OPTION_INTEGER,
     .offset = offsetof(struct sweep_request, seed),
     .argument = "N",
     .help = "Seed of the simulator (1).",
     .min = 0,
     .max = INT64_MAX},
    {.name = "dry-run",
     .letter = 'n',
     .kind = OPTION_FLAG,
     .offset = offsetof(struct sweep_request, dry_run),
     .help = "Check everything and say what would be run."},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct sweep_request, json),
     .help = "One JSON document on standard output: the index of what ran."},
    {.name = "no-report",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct sweep_request, no_report),
     .help = "Draw no report."},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .offset = offsetof(struct sweep_request, quiet),
     .help = "No progress and no summary; the exit status and the result tell."},
    {0},
};

static int run_run(int argc, char **argv)
{
    const char **arguments;
    size_t count;
    struct sweep_request said = {.out = "results", .duration_ns = FIELD_UNSET, .repeats = 1, .seed = 1};
    int status = command_parse(&command_run, argc, argv, &said, &arguments, &count, 1, 1);
    if (status >= 0)
        return status;
    said.scenario = arguments[0];
    status = sweep_run(&said);
    options_free(options, &said, arguments);
    return status;
}

const struct command command_run = {"run", "run SCENARIO [--lab LAB] [--set KEY=VALUE] [OPTIONS]",
                                    "Run a scenario on a lab, and report.", options, run_run};
