/* PSN arithmetic, and the checker of go-back-N: sequences without fault, and each fault at a known packet. */
#include "tests/unit/unit.h"

#include "verify/checker.h"
#include "verify/psn.h"
#include "tests/unit/verify/verify_talk.h"

#define STRICT      "{\"recovery\": []}" /* nothing beside go-back-N */
#define TIMEOUT_SET "{\"ack_timeout\": \"1ms\", \"recovery\": []}"

static struct talk talk; /* too large for the stack */

static void psns_wrap(void **state)
{
    (void)state;
    assert_int_equal(psn_add(0xffffff, 1), 0);
    assert_int_equal(psn_after(0, 0xffffff), 1);
    assert_int_equal(psn_after(0xffffff, 0), -1);
    assert_int_equal(psn_after(5, 5), 0);
    assert_int_equal(psn_after(0x7fffff, 0), 0x7fffff);
    assert_int_equal(psn_after(0x800000, 0), -0x800000);
    assert_int_equal(psn_later(2, 0xfffffe), 2);
    for (uint32_t psn = 0; psn <= FRAME_PSN_MASK; psn += 0xffff)
        for (int32_t ahead = -0x7fffff; ahead < 0x7fffff; ahead += 0x12345)
            assert_int_equal(psn_after(psn_add(psn, (uint32_t)ahead), psn), ahead);
}

static void begin(void)
{
    talk = (struct talk){.bytes.data = talk.bytes.data, .addressed = true};
    talk_start(&talk);
}

static uint64_t packet(uint32_t first, uint32_t psn, bool lost)
{
    struct frame f = talk_write(&talk, first, 4, psn);
    return talk_say(&talk, HOST_A, &f, lost);
}

static uint64_t ack(uint32_t psn, uint32_t msn)
{
    struct frame f = talk_ack(&talk, psn, msn);
    return talk_say(&talk, HOST_B, &f, false);
}

static uint64_t nak(uint32_t psn, uint32_t msn)
{
    struct frame f = talk_nak(&talk, psn, msn);
    return talk_say(&talk, HOST_B, &f, false);
}

/* Whole messages of four packets, each acknowledged. */
static uint32_t messages(uint32_t psn, uint32_t msn, int count)
{
    for (int i = 0; i < count; i++, psn = psn_add(psn, 4)) {
        for (uint32_t k = 0; k < 4; k++)
            packet(psn, psn_add(psn, k), false);
        talk.now_ns += TALK_DELAY_NS;
        ack(psn_add(psn, 3), msn + (uint32_t)i);
        talk.now_ns += TALK_DELAY_NS;
    }
    return psn;
}

/* A loss, a NAK, and what was to follow, over the wrap of PSN and MSN. */
static void loss_and_nak(void **state)
{
    (void)state;
    for (uint32_t start = 0xffffe0; start != 0x20; start = psn_add(start, 1)) {
        begin();
        uint32_t psn = messages(start, 0xfffffe, 5);
        packet(psn, psn, false);
        packet(psn, psn_add(psn, 1), true);
        packet(psn, psn_add(psn, 2), false);
        packet(psn, psn_add(psn, 3), false);
        nak(psn_add(psn, 1), 0xfffffe + 4);
        talk.now_ns += TALK_DELAY_NS;
        for (uint32_t k = 1; k < 4; k++)
            packet(psn, psn_add(psn, k), false);
        talk.now_ns += TALK_DELAY_NS;
        ack(psn_add(psn, 3), 0xfffffe + 5);
        messages(psn_add(psn, 4), 0xfffffe + 6, 3);
        talk_good(&talk, "go-back-n", NULL);
    }
}

/* The captures of both ends in one file, which does not say whose port each interface is: a packet that the
 * network has lost was not skipped by its sender. */
static void both_ends_without_addresses(void **state)
{
    (void)state;
    talk = (struct talk){.bytes.data = talk.bytes.data, .blind = true};
    talk_start(&talk);
    uint32_t psn = messages(100, 1, 5);
    packet(psn, psn, true);
    packet(psn, psn + 1, false);
    nak(psn, 5);
    for (uint32_t k = 0; k < 4; k++)
        packet(psn, psn + k, false);
    ack(psn + 3, 6);
    talk_unknown(&talk, "go-back-n", "{\"hosts\": [\"10.0.0.0\", \"10.0.0.1\"], \"recovery\": []}",
                 "both ends are in hosts, and their packets are at several interfaces without an address");
}

/* A queue pair number that is used again, by a connection whose PSNs begin anywhere and whose MSN begins
 * anew. */
