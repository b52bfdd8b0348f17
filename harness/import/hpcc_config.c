/* A case of the HPCC simulator whose configuration is read, too: its files, and its physics as values of the
 * lab and of the scenario. */
#include "harness/import/hpcc_config.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/units.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct apply {
    const struct hpcc_config *config;
    struct import *import;
    json_t *lab, *scenario;
    int64_t *rate_bps; /* of each node's fastest link: a host's NIC */
};

static int64_t number_of(const struct apply *a, enum config_key key)
{
    return a->config->values[key].number;
}

static json_t *time_json(enum unit unit, int64_t value)
{
    char text[40];
    return json_text(units_write(unit, value, UNITS_ANY, text, sizeof text));
}

/* ---- the files: ns-3 runs in a folder above the configuration's */

/* Below the configuration's folder or one above it. *found: NULL if there is none. */
static int find_above(const char *config_path, const char *name, char **found, struct error *e)
{
    char *real = realpath(config_path, NULL);
    int result = 0;
    if (!real)
        return error_set(e, "%.200s is not there", config_path);
    for (char *slash; result == 0 && (slash = strrchr(real, '/'));) {
        *slash = '\0';
        char *path = files_join(*real ? real : "/", name);
        if (!path)
            result = error_set(e, "out of memory");
        else if (files_exist(path) && *found && !files_are_one(path, *found))
            result = error_set(e, "%.200s and %.200s: which one is meant is not clear", *found, path);
        else if (files_exist(path) && !*found) {
            *found = path;
            continue;
        }
        free(path);
    }
    free(real);
    return result;
}

static int find_named(const struct hpcc_config *config, enum config_key key, char **found, struct error *e)
{
    const char *name = config->values[key].text;
    struct error why;
    if (!name)
        return key == TRACE_FILE
                   ? 0
                   : error_set(e, "%.160s: %s is missing: give the file behind the configuration",
                               config->file->path, key == FLOW_FILE ? "FLOW_FILE" : "TOPOLOGY_FILE");
    if (*name == '/')
        *found = files_exist(name) ? strdup(name) : NULL;
    else if (find_above(config->file->path, name, found, &why) != 0)
        return hpcc_config_error(config, key, e, "%s", why.text);
    return *found || key == TRACE_FILE
               ? 0
               : hpcc_config_error(config, key, e,
                                   "there is no such file%s: give it behind the configuration",
                                   *name == '/' ? "" : " in the configuration's folder or above it");
}

static int open_files(const struct hpcc_config *config, struct reader files[4], char *found[3], json_t *notes,
                      struct error *e)
{
    static const enum config_key names[3] = {TOPOLOGY_FILE, FLOW_FILE, TRACE_FILE};
    for (int i = 0; i < 3; i++) {
        if (files[i + 1].text || (names[i] == TRACE_FILE && !config->values[ENABLE_TRACE].number))
            continue;
        if (find_named(config, names[i], &found[i], e) != 0 ||
            (found[i] && reader_open(&files[i + 1], found[i], e) != 0))
            return -1;
        const char *said = config->values[names[i]].text;
        if (found[i])
            json_array_append_new(notes, json_textf("%s: %s is %s", config->file->path, said, found[i]));
        else if (said)
            json_array_append_new(notes,
                                  json_textf("%s: %s is not there: the hosts of flows alone are sampled",
                                             config->file->path, said));
    }
    return 0;
}

/* ---- congestion control */

static int require(const struct apply *a, enum config_key key, int64_t value, const char *why,
                   struct error *e)
{
    return number_of(a, key) == value
               ? 0
               : hpcc_config_error(a->config, key, e, "expected %" PRId64 " with CC_MODE %" PRId64 ", as %s",
                                   value, number_of(a, CC_MODE), why);
}

static int check_hpcc(const struct apply *a, struct error *e)
{
    return require(a, MULTI_RATE, 0, "a sender has one rate for all hops", e) != 0 ||
                   require(a, SAMPLE_FEEDBACK, 0, "each ACK has the telemetry of all hops", e) != 0 ||
                   require(a, HAS_WIN, 1, "HPCC divides by its window", e) != 0
               ? -1
               : 0;
}

