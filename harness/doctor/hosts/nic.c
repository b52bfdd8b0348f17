/* The NIC of the experiment on a host: what host-facts finds, its devices, its link, the GID that the lab
 * names. */
#include "harness/doctor/hosts/host.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *word(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

/* ---- host-facts' own checks */

/* Where the lab has no GPU, the checks of the GPU are left out: all would only say that there is none. So is
 * that the host has no RDMA device: the check nic says it of the lab's NIC. */
static void add_checks_of_facts(const struct doctor_host *h, const json_t *facts, json_t *entries)
{
    size_t i;
    json_t *check;
    bool has_gpu = false;
    for (i = 0; i < h->node_count; i++)
        has_gpu |= h->nodes[i].remote.lab->gpu != NULL;
    json_array_foreach(json_object_get(facts, "checks"), i, check)
    {
        const char *name = json_string_value(json_object_get(check, "check"));
        const char *verdict = json_string_value(json_object_get(check, "verdict"));
        const char *subject = json_string_value(json_object_get(check, "subject"));
        const char *reason = json_string_value(json_object_get(check, "reason"));
        if (subject && ((!has_gpu && strcmp(subject, "gpu") == 0) || strcmp(subject, "rdma") == 0))
            continue;
        doctor_add(entries, h->machine, name ? name : "?", verdict ? verdict : "unknown",
                   json_string_value(json_object_get(check, "fix")), "%s%s%s", subject ? subject : "",
                   subject ? ": " : "", reason ? reason : "");
        const char *evidence = json_string_value(json_object_get(check, "evidence"));
        doctor_add_evidence(entries, "%s", evidence ? evidence : "host-facts");
        json_object_set_new(json_array_get(entries, json_array_size(entries) - 1), "program",
                            json_text("host-facts"));
    }
}

/* A bit for each memory (enum flow_memory) that flows of the role use; without a role any GPU memory. */
static unsigned memories_of_role(const struct plan *plan, const char *role)
{
    unsigned bits = role ? 0 : 1U << MEMORY_GPU;
    const struct cell *cell;
    for (size_t i = 0; role && (cell = doctor_cell_at(plan, i)); i++) {
        const struct scenario_flow *flows = cell->scenario.flows.items;
        for (size_t k = 0; k < cell->scenario.flows.count; k++)
            if (strcmp(flows[k].from, role) == 0 || strcmp(flows[k].to, role) == 0)
                bits |= 1U << flows[k].memory;
        plan_release(plan, cell);
    }
    return bits;
}

/* The memories of all NICs' flows; `netdevs` gets the interfaces that its tools are asked about. */
static unsigned memories_of_machine(const struct plan *plan, const struct doctor_host *h,
                                    const char *netdevs[])
{
    unsigned bits = 0;
    size_t count = 0;
    bool any_role = false;
    for (size_t i = 0; i < h->node_count; i++) {
        struct doctor_host *node = &h->nodes[i];
        doctor_find_nic(node);
        if (node->remote.netdev)
            netdevs[count++] = node->remote.netdev;
        bits |= node->role ? memories_of_role(plan, node->role) : 0;
        any_role |= node->role != NULL;
    }
    return any_role ? bits : memories_of_role(plan, NULL);
}

static void keep_facts(struct doctor_host *h, json_t *facts)
{
    for (size_t i = 0; i < h->node_count; i++) {
        json_decref(h->nodes[i].facts);
        h->nodes[i].facts = json_incref(facts);
        json_decref(h->nodes[i].nics);
        h->nodes[i].nics = json_incref(json_object_get(facts, "nics"));
    }
}

/* host-facts' checks depend on the route to GPU memory that the roles' flows use. */
static void examine_facts(const struct doctor_subject *x)
{
    struct doctor_host *h = x->host;
    const char **netdevs = xcalloc(h->node_count + 1, sizeof *netdevs);
    unsigned bits = memories_of_machine(x->plan, h, netdevs);
    if (bits >> MEMORY_GPU == 0)
        bits = 1U << MEMORY_HOST;
    for (int memory = bits >> MEMORY_GPU ? MEMORY_GPU : MEMORY_HOST; flow_memory_names[memory]; memory++) {
        struct error e;
        if (!(bits >> memory & 1))
            continue;
        json_t *facts = remote_facts(&h->remote, memory, netdevs, &e), *found = json_array();
        if (facts) {
            add_checks_of_facts(h, facts, found);
            keep_facts(h, facts);
        } else {
            doctor_add(found, h->machine, "facts", "failure", "host-facts, as root on the host, says why",
                       "%s", e.text);
            doctor_add_evidence(found, "host-facts on the host");
        }
        doctor_add_new(x->entries, found);
        json_decref(facts);
    }
    free(netdevs);
}

