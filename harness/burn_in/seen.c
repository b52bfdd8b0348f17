#include "harness/burn_in/seen.h"

#include "harness/compare/compare.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/sweep_index.h"
#include "lib/physics/fabric.h"
#include "lib/physics/host.h"
#include "reports/results/run.h"
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- the lab */

json_t *burn_in_seen(const struct lab *lab)
{
    json_t *nodes = json_object(), *links = json_array(), *switches = json_array(), *seen;
    const struct lab_link *link;
    bool marks = !lab_kind(lab)->simulated;
    for (size_t i = 0; i < lab_node_count(lab); i++) {
        const struct lab_host *real = lab_host_at(lab, i);
        if (i >= lab->hosts.count || (real && lab_forwards(real))) {
            json_array_append_new(switches, json_text(lab_node_name(lab, i)));
            continue;
        }
        const char *nic = lab_nic_name(lab, i);
        json_put(nodes, lab_node_name(lab, i),
                 json_make("{s:s,s:s}", "machine", lab_machine_name(lab, i), "nic", nic ? nic : ""));
    }
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        json_t *one = json_make("{s:s,s:s}", "a", ends[0], "b", ends[1]);
        if (link->rate_bps != FIELD_UNSET)
            json_object_set_new(one, "bps", json_integer((json_int_t)link->rate_bps));
        json_array_append_new(links, one);
    }
    for (size_t i = 0; !marks && i < lab->switches.count; i++)
        marks = lab_switch_at(lab, i)->ecn.kmax_bytes > 0;
    seen = json_make("{s:o,s:o,s:o,s:b,s:[],s:{},s:[],s:{}}", "nodes", nodes, "links", links, "switches",
                     switches, "simulated", lab_kind(lab)->simulated, "runs", "facts", "untested", "failed");
    if (!marks)
        json_object_set_new(seen, "marks", json_false());
    return seen;
}

/* ---- facts of hosts */

/* Has the NIC a GID of the address, "10.0.0.1/24"? */
static bool has_gid(const json_t *nic, const char *address)
{
    const json_t *gid;
    size_t i, length = address ? strcspn(address, "/") : 0;
    if (!address)
        return false;
    json_array_foreach(length ? json_object_get(json_object_get(nic, "rdma"), "gids") : NULL, i, gid)
    {
        const char *has = run_member(gid, "address");
        size_t at = strlen(has) > length ? strlen(has) - length : 0;
        if (strlen(has) >= length && strncmp(has + at, address, length) == 0 &&
            (at == 0 || has[at - 1] == ':'))
            return true;
    }
    return false;
}

/* The NIC that the lab means, in host-facts' document; NULL: it is not known. */
static const json_t *nic_of_facts(const json_t *facts, const struct lab_host *host)
{
    const json_t *nics = json_object_get(facts, "nics"), *nic;
    const char *netdev = host ? host->nic.netdev : NULL, *mac = host ? host->nic.mac : NULL;
    size_t i;
    json_array_foreach(nics, i, nic)
    {
        if ((netdev && strcmp(run_member(nic, "netdev"), netdev) == 0) ||
            (mac && strcmp(run_member(nic, "mac"), mac) == 0) || (host && has_gid(nic, host->nic.address)))
            return nic;
    }
    return json_array_size(nics) == 1 ? json_array_get(nics, 0) : NULL;
}

/* The relations of a NIC to GPUs: by their numbers, and "nearest". */
static void see_relations(json_t *node, const json_t *facts, const json_t *nic)
{
    static const char *const order[] = {"PIX", "PXB", "PHB", "NODE", "SYS", NULL};
    const char *address = run_member(json_object_get(nic, "pci"), "address");
    const json_t *pair, *gpu;
    json_t *relations = json_object();
    size_t i, k, nearest = 5;
    json_array_foreach(*address ? json_object_get(facts, "pairs") : NULL, i, pair)
    {
        const char *relation = run_member(pair, "relation");
        if (strcmp(run_member(pair, "nic"), address) != 0)
            continue;
        for (k = 0; k < nearest; k++)
            if (strcmp(relation, order[k]) == 0)
                nearest = k;
        json_array_foreach(json_object_get(facts, "gpus"), k, gpu)
        {
            const json_t *index = json_object_get(gpu, "index");
            char number[24];
            snprintf(number, sizeof number, "%lld", (long long)json_integer_value(index));
            if (json_is_integer(index) &&
                strcmp(run_member(json_object_get(gpu, "pci"), "address"), run_member(pair, "gpu")) == 0)
                json_object_set_new(relations, number, json_text(relation));
        }
    }
    if (order[nearest])
        json_object_set_new(node, "relation", json_text(order[nearest]));
    if (json_object_size(relations))
        json_object_set(node, "relations", relations);
    json_decref(relations);
}

