/* The vport of the virtual ConnectX, as mlx5's vport.c asks of it; capabilities; moderation of
 * completions. */
#include "virtual-connectx/tests/unit/vcx_call.h"

#include "virtual-connectx/model/queue/cq.h"
#include "virtual-connectx/model/vport/vport.h"

enum {
    QUERY_CAPABILITY = 0x100,
    CREATE_EQ = 0x301,
    CREATE_CQ = 0x400,
    QUERY_CQ = 0x402,
    MODIFY_CQ = 0x403,
    QUERY_STATE = 0x750,
    MODIFY_STATE = 0x751,
    QUERY_NIC = 0x754,
    MODIFY_NIC = 0x755,
    QUERY_HCA = 0x762,
    QUERY_GID = 0x764,
    QUERY_PKEY = 0x765,
    QUERY_ENV = 0x76f,
    QUERY_COUNTER = 0x770,
    QUERY_WOL = 0x831
};
enum { CONTEXT_IN = 256 + 256, CONTEXT_OUT = 16 + 256 };

static uint8_t *context_in(struct host *h)
{
    return vcx_at(h->in, modify_nic_vport_context_in, nic_vport_context);
}

static uint8_t *select_in(struct host *h)
{
    return vcx_at(h->in, modify_nic_vport_context_in, field_select);
}

static const uint8_t *query(struct host *h)
{
    assert_int_equal(host_run(h, QUERY_NIC, 16, CONTEXT_OUT), VCX_OK);
    return vcx_at(h->out, query_nic_vport_context_out, nic_vport_context);
}

/* ---- the context */

static void a_vport_begins_with_its_address(void **state)
{
    struct host *h = *state;
    uint8_t mac[6];
    const uint8_t *context = query(h);
    assert_memory_equal(vcx_at(context, nic_vport_context, permanent_address) + 2, front_configuration.mac,
                        6);
    assert_true(vcx_get(context, nic_vport_context, node_guid) == 0x020000fffe000001);
    assert_int_equal(vcx_get(context, nic_vport_context, mtu), 1500);
    assert_int_equal(vcx_get(context, nic_vport_context, allowed_list_size), 0);
    vcx_vport_mac(&h->device, mac);
    assert_memory_equal(mac, front_configuration.mac, 6);
    assert_false(vcx_vport_roce_enabled(&h->device) || vcx_vport_blocks_loopback(&h->device, false));
}

/* mlx5_nic_vport_enable_roce(), mlx5_modify_nic_vport_promisc(), mlx5_nic_vport_update_local_lb() */
static void only_what_is_selected_changes(void **state)
{
    struct host *h = *state;
    memset(context_in(h), 0xff, 0xf0); /* all fields on */
    vcx_set(select_in(h), modify_nic_vport_field_select, roce_en, 1);
    assert_int_equal(host_run(h, MODIFY_NIC, CONTEXT_IN, 16), VCX_OK);
    assert_true(vcx_vport_roce_enabled(&h->device));
    assert_false(vcx_vport_blocks_loopback(&h->device, false));
    assert_int_equal(vcx_get(query(h), nic_vport_context, promisc_uc), 0);
    vcx_set(context_in(h), nic_vport_context, promisc_mc, 1);
    vcx_set(select_in(h), modify_nic_vport_field_select, promisc, 1);
    assert_int_equal(host_run(h, MODIFY_NIC, CONTEXT_IN, 16), VCX_OK);
    const uint8_t *context = query(h);
    assert_true(!vcx_get(context, nic_vport_context, promisc_uc) &&
                vcx_get(context, nic_vport_context, promisc_mc) &&
                !vcx_get(context, nic_vport_context, promisc_all) && vcx_vport_roce_enabled(&h->device));
    vcx_set(context_in(h), nic_vport_context, disable_uc_local_lb, 1);
    vcx_set(select_in(h), modify_nic_vport_field_select, disable_uc_local_lb, 1);
    vcx_set(select_in(h), modify_nic_vport_field_select, disable_mc_local_lb, 1);
    assert_int_equal(host_run(h, MODIFY_NIC, CONTEXT_IN, 16), VCX_OK);
    assert_true(vcx_vport_blocks_loopback(&h->device, false) && !vcx_vport_blocks_loopback(&h->device, true));
    assert_true(vcx_get(query(h), nic_vport_context, roce_en) &&
                vcx_get(query(h), nic_vport_context, disable_uc_local_lb));
}

