#include "verify/clocks.h"

#include "lib/units.h"
#include "lib/text.h"
#include <math.h>
#include <string.h>

/* The first packets of an interface all have one time: the clock stands still if they are more than fit into
 * its unit (84 bytes each at 1 Tb/s, as bursts of hosts are), or all of a capture. */
#define ALIKE           4
#define ALIKE_TWO_UNITS 3 /* for each two nanoseconds of it */
#define ALIKE_MOST      64
#define CHANCE_BITS     20 /* good times are multiples of a coarse unit by chance in one of 2^20 captures */

#define ETHERNET_SOURCE 6 /* where an address begins in a frame */

static int64_t greatest_common(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void clock_note_order(struct clock *c, int64_t since_ns, uint64_t number)
{
    if (since_ns < 0 && !c->late) {
        c->late = number;
        c->late_of = c->packets;
    } else if (since_ns >= 0 && c->late) {
        if (!c->disordered && c->packets - c->late_of <= CLOCK_LATE_PACKETS)
            c->disordered = c->late;
        c->late = 0;
    }
}

void clock_take(struct clock *c, const struct capture_interface *i, const struct capture_packet *p)
{
    if (!p->timed)
        return;
    const uint8_t *sender =
        p->captured >= ETHERNET_SOURCE + sizeof c->sender ? p->bytes + ETHERNET_SOURCE : NULL;
    int64_t since_ns = c->packets ? p->time_ns - c->last_ns : 0;
    if (c->packets++ == 0) {
        c->first_ns = p->time_ns;
        c->unit_ns = capture_unit_ns(i);
    } else if (c->packets <= CLOCK_PACKETS) {
        int64_t away_ns = p->time_ns - c->first_ns;
        c->common_ns = greatest_common(c->common_ns, away_ns < 0 ? -away_ns : away_ns);
        c->changes += since_ns != 0;
        c->twice = c->twice || (since_ns == 0 && sender && memcmp(c->sender, sender, sizeof c->sender) == 0);
    }
    if (since_ns < -CLOCK_MOST_OFF_NS && !c->back) {
        c->back = p->number;
        c->back_by_ns = -since_ns;
    }
    clock_note_order(c, since_ns, p->number);
    c->last_ns = since_ns < 0 ? c->last_ns : p->time_ns;
    if (sender)
        memcpy(c->sender, sender, sizeof c->sender);
}

/* Do the packets show that the clock stands still, or goes in steps that are coarser than what is judged? */
static bool clock_stands(const struct clock *c, bool whole)
{
    if (!c->common_ns)
        return c->packets >= ALIKE && (whole || c->packets >= ALIKE_MOST ||
                                       (int64_t)c->packets >= ALIKE + c->unit_ns * ALIKE_TWO_UNITS / 2);
    return c->twice && c->common_ns > CLOCK_MOST_OFF_NS &&
           c->changes * log2((double)c->common_ns / (double)c->unit_ns) >= CHANCE_BITS;
}

int64_t clock_judge(struct clock *c, const struct capture_packet *p, bool whole)
{
    bool good = p->timed && c->unit_ns <= CLOCK_MOST_OFF_NS && !(c->back && p->number >= c->back) &&
                !clock_stands(c, whole);
    c->beyond += p->beyond;
    c->untimed += !good;
    if (good && p->time_ns > c->end_ns)
        c->end_ns = p->time_ns;
    return good ? p->time_ns : -1;
}

void clock_say(const struct clock *c, const struct capture_interface *i, uint32_t interface, struct text *out)
{
    char unit[40];
    if (!c->untimed)
        return;
    text_add(out, "times of %llu %s of interface %u%s%s%s: ", (unsigned long long)c->untimed,
             THINGS(c->untimed, "packet"), interface, i->name[0] ? " (" : "", i->name, i->name[0] ? ")" : "");
    if (c->beyond)
        text_add(out, "they are not from 1970 to 2116, or their fractions are above a second (if_tsoffset, "
                      "if_tsresol, the magic number of a pcap)");
    else if (!c->packets)
        text_add(out, "they have none");
    else if (c->unit_ns > CLOCK_MOST_OFF_NS)
        text_add(out, "they are in units of %s, and what is judged needs 1us",
                 units_write(UNIT_TIME_NS, c->unit_ns, UNITS_ANY, unit, sizeof unit));
    else if (c->back)
        text_add(
            out,
            "packet %llu is %.3f us before one that came earlier. The clock was set back, or the file is "
            "not in the order of time",
            (unsigned long long)c->back, (double)c->back_by_ns / 1e3);
    else if (!c->common_ns)
        text_add(out, "all are the same");
    else
        text_add(out, "they come in steps of %s, and what is judged needs 1us",
                 units_write(UNIT_TIME_NS, c->common_ns, UNITS_ANY, unit, sizeof unit));
}
