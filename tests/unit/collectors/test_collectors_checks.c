/* Verdicts on facts that are given, and the NCCL settings that follow. */
#include "tests/unit/unit.h"

#include "collectors/facts/checks.h"
#include "collectors/facts/nccl.h"
#include "collectors/facts/traffic_probe.h"
#include "lib/formats/flow.h"

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
    struct checks_wanted wanted = {
        .buffer_bytes = 64 << 20, .memory = MEMORY_GPU, .bundle = bundle, .traffic = traffic};
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
           check, "ok", false);
    expect("{" GPU ",'modules':{'nvidia':{}},'versions':{'kernel':'5.12.0','nvidia_open':true}}", NULL, NULL,
           check, "ok", false);
    expect("{" GPU ",'modules':{'nvidia':{}},'versions':{'kernel':'5.12.0'}}", NULL, NULL, check, "unknown",
           true);
    expect("{" GPU ",'modules':{'nvidia':{}},'versions':{'kernel':'5.11.9','nvidia_open':true}}", NULL, NULL,
           check, "failure", true);
    expect("{" GPU ",'modules':{'nvidia':{}},'versions':{'kernel':'6.1.0','nvidia_open':false}}", NULL, NULL,
           check, "failure", true);
    expect("{'gpus':[],'modules':{'nv_peer_mem':{}}}", NULL, NULL, check, "unknown", false);
}

/* The first verdict on the GPU of this model, by this route. */
static void expect_model(const char *model, int memory, const char *verdict)
{
    json_t *facts = json_pack("{s:[{s:s,s:{s:s}}],s:{s:{},s:{}},s:{s:s,s:b}}", "gpus", "model", model, "pci",
                              "address", "0000:07:00.0", "modules", "nvidia", "nvidia_peermem", "versions",
                              "kernel", "6.1.0", "nvidia_open", 1);
    struct checks_wanted wanted = {.buffer_bytes = 64 << 20, .memory = memory};
    json_t *list = checks_run(facts, &wanted), *entry;
    size_t i;
    const char *found = "none";
    bool of_gpu = false;
    json_array_foreach(list, i, entry)
    {
        bool this = strcmp(json_string_value(json_object_get(entry, "subject")), "0000:07:00.0") == 0;
        if (strcmp(json_string_value(json_object_get(entry, "check")), "peer-memory") != 0 ||
            (of_gpu && !this))
            continue;
        found = json_string_value(json_object_get(entry, "verdict"));
        of_gpu = this;
    }
    if (strcmp(found, verdict) != 0)
        fail_msg("%s by %s is %s, not %s", model, flow_memory_names[memory], found, verdict);
    json_decref(list);
    json_decref(facts);
}

