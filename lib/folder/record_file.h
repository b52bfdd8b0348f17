/* A file that a long run appends to. Its stream keeps the reason of the first write that failed: errno is
 * long another one when ferror() is asked. */
#ifndef LIB_RECORD_FILE_H
#define LIB_RECORD_FILE_H

#include "lib/error.h"
#include <stdio.h>

struct record_file {
    FILE *stream; /* to print to; NULL: not open */
    char *path;
    int fd;
    int failed; /* errno of the first write that failed, or 0 */
};

/* Create or empty it. The struct must stay where it is until record_file_close. */
int record_file_open(struct record_file *f, const char *folder, const char *name, struct error *e);
/* Did a write fail? The sentence names the file and the reason. */
int record_file_check(const struct record_file *f, struct error *e);
/* Write what is buffered, and check. */
int record_file_flush(struct record_file *f, struct error *e);
/* The same, and bring it and its name to the disk. */
int record_file_sync(struct record_file *f, struct error *e);
/* As record_file_flush; then close. If a write failed, an incomplete last line is removed. A file that is not
 * open is none. */
int record_file_close(struct record_file *f, struct error *e);

#endif
