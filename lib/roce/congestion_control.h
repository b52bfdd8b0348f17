/*
 * The congestion controls that a scenario can name: names, parameters and gauges, as lists. Their structs,
 * tables, settings and columns follow from these lists. To add one, add its lines here, and its file in
 * sim/congestion.
 *
 * Only macros: lib/roce/counters.def is included in the middle of definitions.
 */
#ifndef LIB_CONGESTION_CONTROL_H
#define LIB_CONGESTION_CONTROL_H

/* X(name, is_dcqcn, has_marks): the row of the simulator is congestion_<name>; is_dcqcn: CNPs change its rate
 * by DCQCN's rules. The first is the default. DCQCN's parameters, which NICs have too, are in dcqcn.h. */
#define CONGESTION_CONTROLS(X)   \
    X(dcqcn, true, true)         \
    X(dcqcn_vwin, true, true)    \
    X(hpcc, false, false)        \
    X(dctcp, false, true)        \
    X(timely, false, false)      \
    X(timely_vwin, false, false) \
    X(none, false, false)

#define CONGESTION_CONTROL_NAME(name, is_dcqcn, has_marks) #name,

/* The gauges of a flow, as columns CONTROL_FLOW_GAUGE. G(control, gauge, unit, meaning); read by
 * counters.def, where the first that matches counts: a name that begins with another's comes before it. */
#define CONGESTION_GAUGES(G)                                                                             \
    G(dcqcn_vwin, rate, "b/s",                                                                           \
      "Rate that the reaction point allows the flow: the sum over its queue pairs.")                     \
    G(dcqcn_vwin, alpha, "of 1024", "Alpha of the flow's reaction point.")                               \
    G(dcqcn, rate, "b/s", "Rate that the reaction point allows the flow: the sum over its queue pairs.") \
    G(dcqcn, alpha, "of 1024", "Alpha of the flow's reaction point.")                                    \
    G(hpcc, rate, "b/s", "Rate that HPCC allows the flow: the sum over its queue pairs.")                \
    G(hpcc, utilization, "of 1024",                                                                      \
      "Bytes in flight at the flow's most loaded link, relative "                                        \
      "to its bandwidth-delay product (U).")                                                             \
    G(dctcp, rate, "b/s", "Rate that DCTCP allows the flow: the sum over its queue pairs.")              \
    G(dctcp, alpha, "of 1024", "Average marked share of the flow's packets.")                            \
    G(timely_vwin, rate, "b/s", "Rate that TIMELY allows the flow: the sum over its queue pairs.")       \
    G(timely_vwin, rtt, "ns", "Round-trip time at the flow's last update.")                              \
    G(timely, rate, "b/s", "Rate that TIMELY allows the flow: the sum over its queue pairs.")            \
    G(timely, rtt, "ns", "Round-trip time at the flow's last update.")

#define CONGESTION_MOST_BPS (INT64_C(1) << 46)
#define CONGESTION_MOST_PS  INT64_C(1000000000000)

/* Their parameters: ROW(part, kind, member, key, least, most, meaning). RATE: bits a second; TIME:
 * picoseconds; SHARE: a number; COUNT; SWITCH. Values that a document does not have are unset: the default is
 * known when the link's rate and the network are. Names and defaults are those of the simulator of HPCC's
 * authors (run.py and rdma-hw.cc of alibaba-edu/High-Precision-Congestion-Control), in small letters, without
 * the algorithm's name. */
#define WINDOW_ROWS(ROW, part)                                                                             \
    ROW(part, TIME, base_rtt_ps, "base_rtt", 1000, CONGESTION_MOST_PS,                                     \
        "T: round-trip time on an empty network. The window is T at the rate of the NIC's link. Default: " \
        "the longest among the run's connections.")                                                        \
    ROW(part, SWITCH, var_win, "var_win", 0, 1, "Whether the window falls with the rate. Default: true.")

