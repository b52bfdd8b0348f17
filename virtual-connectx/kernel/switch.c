// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The switch of the module: its first ports are cabled to the functions, the others carry their frames
 * over interfaces. */
#include "virtual-connectx/model/switch/switch.h"

#include "virtual-connectx/kernel/front.h"

struct vcx_switch_front {
    struct vcx_switch model;
    unsigned int ports;
    struct vcx_wire wires[VCX_SWITCH_PORTS];
};

static struct vcx_switch_front *the_switch;

static uint64_t switch_now_ns(struct vcx_switch_front *front)
{
    return vcx_turn_ns();
}

static bool switch_ready(struct vcx_switch_front *front, uint8_t port)
{
    return vcx_wire_ready(&front->wires[port]);
}

static void switch_transmit(struct vcx_switch_front *front, uint8_t port, struct vcx_frame *frame)
{
    vcx_wire_transmit(&front->wires[port], frame);
}

static const struct vcx_switch_ops switch_ops = {
    .now_ns = switch_now_ns, .ready = switch_ready, .transmit = switch_transmit};

static void switch_receive(struct vcx_wire *wire, struct vcx_frame *frame)
{
    vcx_switch_receive(&the_switch->model, wire - the_switch->wires, frame);
}

static const struct vcx_port *port_of_switch(const struct vcx_wire *wire)
{
    return &the_switch->model.ports[wire - the_switch->wires];
}

int vcx_switch_add(unsigned int ports, u64 line_bps)
{
    struct vcx_switch_front *front = kvzalloc(sizeof *front, GFP_KERNEL);
    if (!front)
        return -ENOMEM;
    if (vcx_switch_start(&front->model, ports, line_bps, front, &switch_ops) != 0) {
        kvfree(front);
        return -ENOMEM;
    }
    front->ports = ports;
    for (unsigned int i = 0; i < ports; i++) {
        vcx_wire_start(&front->wires[i], switch_receive, port_of_switch);
        front->wires[i].present = true;
    }
    the_switch = front;
    return 0;
}

void vcx_switch_remove(void)
{
    struct vcx_switch_front *front = the_switch;
    if (!front)
        return;
    the_switch = NULL;
    vcx_switch_stop(&front->model);
    for (unsigned int i = 0; i < front->ports; i++)
        vcx_wire_stop(&front->wires[i]);
    kvfree(front);
}

struct vcx_wire *vcx_switch_wire(unsigned int port)
{
    return the_switch && port < the_switch->ports ? &the_switch->wires[port] : NULL;
}

bool vcx_switch_run(void)
{
    struct vcx_switch_front *front = the_switch;
    bool busy = false;
    if (!front)
        return false;
    for (unsigned int i = 0; i < front->ports; i++) {
        vcx_switch_carrier(&front->model, i, vcx_wire_connected(&front->wires[i]));
        busy |= vcx_wire_poll(&front->wires[i]);
    }
    busy |= vcx_switch_poll(&front->model);
    return busy;
}

int vcx_switch_setting(const char *line)
{
    struct vcx_sentence error;
    if (vcx_switch_set(&the_switch->model, line, &error))
        return 0;
    pr_warn("virtual ConnectX switch: %s\n", error.text);
    return -EINVAL;
}

void vcx_switch_counters(void (*line)(void *to, const char *text), void *to)
{
    vcx_switch_show(&the_switch->model, line, to);
}
