/*
 * Reads files of captured frames: their bytes piece by piece, the records of a pcap, and the blocks of a
 * pcapng (draft-ietf-opsawg-pcapng, section 4).
 */
#include "lib/packets/capture_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_ROOM      (128u << 10) /* of the buffer: what is read at once */
#define FILE_HEADER     24           /* bytes of a pcap's header */
#define RECORD_HEADER   16           /* and before each of its packets */
#define MAGIC_US        0xa1b2c3d4
#define MAGIC_NS        0xa1b23c4d
#define MAGIC_KUZNETZOV 0xa1b2cd34
#define MAGIC_GZIP      0x1f8b

#define NS_A_S 1000000000

#define LINK_ETHERNET 1
#define MOST_PIECE    (1u << 20) /* bytes that are looked at together */

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

#define OPTION_NAME          2
#define OPTION_MAC           6
#define OPTION_SPEED         8
#define OPTION_RESOLUTION    9
#define OPTION_OFFSET        14
#define OPTION_FLAGS         2 /* of a packet */
#define OPTION_DROPS         4
#define OPTION_STAT_DROPS    5 /* of statistics: by the interface, */
#define OPTION_STAT_OS_DROPS 7 /* and by the operating system */

struct capture_reader {
    capture_source *read;
    void *context;
    int fd; /* of capture_read_of */
    const char *name;
    uint8_t *buffer; /* bytes from..to are not taken yet */
    size_t room, from, to;
    uint64_t taken; /* bytes of the file before `from` */
    bool at_end;
    bool swapped; /* not this machine's byte order */
    bool pcapng;
    uint64_t number; /* of the last packet */
    bool any;        /* there was one of Ethernet */
    struct capture_interface *interfaces;
    uint32_t count, room_interfaces;
    uint32_t section_first;             /* the section's first interface */
    uint64_t section_at, section_bytes; /* where it begins behind its header, and its length; 0: not stated */
    struct error cut;                   /* text "": not cut */
};

/* ---- bytes */

static uint16_t field_16(const struct capture_reader *c, const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return c->swapped ? __builtin_bswap16(value) : value;
}

static uint32_t field_32(const struct capture_reader *c, const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return c->swapped ? __builtin_bswap32(value) : value;
}

static uint64_t field_64(const struct capture_reader *c, const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return c->swapped ? __builtin_bswap64(value) : value;
}

static const uint8_t *bytes_at(const struct capture_reader *c)
{
    return c->buffer + c->from;
}

static void drop_bytes(struct capture_reader *c, size_t bytes)
{
    c->from += bytes;
    c->taken += bytes;
}

/* Make room for `wanted` bytes behind `from`. */
static int make_room(struct capture_reader *c, size_t wanted, struct error *e)
{
    memmove(c->buffer, c->buffer + c->from, c->to - c->from);
    c->to -= c->from;
    c->from = 0;
    if (wanted <= c->room)
        return 0;
    size_t room = c->room;
    while (room < wanted)
        room *= 2;
    uint8_t *buffer = realloc(c->buffer, room);
    if (!buffer)
        return error_set(e, "read %s: out of memory for %zu bytes", c->name, room);
    c->buffer = buffer;
    c->room = room;
    return 0;
}

/* How many of the next `wanted` bytes there are, in one piece at bytes_at(); fewer only at the end. -1:
 * error. `wanted` is at most MOST_PIECE. */
static ssize_t have_bytes(struct capture_reader *c, size_t wanted, struct error *e)
{
    if (c->to - c->from >= wanted)
        return (ssize_t)wanted;
    if (make_room(c, wanted, e) != 0)
        return -1;
    while (c->to < wanted && !c->at_end) {
        ssize_t got = c->read(c->context, c->buffer + c->to, c->room - c->to);
        if (got < 0)
            return error_set_errno(e, errno, "read %s after %llu bytes", c->name,
                                   (unsigned long long)(c->taken + c->to));
        c->at_end = got == 0;
        c->to += (size_t)got;
    }
    return (ssize_t)(c->to < wanted ? c->to : wanted);
}

