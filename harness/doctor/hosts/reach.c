/* Can a host be worked with: its clock, TCP ports of the hosts to which it sends, traffic tools, our
 * programs. */
#include "harness/doctor/hosts/host.h"

#include "harness/labs/hosts/collectives/collectives.h"
#include "harness/labs/hosts/programs.h"
#include "harness/labs/hosts/tools.h"
#include "harness/traffic/traffic_tool.h"
#include "lib/document/json_text.h"
#include "lib/network/networks.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- clock */

#define CLOCK_BOUND_NS \
    (10 * NS_PER_MS) /* more than a sampling interval: curves of two hosts no longer line up */

static void examine_clock(const struct doctor_subject *x)
{
    struct error e;
    struct clock_steady here = clock_steady_start();
    const char *host = x->host->machine;
    int64_t offset_ns, error_ns;
    if (remote_clock(&x->host->remote, &here, &offset_ns, &error_ns, &e) != 0)
        doctor_add(x->entries, host, "clock", "failure", "install bash on the host: it answers with its time",
                   "%s", e.text);
    else
        doctor_add(x->entries, host, "clock", error_ns > CLOCK_BOUND_NS ? "warning" : "ok", NULL,
                   "offset %+.3f ms, error at most %.3f ms", (double)offset_ns / 1e6, (double)error_ns / 1e6);
    doctor_add_evidence(x->entries, "the host's time, asked for several times over ssh");
}

const struct doctor_check doctor_clock = {.name = "clock",
                                          .scope = DOCTOR_HOST,
                                          .when = DOCTOR_EXAMINES,
                                          .needs = DOCTOR_NEEDS_FIRST,
                                          .examine = examine_clock};

/* Prints a line for each address: exit status and last message of a connection. timeout's own exit status is
 * 124. */
static const char try_addresses[] =
    "export LC_ALL=C; port=$1; shift; for a do { "
    "said=$(timeout 3 bash -c 'exec 3<>\"/dev/tcp/$0/$1\"' \"$a\" \"$port\" 2>&1); code=$?; "
    "printf '%s %d %s\\n' \"$a\" $code \"$(printf '%s' \"$said\" | tail -n 1)\"; } & done; wait";

/* ---- port: can a sending host reach the TCP port of a traffic tool on the receiving ones? */

struct peers {
    const struct traffic_tool *tool; /* by which it sends */
    const struct lab_host **hosts;
    size_t count;
};

static void peers_add(struct peers *peers, const struct lab_host *from, const struct lab_host *to)
{
    if (!to || to == from || !to->nic.address)
        return;
    for (size_t i = 0; i < peers->count; i++)
        if (peers->hosts[i] == to)
            return;
    peers->hosts[peers->count++] = to;
}

/* The lab's next host of another machine: first one of the NIC's own network, as rails reach no other, then
 * of any. Hosts that forward receive no flows. */
static void peers_add_next(struct peers *peers, const struct lab *lab, const struct lab_host *from)
{
    size_t count = lab->hosts.count, at = 0;
    while (at < count && lab_host_at(lab, at) != from)
        at++;
    for (int any = 0; any < 2; any++)
        for (size_t i = 1; i < count && peers->count == 0; i++) {
            size_t k = (at + i) % count;
            const struct lab_host *next = lab_host_at(lab, k);
            if (next->extra_nics.count == 0 && !lab_same_machine(lab, at, k) &&
                (any || networks_same(from->nic.address, next->nic.address)))
                peers_add(peers, from, next);
        }
}

static void peers_add_receivers(struct peers *peers, const struct lab *lab, const struct scenario *scenario,
                                const struct lab_host *from)
{
    const struct scenario_flow *flows = scenario->flows.items;
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (lab_real_host(lab, flows[i].from) == from && traffic_tool_of(&flows[i]) == peers->tool)
            peers_add(peers, from, lab_real_host(lab, flows[i].to));
}

static const struct lab_host *peer_at(const struct peers *peers, const char *address)
{
    for (size_t i = 0; i < peers->count; i++) {
        const char *known = peers->hosts[i]->nic.address;
        size_t length = strcspn(known, "/");
        if (strlen(address) == length && strncmp(address, known, length) == 0)
            return peers->hosts[i];
    }
    return NULL;
}

