/*
 * Frames of a RoCEv2 network between bytes and struct frame, in both directions, and the invariant CRC of
 * their packets (InfiniBand Architecture Specification, annex A17.3.3).
 */
#include "lib/packets/frame.h"

#include <string.h>
#include <zlib.h>

#define TYPE_SERVICE_VLAN 0x88a8 /* IEEE 802.1Q, the outer one of two tags */
#define TYPE_OLD_VLAN     0x9100 /* the same, of switches before that, */
#define TYPE_OLD_VLAN_2   0x9200 /* which can be set to either */
#define IPV4_BYTES        20     /* without options */
#define IPV4_MOST_BYTES   60
#define IPV6_BYTES        FRAME_IPV6_BYTES
#define UDP_BYTES         FRAME_UDP_BYTES
#define BTH_BYTES         FRAME_BTH_BYTES
#define PFC_BYTES         20 /* opcode, priorities, quanta */
#define DUMMY_BYTES       8  /* of the ICRC, in place of InfiniBand's local route header: all bits set */

#define ICRC_HEADER_BYTES (UDP_BYTES + BTH_BYTES)

#define PROTOCOL_IPV4   4
#define PROTOCOL_UDP    17
#define PROTOCOL_IPV6   41
#define PROTOCOL_GRE    47
#define DO_NOT_FRAGMENT 0x4000

#define BTH_SOLICITED 0x80
#define BTH_MIGRATED  0x40
#define BTH_FECN      0x80
#define BTH_BECN      0x40
#define BTH_ASKS_ACK  0x80

/* ---- bytes, the highest first */

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

static uint8_t *put8(uint8_t *at, uint8_t value)
{
    *at = value;
    return at + 1;
}

static uint8_t *put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
    return at + 2;
}

static uint8_t *put24(uint8_t *at, uint32_t value)
{
    return put16(put8(at, (uint8_t)(value >> 16)), value);
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    return put16(put16(at, value >> 16), value);
}

static uint8_t *put64(uint8_t *at, uint64_t value)
{
    return put32(put32(at, (uint32_t)(value >> 32)), (uint32_t)value);
}

static uint8_t *put_bytes(uint8_t *at, const uint8_t *bytes, size_t count)
{
    memcpy(at, bytes, count);
    return at + count;
}

/* ---- the invariant CRC */

/* Fields that change on the way count as if all of their bits were set. */
static void mask_ip(uint8_t *ip)
{
    if (ip[0] >> 4 == 6) {
        ip[0] |= 0x0f; /* traffic class, flow label */
        memset(ip + 1, 0xff, 3);
        ip[7] = 0xff; /* hop limit */
        return;
    }
    ip[1] = 0xff;             /* type of service */
    ip[8] = 0xff;             /* time to live */
    memset(ip + 10, 0xff, 2); /* checksum */
}

/* The ICRC over a packet from its IP header to the end of its pad, as its last four bytes on the wire, first
 * byte lowest. `ip_bytes` is the length of the IP header; behind it are at least the 20 bytes of the UDP and
 * base transport headers. The packet ends with `zeros` zero bytes more than `bytes`, at most 65535, which
 * need not be there. */
static uint32_t icrc(const uint8_t *packet, size_t ip_bytes, size_t bytes, uint32_t zeros)
{
    uint8_t head[DUMMY_BYTES + IPV4_MOST_BYTES + ICRC_HEADER_BYTES];
    size_t head_bytes = ip_bytes + ICRC_HEADER_BYTES;
    memset(head, 0xff, DUMMY_BYTES);
    memcpy(head + DUMMY_BYTES, packet, head_bytes);
    mask_ip(head + DUMMY_BYTES);
    uint8_t *udp = head + DUMMY_BYTES + ip_bytes;
    memset(udp + 6, 0xff, 2); /* checksum */
    udp[8 + 4] = 0xff;        /* FECN, BECN, reserved */
    uLong crc = crc32(crc32(0, head, (uInt)(DUMMY_BYTES + head_bytes)), packet + head_bytes,
                      (uInt)(bytes - head_bytes));
    /* zlib inverts a CRC before the first byte and after the last; between, zeros are a factor, as
     * crc32_combine() has it */
    return ~(uint32_t)crc32_combine(~crc & UINT32_MAX, 0, (z_off_t)zeros);
}

