/* harness: runs experiments on a lab. docs/harness.1 */
#include "lib/program/program.h"

/* The commands in the order of the help: a row is one file, harness/commands/cmd_NAME.c, with struct command
 * command_NAME. */
#define COMMANDS(X) \
    X(new)          \
    X(run)          \
    X(burn_in)      \
    X(search)       \
    X(reduce)       \
    X(status)       \
    X(check)        \
    X(list)         \
    X(browse)       \
    X(report)       \
    X(explain)      \
    X(compare)      \
    X(trace)        \
    X(export)       \
    X(schema)       \
    X(install)      \
    X(doctor)       \
    X(restore)      \
    X(lab)          \
    X(import)       \
    X(verify)       \
    X(task)

#define DECLARED(name) extern const struct command command_##name;
#define LISTED(name)   &command_##name,
COMMANDS(DECLARED)
static const struct command *const commands[] = {COMMANDS(LISTED) NULL};

extern void harness_complete(const struct completing *c, const char *word); /* commands/complete.c */

static const struct program program = {
    .name = "harness",
    .about = "Run experiments with priority flow control and DCQCN on simulated, virtual or real RoCE hosts.",
    .commands = commands,
    .build = HARNESS_BUILD,
    .complete = harness_complete,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
