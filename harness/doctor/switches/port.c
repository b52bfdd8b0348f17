/* The port itself, and PFC at both ends of its cable. */
#include "harness/doctor/switches/switch.h"

#include "lib/text.h"
#include <inttypes.h>
#include <string.h>

static void report_port(const struct doctor_subject *x, const char *check, const char *verdict,
                        const struct text *fix, const struct text *reason)
{
    const struct switch_end *end = x->end;
    doctor_add(x->entries, end->of->name, check, verdict, fix->length ? text_string(fix) : NULL, "%s",
               text_string(reason));
    doctor_add_evidence(x->entries, "%s: PORT|%s, PORT_QOS_MAP|%s", end->from, end->port->name,
                        end->port->name);
}

/* ---- the port */

/* What keeps frames from passing; nothing is added if nothing does. */
static void add_faults(const struct switch_end *end, struct text *reason, struct text *fix)
{
    const struct sonic_port *p = end->port;
    if (p->admin_up == SONIC_NO) {
        text_add(reason, ": it is shut down");
        text_add(fix, "config interface startup %s", p->name);
    } else if (end->host_speed_Mbps != FIELD_UNSET && sonic_is_given(p->speed_Mbps) &&
               end->host_speed_Mbps != p->speed_Mbps) {
        text_add(reason, ": its speed is ");
        switch_describe_rate(p->speed_Mbps, reason);
        text_add(reason, ", that of the host's NIC ");
        switch_describe_rate(end->host_speed_Mbps, reason);
        text_add(fix, "config interface speed %s %" PRId64, p->name, end->host_speed_Mbps);
    } else if (end->host_mtu != FIELD_UNSET && sonic_is_given(p->mtu) && end->host_mtu > p->mtu) {
        text_add(reason, ": its MTU is %" PRId64 ", the host's %" PRId64 ": longer frames are discarded",
                 p->mtu, end->host_mtu);
        text_add(fix, "config interface mtu %s %" PRId64 ", or a smaller settings.mtu", p->name,
                 end->host_mtu);
    }
}

static bool contradicts_lab(const struct switch_end *end)
{
    return end->link->rate_bps != FIELD_UNSET && sonic_is_given(end->port->speed_Mbps) &&
           end->link->rate_bps != end->port->speed_Mbps * 1000000;
}

static void describe_port(const struct switch_end *end, struct text *reason)
{
    const struct sonic_port *p = end->port;
    text_add(reason, p->admin_up == SONIC_UNKNOWN ? ": whether it is up was not understood" : ": up");
    if (sonic_is_given(p->speed_Mbps)) {
        text_add(reason, ", ");
        switch_describe_rate(p->speed_Mbps, reason);
    } else if (p->speed_Mbps == SONIC_UNREAD) {
        text_add(reason, ", its speed was not understood");
    }
    if (sonic_is_given(p->mtu))
        text_add(reason, ", MTU %" PRId64, p->mtu);
    else if (p->mtu == SONIC_UNREAD)
        text_add(reason, ", its MTU was not understood");
    if (contradicts_lab(end)) {
        text_add(reason, "; the lab's link has a rate of ");
        switch_describe_rate(end->link->rate_bps / 1000000, reason);
    }
}

static bool is_unread(const struct sonic_port *p)
{
    return p->admin_up == SONIC_UNKNOWN || p->speed_Mbps == SONIC_UNREAD || p->mtu == SONIC_UNREAD;
}

static void examine_port(const struct doctor_subject *x)
{
    const struct switch_end *end = x->end;
    struct text reason = {0}, fix = {0};
    switch_describe_end(end, &reason);
    if (!end->port->exists) {
        text_add(&reason, ": the switch has no such port");
        text_add(&fix, "name a port that show interfaces status lists, in links of the lab");
        report_port(x, "port", "failure", &fix, &reason);
    } else {
        size_t length = reason.length;
        add_faults(end, &reason, &fix);
        bool faulty = reason.length > length;
        if (!faulty)
            describe_port(end, &reason);
        if (!faulty && contradicts_lab(end))
            text_add(&fix, "correct the rate of this link in the lab, or the port's speed");
        report_port(x, "port",
                    faulty                 ? "failure"
                    : contradicts_lab(end) ? "warning"
                    : is_unread(end->port) ? "unknown"
                                           : "ok",
                    &fix, &reason);
    }
    text_free(&reason);
    text_free(&fix);
}

const struct doctor_check doctor_switch_port = {
    .name = "port", .scope = DOCTOR_PORT, .when = DOCTOR_EXAMINES, .examine = examine_port};

/* ---- PFC */

/* "pfc" of the host's settings as bits; false: not known. */
static bool host_pfc(const struct switch_end *end, unsigned *bits)
{
    const json_t *list = json_object_get(end->settings, "pfc"), *item;
    size_t i;
    *bits = 0;
    json_array_foreach(list, i, item)
    {
        *bits |= 1u << (json_integer_value(item) & 7);
    }
    return json_is_array(list);
}

