/* Incasts: who is not stopped by PFC, who does not stop others, who obeys no CNP, and what was lost in spite
 * of it. */
#include "harness/burn_in/blame.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_MARKED 0.9 /* queues of the same length differ by less */

/* ---- PFC: who is not stopped, and who does not stop others? */

/* The pauses that a sender counted. One that has no such counter, where others of its kind have one, counts
 * none: its column is there while PFC is on, and a simulated NIC always has it then. NAN: not known. */
static double pauses_of(const struct work *w, const json_t *run, const struct node *n)
{
    double pauses = seen_counted_in_run(run, n->name, "rx_prio?_pause");
    bool simulated = json_is_true(json_object_get(w->seen, "simulated"));
    for (size_t i = 0; i < w->count && isnan(pauses) && seen_counted(run, n->name, "*") >= 0; i++)
        if (simulated || (strcmp(w->nodes[i].class, n->class) == 0 &&
                          seen_counted_in_run(run, w->nodes[i].name, "rx_prio?_pause") >= 0))
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
        if (seen_counted_in_run(run, seen_text(flow, "from"), "rx_prio?_pause") > 0)
            return true;
    }
    return false;
}

static bool is_incast(const json_t *run, bool ecn)
{
    return seen_is_stage(run, "lossless") && seen_is_judged(run) &&
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
        seen_add(dropped, drops);
        seen_add(paused, pauses);
    }
}

