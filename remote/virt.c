#include "remote/virt.h"

#include "remote/mark.h"
#include "remote/places.h"
#include "lib/clock.h"
#include "lib/files.h"
#include <errno.h>
#include <libvirt/virterror.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define QUEUE 64 /* events that wait; a reader that is slower loses the oldest */

const char *const virt_state_names[] = {"absent", "off", "running", "paused", "crashed", NULL};

struct virt {
    char *uri;
    atomic_int references; /* the owner's, and one while lifecycle events may come */
    pthread_mutex_t lock;  /* of the connection */
    virConnectPtr connection;
    int callback; /* of lifecycle events, or -1 */
    bool watching;
    /* of what waits. The only lock that callbacks take: libvirt may hold its own while it calls them, and taking
     * them back needs that. */
    pthread_mutex_t queue_lock;
    int event_fd;
    struct virt_event queue[QUEUE];
    size_t first, waiting;
};

/* ---- errors */

int virt_error(struct error *e, const char *format, ...)
{
    char context[400];
    va_list values;
    va_start(values, format);
    vsnprintf(context, sizeof context, format, values);
    va_end(values);
    const virError *last = virGetLastError();
    return error_set(e, "%s: %s", context, last && last->message ? last->message : "libvirt gave no reason");
}

/* libvirt prints errors on stderr of its own accord; ours travel in struct error. */
static void keep_quiet(void *data, virErrorPtr error)
{
    (void)data;
    (void)error;
}

/* "user@machine:port" of a URI such as qemu+ssh://user@machine:port/system: guests are reached through that machine. */
static char *jump_of(const char *uri)
{
    const char *start = strstr(uri, "+ssh://");
    if (!start)
        return NULL;
    start += strlen("+ssh://");
    size_t length = strcspn(start, "/?");
    return length ? strndup(start, length) : NULL;
}

/* libvirt reaches another machine by the user's ssh, whose own words are in what it says. */
#define PIPE_ENDED "Cannot recv data: "
static int explain_ssh(const char *uri, const char *said, struct error *e)
{
    char *machine = jump_of(uri);
    const char *end = strstr(said, ": Connection reset by peer");
    said += strlen(PIPE_ENDED);
    error_set(e,
              "libvirt at %s cannot be reached: %.*s: `ssh %s%s virsh version` must work without a question",
              uri, end > said ? (int)(end - said) : 300, said,
              machine && strchr(machine, ':') ? "ssh://" : "", machine ? machine : "MACHINE");
    free(machine);
    return -1;
}

static int explain_open(const char *uri, struct error *e)
{
    const virError *last = virGetLastError();
    const char *said = last && last->message ? last->message : "no reason given";
    int code = last ? last->code : 0;
    if (strstr(uri, "+ssh://") && strncmp(said, PIPE_ENDED, strlen(PIPE_ENDED)) == 0)
        return explain_ssh(uri, said, e);
    if (strstr(said, "ermission denied") || code == VIR_ERR_AUTH_FAILED || code == VIR_ERR_ACCESS_DENIED)
        return error_set(
            e, "no permission to use libvirt at %s (%s): become a member of the group libvirt, or use sudo",
            uri, said);
    if (code == VIR_ERR_NO_CONNECT || code == VIR_ERR_INVALID_ARG || code == VIR_ERR_CONF_SYNTAX)
        return error_set(e, "libvirt does not know the URI \"%s\" (%s): expected one such as qemu:///system",
                         uri, said);
    if (strstr(said, "socket"))
        return error_set(e,
                         "libvirt at %s does not answer (%s): start it (systemctl start libvirtd), or run in "
                         "guest-setup/soft-lab, which brings its own",
                         uri, said);
    return error_set(e, "cannot connect to libvirt at %s: %s", uri, said);
}

/* ---- the event loop: one thread for the process */

static void *run_events(void *data)
{
    (void)data;
    for (;;)
        if (virEventRunDefaultImpl() < 0)
            clock_sleep_until_ns(clock_monotonic_ns() + 100 * NS_PER_MS);
    return NULL;
}

static void nothing(int timer, void *data)
{
    (void)timer;
    (void)data;
}

