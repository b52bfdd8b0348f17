/* Who waits for whom: where the pauses of a run begin. */
#ifndef REPORTS_EXPLAIN_ROOTS_H
#define REPORTS_EXPLAIN_ROOTS_H

#include "reports/explain/seen.h"

enum root_kind {
    ROOT_HOST,   /* it pauses the switch's port to it */
    ROOT_PORT,   /* its queue is full, and it is not kept from sending: more comes than it carries */
    ROOT_LINK,   /* what pauses it was sent, and not all arrived: it stood for longer than was asked */
    ROOT_RING,   /* ports that wait for each other */
    ROOT_SWITCH, /* what is behind this port: nothing that was sampled tells why it pauses */
};

struct root {
    enum root_kind kind;
    size_t port;
    int priority;
    double worst_ns; /* of the ports that wait for it, how long one did, in the measure phase */
    size_t cause;    /* 1 + its number among the causes; 0: not judged */
    int64_t first_ns,
        last_ns;   /* when ports first waited for it, with nothing between, and last, in the run */
    bool measured; /* queues, or bytes that left, tell that it is a root, and not the network alone */
};

/* A part of a stop that a root is the reason of. */
struct part {
    size_t root;
    double share;
};

struct roots {
    struct root *items;
    size_t count, capacity;
    struct part **parts; /* of each stop, as seen->stops has them */
    size_t *part_count;
};

void roots_find(struct seen *s, struct roots *roots);
void roots_free(struct seen *s, struct roots *roots);
/* The part of the stop that the root is the reason of. */
double roots_part(const struct seen *s, const struct roots *roots, const struct stop *stop, size_t root);

#endif