static void gpus_by_model(void **state)
{
    (void)state;
    static const struct {
        const char *model, *verdict;
    } models[] = {
        {"NVIDIA GeForce RTX 4090", "failure"},
        {"NVIDIA GeForce GTX 1080 Ti", "failure"},
        {"GeForce RTX 2080 Ti", "failure"},
        {"NVIDIA TITAN RTX", "failure"},
        {"TITAN V", "failure"},
        {"NVIDIA H100 80GB HBM3", "ok"},
        {"NVIDIA H200", "ok"},
        {"NVIDIA A100-SXM4-80GB", "ok"},
        {"NVIDIA L40S", "ok"},
        {"NVIDIA GH200 480GB", "ok"},
        {"NVIDIA B200", "ok"},
        {"Tesla V100-SXM2-32GB", "ok"},
        {"Tesla T4", "ok"},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "ok"},
        {"NVIDIA RTX A6000", "unknown"},
        {"Quadro RTX 8000", "unknown"},
        {"NVIDIA RTX 6000 Ada Generation", "unknown"},
        {"Jetson AGX Orin", "unknown"},
        {"Orin (nvgpu)", "unknown"},
        {"NVIDIA A40-48Q", "unknown"},
        {"GRID T4-8C", "unknown"},
        {"NVIDIA Graphics Device", "unknown"},
        {"NVIDIA H1000", "unknown"},
        {"", "unknown"},
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        expect_model(models[i].model, MEMORY_CUDA_PEERMEM, models[i].verdict);
        expect_model(models[i].model, MEMORY_CUDA_DMABUF, models[i].verdict);
        expect_model(models[i].model, MEMORY_RM_DMABUF, "ok");
    }
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
        "{'versions':{'kernel':'5.14.0-503','mlnx_ofed':'24.10-4.1.4','nvidia':'570.133.20','cuda':null}}";
    expect(facts, NULL, NULL, "bundle", "unknown", true);
    expect(facts, "{'driver':'570.133.20'}", NULL, "bundle", "ok", false);
    expect(facts, "{'ofed':'24.10-4.1.4.0'}", NULL, "bundle", "ok", false);
    expect(facts, "{'driver':'570.133.2'}", NULL, "bundle", "failure", true);
    expect(facts, "{'driver':'570.133.200'}", NULL, "bundle", "failure", true);
    expect(facts, "{'cuda':'12.8'}", NULL, "bundle", "failure", true);
    expect("{}", "{'cuda':'12.8'}", NULL, "bundle", "unknown", false);
    expect("{'nics':[{'firmware':null}]}", "{'nic_firmware':'14.32.1900'}", NULL, "bundle", "unknown", false);
    /* what the bundle's results were measured with: another version of the same family is a warning */
    static const char measured[] = "{'measured_with':{'nic_firmware':'14.23.1000','cuda':'12.8'}}";
    expect("{'nics':[{'firmware':'14.23.1000'}]}", measured, NULL, "bundle", "ok", false);
    expect("{'nics':[{'firmware':'14.32.1010'}]}", measured, NULL, "bundle", "warning", true);
    expect("{'versions':{'cuda':'12.8.1'}}", measured, NULL, "bundle", "ok", false);
    expect("{'versions':{'cuda':'12.9.0'},'nics':[{'firmware':'22.41.1000'}]}", measured, NULL, "bundle",
           "warning", true);
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

static void relaxed_ordering(void **state)
{
    (void)state;
    const char *check = "relaxed-ordering";
#define NIC(bit)                                                                                         \
    "{'nics':[{'rdma':{'firmware':'14.32.1900'},'pci':{'address':'0000:41:00.0','relaxed_ordering':" bit \
    "}}]}"
    expect(NIC("true"), NULL, NULL, check, "ok", false);
    expect(NIC("false"), NULL, NULL, check, "warning", true);
    expect(NIC("null"), NULL, NULL, check, "unknown", true);
    /* Soft-RoCE upon a NIC with PCI Express */
    expect("{'nics':[{'rdma':{'firmware':null},'pci':{'address':'x','relaxed_ordering':true}}]}", NULL, NULL,
           check, "unknown", false);
#undef NIC
}

static void numa_nodes(void **state)
{
    (void)state;
    const char *check = "numa";
    expect("{'system':{'numa_nodes':1},'pairs':[{'relation':'SYS'}]}", NULL, NULL, check, "ok", false);
    expect("{'system':{'numa_nodes':2},'pairs':[{'nic':'x','gpu':'y','relation':'NODE'}]}", NULL, NULL, check,
           "ok", false);
    expect("{'system':{'numa_nodes':2},'pairs':[{'nic':'x','gpu':'y','relation':'SYS'}]}", NULL, NULL, check,
           "warning", true);
    expect("{'system':{'numa_nodes':2},'pairs':[{'nic':'x','gpu':'y','relation':'unknown'}]}", NULL, NULL,
           check, "unknown", true);
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
        {"{'present':true,'source_validation':false,'request_redirect':false,'completion_redirect':false}",
         "ok", false},
        {"{'present':true,'source_validation':false}", "unknown", true},
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
                                               {"PHB", "ok"},      {"NODE", "warning"},
                                               {"SYS", "warning"}, {"unknown", "unknown"}};
    char facts[512];
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        snprintf(facts, sizeof facts, "{" GPU ",'pairs':[{'relation':'%s','nic':'a','gpu':'b'}]}",
                 relations[i][0]);
        expect(facts, NULL, NULL, "gpu-nic-path", relations[i][1], strcmp(relations[i][1], "ok") != 0);
    }
}

