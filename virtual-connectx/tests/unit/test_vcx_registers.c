/* Registers of the virtual ConnectX, read and written in the sequences of mlx5's port.c, en/port.c and
 * fw.c. */
#include "virtual-connectx/tests/unit/vcx_call.h"
#include "virtual-connectx/tests/unit/vcx_register_ids.h"

#include "virtual-connectx/model/capability.h"
#include "virtual-connectx/model/command/gateway.h"
#include "virtual-connectx/model/register/register.h"

static const uint16_t all[] = {
    QPTS, QETCR, QTCT, QPDPM, QCAM,  DCBX_PARAM, ROCE_ACCL, PCAP, PMLP, PMTU, PTYS,      PAOS,
    PFCC, PPCNT, PPTB, PBMC,  PVLC,  PMAOS,      PPLM,      PDDR, PCMR, PCAM, NODE_DESC, HOST_ENDIANNESS,
    MCIA, MFRL,  MLCR, MRTC,  MPEIN, MPCNT,      MCQS,      MCQI, MCAM, SBPR, SBCM,      SBCAM};

static const uint16_t of_port[] = {QPTS,  QPDPM, DCBX_PARAM, PCAP, PMLP, PMTU, PTYS, PAOS, PFCC,
                                   PPCNT, PPTB,  PBMC,       PVLC, PPLM, PDDR, PCMR, MLCR, SBCM};

/* ---- what all have in common */

static void what_is_no_register_is_refused_and_counted(void **state)
{
    struct host *h = *state;
    assert_int_equal(host_access(h, 0x5fff, 16, false), VCX_BAD_PARAMETER);
    assert_true(h->device.registers[0].id == 0x5fff && h->device.registers[0].refused == VCX_BAD_PARAMETER);
    host_read(h, PMTU);
    assert_true(h->device.registers[1].id == PMTU && h->device.registers[1].calls == 1 &&
                !h->device.registers[1].refused);
    vcx_set(h->in, nop_in, op_mod, 2); /* neither read nor write */
    vcx_set(h->in, access_register_in, register_id, PMTU);
    assert_int_equal(host_run(h, 0x805, 16 + 16, 16 + 16), VCX_BAD_PARAMETER);
}

static void every_register_is_read(void **state)
{
    struct host *h = *state;
    size_t count = 0;
    for (uint32_t id = 0; id <= 0xffff; id++)
        count += vcx_register_find((uint16_t)id) != NULL;
    assert_int_equal(count, VCX_COUNT(all)); /* these tests know all that there are */
    for (size_t i = 0; i < VCX_COUNT(all); i++) {
        memset(h->reg, 0, sizeof h->reg);
        if (vcx_register_find(all[i])->traits & VCX_REGISTER_OF_PORT || all[i] == PPCNT)
            vcx_set(h->reg, pmtu_reg, local_port, VCX_LOCAL_PORT);
        if (all[i] == MCIA)
            vcx_set(h->reg, mcia_reg, i2c_device_address, 0x50);
        if (all[i] == PDDR)
            vcx_set(h->reg, pddr_reg, page_select, 1);
        if (host_access(h, all[i], vcx_register_find(all[i])->bytes, false) != VCX_OK)
            fail_msg("register 0x%04x is not answered: %s", all[i], h->front.last_log);
    }
}

static void lengths_are_checked(void **state)
{
    struct host *h = *state;
    uint32_t at = vcx_offset(access_register_in, register_data);
    for (size_t i = 0; i < VCX_COUNT(all); i++) {
        uint32_t bytes = vcx_register_find(all[i])->bytes;
        assert_int_equal(host_access(h, all[i], bytes - 4, false), VCX_BAD_INPUT_LENGTH);
        vcx_set(h->in, nop_in, op_mod, 1);
        vcx_set(h->in, access_register_in, register_id, all[i]);
        assert_int_equal(host_run(h, 0x805, at + bytes, at + bytes - 4), VCX_BAD_OUTPUT_LENGTH);
    }
    assert_int_equal(host_run(h, 0x805, 15, 16), VCX_BAD_INPUT_LENGTH);
}

static void there_is_one_port(void **state)
{
    struct host *h = *state;
    static const uint8_t wrong[] = {0, 2, 255};
    for (size_t i = 0; i < VCX_COUNT(of_port); i++)
        for (size_t j = 0; j < VCX_COUNT(wrong); j++) {
            memset(h->reg, 0, sizeof h->reg);
            vcx_set(h->reg, pmtu_reg, local_port, wrong[j]);
            assert_int_equal(host_access(h, of_port[i], vcx_register_find(of_port[i])->bytes, false),
                             VCX_BAD_PARAMETER);
        }
}

