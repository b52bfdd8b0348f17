#include "lib/document/arguments.h"

#include "lib/document/nearest.h"
#include "lib/output/columns.h"
#include "lib/output/print.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN   28 /* column where the sentences begin */
#define HELP_WIDTH    80
#define SHORT_CHOICES 24 /* characters of all choices together */

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
    if (word[0] != '-' || !word[1])
        return NULL;
    struct key key = {.letter = word[1]};
    if (word[1] == '-')
        key = (struct key){.name = word + 2, .length = strcspn(word, "=") - 2};
    return find_option(table, &key);
}

bool arguments_value_follows(const struct field *field, const char *word)
{
    return field->kind != FIELD_BOOL && !strchr(word, '=') && (word[1] == '-' || !word[2]);
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

/* A value as in a document. A word that does not fit the kind becomes a string, which the table then
 * refuses. */
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

/* ---- words for values */

static const char *word_of_unit(enum unit unit)
{
    switch (unit) {
    case UNIT_TIME_NS:
    case UNIT_TIME_PS:
        return "TIME";
    case UNIT_BYTES:
        return "SIZE";
    case UNIT_RATE_BPS:
    case UNIT_PER_SECOND:
        return "RATE";
    case UNIT_LENGTH_MM:
        return "LENGTH";
    case UNIT_PERCENT_MILLI:
        return "PERCENT";
    }
    return "VALUE";
}

/* "tcp|rdma", or "WORD" if that is too long; then the sentence lists the choices. */
static const char *word_of_choices(const char *const *choices, char buffer[ARGUMENT_NAME_SIZE])
{
    size_t length = 0;
    for (; *choices; choices++) {
        if (length + strlen(*choices) >= SHORT_CHOICES)
            return "WORD";
        length += (size_t)snprintf(buffer + length, ARGUMENT_NAME_SIZE - length, "%s%s", length ? "|" : "",
                                   *choices);
    }
    return buffer;
}

const char *arguments_word(const struct field *field, char buffer[ARGUMENT_NAME_SIZE])
{
    enum field_kind kind = field->kind == FIELD_LIST ? field->item : field->kind;
    if (field->argument)
        return field->argument;
    switch (kind) {
    case FIELD_BOOL:
        return NULL;
    case FIELD_STRING:
        return "TEXT";
    case FIELD_INTEGER:
    case FIELD_NUMBER:
        return "N";
    case FIELD_QUANTITY:
        return word_of_unit(field->unit);
    case FIELD_CHOICE:
        return word_of_choices(field->choices, buffer);
    default:
        return "JSON";
    }
}

/* The default as it would be written on a command line. */
static void add_default(const struct field *field, struct text *out)
{
    json_t *fallback = field_fallback(field);
    if (json_is_string(fallback))
        text_add(out, "default %s", json_string_value(fallback));
    else if (fallback && field->kind != FIELD_BOOL)
        text_add(out, "default %s", field->fallback);
    json_decref(fallback);
}

/* ---- --help */

void arguments_wrap(FILE *out, const char *words, size_t column)
{
    columns_wrap(out, words, column, column, HELP_WIDTH);
}

/* The first sentence, the choices and the default. */
static void help_words(const struct field *field, struct text *out)
{
    char buffer[ARGUMENT_NAME_SIZE];
    struct text choices = {0}, fallback = {0};
    const char *end = strstr(field->help, ". ");
    const char *word = arguments_word(field, buffer);
    size_t length = end ? (size_t)(end - field->help) : strlen(field->help);
    bool stop = length > 0 && (end || field->help[length - 1] == '.');
    text_add(out, "%.*s", (int)(stop && !end ? length - 1 : length), field->help);
    add_default(field, &fallback);
    if (field->kind == FIELD_CHOICE && !strchr(word, '|'))
        field_words(field, &choices);
    if (choices.length || fallback.length)
        text_add(out, " (%s%s%s)", text_string(&choices), choices.length && fallback.length ? "; " : "",
                 text_string(&fallback));
    text_add(out, "%s", stop ? "." : "");
    text_free(&choices);
    text_free(&fallback);
}

static void help_option(FILE *out, const struct field *field)
{
    char left[120], name[ARGUMENT_NAME_SIZE], buffer[ARGUMENT_NAME_SIZE];
    const char *word = arguments_word(field, buffer);
    struct text words = {0};
    char letter[] = {'-', field->letter, ',', ' ', '\0'};
    snprintf(left, sizeof left, "  %s--%s%s%s", field->letter ? letter : "    ", arguments_name(field, name),
             word ? " " : "", word ? word : "");
    help_words(field, &words);
    if (strlen(left) + 2 > HELP_COLUMN)
        print_to(out, "%s\n%*s", left, HELP_COLUMN, "");
    else
        print_to(out, "%-*s", HELP_COLUMN, left);
    arguments_wrap(out, text_string(&words), HELP_COLUMN);
    text_free(&words);
}

void arguments_help(FILE *out, const struct table *table)
{
    for (const struct field *f = table->fields; f->name; f++)
        if (f->kind != FIELD_OBJECT && f->help)
            help_option(out, f);
    for (const struct field *f = table->fields; f->name; f++) {
        if (f->kind != FIELD_OBJECT)
            continue;
        if (f->help)
            print_to(out, "\n%s\n", f->help);
        arguments_help(out, f->sub);
    }
}

/* ---- manual */

/* "a time such as 10ms (ns, us, ms, s, min, h), from 1us to 1s"; nothing for kinds of which any word is a
 * value. */
static void value_words(const struct field *field, struct text *out)
{
    struct text words = {0};
    if (field->kind == FIELD_BOOL || field->kind == FIELD_STRING || field->kind == FIELD_LIST)
        return;
    bool article = field->kind == FIELD_INTEGER || field->kind == FIELD_NUMBER;
    text_add(out, "%s%s", article ? "a " : "", field_words(field, &words));
    text_free(&words);
}

static void manual_option(const struct field *field, struct text *out)
{
    char name[ARGUMENT_NAME_SIZE], buffer[ARGUMENT_NAME_SIZE];
    const char *word = arguments_word(field, buffer);
    struct text line = {0}, words = {0}, fallback = {0};
    text_add(out, ".It ");
    if (field->letter)
        text_add(out, "Fl %c , ", field->letter);
    text_add(out, "Fl -%s", arguments_name(field, name));
    text_add(out, word ? " Ar %s\n" : "\n", word);
    roff_sentences(out, field->help);
    value_words(field, &words);
    add_default(field, &fallback);
    text_add(&line, "%s%s%s", text_string(&words), words.length && fallback.length ? "; " : "",
             text_string(&fallback));
    if (line.length) {
        text_add(&line, ".");
        *line.data = (char)toupper((unsigned char)*line.data);
        roff_line(out, text_string(&line));
    }
    text_free(&line);
    text_free(&words);
    text_free(&fallback);
}

void arguments_manual(const struct field *const *fields, struct text *out)
{
    if (!*fields)
        return;
    text_add(out, ".Bl -tag -width Ds\n");
    for (; *fields; fields++)
        manual_option(*fields, out);
    text_add(out, ".El\n");
}
