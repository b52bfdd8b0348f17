/* Can a host be worked with: its clock, TCP ports of the hosts to which it sends, traffic tools, our
 * programs. */
#include "harness/doctor/hosts/host.h"

#include "harness/labs/hosts/collectives/collectives.h"
#include "harness/labs/hosts/programs.h"
#include "harness/labs/hosts/tools.h"
#include "harness/traffic/traffic_tool.h"
#include "lib/document/json_text.h"
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
    const char *host = x->host->remote.lab->name;
    int64_t offset_ns, error_ns;
    if (remote_clock(&x->host->remote, &here, &offset_ns, &error_ns, &e) != 0)
        doctor_add(x->entries, host, "clock", "failure", "install bash on the host: it answers with its time",
                   "%s", e.text);
    else
        doctor_add(x->entries, host, "clock", error_ns > CLOCK_BOUND_NS ? "warning" : "ok", NULL,
                   "offset %+.3f ms, error at most %.3f ms", (double)offset_ns / 1e6, (double)error_ns / 1e6);
    doctor_add_evidence(x->entries, "the host's time, asked for several times over ssh");
}

const struct doctor_check doctor_clock = {
    .name = "clock", .scope = DOCTOR_HOST, .when = DOCTOR_EXAMINES, .examine = examine_clock};

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

/* Hosts that forward receive no flows. */
static void peers_add_next(struct peers *peers, const struct lab *lab, const struct lab_host *from)
{
    size_t count = lab->hosts.count, at = 0;
    while (at < count && lab_host_at(lab, at) != from)
        at++;
    for (size_t i = 1; i < count && peers->count == 0; i++) {
        const struct lab_host *next = lab_host_at(lab, (at + i) % count);
        if (next->extra_nics.count == 0)
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
    int result = remote_programs_check(&x->host->remote, &e);
    text_add(&fix, "harness install %s --lab %s", host->name, x->lab_path);
    if (result == 0)
        doctor_add(x->entries, host->name, "programs", "ok", NULL, "%s in %s", HARNESS_VERSION,
                   host->programs);
    else
        doctor_add(x->entries, host->name, "programs", result > 0 ? "warning" : "failure", text_string(&fix),
                   "%s", e.text);
    doctor_add_evidence(x->entries, "the programs' --version in %s on the host", host->programs);
    text_free(&fix);
    if (result >= 0)
        *x->found |= DOCTOR_NEEDS_PROGRAMS;
}

const struct doctor_check doctor_programs = {
    .name = "programs", .scope = DOCTOR_HOST, .when = DOCTOR_EXAMINES, .examine = examine_programs};
