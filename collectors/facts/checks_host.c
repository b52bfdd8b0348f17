/* Checks of the host's NICs, links, NUMA nodes and CPUs. */
#include "collectors/facts/checks.h"
#include "collectors/facts/judge.h"

#include "lib/formats/flow.h"
#include "lib/kernel/cpulist.h"
#include <stdio.h>
#include <string.h>

/* A rate of at least 1 Mb/s: "20 Mb/s", "100 Gb/s". */
static void write_rate(char text[32], int64_t bps)
{
    bool giga = bps >= 1000000000;
    snprintf(text, 32, "%.6g %cb/s", (double)bps / (giga ? 1e9 : 1e6), giga ? 'G' : 'M');
}

static const char *first_evidence(const json_t *found)
{
    const char *first = json_string_value(json_array_get(json_object_get(found, "evidence"), 0));
    return first ? first : "";
}

static void judge_virtual(struct judge *j, const json_t *nic)
{
    const json_t *found = json_object_get(nic, "virtual"), *scaled = json_object_get(found, "scaled");
    const char *first = first_evidence(found);
    char line[32], nominal[32];
    write_rate(line, fact_number(scaled, "line_bps", NULL));
    write_rate(nominal, fact_number(scaled, "nominal_bps", NULL));
    if (scaled && !json_is_null(scaled))
        judge_say(j, VERDICT_OK, judge_nic_name(nic), NULL,
                  "virtual ConnectX, not hardware (%s); its line carries %s and stands for %s", first, line,
                  nominal);
    else
        judge_say(j, VERDICT_OK, judge_nic_name(nic), NULL, "virtual ConnectX, not hardware (%s)", first);
}

/* Only where there is one: real NICs have nothing to say here. */
void check_virtual(struct judge *j)
{
    size_t i;
    const json_t *nic, *gpu;
    json_array_foreach(json_object_get(j->facts, "nics"), i, nic)
    {
        if (json_is_object(json_object_get(nic, "virtual")))
            judge_virtual(j, nic);
    }
    json_array_foreach(json_object_get(j->facts, "gpus"), i, gpu)
    {
        if (judge_gpu_virtual(gpu))
            judge_say(j, VERDICT_OK, "gpu", NULL, "%s (%s)", fact_word(gpu, "model", NULL),
                      first_evidence(json_object_get(gpu, "virtual")));
    }
}

static void judge_link(struct judge *j, const json_t *pci, const char *kind)
{
    const json_t *link = json_object_get(pci, "link");
    char subject[64];
    int64_t speed = fact_number(link, "speed_MTps", NULL), width = fact_number(link, "width_lanes", NULL);
    int64_t most = fact_number(link, "max_speed_MTps", NULL),
            widest = fact_number(link, "max_width_lanes", NULL);
    snprintf(subject, sizeof subject, "%s %s", kind, fact_word(pci, "address", NULL));
    if (speed < 0 || width < 0 || most < 0 || widest < 0)
        judge_say(j, VERDICT_UNKNOWN, subject, NULL, "its PCIe link is not visible%s",
                  judge_in_guest(j) ? " in this guest" : "");
    else if (width < widest)
        judge_say(j, VERDICT_WARNING, subject, "reseat the card or use a slot with all lanes",
                  "PCIe runs on %lld lanes of %lld", (long long)width, (long long)widest);
    else if (speed < most)
        /* GPUs lower their link's speed while idle. */
        judge_say(
            j, VERDICT_WARNING, subject,
            "check again under load; if the speed stays lower, set the slot's speed in the firmware's setup",
            "PCIe runs at %.1f GT/s of %.1f", (double)speed / 1000, (double)most / 1000);
    else
        judge_say(j, VERDICT_OK, subject, NULL, "PCIe runs at %.1f GT/s on %lld lanes", (double)speed / 1000,
                  (long long)width);
}

