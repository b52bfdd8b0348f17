#include "lib/output/verdicts.h"

#include "lib/output/print.h"
#include "lib/text.h"
#include <string.h>

void verdict_print_below(const json_t *entry, int indent, bool evidence)
{
    const char *fix = json_string_value(json_object_get(entry, "fix"));
    const char *read = json_string_value(json_object_get(entry, "evidence"));
    if (fix)
        print_out("%*s-> %s\n", indent, "", fix);
    if (read && evidence)
        print_out("%*sread: %s\n", indent, "", read);
}

json_t *verdict_not_judged(const json_t *entry)
{
    const char *reason = json_string_value(json_object_get(entry, "reason"));
    json_t *notes = json_array(), *note;
    size_t i;
    json_array_foreach(json_object_get(entry, "not_judged"), i, note)
    {
        const char *words = json_string_value(note);
        if (words && !(reason && strstr(reason, words)))
            json_array_append(notes, note);
    }
    return notes;
}

void verdict_print_not_judged(const json_t *entry, int indent)
{
    json_t *notes = verdict_not_judged(entry), *note;
    size_t i;
    json_array_foreach(notes, i, note) print_out("%*snot judged: %s\n", indent, "", json_string_value(note));
    json_decref(notes);
}

struct verdict_counts verdicts_count(const json_t *entries)
{
    struct verdict_counts counts = {0};
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        const char *verdict = json_string_value(json_object_get(entry, "verdict"));
        counts.ok += strcmp(verdict, "ok") == 0;
        counts.warnings += strcmp(verdict, "warning") == 0;
        counts.failures += strcmp(verdict, "failure") == 0;
        counts.unknown += strcmp(verdict, "unknown") == 0;
    }
    return counts;
}

void verdicts_print_counts(const struct verdict_counts *counts)
{
    print_out("%zu ok, %zu %s, %zu %s, %zu unknown\n", counts->ok, counts->warnings,
              THINGS(counts->warnings, "warning"), counts->failures, THINGS(counts->failures, "failure"),
              counts->unknown);
}