/* Whatever is written, the settings stay such that the port can work with them. */
static void assert_settings_are_sane(struct host *h)
{
    const struct vcx_port_settings *s = vcx_port_settings(&h->device);
    uint32_t total = 0;
    for (int i = 0; i < VCX_PRIORITIES; i++) {
        total += s->buffers[i].bytes;
        assert_true(s->buffers[i].xoff_bytes <= s->buffers[i].bytes &&
                    s->buffers[i].xon_bytes <= s->buffers[i].xoff_bytes);
        assert_true(s->buffer_of_priority[i] < VCX_RECEIVE_BUFFERS &&
                    s->class_of_priority[i] < VCX_PRIORITIES);
        assert_true(s->classes[i].group < 8 && s->classes[i].share_percent <= 100);
    }
    assert_true(total <= VCX_BUFFER_BYTES && s->mtu >= 64 && s->mtu <= VCX_MOST_MTU);
    assert_true(s->trust == VCX_TRUST_PCP || s->trust == VCX_TRUST_DSCP);
    assert_false((s->pfc_tx | s->pfc_rx) && (s->pause_tx || s->pause_rx));
    for (int i = 0; i < 64; i++)
        assert_true(s->priority_of_dscp[i] < VCX_PRIORITIES);
}

static void hostile_words_do_no_harm(void **state)
{
    struct host *h = *state;
    uint32_t seed = 1;
    for (size_t i = 0; i < VCX_COUNT(all); i++)
        for (int round = 0; round < 200; round++) {
            for (size_t j = 0; j < sizeof h->reg; j++)
                h->reg[j] = round == 0   ? 0
                            : round == 1 ? 0xff
                                         : (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
            vcx_set(h->reg, pmtu_reg, local_port, round % 3 ? 1 : 0);
            uint8_t status = host_access(h, all[i], vcx_register_find(all[i])->bytes, round % 2);
            assert_true(status == VCX_OK || status == VCX_BAD_PARAMETER);
            assert_settings_are_sane(h);
        }
}

static void registers_that_say_something_are_not_written(void **state)
{
    struct host *h = *state;
    static const uint16_t fixed[] = {PCAP,  PMLP,  PVLC,  PPCNT, PCAM, MCAM, QCAM,
                                     SBCAM, MPCNT, MPEIN, MCQS,  MCQI, MCIA};
    for (size_t i = 0; i < VCX_COUNT(fixed); i++) {
        host_clear(h);
        assert_int_equal(host_write(h, fixed[i]), VCX_BAD_PARAMETER);
    }
}

/* ---- what is there */

static bool bit_of(const uint8_t *mask, uint16_t n)
{
    return mask[15 - n / 8] >> n % 8 & 1;
}

static void expect_mask(const uint8_t *mask, uint16_t first)
{
    for (uint16_t n = 0; n < 128; n++) {
        if (bit_of(mask, n) != (vcx_register_find(first + n) != NULL))
            fail_msg("register 0x%04x is %sanswered and %sin the mask", first + n,
                     bit_of(mask, n) ? "not " : "", bit_of(mask, n) ? "" : "not ");
    }
}

/* mlx5_query_pcam_reg() and the like: a register is in the mask when it is answered, and only then. */
static void masks_are_what_is_answered(void **state)
{
    struct host *h = *state;
    memset(h->reg, 0, sizeof h->reg);
    assert_int_equal(host_access(h, PCAM, 80, false), VCX_OK);
    expect_mask(vcx_at(h->reg, pcam_reg, port_access_reg_cap_mask), 0x5000);
    assert_true(vcx_get(h->reg, pcam_reg, pfcc_mask) && vcx_get(h->reg, pcam_reg, ppcnt_statistical_group) &&
                vcx_get(h->reg, pcam_reg, rx_buffer_fullness_counters));
    memset(h->reg, 0, sizeof h->reg);
    assert_int_equal(host_access(h, QCAM, 72, false), VCX_OK);
    expect_mask(vcx_at(h->reg, qcam_reg, qos_access_reg_cap_mask), 0x4000);
    memset(h->reg, 0, sizeof h->reg);
    assert_int_equal(host_access(h, SBCAM, 76, false), VCX_OK);
    expect_mask(vcx_at(h->reg, sbcam_reg, sb_access_reg_cap_mask), 0xb000);
    assert_int_equal(vcx_get(h->reg, sbcam_reg, cap_cell_size), VCX_CELL_BYTES);
    static const uint16_t first[] = {0x9000, 0x9080, 0x9100, 0x9180};
    for (uint8_t group = 0; group < 4; group++) {
        memset(h->reg, 0, sizeof h->reg);
        vcx_set(h->reg, mcam_reg, access_reg_group, group);
        assert_int_equal(host_access(h, MCAM, 72, false), VCX_OK);
        assert_int_equal(vcx_get(h->reg, mcam_reg, access_reg_group), group);
        expect_mask(vcx_at(h->reg, mcam_reg, mng_access_reg_cap_mask), first[group]);
    }
    vcx_set(h->reg, mcam_reg, access_reg_group, 4);
    assert_int_equal(host_access(h, MCAM, 72, false), VCX_BAD_PARAMETER);
}

/* The bits that mlx5 looks at, in the places of its struct mlx5_ifc_pcam_regs_5000_to_507f_bits and its
 * like. */
static void the_driver_finds_its_registers(void **state)
{
    struct host *h = *state;
    static const uint16_t bits_of_pcam[] = {8 /* PPCNT */, 11 /* PPTB */, 12 /* PBMC */, 35 /* PPLM */};
    memset(h->reg, 0, sizeof h->reg);
    assert_int_equal(host_access(h, PCAM, 80, false), VCX_OK);
    for (size_t i = 0; i < VCX_COUNT(bits_of_pcam); i++)
        assert_true(bit_of(vcx_at(h->reg, pcam_reg, port_access_reg_cap_mask), bits_of_pcam[i]));
    memset(h->reg, 0, sizeof h->reg);
    assert_int_equal(host_access(h, MCAM, 72, false), VCX_OK);
    const uint8_t *mask = vcx_at(h->reg, mcam_reg, mng_access_reg_cap_mask);
    assert_true(bit_of(mask, 96) && bit_of(mask, 97) && bit_of(mask, 45)); /* MCQS, MCQI, MRTC */
    assert_false(bit_of(mask, 98) || bit_of(mask, 99) ||
                 bit_of(mask, 86)); /* MCC, MCDA: no new firmware; MPEGC */
    for (uint16_t n = 64; n < 68; n++)
        assert_false(bit_of(mask, n)); /* no tracer */
}

/* ---- the port */

static void the_mtu_has_limits(void **state)
{
    struct host *h = *state;
    static const uint16_t wrong[] = {0, 63, VCX_MOST_MTU + 1, 0xffff};
    host_clear(h);
    vcx_set(h->reg, pmtu_reg, admin_mtu, 1522);
    assert_int_equal(host_write(h, PMTU), VCX_OK);
    for (size_t i = 0; i < VCX_COUNT(wrong); i++) {
        host_clear(h);
        vcx_set(h->reg, pmtu_reg, admin_mtu, wrong[i]);
        assert_int_equal(host_write(h, PMTU), VCX_BAD_PARAMETER);
    }
    host_read(h, PMTU);
    assert_int_equal(vcx_get(h->reg, pmtu_reg, admin_mtu), 1522);
    assert_int_equal(vcx_get(h->reg, pmtu_reg, oper_mtu), 1522);
    assert_int_equal(vcx_get(h->reg, pmtu_reg, max_mtu), VCX_MOST_MTU);
}

static uint8_t set_admin(struct host *h, uint8_t value, bool select)
{
    host_clear(h);
    vcx_set(h->reg, paos_reg, admin_status, value);
    vcx_set(h->reg, paos_reg, ase, select);
    return host_write(h, PAOS);
}

/* mlx5e_get_link_ext_state() */
static void expect_reason(struct host *h, uint32_t reason)
{
    host_clear(h);
    vcx_set(h->reg, pddr_reg, page_select, 1);
    assert_int_equal(host_access(h, PDDR, 256, false), VCX_OK);
    const uint8_t *page = vcx_at(h->reg, pddr_reg, page_data);
    assert_int_equal(vcx_get(page, pddr_troubleshooting_page, monitor_opcode), reason);
}

/* mlx5_toggle_port_link() */
static void the_port_goes_down_and_up(void **state)
{
    struct host *h = *state;
    host_read(h, PAOS);
    assert_int_equal(vcx_get(h->reg, paos_reg, oper_status), 1);
    expect_reason(h, 0);
    assert_int_equal(set_admin(h, 2, true), VCX_OK);
    expect_reason(h, 1);
    host_read(h, PAOS);
    assert_true(vcx_get(h->reg, paos_reg, admin_status) == 2 && vcx_get(h->reg, paos_reg, oper_status) == 2);
    host_read(h, PTYS);
    assert_int_equal(vcx_get(h->reg, ptys_reg, eth_proto_oper), 0);
    assert_int_equal(set_admin(h, 1, false), VCX_OK); /* not selected: no change */
    assert_false(vcx_port_settings(&h->device)->admin_up);
    assert_int_equal(set_admin(h, 1, true), VCX_OK);
    assert_true(vcx_port_is_up(&h->device));
    assert_int_equal(set_admin(h, 9, true), VCX_BAD_PARAMETER);
    vcx_port_carrier(&h->device, false);
    expect_reason(h, 1024);
    host_read(h, PAOS);
    assert_true(vcx_get(h->reg, paos_reg, admin_status) == 1 && vcx_get(h->reg, paos_reg, oper_status) == 2);
}

static const struct speed {
    uint16_t device_id, gbps;
    uint8_t bit, lanes;
} speeds[] = {
    {0x1015, 10, 12, 1},  {0x1015, 25, 27, 1},  {0x1017, 25, 27, 1},
    {0x1015, 50, 30, 4},  {0x1015, 100, 30, 4}, /* more than the device has */
    {0x1017, 100, 20, 4}, {0x1017, 400, 20, 4}, {0x1017, 0, 1, 1},
};

/* mlx5_query_port_ptys(), mlx5_query_module_num() */
static void expect_speed(const struct speed *speed)
{
    struct vcx_configuration configuration = front_configuration;
    struct host *h = calloc(1, sizeof *h);
    void *state = h;
    assert_non_null(h);
    configuration.device_id = speed->device_id;
    configuration.nominal_bps = (uint64_t)speed->gbps * 1000000000;
    host_open(h, &configuration);
    host_clear(h);
    vcx_set(h->reg, ptys_reg, proto_mask, 4);
    assert_int_equal(host_access(h, PTYS, 64, false), VCX_OK);
    assert_int_equal(vcx_get(h->reg, ptys_reg, eth_proto_capability), 1u << speed->bit);
    assert_int_equal(vcx_get(h->reg, ptys_reg, eth_proto_admin), 1u << speed->bit);
    assert_int_equal(vcx_get(h->reg, ptys_reg, eth_proto_oper), 1u << speed->bit);
    assert_int_equal(vcx_get(h->reg, ptys_reg, connector_type), 7);
    host_read(h, PMLP);
    assert_int_equal(vcx_get(h->reg, pmlp_reg, width), speed->lanes);
    host_stop(&state);
}

static void the_speed_is_the_nominal_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < VCX_COUNT(speeds); i++)
        expect_speed(&speeds[i]);
}

