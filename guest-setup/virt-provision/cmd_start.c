/* virt-provision start */
#include "guest-setup/virt-provision/commands.h"

#include "remote/reach.h"
#include "lib/clock.h"

#define START_NS (180 * NS_PER_S)

static int start_hosts(struct context *c, struct error *e)
{
    for (size_t i = 0; i < c->host_count; i++)
        if (virt_domain_start(c->virt, c->hosts[i]->domain, e) != 0)
            return -1;
    for (size_t i = 0; i < c->host_count; i++) {
        struct ssh_session *s = virt_host_open(c->virt, &c->lab, c->hosts[i], START_NS, NULL, e);
        if (!s)
            return -1;
        ssh_close(s);
        context_report(c, c->hosts[i], "answers ssh after %.1f s",
                       (double)(clock_monotonic_ns() - c->begin_ns) / NS_PER_S);
    }
    return 0;
}

static int start_guests(struct context *c, const char *const *words, size_t count, struct error *e)
{
    return context_load(c, words, count, e) == 0 ? with_lab_locked(c, "start", start_hosts, e) : -1;
}

static int run_start(const struct call *call)
{
    return in_context(call, start_guests);
}

const struct command command_start = {
    .name = "start",
    .arguments = "[HOST...]",
    .about = "Start guests and wait until ssh answers.",
    .options = &common_options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_start,
};
