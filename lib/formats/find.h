/* Where scenarios and labs are, and which lab is taken. */
#ifndef LIB_FIND_H
#define LIB_FIND_H

#include "lib/error.h"
#include <stddef.h>

enum find_kind { FIND_SCENARIO, FIND_LAB };

/* A file by path or name: as it is, or with ".json", under scenarios/ or labs/ in the current folder, beside the
 * program, or installed. The caller frees. */
char *find_file(enum find_kind kind, const char *word, struct error *e);

/* Everything there is: paths, sorted by name, the first of a name counts. The caller frees with find_free. */
int find_all(enum find_kind kind, char ***paths, size_t *count, struct error *e);
void find_free(char **paths, size_t count);

/* The lab when none was named: HARNESS_LAB, else "lab" in $XDG_CONFIG_HOME/harness/config.json, else `fallback`
 * (NULL: none). *why names the source of the choice (a constant). The caller frees. */
char *find_lab(const char *said, const char *fallback, const char **why, struct error *e);

#endif