static void report_blocked(json_t *entries, const struct remote_host *h, const struct lab_host *to,
                           const struct traffic_tool *tool, const char *what)
{
    struct text fix = {0};
    int64_t port = tool->port;
    text_add(&fix,
             "let TCP port %" PRId64 " through on host %s; with firewalld: firewall-cmd --add-port=%" PRId64
             "/tcp (and again with --permanent)",
             port, to->name, port);
    doctor_add(entries, h->lab->name, "port", "failure", text_string(&fix),
               "TCP port %" PRId64 " of %s (%s), where %s listens during a run: %s", port, to->name,
               to->nic.address, tool->name, what);
    text_free(&fix);
}

/* A refused connection came through: nothing listens there outside a run. */
static void report_outcome(json_t *entries, const struct remote_host *h, const struct lab_host *to,
                           const struct traffic_tool *tool, int code, const char *message)
{
    int64_t port = tool->port;
    const char *reason = strrchr(message, ':');
    if (code == 0 || strstr(message, "Connection refused"))
        doctor_add(entries, h->lab->name, "port", "ok", NULL,
                   "TCP port %" PRId64 " of %s (%s) can be reached", port, to->name, to->nic.address);
    else if (code == 124)
        report_blocked(entries, h, to, tool,
                       "no answer within 3 s: a firewall drops packets, or the data network is down");
    else if (strstr(message, "No route to host"))
        report_blocked(
            entries, h, to, tool,
            "\"No route to host\": a firewall rejects packets, or the host is not on the data network");
    else
        doctor_add(entries, h->lab->name, "port", "unknown", NULL,
                   "TCP port %" PRId64 " of %s (%s) was not tried:%s", port, to->name, to->nic.address,
                   reason ? reason + 1 : " no reason was given");
}

static void report_answers(struct remote_host *h, const struct peers *peers, char *answers, json_t *entries)
{
    char *line;
    while ((line = strsep(&answers, "\n"))) {
        char address[80];
        int code, used = 0;
        if (sscanf(line, "%79s %d %n", address, &code, &used) != 2)
            continue;
        const struct lab_host *to = peer_at(peers, address);
        if (!to)
            continue;
        report_outcome(entries, h, to, peers->tool, code, line + used);
        doctor_add_evidence(entries, "a connection to %s, TCP port %" PRId64 ": %s", address,
                            peers->tool->port, line[used] ? line + used : "no message");
    }
}

static void report_untried(json_t *entries, const struct remote_host *h, const struct error *why)
{
    doctor_add(entries, h->lab->name, "port", "unknown", NULL, "%s", why->text);
    doctor_add_evidence(entries, "the answer of bash on %s", h->lab->name);
}

static void try_peers(struct remote_host *h, const struct peers *peers, json_t *entries)
{
    struct words w = {0};
    struct text out = {0};
    struct error e;
    words_add_all(&w, (const char *const[]){"bash", "-c", try_addresses, "bash", NULL});
    words_add(&w, "%" PRId64, peers->tool->port);
    for (size_t i = 0; i < peers->count; i++)
        words_add(&w, "%.*s", (int)strcspn(peers->hosts[i]->nic.address, "/"), peers->hosts[i]->nic.address);
    if (words_whole(&w, &e) != 0 ||
        ssh_must(h->ssh, (const char *const *)w.items, NULL, &out, REMOTE_COMMAND_NS, &e) != 0)
        report_untried(entries, h, &e);
    else if (out.length)
        report_answers(h, peers, out.data, entries);
    words_free(&w);
    text_free(&out);
}

/* Without a scenario the port of the first tool is tried on the lab's next host, so that each is tried
 * once. */
static void examine_ports(const struct doctor_subject *x)
{
    const struct scenario *scenario = x->plan ? &x->plan->first.scenario : NULL;
    struct remote_host *h = &x->host->remote;
    for (size_t i = 0; traffic_tools[i] && (scenario || i == 0); i++) {
        struct peers peers = {.tool = traffic_tools[i],
                              .hosts = xcalloc(x->lab->hosts.count + 1, sizeof *peers.hosts)};
        if (scenario)
            peers_add_receivers(&peers, x->lab, scenario, h->lab);
        else if (h->lab->extra_nics.count == 0)
            peers_add_next(&peers, x->lab, h->lab);
        if (peers.count)
            try_peers(h, &peers, x->entries);
        free(peers.hosts);
    }
}

const struct doctor_check doctor_port = {
    .name = "port", .scope = DOCTOR_HOST, .when = DOCTOR_EXAMINES, .examine = examine_ports};