/* mlx5_modify_nic_vport_mac_address(), mlx5_modify_nic_vport_mtu() */
static void address_and_mtu_are_checked(void **state)
{
    struct host *h = *state;
    static const uint8_t own[6] = {2, 3, 4, 5, 6, 7},
                         wrong[][6] = {{0}, {1, 0, 0, 0, 0, 1}, {255, 255, 255, 255, 255, 255}};
    uint8_t mac[6];
    memcpy(vcx_at(context_in(h), nic_vport_context, permanent_address) + 2, own, 6);
    vcx_set(select_in(h), modify_nic_vport_field_select, permanent_address, 1);
    assert_int_equal(host_run(h, MODIFY_NIC, CONTEXT_IN, 16), VCX_OK);
    for (size_t i = 0; i < VCX_COUNT(wrong); i++) {
        memcpy(vcx_at(context_in(h), nic_vport_context, permanent_address) + 2, wrong[i], 6);
        vcx_set(select_in(h), modify_nic_vport_field_select, permanent_address, 1);
        vcx_set(select_in(h), modify_nic_vport_field_select, roce_en, 1);
        vcx_set(context_in(h), nic_vport_context, roce_en, 1);
        assert_int_equal(host_run(h, MODIFY_NIC, CONTEXT_IN, 16), VCX_BAD_PARAMETER);
    }
    vcx_vport_mac(&h->device, mac);
    assert_memory_equal(mac, own, 6);
    assert_false(vcx_vport_roce_enabled(&h->device)); /* a refused command changes nothing */
    vcx_set(context_in(h), nic_vport_context, mtu, VCX_MOST_MTU + 1);
    vcx_set(select_in(h), modify_nic_vport_field_select, mtu, 1);
    assert_int_equal(host_run(h, MODIFY_NIC, CONTEXT_IN, 16), VCX_BAD_PARAMETER);
    vcx_set(context_in(h), nic_vport_context, mtu, 4200);
    vcx_set(select_in(h), modify_nic_vport_field_select, mtu, 1);
    assert_int_equal(host_run(h, MODIFY_NIC, CONTEXT_IN, 16), VCX_OK);
    assert_int_equal(vcx_get(query(h), nic_vport_context, mtu), 4200);
}

static uint8_t set_list(struct host *h, uint8_t type, uint32_t size, uint32_t listed)
{
    for (uint32_t i = 0; i < listed; i++)
        vcx_put64(vcx_at(context_in(h), nic_vport_context, current_uc_mac_address) + 8 * i,
                  0x020000000000 + (type << 8) + i);
    vcx_set(context_in(h), nic_vport_context, allowed_list_type, type);
    vcx_set(context_in(h), nic_vport_context, allowed_list_size, size);
    vcx_set(select_in(h), modify_nic_vport_field_select, addresses_list, 1);
    return host_run(h, MODIFY_NIC, CONTEXT_IN + 8 * listed, 16);
}

static uint32_t list(struct host *h, uint8_t type, uint32_t room)
{
    vcx_set(h->in, query_nic_vport_context_in, allowed_list_type, type);
    assert_int_equal(host_run(h, QUERY_NIC, 16, CONTEXT_OUT + 8 * room), VCX_OK);
    const uint8_t *context = vcx_at(h->out, query_nic_vport_context_out, nic_vport_context);
    uint32_t size = (uint32_t)vcx_get(context, nic_vport_context, allowed_list_size);
    for (uint32_t i = 0; i < size; i++)
        assert_true(vcx_be64(vcx_at(context, nic_vport_context, current_uc_mac_address) + 8 * i) ==
                    0x020000000000u + (type << 8) + i);
    return size;
}

