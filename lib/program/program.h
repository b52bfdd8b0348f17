/*
 * The frame of every program: one table of commands defines the command line, --help, the usage, the sections
 * of the manual and the completion in shells. To add a command, write its file with a const struct command
 * and add it to the program's list.
 */
#ifndef LIB_PROGRAM_H
#define LIB_PROGRAM_H

#include "lib/document/arguments.h"
#include "lib/formats/find.h"

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

struct completing;

struct program {
    const char *name;
    const char *about;
    const struct command *const *commands; /* ended by NULL */
    const char *build;                     /* what tells builds of one version apart; NULL: nothing is said */
    /* Offer values for a word of the usage ("KEY=VALUE") that only this program knows (completing_offer);
     * folders are named where it offers none. May be NULL. */
    void (*complete)(const struct completing *c, const char *word);
};

/* The whole of main; returns the exit status. Every program also has --help and --version (with subcommands
 * also "help [COMMAND]" and "version"), and for build and installation "--manual SECTION" (as
 * program_manual), "--completion SHELL" (for its script "--complete WORD...") and "--commands".
 * SIGPIPE and SIGXFSZ are ignored: what could not be written is an error (EFBIG: the limit on the size of
 * files). Descriptors 0 to 2 are opened if they are closed. */
int program_main(const struct program *program, int argc, char **argv);
/* The command of this name; NULL: there is none. */
const struct command *program_command(const struct program *program, const char *name);
/* Print the error and return the exit status. */
int program_fail(int status, const struct error *e);

/* The mdoc of a section: "synopsis", "common" (the options that every command has), a command's name (its
 * other options), or "whole" and the name (with a heading). -1: unknown section. */
int program_manual(const struct program *program, const char *section, struct text *out);

/* ---- completion (complete.c): what may stand next on a command line, from the tables that it is read with.
 * Shells ask the program itself, "PROGRAM --complete WORD..." with the word that is being typed as the last
 * one; the scripts that they load know no word of their own. */

/* A command line that is not whole yet. */
struct completing {
    const struct program *program;
    const struct command *command; /* NULL: it has not been said */
    const char *const *words;      /* behind the program's name */
    size_t count;                  /* at least 1 */
    const char *option;            /* whose value is typed: "--lab"; NULL: an argument, or none */
    const char *typed;             /* so far: the last word, or in it what is behind "--lab=" */
    struct text *out;
};

/* Print a word that may stand there, if it begins with what was typed and has letters, digits, blanks and
 * such marks alone of which a shell runs nothing. `about`: its first sentence is shown beside it; may be
 * NULL. A word that ends in '.' or '=' goes on. */
void completing_offer(const struct completing *c, const char *word, const char *about);
/* The names of all scenarios or labs. */
void completing_offer_names(const struct completing *c, enum find_kind kind);
/* The value that an option ("lab") has on the command line, and the argument at a place; NULL: none. */
const char *completing_value(const struct completing *c, const char *option);
const char *completing_argument(const struct completing *c, size_t place);

/* A line for each word that may stand there: the word, and behind a tab what it is about. The line ":files"
 * or ":folders" says that names of files or folders may, too: these the shell knows better. */
void complete_words(const struct program *program, const char *const *words, size_t count, struct text *out);
/* The script by which a shell (bash, zsh, fish) asks the program. -1: there is none for such a shell. */
int complete_script(const char *program, const char *shell, struct text *out);

#endif
