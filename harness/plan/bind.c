#include "harness/plan/bind.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/formats/settings.h"
#include "lib/names/range.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct binding {
    const struct lab *lab;
    json_t *roles; /* of the document as it is written: a set */
    json_t *parts; /* flow or traffic with a glob of NICs -> names of the items that it has become */
    size_t memory; /* of copies of items */
    bool changed;
    struct error *e;
};

#define MOST_ITEMS  100000 /* as many as each list of a scenario may have */
#define MEMORY_MOST ((size_t)256 << 20)

static int check_count(const struct binding *b, const char *list, size_t count)
{
    return count <= MOST_ITEMS
               ? 0
               : error_set(b->e, "%s: with the NICs of their hosts more than %d: expected fewer", list,
                           MOST_ITEMS);
}

/* ---- what a name stands for */

/* The first node of the host with several NICs that plays a role; -1: no such host plays it. */
static int machine_of(const struct binding *b, const char *role)
{
    const char *host = lab_node_of(b->lab, role);
    return lab_node_index(b->lab, host) >= 0 ? -1 : lab_machine_index(b->lab, host);
}

/* The machine of a role that the scenario has; -1: there is none. */
static int machine_of_role(const struct binding *b, const char *word)
{
    return json_object_get(b->roles, word) ? machine_of(b, word) : -1;
}

/* "a" and "rail3" of "a.rail3". False: it has no dot, or is the name of a node. The caller frees *role. */
static bool names_nic(const struct binding *b, const char *word, char **role, const char **nic)
{
    const char *dot = strrchr(word, '.');
    *role = NULL;
    if (!dot || lab_node_index(b->lab, lab_node_of(b->lab, word)) >= 0)
        return false;
    *role = xstrndup(word, (size_t)(dot - word));
    *nic = dot + 1;
    return true;
}

static bool same_machine(const struct binding *b, int first, size_t i)
{
    return i < b->lab->hosts.count && lab_same_machine(b->lab, (size_t)first, i);
}

static json_t *role_of_nic(const struct binding *b, const char *role, size_t node)
{
    return json_textf("%s.%s", role, lab_nic_name(b->lab, node));
}

/* ROLE.NIC with a NIC that the host does not have. `first`: of the host; -1: its NIC is the only one. */
static int refuse_nic(const struct binding *b, const char *path, const char *role, const char *nic, int first)
{
    if (first < 0)
        return error_set(b->e,
                         "%s: \"%.60s.%.60s\": the host of role %.60s in lab %s has a single NIC: expected "
                         "\"%.60s\"",
                         path, role, nic, role, b->lab->name, role);
    size_t count = 0;
    while (same_machine(b, first, (size_t)first + count))
        count++;
    const char **words = xcalloc(count + 1, sizeof *words);
    struct text nics = {0};
    for (size_t i = 0, k = 0; i < count; i++)
        if (lab_nic_name(b->lab, (size_t)first + i))
            words[k++] = lab_nic_name(b->lab, (size_t)first + i);
    const char *near = strpbrk(nic, "*?[") ? NULL : nearest_word(nic, words);
    lab_add_nics(b->lab, (size_t)first, role, &nics);
    error_set(b->e, "%s: \"%.60s.%.60s\" is not a NIC of host %.60s%s%s%s: expected one of %s", path, role,
              nic, lab_machine_name(b->lab, (size_t)first), near ? "; did you mean \"" : "", near ? near : "",
              near ? "\"?" : "", text_string(&nics));
    text_free(&nics);
    free(words);
    return -1;
}

/* A name without a glob, and without the port behind it: one that has a dot is of a NIC that the lab has. */
static int check_word(const struct binding *b, const char *path, const char *word)
{
    const char *nic;
    char *name = xstrndup(word, strcspn(word, ":")), *role;
    int result = 0;
    if (names_nic(b, name, &role, &nic) && !strchr(role, '.')) {
        int first = machine_of(b, role);
        if (first >= 0 || lab_node_index(b->lab, lab_node_of(b->lab, role)) >= 0)
            result = refuse_nic(b, path, role, nic, first);
    }
    free(role);
    free(name);
    return result;
}

/* ---- lists of roles, each of which stands for its NICs */

