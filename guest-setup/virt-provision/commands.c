#include "guest-setup/virt-provision/commands.h"

#include "remote/locks.h"
#include "lib/clock.h"
#include "lib/log.h"

int with_lab_locked(struct context *c, const char *purpose, int (*work)(struct context *c, struct error *e),
                    struct error *e)
{
    c->reached = true;
    struct lab_lock *lock = lab_lock(&c->lab, purpose, e);
    if (!lock)
        return -1;
    int result = context_connect(c, e);
    if (result == 0)
        result = work(c, e);
    lab_unlock(lock);
    return result;
}

int one_host(struct context *c, const char *const *words, size_t count, const char *usage, struct error *e)
{
    if (count < 1)
        return error_set(e, "usage: virt-provision %s", usage);
    return context_load(c, words, 1, e);
}

int in_context(const struct call *call,
               int (*work)(struct context *c, const char *const *words, size_t count, struct error *e))
{
    struct context c = {.options = *(const struct options *)call->options,
                        .interrupt = {.fd = -1},
                        .begin_ns = clock_monotonic_ns()};
    struct error e = {""};
    int status = work(&c, call->arguments, call->count, &e);
    if (status < 0) {
        log_error("%s", e.text);
        status = atomic_load(&c.cancelled) ? EXIT_INTERRUPTED : c.reached ? EXIT_LAB : EXIT_USAGE;
    }
    context_free(&c);
    return status;
}

static const struct field common_fields[] = {LAB_OPTION, QUIET_OPTION, {0}};
const struct table common_options = OPTIONS_TABLE(common_fields);
