/* Are packets of lossless classes marked, and before PFC stops their sender? */
#include "harness/doctor/switches/switch.h"

#include "lib/text.h"
#include <inttypes.h>

/* The reaction point raises its rate after this time without a CNP (mlx5's rpg_time_reset, docs/settings.md):
 * marks that come later than that are answered too late. */
#define RATE_RISES_AFTER_US INT64_C(300)

/* ecnconfig writes it in some releases only (sonic-net/sonic-buildimage issue 4545). */
#define MARK_FIX                                                                                             \
    "wred_green_enable true in the WRED profile: redis-cli -n 4 HSET 'WRED_PROFILE|NAME' wred_green_enable " \
    "true"

struct marking {
    const struct doctor_subject *x;
    const struct sonic_wred *wred;
    int priority, queue;
};

static void report_marking(const struct marking *m, const char *verdict, const char *fix, const char *words)
{
    struct text reason = {0};
    switch_describe_end(m->x->end, &reason);
    text_add(&reason, ", priority %d: %s", m->priority, words);
    doctor_add(m->x->entries, m->x->end->of->name, "wred", verdict, fix, "%s", text_string(&reason));
    doctor_add_evidence(m->x->entries, "%s: QUEUE|%s|%d%s%s, BUFFER_PG, BUFFER_POOL", m->x->end->from,
                        m->x->end->port->name, m->queue, *m->wred->profile ? ", WRED_PROFILE|" : "",
                        m->wred->profile);
    text_free(&reason);
}

static const struct sonic_buffer *group_of(const struct marking *m)
{
    int group = m->x->end->port->tc_to_pg[m->priority];
    return group < 0 ? NULL : &m->x->end->port->pg[group];
}

/* How long the queue is that a number of senders fill before PFC has stopped them all; FIELD_UNSET: not
 * known. */
static int64_t filled_by(const struct marking *m, int64_t senders)
{
    const struct sonic_buffer *b = group_of(m);
    return b ? switch_most_before_xoff(b, senders) : FIELD_UNSET;
}

#define MOST_SENDERS 512

/* The least number of senders that fill the queue up to a number of bytes; above MOST_SENDERS: none does. */
static int64_t senders_needed(const struct marking *m, int64_t bytes)
{
    int64_t n = 1;
    while (n <= MOST_SENDERS && filled_by(m, n) < bytes)
        n++;
    return n;
}

/* What the senders of the scenario may fill: with what their headroom takes after XOFF. */
static bool surely_stopped(const struct marking *m, int64_t senders)
{
    const struct sonic_buffer *b = group_of(m);
    return sonic_is_given(b->xoff_bytes) &&
           filled_by(m, senders) + senders * b->xoff_bytes < m->wred->kmin_bytes;
}

/*
 * The first thing that is wrong with the thresholds; nothing is added: nothing is. A queue grows where
 * several hosts send to one: each of them has a priority group of its own before it, so that together they
 * fill it far beyond the XOFF of one.
 */
static void add_fault(const struct marking *m, int64_t senders, struct text *out, const char **verdict)
{
    const struct sonic_wred *w = m->wred;
    const struct sonic_port *p = m->x->end->port;
    const int64_t mtu = m->x->end->host_mtu != FIELD_UNSET ? m->x->end->host_mtu : p->mtu;
    const bool known = filled_by(m, 1) != FIELD_UNSET;
    const int64_t needed = known ? senders_needed(m, w->kmin_bytes) : 0;
    *verdict = "failure";
    if (w->kmin_bytes > w->kmax_bytes)
        text_add(out, "kmin is above kmax");
    else if (known && needed > MOST_SENDERS)
        text_add(out, "PFC stops any number of senders before anything is marked: DCQCN does not react");
    else if (known && senders > 1 && needed > senders && surely_stopped(m, senders))
        text_add(out,
                 "PFC stops the %" PRId64
                 " senders of the scenario before anything is marked: DCQCN does not "
                 "react (it does with %" PRId64 ")",
                 senders, needed);
    if (out->length)
        return;
    *verdict = "warning";
    if (known && needed > (senders > 1 ? senders : 2))
        text_add(out, "PFC may stop fewer than %" PRId64 " senders before anything is marked", needed);
    else if (w->pmax_percent == 0)
        text_add(out, "with a probability of 0 nothing is marked below kmax");
    else if (known && senders_needed(m, w->kmax_bytes) > MOST_SENDERS)
        text_add(out, "PFC stops any number of senders before the queue reaches kmax");
    else if (sonic_is_given(mtu) && w->kmin_bytes < 2 * mtu)
        text_add(out, "kmin is less than two frames: a queue of one burst is marked");
    else if (sonic_is_given(p->speed_Mbps) && w->kmin_bytes * 8 > RATE_RISES_AFTER_US * p->speed_Mbps)
        text_add(out,
                 "a queue of kmin takes longer to send than DCQCN waits before it raises its rate (300 us)");
    if (out->length)
        return;
    *verdict =
        w->pmax_percent == SONIC_UNREAD || !known || mtu == SONIC_UNREAD || p->speed_Mbps == SONIC_UNREAD
            ? "unknown"
            : "ok";
}

