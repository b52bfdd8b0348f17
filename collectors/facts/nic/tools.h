/* Other programs that host-facts asks, where they are installed. */
#ifndef COLLECTORS_TOOLS_H
#define COLLECTORS_TOOLS_H

#include "lib/text.h"
#include <stddef.h>

/* The first of `names` (ended by NULL) that is in PATH, or NULL. */
const char *tool_installed(const char *const names[]);
/* Run argv for ten seconds at most. Returns its exit status, or -1 if it could not be run to its end. `why`:
 * if it is not 0, what was wrong: "mstconfig exited with 3: ...". */
int tool_ask(const char *const argv[], struct text *out, struct text *why);

#endif
