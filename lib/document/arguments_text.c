/* Text of options for --help and the manuals. */
#include "lib/document/arguments.h"

#include "lib/document/table_fields.h"
#include "lib/output/print.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 28 /* column where the sentences begin */
#define HELP_WIDTH  80
#define NO_LIMIT    (INT64_MAX / 10000) /* ranges with a larger end only prevent overflows */

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

#define SHORT_CHOICES 24

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
    size_t at = column;
    while (*words) {
        size_t length = strcspn(words, " ");
        if (at > column && at + 1 + length > HELP_WIDTH) {
            print_to(out, "\n%*s", (int)column, "");
            at = column;
        } else if (at > column) {
            print_to(out, " ");
            at++;
        }
        print_to(out, "%.*s", (int)length, words);
        at += length;
        words += length + (words[length] == ' ');
    }
    print_to(out, "\n");
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

/* "a time such as 10ms (ns, us, ms, s, min, h), from 1us to 1s"; nothing for kinds of which any word is a value. */
static void value_words(const struct field *field, struct text *out)
{
    char low[40], high[40];
    struct text words = {0};
    if (field->kind == FIELD_BOOL || field->kind == FIELD_STRING || field->kind == FIELD_LIST)
        return;
    bool article = field->kind == FIELD_INTEGER || field->kind == FIELD_NUMBER;
    text_add(out, "%s%s", article ? "a " : "", field_words(field, &words));
    units_format(field->unit, field->min, low, sizeof low);
    units_format(field->unit, field->max, high, sizeof high);
    bool limited = field->max <= NO_LIMIT;
    if (field->kind == FIELD_QUANTITY && !limited && field->min > 0)
        text_add(out, ", at least %s", low);
    if (field->kind == FIELD_QUANTITY && limited && field->max > field->min)
        text_add(out, ", from %s to %s", low, high);
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
