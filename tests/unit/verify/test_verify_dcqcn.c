/* The checker of DCQCN's rate: a sender that obeys the rate machine, one that does not, and captures that
 * begin in the middle. */
#include "tests/unit/unit.h"

#include "sim/congestion/dcqcn.h"
#include "tests/unit/verify/verify_talk.h"

#define RUN_NS 20000000
#define CNP_NS 20000

static struct talk talk;

struct sender {
    struct dcqcn_params params;
    struct dcqcn machine;
    uint32_t psn;
    int64_t next_ns, cnp_ns, start_ns;
    bool middle;      /* of one message, without an end */
    int64_t every_ns; /* between CNPs */
    int slowness;     /* by what gaps are multiplied since the first CNP; 0: by 1 */
    int burst;        /* packets that are sent one behind the other, the last of which ends a message; 0: 1 */
    int in_burst;
    int64_t owed_ns; /* by the burst */
};

/* An ACK ties both queue pairs together. */
static void begin(struct sender *s)
{
    struct dcqcn_values values;
    talk = (struct talk){.bytes.data = talk.bytes.data,
                         .addressed = true,
                         .one_port = true,
                         .tagged = true,
                         .priority = 3,
                         .ecn = FRAME_ECT_0};
    talk_start(&talk);
    dcqcn_defaults(&values);
    *s = (struct sender){
        .start_ns = talk.now_ns, .next_ns = talk.now_ns, .cnp_ns = talk.now_ns + CNP_NS, .every_ns = CNP_NS};
    dcqcn_params_init(&s->params, &values.rp, TALK_BPS / 10);
    dcqcn_init(&s->machine, &s->params);
}

static void cnp(struct sender *s)
{
    struct frame f = talk_cnp(&talk);
    f.roce.source_port = 49152;
    talk_seen(&talk, HOST_A, false, s->cnp_ns, &f);
    dcqcn_cnp(&s->machine, &s->params, (s->cnp_ns - s->start_ns) * SIM_PS_PER_NS);
    s->cnp_ns += s->every_ns;
}

#define LINE_NS 3343 /* of a packet */

/* Send until this time, at the machine's rate or at the line's; a tenth of it is what the NIC has. Returns
 * the number of the last packet. */
static uint64_t send(struct sender *s, int64_t until_ns, bool obeys, bool captured)
{
    while (s->next_ns < until_ns) {
        if (s->cnp_ns <= s->next_ns) {
            if (captured)
                cnp(s);
            else {
                dcqcn_cnp(&s->machine, &s->params, (s->cnp_ns - s->start_ns) * SIM_PS_PER_NS);
                s->cnp_ns += s->every_ns;
            }
            continue;
        }
        struct frame f = talk_write(&talk, s->psn, 1, s->psn);
        f.roce.bth.ack_request = false;
        bool ends = s->burst && s->in_burst + 1 == s->burst;
        f.roce.bth.opcode = s->middle && !ends ? OPCODE_WRITE_MIDDLE : OPCODE_WRITE_ONLY;
        if (captured)
            talk_seen(&talk, HOST_A, true, s->next_ns, &f);
        int64_t now_ps = (s->next_ns - s->start_ns) * SIM_PS_PER_NS;
        dcqcn_advance(&s->machine, &s->params, now_ps);
        int64_t gap_ps = dcqcn_gap_ps(&s->machine, &s->params, now_ps, 4178);
        dcqcn_sent(&s->machine, &s->params, 4178);
        bool slow = s->slowness && s->machine.alpha_tick_ps != SIM_FOREVER;
        int64_t gap_ns = obeys ? gap_ps / SIM_PS_PER_NS * (slow ? s->slowness : 1) + 1 : LINE_NS;
        s->owed_ns += s->burst ? gap_ns - LINE_NS : 0;
        s->next_ns += s->burst ? LINE_NS + (ends ? s->owed_ns : 0) : gap_ns;
        s->owed_ns = ends ? 0 : s->owed_ns;
        s->in_burst = ends ? 0 : s->in_burst + 1;
        s->psn++;
    }
    return talk.number;
}

#define RATE "{\"link_rate\": \"10Gb/s\", \"settings\": {\"ecn\": [3], \"trust\": \"pcp\"}}"

static void obeys(void **state)
{
    struct sender s;
    (void)state;
    begin(&s);
    send(&s, s.start_ns + RUN_NS / 4, true, true);
    talk_good(&talk, "dcqcn", RATE);
    talk_start(&talk);
    struct frame f = talk_write(&talk, 0, 1, 0);
    talk_seen(&talk, HOST_A, true, talk.now_ns, &f);
    talk_unknown(&talk, "dcqcn", RATE, "the rate of 1 packet: no CNP to a sender is in the capture");
    begin(&s);
    send(&s, s.start_ns + RUN_NS / 4, true, true);
    talk_unknown(&talk, "dcqcn", "{}", "not known whether DCQCN holds for them (ecn, trust)");
    talk_unknown(&talk, "dcqcn", "{\"settings\": {\"ecn\": [4], \"trust\": \"pcp\"}}",
                 "packets without DCQCN");
}