static int put_first_cnp(const struct apply *a, struct error *e)
{
    const int64_t share = number_of(a, RATE_ON_FIRST_CNP);
    const int64_t bps = a->rate_bps[a->import->flows[0].from];
    if (share == SHARE_ONE)
        return 0;
    for (size_t i = 1; i < a->import->flow_count; i++)
        if (a->rate_bps[a->import->flows[i].from] != bps)
            return hpcc_config_error(a->config, RATE_ON_FIRST_CNP, e,
                                     "senders' links have several rates: expected 1");
    hpcc_config_set(a->scenario, "settings.dcqcn.rp.rate_to_set_on_first_cnp",
                    json_integer(llround(fmax((double)bps * (double)share / (double)SHARE_ONE / 1e6, 1))));
    return 0;
}

/* mlx5's parameter is the weight of the old alpha, in parts of 1024. */
static void put_gain(const struct apply *a)
{
    const double parts = (double)number_of(a, EWMA_GAIN) / (double)SHARE_ONE * 1024;
    long long weight = 1024 - llround(parts);
    weight = weight > 1023 ? 1023 : weight;
    hpcc_config_set(a->scenario, "settings.dcqcn.rp.dce_tcp_g", json_integer(weight));
    if ((double)(1024 - weight) != parts)
        import_note(a->import, "%s: EWMA_GAIN %s is %lld of 1024 here", a->config->file->path,
                    a->config->values[EWMA_GAIN].text, 1024 - weight);
}

/* Hosts whose rate nothing changes. Their window, if there is one, stays as it is: it is DCQCN's, whose rate
 * never falls. */
static void put_uncontrolled(const struct apply *a, const char *settings)
{
    char path[200];
    snprintf(path, sizeof path, "%s.congestion_control", settings);
    hpcc_config_set(a->scenario, path, json_text(number_of(a, HAS_WIN) ? "dcqcn_vwin" : "none"));
    snprintf(path, sizeof path, "%s.dcqcn.rp.rpg_min_dec_fac", settings);
    if (number_of(a, HAS_WIN))
        hpcc_config_set(a->scenario, path, json_integer(100));
}

static int put_nodes_without_control(const struct apply *a, struct error *e)
{
    const struct config_value *nodes = &a->config->values[NO_CC_NODE];
    char path[60];
    if (nodes->count && a->config->control != DCQCN && a->config->control != DCTCP)
        return hpcc_config_error(a->config, NO_CC_NODE, e,
                                 "expected CC_MODE 1 or 8: with others a sender's packets have a header "
                                 "that those of a host without control lack here");
    for (size_t i = 0; i < nodes->count; i++) {
        bool sends = false;
        for (size_t k = 0; k < a->import->flow_count && !sends; k++)
            sends = a->import->flows[k].from == nodes->pairs[i].key;
        snprintf(path, sizeof path, "settings_of.h%" PRId64, nodes->pairs[i].key);
        if (sends)
            put_uncontrolled(a, path);
    }
    return 0;
}

#define LEAST_RTT_PS 1000
#define MOST_RTT_PS  INT64_C(1000000000000)

/* The time from which a host's window is computed, with its own rate: there all have the same window, of the
 * host pair whose is largest. HPCC's rates depend on this time, too. */
static int64_t window_ps(const struct apply *a, uint32_t host, const struct hpcc_rtt *rtt)
{
    const double bps = (double)a->rate_bps[host];
    double ps = (double)rtt->ns * 1000;
    if (a->config->control != HPCC && (int64_t)((double)rtt->ns * bps / 8e9) != rtt->bdp_bytes)
        ps = ceil((double)rtt->bdp_bytes * 8e12 / bps);
    return (int64_t)fmin(fmax(ps, LEAST_RTT_PS), MOST_RTT_PS);
}

static void put_windows(const struct apply *a, const struct hpcc_rtt *rtt)
{
    const int64_t first_ps = window_ps(a, a->import->flows[0].from, rtt);
    bool noted = false;
    hpcc_config_set(a->scenario, "settings.window.base_rtt", time_json(UNIT_TIME_PS, first_ps));
    for (size_t i = 0; i < a->import->flow_count; i++) {
        const uint32_t host = a->import->flows[i].from;
        const int64_t ps = window_ps(a, host, rtt),
                      bytes = (int64_t)((double)ps * (double)a->rate_bps[host] / 8e12);
        char path[60];
        snprintf(path, sizeof path, "settings_of.h%u.window.base_rtt", host);
        if (ps != first_ps)
            hpcc_config_set(a->scenario, path, time_json(UNIT_TIME_PS, ps));
        if (bytes != rtt->bdp_bytes && !noted)
            import_note(a->import,
                        "the window of host %u is %" PRId64 " bytes, that of its own rate; there all have "
                        "%" PRId64 " bytes",
                        host, bytes, rtt->bdp_bytes);
        noted = noted || bytes != rtt->bdp_bytes;
    }
}

