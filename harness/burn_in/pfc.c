/* PFC in incasts: who is not stopped, who does not stop others, and what was lost in spite of it. */
#include "harness/burn_in/blame.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        if (!seen_is_incast(run, false) || isnan(drops) || isnan(pauses))
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
    blame_switch(finding, name);
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

/* What the port counted over all incasts without DCQCN. */
static double counted_in_incasts(const struct work *w, const struct node *n, const char *what)
{
    char name[64];
    if (!n->peer)
        return NAN;
    seen_name_towards(w, n, what, name);
    return seen_counted_over(w, seen_is_paused_incast, n->peer, name);
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
    blame_switch(finding, at);
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
    blame_switch(finding, name);
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
        double dropped = n->accused && n->peer && strcmp(n->peer, name) == 0
                             ? seen_counted_towards(w, run, n, "discards")
                             : 0;
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
        blame_switch(finding, name);
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
            json_array_foreach(seen_is_incast(run, false) || seen_is_incast(run, true)
                                   ? json_object_get(run, "flows")
                                   : NULL,
                               k, flow)
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
        if (!blame_names(w, n) && seen_was_in(w, seen_is_paused_incast, n, "from") &&
            !(seen_counted_over(w, seen_is_paused_incast, n->name, "rx_prio?_pause") > 0))
            blame_add_name(&names, &count, n->name);
    }
    if (count)
        blame_unknown(w, "PFC was not seen to stop %zu %s, which no pause held in incasts: %s", count,
                      THINGS(count, "NIC"), text_string(&names));
    text_free(&names);
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
    blame_note_idle(w, "paused nobody", text_string(&names), count);
    text_free(&names);
}

static void judge_pauses(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    size_t i, k, incasts = 0;
    bool paused = false;
    json_array_foreach(runs, i, run)
    {
        if (!seen_is_incast(run, false))
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

void judge_pfc(struct work *w)
{
    note_accused(w);
    judge_pauses(w);
    judge_dcqcn(w);
    judge_lost(w);
}
