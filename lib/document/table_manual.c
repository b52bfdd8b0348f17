#include "lib/document/table_fields.h"

#include <inttypes.h>
#include <string.h>

const char *field_words(const struct field *field, struct text *buffer)
{
    struct field item;
    struct text inner = {0};
    switch (field->kind) {
    case FIELD_STRING:
        if (!field->form)
            return "string";
        text_add(buffer, "string: %s", field->form->expected);
        return text_string(buffer);
    case FIELD_BOOL:
        return "true or false";
    case FIELD_INTEGER:
        if (field->max <= field->min)
            return "whole number";
        if (field->max == INT64_MAX)
            text_add(buffer, "whole number of at least %" PRId64, field->min);
        else
            text_add(buffer, "whole number from %" PRId64 " to %" PRId64, field->min, field->max);
        return text_string(buffer);
    case FIELD_NUMBER:
        if (field->max_number <= field->min_number)
            return "number";
        text_add(buffer, "number from %g to %g", field->min_number, field->max_number);
        return text_string(buffer);
    case FIELD_QUANTITY:
        return units_describe(field->unit);
    case FIELD_CHOICE:
        for (int i = 0; field->choices[i]; i++)
            text_add(buffer, "%s%s", i ? ", " : "one of ", field->choices[i]);
        return text_string(buffer);
    case FIELD_OBJECT:
    case FIELD_OPTIONAL:
        text_add(buffer, "object, see %s", field->sub->name);
        return text_string(buffer);
    case FIELD_LIST:
    case FIELD_MAP:
        item = field_item(field);
        text_add(buffer, "%s of: %s", field->kind == FIELD_LIST ? "list" : "object with names of your choice",
                 field_words(&item, &inner));
        text_free(&inner);
        return text_string(buffer);
    case FIELD_JSON:
        return "any value";
    }
    return "";
}

void roff_line(struct text *out, const char *words)
{
    if (*words == '.' || *words == '\'')
        text_add(out, "\\&");
    for (; *words; words++)
        text_add(out, *words == '\\' ? "\\e" : "%c", *words);
    text_add(out, "\n");
}

void roff_sentences(struct text *out, const char *words)
{
    const char *end;
    while ((end = strstr(words, ". "))) {
        struct text sentence = {0};
        text_add(&sentence, "%.*s", (int)(end + 1 - words), words);
        roff_line(out, text_string(&sentence));
        text_free(&sentence);
        words = end + 2;
    }
    roff_line(out, words);
}

static void manual_field(const struct field *field, struct text *out)
{
    struct text words = {0}, line = {0};
    text_add(&line, "%s", field_words(field, &words));
    if (field->required)
        text_add(&line, "; required");
    if (field->fallback)
        text_add(&line, "; default %s", field->fallback);
    text_add(out, ".It Cm %s\n", field->name);
    if (field->help)
        roff_sentences(out, field->help);
    text_add(out, ".Pq ");
    roff_line(out, text_string(&line));
    text_free(&words);
    text_free(&line);
}

static void manual_table(const struct table *table, struct text *out, const struct table **seen,
                         size_t *count, size_t limit)
{
    for (size_t i = 0; i < *count; i++)
        if (seen[i] == table)
            return;
    if (*count == limit)
        return;
    seen[(*count)++] = table;
    text_add(out, ".Ss %s\n", table->name);
    if (table->help)
        roff_sentences(out, table->help);
    text_add(out, ".Bl -tag -width Ds\n");
    for (const struct field *f = table->fields; f->name; f++)
        manual_field(f, out);
    text_add(out, ".El\n");
    for (const struct field *f = table->fields; f->name; f++)
        if (f->sub)
            manual_table(f->sub, out, seen, count, limit);
}

void table_manual(const struct table *table, struct text *out)
{
    const struct table *seen[128] = {0};
    size_t count = 0;
    manual_table(table, out, seen, &count, sizeof seen / sizeof *seen);
}
