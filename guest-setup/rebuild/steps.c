#include "guest-setup/rebuild/steps.h"

#include "remote/reach.h"
#include "remote/places.h"
#include "guest-setup/guest/wiring.h"
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/output/print.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REBOOT_ME   100 /* exit status of apply: reboot, then check */
#define MAX_REBOOTS 4   /* limit of reboots in one step, against endless loops */
#define MAX_LOST    5   /* limit of lost connections during one step */
#define SSH_FAILED  255 /* exit status of ssh itself: that of the command is unknown */
#define SHORT_NS    (60 * NS_PER_S)

static bool rebuild_cancelled(const struct guest *g, struct error *e)
{
    if (!atomic_load(&g->context->cancelled))
        return false;
    error_set(e, "interrupted: the next rebuild continues from here");
    return true;
}

void guest_log(struct guest *g, const char *format, ...)
{
    char when[32];
    time_t now = time(NULL);
    struct tm local;
    va_list values;
    strftime(when, sizeof when, "%F %T", localtime_r(&now, &local));
    print_to(g->log, "%s ", when);
    va_start(values, format);
    print_list(g->log, format, values);
    va_end(values);
    print_to(g->log, "\n");
    fflush(g->log);
}

/* ---- connection */

/* One attempt, at most `limit_ns` long. Attempts are long: on a busy machine an emulated guest needs a long
 * time for the key exchange, and each new attempt would add to its load. */
static struct ssh_session *connect_once(struct guest *g, int64_t limit_ns, struct error *e)
{
    struct ssh_target target = {0};
    struct ssh_session *s = NULL;
    if (virt_host_target(g->context->virt, &g->context->lab, g->host, 3 * NS_PER_S, &target, e) == 0) {
        target.cancelled = &g->context->cancelled;
        s = ssh_open(lab_guest_name(g->host), &target, limit_ns, e);
    }
    ssh_target_free(&target);
    return s;
}

int guest_connect(struct guest *g, struct error *e)
{
    int64_t deadline_ns = clock_monotonic_ns() + g->profile->ready_ns, left;
    struct error why = {""};
    while ((left = deadline_ns - clock_monotonic_ns()) > 0) {
        if (rebuild_cancelled(g, e))
            return -1;
        g->ssh = connect_once(g, left < SHORT_NS ? left : SHORT_NS, &why);
        if (g->ssh)
            return 0;
        /* refused, no route and time-outs are normal during a boot; a wrong key or a dead guest does not
         * change by waiting */
        if (strstr(why.text, "verification failed") || strstr(why.text, "Permission denied") ||
            strstr(why.text, "while it was booting"))
            break;
    }
    return rebuild_cancelled(g, e)
               ? -1
               : error_set(e, "host %s did not answer ssh within %lld s of its start: %s",
                           lab_guest_name(g->host), (long long)(g->profile->ready_ns / NS_PER_S), why.text);
}

static int read_boot_id(struct guest *g, char id[64], struct error *e)
{
    static const char *const argv[] = {"cat", "/proc/sys/kernel/random/boot_id", NULL};
    struct text out = {0};
    int result = ssh_must(g->ssh, argv, NULL, &out, SHORT_NS, e);
    snprintf(id, 64, "%.63s", text_string(&out));
    text_free(&out);
    return result;
}

/* Switch the guest off and on. This is how an emulated guest is rebooted: QEMU keeps the code it has
 * translated across a reset, and every byte that the new kernel writes where the old one's code was is
 * checked against all of it (QEMU 7.2: minutes for a few MiB). */
static int power_cycle(struct guest *g, struct error *e)
{
    guest_log(g, "switching off and on");
    ssh_close(g->ssh);
    g->ssh = NULL;
    if (virt_domain_stop(g->context->virt, g->host->domain, SHORT_NS, e) != 0)
        return -1;
    return guest_connect(g, e);
}