const struct doctor_check doctor_facts = {.name = "facts",
                                          .scope = DOCTOR_HOST,
                                          .when = DOCTOR_EXAMINES,
                                          .needs = DOCTOR_NEEDS_PROGRAMS | DOCTOR_NEEDS_FIRST,
                                          .examine = examine_facts};

/* ---- the GID that the lab names */

static bool is_of_address(const json_t *gid, const char *address)
{
    size_t length = strcspn(address, "/");
    return strncmp(word(gid, "address"), address, length) == 0 && word(gid, "address")[length] == '\0';
}

/* Is it the one that flows need? Without an address in the lab any RoCE v2 GID is. */
static bool gid_fits(const json_t *gid, const char *address)
{
    return strcmp(word(gid, "type"), "RoCE v2") == 0 && (!address || is_of_address(gid, address));
}

/* The GIDs of the lab's NIC: that of its network device, or without one the first with the address. NULL: not
 * read. */
static const json_t *gids_of(const struct lab_nic *nic, const json_t *nics)
{
    const json_t *item, *gid;
    size_t i, k;
    json_array_foreach(nics, i, item)
    {
        const json_t *gids = json_object_get(json_object_get(item, "rdma"), "gids");
        if (nic->netdev && strcmp(word(item, "netdev"), nic->netdev) == 0)
            return gids;
        json_array_foreach(gids, k, gid)
        {
            if (!nic->netdev && nic->address && is_of_address(gid, nic->address))
                return gids;
        }
    }
    return NULL;
}

static const json_t *gid_at(const json_t *gids, int64_t index)
{
    const json_t *gid;
    size_t i;
    json_array_foreach(gids, i, gid)
    {
        const json_t *there = json_object_get(gid, "index");
        if (json_is_integer(there) && json_integer_value(there) == index)
            return gid;
    }
    return NULL;
}

/* The index of a GID that fits, or -1. */
static int64_t index_of_fitting_gid(const json_t *gids, const char *address)
{
    const json_t *gid;
    size_t i;
    json_array_foreach(gids, i, gid)
    {
        if (gid_fits(gid, address) && json_is_integer(json_object_get(gid, "index")))
            return json_integer_value(json_object_get(gid, "index"));
    }
    return -1;
}

static void report_moved_gid(const struct lab_host *host, const json_t *gids, json_t *entries)
{
    const json_t *gid = gid_at(gids, host->nic.gid_index);
    const char *address = host->nic.address ? host->nic.address : "the NIC";
    int64_t now = index_of_fitting_gid(gids, host->nic.address);
    struct text reason = {0}, fix = {0};
    text_add(&reason, "nic.gid_index of the lab is %" PRId64 ", which ", host->nic.gid_index);
    if (gid)
        text_add(&reason, "is a %s GID of %s now", word(gid, "type"), word(gid, "address"));
    else
        text_add(&reason, "has no GID now");
    if (now >= 0) {
        text_add(&reason, "; the RoCE v2 GID of %s has index %" PRId64, address, now);
        text_add(&fix,
                 "leave nic.gid_index out of the lab: the GID is found by its type and address; or set it to "
                 "%" PRId64,
                 now);
    } else {
        text_add(&reason, "; there is no RoCE v2 GID of %s", address);
        text_add(&fix,
                 "give the interface its address again, and set it up: ip address add ADDRESS dev INTERFACE");
    }
    doctor_add(entries, host->name, "gid-index", "failure", text_string(&fix), "%s", text_string(&reason));
    text_free(&reason);
    text_free(&fix);
}

