#include "harness/burn_in/findings.h"

#include "harness/burn_in/gpus.h"
#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- thresholds */

/* NICs of one kind carry the same within a few percents; half a line, or half the lanes, is far below. */
#define OF_OTHERS   0.90
#define OF_BASELINE 0.95
/* Uplinks are loaded by chance: one that is full below this share of what another one carries is slower. */
#define OF_UPLINKS  0.70
#define QUEUE_BYTES 100e3 /* a port behind which this much waits on average is full */
/* A narrow slot limits what is sent at least as much as what is taken; a memory that takes little, mostly
 * that. */
#define WRITES_ONLY 1.15
/* A sender whose own rate is this much above its share of an incast was held by something. */
#define IS_HELD 1.3

/* The least that a GPU's memory carries of what the same NIC does with host memory, by the relation of both
 * on PCIe: the lower ends of what users report for line rate (collectors/facts/checks.c). */
static const struct {
    const char *relation;
    double least;
} relations[] = {{"PIX", 0.95}, {"PXB", 0.95}, {"PHB", 0.85}, {"NODE", 0.30}, {"SYS", 0.30}};

/* Counters of which one is an error of the link that ends at the port, and what is said of it. */
static const struct {
    const char *counter, *says;
} link_errors[] = {
    {"rx_crc_errors_phy", "has errors"},           {"rx_symbol_err_phy", "has errors"},
    {"link_down_events_phy", "went down"},         {"link_carrier_changes", "went down, or came up"},
    {"module_bad_shorted", "has a bad module"},    {"module_high_temp", "has a module that is too hot"},
    {"module_unplug", "had its module unplugged"},
};

/* ---- what was seen, by node */

enum way { TX, RX };
enum memory { HOST, GPU };
static const char *const figure_names[2][2] = {{"host_tx_bps", "host_rx_bps"}, {"gpu_tx_bps", "gpu_rx_bps"}};

struct node {
    const char *name, *machine, *nic, *class, *relation, *peer;
    double best[2][2];         /* by memory and way, of all rounds; NAN: there was no flow */
    bool paused_link[2];       /* by memory: it sent pauses while it was sent to at full rate */
    size_t flows[2], lossy[2]; /* in runs in which nothing waits */
    const char *lossy_with;
    bool accused;
    /* in incasts without DCQCN, as a sender that something held */
    size_t incasts, unpaused, beside_paused;
    double lost;
    size_t marked_incasts, unslowed; /* with DCQCN, in which most senders obeyed CNPs */
};

struct work {
    const json_t *seen;
    struct node *nodes;
    size_t count;
    json_t *index; /* name -> place */
    json_t *findings, *unknown, *pairs;
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The sum of the counters of a node that match; NAN: none is known. */
static double sum_of(const json_t *of, const char *node, const char *glob)
{
    double sum = NAN;
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(of, node), name, value)
    {
        if (json_is_number(value) && fnmatch(glob, name, 0) == 0)
            sum = (isnan(sum) ? 0 : sum) + json_number_value(value);
    }
    return sum;
}

static double counted(const json_t *run, const char *node, const char *glob)
{
    return sum_of(json_object_get(run, "counters"), node, glob);
}

static struct node *node_of(const struct work *w, const char *name)
{
    const json_t *place = json_object_get(w->index, name);
    return place ? &w->nodes[json_integer_value(place)] : NULL;
}

static bool is_stage(const json_t *run, const char *name)
{
    return strcmp(text_of(run, "stage"), name) == 0;
}

/* All NICs at full rate, each with a flow in each direction at most. */
static bool is_full(const json_t *run)
{
    return !json_is_true(json_object_get(run, "light")) && (is_stage(run, "pairs") || is_stage(run, "gpus"));
}

static enum memory memory_of(const json_t *flow)
{
    return strcmp(text_of(flow, "memory"), "host") == 0 ? HOST : GPU;
}

/* ---- findings */

static bool is_accused(const struct work *w, const char *culprit)
{
    size_t i;
    json_t *finding;
    json_array_foreach(w->findings, i, finding)
    {
        if (strcmp(text_of(finding, "culprit"), culprit) == 0)
            return true;
    }
    return false;
}

