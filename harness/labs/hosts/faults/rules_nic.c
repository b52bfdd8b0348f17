#include "harness/labs/hosts/faults/rules_nic.h"

#include "lib/clock.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- what a NIC cannot do */

static int check_action(const struct injection_rule *r, const char *path, struct error *e)
{
    if (r->action > INJECT_DUPLICATE)
        return error_set(
            e,
            "%s.do: \"%s\" is simulated only: a virtual ConnectX drops, corrupts, marks, delays and "
            "duplicates frames",
            path, injection_action_name(r));
    if (r->priority != FIELD_UNSET)
        return error_set(e, "%s.priority: frames of a priority are simulated only: leave it out", path);
    return 0;
}

static int check_choice(const struct injection_rule *r, const char *path, struct error *e)
{
    struct injection_choice choice = injection_choice(r);
    if (!isnan(r->probability))
        return error_set(e,
                         "%s.probability: a virtual ConnectX does not draw frames: give \"nth\" and "
                         "\"every\"",
                         path);
    if (r->phase != 0 || r->start_ns != 0 || r->stop_ns != FIELD_UNSET)
        return error_set(e,
                         "%s: a virtual ConnectX knows no times of a run: leave out \"phase\", \"start\" and "
                         "\"stop\"; frames are counted from the first one on",
                         path);
    if (choice.first > FAULT_MOST_FRAMES || choice.every > FAULT_MOST_FRAMES)
        return error_set(e, "%s: a virtual ConnectX counts to %d: found %" PRId64, path, FAULT_MOST_FRAMES,
                         choice.first > choice.every ? choice.first : choice.every);
    return 0;
}

static int check_delay(const struct injection_rule *r, const char *path, struct error *e)
{
    if (r->delay_ns == FIELD_UNSET)
        return 0;
    if (r->action == INJECT_DUPLICATE)
        return error_set(e, "%s.delay: a virtual ConnectX sends a copy right behind the frame: leave it out",
                         path);
    if (r->delay_ns % NS_PER_MS == 0)
        return 0;
    return error_set(e, "%s.delay: a virtual ConnectX delays by whole milliseconds: found %" PRId64 " ns",
                     path, r->delay_ns);
}

/* A NIC's faults are for all that it sends. */
static int check_alone(const struct fault_request *q, struct error *e)
{
    const struct scenario_flow *flows = q->scenario->flows.items;
    for (size_t i = 0; q->rule->flow && i < q->scenario->flows.count; i++) {
        const char *ends[] = {flows[i].from, flows[i].to};
        for (int end = 0; end < 2; end++)
            if (strcmp(flows[i].name, q->rule->flow) != 0 && lab_real_host(q->lab, ends[end]) == q->source &&
                fault_sends(&flows[i], ends[end], q->rule->packet))
                return error_set(
                    e,
                    "%s.flow: a NIC does not tell flows apart, and %s sends such packets of flow \"%.80s\" "
                    "too: give \"link\"",
                    q->path, q->from, flows[i].name);
    }
    return 0;
}

/* ---- the line */

static void write_line(const struct injection_rule *r, struct text *line)
{
    struct injection_choice choice = injection_choice(r);
    text_add(line, "%s sent %s %" PRId64, injection_action_name(r),
             r->packet == INJECT_PFC ? "pause" : injection_packet_name(r), choice.first);
    if (r->delay_ns != FIELD_UNSET)
        text_add(line, " %lld", r->delay_ns / NS_PER_MS);
    text_add(line, " step %" PRId64, choice.every);
    if (choice.most <= FAULT_MOST_FRAMES)
        text_add(line, " count %" PRId64, choice.most);
}

int fault_of_nic(const struct fault_request *q, struct fault *fault, struct error *e)
{
    if (check_action(q->rule, q->path, e) != 0 || check_choice(q->rule, q->path, e) != 0 ||
        check_delay(q->rule, q->path, e) != 0 || check_alone(q, e) != 0)
        return -1;
    fault->host = q->source;
    write_line(q->rule, &fault->line);
    return 0;
}
