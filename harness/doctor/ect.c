/*
 * Can packets be marked where they are to be? RFC 3168: a packet whose ECN bits are 00 is not ECN-capable
 * (not ECT); where others are marked CE, a queueing discipline drops it, and a switch lets it pass and the
 * queue grow. Either way no CNP is sent for it. Found are flows that are not ECN-capable although a place on
 * their path marks packets, or their sender reacts to CNPs; and in simulated labs, where all places are
 * known, flows whose sender reacts although nothing marks any flow.
 */
#include "harness/doctor/ect.h"

#include "harness/doctor/check.h"
#include "harness/plan/traffic_class.h"
#include "lib/document/json_text.h"
#include "lib/physics/fabric.h"
#include "lib/physics/host.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ECT0 2 /* RFC 3168, section 5 */

/* ---- what is found */

enum consequence {
    DROPPED,   /* RED on its path drops packets that it would otherwise mark */
    UNMARKED,  /* a switch on its path does not mark it */
    UNNOTICED, /* nothing on its path is known to mark packets, but its sender has DCQCN on */
    NOWHERE,   /* the same of a flow that is ECN-capable */
};
static const char *const consequence_names[] = {
    [DROPPED] = "dropped", [UNMARKED] = "unmarked", [UNNOTICED] = "unnoticed", [NOWHERE] = "nowhere"};

/* Flows with the same traffic class and the same consequence. It points into the cell. */
struct finding {
    enum consequence consequence;
    int64_t traffic_class;
    bool forced; /* by the sender's settings.traffic_class, not the flow's own */
    bool by_nic; /* the sender's NIC takes only the DSCP of a traffic class, and ECN is off there for the
                    priority */
    bool unsure; /* whether the sender's NIC does so is not known yet */
    const char
        *only; /* when alone the sender is notified without marks, and what holds otherwise; NULL: never */
    const char *place; /* the place that would mark: a role or a simulated switch; without one: the sender */
    struct scenario_flow flows[TEXT_NAMED]; /* the first of them; a pattern is one */
    const char *last;                       /* the name of the last of them */
    size_t count;
};

/* ---- places that mark */

struct place {
    const char *name; /* its role, else its node's name */
    const char *node; /* in the lab */
    int at;           /* its number there; -1: it has none */
    enum consequence consequence;
    bool ingress; /* RED on incoming packets */
};

/* What writes the ECN bits of a role's packets: mlx5 takes the DSCP alone from a traffic class (linux
 * drivers/infiniband/hw/mlx5/qp.c, mlx5_set_path) and sets ECT where its reaction point is on; Soft-RoCE and
 * the simulator take the whole byte. */
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
    bool any_marked;   /* some flow's sender reacts to the marks of a place on its way */
    bool all_known;    /* these are all, and what a sweep varies is not among them */
    size_t node_count; /* of the lab: its hosts, then its switches */
    size_t *first;     /* of each node, into neighbours */
    int *neighbours, *queue;
    uint16_t **hops; /* from a node to each node; NULL: not asked for yet */
    struct finding *findings;
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

/* By the settings that nic-config finds on a host: Soft-RoCE has no PFC and no DCQCN, and only MLNX_OFED
 * shows where ECN is on. */
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

static void add_place(struct survey *s, const char *name, const char *node, enum consequence consequence,
                      bool ingress)
{
    s->places[s->place_count++] =
        (struct place){name, node, lab_node_index(&s->cell->lab, node), consequence, ingress};
}

static bool has_red(const struct settings *settings)
{
    return settings && settings->red && settings->red->ecn == 1;
}

/* What the roles of a switch say about its marking: the last one names it. */
struct marking {
    const char *role;
    const struct settings *settings;
};

static void note_marking_role(const struct survey *s, size_t i, struct marking *of_switch)
{
    const char *role = scenario_role(&s->cell->scenario, i);
    int at = lab_switch_of(&s->cell->lab, role);
    if (at < 0)
        return;
    struct marking *m = &of_switch[at];
    m->role = role;
    m->settings = s->settings[i];
}

