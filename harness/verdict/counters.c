#include "harness/verdict/counters.h"
#include "lib/document/nearest.h"
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * mlx5: linux drivers/net/ethernet/mellanox/mlx5/core/en_stats.c, drivers/infiniband/hw/mlx5/counters.c;
 * units from Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst. Soft-RoCE:
 * drivers/infiniband/sw/rxe/ rxe_hw_counters.c. Others: what nic-sampler makes of qdiscs, IP, PCI and NVML,
 * and the simulator of its buffers.
 */
static const struct counter_name names[] = {
    {"rx_prio#_pause", "frames", false},
    {"tx_prio#_pause", "frames", false},
    {"rx_prio#_pause_duration", "us", false},
    {"tx_prio#_pause_duration", "us", false},
    {"rx_prio#_pause_transition", "events", false},
    {"rx_global_pause", "frames", false},
    {"tx_global_pause", "frames", false},
    {"rx_global_pause_duration", "us", false},
    {"tx_global_pause_duration", "us", false},
    {"rx_global_pause_transition", "events", false},
    {"tx_pause_storm_warning_events", "events", false},
    {"tx_pause_storm_error_events", "events", false},
    {"rx_pause_ctrl_phy", "frames", false},
    {"tx_pause_ctrl_phy", "frames", false},
    {"rx_mac_control_phy", "frames", false},
    {"tx_mac_control_phy", "frames", false},
    {"rx_buffer_passed_thres_phy", "events", false},
    {"pfc_prio#_requests", "frames", false},
    {"pfc_prio#_indications", "frames", false},
    {"rx_prio#_bytes", "bytes", false},
    {"tx_prio#_bytes", "bytes", false},
    {"rx_prio#_packets", "packets", false},
    {"tx_prio#_packets", "packets", false},
    {"rx_prio#_discards", "packets", false},
    {"rx_prio#_buf_discard", "packets", false},
    {"rx_prio#_cong_discard", "packets", false},
    {"rx_prio#_marked", "packets", false},
    {"rx_discards_phy", "packets", false},
    {"tx_discards_phy", "packets", false},
    {"rx_bytes_phy", "bytes", false},
    {"tx_bytes_phy", "bytes", false},
    {"rx_packets_phy", "packets", false},
    {"tx_packets_phy", "packets", false},
    {"rx_bytes", "bytes", false},
    {"tx_bytes", "bytes", false},
    {"rx_packets", "packets", false},
    {"tx_packets", "packets", false},
    {"rx_out_of_buffer", "packets", false},
    {"rx_if_down_packets", "packets", false},
    {"rx_vport_rdma_unicast_packets", "packets", false},
    {"rx_vport_rdma_unicast_bytes", "bytes", false},
    {"tx_vport_rdma_unicast_packets", "packets", false},
    {"tx_vport_rdma_unicast_bytes", "bytes", false},
    {"outbound_pci_stalled_rd", "percent", true},
    {"outbound_pci_stalled_wr", "percent", true},
    {"outbound_pci_stalled_rd_events", "seconds", false},
    {"outbound_pci_stalled_wr_events", "seconds", false},
    {"outbound_pci_buffer_overflow", "packets", false},
    {"rx_pci_signal_integrity", "events", false},
    {"tx_pci_signal_integrity", "events", false},
    {"link_down_events_phy", "events", false},
    {"rp_cnp_handled", "packets", false},
    {"rp_cnp_ignored", "packets", false},
    {"np_ecn_marked_roce_packets", "packets", false},
    {"np_cnp_sent", "packets", false},
    {"cc_rx_ce_pkts", "packets", false},
    {"cc_rx_cnp_pkts", "packets", false},
    {"cc_tx_cnp_pkts", "packets", false},
    {"roce_adp_retrans", "events", false},
    {"roce_adp_retrans_to", "events", false},
    {"roce_slow_restart", "events", false},
    {"roce_slow_restart_cnps", "events", false},
    {"roce_slow_restart_trans", "events", false},
    {"out_of_sequence", "packets", false},
    {"duplicate_request", "packets", false},
    {"rnr_nak_retry_err", "packets", false},
    {"packet_seq_err", "events", false},
    {"implied_nak_seq_err", "events", false},
    {"local_ack_timeout_err", "events", false},
    {"out_of_buffer", "packets", false},
    {"rx_write_requests", "requests", false},
    {"rx_read_requests", "requests", false},
    {"rx_atomic_requests", "requests", false},
    {"req_transport_retries_exceeded", "events", false},
    {"req_rnr_retries_exceeded", "events", false},
    {"req_cqe_error", "events", false},
    {"resp_cqe_error", "events", false},
    {"rx_icrc_encapsulated", "packets", false},
    {"sent_pkts", "packets", false},
    {"rcvd_pkts", "packets", false},
    {"out_of_seq_request", "packets", false},
    {"rcvd_rnr_err", "events", false},
    {"send_rnr_err", "events", false},
    {"rcvd_seq_err", "events", false},
    {"ack_deferred", "events", false},
    {"retry_exceeded_err", "events", false},
    {"retry_rnr_exceeded_err", "events", false},
    {"completer_retry_err", "events", false},
    {"send_err", "events", false},
    {"link_downed", "events", false},
    {"rdma_sends", "requests", false},
    {"rdma_recvs", "requests", false},
    {"IpExtInCEPkts", "packets", false},
    {"IpExtInECT0Pkts", "packets", false},
    {"IpExtInECT1Pkts", "packets", false},
    {"IpExtInNoECTPkts", "packets", false},
    {"Ip6In*Pkts", "packets", false},
    {"qdisc_*_marked", "packets", false},
    {"qdisc_*_early", "packets", false},
    {"qdisc_*_pdrop", "packets", false},
    {"qdisc_*_other", "packets", false},
    {"qdisc_*_drops", "packets", false},
    {"qdisc_*_overlimits", "events", false},
    {"qdisc_*_packets", "packets", false},
    {"qdisc_*_bytes", "bytes", false},
    {"qdisc_*_backlog", "bytes", true},
    {"qdisc_*_qlen", "packets", true},
    {"gpu*_pcie_rx", "bytes/s", true},
    {"gpu*_pcie_tx", "bytes/s", true},
    {"gpu*_pcie_rx_bytes", "bytes", false},
    {"gpu*_pcie_tx_bytes", "bytes", false},
    {"gpu*_stalls", "events", false},
    {"gpu*_stalled_duration", "us", false},
    {"nic_pcie_rx_bytes", "bytes", false},
    {"nic_pcie_tx_bytes", "bytes", false},
    {"gpu*_pcie_replays", "events", false},
    {"gpu*_bar1_*", "bytes", true},
    {"link_carrier", "state", true},
    {"rx_buffer*", "bytes", true},
    {"port*_queue_bytes", "bytes", true},
    {"port*_queue_peak_bytes", "bytes", true},
    {"port*_ingress_bytes", "bytes", true},
    {"port*_paused", "state", true},
    {"port*_pause", "frames", false},
    {"port*_pause_duration", "us", false},
    {"port*_ecn_marked", "packets", false},
    {"port*_discards", "packets", false},
    {"port*_tx_bytes", "bytes", false},
    {"port*_rx_bytes", "bytes", false},
    {"port*_ring_frames", "packets", true},
    {"port*_rx_out_of_buffer", "packets", false},
    {"shared_bytes", "bytes", true},
    {"shared_peak_bytes", "bytes", true},
    {"headroom_peak_bytes", "bytes", true},
    {"ecn_marked", "packets", false},
    {"buffer_discards", "packets", false},
    {"watchdog_storms", "events", false},
    {"watchdog_restores", "events", false},
    {"watchdog_discards", "packets", false},
    {"rx_pause", "frames", false},
    {"tx_pause", "frames", false},
    {"softirq_busy", "us", false},
    {"dcqcn_*_rate", "b/s", true},
    {"dcqcn_*_alpha", "of 1024", true},
};

