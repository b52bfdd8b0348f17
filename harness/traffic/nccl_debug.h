/* NCCL's own messages (NCCL_DEBUG=INFO): its version, how each channel reaches the other rank, and its
 * warnings. */
#ifndef HARNESS_NCCL_DEBUG_H
#define HARNESS_NCCL_DEBUG_H

#include "lib/collective/result_collectives.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nccl_debug {
    int64_t channels[NCCL_PATHS];
    char version[64]; /* "2.21.5+cuda12.4"; "": not said */
    /* the first completion error that it warned of, a flush only if there is none that is not; 0: none */
    int failed_status, failed_vendor;
    char warned[400]; /* the first warnings, "host: what" each: the cause of a failure is among them; "":
                         none */
};

/* Take a line, which may be anything. What is not a whole message about a channel or the version, or a
 * warning, is not counted. */
void nccl_debug_take(struct nccl_debug *debug, const char *line, size_t length);
/* Is it one of NCCL's messages, a warning or less? */
bool nccl_debug_is_message(const char *line, size_t length);
/* What the traffic between hosts went through: "gdrdma", "ib", "socket", "net", "collnet", "mixed" if not all
 * channels are alike, "none" if there is none between hosts, NULL if NCCL said nothing of channels. */
const char *nccl_debug_path(const struct nccl_debug *debug);
/* A new object: the number of channels by path, without those that have none. */
json_t *nccl_debug_channels(const struct nccl_debug *debug);

#endif
