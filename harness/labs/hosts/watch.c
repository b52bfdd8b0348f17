#include "harness/labs/hosts/watch.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/output/print.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define SILENCE_NS (15 * NS_PER_S) /* a host without output for this long is taken to hang */
#define EVENT_NS   (1 * NS_PER_S)  /* maximum delay of libvirt's events */
#define CAUSE_NS   (3 * NS_PER_S)  /* to find out why a program ended */
#define NIC_NS     (10 * NS_PER_S) /* for a host to look at its NIC, whose driver may be busy with its end */
#define QUIET_NS   (1 * NS_PER_S)  /* a host without output for this long is mentioned in the reason */

/* Wait for output, at most until the deadline, and read all of it. */
int watch_pump(struct remote_lab *lab, int64_t deadline_ns, struct error *e)
{
    size_t count = 2 * lab->stream_count + 2;
    struct pollfd *fds = calloc(count, sizeof *fds);
    if (!fds)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < lab->stream_count; i++)
        stream_poll(&lab->streams[i], &fds[2 * i]);
    fds[count - 2] =
        (struct pollfd){.fd = lab->run->interrupt ? lab->run->interrupt->fd : -1, .events = POLLIN};
    fds[count - 1] = (struct pollfd){.fd = lab->virt ? virt_event_fd(lab->virt) : -1, .events = POLLIN};
    int64_t left_ns = deadline_ns - clock_monotonic_ns();
    left_ns = left_ns > WATCH_STEP_NS ? WATCH_STEP_NS : left_ns > 0 ? left_ns : 0;
    int ready = poll(fds, count, (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS));
    free(fds);
    if (ready < 0 && errno != EINTR)
        return error_set_errno(e, errno, "waiting for lines");
    for (size_t i = 0; i < lab->stream_count; i++)
        if (stream_take(&lab->streams[i], lab->run, e) != 0)
            return -1;
    return 0;
}

/* The host's machine does not answer: what programs of its NICs still print is not waited for. */
static void machine_is_silent(struct remote_lab *lab, const struct remote_host *h)
{
    for (size_t i = 0; i < lab->all_count; i++)
        if (&lab->hosts[i] == h || (h->ssh && lab->hosts[i].ssh == h->ssh))
            lab->hosts[i].silent = true;
}

/* libvirt's daemon may be restarted without harm to guests; a guest that stops ends the run. */
int watch_events(struct remote_lab *lab, struct error *e)
{
    struct virt_event event;
    while (lab->virt && virt_next_event(lab->virt, &event)) {
        if (lab->run->log)
            print_to(lab->run->log, "libvirt: %s %s\n", event.domain, event.what);
        if (!*event.domain && !lab->virt_lost) {
            lab->virt_lost = true;
            json_array_append_new(lab->warnings,
                                  json_textf("libvirt: %s: guests are no longer watched", event.what));
        }
        for (size_t i = 0; event.gone && i < lab->all_count; i++)
            if (lab->hosts[i].lab->domain && strcmp(lab->hosts[i].lab->domain, event.domain) == 0) {
                machine_is_silent(lab, &lab->hosts[i]);
                return error_set(e, "guest %s (host %s) %s", event.domain, lab->hosts[i].lab->name,
                                 event.what);
            }
    }
    return 0;
}

/* A stream whose output is closed: traffic may be at its end, and a server that ends with its driver;
 * samplers and other servers must not be. */
static int look_at_closed(const struct remote_lab *lab, struct stream *s, struct error *e)
{
    struct text complaint = {0};
    switch (stream_outcome(s, lab->run, 0, e)) {
    case STREAM_BADLY:
        return -1;
    case STREAM_WELL:
        if (stream_may_end(s) || s->process.in < 0) /* it was told to end */
            return 0;
        stream_add_complaint(s, &complaint);
        error_set(e, "host %s: %s ended by itself%s", s->host->lab->name, s->program,
                  text_string(&complaint));
        text_free(&complaint);
        return -1;
    case STREAM_NOT_YET:
        break;
    }
    return clock_monotonic_ns() - s->heard_ns < SILENCE_NS
               ? 0
               : error_set(e, "host %s: %s closed its output but does not end", s->host->lab->name,
                           s->program);
}

/* How long a host that should be sampling has sent nothing, minus ten sampling intervals. */
static int64_t silence_ns(const struct remote_lab *lab, const struct stream *s)
{
    if (s->kind != STREAM_SAMPLER || !s->running || !s->lines)
        return 0;
    return clock_monotonic_ns() - s->heard_ns - 10 * lab->run->cell->scenario.sample.every_ns;
}

