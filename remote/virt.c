#include "remote/virt.h"

#include "remote/virt_error.h"
#include "lib/clock.h"
#include "lib/formats/lab_words.h"
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

#define QUEUE 64 /* queued events; a slow reader loses the oldest */

const char *const virt_state_names[] = {"absent", "off", "running", "paused", "crashed", NULL};

struct virt {
    char *uri;
    atomic_int references; /* the owner's, and one while lifecycle events may come */
    pthread_mutex_t lock;  /* of the connection */
    virConnectPtr connection;
    int callback; /* of lifecycle events, or -1 */
    bool watching;
    /* of the event queue. The only lock that callbacks take: libvirt may hold its own lock while it calls
     * them, and unregistering them needs libvirt's lock. */
    pthread_mutex_t queue_lock;
    int event_fd;
    struct virt_event queue[QUEUE];
    size_t first, waiting;
};

/* ---- the event loop: one thread for the process */

/* Stop libvirt from printing errors on stderr; they are returned in struct error. */
static void keep_quiet(void *data, virErrorPtr error)
{
    (void)data;
    (void)error;
}

static void *run_events(void *data)
{
    (void)data;
    for (;;)
        if (virEventRunDefaultImpl() < 0)
            clock_sleep_until_ns(clock_monotonic_ns() + 100 * NS_PER_MS);
    return NULL;
}

static void ignore_timer(int timer, void *data)
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
    /* a timer keeps the loop running while there is nothing else to wait for */
    virEventAddTimeout(1000, ignore_timer, NULL, NULL);
    sigfillset(&all); /* signals are handled by the main thread */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&thread, NULL, run_events, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void release_connection(void *data)
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
    (void)written; /* it fails only when the counter is full, and then it is readable anyway */
    pthread_mutex_unlock(&v->queue_lock);
}

static void connection_closed(virConnectPtr connection, int reason, void *data)
{
    (void)connection;
    if (reason == VIR_CONNECT_CLOSE_REASON_KEEPALIVE)
        add_event(data, "", "libvirtd stopped answering", false);
    else if (reason != VIR_CONNECT_CLOSE_REASON_CLIENT)
        add_event(data, "", "libvirtd ended", false);
}

static int connect_locked(struct virt *v, struct error *e)
{
    v->connection = virConnectOpen(v->uri);
    if (!v->connection)
        return virt_explain_open(v->uri, e);
    virConnectSetKeepAlive(v->connection, 5, 3); /* not every driver supports it */
    /* not every driver supports this either; unregistering waits for a running callback */
    virConnectRegisterCloseCallback(v->connection, connection_closed, v, NULL);
    return v->watching ? watch_locked(v, e) : 0;
}

static void disconnect_locked(struct virt *v)
{
    if (!v->connection)
        return;
    if (v->callback >= 0)
        virConnectDomainEventDeregisterAny(v->connection, v->callback);
    v->callback = -1;
    virConnectUnregisterCloseCallback(v->connection, connection_closed);
    virConnectClose(v->connection);
    v->connection = NULL;
}

struct virt *virt_open(const char *uri, struct error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!lab_uri_fits(uri)) {
        error_set(e, "uri: \"%.100s\" is not %s: expected %s", uri, form_uri.is, form_uri.expected);
        return NULL;
    }
    if (virt_load(e) != 0)
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
    release_connection(v);
}

/* Reopen a connection that libvirtd closed (by a restart); guests are not affected. */
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

const char *virt_uri(const struct virt *v)
{
    return v->uri;
}

virConnectPtr virt_connection(struct virt *v)
{
    return connection_of(v, NULL);
}

/* ---- domains */

virDomainPtr virt_find(struct virt *v, const char *name, bool *absent, struct error *e)
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

int virt_absent(struct virt *v, const char *name, struct error *e)
{
    return error_set(e, "libvirt at %s has no domain %s: create it with virt-provision rebuild", v->uri,
                     name);
}

int virt_domain_state(struct virt *v, const char *name, enum virt_state *state, struct error *e)
{
    bool absent;
    int code = 0, reason = 0;
    virDomainPtr domain = virt_find(v, name, &absent, e);
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
    virDomainPtr domain = virt_find(v, name, &absent, e);
    if (!domain)
        return absent ? virt_absent(v, name, e) : -1;
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

/* Request a shutdown: first through the guest agent, which works without ACPI in the guest, then through
 * ACPI. */
static void ask_to_stop(virDomainPtr domain)
{
    if (virDomainShutdownFlags(domain, VIR_DOMAIN_SHUTDOWN_GUEST_AGENT) < 0)
        virDomainShutdown(domain);
}

int virt_domain_stop(struct virt *v, const char *name, int64_t grace_ns, struct error *e)
{
    bool absent;
    virDomainPtr domain = virt_find(v, name, &absent, e);
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
    v->callback =
        virConnectDomainEventRegisterAny(v->connection, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
                                         VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), v, release_connection);
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
