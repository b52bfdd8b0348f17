/*
 * Do the settings of the scenario have an effect on its flows? PFC and DCQCN act on priorities: what is set
 * for others, parameters of a control that is off, and settings that the simulator does not model change
 * nothing, and figures look as if they did. Settings that a sweep varies are meant, and not warned of.
 */
#include "harness/doctor/check.h"

#include "harness/plan/decidable.h"
#include "harness/plan/settings_fit.h"
#include "harness/plan/traffic_class.h"
#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/faults/injection.h"
#include "lib/faults/link_fault.h"
#include "lib/formats/settings.h"
#include "lib/physics/host.h"
#include "lib/xalloc.h"
#include "lib/text.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN (-1)

/* The priorities with PFC, a reaction and a notification point at a role, a bit each, or UNKNOWN; and what
 * its flows have of them. */
struct at_role {
    int pfc, rp, np;
    bool sends, reacts, receives, notifies;
};

struct effect {
    const struct doctor_subject *x;
    const struct cell *cell;
    const json_t *common, *own; /* settings and settings_of of the scenario */
    struct at_role *roles;
    unsigned used, covered; /* priorities of flows; of those that have PFC or DCQCN */
    struct text_names bare; /* flows that have neither */
    unsigned bare_priorities;
    struct text_names odd; /* flows whose traffic class has the ECN bits of ECT(1) or of a mark, */
    int64_t odd_class;     /* the first one's */
};

static unsigned bits_of(const json_t *list)
{
    unsigned bits = 0;
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) bits |= 1u << (json_integer_value(item) & 7);
    return bits;
}

/* "3", "3 and 4" */
static void add_priorities(unsigned bits, struct text *out)
{
    for (unsigned p = 0, left = (unsigned)__builtin_popcount(bits), all = left; p < 8; p++)
        if (bits >> p & 1) {
            text_add(out, "%s%u", left == all ? "" : left == 1 ? " and " : ", ", p);
            left--;
        }
}

/* ---- what is in force */

/* The scenario's value of a role, else that in force. */
static const json_t *value_at(const struct effect *f, const char *role, const char *key)
{
    const json_t *value = json_object_get(json_object_get(f->own, role), key);
    if (!value)
        value = json_object_get(f->common, key);
    return value ? value
                 : json_object_get(json_object_get(f->x->seen ? f->x->seen->in_force : NULL, role), key);
}

/* The first of two keys that the scenario gives, else the first that is in force. */
static int priorities_at(const struct effect *f, const char *role, const char *key, const char *instead)
{
    const json_t *own = json_object_get(f->own, role);
    bool general = instead && !json_object_get(own, key) && !json_object_get(f->common, key) &&
                   (json_object_get(own, instead) || json_object_get(f->common, instead));
    const json_t *value = value_at(f, role, general ? instead : key);
    if (!value && instead)
        value = value_at(f, role, instead);
    return value ? (int)bits_of(value) : lab_kind(&f->cell->lab)->simulated ? 0 : UNKNOWN;
}

static bool has(int priorities, int64_t priority)
{
    return priorities != UNKNOWN && priorities >> (priority & 7) & 1;
}

static bool may_have(int priorities, int64_t priority)
{
    return priorities == UNKNOWN || has(priorities, priority);
}

static struct at_role *at_role(const struct effect *f, const char *role)
{
    int at = scenario_role_index(&f->cell->scenario, role);
    return &f->roles[at < 0 ? 0 : at];
}

static void note_flow(void *context, const struct scenario_flow *flow)
{
    struct effect *f = context;
    struct at_role *from = at_role(f, flow_sender(flow)), *to = at_role(f, flow_receiver(flow));
    int64_t p = flow->priority;
    bool covered = has(from->pfc, p) || has(to->pfc, p) || has(from->rp, p);
    from->sends = to->receives = true;
    from->reacts = from->reacts || may_have(from->rp, p);
    to->notifies = to->notifies || may_have(to->np, p);
    int64_t class = flow_traffic_class(&f->cell->scenario, flow);
    if (class & 1 && (!f->odd.count || f->odd.names[0] != flow->name)) {
        f->odd_class = f->odd.count ? f->odd_class : class;
        text_names_add(&f->odd, flow->name);
    }
    f->used |= 1u << (p & 7);
    f->covered |= covered ? 1u << (p & 7) : 0;
    if (may_have(from->pfc, p) || may_have(to->pfc, p) || may_have(from->rp, p))
        return;
    if (!f->bare.count || f->bare.names[0] != flow->name) /* the senders of a pattern have its name */
        text_names_add(&f->bare, flow->name);
    f->bare_priorities |= 1u << (p & 7);
}