/* mlx5_port_set_eth_ptys() */
static void the_line_has_one_speed(void **state)
{
    struct host *h = *state;
    static const uint32_t wrong[] = {0, 1u << 12, 1u << 27 | 1u << 20, 0xffffffff};
    host_clear(h);
    vcx_set(h->reg, ptys_reg, proto_mask, 4);
    vcx_set(h->reg, ptys_reg, an_disable_admin, 1);
    vcx_set(h->reg, ptys_reg, eth_proto_admin, 1u << 27);
    assert_int_equal(host_write(h, PTYS), VCX_OK);
    for (size_t i = 0; i < VCX_COUNT(wrong); i++) {
        host_clear(h);
        vcx_set(h->reg, ptys_reg, proto_mask, 4);
        vcx_set(h->reg, ptys_reg, eth_proto_admin, wrong[i]);
        assert_int_equal(host_write(h, PTYS), VCX_BAD_PARAMETER);
    }
    host_read(h, PTYS);
    assert_int_equal(vcx_get(h->reg, ptys_reg, eth_proto_admin), 1u << 27);
    assert_true(vcx_get(h->reg, ptys_reg, an_disable_admin) && !vcx_get(h->reg, ptys_reg, an_status));
}

/* mlx5e_set_fec_mode() */
static void error_correction_is_chosen(void **state)
{
    struct host *h = *state;
    host_read(h, PPLM);
    assert_int_equal(vcx_get(h->reg, pplm_reg, fec_mode_active), 4); /* Reed-Solomon, by itself */
    vcx_set(h->reg, pplm_reg, fec_override_admin_25g, 2);
    assert_int_equal(host_write(h, PPLM), VCX_OK);
    assert_int_equal(vcx_get(h->reg, pplm_reg, fec_mode_active), 2);
    vcx_set(h->reg, pplm_reg, fec_override_admin_25g, 3); /* two at once */
    assert_int_equal(host_write(h, PPLM), VCX_BAD_PARAMETER);
    host_clear(h);
    vcx_set(h->reg, pplm_reg, fec_override_admin_10g_40g, 4); /* not for this speed */
    assert_int_equal(host_write(h, PPLM), VCX_BAD_PARAMETER);
    host_read(h, PPLM);
    assert_int_equal(vcx_get(h->reg, pplm_reg, fec_override_admin_25g), 2);
}

