/* The checkers of CNPs, ECN and ICRCs: sequences without fault, and each fault at a known packet. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/verify_talk.h"

#define NP_REST                                                                                     \
    "\"unmarked_cnps\": false, \"settings\": {\"dcqcn\": {\"np\": {\"min_time_between_cnps\": 50, " \
    "\"cnp_dscp\": 48, "                                                                            \
    "\"cnp_802p_prio\": 6}}}}"

#define NP "{" NP_REST

static struct talk talk;

static void begin(void)
{
    talk = (struct talk){.bytes.data = talk.bytes.data, .addressed = true, .dscp = 26, .ecn = FRAME_ECT_0};
    talk_start(&talk);
}

/* A packet of its own from A, marked on the way or not, and its ACK. Returns its number at B's port. */
static uint64_t packet(uint32_t psn, bool marked)
{
    struct frame f = talk_write(&talk, psn, 1, psn);
    talk_seen(&talk, HOST_A, true, talk.now_ns, &f);
    if (marked)
        f.roce.ip.ecn = FRAME_CE;
    uint64_t number = talk_seen(&talk, HOST_B, false, talk.now_ns += TALK_DELAY_NS, &f);
    f = talk_ack(&talk, psn, psn);
    talk.now_ns += TALK_DELAY_NS;
    talk_say(&talk, HOST_B, &f, false);
    return number;
}

/* Returns its number at B's port. */
static uint64_t cnp(void)
{
    struct frame f = talk_cnp(&talk);
    f.roce.ip.dscp = 48;
    return talk_say(&talk, HOST_B, &f, false);
}

/* Marks every 10 us, and a CNP for those that come at least 50 us after the one before. */
static uint32_t marks(int count)
{
    uint32_t psn = 0xfffff0;
    for (int i = 0; i < count; i++) {
        packet(psn++ & FRAME_PSN_MASK, true);
        if (i % 5 == 0)
            cnp();
        talk.now_ns += 10000;
    }
    return psn & FRAME_PSN_MASK;
}

static void good_cnps(void **state)
{
    (void)state;
    begin();
    marks(60);
    talk_good(&talk, "cnp", NP);
    talk_good(&talk, "ecn", NULL);
    talk_good(&talk, "go-back-n", NULL);
    talk.now_ns += 1000000;
    packet(1000, false);
    talk_good(&talk, "cnp", NP);
}

/* Unless it is said what the NICs do, a CNP without a mark is a remark, with its likely cause. */
static void expect_cause_with(const char *settings, const char *why)
{
    json_t *entry = talk_judge(&talk, "cnp", settings);
    const char *note = json_string_value(json_array_get(json_object_get(entry, "not_judged"), 0));
    if (!note || !strstr(note, why) || json_integer_value(json_object_get(entry, "count")))
        fail_msg("expected \"%s\", found \"%s\"", why, note ? note : "");
    json_decref(entry);
}

static void expect_cause(const char *why)
{
    expect_cause_with(NULL, why);
}

static void cnp_without_a_mark(void **state)
{
    (void)state;
    begin();
    uint32_t psn = marks(6);
    for (int i = 0; i < 30; i++) {
        talk.now_ns += 10000;
        packet(psn++, false);
    }
    uint64_t number = cnp();
    talk_bad(&talk, "cnp", NP, "CNP without a marked packet", number);
    begin();
    packet(1, false);
    talk.now_ns += 1000000;
    number = cnp();
    talk_bad(&talk, "cnp", "{\"unmarked_cnps\": false}", "CNP without a marked packet", number);
    expect_cause("why there is 1 CNP without a marked packet: likely because a port was full without a loss");
    talk_good(&talk, "cnp",
              "{\"unmarked_cnps\": true, \"settings\": {\"ecn\": [3], \"dcqcn\": {\"np\": "
              "{\"min_time_between_cnps\": 50}}}}");
    talk_bad(&talk, "cnp",
             "{\"unmarked_cnps\": true, \"ports\": [{\"interfaces\": [\"*\"], \"unmarked_cnps\": false}]}",
             "CNP without a marked packet", number);
    struct frame nak = talk_nak(&talk, 3, 2);
    talk_say(&talk, HOST_B, &nak, false);
    expect_cause(
        "why there is 1 CNP without a marked packet: likely for lost packets, as ConnectX-5 was measured to "
        "send them (1 NAK for missing packets;");
}

