/* Who takes a frame of the virtual ConnectX: queue pairs or the Ethernet queues, by the address that the
 * driver set. */
#include "virtual-connectx/tests/unit/vcx_pair.h"

#include "virtual-connectx/model/vport/vport.h"

enum { WRITE = 0x08, BYTES = 3000, PACKETS = 3 };

static const uint8_t another[6] = {2, 0, 0, 0, 7, 7};

static struct vcx_traffic *traffic(struct side *s, enum vcx_vport_direction direction, enum vcx_cast cast)
{
    return &s->device.vport->traffic[VCX_VPORT_RDMA][direction][cast];
}

/* A packet of a write to queue pair b, as side 0 sends it, but to a MAC address. */
static struct vcx_frame *write_to(const struct qp *b, const uint8_t *mac)
{
    struct vcx_path path = {.ecn = VCX_ECT_0, .hop_limit = 64};
    uint8_t extension[16], *payload;
    side_mac(0, path.source_mac);
    memcpy(path.destination_mac, mac, 6);
    side_gid(0, path.source);
    side_gid(1, path.destination);
    vcx_put64(extension, DATA_AT + PEERS);
    vcx_put32(extension + 8, b->side->key);
    vcx_put32(extension + 12, 8);
    struct vcx_packet_header header = {.opcode = VCX_WRITE_ONLY,
                                       .partition = 0xffff,
                                       .qpn = b->id,
                                       .psn = FIRST_A,
                                       .extension = extension,
                                       .extension_bytes = sizeof extension};
    struct vcx_frame *frame = vcx_packet_open(&path, &header, 8, &payload);
    assert_non_null(frame);
    memset(payload, 0xa5, 8);
    vcx_packet_close(frame);
    return frame;
}

static bool is_written(const struct link *l)
{
    uint8_t *at = side_data(l->b.side) + PEERS;
    bool written = at[0] == 0xa5;
    memset(at, 0, 8);
    return written;
}

static void packets_of_roce_are_counted(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    struct side *a = l.a.side, *b = l.b.side;
    qp_post(&l.a,
            &(struct work){.opcode = WRITE, .bytes = BYTES, .remote_offset = PEERS, .remote_key = b->key});
    pair_run(l.pair);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    const struct vcx_traffic *sent = traffic(a, VCX_VPORT_SENT, VCX_UNICAST),
                             *received = traffic(b, VCX_VPORT_RECEIVED, VCX_UNICAST),
                             *answers = traffic(b, VCX_VPORT_SENT, VCX_UNICAST);
    assert_int_equal(sent->packets, PACKETS);
    /* Ethernet, IPv4, UDP, base transport header and ICRC of each, and the first one's address and key */
    assert_int_equal(sent->bytes, BYTES + PACKETS * (14 + 20 + 8 + 12 + 4) + 16);
    assert_true(received->packets == sent->packets && received->bytes == sent->bytes);
    assert_true(answers->packets > 0);
    assert_int_equal(traffic(a, VCX_VPORT_RECEIVED, VCX_UNICAST)->packets, answers->packets);
    pair_close(l.pair);
}

static void the_address_is_the_one_that_the_driver_set(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    uint8_t first[6];
    side_mac(1, first);
    set_side_vport(l.b.side, another, true);
    vcx_deliver(&l.b.side->device, write_to(&l.b, first));
    assert_false(is_written(&l));
    vcx_deliver(&l.b.side->device, write_to(&l.b, another));
    assert_true(is_written(&l));
    pair_close(l.pair);
}

static void without_roce_its_packets_are_ethernet(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    uint8_t mac[6];
    side_mac(1, mac);
    set_side_vport(l.b.side, NULL, false);
    vcx_deliver(&l.b.side->device, write_to(&l.b, mac));
    assert_false(is_written(&l));
    assert_int_equal(l.b.side->device.vport->unsteered, 1);
    set_side_vport(l.b.side, NULL, true);
    vcx_deliver(&l.b.side->device, write_to(&l.b, mac));
    assert_true(is_written(&l));
    pair_close(l.pair);
}

/* The transport takes them, not the Ethernet queues. */
static void packets_to_a_group_are_roce(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    static const uint8_t group[6] = {1, 0, 0x5e, 0, 0, 1};
    vcx_deliver(&l.b.side->device, write_to(&l.b, group));
    assert_int_equal(traffic(l.b.side, VCX_VPORT_RECEIVED, VCX_MULTICAST)->packets, 1);
    assert_int_equal(l.b.side->device.vport->unsteered, 0);
    pair_close(l.pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_of_roce_are_counted),
        cmocka_unit_test(the_address_is_the_one_that_the_driver_set),
        cmocka_unit_test(without_roce_its_packets_are_ethernet),
        cmocka_unit_test(packets_to_a_group_are_roce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
