/* virt-provision ssh-config */
#include "guest-setup/virt-provision/commands.h"

#include "remote/reach.h"
#include <stdio.h>
#include <stdlib.h>

static void print_ssh_option(const char *name, const char *value)
{
    if (value)
        printf("    %s \"%s\"\n", name, value);
}

static int print_ssh_config(struct context *c, const char *const *words, size_t count, struct error *e)
{
    if (context_load(c, words, count, e) != 0 || context_connect(c, e) != 0)
        return -1;
    for (size_t i = 0; i < c->host_count; i++) {
        struct ssh_target t;
        if (virt_domain_target(c->virt, &c->lab, c->hosts[i], &t, e) != 0)
            return -1;
        printf("Host %s\n    HostName %s\n", lab_guest_name(c->hosts[i]), t.host);
        if (t.port)
            printf("    Port %lld\n", (long long)t.port);
        print_ssh_option("User", t.user);
        print_ssh_option("IdentityFile", t.identity);
        print_ssh_option("UserKnownHostsFile", t.known_hosts);
        print_ssh_option("HostKeyAlias", t.key_alias);
        char *proxy = t.jump ? ssh_proxy_command(t.jump) : NULL;
        if (proxy)
            printf("    ProxyCommand %s\n", proxy);
        free(proxy);
        printf("    IdentitiesOnly yes\n    GlobalKnownHostsFile /dev/null\n    StrictHostKeyChecking yes\n");
        ssh_target_free(&t);
    }
    return 0;
}

static int run_ssh_config(const struct call *call)
{
    return in_context(call, print_ssh_config);
}

const struct command command_ssh_config = {
    .name = "ssh-config",
    .arguments = "[HOST...]",
    .about = "Print a configuration file for ssh -F.",
    .options = &common_options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_ssh_config,
};