void check_link(struct judge *j)
{
    size_t i;
    const json_t *o;
    json_array_foreach(json_object_get(j->facts, "nics"), i, o)
    {
        if (json_is_object(json_object_get(o, "pci")))
            judge_link(j, json_object_get(o, "pci"), "nic");
    }
    for (i = 0; j->wanted->memory != MEMORY_HOST && i < json_array_size(judge_gpus(j)); i++)
        judge_link(j, json_object_get(json_array_get(judge_gpus(j), i), "pci"), "gpu");
}

/* Is there a RoCE v2 GID of an address? VERDICT_UNKNOWN: none that is known to be one. */
static enum verdict look_for_gid(const json_t *rdma)
{
    size_t i;
    const json_t *gid, *gids = json_object_get(rdma, "gids");
    bool all = json_is_array(gids) && json_integer_value(json_object_get(rdma, "gids_unread")) == 0;
    enum verdict found = all ? VERDICT_FAILURE : VERDICT_UNKNOWN;
    json_array_foreach(gids, i, gid)
    {
        const char *type = fact_word(gid, "type", NULL), *address = fact_word(gid, "address", NULL);
        if (strncmp(address, "fe80", 4) == 0)
            continue;
        if (strcmp(type, "RoCE v2") == 0 && address[0] != '\0')
            return VERDICT_OK;
        if (type[0] == '\0' || address[0] == '\0')
            found = VERDICT_UNKNOWN;
    }
    return found;
}

static void judge_gid(struct judge *j, const json_t *nic)
{
    const json_t *rdma = json_object_get(nic, "rdma");
    const char *netdev = fact_word(nic, "netdev", NULL), *device = fact_word(rdma, "device", NULL);
    char fix[128];
    snprintf(fix, sizeof fix, "ip address add 10.0.0.1/24 dev %s; ip link set %s up", netdev, netdev);
    switch (look_for_gid(rdma)) {
    case VERDICT_OK:
        judge_say(j, VERDICT_OK, device, NULL, "it has a routable RoCE v2 GID");
        break;
    case VERDICT_FAILURE:
        judge_say(j, VERDICT_FAILURE, device, fix, "it has no RoCE v2 GID that belongs to an IP address");
        break;
    default:
        judge_say(j, VERDICT_UNKNOWN, device, NULL, "GIDs of it, or their types, could not be read");
        break;
    }
    judge_show(j, "/sys/class/infiniband/%s/ports/*/gids and gid_attrs", device);
}

/* On a hypervisor guests may have the NICs; a device of another network namespace is check_counters'. */
static void judge_no_rdma(struct judge *j)
{
    const json_t *other = json_array_get(json_object_get(j->facts, "elsewhere"), 0);
    if (!json_is_array(json_object_get(j->facts, "nics")))
        judge_say(j, VERDICT_UNKNOWN, "rdma", NULL, "the RDMA devices were not read");
    else if (json_is_object(other))
        judge_say(j, VERDICT_UNKNOWN, "rdma", "run host-facts there: the check counters says how",
                  "the interface of %s belongs to another network namespace",
                  fact_word(other, fact_word(other, "rdma", NULL)[0] ? "rdma" : "pci", NULL));
    else if (judge_given_to_guests(j))
        judge_say(j, VERDICT_UNKNOWN, "rdma", "run host-facts --check in the guest",
                  "there is no RDMA device, and vfio-pci has the GPUs: a guest's driver may have both");
    else
        judge_say(j, VERDICT_FAILURE, "rdma",
                  "load the driver (modprobe mlx5_ib), or rdma link add rxe0 type rxe netdev IF",
                  "there is no RDMA device");
}

void check_gid(struct judge *j)
{
    size_t i;
    const json_t *nic;
    bool any = false;
    json_array_foreach(json_object_get(j->facts, "nics"), i, nic)
    {
        if (!json_is_object(json_object_get(nic, "rdma")))
            continue;
        any = true;
        if (judge_speaks_roce(nic)) /* check_port says what others are */
            judge_gid(j, nic);
    }
    if (!any)
        judge_no_rdma(j);
}

