/* What NICs and links carry beside their lines: where all of a kind are equally bad, no other one tells. */
#include "harness/burn_in/blame.h"

#include "lib/text.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Headers leave 93 % of a line with frames of 1 KiB, and a bit is lost at the ends of a run. */
#define OF_LINE 0.85
#define FEW     3 /* of a kind: fewer tell nothing of one another (rates.c) */

/* What one NIC carries from and to host memory in its best round. */
struct carried {
    double line_bps; /* of its kind; NAN: not known */
    double bps[2];   /* by way; NAN: not measured */
    bool own[2];     /* slow, though a partner can do more */
};

/* The rate of its link, as the lab says, or else of its port, as the host does. Models of NICs in guests have
 * the rates of processors. */
static double line_of_node(const struct work *w, const struct node *n)
{
    if (n->is_virtual || !isnan(n->stated_bps))
        return n->stated_bps;
    return seen_number(json_object_get(json_object_get(w->seen, "nodes"), n->name), "line_bps");
}

static bool same_kind(const struct node *a, const struct node *b)
{
    return seen_alike(a, b) && strcmp(a->nic, b->nic) == 0;
}

/* NICs of a kind are to have the same line: the largest of them. */
static double line_of_kind(const struct work *w, const struct node *n)
{
    double line = NAN;
    for (size_t i = 0; i < w->count; i++)
        if (same_kind(&w->nodes[i], n))
            seen_most(&line, line_of_node(w, &w->nodes[i]));
    return line;
}

static struct carried *carried_of(const struct work *w)
{
    struct carried *all = xcalloc(w->count + 1, sizeof *all);
    for (size_t i = 0; i < w->count; i++) {
        const double *best = w->nodes[i].best[HOST];
        all[i] = (struct carried){.line_bps = line_of_kind(w, &w->nodes[i]), .bps = {best[TX], best[RX]}};
    }
    return all;
}

static bool is_slow(const struct carried *c, enum way way)
{
    return c->bps[way] < OF_LINE * c->line_bps; /* not if one of them is NAN */
}

static bool is_slow_any(const struct carried *c)
{
    return is_slow(c, TX) || is_slow(c, RX);
}

/* Whose partners can do more. */
static void find_own(const struct work *w, struct carried *all)
{
    const json_t *run, *flow;
    size_t i, k;
    json_array_foreach(json_object_get(w->seen, "runs"), i, run)
    {
        json_array_foreach(seen_at_full_rate(run) ? json_object_get(run, "flows") : NULL, k, flow)
        {
            const struct node *from = seen_node(w, seen_text(flow, "from")),
                              *to = seen_node(w, seen_text(flow, "to"));
            if (!from || !to || seen_memory(flow) != HOST)
                continue;
            struct carried *a = &all[from - w->nodes], *b = &all[to - w->nodes];
            bool of_a = is_slow(a, TX) && b->bps[RX] >= OF_LINE * a->line_bps,
                 of_b = is_slow(b, RX) && a->bps[TX] >= OF_LINE * b->line_bps;
            if ((of_a || of_b) && seen_tells(w, i, from, to)) {
                a->own[TX] |= of_a;
                b->own[RX] |= of_b;
            }
        }
    }
}

static void accuse(struct work *w, struct node *n, const struct carried *c)
{
    bool both = is_slow(c, TX) && is_slow(c, RX) && !n->paused_link[HOST];
    const char *peer = n->peer ? n->peer : "its switch";
    char *name = both ? xasprintf("%s - %s", n->name, peer) : xasprintf("%s", n->name);
    json_t *finding = blame(w, both ? "link-slow" : "nic-slow", name, both, "pairs",
                            "%s sends %.4g Gb/s and takes %.4g, and its line carries %.4g", n->name,
                            GBPS(c->bps[TX]), GBPS(c->bps[RX]), GBPS(c->line_bps));
    if (both)
        blame_link(finding, n->name, peer);
    blame_figure(finding, fmin(c->bps[TX], c->bps[RX]), OF_LINE * c->line_bps, "b/s",
                 "85 % of the line, as others of its kind carry, of which at least half are slow");
    blame_node(finding, n);
    free(name);
}

