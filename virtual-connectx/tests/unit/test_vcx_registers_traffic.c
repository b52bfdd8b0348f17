/* Registers of flow control, priorities and counters of the virtual ConnectX, in the sequences of mlx5's
 * port.c, en/port.c and en_stats.c. */
#include "virtual-connectx/tests/unit/vcx_call.h"
#include "virtual-connectx/tests/unit/vcx_register_ids.h"

/* ---- flow control */

/* mlx5_set_port_pfc() */
static void set_pfc(struct host *h, uint8_t tx, uint8_t rx)
{
    host_clear(h);
    vcx_set(h->reg, pfcc_reg, pfctx, tx);
    vcx_set(h->reg, pfcc_reg, pfcrx, rx);
    vcx_set(h->reg, pfcc_reg, prio_mask_tx, 0xff);
    vcx_set(h->reg, pfcc_reg, prio_mask_rx, 0xff);
    assert_int_equal(host_write(h, PFCC), VCX_OK);
}

/* mlx5_set_port_pause() */
static void set_pause(struct host *h, bool tx, bool rx)
{
    host_clear(h);
    vcx_set(h->reg, pfcc_reg, pptx, tx);
    vcx_set(h->reg, pfcc_reg, pprx, rx);
    assert_int_equal(host_write(h, PFCC), VCX_OK);
}

static void expect_pauses(struct host *h, bool pause_tx, bool pause_rx, uint8_t pfc_tx, uint8_t pfc_rx)
{
    host_read(h, PFCC);
    assert_int_equal(vcx_get(h->reg, pfcc_reg, pptx), pause_tx);
    assert_int_equal(vcx_get(h->reg, pfcc_reg, pprx), pause_rx);
    assert_int_equal(vcx_get(h->reg, pfcc_reg, pfctx), pfc_tx);
    assert_int_equal(vcx_get(h->reg, pfcc_reg, pfcrx), pfc_rx);
}

static void pfc_and_pause_exclude_each_other(void **state)
{
    struct host *h = *state;
    expect_pauses(h, true, true, 0, 0); /* as after power-on */
    set_pfc(h, 0x08, 0x18);
    expect_pauses(h, false, false, 0x08, 0x18);
    set_pause(h, true, false);
    expect_pauses(h, true, false, 0, 0);
    set_pause(h, false, false);
    expect_pauses(h, false, false, 0, 0);
    host_clear(h); /* both at once, and of one priority only */
    vcx_set(h->reg, pfcc_reg, pptx, 1);
    vcx_set(h->reg, pfcc_reg, pfctx, 0xff);
    vcx_set(h->reg, pfcc_reg, prio_mask_tx, 0x20);
    assert_int_equal(host_write(h, PFCC), VCX_OK);
    expect_pauses(h, false, false, 0x20, 0);
}

/* mlx5_set_port_stall_watermark() leaves the pauses alone. */
static void stall_watermarks_are_masked(void **state)
{
    struct host *h = *state;
    set_pfc(h, 0x08, 0x08);
    host_clear(h);
    vcx_set(h->reg, pfcc_reg, pptx_mask_n, 1);
    vcx_set(h->reg, pfcc_reg, pprx_mask_n, 1);
    vcx_set(h->reg, pfcc_reg, critical_stall_mask, 1);
    vcx_set(h->reg, pfcc_reg, minor_stall_mask, 1);
    vcx_set(h->reg, pfcc_reg, device_stall_critical_watermark, 8000);
    vcx_set(h->reg, pfcc_reg, device_stall_minor_watermark, 6800);
    assert_int_equal(host_write(h, PFCC), VCX_OK);
    expect_pauses(h, false, false, 0x08, 0x08);
    set_pfc(h, 0x10, 0x10); /* leaves the watermarks alone */
    assert_int_equal(vcx_get(h->reg, pfcc_reg, device_stall_critical_watermark), 8000);
    assert_int_equal(vcx_port_settings(&h->device)->minor_stall_ms, 6800);
}

static uint8_t *buffer_row(struct host *h, int i)
{
    return vcx_at(h->reg, pbmc_reg, buffer) + 8 * i;
}

