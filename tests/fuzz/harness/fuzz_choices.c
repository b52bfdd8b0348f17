/* The choices of a sweep, and a condition over each of them. */
#include "harness/plan/choices.h"
#include "harness/plan/condition.h"
#include "lib/document/paths.h"
#include "lib/document/json_file.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LOOKED_AT     64
#define MOST_ELEMENTS 2000 /* a range of a million values is right, but slow */

static json_t *values_at(const void *context, const json_t *choice, const char *path)
{
    (void)choice;
    return paths_values(context, path);
}

static json_t *values_of(const void *context, const char *path)
{
    return paths_values(context, path);
}

/* Counts that only take time are made small. */
static void shorten(json_t *at)
{
    static const char *const counts[] = {"points", "count"};
    const char *key;
    json_t *child;
    size_t i;
    for (i = 0; i < sizeof counts / sizeof *counts; i++) {
        json_t *count = json_object_get(at, counts[i]);
        if (json_integer_value(count) > MOST_ELEMENTS)
            json_integer_set(count, MOST_ELEMENTS);
    }
    json_object_foreach(at, key, child)
    {
        shorten(child);
    }
    json_array_foreach(at, i, child)
    {
        shorten(child);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e;
    struct choices c;
    json_t *sweep = json_file_parse((const char *)data, size, "input", DOCUMENT_LINE, &e);
    shorten(sweep);
    if (sweep && choices_parse(sweep, false, false, values_at, sweep, &c, &e) == 0) {
        for (size_t i = 0; i < c.count && i < LOOKED_AT; i++) {
            json_t *choice = choices_at(&c, i), *document = json_object();
            const char *path;
            json_t *value;
            json_object_foreach(choice, path, value)
            {
                paths_set(document, path, value, &e);
            }
            condition_holds(choice, values_of, document, &e);
            json_decref(document);
            json_decref(choice);
        }
        choices_free(&c);
    }
    json_decref(sweep);
    return 0;
}
