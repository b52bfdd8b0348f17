#include "lib/document/paths.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/names/range.h"
#include "lib/text.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *paths_first_part(const char *path, char part[PATHS_PART])
{
    size_t length = strcspn(path, ".");
    snprintf(part, PATHS_PART, "%.*s", (int)(length < PATHS_PART - 1 ? length : PATHS_PART - 1), path);
    return path[length] ? path + length + 1 : NULL;
}

/* A key with dots takes as many parts off a path as it has itself: "settings_of.a.rail3.mtu" leads to the key
 * "a.rail3". False: it has none, or is not what these parts say. */
static bool takes_parts(const char *path, const char *key, const char **rest)
{
    char parts[2 * PATHS_PART];
    size_t length = 0;
    const char *dot = strchr(key, '.');
    if (!dot)
        return false;
    for (; dot; dot = strchr(dot + 1, '.'), length++)
        if (!(length += strcspn(path + length, "."), path[length]))
            return false;
    length += strcspn(path + length, ".");
    if (length >= sizeof parts)
        return false;
    snprintf(parts, sizeof parts, "%.*s", (int)length, path);
    if (strcmp(parts, key) != 0 && !glob_matches(parts, key))
        return false;
    *rest = path[length] ? path + length + 1 : NULL;
    return true;
}

static bool is_glob(const char *part)
{
    return strpbrk(part, "*?[");
}

/* A string is its own name. */
static const char *name_of(const json_t *item)
{
    return json_string_value(json_is_string(item) ? item : json_object_get(item, "name"));
}

/* By its number or its name; a string is its own name, also one with brackets, such as the roles h[0-16]. */
static bool item_matches(const json_t *item, size_t index, const char *part)
{
    const char *name = name_of(item);
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    return strcmp(part, number) == 0 || (name && strcmp(part, name) == 0) ||
           glob_matches(part, name ? name : number);
}

/* A key is its own name too, also one with brackets, such as settings_of.h[0-15]. */
static bool key_matches(const char *key, const char *part)
{
    return strcmp(part, key) == 0 || glob_matches(part, key);
}

/* ---- into the lab */

#define LAB "lab."

const char *paths_in_lab(const char *path)
{
    return strncmp(path, LAB, strlen(LAB)) == 0 ? path + strlen(LAB) : NULL;
}

bool paths_any_in_lab(const json_t *map)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)map, path, value)
    {
        if (paths_in_lab(path))
            return true;
    }
    return false;
}

/* ---- setting */

static size_t object_put(json_t *object, const char *key, const json_t *value)
{
    if (!json_is_null(value))
        return json_object_set_new(object, key, json_merged(json_object_get(object, key), value)) == 0;
    json_object_del(object, key); /* what is not there is as good as removed */
    return 1;
}

static size_t list_put(json_t *list, size_t i, const json_t *value)
{
    if (json_is_null(value))
        return json_array_remove(list, i) == 0;
    return json_array_set_new(list, i, json_merged(json_array_get(list, i), value)) == 0;
}

static size_t set_at(json_t *at, const char *path, const json_t *value);

/* From the last item: removed ones leave the numbers of those before them. */
static size_t set_in_list(json_t *list, const char *path, const char *part, const char *rest,
                          const json_t *value)
{
    size_t count = 0;
    for (size_t i = json_array_size(list); i-- > 0;) {
        json_t *item = json_array_get(list, i);
        const char *name = name_of(item), *own = rest;
        if ((name && takes_parts(path, name, &own)) || item_matches(item, i, part))
            count += own ? set_at(item, own, value) : list_put(list, i, value);
    }
    return count;
}

static size_t dots_in(const char *key)
{
    size_t count = 0;
    for (; *key; key++)
        count += *key == '.';
    return count;
}

/* At the keys with dots that the path begins with: those of most parts, of which there are several only if a
 * part is a glob. */
static size_t set_at_dotted(json_t *object, const char *path, const json_t *value)
{
    const char *key, *rest;
    json_t *child;
    void *next;
    size_t most = 0, count = 0;
    json_object_foreach(object, key, child)
    {
        if (takes_parts(path, key, &rest) && dots_in(key) > most)
            most = dots_in(key);
    }
    json_object_foreach_safe(most ? object : NULL, next, key, child)
    {
        if (dots_in(key) == most && takes_parts(path, key, &rest))
            count += rest ? set_at(child, rest, value) : object_put(object, key, value);
    }
    return count;
}

static size_t set_in_object(json_t *object, const char *path, const char *part, const char *rest,
                            const json_t *value)
{
    const char *key, *own;
    json_t *child;
    void *next;
    size_t count = 0;
    if (!is_glob(part)) {
        count = rest ? set_at_dotted(object, path, value) : 0;
        if (count)
            return count;
        if (!rest)
            return object_put(object, part, value);
        child = json_object_get(object, part);
        if (!child && json_is_null(value))
            return 1;
        if (!child) {
            child = json_object();
            json_object_set_new(object, part, child);
        }
        return set_at(child, rest, value);
    }
    json_object_foreach_safe(object, next, key, child)
    {
        own = rest;
        if (takes_parts(path, key, &own) || key_matches(key, part))
            count += own ? set_at(child, own, value) : object_put(object, key, value);
    }
    return count;
}

