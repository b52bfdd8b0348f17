// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Counters of frames, as PPCNT's groups for IEEE 802.3 and RFC 2819 have them. */
#include "virtual-connectx/model/port/inside.h"

/* The largest size with FCS of each row of of_size but the last. */
static const uint16_t size_limits[] = {64, 127, 255, 511, 1023, 1518, 2047, 4095, 8191};

uint32_t vcx_padded_bytes(const struct vcx_frame *frame)
{
    return (uint32_t)vcx_most(frame->length, VCX_LEAST_BYTES);
}

/* An MTU of the register PMTU is with header, tag and FCS. */
bool vcx_frame_too_long(const struct vcx_port *port, const struct vcx_frame *frame)
{
    uint32_t most = port->settings.mtu ? port->settings.mtu : VCX_MOST_MTU;
    return frame->length + VCX_FCS_BYTES > most;
}

static bool is_broadcast(const uint8_t *address)
{
    static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    return memcmp(address, broadcast, sizeof broadcast) == 0;
}

void vcx_count_frame(struct vcx_direction_counters *direction, const struct vcx_frame *frame)
{
    uint32_t bytes = vcx_padded_bytes(frame) + VCX_FCS_BYTES;
    size_t size = 0;
    while (size < VCX_COUNT(size_limits) && bytes > size_limits[size])
        size++;
    direction->of_size[size]++;
    direction->frames++;
    direction->bytes += bytes;
    if (is_broadcast(frame->data))
        direction->broadcast++;
    else if (frame->data[0] & 1)
        direction->multicast++;
}