void check_governor(struct judge *j)
{
    const json_t *governors = fact_at(j->facts, "system", "governors");
    const char *name;
    json_t *value;
    int64_t other = 0, all = 0;
    json_object_foreach((json_t *)(uintptr_t)governors, name, value)
    {
        all += json_integer_value(value);
        other += strcmp(name, "performance") != 0 ? json_integer_value(value) : 0;
    }
    if (all == 0)
        judge_say(j, VERDICT_UNKNOWN, "cpus", NULL, "no frequency governor is visible%s",
                  judge_in_guest(j) ? " in this guest" : "");
    else if (other > 0)
        judge_say(j, VERDICT_WARNING, "cpus", "cpupower frequency-set -g performance",
                  "%lld of %lld CPUs have a governor other than performance", (long long)other,
                  (long long)all);
    else
        judge_say(j, VERDICT_OK, "cpus", NULL, "all %lld CPUs have the governor performance", (long long)all);
}

static void judge_numa(struct judge *j, const json_t *pair)
{
    const char *relation = fact_word(pair, "relation", NULL);
    char subject[64];
    judge_pair_name(pair, subject, sizeof subject);
    if (strcmp(relation, "SYS") == 0)
        judge_say(
            j, VERDICT_WARNING, subject, "numactl --membind and --cpunodebind to the NIC's node for programs",
            "they belong to different NUMA nodes: gpu-nic-path says what the path costs; a CPU of another "
            "node than the NIC's adds about 0.2 us to a message");
    else if (relation[0] == '\0' || strcmp(relation, "unknown") == 0)
        judge_say(j, VERDICT_UNKNOWN, subject, "cat /sys/bus/pci/devices/*/numa_node",
                  "their NUMA nodes are not known");
    else
        judge_say(j, VERDICT_OK, subject, NULL, "they belong to the same NUMA node");
}

void check_numa(struct judge *j)
{
    size_t i;
    const json_t *pair, *pairs = json_object_get(j->facts, "pairs");
    int64_t nodes = fact_number(j->facts, "system", "numa_nodes");
    if (j->wanted->memory == MEMORY_HOST)
        return; /* it compares GPUs with NICs */
    if (nodes < 1)
        judge_say(j, VERDICT_UNKNOWN, "numa", NULL, "the number of NUMA nodes is not known");
    else if (nodes == 1)
        judge_say(j, VERDICT_OK, "numa", NULL, "there is one NUMA node");
    else if (!json_is_array(pairs))
        judge_say(j, VERDICT_UNKNOWN, "numa", NULL, "it is not known which GPU and NIC there are");
    else if (json_array_size(pairs) == 0)
        judge_say(j, VERDICT_UNKNOWN, "numa", NULL, "there are no GPU and NIC to compare");
    else
        json_array_foreach(pairs, i, pair)
        {
            if (judge_can_pair(j, pair))
                judge_numa(j, pair);
        }
}

/* ---- the order of PCIe writes */

/* Without the bit in Device Control, what programs ask of a memory region has no effect. Linux clears it
 * below root ports whose relaxed ordering is broken (drivers/pci/probe.c, pci_configure_relaxed_ordering). */
static void judge_ordering(struct judge *j, const json_t *pci)
{
    const char *address = fact_word(pci, "address", NULL);
    const json_t *relaxed = json_object_get(pci, "relaxed_ordering");
    char fix[120];
    snprintf(fix, sizeof fix, "setpci -s %s CAP_EXP+8.w=10:10 (until reboot), if its root port supports it",
             address);
    if (json_is_true(relaxed))
        judge_say(j, VERDICT_OK, address, NULL,
                  "it may send writes with relaxed ordering, for memory that is registered with it");
    else if (json_is_false(relaxed))
        judge_say(j, VERDICT_WARNING, address, fix,
                  "it may not send writes with relaxed ordering: memory that is registered with it is "
                  "written in order");
    else
        judge_say(j, VERDICT_UNKNOWN, address, "run host-facts as root",
                  "its configuration space was not read: it is not known whether it may send writes with "
                  "relaxed ordering");
    judge_show(j, "/sys/bus/pci/devices/%s/config", address);
}

