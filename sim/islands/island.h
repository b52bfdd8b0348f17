/*
 * Islands: parts of the network that are run one after the other, or side by side by threads, for a window of
 * time at once.
 *
 * A window is as long as the shortest way of a frame between islands (propagation, and the serialisation of
 * the shortest frame), so nothing that happens within a window in one island can matter to another one before
 * the window's end (conservative synchronisation: Chandy and Misra, 1979; Bryant, 1977). Nodes that are
 * joined by shorter cables are one island, and so are neighbours whose windows would hold few frames: the
 * beginning and end of a window have a cost. Each island has its events in a queue of its own, so its state
 * stays in the cache while it is run, and islands without events cost nothing.
 *
 * Results do not depend on the number of threads: see the orders of equal times in link.h and events.h, and
 * random numbers, which belong to a port, a memory or a host.
 */
#ifndef SIM_ISLAND_H
#define SIM_ISLAND_H

#include "sim/model.h"

struct island {
    struct event_queue queue;
    uint32_t *ports;
    uint32_t port_count;
    uint32_t thread;
    bool looks_ahead; /* what its events need is fetched one by one, and not with island_prefetch */
    uint32_t event;   /* in the queue of its thread, at the time of its earliest event */
};

/* From a thread to another one: frames were sent to this port. */
struct letter {
    uint32_t port, mask, end;
    const struct packet *ring;
};

struct mail {
    struct letter *letters;
    uint32_t count, capacity;
};

/* Divide the nodes; the links are ports already. */
int islands_build(struct sim *sim, const struct sim_config *config, struct error *e);
void islands_free(struct sim *sim);

/* No frame is shorter. */
int64_t island_shortest_frame_bytes(const struct physics_framing *f);

/* While building: events are added to the queue of this node. */
void island_enter(struct sim *sim, unsigned kind, uint32_t index);

/* The islands' ports, which are built. */
int islands_list_ports(struct sim *sim, struct error *e);
/* Fetch its state into the cache, in two steps: the second one needs what the first one has fetched. */
void island_prefetch(const struct sim *sim, const struct island *island);
void island_prefetch_links(const struct sim *sim, const struct island *island);
/* Process the island's events and arrivals before until_ps. */
void island_run(struct sim *sim, struct island *island, int64_t until_ps);
/* A frame was sent to a port of another island: the first one of this window. */
void island_post(struct sim *sim, uint32_t port, int64_t arrive_ps);

#endif
