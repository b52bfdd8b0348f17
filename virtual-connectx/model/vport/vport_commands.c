// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Commands of the own vport. There are no others: a command that names one is refused. */
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/port/function.h"
#include "virtual-connectx/model/vport/vport.h"

enum { QUERY_STATE = 0x750, MODIFY_STATE = 0x751, QUERY_NIC = 0x754, MODIFY_NIC = 0x755 };
enum {
    QUERY_HCA = 0x762,
    QUERY_GID = 0x764,
    QUERY_PKEY = 0x765,
    QUERY_ENV = 0x76f,
    QUERY_COUNTER = 0x770,
    QUERY_WOL = 0x831
};

#define STATE_UP         1
#define MOST_ADMIN_STATE 2 /* down, up, as the port */
#define MOST_STATE_KIND  2 /* op_mod: vNIC, eswitch's vport, uplink */
#define LINK_UP          5 /* port_physical_state: LinkUp; 3: Disabled */
#define LINK_DISABLED    3
#define PORT_ACTIVE      4
#define PORT_DOWN        1

/* The vport stands in the same place in all these commands. */
static bool is_other(const struct vcx_call *call)
{
    return vcx_get(call->in, query_nic_vport_context_in, other_vport) ||
           vcx_get(call->in, query_nic_vport_context_in, vport_number) != 0;
}

/* ---- state */

static enum vcx_status query_state(struct vcx_call *call)
{
    const struct vcx_vport *vport = call->device->vport;
    if (is_other(call) || vcx_get(call->in, nop_in, op_mod) > MOST_STATE_KIND)
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, query_vport_state_out, admin_state, vport->admin_state);
    vcx_set(call->out, query_vport_state_out, state,
            vport->admin_state && vcx_port_is_up(call->device) ? STATE_UP : 0);
    return VCX_OK;
}

static enum vcx_status modify_state(struct vcx_call *call)
{
    uint64_t state = vcx_get(call->in, modify_vport_state_in, admin_state);
    if (is_other(call) || vcx_get(call->in, nop_in, op_mod) > MOST_STATE_KIND || state > MOST_ADMIN_STATE)
        return VCX_BAD_PARAMETER;
    call->device->vport->admin_state = (uint8_t)state;
    return VCX_OK;
}

/* ---- the context */

static enum vcx_status query_nic(struct vcx_call *call)
{
    const struct vcx_vport *vport = call->device->vport;
    uint64_t type = vcx_get(call->in, query_nic_vport_context_in, allowed_list_type);
    uint8_t *context = vcx_at(call->out, query_nic_vport_context_out, nic_vport_context);
    if (is_other(call) || type >= VCX_ADDRESS_LISTS)
        return VCX_BAD_PARAMETER;
    const struct vcx_address_list *list = &vport->lists[type];
    uint8_t *entries = vcx_at(context, nic_vport_context, current_uc_mac_address);
    uint64_t room = (uint64_t)(call->out + call->out_bytes - entries) / VCX_ADDRESS_BYTES;
    uint64_t count = vcx_least(list->count, room);
    memcpy(context, vport->context, sizeof vport->context);
    vcx_set(context, nic_vport_context, allowed_list_type, type);
    vcx_set(context, nic_vport_context, allowed_list_size, count);
    memcpy(entries, list->entries, count * VCX_ADDRESS_BYTES);
    return VCX_OK;
}

/* Fields of the context that a bit of field_select names; an address is a number of 64 bits here. */
static const struct {
    uint32_t select, field;
} fields[] = {
#define FIELD(select, field)                                                        \
    {                                                                               \
        VCX_modify_nic_vport_field_select__##select, VCX_nic_vport_context__##field \
    }
    FIELD(roce_en, roce_en),
    FIELD(mtu, mtu),
    FIELD(promisc, promisc_uc),
    FIELD(promisc, promisc_mc),
    FIELD(promisc, promisc_all),
    FIELD(disable_uc_local_lb, disable_uc_local_lb),
    FIELD(disable_mc_local_lb, disable_mc_local_lb),
    FIELD(min_inline, min_wqe_inline_mode),
    FIELD(change_event, arm_change_event),
    FIELD(node_guid, node_guid),
    FIELD(port_guid, port_guid),
#undef FIELD
};

static bool list_fits(const struct vcx_call *call, const uint8_t *context)
{
    uint64_t count = vcx_get(context, nic_vport_context, allowed_list_size);
    const uint8_t *entries = vcx_at(context, nic_vport_context, current_uc_mac_address);
    return vcx_get(context, nic_vport_context, allowed_list_type) < VCX_ADDRESS_LISTS &&
           count * VCX_ADDRESS_BYTES <= (uint64_t)(call->in + call->in_bytes - entries);
}