void check_relaxed_ordering(struct judge *j)
{
    size_t i, judged = 0;
    const json_t *nic, *nics = json_object_get(j->facts, "nics");
    json_array_foreach(nics, i, nic)
    {
        const json_t *pci = json_object_get(nic, "pci");
        bool in_hardware = fact_word(nic, "rdma", "firmware")[0]; /* not the kernel's, upon any NIC */
        if (!in_hardware || !json_is_object(pci))
            continue;
        judge_ordering(j, pci);
        judged++;
    }
    if (!judged)
        judge_say(j, VERDICT_UNKNOWN, "nic", NULL,
                  "there is no NIC that implements RDMA and has a PCI address");
}

/* ---- interrupts */

struct interrupts {
    struct cpulist cpus, local;
};

static bool read_interrupts(const json_t *nic, struct interrupts *of)
{
    const char *cpus = fact_word(nic, "interrupts", "cpus"),
               *local = fact_word(nic, "interrupts", "local_cpus");
    *of = (struct interrupts){0};
    return cpus[0] != '\0' && local[0] != '\0' && cpulist_add(&of->cpus, cpus) &&
           cpulist_add(&of->local, local);
}

/* Interrupts matter where the kernel touches packets: at the ports of a bridge, and at what Soft-RoCE
 * uses. */
static bool judge_interrupts(struct judge *j, const json_t *nic, struct interrupts *of)
{
    const char *netdev = fact_word(nic, "netdev", NULL), *address = fact_word(nic, "pci", "address");
    const char *cpus = fact_word(nic, "interrupts", "cpus"),
               *local = fact_word(nic, "interrupts", "local_cpus");
    char fix[256];
    bool known = read_interrupts(nic, of);
    snprintf(fix, sizeof fix,
             "systemctl stop irqbalance; for i in /sys/bus/pci/devices/%s/msi_irqs/*; do echo %.60s > "
             "/proc/irq/${i##*/}/smp_affinity_list; done",
             address, local);
    if (!known)
        judge_say(j, VERDICT_UNKNOWN, netdev, NULL,
                  "the CPUs of its interrupts, or of its NUMA node, are not known");
    else if (cpulist_within(&of->cpus, &of->local))
        judge_say(j, VERDICT_OK, netdev, NULL, "CPUs of its NUMA node serve its interrupts (%.60s)", cpus);
    else
        judge_say(
            j, VERDICT_WARNING, netdev, fix,
            "CPUs %.60s serve its interrupts, but its NUMA node has %.60s: the kernel forwards and receives "
            "packets across nodes",
            cpus, local);
    judge_show(
        j,
        "/sys/bus/pci/devices/%s/msi_irqs, /proc/irq/*/effective_affinity_list: \"%.60s\"; local_cpulist: "
        "\"%.60s\"",
        address, cpus, local);
    return known;
}

/* Two ports of a bridge whose interrupts go to one CPU: it is the whole bridge's. */
static void judge_shared_cpu(struct judge *j, const json_t *nics, size_t second, const struct interrupts *of)
{
    const json_t *nic = json_array_get(nics, second);
    const char *bridge = fact_word(nic, "bridge", NULL);
    for (size_t i = 0; i < second; i++) {
        const json_t *other = json_array_get(nics, i);
        struct interrupts theirs;
        if (bridge[0] == '\0' || strcmp(bridge, fact_word(other, "bridge", NULL)) != 0 ||
            !read_interrupts(other, &theirs) || cpulist_count(&of->cpus) != 1 ||
            !cpulist_equal(&of->cpus, &theirs.cpus))
            continue;
        judge_say(
            j, VERDICT_WARNING, bridge,
            "echo another CPU of the node > /proc/irq/N/smp_affinity_list for one port's msi_irqs",
            "CPU %s alone serves the interrupts of %s and %s, and so forwards both ways: a software bridge "
            "is limited by such a CPU",
            fact_word(nic, "interrupts", "cpus"), fact_word(other, "netdev", NULL),
            fact_word(nic, "netdev", NULL));
    }
}

