#include "harness/reduce/edits.h"

#include "lib/document/json_text.h"
#include "lib/document/paths.h"
#include "lib/document/nearest.h"
#include "lib/text.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- places */

static json_t *member(const json_t *in, const json_t *part)
{
    return json_is_integer(part) ? json_array_get(in, (size_t)json_integer_value(part))
                                 : json_object_get(in, json_string_value(part));
}

static json_t *value_at(const json_t *documents, const json_t *place)
{
    json_t *at = (json_t *)(uintptr_t)documents, *part;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)place, i, part)
    {
        at = member(at, part);
    }
    return at;
}

json_t *edit_value(const json_t *documents, const json_t *edit)
{
    return value_at(documents, json_array_get(edit, 0));
}

/* As paths are written: an item of a list by its name, if it has one. */
static void add_part(struct text *path, const json_t *in, const json_t *part)
{
    const char *name = json_string_value(json_object_get(member(in, part), "name"));
    text_add(path, "%s", path->length ? "." : "");
    if (json_is_string(part))
        text_add(path, "%s", json_string_value(part));
    else if (name)
        text_add(path, "%s", name);
    else
        text_add(path, "%lld", (long long)json_integer_value(part));
}

char *edit_path(const json_t *documents, const json_t *edit)
{
    const json_t *at = documents;
    struct text path = {0};
    json_t *part;
    size_t i;
    json_array_foreach(json_array_get(edit, 0), i, part)
    {
        if (i || strcmp(json_string_value(part), "lab") == 0)
            add_part(&path, at, part);
        at = member(at, part);
    }
    return text_take(&path);
}

static bool begins(const char *path, const char *with)
{
    size_t length = strlen(with);
    return strncmp(path, with, length) == 0 && (path[length] == '.' || !path[length]);
}

bool edit_is_kept(const char *path, const struct list_of *keep)
{
    char *const *globs = keep ? keep->items : NULL;
    bool kept = false;
    for (size_t i = 0; globs && i < keep->count; i++) {
        char *below = xasprintf("%s.*", globs[i]);
        kept =
            kept || fnmatch(globs[i], path, 0) == 0 || fnmatch(below, path, 0) == 0 || begins(globs[i], path);
        free(below);
    }
    return kept;
}

bool edit_is_links_rate(const char *path)
{
    size_t length = strlen(path);
    return paths_in_lab(path) && strstr(path, "link") && length > 5 &&
           strcmp(path + length - 5, ".rate") == 0;
}

/* Is there something of this name? */
static bool is_name_of(const char *glob, const struct words *paths)
{
    char *below = xasprintf("%s.*", glob);
    bool is = false;
    for (size_t i = 0; !is && i < paths->count; i++)
        is = fnmatch(glob, paths->items[i], 0) == 0 || fnmatch(below, paths->items[i], 0) == 0;
    free(below);
    return is;
}

/* Takes over neither. */
static json_t *place_with(const json_t *place, json_t *part)
{
    json_t *longer = json_copy((json_t *)(uintptr_t)place);
    json_array_append_new(longer, part);
    return longer;
}

/* Of the place, which is released, and of all that is in it. */
static void add_paths(struct words *paths, const json_t *documents, json_t *place)
{
    json_t *in = value_at(documents, place), *edit = json_make("[O]", place), *value;
    char *path = edit_path(documents, edit);
    const char *key;
    size_t i;
    if (path && *path)
        words_add(paths, "%s", path);
    json_object_foreach(in, key, value)
    {
        add_paths(paths, documents, place_with(place, json_text(key)));
    }
    json_array_foreach(json_is_array(in) ? in : NULL, i, value)
    {
        add_paths(paths, documents, place_with(place, json_integer((json_int_t)i)));
    }
    free(path);
    json_decref(edit);
    json_decref(place);
}

int edits_check_keep(const json_t *documents, const struct list_of *keep, struct error *e)
{
    char *const *globs = keep->items;
    struct words paths = {0};
    /* phases are shortened even where they are not written */
    words_add_all(&paths, (const char *const[]){"phases.measure", "phases.warmup", "phases.cooldown", NULL});
    add_paths(&paths, documents, json_make("[s]", "scenario"));
    add_paths(&paths, documents, json_make("[s]", "lab"));
    int result = words_whole(&paths, e);
    for (size_t i = 0; result == 0 && i < keep->count; i++) {
        if (is_name_of(globs[i], &paths))
            continue;
        const char *near = nearest_word(globs[i], (const char *const *)paths.items);
        result = error_set(e, "--keep %s: there is nothing of that name in the scenario or its lab%s%s%s",
                           globs[i], near ? ": perhaps \"" : "", near ? near : "", near ? "\"" : "");
    }
    words_free(&paths);
    return result;
}

