/* harness: runs experiments on a lab. docs/harness.1 */
#include "lib/program/program.h"

/* A file each, in harness/commands/. */
extern const struct command command_run, command_check, command_list, command_report, command_trace,
    command_schema, command_install, command_doctor, command_restore, command_lab, command_status,
    command_task, command_import, command_verify, command_export, command_browse;

static const struct command *const commands[] = {&command_run,
                                                 &command_status,
                                                 &command_check,
                                                 &command_list,
                                                 &command_browse,
                                                 &command_report,
                                                 &command_trace,
                                                 &command_export,
                                                 &command_schema,
                                                 &command_install,
                                                 &command_doctor,
                                                 &command_restore,
                                                 &command_lab,
                                                 &command_import,
                                                 &command_verify,
                                                 &command_task,
                                                 NULL};

static const struct program program = {
    .name = "harness",
    .about = "Run experiments with priority flow control and DCQCN on simulated, virtual or real RoCE hosts.",
    .commands = commands,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
