/* What only harness knows of its command lines: keys of documents and their values, results, baselines,
 * rules. Nothing is said of a document that cannot be read: the command itself will say why. */
#include "lib/program/program.h"

#include "harness/compare/rule.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/document/paths.h"
#include "lib/files.h"
#include "lib/folder/result_files.h"
#include "lib/folder/sweep_index.h"
#include "lib/formats/find.h"
#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"
#include "lib/program/config.h"
#include "lib/roce/counters.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* ---- --set KEY=VALUE */

/* A document, and the table that says what else may be in it. */
struct keys {
    const struct completing *c;
    const struct table *table;
    json_t *document;   /* NULL: there is none */
    const char *prefix; /* of its paths on the command line: "lab.", or "" */
    struct text parent; /* the path without what stands behind its last dot */
    json_t *offered;    /* name or value: true */
};

static void offer_key(struct keys *k, const char *name, bool holds_more, const char *about)
{
    struct text word = {0};
    text_add(&word, "%s%s%s%s%s", k->prefix, text_string(&k->parent), k->parent.length ? "." : "", name,
             holds_more ? "." : "=");
    if (!strpbrk(name, ".=") && !json_object_get(k->offered, name) &&
        json_put(k->offered, name, json_true()) == 0)
        completing_offer(k->c, text_string(&word), about);
    text_free(&word);
}

static bool holds_more(const struct field *f)
{
    bool items = f->kind == FIELD_LIST && field_is_scalar(f->item);
    return !field_is_scalar(f->kind) && f->kind != FIELD_JSON && !items;
}

static void offer_fields(struct keys *k, const struct table *table)
{
    for (const struct field *f = table->fields; f->name; f++)
        if (f->help)
            offer_key(k, f->name, holds_more(f), f->help);
}

static void offer_fields_of(void *context, const struct field *field)
{
    if (field->sub && field->kind != FIELD_LIST && field->kind != FIELD_MAP)
        offer_fields(context, field->sub);
    else if (field->kind == FIELD_LIST || field->kind == FIELD_MAP)
        offer_key(context, "*", !field_is_scalar(field->item), "all of them");
}

/* What the document has there: members by their keys, items by their names or places. */
static void offer_members(struct keys *k, const json_t *at)
{
    const char *key;
    json_t *value;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)at, key, value)
    {
        offer_key(k, key, json_is_object(value) || json_is_object(json_array_get(value, 0)), NULL);
    }
    json_array_foreach(at, i, value)
    {
        const char *name = json_string_value(json_object_get(value, "name"));
        char place[24];
        snprintf(place, sizeof place, "%zu", i);
        offer_key(k, name ? name : place, json_is_object(value), NULL);
    }
}

static void offer_keys(struct keys *k)
{
    json_t *values = k->document && k->parent.length ? paths_values(k->document, text_string(&k->parent))
                                                     : json_array(),
           *value;
    size_t i;
    if (k->parent.length)
        table_at_path(k->table, text_string(&k->parent), offer_fields_of, k);
    else
        offer_fields(k, k->table);
    if (!k->parent.length && k->document)
        json_array_append(values, k->document);
    json_array_foreach(values, i, value) offer_members(k, value);
    json_decref(values);
}

static void offer_value(struct keys *k, const char *path, const char *value, const char *about)
{
    struct text word = {0};
    text_add(&word, "%s%s=%s", k->prefix, path, value);
    if (!json_object_get(k->offered, value) && json_put(k->offered, value, json_true()) == 0)
        completing_offer(k->c, text_string(&word), about);
    text_free(&word);
}

struct value_offer {
    struct keys *k;
    const char *path;
};

static void offer_values_of(void *context, const struct field *field)
{
    struct value_offer *o = context;
    json_t *fallback = field_fallback(field);
    char *words = json_is_object(fallback) || json_is_array(fallback) ? NULL : json_bare(fallback);
    for (size_t i = 0; field->kind == FIELD_CHOICE && field->choices[i]; i++)
        offer_value(o->k, o->path, field->choices[i], NULL);
    if (field->kind == FIELD_BOOL) {
        offer_value(o->k, o->path, "true", NULL);
        offer_value(o->k, o->path, "false", NULL);
    } else if (fallback && words && field->kind != FIELD_CHOICE) {
        offer_value(o->k, o->path, words, "the default");
    }
    free(words);
    json_decref(fallback);
}

/* Choices, and what the document says now. */
static void offer_key_values(struct keys *k, const char *path)
{
    json_t *values = k->document ? paths_values(k->document, path) : json_array(), *value;
    size_t i;
    table_at_path(k->table, path, offer_values_of, &(struct value_offer){k, path});
    json_array_foreach(values, i, value)
    {
        char *words = json_is_object(value) || json_is_array(value) ? NULL : json_bare(value);
        if (words && !json_is_boolean(value) && i == 0)
            offer_value(k, path, words, "as it is");
        free(words);
    }
    json_decref(values);
}

static void complete_in(struct keys *k, const char *typed)
{
    const char *sign = strchr(typed, '='), *dot = strrchr(typed, '.');
    k->offered = json_object();
    if (sign) {
        char *path = strndup(typed, (size_t)(sign - typed));
        if (path)
            offer_key_values(k, path);
        free(path);
    } else {
        text_add(&k->parent, "%.*s", dot ? (int)(dot - typed) : 0, typed);
        offer_keys(k);
    }
    text_free(&k->parent);
    json_decref(k->offered);
    json_decref(k->document);
}

