#include "lib/physics/fabric.h"
#include "lib/physics/ranges.h"

static const char *const ecn_at_names[] = {"dequeue", "enqueue", NULL};
static const char *const routing_names[] = {"ecmp", "adaptive", NULL};
static const char *const watchdog_action_names[] = {"drop", "forward", NULL};

/* ---- ECN */

static int check_ecn(const void *object, const char *path, struct error *e)
{
    const struct physics_ecn *ecn = object;
    if (ecn->kmax_bytes && ecn->kmin_bytes > ecn->kmax_bytes)
        return error_set(e, "%s: kmin %lld is above kmax %lld", path, (long long)ecn->kmin_bytes,
                         (long long)ecn->kmax_bytes);
    if (ecn->reference_bps && ecn->reference_bps < PHYSICS_LINK_LEAST_BPS)
        return error_set(e, "%s.reference: %lld b/s is out of range: expected 0, or at least %lld b/s", path,
                         (long long)ecn->reference_bps, (long long)PHYSICS_LINK_LEAST_BPS);
    return 0;
}

#define AT(member) .offset = offsetof(struct physics_ecn, member)
#define ECN_THRESHOLDS                                                                     \
    {"kmin", BYTES, AT(kmin_bytes), .fallback = "\"0\"",                                   \
     .help = "Queue length above which packets are marked with a probability."},           \
        {"kmax", BYTES, AT(kmax_bytes), .fallback = "\"0\"",                               \
         .help = "Queue length above which every packet is marked; 0: no marking."},       \
    {                                                                                      \
        "pmax", FIELD_NUMBER, .min_number = 0, .max_number = 1, AT(pmax), .fallback = "0", \
                              .help = "Probability of marking just below kmax."            \
    }
static const struct field ecn_fields[] = {
    ECN_THRESHOLDS,
    {"reference", FIELD_QUANTITY, .unit = UNIT_RATE_BPS, .min = 0, .max = PHYSICS_LINK_MOST_BPS,
     AT(reference_bps), .fallback = "\"0\"",
     .help = "Port rate for which kmin and kmax are given; they scale with a port's rate. 0: the same "
             "thresholds for all ports."},
    {"at", FIELD_CHOICE, AT(at), .choices = ecn_at_names, .fallback = "\"dequeue\"",
     .help = "When marking is decided. At dequeue by the queue that remains behind the packet, at enqueue by "
             "the queue that it joins."},
    {0},
};
static const struct field virtual_ecn_fields[] = {ECN_THRESHOLDS, {0}};
#undef ECN_THRESHOLDS
#undef AT
static const struct table ecn_table = {
    "lab.sim.switch.ecn", "ECN marking of all priorities. A scenario's ecn_threshold overrides it.",
    sizeof(struct physics_ecn), ecn_fields, check_ecn};
static const struct table virtual_ecn_table = {
    "lab.switch.ecn",
    "ECN marking of the priorities for which the scenario has DCQCN on, by the queue that a packet joins.",
    sizeof(struct physics_ecn), virtual_ecn_fields, check_ecn};

/* ---- the watchdog */

#define AT(member) .offset = offsetof(struct physics_watchdog, member)
#define WATCHDOG_TIMES                                                                                   \
    {"detect", LONG_TIME, AT(detect_ps), .fallback = "\"0\"",                                            \
     .help = "A queue that is paused for this time is in a pause storm, at least 1us; 0: no watchdog."}, \
    {                                                                                                    \
        "restore", LONG_TIME, AT(restore_ps),                                                            \
            .help = "Time without a pause after which the storm is over. Default: the value of detect."  \
    }
static int check_watchdog(const void *object, const char *path, struct error *e)
{
    const struct physics_watchdog *watchdog = object;
    if (!watchdog->detect_ps || watchdog->detect_ps >= PHYSICS_WATCHDOG_LEAST_PS)
        return 0;
    return error_set(e, "%s.detect: %lld ps is out of range: expected 0 for no watchdog, or at least 1us",
                     path, (long long)watchdog->detect_ps);
}

static const struct field watchdog_fields[] = {
    WATCHDOG_TIMES,
    {"action", FIELD_CHOICE, AT(action), .choices = watchdog_action_names, .fallback = "\"drop\"",
     .help = "What happens to the queue's packets during the storm. They are dropped, or sent despite the "
             "pause."},
    {0},
};
static const struct field virtual_watchdog_fields[] = {WATCHDOG_TIMES, {0}};
#undef WATCHDOG_TIMES
#undef AT
static const struct table watchdog_table = {"lab.sim.switch.watchdog", "PFC watchdog.",
                                            sizeof(struct physics_watchdog), watchdog_fields, check_watchdog};
