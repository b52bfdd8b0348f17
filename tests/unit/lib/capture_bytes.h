/* Bytes of captures and frames for tests, in either byte order, right or wrong as the test wants. */
#ifndef TESTS_CAPTURE_BYTES_H
#define TESTS_CAPTURE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define CAPTURE_BYTES (1 << 21)

struct capture_bytes {
    uint8_t *data; /* CAPTURE_BYTES of them from the first on, for as long as the program runs */
    size_t length;
    size_t at; /* of capture_bytes_read */
    bool swapped;
};

static inline void bytes_add(struct capture_bytes *b, const void *data, size_t length)
{
    if (!b->data && !(b->data = malloc(CAPTURE_BYTES)))
        abort();
    if (length)
        memcpy(b->data + b->length, data, length);
    b->length += length;
}

static inline void bytes_16(struct capture_bytes *b, uint16_t value)
{
    value = b->swapped ? __builtin_bswap16(value) : value;
    bytes_add(b, &value, sizeof value);
}

static inline void bytes_32(struct capture_bytes *b, uint32_t value)
{
    value = b->swapped ? __builtin_bswap32(value) : value;
    bytes_add(b, &value, sizeof value);
}

static inline void bytes_64(struct capture_bytes *b, uint64_t value)
{
    value = b->swapped ? __builtin_bswap64(value) : value;
    bytes_add(b, &value, sizeof value);
}

static inline void bytes_pad(struct capture_bytes *b)
{
    while (b->length % 4)
        b->data[b->length++] = 0;
}

static inline void bytes_option(struct capture_bytes *b, uint16_t code, const void *value, uint16_t length)
{
    bytes_16(b, code);
    bytes_16(b, length);
    bytes_add(b, value, length);
    bytes_pad(b);
}

/* A block begins; bytes_end_block fills in both of its lengths. */
static inline size_t bytes_block(struct capture_bytes *b, uint32_t type)
{
    size_t begin = b->length;
    bytes_32(b, type);
    bytes_32(b, 0);
    return begin;
}

static inline void bytes_end_block(struct capture_bytes *b, size_t begin)
{
    uint32_t length = (uint32_t)(b->length - begin + 4), as_written;
    bytes_32(b, length);
    memcpy(&as_written, b->data + b->length - 4, 4);
    memcpy(b->data + begin + 4, &as_written, 4);
}

static inline void bytes_section(struct capture_bytes *b)
{
    size_t begin = bytes_block(b, 0x0a0d0d0a);
    bytes_32(b, 0x1a2b3c4d);
    bytes_16(b, 1);
    bytes_16(b, 0);
    bytes_64(b, UINT64_MAX);
    bytes_end_block(b, begin);
}

/* resolution: if_tsresol; address: if_MACaddr, or NULL. */
static inline void bytes_interface_at(struct capture_bytes *b, const char *name, uint8_t resolution,
                                      uint64_t bps, const uint8_t *address)
{
    size_t begin = bytes_block(b, 1);
    bytes_16(b, 1);
    bytes_16(b, 0);
    bytes_32(b, 0);
    bytes_option(b, 2, name, (uint16_t)strlen(name));
    bytes_option(b, 9, &resolution, 1);
    bps = b->swapped ? __builtin_bswap64(bps) : bps;
    bytes_option(b, 8, &bps, 8);
    if (address)
        bytes_option(b, 6, address, 6);
    bytes_option(b, 0, NULL, 0);
    bytes_end_block(b, begin);
}

static inline void bytes_interface(struct capture_bytes *b, const char *name, uint8_t resolution,
                                   uint64_t bps)
{
    bytes_interface_at(b, name, resolution, bps, NULL);
}

/* flags: epb_flags; 0: no such option. */
static inline void bytes_packet(struct capture_bytes *b, uint32_t interface, uint64_t time, const void *data,
                                uint32_t captured, uint32_t original, uint32_t flags)
{
    size_t begin = bytes_block(b, 6);
    bytes_32(b, interface);
    bytes_32(b, (uint32_t)(time >> 32));
    bytes_32(b, (uint32_t)time);
    bytes_32(b, captured);
    bytes_32(b, original);
    bytes_add(b, data, captured);
    bytes_pad(b);
    if (flags) {
        flags = b->swapped ? __builtin_bswap32(flags) : flags;
        bytes_option(b, 2, &flags, 4);
        bytes_option(b, 0, NULL, 0);
    }
    bytes_end_block(b, begin);
}

static inline void bytes_pcap(struct capture_bytes *b, uint32_t magic, uint32_t link_type)
{
    bytes_32(b, magic);
    bytes_16(b, 2);
    bytes_16(b, 4);
    bytes_32(b, 0);
    bytes_32(b, 0);
    bytes_32(b, 65535);
    bytes_32(b, link_type);
}

static inline void bytes_record(struct capture_bytes *b, uint32_t s, uint32_t fraction, const void *data,
                                uint32_t captured, uint32_t original)
{
    bytes_32(b, s);
    bytes_32(b, fraction);
    bytes_32(b, captured);
    bytes_32(b, original);
    bytes_add(b, data, captured);
}

/* A capture_source. */
static inline ssize_t capture_bytes_read(void *context, void *into, size_t room)
{
    struct capture_bytes *b = context;
    size_t left = b->length - b->at, got = left < room ? left : room;
    memcpy(into, b->data + b->at, got);
    b->at += got;
    return (ssize_t)got;
}

#endif