static json_t *accuse_switch(struct work *w, const char *name, bool sure)
{
    json_t *finding;
    if (blame_of(w, name))
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

/* The counter of the port to the node at its switch, which it has. */
static void name_towards(const struct work *w, const struct node *n, const char *what, char name[64])
{
    const char *peer;
    size_t port = 0;
    while (seen_link_of_port(w, n->peer, port, &peer) && strcmp(peer, n->name) != 0)
        port++;
    snprintf(name, 64, "port%zu_%s", port, what);
}

/* What the switch's port to the node counted; NAN: not known. */
static double counted_towards(const struct work *w, const json_t *run, const struct node *n, const char *what)
{
    char name[64];
    if (!n->peer)
        return NAN;
    name_towards(w, n, what, name);
    return seen_counted_in_run(run, n->peer, name);
}

static bool is_paused_incast(const json_t *run)
{
    return is_incast(run, false);
}

static bool is_marked_incast(const json_t *run)
{
    return is_incast(run, true);
}

/* Was the node at this end, "from" or "to", of a flow of such a run? */
static bool was_in(const struct work *w, bool (*is)(const json_t *run), const struct node *n, const char *end)
{
    const json_t *run, *flow;
    size_t i, k;
    json_array_foreach(json_object_get(w->seen, "runs"), i, run)
    {
        json_array_foreach(is(run) ? json_object_get(run, "flows") : NULL, k, flow)
        {
            if (strcmp(seen_text(flow, end), n->name) == 0)
                return true;
        }
    }
    return false;
}

/* Is something named that explains what was not seen of the NIC: itself, or its switch? */
static bool is_named(const struct work *w, const struct node *n)
{
    return n->accused || (n->peer && blame_of(w, n->peer));
}

/* What the port counted over all incasts without DCQCN. */
static double counted_in_incasts(const struct work *w, const struct node *n, const char *what)
{
    char name[64];
    if (!n->peer)
        return NAN;
    name_towards(w, n, what, name);
    return seen_counted_over(w, is_paused_incast, n->peer, name);
}

/* The switch drops what comes from there, and pauses others, and nobody there. */
static json_t *accuse_port(struct work *w, const char *at, const char *peer, double here)
{
    double dropped, paused;
    count_switch(w, at, &dropped, &paused);
    if (!(here > 0) || !(paused > 0))
        return NULL;
    char *name = xasprintf("%s - %s", peer, at);
    json_t *finding = blame(w, "switch-pfc", name, true, "lossless",
                            "the port of %s to %s pauses nobody: it takes the packets' priority for one "
                            "without PFC (its map of DSCPs to priorities), or has PFC off",
                            at, peer);
    blame_link(finding, peer, at);
    json_object_set_new(finding, "switch", json_text(at));
    blame_figure(finding, 0, 1, "", "the other ports of the switch in the same incasts");
    blame_add(finding,
              "it dropped %.0f frames in incasts, and sent no pause there; its other ports sent %.0f", here,
              paused);
    free(name);
    return finding;
}

/* A sender that was never stopped where others were, although its switch sent it pauses, or it lost packets:
 * what is merely not much in flight needs no pause. */
static void judge_unpaused(struct work *w, struct node *n, bool switch_found)
{
    size_t senders = 0, never = n->peer ? unpaused_behind(w, n->peer, &senders) : 0;
    double sent = counted_in_incasts(w, n, "tx_prio?_pause");
    if (n->unpaused < n->incasts || !n->incasts || !(sent > 0 || (n->beside_paused && n->lost > 0)))
        return;
    json_t *port =
        sent == 0 && n->peer ? accuse_port(w, n->peer, n->name, counted_in_incasts(w, n, "discards")) : NULL;
    if (port) {
        blame_node(port, n);
        return;
    }
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

/* ---- ports of switches: who does not stop there, and whom does one not stop? */

/* What an end of a link counted in all runs, of a switch at its port; NAN: not known. */
static double end_counted(const struct work *w, const char *end, const json_t *link, const char *what)
{
    char glob[64];
    if (!seen_is_switch(w, end))
        return seen_counted_over(w, NULL, end, what);
    snprintf(glob, sizeof glob, "port%zu_%s", seen_port_of_link(w, end, link), what);
    return seen_counted_over(w, NULL, end, glob);
}

/* Was the switch sent pauses there, and counted none, or none that held it? */
static bool is_heedless(const struct work *w, const char *name, const char *peer, const json_t *link)
{
    return end_counted(w, name, link, "rx_prio?_pause") == 0 ||
           (end_counted(w, peer, link, "tx_prio?_pause_duration") > 1 &&
            end_counted(w, name, link, "rx_prio?_pause_duration") == 0);
}

/* Of one port, or of all that were sent pauses. */
static void accuse_heedless(struct work *w, const char *name, const char *peer, bool all, double sent)
{
    char *culprit = all ? xasprintf("%s", name) : xasprintf("%s - %s", peer, name);
    json_t *finding =
        blame(w, "switch-pfc", culprit, true, "lossless",
              "%s%s%s is sent pauses and does not stop: PFC is off there, or for another priority", name,
              all ? "" : "'s port to ", all ? "" : peer);
    json_object_set_new(finding, "switch", json_text(name));
    if (!all)
        blame_link(finding, peer, name);
    blame_figure(finding, 0, 1, "", "a port that is sent pauses stops");
    blame_add(finding, "%s sent it %.0f pauses, and none held it", peer, sent);
    free(culprit);
}

/* Pauses that are lost on a bad link tell nothing. */
static void judge_heedless(struct work *w)
{
    const json_t *switches = json_object_get(w->seen, "switches"), *one, *link;
    const char *peer;
    size_t i;
    json_array_foreach(switches, i, one)
    {
        const char *name = json_string_value(one);
        size_t paused = 0, heedless = 0;
        for (size_t pass = 0; pass < 2 && !blame_of(w, name); pass++)
            for (size_t port = 0; (link = seen_link_of_port(w, name, port, &peer)); port++) {
                double sent = end_counted(w, peer, link, "tx_prio?_pause");
                if (!(sent > 0) || blame_of_link(w, name, peer) || blame_of(w, name))
                    continue;
                bool is = is_heedless(w, name, peer, link);
                if (pass && is)
                    accuse_heedless(w, name, peer, heedless == paused, sent);
                paused += !pass;
                heedless += !pass && is;
            }
    }
}

/* Ports between switches that drop, and pause nobody, where nothing else lets the buffer overflow. */
static void judge_ports_between(struct work *w)
{
    const json_t *switches = json_object_get(w->seen, "switches"), *one, *link;
    const char *peer;
    size_t i;
    json_array_foreach(switches, i, one)
    {
        const char *name = json_string_value(one);
        for (size_t port = 0; (link = seen_link_of_port(w, name, port, &peer)); port++)
            if (seen_is_switch(w, peer) && end_counted(w, name, link, "tx_prio?_pause") == 0 &&
                !blame_of_link(w, name, peer))
                accuse_port(w, name, peer, end_counted(w, name, link, "discards"));
    }
}

/* Is it said already who lets switches overflow? */
static bool is_lossy_by_pfc(const struct work *w)
{
    const json_t *finding;
    size_t i;
    json_array_foreach(w->findings, i, finding)
    {
        const char *kind = seen_text(finding, "kind");
        if (strcmp(kind, "pfc-off") == 0 || strcmp(kind, "switch-pfc") == 0 || strcmp(kind, "deadlock") == 0)
            return true;
    }
    return false;
}

/* Frames from NICs that are named already which the switch dropped in the run: the pauses that stop them are
 * lost on a bad link, or not obeyed. */
static double dropped_of_accused(const struct work *w, const json_t *run, const char *name)
{
    double sum = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        double dropped =
            n->accused && n->peer && strcmp(n->peer, name) == 0 ? counted_towards(w, run, n, "discards") : 0;
        sum += dropped > 0 ? dropped : 0;
    }
    return sum;
}

/* Did all who sent what the switch dropped count its pauses? */
static bool is_obeyed(const struct work *w, const char *name)
{
    const json_t *link;
    const char *peer;
    bool any = false;
    for (size_t port = 0; (link = seen_link_of_port(w, name, port, &peer)); port++) {
        if (!(end_counted(w, name, link, "discards") > 0))
            continue;
        any = true;
        if (!(end_counted(w, peer, link, "rx_prio?_pause") > 0))
            return false;
    }
    return any;
}

/* Each switch that drops, whatever is wrong with hosts and links elsewhere. *counts: is known what any drops?
 */
static bool accuse_losing_switches(struct work *w, bool *counts)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *one;
    bool any = false;
    size_t i, k;
    json_array_foreach(json_object_get(w->seen, "switches"), k, one)
    {
        const char *name = json_string_value(one);
        double dropped = NAN;
        json_array_foreach(runs, i, run)
        {
            double here = seen_counted(run, name, "buffer_discards");
            if (!json_is_true(json_object_get(run, "light")) && !isnan(here))
                seen_add(&dropped, fmax(0, here - dropped_of_accused(w, run, name)));
        }
        *counts = *counts || !isnan(dropped);
        if (!(dropped > 0))
            continue;
        any = true;
        if (blame_of(w, name))
            continue;
        bool sure = is_obeyed(w, name);
        json_t *finding = blame(w, "loss", name, sure, "lossless",
                                "packets are lost although PFC is on: %s drops them (headroom, buffer%s)",
                                name, sure ? "" : ", or who sends to it does not stop, or is not paused");
        json_object_set_new(finding, "switch", json_text(name));
        blame_figure(finding, dropped, 0, "frames dropped", "PFC is there to lose nothing");
    }
    return any;
}