static const struct table virtual_watchdog_table = {
    "lab.switch.watchdog",
    "PFC watchdog, which drops the queue's packets during the storm. Its times are of the nominal line.",
    sizeof(struct physics_watchdog), virtual_watchdog_fields, check_watchdog};

/* ---- forwarding in software */

#define AT(member) .offset = offsetof(struct physics_forwarding, member)
static const struct field forwarding_fields[] = {
    {"rx_ring", FIELD_INTEGER, .min = 1, .max = 65536, AT(rx_ring), .fallback = "1024",
     .help = "Number of RX descriptors of a port. The default is that of mlx5."},
    {"coalesce", TIME, AT(coalesce_ps), .fallback = "\"8us\"",
     .help = "Time from the first received frame to the interrupt. The default is that of mlx5."},
    {"coalesce_frames", FIELD_INTEGER, .min = 1, .max = 65536, AT(coalesce_frames), .fallback = "128",
     .help =
         "Number of waiting frames that cause an interrupt before that time. The default is that of mlx5."},
    {"adaptive", FIELD_BOOL, AT(adaptive), .fallback = "true",
     .help = "Use the kernel's adaptive interrupt moderation instead. Interrupts are delayed by 2 us to 64 "
             "us, depending on load."},
    {"interrupt", TIME, AT(interrupt_ps), .fallback = "\"0\"",
     .help = "Time from interrupt to the processing of the first frame."},
    {"frame", TIME, AT(frame_ps), .fallback = "\"0\"", .help = "CPU time per frame."},
    {"budget", FIELD_INTEGER, .min = 1, .max = 65536, AT(budget), .fallback = "64",
     .help = "Largest number of frames in one NAPI poll. The default is the kernel's."},
    {"tx_limit", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 1, .max = INT32_MAX, AT(tx_limit_bytes),
     .fallback = "\"1879048192B\"",
     .help = "Upper bound of a device's byte queue limit. The default is the kernel's."},
    {"fifo", BYTES, AT(fifo_bytes), .fallback = "\"16MiB\"",
     .help = "Limit of the queue length without RED. The default is an assumption."},
    {0},
};
#undef AT
const struct table physics_forwarding_table = {
    "lab.sim.switch.software",
    "A host that forwards packets in software, with one softirq CPU for all ports.",
    sizeof(struct physics_forwarding), forwarding_fields, NULL};

/* ---- the switch */

#define AT(member) .offset = offsetof(struct physics_switch, member)
#define ALPHA      FIELD_NUMBER, .min_number = 0, .max_number = 1024
#define SWITCH_BUFFER                                                                                      \
    {                                                                                                      \
        "buffer", FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 1024, .max = INT32_MAX, AT(buffer_bytes),     \
                                  .fallback = "\"16MiB\"",                                                 \
                                  .help = "Size of the whole buffer: reserves, headroom and shared part. " \
                                          "The default is an assumption."                                  \
    }
#define SWITCH_XOFF                                                                                        \
    {"xoff_alpha", ALPHA, AT(xoff_alpha), .fallback = "0.125",                                             \
     .help = "Dynamic XOFF threshold, as a multiple of the free shared buffer. It limits what a priority " \
             "uses above its reserve. The default is the HPCC simulator's."},                              \
    {                                                                                                      \
        "xoff", BYTES, AT(xoff_bytes), .fallback = "\"0\"",                                                \
                                       .help = "Static XOFF threshold: use of the shared buffer at which " \
                                               "XOFF is sent. It replaces xoff_alpha; "                    \
                                               "0: xoff_alpha applies."                                    \
    }
#define SWITCH_XON                                                                                           \
    {                                                                                                        \
        "xon_offset", BYTES, AT(xon_offset_bytes), .fallback = "\"3KiB\"",                                   \
                                                   .help = "XON is sent at this distance below the XOFF "    \
                                                           "threshold. The default is the HPCC simulator's." \
    }