#define COUNT (sizeof names / sizeof *names)

/* fnmatch's pattern of an entry: '#' becomes a digit. */
static void pattern_of(const struct counter_name *entry, char *buffer, size_t size)
{
    size_t used = 0;
    for (const char *c = entry->pattern; *c && used + 6 < size; c++)
        used += (size_t)snprintf(buffer + used, size - used, *c == '#' ? "[0-7]" : "%c", *c);
    buffer[used] = '\0';
}

const struct counter_name *counters_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++) {
        char pattern[128];
        pattern_of(&names[i], pattern, sizeof pattern);
        if (fnmatch(pattern, name, 0) == 0)
            return &names[i];
    }
    return NULL;
}

bool counters_match(const char *glob)
{
    for (size_t i = 0; i < COUNT; i++)
        for (int digit = '0'; digit <= '7'; digit++) {
            char name[128];
            size_t n = 0;
            for (const char *c = names[i].pattern; *c && n + 1 < sizeof name; c++)
                name[n++] = *c == '#' ? (char)digit : *c;
            name[n] = '\0';
            if (fnmatch(glob, name, 0) == 0 || fnmatch(name, glob, 0) == 0)
                return true;
        }
    return false;
}

const char *counters_nearest(const char *name, char *buffer, size_t size)
{
    const char *words[COUNT + 1];
    char digit = '0', plain[128];
    size_t n = 0;
    for (const char *c = name; *c && n + 1 < sizeof plain; c++) {
        bool number = isdigit((unsigned char)*c) && c - name >= 4 && strncmp(c - 4, "prio", 4) == 0;
        if (number)
            digit = *c;
        plain[n++] = number ? '#' : *c;
    }
    plain[n] = '\0';
    for (size_t i = 0; i < COUNT; i++)
        words[i] = names[i].pattern;
    words[COUNT] = NULL;
    const char *near = nearest_word(plain, words);
    if (!near)
        return NULL;
    snprintf(buffer, size, "%s", near);
    for (char *c = buffer; *c; c++)
        if (*c == '#')
            *c = digit <= '7' ? digit : '0';
    return buffer;
}
