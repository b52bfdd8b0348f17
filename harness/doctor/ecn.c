#include "harness/doctor/ecn.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ECT0 2 /* RFC 3168, section 5 */

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
                 flow_sender(&f->flows[0]), their);
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
    const char *receiver = flow_receiver(&f->flows[0]);
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