/* mlx5_set_port_fcs(), mlx5_set_port_beacon(), mlx5_set_port_dcbx_param() */
static void small_settings_are_kept(void **state)
{
    struct host *h = *state;
    host_read(h, PCMR);
    assert_true(vcx_get(h->reg, pcmr_reg, fcs_cap) && vcx_get(h->reg, pcmr_reg, fcs_chk));
    vcx_set(h->reg, pcmr_reg, fcs_chk, 0);
    assert_int_equal(host_write(h, PCMR), VCX_OK);
    host_read(h, PCMR);
    assert_false(vcx_get(h->reg, pcmr_reg, fcs_chk));
    host_clear(h);
    vcx_set(h->reg, mlcr_reg, beacon_duration, 0xffff);
    assert_int_equal(host_write(h, MLCR), VCX_OK);
    host_read(h, MLCR);
    assert_int_equal(vcx_get(h->reg, mlcr_reg, beacon_remain), 0xffff);
    host_read(h, DCBX_PARAM);
    assert_int_equal(vcx_get(h->reg, dcbx_param, num_of_tc_oper), 8);
    vcx_set(h->reg, dcbx_param, version_admin, 3);
    vcx_set(h->reg, dcbx_param, willing_admin, 1);
    assert_int_equal(host_write(h, DCBX_PARAM), VCX_OK);
    host_read(h, DCBX_PARAM);
    assert_true(vcx_get(h->reg, dcbx_param, version_admin) == 3 &&
                vcx_get(h->reg, dcbx_param, willing_admin));
    vcx_set(h->reg, dcbx_param, num_of_tc_admin, 9);
    assert_int_equal(host_write(h, DCBX_PARAM), VCX_BAD_PARAMETER);
}

