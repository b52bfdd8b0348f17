/* What roce-traffic prints on stdout: the lines of docs/lines.md, or the same as a table for people. */
#ifndef TRAFFIC_OUTPUT_H
#define TRAFFIC_OUTPUT_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file;
    bool table;
    pthread_mutex_t lock;
    bool titled; /* the table's head has been printed */
    int stop_fd; /* an eventfd that is written when the reader has closed the output */
};

/* kind: enum output_kind (job.h). */
void traffic_output_open(struct output *output, FILE *file, int kind, int stop_fd);
/* Print an object line and release it; NULL, which means out of memory, is only mentioned on standard
 * error. */
void output_line(struct output *output, json_t *line);
/* {"type":"event","time_ns","source":"roce-traffic","what","text"} */
json_t *output_event(const char *what, const char *text);
/* {"type":"error","flow","time_ns","status","text"} */
json_t *output_error(const char *flow, const char *status, const char *text);
void traffic_output_close(struct output *output);

#endif
