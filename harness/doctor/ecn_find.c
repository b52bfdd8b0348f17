/* Finds flows that are not ECN-capable although a place on their path marks packets, or their sender reacts to CNPs. */
#include "harness/doctor/ecn.h"

#include "lib/document/json_text.h"
#include "lib/physics/fabric.h"
#include "lib/log.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- places that mark */

struct place {
    const char *name; /* its role, else its node's name */
    const char *node; /* in the lab */
    enum ecn_consequence consequence;
    bool ingress; /* RED on incoming packets */
};

/* What writes the ECN bits of a role's packets: mlx5 takes the DSCP alone from a traffic class (linux
 * drivers/infiniband/hw/mlx5/qp.c, mlx5_set_path) and sets ECT where its reaction point is on; Soft-RoCE and the
 * simulator take the whole byte. */
enum sender_nic { NIC_WRITES_CLASS, NIC_WRITES_ECN, NIC_UNKNOWN };

struct sender {
    enum sender_nic nic;
    bool ofed;             /* MLNX_OFED: settings.traffic_class replaces the classes of flows */
    bool knows_priorities; /* settings.ecn_rp is what is in force */
};

#define UNREACHED UINT16_MAX

/* State of the search. */
struct survey {
    const struct cell *cell;
    const struct settings **settings; /* in force, by role: of those that are parsed */
    struct sender *senders;           /* by role */
    struct settings *parsed;
    size_t parsed_count;
    const struct settings
        *common; /* of every role with neither settings in force nor its own; NULL: none was met */
    struct place *places;
    size_t place_count;
    size_t node_count; /* of the lab: its hosts, then its switches */
    size_t *first;     /* of each node, into neighbours */
    int *neighbours, *queue;
    uint16_t **hops; /* from a node to each node; NULL: not asked for yet */
    struct ecn_finding *findings;
    size_t finding_count;
};

/* A setting that a host lacks ("red": null) is treated as absent. */
static void drop_nulls(json_t *document)
{
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(document, next, key, value)
    {
        if (json_is_null(value))
            json_object_del(document, key);
    }
}

/* By the settings that nic-config finds on a host: Soft-RoCE has no PFC and no DCQCN, and only MLNX_OFED shows where ECN is
 * on. */
static struct sender sender_of(const struct survey *s, const json_t *there)
{
    if (lab_kind(&s->cell->lab)->simulated)
        return (struct sender){NIC_WRITES_CLASS, false, false};
    if (!there)
        return (struct sender){NIC_UNKNOWN, false, false};
    bool ofed = json_object_get(there, "ecn_rp"),
         mlx5 = ofed || json_object_get(there, "dcqcn") || json_object_get(there, "pfc");
    return (struct sender){mlx5 ? NIC_WRITES_ECN : NIC_WRITES_CLASS, ofed, ofed};
}

/* A wanted ecn sets both points, unless the scenario names the reaction point too (nic-config's rule). */
static void settle_ecn(json_t *document, const json_t *wanted)
{
    json_t *both = json_object_get(wanted, "ecn");
    if (both && !json_object_get(wanted, "ecn_rp"))
        json_object_set(document, "ecn_rp", both);
}

/* Settings of a role: those in force, with the wanted ones over them. */
static int parse_role(struct survey *s, const char *role, const json_t *there, struct error *e)
{
    json_t *document = there ? json_deep_copy(there) : json_object();
    json_t *wanted = scenario_role_settings(s->cell->scenario_json, role);
    json_merge_deep(document, wanted);
    settle_ecn(document, wanted);
    drop_nulls(document);
    int result = table_parse(&settings_table, document, &s->parsed[s->parsed_count], e);
    json_decref(wanted);
    json_decref(document);
    if (result != 0)
        return error_prefix(e, "settings of %s", role);
    s->parsed_count++;
    return 0;
}

static int parse_settings(struct survey *s, const json_t *in_force, struct error *e)
{
    const json_t *own = json_object_get(s->cell->scenario_json, "settings_of");
    const char *role;
    for (size_t i = 0; (role = scenario_role(&s->cell->scenario, i)); i++) {
        const json_t *there = json_object_get(in_force, role);
        bool common = !there && !json_object_get(own, role);
        s->senders[i] = sender_of(s, there);
        if (!(common && s->common) && parse_role(s, role, there, e) != 0)
            return -1;
        s->settings[i] = common && s->common ? s->common : &s->parsed[s->parsed_count - 1];
        if (common)
            s->common = s->settings[i];
    }
    return 0;
}

