/* Completion errors: statuses are those of libibverbs, bytes are explained in one way, and lines of programs
 * are read. Run with UPDATE_DOCS=1, the test writes the tables of docs/errors.md instead of comparing them.
 */
#include "lib/document/json_text.h"
#include "lib/roce/completion.h"
#include "lib/roce/counters.h"
#include "tests/unit/unit.h"
#include <infiniband/verbs.h>

static void statuses_are_those_of_verbs(void **state)
{
    (void)state;
    assert_string_equal(completion_name(IBV_WC_RETRY_EXC_ERR), "IBV_WC_RETRY_EXC_ERR");
    assert_string_equal(completion_name(IBV_WC_GENERAL_ERR), "IBV_WC_GENERAL_ERR");
    assert_string_equal(completion_name(IBV_WC_LOC_PROT_ERR), "IBV_WC_LOC_PROT_ERR");
    assert_string_equal(completion_name(IBV_WC_WR_FLUSH_ERR), "IBV_WC_WR_FLUSH_ERR");
    assert_string_equal(completion_name(IBV_WC_REM_OP_ERR), "IBV_WC_REM_OP_ERR");
    assert_string_equal(completion_name(IBV_WC_FATAL_ERR), "IBV_WC_FATAL_ERR");
    assert_int_equal(COMPLETION_RETRY_EXCEEDED, IBV_WC_RETRY_EXC_ERR);
    for (int status = 0; status <= IBV_WC_GENERAL_ERR; status++) {
        assert_non_null(completion_name(status));
        assert_non_null(completion_cause(status));
    }
    assert_string_equal(completion_name(-1), "unknown status");
    assert_string_equal(completion_name(999), "unknown status");
    assert_non_null(strstr(completion_cause(IBV_WC_RNR_RETRY_EXC_ERR), "--receive-depth"));
}

static void assert_says(int status, int vendor, const char *begin, const char *part)
{
    struct text said = {0};
    completion_explain(status, vendor, &said);
    if (strncmp(text_string(&said), begin, strlen(begin)) != 0 || !strstr(text_string(&said), part))
        fail_msg("%s", text_string(&said));
    text_free(&said);
}

/* The pairs that were measured: silicon's rows 8.01 to 8.10. */
static void bytes_are_explained(void **state)
{
    (void)state;
    assert_says(4, 0x53, "completion error 4 (IBV_WC_LOC_PROT_ERR), vendor error 0x53: ", "beyond");
    assert_says(4, 0x52, "completion error 4 (IBV_WC_LOC_PROT_ERR), vendor error 0x52: ", "lkey");
    assert_says(4, 0x33,
                "completion error 4 (IBV_WC_LOC_PROT_ERR), vendor error 0x33: ", "IBV_ACCESS_LOCAL_WRITE");
    assert_says(5, 0xf5, "completion error 5 (IBV_WC_WR_FLUSH_ERR), vendor error 0xf5: ", "this host itself");
    assert_says(5, 0xf9, "completion error 5 (IBV_WC_WR_FLUSH_ERR), vendor error 0xf9: ",
                "before this one has the cause");
    assert_says(9, 0x8a, "completion error 9 (IBV_WC_REM_INV_REQ_ERR), vendor error 0x8a: ",
                "IBV_ACCESS_REMOTE_WRITE");
    assert_says(10, 0x88, "completion error 10 (IBV_WC_REM_ACCESS_ERR), vendor error 0x88: ", "rkey");
    assert_says(12, 0x81,
                "completion error 12 (IBV_WC_RETRY_EXC_ERR), vendor error 0x81: ", "the peer is silent");
    assert_says(13, 0x87,
                "completion error 13 (IBV_WC_RNR_RETRY_EXC_ERR), vendor error 0x87: ", "--receive-depth");
    /* a byte without a row says nothing, and another NIC has none */
    assert_says(12, 0x17, "completion error 12 (IBV_WC_RETRY_EXC_ERR), vendor error 0x17: no acknowledgement",
                "MTU");
    assert_says(12, COMPLETION_NO_VENDOR, "completion error 12 (IBV_WC_RETRY_EXC_ERR): no acknowledgement",
                "MTU");
    assert_says(99, 0, "completion error 99 (unknown status), vendor error 0x0: ", "dmesg");
    int status, vendor;
    json_t *json = completion_json(10, 0x88);
    assert_string_equal(json_string_value(json_object_get(json, "status")), "IBV_WC_REM_ACCESS_ERR");
    assert_int_equal(json_integer_value(json_object_get(json, "status_number")), 10);
    assert_int_equal(json_integer_value(json_object_get(json, "vendor_error")), 0x88);
    assert_string_equal(json_string_value(json_object_get(json, "look_at")), "responder");
    assert_true(completion_take_json(json, &status, &vendor) && status == 10 && vendor == 0x88);
    json_object_set_new(json, "vendor_error", json_integer(1LL << 40));
    assert_true(completion_take_json(json, &status, &vendor) && vendor == COMPLETION_NO_VENDOR);
    json_object_set_new(json, "status_number", json_integer(1LL << 32));
    assert_false(completion_take_json(json, &status, &vendor));
    assert_false(completion_take_json(NULL, &status, &vendor));
    json_decref(json);
}