/* The base round-trip time of all flows. */
static int put_rtt(const struct apply *a, struct error *e)
{
    const bool of_flows = !number_of(a, GLOBAL_T) && a->config->fork != hpcc_fork_simai;
    struct hpcc_rtt rtt;
    if (hpcc_rtt_of(a->import, number_of(a, PACKET_PAYLOAD_SIZE), of_flows, &rtt, e) != 0)
        return -1;
    if (!rtt.same)
        return hpcc_config_error(a->config, GLOBAL_T, e,
                                 "the flows from %u to %u and from %u to %u have different round-trip times "
                                 "or bandwidths: expected 1, as all have one here",
                                 rtt.of[0][0], rtt.of[0][1], rtt.of[1][0], rtt.of[1][1]);
    if (rtt.ns > MOST_RTT_PS / 1000)
        return error_set(e, "%.160s: a base round-trip time is %.3f s: expected at most 1 s",
                         a->import->network_path, (double)rtt.ns / 1e9);
    if (!number_of(a, GLOBAL_T) && !of_flows)
        import_note(a->import, "%s: GLOBAL_T counts as 1, as in SimAI", a->config->file->path);
    put_windows(a, &rtt);
    return 0;
}

static int put_window(const struct apply *a, struct error *e)
{
    const bool window = number_of(a, HAS_WIN);
    if (a->config->control == DCTCP && !window) {
        /* it always has one: one that nothing fills */
        hpcc_config_set(a->scenario, "settings.window.base_rtt", json_text("1s"));
        hpcc_config_set(a->scenario, "settings.window.var_win", json_false());
        return 0;
    }
    if (!window)
        return 0;
    hpcc_config_set(a->scenario, "settings.window.var_win", json_boolean(number_of(a, VAR_WIN)));
    return put_rtt(a, e);
}

static int put_control(const struct apply *a, struct error *e)
{
    static const char *const names[CONTROLS][2] = {[DCQCN] = {"dcqcn", "dcqcn_vwin"},
                                                   [HPCC] = {"hpcc", "hpcc"},
                                                   [TIMELY] = {"timely", "timely_vwin"},
                                                   [DCTCP] = {"dctcp", "dctcp"}};
    const enum config_control control = a->config->control;
    if ((control == HPCC && check_hpcc(a, e) != 0) || put_window(a, e) != 0)
        return -1;
    if (control == UNCONTROLLED)
        put_uncontrolled(a, "settings");
    else
        hpcc_config_set(a->scenario, "settings.congestion_control",
                        json_text(names[control][number_of(a, HAS_WIN) != 0]));
    if (control == DCQCN)
        put_gain(a);
    return (control == DCQCN && put_first_cnp(a, e) != 0) || put_nodes_without_control(a, e) != 0 ? -1 : 0;
}

/* ---- switches */

struct marking {
    int64_t rate_bps, kmin_kb, kmax_kb, pmax;
};

static const int64_t *value_at(const struct apply *a, enum config_key map, int64_t rate_bps)
{
    const struct config_value *value = &a->config->values[map];
    for (size_t i = 0; i < value->count; i++)
        if (value->pairs[i].key == rate_bps)
            return &value->pairs[i].value;
    return NULL;
}

static int marking_of(const struct apply *a, const struct import_link *link, struct marking *m,
                      struct error *e)
{
    static const enum config_key maps[3] = {KMIN_MAP, KMAX_MAP, PMAX_MAP};
    int64_t *to[3] = {&m->kmin_kb, &m->kmax_kb, &m->pmax};
    char rate[40];
    m->rate_bps = link->rate_bps;
    for (int i = 0; i < 3; i++) {
        const int64_t *value = value_at(a, maps[i], link->rate_bps);
        if (!value)
            return hpcc_config_error(
                a->config, maps[i], e,
                "there is nothing for %" PRId64 ", that is %s, the rate of the link on line %u of %s",
                link->rate_bps, units_write(UNIT_RATE_BPS, link->rate_bps, UNITS_ANY, rate, sizeof rate),
                link->line, a->import->network_path);
        *to[i] = *value;
    }
    m->kmin_kb = m->kmin_kb < m->kmax_kb ? m->kmin_kb : m->kmax_kb;
    return 0;
}

static bool marks_alike(const struct marking *one, const struct marking *other)
{
    return one->kmin_kb == other->kmin_kb && one->kmax_kb == other->kmax_kb && one->pmax == other->pmax;
}