/* What was lost though PFC was on, and is not explained yet. */
static void judge_lost(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow, *worst = NULL;
    double lost = 0;
    bool counts = false;
    size_t i, k;
    if (is_lossy_by_pfc(w) || accuse_losing_switches(w, &counts) || json_array_size(w->findings))
        return;
    json_array_foreach(runs, i, run)
    {
        json_array_foreach(json_is_true(json_object_get(run, "light")) ? NULL : json_object_get(run, "flows"),
                           k, flow)
        {
            double again = seen_number(flow, "again");
            lost += again > 0 ? again : 0;
            if (again > 0 && (!worst || again > seen_number(worst, "again")))
                worst = flow;
        }
    }
    if (!worst)
        return;
    json_t *finding =
        blame(w, "loss", "between hosts", false, "lossless", "packets are lost although PFC is on: %s",
              counts ? "no switch dropped them; a link loses them, or went down for a time"
                     : "where is not known without counters of switches");
    blame_figure(finding, lost, 0, "packets sent again", "PFC is there to lose nothing");
    blame_add(finding, "the flow from %s to %s sent %.0f packets again", seen_text(worst, "from"),
              seen_text(worst, "to"), seen_number(worst, "again"));
}

/* Parts that earlier stages accused: what is wrong with them changes pauses, marks and losses, too. */
static void note_accused(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    struct text names = {0};
    size_t count = 0, i, k;
    for (size_t at = 0; at < w->count; at++) {
        bool sent = false;
        json_array_foreach(w->nodes[at].accused ? runs : NULL, i, run)
        {
            json_array_foreach(
                is_incast(run, false) || is_incast(run, true) ? json_object_get(run, "flows") : NULL, k, flow)
            {
                sent = sent || strcmp(seen_text(flow, "from"), w->nodes[at].name) == 0;
            }
        }
        if (sent)
            blame_add_name(&names, &count, w->nodes[at].name);
    }
    if (count)
        blame_unknown(w,
                      "PFC and DCQCN of %s were not judged: mend first what is named there, and run it again",
                      text_string(&names));
    text_free(&names);
}

