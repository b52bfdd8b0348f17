/* Commands in slots and mailboxes: those that bring a function up, edited, and any other, with a broken
 * transfer now and then. */
#include "virtual-connectx/model/command/command.h"

static enum vcx_status run_noted(struct vcx_call *call);
#define vcx_command_run run_noted
#include "virtual-connectx/tests/fuzz/machine.h"
#undef vcx_command_run

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- the commands that bring a function up, noted when that is done for the first time */

enum { MOST_NOTED = 64, MOST_COMMAND = 4096, LIST_BYTES = 768 };

static struct noted {
    uint32_t in_bytes, out_bytes;
    uint8_t in[MOST_COMMAND];
} noted[MOST_NOTED];
static uint32_t noted_count;
static bool noting;

static enum vcx_status run_noted(struct vcx_call *call)
{
    if (noting && noted_count < MOST_NOTED) {
        struct noted *n = &noted[noted_count++];
        n->in_bytes = call->in_bytes;
        n->out_bytes = call->out_bytes;
        memcpy(n->in, call->in, call->in_bytes);
    }
    return vcx_command_run(call);
}

/* ---- slots and mailboxes */

enum { SLOTS = 30, IN_BLOCKS = 31, OUT_BLOCKS = 35, BLOCK_PAGES = 4, BLOCKS_OF_PAGE = 4, BLOCK_ROOM = 1024 };
enum { BLOCK_DATA = 512, INLINE = 16, BLOCKS = BLOCK_PAGES * BLOCKS_OF_PAGE };

static uint64_t block_at(int first_page, int number)
{
    return SIDE_PAGE_AT(first_page) + (uint64_t)number * BLOCK_ROOM;
}

static uint8_t *block(struct side *s, int first_page, int number)
{
    return side_page(s, first_page) + (size_t)number * BLOCK_ROOM;
}

/* A chain of all blocks, each with its number and token. */
static void chain(struct side *s, int first_page, uint8_t token)
{
    for (int i = 0; i < BLOCKS; i++) {
        uint8_t *b = block(s, first_page, i);
        vcx_put64(b + 560, i + 1 < BLOCKS ? block_at(first_page, i + 1) : 0);
        vcx_put32(b + 568, (uint32_t)i);
        b[573] = token;
    }
}

static void open_slots(struct side *s)
{
    vcx_put32(s->front.bar + 0x10, (uint32_t)(SIDE_PAGE_AT(SLOTS) >> 32));
    vcx_put32(s->front.bar + 0x14, (uint32_t)SIDE_PAGE_AT(SLOTS));
    poll_side(s);
}

/* Puts the command in s->in into a slot. */
static uint8_t *fill_slot(struct side *s, uint8_t number, uint32_t in_bytes, uint32_t out_bytes)
{
    uint8_t *slot = side_page(s, SLOTS) + (size_t)64 * (number % 32);
    memset(slot, 0, 64);
    slot[0] = 7;
    vcx_put32(slot + 4, in_bytes);
    vcx_put64(slot + 8, block_at(IN_BLOCKS, 0));
    memcpy(slot + 16, s->in, INLINE);
    vcx_put64(slot + 48, block_at(OUT_BLOCKS, 0));
    vcx_put32(slot + 56, out_bytes);
    slot[60] = number;
    slot[63] = 1;
    chain(s, IN_BLOCKS, number);
    chain(s, OUT_BLOCKS, number);
    for (int i = 0; INLINE + BLOCK_DATA * (i + 1) <= MOST_COMMAND; i++)
        memcpy(block(s, IN_BLOCKS, i), s->in + INLINE + (size_t)BLOCK_DATA * i, BLOCK_DATA);
    return slot;
}

/* Flips of a slot or a mailbox's trailer. */
static void break_transfer(struct machine *m, struct input *in, uint8_t *slot)
{
    struct side *s = &m->pair.side[0];
    uint8_t how = input_byte(in);
    if (how % 2)
        edit_words(m, 0, in, slot, 60);
    else
        edit_words(m, 0, in, block(s, how & 2 ? IN_BLOCKS : OUT_BLOCKS, how / 4 % BLOCKS) + 512, 64);
}

static void run_slot(struct machine *m, struct input *in, uint32_t in_bytes, uint32_t out_bytes)
{
    struct side *s = &m->pair.side[0];
    uint8_t how = input_byte(in);
    uint8_t *slot = fill_slot(s, how % 32, in_bytes, out_bytes);
    if (how >= 224)
        break_transfer(m, in, slot);
    vcx_put32(s->front.bar + 0x18, 1u << how % 32);
    poll_side(s);
    if (slot[63] == 0 && slot[32] == 0)
        m->answers[m->answered++ % 16] = vcx_be32(slot + 40) & 0xffffff;
    memset(s->in, 0, sizeof s->in);
}

/* ---- what the input does */

static void run_edited(struct machine *m, struct input *in)
{
    struct side *s = &m->pair.side[0];
    const struct noted *n = &noted[input_byte(in) % noted_count];
    uint8_t lengths = input_byte(in);
    memcpy(s->in, n->in, n->in_bytes);
    edit_words(m, 0, in, s->in, n->in_bytes);
    uint32_t in_bytes = n->in_bytes, out_bytes = n->out_bytes;
    if (lengths >= 224) {
        in_bytes += input_byte(in) - 64u;
        out_bytes += input_byte(in) - 8u;
    }
    run_slot(m, in, in_bytes, out_bytes);
}

static void run_any(struct machine *m, struct input *in)
{
    struct side *s = &m->pair.side[0];
    uint32_t in_bytes = INLINE + input_16(in) % 3072, out_bytes = INLINE + input_16(in) % 3072;
    vcx_put16(s->in, input_16(in));
    vcx_put16(s->in + 6, input_16(in));
    vcx_put32(s->in + 8, input_number(m, 0, in));
    vcx_put32(s->in + 12, input_number(m, 0, in));
    input_bytes(in, s->in + INLINE, input_byte(in));
    edit_words(m, 0, in, s->in, 1024);
    for (uint32_t i = input_byte(in), at = LIST_BYTES; i % 8; i--, at += 8) /* page addresses somewhere */
        vcx_put64(s->in + at, SIDE_PAGE_AT(SIDE_DATA + i % 8));
    run_slot(m, in, in_bytes, out_bytes);
}

static void act(struct machine *m, struct input *in)
{
    uint8_t what = input_byte(in);
    if (what < 100)
        run_edited(m, in);
    else if (what < 200)
        run_any(m, in);
    else if (what < 210)
        post_work(m, what % 2, in);
    else if (what < 220)
        post_receive(m, what % 2, in);
    else if (what < 230)
        post_ethernet(m, what % 2, in);
    else
        machine_steps(m, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    noting = noted_count == 0;
    struct machine *m = machine_open();
    noting = false;
    open_slots(&m->pair.side[0]);
    fuzz_vcx_fail(input_byte(&in));
    while (in.left)
        act(m, &in);
    machine_close(m);
    return 0;
}