static json_t *find(struct work *w, const char *kind, const char *culprit, bool sure, const char *stage,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

static json_t *find(struct work *w, const char *kind, const char *culprit, bool sure, const char *stage,
                    const char *format, ...)
{
    va_list list;
    va_start(list, format);
    json_t *finding = json_make("{s:s,s:s,s:b,s:s,s:o,s:[]}", "kind", kind, "culprit", culprit, "sure", sure,
                                "stage", stage, "says", json_text_list(format, list), "evidence");
    va_end(list);
    json_array_append_new(w->findings, finding);
    return finding;
}

static void add_evidence(json_t *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_evidence(json_t *finding, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    json_array_append_new(json_object_get(finding, "evidence"), json_text_list(format, list));
    va_end(list);
}

static void set_figure(json_t *finding, double figure, double expected, const char *unit, const char *source)
{
    json_object_set_new(finding, "figure", json_real(figure));
    json_object_set_new(finding, "expected", json_real(expected));
    json_object_set_new(finding, "unit", json_text(unit));
    json_object_set_new(finding, "source", json_text(source));
}

static void set_link(json_t *finding, const char *a, const char *b)
{
    json_object_set_new(finding, "link", json_make("[s,s]", a, b));
}

static void set_node(json_t *finding, struct node *n)
{
    json_object_set_new(finding, "host", json_text(n->machine));
    if (*n->nic)
        json_object_set_new(finding, "nic", json_text(n->nic));
    n->accused = true;
}

static void do_not_know(struct work *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void do_not_know(struct work *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    json_array_append_new(w->unknown, json_text_list(format, list));
    va_end(list);
}

/* ---- reading what was seen */

static const char *link_peer(const json_t *seen, const char *name)
{
    const json_t *links = json_object_get(seen, "links"), *link;
    size_t i;
    json_array_foreach(links, i, link)
    {
        if (strcmp(text_of(link, "a"), name) == 0)
            return text_of(link, "b");
        if (strcmp(text_of(link, "b"), name) == 0)
            return text_of(link, "a");
    }
    return NULL;
}

static void take_nodes(struct work *w)
{
    const json_t *nodes = json_object_get(w->seen, "nodes"), *node;
    const char *name;
    w->nodes = xcalloc(json_object_size(nodes) + 1, sizeof *w->nodes);
    json_object_foreach((json_t *)(uintptr_t)nodes, name, node)
    {
        const char *machine = text_of(node, "machine");
        w->nodes[w->count] = (struct node){.name = name,
                                           .machine = *machine ? machine : name,
                                           .nic = text_of(node, "nic"),
                                           .class = text_of(node, "class"),
                                           .relation = json_string_value(json_object_get(node, "relation")),
                                           .peer = link_peer(w->seen, name),
                                           .best = {{NAN, NAN}, {NAN, NAN}}};
        json_object_set_new(w->index, name, json_integer((json_int_t)w->count++));
    }
}

/* NAME: {NAME: the best rate between them} */
static void take_pair(struct work *w, const char *from, const char *to, double bps)
{
    json_t *of = json_object_get(w->pairs, from);
    if (!of)
        json_put(w->pairs, from, of = json_object());
    double so_far = number_of(of, to);
    if (!isnan(bps) && !(so_far >= bps))
        json_put(of, to, json_real(bps));
}

static void take_rate(struct node *n, enum memory memory, enum way way, double bps)
{
    double *best = &n->best[memory][way];
    if (!isnan(bps) && !(*best >= bps))
        *best = bps;
}

/* A run at full rate in which each NIC has a flow in each direction at most. */
static void take_full_flow(struct work *w, const json_t *run, const json_t *flow)
{
    struct node *from = node_of(w, text_of(flow, "from")), *to = node_of(w, text_of(flow, "to"));
    enum memory memory = memory_of(flow);
    double bps = number_of(flow, "bps");
    if (!from || !to)
        return;
    take_rate(from, memory, TX, bps);
    take_rate(to, memory, RX, bps);
    if (memory == HOST)
        take_pair(w, from->name, to->name, bps);
    to->paused_link[memory] |= counted(run, to->name, "tx_prio?_pause") > 0;
}

static void take_light_flow(struct work *w, const json_t *flow)
{
    struct node *from = node_of(w, text_of(flow, "from")), *to = node_of(w, text_of(flow, "to"));
    bool lossy = number_of(flow, "again") > 0;
    if (!from || !to)
        return;
    from->flows[TX]++;
    to->flows[RX]++;
    from->lossy[TX] += lossy;
    to->lossy[RX] += lossy;
    if (lossy)
        from->lossy_with = to->name, to->lossy_with = from->name;
}

static void take_runs(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    size_t i, k;
    json_array_foreach(runs, i, run)
    {
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            if (json_is_true(json_object_get(run, "light")))
                take_light_flow(w, flow);
            else if (is_full(run))
                take_full_flow(w, run, flow);
        }
    }
}

/* ---- links that damage or lose frames */

static json_t *accuse_link(struct work *w, const char *a, const char *b, bool sure, const char *stage,
                           const char *what)
{
    char *name = xasprintf("%s - %s", a, b), *other = xasprintf("%s - %s", b, a);
    json_t *finding = NULL;
    if (!is_accused(w, name) && !is_accused(w, other)) {
        finding = find(w, "link-errors", name, sure, stage, "the link between %s and %s %s", a, b, what);
        set_link(finding, a, b);
        set_figure(finding, 0, 0, "", "an error of a link is one too many");
        if (node_of(w, a))
            set_node(finding, node_of(w, a));
        if (node_of(w, b))
            set_node(finding, node_of(w, b));
    }
    free(name);
    free(other);
    return finding;
}

/* Port k of a switch is its k-th link; *up: the other end. */
static const json_t *link_of_port(const struct work *w, const char *name, size_t port, const char **peer)
{
    const json_t *links = json_object_get(w->seen, "links"), *link;
    size_t i, k = 0;
    json_array_foreach(links, i, link)
    {
        bool a = strcmp(text_of(link, "a"), name) == 0, b = strcmp(text_of(link, "b"), name) == 0;
        if ((a || b) && k++ == port) {
            *peer = text_of(link, a ? "b" : "a");
            return link;
        }
    }
    return NULL;
}

/* Which port of the node is this link's end? */
static size_t port_of_link(const struct work *w, const char *name, const json_t *wanted)
{
    const char *peer;
    const json_t *link;
    for (size_t port = 0; (link = link_of_port(w, name, port, &peer)); port++)
        if (link == wanted)
            return port;
    return 0;
}

static bool is_switch(const struct work *w, const char *name)
{
    const json_t *switches = json_object_get(w->seen, "switches"), *one;
    size_t i;
    json_array_foreach(switches, i, one)
    {
        if (strcmp(json_string_value(one), name) == 0)
            return true;
    }
    return false;
}

/* The bytes that an end of a link sent or received in the whole run; NAN: not known. */
static double end_bytes(const struct work *w, const json_t *run, const json_t *link, const char *end,
                        enum way way)
{
    char glob[64];
    if (is_switch(w, end))
        snprintf(glob, sizeof glob, "port%zu_%s_bytes", port_of_link(w, end, link), way == TX ? "tx" : "rx");
    else
        snprintf(glob, sizeof glob, "%s_prio?_bytes", way == TX ? "tx" : "rx");
    return sum_of(json_object_get(run, "totals"), end, glob);
}

/* What one end sent and the other did not receive. Frames of which the last are under way when the run ends
 * are a few; runs end with a time in which nothing is sent. */
static void judge_ends(struct work *w, const json_t *run, const json_t *link, const char *from,
                       const char *to)
{
    double sent = end_bytes(w, run, link, from, TX), received = end_bytes(w, run, link, to, RX);
    if (isnan(sent) || isnan(received) || received >= sent)
        return;
    json_t *finding =
        accuse_link(w, text_of(link, "a"), text_of(link, "b"), true, text_of(run, "stage"), "loses frames");
    if (finding)
        add_evidence(finding, "%s sent %.0f bytes in %s, and %s received %.0f", from, sent,
                     text_of(run, "folder"), to, received);
}

static void judge_link_counters(struct work *w, const json_t *run)
{
    const char *name;
    json_t *counters;
    json_object_foreach(json_object_get(run, "totals"), name, counters)
    {
        for (size_t k = 0; k < sizeof link_errors / sizeof *link_errors; k++) {
            double errors = number_of(counters, link_errors[k].counter);
            const char *peer = node_of(w, name) ? node_of(w, name)->peer : NULL;
            if (!(errors > 0) || !node_of(w, name))
                continue;
            json_t *finding = accuse_link(w, name, peer ? peer : "its switch", true, text_of(run, "stage"),
                                          link_errors[k].says);
            if (finding)
                add_evidence(finding, "%s counted %s: %.0f in %s", name, link_errors[k].counter, errors,
                             text_of(run, "folder"));
        }
    }
}

/* Which node do most of the lossy flows have in common, in both directions? */
static struct node *most_lossy(struct work *w)
{
    struct node *most = NULL;
    for (size_t i = 0; i < w->count; i++) {
        struct node *n = &w->nodes[i];
        size_t lossy = n->lossy[TX] + n->lossy[RX], flows = n->flows[TX] + n->flows[RX];
        if (n->lossy[TX] && n->lossy[RX] && 2 * lossy >= flows &&
            (!most || lossy > most->lossy[TX] + most->lossy[RX]))
            most = n;
    }
    return most;
}

/* Take the flows of a node that is found out of what the others have lost. */
static size_t take_out_flows_of(struct work *w, const struct node *of)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    size_t i, k, left = 0;
    json_array_foreach(runs, i, run)
    {
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            struct node *from = node_of(w, text_of(flow, "from")), *to = node_of(w, text_of(flow, "to"));
            if (!json_is_true(json_object_get(run, "light")) || !(number_of(flow, "again") > 0) || !from ||
                !to)
                continue;
            if (from != of && to != of && !from->accused && !to->accused) {
                left++;
                continue;
            }
            from->lossy[TX] -= from != of && from->lossy[TX];
            to->lossy[RX] -= to != of && to->lossy[RX];
        }
    }
    return left;
}