static size_t set_at(json_t *at, const char *path, const json_t *value)
{
    char part[PATHS_PART];
    const char *rest = paths_first_part(path, part);
    if (json_is_array(at))
        return set_in_list(at, path, part, rest, value);
    return json_is_object(at) ? set_in_object(at, path, part, rest, value) : 0;
}

/* "; in-0 is one of those that are written as in-{}: name flows.in-{}.depth", of items of a list that a name
 * with
 * {} stands for. */
static void add_written_name(const json_t *document, const char *path, struct text *out)
{
    char list[PATHS_PART], part[PATHS_PART];
    const char *rest = paths_first_part(path, list), *after = rest ? paths_first_part(rest, part) : NULL;
    size_t i;
    const json_t *item;
    json_array_foreach(rest ? json_object_get(document, list) : NULL, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name")),
                   *hole = name ? strchr(name, '{') : NULL, *end = hole ? strchr(hole, '}') : NULL;
        size_t before = end ? (size_t)(hole - name) : 0, behind = end ? strlen(end + 1) : 0;
        if (!end || out->length || strlen(part) <= before + behind || strncmp(part, name, before) != 0 ||
            strcmp(part + strlen(part) - behind, end + 1) != 0)
            continue;
        text_add(out, "; %s is one of those that are written as %s: name %s.%s%s%s", part, name, list, name,
                 after ? "." : "", after ? after : "");
    }
}

int paths_set(json_t *document, const char *path, const json_t *value, struct error *e)
{
    if (!*path || *path == '.' || path[strlen(path) - 1] == '.' || strstr(path, ".."))
        return error_set(
            e, "\"%.100s\" is not a path: expected keys separated by dots, such as phases.measure", path);
    if (set_at(document, path, value) > 0)
        return 0;
    struct text written = {0};
    add_written_name(document, path, &written);
    error_set(e, "%.100s: nothing in the document matches this path%s", path, text_string(&written));
    text_free(&written);
    return -1;
}

static void collect_values(const json_t *at, const char *path, json_t *values)
{
    char part[PATHS_PART];
    const char *key, *rest;
    json_t *child;
    size_t i;
    if (!path) {
        json_array_append(values, (json_t *)(uintptr_t)at);
        return;
    }
    rest = paths_first_part(path, part);
    json_array_foreach(at, i, child)
    {
        const char *name = name_of(child), *own = rest;
        if ((name && takes_parts(path, name, &own)) || item_matches(child, i, part))
            collect_values(child, own, values);
    }
    json_object_foreach((json_t *)(uintptr_t)at, key, child)
    {
        const char *own = rest;
        if (takes_parts(path, key, &own) || key_matches(key, part))
            collect_values(child, own, values);
    }
}

json_t *paths_values(const json_t *document, const char *path)
{
    json_t *values = json_array();
    collect_values(document, path, values);
    return values;
}

bool paths_exist(const json_t *document, const char *path)
{
    json_t *values = paths_values(document, path);
    bool exist = json_array_size(values);
    json_decref(values);
    return exist;
}

/* ---- the path that was probably meant */

/* The key or the item's name nearest to a part, or NULL. */
static const char *nearest_child(const json_t *at, const char *part)
{
    size_t count = 0, i;
    const char *key;
    json_t *child;
    const char **words = calloc(json_object_size(at) + json_array_size(at) + 1, sizeof *words);
    if (!words)
        return NULL;
    json_object_foreach((json_t *)(uintptr_t)at, key, child)
    {
        words[count++] = key;
    }
    json_array_foreach(at, i, child)
    {
        const char *name = json_string_value(json_object_get(child, "name"));
        if (name)
            words[count++] = name;
    }
    const char *near = nearest_word(part, words);
    free(words);
    return near;
}

bool paths_nearest(const json_t *document, const char *path, struct text *out)
{
    char part[PATHS_PART];
    const char *rest = paths_first_part(path, part);
    json_t *children = paths_values(document, part), *child;
    const char *near = json_array_size(children) ? NULL : nearest_child(document, part);
    bool found = near;
    size_t i;
    if (near)
        text_add(out, "%s%s%s", near, rest ? "." : "", rest ? rest : "");
    json_array_foreach(children, i, child)
    {
        struct text behind = {0};
        if (!found && rest && paths_nearest(child, rest, &behind)) {
            text_add(out, "%s.%s", part, text_string(&behind));
            found = true;
        }
        text_free(&behind);
    }
    json_decref(children);
    return found;
}

int paths_assignment(const char *text, char **path, json_t **value, struct error *e)
{
    const char *sign = strchr(text, '=');
    if (!sign || sign == text)
        return error_set(e, "\"%.100s\" is not an assignment: expected KEY=VALUE, such as phases.measure=2s",
                         text);
    *path = strndup(text, (size_t)(sign - text));
    *value = json_file_parse(sign + 1, strlen(sign + 1), "value", DOCUMENT_LINE, NULL);
    if (!*value)
        *value = json_text(sign + 1);
    json_drop_comments(*value);
    if (*path && *value)
        return 0;
    free(*path);
    json_decref(*value);
    return error_set(e, "\"%.100s\": the value is not valid UTF-8", text);
}
