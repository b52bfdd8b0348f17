/*
 * Folders whose contents may come from elsewhere, such as results that somebody sent. What is in them is
 * reached through the open folder, no link in them is followed, and nothing but a regular file is read: a
 * FIFO or a device could block or act.
 */
#ifndef LIB_FOLDER_H
#define LIB_FOLDER_H

#include "lib/error.h"
#include <stdbool.h>
#include <stddef.h>

struct folder {
    int fd;
    char *path; /* for sentences */
};

/* The folder that a user names: links on the way are followed. After a failure too, folder_close may be
 * called. */
int folder_open(struct folder *f, const char *path, struct error *e);
/* A folder in it, which must not be a link; `make`: made if it does not exist. */
int folder_open_in(struct folder *f, const struct folder *in, const char *name, bool make, struct error *e);
void folder_close(struct folder *f);

/* Open a regular file in it for reading. -1 with errno ENOENT if it does not exist. The caller closes. */
int folder_open_file(const struct folder *f, const char *name, struct error *e);
/* Is there anything of this name, a link too? */
bool folder_has(const struct folder *f, const char *name);
/* May a new file take this name? Only from a file or a link, which is not followed: devices, FIFOs, sockets
 * and folders are not replaced. */
int folder_check_place(const struct folder *f, const char *name, struct error *e);
/* Write a file that does not exist yet, to the disk: one that cannot be written whole is removed. */
int folder_create(const struct folder *f, const char *name, const char *data, size_t length, struct error *e);
/* Write all bytes to an open file, and with `sync` to the disk; `path` is for sentences. */
int folder_fill(int fd, const char *path, const char *data, size_t length, bool sync, struct error *e);

/* Bring the contents of all regular files in it to the disk, but for those whose names begin with a dot. */
int folder_sync_files(const struct folder *f, struct error *e);
/* Bring the folder's own entries to the disk ("."), or those of the folder above it (".."): names of files
 * and folders in it that a power cut may not take. File systems that cannot do that pass, and so does a
 * folder that may not be read. */
int folder_sync(const struct folder *f, const char *which, struct error *e);

#endif
