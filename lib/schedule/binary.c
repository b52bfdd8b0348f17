/*
 * GOAL's binary form, as LogGOPSim's txt2bin writes and LogGOPSim reads it (spcl/LogGOPSim,
 * src/LogGOPSim/Parser.hpp of December 2023; ATLAHS, spcl/atlahs, has the same). Little-endian, packed;
 * offsets count from behind the magic number:
 *
 *   8 magic 4223
 *   4 ranks, 1 highest CPU, 1 highest NIC
 *   of each rank: 8 offset of its part, 8 of its end
 *   a rank's part: 4 operations, 4 of them that wait for none, and of each of these: 4 its number
 *     of each operation, 39: 4 for how many it waits, 1 type, 4 peer, 8 size, 4 tag, 1 CPU, 1 NIC,
 *       4 how many wait for its end, 4 index of the first of these among the numbers, and both of its
 * beginning numbers, 4 each
 *
 * How many wait is counted here; that and which wait for none must agree with the numbers.
 */
#include "lib/schedule/parts.h"
#include "lib/files.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC           4223
#define MAGIC_SPENT     2342 /* LogGOPSim --save-mem counts in the file itself */
#define MAGIC_BYTES     8
#define HEAD_BYTES      6
#define OPERATION_BYTES 39
#define ANY             UINT32_MAX

struct part {
    struct schedule *s;
    const unsigned char *at;
    uint64_t bytes;
    uint32_t rank, operations, first; /* `first` of the schedule's */
    uint64_t operations_at, numbers_at, numbers;
};

