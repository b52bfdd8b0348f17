/* The ports of a capture as PFC frames stop them, and rings of ports that wait for each other. */
#ifndef VERIFY_PFC_H
#define VERIFY_PFC_H

#include "verify/checker.h"
#include "verify/same_flows.h"

/* A priority of a port, as PFC frames of one direction have it. */
struct pause {
    bool on;
    bool stormed, ringed;         /* said already */
    uint64_t number, last_number; /* the frame that paused; the last that did so again */
    int64_t began_ns, until_ns;
    int64_t still_ns; /* since when no frame of it has left, in spite of the time to respond */
    int64_t bytes;    /* that came since it asked for the pause */
    bool overflowed;
};

/*
 * Which ports wait for which: a port that is paused waits for the port that paused it, and this one for those ports of its node to which
 * packets go on that came in through it.
 */
struct rings {
    struct states ports;  /* struct ring_port, by interface */
    struct states passes; /* struct passing, by flow */
    struct same_flows same;
    struct ring_edge *edges;
    uint32_t edge_count, edge_room;
    uint32_t stamp; /* of searches */
    uint64_t steps; /* of all searches, and of finding ways through nodes */
    bool weary;     /* there were too many */
    bool nameless;  /* a port that stood still belongs to no known node */
};

/* A RoCEv2 packet of a known priority, at a port whose directions are known. */
void rings_packet(struct rings *r, const struct verify_context *c, const struct verify_packet *p);
/* A PFC frame: it tells the address of the port that sends it. */
void rings_pfc(struct rings *r, const struct verify_context *c, const struct verify_packet *p);
/* A pause of this port has been repeated: does it close a ring? `ports`: struct pfc_port by interface. */
void rings_waits(struct rings *r, struct verify_context *c, const struct verify_packet *p,
                 unsigned int priority, struct states *ports);
void rings_free(struct rings *r);

/* How long a priority is paused in some time, and by how many frames. */
struct pfc_window {
    bool begun;
    int64_t start_ns, counted_ns; /* `paused_ns` is counted up to there */
    int64_t paused_ns;
    uint64_t frames; /* that pause */
    uint64_t number; /* the last of these */
    int64_t number_ns;
};

/* Before what the pause is changes: it was so until now. Judges the window if it is over. */
void pfc_window_advance(struct pfc_window *w, const struct pause *a, struct verify_context *c, int64_t now_ns,
                        unsigned int priority);
/* A frame that pauses. */
void pfc_window_count(struct pfc_window *w, const struct verify_packet *p);

/* A port's state of the checker of PFC. */
struct pfc_port {
    struct pause pauses[2][FRAME_PRIORITIES]; /* asked for by the peer (0), by this port (1) */
    struct pfc_window windows[2][FRAME_PRIORITIES];
    uint32_t longest_bytes;
    bool own; /* the port of a host */
    bool prepared;
    uint8_t lossless;                         /* priorities; 0: not set */
    int64_t headroom_bytes[FRAME_PRIORITIES]; /* 0: not known */
};

#endif
