#include "lib/packets/pcapng_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)256 << 10)

#define BLOCK_SECTION    0x0a0d0d0au
#define BLOCK_INTERFACE  1
#define BLOCK_STATISTICS 5
#define BLOCK_PACKET     6
#define BLOCK_BYTES      12 /* type, and the length before and after the body */
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define LINK_ETHERNET    1

/* Options: a code and a length of 16 bits, then the value, padded to four bytes. */
#define OPTION_BYTES        4
#define OPTION_END          0
#define OPTION_COMMENT      1
#define OPTION_PROGRAM      4 /* of a section */
#define OPTION_NAME         2 /* of an interface */
#define OPTION_ADDRESS      6 /* if_MACaddr */
#define OPTION_SPEED        8
#define OPTION_RESOLUTION   9
#define OPTION_FLAGS        2 /* of a packet */
#define OPTION_DROPS        5 /* of statistics: isb_ifdrop */
#define NANOSECONDS         9 /* resolution: 10^-9 s */
#define PACKET_FIXED_BYTES  20
#define PACKET_OPTION_BYTES (2 * OPTION_BYTES + 4)

static size_t padded_bytes(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

/* ---- the file */

/* Up to the end of the last block that is whole. */
static void cut_to_whole_blocks(struct pcapng_writer *w, size_t written)
{
    size_t at = 0;
    while (at < w->used) {
        uint32_t length = 0;
        for (unsigned i = 4; i-- > 0;)
            length = length << 8 | w->buffer[at + 4 + i];
        if (at + length > written)
            break;
        at += length;
    }
    off_t end = lseek(w->fd, 0, SEEK_CUR);
    int cut = end < 0 ? -1 : ftruncate(w->fd, end - (off_t)(written - at));
    (void)cut; /* readers leave out a last block that is not whole */
}

static void write_out(struct pcapng_writer *w)
{
    size_t at = 0;
    while (at < w->used && !w->failed) {
        ssize_t written = write(w->fd, w->buffer + at, w->used - at);
        if (written > 0)
            at += (size_t)written;
        else if (written == 0 || errno != EINTR)
            w->failed = written == 0 ? ENOSPC : errno;
    }
    if (w->failed)
        cut_to_whole_blocks(w, at);
    w->used = 0;
}

/* Room for a block of this length in the buffer; NULL: it may not be written. */
static uint8_t *block_room(struct pcapng_writer *w, size_t length)
{
    if (w->failed || w->full)
        return NULL;
    if ((int64_t)length > w->limit_bytes - w->bytes) {
        w->full = true;
        return NULL;
    }
    if (length > w->capacity - w->used)
        write_out(w);
    if (w->failed || length > w->capacity)
        return NULL;
    uint8_t *at = w->buffer + w->used;
    w->used += length;
    w->bytes += (int64_t)length;
    return at;
}

/* ---- blocks; numbers are in the order of little-endian machines */

static uint8_t *put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    return at + 2;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    return put16(put16(at, value), value >> 16);
}

static uint8_t *put_option(uint8_t *at, unsigned code, const void *value, size_t bytes)
{
    at = put16(put16(at, code), (uint32_t)bytes);
    if (bytes)
        memcpy(at, value, bytes);
    memset(at + bytes, 0, padded_bytes(bytes) - bytes);
    return at + padded_bytes(bytes);
}

/* A text, cut where an option has no room for more. */
static size_t text_bytes(const char *text)
{
    return strnlen(text, UINT16_MAX & ~3u);
}

static uint8_t *put_text(uint8_t *at, unsigned code, const char *text)
{
    return put_option(at, code, text, text_bytes(text));
}

static uint8_t *put_block(uint8_t *at, uint32_t type, size_t length)
{
    put32(at + length - 4, (uint32_t)length);
    return put32(put32(at, type), (uint32_t)length);
}

static int no_room(const struct pcapng_writer *w, struct error *e)
{
    if (w->failed)
        return pcapng_check(w, e);
    return error_set(e, "%s: a limit of %lld bytes leaves no room for the names of the ports", w->path,
                     (long long)w->limit_bytes);
}

static int write_section(struct pcapng_writer *w, const char *program, const char *comment, struct error *e)
{
    size_t length = BLOCK_BYTES + 16 + 3 * OPTION_BYTES + padded_bytes(text_bytes(program)) +
                    padded_bytes(text_bytes(comment));
    uint8_t *at = block_room(w, length);
    if (!at)
        return no_room(w, e);
    at = put_block(at, BLOCK_SECTION, length);
    at = put16(put16(put32(at, BYTE_ORDER_MAGIC), 1), 0);
    at = put32(put32(at, UINT32_MAX), UINT32_MAX); /* its length is not known */
    put_option(put_text(put_text(at, OPTION_COMMENT, comment), OPTION_PROGRAM, program), OPTION_END, NULL, 0);
    return 0;
}

