/* Paths into the documents of a table: "settings.dcqcn.rp.rpg_ai_rate", "flows.*.depth". */
#include "lib/document/nearest.h"
#include "lib/document/table.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_at(const struct table *table, const char *path, struct error *e);

static int no_field(const struct table *table, const char *part, struct error *e)
{
    size_t count = 0;
    while (table->fields[count].name)
        count++;
    const char **words = calloc(count + 1, sizeof *words);
    for (size_t i = 0; words && i < count; i++)
        words[i] = table->fields[i].name;
    const char *near = words ? nearest_word(part, words) : NULL;
    free(words);
    return error_set(e, "%s has no key \"%.80s\"%s%s%s", table->name, part, near ? "; did you mean \"" : "",
                     near ? near : "", near ? "\"?" : "");
}

/* What is behind a field, of which `rest` (NULL: nothing) is left of the path. */
static int check_below(const struct field *field, const char *rest, struct error *e)
{
    bool items = field->kind == FIELD_LIST || field->kind == FIELD_MAP;
    if (!rest || field->kind == FIELD_JSON)
        return 0;
    if (items) { /* an index, a name or a glob */
        const char *dot = strchr(rest, '.');
        if (!dot)
            return 0;
        rest = dot + 1;
    }
    if (!field->sub)
        return error_set(e, "%s is a value and has no key \"%.80s\"", field->name, rest);
    return check_at(field->sub, rest, e);
}

static int check_at(const struct table *table, const char *path, struct error *e)
{
    char part[128];
    size_t length = strcspn(path, ".");
    const char *rest = path[length] ? path + length + 1 : NULL;
    struct error first = {""};
    snprintf(part, sizeof part, "%.*s", (int)(length < 127 ? length : 127), path);
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
