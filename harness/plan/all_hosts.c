#include "harness/plan/all_hosts.h"

#include "lib/document/json_text.h"
#include "lib/physics/fabric.h"
#include <stdlib.h>
#include <string.h>

/* Lists of roles: of the scenario itself, and of items of a list in it. */
static const struct {
    const char *items, *key;
    bool switches; /* those that are simulated, or guests, are meant, too */
} lists[] = {
    {NULL, "roles", true},      {"sample", "roles", false},      {"traffic", "to", false},
    {"traffic", "from", false}, {"collectives", "roles", false}, {"jobs", "roles", false},
};

static bool is_all(const char *word)
{
    return word && *word == '*';
}

static bool list_names_all(const json_t *list)
{
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word)
    {
        if (is_all(json_string_value(word)))
            return true;
    }
    return false;
}

/* Call for each list that there is. */
static int each_list(json_t *scenario,
                     int (*call)(void *context, json_t *of, size_t list, const char *place, struct error *e),
                     void *context, struct error *e)
{
    int result = 0;
    for (size_t k = 0; result == 0 && k < sizeof lists / sizeof *lists; k++) {
        json_t *items = lists[k].items ? json_object_get(scenario, lists[k].items) : scenario, *item;
        size_t i;
        if (json_is_object(items))
            result = call(context, items, k, lists[k].items ? lists[k].items : "", e);
        json_array_foreach(items, i, item)
        {
            char place[64];
            snprintf(place, sizeof place, "%s[%zu]", lists[k].items, i);
            if (result == 0 && json_is_object(item))
                result = call(context, item, k, place, e);
        }
    }
    return result;
}

static int look_for_all(void *context, json_t *of, size_t list, const char *place, struct error *e)
{
    bool *found = context;
    (void)place;
    (void)e;
    *found = *found || list_names_all(json_object_get(of, lists[list].key));
    return 0;
}

static bool settings_name_all(const json_t *scenario)
{
    const char *role;
    json_t *own;
    json_object_foreach(json_object_get(scenario, "settings_of"), role, own)
    {
        if (is_all(role))
            return true;
    }
    return false;
}

bool all_hosts_named(const json_t *scenario)
{
    bool found = settings_name_all(scenario);
    struct error ignored;
    each_list((json_t *)(uintptr_t)scenario, look_for_all, &found, &ignored);
    return found;
}

json_t *all_hosts_of(const struct lab *lab)
{
    json_t *hosts = json_array();
    for (size_t i = 0; i < lab->hosts.count; i++) {
        const struct lab_host *real = lab_host_at(lab, i);
        bool of_several = lab_nic_name(lab, i) != NULL;
        if ((!real || !lab_forwards(real)) && (!of_several || lab_machine_first(lab, i) == i))
            json_array_append_new(hosts,
                                  json_text(of_several ? lab_machine_name(lab, i) : lab_node_name(lab, i)));
    }
    return hosts;
}

/* ---- writing out */

struct binding {
    const struct lab *lab;
    json_t *hosts;
};

/* Is the word, up to its dot, among those of the list? */
static bool has_host(const json_t *list, const char *host)
{
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word)
    {
        const char *name = json_string_value(word);
        if (name && strncmp(name, host, strlen(host)) == 0 &&
            (name[strlen(host)] == '\0' || name[strlen(host)] == '.'))
            return true;
    }
    return false;
}

/* The only NIC of a host has no name, and is among all. */
static void add_host(const struct binding *b, json_t *out, const char *host, const char *rest)
{
    bool one = strcmp(rest, ".*") == 0 && lab_machine_index(b->lab, host) < 0;
    json_array_append_new(out, json_textf("%s%s", host, one ? "" : rest));
}

