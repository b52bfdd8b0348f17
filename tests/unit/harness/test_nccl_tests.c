/* What nccl-tests and NCCL print. The formats are those of src/common.cu of nccl-tests 2.13.8 and 2.16.9, of
 * src/util.cu of 2.17.9 and 2.19.6, and of src/transport of NCCL 2.12 to 2.28. */
#include "tests/unit/harness/plan_of.h"
#include "tests/unit/unit.h"

#include "harness/traffic/collective_tool.h"
#include "harness/traffic/nccl_tests.h"
#include <math.h>

#define VERSION "# nccl-tests version 2.17.9 nccl-headers=22803 nccl-library=22105\n"
#define STARTS                                                                                              \
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 agg iters: " \
    "1 "                                                                                                    \
    "validation: 1 graph: 0\n#\n# Using devices\n"
#define RANK_0 "#  Rank  0 Group  0 Pid   4711 on      hostA device  0 [0000:41:00] NVIDIA H100 80GB HBM3\n"
#define RANK_1 "#  Rank  1 Group  0 Pid   4712 on      hostB device  3 [0x41] NVIDIA GeForce RTX 3090\n"
#define HEADER                                                                                              \
    "#\n#                                                              out-of-place                       " \
    "in-place          \n#       size         count      type   redop    root     time   algbw   busbw  "   \
    "#wrong  "                                                                                              \
    "   time   algbw   busbw  #wrong \n#        (B)    (elements)                               (us)  "     \
    "(GB/s)  "                                                                                              \
    "(GB/s)            (us)  (GB/s)  (GB/s)         \n"
#define ROW_8                                                                                            \
    "           8             2     float     sum      -1    24.10    0.00    0.00       0    23.90    " \
    "0.00    0.00       0\n"
#define ROW_1M                                                                                               \
    "     1048576        262144     float     sum      -1    124.9    8.40    8.40      0   1.2e+07  0.00  " \
    " 0.00      0\n"
#define END_OK  "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 2.10 \n#\n"
#define END_BAD "# Out of bounds values : 3 FAILED\n# Avg bus bandwidth    : 2.10 \n#\n"
#define WHOLE   STARTS RANK_0 RANK_1 HEADER ROW_8 ROW_1M END_OK

static int read_text(const char *text, struct nccl_tests_output *out, struct error *e)
{
    return nccl_tests_read(text, strlen(text), out, e);
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9))
        fail_msg("%.9g, expected %.9g", value, expected);
}

static void tables_are_read(void **state)
{
    struct nccl_tests_output out;
    struct error e;
    (void)state;
    assert_int_equal(read_text("ran: x\n" VERSION WHOLE, &out, &e), 0);
    assert_string_equal(out.version, "2.17.9");
    assert_int_equal(out.nccl_built_with, 22803);
    assert_int_equal(out.nccl_version, 22105);
    assert_int_equal(out.rank_count, 2);
    assert_string_equal(out.ranks[0].host, "hostA");
    assert_string_equal(out.ranks[0].gpu, "NVIDIA H100 80GB HBM3");
    assert_int_equal(out.ranks[1].device, 3);
    assert_string_equal(out.ranks[1].gpu, "NVIDIA GeForce RTX 3090");
    assert_int_equal(out.row_count, 2);
    assert_int_equal(out.rows[1].bytes, 1048576);
    assert_int_equal(out.rows[1].count, 262144);
    assert_string_equal(out.rows[1].type, "float");
    assert_int_equal(out.rows[1].root, -1);
    assert_near(out.rows[1].out_of_place.time_us, 124.9);
    assert_near(out.rows[1].out_of_place.busbw_GBps, 8.40);
    assert_near(out.rows[1].in_place.time_us, 1.2e7);
    assert_near(out.rows[1].in_place.algbw_GBps, 0.00);
    assert_near(out.average_busbw_GBps, 2.10);
    assert_int_equal(out.out_of_bounds, 0);
    nccl_tests_output_free(&out);
    assert_int_equal(read_text(WHOLE, &out, &e), 0); /* versions before 2.17.4 do not say theirs */
    assert_string_equal(out.version, "");
    nccl_tests_output_free(&out);
}