/* mlx5_modify_nic_vport_mac_list(), mlx5_query_nic_vport_mac_list() */
static void lists_are_kept(void **state)
{
    struct host *h = *state;
    assert_int_equal(set_list(h, 0, 2, 2), VCX_OK);
    assert_int_equal(set_list(h, 1, 150, 150), VCX_OK);
    assert_int_equal(set_list(h, 2, 1, 1), VCX_OK);
    assert_int_equal(list(h, 0, 128), 2);
    assert_int_equal(list(h, 1, 150), 150);
    assert_int_equal(list(h, 1, 5), 5); /* the room of the answer */
    assert_int_equal(list(h, 2, 0), 0);
    assert_int_equal(set_list(h, 1, 0, 0), VCX_OK);
    assert_int_equal(list(h, 1, 128), 0);
}

static void wrong_lists_are_refused(void **state)
{
    struct host *h = *state;
    assert_int_equal(set_list(h, 0, 3, 2), VCX_BAD_PARAMETER); /* more than the command has */
    assert_int_equal(set_list(h, 0, 0xfff, 150), VCX_BAD_PARAMETER);
    assert_int_equal(set_list(h, 3, 1, 1), VCX_BAD_PARAMETER);
    vcx_set(h->in, query_nic_vport_context_in, allowed_list_type, 3);
    assert_int_equal(host_run(h, QUERY_NIC, 16, CONTEXT_OUT), VCX_BAD_PARAMETER);
    assert_int_equal(list(h, 0, 128), 0);
    assert_int_equal(host_run(h, MODIFY_NIC, CONTEXT_IN - 4, 16), VCX_BAD_INPUT_LENGTH);
    assert_int_equal(host_run(h, QUERY_NIC, 16, CONTEXT_OUT - 4), VCX_BAD_OUTPUT_LENGTH);
}

/* ---- state, and that there is no other vport */

static uint8_t vport_state(struct host *h)
{
    assert_int_equal(host_run(h, QUERY_STATE, 16, 16), VCX_OK);
    return (uint8_t)vcx_get(h->out, query_vport_state_out, state);
}

static void the_state_is_the_ports(void **state)
{
    struct host *h = *state;
    assert_int_equal(vport_state(h), 1);
    vcx_port_carrier(&h->device, false);
    assert_int_equal(vport_state(h), 0);
    vcx_port_carrier(&h->device, true);
    assert_int_equal(host_run(h, MODIFY_STATE, 16, 16), VCX_OK); /* down */
    assert_int_equal(vport_state(h), 0);
    vcx_set(h->in, modify_vport_state_in, admin_state, 2);
    assert_int_equal(host_run(h, MODIFY_STATE, 16, 16), VCX_OK);
    assert_int_equal(vport_state(h), 1);
    assert_int_equal(vcx_get(h->out, query_vport_state_out, admin_state), 2);
    vcx_set(h->in, modify_vport_state_in, admin_state, 3);
    assert_int_equal(host_run(h, MODIFY_STATE, 16, 16), VCX_BAD_PARAMETER);
    vcx_set(h->in, nop_in, op_mod, 3);
    assert_int_equal(host_run(h, QUERY_STATE, 16, 16), VCX_BAD_PARAMETER);
}

static void there_is_no_other_vport(void **state)
{
    struct host *h = *state;
    static const uint16_t opcodes[] = {QUERY_STATE, MODIFY_STATE, QUERY_NIC, MODIFY_NIC,   QUERY_HCA,
                                       QUERY_GID,   QUERY_PKEY,   QUERY_ENV, QUERY_COUNTER};
    for (size_t i = 0; i < VCX_COUNT(opcodes); i++) {
        vcx_set(h->in, query_nic_vport_context_in, other_vport, 1);
        vcx_set(h->in, query_nic_vport_context_in, vport_number, 1);
        assert_int_equal(host_run(h, opcodes[i], 1024, 1024), VCX_BAD_PARAMETER);
        vcx_set(h->in, query_nic_vport_context_in, vport_number, 0xffff);
        assert_int_equal(host_run(h, opcodes[i], 1024, 1024), VCX_BAD_PARAMETER);
    }
    assert_int_equal(host_run(h, QUERY_WOL, 16, 16), VCX_OK);
}

