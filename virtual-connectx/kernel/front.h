/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernel module's front: a PCI bus inside the guest's own kernel whose BARs are reserved memory, and a
 * thread that runs the model of each function.
 */
#ifndef VCX_KERNEL_FRONT_H
#define VCX_KERNEL_FRONT_H

#include "virtual-connectx/model/command/gateway.h"
#include "virtual-connectx/model/firmware.h"
#include "virtual-connectx/model/port/credit.h"

#include <linux/io.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/skbuff.h>
#include <linux/smp.h>

#define VCX_MOST_FUNCTIONS 4
#define VCX_VECTORS        32     /* of MSI-X, each function's */
#define VCX_BAR_MSIX       0x8000 /* the table; below the first UAR */
#define VCX_BAR_PENDING    0x9000
#define VCX_CONFIG_BYTES   256

/* One end of a wire, of a function or a port of the switch: a cable to another end, or an interface that
 * carries the frames. */
struct vcx_wire {
    struct list_head all; /* of the module's */
    void (*receive)(struct vcx_wire *wire, struct vcx_frame *frame);
    const struct vcx_port *(*port)(const struct vcx_wire *wire); /* its owner's */
    bool present;                                                /* its owner is there */
    bool unplugged;                                              /* on request */
    struct vcx_wire *peer;
    struct vcx_frames arrived;
    struct net_device *lower;
    bool enclosed; /* frames go in frames of its own, between two ends that hold their pace */
    struct vcx_credit credit;
    struct sk_buff_head from_lower;
    u64 lower_drops;
};

/* A vector of MSI-X: what runs the handler of its last message on a CPU. */
struct vcx_vector {
    u64 number; /* of the interrupt, in the bus's domain */
    call_single_data_t there;
    struct irq_work here;
};

/* A function: configuration space, BAR, its end of the wire, and its model. */
struct vcx_front {
    unsigned int index;
    phys_addr_t bar;
    void __iomem *registers;
    u8 config[VCX_CONFIG_BYTES];
    u8 writable[VCX_CONFIG_BYTES]; /* bits that a write changes */
    struct vcx_gateway gateway;    /* behind the vendor's capability */
    unsigned long reset_asked;     /* bit 0: by a function level reset */
    DECLARE_BITMAP(pending, VCX_VECTORS);
    struct vcx_vector vectors[VCX_VECTORS];
    u64 interrupts;
    struct vcx_wire wire;
    struct vcx_configuration configuration;
    bool running; /* the model; not when memory ran out */
    struct vcx_device device;
};

extern struct vcx_front *vcx_fronts[VCX_MOST_FUNCTIONS];
extern unsigned int vcx_functions;
/* Held for whatever touches a model: a round of the thread, a file of debugfs. */
extern struct mutex vcx_lock;

extern const struct vcx_front_ops vcx_kernel_front;

/* ---- config.c: configuration space */
void vcx_config_start(struct vcx_front *front, bool several);
int vcx_config_read(struct vcx_front *front, int where, int size, u32 *value);
int vcx_config_write(struct vcx_front *front, int where, int size, u32 value);
/* The lanes on which the link came up, of the 8 that the card has. */
#define VCX_LANES 8
unsigned int vcx_config_lanes(const struct vcx_front *front);
void vcx_config_set_lanes(struct vcx_front *front, unsigned int lanes);
/* May the function read and write memory? The driver switches it on, and off when it leaves. */
bool vcx_config_master(const struct vcx_front *front);
/* PCI_MSIX_FLAGS_... */
u16 vcx_config_msix(const struct vcx_front *front);

/* ---- msix.c: messages, and the interrupt domain of the bus */
/* 0 or -ENOMEM, with a sentence in the log. */
int vcx_msix_add(void);
struct irq_domain *vcx_msix_domain(void);
void vcx_msix_remove(void);
void vcx_msix_start(struct vcx_front *front);
/* Waits for handlers that were called. Nothing sends any more. */
void vcx_msix_stop(struct vcx_front *front);
void vcx_interrupt(struct vcx_front *front, u16 vector);
/* Sends what was masked when it came. */
void vcx_interrupts_poll(struct vcx_front *front);

/* ---- parameters.c */
/* The module's parameters, checked. -EINVAL, with a sentence in the log. */
int vcx_parameters_check(void);
phys_addr_t vcx_parameter_memory(void);
/* Are frames on that interface of wire= enclosed in frames of their own? */
bool vcx_parameter_enclose(unsigned int index);
/* NULL: there are no more. */
const char *vcx_parameter_wire(unsigned int index);
bool vcx_parameter_switch(void);
struct vcx_configuration vcx_parameter_configuration(unsigned int index);

/* ---- bus.c */
/* Finds that the memory for the functions' BARs is free: in a range that memmap= reserved. 0 or an errno,
 * with a sentence in the log. */
int vcx_window_claim(phys_addr_t memory);
void vcx_window_release(void);
/* The bus with its functions, which drivers then probe. */
int vcx_bus_add(void);
void vcx_bus_remove(void);

/* ---- wire.c */
void vcx_wire_start(struct vcx_wire *wire, void (*receive)(struct vcx_wire *wire, struct vcx_frame *frame),
                    const struct vcx_port *(*port)(const struct vcx_wire *wire));
void vcx_wire_cable(struct vcx_wire *one, struct vcx_wire *other);
/* In place of the interface that it had. 0 or an errno, with a sentence in the log. Not under vcx_lock: it
 * takes the lock of interfaces, whose holders may wait for the thread. */
int vcx_wire_attach(struct vcx_wire *wire, const char *interface, bool enclosed);
void vcx_wire_detach(struct vcx_wire *wire); /* nor this */
/* Frees what waits; no thread runs any more. */
void vcx_wire_stop(struct vcx_wire *wire);
/* Interfaces that go away are let go from here on. */
int vcx_wire_watch(void);
void vcx_wire_unwatch(void);
/* The wire takes a frame now. */
bool vcx_wire_ready(struct vcx_wire *wire);
/* Puts the frame on the wire; owns it. */
void vcx_wire_transmit(struct vcx_wire *wire, struct vcx_frame *frame);
/* Hands frames that arrived to their receiver. true: there were some. */
bool vcx_wire_poll(struct vcx_wire *wire);
/* The cable is in and the other end there. */
bool vcx_wire_connected(const struct vcx_wire *wire);

/* ---- switch.c: a switch that functions and interfaces are connected to */
/* 0, or -ENOMEM. */
int vcx_switch_add(unsigned int ports, u64 line_bps);
void vcx_switch_remove(void);
/* NULL: there is no switch. */
struct vcx_wire *vcx_switch_wire(unsigned int port);
bool vcx_switch_run(void);
int vcx_switch_setting(const char *line);
void vcx_switch_counters(void (*line)(void *to, const char *text), void *to);

/* ---- gpu_memory.c: memory that stands for a GPU's. 0 or an errno */
int vcx_gpu_memory_add(void);
void vcx_gpu_memory_remove(void);

/* ---- thread.c */
int vcx_thread_start(void);
void vcx_thread_stop(void);
/* There is work: from any context. */
void vcx_thread_wake(void);
/* The time of this turn of the thread, or of whoever else holds vcx_lock and began one. */
void vcx_turn_begin(void);
u64 vcx_turn_ns(void);

/* ---- debugfs.c */
void vcx_debugfs_add(void);
void vcx_debugfs_remove(void);

#endif