/* ---- route: do packets leave and enter by their own NIC, where a machine has several? */

/* $1: the address of the NIC, $2: its interface, the rest: addresses of peers. Prints "arp ALL OWN", the
 * kernel's arp_ignore, and for each peer "to PEER DEVICE". */
static const char ask_routes[] =
    "own=$1; dev=$2; shift 2; cd /proc/sys/net/ipv4/conf && echo \"arp $(cat all/arp_ignore) $(cat "
    "\"$dev/arp_ignore\")\"; for peer; do said=$(ip route get \"$peer\" from \"$own\" 2>&1); "
    "case $said in *' dev '*) said=${said#* dev }; echo \"to $peer ${said%% *}\";; "
    "*) echo \"to $peer none\";; esac; done";

/* Another NIC of the machine whose address is of the same network; NULL: there is none. */
static const struct doctor_host *neighbour_of(const struct doctor_host *h)
{
    for (size_t i = 0; i < h->node_count; i++)
        if (&h->nodes[i] != h &&
            networks_same(h->remote.lab->nic.address, h->nodes[i].remote.lab->nic.address))
            return &h->nodes[i];
    return NULL;
}

static void add_source_routes(const struct doctor_host *h, struct text *fix)
{
    const char *address = h->remote.lab->nic.address, *dev = h->remote.netdev;
    int length = (int)strcspn(address, "/");
    size_t table = (size_t)(h - h->nodes) + 1;
    text_add(
        fix,
        "give each rail a network of its own, or: ip route add NETWORK dev %s src %.*s table %zu; ip rule "
        "add from %.*s table %zu; sysctl -w net.ipv4.conf.%s.arp_ignore=1 "
        "net.ipv4.conf.%s.arp_announce=2 net.ipv4.conf.%s.rp_filter=2",
        dev, length, address, 100 + table, length, address, 100 + table, dev, dev, dev);
}

static void report_wrong_way(const struct doctor_subject *x, const char *peer, const char *dev)
{
    const struct doctor_host *h = x->host;
    const struct lab_host *host = h->remote.lab;
    struct text fix = {0};
    bool none = strcmp(dev, "none") == 0;
    add_source_routes(h, &fix);
    doctor_add(x->entries, host->name, "route", "failure", text_string(&fix),
               "packets from %.*s to %s %s%s, not by %s: counters and settings of this NIC are not those of "
               "its flows",
               (int)strcspn(host->nic.address, "/"), host->nic.address, peer,
               none ? "have no route" : "leave by ", none ? "" : dev, h->remote.netdev);
    text_free(&fix);
}

/* Linux answers for all its addresses on every interface, unless it is told not to. */
static void report_arp(const struct doctor_subject *x, const struct doctor_host *other)
{
    const struct doctor_host *h = x->host;
    struct text fix = {0};
    add_source_routes(h, &fix);
    doctor_add(
        x->entries, h->remote.lab->name, "route", "failure", text_string(&fix),
        "%s and %s are in one network (%s, %s), and %s answers ARP for both addresses: what is sent to one "
        "may come in at the other, where its queue pairs are not",
        h->remote.netdev, other->remote.netdev ? other->remote.netdev : other->remote.lab->name,
        h->remote.lab->nic.address, other->remote.lab->nic.address, h->remote.netdev);
    text_free(&fix);
}

/* The answers. Returns the number of failures; -1: they are not what was asked for. */
static int judge_routes(const struct doctor_subject *x, char *answers)
{
    const struct doctor_host *h = x->host, *other = neighbour_of(h);
    bool ipv4 = !strchr(h->remote.lab->nic.address, ':'), asked = false;
    int failures = 0, all, own;
    char *line, peer[80], dev[80];
    while ((line = strsep(&answers, "\n"))) {
        size_t before = json_array_size(x->entries);
        if (sscanf(line, "arp %d %d", &all, &own) == 2) {
            asked = true;
            if (other && ipv4 && all < 1 && own < 1)
                report_arp(x, other);
        } else if (sscanf(line, "to %79s %79s", peer, dev) == 2 && strcmp(dev, h->remote.netdev) != 0) {
            report_wrong_way(x, peer, dev);
        }
        if (json_array_size(x->entries) > before) {
            failures++;
            doctor_add_evidence(x->entries,
                                "%s: the answer of ip route get, and of net.ipv4.conf, on the host", line);
        }
    }
    return asked ? failures : -1;
}

