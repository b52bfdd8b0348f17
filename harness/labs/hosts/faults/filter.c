/*
 * Faults that the packet filter of a Linux host has as frames arrive at its ports: nft's table of the run,
 * of the family netdev, hook ingress, which no other program's tables see. The host is a bridge between
 * the ends of a flow, or receives the frames itself and has Soft-RoCE, whose packets come through the
 * kernel. What is to come later or twice goes to a veth whose other end is a port of the bridge, with
 * netem on it; no queueing discipline of the host's own interfaces is touched.
 */
#include "harness/labs/hosts/faults/means.h"

#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/packets/frame.h"
#include "lib/packets/opcode.h"
#include "lib/words.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The table of a run on a host. The counters of rule i are seenI and metI (I from 0); its way into the
 * bridge begins at the interface FAULT_DETOUR I. */
#define FAULT_TABLE  "harness_inject"
#define FAULT_DETOUR "inject"

#define NUMBERS \
    4294967295u /* the largest modulus of nft's numgen: values below it, one after the other or at random */
/* Bits from the beginning of the UDP header: of the base transport header its opcode and the byte with
 * seven reserved bits, which the ICRC covers; the syndrome of the ACK header behind it. */
#define AT_OPCODE   "@th,64,8"
#define AT_RESERVED "@th,128,8"
#define AT_SYNDROME "@th,160,8"

/* ---- what a filter cannot do */

static int check_action(const struct fault_request *q, bool bridge, struct error *e)
{
    const struct injection_rule *r = q->rule;
    const char *name = injection_action_name(r);
    if (r->action > INJECT_DUPLICATE)
        return error_set(e,
                         "%s.do: \"%s\" is simulated only: a host's packet filter drops, corrupts and marks "
                         "frames, that of a bridge delays and duplicates them too",
                         q->path, name);
    if (!bridge && (r->action == INJECT_DELAY || r->action == INJECT_DUPLICATE))
        return error_set(e,
                         "%s.do: to \"%s\" takes a Linux bridge between the hosts: %s itself drops, corrupts "
                         "and marks the frames that it receives",
                         q->path, name, q->destination->name);
    if (r->packet == INJECT_PFC)
        return error_set(e,
                         "%s.packet: PFC frames pass neither a bridge nor a packet filter: simulated labs "
                         "and virtual ConnectX have such faults",
                         q->path);
    if (r->priority != FIELD_UNSET)
        return error_set(e, "%s.priority: frames of a priority are simulated only: leave it out", q->path);
    if (r->delay_ns != FIELD_UNSET && r->delay_ns % NS_PER_US != 0)
        return error_set(e, "%s.delay: netem delays by whole microseconds: found %" PRId64 " ns", q->path,
                         r->delay_ns);
    return 0;
}

static int check_choice(const struct fault_request *q, struct error *e)
{
    const struct injection_rule *r = q->rule;
    struct injection_choice choice = injection_choice(r);
    int64_t most = choice.first > choice.every ? choice.first : choice.every;
    if (r->count != FIELD_UNSET && r->count > most)
        most = r->count;
    if (r->phase != 0 || r->start_ns != 0 || r->stop_ns != FIELD_UNSET)
        return error_set(e,
                         "%s: a packet filter knows no times of a run: leave out \"phase\", \"start\" and "
                         "\"stop\"; frames are counted from the first one on",
                         q->path);
    if (most > FAULT_MOST_FRAMES)
        return error_set(e, "%s: a packet filter counts to %d: found %" PRId64, q->path, FAULT_MOST_FRAMES,
                         most);
    if (!isnan(r->probability) && r->probability * NUMBERS < 1)
        return error_set(e,
                         "%s.probability: a packet filter draws frames with a probability of at least "
                         "2.4e-10: found %g",
                         q->path, r->probability);
    return 0;
}

/* Addresses tell hosts apart, nothing tells apart the flows of two hosts. */
static int check_alone(const struct fault_request *q, struct error *e)
{
    const char *other = fault_other_flow(q, q->destination);
    if (other)
        return error_set(e,
                         "%s.flow: a packet filter does not tell apart flows of the same hosts, and %s "
                         "sends such packets of flow \"%.80s\" to %s too: give \"link\"",
                         q->path, q->from, other, q->to);
    return 0;
}

/* ---- which frames */

