/*
 * The files of the HPCC simulator (alibaba-edu/High-Precision-Congestion-Control, simulation/scratch/third.cc
 * of March 2021), of SimAI's ns-3 (aliyun/SimAI, astra-sim/network_frontend/ns3/common.h of August 2026) and
 * of ns3-datacenter (inet-tub/ns3-datacenter, examples/PowerTCP and examples/Reverie of May 2025), and of
 * ConWeave's (conweave-project/conweave-ns3, scratch/network-load-balance.cc). All read words, whatever lines
 * they are on, and nothing after the last of them.
 *
 *   TOPOLOGY  nodes, switches, links; the switches' numbers; a link each: node, node, rate, delay, share
 *             of frames lost.
 *             SimAI: nodes, GPUs of a server, NVSwitches, switches, links, type of the GPUs; NVSwitches come
 *             first among the switches.
 *             ns3-datacenter: nodes, switches, how many of them are leaves, links; in Reverie also the
 *             rates of the links of hosts and of the others, which the links have too.
 *
 *   FLOW      how many; each: sender, receiver, priority, UDP port of the receiver, bytes, start in seconds.
 *             ConWeave: without the port.
 *
 *   TRACE     how many; the nodes that are sampled.
 */
#include "harness/import/import.h"
#include <inttypes.h>
#include <stdlib.h>

/* HPCC and SimAI keep a flow's bytes in 32 bits; ns3-datacenter has 64, which the duration of a run bounds.
 */
#define MOST_FLOW_BYTES      UINT32_MAX
#define MOST_LONG_FLOW_BYTES (INT64_C(1) << 50)

struct topology {
    struct reader *in;
    enum { HPCC, SIMAI, DATACENTER, DATACENTER_RATES } kind;
    int64_t nodes, switches, links;
    int64_t gpus_per_server, nvswitches; /* SimAI */
    int flow_words;                      /* FLOW: of each flow's own line; 0: it has none */
};

/* ---- TOPOLOGY */

/* Words of the first line with numbers, as far as they matter. */
#define HEADER_WORDS 6

/* Whose file it is, by the words of its first line that has any: HPCC's has three, or also the numbers of its
 * switches. Leaves are at most as many as switches, which links are not. */
static int find_kind(struct topology *t, struct error *e)
{
    struct reader ahead = *t->in;
    struct word word;
    int64_t value[HEADER_WORDS] = {0};
    bool number[HEADER_WORDS] = {false}, whole;
    int words = 0;
    while (words == 0 && (reader_word_in_line(&ahead, &word) || reader_next_line(&ahead)))
        for (; word.length; reader_word_in_line(&ahead, &word), words++)
            if (words < HEADER_WORDS)
                number[words] = decimal_parse(word.at, word.length, 0, &value[words], &whole) == 0;
    bool leaves = number[2] && value[2] <= value[1];
    if (words == 6 && !number[5])
        t->kind = SIMAI;
    else if (leaves && (words == 4 || words == 6))
        t->kind = words == 4 ? DATACENTER : DATACENTER_RATES;
    else if (words > 3 && words < 3 + value[1])
        return reader_error(
            t->in, ahead.line, e,
            "%d words: expected 3 of the HPCC simulator (nodes, switches, links), 4 or 6 of "
            "ns3-datacenter (nodes, switches, leaves, links, two rates), or 6 of SimAI (nodes, GPUs "
            "of a server, NVSwitches, switches, links, type of the GPUs)",
            words);
    return 0;
}

static int read_counts(struct topology *t, struct error *e)
{
    struct word word;
    int64_t leaves, rate;
    if (find_kind(t, e) != 0 ||
        read_integer(t->in, "the number of nodes", 1, IMPORT_MOST_NODES, &t->nodes, e) != 0)
        return -1;
    if (t->kind == SIMAI &&
        (read_integer(t->in, "the number of GPUs of a server", 1, t->nodes, &t->gpus_per_server, e) != 0 ||
         read_integer(t->in, "the number of NVSwitches", 0, t->nodes, &t->nvswitches, e) != 0))
        return -1;
    if (read_integer(t->in, "the number of switches", 0, t->nodes - t->nvswitches, &t->switches, e) != 0 ||
        (t->kind >= DATACENTER &&
         read_integer(t->in, "the number of leaves", 0, t->switches, &leaves, e) != 0) ||
        read_integer(t->in, "the number of links", 0, IMPORT_MOST_LINKS, &t->links, e) != 0)
        return -1;
    for (int i = 0; t->kind == DATACENTER_RATES && i < 2; i++)
        if (read_integer(t->in, "a rate of links in b/s", 0, INT64_MAX / 16, &rate, e) != 0)
            return -1;
    return t->kind == SIMAI ? reader_expect(t->in, "the type of the GPUs", &word, e) : 0;
}

