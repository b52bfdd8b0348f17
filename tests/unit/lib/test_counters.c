/* The catalogue of counters: what names mean, which names are known, how patterns and globs overlap, the
 * document. */
#include "tests/unit/unit.h"

#include "lib/roce/counters.h"
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name, *unit, *group;
    enum counter_kind kind;
} meanings[] = {
    {"rx_prio0_pause", "frames", "pfc", COUNTER_COUNT},
    {"tx_prio7_pause", "frames", "pfc", COUNTER_COUNT},
    {"rx_prio3_pause_duration", "us", "pfc", COUNTER_COUNT},
    {"tx_prio3_pause_duration", "us", "pfc", COUNTER_COUNT},
    {"rx_prio3_pause_transition", "events", "pfc", COUNTER_COUNT},
    {"rx_global_pause", "frames", "pfc", COUNTER_COUNT},
    {"rx_global_pause_duration", "us", "pfc", COUNTER_COUNT},
    {"rx_global_pause_transition", "events", "pfc", COUNTER_COUNT},
    {"tx_pause_storm_warning_events", "events", "pfc", COUNTER_COUNT},
    {"tx_pause_storm_error_events", "events", "pfc", COUNTER_COUNT},
    {"rx_pause_ctrl_phy", "frames", "pfc", COUNTER_COUNT},
    {"tx_mac_control_phy", "frames", "pfc", COUNTER_COUNT},
    {"rx_buffer_passed_thres_phy", "events", "pfc", COUNTER_COUNT},
    {"pfc_prio5_requests", "frames", "pfc", COUNTER_COUNT},
    {"rx_pause_frames", "frames", "pfc", COUNTER_COUNT},
    /* bnxt_en, ice, i40e and families of other drivers */
    {"rx_pfc_ena_frames_pri3", "frames", "pfc", COUNTER_COUNT},
    {"tx_pfc_frames", "frames", "pfc", COUNTER_COUNT},
    {"pfc_pri3_rx_transitions", "events", "pfc", COUNTER_COUNT},
    {"pfc_pri3_tx_duration_us", "us", "pfc", COUNTER_COUNT},
    {"continuous_roce_pause_events", "events", "pfc", COUNTER_COUNT},
    {"resume_pause_events", "events", "pfc", COUNTER_COUNT},
    {"rx_discard_bytes_cos3", "bytes", "drops", COUNTER_COUNT},
    {"rx_discard_packets_cos3", "packets", "drops", COUNTER_COUNT},
    {"rx_stat_discard", "packets", "drops", COUNTER_COUNT},
    {"rx_total_ring_discards", "packets", "drops", COUNTER_COUNT},
    {"rx_fec_uncorrectable_blocks", "events", "errors", COUNTER_COUNT},
    {"rx_fcs_err_frames", "frames", "errors", COUNTER_COUNT},
    {"hw_db_recov_dbs_dropped", "events", "drops", COUNTER_COUNT},
    {"rx_bytes_pri3", "bytes", "throughput", COUNTER_COUNT},
    {"tx_packets_pri3", "packets", "throughput", COUNTER_COUNT},
    {"rx_bytes_cos7", "bytes", "throughput", COUNTER_COUNT},
    {"tx_priority_3_xoff.nic", "frames", "pfc", COUNTER_COUNT},
    {"rx_priority_3_xon.nic", "frames", "pfc", COUNTER_COUNT},
    {"tx_priority_3_xon_2_xoff.nic", "events", "pfc", COUNTER_COUNT},
    {"link_xoff_rx.nic", "frames", "pfc", COUNTER_COUNT},
    {"link_xon_tx.nic", "frames", "pfc", COUNTER_COUNT},
    {"rx_crc_errors.nic", "frames", "errors", COUNTER_COUNT},
    {"rx_dropped.nic", "packets", "drops", COUNTER_COUNT},
    {"rx_bytes.nic", "bytes", "throughput", COUNTER_COUNT},
    {"port.rx_priority_3_xoff_rx", "frames", "pfc", COUNTER_COUNT},
    {"port.rx_priority_3_xon_2_xoff", "events", "pfc", COUNTER_COUNT},
    {"port.link_xoff_tx", "frames", "pfc", COUNTER_COUNT},
    {"mac_rx_pfc_pkt_num", "events", "pfc", COUNTER_COUNT},
    {"rx_dropped_bytes", "bytes", "drops", COUNTER_COUNT},
    {"rx_pfc3_duration", "value", "pfc", COUNTER_COUNT},
    {"rx_prio0_bytes", "bytes", "throughput", COUNTER_COUNT},
    {"rx_prio0_packets", "packets", "throughput", COUNTER_COUNT},
    {"rx_prio0_discards", "packets", "drops", COUNTER_COUNT},
    {"rx_prio0_buf_discard", "packets", "drops", COUNTER_COUNT},
    {"rx_prio0_cong_discard", "packets", "drops", COUNTER_COUNT},
    {"rx_prio0_marked", "packets", "ecn", COUNTER_COUNT},
    {"rx_discards_phy", "packets", "drops", COUNTER_COUNT},
    {"outbound_pci_stalled_rd", "%", "pcie", COUNTER_GAUGE},
    {"outbound_pci_stalled_wr", "%", "pcie", COUNTER_GAUGE},
    {"outbound_pci_stalled_rd_events", "seconds", "pcie", COUNTER_COUNT},
    {"outbound_pci_buffer_overflow", "packets", "pcie", COUNTER_COUNT},
    {"rx_pci_signal_integrity", "events", "pcie", COUNTER_COUNT},
    {"link_down_events_phy", "events", "link", COUNTER_COUNT},
    {"rx_out_of_buffer", "packets", "drops", COUNTER_COUNT32},
    {"rx_if_down_packets", "packets", "drops", COUNTER_COUNT32},
    {"rx_vport_rdma_unicast_bytes", "bytes", "throughput", COUNTER_COUNT},
    {"tx_vport_rdma_unicast_packets", "packets", "throughput", COUNTER_COUNT},
    {"rp_cnp_handled", "packets", "ecn", COUNTER_COUNT},
    {"rp_cnp_ignored", "packets", "ecn", COUNTER_COUNT},
    {"np_cnp_sent", "packets", "ecn", COUNTER_COUNT},
    {"np_ecn_marked_roce_packets", "packets", "ecn", COUNTER_COUNT},
    {"cc_rx_ce_pkts", "packets", "ecn", COUNTER_COUNT},
    {"cc_tx_cnp_pkts", "packets", "ecn", COUNTER_COUNT},
    {"roce_slow_restart_cnps", "events", "ecn", COUNTER_COUNT},
    {"roce_adp_retrans_to", "events", "drops", COUNTER_COUNT},
    {"out_of_buffer", "packets", "drops", COUNTER_COUNT},
    {"out_of_sequence", "packets", "drops", COUNTER_COUNT},
    {"packet_seq_err", "events", "drops", COUNTER_COUNT},
    {"local_ack_timeout_err", "events", "drops", COUNTER_COUNT},
    {"resp_cqe_flush_error", "events", "errors", COUNTER_COUNT},
    {"req_transport_retries_exceeded", "events", "errors", COUNTER_COUNT},
    {"rx_write_requests", "requests", "throughput", COUNTER_COUNT},
    {"sent_pkts", "packets", "throughput", COUNTER_COUNT},
    {"rcvd_seq_err", "events", "drops", COUNTER_COUNT},
    {"rdma_sends", "requests", "throughput", COUNTER_COUNT},
    {"IpExtInCEPkts", "packets", "ecn", COUNTER_COUNT},
    {"Ip6InECT0Pkts", "packets", "ecn", COUNTER_COUNT},
    {"qdisc_red_marked", "packets", "ecn", COUNTER_COUNT},
    {"qdisc_red_1_early", "packets", "drops", COUNTER_COUNT},
    {"qdisc_red_pdrop", "packets", "drops", COUNTER_COUNT},
    {"qdisc_htb_backlog", "bytes", "queue", COUNTER_GAUGE},
    {"qdisc_htb_bytes", "bytes", "throughput", COUNTER_COUNT},
    {"link_carrier", "state", "link", COUNTER_GAUGE},
    {"link_carrier_changes", "events", "link", COUNTER_COUNT32},
    {"gpu0_pcie_rx", "bytes/s", "pcie", COUNTER_GAUGE},
    {"gpu1_bar1_used", "bytes", "pcie", COUNTER_GAUGE},
    {"dcqcn_rp_rpg_ai_rate", "Mb/s", "dcqcn", COUNTER_GAUGE},
    {"dcqcn_np_min_time_between_cnps", "us", "dcqcn", COUNTER_GAUGE},
    {"dcqcn_rp_enable_prio3", "state", "dcqcn", COUNTER_GAUGE},
    {"rx0_bytes", "bytes", "other", COUNTER_COUNT},
    {"rx12_csum_complete", "events", "other", COUNTER_COUNT},
    {"rx_64_bytes_phy", "packets", "throughput", COUNTER_COUNT},
    {"outbound_pci_stalled_wr_events", "seconds", "pcie", COUNTER_COUNT},
    {"rx_buffer1_peak_bytes", "bytes", "buffer", COUNTER_GAUGE},
    {"port12_prio3_queue_bytes", "bytes", "queue", COUNTER_GAUGE},
    {"port12_rx_prio3_pause_duration", "us", "pfc", COUNTER_COUNT},
    {"dcqcn_a-to-b_rate", "b/s", "dcqcn", COUNTER_GAUGE},
    {"rx_queue_0_xdp_packets", "packets", "other", COUNTER_COUNT},
};

