/* The checker of go-back-N over reads and atomics: sequences without fault, and each fault at a known packet.
 * A reads from B. */
#include "tests/unit/unit.h"

#include "verify/psn.h"
#include "tests/unit/verify/verify_talk.h"

#define TIMEOUT_SET "{\"ack_timeout\": \"1ms\", \"recovery\": []}"
#define PACKETS     4 /* of a read's answer */

static struct talk talk;
static uint32_t mtu; /* payload of a packet */

static void begin(void)
{
    talk = (struct talk){.bytes.data = talk.bytes.data, .addressed = true};
    mtu = TALK_MTU;
    talk_start(&talk);
}

static uint64_t request(uint32_t psn, uint32_t packets, bool lost)
{
    struct frame f = talk_frame(&talk, HOST_A, OPCODE_READ_REQUEST, psn);
    f.roce.reth.length = packets * mtu;
    return talk_say(&talk, HOST_A, &f, lost);
}

/* Packet `psn` of the answer to a read of `packets` packets that begins at `first`. */
static uint64_t answer(uint32_t first, uint32_t packets, uint32_t psn, bool lost)
{
    uint32_t i = (psn - first) & FRAME_PSN_MASK;
    struct frame f = talk_frame(&talk, HOST_B,
                                packets == 1       ? OPCODE_READ_ONLY
                                : i == 0           ? OPCODE_READ_FIRST
                                : i == packets - 1 ? OPCODE_READ_LAST
                                                   : OPCODE_READ_MIDDLE,
                                psn);
    f.roce.payload_bytes = mtu;
    return talk_say(&talk, HOST_B, &f, lost);
}

static void answers(uint32_t first, uint32_t packets)
{
    for (uint32_t i = 0; i < packets; i++)
        answer(first, packets, psn_add(first, i), false);
}

/* Whole reads, each asked for before the one before it has been answered. */
static uint32_t reads(uint32_t psn, int count)
{
    request(psn, PACKETS, false);
    for (int i = 0; i < count; i++, psn = psn_add(psn, PACKETS)) {
        if (i < count - 1)
            request(psn_add(psn, PACKETS), PACKETS, false);
        answers(psn, PACKETS);
        talk.now_ns += TALK_DELAY_NS;
    }
    return psn;
}

static void good(void **state)
{
    (void)state;
    begin();
    uint32_t psn = reads(0xfffff0, 10); /* over the wrap */
    for (int i = 0; i < 3; i++) {
        request(psn, PACKETS, false);
        request(psn_add(psn, PACKETS), PACKETS, false);
        answer(psn, PACKETS, psn, false);
        answer(psn, PACKETS, psn_add(psn, 1), true);
        answer(psn, PACKETS, psn_add(psn, 2), false);
        request(psn_add(psn, 1), PACKETS - 1, false); /* the rest of it again */
        answer(psn, PACKETS, psn_add(psn, 3), false);
        talk.now_ns += TALK_DELAY_NS;
        answers(psn_add(psn, 1), PACKETS - 1);
        answers(psn_add(psn, PACKETS), PACKETS);
        psn = psn_add(psn, 2 * PACKETS);
    }
    talk_good(&talk, "go-back-n", TIMEOUT_SET);

    request(psn, PACKETS, true); /* a time-out */
    talk.now_ns += 1000000;
    request(psn, PACKETS, false);
    answers(psn, PACKETS);
    talk_good(&talk, "go-back-n", TIMEOUT_SET);
}

/* Packets of a simulated NIC may be shorter and longer than the MTUs of InfiniBand. */
static void any_mtu(void **state)
{
    (void)state;
    static const uint32_t mtus[] = {1, 64, 200, 256, 9000};
    for (size_t i = 0; i < sizeof mtus / sizeof *mtus; i++) {
        begin();
        mtu = mtus[i];
        uint32_t psn = reads(0xfffff0, 10);
        request(psn, 1, false);
        request(psn_add(psn, 1), PACKETS, false);
        answer(psn, 1, psn, false);
        answers(psn_add(psn, 1), PACKETS);
        talk_good(&talk, "go-back-n", TIMEOUT_SET);
        uint64_t number = request(psn_add(psn, PACKETS + 2), 1, false);
        talk_bad(&talk, "go-back-n", TIMEOUT_SET, "skipped", number);
    }
}

static void answer_skipped(void **state)
{
    (void)state;
    begin();
    uint32_t psn = reads(100, 3);
    request(psn, PACKETS, false);
    answer(psn, PACKETS, psn, false);
    uint64_t number = answer(psn, PACKETS, psn + 2, false);
    talk_bad(&talk, "go-back-n", NULL, "answer skipped", number);
}

