#include "harness/commands/commands.h"
#include "lib/log.h"
#include <stdio.h>
#include <string.h>

const struct command *const commands[] = {
    &command_run,     &command_check,  &command_list,    &command_report,  &command_schema,
    &command_install, &command_doctor, &command_restore, &command_version, NULL};

static const struct option_spec no_options[] = {{0}};

int command_parse(const struct command *command, int argc, char **argv, void *target, const char ***arguments,
                  size_t *count, size_t least, size_t most)
{
    const struct option_spec *options = command->options ? command->options : no_options;
    struct error e;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options_help(stdout, "harness", command->synopsis, command->about, options);
            return EXIT_PASSED;
        }
    if (options_parse(options, argc, argv, target, arguments, count, &e) != 0) {
        log_error("%s", e.text);
        return EXIT_USAGE;
    }
    if (*count >= least && *count <= most)
        return -1;
    log_error("%s: %zu argument%s: usage: harness %s", command->name, *count, *count == 1 ? "" : "s",
              command->synopsis);
    options_free(options, target, *arguments);
    return EXIT_USAGE;
}
