// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Commands: how they are found; start and stop, what the device says of itself, pages for the firmware,
 * domains and other numbers. */
#include "virtual-connectx/model/capability.h"
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/command/domains.h"
#include "virtual-connectx/model/queue/mkey.h"

/* ---- start, stop, and what the device says of itself */

#define ISSI_1          1
#define ISSI_0_AND_1    3 /* bit n: version n */
#define IEEE_MELLANOX   0x2c9
#define VENDOR_MELLANOX 0x15b3

#define ATOMIC_GROUP 3
#define ATOMIC_BYTES 12 /* of the group, with what may be set */

static enum vcx_status command_without_effect(struct vcx_call *call)
{
    (void)call;
    return VCX_OK;
}

static enum vcx_status teardown_hca(struct vcx_call *call)
{
    vcx_objects_free(call->device);
    vcx_capabilities_start(call->device);
    call->device->command_eq = 0;
    return VCX_OK;
}

static enum vcx_status query_issi(struct vcx_call *call)
{
    vcx_set(call->out, query_issi_out, current_issi, ISSI_1);
    vcx_set(call->out, query_issi_out, supported_issi_dw0, ISSI_0_AND_1);
    return VCX_OK;
}

static enum vcx_status query_adapter(struct vcx_call *call)
{
    memcpy(vcx_at(call->out, query_adapter_out, psid), "VCX0000000001", 13);
    vcx_set(call->out, query_adapter_out, ieee_vendor_id, IEEE_MELLANOX);
    vcx_set(call->out, query_adapter_out, vsd_vendor_id, VENDOR_MELLANOX);
    return VCX_OK;
}

static enum vcx_status query_special_contexts(struct vcx_call *call)
{
    vcx_set(call->out, query_special_contexts_out, dump_fill_mkey, VCX_KEY_NULL);
    vcx_set(call->out, query_special_contexts_out, resd_lkey, VCX_KEY_RESERVED);
    vcx_set(call->out, query_special_contexts_out, null_mkey, VCX_KEY_NULL);
    return VCX_OK;
}

/* The group stands above the bit that asks for the maximum or the current value: both are the same here. */
static uint8_t *capability_of_call(struct vcx_call *call)
{
    uint64_t group = vcx_get(call->in, nop_in, op_mod) >> 1;
    return group < VCX_CAPABILITY_GROUPS ? call->device->capability[group] : NULL;
}

static enum vcx_status query_capability(struct vcx_call *call)
{
    const uint8_t *group = capability_of_call(call);
    uint32_t at = vcx_offset(query_hca_cap_out, capability);
    if (!group)
        return VCX_BAD_PARAMETER;
    memcpy(call->out + at, group, vcx_least(call->out_bytes - at, VCX_CAPABILITY_BYTES));
    return VCX_OK;
}

/* The group of atomic operations has only the byte order set; a driver that does so leaves the rest of the
 * group zero. */
static enum vcx_status set_atomic(struct vcx_call *call, uint8_t *group)
{
    const uint8_t *wanted = vcx_at(call->in, set_hca_cap_in, capability);
    if (call->in_bytes < vcx_offset(set_hca_cap_in, capability) + ATOMIC_BYTES)
        return VCX_BAD_INPUT_LENGTH;
    vcx_set(group, atomic_caps, atomic_req_8B_endianness_mode,
            vcx_get(wanted, atomic_caps, atomic_req_8B_endianness_mode));
    return VCX_OK;
}

static enum vcx_status set_capability(struct vcx_call *call)
{
    uint8_t *group = capability_of_call(call);
    uint32_t at = vcx_offset(set_hca_cap_in, capability);
    if (!group)
        return VCX_BAD_PARAMETER;
    if (vcx_get(call->in, nop_in, op_mod) >> 1 == ATOMIC_GROUP)
        return set_atomic(call, group);
    memcpy(group, call->in + at, vcx_least(call->in_bytes - at, VCX_CAPABILITY_BYTES));
    return VCX_OK;
}

static const struct vcx_command vcx_commands_hca[] = {
    {0x104, 16, 16, command_without_effect}, /* ENABLE_HCA */
    {0x105, 16, 16, command_without_effect}, /* DISABLE_HCA */
    {0x102, 16, 16, command_without_effect}, /* INIT_HCA */
    {0x103, 16, 16, teardown_hca},           /* TEARDOWN_HCA */
    {0x10a, 16, 112, query_issi},            /* QUERY_ISSI */
    {0x10b, 16, 16, command_without_effect}, /* SET_ISSI */
    {0x10d, 16, 16, command_without_effect}, /* SET_DRIVER_VERSION */
    {0x80d, 16, 16, command_without_effect}, /* NOP */
    {0x101, 16, 272, query_adapter},         /* QUERY_ADAPTER */
    {0x203, 16, 32, query_special_contexts},
    {0x100, 16, 16, query_capability}, /* QUERY_HCA_CAP */
    {0x109, 16, 16, set_capability},   /* SET_HCA_CAP */
    {0},
};