/* ---- module, firmware */

/* mlx5_query_module_eeprom(): at most 128 bytes a time */
static void read_module(struct host *h, uint8_t page[256])
{
    for (uint32_t from = 0; from < 256; from += 128) {
        memset(h->reg, 0, sizeof h->reg);
        vcx_set(h->reg, mcia_reg, i2c_device_address, 0x50);
        vcx_set(h->reg, mcia_reg, device_address, from);
        vcx_set(h->reg, mcia_reg, size, 128);
        assert_int_equal(host_access(h, MCIA, 144, false), VCX_OK);
        assert_int_equal(vcx_get(h->reg, mcia_reg, status), 0);
        memcpy(page + from, vcx_at(h->reg, mcia_reg, dwords), 128);
    }
}

static uint8_t sum(const uint8_t *bytes, size_t from, size_t to)
{
    uint8_t total = 0;
    for (size_t i = from; i < to; i++)
        total = (uint8_t)(total + bytes[i]);
    return total;
}

static void the_cable_can_be_read(void **state)
{
    struct host *h = *state;
    uint8_t page[256];
    read_module(h, page);
    assert_int_equal(page[0], 3); /* SFP */
    assert_int_equal(page[18], 1);
    assert_memory_equal(page + 20, "Virtual         ", 16);
    assert_true(page[63] == sum(page, 0, 63) && page[95] == sum(page, 64, 95));
    h->device.configuration.nominal_bps = 100000000000;
    read_module(h, page);
    assert_true(page[0] == 0x11 && page[128] == 0x11 && page[2] == 4);
    assert_memory_equal(page + 168, "VCX-QSFP28-1M   ", 16);
    assert_true(page[191] == sum(page, 128, 191) && page[223] == sum(page, 192, 223));
}

/* A driver whose MCIA has 12 words (before mlx5's mcia_32dwords). */
static void a_shorter_answer_gives_less(void **state)
{
    struct host *h = *state;
    for (uint16_t size = 48; size <= 49; size++) {
        memset(h->reg, 0, sizeof h->reg);
        vcx_set(h->reg, mcia_reg, i2c_device_address, 0x50);
        vcx_set(h->reg, mcia_reg, size, size);
        assert_int_equal(host_access(h, MCIA, 16 + 48, false), size == 48 ? VCX_OK : VCX_BAD_PARAMETER);
        assert_int_equal(*vcx_at(h->reg, mcia_reg, dwords), size == 48 ? 3 : 0);
    }
}

