/* One function for each check; it adds a verdict for every device or setting that it examines. Rules and
 * their sources: docs/host-facts.1. */
#include "collectors/facts/checks.h"

#include "lib/text.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (INT64_C(1) << 20)
/* Part of BAR1 that the driver reserves, in addition to mapped memory. */
#define BAR1_RESERVE (36 * MIB)

enum verdict { OK, WARNING, FAILURE, UNKNOWN };

struct judge {
    const json_t *facts;
    const struct checks_wanted *wanted;
    json_t *list;
    const char *check; /* the check that is running */
};

static void say(struct judge *j, enum verdict verdict, const char *subject, const char *fix,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

static void say(struct judge *j, enum verdict verdict, const char *subject, const char *fix,
                const char *format, ...)
{
    static const char *const names[] = {"ok", "warning", "failure", "unknown"};
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    json_array_append_new(j->list, json_pack("{s:s,s:s,s:s,s:s,s:s?}", "check", j->check, "subject", subject,
                                             "verdict", names[verdict], "reason", reason, "fix", fix));
}

/* ---- reading facts */

static const json_t *at(const json_t *from, const char *a, const char *b)
{
    const json_t *found = json_object_get(from, a);
    return b ? json_object_get(found, b) : found;
}

static const char *word(const json_t *from, const char *a, const char *b)
{
    const char *text = json_string_value(at(from, a, b));
    return text ? text : "";
}

/* A number, or -1. */
static int64_t number(const json_t *from, const char *a, const char *b)
{
    const json_t *found = at(from, a, b);
    return json_is_integer(found) ? json_integer_value(found) : -1;
}

static bool has_module(const struct judge *j, const char *name)
{
    return at(j->facts, "modules", name);
}

static bool in_guest(const struct judge *j)
{
    return json_is_string(at(j->facts, "system", "hypervisor"));
}

static const json_t *gpus(const struct judge *j)
{
    return json_object_get(j->facts, "gpus");
}

static const char *gpu_name(const json_t *gpu)
{
    const char *name = word(gpu, "pci", "address");
    return name[0] != '\0' ? name : "gpu";
}

/* Checks of GPUs are skipped without a GPU. */
static bool no_gpu(struct judge *j)
{
    if (json_array_size(gpus(j)) > 0)
        return false;
    say(j, UNKNOWN, "gpu", NULL, "there is no NVIDIA GPU on this host");
    return true;
}

/* ---- the PCIe path */

static void subject_of_pair(const json_t *pair, char *subject, size_t size)
{
    snprintf(subject, size, "%s - %s", word(pair, "nic", NULL), word(pair, "gpu", NULL));
}

/* nvidia-smi topo -m: shares of line rate that users report: PIX 95-98 %, PHB 85-92 %, NODE and SYS 30-50 %
 * or nothing. */
static void judge_relation(struct judge *j, const json_t *pair)
{
    const char *relation = word(pair, "relation", NULL);
    char subject[64];
    subject_of_pair(pair, subject, sizeof subject);
    if (strcmp(relation, "PIX") == 0 || strcmp(relation, "PXB") == 0)
        say(j, OK, subject, NULL, "%s: peer-to-peer traffic stays inside PCIe switches", relation);
    else if (strcmp(relation, "PHB") == 0)
        say(j, OK, subject, NULL, "PHB: it passes one host bridge; 85 to 92 %% of line rate are usual");
    else if (strcmp(relation, "NODE") == 0 || strcmp(relation, "SYS") == 0)
        say(j, FAILURE, subject,
            "move the NIC or the GPU to slots below one host bridge, or use another pair (nvidia-smi topo "
            "-m)",
            "%s: it passes between host bridges; 30 to 50 %% of line rate are usual, or peer-to-peer does "
            "not work",
            relation);
    else
        say(j, UNKNOWN, subject, "read /sys/bus/pci/devices/*/numa_node on the hypervisor",
            "different host bridges whose NUMA nodes are not known");
}

static void check_path(struct judge *j)
{
    size_t i;
    const json_t *pair, *pairs = json_object_get(j->facts, "pairs");
    if (no_gpu(j))
        return;
    json_array_foreach(pairs, i, pair) judge_relation(j, pair);
    if (json_array_size(pairs) == 0)
        say(j, UNKNOWN, "nic", NULL,
            "there is no NIC with a PCI address whose distance to the GPU could be checked");
}

static void judge_bridge(struct judge *j, const json_t *bridge)
{
    const char *address = word(bridge, "address", NULL);
    const json_t *acs = json_object_get(bridge, "acs");
    char fix[160];
    /* setpci can switch it off until the next boot; the firmware's setup switches it off permanently. */
    snprintf(fix, sizeof fix,
             "setpci -s %s ECAP_ACS+0x6.w=0000 (until reboot; permanently: switch ACS off in the firmware's "
             "setup)",
             address);
    if (!json_is_object(acs))
        say(j, UNKNOWN, address, "run host-facts as root",
            "its extended configuration space cannot be read, so its ACS state is not known");
    else if (!json_is_true(json_object_get(acs, "present")))
        say(j, OK, address, NULL, "it has no access control services (ACS)");
    else if (json_is_true(json_object_get(acs, "request_redirect")) ||
             json_is_true(json_object_get(acs, "completion_redirect")))
        say(j, FAILURE, address, fix,
            "ACS redirects peer-to-peer traffic to the root complex: this halves or blocks it without an "
            "error message");
    else if (json_is_true(json_object_get(acs, "source_validation")))
        say(j, WARNING, address, fix, "ACS source validation is on");
    else
        say(j, OK, address, NULL, "ACS neither validates nor redirects");
}

static void check_acs(struct judge *j)
{
    size_t i, k;
    const json_t *pair, *bridge, *pairs = json_object_get(j->facts, "pairs");
    json_t *judged = json_object();
    if (no_gpu(j)) {
        json_decref(judged);
        return;
    }
    json_array_foreach(pairs, i, pair)
    {
        json_array_foreach(json_object_get(pair, "bridges"), k, bridge)
        {
            const char *address = word(bridge, "address", NULL);
            if (!json_object_get(judged, address))
                judge_bridge(j, bridge);
            json_object_set_new(judged, address, json_true());
        }
    }
    if (json_object_size(judged) == 0)
        say(j, in_guest(j) ? UNKNOWN : OK, "bridges", NULL, "no visible bridge is between GPU and NIC");
    if (in_guest(j))
        say(j, UNKNOWN, "hypervisor", "run host-facts --check on the hypervisor",
            "this is a guest: the relevant bridges are the host machine's and are visible only there");
    json_decref(judged);
}

static bool has_parameter(const struct judge *j, const char *parameter)
{
    size_t i;
    const json_t *value;
    json_array_foreach(at(j->facts, "iommu", "parameters"), i, value)
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
    int64_t groups = number(j->facts, "iommu", "groups");
    const json_t *types = at(j->facts, "iommu", "group_types");
    int64_t translating = json_integer_value(json_object_get(types, "DMA")) +
                          json_integer_value(json_object_get(types, "DMA-FQ"));
    const char *where = in_guest(j) ? "guest" : "machine";
    if (groups < 0)
        say(j, UNKNOWN, where, NULL, "it is unknown whether there are IOMMU groups");
    else if (groups == 0)
        say(j, OK, where, NULL, "no IOMMU translates addresses (no IOMMU groups)");
    else if (translating > 0)
        say(j, WARNING, where, fix, "%lld of %lld IOMMU groups translate addresses, which serialises traffic",
            (long long)translating, (long long)groups);
    else if (json_object_get(types, "identity") || has_parameter(j, "iommu=pt") ||
             has_parameter(j, "iommu.passthrough=1"))
        say(j, OK, where, NULL, "the IOMMU passes addresses through (%lld groups)", (long long)groups);
    else
        say(j, UNKNOWN, where, fix,
            "%lld IOMMU groups of unknown type, and no iommu=pt on the kernel's command line",
            (long long)groups);
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
    int64_t size = number(gpu, "bar1_bytes", NULL), used = number(gpu, "bar1_used_bytes", NULL);
    int64_t wanted = j->wanted->buffer_bytes + BAR1_RESERVE;
    if (size < 0) {
        say(j, UNKNOWN, gpu_name(gpu), NULL, "the size of BAR1 is unknown");
        return;
    }
    human(size, have, sizeof have);
    human(wanted, need, sizeof need);
    if (size < wanted)
        say(j, FAILURE, gpu_name(gpu), fix, "BAR1 has %s, registration needs %s: ibv_reg_mr will fail", have,
            need);
    else if (used >= 0 && size - used < j->wanted->buffer_bytes)
        say(j, FAILURE, gpu_name(gpu), "end the programs that use it (nvidia-smi -q -d MEMORY)",
            "BAR1 has %s, but only %lld MiB are free", have, (long long)((size - used) / MIB));
    else
        say(j, OK, gpu_name(gpu), NULL, "BAR1 has %s, registration needs %s", have, need);
}

static void check_bar1(struct judge *j)
{
    size_t i;
    const json_t *gpu;
    if (no_gpu(j))
        return;
    json_array_foreach(gpus(j), i, gpu) judge_bar1(j, gpu);
}

static void check_resizable_bar(struct judge *j)
{
    size_t i;
    const json_t *gpu;
    if (no_gpu(j))
        return;
    json_array_foreach(gpus(j), i, gpu)
    {
        const json_t *bar = json_object_get(gpu, "resizable_bar");
        int64_t now = number(bar, "current_bytes", NULL), largest = number(bar, "largest_bytes", NULL);
        char a[32], b[32];
        if (!json_is_object(bar))
            say(j, UNKNOWN, gpu_name(gpu), "run host-facts as root",
                "its extended configuration space cannot be read");
        else if (now < 0)
            say(j, OK, gpu_name(gpu), NULL, "BAR1 is not resizable%s", in_guest(j) ? " in this guest" : "");
        else if (now < largest)
            say(j, WARNING, gpu_name(gpu),
                "switch \"Above 4G Decoding\" and \"Resizable BAR\" on in the firmware's setup",
                "BAR1 has %s but could have %s", human(now, a, sizeof a), human(largest, b, sizeof b));
        else
            say(j, OK, gpu_name(gpu), NULL, "BAR1 has its full size, %s", human(now, a, sizeof a));
    }
}

/* ---- drivers */

/* dma-buf memory regions came with Linux 5.12. */
static bool kernel_has_dmabuf(const struct judge *j)
{
    int major = 0, minor = 0;
    if (sscanf(word(j->facts, "versions", "kernel"), "%d.%d", &major, &minor) != 2)
        return false;
    return major > 5 || (major == 5 && minor >= 12);
}

static void check_peer_memory(struct judge *j)
{
    if (no_gpu(j))
        return;
    bool peermem = has_module(j, "nvidia_peermem"), old = has_module(j, "nv_peer_mem");
    bool open = json_is_true(at(j->facts, "versions", "nvidia_open"));
    const char *mode =
        word(at(at(j->facts, "modules", "nvidia_peermem"), "parameters", NULL), "peerdirect_support", NULL);
    if (old)
        say(j, FAILURE, "nv_peer_mem",
            "systemctl disable --now nv_peer_mem; modprobe -r nv_peer_mem; remove its package; modprobe "
            "nvidia-peermem",
            "the deprecated nv_peer_mem is loaded%s",
            peermem ? "together with nvidia_peermem: they conflict" : "");
    else if (!has_module(j, "nvidia"))
        say(j, FAILURE, "nvidia", "install the NVIDIA driver after MLNX_OFED, then modprobe nvidia",
            "the NVIDIA driver is not loaded");
    else if (peermem && strcmp(mode, "1") == 0)
        say(j, WARNING, "nvidia_peermem",
            "modprobe -r nvidia-peermem; modprobe nvidia-peermem peerdirect_support=0",
            "it is loaded with the option for the old PeerDirect interface (MLNX_OFED 5.0 and older)");
    else if (peermem)
        say(j, OK, "nvidia_peermem", NULL, "it is loaded, and nv_peer_mem is not");
    else if (open && kernel_has_dmabuf(j))
        say(j, WARNING, "dma-buf", "modprobe nvidia-peermem, or test dma-buf with roce-traffic --memory gpu",
            "nvidia_peermem is not loaded; the kernel and the open modules support dma-buf, but this check "
            "cannot verify that it works");
    else
        say(j, FAILURE, "nvidia_peermem",
            "modprobe nvidia-peermem (with MLNX_OFED installed before the NVIDIA driver)",
            "nvidia_peermem is not loaded and dma-buf is unavailable (%s): ibv_reg_mr will fail with "
            "EFAULT",
            open ? "the kernel is older than 5.12" : "the kernel modules are not the open ones");
}

/* One version may have more parts than the other ("24.10-4.1.4.0" and "24.10-4.1.4"), but the common parts
 * must be equal (not "570.133.2"). */
static bool same_version(const char *a, const char *b)
{
    size_t n = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
    char next = strlen(a) > n ? a[n] : b[n];
    return n >= 3 && strncmp(a, b, n) == 0 && (next == '\0' || strchr(".-_+", next));
}

static void compare_version(struct judge *j, const char *what, const char *wanted, const char *found)
{
    static const char fix[] = "virt-provision rebuild, or install the bundle's version";
    if (wanted[0] == '\0')
        return;
    if (found[0] == '\0')
        say(j, FAILURE, what, fix, "the bundle requires %s, but none is installed", wanted);
    else if (same_version(wanted, found))
        say(j, OK, what, NULL, "%s, the version of the bundle", found);
    else
        say(j, FAILURE, what, fix,
            "%s is running, but the bundle requires %s: wrong versions are the most frequent cause of an "
            "unnoticed fall-back to host memory",
            found, wanted);
}

static void check_bundle(struct judge *j)
{
    const json_t *bundle = j->wanted->bundle, *versions = json_object_get(j->facts, "versions"), *nic;
    size_t i;
    if (!bundle) {
        say(j, UNKNOWN, "versions", "name the bundle of versions to compare with: host-facts --bundle FILE",
            "kernel %s, MLNX_OFED %s, NVIDIA %s: no bundle to compare with", word(versions, "kernel", NULL),
            at(versions, "mlnx_ofed", NULL) && word(versions, "mlnx_ofed", NULL)[0] != '\0'
                ? word(versions, "mlnx_ofed", NULL)
                : "none",
            word(versions, "nvidia", NULL)[0] != '\0' ? word(versions, "nvidia", NULL) : "none");
        return;
    }
    compare_version(j, "kernel", word(bundle, "kernel", NULL), word(versions, "kernel", NULL));
    compare_version(j, "mlnx_ofed", word(bundle, "ofed", NULL), word(versions, "mlnx_ofed", NULL));
    compare_version(j, "nvidia", word(bundle, "driver", NULL), word(versions, "nvidia", NULL));
    compare_version(j, "cuda", word(bundle, "cuda", NULL), word(versions, "cuda", NULL));
    json_array_foreach(json_object_get(j->facts, "nics"), i, nic)
        compare_version(j, "nic firmware", word(bundle, "nic_firmware", NULL), word(nic, "firmware", NULL));
}

/* Without a copy through host memory, the receiving GPU receives over PCIe at the rate at which the NIC receives. */
static void check_gpu_counters(struct judge *j)
{
    const json_t *t = j->wanted->traffic;
    double wire = json_number_value(json_object_get(t, "rdma_rx_bytes_per_s"));
    double gpu = json_number_value(json_object_get(t, "gpu_rx_bytes_per_s"));
    if (no_gpu(j))
        return;
    if (!t || json_is_string(json_object_get(t, "missing")))
        say(j, UNKNOWN, "gpu",
            "run this on the receiver during traffic: host-facts --check --measure --netdev IF --gpu N", "%s",
            !t ? "not measured" : word(t, "missing", NULL));
    else if (wire < 1e6)
        say(j, UNKNOWN, "gpu", "run it on the receiver during traffic",
            "no RDMA traffic was received during the measurement");
    else if (gpu < 0.8 * wire)
        say(j, FAILURE, "gpu",
            "see the check peer-memory; compare roce-traffic's memory route in its summary",
            "the NIC received %.0f MB/s, but the GPU received only %.0f MB/s over PCIe: the data goes "
            "through host "
            "memory",
            wire / 1e6, gpu / 1e6);
    else
        say(j, OK, "gpu", NULL, "the NIC received %.0f MB/s, the GPU received %.0f MB/s over PCIe",
            wire / 1e6, gpu / 1e6);
}

/* ---- the rest of the host */

static void judge_link(struct judge *j, const json_t *pci, const char *kind)
{
    const json_t *link = json_object_get(pci, "link");
    char subject[64];
    int64_t speed = number(link, "speed_MTps", NULL), width = number(link, "width_lanes", NULL);
    int64_t most = number(link, "max_speed_MTps", NULL), widest = number(link, "max_width_lanes", NULL);
    snprintf(subject, sizeof subject, "%s %s", kind, word(pci, "address", NULL));
    if (speed < 0 || width < 0 || most < 0 || widest < 0)
        say(j, UNKNOWN, subject, NULL, "its PCIe link is not visible%s", in_guest(j) ? " in this guest" : "");
    else if (width < widest)
        say(j, WARNING, subject, "reseat the card or use a slot with all lanes",
            "PCIe runs on %lld lanes of %lld", (long long)width, (long long)widest);
    else if (speed < most)
        /* GPUs lower their link's speed while idle. */
        say(j, WARNING, subject,
            "check again under load; if the speed stays lower, set the slot's speed in the firmware's setup",
            "PCIe runs at %.1f GT/s of %.1f", (double)speed / 1000, (double)most / 1000);
    else
        say(j, OK, subject, NULL, "PCIe runs at %.1f GT/s on %lld lanes", (double)speed / 1000,
            (long long)width);
}

static void check_link(struct judge *j)
{
    size_t i;
    const json_t *o;
    json_array_foreach(json_object_get(j->facts, "nics"), i, o)
    {
        if (json_is_object(json_object_get(o, "pci")))
            judge_link(j, json_object_get(o, "pci"), "nic");
    }
    json_array_foreach(gpus(j), i, o) judge_link(j, json_object_get(o, "pci"), "gpu");
}

static bool has_v2_gid(const json_t *rdma)
{
    size_t i;
    const json_t *gid;
    json_array_foreach(json_object_get(rdma, "gids"), i, gid)
    {
        if (strcmp(word(gid, "type", NULL), "RoCE v2") == 0 &&
            strncmp(word(gid, "address", NULL), "fe80", 4) != 0)
            return true;
    }
    return false;
}

static void check_gid(struct judge *j)
{
    size_t i;
    const json_t *nic;
    bool any = false;
    json_array_foreach(json_object_get(j->facts, "nics"), i, nic)
    {
        const json_t *rdma = json_object_get(nic, "rdma");
        if (!json_is_object(rdma))
            continue;
        any = true;
        char fix[128];
        snprintf(fix, sizeof fix, "ip address add 10.0.0.1/24 dev %s; ip link set %s up",
                 word(nic, "netdev", NULL), word(nic, "netdev", NULL));
        if (has_v2_gid(rdma))
            say(j, OK, word(rdma, "device", NULL), NULL, "it has a routable RoCE v2 GID");
        else
            say(j, FAILURE, word(rdma, "device", NULL), fix,
                "it has no RoCE v2 GID that belongs to an IP address");
    }
    if (!any)
        say(j, UNKNOWN, "rdma",
            "load the driver (modprobe mlx5_ib), or rdma link add rxe0 type rxe netdev IF",
            "there is no RDMA device");
}

static void check_governor(struct judge *j)
{
    const json_t *governors = at(j->facts, "system", "governors");
    const char *name;
    json_t *value;
    int64_t other = 0, all = 0;
    json_object_foreach((json_t *)(uintptr_t)governors, name, value)
    {
        all += json_integer_value(value);
        other += strcmp(name, "performance") != 0 ? json_integer_value(value) : 0;
    }
    if (all == 0)
        say(j, UNKNOWN, "cpus", NULL, "no frequency governor is visible%s",
            in_guest(j) ? " in this guest" : "");
    else if (other > 0)
        say(j, WARNING, "cpus", "cpupower frequency-set -g performance",
            "%lld of %lld CPUs have a governor other than performance", (long long)other, (long long)all);
    else
        say(j, OK, "cpus", NULL, "all %lld CPUs have the governor performance", (long long)all);
}

static void check_numa(struct judge *j)
{
    size_t i;
    const json_t *pair, *pairs = json_object_get(j->facts, "pairs");
    if (number(j->facts, "system", "numa_nodes") <= 1 || json_array_size(pairs) == 0) {
        say(j, OK, "numa", NULL, "there are no two devices to compare");
        return;
    }
    json_array_foreach(pairs, i, pair)
    {
        char subject[64];
        subject_of_pair(pair, subject, sizeof subject);
        bool far = strcmp(word(pair, "relation", NULL), "SYS") == 0;
        say(j, far ? FAILURE : OK, subject, far ? "use a NIC and a GPU of the same NUMA node" : NULL,
            far ? "they belong to different NUMA nodes" : "they belong to the same NUMA node");
    }
}

static const struct {
    const char *name;
    void (*run)(struct judge *);
} checks[] = {
    {"gpu-nic-path", check_path},
    {"acs", check_acs},
    {"iommu", check_iommu},
    {"bar1", check_bar1},
    {"peer-memory", check_peer_memory},
    {"bundle", check_bundle},
    {"gpu-counters", check_gpu_counters},
    {"resizable-bar", check_resizable_bar},
    {"pcie-link", check_link},
    {"numa", check_numa},
    {"roce-gid", check_gid},
    {"governor", check_governor},
};

json_t *checks_run(const json_t *facts, const struct checks_wanted *wanted)
{
    struct judge j = {.facts = facts, .wanted = wanted, .list = json_array()};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        j.check = checks[i].name;
        checks[i].run(&j);
    }
    return j.list;
}
