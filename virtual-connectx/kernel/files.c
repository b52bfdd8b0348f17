// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the files of debugfs hold: a row a file. */
#include "virtual-connectx/kernel/debugfs.h"
#include "virtual-connectx/model/faults/faults.h"
#include "virtual-connectx/model/pace/pace.h"
#include "virtual-connectx/model/transport/transport.h"

#include <linux/netdevice.h>

#define MEGABIT 1000000ull

static void show_table(struct seq_file *file, const char *what, const struct vcx_usage *table, size_t rows)
{
    for (size_t i = 0; i < rows && table[i].calls; i++)
        seq_printf(file, "%s 0x%04x calls %u refused 0x%x\n", what, table[i].id, table[i].calls,
                   table[i].refused);
}

static void show_usage(struct seq_file *file, struct vcx_front *front)
{
    struct vcx_device *device = &front->device;
    seq_printf(file, "interrupts %llu\n", front->interrupts);
    show_table(file, "command", device->commands, ARRAY_SIZE(device->commands));
    show_table(file, "register", device->registers, ARRAY_SIZE(device->registers));
}

static void show_direction(struct seq_file *file, const char *name, const struct vcx_direction_counters *c)
{
    seq_printf(file, "%s_frames %llu\n%s_bytes %llu\n%s_pause %llu\n", name, c->frames, name, c->bytes, name,
               c->pause);
}

static void show_priority(struct seq_file *file, unsigned int n, const struct vcx_priority_counters *c)
{
    seq_printf(file, "priority %u rx_frames %llu rx_bytes %llu rx_discards %llu rx_marked %llu", n,
               c->rx_frames, c->rx_bytes, c->rx_discards, c->rx_marked);
    seq_printf(file, " tx_frames %llu tx_bytes %llu tx_discards %llu tx_marked %llu", c->tx_frames,
               c->tx_bytes, c->tx_discards, c->tx_marked);
    seq_printf(file, " rx_pause %llu rx_pause_us %llu tx_pause %llu tx_pause_us %llu\n", c->rx_pause,
               c->rx_pause_us, c->tx_pause, c->tx_pause_us);
}

static void show_counters(struct seq_file *file, struct vcx_front *front)
{
    const struct vcx_port_counters *counters = &front->device.port->counters;
    show_direction(file, "rx", &counters->rx);
    show_direction(file, "tx", &counters->tx);
    seq_printf(file, "tx_discards %llu\nlower_drops %llu\nlower_missing %llu\n", counters->tx_discards,
               front->wire.lower_drops, front->wire.credit.missing);
    seq_printf(file, "refused_writes %llu\n", front->device.refused_writes);
    for (unsigned int i = 0; i < VCX_PRIORITIES; i++)
        show_priority(file, i, &counters->priority[i]);
}

static void show_line(struct seq_file *file, struct vcx_front *front)
{
    seq_printf(file, "%llu\n", front->device.port->line_bps / MEGABIT);
}

static int set_line(struct vcx_front *front, char *text)
{
    u64 line;
    int rc = kstrtou64(text, 0, &line);
    if (rc)
        return rc;
    if (line < 1 || line > front->configuration.nominal_bps / MEGABIT)
        return -ERANGE;
    front->configuration.line_bps = line * MEGABIT;
    front->device.configuration.line_bps = line * MEGABIT;
    vcx_port_set_line(front->device.port, line * MEGABIT);
    return 0;
}

static void show_timeout_scale(struct seq_file *file, struct vcx_front *front)
{
    seq_printf(file, "%u\n", front->configuration.timeout_scale);
}

/* Of waits that begin from now on. */
static int set_timeout_scale(struct vcx_front *front, char *text)
{
    unsigned int scale;
    int rc = kstrtouint(text, 0, &scale);
    if (rc)
        return rc;
    if (scale > VCX_MOST_TIMEOUT_SCALE)
        return -ERANGE;
    front->configuration.timeout_scale = scale;
    front->device.configuration.timeout_scale = scale;
    return 0;
}

static void show_cable(struct seq_file *file, struct vcx_front *front)
{
    seq_printf(file, "%d\n", !front->wire.unplugged);
}

static int set_cable(struct vcx_front *front, char *text)
{
    bool plugged;
    int rc = kstrtobool(text, &plugged);
    if (rc == 0)
        front->wire.unplugged = !plugged;
    return rc;
}

static void show_lanes(struct seq_file *file, struct vcx_front *front)
{
    seq_printf(file, "%u\n", vcx_config_lanes(front));
}

static int set_lanes(struct vcx_front *front, char *text)
{
    unsigned int lanes;
    int rc = kstrtouint(text, 0, &lanes);
    if (rc)
        return rc;
    if (!is_power_of_2(lanes) || lanes > VCX_LANES)
        return -ERANGE;
    vcx_config_set_lanes(front, lanes);
    return 0;
}

static void show_wire(struct seq_file *file, struct vcx_front *front)
{
    const struct vcx_wire *wire = &front->wire;
    if (wire->peer)
        seq_puts(file, "cable\n");
    else if (wire->lower)
        seq_printf(file, "%s %s\n", wire->lower->name, wire->enclosed ? "enclosed" : "plain");
    else
        seq_puts(file, "none\n");
}

/* INTERFACE enclosed, INTERFACE plain: frames are enclosed, or go as they are; none: the interface is the
 * kernel's own */
