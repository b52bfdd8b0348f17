/*
 * Settings of a host: what a scenario asks for and nic-config applies. Both use the same table. A setting
 * that is not given is not changed on the host.
 */
#ifndef LIB_SETTINGS_H
#define LIB_SETTINGS_H

#include "lib/document/table.h"
#include "lib/roce/congestion_values.h"
#include "lib/roce/dcqcn.h"
#include "lib/roce/red.h"

enum settings_trust { TRUST_PCP, TRUST_DSCP };
/* Transmission selection of a traffic class (IEEE 802.1Qaz). */
enum settings_selection { SELECTION_STRICT, SELECTION_CREDIT, SELECTION_ETS, SELECTION_VENDOR };
enum settings_kind { KIND_DEVICE, KIND_BRIDGE, KIND_ABSENT, KIND_VLAN };

/* ETS: how traffic classes share the port. */
struct settings_ets {
    struct list_of prio_to_tc; /* struct named_integer: priority -> traffic class */
    struct list_of weights;    /* int64_t, per cent, for each traffic class; 0: strict priority */
    struct list_of selection;  /* int, enum settings_selection, for each traffic class; unset: by weight */
};

/* A VLAN interface. */
struct settings_vlan {
    char *of; /* the interface below it */
    int64_t id;
    struct list_of egress; /* struct named_integer: skb priority -> priority in the tag (PCP) */
};

/* WRED/ECN of a switch's egress queues. */
struct settings_ecn_threshold {
    int64_t kmin_bytes;
    int64_t kmax_bytes;
    double pmax;
};

/* PFC watchdog of a switch's ports. */
enum settings_watchdog_action { SETTINGS_WATCHDOG_DROP, SETTINGS_WATCHDOG_FORWARD, SETTINGS_WATCHDOG_ALERT };
struct settings_watchdog {
    int64_t detect_ns;  /* 0: no watchdog */
    int64_t restore_ns; /* FIELD_UNSET: twice detect_ns */
    int action;         /* enum settings_watchdog_action */
};

/* What plays a role, as far as settings differ. */
enum settings_node {
    ON_HOST = 1, /* a real host */
    ON_SIM_HOST = 2,
    ON_FORWARDER = 4, /* a simulated host that forwards: a switch with "software" */
    ON_SIM_SWITCH = 8,
    ON_SONIC = 16,          /* a real switch that runs SONiC */
    ON_VIRTUAL_SWITCH = 32, /* a guest that is a switch */
};
#define ON_HOSTS     (ON_HOST | ON_SIM_HOST | ON_FORWARDER)
#define ON_SWITCHES  (ON_SIM_SWITCH | ON_SONIC | ON_VIRTUAL_SWITCH)
#define ON_SIMULATED (ON_SIM_HOST | ON_FORWARDER | ON_SIM_SWITCH)

/* What only the ends of a flow have acts at simulated hosts. */
#define ACTS_AT_ENDS .modelled = ON_SIM_HOST, .idle = ON_SIMULATED

