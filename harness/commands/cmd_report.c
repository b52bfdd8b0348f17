#include "harness/search/search.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/log.h"
#include "reports/reports.h"
#include <stdint.h>
#include <stdio.h>

struct report_arguments {
    const char *out;
    int png;
};

static const struct field fields[] = {
    {.name = "out",
     .letter = 'o',
     .kind = FIELD_STRING,
     .offset = offsetof(struct report_arguments, out),
     .argument = "FOLDER",
     .help = "The folder to write to (otherwise, in the first result, report/, or report-with-OTHERS/ for "
             "several "
             "results)."},
    {.name = "png",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct report_arguments, png),
     .help = "Also convert each drawing, NAME.svg, to NAME.png. Needs rsvg-convert."},
    {0},
};
static const struct table options = {
    .name = "report", .size = sizeof(struct report_arguments), .fields = fields};

static int run_report(const struct call *call)
{
    const struct report_arguments *said = call->options;
    if (call->count == 1 && !said->out && !said->png && search_is_in(call->arguments[0]))
        return search_draw(call->arguments[0]);
    struct error e;
    int status;
    struct text page = {0};
    struct damaged damaged = {0};
    struct report_options how = {.folder = said->out, .png = said->png, .damaged = &damaged};
    if (report_make(call->arguments, call->count, &how, &page, &e) == 0) {
        print_out_line("%s", text_string(&page));
        status = damaged_warn(&damaged) ? EXIT_FAILED : EXIT_DONE;
    } else {
        log_error("%s", e.text);
        status = EXIT_USAGE;
    }
    damaged_free(&damaged);
    text_free(&page);
    return status;
}

const struct command command_report = {
    .name = "report",
    .arguments = "RESULT...",
    .about = "Draw plots and a page from one or more results, or the page of a search anew.",
    .options = &options,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_report,
};