/* ---- reading */

/* Where things are in the bytes. */
struct place {
    uint16_t type; /* Ethernet type behind all tags */
    uint8_t protocol;
    size_t ip, udp;
    size_t udp_bytes;    /* as its header says: from it to the end of the ICRC */
    size_t behind_bytes; /* behind the IP header, as that says */
};

/* What reading comes to: a kind, or on to the next header. */
#define READ_ON FRAME_ROCE

static enum frame_kind is_other(struct frame *f, enum frame_other is)
{
    f->other.is = is;
    f->other.inner_at = 0;
    f->other.may_be_roce = false;
    return FRAME_OTHER;
}

static enum frame_kind is_unread(struct frame *f, enum frame_other is, bool may_be_roce)
{
    is_other(f, is);
    f->other.may_be_roce = may_be_roce;
    return FRAME_OTHER;
}

static bool is_tag(uint16_t type)
{
    return type == FRAME_TYPE_VLAN || type == TYPE_SERVICE_VLAN || type == TYPE_OLD_VLAN ||
           type == TYPE_OLD_VLAN_2;
}

static enum frame_kind read_ethernet(const uint8_t *at, size_t bytes, struct frame_ethernet *ethernet,
                                     struct place *p)
{
    *ethernet = (struct frame_ethernet){0};
    if (bytes < FRAME_ETHERNET_BYTES)
        return FRAME_CUT;
    memcpy(ethernet->destination, at, 6);
    memcpy(ethernet->source, at + 6, 6);
    p->ip = FRAME_ETHERNET_BYTES;
    p->type = get16(at + 12);
    while (is_tag(p->type)) {
        if (bytes < p->ip + FRAME_VLAN_BYTES)
            return FRAME_CUT;
        uint16_t tag = get16(at + p->ip);
        if (!ethernet->tagged) { /* the outer tag's priority is that of the link */
            ethernet->tagged = true;
            ethernet->priority = (uint8_t)(tag >> 13);
            ethernet->vlan = tag & 0xfff;
        }
        p->type = get16(at + p->ip + 2);
        p->ip += FRAME_VLAN_BYTES;
    }
    return READ_ON;
}

/* Extension headers of IPv6 (RFC 8200, 4). */
#define EXTENSION_FRAGMENT 44

static bool is_extension(uint8_t protocol)
{
    return protocol == 0 || protocol == 43 || protocol == EXTENSION_FRAGMENT || protocol == 60;
}

/* Is an IP packet, which is not read, to RoCEv2's port? True too if that cannot be told: a later fragment has
 * no port, and a packet may be cut or hold another one. */
static bool ip_may_be_roce(const uint8_t *at, size_t bytes)
{
    if (bytes < IPV4_BYTES)
        return true;
    bool later = false;
    uint8_t protocol = at[9];
    size_t udp = (size_t)(at[0] & 0xf) * 4;
    if (at[0] >> 4 == 6) {
        protocol = at[6];
        for (udp = IPV6_BYTES; is_extension(protocol);) {
            if (bytes < udp + 8)
                return true;
            bool fragment = protocol == EXTENSION_FRAGMENT;
            later = later || (fragment && get16(at + udp + 2) >> 3);
            protocol = at[udp];
            udp += fragment ? 8 : (size_t)(at[udp + 1] + 1) * 8;
        }
    } else if (at[0] >> 4 == 4) {
        later = get16(at + 6) & 0x1fff;
    } else {
        return false;
    }
    if (protocol != PROTOCOL_UDP)
        return protocol == PROTOCOL_GRE || protocol == PROTOCOL_IPV4 || protocol == PROTOCOL_IPV6;
    return later || bytes < udp + 4 || get16(at + udp + 2) == FRAME_ROCE_PORT;
}

