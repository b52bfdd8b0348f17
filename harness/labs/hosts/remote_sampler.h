/* The command line of nic-sampler on real hosts. */
#ifndef HARNESS_REMOTE_SAMPLER_H
#define HARNESS_REMOTE_SAMPLER_H

#include "harness/labs/hosts/host.h"
#include "lib/words.h"

void remote_sampler_words(const struct cell *cell, const struct remote_host *h, struct words *w);

#endif