/* The file ends within `what`: returns 0 and keeps a sentence. */
static int note_cut(struct capture_reader *c, const char *what, uint64_t wanted, uint64_t there)
{
    error_set(&c->cut, "%s is cut short: %s at byte %llu has %llu of %llu bytes", c->name, what,
              (unsigned long long)c->taken, (unsigned long long)there, (unsigned long long)wanted);
    return 0;
}

/* A power cut may leave zeros in place of what was written last: a header of these is the file's end, too. */
static bool is_zeros(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return false;
    return true;
}

static int note_zeros(struct capture_reader *c)
{
    error_set(&c->cut, "%s is cut short: there are zeros from byte %llu on, as a power cut leaves them",
              c->name, (unsigned long long)c->taken);
    return 0;
}

/* ---- interfaces and times */

/* A new interface of the section, with times in microseconds; NULL: there are too many. */
static struct capture_interface *add_interface(struct capture_reader *c, uint16_t link_type,
                                               uint32_t snap_bytes, struct error *e)
{
    if (c->count == CAPTURE_MOST_INTERFACES) {
        error_set(e, "read %s: byte %llu: more than %d interfaces", c->name, (unsigned long long)c->taken,
                  CAPTURE_MOST_INTERFACES);
        return NULL;
    }
    if (c->count == c->room_interfaces) {
        uint32_t room = c->room_interfaces ? c->room_interfaces * 2 : 4;
        struct capture_interface *more = realloc(c->interfaces, room * sizeof *more);
        if (!more) {
            error_set(e, "read %s: out of memory for %u interfaces", c->name, room);
            return NULL;
        }
        c->interfaces = more;
        c->room_interfaces = room;
    }
    struct capture_interface *i = &c->interfaces[c->count++];
    *i = (struct capture_interface){
        .link_type = link_type, .snap_bytes = snap_bytes, .multiply = 1000, .divide = 1};
    return i;
}

/* Link types that RDMA is captured with, and what to do in place of it. */
static const struct link_type {
    uint16_t type;
    const char *name, *advice;
} link_types[] = {{0, "BSD loopback", NULL},
                  {101, "raw IP", "capture the Ethernet interface below it"},
                  {105, "IEEE 802.11", NULL},
                  {113, "Linux \"any\"", "capture the interface itself: tcpdump -i eth1"},
                  {127, "radiotap", NULL},
                  {197, "ERF", "ibdump writes it of InfiniBand ports, whose packets are not RoCE"},
                  {220, "USB", NULL},
                  {228, "raw IPv4", "capture the Ethernet interface below it"},
                  {229, "raw IPv6", "capture the Ethernet interface below it"},
                  {247, "InfiniBand",
                   "the port's packets are not RoCE: let it run as Ethernet (mlxconfig LINK_TYPE_P1=2), or "
                   "leave this file"},
                  {253, "Linux netlink", NULL},
                  {276, "Linux \"any\"", "capture the interface itself: tcpdump -i eth1"},
                  {0, NULL, NULL}};

static const struct link_type *find_link_type(uint16_t type)
{
    static const struct link_type unknown = {0, "not known here", "capture an Ethernet interface"};
    for (size_t i = 0; link_types[i].name; i++)
        if (link_types[i].type == type)
            return &link_types[i];
    return &unknown;
}

const char *capture_link_name(uint16_t type, const char **advice)
{
    const struct link_type *found = find_link_type(type);
    *advice = found->advice;
    return found->name;
}

/* Packets of other interfaces are counted, and have their numbers. */
static bool leave_out(struct capture_reader *c, uint32_t interface)
{
    bool ethernet = c->interfaces[interface].link_type == LINK_ETHERNET;
    c->number += !ethernet;
    c->interfaces[interface].left_out += !ethernet;
    return !ethernet;
}

/* Does the interface have Ethernet frames? Otherwise an error. */
static bool check_ethernet(const struct capture_reader *c, uint32_t interface, struct error *e)
{
    uint16_t type = c->interfaces[interface].link_type;
    const struct link_type *found = find_link_type(type);
    if (type != LINK_ETHERNET)
        error_set(e, "read %s: interface %u has link type %u (%s); only Ethernet (%d) can be read%s%s",
                  c->name, interface, type, found->name, LINK_ETHERNET, found->advice ? ": " : "",
                  found->advice ? found->advice : "");
    return type == LINK_ETHERNET;
}

