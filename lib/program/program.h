/*
 * The frame of every program: one table of commands defines the command line, --help, the usage, the sections
 * of the manual and the bash completion. To add a command, write its file with a const struct command and add
 * it to the program's list.
 */
#ifndef LIB_PROGRAM_H
#define LIB_PROGRAM_H

#include "lib/document/arguments.h"

enum exit_status {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* it ran and has a negative result: a failed check, a difference */
    EXIT_USAGE = 2,
    EXIT_LAB = 3, /* the machine, a host or the lab failed */
    EXIT_SKIPPED = 4,
    EXIT_INTERRUPTED = 130
};

/* The command line that a command receives; the frame owns all of it. */
struct call {
    const void *options;          /* the struct of the command's table */
    const json_t *document;       /* the given options, without defaults */
    const char *const *arguments; /* without the command's name, ended by NULL */
    size_t count;
};

struct command {
    const char *name;                    /* "run"; NULL: the only command of a program without subcommands */
    const char *arguments;               /* for the usage: "SCENARIO", "[HOST...]"; NULL: none */
    const char *about;                   /* one sentence */
    const struct table *options;         /* NULL: only --help */
    size_t least, most;                  /* arguments */
    const char *const *words;            /* what the arguments behind the first may be; NULL: anything */
    int (*run)(const struct call *call); /* the exit status */
};

struct program {
    const char *name;
    const char *about;
    const struct command *const *commands; /* ended by NULL */
    const char *build;                     /* what tells builds of one version apart; NULL: nothing is said */
};

/* The whole of main; returns the exit status. Every program also has --help and --version (with subcommands
 * also "help [COMMAND]" and "version"), and for build and installation "--manual SECTION" (as
 * program_manual), "--completion" (a script for bash) and "--commands". SIGPIPE and SIGXFSZ are ignored: what
 * could not be written is an error (EFBIG: the limit on the size of files). Descriptors 0 to 2 are opened if
 * they are closed. */
int program_main(const struct program *program, int argc, char **argv);
/* Print the error and return the exit status. */
int program_fail(int status, const struct error *e);

/* The mdoc of a section: "synopsis", "common" (the options that every command has), a command's name (its
 * other options), or "whole" and the name (with a heading). -1: unknown section. */
int program_manual(const struct program *program, const char *section, struct text *out);

#endif
