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
/* The same of a file that a document names: it begins at the document's folder, of "scenarios/x.json" also at
 * the folder that has scenarios/ and labs/, then where what comes with the program is; never at the current
 * folder. The sentence names the folders that were searched. */
char *find_beside(enum find_kind kind, const char *document, const char *word, struct error *e);
/* A path as it is opened from here, if relative ones begin at the folder (NULL: the current one), or at that
 * of a document that has the path. "~" is left to ssh. The caller frees; NULL: out of memory. */
char *find_path_from(const char *folder, const char *path);
char *find_path_of(const char *document, const char *path);

/* All scenarios or labs: paths, sorted by name; of several with one name only the first. The caller frees
 * with find_free. -1: there is none; the sentence says where it was looked for. */
int find_all(enum find_kind kind, char ***paths, size_t *count, struct error *e);
void find_free(char **paths, size_t count);

/* A folder of this name beside the program, in its source tree or in the installation, not in the current
 * folder: what is in it is trusted as the program is. NULL: there is none. The caller frees. */
char *find_shared(const char *name);

/* The lab to use: `said` (--lab), else HARNESS_LAB, else "lab" in $XDG_CONFIG_HOME/harness/config.json, else
 * `fallback` (NULL: none), which the document names (NULL: the program does). *why names the source of the
 * choice (a constant). The caller frees. */
char *find_lab(const char *said, const char *document, const char *fallback, const char **why,
               struct error *e);

#endif
