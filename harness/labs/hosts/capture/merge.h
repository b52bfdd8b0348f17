/* What several hosts captured, each by its own clock, as one file in the order of the run's clock. */
#ifndef HARNESS_LABS_HOSTS_MERGE_H
#define HARNESS_LABS_HOSTS_MERGE_H

#include "lib/error.h"
#include "lib/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A port that was captured, and what became of it. */
struct merge_port {
    const char *name; /* of its interface in the file: "a:0" */
    uint8_t address[6];
    int fd;            /* of the pcap */
    bool full;         /* it was cut at its limit */
    uint32_t before;   /* bytes of each captured frame before that of the port */
    int64_t offset_ns; /* of its clock to the run's */
    int64_t drops;     /* -1: not known */
    int64_t frames;    /* out: that are in the file */
    struct text lacks; /* out: what is wrong with the pcap */
};

struct merge {
    struct merge_port *ports;
    size_t count;
    const char *folder, *comment;
    int64_t from_ns, until_ns; /* of the run's clock: frames from then until before then */
    uint32_t snap_bytes;
    int64_t limit_bytes;
    int64_t bytes, frames; /* out */
    int64_t left_out_ns;   /* out: the first frame for which the limit left no room; -1: none */
};

/* Write CAPTURE_FILE. Pcaps come from elsewhere: what is malformed ends what is taken of its port. -1: the file could not be written. */
int merge_write(struct merge *m, struct error *e);

#endif
