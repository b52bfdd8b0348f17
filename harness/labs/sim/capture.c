/*
 * A simulated run's capture (docs/captures.md): frames of the simulator as real headers, in a file. What
 * the simulator does not have is made up: MAC addresses, queue pair numbers, and memory addresses and
 * keys.
 */
#include "harness/labs/sim/capture.h"
#include "harness/plan/traffic_class.h"
#include "lib/document/json_text.h"
#include "lib/packets/frame.h"
#include "lib/packets/opcode.h"
#include "lib/packets/pcapng_write.h"
#include "lib/xalloc.h"
#include "sim/capture.h"
#include <stdlib.h>
#include <string.h>

/* About this many bytes pass the ports between two looks at the simulator's frames: it bounds the memory
 * that frames take. */
#define STEP_BYTES (INT64_C(4) << 20)
#define LEAST_STEP 1000 /* ns */

#define HOP_LIMIT 64
#define PARTITION 0xffff
#define FIRST_QPN \
    0x100 /* each queue pair of the simulator has two numbers: its sender's and its receiver's */
#define QPN_MASK      0xffffffu
#define ADDRESS_SHIFT 40 /* of a queue pair's memory */

static const uint8_t pause_address[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01}; /* IEEE 802.1Q, 36.1 */

/* What the packets of a flow have besides the simulator's fields. */
struct sim_flow_headers {
    uint8_t dscp, cnp_dscp;
    bool tagged;    /* its priority is in a VLAN tag */
    bool immediate; /* its messages end with immediate data */
};

/* What is known before the first frame: of flows, of queue pairs, and the nodes of ports. */
struct sim_known {
    struct sim_flow_headers *flows;
    struct sim_queue_pair *pairs;
    struct sim_node *nodes;
};

struct sim_capture {
    struct pcapng_writer file;
    uint32_t *interfaces; /* by port */
    struct sim_known known;
    uint32_t snap_bytes;
    int64_t step_ns, from_ns, until_ns;
    int64_t frames, bytes;
    int64_t left_out_ns; /* the first frame for which there was no room; -1: none */
};

/* ---- what a flow's packets have in common */

/* The flow that a part of a pattern would be. */
static struct scenario_flow flow_of_part(const struct cell *cell, const struct sim_setup *setup,
                                         char *const *roles, size_t flow)
{
    const struct scenario_traffic *traffic = cell->scenario.traffic.items;
    size_t i = 0;
    while (flow >= setup->first_of_traffic[i + 1])
        i++;
    return flow_of_pattern(&traffic[i], roles[setup->flows[flow].from], roles[setup->flows[flow].to]);
}

/* `roles`: by host, the role that it plays. */
static struct sim_flow_headers headers_of_flow(const struct cell *cell, const struct sim_setup *setup,
                                               char *const *roles, size_t flow)
{
    const struct sim_flow_config *f = &setup->flows[flow];
    const struct scenario_flow *flows = cell->scenario.flows.items;
    struct scenario_flow own =
        flow < cell->scenario.flows.count ? flows[flow] : flow_of_part(cell, setup, roles, flow);
    uint32_t receiver = f->operation == SIM_READ ? f->from : f->to;
    return (struct sim_flow_headers){.dscp = (uint8_t)(flow_traffic_class(&cell->scenario, &own) >> 2),
                                     .cnp_dscp = (uint8_t)setup->hosts[receiver].settings.dcqcn.np.cnp_dscp,
                                     .tagged = !role_trusts_dscp(&cell->scenario, flow_sender(&own)),
                                     .immediate = own.op == OP_WRITE_IMM};
}

/* ---- a frame of the simulator as one of a link */

/* The MAC address of a node's port, which is made up. Locally administered: the kind of node, its number,
 * its port. */
static void set_port_address(uint8_t mac[6], struct sim_node node, uint32_t port)
{
    const uint8_t bytes[6] = {0x02,
                              (uint8_t)node.kind,
                              (uint8_t)(node.index >> 8),
                              (uint8_t)node.index,
                              (uint8_t)(port >> 8),
                              (uint8_t)port};
    memcpy(mac, bytes, sizeof bytes);
}