/* a * b, which is a time; false: it is above CAPTURE_MOST_TIME_NS. */
static bool multiply_time(uint64_t a, uint64_t b, int64_t *into)
{
    uint64_t result;
    if (__builtin_mul_overflow(a, b, &result) || result > CAPTURE_MOST_TIME_NS)
        return false;
    *into = (int64_t)result;
    return true;
}

/* A time of the interface in nanoseconds; false: it is not within what struct capture_packet says. */
static bool read_time(const struct capture_interface *i, uint64_t units, int64_t *ns)
{
    bool within;
    if (i->binary) {
        uint64_t whole = i->binary < 64 ? units >> i->binary : 0;
        uint64_t rest = i->binary < 64 ? units & ((UINT64_C(1) << i->binary) - 1) : units;
        unsigned int shift = i->binary;
        if (shift > 32) { /* the product below has 64 bits */
            rest = shift - 32 < 64 ? rest >> (shift - 32) : 0;
            shift = 32;
        }
        within = multiply_time(whole, NS_A_S, ns);
        if (within)
            *ns += (int64_t)(rest * NS_A_S >> shift);
    } else {
        within =
            i->divide == 1 ? multiply_time(units, i->multiply, ns) : multiply_time(units / i->divide, 1, ns);
    }
    if (within && i->offset_s) {
        int64_t offset;
        within = multiply_time(i->offset_s < 0 ? 0 - (uint64_t)i->offset_s : (uint64_t)i->offset_s, NS_A_S,
                               &offset);
        if (within)
            *ns += i->offset_s < 0 ? -offset : offset;
    }
    return within && *ns >= 0 && *ns <= CAPTURE_MOST_TIME_NS;
}

int64_t capture_unit_ns(const struct capture_interface *i)
{
    int64_t ns = i->binary       ? i->binary < 30 ? NS_A_S >> i->binary : 1
                 : i->divide > 1 ? 1
                                 : (int64_t)i->multiply;
    return ns > 1 ? ns : 1;
}

/* ---- pcap */

static int read_next_record(struct capture_reader *c, struct capture_packet *packet, struct error *e)
{
    ssize_t there = have_bytes(c, RECORD_HEADER, e);
    if (there <= 0)
        return (int)there;
    if (there < RECORD_HEADER)
        return note_cut(c, "the header of a packet", RECORD_HEADER, (uint64_t)there);
    const uint8_t *header = bytes_at(c);
    if (is_zeros(header, RECORD_HEADER))
        return note_zeros(c);
    uint32_t s = field_32(c, header), fraction = field_32(c, header + 4);
    uint32_t captured = field_32(c, header + 8), original = field_32(c, header + 12);
    if ((s == MAGIC_US || s == MAGIC_NS) && field_16(c, header + 4) == 2 && !captured)
        return error_set(e,
                         "read %s: another pcap begins at byte %llu; mergecap -a -w NEW FIRST SECOND puts "
                         "files together",
                         c->name, (unsigned long long)c->taken);
    if (captured > CAPTURE_MOST_BYTES)
        return error_set(e, "read %s: byte %llu: packet %llu has %u bytes, expected at most %d", c->name,
                         (unsigned long long)c->taken, (unsigned long long)c->number + 1, captured,
                         CAPTURE_MOST_BYTES);
    there = have_bytes(c, RECORD_HEADER + captured, e);
    if (there < 0)
        return -1;
    if ((size_t)there < RECORD_HEADER + captured)
        return note_cut(c, "a packet", RECORD_HEADER + captured, (uint64_t)there);
    uint64_t fraction_ns = fraction * c->interfaces[0].multiply;
    bool timed = fraction_ns < NS_A_S; /* nanoseconds in a file of microseconds are not its times */
    *packet = (struct capture_packet){
        .number = ++c->number,
        .time_ns = timed ? (int64_t)s * NS_A_S + (int64_t)fraction_ns : 0,
        .timed = timed,
        .beyond = !timed,
        .captured = captured,
        .original = original > captured ? original : captured,
        .bytes = bytes_at(c) + RECORD_HEADER,
    };
    drop_bytes(c, RECORD_HEADER + captured);
    return 1;
}

