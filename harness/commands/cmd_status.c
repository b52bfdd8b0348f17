#include "harness/reduce/reduce.h"
#include "harness/search/search.h"
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
    const char *folder = call->arguments[0];
    bool json = said->json != 0;
    return search_is_in(folder)   ? search_status(folder, json)
           : reduce_is_in(folder) ? reduce_status(folder, json)
                                  : slurm_status(folder, json);
}

const struct command command_status = {
    .name = "status",
    .arguments = "FOLDER",
    .about =
        "Show how the runs of a sweep stand: whole, broken, in the queue, missing; or a search, a reduction.",
    .options = &options,
    .least = 1,
    .most = 1,
    .run = run_status,
};
