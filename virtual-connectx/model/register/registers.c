// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Registers: how they are found, and those of the device as a whole - what there is, clock, firmware and
 * names, the module in the cage. */
#include "virtual-connectx/model/port/port.h"
#include "virtual-connectx/model/register/register.h"

/* The driver shares pools out anew when it sets receive buffers: their sum and the receive buffers' own is
 * what it may share. */
#define LOSSY_POOL_CELLS    1536
#define LOSSLESS_POOL_CELLS 512

static int start_registers(struct vcx_device *device)
{
    struct vcx_register_state *state = vcx_allocate(sizeof *state);
    if (!state)
        return -1;
    device->registers_kept = state;
    state->fcs_check = true;
    state->dcbx_pfc_classes = state->dcbx_traffic_classes = VCX_PRIORITIES;
    state->pools[1][0].cells = LOSSY_POOL_CELLS;
    state->pools[0][0].cells = state->pools[0][1].cells = LOSSLESS_POOL_CELLS;
    return 0;
}

static void stop_registers(struct vcx_device *device)
{
    vcx_release(device->registers_kept);
    device->registers_kept = NULL;
}

const struct vcx_room vcx_room_registers = {.start = start_registers, .stop = stop_registers};

/* ---- what registers and features there are */

/* Bit n of a mask is register n of a range, so that the masks are read from the tables. */

#define RANGE         128 /* registers of a mask */
#define MASK_BYTES    (RANGE / 8)
#define FIRST_PORT    0x5000
#define FIRST_QOS     0x4000
#define FIRST_BUFFERS 0xb000

/* MCAM's groups follow each other from here; Linux 6.1 asks for three, 6.12 for one more */
#define FIRST_MANAGEMENT  0x9000
#define MANAGEMENT_GROUPS 4

static void set_mask(uint8_t *mask, uint16_t first)
{
    for (uint16_t n = 0; n < RANGE; n++)
        if (vcx_register_find(first + n))
            mask[MASK_BYTES - 1 - n / 8] |= (uint8_t)(1u << n % 8);
}

/* The feature and register groups of the call; all capability registers have them in the same place. */
static bool is_first_group(const struct vcx_register_call *call)
{
    return vcx_get(call->in, pcam_reg, feature_group) == 0 &&
           vcx_get(call->in, pcam_reg, access_reg_group) == 0;
}

static enum vcx_status pcap(struct vcx_register_call *call)
{
    (void)call; /* capabilities of an InfiniBand port: none */
    return VCX_OK;
}

static enum vcx_status pcam(struct vcx_register_call *call)
{
    if (!is_first_group(call))
        return VCX_BAD_PARAMETER;
    set_mask(vcx_at(call->out, pcam_reg, port_access_reg_cap_mask), FIRST_PORT);
    vcx_set(call->out, pcam_reg, pfcc_mask, 1);
    vcx_set(call->out, pcam_reg, per_lane_error_counters, 1);
    vcx_set(call->out, pcam_reg, rx_buffer_fullness_counters, 1);
    vcx_set(call->out, pcam_reg, ptys_connector_type, 1);
    vcx_set(call->out, pcam_reg, ppcnt_statistical_group, 1);
    return VCX_OK;
}

static enum vcx_status mcam(struct vcx_register_call *call)
{
    uint64_t group = vcx_get(call->in, mcam_reg, access_reg_group);
    if (group >= MANAGEMENT_GROUPS || vcx_get(call->in, mcam_reg, feature_group) != 0)
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, mcam_reg, access_reg_group, group);
    set_mask(vcx_at(call->out, mcam_reg, mng_access_reg_cap_mask),
             (uint16_t)(FIRST_MANAGEMENT + group * RANGE));
    vcx_set(call->out, mcam_reg, mcia_32dwords, 1);
    vcx_set(call->out, mcam_reg, pcie_performance_group, 1);
    vcx_set(call->out, mcam_reg, tx_overflow_buffer_pkt, 1);
    vcx_set(call->out, mcam_reg, pcie_outbound_stalled, 1);
    return VCX_OK;
}

static enum vcx_status qcam(struct vcx_register_call *call)
{
    if (!is_first_group(call))
        return VCX_BAD_PARAMETER;
    set_mask(vcx_at(call->out, qcam_reg, qos_access_reg_cap_mask), FIRST_QOS);
    return VCX_OK;
}