/* Do thresholds that grow with the rate from the first's have the other's value? As the simulator computes
 * them. */
static bool marks_in_proportion(const struct marking *one, const struct marking *other)
{
    const double scale = (double)other->rate_bps / (double)one->rate_bps;
    return (int64_t)((double)(one->kmin_kb * 1000) * scale) == other->kmin_kb * 1000 &&
           (int64_t)((double)(one->kmax_kb * 1000) * scale) == other->kmax_kb * 1000 &&
           one->pmax == other->pmax;
}

static json_t *marking_json(const struct marking *m, bool grows)
{
    char kmin[40], kmax[40], rate[40];
    return json_make("{s:s,s:s,s:f,s:s}", "kmin",
                     units_write(UNIT_BYTES, m->kmin_kb * 1000, UNITS_DECIMAL, kmin, sizeof kmin), "kmax",
                     units_write(UNIT_BYTES, m->kmax_kb * 1000, UNITS_DECIMAL, kmax, sizeof kmax), "pmax",
                     (double)m->pmax / (double)SHARE_ONE, "reference",
                     grows ? units_write(UNIT_RATE_BPS, m->rate_bps, UNITS_ANY, rate, sizeof rate) : "0");
}

/* Of the rates of links at switches, each once: whose thresholds they are, if they are one's for all. */
static int put_marking_of_all(const struct apply *a, const struct marking *rates, size_t count)
{
    for (int grows = 0; grows < 2; grows++)
        for (size_t i = 0; i < count; i++) {
            size_t same = 0;
            while (same < count && (grows ? marks_in_proportion(&rates[i], &rates[same])
                                          : marks_alike(&rates[i], &rates[same])))
                same++;
            if (same == count) {
                hpcc_config_set(a->lab, "defaults.switch.ecn", marking_json(&rates[i], grows));
                return 0;
            }
        }
    return -1;
}

/* Each switch's own, whose links have to have one. */
static int put_marking_of_each(const struct apply *a, struct error *e)
{
    struct import *import = a->import;
    const struct import_link **first = calloc(import->nodes + 1, sizeof(const struct import_link *));
    int result = 0;
    import->ecn = json_array();
    import->ecn_of = calloc(import->nodes + 1, sizeof *import->ecn_of);
    if (!first || !import->ecn || !import->ecn_of) {
        free(first);
        return error_set(e, "out of memory");
    }
    for (size_t i = 0; result == 0 && i < 2 * import->link_count; i++) {
        const struct import_link *link = &import->links[i / 2];
        const uint32_t node = i % 2 ? link->b : link->a;
        struct marking one, other;
        if (!import->is_switch[node] || import->is_nvswitch[node])
            continue;
        result = marking_of(a, link, &one, e);
        if (result == 0 && !first[node]) {
            first[node] = link;
            json_array_append_new(import->ecn, marking_json(&one, false));
            import->ecn_of[node] = (uint32_t)json_array_size(import->ecn);
        } else if (result == 0 && marking_of(a, first[node], &other, e) == 0 && !marks_alike(&one, &other)) {
            result = hpcc_config_error(
                a->config, KMIN_MAP, e,
                "the links of switch %u on lines %u and %u have thresholds that are not in proportion "
                "to their rates, which a switch cannot have here",
                node, first[node]->line, link->line);
        }
    }
    free(first);
    return result;
}

static int put_marking(const struct apply *a, struct error *e)
{
    const struct import *import = a->import;
    struct marking rates[MOST_PAIRS], m;
    size_t count = 0;
    for (size_t i = 0; i < import->link_count; i++) {
        const struct import_link *link = &import->links[i];
        if (!(import->is_switch[link->a] && !import->is_nvswitch[link->a]) &&
            !(import->is_switch[link->b] && !import->is_nvswitch[link->b]))
            continue;
        if (marking_of(a, link, &m, e) != 0)
            return -1;
        size_t at = 0;
        while (at < count && rates[at].rate_bps != m.rate_bps)
            at++;
        rates[at] = m; /* as many at most as the map has */
        count += at == count;
    }
    if (!number_of(a, ENABLE_QCN))
        hpcc_config_set(a->lab, "defaults.switch.ecn", json_make("{s:s,s:s}", "kmin", "0", "kmax", "0"));
    else if (count && put_marking_of_all(a, rates, count) != 0)
        return put_marking_of_each(a, e);
    return 0;
}

