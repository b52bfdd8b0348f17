/* The command line of nic-sampler on real hosts. */
#ifndef HARNESS_REMOTE_SAMPLER_H
#define HARNESS_REMOTE_SAMPLER_H

#include "harness/labs/hosts/host.h"
#include "lib/words.h"

void remote_sampler_words(const struct cell *cell, const struct remote_host *h, struct words *w);
/* Names of the columns that it prints on this host. A new reference; NULL: it could not be asked. */
json_t *remote_sampler_columns(struct remote_host *h, const struct cell *cell, struct error *e);

#endif