static enum vcx_status sbcam(struct vcx_register_call *call)
{
    if (!is_first_group(call))
        return VCX_BAD_PARAMETER;
    set_mask(vcx_at(call->out, sbcam_reg, sb_access_reg_cap_mask), FIRST_BUFFERS);
    vcx_set(call->out, sbcam_reg, cap_total_buffer_size, VCX_BUFFER_BYTES);
    vcx_set(call->out, sbcam_reg, cap_cell_size, VCX_CELL_BYTES);
    vcx_set(call->out, sbcam_reg, cap_max_pg_buffers, VCX_RECEIVE_BUFFERS);
    vcx_set(call->out, sbcam_reg, cap_num_pool_supported, VCX_POOLS);
    return VCX_OK;
}

static const struct vcx_register vcx_registers_capabilities[] = {
    {0x5001, 20, VCX_REGISTER_OF_PORT, pcap},
    {0x507f, 80, 0, pcam},
    {0x907f, 72, 0, mcam},
    {0x4019, 72, 0, qcam},
    {0xb01f, 76, 0, sbcam},
    {0},
};

/* ---- the device as a whole */

/* The host's byte order and name for it, clock, PCI Express link, firmware and its components. */

#define NS_PER_US 1000u

static enum vcx_status host_endianness(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    if (call->write)
        state->host_big_endian = vcx_get(call->in, register_host_endianness, he);
    vcx_set(call->out, register_host_endianness, he, state->host_big_endian);
    return VCX_OK;
}

static enum vcx_status node_description(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    if (call->write)
        memcpy(state->description, call->in, sizeof state->description);
    memcpy(call->out, state->description, sizeof state->description);
    return VCX_OK;
}

/* Resets of the firmware: none can be asked for. */
static enum vcx_status mfrl(struct vcx_register_call *call)
{
    bool asks =
        vcx_get(call->in, mfrl_reg, reset_level) || vcx_get(call->in, mfrl_reg, pci_sync_for_fw_update_start);
    return call->write && asks ? VCX_BAD_PARAMETER : VCX_OK;
}

/* The module is plugged in and enabled; the driver chooses which events it wants of it. */
static enum vcx_status pmaos(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    if (vcx_get(call->in, pmaos_reg, module) != 0)
        return VCX_BAD_PARAMETER;
    if (call->write && vcx_get(call->in, pmaos_reg, ase))
        return VCX_BAD_PARAMETER;
    if (call->write && vcx_get(call->in, pmaos_reg, ee))
        state->module_events = (uint8_t)vcx_get(call->in, pmaos_reg, e);
    vcx_set(call->out, pmaos_reg, admin_status, 1);
    vcx_set(call->out, pmaos_reg, oper_status, 1);
    vcx_set(call->out, pmaos_reg, e, state->module_events);
    return VCX_OK;
}

/* The clock by which the firmware dates its messages: microseconds that the driver sets. */
static enum vcx_status mrtc(struct vcx_register_call *call)
{
    struct vcx_register_state *state = call->device->registers_kept;
    uint64_t own_us = vcx_now_ns(call->device) / NS_PER_US;
    if (call->write) {
        state->clock_us =
            (vcx_get(call->in, mrtc_reg, time_h) << 32 | vcx_get(call->in, mrtc_reg, time_l)) - own_us;
        state->clock_set = true;
    }
    vcx_set(call->out, mrtc_reg, time_synced, state->clock_set);
    vcx_set(call->out, mrtc_reg, time_h, (state->clock_us + own_us) >> 32);
    vcx_set(call->out, mrtc_reg, time_l, state->clock_us + own_us);
    return VCX_OK;
}

/* A link of eight lanes at 8 GT/s: bits of widths and speeds in the order of the specification. */
static enum vcx_status mpein(struct vcx_register_call *call)
{
    if (vcx_get(call->in, mpein_reg, pcie_index) || vcx_get(call->in, mpein_reg, depth) ||
        vcx_get(call->in, mpein_reg, node))
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, mpein_reg, link_width_enabled, 8);
    vcx_set(call->out, mpein_reg, link_speed_enabled, 4);
    vcx_set(call->out, mpein_reg, link_width_active, 8);
    vcx_set(call->out, mpein_reg, link_speed_active, 4);
    vcx_set(call->out, mpein_reg, num_of_pfs, 1);
    vcx_set(call->out, mpein_reg, max_read_request_size, 2); /* 512 bytes */
    vcx_set(call->out, mpein_reg, max_payload_size, 1);      /* 256 bytes */
    return VCX_OK;
}