/* NICs that no pause stopped, and of which nothing is named. */
static void note_unpaused(struct work *w)
{
    struct text names = {0};
    size_t count = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        if (!is_named(w, n) && was_in(w, is_paused_incast, n, "from") &&
            !(seen_counted_over(w, is_paused_incast, n->name, "rx_prio?_pause") > 0))
            blame_add_name(&names, &count, n->name);
    }
    if (count)
        blame_unknown(w, "PFC was not seen to stop %zu %s, which no pause held in incasts: %s", count,
                      THINGS(count, "NIC"), text_string(&names));
    text_free(&names);
}

/* Switches that did nothing of what they are to do. */
static void note_idle(struct work *w, const char *did, const char *names, size_t count)
{
    if (count)
        blame_note(w,
                   "%zu %s %s in incasts, as little waited there, so that whether %s was not looked at: %s",
                   count, count == 1 ? "switch" : "switches", did, count == 1 ? "it does" : "they do", names);
}

/* Switches that sent no pause, and dropped nothing. */
static void note_unpausing(struct work *w)
{
    const json_t *switches = json_object_get(w->seen, "switches"), *one;
    struct text names = {0};
    size_t i, count = 0;
    json_array_foreach(switches, i, one)
    {
        double dropped, paused;
        count_switch(w, json_string_value(one), &dropped, &paused);
        if (paused == 0 && dropped == 0)
            blame_add_name(&names, &count, json_string_value(one));
    }
    note_idle(w, "paused nobody", text_string(&names), count);
    text_free(&names);
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
    judge_heedless(w);
    for (i = 0; i < w->count; i++)
        if (!w->nodes[i].accused)
            judge_unpaused(w, &w->nodes[i], found);
    if (!is_lossy_by_pfc(w))
        judge_ports_between(w);
    if (incasts && !paused && !found) {
        blame_unknown(w, "PFC was not seen to work: no sender of an incast was paused");
    } else {
        note_unpaused(w);
        note_unpausing(w);
    }
}

/* ---- DCQCN: queues are marked, marks answered, and the answers obeyed */

/* The senders of one incast: those to the same NIC, which share its switch's port. */
struct incast {
    size_t senders, held, obeyed, able; /* able: they obeyed CNPs in other incasts, at least */
    double marked, cnps; /* packets that came with a mark, CNPs that were sent; NAN: not known */
    double ignored;      /* CNPs that senders received, and did not obey */
    double at_port;      /* that the switch marked there; NAN: not known */
    double queue;        /* bytes that waited there on average; NAN: not known */
    bool lost;           /* what is lost slows senders, too */
};

