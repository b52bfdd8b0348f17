/* The PFC watchdog's times. It looks at a queue every POLL_INTERVAL, stops the queue when it was paused for
 * detection_time, and starts it again after restoration_time without a pause (sonic-swss
 * orchagent/pfcwdorch.cpp, pfc_restore.lua). */
#include "harness/doctor/switches/switch.h"

#include "lib/text.h"
#include <inttypes.h>
#include <string.h>

static bool is_outside(int64_t value, int64_t least, int64_t most)
{
    return sonic_is_given(value) && (value < least || value > most);
}

static bool known_action(const char *action)
{
    return !*action || sonic_is_unread(action) || strcmp(action, "drop") == 0 ||
           strcmp(action, "forward") == 0 || strcmp(action, "alert") == 0;
}

/* What is wrong; NULL: nothing. */
static const char *first_fault(const struct sonic_config *config, const struct sonic_port *port,
                               const char **verdict)
{
    const struct sonic_watchdog *w = &port->watchdog;
    int64_t poll = config->poll_ms == FIELD_UNSET ? SONIC_POLL_DEFAULT_MS : config->poll_ms;
    bool unread = w->detection_ms == SONIC_UNREAD || w->restoration_ms == SONIC_UNREAD ||
                  config->poll_ms == SONIC_UNREAD || sonic_is_unread(w->action);
    *verdict = "failure";
    if (w->detection_ms == FIELD_UNSET)
        return "it has no detection_time: the switch refuses it, and nothing watches the port";
    if (is_outside(w->detection_ms, SONIC_DETECTION_LEAST_MS, SONIC_DETECTION_MOST_MS) ||
        is_outside(w->restoration_ms, SONIC_RESTORATION_LEAST_MS, SONIC_RESTORATION_MOST_MS))
        return "detection_time must be 100 to 5000 ms, restoration_time 100 to 60000 ms: the switch refuses "
               "it, and nothing watches "
               "the port";
    if (!known_action(w->action))
        return "its action is unknown: the switch refuses it, and nothing watches the port";
    if ((sonic_is_given(w->detection_ms) && w->detection_ms < poll) ||
        (sonic_is_given(w->restoration_ms) && w->restoration_ms < poll))
        return "detection and restoration cannot be shorter than POLL_INTERVAL: a queue is stopped and "
               "started again at every look";
    *verdict = "unknown";
    if (unread || port->has_pfc == SONIC_UNKNOWN)
        return "a value that matters here was not understood (config-db says which)";
    *verdict = "warning";
    if (!port->pfc)
        return "the port has no PFC: there is nothing to watch";
    if (w->restoration_ms == FIELD_UNSET)
        return "without restoration_time a queue that was stopped stays stopped";
    if (w->restoration_ms < w->detection_ms)
        return "restoration_time is shorter than detection_time: in a storm with gaps a queue is stopped and "
               "started again in a loop; "
               "pfcwd's own default is twice the detection time";
    return NULL;
}

static void add_time(struct text *out, const char *name, int64_t value_ms)
{
    if (!sonic_is_given(value_ms))
        text_add(out, ", %s not %s", name, value_ms == SONIC_UNREAD ? "understood" : "given");
    else
        text_add(out, ", %s %" PRId64 " ms", name, value_ms);
}

static void report_watchdog(const struct doctor_subject *x, const char *verdict, const char *fix,
                            const char *words)
{
    const struct switch_end *end = x->end;
    struct text reason = {0};
    switch_describe_end(end, &reason);
    text_add(&reason, ": %s", words);
    doctor_add(x->entries, end->of->name, "pfc-watchdog", verdict, fix, "%s", text_string(&reason));
    doctor_add_evidence(x->entries, "%s: PFC_WD|%s, PFC_WD|GLOBAL", end->from, end->port->name);
    text_free(&reason);
}

static void examine_times(const struct doctor_subject *x)
{
    const struct switch_end *end = x->end;
    const struct sonic_watchdog *w = &end->port->watchdog;
    const char *verdict, *fault = first_fault(end->config, end->port, &verdict);
    struct text words = {0}, fix = {0};
    text_add(&words, "action %s", *w->action ? w->action : "drop");
    add_time(&words, "detection", w->detection_ms);
    add_time(&words, "restoration", w->restoration_ms);
    add_time(&words, "poll interval", end->config->poll_ms);
    if (fault)
        text_add(&words, ": %s", fault);
    text_add(
        &fix,
        "pfcwd start --action drop ports %s detection-time 200 --restoration-time 400; pfcwd interval 200",
        end->port->name);
    report_watchdog(x, fault ? verdict : "ok", fault ? text_string(&fix) : NULL, text_string(&words));
    text_free(&words);
    text_free(&fix);
}

static void examine_watchdog(const struct doctor_subject *x)
{
    const struct switch_end *end = x->end;
    if (end->config->big_red_switch == SONIC_YES)
        report_watchdog(x, "failure", "pfcwd big_red_switch disable",
                        "BIG_RED_SWITCH is on: all packets of lossless classes are dropped");
    else if (end->config->big_red_switch == SONIC_UNKNOWN || end->port->watchdog.on == SONIC_UNKNOWN)
        report_watchdog(
            x, "unknown", NULL,
            "whether there is a watchdog, or all lossless packets are dropped (BIG_RED_SWITCH), was "
            "not understood");
    else if (end->port->watchdog.on == SONIC_YES)
        examine_times(x);
    else if (end->port->pfc)
        report_watchdog(x, "ok", NULL, "no watchdog: a pause storm is not ended");
}

const struct doctor_check doctor_switch_watchdog = {.name = "pfc-watchdog",
                                                    .scope = DOCTOR_PORT,
                                                    .when = DOCTOR_EXAMINES,
                                                    .needs = DOCTOR_NEEDS_PORT,
                                                    .examine = examine_watchdog};