static int read_switches(struct topology *t, struct import *import, struct error *e)
{
    int64_t id = 0;
    for (int64_t i = 0; i < t->nvswitches + t->switches; i++) {
        if (read_integer(t->in, "the number of a switch", 0, t->nodes - 1, &id, e) != 0)
            return -1;
        if (import->is_switch[id])
            return reader_error(t->in, t->in->line, e, "%" PRId64 " occurs twice among the switches", id);
        import->is_switch[id] = true;
        import->is_nvswitch[id] = i < t->nvswitches;
    }
    return 0;
}

static int read_loss(struct reader *in, int64_t *per_billion, struct error *e)
{
    struct word word;
    bool whole = false;
    if (reader_expect(in, "the share of frames lost on the link", &word, e) != 0)
        return -1;
    if (decimal_parse(word.at, word.length, 9, per_billion, &whole) != 0 || !whole ||
        *per_billion > 1000000000)
        return reader_error(in, word.line, e,
                            "the share of frames lost is \"%.*s\": expected 0 to 1, in billionths",
                            (int)(word.length < 60 ? word.length : 60), word.at);
    return 0;
}

static int read_link(struct topology *t, struct import_link *link, struct error *e)
{
    int64_t a = 0, b = 0;
    struct word rate, delay;
    if (read_integer(t->in, "an end of the link", 0, t->nodes - 1, &a, e) != 0)
        return -1;
    unsigned line = t->in->line;
    if (read_integer(t->in, "the other end of the link", 0, t->nodes - 1, &b, e) != 0 ||
        reader_expect(t->in, "the rate of the link", &rate, e) != 0 ||
        word_rate(t->in, &rate, &link->rate_bps, e) != 0 ||
        reader_expect(t->in, "the delay of the link", &delay, e) != 0 ||
        word_time(t->in, &delay, &link->delay_ps, e) != 0 ||
        read_loss(t->in, &link->loss_per_billion, e) != 0)
        return -1;
    if (a == b)
        return reader_error(t->in, line, e, "both ends of the link are node %" PRId64, a);
    link->a = (uint32_t)a;
    link->b = (uint32_t)b;
    link->line = line;
    return 0;
}

/* An NVLink says which server a GPU is in. */
static int take_nvlink(const struct topology *t, struct import *import, const struct import_link *link,
                       struct error *e)
{
    uint32_t nvswitch = import->is_nvswitch[link->a] ? link->a : link->b, gpu = link->a ^ link->b ^ nvswitch;
    if (import->is_switch[gpu])
        return reader_error(t->in, link->line, e,
                            "a link between NVSwitch %u and switch %u: expected one with a GPU", nvswitch,
                            gpu);
    import->server[gpu] = gpu / (uint32_t)t->gpus_per_server + 1;
    return 0;
}

static int read_links(struct topology *t, struct import *import, struct error *e)
{
    for (int64_t i = 0; i < t->links; i++) {
        struct import_link link;
        if (read_link(t, &link, e) != 0)
            return -1;
        bool nvlink = import->is_nvswitch[link.a] || import->is_nvswitch[link.b];
        if ((nvlink && take_nvlink(t, import, &link, e) != 0) || import_add_link(import, &link, e) != 0)
            return -1;
    }
    return 0;
}

/* What thresholds refer to there: get_nic_rate() of third.cc. */
static void note_first_rate(struct import *import)
{
    uint32_t host = 0;
    while (host < import->nodes && import->is_switch[host])
        host++;
    for (size_t i = 0; !import->first_bps && i < import->link_count; i++)
        if (import->links[i].a == host || import->links[i].b == host)
            import->first_bps = import->links[i].rate_bps;
}

