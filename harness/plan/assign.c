/* Values of --set and of a sweep, put at their paths. */
#include "harness/plan/assign.h"

#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/document/paths.h"
#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A path into a list that the document does not have would make an object of it: "links.0.rate" of a lab
 * whose links its topology draws. */
static int check_list(const struct table *table, const json_t *document, const char *path, struct error *e)
{
    size_t length = strcspn(path, ".");
    for (const struct field *f = table->fields; path[length] && f->name; f++)
        if (f->kind == FIELD_LIST && strlen(f->name) == length && strncmp(f->name, path, length) == 0 &&
            !json_object_get(document, f->name))
            return json_object_get(document, "topology")
                       ? error_set(e,
                                   "the lab's \"topology\" draws its %s: change lab.topology, or "
                                   "lab.defaults for all of them",
                                   f->name)
                       : error_set(e,
                                   "there is no list \"%s\" that it could change: give all of it, as a list",
                                   f->name);
    return 0;
}

/* Hosts and switches that a topology makes are not in the document, where a pattern would find them: it would
 * change some or none of those that it names. */
static int check_drawn(const json_t *lab, const char *path, struct error *e)
{
    static const char *const drawn[] = {"hosts", "switches"};
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        size_t length = strlen(drawn[i]), part;
        const char *name;
        char glob[128];
        json_t *node;
        struct error ignored;
        if (strncmp(path, drawn[i], length) != 0 || path[length] != '.' || !json_object_get(lab, "topology"))
            continue;
        part = strcspn(path + length + 1, ".");
        snprintf(glob, sizeof glob, "%.*s", (int)part, path + length + 1);
        json_t *whole = strpbrk(glob, "*?[") ? lab_expand(lab, &ignored) : NULL;
        int result = 0;
        json_object_foreach(json_object_get(whole, drawn[i]), name, node)
        {
            const char *machine = json_string_value(json_object_get(node, "machine")),
                       *own = machine ? machine : name;
            if (result == 0 && fnmatch(glob, own, 0) == 0 &&
                !json_object_get(json_object_get(lab, drawn[i]), own))
                result = error_set(e,
                                   "the lab's \"topology\" makes its %s: name one, such as %.60s, or change "
                                   "lab.defaults for all of them",
                                   drawn[i], own);
        }
        json_decref(whole);
        return result;
    }
    return 0;
}

/* What defaults call one of a list of nodes; NULL: it is another list. */
static const char *one_of(const char *list)
{
    return strcmp(list, "hosts") == 0 ? "host" : strcmp(list, "switches") == 0 ? "switch" : NULL;
}

/* Does a path begin with one of the names, which may have dots? */
static bool has_node(const json_t *names, const char *path)
{
    const char *name;
    json_t *node;
    bool has = false;
    json_object_foreach((json_t *)(uintptr_t)names, name, node)
    {
        size_t length = strlen(name);
        has = has || (strncmp(path, name, length) == 0 && (path[length] == '.' || path[length] == '\0'));
    }
    return has;
}

/* "role a is host n0", or the nearest of the names; it has been judged that there is no `name`. */
static int refuse_node(const json_t *lab, const json_t *names, const char *one, const char *list,
                       const char *name, struct error *e)
{
    const char *node = json_string_value(json_object_get(json_object_get(lab, "roles"), name)), *known;
    const char **words = xcalloc(json_object_size(names) + 1, sizeof *words);
    size_t count = 0;
    json_t *value;
    if (node) {
        bool is_switch = json_object_get(json_object_get(lab, "switches"), node);
        free(words);
        return error_set(e, "there is no %s %.60s: role %.60s is %s %.60s of the lab", one, name, name,
                         is_switch ? "switch" : "host", node);
    }
    json_object_foreach((json_t *)(uintptr_t)names, known, value)
    {
        words[count++] = known;
    }
    const char *near = nearest_word(name, words);
    free(words);
    return error_set(e,
                     "there is no %s %.60s%s%s%s: expected one of the lab, or a new one whole, "
                     "lab.%s.%.60s={...}",
                     one, name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "", list, name);
}

/* A value of a host or switch that is neither in the document nor drawn would make one, which no link
 * reaches. An object for all of it is a new one. */