/* Append the roles that a word stands for. `one`: of a host the first NIC alone. */
static int add_roles(struct binding *b, const char *path, const json_t *word, bool one, json_t *list)
{
    const char *role = json_string_value(word);
    int first = role ? machine_of_role(b, role) : -1;
    if (role && check_word(b, path, role) != 0)
        return -1;
    if (first < 0)
        return json_array_append(list, (json_t *)(uintptr_t)word);
    b->changed = true;
    for (size_t i = (size_t)first; same_machine(b, first, i); i++)
        if (lab_nic_name(b->lab, i) && (json_array_append_new(list, role_of_nic(b, role, i)) != 0 || one))
            break;
    return 0;
}

/* A list in the place of one that has roles; other types are left for the table to refuse. */
static int bind_list(struct binding *b, json_t *object, const char *key, const char *at, bool one)
{
    json_t *list = json_object_get(object, key), *bound, *word;
    size_t i;
    if (!json_is_array(list))
        return 0;
    bound = json_array();
    json_array_foreach(list, i, word)
    {
        char path[120];
        snprintf(path, sizeof path, "%s%s[%zu]", at, key, i);
        if (add_roles(b, path, word, one, bound) != 0 || check_count(b, path, json_array_size(bound)) != 0) {
            json_decref(bound);
            return -1;
        }
    }
    return json_object_set_new(object, key, bound);
}

/* "a" of "a:0", at whose port a link ends. */
static int bind_ports(struct binding *b, json_t *capture)
{
    json_t *port;
    size_t i;
    json_array_foreach(json_object_get(capture, "ports"), i, port)
    {
        const char *word = json_string_value(port), *colon = word ? strrchr(word, ':') : NULL;
        char *role = colon ? xstrndup(word, (size_t)(colon - word)) : NULL, path[60];
        int first = role ? machine_of_role(b, role) : -1;
        snprintf(path, sizeof path, "capture.ports[%zu]", i);
        if (first >= 0) {
            struct text nics = {0};
            lab_add_nics(b->lab, (size_t)first, role, &nics);
            error_set(b->e, "%s: \"%.80s\": the host has several NICs, with a port each: expected one of %s",
                      path, word, text_string(&nics));
            text_free(&nics);
        }
        free(role);
        if (first >= 0)
            return -1;
    }
    return bind_list(b, capture, "ports", "capture.", false);
}

/* ---- settings */

static bool is_setting(const char *key)
{
    const struct field *f = settings_table.fields;
    while (f->name && strcmp(f->name, key) != 0)
        f++;
    return f->name;
}

/* {"a": {"rail3": {...}}}, as a path makes it, is {"a.rail3": {...}}. */
static int lift_nics(struct binding *b, json_t *settings)
{
    const char *role, *key;
    json_t *own, *value;
    void *next, *next_key;
    json_object_foreach_safe(settings, next, role, own)
    {
        int first = machine_of_role(b, role);
        json_object_foreach_safe(first >= 0 ? own : NULL, next_key, key, value)
        {
            if (!json_is_object(value) || is_setting(key))
                continue;
            json_t *name = json_textf("%s.%s", role, key);
            const char *node = lab_node_of(b->lab, json_string_value(name));
            bool known = lab_node_index(b->lab, node) >= 0;
            if (known)
                json_object_set_new(settings, json_string_value(name),
                                    json_merged(json_object_get(settings, json_string_value(name)), value));
            json_decref(name);
            if (!known)
                return refuse_nic(b, "settings_of", role, key, first);
            json_object_del(own, key);
        }
    }
    return 0;
}

static int bind_settings(struct binding *b, json_t *document)
{
    json_t *settings = json_object_get(document, "settings_of"), *bound, *own;
    const char *role;
    if (!json_is_object(settings))
        return 0;
    if (lift_nics(b, settings) != 0)
        return -1;
    bound = json_object();
    json_object_foreach(settings, role, own)
    {
        int first = machine_of_role(b, role);
        if (check_word(b, "settings_of", role) != 0 ||
            check_count(b, "settings_of", json_object_size(bound)) != 0) {
            json_decref(bound);
            return -1;
        }
        for (size_t i = (size_t)first; first >= 0 && same_machine(b, first, i); i++) {
            json_t *name = lab_nic_name(b->lab, i) ? role_of_nic(b, role, i) : NULL;
            if (name)
                json_object_set(bound, json_string_value(name), own);
            json_decref(name);
        }
    }
    json_object_foreach(settings, role, own)
    {
        if (machine_of_role(b, role) < 0)
            json_object_set_new(bound, role, json_merged(json_object_get(bound, role), own));
        else
            b->changed = true;
    }
    return json_object_set_new(document, "settings_of", bound);
}

