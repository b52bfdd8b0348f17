#include "traffic/engine/pattern.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (1 << 20) /* staged between CPU and GPU at a time; a multiple of 8 */

/* splitmix64's output function (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

void pattern_fill(void *bytes, size_t count, uint32_t seed, uint32_t connection, uint64_t offset)
{
    uint64_t key = mix((uint64_t)seed << 32 | connection);
    unsigned char *out = bytes;
    while (count) {
        uint64_t word = mix(key ^ (offset / 8));
        size_t skip = offset % 8, part = 8 - skip < count ? 8 - skip : count;
        memcpy(out, (const char *)&word + skip, part);
        out += part;
        offset += part;
        count -= part;
    }
}

static void invert(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)~bytes[i];
}

/* A range of memory, at `offset` of its connection's part, in chunks. */
static int fill_piece(struct memory *memory, int64_t place, uint32_t seed, int64_t connection, int64_t offset,
                      int64_t bytes, bool inverted, unsigned char *chunk, struct error *e)
{
    for (int64_t at = 0; at < bytes; at += CHUNK_BYTES) {
        size_t part = (size_t)(bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES);
        pattern_fill(chunk, part, seed, (uint32_t)connection, (uint64_t)(offset + at));
        if (inverted)
            invert(chunk, part);
        if (memory->back_end->put(memory, place + at, chunk, part, e) != 0)
            return -1;
    }
    return 0;
}

/* Every slot of every connection, up to this message size. */
static int fill_half(struct memory *memory, int64_t base, const struct plan *plan, uint32_t seed,
                     int64_t message_bytes, bool inverted, struct error *e)
{
    int64_t stride = plan_stride(plan), each = stride * plan->slots;
    unsigned char *chunk = malloc(CHUNK_BYTES);
    int result = 0;
    if (!chunk)
        return error_set(e, "out of memory");
    for (int64_t c = 0; result == 0 && c < plan->queue_pairs; c++)
        for (int64_t offset = 0; result == 0 && offset < each; offset += stride)
            result = fill_piece(memory, base + c * each + offset, seed, c, offset, message_bytes, inverted,
                                chunk, e);
    free(chunk);
    return result;
}

int pattern_write(struct memory *memory, int64_t base, const struct plan *plan, uint32_t seed,
                  int64_t message_bytes, struct error *e)
{
    return fill_half(memory, base, plan, seed, message_bytes, false, e);
}

int pattern_erase(struct memory *memory, int64_t base, const struct plan *plan, uint32_t seed,
                  int64_t message_bytes, struct error *e)
{
    return fill_half(memory, base, plan, seed, message_bytes, true, e);
}

int pattern_flip(struct memory *memory, int64_t offset, struct error *e)
{
    unsigned char byte;
    if (memory->back_end->get(memory, offset, &byte, 1, e) != 0)
        return -1;
    byte ^= 1;
    return memory->back_end->put(memory, offset, &byte, 1, e);
}

static void compare(const unsigned char *found, const unsigned char *expected, size_t count,
                    int64_t connection, int64_t offset, struct pattern_result *result)
{
    result->checked_bytes += (int64_t)count;
    if (memcmp(found, expected, count) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (found[i] == expected[i])
            continue;
        if (result->wrong_bytes++ == 0) {
            result->first_connection = connection;
            result->first_offset = offset + (int64_t)i;
            result->expected = expected[i];
            result->found = found[i];
        }
    }
}

/* Compares one message's bytes with the pattern at its slot. */
static int check_slot(struct memory *memory, int64_t place, uint32_t seed, int64_t connection, int64_t offset,
                      int64_t message_bytes, unsigned char *chunks, struct pattern_result *result,
                      struct error *e)
{
    for (int64_t at = 0; at < message_bytes; at += CHUNK_BYTES) {
        size_t part = (size_t)(message_bytes - at < CHUNK_BYTES ? message_bytes - at : CHUNK_BYTES);
        if (memory->back_end->get(memory, place + at, chunks, part, e) != 0)
            return -1;
        pattern_fill(chunks + CHUNK_BYTES, part, seed, (uint32_t)connection, (uint64_t)(offset + at));
        compare(chunks, chunks + CHUNK_BYTES, part, connection, offset + at, result);
    }
    return 0;
}

int pattern_check(struct memory *memory, int64_t base, const struct plan *plan, uint32_t seed,
                  int64_t connection, int64_t first, int64_t count, int64_t message_bytes,
                  struct pattern_result *result, struct error *e)
{
    int64_t stride = plan_stride(plan), slots = count < plan->slots ? count : plan->slots;
    unsigned char *chunks = malloc((size_t)2 * CHUNK_BYTES);
    int status = 0;
    if (!chunks)
        return error_set(e, "out of memory");
    for (int64_t i = 0; status == 0 && i < slots; i++) {
        int64_t offset = (first + i) % plan->slots * stride; /* in the connection's part of the half */
        status = check_slot(memory, base + connection * stride * plan->slots + offset, seed, connection,
                            offset, message_bytes, chunks, result, e);
    }
    free(chunks);
    return status;
}
