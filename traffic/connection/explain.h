/* Sentences for errors on RDMA hosts: the name of the error and its usual causes. */
#ifndef TRAFFIC_EXPLAIN_H
#define TRAFFIC_EXPLAIN_H

#include "lib/error.h"
#include "traffic/memory/memory.h"

/* Fill e with the reason why a memory registration failed; `call` is the function that failed with errno
 * value `number`. -1. */
int explain_registration(struct error *e, int number, const struct memory *memory, const char *call);
/* Fill e with the reason why a queue pair could not be moved to `state`. */
int explain_modify(struct error *e, int number, const char *state, const char *peer_gid);

#endif