static void judge_losses(struct work *w)
{
    struct node *n;
    size_t lossy = 0;
    for (size_t i = 0; i < w->count; i++)
        if (w->nodes[i].accused) /* by counters */
            take_out_flows_of(w, &w->nodes[i]), w->nodes[i].lossy[TX] = w->nodes[i].lossy[RX] = 0;
    while ((n = most_lossy(w))) {
        json_t *finding = accuse_link(w, n->name, n->peer ? n->peer : "its switch",
                                      n->lossy[TX] + n->lossy[RX] > 2, "nics", "loses frames");
        if (finding)
            add_evidence(
                finding,
                "of %zu flows of %s with so little traffic that nothing waits, %zu sent packets again, "
                "in both directions",
                n->flows[TX] + n->flows[RX], n->name, n->lossy[TX] + n->lossy[RX]);
        take_out_flows_of(w, n);
        n->lossy[TX] = n->lossy[RX] = 0;
        n->accused = true;
    }
    for (size_t i = 0; i < w->count; i++)
        lossy += w->nodes[i].lossy[TX];
    for (size_t i = 0; i < w->count && lossy && !json_array_size(w->findings); i++)
        if (w->nodes[i].lossy[TX]) {
            json_t *finding =
                find(w, "loss", "between hosts", false, "nics",
                     "packets are lost between hosts, and no NIC has all of it: a link between switches, or "
                     "one direction of a cable");
            add_evidence(finding, "%zu flows with little traffic sent packets again, such as %s to %s", lossy,
                         w->nodes[i].name, w->nodes[i].lossy_with);
            break;
        }
}

static void judge_links(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *link;
    size_t i, k;
    json_array_foreach(runs, i, run)
    {
        judge_link_counters(w, run);
        json_array_foreach(json_object_get(w->seen, "links"), k, link)
        {
            if (!json_is_true(json_object_get(run, "light")))
                continue;
            judge_ends(w, run, link, text_of(link, "a"), text_of(link, "b"));
            judge_ends(w, run, link, text_of(link, "b"), text_of(link, "a"));
        }
    }
    judge_losses(w);
}

/* ---- rates */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What NICs of this one's kind carry: the median over both directions of those with its name, or, if they are
 * fewer than three, of all of its class. NAN: too few were measured for one to differ from the others. */
