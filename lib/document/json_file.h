/* JSON documents on disk. */
#ifndef LIB_JSON_FILE_H
#define LIB_JSON_FILE_H

#include "lib/error.h"
#include <jansson.h>

/* Load a document (at most 16 MiB). Errors name path, line and column. The caller owns the value. */
json_t *json_file_load(const char *path, struct error *e);
/* The same from an open file, pipe or socket; `name` is for sentences. */
json_t *json_file_load_descriptor(int fd, const char *name, struct error *e);
/* Write atomically: a temporary file in the same folder, fsync, rename. */
int json_file_save(const char *path, const json_t *value, struct error *e);

#endif
