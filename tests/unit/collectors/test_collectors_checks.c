/* Verdicts on facts that are given, and the NCCL settings that follow. */
#include "tests/unit/unit.h"

#include "collectors/facts/checks.h"
#include "collectors/facts/nccl.h"

/* Single quotes stand for double ones. */
static json_t *parse(const char *text)
{
    char *copy = strdup(text);
    for (char *p = copy; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    json_error_t error;
    json_t *json = json_loads(copy, 0, &error);
    if (!json)
        fail_msg("%s at %d", error.text, error.position);
    free(copy);
    return json;
}

static void expect(const char *facts_text, const char *bundle_text, const char *traffic_text,
                   const char *check, const char *verdict, bool fix)
{
    json_t *facts = parse(facts_text), *bundle = bundle_text ? parse(bundle_text) : NULL;
    json_t *traffic = traffic_text ? parse(traffic_text) : NULL, *found = NULL, *entry;
    struct checks_wanted wanted = {.buffer_bytes = 64 << 20, .bundle = bundle, .traffic = traffic};
    json_t *list = checks_run(facts, &wanted);
    size_t i;
    json_array_foreach(list, i, entry)
    {
        if (!found && strcmp(json_string_value(json_object_get(entry, "check")), check) == 0)
            found = entry;
    }
    assert_non_null(found);
    if (strcmp(json_string_value(json_object_get(found, "verdict")), verdict) != 0)
        fail_msg("%s is %s, not %s: %s", check, json_string_value(json_object_get(found, "verdict")), verdict,
                 json_string_value(json_object_get(found, "reason")));
    assert_true(strlen(json_string_value(json_object_get(found, "reason"))) > 5);
    assert_int_equal(json_is_string(json_object_get(found, "fix")), fix);
    json_decref(list);
    json_decref(facts);
    json_decref(bundle);
    json_decref(traffic);
}

#define GPU "'gpus':[{'pci':{'address':'0000:07:00.0'},'bar1_bytes':268435456,'bar1_used_bytes':null}]"

static void peer_memory(void **state)
{
    (void)state;
    const char *check = "peer-memory";
    expect("{" GPU ",'modules':{}}", NULL, NULL, check, "failure", true);
    expect("{" GPU ",'modules':{'nvidia':{},'nvidia_peermem':{'parameters':{'peerdirect_support':'0'}}}}",
           NULL, NULL, check, "ok", false);
    expect("{" GPU ",'modules':{'nvidia':{},'nvidia_peermem':{'parameters':{'peerdirect_support':'1'}}}}",
           NULL, NULL, check, "warning", true);
    expect("{" GPU ",'modules':{'nvidia':{},'nvidia_peermem':{},'nv_peer_mem':{}}}", NULL, NULL, check,
           "failure", true);
    expect("{" GPU ",'modules':{'nvidia':{}},'versions':{'kernel':'6.1.0','nvidia_open':true}}", NULL, NULL,
           check, "warning", true);
    expect("{" GPU ",'modules':{'nvidia':{}},'versions':{'kernel':'5.12.0','nvidia_open':true}}", NULL, NULL,
           check, "warning", true);
    expect("{" GPU ",'modules':{'nvidia':{}},'versions':{'kernel':'5.11.9','nvidia_open':true}}", NULL, NULL,
           check, "failure", true);
    expect("{" GPU ",'modules':{'nvidia':{}},'versions':{'kernel':'6.1.0','nvidia_open':false}}", NULL, NULL,
           check, "failure", true);
    expect("{'gpus':[],'modules':{'nv_peer_mem':{}}}", NULL, NULL, check, "unknown", false);
}

static void iommu(void **state)
{
    (void)state;
    expect("{'iommu':{'groups':0,'group_types':{},'parameters':[]}}", NULL, NULL, "iommu", "ok", false);
    expect("{'iommu':{'groups':9,'group_types':{'DMA':1,'identity':8},'parameters':['iommu=pt']}}", NULL,
           NULL, "iommu", "warning", true);
    expect("{'iommu':{'groups':9,'group_types':{'DMA-FQ':9},'parameters':[]}}", NULL, NULL, "iommu",
           "warning", true);
    expect("{'iommu':{'groups':9,'group_types':{'identity':9},'parameters':[]}}", NULL, NULL, "iommu", "ok",
           false);
    /* older kernels show no types: then the command line counts */
    expect("{'iommu':{'groups':9,'group_types':{'unknown':9},'parameters':['iommu=pt']}}", NULL, NULL,
           "iommu", "ok", false);
    expect("{'iommu':{'groups':9,'group_types':{'unknown':9},'parameters':[]}}", NULL, NULL, "iommu",
           "unknown", true);
    expect("{}", NULL, NULL, "iommu", "unknown", false);
}

static void bar1(void **state)
{
    (void)state;
    expect("{" GPU "}", NULL, NULL, "bar1", "ok", false);
    expect("{'gpus':[{'pci':{'address':'x'},'bar1_bytes':67108864}]}", NULL, NULL, "bar1", "failure", true);
    expect("{'gpus':[{'pci':{'address':'x'},'bar1_bytes':268435456,'bar1_used_bytes':260000000}]}", NULL,
           NULL, "bar1", "failure", true);
    expect("{'gpus':[{'pci':{'address':'x'},'bar1_bytes':null}]}", NULL, NULL, "bar1", "unknown", false);
}

static void bundle(void **state)
{
    (void)state;
    const char *facts =
        "{'versions':{'kernel':'5.14.0-503','mlnx_ofed':'24.10-4.1.4','nvidia':'570.133.20'}}";
    expect(facts, NULL, NULL, "bundle", "unknown", true);
    expect(facts, "{'driver':'570.133.20'}", NULL, "bundle", "ok", false);
    expect(facts, "{'ofed':'24.10-4.1.4.0'}", NULL, "bundle", "ok", false);
    expect(facts, "{'driver':'570.133.2'}", NULL, "bundle", "failure", true);
    expect(facts, "{'driver':'570.133.200'}", NULL, "bundle", "failure", true);
    expect(facts, "{'cuda':'12.8'}", NULL, "bundle", "failure", true);
}

static void gpu_counters(void **state)
{
    (void)state;
    const char *facts = "{" GPU "}", *check = "gpu-counters";
    expect(facts, NULL, NULL, check, "unknown", true);
    expect(facts, NULL, "{'missing':'why not'}", check, "unknown", true);
    expect(facts, NULL, "{'rdma_rx_bytes_per_s':10.0,'gpu_rx_bytes_per_s':9e9}", check, "unknown", true);
    expect(facts, NULL, "{'rdma_rx_bytes_per_s':2.9e9,'gpu_rx_bytes_per_s':2.88e9}", check, "ok", false);
    expect(facts, NULL, "{'rdma_rx_bytes_per_s':2.9e9,'gpu_rx_bytes_per_s':1e6}", check, "failure", true);
}

static void resizable_bar(void **state)
{
    (void)state;
    const char *check = "resizable-bar";
    expect("{'gpus':[]}", NULL, NULL, check, "unknown", false);
    expect("{'gpus':[{'pci':{'address':'x'},'resizable_bar':null}]}", NULL, NULL, check, "unknown", true);
    expect("{'gpus':[{'pci':{'address':'x'},'resizable_bar':{'supported':false}}]}", NULL, NULL, check, "ok",
           false);
    expect("{'gpus':[{'pci':{'address':'x'},'resizable_bar':{'supported':true,'current_bytes':268435456,"
           "'largest_bytes':34359738368}}]}",
           NULL, NULL, check, "warning", true);
    expect("{'gpus':[{'pci':{'address':'x'},'resizable_bar':{'supported':true,'current_bytes':34359738368,"
           "'largest_bytes':34359738368}}]}",
           NULL, NULL, check, "ok", false);
}

static void numa_nodes(void **state)
{
    (void)state;
    const char *check = "numa";
    expect("{'system':{'numa_nodes':1},'pairs':[{'relation':'SYS'}]}", NULL, NULL, check, "ok", false);
    expect("{'system':{'numa_nodes':2},'pairs':[{'nic':'x','gpu':'y','relation':'NODE'}]}", NULL, NULL, check,
           "ok", false);
    expect("{'system':{'numa_nodes':2},'pairs':[{'nic':'x','gpu':'y','relation':'SYS'}]}", NULL, NULL, check,
           "failure", true);
}

static void governors(void **state)
{
    (void)state;
    const char *check = "governor";
    expect("{'system':{'governors':{}}}", NULL, NULL, check, "unknown", false);
    expect("{'system':{'governors':{'performance':8}}}", NULL, NULL, check, "ok", false);
    expect("{'system':{'governors':{'performance':7,'powersave':1}}}", NULL, NULL, check, "warning", true);
}

static void acs(void **state)
{
    (void)state;
    const char *format = "{" GPU ",'system':{'hypervisor':%s},'pairs':[{'relation':'PIX','bridges':[{'"
                         "address':'0000:3c:04.0','acs':%s}]}]}";
    static const struct {
        const char *acs, *verdict;
        bool fix;
    } cases[] = {
        {"null", "unknown", true},
        {"{'present':false}", "ok", false},
        {"{'present':true,'request_redirect':true}", "failure", true},
        {"{'present':true,'completion_redirect':true}", "failure", true},
        {"{'present':true,'source_validation':true}", "warning", true},
        {"{'present':true,'source_validation':false}", "ok", false},
    };
    char facts[512];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(facts, sizeof facts, format, "false", cases[i].acs);
        expect(facts, NULL, NULL, "acs", cases[i].verdict, cases[i].fix);
    }
}

