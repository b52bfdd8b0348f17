/* mlx5's places in sysfs, debugfs and configfs, in trees laid out as the drivers show them: what is read from
 * each file, and what is written to it. The drivers' forms: MLNX_OFED's
 * drivers/net/ethernet/mellanox/mlx5/core/en_sysfs.c and mlx5_ib's traffic class, linux
 * drivers/infiniband/hw/mlx5/cong.c and drivers/infiniband/core/cma_configfs.c. */
#include "tests/unit/unit.h"

#include "nic-config/document.h"
#include "nic-config/knobs/knob.h"
#include "lib/files.h"
#include <sys/stat.h>
#include <unistd.h>

struct tree {
    char root[64];
    struct host host;
    struct device device;
};

static char *path_in(const struct tree *t, const char *file)
{
    char *path = host_path(&t->host, "%s", file);
    assert_non_null(path);
    return path;
}

static void put(const struct tree *t, const char *file, const char *content)
{
    char *path = path_in(t, file), *folder = strdup(path);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(files_make_folders(folder, NULL), 0);
    assert_int_equal(files_write_atomic(path, content, strlen(content), NULL), 0);
    free(folder);
    free(path);
}

static void assert_holds(const struct tree *t, const char *file, const char *content)
{
    char *path = path_in(t, file), *line = files_read_line(path, NULL);
    assert_string_equal(line ? line : "(no such file)", content);
    free(line);
    free(path);
}

/* The same with the newline, if there is one: the programs write none. */
static void assert_raw(const struct tree *t, const char *file, const char *content)
{
    char *path = path_in(t, file), *all = files_read(path, 4096, NULL, NULL);
    assert_string_equal(all ? all : "(no such file)", content);
    free(all);
    free(path);
}

/* No interface has the name, so that netlink answers as for a driver without DCB. */
static int set_up(void **state)
{
    struct tree *t = calloc(1, sizeof *t);
    snprintf(t->root, sizeof t->root, "/tmp/nic-config-places.XXXXXX");
    assert_non_null(mkdtemp(t->root));
    t->host.root = t->root;
    t->device = (struct device){.host = &t->host,
                                .name = "mlx-test0",
                                .index = 1,
                                .pci = "0000:41:00.0",
                                .driver = "mlx5_core",
                                .rdma_port = 1};
    snprintf(t->device.rdma, sizeof t->device.rdma, "mlx5_0");
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct tree *t = *state;
    host_close(&t->host);
    files_remove_tree(t->root, NULL);
    free(t);
    return 0;
}

/* What a knob reads, as JSON text; the caller frees. */
static char *read_text(struct tree *t, const struct knob *knob, enum knob_answer expected, const char *place)
{
    json_t *settings = json_object();
    struct text where = {0};
    struct error e = {""};
    assert_int_equal(knob->read(&t->device, settings, &where, &e), expected);
    if (place)
        assert_non_null(strstr(expected == KNOB_READ ? text_string(&where) : e.text, place));
    char *text = json_dumps(settings, JSON_COMPACT | JSON_SORT_KEYS);
    text_free(&where);
    json_decref(settings);
    return text;
}

static void assert_reads(struct tree *t, const struct knob *knob, const char *place, const char *expected)
{
    char *text = read_text(t, knob, KNOB_READ, place);
    assert_string_equal(text, expected);
    free(text);
}

static json_t *read_json(struct tree *t, const struct knob *knob)
{
    char *text = read_text(t, knob, KNOB_READ, NULL);
    json_t *settings = json_loads(text, 0, NULL);
    free(text);
    return settings;
}

/* Write settings given as JSON text over what is in force. */
static int write_text(struct tree *t, const struct knob *knob, const char *wanted, struct error *e)
{
    json_t *before = read_json(t, knob), *asked = json_loads(wanted, 0, NULL);
    struct settings now, target;
    assert_non_null(asked);
    json_t *merged = document_merge(before, asked);
    int result = knob->complete ? knob->complete(&t->device, asked, merged, e) : 0;
    if (result == 0) {
        assert_int_equal(document_settings(before, &now, e), 0);
        assert_int_equal(document_settings(merged, &target, e), 0);
        result = knob->write(&t->device, &now, &target, e);
        table_free(&settings_table, &now);
        table_free(&settings_table, &target);
    }
    json_decref(before);
    json_decref(asked);
    json_decref(merged);
    return result;
}

