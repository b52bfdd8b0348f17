#include "harness/preflight/ecn.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ECN_BITS 3 /* RFC 3168, section 5 */
#define ECT0     2

/* ---- a flow's traffic class */

bool ecn_lists(const struct list_of *priorities, int64_t priority)
{
    const int64_t *items = priorities->items;
    for (size_t i = 0; i < priorities->count; i++)
        if (items[i] == priority)
            return true;
    return false;
}

static const struct settings *settings_of(const struct scenario *scenario, const char *role)
{
    const struct settings *of = scenario->settings_of.items;
    for (size_t i = 0; i < scenario->settings_of.count; i++)
        if (strcmp(of[i].name, role) == 0)
            return &of[i];
    return NULL;
}

const char *ecn_sender(const struct scenario_flow *flow)
{
    return flow->op == OP_READ ? flow->to : flow->from;
}

const char *ecn_receiver(const struct scenario_flow *flow)
{
    return flow->op == OP_READ ? flow->from : flow->to;
}

/* A role's own list replaces the common one. */
static bool listed(const struct list_of *own, const struct list_of *common, int64_t priority)
{
    return ecn_lists(own && own->items ? own : common, priority);
}

static bool sender_has_ecn(const struct scenario *scenario, const struct scenario_flow *flow)
{
    const struct settings *common = &scenario->settings, *own = settings_of(scenario, ecn_sender(flow));
    return listed(own ? &own->ecn : NULL, &common->ecn, flow->priority) ||
           listed(own ? &own->ecn_rp : NULL, &common->ecn_rp, flow->priority) ||
           listed(own ? &own->ecn_np : NULL, &common->ecn_np, flow->priority);
}

static bool marks_somewhere(const struct scenario *scenario)
{
    const struct settings *of = scenario->settings_of.items;
    for (size_t i = 0; i < scenario->settings_of.count; i++)
        if (of[i].red || of[i].ecn_threshold)
            return true;
    return scenario->settings.red || scenario->settings.ecn_threshold;
}

static int64_t dscp_in(const struct list_of *map, int64_t priority)
{
    const struct named_integer *items = map->items;
    for (size_t i = 0; i < map->count; i++)
        if (items[i].value == priority)
            return strtol(items[i].name, NULL, 10);
    return -1;
}

static bool trusts_dscp(const struct settings *common, const struct settings *own)
{
    return (own && own->trust >= 0 ? own->trust : common->trust) == TRUST_DSCP;
}

bool ecn_trusts_dscp(const struct scenario *scenario, const char *role)
{
    return trusts_dscp(&scenario->settings, settings_of(scenario, role));
}

/* The DSCP that the sender's settings map to the priority; 8 times the priority is the kernel's and mlx5's default map. */
static int64_t dscp_of(const struct settings *common, const struct settings *own, int64_t priority)
{
    int64_t dscp = own ? dscp_in(&own->dscp_to_prio, priority) : -1;
    if (!trusts_dscp(common, own))
        return 0;
    if (dscp < 0)
        dscp = dscp_in(&common->dscp_to_prio, priority);
    return dscp < 0 ? priority * 8 : dscp;
}

/* Of settings.traffic_class; FIELD_UNSET or -1: none. */
static int64_t class_of_settings(const struct scenario *scenario, const struct scenario_flow *flow)
{
    const struct settings *own = settings_of(scenario, ecn_sender(flow));
    return own && own->traffic_class != FIELD_UNSET ? own->traffic_class : scenario->settings.traffic_class;
}

int64_t ecn_traffic_class(const struct scenario *scenario, const struct scenario_flow *flow)
{
    if (flow->traffic_class != FIELD_UNSET)
        return flow->traffic_class;
    if (class_of_settings(scenario, flow) >= 0)
        return class_of_settings(scenario, flow);
    bool ect = sender_has_ecn(scenario, flow) || marks_somewhere(scenario);
    const struct settings *own = settings_of(scenario, ecn_sender(flow));
    return dscp_of(&scenario->settings, own, flow->priority) << 2 | (ect ? ECT0 : 0);
}