static void start_events(void)
{
    pthread_t thread;
    sigset_t all, old;
    virSetErrorFunc(NULL, keep_quiet);
    if (virInitialize() < 0 || virEventRegisterDefaultImpl() < 0)
        return;
    /* a timer keeps the loop turning where there is nothing to wait for yet */
    virEventAddTimeout(1000, nothing, NULL, NULL);
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&thread, NULL, run_events, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void release(void *data)
{
    struct virt *v = data;
    if (atomic_fetch_sub(&v->references, 1) > 1)
        return;
    pthread_mutex_destroy(&v->lock);
    pthread_mutex_destroy(&v->queue_lock);
    if (v->event_fd >= 0)
        close(v->event_fd);
    free(v->uri);
    free(v);
}

/* ---- connection */

static int watch_locked(struct virt *v, struct error *e);

static void add_event(struct virt *v, const char *domain, const char *what, bool gone)
{
    uint64_t one = 1;
    pthread_mutex_lock(&v->queue_lock);
    if (v->waiting == QUEUE) {
        v->first = (v->first + 1) % QUEUE;
        v->waiting--;
    }
    struct virt_event *event = &v->queue[(v->first + v->waiting++) % QUEUE];
    *event = (struct virt_event){.gone = gone};
    snprintf(event->domain, sizeof event->domain, "%s", domain);
    snprintf(event->what, sizeof event->what, "%s", what);
    ssize_t written = write(v->event_fd, &one, sizeof one);
    (void)written; /* it can only be full, and then it is readable */
    pthread_mutex_unlock(&v->queue_lock);
}

static void closed(virConnectPtr connection, int reason, void *data)
{
    (void)connection;
    if (reason == VIR_CONNECT_CLOSE_REASON_KEEPALIVE)
        add_event(data, "", "libvirtd does not answer any more", false);
    else if (reason != VIR_CONNECT_CLOSE_REASON_CLIENT)
        add_event(data, "", "libvirtd went away", false);
}

static int connect_locked(struct virt *v, struct error *e)
{
    v->connection = virConnectOpen(v->uri);
    if (!v->connection)
        return explain_open(v->uri, e);
    virConnectSetKeepAlive(v->connection, 5, 3); /* not every driver has it */
    /* not every driver has this one either; unregistering waits for a call under way */
    virConnectRegisterCloseCallback(v->connection, closed, v, NULL);
    return v->watching ? watch_locked(v, e) : 0;
}

static void disconnect_locked(struct virt *v)
{
    if (!v->connection)
        return;
    if (v->callback >= 0)
        virConnectDomainEventDeregisterAny(v->connection, v->callback);
    v->callback = -1;
    virConnectUnregisterCloseCallback(v->connection, closed);
    virConnectClose(v->connection);
    v->connection = NULL;
}

/* Guests are QEMU's; "test" is libvirt's own driver for tests. */
static int check_scheme(const char *uri, struct error *e)
{
    static const char *const schemes[] = {"qemu:", "qemu+", "test:"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(uri, schemes[i], strlen(schemes[i])) == 0)
            return 0;
    return error_set(
        e, "uri: \"%.100s\" is not a URI of libvirt's QEMU driver: expected one such as qemu:///system", uri);
}

struct virt *virt_open(const char *uri, struct error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (check_scheme(uri, e) != 0)
        return NULL;
    struct virt *v = calloc(1, sizeof *v);
    if (!v || !(v->uri = strdup(uri))) {
        free(v);
        error_set(e, "out of memory");
        return NULL;
    }
    pthread_once(&once, start_events);
    pthread_mutex_init(&v->lock, NULL);
    pthread_mutex_init(&v->queue_lock, NULL);
    atomic_init(&v->references, 1);
    v->callback = -1;
    v->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (v->event_fd < 0)
        error_set_errno(e, errno, "making an event descriptor");
    if (v->event_fd >= 0 && connect_locked(v, e) == 0)
        return v;
    virt_close(v);
    return NULL;
}

void virt_close(struct virt *v)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    disconnect_locked(v);
    pthread_mutex_unlock(&v->lock);
    release(v);
}

/* A connection that libvirtd dropped (it was restarted) is opened again; guests are not touched by that. */
static virConnectPtr connection_of(struct virt *v, struct error *e)
{
    pthread_mutex_lock(&v->lock);
    if (v->connection && virConnectIsAlive(v->connection) != 1)
        disconnect_locked(v);
    if (!v->connection)
        connect_locked(v, e);
    virConnectPtr connection = v->connection;
    pthread_mutex_unlock(&v->lock);
    return connection;
}