/* After a link was down, or addresses changed, the table of GIDs has another order. */
void doctor_examine_gid(const struct lab_host *host, const json_t *nics, json_t *entries)
{
    const struct lab_nic *nic = &host->nic;
    if (nic->vlan || nic->gid_index == FIELD_UNSET)
        return;
    const json_t *gids = gids_of(nic, nics), *gid = gid_at(gids, nic->gid_index);
    if (!json_is_array(gids))
        doctor_add(entries, host->name, "gid-index", "unknown", NULL,
                   "the GIDs of the lab's NIC were not read: whether index %" PRId64
                   " is that of %s is not known",
                   nic->gid_index, nic->address ? nic->address : "its address");
    else if (gid && gid_fits(gid, nic->address))
        doctor_add(entries, host->name, "gid-index", "ok", NULL, "index %" PRId64 " is the RoCE v2 GID of %s",
                   nic->gid_index, word(gid, "address"));
    else
        report_moved_gid(host, gids, entries);
    doctor_add_evidence(
        entries,
        "nic.gid_index of the lab; /sys/class/infiniband/*/ports/*/gids and gid_attrs by host-facts");
}

static void examine_gid(const struct doctor_subject *x)
{
    if (x->host->nics)
        doctor_examine_gid(x->host->remote.lab, x->host->nics, x->entries);
}

const struct doctor_check doctor_gid_index = {.name = "gid-index",
                                              .scope = DOCTOR_HOST,
                                              .when = DOCTOR_EXAMINES,
                                              .needs = DOCTOR_NEEDS_PROGRAMS,
                                              .examine = examine_gid};

/* ---- its devices */

json_t *doctor_nic_of(const json_t *nics, const char *netdev)
{
    size_t i;
    json_t *nic;
    json_array_foreach(nics, i, nic)
    {
        if (netdev && strcmp(word(nic, "netdev"), netdev) == 0)
            return nic;
    }
    return NULL;
}

/* What nic-config and host-facts say of the interface, for the checks of cells. */
static void note_nic(const struct doctor_subject *x)
{
    static const char *const keys[] = {"places", "missing", "unread", "speed_Mbps"};
    const struct doctor_host *h = x->host;
    const json_t *facts = json_object_get(json_object_get(h->remote.nic, "facts"), h->remote.netdev);
    json_t *settings = json_object_get(json_object_get(h->remote.nic, "interfaces"), h->remote.netdev);
    json_t *interface = settings ? json_make("{s:O}", "settings", settings) : NULL;
    if (!h->known_as)
        return;
    for (size_t i = 0; interface && i < sizeof keys / sizeof *keys; i++)
        json_object_set(interface, keys[i], json_object_get(facts, keys[i]));
    json_object_set_new(x->seen->interfaces, h->known_as, interface);
    json_object_set(x->seen->in_force, h->known_as, settings);
    json_object_set(x->seen->nics, h->known_as, doctor_nic_of(h->nics, h->remote.netdev));
}

static void examine_nic(const struct doctor_subject *x)
{
    const struct remote_host *h = &x->host->remote;
    if (!doctor_find_nic(x->host)) {
        doctor_add(x->entries, h->lab->name, "nic", "failure",
                   "nic-config get, as root on the host, lists its interfaces", "%s", x->host->no_nic.text);
        doctor_add_evidence(x->entries, "nic-config get, ip address and /sys/bus/pci on the host");
        return;
    }
    bool forwards = lab_forwards(h->lab); /* RoCE passes through a host that forwards */
    bool good = h->rdma || forwards;
    doctor_add(x->entries, h->lab->name, "nic", good ? "ok" : "failure",
               good ? NULL
                    : "modprobe mlx5_ib (without such a NIC: rdma link add rxe0 type rxe netdev INTERFACE)",
               "network device %s, RDMA device %s%s", h->netdev, h->rdma ? h->rdma : "none",
               forwards ? "; forwards packets" : "");
    doctor_add_evidence(x->entries, "nic-config get on the host");
    note_nic(x);
    *x->found |= DOCTOR_NEEDS_NIC;
}

const struct doctor_check doctor_nic = {.name = "nic",
                                        .scope = DOCTOR_HOST,
                                        .when = DOCTOR_EXAMINES,
                                        .needs = DOCTOR_NEEDS_PROGRAMS,
                                        .examine = examine_nic};

/* ---- its link */