static void what_differs_is_read_too(void **state)
{
    struct nccl_tests_output out;
    struct error e;
    (void)state;
    assert_int_equal(read_text(STARTS RANK_0 HEADER ROW_8 ROW_1M END_BAD, &out, &e), 0);
    assert_int_equal(out.out_of_bounds, 3);
    nccl_tests_output_free(&out);
    assert_int_equal(
        read_text(STARTS RANK_0
                  "#\n# Reducing maxBytes to 1048576 due to memory limitation\n" HEADER ROW_8 ROW_1M END_OK,
                  &out, &e),
        0);
    assert_int_equal(out.reduced_max_bytes, 1048576);
    nccl_tests_output_free(&out);
    assert_int_equal(read_text(RANK_0 HEADER
                               "  8  4  bfloat16  none  0  1.00  0.01  0.01  N/A  1.00  0.01  0.01  N/A\n"
                               "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.01 OK\n",
                               &out, &e),
                     0);
    assert_int_equal(out.rows[0].root, 0);
    assert_int_equal(out.rows[0].in_place.wrong, -1);
    nccl_tests_output_free(&out);
    /* a process with many GPUs has no room for all of its lines */
    assert_int_equal(
        read_text(RANK_0
                  "#  Rank  1 Group  0 Pid 4711 on h...\n"
                  "#  Rank  9 Group  0 Pid 4712 on hostB device  0 [0000:41:00] NVIDIA H100\n" HEADER ROW_8
                      ROW_1M END_OK,
                  &out, &e),
        0);
    assert_true(out.ranks_cut);
    nccl_tests_output_free(&out);
}

static void refused(const char *text, const char *why)
{
    struct nccl_tests_output out;
    struct error e;
    assert_int_equal(read_text(text, &out, &e), -1);
    if (!strstr(e.text, why))
        fail_msg("%s: expected %s", e.text, why);
    nccl_tests_output_free(&out);
}

/* Where the line of versions has other words, as from 2.20 on, only what is not understood is unknown. */
static void lines_of_versions(void **state)
{
    static const struct {
        const char *line, *version;
        int64_t nccl_built_with, nccl_version;
    } rows[] = {
        {"# nccl-tests version 2.20.0 (0123abc) nccl-headers=23102 nccl-library=23007\n", "2.20.0", 23102,
         23007},
        {"# nccl-tests version 2.20.0 (0123abc) nccl-headers=x\n", "2.20.0", 0, 0},
        {"# nccl-tests version next nccl-library=23007\n", "", 0, 23007},
        {"", "", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nccl_tests_output out;
        struct error e;
        char text[4096];
        snprintf(text, sizeof text, "%s%s", rows[i].line, WHOLE);
        assert_int_equal(read_text(text, &out, &e), 0);
        assert_string_equal(out.version, rows[i].version);
        assert_int_equal(out.nccl_built_with, rows[i].nccl_built_with);
        assert_int_equal(out.nccl_version, rows[i].nccl_version);
        assert_int_equal(out.row_count, 2);
        nccl_tests_output_free(&out);
    }
}

static void what_is_no_table_is_refused(void **state)
{
    (void)state;
    refused("", "no table of results");
    refused(STARTS RANK_0 RANK_1, "no table of results");
    refused(HEADER ROW_8 ROW_1M, "ends before the end");
    refused(HEADER ROW_8 ROW_1M "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 2.10",
            "ends before the end");
    refused(HEADER END_OK, "average bus bandwidth of its rows");
    refused(HEADER ROW_1M ROW_8 END_OK, "sizes that grow");
    refused(HEADER "  8  2  float  sum  -1  24.10  0.00  0.00  0  23.90  0.00  0.00\n" END_OK,
            "a row of its table");
    refused(HEADER "  8  2  float  sum  -1  24.10  0.00  nan  0  23.90  0.00  0.00  0\n" END_OK,
            "a row of its table");
    refused(HEADER "  8  2  float  sum  -1  -4.10  0.00  1.0  0  23.90  0.00  0.00  0\n" END_OK,
            "a row of its table");
    refused(HEADER ROW_8 ROW_1M "# Out of bounds values : 0 FAILED\n", "OK or FAILED");
    refused(HEADER ROW_8 ROW_1M "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 7.25 \n",
            "the average of the rows");
    refused(WHOLE WHOLE, "more than one table");
    refused(HEADER ROW_8 HEADER ROW_8, "more than one table");
    refused(RANK_1 HEADER ROW_8 ROW_1M END_OK, "the next rank");
    refused("#       size         count      type   redop    root     time   algbw   busbw  error\n",
            "2.13 and later");
}

/* A row of 1 MiB of float between two ranks, and its average. */
static void refused_row(const char *row, const char *average, const char *bounds, const char *why)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s\n# Out of bounds values : %s\n# Avg bus bandwidth    : %s \n#\n",
             STARTS RANK_0 RANK_1 HEADER, row, bounds, average);
    refused(text, why);
}

