/*
 * Settings of both ends of each flow: are they compatible once the scenario's are in force? PFC, ECN, the
 * settings that must be equal (those with `agree` in their row of lib/formats/settings.h, such as the MTU),
 * receive buffers of lossless priorities. A setting that was not seen at one end
 * is unknown: neither right nor wrong.
 */
#include "harness/doctor/check.h"

#include "harness/plan/traffic_class.h"
#include "lib/document/json_text.h"
#include "lib/formats/settings.h"
#include "lib/physics/fabric.h"
#include "lib/roce/traffic_pattern.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <stdlib.h>
#include <string.h>

/* ---- what was seen */

enum sight {
    SEEN,
    LACKING, /* the host was seen, and has no such setting */
    UNSEEN,
};

struct end {
    const char *role;
    const char *ecn;              /* the key of its point's priorities: "ecn", or of the point alone */
    bool simulated, by_documents; /* before a run: what the scenario does not say is not asked for */
    const json_t *seen;           /* NULL: the host was not seen */
    json_t *wanted;               /* by the scenario */
    json_t *settings;             /* in force once those are applied */
};

/* Both ends of a flow. */
struct ends {
    const struct scenario_flow *flow;
    struct end from, to;
    char label[220];
};

/* What is asked as "ecn" is the reaction point of a sender, the notification point of a receiver. */
static const char *key_at(const struct end *end, const char *key)
{
    return strcmp(key, "ecn") == 0 ? end->ecn : key;
}

static const json_t *seen_part(const struct end *end, const char *name, const char *key)
{
    return json_object_get(json_object_get(end->seen, name), key_at(end, key));
}

static enum sight sight_of(const struct end *end, const char *key)
{
    if (end->simulated || (end->by_documents && json_object_get(end->wanted, key_at(end, key))))
        return SEEN;
    if (seen_part(end, "unread", key))
        return UNSEEN;
    if (seen_part(end, "settings", key))
        return SEEN;
    return seen_part(end, "missing", key) ? LACKING : UNSEEN;
}

static bool either_unseen(const struct ends *x, const char *key)
{
    return sight_of(&x->from, key) == UNSEEN || sight_of(&x->to, key) == UNSEEN;
}

static bool either_lacks(const struct ends *x, const char *key)
{
    return sight_of(&x->from, key) == LACKING || sight_of(&x->to, key) == LACKING;
}

/* The wanted list of a point alone goes over the wanted ecn, which goes over what was read of the point. */
static const char *key_of_point(const struct end *end, const char *point)
{
    const json_t *read = json_object_get(end->seen, "settings");
    bool point_read = json_object_get(read, point) && json_object_get(read, "ecn");
    bool alone = json_object_get(end->wanted, point) || (point_read && !json_object_get(end->wanted, "ecn"));
    return alone ? point : "ecn";
}

static void end_open(struct end *end, const struct cell *cell, const json_t *seen,
                     const struct scenario_flow *flow, const char *role)
{
    *end = (struct end){.role = role,
                        .simulated = lab_kind(&cell->lab)->simulated,
                        .by_documents = !seen,
                        .seen = json_object_get(seen, role),
                        .wanted = scenario_role_settings(cell->scenario_json, role)};
    end->ecn = key_of_point(end, role == flow_sender(flow) ? "ecn_rp" : "ecn_np");
    const json_t *there = json_object_get(end->seen, "settings");
    end->settings = there ? json_deep_copy(there) : json_object();
    json_merge_deep(end->settings, end->wanted);
    for (const struct setting *s = settings_known; end->simulated && s->key; s++)
        if (s->unset && !json_object_get(end->settings, s->key))
            json_object_set_new(end->settings, s->key, json_loads(s->unset, JSON_DECODE_ANY, NULL));
}

static void end_close(struct end *end)
{
    json_decref(end->wanted);
    json_decref(end->settings);
}