static void note_roles(struct effect *f)
{
    const struct scenario_storm *storms = f->cell->scenario.storms.items;
    const char *role;
    for (size_t i = 0; (role = scenario_role(&f->cell->scenario, i)); i++)
        f->roles[i] = (struct at_role){.pfc = priorities_at(f, role, "pfc", NULL),
                                       .rp = priorities_at(f, role, "ecn_rp", "ecn"),
                                       .np = priorities_at(f, role, "ecn_np", "ecn")};
    for (size_t i = 0; i < f->cell->scenario.storms.count; i++)
        f->used |= 1u << (storms[i].priority & 7);
}

/* ---- recovery */

/* Selective repeat needs both ends. */
static void check_recovery(void *context, const struct scenario_flow *flow)
{
    const struct effect *f = context;
    const struct lab *lab = &f->cell->lab;
    int from = lab_host_of(lab, flow->from), to = lab_host_of(lab, flow->to);
    const struct physics_host *a = from < 0 ? NULL : lab_sim_host_at(lab, (size_t)from),
                              *b = to < 0 ? NULL : lab_sim_host_at(lab, (size_t)to);
    if (!a || !b)
        return;
    if (flow->op == OP_READ && a->nic.recovery == PHYSICS_SELECTIVE_REPEAT &&
        a->nic.recovery == b->nic.recovery) {
        doctor_add(f->x->entries, flow->from, "effect", "warning", NULL,
                   "flow %s: nic.recovery selective-repeat has no effect: reads go back N", flow->name);
        doctor_add_evidence(f->x->entries, "op of the flow, nic.recovery of the lab's hosts");
    }
    if (a->nic.recovery == b->nic.recovery)
        return;
    bool at_a = a->nic.recovery == PHYSICS_SELECTIVE_REPEAT;
    doctor_add(f->x->entries, flow->from, "effect", "warning", "give both the same nic.recovery",
               "flow %s: nic.recovery selective-repeat of %s has no effect: %s goes back N", flow->name,
               at_a ? flow->from : flow->to, at_a ? flow->to : flow->from);
    doctor_add_evidence(f->x->entries, "nic.recovery of the lab's hosts");
}

/* ---- priorities */

/* The places in the scenario that give a key: "settings.pfc", "settings_of.a.pfc and 2 others". */
static void add_place(const char *role, const char *key, size_t others, struct text *out)
{
    text_add(out, "settings%s%s.%s", role ? "_of." : "", role ? role : "", key);
    if (others)
        text_add(out, " and %zu %s", others, THINGS(others, "other"));
}

static void warn_of_unused(struct effect *f, const char *key, const char *what)
{
    const char *role, *first = NULL;
    json_t *settings;
    unsigned bits = bits_of(json_object_get(f->common, key)), wanted = bits & f->used ? 0 : bits;
    size_t places = wanted != 0;
    struct text words = {0}, place = {0};
    json_object_foreach((json_t *)(uintptr_t)f->own, role, settings)
    {
        bits = bits_of(json_object_get(settings, key));
        if (!bits || bits & f->used)
            continue;
        first = places++ ? first : role;
        wanted |= bits;
    }
    if (!places)
        return;
    add_place(first, key, places - 1, &place);
    text_add(&words, "%s is on for priority ", what);
    add_priorities(wanted, &words);
    text_add(&words, " (%s), and no flow has it: the flows are on priority ", text_string(&place));
    add_priorities(f->used, &words);
    doctor_add(f->x->entries, f->x->lab->name, "effect", "warning", "list the priorities of the flows", "%s",
               text_string(&words));
    doctor_add_evidence(f->x->entries, "%s, and the priorities of flows", text_string(&place));
    text_free(&words);
    text_free(&place);
}

