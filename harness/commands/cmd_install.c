#include "lib/program/program.h"
#include "harness/labs/hosts/parallel.h"
#include "harness/labs/hosts/programs.h"
#include "lib/files.h"
#include "lib/formats/find.h"
#include "lib/clock.h"
#include "lib/log.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct install_options {
    const char *lab, *packages;
};

static const struct field fields[] = {
    {.name = "lab",
     .letter = 'l',
     .kind = FIELD_STRING,
     .offset = offsetof(struct install_options, lab),
     .argument = "LAB",
     .help = "The lab whose hosts get the programs (otherwise HARNESS_LAB, or the lab of the configuration "
             "file)."},
    {.name = "packages",
     .kind = FIELD_STRING,
     .offset = offsetof(struct install_options, packages),
     .argument = "FOLDER",
     .help =
         "Where the package files of harness-host are, for hosts whose \"programs\" is /usr/bin (otherwise "
         "the folder packages beside this program, where make deb and make rpm put them, or "
         "share/harness/packages of the installation)."},
    {0},
};
static const struct table options = {
    .name = "install", .size = sizeof(struct install_options), .fields = fields};

struct installing {
    const struct lab *lab;
    const char *const *names; /* empty: all hosts */
    size_t count;
    const char *packages; /* folder of package files; NULL: there is none */
};

static void add_installed(const struct remote_host *h, struct text *lines)
{
    struct words names = {0};
    remote_programs_names(&names);
    text_add(lines, "%s: ", remote_machine_name(h));
    for (size_t i = 0; i < names.count; i++)
        text_add(lines, "%s%s", i ? ", " : "", names.items[i]);
    text_add(lines, " %s in %s", HARNESS_VERSION, h->lab->programs);
    words_free(&names);
}

static int install_package(struct remote_host *h, const struct host_package *p, struct text *lines,
                           struct error *e)
{
    bool same;
    if (remote_package_put(h, p, &same, e) != 0)
        return -1;
    if (remote_programs_check(h, e) != 0)
        return error_prefix(e, "after %s was installed", p->file);
    add_installed(h, lines);
    text_add(lines, ", package harness-host %s", p->version);
    if (same)
        text_add(lines, ", which was there");
    else if (*p->before && strcmp(p->before, p->version) != 0)
        text_add(lines, " in place of %s", p->before);
    text_add(lines, "\n");
    return 0;
}

/* Where a package was wanted, `why` says why the programs are copied. The files of a package that the host
 * has are left alone. */
static int install_copies(struct remote_host *h, const char *package, const char *why, struct text *lines,
                          struct error *e)
{
    struct error failed;
    if (*package && remote_programs_check(h, &failed) != 0)
        return error_set(
            e,
            "host %s has the package harness-host %s, whose files copies would overwrite; another one "
            "was not installed: %s",
            remote_machine_name(h), package, why);
    if (!*package && remote_programs_put(h, &failed) != 0)
        return error_set(e, "%.700s%s%.300s", failed.text, why ? "; a package was not installed: " : "",
                         why ? why : "");
    add_installed(h, lines);
    if (*package)
        text_add(lines, ", package harness-host %s, which was there; no other was installed: %s", package,
                 why);
    else if (why)
        text_add(lines, ", copied, because %s", why);
    text_add(lines, "\n");
    return 0;
}

static int install_programs(const struct installing *x, struct remote_host *h, struct text *lines,
                            struct error *e)
{
    struct host_package p;
    struct error why;
    if (!x->packages && !remote_package_wanted(h->lab))
        return install_copies(h, "", NULL, lines, e);
    int result = remote_package_find(h, x->packages, &p, &why, e);
    if (result >= 0)
        result =
            result > 0 ? install_package(h, &p, lines, e) : install_copies(h, p.before, why.text, lines, e);
    host_package_free(&p);
    return result;
}

static bool is_named(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return count == 0;
}

static int install_on(void *context, size_t i, const struct host_way *way, struct text *lines,
                      struct error *e)
{
    const struct installing *x = context;
    struct remote_host h;
    (void)i;
    if (!is_named(way->name, x->names, x->count) && !is_named(way->host->name, x->names, x->count))
        return 0;
    int opened = remote_host_open_locked(&h, way, e);
    if (opened < 0)
        return -1;
    if (opened == 1)
        log_warning("%s", e->text);
    int result = install_programs(x, &h, lines, e);
    remote_host_close(&h);
    return result;
}

static int check_names(const struct lab *lab, const char *const *names, size_t count)
{
    const struct lab_host *host;
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (size_t k = 0; (host = lab_host_at(lab, k)); k++)
            known = known ||
                    (lab_machine_first(lab, k) == k &&
                     (strcmp(host->name, names[i]) == 0 || strcmp(lab_machine_name(lab, k), names[i]) == 0));
        if (!known) {
            log_error("lab %s has no host \"%.60s\"", lab->name, names[i]);
            return -1;
        }
    }
    return 0;
}

static int install(struct installing *x)
{
    struct error e;
    size_t failures = 0;
    if (lab_kind(x->lab)->simulated) {
        log_error("lab %s is simulated: it has no hosts", x->lab->name);
        return EXIT_USAGE;
    }
    if (check_names(x->lab, x->names, x->count) != 0)
        return EXIT_USAGE;
    if (lab_hosts_run(x->lab, "install", install_on, x, &failures, &e) != 0)
        return program_fail(EXIT_LAB, &e);
    return failures ? EXIT_LAB : EXIT_DONE;
}

static int run_install(const struct call *call)
{
    const struct install_options *said = call->options;
    struct lab lab;
    struct error e;
    if (said->packages && !files_exist(said->packages)) {
        log_error("--packages %s: there is no such folder", said->packages);
        return EXIT_USAGE;
    }
    char *path = lab_hosts_load(said->lab, &lab, &e);
    if (!path)
        return program_fail(EXIT_USAGE, &e);
    char *beside = said->packages ? NULL : find_shared("packages");
    struct installing x = {.lab = &lab,
                           .names = call->arguments,
                           .count = call->count,
                           .packages = said->packages ? said->packages : beside};
    int status = install(&x);
    free(beside);
    lab_free(&lab);
    free(path);
    return status;
}

const struct command command_install = {
    .name = "install",
    .arguments = "[HOST...]",
    .about = "Put the programs that hosts need (nic-sampler, nic-config, ...) on a lab's hosts: copies, or "
             "the package harness-host.",
    .options = &options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_install,
};
