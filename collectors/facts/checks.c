/* The conditions on PCIe, BAR1 and versions, and the list of all checks. Rules and their sources:
 * docs/host-facts.1. */
#include "collectors/facts/checks.h"
#include "collectors/facts/judge.h"

#include "lib/document/json_text.h"
#include "lib/formats/flow.h"
#include <stdio.h>
#include <string.h>

#define MIB (INT64_C(1) << 20)
/* Part of BAR1 that the driver reserves, in addition to mapped memory. */
#define BAR1_RESERVE (36 * MIB)

/* ---- the PCIe path */

/* nvidia-smi topo -m: shares of line rate that users report: PIX 95-98 %, PHB 85-92 %, NODE and SYS 30-50 %,
 * or none on processors that do not pass it on. remote-lab.net (March and April 2026) measured an EPYC 7551P
 * whose GPUs and NICs are on different nodes, at 25 Gb/s: 2921 of 2921 MiB/s in one direction, 5296 of 5831
 * MiB/s in both, with pauses. */
#define COST_OF_SYS                                                                                          \
    "users report 30 to 50 % of line rate on fast links; at 25 Gb/s one published pair lost nothing in one " \
    "direction and 9 % in both"

static void judge_relation(struct judge *j, const json_t *pair)
{
    static const char fix[] =
        "measure it: harness run gpudirect-sweep --lab LAB; to shorten it, use slots below one host bridge";
    const char *relation = fact_word(pair, "relation", NULL);
    char subject[64];
    judge_pair_name(pair, subject, sizeof subject);
    if (strcmp(relation, "PIX") == 0 || strcmp(relation, "PXB") == 0)
        judge_say(j, VERDICT_OK, subject, NULL, "%s: peer-to-peer traffic stays inside PCIe switches",
                  relation);
    else if (strcmp(relation, "PHB") == 0)
        judge_say(j, VERDICT_OK, subject, NULL,
                  "PHB: it passes one host bridge; 85 to 92 %% of line rate are usual");
    else if (strcmp(relation, "NODE") == 0)
        judge_say(j, VERDICT_WARNING, subject, fix, "NODE: it passes two host bridges of one NUMA node: %s",
                  COST_OF_SYS);
    else if (strcmp(relation, "SYS") == 0)
        judge_say(j, VERDICT_WARNING, subject, fix, "SYS: it passes the link between NUMA nodes: %s",
                  COST_OF_SYS);
    else
        judge_say(j, VERDICT_UNKNOWN, subject, "cat /sys/bus/pci/devices/*/numa_node",
                  "different host bridges whose NUMA nodes are not known");
    judge_show(j, "/sys/bus/pci/devices/*, the folders above %s; they share %s", subject,
               fact_word(pair, "shared", NULL)[0] ? fact_word(pair, "shared", NULL) : "no bridge");
}

static void check_path(struct judge *j)
{
    size_t i;
    const json_t *pair;
    if (judge_no_gpu(j))
        return;
    json_t *judged = json_object(); /* the ports of a bond and the bond have a function in common */
    json_array_foreach(json_object_get(j->facts, "pairs"), i, pair)
    {
        char name[64];
        judge_pair_name(pair, name, sizeof name);
        if (json_object_get(judged, name) || !judge_can_pair(j, pair))
            continue;
        judge_relation(j, pair);
        json_object_set_new(judged, name, json_true());
    }
    if (json_object_size(judged) == 0)
        judge_say(j, VERDICT_UNKNOWN, "nic", NULL,
                  "there is no NIC that can do RDMA and whose distance to the GPU could be checked");
    json_decref(judged);
}

