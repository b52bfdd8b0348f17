/*
 * Faults that a host's packet filter has as frames arrive: nft's table of the run, of the family netdev, which no other program's tables
 * see. What is to come later or twice goes to a veth whose other end is a port of the bridge, with netem on it; no queueing discipline of
 * the host's own interfaces is touched.
 */
#include "harness/labs/hosts/faults/means.h"

#include "harness/labs/hosts/faults/rules_filter.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/words.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* Run a script with the table as its input. Its words: $1, the RDMA device of a host that is no bridge; $2, "NAME=MICROSECONDS" of each
 * way into the bridge; the ports. */
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

static int find(struct remote_host *h, const struct host_faults *f, struct error *e)
{
    return run_script(h, f, find_script, e);
}

/* ---- the run */

/* The other end of a way into the bridge is a port that learns nothing and gets nothing that is for all. Its address is too large to become
 * the bridge's. */
static const char begin_script[] = TOOLS FAIL LEFT
    "detours=$2; shift 2; names=; bridge=; "
    "for detour in $detours; do names=\"$names ${detour%=*}\"; done; "
    "if [ -n \"$detours\" ]; then for port; do "
    "over=$(readlink \"/sys/class/net/$port/master\") && over=${over##*/} && [ -d "
    "\"/sys/class/net/$over/bridge\" ] || "
    "fail \"$port is no port of a Linux bridge, through which frames come later or twice\"; "
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

static int begin(struct remote_host *h, const struct host_faults *f, struct error *e)
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

static int take_counts(const struct remote_host *h, struct host_faults *f, const struct text *out,
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

static int end(struct remote_host *h, struct host_faults *f, struct error *e)
{
    static const char script[] = TOOLS FAIL LEFT OFF("nft -j list counters table " TABLE "; ");
    static const char *const argv[] = {"sh", "-c", script, NULL};
    struct text out = {0};
    int result = ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    if (result == 0 && out.length)
        result = take_counts(h, f, &out, e);
    text_free(&out);
    return result;
}

static int restore(struct remote_host *h, struct error *e)
{
    return faults_ask(h, TOOLS FAIL LEFT OFF("") " && echo restored", e);
}

const struct fault_means fault_means_filter = {.filter = true,
                                               .find = find,
                                               .begin = begin,
                                               .end = end,
                                               .restore = restore,
                                               .ended = "the faults of its packet filter"};