/* What the packets of an operation are to `inject`. */
static int packet_kind(uint8_t opcode)
{
    if (opcode == OPCODE_CNP)
        return INJECT_CNP;
    if (OPCODE_OPERATION(opcode) == OPCODE_READ_REQUEST)
        return INJECT_READ_REQUEST;
    return OPCODE_OPERATION(opcode) == OPCODE_ACKNOWLEDGE ? INJECT_ACK : INJECT_DATA;
}

static bool is_kind(unsigned opcode, int kind)
{
    return opcode < 256 && opcode_find((uint8_t)opcode) && packet_kind((uint8_t)opcode) == kind;
}

static void write_packet(int packet, struct text *line)
{
    int kind = packet == INJECT_NAK ? INJECT_ACK : packet;
    const char *between = "";
    text_add(line, "udp dport %d " AT_OPCODE " { ", FRAME_ROCE_PORT);
    for (unsigned first = 0, next; first < 256; first = next + 1) {
        for (next = first; is_kind(next, kind); next++)
            ;
        if (next == first)
            continue;
        text_add(line, "%s0x%02x", between, first);
        if (next > first + 1)
            text_add(line, "-0x%02x", next - 1);
        between = ", ";
    }
    text_add(line, " }");
    if (kind == INJECT_ACK)
        text_add(line, " " AT_SYNDROME " & 0x60 %s 0", packet == INJECT_NAK ? "!=" : "==");
}

/* The flows' address of a host, which may be the filter's own or a bridge: then nothing is added. */
static int write_address(const struct fault_request *q, const struct lab_host *host, const char *side,
                         int *family, struct text *line, struct error *e)
{
    const char *said = lab_flow_address(&host->nic);
    char plain[INET6_ADDRSTRLEN], shown[INET6_ADDRSTRLEN];
    uint8_t bytes[16];
    int of = said && strchr(said, ':') ? AF_INET6 : AF_INET;
    if (host->extra_nics.count)
        return 0;
    snprintf(plain, sizeof plain, "%.*s", said ? (int)strcspn(said, "/") : 0, said ? said : "");
    if (inet_pton(of, plain, bytes) != 1 || !inet_ntop(of, bytes, shown, sizeof shown))
        return error_set(e,
                         "%s: a packet filter knows frames by their addresses: host %s of lab %s has no "
                         "nic.address",
                         q->path, host->name, q->lab->name);
    if (*family && *family != of)
        return error_set(e, "%s: host %s of lab %s has an address of another family than its peer", q->path,
                         host->name, q->lab->name);
    *family = of;
    text_add(line, "%s %s %s ", of == AF_INET ? "ip" : "ip6", side, shown);
    return 0;
}

static void write_choice(const struct injection_rule *r, struct text *line)
{
    struct injection_choice choice = injection_choice(r);
    double below =
        round(r->probability * NUMBERS); /* of a probability of 1 or nearly so, nft takes no comparison */
    if (!isnan(below) && below < NUMBERS)
        text_add(line, "numgen random mod %u < %.0f ", NUMBERS, below);
    if (choice.first > 1)
        text_add(line, "numgen inc mod %u >= %" PRId64 " ", NUMBERS, choice.first - 1);
    if (choice.every > 1)
        text_add(line, "numgen inc mod %" PRId64 " == 0 ", choice.every);
    if (choice.most <= FAULT_MOST_FRAMES)
        text_add(line, "numgen inc mod %u < %" PRId64 " ", NUMBERS, choice.most);
}

/* ---- what happens to them */

static void write_action(const struct fault_request *q, int family, struct text *line)
{
    switch ((enum injection_action)q->rule->action) {
    case INJECT_CORRUPT:
        text_add(line, AT_RESERVED " set " AT_RESERVED " ^ 0x01");
        break;
    case INJECT_MARK:
        text_add(line, "%s ecn set ce", family == AF_INET ? "ip" : "ip6");
        break;
    case INJECT_DELAY:
        text_add(line, "fwd to \"" FAULT_DETOUR "%zu\"", q->i);
        break;
    case INJECT_DUPLICATE:
        text_add(line, "dup to \"" FAULT_DETOUR "%zu\"", q->i);
        break;
    default:
        text_add(line, "drop");
    }
}