static double line_of(const struct work *w, const struct node *n, enum memory memory, size_t *of)
{
    double *values = xcalloc(2 * w->count + 1, sizeof *values), median = NAN;
    for (int wide = 0; wide < 2 && isnan(median); wide++) {
        size_t count = 0;
        *of = 0;
        for (size_t i = 0; i < w->count; i++) {
            const struct node *o = &w->nodes[i];
            if (strcmp(o->class, n->class) != 0 || (!wide && strcmp(o->nic, n->nic) != 0) ||
                isnan(o->best[memory][TX]) || isnan(o->best[memory][RX]))
                continue;
            values[count++] = o->best[memory][TX];
            values[count++] = o->best[memory][RX];
            ++*of;
        }
        qsort(values, count, sizeof *values, compare_numbers);
        if (*of >= 3)
            median = (values[count / 2 - 1] + values[count / 2]) / 2;
    }
    free(values);
    return median;
}

#define GBPS(bps) ((bps) / 1e9)

/* Whose is it that a NIC is slow this way: its own, if a partner can do as much, as other rounds show, or if
 * it pauses its link as the receiver; its partner's, if that one pauses; or is that not known? */
enum whose { OWN, PARTNERS, NOT_KNOWN };

static enum whose whose_fault(const struct work *w, const struct node *n, enum memory memory, enum way way,
                              double least)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    enum whose whose = way == RX && n->paused_link[memory] ? OWN : NOT_KNOWN;
    size_t i, k;
    json_array_foreach(runs, i, run)
    {
        json_array_foreach(is_full(run) ? json_object_get(run, "flows") : NULL, k, flow)
        {
            const struct node *own = node_of(w, text_of(flow, way == TX ? "from" : "to")),
                              *other = node_of(w, text_of(flow, way == TX ? "to" : "from"));
            if (own != n || !other || memory_of(flow) != memory)
                continue;
            if (other->best[memory][way == TX ? RX : TX] >= least)
                whose = OWN;
            else if (whose == NOT_KNOWN && other->paused_link[memory])
                whose = PARTNERS;
        }
    }
    return whose;
}

struct slow {
    bool tx, rx; /* by its own fault; a way that is slow for reasons that are not known, beside one that is */
    bool unsure; /* slow, and whose fault it is is not known */
};

static struct slow judge_ways(const struct work *w, const struct node *n, enum memory memory, double least)
{
    bool tx = n->best[memory][TX] < least, rx = n->best[memory][RX] < least;
    enum whose of_tx = tx ? whose_fault(w, n, memory, TX, least) : PARTNERS,
               of_rx = rx ? whose_fault(w, n, memory, RX, least) : PARTNERS;
    bool own = of_tx == OWN || of_rx == OWN;
    return (struct slow){.tx = own && of_tx != PARTNERS,
                         .rx = own && of_rx != PARTNERS,
                         .unsure = !own && (of_tx == NOT_KNOWN || of_rx == NOT_KNOWN)};
}

static void note_unsure(struct work *w, const struct node *n)
{
    do_not_know(w, "%s is slow, and so are all NICs that it was measured with: mend these, and run it again",
                n->name);
}

/* Both directions, or only one, are slow; and did the NIC pause its link as a receiver? */
static json_t *name_slow(struct work *w, struct node *n, bool tx, bool rx)
{
    const double *best = n->best[HOST];
    const char *peer = n->peer ? n->peer : "its switch";
    json_t *finding;
    if (tx && rx && !n->paused_link[HOST]) {
        char *name = xasprintf("%s - %s", n->name, peer);
        finding = find(w, "link-slow", name, true, "pairs",
                       "the link of %s to %s carries %.4g Gb/s one way and %.4g the other", n->name, peer,
                       GBPS(best[TX]), GBPS(best[RX]));
        set_link(finding, n->name, peer);
        free(name);
    } else if (tx && rx && best[TX] < WRITES_ONLY * best[RX]) {
        finding = find(w, "nic-slow", n->name, true, "pairs",
                       "NIC %s sends %.4g Gb/s and takes %.4g, and pauses its link meanwhile: its PCIe slot "
                       "(lanes, generation), or its memory",
                       n->name, GBPS(best[TX]), GBPS(best[RX]));
    } else if (rx && n->paused_link[HOST]) {
        finding = find(w, "slow-receiver", n->name, true, "pairs",
                       "%s takes %.4g Gb/s, and pauses its link meanwhile; it sends %.4g", n->name,
                       GBPS(best[RX]), GBPS(best[TX]));
    } else if (rx) {
        finding =
            find(w, "link-slow", n->name, false, "pairs",
                 "%s receives %.4g Gb/s without pausing, and sends %.4g: the link to it, or the port of %s",
                 n->name, GBPS(best[RX]), GBPS(best[TX]), peer);
        set_link(finding, n->name, peer);
    } else {
        finding =
            find(w, "nic-slow", n->name, false, "pairs",
                 "%s sends %.4g Gb/s, and receives %.4g: its software, its reads from memory, or its link",
                 n->name, GBPS(best[TX]), GBPS(best[RX]));
    }
    set_node(finding, n);
    return finding;
}

static void judge_rates(struct work *w)
{
    size_t of = 0, unjudged = 0;
    for (size_t i = 0; i < w->count; i++) {
        struct node *n = &w->nodes[i];
        double line = line_of(w, n, HOST, &of), least = OF_OTHERS * line;
        char source[160];
        unjudged += isnan(line) && !isnan(n->best[HOST][TX]);
        if (n->accused || isnan(line) || isnan(n->best[HOST][TX]) || isnan(n->best[HOST][RX]))
            continue;
        struct slow slow = judge_ways(w, n, HOST, least);
        if (slow.unsure)
            note_unsure(w, n);
        if (!slow.tx && !slow.rx)
            continue;
        json_t *finding = name_slow(w, n, slow.tx, slow.rx);
        snprintf(source, sizeof source, "%.0f %% of the median of %zu NICs of its kind, %.4g Gb/s",
                 100 * OF_OTHERS, of, GBPS(line));
        set_figure(finding, fmin(n->best[HOST][TX], n->best[HOST][RX]), least, "b/s", source);
        add_evidence(finding, "all flows of %s are slow in %s, whoever is at their other end", n->name,
                     slow.tx && slow.rx ? "both directions"
                     : slow.tx          ? "the direction from it"
                                        : "the direction to it");
    }
    if (unjudged)
        do_not_know(
            w,
            "%zu NICs have rates that nothing tells right or wrong: fewer than three of their kind were "
            "measured (a baseline would)",
            unjudged);
}