#define NET "/sys/class/net/mlx-test0"

static void lay_out_ecn(const struct tree *t)
{
    char file[128];
    for (int priority = 0; priority < 8; priority++) {
        snprintf(file, sizeof file, NET "/ecn/roce_rp/enable/%d", priority);
        put(t, file, "1\n");
        snprintf(file, sizeof file, NET "/ecn/roce_np/enable/%d", priority);
        put(t, file, priority == 5 ? "0\n" : "1\n");
    }
}

static void ecn_points(void **state)
{
    struct tree *t = *state;
    struct error e;
    lay_out_ecn(t);
    assert_reads(t, &knob_ecn, "MLNX_OFED",
                 "{\"ecn\":[0,1,2,3,4,6,7],\"ecn_np\":[0,1,2,3,4,6,7],\"ecn_rp\":[0,1,2,3,4,5,6,7]}");
    assert_int_equal(write_text(t, &knob_ecn, "{\"ecn\":[0,3]}", &e), 0);
    assert_reads(t, &knob_ecn, NULL, "{\"ecn\":[0,3],\"ecn_np\":[0,3],\"ecn_rp\":[0,3]}");
    assert_int_equal(write_text(t, &knob_ecn, "{\"ecn\":[3],\"ecn_rp\":[]}", &e), 0);
    assert_reads(t, &knob_ecn, NULL, "{\"ecn\":[],\"ecn_np\":[3],\"ecn_rp\":[]}");
    put(t, NET "/ecn/roce_np/enable/2", "maybe\n");
    char *text = read_text(t, &knob_ecn, KNOB_FAILED, "\"maybe\" is not a number");
    free(text);
    put(t, NET "/ecn/roce_np/enable/2", ""); /* the driver's show returned an error */
    text = read_text(t, &knob_ecn, KNOB_FAILED, "enable/2 is empty: the driver could not read the value");
    free(text);
}

static void ecn_points_upstream(void **state)
{
    char *text = read_text(*state, &knob_ecn, KNOB_MISSING,
                           "upstream's mlx5 cannot switch the reaction and notification points");
    free(text);
}

static void dcqcn_of_ofed(void **state)
{
    struct tree *t = *state;
    struct error e;
    put(t, NET "/ecn/roce_rp/clamp_tgt_rate", "0\n");
    put(t, NET "/ecn/roce_rp/rpg_ai_rate", "5\n");
    put(t, NET "/ecn/roce_np/cnp_dscp", "48\n");
    assert_reads(
        t, &knob_dcqcn, NET "/ecn (MLNX_OFED)",
        "{\"dcqcn\":{\"np\":{\"cnp_dscp\":48},\"rp\":{\"clamp_tgt_rate\":false,\"rpg_ai_rate\":5}}}");
    assert_int_equal(write_text(t, &knob_dcqcn,
                                "{\"dcqcn\":{\"rp\":{\"clamp_tgt_rate\":true},\"np\":{\"cnp_dscp\":40}}}",
                                &e),
                     0);
    assert_holds(t, NET "/ecn/roce_rp/clamp_tgt_rate", "1");
    assert_holds(t, NET "/ecn/roce_rp/rpg_ai_rate", "5");
    assert_holds(t, NET "/ecn/roce_np/cnp_dscp", "40");
}

/* The names of linux drivers/infiniband/hw/mlx5/cong.c, mlx5_ib_dbg_cc_name. */
static const char *const upstream_names[] = {"rp_clamp_tgt_rate",
                                             "rp_clamp_tgt_rate_ati",
                                             "rp_time_reset",
                                             "rp_byte_reset",
                                             "rp_threshold",
                                             "rp_ai_rate",
                                             "rp_max_rate",
                                             "rp_hai_rate",
                                             "rp_min_dec_fac",
                                             "rp_min_rate",
                                             "rp_rate_to_set_on_first_cnp",
                                             "rp_dce_tcp_g",
                                             "rp_dce_tcp_rtt",
                                             "rp_rate_reduce_monitor_period",
                                             "rp_initial_alpha_value",
                                             "rp_gd",
                                             "np_min_time_between_cnps",
                                             "np_cnp_dscp",
                                             "np_cnp_prio_mode",
                                             "np_cnp_prio"};
