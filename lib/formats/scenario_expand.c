/* Writes the ranges of roles in a scenario out: "h[0-31]" wherever a role is named. */
#include "lib/formats/scenario.h"

#include "lib/document/json_text.h"
#include "lib/names/expand.h"
#include <stdio.h>

static int expand_traffic(json_t *document, struct error *e)
{
    json_t *traffic;
    size_t i;
    json_array_foreach(json_object_get(document, "traffic"), i, traffic)
    {
        if (expand_list(traffic, "from", e) != 0 || expand_list(traffic, "to", e) != 0)
            return error_prefix(e, "traffic[%zu]", i);
    }
    return 0;
}

static int expand_collectives(json_t *document, struct error *e)
{
    json_t *collective;
    size_t i;
    json_array_foreach(json_object_get(document, "collectives"), i, collective)
    {
        if (expand_list(collective, "roles", e) != 0)
            return error_prefix(e, "collectives[%zu]", i);
    }
    return 0;
}

/* A role's null takes away what its range sets. */
static int expand_settings(json_t *document, struct error *e)
{
    json_t *written = json_incref(json_object_get(document, "settings_of"));
    int result = expand_keys(document, "settings_of", e);
    json_t *expanded = json_object_get(document, "settings_of");
    if (result == 0 && expanded != written)
        json_object_set_new(document, "settings_of", json_merged(NULL, expanded));
    json_decref(written);
    return result;
}

/* A list of names in an object of the document. */
static int expand_names(json_t *document, const char *object, const char *list, struct error *e)
{
    return expand_list(json_object_get(document, object), list, e) == 0 ? 0 : error_prefix(e, "%s", object);
}

json_t *scenario_expand(const json_t *json, struct error *e)
{
    static const struct expand_ends of_flow = {.one = "from", .other = "to"}, of_storm = {.one = "role"};
    static const struct expand_ends of_link = {.one = "link", .list = true}, of_rule = {.one = "flow"};
    json_t *copy = json_deep_copy(json);
    if (!copy)
        error_set(e, "out of memory");
    if (copy && expand_list(copy, "roles", e) == 0 && expand_settings(copy, e) == 0 &&
        expand_items(copy, "flows", &of_flow, e) == 0 && expand_traffic(copy, e) == 0 &&
        expand_collectives(copy, e) == 0 && expand_items(copy, "storms", &of_storm, e) == 0 &&
        expand_items(copy, "inject", &of_link, e) == 0 && expand_items(copy, "inject", &of_rule, e) == 0 &&
        expand_names(copy, "sample", "roles", e) == 0 && expand_names(copy, "capture", "ports", e) == 0)
        return copy;
    json_decref(copy);
    return NULL;
}