/* ---- lists of edits */

struct lister {
    const json_t *documents;
    const struct list_of *keep;
    json_t *edits;
    bool numbers; /* those of a topology, too */
};

static void add_edit(struct lister *l, json_t *edit)
{
    char *path = edit_path(l->documents, edit);
    if (!path || !edit_is_kept(path, l->keep))
        json_array_append_new(l->edits, edit);
    else
        json_decref(edit);
    free(path);
}

/* What a document is of, and how its results are called. */
static bool is_name(const char *key)
{
    static const char *const names[] = {"schema", "name",  "driver",   "kind",
                                        "expect", "roles", "topology", NULL};
    for (size_t i = 0; names[i]; i++)
        if (strcmp(key, names[i]) == 0)
            return true;
    return false;
}

/* Every key of an object, and of the objects in it; items of lists with `items`. */
static void list_keys(struct lister *l, json_t *place, bool items)
{
    json_t *in = value_at(l->documents, place), *value;
    const char *key;
    size_t i;
    json_object_foreach(in, key, value)
    {
        json_t *inner = place_with(place, json_text(key));
        if (!is_name(key))
            add_edit(l, json_make("[O]", inner));
        if (!is_name(key) || (l->numbers && strcmp(key, "topology") == 0))
            list_keys(l, inner, items);
        else
            json_decref(inner);
    }
    json_array_foreach(json_is_array(in) ? in : NULL, i, value)
    {
        json_t *inner = place_with(place, json_integer((json_int_t)i));
        if (items || !json_is_object(value))
            add_edit(l, json_make("[O]", inner));
        if (json_is_object(value))
            list_keys(l, inner, items);
        else
            json_decref(inner);
    }
    json_decref(place);
}

static json_t *top(const char *document, const char *key)
{
    return key ? json_make("[s,s]", document, key) : json_make("[s]", document);
}

/* The items of a list; of a list of objects also those of its lists of names. */
static void list_items(struct lister *l, const char *list)
{
    static const char *const inner[] = {"from", "to"};
    json_t *items = json_object_get(json_object_get(l->documents, "scenario"), list), *item, *word;
    size_t i, k, m;
    json_array_foreach(items, i, item)
    {
        add_edit(l, json_make("[[s,s,i]]", "scenario", list, (int)i));
        for (k = 0; k < sizeof inner / sizeof *inner; k++)
            json_array_foreach(json_object_get(item, inner[k]), m, word)
                add_edit(l, json_make("[[s,s,i,s,i]]", "scenario", list, (int)i, inner[k], (int)m));
    }
}

/* A node of the lab, with the links that end there: else the lab is none. */
static void list_nodes(struct lister *l, const char *of)
{
    const json_t *lab = json_object_get(l->documents, "lab");
    json_t *link, *end, *node;
    const char *name;
    size_t i, k;
    json_object_foreach(json_object_get(lab, of), name, node)
    {
        json_t *edit = json_make("[[s,s,s]]", "lab", of, name);
        json_array_foreach(json_object_get(lab, "links"), i, link)
        {
            bool ends = false;
            json_array_foreach(json_object_get(link, "between"), k, end)
            {
                size_t length = strcspn(json_string_value(end) ? json_string_value(end) : "", ":");
                ends = ends || (strlen(name) == length && strncmp(json_string_value(end), name, length) == 0);
            }
            if (ends)
                json_array_append_new(edit, json_make("[s,s,i]", "lab", "links", (int)i));
        }
        add_edit(l, edit);
    }
}

static const char *const lists[] = {"flows", "traffic", "collectives", "storms", "faults", "inject", NULL};

