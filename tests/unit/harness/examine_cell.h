/* What one check of harness doctor finds in a cell. */
#ifndef TESTS_EXAMINE_CELL_H
#define TESTS_EXAMINE_CELL_H

#include "harness/doctor/check.h"

/* `interfaces`, `nics`, `columns`: what was seen, as in struct doctor_seen; NULL: nothing. A new
 * reference. */
static inline json_t *examine_cell(const struct doctor_check *check, const struct cell *cell,
                                   json_t *interfaces, json_t *nics, json_t *columns)
{
    struct doctor_seen seen = doctor_seen_open();
    const struct doctor_seen given = {.interfaces = interfaces, .nics = nics, .columns = columns};
    const struct doctor_subject x = {.lab = &cell->lab, .cell = cell, .seen = &seen, .entries = json_array()};
    const char *role;
    json_t *interface;
    doctor_seen_add(&seen, &given);
    json_object_foreach(interfaces, role, interface)
    {
        json_object_set(seen.in_force, role, json_object_get(interface, "settings"));
    }
    check->examine(&x);
    doctor_seen_close(&seen);
    return x.entries;
}

#endif
