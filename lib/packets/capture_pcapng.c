/* Blocks of pcapng (draft-ietf-opsawg-pcapng, section 4). */
#include "lib/packets/capture_inside.h"

#include <string.h>

#define BLOCK_SECTION    0x0a0d0d0a
#define BLOCK_INTERFACE  1
#define BLOCK_PACKET_OLD 2
#define BLOCK_SIMPLE     3
#define BLOCK_STATISTICS 5
#define BLOCK_PACKET     6
#define BLOCK_CUSTOM     0xbad
#define ORDER_MAGIC      0x1a2b3c4d

#define BLOCK_CUSTOM_NO_COPY 0x40000bad

#define BLOCK_HEADER 8 /* type, length */
#define BLOCK_LEAST  12
#define SECTION_BODY 16 /* byte order, version, length */
#define PACKET_BODY  20 /* interface, time, lengths */

#define OPTION_NAME       2
#define OPTION_MAC        6
#define OPTION_SPEED      8
#define OPTION_RESOLUTION 9
#define OPTION_OFFSET     14
#define OPTION_FLAGS      2 /* of a packet */
#define OPTION_DROPS      4
#define OPTION_STAT_DROPS 5 /* of statistics */

/* A block that is whole in the buffer. */
struct block {
    uint32_t type, length;
    const uint8_t *body;
    size_t body_bytes;
};

static int refuse(const struct capture_reader *c, const struct block *b, struct error *e, const char *what)
{
    return error_set(e, "read %s: block of type 0x%x at byte %llu: %s", c->name, b->type,
                     (unsigned long long)c->taken, what);
}

/* The next option of a list: 1; 0: it has no more; -1: it goes beyond the block. */
static int next_option(const struct capture_reader *c, const uint8_t **at, const uint8_t *end, uint16_t *code,
                       const uint8_t **value, uint16_t *length)
{
    if (end - *at < 4)
        return 0;
    *code = capture_16(c, *at);
    *length = capture_16(c, *at + 2);
    *value = *at + 4;
    size_t padded = ((size_t)*length + 3) & ~(size_t)3;
    if (*code == 0)
        return 0;
    if (padded > (size_t)(end - *value))
        return -1;
    *at = *value + padded;
    return 1;
}

#define OPTION_REFUSED "an option is longer than the block"

/* ---- sections and interfaces */

/* The byte order must be known before the length: the section's own header says it. */
static int read_order(struct capture_reader *c, struct error *e)
{
    uint32_t order;
    memcpy(&order, capture_at(c) + BLOCK_HEADER, sizeof order);
    if (order != ORDER_MAGIC && order != __builtin_bswap32(ORDER_MAGIC))
        return error_set(e, "read %s: section at byte %llu: 0x%08x is no byte order, expected 0x%08x",
                         c->name, (unsigned long long)c->taken, order, ORDER_MAGIC);
    c->swapped = order != ORDER_MAGIC;
    return 0;
}

static int take_section(struct capture_reader *c, const struct block *b, struct error *e)
{
    if (b->body_bytes < SECTION_BODY)
        return refuse(c, b, e, "a section's header needs 28 bytes");
    if (capture_16(c, b->body + 4) != 1)
        return refuse(c, b, e, "not version 1 of pcapng");
    c->section_first = c->count;
    return 0;
}

/* if_tsresol: a power of ten or of two. */
static void set_resolution(struct capture_interface *i, uint8_t value)
{
    unsigned int power = value & 0x7f;
    i->binary = 0;
    i->multiply = i->divide = 1;
    if (value & 0x80) {
        i->binary = (uint8_t)power;
        i->multiply = power ? 1 : 1000000000;
        return;
    }
    for (; power < 9; power++)
        i->multiply *= 10;
    for (; power > 9 && i->divide < UINT64_MAX / 10; power--)
        i->divide *= 10;
}

static void take_interface_option(const struct capture_reader *c, struct capture_interface *i, uint16_t code,
                                  const uint8_t *value, uint16_t length)
{
    if (code == OPTION_NAME) {
        size_t bytes = length < CAPTURE_NAME_SIZE - 1 ? length : CAPTURE_NAME_SIZE - 1;
        memcpy(i->name, value, bytes);
        i->name[bytes] = 0;
    } else if (code == OPTION_MAC && length == 6) {
        memcpy(i->address, value, 6);
        i->addressed = true;
    } else if (code == OPTION_SPEED && length == 8) {
        uint64_t bps = capture_64(c, value);
        i->rate_bps = bps >= CAPTURE_LEAST_BPS && bps <= CAPTURE_MOST_BPS ? (int64_t)bps : 0;
    } else if (code == OPTION_RESOLUTION && length >= 1) {
        set_resolution(i, value[0]);
    } else if (code == OPTION_OFFSET && length == 8) {
        i->offset_s = (int64_t)capture_64(c, value);
    }
}

