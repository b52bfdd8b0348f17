/* Queues of a driver that does anything: work requests, doorbell records and memory, with time in between. */
#include "virtual-connectx/tests/fuzz/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A page of the driver's memory: queues, records, completions or data. */
static void write_memory(struct machine *m, int side, struct input *in)
{
    uint32_t page = input_byte(in) % PAGES, offset = input_16(in) % VCX_PAGE_BYTES;
    uint32_t bytes = input_byte(in) % 64;
    input_bytes(in, side_page(&m->pair.side[side], (int)page) + offset,
                (uint32_t)vcx_least(bytes, VCX_PAGE_BYTES - offset));
}

static void write_record(struct machine *m, int side, struct input *in)
{
    uint8_t *records = side_page(&m->pair.side[side], RECORDS);
    uint32_t at = input_byte(in) % 32 * 64;
    at += input_byte(in) % 2 * 4;
    uint8_t how = input_byte(in);
    vcx_put32(records + at, how < 128 ? vcx_be32(records + at) + how : input_32(in));
}

static void write_doorbell(struct machine *m, int side, struct input *in)
{
    uint32_t page = VCX_UAR_FIRST + input_byte(in) % 4, offset = input_byte(in) * 16u;
    vcx_put32(m->pair.side[side].front.bar + page * VCX_PAGE_BYTES + offset, input_32(in));
}

/* Commands that move queues from state to state, or destroy what they use. */
static void run_command(struct machine *m, int side, struct input *in)
{
    static const uint16_t opcodes[16] = {0x501, 0x502, 0x503, 0x504, 0x505, 0x506, 0x507, 0x50a,
                                         0x50b, 0x401, 0x202, 0x905, 0x909, 0x302, 0x906, 0x90a};
    struct side *s = &m->pair.side[side];
    uint8_t what = input_byte(in);
    vcx_put32(s->in + 8, input_number(m, side, in));
    edit_words(m, side, in, s->in + 12, 300);
    side_run(s, opcodes[what % 16], 512, 512);
}

/* A frame on the cable is lost, marked, or damaged. */
static void disturb(struct machine *m, int side, struct input *in)
{
    uint8_t how = input_byte(in);
    struct vcx_frame *frame = m->cable[side].first;
    if (!frame)
        return;
    if (how % 4 == 0)
        vcx_release(vcx_frames_take(&m->cable[side]));
    else if (how % 4 == 1)
        vcx_frame_mark(frame);
    else if (frame->length)
        frame->data[input_16(in) % frame->length] ^= how;
}

static void act(struct machine *m, struct input *in)
{
    static void (*const actions[])(struct machine *, int, struct input *) = {
        post_work,    post_receive,   post_ethernet, write_memory,
        write_record, write_doorbell, run_command,   disturb};
    uint8_t what = input_byte(in);
    if (what % 3)
        actions[what / 16 % VCX_COUNT(actions)](m, what & 8 ? 1 : 0, in);
    else
        machine_steps(m, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct machine *m = machine_open();
    fuzz_vcx_fail(input_byte(&in));
    while (in.left)
        act(m, &in);
    machine_close(m);
    return 0;
}
