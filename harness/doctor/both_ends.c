/* Settings of both ends of a flow. A setting that was not seen at one end is unknown: neither right nor wrong. */
#include "harness/doctor/doctor.h"

#include "harness/doctor/ecn.h"
#include "harness/doctor/pairs.h"
#include "lib/document/json_text.h"
#include "lib/formats/settings.h"
#include "lib/text.h"
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
    bool simulated;
    const json_t *seen; /* NULL: the host was not seen */
    json_t *wanted;     /* by the scenario */
    json_t *settings;   /* in force once those are applied */
};

/* Both ends of a flow. */
struct ends {
    const struct scenario_flow *flow;
    struct end from, to;
    char label[220];
};

static const json_t *part(const struct end *end, const char *name, const char *key)
{
    return json_object_get(json_object_get(end->seen, name), key);
}

static enum sight look(const struct end *end, const char *key)
{
    if (end->simulated)
        return SEEN;
    if (part(end, "unread", key))
        return UNSEEN;
    if (part(end, "settings", key))
        return SEEN;
    return part(end, "missing", key) ? LACKING : UNSEEN;
}

static bool unseen(const struct ends *x, const char *key)
{
    return look(&x->from, key) == UNSEEN || look(&x->to, key) == UNSEEN;
}

static bool lacking(const struct ends *x, const char *key)
{
    return look(&x->from, key) == LACKING || look(&x->to, key) == LACKING;
}

static void open_end(struct end *end, const struct cell *cell, const json_t *seen, const char *role)
{
    *end = (struct end){.role = role,
                        .simulated = lab_kind(&cell->lab)->simulated,
                        .seen = json_object_get(seen, role),
                        .wanted = scenario_role_settings(cell->scenario_json, role)};
    const json_t *there = json_object_get(end->seen, "settings");
    end->settings = there ? json_deep_copy(there) : json_object();
    json_merge_deep(end->settings, end->wanted);
}

static void close_end(struct end *end)
{
    json_decref(end->wanted);
    json_decref(end->settings);
}