static void set_list(struct vcx_vport *vport, const uint8_t *context)
{
    struct vcx_address_list *list = &vport->lists[vcx_get(context, nic_vport_context, allowed_list_type)];
    list->count = (uint32_t)vcx_get(context, nic_vport_context, allowed_list_size);
    memcpy(list->entries, vcx_at(context, nic_vport_context, current_uc_mac_address),
           list->count * VCX_ADDRESS_BYTES);
}

static bool address_fits(const uint8_t *context)
{
    static const uint8_t none[6] = {0};
    const uint8_t *mac = vcx_at(context, nic_vport_context, permanent_address) + 2;
    return !(mac[0] & 1) && memcmp(mac, none, sizeof none) != 0;
}

/* All that is named, or nothing if a part of it is wrong. */
static enum vcx_status modify_nic(struct vcx_call *call)
{
    struct vcx_vport *vport = call->device->vport;
    const uint8_t *context = vcx_at(call->in, modify_nic_vport_context_in, nic_vport_context),
                  *select = vcx_at(call->in, modify_nic_vport_context_in, field_select);
    bool lists = vcx_get(select, modify_nic_vport_field_select, addresses_list),
         address = vcx_get(select, modify_nic_vport_field_select, permanent_address),
         mtu = vcx_get(select, modify_nic_vport_field_select, mtu);
    if (is_other(call) || (lists && !list_fits(call, context)) || (address && !address_fits(context)) ||
        (mtu && vcx_get(context, nic_vport_context, mtu) > VCX_MOST_MTU))
        return VCX_BAD_PARAMETER;
    for (size_t i = 0; i < VCX_COUNT(fields); i++)
        if (vcx_get_place(select, fields[i].select))
            vcx_set_place(vport->context, fields[i].field, vcx_get_place(context, fields[i].field));
    if (address)
        memcpy(vcx_at(vport->context, nic_vport_context, permanent_address),
               vcx_at(context, nic_vport_context, permanent_address), VCX_ADDRESS_BYTES);
    if (lists)
        set_list(vport, context);
    return VCX_OK;
}

/* ---- counters */

static void write_traffic(uint8_t *out, uint32_t place, const struct vcx_traffic *traffic)
{
    uint8_t *at = out + (place >> 8) / 8;
    vcx_put64(at, traffic->packets);
    vcx_put64(at + 8, traffic->bytes);
}

static const struct {
    uint32_t place;
    uint8_t protocol, direction, cast;
} traffic_places[] = {
#define PLACE(name) VCX_query_vport_counter_out__##name
    {PLACE(received_eth_unicast), VCX_VPORT_ETHERNET, VCX_VPORT_RECEIVED, VCX_UNICAST},
    {PLACE(received_eth_multicast), VCX_VPORT_ETHERNET, VCX_VPORT_RECEIVED, VCX_MULTICAST},
    {PLACE(received_eth_broadcast), VCX_VPORT_ETHERNET, VCX_VPORT_RECEIVED, VCX_BROADCAST},
    {PLACE(transmitted_eth_unicast), VCX_VPORT_ETHERNET, VCX_VPORT_SENT, VCX_UNICAST},
    {PLACE(transmitted_eth_multicast), VCX_VPORT_ETHERNET, VCX_VPORT_SENT, VCX_MULTICAST},
    {PLACE(transmitted_eth_broadcast), VCX_VPORT_ETHERNET, VCX_VPORT_SENT, VCX_BROADCAST},
    {PLACE(received_ib_unicast), VCX_VPORT_RDMA, VCX_VPORT_RECEIVED, VCX_UNICAST},
    {PLACE(received_ib_multicast), VCX_VPORT_RDMA, VCX_VPORT_RECEIVED, VCX_MULTICAST},
    {PLACE(transmitted_ib_unicast), VCX_VPORT_RDMA, VCX_VPORT_SENT, VCX_UNICAST},
    {PLACE(transmitted_ib_multicast), VCX_VPORT_RDMA, VCX_VPORT_SENT, VCX_MULTICAST},
#undef PLACE
};

static enum vcx_status query_counter(struct vcx_call *call)
{
    struct vcx_vport *vport = call->device->vport;
    if (is_other(call))
        return VCX_BAD_PARAMETER;
    for (size_t i = 0; i < VCX_COUNT(traffic_places); i++)
        write_traffic(
            call->out, traffic_places[i].place,
            &vport->traffic[traffic_places[i].protocol][traffic_places[i].direction][traffic_places[i].cast]);
    if (vcx_get(call->in, query_vport_counter_in, clear))
        memset(vport->traffic, 0, sizeof vport->traffic);
    return VCX_OK;
}