static void path(void **state)
{
    (void)state;
    static const char *const relations[][2] = {{"PIX", "ok"},      {"PXB", "ok"},
                                               {"PHB", "ok"},      {"NODE", "failure"},
                                               {"SYS", "failure"}, {"unknown", "unknown"}};
    char facts[512];
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        snprintf(facts, sizeof facts, "{" GPU ",'pairs':[{'relation':'%s','nic':'a','gpu':'b'}]}",
                 relations[i][0]);
        expect(facts, NULL, NULL, "gpu-nic-path", relations[i][1], strcmp(relations[i][1], "ok") != 0);
    }
}

/* Facts that were kept may be anything. */
static void nonsense_is_judged_too(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "{'gpus':5,'nics':'x','pairs':{},'system':[],'iommu':null,'modules':1,'versions':'v'}",
        "{'gpus':[1,null,{}],'nics':[[],{'pci':5,'rdma':{'gids':[1,{}]}}],'pairs':[7,{'bridges':[3,{}]}]}",
        "{'iommu':{'groups':-4,'parameters':[1,null]},'system':{'governors':{'a':'b'},'numa_nodes':'two'}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        json_t *facts = parse(texts[i]);
        struct checks_wanted wanted = {.buffer_bytes = 1};
        struct text out = {0};
        struct error e;
        json_t *list = checks_run(facts, &wanted);
        assert_true(json_array_size(list) >= 10);
        (void)nccl_environment(facts, NULL, &out, &e);
        text_free(&out);
        json_decref(list);
        json_decref(facts);
    }
}