/* `but`: hosts that are left out; NULL: none. */
static int add_word(const struct binding *b, const char *word, const json_t *but, json_t *out,
                    struct error *e)
{
    const char *dot = strchr(word, '.'), *rest = dot ? dot : "";
    size_t length = dot ? (size_t)(dot - word) : strlen(word), i;
    json_t *host;
    if (!is_all(word)) {
        json_array_append_new(out, json_text(word));
    } else if (length == 1) {
        json_array_foreach(b->hosts, i, host)
        {
            if (!has_host(but, json_string_value(host)))
                add_host(b, out, json_string_value(host), rest);
        }
    } else {
        char *end;
        size_t place = strtoul(word + 1, &end, 10);
        if (end != word + length || word[1] < '0' || word[1] > '9')
            return error_set(e, "\"%.80s\": expected * for all hosts of the lab, or *0, *1, ... for one",
                             word);
        if (place >= json_array_size(b->hosts))
            return error_set(e, "\"%.80s\": lab %s has %zu %s that can send", word, b->lab->name,
                             json_array_size(b->hosts), THINGS(json_array_size(b->hosts), "host"));
        add_host(b, out, json_string_value(json_array_get(b->hosts, place)), rest);
    }
    return 0;
}

/* A simulated switch, or a guest that is one: those of real labs stay as their owners have them. */
static bool is_modelled_switch(const struct lab *lab, size_t node)
{
    const struct lab_host *host = lab_host_at(lab, node);
    return host ? host->forwarding != NULL : node >= lab->hosts.count && lab_kind(lab)->simulated;
}

static int bind_list(void *context, json_t *of, size_t list, const char *place, struct error *e)
{
    const struct binding *b = context;
    const char *key = lists[list].key;
    json_t *words = json_object_get(of, key), *word, *out;
    const json_t *but = strcmp(key, "from") == 0 ? json_object_get(of, "to") : NULL;
    size_t i;
    int result = 0;
    if (!list_names_all(words))
        return 0;
    out = json_array();
    json_array_foreach(words, i, word)
    {
        if (!json_is_string(word))
            json_array_append(out, word); /* for the table to refuse */
        else if (result == 0 && add_word(b, json_string_value(word), but, out, e) != 0)
            result = error_prefix(e, "%s%s%s[%zu]", place, *place ? "." : "", key, i);
    }
    for (i = 0; lists[list].switches && i < lab_node_count(b->lab); i++)
        if (is_modelled_switch(b->lab, i))
            json_array_append_new(out, json_text(lab_node_name(b->lab, i)));
    json_object_set_new(of, key, out);
    return result;
}

/* 0: all hosts; 1: one by its place; 2: a name. */
static int exactness_of(const char *role)
{
    return !is_all(role) ? 2 : role[1] >= '0' && role[1] <= '9' ? 1 : 0;
}

/* The more exact name overrides the other. */
static int bind_settings(const struct binding *b, json_t *scenario, struct error *e)
{
    json_t *settings = json_object_get(scenario, "settings_of"), *bound = json_object(), *own, *name;
    const char *role;
    int result = 0;
    for (int exactness = 0; exactness <= 2; exactness++)
        json_object_foreach(settings, role, own)
        {
            json_t *names = json_array();
            size_t i;
            if (result == 0 && exactness_of(role) == exactness && add_word(b, role, NULL, names, e) != 0)
                result = error_prefix(e, "settings_of");
            json_array_foreach(names, i, name)
            {
                const char *of = json_string_value(name);
                json_object_set_new(bound, of, json_merged(json_object_get(bound, of), own));
            }
            json_decref(names);
        }
    json_object_set_new(scenario, "settings_of", bound);
    return result;
}

int all_hosts_bind(json_t *scenario, const struct lab *lab, struct error *e)
{
    struct binding b = {.lab = lab, .hosts = all_hosts_of(lab)};
    int result = each_list(scenario, bind_list, &b, e);
    if (result == 0 && settings_name_all(scenario))
        result = bind_settings(&b, scenario, e);
    json_decref(b.hosts);
    return result;
}
