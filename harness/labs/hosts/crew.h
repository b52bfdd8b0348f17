/* Hosts side by side: a thread for each, which stays until the crew is dismissed. A process dies with the thread that started it
 * (lib/process.h): a connection that a thread opened can be used until then. */
#ifndef HARNESS_LABS_CREW_H
#define HARNESS_LABS_CREW_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crew;

/* A thread for each of `count` hosts; they wait for work. */
struct crew *crew_start(size_t count, struct error *e);
/* Begin work(context, i) for each i below the crew's count, a few dozen at a time, in the order of i. What was begun before has ended. */
void crew_begin(struct crew *crew, void (*work)(void *context, size_t i), void *context);
/* Wait at most timeout_ns (negative: without limit) for the work on i to end. Returns whether it has. */
bool crew_wait(struct crew *crew, size_t i, int64_t timeout_ns);
/* Wait for all work, and end the threads. NULL is allowed. */
void crew_dismiss(struct crew *crew);

#endif