static void figures_that_do_not_belong_together_are_refused(void **state)
{
    (void)state;
#define HALF_1M "  124.9  8.40  8.40  0"
    refused(STARTS HEADER ROW_8 ROW_1M END_OK, "names no ranks");
    refused_row(" 1048576  262144  float  sum  -1  1.0  8.40  8.40  0" HALF_1M, "8.40", "0 OK",
                "1048576 bytes in 1 us, which is not algbw 8.4 GB/s");
    refused_row(" 1048576  262144  float  sum  -1  0.0  8.40  8.40  0" HALF_1M, "8.40", "0 OK",
                "1048576 bytes in 0 us");
    refused_row(" 1048576  262144  float  sum  -1" HALF_1M "  13.11  80.0  12.6  0", "10.50", "0 OK",
                "busbw 12.6 GB/s beside algbw 80 GB/s, which no operation of 2 ranks makes of it");
    refused_row(" 1048576  262144  float  sum  -1" HALF_1M "  124.9  8.40  12.60  0", "10.50", "0 OK",
                "busbw 12.6 GB/s beside algbw 8.4 GB/s");
    refused_row(" 1048576  262144  float  sum  -1" HALF_1M "  124.9  8.40  8.40  5", "8.40", "0 OK",
                "wrong elements");
    refused_row(" 1048576  5  float  sum  -1" HALF_1M HALF_1M, "8.40", "0 OK",
                "5 elements of float for 1048576 bytes");
    refused_row(" 1048576  65536  float  sum  -1" HALF_1M HALF_1M, "8.40", "0 OK", "65536 elements");
    /* operations between two ranks whose counts are those of a rank, and whose busbw is half of algbw */
    struct nccl_tests_output out;
    struct error e;
    assert_int_equal(read_text(RANK_0 RANK_1 HEADER
                               " 1048576 131072 float none -1 124.9 8.40 4.20 0 124.9 8.40 4.20 0\n"
                               "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 4.2 \n",
                               &out, &e),
                     0);
    nccl_tests_output_free(&out);
}

static void channels(void **state)
{
    static const struct {
        const char *via;
        enum nccl_path path;
    } lines[] = {
        {"Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA", NCCL_GDRDMA},
        {"Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0(3)/GDRDMA(PCI)/Shared", NCCL_GDRDMA},
        {"Channel 00/0 : 0[0] -> 1[0] [receive] via NET/IB/0/GDRDMA/flush=None", NCCL_GDRDMA},
        {"Channel 00/0 : 0[0] -> 1[0] [receive] via NET/IB/0/Shared/flush=Always", NCCL_IB},
        {"Channel 00 : 0[1a000] -> 1[1b000] [receive] via NET/IB/1", NCCL_IB},
        {"Channel 00/0 : 0[0] -> 1[0] [receive] via NET/IBext_v8/1/Shared", NCCL_IB},
        {"Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0", NCCL_SOCKET},
        {"Channel 00/0 : 0[0] -> 1[0] [send] via NET/AWS Libfabric/0", NCCL_NET},
        {"Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer", NCCL_P2P},
        {"Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct", NCCL_SHM},
        {"CollNet 00/0 : 0 [receive] via COLLNET/SHARP/0/GDRDMA", NCCL_COLLNET},
    };
    char line[256];
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct nccl_debug debug = {0};
        snprintf(line, sizeof line, "hostA:4711:4712 [0] NCCL INFO %s", lines[i].via);
        nccl_debug_take(&debug, line, strlen(line));
        for (int path = 0; path < NCCL_PATHS; path++)
            if (debug.channels[path] != (path == (int)lines[i].path))
                fail_msg("%s: %s has %d", line, nccl_path_names[path], (int)debug.channels[path]);
    }
}

/* Lines of several ranks that run into each other, and what only looks like a channel. */
static void what_is_no_channel_is_not_counted(void **state)
{
    static const char *const lines[] = {
        ("hostA:4711:4712 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0hostB:1:2 [0] NCCL "
         "INFO x"),
        "hostA:4711:4712 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GD",
        "hostA:4711:4712 [0] NCCL INFO Channel 00/08 :    0   1",
        "hostA:4711:4712 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/",
        "hostA:4711:4712 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET//0",
        "hostA:4711:4712 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>",
        "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0",
    };
    struct nccl_debug debug = {0};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        nccl_debug_take(&debug, lines[i], strlen(lines[i]));
    for (int path = 0; path < NCCL_PATHS; path++)
        assert_int_equal(debug.channels[path], 0);
    assert_null(nccl_debug_path(&debug));
}

