/* Judges a capture: one pass over its packets, which each of the checkers sees. The first of them are looked
 * at ahead, for what they show of clocks. */
#ifndef VERIFY_H
#define VERIFY_H

#include "verify/checker.h"

/* The checker of a name; NULL and an error, which names the nearest: there is none. */
const struct checker *verify_find(const char *name, struct error *e);
/* Judge all of a capture with some checkers, ended by NULL. A new JSON object: "packets", "cut" (a sentence,
 * if the file is cut short: then no checker is ok), "not_judged" (sentences that hold for all checkers) and
 * "checks", an entry of findings_json each. NULL: the capture is malformed or could not be read. */
json_t *verify_capture(struct capture_reader *capture, const struct verify_settings *settings,
                       const struct checker *const *which, struct error *e);

#endif
