#include "guest-setup/virt-provision/commands.h"

#include "guest-setup/virt-provision/dry_run.h"
#include "guest-setup/virt-provision/prove.h"
#include "guest-setup/virt-provision/making.h"
#include "guest-setup/virt-provision/rebuild.h"
#include "guest-setup/virt-provision/record.h"
#include "guest-setup/virt-provision/steps.h"
#include "remote/reach.h"
#include "remote/locks.h"
#include "lib/clock.h"
#include "lib/log.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STOP_NS  (30 * NS_PER_S)
#define START_NS (180 * NS_PER_S)

/* ---- commands that change guests, under the lab's lock */

static int locked(struct context *c, const char *purpose, int (*work)(struct context *c, struct error *e),
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

static int check_from(struct context *c, struct error *e)
{
    int result = 0;
    for (size_t i = 0; result == 0 && c->options.from && i < c->host_count; i++) {
        struct profile profile;
        result = profile_load(c->hosts[i]->profile, c->hosts[i]->bundle, &profile, e);
        if (result == 0 && profile_find_step(&profile, c->options.from, e) < 0)
            result = -1;
        profile_free(&profile);
    }
    return result;
}

static int rebuild(struct context *c, const char *const *words, size_t count, struct error *e)
{
    if (context_load(c, words, count, e) != 0 || check_from(c, e) != 0)
        return -1;
    if (c->options.dry_run)
        return dry_run(c, e);
    int result = locked(c, "rebuild", rebuild_hosts, e);
    return result == 0 ? prove_lab(c, e) : result;
}

static int reset(struct context *c, const char *const *words, size_t count, struct error *e)
{
    return context_load(c, words, count, e) == 0 ? locked(c, "reset", reset_hosts, e) : -1;
}

static int destroy(struct context *c, const char *const *words, size_t count, struct error *e)
{
    return context_load(c, words, count, e) == 0 ? locked(c, "destroy", destroy_hosts, e) : -1;
}

static int start_hosts(struct context *c, struct error *e)
{
    for (size_t i = 0; i < c->host_count; i++)
        if (virt_domain_start(c->virt, c->hosts[i]->domain, e) != 0)
            return -1;
    for (size_t i = 0; i < c->host_count; i++) {
        struct ssh_session *s = virt_host_open(c->virt, &c->lab, c->hosts[i], START_NS, e);
        if (!s)
            return -1;
        ssh_close(s);
        say(c, c->hosts[i], "answers ssh after %.1f s",
            (double)(clock_monotonic_ns() - c->begin_ns) / NS_PER_S);
    }
    return 0;
}

static int start(struct context *c, const char *const *words, size_t count, struct error *e)
{
    return context_load(c, words, count, e) == 0 ? locked(c, "start", start_hosts, e) : -1;
}

static int stop_hosts(struct context *c, struct error *e)
{
    for (size_t i = 0; i < c->host_count; i++) {
        if (virt_domain_stop(c->virt, c->hosts[i]->domain, STOP_NS, e) != 0)
            return -1;
        say(c, c->hosts[i], "is off");
    }
    return 0;
}

static int stop(struct context *c, const char *const *words, size_t count, struct error *e)
{
    return context_load(c, words, count, e) == 0 ? locked(c, "stop", stop_hosts, e) : -1;
}

/* ---- ssh, console: replace this process with ssh or virsh */

static int one_host(struct context *c, const char *const *words, size_t count, const char *usage,
                    struct error *e)
{
    if (count < 1)
        return error_set(e, "usage: virt-provision %s", usage);
    return context_load(c, words, 1, e);
}

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
        ssh_quote(&line, command[i]);
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
        return error_set(e, "host %s is off: virt-provision start %s", c->hosts[0]->name, c->hosts[0]->name);
    if (virt_domain_target(c->virt, &c->lab, c->hosts[0], &target, e) != 0)
        return -1;
    char **arguments = ssh_with_command(&target, words + 1, count - 1);
    ssh_target_free(&target);
    if (!arguments)
        return error_set(e, "out of memory");
    execvp(arguments[0], arguments);
    error_set_errno(e, errno, "starting ssh");
    ssh_arguments_free(arguments);
    return -1;
}

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
        printf("Host %s\n    HostName %s\n", c->hosts[i]->name, t.host);
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

