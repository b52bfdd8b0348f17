/* Standard output, written in whole lines, with a time limit for a reader that does not read. */
#ifndef COLLECTORS_OUTPUT_H
#define COLLECTORS_OUTPUT_H

#include "lib/error.h"
#include <stdbool.h>
#include <stdio.h>

struct output;

enum output_result {
    OUTPUT_DONE,
    OUTPUT_CLOSED,  /* the reader closed its end */
    OUTPUT_STOPPED, /* `wake` became readable while waiting for room */
    OUTPUT_FAILED,  /* the error says why */
};

struct output *output_open(int descriptor, struct error *e);
void output_close(struct output *o);
/* Buffer for lines; nothing is written before output_send. */
FILE *output_stream(struct output *o);
/* Write the buffered lines. If there is no room, wait at most 10 s or until `wake` is readable. */
enum output_result output_send(struct output *o, int wake, struct error *e);

#endif
