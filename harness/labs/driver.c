/* The driver of each kind of lab: every row of LAB_KINDS has one, in a folder below this one. */
#include "harness/labs/driver.h"

#include "lib/formats/lab_kinds.h"
#include <stdlib.h>

#define KIND(NAME, ...) extern const struct lab_driver lab_driver_##NAME;
LAB_KINDS(KIND)
#undef KIND

const struct lab_driver *lab_driver_of(const struct lab *lab)
{
    static const struct lab_driver *const drivers[] = {
#define KIND(NAME, ...) &lab_driver_##NAME,
        LAB_KINDS(KIND)
#undef KIND
    };
    return drivers[lab->driver];
}

int lab_driver_check(const struct plan *plan, struct error *e)
{
    for (size_t i = 0; i < plan->cell_count; i++) {
        const struct cell *cell = &plan->cells[i];
        const struct lab_driver *driver = lab_driver_of(&cell->lab);
        if (driver->check && driver->check(cell, e) != 0)
            return error_prefix(e, "%s", plan->scenario_path);
    }
    return 0;
}

void host_description_free(struct host_description *d)
{
    if (!d)
        return;
    free(d->name);
    free(d->address);
    json_decref(d->facts);
    json_decref(d->capabilities);
    json_decref(d->settings);
    *d = (struct host_description){0};
}
