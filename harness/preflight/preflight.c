#include "harness/preflight/preflight.h"
#include "harness/preflight/ecn.h"
#include "lib/roce/counters.h"
#include <fnmatch.h>
#include <stdarg.h>
#include <string.h>

void preflight_say(json_t *entries, const char *host, const char *check, const char *verdict, const char *fix,
                   const char *reason, ...)
{
    va_list arguments;
    va_start(arguments, reason);
    json_t *words = json_vsprintf(reason, arguments);
    va_end(arguments);
    json_array_append_new(entries, json_pack("{s:s,s:s,s:s,s:o,s:s*}", "host", host, "check", check,
                                             "verdict", verdict, "reason", words, "fix", fix));
}

/* ---- settings of both ends */

static json_t *effective(const struct cell *cell, const json_t *in_force, const char *role)
{
    json_t *there = json_object_get(in_force, role);
    json_t *settings = there ? json_deep_copy(there) : json_object();
    json_t *wanted = scenario_role_settings(cell->scenario_json, role);
    json_merge_deep(settings, wanted);
    json_decref(wanted);
    return settings;
}

static bool lists(const json_t *settings, const char *key, int64_t value)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(settings, key), i, item)
    {
        if (json_integer_value(item) == value)
            return true;
    }
    return false;
}

/* What expectations are about, by the counters they read. */
struct interest {
    bool pauses, cnps;
};

static void note_interest(void *context, const char *role, const char *counter)
{
    struct interest *interest = context;
    (void)role;
    interest->pauses = interest->pauses || strstr(counter, "_pause");
    interest->cnps = interest->cnps || strstr(counter, "cnp") || strstr(counter, "np_ecn");
}

static struct interest interest_of(const struct cell *cell)
{
    struct interest interest = {false, false};
    for (size_t i = 0; i < cell->scenario.expect.count; i++)
        expr_each_counter(cell->checks[i], note_interest, &interest);
    return interest;
}

/* Both ends of a flow. */
struct ends {
    const struct scenario_flow *flow;
    const json_t *from, *to;
    char label[220];
};

/* A host whose settings are known and which does not support PFC. */
static bool lacks_pfc(const json_t *in_force, const char *role)
{
    const json_t *there = json_object_get(in_force, role);
    return there && !json_object_get(there, "pfc");
}

static void check_pfc(const struct ends *x, bool wanted, json_t *entries)
{
    long long p = x->flow->priority;
    bool from = lists(x->from, "pfc", p), to = lists(x->to, "pfc", p);
    if (from != to)
        preflight_say(
            entries, x->label, "pfc", "failure",
            "list the priority in settings.pfc, which applies to both roles",
            "PFC on priority %lld is on at %s and off at %s: one end would ignore the other's pauses", p,
            from ? x->flow->from : x->flow->to, from ? x->flow->to : x->flow->from);
    else if (!from && wanted)
        preflight_say(entries, x->label, "pfc", "failure", "list the priority in settings.pfc",
                      "expectations count pauses, but PFC is off on priority %lld", p);
    else
        preflight_say(entries, x->label, "pfc", "ok", NULL, "PFC on priority %lld is %s at both ends", p,
                      from ? "on" : "off");
}

static void check_same(const struct ends *x, const char *key, const char *what, json_t *entries)
{
    const json_t *from = json_object_get(x->from, key), *to = json_object_get(x->to, key);
    if (!from && !to)
        return;
    char *a = json_dumps(from, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
    char *b = json_dumps(to, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
    if (json_equal(from, to))
        preflight_say(entries, x->label, key, "ok", NULL, "%s agree (%.80s)", what, a ? a : "");
    else
        preflight_say(entries, x->label, key, "failure", "give both roles the same value in settings",
                      "%s differ: %.80s at %s, %.80s at %s", what, a ? a : "unknown", x->flow->from,
                      b ? b : "unknown", x->flow->to);
    free(a);
    free(b);
}

static void check_ecn(const struct ends *x, bool wanted, json_t *entries)
{
    long long p = x->flow->priority;
    bool from = lists(x->from, "ecn", p), to = lists(x->to, "ecn", p);
    if (wanted && !(from && to))
        preflight_say(entries, x->label, "ecn", "failure", "list the priority in settings.ecn",
                      "expectations count CNPs, but on priority %lld the %s is off", p,
                      !from && !to ? "reaction and the notification point"
                      : from       ? "notification point"
                                   : "reaction point");
    else if (from != to)
        preflight_say(entries, x->label, "ecn", "warning", "list the priority in settings.ecn",
                      "ECN on priority %lld is on at one end only", p);
}

/* Buffers of lossless priorities must have a size. Whether they are large enough is checked with the driver's formula
 * by nic-config plan. */
static void check_buffer(const struct ends *x, const json_t *settings, const char *role, json_t *entries)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)x->flow->priority);
    const json_t *map = json_object_get(settings, "prio_to_buffer"),
                 *sizes = json_object_get(settings, "buffer_bytes");
    const json_t *buffer = json_object_get(map, key);
    if (!lists(settings, "pfc", x->flow->priority) || !buffer || !sizes)
        return;
    size_t number = (size_t)json_integer_value(buffer);
    if (json_integer_value(json_array_get(sizes, number)) == 0)
        preflight_say(entries, role, "buffers", "failure", "give the buffer a size in settings.buffer_bytes",
                      "lossless priority %s uses receive buffer %zu, which has size 0", key, number);
}

