/*
 * Values that rarely change and are expensive to read (each may be a command to the NIC's firmware), each in
 * a small file. Every read of the source refreshes a few of them in turn, enough to refresh all within a
 * second.
 */
#ifndef COLLECTORS_SLOW_FILES_H
#define COLLECTORS_SLOW_FILES_H

#include "collectors/sources/source.h"

/* Format of a value in its file. */
enum slow_text {
    SLOW_NUMBER,     /* "300" */
    SLOW_PORT_SPEED, /* "25000": Mb/s; -1 of a port whose speed is not known */
    SLOW_LINK_SPEED, /* "8.0 GT/s PCIe": MT/s */
    SLOW_AER_TOTAL,  /* lines of names and counts; the one that begins with TOTAL_ERR */
};

struct slow_files;

struct slow_files *slow_files_new(const struct target *target, struct error *e);
/* Add a column for a file below the target's root, if that can be opened. Returns 1 when it was opened, 0
 * when it cannot be opened, -1 on other errors. */
int slow_files_add(struct slow_files *s, struct column_set *columns, const char *name, enum slow_text text,
                   const char *path, struct error *e);
/* The functions read and close of such a source. */
enum source_outcome slow_files_read(void *state, int64_t *values, struct error *e);
void slow_files_close(void *state);

/* The value in a text of this kind; LINES_NULL when it is not one. */
int64_t slow_text_value(enum slow_text text, const char *data, size_t length);

#endif
