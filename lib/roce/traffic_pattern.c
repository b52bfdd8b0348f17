#include "lib/roce/traffic_pattern.h"

#include <stdbool.h>
#include <stdlib.h>

#define MOST_PAIRS 10000000

const char *const traffic_pattern_names[] = {"poisson",    "incast",          "permutation",
                                             "all-to-all", "ring-all-reduce", NULL};

const uint32_t *traffic_receivers(const struct traffic_ends *ends, size_t *count)
{
    *count = ends->to_count ? ends->to_count : ends->from_count;
    return ends->to_count ? ends->to : ends->from;
}

/* Receiver by receiver. */
static size_t make_all(const struct traffic_ends *ends, struct traffic_pair *pairs)
{
    size_t to_count, made = 0;
    const uint32_t *to = traffic_receivers(ends, &to_count);
    for (size_t t = 0; t < to_count; t++)
        for (size_t f = 0; f < ends->from_count; f++)
            if (ends->from[f] != to[t])
                pairs[made++] = (struct traffic_pair){f, t};
    return made;
}

/* With a shift, or a random permutation without fixed points: one cycle through all (Sattolo, 1986). */
static void make_permutation(const struct traffic_ends *ends, struct random *random,
                             struct traffic_pair *pairs)
{
    size_t n = ends->from_count;
    for (size_t i = 0; i < n; i++)
        pairs[i] = (struct traffic_pair){i, ends->shift ? (i + (size_t)ends->shift) % n : i};
    for (size_t i = n - 1; i > 0 && !ends->shift; i--) {
        size_t k = random_next(random) % i, swap = pairs[i].to;
        pairs[i].to = pairs[k].to;
        pairs[k].to = swap;
    }
}

static int check_permutation(const struct traffic_ends *ends, const struct traffic_pair *pairs,
                             struct error *e)
{
    size_t to_count;
    const uint32_t *to = traffic_receivers(ends, &to_count);
    for (size_t i = 0; i < ends->from_count; i++)
        if (ends->from[pairs[i].from] == to[pairs[i].to])
            return error_set(e, "the permutation would send host %zu of \"from\" to itself", i);
    return 0;
}

static int check_ends(enum traffic_pattern pattern, const struct traffic_ends *ends, size_t to_count,
                      struct error *e)
{
    size_t pairs;
    if (pattern == PATTERN_PERMUTATION && to_count != ends->from_count)
        return error_set(e, "a permutation needs as many receivers as senders: found %zu and %zu", to_count,
                         ends->from_count);
    if (pattern == PATTERN_RING_ALL_REDUCE && ends->from_count < 2)
        return error_set(e, "a ring needs at least two hosts, found %zu", ends->from_count);
    if (__builtin_mul_overflow(ends->from_count, to_count, &pairs) ||
        (pattern != PATTERN_PERMUTATION && pattern != PATTERN_RING_ALL_REDUCE && pairs > MOST_PAIRS))
        return error_set(e, "%zu senders and %zu receivers: expected at most %d flows", ends->from_count,
                         to_count, MOST_PAIRS);
    return 0;
}

int traffic_pairs(enum traffic_pattern pattern, const struct traffic_ends *ends, struct random *random,
                  struct traffic_pair **pairs, size_t *count, struct error *e)
{
    size_t to_count;
    traffic_receivers(ends, &to_count);
    bool each_once = pattern == PATTERN_PERMUTATION || pattern == PATTERN_RING_ALL_REDUCE;
    *pairs = NULL;
    if (check_ends(pattern, ends, to_count, e) != 0)
        return -1;
    *pairs = calloc(ends->from_count * (each_once ? 1 : to_count) + 1, sizeof **pairs);
    if (!*pairs)
        return error_set(e, "out of memory for the flows of %zu senders", ends->from_count);
    *count = ends->from_count;
    if (pattern == PATTERN_PERMUTATION)
        make_permutation(ends, random, *pairs);
    else if (pattern == PATTERN_RING_ALL_REDUCE)
        for (size_t i = 0; i < ends->from_count; i++)
            (*pairs)[i] = (struct traffic_pair){i, (i + 1) % ends->from_count};
    else
        *count = make_all(ends, *pairs);
    if (pattern != PATTERN_PERMUTATION || check_permutation(ends, *pairs, e) == 0)
        return 0;
    free(*pairs);
    *pairs = NULL;
    return -1;
}