static double least_of_relation(const char *relation)
{
    for (size_t i = 0; relation && i < sizeof relations / sizeof *relations; i++)
        if (strcmp(relations[i].relation, relation) == 0)
            return relations[i].least;
    return NAN;
}

/* The GPU's memory beside the host's, on the same NIC. */
static void judge_gpu(struct work *w, struct node *n)
{
    size_t of = 0;
    double share = least_of_relation(n->relation), others = line_of(w, n, GPU, &of);
    double host = fmin(n->best[HOST][TX], n->best[HOST][RX]),
           least = !isnan(share)    ? share * host
                   : !isnan(others) ? OF_OTHERS * fmin(others, isnan(host) ? others : host)
                                    : NAN,
           tx = n->best[GPU][TX], rx = n->best[GPU][RX];
    char source[200];
    struct slow slow = isnan(least) ? (struct slow){0} : judge_ways(w, n, GPU, least);
    if (slow.unsure)
        note_unsure(w, n);
    if (!slow.tx && !slow.rx)
        return;
    if (!isnan(share))
        snprintf(source, sizeof source, "%.0f %% of the same NIC with host memory, as usual for %s",
                 100 * share, n->relation);
    else
        snprintf(source, sizeof source, "%.0f %% of the median of %zu NICs with GPU memory, %.4g Gb/s",
                 100 * OF_OTHERS, of, GBPS(others));
    json_t *finding =
        find(w, "gpu-route", n->name, slow.tx && slow.rx, "gpus",
             "GPU memory at %s carries %.4g Gb/s out and %.4g in, host memory %.4g and %.4g: the route "
             "between GPU and NIC (ACS, a bridge between them, peer-to-peer off)",
             n->name, GBPS(tx), GBPS(rx), GBPS(n->best[HOST][TX]), GBPS(n->best[HOST][RX]));
    set_figure(finding, fmin(tx, rx), least, "b/s", source);
    set_node(finding, n);
    n->accused = false; /* of what else goes on at it this says nothing */
}

/* ---- uplinks: which port between switches is full below what others carry? */

static void judge_uplink(struct work *w, const json_t *run, const char *name, size_t port, double most)
{
    const char *peer;
    const json_t *link = link_of_port(w, name, port, &peer);
    char glob[64];
    double seconds = number_of(run, "duration_ns") / 1e9;
    snprintf(glob, sizeof glob, "port%zu_tx_bytes", port);
    double bps = counted(run, name, glob) * 8 / seconds;
    snprintf(glob, sizeof glob, "port%zu_prio?_queue_bytes", port);
    double queue = counted(run, name, glob);
    snprintf(glob, sizeof glob, "port%zu_rx_prio?_pause", port);
    char *culprit = xasprintf("%s - %s", text_of(link, "a"), text_of(link, "b"));
    if (queue > QUEUE_BYTES && counted(run, name, glob) == 0 && bps < OF_UPLINKS * most &&
        !is_accused(w, culprit)) {
        json_t *finding = find(w, "link-slow", culprit, true, text_of(run, "stage"),
                               "the link from %s to %s is full at %.4g Gb/s", name, peer, GBPS(bps));
        set_link(finding, text_of(link, "a"), text_of(link, "b"));
        set_figure(finding, bps, OF_UPLINKS * most, "b/s",
                   "a share of the most that a link between switches carried here");
        add_evidence(finding, "%.4g kB waited for it on average in %s, and nobody paused it", queue / 1e3,
                     text_of(run, "folder"));
    }
    free(culprit);
}

/* The most that any port between switches sent; or each port is judged by it. */
static void walk_uplinks(struct work *w, const json_t *run, double *most, bool judge)
{
    const json_t *switches = json_object_get(w->seen, "switches"), *one;
    double seconds = number_of(run, "duration_ns") / 1e9;
    size_t i;
    json_array_foreach(switches, i, one)
    {
        const char *name = json_string_value(one), *peer;
        for (size_t port = 0; link_of_port(w, name, port, &peer); port++) {
            char glob[64];
            snprintf(glob, sizeof glob, "port%zu_tx_bytes", port);
            double bps = is_switch(w, peer) ? counted(run, name, glob) * 8 / seconds : NAN;
            if (isnan(bps))
                continue;
            if (judge)
                judge_uplink(w, run, name, port, *most);
            else
                *most = fmax(*most, bps);
        }
    }
}

static void judge_uplinks(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run;
    double most = 0;
    size_t i;
    for (int judge = 0; judge < 2; judge++)
        json_array_foreach(runs, i, run)
        {
            if (is_stage(run, "pairs"))
                walk_uplinks(w, run, &most, judge != 0);
        }
}

/* ---- PFC: who is not stopped, and who does not stop others? */

/* The pauses that a sender counted. One that has no such counter, where others of its kind have one, counts
 * none: its column is there while PFC is on. NAN: not known. */
static double pauses_of(const struct work *w, const json_t *run, const struct node *n)
{
    double pauses = counted(run, n->name, "rx_prio?_pause");
    for (size_t i = 0; i < w->count && isnan(pauses) && counted(run, n->name, "*") >= 0; i++)
        if (strcmp(w->nodes[i].class, n->class) == 0 && counted(run, w->nodes[i].name, "rx_prio?_pause") >= 0)
            pauses = 0;
    return pauses;
}