/* A VLAN's interface is the run's. */
static void examine_routes(const struct doctor_subject *x)
{
    const struct doctor_host *h = x->host;
    const struct lab_host *host = h->remote.lab;
    struct peers peers = {.hosts = xcalloc(x->lab->hosts.count + 1, sizeof *peers.hosts)};
    struct words w = {0};
    struct text out = {0};
    struct error e;
    for (size_t i = 0; x->plan && traffic_tools[i]; i++) {
        peers.tool = traffic_tools[i];
        peers_add_receivers(&peers, x->lab, &x->plan->first.scenario, host);
    }
    if (!x->plan)
        peers_add_next(&peers, x->lab, host);
    if (h->node_count > 1 && host->nic.address && !host->nic.vlan && host->extra_nics.count == 0) {
        words_add_all(&w, (const char *const[]){"sh", "-c", ask_routes, "sh", NULL});
        words_add(&w, "%.*s", (int)strcspn(host->nic.address, "/"), host->nic.address);
        words_add(&w, "%s", h->remote.netdev);
        for (size_t i = 0; i < peers.count; i++)
            words_add(&w, "%.*s", (int)strcspn(peers.hosts[i]->nic.address, "/"),
                      peers.hosts[i]->nic.address);
        int failures = words_whole(&w, &e) != 0 || ssh_must(h->remote.ssh, (const char *const *)w.items, NULL,
                                                            &out, REMOTE_COMMAND_NS, &e) != 0
                           ? -1
                           : judge_routes(x, out.data);
        if (failures <= 0) {
            doctor_add(x->entries, host->name, "route", failures ? "unknown" : "ok", NULL, "%s",
                       failures ? "which way packets take was not answered"
                                : "packets leave and enter by this NIC alone");
            doctor_add_evidence(x->entries, "ip route get and net.ipv4.conf on the host");
        }
    }
    words_free(&w);
    text_free(&out);
    free(peers.hosts);
}

const struct doctor_check doctor_route = {.name = "route",
                                          .scope = DOCTOR_HOST,
                                          .when = DOCTOR_EXAMINES,
                                          .needs = DOCTOR_NEEDS_NIC,
                                          .examine = examine_routes};

/* ---- traffic tools */

/* Cells that ask the same of the tools need one answer. */
static void examine_tools(const struct doctor_subject *x)
{
    json_t *asked = json_array();
    const struct cell *cell;
    for (size_t i = 0; (cell = doctor_cell_at(x->plan, i)); i++) {
        json_t *found = json_array();
        size_t before = json_array_size(asked);
        doctor_add_new(asked, json_make("[o]", tools_asked_for(&cell->scenario)));
        if (json_array_size(asked) > before) {
            tools_examine(&x->host->remote, x->lab, &cell->scenario, found);
            collectives_examine(&x->host->remote, x->lab, &cell->scenario, found);
        }
        doctor_add_new(x->entries, found);
        plan_release(x->plan, cell);
    }
    json_decref(asked);
}

const struct doctor_check doctor_tool = {.name = "tool",
                                         .scope = DOCTOR_HOST,
                                         .when = DOCTOR_EXAMINES,
                                         .needs = DOCTOR_NEEDS_SCENARIO,
                                         .examine = examine_tools};

/* ---- our programs */

/* Those of another version can be used. */
static void examine_programs(const struct doctor_subject *x)
{
    struct error e;
    struct text fix = {0};
    const struct lab_host *host = x->host->remote.lab;
    const char *machine = x->host->machine;
    int result = remote_programs_check(&x->host->remote, &e);
    shell_quote_all(&fix, (const char *const[]){"harness", "install", machine, "--lab", x->lab_path, NULL});
    if (result == 0)
        doctor_add(x->entries, machine, "programs", "ok", NULL, "%s in %s", HARNESS_VERSION, host->programs);
    else
        doctor_add(x->entries, machine, "programs", result > 0 ? "warning" : "failure", text_string(&fix),
                   "%s", e.text);
    doctor_add_evidence(x->entries, "the programs' --version in %s on the host", host->programs);
    text_free(&fix);
    if (result >= 0)
        *x->found |= DOCTOR_NEEDS_PROGRAMS;
}

const struct doctor_check doctor_programs = {.name = "programs",
                                             .scope = DOCTOR_HOST,
                                             .when = DOCTOR_EXAMINES,
                                             .needs = DOCTOR_NEEDS_FIRST,
                                             .examine = examine_programs};
