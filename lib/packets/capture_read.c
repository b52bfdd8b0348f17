#include "lib/packets/capture_inside.h"

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
#define MAGIC_SECTION   0x0a0d0d0a
#define MAGIC_GZIP      0x1f8b

#define NS_A_S 1000000000

/* ---- bytes */

uint16_t capture_16(const struct capture_reader *c, const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return c->swapped ? __builtin_bswap16(value) : value;
}

uint32_t capture_32(const struct capture_reader *c, const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return c->swapped ? __builtin_bswap32(value) : value;
}

uint64_t capture_64(const struct capture_reader *c, const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return c->swapped ? __builtin_bswap64(value) : value;
}

/* Room for so many bytes behind `from`. */
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

ssize_t capture_have(struct capture_reader *c, size_t wanted, struct error *e)
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

int capture_is_cut(struct capture_reader *c, const char *what, uint64_t wanted, uint64_t there)
{
    error_set(&c->cut, "%s is cut short: %s at byte %llu has %llu of %llu bytes", c->name, what,
              (unsigned long long)c->taken, (unsigned long long)there, (unsigned long long)wanted);
    return 0;
}

/* ---- interfaces and times */

struct capture_interface *capture_add_interface(struct capture_reader *c, uint16_t link_type,
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

static const char *link_type_name(uint16_t type)
{
    static const struct {
        uint16_t type;
        const char *name;
    } names[] = {{0, "BSD loopback"},
                 {101, "raw IP"},
                 {105, "IEEE 802.11"},
                 {
                     113,
                     "Linux \"any\"",
                 },
                 {127, "radiotap"},
                 {220, "USB"},
                 {228, "raw IPv4"},
                 {229, "raw IPv6"},
                 {247, "InfiniBand"},
                 {276, "Linux \"any\""},
                 {278, "Linux netlink"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].type == type)
            return names[i].name;
    return "not known here";
}

bool capture_is_ethernet(const struct capture_reader *c, uint32_t interface, struct error *e)
{
    uint16_t type = c->interfaces[interface].link_type;
    if (type != CAPTURE_ETHERNET)
        error_set(e, "read %s: interface %u has link type %u (%s); only Ethernet (%d) can be read", c->name,
                  interface, type, link_type_name(type), CAPTURE_ETHERNET);
    return type == CAPTURE_ETHERNET;
}

/* a * b, at most CAPTURE_MOST_TIME_NS. */
static int64_t product(uint64_t a, uint64_t b)
{
    uint64_t result;
    return __builtin_mul_overflow(a, b, &result) || result > CAPTURE_MOST_TIME_NS ? CAPTURE_MOST_TIME_NS
                                                                                  : (int64_t)result;
}

int64_t capture_time_ns(const struct capture_interface *i, uint64_t units)
{
    int64_t ns;
    if (i->binary) {
        uint64_t whole = i->binary < 64 ? units >> i->binary : 0;
        uint64_t rest = i->binary < 64 ? units & ((UINT64_C(1) << i->binary) - 1) : units;
        unsigned int shift = i->binary;
        if (shift > 32) { /* the product below has 64 bits */
            rest = shift - 32 < 64 ? rest >> (shift - 32) : 0;
            shift = 32;
        }
        ns = product(whole, NS_A_S) + (int64_t)(rest * NS_A_S >> shift);
    } else {
        ns = i->divide == 1 ? product(units, i->multiply) : product(units / i->divide, 1);
    }
    if (i->offset_s) {
        uint64_t away = i->offset_s < 0 ? 0 - (uint64_t)i->offset_s : (uint64_t)i->offset_s;
        int64_t offset = product(away, NS_A_S);
        ns += i->offset_s < 0 ? -offset : offset;
    }
    return ns < 0 ? 0 : ns > CAPTURE_MOST_TIME_NS ? CAPTURE_MOST_TIME_NS : ns;
}

/* ---- pcap */

static int next_record(struct capture_reader *c, struct capture_packet *packet, struct error *e)
{
    ssize_t there = capture_have(c, RECORD_HEADER, e);
    if (there <= 0)
        return (int)there;
    if (there < RECORD_HEADER)
        return capture_is_cut(c, "the header of a packet", RECORD_HEADER, (uint64_t)there);
    const uint8_t *header = capture_at(c);
    uint32_t s = capture_32(c, header), fraction = capture_32(c, header + 4);
    uint32_t captured = capture_32(c, header + 8), original = capture_32(c, header + 12);
    if (captured > CAPTURE_MOST_BYTES)
        return error_set(e, "read %s: byte %llu: packet %llu has %u bytes, expected at most %d", c->name,
                         (unsigned long long)c->taken, (unsigned long long)c->number + 1, captured,
                         CAPTURE_MOST_BYTES);
    there = capture_have(c, RECORD_HEADER + captured, e);
    if (there < 0)
        return -1;
    if ((size_t)there < RECORD_HEADER + captured)
        return capture_is_cut(c, "a packet", RECORD_HEADER + captured, (uint64_t)there);
    *packet = (struct capture_packet){
        .number = ++c->number,
        .time_ns = (int64_t)s * NS_A_S + (int64_t)(fraction * c->interfaces[0].multiply),
        .timed = true,
        .captured = captured,
        .original = original > captured ? original : captured,
        .bytes = capture_at(c) + RECORD_HEADER,
    };
    capture_take(c, RECORD_HEADER + captured);
    return 1;
}

static int begin_pcap(struct capture_reader *c, bool nanoseconds, struct error *e)
{
    ssize_t there = capture_have(c, FILE_HEADER, e);
    if (there < 0)
        return -1;
    if (there < FILE_HEADER)
        return error_set(e, "read %s: it ends within the header of a pcap, after %zd of %d bytes", c->name,
                         there, FILE_HEADER);
    const uint8_t *header = capture_at(c);
    uint16_t version = capture_16(c, header + 4);
    if (version != 2)
        return error_set(e, "read %s: a pcap of version %u, expected 2", c->name, version);
    /* the upper bits of the link type say how long an FCS is */
    struct capture_interface *i =
        capture_add_interface(c, (uint16_t)capture_32(c, header + 20), capture_32(c, header + 16), e);
    if (!i || !capture_is_ethernet(c, 0, e))
        return -1;
    i->multiply = nanoseconds ? 1 : 1000;
    capture_take(c, FILE_HEADER);
    return 0;
}

/* ---- any file */

static int begin(struct capture_reader *c, struct error *e)
{
    uint32_t magic = 0;
    ssize_t there = capture_have(c, sizeof magic, e);
    if (there < 0)
        return -1;
    if (there == 0)
        return error_set(e, "read %s: it is empty, expected a pcap or pcapng file", c->name);
    if (there == sizeof magic)
        memcpy(&magic, capture_at(c), sizeof magic);
    for (int turn = 0; turn < 2; turn++, magic = __builtin_bswap32(magic)) {
        c->swapped = turn == 1;
        if (magic == MAGIC_US || magic == MAGIC_NS)
            return begin_pcap(c, magic == MAGIC_NS, e);
        if (magic == MAGIC_KUZNETZOV)
            return error_set(
                e, "read %s: Kuznetzov's variant of pcap; editcap -F pcapng makes a pcapng of it", c->name);
        if (magic == MAGIC_SECTION) { /* of either byte order */
            c->pcapng = true;
            return 0;
        }
    }
    const uint8_t *bytes = capture_at(c);
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
    if (begin(c, e) == 0)
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
    return c->pcapng ? capture_read_block(c, packet, e) : next_record(c, packet, e);
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
