#include "harness/labs/sim/deadlocks.h"
#include "lib/document/json_text.h"
#include "lib/text.h"
#include "sim/faults/faults.h"

#define MOST_DEADLOCKS 100 /* in a result */

static json_t *ports_json(const struct sim_lab *lab, const struct sim_deadlock *found)
{
    json_t *ports = json_array();
    for (size_t i = 0; i < found->count; i++)
        json_array_append_new(
            ports, json_textf("%s:%u", sim_setup_node_name(lab->run->cell, &lab->setup, found->switches[i]),
                              found->ports[i]));
    return ports;
}

/* "deadlock on priority 3 since 1.2 ms: s0:1 waits for s1:2, which waits for s0:1" */
static json_t *sentence(const json_t *deadlock)
{
    const json_t *ports = json_object_get(deadlock, "ports");
    struct text text = {0};
    size_t count = json_array_size(ports);
    text_add(&text, "deadlock on priority %d since %.6g ms: %s waits",
             (int)json_integer_value(json_object_get(deadlock, "priority")),
             (double)json_integer_value(json_object_get(deadlock, "since_ns")) / 1e6,
             json_string_value(json_array_get(ports, 0)));
    for (size_t i = 1; i <= count; i++)
        text_add(&text, " for %s%s", json_string_value(json_array_get(ports, i % count)),
                 i < count ? ", which waits" : "");
    json_t *json = json_text(text_string(&text));
    text_free(&text);
    return json;
}

int sim_deadlocks_look(struct sim_lab *lab)
{
    struct sim_deadlock found;
    while (sim_next_deadlock(lab->sim, &found)) {
        lab->deadlock_count++;
        if (json_array_size(lab->deadlocks) == MOST_DEADLOCKS)
            continue;
        json_t *object = json_make(
            "{s:I,s:I,s:i,s:o}", "since_ns", (json_int_t)(found.since_ps / SIM_PS_PER_NS), "found_ns",
            (json_int_t)lab->now_ns, "priority", (int)found.priority, "ports", ports_json(lab, &found));
        if (object)
            json_object_set_new(object, "text", sentence(object));
        if (!object || json_array_append_new(lab->deadlocks, object) != 0)
            return -1;
    }
    return 0;
}

void sim_deadlocks_add_to_result(const struct sim_lab *lab, json_t *result)
{
    json_t *warnings = json_object_get(result, "warnings");
    for (size_t i = 0; i < json_array_size(lab->deadlocks); i++)
        json_array_append(warnings, json_object_get(json_array_get(lab->deadlocks, i), "text"));
    if (lab->deadlock_count > MOST_DEADLOCKS)
        json_array_append_new(warnings, json_textf("there were %zu deadlocks; the first %d are listed",
                                                   lab->deadlock_count, MOST_DEADLOCKS));
    if (json_array_size(lab->deadlocks))
        json_object_set(result, "deadlocks", lab->deadlocks);
}