static void numbers_used_again(void **state)
{
    (void)state;
    static const uint32_t starts[] = {0x300000, 0xfff000, 0x900000, 0, 100, 150, 5000, 0xffffff};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        for (int end = 0; end < 2; end++) {
            begin();
            messages(100, 1, 20);
            if (end) /* the connection before gave up */
                for (uint32_t k = 0; k < 8; k++, talk.now_ns += 1000000)
                    packet(180, 180, true);
            talk.now_ns += 20000000;
            messages(starts[i], 1, 20);
            talk_good(&talk, "go-back-n", TIMEOUT_SET);
            talk.incomplete = true;
            talk_good(&talk, "go-back-n", TIMEOUT_SET);
            talk.now_ns += 20000000;
            messages(starts[(i + 1) % 3], 1, 5); /* and once more */
            uint64_t number = packet(starts[(i + 1) % 3] + 22, starts[(i + 1) % 3] + 22, false);
            talk.one_port = true;
            talk_bad(&talk, "go-back-n", TIMEOUT_SET, "skipped", number);
        }

    begin(); /* the connection before had not ended, and the new one loses a packet */
    messages(100, 1, 20);
    packet(180, 180, false);
    talk.now_ns += 20000000;
    messages(100, 1, 2);
    for (uint32_t k = 0; k < 4; k++)
        packet(108, 108 + k, k == 1);
    talk.now_ns += TALK_DELAY_NS;
    nak(109, 2);
    talk.now_ns += TALK_DELAY_NS;
    for (uint32_t k = 1; k < 4; k++)
        packet(108, 108 + k, false);
    ack(111, 3);
    talk_good(&talk, "go-back-n", TIMEOUT_SET);
    begin(); /* and of one message the same, which no answer tells from what came again */
    messages(100, 1, 1);
    talk.now_ns += 20000000;
    messages(100, 1, 1);
    talk_unknown(&talk, "go-back-n", TIMEOUT_SET,
                 "whether 1 connection uses the number of a queue pair again");

    begin(); /* a responder that counts on */
    talk.one_port = true;
    messages(100, 1, 20);
    uint64_t number = packet(0x300000, 0x300000, false);
    for (uint32_t k = 1; k < 4; k++)
        packet(0x300000, 0x300000 + k, false);
    ack(0x300003, 21);
    talk_bad(&talk, "go-back-n", TIMEOUT_SET, "skipped", number);
    talk.incomplete = true;
    talk_unknown(&talk, "go-back-n", TIMEOUT_SET, "answers PSN 3145731, and PSN 180 was not sent before");

    begin(); /* no answer tells */
    talk.one_port = true;
    messages(100, 1, 20);
    packet(0x300000, 0x300000, false);
    talk_unknown(&talk, "go-back-n", TIMEOUT_SET,
                 "whether 1 connection uses the number of a queue pair again");
}

/* One packet is not in the capture, which does not say so: at the port of its sender, or of its receiver. */
static void packets_missing(void **state)
{
    (void)state;
    for (int port = 0; port < 2; port++)
        for (uint32_t which = 0; which < 4; which++) {
            begin();
            talk.one_port = true;
            messages(100, 1, 3);
            for (uint32_t k = 0; k < 4; k++) {
                struct frame f = talk_write(&talk, 112, 4, 112 + k);
                if (port) /* the receiver is A */
                    f = talk_frame(&talk, HOST_B, OPCODE_WRITE_ONLY, 112 + k);
                if (k != which)
                    talk_say(&talk, port ? HOST_B : HOST_A, &f, false);
            }
            struct frame answer = talk_ack(&talk, 115, 4);
            if (port) {
                answer = talk_frame(&talk, HOST_A, OPCODE_ACKNOWLEDGE, 115);
                answer.roce.aeth = (struct frame_aeth){AETH_NO_CREDITS, 4};
            }
            talk.now_ns += TALK_DELAY_NS;
            talk_say(&talk, port ? HOST_A : HOST_B, &answer, false);
            talk.incomplete = true;
            if (!port || which > 0) /* the first one that was seen is the first one */
                talk_unknown(&talk, "go-back-n", STRICT, "packets are missing from the capture");
            talk_unknown(&talk, "cnp", STRICT, which || !port ? "packets are missing" : "");
        }
    begin(); /* a WRITE whose length says it, where nothing was answered, */
    talk.one_port = talk.incomplete = true;
    packet(112, 112, false);
    packet(112, 113, false);
    uint64_t last = packet(112, 115, false);
    talk_unknown(&talk, "go-back-n", STRICT, "PSN 115 follows PSN 113: 1 skipped");
    talk.incomplete = false;
    talk_bad(&talk, "go-back-n", STRICT, "skipped", last);
    begin(); /* a message whose first packet is missing, also where it is sent again later, */
    talk.one_port = talk.incomplete = true;
    messages(100, 1, 3);
    packet(112, 113, false);
    talk_unknown(&talk, "go-back-n", STRICT,
                 "continues a message, and the one before it, of PSN 111, ends one");
    begin(); /* and what is behind all that was sent, left out while others are sent again */
    talk.one_port = talk.incomplete = true;
    messages(100, 1, 3);
    for (uint32_t k = 0; k < 3; k++)
        packet(112, 112 + k, k == 1);
    nak(113, 3);
    talk.now_ns += TALK_DELAY_NS;
    packet(112, 113, false);
    packet(116, 116, false);
    ack(116, 4);
    talk_unknown(&talk, "go-back-n", STRICT, "answers PSN 116, and PSN 115 was not sent before");
    begin(); /* a packet that was left out, and that a NAK requests, may have been lost behind the port, too
              */
    talk.one_port = talk.incomplete = true;
    messages(100, 1, 3);
    packet(112, 112, false);
    uint64_t number = packet(112, 114, false);
    packet(112, 115, false);
    nak(113, 3);
    talk_bad(&talk, "go-back-n", STRICT, "skipped", number);
    talk_unknown(&talk, "go-back-n", STRICT, "whether 1 finding is a fault");
}

