/* virt-provision stop */
#include "guest-setup/virt-provision/commands.h"

#include "lib/clock.h"

#define STOP_NS (30 * NS_PER_S)

static int stop_hosts(struct context *c, struct error *e)
{
    for (size_t i = 0; i < c->host_count; i++) {
        if (virt_domain_stop(c->virt, c->hosts[i]->domain, STOP_NS, e) != 0)
            return -1;
        context_report(c, c->hosts[i], "is off");
    }
    return 0;
}

static int stop_guests(struct context *c, const char *const *words, size_t count, struct error *e)
{
    return context_load(c, words, count, e) == 0 ? with_lab_locked(c, "stop", stop_hosts, e) : -1;
}

static int run_stop(const struct call *call)
{
    return in_context(call, stop_guests);
}

const struct command command_stop = {
    .name = "stop",
    .arguments = "[HOST...]",
    .about = "Shut guests down.",
    .options = &common_options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_stop,
};
