/* How many messages have ended at a PSN, for the MSN of answers (InfiniBand Architecture Specification, 9.7.5.1.2 and 9.7.7.1). */
#ifndef VERIFY_MESSAGES_H
#define VERIFY_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#define MESSAGES_KEPT 32

/* Zeros at first. The MSN before the capture's first message is not known: it is `base`, or up to `base_most` more. MSNs and
 * counts of messages wrap at 2^24. */
struct messages {
    uint32_t ends[MESSAGES_KEPT]; /* PSNs of the last packets of the latest messages, a ring */
    uint32_t count;               /* of messages that ended since the capture began */
    bool based;
    uint32_t base;
    int32_t base_most;
};

/* A message's last packet came, in order. */
void messages_end(struct messages *m, uint32_t psn);
/* Can an answer of this PSN have this MSN? It counts the messages that ended up to its PSN, or up to the time when it was sent. If not,
 * *least and *most are what was expected. An answer of a PSN long before the latest is not judged. */
bool messages_fit(struct messages *m, uint32_t psn, uint32_t msn, uint32_t *least, uint32_t *most);
/* Messages were missed: all that is known is of no use any more. */
void messages_forget(struct messages *m);

#endif
