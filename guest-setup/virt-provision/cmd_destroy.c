/* virt-provision destroy */
#include "guest-setup/virt-provision/commands.h"

#include "guest-setup/rebuild/rebuild.h"

static int destroy_guests(struct context *c, const char *const *words, size_t count, struct error *e)
{
    return context_load(c, words, count, e) == 0 ? with_lab_locked(c, "destroy", destroy_hosts, e) : -1;
}

static const struct field fields[] = {LAB_OPTION, ADOPT_OPTION, DISCARD_OPTION, QUIET_OPTION, {0}};
static const struct table options = OPTIONS_TABLE(fields);

static int run_destroy(const struct call *call)
{
    return in_context(call, destroy_guests);
}

const struct command command_destroy = {
    .name = "destroy",
    .arguments = "[HOST...]",
    .about = "Remove domains, disks and keys, and with the last guest also the lab's networks.",
    .options = &options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_destroy,
};