virConnectPtr virt_connection(struct virt *v)
{
    return connection_of(v, NULL);
}

/* ---- domains */

/* The domain, or NULL: absent (*absent is set) or an error. */
static virDomainPtr find(struct virt *v, const char *name, bool *absent, struct error *e)
{
    virConnectPtr connection = connection_of(v, e);
    *absent = false;
    if (!connection)
        return NULL;
    virDomainPtr domain = virDomainLookupByName(connection, name);
    const virError *last = domain ? NULL : virGetLastError();
    *absent = last && last->code == VIR_ERR_NO_DOMAIN;
    if (!domain && !*absent)
        virt_error(e, "looking up domain %s", name);
    return domain;
}

static int absent_domain(struct virt *v, const char *name, struct error *e)
{
    return error_set(e, "libvirt at %s has no domain %s: make it with virt-provision rebuild", v->uri, name);
}

int virt_domain_state(struct virt *v, const char *name, enum virt_state *state, struct error *e)
{
    bool absent;
    int code = 0, reason = 0;
    virDomainPtr domain = find(v, name, &absent, e);
    *state = VIRT_ABSENT;
    if (!domain)
        return absent ? 0 : -1;
    int result = virDomainGetState(domain, &code, &reason, 0);
    if (result < 0)
        virt_error(e, "asking for the state of domain %s", name);
    virDomainFree(domain);
    if (code == VIR_DOMAIN_SHUTOFF)
        *state = reason == VIR_DOMAIN_SHUTOFF_CRASHED ? VIRT_CRASHED : VIRT_OFF;
    else if (code == VIR_DOMAIN_PAUSED || code == VIR_DOMAIN_PMSUSPENDED)
        *state = VIRT_PAUSED;
    else
        *state = code == VIR_DOMAIN_CRASHED ? VIRT_CRASHED : VIRT_RUNNING;
    return result < 0 ? -1 : 0;
}

int virt_domain_start(struct virt *v, const char *name, struct error *e)
{
    bool absent;
    virDomainPtr domain = find(v, name, &absent, e);
    if (!domain)
        return absent ? absent_domain(v, name, e) : -1;
    int result = 0, active = virDomainIsActive(domain);
    int code = 0, reason = 0;
    virDomainGetState(domain, &code, &reason, 0);
    if (active == 1 && code == VIR_DOMAIN_PAUSED)
        result = virDomainResume(domain);
    else if (active != 1)
        result = virDomainCreate(domain);
    if (result < 0)
        virt_error(e, "starting domain %s", name);
    virDomainFree(domain);
    return result < 0 ? -1 : 0;
}

/* Ask nicely, by every way there is; the agent first, for it works without ACPI in the guest. */
static void ask_to_stop(virDomainPtr domain)
{
    if (virDomainShutdownFlags(domain, VIR_DOMAIN_SHUTDOWN_GUEST_AGENT) < 0)
        virDomainShutdown(domain);
}

int virt_domain_stop(struct virt *v, const char *name, int64_t grace_ns, struct error *e)
{
    bool absent;
    virDomainPtr domain = find(v, name, &absent, e);
    if (!domain)
        return absent ? 0 : -1;
    int64_t deadline_ns = clock_monotonic_ns() + grace_ns;
    int result = 0;
    if (grace_ns > 0 && virDomainIsActive(domain) == 1)
        ask_to_stop(domain);
    while (virDomainIsActive(domain) == 1 && clock_monotonic_ns() < deadline_ns)
        clock_sleep_until_ns(clock_monotonic_ns() + 50 * NS_PER_MS);
    if (virDomainIsActive(domain) == 1 && virDomainDestroy(domain) < 0 && virDomainIsActive(domain) == 1)
        result = virt_error(e, "powering off domain %s", name);
    virDomainFree(domain);
    return result;
}

/* ---- reaching a guest */