/* ---- components of the firmware: the image that runs, and no other */

#define BOOT_IMAGE    1 /* MCQS' identifier */
#define PRESENT       1
#define INFO_CAPABLE  0
#define INFO_VERSION  1
#define INFOS         (1u << INFO_CAPABLE | 1u << INFO_VERSION)
#define CAPABLE_BYTES 20
#define VERSION_BYTES 124
#define FW_REVISION   0 /* of the initialization segment: minor and major */
#define FW_SUBMINOR   4 /* in the low half */

static enum vcx_status mcqs(struct vcx_register_call *call)
{
    if (vcx_get(call->in, mcqs_reg, component_index) != 0)
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, mcqs_reg, last_index_flag, 1);
    vcx_set(call->out, mcqs_reg, identifier, BOOT_IMAGE);
    vcx_set(call->out, mcqs_reg, component_status, PRESENT);
    return VCX_OK;
}

static void write_version(struct vcx_device *device, uint8_t *out)
{
    uint32_t revision = device->ops->bar_read(device->front, FW_REVISION);
    uint32_t major = revision & 0xffff, minor = revision >> 16,
             subminor = device->ops->bar_read(device->front, FW_SUBMINOR) & 0xffff;
    char text[32];
    int length = snprintf(text, sizeof text, "%u.%u.%u", major, minor, subminor);
    vcx_set(out, mcqi_version, version, major << 24 | (minor & 0xff) << 16 | subminor);
    vcx_set(out, mcqi_version, version_string_length, (uint32_t)length);
    memcpy(vcx_at(out, mcqi_version, version_string), text, (size_t)length);
}

/* The answer's room decides how much of the information is given. */
static enum vcx_status mcqi(struct vcx_register_call *call)
{
    uint8_t info[VERSION_BYTES] = {0};
    uint64_t type = vcx_get(call->in, mcqi_reg, info_type), asked = vcx_get(call->in, mcqi_reg, data_size);
    uint32_t at = vcx_offset(mcqi_reg, data), size = type == INFO_VERSION ? VERSION_BYTES : CAPABLE_BYTES;
    if (vcx_get(call->in, mcqi_reg, component_index) != 0 || type > INFO_VERSION ||
        vcx_get(call->in, mcqi_reg, offset) != 0 || vcx_get(call->in, mcqi_reg, read_pending_component))
        return VCX_BAD_PARAMETER;
    if (type == INFO_VERSION)
        write_version(call->device, info);
    else
        vcx_set(info, mcqi_cap, supported_info_bitmask, INFOS);
    vcx_set(call->out, mcqi_reg, info_type, type);
    vcx_set(call->out, mcqi_reg, info_size, size);
    vcx_set(call->out, mcqi_reg, data_size, vcx_least(asked, size));
    memcpy(call->out + at, info, vcx_least(vcx_least(asked, size), call->out_bytes - at));
    return VCX_OK;
}

static const struct vcx_register vcx_registers_management[] = {
    {0x7004, 16, VCX_REGISTER_WRITABLE, host_endianness},
    {0x6001, VCX_DESCRIPTION_BYTES, VCX_REGISTER_WRITABLE, node_description},
    {0x9028, 8, VCX_REGISTER_WRITABLE, mfrl},
    {0x5012, 16, VCX_REGISTER_WRITABLE, pmaos},
    {0x902d, 16, VCX_REGISTER_WRITABLE, mrtc},
    {0x9050, 48, 0, mpein},
    {0x9060, 16, 0, mcqs},
    {0x9061, 24, 0, mcqi},
    {0},
};

/* ---- MCIA */

/* The memory of the module in the cage, a passive copper cable of 1 m (SFF-8472 in SFP28, SFF-8636 in
 * QSFP28). */

#define PAGE_BYTES   256
#define MOST_BYTES   128 /* in one answer */
#define ADDRESS_LOW  0x50
#define ADDRESS_HIGH 0x51