/* Reboot and connect again. */
static int reboot_guest(struct guest *g, struct error *e)
{
    static const char *const argv[] = {"sh", "-c", "sync; (sleep 0.3; reboot) > /dev/null 2>&1 < /dev/null &",
                                       NULL};
    char before[64], after[64];
    int64_t deadline_ns = clock_monotonic_ns() + g->profile->ready_ns;
    if (strcmp(record_string(g->record, "type"), "qemu") == 0)
        return power_cycle(g, e);
    guest_log(g, "rebooting");
    if (read_boot_id(g, before, e) != 0 || ssh_must(g->ssh, argv, NULL, NULL, SHORT_NS, e) != 0)
        return error_prefix(e, "rebooting");
    do {
        clock_sleep_until_ns(clock_monotonic_ns() + NS_PER_S);
        ssh_close(g->ssh);
        g->ssh = NULL;
        if (guest_connect(g, e) != 0 || rebuild_cancelled(g, e))
            return -1;
        if (read_boot_id(g, after, NULL) == 0 && strcmp(before, after) != 0)
            return 0;
    } while (clock_monotonic_ns() < deadline_ns);
    return error_set(e, "host %s did not reboot within %lld s", lab_guest_name(g->host),
                     (long long)(g->profile->ready_ns / NS_PER_S));
}

/* ---- files */

/* Archives for a guest, one after the other, each with the folder that it is unpacked in. */
struct parcels {
    struct text bytes;
    struct {
        const char *to;
        char length[24];
    } each[PROFILE_PUTS + 2];
    size_t count;
};