/* The first IPv4 address of the interface with this MAC that one source knows. */
static char *address_from(virDomainPtr domain, unsigned source, const char *mac)
{
    virDomainInterfacePtr *interfaces = NULL;
    char *address = NULL;
    int count = virDomainInterfaceAddresses(domain, &interfaces, source, 0);
    for (int i = 0; i < count; i++) {
        bool right = interfaces[i]->hwaddr && strcasecmp(interfaces[i]->hwaddr, mac) == 0;
        for (unsigned k = 0; right && !address && k < interfaces[i]->naddrs; k++)
            if (interfaces[i]->addrs[k].type == VIR_IP_ADDR_TYPE_IPV4)
                address = strdup(interfaces[i]->addrs[k].addr);
        virDomainInterfaceFree(interfaces[i]);
    }
    free(interfaces);
    return address;
}

static char *find_address(virDomainPtr domain, const struct mark *mark)
{
    static const unsigned sources[] = {VIR_DOMAIN_INTERFACE_ADDRESSES_SRC_LEASE,
                                       VIR_DOMAIN_INTERFACE_ADDRESSES_SRC_AGENT,
                                       VIR_DOMAIN_INTERFACE_ADDRESSES_SRC_ARP};
    char *address = mark->address[0] ? strdup(mark->address) : NULL;
    for (size_t i = 0; !address && i < sizeof sources / sizeof *sources; i++)
        address = address_from(domain, sources[i], mark->mac);
    return address;
}

static int fill_target(struct virt *v, const struct lab *lab, const struct lab_host *host,
                       const struct mark *mark, struct ssh_target *t, struct error *e)
{
    struct text alias = {0};
    text_add(&alias, "%s-%s", lab->name, host->name);
    t->key_alias = text_take(&alias);
    t->user = strdup(mark->user[0] ? mark->user : "root");
    t->identity = places_in_lab(lab, "id_ed25519", e);
    t->known_hosts = places_in_lab(lab, "known_hosts", e);
    t->jump = jump_of(v->uri);
    t->port = mark->port;
    t->own_config = true;
    t->boots = true;
    t->sudo = host->sudo == 1 || (t->user && strcmp(t->user, "root") != 0);
    if (!t->identity || !t->known_hosts)
        return -1;
    if (!t->key_alias || !t->user)
        return error_set(e, "out of memory");
    if (!files_exist(t->identity))
        return error_set(
            e,
            "host %s: the lab's key %s is missing: the guest was made by another user or machine; "
            "virt-provision rebuild makes it anew",
            host->name, t->identity);
    return 0;
}

/* A host that is no guest: as the lab says, the rest is the user's ssh configuration. */
static int plain_target(const struct lab_host *host, struct ssh_target *t, struct error *e)
{
    t->host = strdup(host->ssh);
    t->port = host->port == FIELD_UNSET ? 0 : host->port;
    t->identity = host->identity ? strdup(host->identity) : NULL;
    t->known_hosts = host->known_hosts ? strdup(host->known_hosts) : NULL;
    t->sudo = host->sudo == 1;
    return t->host ? 0 : error_set(e, "out of memory");
}

int virt_domain_target(struct virt *v, const struct lab *lab, const struct lab_host *host,
                       struct ssh_target *target, struct error *e)
{
    bool absent;
    struct mark mark;
    *target = (struct ssh_target){0};
    if (!host->domain)
        return plain_target(host, target, e);
    virDomainPtr domain = find(v, host->domain, &absent, e);
    if (!domain)
        return absent ? absent_domain(v, host->domain, e) : -1;
    int result = mark_read(domain, &mark, e);
    if (result == 0)
        result = error_set(e,
                           "domain %s was not made by virt-provision, so it has no key that could be "
                           "trusted: virt-provision "
                           "rebuild --adopt replaces it, or use an ssh lab",
                           host->domain);
    else if (result == 1)
        result = fill_target(v, lab, host, &mark, target, e);
    if (result == 0 && !(target->host = find_address(domain, &mark)))
        result = error_set(e, "domain %s has no address on its management interface (%s) yet", host->domain,
                           mark.mac);
    virDomainFree(domain);
    if (result != 0)
        ssh_target_free(target);
    return result;
}

int virt_host_target(struct virt *v, const struct lab *lab, const struct lab_host *host, int64_t timeout_ns,
                     struct ssh_target *target, struct error *e)
{
    int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
    enum virt_state state = VIRT_RUNNING;
    int found;
    if (host->domain && virt_domain_start(v, host->domain, e) != 0)
        return -1;
    while ((found = virt_domain_target(v, lab, host, target, e)) == 1 && clock_monotonic_ns() < deadline_ns) {
        clock_sleep_until_ns(clock_monotonic_ns() + 200 * NS_PER_MS);
        if (virt_domain_state(v, host->domain, &state, e) != 0)
            return -1;
        if (state != VIRT_RUNNING)
            return error_set(e, "domain %s is %s while it was to boot: its serial log says why", host->domain,
                             virt_state_names[state]);
    }
    return found == 0 ? 0 : -1;
}

