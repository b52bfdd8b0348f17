/* A range of names, as people write many of them: "h[0-15]", "h[00-15]", "h[0-1,16]", "r[0-3]h[0-7]".
 * docs/lab.md. */
#ifndef LIB_NAMES_RANGE_H
#define LIB_NAMES_RANGE_H

#include "lib/error.h"
#include "lib/text.h"
#include <jansson.h>
#include <stdbool.h>
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
    size_t outer;         /* so many of them are of the name that this one is below; else 0 */
    size_t count;         /* of the names */
};

/* Parse a word; one without "[" is a single name. Names are not judged. -1: it is not a range, runs backwards
 * or is too long. */
int range_parse(const char *word, struct range *range, struct error *e);
/* Append name i < count; the numbers of the last bracket change fastest. */
void range_name(const struct range *range, size_t i, struct text *out);
/* A copy of a value for name i, in whose strings {} is the number as the name has it, {+1} and {-1} the
 * number with that added, and {2} or {2+1} that of the second bracket. Below another name {} is the number of
 * the nearer one that has a range. A new reference, which shares strings with the value; NULL with a
 * sentence. */
json_t *range_fill(const struct range *range, size_t i, const json_t *value, struct error *e);

/* Does a glob match a name? A bracket of numbers is a range here, too: h[0-15] matches h12. */
bool glob_matches(const char *glob, const char *name);
/* Does a glob match a name, or what comes before its dot: "a" and "a.rail*" match a.rail3, a NIC of a; "up"
 * matches up.rail3, the flow of a NIC? */
bool name_matches(const char *glob, const char *name);

/* ---- ranges in documents
 * Values of a wrong type are left, for the document's table to refuse. Each sentence begins with the key, and
 * with the item's number. */

/* A list of names. */
int expand_list(json_t *object, const char *key, struct error *e);
/* A map whose keys are names: the value of a range is filled in for each of its names. What a single name has
 * besides is merged over it, where null stays, for what is merged next. Two ranges may not have a name in
 * common. */
int expand_keys(json_t *object, const char *key, struct error *e);
/* The same, where members of each value that `below` names (ended by NULL) are such maps too: the NICs of a
 * host. Their values are filled in by both ranges, whose brackets count from the outer one's. */
int expand_nested_keys(json_t *object, const char *key, const char *const *below, struct error *e);
/* A map of names to names, pairwise; or all to a single one. */
int expand_map(json_t *object, const char *key, struct error *e);

/* The members of an item that are names. */
struct expand_ends {
    const char *one, *other; /* other NULL: there is only one */
    bool list;               /* `one` is a list of both */
};
/* A list of objects, each of which stands for many: pairwise, or all with a single one. An item's other
 * values are filled in by the first end that is a range. An item with a name needs the number in it. */
int expand_items(json_t *object, const char *key, const struct expand_ends *ends, struct error *e);

#endif