void check_irq_affinity(struct judge *j)
{
    size_t i;
    const json_t *nic, *nics = json_object_get(j->facts, "nics");
    bool any = false;
    json_array_foreach(nics, i, nic)
    {
        struct interrupts of;
        if (!json_is_object(json_object_get(nic, "pci")) || (!json_is_object(json_object_get(nic, "rdma")) &&
                                                             !json_is_string(json_object_get(nic, "bridge"))))
            continue;
        any = true;
        if (judge_interrupts(j, nic, &of))
            judge_shared_cpu(j, nics, i, &of);
    }
    if (!any)
        judge_say(j, VERDICT_UNKNOWN, "ports", NULL,
                  "no PCI NIC has an RDMA device or is a port of a bridge");
}

/* ---- passthrough */

static bool same_card(const char *a, const char *b)
{
    size_t slot = strcspn(a, ".");
    return slot == strcspn(b, ".") && strncmp(a, b, slot) == 0;
}

/* "0000:41:00.1, 0000:42:00.0"; returns how many are functions of the same card. */
static size_t name_others(const char *address, const json_t *others, char *names, size_t size)
{
    size_t i, used = 0, functions = 0;
    json_t *other;
    names[0] = '\0';
    json_array_foreach(others, i, other)
    {
        const char *name = json_string_value(other) ? json_string_value(other) : "?";
        functions += same_card(address, name);
        if (used + strlen(name) + 3 < size)
            used += (size_t)snprintf(names + used, size - used, "%s%s", used ? ", " : "", name);
    }
    return functions;
}

static void judge_group(struct judge *j, const json_t *pci)
{
    static const char fix[] =
        "pass all of them to one guest, or use a slot below a port with ACS (lspci -vvv: ACSCap), where each "
        "function gets a group";
    const char *address = fact_word(pci, "address", NULL), *number = fact_word(pci, "iommu_group", "number");
    const json_t *others = fact_at(pci, "iommu_group", "others");
    char names[200];
    size_t functions = name_others(address, others, names, sizeof names);
    if (number[0] == '\0' || !json_is_array(others))
        judge_say(j, VERDICT_UNKNOWN, address, NULL, "its IOMMU group is not known");
    else if (functions > 0)
        judge_say(j, VERDICT_WARNING, address, fix,
                  "IOMMU group %s also has %s: functions of one card cannot be passed to different guests",
                  number, names);
    else if (json_array_size(others) > 0)
        judge_say(j, VERDICT_WARNING, address, fix,
                  "IOMMU group %s also has %s, which must be passed on with it", number, names);
    else
        judge_say(j, VERDICT_OK, address, NULL, "it has an IOMMU group of its own, %s", number);
    judge_show(j, "/sys/bus/pci/devices/%s/iommu_group/devices", address);
}

void check_iommu_groups(struct judge *j)
{
    size_t i;
    const json_t *nic;
    json_t *judged = json_object();
    if (judge_in_guest(j))
        judge_say(j, VERDICT_UNKNOWN, "hypervisor", "run host-facts --check on the hypervisor",
                  "this is a guest: the groups that passthrough needs are the host machine's");
    else if (fact_number(j->facts, "iommu", "groups") == 0)
        judge_say(
            j, VERDICT_UNKNOWN, "machine",
            "for passthrough: switch VT-d or AMD-Vi on in the firmware's setup, intel_iommu=on on Intel",
            "there are no IOMMU groups: no function can be passed to a guest");
    else
        json_array_foreach(json_object_get(j->facts, "nics"), i, nic)
        {
            const char *address = fact_word(nic, "pci", "address");
            if (address[0] != '\0' && !json_object_get(judged, address))
                judge_group(j, json_object_get(nic, "pci"));
            json_object_set_new(judged, address, json_true());
        }
    json_decref(judged);
}