static void warn_of_bare(struct effect *f)
{
    struct text words = {0};
    bool one = f->bare.count == 1;
    text_add_names(&words, "flow", &f->bare);
    text_add(&words, " %s on priority ", one ? "is" : "are");
    add_priorities(f->bare_priorities, &words);
    text_add(&words, ", which has neither PFC nor DCQCN, while flows on priority ");
    add_priorities(f->covered, &words);
    text_add(&words, " have: what does not fit into buffers is lost, and no sender slows down");
    doctor_add(f->x->entries, f->x->lab->name, "effect", "warning",
               "list the priority in settings.pfc or settings.ecn", "%s", text_string(&words));
    doctor_add_evidence(f->x->entries, "pfc and ecn of the flows' roles");
    text_free(&words);
}

static void check_priorities(struct effect *f)
{
    static const struct {
        const char *key, *what;
    } lists[] = {{"pfc", "PFC"},
                 {"ecn", "DCQCN"},
                 {"ecn_rp", "DCQCN's reaction point"},
                 {"ecn_np", "DCQCN's notification point"}};
    static const char *const priority[] = {"priority", NULL}, *const protection[] = {"priority", "pfc", "ecn",
                                                                                     "ecn_rp", NULL};
    if (!f->used || f->cell->scenario.collectives.count || doctor_varies(f->cell, priority, false))
        return;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        warn_of_unused(f, lists[i].key, lists[i].what);
    if (f->bare.count && f->covered && !doctor_varies(f->cell, protection, false))
        warn_of_bare(f);
}

/* ---- parameters of a control that is off */

/* Whose flows make a place's parameters act: those of a role, or of all roles without the key. */
enum acting { NOBODY, IDLE, ACTING };

static enum acting acting_at(const struct effect *f, const char *role, const char *key, bool notification)
{
    const char *each;
    enum acting found = NOBODY;
    for (size_t i = 0; (each = scenario_role(&f->cell->scenario, i)); i++) {
        const struct at_role *at = &f->roles[i];
        bool ends = notification ? at->receives : at->sends, acts = notification ? at->notifies : at->reacts;
        if (!ends ||
            (role ? strcmp(each, role) != 0 : json_object_get(json_object_get(f->own, each), key) != NULL))
            continue;
        found = acts ? ACTING : found == NOBODY ? IDLE : found;
    }
    return found;
}

static bool is_idle(const struct effect *f, const char *role, const json_t *settings, const char *key,
                    bool notification)
{
    const json_t *value = json_object_get(settings, key);
    const char *word = json_string_value(value);
    bool given = json_is_object(value) ? json_object_size(value) > 0 : word && strcmp(word, "none") != 0;
    if (strcmp(key, "dcqcn") == 0)
        given = json_object_size(json_object_get(value, notification ? "np" : "rp")) > 0;
    return given && acting_at(f, role, key, notification) == IDLE;
}

static void warn_of_idle(const struct effect *f, const char *key, bool notification)
{
    const char *role, *first = NULL;
    json_t *settings;
    size_t places = is_idle(f, NULL, f->common, key, notification);
    struct text place = {0};
    json_object_foreach((json_t *)(uintptr_t)f->own, role, settings)
    {
        if (!is_idle(f, role, settings, key, notification))
            continue;
        first = places++ ? first : role;
    }
    if (!places)
        return;
    add_place(first, key, places - 1, &place);
    doctor_add(
        f->x->entries, f->x->lab->name, "effect", "warning",
        "list the priorities of the flows in settings.ecn",
        "%s %s no effect: ecn is off at the %s for the priorities of their flows, and the figures are those "
        "without %s",
        text_string(&place), places == 1 ? "has" : "have", notification ? "receivers" : "senders",
        notification                ? "CNPs"
        : strcmp(key, "dcqcn") == 0 ? "DCQCN"
                                    : "congestion control");
    doctor_add_evidence(f->x->entries, "%s, and ecn of the flows' roles", text_string(&place));
    text_free(&place);
}

