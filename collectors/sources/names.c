#include "collectors/sources/names.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

const char *const names_groups[] = {"pfc",   "ecn",  "throughput", "drops", "errors", "pcie",
                                    "queue", "link", "dcqcn",      "other", NULL};

struct rule {
    const char *pattern; /* of fnmatch(3) */
    struct name_meaning meaning;
};

#define COUNTER COLUMN_COUNTER
#define GAUGE   COLUMN_GAUGE

/*
 * The first match counts. mlx5's names are from linux drivers/net/ethernet/mellanox/mlx5/core/en_stats.c and
 * drivers/infiniband/hw/mlx5/counters.c, units from
 * Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst; Soft-RoCE's from
 * drivers/infiniband/sw/rxe/rxe_hw_counters.c, the standard ones from IEEE 802.3 clause 30 as named in
 * net/ethtool/strset.c, those of IP from net/ipv4/proc.c.
 */
static const struct rule rules[] = {
    /* Priority flow control and 802.3x pause */
    {"[rt]x_prio[0-7]_pause", {"frames", "pfc", COUNTER, false}},
    {"[rt]x_prio[0-7]_pause_duration", {"us", "pfc", COUNTER, false}},
    {"rx_prio[0-7]_pause_transition", {"events", "pfc", COUNTER, false}},
    {"[rt]x_global_pause", {"frames", "pfc", COUNTER, false}},
    {"[rt]x_global_pause_duration", {"us", "pfc", COUNTER, false}},
    {"rx_global_pause_transition", {"events", "pfc", COUNTER, false}},
    {"tx_pause_storm_*_events", {"events", "pfc", COUNTER, false}},
    {"[rt]x_pause_ctrl_phy", {"frames", "pfc", COUNTER, false}},
    {"[rt]x_mac_control_phy", {"frames", "pfc", COUNTER, false}},
    {"[rt]x_pause_frames", {"frames", "pfc", COUNTER, false}},
    {"MACControlFrames*", {"frames", "pfc", COUNTER, false}},
    {"UnsupportedOpcodesReceived", {"frames", "pfc", COUNTER, false}},
    {"pfc_prio[0-7]_requests", {"frames", "pfc", COUNTER, false}},
    {"pfc_prio[0-7]_indications", {"frames", "pfc", COUNTER, false}},
    {"rx_buffer_passed_thres_phy", {"events", "pfc", COUNTER, false}},
    {"rx_prio[0-7]_marked", {"packets", "ecn", COUNTER, false}},

    /* Explicit congestion notification and DCQCN */
    {"rp_cnp_*", {"packets", "ecn", COUNTER, false}},
    {"np_cnp_sent", {"packets", "ecn", COUNTER, false}},
    {"np_ecn_marked_roce_packets", {"packets", "ecn", COUNTER, false}},
    {"cc_[rt]x_*_pkts", {"packets", "ecn", COUNTER, false}},
    {"roce_slow_restart*", {"events", "ecn", COUNTER, false}},
    {"*ecn_mark*", {"packets", "ecn", COUNTER, false}},
    {"IpExtIn*Pkts", {"packets", "ecn", COUNTER, false}},
    {"Ip6In*Pkts", {"packets", "ecn", COUNTER, false}},
    {"qdisc_*_marked", {"packets", "ecn", COUNTER, false}},

    /* Qdiscs */
    {"qdisc_*_backlog", {"bytes", "queue", GAUGE, false}},
    {"qdisc_*_qlen", {"packets", "queue", GAUGE, false}},
    {"qdisc_*_overlimits", {"events", "queue", COUNTER, false}},
    {"qdisc_*_requeues", {"packets", "queue", COUNTER, false}},
    {"qdisc_*_drops", {"packets", "drops", COUNTER, false}},
    {"qdisc_*_early", {"packets", "drops", COUNTER, false}},
    {"qdisc_*_pdrop", {"packets", "drops", COUNTER, false}},
    {"qdisc_*_other", {"packets", "drops", COUNTER, false}},

    /* PCI Express */
    {"outbound_pci_stalled_[rw][dr]", {"percent", "pcie", GAUGE, false}},
    {"outbound_pci_stalled_*_events", {"seconds", "pcie", COUNTER, false}},
    {"outbound_pci_buffer_overflow", {"packets", "pcie", COUNTER, false}},
    {"[rt]x_pci_signal_integrity", {"events", "pcie", COUNTER, false}},
    {"pcie_aer_*", {"events", "pcie", COUNTER, false}},
    {"pcie_*_speed", {"MT/s", "pcie", GAUGE, false}},
    {"pcie_*_width", {"lanes", "pcie", GAUGE, false}},
    {"gpu*_pcie_[rt]x", {"bytes/s", "pcie", GAUGE, false}},
    {"gpu*_pcie_replays", {"events", "pcie", COUNTER, false}},
    {"gpu*_pcie_generation", {"generation", "pcie", GAUGE, false}},
    {"gpu*_pcie_width", {"lanes", "pcie", GAUGE, false}},
    {"gpu*_bar1_*", {"bytes", "pcie", GAUGE, false}},

    /* DCQCN parameters as they are in force */
    {"dcqcn_rp_*_prio[0-7]", {"state", "dcqcn", GAUGE, false}},
    {"dcqcn_np_*_prio[0-7]", {"state", "dcqcn", GAUGE, false}},
    {"dcqcn_np_min_time_between_cnps", {"us", "dcqcn", GAUGE, false}},
    {"dcqcn_rp_rpg_time_reset", {"us", "dcqcn", GAUGE, false}},
    {"dcqcn_rp_dce_tcp_rtt", {"us", "dcqcn", GAUGE, false}},
    {"dcqcn_rp_rate_reduce_monitor_period", {"us", "dcqcn", GAUGE, false}},
    {"dcqcn_rp_rpg_byte_reset", {"bytes", "dcqcn", GAUGE, false}},
    {"dcqcn_rp_rpg_*_rate", {"Mb/s", "dcqcn", GAUGE, false}},
    {"dcqcn_rp_rate_to_set_on_first_cnp", {"Mb/s", "dcqcn", GAUGE, false}},
    {"dcqcn_*", {"value", "dcqcn", GAUGE, false}},

    /* The link */
    {"link_carrier", {"state", "link", GAUGE, false}},
    {"link_carrier_changes", {"events", "link", COUNTER, true}},
    {"link_mtu", {"bytes", "link", GAUGE, false}},
    {"link_speed", {"Mb/s", "link", GAUGE, false}},
    {"link_down*", {"events", "link", COUNTER, false}},

    /* Loss */
    {"rx_out_of_buffer", {"packets", "drops", COUNTER, true}},
    {"rx_if_down_packets", {"packets", "drops", COUNTER, true}},
    {"out_of_buffer", {"packets", "drops", COUNTER, false}},
    {"out_of_seq*", {"packets", "drops", COUNTER, false}},
    {"duplicate_request", {"packets", "drops", COUNTER, false}},
    {"rnr_nak_retry_err", {"packets", "drops", COUNTER, false}},
    {"packet_seq_err", {"events", "drops", COUNTER, false}},
    {"implied_nak_seq_err", {"events", "drops", COUNTER, false}},
    {"local_ack_timeout_err", {"events", "drops", COUNTER, false}},
    {"roce_adp_retrans*", {"events", "drops", COUNTER, false}},
    {"rcvd_seq_err", {"events", "drops", COUNTER, false}},
    {"*_rnr_err", {"events", "drops", COUNTER, false}},
    {"*discard*", {"packets", "drops", COUNTER, false}},
    {"*drop*", {"packets", "drops", COUNTER, false}},
    {"*buffer_overflow*", {"packets", "drops", COUNTER, false}},
    {"*_missed*", {"packets", "drops", COUNTER, false}},
    {"*nohandler*", {"packets", "drops", COUNTER, false}},

    /* Gauges that other drivers show among their statistics */
    {"peer_ifindex", {"index", "other", GAUGE, false}},
    {"*_temperature", {"celsius", "other", GAUGE, false}},

    /* Errors */
    {"*_err", {"events", "errors", COUNTER, false}},
    {"*_error", {"events", "errors", COUNTER, false}},
    {"*_errors", {"events", "errors", COUNTER, false}},
    {"*_errors_phy", {"events", "errors", COUNTER, false}},
    {"*Errors", {"frames", "errors", COUNTER, false}},
    {"*Error", {"frames", "errors", COUNTER, false}},
    {"*_exceeded", {"events", "errors", COUNTER, false}},
    {"*_exceeded_err", {"events", "errors", COUNTER, false}},
    {"req_*invalid_request", {"events", "errors", COUNTER, false}},
    {"link_downed", {"events", "errors", COUNTER, false}},

    /* Throughput: of the port, the function, the RDMA device, the qdisc; a queue's own figures are "other" */
    {"[rt]x[0-9]*", {"events", "other", COUNTER, false}},
    {"[rt]x_queue_*", {"events", "other", COUNTER, false}},
    {"ch[0-9]*", {"events", "other", COUNTER, false}},
    {"*bytes*", {"bytes", "throughput", COUNTER, false}},
    {"Octets*", {"bytes", "throughput", COUNTER, false}},
    {"*packets*", {"packets", "throughput", COUNTER, false}},
    {"*_pkts", {"packets", "throughput", COUNTER, false}},
    {"Frames*OK", {"frames", "throughput", COUNTER, false}},
    {"rx_*_requests", {"requests", "throughput", COUNTER, false}},
    {"rdma_sends", {"requests", "throughput", COUNTER, false}},
    {"rdma_recvs", {"requests", "throughput", COUNTER, false}},
    {"*", {"events", "other", COUNTER, false}},
};

