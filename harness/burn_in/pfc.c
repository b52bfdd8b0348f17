/* Incasts: who is not stopped by PFC, who does not stop others, who obeys no CNP, and what was lost in spite
 * of it. */
#include "harness/burn_in/blame.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- PFC: who is not stopped, and who does not stop others? */

/* The pauses that a sender counted. One that has no such counter, where others of its kind have one, counts
 * none: its column is there while PFC is on. NAN: not known. */
static double pauses_of(const struct work *w, const json_t *run, const struct node *n)
{
    double pauses = seen_counted(run, n->name, "rx_prio?_pause");
    for (size_t i = 0; i < w->count && isnan(pauses) && seen_counted(run, n->name, "*") >= 0; i++)
        if (strcmp(w->nodes[i].class, n->class) == 0 &&
            seen_counted(run, w->nodes[i].name, "rx_prio?_pause") >= 0)
            pauses = 0;
    return pauses;
}

/* A sender of an incast without DCQCN. */
static void take_incast_flow(struct work *w, const json_t *run, const json_t *flow, bool others_paused)
{
    struct node *n = seen_node(w, seen_text(flow, "from"));
    double pauses = n ? pauses_of(w, run, n) : NAN, own = n ? n->best[HOST][TX] : NAN;
    if (!n || isnan(pauses) || (!isnan(own) && own < IS_HELD * seen_number(flow, "bps")))
        return;
    double again = seen_number(flow, "again");
    n->incasts++;
    n->lost += again > 0 ? again : 0;
    n->unpaused += pauses == 0;
    n->beside_paused += pauses == 0 && others_paused;
}

static bool any_paused(const json_t *run)
{
    const json_t *flow;
    size_t i;
    json_array_foreach(json_object_get(run, "flows"), i, flow)
    {
        if (seen_counted(run, seen_text(flow, "from"), "rx_prio?_pause") > 0)
            return true;
    }
    return false;
}

static bool is_incast(const json_t *run, bool ecn)
{
    return seen_is_stage(run, "lossless") && seen_is_long(run) &&
           json_is_true(json_object_get(run, "ecn")) == ecn;
}

/* Over all incasts without DCQCN: frames that the switch dropped, and pauses that it sent. */
static void count_switch(const struct work *w, const char *name, double *dropped, double *paused)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run;
    size_t i;
    *dropped = *paused = NAN;
    json_array_foreach(runs, i, run)
    {
        double drops = seen_counted(run, name, "buffer_discards"),
               pauses = seen_counted(run, name, "tx_pause");
        if (!is_incast(run, false) || isnan(drops) || isnan(pauses))
            continue;
        *dropped = (isnan(*dropped) ? 0 : *dropped) + drops;
        *paused = (isnan(*paused) ? 0 : *paused) + pauses;
    }
}

static json_t *accuse_switch(struct work *w, const char *name, bool sure)
{
    json_t *finding;
    if (blame_has(w, name))
        return NULL;
    finding =
        blame(w, "switch-pfc", name, sure, "lossless",
              "%s pauses nobody: it takes the packets' priority for one without PFC (its map of DSCPs to "
              "priorities), or has PFC off",
              name);
    json_object_set_new(finding, "switch", json_text(name));
    blame_figure(finding, 0, 1, "", "a switch whose queue is full pauses those who send into it");
    return finding;
}

/* Those that drop and pause nobody. */
static bool accuse_dropping_switches(struct work *w)
{
    const json_t *switches = json_object_get(w->seen, "switches"), *one;
    bool any = false;
    size_t i;
    json_array_foreach(switches, i, one)
    {
        double dropped, paused;
        count_switch(w, json_string_value(one), &dropped, &paused);
        if (!(dropped > 0) || paused != 0)
            continue;
        json_t *finding = accuse_switch(w, json_string_value(one), true);
        if (finding)
            blame_add(finding, "it dropped %.0f frames in incasts, and sent no pause", dropped);
        any = true;
    }
    return any;
}