static int take_interface(struct capture_reader *c, const struct block *b, struct error *e)
{
    if (b->body_bytes < 8)
        return refuse(c, b, e, "an interface's description needs 20 bytes");
    struct capture_interface *i =
        capture_add_interface(c, capture_16(c, b->body), capture_32(c, b->body + 4), e);
    if (!i)
        return -1;
    const uint8_t *at = b->body + 8, *value;
    uint16_t code, length;
    int more;
    while ((more = next_option(c, &at, b->body + b->body_bytes, &code, &value, &length)) > 0)
        take_interface_option(c, i, code, value, length);
    return more < 0 ? refuse(c, b, e, OPTION_REFUSED) : 0;
}

/* How many packets an interface lost until now. */
static int take_statistics(struct capture_reader *c, const struct block *b, struct error *e)
{
    if (b->body_bytes < 12)
        return refuse(c, b, e, "statistics need 24 bytes");
    uint32_t of = capture_32(c, b->body);
    if (of >= c->count - c->section_first)
        return refuse(c, b, e, "statistics of an interface that the section does not have");
    const uint8_t *at = b->body + 12, *value;
    uint16_t code, length;
    int more;
    while ((more = next_option(c, &at, b->body + b->body_bytes, &code, &value, &length)) > 0)
        if (code == OPTION_STAT_DROPS && length == 8 &&
            capture_64(c, value) > c->interfaces[c->section_first + of].dropped)
            c->interfaces[c->section_first + of].dropped = capture_64(c, value);
    return more < 0 ? refuse(c, b, e, OPTION_REFUSED) : 0;
}

/* ---- packets */

/* Direction, and packets that were lost before it. */
static int take_packet_options(struct capture_reader *c, const struct block *b, const uint8_t *at,
                               struct capture_packet *packet, struct error *e)
{
    const uint8_t *value;
    uint16_t code, length;
    int more;
    while ((more = next_option(c, &at, b->body + b->body_bytes, &code, &value, &length)) > 0) {
        if (code == OPTION_FLAGS && length == 4) {
            uint32_t direction = capture_32(c, value) & 3;
            packet->direction = direction == 1   ? CAPTURE_INBOUND
                                : direction == 2 ? CAPTURE_OUTBOUND
                                                 : CAPTURE_UNKNOWN;
        } else if (code == OPTION_DROPS && length == 8) {
            c->interfaces[packet->interface].dropped += capture_64(c, value);
        }
    }
    return more < 0 ? refuse(c, b, e, OPTION_REFUSED) : 1;
}

/* Enhanced packet blocks and their obsolete forerunner. */
static int take_packet(struct capture_reader *c, const struct block *b, struct capture_packet *packet,
                       struct error *e)
{
    if (b->body_bytes < PACKET_BODY)
        return refuse(c, b, e, "a packet's block needs 32 bytes");
    uint32_t of = b->type == BLOCK_PACKET ? capture_32(c, b->body) : capture_16(c, b->body);
    uint64_t units = (uint64_t)capture_32(c, b->body + 4) << 32 | capture_32(c, b->body + 8);
    uint32_t captured = capture_32(c, b->body + 12), original = capture_32(c, b->body + 16);
    if (of >= c->count - c->section_first)
        return refuse(c, b, e, "a packet of an interface that the section does not have");
    if (captured > CAPTURE_MOST_BYTES)
        return refuse(c, b, e, "a packet has more than 262144 bytes");
    size_t padded = ((size_t)captured + 3) & ~(size_t)3;
    if (padded > b->body_bytes - PACKET_BODY)
        return refuse(c, b, e, "a packet is longer than its block");
    of += c->section_first;
    if (!capture_is_ethernet(c, of, e))
        return -1;
    *packet = (struct capture_packet){
        .number = ++c->number,
        .time_ns = capture_time_ns(&c->interfaces[of], units),
        .timed = true,
        .interface = of,
        .captured = captured,
        .original = original > captured ? original : captured,
        .bytes = b->body + PACKET_BODY,
    };
    return take_packet_options(c, b, b->body + PACKET_BODY + padded, packet, e);
}

static int take_simple(struct capture_reader *c, const struct block *b, struct capture_packet *packet,
                       struct error *e)
{
    if (b->body_bytes < 4)
        return refuse(c, b, e, "a simple packet's block needs 16 bytes");
    if (c->count == c->section_first)
        return refuse(c, b, e, "a packet of an interface that the section does not have");
    if (!capture_is_ethernet(c, c->section_first, e))
        return -1;
    uint32_t original = capture_32(c, b->body), snap = c->interfaces[c->section_first].snap_bytes;
    uint32_t captured = original;
    if (snap && captured > snap)
        captured = snap;
    if (captured > CAPTURE_MOST_BYTES || captured > b->body_bytes - 4)
        return refuse(c, b, e, "a packet is longer than its block");
    *packet = (struct capture_packet){
        .number = ++c->number,
        .interface = c->section_first,
        .captured = captured,
        .original = original,
        .bytes = b->body + 4,
    };
    return 1;
}