enum mcia_status { MODULE_GOOD = 0, MODULE_I2C_ERROR = 9 };

/* Bytes of a page; texts are filled with spaces. */
struct span {
    uint8_t at, bytes;
    const char *text;
};

static const uint8_t sfp_bytes[][2] = {
    {0, 0x03},  /* SFP */
    {1, 0x04},  /* by its two-wire interface */
    {2, 0x21},  /* copper pigtail */
    {8, 0x04},  /* passive cable */
    {12, 0xff}, /* nominal rate: in byte 66 */
    {18, 1},    /* m of copper */
    {36, 0x0b}, /* 25GBASE-CR CA-L */
    {60, 0x01}, /* SFF-8431 appendix E */
    {66, 103},  /* 250 MBd */
};
static const struct span sfp_texts[] = {
    {20, 16, "Virtual"}, {40, 16, "VCX-SFP28-1M"}, {56, 4, "A"}, {68, 16, "VCX0000000001"}, {84, 8, "240101"},
};

static const uint8_t qsfp_bytes[][2] = {
    {0, 0x11},                /* QSFP28 */
    {1, 0x08},                /* SFF-8636 revision 2.8 */
    {2, 0x04},                /* flat memory: page 0 only */
    {128, 0x11}, {130, 0x23}, /* no separable connector */
    {131, 0x88},              /* 40GBASE-CR4, and byte 192 */
    {139, 0x05},              /* 64B/66B */
    {140, 0xff},              /* nominal rate: in byte 222 */
    {146, 1},                 /* m of copper */
    {147, 0xa0},              /* copper, not equalized */
    {192, 0x0b},              /* 100GBASE-CR4 */
    {222, 103},               /* 250 MBd */
};
static const struct span qsfp_texts[] = {
    {148, 16, "Virtual"},       {168, 16, "VCX-QSFP28-1M"}, {184, 2, "A"},
    {196, 16, "VCX0000000001"}, {212, 8, "240101"},
};

static void fill_module_page(uint8_t *page, const uint8_t (*bytes)[2], size_t count, const struct span *texts,
                             size_t text_count)
{
    for (size_t i = 0; i < count; i++)
        page[bytes[i][0]] = bytes[i][1];
    for (size_t i = 0; i < text_count; i++)
        for (size_t j = 0, ended = 0; j < texts[i].bytes; j++) {
            ended = ended || !texts[i].text[j];
            page[texts[i].at + j] = ended ? ' ' : (uint8_t)texts[i].text[j];
        }
}

/* The low byte of the sum of [from, to) stands at `to`. */
static void add_checksum(uint8_t *page, size_t from, size_t to)
{
    uint8_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum = (uint8_t)(sum + page[i]);
    page[to] = sum;
}

static void write_sfp(uint8_t *page)
{
    fill_module_page(page, sfp_bytes, VCX_COUNT(sfp_bytes), sfp_texts, VCX_COUNT(sfp_texts));
    add_checksum(page, 0, 63);
    add_checksum(page, 64, 95);
}

static void write_qsfp(uint8_t *page)
{
    fill_module_page(page, qsfp_bytes, VCX_COUNT(qsfp_bytes), qsfp_texts, VCX_COUNT(qsfp_texts));
    add_checksum(page, 128, 191);
    add_checksum(page, 192, 223);
}

/* An SFP's second address holds diagnostics, which a passive cable has not. A QSFP's further pages read as
 * zeros. */
static enum mcia_status read_page(const struct vcx_device *device, uint64_t address, uint64_t number,
                                  uint8_t *page)
{
    bool sfp = vcx_link_lanes(device) == 1;
    if (address != ADDRESS_LOW || (sfp && number != 0))
        return MODULE_I2C_ERROR;
    if (sfp)
        write_sfp(page);
    else if (number == 0)
        write_qsfp(page);
    return MODULE_GOOD;
}

