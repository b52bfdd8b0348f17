#include "guest-setup/rebuild/prove.h"

#include "guest-setup/guest/profile.h"
#include "remote/places.h"
#include "lib/clock.h"
#include "lib/formats/find.h"
#include "lib/process.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROVE_NS (30 * 60 * NS_PER_S)

/* The program calls virt-provision and harness from this program's folder. */
static void name_programs(void)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return;
    *slash = '\0';
    setenv("HARNESS_PROGRAMS", self, 0);
}

static int run_program(struct context *c, const char *name, struct error *e)
{
    const char *why;
    char *program = places_project(name, e),
         *lab = program ? find_lab(c->options.lab, "soft-pair", &why, e) : NULL;
    const char *const argv[] = {program, "run", "--lab", lab, NULL};
    name_programs();
    if (lab)
        say(c, NULL, "%s run --lab %s", name, lab);
    int status = lab ? process_run(argv, NULL, NULL, NULL, PROVE_NS, e) : -1;
    free(program);
    free(lab);
    if (status > 0)
        return error_set(
            e,
            "the guests of lab %s are built, but their joint test failed: the messages of %s above say why",
            c->lab.name, name);
    return status;
}

/* The hosts of one profile are tested together, once. */
static bool is_first(const struct context *c, size_t host)
{
    for (size_t i = 0; i < host; i++)
        if (strcmp(c->hosts[i]->profile, c->hosts[host]->profile) == 0)
            return false;
    return true;
}

int prove_lab(struct context *c, struct error *e)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < c->host_count; i++) {
        struct profile profile;
        if (!is_first(c, i))
            continue;
        result = profile_load(c->hosts[i]->profile, c->hosts[i]->bundle, &profile, e);
        if (result == 0 && profile.prove)
            result = run_program(c, profile.prove, e);
        if (result == 0 || profile.name)
            profile_free(&profile);
    }
    return result;
}
