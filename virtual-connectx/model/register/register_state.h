/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What registers keep that no other part acts on. */
#ifndef VCX_REGISTER_STATE_H
#define VCX_REGISTER_STATE_H

#include "virtual-connectx/model/room.h"

#define VCX_DESCRIPTION_BYTES 64
#define VCX_POOLS             4
#define VCX_POOL_DIRECTIONS   2 /* ingress, egress */

/* A share of the buffer that is behind the receive buffers; written and read only. */
struct vcx_pool {
    bool infinite;
    uint32_t cells;
    uint8_t mode;
};

struct vcx_pool_use {
    bool exclusive, infinite;
    uint32_t least_cells, most;
    uint8_t pool;
};

struct vcx_register_state {
    bool host_big_endian;
    uint8_t description[VCX_DESCRIPTION_BYTES];
    uint16_t beacon_s;
    uint8_t module_events, port_events; /* generation of events as the driver set it */
    uint64_t clock_us;                  /* what the driver set its clock to, less the device's time then */
    bool clock_set;
    bool autonegotiation_off;
    uint32_t link_modes; /* that the driver allows */
    uint8_t fec_10g, fec_25g, fec_50g, fec_100g;
    bool fcs_check;
    uint8_t dcbx_version, dcbx_traffic_classes, dcbx_pfc_classes;
    bool dcbx_willing;
    struct vcx_pool pools[VCX_POOL_DIRECTIONS][VCX_POOLS];
    struct vcx_pool_use uses[VCX_POOL_DIRECTIONS][8];
};

extern const struct vcx_room vcx_room_registers;

#endif