static struct incast incast_to(const struct work *w, const json_t *run, const struct node *to)
{
    struct incast is = {.marked = NAN,
                        .ignored = NAN,
                        .cnps = seen_counted_in_run(run, to->name, "np_cnp_sent"),
                        .at_port = counted_towards(w, run, to, "ecn_marked"),
                        .queue = counted_towards(w, run, to, "prio?_queue_bytes")};
    const json_t *flow;
    size_t i;
    json_array_foreach(json_object_get(run, "flows"), i, flow)
    {
        const struct node *n = seen_node(w, seen_text(flow, "from"));
        double marked = seen_number(flow, "marked"), own = n ? n->best[HOST][TX] : NAN;
        if (strcmp(seen_text(flow, "to"), to->name) != 0)
            continue;
        is.senders++;
        is.held += isnan(own) || own >= IS_HELD * seen_number(flow, "bps");
        is.obeyed += seen_counted_in_run(run, seen_text(flow, "from"), "rp_cnp_handled") > 0;
        is.able += seen_counted_over(w, is_marked_incast, seen_text(flow, "from"), "rp_cnp_handled") > 0;
        seen_add(&is.ignored, seen_counted_in_run(run, seen_text(flow, "from"), "rp_cnp_ignored"));
        is.lost = is.lost || seen_number(flow, "again") > 0;
        seen_add(&is.marked, marked);
    }
    return is;
}

/* Its receiver was sent to by several that it held, nothing was lost, and no mark came. */
static bool saw_no_mark(const struct incast *is)
{
    return is->held >= 2 && !is->lost && !is->obeyed && !(is->cnps > 0) &&
           (is->marked == 0 || (isnan(is->marked) && is->cnps == 0));
}

/* Most of its senders obeyed CNPs: which did not, though something held them? Where the port to the receiver
 * marked nothing, others were marked on a way that is not everyone's. */
static void take_marked_incast(struct work *w, const json_t *run, struct node *to)
{
    struct incast is = incast_to(w, run, to);
    const json_t *flow;
    size_t i;
    if (is.lost || is.at_port == 0 || 2 * is.obeyed <= is.senders)
        return;
    json_array_foreach(json_object_get(run, "flows"), i, flow)
    {
        struct node *n = seen_node(w, seen_text(flow, "from"));
        double handled = n ? seen_counted_in_run(run, n->name, "rp_cnp_handled") : NAN,
               own = n ? n->best[HOST][TX] : NAN;
        if (!n || strcmp(seen_text(flow, "to"), to->name) != 0 || isnan(handled) ||
            (!isnan(own) && own < IS_HELD * seen_number(flow, "bps")))
            continue;
        n->marked_incasts++;
        n->unslowed += handled == 0;
    }
}

/* Marks come, and neither does it send CNPs, nor do its senders slow down, as they do where ACKs return
 * marks; or it sends CNPs, and senders that obey those of others received none. */
static void judge_notification(struct work *w, const json_t *run, struct node *to)
{
    struct incast is = incast_to(w, run, to);
    bool silent = is.marked > 0 && is.cnps == 0, lost = is.cnps > 0 && is.able == is.senders;
    to->answers = to->answers || is.obeyed || is.ignored > 0;
    if (is.obeyed || is.ignored > 0 || to->accused || (!silent && !lost))
        return;
    json_t *finding = blame(w, "dcqcn-off", to->name, silent, "lossless", "%s %s", to->name,
                            silent ? "answers no mark: its notification point is off"
                                   : "sends CNPs that do not arrive: their priority or DSCP, or its link");
    blame_figure(finding, 0, 1, "CNPs", "marked packets are answered by CNPs");
    if (lost)
        blame_add(finding,
                  "it sent %.0f in an incast whose %zu senders obeyed none, and obeyed those of others",
                  is.cnps, is.senders);
    blame_node(finding, to);
}

/* A sender that received CNPs and obeyed none, or that obeyed none where most others did. */
static void judge_reaction(struct work *w, struct node *n)
{
    double ignored = seen_counted_over(w, is_marked_incast, n->name, "rp_cnp_ignored");
    bool alone = n->marked_incasts && n->unslowed == n->marked_incasts;
    json_t *finding;
    if (seen_counted_over(w, is_marked_incast, n->name, "rp_cnp_handled") != 0 || n->accused)
        return;
    if (ignored > 0)
        finding = blame(w, "dcqcn-off", n->name, true, "lossless",
                        "%s obeyed none of the %.0f CNPs that it received: its reaction point is off",
                        n->name, ignored);
    else if (alone)
        finding = blame(w, "dcqcn-off", n->name, true, "lossless",
                        "%s obeyed no CNP as a sender of %zu %s in which most others did: its reaction "
                        "point is off, its packets cannot be marked, or CNPs do not reach it",
                        n->name, n->marked_incasts, THINGS(n->marked_incasts, "incast"));
    else
        return;
    blame_figure(finding, 0, 1, "CNPs",
                 ignored > 0 ? "a sender obeys CNPs" : "the other senders of the same incasts");
    blame_node(finding, n);
}