/* A queue's figures have units as well. */
static const char *unit_within(const char *name, const char *otherwise)
{
    if (strstr(name, "bytes"))
        return "bytes";
    if (strstr(name, "packets"))
        return "packets";
    return otherwise;
}

static bool is_plain(char c)
{
    return c != '*' && c != '[' && c != '\0';
}

/* fnmatch(3) is dear when hundreds of names meet a hundred patterns: it is asked only where a pattern's plain characters
 * at the begin and at the end are the name's. */
static bool matches(const char *pattern, const char *name)
{
    while (is_plain(*pattern))
        if (*pattern++ != *name++)
            return false;
    if (*pattern == '\0')
        return *name == '\0';
    const char *last = pattern + strlen(pattern), *end = name + strlen(name);
    while (last[-1] != '*' && last[-1] != ']')
        if (end == name || *--last != *--end)
            return false;
    return fnmatch(pattern, name, 0) == 0;
}

struct name_meaning names_meaning(const char *name)
{
    size_t i = 0;
    while (!matches(rules[i].pattern, name) && i + 1 < sizeof rules / sizeof rules[0])
        i++;
    struct name_meaning meaning = rules[i].meaning;
    if (meaning.group[0] == 'o' && meaning.kind == COLUMN_COUNTER)
        meaning.unit = unit_within(name, meaning.unit);
    return meaning;
}