/* A sender of an incast without DCQCN. */
static void take_incast_flow(struct work *w, const json_t *run, const json_t *flow, bool others_paused)
{
    struct node *n = node_of(w, text_of(flow, "from"));
    double pauses = n ? pauses_of(w, run, n) : NAN, own = n ? n->best[HOST][TX] : NAN;
    if (isnan(pauses) || (!isnan(own) && own < IS_HELD * number_of(flow, "bps")))
        return;
    double again = number_of(flow, "again");
    n->incasts++;
    n->lost += again > 0 ? again : 0;
    n->unpaused += pauses == 0;
    n->beside_paused += pauses == 0 && others_paused;
}

static bool any_paused(const json_t *run)
{
    const json_t *flow;
    size_t i;
    json_array_foreach(json_object_get(run, "flows"), i, flow)
    {
        if (counted(run, text_of(flow, "from"), "rx_prio?_pause") > 0)
            return true;
    }
    return false;
}

static bool is_incast(const json_t *run, bool ecn)
{
    return is_stage(run, "lossless") && json_is_true(json_object_get(run, "ecn")) == ecn;
}

/* Over all incasts without DCQCN: frames that the switch dropped, and pauses that it sent. */
static void count_switch(const struct work *w, const char *name, double *dropped, double *paused)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run;
    size_t i;
    *dropped = *paused = NAN;
    json_array_foreach(runs, i, run)
    {
        double drops = counted(run, name, "buffer_discards"), pauses = counted(run, name, "tx_pause");
        if (!is_incast(run, false) || isnan(drops) || isnan(pauses))
            continue;
        *dropped = (isnan(*dropped) ? 0 : *dropped) + drops;
        *paused = (isnan(*paused) ? 0 : *paused) + pauses;
    }
}

static json_t *accuse_switch(struct work *w, const char *name, bool sure)
{
    json_t *finding;
    if (is_accused(w, name))
        return NULL;
    finding =
        find(w, "switch-pfc", name, sure, "lossless",
             "%s pauses nobody: it takes the packets' priority for one without PFC (its map of DSCPs to "
             "priorities), or has PFC off",
             name);
    json_object_set_new(finding, "switch", json_text(name));
    set_figure(finding, 0, 1, "", "a switch whose queue is full pauses those who send into it");
    return finding;
}

/* Those that drop and pause nobody. */
static bool accuse_dropping_switches(struct work *w)
{
    const json_t *switches = json_object_get(w->seen, "switches"), *one;
    bool any = false;
    size_t i;
    json_array_foreach(switches, i, one)
    {
        double dropped, paused;
        count_switch(w, json_string_value(one), &dropped, &paused);
        if (!(dropped > 0) || paused != 0)
            continue;
        json_t *finding = accuse_switch(w, json_string_value(one), true);
        if (finding)
            add_evidence(finding, "it dropped %.0f frames in incasts, and sent no pause", dropped);
        any = true;
    }
    return any;
}

/* Senders behind a switch: how many, and how many were never stopped and lost packets, where others were
 * stopped. */
static size_t unpaused_behind(const struct work *w, const char *name, size_t *senders)
{
    size_t never = 0;
    *senders = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        if (!n->incasts || !n->peer || strcmp(n->peer, name) != 0)
            continue;
        ++*senders;
        never += n->unpaused == n->incasts && n->beside_paused && n->lost > 0;
    }
    return never;
}

/* The pauses that a switch sent to the node in incasts; NAN: not known. */
static double pauses_to(const struct work *w, const struct node *n)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run;
    double sum = NAN;
    const char *peer;
    size_t i, port = 0;
    if (!n->peer)
        return NAN;
    while (link_of_port(w, n->peer, port, &peer) && strcmp(peer, n->name) != 0)
        port++;
    json_array_foreach(runs, i, run)
    {
        char glob[64];
        snprintf(glob, sizeof glob, "port%zu_tx_prio?_pause", port);
        double pauses = is_incast(run, false) ? counted(run, n->peer, glob) : NAN;
        if (!isnan(pauses))
            sum = (isnan(sum) ? 0 : sum) + pauses;
    }
    return sum;
}

/* A sender that was never stopped where others were, although its switch sent it pauses, or it lost packets:
 * what is merely not much in flight needs no pause. */
static void judge_unpaused(struct work *w, struct node *n, bool switch_found)
{
    size_t senders = 0, never = n->peer ? unpaused_behind(w, n->peer, &senders) : 0;
    double sent = pauses_to(w, n);
    if (n->unpaused < n->incasts || !n->incasts || !(sent > 0 || (n->beside_paused && n->lost > 0)))
        return;
    if (!(sent > 0) && (switch_found || sent == 0 || (never > 1 && never == senders))) {
        json_t *finding = switch_found || !n->peer ? NULL : accuse_switch(w, n->peer, false);
        if (finding)
            add_evidence(finding,
                         "%zu senders behind it were never stopped in incasts in which others were, and lost "
                         "packets; a switch beyond it may be the one",
                         never);
        return;
    }
    json_t *finding =
        find(w, "pfc-off", n->name, sent > 0, "lossless",
             "%s was never stopped by a pause as a sender of an incast: PFC is off there, or for "
             "another priority",
             n->name);
    set_figure(finding, 0, 1, "pauses", "a paused sender counts the pauses that it is sent");
    if (sent > 0)
        add_evidence(finding, "%s sent it %.0f pauses, and it counted none", n->peer, sent);
    else
        add_evidence(finding, "other senders were stopped, and it sent %.0f packets again%s%s", n->lost,
                     senders == 1 ? "; it is the only sender behind " : "", senders == 1 ? n->peer : "");
    set_node(finding, n);
}

