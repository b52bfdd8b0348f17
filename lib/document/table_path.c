/*
 * Paths such as "settings.dcqcn.rp.rpg_ai_rate" or "flows.*.depth": whether one can lead to a value in a
 * document of a table, and the values that one leads to in a struct that a table filled.
 */
#include "lib/document/table.h"

#include "lib/document/paths.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- in a document */

static int check_at(const struct table *table, const char *path, struct error *e);

static int no_field(const struct table *table, const char *part, struct error *e)
{
    const char *near = table_nearest_key(table, part);
    return error_set(e, "%s has no key \"%.80s\"%s%s%s", table->name, part, near ? "; did you mean \"" : "",
                     near ? near : "", near ? "\"?" : "");
}

/* What is behind the name of an item: "depth" of "up.depth". A name may have a dot itself: "up.rail3.depth",
 * where no key is called rail3; with `end` also "up.rail3". NULL: nothing. */
static const char *behind_item(const struct table *sub, const char *rest, bool end)
{
    const char *key = strchr(rest, '.'), *next = key ? strchr(key + 1, '.') : NULL;
    char part[PATHS_PART];
    if (!key || !sub || (!next && !end))
        return key ? key + 1 : NULL;
    paths_first_part(key + 1, part);
    for (const struct field *f = sub->fields; f->name; f++)
        if (fnmatch(part, f->name, 0) == 0)
            return key + 1;
    return next ? next + 1 : NULL;
}

/* What is behind a field, of which `rest` (NULL: nothing) is left of the path. */
static int check_below(const struct field *field, const char *rest, struct error *e)
{
    bool items = field->kind == FIELD_LIST || field->kind == FIELD_MAP;
    if (!rest || field->kind == FIELD_JSON)
        return 0;
    if (items) { /* an index, a name or a glob */
        rest = behind_item(field->sub, rest, false);
        if (!rest)
            return 0;
    }
    if (!field->sub)
        return error_set(e, "%s is a value and has no key \"%.80s\"", field->name, rest);
    return check_at(field->sub, rest, e);
}

static int check_at(const struct table *table, const char *path, struct error *e)
{
    char part[PATHS_PART];
    const char *rest = paths_first_part(path, part);
    struct error first = {""};
    for (const struct field *f = table->fields; f->name; f++) {
        if (fnmatch(part, f->name, 0) != 0)
            continue;
        if (check_below(f, rest, *first.text ? NULL : &first) == 0)
            return 0;
    }
    return *first.text ? error_set(e, "%s", first.text) : no_field(table, part, e);
}

int table_check_path(const struct table *table, const char *path, struct error *e)
{
    return check_at(table, path, e);
}

void table_at_path(const struct table *table, const char *path, table_found *found, void *context)
{
    char part[PATHS_PART];
    const char *behind = paths_first_part(path, part);
    for (const struct field *f = table->fields; f->name; f++) {
        const char *rest = behind;
        struct field at = *f;
        if (fnmatch(part, f->name, 0) != 0)
            continue;
        if (rest && (f->kind == FIELD_LIST || f->kind == FIELD_MAP)) {
            at = field_item(f);
            rest = behind_item(f->sub, rest, true);
        }
        if (!rest)
            found(context, &at);
        else if (at.sub)
            table_at_path(at.sub, rest, found, context);
    }
}

/* ---- in a struct */

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

static int no_key(const struct table *table, const char *part, size_t length, struct getting *g)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), part);
    const char *near = table_nearest_key(table, word);
    return error_set(g->e, "%.120s: there is no key \"%s\"%s%s%s", g->path, word,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int refuse_object(const struct table *table, struct getting *g)
{
    struct text keys = {0};
    for (const struct field *f = table->fields; f->name; f++)
        text_add(&keys, "%s%s", f == table->fields ? "" : ", ", f->name);
    error_set(g->e, "%.120s is an object, not a value: expected one of its keys behind it: %.400s", g->path,
              text_string(&keys));
    text_free(&keys);
    return -1;
}

static int get_object(const struct table *table, const void *object, const char *rest, struct getting *g)
{
    size_t length = rest ? strcspn(rest, ".") : 0;
    if (!rest)
        return refuse_object(table, g);
    for (const struct field *f = table->fields; f->name; f++)
        if (strlen(f->name) == length && strncmp(f->name, rest, length) == 0)
            return get_value(f, object ? (const char *)object + f->offset : NULL,
                             rest[length] ? rest + length + 1 : NULL, g);
    return no_key(table, rest, length, g);
}

/* What follows the name of an item in the path; NULL when the path does not begin with it. Names may contain
 * dots. */
static const char *behind_name(const char *rest, const char *name)
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
        const char *end = behind_name(rest, name);
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
    if (field->kind == FIELD_LIST && list->count && field_item(field).kind == FIELD_OBJECT)
        return error_set(g->e,
                         "%.120s is a list of %zu objects: expected a number or \"*\" behind it, and a key",
                         g->path, list->count);
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
    const char *next = behind_name(rest, "*");
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
    size_t before = g->out->length;
    add_scalar(field, slot, g->out);
    if (g->out->length > before || !g->all)
        text_add(g->out, "\n");
    return 0;
}

int table_get(const struct table *table, const void *object, const char *path, struct text *out,
              struct error *e)
{
    struct getting g = {path, out, e, false};
    return get_object(table, object, path, &g);
}