/* The second packet of a message is lost, and asked for by a NAK that each end's port saw or did not. */
static void lost_and_asked(bool sent, bool came, bool again_at_once)
{
    begin();
    talk.incomplete = true;
    messages(100, 1, 3);
    for (uint32_t k = 0; k < 4; k++)
        packet(112, 112 + k, k == 1);
    struct frame f = talk_nak(&talk, 113, 3);
    talk.now_ns += TALK_DELAY_NS;
    if (sent)
        talk_seen(&talk, HOST_B, true, talk.now_ns, &f);
    talk.now_ns += TALK_DELAY_NS;
    if (came)
        talk_seen(&talk, HOST_A, false, talk.now_ns, &f);
    talk.now_ns += again_at_once ? TALK_DELAY_NS : 1500000;
    for (uint32_t k = 1; k < 4; k++)
        packet(112, 112 + k, false);
    talk.now_ns += TALK_DELAY_NS;
    ack(115, 4);
}

/* A capture that does not say that it has all may lack what would explain a finding, also where nothing else
 * shows that: what both ends show is one. */
static void both_ends_prove(void **state)
{
    (void)state;
    lost_and_asked(true, true, true);
    talk_good(&talk, "go-back-n", TIMEOUT_SET);
    lost_and_asked(false, true, true); /* a NAK that one end's port shows is missing from the other's */
    talk_unknown(&talk, "go-back-n", TIMEOUT_SET, "is not in the capture where it was sent");
    lost_and_asked(true, false, true);
    talk_unknown(&talk, "go-back-n", TIMEOUT_SET, "the NAK that asked for it is not in the capture");
    lost_and_asked(false, false, true); /* nobody asked: the requester is too early, */
    talk_fails(&talk, "go-back-n", TIMEOUT_SET);
    lost_and_asked(false, false, false); /* or the responder did not ask, */
    talk_fails(&talk, "go-back-n", TIMEOUT_SET);
    begin(); /* as the port of one end alone may show wrongly */
    talk.one_port = talk.incomplete = true;
    messages(100, 1, 3);
    for (uint32_t k = 0; k < 4; k++)
        packet(112, 112 + k, k == 1);
    packet(112, 113, false);
    talk_unknown(&talk, "go-back-n", TIMEOUT_SET, "whether 2 findings are faults");
    talk.incomplete = false;
    talk_fails(&talk, "go-back-n", TIMEOUT_SET);

    begin(); /* a packet that neither end has, and that is asked for, was left out, */
    talk.incomplete = true;
    messages(100, 1, 3);
    packet(112, 112, false);
    uint64_t number = packet(112, 114, false);
    nak(113, 3);
    talk_bad(&talk, "go-back-n", STRICT, "skipped", number);
    talk_fails(&talk, "go-back-n", STRICT);
    talk.now_ns += TALK_DELAY_NS;
    packet(112, 113, false);
    packet(112, 114, false);
    ack(114, 3);
    uint64_t lost = packet(112, 115, true); /* unless packets are lost on their way, */
    talk.now_ns += 1500000;
    packet(112, 115, false);
    ack(115, 4);
    assert_true(lost);
    talk_unknown(&talk, "go-back-n", STRICT, "whether 1 finding is a fault");

    begin(); /* or nobody asks for it */
    talk.incomplete = true;
    messages(100, 1, 3);
    packet(112, 112, false);
    packet(112, 114, false);
    talk_unknown(&talk, "go-back-n", STRICT, "whether 1 finding is a fault");
}

/* The last packet of a message is lost: nothing asks for it. */
static uint64_t lost_end(int64_t waited_ns)
{
    begin();
    uint32_t psn = messages(100, 7, 3);
    for (uint32_t k = 0; k < 4; k++)
        packet(psn, psn + k, k == 3);
    ack(psn + 2, 9);
    talk.now_ns += TALK_DELAY_NS + waited_ns;
    uint64_t number = packet(psn, psn + 3, false);
    talk.now_ns += TALK_DELAY_NS;
    ack(psn + 3, 10);
    return number;
}

static void timeouts(void **state)
{
    (void)state;
    lost_end(1000000);
    talk_good(&talk, "go-back-n", TIMEOUT_SET);
    lost_end(500000);
    talk_unknown(&talk, "go-back-n", NULL, "went back without a NAK, 1 time (ack_timeout is not set)");
    uint64_t number = lost_end(500000);
    talk_bad(&talk, "go-back-n", TIMEOUT_SET, "time-out", number);
    number = lost_end(5000000);
    talk_bad(&talk, "go-back-n", TIMEOUT_SET, "time-out", number);
}

/* A time-out was due, and the answer came while the packet waited for others to leave. */
static uint64_t answered_while_it_waits(int64_t waited_ns)
{
    begin();
    uint32_t psn = messages(100, 7, 3);
    for (uint32_t k = 0; k < 4; k++)
        packet(psn, psn + k, false);
    talk.now_ns += waited_ns;
    ack(psn + 2, 9);
    talk.now_ns += TALK_DELAY_NS;
    uint64_t number = packet(psn, psn + 3, false);
    ack(psn + 3, 10);
    return number;
}

