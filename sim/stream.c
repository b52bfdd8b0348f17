/*
 * Flows that come and go. A flow has a slot - a flow and its queue pair, behind those that stay - from
 * shortly before its start until nothing of it is left in the network; then its record is handed over, and
 * another flow of the same sender's island takes the slot, with its events. All of this happens between runs
 * of the threads, at times that the stream gives, so that results depend neither on threads nor on how often
 * somebody looks.
 *
 * A flow that has ended may still have packets under way: what was sent again, its ACKs, CNPs. They are found
 * as a garbage collector finds what is alive: by a look at all packets, once enough flows have ended.
 */
#include "sim/fabric/routing.h"
#include "sim/host/transport.h"
#include "sim/islands/team.h"
#include "sim/model.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE      128 /* flows that come in together */
#define FEW          64  /* flows that have ended are not worth a look at all packets */
#define PORTS_OF_WAY 64  /* as many as a path may have, one way */

struct slot_of_flow {
    const char *name;
    uint32_t number;
    uint32_t next; /* among those of its island that are free */
    uint32_t timeout_event, congestion_event, start_event;
    bool alive;
};

struct flow_stream {
    const struct sim_config *config; /* which lasts */
    const struct sim_stream *of;
    struct sim_flow_config coming; /* the next one */
    bool has_coming;
    uint32_t next_number;
    struct slot_of_flow *slots;
    uint32_t count, capacity; /* slots that were ever used, and that there are */
    uint32_t *free_of_island; /* NONE: none */
    uint32_t first_qp, first_path;
    uint32_t *ended; /* slots */
    uint32_t ended_count, alive;
};

/* ---- looking at all flows, before the simulation */

uint8_t stream_priorities(const struct sim_config *c)
{
    struct sim_flow_config f;
    uint8_t mask = 0;
    if (!c->stream)
        return 0;
    c->stream->rewind(c->stream->context);
    while (c->stream->next(c->stream->context, &f))
        mask |= (uint8_t)(1u << (f.priority & 7));
    return mask;
}

int stream_check_flows(const struct sim_config *c,
                       int (*check)(const struct sim_config *c, const struct sim_flow_config *f,
                                    struct error *e),
                       struct error *e)
{
    struct sim_flow_config f;
    int64_t last_ps = 0;
    uint32_t count = 0;
    if (c->capture || c->injection_count)
        return error_set(e, "simulator: captures and faults of single frames are of flows that stay");
    c->stream->rewind(c->stream->context);
    while (c->stream->next(c->stream->context, &f)) {
        if (check(c, &f, e))
            return -1;
        if (f.mode != SIM_STREAM || f.operation == SIM_READ || f.queue_pairs != 1 || f.depth != 1 ||
            f.message_count < 1 || f.one_more || f.rate_bps || f.after >= 0 || f.wait_count ||
            f.record_latency)
            return error_set(
                e,
                "simulator: flow %s cannot come and go: this requires a stream of writes or sends "
                "with an end, one queue pair of depth 1, no rate, waits or histogram",
                f.name);
        if (f.start_ps < last_ps || ++count >= NONE - 1)
            return error_set(
                e, "simulator: flow %s: flows that come and go must be in the order of their start", f.name);
        last_ps = f.start_ps;
    }
    return 0;
}

/* ---- slots */

/* The threads' views have the arrays that have moved. */
static void show_arrays(struct sim *sim)
{
    for (uint32_t t = 1; sim->team && t < sim->team->count; t++) {
        struct sim *view = sim->team->members[t].view;
        view->flows = sim->flows;
        view->qps = sim->qps;
        view->paths = sim->paths;
        view->buckets = sim->buckets;
        view->source_ports = sim->source_ports;
        view->congestion_states = sim->congestion_states;
    }
}

static int grow_array(void **array, size_t stay, size_t before, size_t after, size_t bytes)
{
    void *grown = array_grow(*array, (stay + before) * bytes, (stay + after) * bytes);
    if (!grown)
        return -1;
    *array = grown;
    return 0;
}

