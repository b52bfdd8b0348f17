/* The driver of each kind of lab: every row of LAB_KINDS has one, in a folder below this one. */
#include "harness/labs/driver.h"

#include "lib/formats/lab_kinds.h"
#include "lib/xalloc.h"
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

struct lab_opened *lab_opened_make(const struct cell *cell, uint64_t seed, uint32_t threads, struct error *e)
{
    struct lab_opened *lab = xcalloc(1, sizeof *lab);
    *lab = (struct lab_opened){.run = {.cell = cell, .seed = seed, .threads = threads},
                               .driver = lab_driver_of(&cell->lab)};
    if (lab->driver->open(&lab->run, &lab->state, e) == 0)
        return lab;
    free(lab);
    return NULL;
}

void lab_opened_close(struct lab_opened *lab)
{
    if (lab && lab->state)
        lab->driver->close(lab->state);
    free(lab);
}
