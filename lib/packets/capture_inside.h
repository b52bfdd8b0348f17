/* Between capture_read.c, which has the bytes, and capture_pcapng.c, which knows blocks. */
#ifndef LIB_CAPTURE_INSIDE_H
#define LIB_CAPTURE_INSIDE_H

#include "lib/packets/capture_read.h"

#define CAPTURE_ETHERNET 1 /* link type */

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
    struct capture_interface *interfaces;
    uint32_t count, room_interfaces;
    uint32_t section_first; /* the section's first interface */
    struct error cut;       /* text "": not cut */
};

/* How many of the next `wanted` bytes there are, in one piece at capture_at(); fewer only at the end. -1: error. `wanted` is at most
 * CAPTURE_MOST_PIECE. */
#define CAPTURE_MOST_PIECE (1u << 20)
ssize_t capture_have(struct capture_reader *c, size_t wanted, struct error *e);
static inline const uint8_t *capture_at(const struct capture_reader *c)
{
    return c->buffer + c->from;
}
static inline void capture_take(struct capture_reader *c, size_t bytes)
{
    c->from += bytes;
    c->taken += bytes;
}
/* The file ends within `what`: returns 0 and keeps a sentence. */
int capture_is_cut(struct capture_reader *c, const char *what, uint64_t wanted, uint64_t there);
/* A new interface of the section, with times in microseconds; NULL: there are too many. */
struct capture_interface *capture_add_interface(struct capture_reader *c, uint16_t link_type,
                                                uint32_t snap_bytes, struct error *e);
/* Is it of Ethernet? Else 0 and an error. */
bool capture_is_ethernet(const struct capture_reader *c, uint32_t interface, struct error *e);
/* A time of the interface in nanoseconds, within what struct capture_packet says. */
int64_t capture_time_ns(const struct capture_interface *i, uint64_t units);

uint16_t capture_16(const struct capture_reader *c, const uint8_t *at);
uint32_t capture_32(const struct capture_reader *c, const uint8_t *at);
uint64_t capture_64(const struct capture_reader *c, const uint8_t *at);

/* The next packet of a pcapng, as capture_read_next. */
int capture_read_block(struct capture_reader *c, struct capture_packet *packet, struct error *e);

#endif
