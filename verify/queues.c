#include "verify/queues.h"

#include "verify/nodes.h"
#include "lib/packets/opcode.h"
#include <stdlib.h>

#define KIND_BELOW "marked below the threshold"

#define FIRST_PACKETS 64      /* of a flow at an interface */
#define MOST_PACKETS  4096    /* of those that came in and have not left */
#define MOST_SENT     65536   /* frames of a queue that are looked back at */
#define MOST_SLOTS    4000000 /* of all together */
#define MOST_WAITING  4096    /* marked packets of a queue behind which others may have waited */
#define PRIORITIES    8

/* A switch counts a packet's length in its own way (cells, headers of its own): a queue that comes so near to the threshold was above. */
#define NEAR(threshold_bytes) ((threshold_bytes) - (threshold_bytes) / 8)

/* A data packet that came in and has not left. */
struct came_in {
    int64_t time_ns;
    uint32_t psn;
    bool here, marked;
};

/* Of a flow at an interface: by the low bits of the PSN. */
struct arrivals {
    struct came_in *packets;
    uint32_t room; /* a power of two, or 0 */
};

struct left {
    int64_t time_ns;
    uint64_t before_bytes; /* that had left before */
};

/* A marked packet that did not wait behind enough: did enough wait behind it? */
struct waiting {
    uint64_t number, until_bytes; /* that had left with it */
    int64_t time_ns;
    uint64_t before_bytes; /* behind which it waited */
};

/* Of a port and priority. */
struct queue {
    struct left *left; /* a ring */
    uint32_t first, count, room;
    uint64_t bytes; /* that have left */
    int64_t
        forgotten_ns; /* frames that left until then are not in the ring any more, for lack of room; -1: none */
    struct waiting *waiting; /* a ring of MOST_WAITING */
    uint32_t first_waiting, waiting_count;
};

struct queue_port {
    bool known;
    uint32_t node;
    int64_t threshold_bytes; /* -1: the port does not mark, or it is not known from where on */
    struct queue *of[PRIORITIES];
};

static struct queue_port *port_at(struct queues *q, const struct verify_context *c, uint32_t interface)
{
    struct queue_port *port = states_at(&q->ports, interface, sizeof *port);
    if (!port || port->known)
        return port;
    *port = (struct queue_port){
        .known = true,
        .node = nodes_of(c, interface),
        .threshold_bytes =
            verify_settings_threshold(c->of_all, capture_read_interface(c->capture, interface)->name),
    };
    return port;
}

/* ---- what comes in */

static bool may_take(struct queues *q, uint64_t slots)
{
    if (q->slots + slots > MOST_SLOTS)
        return false;
    q->slots += slots;
    return true;
}

static bool grow_arrivals(struct queues *q, struct arrivals *a)
{
    uint32_t room = a->room ? a->room * 2 : FIRST_PACKETS;
    if (room > MOST_PACKETS || !may_take(q, room - a->room))
        return false;
    struct came_in *packets = calloc(room, sizeof *packets);
    if (!packets)
        return false;
    for (uint32_t i = 0; i < a->room; i++)
        if (a->packets[i].here)
            packets[a->packets[i].psn & (room - 1)] = a->packets[i];
    free(a->packets);
    a->packets = packets;
    a->room = room;
    return true;
}

/* A packet that comes twice, since it was sent again, is taken for the earlier one: it may be that one which leaves. */
static void comes_in(struct queues *q, const struct verify_packet *p)
{
    struct arrivals *a = states_at(&q->arrivals, p->flow, sizeof *a);
    uint32_t psn = p->frame.roce.bth.psn;
    bool marked = p->frame.roce.ip.ecn == FRAME_CE;
    if (!a || (!a->room && !grow_arrivals(q, a)))
        return;
    struct came_in *at = &a->packets[psn & (a->room - 1)];
    while (at->here && at->psn != psn && grow_arrivals(q, a))
        at = &a->packets[psn & (a->room - 1)];
    if (at->here && at->psn == psn)
        at->marked |= marked;
    else
        *at = (struct came_in){p->time_ns, psn, true, marked};
}

