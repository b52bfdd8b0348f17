/*
 * ECN and DSCP of RoCEv2 packets (RFC 3168; InfiniBand Architecture Specification, annex A17.9): a sender's
 * packets are ECN-capable and not marked, no switch changes the DSCP, and none marks what does not wait in a
 * long queue.
 */
#include "verify/checker.h"

#include "lib/packets/opcode.h"
#include "lib/text.h"
#include <stdlib.h>

#define KIND_SENT_CE "marked by its sender"
#define KIND_NOT_ECT "not ECN-capable"
#define KIND_MARKED  "marked although not ECN-capable"
#define KIND_DSCP    "DSCP changed"
#define KIND_BELOW   "marked below the threshold"

/* ---- queues
 * Was the queue above its threshold when a switch marked a packet? A capture has no queues, but if all ports
 * of a switch are in it, it has what a queue is made of: a packet that came in and leaves later waited behind
 * those that left in between, and before those that came in before it left. Queues mark as a packet joins
 * them, or as it leaves: one of the two lengths has to be above the threshold (RFC 3168, 7; Zhu et al.,
 * "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, figure
 * 5). */

#define FIRST_PACKETS 64      /* of a flow at an interface */
#define MOST_PACKETS  4096    /* of those that came in and have not left */
#define MOST_SENT     65536   /* frames of a queue that are looked back at */
#define MOST_SLOTS    4000000 /* of all together */
#define MOST_WAITING  4096    /* marked packets of a queue behind which others may have waited */
#define PRIORITIES    8

/* A switch counts a packet's length in its own way (cells, headers of its own): a queue that comes so near to
 * the threshold was above. */
#define NEAR(threshold_bytes) ((threshold_bytes) - (threshold_bytes) / 8)

/* A data packet that came in and has not left, and how often it did since the first time: it may have been
 * sent again. */
struct came_in {
    int64_t time_ns; /* the first */
    uint32_t psn;
    uint16_t here;
    bool marked;
};

/* The packets of a flow at an interface that came in, by the low bits of their PSNs. */
struct arrivals {
    struct came_in *packets;
    uint32_t room; /* a power of two, or 0 */
};

struct queue;

