/* Links that damage or lose frames. */
#include "harness/burn_in/blame.h"

#include "lib/xalloc.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counters of which one is an error of the link that ends at the port, and what is said of it. */
static const struct {
    const char *counter, *says;
} link_errors[] = {
    {"rx_crc_errors_phy", "has errors"},           {"rx_symbol_err_phy", "has errors"},
    {"link_down_events_phy", "went down"},         {"link_carrier_changes", "went down, or came up"},
    {"module_bad_shorted", "has a bad module"},    {"module_high_temp", "has a module that is too hot"},
    {"module_unplug", "had its module unplugged"},
};

static json_t *accuse_link(struct work *w, const char *a, const char *b, bool sure, const char *stage,
                           const char *what, double errors)
{
    if (blame_of_link(w, a, b))
        return NULL;
    char *name = xasprintf("%s - %s", a, b);
    json_t *finding = blame(w, "link-errors", name, sure, stage, "the link between %s and %s %s", a, b, what);
    blame_link(finding, a, b);
    blame_figure(finding, errors, 0, "", "an error of a link is one too many");
    if (seen_node(w, a))
        blame_node(finding, seen_node(w, a));
    if (seen_node(w, b))
        blame_node(finding, seen_node(w, b));
    free(name);
    return finding;
}

/* Those of the flows' priorities. */
static double bytes_of_flows(const json_t *run, const char *end, enum way way)
{
    const json_t *priority;
    double sum = NAN;
    char name[64];
    size_t i;
    json_array_foreach(json_object_get(run, "priorities"), i, priority)
    {
        snprintf(name, sizeof name, "%s_prio%lld_bytes", way == TX ? "tx" : "rx",
                 (long long)json_integer_value(priority));
        seen_add(&sum, seen_sum(json_object_get(run, "totals"), end, name));
    }
    return sum;
}

/* Are the bytes that its ends count those of flows alone? Real ends are read at different moments, between
 * which others' frames pass; a real switch counts these with the flows', a NIC by priority. */
static bool counts_flows_alone(const struct work *w, const json_t *link)
{
    return json_is_true(json_object_get(w->seen, "simulated")) ||
           (!seen_is_switch(w, seen_text(link, "a")) && !seen_is_switch(w, seen_text(link, "b")));
}

/* The bytes that an end of a link sent or received in the whole run; NAN: not known. */
static double end_bytes(const struct work *w, const json_t *run, const json_t *link, const char *end,
                        enum way way)
{
    char glob[64];
    if (!json_is_true(json_object_get(w->seen, "simulated")) && counts_flows_alone(w, link))
        return bytes_of_flows(run, end, way);
    if (seen_is_switch(w, end))
        snprintf(glob, sizeof glob, "port%zu_%s_bytes", seen_port_of_link(w, end, link),
                 way == TX ? "tx" : "rx");
    else
        snprintf(glob, sizeof glob, "%s_prio?_bytes", way == TX ? "tx" : "rx");
    return seen_sum(json_object_get(run, "totals"), end, glob);
}

static bool is_end_of(const json_t *link, const char *name)
{
    return strcmp(seen_text(link, "a"), name) == 0 || strcmp(seen_text(link, "b"), name) == 0;
}

/* Did a flow lose packets on its way, which may have led over the link? */
static bool has_lossy_flow(const struct work *w, const json_t *run, const json_t *link)
{
    bool between = seen_is_switch(w, seen_text(link, "a")) && seen_is_switch(w, seen_text(link, "b"));
    const json_t *flow;
    size_t i;
    json_array_foreach(json_object_get(run, "flows"), i, flow)
    {
        if (seen_number(flow, "again") > 0 &&
            (between || is_end_of(link, seen_text(flow, "from")) || is_end_of(link, seen_text(flow, "to"))))
            return true;
    }
    return false;
}

/* What one end sent and the other did not receive. Frames of which the last are under way when the run ends
 * are a few; runs end with a time in which nothing is sent. Where others' frames are among them flows have to
 * have lost something, too. */
static void judge_ends(struct work *w, const json_t *run, const json_t *link, const char *from,
                       const char *to)
{
    double sent = end_bytes(w, run, link, from, TX), received = end_bytes(w, run, link, to, RX);
    if (isnan(sent) || isnan(received) || received >= sent ||
        (!counts_flows_alone(w, link) && !has_lossy_flow(w, run, link)))
        return;
    json_t *finding = accuse_link(w, seen_text(link, "a"), seen_text(link, "b"), true,
                                  seen_text(run, "stage"), "loses frames", sent - received);
    if (finding)
        blame_add(finding, "%s sent %.0f bytes in %s, and %s received %.0f", from, sent,
                  seen_text(run, "folder"), to, received);
}