static void add_place(struct survey *s, const char *name, const char *node, enum ecn_consequence consequence,
                      bool ingress)
{
    s->places[s->place_count++] = (struct place){name, node, consequence, ingress};
}

static bool has_red(const struct settings *settings)
{
    return settings && settings->red && settings->red->ecn == 1;
}

/* What the roles of a switch say: the last one names it. */
struct marking {
    const char *role;
    const struct settings *settings;
    bool threshold; /* of any of them */
};

static void note_role(const struct survey *s, size_t i, struct marking *of_switch)
{
    const char *role = scenario_role(&s->cell->scenario, i);
    int at = lab_switch_of(&s->cell->lab, role);
    if (at < 0)
        return;
    struct marking *m = &of_switch[at];
    m->role = role;
    m->settings = s->settings[i];
    m->threshold = m->threshold || (m->settings && m->settings->ecn_threshold);
}

/* Switches of the lab: real labs name none. */
static int add_switches(struct survey *s, struct error *e)
{
    const struct physics_switch *at;
    struct marking *of_switch = calloc(s->cell->lab.switches.count + 1, sizeof *of_switch);
    if (!of_switch)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < s->cell->scenario.roles.count; i++)
        note_role(s, i, of_switch);
    for (size_t i = 0; (at = lab_switch_at(&s->cell->lab, i)); i++) {
        const struct marking *m = &of_switch[i];
        if (at->software ? has_red(m->settings) : at->ecn.kmax_bytes > 0 || m->threshold)
            add_place(s, m->role ? m->role : at->name, at->name, at->software ? ECN_DROPPED : ECN_UNMARKED,
                      false);
    }
    free(of_switch);
    return 0;
}

/* Hosts that forward: RED is a queueing discipline of theirs. */
static void add_bridges(struct survey *s)
{
    for (size_t i = 0; lab_kind(&s->cell->lab)->bridges && i < s->cell->scenario.roles.count; i++) {
        const char *role = scenario_role(&s->cell->scenario, i);
        if (has_red(s->settings[i]))
            add_place(s, role, lab_node_of(&s->cell->lab, role), ECN_DROPPED,
                      s->settings[i]->red->at == RED_AT_INGRESS);
    }
}

/* ---- the way of a flow */

static int index_of(const struct survey *s, const char *role)
{
    return lab_node_index(&s->cell->lab, lab_node_of(&s->cell->lab, role));
}

static bool ends_of(const struct lab *lab, const struct lab_link *link, int ends[2])
{
    char *const *names = link->between.items;
    ends[0] = lab_node_index(lab, names[0]);
    ends[1] = lab_node_index(lab, names[1]);
    return ends[0] >= 0 && ends[1] >= 0;
}

/* Neighbours of each node over the lab's links: those of node i are neighbours[first[i]] to neighbours[first[i + 1] - 1]. */
static int list_neighbours(struct survey *s, struct error *e)
{
    const struct lab *lab = &s->cell->lab;
    const struct lab_link *link;
    int ends[2];
    s->node_count = lab->hosts.count + lab->switches.count;
    s->first = calloc(s->node_count + 2, sizeof *s->first);
    s->neighbours = calloc(2 * lab->links.count + 1, sizeof *s->neighbours);
    s->hops = calloc(s->node_count + 1, sizeof *s->hops);
    s->queue = calloc(s->node_count + 1, sizeof *s->queue);
    if (!s->first || !s->neighbours || !s->hops || !s->queue)
        return error_set(e, "out of memory");
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++)
        for (int k = 0; ends_of(lab, link, ends) && k < 2; k++)
            s->first[ends[k] + 2]++;
    for (size_t i = 2; i < s->node_count + 2; i++)
        s->first[i] += s->first[i - 1];
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++)
        for (int k = 0; ends_of(lab, link, ends) && k < 2; k++)
            s->neighbours[s->first[ends[k] + 1]++] = ends[1 - k];
    return 0;
}

