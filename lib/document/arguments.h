/*
 * Command lines use the same tables as documents. A field is an option with its name, with '-' for '_'. A
 * FIELD_BOOL is a flag, a FIELD_LIST of scalars may be given several times, the fields of a FIELD_OBJECT are
 * options too, and all other kinds are given as JSON. Fields without help are options that are not listed.
 */
#ifndef LIB_ARGUMENTS_H
#define LIB_ARGUMENTS_H

#include "lib/document/table.h"
#include <stdio.h>

/* A new JSON object with only the options of argv[1..]; its values are not checked yet: table_parse_options
 * does that. Words that are not options go to *rest in order, as pointers into argv; "--" ends options. The
 * caller frees *rest. On error nothing is left allocated; an unknown option names the nearest known one. */
json_t *arguments_read(const struct table *table, int argc, char **argv, const char ***rest, size_t *count,
                       struct error *e);

/* Print one line for each option, for --help. */
void arguments_help(FILE *out, const struct table *table);
/* Options as a man page (mdoc) list; nothing if there are no options. `fields` is ended by NULL. */
void arguments_manual(const struct field *const *fields, struct text *out);
/* Print words for a terminal of 80 columns. The first line is already at this column; further lines begin in
 * it. */
void arguments_wrap(FILE *out, const char *words, size_t column);

/* The table's listed options in order, ended by NULL; options of a FIELD_OBJECT come after those of its
 * parent. The caller frees. */
const struct field **arguments_list(const struct table *table);
/* "queue-pairs" of queue_pairs, for an option's name; returns buffer. */
#define ARGUMENT_NAME_SIZE 64
const char *arguments_name(const struct field *field, char buffer[ARGUMENT_NAME_SIZE]);
/* "FILE", "N", "TIME", "on|off": the word for the value; NULL for a flag. Returns a constant or buffer. */
const char *arguments_word(const struct field *field, char buffer[ARGUMENT_NAME_SIZE]);
/* The option that a word of a command line names ("--name", "--name=value", "-n"), or NULL. */
const struct field *arguments_find(const struct table *table, const char *word);
/* Is the value of the option that this word names the word behind it? */
bool arguments_value_follows(const struct field *field, const char *word);

#endif