/* CNPs before the capture are not seen: the machine of the checker then is the faster one. */
static void begins_in_the_middle(void **state)
{
    struct sender s;
    (void)state;
    begin(&s);
    send(&s, s.start_ns + RUN_NS / 8, true, false);
    send(&s, s.start_ns + RUN_NS / 2, true, true);
    talk_good(&talk, "dcqcn", RATE);
    begin(&s); /* a queue pair that obeys sends in no bursts */
    s.middle = true;
    s.every_ns = 4 * CNP_NS;
    send(&s, s.start_ns + RUN_NS / 8, true, false);
    send(&s, s.start_ns + RUN_NS / 2, true, true);
    talk_good(&talk, "dcqcn", RATE);
    json_t *entry = talk_judge(&talk, "dcqcn", RATE);
    const char *reason = json_string_value(json_object_get(entry, "reason"));
    if (!strstr(reason,
                "; by how much 1 queue pair is slower than the machine is not known: the first CNP of "
                "the capture does not cut the line's rate, as if others came before it"))
        fail_msg("what came before the capture is not said to be unknown: %s", reason);
    if (strstr(reason, "bursts") || strstr(reason, "of the machine's rate, "))
        fail_msg("what is not known is told: %s", reason);
    json_decref(entry);
}

/* Also where a mirror cut the packets before they were captured: their headers say how long they were. */
static void does_not_obey(void **state)
{
    struct sender s;
    begin(&s);
    talk.sliced = *state;
    uint64_t from = send(&s, s.start_ns + RUN_NS / 10, true, true);
    uint64_t to = send(&s, s.start_ns + RUN_NS / 10 + 1000000, false, true);
    json_t *entry = talk_judge(&talk, "dcqcn", RATE);
    const json_t *found = json_array_get(json_object_get(entry, "findings"), 0);
    const json_t *packet = json_array_get(json_object_get(found, "packets"), 0);
    uint64_t number = (uint64_t)json_integer_value(json_object_get(packet, "packet"));
    char *shown = json_shown(entry);
    /* 64 frames and more ahead, of about 300 that it sends */
    if (number <= from + 64 || number > from + 200 || number > to)
        fail_msg("expected a packet from %d to %d, found %s", (int)from + 64, (int)from + 200, shown);
    free(shown);
    json_decref(entry);
}

/* No port sends faster than its line: then the rate that was said is wrong, not the sender. */
static void faster_than_the_line(void **state)
{
    struct sender s;
    (void)state;
    begin(&s);
    send(&s, s.start_ns + RUN_NS / 10, true, true);
    send(&s, s.start_ns + RUN_NS / 10 + 1000000, false, true);
    talk_unknown(&talk, "dcqcn",
                 "{\"link_rate\": \"5Gb/s\", \"settings\": {\"ecn\": [3], \"trust\": \"pcp\"}}",
                 "Gb/s on a link of 5.000 Gb/s: that is not the link's rate (link_rate)");
}

/* The share of what the machine allows, in %; 0: it is not told. */
static double share(const char *settings)
{
    json_t *entry = talk_judge(&talk, "dcqcn", settings);
    const char *reason = json_string_value(json_object_get(entry, "reason")),
               *at = strstr(reason, "queue pairs sent ");
    double value = at ? strtod(at + strlen("queue pairs sent "), NULL) : 0;
    if (at && !strstr(at, " % of the machine's rate, "))
        fail_msg("not a share of the machine's rate: %s", at);
    if (at && !strstr(at, "; up to 128 KiB and 32 frames ahead of it are allowed"))
        fail_msg("what is allowed above the machine's rate is not said: %s", at);
    json_decref(entry);
    return value;
}

/* By how much a sender is slower is told where it has more to send, and is not held a fault. */
static void slower(void **state)
{
    struct sender s;
    (void)state;
    for (int slowness = 1; slowness <= 2; slowness++) {
        begin(&s);
        s.middle = true;
        s.every_ns = 10 * CNP_NS;
        s.slowness = slowness;
        send(&s, s.start_ns + RUN_NS / 4, true, true);
        talk_good(&talk, "dcqcn", RATE);
        double expected = 100.0 / slowness;
        if (share(RATE) < expected - 2 || share(RATE) > expected + 2)
            fail_msg("expected %.0f %%, found %.1f %%", expected, share(RATE));
    }
    begin(&s); /* messages of one packet: it may have nothing more to send */
    s.slowness = 2;
    send(&s, s.start_ns + RUN_NS / 4, true, true);
    assert_true(share(RATE) == 0);
}

/* In a burst a queue pair sends at the line's rate, and waits behind it: that is no rate above the machine's.
 */
static void in_bursts(void **state)
{
    struct sender s;
    (void)state;
    begin(&s);
    s.middle = true;
    s.every_ns = 2 * CNP_NS;
    s.burst = 31;
    send(&s, s.start_ns + RUN_NS, true, true);
    talk_good(&talk, "dcqcn", RATE);
    if (share(RATE) != 0)
        fail_msg("a share of the machine's rate is told of bursts: %.1f %%", share(RATE));
    json_t *entry = talk_judge(&talk, "dcqcn", RATE);
    assert_non_null(strstr(json_string_value(json_object_get(entry, "reason")),
                           "1 queue pair sent in bursts, faster than the machine in the middle of messages: "
                           "by how much they are slower does not show"));
    json_decref(entry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obeys),         cmocka_unit_test(begins_in_the_middle),
        cmocka_unit_test(does_not_obey), cmocka_unit_test_prestate(does_not_obey, &talk),
        cmocka_unit_test(slower),        cmocka_unit_test(faster_than_the_line),
        cmocka_unit_test(in_bursts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