static bool end_lists(const struct end *end, const char *key, int64_t value)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(end->settings, key_at(end, key)), i, item)
    {
        if (json_integer_value(item) == value)
            return true;
    }
    return false;
}

/* ---- words */

static void add_value(const json_t *value, struct text *out)
{
    char *words = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    text_add(out, "%.80s", words ? words : "default");
    free(words);
}

/* Why the key was not seen, or is not there: "a was not reached". */
static void add_why(const struct end *end, const char *key, struct text *out)
{
    const char *unread = json_string_value(seen_part(end, "unread", key));
    const char *missing = json_string_value(seen_part(end, "missing", key));
    text_add(out, "%s%s", out->length ? "; " : "", end->role);
    if (!end->seen)
        text_add(out, ": its settings were not read");
    else if (unread)
        text_add(out, ": %s could not be read: %s", key, unread);
    else if (missing)
        text_add(out, " has no %s: %s", key, missing);
    else
        text_add(out, ": nic-config says nothing about %s", key);
}

/* "a: [0] (/sys/...); b: [0], by the scenario ([] in /sys/...)" */
static void add_reading(const struct end *end, const char *key, struct text *out)
{
    const char *place = json_string_value(seen_part(end, "places", key));
    const json_t *wanted = json_object_get(end->wanted, key_at(end, key)),
                 *now = seen_part(end, "settings", key);
    if (sight_of(end, key) != SEEN) {
        add_why(end, key, out);
        return;
    }
    text_add(out, "%s%s: ", out->length ? "; " : "", end->role);
    add_value(json_object_get(end->settings, key_at(end, key)), out);
    if (wanted)
        text_add(out, ", by the scenario");
    if (end->simulated)
        text_add(out, " (simulated)");
    if (wanted && now) {
        text_add(out, ", now ");
        add_value(now, out);
    }
    if (place)
        text_add(out, " (%s)", place);
}

/* The evidence of the last entry: what was read of the key at both ends. */
static void add_evidence_of_both(const struct ends *x, const char *key, json_t *entries)
{
    struct text out = {0};
    add_reading(&x->from, key, &out);
    add_reading(&x->to, key, &out);
    doctor_add_evidence(entries, "%s", text_string(&out));
    text_free(&out);
}

static void report_unseen(const struct ends *x, const char *check, const char *key, const char *question,
                          json_t *entries)
{
    struct text why = {0}, fix = {0};
    const struct end *const ends[] = {&x->from, &x->to};
    if (x->from.by_documents)
        return;
    for (size_t i = 0; i < 2; i++) {
        if (sight_of(ends[i], key) != UNSEEN)
            continue;
        add_why(ends[i], key, &why);
        text_add(&fix, "%s%s of %s's host", fix.length ? "; " : "",
                 ends[i]->seen ? "run nic-config get as root: settings" : "mend connection, programs and nic",
                 ends[i]->role);
    }
    doctor_add(entries, x->label, check, "unknown", text_string(&fix), "%s: %s", question, text_string(&why));
    add_evidence_of_both(x, key, entries);
    text_free(&why);
    text_free(&fix);
}

static void report_lacking(const struct ends *x, const char *key, const char *verdict,
                           const char *consequence, json_t *entries)
{
    struct text why = {0};
    if (sight_of(&x->from, key) == LACKING)
        add_why(&x->from, key, &why);
    if (sight_of(&x->to, key) == LACKING)
        add_why(&x->to, key, &why);
    doctor_add(entries, x->label, key, verdict, NULL, "%s: %s", text_string(&why), consequence);
    add_evidence_of_both(x, key, entries);
    text_free(&why);
}

/* Pauses of any priority, and CNPs, are asked for of all flows together: have both ends of one of them what
 * makes them? */