static void set_host_addresses(uint8_t mac[6], uint8_t ip[16], uint32_t host, uint32_t address)
{
    set_port_address(mac, (struct sim_node){SIM_HOST, host}, 0);
    for (unsigned i = 0; i < 4; i++)
        ip[i] = (uint8_t)(address >> (24 - 8 * i));
}

static uint8_t data_opcode(enum sim_operation operation, bool first, bool last)
{
    static const uint8_t opcodes[3][2][2] = {
        [SIM_WRITE] = {{OPCODE_WRITE_MIDDLE, OPCODE_WRITE_LAST}, {OPCODE_WRITE_FIRST, OPCODE_WRITE_ONLY}},
        [SIM_READ] = {{OPCODE_READ_MIDDLE, OPCODE_READ_LAST}, {OPCODE_READ_FIRST, OPCODE_READ_ONLY}},
        [SIM_SEND] = {{OPCODE_SEND_MIDDLE, OPCODE_SEND_LAST}, {OPCODE_SEND_FIRST, OPCODE_SEND_ONLY}},
    };
    return opcodes[operation][first][last];
}

/* What is left of the packet's message: of a read that asks again, from there on. */
static struct frame_reth make_reth(const struct sim_queue_pair *qp, const struct sim_captured *from)
{
    int64_t before = (int64_t)(from->psn % qp->packets_per_message) * qp->payload_bytes;
    int64_t left = qp->message_bytes - before;
    return (struct frame_reth){.address = ((uint64_t)from->qp + 1) << ADDRESS_SHIFT | (uint64_t)before,
                               .key = from->qp + 1,
                               .length = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX};
}

/* Messages that are complete before a packet. */
static struct frame_aeth make_aeth(const struct sim_queue_pair *qp, uint8_t syndrome, uint32_t psn,
                                   uint32_t more)
{
    return (struct frame_aeth){syndrome, (psn / qp->packets_per_message + more) & FRAME_PSN_MASK};
}

static void set_data(const struct sim_queue_pair *qp, bool immediate, const struct sim_captured *from,
                     struct frame_roce *r)
{
    bool first = from->flags & PACKET_FIRST, last = from->flags & PACKET_LAST;
    r->bth.opcode = data_opcode(qp->operation, first, last);
    if (immediate && last)
        r->bth.opcode = first ? OPCODE_WRITE_ONLY_IMMEDIATE : OPCODE_WRITE_LAST_IMMEDIATE;
    r->bth.psn = from->psn;
    r->bth.ack_request = qp->operation != SIM_READ && (last || from->flags & PACKET_ASKS_ACK);
    r->payload_bytes = last ? qp->last_payload_bytes : qp->payload_bytes;
    if (first && qp->operation == SIM_WRITE)
        r->reth = make_reth(qp, from);
    if ((first || last) && qp->operation == SIM_READ)
        r->aeth = make_aeth(qp, AETH_ACK << 5 | AETH_NO_CREDITS, from->psn, 1);
}

#define RNR_TIMER 12 /* 0.64 ms, nic.rnr_timer's default; others have no code here */

/* An ACK names the last packet that it acknowledges, in the simulator the one after it. */
static void set_answer(const struct sim_queue_pair *qp, const struct sim_captured *from, struct frame_roce *r)
{
    switch ((enum packet_kind)from->kind) {
    case PACKET_ACK:
        r->bth.opcode = OPCODE_ACKNOWLEDGE;
        r->bth.psn = from->psn - 1;
        r->aeth = make_aeth(qp, AETH_ACK << 5 | AETH_NO_CREDITS, from->psn, 0);
        break;
    case PACKET_NAK:
        r->bth.opcode = OPCODE_ACKNOWLEDGE;
        r->bth.psn = from->psn;
        r->aeth = make_aeth(qp, AETH_NAK << 5 | AETH_NAK_SEQUENCE, from->psn, 0);
        break;
    case PACKET_NOT_READY:
        r->bth.opcode = OPCODE_ACKNOWLEDGE;
        r->bth.psn = from->psn;
        r->aeth = make_aeth(qp, AETH_RNR_NAK << 5 | RNR_TIMER, from->psn, 0);
        break;
    case PACKET_READ_REQUEST:
        r->bth.opcode = OPCODE_READ_REQUEST;
        r->bth.psn = from->psn;
        r->reth = make_reth(qp, from);
        break;
    case PACKET_CNP:
    case PACKET_DATA:
    case PACKET_PFC:
        r->bth.opcode = OPCODE_CNP;
        break;
    }
}

