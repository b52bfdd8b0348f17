#include "lib/packets/frame_read.h"

#include "lib/packets/icrc.h"
#include "lib/packets/opcode.h"
#include <string.h>

#define TYPE_SERVICE_VLAN 0x88a8 /* IEEE 802.1Q, the outer one of two tags */
#define IPV4_LEAST_BYTES  20
#define IPV6_BYTES        40
#define UDP_BYTES         8
#define BTH_BYTES         12
#define PROTOCOL_UDP      17
#define PFC_BYTES         20 /* opcode, priorities, quanta */

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t get24(const uint8_t *at)
{
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

static uint32_t get32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return __builtin_bswap32(value);
}

static uint64_t get64(const uint8_t *at)
{
    return (uint64_t)get32(at) << 32 | get32(at + 4);
}

/* Where things are in the bytes. */
struct place {
    uint16_t type; /* Ethernet type behind all tags */
    size_t ip, udp;
    size_t udp_bytes; /* as its header says: from it to the end of the ICRC */
};

static bool read_ethernet(const uint8_t *at, size_t bytes, struct frame_ethernet *ethernet, struct place *p)
{
    if (bytes < FRAME_ETHERNET_BYTES)
        return false;
    memcpy(ethernet->destination, at, 6);
    memcpy(ethernet->source, at + 6, 6);
    ethernet->tagged = false;
    ethernet->priority = 0;
    ethernet->vlan = 0;
    p->ip = FRAME_ETHERNET_BYTES;
    p->type = get16(at + 12);
    while (p->type == FRAME_TYPE_VLAN || p->type == TYPE_SERVICE_VLAN) {
        if (bytes < p->ip + FRAME_VLAN_BYTES)
            return false;
        uint16_t tag = get16(at + p->ip);
        if (!ethernet->tagged) { /* the outer tag's priority is that of the link */
            ethernet->tagged = true;
            ethernet->priority = (uint8_t)(tag >> 13);
            ethernet->vlan = tag & 0xfff;
        }
        p->type = get16(at + p->ip + 2);
        p->ip += FRAME_VLAN_BYTES;
    }
    return true;
}

static bool read_ipv4(const uint8_t *at, size_t bytes, struct frame_ip *ip, size_t *header_bytes)
{
    if (bytes < IPV4_LEAST_BYTES || at[0] >> 4 != 4)
        return false;
    *header_bytes = (size_t)(at[0] & 0xf) * 4;
    if (*header_bytes < IPV4_LEAST_BYTES || at[9] != PROTOCOL_UDP ||
        (get16(at + 6) & 0x3fff)) /* a fragment */
        return false;
    *ip = (struct frame_ip){
        .dscp = at[1] >> 2, .ecn = at[1] & 3, .hop_limit = at[8], .identification = get16(at + 4)};
    memcpy(ip->source, at + 12, 4);
    memcpy(ip->destination, at + 16, 4);
    return true;
}

static bool read_ipv6(const uint8_t *at, size_t bytes, struct frame_ip *ip)
{
    if (bytes < IPV6_BYTES || at[0] >> 4 != 6 || at[6] != PROTOCOL_UDP)
        return false;
    uint32_t word = get32(at);
    ip->v6 = true;
    ip->dscp = (uint8_t)(word >> 22 & 0x3f);
    ip->ecn = (uint8_t)(word >> 20 & 3);
    ip->flow_label = word & 0xfffff;
    ip->hop_limit = at[7];
    ip->identification = 0;
    memcpy(ip->source, at + 8, 16);
    memcpy(ip->destination, at + 24, 16);
    return true;
}

/* The IP and UDP headers of a RoCEv2 packet. */
static bool read_ip(const uint8_t *at, size_t bytes, struct frame_ip *ip, struct place *p)
{
    size_t header_bytes = IPV6_BYTES, behind_bytes; /* behind the header, as IP says */
    if (p->type == FRAME_TYPE_IPV4) {
        if (!read_ipv4(at + p->ip, bytes - p->ip, ip, &header_bytes))
            return false;
        size_t all_bytes = get16(at + p->ip + 2);
        behind_bytes = all_bytes > header_bytes ? all_bytes - header_bytes : 0;
    } else {
        if (p->type != FRAME_TYPE_IPV6 || !read_ipv6(at + p->ip, bytes - p->ip, ip))
            return false;
        behind_bytes = get16(at + p->ip + 4);
    }
    p->udp = p->ip + header_bytes;
    if (bytes < p->udp + UDP_BYTES + BTH_BYTES || get16(at + p->udp + 2) != FRAME_ROCE_PORT)
        return false;
    p->udp_bytes = get16(at + p->udp + 4);
    return p->udp_bytes >= UDP_BYTES + BTH_BYTES + FRAME_ICRC_BYTES && p->udp_bytes <= behind_bytes;
}

