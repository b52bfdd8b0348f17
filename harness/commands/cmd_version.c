#include "harness/commands/commands.h"
#include <stdio.h>

static int run_version(int argc, char **argv)
{
    const char **arguments;
    size_t count;
    int status = command_parse(&command_version, argc, argv, NULL, &arguments, &count, 0, 0);
    if (status >= 0)
        return status;
    printf("harness %s\n", HARNESS_VERSION);
    options_free(command_version.options, NULL, arguments);
    return EXIT_PASSED;
}

static const struct option_spec options[] = {{0}};

const struct command command_version = {"version", "version", "Print the version.", options, run_version};