/* Without a carrier nothing that is sent arrives, though all settings can be read. */
static void examine_link(const struct doctor_subject *x)
{
    const struct remote_host *h = &x->host->remote;
    const json_t *facts = json_object_get(json_object_get(h->nic, "facts"), h->netdev);
    const json_t *carrier = json_object_get(facts, "carrier");
    struct text fix = {0};
    if (!json_is_boolean(carrier))
        return;
    text_add(
        &fix,
        "ip link set %s up, if it is down; else look at the cable, its modules and the port at the other end",
        h->netdev);
    if (json_is_true(carrier))
        doctor_add(x->entries, h->lab->name, "link", "ok", NULL, "%s has a carrier", h->netdev);
    else
        doctor_add(x->entries, h->lab->name, "link", "failure", text_string(&fix),
                   "%s has no carrier: it neither sends nor receives", h->netdev);
    doctor_add_evidence(x->entries, "nic-config get on the host");
    text_free(&fix);
}

const struct doctor_check doctor_link = {.name = "link",
                                         .scope = DOCTOR_HOST,
                                         .when = DOCTOR_EXAMINES,
                                         .needs = DOCTOR_NEEDS_NIC,
                                         .examine = examine_link};

/* ---- the GPU that the lab has for it */

/* From near to far, as nvidia-smi topo -m has them. */
static const char *const relations[] = {"PIX", "PXB", "PHB", "NODE", "SYS", NULL};

/* A host's GPU by its number; NULL: it has none. */
static const json_t *gpu_numbered(const json_t *facts, int64_t index)
{
    const json_t *item, *found = NULL;
    size_t i;
    json_array_foreach(json_object_get(facts, "gpus"), i, item)
    {
        const json_t *known = json_object_get(item, "index");
        if (json_is_integer(known) ? json_integer_value(known) == index : (int64_t)i == index)
            found = item;
    }
    return found;
}

/* The place in `relations` of a GPU's relation to the NIC; that of NULL: not known. */
static size_t relation_of(const json_t *facts, const char *netdev, int64_t index)
{
    const json_t *gpu = gpu_numbered(facts, index), *item;
    const char *address = gpu ? word(json_object_get(gpu, "pci"), "address") : NULL;
    size_t i, near = 0;
    json_array_foreach(json_object_get(facts, "pairs"), i, item)
    {
        if (!address || strcmp(word(item, "netdev"), netdev) != 0 || strcmp(word(item, "gpu"), address) != 0)
            continue;
        while (relations[near] && strcmp(relations[near], word(item, "relation")) != 0)
            near++;
        return near;
    }
    return sizeof relations / sizeof *relations - 1;
}

/* A lab says which GPU is near by their order alone, unless the NIC names one. */
static void examine_near_gpu(const struct doctor_subject *x)
{
    const struct doctor_host *h = x->host;
    const struct lab_host *host = h->remote.lab;
    const struct lab_gpu *gpus = host->gpus.items, *best = host->gpu;
    if (!host->gpu || host->gpus.count < 2 || !h->facts)
        return;
    /* memory of a virtual ConnectX is in no slot */
    if (json_is_object(json_object_get(gpu_numbered(h->facts, host->gpu->index), "virtual")))
        return;
    size_t own = relation_of(h->facts, h->remote.netdev, host->gpu->index), nearest = own;
    for (size_t i = 0; i < host->gpus.count; i++) {
        size_t one = relation_of(h->facts, h->remote.netdev, gpus[i].index);
        if (one < nearest) {
            nearest = one;
            best = &gpus[i];
        }
    }
    if (!relations[own])
        doctor_add(x->entries, host->name, "near-gpu", "unknown", NULL,
                   "how far GPU %" PRId64 " is from %s by PCI Express is not known", host->gpu->index,
                   h->remote.netdev);
    else if (nearest < own)
        doctor_add(x->entries, host->name, "near-gpu", "warning",
                   "name the near one in the NIC: \"gpu\": \"NAME\", of the lab's gpus",
                   "the lab has GPU %" PRId64 " for %s, which is %s away, and GPU %" PRId64 " is %s",
                   host->gpu->index, h->remote.netdev, relations[own], best->index, relations[nearest]);
    else
        doctor_add(x->entries, host->name, "near-gpu", "ok", NULL,
                   "GPU %" PRId64 " is %s away: none of the lab's is nearer", host->gpu->index,
                   relations[own]);
    doctor_add_evidence(x->entries, "pairs of host-facts, of the PCI tree");
}

const struct doctor_check doctor_near_gpu = {.name = "near-gpu",
                                             .scope = DOCTOR_HOST,
                                             .when = DOCTOR_EXAMINES,
                                             .needs = DOCTOR_NEEDS_NIC,
                                             .examine = examine_near_gpu};
