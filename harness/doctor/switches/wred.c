/* Are packets of lossless classes marked, and before PFC stops their sender? */
#include "harness/doctor/switches/switch.h"

#include "lib/text.h"
#include <inttypes.h>

/* The reaction point raises its rate after this time without a CNP (mlx5's rpg_time_reset, docs/settings.md):
 * marks that come later than that are answered too late. */
#define RATE_RISES_AFTER_US INT64_C(300)

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

static int64_t most_before_xoff(const struct marking *m)
{
    int group = m->x->end->port->tc_to_pg[m->priority];
    return group < 0 ? FIELD_UNSET : switch_most_before_xoff(&m->x->end->port->pg[group]);
}

/* The first thing that is wrong with the thresholds; NULL: nothing. */
static const char *first_fault(const struct marking *m, const char **verdict, const char **fix)
{
    const struct sonic_wred *w = m->wred;
    const struct sonic_port *p = m->x->end->port;
    int64_t most = most_before_xoff(m),
            mtu = m->x->end->host_mtu != FIELD_UNSET ? m->x->end->host_mtu : p->mtu;
    *verdict = "failure";
    *fix = "ecnconfig -p PROFILE -gmin BYTES -gmax BYTES -gdrop PERCENT";
    if (w->kmin_bytes > w->kmax_bytes)
        return "kmin is above kmax";
    if (most != FIELD_UNSET && w->kmin_bytes >= most)
        return "PFC stops a single sender before anything is marked: DCQCN does not react";
    *verdict = "warning";
    if (w->pmax_percent == 0)
        return "with a probability of 0 nothing is marked below kmax";
    if (most != FIELD_UNSET && w->kmax_bytes > most)
        return "PFC stops a single sender before the queue reaches kmax";
    if (mtu != FIELD_UNSET && w->kmin_bytes < 2 * mtu)
        return "kmin is less than two frames: a queue of one burst is marked";
    if (p->speed_Mbps != FIELD_UNSET && w->kmin_bytes * 8 > RATE_RISES_AFTER_US * p->speed_Mbps)
        return "a queue of kmin takes longer to send than DCQCN waits before it raises its rate (300 us)";
    return NULL;
}

static void examine_thresholds(const struct marking *m)
{
    const struct sonic_wred *w = m->wred;
    const char *verdict, *fix, *fault = first_fault(m, &verdict, &fix);
    int64_t most = most_before_xoff(m);
    struct text words = {0};
    text_add(&words,
             "profile %s of queue %d marks from %" PRId64 " to %" PRId64 " bytes, up to %" PRId64 " %%",
             w->profile, m->queue, w->kmin_bytes, w->kmax_bytes,
             w->pmax_percent == FIELD_UNSET ? 100 : w->pmax_percent);
    if (m->x->end->port->speed_Mbps > 0) {
        text_add(&words, " (kmin is %.1f us at ",
                 (double)w->kmin_bytes * 8 / (double)m->x->end->port->speed_Mbps);
        switch_describe_rate(m->x->end->port->speed_Mbps, &words);
        text_add(&words, ")");
    }
    if (most != FIELD_UNSET)
        text_add(&words, "; XOFF comes at %" PRId64 " bytes of one sender at the latest", most);
    else
        text_add(&words, "; when XOFF comes is not known (BUFFER_PROFILE, BUFFER_POOL)");
    if (fault)
        text_add(&words, ": %s", fault);
    report_marking(m, fault ? verdict : "ok", fault ? fix : NULL, text_string(&words));
    text_free(&words);
}

static void examine_queue(const struct marking *m)
{
    const struct sonic_wred *w = m->wred;
    if (!*w->profile)
        report_marking(
            m, "warning", "give the queue a wred_profile: ecnconfig -q QUEUE on",
            "its queue has no WRED profile: nothing is marked, DCQCN does not react, and PFC alone holds "
            "congestion");
    else if (!w->described)
        report_marking(m, "failure", "WRED_PROFILE must have what QUEUE names",
                       "WRED_PROFILE lacks the profile that its queue names");
    else if (!w->marks)
        report_marking(
            m, "warning", "ecn: ecn_all in the WRED profile",
            "its WRED profile has ECN off for green packets: nothing is marked, and where WRED is on packets "
            "are dropped");
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
    for (int priority = 0; priority < SONIC_TCS; priority++) {
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
