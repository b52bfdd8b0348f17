/* DCQCN in incasts: who answers no mark, who obeys no CNP, and which switch marks nothing. */
#include "harness/burn_in/blame.h"

#include "lib/document/json_text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define OF_MARKED 0.9 /* queues of the same length differ by less */

/* ---- DCQCN: queues are marked, marks answered, and the answers obeyed */

/* The senders of one incast: those to the same NIC, which share its switch's port. */
struct incast {
    size_t senders, held, obeyed, able; /* able: they obeyed CNPs in other incasts, at least */
    double marked, cnps; /* packets that came with a mark, CNPs that were sent; NAN: not known */
    double ignored;      /* CNPs that senders received, and did not obey */
    double at_port;      /* that the switch marked there; NAN: not known */
    bool lost;           /* what is lost slows senders, too */
};

static struct incast incast_to(const struct work *w, const json_t *run, const struct node *to)
{
    struct incast is = {.marked = NAN,
                        .ignored = NAN,
                        .cnps = seen_counted_in_run(run, to->name, "np_cnp_sent"),
                        .at_port = seen_counted_towards(w, run, to, "ecn_marked")};
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
        is.able += seen_counted_over(w, seen_is_marked_incast, seen_text(flow, "from"), "rp_cnp_handled") > 0;
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
    double ignored = seen_counted_over(w, seen_is_marked_incast, n->name, "rp_cnp_ignored");
    bool alone = n->marked_incasts && n->unslowed == n->marked_incasts;
    json_t *finding;
    if (seen_counted_over(w, seen_is_marked_incast, n->name, "rp_cnp_handled") != 0 || n->accused)
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
        if (blame_names(w, n))
            continue;
        if (seen_was_in(w, seen_is_marked_incast, n, "from") &&
            !(seen_counted_over(w, seen_is_marked_incast, n->name, "rp_cnp_handled") > 0))
            blame_add_name(&senders, &sent, n->name);
        if (seen_was_in(w, seen_is_marked_incast, n, "to") && !n->answers)
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
        if (!seen_is_incast(run, true))
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
    blame_switch(finding, name);
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
    blame_note_idle(w, "marked nothing", text_string(&idle), count);
    text_free(&idle);
}

void judge_dcqcn(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    size_t i, k, runs_with = 0, marked_runs = 0;
    json_array_foreach(runs, i, run)
    {
        bool marked = false;
        if (!seen_is_incast(run, true))
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