static int read_topology(struct topology *t, struct import *import, struct error *e)
{
    if (read_counts(t, e) != 0)
        return -1;
    if (t->kind != HPCC)
        import->format = t->kind == SIMAI ? "SimAI" : "ns3-datacenter";
    if (import_nodes(import, (size_t)t->nodes, e) != 0)
        return -1;
    if (read_switches(t, import, e) != 0 || read_links(t, import, e) != 0 ||
        import_check_network(import, t->in, e) != 0)
        return -1;
    note_first_rate(import);
    if (reader_has_more(t->in))
        import_note(import, "%s: what follows the last link, on line %u, is not read", t->in->path,
                    t->in->line);
    return 0;
}

/* ---- FLOW */

static int read_start(struct reader *in, int64_t *ns, struct error *e)
{
    struct word word;
    bool whole = false;
    if (reader_expect(in, "the start of the flow", &word, e) != 0)
        return -1;
    if (decimal_parse(word.at, word.length, 9, ns, &whole) != 0 || !whole || *ns > INT64_C(86400000000000))
        return reader_error(in, word.line, e,
                            "the start is \"%.*s\": expected seconds, at most 86400, in whole nanoseconds",
                            (int)(word.length < 60 ? word.length : 60), word.at);
    return 0;
}

static int read_host(struct reader *in, const char *what, const struct import *import, int64_t *id,
                     struct error *e)
{
    if (read_integer(in, what, 0, (int64_t)import->nodes - 1, id, e) != 0)
        return -1;
    if (import->is_switch[*id])
        return reader_error(in, in->line, e, "%s is node %" PRId64 ", which is a switch: expected a host",
                            what, *id);
    return 0;
}

/* Each flow's UDP port takes part in the choice among equal paths; a lab has one. */
static void take_port(struct import *import, int64_t port, size_t *others)
{
    if (!import->udp_port)
        import->udp_port = port;
    *others += port != import->udp_port;
}

/* The words of the next line that has any. */
static int words_ahead(const struct reader *in)
{
    struct reader ahead = *in;
    struct word word;
    int words = 0;
    while (!reader_word_in_line(&ahead, &word))
        if (!reader_next_line(&ahead))
            return 0;
    do
        words++;
    while (reader_word_in_line(&ahead, &word));
    return words;
}

#define FLOW_WORDS     6
#define FLOW_WORDS_FEW 5 /* ConWeave's */

/* Whose flows these are, by the first of them. Forks have further words, which would be taken for the next
 * flow's: several flows in a line, or a flow in several, are all right. */
static int find_flow_kind(struct reader *in, struct topology *t, struct import *import, struct error *e)
{
    int words = words_ahead(in);
    t->flow_words = words == FLOW_WORDS || words == FLOW_WORDS_FEW ? words : 0;
    if (words == FLOW_WORDS_FEW)
        import->format = "ConWeave's simulator";
    if (words > FLOW_WORDS && words % FLOW_WORDS) {
        return reader_error(in, in->line + 1, e,
                            "%d words: expected 6 of a flow (sender, receiver, priority, UDP port, bytes, "
                            "start), or 5 of ConWeave's, which have no port",
                            words);
    }
    return 0;
}

/* A flow that has fewer or more words than those before it. */
static int check_flow_words(const struct reader *in, const struct topology *t, struct error *e)
{
    int words = t->flow_words ? words_ahead(in) : 0;
    return words == t->flow_words || !words
               ? 0
               : reader_error(in, in->line + 1, e, "%d words: expected %d, as the first flow has", words,
                              t->flow_words);
}

static int read_flow(struct reader *in, const struct topology *t, struct import *import, size_t *others,
                     struct error *e)
{
    const int64_t most = t->kind >= DATACENTER ? MOST_LONG_FLOW_BYTES : MOST_FLOW_BYTES;
    struct import_flow flow = {0};
    int64_t from = 0, to = 0, priority = 0, port = 0;
    if (read_host(in, "the sender", import, &from, e) != 0)
        return -1;
    flow.line = in->line;
    if (read_host(in, "the receiver", import, &to, e) != 0 ||
        read_integer(in, "the priority", 0, 7, &priority, e) != 0 ||
        (t->flow_words != FLOW_WORDS_FEW && read_integer(in, "the UDP port", 1, 65535, &port, e) != 0) ||
        read_integer(in, "the size in bytes", 1, most, &flow.bytes, e) != 0 ||
        read_start(in, &flow.start_ns, e) != 0)
        return -1;
    if (from == to)
        return reader_error(in, flow.line, e, "host %" PRId64 " sends to itself", from);
    if (port)
        take_port(import, port, others);
    flow.from = (uint32_t)from;
    flow.to = (uint32_t)to;
    flow.priority = (int)priority;
    flow.udp_port = (uint16_t)port;
    return import_add_flow(import, &flow, e);
}

