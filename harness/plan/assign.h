/* Values of --set and of a sweep, put at their paths into documents as they are written, ranges written out.
 */
#ifndef HARNESS_ASSIGN_H
#define HARNESS_ASSIGN_H

#include "lib/error.h"
#include <jansson.h>

/* null takes away. The lab (NULL: there is none, or it stays) has been read by then: its name in the scenario
 * chooses none any more. A path that can lead to nothing is an error. */
int assign_value(json_t *scenario, json_t *lab, const char *path, const json_t *value, struct error *e);
/* Do the paths of `requested` (path -> value, of --set) and of the scenario's sweep name roles of the
 * scenario? What the values make of it says that too late: after the sweep was read, and not at all where a
 * null takes away what was not there. */
int assign_check_roles(const json_t *scenario, const json_t *requested, struct error *e);

#endif
