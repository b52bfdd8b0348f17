/* virt-provision: make, reset, inspect and remove the guests of a lab. docs/virt-provision.1 */
#include "lib/program/program.h"

/* Each in its file, cmd_NAME.c. */
extern const struct command command_rebuild, command_reset, command_status, command_start, command_stop,
    command_destroy, command_ssh, command_ssh_config, command_console, command_xml, command_devices,
    command_image;

static const struct command *const commands[] = {&command_rebuild,
                                                 &command_reset,
                                                 &command_status,
                                                 &command_start,
                                                 &command_stop,
                                                 &command_destroy,
                                                 &command_ssh,
                                                 &command_ssh_config,
                                                 &command_console,
                                                 &command_xml,
                                                 &command_devices,
                                                 &command_image,
                                                 NULL};

static const struct program program = {
    .name = "virt-provision",
    .about = "Build, reset, inspect and remove the guests of a lab whose driver is libvirt.",
    .commands = commands,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
