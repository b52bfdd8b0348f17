/* A configuration: its defaults and the arithmetic that a caller needs to fill it, the check of its values,
 * and the memory that it will take. */
#include "sim/congestion/congestion.h"
#include "sim/fabric/switch.h"
#include "sim/faults/deadlock.h"
#include "sim/faults/inject.h"
#include "sim/faults/link_faults.h"
#include "sim/islands/island.h"
#include "sim/model.h"
#include "sim/host/transport.h"
#include "lib/physics/fabric.h"
#include "lib/roce/path_mtu.h"
#include <stdio.h>

/* ---- defaults */

void sim_settings_defaults(struct sim_settings *s, const struct physics_nic *nic)
{
    *s = (struct sim_settings){
        .mtu_bytes = ROCE_LINK_MTU_BYTES, .cable_mm = 7000, .buffer_bytes = {nic->port_buffer_bytes}};
    congestion_values_clear(&s->congestion);
    dcqcn_profile_values((enum dcqcn_profile)nic->dcqcn_profile, &s->dcqcn);
    dcqcn_merge(&s->dcqcn, &nic->dcqcn);
    if (nic->byte_reset_bytes != FIELD_UNSET)
        s->dcqcn.rp.rpg_byte_reset = nic->byte_reset_bytes;
    s->congestion_control = sim_congestion_control("dcqcn");
}

void sim_host_defaults(struct sim_host_config *h)
{
    h->name = "host";
    (void)table_defaults(&physics_nic_table, &h->nic);
    (void)table_defaults(&physics_pcie_table, &h->pcie);
    for (int i = 0; i < SIM_MEMORIES; i++)
        (void)table_defaults(&physics_memory_table, &h->memories[i]);
    (void)table_defaults(&physics_software_table, &h->software);
    sim_settings_defaults(&h->settings, &h->nic);
}

void sim_flow_defaults(struct sim_flow_config *f)
{
    *f = (struct sim_flow_config){.name = "flow",
                                  .message_bytes = 65536,
                                  .queue_pairs = 1,
                                  .depth = 128,
                                  .stop_ps = SIM_FOREVER,
                                  .gap_ps = -1,
                                  .after = -1};
}

void sim_config_defaults(struct sim_config *c)
{
    *c = (struct sim_config){.seed = 1, .udp_destination_port = 4791};
    (void)table_defaults(&physics_framing_table, &c->framing);
}

/* ---- the check: values are within their ranges, and refer to what exists */

static int within(const char *of, const char *what, int64_t value, int64_t least, int64_t most,
                  struct error *e)
{
    if (value >= least && value <= most)
        return 0;
    return error_set(e, "simulator: %s: %s is %lld, it must be within %lld..%lld", of, what, (long long)value,
                     (long long)least, (long long)most);
}

#define MOST_BYTES (INT64_C(1) << 40)

static int check_settings(const struct sim_host_config *h, struct error *e)
{
    int64_t sum = 0;
    for (int i = 0; i < SIM_BUFFERS; i++) {
        if (within(h->name, "size of a receive buffer", h->settings.buffer_bytes[i], 0, MOST_BYTES, e))
            return -1;
        sum += h->settings.buffer_bytes[i];
    }
    if (sum > h->nic.port_buffer_bytes)
        return error_set(e, "simulator: %s: the receive buffers add up to %lld B, the port has %lld B",
                         h->name, (long long)sum, (long long)h->nic.port_buffer_bytes);
    for (int i = 0; i < SIM_PRIORITIES; i++)
        if (within(h->name, "receive buffer of a priority", h->settings.prio_to_buffer[i], 0, SIM_BUFFERS - 1,
                   e))
            return -1;
    return within(h->name, "MTU", h->settings.mtu_bytes, 352, 10000, e);
}

static int check_memories(const struct sim_host_config *h, struct error *e)
{
    static const char *const names[SIM_MEMORIES] = {"memory", "gpu"};
    char of[120];
    for (int i = 0; i < SIM_MEMORIES; i++) {
        snprintf(of, sizeof of, "host %.80s: %s", h->name, names[i]);
        if (table_check(&physics_memory_table, &h->memories[i], of, e))
            return -1;
    }
    return 0;
}

static int check_host(const struct sim_host_config *h, struct error *e)
{
    const struct {
        const struct table *table;
        const void *object;
        const char *name;
    } parts[] = {{&physics_nic_table, &h->nic, "nic"},
                 {&physics_pcie_table, &h->pcie, "pcie"},
                 {&physics_software_table, &h->software, "software"}};
    char of[120];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(of, sizeof of, "host %.80s: %s", h->name, parts[i].name);
        if (table_check(parts[i].table, parts[i].object, of, e))
            return -1;
    }
    return check_memories(h, e) ? -1 : check_settings(h, e);
}

