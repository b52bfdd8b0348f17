/* The machine of machine.h with a switch in the place of the cable; its other ports are the fuzzer's. */
#ifndef FUZZ_VCX_NETWORK_H
#define FUZZ_VCX_NETWORK_H

#include "virtual-connectx/tests/fuzz/machine.h"
#include "virtual-connectx/model/switch/switch.h"

enum { SWITCH_PORTS = 4 };

struct vcx_switch_front {
    struct machine *m;
    struct vcx_switch sw;
};
typedef struct vcx_switch_front network;

static inline uint64_t network_now(struct vcx_switch_front *n)
{
    return n->m->pair.side[0].front.now_ns;
}

static inline void network_transmit(struct vcx_switch_front *n, uint8_t port, struct vcx_frame *frame)
{
    if (port >= SWITCH_PORTS || frame->length > frame->room)
        abort();
    if (port < 2 && n->m->cable[port].count < MOST_CABLED)
        vcx_frames_put(&n->m->cable[port], frame);
    else
        vcx_release(frame);
}

static inline void *network_make(void)
{
    static const struct vcx_switch_ops ops = {.now_ns = network_now, .transmit = network_transmit};
    network *n = fuzz_vcx_own(NULL, sizeof *n, sizeof *n);
    n->m = machine_make();
    if (vcx_switch_start(&n->sw, SWITCH_PORTS, front_configuration.line_bps, n, &ops) != 0)
        abort();
    return n;
}

static inline network *network_open(void)
{
    return fuzz_vcx_begin(network_make);
}

/* What the functions sent goes into the switch, and what comes out of it to them. */
static inline void network_step(network *n, uint64_t ns)
{
    struct vcx_frames sent[2] = {n->m->cable[1], n->m->cable[0]};
    n->m->cable[0] = n->m->cable[1] = (struct vcx_frames){0};
    for (uint8_t i = 0; i < 2; i++)
        for (struct vcx_frame *frame; (frame = vcx_frames_take(&sent[i]));)
            vcx_switch_receive(&n->sw, i, frame);
    for (int polls = 0; vcx_switch_poll(&n->sw); polls++)
        if (polls > MOST_POLLS)
            abort();
    machine_step(n->m, ns);
}

static inline void network_steps(network *n, struct input *in)
{
    uint8_t how = input_byte(in);
    for (int i = 0; i < how % 16; i++)
        network_step(n, 16ull << (how / 16 * 5 / 3));
}

static inline void network_close(network *n)
{
    fuzz_vcx_fail(0);
    for (uint64_t ns = 1000; ns < 10000000000; ns *= 10)
        network_step(n, ns);
    vcx_switch_stop(&n->sw);
    machine_close(n->m);
}

/* A frame comes in: at a port of the switch, or from the wire of a function. */
static inline void network_receive(network *n, uint8_t where, struct vcx_frame *frame)
{
    frame->next = NULL;
    if (where % 8 < SWITCH_PORTS)
        vcx_switch_receive(&n->sw, where % SWITCH_PORTS, frame);
    else
        vcx_receive(&n->m->pair.side[where % 2].device, frame);
}

#endif