static void put_buffer(struct host *h, int i, uint32_t cells, uint32_t xoff, uint32_t xon, bool lossy)
{
    vcx_set(buffer_row(h, i), bufferx_reg, size, cells);
    vcx_set(buffer_row(h, i), bufferx_reg, xoff_threshold, xoff);
    vcx_set(buffer_row(h, i), bufferx_reg, xon_threshold, xon);
    vcx_set(buffer_row(h, i), bufferx_reg, lossy, lossy);
}

/* mlx5e_port_query_pbmc(), then port_set_buffer(): the total is written as 0 */
static void buffers_are_set(void **state)
{
    struct host *h = *state;
    host_read(h, PBMC);
    assert_int_equal(vcx_get(h->reg, pbmc_reg, port_buffer_size), 2047);
    vcx_set(h->reg, pbmc_reg, port_buffer_size, 0);
    put_buffer(h, 0, 1023, 0, 0, true);
    put_buffer(h, 1, 1024, 745, 667, false);
    assert_int_equal(host_write(h, PBMC), VCX_OK);
    const struct vcx_receive_buffer *one = &vcx_port_settings(&h->device)->buffers[1];
    assert_true(one->bytes == 1024 * 128 && one->xoff_bytes == 745 * 128 && one->xon_bytes == 667 * 128 &&
                !one->lossy);
    set_pfc(h, 0x08, 0x08); /* the firmware does not divide them anew */
    host_read(h, PBMC);
    assert_int_equal(vcx_get(h->reg, pbmc_reg, port_buffer_size), 2047);
    assert_int_equal(vcx_get(buffer_row(h, 1), bufferx_reg, xoff_threshold), 745);
    assert_int_equal(vcx_get(buffer_row(h, 1), bufferx_reg, size), 1024);
    assert_true(vcx_get(buffer_row(h, 0), bufferx_reg, lossy));
}

static void buffers_must_fit(void **state)
{
    struct host *h = *state;
    struct vcx_port_settings before = *vcx_port_settings(&h->device);
    host_clear(h);
    put_buffer(h, 0, 1024, 0, 0, true);
    put_buffer(h, 7, 1024, 0, 0, true); /* one cell too many */
    assert_int_equal(host_write(h, PBMC), VCX_BAD_PARAMETER);
    host_clear(h);
    put_buffer(h, 0, 100, 101, 0, false);
    assert_int_equal(host_write(h, PBMC), VCX_BAD_PARAMETER);
    host_clear(h);
    put_buffer(h, 0, 100, 50, 51, false);
    assert_int_equal(host_write(h, PBMC), VCX_BAD_PARAMETER);
    host_clear(h);
    put_buffer(h, 8, 1, 0, 0, true); /* the firmware's own */
    assert_int_equal(host_write(h, PBMC), VCX_BAD_PARAMETER);
    for (int i = 0; i < 10; i++)
        put_buffer(h, i, 0xffff, 0, 0, true);
    assert_int_equal(host_write(h, PBMC), VCX_BAD_PARAMETER);
    assert_memory_equal(before.buffers, vcx_port_settings(&h->device)->buffers, sizeof before.buffers);
    assert_false(vcx_port_settings(&h->device)->buffers_set);
}

/* mlx5e_port_set_priority2buffer() */
static void priorities_are_mapped(void **state)
{
    struct host *h = *state;
    host_read(h, PPTB);
    vcx_set(h->reg, pptb_reg, pm, 0xff);
    vcx_set(h->reg, pptb_reg, prio_x_buff, 0x76543210);
    assert_int_equal(host_write(h, PPTB), VCX_OK);
    host_clear(h);
    vcx_set(h->reg, pptb_reg, pm, 0x08);
    vcx_set(h->reg, pptb_reg, prio_x_buff, 0xffff1fff); /* what is not named is not looked at */
    assert_int_equal(host_write(h, PPTB), VCX_OK);
    host_read(h, PPTB);
    assert_int_equal(vcx_get(h->reg, pptb_reg, prio_x_buff), 0x76541210);
    set_pfc(h, 0x20, 0x20);
    assert_int_equal(vcx_port_settings(&h->device)->buffer_of_priority[5], 5);
    host_clear(h);
    vcx_set(h->reg, pptb_reg, pm, 0x11);
    vcx_set(h->reg, pptb_reg, prio_x_buff, 0x00080001);
    assert_int_equal(host_write(h, PPTB), VCX_BAD_PARAMETER); /* there is no buffer 8 */
    assert_int_equal(vcx_port_settings(&h->device)->buffer_of_priority[0], 0);
    host_clear(h);
    vcx_set(h->reg, pptb_reg, um, 1);
    assert_int_equal(host_write(h, PPTB), VCX_BAD_PARAMETER);
}