/* The arrival at the same node of a packet that leaves. */
static bool take_arrival(struct queues *q, struct same_flows *same, const struct verify_context *c,
                         const struct verify_packet *p, uint32_t node, struct came_in *found)
{
    uint32_t psn = p->frame.roce.bth.psn, i = same_flows_first(same, c->flows, p->flow);
    for (; i != FLOW_NONE; i = same_flows_next(same, i)) {
        const struct queue_port *port = states_have(&q->ports, c->flows->flows[i].interface, sizeof *port);
        struct arrivals *a = states_have(&q->arrivals, i, sizeof *a);
        struct came_in *at = a && a->room ? &a->packets[psn & (a->room - 1)] : NULL;
        if (!at || !at->here || at->psn != psn || !port || port->node != node)
            continue;
        *found = *at;
        at->here = false;
        return true;
    }
    return false;
}

/* ---- what leaves */

static bool make_room(struct queues *q, struct queue *queue)
{
    uint32_t room = queue->room ? queue->room * 2 : 64;
    if (room > MOST_SENT || !may_take(q, room - queue->room))
        return false;
    struct left *left = malloc(room * sizeof *left);
    if (!left)
        return false;
    for (uint32_t i = 0; i < queue->count; i++)
        left[i] = queue->left[(queue->first + i) & (queue->room - 1)];
    free(queue->left);
    queue->left = left;
    queue->room = room;
    queue->first = 0;
    return true;
}

static struct left *left_at(const struct queue *queue, uint32_t i)
{
    return &queue->left[(queue->first + i) & (queue->room - 1)];
}

static void remember(struct queues *q, struct queue *queue, const struct verify_packet *p, int64_t enough)
{
    while (queue->count > 1 && queue->bytes - left_at(queue, 1)->before_bytes > (uint64_t)enough) {
        queue->first++;
        queue->count--;
    }
    if (queue->count == queue->room && !make_room(q, queue)) {
        queue->forgotten_ns = queue->count ? left_at(queue, 0)->time_ns : p->time_ns;
        if (!queue->count)
            return;
        queue->first++;
        queue->count--;
    }
    *left_at(queue, queue->count++) = (struct left){p->time_ns, queue->bytes};
}

