// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Counters of frames that entries matched: the commands. */
#include "virtual-connectx/model/ethernet/flow.h"

#define COUNTER_BYTES 16

const struct vcx_kind_of_object vcx_kind_flow_counter = {"flow counter", 10, 1,
                                                         sizeof(struct vcx_flow_counter), NULL};

static enum vcx_status alloc_counter(struct vcx_call *call)
{
    if (vcx_get(call->in, alloc_flow_counter_in, flow_counter_bulk))
        return VCX_BAD_PARAMETER;
    const struct vcx_flow_counter *counter = vcx_object_new(call->device, VCX_FLOW_COUNTER);
    if (!counter)
        return VCX_NO_RESOURCES;
    vcx_set(call->out, alloc_flow_counter_out, flow_counter_id, counter->object.id);
    return VCX_OK;
}

static enum vcx_status dealloc_counter(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, dealloc_flow_counter_in, flow_counter_id);
    return vcx_object_free(call->device, VCX_FLOW_COUNTER, id) ? VCX_OK : VCX_BAD_RESOURCE;
}

static void write_counter(uint8_t *out, struct vcx_flow_counter *counter, bool clear)
{
    vcx_set(out, traffic_counter, packets, counter->packets);
    vcx_set(out, traffic_counter, octets, counter->octets);
    if (clear)
        counter->packets = counter->octets = 0;
}

/* One counter, or a row of numbers; those in it that do not exist are zero. */
static enum vcx_status query_counter(struct vcx_call *call)
{
    uint32_t first = (uint32_t)vcx_get(call->in, query_flow_counter_in, flow_counter_id),
             rows = (uint32_t)vcx_get(call->in, query_flow_counter_in, num_of_counters);
    bool clear = vcx_get(call->in, query_flow_counter_in, clear);
    uint8_t *out = vcx_at(call->out, query_flow_counter_out, flow_statistics);
    if (rows == 0 && !vcx_object(call->device, VCX_FLOW_COUNTER, first))
        return VCX_BAD_RESOURCE;
    rows = (uint32_t)vcx_most(rows, 1);
    if (call->out_bytes < (uint32_t)(out - call->out) + rows * COUNTER_BYTES)
        return VCX_BAD_OUTPUT_LENGTH;
    for (uint32_t i = 0; i < rows; i++) {
        struct vcx_flow_counter *counter = vcx_object(call->device, VCX_FLOW_COUNTER, first + i);
        if (counter)
            write_counter(out + i * COUNTER_BYTES, counter, clear);
    }
    return VCX_OK;
}

const struct vcx_command vcx_commands_flow_counter[] = {
    {0x939, 16, 16, alloc_counter},
    {0x93a, 16, 16, dealloc_counter},
    {0x93b, 32, 16, query_counter},
    {0},
};
