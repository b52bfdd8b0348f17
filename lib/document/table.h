/*
 * One table for each document type or command line. It determines parsing, defaults, ranges, error sentences,
 * the JSON Schema, --help, the man page and the completion. A table describes a C struct; table_parse fills
 * the struct from a JSON object, table_parse_options from a command line (lib/document/arguments.h).
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
        max; /* when max > min, or both are the same and not 0: the range of FIELD_INTEGER and FIELD_QUANTITY
                and of such items; for other lists and maps the range of the number of items */
    double min_number, max_number; /* FIELD_NUMBER when max > min */
    const char *const *choices;    /* FIELD_CHOICE, or items of that kind; ended by NULL */
    enum field_kind item;          /* FIELD_LIST, FIELD_MAP */
    const struct table *sub;       /* FIELD_OBJECT, FIELD_OPTIONAL, lists and maps of objects */
    const struct form
        *form; /* FIELD_STRING, or such items; NULL: form_line in a document, any text on a command line */
    const struct form *names; /* FIELD_MAP: of the names; NULL: form_line */
    bool single;              /* a name of which no range of names is written out */
    bool inherits;            /* missing values may come from a lab's "defaults": table_resolve adds none */
    bool any_order;           /* a list whose items mean the same in any order, and repeated */
    /* On a command line only: */
    char letter;          /* the short option, or 0 */
    const char *argument; /* the word for the value: "FILE"; NULL: by kind */
};

struct table {
    const char *name; /* "scenario.flow" */
    const char *help;
    size_t size;                /* sizeof the struct */
    const struct field *fields; /* ended by a field without name */
    /* Checks beyond the range of one field; path is the object's place in the document ("flows[1]"). May be
     * NULL. */
    int (*check)(const void *object, const char *path, struct error *e);
};

/* Fill *object (of table->size bytes) from json. On error nothing is left allocated and the sentence names
 * path, value and what is allowed; an unknown key names the nearest known one. */
int table_parse(const struct table *table, const json_t *json, void *object, struct error *e);
/* Add the sentences of all errors, a line each: what table_parse says is the first. Returns how many. */
size_t table_errors(const struct table *table, const json_t *json, struct text *errors);
/* The same from the options of a command line: sentences name options ("--queue-pairs") instead of keys, and
 * a flag that was not given is 0. */
int table_parse_options(const struct table *table, const json_t *json, void *object, struct error *e);
/* Fill *object with the defaults of the table; fields without default are unset. Nothing is checked. Returns
 * 0, or -1 when out of memory (nothing is left allocated). Free with table_free. */
int table_defaults(const struct table *table, void *object);
/* Free what table_parse allocated inside object (not object itself) and zero it. */
void table_free(const struct table *table, void *object);
/* Could a path ("flows.*.depth"; a part may be a glob) lead to a value in a document of the table? The
 * sentence names the nearest key. */
int table_check_path(const struct table *table, const char *path, struct error *e);
/* Call `found` with each field that such a path leads to in a document of the table: of an item of a list or
 * map ("flows.*"), with what describes an item. */
typedef void table_found(void *context, const struct field *field);
void table_at_path(const struct table *table, const char *path, table_found *found, void *context);
/* The checks of table_parse for a struct that was not filled from a document: numbers, choices and
 * sub-objects are within their ranges, and table->check passes. Optional fields may be unset. The sentence
 * begins with `of`. */
int table_check(const struct table *table, const void *object, const char *of, struct error *e);
/*
 * Add the values at a path such as "name", "hosts.*.pin.vcpus" or "links.0.rate" to `out`, one per line. A
 * part is a key; in a map the name of an item, in a list its index, or "*" for all items in order. Quantities
 * and other numbers are whole numbers of their unit ("memory": bytes), a map gives the names of its items, an
 * object and a list of objects give nothing of their own. A value that is not set is an empty line; with "*"
 * it is left out. Fails when the path names a key or an item that there is not.
 */
int table_get(const struct table *table, const void *object, const char *path, struct text *out,
              struct error *e);
/* A document with the object's strings, numbers, flags, choices and embedded objects; table_parse reads them
 * back. Unset fields, lists, maps and optional objects are left out. A new reference, or NULL when out of
 * memory. */
json_t *table_write(const struct table *table, const void *object);
/* A new JSON object equal to json with every default written out. The caller owns it. */
json_t *table_resolve(const struct table *table, const json_t *json);
/* What json says, as one value for all ways to write it: with every default, no null, quantities and numbers
 * in whole units ("64KiB": 65536), lists whose order says nothing sorted. json is one that table_parse takes,
 * with the values of a lab's "defaults" written out. The caller owns it; it is for comparing, and not a
 * document. */
json_t *table_plain(const struct table *table, const json_t *json);
/* The JSON Schema (draft 2020-12) of a document of this type. The caller owns it. */
json_t *table_schema(const struct table *table);
/* The fields as man page (mdoc) lists, sub-tables after their parents. */
void table_manual(const struct table *table, struct text *out);

/* ---- for what walks over fields */

bool field_is_scalar(enum field_kind kind);
/* The field that describes one item of a list or map. */
struct field field_item(const struct field *field);
/* The items that a list or map of a document may have without a range of its own. */
#define FIELD_ITEMS_MOST 100000
/* Has it the range from min to max? */
bool field_has_range(const struct field *field);
/* Are min and max those of the items? Otherwise they are the number of items. */
bool field_has_item_range(const struct field *field);
/* How far apart items lie: scalar map items carry their name in front. */
size_t field_item_size(const struct field *field);
/* Where a map item's value lies: objects begin with their name and are parsed as a whole. */
void *field_map_value(void *item, enum field_kind kind);
/* The default as JSON, a new reference; NULL when there is none. */
json_t *field_fallback(const struct field *field);
/* The key of the table that was probably meant, or NULL. */
const char *table_nearest_key(const struct table *table, const char *word);
/* "whole number from 1 to 8", "one of a, b": what a field holds. Returns words or a text in buffer. */
const char *field_words(const struct field *field, struct text *buffer);
/* Words as lines of roff: no line begins with a control character, backslashes are written as \\e; one
 * sentence per line. */
void roff_line(struct text *out, const char *words);
void roff_sentences(struct text *out, const char *words);

#endif
