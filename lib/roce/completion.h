/*
 * Work completions that failed: what a status means by the specification of InfiniBand, and what the vendor's
 * byte beside it means on mlx5 NICs. Everything that speaks of a completion error takes its words from here:
 * roce-traffic, results, the simulator, what perftest and NCCL print; docs/errors.md is filled from these
 * tables.
 */
#ifndef LIB_COMPLETION_H
#define LIB_COMPLETION_H

#include "lib/text.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* By the number of enum ibv_wc_status (rdma-core, libibverbs/verbs.h): "IBV_WC_RETRY_EXC_ERR". */
const char *completion_name(int status);
/* Its meaning and what to check, whatever the NIC. */
const char *completion_cause(int status);

#define COMPLETION_RETRY_EXCEEDED   12 /* IBV_WC_RETRY_EXC_ERR */
#define COMPLETION_FLUSHED          5  /* IBV_WC_WR_FLUSH_ERR */
#define COMPLETION_NO_VENDOR        -1 /* no byte was said, or that of another vendor's NIC */
#define COMPLETION_RNR_EXCEEDED     13 /* IBV_WC_RNR_RETRY_EXC_ERR */
#define COMPLETION_VENDOR_NO_ANSWER 0x81
#define COMPLETION_VENDOR_NOT_READY 0x87

#define COMPLETION_COUNTERS 4

/* A pair of status and vendor's byte (struct ibv_wc, vendor_err) of mlx5 NICs. */
struct completion_error {
    int status, vendor;
    const char *meaning, *likely;                   /* what happened; its likely cause and what to check */
    const char *requester[COMPLETION_COUNTERS + 1], /* what it moves there; ended by NULL */
        *responder[COMPLETION_COUNTERS + 1];
    const char *look;   /* the side to look at first */
    const char *frames; /* of the request that failed */
    const char *states; /* of the queue pairs, after it */
    const char *source; /* measurement, model and firmware */
};

/* NULL: no such row. */
const struct completion_error *completion_find(int status, int vendor);

/* "completion error 12 (IBV_WC_RETRY_EXC_ERR), vendor error 0x81: what it means; likely: its cause": of a
 * byte without a row what the status means. */
void completion_explain(int status, int vendor, struct text *out);
/* The same of an error that a program printed which does not say what NIC it was on: what a byte means is
 * said to be of mlx5 NICs. */
void completion_explain_printed(int status, int vendor, struct text *out);
/* The same as a new JSON object: "status", "status_number", "vendor_error" if there is one, "meaning", and of
 * a row "likely" and "look_at". */
json_t *completion_json(int status, int vendor);
/* What such an object says of itself, which may come from anywhere: false if that is no error. */
bool completion_take_json(const json_t *object, int *status, int *vendor);

/* Is there a completion error in a line that perftest or NCCL printed? The vendor's byte is
 * COMPLETION_NO_VENDOR if the line has none. */
bool completion_read(const char *line, size_t length, int *status, int *vendor);

/* The tables of docs/errors.md, and the rows of mlx5 as a JSON array of objects (a new reference). */
void completion_manual(struct text *out);
json_t *completion_rows(void);

#endif