static void check_line(const char *facts_text, const char *line)
{
    json_t *facts = parse(facts_text);
    struct text out = {0};
    struct error e;
    if (nccl_environment(facts, NULL, &out, &e) == -1)
        fail_msg("%s", e.text);
    if (!strstr(text_string(&out), line))
        fail_msg("no %s in\n%s", line, text_string(&out));
    text_free(&out);
    json_decref(facts);
}

#define NIC(settings)                                                                                   \
    "{'nics':[{'netdev':'eth1','rdma':{'device':'mlx5_0','port':1,'gids':[{'index':1,'type':'RoCE v2'," \
    "'address':'fe80::1'},{'index':2,'type':'IB/RoCE v1','address':'10.0.0.1'},{'index':5,'type':"      \
    "'RoCE v2','address':'2001:db8::1'},{'index':3,'type':'RoCE "                                       \
    "v2','address':'10.0.0.1'}]},'settings':" settings "}]"

static void nccl_settings_follow(void **state)
{
    (void)state;
    check_line(NIC("{}") "}", "export NCCL_IB_GID_INDEX=3\n");
    check_line(NIC("{}") "}", "export NCCL_IB_HCA==mlx5_0:1\n");
    check_line(NIC("{}") "}", "export NCCL_NET_GDR_LEVEL=LOC\n");
    check_line(NIC("{}") ",'pairs':[{'netdev':'eth1','relation':'PHB'},{'netdev':'eth1','relation':'PIX'}]}",
               "export NCCL_NET_GDR_LEVEL=PIX\n");
    check_line(NIC("{}") ",'pairs':[{'netdev':'eth1','relation':'SYS'}]}", "export NCCL_NET_GDR_LEVEL=LOC\n");
    check_line(NIC("{}") ",'pairs':[{'netdev':'eth9','relation':'PIX'}]}", "export NCCL_NET_GDR_LEVEL=LOC\n");
    check_line(NIC("{}") "}", "export NCCL_IB_TC=106\n");
}

static void traffic_follows_pfc(void **state)
{
    (void)state;
    check_line(NIC("{'pfc':[3],'dscp_to_prio':{'24':3,'26':3}}") "}", "export NCCL_IB_TC=106\n");
    check_line(NIC("{'pfc':[4],'dscp_to_prio':{'34':4,'26':3}}") "}", "export NCCL_IB_TC=138\n");
    check_line(NIC("{'pfc':[],'dscp_to_prio':{'34':4}}") "}", "export NCCL_IB_TC=106\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peer_memory),
        cmocka_unit_test(iommu),
        cmocka_unit_test(bar1),
        cmocka_unit_test(bundle),
        cmocka_unit_test(gpu_counters),
        cmocka_unit_test(resizable_bar),
        cmocka_unit_test(numa_nodes),
        cmocka_unit_test(governors),
        cmocka_unit_test(acs),
        cmocka_unit_test(path),
        cmocka_unit_test(nonsense_is_judged_too),
        cmocka_unit_test(nccl_settings_follow),
        cmocka_unit_test(traffic_follows_pfc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