static bool some_flow_has(const struct cell *cell, const struct list_of *all, const json_t *seen,
                          const char *key)
{
    const struct scenario_flow *flows = all->items;
    bool has = false;
    for (size_t i = 0; !has && i < all->count; i++) {
        struct end from, to;
        end_open(&from, cell, seen, &flows[i], flows[i].from);
        end_open(&to, cell, seen, &flows[i], flows[i].to);
        has = sight_of(&from, key) == SEEN && sight_of(&to, key) == SEEN &&
              end_lists(&from, key, flows[i].priority) && end_lists(&to, key, flows[i].priority);
        end_close(&from);
        end_close(&to);
    }
    return has;
}

/* Pauses or CNPs that one flow can have are not required of the other flows. */
static void drop_met_interest(struct doctor_interest *interest, const struct cell *cell,
                              const struct list_of *all, const json_t *seen)
{
    interest->any_pauses = interest->any_pauses && !some_flow_has(cell, all, seen, "pfc");
    interest->cnps = interest->cnps && !some_flow_has(cell, all, seen, "ecn");
}

/* ---- pairs of ends: in a lab of real hosts the plan has made flows of all patterns, simulated labs make
 * them themselves */

#define MOST_KINDS 64 /* of settings in a scenario */

/* Roles with equal settings are of one kind. */
struct pair_search {
    const struct cell *cell;
    const struct scenario_traffic *pattern;
    json_t *kinds; /* settings_of a role, as text -> number of the kind */
    bool paired[MOST_KINDS][MOST_KINDS];
    struct list_of *flows;
};

