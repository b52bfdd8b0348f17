/* The steps before the first write: reading, completing and checking what a document requests, and
 * comparing. */
#include "lib/document/json_text.h"
#include "nic-config/device/bound.h"
#include "nic-config/device/headroom.h"
#include "nic-config/transaction.h"
#include <string.h>

/* What follows from the settings; *refused: an mlx5 driver would refuse them, and e says why. */
static void add_thresholds(struct transaction *t, const struct subject *s, const struct settings *target,
                           bool *refused, struct error *e)
{
    json_t *list = headroom_thresholds(&s->device, target, t->warnings, refused, e);
    if (list)
        json_put(t->thresholds, s->device.name, list);
}

int transaction_read(struct transaction *t, const json_t *names, struct error *e)
{
    size_t i;
    const json_t *name;
    json_array_foreach(names, i, name)
    {
        struct subject *s = transaction_add(t, json_string_value(name), e);
        struct settings settings;
        if (!s)
            return -1;
        subject_read_before(s);
        if (s->device.index == 0)
            return error_set(e, "there is no interface %s", s->device.name);
        if (document_settings(s->before, &settings, e) != 0)
            return error_prefix(e, "%s: current settings", s->device.name);
        bool refused; /* they are in force all the same: a write that was refused may be half done */
        add_thresholds(t, s, &settings, &refused, e);
        headroom_read_back(&s->device, json_object_get(t->thresholds, s->device.name), t->warnings);
        table_free(&settings_table, &settings);
    }
    return 0;
}

void transaction_read_thresholds(struct transaction *t)
{
    for (size_t i = 0; i < t->count; i++)
        headroom_read_back(&t->subjects[i].device, json_object_get(t->thresholds, t->subjects[i].device.name),
                           t->warnings);
}

/* ---- preparing */

static const struct knob *knob_of(const char *key)
{
    for (const struct knob *const *knob = knobs; *knob; knob++)
        for (const char *const *k = (*knob)->keys; *k; k++)
            if (strcmp(*k, key) == 0)
                return *knob;
    return NULL;
}

/* Why a key cannot be set here, or NULL. */
static const char *why_missing(const struct subject *s, const char *key)
{
    const char *why = json_string_value(json_object_get(s->missing, key));
    if (!knob_of(key))
        return "it is not a setting of a Linux interface";
    if (why)
        return why;
    return json_object_get(s->before, key) ? NULL : "the driver does not report it";
}

static bool has_subject(const struct transaction *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->subjects[i].device.name, name) == 0)
            return true;
    return false;
}

/* A setting that the interface does not have because others below it have it, as a reason; false: there are
 * none. */
static bool explain_owner(const struct subject *s, const char *key, struct text *why)
{
    json_t *lower = device_list_lower(&s->device);
    const char *kind = device_is_bond(&s->device) ? "bond" : s->device.kind;
    size_t i;
    const json_t *name;
    bool any = knob_of(key) && json_array_size(lower) > 0;
    if (any)
        text_add(why, "it is %s%s%supon ", kind[0] ? "a " : "", kind, kind[0] ? " " : "");
    json_array_foreach(lower, i, name)
    {
        if (any)
            text_add(why, "%s%s", i ? ", " : "", json_string_value(name));
    }
    if (any)
        text_add(why, ", and %s is a setting of %s: name %s in the document", key,
                 json_array_size(lower) > 1 ? "each of them" : "that",
                 json_array_size(lower) > 1 ? "all" : "it");
    json_decref(lower);
    return any;
}

