#include "harness/reduce/finding.h"

#include "harness/reduce/edits.h"
#include "harness/reduce/tries.h"
#include "harness/run/results.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "reports/results/run.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST  64
#define NAME_ENDS  "-reduced"
#define KEYS_NAMED 6

char *finding_name(const char *scenario)
{
    return xasprintf("%.*s" NAME_ENDS, (int)(NAME_MOST - strlen(NAME_ENDS)), scenario);
}

/* ---- what differs from the defaults */

/* {path: value} of what EDIT_SETTINGS could still take away, but for what has parts that it could. */
static json_t *differences_of(const json_t *documents)
{
    json_t *edits = edits_of(documents, EDIT_SETTINGS, NULL), *edit, *all = json_object();
    size_t i;
    json_array_foreach(edits, i, edit)
    {
        json_t *value = edit_value(documents, edit);
        char *path = edit_path(documents, edit);
        const json_t *place = json_array_get(edit, 0);
        bool in_list = json_is_integer(json_array_get(place, json_array_size(place) - 1));
        if (path && !in_list && (!json_is_object(value) || json_object_size(value) == 0))
            json_put(all, path, json_incref(value));
        free(path);
    }
    json_decref(edits);
    return all;
}

static bool tells_more_than_links(const json_t *differences)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)differences, path, value)
    {
        if (!edit_is_links_rate(path))
            return true;
    }
    return false;
}

static void add_settings(struct text *words, const json_t *differences)
{
    const char *path;
    json_t *value;
    size_t said = 0;
    json_object_foreach((json_t *)(uintptr_t)differences, path, value)
    {
        if (edit_is_links_rate(path))
            continue;
        char *shown = json_bare(value);
        if (said++ < KEYS_NAMED)
            text_add(words, "%s%s = %.60s", said > 1 ? ", " : "", path, shown ? shown : "?");
        free(shown);
    }
    if (said > KEYS_NAMED)
        text_add(words, " and %zu others", said - KEYS_NAMED);
}

static void add_paths(struct text *words, const json_t *paths)
{
    json_t *path;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)paths, i, path)
    {
        if (i < KEYS_NAMED)
            text_add(words, "%s%s", i ? ", " : "", json_string_value(path));
    }
    if (json_array_size(paths) > KEYS_NAMED)
        text_add(words, " and %zu others", json_array_size(paths) - KEYS_NAMED);
}

/* What it shows, in a sentence or two. The caller frees. */
static char *sentence_of(const struct finding *f, const json_t *differences)
{
    const json_t *entry = tries_expectation(f->result);
    struct text words = {0};
    text_add(&words, "\"%s\" fails: %s", run_member(entry, "name"), run_member(entry, "reason"));
    if (tells_more_than_links(differences)) {
        text_add(&words, ", with ");
        add_settings(&words, differences);
    } else {
        text_add(&words, ", with all settings at their defaults%s",
                 json_object_size(differences) ? ", but for the links' rate" : "");
    }
    text_add(&words, ".");
    if (json_object_size(f->healthy)) {
        text_add(&words, f->unjudged ? " With " : " It passes with ");
        add_settings(&words, f->healthy);
        text_add(&words, f->unjudged ? " it is not judged: what it reads is not there." : ".");
    } else if (json_array_size(f->needed)) {
        text_add(&words, " It passes with the default of %s",
                 json_array_size(f->needed) > 1 ? "any one of " : "");
        add_paths(&words, f->needed);
        text_add(&words, ".");
    }
    return text_take(&words);
}

/* ---- documents of few lines */