#define CC_PARAMS "/sys/kernel/debug/mlx5/0000:41:00.0/cc_params/"

static void dcqcn_of_upstream(void **state)
{
    struct tree *t = *state;
    struct error e;
    for (size_t i = 0; i < sizeof upstream_names / sizeof upstream_names[0]; i++) {
        char file[128];
        snprintf(file, sizeof file, CC_PARAMS "%s", upstream_names[i]);
        put(t, file, "1\n");
    }
    char *text = read_text(t, &knob_dcqcn, KNOB_READ, "cc_params (upstream)");
    json_t *read = json_loads(text, 0, NULL);
    /* every parameter of the driver is known */
    assert_int_equal(json_object_size(json_object_get(json_object_get(read, "dcqcn"), "rp")), 16);
    assert_int_equal(json_object_size(json_object_get(json_object_get(read, "dcqcn"), "np")), 4);
    json_decref(read);
    free(text);
    assert_int_equal(write_text(t, &knob_dcqcn,
                                "{\"dcqcn\":{\"rp\":{\"rpg_time_reset\":55,\"clamp_tgt_rate_after_time_inc\":"
                                "false},\"np\":{\"cnp_802p_prio\":"
                                "4}}}",
                                &e),
                     0);
    assert_holds(t, CC_PARAMS "rp_time_reset", "55");
    assert_holds(t, CC_PARAMS "rp_clamp_tgt_rate_ati", "0");
    assert_holds(t, CC_PARAMS "np_cnp_prio", "4");
    /* mode 0: CNPs have cnp_802p_prio (docs/settings.md) */
    assert_holds(t, CC_PARAMS "np_cnp_prio_mode", "0");
    static const char *const strange[] = {"99999999999999999999999", "-1"};
    for (size_t i = 0; i < 2; i++) {
        put(t, CC_PARAMS "rp_ai_rate", strange[i]);
        free(read_text(t, &knob_dcqcn, KNOB_FAILED, "is not a number that a parameter can have"));
    }
}

/* MLNX_OFED 24.07 has the mode in debugfs only; the driver sets it to 0 with the priority. */
static void cnp_mode_of_ofed(void **state)
{
    struct tree *t = *state;
    struct error e;
    put(t, NET "/ecn/roce_rp/rpg_ai_rate", "5\n");
    put(t, NET "/ecn/roce_np/cnp_802p_prio", "6\n");
    put(t, CC_PARAMS "np_cnp_prio_mode", "1\n");
    put(t, CC_PARAMS "np_cnp_prio", "6\n");
    assert_reads(t, &knob_dcqcn, "MLNX_OFED",
                 "{\"dcqcn\":{\"np\":{\"cnp_802p_prio\":6,\"cnp_prio_mode\":1},\"rp\":{\"rpg_ai_rate\":5}}}");
    assert_int_equal(write_text(t, &knob_dcqcn, "{\"dcqcn\":{\"np\":{\"cnp_802p_prio\":5}}}", &e), 0);
    assert_holds(t, NET "/ecn/roce_np/cnp_802p_prio", "5");
    assert_holds(t, CC_PARAMS "np_cnp_prio", "6"); /* the priority is written in sysfs */
    assert_holds(t, CC_PARAMS "np_cnp_prio_mode", "0");
}

/* The drivers set the other one of mode and priority to 0 with each write, so the one that counts is the
 * last. A write is seen because files_write() writes without a newline. */
static void the_cnp_priority_is_written_last(void **state)
{
    struct tree *t = *state;
    struct error e;
    put(t, CC_PARAMS "np_cnp_prio", "6\n");
    put(t, CC_PARAMS "np_cnp_prio_mode", "0\n");
    assert_int_equal(write_text(t, &knob_dcqcn, "{\"dcqcn\":{\"np\":{\"cnp_802p_prio\":5}}}", &e), 0);
    assert_raw(t, CC_PARAMS "np_cnp_prio", "5");
    assert_raw(t, CC_PARAMS "np_cnp_prio_mode", "0\n");
    assert_int_equal(write_text(t, &knob_dcqcn, "{\"dcqcn\":{\"np\":{\"cnp_prio_mode\":1}}}", &e), 0);
    assert_raw(t, CC_PARAMS "np_cnp_prio_mode", "1");
    put(t, CC_PARAMS "np_cnp_prio", "0\n");
    assert_int_equal(
        write_text(t, &knob_dcqcn, "{\"dcqcn\":{\"np\":{\"cnp_802p_prio\":0,\"cnp_prio_mode\":0}}}", &e), 0);
    assert_raw(t, CC_PARAMS "np_cnp_prio_mode", "0");
    assert_raw(t, CC_PARAMS "np_cnp_prio", "0"); /* the write of the mode may have changed it */
}

