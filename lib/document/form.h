/*
 * What a string may be. Every string and every name of a document has a form: a line of text, unless its
 * field names a narrower one. Names reach paths, commands, and files that root reads, so what must not stand
 * there is refused where a document is read.
 */
#ifndef LIB_FORM_H
#define LIB_FORM_H

#include "lib/text.h"
#include <stdbool.h>
#include <stddef.h>

struct form {
    const char *is;       /* "a valid name": for "X is not a valid name" */
    const char *expected; /* "at most 64 letters and digits", for the same sentence and for manuals */
    bool (*fits)(const char *text); /* NULL: it is a word of these */
    const char *characters;         /* of a word besides letters and digits */
    size_t most;                    /* bytes of a word */
    const char *pattern;            /* what fits says, as a pattern of JSON Schema; NULL: no pattern has it */
    const char *also; /* words that are written out before it is read, as ranges are; NULL: there are none */
};

bool form_fits(const struct form *form, const char *text);
/* The pattern of a form in JSON Schema, for texts in which ranges of names ("h[0-3]", and {} for the number)
 * are not yet written out, unless it is `single`; false: none has it. */
bool form_pattern(const struct form *form, bool single, struct text *out);

/* Text of one line: no control characters. Titles and descriptions, and what has no other form. */
extern const struct form form_line;
/* Any text: of messages between programs, which are printed and nothing else. */
extern const struct form form_any;
/* One part of a path, and of names of domains, networks and pools. */
extern const struct form form_name;
/* The same without dots, which separate the parts of paths and expressions: roles and flows. They have at
 * most FORM_ROLE_MOST bytes, and what reads results has room for them. */
#define FORM_ROLE_MOST 100
extern const struct form form_role;
/* A role, or ROLE.NIC, one of the NICs of its host; a flow, or FLOW.NIC. */
extern const struct form form_nic_of;
/* The same, or "*" for all hosts, or "*3" for the fourth of them. */
extern const struct form form_roles;
/* A name that other programs chose: domains, networks and devices. */
extern const struct form form_word;
/* The key of a map: a priority, a DSCP. */
extern const struct form form_priority, form_dscp;
/* A destination of ssh: a host of the user's configuration, or USER@HOST. */
extern const struct form form_destination;

#endif