/* Thresholds of PFC grow with a port's rate from that of the first host's first link. */
static void put_alpha(const struct apply *a)
{
    const struct import *import = a->import;
    int64_t slowest = INT64_MAX, fastest = 0;
    for (size_t i = 0; i < import->link_count; i++) {
        const struct import_link *link = &import->links[i];
        bool of_host = !import->is_switch[link->a] || !import->is_switch[link->b];
        slowest = of_host && link->rate_bps < slowest ? link->rate_bps : slowest;
        fastest = link->rate_bps > fastest ? link->rate_bps : fastest;
    }
    if (import->first_bps >= fastest)
        hpcc_config_set(a->lab, "defaults.switch.alpha_follows_rate", json_false());
    else if (import->first_bps != slowest)
        import_note(import, "thresholds of PFC grow with the rate from that of the slowest host; there from "
                            "that of the first one");
}

/* What the forks changed in the switch and the packets. */
static void put_fork(const struct apply *a)
{
    if (a->config->fork == hpcc_fork_conweave) {
        json_t *values = json_make("{s:s,s:f,s:b,s:s,s:i}", "reserve", "2096B", "xoff_alpha", 0.0625,
                                   "alpha_follows_rate", false, "xon_offset", "1B", "headroom_delays", 0);
        json_merge_deep(json_object_get(json_object_get(a->lab, "defaults"), "switch"), values);
        json_decref(values);
        import_note(a->import, "ConWeave's switches are approximated: thresholds of PFC are 1/16 of the free "
                               "buffer; that ACKs pass data in them is left out");
    } else if (a->config->fork == hpcc_fork_paraleon) {
        hpcc_config_set(a->lab, "defaults.switch.xon_offset", json_text("10KiB"));
        if (a->config->control == DCQCN) {
            /* a time stamp of 8 bytes */
            hpcc_config_set(a->lab, "framing.data", json_integer(56));
            hpcc_config_set(a->lab, "framing.ack", json_integer(54));
        }
    }
}

/* ---- links */

static int put_loss(const struct apply *a, struct error *e)
{
    const int64_t share = number_of(a, ERROR_RATE_PER_LINK), part = SHARE_ONE / 1000000000;
    if (share % part)
        return hpcc_config_error(a->config, ERROR_RATE_PER_LINK, e, "expected billionths");
    for (size_t i = 0; i < a->import->link_count; i++)
        if (!a->import->links[i].loss_per_billion)
            a->import->links[i].loss_per_billion = share / part;
    return 0;
}

/* From 2 s and so many microseconds on; routes follow at once. */
static int put_link_down(const struct apply *a, struct error *e)
{
    const struct config_value *down = &a->config->values[LINK_DOWN];
    struct import *import = a->import;
    const struct config_pair ends = down->pairs[0];
    const struct import_link *link = NULL;
    int64_t at_ns = 2000000000 + down->number * 1000 - import->begin_ns;
    if (!down->number)
        return 0;
    for (size_t i = 0; i < import->link_count; i++)
        if ((import->links[i].a == ends.key && import->links[i].b == ends.value) ||
            (import->links[i].b == ends.key && import->links[i].a == ends.value))
            link = &import->links[i];
    if (!link)
        return hpcc_config_error(a->config, LINK_DOWN, e, "no link is between %" PRId64 " and %" PRId64,
                                 ends.key, ends.value);
    if (link->a_port != IMPORT_ONE_PORT || link->b_port != IMPORT_ONE_PORT)
        return hpcc_config_error(a->config, LINK_DOWN, e,
                                 "the link is one of several of a host, whose flows do not change their "
                                 "port here");
    import->fault_ns = at_ns > 0 ? at_ns : 0;
    json_object_set_new(a->scenario, "faults",
                        json_make("[{s:[o,o],s:s,s:o}]", "link", import_name(import, link->a),
                                  import_name(import, link->b), "kind", "down", "start",
                                  time_json(UNIT_TIME_NS, import->fault_ns)));
    hpcc_config_set(a->lab, "defaults.switch.convergence", json_text("0"));
    return 0;
}

/* ---- the whole */

static bool uses_priority(const struct import *import, int priority)
{
    for (size_t i = 0; i < import->flow_count; i++)
        if (import->flows[i].priority == priority)
            return true;
    return false;
}