static void judge_bridge(struct judge *j, const json_t *bridge)
{
    const char *address = fact_word(bridge, "address", NULL);
    const json_t *acs = json_object_get(bridge, "acs");
    char fix[160];
    /* setpci can switch it off until the next boot; the firmware's setup switches it off permanently. */
    snprintf(fix, sizeof fix,
             "setpci -s %s ECAP_ACS+0x6.w=0000 (until reboot; permanently: switch ACS off in the firmware's "
             "setup)",
             address);
    if (!json_is_object(acs))
        judge_say(j, VERDICT_UNKNOWN, address, "run host-facts as root",
                  "its extended configuration space cannot be read, so its ACS state is not known");
    else if (json_is_false(json_object_get(acs, "present")))
        judge_say(j, VERDICT_OK, address, NULL, "it has no access control services (ACS)");
    else if (json_is_true(json_object_get(acs, "request_redirect")) ||
             json_is_true(json_object_get(acs, "completion_redirect")))
        judge_say(
            j, VERDICT_FAILURE, address, fix,
            "ACS redirects peer-to-peer traffic to the root complex: this halves or blocks it without an "
            "error message");
    else if (json_is_true(json_object_get(acs, "source_validation")))
        judge_say(j, VERDICT_WARNING, address, fix, "ACS source validation is on");
    else if (json_is_true(json_object_get(acs, "present")) &&
             json_is_false(json_object_get(acs, "request_redirect")) &&
             json_is_false(json_object_get(acs, "completion_redirect")) &&
             json_is_false(json_object_get(acs, "source_validation")))
        judge_say(j, VERDICT_OK, address, NULL, "ACS neither validates nor redirects");
    else
        judge_say(j, VERDICT_UNKNOWN, address, "run host-facts as root", "its ACS state is not known");
    judge_show(j, "/sys/bus/pci/devices/%s/config", address);
}

/* Judge the bridges of a pair that are not in `judged` yet. False: they were not read. */
static bool judge_bridges(struct judge *j, const json_t *pair, json_t *judged)
{
    size_t k;
    const json_t *bridge, *bridges = json_object_get(pair, "bridges");
    json_array_foreach(bridges, k, bridge)
    {
        const char *address = fact_word(bridge, "address", NULL);
        if (!json_object_get(judged, address))
            judge_bridge(j, bridge);
        json_object_set_new(judged, address, json_true());
    }
    return json_is_array(bridges);
}

static void check_acs(struct judge *j)
{
    size_t i;
    const json_t *pair, *pairs = json_object_get(j->facts, "pairs");
    bool any = false, read = true, bare = json_is_false(fact_at(j->facts, "system", "hypervisor"));
    if (judge_no_gpu(j))
        return;
    json_t *judged = json_object();
    json_array_foreach(pairs, i, pair)
    {
        if (!judge_can_pair(j, pair))
            continue;
        any = true;
        read = judge_bridges(j, pair, judged) && read;
    }
    if (!read || !any)
        judge_say(j, VERDICT_UNKNOWN, "bridges", NULL, "the bridges between GPU and NIC are not known");
    else if (json_object_size(judged) == 0)
        judge_say(j, bare ? VERDICT_OK : VERDICT_UNKNOWN, "bridges", NULL,
                  "no visible bridge is between GPU and NIC");
    if (!bare)
        judge_say(
            j, VERDICT_UNKNOWN, "hypervisor", "run host-facts --check on the hypervisor", "%s",
            judge_in_guest(j)
                ? "this is a guest: the relevant bridges are the host machine's and are visible only there"
                : "it is not known whether this is a guest, whose machine may have further bridges");
    json_decref(judged);
}

static bool has_parameter(const struct judge *j, const char *parameter)
{
    size_t i;
    const json_t *value;
    json_array_foreach(fact_at(j->facts, "iommu", "parameters"), i, value)
    {
        if (strcmp(json_string_value(value) ? json_string_value(value) : "", parameter) == 0)
            return true;
    }
    return false;
}

/* Group types: "identity" is passthrough, "DMA" and "DMA-FQ" translate
 * (Documentation/ABI/testing/sysfs-kernel-iommu_groups). */