/* mlx5e_port_set_sbpr(), mlx5e_port_set_sbcm(); the driver computes with what it reads. */
static void pools_are_kept(void **state)
{
    struct host *h = *state;
    memset(h->reg, 0, sizeof h->reg);
    vcx_set(h->reg, sbpr_reg, dir, 1);
    assert_int_equal(host_access(h, SBPR, 24, false), VCX_OK);
    assert_true(vcx_get(h->reg, sbpr_reg, size) > 0);
    vcx_set(h->reg, sbpr_reg, size, 333);
    vcx_set(h->reg, sbpr_reg, mode, 1);
    assert_int_equal(host_access(h, SBPR, 24, true), VCX_OK);
    assert_int_equal(host_access(h, SBPR, 24, false), VCX_OK);
    assert_true(vcx_get(h->reg, sbpr_reg, size) == 333 && vcx_get(h->reg, sbpr_reg, mode) == 1 &&
                vcx_get(h->reg, sbpr_reg, dir) == 1);
    vcx_set(h->reg, sbpr_reg, pool, 4);
    assert_int_equal(host_access(h, SBPR, 24, false), VCX_BAD_PARAMETER);
    memset(h->reg, 0, sizeof h->reg);
    vcx_set(h->reg, sbpr_reg, dir, 2);
    assert_int_equal(host_access(h, SBPR, 24, false), VCX_BAD_PARAMETER);
    host_clear(h);
    vcx_set(h->reg, sbcm_reg, pg_buff, 7);
    vcx_set(h->reg, sbcm_reg, max_buff, 13);
    vcx_set(h->reg, sbcm_reg, pool, 1);
    assert_int_equal(host_write(h, SBCM), VCX_OK);
    host_clear(h);
    vcx_set(h->reg, sbcm_reg, pg_buff, 7);
    assert_int_equal(host_access(h, SBCM, 40, false), VCX_OK);
    assert_true(vcx_get(h->reg, sbcm_reg, max_buff) == 13 && vcx_get(h->reg, sbcm_reg, pool) == 1);
    vcx_set(h->reg, sbcm_reg, pg_buff, 8);
    assert_int_equal(host_access(h, SBCM, 40, false), VCX_BAD_PARAMETER);
}

/* ---- classes and priorities */

static uint8_t *class_row(struct host *h, int i)
{
    return vcx_at(h->reg, qetc_reg, tc_configuration) + 8 * i;
}

/* mlx5_set_port_tc_group(), mlx5_set_port_tc_bw_alloc(), mlx5_modify_port_ets_rate_limit(): each leaves
 * the others' fields alone, and the first two do not name the port. */
static void classes_are_set(void **state)
{
    struct host *h = *state;
    memset(h->reg, 0, sizeof h->reg);
    for (int i = 0; i < 8; i++) {
        vcx_set(class_row(h, i), ets_tcn_config_reg, g, 1);
        vcx_set(class_row(h, i), ets_tcn_config_reg, group, i / 4);
    }
    assert_int_equal(host_write(h, QETCR), VCX_OK);
    memset(h->reg, 0, sizeof h->reg);
    for (int i = 0; i < 8; i++) {
        vcx_set(class_row(h, i), ets_tcn_config_reg, b, 1);
        vcx_set(class_row(h, i), ets_tcn_config_reg, bw_allocation, 25);
    }
    assert_int_equal(host_write(h, QETCR), VCX_OK);
    host_clear(h);
    for (int i = 0; i < 8; i++) {
        vcx_set(class_row(h, i), ets_tcn_config_reg, r, 1);
        vcx_set(class_row(h, i), ets_tcn_config_reg, max_bw_units, i == 0 ? 0 : i == 1 ? 4 : 3);
        vcx_set(class_row(h, i), ets_tcn_config_reg, max_bw_value, i == 0 ? 0 : i == 1 ? 40 : 100);
    }
    assert_int_equal(host_write(h, QETCR), VCX_OK);
    const struct vcx_traffic_class *classes = vcx_port_settings(&h->device)->classes;
    assert_true(classes[5].group == 1 && classes[5].share_percent == 25);
    assert_true(classes[0].most_bps == 0 && classes[1].most_bps == 40000000000 &&
                classes[2].most_bps == 10000000000);
    memset(h->reg, 0, sizeof h->reg);
    assert_int_equal(host_access(h, QETCR, 80, false), VCX_OK);
    assert_true(vcx_get(class_row(h, 1), ets_tcn_config_reg, max_bw_units) == 4 &&
                vcx_get(class_row(h, 1), ets_tcn_config_reg, max_bw_value) == 40);
    assert_true(vcx_get(class_row(h, 2), ets_tcn_config_reg, max_bw_units) == 3 &&
                vcx_get(class_row(h, 2), ets_tcn_config_reg, max_bw_value) == 100);
    assert_int_equal(vcx_get(class_row(h, 0), ets_tcn_config_reg, max_bw_units), 0);
    assert_true(vcx_get(class_row(h, 7), ets_tcn_config_reg, group) == 1 &&
                vcx_get(class_row(h, 7), ets_tcn_config_reg, bw_allocation) == 25);
}