/* Of a kind that is slow in part, by half at least, whose median tells nothing. */
static void judge_half(struct work *w, size_t first, const struct carried *all)
{
    struct text names = {0};
    size_t unsure = 0;
    for (size_t i = first; i < w->count; i++) {
        struct node *n = &w->nodes[i];
        if (!same_kind(&w->nodes[first], n) || n->accused || !is_slow_any(&all[i]))
            continue;
        if (all[i].own[TX] || all[i].own[RX])
            accuse(w, n, &all[i]);
        else
            blame_add_name(&names, &unsure, n->name);
    }
    if (unsure)
        blame_unknown(w,
                      "%zu %s slow beside the line, and so is all that %s measured with (NICs, links between "
                      "switches): mend these, and run it again: %s",
                      unsure, unsure == 1 ? "NIC is" : "NICs are", unsure == 1 ? "it was" : "they were",
                      text_string(&names));
    text_free(&names);
}

/* All NICs of the kind of this one, the first of it. */
static void judge_kind(struct work *w, size_t first, const struct carried *all)
{
    struct text names = {0};
    size_t of = 0, slow = 0, best = first;
    bool accused = false;
    for (size_t i = first; i < w->count; i++) {
        if (!same_kind(&w->nodes[first], &w->nodes[i]) || isnan(all[i].line_bps) || isnan(all[i].bps[TX]) ||
            isnan(all[i].bps[RX]))
            continue;
        of++;
        if (!is_slow_any(&all[i]))
            continue;
        blame_add_name(&names, &slow, w->nodes[i].name);
        accused = accused || w->nodes[i].accused;
        best =
            slow == 1 || all[i].bps[TX] / all[i].line_bps > all[best].bps[TX] / all[best].line_bps ? i : best;
    }
    if (of > 1 && slow == of && !accused)
        blame_unknown(w, "%s carries %.4g of %.4g Gb/s of its line, as all %zu of its kind do: %s",
                      w->nodes[best].name, GBPS(fmin(all[best].bps[TX], all[best].bps[RX])),
                      GBPS(all[best].line_bps), of, text_string(&names));
    else if (2 * slow >= of)
        judge_half(w, first, all);
    text_free(&names);
}

static bool is_first(const struct work *w, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_kind(&w->nodes[k], &w->nodes[i]))
            return false;
    return true;
}

/* Nothing tells of these: neither others of their kind, nor a line, nor a baseline. */
static void judge_few(struct work *w, const struct carried *all)
{
    const json_t *before = json_object_get(json_object_get(w->seen, "baseline"), "figures");
    size_t unjudged = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        size_t alike = 0;
        for (size_t k = 0; k < w->count; k++)
            alike += seen_alike(&w->nodes[k], n) && !isnan(w->nodes[k].best[HOST][TX]) &&
                     !isnan(w->nodes[k].best[HOST][RX]);
        unjudged += !isnan(n->best[HOST][TX]) && alike < FEW && isnan(all[i].line_bps) &&
                    isnan(seen_number(json_object_get(before, n->name), "host_tx_bps"));
    }
    if (unjudged)
        blame_unknown(w,
                      "%zu %s rates that nothing tells right or wrong: fewer than three of their kind were "
                      "measured, and their lines are not known (a baseline would)",
                      unjudged, unjudged == 1 ? "NIC has" : "NICs have");
}