static int check_node(const json_t *lab, const char *path, const json_t *value, struct error *e)
{
    char part[PATHS_PART], name[PATHS_PART];
    const char *rest = paths_first_part(path, part), *one = one_of(part), *own;
    json_t *node;
    struct error ignored;
    if (!one || !rest || json_is_null(value))
        return 0;
    const char *behind = paths_first_part(rest, name);
    if (strpbrk(name, "*?[") || (!behind && json_is_object(value)))
        return 0;
    json_t *names = json_copy(json_object_get(lab, part)), *whole = NULL;
    bool known = has_node(names, rest), drawn = !known && json_object_get(lab, "topology");
    names = names ? names : json_object();
    if (drawn)
        whole = lab_expand(lab, &ignored);
    json_object_foreach(json_object_get(whole, part), own, node)
    {
        const char *machine = json_string_value(json_object_get(node, "machine"));
        json_object_set(names, machine ? machine : own, node);
    }
    /* a lab is not to be judged before it is good */
    int result =
        known || (drawn && !whole) || has_node(names, rest) ? 0 : refuse_node(lab, names, one, part, name, e);
    json_decref(names);
    json_decref(whole);
    return result;
}

static const struct table *lab_table(const json_t *lab)
{
    const char *driver = json_string_value(json_object_get(lab, "driver"));
    const struct lab_kind *kind = driver ? lab_kind_named(driver) : NULL;
    return kind ? &kind->table : NULL;
}

/* ---- what a null takes away: a slip would take nothing away, and nobody would say so */

static const struct field *field_named(const struct table *table, const char *name)
{
    const struct field *f = table->fields;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f : NULL;
}

/* "defaults" has no table of its own: host, switch and link in it are what hosts, switches and links are. */
static int check_default(const struct table *table, const char *path, struct error *e)
{
    static const struct {
        const char *key, *nodes;
    } kinds[] = {{"host", "hosts"}, {"switch", "switches"}, {"link", "links"}};
    static const char *const words[] = {"host", "switch", "link", NULL};
    char part[PATHS_PART];
    const char *rest = path ? paths_first_part(path, part) : NULL;
    for (size_t k = 0; path && k < sizeof kinds / sizeof *kinds; k++) {
        const struct field *nodes = field_named(table, kinds[k].nodes), *hosts = field_named(table, "hosts"),
                           *within = hosts && hosts->sub ? field_named(hosts->sub, kinds[k].key) : NULL;
        struct error ignored;
        if (fnmatch(part, kinds[k].key, 0) != 0)
            continue;
        if (!rest || (within && within->sub && table_check_path(within->sub, rest, &ignored) == 0))
            return 0;
        return nodes && nodes->sub ? table_check_path(nodes->sub, rest, e) : 0;
    }
    const char *near = path ? nearest_word(part, words) : NULL;
    return path ? error_set(e, "defaults has no key \"%.60s\"%s%s%s: expected host, switch or link", part,
                            near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "")
                : 0;
}

/* `key` as a whole, dots and all; `list`: the path of the object, for the error. */
static int check_there(const json_t *object, const char *list, const char *key, struct error *e)
{
    const char **words = xcalloc(json_object_size(object) + 1, sizeof *words), *name;
    json_t *value;
    size_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        words[count++] = name;
    }
    const char *near = nearest_word(key, words);
    free(words);
    return json_object_get(object, key) || strpbrk(key, "*?[")
               ? 0
               : error_set(e, "there is no \"%.100s\" in %s to take away%s%s%s", key, list,
                           near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* Keys are known by the table; the names in a map, and what is in a document of its own, by what is there.
 * Roles of settings_of are judged with all values (assign_check_roles). */
static int check_removal(const struct table *table, const json_t *document, const json_t *lab,
                         const char *path, struct error *e)
{
    char part[PATHS_PART], item[PATHS_PART];
    const char *rest = paths_first_part(path, part);
    const struct field *field = field_named(table, part);
    struct error ignored;
    if (paths_exist(document, path)) /* also a key that has a dot, such as settings_of.a.rail3 */
        return 0;
    if (lab && field && strcmp(part, "defaults") == 0)
        return check_default(table, rest, e);
    if (table_check_path(table, path, e) != 0)
        return -1;
    if (field && rest && field->kind == FIELD_JSON && !paths_exist(document, path))
        return check_there(json_object_get(document, part), part, rest, e);
    if (!lab || !field || !rest || field->kind != FIELD_MAP)
        return 0;
    paths_first_part(rest, item);
    if (json_object_get(json_object_get(lab, part), item))
        return 0;
    json_t *whole = lab_expand(lab, &ignored);
    int result = whole ? check_there(json_object_get(whole, part), part, item, e) : 0;
    json_decref(whole);
    return result;
}

/* ---- null where a default would take its place: it stays in the document, and takes that away */

/* How many keys of `node` were made null: those that `path` leads to in the defaults. */
static size_t drop_defaults(json_t *node, const json_t *shared, const char *path)
{
    char part[PATHS_PART];
    const char *rest = paths_first_part(path, part), *key;
    json_t *value;
    size_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)shared, key, value)
    {
        json_t *own = json_object_get(node, key);
        if ((strcmp(part, key) != 0 && fnmatch(part, key, 0) != 0) || json_is_null(own))
            continue;
        if (!rest && ++count)
            json_object_set_new(node, key, json_null());
        if (!rest || !json_is_object(value) || (own && !json_is_object(own)))
            continue;
        json_t *made = own ? json_incref(own) : json_object();
        size_t dropped = drop_defaults(made, value, rest);
        if (dropped)
            json_object_set(node, key, made);
        count += dropped;
        json_decref(made);
    }
    return count;
}