/* ---- a fact that was not read: never ok */

static const char whole[] =
    "{'system':{'hypervisor':false,'numa_nodes':2,'governors':{'performance':8}},"
    "'versions':{'kernel':'6.1.0','nvidia':'570.133.20','nvidia_open':true,'mlnx_ofed':'24.10-4.1.4'},"
    "'iommu':{'groups':2,'group_types':{'identity':2},'parameters':[]},"
    "'modules':{'nvidia':{},'nvidia_peermem':{'parameters':{'peerdirect_support':'0'}},'gdrdrv':{}},"
    "'memory_peers':{'nv_mem':{'version':'570.133.20'}},'gdrcopy':{'device':true},"
    "'nics':[{'netdev':'eth1','firmware':'14.32.1900','bridge':false,"
    "'pci':{'address':'0000:41:00.0','relaxed_ordering':true,'iommu_group':{'number':'31','others':[]},"
    "'link':{'speed_MTps':8000,'width_lanes':8,'max_speed_MTps':8000,'max_width_lanes':8}},"
    "'interrupts':{'count':2,'cpus':'16-17','local_cpus':'16-23'},"
    "'rdma':{'device':'mlx5_0','firmware':'14.32.1900','gids':[{'index':3,'type':'RoCE "
    "v2','address':'10.0.0.1'}]}}],"
    "'gpus':[{'pci':{'address':'0000:06:00.0','driver':'nvidia',"
    "'link':{'speed_MTps':8000,'width_lanes':8,'max_speed_MTps':8000,'max_width_lanes':8}},"
    "'bar1_bytes':268435456,'bar1_used_bytes':0,"
    "'resizable_bar':{'supported':true,'current_bytes':268435456,'largest_bytes':268435456}}],"
    "'pairs':[{'nic':'0000:41:00.0','gpu':'0000:06:00.0','relation':'PIX','shared':'0000:40:00.0','bridges':["
    "{'address':'0000:40:01.0','acs':{'present':true,'request_redirect':false,'completion_redirect':false,"
    "'source_validation':false}}]}]}";

static const char whole_policy[] = "{'metadata':{'name':'p'},'spec':{'driver':{'enabled':true,'"
                                   "kernelModuleType':'open','rdma':{'enabled':true,"
                                   "'useHostMofed':true}},'gdrcopy':{'enabled':true}}}";