static bool lists(const struct end *end, const char *key, int64_t value)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(end->settings, key), i, item)
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
    const char *unread = json_string_value(part(end, "unread", key));
    const char *missing = json_string_value(part(end, "missing", key));
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
static void add_read(const struct end *end, const char *key, struct text *out)
{
    const char *place = json_string_value(part(end, "places", key));
    const json_t *wanted = json_object_get(end->wanted, key), *now = part(end, "settings", key);
    if (look(end, key) != SEEN) {
        add_why(end, key, out);
        return;
    }
    text_add(out, "%s%s: ", out->length ? "; " : "", end->role);
    add_value(json_object_get(end->settings, key), out);
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
static void read_at_both(const struct ends *x, const char *key, json_t *entries)
{
    struct text out = {0};
    add_read(&x->from, key, &out);
    add_read(&x->to, key, &out);
    preflight_read(entries, "%s", text_string(&out));
    text_free(&out);
}

static void say_unseen(const struct ends *x, const char *check, const char *key, const char *question,
                       json_t *entries)
{
    struct text why = {0}, fix = {0};
    const struct end *const ends[] = {&x->from, &x->to};
    for (size_t i = 0; i < 2; i++) {
        if (look(ends[i], key) != UNSEEN)
            continue;
        add_why(ends[i], key, &why);
        text_add(&fix, "%s%s of %s's host", fix.length ? "; " : "",
                 ends[i]->seen ? "run nic-config get as root: settings" : "mend connection, programs and nic",
                 ends[i]->role);
    }
    preflight_say(entries, x->label, check, "unknown", text_string(&fix), "%s: %s", question,
                  text_string(&why));
    read_at_both(x, key, entries);
    text_free(&why);
    text_free(&fix);
}

static void say_lacking(const struct ends *x, const char *key, const char *verdict, const char *consequence,
                        json_t *entries)
{
    struct text why = {0};
    if (look(&x->from, key) == LACKING)
        add_why(&x->from, key, &why);
    if (look(&x->to, key) == LACKING)
        add_why(&x->to, key, &why);
    preflight_say(entries, x->label, key, verdict, NULL, "%s: %s", text_string(&why), consequence);
    read_at_both(x, key, entries);
    text_free(&why);
}

/* ---- what expectations ask for, by the counters that they read */

/* An expectation that would hold without a single pause asks for none: "nobody pauses" is no reason to have PFC. */
struct interest {
    uint8_t pauses;        /* a bit for each priority whose own pauses are asked for */
    bool any_pauses, cnps; /* those of any priority; CNPs */
};

/* The priority that a counter's name says: "rx_prio3_pause"; -1: none, or several ("rx_prio*_pause"). */
static int priority_of(const char *counter)
{
    const char *at = strstr(counter, "prio");
    return at && at[4] >= '0' && at[4] <= '7' ? at[4] - '0' : -1;
}

static void note_interest(void *context, const char *role, const char *counter, const char *key)
{
    struct interest *interest = context;
    int priority = priority_of(counter);
    (void)key;
    (void)role;
    if (strstr(counter, "_pause") && priority >= 0)
        interest->pauses |= (uint8_t)(1u << priority);
    else if (strstr(counter, "_pause"))
        interest->any_pauses = true;
    interest->cnps = interest->cnps || strstr(counter, "cnp") || strstr(counter, "np_ecn");
}

static struct interest interest_of(const struct cell *cell)
{
    const struct scenario_expect *expect = cell->scenario.expect.items;
    struct interest interest = {0};
    for (size_t i = 0; i < cell->scenario.expect.count; i++)
        if (plan_when(cell, expect[i].when) && !expr_holds_uncounted(cell->checks[i]))
            expr_each_counter(cell->checks[i], note_interest, &interest);
    return interest;
}

bool preflight_asks_for_cnps(const struct cell *cell)
{
    return interest_of(cell).cnps;
}

/* Pauses of any priority, and CNPs, are asked for of all flows together: have both ends of one of them what makes them? */
static bool some_flow_has(const struct cell *cell, const struct list_of *all, const json_t *seen,
                          const char *key)
{
    const struct scenario_flow *flows = all->items;
    bool has = false;
    for (size_t i = 0; !has && i < all->count; i++) {
        struct end from, to;
        open_end(&from, cell, seen, flows[i].from);
        open_end(&to, cell, seen, flows[i].to);
        has = look(&from, key) == SEEN && look(&to, key) == SEEN && lists(&from, key, flows[i].priority) &&
              lists(&to, key, flows[i].priority);
        close_end(&from);
        close_end(&to);
    }
    return has;
}

/* Pauses or CNPs that one flow can have are not required of the other flows. */
static void settle_interest(struct interest *interest, const struct cell *cell, const struct list_of *all,
                            const json_t *seen)
{
    interest->any_pauses = interest->any_pauses && !some_flow_has(cell, all, seen, "pfc");
    interest->cnps = interest->cnps && !some_flow_has(cell, all, seen, "ecn");
}

/* ---- checks */

static void say_pfc(const struct ends *x, bool wanted, json_t *entries)
{
    long long p = x->flow->priority;
    bool from = lists(&x->from, "pfc", p), to = lists(&x->to, "pfc", p);
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
    read_at_both(x, "pfc", entries);
}

static void check_pfc(const struct ends *x, bool wanted, json_t *entries)
{
    if (unseen(x, "pfc"))
        say_unseen(x, "pfc", "pfc", "whether PFC is on at both ends is not known", entries);
    else if (lacking(x, "pfc"))
        say_lacking(x, "pfc", "warning",
                    "PFC is unavailable between both ends; expectations that count pauses are skipped",
                    entries);
    else
        say_pfc(x, wanted, entries);
}

static void say_same(const struct ends *x, const char *key, const char *what, json_t *entries)
{
    const json_t *from = json_object_get(x->from.settings, key), *to = json_object_get(x->to.settings, key);
    struct text a = {0}, b = {0};
    add_value(from, &a);
    add_value(to, &b);
    if (json_equal(from, to))
        preflight_say(entries, x->label, key, "ok", NULL, "%s agree (%s)", what, text_string(&a));
    else
        preflight_say(entries, x->label, key, "failure", "give both roles the same value in settings",
                      "%s differ: %s at %s, %s at %s", what, text_string(&a), x->flow->from, text_string(&b),
                      x->flow->to);
    read_at_both(x, key, entries);
    text_free(&a);
    text_free(&b);
}

/* Where neither end has the setting there is nothing to compare; what the scenario wants of it is reported by nic-config's plan. */
static void check_same(const struct ends *x, const char *key, const char *what, json_t *entries)
{
    char question[100];
    snprintf(question, sizeof question, "whether the %s agree is not known", what);
    if (unseen(x, key))
        say_unseen(x, key, key, question, entries);
    else if (look(&x->from, key) != look(&x->to, key))
        say_lacking(x, key, "unknown", question, entries);
    else if (!lacking(x, key) &&
             (json_object_get(x->from.settings, key) || json_object_get(x->to.settings, key)))
        say_same(x, key, what, entries);
}

static void say_ecn(const struct ends *x, bool wanted, json_t *entries)
{
    long long p = x->flow->priority;
    bool from = lists(&x->from, "ecn", p), to = lists(&x->to, "ecn", p);
    if (wanted && !(from && to))
        preflight_say(entries, x->label, "ecn", "failure", "list the priority in settings.ecn",
                      "expectations count CNPs, but on priority %lld the %s is off", p,
                      from ? "notification point"
                      : to ? "reaction point"
                           : "reaction and the notification point");
    else if (from != to)
        preflight_say(entries, x->label, "ecn", "warning", "list the priority in settings.ecn",
                      "ECN on priority %lld is on at one end only", p);
    else
        return;
    read_at_both(x, "ecn", entries);
}

static void check_ecn(const struct ends *x, bool wanted, json_t *entries)
{
    if (unseen(x, "ecn"))
        say_unseen(x, "ecn", "ecn", "whether DCQCN is on at both ends is not known", entries);
    else if (!lacking(x, "ecn"))
        say_ecn(x, wanted, entries);
    else if (wanted)
        say_lacking(x, "ecn", "warning", "expectations that count CNPs may be skipped", entries);
}

/* Buffers of lossless priorities must have a size. Whether they are large enough is checked with the driver's formula
 * by nic-config plan. */
static void say_buffer(const struct ends *x, const struct end *end, json_t *entries)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)x->flow->priority);
    const json_t *buffer = json_object_get(json_object_get(end->settings, "prio_to_buffer"), key);
    const json_t *sizes = json_object_get(end->settings, "buffer_bytes");
    struct text read = {0};
    size_t number = (size_t)json_integer_value(buffer);
    if (!buffer || !sizes || json_integer_value(json_array_get(sizes, number)) > 0)
        return;
    preflight_say(entries, end->role, "buffers", "failure", "give the buffer a size in settings.buffer_bytes",
                  "lossless priority %s uses receive buffer %zu, which has size 0", key, number);
    add_read(end, "prio_to_buffer", &read);
    add_read(end, "buffer_bytes", &read);
    preflight_read(entries, "%s", text_string(&read));
    text_free(&read);
}

