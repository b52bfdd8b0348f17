#include "harness/plan/traffic_class.h"

#include <stdlib.h>
#include <string.h>

#define ECN_BITS 3 /* RFC 3168, section 5 */
#define ECT0     2

bool priority_is_listed(const struct list_of *priorities, int64_t priority)
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

const char *flow_sender(const struct scenario_flow *flow)
{
    return flow->op == OP_READ ? flow->to : flow->from;
}

const char *flow_receiver(const struct scenario_flow *flow)
{
    return flow->op == OP_READ ? flow->from : flow->to;
}

/* A role's own list replaces the common one. */
static bool listed(const struct list_of *own, const struct list_of *common, int64_t priority)
{
    return priority_is_listed(own && own->items ? own : common, priority);
}

static bool sender_has_ecn(const struct scenario *scenario, const struct scenario_flow *flow)
{
    const struct settings *common = &scenario->settings, *own = settings_of(scenario, flow_sender(flow));
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

bool role_trusts_dscp(const struct scenario *scenario, const char *role)
{
    return trusts_dscp(&scenario->settings, settings_of(scenario, role));
}

/* The DSCP that the sender's settings map to the priority; 8 times the priority is the kernel's and mlx5's
 * default map. */
static int64_t dscp_of(const struct settings *common, const struct settings *own, int64_t priority)
{
    int64_t dscp = own ? dscp_in(&own->dscp_to_prio, priority) : -1;
    if (!trusts_dscp(common, own))
        return 0;
    if (dscp < 0)
        dscp = dscp_in(&common->dscp_to_prio, priority);
    return dscp < 0 ? priority * 8 : dscp;
}

/* settings.traffic_class of the sender; FIELD_UNSET or -1: none. */
static int64_t class_of_settings(const struct scenario *scenario, const struct scenario_flow *flow)
{
    const struct settings *own = settings_of(scenario, flow_sender(flow));
    return own && own->traffic_class != FIELD_UNSET ? own->traffic_class : scenario->settings.traffic_class;
}

int64_t flow_traffic_class(const struct scenario *scenario, const struct scenario_flow *flow)
{
    if (flow->traffic_class != FIELD_UNSET)
        return flow->traffic_class;
    if (class_of_settings(scenario, flow) >= 0)
        return class_of_settings(scenario, flow);
    bool ect = sender_has_ecn(scenario, flow) || marks_somewhere(scenario);
    const struct settings *own = settings_of(scenario, flow_sender(flow));
    return dscp_of(&scenario->settings, own, flow->priority) << 2 | (ect ? ECT0 : 0);
}

struct scenario_flow flow_of_pattern(const struct scenario_traffic *traffic, char *from, char *to)
{
    return (struct scenario_flow){.name = traffic->name,
                                  .from = from,
                                  .to = to,
                                  .op = OP_WRITE,
                                  .priority = traffic->priority,
                                  .traffic_class = FIELD_UNSET};
}

bool traffic_class_is_ect(int64_t traffic_class)
{
    return (traffic_class & ECN_BITS) != 0;
}
