/* virt-provision: guests for the lab, made anew, reset, looked at and put away. */
#include "guest-setup/virt-provision/commands.h"

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/document/options.h"
#include <stdio.h>
#include <string.h>

#define AT(member) .offset = offsetof(struct options, member)
static const struct option_spec specs[] = {
    {"lab", 'l', OPTION_STRING, AT(lab), "LAB",
     "the lab's file or name (else HARNESS_LAB, your config, the soft pair)"},
    {"from", 0, OPTION_STRING, AT(from), "STEP", "rebuild: keep the disk, run this step and all after it"},
    {"fresh", 0, OPTION_FLAG, AT(fresh), NULL,
     "rebuild: begin anew even after an interrupted one; image: make it anew"},
    {"dry-run", 0, OPTION_FLAG, AT(dry_run), NULL,
     "rebuild: print every action, version, checksum and the domains' XML, and do nothing"},
    {"adopt", 0, OPTION_FLAG, AT(adopt), NULL,
     "take over domains of these names that virt-provision did not make"},
    {"check", 0, OPTION_FLAG, AT(check), NULL, "status: ask running guests whether their steps still hold"},
    {"json", 0, OPTION_FLAG, AT(json), NULL, "status: print JSON"},
    {"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "no progress on stderr"},
    {"help", 'h', OPTION_FLAG, AT(help), NULL, "print this"},
    {"version", 0, OPTION_FLAG, AT(version), NULL, "print the version"},
    {0},
};
#undef AT

static const char synopsis[] = "COMMAND [WORD...] [OPTION...]";
static const char about[] =
    "Guests for a lab (driver \"libvirt\"), by libvirt. Commands:\n"
    "  rebuild [HOST...]      from nothing: disk, first boot, the profile's steps, verified, snapshot\n"
    "  reset [HOST...]        back to that snapshot\n"
    "  status [HOST...]       domains, steps, versions\n"
    "  start, stop [HOST...]\n"
    "  destroy [HOST...]      domains, disks, keys; with the last host the lab's networks\n"
    "  ssh HOST [-- CMD...]   a shell, or a command\n"
    "  ssh-config [HOST...]   the hosts as a file for ssh -F\n"
    "  console HOST           the serial console\n"
    "  xml HOST               the domain's XML as it would be defined\n"
    "  devices check|bind|release [HOST...]   the devices that are passed through\n"
    "  image build|fetch [PROFILE...], image list";

static const struct command {
    const char *name;
    int (*run)(struct context *c, const char *const *words, size_t count, struct error *e);
} commands[] = {
    {"rebuild", cmd_rebuild}, {"reset", cmd_reset},     {"status", cmd_status},
    {"start", cmd_start},     {"stop", cmd_stop},       {"destroy", cmd_destroy},
    {"ssh", cmd_ssh},         {"console", cmd_console}, {"ssh-config", cmd_ssh_config},
    {"xml", cmd_xml},         {"devices", cmd_devices}, {"image", cmd_image},
};
#define COMMANDS (sizeof commands / sizeof *commands)

static const struct command *find_command(const char *name, struct error *e)
{
    const char *names[COMMANDS + 1] = {NULL};
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
        names[i] = commands[i].name;
    }
    const char *near = options_nearest(name, names);
    error_set(e, "unknown command \"%.60s\"%s%s%s; --help lists them", name, near ? ": did you mean \"" : "",
              near ? near : "", near ? "\"?" : "");
    return NULL;
}

static int run(struct context *c, const char *const *words, size_t count, struct error *e)
{
    if (c->options.help || (count == 0 && !c->options.version)) {
        options_help(c->options.help ? stdout : stderr, "virt-provision", synopsis, about, specs);
        return c->options.help ? 0 : 2;
    }
    if (c->options.version) {
        printf("virt-provision %s\n", HARNESS_VERSION);
        return 0;
    }
    const struct command *command = find_command(words[0], e);
    if (!command) {
        log_error("%s", e->text);
        return 2;
    }
    c->begin_ns = clock_monotonic_ns();
    int status = command->run(c, words + 1, count - 1, e);
    if (status >= 0)
        return status;
    log_error("%s", e->text);
    return atomic_load(&c->cancelled) ? 130 : c->reached ? 3 : 2;
}

int main(int argc, char **argv)
{
    struct context c = {.interrupt = {.fd = -1}};
    struct error e = {""};
    const char **words = NULL;
    size_t count = 0;
    if (options_parse(specs, argc, argv, &c.options, &words, &count, &e) != 0) {
        log_error("%s", e.text);
        return 2;
    }
    int status = run(&c, words, count, &e);
    context_free(&c);
    options_free(specs, &c.options, words);
    return status;
}
