/* The frame of a program that takes options only: --help, --version, wrong usage, and then its work. */
#ifndef COLLECTORS_PROGRAM_H
#define COLLECTORS_PROGRAM_H

#include "lib/document/options.h"

enum program_exit { EXIT_DONE = 0, EXIT_FAILED_CHECK = 1, EXIT_USAGE = 2, EXIT_LAB = 3 };

/* What both programs take; the first member of their arguments. */
struct program_arguments {
    const char *root; /* NULL: the running host */
    int help, version;
};

/* The options of program_arguments: the last of a program's table, with the end of it. `below` is what --root redirects. */
#define PROGRAM_OPTIONS(below)                                          \
    {.name = "root",                                                    \
     .kind = OPTION_STRING,                                             \
     .offset = offsetof(struct program_arguments, root),                \
     .argument = "DIR",                                                 \
     .help = "read " below " below DIR instead of the running host's"}, \
        {.name = "help",                                                \
         .letter = 'h',                                                 \
         .kind = OPTION_FLAG,                                           \
         .offset = offsetof(struct program_arguments, help),            \
         .help = "show this"},                                          \
        {.name = "version",                                             \
         .kind = OPTION_FLAG,                                           \
         .offset = offsetof(struct program_arguments, version),         \
         .help = "show the version"},                                   \
    {                                                                   \
        0                                                               \
    }

struct program_spec {
    const char *name, *synopsis, *about;
    const struct option_spec *specs;
    int (*work)(const void *arguments); /* the exit status */
};

/* main's work: `arguments` begins with a struct program_arguments and holds the defaults. Returns the exit status. */
int program_run(const struct program_spec *program, int argc, char **argv,
                struct program_arguments *arguments);
/* Say what went wrong, and pass the exit status on. */
int program_fail(int status, const struct error *e);

#endif