static int make_filter_fault(const struct fault_request *q, const struct lab_host *host, struct fault *fault,
                             struct error *e)
{
    const struct injection_rule *r = q->rule;
    int family = 0;
    fault->host = host;
    fault->filter = true;
    fault->detour = r->action == INJECT_DELAY || r->action == INJECT_DUPLICATE;
    fault->delay_ns = r->delay_ns == FIELD_UNSET ? 0 : r->delay_ns;
    if (check_action(q, host != q->destination || host->extra_nics.count > 0, e) != 0 ||
        check_choice(q, e) != 0 || check_alone(q, e) != 0 ||
        write_address(q, q->source, "saddr", &family, &fault->line, e) != 0 ||
        write_address(q, q->destination, "daddr", &family, &fault->line, e) != 0)
        return -1;
    if (!family)
        return error_set(e,
                         "%s.link: %s and %s both forward: a packet filter knows frames by the address of a "
                         "host at an end of the link",
                         q->path, q->from, q->to);
    write_packet(r->packet, &fault->line);
    text_add(&fault->line, " counter name \"seen%zu\" ", q->i);
    write_choice(r, &fault->line);
    text_add(&fault->line, "counter name \"met%zu\" ", q->i);
    write_action(q, family, &fault->line);
    return 0;
}

/* It names the interfaces that are the run's. */
#define LEFT  "left=" FAULTS_LEFT_FILTER "; "
#define TOOLS "export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin; "
#define FAIL  "fail() { echo \"$*\" >&2; exit 1; }; "
#define TABLE "netdev " FAULT_TABLE

/* ---- the table, as nft reads it */