static void assert_listed(const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (!counters_find(names[i]) || counters_find(names[i])->origin != COUNTER_FROM_MLX5_IB)
            fail_msg("%s", names[i]);
}

static void rows_name_counters_of_the_catalogue(void **state)
{
    (void)state;
    json_t *rows = completion_rows(), *row;
    size_t i;
    assert_true(json_array_size(rows) >= 12);
    json_array_foreach(rows, i, row)
    {
        int status = (int)json_integer_value(json_object_get(row, "status_number"));
        const struct completion_error *e =
            completion_find(status, (int)json_integer_value(json_object_get(row, "vendor_error")));
        assert_non_null(e);
        assert_listed(e->requester);
        assert_listed(e->responder);
        assert_true(*e->meaning && *e->likely && *e->source);
        assert_true(json_integer_value(json_object_get(row, "syndrome")) > 0);
    }
    assert_null(completion_find(12, 0x88));
    json_decref(rows);
}

static void lines_of_programs_are_read(void **state)
{
    static const struct {
        const char *line;
        int status, vendor;
    } lines[] = {
        {" Failed status 12: wr_id 0 syndrom 0x81", 12, 0x81},
        {" Failed status 10: wr_id 3 syndrom 0x88", 10, 0x88},
        {"hostA:4711:4802 [4] transport/net_ib.cc:1615 NCCL WARN NET/IB : Got completion from peer "
         "192.0.2.7<54862> with status=12 opcode=32616 len=0 vendor err 129 (Recv) localGid ::ffff:192.0.2.6 "
         "remoteGids::ffff:192.0.2.7",
         12, 129},
        {"hostA:4711:4802 [0] transport/net_ib.cc:849 NCCL WARN NET/IB : Got completion with error 4, opcode "
         "0, "
         "len 32694, vendor err 81",
         4, 0x51},
        {"NCCL WARN NET/IB : Got completion from peer 192.0.2.7<54862> with error 5, opcode 129, len 0, "
         "vendor err "
         "249 (Recv)",
         5, 0xf9},
        {"NCCL WARN NET/IB : Got completion from peer 192.0.2.7<54862> with status=5 opc", 5,
         COMPLETION_NO_VENDOR},
    };
    static const char *const others[] = {
        "",
        "Failed status",
        "Failed status x",
        "Failed status -1: wr_id 0 syndrom 0x81",
        "Failed status 0: wr_id 0 syndrom 0x0",
        "Failed status 99999999999: wr_id 0 syndrom 0x81",
        "ncclSystemError with error 12",
        "exited with status=12",
    };
    int status, vendor;
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!completion_read(lines[i].line, strlen(lines[i].line), &status, &vendor))
            fail_msg("%s", lines[i].line);
        assert_int_equal(status, lines[i].status);
        assert_int_equal(vendor, lines[i].vendor);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (completion_read(others[i], strlen(others[i]), &status, &vendor))
            fail_msg("%s", others[i]);
}

#define DOCUMENT "docs/errors.md"
#define BEGIN                                                                                             \
    "<!-- the rows of lib/roce/completion.c; written by: UPDATE_DOCS=1 build/tests/unit test_completion " \
    "-->\n"
#define END "<!-- end of the rows -->\n"

static void the_document_has_the_rows(void **state)
{
    (void)state;
    struct text rows = {0};
    completion_manual(&rows);
    text_add(&rows, "\n");
    unit_document_has(DOCUMENT, BEGIN, END, text_string(&rows));
    text_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_are_those_of_verbs),         cmocka_unit_test(bytes_are_explained),
        cmocka_unit_test(rows_name_counters_of_the_catalogue), cmocka_unit_test(lines_of_programs_are_read),
        cmocka_unit_test(the_document_has_the_rows),
    };
    return cmocka_run_group_tests_name("completion", tests, NULL, NULL);
}