/* States have moved. */
static void find_states(struct sim *sim)
{
    for (uint32_t q = 0; q < sim->stream->first_qp + sim->stream->count; q++)
        if (sim->qps[q].congestion)
            sim->qps[q].congestion = sim->congestion_states + (size_t)q * sim->congestion_bytes;
}

/* Twice as many slots. Arrays keep what they have; one that has moved stays so when another one finds no
 * memory. */
static int double_slots(struct sim *sim)
{
    struct flow_stream *s = sim->stream;
    uint32_t before = s->capacity, after = before ? 2 * before : 64, stay = s->first_qp;
    if (after > (NONE - s->first_path) / (2 * PORTS_OF_WAY) || after > NONE / 2)
        return -1;
    void *flows = sim->flows, *qps = sim->qps, *states = sim->congestion_states, *buckets = sim->buckets,
         *ports = sim->source_ports, *slots = s->slots, *ended = s->ended;
    int rc =
        grow_array(&flows, sim->flow_count, before, after, sizeof *sim->flows) ||
                grow_array(&qps, stay, before, after, sizeof *sim->qps) ||
                (sim->congestion_bytes && grow_array(&states, stay, before, after, sim->congestion_bytes)) ||
                (buckets && grow_array(&buckets, stay, before, after, sizeof *sim->buckets)) ||
                (ports && grow_array(&ports, stay, before, after, sizeof *sim->source_ports)) ||
                grow_array(&slots, 0, before, after, sizeof *s->slots) ||
                grow_array(&ended, 0, before, after, sizeof *s->ended) ||
                routing_make_room(sim, s->first_path + after * 2 * PORTS_OF_WAY)
            ? -1
            : 0;
    sim->flows = flows;
    sim->qps = qps;
    sim->congestion_states = states;
    sim->buckets = buckets;
    sim->source_ports = ports;
    s->slots = slots;
    s->ended = ended;
    find_states(sim);
    show_arrays(sim);
    if (rc)
        return -1;
    sim->bytes +=
        (after - before) * (sizeof *sim->flows + sizeof *sim->qps + sim->congestion_bytes + sizeof *s->slots +
                            sizeof *s->ended + (buckets ? sizeof *sim->buckets : 0) +
                            (ports ? sizeof *sim->source_ports : 0) + 2 * PORTS_OF_WAY * sizeof *sim->paths);
    s->capacity = after;
    return 0;
}

uint32_t stream_slots(const struct sim *sim)
{
    return sim->stream ? sim->stream->capacity : 0;
}

/* A slot of the sender's island, with its events, or a new one. NONE: no memory. */
static uint32_t take_slot(struct sim *sim, uint32_t sender)
{
    struct flow_stream *s = sim->stream;
    uint32_t *free_slot = &s->free_of_island[sim->island_of_node[sender]], slot = *free_slot;
    if (slot != NONE) {
        *free_slot = s->slots[slot].next;
        return slot;
    }
    if (s->count == s->capacity && double_slots(sim))
        return NONE;
    slot = s->count;
    island_enter(sim, SIM_HOST, sender);
    struct slot_of_flow *new = &s->slots[slot];
    new->timeout_event = events_add(sim->events, EVENT_TIMEOUT, s->first_qp + slot);
    new->congestion_event = events_add(sim->events, EVENT_CONGESTION, s->first_qp + slot);
    new->start_event = events_add(sim->events, EVENT_START, sim->first_streamed + slot);
    if (new->timeout_event == EVENT_NONE || new->congestion_event == EVENT_NONE ||
        new->start_event == EVENT_NONE ||
        !(sim->qps[s->first_qp + slot].post_ps = calloc(1, sizeof(int64_t))))
        return NONE;
    s->count++;
    return slot;
}