/* -1: there are too many. */
static int kind_of_settings(struct pair_search *s, const char *role)
{
    const json_t *own = json_object_get(json_object_get(s->cell->scenario_json, "settings_of"), role);
    char *text = json_object_size(own) ? json_dumps(own, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    const char *key = text ? text : "";
    size_t count = json_object_size(s->kinds);
    const json_t *known = json_object_get(s->kinds, key);
    int kind = known ? (int)json_integer_value(known) : count < MOST_KINDS ? (int)count : -1;
    if (!known && kind >= 0)
        json_object_set_new(s->kinds, key, json_integer(kind));
    free(text);
    return kind;
}

static int add_pair(struct pair_search *s, const char *from, const char *to, struct error *e)
{
    int a = kind_of_settings(s, from), b = kind_of_settings(s, to);
    struct list_of *flows = s->flows;
    if (a < 0 || b < 0)
        return error_set(e,
                         "traffic %s: its hosts have more than %d different settings_of: not all of its "
                         "pairs were compared",
                         s->pattern->name, MOST_KINDS);
    if (s->paired[a][b] || strcmp(from, to) == 0)
        return 0;
    s->paired[a][b] = true;
    struct scenario_flow *grown = xreallocarray(flows->items, flows->count + 1, sizeof *grown);
    flows->items = grown;
    grown[flows->count++] = flow_of_pattern(s->pattern, (char *)(uintptr_t)from, (char *)(uintptr_t)to);
    return 0;
}

/* Two roles of each kind stand for all, so that one of them is not the other end. The caller frees them. */
static const char **two_of_each_kind(struct pair_search *s, const struct list_of *roles, size_t *count)
{
    char *const *names = roles->items;
    size_t taken[MOST_KINDS + 1] = {0};
    const char **two = xcalloc(roles->count + 1, sizeof *two);
    *count = 0;
    for (size_t i = 0; i < roles->count; i++) {
        int kind = kind_of_settings(s, names[i]);
        if (taken[kind < 0 ? MOST_KINDS : kind]++ < 2)
            two[(*count)++] = names[i];
    }
    return two;
}

/* Any sender may send to any receiver. */
static int pair_all(struct pair_search *s, const struct list_of *senders, const struct list_of *receivers,
                    struct error *e)
{
    size_t from_count, to_count;
    const char **from = two_of_each_kind(s, senders, &from_count),
               **to = two_of_each_kind(s, receivers, &to_count);
    int result = 0;
    for (size_t i = 0; result == 0 && i < from_count; i++)
        for (size_t k = 0; result == 0 && k < to_count; k++)
            result = add_pair(s, from[i], to[k], e);
    free(from);
    free(to);
    return result;
}

/* Each sender has one receiver. */
static int pair_next(struct pair_search *s, const struct list_of *senders, const struct list_of *receivers,
                     size_t shift, struct error *e)
{
    char *const *from = senders->items, *const *to = receivers->items;
    for (size_t i = 0; i < senders->count; i++)
        if (add_pair(s, from[i], to[(i + shift) % receivers->count], e) != 0)
            return -1;
    return 0;
}

/* A permutation without a shift is drawn in the run. */
static int pair_pattern(struct pair_search *s, struct error *e)
{
    const struct scenario_traffic *t = s->pattern;
    const struct list_of *to = t->to.count ? &t->to : &t->from;
    memset(s->paired, 0, sizeof s->paired);
    if (t->pattern == PATTERN_RING_ALL_REDUCE)
        return pair_next(s, &t->from, to, 1, e);
    if (t->pattern == PATTERN_PERMUTATION && t->shift != FIELD_UNSET && t->shift != 0)
        return pair_next(s, &t->from, to, (size_t)t->shift % to->count, e);
    return pair_all(s, &t->from, to, e);
}

/* The scenario's flows, and after them a flow for each pair of settings that a pattern's sender and receiver
 * have. Free flows->items alone: the rest is the cell's. On error they are the flows that were found. */
static int list_pairs(const struct cell *cell, struct list_of *flows, struct error *e)
{
    const struct scenario *scenario = &cell->scenario;
    const struct scenario_traffic *traffic = scenario->traffic.items;
    struct pair_search s = {.cell = cell, .kinds = json_object(), .flows = flows};
    bool simulated = lab_kind(&cell->lab)->simulated;
    int result = 0;
    *flows = (struct list_of){.items = xcalloc(scenario->flows.count + 1, sizeof(struct scenario_flow)),
                              .count = scenario->flows.count};
    if (scenario->flows.count)
        memcpy(flows->items, scenario->flows.items, scenario->flows.count * sizeof(struct scenario_flow));
    for (size_t i = 0; result == 0 && simulated && i < scenario->traffic.count; i++) {
        s.pattern = &traffic[i];
        result = pair_pattern(&s, e);
    }
    json_decref(s.kinds);
    return result;
}

/* ---- checks */

static void report_pfc(const struct ends *x, bool wanted, json_t *entries)
{
    long long p = x->flow->priority;
    bool from = end_lists(&x->from, "pfc", p), to = end_lists(&x->to, "pfc", p);
    if (from != to)
        doctor_add(entries, x->label, "pfc", "failure",
                   "list the priority in settings.pfc, which applies to both roles",
                   "PFC on priority %lld is on at %s and off at %s: one end would ignore the other's pauses",
                   p, from ? x->flow->from : x->flow->to, from ? x->flow->to : x->flow->from);
    else if (!from && wanted)
        doctor_add(entries, x->label, "pfc", "failure", "list the priority in settings.pfc",
                   "expectations count pauses, but PFC is off on priority %lld", p);
    else
        doctor_add(entries, x->label, "pfc", "ok", NULL, "PFC on priority %lld is %s at both ends", p,
                   from ? "on" : "off");
    add_evidence_of_both(x, "pfc", entries);
}

static void check_pfc(const struct ends *x, bool wanted, json_t *entries)
{
    if (either_unseen(x, "pfc"))
        report_unseen(x, "pfc", "pfc", "whether PFC is on at both ends is not known", entries);
    else if (either_lacks(x, "pfc"))
        report_lacking(x, "pfc", "warning",
                       "PFC is unavailable between both ends; expectations that count pauses are skipped",
                       entries);
    else
        report_pfc(x, wanted, entries);
}

static void report_same(const struct ends *x, const char *key, const char *what, json_t *entries)
{
    const json_t *from = json_object_get(x->from.settings, key), *to = json_object_get(x->to.settings, key);
    struct text a = {0}, b = {0};
    add_value(from, &a);
    add_value(to, &b);
    if (json_same(from, to))
        doctor_add(entries, x->label, key, "ok", NULL, "%s agree (%s)", what, text_string(&a));
    else
        doctor_add(entries, x->label, key, "failure", "give both roles the same value in settings",
                   "%s differ: %s at %s, %s at %s", what, text_string(&a), x->flow->from, text_string(&b),
                   x->flow->to);
    add_evidence_of_both(x, key, entries);
    text_free(&a);
    text_free(&b);
}

/* Where neither end has the setting there is nothing to compare; what the scenario wants of it is reported by
 * nic-config's plan. */
static void check_same(const struct ends *x, const char *key, const char *what, json_t *entries)
{
    char question[100];
    snprintf(question, sizeof question, "whether the %s agree is not known", what);
    if (either_unseen(x, key))
        report_unseen(x, key, key, question, entries);
    else if (sight_of(&x->from, key) != sight_of(&x->to, key))
        report_lacking(x, key, "unknown", question, entries);
    else if (!either_lacks(x, key) &&
             (json_object_get(x->from.settings, key) || json_object_get(x->to.settings, key)))
        report_same(x, key, what, entries);
}

static void report_ecn(const struct ends *x, bool wanted, json_t *entries)
{
    long long p = x->flow->priority;
    bool read = flow_sender(x->flow) == x->flow->to;
    bool reacts = end_lists(read ? &x->to : &x->from, "ecn", p),
         notifies = end_lists(read ? &x->from : &x->to, "ecn", p);
    if (wanted && !(reacts && notifies))
        doctor_add(entries, x->label, "ecn", "failure", "list the priority in settings.ecn",
                   "expectations count CNPs, but on priority %lld the %s is off", p,
                   reacts     ? "notification point"
                   : notifies ? "reaction point"
                              : "reaction and the notification point");
    else if (reacts != notifies)
        doctor_add(entries, x->label, "ecn", "warning", "list the priority in settings.ecn",
                   "ECN on priority %lld is on at one end only", p);
    else
        return;
    add_evidence_of_both(x, "ecn", entries);
}

static void check_ecn(const struct ends *x, bool wanted, json_t *entries)
{
    if (either_unseen(x, "ecn"))
        report_unseen(x, "ecn", "ecn", "whether DCQCN is on at both ends is not known", entries);
    else if (!either_lacks(x, "ecn"))
        report_ecn(x, wanted, entries);
    else if (wanted)
        report_lacking(x, "ecn", "warning", "expectations that count CNPs may be skipped", entries);
}

/* Buffers of lossless priorities must have a size. Whether they are large enough is checked with the driver's
 * formula by nic-config plan. */
static void report_buffer(const struct ends *x, const struct end *end, json_t *entries)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)x->flow->priority);
    const json_t *buffer = json_object_get(json_object_get(end->settings, "prio_to_buffer"), key);
    const json_t *sizes = json_object_get(end->settings, "buffer_bytes");
    struct text read = {0};
    size_t number = (size_t)json_integer_value(buffer);
    if (!buffer || !sizes || json_integer_value(json_array_get(sizes, number)) > 0)
        return;
    doctor_add(entries, end->role, "buffers", "failure", "give the buffer a size in settings.buffer_bytes",
               "lossless priority %s uses receive buffer %zu, which has size 0", key, number);
    add_reading(end, "prio_to_buffer", &read);
    add_reading(end, "buffer_bytes", &read);
    doctor_add_evidence(entries, "%s", text_string(&read));
    text_free(&read);
}