static uint8_t ecn_of(const struct sim_captured *from)
{
    return from->flags & PACKET_CE ? FRAME_CE : from->flags & PACKET_ECT ? FRAME_ECT_0 : FRAME_NOT_ECT;
}

/* Extension headers that its opcode does not have are not set. */
static void set_roce(const struct sim_queue_pair *qp, const struct sim_flow_headers *flow,
                     const struct sim_captured *from, struct frame *to)
{
    bool data = from->kind == PACKET_DATA, cnp = from->kind == PACKET_CNP;
    bool forward =
        data || (from->kind == PACKET_NAK && qp->operation == SIM_READ); /* it asks for a request */
    struct frame_roce *r = &to->roce;
    to->kind = FRAME_ROCE;
    r->ip = (struct frame_ip){
        .dscp = cnp ? flow->cnp_dscp : flow->dscp, .ecn = ecn_of(from), .hop_limit = HOP_LIMIT};
    r->bth = (struct frame_bth){.migrated = true,
                                .partition = PARTITION,
                                .becn = cnp || from->flags & PACKET_ECHO,
                                .qpn = (FIRST_QPN + 2 * from->qp + forward) & QPN_MASK};
    r->source_port = qp->source_port;
    r->immediate = r->payload_bytes = 0;
    set_host_addresses(to->ethernet.source, r->ip.source, forward ? qp->sender : qp->receiver,
                       forward ? qp->sender_address : qp->receiver_address);
    set_host_addresses(to->ethernet.destination, r->ip.destination, forward ? qp->receiver : qp->sender,
                       forward ? qp->receiver_address : qp->sender_address);
    to->ethernet.tagged = flow->tagged && from->priority;
    to->ethernet.priority = from->priority;
    if (data)
        set_data(qp, flow->immediate, from, r);
    else
        set_answer(qp, from, r);
}

static void set_pfc(const struct sim_captured *from, struct frame *to)
{
    to->kind = FRAME_PFC;
    to->pfc = (struct frame_pfc){.priorities = from->flags};
    for (unsigned p = 0; p < FRAME_PRIORITIES; p++)
        if (from->flags >> p & 1)
            to->pfc.quanta[p] = (uint16_t)(from->psn < UINT16_MAX ? from->psn : UINT16_MAX);
}

static void make_frame(const struct sim *sim, const struct sim_known *known, const struct sim_captured *from,
                       struct frame *to)
{
    to->ethernet = (struct frame_ethernet){0};
    if (from->kind != PACKET_PFC) {
        const struct sim_queue_pair *qp = &known->pairs[from->qp];
        set_roce(qp, &known->flows[qp->flow], from, to);
        return;
    }
    uint32_t port = from->place / 2, sender = from->place & 1 ? port : port ^ 1;
    memcpy(to->ethernet.destination, pause_address, sizeof pause_address);
    set_port_address(to->ethernet.source, known->nodes[sender], sim_port_number(sim, sender));
    set_pfc(from, to);
}

/* ---- the file's head */

static char *make_comment(const struct sim_lab *lab)
{
    const struct cell *cell = lab->run->cell;
    struct text text = {0};
    text_add(&text, "simulated: scenario %s, lab %s, seed %llu", cell->scenario.name, cell->lab.name,
             (unsigned long long)lab->run->seed);
    char *choice = json_object_size(cell->choice) ? json_dumps(cell->choice, JSON_COMPACT) : NULL;
    if (choice)
        text_add(&text, ", %s", choice);
    free(choice);
    text_add(&text,
             "; times are those of the run's clock; payloads, MAC addresses, queue pair numbers and memory "
             "addresses are made up");
    return text_take(&text); /* NULL: out of memory */
}

#define NAME_BYTES 160

static void format_port_name(const struct sim_lab *lab, uint32_t port, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%.140s:%u",
             sim_setup_node_name(lab->run->cell, &lab->setup, lab->capture->known.nodes[port]),
             sim_port_number(lab->sim, port));
}

