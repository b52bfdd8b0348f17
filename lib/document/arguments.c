#include "lib/document/arguments.h"

#include "lib/document/nearest.h"
#include "lib/document/table_fields.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names */

const char *arguments_name(const struct field *field, char buffer[ARGUMENT_NAME_SIZE])
{
    snprintf(buffer, ARGUMENT_NAME_SIZE, "%s", field->name);
    for (char *p = buffer; *p; p++)
        if (*p == '_')
            *p = '-';
    return buffer;
}

static void add_listed(const struct table *table, const struct field **fields, size_t *count)
{
    for (const struct field *f = table->fields; f->name; f++)
        if (f->kind != FIELD_OBJECT && f->help) {
            if (fields)
                fields[*count] = f;
            ++*count;
        }
    for (const struct field *f = table->fields; f->name; f++)
        if (f->kind == FIELD_OBJECT)
            add_listed(f->sub, fields, count);
}

const struct field **arguments_list(const struct table *table)
{
    size_t count = 0;
    add_listed(table, NULL, &count);
    const struct field **fields = calloc(count + 1, sizeof *fields);
    count = 0;
    if (fields)
        add_listed(table, fields, &count);
    return fields;
}

/* ---- finding */

/* The option to find: a name of a given length, or a letter. */
struct key {
    const char *name;
    size_t length;
    char letter;
};

static bool is_option(const struct field *field, const struct key *key)
{
    char name[ARGUMENT_NAME_SIZE];
    if (!key->name)
        return field->letter && field->letter == key->letter;
    arguments_name(field, name);
    return strlen(name) == key->length && strncmp(name, key->name, key->length) == 0;
}

static const struct field *find_option(const struct table *table, const struct key *key)
{
    for (const struct field *f = table->fields; f->name; f++) {
        const struct field *found = f->kind == FIELD_OBJECT ? find_option(f->sub, key)
                                    : is_option(f, key)     ? f
                                                            : NULL;
        if (found)
            return found;
    }
    return NULL;
}

const struct field *arguments_find(const struct table *table, const char *word)
{
    struct key key = {.name = word + 2, .length = strcspn(word, "=") - 2};
    if (word[0] != '-' || !word[1])
        return NULL;
    if (word[1] != '-')
        key = (struct key){.letter = word[1]};
    return find_option(table, &key);
}

static int unknown_option(const struct table *table, const char *name, size_t length, struct error *e)
{
    char word[ARGUMENT_NAME_SIZE], buffer[ARGUMENT_NAME_SIZE];
    size_t n = 0;
    const struct field **fields = arguments_list(table);
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    while (fields && fields[n])
        n++;
    char **names = calloc(n + 1, sizeof *names);
    for (size_t i = 0; names && i < n; i++)
        names[i] = strdup(arguments_name(fields[i], buffer));
    const char *near = names ? nearest_word(word, (const char *const *)names) : NULL;
    if (near)
        error_set(e, "unknown option --%s; did you mean --%s?", word, near);
    else
        error_set(e, "unknown option --%s", word);
    for (size_t i = 0; names && i < n; i++)
        free(names[i]);
    free(names);
    free(fields);
    return -1;
}

/* ---- values */

static json_t *number_of(const char *value)
{
    char *end;
    errno = 0;
    long long whole = strtoll(value, &end, 10);
    if (end != value && !*end && !errno)
        return json_integer(whole);
    double real = strtod(value, &end);
    return end != value && !*end && isfinite(real) ? json_real(real) : NULL;
}

/* A value as in a document. A word that does not fit the kind becomes a string, which the table then refuses. */
static json_t *value_of(const struct field *field, const char *value)
{
    json_t *json = NULL;
    switch (field->kind) {
    case FIELD_STRING:
    case FIELD_QUANTITY:
    case FIELD_CHOICE:
        break;
    case FIELD_INTEGER:
    case FIELD_NUMBER:
        json = number_of(value);
        break;
    default:
        json = json_loads(value, JSON_DECODE_ANY, NULL);
        break;
    }
    /* A path may have any bytes: the command reads them as they are. */
    return json ? json : json_string_nocheck(value);
}