static void answered_again(void **state)
{
    (void)state;
    begin();
    uint32_t psn = reads(100, 3);
    uint64_t number = answer(psn - PACKETS, PACKETS, psn - PACKETS, false);
    for (uint32_t i = 1; i < PACKETS; i++)
        answer(psn - PACKETS, PACKETS, psn - PACKETS + i, false);
    talk_bad(&talk, "go-back-n", NULL, "answered again", number);
}

static void not_asked_for(void **state)
{
    (void)state;
    begin();
    uint32_t psn = reads(100, 3);
    request(psn, PACKETS, true);
    request(psn + PACKETS, PACKETS, false);
    uint64_t number = answer(psn, PACKETS, psn, false);
    answer(psn, PACKETS, psn + 1, false);
    talk_bad(&talk, "go-back-n", NULL, "ACK", number);
}

/* Answers that come in another order, and are not asked for again, as with out-of-order placement. */
static void another_order(void **state)
{
    (void)state;
    begin();
    talk.one_port = true;
    uint32_t psn = reads(100, 2);
    request(psn, PACKETS, false);
    answer(psn, PACKETS, psn, false);
    answer(psn, PACKETS, psn_add(psn, 2), false);
    answer(psn, PACKETS, psn_add(psn, 3), false);
    answer(psn, PACKETS, psn_add(psn, 1), false);
    for (uint32_t i = 4; i < PACKETS; i++)
        answer(psn, PACKETS, psn_add(psn, i), false);
    talk.now_ns += 100000;
    uint64_t number = 0;
    for (int i = 0; i < 1100 / PACKETS + 1; i++) {
        psn = reads(psn_add(psn, PACKETS), 1) - PACKETS;
        talk.now_ns += 20000;
        number = talk.number;
    }
    assert_true(number > 1100);
    talk_good(&talk, "go-back-n", NULL);
    json_t *entry = talk_judge(&talk, "go-back-n", "{\"recovery\": []}");
    assert_string_equal(json_string_value(json_object_get(entry, "verdict")), "failure");
    json_decref(entry);
}

/* What B's port shows: requests that come in another order, and a part of an answer that is requested again.
 */
static void requests_in_another_order(void **state)
{
    (void)state;
    begin();
    uint32_t psn = reads(100, 2), next = psn_add(psn, PACKETS);
    struct frame f = talk_frame(&talk, HOST_A, OPCODE_READ_REQUEST, next);
    f.roce.reth.length = PACKETS * TALK_MTU;
    talk_seen(&talk, HOST_B, false, talk.now_ns, &f);
    f.roce.bth.psn = psn;
    talk_seen(&talk, HOST_B, false, talk.now_ns += 500, &f);
    for (uint32_t i = 0; i < 2 * PACKETS; i++) {
        f = talk_frame(&talk, HOST_B, OPCODE_READ_MIDDLE, psn_add(psn, i));
        f.roce.payload_bytes = TALK_MTU;
        talk_seen(&talk, HOST_B, true, talk.now_ns += 500, &f);
    }
    talk_good(&talk, "go-back-n", NULL);
    talk_bad(&talk, "go-back-n", "{\"recovery\": [\"adaptive-retransmission\"]}", "ACK",
             talk.number - PACKETS + 1);
    f = talk_frame(&talk, HOST_A, OPCODE_READ_REQUEST, psn_add(next, 1)); /* one packet of it again */
    f.roce.reth.length = TALK_MTU;
    talk_seen(&talk, HOST_B, false, talk.now_ns += 500, &f);
    f = talk_frame(&talk, HOST_A, OPCODE_READ_REQUEST, psn_add(next, PACKETS));
    f.roce.reth.length = PACKETS * TALK_MTU;
    talk_seen(&talk, HOST_B, false, talk.now_ns += 500, &f);
    uint32_t answers_again[] = {1, PACKETS, PACKETS + 1};
    for (size_t i = 0; i < 3; i++) {
        f = talk_frame(&talk, HOST_B, OPCODE_READ_MIDDLE, psn_add(next, answers_again[i]));
        f.roce.payload_bytes = TALK_MTU;
        talk_seen(&talk, HOST_B, true, talk.now_ns += 500, &f);
    }
    talk_good(&talk, "go-back-n", NULL);
    talk_bad(&talk, "go-back-n", "{\"recovery\": [\"out-of-order-placement\"]}", "answer skipped",
             talk.number - 1);
}

static void wrong_request(void **state)
{
    (void)state;
    begin(); /* a PSN that is no read's */
    uint32_t psn = reads(100, 3);
    uint64_t number = request(psn + 1, PACKETS, false);
    talk.one_port = true;
    talk_bad(&talk, "go-back-n", NULL, "skipped", number);

    begin(); /* behind the answer that is missing */
    psn = reads(100, 3);
    request(psn, PACKETS, false);
    answer(psn, PACKETS, psn, false);
    answer(psn, PACKETS, psn + 1, true);
    answer(psn, PACKETS, psn + 2, false);
    answer(psn, PACKETS, psn + 3, false);
    talk.now_ns += TALK_DELAY_NS;
    number = request(psn + 2, PACKETS - 2, false);
    talk_bad(&talk, "go-back-n", NULL, "goes back to the wrong PSN", number);
}