static void reads_of_the_module_are_checked(void **state)
{
    struct host *h = *state;
    static const struct {
        uint8_t module, address, page;
        uint16_t from, size;
        uint8_t status, module_status;
    } reads[] = {
        {0, 0x50, 0, 255, 1, VCX_OK, 0}, {0, 0x51, 0, 0, 1, VCX_OK, 9}, {0, 0x50, 1, 0, 1, VCX_OK, 9},
        {1, 0x50, 0, 0, 1, 3, 0},        {0, 0x50, 0, 0, 129, 3, 0},    {0, 0x50, 0, 256, 1, 3, 0},
        {0, 0x50, 0, 0xffff, 128, 3, 0}, {0, 0x50, 0, 0, 0xffff, 3, 0}, {0, 0x20, 0, 0, 1, 3, 0},
    };
    for (size_t i = 0; i < VCX_COUNT(reads); i++) {
        memset(h->reg, 0, sizeof h->reg);
        vcx_set(h->reg, mcia_reg, module, reads[i].module);
        vcx_set(h->reg, mcia_reg, i2c_device_address, reads[i].address);
        vcx_set(h->reg, mcia_reg, page_number, reads[i].page);
        vcx_set(h->reg, mcia_reg, device_address, reads[i].from);
        vcx_set(h->reg, mcia_reg, size, reads[i].size);
        assert_int_equal(host_access(h, MCIA, 144, false), reads[i].status);
        assert_int_equal(vcx_get(h->reg, mcia_reg, status), reads[i].module_status);
    }
}

/* mlx5_fw_version_query(): finds the image, then asks for its version with a longer answer than question */
static void the_firmware_has_a_version(void **state)
{
    struct host *h = *state;
    memset(h->reg, 0, sizeof h->reg);
    assert_int_equal(host_access(h, MCQS, 16, false), VCX_OK);
    assert_true(vcx_get(h->reg, mcqs_reg, identifier) == 1 && vcx_get(h->reg, mcqs_reg, last_index_flag));
    vcx_set(h->in, nop_in, op_mod, 1);
    vcx_set(h->in, access_register_in, register_id, MCQI);
    vcx_set(vcx_at(h->in, access_register_in, register_data), mcqi_reg, info_type, 1);
    vcx_set(vcx_at(h->in, access_register_in, register_data), mcqi_reg, data_size, 124);
    assert_int_equal(host_run(h, 0x805, 16 + 24, 16 + 24 + 124), VCX_OK);
    const uint8_t *version = vcx_at(vcx_at(h->out, access_register_out, register_data), mcqi_reg, data);
    assert_int_equal(vcx_get(version, mcqi_version, version), 16u << 24 | 35 << 16 | 1000);
    assert_memory_equal(vcx_at(version, mcqi_version, version_string), "16.35.1000", 11);
    memset(h->reg, 0, sizeof h->reg);
    vcx_set(h->reg, mcqs_reg, component_index, 1);
    assert_int_equal(host_access(h, MCQS, 16, false), VCX_BAD_PARAMETER);
}

static void the_clock_is_the_drivers(void **state)
{
    struct host *h = *state;
    uint64_t time = 1700000000000000;
    h->front.now_ns = 5000000;
    memset(h->reg, 0, sizeof h->reg);
    vcx_set(h->reg, mrtc_reg, time_h, time >> 32);
    vcx_set(h->reg, mrtc_reg, time_l, time);
    assert_int_equal(host_access(h, MRTC, 16, true), VCX_OK);
    h->front.now_ns += 3000;
    assert_int_equal(host_access(h, MRTC, 16, false), VCX_OK);
    assert_true((vcx_get(h->reg, mrtc_reg, time_h) << 32 | vcx_get(h->reg, mrtc_reg, time_l)) == time + 3);
}

/* A reset of the firmware is not had; the name of the host is kept. */
static void the_rest(void **state)
{
    struct host *h = *state;
    memset(h->reg, 0, sizeof h->reg);
    assert_int_equal(host_access(h, MFRL, 8, true), VCX_OK);
    vcx_set(h->reg, mfrl_reg, reset_level, 8);
    assert_int_equal(host_access(h, MFRL, 8, true), VCX_BAD_PARAMETER);
    memset(h->reg, 0, sizeof h->reg);
    memcpy(h->reg, "host mlx5_0", 12);
    assert_int_equal(host_access(h, NODE_DESC, 64, true), VCX_OK);
    memset(h->reg, 0, sizeof h->reg);
    assert_int_equal(host_access(h, NODE_DESC, 64, false), VCX_OK);
    assert_string_equal((const char *)h->reg, "host mlx5_0");
    memset(h->reg, 0, sizeof h->reg);
    vcx_set(h->reg, pmaos_reg, ee, 1);
    vcx_set(h->reg, pmaos_reg, e, 1);
    assert_int_equal(host_access(h, PMAOS, 16, true), VCX_OK);
    memset(h->reg, 0, sizeof h->reg);
    assert_int_equal(host_access(h, PMAOS, 16, false), VCX_OK);
    assert_true(vcx_get(h->reg, pmaos_reg, oper_status) == 1 && vcx_get(h->reg, pmaos_reg, e) == 1);
    vcx_set(h->reg, pmaos_reg, module, 1);
    assert_int_equal(host_access(h, PMAOS, 16, false), VCX_BAD_PARAMETER);
}

