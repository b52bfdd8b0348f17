/* Standard output, written a whole line at a time, without being held up for ever by a reader who does not read. */
#ifndef COLLECTORS_OUTPUT_H
#define COLLECTORS_OUTPUT_H

#include "lib/error.h"
#include <stdbool.h>
#include <stdio.h>

struct output;

enum output_result {
    OUTPUT_DONE,
    OUTPUT_CLOSED,  /* the reader has gone */
    OUTPUT_STOPPED, /* `wake` became readable while waiting for room */
    OUTPUT_FAILED,  /* the sentence says why */
};

struct output *output_open(int descriptor, struct error *e);
void output_close(struct output *o);
/* Where lines are put together; nothing of it is seen before output_send. */
FILE *output_stream(struct output *o);
/* Write out what was put together. While there is no room, wait for it, for at most 10 s or until `wake` is readable. */
enum output_result output_send(struct output *o, int wake, struct error *e);

#endif
