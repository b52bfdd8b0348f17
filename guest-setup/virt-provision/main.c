/* virt-provision: make, reset, inspect and remove the guests of a lab. docs/virt-provision.1 */
#include "lib/program/program.h"

/* The commands in the order of the help: a row is one file, cmd_NAME.c, with struct command command_NAME. */
#define COMMANDS(X) \
    X(rebuild)      \
    X(reset)        \
    X(status)       \
    X(start)        \
    X(stop)         \
    X(destroy)      \
    X(ssh)          \
    X(ssh_config)   \
    X(console)      \
    X(xml)          \
    X(devices)      \
    X(image)

#define DECLARED(name) extern const struct command command_##name;
#define LISTED(name)   &command_##name,
COMMANDS(DECLARED)
static const struct command *const commands[] = {COMMANDS(LISTED) NULL};

static const struct program program = {
    .name = "virt-provision",
    .about = "Build, reset, inspect and remove the guests of a lab whose driver is libvirt.",
    .commands = commands,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
