/* A sweep that is a part of something larger, as a stage of a burn-in is: its results lie in a folder of the
 * whole, and are gone on with there. */
#ifndef HARNESS_PART_H
#define HARNESS_PART_H

#include "harness/run/request.h"

/* The last result that was begun in WHOLE/NAME; NULL: there is none. The caller frees. */
char *part_last(const char *whole, const char *name);
/* Run the request, with `documents` as they were read before (NULL: it reads them), whose `out` is the folder
 * of the whole and whose scenario is called `name`; `resume`: only what is missing of what was begun there
 * before. The program's exit status for it; messages have been written. */
int part_run(const struct sweep_request *request, const struct plan_documents *documents, const char *name,
             bool resume);

#endif
