// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the function says that it can do (QUERY_HCA_CAP): only what the model does, or what a driver does
 * not start without. */
#include "virtual-connectx/model/capability.h"

#include "lib/roce/retransmission.h"
#include "virtual-connectx/model/layout.h"
#include "virtual-connectx/model/queue/mkey.h"
#include "virtual-connectx/model/vport/vport.h"

/* groups of capabilities (mlx5's MLX5_CAP_*) */
enum group { GENERAL = 0, ETHERNET_OFFLOADS = 1, ATOMIC = 3, ROCE = 4, FLOW_TABLE = 7, DEBUG = 13 };

struct value {
    uint32_t place;
    uint32_t value;
};

static const struct value general[] = {
    /* queues and work requests */
    {VCX_cmd_hca_cap__log_max_qp_sz, 15},
    {VCX_cmd_hca_cap__log_max_srq_sz, 15},
    {VCX_cmd_hca_cap__log_max_cq_sz, 22},
    {VCX_cmd_hca_cap__log_max_eq_sz, 14},
    {VCX_cmd_hca_cap__log_max_wq_sz, 13},
    {VCX_cmd_hca_cap__max_num_eqs, 32},
    {VCX_cmd_hca_cap__max_wqe_sz_sq, 1024},
    {VCX_cmd_hca_cap__max_wqe_sz_rq, 512},
    {VCX_cmd_hca_cap__max_wqe_sz_sq_dc, 512},
    {VCX_cmd_hca_cap__log_min_stride_sz_sq, 6},
    {VCX_cmd_hca_cap__log_max_stride_sz_sq, 11},
    {VCX_cmd_hca_cap__log_min_stride_sz_rq, 4},
    {VCX_cmd_hca_cap__log_max_stride_sz_rq, 11},
    {VCX_cmd_hca_cap__basic_cyclic_rcv_wqe, 1},
    {VCX_cmd_hca_cap__log_max_rqt_size, 8},
    {VCX_cmd_hca_cap__log_max_tis_per_sq, 4},
    {VCX_cmd_hca_cap__cqe_version, 1},    /* completions carry the driver's index of a queue */
    {VCX_cmd_hca_cap__cqe_128_always, 1}, /* entries of 128 bytes may be padded */
    {VCX_cmd_hca_cap__cq_resize, 1},
    {VCX_cmd_hca_cap__cq_moderation, 1},
    {VCX_cmd_hca_cap__compact_address_vector, 1},
    /* doorbells */
    {VCX_cmd_hca_cap__uar_sz, 0},
    {VCX_cmd_hca_cap__num_of_uars_per_page, 1},
    {VCX_cmd_hca_cap__log_pg_sz, 12},
    {VCX_cmd_hca_cap__bf, 0}, /* no BlueFlame: doorbell records are polled */
    {VCX_cmd_hca_cap__log_bf_reg_size, 9},
    /* memory */
    {VCX_cmd_hca_cap__max_indirection, VCX_KEY_DEPTH},
    {VCX_cmd_hca_cap__fixed_buffer_size, 1},
    {VCX_cmd_hca_cap__log_max_mrw_sz, 40},
    {VCX_cmd_hca_cap__log_max_klm_list_size, VCX_LOG_MOST_PARTS},
    {VCX_cmd_hca_cap__umr_modify_entity_size_disabled, 0}, /* work requests change lists of pages */
    {VCX_cmd_hca_cap__umr_extended_translation_offset, 1},
    {VCX_cmd_hca_cap__umr_fence, 2}, /* none is needed: what follows is executed after it */
    {VCX_cmd_hca_cap__imaicl, 1},
    /* transport */
    {VCX_cmd_hca_cap__roce, 1},
    {VCX_cmd_hca_cap__rc, 1},
    {VCX_cmd_hca_cap__ud, 1},
    {VCX_cmd_hca_cap__xrc, 1},    /* mlx5_ib does not start without it */
    {VCX_cmd_hca_cap__atomic, 1}, /* connection management asks for it */
    {VCX_cmd_hca_cap__log_max_msg, 30},
    {VCX_cmd_hca_cap__log_max_ra_req_qp, 4},
    {VCX_cmd_hca_cap__log_max_ra_res_qp, 4},
    {VCX_cmd_hca_cap__log_max_mcg, 8},
    {VCX_cmd_hca_cap__max_qp_mcg, 16},
    {VCX_cmd_hca_cap__block_lb_mc, 1},
    {VCX_cmd_hca_cap__local_ca_ack_delay, 15}, /* 134 ms: polled by a thread that may wait for a processor */
    {VCX_cmd_hca_cap__gid_table_size, 1},      /* 16 entries */
    {VCX_cmd_hca_cap__pkey_table_size, 0},     /* 128 entries */
    /* congestion control and its counters */
    {VCX_cmd_hca_cap__cc_query_allowed, 1},
    {VCX_cmd_hca_cap__cc_modify_allowed, 1},
    {VCX_cmd_hca_cap__out_of_seq_cnt, 1},
    {VCX_cmd_hca_cap__retransmission_q_counters, 1},
    {VCX_cmd_hca_cap__enhanced_error_q_counters, 1},
    {VCX_cmd_hca_cap__modify_rq_counter_set_id, 1},
    /* the port, and registers that are asked for only if a bit here says so */
    {VCX_cmd_hca_cap__num_ports, 1},
    {VCX_cmd_hca_cap__port_type, 1}, /* Ethernet */
    {VCX_cmd_hca_cap__max_tc, 8},
    {VCX_cmd_hca_cap__qos, 1},
    {VCX_cmd_hca_cap__ets, 1},
    {VCX_cmd_hca_cap__dcbx, 1},
    {VCX_cmd_hca_cap__pcam_reg, 1},
    {VCX_cmd_hca_cap__mcam_reg, 1},
    {VCX_cmd_hca_cap__qcam_reg, 1},
    {VCX_cmd_hca_cap__sbcam_reg, 1},
    {VCX_cmd_hca_cap__ports_check, 1},
    {VCX_cmd_hca_cap__beacon_led, 1},
    /* vport */
    {VCX_cmd_hca_cap__vport_group_manager, 1},
    {VCX_cmd_hca_cap__vport_counters, 1},
    {VCX_cmd_hca_cap__nic_receive_steering_discard, 1},
    {VCX_cmd_hca_cap__log_max_current_uc_list, VCX_LOG_ADDRESS_LIST},
    {VCX_cmd_hca_cap__log_max_current_mc_list, VCX_LOG_ADDRESS_LIST},
    {VCX_cmd_hca_cap__log_max_vlan_list, VCX_LOG_ADDRESS_LIST},
    {VCX_cmd_hca_cap__disable_local_lb_uc, 1},
    {VCX_cmd_hca_cap__disable_local_lb_mc, 1},
    {VCX_cmd_hca_cap__nic_flow_table, 1},
    {VCX_cmd_hca_cap__eth_net_offloads, 1},
    /* the firmware */
    {VCX_cmd_hca_cap__cmdif_checksum, 3},
    {VCX_cmd_hca_cap__driver_version, 1},
    {VCX_cmd_hca_cap__debug, 1},
    {VCX_cmd_hca_cap__device_frequency_khz, 1000000}, /* the clock and the completions' times are in ns */
};

