/* virt-provision reset */
#include "guest-setup/virt-provision/commands.h"

#include "guest-setup/rebuild/rebuild.h"

static int reset(struct context *c, const char *const *words, size_t count, struct error *e)
{
    return context_load(c, words, count, e) == 0 ? with_lab_locked(c, "reset", reset_hosts, e) : -1;
}

static int run_reset(const struct call *call)
{
    return in_context(call, reset);
}

const struct command command_reset = {
    .name = "reset",
    .arguments = "[HOST...]",
    .about = "Return guests to the snapshot that rebuild took.",
    .options = &adopt_options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_reset,
};