int pcapng_interface(struct pcapng_writer *w, const char *name, const uint8_t address[6], int64_t rate_bps,
                     uint32_t snap_bytes, struct error *e)
{
    static const uint8_t resolution = NANOSECONDS;
    uint8_t speed[8];
    size_t rated = rate_bps ? OPTION_BYTES + sizeof speed : 0;
    size_t length =
        BLOCK_BYTES + 8 + 4 * OPTION_BYTES + padded_bytes(text_bytes(name)) + padded_bytes(6) + rated + 4;
    uint8_t *at = block_room(w, length);
    if (!at)
        return no_room(w, e);
    put32(put32(speed, (uint32_t)rate_bps), (uint32_t)((uint64_t)rate_bps >> 32));
    at = put_block(at, BLOCK_INTERFACE, length);
    at = put32(put16(put16(at, LINK_ETHERNET), 0), snap_bytes);
    at = put_text(at, OPTION_NAME, name);
    if (rated)
        at = put_option(at, OPTION_SPEED, speed, sizeof speed);
    at = put_option(at, OPTION_RESOLUTION, &resolution, sizeof resolution);
    at = put_option(at, OPTION_ADDRESS, address, 6);
    put_option(at, OPTION_END, NULL, 0);
    w->interfaces++;
    return 0;
}

uint8_t *pcapng_packet(struct pcapng_writer *w, const struct pcapng_packet *p)
{
    size_t data_bytes = padded_bytes(p->captured_bytes);
    size_t length = BLOCK_BYTES + PACKET_FIXED_BYTES + data_bytes + PACKET_OPTION_BYTES;
    uint8_t *at = block_room(w, length);
    if (!at)
        return NULL;
    at = put32(put_block(at, BLOCK_PACKET, length), p->interface);
    at = put32(put32(at, (uint32_t)((uint64_t)p->time_ns >> 32)), (uint32_t)p->time_ns);
    at = put32(put32(at, p->captured_bytes), p->bytes);
    uint8_t *option = at + data_bytes;
    if (data_bytes)
        memset(option - 4, 0, 4); /* the pad */
    option = put32(put16(put16(option, OPTION_FLAGS), 4), (uint32_t)p->direction);
    put16(put16(option, OPTION_END), 0);
    return at;
}

void pcapng_drops(struct pcapng_writer *w, uint32_t interface, int64_t time_ns, uint64_t drops)
{
    uint8_t count[8];
    size_t length = BLOCK_BYTES + 12 + 2 * OPTION_BYTES + sizeof count;
    uint8_t *at = block_room(w, length);
    if (!at)
        return;
    put32(put32(count, (uint32_t)drops), (uint32_t)(drops >> 32));
    at = put32(put_block(at, BLOCK_STATISTICS, length), interface);
    at = put32(put32(at, (uint32_t)((uint64_t)time_ns >> 32)), (uint32_t)time_ns);
    put_option(put_option(at, OPTION_DROPS, count, sizeof count), OPTION_END, NULL, 0);
}

/* ---- open and close */

int pcapng_open(struct pcapng_writer *w, const char *folder, const char *name, const char *program,
                const char *comment, int64_t limit_bytes, struct error *e)
{
    *w = (struct pcapng_writer){.fd = -1, .limit_bytes = limit_bytes, .capacity = BUFFER_BYTES};
    w->buffer = malloc(w->capacity);
    if (asprintf(&w->path, "%s/%s", folder, name) < 0)
        w->path = NULL;
    if (!w->buffer || !w->path) {
        pcapng_close(w, NULL);
        return error_set(e, "creating %s: out of memory", name);
    }
    w->fd = open(w->path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (w->fd < 0)
        error_set_errno(e, errno, "creating %s", w->path);
    if (w->fd >= 0 && write_section(w, program, comment, e) == 0)
        return 0;
    pcapng_close(w, NULL);
    return -1;
}

int pcapng_check(const struct pcapng_writer *w, struct error *e)
{
    return w->failed ? error_set_errno(e, w->failed, "writing %s", w->path) : 0;
}

int pcapng_close(struct pcapng_writer *w, struct error *e)
{
    int result = 0;
    if (w->fd >= 0) {
        if (!w->failed)
            write_out(w);
        result = pcapng_check(w, e);
        if (close(w->fd) != 0 && result == 0)
            result = error_set_errno(e, errno, "writing %s", w->path);
    }
    free(w->buffer);
    free(w->path);
    *w = (struct pcapng_writer){.fd = -1};
    return result;
}
