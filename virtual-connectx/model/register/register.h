/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Registers of the port and the device, read and written by ACCESS_REG. Each file has a table of those that it answers; a register that
 * no table has is refused with BAD_PARAMETER and counted.
 */
#ifndef VCX_REGISTER_H
#define VCX_REGISTER_H

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
    uint16_t
        bytes; /* the least that the driver has to give: up to the last field that is looked at, for older drivers know less */
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
extern const struct vcx_register vcx_registers_counters[];
extern const struct vcx_register vcx_registers_capabilities[];
extern const struct vcx_register vcx_registers_management[];
extern const struct vcx_register vcx_registers_module[];

#endif