/* Pack members of a local folder for a folder on the guest. */
static int pack_members(struct guest *g, struct parcels *all, const char *folder, const char *const members[],
                        size_t count, const char *to, struct error *e)
{
    const char **pack = calloc(count + 12, sizeof *pack);
    struct text archive = {0};
    size_t n = 0;
    if (!pack)
        return error_set(e, "out of memory");
    const char *const begin[] = {
        "tar",           "--create", "--file=-", "--owner=0", "--group=0", "--numeric-owner",
        "--dereference", "-C",       folder,     "--"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        pack[n++] = begin[i];
    for (size_t i = 0; i < count; i++)
        pack[n++] = members[i];
    int status = process_run(pack, NULL, &archive, NULL, SHORT_NS, e), result = status < 0 ? -1 : 0;
    free(pack);
    if (status > 0)
        result = error_set(e, "packing files of %s for host %s: tar ended with %d", folder,
                           lab_guest_name(g->host), status);
    all->each[all->count].to = to;
    snprintf(all->each[all->count].length, sizeof all->each->length, "%zu", archive.length);
    all->count++;
    text_add_bytes(&all->bytes, archive.data, archive.length);
    text_free(&archive);
    return result;
}

/* Unpack all on the guest, and sync: an empty step script, which a power cut may leave of an unsynced one,
 * would "succeed". */
static int unpack_parcels(struct guest *g, const struct parcels *all, struct error *e)
{
    const char *unpack[2 * (PROFILE_PUTS + 2) + 5] = {
        "sh", "-c",
        "while [ $# -gt 0 ]; do mkdir -p \"$1\" && head -c \"$2\" | tar -C \"$1\" --no-same-owner -xf - || "
        "exit 1; "
        "shift 2; done; sync",
        "put"};
    for (size_t i = 0; i < all->count; i++) {
        unpack[4 + 2 * i] = all->each[i].to;
        unpack[5 + 2 * i] = all->each[i].length;
    }
    return ssh_must_bytes(g->ssh, unpack, all->bytes.data, all->bytes.length, NULL, g->profile->step_ns, e);
}

/* The programs are in the folder of this program, in the build tree and when installed. */
static int pack_programs(struct guest *g, struct parcels *all, struct error *e)
{
    char self[4096];
    const struct list_of *programs = &g->profile->programs;
    if (programs->count == 0)
        return 0;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return error_set(e, "/proc is not mounted: cannot find the programs for host %s",
                         lab_guest_name(g->host));
    *slash = '\0';
    for (size_t i = 0; i < programs->count; i++) {
        const char *name = ((char *const *)programs->items)[i];
        char *path = files_join(self, name);
        bool there = path && files_exist(path);
        free(path);
        if (!there)
            return error_set(e, "%s is not in %s: build it (make)", name, self);
    }
    return pack_members(g, all, self, programs->items, programs->count, g->host->programs, e);
}

static int pack_profile(struct guest *g, struct parcels *all, struct error *e)
{
    const char *members[2];
    size_t count = 0;
    for (size_t i = 0; i < 2; i++) {
        static const char *const names[] = {"steps", "files"};
        char *path = files_join(g->profile->folder, names[i]);
        if (path && files_exist(path))
            members[count++] = names[i];
        free(path);
    }
    return count ? pack_members(g, all, g->profile->folder, members, count, GUEST_FILES, e) : 0;
}

/* "patches" to /usr/local/share/lab/patches: the content of a folder is copied into `to`, a file under its
 * name. */
static int pack_one(struct guest *g, struct parcels *all, const struct profile_put *put, struct error *e)
{
    char *path = places_project(put->from, e), *slash = path ? strrchr(path, '/') : NULL;
    int result = -1;
    if (slash && access(path, R_OK) == 0) {
        char *below = files_join(path, ".");
        const char *members[1] = {"."};
        if (below && files_exist(below)) {
            result = pack_members(g, all, path, members, 1, put->to, e);
        } else {
            *slash = '\0';
            members[0] = slash + 1;
            result = pack_members(g, all, path, members, 1, put->to, e);
        }
        free(below);
    }
    free(path);
    return result;
}

int guest_put(struct guest *g, struct error *e)
{
    const struct profile_put *put = g->profile->put.items;
    struct parcels all = {0};
    int result = pack_programs(g, &all, e);
    if (result == 0)
        result = pack_profile(g, &all, e);
    for (size_t i = 0; result == 0 && i < g->profile->put.count; i++)
        result = pack_one(g, &all, &put[i], e);
    if (result == 0)
        result = unpack_parcels(g, &all, e);
    text_free(&all.bytes);
    if (result == 0)
        guest_log(g, "programs and files are copied");
    return result;
}

/* ---- running a step */

#define STEP_VARIABLES 13

/* The environment of a step, as arguments of env(1). */
static void step_environment(const struct guest *g, struct text variables[STEP_VARIABLES])
{
    const struct lab_host *h = g->host;
    struct wiring wiring;
    size_t ports = wiring_of_guest(&g->context->lab, h, &wiring, NULL) == 0 ? wiring.count - 1 : 0;
    text_add(&variables[9], "LAB_DATA_RATES=");
    text_add(&variables[10], "LAB_DATA_PEERS=");
    text_add(&variables[11], "LAB_DATA_ADDRESSES=");
    for (size_t i = 1; i <= ports; i++) {
        const char *between = i > 1 ? " " : "", *peer = wiring.ports[i].peer_profile,
                   *address = wiring.ports[i].nic_address;
        text_add(&variables[9], "%s%lld", between, (long long)wiring.ports[i].rate_bps);
        text_add(&variables[10], "%s%s", between, peer ? peer : "-");
        text_add(&variables[11], "%s%s", between, address ? address : "-");
    }
    text_add(&variables[12], "LAB_NICS=%zu", wiring_nodes(&g->context->lab, h));
    text_add(&variables[0], "LAB=%s", g->context->lab.name);
    text_add(&variables[1], "LAB_HOST=%s", lab_guest_name(h));
    text_add(&variables[2], "LAB_PROFILE=%s", g->profile->name);
    text_add(&variables[3], "LAB_PROGRAMS=%s", h->programs);
    text_add(&variables[4], "LAB_NIC_ADDRESS=%s", h->nic.address ? h->nic.address : "");
    text_add(&variables[5], "LAB_NIC_PCI=%s", h->nic.pci ? h->nic.pci : "");
    text_add(&variables[6], "LAB_GPU_PCI=%s", h->gpu && h->gpu->pci ? h->gpu->pci : "");
    text_add(&variables[7], "LAB_DATA_PORTS=%zu", ports);
    text_add(&variables[8], "LAB_FILES=" GUEST_FILES);
}

/* Output of a step: written to the log, and the last line is kept. */
struct output {
    struct guest *guest;
    char line[400]; /* the one being printed */
    char last[400]; /* the last that was not empty */
    size_t length;
};

static void take_output(struct output *o, const char *bytes, size_t count)
{
    print_bytes(o->guest->log, bytes, count);
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '\n') {
            o->line[o->length] = '\0';
            if (o->length)
                memcpy(o->last, o->line, o->length + 1);
            o->length = 0;
        } else if (c >= 0x20 && c != 0x7f && o->length + 1 < sizeof o->line) {
            o->line[o->length++] = (char)c;
        }
    }
}

