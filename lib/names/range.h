/* A range of names, as people write many of them: "h[0-15]", "h[00-15]", "h[0-1,16]", "r[0-3]h[0-7]". docs/lab.md. */
#ifndef LIB_NAMES_RANGE_H
#define LIB_NAMES_RANGE_H

#include "lib/error.h"
#include "lib/text.h"
#include <jansson.h>
#include <stddef.h>

#define RANGE_BRACKETS 4      /* at most, in a word */
#define RANGE_LIMIT    100000 /* names */

struct range {
    const char *word; /* not owned */
    struct range_bracket {
        const char *open; /* in the word */
        size_t count;     /* of its numbers */
    } brackets[RANGE_BRACKETS];
    size_t bracket_count; /* 0: a single name */
    size_t count;         /* of the names */
};

/* Parse a word; one without "[" is a single name. Names are not judged. -1: it is no range, runs backwards or is too long. */
int range_parse(const char *word, struct range *range, struct error *e);
/* Append name i < count; the numbers of the last bracket change fastest. */
void range_name(const struct range *range, size_t i, struct text *out);
/* A copy of a value for name i, in whose strings {} is the number as the name has it, {+1} and {-1} the number with that added, and
 * {2} or {2+1} that of the second bracket. A new reference, which shares strings with the value; NULL with a sentence. */
json_t *range_fill(const struct range *range, size_t i, const json_t *value, struct error *e);

#endif
