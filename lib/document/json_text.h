/*
 * JSON values of bytes that may be anything. Jansson makes no value of bytes that are not UTF-8, and NULL
 * must not be taken for a failed output: the values below are made of any bytes. A byte that is not UTF-8,
 * and NUL, becomes words such as \xff (VISIBLE_UTF8, lib/output/visible.h). Programs make strings only
 * through these; NULL means out of memory.
 */
#ifndef LIB_JSON_TEXT_H
#define LIB_JSON_TEXT_H

#include "lib/text.h"
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

/* A string; NULL of NULL. */
json_t *json_text(const char *bytes);
json_t *json_textn(const char *bytes, size_t length);
/* As printf and vprintf. */
json_t *json_textf(const char *format, ...) __attribute__((format(printf, 1, 2)));
json_t *json_text_list(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
/* As json_pack() with the formats s, s%, i, I, b, f, o, O and n, with ? or * after it, also {} and []. A
 * string of NULL, an object of NULL and a number that is not finite are null. */
json_t *json_make(const char *format, ...);
/* A value as it is shown in a sentence: compact JSON, numbers with the 15 digits that a person may have
 * written. json_bare: a string without its quotes. The caller frees; NULL when memory ran out. */
char *json_shown(const json_t *value);
char *json_bare(const json_t *value);
/* `over` merged over `there` (NULL: nothing): objects key by key, where null removes a key; other values are
 * replaced. RFC 7396. A new reference, which shares the parts of `there` that stay. */
json_t *json_merged(const json_t *there, const json_t *over);
/* Merge `over` into `into`: objects key by key; other values, and null, are put in. */
void json_merge_deep(json_t *into, const json_t *over);
/* Add the same text for values that are the same: 20 and 20.0, "64KiB" and "65536B", 0 and "0ms". */
void json_add_canonical(const json_t *value, struct text *out);
/* Add what two documents differ in to the words, at most `most` places: "settings.mtu was 4200 and is 1500".
 * Values are compared by their canonical text. Items of lists are compared by their places, and called by
 * their "name". Returns in how many places they differ. */
size_t json_changes(const json_t *was, const json_t *is, size_t most, struct text *words);
/* Is there no such place? So are values that people wrote compared. NULL is the same as nothing. */
bool json_same(const json_t *one, const json_t *other);
/* Is it in the list? NULL has nothing. */
bool json_list_has(const json_t *list, const json_t *value);
/* The keys of an object (NULL: of none), a list: a new reference. */
json_t *json_keys(const json_t *object);
/* As json_object_set_new(), for a key that is not our own word. */
int json_put(json_t *object, const char *key, json_t *value);
/* Compact JSON for a script of an HTML page: ASCII alone, so no line separator ends a string, and without <,
 * >, & and DEL, so nothing in it ends the script or begins a comment of HTML. */
void json_add_for_page(struct text *out, const json_t *value);
/* The document on standard output or a file, with a line feed, its numbers with `digits` digits; 0, or -1
 * with errno when it could not be written. A terminal gets ASCII alone: JSON's own escapes. */
int json_print(FILE *file, const json_t *document, int digits);

#endif