/* A bond's ports have settings each: one that is set at one port alone holds for a part of the traffic. */
static void warn_of_other_ports(struct transaction *t, const struct subject *s)
{
    static const char *const of_port[] = {
        "pfc",    "prio_to_buffer", "buffer_bytes", "cable",    "trust", "dscp_to_prio", "ecn", "ecn_rp",
        "ecn_np", "dcqcn",          "rx_pause",     "tx_pause", NULL};
    struct device bond = {.host = s->device.host};
    json_t *facts = device_facts(&s->device);
    const char *name = json_string_value(json_object_get(facts, "bond"));
    size_t i, set = 0;
    const json_t *port;
    while (of_port[set] && !json_object_get(s->wanted, of_port[set]))
        set++;
    if (!of_port[set])
        name = NULL;
    snprintf(bond.name, sizeof bond.name, "%s", name ? name : "");
    json_t *ports = name ? device_list_lower(&bond) : NULL;
    json_array_foreach(ports, i, port)
    {
        const char *other = json_string_value(port);
        if (strcmp(other, s->device.name) != 0 && !has_subject(t, other))
            json_array_append_new(
                t->warnings, json_textf("%s is a port of %s, and so is %s, which the document does not name: "
                                        "what is set holds for a part of the bond's traffic",
                                        s->device.name, bond.name, other));
    }
    json_decref(ports);
    json_decref(facts);
}

/* Remove settings that this machine does not have from `wanted` (--skip-missing), or refuse them; those of a
 * bond's ports are refused: nothing would be set. */
static int settle_missing(struct transaction *t, struct subject *s, struct error *e)
{
    const char *key;
    json_t *value;
    void *next;
    s->to_be_made = s->device.index == 0 && json_object_get(s->wanted, "kind");
    if (s->to_be_made)
        return 0;
    if (s->device.index == 0)
        return error_set(e, "there is no interface %s", s->device.name);
    json_object_foreach_safe(s->wanted, next, key, value)
    {
        const char *unread = json_string_value(json_object_get(s->unread, key));
        if (unread)
            return error_set(e, "%s: %s could not be read: %s", s->device.name, key, unread);
        const char *why = why_missing(s, key);
        if (!why)
            continue;
        struct text whose = {0};
        if (explain_owner(s, key, &whose))
            why = text_string(&whose);
        bool bond = device_is_bond(&s->device) && whose.length > 0;
        if (!t->skip_missing || bond)
            error_set(e, "%s: %s cannot be set: %s%s", s->device.name, key, why,
                      bond ? "" : " (--skip-missing leaves it out)");
        else
            json_array_append_new(t->skipped, json_make("{s:s,s:s,s:s}", "interface", s->device.name,
                                                        "setting", key, "why", why));
        text_free(&whose);
        if (!t->skip_missing || bond)
            return -1;
        json_object_del(s->wanted, key);
    }
    return 0;
}

/* Wanted PFC implies global pause off: the knob of pause is written before those of buffers and PFC, and
 * restored after them. */
static void imply_pause_off(struct transaction *t, struct subject *s)
{
    static const char *const pauses[] = {"rx_pause", "tx_pause"};
    bool implied = false;
    for (size_t i = 0; json_array_size(json_object_get(s->wanted, "pfc")) > 0 && i < 2; i++) {
        if (json_object_get(s->wanted, pauses[i]) || !json_is_true(json_object_get(s->before, pauses[i])))
            continue;
        json_object_set_new(s->wanted, pauses[i], json_false());
        implied = true;
    }
    if (implied)
        json_array_append_new(
            t->warnings, json_textf("%s: global pause (802.3x) is on and is turned off first, because it "
                                    "excludes PFC; restore turns it on again last",
                                    s->device.name));
}

static int complete(struct subject *s, struct error *e)
{
    const char *key;
    json_t *value;
    for (const struct knob *const *knob = knobs; *knob; knob++)
        if ((*knob)->complete && subject_wants(s, *knob) &&
            (*knob)->complete(&s->device, s->wanted, s->target, e) != 0)
            return -1;
    /* the requested values in the form in which they are compared; of maps only the requested keys */
    json_object_foreach(s->wanted, key, value)
    {
        if (!json_is_object(value) || strcmp(key, "red") == 0)
            json_object_set(s->wanted, key, json_object_get(s->target, key));
    }
    return 0;
}

