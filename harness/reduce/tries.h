/* Does an expectation fail in a scenario, and for the same reason? Asked of ordinary runs, whose results are
 * kept: none is made twice, also after a kill. */
#ifndef HARNESS_TRIES_H
#define HARNESS_TRIES_H

#include "harness/run/request.h"
#include "lib/interrupt.h"

/* What was seen of an expectation in all runs of a scenario. */
enum seen {
    SEEN_NEITHER, /* flows moved nothing or failed that did not at first, runs differ, the scenario is none */
    SEEN_UNJUDGED, /* what it reads is not there, or the lab refuses the scenario */
    SEEN_PASSED,
    SEEN_FAILED,
    SEEN_NOTHING /* it is not known: the lab or the disk failed, or it was broken off */
};

struct tries {
    const char *folder; /* that has the runs */
    const char *lab_path;
    int64_t seed, seeds;
    size_t jobs;
    bool anew; /* what is there of a try is removed first */
    struct interrupt *interrupt;
    json_t *reset;          /* paths of settings: without these it has to pass; NULL: that is not asked */
    const json_t *healthy;  /* path -> value: with these it has to pass, */
    enum seen with_healthy; /* or be SEEN_UNJUDGED, as it was at first; NULL: none */
    json_t *ran;            /* the last documents that counted; NULL: none did yet */
    json_t *known;          /* what a scenario is -> whether it counts */
    json_t *asked;          /* the scenarios whose answer was used, */
    size_t count;           /* and how many these are */
    size_t miscounted;      /* flows whose goodput few messages made at first, of the first run as well; */
    size_t idle;            /* flows that moved nothing at first, */
    bool errors;            /* and whether any had errors; of the first run */
    enum seen base;         /* what was seen of the first run */
    struct error why;       /* of the last one that was neither */
    char said[512];         /* the last words of a run on standard error */
};

/* What a scenario is, however it is written: the same text is the same experiment. The caller frees; NULL: it
 * is none. */
char *tries_identity(const struct tries *t, const json_t *documents, struct error *e);
/* The scenario as it was, which has to fail with all seeds. */
enum seen tries_base(struct tries *t, const json_t *documents);
/* SEEN_PASSED: it passes with all seeds. */
enum seen tries_passes(struct tries *t, const json_t *documents);
/* The runs of a scenario of this name, with all seeds; *made is their folder, which the caller frees. */
int tries_make(struct tries *t, const json_t *documents, const char *name, char **made, struct error *e);
/* The first of the candidates that counts: it fails with all seeds, and passes with the settings reset. Their
 * number if none does; SIZE_MAX: broken off. */
size_t tries_first(struct tries *t, json_t *const *candidates, size_t count);
/* The documents with the settings at these paths at their defaults, and with these values (path -> value;
 * both may be NULL). A new reference. */
json_t *tries_without(const json_t *documents, const json_t *paths, const json_t *values);
/* The result of the first run of a scenario that has run, and its folder, which the caller frees. A new
 * reference; NULL: there is none. */
json_t *tries_result(const struct tries *t, const json_t *documents, char **folder);
/* The only entry of a result's expectations. */
const json_t *tries_expectation(const json_t *result);

#endif
