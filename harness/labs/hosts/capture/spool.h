/* What a capturer on a host sends while it runs: a pcap in a file without a name, which is gone when this program ends, however it ends. */
#ifndef HARNESS_LABS_HOSTS_SPOOL_H
#define HARNESS_LABS_HOSTS_SPOOL_H

#include "lib/error.h"
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

/* A new file in the folder, of so many bytes at most. */
int spool_open(struct spool *s, const char *folder, int64_t limit_bytes, struct error *e);
/* Bytes of the capturer's output. -1: they cannot be written. */
int spool_take(struct spool *s, const char *bytes, size_t length, struct error *e);
/* A line that it wrote on stderr. */
void spool_hear(struct spool *s, const char *line);
void spool_close(struct spool *s);

#endif