static int set_wire(struct vcx_front *front, char *text)
{
    char *how = text, *interface = strsep(&how, " ");
    bool enclosed = how && strcmp(how, "enclosed") == 0;
    if (front->wire.peer)
        return -EBUSY;
    if (!how && strcmp(interface, "none") == 0) {
        vcx_wire_detach(&front->wire);
        return 0;
    }
    if (!how || (!enclosed && strcmp(how, "plain") != 0))
        return -EINVAL;
    return vcx_wire_attach(&front->wire, interface, enclosed);
}

static void show_marking(struct seq_file *file, struct vcx_front *front)
{
    for (unsigned int i = 0; i < VCX_PRIORITIES; i++) {
        const struct vcx_marking *m = &front->device.port->marking[i];
        seq_printf(file, "%u %u %u %u\n", i, m->min_bytes, m->max_bytes, m->percent);
    }
}

/* PRIORITY MIN MAX PERCENT, in bytes of the send queue */
static int set_marking(struct vcx_front *front, char *text)
{
    struct vcx_marking m;
    unsigned int priority;
    char rest;
    if (sscanf(text, "%u %u %u %hhu %c", &priority, &m.min_bytes, &m.max_bytes, &m.percent, &rest) != 4)
        return -EINVAL;
    if (priority >= VCX_PRIORITIES || m.min_bytes > m.max_bytes || m.percent > 100)
        return -ERANGE;
    front->device.port->marking[priority] = m;
    return 0;
}

/* Rates are nominal. */
static void show_queue_pair(struct seq_file *file, const struct vcx_qp *qp)
{
    const struct vcx_requester *r = &qp->requester;
    seq_printf(file, "%u type %u state %u remote %u mtu %u", qp->object.id, qp->type, qp->state,
               qp->remote_qpn, qp->mtu);
    seq_printf(file, " requests %u psn %u acked %u expected %u", r->head - r->tail, r->next_psn, r->acked_psn,
               qp->responder.expected_psn);
    if (qp->reaction.started)
        seq_printf(file, " rate_mbit %llu target_mbit %llu alpha_permille %llu",
                   qp->reaction.rate_bps / MEGABIT, qp->reaction.target_bps / MEGABIT,
                   (u64)qp->reaction.alpha * 1000 / VCX_FRACTION);
    seq_putc(file, '\n');
}

static void show_queue_pairs(struct seq_file *file, struct vcx_front *front)
{
    struct vcx_device *device = &front->device;
    for (struct vcx_qp *qp = vcx_object_from(device, VCX_QP, 0); qp;
         qp = vcx_object_from(device, VCX_QP, qp->object.id + 1))
        show_queue_pair(file, qp);
}

/* Requests to parts of the model; what is wrong with one is said in the log. */
static int status_of_request(struct vcx_front *front, bool good, const struct vcx_sentence *error)
{
    if (!good)
        pr_warn("virtual ConnectX %u: %s\n", front->index, error->text);
    return good ? 0 : -EINVAL;
}

static void put_line(void *file, const char *text)
{
    seq_printf(file, "%s\n", text);
}

static void show_pace(struct seq_file *file, struct vcx_front *front)
{
    vcx_pace_show(&front->device, put_line, file);
}

static int set_pace(struct vcx_front *front, char *text)
{
    struct vcx_sentence error;
    return status_of_request(front, vcx_pace_request(&front->device, text, &error), &error);
}

static void show_fault(struct seq_file *file, struct vcx_front *front)
{
    vcx_fault_show(&front->device, put_line, file);
}

static int set_fault(struct vcx_front *front, char *text)
{
    struct vcx_sentence error;
    return status_of_request(front, vcx_fault_request(&front->device, text, &error), &error);
}

static void show_roce_accl(struct seq_file *file, struct vcx_front *front)
{
    vcx_roce_accl_show(&front->device, put_line, file);
}

static int set_roce_accl(struct vcx_front *front, char *text)
{
    struct vcx_sentence error;
    return status_of_request(front, vcx_roce_accl_request(&front->device, text, &error), &error);
}

const struct vcx_file vcx_files_of_function[] = {
    {"usage", show_usage, NULL}, /* what was asked for, and the last refusal */
    {"counters", show_counters, NULL},
    {"queue_pairs", show_queue_pairs, NULL},
    {"cable", show_cable, set_cable}, /* 0: pulled out */
    {"wire", show_wire, set_wire, .locks = true},
    {"line_mbit", show_line, set_line}, /* what the line carries */
    {"timeout_scale", show_timeout_scale, set_timeout_scale},
    {"roce_accl", show_roce_accl, set_roce_accl}, /* the register, as mlxreg names its fields */
    {"marking", show_marking, set_marking},       /* congestion marks at the send queue */
    {"pcie_lanes", show_lanes, set_lanes},
    {"pace", show_pace, set_pace},
    {"fault", show_fault, set_fault},
    {NULL, NULL, NULL},
};

/* ---- the switch's */

static void show_switch(struct seq_file *file, struct vcx_front *none)
{
    vcx_switch_counters(put_line, file);
}

static int set_switch(struct vcx_front *none, char *text)
{
    return vcx_switch_setting(text);
}

const struct vcx_file vcx_files_of_switch[] = {
    {"counters", show_switch, NULL},
    {"setting", NULL, set_switch},
    {NULL, NULL, NULL},
};
