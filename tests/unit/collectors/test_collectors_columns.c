/* Columns, how counters are unwrapped, and how both are shown to Prometheus. */
#include "tests/unit/unit.h"

#include "collectors/sampler/prometheus_text.h"
#include "collectors/sources/source.h"
#include "collectors/sampler/sampler.h"

#define C COLUMN_COUNTER
#define G COLUMN_GAUGE

static void columns_grow(void **state)
{
    (void)state;
    struct column_set set = {0};
    struct error e;
    char name[32];
    for (int i = 0; i < SOURCE_MAX_COLUMNS; i++) {
        snprintf(name, sizeof name, "counter_%d", i);
        assert_int_equal(column_set_add(&set, name, &e), 0);
    }
    assert_string_equal(set.items[1000].name, "counter_1000");
    assert_int_equal(column_set_add(&set, "one more", &e), -1);
    column_set_free(&set);
    assert_int_equal(set.count, 0);
}

/* ---- unwrapping */

static int64_t unwrap_by(struct unwrap *u, int64_t raw, bool wraps32, bool reopened, bool *reset)
{
    enum unwrap_step step = unwrap_look(u, raw, wraps32, reopened);
    *reset = *reset || step == UNWRAP_RESET;
    return unwrap_next(u, raw, step);
}

static void a_counter_of_32_bits_wraps(void **state)
{
    (void)state;
    struct unwrap u = {0};
    bool reset = false;
    assert_int_equal(unwrap_by(&u, 4294967290, true, false, &reset), 4294967290);
    assert_int_equal(unwrap_by(&u, 4, true, false, &reset), 4294967300);
    assert_int_equal(unwrap_by(&u, 4294967295, true, false, &reset), 2 * 4294967296 - 1);
    assert_int_equal(unwrap_by(&u, 0, true, false, &reset), 2 * 4294967296);
    assert_false(reset);
}

static void a_reset_counts_on(void **state)
{
    (void)state;
    struct unwrap u = {0};
    bool reset = false;
    /* 64 bits wide: going back is a reset, however near to 2^32 */
    assert_int_equal(unwrap_by(&u, 4294967290, false, false, &reset), 4294967290);
    assert_int_equal(unwrap_by(&u, 3, false, false, &reset), 4294967293);
    assert_true(reset);
    /* 32 bits wide, but the way round is longer than the way back */
    u = (struct unwrap){0};
    reset = false;
    assert_int_equal(unwrap_by(&u, 1000, true, false, &reset), 1000);
    assert_int_equal(unwrap_by(&u, 10, true, false, &reset), 1010);
    assert_true(reset);
    /* beyond 32 bits it cannot wrap at 32 */
    u = (struct unwrap){0};
    reset = false;
    assert_int_equal(unwrap_by(&u, 8589934592, true, false, &reset), 8589934592);
    assert_int_equal(unwrap_by(&u, 1, true, false, &reset), 8589934593);
    assert_true(reset);
    /* after the driver was away, lower means reset */
    u = (struct unwrap){0};
    reset = false;
    assert_int_equal(unwrap_by(&u, 4294967290, true, false, &reset), 4294967290);
    assert_int_equal(unwrap_by(&u, 4, true, true, &reset), 4294967294);
    assert_true(reset);
}

static void a_counter_that_goes_back_a_little_stays(void **state)
{
    (void)state;
    struct unwrap u = {0};
    bool reset = false;
    assert_int_equal(unwrap_by(&u, 1000000, false, false, &reset), 1000000);
    assert_int_equal(unwrap_look(&u, 999990, false, false), UNWRAP_DECREASED);
    assert_int_equal(unwrap_by(&u, 999990, false, false, &reset), 1000000);
    assert_true(u.held);
    assert_int_equal(unwrap_by(&u, 999999, true, false, &reset), 1000000);
    assert_int_equal(unwrap_by(&u, 1000003, false, false, &reset), 1000003);
    assert_false(u.held || reset);
    /* after the driver was away it is a reset, however little it lost */
    assert_int_equal(unwrap_by(&u, 999990, false, true, &reset), 1999993);
    assert_true(reset);
}

static void a_counter_that_lies_does_not_overflow(void **state)
{
    (void)state;
    struct unwrap u = {0};
    bool reset = false;
    for (int i = 0; i < 10; i++) {
        assert_true(unwrap_by(&u, INT64_MAX, false, false, &reset) >= 0);
        assert_true(unwrap_by(&u, 0, false, false, &reset) >= 0);
    }
}

/* ---- Prometheus */

static void check_metric(const char *name, const char *unit, enum column_kind kind, const char *family,
                         const char *labels)
{
    struct column column = {.name = (char *)(uintptr_t)name, .unit = (char *)(uintptr_t)unit, .kind = kind};
    struct prometheus_metric m;
    prometheus_metric(&column, &m);
    assert_string_equal(m.family, family);
    assert_string_equal(m.labels, labels);
}

