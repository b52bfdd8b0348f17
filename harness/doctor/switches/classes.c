/* Does a port put packets into the class that the host means by their DSCP? PFC of another priority would pause them, or none. */
#include "harness/doctor/switches/check.h"

#include "harness/doctor/doctor.h"
#include "harness/doctor/priority.h"
#include "harness/plan/cell.h"
#include "lib/text.h"
#include <inttypes.h>
#include <string.h>

static void say(const struct sonic_subject *x, const struct sonic_end *end, const char *verdict,
                const struct text *fix, const struct text *reason)
{
    preflight_say(x->entries, x->of->name, "dscp", verdict, fix->length ? text_string(fix) : NULL, "%s",
                  text_string(reason));
    preflight_read(x->entries, "%s: PORT_QOS_MAP|%s, DSCP_TO_TC_MAP|%s; settings of %s", x->from,
                   end->port->name, *end->port->dscp_map ? end->port->dscp_map : "(none)", end->host->name);
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
static void say_class(const struct sonic_subject *x, const struct sonic_end *end, int64_t dscp,
                      int64_t priority)
{
    struct text reason = {0}, fix = {0};
    int tc = dscp >= 0 && dscp < SONIC_DSCPS ? end->port->dscp_to_tc[dscp] : -1;
    sonic_say_end(end, x, &reason);
    text_add(&reason, ": DSCP %" PRId64 " is priority %" PRId64 " at %s", dscp, priority, end->host->name);
    if (tc == priority)
        text_add(&reason, ", and traffic class %d here", tc);
    else if (tc < 0)
        text_add(&reason, ", but %s has no entry for it: it is in traffic class 0 here", end->port->dscp_map);
    else
        text_add(&reason, ", but traffic class %d here: pauses of priority %" PRId64 " do not stop it", tc,
                 priority);
    if (tc != priority)
        add_fix(end->port, dscp, priority, &fix);
    say(x, end, tc == priority ? "ok" : "failure", &fix, &reason);
    text_free(&reason);
    text_free(&fix);
}

/* Packets that the host sends for a flow: its data, or the answers. Both have the flow's traffic class. */
static void check_flows(const struct sonic_subject *x, const struct sonic_end *end)
{
    const struct scenario *scenario = &x->cell->scenario;
    const struct scenario_flow *flows = scenario->flows.items;
    json_t *in_force = preflight_in_force(x->seen);
    for (size_t i = 0; end->role && i < scenario->flows.count; i++)
        if (strcmp(flows[i].from, end->role) == 0 || strcmp(flows[i].to, end->role) == 0)
            say_class(x, end, priority_traffic_class(x->cell, &flows[i], in_force) >> 2, flows[i].priority);
    json_decref(in_force);
}

static bool host_has_pfc(const struct sonic_end *end, int64_t priority)
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

/* Without a scenario: all DSCPs that either end takes for a lossless class. The first that differs is named. */
static void check_all(const struct sonic_subject *x, const struct sonic_end *end)
{
    struct text reason = {0}, fix = {0};
    int64_t first = -1, count = 0;
    for (int64_t dscp = 0; dscp < SONIC_DSCPS; dscp++) {
        int64_t priority = priority_of_dscp(end->settings, dscp);
        int tc = end->port->dscp_to_tc[dscp];
        bool lossless = host_has_pfc(end, priority) || (tc >= 0 && end->port->pfc >> tc & 1);
        if (!lossless || tc == priority)
            continue;
        first = first < 0 ? dscp : first;
        count++;
    }
    sonic_say_end(end, x, &reason);
    if (count) {
        text_add(&reason,
                 ": %" PRId64 " DSCPs of lossless classes are another class at %s; the first is DSCP %" PRId64
                 ", priority %" PRId64 " there and ",
                 count, end->host->name, first, priority_of_dscp(end->settings, first));
        text_add(&reason, end->port->dscp_to_tc[first] < 0 ? "in no map here" : "traffic class %d here",
                 end->port->dscp_to_tc[first]);
        text_add(&fix, "give the host the switch's map in settings.dscp_to_prio, or change DSCP_TO_TC_MAP|%s",
                 end->port->dscp_map);
    } else {
        text_add(&reason, ": DSCPs of lossless classes are the same class at %s", end->host->name);
    }
    say(x, end, count ? "warning" : "ok", &fix, &reason);
    text_free(&reason);
    text_free(&fix);
}

static void say_no_map(const struct sonic_subject *x, const struct sonic_end *end)
{
    struct text reason = {0}, fix = {0};
    bool tag = *end->port->dot1p_map;
    sonic_say_end(end, x, &reason);
    text_add(&reason, tag ? ": classes come from the VLAN tag (dot1p_to_tc_map): DSCPs were not compared"
                          : ": it has no dscp_to_tc_map: every packet is in traffic class 0");
    if (!tag)
        text_add(&fix, "give PORT_QOS_MAP|%s a dscp_to_tc_map: config qos reload writes SONiC's own",
                 end->port->name);
    say(x, end, tag ? "unknown" : "failure", &fix, &reason);
    text_free(&reason);
    text_free(&fix);
}

void sonic_check_classes(const struct sonic_subject *x, const struct sonic_end *end)
{
    const char *trust = json_string_value(json_object_get(end->settings, "trust"));
    if (!end->host || (x->cell && !sonic_flow_priorities(x, end)))
        return;
    if (!*end->port->dscp_map)
        say_no_map(x, end);
    else if (x->cell)
        check_flows(x, end);
    else if (trust && strcmp(trust, "dscp") == 0)
        check_all(x, end);
}
