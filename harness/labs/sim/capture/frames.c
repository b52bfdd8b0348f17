/* The simulator's frames as those of a link. What the simulator does not have is made up: MAC addresses, queue pair numbers, and of
 * memory addresses and keys. */
#include "harness/labs/sim/capture/capture.h"
#include "harness/plan/traffic_class.h"
#include "lib/packets/opcode.h"
#include <string.h>

#define HOP_LIMIT 64
#define PARTITION 0xffff
#define FIRST_QPN \
    0x100 /* each queue pair of the simulator has two numbers: its sender's and its receiver's */
#define QPN_MASK      0xffffffu
#define ADDRESS_SHIFT 40 /* of a queue pair's memory */

static const uint8_t pause_address[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01}; /* IEEE 802.1Q, 36.1 */

/* ---- what a flow's packets have in common */

/* The flow that a part of a pattern would be. */
static struct scenario_flow part_of(const struct cell *cell, const struct sim_setup *setup,
                                    char *const *roles, size_t flow)
{
    const struct scenario_traffic *traffic = cell->scenario.traffic.items;
    size_t i = 0;
    while (flow >= setup->first_of_traffic[i + 1])
        i++;
    return flow_of_pattern(&traffic[i], roles[setup->flows[flow].from], roles[setup->flows[flow].to]);
}

struct sim_flow_headers sim_flow_headers_of(const struct cell *cell, const struct sim_setup *setup,
                                            char *const *roles, size_t flow)
{
    const struct sim_flow_config *f = &setup->flows[flow];
    const struct scenario_flow *flows = cell->scenario.flows.items;
    struct scenario_flow own =
        flow < cell->scenario.flows.count ? flows[flow] : part_of(cell, setup, roles, flow);
    uint32_t receiver = f->operation == SIM_READ ? f->from : f->to;
    return (struct sim_flow_headers){.dscp = (uint8_t)(flow_traffic_class(&cell->scenario, &own) >> 2),
                                     .cnp_dscp = (uint8_t)setup->hosts[receiver].settings.dcqcn.np.cnp_dscp,
                                     .tagged = !role_trusts_dscp(&cell->scenario, flow_sender(&own)),
                                     .immediate = own.op == OP_WRITE_IMM};
}

/* ---- addresses */

void sim_port_address(uint8_t mac[6], struct sim_node node, uint32_t port)
{
    const uint8_t bytes[6] = {0x02,
                              (uint8_t)node.kind,
                              (uint8_t)(node.index >> 8),
                              (uint8_t)node.index,
                              (uint8_t)(port >> 8),
                              (uint8_t)port};
    memcpy(mac, bytes, sizeof bytes);
}

static void put_host(uint8_t mac[6], uint8_t ip[16], uint32_t host)
{
    uint32_t address = sim_host_address(host);
    sim_port_address(mac, (struct sim_node){SIM_HOST, host}, 0);
    for (unsigned i = 0; i < 4; i++)
        ip[i] = (uint8_t)(address >> (24 - 8 * i));
}

/* ---- RoCEv2 */

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
static struct frame_reth reth_of(const struct sim_queue_pair *qp, const struct sim_captured *from)
{
    int64_t before = (int64_t)(from->psn % qp->packets_per_message) * qp->payload_bytes;
    int64_t left = qp->message_bytes - before;
    return (struct frame_reth){.address = ((uint64_t)from->qp + 1) << ADDRESS_SHIFT | (uint64_t)before,
                               .key = from->qp + 1,
                               .length = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX};
}

/* Messages that are complete before a packet. */
static struct frame_aeth aeth_of(const struct sim_queue_pair *qp, uint8_t syndrome, uint32_t psn,
                                 uint32_t more)
{
    return (struct frame_aeth){syndrome, (psn / qp->packets_per_message + more) & FRAME_PSN_MASK};
}

static void put_data(const struct sim_queue_pair *qp, bool immediate, const struct sim_captured *from,
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
        r->reth = reth_of(qp, from);
    if ((first || last) && qp->operation == SIM_READ)
        r->aeth = aeth_of(qp, AETH_ACK << 5 | AETH_NO_CREDITS, from->psn, 1);
}

/* An ACK names the last packet that it acknowledges, in the simulator the one after it. */
static void put_answer(const struct sim_queue_pair *qp, const struct sim_captured *from, struct frame_roce *r)
{
    switch ((enum packet_kind)from->kind) {
    case PACKET_ACK:
        r->bth.opcode = OPCODE_ACKNOWLEDGE;
        r->bth.psn = from->psn - 1;
        r->aeth = aeth_of(qp, AETH_ACK << 5 | AETH_NO_CREDITS, from->psn, 0);
        break;
    case PACKET_NAK:
        r->bth.opcode = OPCODE_ACKNOWLEDGE;
        r->bth.psn = from->psn;
        r->aeth = aeth_of(qp, AETH_NAK << 5 | AETH_NAK_SEQUENCE, from->psn, 0);
        break;
    case PACKET_READ_REQUEST:
        r->bth.opcode = OPCODE_READ_REQUEST;
        r->bth.psn = from->psn;
        r->reth = reth_of(qp, from);
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
static void put_roce(const struct sim_queue_pair *qp, const struct sim_flow_headers *flow,
                     const struct sim_captured *from, struct frame *to)
{
    bool data = from->kind == PACKET_DATA, cnp = from->kind == PACKET_CNP;
    struct frame_roce *r = &to->roce;
    to->kind = FRAME_ROCE;
    r->ip = (struct frame_ip){
        .dscp = cnp ? flow->cnp_dscp : flow->dscp, .ecn = ecn_of(from), .hop_limit = HOP_LIMIT};
    r->bth = (struct frame_bth){.migrated = true,
                                .partition = PARTITION,
                                .becn = cnp || from->flags & PACKET_ECHO,
                                .qpn = (FIRST_QPN + 2 * from->qp + data) & QPN_MASK};
    r->source_port = qp->source_port;
    r->immediate = r->payload_bytes = 0;
    put_host(to->ethernet.source, r->ip.source, data ? qp->sender : qp->receiver);
    put_host(to->ethernet.destination, r->ip.destination, data ? qp->receiver : qp->sender);
    to->ethernet.tagged = flow->tagged && from->priority;
    to->ethernet.priority = from->priority;
    if (data)
        put_data(qp, flow->immediate, from, r);
    else
        put_answer(qp, from, r);
}

/* ---- all */

static void put_pfc(const struct sim_captured *from, struct frame *to)
{
    to->kind = FRAME_PFC;
    to->pfc = (struct frame_pfc){.priorities = from->flags};
    for (unsigned p = 0; p < FRAME_PRIORITIES; p++)
        if (from->flags >> p & 1)
            to->pfc.quanta[p] = (uint16_t)(from->psn < UINT16_MAX ? from->psn : UINT16_MAX);
}

void sim_frame_of(const struct sim *sim, const struct sim_known *known, const struct sim_captured *from,
                  struct frame *to)
{
    to->ethernet = (struct frame_ethernet){0};
    if (from->kind != PACKET_PFC) {
        const struct sim_queue_pair *qp = &known->pairs[from->qp];
        put_roce(qp, &known->flows[qp->flow], from, to);
        return;
    }
    uint32_t port = from->place / 2, sender = from->place & 1 ? port : port ^ 1;
    memcpy(to->ethernet.destination, pause_address, sizeof pause_address);
    sim_port_address(to->ethernet.source, known->nodes[sender], sim_port_number(sim, sender));
    put_pfc(from, to);
}
