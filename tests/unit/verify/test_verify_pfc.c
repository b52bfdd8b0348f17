/* The checker of PFC: sequences without fault, and each fault at a known packet. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/verify_talk.h"

#define PRIORITY 3
#define SETTINGS "{\"settings\": {\"pfc\": [3], \"trust\": \"pcp\"}}"

static struct talk talk;

static void begin(void)
{
    talk =
        (struct talk){.bytes.data = talk.bytes.data, .addressed = true, .tagged = true, .priority = PRIORITY};
    talk_start(&talk);
}

/* A PFC frame to A's port, or from it. */
static uint64_t pfc(bool sent, uint8_t priorities, uint16_t quanta)
{
    struct frame f = {
        .kind = FRAME_PFC,
        .ethernet = {.destination = {1, 0x80, 0xc2, 0, 0, 1}, .source = {2, 0, 0, 0, 0, sent ? 0 : 9}},
        .pfc = {.priorities = priorities}};
    for (int i = 0; i < FRAME_PRIORITIES; i++)
        f.pfc.quanta[i] = quanta;
    uint64_t number = talk_seen(&talk, HOST_A, sent, talk.now_ns, &f);
    talk.now_ns += 100;
    return number;
}

/* A packet that A sends, or gets, so much later. */
static uint64_t data(bool sent, int64_t later_ns)
{
    static uint32_t psn;
    struct frame f = talk_write(&talk, psn, 1, psn);
    psn++;
    if (!sent) {
        f = talk_frame(&talk, HOST_B, OPCODE_WRITE_ONLY, psn);
        f.roce.payload_bytes = TALK_MTU;
    }
    talk.now_ns += later_ns;
    return talk_seen(&talk, HOST_A, sent, talk.now_ns, &f);
}

/* At 100 Gb/s a port has 2.017 us to respond, and a frame takes 0.34 us; 1000 quanta are 5.12 us. */
static void good(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 20; i++) {
        data(true, 400);
        pfc(false, 1 << PRIORITY, 1000);
        data(true, 200);
        data(true, 400);
        talk.now_ns += 2500;
        pfc(false, 1 << PRIORITY, 1000); /* again, before it runs out */
        talk.now_ns += 2500;
        pfc(false, 1 << PRIORITY, 0);
        data(true, 100);
        pfc(false, 1 << PRIORITY, 1000);
        data(true, 5200); /* it ran out */
    }
    talk_good(&talk, "pfc", SETTINGS);
    talk_unknown(&talk, "pfc", NULL, "which priorities may be paused (pfc is not set)");
}

static void sent_while_paused(void **state)
{
    (void)state;
    begin();
    data(true, 0);
    pfc(false, 1 << PRIORITY, 1000);
    uint64_t number = data(true, 2500);
    talk_bad(&talk, "pfc", SETTINGS, "sent while paused", number);

    begin(); /* paused again: the first pause counts */
    data(true, 0);
    pfc(false, 1 << PRIORITY, 1000);
    talk.now_ns += 3000;
    pfc(false, 1 << PRIORITY, 1000);
    number = data(true, 100);
    talk_bad(&talk, "pfc", SETTINGS, "sent while paused", number);

    begin(); /* another priority goes on */
    data(true, 0);
    pfc(false, 1 << 4, 1000);
    data(true, 3000);
    talk_good(&talk, "pfc", "{\"settings\": {\"pfc\": [3, 4], \"trust\": \"pcp\"}}");
    begin(); /* what comes in is not what is paused */
    data(false, 0);
    pfc(false, 1 << PRIORITY, 1000);
    data(false, 3000);
    talk_unknown(&talk, "pfc", SETTINGS, "whether ports obey 1 PFC frame: no RoCE packet that they send");
    data(true, 5000);
    talk_good(&talk, "pfc", SETTINGS);
}

static void not_repeated(void **state)
{
    (void)state;
    begin();
    data(true, 0);
    pfc(false, 1 << PRIORITY, 1000);
    talk.now_ns += 9000;
    uint64_t number = pfc(false, 1 << PRIORITY, 0);
    talk_bad(&talk, "pfc", SETTINGS, "pause ran out", number);
}

static void other_priorities(void **state)
{
    (void)state;
    begin();
    pfc(false, 1 << PRIORITY, 1000);
    uint64_t number = pfc(false, 1 << PRIORITY | 1 << 5, 1000);
    talk_bad(&talk, "pfc", SETTINGS, "pause of another priority", number);
    begin();
    pfc(true, 1 << PRIORITY, 1000);
    struct frame f = {.kind = FRAME_PAUSE, .pause_quanta = 7};
    number = talk_seen(&talk, HOST_A, false, talk.now_ns, &f);
    talk_bad(&talk, "pfc", SETTINGS, "pause of all priorities", number);
}

/* The driver's rule itself is in test_nic_config_thresholds. */
static void headroom(void **state)
{
    static const char settings[] =
        "{\"settings\": {\"pfc\": [3], \"trust\": \"pcp\", \"prio_to_buffer\": {\"3\": 1}, "
        "\"buffer_bytes\": [0, 150016], \"cable\": \"1m\", \"mtu\": 4200}}";
    uint64_t number = 0;
    (void)state;
    begin();
    data(true, 0);
    pfc(true, 1 << PRIORITY, 60000);
    talk_unknown(&talk, "pfc", settings, "whether what comes after 1 PFC frame fits into the headroom");
    for (int i = 0; i < 4; i++)
        data(false, 340);
    talk_good(&talk, "pfc", settings);
    begin();
    data(true, 0);
    pfc(true, 1 << PRIORITY, 60000);
    for (int i = 0; i < 10; i++) /* of 4174 bytes; the headroom is 41728 */
        number = data(false, 340);
    talk_bad(&talk, "pfc", settings, "more than the headroom", number);
}

static void storm(void **state)
{
    uint64_t number = 0;
    (void)state;
    begin();
    data(true, 0);
    for (int i = 0; i <= 10; i++) {
        number = pfc(false, 1 << PRIORITY, 60000); /* 307 us */
        talk.now_ns += 199900;
    }
    talk_good(&talk, "pfc", SETTINGS);
    talk_bad(&talk, "pfc", "{\"storm\": \"2ms\"}", "pause storm", number);
}

static void nothing_to_judge(void **state)
{
    (void)state;
    begin();
    data(true, 0);
    talk_unknown(&talk, "pfc", SETTINGS, "nothing to judge");
    begin();
    talk.addressed = false;
    talk.blind = true;
    talk_start(&talk);
    pfc(false, 1 << PRIORITY, 1000);
    data(true, 3000);
    talk_unknown(&talk, "pfc", NULL, "whose direction is not known");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good),
        cmocka_unit_test(sent_while_paused),
        cmocka_unit_test(not_repeated),
        cmocka_unit_test(other_priorities),
        cmocka_unit_test(headroom),
        cmocka_unit_test(storm),
        cmocka_unit_test(nothing_to_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
