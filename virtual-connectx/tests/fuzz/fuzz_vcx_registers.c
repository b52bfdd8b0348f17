/* Registers that a driver reads and writes, and lines with faults, paces and settings of the switch, with
 * traffic in between. */
#include "virtual-connectx/tests/fuzz/network.h"
#include "virtual-connectx/model/faults/faults.h"
#include "virtual-connectx/model/pace/pace.h"
#include "virtual-connectx/model/register/register.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_REGISTERS = 128, MOST_REGISTER = 1024, REGISTER_AT = 16, ACCESS_REGISTER = 0x805 };

static uint16_t ids[MOST_REGISTERS];
static uint32_t id_count;

static void find_registers(void)
{
    if (id_count)
        return;
    for (uint32_t id = 0; id < 0x10000 && id_count < MOST_REGISTERS; id++)
        if (vcx_register_find((uint16_t)id))
            ids[id_count++] = (uint16_t)id;
}

static enum vcx_status access_register(struct side *s, uint16_t id, uint32_t bytes, bool write)
{
    vcx_set(s->in, nop_in, op_mod, !write);
    vcx_set(s->in, access_register_in, register_id, id);
    return side_run(s, ACCESS_REGISTER, REGISTER_AT + bytes, REGISTER_AT + bytes);
}

/* Reads a register, changes something, writes it. */
static void change(network *n, struct input *in)
{
    uint8_t which = input_byte(in), how = input_byte(in);
    uint16_t id = which < 240 ? ids[which % id_count] : input_16(in);
    int side = how % 2;
    struct side *s = &n->m->pair.side[side];
    const struct vcx_register *row = vcx_register_find(id);
    uint32_t least = row ? row->bytes : 64u, bytes = how & 2 ? input_16(in) % MOST_REGISTER : least;
    s->in[REGISTER_AT + 1] = VCX_LOCAL_PORT;
    edit_words(n->m, side, in, s->in + 8, 24);
    enum vcx_status status = access_register(s, id, bytes, false);
    if (status == VCX_OK && bytes)
        memcpy(s->in + REGISTER_AT, s->out + REGISTER_AT, bytes);
    s->in[REGISTER_AT + 1] = VCX_LOCAL_PORT;
    edit_words(n->m, side, in, s->in + REGISTER_AT, bytes);
    input_bytes(in, s->in + REGISTER_AT + how / 4 * 4, input_byte(in) % 32);
    access_register(s, id, bytes, true);
}

static void forget_line(void *to, const char *text)
{
    if (strlen(text) >= VCX_LINE_BYTES)
        abort();
    *(uint32_t *)to += 1;
}

/* A line of text, up to its end. */
static void request(network *n, struct input *in)
{
    char line[256];
    struct vcx_sentence error = {""};
    uint8_t to = input_byte(in);
    size_t length = 0;
    for (uint8_t c; length < sizeof line - 1 && (c = input_byte(in)) && c != '\n';)
        line[length++] = (char)c;
    line[length] = 0;
    struct vcx_device *device = &n->m->pair.side[to / 4 % 2].device;
    uint32_t lines = 0;
    bool taken = to % 4 == 0   ? vcx_fault_request(device, line, &error)
                 : to % 4 == 1 ? vcx_pace_request(device, line, &error)
                               : vcx_switch_set(&n->sw, line, &error);
    if (!taken && (!error.text[0] || strlen(error.text) >= sizeof error.text))
        abort(); /* nothing says what was wrong */
    if (to % 4 == 3)
        vcx_switch_show(&n->sw, forget_line, &lines);
}

static void act(network *n, struct input *in)
{
    uint8_t what = input_byte(in);
    if (what < 90)
        change(n, in);
    else if (what < 150)
        request(n, in);
    else if (what < 175)
        post_work(n->m, what % 2, in);
    else if (what < 190)
        post_receive(n->m, what % 2, in);
    else if (what < 200)
        post_ethernet(n->m, what % 2, in);
    else
        network_steps(n, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    network *n = network_open();
    find_registers();
    fuzz_vcx_fail(input_byte(&in));
    while (in.left)
        act(n, &in);
    network_close(n);
    return 0;
}