static int read_pcap_header(struct capture_reader *c, bool nanoseconds, struct error *e)
{
    ssize_t there = have_bytes(c, FILE_HEADER, e);
    if (there < 0)
        return -1;
    if (there < FILE_HEADER)
        return error_set(e, "read %s: it ends within the header of a pcap, after %zd of %d bytes", c->name,
                         there, FILE_HEADER);
    const uint8_t *header = bytes_at(c);
    uint16_t version = field_16(c, header + 4);
    if (version != 2)
        return error_set(e, "read %s: a pcap of version %u, expected 2", c->name, version);
    /* the upper bits of the link type say how long an FCS is */
    struct capture_interface *i =
        add_interface(c, (uint16_t)field_32(c, header + 20), field_32(c, header + 16), e);
    if (!i || !check_ethernet(c, 0, e))
        return -1;
    i->multiply = nanoseconds ? 1 : 1000;
    drop_bytes(c, FILE_HEADER);
    return 0;
}

/* ---- pcapng: options */

/* A block that is whole in the buffer. */
struct block {
    uint32_t type, length;
    const uint8_t *body;
    size_t body_bytes;
};

static int refuse_block(const struct capture_reader *c, const struct block *b, struct error *e,
                        const char *what)
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
    *code = field_16(c, *at);
    *length = field_16(c, *at + 2);
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

/* ---- pcapng: sections and interfaces */

/* The byte order must be known before the length: the section's own header says it. */
static int read_byte_order(struct capture_reader *c, struct error *e)
{
    uint32_t order;
    memcpy(&order, bytes_at(c) + BLOCK_HEADER, sizeof order);
    if (order != ORDER_MAGIC && order != __builtin_bswap32(ORDER_MAGIC))
        return error_set(e, "read %s: section at byte %llu: 0x%08x is not a byte order: expected 0x%08x",
                         c->name, (unsigned long long)c->taken, order, ORDER_MAGIC);
    c->swapped = order != ORDER_MAGIC;
    return 0;
}

static int read_section(struct capture_reader *c, const struct block *b, struct error *e)
{
    if (b->body_bytes < SECTION_BODY)
        return refuse_block(c, b, e, "a section's header needs 28 bytes");
    if (field_16(c, b->body + 4) != 1)
        return refuse_block(c, b, e, "not version 1 of pcapng");
    uint64_t bytes = field_64(c, b->body + 8);
    c->section_first = c->count;
    c->section_at = c->taken + b->length;
    c->section_bytes = bytes <= INT64_MAX ? bytes : 0;
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

static void read_interface_option(const struct capture_reader *c, struct capture_interface *i, uint16_t code,
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
        uint64_t bps = field_64(c, value);
        i->rate_bps = bps >= CAPTURE_LEAST_BPS && bps <= CAPTURE_MOST_BPS ? (int64_t)bps : 0;
    } else if (code == OPTION_RESOLUTION && length >= 1) {
        set_resolution(i, value[0]);
    } else if (code == OPTION_OFFSET && length == 8) {
        i->offset_s = (int64_t)field_64(c, value);
    }
}

static int read_interface(struct capture_reader *c, const struct block *b, struct error *e)
{
    if (b->body_bytes < 8)
        return refuse_block(c, b, e, "an interface's description needs 20 bytes");
    struct capture_interface *i = add_interface(c, field_16(c, b->body), field_32(c, b->body + 4), e);
    if (!i)
        return -1;
    const uint8_t *at = b->body + 8, *value;
    uint16_t code, length;
    int more;
    while ((more = next_option(c, &at, b->body + b->body_bytes, &code, &value, &length)) > 0)
        read_interface_option(c, i, code, value, length);
    return more < 0 ? refuse_block(c, b, e, OPTION_REFUSED) : 0;
}

