/* Delta debugging (ddmin, Zeller and Hildebrandt 2002): of many things those few that an outcome needs. */
#ifndef HARNESS_DDMIN_H
#define HARNESS_DDMIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DDMIN_BROKEN_OFF SIZE_MAX

/* The first of these sets, each of which says what is kept, with which the outcome is still there; `sets`:
 * none; DDMIN_BROKEN_OFF: it cannot be said any more. */
typedef size_t ddmin_first(void *context, const bool *const *kept, size_t sets);

/* Leave in `kept`, which says what is kept at first, what is needed: without any one of these the outcome is
 * not there. -1: broken off; `kept` is the least so far. */
int ddmin(bool *kept, size_t count, ddmin_first *first, void *context);

#endif