static uint64_t little(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

static uint32_t little4(const unsigned char *at)
{
    return (uint32_t)little(at, 4);
}

bool schedule_is_binary(const char *content, size_t length)
{
    uint64_t magic = length < MAGIC_BYTES ? 0 : little((const unsigned char *)content, MAGIC_BYTES);
    return magic == MAGIC || magic == MAGIC_SPENT;
}

static int part_error(const struct part *part, struct error *e, const char *what)
{
    return error_set(e, "%.160s: rank %u: %s", part->s->name, part->rank, what);
}

/* The lists of one kind that an operation has: waits for its end, or its beginning. */
static int take_list(struct part *part, uint32_t i, const unsigned char *at, bool on_start, uint32_t *waits,
                     struct error *e)
{
    uint64_t count = little4(at), first = little4(at + 4);
    if (count && (first > part->numbers || count > part->numbers - first))
        return part_error(part, e, "the file ends before the numbers of those that wait for an operation");
    for (uint64_t k = 0; k < count; k++) {
        uint32_t waiting = little4(part->at + part->numbers_at + 4 * (first + k));
        if (waiting >= part->operations)
            return part_error(part, e, "one waits whose number is above that of its operations");
        waits[waiting]++;
        if (schedule_add_wait(part->s, (int64_t)part->first + waiting, (int64_t)part->first + i, on_start,
                              e) != 0)
            return -1;
    }
    return 0;
}

static int take_operation(struct part *part, uint32_t i, struct error *e)
{
    const unsigned char *at = part->at + part->operations_at + (uint64_t)i * OPERATION_BYTES;
    struct schedule_operation op = {.type = at[4],
                                    .peer = little4(at + 5),
                                    .size = (int64_t)little(at + 9, 8),
                                    .tag = little4(at + 17),
                                    .cpu = at[21],
                                    .nic = at[22]};
    char what[120];
    if (op.type == SCHEDULE_RECV && (op.peer == ANY || op.tag == ANY)) {
        snprintf(what, sizeof what,
                 "operation %u: a recv from any %s: which send it takes depends on the run", i,
                 op.peer == ANY ? "rank" : "tag");
        return part_error(part, e, what);
    }
    if (op.type == SCHEDULE_CALC)
        op.peer = op.tag = 0;
    return schedule_add(part->s, part->rank, &op, e) < 0 ? -1 : 0;
}

/* Each list of numbers is read once: a file cannot make more waits than it has numbers. */
static int take_waits(struct part *part, struct error *e)
{
    uint32_t *waits = calloc((size_t)part->operations + 1, sizeof *waits);
    uint64_t listed = 0;
    int result = 0;
    if (!waits)
        return part_error(part, e, "out of memory");
    for (uint32_t i = 0; result == 0 && i < part->operations; i++) {
        const unsigned char *at = part->at + part->operations_at + (uint64_t)i * OPERATION_BYTES;
        listed += (uint64_t)little4(at + 23) + little4(at + 31);
        result = listed > part->numbers
                     ? part_error(part, e, "its operations have more that wait than the file has numbers")
                     : take_list(part, i, at + 23, false, waits, e);
        if (result == 0)
            result = take_list(part, i, at + 31, true, waits, e);
    }
    for (uint32_t i = 0; result == 0 && i < part->operations; i++)
        if (little4(part->at + part->operations_at + (uint64_t)i * OPERATION_BYTES) != waits[i])
            result = part_error(part, e, "an operation waits for another number of them than the file says");
    free(waits);
    return result;
}

static int take_part(struct part *part, struct error *e)
{
    if (part->bytes < 8)
        return part_error(part, e, "its part of the file is shorter than 8 bytes");
    part->operations = little4(part->at);
    part->operations_at = 8 + 4 * (uint64_t)little4(part->at + 4);
    part->numbers_at = part->operations_at + (uint64_t)part->operations * OPERATION_BYTES;
    if (part->numbers_at > part->bytes)
        return part_error(part, e, "its part of the file is shorter than its operations");
    part->numbers = (part->bytes - part->numbers_at) / 4;
    for (uint32_t i = 0; i < part->operations; i++)
        if (take_operation(part, i, e) != 0)
            return -1;
    return take_waits(part, e);
}

int schedule_parse_binary(struct schedule *s, const char *name, const char *content, size_t length,
                          struct error *e)
{
    const unsigned char *at = (const unsigned char *)content + MAGIC_BYTES;
    uint64_t bytes = length - MAGIC_BYTES, ranks = bytes < HEAD_BYTES ? 0 : little4(at);
    if (little((const unsigned char *)content, MAGIC_BYTES) == MAGIC_SPENT)
        return error_set(e, "%.160s: a run of LogGOPSim has counted in this schedule: make it anew", name);
    if (bytes < HEAD_BYTES + 16 * ranks)
        return error_set(e, "%.160s: the file ends before the places of its %" PRIu64 " ranks", name, ranks);
    if (schedule_begin(s, name, (int64_t)ranks, e) != 0)
        return -1;
    uint64_t last = HEAD_BYTES + 16 * ranks;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const unsigned char *place = at + HEAD_BYTES + (uint64_t)rank * 16;
        uint64_t from = little(place, 8), to = little(place + 8, 8);
        if (from != last || to < from || to > bytes)
            return error_set(e,
                             "%.160s: rank %u is at %" PRIu64 " to %" PRIu64 " of %" PRIu64
                             " bytes: expected one rank after the other, from %" PRIu64 " on",
                             name, rank, from, to, bytes, last);
        struct part part = {
            .s = s, .at = at + from, .bytes = to - from, .rank = rank, .first = s->operation_count};
        if (take_part(&part, e) != 0)
            return -1;
        last = to;
    }
    return 0;
}

/* ---- either form */

int schedule_read_content(struct schedule *s, const char *name, char *content, size_t length, struct error *e)
{
    bool binary = schedule_is_binary(content, length);
    *s = (struct schedule){.name = name};
    int result = binary ? schedule_parse_binary(s, name, content, length, e)
                        : schedule_parse_text(s, name, content, length, e);
    if (binary)
        free(content);
    if (result == 0)
        result = schedule_finish(s, e);
    if (result == 0 && !s->operation_count)
        result = error_set(e, "%.160s: its ranks have no operations", name);
    if (result != 0)
        schedule_free(s);
    return result;
}

int schedule_read(struct schedule *s, const char *path, struct error *e)
{
    size_t length = 0;
    char *content = files_read(path, SCHEDULE_MOST_FILE_BYTES, &length, e);
    return content ? schedule_read_content(s, path, content, length, e) : -1;
}