static void the_path_between_hosts(void **state)
{
    struct nccl_debug debug = {0};
    (void)state;
    debug.channels[NCCL_P2P] = 4;
    assert_string_equal(nccl_debug_path(&debug), "none");
    debug.channels[NCCL_GDRDMA] = 4;
    assert_string_equal(nccl_debug_path(&debug), "gdrdma");
    debug.channels[NCCL_SOCKET] = 1;
    assert_string_equal(nccl_debug_path(&debug), "mixed");
}

static void hear(struct nccl_debug *debug, const char *line)
{
    nccl_debug_take(debug, line, strlen(line));
}

#define WARNED(text) "hostA:4711:4802 [4] transport/net_ib.cc:1615 NCCL WARN NET/IB : Got completion " text

/* As 2.18, 2.20 and later print it. The error of a rank comes before or after the flushes of others. */
static void a_completion_error_is_found(void **state)
{
    struct nccl_debug debug = {0};
    (void)state;
    hear(&debug, WARNED("from peer 192.0.2.7<54862> with status=5 opcode=129 len=0 vendor err 249 (Recv)"));
    assert_int_equal(debug.failed_status, 5);
    hear(&debug, WARNED("from peer 192.0.2.7<54862> with status=12 opcode=0 len=0 vendor err 129 (Send)"));
    hear(&debug, WARNED("from peer 192.0.2.7<54862> with status=10 opcode=0 len=0 vendor err 136 (Send)"));
    hear(&debug, WARNED("from peer 192.0.2.7<54862> with status=5 opcode=0 len=0 vendor err 249 (Send)"));
    assert_int_equal(debug.failed_status, 12);
    assert_int_equal(debug.failed_vendor, 0x81);
    debug = (struct nccl_debug){0};
    hear(&debug, WARNED("with error 4, opcode 0, len 32694, vendor err 81"));
    assert_int_equal(debug.failed_status, 4);
    assert_int_equal(debug.failed_vendor, 0x51);
}

static void the_first_warnings_are_kept(void **state)
{
    struct nccl_debug debug = {0};
    char line[600];
    (void)state;
    hear(&debug, "hostA:4711:4712 [0] NCCL INFO misc/socket.cc:671 -> 2");
    assert_string_equal(debug.warned, "");
    hear(&debug, "[2026-11-25 16:07:44] hostB:3173:3173 [0] misc/socket.cc:596 NCCL WARN connect failed");
    assert_string_equal(debug.warned, "hostB: connect failed");
    hear(&debug, "hostA:1:2 [0] 0 NCCL WARN Out of memory");
    assert_string_equal(debug.warned, "hostB: connect failed | hostA: Out of memory");
    hear(&debug, "no place NCCL WARN x: y");
    assert_string_equal(debug.warned, "hostB: connect failed | hostA: Out of memory | x: y");
    hear(&debug, "[ NCCL WARN z");
    assert_string_equal(debug.warned, "hostB: connect failed | hostA: Out of memory | x: y | z");
    snprintf(line, sizeof line, "hostA:1:2 [0] x NCCL WARN %0500d", 1);
    hear(&debug, line);
    assert_string_equal(debug.warned, "hostB: connect failed | hostA: Out of memory | x: y | z");
    debug = (struct nccl_debug){0};
    hear(&debug, line);
    assert_int_equal(strlen(debug.warned), sizeof debug.warned - 1);
}

static void versions(void **state)
{
    struct nccl_debug debug = {0};
    char text[32];
    (void)state;
    nccl_debug_take(&debug, "NCCL version 2.21.5+cuda12.4", 28);
    assert_string_equal(debug.version, "2.21.5+cuda12.4");
    nccl_version_text(22105, text, sizeof text);
    assert_string_equal(text, "2.21.5");
    nccl_version_text(2804, text, sizeof text);
    assert_string_equal(text, "2.8.4");
}

static int take(const char *printed, struct collective_host *host, struct error *e)
{
    return collective_take_env(host, printed, e);
}

