/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Registers of the port and the device, read and written by ACCESS_REG. Each file has a table of those that
 * it answers; a register that no table has is refused with BAD_PARAMETER and counted.
 */
#ifndef VCX_REGISTER_H
#define VCX_REGISTER_H

#include "virtual-connectx/model/device.h"
#include "virtual-connectx/model/room.h"
#include "virtual-connectx/model/command/command.h"

#define VCX_LOCAL_PORT 1
/* Every register of a port has its number here. */
#define VCX_PORT_PLACE VCX_pmtu_reg__local_port

/* `in` and `out` have at least the row's bytes; `out` is zeroed, but for the port's number. */
struct vcx_register_call {
    struct vcx_device *device;
    const uint8_t *in;
    uint8_t *out;
    uint32_t in_bytes, out_bytes, argument;
    bool write;
};

enum vcx_register_traits {
    VCX_REGISTER_WRITABLE = 1,
    VCX_REGISTER_OF_PORT = 2, /* names the port in bits 8 to 15; any port but VCX_LOCAL_PORT is refused */
    VCX_REGISTER_PORT_RW = VCX_REGISTER_OF_PORT | VCX_REGISTER_WRITABLE,
};

struct vcx_register {
    uint16_t id;
    uint16_t bytes; /* the least that the driver has to give: up to the last field that is looked at, for
                       older drivers know less */
    uint8_t traits;
    enum vcx_status (*access)(struct vcx_register_call *call);
};

/* NULL: no table has it. */
const struct vcx_register *vcx_register_find(uint16_t id);

/* ---- the tables; each ends with an id of 0 */
extern const struct vcx_register vcx_registers_port[];
extern const struct vcx_register vcx_registers_link[];
extern const struct vcx_register vcx_registers_flow_control[];
extern const struct vcx_register vcx_registers_qos[];
extern const struct vcx_register vcx_registers_roce[];
extern const struct vcx_register vcx_registers_counters[];

/* ---- what registers keep that no other part acts on */

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
    uint8_t fec_10g, fec_25g, fec_50g, fec_100g;
    bool fcs_check;
    uint8_t dcbx_version, dcbx_traffic_classes, dcbx_pfc_classes;
    bool dcbx_willing;
    struct vcx_pool pools[VCX_POOL_DIRECTIONS][VCX_POOLS];
    struct vcx_pool_use uses[VCX_POOL_DIRECTIONS][8];
};

extern const struct vcx_room vcx_room_registers;

/* ---- the link's speed as the driver sees it: the nominal rate of the configuration, over copper */

/* The bit of PTYS' eth_proto that the port does. */
uint32_t vcx_link_mode(const struct vcx_device *device);
/* Lanes of the cage: 1 for SFP28, 4 for QSFP28. */
uint8_t vcx_link_lanes(const struct vcx_device *device);

#endif