/* Until when; flows that would start later never do. */
static int put_stop(const struct apply *a, struct error *e)
{
    struct import *import = a->import;
    const bool of_flows = a->config->fork == hpcc_fork_conweave;
    const enum config_key key = of_flows ? FLOWGEN_STOP_TIME : SIMULATOR_STOP_TIME;
    const size_t flows = import->flow_count;
    import->stop_ns = number_of(a, key) + (of_flows ? INT64_C(10000000000) : 0) - import->begin_ns;
    while (import->flow_count && import->flows[import->flow_count - 1].start_ns >= import->stop_ns)
        import->flow_count--;
    if (!import->flow_count)
        return hpcc_config_error(a->config, key, e, "the first flow starts at %.9g s",
                                 (double)import->begin_ns / 1e9);
    if (import->flow_count < flows)
        import_note(import, "%s: %zu flows start after the end, so they are left out", a->import->flow_path,
                    flows - import->flow_count);
    return 0;
}

#define ACK_QUEUE 3 /* hosts' ACKs wait with this priority, whichever data has */

static int apply_all(struct apply *a, struct error *e)
{
    if (hpcc_config_put(a->config, a->lab, a->scenario, a->import->notes, e) != 0 || put_stop(a, e) != 0 ||
        put_control(a, e) != 0 || put_marking(a, e) != 0 || put_loss(a, e) != 0 || put_link_down(a, e) != 0)
        return -1;
    if (a->config->fork != hpcc_fork_conweave) /* whose thresholds are the same at all rates */
        put_alpha(a);
    put_fork(a);
    if (number_of(a, ACK_HIGH_PRIO) || !uses_priority(a->import, ACK_QUEUE))
        hpcc_config_set(a->lab, "defaults.host.nic.ack_unpaused", json_true());
    if (!number_of(a, ENABLE_PFC))
        hpcc_config_set(a->scenario, "settings.pfc", json_array());
    if (number_of(a, PACKET_PAYLOAD_SIZE) > 4096)
        hpcc_config_set(a->scenario, "settings.mtu", json_integer(number_of(a, PACKET_PAYLOAD_SIZE) + 104));
    return 0;
}

static void list_rates(const struct apply *a)
{
    for (size_t i = 0; i < 2 * a->import->link_count; i++) {
        const struct import_link *link = &a->import->links[i / 2];
        int64_t *bps = &a->rate_bps[i % 2 ? link->b : link->a];
        *bps = link->rate_bps > *bps ? link->rate_bps : *bps;
    }
}

static int apply(const struct hpcc_config *config, struct import *import, struct error *e)
{
    struct apply a = {config, import,
                      json_make("{s:{},s:{s:{},s:{}}}", "sources", "defaults", "switch", "host"),
                      json_make("{s:{}}", "settings"), calloc(import->nodes + 1, sizeof *a.rate_bps)};
    int result = -1;
    import->physics = "sim-hpcc-star";
    import->lab_values = a.lab;
    import->scenario_values = a.scenario;
    if (config->fork)
        import->format = config->fork;
    if (!a.lab || !a.scenario || !a.rate_bps) {
        error_set(e, "out of memory");
    } else {
        list_rates(&a);
        result = apply_all(&a, e);
    }
    free(a.rate_bps);
    return result;
}

/* Takes the paths. */
static int import_named(const struct hpcc_config *config, struct reader files[4], char *found[3],
                        const json_t *notes, struct import *import, struct error *e)
{
    if (import_hpcc(&files[1], import, e) != 0)
        return -1;
    for (int i = 0; i < 3; i++) {
        import->files[i] = found[i];
        found[i] = NULL;
    }
    json_array_extend(import->notes, (json_t *)(uintptr_t)notes);
    if (apply(config, import, e) == 0)
        return 0;
    import_free(import);
    return -1;
}

static int import_with(struct hpcc_config *config, struct reader files[4], json_t *notes,
                       struct import *import, struct error *e)
{
    char *found[3] = {NULL, NULL, NULL};
    if (hpcc_config_read(config, &files[0], notes, e) != 0)
        return -1;
    int result = open_files(config, files, found, notes, e) == 0
                     ? import_named(config, files, found, notes, import, e)
                     : -1;
    for (int i = 0; i < 3; i++)
        free(found[i]);
    hpcc_config_free(config);
    return result;
}

bool import_is_hpcc_config(const struct reader *file)
{
    return hpcc_config_is(file);
}

int import_hpcc_config(struct reader files[4], struct import *import, struct error *e)
{
    struct hpcc_config *config = calloc(1, sizeof *config);
    json_t *notes = json_array();
    int result = -1;
    if (!config || !notes)
        error_set(e, "out of memory");
    else
        result = import_with(config, files, notes, import, e);
    free(config);
    json_decref(notes);
    return result;
}