static void read_bth(const uint8_t *at, struct frame_bth *bth)
{
    bth->opcode = at[0];
    bth->solicited = at[1] >> 7;
    bth->migrated = at[1] >> 6 & 1;
    bth->pad_bytes = at[1] >> 4 & 3;
    bth->partition = get16(at + 2);
    bth->fecn = at[4] >> 7;
    bth->becn = at[4] >> 6 & 1;
    bth->qpn = get24(at + 5);
    bth->ack_request = at[8] >> 7;
    bth->psn = get24(at + 9);
}

/* Extension headers in the order in which they follow each other. */
static void read_extensions(const uint8_t *at, const struct opcode_row *row, struct frame_roce *roce)
{
    if (OPCODE_SERVICE(roce->bth.opcode) == OPCODE_XRC && !row->response)
        at += 4;
    if (OPCODE_SERVICE(roce->bth.opcode) == OPCODE_UD) {
        roce->queue_key = get32(at);
        roce->source_qpn = get24(at + 5);
        at += 8;
    }
    if (row->feth) {
        roce->flush = get32(at);
        at += 4;
    }
    if (row->reth) {
        roce->reth = (struct frame_reth){get64(at), get32(at + 8), get32(at + 12)};
        at += 16;
    }
    if (row->atomic) {
        roce->reth = (struct frame_reth){get64(at), get32(at + 8), 0};
        roce->swap = get64(at + 12);
        roce->compare = get64(at + 20);
        at += 28;
    }
    if (row->aeth) {
        roce->aeth = (struct frame_aeth){at[0], get24(at + 1)};
        at += 4;
    }
    if (row->atomic_answer)
        roce->compare = get64(at);
    else if (row->immediate)
        roce->immediate = get32(at);
}

static bool read_roce(const uint8_t *at, size_t bytes, struct frame_roce *roce, struct place *p)
{
    if (!read_ip(at, bytes, &roce->ip, p))
        return false;
    roce->source_port = get16(at + p->udp);
    const uint8_t *bth = at + p->udp + UDP_BYTES;
    read_bth(bth, &roce->bth);
    const struct opcode_row *row = opcode_find(roce->bth.opcode);
    if (!row)
        return false;
    size_t extensions = opcode_header_bytes(roce->bth.opcode);
    size_t headers = UDP_BYTES + BTH_BYTES + extensions;
    size_t fixed = headers + roce->bth.pad_bytes + FRAME_ICRC_BYTES;
    if (p->udp_bytes < fixed || bytes < p->udp + headers)
        return false;
    roce->payload_bytes = (uint32_t)(p->udp_bytes - fixed);
    if (extensions && roce->bth.opcode != OPCODE_CNP)
        read_extensions(bth + BTH_BYTES, row, roce);
    return true;
}

/* Frames of MAC control: PFC, pause. */
static enum frame_kind read_control(const uint8_t *at, size_t bytes, struct frame *f)
{
    if (bytes < 4)
        return FRAME_OTHER;
    if (get16(at) == FRAME_CONTROL_PAUSE) {
        f->pause_quanta = get16(at + 2);
        return FRAME_PAUSE;
    }
    if (get16(at) != FRAME_CONTROL_PFC || bytes < PFC_BYTES)
        return FRAME_OTHER;
    f->pfc.priorities = at[3];
    for (size_t i = 0; i < FRAME_PRIORITIES; i++)
        f->pfc.quanta[i] = get16(at + 4 + 2 * i);
    return FRAME_PFC;
}

void frame_read(const uint8_t *at, size_t bytes, struct frame *f)
{
    struct place p;
    f->kind = FRAME_OTHER;
    if (!read_ethernet(at, bytes, &f->ethernet, &p))
        return;
    if (p.type == FRAME_TYPE_CONTROL)
        f->kind = read_control(at + p.ip, bytes - p.ip, f);
    else if (read_roce(at, bytes, &f->roce, &p))
        f->kind = FRAME_ROCE;
}

enum frame_icrc frame_read_icrc(const uint8_t *at, size_t bytes)
{
    struct frame f;
    struct place p;
    if (!read_ethernet(at, bytes, &f.ethernet, &p) || !read_roce(at, bytes, &f.roce, &p))
        return FRAME_ICRC_NONE;
    size_t covered = p.udp - p.ip + p.udp_bytes - FRAME_ICRC_BYTES;
    if (bytes < p.ip + covered + FRAME_ICRC_BYTES)
        return FRAME_ICRC_CUT;
    const uint8_t *there = at + p.ip + covered;
    uint32_t found = there[0] | (uint32_t)there[1] << 8 | (uint32_t)there[2] << 16 | (uint32_t)there[3] << 24;
    return icrc(at + p.ip, p.udp - p.ip, covered) == found ? FRAME_ICRC_RIGHT : FRAME_ICRC_WRONG;
}