/* The byte_reset of a NIC may exceed the parameter's range. */
static int check_dcqcn(const struct sim_host_config *h, struct error *e)
{
    struct dcqcn_values values = h->settings.dcqcn;
    char of[120];
    snprintf(of, sizeof of, "host %.80s: dcqcn", h->name);
    if (within(h->name, "rpg_byte_reset", values.rp.rpg_byte_reset, 0, 1 << 30, e))
        return -1;
    values.rp.rpg_byte_reset = 0;
    return table_check(&dcqcn_table, &values, of, e);
}

static int check_congestion(const struct sim_host_config *h, struct error *e)
{
    char of[120];
    snprintf(of, sizeof of, "host %.80s", h->name);
    return table_check(&congestion_table, &h->settings.congestion, of, e);
}

/* The gaps between the packets of a limited queue pair must fit the arithmetic: bytes times picoseconds a
 * byte, in 44.20 bits. */
static int check_pace(const struct sim_config *c, const struct sim_flow_config *f, struct error *e)
{
    const int64_t longest_s = (INT64_MAX >> 20) / SIM_PS_PER_S;
    int64_t payload =
        f->payload_bytes ? f->payload_bytes : roce_path_mtu(c->hosts[f->from].settings.mtu_bytes);
    int64_t bytes = (f->message_bytes < payload ? f->message_bytes : payload) + c->framing.data_bytes +
                    c->framing.reth_bytes + c->framing.aeth_bytes + UINT8_MAX;
    int64_t least_bps = bytes * 8 / longest_s + 1;
    if (!f->rate_bps || f->rate_bps >= least_bps)
        return 0;
    return error_set(e,
                     "simulator: flow %s: %lld b/s on a queue pair: expected at least %lld b/s, at which the "
                     "packets of the flow are up to %lld s apart",
                     f->name, (long long)f->rate_bps, (long long)least_bps, (long long)longest_s);
}

static int check_flow(const struct sim_config *c, const struct sim_flow_config *f, struct error *e)
{
    if (f->from >= c->host_count || f->to >= c->host_count || f->from == f->to)
        return error_set(e,
                         "simulator: flow %s goes from host %u to host %u; there are %zu hosts, and sender "
                         "and receiver must differ",
                         f->name, f->from, f->to, c->host_count);
    if (within(f->name, "message size", f->message_bytes, 0, INT64_C(1) << 31, e) ||
        within(f->name, "packet payload", f->payload_bytes, 0, 16384, e) ||
        within(f->name, "queue pairs", f->queue_pairs, 1, 65536, e) ||
        within(f->name, "depth", f->depth, 1, 65536, e) ||
        within(f->name, "priority", f->priority, 0, 7, e) ||
        within(f->name, "message count", f->message_count, 0, INT64_MAX - 1, e) ||
        within(f->name, "queue pairs with one more", f->one_more, 0, f->queue_pairs, e) ||
        within(f->name, "rate in b/s", f->rate_bps, 0, INT64_C(10000000000000), e) ||
        within(f->name, "gap in ps", f->gap_ps, -1, SIM_FOREVER / 4, e) ||
        within(f->name, "start in ps", f->start_ps, 0, SIM_FOREVER, e) || check_pace(c, f, e))
        return -1;
    if (f->gap_ps >= 0 && (f->mode == SIM_PING_PONG || f->operation == SIM_READ))
        return error_set(e, "simulator: flow %s: bursts are made of streams of writes or sends", f->name);
    if (f->mode == SIM_PING_PONG && f->operation == SIM_READ)
        return error_set(e, "simulator: flow %s: a ping-pong is made of writes or sends, not reads", f->name);
    return 0;
}

/* A clock of whole nanoseconds rounds the shortest frames up; the finer one must not cut them to nothing. */
static int check_link(const struct sim_config *c, const struct sim_link_config *link, struct error *e)
{
    if (within("link", "rate in b/s", link->rate_bps, PHYSICS_LINK_LEAST_BPS, PHYSICS_LINK_MOST_BPS, e) ||
        within("link", "delay in ps", link->delay_ps, 0, PHYSICS_LINK_MOST_DELAY_PS, e) ||
        within("link", "loss per billion", link->loss_per_billion, 0, 1000000000, e))
        return -1;
    int64_t bytes = island_shortest_frame_bytes(&c->framing) + c->framing.gap_bytes;
    if (c->truncate_to_ns || bytes * 8 * SIM_PS_PER_S > link->rate_bps)
        return 0;
    return error_set(
        e,
        "simulator: a frame of %lld B, with its gap, takes less than a picosecond on a link of %lld "
        "b/s: expected longer frames in framing, or a lower rate",
        (long long)bytes, (long long)link->rate_bps);
}

