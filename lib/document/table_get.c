#include "lib/document/table_get.h"

#include "lib/document/nearest.h"
#include "lib/document/table_fields.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct getting {
    const char *path; /* whole, for sentences */
    struct text *out;
    struct error *e;
    bool all; /* "*" was in the path: values that are not set are left out */
};

static int get_value(const struct field *field, const void *slot, const char *rest, struct getting *g);

/* slot NULL: of an object that is not there */
static void add_scalar(const struct field *field, const void *slot, struct text *out)
{
    if (!slot)
        return;
    const char *string = field->kind == FIELD_STRING ? *(char *const *)slot : NULL;
    bool whole = field->kind == FIELD_INTEGER || field->kind == FIELD_QUANTITY;
    if (string)
        text_add(out, "%s", string);
    else if (whole && *(const int64_t *)slot != FIELD_UNSET)
        text_add(out, "%" PRId64, *(const int64_t *)slot);
    else if (field->kind == FIELD_NUMBER && !isnan(*(const double *)slot))
        text_add(out, "%.17g", *(const double *)slot);
    else if (field->kind == FIELD_BOOL && *(const int *)slot >= 0)
        text_add(out, "%s", *(const int *)slot ? "true" : "false");
    else if (field->kind == FIELD_CHOICE && *(const int *)slot >= 0)
        text_add(out, "%s", field->choices[*(const int *)slot]);
}

static void add_line(const struct field *field, const void *slot, struct getting *g)
{
    size_t before = g->out->length;
    add_scalar(field, slot, g->out);
    if (g->out->length > before || !g->all)
        text_add(g->out, "\n");
}

static int no_key(const struct table *table, const char *part, size_t length, struct getting *g)
{
    size_t n = 0;
    char word[64];
    while (table->fields[n].name)
        n++;
    const char **names = calloc(n + 1, sizeof *names);
    for (size_t i = 0; names && i < n; i++)
        names[i] = table->fields[i].name;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), part);
    const char *near = names ? nearest_word(word, names) : NULL;
    error_set(g->e, "%.120s: there is no key \"%s\"%s%s%s", g->path, word, near ? "; did you mean \"" : "",
              near ? near : "", near ? "\"?" : "");
    free(names);
    return -1;
}

static int get_object(const struct table *table, const void *object, const char *rest, struct getting *g)
{
    size_t length = rest ? strcspn(rest, ".") : 0;
    if (!rest)
        return 0;
    for (const struct field *f = table->fields; f->name; f++)
        if (strlen(f->name) == length && strncmp(f->name, rest, length) == 0)
            return get_value(f, object ? (const char *)object + f->offset : NULL,
                             rest[length] ? rest + length + 1 : NULL, g);
    return no_key(table, rest, length, g);
}

/* What follows the name of an item in the path; NULL when the path does not begin with it. Names may contain dots. */
static const char *after(const char *rest, const char *name)
{
    size_t length = strlen(name);
    bool begins = strncmp(rest, name, length) == 0 && (rest[length] == '.' || rest[length] == '\0');
    return begins ? rest + length : NULL;
}

/* The item that the path names: the longest name that fits; list->count if there is none. */
static size_t find_item(const struct field *field, const struct list_of *list, const char *rest,
                        const char **next)
{
    size_t found = list->count, best = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *item = (const char *)list->items + i * field_item_size(field);
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        const char *name = field->kind == FIELD_MAP ? *(char *const *)(const void *)item : number;
        const char *end = after(rest, name);
        if (end && strlen(name) > best) {
            best = strlen(name);
            found = i;
            *next = end;
        }
    }
    return found;
}

static int get_item(const struct field *field, const struct list_of *list, size_t i, const char *rest,
                    struct getting *g)
{
    char *item = (char *)list->items + i * field_item_size(field);
    struct field of = field_item(field);
    return get_value(&of, field->kind == FIELD_MAP ? field_map_value(item, of.kind) : item, rest, g);
}

/* Without a further part: the names of a map, or the values of a list. */
static int get_whole(const struct field *field, const struct list_of *list, struct getting *g)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *item = (const char *)list->items + i * field_item_size(field);
        if (field->kind == FIELD_MAP)
            text_add(g->out, "%s\n", *(char *const *)(const void *)item);
        else if (get_item(field, list, i, NULL, g) != 0)
            return -1;
    }
    return 0;
}

static int get_items(const struct field *field, const struct list_of *list, const char *rest,
                     struct getting *g)
{
    if (!rest)
        return get_whole(field, list, g);
    const char *next = after(rest, "*");
    bool every = next;
    g->all = g->all || every;
    size_t only = every ? 0 : find_item(field, list, rest, &next), end = every ? list->count : only + 1;
    if (!every && only == list->count)
        return error_set(g->e, "%.120s: there is no \"%.*s\" among %zu %s", g->path, (int)strcspn(rest, "."),
                         rest, list->count, field->name);
    for (size_t i = only; i < end; i++)
        if (get_item(field, list, i, *next ? next + 1 : NULL, g) != 0)
            return -1;
    return 0;
}

static int get_value(const struct field *field, const void *slot, const char *rest, struct getting *g)
{
    switch (field->kind) {
    case FIELD_OBJECT:
        return get_object(field->sub, slot, rest, g);
    case FIELD_OPTIONAL:
        return get_object(field->sub, slot ? *(void *const *)slot : NULL, rest, g);
    case FIELD_LIST:
    case FIELD_MAP:
        return slot ? get_items(field, slot, rest, g) : 0;
    case FIELD_JSON:
        return error_set(g->e, "%.120s: %s is a document of its own, of which no values are given", g->path,
                         field->name);
    default:
        break;
    }
    if (rest)
        return error_set(g->e, "%.120s: %s is one value, which has no parts", g->path, field->name);
    add_line(field, slot, g);
    return 0;
}

int table_get(const struct table *table, const void *object, const char *path, struct text *out,
              struct error *e)
{
    struct getting g = {path, out, e, false};
    return get_object(table, object, path, &g);
}