static void check_parameters(const struct effect *f)
{
#define PART(with, part, ...) #part,
    static const char *const keys[] = {"dcqcn", "congestion_control", CONGESTION_PARTS(PART, ) NULL};
#undef PART
    static const char *const switches[] = {"ecn", "ecn_rp", "ecn_np", "congestion_control", NULL};
    if (doctor_varies(f->cell, switches, false))
        return;
    for (size_t i = 0; keys[i]; i++)
        warn_of_idle(f, keys[i], false);
    warn_of_idle(f, "dcqcn", true);
}

/* ---- what the simulator does not model */

static bool is_unmodelled(const struct effect *f, const char *role, const struct setting *s)
{
    enum settings_node node = settings_node_of(&f->cell->lab, role);
    const json_t *own = json_object_get(json_object_get(f->own, role), s->key),
                 *common = json_object_get(f->common, s->key);
    bool differs = own && !json_same(own, common);
    return (own || common) && s->nodes & node & ~s->modelled && (differs || !(s->idle & node));
}

/* Simulated packets have the priority of their flow, whatever their headers say. */
static bool is_of_headers(const struct effect *f, const char *role, const struct setting *s)
{
    const json_t *own = json_object_get(json_object_get(f->own, role), s->key);
    return s->headers && settings_node_of(&f->cell->lab, role) == ON_SIM_HOST && own &&
           !json_same(own, json_object_get(f->common, s->key));
}

static bool is_of_no_buffer(const struct effect *f, const char *role, const struct setting *s)
{
    const struct lab *lab = &f->cell->lab;
    return s->buffers && settings_node_of(lab, role) == ON_SIM_HOST &&
           lab_sim_host_at(lab, (size_t)lab_host_of(lab, role))->pcie.generation == 0 &&
           (json_object_get(json_object_get(f->own, role), s->key) || json_object_get(f->common, s->key));
}

/* One sentence of a setting and the roles of which `is` holds. */
static void warn_of_setting(const struct effect *f, const struct setting *s,
                            bool (*is)(const struct effect *, const char *, const struct setting *),
                            const char *before, const char *after)
{
    struct text_names roles = {0};
    struct text words = {0};
    const char *role;
    for (size_t i = 0; (role = scenario_role(&f->cell->scenario, i)); i++)
        if (is(f, role, s))
            text_names_add(&roles, role);
    if (!roles.count)
        return;
    text_add_names(&words, "", &roles);
    doctor_add(f->x->entries, f->x->lab->name, "effect", "warning", NULL, "%s: %s the setting %s%s",
               text_string(&words), before, s->key, after);
    doctor_add_evidence(f->x->entries, "settings and settings_of of the scenario");
    text_free(&words);
}

static void check_modelled(const struct effect *f)
{
    for (const struct setting *s = settings_known; s->key; s++) {
        warn_of_setting(f, s, is_unmodelled, "the simulator does not model", "");
        warn_of_setting(f, s, is_of_headers,
                        "simulated packets have their flow's priority:", " changes their headers alone");
        warn_of_setting(f, s, is_of_no_buffer, "an ideal NIC has no receive buffers to fill:",
                        " has no effect (pcie.generation of the host is 0)");
    }
}

/* ---- ECN bits that nobody sends */

/* RFC 3168, section 5: 01 is ECT(1), 11 is a switch's mark. RoCEv2 NICs send 00 or 10. */
static void check_ecn_bits(const struct effect *f)
{
    struct text words = {0};
    bool marked = (f->odd_class & 3) == 3;
    if (!f->odd.count)
        return;
    text_add_names(&words, "flow", &f->odd);
    doctor_add(f->x->entries, f->x->lab->name, "effect", "warning",
               "give the DSCP times 4, plus 2 for ECN-capable packets",
               "%s: the ECN bits of traffic_class %" PRId64 " are %s: %s", text_string(&words), f->odd_class,
               marked ? "11, the mark of a switch (CE)" : "01, ECT(1)",
               lab_kind(&f->cell->lab)->simulated
                   ? "simulated NICs send 10, ECT(0), in their place"
                   : "Soft-RoCE sends them with every packet, mlx5 takes the DSCP alone");
    doctor_add_evidence(f->x->entries, "traffic_class of flows or of settings");
    text_free(&words);
}