static void metrics_follow_conventions(void **state)
{
    (void)state;
    check_metric("rx_prio3_pause", "frames", C, "nic_rx_prio_pause_frames_total", "prio=\"3\"");
    check_metric("rx_prio3_pause_duration", "us", C, "nic_rx_prio_pause_duration_seconds_total",
                 "prio=\"3\"");
    check_metric("rx_bytes", "bytes", C, "nic_rx_bytes_total", "");
    check_metric("rx_packets_phy", "packets", C, "nic_rx_packets_phy_total", "");
    check_metric("IpExtInCEPkts", "packets", C, "nic_ip_ext_in_ce_packets_total", "");
    check_metric("IpExtInECT0Pkts", "packets", C, "nic_ip_ext_in_ect0_packets_total", "");
    check_metric("FramesTransmittedOK", "frames", C, "nic_frames_transmitted_ok_total", "");
    check_metric("outbound_pci_stalled_rd", "%", G, "nic_outbound_pci_stalled_rd_ratio", "");
    check_metric("gpu12_pcie_rx", "bytes/s", G, "nic_gpu_pcie_rx_bytes_per_second", "gpu=\"12\"");
    check_metric("link_speed", "Mb/s", G, "nic_link_speed_bytes_per_second", "");
    check_metric("a-b c\"d\n", "events", C, "nic_a_b_c_d__total", "");
    check_metric("priority_x", "events", C, "nic_priority_x_total", "");
}

/* A column of words that nobody frees. */
static struct column made(const char *name, const char *unit, enum column_kind kind)
{
    return (struct column){.name = (char *)(uintptr_t)name,
                           .unit = (char *)(uintptr_t)unit,
                           .source = (char *)(uintptr_t) "s",
                           .group = (char *)(uintptr_t) "g",
                           .kind = kind};
}

static void values_are_exact(void **state)
{
    (void)state;
    const struct column columns[] = {
        made("rx_prio0_pause_duration", "us", C),
        made("rx_bytes", "bytes", C),
        made("outbound_pci_stalled_rd", "%", G),
        made("rx_prio1_pause_duration", "us", C),
        made("link_speed", "Mb/s", G),
    };
    const int64_t values[] = {1234567, 9007199254740993, 37, LINES_NULL, INT64_MAX};
    struct text out = {0};
    prometheus_write(&out, &(struct prometheus_set){columns, values, 5, "netdev=\"e\""}, 1);
    const char *text = text_string(&out);
    assert_non_null(strstr(text,
                           "nic_rx_prio_pause_duration_seconds_total{netdev=\"e\",prio=\"0\",counter=\"rx_"
                           "prio0_pause_duration\"} 1.234567\n"));
    assert_non_null(strstr(text, "} 9007199254740993\n"));
    assert_non_null(strstr(text, "} 0.37\n"));
    assert_null(strstr(text, "prio=\"1\"")); /* a null has no series */
    assert_non_null(strstr(text,
                           "# HELP nic_rx_prio_pause_duration_seconds_total Time that this port was kept "
                           "from sending on the priority. From s, group g, in us before conversion.\n"));
    text_free(&out);
    prometheus_label(&out, "n", "a\"b\\c\nd");
    assert_string_equal(text_string(&out), "n=\"a\\\"b\\\\c\\nd\"");
    text_free(&out);
}

/* A value of the host is the same whichever NIC is sampled: with a NIC's label it would be added once for
 * each. */
static void values_of_the_host_name_no_nic(void **state)
{
    (void)state;
    struct column columns[] = {made("IpExtInCEPkts", "packets", C), made("gpu0_pcie_rx", "bytes/s", G),
                               made("Ip6InCEPkts", "packets", C), made("rx_prio0_pause", "frames", C)};
    static const char *const sources[] = {"ip", "nvml", "link", "ethtool"};
    const int64_t values[] = {1, 2, 3, 4};
    struct text out = {0};
    for (size_t i = 0; i < 4; i++)
        columns[i].source = (char *)(uintptr_t)sources[i];
    prometheus_write(&out, &(struct prometheus_set){columns, values, 4, "netdev=\"e\""}, 1);
    const char *text = text_string(&out);
    assert_non_null(strstr(text, "\nnic_ip_ext_in_ce_packets_total{counter=\"IpExtInCEPkts\"} 1\n"));
    assert_non_null(strstr(text, "{gpu=\"0\",counter=\"gpu0_pcie_rx\"} 2\n"));
    assert_non_null(strstr(text, "{netdev=\"e\",counter=\"Ip6InCEPkts\"} 3\n"));
    assert_non_null(strstr(text, "{netdev=\"e\",prio=\"0\",counter=\"rx_prio0_pause\"} 4\n"));
    assert_non_null(strstr(
        text, "# HELP nic_ip_ext_in_ce_packets_total IPv4 packets received with CE. Counted for "
              "the network namespace, all its interfaces together, not for one NIC. From ip, group g.\n"));
    text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_the_host_name_no_nic),
        cmocka_unit_test(columns_grow),
        cmocka_unit_test(a_counter_of_32_bits_wraps),
        cmocka_unit_test(a_reset_counts_on),
        cmocka_unit_test(a_counter_that_goes_back_a_little_stays),
        cmocka_unit_test(a_counter_that_lies_does_not_overflow),
        cmocka_unit_test(metrics_follow_conventions),
        cmocka_unit_test(values_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