static enum frame_kind read_ipv4(const uint8_t *at, size_t bytes, struct frame *f, struct place *p)
{
    if (bytes < IPV4_BYTES)
        return FRAME_CUT;
    size_t header_bytes = (size_t)(at[0] & 0xf) * 4, all_bytes = get16(at + 2);
    if (at[0] >> 4 != 4 || header_bytes < IPV4_BYTES)
        return is_other(f, FRAME_OTHER_PROTOCOL);
    p->protocol = at[9];
    p->udp = p->ip + header_bytes;
    p->behind_bytes = all_bytes > header_bytes ? all_bytes - header_bytes : 0;
    if (get16(at + 6) & 0x3fff)
        return is_unread(f, p->protocol == PROTOCOL_UDP ? FRAME_OTHER_FRAGMENT : FRAME_OTHER_PROTOCOL,
                         p->protocol == PROTOCOL_UDP && ip_may_be_roce(at, bytes));
    f->roce.ip = (struct frame_ip){
        .dscp = at[1] >> 2, .ecn = at[1] & 3, .hop_limit = at[8], .identification = get16(at + 4)};
    memcpy(f->roce.ip.source, at + 12, 4);
    memcpy(f->roce.ip.destination, at + 16, 4);
    return READ_ON;
}

static enum frame_kind read_ipv6(const uint8_t *at, size_t bytes, struct frame *f, struct place *p)
{
    if (bytes < IPV6_BYTES)
        return FRAME_CUT;
    if (at[0] >> 4 != 6)
        return is_other(f, FRAME_OTHER_PROTOCOL);
    p->protocol = at[6];
    p->udp = p->ip + IPV6_BYTES;
    p->behind_bytes = get16(at + 4);
    if (is_extension(p->protocol))
        return is_unread(f, FRAME_OTHER_EXTENDED, ip_may_be_roce(at, bytes));
    uint32_t word = get32(at);
    f->roce.ip = (struct frame_ip){.v6 = true,
                                   .dscp = (uint8_t)(word >> 22 & 0x3f),
                                   .ecn = (uint8_t)(word >> 20 & 3),
                                   .flow_label = word & 0xfffff,
                                   .hop_limit = at[7]};
    memcpy(f->roce.ip.source, at + 8, 16);
    memcpy(f->roce.ip.destination, at + 24, 16);
    return READ_ON;
}

/* ---- reading: what is not RoCEv2 */

#define PORT_VXLAN       4789
#define PORT_VXLAN_LINUX 8472 /* Linux's default */
#define PORT_GENEVE      6081
#define TUNNEL_BYTES     8 /* of VXLAN's header (RFC 7348), of GENEVE's without options (RFC 8926) */
#define GRE_BYTES        4
#define GRE_ERSPAN       0x88be /* types I and II; */
#define GRE_ERSPAN_3     0x22eb /* type III */
#define GRE_ETHERNET     0x6558 /* NVGRE (RFC 7637), gretap */
#define TYPE_ROCE_V1     0x8915
#define TYPE_MPLS        0x8847
#define TYPE_MPLS_MANY   0x8848

/* What the frame within it is, is for the reader to see. */
static enum frame_kind is_tunnel(struct frame *f, enum frame_other is, size_t inner_at)
{
    is_unread(f, is, true);
    f->other.inner_at = (uint16_t)(inner_at < UINT16_MAX ? inner_at : 0);
    return FRAME_OTHER;
}

/* IP behind a stack of labels (RFC 3032), or Ethernet, which cannot be told. */
static bool mpls_may_be_roce(const uint8_t *at, size_t bytes)
{
    size_t label = 0;
    while (bytes >= label + 4 && !(at[label + 2] & 1)) /* not the bottom of the stack */
        label += 4;
    if (bytes < label + 5)
        return true;
    const uint8_t *behind = at + label + 4;
    return (behind[0] >> 4 != 4 && behind[0] >> 4 != 6) || ip_may_be_roce(behind, bytes - label - 4);
}

