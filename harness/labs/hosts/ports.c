#include "harness/labs/hosts/ports.h"

#include "harness/doctor/doctor.h"
#include "harness/traffic/traffic_tool.h"
#include "lib/words.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHECK "port"

/* Prints a line for each address: exit status and last message of a connection. timeout's own exit status is 124. */
static const char try_addresses[] =
    "export LC_ALL=C; port=$1; shift; for a do { "
    "said=$(timeout 3 bash -c 'exec 3<>\"/dev/tcp/$0/$1\"' \"$a\" \"$port\" 2>&1); code=$?; "
    "printf '%s %d %s\\n' \"$a\" $code \"$(printf '%s' \"$said\" | tail -n 1)\"; } & done; wait";

/* ---- to whom a host sends */

struct peers {
    const struct traffic_tool *tool; /* by which it sends */
    const struct lab_host **hosts;
    size_t count;
};

static void add_peer(struct peers *peers, const struct lab_host *from, const struct lab_host *to)
{
    if (!to || to == from || !to->nic.address)
        return;
    for (size_t i = 0; i < peers->count; i++)
        if (peers->hosts[i] == to)
            return;
    peers->hosts[peers->count++] = to;
}

/* Hosts that forward receive no flows. */
static void add_next(struct peers *peers, const struct lab *lab, const struct lab_host *from)
{
    size_t count = lab->hosts.count, at = 0;
    while (at < count && lab_host_at(lab, at) != from)
        at++;
    for (size_t i = 1; i < count && peers->count == 0; i++) {
        const struct lab_host *next = lab_host_at(lab, (at + i) % count);
        if (next->extra_nics.count == 0)
            add_peer(peers, from, next);
    }
}

static void add_receivers(struct peers *peers, const struct lab *lab, const struct scenario *scenario,
                          const struct lab_host *from)
{
    const struct scenario_flow *flows = scenario->flows.items;
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (lab_real_host(lab, flows[i].from) == from && traffic_tool_of(&flows[i]) == peers->tool)
            add_peer(peers, from, lab_real_host(lab, flows[i].to));
}

/* ---- what came of it */

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

static void say_blocked(json_t *entries, const struct remote_host *h, const struct lab_host *to,
                        const struct traffic_tool *tool, const char *what)
{
    struct text fix = {0};
    int64_t port = tool->port;
    text_add(&fix,
             "let TCP port %" PRId64 " through on host %s; with firewalld: firewall-cmd --add-port=%" PRId64
             "/tcp (and again with --permanent)",
             port, to->name, port);
    preflight_say(entries, h->lab->name, CHECK, "failure", text_string(&fix),
                  "TCP port %" PRId64 " of %s (%s), where %s listens during a run: %s", port, to->name,
                  to->nic.address, tool->name, what);
    text_free(&fix);
}

/* A refused connection came through: nothing listens there outside a run. */
static void say_outcome(json_t *entries, const struct remote_host *h, const struct lab_host *to,
                        const struct traffic_tool *tool, int code, const char *said)
{
    int64_t port = tool->port;
    const char *reason = strrchr(said, ':');
    if (code == 0 || strstr(said, "Connection refused"))
        preflight_say(entries, h->lab->name, CHECK, "ok", NULL,
                      "TCP port %" PRId64 " of %s (%s) can be reached", port, to->name, to->nic.address);
    else if (code == 124)
        say_blocked(entries, h, to, tool,
                    "no answer within 3 s: a firewall drops packets, or the data network is down");
    else if (strstr(said, "No route to host"))
        say_blocked(
            entries, h, to, tool,
            "\"No route to host\": a firewall rejects packets, or the host is not on the data network");
    else
        preflight_say(entries, h->lab->name, CHECK, "unknown", NULL,
                      "TCP port %" PRId64 " of %s (%s) was not tried:%s", port, to->name, to->nic.address,
                      reason ? reason + 1 : " no reason was given");
}

static void take_answers(struct remote_host *h, const struct peers *peers, char *answers, json_t *entries)
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
        say_outcome(entries, h, to, peers->tool, code, line + used);
        preflight_read(entries, "a connection to %s, TCP port %" PRId64 ": %s", address, peers->tool->port,
                       line[used] ? line + used : "no message");
    }
}

static void say_untried(json_t *entries, const struct remote_host *h, const struct error *why)
{
    preflight_say(entries, h->lab->name, CHECK, "unknown", NULL, "%s", why->text);
    preflight_read(entries, "the answer of bash on %s", h->lab->name);
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
        say_untried(entries, h, &e);
    else if (out.length)
        take_answers(h, peers, out.data, entries);
    words_free(&w);
    text_free(&out);
}

static void examine_tool(struct remote_host *h, const struct lab *lab, const struct scenario *scenario,
                         const struct traffic_tool *tool, json_t *entries)
{
    struct peers peers = {.tool = tool, .hosts = calloc(lab->hosts.count + 1, sizeof(struct lab_host *))};
    if (peers.hosts && scenario)
        add_receivers(&peers, lab, scenario, h->lab);
    else if (peers.hosts && h->lab->extra_nics.count == 0)
        add_next(&peers, lab, h->lab);
    if (peers.count)
        try_peers(h, &peers, entries);
    free(peers.hosts);
}

void remote_ports_examine(struct remote_host *h, const struct lab *lab, const struct scenario *scenario,
                          json_t *entries)
{
    for (size_t i = 0; traffic_tools[i] && (scenario || i == 0); i++)
        examine_tool(h, lab, scenario, traffic_tools[i], entries);
}