/* The thresholds of the scenario replace those of the lab; a kmax of 0 marks nothing. */
static bool switch_marks(const struct survey *s, const struct physics_switch *at, const struct marking *m)
{
    const struct settings *settings = m->role ? m->settings : &s->cell->scenario.settings;
    const struct settings_ecn_threshold *threshold = settings ? settings->ecn_threshold : NULL;
    return (threshold ? threshold->kmax_bytes : at->ecn.kmax_bytes) > 0;
}

/* Switches of the lab: real labs name none. */
static void add_switches(struct survey *s)
{
    const struct physics_switch *at;
    struct marking *of_switch = xcalloc(s->cell->lab.switches.count + 1, sizeof *of_switch);
    for (size_t i = 0; i < s->cell->scenario.roles.count; i++)
        note_marking_role(s, i, of_switch);
    for (size_t i = 0; (at = lab_switch_at(&s->cell->lab, i)); i++) {
        const struct marking *m = &of_switch[i];
        if (at->software ? has_red(m->role ? m->settings : &s->cell->scenario.settings)
                         : switch_marks(s, at, m))
            add_place(s, m->role ? m->role : at->name, at->name, at->software ? DROPPED : UNMARKED, false);
    }
    free(of_switch);
}

/* Hosts that forward: RED is a queueing discipline of theirs. */
static void add_bridges(struct survey *s)
{
    for (size_t i = 0; lab_kind(&s->cell->lab)->bridges && i < s->cell->scenario.roles.count; i++) {
        const char *role = scenario_role(&s->cell->scenario, i);
        if (has_red(s->settings[i]))
            add_place(s, role, lab_node_of(&s->cell->lab, role), DROPPED,
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

/* Neighbours of each node over the lab's links: those of node i are neighbours[first[i]] to
 * neighbours[first[i + 1] - 1]. */
static void list_neighbours(struct survey *s)
{
    const struct lab *lab = &s->cell->lab;
    const struct lab_link *link;
    int ends[2];
    s->node_count = lab->hosts.count + lab->switches.count;
    s->first = xcalloc(s->node_count + 2, sizeof *s->first);
    s->neighbours = xcalloc(2 * lab->links.count + 1, sizeof *s->neighbours);
    s->hops = xcalloc(s->node_count + 1, sizeof *s->hops);
    s->queue = xcalloc(s->node_count + 1, sizeof *s->queue);
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++)
        for (int k = 0; ends_of(lab, link, ends) && k < 2; k++)
            s->first[ends[k] + 2]++;
    for (size_t i = 2; i < s->node_count + 2; i++)
        s->first[i] += s->first[i - 1];
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++)
        for (int k = 0; ends_of(lab, link, ends) && k < 2; k++)
            s->neighbours[s->first[ends[k] + 1]++] = ends[1 - k];
}

/* Hops from a node to each other node, kept for the next flow; UNREACHED: there is no way. */
static const uint16_t *search_from(struct survey *s, size_t from)
{
    if (s->hops[from])
        return s->hops[from];
    uint16_t *hops = xmalloc((s->node_count + 1) * sizeof *hops);
    size_t first = 0, last = 0;
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

/* Hops between two nodes; -1: there is no way, or a node is not known. A node with one link has the ways of
 * its neighbour, so that the hosts of a switch share its search. */
static int hops_between(struct survey *s, int from, int to)
{
    if (from < 0 || to < 0 || from == to)
        return from < 0 || to < 0 ? -1 : 0;
    bool leaf = s->first[from + 1] - s->first[from] == 1;
    int start = leaf ? s->neighbours[s->first[from]] : from;
    const uint16_t *hops = search_from(s, (size_t)start);
    return hops[to] == UNREACHED ? -1 : hops[to] + leaf;
}

/* Is the node on a shortest path between the two ends, which are so many hops apart? True if the lab's links
 * do not tell. */
static bool in_the_way(struct survey *s, int from, int to, int hops, const struct place *place)
{
    int at = place->at;
    if (at >= 0 && (at == from || at == to))
        return (at == from) != place->ingress;
    int before = hops_between(s, from, at);
    if (hops < 0 || before < 0)
        return s->cell->lab.links.count == 0;
    return before < hops && before + hops_between(s, to, at) == hops;
}

static int distance(struct survey *s, int from, const struct place *place)
{
    int hops = hops_between(s, from, place->at);
    return hops < 0 ? INT_MAX : hops;
}

static const struct place *first_in_the_way(struct survey *s, const struct scenario_flow *flow)
{
    const struct place *first = NULL;
    int from = index_of(s, flow_sender(flow)), to = index_of(s, flow_receiver(flow));
    int hops = hops_between(s, from, to);
    for (size_t i = 0; i < s->place_count; i++) {
        const struct place *place = &s->places[i];
        if (in_the_way(s, from, to, hops, place) &&
            (!first || distance(s, from, place) < distance(s, from, first)))
            first = place;
    }
    return first;
}

/* ---- flows */

static void add_finding(struct survey *s, const struct finding *found, const struct scenario_flow *flow)
{
    struct finding *at = NULL;
    for (size_t i = 0; i < s->finding_count; i++)
        if (s->findings[i].consequence == found->consequence && s->findings[i].forced == found->forced &&
            s->findings[i].by_nic == found->by_nic && s->findings[i].unsure == found->unsure &&
            s->findings[i].only == found->only && s->findings[i].traffic_class == found->traffic_class)
            at = &s->findings[i];
    if (!at) {
        s->findings = xreallocarray(s->findings, s->finding_count + 1, sizeof *s->findings);
        at = &s->findings[s->finding_count++];
        *at = *found;
    }
    /* the senders of a pattern are one after the other */
    if (at->count && at->last == flow->name)
        return;
    if (at->count < TEXT_NAMED)
        at->flows[at->count] = *flow;
    at->last = flow->name;
    at->count++;
}

/* Whether the flow's packets are ECT; else the finding says why not. */
static bool flow_capable(const struct settings *settings, const struct sender *sender,
                         const struct scenario_flow *flow, struct finding *found)
{
    bool named = flow->traffic_class != FIELD_UNSET;
    *found = (struct finding){.forced = settings->traffic_class >= 0 && (sender->ofed || !named),
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

/* Does a mark change the rate of what the sender sends? */
static bool marks_count(const struct settings *sender, int64_t priority)
{
    bool reacts = sender->ecn_rp.items ? priority_is_listed(&sender->ecn_rp, priority)
                                       : priority_is_listed(&sender->ecn, priority);
    return reacts && congestion_control_has_marks(sender->congestion_control);
}

static const struct physics_nic *nic_of(const struct lab *lab, const char *role)
{
    int host = lab_host_of(lab, role);
    return host < 0 ? NULL : &lab_sim_host_at(lab, (size_t)host)->nic;
}

/* A simulated NIC of the flow's sender notifies itself when it sends again: in a run without losses never. */
static bool restarts(const struct cell *cell, const struct scenario_flow *flow)
{
    const struct physics_nic *from =
        lab_kind(&cell->lab)->simulated ? nic_of(&cell->lab, flow_sender(flow)) : NULL;
    return from && from->slow_restart;
}

/* May a rule of the scenario mark the flow's packets, or have them answered with CNPs? One of a link may meet
 * any flow, one of a flow that flow, or a part of the pattern. */
static bool injects_marks(const struct scenario *scenario, const struct scenario_flow *flow)
{
    const struct injection_rule *rules = scenario->injections.items;
    size_t length = strlen(flow->name);
    for (size_t i = 0; i < scenario->injections.count; i++)
        if ((rules[i].action == INJECT_MARK || rules[i].action == INJECT_CNP_SENT) &&
            (!rules[i].flow ||
             (strncmp(rules[i].flow, flow->name, length) == 0 && strchr("/", rules[i].flow[length]))))
            return true;
    return false;
}

/* When alone a sender is notified where nothing on the way marks; NULL: never. By its own NIC, or by that of
 * its receiver, which sends CNPs without marks. */
static const char *notified_only(const struct cell *cell, const struct scenario_flow *flow)
{
    const struct physics_nic *to =
        lab_kind(&cell->lab)->simulated ? nic_of(&cell->lab, flow_receiver(flow)) : NULL;
    if (to && to->unmarked_cnps == UNMARKED_CNPS_INGRESS)
        return "when packets find much in the receive buffers of the other end (nic.unmarked_cnps), or are "
               "sent "
               "again: otherwise";
    if (to && to->unmarked_cnps == UNMARKED_CNPS_LOSS)
        return "when packets are lost (nic.unmarked_cnps): without losses";
    return restarts(cell, flow) ? "when packets are sent again (nic.slow_restart): without losses" : NULL;
}

/* Does the scenario itself see to it that the sender is notified where nothing on the way marks? By its
 * rules, by losses that it makes, or by a sweep that varies which NICs notify. */
static bool notified_without_marks(const struct cell *cell, const struct scenario_flow *flow)
{
    static const char *const nics[] = {"model", "slow_restart", "unmarked_cnps", NULL};
    return injects_marks(&cell->scenario, flow) ||
           (notified_only(cell, flow) && (cell->scenario.faults.count || cell->scenario.injections.count ||
                                          doctor_varies(cell, nics, true)));
}

static void survey_flow(void *context, const struct scenario_flow *flow)
{
    struct survey *s = context;
    /* a flow's roles are roles of the scenario */
    int role = scenario_role_index(&s->cell->scenario, flow_sender(flow));
    const struct settings *sender = s->settings[role < 0 ? 0 : role];
    struct finding found;
    if (!sender)
        return;
    bool capable = flow_capable(sender, &s->senders[role < 0 ? 0 : role], flow, &found);
    if (capable && (!s->all_known || !marks_count(sender, flow->priority)))
        return;
    const struct place *place = first_in_the_way(s, flow);
    s->any_marked = s->any_marked || (place && capable);
    if (place && !capable) {
        found.consequence = place->consequence;
        found.place = place->name;
    } else if (!place && !notified_without_marks(s->cell, flow) &&
               (capable || priority_is_listed(&sender->ecn, flow->priority) ||
                priority_is_listed(&sender->ecn_rp, flow->priority))) {
        found.consequence = capable ? NOWHERE : UNNOTICED;
        found.only = notified_only(s->cell, flow);
        found.place = flow_sender(flow);
    } else {
        return;
    }
    add_finding(s, &found, flow);
}

static int survey_cell(struct survey *s, const json_t *in_force, struct error *e)
{
    const struct cell *cell = s->cell;
    static const char *const marks[] = {"red", "ecn_threshold", "kmin", "kmax", "pmax", NULL};
    s->all_known = lab_kind(&cell->lab)->simulated && !doctor_varies(cell, marks, true);
    s->settings = xcalloc(cell->scenario.roles.count + 1, sizeof *s->settings);
    s->parsed = xcalloc(cell->scenario.roles.count + 1, sizeof *s->parsed);
    s->senders = xcalloc(cell->scenario.roles.count + 1, sizeof *s->senders);
    s->places = xcalloc(cell->scenario.roles.count + cell->lab.switches.count + 1, sizeof *s->places);
    if (parse_settings(s, in_force, e) != 0)
        return -1;
    add_switches(s);
    list_neighbours(s);
    add_bridges(s);
    doctor_each_flow(cell, survey_flow, s);
    return 0;
}

static void survey_free(struct survey *s)
{
    for (size_t i = 0; i < s->parsed_count; i++)
        table_free(&settings_table, &s->parsed[i]);
    for (size_t i = 0; s->hops && i < s->node_count; i++)
        free(s->hops[i]);
    free(s->parsed);
    free(s->settings);
    free(s->senders);
    free(s->places);
    free(s->hops);
    free(s->first);
    free(s->neighbours);
    free(s->queue);
    free(s->findings);
}

/* ---- words */

static void add_flow_names(const struct finding *f, struct text *out)
{
    struct text_names names = {.count = f->count};
    for (size_t i = 0; i < f->count && i < TEXT_NAMED; i++)
        names.names[i] = f->flows[i].name;
    text_add_names(out, "flow", &names);
}

/* "flow a-to-b is not ECN-capable (...): RED at switch drops ..." */
static void describe_finding(const struct finding *f, struct text *out)
{
    const char *their = f->count == 1 ? "its" : "their";
    add_flow_names(f, out);
    if (f->consequence == NOWHERE) {
        text_add(out, ": nothing on %s way marks packets, so that the congestion control that is on at %s ",
                 their, f->place);
        if (f->only)
            text_add(out, "reduces %s rate only %s ", their, f->only);
        else
            text_add(out, "never reduces %s rate: ", their);
        text_add(out, "the figures are those without it");
        return;
    }
    text_add(out, " %s not ECN-capable (traffic class %" PRId64 "%s: DSCP %" PRId64 ", ECN bits 00): ",
             f->count == 1 ? "is" : "are", f->traffic_class, f->forced ? ", forced by settings" : "",
             f->traffic_class >> 2);
    if (f->by_nic)
        text_add(out, "%s NIC writes the ECN bits itself, and ECN is off at %s for %s priority: ", their,
                 flow_sender(&f->flows[0]), their);
    else if (f->unsure)
        text_add(out, "unless %s NIC writes the ECN bits itself, as mlx5 does for priorities with ECN, ",
                 their);
    switch (f->consequence) {
    case DROPPED:
        text_add(out, "RED at %s drops %s packets instead of marking them: they cause no CNPs", f->place,
                 their);
        break;
    case UNMARKED:
        text_add(
            out,
            "%s does not mark %s packets: the queue grows until PFC pauses the sender or packets are dropped",
            f->place, their);
        break;
    case UNNOTICED:
        text_add(out, "switches do not mark %s packets: DCQCN, which is on at %s, %s their rate%s%s", their,
                 f->place, f->only ? "reduces" : "never reduces", f->only ? " only " : "",
                 f->only ? f->only : "");
        break;
    case NOWHERE:
        break;
    }
}

static void describe_remedy(const struct finding *f, struct text *out)
{
    if (f->consequence == NOWHERE) {
        text_add(out, "a switch marks by ecn_threshold, a host that forwards by red");
        return;
    }
    if (f->by_nic) {
        text_add(out, "priority %" PRId64 " in settings.ecn switches it on", f->flows[0].priority);
        return;
    }
    text_add(out, "traffic_class %" PRId64 " in %s is the same DSCP with ECT(0)", f->traffic_class | ECT0,
             f->forced ? "settings" : "flows");
}

static json_t *finding_json(const struct finding *f)
{
    struct text words = {0}, remedy = {0};
    describe_finding(f, &words);
    describe_remedy(f, &remedy);
    json_t *json = json_make("{s:o,s:s,s:s,s:b,s:s,s:s,s:s}", "host",
                             json_textf("%.100s->%.100s", f->flows[0].from, f->flows[0].to), "reason",
                             text_string(&words), "fix", text_string(&remedy), "forced", f->forced,
                             "consequence", consequence_names[f->consequence], "place", f->place, "receiver",
                             flow_receiver(&f->flows[0]));
    text_free(&words);
    text_free(&remedy);
    return json;
}

json_t *ect_find(const struct cell *cell, const json_t *in_force, struct error *e)
{
    struct survey s = {.cell = cell};
    json_t *findings = survey_cell(&s, in_force, e) == 0 ? json_array() : NULL;
    for (size_t i = 0; findings && i < s.finding_count; i++)
        if (s.findings[i].consequence != NOWHERE || !s.any_marked)
            json_array_append_new(findings, finding_json(&s.findings[i]));
    survey_free(&s);
    return findings;
}

/* ---- what came of it */

/* The increase over the whole run of a role's counters that match; -1: none was sampled. */
static json_int_t counter_rise(const json_t *hosts, const char *role, const char *pattern)
{
    const char *name;
    json_t *counter;
    json_int_t sum = 0;
    bool any = false;
    json_object_foreach(json_object_get(json_object_get(hosts, role), "counters"), name, counter)
    {
        const json_t *rise = json_object_get(counter, "total");
        if (!json_is_number(rise) || fnmatch(pattern, name, 0) != 0)
            continue;
        any = true;
        sum += (json_int_t)json_number_value(rise);
    }
    return any ? sum : -1;
}

static void add_count(const char *label, json_int_t count, struct text *out)
{
    if (count >= 0)
        text_add(out, "%s%" JSON_INTEGER_FORMAT " %s", out->length ? ", " : "", count, label);
}

void ect_describe_counted(const json_t *finding, const json_t *hosts, struct text *out)
{
    const char *consequence = json_string_value(json_object_get(finding, "consequence"));
    const char *place = json_string_value(json_object_get(finding, "place"));
    const char *receiver = json_string_value(json_object_get(finding, "receiver"));
    struct text counts = {0};
    if (strcmp(consequence, consequence_names[DROPPED]) == 0) {
        add_count("packets marked", counter_rise(hosts, place, "qdisc_*_marked"), &counts);
        add_count("dropped early", counter_rise(hosts, place, "qdisc_*_early"), &counts);
        add_count("dropped at the limit", counter_rise(hosts, place, "qdisc_*_pdrop"), &counts);
    } else if (strcmp(consequence, consequence_names[UNMARKED]) == 0) {
        add_count("packets marked", counter_rise(hosts, place, "ecn_marked"), &counts);
        add_count("dropped", counter_rise(hosts, place, "buffer_discards"), &counts);
    }
    if (counts.length)
        text_add(out, "counted at %s during the whole run: %s", place, text_string(&counts));
    text_clear(&counts);
    add_count("CNPs sent", counter_rise(hosts, receiver, "np_cnp_sent"), &counts);
    if (counts.length)
        text_add(out, "%s%s by %s", out->length ? "; " : "counted: ", text_string(&counts), receiver);
    text_free(&counts);
}

/* ---- the check */

static void examine_ect(const struct doctor_subject *x)
{
    struct error e;
    size_t i;
    json_t *findings = ect_find(x->cell, x->seen ? x->seen->in_force : NULL, &e), *finding;
    if (!findings)
        doctor_add(x->entries, x->lab->name, "ect", "unknown", NULL, "%s", e.text);
    json_array_foreach(findings, i, finding)
    {
        doctor_add(x->entries, json_string_value(json_object_get(finding, "host")), "ect", "warning",
                   json_string_value(json_object_get(finding, "fix")), "%s",
                   json_string_value(json_object_get(finding, "reason")));
        doctor_add_evidence(x->entries, "the scenario's flows and settings, the lab's links%s",
                            json_is_true(json_object_get(finding, "forced")) ? ", traffic_class of the sender"
                                                                             : "");
        if (!x->plan) /* of a run, which counts what comes of it */
            json_object_set(json_array_get(x->entries, json_array_size(x->entries) - 1), "finding", finding);
    }
    json_decref(findings);
}

const struct doctor_check doctor_ect = {.name = "ect",
                                        .scope = DOCTOR_CELL,
                                        .when = DOCTOR_WARNS_OF_RUN | DOCTOR_EXAMINES,
                                        .examine = examine_ect};