static void examine_thresholds(const struct marking *m)
{
    const struct sonic_wred *w = m->wred;
    const int64_t senders = switch_senders_to(m->x, m->priority), shown = senders > 1 ? senders : 2,
                  one = filled_by(m, 1);
    const char *verdict;
    struct text words = {0}, fault = {0};
    add_fault(m, senders, &fault, &verdict);
    text_add(&words, "profile %s of queue %d marks from %" PRId64 " to %" PRId64 " bytes, up to ", w->profile,
             m->queue, w->kmin_bytes, w->kmax_bytes);
    if (w->pmax_percent == SONIC_UNREAD)
        text_add(&words, "a probability that was not understood");
    else
        text_add(&words, "%" PRId64 " %%", w->pmax_percent == FIELD_UNSET ? 100 : w->pmax_percent);
    if (m->x->end->port->speed_Mbps > 0) {
        text_add(&words, " (kmin is %.1f us at ",
                 (double)w->kmin_bytes * 8 / (double)m->x->end->port->speed_Mbps);
        switch_describe_rate(m->x->end->port->speed_Mbps, &words);
        text_add(&words, ")");
    }
    if (one != FIELD_UNSET)
        text_add(&words,
                 "; XOFF comes at %" PRId64 " bytes of one sender at the latest, %" PRId64
                 " senders fill the queue up to %" PRId64,
                 one, shown, filled_by(m, shown));
    else
        text_add(&words,
                 "; when XOFF comes, and so whether there are marks before it, is not known (BUFFER_PG, "
                 "BUFFER_PROFILE, BUFFER_POOL)");
    if (m->x->end->port->speed_Mbps == SONIC_UNREAD)
        text_add(&words, "; the port's speed was not understood (PORT)");
    else if (m->x->end->host_mtu == FIELD_UNSET && m->x->end->port->mtu == SONIC_UNREAD)
        text_add(&words, "; the port's MTU was not understood (PORT)");
    if (fault.length)
        text_add(&words, ": %s", text_string(&fault));
    report_marking(m, verdict,
                   fault.length ? "ecnconfig -p PROFILE -gmin BYTES -gmax BYTES -gdrop PERCENT" : NULL,
                   text_string(&words));
    text_free(&words);
    text_free(&fault);
}

/* Something that decides whether there are marks was not understood. */
static bool is_unread(const struct marking *m)
{
    const struct sonic_wred *w = m->wred;
    bool off = w->ecn == SONIC_NO || (w->enabled == SONIC_NO && !w->own_ecn);
    return m->queue == SONIC_UNREAD_CLASS || sonic_is_unread(w->profile) || w->described == SONIC_UNKNOWN ||
           (w->described == SONIC_YES && !off &&
            (w->ecn == SONIC_UNKNOWN || w->enabled == SONIC_UNKNOWN || w->kmin_bytes == SONIC_UNREAD ||
             w->kmax_bytes == SONIC_UNREAD));
}

static void examine_queue(const struct marking *m)
{
    const struct sonic_wred *w = m->wred;
    if (is_unread(m))
        report_marking(m, "unknown", NULL,
                       "whether and where its queue marks was not understood (config-db says which value)");
    else if (!*w->profile)
        report_marking(
            m, "warning", "give the queue a wred_profile: ecnconfig -q QUEUE on",
            "its queue has no WRED profile: nothing is marked, DCQCN does not react, and PFC alone holds "
            "congestion");
    else if (w->described == SONIC_NO)
        report_marking(m, "failure", "WRED_PROFILE must have what QUEUE names",
                       "WRED_PROFILE lacks the profile that its queue names");
    else if (w->ecn == SONIC_NO)
        report_marking(
            m, "warning", "ecn: ecn_all in the WRED profile",
            "its WRED profile has ECN off for green packets: nothing is marked, and where WRED is on packets "
            "are dropped");
    else if (w->enabled == SONIC_NO && w->own_ecn)
        report_marking(
            m, "unknown", MARK_FIX,
            "wred_green_enable of its WRED profile is not true: whether thresholds of ECN alone mark "
            "nevertheless depends on the ASIC");
    else if (w->enabled == SONIC_NO)
        report_marking(m, "warning", MARK_FIX,
                       "wred_green_enable of its WRED profile is not true, and false is what it is without a "
                       "value: nothing "
                       "is marked, DCQCN does not react, and PFC alone holds congestion");
    else if (w->kmin_bytes == FIELD_UNSET || w->kmax_bytes == FIELD_UNSET)
        report_marking(m, "failure", "ecnconfig -p PROFILE -gmin BYTES -gmax BYTES",
                       "its WRED profile has no thresholds for green packets");
    else
        examine_thresholds(m);
}

static void examine_wred(const struct doctor_subject *x)
{
    const struct switch_end *end = x->end;
    static const struct sonic_wred none = {.profile = ""};
    if (end->port->has_pfc == SONIC_UNKNOWN)
        switch_report_pfc_unread(x, "wred");
    for (int priority = 0; priority < SONIC_PRIORITIES; priority++) {
        int queue = end->port->tc_to_queue[priority];
        const struct marking m = {x, queue >= 0 ? &end->port->queue[queue] : &none, priority, queue};
        if (end->port->pfc >> priority & 1)
            examine_queue(&m);
    }
}

const struct doctor_check doctor_switch_wred = {.name = "wred",
                                                .scope = DOCTOR_PORT,
                                                .when = DOCTOR_EXAMINES,
                                                .needs = DOCTOR_NEEDS_PORT,
                                                .examine = examine_wred};
