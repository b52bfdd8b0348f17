// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/port/inside.h"

#define LEAST_QUEUE_BYTES (24u << 10) /* two of the largest frames: what comes later waits in its own queue */
#define MOST_QUEUE_BYTES  (4u << 20)
#define HYSTERESIS_BYTES \
    9984u /* between XOFF and XON: the largest MTU in whole cells, as the driver has it */

void vcx_port_defaults(struct vcx_port_settings *settings)
{
    *settings = (struct vcx_port_settings){
        .admin_up = true, .mtu = VCX_MOST_MTU, .pause_tx = true, .pause_rx = true, .trust = VCX_TRUST_PCP};
    for (uint8_t i = 0; i < 64; i++)
        settings->priority_of_dscp[i] = i / 8;
    for (uint8_t i = 0; i < VCX_PRIORITIES; i++) {
        settings->class_of_priority[i] = i;
        settings->classes[i] = (struct vcx_traffic_class){.group = i, .share_percent = 100};
    }
    vcx_port_divide_buffers(settings);
}

/* Half is kept for frames on their way: more than the driver keeps, because the other end may be a model that is polled late. */
static struct vcx_receive_buffer lossless(uint32_t bytes)
{
    uint32_t xoff = bytes / 2 / VCX_CELL_BYTES * VCX_CELL_BYTES;
    return (struct vcx_receive_buffer){
        .bytes = bytes, .xoff_bytes = xoff, .xon_bytes = xoff - HYSTERESIS_BYTES};
}

void vcx_port_divide_buffers(struct vcx_port_settings *s)
{
    uint8_t with_pfc = s->pfc_tx | s->pfc_rx;
    uint32_t lossy_bytes =
        with_pfc ? VCX_BUFFER_BYTES / 2 / VCX_CELL_BYTES * VCX_CELL_BYTES + VCX_CELL_BYTES : VCX_BUFFER_BYTES;
    if (s->buffers_set)
        return;
    for (uint8_t i = 0; i < VCX_RECEIVE_BUFFERS; i++) {
        s->buffers[i] = (struct vcx_receive_buffer){.lossy = true};
        s->buffer_of_priority[i] = with_pfc >> i & 1;
    }
    s->buffers[0].bytes = lossy_bytes;
    if (with_pfc)
        s->buffers[1] = lossless(VCX_BUFFER_BYTES - lossy_bytes);
    else if (s->pause_tx)
        s->buffers[0] = lossless(VCX_BUFFER_BYTES);
}

uint64_t vcx_port_stretch(const struct vcx_port *port, uint64_t ns)
{
    return vcx_scale(ns, port->nominal_bps, port->line_bps);
}

/* Enough for two late polls of the line. */
static uint32_t queue_bytes(uint64_t line_bps)
{
    uint64_t late = vcx_scale(line_bps / 8, 2 * (uint64_t)VCX_SLACK_NS, 1000000000);
    return (uint32_t)vcx_least(vcx_most(late, LEAST_QUEUE_BYTES), MOST_QUEUE_BYTES);
}

void vcx_port_set_line(struct vcx_port *port, uint64_t line_bps)
{
    port->line_bps = line_bps;
    port->queue_bytes = queue_bytes(line_bps);
}

void vcx_port_start(struct vcx_port *port, const struct vcx_port_ops *ops, void *owner, uint64_t nominal_bps,
                    uint64_t line_bps)
{
    vcx_port_defaults(&port->settings);
    port->ops = ops;
    port->owner = owner;
    port->nominal_bps = vcx_most(nominal_bps, 1);
    vcx_port_set_line(port, line_bps ? line_bps : port->nominal_bps);
    port->carrier = true;
}

static void drop_all(struct vcx_port *port)
{
    for (uint8_t i = 0; i < VCX_PRIORITIES; i++)
        vcx_port_flush(port, i);
    vcx_ingress_clear(port);
}

void vcx_port_stop(struct vcx_port *port)
{
    drop_all(port);
}

bool vcx_port_up(const struct vcx_port *port)
{
    return port->carrier && !port->flapping && port->settings.admin_up;
}

void vcx_port_went_down(struct vcx_port *port)
{
    vcx_pause_account(port, vcx_port_now(port));
    vcx_pauses_forget(port);
    drop_all(port);
    port->counters.link_downs++;
}

bool vcx_port_poll(struct vcx_port *port)
{
    uint64_t now = vcx_port_now(port);
    vcx_pause_account(port, now);
    bool busy = vcx_ingress_poll(port, now);
    vcx_xoff_update(port, now);
    return vcx_egress_poll(port, now) || busy;
}