/* What was lost though PFC was on, and is not explained yet. */
static void judge_lost(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow, *worst = NULL;
    double lost = 0, most = 0;
    const char *dropping = NULL;
    size_t i, k;
    if (json_array_size(w->findings))
        return;
    json_array_foreach(runs, i, run)
    {
        if (json_is_true(json_object_get(run, "light")))
            continue;
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            double again = number_of(flow, "again");
            lost += again > 0 ? again : 0;
            if (again > 0 && (!worst || again > number_of(worst, "again")))
                worst = flow;
        }
        json_array_foreach(json_object_get(w->seen, "switches"), k, flow)
        {
            double drops = counted(run, json_string_value(flow), "buffer_discards");
            if (drops > most)
                most = drops, dropping = json_string_value(flow);
        }
    }
    if (!worst)
        return;
    json_t *finding = find(w, "loss", dropping ? dropping : "between hosts", dropping != NULL, "lossless",
                           "packets are lost although PFC is on: %s",
                           dropping ? "the switch drops them (headroom, buffer)"
                                    : "where is not known without counters of "
                                      "switches");
    if (dropping) {
        json_object_set_new(finding, "switch", json_text(dropping));
        add_evidence(finding, "it dropped %.0f frames in a run", most);
    }
    set_figure(finding, lost, 0, "packets sent again", "PFC is there to lose nothing");
    add_evidence(finding, "the flow from %s to %s sent %.0f packets again", text_of(worst, "from"),
                 text_of(worst, "to"), number_of(worst, "again"));
}

static void judge_pfc(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    size_t i, k, incasts = 0;
    bool paused = false;
    json_array_foreach(runs, i, run)
    {
        if (!is_incast(run, false))
            continue;
        bool any = any_paused(run);
        incasts++;
        paused = paused || any;
        json_array_foreach(json_object_get(run, "flows"), k, flow) take_incast_flow(w, run, flow, any);
    }
    bool found = accuse_dropping_switches(w);
    for (i = 0; i < w->count; i++)
        if (!w->nodes[i].accused)
            judge_unpaused(w, &w->nodes[i], found);
    if (incasts && !paused && !found)
        do_not_know(w, "PFC was not seen to work: no sender of an incast was paused");
}

/* ---- DCQCN: marks are answered, and the answers obeyed */

/* Most of its senders obeyed CNPs: which did not, though something held them? */
static void take_marked_incast(struct work *w, const json_t *run)
{
    const json_t *flows = json_object_get(run, "flows"), *flow;
    size_t i, obeyed = 0;
    json_array_foreach(flows, i, flow)
    {
        obeyed += counted(run, text_of(flow, "from"), "rp_cnp_handled") > 0;
        if (number_of(flow, "again") > 0) /* what was lost slows senders, too */
            return;
    }
    json_array_foreach(flows, i, flow)
    {
        struct node *n = node_of(w, text_of(flow, "from"));
        double handled = n ? counted(run, n->name, "rp_cnp_handled") : NAN, own = n ? n->best[HOST][TX] : NAN;
        if (2 * obeyed <= json_array_size(flows) || isnan(handled) || isnan(own) ||
            own < IS_HELD * number_of(flow, "bps"))
            continue;
        n->marked_incasts++;
        n->unslowed += handled == 0;
    }
}

static void judge_dcqcn(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    size_t i, k, runs_with = 0, marked_runs = 0;
    json_array_foreach(runs, i, run)
    {
        bool marked = false;
        if (!is_incast(run, true))
            continue;
        runs_with++;
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            struct node *to = node_of(w, text_of(flow, "to"));
            double sent = to ? counted(run, to->name, "np_cnp_sent") : NAN, marks = number_of(flow, "marked");
            marked = marked || marks > 0 || sent > 0;
            if (marks > 0 && sent == 0 && !to->accused) {
                json_t *finding = find(w, "dcqcn-off", to->name, true, "lossless",
                                       "%s answers no mark: its notification point is off", to->name);
                set_figure(finding, 0, 1, "CNPs", "marked packets are answered by CNPs");
                set_node(finding, to);
            }
        }
        take_marked_incast(w, run);
        marked_runs += marked;
    }
    for (i = 0; i < w->count; i++) {
        struct node *n = &w->nodes[i];
        if (!n->marked_incasts || n->unslowed < n->marked_incasts || n->accused)
            continue;
        json_t *finding =
            find(w, "dcqcn-off", n->name, true, "lossless",
                 "%s obeyed no CNP as a sender of %zu %s in which most others did: its reaction "
                 "point is off, or its packets cannot be marked",
                 n->name, n->marked_incasts, THINGS(n->marked_incasts, "incast"));
        set_figure(finding, 0, 1, "CNPs", "the other senders of the same incasts");
        set_node(finding, n);
    }
    if (runs_with && !marked_runs)
        do_not_know(w,
                    "DCQCN was not seen to work: no packet of an incast was marked, as where switches have "
                    "no ECN thresholds");
}

/* ---- versions, and what hosts say of themselves */

/* The value that most machines have; NULL: there is no majority. */
static const char *majority(const json_t *facts, const char *key, size_t *with)
{
    const char *machine, *best = NULL;
    json_t *of, *counts = json_object(), *n;
    size_t all = 0;
    json_object_foreach((json_t *)(uintptr_t)facts, machine, of)
    {
        const char *value = text_of(of, key);
        if (!*value)
            continue;
        all++;
        json_int_t so_far = json_integer_value(json_object_get(counts, value));
        json_put(counts, value, json_integer(so_far + 1));
    }
    const char *value;
    json_object_foreach(counts, value, n)
    {
        if (2 * (size_t)json_integer_value(n) > all && all > 2)
            best = value, *with = (size_t)json_integer_value(n);
    }
    json_object_foreach((json_t *)(uintptr_t)facts, machine, of)
    {
        if (best && strcmp(text_of(of, key), best) == 0) { /* a string that lives on */
            best = text_of(of, key);
            break;
        }
    }
    json_decref(counts);
    return best;
}