static void check_buffer(const struct ends *x, const struct end *end, json_t *entries)
{
    static const char *const keys[] = {"pfc", "prio_to_buffer", "buffer_bytes"};
    struct text why = {0};
    bool lossless = look(end, "pfc") != LACKING && lists(end, "pfc", x->flow->priority), any_lacking = false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        any_lacking = any_lacking || look(end, keys[i]) == LACKING;
        if (look(end, keys[i]) == UNSEEN && why.length == 0)
            add_why(end, keys[i], &why);
    }
    if (why.length && !any_lacking && (lossless || look(end, "pfc") == UNSEEN)) {
        preflight_say(entries, end->role, "buffers", "unknown", NULL,
                      "whether priority %lld has a receive buffer is not known: %s",
                      (long long)x->flow->priority, text_string(&why));
        preflight_read(entries, "%s", text_string(&why));
    } else if (lossless && !any_lacking) {
        say_buffer(x, end, entries);
    }
    text_free(&why);
}

static void check_flow(const struct cell *cell, const struct scenario_flow *flow, const json_t *seen,
                       struct interest interest, json_t *entries)
{
    struct ends x = {.flow = flow};
    open_end(&x.from, cell, seen, flow->from);
    open_end(&x.to, cell, seen, flow->to);
    snprintf(x.label, sizeof x.label, "%.100s->%.100s", flow->from, flow->to);
    check_pfc(&x, interest.any_pauses || (interest.pauses >> (flow->priority & 7) & 1), entries);
    check_ecn(&x, interest.cnps, entries);
    for (const struct setting *s = settings_known; s->key; s++)
        if (s->agree)
            check_same(&x, s->key, s->agree, entries);
    check_buffer(&x, &x.from, entries);
    check_buffer(&x, &x.to, entries);
    close_end(&x.from);
    close_end(&x.to);
}

/* ---- packets that are not ECN-capable although DCQCN or RED needs them to be */

static void say_finding(const struct ecn_finding *finding, json_t *entries)
{
    const struct scenario_flow *flow = &finding->flows[0];
    struct text words = {0}, remedy = {0};
    char label[220];
    snprintf(label, sizeof label, "%.100s->%.100s", flow->from, flow->to);
    ecn_say(finding, &words);
    ecn_say_remedy(finding, &remedy);
    preflight_say(entries, label, "ect", "warning", text_string(&remedy), "%s", text_string(&words));
    preflight_read(entries, "the scenario's flows and settings, the lab's links%s",
                   finding->forced ? ", traffic_class of the sender" : "");
    text_free(&words);
    text_free(&remedy);
}

json_t *preflight_in_force(const json_t *seen)
{
    json_t *in_force = json_object(), *there;
    const char *role;
    json_object_foreach((json_t *)(uintptr_t)seen, role, there)
    {
        json_object_set(in_force, role, json_object_get(there, "settings"));
    }
    return in_force;
}

static void check_ect(const struct cell *cell, const json_t *seen, json_t *entries)
{
    struct ecn_finding *findings;
    size_t count;
    struct error e;
    json_t *in_force = preflight_in_force(seen);
    if (ecn_find(cell, in_force, &findings, &count, &e) != 0)
        preflight_say(entries, cell->lab.name, "ect", "unknown", NULL, "%s", e.text);
    for (size_t i = 0; i < count; i++)
        say_finding(&findings[i], entries);
    free(findings);
    json_decref(in_force);
}

void preflight_settings(const struct cell *cell, const json_t *seen, json_t *entries)
{
    struct list_of all;
    struct error e;
    struct interest interest = interest_of(cell);
    if (pairs_flows(cell, &all, &e) != 0) {
        preflight_say(entries, cell->lab.name, "settings", "unknown", NULL, "%s", e.text);
        preflight_read(entries, "the scenario's traffic and settings_of");
    }
    const struct scenario_flow *flows = all.items;
    settle_interest(&interest, cell, &all, seen);
    for (size_t i = 0; i < all.count; i++)
        check_flow(cell, &flows[i], seen, interest, entries);
    free(all.items);
    check_ect(cell, seen, entries);
}
