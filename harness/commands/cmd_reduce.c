#include "harness/reduce/reduce.h"
#include "harness/run/options.h"
#include "lib/program/program.h"

static const struct field fields[] = {
    {.name = "expect",
     .letter = 'e',
     .kind = FIELD_STRING,
     .offset = offsetof(struct reduce_request, expect),
     .argument = "NAME",
     .help = "The expectation that failed; it need not be named where only one did."},
    {.name = "seeds",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct reduce_request, seeds),
     .argument = "N",
     .help = "It has to fail with so many seeds, from that of the run on; on real hosts so many times.",
     .fallback = "3",
     .min = 1,
     .max = 100},
    {.name = "keep",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct reduce_request, keep),
     .argument = "PATH",
     .help =
         "Leave what is at this path, or matches it, as it is: phases.measure, flows, 'lab.defaults.*'. May "
         "be given several times."},
    {.name = "out",
     .letter = 'o',
     .kind = FIELD_STRING,
     .offset = offsetof(struct reduce_request, out),
     .argument = "FOLDER",
     .help = "The folder that findings are written to.",
     .fallback = "\"results\""},
    OPTION_JOBS(
        struct reduce_request,
        "Scenarios of a simulated lab that are tried at a time (otherwise as many as there are processors "
        "for). The finding is the same for every number."),
    {.name = "resume",
     .kind = FIELD_STRING,
     .offset = offsetof(struct reduce_request, resume),
     .argument = "FOLDER",
     .help = "Go on in the folder of a reduction that was interrupted or killed, in place of a RESULT."},
    {.name = "json",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct reduce_request, json),
     .help = "Print finding.json."},
    {.name = "quiet",
     .letter = 'q',
     .kind = FIELD_BOOL,
     .offset = offsetof(struct reduce_request, quiet),
     .help = "Print errors and warnings only."},
    {0},
};
static const struct table options = {
    .name = "reduce", .size = sizeof(struct reduce_request), .fields = fields};

static int run_reduce(const struct call *call)
{
    static const char *const kept[] = {"expect", "seeds", "keep", "out", NULL};
    struct reduce_request request = *(const struct reduce_request *)call->options;
    struct error e;
    int wrong = request.resume && call->count
                    ? error_set(&e, "--resume: the folder says which result it is of: give no RESULT")
                : request.resume   ? request_check_kept(call->document, kept, &e)
                : call->count == 0 ? error_set(&e, "reduce: expected a RESULT, or --resume FOLDER")
                                   : 0;
    if (wrong)
        return program_fail(EXIT_USAGE, &e);
    request.result = request.resume ? NULL : call->arguments[0];
    return reduce_run(&request);
}

const struct command command_reduce = {
    .name = "reduce",
    .arguments = "[RESULT]",
    .about = "Make the least scenario in which an expectation of a run still fails.",
    .options = &options,
    .least = 0,
    .most = 1,
    .run = run_reduce,
};