json_t *edits_of(const json_t *documents, enum edit_stage stage, const struct list_of *keep)
{
    struct lister l = {.documents = documents, .keep = keep, .edits = json_array()};
    const json_t *lab = json_object_get(documents, "lab");
    const char *driver = json_string_value(json_object_get(lab, "driver"));
    bool simulated = driver && strcmp(driver, "sim") == 0;
    bool any = stage == EDIT_ANY || stage == EDIT_LAST;
    l.numbers = stage == EDIT_LAST;
    if (stage == EDIT_SETTINGS || any) {
        if (simulated)
            list_keys(&l, top("lab", NULL), false);
        list_keys(&l, top("scenario", "settings"), false);
        list_keys(&l, top("scenario", "settings_of"), false);
    }
    for (size_t i = 0; lists[i]; i++) {
        if (stage == EDIT_TRAFFIC)
            list_items(&l, lists[i]);
        if (stage == EDIT_KEYS)
            list_keys(&l, top("scenario", lists[i]), false);
    }
    /* hosts are slowed by samples of other groups, and more often */
    if (stage == EDIT_KEYS && simulated)
        list_keys(&l, top("scenario", "sample"), true);
    if (any)
        list_keys(&l, top("scenario", NULL), false);
    if (stage == EDIT_HOSTS) {
        list_items(&l, "roles");
        if (simulated) {
            list_nodes(&l, "hosts");
            list_nodes(&l, "switches");
        }
    }
    return l.edits;
}

/* ---- taking away */

/* The values that are to go are marked first, so that places in lists stay what they are. */
static void mark(json_t *documents, const json_t *place, json_t *gone)
{
    size_t last = json_array_size(place) - 1;
    json_t *at = documents;
    for (size_t i = 0; i < last; i++)
        at = member(at, json_array_get(place, i));
    const json_t *part = json_array_get(place, last);
    if (!member(at, part))
        return; /* with something that it is in */
    if (json_is_integer(part))
        json_array_set(at, (size_t)json_integer_value(part), gone);
    else
        json_object_set(at, json_string_value(part), gone);
}

static void sweep_out(json_t *value, const json_t *gone)
{
    const char *key;
    json_t *inner;
    void *next;
    json_object_foreach_safe(value, next, key, inner)
    {
        if (inner == gone)
            json_object_del(value, key);
        else
            sweep_out(inner, gone);
    }
    for (size_t i = json_array_size(value); i-- > 0;) {
        inner = json_array_get(value, i);
        if (inner == gone)
            json_array_remove(value, i);
        else
            sweep_out(inner, gone);
    }
}

/* An empty list is one that is not there. */
static void drop_empty(json_t *scenario)
{
    for (size_t i = 0; lists[i]; i++)
        if (json_array_size(json_object_get(scenario, lists[i])) == 0)
            json_object_del(scenario, lists[i]);
    for (const char *const *key = (const char *const[]){"settings", "settings_of", NULL}; *key; key++)
        if (json_object_size(json_object_get(scenario, *key)) == 0)
            json_object_del(scenario, *key);
}

json_t *edits_without(const json_t *documents, const json_t *edits, const bool *kept)
{
    json_t *copy = json_deep_copy(documents), *gone = json_object(), *edit, *place;
    size_t i, k;
    json_array_foreach((json_t *)(uintptr_t)edits, i, edit)
    {
        json_array_foreach(kept && kept[i] ? NULL : edit, k, place)
        {
            mark(copy, place, gone);
        }
    }
    sweep_out(copy, gone);
    drop_empty(json_object_get(copy, "scenario"));
    json_decref(gone);
    return copy;
}

/* ---- other names */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static char *text_renamed(const char *text, const json_t *names)
{
    struct text out = {0};
    text_add(&out, "%s", "");
    while (*text) {
        size_t length = 0;
        while (in_word(text[length]))
            length++;
        const char *other = length ? json_string_value(json_object_getn(names, text, length)) : NULL;
        if (other)
            text_add(&out, "%s", other);
        else
            text_add_bytes(&out, text, length ? length : 1);
        text += length ? length : 1;
    }
    return text_take(&out);
}

json_t *edits_renamed(const json_t *value, const json_t *names)
{
    json_t *renamed, *inner;
    const char *key;
    size_t i;
    if (json_is_string(value)) {
        char *text = text_renamed(json_string_value(value), names);
        renamed = json_text(text);
        free(text);
        return renamed;
    }
    if (!json_is_object(value) && !json_is_array(value))
        return json_deep_copy(value);
    renamed = json_is_object(value) ? json_object() : json_array();
    json_object_foreach((json_t *)(uintptr_t)value, key, inner)
    {
        char *text = text_renamed(key, names);
        json_put(renamed, text, edits_renamed(inner, names));
        free(text);
    }
    json_array_foreach(json_is_array(value) ? (json_t *)(uintptr_t)value : NULL, i, inner)
    {
        json_array_append_new(renamed, edits_renamed(inner, names));
    }
    return renamed;
}