/* A check, and a fact that it needs: a path of keys and indices. */
static const struct {
    const char *check, *fact;
    enum flow_memory memory;
} needs[] = {
    {"gpu-nic-path", "gpus", MEMORY_GPU},
    {"gpu-nic-path", "pairs", MEMORY_GPU},
    {"gpu-nic-path", "pairs/0/relation", MEMORY_GPU},
    {"acs", "pairs", MEMORY_GPU},
    {"acs", "pairs/0/bridges", MEMORY_GPU},
    {"acs", "pairs/0/bridges/0/acs", MEMORY_GPU},
    {"acs", "pairs/0/bridges/0/acs/present", MEMORY_GPU},
    {"acs", "pairs/0/bridges/0/acs/request_redirect", MEMORY_GPU},
    {"acs", "pairs/0/bridges/0/acs/completion_redirect", MEMORY_GPU},
    {"acs", "pairs/0/bridges/0/acs/source_validation", MEMORY_GPU},
    {"iommu", "iommu", MEMORY_GPU},
    {"iommu", "iommu/groups", MEMORY_GPU},
    {"iommu", "iommu/group_types", MEMORY_GPU},
    {"iommu-groups", "nics", MEMORY_GPU},
    {"iommu-groups", "nics/0/pci/iommu_group", MEMORY_GPU},
    {"iommu-groups", "nics/0/pci/iommu_group/others", MEMORY_GPU},
    {"bar1", "gpus", MEMORY_GPU},
    {"bar1", "gpus/0/bar1_bytes", MEMORY_GPU},
    {"peer-memory", "modules", MEMORY_GPU},
    {"peer-memory", "versions/kernel", MEMORY_RM_DMABUF},
    {"peer-memory", "versions/kernel", MEMORY_CUDA_DMABUF},
    {"peer-memory", "versions/nvidia_open", MEMORY_CUDA_DMABUF},
    {"peer-memory", "modules", MEMORY_CUDA_PEERMEM},
    {"peer-client", "memory_peers", MEMORY_GPU},
    {"peer-client", "memory_peers/nv_mem/version", MEMORY_GPU},
    {"peer-client", "versions/nvidia", MEMORY_GPU},
    {"peer-lock", "modules", MEMORY_GPU},
    {"peer-lock", "versions/mlnx_ofed", MEMORY_GPU},
    {"peer-lock", "modules/nvidia_peermem/parameters", MEMORY_GPU},
    {"gdrcopy", "modules", MEMORY_GPU},
    {"gdrcopy", "gdrcopy", MEMORY_GPU},
    {"resizable-bar", "gpus/0/resizable_bar", MEMORY_GPU},
    {"resizable-bar", "gpus/0/resizable_bar/supported", MEMORY_GPU},
    {"resizable-bar", "gpus/0/resizable_bar/current_bytes", MEMORY_GPU},
    {"resizable-bar", "gpus/0/resizable_bar/largest_bytes", MEMORY_GPU},
    {"numa", "system/numa_nodes", MEMORY_GPU},
    {"numa", "pairs", MEMORY_GPU},
    {"numa", "pairs/0/relation", MEMORY_GPU},
    {"relaxed-ordering", "nics", MEMORY_GPU},
    {"relaxed-ordering", "nics/0/rdma", MEMORY_GPU},
    {"relaxed-ordering", "nics/0/rdma/firmware", MEMORY_GPU},
    {"relaxed-ordering", "nics/0/pci", MEMORY_GPU},
    {"relaxed-ordering", "nics/0/pci/relaxed_ordering", MEMORY_GPU},
    {"irq-affinity", "nics", MEMORY_GPU},
    {"irq-affinity", "nics/0/interrupts", MEMORY_GPU},
    {"irq-affinity", "nics/0/interrupts/cpus", MEMORY_GPU},
    {"irq-affinity", "nics/0/interrupts/local_cpus", MEMORY_GPU},
    {"roce-gid", "nics/0/rdma/gids", MEMORY_GPU},
    {"roce-gid", "nics/0/rdma/gids/0/type", MEMORY_GPU},
    {"roce-gid", "nics/0/rdma/gids/0/address", MEMORY_GPU},
    {"governor", "system/governors", MEMORY_GPU},
};

/* Take a fact out: wholly, or leave null, as a value that could not be read. */
static void take_out(json_t *from, const char *path, bool leave_null)
{
    const char *slash = strchr(path, '/');
    char key[40];
    snprintf(key, sizeof key, "%.*s", slash ? (int)(slash - path) : (int)strlen(path), path);
    json_t *below =
        json_is_array(from) ? json_array_get(from, strtoul(key, NULL, 10)) : json_object_get(from, key);
    assert_non_null(below);
    if (slash)
        take_out(below, slash + 1, leave_null);
    else if (leave_null)
        json_object_set_new(from, key, json_null());
    else
        json_object_del(from, key);
}

static size_t count_of(const json_t *facts, const json_t *policy, const char *check, const char *verdict,
                       int memory)
{
    struct checks_wanted wanted = {.buffer_bytes = 1 << 20, .memory = memory, .policy = policy};
    json_t *list = checks_run(facts, &wanted), *entry;
    size_t i, count = 0;
    json_array_foreach(list, i, entry)
    {
        assert_true(json_string_length(json_object_get(entry, "evidence")) > 0);
        count += strcmp(json_string_value(json_object_get(entry, "check")), check) == 0 &&
                 strcmp(json_string_value(json_object_get(entry, "verdict")), verdict) == 0;
    }
    json_decref(list);
    return count;
}