static void put_number(json_t *into, const char *netdev, const char *what, const json_t *value)
{
    struct text key = {0};
    text_add(&key, "%s %s", netdev, what);
    if (json_is_integer(value))
        json_put(into, text_string(&key), json_textf("%lld", (long long)json_integer_value(value)));
    text_free(&key);
}

/* Versions, lanes and speeds: what hosts that are alike have alike. */
static void see_facts(json_t *seen, const char *machine, const json_t *facts)
{
    json_t *of = json_object(), *versions = compare_versions_of(facts), *value;
    const char *name;
    const json_t *nic;
    size_t i;
    json_object_foreach(versions, name, value)
    {
        char *shown = json_bare(value);
        if (shown)
            json_put(of, name, json_text(shown));
        free(shown);
    }
    json_array_foreach(json_object_get(facts, "nics"), i, nic)
    {
        const json_t *link = json_object_get(json_object_get(nic, "pci"), "link");
        const char *netdev = run_member(nic, "netdev");
        put_number(of, netdev, "PCIe lanes", json_object_get(link, "width_lanes"));
        put_number(of, netdev, "PCIe speed in MT/s", json_object_get(link, "speed_MTps"));
        put_number(of, netdev, "speed in Mb/s", json_object_get(nic, "speed_Mbps"));
        put_number(of, netdev, "MTU", json_object_get(nic, "mtu_bytes"));
    }
    if (json_object_size(of))
        json_put(json_object_get(seen, "facts"), machine, json_incref(of));
    json_decref(versions);
    json_decref(of);
}

static void see_node(json_t *seen, const char *name, const json_t *host, const struct lab *lab)
{
    json_t *node = json_object_get(json_object_get(seen, "nodes"), name);
    const json_t *facts = json_object_get(host, "facts");
    int place = lab_node_index(lab, name);
    const struct lab_host *real = place < 0 ? NULL : lab_host_at(lab, (size_t)place);
    const json_t *nic = nic_of_facts(facts, real);
    if (!node || json_object_get(node, "class"))
        return;
    json_object_set_new(node, "class",
                        json_text(nic ? run_member(json_object_get(nic, "pci"), "id")
                                      : run_member(json_object_get(facts, "nic"), "model")));
    if (*run_member(host, "origin"))
        json_object_set_new(node, "origin", json_text(run_member(host, "origin")));
    if (json_integer_value(json_object_get(nic, "speed_Mbps")) > 0)
        json_object_set_new(node, "line_bps",
                            json_integer(json_integer_value(json_object_get(nic, "speed_Mbps")) * 1000000));
    if (nic)
        see_relations(node, facts, nic);
    if (real)
        see_facts(seen, run_member(node, "machine"), facts);
}

/* ---- runs */

