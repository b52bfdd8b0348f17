/*
 * The parameters of DCQCN in mlx5, one row each: settings documents, nic-config, nic-sampler, host-facts, the
 * simulator and docs/settings.md use these rows. To add a parameter, add a row; if the simulator models it,
 * also use it in sim/congestion/dcqcn.c.
 *
 * Names, units and defaults are NVIDIA's (DCQCN parameters of ConnectX-4 and later); so are the ranges: the
 * fields of the firmware interface are wider, 32 bits but for DSCP and priority of CNPs (linux
 * include/linux/mlx5/mlx5_ifc.h, cong_control_r_roce_ecn_rp and _np); files are MLNX_OFED's below
 * /sys/class/net/INTERFACE/ecn/, and upstream's below /sys/kernel/debug/mlx5/PCI/cc_params/ (linux
 * drivers/infiniband/hw/mlx5/cong.c), where MLNX_OFED has them too. NULL: no such file.
 */
#ifndef LIB_DCQCN_H
#define LIB_DCQCN_H

#include "lib/document/table.h"

#define DCQCN_BITS(n) ((INT64_C(1) << (n)) - 1)

/* Reaction point, the sender's side. ROW(kind, name, MLNX_OFED's file, upstream's file, least, most, default,
 * unit, simulated, meaning); written in this order. */
#define DCQCN_RP_ROWS(ROW)                                                                                 \
    ROW(BOOL, clamp_tgt_rate, "roce_rp/clamp_tgt_rate", "rp_clamp_tgt_rate", 0, 1, 0, "", true,            \
        "Reduce the target rate at every CNP.")                                                            \
    ROW(BOOL, clamp_tgt_rate_after_time_inc, "roce_rp/clamp_tgt_rate_after_time_inc",                      \
        "rp_clamp_tgt_rate_ati", 0, 1, 1, "", true,                                                        \
        "Reduce the target rate also if the timer has increased the rate since.")                          \
    ROW(INTEGER, rpg_time_reset, "roce_rp/rpg_time_reset", "rp_time_reset", 0, DCQCN_BITS(17), 300, "us",  \
        true, "Time between rate increases, in microseconds.")                                             \
    ROW(INTEGER, rpg_byte_reset, "roce_rp/rpg_byte_reset", "rp_byte_reset", 0, DCQCN_BITS(15), 32767,      \
        "bytes", true, "Bytes between rate increases.")                                                    \
    ROW(INTEGER, rpg_threshold, "roce_rp/rpg_threshold", "rp_threshold", 0, DCQCN_BITS(5), 1, "stages",    \
        true, "Stages of fast recovery before additive increase.")                                         \
    ROW(INTEGER, rpg_ai_rate, "roce_rp/rpg_ai_rate", "rp_ai_rate", 0, DCQCN_BITS(17), 5, "Mb/s", true,     \
        "Additive increase, in Mb/s.")                                                                     \
    ROW(INTEGER, rpg_hai_rate, "roce_rp/rpg_hai_rate", "rp_hai_rate", 0, DCQCN_BITS(17), 50, "Mb/s", true, \
        "Hyper increase, in Mb/s.")                                                                        \
    ROW(INTEGER, rpg_max_rate, "roce_rp/rpg_max_rate", "rp_max_rate", 0, DCQCN_BITS(32), 0, "Mb/s", true,  \
        "Highest rate, in Mb/s; 0: the rate of the link.")                                                 \
    ROW(INTEGER, rpg_min_dec_fac, "roce_rp/rpg_min_dec_fac", "rp_min_dec_fac", 0, 100, 50, "%", true,      \
        "Lower bound of one decrease, in per cent of the current rate.")                                   \
    ROW(INTEGER, rpg_min_rate, "roce_rp/rpg_min_rate", "rp_min_rate", 1, DCQCN_BITS(17), 1, "Mb/s", true,  \
        "Lowest rate, in Mb/s.")                                                                           \
    ROW(INTEGER, rpg_gd, "roce_rp/rpg_gd", "rp_gd", 0, DCQCN_BITS(4), 11, "log2", true,                    \
        "Divisor of alpha at a decrease, as a power of two.")                                              \
    ROW(INTEGER, rate_to_set_on_first_cnp, "roce_rp/rate_to_set_on_first_cnp",                             \
        "rp_rate_to_set_on_first_cnp", 0, DCQCN_BITS(32), 0, "Mb/s", true,                                 \
        "Rate after a flow's first CNP, in Mb/s; 0: computed from alpha as for later CNPs.")               \
    ROW(INTEGER, dce_tcp_g, "roce_rp/dce_tcp_g", "rp_dce_tcp_g", 0, DCQCN_BITS(10), 1019, "1/1024", true,  \
        "Weight of the old alpha, of 1024.")                                                               \
    ROW(INTEGER, dce_tcp_rtt, "roce_rp/dce_tcp_rtt", "rp_dce_tcp_rtt", 1, DCQCN_BITS(17), 1, "us", true,   \
        "Time between updates of alpha, in microseconds.")                                                 \
    ROW(INTEGER, rate_reduce_monitor_period, "roce_rp/rate_reduce_monitor_period",                         \
        "rp_rate_reduce_monitor_period", 1, DCQCN_BITS(17), 4, "us", true,                                 \
        "Minimum time between rate decreases, in microseconds.")                                           \
    ROW(INTEGER, initial_alpha_value, "roce_rp/initial_alpha_value", "rp_initial_alpha_value", 1,          \
        DCQCN_BITS(10), 1023, "1/1024", true, "Alpha of a new flow, of 1024.")