static void judge_link_counters(struct work *w, const json_t *run)
{
    const char *name;
    json_t *counters;
    json_object_foreach(json_object_get(run, "totals"), name, counters)
    {
        for (size_t k = 0; k < sizeof link_errors / sizeof *link_errors; k++) {
            double errors = seen_number(counters, link_errors[k].counter);
            const char *peer = seen_node(w, name) ? seen_node(w, name)->peer : NULL;
            if (!(errors > 0) || !seen_node(w, name))
                continue;
            json_t *finding = accuse_link(w, name, peer ? peer : "its switch", true, seen_text(run, "stage"),
                                          link_errors[k].says, errors);
            if (finding)
                blame_add(finding, "%s counted %s: %.0f in %s", name, link_errors[k].counter, errors,
                          seen_text(run, "folder"));
        }
    }
}

/* Did this direction of the link carry something, and deliver all of it? */
static bool way_is_whole(const struct work *w, const json_t *run, const json_t *link, const char *from,
                         const char *to)
{
    double sent = end_bytes(w, run, link, from, TX);
    return sent > 0 && end_bytes(w, run, link, to, RX) >= sent;
}

/* Did each direction of the link deliver all that was sent, in every run in which nothing waits? Not if the
 * counters of an end are not known. */
static bool link_is_whole(const struct work *w, const json_t *link)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run;
    const char *a = seen_text(link, "a"), *b = seen_text(link, "b");
    bool any = false;
    size_t i;
    json_array_foreach(runs, i, run)
    {
        if (!json_is_true(json_object_get(run, "light")))
            continue;
        any = true;
        if (!way_is_whole(w, run, link, a, b) || !way_is_whole(w, run, link, b, a))
            return false;
    }
    return any;
}

/* What is lost between it and its switch is known by counters of both. */
static bool has_whole_link(const struct work *w, const struct node *n)
{
    const char *peer;
    const json_t *link = seen_link_of_port(w, n->name, 0, &peer);
    return link && link_is_whole(w, link);
}

/* Count the flows with little traffic between NICs that are not accused; returns how many were lossy. */
static size_t count_light_flows(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *flow;
    size_t i, k, all = 0;
    for (i = 0; i < w->count; i++) {
        struct node *n = &w->nodes[i];
        n->flows[TX] = n->flows[RX] = n->lossy[TX] = n->lossy[RX] = 0;
    }
    json_array_foreach(runs, i, run)
    {
        json_array_foreach(json_is_true(json_object_get(run, "light")) ? json_object_get(run, "flows") : NULL,
                           k, flow)
        {
            struct node *from = seen_node(w, seen_text(flow, "from")),
                        *to = seen_node(w, seen_text(flow, "to"));
            bool lossy = seen_number(flow, "again") > 0;
            if (!from || !to || from->accused || to->accused)
                continue;
            from->flows[TX]++;
            to->flows[RX]++;
            from->lossy[TX] += lossy;
            to->lossy[RX] += lossy;
            if (lossy)
                from->lossy_with = to->name, to->lossy_with = from->name;
            all += lossy;
        }
    }
    return all;
}

/* The node of which all flows are lossy, in both directions; or most of them, and no others are. A link
 * between switches makes some flows lossy of each NIC that sends through it. */
static struct node *most_lossy(struct work *w, size_t all)
{
    struct node *most = NULL;
    for (size_t i = 0; i < w->count; i++) {
        struct node *n = &w->nodes[i];
        size_t lossy = n->lossy[TX] + n->lossy[RX], flows = n->flows[TX] + n->flows[RX];
        if (n->lossy[TX] && n->lossy[RX] && (lossy == flows || (2 * lossy > flows && lossy == all)) &&
            (!most || lossy > most->lossy[TX] + most->lossy[RX]) && !has_whole_link(w, n))
            most = n;
    }
    return most;
}

static void judge_losses(struct work *w)
{
    struct node *n;
    size_t all;
    while ((all = count_light_flows(w)) > 0 && (n = most_lossy(w, all))) {
        size_t lossy = n->lossy[TX] + n->lossy[RX];
        json_t *finding = accuse_link(w, n->name, n->peer ? n->peer : "its switch", lossy > 2, "nics",
                                      "loses frames", (double)lossy);
        if (finding)
            blame_add(finding,
                      "of %zu flows of %s with so little traffic that nothing waits, %zu sent packets again, "
                      "in both directions",
                      n->flows[TX] + n->flows[RX], n->name, lossy);
        n->accused = true;
    }
    for (size_t i = 0; i < w->count && all && !json_array_size(w->findings); i++)
        if (w->nodes[i].lossy[TX]) {
            json_t *finding =
                blame(w, "loss", "between hosts", false, "nics",
                      "packets are lost between hosts, and no NIC has all of it: a link between switches, or "
                      "one direction of a cable");
            blame_add(finding, "%zu flows with little traffic sent packets again, such as %s to %s", all,
                      w->nodes[i].name, w->nodes[i].lossy_with);
            break;
        }
}

