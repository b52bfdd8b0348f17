/* The subcommands: one file each, behind one table in main.c. */
#ifndef HARNESS_COMMANDS_H
#define HARNESS_COMMANDS_H

#include "lib/document/options.h"

/* Exit statuses (docs/harness.1). */
enum {
    EXIT_PASSED = 0,
    EXIT_EXPECTATION = 1,
    EXIT_USAGE = 2,
    EXIT_LAB = 3,
    EXIT_SKIPPED = 4,
    EXIT_INTERRUPTED = 130
};

struct command {
    const char *name;
    const char *synopsis;              /* "run SCENARIO [--lab LAB] ..." */
    const char *about;                 /* one line */
    const struct option_spec *options; /* NULL: none but --help */
    int (*run)(int argc, char **argv);
};

extern const struct command command_run, command_check, command_list, command_report, command_schema,
    command_install, command_doctor, command_restore, command_version;
/* All, ended by NULL. */
extern const struct command *const commands[];

/* Parse the command's options into `target`, the rest into *arguments. Returns -1 to go on, or the exit status: help was asked
 * for, or the line is wrong. `least` and `most` arguments are expected. */
int command_parse(const struct command *command, int argc, char **argv, void *target, const char ***arguments,
                  size_t *count, size_t least, size_t most);

#endif
