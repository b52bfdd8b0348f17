/* Starting the programs of a run on hosts. What was started before an error is in lab->streams. */
#ifndef HARNESS_LABS_START_H
#define HARNESS_LABS_START_H

#include "harness/labs/hosts/lab.h"
#include "lib/words.h"

/* Start a program, beside those that run. */
int start_stream(struct remote_lab *lab, const struct stream_request *request, struct error *e);
int start_samplers(struct remote_lab *lab, struct error *e);
/* The servers of the traffic tools. */
int start_servers(struct remote_lab *lab, struct error *e);
/* The drivers that await their start: they connect, and say when they are ready. */
int start_waiting_drivers(struct remote_lab *lab, struct error *e);
/* Tell them, when they are ready, and start the other drivers; the warm-up begins at start_ns by the run's
 * clock. */
int start_traffic(struct remote_lab *lab, int64_t start_ns, struct error *e);

/* The command line of nic-sampler on a machine, for these NICs of it. */
void remote_sampler_words(const struct cell *cell, const struct remote_host *const hosts[], size_t count,
                          struct words *w);
/* Names of the columns that it prints on this host. A new reference; NULL: it could not be asked. */
json_t *remote_sampler_columns(struct remote_host *h, const struct cell *cell, struct error *e);

#endif