/* A long read whose first answer is missing goes on for this number of answers. The capture of one port stays
 * small. */
static uint64_t goes_on(uint32_t count)
{
    begin();
    talk.one_port = true;
    uint32_t psn = reads(100, 3);
    request(psn, 4096, false);
    answer(psn, 4096, psn, true);
    for (uint32_t i = 1; i < count; i++)
        answer(psn, 4096, psn + i, false);
    return talk.number;
}

/* Half a microsecond each: 1 ms is over after 2000. */
static void does_not_ask_again(void **state)
{
    (void)state;
    goes_on(1900);
    talk_good(&talk, "go-back-n", NULL);
    uint64_t number = goes_on(2003);
    talk_bad(&talk, "go-back-n", NULL, "does not go back", number);
}

static void timeouts(void **state)
{
    (void)state;
    begin(); /* too early */
    uint32_t psn = reads(100, 3);
    request(psn, PACKETS, true);
    talk.now_ns += 500000;
    uint64_t number = request(psn, PACKETS, false);
    answers(psn, PACKETS);
    talk_bad(&talk, "go-back-n", TIMEOUT_SET, "time-out", number);

    begin(); /* too late */
    psn = reads(100, 3);
    request(psn, PACKETS, true);
    talk.now_ns += 5000000;
    number = request(psn, PACKETS, false);
    answers(psn, PACKETS);
    talk_bad(&talk, "go-back-n", TIMEOUT_SET, "time-out", number);

    begin(); /* not at all: another queue pair goes on */
    psn = reads(100, 3);
    number = request(psn, PACKETS, true);
    talk.now_ns += 3000000;
    struct frame other = talk_write(&talk, 0, 1, 0);
    other.roce.bth.qpn = 0x300;
    other.roce.source_port = 50000;
    talk_say(&talk, HOST_A, &other, false);
    talk_unknown(&talk, "go-back-n", TIMEOUT_SET, "the ACKs and NAKs of 1 packet");
    talk.now_ns += 2000000;
    other.roce.bth.psn = 1;
    talk_say(&talk, HOST_A, &other, false);
    talk_bad(&talk, "go-back-n", TIMEOUT_SET, "time-out", number);
}

static uint64_t atomic(uint32_t psn, bool asks)
{
    struct frame f =
        talk_frame(&talk, asks ? HOST_A : HOST_B, asks ? OPCODE_FETCH_ADD : OPCODE_ATOMIC_ACKNOWLEDGE, psn);
    return talk_say(&talk, asks ? HOST_A : HOST_B, &f, false);
}

static void atomics(void **state)
{
    (void)state;
    begin();
    for (uint32_t psn = 0xfffffe; psn != 6; psn = psn_add(psn, 1)) {
        atomic(psn, true);
        atomic(psn, false);
    }
    talk_good(&talk, "go-back-n", TIMEOUT_SET);
    atomic(6, true);
    atomic(7, true);
    uint64_t number = atomic(7, false);
    talk_bad(&talk, "go-back-n", NULL, "answer skipped", number);
}

/* A read is requested again before many others are requested, and is answered long after. */
static void asked_again_before_many(void **state)
{
    (void)state;
    begin();
    uint32_t psn = 40;
    for (int i = 0; i < 30; i++)
        request(psn + (uint32_t)i * PACKETS, PACKETS, false);
    answer(psn, PACKETS, psn, false);
    answer(psn, PACKETS, psn + 1, true);
    answer(psn, PACKETS, psn + 2, false);
    talk.now_ns += TALK_DELAY_NS;
    request(psn + 1, PACKETS - 1, false);
    for (int i = 1; i < 30; i++)
        request(psn + (uint32_t)i * PACKETS, PACKETS, false);
    answer(psn, PACKETS, psn + 3, false);
    answers(psn + 1, PACKETS - 1);
    for (int i = 1; i < 30; i++)
        answers(psn + (uint32_t)i * PACKETS, PACKETS);
    talk_good(&talk, "go-back-n", TIMEOUT_SET);
}

/* The first answer of all is lost: what comes behind it shows that it was. */
static void first_answer_lost(void **state)
{
    (void)state;
    begin();
    request(40, PACKETS, false);
    talk.now_ns += TALK_DELAY_NS;
    answer(40, PACKETS, 40, true);
    answer(40, PACKETS, 41, false);
    talk.now_ns += TALK_DELAY_NS;
    request(40, PACKETS, false);
    talk.now_ns += TALK_DELAY_NS;
    answers(40, PACKETS);
    reads(44, 2);
    talk_good(&talk, "go-back-n", TIMEOUT_SET);
}