static void decided_before(void **state)
{
    (void)state;
    answered_while_it_waits(1000000);
    talk_good(&talk, "go-back-n", TIMEOUT_SET);
    uint64_t number = answered_while_it_waits(500000);
    talk_bad(&talk, "go-back-n", TIMEOUT_SET, "time-out", number);
}

/* A packet comes behind the next one: what the NAK asks for is acknowledged while it is on its way out again.
 */
static void overtaken(void **state)
{
    (void)state;
    begin();
    uint32_t psn = messages(100, 7, 3);
    for (uint32_t k = 0; k < 4; k++)
        packet(psn, psn + k, k == 1); /* which is late, not lost */
    struct frame f = talk_write(&talk, psn, 4, psn + 1);
    talk_seen(&talk, HOST_B, false, talk.now_ns, &f);
    nak(psn + 1, 9);
    ack(psn + 1, 9);
    talk.now_ns += TALK_DELAY_NS;
    packet(psn, psn + 2, false);
    packet(psn, psn + 1, false);
    packet(psn, psn + 2, false);
    packet(psn, psn + 3, false);
    ack(psn + 3, 10);
    talk_good(&talk, "go-back-n", TIMEOUT_SET);
    talk.now_ns += TALK_DELAY_NS;
    uint64_t number = packet(psn, psn + 1, false); /* once */
    talk_bad(&talk, "go-back-n", TIMEOUT_SET, "time-out", number);
}

/* A NIC that sends in bursts sends again what a NAK asked for behind its burst, though it is acknowledged
 * then; an earlier NAK was answered by nothing. */
static void asked_for_in_a_burst(void **state)
{
    (void)state;
    begin();
    uint32_t psn = messages(100, 7, 3);
    for (uint32_t k = 0; k < 12; k++)
        packet(psn + k / 4 * 4, psn + k, k == 1 || k == 5);
    nak(psn + 1, 9);
    talk.now_ns += 150000;
    packet(psn + 12, psn + 12, false);
    struct frame f = talk_write(&talk, psn, 4, psn + 1); /* both are late, not lost */
    talk_seen(&talk, HOST_B, false, talk.now_ns, &f);
    nak(psn + 5, 9);
    f = talk_write(&talk, psn + 4, 4, psn + 5);
    talk_seen(&talk, HOST_B, false, talk.now_ns, &f);
    ack(psn + 11, 12);
    packet(psn + 12, psn + 13, false);
    packet(psn + 4, psn + 5, false);
    talk_good(&talk, "go-back-n", "{\"recovery\": [\"selective-repeat\"]}");
}

static void skipped(void **state)
{
    (void)state;
    begin();
    uint32_t psn = messages(0xfffffa, 1, 2);
    packet(psn, psn, false);
    uint64_t number = talk.number + 1;
    struct frame f = talk_write(&talk, psn, 4, psn + 2);
    talk_seen(&talk, HOST_A, true, talk.now_ns, &f);
    talk_bad(&talk, "go-back-n", NULL, "skipped", number);
}

/* After the NAK of psn + 1 it goes on with psn + `to`. */
static uint64_t gone_back(int to)
{
    begin();
    uint32_t psn = messages(1000, 1, 4);
    talk.now_ns += 1000000;
    packet(psn, psn, false);
    packet(psn, psn + 1, true);
    packet(psn, psn + 2, false);
    nak(psn + 1, 4);
    talk.now_ns += TALK_DELAY_NS;
    struct frame f = talk_write(&talk, psn, 4, psn + (uint32_t)to);
    uint64_t number = talk.number + 1;
    talk_seen(&talk, HOST_A, true, talk.now_ns, &f);
    return number;
}

static void goes_back_to_another_psn(void **state)
{
    (void)state;
    gone_back(1);
    talk_good(&talk, "go-back-n", NULL);
    uint64_t number = gone_back(0);
    talk_bad(&talk, "go-back-n", NULL, "goes back to the wrong PSN", number);
    number = gone_back(2);
    talk_bad(&talk, "go-back-n", NULL, "goes back to the wrong PSN", number);
}

static void does_not_go_back(void **state)
{
    uint64_t number = 0;
    (void)state;
    begin();
    talk.one_port = true;
    uint32_t psn = messages(1000, 1, 4);
    packet(psn, psn, true);
    packet(psn, psn + 1, false);
    nak(psn, 4);
    for (uint32_t k = 2; k < 1027; k++) {
        talk.now_ns += 2000;
        number = packet(psn, psn + k, false);
    }
    talk_bad(&talk, "go-back-n", NULL, "does not go back", number);
}

static void answers(void **state)
{
    (void)state;
    begin();
    talk.one_port = true; /* what B's port shows is another finding */
    uint32_t psn = messages(1000, 1, 4);
    ack(psn, 4);
    talk_bad(&talk, "go-back-n", NULL, "ACK", talk.number);
    begin();
    talk.one_port = true;
    messages(1000, 1, 4);
    messages(1016, 6, 1);
    talk_bad(&talk, "go-back-n", NULL, "MSN", talk.number);
}

