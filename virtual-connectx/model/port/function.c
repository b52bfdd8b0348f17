// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/port/function.h"

#include "virtual-connectx/model/deliver.h"
#include "virtual-connectx/model/faults/faults.h"
#include "virtual-connectx/model/queue/eq.h"
#include "virtual-connectx/model/vport/vport.h"

/* A port change event (mlx5's struct mlx5_eqe_port_state, MLX5_PORT_CHANGE_SUBTYPE_*) */
#define EVENT_PORT  8 /* the number in the upper four bits */
#define PORT_DOWN   1
#define PORT_ACTIVE 4

static uint64_t now_ns(void *owner)
{
    return vcx_now_ns(owner);
}

static bool function_ready(void *owner, struct vcx_port *port)
{
    struct vcx_device *device = owner;
    (void)port;
    return !device->ops->ready || device->ops->ready(device->front);
}

static void function_transmit(void *owner, struct vcx_port *port, struct vcx_frame *frame)
{
    (void)port;
    vcx_fault_pass(owner, VCX_SENT, frame);
}

static uint64_t function_deliver(void *owner, struct vcx_port *port, struct vcx_frame *frame)
{
    (void)port;
    return vcx_deliver(owner, frame);
}

static const struct vcx_port_ops ops = {
    .now_ns = now_ns, .ready = function_ready, .transmit = function_transmit, .deliver = function_deliver};

static int function_start(struct vcx_device *device)
{
    const struct vcx_configuration *c = &device->configuration;
    device->port = vcx_allocate(sizeof *device->port);
    if (!device->port)
        return -1;
    vcx_port_start(device->port, &ops, device, c->nominal_bps, c->line_bps);
    device->port->cable_ns = c->cable_ns;
    device->port->random = c->seed;
    memcpy(device->port->mac, c->mac, sizeof c->mac);
    device->port->was_up = true;
    return 0;
}

static void function_stop(struct vcx_device *device)
{
    if (device->port)
        vcx_port_stop(device->port);
    vcx_release(device->port);
    device->port = NULL;
}

/* Tells the driver when the link came or went. */
static void look_at_link(struct vcx_device *device)
{
    struct vcx_port *port = device->port;
    uint8_t data[VCX_EVENT_DATA_BYTES] = {[EVENT_PORT] = 1 << 4};
    bool up = vcx_port_up(port);
    if (up == port->was_up)
        return;
    port->was_up = up;
    if (!up)
        vcx_port_went_down(port);
    vcx_event_write(device, VCX_EVENT_PORT_CHANGE, up ? PORT_ACTIVE : PORT_DOWN, data);
}

static bool function_poll(struct vcx_device *device)
{
    look_at_link(device);
    return vcx_port_poll(device->port);
}

const struct vcx_room vcx_room_port = {function_start, function_stop, function_poll};

void vcx_port_carrier(struct vcx_device *device, bool up)
{
    device->port->carrier = up;
}

void vcx_receive(struct vcx_device *device, struct vcx_frame *frame)
{
    if (vcx_fault_stopped(device))
        vcx_release(frame);
    else
        vcx_fault_pass(device, VCX_RECEIVED, frame);
}

/* ---- what the device sends */

void vcx_send(struct vcx_device *device, struct vcx_frame *frame, int priority)
{
    struct vcx_port *port = device->port;
    if (vcx_vport_is_to(device, frame))
        vcx_port_loop(port, frame);
    else
        vcx_port_send(port, frame, priority < 0 ? vcx_port_priority(port, frame) : (uint8_t)priority);
}

void vcx_send_to_itself(struct vcx_device *device, struct vcx_frame *frame)
{
    vcx_port_loop(device->port, frame);
}

/* The frames to itself are not the priority's, but the caller does not say where it sends to: the lesser
 * of both. */
uint32_t vcx_send_room(struct vcx_device *device, uint8_t priority, bool rdma)
{
    const struct vcx_port *port = device->port;
    uint64_t of_rdma = port->rdma_bytes[priority % VCX_PRIORITIES], half = port->queue_bytes / 2,
             used = rdma ? of_rdma : port->sending[priority % VCX_PRIORITIES].bytes - of_rdma;
    return (uint32_t)vcx_least(used < half ? half - used : 0, vcx_port_loop_room(port));
}

uint32_t vcx_send_number(struct vcx_device *device, uint8_t priority)
{
    const struct vcx_frames *queue = &device->port->sending[priority % VCX_PRIORITIES];
    return queue->left + queue->count;
}

bool vcx_send_waits(struct vcx_device *device, uint8_t priority, uint32_t number)
{
    const struct vcx_frames *queue = &device->port->sending[priority % VCX_PRIORITIES];
    return number - queue->left - 1 < queue->count;
}

uint8_t vcx_send_priority(struct vcx_device *device, uint8_t dscp, uint8_t pcp)
{
    const struct vcx_port_settings *s = &device->port->settings;
    return (s->trust == VCX_TRUST_DSCP ? s->priority_of_dscp[dscp % 64] : pcp) % VCX_PRIORITIES;
}

/* ---- for registers and commands */

struct vcx_port_settings *vcx_port_settings(struct vcx_device *device)
{
    return &device->port->settings;
}

void vcx_port_settings_changed(struct vcx_device *device)
{
    vcx_port_divide_buffers(&device->port->settings);
}

struct vcx_port_counters *vcx_port_counters(struct vcx_device *device)
{
    return &device->port->counters;
}

bool vcx_port_is_up(struct vcx_device *device)
{
    return vcx_port_up(device->port);
}
