// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Large sends: a TCP or UDP packet cut into segments, each with headers of its own. */
#include "virtual-connectx/model/ethernet/ethernet.h"

/* positions in headers */
#define IPV4_LENGTH   2
#define IPV4_ID       4
#define IPV6_LENGTH   4
#define IPV6_BYTES    40u
#define TCP_SEQUENCE  4
#define TCP_FLAG_BYTE 13
#define UDP_LENGTH    4

uint32_t vcx_segment_bytes(const struct vcx_sq_message *m)
{
    return (uint32_t)vcx_least(m->segment_bytes, m->frame->length - m->headers.payload - m->sent);
}

static void write_ip(const struct vcx_sq_message *m, uint8_t *frame, uint32_t length)
{
    uint8_t *ip = frame + m->headers.l3;
    if (m->headers.version == 6) {
        vcx_put16(ip + IPV6_LENGTH, (uint16_t)(length - m->headers.l3 - IPV6_BYTES));
        return;
    }
    vcx_put16(ip + IPV4_LENGTH, (uint16_t)(length - m->headers.l3));
    vcx_put16(ip + IPV4_ID, (uint16_t)(vcx_be16(ip + IPV4_ID) + m->segment));
}

/* What belongs to the begin of the data is told in the first segment only, what belongs to its end in the last. */
static void write_tcp(const struct vcx_sq_message *m, uint8_t *tcp, bool last)
{
    vcx_put32(tcp + TCP_SEQUENCE, vcx_be32(tcp + TCP_SEQUENCE) + m->sent);
    if (m->segment)
        tcp[TCP_FLAG_BYTE] &= (uint8_t)~VCX_TCP_CWR;
    if (!last)
        tcp[TCP_FLAG_BYTE] &= (uint8_t) ~(VCX_TCP_FIN | VCX_TCP_PSH);
}

struct vcx_frame *vcx_segment(const struct vcx_sq_message *m)
{
    const struct vcx_headers *h = &m->headers;
    uint32_t bytes = vcx_segment_bytes(m), length = h->payload + bytes;
    struct vcx_frame *frame = vcx_frame_new((uint32_t)vcx_most(length, VCX_LEAST_FRAME));
    if (!frame)
        return NULL;
    memcpy(frame->data, m->frame->data, h->payload);
    memcpy(frame->data + h->payload, m->frame->data + h->payload + m->sent, bytes);
    frame->length = length;
    write_ip(m, frame->data, length);
    if (h->protocol == VCX_PROTOCOL_TCP)
        write_tcp(m, frame->data + h->l4, h->payload + m->sent + bytes == m->frame->length);
    else
        vcx_put16(frame->data + h->l4 + UDP_LENGTH, (uint16_t)(length - h->l4));
    struct vcx_headers own = *h;
    own.length = own.end = length;
    vcx_checksum_l3(&own, frame->data);
    vcx_checksum_l4(&own, frame->data);
    return frame;
}
