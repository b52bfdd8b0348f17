/* The index of a sweep as it grows: a line is appended for each run that ends, so that a run costs the same
 * however many there are. */
#ifndef HARNESS_INDEX_H
#define HARNESS_INDEX_H

#include "harness/run/experiment.h"
#include "lib/folder/record_file.h"

struct index {
    const char *folder; /* NULL: of a single run, which has no index; it is kept in memory alone */
    json_t *head;       /* the document without its cells */
    json_t **entries;   /* of the runs, by number from 0; NULL: not ended */
    size_t count;
    size_t with[VERDICT_INCOMPLETE + 1]; /* how many runs that have ended have each verdict */
    size_t judged[VERDICT_INCOMPLETE +
                  1]; /* how many cells have each verdict in what is judged beyond single runs */
    size_t warned;    /* runs with warnings */
    struct record_file lines;
};

/* Takes over `head`. */
int index_open(struct index *index, const char *folder, json_t *head, size_t count, struct error *e);
/* The run i, which is not in it yet, has ended; takes over the entry (docs/result.md). */
int index_add(struct index *index, size_t i, json_t *entry, struct error *e);
/* The worst verdict, of the runs that have ended and of what is judged beyond them. */
enum verdict index_verdict(const struct index *index);
/* The whole document; a new reference. */
json_t *index_document(const struct index *index);
/* Write the document in the place of the lines. `why`: for what reason runs are missing; NULL: none are. */
int index_finish(struct index *index, const char *why, struct error *e);
/* The lines are the index again, and an earlier whole document is gone. */
int index_unfinish(struct index *index, struct error *e);
void index_close(struct index *index);

#endif
