/* One queue pair of a congestion control by itself: ACKs are made by hand. */
#ifndef TESTS_SIM_CONTROL_STEPS_H
#define TESTS_SIM_CONTROL_STEPS_H

#include "sim/congestion/congestion.h"
#include "tests/unit/unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_LINE_BPS INT64_C(100000000000)
#define STEPS_T_PS     (13 * SIM_PS_PER_US)
#define STEPS_BDP      162500 /* bytes in T at the line's rate */

struct steps {
    const struct congestion_control *c;
    void *params, *state;
    struct sim_host_config host;
    struct congestion_ack ack; /* the next one; psn are those of the last */
};

static inline void steps_open(struct steps *s, const char *control)
{
    memset(s, 0, sizeof *s);
    sim_host_defaults(&s->host);
    s->c = sim_congestion_control(control);
    assert_non_null(s->c);
    s->params = calloc(1, s->c->params_bytes);
    s->state = calloc(1, s->c->state_bytes);
    assert_non_null(s->params);
    assert_non_null(s->state);
}

/* After changes of s->host.settings. */
static inline void steps_start(struct steps *s)
{
    s->c->prepare(s->params, &(struct congestion_host){.config = &s->host,
                                                       .line_bps = STEPS_LINE_BPS,
                                                       .base_rtt_ps = STEPS_T_PS,
                                                       .payload_bytes = 1000});
    s->c->start(s->state, s->params);
}

static inline void steps_close(struct steps *s)
{
    free(s->params);
    free(s->state);
}

static inline double steps_gauge(const struct steps *s, size_t gauge)
{
    return s->c->gauges[gauge].read(s->state, s->params, 0);
}

/* The next `packets` are acknowledged, and as many sent that `in_flight` are in flight. Returns the rate. */
static inline double steps_ack(struct steps *s, uint64_t packets, uint64_t in_flight)
{
    s->ack.acked_psn += packets;
    s->ack.next_psn = s->ack.acked_psn + in_flight;
    s->c->acknowledged(s->state, s->params, &s->ack);
    return steps_gauge(s, 0);
}

static inline void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected) + 1))
        fail_msg("%.3f, expected %.3f", value, expected);
}

#endif