struct ssh_session *virt_host_open(struct virt *v, const struct lab *lab, const struct lab_host *host,
                                   int64_t timeout_ns, struct error *e)
{
    struct ssh_target target = {0};
    struct error inner;
    int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
    if (virt_host_target(v, lab, host, timeout_ns, &target, &inner) != 0) {
        error_set(e, "host %s: %s", host->name, inner.text);
        ssh_target_free(&target);
        return NULL;
    }
    struct ssh_session *s = ssh_open(host->name, &target, deadline_ns - clock_monotonic_ns(), e);
    ssh_target_free(&target);
    return s;
}

/* ---- events */

static const char *stopped_because(int detail)
{
    switch (detail) {
    case VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN:
        return "shut down";
    case VIR_DOMAIN_EVENT_STOPPED_DESTROYED:
        return "was destroyed";
    case VIR_DOMAIN_EVENT_STOPPED_CRASHED:
        return "crashed";
    case VIR_DOMAIN_EVENT_STOPPED_MIGRATED:
        return "was migrated away";
    case VIR_DOMAIN_EVENT_STOPPED_SAVED:
        return "was saved to disk";
    case VIR_DOMAIN_EVENT_STOPPED_FAILED:
        return "failed: its QEMU ended with an error";
    default:
        return "stopped";
    }
}

static const char *suspended_because(int detail)
{
    switch (detail) {
    case VIR_DOMAIN_EVENT_SUSPENDED_IOERROR:
        return "was paused: an I/O error of its disk (is the machine's disk full?)";
    case VIR_DOMAIN_EVENT_SUSPENDED_WATCHDOG:
        return "was paused by its watchdog";
    default:
        return "was paused";
    }
}

static int on_lifecycle(virConnectPtr connection, virDomainPtr domain, int event, int detail, void *data)
{
    struct virt *v = data;
    const char *what = NULL;
    bool gone = true;
    (void)connection;
    switch (event) {
    case VIR_DOMAIN_EVENT_STOPPED:
        what = stopped_because(detail);
        break;
    case VIR_DOMAIN_EVENT_SUSPENDED:
        what = suspended_because(detail);
        break;
    case VIR_DOMAIN_EVENT_CRASHED:
        what = "crashed";
        break;
    case VIR_DOMAIN_EVENT_STARTED:
        what = "started";
        gone = false;
        break;
    case VIR_DOMAIN_EVENT_RESUMED:
        what = "was resumed";
        gone = false;
        break;
    default:
        return 0;
    }
    add_event(v, virDomainGetName(domain), what, gone);
    return 0;
}

static int watch_locked(struct virt *v, struct error *e)
{
    atomic_fetch_add(&v->references, 1);
    v->callback = virConnectDomainEventRegisterAny(v->connection, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
                                                   VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), v, release);
    if (v->callback >= 0)
        return 0;
    atomic_fetch_sub(&v->references, 1);
    return virt_error(e, "asking libvirt at %s for events", v->uri);
}

int virt_watch(struct virt *v, struct error *e)
{
    int result = 0;
    pthread_mutex_lock(&v->lock);
    if (!v->watching) {
        v->watching = true;
        result = v->connection ? watch_locked(v, e) : connect_locked(v, e);
    }
    pthread_mutex_unlock(&v->lock);
    return result;
}

int virt_event_fd(const struct virt *v)
{
    return v->event_fd;
}

bool virt_next_event(struct virt *v, struct virt_event *event)
{
    uint64_t count;
    pthread_mutex_lock(&v->queue_lock);
    bool any = v->waiting > 0;
    if (any) {
        *event = v->queue[v->first];
        v->first = (v->first + 1) % QUEUE;
        v->waiting--;
    }
    if (v->waiting == 0) {
        ssize_t got = read(v->event_fd, &count, sizeof count);
        (void)got;
    }
    pthread_mutex_unlock(&v->queue_lock);
    return any;
}
