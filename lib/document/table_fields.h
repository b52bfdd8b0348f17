/* What the parts of the table engine share; others include table.h. */
#ifndef LIB_TABLE_FIELDS_H
#define LIB_TABLE_FIELDS_H

#include "lib/document/table.h"

/* The field's place in the struct. */
void *field_slot(void *object, const struct field *field);
bool field_is_scalar(enum field_kind kind);
/* Bytes of the field in its struct. */
size_t field_size(const struct field *field);
/* The field that describes one item of a list or map. */
struct field field_item(const struct field *field);
/* Are min and max those of the items? Otherwise they are the number of items. */
bool field_has_item_range(const struct field *field);
/* How far apart items lie: scalar map items carry their name in front. */
size_t field_item_size(const struct field *field);
/* Where a map item's value lies: objects begin with their name and are parsed as a whole. */
void *field_map_value(void *item, enum field_kind kind);
/* The default as JSON, a new reference; NULL when there is none. */
json_t *field_fallback(const struct field *field);
const struct field *table_find(const struct table *table, const char *key);

/* "whole number from 1 to 8", "one of a, b": what a field holds. Returns words or a text in buffer. */
const char *field_words(const struct field *field, struct text *buffer);

/* Words as lines of roff: no line begins with a control character, backslashes are written as \\e; a sentence a line. */
void roff_line(struct text *out, const char *words);
void roff_sentences(struct text *out, const char *words);

#endif