static int add_interface(struct sim_lab *lab, uint32_t port, struct error *e)
{
    struct sim_capture *c = lab->capture;
    const struct sim_link_config *link = &lab->setup.links[port / 2];
    uint8_t address[6];
    char name[NAME_BYTES];
    format_port_name(lab, port, name);
    c->interfaces[port] = c->file.interfaces;
    set_port_address(address, c->known.nodes[port], sim_port_number(lab->sim, port));
    return pcapng_interface(&c->file, name, address, link->rate_bps, c->snap_bytes, e);
}

static int begin_file(struct sim_lab *lab, struct error *e)
{
    struct sim_capture *c = lab->capture;
    char *comment = make_comment(lab);
    int result = comment ? pcapng_open(&c->file, lab->run->folder, CAPTURE_FILE, "harness " HARNESS_VERSION,
                                       comment, lab->run->cell->scenario.capture->limit_bytes, e)
                         : error_set(e, "out of memory");
    free(comment);
    for (uint32_t port = 0; result == 0 && port < 2 * lab->setup.config.link_count; port++)
        if (lab->setup.capture_ports[port])
            result = add_interface(lab, port, e);
    return result == 0 ? 0 : error_prefix(e, "capture");
}

static int64_t choose_step(const struct sim_lab *lab)
{
    double bps = 0;
    for (size_t link = 0; link < lab->setup.config.link_count; link++)
        for (unsigned end = 0; end < 2; end++)
            if (lab->setup.capture_ports[2 * link + end])
                bps += (double)lab->setup.links[link].rate_bps;
    double step_ns = bps > 0 ? (double)STEP_BYTES * 8e9 / bps : LEAST_STEP;
    return step_ns > LEAST_STEP ? (int64_t)step_ns : LEAST_STEP;
}

int sim_capture_open(struct sim_lab *lab, struct error *e)
{
    const struct capture *wanted = lab->run->cell->scenario.capture;
    if (!wanted)
        return 0;
    struct sim_capture *c = lab->capture = xcalloc(1, sizeof *c);
    size_t ports = 2 * lab->setup.config.link_count, flows = lab->setup.config.flow_count;
    size_t pairs = sim_queue_pairs(lab->sim);
    c->file.fd = -1;
    c->snap_bytes = (uint32_t)wanted->snap_bytes;
    c->from_ns = lab->setup.capture->from_ps / SIM_PS_PER_NS;
    c->until_ns = lab->setup.capture->until_ps / SIM_PS_PER_NS;
    c->left_out_ns = -1;
    c->step_ns = choose_step(lab);
    c->interfaces = xcalloc(ports + 1, sizeof *c->interfaces);
    c->known.nodes = xcalloc(ports + 1, sizeof *c->known.nodes);
    c->known.flows = xcalloc(flows + 1, sizeof *c->known.flows);
    c->known.pairs = xcalloc(pairs + 1, sizeof *c->known.pairs);
    for (size_t i = 0; i < ports; i++)
        c->known.nodes[i] = i & 1 ? lab->setup.links[i / 2].b : lab->setup.links[i / 2].a;
    char **roles = sim_setup_roles_of_hosts(lab->run->cell, &lab->setup);
    for (size_t i = 0; i < flows; i++)
        c->known.flows[i] = headers_of_flow(lab->run->cell, &lab->setup, roles, i);
    free(roles);
    for (size_t i = 0; i < pairs; i++)
        c->known.pairs[i] = sim_queue_pair(lab->sim, (uint32_t)i);
    return begin_file(lab, e);
}

/* ---- while the simulator runs */

static bool is_full(const struct sim_capture *c)
{
    return c->left_out_ns >= 0;
}

int64_t sim_capture_until(const struct sim_lab *lab, int64_t until_ns)
{
    const struct sim_capture *c = lab->capture;
    int64_t now_ns = sim_now_ps(lab->sim) / SIM_PS_PER_NS;
    if (!c || is_full(c) || now_ns >= c->until_ns || until_ns <= c->from_ns)
        return until_ns;
    int64_t from_ns = now_ns > c->from_ns ? now_ns : c->from_ns;
    return until_ns - from_ns > c->step_ns ? from_ns + c->step_ns : until_ns;
}

