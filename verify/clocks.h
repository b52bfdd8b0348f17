/*
 * Are the times of a capture those of the wire? A file may have them in units that are too coarse, all alike,
 * out of order, or outside of what is a time. Each interface has a clock: what the file says of it and what
 * its packets show.
 */
#ifndef VERIFY_CLOCKS_H
#define VERIFY_CLOCKS_H

#include "lib/packets/capture_read.h"
#include "lib/text.h"

/* What is judged are microseconds (the time to respond to a pause, the time between CNPs), and a pcap has no
 * finer times by default. Packets of one port may be out of order by as much. */
#define CLOCK_MOST_OFF_NS 1000
/* Packets of an interface after which its clock has shown its unit. */
#define CLOCK_PACKETS 4096
/* A file is not in the order of time where no more packets than this are late; a clock that was set back
 * stays behind for longer. */
#define CLOCK_LATE_PACKETS 256

/* Of an interface; zeros at first. */
struct clock {
    uint64_t packets;
    int64_t unit_ns; /* that the file states */
    int64_t first_ns, last_ns;
    int64_t common_ns;        /* all times are multiples of it, from the first on; 0: all are the same */
    uint32_t changes;         /* packets with another time than the one before */
    bool twice;               /* one sender has sent two packets at one time */
    uint8_t sender[6];        /* of the last packet */
    uint64_t back;            /* the packet at which time went back; 0: it did not */
    int64_t back_by_ns;       /* and by how much */
    uint64_t late, late_of;   /* the packet since which time is behind an earlier one, and how many had come
                                 then; 0: it is not */
    uint64_t disordered;      /* the first such packet after which time soon went on: the file is not in the
                                 order of time; 0: it is */
    uint64_t untimed, beyond; /* packets whose times are not judged; of these such that have none */
    int64_t end_ns;           /* the last time that is judged */
};

/* The next packet of an interface. Packets may be taken some time before they are judged. */
void clock_take(struct clock *c, const struct capture_interface *i, const struct capture_packet *p);
/* The time of a packet that was taken; -1: it is not one of the wire, or it has none, which is counted.
 * `whole`: all packets of the capture were taken. */
int64_t clock_judge(struct clock *c, const struct capture_packet *p, bool whole);
/* Why times were not judged; nothing is added where all were. */
void clock_say(const struct clock *c, const struct capture_interface *i, uint32_t interface,
               struct text *out);

#endif
