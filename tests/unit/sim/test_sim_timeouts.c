/* A peer that is silent: when the simulator's requester sends again and gives up, against measurements of
 * ConnectX (openfabric-systems/simllm and unionxic/rdma-fault-characterization, 2026). Rows S-7.nn. */
#include "lib/roce/retransmission.h"
#include "sim/capture.h"
#include "tests/unit/sim/inject_lab.h"
#include "tests/unit/sim/sim_two_hosts.h"

#define SEED 20 /* seeds tried for what is drawn */

/* What a requester showed until its error. */
struct silence {
    double detect_ms;
    int64_t adaptive, timeouts, exceeded, errors, notified, restart_cnps, sent_cnps, frames, answers;
};

static int64_t timeout_ps(int exponent)
{
    return INT64_C(4096000) << exponent;
}

static void modelled(struct physics_nic *nic, int exponent, int retries)
{
    nic->ack_timeout_ps = timeout_ps(exponent);
    nic->retry_count = retries;
    nic->adaptive_retransmission = nic->slow_restart = 1;
}

/* A message of 64 B to a peer from which nothing comes. */
static struct silence be_silent(const struct physics_nic *nic, enum sim_operation operation, uint64_t seed)
{
    struct two_hosts t;
    two_hosts_init(&t);
    struct sim_flow_config *f = two_hosts_flow(&t, 0);
    f->operation = operation;
    f->message_bytes = 64;
    f->depth = f->message_count = 1;
    t.config.seed = seed;
    t.hosts[0].nic = *nic;
    t.link.loss_per_billion = 1000000000;
    two_hosts_run(&t, 100 * SIM_PS_PER_S);
    struct sim_flow_stats s = two_hosts_stats(&t, 0);
    assert_int_equal(s.failed, 1);
    struct silence seen = {.detect_ms = (double)s.failed_ps / (double)MS,
                           .adaptive = two_hosts_value(&t, 0, "roce_adp_retrans"),
                           .timeouts = two_hosts_value(&t, 0, "local_ack_timeout_err"),
                           .exceeded = two_hosts_value(&t, 0, "req_transport_retries_exceeded"),
                           .errors = two_hosts_value(&t, 0, "req_cqe_error"),
                           .notified = two_hosts_value(&t, 0, "rp_cnp_handled"),
                           .restart_cnps = two_hosts_value(&t, 0, "roce_slow_restart_cnps"),
                           .sent_cnps = two_hosts_value(&t, 0, "np_cnp_sent"),
                           .frames = two_hosts_value(&t, 0, "tx_prio0_packets"),
                           .answers = two_hosts_value(&t, 1, "tx_prio0_packets")};
    assert_int_equal(s.failed_adaptive, seen.adaptive);
    assert_true(seen.detect_ms - (double)s.failed_silence_ps / (double)MS < 0.01);
    two_hosts_close(&t);
    return seen;
}

static void assert_within(double is, double least, double most, const char *row)
{
    if (!(is >= least && is <= most))
        fail_msg("%s: %g, expected %g..%g", row, is, least, most);
}

