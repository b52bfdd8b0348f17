#include "nic-config/knobs/knob.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define KNOB_ADDRESS(name) &knob_##name,
const struct knob *const knobs[] = {SETTINGS_KNOBS(KNOB_ADDRESS) NULL};

bool knob_is_of_roce(const struct knob *knob)
{
    const struct setting *setting = settings_find(knob->keys[0]);
    return setting && setting->roce;
}

enum knob_answer knob_answer_of(int number)
{
    switch (number) {
    case EOPNOTSUPP:
    case ENOSYS:
    case ENODEV:
    case ENOENT:
    case EPROTONOSUPPORT:
    case EAFNOSUPPORT:
    case ENOTDIR:
        return KNOB_MISSING;
    default:
        return KNOB_FAILED;
    }
}

int64_t knob_map_value(const struct list_of *map, int key, int64_t otherwise)
{
    const struct named_integer *items = map->items;
    for (size_t i = 0; i < map->count; i++)
        if (strtol(items[i].name, NULL, 10) == key)
            return items[i].value;
    return otherwise;
}

uint8_t knob_mask(const struct list_of *priorities)
{
    const int64_t *items = priorities->items;
    uint8_t mask = 0;
    for (size_t i = 0; i < priorities->count; i++)
        mask |= (uint8_t)(1u << (items[i] & 7));
    return mask;
}

json_t *knob_mask_list(uint8_t mask)
{
    json_t *list = json_array();
    for (int priority = 0; priority < 8; priority++)
        if (mask & (1u << priority))
            json_array_append_new(list, json_integer(priority));
    return list;
}
