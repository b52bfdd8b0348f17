/*
 * Outputs that a user names, or that have a name in a result: what may they replace? One rule for all
 * programs: what is of the output's own kind, where there is --force only with it, or a link, which is not
 * followed. A link of a name that the program chose may come from elsewhere, and is replaced. What is not a
 * file (a device, a FIFO, a folder), and the files of a result, no output replaces.
 */
#ifndef LIB_OUTPUT_H
#define LIB_OUTPUT_H

#include "lib/folder/folder.h"

struct output {
    const char *what;   /* "a trace" */
    const char *begins; /* as each file of the kind; NULL: with --force it replaces any file */
    size_t length;
    const char *also; /* what such a file has at `also_at`, of `also_length` bytes; NULL: nothing */
    size_t also_at, also_length;
    bool can_force;   /* there is --force */
    bool force;       /* and it was given */
    bool takes_links; /* the name is not one that a user chose: a link is replaced, to whatever it leads */
};

/* May the output take this name? -1: the sentence says what has it. */
int output_check(const struct folder *in, const char *name, const struct output *o, struct error *e);
/* The same of a path. */
int output_check_path(const char *path, const struct output *o, struct error *e);

#endif
