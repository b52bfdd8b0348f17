// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * virtual_connectx.ko: a PCI bus inside this kernel with one to four functions of a ConnectX that is a model,
 * for the unmodified mlx5 drivers.
 */
#include "virtual-connectx/kernel/front.h"
#include "virtual-connectx/model/port/function.h"

#include <linux/mm.h>
#include <linux/module.h>

struct vcx_front *vcx_fronts[VCX_MOST_FUNCTIONS];
unsigned int vcx_functions;
DEFINE_MUTEX(vcx_lock);

static void function_receive(struct vcx_wire *wire, struct vcx_frame *frame)
{
    vcx_receive(&container_of(wire, struct vcx_front, wire)->device, frame);
}

static const struct vcx_port *port_of_function(const struct vcx_wire *wire)
{
    return container_of(wire, struct vcx_front, wire)->device.port;
}

static int make_function(unsigned int index)
{
    struct vcx_front *front = kvzalloc(sizeof *front, GFP_KERNEL);
    if (!front)
        return -ENOMEM;
    vcx_fronts[index] = front;
    front->index = index;
    front->bar = vcx_parameter_memory() + (phys_addr_t)index * VCX_BAR_BYTES;
    front->configuration = vcx_parameter_configuration(index);
    vcx_wire_start(&front->wire, function_receive, port_of_function);
    vcx_msix_start(front);
    front->registers = ioremap(front->bar, VCX_BAR_BYTES);
    if (!front->registers)
        return -ENOMEM;
    memset_io(front->registers, 0, VCX_BAR_BYTES);
    vcx_config_start(front, vcx_functions > 1);
    front->running = vcx_device_start(&front->device, &front->configuration, front, &vcx_kernel_front) == 0;
    return front->running ? 0 : -ENOMEM;
}

static void free_functions(void)
{
    for (unsigned int i = 0; i < VCX_MOST_FUNCTIONS && vcx_fronts[i]; i++) {
        struct vcx_front *front = vcx_fronts[i];
        vcx_msix_stop(front);
        if (front->registers) {
            vcx_device_stop(&front->device);
            iounmap(front->registers);
        }
        vcx_wire_stop(&front->wire);
        vcx_fronts[i] = NULL;
        kvfree(front);
    }
}

/* Functions to their interfaces, or to each other. */
static int connect_wires(void)
{
    int rc = 0;
    for (unsigned int i = 0; i < vcx_functions && rc == 0; i++) {
        const char *interface = vcx_parameter_wire(i);
        if (interface)
            rc = vcx_wire_attach(&vcx_fronts[i]->wire, interface, vcx_parameter_enclose(i));
        else
            vcx_wire_cable(&vcx_fronts[i]->wire, &vcx_fronts[i ^ 1]->wire);
    }
    return rc;
}

/* Functions to the first ports of a switch, interfaces to the others. */
static int connect_switch(void)
{
    const char *interface;
    unsigned int ports = vcx_functions;
    int rc;
    while (vcx_parameter_wire(ports - vcx_functions))
        ports++;
    rc = vcx_switch_add(ports, vcx_parameter_configuration(0).line_bps);
    for (unsigned int i = 0; i < ports && rc == 0; i++) {
        interface = i < vcx_functions ? NULL : vcx_parameter_wire(i - vcx_functions);
        if (interface)
            rc = vcx_wire_attach(vcx_switch_wire(i), interface, vcx_parameter_enclose(i - vcx_functions));
        else
            vcx_wire_cable(&vcx_fronts[i]->wire, vcx_switch_wire(i));
    }
    return rc;
}

static void detach_all(void)
{
    struct vcx_wire *wire;
    for (unsigned int i = 0; i < VCX_MOST_FUNCTIONS && vcx_fronts[i]; i++)
        vcx_wire_detach(&vcx_fronts[i]->wire);
    for (unsigned int i = 0; (wire = vcx_switch_wire(i)); i++)
        vcx_wire_detach(wire);
}

static void free_all(void)
{
    detach_all();
    free_functions();
    vcx_switch_remove();
}

static int make_all(void)
{
    int rc = 0;
    for (unsigned int i = 0; i < vcx_functions && rc == 0; i++)
        rc = make_function(i);
    if (rc == 0)
        rc = vcx_parameter_switch() ? connect_switch() : connect_wires();
    if (rc)
        free_all();
    return rc;
}

static int run_all(void)
{
    int rc = vcx_thread_start();
    if (rc)
        return rc;
    vcx_debugfs_add();
    rc = vcx_gpu_memory_add();
    if (rc == 0) {
        rc = vcx_functions ? vcx_bus_add() : 0;
        if (rc == 0)
            return 0;
        vcx_gpu_memory_remove();
    }
    vcx_debugfs_remove();
    detach_all();
    vcx_thread_stop();
    return rc;
}

static int make_and_run(void)
{
    int rc;
    vcx_turn_begin();
    rc = make_all();
    if (rc)
        return rc;
    rc = run_all();
    if (rc)
        free_all();
    return rc;
}

/* What functions need of the machine: memory for their BARs, interrupts. */
static int claim_memory_and_vectors(void)
{
    int rc = vcx_window_claim(vcx_parameter_memory());
    if (rc)
        return rc;
    rc = vcx_msix_add();
    if (rc)
        vcx_window_release();
    return rc;
}

static void release_memory_and_vectors(void)
{
    vcx_msix_remove();
    vcx_window_release();
}

static int __init vcx_module_init(void)
{
    int rc;
    if (!boot_cpu_has(X86_FEATURE_HYPERVISOR)) {
        pr_err(
            "virtual ConnectX: this machine is not a virtual machine; the module is for guests that may be "
            "lost\n");
        return -ENODEV;
    }
    rc = vcx_parameters_check();
    if (rc)
        return rc;
    rc = vcx_functions ? claim_memory_and_vectors() : 0;
    if (rc)
        return rc;
    rc = vcx_wire_watch();
    if (rc)
        goto give_back;
    rc = make_and_run();
    if (rc)
        goto unwatch;
    pr_info("virtual ConnectX, not hardware: %u functions%s, line %llu Mbit/s\n", vcx_functions,
            vcx_parameter_switch() ? " and a switch" : "", vcx_parameter_configuration(0).line_bps / 1000000);
    return 0;
unwatch:
    vcx_wire_unwatch();
give_back:
    if (vcx_functions)
        release_memory_and_vectors();
    return rc;
}

/* Drivers leave first: until then they are answered. Frames of interfaces wake the thread, so these are
 * let go before it ends. */
static void __exit vcx_module_exit(void)
{
    if (vcx_functions)
        vcx_bus_remove();
    vcx_gpu_memory_remove();
    vcx_debugfs_remove();
    detach_all();
    vcx_thread_stop();
    free_all();
    vcx_wire_unwatch();
    if (vcx_functions)
        release_memory_and_vectors();
}

module_init(vcx_module_init);
module_exit(vcx_module_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("A virtual ConnectX, not hardware, for the unmodified mlx5 drivers");
