// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/vport/vport.h"

#include "virtual-connectx/model/layout.h"

#define MAC_AT       2 /* in an entry of 8 bytes */
#define STANDARD_MTU 1500
#define ADMIN_UP     1

/* EUI-64 of a MAC address, as the device makes it: ff fe between its halves. */
static uint64_t guid_of(const uint8_t *mac)
{
    return (uint64_t)vcx_be32(mac) >> 8 << 40 | (uint64_t)0xfffe << 24 | (vcx_be32(mac + 2) & 0xffffff);
}

static int start_vport(struct vcx_device *device)
{
    const uint8_t *mac = device->configuration.mac;
    struct vcx_vport *vport = vcx_allocate(sizeof *vport);
    if (!vport)
        return -1;
    device->vport = vport;
    vport->admin_state = ADMIN_UP;
    memcpy(vcx_at(vport->context, nic_vport_context, permanent_address) + MAC_AT, mac, 6);
    vcx_set(vport->context, nic_vport_context, mtu, STANDARD_MTU);
    vcx_set(vport->context, nic_vport_context, system_image_guid, guid_of(mac) & ~0xffull);
    vcx_set(vport->context, nic_vport_context, port_guid, guid_of(mac));
    vcx_set(vport->context, nic_vport_context, node_guid, guid_of(mac));
    return 0;
}

static void stop_vport(struct vcx_device *device)
{
    vcx_release(device->vport);
    device->vport = NULL;
}

const struct vcx_room vcx_room_vport = {.start = start_vport, .stop = stop_vport};

void vcx_vport_mac(const struct vcx_device *device, uint8_t mac[6])
{
    memcpy(mac, vcx_at(device->vport->context, nic_vport_context, permanent_address) + MAC_AT, 6);
}

bool vcx_vport_is_to(const struct vcx_device *device, const struct vcx_frame *frame)
{
    uint8_t mac[6];
    vcx_vport_mac(device, mac);
    return frame->length >= sizeof mac && memcmp(frame->data, mac, sizeof mac) == 0;
}

bool vcx_vport_roce_enabled(const struct vcx_device *device)
{
    return vcx_get(device->vport->context, nic_vport_context, roce_en);
}

bool vcx_vport_blocks_loopback(const struct vcx_device *device, bool multicast)
{
    const uint8_t *context = device->vport->context;
    return multicast ? vcx_get(context, nic_vport_context, disable_mc_local_lb)
                     : vcx_get(context, nic_vport_context, disable_uc_local_lb);
}

static enum vcx_cast cast_of(const uint8_t *mac)
{
    static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    if (memcmp(mac, broadcast, sizeof broadcast) == 0)
        return VCX_BROADCAST;
    return mac[0] & 1 ? VCX_MULTICAST : VCX_UNICAST;
}

void vcx_vport_count(struct vcx_device *device, enum vcx_vport_protocol protocol,
                     enum vcx_vport_direction direction, const uint8_t *destination, uint32_t bytes)
{
    struct vcx_traffic *traffic = &device->vport->traffic[protocol][direction][cast_of(destination)];
    traffic->packets++;
    traffic->bytes += bytes;
}

void vcx_vport_count_unsteered(struct vcx_device *device)
{
    device->vport->unsteered++;
}
