#include "harness/labs/sim/streamed.h"

#include "lib/xalloc.h"
#include <stdlib.h>

void flow_sums_add(struct flow_sums *sums, const struct sim_flow_stats *stats, double payload_bytes)
{
    sums->bytes += stats->bytes;
    sums->messages += stats->messages;
    sums->delivered_bytes += stats->delivered_bytes;
    sums->marked_packets += stats->marked_packets;
    sums->again_packets += stats->retransmitted_packets;
    sums->again_bytes += (double)stats->retransmitted_packets * payload_bytes;
    sums->requested_again += stats->requested_again;
    sums->failed += stats->failed;
    if (stats->decreases < 0)
        return;
    sums->decreases = (sums->decreases < 0 ? 0 : sums->decreases) + stats->decreases;
    sums->increases = (sums->increases < 0 ? 0 : sums->increases) + stats->increases;
}

/* ---- as the simulator asks for them */

void sim_flow_take_sender(struct sim_flow_config *flow, const struct sim_flow_config *of_sender)
{
    const struct sim_flow_config *of = &of_sender[flow->from];
    flow->ect = of->ect;
    flow->inline_bytes = of->inline_bytes;
    flow->payload_bytes = of->payload_bytes;
}

static void draw_next_flow(struct streamed *p)
{
    p->has_next = sim_poisson_next(&p->arrivals, &p->next);
    if (p->has_next)
        sim_flow_take_sender(&p->next, p->of_sender);
}

static void rewind_all(void *context)
{
    struct streamed_traffic *s = context;
    struct error ignored; /* each has begun once */
    for (size_t i = 0; i < s->count; i++) {
        s->patterns[i].has_next = false;
        if (sim_poisson_begin(&s->patterns[i].arrivals, &s->patterns[i].workload, &ignored) == 0)
            draw_next_flow(&s->patterns[i]);
    }
}

/* Of flows that begin at one time that of the first pattern comes first. */
static bool next_of_all(void *context, struct sim_flow_config *flow)
{
    struct streamed_traffic *s = context;
    struct streamed *first = NULL;
    for (size_t i = 0; i < s->count; i++) {
        struct streamed *p = &s->patterns[i];
        if (p->has_next && (!first || p->next.start_ps < first->next.start_ps))
            first = p;
    }
    if (!first)
        return false;
    *flow = first->next;
    draw_next_flow(first);
    return true;
}

/* ---- what they did */

static struct streamed *pattern_of(const struct streamed_traffic *s, const char *name)
{
    size_t i = 0;
    while (s->patterns[i].workload.flow.name != name)
        i++;
    return &s->patterns[i];
}

static double payload_of(const struct sim_streamed *flow)
{
    return (double)(flow->message_bytes < flow->payload_bytes ? flow->message_bytes : flow->payload_bytes);
}

/* What it did is added to its pattern's sums and completion times. */
static void count_flow(struct streamed *p, const struct sim_streamed *flow)
{
    flow_sums_add(&p->gone, &flow->stats, payload_of(flow));
    completions_add(&p->completions, flow->number, flow->message_bytes, flow->start_ps,
                    flow->stats.finished_ps, (double)flow->ideal_ps * (double)flow->message_count);
}

static void count_ended(void *context, const struct sim_streamed *flow)
{
    count_flow(pattern_of(context, flow->name), flow);
}

static void see_sums(void *context, const struct sim_streamed *flow)
{
    flow_sums_add(&pattern_of(context, flow->name)->end, &flow->stats, payload_of(flow));
}

void streamed_note_measured(struct streamed_traffic *s, const struct sim *sim, bool begins)
{
    for (size_t i = 0; i < s->count; i++)
        s->patterns[i].end = s->patterns[i].gone;
    sim_stream_alive(sim, see_sums, s);
    for (size_t i = 0; begins && i < s->count; i++)
        s->patterns[i].base = s->patterns[i].end;
}

/* Some of those that are about to begin never do. */
struct finishing {
    struct streamed_traffic *s;
    int64_t now_ps;
};

static void see_last(void *context, const struct sim_streamed *flow)
{
    const struct finishing *f = context;
    if (flow->start_ps < f->now_ps)
        count_flow(pattern_of(f->s, flow->name), flow);
}

void streamed_finish(struct streamed_traffic *s, const struct sim *sim)
{
    struct finishing f = {s, sim_now_ps(sim)};
    sim_stream_alive(sim, see_last, &f);
}

/* ---- the list */

void streamed_add(struct streamed_traffic *s, const struct streamed *pattern)
{
    s->patterns = xreallocarray(s->patterns, s->count + 1, sizeof *s->patterns);
    s->patterns[s->count] = *pattern;
    s->patterns[s->count].gone = s->patterns[s->count].base = s->patterns[s->count].end = FLOW_SUMS_NONE;
    s->count++;
    s->stream = (struct sim_stream){rewind_all, next_of_all, count_ended, s};
}

struct streamed *streamed_find(const struct streamed_traffic *s, size_t traffic)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->patterns[i].traffic == traffic)
            return &s->patterns[i];
    return NULL;
}

void streamed_release(struct streamed *p)
{
    free(p->from);
    free(p->to);
    free(p->link_bps);
    free(p->of_sender);
    completions_free(&p->completions);
}

void streamed_free(struct streamed_traffic *s)
{
    for (size_t i = 0; i < s->count; i++)
        streamed_release(&s->patterns[i]);
    free(s->patterns);
}