/* The requester's NIC loses answers that came to its port, as a responder may lose requests. Of one that did
 * not come it is not so: a time-out asks for it, and is judged. */
static void answers_lost_in_the_requester(void **state)
{
    (void)state;
    begin();
    uint32_t psn = reads(40, 2);
    request(psn, PACKETS, false);
    talk.now_ns += TALK_DELAY_NS;
    answer(psn, PACKETS, psn, false);
    answer(psn, PACKETS, psn_add(psn, 1), false);
    talk.now_ns += TALK_DELAY_NS;
    request(psn_add(psn, 1), PACKETS - 1, false);
    talk.now_ns += TALK_DELAY_NS;
    answers(psn_add(psn, 1), PACKETS - 1);
    talk_good(&talk, "go-back-n", TIMEOUT_SET);

    begin();
    psn = reads(40, 2);
    request(psn, PACKETS, false);
    talk.now_ns += TALK_DELAY_NS;
    answer(psn, PACKETS, psn, false);
    answer(psn, PACKETS, psn_add(psn, 1), true);
    talk.now_ns += TALK_DELAY_NS;
    uint64_t number = request(psn_add(psn, 1), PACKETS - 1, false);
    talk_bad(&talk, "go-back-n", TIMEOUT_SET, "time-out", number);
}

/* A requester that has given up sends nothing, whatever it is answered; nor does it ask for what the capture
 * alone has not. */
static void gives_up(void **state)
{
    (void)state;
    begin();
    uint32_t psn = reads(40, 2);
    for (int i = 0; i < 8; i++, talk.now_ns += 1500000)
        request(psn, PACKETS, i < 7);
    answer(psn, PACKETS, psn, false);
    talk.now_ns += 20000000;
    struct frame other = talk_write(&talk, 5, 1, 5); /* the capture ends late */
    other.roce.bth.qpn = 0x300;
    other.roce.source_port = 50000;
    talk_say(&talk, HOST_A, &other, true);
    talk_good(&talk, "go-back-n", TIMEOUT_SET);
}

static void answers_missing(void **state)
{
    (void)state;
    for (int port = 0; port < 2; port++) {
        begin();
        talk.incomplete = true;
        for (uint32_t psn = 40; psn < 40 + 6 * PACKETS; psn++) {
            struct frame f = talk_frame(&talk, HOST_B, OPCODE_READ_MIDDLE, psn);
            f.roce.payload_bytes = mtu;
            talk.now_ns += TALK_DELAY_NS;
            if (psn % PACKETS == 0)
                request(psn, PACKETS, false);
            talk.now_ns += TALK_DELAY_NS;
            if (psn != 49 || port == 0)
                talk_seen(&talk, HOST_B, true, talk.now_ns, &f);
            if (psn != 49 || port == 1)
                talk_seen(&talk, HOST_A, false, talk.now_ns + 10, &f);
        }
        talk_unknown(&talk, "go-back-n", TIMEOUT_SET, "and was not asked for again");
    }
}

/* A capture that begins with a read request sent again, while earlier requests are still answered. */
static void begins_with_a_read_again(void **state)
{
    (void)state;
    begin();
    request(40 + PACKETS - 1, 1, false); /* the last packet of the first of many reads */
    for (uint32_t psn = 40 + PACKETS; psn < 40 + 2 * PACKETS; psn++)
        answer(40 + PACKETS, PACKETS, psn, false);
    request(40 + 1100 * PACKETS, PACKETS, false); /* more than a read of this length can take */
    answer(40 + PACKETS - 1, 1, 40 + PACKETS - 1, false);
    for (uint32_t first = 40 + PACKETS; first <= 40 + 1100 * PACKETS; first += PACKETS)
        answers(first, PACKETS);
    talk.now_ns += TALK_DELAY_NS;
    talk_unknown(&talk, "go-back-n", TIMEOUT_SET, "whether requests were skipped, 1 time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good),
        cmocka_unit_test(any_mtu),
        cmocka_unit_test(answer_skipped),
        cmocka_unit_test(answered_again),
        cmocka_unit_test(not_asked_for),
        cmocka_unit_test(another_order),
        cmocka_unit_test(requests_in_another_order),
        cmocka_unit_test(wrong_request),
        cmocka_unit_test(does_not_ask_again),
        cmocka_unit_test(first_answer_lost),
        cmocka_unit_test(answers_lost_in_the_requester),
        cmocka_unit_test(begins_with_a_read_again),
        cmocka_unit_test(gives_up),
        cmocka_unit_test(answers_missing),
        cmocka_unit_test(timeouts),
        cmocka_unit_test(asked_again_before_many),
        cmocka_unit_test(atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
