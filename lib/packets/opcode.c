#include "lib/packets/opcode.h"

#include <stddef.h>

#define FIRST   .first = true, .payload = true
#define MIDDLE  .payload = true
#define LAST    .last = true, .payload = true
#define ONLY    .first = true, .last = true, .payload = true
#define REQUEST .first = true, .last = true

const struct opcode_row opcode_rows[32] = {
    [OPCODE_SEND_FIRST] = {"SEND First", FIRST},
    [OPCODE_SEND_MIDDLE] = {"SEND Middle", MIDDLE},
    [OPCODE_SEND_LAST] = {"SEND Last", LAST},
    [OPCODE_SEND_LAST_IMMEDIATE] = {"SEND Last Immediate", LAST, .immediate = true},
    [OPCODE_SEND_ONLY] = {"SEND Only", ONLY},
    [OPCODE_SEND_ONLY_IMMEDIATE] = {"SEND Only Immediate", ONLY, .immediate = true},
    [OPCODE_WRITE_FIRST] = {"WRITE First", FIRST, .reth = true},
    [OPCODE_WRITE_MIDDLE] = {"WRITE Middle", MIDDLE},
    [OPCODE_WRITE_LAST] = {"WRITE Last", LAST},
    [OPCODE_WRITE_LAST_IMMEDIATE] = {"WRITE Last Immediate", LAST, .immediate = true},
    [OPCODE_WRITE_ONLY] = {"WRITE Only", ONLY, .reth = true},
    [OPCODE_WRITE_ONLY_IMMEDIATE] = {"WRITE Only Immediate", ONLY, .reth = true, .immediate = true},
    [OPCODE_READ_REQUEST] = {"READ Request", REQUEST, .reth = true},
    [OPCODE_READ_FIRST] = {"READ Response First", FIRST, .response = true, .aeth = true},
    [OPCODE_READ_MIDDLE] = {"READ Response Middle", MIDDLE, .response = true},
    [OPCODE_READ_LAST] = {"READ Response Last", LAST, .response = true, .aeth = true},
    [OPCODE_READ_ONLY] = {"READ Response Only", ONLY, .response = true, .aeth = true},
    [OPCODE_ACKNOWLEDGE] = {"Acknowledge", REQUEST, .response = true, .aeth = true},
    [OPCODE_ATOMIC_ACKNOWLEDGE] = {"Atomic Acknowledge", REQUEST, .response = true, .aeth = true,
                                   .atomic_answer = true},
    [OPCODE_COMPARE_SWAP] = {"Compare and Swap", REQUEST, .atomic = true},
    [OPCODE_FETCH_ADD] = {"Fetch and Add", REQUEST, .atomic = true},
    [OPCODE_SEND_LAST_INVALIDATE] = {"SEND Last Invalidate", LAST, .immediate = true},
    [OPCODE_SEND_ONLY_INVALIDATE] = {"SEND Only Invalidate", ONLY, .immediate = true},
    [OPCODE_FLUSH] = {"FLUSH", REQUEST, .feth = true, .reth = true},
    [OPCODE_ATOMIC_WRITE] = {"ATOMIC WRITE", ONLY, .reth = true},
};

static const struct opcode_row cnp = {"CNP", REQUEST};

/* Does the operation exist in this service? FLUSH and ATOMIC WRITE are known of reliable connections alone.
 * Unreliable connections have sends and writes; datagrams one packet's sends. */
static bool is_of(enum opcode_service service, enum opcode_operation operation)
{
    switch (service) {
    case OPCODE_RC:
        return opcode_rows[operation].name;
    case OPCODE_XRC:
        return operation < OPCODE_FLUSH && opcode_rows[operation].name;
    case OPCODE_UC:
        return operation <= OPCODE_WRITE_ONLY_IMMEDIATE;
    case OPCODE_UD:
        return operation == OPCODE_SEND_ONLY || operation == OPCODE_SEND_ONLY_IMMEDIATE;
    default:
        return false;
    }
}

const struct opcode_row *opcode_find(uint8_t opcode)
{
    if (opcode == OPCODE_CNP)
        return &cnp;
    return is_of(OPCODE_SERVICE(opcode), OPCODE_OPERATION(opcode)) ? &opcode_rows[OPCODE_OPERATION(opcode)]
                                                                   : NULL;
}

#define FETH_BYTES          4
#define RETH_BYTES          16
#define AETH_BYTES          4
#define ATOMIC_ANSWER_BYTES 8
#define IMMEDIATE_BYTES     4
#define DETH_BYTES          8
#define CNP_RESERVED_BYTES  16

uint32_t opcode_header_bytes(uint8_t opcode)
{
    const struct opcode_row *row = opcode_find(opcode);
    if (!row)
        return 0;
    if (opcode == OPCODE_CNP)
        return CNP_RESERVED_BYTES;
    uint32_t bytes = row->feth * FETH_BYTES + row->reth * RETH_BYTES + row->aeth * AETH_BYTES +
                     row->atomic * OPCODE_ATOMIC_BYTES + row->atomic_answer * ATOMIC_ANSWER_BYTES +
                     row->immediate * IMMEDIATE_BYTES;
    if (OPCODE_SERVICE(opcode) == OPCODE_UD)
        bytes += DETH_BYTES;
    if (OPCODE_SERVICE(opcode) == OPCODE_XRC && !row->response)
        bytes += OPCODE_XRCETH_BYTES;
    return bytes;
}