/* ---- memory that the driver gives to the firmware */

/* The model asks for none; what is given is kept and given back. */

#define QUERY_PAGES  0x107
#define MANAGE_PAGES 0x108

#define CANNOT_GIVE 0
#define GIVE        1
#define TAKE_BACK   2
#define MOST_GIVEN  65536u

static enum vcx_status query_pages(struct vcx_call *call)
{
    vcx_set(call->out, query_pages_out, num_pages, 0);
    return VCX_OK;
}

static enum vcx_status give_pages(struct vcx_call *call, uint32_t count)
{
    struct vcx_device *device = call->device;
    const uint8_t *list = vcx_at(call->in, manage_pages_in, pas);
    if (count > (call->in_bytes - vcx_offset(manage_pages_in, pas)) / 8)
        return VCX_BAD_INPUT_LENGTH;
    if (count > MOST_GIVEN - device->given_count)
        return VCX_LIMIT_EXCEEDED;
    if (!device->given_pages)
        device->given_pages = vcx_allocate(MOST_GIVEN * sizeof *device->given_pages);
    if (!device->given_pages)
        return VCX_NO_RESOURCES;
    for (uint32_t i = 0; i < count; i++)
        device->given_pages[device->given_count++] = vcx_be64(list + 8 * i);
    return VCX_OK;
}

static enum vcx_status take_pages_back(struct vcx_call *call, uint32_t count)
{
    struct vcx_device *device = call->device;
    uint8_t *list = vcx_at(call->out, manage_pages_out, pas);
    count = (uint32_t)vcx_least(count, (call->out_bytes - vcx_offset(manage_pages_out, pas)) / 8);
    count = (uint32_t)vcx_least(count, device->given_count);
    for (uint32_t i = 0; i < count; i++)
        vcx_put64(list + 8 * i, device->given_pages[--device->given_count]);
    vcx_set(call->out, manage_pages_out, output_num_entries, count);
    return VCX_OK;
}

static enum vcx_status manage_pages(struct vcx_call *call)
{
    uint32_t count = (uint32_t)vcx_get(call->in, manage_pages_in, input_num_entries);
    switch (vcx_get(call->in, nop_in, op_mod)) {
    case CANNOT_GIVE:
        return VCX_OK;
    case GIVE:
        return give_pages(call, count);
    case TAKE_BACK:
        return take_pages_back(call, count);
    default:
        return VCX_BAD_PARAMETER;
    }
}

static const struct vcx_command vcx_commands_pages[] = {
    {QUERY_PAGES, 16, 16, query_pages},
    {MANAGE_PAGES, 16, 16, manage_pages},
    {0},
};

const struct vcx_kind_of_object vcx_kind_pd = {"protection domain", 12, 1, sizeof(struct vcx_object), NULL};
const struct vcx_kind_of_object vcx_kind_transport_domain = {"transport domain", 8, 1,
                                                             sizeof(struct vcx_object), NULL};
const struct vcx_kind_of_object vcx_kind_xrcd = {"XRC domain", 4, 1, sizeof(struct vcx_object), NULL};
const struct vcx_kind_of_object vcx_kind_uar = {"UAR", 10, VCX_UAR_FIRST, sizeof(struct vcx_object), NULL};
const struct vcx_kind_of_object vcx_kind_counter_set = {"counter set", 7, 1, sizeof(struct vcx_counter_set),
                                                        NULL};

static enum vcx_status give_number(struct vcx_call *call, enum vcx_kind kind)
{
    const struct vcx_object *object = vcx_object_new(call->device, kind);
    if (!object)
        return VCX_NO_RESOURCES;
    vcx_answer_number(call, object->id);
    return VCX_OK;
}

static enum vcx_status take_number_back(struct vcx_call *call, enum vcx_kind kind)
{
    return vcx_object_free(call->device, kind, vcx_asked_number(call)) ? VCX_OK : VCX_BAD_RESOURCE;
}

static enum vcx_status alloc_pd(struct vcx_call *call)
{
    return give_number(call, VCX_PD);
}

static enum vcx_status dealloc_pd(struct vcx_call *call)
{
    return take_number_back(call, VCX_PD);
}

static enum vcx_status alloc_uar(struct vcx_call *call)
{
    return give_number(call, VCX_UAR);
}

static enum vcx_status dealloc_uar(struct vcx_call *call)
{
    return take_number_back(call, VCX_UAR);
}

static enum vcx_status alloc_xrcd(struct vcx_call *call)
{
    return give_number(call, VCX_XRCD);
}

static enum vcx_status dealloc_xrcd(struct vcx_call *call)
{
    return take_number_back(call, VCX_XRCD);
}

static enum vcx_status alloc_transport_domain(struct vcx_call *call)
{
    return give_number(call, VCX_TRANSPORT_DOMAIN);
}

static enum vcx_status dealloc_transport_domain(struct vcx_call *call)
{
    return take_number_back(call, VCX_TRANSPORT_DOMAIN);
}

/* ---- counter sets; their number has 8 bits, and another place */