static void wrong_classes_are_refused_whole(void **state)
{
    struct host *h = *state;
    static const struct {
        uint32_t place[3];
        uint8_t value[3];
    } wrong[] = {
        {{VCX_ets_tcn_config_reg__g, VCX_ets_tcn_config_reg__group, 0}, {1, 8, 0}},
        {{VCX_ets_tcn_config_reg__b, VCX_ets_tcn_config_reg__bw_allocation, 0}, {1, 101, 0}},
        {{VCX_ets_tcn_config_reg__r, VCX_ets_tcn_config_reg__max_bw_units,
          VCX_ets_tcn_config_reg__max_bw_value},
         {1, 5, 1}},
        {{VCX_ets_tcn_config_reg__r, VCX_ets_tcn_config_reg__max_bw_units,
          VCX_ets_tcn_config_reg__max_bw_value},
         {1, 3, 0}},
    };
    struct vcx_port_settings before = *vcx_port_settings(&h->device);
    for (size_t i = 0; i < VCX_COUNT(wrong); i++) {
        host_clear(h);
        vcx_set(class_row(h, 0), ets_tcn_config_reg, g, 1);
        vcx_set(class_row(h, 0), ets_tcn_config_reg, group, 5);
        for (int j = 0; j < 3; j++)
            if (wrong[i].place[j])
                vcx_set_place(class_row(h, 7), wrong[i].place[j], wrong[i].value[j]);
        assert_int_equal(host_write(h, QETCR), VCX_BAD_PARAMETER);
    }
    host_clear(h);
    vcx_set(h->reg, qetc_reg, global_limit, 1);
    assert_int_equal(host_write(h, QETCR), VCX_BAD_PARAMETER);
    vcx_set(h->reg, qetc_reg, port_number, 2);
    assert_int_equal(host_access(h, QETCR, 80, false), VCX_BAD_PARAMETER);
    assert_memory_equal(&before, vcx_port_settings(&h->device), sizeof before);
}

/* mlx5_set_port_prio_tc(), mlx5_set_trust_state() */
static void priorities_have_classes_and_trust(void **state)
{
    struct host *h = *state;
    for (uint8_t i = 0; i < 8; i++) {
        memset(h->reg, 0, sizeof h->reg);
        vcx_set(h->reg, qtct_reg, prio, i);
        vcx_set(h->reg, qtct_reg, tclass, 7 - i);
        assert_int_equal(host_write(h, QTCT), VCX_OK);
    }
    host_clear(h);
    vcx_set(h->reg, qtct_reg, prio, 2);
    assert_int_equal(host_access(h, QTCT, 8, false), VCX_OK);
    assert_int_equal(vcx_get(h->reg, qtct_reg, tclass), 5);
    host_read(h, QPTS);
    assert_int_equal(vcx_get(h->reg, qpts_reg, trust_state), VCX_TRUST_PCP);
    vcx_set(h->reg, qpts_reg, trust_state, VCX_TRUST_DSCP);
    assert_int_equal(host_write(h, QPTS), VCX_OK);
    for (uint8_t value = 0; value < 8; value++) {
        bool known = value == VCX_TRUST_PCP || value == VCX_TRUST_DSCP;
        host_clear(h);
        vcx_set(h->reg, qpts_reg, trust_state, value);
        assert_int_equal(host_write(h, QPTS), known ? VCX_OK : VCX_BAD_PARAMETER);
    }
    host_read(h, QPTS);
    assert_int_equal(vcx_get(h->reg, qpts_reg, trust_state), VCX_TRUST_DSCP);
}