/* GRE (RFC 2784, 2890), and what switches mirror in it (draft-foschiano-erspan). */
static enum frame_kind read_gre(const uint8_t *at, size_t bytes, struct frame *f, const struct place *p)
{
    if (bytes < p->udp + GRE_BYTES)
        return is_unread(f, FRAME_OTHER_GRE, true);
    const uint8_t *gre = at + p->udp;
    uint16_t type = get16(gre + 2);
    bool sequenced = gre[0] & 0x10;
    size_t gre_bytes = GRE_BYTES + 4u * ((gre[0] & 0x80) != 0) + 4u * ((gre[0] & 0x20) != 0) + 4u * sequenced;
    size_t behind = p->udp + gre_bytes;
    if (type == GRE_ERSPAN)
        return is_tunnel(f, FRAME_OTHER_ERSPAN, behind + (sequenced ? 8 : 0)); /* type I has no header */
    if (type == GRE_ETHERNET)
        return is_tunnel(f, FRAME_OTHER_GRE, behind);
    if (type != GRE_ERSPAN_3)
        return is_unread(f, FRAME_OTHER_GRE,
                         (type == FRAME_TYPE_IPV4 || type == FRAME_TYPE_IPV6) &&
                             (bytes < behind || ip_may_be_roce(at + behind, bytes - behind)));
    if (bytes < behind + 12)
        return is_unread(f, FRAME_OTHER_ERSPAN, true);
    return is_tunnel(f, FRAME_OTHER_ERSPAN, behind + 12 + (at[behind + 11] & 1 ? 8 : 0)); /* a subheader */
}

/* UDP to another port. */
static enum frame_kind read_udp_other(const uint8_t *at, size_t bytes, struct frame *f, const struct place *p)
{
    uint16_t port = get16(at + p->udp + 2);
    size_t behind = p->udp + UDP_BYTES + TUNNEL_BYTES;
    if (port == PORT_VXLAN || port == PORT_VXLAN_LINUX)
        return is_tunnel(f, FRAME_OTHER_VXLAN, behind);
    if (port == PORT_GENEVE)
        return is_tunnel(f, FRAME_OTHER_GENEVE,
                         bytes < behind ? 0 : behind + 4u * (at[p->udp + UDP_BYTES] & 0x3f));
    is_other(f, FRAME_OTHER_UDP);
    f->other.port = port;
    return FRAME_OTHER;
}

/* ---- reading: RoCEv2 */