/* How many packets an interface lost until now. */
static int read_statistics(struct capture_reader *c, const struct block *b, struct error *e)
{
    if (b->body_bytes < 12)
        return refuse_block(c, b, e, "statistics need 24 bytes");
    uint32_t of = field_32(c, b->body);
    if (of >= c->count - c->section_first) /* no packet hangs on them */
        return 0;
    const uint8_t *at = b->body + 12, *value;
    uint16_t code, length;
    int more;
    uint64_t dropped = 0, *until_now = &c->interfaces[c->section_first + of].dropped;
    while ((more = next_option(c, &at, b->body + b->body_bytes, &code, &value, &length)) > 0)
        if ((code == OPTION_STAT_DROPS || code == OPTION_STAT_OS_DROPS) && length == 8) {
            c->interfaces[c->section_first + of].counted |= code == OPTION_STAT_DROPS;
            if (__builtin_add_overflow(dropped, field_64(c, value), &dropped))
                dropped = UINT64_MAX;
        }
    if (dropped > *until_now)
        *until_now = dropped;
    return more < 0 ? refuse_block(c, b, e, OPTION_REFUSED) : 0;
}

/* ---- pcapng: packets */

/* Direction, and packets that were lost before it. */
static int read_packet_options(struct capture_reader *c, const struct block *b, const uint8_t *at,
                               struct capture_packet *packet, struct error *e)
{
    const uint8_t *value;
    uint16_t code, length;
    int more;
    while ((more = next_option(c, &at, b->body + b->body_bytes, &code, &value, &length)) > 0) {
        if (code == OPTION_FLAGS && length == 4) {
            uint32_t direction = field_32(c, value) & 3;
            packet->direction = direction == 1   ? CAPTURE_INBOUND
                                : direction == 2 ? CAPTURE_OUTBOUND
                                                 : CAPTURE_UNKNOWN;
        } else if (code == OPTION_DROPS && length == 8) {
            c->interfaces[packet->interface].dropped += field_64(c, value);
        }
    }
    return more < 0 ? refuse_block(c, b, e, OPTION_REFUSED) : 1;
}

/* Enhanced packet blocks and their obsolete forerunner. */
static int read_packet(struct capture_reader *c, const struct block *b, struct capture_packet *packet,
                       struct error *e)
{
    if (b->body_bytes < PACKET_BODY)
        return refuse_block(c, b, e, "a packet's block needs 32 bytes");
    uint32_t of = b->type == BLOCK_PACKET ? field_32(c, b->body) : field_16(c, b->body);
    uint64_t units = (uint64_t)field_32(c, b->body + 4) << 32 | field_32(c, b->body + 8);
    uint32_t captured = field_32(c, b->body + 12), original = field_32(c, b->body + 16);
    if (of >= c->count - c->section_first)
        return refuse_block(c, b, e, "a packet of an interface that the section does not have");
    if (captured > CAPTURE_MOST_BYTES)
        return refuse_block(c, b, e, "a packet has more than 262144 bytes");
    size_t padded = ((size_t)captured + 3) & ~(size_t)3;
    if (padded > b->body_bytes - PACKET_BODY)
        return refuse_block(c, b, e, "a packet is longer than its block");
    of += c->section_first;
    if (leave_out(c, of))
        return 0;
    *packet = (struct capture_packet){
        .number = ++c->number,
        .interface = of,
        .captured = captured,
        .original = original > captured ? original : captured,
        .bytes = b->body + PACKET_BODY,
    };
    int64_t time_ns;
    packet->timed = read_time(&c->interfaces[of], units, &time_ns);
    packet->time_ns = packet->timed ? time_ns : 0;
    packet->beyond = !packet->timed;
    return read_packet_options(c, b, b->body + PACKET_BODY + padded, packet, e);
}

static int read_simple_packet(struct capture_reader *c, const struct block *b, struct capture_packet *packet,
                              struct error *e)
{
    if (b->body_bytes < 4)
        return refuse_block(c, b, e, "a simple packet's block needs 16 bytes");
    if (c->count == c->section_first)
        return refuse_block(c, b, e, "a packet of an interface that the section does not have");
    if (leave_out(c, c->section_first))
        return 0;
    uint32_t original = field_32(c, b->body), snap = c->interfaces[c->section_first].snap_bytes;
    uint32_t captured = original;
    if (snap && captured > snap)
        captured = snap;
    if (captured > CAPTURE_MOST_BYTES || captured > b->body_bytes - 4)
        return refuse_block(c, b, e, "a packet is longer than its block");
    *packet = (struct capture_packet){
        .number = ++c->number,
        .interface = c->section_first,
        .captured = captured,
        .original = original,
        .bytes = b->body + 4,
    };
    return 1;
}