static void an_unused_cnp_priority_is_no_difference(void **state)
{
    (void)state;
    struct settings a = {.dcqcn.np = {.cnp_802p_prio = 6, .cnp_prio_mode = 1}},
                    b = {.dcqcn.np = {.cnp_802p_prio = 0, .cnp_prio_mode = 1}};
    assert_true(knob_dcqcn.same(&a, &b));
    a.dcqcn.np.cnp_prio_mode = 0;
    assert_false(knob_dcqcn.same(&a, &b));
    b.dcqcn.np.cnp_prio_mode = 0;
    assert_false(knob_dcqcn.same(&a, &b));
}

/* Without debugfs the mode cannot be put back: the user is told before. */
static void cnp_mode_that_cannot_be_read(void **state)
{
    struct tree *t = *state;
    struct error e;
    struct settings now = {.dcqcn.np = {.cnp_802p_prio = 6, .cnp_prio_mode = FIELD_UNSET}};
    struct settings target = {.dcqcn.np = {.cnp_802p_prio = 5, .cnp_prio_mode = FIELD_UNSET}};
    json_t *warnings = json_array();
    put(t, NET "/ecn/roce_np/cnp_802p_prio", "6\n");
    assert_int_equal(knob_dcqcn.check(&t->device, &now, &target, warnings, &e), 0);
    assert_int_equal(json_array_size(warnings), 1);
    assert_non_null(strstr(json_string_value(json_array_get(warnings, 0)), "cnp_prio_mode"));
    assert_int_equal(knob_dcqcn.check(&t->device, &now, &now, warnings, &e), 0);
    assert_int_equal(json_array_size(warnings), 1);
    json_decref(warnings);
}

static void traffic_class_of_ofed(void **state)
{
    struct tree *t = *state;
    struct error e;
    put(t, "/sys/class/infiniband/mlx5_0/tc/1/traffic_class", "");
    assert_reads(t, &knob_traffic_class, "MLNX_OFED", "{\"traffic_class\":-1}");
    put(t, "/sys/class/infiniband/mlx5_0/tc/1/traffic_class",
        "Global tclass=106\ntclass=3 dst_ip=192.0.2.1\n");
    assert_reads(t, &knob_traffic_class, "MLNX_OFED", "{\"traffic_class\":106}");
    assert_int_equal(write_text(t, &knob_traffic_class, "{\"traffic_class\":98}", &e), 0);
    assert_holds(t, "/sys/class/infiniband/mlx5_0/tc/1/traffic_class", "98");
    put(t, "/sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=98\n");
    assert_int_equal(write_text(t, &knob_traffic_class, "{\"traffic_class\":-1}", &e), 0);
    assert_holds(t, "/sys/class/infiniband/mlx5_0/tc/1/traffic_class", "-1");
}

#define TOS "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos"

static void traffic_class_of_upstream(void **state)
{
    struct tree *t = *state;
    struct error e;
    char *text = read_text(t, &knob_traffic_class, KNOB_MISSING, "rdma_cm loaded");
    free(text);
    put(t, TOS, "0\n");
    assert_reads(t, &knob_traffic_class, "upstream", "{\"traffic_class\":0}");
    assert_int_equal(write_text(t, &knob_traffic_class, "{\"traffic_class\":106}", &e), 0);
    assert_holds(t, TOS, "106");
    assert_int_equal(write_text(t, &knob_traffic_class, "{\"traffic_class\":-1}", &e), -1);
    assert_non_null(strstr(e.text, "accepts 0 to 255"));
    put(t, TOS, "lots\n");
    text = read_text(t, &knob_traffic_class, KNOB_FAILED, "\"lots\" is not a traffic class");
    free(text);
}

