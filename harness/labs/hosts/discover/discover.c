/* Hosts are asked what they have: host-facts, and ping from each NIC to those of its network. */
#include "harness/labs/hosts/discover/discover.h"

#include "harness/labs/hosts/parallel.h"
#include "lib/document/json_text.h"
#include "lib/formats/lab.h"
#include "lib/log.h"
#include "lib/network/networks.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include "remote/places.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_NS (60 * NS_PER_S)
#define PUT_NS  (60 * NS_PER_S)
#define PING_NS (120 * NS_PER_S)

static const char *word(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void remark(struct found *found, size_t host, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void remark(struct found *found, size_t host, const char *format, ...)
{
    va_list arguments;
    struct text line = {0};
    va_start(arguments, format);
    text_add_list(&line, format, arguments);
    va_end(arguments);
    json_array_append_new(found->remarks, json_textf("%s: %s", found->hosts[host].name, text_string(&line)));
    text_free(&line);
}

/* ---- NICs */

static void add_lower(const json_t *nic, struct text *out)
{
    size_t i;
    const json_t *name;
    json_array_foreach(json_object_get(nic, "lower"), i, name)
        text_add(out, "%s%s", i ? ", " : "", json_string_value(name) ? json_string_value(name) : "?");
}

/* Why a NIC with RDMA cannot be in a lab: the same as a run would refuse, and what a run would cut off. NULL:
 * it can. The caller frees. */
static char *why_left_out(const struct found_host *host, const json_t *nic)
{
    const json_t *rdma = json_object_get(nic, "rdma"), *address;
    const char *netdev = word(nic, "netdev"), *kind = word(nic, "kind"), *master = word(nic, "master"),
               *transport = word(rdma, "transport"), *layer = word(rdma, "link_layer"),
               *state = word(nic, "state");
    struct text why = {0}, lower = {0};
    size_t i;
    add_lower(nic, &lower);
    if (kind && (strcmp(kind, "bond") == 0 || strcmp(kind, "team") == 0))
        text_add(
            &why,
            "%s is a bond upon %s (RoCE LAG): PFC, buffers and counters are those of each of its ports, and "
            "a run sets and counts at one; take a port out of the bond to have it in the lab",
            netdev, lower.length ? text_string(&lower) : "ports that are not shown");
    else if (master && !json_is_true(json_object_get(nic, "bridge")))
        text_add(&why, "%s is a port of %s: what is sent goes through all ports of that", netdev, master);
    else if (!rdma || !json_is_object(rdma))
        text_add(&why, "%s has no RDMA device", netdev);
    else if ((transport && strcmp(transport, "RoCE") != 0) || (layer && strcmp(layer, "InfiniBand") == 0))
        text_add(&why, "%s of %s is a port of %s, not of RoCE", netdev ? netdev : "a port",
                 word(rdma, "device"), transport ? transport : layer);
    else if (!netdev)
        text_add(&why, "%s has no network interface here", word(rdma, "device"));
    else if (kind && strcmp(kind, "device") != 0)
        text_add(&why, "%s is a %s: settings and counters are those of the NIC's own interface", netdev,
                 kind);
    else if (state && strcmp(state, "down") == 0)
        text_add(&why, "%s is down: set it up (ip link set %s up) or connect it, and look again", netdev,
                 netdev);
    json_array_foreach(json_object_get(json_object_get(nic, "settings"), "addresses"), i, address)
    {
        const char *own = json_string_value(address);
        size_t length = own ? strcspn(own, "/") : 0;
        if (!why.length && *host->ssh_address && length == strlen(host->ssh_address) &&
            strncmp(own, host->ssh_address, length) == 0)
            text_add(&why, "the ssh connection goes through %s: settings of a run could cut it off", netdev);
    }
    text_free(&lower);
    return why.length ? text_take(&why) : NULL;
}

/* IPv4, else another that is not of the link alone. */
static const char *address_of(const json_t *nic)
{
    const char *found = NULL;
    size_t i;
    json_t *address;
    json_array_foreach(json_object_get(json_object_get(nic, "settings"), "addresses"), i, address)
    {
        const char *one = json_string_value(address);
        if (!one || strncmp(one, "fe80:", 5) == 0)
            continue;
        if (!strchr(one, ':'))
            return one;
        found = found ? found : one;
    }
    return found;
}

static bool has_gid_of(const json_t *nic, const char *address)
{
    size_t i, length = strcspn(address, "/");
    json_t *gid;
    json_array_foreach(json_object_get(json_object_get(nic, "rdma"), "gids"), i, gid)
    {
        const char *own = word(gid, "address"), *type = word(gid, "type");
        if (own && type && strcmp(type, "RoCE v2") == 0 && strlen(own) == length &&
            strncmp(own, address, length) == 0)
            return true;
    }
    return false;
}

static void remark_addresses(struct found *found, size_t host, const json_t *nic, const struct found_nic *n)
{
    if (!n->address)
        remark(found, host,
               "%s has no address: flows need one (ip address add ADDRESS/LENGTH dev %s), in \"address\" "
               "of its NIC",
               n->netdev, n->netdev);
    else if (!has_gid_of(nic, n->address))
        remark(found, host, "%s has no RoCE v2 GID of %s: flows need one", n->netdev, n->address);
}

static void take_nic(struct found *found, size_t host, const json_t *nic)
{
    struct found_host *h = &found->hosts[host];
    const json_t *lldp = json_object_get(nic, "lldp");
    char *why = why_left_out(h, nic);
    if (why && (json_is_object(json_object_get(nic, "rdma")) || word(nic, "master")))
        remark(found, host, "left out: %s", why);
    if (!why) {
        h->nics = xreallocarray(h->nics, h->nic_count + 1, sizeof *h->nics);
        struct found_nic *n = &h->nics[h->nic_count++];
        *n = (struct found_nic){.netdev = word(nic, "netdev"),
                                .rdma = word(json_object_get(nic, "rdma"), "device"),
                                .pci = word(json_object_get(nic, "pci"), "address"),
                                .address = address_of(nic),
                                .speed_mbps = json_integer_value(json_object_get(nic, "speed_Mbps")),
                                .neighbour = word(lldp, "name"),
                                .port = word(lldp, "port"),
                                .host = host,
                                .rail = SIZE_MAX,
                                .gpu = -1};
        remark_addresses(found, host, nic, n);
    }
    free(why);
}

/* The PCI address tells their order in the machine, as names of interfaces do not always. */
static int by_pci(const void *one, const void *other)
{
    const struct found_nic *a = one, *b = other;
    int order = strcmp(a->pci ? a->pci : "", b->pci ? b->pci : "");
    return order ? order : strverscmp(a->netdev, b->netdev);
}

/* ---- GPUs */

static void take_gpus(struct found *found, size_t host, const json_t *facts)
{
    struct found_host *h = &found->hosts[host];
    size_t i, unknown = 0;
    json_t *gpu;
    json_array_foreach(json_object_get(facts, "gpus"), i, gpu)
    {
        const json_t *index = json_object_get(gpu, "index");
        h->gpus = xreallocarray(h->gpus, h->gpu_count + 1, sizeof *h->gpus);
        h->gpus[h->gpu_count++] =
            (struct found_gpu){.pci = word(json_object_get(gpu, "pci"), "address"),
                               .index = json_is_integer(index) ? json_integer_value(index) : (int64_t)i,
                               .by_nvml = json_is_integer(index)};
        unknown += !json_is_integer(index);
    }
    if (unknown)
        remark(found, host,
               "NVIDIA's management library (NVML) does not answer: GPUs are numbered by their PCI "
               "addresses, and are not sampled until the driver is loaded");
}

/* From near to far, as nvidia-smi topo -m has them; a relation that is not known is the farthest. */
static int distance(const char *relation)
{
    static const char *const relations[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};
    int i = 0, count = sizeof relations / sizeof *relations;
    while (i < count && !(relation && strcmp(relation, relations[i]) == 0))
        i++;
    return i;
}

static int distance_of(const json_t *facts, const struct found_nic *nic, const struct found_gpu *gpu)
{
    size_t i;
    json_t *pair;
    json_array_foreach(json_object_get(facts, "pairs"), i, pair)
    {
        const char *netdev = word(pair, "netdev"), *there = word(pair, "gpu");
        if (netdev && there && gpu->pci && strcmp(netdev, nic->netdev) == 0 && strcmp(there, gpu->pci) == 0)
            return distance(word(pair, "relation"));
    }
    return distance(NULL);
}

/* Of several that are as near, those that the fewest NICs have, beginning with the one that the order gives.
 */
static void pair_gpus(struct found_host *h)
{
    size_t *taken = xcalloc(h->gpu_count + 1, sizeof *taken);
    for (size_t i = 0; i < h->nic_count && h->gpu_count; i++) {
        size_t first = i * h->gpu_count / h->nic_count, best = first;
        for (size_t k = 0; k < h->gpu_count; k++) {
            size_t one = (first + k) % h->gpu_count;
            int near = distance_of(h->facts, &h->nics[i], &h->gpus[one]),
                nearest = distance_of(h->facts, &h->nics[i], &h->gpus[best]);
            if (near < nearest || (near == nearest && taken[one] < taken[best]))
                best = one;
        }
        h->nics[i].gpu = (long)best;
        taken[best]++;
    }
    free(taken);
}

void found_take_facts(struct found *found, size_t host, json_t *facts)
{
    struct found_host *h = &found->hosts[host];
    size_t i;
    json_t *nic;
    h->facts = json_incref(facts);
    json_array_foreach(json_object_get(facts, "nics"), i, nic) take_nic(found, host, nic);
    json_array_foreach(json_object_get(facts, "elsewhere"), i, nic)
        remark(found, host, "left out: %s belongs to another network namespace",
               word(nic, "netdev") ? word(nic, "netdev")
               : word(nic, "rdma") ? word(nic, "rdma")
               : word(nic, "pci")  ? word(nic, "pci")
                                   : "a NIC");
    if (h->nic_count)
        qsort(h->nics, h->nic_count, sizeof *h->nics, by_pci);
    take_gpus(found, host, facts);
    pair_gpus(h);
    if (!h->nic_count)
        remark(found, host, "it is not in the lab: it has no NIC with RoCE that a lab can have");
}

/* ---- rails */

/* The number that a NIC of an earlier host has, and none of its own host's yet: by network. */
static size_t rail_of_network(const struct found *found, const struct found_nic *nic)
{
    for (size_t i = 0; i < nic->host; i++)
        for (size_t k = 0; k < found->hosts[i].nic_count; k++)
            if (networks_same(found->hosts[i].nics[k].address, nic->address))
                return found->hosts[i].nics[k].rail;
    return SIZE_MAX;
}

static bool has_rail(const struct found_host *h, size_t rail)
{
    for (size_t i = 0; i < h->nic_count; i++)
        if (h->nics[i].rail == rail)
            return true;
    return false;
}

static int by_rail(const void *one, const void *other)
{
    const struct found_nic *a = one, *b = other;
    return a->rail < b->rail ? -1 : a->rail > b->rail;
}

void found_number_rails(struct found *found)
{
    for (size_t i = 0; i < found->count; i++) {
        struct found_host *h = &found->hosts[i];
        for (size_t k = 0; k < h->nic_count; k++) {
            size_t rail = rail_of_network(found, &h->nics[k]);
            if (rail != SIZE_MAX && !has_rail(h, rail))
                h->nics[k].rail = rail;
        }
        for (size_t k = 0, next = 0; k < h->nic_count; k++) {
            if (h->nics[k].rail != SIZE_MAX)
                continue;
            while (has_rail(h, next))
                next++;
            h->nics[k].rail = next;
        }
        if (h->nic_count)
            qsort(h->nics, h->nic_count, sizeof *h->nics, by_rail);
    }
}

/* ---- the hosts */

/* "root@node1.example.net" -> "node1"; "" if that is not a name: an address. */
static void name_of(const char *destination, char name[64])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *at = strrchr(destination, '@'), *host = at ? at + 1 : destination;
    size_t length = strcspn(host, ".");
    bool address = strspn(host, "0123456789.:abcdefABCDEF") == strlen(host) && strpbrk(host, ".:");
    if (address || length == 0 || length >= 64 || strspn(host, letters) < length || *host == '-')
        length = 0;
    snprintf(name, 64, "%.*s", (int)length, host);
}

static bool is_taken(const struct found *found, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (found->hosts[i].name && strcmp(found->hosts[i].name, name) == 0)
            return true;
    return false;
}

static void name_host(struct found *found, size_t i)
{
    char name[64];
    name_of(found->request->destinations[i], name);
    for (size_t n = i; !*name || is_taken(found, i, name); n++)
        snprintf(name, sizeof name, "h%zu", n);
    found->hosts[i].name = xstrdup(name);
}

/* The lab that the hosts are reached by. */
static int make_lab(const struct found *found, struct lab *lab, struct error *e)
{
    const struct discover_request *r = found->request;
    json_t *hosts = json_object();
    for (size_t i = 0; i < found->count; i++) {
        json_t *host = json_make("{s:s,s:s*,s:s*,s:s*}", "ssh", r->destinations[i], "identity", r->identity,
                                 "known_hosts", r->known_hosts, "programs", r->programs);
        if (r->port)
            json_object_set_new(host, "port", json_integer(r->port));
        if (r->sudo)
            json_object_set_new(host, "sudo", json_true());
        json_put(hosts, found->hosts[i].name, host);
    }
    json_t *document =
        json_make("{s:i,s:s,s:s,s:o}", "schema", 1, "name", r->name, "driver", "ssh", "hosts", hosts);
    json_t *whole = lab_expand(document, e);
    int result = whole ? lab_parse(whole, NULL, lab, e) : -1;
    json_decref(whole);
    json_decref(document);
    return result;
}

/* ---- facts */

static const char temporary_folder[] = "mktemp -d /tmp/harness-discover.XXXXXX";

/* By a copy in a folder that is removed again: nothing is installed. */
static json_t *facts_of_copy(struct remote_host *h, struct error *e)
{
    const char *const make[] = {"sh", "-c", temporary_folder, NULL};
    struct text out = {0};
    json_t *facts = NULL;
    char *here = places_project("host-facts", e);
    if (here && ssh_must(h->ssh, make, NULL, &out, REMOTE_COMMAND_NS, e) == 0) {
        char folder[200], there[240];
        snprintf(folder, sizeof folder, "%.*s", (int)strcspn(text_string(&out), "\n"), text_string(&out));
        snprintf(there, sizeof there, "%s/host-facts", folder);
        const char *const ask[] = {there, "--memory", "gpu", NULL}, *const remove[] = {"rm", "-rf", folder,
                                                                                       NULL};
        if (ssh_put(h->ssh, here, there, 0755, PUT_NS, e) == 0)
            facts = remote_json(h, ask, NULL, NULL, e);
        (void)ssh_must(h->ssh, remove, NULL, NULL, REMOTE_COMMAND_NS, NULL);
    }
    text_free(&out);
    free(here);
    return facts;
}

static json_t *facts_of(struct remote_host *h, struct error *e)
{
    static const char *const none[] = {NULL};
    char program[512];
    const char *const version[] = {remote_program(h, "host-facts", program, sizeof program), "--version",
                                   NULL};
    struct text out = {0}, err = {0};
    bool there = ssh_run(h->ssh, version, NULL, &out, &err, REMOTE_COMMAND_NS, NULL) == 0;
    text_free(&out);
    text_free(&err);
    return there ? remote_facts(h, MEMORY_GPU, none, e) : facts_of_copy(h, e);
}

/* The host's own address of the connection: "CLIENT PORT SERVER PORT". sudo does not pass it on. */
static void ask_own_address(struct remote_host *h, char address[64])
{
    static const char *const ask[] = {"sh", "-c", "echo \"$SSH_CONNECTION\"", NULL};
    struct text out = {0};
    address[0] = '\0';
    if (ssh_must(h->ssh, ask, NULL, &out, REMOTE_COMMAND_NS, NULL) != 0 ||
        sscanf(text_string(&out), "%*s %*s %63s", address) != 1)
        address[0] = '\0';
    text_free(&out);
}

static int ask_facts(void *context, size_t i, const struct host_way *way, struct text *out, struct error *e)
{
    struct found_host *host = &((struct found *)context)->hosts[i];
    struct remote_host h;
    (void)out;
    if (remote_host_open(&h, NULL, way->lab, way->host, OPEN_NS, e) != 0)
        return -1;
    ask_own_address(&h, host->ssh_address);
    host->facts = facts_of(&h, e);
    remote_host_close(&h);
    return host->facts ? 0 : -1;
}

/* ---- who reaches whom */

/* $1 is how many are asked at once, the rest "INTERFACE ADDRESS" pairs. Prints those that are answered.
 * Without ping a TCP connection is tried, which is refused where the address is reached: roce-traffic's port
 * is free. */
static const char ping_script[] =
    "export LC_ALL=C; most=$1; shift; n=0; "
    "reach() { if command -v ping > /dev/null; then ping -n -q -c 1 -W 1 -I \"$1\" \"$2\" > /dev/null 2>&1; "
    "return; fi; "
    "case \"$(ip route get \"$2\" 2>&1) \" in *\" dev $1 \"*) ;; *) return 1;; esac; "
    "said=$(timeout 2 bash -c 'exec 3<>\"/dev/tcp/$0/18525\"' \"$2\" 2>&1) && return; "
    "case $said in *'Connection refused'*) ;; *) return 1;; esac; }; "
    "while [ $# -gt 1 ]; do { ! reach \"$1\" \"$2\" || echo \"$1 $2\"; } & "
    "shift 2; n=$((n + 1)); [ $((n % most)) != 0 ] || wait; done; wait";
#define ASKED_AT_ONCE "32"

/* Those of other hosts whose address is of the network. */
static void add_targets(const struct found *found, const struct found_nic *nic, struct words *w)
{
    for (size_t i = 0; i < found->count; i++)
        for (size_t k = 0; i != nic->host && k < found->hosts[i].nic_count; k++) {
            const char *address = found->hosts[i].nics[k].address;
            if (!networks_same(nic->address, address))
                continue;
            words_add(w, "%s", nic->netdev);
            words_add(w, "%.*s", (int)strcspn(address, "/"), address);
        }
}

/* The answers are in `out`, which is not for stdout. */
static int ask_reached(struct found *found, size_t i, const struct host_way *way, struct text *out,
                       struct error *e)
{
    const struct found_host *host = &found->hosts[i];
    struct remote_host h;
    struct words w = {0};
    words_add_all(&w, (const char *const[]){"sh", "-c", ping_script, "sh", ASKED_AT_ONCE, NULL});
    size_t before = w.count;
    for (size_t k = 0; k < host->nic_count; k++)
        add_targets(found, &host->nics[k], &w);
    int result = words_whole(&w, e);
    if (result == 0 && w.count > before && remote_host_open(&h, NULL, way->lab, way->host, OPEN_NS, e) == 0) {
        result = ssh_must(h.ssh, (const char *const *)w.items, NULL, out, PING_NS, e);
        remote_host_close(&h);
    } else if (result == 0 && w.count > before) {
        result = -1;
    }
    words_free(&w);
    return result;
}

struct reaching {
    struct found *found;
    struct text *answers; /* by host */
};

static int reach_from(void *context, size_t i, const struct host_way *way, struct text *out, struct error *e)
{
    struct reaching *r = context;
    (void)out;
    return ask_reached(r->found, i, way, &r->answers[i], e);
}

static void take_answers(struct found *found, size_t host, char *answers)
{
    char *line, netdev[64], address[64];
    while ((line = strsep(&answers, "\n")))
        if (sscanf(line, "%63s %63s", netdev, address) == 2) {
            struct text key = {0};
            text_add(&key, "%s %s %s", found->hosts[host].name, netdev, address);
            json_put(found->reached, text_string(&key), json_true());
            text_free(&key);
        }
}

static void find_reached(struct found *found, const struct lab *lab)
{
    struct reaching r = {found, xcalloc(found->count + 1, sizeof *r.answers)};
    struct error e;
    size_t failures = 0;
    found->reached = json_object();
    if (lab_hosts_run(lab, "lab discover", reach_from, &r, &failures, &e) != 0)
        log_warning("who reaches whom was not asked: %s", e.text);
    for (size_t i = 0; i < found->count; i++) {
        if (r.answers[i].length)
            take_answers(found, i, r.answers[i].data);
        text_free(&r.answers[i]);
    }
    free(r.answers);
}

/* ---- all */

static void take_all_facts(struct found *found)
{
    for (size_t i = 0; i < found->count; i++) {
        json_t *facts = found->hosts[i].facts;
        found->hosts[i].facts = NULL;
        if (facts)
            found_take_facts(found, i, facts);
        else
            remark(found, i, "it is not in the lab: it was not reached");
        json_decref(facts);
    }
    found_number_rails(found);
}

/* A host that was reached by an address has the name that it calls itself, if no other has. */
static void take_own_names(struct found *found)
{
    for (size_t i = 0; i < found->count; i++) {
        char given[64], own[64] = "";
        const char *says = word(found->hosts[i].facts, "host");
        name_of(found->request->destinations[i], given);
        if (says)
            name_of(says, own);
        size_t same = 0;
        for (size_t k = 0; k < found->count; k++) {
            const char *other = word(found->hosts[k].facts, "host");
            same += other && says && strcmp(other, says) == 0;
        }
        if (*given || !*own || same != 1 || is_taken(found, found->count, own))
            continue;
        free(found->hosts[i].name);
        found->hosts[i].name = xstrdup(own);
    }
}

int discover_hosts(const struct discover_request *request, struct found *found, size_t *failures,
                   struct error *e)
{
    struct lab lab;
    *found = (struct found){.request = request,
                            .hosts = xcalloc(request->count + 1, sizeof *found->hosts),
                            .count = request->count,
                            .remarks = json_array()};
    for (size_t i = 0; i < request->count; i++) {
        found->hosts[i].destination = request->destinations[i];
        name_host(found, i);
    }
    if (make_lab(found, &lab, e) != 0)
        return -1;
    int result = lab_hosts_run(&lab, "lab discover", ask_facts, found, failures, e);
    if (result == 0 && *failures == request->count)
        result = error_set(e, "none of the hosts could be asked: no lab is written");
    if (result == 0) {
        take_own_names(found);
        take_all_facts(found);
        find_reached(found, &lab);
    }
    lab_free(&lab);
    return result;
}

void found_free(struct found *found)
{
    for (size_t i = 0; found->hosts && i < found->count; i++) {
        free(found->hosts[i].name);
        json_decref(found->hosts[i].facts);
        free(found->hosts[i].nics);
        free(found->hosts[i].gpus);
    }
    free(found->hosts);
    json_decref(found->reached);
    json_decref(found->remarks);
    *found = (struct found){0};
}