/* The switches of a ring of ports ("s0:1"), from the first one by name. */
static void add_ring(const json_t *ports, struct text *out)
{
    size_t count = json_array_size(ports), first = 0;
    for (size_t i = 1; i < count; i++)
        if (strcmp(json_string_value(json_array_get(ports, i)),
                   json_string_value(json_array_get(ports, first))) < 0)
            first = i;
    for (size_t i = 0; i < count; i++) {
        const char *port = json_string_value(json_array_get(ports, (first + i) % count));
        text_add(out, "%s%.*s", i ? " - " : "", (int)strcspn(port, ":"), port);
    }
}

void judge_deadlocks(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run, *one;
    size_t i, k;
    json_array_foreach(runs, i, run)
    {
        json_array_foreach(json_object_get(run, "deadlocks"), k, one)
        {
            struct text ring = {0};
            add_ring(json_object_get(one, "ports"), &ring);
            json_t *finding = blame_of(w, text_string(&ring));
            if (!finding) {
                finding = blame(w, "deadlock", text_string(&ring), true, seen_text(run, "stage"),
                                "ports of these switches wait for each other in a ring, and nothing moves: "
                                "flows cross them in a circle, and PFC stops all. Routes without one (up, "
                                "then down) cannot; a PFC watchdog breaks it");
                blame_figure(finding, 1, 0, "deadlocks", "a network without PFC's deadlocks");
            }
            blame_add(finding, "%s: %s", seen_text(run, "folder"), seen_text(one, "text"));
            text_free(&ring);
        }
    }
}

/* A link between switches over which nothing came, though frames were sent to it. */
static void judge_down(struct work *w, const json_t *link)
{
    const char *ends[] = {seen_text(link, "a"), seen_text(link, "b")};
    const json_t *run, *first = NULL;
    double lost = NAN, came = NAN;
    size_t i;
    if (!seen_is_switch(w, ends[0]) || !seen_is_switch(w, ends[1]))
        return;
    json_array_foreach(json_object_get(w->seen, "runs"), i, run)
    {
        for (size_t k = 0; k < 2; k++) {
            char *glob = xasprintf("port%zu_link_discards", seen_port_of_link(w, ends[k], link));
            double here = seen_sum(json_object_get(run, "totals"), ends[k], glob);
            seen_add(&lost, here);
            seen_add(&came, end_bytes(w, run, link, ends[k], RX));
            first = !first && here > 0 ? run : first;
            free(glob);
        }
    }
    if (!(lost > 0) || came != 0)
        return;
    json_t *finding = accuse_link(w, ends[0], ends[1], true, seen_text(first, "stage"), "is down", lost);
    if (finding)
        blame_add(finding, "%.0f frames that were sent to it were lost, and none came over it", lost);
}

/* ---- what was not seen */

/* Does the run tell of frames that the NIC's link damaged or lost: by its counters, its flows, or both ends
 * of its link? */
static bool tells_of_losses(const struct work *w, const json_t *run, const struct node *n)
{
    static const char *const counters[] = {"rx_crc_errors_phy", "rx_symbol_err_phy", "out_of_sequence",
                                           "packet_seq_err"};
    const json_t *of = json_object_get(json_object_get(run, "totals"), n->name), *flow;
    const char *peer;
    const json_t *link = seen_link_of_port(w, n->name, 0, &peer);
    size_t i;
    for (i = 0; i < sizeof counters / sizeof *counters; i++)
        if (json_object_get(of, counters[i]))
            return true;
    json_array_foreach(json_object_get(run, "flows"), i, flow)
    {
        bool is =
            strcmp(seen_text(flow, "from"), n->name) == 0 || strcmp(seen_text(flow, "to"), n->name) == 0;
        if (is && !isnan(seen_number(flow, "again")))
            return true;
    }
    return link && counts_flows_alone(w, link) && end_bytes(w, run, link, n->name, TX) > 0 &&
           !isnan(end_bytes(w, run, link, peer, RX));
}

/* NICs of which no run in which nothing waits tells of losses: that there were none is not known. */
static void note_untold(struct work *w)
{
    const json_t *runs = json_object_get(w->seen, "runs"), *run;
    struct text names = {0};
    size_t i, light = 0, untold = 0;
    json_array_foreach(runs, i, run)
    {
        light += json_is_true(json_object_get(run, "light"));
    }
    for (size_t k = 0; light && k < w->count; k++) {
        bool told = false;
        json_array_foreach(runs, i, run)
        {
            told = told ||
                   (json_is_true(json_object_get(run, "light")) && tells_of_losses(w, run, &w->nodes[k]));
        }
        if (!told)
            blame_add_name(&names, &untold, w->nodes[k].name);
    }
    if (untold)
        blame_unknown(w, "no counter of %zu %s tells of frames that were damaged or lost: %s", untold,
                      untold == 1 ? "NIC" : "NICs", text_string(&names));
    text_free(&names);
}

void judge_links(struct work *w)
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
            judge_ends(w, run, link, seen_text(link, "a"), seen_text(link, "b"));
            judge_ends(w, run, link, seen_text(link, "b"), seen_text(link, "a"));
        }
    }
    json_array_foreach(json_object_get(w->seen, "links"), k, link)
    {
        judge_down(w, link);
    }
    judge_losses(w);
    note_untold(w);
}
