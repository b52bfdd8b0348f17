// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The table of source addresses, and the way of a packet: from an address path or an address vector to headers. */
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/deliver.h"
#include "virtual-connectx/model/transport/transport.h"

#define QUERY_ROCE_ADDRESS 0x760
#define SET_ROCE_ADDRESS   0x761

#define DEFAULT_HOPS      64
#define LEAST_SOURCE_PORT 0xc000
/* positions in an address vector (mlx5's struct mlx5_av) */
#define VECTOR_SL        12
#define VECTOR_PORT      14
#define VECTOR_MAC       20
#define VECTOR_CLASS     26
#define VECTOR_HOPS      27
#define VECTOR_GID_INDEX 28 /* with the flow label */
#define VECTOR_GID       32

static enum vcx_status set_address(struct vcx_call *call)
{
    uint64_t index = vcx_get(call->in, set_roce_address_in, roce_address_index);
    if (index >= VCX_SOURCES)
        return VCX_BAD_PARAMETER;
    memcpy(call->device->transport->source[index], vcx_at(call->in, set_roce_address_in, roce_address),
           VCX_SOURCE_BYTES);
    return VCX_OK;
}

static enum vcx_status query_address(struct vcx_call *call)
{
    uint64_t index = vcx_get(call->in, query_roce_address_in, roce_address_index);
    if (index >= VCX_SOURCES)
        return VCX_BAD_PARAMETER;
    memcpy(vcx_at(call->out, query_roce_address_out, roce_address), call->device->transport->source[index],
           VCX_SOURCE_BYTES);
    return VCX_OK;
}

const struct vcx_command vcx_commands_addresses[] = {
    {SET_ROCE_ADDRESS, vcx_offset(set_roce_address_in, roce_address) + VCX_SOURCE_BYTES, 16, set_address},
    {QUERY_ROCE_ADDRESS, 16, vcx_offset(query_roce_address_out, roce_address) + VCX_SOURCE_BYTES,
     query_address},
    {0},
};

static bool is_v4(const uint8_t *address)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(address, mapped, sizeof mapped) == 0;
}

static void set_source(struct vcx_device *device, uint32_t index, struct vcx_path *path)
{
    const uint8_t *source = device->transport->source[index % VCX_SOURCES];
    vcx_put16(path->source_mac, (uint16_t)vcx_get(source, roce_addr_layout, source_mac_47_32));
    vcx_put32(path->source_mac + 2, (uint32_t)vcx_get(source, roce_addr_layout, source_mac_31_0));
    memcpy(path->source, vcx_at(source, roce_addr_layout, source_l3_address), sizeof path->source);
    path->tagged = vcx_get(source, roce_addr_layout, vlan_valid);
    path->vlan = (uint16_t)vcx_get(source, roce_addr_layout, vlan_id);
}

/* What follows from the fields that are set. */
static void finish(struct vcx_device *device, const struct vcx_qp *qp, struct vcx_route *route)
{
    struct vcx_path *path = &route->path;
    path->v6 = !is_v4(path->destination);
    if (!path->hop_limit)
        path->hop_limit = DEFAULT_HOPS;
    if (!path->source_port)
        path->source_port = (uint16_t)(LEAST_SOURCE_PORT | (qp->object.id & 0x3fff));
    route->priority = vcx_send_priority(device, path->dscp, path->pcp);
}

void vcx_route_connection(struct vcx_device *device, const struct vcx_qp *qp, struct vcx_route *route)
{
    const uint8_t *ads = vcx_at(qp->context, qpc, primary_address_path);
    struct vcx_path *path = &route->path;
    memset(route, 0, sizeof *route);
    set_source(device, (uint32_t)vcx_get(ads, ads, src_addr_index), path);
    vcx_put16(path->destination_mac, (uint16_t)vcx_get(ads, ads, rmac_47_32));
    vcx_put32(path->destination_mac + 2, (uint32_t)vcx_get(ads, ads, rmac_31_0));
    memcpy(path->destination, vcx_at(ads, ads, rgid_rip), sizeof path->destination);
    path->dscp = (uint8_t)vcx_get(ads, ads, dscp);
    path->pcp = (uint8_t)vcx_get(ads, ads, eth_prio);
    path->hop_limit = (uint8_t)vcx_get(ads, ads, hop_limit);
    path->source_port = (uint16_t)vcx_get(ads, ads, udp_sport);
    finish(device, qp, route);
}

void vcx_route_vector(struct vcx_device *device, const struct vcx_qp *qp, const uint8_t *vector,
                      struct vcx_route *route)
{
    struct vcx_path *path = &route->path;
    memset(route, 0, sizeof *route);
    set_source(device, vcx_be32(vector + VECTOR_GID_INDEX) >> 20 & 0xff, path);
    memcpy(path->destination_mac, vector + VECTOR_MAC, sizeof path->destination_mac);
    memcpy(path->destination, vector + VECTOR_GID, sizeof path->destination);
    path->dscp = vector[VECTOR_CLASS] >> 2;
    path->pcp = vector[VECTOR_SL] >> 1 & 7;
    path->hop_limit = vector[VECTOR_HOPS];
    path->source_port = vcx_be16(vector + VECTOR_PORT);
    finish(device, qp, route);
}
