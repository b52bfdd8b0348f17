#include "verify/findings.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct finding_kind *kind_of(struct findings *f, const char *name)
{
    size_t i = 0;
    while (i < FINDINGS_KINDS - 1 && f->kinds[i].name && strcmp(f->kinds[i].name, name) != 0)
        i++;
    f->kinds[i].name = name;
    return &f->kinds[i];
}

static char *formatted(const char *format, va_list arguments)
{
    struct text t = {0};
    text_add_list(&t, format, arguments);
    return text_take(&t);
}

void findings_add(struct findings *f, const char *kind, uint64_t number, int64_t time_ns, const char *format,
                  ...)
{
    struct finding_kind *of = kind_of(f, kind);
    uint64_t i = of->count++;
    of->witnessed += f->witnessed;
    if (i >= FINDINGS_SHOWN)
        return;
    va_list arguments;
    va_start(arguments, format);
    of->shown[i] = (struct finding){number, time_ns, formatted(format, arguments)};
    va_end(arguments);
}

void findings_witness(struct findings *f, const char *kind, uint64_t count)
{
    for (size_t i = 0; i < FINDINGS_KINDS && f->kinds[i].name; i++)
        if (strcmp(f->kinds[i].name, kind) == 0)
            f->kinds[i].witnessed = count;
}

void findings_take(struct findings *f, struct findings *from)
{
    for (size_t i = 0; i < FINDINGS_KINDS && from->kinds[i].name; i++) {
        struct finding_kind *kind = &from->kinds[i], *to = kind_of(f, kind->name);
        for (uint64_t k = 0; k < kind->count && k < FINDINGS_SHOWN; k++) {
            if (to->count + k < FINDINGS_SHOWN)
                to->shown[to->count + k] = kind->shown[k];
            else
                free(kind->shown[k].text);
            kind->shown[k].text = NULL;
        }
        to->count += kind->count;
        to->witnessed += kind->witnessed;
    }
}

static void add_count(struct findings *f, const char *what, uint64_t count, bool counts)
{
    size_t i = 0;
    while (i < FINDINGS_KINDS - 1 && f->judged[i].what && strcmp(f->judged[i].what, what) != 0)
        i++;
    f->judged[i].what = what;
    f->judged[i].counts = counts;
    f->judged[i].count += count;
}

void findings_judged(struct findings *f, const char *what, uint64_t count)
{
    add_count(f, what, count, true);
}

void findings_seen(struct findings *f, const char *what, uint64_t count)
{
    add_count(f, what, count, false);
}

void findings_figure(struct findings *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = formatted(format, arguments), *all = NULL;
    va_end(arguments);
    if (f->figure && text && asprintf(&all, "%s; %s", f->figure, text) < 0)
        all = NULL;
    if (all)
        free(text);
    free(f->figure);
    f->figure = all ? all : text;
}

/* Returns the note, or the last one if there is no room for more. */
static const char *add_note(struct findings *f, const char *format, va_list arguments)
{
    char *text = formatted(format, arguments);
    size_t i = 0;
    while (text && i < FINDINGS_NOTES && f->notes[i] && strcmp(f->notes[i], text) != 0)
        i++;
    if (text && i < FINDINGS_NOTES && !f->notes[i])
        f->notes[i] = text;
    else
        free(text);
    return f->notes[i < FINDINGS_NOTES ? i : FINDINGS_NOTES - 1];
}

void findings_not_judged(struct findings *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(f, format, arguments);
    va_end(arguments);
}

void findings_open(struct findings *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *note = add_note(f, format, arguments);
    va_end(arguments);
    if (!f->open)
        f->open = note ? note : "out of memory";
}

uint64_t findings_count(const struct findings *f)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < FINDINGS_KINDS; i++)
        sum += f->kinds[i].count;
    return sum;
}

static json_t *kind_json(const struct finding_kind *kind)
{
    json_t *packets = json_array();
    for (uint64_t i = 0; i < kind->count && i < FINDINGS_SHOWN; i++) {
        const struct finding *s = &kind->shown[i];
        json_t *packet =
            json_make("{s:I,s:s}", "packet", (json_int_t)s->number, "text", s->text ? s->text : "");
        if (packet && s->time_ns >= 0)
            json_object_set_new(packet, "time_ns", json_integer(s->time_ns));
        json_array_append_new(packets, packet);
    }
    return json_make("{s:s,s:I,s:o}", "kind", kind->name, "count", (json_int_t)kind->count, "packets",
                     packets);
}