/* The same sequence, but only what host B, the responder, sees and says. */
static void said_by_b(const struct frame *f)
{
    talk_seen(&talk, HOST_B, true, talk.now_ns, f);
    talk.now_ns += 500;
}

static void arrives_at_b(uint32_t first, uint32_t psn)
{
    struct frame f = talk_write(&talk, first, 4, psn);
    talk_seen(&talk, HOST_B, false, talk.now_ns, &f);
    talk.now_ns += 500;
}

static uint32_t responder_begins(void)
{
    begin();
    for (uint32_t k = 0; k < 8; k++)
        arrives_at_b(k < 4 ? 1000 : 1004, 1000 + k);
    struct frame f = talk_ack(&talk, 1003, 1);
    said_by_b(&f);
    f = talk_ack(&talk, 1007, 2);
    said_by_b(&f);
    return 1008;
}

static void responder_faults(void **state)
{
    (void)state;
    uint32_t psn = responder_begins();
    struct frame f = talk_ack(&talk, psn, 2);
    said_by_b(&f);
    talk_bad(&talk, "go-back-n", NULL, "ACK", talk.number);

    psn = responder_begins();
    f = talk_ack(&talk, psn - 1, 3);
    said_by_b(&f);
    talk_bad(&talk, "go-back-n", NULL, "MSN", talk.number);

    psn = responder_begins();
    f = talk_nak(&talk, psn, 2);
    said_by_b(&f); /* nothing is missing */
    talk_bad(&talk, "go-back-n", NULL, "NAK of the wrong PSN", talk.number);

    psn = responder_begins();
    arrives_at_b(psn, psn + 1);
    f = talk_nak(&talk, psn + 1, 2);
    said_by_b(&f);
    talk_bad(&talk, "go-back-n", NULL, "NAK of the wrong PSN", talk.number);

    psn = responder_begins();
    f = talk_nak(&talk, psn - 2, 2);
    said_by_b(&f); /* acknowledged */
    talk_bad(&talk, "go-back-n", NULL, "NAK of the wrong PSN", talk.number);

    psn = responder_begins();
    arrives_at_b(psn, psn + 1);
    f = talk_nak(&talk, psn, 2);
    said_by_b(&f);
    talk_good(&talk, "go-back-n", NULL);
    arrives_at_b(psn, psn + 2);
    f = talk_nak(&talk, psn, 2);
    said_by_b(&f);
    talk_bad(&talk, "go-back-n", NULL, "NAK twice", talk.number);

    psn = responder_begins();
    arrives_at_b(psn, psn + 1);
    talk.now_ns += 200000;
    arrives_at_b(psn, psn);
    talk_bad(&talk, "go-back-n", STRICT, "no NAK", talk.number);
    talk_unknown(&talk, "go-back-n", NULL, "whether a NAK was due, 1 time");
}

/* The missing packet comes, and is acknowledged, before the NAK leaves that asks for it. */
static void asked_for_late(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        uint32_t psn = responder_begins();
        arrives_at_b(psn, psn + 1);
        arrives_at_b(psn, psn);
        struct frame f = talk_ack(&talk, psn, 2);
        said_by_b(&f);
        talk.now_ns += late ? 150000 : 20000;
        f = talk_nak(&talk, psn, 2);
        said_by_b(&f);
        if (!late)
            talk_good(&talk, "go-back-n", NULL);
        else
            talk_unknown(&talk, "go-back-n", NULL,
                         "whether 1 NAK for what was acknowledged meanwhile left late");
    }
    talk_bad(&talk, "go-back-n", "{\"nak_delay\": \"0us\"}", "NAK of the wrong PSN", talk.number);
    talk_good(&talk, "go-back-n", "{\"nak_delay\": \"100us\"}");
}

/* A NIC may ask again for what has not come, if it is one that does. */
static void asked_again(void **state)
{
    (void)state;
    for (int later = 0; later < 2; later++) {
        uint32_t psn = responder_begins();
        arrives_at_b(psn, psn + 1);
        struct frame f = talk_nak(&talk, psn, 2);
        said_by_b(&f);
        talk.now_ns += later ? 800000 : 50000;
        arrives_at_b(psn, psn + 2);
        said_by_b(&f);
        if (later) {
            talk_good(&talk, "go-back-n", "{\"nak_again\": \"800us\"}");
            talk_unknown(&talk, "go-back-n", NULL, "1 NAK that asked again for what had not come");
            talk_bad(
                &talk, "go-back-n",
                "{\"nak_again\": \"800us\", \"ports\": [{\"interfaces\": [\"*\"], \"nak_again\": \"0us\"}]}",
                "NAK twice", talk.number);
        } else {
            talk_bad(&talk, "go-back-n", "{\"nak_again\": \"800us\"}", "NAK twice", talk.number);
            talk_bad(&talk, "go-back-n", NULL, "NAK twice", talk.number);
        }
    }
}

/* A NIC that asks late: the missing packet may come first, by a time-out or behind others. */
static void asks_late(void **state)
{
    (void)state;
    uint32_t psn = responder_begins();
    arrives_at_b(psn, psn + 1);
    talk.now_ns += 240000;
    arrives_at_b(psn, psn);
    arrives_at_b(psn, psn + 1);
    struct frame f = talk_ack(&talk, psn + 1, 2);
    said_by_b(&f);
    f = talk_nak(&talk, psn, 2);
    said_by_b(&f);
    talk_good(&talk, "go-back-n", "{\"recovery\": [], \"nak_delay\": \"250us\"}");
}

