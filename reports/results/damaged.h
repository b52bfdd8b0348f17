/* Runs whose files are not what they wrote, or have values of the wrong type: what is drawn and exported of
 * them lacks what is gone. Runs of a sweep whose results cannot be read are left out. */
#ifndef REPORTS_DAMAGED_H
#define REPORTS_DAMAGED_H

#include "lib/text.h"
#include "reports/results/run.h"

struct damaged {
    size_t runs;
    struct text first;    /* sentences about the first of them, a line each */
    size_t wrong;         /* runs with values of the wrong type */
    struct text values;   /* sentences about those of the first of them, a line each */
    struct text left_out; /* sentences about sweeps, a line each */
};

/* Count the run, if it is damaged. `d` may be NULL. */
void damaged_add(struct damaged *d, const struct run *run);
/* Take over what the index of a sweep says of runs that are left out, and of its own values. `d` may be NULL.
 */
void damaged_add_left_out(struct damaged *d, const json_t *index);
void damaged_free(struct damaged *d);
/* A warning for the first of them, and how many others there are. false: there are none. */
bool damaged_warn(const struct damaged *d);

#endif