static void hostile_commands_do_no_harm(void **state)
{
    struct host *h = *state;
    static const uint16_t opcodes[] = {QUERY_STATE, MODIFY_STATE, QUERY_NIC, MODIFY_NIC,    QUERY_HCA,
                                       QUERY_GID,   QUERY_PKEY,   QUERY_ENV, QUERY_COUNTER, MODIFY_CQ};
    uint32_t seed = 1;
    for (size_t i = 0; i < VCX_COUNT(opcodes); i++)
        for (int round = 0; round < 300; round++) {
            for (size_t j = 0; j < sizeof h->in; j++)
                h->in[j] = round == 0 ? 0xff : (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
            if (round % 3) /* the own vport */
                memset(h->in + 4, 0, 8);
            uint32_t in_bytes = 16 + (seed >> 8) % (CALL_BYTES - 16),
                     out_bytes = 16 + (seed >> 12) % (CALL_BYTES - 16);
            host_run(h, opcodes[i], in_bytes, out_bytes);
            assert_true(h->device.vport->admin_state <= 2);
            assert_true(vcx_get(h->device.vport->context, nic_vport_context, mtu) <= VCX_MOST_MTU);
            for (int j = 0; j < VCX_ADDRESS_LISTS; j++)
                assert_true(h->device.vport->lists[j].count <= VCX_ADDRESS_LIST);
        }
}

/* ---- counters */

#define TRAFFIC(name, what) vcx_be64(vcx_at(h->out, query_vport_counter_out, name) + (what))
enum { PACKETS = 0, OCTETS = 8 };

static void traffic_is_counted_by_kind(void **state)
{
    struct host *h = *state;
    static const uint8_t unicast[6] = {2, 0, 0, 0, 0, 9}, multicast[6] = {1, 0, 0x5e, 0, 0, 1},
                         broadcast[6] = {255, 255, 255, 255, 255, 255};
    vcx_vport_count(&h->device, VCX_VPORT_ETHERNET, VCX_VPORT_RECEIVED, unicast, 100);
    vcx_vport_count(&h->device, VCX_VPORT_ETHERNET, VCX_VPORT_RECEIVED, unicast, 200);
    vcx_vport_count(&h->device, VCX_VPORT_ETHERNET, VCX_VPORT_SENT, multicast, 300);
    vcx_vport_count(&h->device, VCX_VPORT_ETHERNET, VCX_VPORT_SENT, broadcast, 400);
    vcx_vport_count(&h->device, VCX_VPORT_RDMA, VCX_VPORT_RECEIVED, multicast, 500);
    vcx_vport_count(&h->device, VCX_VPORT_RDMA, VCX_VPORT_SENT, unicast, 600);
    vcx_set(h->in, query_vport_counter_in, clear, 1);
    assert_int_equal(host_run(h, QUERY_COUNTER, 32, 528), VCX_OK);
    assert_true(TRAFFIC(received_eth_unicast, PACKETS) == 2 && TRAFFIC(received_eth_unicast, OCTETS) == 300);
    assert_true(TRAFFIC(transmitted_eth_multicast, OCTETS) == 300 &&
                TRAFFIC(transmitted_eth_broadcast, OCTETS) == 400);
    assert_true(TRAFFIC(received_ib_multicast, OCTETS) == 500 &&
                TRAFFIC(transmitted_ib_unicast, OCTETS) == 600);
    assert_true(TRAFFIC(transmitted_eth_unicast, PACKETS) == 0 && TRAFFIC(received_ib_unicast, PACKETS) == 0);
    assert_int_equal(host_run(h, QUERY_COUNTER, 32, 528), VCX_OK);
    assert_true(TRAFFIC(received_eth_unicast, PACKETS) == 0);
    vcx_vport_count_unsteered(&h->device);
    assert_int_equal(host_run(h, QUERY_ENV, 16, 16 + 512), VCX_OK);
    assert_int_equal(vcx_get(h->out, query_vnic_env_out, nic_receive_steering_discard), 1);
}

/* ---- as an InfiniBand port */

/* mlx5_query_hca_vport_pkey(), mlx5_query_hca_vport_gid(): an index, or the whole table */
static void tables_have_one_entry(void **state)
{
    struct host *h = *state;
    assert_int_equal(host_run(h, QUERY_PKEY, 16, 16 + 4), VCX_OK);
    assert_int_equal(vcx_be32(h->out + 16), 0xffff);
    vcx_set(h->in, query_hca_vport_pkey_in, pkey_index, 1);
    assert_int_equal(host_run(h, QUERY_PKEY, 16, 16 + 4), VCX_OK);
    assert_int_equal(vcx_be32(h->out + 16), 0);
    vcx_set(h->in, query_hca_vport_pkey_in, pkey_index, 0xffff);
    assert_int_equal(host_run(h, QUERY_PKEY, 16, 16 + 4 * 128), VCX_OK);
    assert_true(vcx_be32(h->out + 16) == 0xffff && vcx_be32(h->out + 20) == 0);
    vcx_set(h->in, query_hca_vport_pkey_in, pkey_index, 128);
    assert_int_equal(host_run(h, QUERY_PKEY, 16, 16 + 4), VCX_BAD_PARAMETER);
    vcx_set(h->in, query_hca_vport_pkey_in, pkey_index, 0xffff);
    assert_int_equal(host_run(h, QUERY_PKEY, 16, 16 + 4 * 127), VCX_BAD_OUTPUT_LENGTH);
    assert_int_equal(host_run(h, QUERY_GID, 16, 16 + 16), VCX_OK);
    assert_true(vcx_be64(h->out + 16) == 0xfe80000000000000 && vcx_be64(h->out + 24) == 0x020000fffe000001);
    assert_int_equal(vcx_get(h->out, query_hca_vport_gid_out, gids_num), 1);
    vcx_set(h->in, query_hca_vport_gid_in, gid_index, 16);
    assert_int_equal(host_run(h, QUERY_GID, 16, 16 + 16), VCX_BAD_PARAMETER);
    assert_int_equal(host_run(h, QUERY_GID, 16, 16), VCX_BAD_OUTPUT_LENGTH);
    assert_int_equal(host_run(h, QUERY_HCA, 16, 16 + 512), VCX_OK);
    assert_int_equal(vcx_get(vcx_at(h->out, query_hca_vport_context_out, hca_vport_context),
                             hca_vport_context, port_state),
                     4);
}

/* ---- capabilities */

static const uint8_t *capability(struct host *h, uint8_t group)
{
    vcx_set(h->in, nop_in, op_mod, group << 1 | 1);
    assert_int_equal(host_run(h, QUERY_CAPABILITY, 16, 16 + 1024), VCX_OK);
    return vcx_at(h->out, query_hca_cap_out, capability);
}

static void what_the_driver_does_not_start_without(void **state)
{
    struct host *h = *state;
    const uint8_t *general = capability(h, 0);
    assert_true(vcx_get(general, cmd_hca_cap, xrc) && vcx_get(general, cmd_hca_cap, atomic) &&
                vcx_get(general, cmd_hca_cap, roce));
    assert_false(vcx_get(general, cmd_hca_cap, bf));
    assert_false(vcx_get(general, cmd_hca_cap, umr_modify_entity_size_disabled)); /* fast registration */
    assert_int_equal(vcx_get(general, cmd_hca_cap, log_max_current_mc_list), VCX_LOG_ADDRESS_LIST);
    assert_int_equal(vcx_get(general, cmd_hca_cap, vhca_id), 1); /* of the address */
    for (int i = 0; i < VCX_KINDS; i++)
        assert_true(!vcx_kinds[i] || vcx_kinds[i]->log_limit < 31);
    assert_int_equal(vcx_get(general, cmd_hca_cap, log_max_pd), vcx_kinds[VCX_PD]->log_limit);
}

/* A bit of the capabilities for a register means that it is answered. */
static void registers_of_capabilities_are_answered(void **state)
{
    struct host *h = *state;
    static const struct {
        uint32_t place;
        uint16_t id;
    } bits[] = {
        {VCX_cmd_hca_cap__pcam_reg, 0x507f},    {VCX_cmd_hca_cap__mcam_reg, 0x907f},
        {VCX_cmd_hca_cap__qcam_reg, 0x4019},    {VCX_cmd_hca_cap__sbcam_reg, 0xb01f},
        {VCX_cmd_hca_cap__ets, 0x4005},         {VCX_cmd_hca_cap__dcbx, 0x4020},
        {VCX_cmd_hca_cap__ports_check, 0x5041}, {VCX_cmd_hca_cap__beacon_led, 0x902b},
    };
    const uint8_t *general = capability(h, 0);
    for (size_t i = 0; i < VCX_COUNT(bits); i++)
        assert_true(vcx_get_place(general, bits[i].place) && vcx_register_find(bits[i].id));
}

static void devices_differ(void **state)
{
    struct host *h = *state, *older = calloc(1, sizeof *older);
    struct vcx_configuration configuration = front_configuration;
    void *other = older;
    assert_non_null(older);
    configuration.device_id = 0x1015;
    host_open(older, &configuration);
    assert_int_equal(vcx_get(capability(h, 1), per_protocol_networking_offload_caps, wqe_inline_mode), 2);
    assert_int_equal(vcx_get(capability(older, 1), per_protocol_networking_offload_caps, wqe_inline_mode), 0);
    /* the firmware's minor and major version, which begin the initialization segment */
    assert_int_equal(front_read(&h->front, 0), 35u << 16 | 16);
    assert_int_equal(front_read(&older->front, 0), 32u << 16 | 14);
    host_stop(&other);
}

/* ---- moderation of completions */

enum { EQ_PAGE = 20, CQ_PAGE = 21, RECORD = 22 };
#define PAGE_AT(page) (MEMORY_AT + (uint64_t)(page)*VCX_PAGE_BYTES)

static uint32_t create_cq(struct host *h)
{
    vcx_set(vcx_at(h->in, create_eq_in, eq_context_entry), eqc, log_eq_size, 6);
    vcx_set(vcx_at(h->in, create_eq_in, eq_context_entry), eqc, intr, 3);
    vcx_put64(vcx_at(h->in, create_eq_in, pas), PAGE_AT(EQ_PAGE));
    assert_int_equal(host_run(h, CREATE_EQ, vcx_offset(create_eq_in, pas) + 8, 16), VCX_OK);
    uint32_t eq = (uint32_t)vcx_get(h->out, create_eq_out, eq_number);
    uint8_t *context = vcx_at(h->in, create_cq_in, cq_context);
    vcx_set(context, cqc, log_cq_size, 6);
    vcx_set(context, cqc, c_eqn_or_apu_element, eq);
    vcx_set(context, cqc, dbr_addr, PAGE_AT(RECORD));
    vcx_put64(vcx_at(h->in, create_cq_in, pas), PAGE_AT(CQ_PAGE));
    assert_int_equal(host_run(h, CREATE_CQ, vcx_offset(create_cq_in, pas) + 8, 16), VCX_OK);
    return (uint32_t)vcx_get(h->out, create_cq_out, cqn);
}

/* mlx5_core_modify_cq_moderation() */
static uint8_t moderate(struct host *h, uint32_t cq, uint16_t us, uint16_t count)
{
    vcx_set(h->in, modify_cq_in, cqn, cq);
    vcx_set(vcx_at(h->in, modify_cq_in, cq_context), cqc, cq_period, us);
    vcx_set(vcx_at(h->in, modify_cq_in, cq_context), cqc, cq_max_count, count);
    vcx_set(h->in, modify_cq_in, modify_field_select, 3);
    return host_run(h, MODIFY_CQ, vcx_offset(create_cq_in, pas), 16);
}

static void complete(struct host *h, uint32_t cq, int count)
{
    static const uint8_t completion[VCX_CQE_BYTES] = {0};
    while (count--)
        assert_true(vcx_cq_write(&h->device, cq, VCX_CQE_SEND, completion, false));
}

static void arm(struct host *h, uint32_t events, uint32_t consumer)
{
    uint8_t *record = h->front.memory + RECORD * VCX_PAGE_BYTES;
    vcx_put32(record, consumer);
    vcx_put32(record + 4, events << 28 | consumer);
}

static void events_wait_for_number_or_time(void **state)
{
    struct host *h = *state;
    uint32_t cq = create_cq(h);
    assert_int_equal(moderate(h, cq, 16, 4), VCX_OK);
    arm(h, 0, 0);
    complete(h, cq, 3);
    assert_int_equal(h->front.interrupts[3], 0);
    complete(h, cq, 1); /* the fourth */
    assert_int_equal(h->front.interrupts[3], 1);
    arm(h, 1, 4);
    complete(h, cq, 1);
    h->front.now_ns += 15999;
    vcx_device_poll(&h->device);
    assert_int_equal(h->front.interrupts[3], 1);
    h->front.now_ns += 1; /* 16 us after the first that waits */
    vcx_device_poll(&h->device);
    assert_int_equal(h->front.interrupts[3], 2);
    arm(h, 2, 5);
    complete(h, cq, 1);
    arm(h, 2, 6); /* the driver found it by itself */
    vcx_device_poll(&h->device);
    h->front.now_ns += 20000;
    complete(h, cq, 1); /* waits anew */
    assert_int_equal(h->front.interrupts[3], 2);
    assert_int_equal(moderate(h, cq, 0, 4), VCX_OK); /* no time: at once */
    vcx_device_poll(&h->device);
    assert_int_equal(h->front.interrupts[3], 3);
}

static void modifications_of_queues_are_checked(void **state)
{
    struct host *h = *state;
    uint32_t cq = create_cq(h);
    assert_int_equal(moderate(h, cq + 1, 1, 1), VCX_BAD_RESOURCE);
    assert_int_equal(moderate(h, cq, 0xfff, 0xffff), VCX_OK);
    vcx_set(h->in, query_cq_in, cqn, cq);
    assert_int_equal(host_run(h, QUERY_CQ, 16, 16 + 64), VCX_OK);
    assert_int_equal(vcx_get(vcx_at(h->out, query_cq_out, cq_context), cqc, cq_period), 0xfff);
    vcx_set(h->in, modify_cq_in, cqn, cq);
    vcx_set(h->in, modify_cq_in, modify_field_select, 8);
    assert_int_equal(host_run(h, MODIFY_CQ, 272, 16), VCX_BAD_PARAMETER);
    vcx_set(h->in, modify_cq_in, cqn, cq);
    vcx_set(h->in, nop_in, op_mod, 1); /* a new size */
    assert_int_equal(host_run(h, MODIFY_CQ, 272, 16), VCX_BAD_PARAMETER);
    assert_int_equal(host_run(h, MODIFY_CQ, 16, 16), VCX_BAD_INPUT_LENGTH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, host_start, host_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_vport_begins_with_its_address),
        TEST(only_what_is_selected_changes),
        TEST(address_and_mtu_are_checked),
        TEST(lists_are_kept),
        TEST(wrong_lists_are_refused),
        TEST(the_state_is_the_ports),
        TEST(there_is_no_other_vport),
        TEST(hostile_commands_do_no_harm),
        TEST(traffic_is_counted_by_kind),
        TEST(tables_have_one_entry),
        TEST(what_the_driver_does_not_start_without),
        TEST(registers_of_capabilities_are_answered),
        TEST(devices_differ),
        TEST(events_wait_for_number_or_time),
        TEST(modifications_of_queues_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
