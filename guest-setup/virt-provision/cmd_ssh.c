/* virt-provision ssh */
#include "guest-setup/virt-provision/commands.h"

#include "lib/process.h"
#include "lib/text.h"
#include "lib/words.h"
#include "remote/reach.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static char **ssh_with_command(const struct ssh_target *target, const char *const *command, size_t count)
{
    char **arguments = ssh_arguments(target, count == 0 && isatty(0));
    struct text line = {0};
    size_t n = 0;
    if (!arguments || count == 0)
        return arguments;
    if (target->sudo)
        text_add(&line, "sudo -n -- ");
    for (size_t i = 0; i < count; i++) {
        text_add(&line, "%s", i ? " " : "");
        shell_quote(&line, command[i]);
    }
    while (arguments[n])
        n++;
    char **more = realloc(arguments, (n + 2) * sizeof *arguments);
    if (!more) {
        ssh_arguments_free(arguments);
        text_free(&line);
        return NULL;
    }
    more[n] = text_take(&line);
    more[n + 1] = NULL;
    return more;
}

static int start_ssh(struct context *c, const char *const *words, size_t count, struct error *e)
{
    struct ssh_target target;
    if (one_host(c, words, count, "ssh HOST [-- CMD...]", e) != 0 || context_connect(c, e) != 0)
        return -1;
    enum virt_state state;
    if (virt_domain_state(c->virt, c->hosts[0]->domain, &state, e) != 0)
        return -1;
    if (state == VIRT_OFF)
        return error_set(e, "host %s is off: virt-provision start %s", lab_guest_name(c->hosts[0]),
                         lab_guest_name(c->hosts[0]));
    if (virt_domain_target(c->virt, &c->lab, c->hosts[0], &target, e) != 0)
        return -1;
    char **arguments = ssh_with_command(&target, words + 1, count - 1);
    ssh_target_free(&target);
    if (!arguments)
        return error_set(e, "out of memory");
    process_default_signals();
    execvp(arguments[0], arguments);
    error_set_errno(e, errno, "starting ssh");
    ssh_arguments_free(arguments);
    return -1;
}

static int run_ssh(const struct call *call)
{
    return in_context(call, start_ssh);
}

const struct command command_ssh = {
    .name = "ssh",
    .arguments = "HOST [COMMAND...]",
    .about = "Open a shell on a guest, or run a command there.",
    .options = &common_options,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_ssh,
};