/* ---- registers by the vendor's gateway, as mstreg reads and writes them */

enum { CR_SPACE = 2, COMMAND_SPACE = 3, SEMAPHORE_SPACE = 10, MAILBOX = 0x100000 };
#define ACCESS 0x9001u

static uint32_t gateway_word(const struct vcx_gateway *g, uint16_t space, uint32_t address)
{
    return vcx_gateway_read(g, VCX_CONNECTX_5, space, address);
}

/* Puts a register of two words into the mailbox and has it executed. Returns the register's status. */
static uint32_t access_by_gateway(struct host *h, struct vcx_gateway *g, uint32_t method, uint16_t id,
                                  uint32_t first, uint32_t second)
{
    const uint32_t words[] = {
        1u << 27 | 4 << 16, (uint32_t)id << 16 | method << 8 | 1, 0, 0, 3u << 27 | 3 << 16, first, second};
    for (uint32_t i = 0; i < VCX_COUNT(words); i++)
        assert_false(vcx_gateway_write(g, COMMAND_SPACE, MAILBOX + 4 * i, words[i]));
    assert_false(vcx_gateway_write(g, COMMAND_SPACE, 0, ACCESS << 16));
    assert_false(vcx_gateway_poll(g, &h->device)); /* nothing was started */
    assert_true(vcx_gateway_write(g, COMMAND_SPACE, 0, ACCESS << 16 | 1));
    assert_int_equal(gateway_word(g, COMMAND_SPACE, 0) & 1, 1);
    assert_false(vcx_gateway_write(g, COMMAND_SPACE, MAILBOX, 0)); /* the device has it */
    assert_int_equal(gateway_word(g, COMMAND_SPACE, MAILBOX), 0);
    assert_true(vcx_gateway_poll(g, &h->device));
    assert_false(vcx_gateway_poll(g, &h->device));
    assert_int_equal(gateway_word(g, COMMAND_SPACE, 0), ACCESS << 16);
    assert_int_equal(gateway_word(g, COMMAND_SPACE, MAILBOX + 4), words[1] | 0x8000); /* a response */
    return gateway_word(g, COMMAND_SPACE, MAILBOX) >> 8 & 0x7f;
}

static void tools_reach_registers_by_the_gateway(void **state)
{
    struct host *h = *state;
    struct vcx_gateway g = {0};
    assert_true(vcx_gateway_has(CR_SPACE) && vcx_gateway_has(COMMAND_SPACE) &&
                vcx_gateway_has(SEMAPHORE_SPACE));
    assert_true(vcx_gateway_has(1));  /* mstflint takes none without it */
    assert_false(vcx_gateway_has(7)); /* what the driver would dump */
    assert_int_equal(gateway_word(&g, CR_SPACE, 0xf0014), 0x20d);
    assert_int_equal(vcx_gateway_read(&g, VCX_CONNECTX_4_LX, CR_SPACE, 0xf0014), 0x20b);
    assert_int_equal(vcx_gateway_read(&g, VCX_CONNECTX_6, CR_SPACE, 0xf0014), 0x20f);
    assert_true(gateway_word(&g, COMMAND_SPACE, 0x1000) >= 512);
    assert_int_equal(access_by_gateway(h, &g, 1, ROCE_ACCL, 0, 0), 0);
    assert_int_equal(gateway_word(&g, COMMAND_SPACE, MAILBOX + 20), 0x75);
    assert_int_equal(gateway_word(&g, COMMAND_SPACE, MAILBOX + 24), 0x5);
    assert_int_equal(access_by_gateway(h, &g, 2, ROCE_ACCL, 0x50, 0x50), 0);
    assert_int_equal(access_by_gateway(h, &g, 1, ROCE_ACCL, 0, 0), 0);
    assert_int_equal(gateway_word(&g, COMMAND_SPACE, MAILBOX + 24), 0x55);
    assert_int_equal(access_by_gateway(h, &g, 2, ROCE_ACCL, 0x2, 0x2), 7);
    assert_int_equal(access_by_gateway(h, &g, 3, ROCE_ACCL, 0, 0), 6);
    assert_int_equal(access_by_gateway(h, &g, 1, 0x5fff, 0, 0), 4);
    assert_int_equal(access_by_gateway(h, &g, 1, MCIA, 0, 0), 7); /* too short */
}