/* The slot's flow and queue pair are this flow's. */
static int fill_slot(struct sim *sim, uint32_t slot, const struct sim_flow_config *f, uint32_t number,
                     struct error *e)
{
    struct flow_stream *s = sim->stream;
    uint32_t q = s->first_qp + slot;
    struct queue_pair *qp = &sim->qps[q];
    int64_t *post_ps = qp->post_ps;
    recovery_end(qp);
    *qp = (struct queue_pair){.post_ps = post_ps,
                              .number = s->first_qp + number,
                              .timeout_event = s->slots[slot].timeout_event,
                              .congestion_event = s->slots[slot].congestion_event,
                              .turn_event = EVENT_NONE};
    sim->flows[sim->first_streamed + slot].start_event = s->slots[slot].start_event;
    if (sim->buckets)
        sim->buckets[q] = (struct ingress_bucket){0};
    if (sim->congestion_states)
        memset(sim->congestion_states + (size_t)q * sim->congestion_bytes, 0, sim->congestion_bytes);
    s->slots[slot].name = f->name;
    s->slots[slot].number = number;
    return flow_build(sim, s->config, f, sim->first_streamed + slot, q, e);
}

static int find_way(struct sim *sim, uint32_t slot, struct error *e)
{
    const struct flow_stream *s = sim->stream;
    return routing_find_at(sim, s->first_qp + slot, s->first_path + slot * 2 * PORTS_OF_WAY, e);
}

int stream_open(struct sim *sim, const struct sim_config *c, struct error *e)
{
    if (!c->stream)
        return 0;
    struct flow_stream *s = sim->stream = calloc(1, sizeof *s);
    if (s)
        s->free_of_island = malloc(((size_t)sim->island_count + 1) * sizeof *s->free_of_island);
    if (!s || !s->free_of_island)
        return error_set(e, "simulator: no memory for flows");
    memset(s->free_of_island, 0xff, sim->island_count * sizeof *s->free_of_island);
    s->config = c;
    s->of = c->stream;
    s->first_qp = sim->qp_count;
    s->first_path = sim->path_count + (sim->reroute ? sim->port_count + 1 : 0);
    return double_slots(sim) ? error_set(e, "simulator: no memory for flows") : 0;
}

/* ---- a rehearsal: each flow in the first slot, which nobody has yet */

int64_t stream_base_rtt_ps(struct sim *sim)
{
    struct flow_stream *s = sim->stream;
    struct sim_flow_config f;
    struct error ignored;
    int64_t most_ps = 0;
    if (routing_rehearse(sim))
        return 0;
    s->of->rewind(s->of->context);
    for (uint32_t number = 0; s->of->next(s->of->context, &f); number++) {
        if (fill_slot(sim, 0, &f, number, &ignored) || find_way(sim, 0, &ignored))
            break; /* stream_check says why */
        int64_t ps = sim_base_rtt_ps(sim, s->first_qp);
        most_ps = ps > most_ps ? ps : most_ps;
    }
    routing_rehearsed(sim);
    return most_ps;
}

/* Paths of a pair of hosts are all of one length, so that one of them is looked at. */
int stream_check(struct sim *sim, struct error *e)
{
    struct flow_stream *s = sim->stream;
    struct sim_flow_config f;
    int rc = 0;
    if (!s)
        return 0;
    if (routing_rehearse(sim))
        return error_set(e, "simulator: no memory for paths");
    s->of->rewind(s->of->context);
    for (uint32_t number = 0; !rc && s->of->next(s->of->context, &f); number++) {
        rc = fill_slot(sim, 0, &f, number, e);
        if (!rc && routing_is_new(sim, f.from, f.to))
            rc = find_way(sim, 0, e) || congestion_check(sim, &sim->qps[s->first_qp], f.name, e) ? -1 : 0;
    }
    routing_rehearsed(sim);
    sim->qps[s->first_qp] = (struct queue_pair){0};
    s->of->rewind(s->of->context);
    s->has_coming = s->of->next(s->of->context, &s->coming);
    return rc;
}

/* ---- in */

/* Its start is due in the island's queue, as if it had been scheduled before the simulation began. */
static void schedule_start(struct sim *sim, const struct slot_of_flow *slot, uint32_t host, int64_t start_ps)
{
    struct island *island = &sim->islands[sim->island_of_node[host]];
    event_schedule_as(&island->queue, slot->start_event, start_ps, 0, slot->number);
    struct event_queue *due = &sim->team->members[island->thread].due;
    int64_t next_ps = events_next_ps(&island->queue);
    if (!event_is_pending(due, island->event) || due->events[island->event].time_ps > next_ps)
        event_reschedule(due, island->event, next_ps);
}