/* Names of interfaces are the host's: the kernel lets them have signs that nft does not take. */
static int add_ports(const struct remote_host *h, struct text *table, struct error *e)
{
    for (size_t i = 0; i <= h->lab->extra_nics.count && i <= REMOTE_EXTRA_NICS; i++) {
        const char *port = i == 0 ? h->netdev : h->extra[i - 1];
        if (port[strspn(port, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:@-")])
            return error_set(e, "host %s: interface \"%s\" has a name that nft does not take", h->lab->name,
                             port);
        text_add(table, "%s \"%s\"", i == 0 ? "" : ",", port);
    }
    return 0;
}

static int make_table(const struct remote_host *h, const struct host_faults *f, struct text *table,
                      struct error *e)
{
    text_add(table, "table " TABLE " {\n");
    for (size_t i = 0; i < f->count; i++)
        if (fault_is_of(&f->rules[i], h, true))
            text_add(table, "  counter seen%zu { }\n  counter met%zu { }\n", i, i);
    text_add(table, "  chain arriving {\n    type filter hook ingress devices = {");
    if (add_ports(h, table, e) != 0)
        return -1;
    text_add(table, " } priority 0; policy accept;\n");
    for (size_t i = 0; i < f->count; i++)
        if (fault_is_of(&f->rules[i], h, true))
            text_add(table, "    %s\n", text_string(&f->rules[i].fault.line));
    text_add(table, "  }\n}\n");
    return table->failed ? error_set(e, "out of memory") : 0;
}

/* Run a script with the table as its input. Its words: $1, the RDMA device of a host that is not a bridge;
 * $2, "NAME=MICROSECONDS" of each way into the bridge; the ports. */
static int run_script(struct remote_host *h, const struct host_faults *f, const char *script, struct error *e)
{
    struct text table = {0}, detours = {0};
    struct words w = {0};
    const char *rdma = h->lab->extra_nics.count ? "" : h->rdma ? h->rdma : "none";
    for (size_t i = 0; i < f->count; i++)
        if (fault_is_of(&f->rules[i], h, true) && f->rules[i].fault.detour)
            text_add(&detours, "%s" FAULT_DETOUR "%zu=%lld", detours.length ? " " : "", i,
                     f->rules[i].fault.delay_ns / NS_PER_US);
    words_add_all(
        &w, (const char *const[]){"sh", "-c", script, "sh", rdma, text_string(&detours), h->netdev, NULL});
    for (size_t i = 0; i < h->lab->extra_nics.count && i < REMOTE_EXTRA_NICS; i++)
        words_add(&w, "%s", h->extra[i]);
    int result =
        words_whole(&w, e) != 0 || make_table(h, f, &table, e) != 0
            ? -1
            : ssh_must(h->ssh, (const char *const *)w.items, text_string(&table), NULL, REMOTE_COMMAND_NS, e);
    words_free(&w);
    text_free(&table);
    text_free(&detours);
    return result;
}

/* ---- before the run */

/* The kernel checks the table without taking it; netem is tried in a network of its own. */
static const char find_script[] = TOOLS FAIL LEFT
    "rdma=$1; detours=$2; port=$3; "
    "[ ! -e $left ] || fail 'faults of an earlier run are still there: harness restore ends them'; "
    "command -v nft > /dev/null || fail 'nft is not there, which has such faults: install nftables'; "
    "[ -z \"$rdma\" ] || [ -e \"/sys/class/infiniband/$rdma/parent\" ] || "
    "fail \"RDMA device of $port: $rdma is not Soft-RoCE, and packets of others do not come through the "
    "kernel: only a "
    "virtual ConnectX, Soft-RoCE and a Linux bridge have such faults\"; "
    "said=$(nft -j list tables 2>&1) || fail \"nft -j list tables: $(echo \"$said\" | head -n 1)\"; "
    "nft list table " TABLE " > /dev/null 2>&1 && "
    "fail 'there is a table that no run has left: nft delete table " TABLE "'; "
    "said=$(sed 's/ to \"" FAULT_DETOUR "[0-9]*\"$/ to \"'\"$port\"'\"/' | nft -c -f - 2>&1) || "
    "fail \"nft or the kernel cannot have these faults (they take nf_tables with the family netdev, "
    "nft_numgen, nft_fwd_netdev and "
    "nft_dup_netdev): $(echo \"$said\" | head -n 1)\"; "
    "[ -n \"$detours\" ] || exit 0; "
    "for tool in tc ip unshare; do command -v $tool > /dev/null || fail \"$tool is not there: install "
    "iproute2 (iproute) and "
    "util-linux\"; done; "
    "for detour in $detours; do [ ! -e \"/sys/class/net/${detour%=*}\" ] || "
    "fail \"there is an interface ${detour%=*} that no run has left: ip link delete ${detour%=*}\"; done; "
    "said=$(unshare --net ip link add x0 type veth peer name x1 2>&1) || "
    "fail \"the kernel has no veth: $(echo \"$said\" | head -n 1)\"; "
    "case $detours in *=[1-9]*) ;; *) exit 0;; esac; "
    "said=$(unshare --net sh -c 'ip link add x0 type veth peer name x1 && tc qdisc add dev x0 root netem "
    "delay 1ms' 2>&1) || "
    "fail \"the kernel has no netem, which delays frames (sch_netem; on Rocky in kernel-modules-extra): "
    "$(echo \"$said\" | head -n 1)\"";

static int filter_find(struct remote_host *h, const struct host_faults *f, struct error *e)
{
    return run_script(h, f, find_script, e);
}

/* ---- the run */

/* The other end of a way into the bridge is a port that learns nothing and gets nothing that is for all.
 * Its address is too large to become the bridge's. */
static const char begin_script[] = TOOLS FAIL LEFT
    "detours=$2; shift 2; names=; bridge=; "
    "for detour in $detours; do names=\"$names ${detour%=*}\"; done; "
    "if [ -n \"$detours\" ]; then for port; do "
    "over=$(readlink \"/sys/class/net/$port/master\") && over=${over##*/} && [ -d "
    "\"/sys/class/net/$over/bridge\" ] || "
    "fail \"$port is not a port of a Linux bridge, through which frames come later or twice\"; "
    "[ \"${bridge:-$over}\" = \"$over\" ] || fail \"$port is a port of $over, others are of $bridge\"; "
    "bridge=$over; done; "
    "for what in stp_state vlan_filtering; do file=/sys/class/net/$bridge/bridge/$what; "
    "[ ! -e \"$file\" ] || [ \"$(cat \"$file\")\" = 0 ] || "
    "fail \"bridge $bridge has $what on: frames that come later or twice would not pass it: turn it off\"; "
    "done; fi; "
    "echo \"$names\" > $left.new && mv $left.new $left || exit 1; "
    "n=0; for detour in $detours; do name=${detour%=*}; us=${detour#*=}; n=$((n + 1)); "
    "ip link add \"$name\" mtu 65535 address fe:ff:ff:ff:00:$(printf %02x $n) type veth "
    "peer name \"$name-out\" mtu 65535 address fe:ff:ff:ff:01:$(printf %02x $n) || exit 1; "
    "for end in \"$name\" \"$name-out\"; do v6=/proc/sys/net/ipv6/conf/$end/disable_ipv6; [ ! -e \"$v6\" ] "
    "|| echo 1 > \"$v6\"; done; "
    "ip link set \"$name-out\" master \"$bridge\" && "
    "ip link set \"$name-out\" type bridge_slave learning off flood off mcast_flood off bcast_flood off || "
    "exit 1; "
    "[ \"$us\" = 0 ] || tc qdisc add dev \"$name\" root netem limit 100000 delay \"${us}us\" || exit 1; "
    "ip link set \"$name-out\" up && ip link set \"$name\" up || exit 1; tries=0; "
    "until [ \"$(cat \"/sys/class/net/$name-out/brport/state\")\" = 3 ]; do tries=$((tries + 1)); "
    "[ $tries -le 100 ] || fail \"$name-out does not forward after 10 s\"; sleep 0.1; done; done; "
    "said=$(nft -f - 2>&1) || fail \"nft: $(echo \"$said\" | head -n 1)\"";

static int filter_begin(struct remote_host *h, const struct host_faults *f, struct error *e)
{
    return run_script(h, f, begin_script, e);
}

/* ---- the end */

/* Nothing is removed that the record does not name. */
#define OFF(AND)                                                                                           \
    "[ -e $left ] || exit 0; "                                                                             \
    "command -v nft > /dev/null || fail 'nft is not there any more, which ends such faults: install "      \
    "nftables'; "                                                                                          \
    "if nft list table " TABLE " > /dev/null 2>&1; then " AND "nft delete table " TABLE " || exit 1; fi; " \
    "for name in $(cat $left); do case $name in " FAULT_DETOUR "[0-9]|" FAULT_DETOUR "1[0-9]) "            \
    "[ ! -e /sys/class/net/$name ] || ip link delete $name || exit 1;; esac; done; rm $left"

/* The packets of a counter in nft's answer. -1: it is not there. */
static int64_t packets_of(const json_t *answer, const char *name, size_t i)
{
    char wanted[32];
    size_t k;
    json_t *object;
    snprintf(wanted, sizeof wanted, "%s%zu", name, i);
    json_array_foreach(json_object_get(answer, "nftables"), k, object)
    {
        const json_t *counter = json_object_get(object, "counter"),
                     *packets = json_object_get(counter, "packets");
        const char *found = json_string_value(json_object_get(counter, "name"));
        if (found && strcmp(found, wanted) == 0 && json_is_integer(packets))
            return json_integer_value(packets);
    }
    return -1;
}

static int read_counts(const struct remote_host *h, struct host_faults *f, const struct text *out,
                       struct error *e)
{
    json_t *answer = json_file_parse(text_string(out), out->length, "nft", DOCUMENT_ANSWER, e);
    for (size_t i = 0; answer && i < f->count; i++) {
        struct fault_rule *rule = &f->rules[i];
        if (!fault_is_of(rule, h, true))
            continue;
        rule->seen = packets_of(answer, "seen", i);
        rule->met = packets_of(answer, "met", i);
        rule->counted = rule->seen >= 0 && rule->met >= 0;
    }
    json_decref(answer);
    return answer ? 0 : -1;
}

static int filter_end(struct remote_host *h, struct host_faults *f, struct error *e)
{
    static const char script[] = TOOLS FAIL LEFT OFF("nft -j list counters table " TABLE "; ");
    static const char *const argv[] = {"sh", "-c", script, NULL};
    struct text out = {0};
    int result = ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    if (result == 0 && out.length)
        result = read_counts(h, f, &out, e);
    text_free(&out);
    return result;
}

static int filter_restore(struct remote_host *h, struct error *e)
{
    return faults_ask(h, TOOLS FAIL LEFT OFF("") " && echo restored", e);
}

const struct fault_means fault_means_filter = {.filter = true,
                                               .make = make_filter_fault,
                                               .find = filter_find,
                                               .begin = filter_begin,
                                               .end = filter_end,
                                               .restore = filter_restore,
                                               .ended = "the faults of its packet filter"};