static enum vcx_status query_env(struct vcx_call *call)
{
    if (is_other(call))
        return VCX_BAD_PARAMETER;
    vcx_set(call->out, query_vnic_env_out, nic_receive_steering_discard, call->device->vport->unsteered);
    return VCX_OK;
}

/* ---- as an InfiniBand port: its table has one GID and one P_Key */

#define GIDS        16
#define GID_BYTES   16
#define PKEYS       128
#define PKEY_BYTES  4
#define PKEY_FULL   0xffff
#define WHOLE_TABLE 0xffff
#define LINK_LOCAL  0xfe80000000000000ull

static enum vcx_status query_hca(struct vcx_call *call)
{
    const uint8_t *own = call->device->vport->context;
    uint8_t *context = vcx_at(call->out, query_hca_vport_context_out, hca_vport_context);
    bool up = vcx_port_is_up(call->device);
    if (is_other(call))
        return VCX_BAD_PARAMETER;
    vcx_set(context, hca_vport_context, port_physical_state, up ? LINK_UP : LINK_DISABLED);
    vcx_set(context, hca_vport_context, port_state, up ? PORT_ACTIVE : PORT_DOWN);
    vcx_set(context, hca_vport_context, vport_state, up ? PORT_ACTIVE : PORT_DOWN);
    vcx_set(context, hca_vport_context, system_image_guid,
            vcx_get(own, nic_vport_context, system_image_guid));
    vcx_set(context, hca_vport_context, port_guid, vcx_get(own, nic_vport_context, port_guid));
    vcx_set(context, hca_vport_context, node_guid, vcx_get(own, nic_vport_context, node_guid));
    return VCX_OK;
}

/* How many entries an index asks for; 0: it is outside the table. */
static uint64_t asked_entries(uint64_t index, uint64_t table)
{
    return index == WHOLE_TABLE ? table : index < table ? 1 : 0;
}

static enum vcx_status query_gid(struct vcx_call *call)
{
    uint64_t index = vcx_get(call->in, query_hca_vport_gid_in, gid_index), count = asked_entries(index, GIDS);
    uint32_t at = vcx_offset(query_hca_vport_gid_out, gid);
    if (is_other(call) || !count)
        return VCX_BAD_PARAMETER;
    if (call->out_bytes - at < count * GID_BYTES)
        return VCX_BAD_OUTPUT_LENGTH;
    vcx_set(call->out, query_hca_vport_gid_out, gids_num, count);
    if (index == 0 || index == WHOLE_TABLE) {
        vcx_put64(call->out + at, LINK_LOCAL);
        vcx_put64(call->out + at + 8, vcx_get(call->device->vport->context, nic_vport_context, port_guid));
    }
    return VCX_OK;
}

static enum vcx_status query_pkey(struct vcx_call *call)
{
    uint64_t index = vcx_get(call->in, query_hca_vport_pkey_in, pkey_index),
             count = asked_entries(index, PKEYS);
    uint32_t at = vcx_offset(query_hca_vport_pkey_out, pkey);
    if (is_other(call) || !count)
        return VCX_BAD_PARAMETER;
    if (call->out_bytes - at < count * PKEY_BYTES)
        return VCX_BAD_OUTPUT_LENGTH;
    if (index == 0 || index == WHOLE_TABLE)
        vcx_put32(call->out + at, PKEY_FULL);
    return VCX_OK;
}

/* The device does not wake the host: all answers are zero. */
static enum vcx_status query_wol(struct vcx_call *call)
{
    (void)call;
    return VCX_OK;
}

const struct vcx_command vcx_commands_vport[] = {
    {QUERY_STATE, 16, 16, query_state},
    {MODIFY_STATE, 16, 16, modify_state},
    {QUERY_NIC, 16, vcx_offset(query_nic_vport_context_out, nic_vport_context) + VCX_VPORT_CONTEXT_BYTES,
     query_nic},
    {MODIFY_NIC, vcx_offset(modify_nic_vport_context_in, nic_vport_context) + VCX_VPORT_CONTEXT_BYTES, 16,
     modify_nic},
    {QUERY_HCA, 16, 16 + 512, query_hca},
    {QUERY_GID, 16, 16, query_gid},
    {QUERY_PKEY, 16, 16, query_pkey},
    {QUERY_ENV, 16, 16 + 64, query_env},
    {QUERY_COUNTER, 32, vcx_offset(query_vport_counter_out, transmitted_eth_multicast) + 16, query_counter},
    {QUERY_WOL, 16, 16, query_wol},
    {0},
};
