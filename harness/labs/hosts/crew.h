/* Hosts side by side: a thread for each. A process dies with the thread that started it (lib/process.h), so the threads of a crew stay until
 * it is dismissed: until then, connections that they opened can be used. */
#ifndef HARNESS_LABS_CREW_H
#define HARNESS_LABS_CREW_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crew;

/* Begin work(context, i) for each i below count, a few dozen at a time, in the order of i. */
struct crew *crew_start(size_t count, void (*work)(void *context, size_t i), void *context, struct error *e);
/* Wait at most timeout_ns (negative: without limit) for the work on i to end. Returns whether it has. */
bool crew_wait(struct crew *crew, size_t i, int64_t timeout_ns);
/* Wait for all work, and end the threads. NULL is allowed. */
void crew_dismiss(struct crew *crew);

#endif