static void check_iommu(struct judge *j)
{
    static const char fix[] =
        "add iommu=pt to the kernel's command line (GRUB_CMDLINE_LINUX, then update-grub or "
        "grub2-mkconfig; Rocky: grubby --update-kernel=ALL --args=iommu=pt) and reboot";
    int64_t groups = fact_number(j->facts, "iommu", "groups");
    int64_t passing =
        json_integer_value(json_object_get(fact_at(j->facts, "iommu", "group_types"), "identity"));
    const json_t *types = fact_at(j->facts, "iommu", "group_types");
    int64_t translating = json_integer_value(json_object_get(types, "DMA")) +
                          json_integer_value(json_object_get(types, "DMA-FQ"));
    const char *where = judge_in_guest(j) ? "guest" : "machine";
    if (groups < 0)
        judge_say(j, VERDICT_UNKNOWN, where, NULL, "it is unknown whether there are IOMMU groups");
    else if (groups == 0)
        judge_say(j, VERDICT_OK, where, NULL, "no IOMMU translates addresses (no IOMMU groups)");
    else if (translating > 0)
        judge_say(j, VERDICT_WARNING, where, fix,
                  "%lld of %lld IOMMU groups translate addresses, which serialises traffic",
                  (long long)translating, (long long)groups);
    else if (passing == groups || has_parameter(j, "iommu=pt") || has_parameter(j, "iommu.passthrough=1"))
        judge_say(j, VERDICT_OK, where, NULL, "the IOMMU passes addresses through (%lld groups)",
                  (long long)groups);
    else
        judge_say(
            j, VERDICT_UNKNOWN, where, fix,
            "%lld of %lld IOMMU groups are of unknown type, and no iommu=pt is on the kernel's command line",
            (long long)(groups - passing), (long long)groups);
}

/* ---- BAR1 */

static const char *human(int64_t bytes, char *buffer, size_t size)
{
    if (bytes >= 1024 * MIB && bytes % (1024 * MIB) == 0)
        snprintf(buffer, size, "%lld GiB", (long long)(bytes / (1024 * MIB)));
    else
        snprintf(buffer, size, "%lld MiB", (long long)(bytes / MIB));
    return buffer;
}

static void judge_bar1(struct judge *j, const json_t *gpu)
{
    static const char fix[] =
        "enlarge BAR1: switch \"Above 4G Decoding\" and \"Resizable BAR\" on in the firmware's setup "
        "(guest: BAR1 has the size that the host machine configured), or register less memory";
    char have[32], need[32];
    int64_t size = fact_number(gpu, "bar1_bytes", NULL), used = fact_number(gpu, "bar1_used_bytes", NULL);
    int64_t wanted = j->wanted->buffer_bytes + BAR1_RESERVE;
    if (size < 0) {
        judge_say(j, VERDICT_UNKNOWN, judge_gpu_name(gpu), NULL, "the size of BAR1 is unknown");
        return;
    }
    human(size, have, sizeof have);
    human(wanted, need, sizeof need);
    if (size < wanted)
        judge_say(j, VERDICT_FAILURE, judge_gpu_name(gpu), fix,
                  "BAR1 has %s, registration needs %s: ibv_reg_mr will fail", have, need);
    else if (used >= 0 && size - used < j->wanted->buffer_bytes)
        judge_say(j, VERDICT_FAILURE, judge_gpu_name(gpu),
                  "end the programs that use it (nvidia-smi -q -d MEMORY)",
                  "BAR1 has %s, but only %lld MiB are free", have, (long long)((size - used) / MIB));
    else
        judge_say(j, VERDICT_OK, judge_gpu_name(gpu), NULL, "BAR1 has %s, registration needs %s%s", have,
                  need, used < 0 ? "; how much of it is in use is not known" : "");
}

static void check_bar1(struct judge *j)
{
    size_t i;
    const json_t *gpu;
    if (judge_no_gpu(j))
        return;
    json_array_foreach(judge_gpus(j), i, gpu) judge_bar1(j, gpu);
}

static void check_resizable_bar(struct judge *j)
{
    size_t i;
    const json_t *gpu;
    if (judge_no_gpu(j))
        return;
    json_array_foreach(judge_gpus(j), i, gpu)
    {
        const json_t *bar = json_object_get(gpu, "resizable_bar");
        int64_t now = fact_number(bar, "current_bytes", NULL),
                largest = fact_number(bar, "largest_bytes", NULL);
        char a[32], b[32];
        if (!json_is_object(bar))
            judge_say(j, VERDICT_UNKNOWN, judge_gpu_name(gpu), "run host-facts as root",
                      "its extended configuration space, or the place of its BAR1, cannot be read");
        else if (!json_is_boolean(json_object_get(bar, "supported")) ||
                 (json_is_true(json_object_get(bar, "supported")) && (now < 0 || largest < 0)))
            judge_say(j, VERDICT_UNKNOWN, judge_gpu_name(gpu), "run host-facts as root",
                      "the sizes that BAR1 may have are not known");
        else if (now < 0)
            judge_say(j, VERDICT_OK, judge_gpu_name(gpu), NULL, "BAR1 is not resizable%s",
                      judge_in_guest(j) ? " in this guest" : "");
        else if (now < largest)
            judge_say(j, VERDICT_WARNING, judge_gpu_name(gpu),
                      "switch \"Above 4G Decoding\" and \"Resizable BAR\" on in the firmware's setup",
                      "BAR1 has %s but could have %s", human(now, a, sizeof a), human(largest, b, sizeof b));
        else
            judge_say(j, VERDICT_OK, judge_gpu_name(gpu), NULL, "BAR1 has its full size, %s",
                      human(now, a, sizeof a));
    }
}

