#include "harness/doctor/doctor.h"
#include "lib/document/json_text.h"
#include <stdarg.h>

void preflight_say(json_t *entries, const char *host, const char *check, const char *verdict, const char *fix,
                   const char *reason, ...)
{
    va_list arguments;
    va_start(arguments, reason);
    json_t *words = json_text_list(reason, arguments);
    va_end(arguments);
    json_array_append_new(entries, json_make("{s:s,s:s,s:s,s:o,s:s*}", "host", host, "check", check,
                                             "verdict", verdict, "reason", words, "fix", fix));
}

void preflight_read(json_t *entries, const char *from, ...)
{
    va_list arguments;
    va_start(arguments, from);
    json_t *words = json_text_list(from, arguments);
    va_end(arguments);
    json_object_set_new(json_array_get(entries, json_array_size(entries) - 1), "evidence", words);
}

void preflight_add_new(json_t *entries, json_t *found)
{
    size_t i, k;
    json_t *entry, *there;
    json_array_foreach(found, i, entry)
    {
        bool known = false;
        json_array_foreach(entries, k, there)
        {
            known = known || json_equal(there, entry);
        }
        if (!known)
            json_array_append(entries, entry);
    }
    json_decref(found);
}