/* The IP and UDP headers of a RoCEv2 packet. */
static enum frame_kind read_ip(const uint8_t *at, size_t bytes, struct frame *f, struct place *p)
{
    if (p->type == TYPE_MPLS || p->type == TYPE_MPLS_MANY)
        return is_unread(f, FRAME_OTHER_TUNNEL, mpls_may_be_roce(at + p->ip, bytes - p->ip));
    if (p->type != FRAME_TYPE_IPV4 && p->type != FRAME_TYPE_IPV6)
        return is_other(f, p->type == TYPE_ROCE_V1 ? FRAME_OTHER_ROCE_V1 : FRAME_OTHER_PROTOCOL);
    enum frame_kind kind = p->type == FRAME_TYPE_IPV4 ? read_ipv4(at + p->ip, bytes - p->ip, f, p)
                                                      : read_ipv6(at + p->ip, bytes - p->ip, f, p);
    if (kind != READ_ON)
        return kind;
    if (p->protocol == PROTOCOL_GRE)
        return read_gre(at, bytes, f, p);
    if (p->protocol == PROTOCOL_IPV4 || p->protocol == PROTOCOL_IPV6)
        return is_unread(f, FRAME_OTHER_TUNNEL,
                         bytes < p->udp || ip_may_be_roce(at + p->udp, bytes - p->udp));
    if (p->protocol != PROTOCOL_UDP)
        return is_other(f, FRAME_OTHER_PROTOCOL);
    if (bytes < p->udp + 4)
        return FRAME_CUT;
    if (get16(at + p->udp + 2) != FRAME_ROCE_PORT)
        return read_udp_other(at, bytes, f, p);
    if (bytes < p->udp + UDP_BYTES + BTH_BYTES)
        return FRAME_CUT;
    p->udp_bytes = get16(at + p->udp + 4);
    return p->udp_bytes >= UDP_BYTES + BTH_BYTES + FRAME_ICRC_BYTES && p->udp_bytes <= p->behind_bytes
               ? READ_ON
               : is_unread(f, FRAME_OTHER_MALFORMED, true);
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

static enum frame_kind read_roce(const uint8_t *at, size_t bytes, struct frame *f, struct place *p)
{
    struct frame_roce *roce = &f->roce;
    enum frame_kind kind = read_ip(at, bytes, f, p);
    if (kind != READ_ON)
        return kind;
    roce->source_port = get16(at + p->udp);
    const uint8_t *bth = at + p->udp + UDP_BYTES;
    read_bth(bth, &roce->bth);
    const struct opcode_row *row = opcode_find(roce->bth.opcode);
    size_t extensions = opcode_header_bytes(roce->bth.opcode);
    size_t headers = UDP_BYTES + BTH_BYTES + extensions;
    size_t fixed = headers + roce->bth.pad_bytes + FRAME_ICRC_BYTES;
    if (!row || p->udp_bytes < fixed)
        return is_unread(f, FRAME_OTHER_MALFORMED, true);
    roce->payload_bytes = (uint32_t)(p->udp_bytes - fixed);
    roce->cut = bytes < p->udp + headers;
    uint8_t whole[OPCODE_MOST_HEADER_BYTES] = {0};
    if (!roce->cut)
        memcpy(whole, bth + BTH_BYTES, extensions);
    if (roce->bth.opcode != OPCODE_CNP)
        read_extensions(whole, row, roce);
    return FRAME_ROCE;
}

/* Frames of MAC control: PFC, pause. */
static enum frame_kind read_control(const uint8_t *at, size_t bytes, struct frame *f)
{
    if (bytes < 4)
        return FRAME_CUT;
    if (get16(at) == FRAME_CONTROL_PAUSE) {
        f->pause_quanta = get16(at + 2);
        return FRAME_PAUSE;
    }
    if (get16(at) != FRAME_CONTROL_PFC)
        return is_other(f, FRAME_OTHER_PROTOCOL);
    if (bytes < PFC_BYTES)
        return FRAME_CUT;
    f->pfc.priorities = at[3];
    for (size_t i = 0; i < FRAME_PRIORITIES; i++)
        f->pfc.quanta[i] = get16(at + 4 + 2 * i);
    return FRAME_PFC;
}

static void read_frame(const uint8_t *at, size_t bytes, struct frame *f, struct place *p)
{
    f->kind = read_ethernet(at, bytes, &f->ethernet, p);
    if (f->kind == READ_ON)
        f->kind = p->type == FRAME_TYPE_CONTROL ? read_control(at + p->ip, bytes - p->ip, f)
                                                : read_roce(at, bytes, f, p);
}

void frame_read(const uint8_t *at, size_t bytes, struct frame *f)
{
    struct place p = {0};
    read_frame(at, bytes, f, &p);
}

enum frame_icrc frame_read_icrc(const uint8_t *at, size_t bytes)
{
    struct frame f;
    struct place p = {0};
    read_frame(at, bytes, &f, &p);
    if (f.kind != FRAME_ROCE)
        return FRAME_ICRC_NONE;
    size_t covered = p.udp - p.ip + p.udp_bytes - FRAME_ICRC_BYTES;
    if (bytes < p.ip + covered + FRAME_ICRC_BYTES)
        return FRAME_ICRC_CUT;
    const uint8_t *there = at + p.ip + covered;
    uint32_t found = there[0] | (uint32_t)there[1] << 8 | (uint32_t)there[2] << 16 | (uint32_t)there[3] << 24;
    return icrc(at + p.ip, p.udp - p.ip, covered, 0) == found ? FRAME_ICRC_RIGHT : FRAME_ICRC_WRONG;
}

/* ---- writing: lengths */

static uint32_t pad_bytes(const struct frame_roce *r)
{
    return -r->payload_bytes & 3;
}

/* Bytes of the UDP datagram, the ICRC included. */
static uint32_t udp_bytes(const struct frame_roce *r)
{
    return UDP_BYTES + BTH_BYTES + opcode_header_bytes(r->bth.opcode) + r->payload_bytes + pad_bytes(r) +
           FRAME_ICRC_BYTES;
}

static uint32_t ip_bytes(const struct frame_roce *r)
{
    return r->ip.v6 ? IPV6_BYTES : IPV4_BYTES;
}

static size_t ethernet_bytes(const struct frame *f)
{
    return FRAME_ETHERNET_BYTES + (f->ethernet.tagged ? FRAME_VLAN_BYTES : 0);
}

static size_t padded_bytes(size_t bytes)
{
    return bytes > FRAME_LEAST_BYTES ? bytes : FRAME_LEAST_BYTES;
}

size_t frame_length(const struct frame *f)
{
    if (f->kind == FRAME_OTHER || f->kind == FRAME_CUT)
        return 0;
    return padded_bytes(ethernet_bytes(f) +
                        (f->kind == FRAME_ROCE ? ip_bytes(&f->roce) + udp_bytes(&f->roce) : 0));
}

/* ---- writing: headers */

static uint8_t *put_ethernet(uint8_t *at, const struct frame_ethernet *e, uint16_t type)
{
    at = put_bytes(put_bytes(at, e->destination, 6), e->source, 6);
    if (e->tagged)
        at = put16(put16(at, FRAME_TYPE_VLAN), (uint32_t)e->priority << 13 | (e->vlan & 0xfffu));
    return put16(at, type);
}

/* The checksum of an IPv4 header, from the fields: reading what was just written would take longer. */
static uint16_t ip_checksum(const struct frame_ip *ip, uint8_t class, uint32_t bytes)
{
    uint32_t sum = 0x4500u + class + bytes + ip->identification + DO_NOT_FRAGMENT +
                   ((uint32_t)ip->hop_limit << 8 | PROTOCOL_UDP);
    for (unsigned i = 0; i < 4; i += 2)
        sum += (uint32_t)(ip->source[i] << 8 | ip->source[i + 1]) +
               (uint32_t)(ip->destination[i] << 8 | ip->destination[i + 1]);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t) ~(sum + (sum >> 16));
}