/* ---- items with ends: flows, traffic, storms */

/* Calls `each` with the place of each end of an item, whose value it returns or replaces. `key`: "from". */
typedef json_t *bind_end(struct binding *b, const char *key, const char *path, const char *word,
                         void *context);

static int each_end(struct binding *b, json_t *item, const char *at, bind_end *each, void *context)
{
    static const char *const keys[] = {"from", "to", "role"};
    char path[160];
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        json_t *end = json_object_get(item, keys[k]), *own, *bound;
        size_t i;
        snprintf(path, sizeof path, "%s.%s", at, keys[k]);
        if (json_is_string(end)) {
            if (!(bound = each(b, keys[k], path, json_string_value(end), context)))
                return -1;
            json_object_set_new(item, keys[k], bound); /* `end` is gone */
            continue;
        }
        json_array_foreach(end, i, own)
        {
            snprintf(path, sizeof path, "%s.%s[%zu]", at, keys[k], i);
            if (!json_is_string(own))
                continue;
            if (!(bound = each(b, keys[k], path, json_string_value(own), context)))
                return -1;
            json_array_set_new(end, i, bound);
        }
    }
    return 0;
}

/* The NICs whose names match at all globs of an item's ends. */
struct nics {
    json_t *names; /* in the order of the first glob's host; NULL: no end has a glob */
    char *globs;   /* "a.rail* and b.rail*" */
    bool all;      /* a host alone is all of its NICs */
};

static json_t *gather_nics(struct binding *b, const char *key, const char *path, const char *word,
                           void *context)
{
    struct nics *nics = context;
    const char *glob = "*";
    char *role;
    (void)key;
    bool dotted = names_nic(b, word, &role, &glob);
    int first = dotted ? machine_of(b, role) : machine_of_role(b, word);
    if (dotted && (first < 0 || !strpbrk(glob, "*?["))) {
        free(role);
        return check_word(b, path, word) == 0 ? json_text(word) : NULL;
    }
    if (first >= 0 && (dotted || nics->all)) {
        json_t *names = json_array(), *shared = json_array(), *name;
        for (size_t i = (size_t)first; same_machine(b, first, i); i++)
            if (lab_nic_name(b->lab, i) && fnmatch(glob, lab_nic_name(b->lab, i), 0) == 0)
                json_array_append_new(names, json_text(lab_nic_name(b->lab, i)));
        size_t count = json_array_size(names), i, k;
        json_array_foreach(nics->names ? nics->names : names, i, name)
        {
            for (k = 0; k < count && !json_equal(json_array_get(names, k), name);)
                k++;
            if (k < count)
                json_array_append(shared, name);
        }
        json_decref(names);
        json_decref(nics->names);
        nics->names = shared;
        char *globs = nics->globs;
        nics->globs = xasprintf("%.200s%s%.100s", globs ? globs : "", globs ? " and " : "", word);
        free(globs);
        if (count == 0) {
            refuse_nic(b, path, role, glob, first);
            free(role);
            return NULL;
        }
    }
    free(role);
    return json_text(word);
}

/* An end for one NIC: where it has a glob, or with `all`, that NIC; a host alone is its first one. */
struct chosen {
    const char *nic, *to; /* `to`: of the receivers, with nic_shift */
    bool all;
};

static json_t *choose_nic(struct binding *b, const char *key, const char *path, const char *word,
                          void *context)
{
    const struct chosen *chosen = context;
    const char *glob, *nic = strcmp(key, "to") == 0 ? chosen->to : chosen->nic;
    char *role;
    bool dotted = names_nic(b, word, &role, &glob);
    int first = dotted ? -1 : machine_of_role(b, word);
    json_t *end = dotted && nic               ? json_textf("%s.%s", role, nic)
                  : first >= 0 && chosen->all ? json_textf("%s.%s", word, nic)
                  : first >= 0                ? role_of_nic(b, word, (size_t)first)
                                              : json_text(word);
    (void)path;
    b->changed = b->changed || strcmp(json_string_value(end), word) != 0;
    free(role);
    return end;
}