/* ---- versions, and the way that data takes */

/* One version may have more parts than the other ("24.10-4.1.4.0" and "24.10-4.1.4"), but the common parts
 * must be equal (not "570.133.2"). */
static bool same_version(const char *a, const char *b)
{
    size_t n = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
    char next = strlen(a) > n ? a[n] : b[n];
    return n >= 3 && strncmp(a, b, n) == 0 && (next == '\0' || strchr(".-_+", next));
}

/* `found`: NULL if it was not read, null if there is none. */
static void compare_version(struct judge *j, const char *what, const char *wanted, const json_t *found)
{
    static const char fix[] = "virt-provision rebuild, or install the bundle's version";
    const char *version = json_string_value(found);
    if (wanted[0] == '\0')
        return;
    if (!found)
        judge_say(j, VERDICT_UNKNOWN, what, NULL, "the bundle requires %s; what is installed is not known",
                  wanted);
    else if (!version || version[0] == '\0')
        judge_say(j, VERDICT_FAILURE, what, fix, "the bundle requires %s, but none is installed", wanted);
    else if (same_version(wanted, version))
        judge_say(j, VERDICT_OK, what, NULL, "%s, the version of the bundle", version);
    else
        judge_say(
            j, VERDICT_FAILURE, what, fix,
            "%s is running, but the bundle requires %s: wrong versions are the most frequent cause of an "
            "unnoticed fall-back to host memory",
            version, wanted);
}

/* A version that others measured with. Another one may do as well: firmware of another family, or none, is
 * not compared. */
static void compare_measured(struct judge *j, const char *what, const char *measured, const json_t *version)
{
    const char *found = json_is_string(version) ? json_string_value(version) : "";
    size_t family = strcspn(measured, ".");
    if (measured[0] == '\0' || strncmp(measured, found, family) != 0 || found[family] != '.')
        return;
    if (same_version(measured, found))
        judge_say(j, VERDICT_OK, what, NULL, "%s, the version that the bundle's results were measured with",
                  found);
    else
        judge_say(j, VERDICT_WARNING, what,
                  "if results differ from the published ones, compare with this version",
                  "%s is running, but the bundle's results were measured with %s", found, measured);
}

static void compare_firmware(struct judge *j, const char *wanted, const char *measured)
{
    const json_t *nic, *nics = json_object_get(j->facts, "nics");
    size_t i;
    json_array_foreach(nics, i, nic)
    {
        const json_t *firmware = json_object_get(nic, "firmware");
        compare_version(j, "nic firmware", wanted, json_is_null(firmware) ? NULL : firmware);
        compare_measured(j, "nic firmware", measured, firmware);
    }
    if (json_array_size(nics) == 0)
        compare_version(j, "nic firmware", wanted, NULL);
}

static const char *version_or_none(const struct judge *j, const char *name)
{
    const json_t *version = fact_at(j->facts, "versions", name);
    return !version ? "unknown" : json_is_string(version) ? json_string_value(version) : "none";
}