/* The counters that findings read, and of each the values. */
static const char *const parts[] = {
    "schema",
    "scenario",
    "files",
    "complete",
    "phases",
    "expectations",
    "warnings",
    "deadlocks",
    "flows",
    "collectives.*.max_busbw_GBps",
    "hosts.*.facts",
    "hosts.*.origin",
    "hosts.*.counters.tx_prio#_pause.delta",
    "hosts.*.counters.rx_prio#_pause.delta",
    "hosts.*.counters.rx_prio#_pause.total",
    "hosts.*.counters.tx_pause.delta",
    "hosts.*.counters.buffer_discards.delta",
    "hosts.*.counters.np_cnp_sent.delta",
    "hosts.*.counters.np_cnp_sent.total",
    "hosts.*.counters.rp_cnp_handled.delta",
    "hosts.*.counters.rp_cnp_handled.total",
    "hosts.*.counters.rp_cnp_ignored.total",
    "hosts.*.counters.ecn_marked.delta",
    "hosts.*.counters.port#_ecn_marked.delta",
    "hosts.*.counters.rx_discards_phy.delta",
    "hosts.*.counters.port#_discards.delta",
    "hosts.*.counters.port#_tx_bytes",
    "hosts.*.counters.port#_tx_prio#_pause.delta",
    "hosts.*.counters.port#_tx_prio#_pause.total",
    "hosts.*.counters.port#_rx_prio#_pause.delta",
    "hosts.*.counters.port#_rx_prio#_pause.total",
    "hosts.*.counters.port#_rx_prio#_pause_duration.total",
    "hosts.*.counters.port#_tx_prio#_pause_duration.total",
    "hosts.*.counters.tx_prio#_pause.total",
    "hosts.*.counters.tx_prio#_pause_duration.total",
    "hosts.*.counters.port#_prio#_queue_bytes.mean",
    "hosts.*.counters.port#_prio#_queue_bytes.min",
    "hosts.*.counters.port#_link_discards.total",
    "hosts.*.counters.port#_rx_bytes.total",
    "hosts.*.counters.tx_prio#_bytes.total",
    "hosts.*.counters.rx_prio#_bytes.total",
    "hosts.*.counters.packet_seq_err.total",
    "hosts.*.counters.rx_crc_errors_phy.total",
    "hosts.*.counters.rx_symbol_err_phy.total",
    "hosts.*.counters.link_down_events_phy.total",
    "hosts.*.counters.link_carrier_changes.total",
    "hosts.*.counters.module_bad_shorted.total",
    "hosts.*.counters.module_high_temp.total",
    "hosts.*.counters.module_unplug.total",
    "hosts.*.counters.out_of_sequence.total",
    "hosts.*.counters.gpu#_ecc_corrected.total",
    "hosts.*.counters.gpu#_ecc_uncorrected.total",
    "hosts.*.counters.gpu#_thermal_slowdown.total",
    "hosts.*.counters.gpu#_pcie_replays.total",
    "hosts.*.counters.pcie_aer_correctable.total",
    "hosts.*.counters.pcie_aer_nonfatal.total",
    "hosts.*.counters.pcie_aer_fatal.total",
    "hosts.*.counters.*.unread_ns",
    NULL,
};
_Static_assert(sizeof parts / sizeof *parts - 1 <= JSON_PARTS_MOST, "more parts than are found");

/* Is it a figure of the whole phase, or an event that was seen for all that? */
static bool is_whole(const json_t *counter, const char *key, const char *name, const json_t *value)
{
    return !json_object_get(counter, "unread_ns") ||
           (strcmp(key, "total") == 0 && !strstr(name, "bytes") && json_number_value(value) > 0);
}

/* NAME: {COUNTER: value} of those that have one of the keys. */
static json_t *values_of(const json_t *hosts, const char *key, const char *other)
{
    json_t *all = json_object(), *host, *counter;
    const char *name, *what;
    json_object_foreach((json_t *)(uintptr_t)hosts, name, host)
    {
        json_t *of = json_object();
        json_object_foreach(json_object_get(host, "counters"), what, counter)
        {
            json_t *value = json_object_get(counter, key);
            value = value || !other ? value : json_object_get(counter, other);
            if (json_is_number(value) && is_whole(counter, key, what, value))
                json_object_set(of, what, value);
        }
        if (json_object_size(of))
            json_object_set(all, name, of);
        json_decref(of);
    }
    return all;
}

/* The pattern that a flow is of; NULL: it is of none. */
static const json_t *pattern_of(const struct run *run, const char *name)
{
    const json_t *pattern;
    size_t i, length = strcspn(name, "/");
    json_array_foreach(run_get(run, "scenario.traffic"), i, pattern)
    {
        const char *of = run_member(pattern, "name");
        if (strlen(of) == length && strncmp(of, name, length) == 0)
            return pattern;
    }
    return NULL;
}

/* The memory of a flow: its own, or its pattern's. */
static const char *memory_of(const struct run *run, const char *name, const json_t *flow)
{
    const char *memory = run_member(flow, "memory");
    if (!*memory)
        memory = run_member(pattern_of(run, name), "memory");
    return *memory ? memory : "host";
}

