/* `harness search`: rounds of runs towards the best values, and the answer. */
#ifndef HARNESS_SEARCH_H
#define HARNESS_SEARCH_H

#include "harness/run/request.h"

/* Check the "search" of a scenario as far as nothing has to run for that. */
int search_check(const struct plan_request *request, struct error *e);
/* Returns the program's exit status; messages have been written. `repeats` of the request is not used. */
int search_run(const struct sweep_request *request);
/* Is it the folder of one? */
bool search_is_in(const char *folder);
/* Its page anew. Returns the program's exit status; messages have been written. */
int search_draw(const char *folder);
/* How one stands, for people or as JSON (search.json). EXIT_DONE: it has ended. */
int search_status(const char *folder, bool json);

#endif