static enum vcx_status alloc_counter_set(struct vcx_call *call)
{
    const struct vcx_object *object = vcx_object_new(call->device, VCX_COUNTER_SET);
    if (!object)
        return VCX_NO_RESOURCES;
    vcx_set(call->out, alloc_q_counter_out, counter_set_id, object->id);
    return VCX_OK;
}

static enum vcx_status dealloc_counter_set(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, dealloc_q_counter_in, counter_set_id);
    return vcx_object_free(call->device, VCX_COUNTER_SET, id) ? VCX_OK : VCX_BAD_RESOURCE;
}

static void write_counters(uint8_t *out, const struct vcx_counter_set *set)
{
#define RNR_RETRIES_EXCEEDED 0x70
#define COPY(name)           vcx_set(out, query_q_counter_out, name, set->name)
    COPY(rx_write_requests);
    COPY(rx_read_requests);
    COPY(rx_atomic_requests);
    COPY(out_of_buffer);
    COPY(out_of_sequence);
    COPY(duplicate_request);
    COPY(packet_seq_err);
    COPY(local_ack_timeout_err);
    COPY(rnr_nak_retry_err);
    COPY(implied_nak_seq_err);
    COPY(resp_local_length_error);
    COPY(req_local_length_error);
    COPY(local_operation_error);
    COPY(resp_local_protection);
    COPY(req_bad_response);
    COPY(req_remote_invalid_request);
    COPY(req_remote_access_errors);
    COPY(req_remote_operation_errors);
    COPY(req_transport_retries_exceeded);
    /* which Linux 6.1 does not know yet */
    vcx_put32(out + RNR_RETRIES_EXCEEDED, set->req_rnr_retries_exceeded);
    COPY(req_cqe_error);
    COPY(resp_cqe_flush_error);
    COPY(roce_adp_retrans);
    COPY(roce_slow_restart_cnps);
#undef COPY
}

static enum vcx_status query_counter_set(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, query_q_counter_in, counter_set_id);
    struct vcx_counter_set *set = vcx_object(call->device, VCX_COUNTER_SET, id);
    if (!set)
        return VCX_BAD_RESOURCE;
    write_counters(call->out, set);
    if (vcx_get(call->in, query_q_counter_in, clear))
        *set = (struct vcx_counter_set){.object = set->object};
    return VCX_OK;
}

static const struct vcx_command vcx_commands_domains[] = {
    {0x800, 16, 16, alloc_pd},
    {0x801, 16, 16, dealloc_pd},
    {0x802, 16, 16, alloc_uar},
    {0x803, 16, 16, dealloc_uar},
    {0x80e, 16, 16, alloc_xrcd},
    {0x80f, 16, 16, dealloc_xrcd},
    {0x816, 16, 16, alloc_transport_domain},
    {0x817, 16, 16, dealloc_transport_domain},
    {0x771, 16, 16, alloc_counter_set},
    {0x772, 16, 16, dealloc_counter_set},
    {0x773, 32, 256, query_counter_set},
    {0},
};

static const struct vcx_command *const tables[] = {
    vcx_commands_hca,        vcx_commands_pages,      vcx_commands_domains,      vcx_commands_eq,
    vcx_commands_cq,         vcx_commands_mkey,       vcx_commands_sq,           vcx_commands_rq,
    vcx_commands_rqt,        vcx_commands_tis,        vcx_commands_tir,          vcx_commands_flow_table,
    vcx_commands_flow_group, vcx_commands_flow_entry, vcx_commands_flow_counter, vcx_commands_registers,
    vcx_commands_vport,      vcx_commands_qp,         vcx_commands_srq,          vcx_commands_addresses,
    vcx_commands_congestion,
};

static const struct vcx_command *find_command(uint16_t opcode)
{
    for (size_t i = 0; i < VCX_COUNT(tables); i++)
        for (const struct vcx_command *c = tables[i]; c->opcode; c++)
            if (c->opcode == opcode)
                return c;
    return NULL;
}

static enum vcx_status checked_run(struct vcx_call *call, const struct vcx_command *command)
{
    if (!command)
        return VCX_BAD_OPERATION;
    if (call->in_bytes < command->in_bytes)
        return VCX_BAD_INPUT_LENGTH;
    if (call->out_bytes < command->out_bytes)
        return VCX_BAD_OUTPUT_LENGTH;
    return command->run(call);
}

enum vcx_status vcx_command_run(struct vcx_call *call)
{
    uint16_t opcode = (uint16_t)vcx_get(call->in, nop_in, opcode);
    enum vcx_status status = checked_run(call, find_command(opcode));
    vcx_set(call->out, nop_out, status, status);
    vcx_set(call->out, nop_out, syndrome, status ? (uint32_t)opcode << 8 | status : 0);
    vcx_count_use(call->device->commands, VCX_COUNT(call->device->commands), opcode, (uint8_t)status);
    if (status)
        vcx_log(call->device, "command 0x%03x: status 0x%x", opcode, status);
    return status;
}