/* What the flow sent again. Of real hosts the sender's NIC counts how often it was told of a loss: in a
 * burn-in it has one flow. */
static const json_t *again_of(const struct run *run, const json_t *flow)
{
    const json_t *own = json_object_get(flow, "retransmitted_packets"),
                 *from = json_object_get(run_get(run, "hosts"), run_member(flow, "from")),
                 *told = json_object_get(json_object_get(from, "counters"), "packet_seq_err");
    return own || json_object_get(told, "unread_ns") ? own : json_object_get(told, "total");
}

/* Single flows: a pattern's sum has no ends. */
static json_t *flows_of(const struct run *run)
{
    json_t *list = json_array(), *flow;
    const char *name;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "flows"), name, flow)
    {
        const json_t *bps = json_object_get(flow, "delivered_bps");
        if (!json_is_string(json_object_get(flow, "from")) || !json_is_string(json_object_get(flow, "to")))
            continue;
        json_t *one = json_make("{s:s,s:s,s:s,s:O}", "from", run_member(flow, "from"), "to",
                                run_member(flow, "to"), "memory", memory_of(run, name, flow), "bps",
                                bps ? bps : json_object_get(flow, "goodput_bps"));
        json_object_set(one, "again", (json_t *)(uintptr_t)again_of(run, flow));
        const json_t *gpu = json_object_get(pattern_of(run, name), "gpu");
        if (json_is_integer(gpu) && strcmp(memory_of(run, name, flow), "host") != 0)
            json_object_set(one, "gpu", (json_t *)(uintptr_t)gpu);
        if (json_object_get(flow, "marked_packets"))
            json_object_set(one, "marked", json_object_get(flow, "marked_packets"));
        json_array_append_new(list, one);
    }
    return list;
}

/* Bus bandwidth of collectives, called by name and environment: "all-reduce, NCCL_NET_GDR_LEVEL PHB". */
static json_t *collectives_of(const struct run *run)
{
    json_t *all = json_object(), *one, *value;
    const char *name, *variable;
    const json_t *collective;
    size_t i;
    json_array_foreach(run_get(run, "scenario.collectives"), i, collective)
    {
        struct text called = {0};
        text_add(&called, "%s", run_member(collective, "name"));
        json_object_foreach(json_object_get(collective, "env"), variable, value)
        {
            text_add(&called, ", %s %s", variable, json_is_string(value) ? json_string_value(value) : "?");
        }
        json_object_foreach((json_t *)(uintptr_t)run_get(run, "collectives"), name, one)
        {
            if (strcmp(name, run_member(collective, "name")) == 0 &&
                json_is_number(json_object_get(one, "max_busbw_GBps")))
                json_put(all, text_string(&called), json_incref(json_object_get(one, "max_busbw_GBps")));
        }
        text_free(&called);
    }
    return all;
}

/* The priorities of its traffic. */
static json_t *priorities_of(const struct run *run)
{
    json_t *list = json_array();
    const json_t *pattern;
    size_t i;
    json_array_foreach(run_get(run, "scenario.traffic"), i, pattern)
    {
        json_t *priority = json_object_get(pattern, "priority");
        if (json_is_integer(priority) && !json_list_has(list, priority))
            json_array_append(list, priority);
    }
    return list;
}

static void see_run(json_t *seen, const char *stage, bool light, const struct run *run, const char *shown,
                    const struct lab *lab)
{
    const json_t *hosts = run_get(run, "hosts");
    const char *name;
    json_t *host;
    json_object_foreach((json_t *)(uintptr_t)hosts, name, host)
    {
        see_node(seen, name, host, lab);
    }
    json_array_append_new(
        json_object_get(seen, "runs"),
        json_make("{s:s,s:s,s:b,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:o,s:O*}", "stage", stage, "folder", shown,
                  "light", light, "ecn", json_array_size(run_get(run, "scenario.settings.ecn")) > 0,
                  "priorities", priorities_of(run), "flows", flows_of(run), "counters",
                  values_of(hosts, "delta", "mean"), "totals", values_of(hosts, "total", NULL), "rates",
                  values_of(hosts, "rate_per_s", NULL), "least", values_of(hosts, "min", NULL), "duration_ns",
                  (json_int_t)(run->end_ns - run->start_ns), "collectives", collectives_of(run), "deadlocks",
                  run_get(run, "deadlocks")));
}

