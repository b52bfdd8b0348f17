/* Does a port put packets into the class that the host means by their DSCP? PFC of another priority would
 * pause them, or none. */
#include "harness/doctor/switches/switch.h"

#include "harness/doctor/priority.h"
#include "harness/plan/cell.h"
#include "lib/text.h"
#include <inttypes.h>
#include <string.h>

static void report_dscp(const struct doctor_subject *x, const char *verdict, const struct text *fix,
                        const struct text *reason)
{
    const struct switch_end *end = x->end;
    doctor_add(x->entries, end->of->name, "dscp", verdict, fix->length ? text_string(fix) : NULL, "%s",
               text_string(reason));
    doctor_add_evidence(x->entries, "%s: PORT_QOS_MAP|%s, DSCP_TO_TC_MAP|%s; settings of %s", end->from,
                        end->port->name, *end->port->dscp_map ? end->port->dscp_map : "(none)",
                        end->host->name);
}

/* What to do about a DSCP that is in another class: the switch's map, or a DSCP that is right. */
static void add_fix(const struct sonic_port *port, int64_t dscp, int64_t priority, struct text *fix)
{
    int64_t right = 0;
    while (right < SONIC_DSCPS && port->dscp_to_tc[right] != priority)
        right++;
    text_add(fix, "map DSCP %" PRId64 " to %" PRId64 " in DSCP_TO_TC_MAP|%s", dscp, priority, port->dscp_map);
    if (right < SONIC_DSCPS)
        text_add(fix,
                 ", or send with DSCP %" PRId64
                 ", which is in this class (dscp_to_prio in settings, traffic_class of the flow)",
                 right);
}

/* What becomes of a DSCP, and what the host means by it. */
static void report_class(const struct doctor_subject *x, int64_t dscp, int64_t priority)
{
    const struct switch_end *end = x->end;
    struct text reason = {0}, fix = {0};
    int tc = dscp >= 0 && dscp < SONIC_DSCPS ? end->port->dscp_to_tc[dscp] : -1;
    switch_describe_end(end, &reason);
    text_add(&reason, ": DSCP %" PRId64 " is priority %" PRId64 " at %s", dscp, priority, end->host->name);
    if (tc == priority)
        text_add(&reason, ", and traffic class %d here", tc);
    else if (tc == SONIC_UNREAD_CLASS)
        text_add(&reason, ", but its entry in %s was not understood", end->port->dscp_map);
    else if (tc < 0)
        text_add(&reason, ", but %s has no entry for it: it is in traffic class 0 here", end->port->dscp_map);
    else
        text_add(&reason, ", but traffic class %d here: pauses of priority %" PRId64 " do not stop it", tc,
                 priority);
    if (tc != priority)
        add_fix(end->port, dscp, priority, &fix);
    report_dscp(x, tc == priority ? "ok" : tc == SONIC_UNREAD_CLASS ? "unknown" : "failure", &fix, &reason);
    text_free(&reason);
    text_free(&fix);
}

/* Packets that the host sends for a flow: its data, or the answers. Both have the flow's traffic class. */
static void examine_flows(const struct doctor_subject *x)
{
    const struct switch_end *end = x->end;
    const struct scenario *scenario = &x->cell->scenario;
    const struct scenario_flow *flows = scenario->flows.items;
    for (size_t i = 0; end->role && i < scenario->flows.count; i++)
        if (strcmp(flows[i].from, end->role) == 0 || strcmp(flows[i].to, end->role) == 0)
            report_class(x, priority_traffic_class(x->cell, &flows[i], x->seen->in_force) >> 2,
                         flows[i].priority);
}

static bool host_has_pfc(const struct switch_end *end, int64_t priority)
{
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(end->settings, "pfc"), i, item)
    {
        if (json_integer_value(item) == priority)
            return true;
    }
    return false;
}

/* Without a scenario: all DSCPs that either end takes for a lossless class. The first that differs is
 * named. */
static void examine_all(const struct doctor_subject *x)
{
    const struct switch_end *end = x->end;
    struct text reason = {0}, fix = {0};
    int64_t first = -1, count = 0, unread = 0;
    for (int64_t dscp = 0; dscp < SONIC_DSCPS; dscp++) {
        int64_t priority = priority_of_dscp(end->settings, dscp);
        int tc = end->port->dscp_to_tc[dscp];
        bool lossless = host_has_pfc(end, priority) || (tc >= 0 && end->port->pfc >> tc & 1);
        unread += lossless && tc == SONIC_UNREAD_CLASS;
        if (!lossless || tc == priority || tc == SONIC_UNREAD_CLASS)
            continue;
        first = first < 0 ? dscp : first;
        count++;
    }
    switch_describe_end(end, &reason);
    if (count) {
        text_add(&reason,
                 ": %" PRId64 " DSCPs of lossless classes are another class at %s; the first is DSCP %" PRId64
                 ", priority %" PRId64 " there and ",
                 count, end->host->name, first, priority_of_dscp(end->settings, first));
        text_add(&reason, end->port->dscp_to_tc[first] < 0 ? "in no map here" : "traffic class %d here",
                 end->port->dscp_to_tc[first]);
        text_add(&fix, "give the host the switch's map in settings.dscp_to_prio, or change DSCP_TO_TC_MAP|%s",
                 end->port->dscp_map);
    } else if (unread) {
        text_add(&reason, ": the entries of %" PRId64 " DSCPs of lossless classes were not understood",
                 unread);
    } else {
        text_add(&reason, ": DSCPs of lossless classes are the same class at %s", end->host->name);
    }
    report_dscp(x, count ? "warning" : unread ? "unknown" : "ok", &fix, &reason);
    text_free(&reason);
    text_free(&fix);
}

static void report_no_map(const struct doctor_subject *x)
{
    const struct switch_end *end = x->end;
    struct text reason = {0}, fix = {0};
    bool unread = sonic_is_unread(end->port->dscp_map), tag = *end->port->dot1p_map;
    switch_describe_end(end, &reason);
    text_add(&reason, unread ? ": which dscp_to_tc_map it has was not understood"
                      : tag  ? ": classes come from the VLAN tag (dot1p_to_tc_map): DSCPs were not compared"
                             : ": it has no dscp_to_tc_map: every packet is in traffic class 0");
    if (!tag && !unread)
        text_add(&fix, "give PORT_QOS_MAP|%s a dscp_to_tc_map: config qos reload writes SONiC's own",
                 end->port->name);
    report_dscp(x, tag || unread ? "unknown" : "failure", &fix, &reason);
    text_free(&reason);
    text_free(&fix);
}

static void examine_classes(const struct doctor_subject *x)
{
    const struct switch_end *end = x->end;
    const char *trust = json_string_value(json_object_get(end->settings, "trust"));
    if (x->cell && !switch_flow_priorities(x))
        return;
    if (!*end->port->dscp_map || sonic_is_unread(end->port->dscp_map))
        report_no_map(x);
    else if (x->cell)
        examine_flows(x);
    else if (trust && strcmp(trust, "dscp") == 0)
        examine_all(x);
}

const struct doctor_check doctor_switch_dscp = {.name = "dscp",
                                                .scope = DOCTOR_PORT,
                                                .when = DOCTOR_EXAMINES,
                                                .needs = DOCTOR_NEEDS_PORT | DOCTOR_NEEDS_PORT_HOST,
                                                .examine = examine_classes};