/* Hops from a node to each other node, kept for the next flow; UNREACHED: there is no way. NULL: out of memory. */
static const uint16_t *search_from(struct survey *s, size_t from)
{
    if (s->hops[from])
        return s->hops[from];
    uint16_t *hops = malloc((s->node_count + 1) * sizeof *hops);
    size_t first = 0, last = 0;
    if (!hops)
        return NULL;
    memset(hops, 0xff, (s->node_count + 1) * sizeof *hops);
    hops[from] = 0;
    s->queue[last++] = (int)from;
    while (first < last) {
        int node = s->queue[first++];
        for (size_t i = s->first[node]; i < s->first[node + 1]; i++) {
            int next = s->neighbours[i];
            if (hops[next] != UNREACHED)
                continue;
            hops[next] = hops[node] < UNREACHED - 1 ? (uint16_t)(hops[node] + 1) : UNREACHED - 1;
            s->queue[last++] = next;
        }
    }
    return s->hops[from] = hops;
}

/* Hops between two nodes; -1: there is no way, or a node is not known. A node with one link has the ways of its neighbour, so that
 * the hosts of a switch share its search. */
static int hops_between(struct survey *s, int from, int to)
{
    if (from < 0 || to < 0 || from == to)
        return from < 0 || to < 0 ? -1 : 0;
    bool leaf = s->first[from + 1] - s->first[from] == 1;
    int start = leaf ? s->neighbours[s->first[from]] : from;
    const uint16_t *hops = search_from(s, (size_t)start);
    return !hops || hops[to] == UNREACHED ? -1 : hops[to] + leaf;
}

/* Is the node on a shortest path between the two ends? True if the lab's links do not tell. */
static bool in_the_way(struct survey *s, int from, int to, const struct place *place)
{
    int at = lab_node_index(&s->cell->lab, place->node);
    if (at >= 0 && (at == from || at == to))
        return (at == from) != place->ingress;
    int whole = hops_between(s, from, to), before = hops_between(s, from, at),
        after = hops_between(s, to, at);
    if (whole < 0 || before < 0 || after < 0)
        return s->cell->lab.links.count == 0;
    return before + after == whole;
}

static int distance(struct survey *s, int from, const struct place *place)
{
    int hops = hops_between(s, from, lab_node_index(&s->cell->lab, place->node));
    return hops < 0 ? INT_MAX : hops;
}

static const struct place *first_in_the_way(struct survey *s, const struct scenario_flow *flow)
{
    const struct place *first = NULL;
    int from = index_of(s, flow_sender(flow)), to = index_of(s, flow_receiver(flow));
    for (size_t i = 0; i < s->place_count; i++) {
        const struct place *place = &s->places[i];
        if (in_the_way(s, from, to, place) && (!first || distance(s, from, place) < distance(s, from, first)))
            first = place;
    }
    return first;
}

/* ---- findings */

static int add_flow(struct survey *s, const struct ecn_finding *found, const struct scenario_flow *flow,
                    struct error *e)
{
    struct ecn_finding *at = NULL;
    for (size_t i = 0; i < s->finding_count; i++)
        if (s->findings[i].consequence == found->consequence && s->findings[i].forced == found->forced &&
            s->findings[i].by_nic == found->by_nic && s->findings[i].unsure == found->unsure &&
            s->findings[i].traffic_class == found->traffic_class)
            at = &s->findings[i];
    if (!at) {
        struct ecn_finding *grown = realloc(s->findings, (s->finding_count + 1) * sizeof *grown);
        if (!grown)
            return error_set(e, "out of memory");
        s->findings = grown;
        at = &grown[s->finding_count++];
        *at = *found;
    }
    /* the senders of a pattern are one after the other */
    if (at->count && at->last == flow->name)
        return 0;
    if (at->count < ECN_NAMED)
        at->flows[at->count] = *flow;
    at->last = flow->name;
    at->count++;
    return 0;
}

/* Whether the flow's packets are ECT; else the finding says why not. */
static bool flow_capable(const struct settings *settings, const struct sender *sender,
                         const struct scenario_flow *flow, struct ecn_finding *found)
{
    bool named = flow->traffic_class != FIELD_UNSET;
    *found = (struct ecn_finding){.forced = settings->traffic_class >= 0 && (sender->ofed || !named),
                                  .traffic_class = flow->traffic_class,
                                  .by_nic = sender->nic == NIC_WRITES_ECN,
                                  .unsure = sender->nic == NIC_UNKNOWN};
    if (found->forced)
        found->traffic_class = settings->traffic_class;
    if (!found->forced && !named)
        return true;
    if (!found->by_nic)
        return traffic_class_is_ect(found->traffic_class);
    found->traffic_class &= ~INT64_C(3);
    return !sender->knows_priorities || priority_is_listed(&settings->ecn_rp, flow->priority);
}