/* ---- pcapng: blocks */

/* Blocks that are not packets of a network, but that Wireshark (4.0) numbers with these: journals of systemd,
 * events of sysdig, custom blocks. */
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
static int skip_block(struct capture_reader *c, const struct block *b, struct error *e)
{
    uint64_t begin = c->taken, left = b->length;
    while (left > 0) {
        ssize_t there = have_bytes(c, left < 65536 ? (size_t)left : 65536, e);
        if (there < 0)
            return -1;
        if (there == 0) {
            uint64_t end = c->taken;
            c->taken = begin;
            note_cut(c, "a block", b->length, end - begin);
            c->taken = end;
            return 1;
        }
        drop_bytes(c, (size_t)there);
        left -= (uint64_t)there;
    }
    c->number += is_numbered(b->type);
    return 0;
}

/* The file ends between two blocks: is that before its section does? */
static int note_end(struct capture_reader *c)
{
    uint64_t end = c->taken;
    if (end - c->section_at >= c->section_bytes)
        return 0;
    c->taken = c->section_at;
    note_cut(c, "a section", c->section_bytes, end - c->section_at);
    c->taken = end;
    return 0;
}

/* The block's header, without taking it: 1; 0: the file ends here. */
static int read_block_header(struct capture_reader *c, struct block *b, struct error *e)
{
    ssize_t there = have_bytes(c, BLOCK_LEAST, e);
    if (there <= 0)
        return there < 0 ? -1 : note_end(c);
    if (there < BLOCK_LEAST)
        return note_cut(c, "a block", BLOCK_LEAST, (uint64_t)there);
    if (is_zeros(bytes_at(c), BLOCK_LEAST))
        return note_zeros(c);
    b->type = field_32(c, bytes_at(c));
    if (b->type == BLOCK_SECTION && read_byte_order(c, e) != 0)
        return -1;
    b->length = field_32(c, bytes_at(c) + 4);
    if (b->length < BLOCK_LEAST || b->length % 4)
        return error_set(
            e,
            "read %s: block of type 0x%x at byte %llu says it has %u bytes, expected a multiple of 4 "
            "that is at least 12",
            c->name, b->type, (unsigned long long)c->taken, b->length);
    return 1;
}

/* All of a block that is looked into: 1; 0: the file ends within it. */
static int read_whole_block(struct capture_reader *c, struct block *b, struct error *e)
{
    if (b->length > MOST_PIECE)
        return error_set(e,
                         "read %s: block of type 0x%x at byte %llu says it has %u bytes, expected at most %u",
                         c->name, b->type, (unsigned long long)c->taken, b->length, MOST_PIECE);
    ssize_t there = have_bytes(c, b->length, e);
    if (there < 0)
        return -1;
    if ((size_t)there < b->length)
        return note_cut(c, "a block", b->length, (uint64_t)there);
    b->body = bytes_at(c) + BLOCK_HEADER;
    b->body_bytes = b->length - BLOCK_LEAST;
    if (field_32(c, b->body + b->body_bytes) != b->length)
        return refuse_block(c, b, e, "its length at its end is another one than at its beginning");
    return 1;
}

static int take_block(struct capture_reader *c, const struct block *b, struct capture_packet *packet,
                      struct error *e)
{
    switch (b->type) {
    case BLOCK_SECTION:
        return read_section(c, b, e);
    case BLOCK_INTERFACE:
        return read_interface(c, b, e);
    case BLOCK_STATISTICS:
        return read_statistics(c, b, e);
    case BLOCK_SIMPLE:
        return read_simple_packet(c, b, packet, e);
    default:
        return read_packet(c, b, packet, e);
    }
}

