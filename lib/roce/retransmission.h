/*
 * When the requester of a reliable connection sends again because no answer comes, and when it gives up: as
 * measured on ConnectX, which waits by other times than the InfiniBand Architecture Specification has them
 * (9.7.6.1.3). A row of the table is a firmware; all of its numbers serve every time-out and retry count.
 * And, at the end, which packets came where they are taken in any order.
 *
 * Includes nothing and calculates in whole nanoseconds, so that a kernel module can use it.
 *
 * Sources (both of unionxic/rdma-fault-characterization): "20.43" is the pair of ConnectX-6 of September and
 * October 2026, whose predictions were frozen before the runs; "16.35" the older pair of a ConnectX-6 with
 * 20.40.1000 and a ConnectX-5 with 16.35.8002, May and June 2026, whose times are averages of few set-ups.
 */
#ifndef LIB_RETRANSMISSION_H
#define LIB_RETRANSMISSION_H

enum {
    RETRANSMISSION_STEPS = 16,      /* room for the published ones, and a 0 at the end */
    RETRANSMISSION_MOST_RETRIES = 7 /* of a queue pair: three bits */
};

/* 4.096 us times 2 to the power of 16: a shorter local ACK timeout counts as this one. */
#define RETRANSMISSION_FLOOR_NS 268435456LL
/* The first step behind those that were published: 4.096 us times 2 to the power of 21. */
#define RETRANSMISSION_NEXT_STEP_US 8589935LL

struct retransmission_times {
    const char *name;
    /* Adaptive retransmission: microseconds from the request, or the last progress, to each resend. The first
     * resend is drawn among the first `entries` of them; with a local ACK timeout above the floor among the
     * first `entries_above_floor`. */
    int ladder_us[RETRANSMISSION_STEPS];
    int entries, entries_above_floor;
    int retries_added; /* to the retry count, up to the most that there are */
    /* Without any retry the NIC acts as with this many, and begins at that entry; 0: it gives up as with
     * `retries_added`. */
    int no_retries_as, no_retries_entry;
    /* Without the floor (min_ack_timeout_limit_disabled), in thousandths of the local ACK timeout: the first
     * time-out is drawn within a range, the others follow at an interval. Does the first one send nothing? */
    int first_least, first_most, interval;
    int first_is_silent;
    int rnr_more_us; /* by which a wait after an RNR NAK is longer than it asks for */
};

enum retransmission_firmware { RETRANSMISSION_20_43, RETRANSMISSION_16_35, RETRANSMISSION_FIRMWARES };

static const struct retransmission_times retransmission_firmware[RETRANSMISSION_FIRMWARES] = {
    /* Times as published. The RNR wait is fitted to 12.77 ms for 6 retries of 0.64 ms, and to 1.5 ms where
     * 0.12 ms were asked for (ConnectX-4, a public report). That few entries are seen above the floor follows
     * from its 16 to 17 frames at a time-out of 20. Without retries it ends near 2.05 s after 7 resends,
     * which nobody has explained: that is what 4 retries do. */
    [RETRANSMISSION_20_43] = {"20.43",
                              {12500, 20900, 37600, 71400, 138400, 239000, 440400, 977200, 1782500, 3930300,
                               8225100, 0},
                              .entries = 4,
                              .entries_above_floor = 2,
                              .no_retries_as = 4,
                              .no_retries_entry = 2,
                              .first_least = 510,
                              .first_most = 1160,
                              .interval = 1000,
                              .first_is_silent = 1,
                              .rnr_more_us = 1430},
    /* The same steps, 12.5 ms earlier, with a retry more, and one and a half time-outs apart without the
     * floor: fitted to what was published for 0, 3 and 7 retries, on and off. The first two resends are
     * fitted to the 8 that were counted. */
    [RETRANSMISSION_16_35] = {"16.35",
                              {2100, 4200, 8400, 25100, 58900, 125900, 226500, 427900, 964700, 1770000,
                               3917800, 8212600, 0},
                              .entries = 1,
                              .entries_above_floor = 1,
                              .retries_added = 1,
                              .first_least = 1130,
                              .first_most = 1190,
                              .interval = 1500,
                              .rnr_more_us = 1430},
};

/* A request without an answer. */
struct retransmission_case {
    long long timeout_ns; /* the nominal local ACK timeout */
    int retries;          /* those that the queue pair has */
    int floor_off;        /* min_ack_timeout_limit_disabled */
    int adaptive_off;     /* roce_adp_retrans_en is 0 */
    unsigned draw;        /* a random number below 65536, the same for all steps of the case */
};

/* What happens when the timer expires. */
struct retransmission {
    long long at_ns; /* after the request, or the last progress */
    int adaptive;    /* counts in roce_adp_retrans; else in local_ack_timeout_err */
    int resends;
    int ends; /* the request has an error; nothing is sent */
};

/* Time of a resend of the adaptive phase; behind the published ones the steps double, as the sums published
 * for long time-outs (detect = retries x interval - 364 ms) have it. */