/* The last data packet of a flow that left a node before it is seen to come in: at the same time. */
struct left_first {
    int64_t time_ns; /* 0: there was none */
    uint64_t number;
    uint32_t psn;
    struct queue *marked; /* its queue, if it left marked */
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

/* The egress queue of a port and priority. */
struct queue {
    struct left *left; /* a ring */
    uint32_t first, count, room;
    uint64_t bytes;       /* that have left */
    int64_t forgotten_ns; /* frames that left until then are not in the ring any more, for lack of room; -1:
                             none */
    struct waiting *waiting; /* a ring of MOST_WAITING */
    uint32_t first_waiting, waiting_count;
};

struct queue_port {
    bool known;
    uint32_t node;
    int64_t threshold_bytes; /* -1: the port does not mark, or it is not known from where on */
    struct queue *of[PRIORITIES];
};

/* The queues of all ports; zeros at first. */
struct queues {
    struct states arrivals; /* struct arrivals, by flow */
    struct states ports;    /* struct queue_port, by interface */
    struct states first;    /* struct left_first, by flow, */
    int64_t first_ns;       /* and the time of the last of these */
    uint64_t slots;         /* that all of them have */
    uint64_t judged, unknown;
};

static struct queue_port *queues_port(struct queues *q, const struct verify_context *c, uint32_t interface)
{
    struct queue_port *port = states_at(&q->ports, interface, sizeof *port);
    if (!port || port->known)
        return port;
    *port = (struct queue_port){
        .known = true,
        .node = verify_node_of(c, interface),
        .threshold_bytes =
            verify_settings_threshold(c->of_all, capture_read_interface(c->capture, interface)->name),
    };
    return port;
}

/* ---- what comes in */

static bool queues_take_slots(struct queues *q, uint64_t slots)
{
    if (q->slots + slots > MOST_SLOTS)
        return false;
    q->slots += slots;
    return true;
}

static bool arrivals_grow(struct queues *q, struct arrivals *a)
{
    uint32_t room = a->room ? a->room * 2 : FIRST_PACKETS;
    if (room > MOST_PACKETS || !queues_take_slots(q, room - a->room))
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

/* A packet that comes twice, since it was sent again, is taken for the earlier one: it may be that one which
 * leaves. */
static void queues_note_arrival(struct queues *q, const struct verify_packet *p)
{
    struct arrivals *a = states_at(&q->arrivals, p->flow, sizeof *a);
    uint32_t psn = p->frame.roce.bth.psn;
    bool marked = p->frame.roce.ip.ecn == FRAME_CE;
    if (!a || (!a->room && !arrivals_grow(q, a)))
        return;
    struct came_in *at = &a->packets[psn & (a->room - 1)];
    while (at->here && at->psn != psn && arrivals_grow(q, a))
        at = &a->packets[psn & (a->room - 1)];
    if (at->here && at->psn == psn) {
        at->marked |= marked;
        at->here += at->here < UINT16_MAX;
    } else {
        *at = (struct came_in){p->time_ns, psn, 1, marked};
    }
}

/* The arrival at the same node of a packet that leaves: of copies that came through several ports the first.
 */
static bool queues_take_arrival(struct queues *q, struct same_flows *same, const struct verify_context *c,
                                const struct verify_packet *p, uint32_t node, struct came_in *found)
{
    uint32_t psn = p->frame.roce.bth.psn, i = same_flows_first(same, c->flows, p->flow);
    struct came_in *earliest = NULL;
    for (; i != FLOW_NONE; i = same_flows_next(same, i)) {
        const struct queue_port *port = states_have(&q->ports, c->flows->flows[i].interface, sizeof *port);
        struct arrivals *a = states_have(&q->arrivals, i, sizeof *a);
        struct came_in *at = a && a->room ? &a->packets[psn & (a->room - 1)] : NULL;
        if (!at || !at->here || at->psn != psn || !port || port->node != node)
            continue;
        earliest = !earliest || at->time_ns < earliest->time_ns ? at : earliest;
    }
    if (!earliest)
        return false;
    *found = *earliest;
    earliest->here--;
    return true;
}

/* ---- what leaves */

static bool queue_grow(struct queues *q, struct queue *queue)
{
    uint32_t room = queue->room ? queue->room * 2 : 64;
    if (room > MOST_SENT || !queues_take_slots(q, room - queue->room))
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

static struct left *queue_left(const struct queue *queue, uint32_t i)
{
    return &queue->left[(queue->first + i) & (queue->room - 1)];
}

static void queue_note_left(struct queues *q, struct queue *queue, const struct verify_packet *p,
                            int64_t enough)
{
    while (queue->count > 1 && queue->bytes - queue_left(queue, 1)->before_bytes > (uint64_t)enough) {
        queue->first++;
        queue->count--;
    }
    if (queue->count == queue->room && !queue_grow(q, queue)) {
        queue->forgotten_ns = queue->count ? queue_left(queue, 0)->time_ns : p->time_ns;
        if (!queue->count)
            return;
        queue->first++;
        queue->count--;
    }
    *queue_left(queue, queue->count++) = (struct left){p->time_ns, queue->bytes};
}

/* Bytes that left from `from_ns` on: at least those, if older ones are forgotten. */
static uint64_t queue_left_since(const struct queue *queue, int64_t from_ns)
{
    uint32_t low = 0, high = queue->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (queue_left(queue, middle)->time_ns < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < queue->count ? queue->bytes - queue_left(queue, low)->before_bytes : 0;
}

/* ---- marks */

static struct waiting *queue_oldest_waiting(const struct queue *queue)
{
    return &queue->waiting[queue->first_waiting % MOST_WAITING];
}

static void queue_settle(struct queue *queue)
{
    queue->first_waiting++;
    queue->waiting_count--;
}

/* The next packet leaves, that came in at `in_ns` (-1: not known): it waited behind marked ones that left
 * later than that. Until one comes that did not, enough of them have to have left. */
static void queue_judge_waiting(struct queues *q, struct queue *queue, struct verify_context *c,
                                int64_t threshold, uint32_t bytes, int64_t in_ns)
{
    while (queue->waiting_count) {
        const struct waiting *w = queue_oldest_waiting(queue);
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
        queue_settle(queue);
    }
}

static void queue_add_waiting(struct queues *q, struct queue *queue, uint64_t number, int64_t time_ns,
                              uint64_t before)
{
    if (!queue->waiting && queues_take_slots(q, MOST_WAITING))
        queue->waiting = malloc(MOST_WAITING * sizeof *queue->waiting);
    if (!queue->waiting) {
        q->unknown++;
        return;
    }
    if (queue->waiting_count == MOST_WAITING) {
        q->unknown++;
        queue_settle(queue);
    }
    queue->waiting[(queue->first_waiting + queue->waiting_count++) % MOST_WAITING] =
        (struct waiting){number, queue->bytes, time_ns, before};
}

/* A packet has left, whose arrival is known. */
static void queue_judge_mark(struct queues *q, struct queue *queue, uint64_t number, int64_t time_ns,
                             uint64_t before, int64_t in_ns, int64_t threshold)
{
    if (before > (uint64_t)NEAR(threshold))
        q->judged++;
    else if (in_ns <= queue->forgotten_ns)
        q->unknown++;
    else
        queue_add_waiting(q, queue, number, time_ns, before);
}

/* Has the packet left the node, at the time when it came in? It had not waited, if it was marked there. */
static bool queues_left_first(struct queues *q, struct same_flows *same, const struct verify_context *c,
                              const struct verify_packet *p, uint32_t node)
{
    if (q->first_ns != p->time_ns)
        return false;
    for (uint32_t i = same_flows_first(same, c->flows, p->flow); i != FLOW_NONE;
         i = same_flows_next(same, i)) {
        const struct queue_port *port = states_have(&q->ports, c->flows->flows[i].interface, sizeof *port);
        struct left_first *first = states_have(&q->first, i, sizeof *first);
        if (!first || first->time_ns != p->time_ns || first->psn != p->frame.roce.bth.psn || !port ||
            port->node != node)
            continue;
        first->time_ns = 0;
        q->unknown -= first->marked != NULL;
        if (first->marked && p->frame.roce.ip.ecn != FRAME_CE)
            queue_judge_mark(q, first->marked, first->number, p->time_ns, 0, p->time_ns,
                             port->threshold_bytes);
        return true;
    }
    return false;
}

/* Of a marked one it is not known whether it was marked there until it is seen to come in. */
static void queues_note_left_first(struct queues *q, const struct verify_packet *p, struct queue *queue)
{
    struct left_first *first = states_at(&q->first, p->flow, sizeof *first);
    bool marked = p->frame.roce.ip.ecn == FRAME_CE;
    q->unknown += marked;
    if (first)
        *first = (struct left_first){p->time_ns, p->number, p->frame.roce.bth.psn, marked ? queue : NULL};
    q->first_ns = p->time_ns;
}

static struct queue *queues_queue(struct queue_port *port, unsigned int priority)
{
    struct queue **at = &port->of[priority];
    if (!*at && (*at = calloc(1, sizeof **at)))
        (*at)->forgotten_ns = -1;
    return *at;
}

static void queues_note_departure(struct queues *q, struct same_flows *same, struct verify_context *c,
                                  const struct verify_packet *p, struct queue_port *port, bool data)
{
    struct queue *queue = queues_queue(port, (unsigned int)p->priority);
    struct came_in in = {.time_ns = -1};
    bool known = data && queues_take_arrival(q, same, c, p, port->node, &in),
         ce = p->frame.roce.ip.ecn == FRAME_CE;
    if (data && !known)
        queues_note_left_first(q, p, queue);
    if (!queue)
        return;
    uint32_t bytes = p->bytes + FRAME_FCS_BYTES;
    queue_judge_waiting(q, queue, c, port->threshold_bytes, bytes, in.time_ns);
    uint64_t before = known ? queue_left_since(queue, in.time_ns) : 0;
    queue_note_left(q, queue, p, port->threshold_bytes);
    queue->bytes += bytes;
    if (known && ce && !in.marked)
        queue_judge_mark(q, queue, p->number, p->time_ns, before, in.time_ns, port->threshold_bytes);
}

/* ---- the whole */

static void queues_packet(struct queues *q, struct same_flows *same, struct verify_context *c,
                          const struct verify_packet *p)
{
    if (!c->of_all->ecn_thresholds.count || p->time_ns < 0 || p->flow == FLOW_NONE)
        return;
    struct queue_port *port = queues_port(q, c, p->interface);
    bool data = p->frame.roce.payload_bytes && p->frame.roce.bth.opcode != OPCODE_CNP;
    if (!port || port->threshold_bytes < 0)
        return;
    if (p->priority < 0 || p->direction == CAPTURE_UNKNOWN || port->node == VERIFY_NO_NODE) {
        q->unknown += data && p->frame.roce.ip.ecn == FRAME_CE && p->direction != CAPTURE_INBOUND;
        return;
    }
    if (p->direction == CAPTURE_OUTBOUND) {
        queues_note_departure(q, same, c, p, port, data);
    } else if (p->direction == CAPTURE_INBOUND && data) {
        same_flows_first(same, c->flows, p->flow);
        if (!queues_left_first(q, same, c, p, port->node))
            queues_note_arrival(q, p);
    }
}

static void queues_end(struct queues *q, struct verify_context *c)
{
    const struct queue_port *ports = q->ports.items;
    for (size_t i = 0; i < q->ports.count; i++)
        for (unsigned int priority = 0; priority < PRIORITIES; priority++)
            q->unknown += ports[i].of[priority] ? ports[i].of[priority]->waiting_count : 0;
    findings_seen(c->findings, "marks against a queue", q->judged);
    if (q->unknown) /* at the ends of a capture there are always some */
        (q->judged ? findings_not_judged : findings_open)(
            c->findings,
            "whether the queue was above the threshold for %llu of the packets that leave "
            "marked: what came in or left around them is not in the capture",
            (unsigned long long)q->unknown);
}

static void queues_free(struct queues *q)
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
    free(q->first.items);
    free(q->arrivals.items);
    *q = (struct queues){0};
}

/* ---- flows */

/* What the packets of a flow have in common; CNPs and answers may have others. */
enum group { GROUP_DATA, GROUP_ANSWER, GROUP_CNP, GROUPS };
struct look {
    bool seen[GROUPS];
    uint8_t dscp[GROUPS];
    uint64_t number[GROUPS];
    uint8_t capable; /* 1 + whether its data is ECN-capable; 0: none was seen at the sender */
    bool sent;       /* some of its data was */
    bool received;   /* some was seen at its receiver */
    uint64_t open;   /* elsewhere: marked, or not ECN-capable; was it the sender? */
};

struct ecns {
    struct states looks; /* struct look, by flow */
    struct same_flows same;
    struct queues queues;
    struct states marks; /* uint64_t, by flow: marked packets that its interface saw */
    uint64_t sent, seen, marked;
    uint64_t data;  /* packets of it */
    uint64_t unset; /* of these not ECN-capable, where nothing says whether they should be */
};

/* The first of all flows that are the same but for the interface has the look. */
static struct look *ecn_look(struct ecns *s, const struct flows *flows, uint32_t flow)
{
    return states_at(&s->looks, same_flows_first(&s->same, flows, flow), sizeof(struct look));
}

/* ---- packets */

static void ecn_check_dscp(struct look *l, enum group group, struct verify_context *c,
                           const struct verify_packet *p)
{
    uint8_t dscp = p->frame.roce.ip.dscp;
    if (!l->seen[group]) {
        l->seen[group] = true;
        l->dscp[group] = dscp;
        l->number[group] = p->number;
    } else if (l->dscp[group] != dscp) {
        findings_add(c->findings, KIND_DSCP, p->number, p->time_ns,
                     "DSCP %u; packets of the same queue pair have %u (packet %llu)", dscp, l->dscp[group],
                     (unsigned long long)l->number[group]);
    }
}

/* Is DCQCN's reaction point on for the packet? -1: not known. */
static int ecn_is_wanted(const struct verify_context *c, const struct verify_packet *p)
{
    const struct settings *s = &c->settings->settings;
    const struct list_of *list = s->ecn_rp.items ? &s->ecn_rp : &s->ecn;
    return !list->items      ? -1
           : !list->count    ? 0
           : p->priority < 0 ? -1
                             : verify_settings_lists(list, p->priority, true);
}

static void ecn_check_sent(struct ecns *s, struct look *l, struct verify_context *c,
                           const struct verify_packet *p)
{
    uint8_t ecn = p->frame.roce.ip.ecn;
    s->sent++;
    l->sent = true;
    if (ecn == FRAME_CE)
        findings_add(c->findings, KIND_SENT_CE, p->number, p->time_ns,
                     "its ECN bits are 3 (CE) where its sender puts it on the wire; expected 1 or 2 (ECT)");
    else if (ecn == FRAME_NOT_ECT && (ecn_is_wanted(c, p) == 1 || l->capable == 2))
        findings_add(c->findings, KIND_NOT_ECT, p->number, p->time_ns,
                     "its ECN bits are 0; %s: nothing on the way can mark it",
                     ecn_is_wanted(c, p) == 1 ? "DCQCN is on for its priority"
                                              : "other packets of the queue pair have ECT");
    if (ecn != FRAME_CE && !l->capable)
        l->capable = (uint8_t)(1 + (ecn != FRAME_NOT_ECT));
}

static void ecn_note_mark(struct ecns *s, const struct verify_packet *p)
{
    uint64_t *count = states_at(&s->marks, p->flow, sizeof *count);
    s->marked++;
    if (count)
        ++*count;
}

/* How many packets were marked: of a flow one end of which is in the capture, as many as the port had that
 * saw most of them. Of others, which may take several ways, *sightings: at how many ports, all together. */
static uint64_t ecn_count_marks(struct ecns *s, const struct verify_context *c, uint64_t *sightings)
{
    uint64_t packets = 0;
    *sightings = 0;
    for (uint32_t i = 0; i < s->marks.count && i < c->flows->count; i++) {
        if (same_flows_first(&s->same, c->flows, i) != i)
            continue;
        const struct look *l = states_have(&s->looks, i, sizeof *l);
        uint64_t most = 0, sum = 0;
        for (uint32_t k = i; k != FLOW_NONE; k = same_flows_next(&s->same, k)) {
            const uint64_t *count = states_have(&s->marks, k, sizeof *count);
            most = count && *count > most ? *count : most;
            sum += count ? *count : 0;
        }
        if ((l && (l->sent || l->received)) || most == sum)
            packets += most;
        else
            *sightings += sum;
    }
    return packets;
}

static void ecn_frame(void *state, struct verify_context *c, const struct verify_packet *p)
{
    struct ecns *s = state;
    if (p->frame.kind != FRAME_ROCE || p->flow == FLOW_NONE)
        return;
    const struct frame_roce *roce = &p->frame.roce;
    struct look *l = ecn_look(s, c->flows, p->flow);
    if (!l)
        return;
    enum group group = roce->bth.opcode == OPCODE_CNP ? GROUP_CNP
                       : roce->payload_bytes          ? GROUP_DATA
                                                      : GROUP_ANSWER;
    s->seen++;
    queues_packet(&s->queues, &s->same, c, p);
    ecn_check_dscp(l, group, c, p);
    if (group != GROUP_DATA)
        return;
    s->data++;
    s->unset += roce->ip.ecn == FRAME_NOT_ECT && ecn_is_wanted(c, p) < 0;
    l->received = l->received || p->received_here;
    if (roce->ip.ecn == FRAME_CE)
        ecn_note_mark(s, p);
    if (p->sent_here)
        ecn_check_sent(s, l, c, p);
    else if (roce->ip.ecn == FRAME_CE && l->capable == 1)
        findings_add(c->findings, KIND_MARKED, p->number, p->time_ns,
                     "marked, but its sender sends packets that are not ECN-capable");
    if (!p->sent_here &&
        (roce->ip.ecn == FRAME_CE || (roce->ip.ecn == FRAME_NOT_ECT && ecn_is_wanted(c, p) == 1)))
        l->open++;
}

static void ecn_end(void *state, struct verify_context *c)
{
    struct ecns *s = state;
    uint64_t sightings, marked = ecn_count_marks(s, c, &sightings);
    if (!sightings &&
        marked < s->queues.judged) /* at the end of a capture some have not come to the port that saw most */
        marked = s->queues.judged;
    (s->data ? findings_judged : findings_seen)(
        c->findings, flows_seen_again(c->flows) ? "sightings of packets" : "packets", s->seen);
    if (s->seen && !s->data)
        findings_not_judged(c->findings,
                            "ECN bits: answers and CNPs are not marked, and no data packet is in "
                            "the capture");
    findings_seen(c->findings, "data packets at their sender", s->sent);
    findings_seen(c->findings, "marked", marked);
    findings_seen(c->findings, "sightings of marked packets whose ends are elsewhere", sightings);
    if (c->of_all->ecn_thresholds.count)
        queues_end(&s->queues, c);
    else if (s->marked)
        findings_not_judged(c->findings,
                            "whether the queue was above the threshold: ecn_thresholds is not set");
    if (s->unset)
        findings_open(c->findings, "whether %llu %s should be ECN-capable (ecn, trust)",
                      (unsigned long long)s->unset, THINGS(s->unset, "data packet"));
    uint64_t open = 0;
    for (uint32_t i = 0; i < s->looks.count; i++) {
        const struct look *l = states_have(&s->looks, i, sizeof *l);
        open += l->sent ? 0 : l->open;
    }
    if (open)
        findings_open(c->findings,
                      "who marked %llu %s or sent without ECN: the sender is not at the port of the "
                      "capture (hosts: whose ports these are)",
                      (unsigned long long)open, THINGS(open, "packet"));
}

static bool ecn_needs_times(const void *state, const struct verify_context *c)
{
    return c->of_all->ecn_thresholds.count && ((const struct ecns *)state)->marked;
}

static void ecn_free(void *state)
{
    struct ecns *s = state;
    free(s->looks.items);
    free(s->marks.items);
    same_flows_free(&s->same);
    queues_free(&s->queues);
}

static const char *const proved[] = {KIND_SENT_CE, KIND_NOT_ECT, KIND_MARKED, KIND_DSCP, NULL};

const struct checker checker_ecn = {
    .check = CHECK_ECN,
    .proved = proved,
    .about = "ECN bits and DSCP: ECN-capable, not marked by the sender, DSCP unchanged.",
    .needs_times = ecn_needs_times,
    .state_bytes = sizeof(struct ecns),
    .frame = ecn_frame,
    .end = ecn_end,
    .free = ecn_free,
};