static uint8_t *put_ip(uint8_t *at, const struct frame_ip *ip, uint32_t bytes)
{
    uint8_t class = (uint8_t)(ip->dscp << 2 | (ip->ecn & 3));
    if (ip->v6) {
        at = put32(at, 6u << 28 | (uint32_t) class << 20 | (ip->flow_label & 0xfffffu));
        at = put8(put8(put16(at, bytes), PROTOCOL_UDP), ip->hop_limit);
        return put_bytes(put_bytes(at, ip->source, 16), ip->destination, 16);
    }
    at = put16(put8(put8(at, 0x45), class), IPV4_BYTES + bytes);
    at = put16(put16(at, ip->identification), DO_NOT_FRAGMENT);
    at = put16(put8(put8(at, ip->hop_limit), PROTOCOL_UDP), ip_checksum(ip, class, IPV4_BYTES + bytes));
    return put_bytes(put_bytes(at, ip->source, 4), ip->destination, 4);
}

static uint8_t *put_bth(uint8_t *at, const struct frame_bth *b, uint32_t pad)
{
    at = put8(at, b->opcode);
    at =
        put8(at, (uint8_t)((b->solicited ? BTH_SOLICITED : 0) | (b->migrated ? BTH_MIGRATED : 0) | pad << 4));
    at = put16(at, b->partition);
    at = put8(at, (b->fecn ? BTH_FECN : 0) | (b->becn ? BTH_BECN : 0));
    at = put8(put24(at, b->qpn), b->ack_request ? BTH_ASKS_ACK : 0);
    return put24(at, b->psn);
}

static uint8_t *put_zeros(uint8_t *at, uint32_t count)
{
    memset(at, 0, count);
    return at + count;
}

