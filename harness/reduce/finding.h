/* What a reduction leaves: a folder with the least scenario, its lab, and what it shows. */
#ifndef HARNESS_FINDING_H
#define HARNESS_FINDING_H

#include "lib/error.h"
#include "lib/document/table.h"
#include <jansson.h>

#define FINDING_DOCUMENT "finding.json"

struct finding {
    const char *folder;
    const char *from; /* the result that it was made from */
    const struct list_of *keep;
    const json_t *documents; /* {"scenario", "lab"} */
    const json_t *result;    /* of its first run; NULL: there is none yet */
    const json_t *needed;    /* paths of settings without one of which it passes; NULL: not known */
    const json_t *healthy;   /* path -> value: with these it passes, */
    bool unjudged;           /* or is not judged; NULL: none */
    const char *why;         /* it is no finding, for this reason; NULL: it is one */
    const json_t *larger;    /* what it was at first: {"scenario", "lab"} */
    size_t tries;
    int64_t seed, seeds;
};

/* The name of the scenario: that of the first one with "-reduced". The caller frees. */
char *finding_name(const char *scenario);
/* Write finding.json, and where there is a result scenario.json, lab.json and README.md. The document, which
 * is not complete yet, is a new reference; NULL with an error. */
json_t *finding_write(const struct finding *f, struct error *e);
/* What a reduction has left in the folder; NULL: nothing, or what cannot be read. A new reference. */
json_t *finding_load(const char *folder);
/* The paths that are left as they are. A new reference. */
json_t *finding_keep_json(const struct list_of *keep);
/* What was found, in lines. */
void finding_print(const json_t *document, const char *folder);

#endif
