/* Where a host shows the frames of its NIC, and how a capturer there is told to send them. */
#ifndef HARNESS_LABS_HOSTS_TAP_H
#define HARNESS_LABS_HOSTS_TAP_H

#include "harness/labs/hosts/host.h"
#include "lib/words.h"

#define TAP_NAME_SIZE 64

/* A way in which frames can be seen. */
struct tap_place {
    const char *name;
    const char *filter;  /* of frames: an expression of pcap-filter(7) */
    uint32_t before;     /* bytes of a captured frame before that of the NIC */
    bool ns;             /* its times are those of the kernel, in nanoseconds; else microseconds */
    const char *through; /* for people */
    const char *unseen;  /* what is not seen there; NULL: nothing */
};

struct tap {
    char tcpdump[TAP_NAME_SIZE * 2],
        on[TAP_NAME_SIZE]; /* the program, and the interface that it listens on */
    const struct tap_place *place;
    uint8_t address[6]; /* of the NIC */
};

/* Ask the host. */
int tap_find(struct remote_host *h, struct tap *tap, struct error *e);
/* The capturer's command line; `snap_bytes` of each frame are kept. */
void tap_words(const struct tap *tap, int64_t snap_bytes, struct words *w);

#endif