static void cnp_too_early(void **state)
{
    (void)state;
    begin();
    uint32_t psn = marks(6);
    talk.now_ns -= 10000;
    packet(psn, true);
    uint64_t number = cnp();
    talk_bad(&talk, "cnp", NP, "CNP too early", number);
    talk_unknown(&talk, "cnp",
                 "{\"unmarked_cnps\": true, \"settings\": {\"ecn\": [3], \"dcqcn\": {\"np\": "
                 "{\"min_time_between_cnps\": 50}}}}",
                 "whether 1 CNP within min_time_between_cnps came too early");
    expect_cause_with("{\"links_down\": true, " NP_REST, "whether 1 CNP came too early");
}

/* Also when the capture ends without it. */
static void mark_without_a_cnp(void **state)
{
    (void)state;
    for (int last = 0; last < 2; last++) {
        begin();
        uint32_t psn = marks(6);
        talk.now_ns += 100000;
        uint64_t number = packet(psn, true);
        talk.now_ns += 200000;
        packet(psn + 1, !last);
        if (!last)
            cnp();
        talk_bad(&talk, "cnp", NP, "marked packet without a CNP", number);
        talk_good(&talk, "cnp",
                  "{\"settings\": {\"ecn\": [3], \"trust\": \"pcp\", \"dcqcn\": {\"np\": "
                  "{\"min_time_between_cnps\": 50}}}}");
    }
}

/* A capture without any CNP is of a NIC that sends none, or of a place that does not see them. */
static void marks_without_any_cnp(void **state)
{
    (void)state;
    begin();
    uint64_t number = packet(1, true);
    talk.now_ns += 200000;
    packet(2, false);
    talk_bad(&talk, "cnp", NP, "marked packet without a CNP", number);
    talk.incomplete = true;
    talk_unknown(&talk, "cnp", NP, "whether 1 marked packet is answered: there is no CNP at all");
    cnp();
    talk_bad(&talk, "cnp", NP, "marked packet without a CNP", number);
}

/* A marked packet that is not acknowledged may have been lost in its receiver's NIC, which sends no CNP then:
 * at the end, until an ACK of what comes behind it, or a NAK. */
static void mark_that_was_lost(void **state)
{
    (void)state;
    for (int then = 0; then < 4; then++) {
        begin();
        uint32_t psn = marks(6);
        talk.now_ns += 100000;
        struct frame f = talk_write(&talk, psn, 1, psn);
        talk_seen(&talk, HOST_A, true, talk.now_ns, &f);
        f.roce.ip.ecn = FRAME_CE;
        uint64_t number = talk_seen(&talk, HOST_B, false, talk.now_ns += TALK_DELAY_NS, &f);
        talk.now_ns += 200000;
        if (then == 1 || then == 2) {
            f = then == 1 ? talk_ack(&talk, psn + 1, 8) : talk_nak(&talk, psn, 6);
            talk_say(&talk, HOST_B, &f, false);
        } else if (then == 3) {
            f = talk_write(&talk, psn + 1, 1, psn + 1); /* a later marked one has its CNP */
            f.roce.ip.ecn = FRAME_CE;
            talk_seen(&talk, HOST_B, false, talk.now_ns += TALK_DELAY_NS, &f);
            cnp();
        }
        if (then == 1)
            talk_bad(&talk, "cnp", NP, "marked packet without a CNP", number);
        else
            talk_good(&talk, "cnp", NP);
    }
}

#define PACED(by)                                                                  \
    "{" by "\"settings\": {\"ecn\": [0], \"trust\": \"pcp\", \"dcqcn\": {\"np\": " \
    "{\"min_time_between_cnps\": 50}}}}"

/* A NIC that keeps the interval for its port answers no mark of another connection within it. Unless it is
 * said what a NIC keeps it for, that is no fault. */
static void mark_behind_the_ports_cnp(void **state)
{
    (void)state;
    begin();
    uint32_t psn = marks(1);
    uint64_t number = 0;
    for (uint32_t i = 0; i < 4; i++) { /* a second connection; its last packet is marked */
        struct frame f = talk_write(&talk, 70000 + i, 1, 70000 + i);
        f.roce.bth.qpn = 0x201;
        f.roce.source_port = 50000;
        talk_seen(&talk, HOST_A, true, talk.now_ns, &f);
        f.roce.ip.ecn = i == 3 ? FRAME_CE : FRAME_ECT_0;
        number = talk_seen(&talk, HOST_B, false, talk.now_ns += TALK_DELAY_NS, &f);
        f = talk_ack(&talk, 70000 + i, i + 1);
        f.roce.bth.qpn = 0x101;
        f.roce.source_port = 50000;
        talk_say(&talk, HOST_B, &f, false);
    }
    talk.now_ns += 300000;
    packet(psn, false);
    talk_good(&talk, "cnp", PACED(""));
    talk_good(&talk, "cnp", PACED("\"cnp_pacing\": \"port\", "));
    talk_bad(&talk, "cnp", PACED("\"cnp_pacing\": \"queue-pair\", "), "marked packet without a CNP", number);
}

