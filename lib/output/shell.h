/* Words for a POSIX shell. */
#ifndef LIB_OUTPUT_SHELL_H
#define LIB_OUTPUT_SHELL_H

#include "lib/text.h"

/* Add `word` to a command line, quoted so that a POSIX shell reads exactly this word. The only place where quoting is done. */
void shell_quote(struct text *line, const char *word);
/* All of argv (ended by NULL), quoted, with spaces between. */
void shell_quote_all(struct text *line, const char *const argv[]);

#endif