/* Routes to GPUs of which no relation is known. */
static void judge_gpu_lines(struct work *w, const struct carried *all)
{
    struct text names = {0};
    size_t of = 0, slow = 0;
    double least = NAN, line = NAN;
    for (size_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        double best = NAN;
        for (int memory = GPU; memory < MEMORIES && !n->relation && !json_object_size(n->relations); memory++)
            seen_most(&best, fmin(n->best[memory][TX], n->best[memory][RX]));
        if (isnan(best) || isnan(all[i].line_bps))
            continue;
        of++;
        if (best >= OF_LINE * all[i].line_bps || best >= OF_LINE * fmin(n->best[HOST][TX], n->best[HOST][RX]))
            continue; /* the second: it is the NIC that is slow, which is told already */
        if (!(least <= best))
            least = best, line = all[i].line_bps;
        blame_add_name(&names, &slow, n->name);
    }
    if (slow && 2 * slow >= of)
        blame_unknown(
            w,
            "memory of GPUs at %zu of %zu NICs carries less than 85 %% of the line, down to %.4g of "
            "%.4g Gb/s (ACS, a bridge, peer-to-peer off, or the GPUs themselves): %s",
            slow, of, GBPS(least), GBPS(line), text_string(&names));
    text_free(&names);
}

/* ---- links between switches */

/* What the switch sent there in all runs; NAN: it does not count it. */
static double crossed(const struct work *w, const char *name, size_t port)
{
    char glob[64];
    snprintf(glob, sizeof glob, "port%zu_tx_bytes", port);
    return seen_counted_over(w, NULL, name, glob);
}

static void judge_crossed(struct work *w)
{
    const json_t *links = json_object_get(w->seen, "links"), *one;
    json_t *bytes = json_object();
    struct text names = {0};
    size_t i, unused = 0;
    json_array_foreach(json_object_get(w->seen, "switches"), i, one)
    {
        const char *name = json_string_value(one), *peer;
        const json_t *link;
        for (size_t port = 0; (link = seen_link_of_port(w, name, port, &peer)); port++) {
            double is = seen_is_switch(w, peer) ? crossed(w, name, port) : NAN;
            char *key = xasprintf("%s - %s", seen_text(link, "a"), seen_text(link, "b"));
            double both = seen_number(bytes, key);
            seen_add(&both, is);
            if (!isnan(both))
                json_object_set_new(bytes, key, json_real(both));
            free(key);
        }
    }
    json_array_foreach(links, i, one)
    {
        char *key = xasprintf("%s - %s", seen_text(one, "a"), seen_text(one, "b"));
        if (seen_number(bytes, key) == 0 && !blame_of(w, key))
            blame_add_name(&names, &unused, key);
        free(key);
    }
    if (unused)
        blame_unknown(w, "%zu %s between switches carried nothing: no flow crossed %s: %s", unused,
                      THINGS(unused, "link"), unused == 1 ? "it" : "them", text_string(&names));
    text_free(&names);
    json_decref(bytes);
}

/* NICs of which no stage had a flow: rails that not all hosts have. */
static void judge_unused(struct work *w)
{
    const json_t *run, *flow;
    json_t *used = json_object();
    struct text names = {0};
    size_t i, k, unused = 0;
    json_array_foreach(json_object_get(w->seen, "runs"), i, run)
    {
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            json_object_set_new(used, seen_text(flow, "from"), json_true());
            json_object_set_new(used, seen_text(flow, "to"), json_true());
        }
    }
    for (i = 0; json_object_size(used) && i < w->count; i++)
        if (!json_object_get(used, w->nodes[i].name))
            blame_add_name(&names, &unused, w->nodes[i].name);
    if (unused)
        blame_unknown(w,
                      "%zu %s nothing and %s sent nothing, as on rails that not all hosts have; a lab of the "
                      "hosts that have them tests these: %s",
                      unused, unused == 1 ? "NIC sent" : "NICs sent", unused == 1 ? "was" : "were",
                      text_string(&names));
    text_free(&names);
    json_decref(used);
}

void judge_lines(struct work *w)
{
    struct carried *all = carried_of(w);
    find_own(w, all);
    for (size_t i = 0; i < w->count; i++)
        if (is_first(w, i))
            judge_kind(w, i, all);
    judge_gpu_lines(w, all);
    judge_few(w, all);
    judge_crossed(w);
    judge_unused(w);
    free(all);
}