/* The object of the document that contains the field; it is created if it does not exist. */
static json_t *object_of(const struct table *table, const struct field *field, json_t *document)
{
    for (const struct field *f = table->fields; f->name; f++) {
        if (f == field)
            return document;
        if (f->kind != FIELD_OBJECT)
            continue;
        json_t *inner = json_object_get(document, f->name), *made = inner ? NULL : json_object();
        json_t *found = object_of(f->sub, field, inner ? inner : made);
        if (found && made)
            json_object_set(document, f->name, made);
        json_decref(made);
        if (found)
            return found;
    }
    return NULL;
}

static int set_value(const struct table *table, const struct field *field, json_t *value, json_t *document,
                     struct error *e)
{
    json_t *object = object_of(table, field, document);
    if (field->kind != FIELD_LIST || !field_is_scalar(field->item))
        return json_object_set_new(object, field->name, value) == 0
                   ? 0
                   : error_set(e, "out of memory for the command line");
    json_t *list = json_object_get(object, field->name);
    if (!list) {
        list = json_array();
        json_object_set_new(object, field->name, list);
    }
    return json_array_append_new(list, value) == 0 ? 0 : error_set(e, "out of memory for the command line");
}

/* ---- walking through the words */

struct scan {
    const struct table *table;
    json_t *document;
    char **argv;
    int argc;
    int at;
};

static int set_text(struct scan *scan, const struct field *field, const char *value, struct error *e)
{
    struct field item = field->kind == FIELD_LIST ? field_item(field) : *field;
    return set_value(scan->table, field, value_of(&item, value), scan->document, e);
}

static int set_flag(struct scan *scan, const struct field *field, struct error *e)
{
    return set_value(scan->table, field, json_true(), scan->document, e);
}

static const char *next_argument(struct scan *scan)
{
    return scan->at + 1 < scan->argc ? scan->argv[++scan->at] : NULL;
}

static int needs_value(const char *option, const struct field *field, struct error *e)
{
    char buffer[ARGUMENT_NAME_SIZE];
    return error_set(e, "%s needs a value: %s", option, arguments_word(field, buffer));
}

static int parse_long(struct scan *scan, struct error *e)
{
    const char *word = scan->argv[scan->at], *equals = strchr(word, '=');
    const struct field *field = arguments_find(scan->table, word);
    if (!field)
        return unknown_option(scan->table, word + 2, strcspn(word + 2, "="), e);
    if (field->kind == FIELD_BOOL && !equals)
        return set_flag(scan, field, e);
    const char *value = equals ? equals + 1 : next_argument(scan);
    return value ? set_text(scan, field, value, e) : needs_value(word, field, e);
}

static int parse_letters(struct scan *scan, struct error *e)
{
    for (const char *p = scan->argv[scan->at] + 1; *p; p++) {
        struct key key = {.letter = *p};
        char option[] = {'-', *p, '\0'};
        const struct field *field = find_option(scan->table, &key);
        if (!field)
            return error_set(e, "unknown option %s", option);
        if (field->kind != FIELD_BOOL) {
            const char *value = p[1] ? p + 1 : next_argument(scan);
            return value ? set_text(scan, field, value, e) : needs_value(option, field, e);
        }
        if (set_flag(scan, field, e) != 0)
            return -1;
    }
    return 0;
}

static int scan_words(struct scan *scan, const char **rest, size_t *count, struct error *e)
{
    bool ended = false;
    int result = 0;
    for (scan->at = 1; result == 0 && scan->at < scan->argc; scan->at++) {
        const char *word = scan->argv[scan->at];
        if (ended || word[0] != '-' || !word[1])
            rest[(*count)++] = word;
        else if (strcmp(word, "--") == 0)
            ended = true;
        else
            result = word[1] == '-' ? parse_long(scan, e) : parse_letters(scan, e);
    }
    return result;
}

json_t *arguments_read(const struct table *table, int argc, char **argv, const char ***rest, size_t *count,
                       struct error *e)
{
    struct scan scan = {table, json_object(), argv, argc, 1};
    *rest = calloc((size_t)argc + 1, sizeof **rest);
    *count = 0;
    if (scan.document && *rest && scan_words(&scan, *rest, count, e) == 0)
        return scan.document;
    if (!scan.document || !*rest)
        error_set(e, "out of memory for the command line");
    json_decref(scan.document);
    free(*rest);
    *rest = NULL;
    return NULL;
}