/* The row of a simulated congestion control's parameters. */
#define CONGESTION_SETTING(ROW, part, rows, check, about, setting)                                   \
    ROW(struct part##_values, part, #part, (ON_SIM_HOST | ON_FORWARDER, ACTS_AT_ENDS), FIELD_OBJECT, \
        .sub = &part##_table, .help = setting)

/*
 * The settings, one row per setting: ROW(C type, member of struct settings, key in a document, (nodes that
 * have it, other members of struct setting), initializers of struct field...). Maps have items of struct
 * named_integer.
 *
 * All code that asks what is known of a setting reads these rows: may a role have it, does the simulator
 * model it, is it given to nic-config on a real host, must both ends of a flow agree on it, does it go with
 * RoCE. To add a setting, add its row, and read and write it in a knob (nic-config/knobs/); a simulated one
 * is passed on in harness/labs/sim/sim_config.c.
 */
#define SETTINGS_ROWS(ROW)                                                                                   \
    ROW(int, kind, "kind", (ON_HOSTS), FIELD_CHOICE, .choices = kind_names,                                  \
        .help = "Kind of the interface. bridge, vlan: nic-config creates the interface. absent: "            \
                "nic-config removes it.")                                                                    \
    ROW(struct settings_vlan *, vlan, "vlan", (ON_HOSTS), FIELD_OPTIONAL, .sub = &vlan_table,                \
        .help = "The VLAN of an interface of kind vlan.")                                                    \
    ROW(int, up, "up", (ON_HOSTS), FIELD_BOOL, .help = "Whether the interface is up.")                       \
    ROW(char *, bridge, "bridge", (ON_HOSTS), FIELD_STRING,                                                  \
        .help = "Bridge that the interface is a port of; \"\": none.")                                       \
    ROW(struct list_of, addresses, "addresses", (ON_HOSTS), FIELD_LIST, .item = FIELD_STRING, .min = 0,      \
        .max = 256,                                                                                          \
        .help =                                                                                              \
            "Addresses that the interface must have (\"10.0.0.1/24\"); other addresses are not changed.")    \
    ROW(int64_t, mtu, "mtu",                                                                                 \
        (ON_HOSTS | ON_SIM_SWITCH, .modelled = ON_SIM_HOST, .idle = ON_SIMULATED, .agree = "MTUs",           \
         .unset = "1500"),                                                                                   \
        FIELD_INTEGER, .min = 68, .max = 65536, .help = "MTU of the link, in bytes.")                        \
    ROW(struct list_of, pfc, "pfc", (ON_HOSTS | ON_SWITCHES, .modelled = ON_SIM_HOST | ON_SIM_SWITCH),       \
        FIELD_LIST, .any_order = true, .item = FIELD_INTEGER, .min = 0, .max = 7,                            \
        .help = "Priorities with priority flow control; it is turned off for the others.")                   \
    ROW(struct list_of, prio_to_buffer, "prio_to_buffer",                                                    \
        (ON_HOSTS, .modelled = ON_SIM_HOST, .buffers = true), FIELD_MAP, .item = FIELD_INTEGER,              \
        .names = &form_priority, .min = 0, .max = 7, .help = "Receive buffer of each priority.")             \
    ROW(struct list_of, buffer_bytes, "buffer_bytes", (ON_HOSTS, .modelled = ON_SIM_HOST, .buffers = true),  \
        FIELD_LIST, .item = FIELD_INTEGER, .min = 0, .max = UINT32_MAX,                                      \
        .help = "Size of each receive buffer, in bytes; buffers that are not listed have size 0.")           \
    ROW(int64_t, cable_mm, "cable", (ON_HOSTS, .modelled = ON_SIM_HOST, .buffers = true), FIELD_QUANTITY,    \
        .unit = UNIT_LENGTH_MM, .min = 0, .max = 100000000,                                                  \
        .help = "Length of the cable, from which the driver computes xoff.")                                 \
    ROW(int, trust, "trust",                                                                                 \
        (ON_HOSTS | ON_VIRTUAL_SWITCH, .modelled = ON_SIM_HOST, .idle = ON_SIMULATED, .headers = true,       \
         .agree = "trust modes", .unset = "\"pcp\""),                                                        \
        FIELD_CHOICE, .choices = trust_names,                                                                \
        .help = "Source of a frame's priority: the VLAN tag's PCP or the IP header's DSCP.")                 \
    ROW(struct list_of, dscp_to_prio, "dscp_to_prio",                                                        \
        (ON_HOSTS | ON_VIRTUAL_SWITCH, .agree = "maps from DSCP to priority"), FIELD_MAP,                    \
        .item = FIELD_INTEGER, .names = &form_dscp, .min = 0, .max = 7, .help = "Priority of each DSCP.")    \
    ROW(struct settings_ets *, ets, "ets", (ON_HOSTS | ON_SIM_SWITCH, .modelled = ON_SIM_SWITCH),            \
        FIELD_OPTIONAL, .sub = &ets_table, .help = "How traffic classes share the port's bandwidth.")        \
    ROW(struct list_of, ecn, "ecn",                                                                          \
        (ON_HOSTS | ON_VIRTUAL_SWITCH, ACTS_AT_ENDS, .roce = true, .follows = true), FIELD_LIST,             \
        .any_order = true, .item = FIELD_INTEGER, .min = 0, .max = 7,                                        \
        .help = "Priorities with DCQCN (reaction and notification point); it is turned off for the others.") \
    ROW(struct list_of, ecn_rp, "ecn_rp", (ON_HOSTS | ON_VIRTUAL_SWITCH, ACTS_AT_ENDS, .roce = true),        \
        FIELD_LIST, .any_order = true, .item = FIELD_INTEGER, .min = 0, .max = 7,                            \
        .help = "Priorities with the reaction point (sender), if they differ from ecn.")                     \
    ROW(struct list_of, ecn_np, "ecn_np", (ON_HOSTS | ON_VIRTUAL_SWITCH, ACTS_AT_ENDS, .roce = true),        \
        FIELD_LIST, .any_order = true, .item = FIELD_INTEGER, .min = 0, .max = 7,                            \
        .help = "Priorities with the notification point (receiver), if they differ from ecn.")               \
    ROW(struct dcqcn_values, dcqcn, "dcqcn", (ON_HOSTS, ACTS_AT_ENDS, .roce = true), FIELD_OBJECT,           \
        .sub = &dcqcn_table, .help = "DCQCN parameters.")                                                    \
    ROW(int, congestion_control, "congestion_control", (ON_SIM_HOST | ON_FORWARDER, ACTS_AT_ENDS),           \
        FIELD_CHOICE, .choices = congestion_control_names,                                                   \
        .help = "Congestion control of the reaction point. Default: dcqcn; the others exist only in the "    \
                "simulator.")                                                                                \
    CONGESTION_PARTS(CONGESTION_SETTING, ROW)                                                                \
    ROW(int64_t, rx_ring, "rx_ring", (ON_HOSTS, .modelled = ON_FORWARDER), FIELD_INTEGER, .min = 0,          \
        .max = UINT32_MAX, .help = "Entries of the RX ring.")                                                \
    ROW(int64_t, tx_ring, "tx_ring", (ON_HOSTS), FIELD_INTEGER, .min = 0, .max = UINT32_MAX,                 \
        .help = "Entries of the TX ring.")                                                                   \
    ROW(int64_t, rx_coalesce_us, "rx_coalesce_us", (ON_HOSTS, .modelled = ON_FORWARDER), FIELD_INTEGER,      \
        .min = 0, .max = UINT32_MAX, .help = "Interrupt coalescing of RX: time, in microseconds.")           \
    ROW(int64_t, rx_coalesce_frames, "rx_coalesce_frames", (ON_HOSTS, .modelled = ON_FORWARDER),             \
        FIELD_INTEGER, .min = 0, .max = UINT32_MAX, .help = "Interrupt coalescing of RX: number of frames.") \
    ROW(int, pause_autoneg, "pause_autoneg", (ON_HOSTS), FIELD_BOOL,                                         \
        .help = "Negotiate 802.3x global pause. Default: false if rx_pause or tx_pause is given.")           \
    ROW(int, rx_pause, "rx_pause", (ON_HOSTS), FIELD_BOOL, .help = "Obey 802.3x global pause.")              \
    ROW(int, tx_pause, "tx_pause", (ON_HOSTS), FIELD_BOOL, .help = "Send 802.3x global pause.")              \
    ROW(int64_t, pfc_stall_ms, "pfc_stall_ms", (ON_HOSTS), FIELD_INTEGER, .min = 0, .max = 65535,            \
        .help = "PFC stall prevention, in milliseconds; 0: off.")                                            \
    ROW(int64_t, traffic_class, "traffic_class", (ON_HOSTS, ACTS_AT_ENDS, .roce = true), FIELD_INTEGER,      \
        .min = -1, .max = 255,                                                                               \
        .help =                                                                                              \
            "Traffic class (DSCP and ECN bits) of RoCE packets whose program sets none; -1: not forced.")    \
    ROW(int, roce, "roce", (ON_HOSTS), FIELD_BOOL,                                                           \
        .help = "Whether the NIC handles RoCE packets itself (devlink enable_roce).")                        \
    ROW(struct list_of, optional_counters, "optional_counters", (ON_HOSTS, .roce = true), FIELD_LIST,        \
        .item = FIELD_STRING, .min = 0, .max = 64, .help = "RDMA optional counters to turn on.")             \
    ROW(int64_t, qdisc_quantum, "qdisc_quantum", (ON_HOSTS, .follows = true), FIELD_INTEGER, .min = 0,       \
        .max = UINT32_MAX,                                                                                   \
        .help = "Quantum of the kernel's default root qdisc, in bytes. It follows from the MTU at the time " \
                "when the qdisc was created; 0: it does not exist yet.")                                     \
    ROW(struct settings_red *, red, "red",                                                                   \
        (ON_HOST | ON_FORWARDER, .modelled = ON_FORWARDER, .instead = "a switch marks by ecn_threshold"),    \
        FIELD_OPTIONAL, .sub = &red_table, .help = "RED qdisc on a forwarding host.")                        \
    ROW(struct settings_ecn_threshold *, ecn_threshold, "ecn_threshold",                                     \
        (ON_SIM_SWITCH | ON_SONIC, .modelled = ON_SIM_SWITCH, .instead = "a host marks by red"),             \
        FIELD_OPTIONAL, .sub = &ecn_threshold_table, .help = "ECN marking thresholds of a switch.")          \
    ROW(struct settings_watchdog *, watchdog, "watchdog",                                                    \
        (ON_SIM_SWITCH | ON_SONIC, .modelled = ON_SIM_SWITCH), FIELD_OPTIONAL, .sub = &watchdog_table,       \
        .help = "PFC watchdog of a switch's ports.")

/* What is known of a setting, beside the form of its value (settings_table). */
struct setting {
    const char *key;
    unsigned nodes; /* enum settings_node: what may be given it */
    unsigned
        modelled;  /* simulated nodes at which it acts; the simulator warns of it at others that have it */
    unsigned idle; /* those at which it has nothing to act on while all have the same */
    bool buffers;  /* a setting of receive buffers, which an ideal simulated NIC does not have */
    bool headers;  /* simulated, it is seen in the headers of packets alone */
    bool roce;     /* a setting of RoCE: it is not there while RoCE is switched off */
    bool follows;  /* it may be read back as another value than was set, because of other settings */
    const char *unset;   /* its value where a simulated host is given none, as JSON; NULL: not asked for */
    const char *agree;   /* both ends of a flow must have the same value; in words what is compared: "MTUs" */
    const char *instead; /* what nodes without it have in its place; NULL: nothing */
};
extern const struct setting settings_known[]; /* in the order of the rows, ended by one without key */
/* The setting with this key, or NULL. */
const struct setting *settings_find(const char *key);

#define SETTINGS_MEMBER(type, member, ...) type member;
struct settings {
    char *name; /* the role or interface when the settings are an item of a map; else NULL */
    SETTINGS_ROWS(SETTINGS_MEMBER)
};

/*
 * The knobs with which nic-config reads and writes these rows (nic-config/knobs/knob_NAME.c), in the order
 * of writing: first those that create or reload an interface, then those that may take its link down, PFC
 * after its buffers (the driver refuses a lossless buffer that is too small), RED last, when packets are
 * already forwarded. Settings are restored in reverse order: removing RED leaves a default qdisc, whose
 * quantum is checked after the MTU is restored.
 */
/* clang-format off */
#define SETTINGS_KNOBS(KNOB)                                                                     \
    KNOB(roce) KNOB(kind) KNOB(quantum) KNOB(mtu) KNOB(ring) KNOB(coalesce) KNOB(pause) KNOB(up) \
    KNOB(bridge) KNOB(address) KNOB(ets) KNOB(cable) KNOB(buffers) KNOB(pfc) KNOB(trust)         \
    KNOB(stall) KNOB(ecn) KNOB(dcqcn) KNOB(traffic_class) KNOB(counters) KNOB(red)
/* clang-format on */

extern const struct table settings_table;
extern const char *const congestion_control_names[];       /* ended by NULL */
extern const char *const settings_watchdog_action_names[]; /* ended by NULL */

#endif
