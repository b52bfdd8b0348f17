/*
 * One table for each document type or command line. It determines parsing, defaults, ranges, error sentences, the JSON Schema,
 * --help, the man page and the completion. A table describes a C struct; table_parse fills the struct from a JSON object,
 * arguments_fill (lib/document/arguments.h) from a command line.
 */
#ifndef LIB_TABLE_H
#define LIB_TABLE_H

#include "lib/document/form.h"
#include "lib/error.h"
#include "lib/text.h"
#include "lib/units.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of a field that is not in the document and has no default. */
#define FIELD_UNSET INT64_MIN

enum field_kind {
    FIELD_STRING,   /* char *            (NULL when unset)                               */
    FIELD_BOOL,     /* int               (1, 0, or -1 when unset)                        */
    FIELD_INTEGER,  /* int64_t           (FIELD_UNSET when unset)                        */
    FIELD_NUMBER,   /* double            (NAN when unset)                                */
    FIELD_QUANTITY, /* int64_t in .unit  (FIELD_UNSET when unset), written with a unit   */
    FIELD_CHOICE,   /* int: index into .choices (-1 when unset)                          */
    FIELD_OBJECT,   /* struct of .sub, embedded; its defaults apply when it is absent    */
    FIELD_OPTIONAL, /* struct of .sub *, NULL when absent                                */
    FIELD_LIST,     /* struct list_of: items of .item (scalars, or objects of .sub)      */
    FIELD_MAP,      /* struct list_of: as a list; object items begin with `char *name`,
                       scalar items are struct named_integer / named_string              */
    FIELD_JSON,     /* json_t *          any value, a new reference (NULL when unset)    */
};

/* A list or map in a struct. `items` is one array of the item's C type. */
struct list_of {
    void *items;
    size_t count;
};
struct named_integer {
    char *name;
    int64_t value;
};
struct named_string {
    char *name;
    char *value;
};

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    const char *help;     /* sentences for schema and man page; --help shows only the first */
    const char *fallback; /* the default as JSON text, e.g. "\"10ms\"" or "128"; NULL: none */
    bool required;
    enum unit unit; /* FIELD_QUANTITY, or items of that kind */
    int64_t min,
        max; /* when max > min: the range of FIELD_INTEGER and FIELD_QUANTITY and of such items; for other
                         lists and maps the range of the number of items */
    double min_number, max_number; /* FIELD_NUMBER when max > min */
    const char *const *choices;    /* FIELD_CHOICE, or items of that kind; ended by NULL */
    enum field_kind item;          /* FIELD_LIST, FIELD_MAP */
    const struct table *sub;       /* FIELD_OBJECT, FIELD_OPTIONAL, lists and maps of objects */
    const struct form
        *form; /* FIELD_STRING, or such items; NULL: form_line in a document, any text on a command line */
    const struct form *names; /* FIELD_MAP: of the names; NULL: form_line */
    bool
        inherits; /* missing values of it may come from elsewhere (a lab's "defaults"): table_resolve does not add defaults to it */
    /* On a command line only: */
    char letter;          /* the short option, or 0 */
    const char *argument; /* the word for the value: "FILE"; NULL: by kind */
};

struct table {
    const char *name; /* "scenario.flow" */
    const char *help;
    size_t size;                /* sizeof the struct */
    const struct field *fields; /* ended by a field without name */
    /* Checks beyond the range of one field; path is the object's place in the document ("flows[1]"). May be NULL. */
    int (*check)(const void *object, const char *path, struct error *e);
};

/* Fill *object (of table->size bytes) from json. On error nothing is left allocated and the sentence names
 * path, value and what is allowed; an unknown key names the nearest known one. */
int table_parse(const struct table *table, const json_t *json, void *object, struct error *e);
/* Fill *object with the defaults of the table; fields without default are unset. Nothing is checked. Returns 0, or -1 when out of
 * memory (nothing is left allocated). Free with table_free. */
int table_defaults(const struct table *table, void *object);
/* Free what table_parse allocated inside object (not object itself) and zero it. */
void table_free(const struct table *table, void *object);
/* Could a path ("flows.*.depth"; a part may be a glob) lead to a value in a document of the table? The sentence names the nearest
 * key. */
int table_check_path(const struct table *table, const char *path, struct error *e);
/* The checks of table_parse for a struct that was not filled from a document: numbers, choices and sub-objects are within their
 * ranges, and table->check passes. Optional fields may be unset. The sentence begins with `of`. */
int table_check(const struct table *table, const void *object, const char *of, struct error *e);
/* A new JSON object equal to json with every default written out. The caller owns it. */
json_t *table_resolve(const struct table *table, const json_t *json);
/* The JSON Schema (draft 2020-12) of a document of this type. The caller owns it. */
json_t *table_schema(const struct table *table);
/* The fields as man page (mdoc) lists, sub-tables after their parents. */
void table_manual(const struct table *table, struct text *out);

#endif
