/* Who sends to whom: the traffic patterns of scenarios, the same for the simulator and for real hosts. */
#ifndef LIB_TRAFFIC_PATTERN_H
#define LIB_TRAFFIC_PATTERN_H

#include "lib/error.h"
#include "lib/random.h"
#include <stddef.h>

enum traffic_pattern {
    PATTERN_POISSON,         /* flows arrive at random times, from a random sender to a random receiver */
    PATTERN_INCAST,          /* every sender to every receiver */
    PATTERN_PERMUTATION,     /* every host sends to one and receives from one */
    PATTERN_ALL_TO_ALL,      /* every host to every other */
    PATTERN_RING_ALL_REDUCE, /* every host to the next one of the ring */
};
extern const char *const traffic_pattern_names[]; /* ended by NULL */

/* The hosts of a pattern, by any numbers; `to` empty: the senders. */
struct traffic_ends {
    const uint32_t *from, *to;
    size_t from_count, to_count;
    int64_t shift; /* permutation: sender i sends to receiver i + shift; 0: drawn */
};

/* A flow of a pattern: places in the lists of senders and of receivers. */
struct traffic_pair {
    size_t from, to;
};

/* The receivers: `to`, or the senders. */
const uint32_t *traffic_receivers(const struct traffic_ends *ends, size_t *count);
/* The pairs of any pattern but PATTERN_POISSON, in the order of its flows' names. No host sends to itself:
 * such a pair is left out, in a permutation it is an error. `random` draws a permutation without a shift. The
 * caller frees *pairs. */
int traffic_pairs(enum traffic_pattern pattern, const struct traffic_ends *ends, struct random *random,
                  struct traffic_pair **pairs, size_t *count, struct error *e);

#endif