static void check_bundle(struct judge *j)
{
    static const char *const parts[][2] = {
        {"kernel", "kernel"}, {"mlnx_ofed", "ofed"}, {"nvidia", "driver"}, {"cuda", "cuda"}};
    const json_t *bundle = j->wanted->bundle;
    if (!bundle) {
        judge_say(j, VERDICT_UNKNOWN, "versions",
                  "name the bundle of versions to compare with: host-facts --bundle FILE",
                  "kernel %s, MLNX_OFED %s, NVIDIA %s: no bundle to compare with",
                  version_or_none(j, "kernel"), version_or_none(j, "mlnx_ofed"),
                  version_or_none(j, "nvidia"));
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        compare_version(j, parts[i][0], fact_word(bundle, parts[i][1], NULL),
                        fact_at(j->facts, "versions", parts[i][0]));
    compare_firmware(j, fact_word(bundle, "nic_firmware", NULL),
                     fact_word(bundle, "measured_with", "nic_firmware"));
    compare_measured(j, "cuda", fact_word(bundle, "measured_with", "cuda"),
                     fact_at(j->facts, "versions", "cuda"));
}

/* Without a copy through host memory, the receiving GPU receives over PCIe at the rate at which the NIC
 * receives. */
static void check_gpu_counters(struct judge *j)
{
    const json_t *t = j->wanted->traffic;
    double wire = json_number_value(json_object_get(t, "rdma_rx_bytes_per_s"));
    double gpu = json_number_value(json_object_get(t, "gpu_rx_bytes_per_s"));
    if (judge_no_gpu(j))
        return;
    if (!t || json_is_string(json_object_get(t, "missing")))
        judge_say(j, VERDICT_UNKNOWN, "gpu",
                  "run this on the receiver during traffic: host-facts --check --measure --netdev IF --gpu N",
                  "%s", !t ? "not measured" : fact_word(t, "missing", NULL));
    else if (wire < 1e6)
        judge_say(j, VERDICT_UNKNOWN, "gpu", "run it on the receiver during traffic",
                  "no RDMA traffic was received during the measurement");
    else if (gpu < 0.8 * wire)
        judge_say(j, VERDICT_FAILURE, "gpu",
                  "see the check peer-memory; compare roce-traffic's memory route in its summary",
                  "the NIC received %.0f MB/s, but the GPU received only %.0f MB/s over PCIe: the data goes "
                  "through host "
                  "memory",
                  wire / 1e6, gpu / 1e6);
    else
        judge_say(j, VERDICT_OK, "gpu", NULL,
                  "the NIC received %.0f MB/s, the GPU received %.0f MB/s over PCIe", wire / 1e6, gpu / 1e6);
}

/* ---- all checks */

static const struct {
    const char *name;
    void (*run)(struct judge *);
    const char *evidence; /* where its facts are read */
} checks[] = {
    {"gpu-nic-path", check_path, "/sys/bus/pci/devices/*"},
    {"acs", check_acs, "/sys/bus/pci/devices/*/config of the bridges, /proc/cpuinfo"},
    {"iommu", check_iommu, "/sys/kernel/iommu_groups/*/type, /proc/cmdline"},
    {"iommu-groups", check_iommu_groups, "/sys/bus/pci/devices/*/iommu_group"},
    {"bar1", check_bar1, "/sys/bus/pci/devices/*/resource; NVML for what is in use"},
    {"peer-memory", check_peer_memory,
     "/sys/module, /proc/driver/nvidia/version, /proc/sys/kernel/osrelease"},
    {"peer-client", check_peer_client, "/sys/kernel/mm/memory_peers, /proc/driver/nvidia/version"},
    {"peer-lock", check_peer_lock, "/sys/module/nvidia_peermem/parameters, /sys/module/mlx5_core/version"},
    {"gdrcopy", check_gdrcopy, "/sys/module/gdrdrv, /dev/gdrdrv"},
    {"cluster-policy", check_cluster_policy, "the document of --cluster-policy"},
    {"bundle", check_bundle, "/proc/driver/nvidia/version, /sys/module/*/version, fw_ver of RDMA devices"},
    {"gpu-counters", check_gpu_counters, "rx_vport_rdma_unicast_bytes of the NIC, NVML's PCIe throughput"},
    {"resizable-bar", check_resizable_bar, "/sys/bus/pci/devices/*/config"},
    {"port", check_port,
     "/sys/class/infiniband/*/ports/*/state and link_layer, /sys/class/net/*/operstate, PCI identifiers"},
    {"virtual", check_virtual,
     "board_id of RDMA devices, ethtool's firmware, /sys/module/virtual_connectx/parameters"},
    {"pcie-link", check_link, "/sys/bus/pci/devices/*/current_link_* and max_link_*"},
    {"numa", check_numa, "/sys/bus/pci/devices/*/numa_node, /sys/devices/system/node"},
    {"relaxed-ordering", check_relaxed_ordering, "/sys/bus/pci/devices/*/config"},
    {"irq-affinity", check_irq_affinity,
     "/sys/bus/pci/devices/*/msi_irqs, /proc/irq/*/effective_affinity_list"},
    {"roce-gid", check_gid, "/sys/class/infiniband/*/ports/*/gids and gid_attrs"},
    {"congestion-control", check_congestion,
     "mstconfig -d ADDRESS -e query, the register PPCC, PCI identifiers"},
    {"dcbx", check_dcbx, "DCB netlink; mstconfig -d ADDRESS -e query; /proc/net/unix"},
    {"lldp", check_lldp, "lldpctl -f json0; DCB netlink, ieee_pfc"},
    {"counters", check_counters, "/sys/class/infiniband/*/ports/*/counters and hw_counters"},
    {"governor", check_governor, "/sys/devices/system/cpu/*/cpufreq/scaling_governor"},
};

static json_t *hardware_gpus(const json_t *facts)
{
    json_t *gpus = json_array(), *gpu;
    size_t i;
    json_array_foreach(json_object_get(facts, "gpus"), i, gpu)
    {
        if (!judge_gpu_virtual(gpu))
            json_array_append(gpus, gpu);
    }
    return gpus;
}

json_t *checks_run(const json_t *facts, const struct checks_wanted *wanted)
{
    json_t *gpus = hardware_gpus(facts);
    struct judge j = {.facts = facts, .gpus = gpus, .wanted = wanted, .list = json_array()};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        j.check = checks[i].name;
        j.evidence = checks[i].evidence;
        checks[i].run(&j);
    }
    json_decref(gpus);
    return j.list;
}