#define HPCC_ROWS(ROW, part)                                                                              \
    ROW(part, SHARE, u_target, "u_target", 0.01, 1, "Target utilization (eta). Default: 0.95.")           \
    ROW(part, COUNT, mi_thresh, "mi_thresh", 0, 1000000,                                                  \
        "Additive steps in a row before a multiplicative one (maxStage). Default: 5.")                    \
    ROW(part, SWITCH, fast_react, "fast_react", 0, 1,                                                     \
        "Whether every ACK changes the rate, with the reference rate of the last round trip. Default: "   \
        "true.")                                                                                          \
    ROW(part, RATE, rate_ai_bps, "rate_ai", 0, CONGESTION_MOST_BPS,                                       \
        "Additive increase (W_AI as a rate). Default: 10 Mb/s for each 25 Gb/s of the link.")             \
    ROW(part, RATE, min_rate_bps, "min_rate", 1000000, CONGESTION_MOST_BPS,                               \
        "Lowest rate. Default: 100 Mb/s.")                                                                \
    ROW(part, COUNT, int_multi, "int_multi", 0, 1024,                                                     \
        "Unit of the telemetry, in 128 bytes sent and 80 bytes queued; 0: exact. Default: 1 for each 25 " \
        "Gb/s of the link.")

#define DCTCP_ROWS(ROW, part)                                                                         \
    ROW(part, SHARE, ewma_gain, "ewma_gain", 0.0001, 1,                                               \
        "g: weight of the newest round trip in alpha. Default: 0.0625.")                              \
    ROW(part, RATE, rate_ai_bps, "rate_ai", 0, CONGESTION_MOST_BPS,                                   \
        "Increase in a round trip without reduction. Default: one packet in a base round-trip time.") \
    ROW(part, RATE, min_rate_bps, "min_rate", 1000000, CONGESTION_MOST_BPS, "Lowest rate. Default: 100 Mb/s.")

#define TIMELY_ROWS(ROW, part)                                                           \
    ROW(part, SHARE, alpha, "alpha", 0.0001, 1,                                          \
        "Weight of the newest difference of round-trip times. Default: 0.875.")          \
    ROW(part, SHARE, beta, "beta", 0, 1, "Multiplicative decrease. Default: 0.8.")       \
    ROW(part, TIME, t_low_ps, "t_low", 1000, CONGESTION_MOST_PS,                         \
        "Round-trip time below which the rate only increases. Default: 50 us.")          \
    ROW(part, TIME, t_high_ps, "t_high", 1000, CONGESTION_MOST_PS,                       \
        "Round-trip time above which the rate only decreases. Default: 500 us.")         \
    ROW(part, TIME, min_rtt_ps, "min_rtt", 1000, CONGESTION_MOST_PS,                     \
        "Round-trip time by which the gradient is normalised. Default: 20 us.")          \
    ROW(part, RATE, rate_ai_bps, "rate_ai", 0, CONGESTION_MOST_BPS,                      \
        "Additive increase (delta). Default: 10 Mb/s for each 10 Gb/s of the link.")     \
    ROW(part, RATE, rate_hai_bps, "rate_hai", 0, CONGESTION_MOST_BPS,                    \
        "Additive increase after five in a row. Default: five times rate_ai's default.") \
    ROW(part, RATE, min_rate_bps, "min_rate", 1000000, CONGESTION_MOST_BPS, "Lowest rate. Default: 100 Mb/s.")

/* The groups of parameters, each under its name in settings: PART(with, name, its rows, what checks the
 * values together or NULL, text of its table, text of its setting). `with` is handed on. */
#define CONGESTION_PARTS(PART, with)                                                                       \
    PART(with, window, WINDOW_ROWS, NULL,                                                                  \
         "The window of the simulated congestion controls dcqcn_vwin, hpcc, dctcp and timely_vwin.",       \
         "Window of simulated congestion controls.")                                                       \
    PART(with, hpcc, HPCC_ROWS, NULL, "HPCC, simulated only (Li et al., SIGCOMM 2019).",                   \
         "HPCC parameters; simulated labs only.")                                                          \
    PART(with, dctcp, DCTCP_ROWS, NULL, "DCTCP as rates, simulated only (Alizadeh et al., SIGCOMM 2010).", \
         "DCTCP parameters; simulated labs only.")                                                         \
    PART(with, timely, TIMELY_ROWS, check_timely, "TIMELY, simulated only (Mittal et al., SIGCOMM 2015).", \
         "TIMELY parameters; simulated labs only.")

#endif