static void unread_facts_are_never_ok(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        json_t *facts = parse(whole), *policy = parse(whole_policy);
        if (count_of(facts, policy, needs[i].check, "ok", needs[i].memory) == 0)
            fail_msg("%s is not ok with all facts", needs[i].check);
        for (int leave_null = 0; leave_null < 2; leave_null++) {
            json_t *less = json_deep_copy(facts);
            take_out(less, needs[i].fact, leave_null);
            if (count_of(less, policy, needs[i].check, "ok", needs[i].memory) > 0)
                fail_msg("%s is ok without %s", needs[i].check, needs[i].fact);
            json_decref(less);
        }
        json_decref(facts);
        json_decref(policy);
    }
}

/* Each field of the policy that is not there is unknown, and the others are judged all the same. */
static void policies_that_say_little(void **state)
{
    (void)state;
    static const char *const fields[] = {"spec/driver/rdma/enabled", "spec/driver/rdma/useHostMofed",
                                         "spec/driver/kernelModuleType", "spec/gdrcopy/enabled"};
    json_t *facts = parse(whole);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        json_t *policy = parse(whole_policy);
        assert_int_equal(count_of(facts, policy, "cluster-policy", "ok", MEMORY_CUDA_PEERMEM), 4);
        take_out(policy, fields[i], false);
        assert_int_equal(count_of(facts, policy, "cluster-policy", "unknown", MEMORY_CUDA_PEERMEM), 1);
        json_decref(policy);
    }
    json_decref(facts);
}

/* MLNX_OFED's release, nvidia_peermem's parameter, verdict. */
static void lock_inversion(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"24.10-4.1.4", "0", "ok"},        {"5.4-3.0.3.0", "0", "ok"},      {"5.4-1.0.3", "0", "warning"},
        {"5.1-0.6.6", "0", "warning"},     {"24.10-4.1.4", "1", "warning"}, {"5.0-2.1.8", "1", "ok"},
        {"4.9-7.1.0", "0", "warning"},     {"inbox", "0", "unknown"},       {"24.10", "0", "unknown"},
        {"-1.-1--1.-1.-1", "0", "unknown"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *facts = parse(whole);
        json_object_set_new(json_object_get(facts, "versions"), "mlnx_ofed", json_string(cases[i][0]));
        json_t *module = json_object_get(json_object_get(facts, "modules"), "nvidia_peermem");
        json_object_set_new(json_object_get(module, "parameters"), "peerdirect_support",
                            json_string(cases[i][1]));
        if (count_of(facts, NULL, "peer-lock", cases[i][2], MEMORY_GPU) != 1)
            fail_msg("MLNX_OFED %s with %s is not %s", cases[i][0], cases[i][1], cases[i][2]);
        json_decref(facts);
    }
}

static void two_ports_on_one_cpu(void **state)
{
    (void)state;
    json_t *facts =
        parse("{'nics':[{'netdev':'p0','bridge':'br','pci':{'address':'x'},'interrupts':{'cpus':'16',"
              "'local_cpus':'16-23'}},{'netdev':'p1','bridge':'br','pci':{'address':'y'},'interrupts':{"
              "'cpus':'16','local_cpus':'16-23'}}]}");
    assert_int_equal(count_of(facts, NULL, "irq-affinity", "warning", MEMORY_GPU), 1);
    json_t *second = json_object_get(json_array_get(json_object_get(facts, "nics"), 1), "interrupts");
    json_object_set_new(second, "cpus", json_string("17"));
    assert_int_equal(count_of(facts, NULL, "irq-affinity", "warning", MEMORY_GPU), 0);
    json_object_set_new(second, "cpus", json_string("17-"));
    assert_int_equal(count_of(facts, NULL, "irq-affinity", "unknown", MEMORY_GPU), 1);
    json_object_set_new(second, "cpus", json_string("99999999999999999999"));
    assert_int_equal(count_of(facts, NULL, "irq-affinity", "unknown", MEMORY_GPU), 1);
    json_decref(facts);
}