static void check_buffer(const struct ends *x, const struct end *end, json_t *entries)
{
    static const char *const keys[] = {"pfc", "prio_to_buffer", "buffer_bytes"};
    struct text why = {0};
    bool lossless = sight_of(end, "pfc") != LACKING && end_lists(end, "pfc", x->flow->priority),
         any_lacking = false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        any_lacking = any_lacking || sight_of(end, keys[i]) == LACKING;
        if (sight_of(end, keys[i]) == UNSEEN && why.length == 0)
            add_why(end, keys[i], &why);
    }
    if (why.length && end->by_documents)
        any_lacking = true; /* it is not asked for */
    if (why.length && !any_lacking && (lossless || sight_of(end, "pfc") == UNSEEN)) {
        doctor_add(entries, end->role, "buffers", "unknown", NULL,
                   "whether priority %lld has a receive buffer is not known: %s",
                   (long long)x->flow->priority, text_string(&why));
        doctor_add_evidence(entries, "%s", text_string(&why));
    } else if (lossless && !any_lacking) {
        report_buffer(x, end, entries);
    }
    text_free(&why);
}

static void check_flow(const struct cell *cell, const struct scenario_flow *flow, const json_t *seen,
                       struct doctor_interest interest, json_t *entries)
{
    struct ends x = {.flow = flow};
    end_open(&x.from, cell, seen, flow, flow->from);
    end_open(&x.to, cell, seen, flow, flow->to);
    snprintf(x.label, sizeof x.label, "%.100s->%.100s", flow->from, flow->to);
    check_pfc(&x, interest.any_pauses || (interest.pauses >> (flow->priority & 7) & 1), entries);
    check_ecn(&x, interest.cnps, entries);
    for (const struct setting *s = settings_known; s->key; s++)
        if (s->agree)
            check_same(&x, s->key, s->agree, entries);
    check_buffer(&x, &x.from, entries);
    check_buffer(&x, &x.to, entries);
    end_close(&x.from);
    end_close(&x.to);
}