/* Once more said; `key` may be "". */
static void count_said(json_t *all, const char *key, const char *sentence)
{
    json_t *one = json_object_get(all, key);
    if (!one)
        json_put(all, key, one = json_make("{s:s,s:I}", "says", sentence, "runs", (json_int_t)0));
    json_object_set_new(one, "runs", json_integer(json_integer_value(json_object_get(one, "runs")) + 1));
}

static void see_expectations(const struct run *run, const char *shown, json_t *failed)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(run_get(run, "expectations"), i, entry)
    {
        struct text says = {0};
        const char *name = run_member(entry, "name");
        if (strcmp(run_member(entry, "verdict"), "failed") != 0)
            continue;
        text_add(&says, "\"%s\" failed in %s: %s is %s", name, shown, run_member(entry, "check"),
                 run_member(entry, "reason"));
        count_said(failed, name, text_string(&says));
        text_free(&says);
    }
}

/* What a warning says, without names and figures, which have digits, dots or slashes in them, and without the
 * words by which these are listed: each other word once. */
static char *kind_of_warning(const char *warning)
{
    static const char *const listing[] = {"flow", "flows", "and", "other", "others", "its", "their", NULL};
    static const char between[] = " ,:;()";
    struct text kind = {0};
    size_t length;
    text_add(&kind, " ");
    for (const char *word = warning; *(word += strspn(word, between)); word += length) {
        struct text one = {0};
        bool left_out = false;
        length = strcspn(word, between);
        text_add(&one, " %.*s ", (int)length, word);
        for (size_t i = 0; listing[i]; i++)
            left_out = left_out || (strlen(listing[i]) == length && strncmp(listing[i], word, length) == 0);
        if (!left_out && strcspn(word, "0123456789./") >= length &&
            !strstr(text_string(&kind), text_string(&one)))
            text_add(&kind, "%s", text_string(&one));
        text_free(&one);
    }
    return text_take(&kind);
}

static void see_warnings(const struct run *run, json_t *warned)
{
    const json_t *warning;
    json_t *kinds = json_object(); /* of this run: which is counted once for each */
    size_t i;
    json_array_foreach(run_get(run, "warnings"), i, warning)
    {
        const char *words = json_string_value(warning);
        char *kind = words ? kind_of_warning(words) : NULL;
        if (kind && !json_object_get(kinds, kind))
            count_said(warned, kind, words);
        if (kind)
            json_put(kinds, kind, json_true());
        free(kind);
    }
    json_decref(kinds);
}

int burn_in_see_result(json_t *seen, const char *stage, bool light, const char *folder, const char *shown,
                       const struct lab *lab, struct stage_said *said, struct error *e)
{
    struct folder f;
    json_t *index = NULL, *taken = json_object(), *cell;
    int result = folder_open(&f, folder, e);
    bool sweep = result == 0 && sweep_index_exists(&f);
    size_t i;
    *said = (struct stage_said){.failed = json_object(), .warned = json_object()};
    if (sweep && !(index = sweep_index_load(&f, e)))
        result = -1;
    const json_t *cells = json_object_get(index, "cells");
    for (i = 0; result == 0 && i < (sweep ? json_array_size(cells) : 1); i++) {
        struct run run = {0};
        struct text place = {0};
        cell = sweep ? json_array_get(cells, i) : NULL;
        const char *name = sweep ? run_cell_folder(cell, taken) : NULL;
        if (sweep && !name)
            continue;
        text_add(&place, "%s%s%s", shown, name ? "/" : "", name ? name : "");
        result = run_load_parts(&run, folder, name, parts, e);
        if (result == 0) {
            see_expectations(&run, text_string(&place), said->failed);
            see_warnings(&run, said->warned);
            see_run(seen, stage, light, &run, text_string(&place), lab);
            said->runs++;
        }
        text_free(&place);
        run_free(&run);
    }
    folder_close(&f);
    json_decref(index);
    json_decref(taken);
    return result;
}
