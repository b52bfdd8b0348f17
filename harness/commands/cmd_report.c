#include "harness/commands/commands.h"
#include "lib/log.h"
#include "reports/reports.h"
#include <stdint.h>
#include <stdio.h>

struct report_arguments {
    const char *out;
};

static const struct option_spec options[] = {
    {.name = "out",
     .letter = 'o',
     .kind = OPTION_STRING,
     .offset = offsetof(struct report_arguments, out),
     .argument = "FOLDER",
     .help = "Where to; else report/ in the first result."},
    {0},
};

static int run_report(int argc, char **argv)
{
    const char **arguments;
    size_t count;
    struct report_arguments said = {0};
    int status = command_parse(&command_report, argc, argv, &said, &arguments, &count, 1, SIZE_MAX);
    if (status >= 0)
        return status;
    struct error e;
    struct text page = {0};
    struct report_options how = {.folder = said.out};
    if (report_make(arguments, count, &how, &page, &e) == 0) {
        printf("%s\n", text_string(&page));
        status = EXIT_PASSED;
    } else {
        log_error("%s", e.text);
        status = EXIT_USAGE;
    }
    text_free(&page);
    options_free(options, &said, arguments);
    return status;
}

const struct command command_report = {"report", "report RESULT... [--out FOLDER]",
                                       "Draw plots and a page from one or more results.", options,
                                       run_report};
