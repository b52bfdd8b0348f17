/*
 * The parameters of the congestion controls that exist only in the simulator, a row each: settings documents and the simulator use
 * these rows. DCQCN's are in dcqcn.h. To add one, add a row; its file in sim/congestion uses it.
 *
 * Names and defaults are those of the simulator of HPCC's authors (alibaba-edu/High-Precision-Congestion-Control: run.py and
 * rdma-hw.cc), in small letters, without the algorithm's name.
 */
#ifndef LIB_CONGESTION_VALUES_H
#define LIB_CONGESTION_VALUES_H

#include "lib/document/table.h"

#define CONGESTION_MOST_BPS (INT64_C(1) << 46)
#define CONGESTION_MOST_PS  INT64_C(1000000000000)

/* ROW(kind, member, key, least, most, meaning). RATE: bits a second; TIME: picoseconds; SHARE: a number; COUNT; SWITCH. Values that a
 * document does not have are unset: the default is known when the link's rate and the network are. */
#define WINDOW_ROWS(ROW)                                                                                   \
    ROW(TIME, base_rtt_ps, "base_rtt", 1000, CONGESTION_MOST_PS,                                           \
        "T: round-trip time on an empty network. The window is T at the rate of the NIC's link. Default: " \
        "the longest among the run's connections.")                                                        \
    ROW(SWITCH, var_win, "var_win", 0, 1, "Whether the window falls with the rate. Default: true.")

#define HPCC_ROWS(ROW)                                                                                    \
    ROW(SHARE, u_target, "u_target", 0.01, 1, "Target utilization (eta). Default: 0.95.")                 \
    ROW(COUNT, mi_thresh, "mi_thresh", 0, 1000000,                                                        \
        "Additive steps in a row before a multiplicative one (maxStage). Default: 5.")                    \
    ROW(SWITCH, fast_react, "fast_react", 0, 1,                                                           \
        "Whether every ACK changes the rate, with the reference rate of the last round trip. Default: "   \
        "true.")                                                                                          \
    ROW(RATE, rate_ai_bps, "rate_ai", 0, CONGESTION_MOST_BPS,                                             \
        "Additive increase (W_AI as a rate). Default: 10 Mb/s for each 25 Gb/s of the link.")             \
    ROW(RATE, min_rate_bps, "min_rate", 1000000, CONGESTION_MOST_BPS, "Lowest rate. Default: 100 Mb/s.")  \
    ROW(COUNT, int_multi, "int_multi", 0, 1024,                                                           \
        "Unit of the telemetry, in 128 bytes sent and 80 bytes queued; 0: exact. Default: 1 for each 25 " \
        "Gb/s of the link.")

#define DCTCP_ROWS(ROW)                                                                               \
    ROW(SHARE, ewma_gain, "ewma_gain", 0.0001, 1,                                                     \
        "g: weight of the newest round trip in alpha. Default: 0.0625.")                              \
    ROW(RATE, rate_ai_bps, "rate_ai", 0, CONGESTION_MOST_BPS,                                         \
        "Increase in a round trip without reduction. Default: one packet in a base round-trip time.") \
    ROW(RATE, min_rate_bps, "min_rate", 1000000, CONGESTION_MOST_BPS, "Lowest rate. Default: 100 Mb/s.")

#define TIMELY_ROWS(ROW)                                                                 \
    ROW(SHARE, alpha, "alpha", 0.0001, 1,                                                \
        "Weight of the newest difference of round-trip times. Default: 0.875.")          \
    ROW(SHARE, beta, "beta", 0, 1, "Multiplicative decrease. Default: 0.8.")             \
    ROW(TIME, t_low_ps, "t_low", 1000, CONGESTION_MOST_PS,                               \
        "Round-trip time below which the rate only increases. Default: 50 us.")          \
    ROW(TIME, t_high_ps, "t_high", 1000, CONGESTION_MOST_PS,                             \
        "Round-trip time above which the rate only decreases. Default: 500 us.")         \
    ROW(TIME, min_rtt_ps, "min_rtt", 1000, CONGESTION_MOST_PS,                           \
        "Round-trip time by which the gradient is normalised. Default: 20 us.")          \
    ROW(RATE, rate_ai_bps, "rate_ai", 0, CONGESTION_MOST_BPS,                            \
        "Additive increase (delta). Default: 10 Mb/s for each 10 Gb/s of the link.")     \
    ROW(RATE, rate_hai_bps, "rate_hai", 0, CONGESTION_MOST_BPS,                          \
        "Additive increase after five in a row. Default: five times rate_ai's default.") \
    ROW(RATE, min_rate_bps, "min_rate", 1000000, CONGESTION_MOST_BPS, "Lowest rate. Default: 100 Mb/s.")

#define CONGESTION_MEMBER_RATE(member)            int64_t member;
#define CONGESTION_MEMBER_TIME(member)            int64_t member;
#define CONGESTION_MEMBER_COUNT(member)           int64_t member;
#define CONGESTION_MEMBER_SHARE(member)           double member;
#define CONGESTION_MEMBER_SWITCH(member)          int member;
#define CONGESTION_MEMBER(kind, member, key, ...) CONGESTION_MEMBER_##kind(member)
struct window_values {
    WINDOW_ROWS(CONGESTION_MEMBER)
};
struct hpcc_values {
    HPCC_ROWS(CONGESTION_MEMBER)
};
struct dctcp_values {
    DCTCP_ROWS(CONGESTION_MEMBER)
};
struct timely_values {
    TIMELY_ROWS(CONGESTION_MEMBER)
};
extern const struct table window_table, hpcc_table, dctcp_table, timely_table;

/* All of them: what a host has. */
struct congestion_values {
    struct window_values window;
    struct hpcc_values hpcc;
    struct dctcp_values dctcp;
    struct timely_values timely;
};
extern const struct table congestion_table;

/* All unset. */
void congestion_values_clear(struct congestion_values *values);
/* Copy all values of one of the tables that are set in `from`. */
void congestion_values_merge(const struct table *table, void *to, const void *from);
/* The document of the values that are set; NULL: none is. A new reference. */
json_t *congestion_values_json(const struct table *table, const void *values);

#endif
