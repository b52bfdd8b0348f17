#include "verify/go_back_n/go_back_n.h"

#include "lib/packets/opcode.h"

#define LEAST_MTU 256
#define MOST_MTU  4096
#define MOST_PSNS 0x400000

static uint32_t packets(uint32_t length, uint32_t mtu)
{
    uint32_t count = length ? (length - 1) / mtu + 1 : 1;
    return count < MOST_PSNS ? count : MOST_PSNS;
}

bool span_learn(struct span *s, const struct frame_roce *roce)
{
    const struct opcode_row *row = &opcode_rows[OPCODE_OPERATION(roce->bth.opcode)];
    if (s->mtu || !row->payload || row->last || roce->payload_bytes < LEAST_MTU ||
        roce->payload_bytes > MOST_MTU)
        return false;
    s->mtu = roce->payload_bytes;
    return true;
}

uint32_t span_kept(const struct span *s)
{
    return packets(s->length, s->mtu);
}

uint32_t span_of(struct span *s, const struct frame_roce *roce, uint32_t *loose)
{
    enum opcode_operation operation = OPCODE_OPERATION(roce->bth.opcode);
    bool read = operation == OPCODE_READ_REQUEST;
    *loose = 0;
    s->length = 0;
    if (!read) {
        bool answered = operation == OPCODE_COMPARE_SWAP || operation == OPCODE_FETCH_ADD ||
                        operation == OPCODE_FLUSH || operation == OPCODE_ATOMIC_WRITE;
        s->reads = s->reads || answered;
        s->others = s->others || !answered;
        return 1;
    }
    s->reads = true;
    if (s->mtu || roce->reth.length <= LEAST_MTU)
        return packets(roce->reth.length, s->mtu ? s->mtu : LEAST_MTU);
    s->psn = roce->bth.psn;
    s->length = roce->reth.length;
    *loose = packets(roce->reth.length, LEAST_MTU) - 1;
    return 1;
}
