/* Files and folders. */
#ifndef LIB_FILES_H
#define LIB_FILES_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>

/* Open for reading, without waiting for whoever may open the other end of a FIFO, which is refused. The
 * caller closes. */
int files_open(const char *path, struct error *e);
/* Read a whole file of at most `limit` bytes (sysfs and procfs too). The caller frees; *length may be
 * NULL. */
char *files_read(const char *path, size_t limit, size_t *length, struct error *e);
/* As files_read, of an open file, pipe or socket to its end; `path` is for sentences. */
char *files_read_descriptor(int fd, const char *path, size_t limit, size_t *length, struct error *e);
/* As files_read, without trailing white space. */
char *files_read_line(const char *path, struct error *e);
/* Replace path atomically (lib/folder/fresh.h: a file in the same folder, fsync, rename). */
int files_write_atomic(const char *path, const char *data, size_t length, struct error *e);
/* The same without fsync: a kill leaves the old file or the new one, a power cut perhaps none. */
int files_write_soon(const char *path, const char *data, size_t length, struct error *e);
/* Remove the files of a folder whose names one of the globs matches, a list that ends with NULL. */
void files_remove_matching(const char *folder, const char *const *globs);
/* Write to an existing file in place (sysfs). */
int files_write(const char *path, const char *data, struct error *e);
/* mkdir -p; what was made survives a power cut. */
int files_make_folders(const char *path, struct error *e);
/* Rename a file that another program has written, in the place of what is there: its contents are on the disk
 * before its name is. */
int files_publish(const char *from, const char *to, struct error *e);
/* Bring the name of a file or folder to the disk, in the folder that it is in: after a rename, or when it was
 * made. */
int files_sync_name(const char *path, struct error *e);
/* rm -r; links are not followed. It is not an error if the path does not exist. */
int files_remove_tree(const char *path, struct error *e);
bool files_exist(const char *path);
/* Do both paths lead to one file or folder? Not if one of them leads nowhere. */
bool files_are_one(const char *path, const char *other);
/* A path's name in its folder, which is at the end of `path`; *folder: the folder's path, "." if none is
 * named. The caller frees *folder; NULL: out of memory. */
const char *files_split(const char *path, char **folder);
/* Join with one slash into a new string. The caller frees. */
char *files_join(const char *folder, const char *name);

#endif