static int let_in(struct sim *sim, const struct sim_flow_config *f)
{
    struct flow_stream *s = sim->stream;
    struct error e;
    uint32_t slot = take_slot(sim, f->from);
    if (slot == NONE || fill_slot(sim, slot, f, s->next_number, &e) || find_way(sim, slot, &e))
        return -1;
    uint32_t q = s->first_qp + slot;
    const struct sim_host_config *hosts = s->config->hosts;
    timeouts_begin(sim, q);
    congestion_begin(sim, q);
    if (recovery_begin(sim, &sim->qps[q], &hosts[f->from].nic, &hosts[f->to].nic))
        return -1;
    struct flow *flow = &sim->flows[sim->first_streamed + slot];
    flow->congestion = congestion_of(sim, flow);
    s->slots[slot].alive = true;
    s->next_number++;
    s->alive++;
    schedule_start(sim, &s->slots[slot], f->from, f->start_ps);
    return 0;
}

int stream_let_in(struct sim *sim, int64_t *until_ps)
{
    struct flow_stream *s = sim->stream;
    int64_t last_ps = -1;
    for (uint32_t count = 0; s->has_coming && s->coming.start_ps < *until_ps; count++) {
        if (count >= AT_ONCE && s->coming.start_ps > last_ps) {
            *until_ps = s->coming.start_ps;
            return 0;
        }
        if (let_in(sim, &s->coming))
            return -1;
        last_ps = s->coming.start_ps;
        s->has_coming = s->of->next(s->of->context, &s->coming);
    }
    return 0;
}

/* ---- out */

void stream_note_end(struct sim *sim, uint32_t f)
{
    struct flow *flow = &sim->flows[f];
    event_cancel(sim->events, sim->qps[flow->first_qp].congestion_event);
    congestion_changes(sim, f, &flow->stats.decreases, &flow->stats.increases);
    flow->has_left = true;
    if (sim->ended_count == sim->ended_capacity) {
        size_t capacity = sim->ended_capacity ? 2 * sim->ended_capacity : 64;
        uint32_t *ended = realloc(sim->ended, capacity * sizeof *ended);
        if (!ended) {
            sim->out_of_memory = true;
            return;
        }
        sim->ended = ended;
        sim->ended_capacity = capacity;
    }
    sim->ended[sim->ended_count++] = f - sim->first_streamed;
}

static void describe(const struct sim *sim, uint32_t slot, struct sim_streamed *out)
{
    const struct flow_stream *s = sim->stream;
    const struct queue_pair *qp = &sim->qps[s->first_qp + slot];
    uint32_t flow = sim->first_streamed + slot;
    *out = (struct sim_streamed){.name = s->slots[slot].name,
                                 .number = s->slots[slot].number,
                                 .from = qp->sender,
                                 .to = qp->receiver,
                                 .message_bytes = qp->message_bytes,
                                 .message_count = (int64_t)qp->message_limit,
                                 .payload_bytes = qp->payload_bytes,
                                 .start_ps = sim->flows[flow].start_ps,
                                 .ideal_ps = sim_flow_ideal_ps(sim, flow)};
    sim_flow_stats(sim, flow, &out->stats);
}

static void mark_packet(const struct flow_stream *s, uint8_t *held, const struct packet *packet)
{
    if (packet->kind != PACKET_PFC && packet->qp >= s->first_qp)
        held[packet->qp - s->first_qp] = 1;
}

/* Packets of a thread's pool that are not free. */
static int mark_pool(const struct flow_stream *s, const struct sim *view, uint8_t *held)
{
    uint8_t *is_free = calloc((size_t)view->packet_capacity + 1, 1);
    if (!is_free)
        return -1;
    for (uint32_t p = view->free_packet; p != NONE; p = view->packets[p].next)
        is_free[p] = 1;
    for (uint32_t p = 0; p < view->packet_capacity; p++)
        if (!is_free[p])
            mark_packet(s, held, &view->packets[p]);
    free(is_free);
    return 0;
}

