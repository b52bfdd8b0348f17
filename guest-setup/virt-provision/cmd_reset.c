/* virt-provision reset */
#include "guest-setup/virt-provision/commands.h"

#include "guest-setup/rebuild/rebuild.h"

static int reset_guests(struct context *c, const char *const *words, size_t count, struct error *e)
{
    return context_load(c, words, count, e) == 0 ? with_lab_locked(c, "reset", reset_hosts, e) : -1;
}

static int run_reset(const struct call *call)
{
    return in_context(call, reset_guests);
}

static const struct field fields[] = {
    LAB_OPTION, ADOPT_OPTION, QUIET_OPTION, DISCARD_OPTION, {0},
};
static const struct table options = OPTIONS_TABLE(fields);

const struct command command_reset = {
    .name = "reset",
    .arguments = "[HOST...]",
    .about = "Return guests to the snapshot that rebuild took.",
    .options = &options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_reset,
};
