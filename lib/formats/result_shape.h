/*
 * What the values of a result, of an index and of settings have to be (docs/result.md): their type, their
 * range, and what follows from other values, such as a verdict from expectations. A file that was edited by
 * hand, or that another version wrote, may have others: all readers judge it here.
 */
#ifndef LIB_RESULT_SHAPE_H
#define LIB_RESULT_SHAPE_H

#include <jansson.h>
#include <stdbool.h>

enum result_document { RESULT_DOCUMENT, INDEX_DOCUMENT, SETTINGS_DOCUMENT };

/* Take values of a wrong type or range out of a document, and make what contradicts other values what they
 * make it. Returns a sentence for each of the first, such as "result.json: flows.a-to-b.bytes is "12",
 * expected a whole number from 0: it is left out", and one that counts the others: a list, empty if there was
 * none. Of what is not an object nothing is said. A new reference. */
json_t *result_take_out_wrong(enum result_document which, json_t *document);
/* The first key that each run writes, whatever becomes of it, and this one lacks; NULL: it has all. Not
 * `whole`: only parts were read, those that the list of runs reads. */
const char *result_missing_key(const json_t *document, bool whole);

#endif
