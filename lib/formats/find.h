/* Finds scenarios and labs, and selects the lab to use. */
#ifndef LIB_FIND_H
#define LIB_FIND_H

#include "lib/error.h"
#include <stddef.h>

enum find_kind { FIND_SCENARIO, FIND_LAB };

/* The path of a file that is given by path or name. A name may lack ".json"; it is searched in the current
 * folder, next to the program and in the installation, each also under scenarios/ or labs/. The caller
 * frees. */
char *find_file(enum find_kind kind, const char *word, struct error *e);

/* All scenarios or labs: paths, sorted by name; of several with one name only the first. The caller frees
 * with find_free. -1: there is none; the sentence says where it was looked for. */
int find_all(enum find_kind kind, char ***paths, size_t *count, struct error *e);
void find_free(char **paths, size_t count);

/* A folder of this name beside the program, in its source tree or in the installation, not in the current
 * folder: what is in it is trusted as the program is. NULL: there is none. The caller frees. */
char *find_shared(const char *name);

/* The lab to use: `said` (--lab), else HARNESS_LAB, else "lab" in $XDG_CONFIG_HOME/harness/config.json, else
 * `fallback` (NULL: none). *why names the source of the choice (a constant). The caller frees. */
char *find_lab(const char *said, const char *fallback, const char **why, struct error *e);

#endif
