/*
 * Measures a sending engine and makes its lines: warm-up, intervals, a window, a summary. Rates use the real
 * time between two readings of the counters.
 */
#ifndef TRAFFIC_METER_H
#define TRAFFIC_METER_H

#include "lib/statistics/histogram.h"
#include "traffic/engine/engine.h"
#include <jansson.h>

struct meter_look {
    int64_t time_ns; /* CLOCK_MONOTONIC */
    int64_t cpu_ns;
    uint64_t messages;
};

struct meter {
    const char *flow;
    struct engine *engine;
    int64_t warmup_end_ns, end_ns, next_ns, interval_ns; /* CLOCK_MONOTONIC; end 0: open-ended */
    int64_t moved_ns; /* end of the last interval with messages; before there is one, when the window began */
    bool measuring, done;
    struct meter_look begin, last, end;
    struct histogram latest, total;
};

#define METER_NEVER INT64_MAX

/* Begin now. A warm-up of 0: none; a duration of 0: open-ended. */
void meter_start(struct meter *meter, struct engine *engine, const char *flow, int64_t now_ns,
                 int64_t warmup_ns, int64_t duration_ns, int64_t interval_ns);
/* When meter_tick is next needed. */
int64_t meter_deadline(const struct meter *meter);
/* Update the meter; returns an interval line to print, or NULL. Sets done at the end of the window. */
json_t *meter_tick(struct meter *meter, int64_t now_ns);
/* Close the window now if it is open; if the target was reached, the window ends at that time. Returns the
 * last interval's line, or NULL: the intervals add up to the summary. */
json_t *meter_finish(struct meter *meter, int64_t now_ns);
/* For how long at least no message was completed; -1: some were in the interval that has begun. */
int64_t meter_silent_ns(const struct meter *meter, int64_t now_ns);
/* The summary of the window. */
json_t *meter_summary(const struct meter *meter, bool complete, int64_t errors);

#endif
