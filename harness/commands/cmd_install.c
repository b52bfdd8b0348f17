#include "lib/program/program.h"
#include "harness/labs/hosts/visit.h"
#include "harness/labs/hosts/programs.h"
#include "lib/clock.h"
#include "lib/log.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct install_options {
    const char *lab;
};

static const struct field fields[] = {
    {.name = "lab",
     .letter = 'l',
     .kind = FIELD_STRING,
     .offset = offsetof(struct install_options, lab),
     .argument = "LAB",
     .help = "The lab whose hosts get the programs (otherwise HARNESS_LAB, or the lab of the configuration "
             "file)."},
    {0},
};
static const struct table options = {
    .name = "install", .size = sizeof(struct install_options), .fields = fields};

struct installing {
    const struct lab *lab;
    const char *const *names; /* empty: all hosts */
    size_t count;
};

static void say_installed(const struct lab_host *host, struct text *said)
{
    struct words names = {0};
    remote_programs_names(&names);
    text_add(said, "%s: ", host->name);
    for (size_t i = 0; i < names.count; i++)
        text_add(said, "%s%s", i ? ", " : "", names.items[i]);
    text_add(said, " %s in %s\n", HARNESS_VERSION, host->programs);
    words_free(&names);
}

static bool is_named(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return count == 0;
}

static int install_on(void *context, size_t i, struct virt *virt, const struct lab_host *host,
                      struct text *said, struct error *e)
{
    const struct installing *x = context;
    struct remote_host h;
    (void)i;
    if (!is_named(host->name, x->names, x->count))
        return 0;
    if (remote_host_open(&h, virt, x->lab, host, 60 * NS_PER_S, e) != 0)
        return -1;
    int result = remote_programs_put(&h, e);
    if (result == 0)
        say_installed(host, said);
    remote_host_close(&h);
    return result;
}

static int check_names(const struct lab *lab, const char *const *names, size_t count)
{
    const struct lab_host *host;
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (size_t k = 0; (host = lab_host_at(lab, k)); k++)
            known = known || strcmp(host->name, names[i]) == 0;
        if (!known) {
            log_error("lab %s has no host \"%.60s\"", lab->name, names[i]);
            return -1;
        }
    }
    return 0;
}

static int install(const struct lab *lab, const char *const *names, size_t count)
{
    struct installing x = {lab, names, count};
    struct error e;
    size_t failures = 0;
    if (lab_kind(lab)->simulated) {
        log_error("lab %s is simulated: it has no hosts", lab->name);
        return EXIT_USAGE;
    }
    if (check_names(lab, names, count) != 0)
        return EXIT_USAGE;
    if (lab_hosts_visit(lab, "install", install_on, &x, &failures, &e) != 0)
        return program_fail(EXIT_LAB, &e);
    return failures ? EXIT_LAB : EXIT_DONE;
}

static int run_install(const struct call *call)
{
    const struct install_options *said = call->options;
    struct lab lab;
    struct error e;
    char *path = lab_hosts_load(said->lab, &lab, &e);
    if (!path)
        return program_fail(EXIT_USAGE, &e);
    int status = install(&lab, call->arguments, call->count);
    lab_free(&lab);
    free(path);
    return status;
}

const struct command command_install = {
    .name = "install",
    .arguments = "[HOST...]",
    .about = "Copy the programs that hosts need (nic-sampler, nic-config, ...) to a lab's hosts.",
    .options = &options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_install,
};