/* ---- is the host ready? */

/* Without these there is no RDMA with the memory that is wanted, or only through host memory. What others
 * warn of costs performance, or shows more. */
static const struct {
    const char *check;
    bool optional; /* unknown, it decides nothing */
} deciding[] = {
    {"port", false}, {"roce-gid", false},    {"gpu-nic-path", false}, {"acs", false},
    {"bar1", false}, {"peer-memory", false}, {"peer-client", true},   {"gpu-counters", true},
};

static bool decides(const json_t *check, bool *optional)
{
    for (size_t i = 0; i < sizeof deciding / sizeof *deciding; i++) {
        if (strcmp(fact_word(check, "check", NULL), deciding[i].check) != 0)
            continue;
        *optional = deciding[i].optional;
        return true;
    }
    return false;
}

json_t *checks_answer(const json_t *facts, const json_t *judged, const struct checks_wanted *wanted)
{
    bool host = wanted->memory == MEMORY_HOST, optional;
    const json_t *check, *gpus = json_object_get(facts, "gpus");
    json_t *against = json_array(), *unknown = json_array();
    size_t i;
    if (!host && json_is_array(gpus) && json_array_size(gpus) == 0)
        json_array_append_new(against, json_text("there is no NVIDIA GPU (--memory host: without one)"));
    json_array_foreach(judged, i, check)
    {
        const char *verdict = fact_word(check, "verdict", NULL), *name = fact_word(check, "check", NULL),
                   *subject = fact_word(check, "subject", NULL);
        if (!decides(check, &optional))
            continue;
        if (strcmp(verdict, "failure") == 0)
            json_array_append_new(
                against, json_textf("%s of %s: %s", name, subject, fact_word(check, "reason", NULL)));
        else if (strcmp(verdict, "unknown") == 0 && !optional)
            json_array_append_new(unknown, json_textf("%s of %s", name, subject));
    }
    bool no = json_array_size(against) > 0, open = json_array_size(unknown) > 0;
    json_t *answer =
        json_make("{s:s,s:s,s:O}", "for", host ? "RDMA with host memory" : "GPUDirect RDMA", "answer",
                  no     ? "no"
                  : open ? "unknown"
                         : "yes",
                  "why", no ? against : unknown);
    json_decref(against);
    json_decref(unknown);
    return answer;
}
