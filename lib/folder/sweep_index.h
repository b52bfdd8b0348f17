/* The index of a sweep's runs in its folder: index.json, or while it runs (or after it was killed)
 * index.jsonl, docs/result.md. */
#ifndef LIB_SWEEP_INDEX_H
#define LIB_SWEEP_INDEX_H

#include "lib/folder/folder.h"
#include "lib/formats/verdicts.h"
#include <jansson.h>

#define SWEEP_INDEX       "index.json"
#define SWEEP_INDEX_LINES "index.jsonl"

/* Is the folder that of a sweep? */
bool sweep_index_exists(const struct folder *folder);
/* A sentence in the document: how many runs it had whose results cannot be read (or are not there, or are of
 * other runs), and why the first cannot. They are not in it any more, which then is not complete, for that
 * reason. */
#define SWEEP_LEFT_OUT "left_out"
/* Sentences in the document, a list: values of it that were of the wrong type, and are left out
 * (lib/formats/result_shape.h). */
#define SWEEP_WRONG "wrong"
/* The document, of lines the one that they make, with the other runs that have a result: what was added up to
 * now. A new reference; NULL with an error, also if no run is left. */
json_t *sweep_index_load(const struct folder *folder, struct error *e);

/* What the index says of the sweep as a whole: the document without its cells, but "runs", how many it has in
 * all, which older indices do not say: of these how many are listed. A new reference; NULL with an error. */
json_t *sweep_index_summary(const struct folder *folder, struct error *e);
/* What was judged when the sweep ended ("repeated", docs/result.md); NULL: nothing was, or it has not ended.
 * A new reference. */
json_t *sweep_index_judged(const struct folder *folder);
/* The entry in it of the cell that a run in the folder `name` is of; NULL: there is none. */
json_t *sweep_index_judged_of(const json_t *judged, const char *name);
/* The verdict by which a run counts: the worst of its own and of what that entry (NULL: none) says of its
 * cell. */
enum verdict sweep_index_verdict(enum verdict own, const json_t *entry);

#endif