static int look_at_flow(struct survey *s, const struct scenario_flow *flow, struct error *e)
{
    /* a flow's roles are roles of the scenario */
    int role = scenario_role_index(&s->cell->scenario, flow_sender(flow));
    const struct settings *sender = s->settings[role < 0 ? 0 : role];
    struct ecn_finding found;
    if (!sender || flow_capable(sender, &s->senders[role < 0 ? 0 : role], flow, &found))
        return 0;
    const struct place *place = first_in_the_way(s, flow);
    if (place) {
        found.consequence = place->consequence;
        found.place = place->name;
    } else if (priority_is_listed(&sender->ecn, flow->priority) ||
               priority_is_listed(&sender->ecn_rp, flow->priority)) {
        found.consequence = ECN_UNNOTICED;
        found.place = flow_sender(flow);
    } else {
        return 0;
    }
    return add_flow(s, &found, flow, e);
}

/* Simulated labs make the flows of patterns themselves: of each sender's, one is looked at. */
static int look_at_pattern(struct survey *s, const struct scenario_traffic *t, struct error *e)
{
    char *const *from = t->from.items, *const *to = t->to.count ? t->to.items : t->from.items;
    size_t to_count = t->to.count ? t->to.count : t->from.count;
    for (size_t i = 0; i < t->from.count; i++) {
        size_t k = 0;
        while (k + 1 < to_count && strcmp(to[k], from[i]) == 0)
            k++;
        struct scenario_flow flow = flow_of_pattern(t, from[i], to[k]);
        if (look_at_flow(s, &flow, e) != 0)
            return -1;
    }
    return 0;
}

static int survey_cell(struct survey *s, const json_t *in_force, struct error *e)
{
    const struct cell *cell = s->cell;
    const struct scenario_flow *flows = cell->scenario.flows.items;
    s->settings = calloc(cell->scenario.roles.count + 1, sizeof *s->settings);
    s->parsed = calloc(cell->scenario.roles.count + 1, sizeof *s->parsed);
    s->senders = calloc(cell->scenario.roles.count + 1, sizeof *s->senders);
    s->places = calloc(cell->scenario.roles.count + cell->lab.switches.count + 1, sizeof *s->places);
    if (!s->settings || !s->parsed || !s->senders || !s->places)
        return error_set(e, "out of memory");
    if (parse_settings(s, in_force, e) != 0 || add_switches(s, e) != 0 || list_neighbours(s, e) != 0)
        return -1;
    add_bridges(s);
    for (size_t i = 0; i < cell->scenario.flows.count; i++)
        if (look_at_flow(s, &flows[i], e) != 0)
            return -1;
    const struct scenario_traffic *traffic = cell->scenario.traffic.items;
    for (size_t i = 0; lab_kind(&cell->lab)->simulated && i < cell->scenario.traffic.count; i++)
        if (look_at_pattern(s, &traffic[i], e) != 0)
            return -1;
    return 0;
}

int ecn_find(const struct cell *cell, const json_t *in_force, struct ecn_finding **findings, size_t *count,
             struct error *e)
{
    struct survey s = {.cell = cell};
    int result = survey_cell(&s, in_force, e);
    *findings = result == 0 ? s.findings : NULL;
    *count = result == 0 ? s.finding_count : 0;
    if (result != 0)
        free(s.findings);
    for (size_t i = 0; i < s.parsed_count; i++)
        table_free(&settings_table, &s.parsed[i]);
    free(s.parsed);
    free(s.settings);
    free(s.senders);
    free(s.places);
    for (size_t i = 0; s.hops && i < s.node_count; i++)
        free(s.hops[i]);
    free(s.hops);
    free(s.first);
    free(s.neighbours);
    free(s.queue);
    return result;
}

void ecn_note(const struct cell *cell, json_t *said)
{
    struct ecn_finding *findings;
    size_t count;
    struct error e;
    if (ecn_find(cell, NULL, &findings, &count, &e) != 0)
        json_put(said, e.text, json_true());
    for (size_t i = 0; i < count; i++) {
        struct text words = {0};
        ecn_say(&findings[i], &words);
        text_add(&words, "; ");
        ecn_say_remedy(&findings[i], &words);
        json_put(said, text_string(&words), json_true());
        text_free(&words);
    }
    free(findings);
}

void ecn_warn(const json_t *said)
{
    const char *words;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)said, words, value)
    {
        log_warning("%s", words);
    }
}
