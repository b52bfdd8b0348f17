/*
 * The one reader of JSON. Any text may come from elsewhere: its bytes, its depth and the memory that its
 * values will take are checked before a value is made. Objects of three bytes ("{},") take 480 in memory, so
 * that a limit on the bytes of a text alone would not do.
 */
#ifndef LIB_JSON_FILE_H
#define LIB_JSON_FILE_H

#include "lib/error.h"
#include "lib/folder/folder.h"
#include "lib/text.h"
#include <jansson.h>
#include <stddef.h>

/* What a text is; its limits are in the table of json_file.c and in docs/security.md. */
enum document_kind {
    DOCUMENT_SCENARIO, /* written by people: also settings, profiles, bundles, jobs, policies */
    DOCUMENT_LAB,
    DOCUMENT_RESULT,  /* result.json */
    DOCUMENT_INDEX,   /* index.json of a sweep */
    DOCUMENT_REQUEST, /* request.json of a sweep: a scenario and a lab, indented */
    DOCUMENT_ANSWER,  /* what a program on a host prints, and the records of what was done there */
    DOCUMENT_LINE,    /* a line of samples and flows, a record of a journal, a value of the command line */
    DOCUMENT_MESSAGE  /* of a peer of roce-traffic */
};

/* Documents that people write may have comments: members whose keys begin so, which are not in the value. */
#define JSON_COMMENT "//"
/* Take them out of a value that people wrote elsewhere, as in --set. */
void json_drop_comments(json_t *value);

/* Load a document. Errors name path, line and column. The caller owns the value. */
json_t *json_file_load(const char *path, enum document_kind kind, struct error *e);
/* The same of a file in a folder from elsewhere: a regular file, not a link. */
json_t *json_file_load_in(const struct folder *folder, const char *name, enum document_kind kind,
                          struct error *e);
/* The same of the parts that `paths` lead to (as of json_parts): what else is in the file is hardly looked
 * at. */
json_t *json_file_load_parts_in(const struct folder *folder, const char *name, enum document_kind kind,
                                const char *const *paths, struct error *e);
/* The same from an open file, pipe or socket; `name` is for sentences. */
json_t *json_file_load_descriptor(int fd, const char *name, enum document_kind kind, struct error *e);
/* The same from the next line; what comes after it is left unread. */
json_t *json_file_load_next_line(int fd, const char *name, enum document_kind kind, struct error *e);
/* The text of such a file, for json_file_parse; the caller frees it. */
char *json_file_read(const char *path, enum document_kind kind, size_t *length, struct error *e);
/* The same of a text in memory; any value, not only an object or a list, if the kind is a line. */
json_t *json_file_parse(const char *text, size_t length, const char *name, enum document_kind kind,
                        struct error *e);
/*
 * Add to `out` the text of the object without the members that no path leads to: making all values of a
 * result takes twenty times as long as finding the few that are wanted. `paths`, at most JSON_PARTS_MOST and
 * ended by NULL, are keys with dots between them: "hosts.*.counters.rx_prio#_pause.delta", where a key "*" is
 * any, and "#" in one is one or more digits. What a path names is copied whole. Lists are not looked into,
 * and a key with escapes matches nothing. Fails if the text is not an object, or ends too early; what is
 * wrong inside of what is left out is not found.
 */
#define JSON_PARTS_MOST 64
int json_parts(const char *text, size_t length, const char *const *paths, struct text *out, struct error *e);
/* What the values of a text will take in memory, about, in bytes. */
size_t json_file_memory(const char *text, size_t length, size_t *depth);
/* The same of values, for what copies them. */
size_t json_file_memory_of(const json_t *value);
/* How many bytes of text and of memory a document may take. */
void json_file_limits(enum document_kind kind, size_t *text_bytes, size_t *memory_bytes);
/* Write atomically: a temporary file in the same folder, fsync, rename. */
int json_file_save(const char *path, const json_t *value, struct error *e);
/* The same without fsync (files_write_soon). */
int json_file_save_soon(const char *path, const json_t *value, struct error *e);
/* The same, unless json_file_load would refuse it: then nothing is written. `soon`: without fsync. */
int json_file_save_readable(const char *path, const json_t *value, enum document_kind kind, bool soon,
                            struct error *e);

#endif