static void check_flow(const struct cell *cell, const struct scenario_flow *flow, const json_t *in_force,
                       struct interest interest, json_t *entries)
{
    json_t *from = effective(cell, in_force, flow->from), *to = effective(cell, in_force, flow->to);
    struct ends x = {flow, from, to, ""};
    snprintf(x.label, sizeof x.label, "%.100s->%.100s", flow->from, flow->to);
    if (lacks_pfc(in_force, flow->from) || lacks_pfc(in_force, flow->to))
        preflight_say(entries, x.label, "pfc", "unknown", NULL,
                      "PFC is unavailable at both ends: expectations that count pauses are skipped");
    else
        check_pfc(&x, interest.pauses, entries);
    check_ecn(&x, interest.cnps, entries);
    check_same(&x, "mtu", "MTUs", entries);
    check_same(&x, "trust", "trust modes", entries);
    check_same(&x, "dscp_to_prio", "maps from DSCP to priority", entries);
    check_buffer(&x, from, flow->from, entries);
    check_buffer(&x, to, flow->to, entries);
    json_decref(from);
    json_decref(to);
}

/* Packets that are not ECN-capable although DCQCN or RED needs them to be. */
static void check_ect(const struct cell *cell, const json_t *in_force, json_t *entries)
{
    struct ecn_finding *findings;
    size_t count;
    struct error e;
    if (ecn_find(cell, in_force, &findings, &count, &e) != 0)
        preflight_say(entries, cell->lab.name, "ect", "unknown", NULL, "%s", e.text);
    for (size_t i = 0; i < count; i++) {
        const struct scenario_flow *flow = findings[i].flows[0];
        struct text words = {0}, remedy = {0};
        char label[220];
        snprintf(label, sizeof label, "%.100s->%.100s", flow->from, flow->to);
        ecn_say(&findings[i], &words);
        ecn_say_remedy(&findings[i], &remedy);
        preflight_say(entries, label, "ect", "warning", text_string(&remedy), "%s", text_string(&words));
        text_free(&words);
        text_free(&remedy);
    }
    free(findings);
}

void preflight_settings(const struct cell *cell, const json_t *in_force, json_t *entries)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    struct interest interest = interest_of(cell);
    for (size_t i = 0; i < cell->scenario.flows.count; i++)
        check_flow(cell, &flows[i], in_force, interest, entries);
    check_ect(cell, in_force, entries);
}

/* ---- counters */

struct search {
    const struct cell *cell;
    const json_t *columns;
    const char *missing_role, *missing;
};

/* Does a counter of this row exist once the settings are applied: a qdisc's where RED is installed, pauses where PFC is enabled? */
static bool row_comes_with(const struct counter *row, const json_t *settings)
{
    if (row->origin == COUNTER_FROM_QDISC)
        return json_is_object(json_object_get(settings, "red"));
    return row->group == COUNTER_GROUP_PFC && json_array_size(json_object_get(settings, "pfc")) > 0;
}

static bool comes_with_settings(const struct search *search, const char *role, const char *counter)
{
    json_t *wanted = scenario_role_settings(search->cell->scenario_json, role);
    size_t count;
    const struct counter *rows = counters_all(&count);
    bool comes = false;
    for (size_t i = 0; !comes && i < count; i++)
        comes = row_comes_with(&rows[i], wanted) && counters_pattern_overlaps(rows[i].pattern, counter);
    json_decref(wanted);
    return comes;
}

static void look_for(void *context, const char *role_glob, const char *counter_glob)
{
    struct search *search = context;
    const char *role;
    json_t *names, *name;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)search->columns, role, names)
    {
        if (fnmatch(role_glob, role, 0) != 0)
            continue;
        if (comes_with_settings(search, role, counter_glob))
            return;
        json_array_foreach(names, i, name)
        {
            if (fnmatch(counter_glob, json_string_value(name), 0) == 0)
                return;
        }
    }
    search->missing_role = role_glob;
    search->missing = counter_glob;
}

void preflight_counters(const struct cell *cell, const json_t *columns, json_t *entries)
{
    const struct scenario_expect *expect = cell->scenario.expect.items;
    for (size_t i = 0; i < cell->scenario.expect.count; i++) {
        struct search search = {.cell = cell, .columns = columns};
        if (plan_when(cell, expect[i].when))
            expr_each_counter(cell->checks[i], look_for, &search);
        if (search.missing)
            preflight_say(entries, search.missing_role, "counters", "warning", NULL,
                          "there is no counter %s: \"%s\" will be skipped", search.missing, expect[i].name);
    }
}