static void compare_with_host(const struct doctor_subject *x, struct text *reason, struct text *fix,
                              const char **verdict)
{
    const struct switch_end *end = x->end;
    unsigned host, here = end->port->pfc, used = switch_flow_priorities(x);
    text_add(reason, ": PFC on priorities ");
    switch_describe_priorities(here, reason);
    if (!host_pfc(end, &host)) {
        text_add(reason, "; those of %s were not read", end->host->name);
        text_add(fix, "mend connection, programs and nic of %s", end->host->name);
        *verdict = "unknown";
        return;
    }
    if (host == here) {
        text_add(reason, ", as at %s", end->host->name);
        return;
    }
    text_add(reason, ", at %s on ", end->host->name);
    switch_describe_priorities(host, reason);
    text_add(reason, ": one end ignores the other's pauses");
    text_add(fix,
             "config interface pfc priority %s PRIORITY on (or off); or list the switch's in settings.pfc",
             end->port->name);
    *verdict = x->cell && !((host ^ here) & used) ? "warning" : "failure";
    if (x->cell && !((host ^ here) & used))
        text_add(reason, ", on priorities that no flow of this host has");
}

static void examine_pfc(const struct doctor_subject *x)
{
    const struct switch_end *end = x->end;
    struct text reason = {0}, fix = {0};
    const char *verdict = "ok";
    if (end->port->has_pfc == SONIC_UNKNOWN) {
        switch_report_pfc_unread(x, "pfc");
        return;
    }
    switch_describe_end(end, &reason);
    compare_with_host(x, &reason, &fix, &verdict);
    report_port(x, "pfc", verdict, &fix, &reason);
    text_free(&reason);
    text_free(&fix);
}

const struct doctor_check doctor_switch_pfc = {.name = "pfc",
                                               .scope = DOCTOR_PORT,
                                               .when = DOCTOR_EXAMINES,
                                               .needs = DOCTOR_NEEDS_PORT | DOCTOR_NEEDS_PORT_HOST,
                                               .examine = examine_pfc};

static void compare_cable_pfc(const struct doctor_subject *x)
{
    const struct switch_cable *c = x->cable;
    struct text reason = {0};
    bool same = c->ports[0]->pfc == c->ports[1]->pfc, unread = false;
    for (int i = 0; i < 2; i++) {
        text_add(&reason, "%s%s of %s has PFC on priorities ", i ? ", " : "", c->ports[i]->name, c->names[i]);
        if (c->ports[i]->has_pfc == SONIC_UNKNOWN)
            text_add(&reason, "that were not understood");
        else
            switch_describe_priorities(c->ports[i]->pfc, &reason);
        unread = unread || c->ports[i]->has_pfc == SONIC_UNKNOWN;
    }
    text_add(&reason, same || unread ? "" : ": one end ignores the other's pauses");
    doctor_add(x->entries, c->names[0], "pfc",
               unread ? "unknown"
               : same ? "ok"
                      : "failure",
               same || unread ? NULL : "config interface pfc priority PORT PRIORITY on, at both switches",
               "%s", text_string(&reason));
    doctor_add_evidence(x->entries, "PORT_QOS_MAP of both switches");
    text_free(&reason);
}

/* A number of PORT that both ends must have; what one of them does not say is not compared. */
static void compare_cable_number(const struct doctor_subject *x, const char *what, const int64_t values[2],
                                 const char *consequence, const char *fix)
{
    const struct switch_cable *c = x->cable;
    const int unread = values[0] == SONIC_UNREAD ? 0 : values[1] == SONIC_UNREAD ? 1 : -1;
    if (unread >= 0) {
        doctor_add(x->entries, c->names[unread], "port", "unknown", NULL,
                   "%s of %s: its %s was not understood, and not compared with that of %s of %s",
                   c->ports[unread]->name, c->names[unread], what, c->ports[!unread]->name,
                   c->names[!unread]);
        doctor_add_evidence(x->entries, "PORT of both switches");
    }
    if (!sonic_is_given(values[0]) || !sonic_is_given(values[1]) || values[0] == values[1])
        return;
    doctor_add(x->entries, c->names[0], "port", "failure", fix,
               "%s of %s has %s %" PRId64 ", %s of %s %" PRId64 ": %s", c->ports[0]->name, c->names[0], what,
               values[0], c->ports[1]->name, c->names[1], values[1], consequence);
    doctor_add_evidence(x->entries, "PORT of both switches");
}

static void examine_cable(const struct doctor_subject *x)
{
    const struct sonic_port *const *ports = x->cable->ports;
    compare_cable_pfc(x);
    compare_cable_number(x, "MTU", (const int64_t[]){ports[0]->mtu, ports[1]->mtu},
                         "the end with the smaller one drops the other's longer frames",
                         "config interface mtu PORT MTU, the same at both switches");
    compare_cable_number(x, "speed (Mb/s)", (const int64_t[]){ports[0]->speed_Mbps, ports[1]->speed_Mbps},
                         "a cable has one speed, or no link",
                         "config interface speed PORT SPEED, the same at both switches");
}

const struct doctor_check doctor_switch_cable = {
    .name = "cable", .scope = DOCTOR_CABLE, .when = DOCTOR_EXAMINES, .examine = examine_cable};