/* A NAK also requests a packet that arrives and is then lost in the responder. */
static void lost_in_the_responder(void **state)
{
    (void)state;
    uint32_t psn = responder_begins();
    for (uint32_t k = 0; k < 4; k++)
        arrives_at_b(psn, psn + k);
    struct frame f = talk_nak(&talk, psn + 1, 2);
    said_by_b(&f);
    for (uint32_t k = 1; k < 4; k++)
        arrives_at_b(psn, psn + k);
    f = talk_ack(&talk, psn + 3, 3);
    said_by_b(&f);
    talk_good(&talk, "go-back-n", NULL);
}

/* A packet is lost in the responder and a later one on its way: NAKs request only the first, and what came
 * behind the second was dropped. */
static void lost_in_the_responder_and_before(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        uint32_t psn = responder_begins();
        for (uint32_t k = 0; k < 4; k++)
            if (k != 2)
                arrives_at_b(psn, psn + k);
        struct frame f = talk_nak(&talk, psn + 1, 2);
        said_by_b(&f);
        talk.now_ns += 150000;
        arrives_at_b(psn, psn + 1);
        f = talk_ack(&talk, psn + 1, 2);
        said_by_b(&f);
        if (again)
            arrives_at_b(psn, psn + 3);
        talk.now_ns += again ? 150000 : 0;
        arrives_at_b(psn, psn + 2);
        arrives_at_b(psn, psn + 3);
        f = talk_ack(&talk, psn + 3, 3);
        said_by_b(&f);
        if (!again)
            talk_good(&talk, "go-back-n", STRICT);
        else
            talk_bad(&talk, "go-back-n", STRICT, "no NAK", talk.number - 2);
    }
}

/* What it asks for comes, and is lost in it again: it asks once, and for nothing behind that. */
static void lost_in_the_responder_twice(void **state)
{
    (void)state;
    for (int proven = 0; proven < 2; proven++) {
        uint32_t psn = responder_begins();
        arrives_at_b(psn, psn + 1);
        struct frame f = talk_nak(&talk, psn, 2);
        said_by_b(&f);
        arrives_at_b(psn, psn);
        f = talk_ack(&talk, psn, 2);
        if (proven)
            said_by_b(&f);
        arrives_at_b(psn, psn + 2);
        talk.now_ns += 500000;
        for (uint32_t k = 0; k < 4; k++)
            arrives_at_b(psn, psn + k);
        f = talk_ack(&talk, psn + 3, 3);
        said_by_b(&f);
        if (!proven)
            talk_good(&talk, "go-back-n", STRICT);
        else
            talk_bad(&talk, "go-back-n", STRICT, "no NAK", talk.number - 3);
    }
}

/* The first packet of a connection comes behind the next ones, and is acknowledged before the NAK leaves. */
static void first_one_late(void **state)
{
    (void)state;
    begin();
    arrives_at_b(1000, 1001);
    arrives_at_b(1000, 1000);
    struct frame f = talk_ack(&talk, 1000, 0);
    said_by_b(&f);
    arrives_at_b(1000, 1002);
    talk.now_ns += 250000;
    f = talk_nak(&talk, 1000, 0);
    said_by_b(&f);
    talk_good(&talk, "go-back-n", "{\"recovery\": [], \"nak_delay\": \"250us\"}");
    talk_bad(&talk, "go-back-n", "{\"recovery\": [], \"nak_delay\": \"0us\"}", "NAK of the wrong PSN",
             talk.number);
}

/* Three are missing, and asked for at once; they come one after the other, the last one late. */
static void missing_since_long(void **state)
{
    (void)state;
    uint32_t psn = responder_begins();
    for (uint32_t k = 0; k < 8; k++) {
        struct frame f = talk_nak(&talk, psn, 2);
        if (k == 0 || k == 2 || k == 4)
            continue;
        arrives_at_b(k < 4 ? psn : psn + 4, psn + k);
        if (k < 6)
            said_by_b(&f);
    }
    arrives_at_b(psn, psn);
    arrives_at_b(psn, psn + 2);
    struct frame f = talk_ack(&talk, psn + 3, 3);
    said_by_b(&f);
    talk.now_ns += 300000;
    arrives_at_b(psn + 4, psn + 4);
    f = talk_ack(&talk, psn + 7, 4);
    said_by_b(&f);
    talk_good(&talk, "go-back-n", "{\"recovery\": [\"selective-repeat\"]}");
}

/* The first packet of a connection is lost, and the responder keeps those behind it. */
static void first_one_lost(void **state)
{
    (void)state;
    begin();
    arrives_at_b(1000, 1001);
    struct frame f = talk_nak(&talk, 1000, 0);
    said_by_b(&f);
    for (uint32_t k = 2; k < 8; k++)
        arrives_at_b(k < 4 ? 1000 : 1004, 1000 + k);
    arrives_at_b(1000, 1000);
    f = talk_ack(&talk, 1007, 2);
    said_by_b(&f);
    talk_good(&talk, "go-back-n", "{\"recovery\": [\"selective-repeat\"]}");
    talk_bad(&talk, "go-back-n", STRICT, "ACK", talk.number); /* they were to come again */
}

