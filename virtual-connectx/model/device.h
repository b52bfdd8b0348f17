/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A function of the virtual ConnectX: its state, and what every file of the model asks of the front. */
#ifndef VCX_DEVICE_H
#define VCX_DEVICE_H

#include "virtual-connectx/model/front.h"
#include "virtual-connectx/model/object.h"
#include "virtual-connectx/model/port/port.h"

#define VCX_BAR_BYTES (4u << 20)
#define VCX_UAR_FIRST                                                                                   \
    16 /* UAR n is the 4 KiB at n * 4096 of the BAR; the first pages are the initialization segment and \
          MSI-X */
#define VCX_COMMAND_SLOTS     32
#define VCX_PAGE_BYTES        4096
#define VCX_CAPABILITY_BYTES  0x1000
#define VCX_CAPABILITY_GROUPS 64

/* How often the driver asked for a command or register, and the last status that was not OK. */
struct vcx_usage {
    uint16_t id;
    uint8_t refused;
    uint32_t calls;
};

#define VCX_GIVEN_UP 16

struct vcx_device {
    struct vcx_front *front;
    const struct vcx_front_ops *ops;
    struct vcx_configuration configuration;
    struct vcx_numbers numbers[VCX_KINDS];
    /* command interface */
    uint64_t command_queue;
    uint32_t command_eq;
    uint64_t looks_until_ns; /* at slots, for some time after a ring */
    /* when each slot was first seen as the device's; 0: it is the driver's */
    uint64_t slot_since_ns[VCX_COMMAND_SLOTS];
    struct vcx_usage commands[256], registers[128];
    uint64_t *given_pages; /* by the driver, for the firmware's own use */
    uint32_t given_count;
    uint8_t capability[VCX_CAPABILITY_GROUPS][VCX_CAPABILITY_BYTES];
    /* the parts of each room; they own them, and others ask through functions */
    struct vcx_port *port;
    struct vcx_pace *pace;
    struct vcx_faults *faults;
    struct vcx_vport *vport;
    struct vcx_register_state *registers_kept;
    struct vcx_congestion *congestion;
    struct vcx_transport *transport;
    struct vcx_steering *steering;
    struct vcx_given_up {
        uint32_t key;
        uint64_t at_ns;
    } given_up[VCX_GIVEN_UP]; /* by the driver: the last memory keys */
    uint32_t next_given_up;
    uint64_t refused_writes; /* to what is not memory, or not to be written to */
    uint64_t write_ns;       /* how long writes into the driver's memory took since the port last asked */
    /* heartbeat */
    uint32_t health;
    uint64_t health_at_ns;
};

void vcx_log(struct vcx_device *device, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t vcx_now_ns(struct vcx_device *device);
/* The driver's memory; NULL if it is none, crosses a page, or is not to be written to. */
void *vcx_memory(struct vcx_device *device, uint64_t address, uint32_t bytes, enum vcx_use use);
/* Count a call of a command or register; `status` is what it was answered with. */
void vcx_count_use(struct vcx_usage *table, size_t room, uint16_t id, uint8_t status);

#endif
