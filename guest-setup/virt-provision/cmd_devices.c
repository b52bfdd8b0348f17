/* virt-provision devices */
#include "guest-setup/virt-provision/commands.h"

#include "guest-setup/rebuild/guest_build.h"
#include <string.h>

static int devices_of_host(struct context *c, const struct lab_host *host, const char *what, struct error *e)
{
    struct storage storage = {0};
    struct guest_build build;
    if (guest_build_open(c, host, &storage, &build, e) != 0)
        return -1;
    int result = strcmp(what, "release") == 0 ? 0 : guest_build_check_devices(&build, e);
    if (result == 0 && strcmp(what, "check") != 0)
        result = guest_build_bind_devices(&build, strcmp(what, "bind") == 0, e);
    if (result == 0)
        context_report(c, host, "%zu functions %s", build.nic_count + build.gpu_count,
                       strcmp(what, "check") == 0  ? "can be passed through"
                       : strcmp(what, "bind") == 0 ? "belong to vfio-pci"
                                                   : "belong to the machine");
    guest_build_free(&build);
    return result;
}

static int change_devices(struct context *c, const char *const *words, size_t count, struct error *e)
{
    if (count < 1 ||
        (strcmp(words[0], "check") != 0 && strcmp(words[0], "bind") != 0 && strcmp(words[0], "release") != 0))
        return error_set(e, "usage: virt-provision devices check|bind|release [HOST...]");
    if (context_load(c, words + 1, count - 1, e) != 0)
        return -1;
    c->reached = true;
    if (!guest_build_is_local(&c->lab))
        return error_set(e, "the devices of lab %s are on another machine (%s): run this command there",
                         c->lab.name, c->lab.uri);
    for (size_t i = 0; i < c->host_count; i++)
        if (devices_of_host(c, c->hosts[i], words[0], e) != 0)
            return -1;
    return 0;
}

static int run_devices(const struct call *call)
{
    return in_context(call, change_devices);
}

const struct command command_devices = {
    .name = "devices",
    .arguments = "check|bind|release [HOST...]",
    .about = "Check, bind or release the PCI devices that are passed through.",
    .options = &common_options,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_devices,
};