/* Senders behind a switch: how many, and how many were never stopped and lost packets, where others were
 * stopped. */
static size_t unpaused_behind(const struct work *w, const char *name, size_t *senders)
{
    size_t never = 0;
    *senders = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        if (!n->incasts || !n->peer || strcmp(n->peer, name) != 0)
            continue;
        ++*senders;
        never += n->unpaused == n->incasts && n->beside_paused && n->lost > 0;
    }
    return never;
}

/* The pauses that a switch sent to the node in incasts; NAN: not known. */
static double pauses_to(const struct work *w, const struct node *n)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run;
    double sum = NAN;
    const char *peer;
    size_t i, port = 0;
    if (!n->peer)
        return NAN;
    while (seen_link_of_port(w, n->peer, port, &peer) && strcmp(peer, n->name) != 0)
        port++;
    json_array_foreach(runs, i, run)
    {
        char glob[64];
        snprintf(glob, sizeof glob, "port%zu_tx_prio?_pause", port);
        double pauses = is_incast(run, false) ? seen_counted(run, n->peer, glob) : NAN;
        if (!isnan(pauses))
            sum = (isnan(sum) ? 0 : sum) + pauses;
    }
    return sum;
}

/* A sender that was never stopped where others were, although its switch sent it pauses, or it lost packets:
 * what is merely not much in flight needs no pause. */
static void judge_unpaused(struct work *w, struct node *n, bool switch_found)
{
    size_t senders = 0, never = n->peer ? unpaused_behind(w, n->peer, &senders) : 0;
    double sent = pauses_to(w, n);
    if (n->unpaused < n->incasts || !n->incasts || !(sent > 0 || (n->beside_paused && n->lost > 0)))
        return;
    if (!(sent > 0) && (switch_found || sent == 0 || (never > 1 && never == senders))) {
        json_t *finding = switch_found || !n->peer ? NULL : accuse_switch(w, n->peer, false);
        if (finding)
            blame_add(finding,
                      "%zu senders behind it were never stopped in incasts in which others were, and lost "
                      "packets; a switch beyond it may be the one",
                      never);
        return;
    }
    json_t *finding =
        blame(w, "pfc-off", n->name, sent > 0, "lossless",
              "%s was never stopped by a pause as a sender of an incast: PFC is off there, or for "
              "another priority",
              n->name);
    blame_figure(finding, 0, 1, "pauses", "a paused sender counts the pauses that it is sent");
    if (sent > 0)
        blame_add(finding, "%s sent it %.0f pauses, and it counted none", n->peer, sent);
    else
        blame_add(finding, "other senders were stopped, and it sent %.0f packets again%s%s", n->lost,
                  senders == 1 ? "; it is the only sender behind " : "", senders == 1 ? n->peer : "");
    blame_node(finding, n);
}

/* What was lost though PFC was on, and is not explained yet. */
static void judge_lost(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow, *worst = NULL;
    double lost = 0, most = 0;
    const char *dropping = NULL;
    size_t i, k;
    if (json_array_size(w->findings))
        return;
    json_array_foreach(runs, i, run)
    {
        if (json_is_true(json_object_get(run, "light")))
            continue;
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            double again = seen_number(flow, "again");
            lost += again > 0 ? again : 0;
            if (again > 0 && (!worst || again > seen_number(worst, "again")))
                worst = flow;
        }
        json_array_foreach(json_object_get(w->seen, "switches"), k, flow)
        {
            double drops = seen_counted(run, json_string_value(flow), "buffer_discards");
            if (drops > most)
                most = drops, dropping = json_string_value(flow);
        }
    }
    if (!worst)
        return;
    json_t *finding = blame(w, "loss", dropping ? dropping : "between hosts", dropping != NULL, "lossless",
                            "packets are lost although PFC is on: %s",
                            dropping ? "the switch drops them (headroom, buffer)"
                                     : "where is not known without counters of "
                                       "switches");
    if (dropping) {
        json_object_set_new(finding, "switch", json_text(dropping));
        blame_add(finding, "it dropped %.0f frames in a run", most);
    }
    blame_figure(finding, lost, 0, "packets sent again", "PFC is there to lose nothing");
    blame_add(finding, "the flow from %s to %s sent %.0f packets again", seen_text(worst, "from"),
              seen_text(worst, "to"), seen_number(worst, "again"));
}

