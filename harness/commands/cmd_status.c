#include "harness/slurm/slurm.h"
#include "lib/document/table.h"
#include "lib/program/program.h"

struct status_arguments {
    int json;
};

static const struct field fields[] = {
    {.name = "json",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct status_arguments, json),
     .help = "Print one JSON document."},
    {0},
};
static const struct table options = {
    .name = "status", .size = sizeof(struct status_arguments), .fields = fields};

static int run_status(const struct call *call)
{
    const struct status_arguments *said = call->options;
    return slurm_status(call->arguments[0], said->json != 0);
}

const struct command command_status = {
    .name = "status",
    .arguments = "FOLDER",
    .about = "Show how the runs of a sweep stand: whole, broken, in the queue, missing.",
    .options = &options,
    .least = 1,
    .most = 1,
    .run = run_status,
};