static enum vcx_status mcia(struct vcx_register_call *call)
{
    uint8_t page[PAGE_BYTES] = {0};
    uint64_t room = vcx_least(MOST_BYTES, call->out_bytes - vcx_offset(mcia_reg, dwords));
    uint64_t address = vcx_get(call->in, mcia_reg, i2c_device_address),
             number = vcx_get(call->in, mcia_reg, page_number),
             from = vcx_get(call->in, mcia_reg, device_address), size = vcx_get(call->in, mcia_reg, size);
    if (vcx_get(call->in, mcia_reg, module) != 0 || size > room || from + size > PAGE_BYTES)
        return VCX_BAD_PARAMETER;
    if (address != ADDRESS_LOW && address != ADDRESS_HIGH)
        return VCX_BAD_PARAMETER;
    enum mcia_status status = read_page(call->device, address, number, page);
    vcx_set(call->out, mcia_reg, status, status);
    vcx_set(call->out, mcia_reg, i2c_device_address, address);
    vcx_set(call->out, mcia_reg, page_number, number);
    vcx_set(call->out, mcia_reg, device_address, from);
    vcx_set(call->out, mcia_reg, size, size);
    if (status == MODULE_GOOD)
        memcpy(vcx_at(call->out, mcia_reg, dwords), page + from, size);
    return VCX_OK;
}

static const struct vcx_register vcx_registers_module[] = {
    {0x9014, vcx_offset(mcia_reg, dwords), 0, mcia},
    {0},
};

/* ---- ACCESS_REG: finds the register, and checks what all have in common */

#define ACCESS_REG 0x805

enum { MODE_WRITE = 0, MODE_READ = 1 };

static const struct vcx_register *const tables[] = {
    vcx_registers_port,         vcx_registers_link,       vcx_registers_flow_control,
    vcx_registers_qos,          vcx_registers_roce,       vcx_registers_counters,
    vcx_registers_capabilities, vcx_registers_management, vcx_registers_module,
};

const struct vcx_register *vcx_register_find(uint16_t id)
{
    for (size_t i = 0; i < VCX_COUNT(tables); i++)
        for (const struct vcx_register *r = tables[i]; r->id; r++)
            if (r->id == id)
                return r;
    return NULL;
}

static enum vcx_status checked_access(const struct vcx_register *row, struct vcx_register_call *call)
{
    if (call->in_bytes < row->bytes)
        return VCX_BAD_INPUT_LENGTH;
    if (call->out_bytes < row->bytes)
        return VCX_BAD_OUTPUT_LENGTH;
    if (call->write && !(row->traits & VCX_REGISTER_WRITABLE))
        return VCX_BAD_PARAMETER;
    if (row->traits & VCX_REGISTER_OF_PORT) {
        if (vcx_get_place(call->in, VCX_PORT_PLACE) != VCX_LOCAL_PORT)
            return VCX_BAD_PARAMETER;
        vcx_set_place(call->out, VCX_PORT_PLACE, VCX_LOCAL_PORT);
    }
    return row->access(call);
}

static enum vcx_status access_found(const struct vcx_register *row, struct vcx_call *command)
{
    uint32_t in_at = vcx_offset(access_register_in, register_data),
             out_at = vcx_offset(access_register_out, register_data);
    uint64_t mode = vcx_get(command->in, nop_in, op_mod);
    struct vcx_register_call call = {
        .device = command->device,
        .in = command->in + in_at,
        .out = command->out + out_at,
        .in_bytes = command->in_bytes - in_at,
        .out_bytes = command->out_bytes - out_at,
        .argument = (uint32_t)vcx_get(command->in, access_register_in, argument),
        .write = mode == MODE_WRITE,
    };
    if (!row || mode > MODE_READ)
        return VCX_BAD_PARAMETER;
    enum vcx_status status = checked_access(row, &call);
    if (status)
        memset(call.out, 0, call.out_bytes);
    return status;
}

static enum vcx_status access_register(struct vcx_call *command)
{
    struct vcx_device *device = command->device;
    uint16_t id = (uint16_t)vcx_get(command->in, access_register_in, register_id);
    enum vcx_status status = access_found(vcx_register_find(id), command);
    vcx_count_use(device->registers, VCX_COUNT(device->registers), id, (uint8_t)status);
    if (status)
        vcx_log(device, "register 0x%04x: status 0x%x", id, status);
    return status;
}

const struct vcx_command vcx_commands_registers[] = {
    {ACCESS_REG, vcx_offset(access_register_in, register_data),
     vcx_offset(access_register_out, register_data), access_register},
    {0},
};