/* "12 packets sent", "1 packet sent": the first word that ends in s is the noun, but behind "of". */
static void add_things(uint64_t count, const char *what, struct text *out)
{
    const char *end = what + strcspn(what, " ");
    while (*end && end[-1] != 's')
        end += 1 + strcspn(end + 1, " ");
    size_t cut = count == 1 && end[-1] == 's' && strncmp(what, "of ", 3) != 0;
    text_add(out, "%s%llu %.*s%s", out->length ? ", " : "", (unsigned long long)count,
             (int)(end - what - (ptrdiff_t)cut), what, end);
}

/* "3 findings in 1200 packets sent, 4 CNPs" */
static void add_counts(const struct findings *f, uint64_t found, struct text *out, bool *any)
{
    *any = false;
    for (size_t i = 0; i < FINDINGS_KINDS && f->judged[i].what; i++) {
        if (!f->judged[i].count)
            continue;
        add_things(f->judged[i].count, f->judged[i].what, out);
        *any = *any || f->judged[i].counts;
    }
    if (!out->length)
        text_add(out, "nothing to judge");
    else if (!*any && !found && !f->open && f->notes[0])
        text_add(out, "; no verdict. Not judged: %s", f->notes[0]);
    else if (!*any && !found)
        text_add(out, "; nothing to judge");
}

json_t *findings_notes(const struct findings *f)
{
    json_t *notes = json_array();
    for (size_t i = 0; i < FINDINGS_NOTES && f->notes[i]; i++)
        json_array_append_new(notes, json_text(f->notes[i]));
    return notes;
}

/* Is it one of these kinds? NULL: all are. */
static bool kind_is_of(const struct finding_kind *kind, const char *const *kinds)
{
    for (size_t k = 0; kinds && kinds[k]; k++)
        if (strcmp(kind->name, kinds[k]) == 0)
            return true;
    return !kinds;
}

static bool findings_fail(const struct findings *f, const char *const *proved, const char *const *sure)
{
    for (size_t i = 0; i < FINDINGS_KINDS && f->kinds[i].name; i++)
        if (kind_is_of(&f->kinds[i], proved) && (f->kinds[i].witnessed || kind_is_of(&f->kinds[i], sure)))
            return true;
    return false;
}

uint64_t findings_unsure(const struct findings *f, const char *const *sure)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < FINDINGS_KINDS && f->kinds[i].name; i++)
        sum += kind_is_of(&f->kinds[i], sure) ? 0 : f->kinds[i].count - f->kinds[i].witnessed;
    return sum;
}

json_t *findings_json(const struct findings *f, const char *check, const struct findings *common,
                      const char *const *proved, const char *const *sure)
{
    uint64_t found = findings_count(f);
    struct text reason = {0};
    bool any, failed = findings_fail(f, proved, sure);
    add_counts(f, found, &reason, &any);
    if (f->figure)
        text_add(&reason, "; %s", f->figure);
    json_t *kinds = json_array();
    for (size_t i = 0; i < FINDINGS_KINDS && f->kinds[i].name; i++)
        json_array_append_new(kinds, kind_json(&f->kinds[i]));
    const char *open = f->open ? f->open : common->open;
    json_t *entry = json_make("{s:s,s:s,s:s,s:I,s:o,s:o}", "check", check, "verdict",
                              failed         ? "failure"
                              : any && !open ? "ok"
                                             : "unknown",
                              "reason", text_string(&reason), "count", (json_int_t)found, "findings", kinds,
                              "not_judged", findings_notes(f));
    if (open)
        json_object_set_new(entry, "open", json_text(open));
    text_free(&reason);
    return entry;
}

void findings_free(struct findings *f)
{
    for (size_t i = 0; i < FINDINGS_KINDS; i++)
        for (size_t k = 0; k < FINDINGS_SHOWN; k++)
            free(f->kinds[i].shown[k].text);
    for (size_t i = 0; i < FINDINGS_NOTES; i++)
        free(f->notes[i]);
    free(f->figure);
    *f = (struct findings){0};
}
