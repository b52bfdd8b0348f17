/* What the cells of a plan have in common, so that each is made in little time. */
#ifndef HARNESS_BORROW_H
#define HARNESS_BORROW_H

#include "harness/plan/cell.h"

/* Take the first cell's lab if the cell's choice does not vary it. Returns whether it did. */
bool borrow_lab(struct cell *cell, const struct cell *first);
/* Take the first cell's expressions if the cell's are the same and about the same names. The cell's scenario is parsed. */
bool borrow_expressions(struct cell *cell, const struct cell *first);

#endif