static void expect_copy_rates(const char *output, double written, double read)
{
    json_t *found = gdrcopy_parse(output), *facts = parse(whole);
    assert_true(json_number_value(json_object_get(found, "write_bytes_per_s")) == written);
    assert_true(json_number_value(json_object_get(found, "read_bytes_per_s")) == read);
    assert_int_equal(json_is_string(json_object_get(found, "missing")), written == 0);
    json_object_set_new(json_object_get(facts, "gdrcopy"), "copybw", found);
    assert_int_equal(count_of(facts, NULL, "gdrcopy", written > 0 ? "ok" : "warning", MEMORY_GPU), 1);
    json_decref(facts);
}

static void copy_rates(void **state)
{
    (void)state;
    expect_copy_rates("writing test, size=131072\nwrite BW: 9638.5MB/s\nreading test\nread BW: 530.25MB/s\n",
                      9638.5e6, 530.25e6);
    expect_copy_rates("write BW: 9638.5MB/s\n", 0, 0);
    expect_copy_rates("write BW: nanMB/s\nread BW: infMB/s\n", 0, 0);
    expect_copy_rates("", 0, 0);
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
        struct checks_wanted wanted = {.buffer_bytes = 1, .memory = MEMORY_GPU};
        struct text out = {0};
        struct error e;
        json_t *list = checks_run(facts, &wanted);
        assert_true(json_array_size(list) >= 10);
        (void)nccl_environment(facts, NULL, 0, &out, &e);
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
    if (nccl_environment(facts, NULL, 0, &out, &e) == -1)
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
    check_line(NIC("{}") "}", "# NCCL_NET_GDR_LEVEL is not set: how far the GPUs are");
    check_line(NIC("{}") ",'gpus':[]}", "# NCCL_NET_GDR_LEVEL is not set: no GPU is seen here\n");
    check_line(NIC("{}") ",'pairs':[{'netdev':'eth1','relation':'PHB'},{'netdev':'eth1','relation':'PIX'}]}",
               "export NCCL_NET_GDR_LEVEL=PIX\n");
    check_line(NIC("{}") ",'pairs':[{'netdev':'eth1','relation':'SYS'}]}", "export NCCL_NET_GDR_LEVEL=LOC\n");
    check_line(NIC("{}") ",'pairs':[{'netdev':'eth9','relation':'PIX'}]}", "# NCCL_NET_GDR_LEVEL is not set");
    /* far as far as it is known, which is not all; near is near whatever the others are */
    check_line(
        NIC("{}") ",'pairs':[{'netdev':'eth1','relation':'SYS'},{'netdev':'eth1','relation':'unknown'}]}",
        "# NCCL_NET_GDR_LEVEL is not set");
    check_line(
        NIC("{}") ",'pairs':[{'netdev':'eth1','relation':'PXB'},{'netdev':'eth1','relation':'unknown'}]}",
        "export NCCL_NET_GDR_LEVEL=PXB\n");
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
        cmocka_unit_test(gpus_by_model),
        cmocka_unit_test(iommu),
        cmocka_unit_test(bar1),
        cmocka_unit_test(bundle),
        cmocka_unit_test(gpu_counters),
        cmocka_unit_test(resizable_bar),
        cmocka_unit_test(relaxed_ordering),
        cmocka_unit_test(numa_nodes),
        cmocka_unit_test(governors),
        cmocka_unit_test(acs),
        cmocka_unit_test(path),
        cmocka_unit_test(unread_facts_are_never_ok),
        cmocka_unit_test(policies_that_say_little),
        cmocka_unit_test(lock_inversion),
        cmocka_unit_test(two_ports_on_one_cpu),
        cmocka_unit_test(copy_rates),
        cmocka_unit_test(nonsense_is_judged_too),
        cmocka_unit_test(nccl_settings_follow),
        cmocka_unit_test(traffic_follows_pfc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