static void what_is_no_register_is_refused_by_the_gateway(void **state)
{
    struct host *h = *state;
    struct vcx_gateway g = {0};
    static const struct {
        uint16_t opcode;
        uint8_t first, status;
        uint32_t answer;
    } commands[] = {{0x8400, 0, 0, 0x2e040000}, {0x8400, 1, 4, 1}, {0x8401, 7, 1, 7}};
    for (size_t i = 0; i < VCX_COUNT(commands); i++) {
        uint32_t control = (uint32_t)commands[i].opcode << 16;
        vcx_gateway_write(&g, COMMAND_SPACE, MAILBOX, commands[i].first);
        assert_true(vcx_gateway_write(&g, COMMAND_SPACE, 0, control | 1));
        assert_true(vcx_gateway_poll(&g, &h->device));
        assert_int_equal(gateway_word(&g, COMMAND_SPACE, 0), control | (uint32_t)commands[i].status << 8);
        assert_int_equal(gateway_word(&g, COMMAND_SPACE, MAILBOX), commands[i].answer);
    }
    static const uint32_t wrong[][2] = {{0, 0},
                                        {1u << 27 | 4 << 16, 0},
                                        {1u << 27 | 5 << 16, 3u << 27 | 3 << 16},
                                        {1u << 27 | 4 << 16, 3u << 27},
                                        {1u << 27 | 4 << 16, 3u << 27 | 0x7ff << 16}};
    for (size_t i = 0; i < VCX_COUNT(wrong); i++) {
        vcx_gateway_write(&g, COMMAND_SPACE, MAILBOX, wrong[i][0]);
        vcx_gateway_write(&g, COMMAND_SPACE, MAILBOX + 16, wrong[i][1]);
        assert_true(vcx_gateway_write(&g, COMMAND_SPACE, 0, ACCESS << 16 | 1));
        assert_true(vcx_gateway_poll(&g, &h->device));
        assert_int_equal(gateway_word(&g, COMMAND_SPACE, MAILBOX) >> 8 & 0x7f, 3);
    }
    /* beyond the ends, and between words */
    static const uint32_t addresses[] = {4, MAILBOX - 4, MAILBOX + VCX_GATEWAY_MAILBOX, MAILBOX + 2,
                                         0x3ffffffc};
    for (uint16_t space = 0; space < 16; space++)
        for (size_t i = 0; i < VCX_COUNT(addresses); i++) {
            assert_false(vcx_gateway_write(&g, space, addresses[i], ~0u));
            if (space != SEMAPHORE_SPACE)
                assert_int_equal(gateway_word(&g, space, addresses[i]), 0);
        }
}

static void a_semaphore_is_one_holders(void **state)
{
    (void)state;
    struct vcx_gateway g = {0};
    vcx_gateway_write(&g, SEMAPHORE_SPACE, 0, 77);
    vcx_gateway_write(&g, SEMAPHORE_SPACE, 0, 78);
    vcx_gateway_write(&g, SEMAPHORE_SPACE, 0x20, 79);
    assert_int_equal(gateway_word(&g, SEMAPHORE_SPACE, 0), 77);
    assert_int_equal(gateway_word(&g, SEMAPHORE_SPACE, 0x20), 79);
    vcx_gateway_write(&g, SEMAPHORE_SPACE, 0, 0);
    vcx_gateway_write(&g, SEMAPHORE_SPACE, 0, 78);
    assert_int_equal(gateway_word(&g, SEMAPHORE_SPACE, 0), 78);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, host_start, host_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_register_is_refused_and_counted),
        TEST(every_register_is_read),
        TEST(lengths_are_checked),
        TEST(there_is_one_port),
        TEST(hostile_words_do_no_harm),
        TEST(registers_that_say_something_are_not_written),
        TEST(masks_are_what_is_answered),
        TEST(the_driver_finds_its_registers),
        TEST(the_mtu_has_limits),
        TEST(the_port_goes_down_and_up),
        cmocka_unit_test(the_speed_is_the_nominal_one),
        TEST(the_line_has_one_speed),
        TEST(error_correction_is_chosen),
        TEST(small_settings_are_kept),
        TEST(the_cable_can_be_read),
        TEST(a_shorter_answer_gives_less),
        TEST(reads_of_the_module_are_checked),
        TEST(the_firmware_has_a_version),
        TEST(the_clock_is_the_drivers),
        TEST(tools_reach_registers_by_the_gateway),
        TEST(what_is_no_register_is_refused_by_the_gateway),
        cmocka_unit_test(a_semaphore_is_one_holders),
        TEST(the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
