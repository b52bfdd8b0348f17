/*
 * DCQCN's reaction point, at the port of the sender: what a queue pair puts on the wire against the rate
 * machine of the simulator (sim/congestion/dcqcn.h), which gets the same CNPs. A queue pair may send less, as
 * it may have nothing to send or be paused; it may not send more.
 */
#include "verify/checker.h"

#include "lib/packets/opcode.h"
#include "sim/congestion/dcqcn.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

#define KIND_FASTER "faster than the rate machine"
/* What a NIC may have taken from its limiter before a CNP or a pause came, and sends at the line's rate
 * later. */
#define AHEAD_BYTES    131072
#define AHEAD_FRAMES   32
#define NEAR_STAGES    2 /* of bytes */
#define NEAR_PS        (10 * SIM_PS_PER_US)
#define LEAST_COMPARED 100 /* packets of a queue pair whose rate is compared with the machine's */
#define LEAST_FIRST    5   /* packets before the first CNP, which tell from which rate that cuts: */
#define NEAR_LINE      0.8 /* that of the line, if they have this part of it */
#define LIKELY         1.01 /* times what the likely machine allows: more shows that it is not the queue pair's */
#define SETTLED                                                                                 \
    300 /* intervals of alpha since the first CNP after which the machine is no longer too fast \
           \ */
#define ABOVE_LINE 1.2       /* times its rate, which no port sends: what host's clocks add is less */
#define STALE_NS   100000000 /* after this time without a packet its rate is taken for that of the line */

/* A queue pair that sends. */
struct sender {
    bool begun;
    bool notified;  /* it got a CNP: before, its rate is not known, and that of the line is taken */
    bool from_line; /* until then it had the line's rate, with which the machine begins */
    int64_t start_ns, last_ns;
    int64_t first_bytes, first_packets; /* sent until then */
    double ahead_bytes;                 /* what it has sent more than the machine allows, not below 0 */
    uint64_t since_number;              /* the last packet with nothing ahead, and what was sent since */
    int64_t since_ns, since_bytes;
    uint32_t longest_bytes, last_bytes;
    struct dcqcn machine;
    struct dcqcn likely;  /* the same without doubt: not an upper bound */
    int64_t settled_ns;   /* since then neither shows any more how the capture began */
    double allowed_bytes; /* by the likely machine since its last packet, */
    double bound_bytes;   /* and by the machine */
    bool under_way;       /* its message goes on after that packet */
    uint64_t port_frames; /* that the port had sent with it, */
    uint64_t port_pauses; /* and been paused by */
    /* bytes while nothing but the machine is known to have held it back, and what both allowed */
    double clear_sent, clear_allowed, clear_bound;
    uint64_t clear_packets;
};

/* A port that sends. */
struct line {
    int64_t rate_bps;
    struct dcqcn_params params;
    uint64_t frames, pauses[FRAME_PRIORITIES];
    int64_t paused_until_ns[FRAME_PRIORITIES];
};

struct senders {
    struct states senders; /* by the data's flow */
    struct states lines;   /* struct line, by interface */
    struct states untied;  /* of CNPs, as flows_note_untied has it */
    uint64_t judged, cnps, on, off, unset, unrated, elsewhere;
    double above_bps; /* the most that a queue pair sent above the rate of its line, */
    int64_t line_bps; /* which is said to be this; 0: none did */
};

/* ---- settings */

/* Does the reaction point work on this priority? -1: not known. */
static int is_on(const struct verify_context *c, int priority)
{
    const struct settings *s = &c->settings->settings;
    if (!congestion_control_is_dcqcn(s->congestion_control))
        return 0;
    const struct list_of *list = s->ecn_rp.items ? &s->ecn_rp : &s->ecn;
    return !list->items   ? -1
           : !list->count ? 0
           : priority < 0 ? -1
                          : verify_settings_lists(list, priority, false);
}

static const struct dcqcn_params *params_of(struct senders *s, const struct verify_context *c,
                                            uint32_t interface)
{
    struct line *line = states_at(&s->lines, interface, sizeof *line);
    if (!line || c->rate_bps <= 0)
        return NULL;
    if (line->rate_bps != c->rate_bps) {
        struct dcqcn_values values;
        dcqcn_defaults(&values);
        dcqcn_merge(&values, &c->settings->settings.dcqcn);
        if (c->settings->byte_reset_bytes != FIELD_UNSET)
            values.rp.rpg_byte_reset = c->settings->byte_reset_bytes;
        dcqcn_params_init(&line->params, &values.rp, c->rate_bps);
        line->params.first_bps = 0; /* as with alpha, it may not be the first CNP */
        line->rate_bps = c->rate_bps;
    }
    return &line->params;
}