/* Each key on its own line; of lists of objects each object. */
static void add_document(struct text *out, const json_t *document)
{
    const char *key;
    json_t *value, *item;
    size_t i, left = json_object_size(document);
    text_add(out, "{\n");
    json_object_foreach((json_t *)(uintptr_t)document, key, value)
    {
        bool lines = json_is_object(json_array_get(value, 0)) && json_array_size(value) > 1;
        char *text = lines ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
        text_add(out, "  \"%s\": %s", key, lines ? "[\n" : text ? text : "null");
        free(text);
        json_array_foreach(lines ? value : NULL, i, item)
        {
            text = json_dumps(item, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
            text_add(out, "    %s%s\n", text ? text : "null", i + 1 < json_array_size(value) ? "," : "");
            free(text);
        }
        text_add(out, "%s%s\n", lines ? "  ]" : "", --left ? "," : "");
    }
    text_add(out, "}\n");
}

static int write_text(const char *folder, const char *name, struct text *text, struct error *e)
{
    char *path = files_join(folder, name);
    int result = path && !text->failed
                     ? files_write_atomic(path, text_string(text), strlen(text_string(text)), e)
                     : error_set(e, "out of memory");
    free(path);
    text_free(text);
    return result;
}

static int write_document(const char *folder, const char *name, const json_t *document, struct error *e)
{
    struct text text = {0};
    add_document(&text, document);
    return write_text(folder, name, &text, e);
}

/* In the order in which people read them. */
static json_t *ordered_scenario(const struct finding *f, const char *title)
{
    const json_t *scenario = json_object_get(f->documents, "scenario"),
                 *lab = json_object_get(f->documents, "lab");
    bool simulated = strcmp(run_member(lab, "driver"), "sim") == 0;
    char *name = finding_name(run_member(scenario, "name"));
    json_t *all = json_make("{s:i,s:s,s:s}", "schema", 1, "name", name, "title", title), *value;
    const char *key;
    if (simulated)
        json_object_set_new(all, "lab", json_text("lab.json"));
    json_object_foreach((json_t *)(uintptr_t)scenario, key, value)
    {
        if (!json_object_get(all, key))
            json_put(all, key, json_incref(value));
    }
    free(name);
    return all;
}

static int write_readme(const struct finding *f, const json_t *document, struct error *e)
{
    struct text text = {0};
    bool simulated = json_is_true(json_object_get(document, "simulated")),
         measured = strcmp(run_member(f->result, "origin"), "measured") == 0;
    text_add(&text, "# %s\n\n%s\n\n", run_member(document, "name"), run_member(document, "sentence"));
    text_add(&text,
             "%s. Run it again, in this folder:\n\n    harness run scenario.json%s --repeat %" PRId64
             " --seed %" PRId64 "\n\n",
             simulated  ? "Simulated"
             : measured ? "Measured on the hosts of lab.json"
                        : "Run on the hosts of lab.json, whose NICs are virtual",
             simulated ? "" : " --lab lab.json", f->seeds, f->seed);
    text_add(&text,
             "- scenario.json, lab.json: the least experiment in which it was seen to fail\n"
             "- result/: its last runs\n- finding.json: this, for programs\n\nharness %s, build %s\n",
             HARNESS_VERSION, results_build());
    return write_text(f->folder, "README.md", &text, e);
}

static size_t role_count(const json_t *documents)
{
    return json_array_size(json_object_get(json_object_get(documents, "scenario"), "roles"));
}

json_t *finding_keep_json(const struct list_of *keep)
{
    char *const *items = keep->items;
    json_t *list = json_array();
    for (size_t i = 0; i < keep->count; i++)
        json_array_append_new(list, json_text(items[i]));
    return list;
}

json_t *finding_load(const char *folder)
{
    struct error ignored;
    char *path = files_join(folder, FINDING_DOCUMENT);
    json_t *document = files_exist(path) ? json_file_load(path, DOCUMENT_RESULT, &ignored) : NULL;
    free(path);
    return document;
}

json_t *finding_write(const struct finding *f, struct error *e)
{
    const json_t *entry = tries_expectation(f->result);
    json_t *differences = differences_of(f->documents), *title = NULL;
    char *sentence = f->result ? sentence_of(f, differences) : NULL,
         *name = finding_name(run_member(json_object_get(f->documents, "scenario"), "name")),
         *path = files_join(f->folder, FINDING_DOCUMENT);
    json_t *document =
        json_make("{s:i,s:s,s:s,s:s,s:s,s:b,s:s?,s:s,s:I,s:I,s:I,s:o}", "schema", 1, "program", "harness",
                  "version", HARNESS_VERSION, "build", results_build(), "name", name, "complete", false,
                  "sentence", sentence, "from", f->from, "seed", (json_int_t)f->seed, "seeds",
                  (json_int_t)f->seeds, "tries", (json_int_t)f->tries, "keep", finding_keep_json(f->keep));
    int result = path ? 0 : error_set(e, "out of memory");
    if (f->why)
        json_object_set_new(document, "why_not", json_text(f->why));
    if (f->result) {
        json_object_set(document, "simulated", json_object_get(f->result, "simulated"));
        json_object_set(document, "expectation", (json_t *)(uintptr_t)entry);
        json_object_set(document, "differs", differences);
        json_object_set_new(document, "passes_without",
                            f->needed ? json_incref((json_t *)(uintptr_t)f->needed) : json_array());
        if (f->healthy)
            json_object_set(document, f->unjudged ? "unjudged_with" : "passes_with",
                            (json_t *)(uintptr_t)f->healthy);
        json_object_set_new(document, "roles",
                            json_make("[i,i]", (int)role_count(f->larger), (int)role_count(f->documents)));
        json_t *scenario = ordered_scenario(f, sentence);
        if (result == 0)
            result = write_document(f->folder, "scenario.json", scenario, e);
        if (result == 0)
            result = write_document(f->folder, "lab.json", json_object_get(f->documents, "lab"), e);
        if (result == 0)
            result = write_readme(f, document, e);
        json_decref(scenario);
    }
    if (result == 0)
        result = json_file_save(path, document, e);
    json_decref(title);
    json_decref(differences);
    free(sentence);
    free(name);
    free(path);
    if (result != 0) {
        json_decref(document);
        return NULL;
    }
    return document;
}

void finding_print(const json_t *document, const char *folder)
{
    const json_t *roles = json_object_get(document, "roles");
    print_out_line("%s", run_member(document, "sentence"));
    print_out_line("%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
                   " roles are left, after %" JSON_INTEGER_FORMAT " tries with %" JSON_INTEGER_FORMAT
                   " seeds%s",
                   json_integer_value(json_array_get(roles, 1)), json_integer_value(json_array_get(roles, 0)),
                   json_integer_value(json_object_get(document, "tries")),
                   json_integer_value(json_object_get(document, "seeds")),
                   json_is_true(json_object_get(document, "simulated")) ? ", simulated" : "");
    print_out_line("finding: %s", folder);
}
