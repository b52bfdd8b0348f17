/* Defaults of the configuration, and the arithmetic that a caller needs to fill it. */
#include "sim/sim.h"
#include <string.h>

void sim_framing_defaults(struct sim_framing *f)
{
    *f = (struct sim_framing){.gap_bytes = 20,
                              .data_bytes = 62,
                              .reth_bytes = 16,
                              .aeth_bytes = 4,
                              .ack_bytes = 66,
                              .cnp_bytes = 78,
                              .pfc_bytes = 64,
                              .minimum_bytes = 64};
}

/* mlx5's defaults (NVIDIA, DCQCN parameters of ConnectX-4 and later). */
static void dcqcn_defaults(struct sim_dcqcn_rp *rp, struct sim_dcqcn_np *np)
{
    *rp = (struct sim_dcqcn_rp){.clamp_tgt_rate_after_time_inc = 1,
                                .rpg_time_reset = 300,
                                .rpg_byte_reset = 32767,
                                .rpg_threshold = 1,
                                .rpg_ai_rate = 5,
                                .rpg_hai_rate = 50,
                                .rpg_min_dec_fac = 50,
                                .rpg_min_rate = 1,
                                .rpg_gd = 11,
                                .dce_tcp_g = 1019,
                                .dce_tcp_rtt = 1,
                                .rate_reduce_monitor_period = 4,
                                .initial_alpha_value = 1023};
    *np = (struct sim_dcqcn_np){.min_time_between_cnps = 4, .cnp_dscp = 48, .cnp_802p_prio = 6};
}

void sim_settings_defaults(struct sim_settings *s, int64_t port_buffer_bytes)
{
    *s = (struct sim_settings){.mtu_bytes = 1500, .cable_mm = 7000, .buffer_bytes = {port_buffer_bytes}};
    dcqcn_defaults(&s->rp, &s->np);
}

void sim_host_defaults(struct sim_host_config *h)
{
    memset(h, 0, sizeof *h);
    h->name = "host";
    h->nic = (struct sim_nic_config){.tx_buffer_bytes = 32768,
                                     .port_buffer_bytes = 262016,
                                     .cell_bytes = 128,
                                     .max_mtu_bytes = 9978,
                                     .pause_quanta = 65535,
                                     .pause_refresh_percent = 50,
                                     .ack_coalescing = true,
                                     .ack_timeout_ps = 4096 * SIM_PS_PER_NS << 14,
                                     .max_reads = 16};
    h->pcie = (struct sim_pcie_config){.lanes = 8,
                                       .max_payload_bytes = 256,
                                       .max_read_request_bytes = 512,
                                       .completion_bytes = 64,
                                       .tags = 64,
                                       .posted_header_credits = 64,
                                       .posted_data_credits = 1024,
                                       .latency_ps = 150 * SIM_PS_PER_NS};
    for (int i = 0; i < SIM_MEMORIES; i++)
        h->memories[i] = (struct sim_memory_config){.write_bytes_per_s = INT64_C(20000000000),
                                                    .read_bytes_per_s = INT64_C(20000000000),
                                                    .interleave_bytes = 512,
                                                    .stall_window_ps = 10 * SIM_PS_PER_US,
                                                    .device_write_bytes = 256,
                                                    .device_read_bytes = 512,
                                                    .device_completion_bytes = 64,
                                                    .device_request_header_bytes = 16,
                                                    .device_completion_header_bytes = 12};
    sim_settings_defaults(&h->settings, h->nic.port_buffer_bytes);
}

void sim_flow_defaults(struct sim_flow_config *f)
{
    *f = (struct sim_flow_config){.name = "flow",
                                  .message_bytes = 65536,
                                  .queue_pairs = 1,
                                  .depth = 128,
                                  .stop_ps = SIM_FOREVER,
                                  .after = -1};
}

void sim_config_defaults(struct sim_config *c)
{
    *c = (struct sim_config){.seed = 1, .udp_destination_port = 4791};
    sim_framing_defaults(&c->framing);
}

int64_t sim_cable_delay_ps(int64_t length_mm)
{
    return length_mm * 5;
}

int32_t sim_infiniband_mtu(int64_t link_mtu_bytes)
{
    /* GRH or IP 40, UDP 8, BTH 12, XRC 4, atomic extended header 28, ICRC 4 */
    int64_t room = link_mtu_bytes - 96;
    int32_t mtu = 4096;
    while (mtu > 256 && mtu > room)
        mtu /= 2;
    return mtu <= room ? mtu : 0;
}