static void mark_rings(const struct sim *sim, uint8_t *held)
{
    for (uint32_t i = 0; i < sim->port_count; i++) {
        const struct outbox *out = &sim->ports[i].out;
        const struct port *to = &sim->ports[sim->ports[i].peer];
        if (to->flags & PORT_INSIDE || !out->ring)
            continue;
        for (uint32_t k = atomic_load(&to->in.head); k != out->tail; k++)
            mark_packet(sim->stream, held, &out->ring[k & out->mask]);
    }
}

/* The slots of which something is in the network. The caller frees them; NULL: no memory. */
static uint8_t *find_held(const struct sim *sim)
{
    const struct flow_stream *s = sim->stream;
    uint8_t *held = calloc((size_t)s->count + 1, 1);
    for (uint32_t t = 0; held && t < sim->team->count; t++)
        if (mark_pool(s, sim->team->members[t].view, held)) {
            free(held);
            return NULL;
        }
    if (held)
        mark_rings(sim, held);
    return held;
}

static int by_number(const void *a, const void *b)
{
    const struct sim_streamed *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Its timers wait for nothing any more. */
static void empty_slot(struct sim *sim, uint32_t slot)
{
    struct flow_stream *s = sim->stream;
    const struct queue_pair *qp = &sim->qps[s->first_qp + slot];
    uint32_t island = sim->island_of_node[qp->sender];
    struct event_queue *q = &sim->islands[island].queue;
    event_cancel(q, s->slots[slot].timeout_event);
    event_cancel(q, s->slots[slot].congestion_event);
    s->slots[slot].alive = false;
    s->slots[slot].next = s->free_of_island[island];
    s->free_of_island[island] = slot;
    s->alive--;
}

/* Those that have ended and left nothing: their records, by number, and their slots are free. */
static int empty_slots(struct sim *sim)
{
    struct flow_stream *s = sim->stream;
    uint8_t *held = find_held(sim);
    struct sim_streamed *gone = calloc((size_t)s->ended_count + 1, sizeof *gone);
    uint32_t kept = 0, count = 0;
    for (uint32_t i = 0; held && gone && i < s->ended_count; i++) {
        uint32_t slot = s->ended[i];
        if (held[slot] || sim->qps[s->first_qp + slot].ring_next != NONE) {
            s->ended[kept++] = slot;
            continue;
        }
        describe(sim, slot, &gone[count++]);
        empty_slot(sim, slot);
    }
    if (held && gone)
        s->ended_count = kept;
    if (count)
        qsort(gone, count, sizeof *gone, by_number);
    for (uint32_t i = 0; i < count; i++)
        s->of->ended(s->of->context, &gone[i]);
    int rc = held && gone ? 0 : -1;
    free(held);
    free(gone);
    return rc;
}

int stream_let_out(struct sim *sim)
{
    struct flow_stream *s = sim->stream;
    for (uint32_t t = 0; t < sim->team->count; t++) {
        struct sim *view = sim->team->members[t].view;
        for (size_t i = 0; i < view->ended_count; i++)
            s->ended[s->ended_count++] = view->ended[i];
        view->ended_count = 0;
    }
    return s->ended_count < FEW || s->ended_count < s->alive / 4 ? 0 : empty_slots(sim);
}

void sim_stream_alive(const struct sim *sim, void (*see)(void *context, const struct sim_streamed *flow),
                      void *context)
{
    const struct flow_stream *s = sim->stream;
    for (uint32_t slot = 0; s && slot < s->count; slot++) {
        struct sim_streamed flow;
        if (!s->slots[slot].alive)
            continue;
        describe(sim, slot, &flow);
        see(context, &flow);
    }
}

void stream_free(struct sim *sim)
{
    struct flow_stream *s = sim->stream;
    if (!s)
        return;
    for (uint32_t slot = 0; slot < s->capacity; slot++) {
        free(sim->qps[s->first_qp + slot].post_ps);
        recovery_end(&sim->qps[s->first_qp + slot]);
    }
    free(s->slots);
    free(s->free_of_island);
    free(s->ended);
    free(s);
}