static int read_flows(struct reader *in, struct topology *t, struct import *import, struct error *e)
{
    int64_t count = 0;
    size_t others = 0;
    if (read_integer(in, "the number of flows", 1, IMPORT_MOST_FLOWS, &count, e) != 0 ||
        find_flow_kind(in, t, import, e) != 0)
        return -1;
    for (int64_t i = 0; i < count; i++) {
        if (check_flow_words(in, t, e) != 0 || read_flow(in, t, import, &others, e) != 0)
            return -1;
        const struct import_flow *flow = &import->flows[i];
        if (i > 0 && flow->start_ns < flow[-1].start_ns)
            return reader_error(in, flow->line, e,
                                "the flow starts before the one above it: %s expects them in order of start",
                                import->format);
    }
    if (others)
        import_note(import,
                    "%s: %zu %s another UDP port than the first, %" PRId64
                    ", which all have here: the choice among equal paths may differ",
                    in->path, others, others == 1 ? "flow has" : "flows have", import->udp_port);
    if (reader_has_more(in))
        import_note(import, "%s: what follows the last of %" PRId64 " flows, on line %u, is not read",
                    in->path, count, in->line);
    return import_take_ports(import, in, e);
}

/* Nothing happens before the first flow: HPCC's own cases begin at 2 s. */
static void move_starts(struct import *import)
{
    int64_t first_ns = import->begin_ns = import->flows[0].start_ns;
    for (size_t i = 0; i < import->flow_count; i++)
        import->flows[i].start_ns -= first_ns;
    if (first_ns)
        import_note(import, "flows start %" PRId64 " ns earlier than in %s: the first starts at 0", first_ns,
                    import->flow_path);
}

/* ---- TRACE */

static int read_trace(struct reader *in, struct import *import, struct error *e)
{
    int64_t count = 0, id = 0, beyond = 0, left_out = 0;
    if (read_integer(in, "the number of nodes", 0, IMPORT_MOST_NODES, &count, e) != 0)
        return -1;
    for (int64_t i = 0; i < count; i++) {
        if (read_integer(in, "a node that is sampled", 0, UINT32_MAX, &id, e) != 0)
            return -1;
        if (id >= (int64_t)import->nodes)
            beyond++;
        else if (import->left_out[id])
            left_out++;
        else
            import->sampled[id] = true;
    }
    if (count > beyond + left_out)
        import_note(import,
                    "%s: its %" PRId64 " nodes are sampled by counters; single packets are not recorded",
                    in->path, count - beyond - left_out);
    if (beyond)
        import_note(import,
                    "%s: %" PRId64 " numbers are above those of %s, 0 to %zu: they are left out, as the HPCC "
                    "simulator does",
                    in->path, beyond, import->network_path, import->nodes - 1);
    if (left_out)
        import_note(import, "%s: %" PRId64 " %s left out", in->path, left_out,
                    left_out == 1 ? "node is an NVSwitch, which is" : "nodes are NVSwitches, which are");
    if (reader_has_more(in))
        import_note(import, "%s: what follows the last node, on line %u, is not read", in->path, in->line);
    return 0;
}

/* ---- the whole */

/* ECMP hashes 11.0.n.1 of host n and the switch's number: the lab has to say so unless it counts its nodes
 * likewise. */
static bool has_own_numbers(const struct import *import)
{
    size_t i = 0;
    while (i < import->nodes && !import->is_switch[i] && !import->left_out[i] &&
           import->ports[i] + import->nvlinks[i] <= 1)
        i++;
    while (i < import->nodes && import->is_switch[i] && !import->left_out[i])
        i++;
    return i < import->nodes;
}

int import_hpcc(struct reader files[3], struct import *import, struct error *e)
{
    struct topology t = {.in = &files[0]};
    if (import_begin(import, "the HPCC simulator", e) != 0)
        return -1;
    import->network_path = files[0].path;
    import->flow_path = files[1].path;
    int result = read_topology(&t, import, e) != 0 || read_flows(&files[1], &t, import, e) != 0 ||
                         (files[2].text && read_trace(&files[2], import, e) != 0)
                     ? -1
                     : 0;
    if (result == 0) {
        move_starts(import);
        import->own_numbers = has_own_numbers(import);
    }
    if (result != 0)
        import_free(import);
    return result;
}