/* The first two packets of a connection come in another order. */
static void first_ones_overtaken(void **state)
{
    (void)state;
    begin();
    arrives_at_b(1000, 1001);
    arrives_at_b(1000, 1000);
    struct frame f = talk_nak(&talk, 1000, 0);
    said_by_b(&f);
    f = talk_ack(&talk, 1000, 0);
    said_by_b(&f);
    talk_good(&talk, "go-back-n", STRICT);
}

/* A capture begins while a packet is missing; its NAK comes behind the ACK of those before it. */
static void begins_behind_a_loss(void **state)
{
    (void)state;
    begin();
    for (uint32_t k = 0; k < 4; k++)
        arrives_at_b(1004, 1004 + k);
    struct frame f = talk_ack(&talk, 999, 1);
    said_by_b(&f);
    f = talk_nak(&talk, 1000, 1);
    said_by_b(&f);
    for (uint32_t k = 0; k < 8; k++)
        arrives_at_b(k < 4 ? 1000 : 1004, 1000 + k);
    f = talk_ack(&talk, 1007, 3);
    said_by_b(&f);
    talk_good(&talk, "go-back-n", STRICT);
}

/* The checker, fed with packets of one connection that were sent and received at the requester's port,
 * without times. */
struct fed {
    void *state;
    struct flow ends[2];
    struct flows flows;
    struct verify_settings settings;
    struct findings findings;
    struct verify_missing missing;
    struct verify_context context;
};

static void feed_begin(struct fed *f)
{
    *f = (struct fed){.ends = {{.partner = 1}, {.partner = 0}},
                      .settings = {.ack_timeout_ns = FIELD_UNSET},
                      .state = calloc(1, checkers[CHECK_GO_BACK_N]->state_bytes)};
    f->flows = (struct flows){.flows = f->ends, .count = 2};
    f->context = (struct verify_context){.settings = &f->settings,
                                         .of_all = &f->settings,
                                         .flows = &f->flows,
                                         .findings = &f->findings,
                                         .missing = &f->missing};
    assert_non_null(f->state);
}

static void feed(struct fed *f, const struct frame *frame, bool answer)
{
    struct verify_packet p = {.number = 1,
                              .time_ns = -1,
                              .flow = answer,
                              .sent_here = !answer,
                              .received_here = answer,
                              .frame = *frame};
    checkers[CHECK_GO_BACK_N]->frame(f->state, &f->context, &p);
}

static void feed_end(struct fed *f)
{
    checkers[CHECK_GO_BACK_N]->free(f->state);
    free(f->state);
    findings_free(&f->findings);
}

/* MSNs wrap at 2^24, and the checker's count of messages does not. */
static void msns_of_a_long_connection(void **state)
{
    (void)state;
    struct fed f;
    begin();
    feed_begin(&f);
    struct frame data = talk_write(&talk, 0, 1, 0), answer = talk_ack(&talk, 0, 0);
    uint32_t first_msn = 0xfffff0, count = FRAME_PSN_MASK + 70000;
    for (uint32_t i = 0; i < count; i++) {
        data.roce.bth.psn = i & FRAME_PSN_MASK;
        feed(&f, &data, false);
        if (i % 65521 >= 5)
            continue;
        answer.roce.bth.psn = i & FRAME_PSN_MASK;
        answer.roce.aeth.msn = psn_add(first_msn, i);
        feed(&f, &answer, true);
    }
    assert_int_equal(findings_count(&f.findings), 0);
    answer.roce.bth.psn = psn_add(count, FRAME_PSN_MASK - 3);
    answer.roce.aeth.msn = psn_add(first_msn, count);
    feed(&f, &answer, true);
    json_t *found = findings_json(&f.findings, "go-back-n", &(struct findings){0}, NULL, NULL);
    const json_t *packets = json_object_get(json_array_get(json_object_get(found, "findings"), 0), "packets");
    char wanted[100];
    snprintf(wanted, sizeof wanted, "the answer of PSN %u has MSN %u, expected %u to %u", answer.roce.bth.psn,
             answer.roce.aeth.msn, psn_add(first_msn, count - 4), psn_add(first_msn, count - 1));
    assert_string_equal(json_string_value(json_object_get(json_array_get(packets, 0), "text")), wanted);
    json_decref(found);
    feed_end(&f);
}

/* Without times the NIC's last answers are not known; after 2^23 packets those of the beginning seem to be
 * ahead. */
static void a_long_connection_without_times(void **state)
{
    (void)state;
    struct fed f;
    begin();
    feed_begin(&f);
    struct frame data = talk_write(&talk, 5, 1, 5), answer = talk_ack(&talk, 5, 1);
    for (uint32_t i = 5; i < 0x900000; i++) {
        data.roce.bth.psn = answer.roce.bth.psn = answer.roce.aeth.msn = i;
        feed(&f, &data, false);
        if (i % 64 == 0)
            feed(&f, &answer, true);
    }
    data.roce.bth.psn = 0x900000 - 64;
    feed(&f, &data, false);
    assert_int_equal(findings_count(&f.findings), 0);
    data.roce.bth.psn += 1000; /* but one that skips others is seen */
    data.roce.bth.opcode = OPCODE_WRITE_MIDDLE;
    feed(&f, &data, false);
    assert_int_equal(findings_count(&f.findings), 1);
    feed_end(&f);
}

