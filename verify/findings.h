/* What a checker found: of each kind the first few with their packets, and how many there are; what it looked
 * at, and what it could not judge. */
#ifndef VERIFY_FINDINGS_H
#define VERIFY_FINDINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define FINDINGS_KINDS 16
#define FINDINGS_SHOWN 10 /* of a kind */
#define FINDINGS_NOTES 16

struct finding {
    uint64_t number; /* the packet's */
    int64_t time_ns; /* -1: it has none */
    char *text;
};

struct finding_kind {
    const char *name; /* a constant */
    uint64_t count;
    uint64_t witnessed; /* while the findings were */
    struct finding shown[FINDINGS_SHOWN];
};

/* A number of things that were looked at: "12 CNPs". */
struct judged {
    const char *what; /* a constant, plural: "packets sent" */
    uint64_t count;
    bool counts; /* enough for a verdict; else it is only told */
};

struct findings {
    struct finding_kind kinds[FINDINGS_KINDS];
    struct judged judged[FINDINGS_KINDS];
    bool proves_nothing;         /* what was found may be of the capture alone */
    bool witnessed;              /* what is found now is of a connection that was captured at both ends */
    const char *open;            /* the first note of what was seen and could not be judged; NULL: none */
    char *figure;                /* what was measured, which is not a judgement; NULL: nothing */
    char *notes[FINDINGS_NOTES]; /* what was not judged, and why */
};

/* Something is wrong with a packet. The format names what was found and what was expected. */
void findings_add(struct findings *f, const char *kind, uint64_t number, int64_t time_ns, const char *format,
                  ...) __attribute__((format(printf, 5, 6)));
/* How many of a kind have a witness. */
void findings_witness(struct findings *f, const char *kind, uint64_t count);
/* Whatever is wrong by `from`, whose texts it takes. */
void findings_take(struct findings *f, struct findings *from);
/* This number of things was judged. */
void findings_judged(struct findings *f, const char *what, uint64_t count);
/* This number of things was seen, which is not a judgement. */
void findings_seen(struct findings *f, const char *what, uint64_t count);
/* What was measured, one sentence. */
void findings_figure(struct findings *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What the checker leaves to others, or cannot know of any capture; the same sentence is kept once. */
void findings_not_judged(struct findings *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What was seen, would have been judged, and could not be: unless something is found, the verdict is unknown.
 */
void findings_open(struct findings *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t findings_count(const struct findings *f);
/* A new list of what was not judged. */
json_t *findings_notes(const struct findings *f);
/* An entry for lib/output/verdicts.h: "check", "verdict" (ok, failure; unknown: nothing was judged, or not
 * all that was seen could be), "open" (the first sentence of what could not, if any, here or in `common`,
 * what holds for all checkers), "reason", "findings", "not_judged". `proved`: the kinds of findings that make
 * a failure, ended by NULL; NULL: all; `sure`: those of them that need no witness, likewise. */
json_t *findings_json(const struct findings *f, const char *check, const struct findings *common,
                      const char *const *proved, const char *const *sure);
/* How many make no failure for want of a witness. */
uint64_t findings_unsure(const struct findings *f, const char *const *sure);
void findings_free(struct findings *f);

#endif