static void mark_in_an_answer(void **state)
{
    (void)state;
    begin();
    uint32_t psn = marks(6);
    talk.now_ns += 100000;
    packet(psn, true);
    struct frame f = talk_ack(&talk, psn, psn);
    f.roce.bth.becn = true;
    talk_say(&talk, HOST_B, &f, false);
    talk.now_ns += 200000;
    packet(psn + 1, false);
    talk_good(&talk, "cnp", NP);
}

static void marked_at_b(uint32_t psn)
{
    struct frame f = talk_write(&talk, psn, 1, psn);
    talk_seen(&talk, HOST_A, true, talk.now_ns, &f);
    f.roce.ip.ecn = FRAME_CE;
    talk_seen(&talk, HOST_B, false, talk.now_ns += TALK_DELAY_NS, &f);
    talk.now_ns += TALK_DELAY_NS;
}

/* The receiver's NIC loses a marked packet that came to its port, and asks for it; ACKs return marks, and
 * none is due. */
static void marks_that_need_no_cnp(void **state)
{
    (void)state;
    begin();
    uint32_t psn = marks(6);
    talk.now_ns += 100000;
    marked_at_b(psn);
    struct frame f = talk_nak(&talk, psn, psn - 1);
    talk_say(&talk, HOST_B, &f, false);
    talk.now_ns += 200000;
    packet(psn, false);
    talk_good(&talk, "cnp", NP);
    expect_cause_with(NP, "whether 1 marked packet has a CNP: the receiver asked for packets again");

    begin();
    psn = marks(6);
    talk.now_ns += 100000;
    for (int i = 0; i < 2; i++, psn++) {
        marked_at_b(psn);
        talk.now_ns += i ? 300000 : 0;
        marked_at_b(psn + 1);
        f = talk_ack(&talk, psn, psn);
        f.roce.bth.becn = true;
        talk_say(&talk, HOST_B, &f, false);
        talk.now_ns += 60000;
    }
    talk_good(&talk, "cnp", NP);
}

static void cnp_to_another_queue_pair(void **state)
{
    (void)state;
    begin();
    uint32_t psn = marks(1);
    /* a second connection, whose packets are not marked */
    struct frame f = talk_write(&talk, 70000, 1, 70000);
    f.roce.bth.qpn = 0x201;
    f.roce.source_port = 50000;
    talk_say(&talk, HOST_A, &f, false);
    f = talk_ack(&talk, 70000, 1);
    f.roce.bth.qpn = 0x101;
    f.roce.source_port = 50000;
    talk_say(&talk, HOST_B, &f, false);
    talk.now_ns += 90000;
    packet(psn, true);
    f = talk_cnp(&talk);
    f.roce.bth.qpn = 0x101;
    uint64_t number = talk_say(&talk, HOST_B, &f, false);
    talk_bad(&talk, "cnp", NULL, "CNP to the wrong queue pair", number);
}

static void cnp_with_wrong_fields(void **state)
{
    (void)state;
    begin();
    packet(5, true);
    struct frame f = talk_cnp(&talk);
    uint64_t number = talk_say(&talk, HOST_B, &f, false); /* DSCP 26 */
    talk_bad(&talk, "cnp", NP, "CNP with the wrong priority", number);
    begin();
    packet(5, true);
    f.roce.ip.dscp = 48;
    f.ethernet.tagged = true;
    f.ethernet.priority = 5;
    number = talk_say(&talk, HOST_B, &f, false);
    talk_bad(&talk, "cnp", NP, "CNP with the wrong priority", number);
    begin();
    packet(5, true);
    f = talk_cnp(&talk);
    f.roce.bth.becn = false;
    number = talk_say(&talk, HOST_B, &f, false);
    talk_bad(&talk, "cnp", NULL, "CNP with a wrong header", number);
}

#define UNTIMED                                                                        \
    "{\"times\": false, \"unmarked_cnps\": false, \"settings\": {\"dcqcn\": {\"np\": " \
    "{\"min_time_between_cnps\": 50}}}}"

/* Without times a CNP still needs a mark of its own, but for the first packets, whose marks may be from
 * before the capture. */
static void cnps_without_times(void **state)
{
    (void)state;
    begin();
    cnp();
    uint32_t psn = marks(20);
    for (int i = 0; i < 500; i++)
        packet(psn++, false);
    talk_good(&talk, "cnp", UNTIMED);
    for (int i = 0; i < 16; i++) /* there were 20 marks and 4 CNPs that took one */
        cnp();
    talk_good(&talk, "cnp", UNTIMED);
    uint64_t number = cnp();
    talk_bad(&talk, "cnp", UNTIMED, "CNP without a marked packet", number);
}

