/*
 * What capturers on hosts send: a pcap each in a file without a name, which is gone when this program
 * ends, however it ends (a spool), and at the end all of them as one file in the order of the run's clock
 * (a merge).
 */
#ifndef HARNESS_LABS_HOSTS_CAPTURE_PCAPS_H
#define HARNESS_LABS_HOSTS_CAPTURE_PCAPS_H

#include "lib/error.h"
#include "lib/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spool {
    int fd; /* -1: none */
    int64_t bytes, limit_bytes;
    bool full;      /* bytes were left out; no others are taken */
    bool listening; /* the capturer says so */
    int64_t drops;  /* frames that it lost, as it says at its end; -1: it has not */
};

/* A new file in the folder, of at most limit_bytes. */
int spool_open(struct spool *s, const char *folder, int64_t limit_bytes, struct error *e);
/* Bytes of the capturer's output. -1: they cannot be written. */
int spool_write(struct spool *s, const char *bytes, size_t length, struct error *e);
/* A line that it wrote on stderr. */
void spool_read_message(struct spool *s, const char *line);
void spool_close(struct spool *s);

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

/* Write CAPTURE_FILE. Pcaps come from elsewhere: what is malformed ends what is taken of its port. -1: the
 * file could not be written. */
int merge_write(struct merge *m, struct error *e);

#endif