int sim_check(const struct sim_config *c, struct error *e)
{
    if (within("configuration", "number of hosts", (int64_t)c->host_count, 1, 65535, e) ||
        within("configuration", "number of links", (int64_t)c->link_count, 1, 1000000, e) ||
        within("configuration", "number of flows", (int64_t)c->flow_count, 0, 10000000, e) ||
        within("configuration", "number of switches", (int64_t)c->switch_count, 0, 65535, e) ||
        within("configuration", "number of bridges", (int64_t)c->bridge_count, 0, 65535, e) ||
        table_check(&physics_framing_table, &c->framing, "framing", e))
        return -1;
    for (size_t i = 0; i < c->host_count; i++)
        if (check_host(&c->hosts[i], e) || check_dcqcn(&c->hosts[i], e) || check_congestion(&c->hosts[i], e))
            return -1;
    for (size_t i = 0; i < c->link_count; i++)
        if (check_link(c, &c->links[i], e))
            return -1;
    for (size_t i = 0; i < c->flow_count; i++)
        if (check_flow(c, &c->flows[i], e))
            return -1;
    return c->stream ? stream_check_flows(c, check_flow, e) : 0;
}

/* ---- memory, before anything is allocated */

#define EVENTS_OF_PORT (PORT_EVENTS + 1) /* the arrays of events double: some are not used */
#define SLOTS_OF_PORT  192               /* island.c: 128, rounded up to a power of two for each island */
#define EVENTS_OF_HOST 4
#define EVENTS_OF_QP   3
#define STREAMED_OF_HOST \
    64               /* flows of a stream that live at one time: more where the network is overloaded */
#define PATH_HOPS 10 /* to a receiver and back through three tiers of switches */

static uint64_t bytes_of_flow(const struct sim_config *c, const struct sim_flow_config *f)
{
    const struct congestion_control *control = c->hosts[f->from].settings.congestion_control;
    uint64_t pairs = f->mode == SIM_PING_PONG ? 2 : (uint64_t)f->queue_pairs;
    uint64_t of_pair = sizeof(struct queue_pair) + EVENTS_OF_QP * sizeof(struct event) +
                       PATH_HOPS * sizeof(uint32_t) + (uint64_t)f->depth * sizeof(int64_t) +
                       (control ? control->state_bytes : 0) +
                       recovery_bytes(&c->hosts[f->from].nic, &c->hosts[f->to].nic, f->operation);
    return sizeof(struct flow) + sizeof(struct event) + pairs * of_pair +
           (f->record_latency ? sizeof(struct histogram) : 0);
}

uint64_t sim_bytes_needed(const struct sim_config *c)
{
    uint64_t ports = 2 * (uint64_t)c->link_count;
    uint64_t bytes = ports * (sizeof(struct port) + sizeof(struct priority_counters[SIM_PRIORITIES]) +
                              EVENTS_OF_PORT * (sizeof(struct event) + sizeof(uint32_t)) +
                              SLOTS_OF_PORT * sizeof(struct slot) + 2 * sizeof(struct letter));
    if (c->switch_count)
        bytes += ports * sizeof(struct switch_port) + c->switch_count * sizeof(struct fabric_switch);
    bytes += c->host_count * (sizeof(struct host) + EVENTS_OF_HOST * sizeof(struct event));
    if (c->numbers)
        bytes += (c->host_count + c->switch_count + c->bridge_count) * sizeof *c->numbers;
    bytes += c->pause_log_capacity * sizeof(struct sim_pause);
    if (c->switch_count)
        bytes += ports * DEADLOCK_BYTES;
    if (c->link_state_count || c->injection_count)
        bytes += ports * sizeof(struct link_end) + c->link_state_count * sizeof(struct sim_link_state) +
                 c->injection_count * sizeof(struct injection);
    for (size_t i = 0; i < c->flow_count; i++)
        bytes += bytes_of_flow(c, &c->flows[i]);
    bytes += c->job_count ? jobs_bytes(c, bytes_of_flow) : 0;
    struct sim_flow_config first;
    if (c->stream) {
        c->stream->rewind(c->stream->context);
        if (c->stream->next(c->stream->context, &first))
            bytes += c->host_count * STREAMED_OF_HOST * bytes_of_flow(c, &first);
    }
    return bytes;
}
