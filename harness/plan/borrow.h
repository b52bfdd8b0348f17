/* What the cells of a plan have in common, so that ten thousand of them take little time and memory. */
#ifndef HARNESS_BORROW_H
#define HARNESS_BORROW_H

#include "harness/plan/cell.h"

/* Take the first cell's lab if the cell's choice does not vary it. Returns whether it did. */
bool borrow_lab(struct cell *cell, const struct cell *first);
/* Take the first cell's expressions if the cell's are the same and about the same names. The cell's scenario is parsed. */
bool borrow_expressions(struct cell *cell, const struct cell *first);
/* Replace parts of `json` by parts of `first` that are equal. */
void borrow_equal(json_t *json, json_t *first);

#endif