/* ---- the machine */

static void sender_begin(struct sender *s, const struct dcqcn_params *params, const struct verify_packet *p)
{
    *s = (struct sender){.begun = true,
                         .start_ns = p->time_ns,
                         .last_ns = p->time_ns,
                         .since_ns = p->time_ns,
                         .since_number = p->number};
    dcqcn_init(&s->machine, params);
    s->likely = s->machine;
}

/* The ticks of one instant. A decrease also sets the target down if a stage was reached since the last one.
 * Where that hangs on a few packets or microseconds, which the NIC may have counted otherwise, the higher
 * target stays. */
static void run_ticks(struct dcqcn *d, const struct dcqcn_params *params, int64_t at_ps)
{
    struct dcqcn before = *d;
    bool near = before.byte_stage <= NEAR_STAGES &&
                (before.timer_stage == 0 || (before.timer_stage == 1 && before.increase_tick_ps - at_ps >
                                                                            params->increase_ps - NEAR_PS));
    dcqcn_run_ticks(d, params, at_ps);
    if (d->decreases != before.decreases && near && before.target_bps > d->target_bps)
        d->target_bps = before.target_bps;
}

typedef void ticks(struct dcqcn *d, const struct dcqcn_params *params, int64_t at_ps);

/* The machine's time goes on. Returns the bytes that it allows until then. */
static double run(struct dcqcn *d, const struct dcqcn_params *params, int64_t at_ps, int64_t until_ps,
                  ticks *turn)
{
    double bytes = 0;
    while (d->next_ps <= until_ps) {
        int64_t next_ps = d->next_ps > at_ps ? d->next_ps : at_ps;
        bytes += d->rate_bps * (double)(next_ps - at_ps) / 8e12;
        turn(d, params, next_ps);
        at_ps = next_ps;
    }
    return bytes + d->rate_bps * (double)(until_ps - at_ps) / 8e12;
}

/* The machines' time goes on to the packet's, and what is ahead becomes less by what they allow. */
static void advance(struct sender *s, const struct dcqcn_params *params, const struct verify_packet *p)
{
    if (!s->begun || p->time_ns < s->last_ns || p->time_ns - s->last_ns > STALE_NS)
        sender_begin(s, params, p);
    int64_t at_ps = (s->last_ns - s->start_ns) * SIM_PS_PER_NS;
    int64_t now_ps = (p->time_ns - s->start_ns) * SIM_PS_PER_NS;
    double bound_bytes = run(&s->machine, params, at_ps, now_ps, run_ticks);
    s->ahead_bytes -= bound_bytes;
    s->bound_bytes += bound_bytes;
    s->allowed_bytes += run(&s->likely, params, at_ps, now_ps, dcqcn_run_ticks);
    s->last_ns = p->time_ns;
    if (s->ahead_bytes > 0)
        return;
    s->ahead_bytes = 0;
    s->since_number = p->number;
    s->since_ns = p->time_ns;
    s->since_bytes = 0;
}

/* What it has sent since its last packet beside what the machine allows, where its message went on, its port
 * sent nothing else, and its priority was not paused. */
static void compare(struct senders *all, struct sender *s, const struct verify_packet *p, uint32_t bytes)
{
    const struct line *line = states_have(&all->lines, p->interface, sizeof *line);
    bool clear = s->under_way && s->notified && p->time_ns >= s->settled_ns &&
                 line->frames == s->port_frames + 1 && line->pauses[p->priority] == s->port_pauses;
    if (clear) {
        s->clear_sent += s->last_bytes;
        s->clear_allowed += s->allowed_bytes;
        s->clear_bound += s->bound_bytes;
        s->clear_packets++;
    }
    s->allowed_bytes = s->bound_bytes = 0;
    s->last_bytes = bytes;
    s->under_way = !opcode_rows[OPCODE_OPERATION(p->frame.roce.bth.opcode)].last &&
                   p->time_ns >= line->paused_until_ns[p->priority];
    s->port_frames = line->frames;
    s->port_pauses = line->pauses[p->priority];
}

/* The port sends any frame, or is paused. */
static void seen(struct senders *s, const struct verify_context *c, const struct verify_packet *p)
{
    struct line *line = states_at(&s->lines, p->interface, sizeof *line);
    if (!line)
        return;
    line->frames += p->direction == CAPTURE_OUTBOUND;
    if (p->frame.kind != FRAME_PFC || p->direction != CAPTURE_INBOUND || c->rate_bps <= 0 || p->time_ns < 0)
        return;
    for (unsigned int i = 0; i < FRAME_PRIORITIES; i++) {
        if (!(p->frame.pfc.priorities >> i & 1))
            continue;
        int64_t bits = (int64_t)p->frame.pfc.quanta[i] * FRAME_QUANTUM_BITS;
        line->pauses[i]++;
        line->paused_until_ns[i] = p->time_ns + (int64_t)((double)bits * 1e9 / (double)c->rate_bps);
    }
}

