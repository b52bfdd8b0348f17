/*
 * The Linux kernel's RED, in its own integer arithmetic (linux include/net/red.h, net/sched/sch_red.c), with
 * the parameters that tc derives (lib/roce/red.h). Floyd and Jacobson, "Random
 * Early Detection Gateways for Congestion Avoidance", 1993.
 */
#ifndef SIM_RED_H
#define SIM_RED_H

#include "lib/roce/red.h"
#include "lib/random.h"
#include <stdbool.h>
#include <stdint.h>

enum red_verdict { RED_PASS, RED_MARK, RED_DROP };

struct red {
    /* parameters as tc hands them over */
    struct red_derived derived;
    uint32_t threshold_min, threshold_max; /* << wlog */
    uint32_t random_divisor;               /* max_P / (max - min), max_P as a fraction of 2^32 */
    uint32_t cell_max_us;
    bool ecn;
    int64_t limit_bytes;
    /* variables */
    uint64_t average; /* << wlog */
    int32_t count;    /* packets since the last random number was drawn */
    uint32_t random;
    int64_t idle_since_ps; /* -1: not idle */
    /* statistics: tc shows early = prob_drop + forced_drop, marked = prob_mark + forced_mark, pdrop */
    uint64_t prob_mark, forced_mark, prob_drop, forced_drop, pdrop;
};

/* -1 with a sentence when the parameters do not fit each other or the kernel's arithmetic. */
int red_init(struct red *r, const struct settings_red *config, struct error *e);
/* A packet of `bytes` arrives at a queue that holds backlog_bytes. */
enum red_verdict red_enqueue(struct red *r, struct random *random, int64_t now_ps, int64_t backlog_bytes,
                             int64_t packet_bytes, bool ecn_capable);
/* The device asked for a packet and there was none. */
void red_idle(struct red *r, int64_t now_ps);

#endif