/* Bytes that left from `from_ns` on: at least those, if older ones are forgotten. */
static uint64_t left_since(const struct queue *queue, int64_t from_ns)
{
    uint32_t low = 0, high = queue->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (left_at(queue, middle)->time_ns < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < queue->count ? queue->bytes - left_at(queue, low)->before_bytes : 0;
}

/* ---- marks */

static struct waiting *oldest(const struct queue *queue)
{
    return &queue->waiting[queue->first_waiting % MOST_WAITING];
}

static void settle(struct queue *queue)
{
    queue->first_waiting++;
    queue->waiting_count--;
}

/* The next packet leaves, that came in at `in_ns` (-1: not known): it waited behind marked ones that left later than that. Until
 * one comes that did not, enough of them have to have left. */
static void judge_waiting(struct queues *q, struct queue *queue, struct verify_context *c, int64_t threshold,
                          uint32_t bytes, int64_t in_ns)
{
    while (queue->waiting_count) {
        const struct waiting *w = oldest(queue);
        bool behind = in_ns <= w->time_ns;
        uint64_t after = queue->bytes - w->until_bytes + (behind ? bytes : 0);
        if (behind && after <= (uint64_t)NEAR(threshold))
            return;
        if (after <= (uint64_t)NEAR(threshold))
            findings_add(c->findings, KIND_BELOW, w->number, w->time_ns,
                         "it had waited behind %llu bytes, and %llu bytes waited behind it; the queue marks "
                         "above %lld",
                         (unsigned long long)w->before_bytes, (unsigned long long)after,
                         (long long)threshold);
        q->judged++;
        settle(queue);
    }
}

static void add_waiting(struct queues *q, struct queue *queue, const struct verify_packet *p, uint64_t before)
{
    if (!queue->waiting && may_take(q, MOST_WAITING))
        queue->waiting = malloc(MOST_WAITING * sizeof *queue->waiting);
    if (!queue->waiting) {
        q->unknown++;
        return;
    }
    if (queue->waiting_count == MOST_WAITING) {
        q->unknown++;
        settle(queue);
    }
    queue->waiting[(queue->first_waiting + queue->waiting_count++) % MOST_WAITING] =
        (struct waiting){p->number, queue->bytes, p->time_ns, before};
}

/* A packet has left, whose arrival is known. */
static void judge_mark(struct queues *q, struct queue *queue, const struct verify_packet *p, uint64_t before,
                       int64_t in_ns, int64_t threshold)
{
    if (before > (uint64_t)NEAR(threshold))
        q->judged++;
    else if (in_ns <= queue->forgotten_ns)
        q->unknown++;
    else
        add_waiting(q, queue, p, before);
}

static struct queue *queue_of(struct queue_port *port, unsigned int priority)
{
    struct queue **at = &port->of[priority];
    if (!*at && (*at = calloc(1, sizeof **at)))
        (*at)->forgotten_ns = -1;
    return *at;
}

static void leaves(struct queues *q, struct same_flows *same, struct verify_context *c,
                   const struct verify_packet *p, struct queue_port *port, bool data)
{
    struct queue *queue = queue_of(port, (unsigned int)p->priority);
    struct came_in in = {.time_ns = -1};
    bool known = data && take_arrival(q, same, c, p, port->node, &in), ce = p->frame.roce.ip.ecn == FRAME_CE;
    if (!queue)
        return;
    uint32_t bytes = p->bytes + FRAME_FCS_BYTES;
    judge_waiting(q, queue, c, port->threshold_bytes, bytes, in.time_ns);
    uint64_t before = known ? left_since(queue, in.time_ns) : 0;
    remember(q, queue, p, port->threshold_bytes);
    queue->bytes += bytes;
    if (data && ce && !known)
        q->unknown++;
    else if (data && ce && !in.marked)
        judge_mark(q, queue, p, before, in.time_ns, port->threshold_bytes);
}

/* ---- the whole */

void queues_packet(struct queues *q, struct same_flows *same, struct verify_context *c,
                   const struct verify_packet *p)
{
    if (!c->of_all->ecn_thresholds.count || p->time_ns < 0 || p->priority < 0 || p->flow == FLOW_NONE)
        return;
    struct queue_port *port = port_at(q, c, p->interface);
    bool data = p->frame.roce.payload_bytes && p->frame.roce.bth.opcode != OPCODE_CNP;
    if (!port || port->threshold_bytes < 0 || port->node == NODES_NONE)
        return;
    if (p->direction == CAPTURE_OUTBOUND) {
        leaves(q, same, c, p, port, data);
    } else if (p->direction == CAPTURE_INBOUND && data) {
        same_flows_first(same, c->flows, p->flow);
        comes_in(q, p);
    }
}

void queues_end(struct queues *q, struct verify_context *c)
{
    const struct queue_port *ports = q->ports.items;
    for (size_t i = 0; i < q->ports.count; i++)
        for (unsigned int priority = 0; priority < PRIORITIES; priority++)
            q->unknown += ports[i].of[priority] ? ports[i].of[priority]->waiting_count : 0;
    findings_seen(c->findings, "marks against their queue", q->judged);
    if (q->unknown)
        findings_not_judged(c->findings,
                            "whether the queue was above the threshold for %llu of the packets that leave "
                            "marked: what came in or left around them is not in the capture",
                            (unsigned long long)q->unknown);
}

void queues_free(struct queues *q)
{
    struct queue_port *ports = q->ports.items;
    struct arrivals *arrivals = q->arrivals.items;
    for (size_t i = 0; i < q->ports.count; i++)
        for (unsigned int priority = 0; priority < PRIORITIES; priority++)
            if (ports[i].of[priority]) {
                free(ports[i].of[priority]->left);
                free(ports[i].of[priority]->waiting);
                free(ports[i].of[priority]);
            }
    for (size_t i = 0; i < q->arrivals.count; i++)
        free(arrivals[i].packets);
    free(q->ports.items);
    free(q->arrivals.items);
    *q = (struct queues){0};
}