/* en_sysfs.c: mlx5e_show_prio2buffer, mlx5e_show_buffer_size. */
static void lay_out_buffers(const struct tree *t)
{
    put(t, NET "/qos/prio2buffer",
        "Priority\tBuffer\n0\t\t0\n1\t\t0\n2\t\t0\n3\t\t1\n4\t\t0\n5\t\t0\n6\t\t0\n7\t\t0\n");
    put(t, NET "/qos/buffer_size",
        "Port buffer size = 262016\nSpare buffer size = 16256\nBuffer\tSize\txoff_threshold\txon_threshold\n"
        "0\t130816\t0\t\t0\n1\t114944\t91392\t\t81408\n2\t0\t0\t\t0\n3\t0\t0\t\t0\n4\t0\t0\t\t0\n5\t0\t0\t\t0"
        "\n6\t0\t0\t\t0\n7\t0\t0\t\t0\n");
}

static void buffers_of_ofed(void **state)
{
    struct tree *t = *state;
    struct error e;
    lay_out_buffers(t);
    assert_reads(t, &knob_buffers, "qos/prio2buffer and buffer_size (MLNX_OFED)",
                 "{\"buffer_bytes\":[130816,114944,0,0,0,0,0,0],\"prio_to_buffer\":{\"0\":0,\"1\":0,\"2\":0,"
                 "\"3\":1,\"4\":0,\"5\":0,\"6\":"
                 "0,\"7\":0}}");
    assert_int_equal(
        write_text(t, &knob_buffers, "{\"buffer_bytes\":[0,114944],\"prio_to_buffer\":{\"0\":1}}", &e), 0);
    assert_holds(t, NET "/qos/buffer_size", "0,114944,0,0,0,0,0,0");
    assert_holds(t, NET "/qos/prio2buffer", "1,0,0,1,0,0,0,0");
    put(t, NET "/qos/prio2buffer", "Priority\tBuffer\n0\t\t0\n");
    char *text = read_text(t, &knob_buffers, KNOB_FAILED, "found lines of two numbers for 1 of 8 indexes");
    free(text);
    /* eight lines, but not of eight priorities; a buffer that there is not */
    put(t, NET "/qos/prio2buffer", "0 1\n0 1\n0 1\n0 1\n0 1\n0 1\n0 1\n0 1\n");
    free(read_text(t, &knob_buffers, KNOB_FAILED, "for 1 of 8 indexes"));
    lay_out_buffers(t);
    put(t, NET "/qos/prio2buffer", "0 0\n1 0\n2 0\n3 257\n4 0\n5 0\n6 0\n7 0\n");
    free(read_text(t, &knob_buffers, KNOB_FAILED, "maps priority 3 to buffer 257 of 8"));
}

static void buffers_are_checked(void **state)
{
    struct tree *t = *state;
    struct error e;
    struct settings now, target;
    lay_out_buffers(t);
    json_t *before = read_json(t, &knob_buffers), *warnings = json_array();
    json_t *asked = json_loads("{\"buffer_bytes\":[200000,62017,0,0,0,0,0,0]}", 0, NULL),
           *merged = document_merge(before, asked);
    assert_int_equal(document_settings(before, &now, &e), 0);
    assert_int_equal(document_settings(merged, &target, &e), 0);
    assert_int_equal(knob_buffers.check(&t->device, &now, &target, warnings, &e), -1);
    assert_non_null(strstr(e.text, "the sum of buffer_bytes is 262017, but the port has 262016"));
    table_free(&settings_table, &now);
    table_free(&settings_table, &target);
    json_decref(before);
    json_decref(asked);
    json_decref(merged);
    json_decref(warnings);
}