static void sent(struct senders *all, struct sender *s, const struct dcqcn_params *params,
                 struct verify_context *c, const struct verify_packet *p)
{
    advance(s, params, p);
    uint32_t bytes = p->bytes + FRAME_FCS_BYTES;
    compare(all, s, p, bytes);
    s->longest_bytes = bytes > s->longest_bytes ? bytes : s->longest_bytes;
    dcqcn_sent(&s->machine, params, bytes);
    dcqcn_sent(&s->likely, params, bytes);
    s->ahead_bytes += bytes;
    s->since_bytes += bytes;
    s->first_bytes += s->notified ? 0 : bytes;
    s->first_packets += !s->notified;
    all->judged += s->notified;
    if (!s->notified || s->ahead_bytes <= AHEAD_BYTES + (double)AHEAD_FRAMES * s->longest_bytes)
        return;
    double us = (double)(p->time_ns - s->since_ns) / 1e3;
    double bps = us > 0 ? (double)s->since_bytes * 8e6 / us : 0;
    if (bps > (double)c->rate_bps * ABOVE_LINE && bps > all->above_bps) {
        all->above_bps = bps;
        all->line_bps = c->rate_bps;
    } else if (bps <= (double)c->rate_bps * ABOVE_LINE) {
        findings_add(c->findings, KIND_FASTER, p->number, p->time_ns,
                     "%.0f bytes more than the rate machine allows since packet %llu: %.3f Gb/s on the wire "
                     "for %.1f us, the machine is at %.3f Gb/s now",
                     s->ahead_bytes, (unsigned long long)s->since_number, bps / 1e9, us,
                     s->machine.rate_bps / 1e9);
    }
    s->ahead_bytes = 0;
    s->since_bytes = 0;
    s->since_ns = p->time_ns;
    s->since_number = p->number;
}

static void notified(struct senders *all, struct verify_context *c, const struct verify_packet *p)
{
    uint32_t of = c->flows->flows[p->flow].partner;
    struct sender *s = of == FLOW_NONE ? NULL : states_have(&all->senders, of, sizeof *s);
    const struct dcqcn_params *params = params_of(all, c, p->interface);
    all->cnps++;
    all->unrated += !params;
    if (!s || !s->begun || !params) {
        if (of == FLOW_NONE)
            flows_note_untied(&all->untied, p->flow);
        return;
    }
    advance(s, params, p);
    bool first = s->machine.alpha_tick_ps == SIM_FOREVER;
    dcqcn_cnp(&s->machine, params, (p->time_ns - s->start_ns) * SIM_PS_PER_NS);
    dcqcn_cnp(&s->likely, params, (p->time_ns - s->start_ns) * SIM_PS_PER_NS);
    if (first)
        s->machine.alpha =
            0; /* there may have been CNPs before the capture: then alpha is not its initial value */
    if (!s->notified) {
        double line_bytes = (double)c->rate_bps * (double)(p->time_ns - s->start_ns) / 8e9;
        s->from_line = s->first_packets >= LEAST_FIRST && (double)s->first_bytes > NEAR_LINE * line_bytes;
        s->settled_ns = p->time_ns + SETTLED * params->alpha_ps / SIM_PS_PER_NS;
    }
    s->notified = true;
}

/* ---- the stream */

static void frame(void *state, struct verify_context *c, const struct verify_packet *p)
{
    struct senders *s = state;
    seen(s, c, p);
    if (p->frame.kind != FRAME_ROCE || p->flow == FLOW_NONE || p->time_ns < 0)
        return;
    const struct frame_roce *roce = &p->frame.roce;
    if (p->received_here && roce->bth.becn) {
        notified(s, c, p);
        return;
    }
    s->elsewhere += roce->bth.becn && !p->sent_here;
    if (!p->sent_here || !roce->payload_bytes)
        return;
    int on = is_on(c, p->priority);
    s->on += on > 0;
    s->off += on == 0;
    s->unset += on < 0;
    if (on <= 0)
        return;
    const struct dcqcn_params *params = params_of(s, c, p->interface);
    struct sender *of = states_at(&s->senders, p->flow, sizeof *of);
    if (of && params)
        sent(s, of, params, c, p);
}

/* By how much queue pairs stay below the machine. Not those that go further ahead of it in the middle of
 * messages than is allowed altogether, whatever their rate was before the capture: they send in bursts, and
 * wait between messages, where it is not known what else they wait for. Nor those of which that rate still
 * shows: they sent more than the likely machine allows. */