/* Marks whose CNPs cannot be judged are no reason to say that all is well. */
static void marks_that_are_not_judged(void **state)
{
    (void)state;
    begin();
    for (uint32_t psn = 1; psn < 9; psn++)
        packet(psn, true);
    talk_unknown(&talk, "cnp", UNTIMED, "nothing to judge");
    begin();
    struct frame f = talk_write(&talk, 1, 1, 1);
    f.roce.ip.ecn = FRAME_CE;
    talk_seen(&talk, HOST_B, false, talk.now_ns, &f); /* the capture has one direction only */
    talk_unknown(&talk, "cnp", NP, "what their receiver sends is not in the capture");
}

static void nothing_to_judge(void **state)
{
    (void)state;
    begin();
    packet(1, false);
    talk_unknown(&talk, "cnp", NP, "nothing to judge");
    begin();
    talk.addressed = false;
    talk_start(&talk);
    marks(7);
    talk_unknown(&talk, "cnp", NP, "not at the port");
    begin();
    talk_unknown(&talk, "ecn", NULL, "nothing to judge");
}

static void ecn_faults(void **state)
{
    uint64_t number;
    (void)state;
    begin();
    packet(1, false);
    talk.ecn = FRAME_CE;
    number = talk.number + 1;
    packet(2, false);
    talk_bad(&talk, "ecn", NULL, "marked by its sender", number);

    begin();
    packet(1, false);
    talk.ecn = FRAME_NOT_ECT;
    number = talk.number + 1;
    packet(2, false);
    talk_bad(&talk, "ecn", NULL, "not ECN-capable", number);

    begin();
    talk.ecn = FRAME_NOT_ECT;
    number = talk.number + 1;
    packet(1, false);
    talk_unknown(&talk, "ecn", NULL, "whether 2 data packets should be ECN-capable");
    talk_good(&talk, "ecn", "{\"settings\": {\"ecn\": [], \"trust\": \"dscp\"}}");
    talk_good(&talk, "ecn", "{\"settings\": {\"ecn\": [3], \"ecn_rp\": [], \"trust\": \"dscp\"}}");
    talk_bad(&talk, "ecn", "{\"settings\": {\"ecn\": [3], \"trust\": \"dscp\"}}", "not ECN-capable", number);
    number = packet(2, true);
    talk_bad(&talk, "ecn", NULL, "marked although not ECN-capable", number);

    begin();
    packet(1, false);
    struct frame f = talk_write(&talk, 2, 1, 2);
    f.roce.ip.dscp = 27; /* changed on the way */
    talk_seen(&talk, HOST_B, false, talk.now_ns, &f);
    talk_bad(&talk, "ecn", NULL, "DSCP changed", talk.number);
}

static void icrc_faults(void **state)
{
    uint8_t data[4200];
    (void)state;
    begin();
    struct frame f = talk_ack(&talk, 5, 1); /* short enough to be captured whole */
    talk_say(&talk, HOST_B, &f, false);
    talk_good(&talk, "icrc", NULL);
    f = talk_write(&talk, 7, 1, 7);
    uint32_t bytes = (uint32_t)frame_write(&f, data, sizeof data);
    bytes_packet(&talk.bytes, 0, 5, data, bytes, bytes, 2);
    talk_good(&talk, "icrc", NULL);
    data[2000] ^= 4;
    bytes_packet(&talk.bytes, 0, 5, data, bytes, bytes, 2);
    talk_bad(&talk, "icrc", NULL, "wrong ICRC", 4);

    begin();
    for (int i = 0; i < 16; i++) {
        bytes_packet(&talk.bytes, 0, 5, data, bytes, bytes, 2);
    }
    talk_unknown(&talk, "icrc", NULL, "whether receivers drop 16 packets: not one ICRC is right");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_cnps),
        cmocka_unit_test(cnp_without_a_mark),
        cmocka_unit_test(cnp_too_early),
        cmocka_unit_test(mark_without_a_cnp),
        cmocka_unit_test(marks_without_any_cnp),
        cmocka_unit_test(mark_that_was_lost),
        cmocka_unit_test(mark_behind_the_ports_cnp),
        cmocka_unit_test(mark_in_an_answer),
        cmocka_unit_test(marks_that_need_no_cnp),
        cmocka_unit_test(cnp_to_another_queue_pair),
        cmocka_unit_test(cnp_with_wrong_fields),
        cmocka_unit_test(ecn_faults),
        cmocka_unit_test(icrc_faults),
        cmocka_unit_test(cnps_without_times),
        cmocka_unit_test(marks_that_are_not_judged),
        cmocka_unit_test(nothing_to_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
