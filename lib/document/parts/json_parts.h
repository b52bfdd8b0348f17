/*
 * Parts of a large JSON text. To make all values of a result takes twenty times as long as to find the few that are wanted.
 */
#ifndef LIB_JSON_PARTS_H
#define LIB_JSON_PARTS_H

#include "lib/error.h"
#include "lib/text.h"
#include <stddef.h>

#define JSON_PARTS_MOST 32 /* paths */

/*
 * Add to `out` the text of the object without the members that no path leads to. `paths`, ended by NULL, are keys with dots between
 * them: "hosts.*.counters.rx_prio#_pause.delta", where a key "*" is any, and "#" in one is one or more digits. What a path names is
 * copied whole. Lists are not looked into, and keys with escapes are none. Fails if the text is no object, or ends too early; what is
 * wrong inside of what is left out is not found.
 */
int json_parts(const char *text, size_t length, const char *const *paths, struct text *out, struct error *e);

#endif