static inline long long retransmission_ladder_ns(const struct retransmission_times *t, int step)
{
    long long us = 0, next_us = RETRANSMISSION_NEXT_STEP_US;
    int published = 0;
    while (published <= step && t->ladder_us[published])
        us = t->ladder_us[published++];
    for (; published <= step; published++, next_us *= 2)
        us += next_us;
    return us * 1000;
}

/* A step of the ladder is taken while it is not longer than the local ACK timeout. Published steps differ
 * from powers of two by less than a thousandth, which is no difference. */
static inline int retransmission_last_step(const struct retransmission_times *t, long long timeout_ns)
{
    int step = t->entries - 1;
    while (retransmission_ladder_ns(t, step + 1) - retransmission_ladder_ns(t, step) <=
           timeout_ns + (timeout_ns >> 10))
        step++;
    return step;
}

/* Without adaptive retransmission the time of its last resend is a time-out, and the rest is as with it: the
 * older pair took the same 428 and 2038 ms for 0 and 3 retries. */
static inline struct retransmission retransmission_with_floor(const struct retransmission_times *t,
                                                              const struct retransmission_case *c, unsigned k)
{
    long long timeout_ns = c->timeout_ns > RETRANSMISSION_FLOOR_NS ? c->timeout_ns : RETRANSMISSION_FLOOR_NS;
    int as_with_more = !c->retries && t->no_retries_as;
    int retries = as_with_more ? t->no_retries_as : c->retries;
    if (retries <= RETRANSMISSION_MOST_RETRIES) {
        retries += t->retries_added;
        retries = retries < RETRANSMISSION_MOST_RETRIES ? retries : RETRANSMISSION_MOST_RETRIES;
    }
    int entries = timeout_ns > RETRANSMISSION_FLOOR_NS ? t->entries_above_floor : t->entries;
    int entry = as_with_more ? t->no_retries_entry : (int)(c->draw * (unsigned)entries >> 16);
    int last = retransmission_last_step(t, timeout_ns);
    entry = c->adaptive_off ? last : entry;
    unsigned adaptive = (unsigned)(last - entry + 1);
    if (k < adaptive) {
        int ends = k + 1 == adaptive && retries <= 1;
        return (struct retransmission){retransmission_ladder_ns(t, entry + (int)k), !c->adaptive_off, !ends,
                                       ends};
    }
    /* Regular ones: twice the time-out apart, the first a step of the ladder after it where that is less. */
    long long end_ns = retransmission_ladder_ns(t, last), interval_ns = 2 * timeout_ns;
    long long step_ns = retransmission_ladder_ns(t, last + 1) - end_ns;
    unsigned regular = k - adaptive;
    int ends = regular + 2 >= (unsigned)retries;
    return (struct retransmission){end_ns + (step_ns < interval_ns ? step_ns : interval_ns) +
                                       (long long)regular * interval_ns,
                                   0, !ends, ends};
}

static inline struct retransmission retransmission_without_floor(const struct retransmission_times *t,
                                                                 const struct retransmission_case *c,
                                                                 unsigned k)
{
    long long thousandths = t->first_least + ((long long)c->draw * (t->first_most - t->first_least) >> 16) +
                            (long long)k * t->interval;
    int ends = k >= (unsigned)c->retries + (unsigned)t->first_is_silent;
    int silent = k == 0 && t->first_is_silent;
    return (struct retransmission){c->timeout_ns / 1000 * thousandths +
                                       c->timeout_ns % 1000 * thousandths / 1000,
                                   0, !ends && !silent, ends};
}

/* What happens when the timer of a request without an answer expires for the k-th time, from 0 on. */
static inline struct retransmission retransmission_step(const struct retransmission_times *t,
                                                        const struct retransmission_case *c, unsigned k)
{
    return c->floor_off ? retransmission_without_floor(t, c, k) : retransmission_with_floor(t, c, k);
}

/* ---- packets that came before an earlier one: a bit of each, by its PSN, in a window of a power of two of
 * them; `mask` is their number less one */

typedef unsigned long long early_bits;

/* How long one with out-of-order placement waits for a missing packet before it asks for it: not published;
 * the time-out of IRN (Mittal et al., SIGCOMM 2018) for few packets, and the default of nic.reorder_wait. */
#define EARLY_WAIT_NS 100000LL

static inline int early_has(const early_bits *bits, early_bits mask, early_bits psn)
{
    return (int)(bits[(psn & mask) / 64] >> (psn & mask) % 64 & 1);
}

static inline void early_add(early_bits *bits, early_bits mask, early_bits psn)
{
    bits[(psn & mask) / 64] |= (early_bits)1 << (psn & mask) % 64;
}

static inline void early_remove(early_bits *bits, early_bits mask, early_bits psn)
{
    bits[(psn & mask) / 64] &= ~((early_bits)1 << (psn & mask) % 64);
}

/* The packet `psn` is expected: takes those that came from it on, and returns their number. */
static inline early_bits early_take(early_bits *bits, early_bits mask, early_bits psn)
{
    early_bits count = 0;
    for (; early_has(bits, mask, psn + count); count++)
        early_remove(bits, mask, psn + count);
    return count;
}

#endif
