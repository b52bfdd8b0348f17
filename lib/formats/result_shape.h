/* What type the values of a result, of an index and of settings have (docs/result.md). A file that was edited
 * by hand, or that another version wrote, may have others, which would be read as absent. */
#ifndef LIB_RESULT_SHAPE_H
#define LIB_RESULT_SHAPE_H

#include <jansson.h>

enum result_document { RESULT_DOCUMENT, INDEX_DOCUMENT, SETTINGS_DOCUMENT };

/* Take values of the wrong type out of a document. Returns a sentence for each of the first, such as
 * "result.json: flows.a-to-b.bytes is "12", expected a number: it is left out", and one that counts the
 * others: a list, empty if there was none. Of what is not an object nothing is said. A new reference. */
json_t *result_take_out_wrong(enum result_document which, json_t *document);

#endif
