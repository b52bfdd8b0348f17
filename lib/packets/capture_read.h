/*
 * Files of captured frames, read as a stream: pcap (draft-ietf-opsawg-pcap) and pcapng
 * (draft-ietf-opsawg-pcapng), of either byte order. Such files come from anywhere: every length is checked,
 * and memory is bounded whatever a file says. What is malformed is refused with a sentence that names its
 * place; a file that is cut short is read as far as it goes.
 */
#ifndef LIB_CAPTURE_READ_H
#define LIB_CAPTURE_READ_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CAPTURE_NAME_SIZE       64
#define CAPTURE_MOST_BYTES      262144          /* of a packet, as in Wireshark */
#define CAPTURE_MOST_INTERFACES 4096            /* of all sections together */
#define CAPTURE_MOST_TIME_NS    (INT64_MAX / 2) /* in February 2116; two times have a sum */
#define CAPTURE_LEAST_BPS       1000000 /* of an interface's rate: times of frames stay far below 2^63 ns */
#define CAPTURE_MOST_BPS        (INT64_C(1) << 50)

enum capture_direction { CAPTURE_UNKNOWN, CAPTURE_INBOUND, CAPTURE_OUTBOUND };

/* An interface of a section. Those of a later section are others, whatever their names are. A pcap has one,
 * without a name. */
struct capture_interface {
    char name[CAPTURE_NAME_SIZE]; /* any bytes but NUL; "": not stated */
    bool addressed;               /* if_MACaddr is stated */
    uint8_t address[6];
    int64_t rate_bps;  /* if_speed, from CAPTURE_LEAST_BPS to CAPTURE_MOST_BPS; 0: not stated, or another */
    uint64_t dropped;  /* packets that the capture itself lost, as far as it was said until now */
    uint64_t left_out; /* packets until now of an interface that is not Ethernet, which are not read */
    bool counted;      /* it was said how many, of all */
    uint16_t link_type;
    uint32_t snap_bytes; /* 0: no limit */
    /* time: units of 1/2^binary s, or of 10^-9 s times `multiply` / `divide` */
    uint8_t binary;
    uint64_t multiply, divide;
    int64_t offset_s;
};

struct capture_packet {
    uint64_t number; /* counted over the file from 1, as Wireshark does */
    int64_t time_ns; /* since 1970, from 0 to CAPTURE_MOST_TIME_NS; 0 without `timed` */
    bool timed;      /* simple packet blocks have no time */
    bool beyond;     /* it has a time, which is not from 1970 to CAPTURE_MOST_TIME_NS, or whose fraction of a
                        second is more than one: it is not `timed` */
    uint32_t interface; /* capture_read_interface() */
    enum capture_direction direction;
    uint32_t captured, original; /* bytes in the file, and on the wire */
    const uint8_t *bytes;        /* until the next call */
};

/* As read(2): bytes into `into`, 0 at the end, -1 with errno. */
typedef ssize_t capture_source(void *context, void *into, size_t room);

struct capture_reader;

/* `name` is for sentences. NULL: it is not a capture, or one of another link type than Ethernet. */
struct capture_reader *capture_read_new(capture_source *read, void *context, const char *name,
                                        struct error *e);
/* The same of an open file, pipe or socket; fd stays the caller's. */
struct capture_reader *capture_read_of(int fd, const char *name, struct error *e);
/* The next packet of an Ethernet: 1; 0: the file ends; -1: what comes next is malformed or could not be read,
 * or all packets are of other links. */
int capture_read_next(struct capture_reader *c, struct capture_packet *packet, struct error *e);
/* After capture_read_next returned 0: where and how the file is cut short; NULL: it is whole. */
const char *capture_read_cut(const struct capture_reader *c);
uint32_t capture_read_interfaces(const struct capture_reader *c);
const struct capture_interface *capture_read_interface(const struct capture_reader *c, uint32_t i);
/* The name of a link type. *advice: what RDMA's packets would be captured with in its place; NULL: it has
 * none of them. */
const char *capture_link_name(uint16_t type, const char **advice);
/* The unit of an interface's times; at least 1. */
int64_t capture_unit_ns(const struct capture_interface *i);
void capture_read_free(struct capture_reader *c);

#endif
