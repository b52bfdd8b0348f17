/* Parts of a JSON text: of one that is whole they are the members of its values that the paths lead to; of
 * others at most a failure. */
#include "lib/document/json_file.h"
#include "lib/document/json_file.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const paths[] = {"a", "b.c", "h.*.k.rx_p#_q.d", "h.*.o", "*.z.*", NULL};

/* ---- the same on values, simply */

static bool key_fits(const char *wanted, size_t length, const char *key)
{
    if (length == 1 && *wanted == '*')
        return true;
    for (; length; length--, wanted++) {
        if (*wanted != '#') {
            if (*key++ != *wanted)
                return false;
            continue;
        }
        size_t digits = strspn(key, "0123456789");
        if (!digits)
            return false;
        key += digits;
    }
    return !*key;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static json_t *pruned(const json_t *value, const char *const *from)
{
    const char *key;
    json_t *member, *out = json_object();
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        const char *below[sizeof paths / sizeof *paths] = {0};
        size_t count = 0;
        bool whole = !json_is_object(member), any = false;
        for (size_t i = 0; from[i]; i++) {
            size_t length = strcspn(from[i], ".");
            if (!key_fits(from[i], length, key))
                continue;
            any = true;
            whole |= !from[i][length];
            if (from[i][length])
                below[count++] = from[i] + length + 1;
        }
        if (any)
            json_object_set_new(out, key, whole ? json_incref(member) : pruned(member, below));
    }
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text out = {0};
    struct error e;
    const char *text = (const char *)data;
    size_t depth;
    int result = json_parts(text, size, paths, &out, &e);
    /* a key with an escape is none for the one, and any other for the other; jansson passes over some zeros
     */
    if (!memchr(text, '\\', size) && !memchr(text, '\0', size) &&
        json_file_memory(text, size, &depth) < (size_t)64 << 20 && depth < 64) {
        json_t *whole = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
        if (json_is_object(whole)) {
            json_t *parts =
                result == 0 ? json_loadb(out.data, out.length, JSON_REJECT_DUPLICATES, NULL) : NULL;
            json_t *expected = pruned(whole, paths);
            if (!parts || !json_equal(parts, expected))
                abort();
            json_decref(parts);
            json_decref(expected);
        }
        json_decref(whole);
    }
    text_free(&out);
    return 0;
}