/* ---- simulated switches: those without a role have the scenario's common settings */

struct node {
    const char *role;         /* NULL: none */
    unsigned pfc, priorities; /* with PFC; of its flows */
};

struct nodes {
    const struct cell *cell;
    struct node *items; /* hosts, then switches */
};

static unsigned priorities_in(const json_t *settings)
{
    size_t i;
    const json_t *item;
    unsigned priorities = 0;
    json_array_foreach(json_object_get(settings, "pfc"), i, item)
    {
        priorities |= 1u << (json_integer_value(item) & 7);
    }
    return priorities;
}

static void note_flow(void *context, const struct scenario_flow *flow)
{
    struct nodes *nodes = context;
    const char *const roles[] = {flow->from, flow->to};
    for (size_t i = 0; i < 2; i++) {
        int host = lab_host_of(&nodes->cell->lab, roles[i]);
        if (host >= 0)
            nodes->items[host].priorities |= 1u << (flow->priority & 7);
    }
}

static void note_roles(struct nodes *nodes)
{
    const struct cell *cell = nodes->cell;
    const char *role;
    unsigned common = priorities_in(json_object_get(cell->scenario_json, "settings"));
    for (size_t i = 0; i < lab_node_count(&cell->lab); i++)
        nodes->items[i].pfc = common;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        int host = lab_host_of(&cell->lab, role), at = lab_switch_of(&cell->lab, role);
        json_t *settings = scenario_role_settings(cell->scenario_json, role);
        if (host >= 0 || at >= 0)
            nodes->items[host >= 0 ? (size_t)host : cell->lab.hosts.count + (size_t)at] =
                (struct node){.role = role, .pfc = priorities_in(settings)};
        json_decref(settings);
    }
}

