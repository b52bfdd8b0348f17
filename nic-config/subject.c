#include "nic-config/subject.h"

#include "lib/document/json_text.h"
#include "nic-config/document.h"
#include <string.h>

void subject_recall(struct subject *s, const struct journal *journal)
{
    const json_t *last = journal ? journal_last(journal, s->device.name, knob_red.name) : NULL;
    if (s->has_recalled)
        table_free(&settings_table, &s->recalled);
    s->has_recalled = last && document_settings(last, &s->recalled, NULL) == 0;
    s->device.red_written = s->has_recalled ? s->recalled.red : NULL;
}

int subject_open(struct subject *s, struct host *host, const struct journal *journal, const char *name,
                 struct error *e)
{
    memset(s, 0, sizeof *s);
    if (device_open(&s->device, host, name, e) != 0)
        return -1;
    s->before = json_object();
    s->places = json_object();
    s->missing = json_object();
    s->unread = json_object();
    subject_recall(s, journal);
    return 0;
}

void subject_close(struct subject *s)
{
    json_t *all[] = {s->before, s->places, s->missing, s->unread, s->wanted, s->target, s->bound};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        json_decref(all[i]);
    if (s->has_recalled)
        table_free(&settings_table, &s->recalled);
}

static void note_all_keys(json_t *object, const struct knob *knob, const char *text)
{
    for (const char *const *key = knob->keys; *key; key++)
        json_object_set_new(object, *key, json_text(text));
}

enum knob_answer subject_read(struct subject *s, const struct knob *knob, json_t *settings, json_t *places,
                              json_t *missing, struct error *e)
{
    struct text place = {0};
    struct error why = {""};
    enum knob_answer answer = knob->read(&s->device, settings, &place, &why);
    if (answer == KNOB_READ && places)
        note_all_keys(places, knob, text_string(&place));
    if (answer == KNOB_MISSING && missing)
        note_all_keys(missing, knob, why.text);
    if (answer != KNOB_READ && e)
        *e = why;
    text_free(&place);
    return answer;
}

void subject_read_before(struct subject *s)
{
    struct error e = {""};
    for (const struct knob *const *knob = knobs; *knob; knob++)
        if (subject_read(s, *knob, s->before, s->places, s->missing, &e) == KNOB_FAILED)
            note_all_keys(s->unread, *knob, e.text);
}

bool subject_wants(const struct subject *s, const struct knob *knob)
{
    for (const char *const *key = knob->keys; *key; key++)
        if (json_object_get(s->wanted, *key))
            return true;
    return false;
}