static void names_have_their_meaning(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        const struct counter *row = counters_find(meanings[i].name);
        if (!row)
            fail_msg("%s has no row", meanings[i].name);
        else if (strcmp(row->unit, meanings[i].unit) != 0 ||
                 strcmp(counter_group_names[row->group], meanings[i].group) != 0 ||
                 row->kind != meanings[i].kind)
            fail_msg("%s: %s, %s, %d", meanings[i].name, row->unit, counter_group_names[row->group],
                     (int)row->kind);
    }
    assert_null(counters_find("something_else"));
    assert_null(counters_find("rx"));
    assert_null(counters_find(""));
}

static void every_row_is_reachable_and_whole(void **state)
{
    (void)state;
    size_t count;
    const struct counter *rows = counters_all(&count);
    assert_true(count > 200);
    for (size_t i = 0; i < count; i++) {
        char name[128];
        size_t used = 0;
        for (const char *c = rows[i].pattern; *c; c++)
            used += (size_t)snprintf(name + used, sizeof name - used, "%.*s", *c == '*' ? 6 : 1,
                                     *c == '*'   ? "qwerty"
                                     : *c == '#' ? "3"
                                                 : c);
        if (counters_find(name) != &rows[i])
            fail_msg("%s is hidden by %s", rows[i].pattern, counters_find(name)->pattern);
        if (!counters_unit(rows[i].unit))
            fail_msg("%s: unit %s is unknown", rows[i].pattern, rows[i].unit);
        size_t length = strlen(rows[i].meaning);
        if (length < 2 || rows[i].meaning[length - 1] != '.' || strpbrk(rows[i].meaning, "\\\n|"))
            fail_msg("%s: \"%s\" is not a sentence", rows[i].pattern, rows[i].meaning);
    }
}

