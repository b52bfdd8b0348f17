/* virt-provision rebuild */
#include "guest-setup/virt-provision/commands.h"

#include "guest-setup/guest/profile.h"
#include "guest-setup/rebuild/rebuild.h"

static int check_from(struct context *c, struct error *e)
{
    int result = 0;
    for (size_t i = 0; result == 0 && c->options.from && i < c->host_count; i++) {
        struct profile profile;
        result = profile_load(c->hosts[i]->profile, c->hosts[i]->bundle, &profile, e);
        if (result == 0 && profile_find_step(&profile, c->options.from, e) < 0)
            result = -1;
        profile_free(&profile);
    }
    return result;
}

static int rebuild_guests(struct context *c, const char *const *words, size_t count, struct error *e)
{
    if (context_load(c, words, count, e) != 0 || check_from(c, e) != 0)
        return -1;
    if (c->options.dry_run)
        return rebuild_dry_run(c, e);
    int result = with_lab_locked(c, "rebuild", rebuild_hosts, e);
    return result == 0 ? rebuild_prove(c, e) : result;
}

static const struct field fields[] = {
    LAB_OPTION,
    {.name = "from",
     .kind = FIELD_STRING,
     OPTIONS_AT(from),
     .argument = "STEP",
     .help = "Keep the disk, and run this step and all later steps. Data written to the disk since the last "
             "rebuild is discarded."},
    {.name = "fresh",
     .kind = FIELD_BOOL,
     OPTIONS_AT(fresh),
     .help = "Start from the beginning even after an interrupted rebuild."},
    {.name = "dry_run",
     .kind = FIELD_BOOL,
     OPTIONS_AT(dry_run),
     .help = "Print every action, version, checksum and the XML of the domains, and change nothing."},
    ADOPT_OPTION,
    DISCARD_OPTION,
    QUIET_OPTION,
    {0},
};
static const struct table options = OPTIONS_TABLE(fields);

static int run_rebuild(const struct call *call)
{
    return in_context(call, rebuild_guests);
}

const struct command command_rebuild = {
    .name = "rebuild",
    .arguments = "[HOST...]",
    .about = "Build guests from scratch: disk, first boot, the steps of the profile, checks, snapshot.",
    .options = &options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_rebuild,
};
