#include "lib/output/print.h"
#include "lib/program/program.h"
#include "reports/trace/trace.h"
#include "lib/log.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct trace_arguments {
    const char *out;
};

static const struct field fields[] = {
    {.name = "out",
     .letter = 'o',
     .kind = FIELD_STRING,
     .offset = offsetof(struct trace_arguments, out),
     .argument = "FILE",
     .help = "The file to write (otherwise " TRACE_FILE " in the run's folder), \"" TRACE_STDOUT
             "\" for standard output."},
    {0},
};
static const struct table options = {
    .name = "trace", .size = sizeof(struct trace_arguments), .fields = fields};

struct told {
    bool is_stdout; /* the trace is written there */
    bool damaged;   /* a run is */
};

/* On standard output only the paths, unless the trace itself is there. */
static void print_made(void *to, const struct trace_made *made)
{
    struct told *told = to;
    const char *left_out = text_string(&made->left_out);
    told->damaged |= damaged_warn(&made->damaged);
    if (!told->is_stdout)
        print_out_line("%s", text_string(&made->path));
    log_info("%" PRIu64 " events on %" PRIu64 " tracks", made->events, made->tracks);
    for (size_t length; *left_out; left_out += length + 1) {
        length = strcspn(left_out, "\n");
        log_info("%.*s", (int)length, left_out);
    }
}

static int run_trace(const struct call *call)
{
    const struct trace_arguments *said = call->options;
    struct error e;
    struct damaged left_out = {0};
    struct told told = {.is_stdout = said->out && strcmp(said->out, TRACE_STDOUT) == 0};
    if (told.is_stdout && isatty(STDOUT_FILENO)) {
        log_error("--out=" TRACE_STDOUT ": a trace is not text for a terminal: redirect it to a file");
        return EXIT_USAGE;
    }
    int status = EXIT_USAGE;
    if (trace_result(call->arguments[0], said->out, print_made, &told, &left_out, &e) == 0)
        status = damaged_warn(&left_out) || told.damaged ? EXIT_FAILED : EXIT_DONE;
    else
        log_error("%s", e.text);
    damaged_free(&left_out);
    return status;
}

const struct command command_trace = {
    .name = "trace",
    .arguments = "RESULT",
    .about = "Write a run's result as a trace that ui.perfetto.dev opens.",
    .options = &options,
    .least = 1,
    .most = 1,
    .run = run_trace,
};