static const struct field switch_fields[] = {
    SWITCH_BUFFER,
    {"reserve", BYTES, AT(reserve_bytes), .fallback = "\"4KiB\"",
     .help = "Buffer reserved for each lossless priority of a port. The default is the HPCC simulator's."},
    SWITCH_XOFF,
    {"alpha_follows_rate", FIELD_BOOL, AT(alpha_follows_rate), .fallback = "false",
     .help = "Scale xoff_alpha with the port's rate. It doubles each time the rate doubles relative to the "
             "slowest host's, up to 1."},
    SWITCH_XON,
    {"headroom", BYTES, AT(headroom_bytes),
     .help =
         "Headroom for each port and lossless priority. Default: computed from rate and delay of the link."},
    {"headroom_delays", FIELD_NUMBER, .min_number = 0, .max_number = 1000, AT(headroom_delays),
     .fallback = "0",
     .help = "Headroom as a number of propagation delays at the port's rate, if headroom is not set. 0: two, "
             "plus the frames that both ends have already begun to send."},
    PAUSE_FIELDS,
    {"lossy_alpha", ALPHA, AT(lossy_alpha), .fallback = "1",
     .help = "Limit of a lossy priority's queue, as a multiple of the free buffer. The default is an "
             "assumption."},
    {"tail_drop", BYTES, AT(tail_drop_bytes), .fallback = "\"0\"",
     .help = "Fixed limit of the lossy packets that wait at an egress port, all priorities together: what "
             "exceeds it is dropped. It replaces lossy_alpha; 0: lossy_alpha applies."},
    {"ecn", FIELD_OBJECT, AT(ecn), .sub = &ecn_table, .help = "ECN marking."},
    {"latency", TIME, AT(latency_ps), .fallback = "\"0\"",
     .help = "Latency from the last received bit to the egress queue."},
    {"ecmp_seed", FIELD_INTEGER, .min = 0, .max = UINT32_MAX, AT(ecmp_seed), .fallback = "0",
     .help = "Seed of the hash that selects among equal paths. 0: the number of the node, with hosts counted "
             "first."},
    {"routing", FIELD_CHOICE, AT(routing), .choices = routing_names, .fallback = "\"ecmp\"",
     .help = "Which of equally short paths a packet takes. ecmp: the hash of its connection selects one. "
             "adaptive: each data packet goes to the port with the shortest queue of its priority."},
    {"convergence", LONG_TIME, AT(convergence_ps), .fallback = "\"1ms\"",
     .help = "Time after which the switch's routes follow a link that went down or came back. The default is "
             "an assumption."},
    {"deadlock", FIELD_QUANTITY, .unit = UNIT_TIME_PS, .min = 1000000, .max = INT64_C(1000000000000000),
     AT(deadlock_ps),
     .help = "Ports that wait for each other in a ring, each paused for this time, are reported as a "
             "deadlock, and counted in deadlocks. Default: they are reported after 1 ms, and not counted."},
    {"watchdog", FIELD_OBJECT, AT(watchdog), .sub = &watchdog_table, .help = "PFC watchdog."},
    {"software", FIELD_OPTIONAL, AT(software), .sub = &physics_forwarding_table,
     .help = "The switch is a host that forwards in software. It is a Linux bridge, with RED if the settings "
             "enable it."},
    {0},
};
/* The module's thresholds are in eighths of the free buffer. */
static int check_virtual_switch(const void *object, const char *path, struct error *e)
{
    const struct physics_switch *s = object;
    double eighths = s->xoff_alpha * 8;
    if (!s->xoff_bytes && (eighths < 1 || eighths != (double)(int64_t)eighths))
        return error_set(e, "%s.xoff_alpha: %g is not a multiple of 1/8 above 0", path, s->xoff_alpha);
    return 0;
}

/* What the virtual ConnectX's switch models of it. */
static const struct field virtual_switch_fields[] = {
    SWITCH_BUFFER,
    SWITCH_XOFF,
    SWITCH_XON,
    {"headroom", BYTES, AT(headroom_bytes), .required = true,
     .help = "Headroom for each port and lossless priority: what the other end still sends after XOFF, until "
             "both guests were scheduled."},
    {"ecn", FIELD_OBJECT, AT(ecn), .sub = &virtual_ecn_table, .help = "ECN marking."},
    {"watchdog", FIELD_OBJECT, AT(watchdog), .sub = &virtual_watchdog_table, .help = "PFC watchdog."},
    {0},
};
#undef SWITCH_BUFFER
#undef SWITCH_XOFF
#undef SWITCH_XON
#undef ALPHA
#undef AT
const struct table physics_switch_table = {"lab.sim.switch", "A simulated switch.",
                                           sizeof(struct physics_switch), switch_fields, NULL};
const struct table physics_virtual_switch_table = {
    "lab.switch",
    "A guest that is a switch: the module virtual_connectx forwards between its data interfaces. The keys "
    "are those of a simulated switch.",
    sizeof(struct physics_switch), virtual_switch_fields, check_virtual_switch};