/* NICs of which DCQCN was not seen to work, as a sender or as a receiver, and of which nothing is named. */
static void note_unseen(struct work *w)
{
    struct text senders = {0}, receivers = {0};
    size_t sent = 0, received = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        if (is_named(w, n))
            continue;
        if (was_in(w, is_marked_incast, n, "from") &&
            !(seen_counted_over(w, is_marked_incast, n->name, "rp_cnp_handled") > 0))
            blame_add_name(&senders, &sent, n->name);
        if (was_in(w, is_marked_incast, n, "to") && !n->answers)
            blame_add_name(&receivers, &received, n->name);
    }
    if (sent)
        blame_unknown(w, "DCQCN was not seen to slow %zu %s, which obeyed no CNP in incasts: %s", sent,
                      THINGS(sent, "NIC"), text_string(&senders));
    if (received)
        blame_unknown(
            w, "DCQCN was not seen to work for %zu %s: no CNP arrived at a sender of an incast to %s: %s",
            received, THINGS(received, "NIC"), received == 1 ? "it" : "them", text_string(&receivers));
    text_free(&senders);
    text_free(&receivers);
}

/* Do to each receiver of the run's incasts. */
static void walk_receivers(struct work *w, const json_t *run,
                           void (*take)(struct work *w, const json_t *run, struct node *to))
{
    const json_t *flow;
    size_t i, at;
    for (at = 0; at < w->count; at++)
        json_array_foreach(json_object_get(run, "flows"), i, flow)
        {
            if (strcmp(seen_text(flow, "to"), w->nodes[at].name) == 0) {
                take(w, run, &w->nodes[at]);
                break;
            }
        }
}

/* ---- switches that mark nothing where others mark */

/* Queues of ports in all incasts with DCQCN. */
struct queues {
    double least, most; /* of ports that marked; NAN: none is known */
};

/* What a switch did in them. */
struct marking {
    double marked;        /* NAN: not known */
    double queue;         /* the longest on average; NAN: not known */
    size_t port;          /* there */
    const char *receiver; /* of an incast behind it, which saw no mark; NULL: each saw some */
};

static double queue_of_port(const json_t *run, const char *name, size_t port)
{
    char glob[64];
    snprintf(glob, sizeof glob, "port%zu_prio?_queue_bytes", port);
    return seen_counted(run, name, glob);
}

static void take_queues(const struct work *w, const json_t *run, const char *name, struct queues *queues,
                        struct marking *marking)
{
    const char *peer;
    for (size_t port = 0; seen_link_of_port(w, name, port, &peer); port++) {
        char glob[64];
        double queue = queue_of_port(run, name, port);
        snprintf(glob, sizeof glob, "port%zu_ecn_marked", port);
        if (seen_counted(run, name, glob) > 0 && !isnan(queue)) {
            queues->least = fmin(queues->least, queue);
            queues->most = fmax(queues->most, queue);
        }
        if (!isnan(queue) && !(marking->queue >= queue))
            marking->queue = queue, marking->port = port;
    }
}

static struct marking marking_of(const struct work *w, const char *name, struct queues *queues)
{
    struct marking marking = {.marked = NAN, .queue = NAN};
    const json_t *runs = json_object_get(w->seen, "runs"), *run;
    size_t i;
    json_array_foreach(runs, i, run)
    {
        double marked = seen_counted(run, name, "ecn_marked");
        if (!is_incast(run, true))
            continue;
        seen_add(&marking.marked, marked);
        take_queues(w, run, name, queues, &marking);
        for (size_t at = 0; at < w->count; at++) {
            const struct node *to = &w->nodes[at];
            struct incast is = {0};
            if (to->peer && strcmp(to->peer, name) == 0)
                is = incast_to(w, run, to);
            if (saw_no_mark(&is))
                marking.receiver = to->name;
        }
    }
    return marking;
}

