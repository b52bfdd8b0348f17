/* Frames from the wire, into functions and a switch: RoCE packets that belong to a connection, pauses, IP,
 * and anything. */
#include "virtual-connectx/tests/fuzz/network.h"
#include "virtual-connectx/model/transport/transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct vcx_path path_to(int side, uint8_t dscp, bool v6)
{
    struct vcx_path path = {.v6 = v6, .dscp = dscp, .ecn = VCX_ECT_0, .hop_limit = 64, .source_port = 0xc000};
    side_mac(!side, path.source_mac);
    side_mac(side, path.destination_mac);
    side_gid(!side, path.source);
    side_gid(side, path.destination);
    return path;
}

/* Near the number that the queue pair waits for: of a request, or of an acknowledgement. */
static uint32_t near_psn(struct side *s, uint32_t qpn, bool response, uint8_t distance)
{
    const struct vcx_qp *qp = vcx_object(&s->device, VCX_QP, qpn);
    uint32_t psn = !qp ? 0 : response ? qp->requester.acked_psn : qp->responder.expected_psn;
    return (psn + distance - 8) & VCX_PSN_MASK;
}

/* Extension headers that mean something: a key and an address that are there. */
static void fill_extension(struct side *s, uint8_t *extension, uint8_t operation, uint32_t bytes)
{
    vcx_put32(extension, VCX_AETH_ACK << 24);
    if (vcx_operations[operation].write || operation == VCX_READ_REQUEST || operation == VCX_COMPARE_SWAP ||
        operation == VCX_FETCH_ADD) {
        vcx_put64(extension, DATA_AT + PEERS);
        vcx_put32(extension + 8, s->key);
        vcx_put32(extension + 12, bytes);
    }
}

/* A packet of a connection; its transport headers and payload are edited before its checksum is made. */
static struct vcx_frame *roce(network *n, struct input *in, int side)
{
    struct side *s = &n->m->pair.side[side];
    uint8_t opcode = input_byte(in), kind = input_byte(in), flags = input_byte(in), *payload;
    uint8_t extension[64] = {0}, operation = opcode & 0x1f;
    uint32_t qpn = n->m->qp[kind % LINKS][side].id, bytes = input_16(in) % 4200;
    bool response = vcx_operations[operation].response, datagram = kind % LINKS == LINK_UD;
    struct vcx_path path = path_to(side, flags & 0x3f, flags & 0x40);
    uint32_t header_bytes = vcx_operations[operation].header_bytes + (datagram ? 8u : 0);
    fill_extension(s, extension + (datagram ? 8 : 0), operation, bytes);
    if (datagram)
        vcx_put32(extension, 0x11111111);
    struct vcx_packet_header header = {.opcode =
                                           kind < 128 ? (uint8_t)(operation | kind % LINKS % 3 << 5) : opcode,
                                       .acknowledge = flags & 0x80,
                                       .partition = 0xffff,
                                       .qpn = kind & 0x40 ? input_number(n->m, side, in) : qpn,
                                       .psn = near_psn(s, qpn, response, input_byte(in) % 16),
                                       .extension = extension,
                                       .extension_bytes = header_bytes};
    if (datagram && kind < 128)
        header.opcode = (uint8_t)(operation | VCX_SERVICE_UD << 5);
    edit_words(n->m, side, in, extension, sizeof extension);
    struct vcx_frame *frame = vcx_packet_open(&path, &header, bytes, &payload);
    if (!frame)
        return NULL;
    input_bytes(in, payload, (uint32_t)vcx_least(bytes, input_byte(in)));
    if (input_byte(in) >= 192)
        edit_words(n->m, side, in, frame->data, frame->length);
    vcx_packet_close(frame);
    return frame;
}

static struct vcx_frame *frame_of(uint32_t bytes)
{
    struct vcx_frame *frame = vcx_frame_new(bytes + 16);
    if (frame)
        frame->length = bytes;
    return frame;
}

/* A pause of priorities, or of all. */
static struct vcx_frame *a_pause(network *n, struct input *in, int side)
{
    static const uint8_t group[6] = {1, 0x80, 0xc2, 0, 0, 1};
    struct vcx_frame *frame = frame_of(60);
    uint8_t how = input_byte(in);
    if (!frame)
        return NULL;
    memcpy(frame->data, group, 6);
    side_mac(!side, frame->data + 6);
    vcx_put16(frame->data + 12, 0x8808);
    vcx_put16(frame->data + 14, how & 1 ? 0x0001 : 0x0101);
    vcx_put16(frame->data + 16, input_16(in));
    for (int i = 0; i < 8; i++)
        vcx_put16(frame->data + 18 + 2 * i, (uint16_t)(input_byte(in) << 8));
    if (how & 2)
        edit_words(n->m, side, in, frame->data, 60);
    return frame;
}

/* Bytes of the input, behind addresses that reach the function. */
static struct vcx_frame *bytes(network *n, struct input *in, int side)
{
    struct vcx_frame *frame = frame_of(input_16(in) % 10240);
    (void)n;
    if (!frame)
        return NULL;
    uint32_t addresses = frame->length >= 12 ? 12 : 0;
    if (addresses) {
        side_mac(side, frame->data);
        side_mac(!side, frame->data + 6);
    }
    input_bytes(in, frame->data + addresses, (uint32_t)vcx_least(frame->length - addresses, input_byte(in)));
    if (addresses && input_byte(in) >= 192)
        input_bytes(in, frame->data, 12);
    return frame;
}

static void receive(network *n, struct input *in)
{
    static struct vcx_frame *(*const makers[])(network *, struct input *, int) = {roce, roce, a_pause, bytes};
    uint8_t what = input_byte(in), copies = input_byte(in) % 4;
    struct vcx_frame *frame = makers[what / 16 % VCX_COUNT(makers)](n, in, what % 2);
    for (int i = 0; frame && i < copies; i++) {
        struct vcx_frame *copy = frame_of(frame->length);
        if (copy)
            memcpy(copy->data, frame->data, frame->length);
        if (copy)
            network_receive(n, what, copy);
    }
    if (frame)
        network_receive(n, what, frame);
}

static void act(network *n, struct input *in)
{
    uint8_t what = input_byte(in);
    if (what < 140)
        receive(n, in);
    else if (what < 160)
        post_work(n->m, what % 2, in);
    else if (what < 180)
        post_receive(n->m, what % 2, in);
    else if (what < 200)
        post_ethernet(n->m, what % 2, in);
    else
        network_steps(n, in);
}

/* The connection's packets are taken in order, or not. */
static void choose_recovery(network *n, size_t size)
{
    for (int side = 0; side < 2; side++) {
        struct vcx_qp *qp = vcx_object(&n->m->pair.side[side].device, VCX_QP, n->m->qp[LINK_RC][side].id);
        qp->selective = size & 1;
        qp->out_of_order = size & 2;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    network *n = network_open();
    choose_recovery(n, size);
    fuzz_vcx_fail(input_byte(&in));
    while (in.left)
        act(n, &in);
    network_close(n);
    return 0;
}
