#include "nic-config/document.h"

#include "lib/document/json_text.h"
#include "nic-config/device/device.h"
#include "lib/document/json_file.h"
#include "lib/formats/scenario.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct document {
    int64_t schema;
    struct list_of interfaces; /* struct settings */
    json_t *ignored[16];
};

/* Keys that `get` prints in addition to the settings; `set` ignores them. */
#define IGNORED(name, i)                                                   \
    {                                                                      \
        name, FIELD_JSON, .offset = offsetof(struct document, ignored[i]), \
                          .help = "Written by get; ignored on input."      \
    }
static const struct field fields[] = {
    {"schema", FIELD_INTEGER, .offset = offsetof(struct document, schema), .required = true, .min = 1,
     .max = 1, .help = "1"},
    {"interfaces", FIELD_MAP, .offset = offsetof(struct document, interfaces), .item = FIELD_OBJECT,
     .sub = &settings_table, .required = true, .help = "Settings by interface."},
    IGNORED("program", 0),
    IGNORED("version", 1),
    IGNORED("ok", 2),
    IGNORED("facts", 3),
    IGNORED("journal", 4),
    {0},
};
static const struct table document_table = {"nic-config", "Settings of a host's interfaces.",
                                            sizeof(struct document), fields, NULL};

/* ---- canonical form */

static json_t *canonical(const struct table *table, const json_t *json);

static json_t *canonical_value(const struct field *f, const json_t *value)
{
    int64_t number;
    char text[64];
    if (json_is_null(value))
        return json_null();
    if (f->kind == FIELD_QUANTITY && units_parse(f->unit, json_string_value(value), &number, NULL) == 0)
        return json_text(units_format(f->unit, number, text, sizeof text));
    if (f->kind == FIELD_NUMBER)
        return json_real(json_number_value(value));
    if (f->kind == FIELD_OBJECT)
        return canonical(f->sub, value);
    if (f->kind == FIELD_OPTIONAL) {
        json_t *whole = table_resolve(f->sub, value), *result = canonical(f->sub, whole);
        json_decref(whole);
        return result;
    }
    return json_deep_copy(value);
}

/* The canonical form of `json`, which the table has accepted. */
static json_t *canonical(const struct table *table, const json_t *json)
{
    json_t *result = json_object();
    for (const struct field *f = table->fields; f->name; f++) {
        const json_t *value = json_object_get(json, f->name);
        if (value)
            json_object_set_new(result, f->name, canonical_value(f, value));
    }
    return result;
}

/* A copy without the keys that are null; only RED and ETS may be. */
static json_t *without_nulls(const json_t *settings)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)settings);
    static const char *const may_be_null[] = {"red", "ets"};
    for (size_t i = 0; i < 2; i++)
        if (json_is_null(json_object_get(copy, may_be_null[i])))
            json_object_del(copy, may_be_null[i]);
    return copy;
}

/* ---- loading */

static json_t *strip_all(const json_t *interfaces)
{
    json_t *stripped = json_object();
    const char *name;
    json_t *settings;
    json_object_foreach((json_t *)(uintptr_t)interfaces, name, settings) json_object_set_new(
        stripped, name, json_is_object(settings) ? without_nulls(settings) : json_incref(settings));
    return stripped;
}

static int check_names(const json_t *interfaces, const char *where, struct error *e)
{
    const char *name;
    json_t *settings;
    json_object_foreach((json_t *)(uintptr_t)interfaces, name, settings)
    {
        if (!device_name_valid(name))
            return error_set(e, "%s: interfaces: \"%.40s\" is not a valid interface name", where, name);
    }
    return 0;
}

json_t *document_interfaces(const json_t *document, const char *where, struct error *e)
{
    struct document parsed;
    const json_t *interfaces = json_object_get(document, "interfaces");
    json_t *copy = json_is_object(document) ? json_copy((json_t *)(uintptr_t)document) : json_null();
    if (json_is_object(interfaces))
        json_object_set_new(copy, "interfaces", strip_all(interfaces));
    int result = table_parse(&document_table, copy, &parsed, e);
    json_decref(copy);
    if (result != 0) {
        error_prefix(e, "%s", where);
        return NULL;
    }
    table_free(&document_table, &parsed);
    if (check_names(interfaces, where, e) != 0)
        return NULL;
    json_t *all = json_object();
    const char *name;
    json_t *settings;
    json_object_foreach((json_t *)(uintptr_t)interfaces, name, settings)
        json_object_set_new(all, name, canonical(&settings_table, settings));
    return all;
}

json_t *document_load(const char *path, struct error *e)
{
    bool input = strcmp(path, "-") == 0;
    json_t *document = input ? json_file_load_descriptor(STDIN_FILENO, "standard input", DOCUMENT_SCENARIO, e)
                             : json_file_load(path, DOCUMENT_SCENARIO, e);
    json_t *interfaces = document ? document_interfaces(document, input ? "standard input" : path, e) : NULL;
    json_decref(document);
    return interfaces;
}

/* ---- parts */

int document_settings(const json_t *json, struct settings *settings, struct error *e)
{
    json_t *stripped = without_nulls(json);
    int result = table_parse(&settings_table, stripped, settings, e);
    json_decref(stripped);
    return result;
}

json_t *document_slice(const json_t *settings, const struct knob *knob)
{
    json_t *slice = json_object();
    for (const char *const *key = knob->keys; *key; key++) {
        json_t *value = json_object_get(settings, *key);
        if (value)
            json_object_set(slice, *key, value);
    }
    return slice;
}

/* Whether every key in `wanted` has its value. */
static bool same_json(const json_t *now, const json_t *target)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)now, key, value)
    {
        json_t *other = json_object_get(target, key);
        if (other && !json_equal(value, other))
            return false;
    }
    return true;
}

int document_same(const struct knob *knob, const json_t *now, const json_t *target, bool *same,
                  struct error *e)
{
    struct settings a, b;
    *same = same_json(now, target);
    if (!knob->same)
        return 0;
    if (document_settings(now, &a, e) != 0)
        return -1;
    int result = document_settings(target, &b, e);
    if (result == 0) {
        *same = knob->same(&a, &b);
        table_free(&settings_table, &b);
    }
    table_free(&settings_table, &a);
    return result;
}

json_t *document_merge(const json_t *before, const json_t *wanted)
{
    json_t *target = json_deep_copy(before), *red = json_object_get(wanted, "red");
    json_merge_deep(target, wanted);
    if (red)
        json_object_set_new(target, "red", json_deep_copy(red));
    return target;
}