static int check_target(struct transaction *t, struct subject *s, struct error *e)
{
    struct settings now, target;
    int result = 0;
    if (document_settings(s->before, &now, e) != 0)
        return error_prefix(e, "%s: current settings", s->device.name);
    if (document_settings(s->target, &target, e) != 0) {
        table_free(&settings_table, &now);
        return error_prefix(e, "%s", s->device.name);
    }
    for (const struct knob *const *knob = knobs; result == 0 && *knob; knob++)
        if ((*knob)->check && subject_wants(s, *knob))
            result = (*knob)->check(&s->device, &now, &target, t->warnings, e);
    bool refused = false;
    if (result == 0)
        add_thresholds(t, s, &target, &refused, e);
    if (refused)
        result = -1;
    table_free(&settings_table, &now);
    table_free(&settings_table, &target);
    return result;
}

static size_t lost_in(const struct subject *s, const json_t *settings)
{
    return bound_lost(s->bound, json_is_true(json_object_get(settings, "up")),
                      json_integer_value(json_object_get(settings, "mtu")));
}

/* Read what the kernel removes together with the interface's state, and say what will go. */
static int read_bound(struct transaction *t, struct subject *s, struct error *e)
{
    s->bound = bound_read(&s->device, e);
    if (!s->bound)
        return -1;
    size_t before = lost_in(s, s->before), after = lost_in(s, s->target);
    if (after > before)
        json_array_append_new(
            t->warnings,
            json_textf("%s: %zu of its addresses, routes and neighbours cannot be there with these "
                       "settings; restore puts them back",
                       s->device.name, after - before));
    return 0;
}

/* What is upon an interface loses settings with it: a VLAN follows the state and a smaller MTU of the
 * interface below, and keeps that MTU (linux net/8021q/vlan.c, vlan_device_event). Such interfaces are read,
 * and restored, too. */
static int add_upon(struct transaction *t, size_t below, struct error *e)
{
    size_t i;
    const json_t *name;
    json_t *names =
        t->subjects[below].device.index == 0 ? json_array() : device_list_upon(&t->subjects[below].device, e);
    int result = names ? 0 : -1;
    json_array_foreach(names, i, name)
    {
        if (result != 0 || has_subject(t, json_string_value(name)))
            continue;
        struct subject *s = transaction_add(t, json_string_value(name), e);
        result = s ? 0 : -1;
        if (!s)
            continue;
        s->upon = true;
        subject_read_before(s);
        s->wanted = json_object();
        s->target = json_deep_copy(s->before);
        result = read_bound(t, s, e);
    }
    json_decref(names);
    return result;
}

int transaction_prepare(struct transaction *t, const json_t *interfaces, struct error *e)
{
    const char *name;
    json_t *wanted;
    json_object_foreach((json_t *)(uintptr_t)interfaces, name, wanted)
    {
        struct subject *s = transaction_add(t, name, e);
        if (!s)
            return -1;
        subject_read_before(s);
        s->wanted = json_deep_copy(wanted);
        if (settle_missing(t, s, e) != 0)
            return -1;
        imply_pause_off(t, s);
        s->target = document_merge(s->before, s->wanted);
        if ((!s->to_be_made && complete(s, e) != 0) || check_target(t, s, e) != 0 ||
            (!s->to_be_made && read_bound(t, s, e) != 0))
            return -1;
    }
    for (size_t i = 0; i < t->count; i++)
        warn_of_other_ports(t, &t->subjects[i]);
    /* those found are looked at too: a VLAN may be upon a VLAN */
    for (size_t i = 0; i < t->count; i++)
        if (add_upon(t, i, e) != 0)
            return -1;
    return 0;
}

/* ---- comparing */

void transaction_compare(struct transaction *t)
{
    for (const struct knob *const *knob = knobs; *knob; knob++)
        for (size_t i = 0; i < t->count; i++) {
            struct subject *s = &t->subjects[i];
            json_t *now = document_slice(s->before, *knob), *target = document_slice(s->target, *knob);
            bool same = true;
            if (subject_wants(s, *knob) &&
                (json_object_size(now) == 0 || document_same(*knob, now, target, &same, NULL) != 0))
                same = false;
            if (!same)
                transaction_note_change(t, s, *knob, now, target);
            json_decref(now);
            json_decref(target);
        }
}