/* Read until the step closes its output. 0; -1 with an error: the time limit passed, or the user
 * cancelled. */
static int follow_step(struct guest *g, struct process *p, struct output *o, const char *name,
                       struct error *e)
{
    int64_t deadline_ns = clock_monotonic_ns() + g->profile->step_ns;
    char buffer[4096];
    for (;;) {
        struct pollfd ready = {.fd = p->out, .events = POLLIN};
        poll(&ready, 1, 200);
        ssize_t got = read(p->out, buffer, sizeof buffer);
        if (got > 0)
            take_output(o, buffer, (size_t)got);
        else if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return 0;
        if (rebuild_cancelled(g, e))
            return -1;
        if (clock_monotonic_ns() > deadline_ns)
            return error_set(e, "step %s on host %s did not end within %lld s", name, lab_guest_name(g->host),
                             (long long)(g->profile->step_ns / NS_PER_S));
    }
}

/* A check changes nothing, and `status --check` may run it during a rebuild. */
static const char ask[] = "shift; exec \"$@\" 2>&1 < /dev/null";
/* An apply continues when its connection is lost. If an earlier apply still runs, it is waited for when this
 * program started it, else ended (a package manager defers SIGTERM until its transaction is complete). The
 * process group identifies it: sshd creates one for each command. The result is synced to disk before the
 * step is reported as done. */
static const char apply_alone[] = "running=/run/lab-apply\n"
                                  "read -r _ _ _ _ group _ < /proc/$$/stat\n"
                                  "if [ -s $running ] && read -r left < $running; then\n"
                                  "    [ \"$1\" = wait ] || kill -s TERM -- \"-$left\" 2> /dev/null\n"
                                  "    while kill -s 0 -- \"-$left\" 2> /dev/null; do sleep 0.2; done\n"
                                  "fi\n"
                                  "shift\n"
                                  "echo \"$group\" > $running\n"
                                  "\"$@\" 2>&1 < /dev/null\n"
                                  "status=$?\n"
                                  "sync\n"
                                  "rm -f $running\n"
                                  "exit $status\n";

/* Run "STEP WHAT" on the guest once; its exit status, SSH_FAILED when the connection was lost (`e` says how),
 * or -1. `left`: how to treat an apply that still runs: "wait" or "end". */
static int run_once(struct guest *g, const struct profile_step *step, const char *what, const char *left,
                    char last[400], struct error *e)
{
    struct text variables[STEP_VARIABLES] = {{0}}, path = {0};
    struct output output = {.guest = g};
    struct process p;
    int status = -1, result = -1;
    size_t n = 1;
    step_environment(g, variables);
    text_add(&path, GUEST_FILES "/steps/%s", step->name);
    const char *script = strcmp(what, "apply") == 0 ? apply_alone : ask;
    const char *const rest[] = {"sh", "-c", script, "step", left, text_string(&path), what};
    const char *argv[1 + STEP_VARIABLES + sizeof rest / sizeof *rest + 1] = {"env"};
    for (size_t i = 0; i < STEP_VARIABLES; i++)
        argv[n++] = text_string(&variables[i]);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        argv[n++] = rest[i];
    guest_log(g, "%s %s", step->name, what);
    if (ssh_start(g->ssh, argv, PROCESS_OUT, &p, e) == 0) {
        result = follow_step(g, &p, &output, step->name, e);
        if (result == 0 && process_wait(&p, 5 * NS_PER_S, &status, e) != 1)
            result = -1;
        process_stop(&p, NS_PER_S);
    }
    for (size_t i = 0; i < STEP_VARIABLES; i++)
        text_free(&variables[i]);
    text_free(&path);
    take_output(&output, "\n", 1);
    memcpy(last, output.last, sizeof output.last);
    if (result != 0)
        return ssh_alive(g->ssh, NULL) ? -1 : SSH_FAILED;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : SSH_FAILED;
    if (code == SSH_FAILED && ssh_alive(g->ssh, e))
        error_set(e, "ssh ended with exit status %d", SSH_FAILED);
    return code;
}