/* ---- what begins after the end of a run that was made shorter */

static void check_starts(const struct effect *f)
{
    struct error late;
    if (plan_check_starts(&f->cell->scenario, &late) == 0)
        return;
    doctor_add(f->x->entries, f->x->lab->name, "effect", "warning", "make the measure phase longer",
               "%s: it does nothing in this run", late.text);
    doctor_add_evidence(f->x->entries, "starts and phases of the scenario");
}

/* ---- pauses that their peer ignores */

/* What is at the other end of a simulated host's link, by the name of its role, else by its own; NULL: a real
 * host, whose peers may be any role. */
static const char *peer_of(const struct cell *cell, const char *role)
{
    const struct lab_link *link;
    const char *node = lab_node_of(&cell->lab, role), *each, *peer = NULL;
    for (size_t i = 0; lab_kind(&cell->lab)->simulated && (link = lab_link_at(&cell->lab, i)); i++) {
        const char *other = lab_link_peer(link, node);
        peer = other ? other : peer;
    }
    for (size_t i = 0; peer && (each = scenario_role(&cell->scenario, i)); i++)
        if (strcmp(lab_node_of(&cell->lab, each), peer) == 0)
            return each;
    return peer;
}

/* Is PFC on a priority known to be off where a role's pauses arrive? */
static bool is_ignored(const struct effect *f, const char *role, const char *peer, int64_t priority)
{
    const char *each;
    bool obeyed = false;
    if (peer)
        return settings_node_of(&f->cell->lab, peer) != ON_FORWARDER &&
               !may_have(priorities_at(f, peer, "pfc", NULL), priority);
    for (size_t i = 0; (each = scenario_role(&f->cell->scenario, i)); i++)
        obeyed |= strcmp(each, role) != 0 && may_have(f->roles[i].pfc, priority);
    return !obeyed;
}

static void check_pauses(const struct effect *f, const char *list, size_t i, const char *role,
                         int64_t priority)
{
    const char *peer = peer_of(f->cell, role);
    if (!is_ignored(f, role, peer, priority))
        return;
    doctor_add(f->x->entries, f->x->lab->name, "effect", "warning", "list the priority in settings.pfc",
               "%s[%zu] will meet nothing: PFC on priority %" PRId64
               " is off at %s, and the pauses of %s are ignored there",
               list, i, priority, peer ? peer : "all other roles", role);
    doctor_add_evidence(f->x->entries, "pfc of the roles");
}

static void check_all_pauses(const struct effect *f)
{
    static const char *const keys[] = {"priority", "pause_priority", "pfc", NULL};
    const struct scenario_storm *storms = f->cell->scenario.storms.items;
    const struct injection_rule *rules = f->cell->scenario.injections.items;
    if (doctor_varies(f->cell, keys, false))
        return;
    for (size_t i = 0; i < f->cell->scenario.storms.count; i++)
        check_pauses(f, "storms", i, storms[i].role, storms[i].priority);
    for (size_t i = 0; i < f->cell->scenario.injections.count; i++) {
        char host[80];
        int64_t port, priority = rules[i].pause_priority;
        if (rules[i].action == INJECT_PAUSE && priority != FIELD_UNSET && !rules[i].flow &&
            link_fault_end(((char *const *)rules[i].link.items)[1], host, sizeof host, &port) == 0)
            check_pauses(f, "inject", i, host, priority);
    }
}

/* ---- amounts that are not whole messages */

/* What is sent of a flow's size: whole messages, in simulated labs as many on each queue pair. */
static int64_t sent_bytes(const struct effect *f, const struct scenario_flow *flow)
{
    int64_t message = flow->size_bytes < flow->message_bytes ? flow->size_bytes : flow->message_bytes,
            round = message * (lab_kind(&f->cell->lab)->simulated ? flow->queue_pairs : 1);
    return (flow->size_bytes + round - 1) / round * round;
}