static const struct value ethernet[] = {
    {VCX_per_protocol_networking_offload_caps__csum_cap, 1},
    {VCX_per_protocol_networking_offload_caps__vlan_cap, 1},
    {VCX_per_protocol_networking_offload_caps__wqe_vlan_insert, 1},
    {VCX_per_protocol_networking_offload_caps__max_lso_cap, 16}, /* 64 KiB */
    {VCX_per_protocol_networking_offload_caps__rss_ind_tbl_cap, 8},
    {VCX_per_protocol_networking_offload_caps__self_lb_en_modifiable, 1},
};

/* mlx5's MLX5_CAP_INLINE_MODE_*: the headers of layer 2 stand in the work request, or none has to */
enum { INLINE_LAYER_2 = 0, INLINE_NOTHING = 2 };

/* versions: NVIDIA's mlxup release notes, supported firmware; of a ConnectX-6 those that were measured, with
 * 100 Gb/s */
static const struct vcx_model connectx_4_lx = {.hardware_id = 0x20b,
                                               .most_gbps = 50,
                                               .inline_mode = INLINE_LAYER_2,
                                               .firmware = {14, 32},
                                               .retransmission = -1},
                              connectx_5 = {.hardware_id = 0x20d,
                                            .most_gbps = 100,
                                            .inline_mode = INLINE_NOTHING,
                                            .firmware = {16, 35},
                                            .retransmission = RETRANSMISSION_16_35},
                              connectx_6 = {.hardware_id = 0x20f,
                                            .most_gbps = 100,
                                            .inline_mode = INLINE_NOTHING,
                                            .firmware = {20, 43},
                                            .retransmission = RETRANSMISSION_20_43};

const struct vcx_model *vcx_model_of(uint16_t device_id)
{
    switch (device_id) {
    case VCX_CONNECTX_4_LX:
        return &connectx_4_lx;
    case VCX_CONNECTX_6:
        return &connectx_6;
    default:
        return &connectx_5;
    }
}

const struct vcx_model *vcx_model(const struct vcx_device *device)
{
    return vcx_model_of(device->configuration.device_id);
}

static const struct value receive_tables[] = {
    {VCX_flow_table_prop_layout__ft_support, 1},
    {VCX_flow_table_prop_layout__flow_modify_en, 1},
    {VCX_flow_table_prop_layout__modify_root, 1},
    {VCX_flow_table_prop_layout__identified_miss_table_mode, 1},
    {VCX_flow_table_prop_layout__flow_table_modify, 1},
    {VCX_flow_table_prop_layout__ignore_flow_level, 1},
    {VCX_flow_table_prop_layout__log_max_ft_size, VCX_LOG_MOST_FLOW_ENTRIES},
    {VCX_flow_table_prop_layout__max_ft_level, VCX_MOST_FLOW_LEVEL},
    {VCX_flow_table_prop_layout__log_max_ft_num, 12},
    {VCX_flow_table_prop_layout__log_max_destination, 12},
    {VCX_flow_table_prop_layout__log_max_flow, 20},
    {VCX_flow_table_prop_layout__ft_field_support_outer_dmac, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_smac, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_ether_type, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_ip_version, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_first_prio, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_first_vid, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_sip, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_dip, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_ip_protocol, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_udp_sport, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_udp_dport, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_tcp_sport, 1},
    {VCX_flow_table_prop_layout__ft_field_support_outer_tcp_dport, 1},
};