static void report_switch(const struct nodes *nodes, size_t at, const struct text_names hosts[8],
                          json_t *entries)
{
    const char *name = nodes->items[at].role;
    name = name ? name : lab_node_name(&nodes->cell->lab, at);
    for (int p = 0; p < 8; p++) {
        struct text names = {0};
        bool on = nodes->items[at].pfc >> p & 1;
        if (!hosts[p].count)
            continue;
        text_add_names(&names, "", &hosts[p]);
        doctor_add(entries, name, "pfc", "failure",
                   "list the priority in settings.pfc, which applies to hosts and switches",
                   "PFC on priority %d is %s at %s and %s at %s: %s", p, on ? "off" : "on",
                   text_string(&names), on ? "on" : "off", name,
                   on ? "its pauses are ignored there"
                      : "it pauses nobody, and what does not fit into its buffer is lost");
        doctor_add_evidence(entries, "settings and settings_of of the scenario, the lab's links");
        text_free(&names);
    }
}

/* Does each switch pause on the priorities on which the hosts at its ports obey pauses? A bridge does not
 * know priorities. */
static void examine_switches(const struct cell *cell, json_t *entries)
{
    const struct lab *lab = &cell->lab;
    const struct lab_link *link;
    static const char *const keys[] = {"pfc", NULL};
    if (!lab_kind(lab)->simulated || doctor_varies(cell, keys, false))
        return;
    size_t hosts = lab->hosts.count, switches = lab->switches.count;
    struct nodes nodes = {cell, xcalloc(hosts + switches + 1, sizeof *nodes.items)};
    struct text_names(*names)[8] = xcalloc(switches + 1, sizeof *names);
    note_roles(&nodes);
    doctor_each_flow(cell, note_flow, &nodes);
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *between = link->between.items;
        int a = lab_node_index(lab, between[0]), b = lab_node_index(lab, between[1]);
        size_t host = (size_t)(a < b ? a : b), at = (size_t)(a < b ? b : a);
        if (a < 0 || b < 0 || host >= hosts || at < hosts || lab_switch_at(lab, at - hosts)->software)
            continue;
        unsigned other = nodes.items[host].priorities & (nodes.items[host].pfc ^ nodes.items[at].pfc);
        for (int p = 0; p < 8; p++)
            if (other >> p & 1)
                text_names_add(&names[at - hosts][p], nodes.items[host].role);
    }
    for (size_t i = 0; i < switches; i++)
        report_switch(&nodes, hosts + i, names[i], entries);
    free(names);
    free(nodes.items);
}

static bool has_own_settings(const struct cell *cell, const char *role)
{
    return json_object_get(json_object_get(cell->scenario_json, "settings_of"), role) != NULL;
}

static void examine_both_ends(const struct doctor_subject *x)
{
    struct list_of all;
    struct error e;
    struct doctor_interest interest = doctor_interest_of(x->cell);
    const json_t *seen = x->seen ? x->seen->interfaces : NULL;
    unsigned common =
        0; /* priorities of flows between roles without settings of their own, which all agree */
    if (list_pairs(x->cell, &all, &e) != 0) {
        doctor_add(x->entries, x->lab->name, "settings", "unknown", NULL, "%s", e.text);
        doctor_add_evidence(x->entries, "the scenario's traffic and settings_of");
    }
    const struct scenario_flow *flows = all.items;
    drop_met_interest(&interest, x->cell, &all, seen);
    for (size_t i = 0; i < all.count; i++) {
        bool as_all =
            !seen && !has_own_settings(x->cell, flows[i].from) && !has_own_settings(x->cell, flows[i].to);
        if (!as_all || !(common >> (flows[i].priority & 7) & 1))
            check_flow(x->cell, &flows[i], seen, interest, x->entries);
        common |= as_all ? 1u << (flows[i].priority & 7) : 0;
    }
    free(all.items);
    examine_switches(x->cell, x->entries);
}

const struct doctor_check doctor_both_ends = {.name = "settings of both ends",
                                              .scope = DOCTOR_CELL,
                                              .when = DOCTOR_WARNS_OF_RUN | DOCTOR_EXAMINES,
                                              .examine = examine_both_ends};
