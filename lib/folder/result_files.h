/* The files of a run's folder beside result.json, which lists them ("files", docs/result.md): a run is whole
 * while they are as the list says. */
#ifndef LIB_RESULT_FILES_H
#define LIB_RESULT_FILES_H

#include "lib/folder/folder.h"
#include <jansson.h>

/*
 * The list for result.json of what is in the folder of a run: [{"name", "bytes"}], by name. With `sync` all
 * of it is brought to the disk, with the folder and its name in the folder above: what survives a power cut
 * then survives with all that it speaks of. NULL: a file cannot be written to the disk, or memory ran out.
 * Nobody may write to the files any more.
 */
json_t *result_files_list(const char *path, bool sync, struct error *e);
/* Are the files that a result lists in its folder, each of the size that it had, and in a complete one each
 * file of lines with the end of its last line? And does it say what it must
 * of them, of its completeness ("complete") and its phases? -1: the sentence names the first that is not so:
 * it was damaged or edited. Results of versions that listed none pass. */
int result_files_check(const struct folder *folder, const json_t *result, struct error *e);
/* The size of one file alone: -1 if it is listed, is there (a link to it will do), and has another size now.
 */
int result_files_check_size(const struct folder *folder, const json_t *result, const char *name,
                            struct error *e);
/* Is the name one of a file that a run or a sweep has made in this folder, whole or not? What is made of a
 * result later (a trace, an export) is not. */
bool result_files_have(const struct folder *folder, const char *name);

/* Has a folder one of these files (ended by NULL)? */
bool result_files_any(const char *folder, const char *const files[]);
/* The folder that has one of them and was perhaps meant by another one: the last by name in it, or in the
 * only one that is in it; of a folder that does not exist in the one above it. A new string; NULL: there is
 * none. */
char *result_files_meant(const char *folder, const char *const files[]);

#endif