static int look_at_streams(struct remote_lab *lab, struct error *e)
{
    for (size_t i = 0; i < lab->stream_count; i++) {
        struct stream *s = &lab->streams[i];
        if (s->running && s->unreadable) /* it may go on for ever */
            return error_set(e, "host %s: %s: %s", s->host->lab->name, s->program, s->why.text);
        if (!s->running && look_at_closed(lab, s, e) != 0)
            return -1;
        if (silence_ns(lab, s) > SILENCE_NS) {
            machine_is_silent(lab, s->host);
            return error_set(e, "host %s: no output for %lld s: the host or the connection hangs",
                             s->host->lab->name, SILENCE_NS / NS_PER_S);
        }
    }
    return 0;
}

/* Has every host that should be sampling sent something since then? */
static bool all_heard(const struct remote_lab *lab, int64_t since_ns)
{
    for (size_t i = 0; i < lab->stream_count; i++)
        if (lab->streams[i].kind == STREAM_SAMPLER && lab->streams[i].running &&
            lab->streams[i].heard_ns < since_ns)
            return false;
    return true;
}

/* Name the hosts that have been silent and are not named yet, and expect nothing more from them. */
static void note_silent(struct remote_lab *lab, struct error *e)
{
    for (size_t i = 0; i < lab->stream_count; i++) {
        struct stream *s = &lab->streams[i];
        struct error told = *e;
        if (silence_ns(lab, s) < QUIET_NS)
            continue;
        if (!s->host->silent)
            error_set(e, "%.700s; host %s has sent nothing since", told.text, s->host->lab->name);
        machine_is_silent(lab, s->host);
    }
}

/* An ended connection is the cause of the end of its host's programs and of the errors of their peers on
 * other hosts, even if those were noticed first. Therefore ask every host over its connection. */
static int look_at_connections(struct remote_lab *lab, int64_t deadline_ns, struct error *e)
{
    for (size_t i = 0; i < lab->all_count; i++) {
        int64_t left_ns = deadline_ns - clock_monotonic_ns();
        if (!lab->hosts[i].shares && ssh_ended(lab->hosts[i].ssh, left_ns > 0 ? left_ns : 0, e))
            return -1;
    }
    return 0;
}

/* A NIC that failed is the cause of the errors of its host's programs and of their peers: its driver gives
 * its devices up. */
static int look_at_nic(const struct remote_host *h, int64_t timeout_ns, struct error *e)
{
    static const char look[] =
        "failed=': the NIC or its driver has failed, see dmesg there'; "
        "if ! [ -d /sys/class/net/$1 ]; then echo $1 is gone$failed; "
        "elif [ $2 ] && ! cat /sys/class/infiniband/$2/ports/*/state > /dev/null; then "
        "echo $2 does not answer$failed; "
        "elif [ \"$(cat /sys/class/net/$1/carrier)\" = 0 ]; then echo $1 has no carrier; fi";
    struct text out = {0};
    struct error ignored;
    if (!h->netdev || h->silent)
        return 0;
    const char *const words[] = {"sh", "-c", look, "sh", h->netdev, h->rdma ? h->rdma : "", NULL};
    int result = 0;
    if (ssh_run(h->ssh, words, NULL, &out, NULL, timeout_ns, &ignored) == 0 && out.length)
        result = error_set(e, "host %s: %.*s", h->lab->name, (int)strcspn(text_string(&out), "\n"),
                           text_string(&out));
    text_free(&out);
    return result;
}

/* `first` goes behind the cause. */
static int look_at_nics(const struct remote_lab *lab, const struct error *first, struct error *e)
{
    struct error cause;
    for (size_t i = 0; i < lab->host_count; i++)
        if (look_at_nic(&lab->hosts[i], NIC_NS, &cause) != 0)
            return error_set(e, "%s; noticed by: %.700s", cause.text, first->text);
    return 0;
}

/* A program ended badly: was a guest stopped, does another host hang, was a connection cut, or has a NIC
 * failed? The event may still be on its way, and it takes a moment to tell a silent host from a slow one. */
int watch_find_cause(struct remote_lab *lab, const struct error *first, struct error *e)
{
    struct error ignored;
    int64_t begin_ns = clock_monotonic_ns(), now_ns = begin_ns;
    while (now_ns < begin_ns + CAUSE_NS && interrupt_count(lab->run->interrupt) == 0 &&
           (now_ns < begin_ns + EVENT_NS || !all_heard(lab, begin_ns))) {
        if (watch_pump(lab, now_ns + WATCH_STEP_NS, &ignored) != 0)
            break;
        if (watch_events(lab, e) != 0)
            return -1;
        now_ns = clock_monotonic_ns();
    }
    /* before connections are asked: while they are, no host is read and each seems silent */
    struct error named = *first;
    note_silent(lab, &named);
    if (look_at_connections(lab, now_ns + CAUSE_NS, e) == 0 && look_at_nics(lab, &named, e) == 0)
        *e = named;
    return -1;
}

/* Events first: a guest that was destroyed explains why its programs ended. */
int watch_look(struct remote_lab *lab, struct error *e)
{
    struct error first;
    int result = watch_events(lab, e);
    if (result == 0 && look_at_streams(lab, &first) != 0)
        result = watch_find_cause(lab, &first, e);
    return result;
}
