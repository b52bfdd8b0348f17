/* Command lines: one table drives parsing, --help and the bash completion. */
#ifndef LIB_OPTIONS_H
#define LIB_OPTIONS_H

#include "lib/error.h"
#include "lib/units.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
    OPTION_FLAG,     /* int: counts how often it was given              */
    OPTION_STRING,   /* const char *: points into argv                  */
    OPTION_STRINGS,  /* struct option_strings: given several times      */
    OPTION_INTEGER,  /* int64_t, min..max                               */
    OPTION_NUMBER,   /* double                                          */
    OPTION_QUANTITY, /* int64_t in .unit                                */
    OPTION_CHOICE,   /* int: index into .choices                        */
};

struct option_strings {
    const char **items;
    size_t count;
};

struct option_spec {
    const char *name; /* long name without dashes */
    char letter;      /* short form, or 0 */
    enum option_kind kind;
    size_t offset;        /* into the struct that receives values */
    const char *argument; /* "FILE", for the help; NULL for flags */
    const char *help;
    enum unit unit;
    int64_t min, max; /* OPTION_INTEGER and OPTION_QUANTITY, when max > min */
    const char *const *choices;
};

/* Parse argv[1..]; values go to `target` (set defaults before), the rest to *arguments (pointing into argv,
 * in order;
 * "--" ends options). Unknown options name the nearest known one. Free target's option_strings with
 * options_free. */
int options_parse(const struct option_spec *specs, int argc, char **argv, void *target,
                  const char ***arguments, size_t *argument_count, struct error *e);
void options_free(const struct option_spec *specs, void *target, const char **arguments);
/* "usage: PROGRAM SYNOPSIS", then a line an option. */
void options_help(FILE *out, const char *program, const char *synopsis, const char *about,
                  const struct option_spec *specs);

/* The word of `words` (ended by NULL) nearest to `word`, or NULL when none is near. */
const char *options_nearest(const char *word, const char *const *words);

#endif