/* Run "STEP WHAT" on the guest; its exit status, or -1. A lost connection is not a result of the step: the
 * program connects again and runs the step again (check and apply may both be repeated after an
 * interruption). */
static int run_step(struct guest *g, const struct profile_step *step, const char *what, char last[400],
                    struct error *e)
{
    for (int lost = 0;; lost++) {
        struct error why = {""};
        int status = run_once(g, step, what, lost ? "wait" : "end", last, &why);
        if (status < 0) {
            *e = why;
            return -1;
        }
        if (status != SSH_FAILED)
            return status;
        if (lost == MAX_LOST)
            return error_set(e, "step %s: connection lost for the %dth time: %s", step->name, lost + 1,
                             why.text);
        guest_log(g, "%s %s: %s", step->name, what, why.text);
        context_report(g->context, g->host, "%s %s: connection lost (%s): connecting and running it again",
                       step->name, what, why.text);
        ssh_close(g->ssh);
        g->ssh = NULL;
        if (guest_connect(g, e) != 0)
            return -1;
    }
}

/* Run apply; when it requests a reboot, reboot and run check. Repeat while check fails and apply requests
 * reboots. */
static int apply_step(struct guest *g, const struct profile_step *step, char found[400], struct error *e)
{
    for (int reboots = 0;; reboots++) {
        char last[400];
        int applied = run_step(g, step, "apply", last, e);
        if (applied < 0)
            return -1;
        if (applied != 0 && applied != REBOOT_ME)
            return error_set(e, "step %s failed on host %s (exit status %d)%s%s", step->name,
                             lab_guest_name(g->host), applied, *last ? ": " : "", last);
        if (applied == REBOOT_ME) {
            context_report(g->context, g->host, "%s requests a reboot", step->name);
            if (reboot_guest(g, e) != 0)
                return -1;
        }
        int checked = run_step(g, step, "check", found, e);
        if (checked <= 0)
            return checked;
        if (applied != REBOOT_ME || reboots == MAX_REBOOTS)
            return error_set(e, "step %s was applied on host %s, but its check fails%s%s", step->name,
                             lab_guest_name(g->host), *found ? ": " : "", found);
    }
}

static int complete_step(struct guest *g, const struct profile_step *step, bool forced, struct error *e)
{
    char found[400] = "";
    int64_t begin_ns = clock_monotonic_ns();
    int status = forced ? 1 : run_step(g, step, "check", found, e);
    bool was_there = status == 0;
    if (status < 0 || (status > 0 && apply_step(g, step, found, e) != 0))
        return -1;
    double seconds = (double)(clock_monotonic_ns() - begin_ns) / NS_PER_S;
    record_step(g->record, step, seconds, found);
    context_report(g->context, g->host, "%s: %s in %.1f s%s%s", step->name,
                   was_there ? "was done already" : "done", seconds, *found ? ": " : "", found);
    return record_save(g->record, e);
}

int guest_run_steps(struct guest *g, int from, struct error *e)
{
    const struct profile *p = g->profile;
    for (size_t i = 0; i < p->step_count; i++) {
        bool forced = from >= 0 && i >= (size_t)from;
        g->checked = false;
        if (!forced && record_step_done(g->record, &p->steps[i]))
            continue;
        if (rebuild_cancelled(g, e) || complete_step(g, &p->steps[i], forced, e) != 0)
            return -1;
        g->checked = true;
    }
    return 0;
}

int guest_check_step(struct guest *g, const struct profile_step *step, char found[400], struct error *e)
{
    return run_step(g, step, "check", found, e);
}

int guest_verify(struct guest *g, struct error *e)
{
    const struct profile *p = g->profile;
    for (size_t i = 0; i + g->checked < p->step_count; i++) {
        char found[400];
        int status = run_step(g, &p->steps[i], "check", found, e);
        if (status < 0)
            return -1;
        if (status > 0)
            return error_set(e, "the check of step %s fails on host %s after all steps were done%s%s",
                             p->steps[i].name, lab_guest_name(g->host), *found ? ": " : "", found);
    }
    return 0;
}
