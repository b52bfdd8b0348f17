#include "lib/formats/origin.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

const char *const origin_names[] = {"measured", "virtual", "simulated", "mixed", NULL};

enum origin origin_of_both(enum origin a, enum origin b)
{
    return a == b ? a : ORIGIN_MIXED;
}

const char *origin_word(enum origin origin)
{
    static const char *const words[] = {
        [ORIGIN_VIRTUAL] = "virtual", [ORIGIN_SIMULATED] = "simulated", [ORIGIN_MIXED] = "partly virtual"};
    return words[origin];
}

/* ---- of facts */

static enum origin of_nic(const json_t *nic)
{
    return json_is_object(json_object_get(nic, "virtual")) ? ORIGIN_VIRTUAL : ORIGIN_MEASURED;
}

static bool is_named(const json_t *nic, const char *const netdevs[], size_t count)
{
    const char *name = json_string_value(json_object_get(nic, "netdev"));
    for (size_t i = 0; name && i < count; i++)
        if (netdevs[i] && strcmp(netdevs[i], name) == 0)
            return true;
    return false;
}

/* The origin of the NICs that `all` or `is_named` lets through; *found: how many. */
static enum origin of_nics(const json_t *nics, bool all, const char *const netdevs[], size_t count,
                           size_t *found)
{
    enum origin origin = ORIGIN_MEASURED;
    size_t i;
    const json_t *nic;
    *found = 0;
    json_array_foreach(nics, i, nic)
    {
        if (!all && !is_named(nic, netdevs, count))
            continue;
        origin = (*found)++ ? origin_of_both(origin, of_nic(nic)) : of_nic(nic);
    }
    return origin;
}

enum origin origin_of_facts(const json_t *facts, const char *const netdevs[], size_t count)
{
    const json_t *nics = json_object_get(facts, "nics");
    size_t found;
    enum origin origin = of_nics(nics, false, netdevs, count, &found);
    return found ? origin : of_nics(nics, true, netdevs, count, &found);
}

const json_t *origin_scaled(const json_t *facts)
{
    const json_t *nic, *most = NULL;
    size_t i;
    json_array_foreach(json_object_get(facts, "nics"), i, nic)
    {
        const json_t *scaled = json_object_get(json_object_get(nic, "virtual"), "scaled");
        if (json_is_object(scaled) && (!most || json_number_value(json_object_get(scaled, "scale")) >
                                                    json_number_value(json_object_get(most, "scale"))))
            most = scaled;
    }
    return most;
}

/* ---- of results */

/* What has been said so far, and whether anything has. */
struct said {
    enum origin origin;
    bool any;
};

static void count_origin(struct said *s, enum origin origin)
{
    s->origin = s->any ? origin_of_both(s->origin, origin) : origin;
    s->any = true;
}

static void say_word(struct said *s, const json_t *word)
{
    for (int i = 0; json_is_string(word) && origin_names[i]; i++)
        if (strcmp(json_string_value(word), origin_names[i]) == 0)
            count_origin(s, (enum origin)i);
}

enum origin origin_of_result(const json_t *result)
{
    struct said said = {ORIGIN_MEASURED, false};
    const char *role;
    json_t *item;
    size_t i;
    say_word(&said, json_object_get(result, "origin"));
    if (json_is_true(json_object_get(result, "simulated")))
        count_origin(&said, ORIGIN_SIMULATED);
    json_object_foreach((json_t *)(uintptr_t)json_object_get(result, "hosts"), role, item)
        say_word(&said, json_object_get(item, "origin"));
    json_array_foreach(json_object_get(result, "cells"), i, item)
        say_word(&said, json_object_get(item, "origin"));
    return said.origin;
}