static bool write_frame(const struct sim_lab *lab, struct sim_capture *c, const struct sim_captured *from)
{
    struct frame frame;
    make_frame(lab->sim, &c->known, from, &frame);
    size_t bytes = frame_length(&frame);
    struct pcapng_packet packet = {
        .interface = c->interfaces[from->place / 2],
        .time_ns = from->time_ps / SIM_PS_PER_NS,
        .direction = from->place & 1 ? PCAPNG_SENT : PCAPNG_RECEIVED,
        .bytes = (uint32_t)bytes,
        .captured_bytes = (uint32_t)(bytes < c->snap_bytes ? bytes : c->snap_bytes),
    };
    uint8_t *at = pcapng_packet(&c->file, &packet);
    if (at)
        frame_write(&frame, at, packet.captured_bytes);
    return at;
}

int sim_capture_write_frames(struct sim_lab *lab, struct error *e)
{
    struct sim_capture *c = lab->capture;
    const struct sim_captured_at *frames;
    if (!c || is_full(c))
        return 0;
    size_t count = sim_captured(lab->sim, &frames), i = 0;
    while (i < count && write_frame(lab, c, frames[i].frame))
        i++;
    c->frames += (int64_t)i;
    c->bytes = c->file.bytes;
    if (i == count)
        return 0;
    if (pcapng_check(&c->file, e) != 0)
        return -1;
    c->left_out_ns = frames[i].frame->time_ps / SIM_PS_PER_NS;
    sim_capture_stop(lab->sim);
    return 0;
}

/* ---- the end */

int sim_capture_finish(struct sim_lab *lab, struct error *e)
{
    return lab->capture ? pcapng_close(&lab->capture->file, e) : 0;
}

static json_t *interfaces_with_threshold(json_t *thresholds, int64_t kmin_bytes)
{
    json_t *entry;
    size_t i;
    json_array_foreach(thresholds, i, entry)
    {
        if (json_integer_value(json_object_get(entry, "kmin_bytes")) == kmin_bytes)
            return json_object_get(entry, "interfaces");
    }
    entry = json_make("{s:[],s:I}", "interfaces", "kmin_bytes", (json_int_t)kmin_bytes);
    json_array_append_new(thresholds, entry);
    return json_object_get(entry, "interfaces");
}

/* Captured ports that mark, by their thresholds. */
static json_t *list_thresholds(const struct sim_lab *lab)
{
    json_t *thresholds = json_array();
    char name[NAME_BYTES];
    for (uint32_t port = 0; port < 2 * lab->setup.config.link_count; port++) {
        int64_t kmin_bytes = lab->setup.capture_ports[port] ? sim_port_kmin_bytes(lab->sim, port) : -1;
        if (kmin_bytes < 0)
            continue;
        format_port_name(lab, port, name);
        json_array_append_new(interfaces_with_threshold(thresholds, kmin_bytes), json_text(name));
    }
    return thresholds;
}

void sim_capture_add_to_result(const struct sim_lab *lab, json_t *result)
{
    const struct sim_capture *c = lab->capture;
    if (!c)
        return;
    json_t *capture = json_make("{s:s,s:I,s:I}", "file", CAPTURE_FILE, "frames", (json_int_t)c->frames,
                                "bytes", (json_int_t)c->bytes);
    if (is_full(c)) {
        struct text full = {0};
        int64_t phase_ns[4];
        scenario_phase_starts(&lab->run->cell->scenario, phase_ns);
        capture_say_full(lab->run->cell->scenario.capture, phase_ns, c->left_out_ns, &full);
        json_object_set_new(capture, "left_out_from_ns", json_integer(c->left_out_ns));
        json_array_append_new(json_object_get(result, "warnings"), json_text(text_string(&full)));
        text_free(&full);
    }
    json_t *thresholds = list_thresholds(lab);
    if (json_array_size(thresholds))
        json_object_set(capture, "ecn_thresholds", thresholds);
    json_decref(thresholds);
    json_object_set_new(result, "capture", capture);
}

void sim_capture_close(struct sim_lab *lab)
{
    struct sim_capture *c = lab->capture;
    if (!c)
        return;
    pcapng_close(&c->file, NULL);
    free(c->interfaces);
    free(c->known.nodes);
    free(c->known.flows);
    free(c->known.pairs);
    free(c);
}