static void trust_of_ofed(void **state)
{
    struct tree *t = *state;
    struct error e;
    put(t, NET "/qos/trust", "pcp\n");
    put(t, NET "/qos/dscp2prio", "dscp\tprio\n0\t0\n26\t3\n48\t6\n");
    assert_reads(t, &knob_trust, "qos/trust and dscp2prio (MLNX_OFED)",
                 "{\"dscp_to_prio\":{\"0\":0,\"26\":3,\"48\":6},\"trust\":\"pcp\"}");
    assert_int_equal(write_text(t, &knob_trust, "{\"trust\":\"dscp\",\"dscp_to_prio\":{\"26\":5}}", &e), 0);
    assert_holds(t, NET "/qos/trust", "dscp");
    assert_holds(t, NET "/qos/dscp2prio", "26 5");
    /* what is not known is not pcp */
    put(t, NET "/qos/trust", "\n");
    free(read_text(t, &knob_trust, KNOB_FAILED, "qos/trust: \"\" is neither \"dscp\" nor \"pcp\""));
}

/* mlx5e_get_pfc_prevention_mode. */
static void stall_prevention_of_ofed(void **state)
{
    struct tree *t = *state;
    struct error e;
    put(t, NET "/settings/pfc_stall_prevention", "default\n");
    assert_reads(t, &knob_stall, "MLNX_OFED", "{\"pfc_stall_ms\":8000}");
    assert_int_equal(write_text(t, &knob_stall, "{\"pfc_stall_ms\":100}", &e), 0);
    assert_holds(t, NET "/settings/pfc_stall_prevention", "auto");
    assert_int_equal(write_text(t, &knob_stall, "{\"pfc_stall_ms\":250}", &e), -1);
    assert_non_null(strstr(e.text, "supports only 8000 (default) and 100 (auto)"));
    put(t, NET "/settings/pfc_stall_prevention", "disabled\n");
    free(read_text(t, &knob_stall, KNOB_FAILED, "\"disabled\" is neither \"default\" nor \"auto\""));
}

/* How an interface's driver, PCI and RDMA device are found. */
static void device_in_sysfs(void **state)
{
    struct tree *t = *state;
    struct device d;
    struct error e;
    char *link = path_in(t, NET "/device"), *driver = path_in(t, "/sys/devices/0000:61:00.0/driver");
    put(t, NET "/speed", "25000\n");
    put(t, "/sys/devices/0000:61:00.0/infiniband/mlx5_1/node_type", "1: CA\n");
    put(t, "/sys/bus/pci/drivers/mlx5_core/bind", "");
    assert_int_equal(symlink("../../../devices/0000:61:00.0", link), 0);
    assert_int_equal(symlink("../../bus/pci/drivers/mlx5_core", driver), 0);
    assert_int_equal(device_open(&d, &t->host, "mlx-test0", &e), 0);
    assert_string_equal(d.pci, "0000:61:00.0");
    assert_string_equal(d.driver, "mlx5_core");
    assert_string_equal(d.rdma, "mlx5_1");
    assert_int_equal(device_speed_Mbps(&d), 25000);
    put(t, "/sys/class/infiniband/mlx5_1/ports/1/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001\n");
    put(t, "/sys/class/infiniband/mlx5_1/ports/1/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
    assert_int_equal(device_gid_count(&d), 1);
    assert_int_equal(device_open(&d, &t->host, "../etc", &e), -1);
    free(link);
    free(driver);
}

static void rdma_by_its_parent(void **state)
{
    struct tree *t = *state;
    struct device d;
    struct error e;
    put(t, "/sys/class/infiniband/rxe0/parent", "mlx-test0\n");
    put(t, "/sys/class/infiniband/rxe1/parent", "other\n");
    assert_int_equal(device_open(&d, &t->host, "mlx-test0", &e), 0);
    assert_string_equal(d.rdma, "rxe0");
    assert_int_equal(d.rdma_port, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(ecn_points),
                                       TEST(ecn_points_upstream),
                                       TEST(dcqcn_of_ofed),
                                       TEST(dcqcn_of_upstream),
                                       TEST(cnp_mode_of_ofed),
                                       TEST(the_cnp_priority_is_written_last),
                                       TEST(an_unused_cnp_priority_is_no_difference),
                                       TEST(cnp_mode_that_cannot_be_read),
                                       TEST(traffic_class_of_ofed),
                                       TEST(traffic_class_of_upstream),
                                       TEST(buffers_of_ofed),
                                       TEST(buffers_are_checked),
                                       TEST(trust_of_ofed),
                                       TEST(stall_prevention_of_ofed),
                                       TEST(device_in_sysfs),
                                       TEST(rdma_by_its_parent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
