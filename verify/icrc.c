/* ICRCs, where packets were captured to their end (InfiniBand Architecture Specification, annex A17.3.3). */
#include "verify/checker.h"
#include "lib/text.h"

struct icrcs {
    uint64_t judged, wrong, cut;
};

/* So many, and not one is right: a network that damages every packet carries none. */
#define ALL_WRONG_LEAST 16

static void frame(void *state, struct verify_context *c, const struct verify_packet *p)
{
    struct icrcs *s = state;
    if (p->icrc == FRAME_ICRC_CUT)
        s->cut++;
    s->judged += p->icrc == FRAME_ICRC_RIGHT || p->icrc == FRAME_ICRC_WRONG;
    s->wrong += p->icrc == FRAME_ICRC_WRONG;
    if (p->icrc == FRAME_ICRC_WRONG)
        findings_add(c->findings, "wrong ICRC", p->number, p->time_ns,
                     "the ICRC is not that of the packet's bytes: a receiver drops it");
}

static void icrc_end(void *state, struct verify_context *c)
{
    struct icrcs *s = state;
    /* whoever cuts packets does not want them judged: that leaves nothing open */
    (s->cut ? findings_seen : findings_judged)(
        c->findings, flows_seen_again(c->flows) ? "sightings of whole packets" : "whole packets", s->judged);
    c->findings->proves_nothing = s->wrong >= ALL_WRONG_LEAST && s->wrong == s->judged;
    if (c->findings->proves_nothing)
        findings_open(
            c->findings,
            "whether receivers drop %llu packets: not one ICRC is right. Packets were changed after "
            "they were captured (other addresses, as tcprewrite writes), or were captured before the "
            "NIC put it in",
            (unsigned long long)s->wrong);
    if (s->cut)
        findings_not_judged(c->findings, "%llu %s not captured to the end (snap length)",
                            (unsigned long long)s->cut, THINGS(s->cut, "packet"));
}

static bool icrc_needs_times(const void *state, const struct verify_context *c)
{
    (void)state;
    (void)c;
    return false;
}

const struct checker checker_icrc = {.check = CHECK_ICRC,
                                     .about = "ICRCs of whole packets.",
                                     .needs_times = icrc_needs_times,
                                     .state_bytes = sizeof(struct icrcs),
                                     .frame = frame,
                                     .end = icrc_end};
