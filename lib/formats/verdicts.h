/* The verdicts of a run, and of what is judged in it (docs/result.md): the words of result.json and
 * index.json, of pages and of terminals. */
#ifndef LIB_VERDICTS_H
#define LIB_VERDICTS_H

#include <jansson.h>
#include <stdbool.h>

enum verdict {                   /* from best to worst */
               VERDICT_NONE,     /* there is none */
               VERDICT_UNJUDGED, /* it ran, and there was nothing to judge it by */
               VERDICT_SKIPPED,  /* of what was to be judged, nothing could be decided */
               VERDICT_PASSED,
               VERDICT_FAILED,
               VERDICT_INCOMPLETE,
};
extern const char *const verdict_names[]; /* by verdict: "" for VERDICT_NONE; ended by NULL */

/* The verdict of this word; VERDICT_NONE: it is not the word of one. */
enum verdict verdict_of(const char *word);
/* The worst of the verdict so far and of the "verdict" of each entry of a list. */
enum verdict verdict_with(enum verdict verdict, const json_t *judged);
/* What its "complete", its expectations and the checkers of its captured packets ("verify") make of a result.
 * VERDICT_NONE: it has neither. */
enum verdict verdict_of_result(const json_t *result);

/* Does "left SIGN right" hold, by a sign (< <= > >= == !=) at the beginning of the text? */
bool verdict_holds(const char *sign, double left, double right);
/* "+0.1 %", of how far a figure is from the published one: "0.0 %" is less than can be seen. */
const char *verdict_percents(double percent, char shown[32]);

#endif