/* mlx5_set_dscp2prio(): reads all, changes one row and enables it */
static void dscps_have_priorities(void **state)
{
    struct host *h = *state;
    host_read(h, QPDPM);
    uint8_t *rows = vcx_at(h->reg, qpdpm_reg, dscp);
    assert_int_equal(vcx_be16(rows + 2 * 26), 3);
    vcx_put16(rows + 2 * 26, 0x8000 | 5);
    vcx_put16(rows + 2 * 27, 9); /* not enabled */
    assert_int_equal(host_write(h, QPDPM), VCX_OK);
    assert_int_equal(vcx_port_settings(&h->device)->priority_of_dscp[26], 5);
    assert_int_equal(vcx_port_settings(&h->device)->priority_of_dscp[27], 3);
    host_read(h, QPDPM);
    assert_int_equal(vcx_be16(rows + 2 * 26), 5);
    vcx_put16(rows + 2 * 0, 0x8000 | 1);
    vcx_put16(rows + 2 * 63, 0x8000 | 8);
    assert_int_equal(host_write(h, QPDPM), VCX_BAD_PARAMETER);
    assert_int_equal(vcx_port_settings(&h->device)->priority_of_dscp[0], 0);
}

/* ---- counters */

static const uint8_t *counters(struct host *h, uint8_t group, uint8_t priority)
{
    host_clear(h);
    vcx_set(h->reg, ppcnt_reg, grp, group);
    vcx_set(h->reg, ppcnt_reg, prio_tc, priority);
    assert_int_equal(host_access(h, PPCNT, 256, false), VCX_OK);
    assert_int_equal(vcx_get(h->reg, ppcnt_reg, grp), group);
    return vcx_at(h->reg, ppcnt_reg, counter_set);
}

#define COUNTER(set, group, name) vcx_be64((const uint8_t *)(set) + vcx_offset(group, name##_high))

static void frames_are_counted(void **state)
{
    struct host *h = *state;
    struct vcx_port_counters *c = vcx_port_counters(&h->device);
    c->rx = (struct vcx_direction_counters){
        .frames = 10, .bytes = 5000000000, .multicast = 2, .broadcast = 1, .pause = 4};
    c->tx = (struct vcx_direction_counters){.frames = 20, .bytes = 2000, .multicast = 3};
    for (uint8_t i = 0; i < 10; i++)
        c->rx.of_size[i] = 100 + i;
    c->rx_fcs_errors = 7;
    c->rx_too_long = 8;
    c->rx_passed_threshold = 11;
    c->priority[3].rx_discards = 9;
    c->priority[4].rx_pause = 6;
    const uint8_t *set = counters(h, 0, 0);
    assert_int_equal(COUNTER(set, eth_802_3_cntrs_grp_data_layout, a_frames_received_ok), 10);
    assert_int_equal(COUNTER(set, eth_802_3_cntrs_grp_data_layout, a_octets_received_ok), 5000000000);
    assert_int_equal(COUNTER(set, eth_802_3_cntrs_grp_data_layout, a_frame_check_sequence_errors), 7);
    assert_int_equal(COUNTER(set, eth_802_3_cntrs_grp_data_layout, a_pause_mac_ctrl_frames_received), 4);
    assert_int_equal(COUNTER(set, eth_802_3_cntrs_grp_data_layout, a_mac_control_frames_received), 10);
    set = counters(h, 1, 0);
    assert_int_equal(COUNTER(set, eth_2863_cntrs_grp_data_layout, if_in_ucast_pkts), 7);
    assert_int_equal(COUNTER(set, eth_2863_cntrs_grp_data_layout, if_in_discards), 9);
    assert_int_equal(COUNTER(set, eth_2863_cntrs_grp_data_layout, if_in_errors), 15);
    set = counters(h, 2, 0);
    assert_int_equal(vcx_be64(set + 8 * 11), 100); /* 64 octets */
    assert_int_equal(vcx_be64(set + 8 * 20), 109); /* 8192 to 10239 */
    assert_int_equal(COUNTER(set, eth_2819_cntrs_grp_data_layout, ether_stats_oversize_pkts), 8);
    set = counters(h, 3, 0);
    assert_int_equal(COUNTER(set, eth_3635_cntrs_grp_data_layout, dot3in_pause_frames), 4);
    set = counters(h, 5, 0);
    assert_int_equal(COUNTER(set, eth_extended_cntrs_grp_data_layout, rx_buffer_almost_full), 11);
    set = counters(h, 0x16, 0);
    assert_int_equal(COUNTER(set, phys_layer_statistical_cntrs, phy_received_bits),
                     8 * (5000000000 + 20 * 10));
}