/* S-7.01 to S-7.10, S-7.18: with the floor. Detect times, the regular time-outs, what is resent. */
static void with_the_floor(void **state)
{
    static const struct {
        const char *row;
        int exponent, retries;
        double ms, band_ms;
        int regular; /* time-outs counted */
    } rows[] = {
        {"S-7.01", 14, 7, 3661.6, 1.5, 6},
        {"S-7.02", 16, 7, 3661.6, 1.5, 6},
        {"S-7.03", 10, 7, 3661.55, 1.5, 6},
        {"S-7.04", 20, 7, 59766, 0.02 * 59766, 6},
        {"S-7.06", 14, 1, 440.4, 1.5, 0},
        {"S-7.07", 14, 2, 977.6, 1.5, 1},
        {"S-7.08", 14, 5, 2588.2, 1.5, 4},
        {"S-7.18, 3 retries", 14, 3, 1514.3, 1.5, 2},
        {"S-7.18, 4 retries", 14, 4, 2051.4, 1.5, 3},
        {"S-7.18, 6 retries", 14, 6, 3124.8, 1.5, 5},
        {"retries x interval - 364 ms", 17, 7, 7 * 1073.742 - 364, 2, 6},
        {"retries x interval - 364 ms", 18, 3, 3 * 2147.484 - 364, 2, 2},
        {"retries x interval - 364 ms", 19, 5, 5 * 4294.967 - 364, 2, 4},
        {"no retries", 14, 0, 2050, 10, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool long_one = rows[i].exponent > 16, none = !rows[i].retries;
        int64_t least = 99, most = 0;
        for (uint64_t seed = 1; seed <= SEED; seed++) {
            struct physics_nic nic;
            table_defaults(&physics_nic_table, &nic);
            modelled(&nic, rows[i].exponent, rows[i].retries);
            struct silence s = be_silent(&nic, seed % 2 ? SIM_WRITE : SIM_SEND, seed);
            assert_within(s.detect_ms, rows[i].ms - rows[i].band_ms, rows[i].ms + rows[i].band_ms,
                          rows[i].row);
            assert_int_equal(s.timeouts, rows[i].regular);
            /* own frames = 1 + adaptive + (R - 2); S-7.10: 16 or 17 at 20, 7 */
            assert_int_equal(s.frames, 1 + s.adaptive + rows[i].regular - 1);
            if (rows[i].exponent == 20)
                assert_true(s.frames == 16 || s.frames == 17);
            if (none)
                assert_int_equal(s.frames, 1 + 7);
            least = s.adaptive < least ? s.adaptive : least;
            most = s.adaptive > most ? s.adaptive : most;
            /* S-4.07, S-4.08, S-6.13, S-6.16 */
            assert_int_equal(s.notified, s.adaptive + s.timeouts - 1);
            assert_int_equal(s.restart_cnps, s.notified);
            assert_int_equal(s.sent_cnps, 0);
            assert_int_equal(s.exceeded, 1);
            assert_int_equal(s.errors, 1);
            assert_int_equal(s.answers, 0);
        }
        if (!long_one && !none) { /* each entry of the ladder is drawn: 4 to 7 adaptive ones */
            assert_int_equal(least, 4);
            assert_int_equal(most, 7);
        }
    }
}

/* S-7.11 to S-7.14, S-7.20, S-7.21: without it, from 0.51 + R + 1 to 1.16 + R + 1 time-outs; R + 2 are
 * counted, R resent. Bands are those of the measurements. */
static void without_the_floor(void **state)
{
    static const struct {
        const char *row;
        int exponent, retries;
        double least_ms, most_ms;
    } rows[] = {
        {"S-7.11", 8, 7, 9.49 - 1.2, 9.49 + 1.2},
        {"S-7.12", 8, 0, 2.24 - 1.2, 2.24 + 1.2},
        {"S-7.13", 14, 7, 569, 616},
        {"S-7.14", 20, 7, 37900 * 0.95, 37900 * 1.05},
        {"S-7.20, 1", 8, 1, 3.11 - 1.2, 3.11 + 1.2},
        {"S-7.20, 2", 8, 2, 4.57 - 1.2, 4.57 + 1.2},
        {"S-7.20, 3", 8, 3, 5.43 - 1.2, 5.43 + 1.2},
        {"S-7.20, 5", 8, 5, 7.33 - 1.2, 7.33 + 1.2},
        {"S-7.21, 16", 16, 7, 8.51 * 268.43, 9.16 * 268.44},
        {"S-7.21, 17", 17, 7, 8.51 * 536.87, 9.16 * 536.88},
        {"S-7.21, 18", 18, 7, 8.51 * 1073.74, 9.16 * 1073.75},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint64_t seed = 1; seed <= SEED; seed++) {
            struct physics_nic nic;
            table_defaults(&physics_nic_table, &nic);
            modelled(&nic, rows[i].exponent, rows[i].retries);
            nic.min_ack_timeout_limit_disabled = 1;
            struct silence s = be_silent(&nic, SIM_WRITE, seed);
            double nominal_ms = (double)timeout_ps(rows[i].exponent) / (double)MS;
            assert_within(s.detect_ms, rows[i].least_ms, rows[i].most_ms, rows[i].row);
            assert_within(s.detect_ms / nominal_ms - rows[i].retries - 1, 0.51, 1.17, rows[i].row);
            assert_int_equal(s.adaptive, 0);
            assert_int_equal(s.timeouts, rows[i].retries + 2);
            assert_int_equal(s.frames, 1 + rows[i].retries);
            assert_int_equal(s.notified, rows[i].retries);
        }
}

/* S-6.13, S-7.15, S-7.22: the older pair. */
static void firmware_16_35(void **state)
{
    static const struct {
        const char *row;
        int exponent, retries, off;
        double ms, share;
    } rows[] = {
        {"S-6.13", 14, 7, 0, 3651, 0.05},       {"S-7.15", 8, 7, 1, 12.26, 0.2},
        {"S-7.22, on, 0", 8, 0, 0, 428, 0.05},  {"S-7.22, on, 3", 8, 3, 0, 2038, 0.05},
        {"S-7.22, on, 7", 8, 7, 0, 3651, 0.05}, {"S-7.22, off, 0", 8, 0, 1, 1.2, 0.2},
        {"S-7.22, off, 3", 8, 3, 1, 5.9, 0.2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct physics_nic nic;
        table_defaults(&physics_nic_table, &nic);
        modelled(&nic, rows[i].exponent, rows[i].retries);
        nic.retransmission_firmware = RETRANSMISSION_16_35;
        nic.min_ack_timeout_limit_disabled = rows[i].off;
        struct silence s = be_silent(&nic, SIM_WRITE, i + 1);
        assert_within(s.detect_ms, rows[i].ms * (1 - rows[i].share), rows[i].ms * (1 + rows[i].share),
                      rows[i].row);
        if (i == 0) {
            assert_int_equal(s.timeouts, 6);
            assert_int_equal(s.adaptive, 8);
            assert_int_equal(s.exceeded, 1);
        }
    }
}

/* S-7.09: six regular time-outs, 536.9 ms apart; the resends before them at the published times after the
 * request. S-6.06: a firmware that does not count them resends all the same. */
static void times_of_resends(void **state)
{
    static const double ladder_ms[] = {12.5, 20.9, 37.6, 71.4, 138.4, 239.0, 440.4};
    (void)state;
    for (int counts = 0; counts < 2; counts++) {
        struct two_hosts t;
        two_hosts_init(&t);
        struct sim_flow_config *f = two_hosts_flow(&t, 0);
        f->message_bytes = 64;
        f->depth = f->message_count = 1;
        modelled(&t.hosts[0].nic, 14, 7);
        t.hosts[0].nic.counts_timeouts = counts;
        t.link.loss_per_billion = 1000000000;
        const bool ports[2] = {true, true};
        struct sim_capture_config capture = {
            .ports = ports, .priorities = UINT8_MAX, .until_ps = SIM_FOREVER};
        t.config.capture = &capture;
        two_hosts_run(&t, 10 * SIM_PS_PER_S);
        const struct sim_captured_at *frames;
        size_t count = sim_captured(t.sim, &frames), adaptive = 0;
        for (size_t i = 1; i < count; i++) {
            double ms = (double)frames[i].frame->time_ps / (double)MS;
            size_t step = i - 1;
            if (ms < 441)
                assert_within(ms,
                              ladder_ms[step + 7 - (size_t)two_hosts_value(&t, 0, "roce_adp_retrans")] - 0.05,
                              ladder_ms[step + 7 - (size_t)two_hosts_value(&t, 0, "roce_adp_retrans")] + 0.05,
                              "resend");
            else
                assert_within(ms - (double)frames[i - 1].frame->time_ps / (double)MS, 536.3, 537.5, "S-7.09");
            adaptive += ms < 441;
        }
        assert_int_equal(adaptive, two_hosts_value(&t, 0, "roce_adp_retrans"));
        assert_int_equal(count - 1 - adaptive, 5);
        assert_int_equal(two_hosts_value(&t, 0, "local_ack_timeout_err"), counts ? 6 : 0);
        two_hosts_close(&t);
    }
}

/* The times count from the request, however late a resend leaves: at 5 Mb/s a packet takes 6.6 ms. */
static void slow_senders(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    struct sim_flow_config *f = two_hosts_flow(&t, 0);
    f->message_bytes = 1000 * 4096;
    f->depth = f->message_count = 1;
    f->rate_bps = 5000000;
    modelled(&t.hosts[0].nic, 14, 7);
    t.link.loss_per_billion = 1000000000;
    two_hosts_run(&t, 10 * SIM_PS_PER_S);
    assert_within((double)two_hosts_stats(&t, 0).failed_silence_ps / (double)MS, 3660.1, 3663.1, "slow");
    two_hosts_close(&t);
}

/* A read waits in the same way; what is off is off. */
static void reads_and_the_specification(void **state)
{
    (void)state;
    struct physics_nic nic;
    table_defaults(&physics_nic_table, &nic);
    modelled(&nic, 14, 7);
    struct silence s = be_silent(&nic, SIM_READ, 1);
    assert_within(s.detect_ms, 3660.1, 3663.1, "read");
    assert_int_equal(s.notified, s.adaptive + s.timeouts - 1);
    struct two_hosts t;
    two_hosts_init(&t);
    struct sim_flow_config *f = two_hosts_flow(&t, 0);
    f->message_bytes = 64;
    f->depth = f->message_count = 1;
    t.hosts[0].nic.retry_count = 7;
    t.link.loss_per_billion = 1000000000;
    two_hosts_run(&t, SIM_PS_PER_S);
    assert_within((double)two_hosts_stats(&t, 0).failed_ps / (double)MS, 536.8, 537, "specification");
    assert_int_equal(two_hosts_value(&t, 0, "local_ack_timeout_err"), 8);
    two_hosts_close(&t);
}

/* A peer that answers ends the silence, and the next one begins with the first steps again: a link that loses
 * a tenth of all frames costs a message in five the first of the steps, of 35.6 ms on average. */
static void progress_begins_anew(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    struct sim_flow_config *f = two_hosts_flow(&t, 0);
    f->message_bytes = 64;
    f->depth = 1;
    f->message_count = 1000;
    modelled(&t.hosts[0].nic, 14, 7);
    t.link.loss_per_billion = 100000000;
    two_hosts_run(&t, 60 * SIM_PS_PER_S);
    struct sim_flow_stats s = two_hosts_stats(&t, 0);
    assert_int_equal(s.failed, 0);
    assert_int_equal(s.messages, 1000);
    assert_within((double)two_hosts_value(&t, 0, "roce_adp_retrans"), 200, 280, "resends");
    assert_within((double)s.finished_ps / (double)MS / 1000, 7, 14, "mean of a message");
    two_hosts_close(&t);
}

/* No packet of a message but the last requests an ACK: while it is sent no time-out comes, however long that
 * takes. When it has been sent, or nothing is sent any more, one does. */
static void long_messages_take_their_time(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        struct two_hosts t;
        two_hosts_init(&t);
        struct sim_flow_config *f = two_hosts_flow(&t, 0);
        f->message_bytes = 25000000; /* 8.2 ms */
        f->depth = f->message_count = 1;
        t.hosts[0].nic.ack_timeout_ps = MS;
        t.hosts[0].nic.retry_count = 2;
        t.link.loss_per_billion = lost ? 1000000000 : 0;
        two_hosts_run(&t, 60 * MS);
        struct sim_flow_stats s = two_hosts_stats(&t, 0);
        assert_int_equal(s.messages, !lost);
        assert_int_equal(s.failed, lost);
        assert_int_equal(two_hosts_value(&t, 0, "local_ack_timeout_err"), lost ? 3 : 0);
        assert_int_equal(two_hosts_value(&t, 1, "duplicate_request"), 0);
        two_hosts_close(&t);
    }
}

/* ---- a receiver that is not ready: S-6.12, S-7.16, S-7.17, S-8.09 */

static struct sim_flow_stats send_to_unready(struct lab *lab, bool as_measured, int64_t added_us,
                                             int64_t retries, int64_t timer_us, int64_t times)
{
    open_lab(lab, 2);
    struct physics_nic *nic = &lab->f.hosts[0].nic;
    nic->adaptive_retransmission = as_measured;
    nic->rnr_retry = retries;
    nic->rnr_timer_ps = timer_us * US;
    nic->rnr_added_ps = added_us ? added_us * US : FIELD_UNSET;
    struct sim_flow_config *f = fixture_flow(&lab->f, 0, 1, 4000); /* four packets: three follow */
    f->operation = SIM_SEND;
    struct sim_injection *r = add_rule(lab, PACKET_DATA, SIM_INJECT_NOT_READY);
    r->most = times;
    run(lab, 100 * MS);
    struct sim_flow_stats stats;
    sim_flow_stats(lab->sim, 0, &stats);
    return stats;
}

static void receivers_not_ready(void **state)
{
    static const struct {
        const char *row;
        bool as_measured;
        int64_t added_us, retries, timer_us;
        double least_ms, most_ms;
    } rows[] = {{"S-7.16", true, 0, 6, 640, 11.5, 13.5},
                {"S-7.17", true, 0, 1, 120, 1, 2},
                {"S-7.17 of ConnectX-4", false, 1380, 1, 120, 1.5, 1.51},
                {"S-6.12", true, 0, 0, 640, 0, 0.1},
                {"specification", false, 0, 6, 640, 3.84, 3.9}};
    struct lab lab;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_flow_stats s = send_to_unready(&lab, rows[i].as_measured, rows[i].added_us,
                                                  rows[i].retries, rows[i].timer_us, INT64_MAX);
        assert_int_equal(s.failed, 1);
        assert_true(s.failed_not_ready);
        assert_within((double)s.failed_silence_ps / (double)MS, rows[i].least_ms, rows[i].most_ms,
                      rows[i].row);
        assert_int_equal(of_host(&lab, 0, "rnr_nak_retry_err"), rows[i].retries + 1);
        assert_int_equal(of_host(&lab, 1, "out_of_buffer"), rows[i].retries + 1);
        assert_int_equal(of_host(&lab, 0, "req_rnr_retries_exceeded"), 1);
        assert_int_equal(of_host(&lab, 0, "req_transport_retries_exceeded"), 0);
        assert_int_equal(of_host(&lab, 0, "local_ack_timeout_err"), 0);
        assert_int_equal(of_host(&lab, 0, "packet_seq_err"), 0);
        close_lab(&lab);
    }
    struct sim_flow_stats s = send_to_unready(&lab, true, 0, 7, 640, 9); /* seven retries are without end */
    assert_int_equal(s.failed, 0);
    assert_within((double)s.finished_ps / (double)MS, 9 * 2.07, 9 * 2.07 + 0.1, "ready at last");
    close_lab(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_the_floor),
        cmocka_unit_test(without_the_floor),
        cmocka_unit_test(firmware_16_35),
        cmocka_unit_test(times_of_resends),
        cmocka_unit_test(slow_senders),
        cmocka_unit_test(long_messages_take_their_time),
        cmocka_unit_test(receivers_not_ready),
        cmocka_unit_test(reads_and_the_specification),
        cmocka_unit_test(progress_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