/* Of each node in the lab that the path is of, also one that a topology draws, if it is named. */
static size_t drop_defaults_of(json_t *lab, const char *path)
{
    char part[PATHS_PART], name[PATHS_PART];
    const char *rest = paths_first_part(path, part), *one = one_of(part), *key, *behind;
    json_t *node;
    size_t count = 0;
    if (!one || !rest || !(behind = paths_first_part(rest, name)))
        return 0;
    json_t *nodes = json_object_get(lab, part),
           *shared = json_object_get(json_object_get(lab, "defaults"), one);
    json_object_foreach(nodes, key, node)
    {
        if (fnmatch(name, key, 0) == 0 && json_is_object(node))
            count += drop_defaults(node, shared, behind);
    }
    if (json_object_get(lab, "topology") && !strpbrk(name, "*?[") && !json_object_get(nodes, name)) {
        json_t *made = json_object();
        size_t dropped = drop_defaults(made, shared, behind);
        if (dropped && !nodes)
            json_object_set_new(lab, part, json_object());
        if (dropped)
            json_object_set(json_object_get(lab, part), name, made);
        count += dropped;
        json_decref(made);
    }
    return count;
}

/* The nulls of a value at a path: also those in an object, which is merged. */
static size_t drop_nulls(json_t *lab, const char *path, const json_t *value)
{
    const char *key;
    json_t *child;
    size_t count = json_is_null(value) ? drop_defaults_of(lab, path) : 0;
    json_object_foreach((json_t *)(uintptr_t)value, key, child)
    {
        char *at = xasprintf("%s.%s", path, key);
        count += drop_nulls(lab, at, child);
        free(at);
    }
    return count;
}

static int set_in_lab(json_t *lab, const char *path, const json_t *value, struct error *e)
{
    int result = paths_set(lab, path, value, e);
    return drop_nulls(lab, path, value) && json_is_null(value) ? 0 : result;
}

/* ---- */

/* Names of axes have dots: "sweep.settings.mtu" is the axis settings.mtu, which a list of values may add.
 * Returns whether it was one. */
static bool assign_axis(json_t *scenario, const char *path, const json_t *value)
{
    json_t *sweep = json_object_get(scenario, "sweep");
    const char *axis = strncmp(path, "sweep.", 6) == 0 ? path + 6 : NULL;
    if (!axis || (!json_object_get(sweep, axis) && (!json_is_array(value) || paths_exist(scenario, path))))
        return false;
    if (!json_is_object(sweep))
        json_object_set_new(scenario, "sweep", sweep = json_object());
    if (json_is_null(value))
        json_object_del(sweep, axis);
    else
        json_object_set(sweep, axis, (json_t *)(uintptr_t)value);
    return true;
}