/* The next packet of a pcapng, as capture_read_next. */
static int read_next_block(struct capture_reader *c, struct capture_packet *packet, struct error *e)
{
    struct block b = {0};
    int result;
    while ((result = read_block_header(c, &b, e)) > 0) {
        if (!is_known(b.type)) {
            result = skip_block(c, &b, e);
            if (result != 0)
                return result < 0 ? -1 : 0;
            continue;
        }
        if ((result = read_whole_block(c, &b, e)) <= 0)
            return result;
        result = take_block(c, &b, packet, e);
        if (result < 0)
            return -1;
        drop_bytes(c, b.length); /* its bytes stay where they are until the next call */
        if (result > 0)
            return 1;
    }
    return result;
}

/* ---- any file */

static int read_file_header(struct capture_reader *c, struct error *e)
{
    uint32_t magic = 0;
    ssize_t there = have_bytes(c, sizeof magic, e);
    if (there < 0)
        return -1;
    if (there == 0)
        return error_set(e, "read %s: it is empty, expected a pcap or pcapng file", c->name);
    if (there == sizeof magic)
        memcpy(&magic, bytes_at(c), sizeof magic);
    for (int turn = 0; turn < 2; turn++, magic = __builtin_bswap32(magic)) {
        c->swapped = turn == 1;
        if (magic == MAGIC_US || magic == MAGIC_NS)
            return read_pcap_header(c, magic == MAGIC_NS, e);
        if (magic == MAGIC_KUZNETZOV)
            return error_set(
                e, "read %s: Kuznetzov's variant of pcap; editcap -F pcapng makes a pcapng of it", c->name);
        if (magic == BLOCK_SECTION) { /* of either byte order */
            c->pcapng = true;
            return 0;
        }
    }
    const uint8_t *bytes = bytes_at(c);
    if (there >= 2 && (bytes[0] << 8 | bytes[1]) == MAGIC_GZIP)
        return error_set(e, "read %s: it is compressed; gunzip it first", c->name);
    return error_set(e, "read %s: neither pcap nor pcapng: it begins with %02x %02x", c->name, bytes[0],
                     there > 1 ? bytes[1] : 0u);
}

struct capture_reader *capture_read_new(capture_source *read, void *context, const char *name,
                                        struct error *e)
{
    struct capture_reader *c = calloc(1, sizeof *c);
    if (c)
        *c = (struct capture_reader){
            .read = read, .context = context, .name = name, .room = FIRST_ROOM, .buffer = malloc(FIRST_ROOM)};
    if (!c || !c->buffer) {
        error_set(e, "read %s: out of memory", name);
        free(c);
        return NULL;
    }
    if (read_file_header(c, e) == 0)
        return c;
    capture_read_free(c);
    return NULL;
}

static ssize_t read_descriptor(void *context, void *into, size_t room)
{
    const int *fd = context;
    ssize_t got;
    do
        got = read(*fd, into, room);
    while (got < 0 && errno == EINTR);
    return got;
}

struct capture_reader *capture_read_of(int fd, const char *name, struct error *e)
{
    int first = fd;
    struct capture_reader *c = capture_read_new(read_descriptor, &first, name, e);
    if (c) {
        c->fd = fd;
        c->context = &c->fd;
    }
    return c;
}

int capture_read_next(struct capture_reader *c, struct capture_packet *packet, struct error *e)
{
    int result = c->pcapng ? read_next_block(c, packet, e) : read_next_record(c, packet, e);
    c->any = c->any || result > 0;
    for (uint32_t i = 0; i < c->count && result == 0 && !c->any; i++)
        if (c->interfaces[i].left_out && !check_ethernet(c, i, e))
            result = -1;
    return result;
}

const char *capture_read_cut(const struct capture_reader *c)
{
    return c->cut.text[0] ? c->cut.text : NULL;
}

uint32_t capture_read_interfaces(const struct capture_reader *c)
{
    return c->count;
}

const struct capture_interface *capture_read_interface(const struct capture_reader *c, uint32_t i)
{
    return &c->interfaces[i];
}

void capture_read_free(struct capture_reader *c)
{
    if (!c)
        return;
    free(c->buffer);
    free(c->interfaces);
    free(c);
}
