// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Memory that the driver gives to the firmware. The model asks for none; what is given is kept and given back. */
#include "virtual-connectx/model/command/command.h"

#define QUERY_PAGES  0x107
#define MANAGE_PAGES 0x108

#define CANNOT_GIVE 0
#define GIVE        1
#define TAKE_BACK   2
#define MOST_GIVEN  65536u

static enum vcx_status query(struct vcx_call *call)
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

static enum vcx_status manage(struct vcx_call *call)
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

const struct vcx_command vcx_commands_pages[] = {
    {QUERY_PAGES, 16, 16, query},
    {MANAGE_PAGES, 16, 16, manage},
    {0},
};