static void check_sizes(const struct effect *f)
{
    const struct scenario_flow *flows = f->cell->scenario.flows.items, *first = NULL;
    struct text_names rounded = {0};
    struct text words = {0};
    for (size_t i = 0; i < f->cell->scenario.flows.count; i++)
        if (flows[i].size_bytes != FIELD_UNSET && sent_bytes(f, &flows[i]) != flows[i].size_bytes) {
            first = first ? first : &flows[i];
            text_names_add(&rounded, flows[i].name);
        }
    if (!first)
        return;
    text_add_names(&words, "flow", &rounded);
    doctor_add(f->x->entries, f->x->lab->name, "effect", "warning",
               "give a size of whole messages, as many on each queue pair",
               "%s: the size is rounded up to whole messages of each queue pair: %s sends %" PRId64
               " B, not %" PRId64 " B",
               text_string(&words), first->name, sent_bytes(f, first), first->size_bytes);
    doctor_add_evidence(f->x->entries, "size, message and queue_pairs of the flows");
    text_free(&words);
}

/* ---- rates that a line does not have */

/* The fastest link of a role's node; 0: it has none. */
static int64_t line_of(const struct lab *lab, const char *role)
{
    const struct lab_link *link;
    int64_t most = 0;
    int node = lab_node_index(lab, lab_node_of(lab, role));
    for (size_t i = 0; node >= 0 && (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        if ((lab_node_index(lab, ends[0]) == node || lab_node_index(lab, ends[1]) == node) &&
            link->rate_bps > most)
            most = link->rate_bps;
    }
    return most;
}

/* Of large labs: what is below the slowest line needs no look at its own. */
static int64_t slowest_line(const struct lab *lab)
{
    const struct lab_link *link;
    int64_t least = INT64_MAX;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++)
        least = link->rate_bps < least ? link->rate_bps : least;
    return least;
}

static void check_rates(const struct effect *f)
{
    static const char *const keys[] = {"rate", NULL};
    const struct scenario_flow *flows = f->cell->scenario.flows.items, *first = NULL;
    const struct lab *lab = &f->cell->lab;
    struct text_names above = {0};
    struct text words = {0};
    if (!lab_kind(lab)->simulated || doctor_varies(f->cell, keys, true))
        return;
    int64_t slowest_bps = slowest_line(lab);
    for (size_t i = 0; i < f->cell->scenario.flows.count; i++)
        if (flows[i].rate_bps != FIELD_UNSET && flows[i].rate_bps > slowest_bps &&
            flows[i].rate_bps > line_of(lab, flows[i].from)) {
            first = first ? first : &flows[i];
            text_names_add(&above, flows[i].name);
        }
    if (!first)
        return;
    text_add_names(&words, "flow", &above);
    doctor_add(f->x->entries, f->x->lab->name, "effect", "warning", "give a rate below that of the line",
               "%s: the rate limits nothing: %s has %g Gb/s, and the line of %s %g Gb/s", text_string(&words),
               first->name, (double)first->rate_bps / 1e9, first->from,
               (double)line_of(lab, first->from) / 1e9);
    doctor_add_evidence(f->x->entries, "rate of the flows, links of the lab");
    text_free(&words);
}

/* ---- keys that a form of flows does not use, or that simulated flows do not */

static void note_unused(const struct effect *f, const struct scenario_unused *row, const char *list,
                        struct text_names *names)
{
    const json_t *item;
    size_t i;
    if (row->list && strcmp(row->list, list) != 0)
        return;
    json_array_foreach(json_object_get(f->cell->scenario_json, list), i, item)
    {
        if (json_object_get(item, row->key) && row->is(item))
            text_names_add(names, json_string_value(json_object_get(item, "name")));
    }
}