static void variables_of_hosts(void **state)
{
    char name[] = "a";
    struct lab_host lab = {.name = name};
    struct collective_host host = {.lab = &lab};
    struct error e;
    (void)state;
    assert_int_equal(
        take("# why\nexport NCCL_IB_HCA==mlx5_0:1,mlx5_1:1\n\nexport NCCL_IB_TC=106\n", &host, &e), 0);
    assert_int_equal(host.env.count, 2);
    assert_string_equal(((struct named_string *)host.env.items)[0].value, "=mlx5_0:1,mlx5_1:1");
    static const char *const bad[] = {
        "export NCCL_IB_HCA=$(id)\n", "export PATH=/tmp\n", "NCCL_IB_TC=1\n", "export NCCL_IB_TC\n",
        "export NCCL_X=a b\n",        "reboot\n",           "export "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (take(bad[i], &host, &e) == 0)
            fail_msg("%s was taken", bad[i]);
    assert_int_equal(take("", &host, &e), 0);
    assert_int_equal(host.env.count, 0);
}

#define RAILS                                                                                           \
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{\"h[0-1]\":{\"ssh\":\"h{}\",\"nics\":{" \
    "\"rail[0-3]\":{"                                                                                   \
    "\"netdev\":\"e{}\",\"address\":\"10.0.{2}.{1+1}/"                                                  \
    "24\"},\"eth\":{\"netdev\":\"m\"}},\"gpus\":{\"g[0-9]\":{}}}},"                                     \
    "\"roles\":{\"a\":\"h0\",\"b\":\"h1\"}}"

static void expect_nics(const char *nics, const char *roles, const char *address, int64_t gpu,
                        const char *cross_nic)
{
    struct plan plan;
    struct error e;
    struct text scenario = {0}, found = {0};
    size_t count;
    text_add(
        &scenario,
        "{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\"],\"collectives\":[{\"name\":\"c\",\"env_from_"
        "hosts\":true%s}]}",
        nics);
    plan_of(text_string(&scenario), RAILS, &plan);
    struct collective_job *jobs = collective_jobs(&plan.first.scenario, &plan.first.lab, &count, &e);
    if (!jobs) {
        fail_msg("%s", e.text);
        return; /* not reached */
    }
    assert_int_equal(jobs->host_count, 2);
    assert_true(jobs->mpirun);
    for (size_t i = 0; i < jobs->hosts[0].nic_count; i++)
        text_add(&found, "%s%s", i ? " " : "", scenario_role(&plan.first.scenario, jobs->hosts[0].nics[i]));
    assert_string_equal(text_string(&found), roles);
    assert_string_equal(jobs->hosts[0].lab->nic.address, address);
    assert_int_equal(jobs->hosts[0].lab->gpu->index, gpu);
    json_t *env = collective_env(jobs, 0);
    const char *cross = json_string_value(json_object_get(env, "NCCL_CROSS_NIC"));
    assert_string_equal(cross ? cross : "-", cross_nic);
    json_decref(env);
    collective_jobs_free(jobs, count);
    plan_free(&plan);
    text_free(&scenario);
    text_free(&found);
}

/* A role is its host with all NICs that the collective uses; those that have a network each are rails. */
static void hosts_have_several_nics(void **state)
{
    (void)state;
    expect_nics(",\"nics\":[\"rail*\"]", "a.rail0 a.rail1 a.rail2 a.rail3", "10.0.0.1/24", 0, "0");
    expect_nics(",\"nics\":[\"rail3\"]", "a.rail3", "10.0.3.1/24", 6, "-");
    expect_nics("", "a.rail0 a.rail1 a.rail2 a.rail3 a.eth", "10.0.0.1/24", 0, "-");
    expect_nics(",\"roles\":[\"a.rail2\",\"b\"],\"nics\":[\"rail[12]\"]", "a.rail1 a.rail2", "10.0.1.1/24", 2,
                "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_read),
        cmocka_unit_test(what_differs_is_read_too),
        cmocka_unit_test(lines_of_versions),
        cmocka_unit_test(what_is_no_table_is_refused),
        cmocka_unit_test(figures_that_do_not_belong_together_are_refused),
        cmocka_unit_test(channels),
        cmocka_unit_test(what_is_no_channel_is_not_counted),
        cmocka_unit_test(the_path_between_hosts),
        cmocka_unit_test(the_first_warnings_are_kept),
        cmocka_unit_test(a_completion_error_is_found),
        cmocka_unit_test(versions),
        cmocka_unit_test(variables_of_hosts),
        cmocka_unit_test(hosts_have_several_nics),
    };
    return cmocka_run_group_tests_name("nccl_tests", tests, NULL, NULL);
}