static int start_console(struct context *c, const char *const *words, size_t count, struct error *e)
{
    if (one_host(c, words, count, "console HOST", e) != 0)
        return -1;
    execlp("virsh", "virsh", "-q", "-c", c->lab.uri, "console", c->hosts[0]->domain, "--safe", (char *)NULL);
    return error_set_errno(e, errno, "starting virsh, which opens the console");
}

/* ---- xml, devices */

static int print_xml(struct context *c, const char *const *words, size_t count, struct error *e)
{
    struct storage storage = {0};
    struct record record = {0};
    struct making m;
    if (one_host(c, words, count, "xml HOST", e) != 0 || storage_plan(&c->lab, &storage, e) != 0)
        return -1;
    int result = making_open(c, c->hosts[0], &storage, &m, e);
    if (result == 0)
        result = record_open(&c->lab, c->hosts[0], &record, e);
    if (result == 0) {
        /* the accelerator found at the last rebuild, else KVM is assumed */
        const char *image = record_string(&record, "image");
        m.type = strcmp(record_string(&record, "type"), "qemu") == 0 ? "qemu" : "kvm";
        m.image_id = *image ? strdup(image) : NULL;
        char *disk = volume_of_host(&m, record_complete(&record) ? ".work.qcow2" : ".qcow2");
        char *xml = disk ? making_xml(&m, disk, e) : NULL;
        result = xml ? 0 : -1;
        if (xml)
            fputs(xml, stdout);
        free(xml);
        free(disk);
        record_free(&record);
    }
    making_free(&m);
    storage_close(&storage);
    return result;
}

static int devices_of_host(struct context *c, const struct lab_host *host, const char *what, struct error *e)
{
    struct storage storage = {0};
    struct making m;
    if (making_open(c, host, &storage, &m, e) != 0)
        return -1;
    int result = strcmp(what, "release") == 0 ? 0 : making_check_devices(&m, e);
    if (result == 0 && strcmp(what, "check") != 0)
        result = making_bind_devices(&m, strcmp(what, "bind") == 0, e);
    if (result == 0)
        say(c, host, "%zu functions %s", m.nic_count + m.gpu_count,
            strcmp(what, "check") == 0  ? "can be passed through"
            : strcmp(what, "bind") == 0 ? "belong to vfio-pci"
                                        : "belong to the machine");
    making_free(&m);
    return result;
}

static int devices(struct context *c, const char *const *words, size_t count, struct error *e)
{
    if (count < 1 ||
        (strcmp(words[0], "check") != 0 && strcmp(words[0], "bind") != 0 && strcmp(words[0], "release") != 0))
        return error_set(e, "usage: virt-provision devices check|bind|release [HOST...]");
    if (context_load(c, words + 1, count - 1, e) != 0)
        return -1;
    c->reached = true;
    if (!making_is_local(&c->lab))
        return error_set(e, "the devices of lab %s are on another machine (%s): run this command there",
                         c->lab.name, c->lab.uri);
    for (size_t i = 0; i < c->host_count; i++)
        if (devices_of_host(c, c->hosts[i], words[0], e) != 0)
            return -1;
    return 0;
}

/* ---- the table */

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

#define ADOPT_OPTION                                                                                         \
    {                                                                                                        \
        .name = "adopt", .kind = FIELD_BOOL, OPTIONS_AT(adopt),                                              \
        .help =                                                                                              \
            "Take over domains with these names that virt-provision did not create. Their disks stay where " \
            "they are."                                                                                      \
    }