/* The item once for each NIC, called NAME.NIC. */
static int split_item(struct binding *b, const json_t *item, const char *at, const struct nics *nics,
                      json_t *list)
{
    const char *name = json_string_value(json_object_get(item, "name"));
    const json_t *from = json_object_get(item, "from"), *nic_shift = json_object_get(item, "nic_shift");
    json_t *nic, *names = json_array();
    size_t i, count = json_array_size(nics->names),
              shift = json_integer_value(nic_shift) > 0 ? (size_t)json_integer_value(nic_shift) : 0;
    b->memory += json_file_memory_of(item) * count;
    if (b->memory > MEMORY_MOST) {
        json_decref(names);
        return error_set(b->e, "%s: copied for each NIC it would take more than %zu MiB of memory", at,
                         MEMORY_MOST >> 20);
    }
    json_array_foreach(nics->names, i, nic)
    {
        struct chosen chosen = {json_string_value(nic),
                                json_string_value(json_array_get(nics->names, (i + shift) % count)),
                                nics->all};
        json_t *part = json_deep_copy(item);
        if (shift && !json_array_size(json_object_get(part, "to")))
            json_object_set_new(part, "to", json_deep_copy(from));
        each_end(b, part, at, choose_nic, &chosen);
        if (name) {
            json_t *own = json_textf("%s.%s", name, chosen.nic);
            json_object_set(part, "name", own);
            json_array_append_new(names, own);
        }
        json_array_append_new(list, part);
    }
    b->changed = true;
    if (name)
        json_object_set(b->parts, name, names);
    json_decref(names);
    return count ? 0 : error_set(b->e, "%s: no NIC has a name that all of %s match", at, nics->globs);
}

/* `all`: a host alone stands for all of its NICs, not for the first one. */
static int bind_items(struct binding *b, json_t *document, const char *key, bool all)
{
    json_t *items = json_object_get(document, key), *bound, *item;
    size_t i;
    int result = 0;
    if (!json_is_array(items))
        return 0;
    bound = json_array();
    json_array_foreach(items, i, item)
    {
        struct nics nics = {.all = all};
        struct chosen first = {0};
        char at[60];
        snprintf(at, sizeof at, "%s[%zu]", key, i);
        result = each_end(b, item, at, gather_nics, &nics);
        if (result == 0 && nics.names) {
            result = split_item(b, item, at, &nics, bound);
        } else if (result == 0) {
            each_end(b, item, at, choose_nic, &first);
            json_array_append(bound, item);
        }
        json_decref(nics.names);
        free(nics.globs);
        if (result == 0)
            result = check_count(b, at, json_array_size(bound));
        if (result != 0)
            break;
    }
    json_object_set_new(document, key, bound);
    return result;
}

/* ---- names of flows that have become several */

/* A flow of one NIC waits for the part of the other that has this NIC, if there is one; else for all parts.
 */
static json_t *awaited(const struct binding *b, const char *waiting, const char *name)
{
    json_t *parts = json_object_get(b->parts, name);
    const char *dot = waiting ? strrchr(waiting, '.') : NULL;
    json_t *own = dot ? json_textf("%s%s", name, dot) : NULL, *part, *list;
    size_t i;
    bool is_part = false;
    json_array_foreach(parts, i, part) is_part = is_part || (own && json_equal(part, own));
    list = !parts ? json_make("[s]", name) : is_part ? json_make("[O]", own) : json_incref(parts);
    json_decref(own);
    return list;
}

static void bind_names(const struct binding *b, const char *waiting, json_t *object, const char *key)
{
    json_t *names = json_object_get(object, key), *bound, *name;
    size_t i;
    if (!json_is_array(names))
        return;
    bound = json_array();
    json_array_foreach(names, i, name)
    {
        json_t *list =
            json_is_string(name) ? awaited(b, waiting, json_string_value(name)) : json_make("[O]", name);
        json_array_extend(bound, list);
        json_decref(list);
    }
    json_object_set_new(object, key, bound);
}

/* A rule for the frames of a flow is one for each of its parts. */
static void bind_rules(const struct binding *b, json_t *document)
{
    json_t *rules = json_object_get(document, "inject"), *bound, *rule, *part;
    size_t i, k;
    if (!json_is_array(rules))
        return;
    bound = json_array();
    json_array_foreach(rules, i, rule)
    {
        const char *flow = json_string_value(json_object_get(rule, "flow")),
                   *name = json_string_value(json_object_get(rule, "name"));
        json_t *parts = flow ? json_object_get(b->parts, flow) : NULL;
        if (!parts)
            json_array_append(bound, rule);
        json_array_foreach(parts, k, part)
        {
            json_t *own = json_deep_copy(rule);
            json_object_set(own, "flow", part);
            if (name)
                json_object_set_new(own, "name",
                                    json_textf("%s%s", name, strrchr(json_string_value(part), '.')));
            json_array_append_new(bound, own);
        }
    }
    json_object_set_new(document, "inject", bound);
}