struct scenario_flow ecn_flow_of_pattern(const struct scenario_traffic *traffic, char *from, char *to)
{
    return (struct scenario_flow){.name = traffic->name,
                                  .from = from,
                                  .to = to,
                                  .op = OP_WRITE,
                                  .priority = traffic->priority,
                                  .traffic_class = FIELD_UNSET};
}

bool ecn_capable(int64_t traffic_class)
{
    return (traffic_class & ECN_BITS) != 0;
}

/* ---- words */

/* "flow a-to-b", "flows a-to-b, b-to-a and 7 others" */
static void add_flows(const struct ecn_finding *f, struct text *out)
{
    text_add(out, f->count == 1 ? "flow " : "flows ");
    for (size_t i = 0; i < f->count && i < ECN_NAMED; i++)
        text_add(out, "%s%s", i ? ", " : "", f->flows[i].name);
    if (f->count > ECN_NAMED)
        text_add(out, " and %zu other%s", f->count - ECN_NAMED, f->count - ECN_NAMED == 1 ? "" : "s");
}

void ecn_say(const struct ecn_finding *f, struct text *out)
{
    const char *their = f->count == 1 ? "its" : "their";
    add_flows(f, out);
    text_add(out, " %s not ECN-capable (traffic class %" PRId64 "%s: DSCP %" PRId64 ", ECN bits 00): ",
             f->count == 1 ? "is" : "are", f->traffic_class, f->forced ? ", forced by settings" : "",
             f->traffic_class >> 2);
    if (f->by_nic)
        text_add(out, "%s NIC writes the ECN bits itself, and ECN is off at %s for %s priority: ", their,
                 ecn_sender(&f->flows[0]), their);
    else if (f->unsure)
        text_add(out, "unless %s NIC writes the ECN bits itself, as mlx5 does for priorities with ECN, ",
                 their);
    switch (f->consequence) {
    case ECN_DROPPED:
        text_add(out, "RED at %s drops %s packets instead of marking them: they cause no CNPs", f->place,
                 their);
        break;
    case ECN_UNMARKED:
        text_add(
            out,
            "%s does not mark %s packets: the queue grows until PFC pauses the sender or packets are dropped",
            f->place, their);
        break;
    case ECN_UNNOTICED:
        text_add(out, "switches do not mark %s packets: DCQCN, which is on at %s, never reduces their rate",
                 their, f->place);
        break;
    }
}

void ecn_say_remedy(const struct ecn_finding *f, struct text *out)
{
    if (f->by_nic) {
        text_add(out, "priority %" PRId64 " in settings.ecn switches it on", f->flows[0].priority);
        return;
    }
    text_add(out, "traffic_class %" PRId64 " in %s is the same DSCP with ECT(0)", f->traffic_class | ECT0,
             f->forced ? "settings" : "flows");
}

/* ---- what came of it */

/* The increase over the whole run of a role's counters that match; -1: none was sampled. */
static json_int_t total(const json_t *hosts, const char *role, const char *pattern)
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

void ecn_say_counted(const struct ecn_finding *f, const json_t *hosts, struct text *out)
{
    const char *receiver = ecn_receiver(&f->flows[0]);
    struct text counts = {0};
    if (f->consequence == ECN_DROPPED) {
        add_count("packets marked", total(hosts, f->place, "qdisc_*_marked"), &counts);
        add_count("dropped early", total(hosts, f->place, "qdisc_*_early"), &counts);
        add_count("dropped at the limit", total(hosts, f->place, "qdisc_*_pdrop"), &counts);
    } else if (f->consequence == ECN_UNMARKED) {
        add_count("packets marked", total(hosts, f->place, "ecn_marked"), &counts);
        add_count("dropped", total(hosts, f->place, "buffer_discards"), &counts);
    }
    if (counts.length)
        text_add(out, "counted at %s during the whole run: %s", f->place, text_string(&counts));
    text_clear(&counts);
    add_count("CNPs sent", total(hosts, receiver, "np_cnp_sent"), &counts);
    if (counts.length)
        text_add(out, "%s%s by %s", out->length ? "; " : "counted: ", text_string(&counts), receiver);
    text_free(&counts);
}
