/* A document as people write it. */
#include "harness/import/import.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

static void add_value(struct text *out, const json_t *value)
{
    char *compact = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    if (compact)
        text_add_bytes(out, compact, strlen(compact));
    else
        out->failed = true;
    free(compact);
}

static void add_key(struct text *out, const char *key)
{
    json_t *name = json_text(key);
    add_value(out, name);
    json_decref(name);
    text_add(out, ": ");
}

#define LINE 100

/* Lists of objects, and objects that are longer than a line, have a line for each item. */
static bool is_long(const json_t *value)
{
    if (json_is_array(value))
        return json_is_object(json_array_get(value, 0));
    return json_is_object(value) && json_dumpb(value, NULL, 0, 0) > LINE;
}

static void add_items(struct text *out, const json_t *value)
{
    const char *between = "\n    ", *key;
    const json_t *item;
    size_t i;
    if (json_is_array(value)) {
        text_add(out, "[");
        json_array_foreach(value, i, item)
        {
            text_add(out, "%s", between);
            add_value(out, item);
            between = ",\n    ";
        }
        text_add(out, "\n  ]");
        return;
    }
    text_add(out, "{");
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        text_add(out, "%s", between);
        add_key(out, key);
        add_value(out, item);
        between = ",\n    ";
    }
    text_add(out, "\n  }");
}

int import_write(const char *path, const json_t *document, struct error *e)
{
    struct text out = {0};
    const char *between = "\n  ", *key;
    const json_t *value;
    text_add(&out, "{");
    json_object_foreach((json_t *)(uintptr_t)document, key, value)
    {
        text_add(&out, "%s", between);
        add_key(&out, key);
        if (is_long(value))
            add_items(&out, value);
        else
            add_value(&out, value);
        between = ",\n  ";
    }
    text_add(&out, "\n}\n");
    int result = out.failed ? error_set(e, "writing %s: out of memory", path)
                            : files_write_atomic(path, text_string(&out), out.length, e);
    text_free(&out);
    return result;
}
