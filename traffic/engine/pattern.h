/*
 * The data of --validate: each byte depends on the flow's direction, the connection and the offset in its
 * memory. This detects corrupt messages, and also messages that arrive on the wrong queue pair, at the wrong
 * place or not at all.
 */
#ifndef TRAFFIC_PATTERN_H
#define TRAFFIC_PATTERN_H

#include "traffic/memory/memory.h"
#include "traffic/flow_plan.h"
#include <stdint.h>

/* The pattern of connection `connection` from byte `offset` on. `seed` tells directions apart. */
void pattern_fill(void *bytes, size_t count, uint32_t seed, uint32_t connection, uint64_t offset);

/* Write the pattern of every connection into the half of memory that starts at `base`, for messages of
 * message_bytes. */
int pattern_write(struct memory *memory, int64_t base, const struct plan *plan, uint32_t seed,
                  int64_t message_bytes, struct error *e);
/* Fill the memory with bytes that differ from the pattern, to detect data that never arrives. */
int pattern_erase(struct memory *memory, int64_t base, const struct plan *plan, uint32_t seed,
                  int64_t message_bytes, struct error *e);
/* Flip the lowest bit of one byte. */
int pattern_flip(struct memory *memory, int64_t offset, struct error *e);

struct pattern_result {
    int64_t checked_bytes, wrong_bytes;
    int64_t first_connection, first_offset; /* of the first wrong byte, when there is one */
    int expected, found;
};

/* Compare `count` received messages of message_bytes of connection `connection` with the pattern, from its
 * message number `first`; adds to *result. Only the last plan->slots messages are still in memory. */
int pattern_check(struct memory *memory, int64_t base, const struct plan *plan, uint32_t seed,
                  int64_t connection, int64_t first, int64_t count, int64_t message_bytes,
                  struct pattern_result *result, struct error *e);

#endif