/* Extension headers, in the order of the specification. */
static uint8_t *put_extensions(uint8_t *at, const struct frame_roce *r)
{
    const struct opcode_row *row = opcode_find(r->bth.opcode);
    if (!row || r->bth.opcode == OPCODE_CNP)
        return put_zeros(at, opcode_header_bytes(r->bth.opcode));
    if (OPCODE_SERVICE(r->bth.opcode) == OPCODE_XRC && !row->response)
        at = put_zeros(at, 4); /* the receive queue */
    if (OPCODE_SERVICE(r->bth.opcode) == OPCODE_UD)
        at = put32(put32(at, r->queue_key), r->source_qpn & 0xffffffu);
    if (row->feth)
        at = put32(at, r->flush);
    if (row->reth || row->atomic)
        at = put32(put64(at, r->reth.address), r->reth.key);
    if (row->reth)
        at = put32(at, r->reth.length);
    if (row->atomic)
        at = put64(put64(at, r->swap), r->compare);
    if (row->aeth)
        at = put24(put8(at, r->aeth.syndrome), r->aeth.msn);
    if (row->atomic_answer)
        at = put64(at, r->compare);
    if (row->immediate)
        at = put32(at, r->immediate);
    return at;
}

/* ---- writing: frames */

/* The rest behind the headers, zeros but for the ICRC, as far as there is room. */
static size_t write_rest(const uint8_t *headers, size_t header_bytes, size_t length, uint8_t *at, size_t room)
{
    size_t bytes = length < room ? length : room;
    memcpy(at, headers, header_bytes < bytes ? header_bytes : bytes);
    if (bytes > header_bytes)
        memset(at + header_bytes, 0, bytes - header_bytes);
    return bytes;
}

static size_t write_roce(const struct frame *f, uint8_t *at, size_t room)
{
    const struct frame_roce *r = &f->roce;
    uint8_t headers[FRAME_MOST_HEADER_BYTES];
    uint32_t datagram_bytes = udp_bytes(r);
    uint8_t *ip = put_ethernet(headers, &f->ethernet, r->ip.v6 ? FRAME_TYPE_IPV6 : FRAME_TYPE_IPV4);
    uint8_t *end = put_ip(ip, &r->ip, datagram_bytes);
    end = put16(put16(end, r->source_port), FRAME_ROCE_PORT);
    end = put16(put16(end, datagram_bytes), 0);
    end = put_extensions(put_bth(end, &r->bth, pad_bytes(r)), r);
    size_t crc_at = (size_t)(ip - headers) + ip_bytes(r) + datagram_bytes - FRAME_ICRC_BYTES;
    size_t bytes =
        write_rest(headers, (size_t)(end - headers), padded_bytes(crc_at + FRAME_ICRC_BYTES), at, room);
    if (bytes <= crc_at)
        return bytes;
    uint32_t crc = icrc(ip, ip_bytes(r), (size_t)(end - ip), r->payload_bytes + pad_bytes(r));
    for (size_t i = crc_at; i < bytes && i < crc_at + FRAME_ICRC_BYTES; i++)
        at[i] = (uint8_t)(crc >> 8 * (i - crc_at));
    return bytes;
}

static size_t write_control(const struct frame *f, uint8_t *at, size_t room)
{
    uint8_t headers[FRAME_MOST_HEADER_BYTES];
    uint8_t *end = put_ethernet(headers, &f->ethernet, FRAME_TYPE_CONTROL);
    if (f->kind == FRAME_PAUSE) {
        end = put16(put16(end, FRAME_CONTROL_PAUSE), f->pause_quanta);
    } else {
        end = put16(put16(end, FRAME_CONTROL_PFC), f->pfc.priorities);
        for (unsigned i = 0; i < FRAME_PRIORITIES; i++)
            end = put16(end, f->pfc.quanta[i]);
    }
    return write_rest(headers, (size_t)(end - headers), frame_length(f), at, room);
}

size_t frame_write(const struct frame *f, uint8_t *at, size_t room)
{
    switch (f->kind) {
    case FRAME_ROCE:
        return write_roce(f, at, room);
    case FRAME_PFC:
    case FRAME_PAUSE:
        return write_control(f, at, room);
    case FRAME_OTHER:
    case FRAME_CUT:
        break;
    }
    return 0;
}