int assign_value(json_t *scenario, json_t *lab, const char *path, const json_t *value, struct error *e)
{
    const char *in_lab = paths_in_lab(path);
    if (in_lab && lab && lab_table(lab) && check_list(lab_table(lab), lab, in_lab, e) != 0)
        return error_prefix(e, "%.100s", path);
    if (in_lab && lab && check_drawn(lab, in_lab, e) != 0)
        return error_prefix(e, "%.100s", path);
    if (in_lab && lab && lab_table(lab) && json_is_null(value) &&
        check_removal(lab_table(lab), lab, lab, in_lab, e) != 0)
        return error_prefix(e, "%.100s", path);
    if (in_lab && lab && check_node(lab, in_lab, value, e) != 0)
        return error_prefix(e, "%.100s", path);
    if (in_lab)
        return lab ? set_in_lab(lab, in_lab, value, e) : 0;
    if (assign_axis(scenario, path, value))
        return 0;
    if (check_list(&scenario_table, scenario, path, e) != 0)
        return error_prefix(e, "%.100s", path);
    if (fnmatch(path, "lab", 0) == 0)
        return error_set(e, "%.100s: the lab is not chosen by a value: give --lab LAB, in a run for each lab",
                         path);
    if (json_is_null(value) && check_removal(&scenario_table, scenario, NULL, path, e) != 0)
        return error_prefix(e, "%.100s", path);
    return paths_set(scenario, path, value, e);
}

/* ---- roles that paths name */

struct role_words {
    struct list_of names; /* char *, of the document */
    const char *of;       /* where the paths are */
};

/* Is it one, or a NIC or the machine of one? A pattern is judged by what it matches. */
static bool is_role_of(const struct role_words *roles, const char *part)
{
    char *const *names = roles->names.items;
    size_t length = strlen(part);
    bool known = strpbrk(part, "*?[");
    for (size_t i = 0; !known && i < roles->names.count; i++)
        known = strpbrk(names[i], "*?") || (strncmp(names[i], part, length) == 0 &&
                                            (names[i][length] == '\0' || names[i][length] == '.'));
    return known;
}

/* The role in a path behind "settings_of." or "lab.roles."; NULL: it names none. */
static const char *role_in(const char *path)
{
    static const char *const before[] = {"settings_of.", "lab.roles."};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strncmp(path, before[i], strlen(before[i])) == 0)
            return path + strlen(before[i]);
    return NULL;
}

static int check_role_paths(const struct role_words *roles, const json_t *paths, struct error *e)
{
    const char *path;
    json_t *value;
    char part[PATHS_PART];
    json_object_foreach((json_t *)(uintptr_t)paths, path, value)
    {
        if (!role_in(path))
            continue;
        paths_first_part(role_in(path), part);
        if (!is_role_of(roles, part)) {
            char *at = xasprintf("%s%.100s", roles->of, path);
            int result = scenario_no_role(&roles->names, at, part, e);
            free(at);
            return result;
        }
    }
    return 0;
}

/* Of a sweep: of its axes, and of those that go together. */
static int check_role_axes(struct role_words *roles, const json_t *sweep, struct error *e)
{
    const json_t *zip;
    size_t i;
    roles->of = "sweep: ";
    json_array_foreach(json_object_get(sweep, "zip"), i, zip)
    {
        if (check_role_paths(roles, zip, e) != 0)
            return -1;
    }
    return check_role_paths(roles, json_object_get(json_object_get(sweep, "draw"), "over"), e) != 0
               ? -1
               : check_role_paths(roles, sweep, e);
}

int assign_check_roles(const json_t *scenario, const json_t *requested, struct error *e)
{
    struct error ignored;
    json_t *named = json_make("{s:O?}", "roles", json_object_get(scenario, "roles")),
           *written = named ? scenario_expand(named, &ignored) : NULL,
           *list = json_object_get(written, "roles"), *name;
    struct role_words roles = {.of = "--set "};
    const char **names = xcalloc(json_array_size(list) + 1, sizeof *names);
    size_t i;
    json_array_foreach(list, i, name)
    {
        if (json_is_string(name))
            names[roles.names.count++] = json_string_value(name);
    }
    roles.names.items = names;
    int result = !roles.names.count ? 0
                 : check_role_paths(&roles, requested, e) != 0
                     ? -1
                     : check_role_axes(&roles, json_object_get(scenario, "sweep"), e);
    free(names);
    json_decref(written);
    json_decref(named);
    return result;
}