/* Notification point, the receiver's side. */
#define DCQCN_NP_ROWS(ROW)                                                                              \
    ROW(INTEGER, min_time_between_cnps, "roce_np/min_time_between_cnps", "np_min_time_between_cnps", 0, \
        DCQCN_BITS(17), 4, "us", true, "Minimum time between CNPs of a flow, in microseconds.")         \
    ROW(INTEGER, cnp_dscp, "roce_np/cnp_dscp", "np_cnp_dscp", 0, 63, 48, "", true, "DSCP of CNPs.")     \
    ROW(INTEGER, cnp_802p_prio, "roce_np/cnp_802p_prio", "np_cnp_prio", 0, 7, 6, "", true,              \
        "Priority of CNPs.")                                                                            \
    ROW(INTEGER, cnp_prio_mode, NULL, "np_cnp_prio_mode", 0, 1, 0, "", false,                           \
        "0: CNPs have cnp_802p_prio; 1: it is not used. Writing cnp_802p_prio sets it to 0.")

/* The values, each as a field of its kind in a table: int (-1: unset) or int64_t (FIELD_UNSET). */
#define DCQCN_MEMBER_BOOL(name)       int name;
#define DCQCN_MEMBER_INTEGER(name)    int64_t name;
#define DCQCN_MEMBER(kind, name, ...) DCQCN_MEMBER_##kind(name)
struct dcqcn_rp {
    DCQCN_RP_ROWS(DCQCN_MEMBER)
};
struct dcqcn_np {
    DCQCN_NP_ROWS(DCQCN_MEMBER)
};
struct dcqcn_values {
    struct dcqcn_rp rp;
    struct dcqcn_np np;
};

struct dcqcn_parameter {
    const char *point; /* "rp" or "np" */
    const char *name;
    const char *ofed, *upstream; /* files; NULL: none */
    int64_t least, most, standard;
    const char *unit; /* "": none */
    const char *meaning;
    size_t offset; /* in struct dcqcn_values */
    bool boolean;
    bool simulated;
};
/* All rows, ended by one without name: the reaction point's, then the notification point's. */
extern const struct dcqcn_parameter dcqcn_parameters[];

/* Values in a document: {"rp": {...}, "np": {...}}. Values that are not in it are unset. */
extern const struct table dcqcn_table;

/* One value; FIELD_UNSET if it is unset, 0 or 1 for a boolean. */
int64_t dcqcn_get(const struct dcqcn_values *values, const struct dcqcn_parameter *parameter);
void dcqcn_set(struct dcqcn_values *values, const struct dcqcn_parameter *parameter, int64_t value);
json_t *dcqcn_value_json(const struct dcqcn_parameter *parameter, int64_t value);

/* mlx5's defaults. */
void dcqcn_defaults(struct dcqcn_values *values);

/* Sets of parameters that NICs were seen to behave like, where those that they run with cannot be read. */
enum dcqcn_profile { DCQCN_PROFILE_DRIVER, DCQCN_PROFILE_SLOW_RECOVERY };
extern const char *const dcqcn_profile_names[]; /* ended by NULL */
/* mlx5's defaults, and what the profile has in their place. */
void dcqcn_profile_values(enum dcqcn_profile profile, struct dcqcn_values *values);

/* Copy all values that are set in `from`. */
void dcqcn_merge(struct dcqcn_values *to, const struct dcqcn_values *from);
/* The document of the parameters that the simulator models. A new reference. */
json_t *dcqcn_simulated_json(const struct dcqcn_values *values);

#endif