static void patterns_match_numbers_and_texts(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"rx_prio#_pause", "rx_prio0_pause", true},
        {"rx_prio#_pause", "rx_prio7_pause", true},
        {"rx_prio#_pause", "rx_prio8_pause", false},
        {"rx_prio#_pause", "rx_prio10_pause", false},
        {"rx_prio#_pause", "rx_prio_pause", false},
        {"rx_prio#_pause", "rx_prio", false},
        {"rx_prio#_pause", "rx_prio0_pauses", false},
        {"gpu#_pcie_rx", "gpu12_pcie_rx", true},
        {"*_err", "x_err", true},
        {"*_err", "x_err_err", true},
        {"*_err", "_er", false},
        {"*bytes*", "bytes", true},
        {"rx_packets_*", "rx_packets_", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (counters_pattern_matches(cases[i].pattern, cases[i].name) != cases[i].matches)
            fail_msg("%s and %s", cases[i].pattern, cases[i].name);
}

static void patterns_overlap_with_globs(void **state)
{
    static const struct {
        const char *pattern, *glob;
        bool overlaps;
    } cases[] = {
        {"rx_prio#_pause", "rx_prio*_pause", true},
        {"rx_prio#_pause", "rx_prio[03]_pause", true},
        {"rx_prio#_pause", "rx_prio[89]_pause", false},
        {"rx_prio#_pause", "rx_prio?_pause", true},
        {"rx_prio#_pause", "rx_prio??_pause", false},
        {"qdisc_*_marked", "qdisc_red_*", true},
        {"qdisc_*_marked", "qdisc_red_*_early", false},
        {"rx_prio#_discards", "*discard*", true},
        {"gpu#_pcie_rx", "gpu[0-3]*_pcie_rx", true},
        {"gpu#_pcie_rx", "gpu*_pcie_tx", false},
        {"gpu#_pcie_rx", "gpu12_pcie_rx", true},
        {"rx_pause", "rx_pause", true},
        {"rx_pause", "rx_pauses", false},
        {"rx_pause", "[", false},
    };
    char longest[400];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (counters_pattern_overlaps(cases[i].pattern, cases[i].glob) != cases[i].overlaps)
            fail_msg("%s and %s", cases[i].pattern, cases[i].glob);
    memset(longest, '*', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_false(counters_pattern_overlaps("*bytes*", longest)); /* too long is not searched */
}

static void a_pattern_gives_names(void **state)
{
    char name[40], small[8];
    (void)state;
    assert_string_equal(counters_instance(name, sizeof name, "port#_prio#_queue_bytes", 12, 3),
                        "port12_prio3_queue_bytes");
    assert_string_equal(counters_instance(name, sizeof name, "outbound_pci_stalled_wr_events", 1, 2),
                        "outbound_pci_stalled_wr_events");
    assert_string_equal(counters_instance(small, sizeof small, "port#_x", 1234567, 0), "port123");
}

static void slips_are_found(void **state)
{
    static const struct {
        const char *name, *near; /* NULL: the name is known */
    } cases[] = {
        {"tx_prio0_pauses", "tx_prio0_pause"},
        {"rx_prio3_puase_duration", "rx_prio3_pause_duration"},
        {"rx_prioo_bytes", "rx_prio0_bytes"},
        {"rx_prio9_pause", "rx_prio0_pause"},
        {"port12_prio4_queue_byts", "port12_prio4_queue_bytes"},
        {"tx_byts", "tx_bytes"},
        {"zzz", ""},
        {"rdma_duplicate_request", NULL},
        {"standard_rx_pause_frames", NULL},
        {"rdma_tx_bytes", NULL},
        {"rx_discards", NULL},
        {"tx0_bytes", NULL},
        {"rx_bytes", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char near[128];
        const struct counter *row = counters_known(cases[i].name, near, sizeof near);
        if (!row != !!cases[i].near || (cases[i].near && strcmp(near, cases[i].near) != 0))
            fail_msg("%s: %s, near \"%s\"", cases[i].name, row ? row->pattern : "unknown", near);
    }
}

static void groups_have_bits(void **state)
{
    (void)state;
    assert_int_equal(counters_group_bits("pfc", 3), 1 << COUNTER_GROUP_PFC);
    assert_int_equal(counters_group_bits("buffer", 6), 1 << COUNTER_GROUP_BUFFER);
    assert_int_equal(counters_group_bits("all", 3), (1 << COUNTER_GROUPS) - 1);
    assert_int_equal(counters_group_bits("pf", 2), 0);
    assert_int_equal(counters_group_bits("", 0), 0);
    for (size_t i = 0; counter_group_choices[i]; i++)
        assert_non_null(strstr(counter_group_list, counter_group_choices[i]));
}

enum {
    FINDINGS = 0
#define NIC_COUNTS(pattern, nic, counts, source) +1 /* NOLINT(bugprone-macro-parentheses) */
#include "lib/roce/counters.def"
};

/* Each finding is of a counter of the catalogue; what never moved is said of that firmware alone. */
static void findings_are_of_listed_counters(void **state)
{
    (void)state;
    json_t *rows = counters_json(), *row, *finding;
    size_t i, k, found = 0;
    struct text timeouts = {0};
    json_array_foreach(rows, i, row) json_array_foreach(json_object_get(row, "measured"), k, finding)
    {
        found++;
        assert_non_null(json_string_value(json_object_get(finding, "nic")));
        if (strcmp(json_string_value(json_object_get(row, "pattern")), "local_ack_timeout_err") == 0)
            text_add(&timeouts, "%s: %s\n", json_string_value(json_object_get(finding, "nic")),
                     json_string_value(json_object_get(finding, "counts")));
    }
    assert_int_equal(found, FINDINGS);
    assert_non_null(strstr(text_string(&timeouts), "ConnectX-5 Ex (16.32.2004): Never moved"));
    assert_non_null(strstr(text_string(&timeouts), "ConnectX-5 Ex (16.31.2006): Time-outs."));
    text_free(&timeouts);
    json_decref(rows);
}

#define DOCUMENT "docs/counters.md"
#define BEGIN \
    "<!-- from lib/roce/counters.def; written by: UPDATE_DOCS=1 build/tests/unit test_counters -->\n"
#define END "<!-- end of the tables -->\n"

static void the_document_has_the_tables(void **state)
{
    (void)state;
    struct text tables = {0};
    counters_manual(&tables);
    text_add(&tables, "\n");
    unit_document_has(DOCUMENT, BEGIN, END, text_string(&tables));
    text_free(&tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_their_meaning),
        cmocka_unit_test(every_row_is_reachable_and_whole),
        cmocka_unit_test(patterns_match_numbers_and_texts),
        cmocka_unit_test(patterns_overlap_with_globs),
        cmocka_unit_test(a_pattern_gives_names),
        cmocka_unit_test(slips_are_found),
        cmocka_unit_test(groups_have_bits),
        cmocka_unit_test(findings_are_of_listed_counters),
        cmocka_unit_test(the_document_has_the_tables),
    };
    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