static void tell_slower(const struct senders *s, struct verify_context *c)
{
    double sent = 0, allowed = 0, least = 1e9;
    uint64_t bursts = 0, unknown = 0;
    for (uint32_t i = 0; i < s->senders.count; i++) {
        const struct sender *of = states_have(&s->senders, i, sizeof *of);
        if (of->clear_packets < LEAST_COMPARED || of->clear_allowed <= 0)
            continue;
        double ahead = AHEAD_BYTES + (double)AHEAD_FRAMES * of->longest_bytes;
        if (of->clear_sent - of->clear_bound > ahead) {
            bursts++;
            continue;
        }
        if (!of->from_line || of->clear_sent > LIKELY * of->clear_allowed) {
            unknown++;
            continue;
        }
        sent += of->clear_sent;
        allowed += of->clear_allowed;
        least = of->clear_sent / of->clear_allowed < least ? of->clear_sent / of->clear_allowed : least;
    }
    if (allowed > 0)
        findings_figure(
            c->findings,
            "in the middle of messages, alone on their port and not paused, queue pairs sent %.1f %% of "
            "the machine's rate, at least %.1f %%; up to %d KiB and %d frames ahead of it are allowed",
            sent / allowed * 100, least * 100, AHEAD_BYTES / 1024, AHEAD_FRAMES);
    if (bursts)
        findings_figure(c->findings,
                        "%llu %s in bursts, faster than the machine in the middle of messages: by how much "
                        "they are slower does not show",
                        (unsigned long long)bursts, bursts == 1 ? "queue pair sent" : "queue pairs sent");
    if (unknown)
        findings_figure(c->findings,
                        "by how much %llu %s slower than the machine is not known: the first CNP of the "
                        "capture does not cut "
                        "the line's rate, as if others came before it",
                        (unsigned long long)unknown, unknown == 1 ? "queue pair is" : "queue pairs are");
}

static void dcqcn_end(void *state, struct verify_context *c)
{
    struct senders *s = state;
    findings_judged(c->findings, "packets of queue pairs with CNPs", s->judged);
    findings_seen(c->findings, "CNPs and answers with BECN", s->cnps);
    if (s->cnps && s->unset)
        findings_open(c->findings,
                      "%llu %s of which it is not known whether DCQCN holds for them (ecn, trust)",
                      (unsigned long long)s->unset, THINGS(s->unset, "packet"));
    if (s->cnps && s->off)
        findings_not_judged(c->findings, "%llu %s without DCQCN (ecn, congestion_control)",
                            (unsigned long long)s->off, THINGS(s->off, "packet"));
    if (s->line_bps)
        findings_open(c->findings,
                      "a queue pair sent %.3f Gb/s on a link of %.3f Gb/s: that is not the link's rate "
                      "(link_rate), or the times are not those of the wire (times)",
                      s->above_bps / 1e9, (double)s->line_bps / 1e9);
    if (s->unrated)
        findings_open(c->findings, "CNPs on links whose rate is not known (link_rate)");
    uint64_t alone, untied = flows_count_untied(c->flows, &s->untied, &alone);
    if (s->on && !s->cnps)
        findings_not_judged(c->findings,
                            "the rate of %llu %s: no CNP to a sender is in the capture. Nothing was "
                            "congested, or the other direction is missing",
                            (unsigned long long)s->on, THINGS(s->on, "packet"));
    if (alone)
        findings_open(c->findings, "%llu %s: what the queue pairs send is not in the capture",
                      (unsigned long long)alone, THINGS(alone, "CNP"));
    if (untied)
        findings_open(c->findings, "%llu %s whose queue pair is not known", (unsigned long long)untied,
                      THINGS(untied, "CNP"));
    if (s->elsewhere && !s->cnps)
        findings_open(
            c->findings,
            "%llu %s to hosts that are not at the port of the capture (hosts: whose ports these are)",
            (unsigned long long)s->elsewhere, THINGS(s->elsewhere, "CNP"));
    if (!s->judged)
        return;
    findings_not_judged(c->findings,
                        "whether queue pairs are slower than the machine: other things may hold them back");
    tell_slower(s, c);
}

static void release(void *state)
{
    struct senders *s = state;
    free(s->senders.items);
    free(s->lines.items);
    free(s->untied.items);
}

const struct checker checker_dcqcn = {
    .check = CHECK_DCQCN,
    .about = "The rate on the wire against DCQCN's rate machine with the same CNPs.",
    .state_bytes = sizeof(struct senders),
    .frame = frame,
    .end = dcqcn_end,
    .free = release,
};