static void priorities_are_counted(void **state)
{
    struct host *h = *state;
    struct vcx_port_counters *c = vcx_port_counters(&h->device);
    c->priority[3] = (struct vcx_priority_counters){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0};
    c->rx.pause = 40;
    c->rx_pause_us = 41;
    c->critical_stalls = 2;
    c->link_downs = 3;
    const uint8_t *set = counters(h, 0x10, 3);
    assert_int_equal(COUNTER(set, eth_per_prio_grp_data_layout, rx_frames), 1);
    assert_int_equal(COUNTER(set, eth_per_prio_grp_data_layout, tx_octets), 4);
    assert_int_equal(COUNTER(set, eth_per_prio_grp_data_layout, rx_pause), 5);
    assert_int_equal(COUNTER(set, eth_per_prio_grp_data_layout, tx_pause_duration), 8);
    assert_int_equal(COUNTER(set, eth_per_prio_grp_data_layout, rx_pause_transition), 9);
    assert_int_equal(COUNTER(set, eth_per_prio_grp_data_layout, rx_discards), 10);
    assert_int_equal(COUNTER(set, eth_per_prio_grp_data_layout, device_stall_critical_watermark_cnt), 2);
    set = counters(h, 0x10, 0); /* where the driver reads global pause */
    assert_int_equal(COUNTER(set, eth_per_prio_grp_data_layout, rx_pause), 40);
    assert_int_equal(COUNTER(set, eth_per_prio_grp_data_layout, rx_pause_duration), 41);
    assert_int_equal(COUNTER(counters(h, 0x11, 3), eth_per_tc_prio_grp_data_layout, no_buffer_discard_uc),
                     10);
    assert_int_equal(COUNTER(counters(h, 0x13, 3), eth_per_tc_congest_prio_grp_data_layout, ecn_marked_tc),
                     11);
    assert_int_equal(vcx_get(counters(h, 0x12, 0), phys_layer_cntrs, link_down_events), 3);
}

static void unknown_counters_are_refused(void **state)
{
    struct host *h = *state;
    static const uint8_t groups[] = {4, 6, 0x14, 0x20, 0x3f};
    for (size_t i = 0; i < VCX_COUNT(groups); i++) {
        host_clear(h);
        vcx_set(h->reg, ppcnt_reg, grp, groups[i]);
        assert_int_equal(host_access(h, PPCNT, 256, false), VCX_BAD_PARAMETER);
    }
    host_clear(h);
    vcx_set(h->reg, ppcnt_reg, clr, 1);
    assert_int_equal(host_access(h, PPCNT, 256, false), VCX_BAD_PARAMETER);
    memset(h->reg, 0, sizeof h->reg);
    vcx_set(h->reg, mpcnt_reg, grp, 1);
    assert_int_equal(host_access(h, MPCNT, 256, false), VCX_BAD_PARAMETER);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, host_start, host_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pfc_and_pause_exclude_each_other),
        TEST(stall_watermarks_are_masked),
        TEST(buffers_are_set),
        TEST(buffers_must_fit),
        TEST(priorities_are_mapped),
        TEST(pools_are_kept),
        TEST(classes_are_set),
        TEST(wrong_classes_are_refused_whole),
        TEST(priorities_have_classes_and_trust),
        TEST(dscps_have_priorities),
        TEST(frames_are_counted),
        TEST(priorities_are_counted),
        TEST(unknown_counters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
