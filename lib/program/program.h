/*
 * The frame of every program: one table of commands, from which come the command line, --help, the usage, the sections of the manual
 * and the bash completion. To add a command write its file with a const struct command, and name it in the program's list.
 */
#ifndef LIB_PROGRAM_H
#define LIB_PROGRAM_H

#include "lib/document/arguments.h"

enum exit_status {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* it ran, and found what it was asked to look for: a failed check, a difference */
    EXIT_USAGE = 2,
    EXIT_LAB = 3, /* the machine, a host or the lab failed */
    EXIT_SKIPPED = 4,
    EXIT_INTERRUPTED = 130
};

/* A command line as a command gets it; all of it belongs to the frame. */
struct call {
    const void *options;          /* the struct of the command's table */
    const json_t *document;       /* what the command line says of it, without defaults */
    const char *const *arguments; /* without the command's name, ended by NULL */
    size_t count;
};

struct command {
    const char *name;                    /* "run"; NULL: the only command of a program without subcommands */
    const char *arguments;               /* for the usage: "SCENARIO", "[HOST...]"; NULL: none */
    const char *about;                   /* one sentence */
    const struct table *options;         /* NULL: none but --help */
    size_t least, most;                  /* arguments */
    int (*run)(const struct call *call); /* the exit status */
};

struct program {
    const char *name;
    const char *about;
    const struct command *const *commands; /* ended by NULL */
};

/* main's work; returns the exit status. Every program also takes --help and --version, with subcommands "help [COMMAND]" and "version", and for
 * those who build and install it "--manual SECTION" (as program_manual), "--completion" (a script for bash) and "--commands". */
int program_main(const struct program *program, int argc, char **argv);
/* Print the error and return the exit status. */
int program_fail(int status, const struct error *e);

/* ---- parts of the frame */

/* "run [OPTION...] SCENARIO" */
void program_usage(const struct command *command, struct text *out);
/* The mdoc of a section: "synopsis", "common" (the options that every command has), a command's name (its other options), or "whole" and the name (with a heading). -1: there is
 * no such section. */
int program_manual(const struct program *program, const char *section, struct text *out);
void program_completion(const struct program *program, struct text *out);

#endif