static void judge_pauses(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    size_t i, k, incasts = 0;
    bool paused = false;
    json_array_foreach(runs, i, run)
    {
        if (!is_incast(run, false))
            continue;
        bool any = any_paused(run);
        incasts++;
        paused = paused || any;
        json_array_foreach(json_object_get(run, "flows"), k, flow) take_incast_flow(w, run, flow, any);
    }
    bool found = accuse_dropping_switches(w);
    for (i = 0; i < w->count; i++)
        if (!w->nodes[i].accused)
            judge_unpaused(w, &w->nodes[i], found);
    if (incasts && !paused && !found)
        blame_unknown(w, "PFC was not seen to work: no sender of an incast was paused");
}

/* ---- DCQCN: marks are answered, and the answers obeyed */

/* Most of its senders obeyed CNPs: which did not, though something held them? */
static void take_marked_incast(struct work *w, const json_t *run)
{
    const json_t *flows = json_object_get(run, "flows"), *flow;
    size_t i, obeyed = 0;
    json_array_foreach(flows, i, flow)
    {
        obeyed += seen_counted(run, seen_text(flow, "from"), "rp_cnp_handled") > 0;
        if (seen_number(flow, "again") > 0) /* what was lost slows senders, too */
            return;
    }
    json_array_foreach(flows, i, flow)
    {
        struct node *n = seen_node(w, seen_text(flow, "from"));
        double handled = n ? seen_counted(run, n->name, "rp_cnp_handled") : NAN,
               own = n ? n->best[HOST][TX] : NAN;
        if (!n || 2 * obeyed <= json_array_size(flows) || isnan(handled) || isnan(own) ||
            own < IS_HELD * seen_number(flow, "bps"))
            continue;
        n->marked_incasts++;
        n->unslowed += handled == 0;
    }
}

static void judge_dcqcn(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    size_t i, k, runs_with = 0, marked_runs = 0;
    json_array_foreach(runs, i, run)
    {
        bool marked = false;
        if (!is_incast(run, true))
            continue;
        runs_with++;
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            struct node *to = seen_node(w, seen_text(flow, "to"));
            double sent = to ? seen_counted(run, to->name, "np_cnp_sent") : NAN,
                   marks = seen_number(flow, "marked");
            marked = marked || marks > 0 || sent > 0;
            if (to && marks > 0 && sent == 0 && !to->accused) {
                json_t *finding = blame(w, "dcqcn-off", to->name, true, "lossless",
                                        "%s answers no mark: its notification point is off", to->name);
                blame_figure(finding, 0, 1, "CNPs", "marked packets are answered by CNPs");
                blame_node(finding, to);
            }
        }
        take_marked_incast(w, run);
        marked_runs += marked;
    }
    for (i = 0; i < w->count; i++) {
        struct node *n = &w->nodes[i];
        if (!n->marked_incasts || n->unslowed < n->marked_incasts || n->accused)
            continue;
        json_t *finding =
            blame(w, "dcqcn-off", n->name, true, "lossless",
                  "%s obeyed no CNP as a sender of %zu %s in which most others did: its reaction "
                  "point is off, or its packets cannot be marked",
                  n->name, n->marked_incasts, THINGS(n->marked_incasts, "incast"));
        blame_figure(finding, 0, 1, "CNPs", "the other senders of the same incasts");
        blame_node(finding, n);
    }
    if (runs_with && !marked_runs)
        blame_unknown(w,
                      "DCQCN was not seen to work: no packet of an incast was marked, as where switches have "
                      "no ECN thresholds");
}

void judge_pfc(struct work *w)
{
    judge_pauses(w);
    judge_dcqcn(w);
    judge_lost(w);
}