/* It marked nothing: is it the one, or is that not known? False: nothing waited there that others mark. */
static bool judge_unmarking(struct work *w, const char *name, const struct marking *is,
                            const struct queues *marked)
{
    const char *peer = "";
    bool stood = is->queue >= OF_MARKED * marked->least;
    if (!is->receiver && !stood)
        return is->marked != 0;
    if (is->receiver && (isnan(is->marked) || (!isnan(is->queue) && !stood)))
        blame_unknown(w,
                      "nothing was marked on the way to %s, the receiver of an incast behind %s: whether %s "
                      "marks is not known",
                      is->receiver, name, name);
    if (isnan(is->marked) || (!isnan(is->queue) && !stood))
        return true;
    seen_link_of_port(w, name, is->port, &peer);
    bool sure = stood && (is->receiver || is->queue >= marked->most);
    if (!sure && !is->receiver) {
        blame_unknown(w,
                      "nothing was marked at %s, where %.0f kB waited for %s on average: others marked at "
                      "%.0f to %.0f kB",
                      name, is->queue / 1e3, peer, marked->least / 1e3, marked->most / 1e3);
        return true;
    }
    json_t *finding =
        blame(w, "ecn-off", name, sure, "lossless",
              "%s marks nothing in incasts in which other switches mark: it has no ECN thresholds "
              "for this priority, or higher ones",
              name);
    json_object_set_new(finding, "switch", json_text(name));
    blame_figure(finding, 0, 1, "marked packets", "the other switches in the same incasts");
    if (!isnan(is->queue))
        blame_add(finding, "%.0f kB waited there for %s on average, and others marked at %.0f to %.0f kB",
                  is->queue / 1e3, peer, marked->least / 1e3, marked->most / 1e3);
    if (is->receiver)
        blame_add(finding, "%s behind it was the receiver of an incast, and no packet came with a mark",
                  is->receiver);
    return true;
}

static void note_no_marks(struct work *w)
{
    blame_unknown(w, "DCQCN was not seen to work: no packet of an incast was marked, as where switches have "
                     "no ECN thresholds");
}

static void judge_switches_ecn(struct work *w)
{
    const json_t *switches = json_object_get(w->seen, "switches"), *one;
    struct queues marked = {NAN, NAN};
    bool none = json_array_size(switches) > 0; /* CNPs are sent without marks, too, for what is lost */
    struct text idle = {0};
    size_t i, count = 0;
    json_array_foreach(switches, i, one)
    {
        if (marking_of(w, json_string_value(one), &marked).marked != 0)
            none = false;
    }
    if (none) {
        note_no_marks(w);
        return;
    }
    json_array_foreach(switches, i, one)
    {
        const char *name = json_string_value(one);
        struct queues again = marked;
        struct marking is = marking_of(w, name, &again);
        if (!(is.marked > 0) && !blame_of(w, name) && !judge_unmarking(w, name, &is, &marked))
            blame_add_name(&idle, &count, name);
    }
    note_idle(w, "marked nothing", text_string(&idle), count);
    text_free(&idle);
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
            marked = marked || seen_number(flow, "marked") > 0 ||
                     seen_counted_in_run(run, seen_text(flow, "to"), "np_cnp_sent") > 0;
        }
        walk_receivers(w, run, judge_notification);
        walk_receivers(w, run, take_marked_incast);
        marked_runs += marked;
    }
    for (i = 0; i < w->count; i++)
        judge_reaction(w, &w->nodes[i]);
    if (marked_runs) {
        judge_switches_ecn(w);
        note_unseen(w);
    } else if (runs_with && json_is_false(json_object_get(w->seen, "marks"))) {
        blame_note(w, "DCQCN was not tested: the lab's switches have no ECN thresholds");
    } else if (runs_with) {
        note_no_marks(w);
    }
}

void judge_pfc(struct work *w)
{
    note_accused(w);
    judge_pauses(w);
    judge_dcqcn(w);
    judge_lost(w);
}