/* Answers that come into the capture late still find their requests. */
static void answers_after_many_requests(void **state)
{
    (void)state;
    struct flows t;
    struct error e;
    begin();
    assert_int_equal(flows_init(&t, &e), 0);
    struct frame data = talk_write(&talk, 5, 1, 5), answer = talk_ack(&talk, 0, 1);
    uint32_t requests = 0;
    for (uint32_t i = 5; i < 0x900000; i++) {
        data.roce.bth.psn = i;
        requests = flows_of(&t, 0, &data.roce);
    }
    answer.roce.bth.psn = 0x900000 - 10;
    uint32_t answers = flows_of(&t, 0, &answer.roce);
    assert_int_equal(t.flows[answers].partner, requests);
    flows_free(&t);
}

/* A WRITE as it is seen at one port alone. */
static uint64_t alone(enum talk_host at, uint32_t psn)
{
    struct frame f = talk_write(&talk, psn, 1, psn);
    talk.now_ns += 1000;
    return talk_seen(&talk, at, at == HOST_A, talk.now_ns, &f);
}

/* A capture with one direction shows what was skipped, and nothing of what hangs on answers. */
static void one_direction(void **state)
{
    static const char sender[] = "when and to which PSN the senders of 6 packets go back: no answer to them";
    static const uint32_t again[] = {5, 6, 7, 8, 5, 8};
    (void)state;
    begin();
    for (int i = 0; i < 6; i++)
        alone(HOST_A, again[i]); /* it may leave out what was acknowledged */
    talk_unknown(&talk, "go-back-n", NULL, sender);
    talk_unknown(&talk, "go-back-n", STRICT, sender);
    talk_bad(&talk, "go-back-n", STRICT, "skipped", alone(HOST_A, 10));
    begin();
    alone(HOST_B, 5);
    alone(HOST_B, 7);
    talk.now_ns += 200000;
    alone(HOST_B, 6); /* a NAK may have asked for it */
    talk_unknown(&talk, "go-back-n", STRICT, "the ACKs and NAKs of 3 packets: nothing that their receiver");
    begin();
    ack(5, 1);
    ack(6, 2);
    talk_unknown(&talk, "go-back-n", NULL, "4 answers: the requests are not in the capture");
    talk_unknown(&talk, "ecn", NULL, "no data packet is in the capture");
    begin(); /* a queue pair without an answer beside one that has its ACKs */
    messages(5, 3, 3);
    struct frame other = talk_write(&talk, 0, 1, 0);
    other.roce.bth.qpn = 0x300;
    other.roce.source_port = 50000;
    talk_seen(&talk, HOST_A, true, talk.now_ns, &other);
    talk_good(&talk, "go-back-n", NULL); /* its answer is under way */
    talk.now_ns += 1000000;
    messages(17, 6, 3);
    talk_unknown(&talk, "go-back-n", NULL, "the senders of 1 packet");
}

static void nothing_to_judge(void **state)
{
    (void)state;
    begin();
    talk_unknown(&talk, "go-back-n", NULL, "nothing to judge");
    talk.addressed = false;
    talk_start(&talk);
    messages(5, 1, 3);
    talk_unknown(&talk, "go-back-n", NULL, "30 packets of hosts that are not at the port");
    talk_good(&talk, "go-back-n", "{\"hosts\": [\"10.0.0.0\"]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(psns_wrap),
        cmocka_unit_test(loss_and_nak),
        cmocka_unit_test(timeouts),
        cmocka_unit_test(asked_for_in_a_burst),
        cmocka_unit_test(skipped),
        cmocka_unit_test(goes_back_to_another_psn),
        cmocka_unit_test(does_not_go_back),
        cmocka_unit_test(answers),
        cmocka_unit_test(responder_faults),
        cmocka_unit_test(lost_in_the_responder),
        cmocka_unit_test(lost_in_the_responder_and_before),
        cmocka_unit_test(lost_in_the_responder_twice),
        cmocka_unit_test(first_one_late),
        cmocka_unit_test(missing_since_long),
        cmocka_unit_test(first_one_lost),
        cmocka_unit_test(begins_behind_a_loss),
        cmocka_unit_test(decided_before),
        cmocka_unit_test(asked_for_late),
        cmocka_unit_test(asked_again),
        cmocka_unit_test(asks_late),
        cmocka_unit_test(overtaken),
        cmocka_unit_test(first_ones_overtaken),
        cmocka_unit_test(both_ends_without_addresses),
        cmocka_unit_test(msns_of_a_long_connection),
        cmocka_unit_test(a_long_connection_without_times),
        cmocka_unit_test(numbers_used_again),
        cmocka_unit_test(packets_missing),
        cmocka_unit_test(both_ends_prove),
        cmocka_unit_test(answers_after_many_requests),
        cmocka_unit_test(one_direction),
        cmocka_unit_test(nothing_to_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