static void check_unused(const struct effect *f)
{
    for (const struct scenario_unused *row = scenario_unused; row->key; row++) {
        struct text_names names = {0};
        struct text words = {0};
        bool collective = row->list && strcmp(row->list, "collectives") == 0;
        if (row->simulated && !lab_kind(&f->cell->lab)->simulated)
            continue;
        note_unused(f, row, "flows", &names);
        note_unused(f, row, "traffic", &names);
        if (collective)
            note_unused(f, row, "collectives", &names);
        if (!names.count)
            continue;
        text_add_names(&words, collective ? "collective" : "flow", &names);
        doctor_add(f->x->entries, f->x->lab->name, "effect", "warning", NULL, "%s: %s has no effect: %s",
                   text_string(&words), row->key, row->why);
        doctor_add_evidence(f->x->entries, "%s of these in the scenario", row->key);
        text_free(&words);
    }
}

/* ---- roles of the lab */

/* "Ho" is "h0" to a reader: letters without their case, and those that look like digits. */
static void fold(const char *name, char *out, size_t size)
{
    size_t i = 0;
    for (; name[i] && name[i] != '.' && i + 1 < size; i++) {
        int c = tolower((unsigned char)name[i]);
        out[i] = c == 'o' ? '0' : c == 'l' || c == 'i' ? '1' : (char)c;
    }
    out[i] = '\0';
}

/* Is one the other with a slip? h1 and h16 are not: a lab serves scenarios of fewer hosts. */
static bool is_slip(const char *word, const char *role)
{
    static const char digits[] = "0123456789";
    char a[64], b[64];
    size_t same = 0;
    fold(word, a, sizeof a);
    fold(role, b, sizeof b);
    if (strcmp(a, b) == 0)
        return true;
    while (a[same] && a[same] == b[same])
        same++;
    bool of_digits =
        strspn(a + same, digits) == strlen(a + same) && strspn(b + same, digits) == strlen(b + same);
    return strlen(a) >= 4 && nearest_edits(a, b) == 1 && !of_digits;
}

/* A lab's role that is none of the scenario's, and nearly one that the lab gives to nobody. */
static void check_lab_roles(const struct effect *f)
{
    const struct scenario *scenario = &f->cell->scenario;
    const struct named_string *roles = f->cell->lab.roles.items;
    const char *role;
    for (size_t i = 0; i < f->cell->lab.roles.count; i++) {
        const char *near = NULL;
        bool used = false;
        for (size_t k = 0; !used && (role = scenario_role(scenario, k)); k++) {
            size_t length = strcspn(role, ".");
            used = strcmp(role, roles[i].name) == 0 ||
                   (strlen(roles[i].name) == length && strncmp(role, roles[i].name, length) == 0);
            bool free_role = !json_object_getn(f->cell->lab.role_index, role, length);
            near = !near && free_role && is_slip(roles[i].name, role) ? role : near;
        }
        if (!used && near)
            doctor_add(f->x->entries, f->x->lab->name, "effect", "warning", NULL,
                       "roles.%s of lab %s: the scenario has no such role; did you mean \"%s\"?",
                       roles[i].name, f->x->lab->name, near);
    }
}

static void examine_effect(const struct doctor_subject *x)
{
    struct effect f = {.x = x,
                       .cell = x->cell,
                       .common = json_object_get(x->cell->scenario_json, "settings"),
                       .own = json_object_get(x->cell->scenario_json, "settings_of"),
                       .roles = xcalloc(x->cell->scenario.roles.count + 1, sizeof *f.roles)};
    note_roles(&f);
    doctor_each_flow(f.cell, note_flow, &f);
    check_priorities(&f);
    check_parameters(&f);
    check_ecn_bits(&f);
    check_starts(&f);
    check_all_pauses(&f);
    check_sizes(&f);
    check_rates(&f);
    check_unused(&f);
    check_lab_roles(&f);
    if (lab_kind(&f.cell->lab)->simulated) {
        check_modelled(&f);
        doctor_each_flow(f.cell, check_recovery, &f);
    }
    free(f.roles);
}

const struct doctor_check doctor_effect = {.name = "effect",
                                           .scope = DOCTOR_CELL,
                                           .when = DOCTOR_WARNS_OF_RUN | DOCTOR_EXAMINES,
                                           .examine = examine_effect};