static const struct value roce[] = {
    {VCX_roce_cap__l3_type, 6},      /* IPv4 and IPv6 (MLX5_ROCE_L3_TYPE_*_CAP) */
    {VCX_roce_cap__roce_version, 4}, /* MLX5_ROCE_VERSION_2_CAP */
    {VCX_roce_cap__r_roce_dest_udp_port, 4791},
    {VCX_roce_cap__r_roce_max_src_udp_port, 0xffff},
    {VCX_roce_cap__r_roce_min_src_udp_port, 0xc000},
    {VCX_roce_cap__roce_address_table_size, 16},
};

static void set_all(uint8_t *group, const struct value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vcx_set_place(group, values[i].place, values[i].value);
}

/* How many of a kind there may be: what the table of objects says. */
static const struct {
    uint32_t place;
    enum vcx_kind kind;
} limits[] = {
#define LIMIT(field, kind)             \
    {                                  \
        VCX_cmd_hca_cap__##field, kind \
    }
    LIMIT(log_max_eq, VCX_EQ),     LIMIT(log_max_cq, VCX_CQ),
    LIMIT(log_max_mkey, VCX_MKEY), LIMIT(log_max_pd, VCX_PD),
    LIMIT(log_max_xrcd, VCX_XRCD), LIMIT(log_max_transport_domain, VCX_TRANSPORT_DOMAIN),
    LIMIT(log_max_qp, VCX_QP),     LIMIT(log_max_srq, VCX_SRQ),
    LIMIT(log_max_rmp, VCX_SRQ),   LIMIT(log_max_sq, VCX_SQ),
    LIMIT(log_max_rq, VCX_RQ),     LIMIT(log_max_rqt, VCX_RQT),
    LIMIT(log_max_tis, VCX_TIS),   LIMIT(log_max_tir, VCX_TIR),
#undef LIMIT
};

static uint32_t most_of(enum vcx_kind kind)
{
    return vcx_kinds[kind] ? (1u << vcx_kinds[kind]->log_limit) - 1 : 0;
}

static void set_limits(uint8_t *group)
{
    for (size_t i = 0; i < VCX_COUNT(limits); i++)
        if (vcx_kinds[limits[i].kind])
            vcx_set_place(group, limits[i].place, vcx_kinds[limits[i].kind]->log_limit);
    vcx_set(group, cmd_hca_cap, max_qp_cnt, vcx_least(most_of(VCX_COUNTER_SET), 0x3ff));
    vcx_set(group, cmd_hca_cap, max_flow_counter_15_0, vcx_least(most_of(VCX_FLOW_COUNTER), 0xffff));
}

void vcx_capabilities_start(struct vcx_device *device)
{
    uint8_t *tables = device->capability[FLOW_TABLE];
    const uint8_t *mac = device->configuration.mac;
    memset(device->capability, 0, sizeof device->capability);
    set_all(device->capability[GENERAL], general, VCX_COUNT(general));
    set_limits(device->capability[GENERAL]);
    vcx_set(device->capability[GENERAL], cmd_hca_cap, roce_accl, vcx_model(device)->retransmission >= 0);
    vcx_set(device->capability[GENERAL], cmd_hca_cap, vhca_id,
            vcx_be16(mac + 4)); /* another one for each function */
    set_all(device->capability[ETHERNET_OFFLOADS], ethernet, VCX_COUNT(ethernet));
    vcx_set(device->capability[ETHERNET_OFFLOADS], per_protocol_networking_offload_caps, wqe_inline_mode,
            vcx_model(device)->inline_mode);
    vcx_set(tables, flow_table_nic_cap, nic_rx_multi_path_tirs, 1);
    vcx_set(tables, flow_table_nic_cap, nic_rx_multi_path_tirs_fts, 1);
    set_all(vcx_at(tables, flow_table_nic_cap, flow_table_properties_nic_receive), receive_tables,
            VCX_COUNT(receive_tables));
    set_all(device->capability[ROCE], roce, VCX_COUNT(roce));
    vcx_set(device->capability[ATOMIC], atomic_caps, atomic_operations,
            3); /* compare and swap, fetch and add */
    vcx_set(device->capability[ATOMIC], atomic_caps, atomic_size_qp, 8);
    vcx_set(device->capability[ATOMIC], atomic_caps, supported_atomic_req_8B_endianness_mode_1, 1);
    vcx_set(device->capability[DEBUG], debug_cap, stall_detect, 1);
}
