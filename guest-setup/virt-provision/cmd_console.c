/* virt-provision console */
#include "guest-setup/virt-provision/commands.h"

#include "lib/process.h"
#include <errno.h>
#include <unistd.h>

static int start_console(struct context *c, const char *const *words, size_t count, struct error *e)
{
    if (one_host(c, words, count, "console HOST", e) != 0)
        return -1;
    process_default_signals();
    execlp("virsh", "virsh", "-q", "-c", c->lab.uri, "console", c->hosts[0]->domain, "--safe", (char *)NULL);
    return error_set_errno(e, errno, "starting virsh, which opens the console");
}

static int run_console(const struct call *call)
{
    return in_context(call, start_console);
}

const struct command command_console = {
    .name = "console",
    .arguments = "HOST",
    .about = "Open the serial console of a guest.",
    .options = &common_options,
    .least = 1,
    .most = 1,
    .run = run_console,
};
