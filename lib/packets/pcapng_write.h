/* Captures of Ethernet frames as a file of the PCAP Next Generation format (draft-ietf-opsawg-pcapng): one
 * section, an interface for each port, times in nanoseconds. */
#ifndef LIB_PCAPNG_WRITE_H
#define LIB_PCAPNG_WRITE_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcapng_writer {
    char *path;
    int fd;
    uint8_t *buffer; /* whole blocks that are not in the file yet */
    size_t used, capacity;
    int64_t bytes, limit_bytes; /* of all blocks so far; never more than the limit */
    uint32_t interfaces;
    bool full;  /* a block was left out; no other is taken */
    int failed; /* errno of the first write that failed, or 0 */
};

/* Create or empty FOLDER/NAME and begin its section: `program` wrote it, `comment` is for people. The caller
 * closes it, not after an error. */
int pcapng_open(struct pcapng_writer *w, const char *folder, const char *name, const char *program,
                const char *comment, int64_t limit_bytes, struct error *e);
/* The next interface, counted from 0; `address` is its six bytes; a rate of 0 is not known. -1: the limit
 * leaves no room, or a write failed. */
int pcapng_interface(struct pcapng_writer *w, const char *name, const uint8_t address[6], int64_t rate_bps,
                     uint32_t snap_bytes, struct error *e);

enum pcapng_direction { PCAPNG_RECEIVED = 1, PCAPNG_SENT = 2 };
struct pcapng_packet {
    uint32_t interface;
    int64_t time_ns; /* not negative */
    enum pcapng_direction direction;
    uint32_t bytes;          /* of the frame */
    uint32_t captured_bytes; /* that will be here */
};
/* A packet's block; its captured bytes are to be written to the place returned, before any other call. NULL:
 * the limit leaves no room (`full`), or a write failed (pcapng_check). */
uint8_t *pcapng_packet(struct pcapng_writer *w, const struct pcapng_packet *packet);

/* Packets of an interface that the capture itself lost, until this time; left out where the limit leaves no
 * room. */
void pcapng_drops(struct pcapng_writer *w, uint32_t interface, int64_t time_ns, uint64_t drops);

/* Did a write fail? The sentence names the file and the reason. */
int pcapng_check(const struct pcapng_writer *w, struct error *e);
/* Write the rest, check, close. After a write that failed the file ends with a whole block. A file that is
 * not open is not an error. */
int pcapng_close(struct pcapng_writer *w, struct error *e);

#endif
