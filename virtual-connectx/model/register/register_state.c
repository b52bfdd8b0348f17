// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/register/register_state.h"

#include "virtual-connectx/model/register/link_modes.h"

/* The driver shares pools out anew when it sets receive buffers: their sum and the receive buffers' own is what it may share. */
#define LOSSY_POOL_CELLS    1536
#define LOSSLESS_POOL_CELLS 512

static int start(struct vcx_device *device)
{
    struct vcx_register_state *state = vcx_allocate(sizeof *state);
    if (!state)
        return -1;
    device->registers_kept = state;
    state->fcs_check = true;
    state->dcbx_pfc_classes = state->dcbx_traffic_classes = VCX_PRIORITIES;
    state->link_modes = vcx_link_modes(device);
    state->pools[1][0].cells = LOSSY_POOL_CELLS;
    state->pools[0][0].cells = state->pools[0][1].cells = LOSSLESS_POOL_CELLS;
    return 0;
}

static void stop(struct vcx_device *device)
{
    vcx_release(device->registers_kept);
    device->registers_kept = NULL;
}

const struct vcx_room vcx_room_registers = {.start = start, .stop = stop};