static const struct field common_fields[] = {LAB_OPTION, QUIET_OPTION, {0}};
static const struct field adopt_fields[] = {LAB_OPTION, ADOPT_OPTION, QUIET_OPTION, {0}};
static const struct field rebuild_fields[] = {
    LAB_OPTION,
    {.name = "from",
     .kind = FIELD_STRING,
     OPTIONS_AT(from),
     .argument = "STEP",
     .help = "Keep the disk, and run this step and all later steps. Data written to the disk since the last "
             "rebuild is discarded."},
    {.name = "fresh",
     .kind = FIELD_BOOL,
     OPTIONS_AT(fresh),
     .help = "Start from the beginning even after an interrupted rebuild."},
    {.name = "dry_run",
     .kind = FIELD_BOOL,
     OPTIONS_AT(dry_run),
     .help = "Print every action, version, checksum and the XML of the domains, and change nothing."},
    ADOPT_OPTION,
    QUIET_OPTION,
    {0},
};
static const struct table common_options = OPTIONS_TABLE(common_fields);
static const struct table adopt_options = OPTIONS_TABLE(adopt_fields);
static const struct table rebuild_options = OPTIONS_TABLE(rebuild_fields);

static int run_rebuild(const struct call *call)
{
    return in_context(call, rebuild);
}

static int run_reset(const struct call *call)
{
    return in_context(call, reset);
}

static int run_start(const struct call *call)
{
    return in_context(call, start);
}

static int run_stop(const struct call *call)
{
    return in_context(call, stop);
}

static int run_destroy(const struct call *call)
{
    return in_context(call, destroy);
}

static int run_ssh(const struct call *call)
{
    return in_context(call, start_ssh);
}

static int run_ssh_config(const struct call *call)
{
    return in_context(call, print_ssh_config);
}

static int run_console(const struct call *call)
{
    return in_context(call, start_console);
}

static int run_xml(const struct call *call)
{
    return in_context(call, print_xml);
}

static int run_devices(const struct call *call)
{
    return in_context(call, devices);
}

const struct command command_rebuild = {
    .name = "rebuild",
    .arguments = "[HOST...]",
    .about = "Build guests from scratch: disk, first boot, the steps of the profile, checks, snapshot.",
    .options = &rebuild_options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_rebuild,
};
const struct command command_reset = {
    .name = "reset",
    .arguments = "[HOST...]",
    .about = "Return guests to the snapshot that rebuild took.",
    .options = &adopt_options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_reset,
};
const struct command command_start = {
    .name = "start",
    .arguments = "[HOST...]",
    .about = "Start guests and wait until ssh answers.",
    .options = &common_options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_start,
};
const struct command command_stop = {
    .name = "stop",
    .arguments = "[HOST...]",
    .about = "Shut guests down.",
    .options = &common_options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_stop,
};
const struct command command_destroy = {
    .name = "destroy",
    .arguments = "[HOST...]",
    .about = "Remove domains, disks and keys, and with the last guest also the lab's networks.",
    .options = &adopt_options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_destroy,
};
const struct command command_ssh = {
    .name = "ssh",
    .arguments = "HOST [COMMAND...]",
    .about = "Open a shell on a guest, or run a command there.",
    .options = &common_options,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_ssh,
};
const struct command command_ssh_config = {
    .name = "ssh-config",
    .arguments = "[HOST...]",
    .about = "Print a configuration file for ssh -F.",
    .options = &common_options,
    .least = 0,
    .most = SIZE_MAX,
    .run = run_ssh_config,
};
const struct command command_console = {
    .name = "console",
    .arguments = "HOST",
    .about = "Open the serial console of a guest.",
    .options = &common_options,
    .least = 1,
    .most = 1,
    .run = run_console,
};
const struct command command_xml = {
    .name = "xml",
    .arguments = "HOST",
    .about = "Print the XML of a guest's domain.",
    .options = &common_options,
    .least = 1,
    .most = 1,
    .run = run_xml,
};
const struct command command_devices = {
    .name = "devices",
    .arguments = "check|bind|release [HOST...]",
    .about = "Check, bind or release the PCI devices that are passed through.",
    .options = &common_options,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_devices,
};