/* Where no value is that of most, which of them is right is not known. */
static void note_differing(struct work *w, const json_t *facts, const char *key, json_t *noted)
{
    const char *machine, *first = NULL, *first_of = NULL;
    json_t *of;
    json_object_foreach((json_t *)(uintptr_t)facts, machine, of)
    {
        const char *value = text_of(of, key);
        if (!*value || json_object_get(noted, key))
            continue;
        if (first && strcmp(first, value) != 0) {
            do_not_know(w, "hosts differ in %s: %s has %s, %s has %s; which is right is not known", key,
                        first_of, first, machine, value);
            json_object_set_new(noted, key, json_true());
        }
        if (!first)
            first = value, first_of = machine;
    }
}

static void judge_drift(struct work *w)
{
    json_t *noted = json_object();
    const json_t *facts = json_object_get(w->seen, "facts"),
                 *before = json_object_get(json_object_get(w->seen, "baseline"), "facts"), *of, *value;
    const char *machine, *key;
    json_object_foreach((json_t *)(uintptr_t)facts, machine, of)
    {
        json_object_foreach((json_t *)(uintptr_t)of, key, value)
        {
            size_t with = 0;
            const char *most = majority(facts, key, &with), *is = json_string_value(value);
            if (!most)
                note_differing(w, facts, key, noted);
            if (!most || !is || strcmp(most, is) == 0)
                continue;
            json_t *finding = find(w, "drift", machine, true, "doctor", "%s has %s %s, %zu others have %s",
                                   machine, key, is, with, most);
            json_object_set_new(finding, "host", json_text(machine));
            json_object_set_new(finding, "source", json_text("what most hosts have"));
        }
        json_object_foreach(json_object_get(before, machine), key, value)
        {
            const char *was = json_string_value(value), *is = text_of(of, key);
            if (was && *is && strcmp(was, is) != 0)
                do_not_know(w, "%s had %s %s in the baseline, and has %s", machine, key, was, is);
        }
    }
    json_decref(noted);
}

static void judge_doctor(struct work *w)
{
    const json_t *doctor = json_object_get(w->seen, "doctor"), *entry;
    size_t i;
    json_array_foreach(doctor, i, entry)
    {
        if (strcmp(text_of(entry, "verdict"), "failure") != 0)
            continue;
        json_t *finding = find(w, "doctor", text_of(entry, "host"), true, "doctor", "%s: %s",
                               text_of(entry, "check"), text_of(entry, "reason"));
        json_object_set_new(finding, "host", json_text(text_of(entry, "host")));
        json_object_set_new(finding, "source", json_text("harness doctor"));
    }
}

/* ---- the whole */

static json_t *figures_of(const struct work *w)
{
    json_t *figures = json_object();
    for (size_t i = 0; i < w->count; i++) {
        json_t *of = json_object();
        for (int memory = 0; memory < 2; memory++)
            for (int way = 0; way < 2; way++)
                if (!isnan(w->nodes[i].best[memory][way]))
                    json_object_set_new(of, figure_names[memory][way],
                                        json_real(w->nodes[i].best[memory][way]));
        if (json_object_size(of))
            json_object_set(figures, w->nodes[i].name, of);
        json_decref(of);
    }
    return figures;
}

static void judge_baseline(struct work *w)
{
    const json_t *before = json_object_get(json_object_get(w->seen, "baseline"), "figures");
    for (size_t i = 0; before && i < w->count; i++) {
        struct node *n = &w->nodes[i];
        for (int k = 0; k < 4 && !n->accused; k++) {
            const char *name = figure_names[k / 2][k % 2];
            double was = number_of(json_object_get(before, n->name), name), is = n->best[k / 2][k % 2];
            if (isnan(was) || isnan(is) || is >= OF_BASELINE * was)
                continue;
            json_t *finding =
                find(w, "slower", n->name, true, k / 2 == GPU ? "gpus" : "pairs",
                     "%s %s %.4g Gb/s with %s memory, and %.4g in the baseline", n->name,
                     k % 2 == TX ? "sends" : "receives", GBPS(is), k / 2 == GPU ? "GPU" : "host", GBPS(was));
            set_figure(finding, is, OF_BASELINE * was, "b/s", "95 % of the baseline");
            set_node(finding, n);
        }
    }
}

json_t *burn_in_findings(const json_t *seen)
{
    struct work w = {.seen = seen,
                     .index = json_object(),
                     .findings = json_array(),
                     .unknown = json_array(),
                     .pairs = json_object()};
    take_nodes(&w);
    take_runs(&w);
    judge_doctor(&w);
    judge_links(&w);
    judge_rates(&w);
    judge_uplinks(&w);
    for (size_t i = 0; i < w.count; i++)
        if (!w.nodes[i].accused)
            judge_gpu(&w, &w.nodes[i]);
    judge_pfc(&w);
    judge_dcqcn(&w);
    judge_lost(&w);
    judge_baseline(&w);
    judge_drift(&w);
    judge_gpu_copies(seen, w.findings, w.unknown);
    json_t *all = json_make("{s:o,s:o,s:o,s:o}", "findings", w.findings, "figures", figures_of(&w), "unknown",
                            w.unknown, "pairs", w.pairs);
    json_decref(w.index);
    free(w.nodes);
    return all;
}