static void bind_flow_names(const struct binding *b, json_t *document)
{
    json_t *flow, *wait;
    size_t i, k;
    if (!json_object_size(b->parts))
        return;
    json_array_foreach(json_object_get(document, "flows"), i, flow)
    {
        json_array_foreach(json_object_get(flow, "after"), k, wait)
        {
            bind_names(b, json_string_value(json_object_get(flow, "name")), wait, "flows");
        }
    }
    bind_names(b, NULL, json_object_get(document, "capture"), "flows");
    bind_rules(b, document);
}

/* ---- collectives and jobs: a rank's host, whatever NICs it has, is its first one */

static int bind_ranks(struct binding *b, json_t *document, const char *list)
{
    json_t *collective;
    size_t i;
    json_array_foreach(json_object_get(document, list), i, collective)
    {
        char at[60];
        snprintf(at, sizeof at, "%s[%zu].", list, i);
        if (!json_array_size(json_object_get(collective, "roles")) && json_object_size(b->lab->machine_index))
            json_object_set_new(collective, "roles", json_deep_copy(json_object_get(document, "roles")));
        if (bind_list(b, collective, "roles", at, true) != 0)
            return -1;
    }
    return 0;
}

/* ---- all */

static void gather_roles(struct binding *b, const json_t *document)
{
    json_t *role;
    size_t i;
    json_array_foreach(json_object_get(document, "roles"), i, role)
    {
        if (json_is_string(role))
            json_object_set_new(b->roles, json_string_value(role), json_true());
    }
}

/* Has a member of an object, or of the items of its list, a dot? `keys`: its members, ended by NULL. */
static bool has_dot_at(const json_t *object, const char *const keys[])
{
    for (; *keys; keys++) {
        const json_t *value = json_object_get(object, *keys);
        const char *word = json_string_value(value);
        bool has = word && strchr(word, '.');
        for (size_t i = 0; !has && i < json_array_size(value); i++) {
            word = json_string_value(json_array_get(value, i));
            has = word && strchr(word, '.');
        }
        if (has)
            return true;
    }
    return false;
}

static bool has_dot(const json_t *document)
{
    static const char *const roles[] = {"roles", NULL}, *const ends[] = {"from", "to", "role", "roles", NULL},
                             *const lists[] = {"flows", "traffic", "storms", "collectives", "jobs"};
    const char *key;
    json_t *value;
    bool has = has_dot_at(document, roles) || has_dot_at(json_object_get(document, "sample"), roles);
    for (size_t k = 0; !has && k < sizeof lists / sizeof *lists; k++) {
        const json_t *items = json_object_get(document, lists[k]);
        for (size_t i = 0; !has && i < json_array_size(items); i++)
            has = has_dot_at(json_array_get(items, i), ends);
    }
    json_object_foreach(json_object_get(document, "settings_of"), key, value)
    {
        has = has || strchr(key, '.');
    }
    return has;
}

bool bind_is_needed(const json_t *document, const struct lab *lab)
{
    return json_object_size(lab->machine_index) || has_dot(document);
}

int bind_scenario(json_t *document, const struct lab *lab, bool *changed, struct error *e)
{
    struct binding b = {.lab = lab, .roles = json_object(), .parts = json_object(), .e = e};
    gather_roles(&b, document);
    int result = bind_ranks(&b, document, "collectives") != 0 || bind_ranks(&b, document, "jobs") != 0 ||
                         bind_settings(&b, document) != 0 || bind_items(&b, document, "flows", false) != 0 ||
                         bind_items(&b, document, "traffic", false) != 0 ||
                         bind_items(&b, document, "storms", true) != 0 ||
                         bind_list(&b, json_object_get(document, "sample"), "roles", "sample.", false) != 0 ||
                         bind_ports(&b, json_object_get(document, "capture")) != 0 ||
                         bind_list(&b, document, "roles", "", false) != 0
                     ? -1
                     : 0;
    if (result == 0)
        bind_flow_names(&b, document);
    *changed = b.changed;
    json_decref(b.roles);
    json_decref(b.parts);
    return result;
}