/* ---- blocks */

/* Blocks that are no packets of a network, but that Wireshark (4.0) numbers with these: journals of systemd, events of sysdig, custom
 * blocks. */
static bool is_numbered(uint32_t type)
{
    return type == 9 || type == BLOCK_CUSTOM || type == BLOCK_CUSTOM_NO_COPY || type == 0x204 ||
           type == 0x208 || type == 0x216 || type == 0x221 || type == 0x222;
}

static bool is_known(uint32_t type)
{
    return type == BLOCK_SECTION || (type >= BLOCK_INTERFACE && type <= BLOCK_SIMPLE) ||
           type == BLOCK_STATISTICS || type == BLOCK_PACKET;
}

/* A block that is not looked into may be of any length. */
static int skip(struct capture_reader *c, const struct block *b, struct error *e)
{
    uint64_t begin = c->taken, left = b->length;
    while (left > 0) {
        ssize_t there = capture_have(c, left < 65536 ? (size_t)left : 65536, e);
        if (there < 0)
            return -1;
        if (there == 0) {
            uint64_t end = c->taken;
            c->taken = begin;
            capture_is_cut(c, "a block", b->length, end - begin);
            c->taken = end;
            return 1;
        }
        capture_take(c, (size_t)there);
        left -= (uint64_t)there;
    }
    c->number += is_numbered(b->type);
    return 0;
}

/* The block's header, without taking it: 1; 0: the file ends here. */
static int read_header(struct capture_reader *c, struct block *b, struct error *e)
{
    ssize_t there = capture_have(c, BLOCK_LEAST, e);
    if (there <= 0)
        return (int)there;
    if (there < BLOCK_LEAST)
        return capture_is_cut(c, "a block", BLOCK_LEAST, (uint64_t)there);
    b->type = capture_32(c, capture_at(c));
    if (b->type == BLOCK_SECTION && read_order(c, e) != 0)
        return -1;
    b->length = capture_32(c, capture_at(c) + 4);
    if (b->length < BLOCK_LEAST || b->length % 4)
        return error_set(
            e,
            "read %s: block of type 0x%x at byte %llu says it has %u bytes, expected a multiple of 4 "
            "that is at least 12",
            c->name, b->type, (unsigned long long)c->taken, b->length);
    return 1;
}

/* All of a block that is looked into: 1; 0: the file ends within it. */
static int read_whole(struct capture_reader *c, struct block *b, struct error *e)
{
    if (b->length > CAPTURE_MOST_PIECE)
        return error_set(e,
                         "read %s: block of type 0x%x at byte %llu says it has %u bytes, expected at most %u",
                         c->name, b->type, (unsigned long long)c->taken, b->length, CAPTURE_MOST_PIECE);
    ssize_t there = capture_have(c, b->length, e);
    if (there < 0)
        return -1;
    if ((size_t)there < b->length)
        return capture_is_cut(c, "a block", b->length, (uint64_t)there);
    b->body = capture_at(c) + BLOCK_HEADER;
    b->body_bytes = b->length - BLOCK_LEAST;
    if (capture_32(c, b->body + b->body_bytes) != b->length)
        return refuse(c, b, e, "its length at its end is another one than at its beginning");
    return 1;
}

static int take_block(struct capture_reader *c, const struct block *b, struct capture_packet *packet,
                      struct error *e)
{
    switch (b->type) {
    case BLOCK_SECTION:
        return take_section(c, b, e);
    case BLOCK_INTERFACE:
        return take_interface(c, b, e);
    case BLOCK_STATISTICS:
        return take_statistics(c, b, e);
    case BLOCK_SIMPLE:
        return take_simple(c, b, packet, e);
    default:
        return take_packet(c, b, packet, e);
    }
}

int capture_read_block(struct capture_reader *c, struct capture_packet *packet, struct error *e)
{
    struct block b = {0};
    int result;
    while ((result = read_header(c, &b, e)) > 0) {
        if (!is_known(b.type)) {
            result = skip(c, &b, e);
            if (result != 0)
                return result < 0 ? -1 : 0;
            continue;
        }
        if ((result = read_whole(c, &b, e)) <= 0)
            return result;
        result = take_block(c, &b, packet, e);
        if (result < 0)
            return -1;
        capture_take(c, b.length); /* its bytes stay where they are until the next call */
        if (result > 0)
            return 1;
    }
    return result;
}