/* The path of the scenario on the command line. */
static char *scenario_path(const struct completing *c)
{
    const char *name = completing_value(c, "for");
    if (!name)
        name = completing_argument(c, 0);
    return name ? find_file(FIND_SCENARIO, name, NULL) : NULL;
}

static void complete_lab_key(const struct completing *c, const char *scenario, json_t *document)
{
    const char *why, *said = completing_value(c, "lab"),
                     *own = json_string_value(json_object_get(document, "lab"));
    struct error e;
    char *path = find_lab(said, own ? scenario : NULL, own, &why, &e);
    json_t *lab = path ? json_file_load(path, DOCUMENT_LAB, &e) : NULL;
    const char *driver = json_string_value(json_object_get(lab, "driver"));
    const struct lab_kind *kind = driver ? lab_kind_named(driver) : NULL;
    if (kind)
        complete_in(&(struct keys){.c = c, .table = &kind->table, .document = lab, .prefix = "lab."},
                    c->typed + strlen("lab."));
    else
        json_decref(lab);
    free(path);
}

static void complete_key(const struct completing *c)
{
    struct error e;
    char *path = scenario_path(c);
    json_t *document = path ? json_file_load(path, DOCUMENT_SCENARIO, &e) : NULL;
    completing_offer(c, "lab.", "What the lab has");
    if (paths_in_lab(c->typed)) {
        complete_lab_key(c, path, document);
        json_decref(document);
    } else {
        complete_in(&(struct keys){.c = c, .table = &scenario_table, .document = document, .prefix = ""},
                    c->typed);
    }
    free(path);
}

/* ---- results and baselines */

/* The names in a folder, without those that begin with a dot; calls `offer` for each. */
static void offer_entries(const struct completing *c, const char *folder,
                          void (*offer)(const struct completing *c, const char *folder, const char *name))
{
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));)
        if (entry->d_name[0] != '.')
            offer(c, folder, entry->d_name);
    if (open)
        closedir(open);
}

/* Is what was typed below this folder? */
static bool is_typed_below(const struct completing *c, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(c->typed, folder, length) == 0 && c->typed[length] == '/';
}

/* A result, or a run of the sweep that was typed. */
static void offer_result(const struct completing *c, const char *folder, const char *name)
{
    static const char *const files[] = {"result.json", SWEEP_INDEX, NULL};
    char *path = files_join(folder, name);
    bool is_result = path && result_files_any(path, files);
    if (is_result && is_typed_below(c, path))
        offer_entries(c, path, offer_result);
    else if (is_result)
        completing_offer(c, path, strcmp(name, "latest") == 0 ? "the newest result of it" : "");
    free(path);
}

/* The newest result of each scenario, or all of the one whose folder was typed. */
static void offer_results(const struct completing *c, const char *folder, const char *name)
{
    char *path = files_join(folder, name);
    if (path && is_typed_below(c, path))
        offer_entries(c, path, offer_result);
    else if (path)
        offer_result(c, path, "latest");
    free(path);
}

static void offer_baseline(const struct completing *c, const char *folder, const char *name)
{
    (void)folder;
    completing_offer(c, name, "a baseline");
}

static void complete_baseline(const struct completing *c)
{
    char *path = config_baseline("any"), *slash = path ? strrchr(path, '/') : NULL;
    if (slash) {
        *slash = '\0';
        offer_entries(c, path, offer_baseline);
    }
    free(path);
}

static void complete_result(const struct completing *c)
{
    const char *results = completing_value(c, "out");
    offer_entries(c, results && !c->option ? results : "results", offer_results);
}

/* ---- by the word of the usage */

static void complete_counter(const struct completing *c)
{
    json_t *rows = counters_json(), *row;
    size_t i;
    for (i = 0; counter_group_choices[i]; i++)
        completing_offer(c, counter_group_choices[i], "a group");
    json_array_foreach(rows, i, row)
    {
        completing_offer(c, json_string_value(json_object_get(row, "pattern")),
                         json_string_value(json_object_get(row, "meaning")));
    }
    json_decref(rows);
}

void harness_complete(const struct completing *c, const char *word); /* harness/main.c has it, too */

static bool is_option(const struct completing *c, const char *word)
{
    return c->option && strncmp(c->option, word, strlen(word)) == 0;
}

void harness_complete(const struct completing *c, const char *word)
{
    const char *command = c->command->name, *first = completing_argument(c, 0);
    bool is_result = strcmp(word, "RESULT") == 0 || strcmp(word, "RUN") == 0,
         is_side = strcmp(word, "OLD") == 0 || strcmp(word, "NEW") == 0 || is_option(c, "--against"),
         is_folder =
             strcmp(word, "FOLDER") == 0 && (strcmp(command, "status") == 0 || is_option(c, "--resume"));
    if (strcmp(word, "KEY=VALUE") == 0 || strcmp(word, "SETTING=VALUE") == 0)
        complete_key(c);
    if (is_result || is_side || is_folder)
        complete_result(c);
    if (is_side)
        complete_baseline(c);
    if (strcmp(word, "FILE") == 0 && strcmp(command, "check") == 0) {
        completing_offer_names(c, FIND_SCENARIO);
        completing_offer_names(c, FIND_LAB);
    }
    for (size_t i = 0; strcmp(word, "RULE") == 0 && rule_figure_name(i); i++)
        completing_offer(c, rule_figure_name(i), NULL);
    if (strcmp(word, "GROUP") == 0 && first && strcmp(first, "counters") == 0)
        complete_counter(c);
}
