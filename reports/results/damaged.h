/* Runs whose files are not what they wrote: what is drawn and exported of them lacks what is gone. */
#ifndef REPORTS_DAMAGED_H
#define REPORTS_DAMAGED_H

#include "lib/text.h"
#include "reports/results/run.h"

struct damaged {
    size_t runs;
    struct text first; /* sentences about the first of them, a line each */
};

/* Count the run, if it is damaged. `d` may be NULL. */
void damaged_add(struct damaged *d, const struct run *run);
/* A warning for the first of them, and how many others there are. false: there are none. */
bool damaged_warn(const struct damaged *d);

#endif
