/* Command lines of the programs that a scenario needs on real hosts. */
#ifndef HARNESS_REMOTE_TRAFFIC_H
#define HARNESS_REMOTE_TRAFFIC_H

#include "harness/labs/hosts/host.h"

/* An argument vector that grows; items are owned. */
struct words {
    char **items; /* ended by NULL */
    size_t count;
};
void words_add(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void words_free(struct words *w);

/* nic-sampler on a host. */
void remote_sampler_words(const struct cell *cell, const struct remote_host *h, struct words *w);
/* roce-traffic serve on a host. */
void remote_server_words(const struct remote_host *h, struct words *w);
/* roce-traffic drive on `from`: all flows of the cell from role `from` to role `to`, starting at a time of the host's clock.
 * Returns how many flows there are; without any nothing is added. */
size_t remote_drive_words(const struct cell *cell, size_t from, size_t to,
                          const struct remote_host *from_host, const struct remote_host *to_host,
                          int64_t start_ns, struct words *w);

#endif
