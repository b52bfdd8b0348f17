#include "guest-setup/nic-config/transaction.h"

#include "guest-setup/nic-config/headroom.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A setting that another one moved is written again; three rounds settle all that can be settled. */
#define ROUNDS 3

/* ---- subjects
 * --------------------------------------------------------------------------------------------------- */

void transaction_init(struct transaction *t, struct host *host, struct journal *journal)
{
    *t = (struct transaction){.host = host,
                              .journal = journal,
                              .changes = json_array(),
                              .skipped = json_array(),
                              .warnings = json_array(),
                              .thresholds = json_object(),
                              .restored = json_array(),
                              .failed = json_array(),
                              .gone = json_array()};
}

void transaction_free(struct transaction *t)
{
    for (size_t i = 0; i < t->count; i++) {
        struct subject *s = &t->subjects[i];
        json_t *all[] = {s->before, s->places, s->missing, s->unread, s->wanted, s->target};
        for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
            json_decref(all[k]);
        if (s->has_recalled)
            table_free(&settings_table, &s->recalled);
    }
    free(t->subjects);
    json_t *all[] = {t->changes, t->skipped, t->warnings, t->thresholds, t->restored,
                     t->failed,  t->gone,    t->asked,    t->read};
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        json_decref(all[k]);
    memset(t, 0, sizeof(*t));
}

/* Tell the device how RED was last written. Called anew after each write, because the journal has changed. */
static void recall(const struct transaction *t, struct subject *s)
{
    const json_t *last = t->journal ? journal_last(t->journal, s->device.name, knob_red.name) : NULL;
    if (s->has_recalled)
        table_free(&settings_table, &s->recalled);
    s->has_recalled = last && document_settings(last, &s->recalled, NULL) == 0;
    s->device.red_written = s->has_recalled ? s->recalled.red : NULL;
}

static struct subject *add_subject(struct transaction *t, const char *name, struct error *e)
{
    struct subject *larger = realloc(t->subjects, (t->count + 1) * sizeof(*larger));
    if (larger == NULL) {
        error_set(e, "out of memory");
        return NULL;
    }
    t->subjects = larger;
    /* the array may have moved, and devices point into their subjects */
    for (size_t i = 0; i < t->count; i++)
        larger[i].device.red_written = larger[i].has_recalled ? larger[i].recalled.red : NULL;
    struct subject *s = &larger[t->count];
    memset(s, 0, sizeof(*s));
    if (device_open(&s->device, t->host, name, e) != 0)
        return NULL;
    s->before = json_object();
    s->places = json_object();
    s->missing = json_object();
    s->unread = json_object();
    t->count++;
    recall(t, s);
    return s;
}

static void note_all_keys(json_t *object, const struct knob *knob, const char *text)
{
    for (const char *const *key = knob->keys; *key; key++)
        json_object_set_new(object, *key, json_string(text));
}

/* Read one knob into settings; its place or the reason of its absence is noted when there is room for it. */
static enum knob_answer read_knob(struct subject *s, const struct knob *knob, json_t *settings,
                                  json_t *places, json_t *missing, struct error *e)
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

/* What could not be read is in the way only of who asks for it. */
static void read_before(struct subject *s)
{
    struct error e = {""};
    for (const struct knob *const *knob = knobs; *knob; knob++)
        if (read_knob(s, *knob, s->before, s->places, s->missing, &e) == KNOB_FAILED)
            note_all_keys(s->unread, *knob, e.text);
}

static int add_thresholds(struct transaction *t, const struct subject *s, const struct settings *target,
                          struct error *e)
{
    bool refused;
    json_t *list = headroom_thresholds(&s->device, target, t->warnings, &refused, e);
    if (list)
        json_object_set_new(t->thresholds, s->device.name, list);
    return refused ? -1 : 0;
}

int transaction_read(struct transaction *t, const json_t *names, struct error *e)
{
    size_t i;
    const json_t *name;
    json_array_foreach(names, i, name)
    {
        struct subject *s = add_subject(t, json_string_value(name), e);
        struct settings settings;
        if (s == NULL)
            return -1;
        read_before(s);
        if (s->device.index == 0)
            return error_set(e, "there is no interface %s", s->device.name);
        if (document_settings(s->before, &settings, e) != 0)
            return error_prefix(e, "%s: what is in force", s->device.name);
        int result = add_thresholds(t, s, &settings, e);
        table_free(&settings_table, &settings);
        if (result != 0)
            return -1;
    }
    return 0;
}

/* ---- preparing
 * -------------------------------------------------------------------------------------------------- */

static const struct knob *knob_of(const char *key)
{
    for (const struct knob *const *knob = knobs; *knob; knob++)
        for (const char *const *k = (*knob)->keys; *k; k++)
            if (strcmp(*k, key) == 0)
                return *knob;
    return NULL;
}

static bool wants(const struct subject *s, const struct knob *knob)
{
    for (const char *const *key = knob->keys; *key; key++)
        if (json_object_get(s->wanted, *key))
            return true;
    return false;
}

/* Why a key cannot be set here, or NULL. */
static const char *why_missing(const struct subject *s, const char *key)
{
    const char *why = json_string_value(json_object_get(s->missing, key));
    if (knob_of(key) == NULL)
        return "it is no setting of a Linux interface";
    if (why)
        return why;
    return json_object_get(s->before, key) ? NULL : "the driver does not show it";
}

/* Take out of wanted what this machine has no place for, or refuse. */
static int settle_missing(struct transaction *t, struct subject *s, struct error *e)
{
    const char *key;
    json_t *value;
    void *next;
    s->to_be_made = s->device.index == 0 && json_object_get(s->wanted, "kind");
    if (s->to_be_made)
        return 0;
    if (s->device.index == 0)
        return error_set(e, "there is no interface %s", s->device.name);
    json_object_foreach_safe(s->wanted, next, key, value)
    {
        const char *unread = json_string_value(json_object_get(s->unread, key));
        if (unread != NULL)
            return error_set(e, "%s: %s could not be read: %s", s->device.name, key, unread);
        const char *why = why_missing(s, key);
        if (why == NULL)
            continue;
        if (!t->skip_missing)
            return error_set(e, "%s: %s cannot be set: %s (--skip-missing leaves it out)", s->device.name,
                             key, why);
        json_array_append_new(
            t->skipped, json_pack("{s:s,s:s,s:s}", "interface", s->device.name, "setting", key, "why", why));
        json_object_del(s->wanted, key);
    }
    return 0;
}

static int complete(struct subject *s, struct error *e)
{
    const char *key;
    json_t *value;
    for (const struct knob *const *knob = knobs; *knob; knob++)
        if ((*knob)->complete && wants(s, *knob) &&
            (*knob)->complete(&s->device, s->wanted, s->target, e) != 0)
            return -1;
    /* what was asked, in the words that it will be compared in; of maps only what was asked */
    json_object_foreach(s->wanted, key, value)
    {
        if (!json_is_object(value) || strcmp(key, "red") == 0)
            json_object_set(s->wanted, key, json_object_get(s->target, key));
    }
    return 0;
}

static int check(struct transaction *t, struct subject *s, struct error *e)
{
    struct settings now, target;
    int result = 0;
    if (document_settings(s->before, &now, e) != 0)
        return error_prefix(e, "%s: what is in force", s->device.name);
    if (document_settings(s->target, &target, e) != 0) {
        table_free(&settings_table, &now);
        return error_prefix(e, "%s", s->device.name);
    }
    for (const struct knob *const *knob = knobs; result == 0 && *knob; knob++)
        if ((*knob)->check && wants(s, *knob))
            result = (*knob)->check(&s->device, &now, &target, t->warnings, e);
    if (result == 0)
        result = add_thresholds(t, s, &target, e);
    table_free(&settings_table, &now);
    table_free(&settings_table, &target);
    return result;
}

int transaction_prepare(struct transaction *t, const json_t *interfaces, struct error *e)
{
    const char *name;
    json_t *wanted;
    json_object_foreach((json_t *)(uintptr_t)interfaces, name, wanted)
    {
        struct subject *s = add_subject(t, name, e);
        if (s == NULL)
            return -1;
        read_before(s);
        s->wanted = json_deep_copy(wanted);
        if (settle_missing(t, s, e) != 0)
            return -1;
        s->target = document_merge(s->before, s->wanted);
        if ((!s->to_be_made && complete(s, e) != 0) || check(t, s, e) != 0)
            return -1;
    }
    return 0;
}

/* ---- comparing
 * -------------------------------------------------------------------------------------------------- */

/* Every key that is there now is as it is to be. */
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

/* Whether a knob's slices say the same; an error means that one of them cannot be read as settings. */
static int same_slices(const struct knob *knob, const json_t *now, const json_t *target, bool *same,
                       struct error *e)
{
    struct settings a, b;
    *same = same_json(now, target);
    if (knob->same == NULL)
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

static void note_change(struct transaction *t, const struct subject *s, const json_t *now,
                        const json_t *target)
{
    const char *key;
    json_t *to;
    json_object_foreach((json_t *)(uintptr_t)target, key, to)
    {
        json_t *from = json_object_get(now, key), *place = json_object_get(s->places, key);
        if (from && json_equal(from, to))
            continue;
        json_array_append_new(t->changes, json_pack("{s:s,s:s,s:O*,s:O*,s:O}", "interface", s->device.name,
                                                    "setting", key, "place", place, "from", from, "to", to));
    }
}

void transaction_compare(struct transaction *t)
{
    for (const struct knob *const *knob = knobs; *knob; knob++)
        for (size_t i = 0; i < t->count; i++) {
            struct subject *s = &t->subjects[i];
            json_t *now = document_slice(s->before, *knob), *target = document_slice(s->target, *knob);
            bool same = true;
            if (wants(s, *knob) &&
                (json_object_size(now) == 0 || same_slices(*knob, now, target, &same, NULL) != 0))
                same = false;
            if (!same)
                note_change(t, s, now, target);
            json_decref(now);
            json_decref(target);
        }
}

/* ---- one step
 * --------------------------------------------------------------------------------------------------- */

enum step { STEP_SAME, STEP_WROTE, STEP_MISMATCH, STEP_MISSING, STEP_FAILED };

/* Write, and wait for what the write may have upset. */
static int write_and_settle(struct subject *s, const struct knob *knob, const struct settings *now,
                            const struct settings *target, struct error *e)
{
    struct device before = s->device;
    int gids = knob->flap_ns > 0 ? device_gid_count(&s->device) : 0;
    if (knob->write(&s->device, now, target, e) != 0)
        return -1;
    if (knob->flap_ns > 0 && device_settle(&s->device, &before, gids, knob->flap_ns, e) != 0)
        return -1;
    return 0;
}

static int write_slice(struct transaction *t, struct subject *s, const struct knob *knob, const json_t *now,
                       const json_t *target, struct error *e)
{
    struct settings a, b;
    if (document_settings(now, &a, e) != 0)
        return -1;
    int result = document_settings(target, &b, e);
    if (result == 0) {
        result = journal_note_write(t->journal, s->device.name, knob->name, target, e);
        if (result == 0) {
            t->wrote = true;
            result = write_and_settle(s, knob, &a, &b, e);
        }
        table_free(&settings_table, &b);
    }
    table_free(&settings_table, &a);
    if (result == 0)
        result = journal_note_written(t->journal, s->device.name, knob->name, e);
    recall(t, s);
    return result;
}

/* Bring one knob of one interface to its target. *now receives what it was before, a new reference (NULL: not read). */
static enum step bring(struct transaction *t, struct subject *s, const struct knob *knob,
                       const json_t *target, json_t **now, json_t **after, struct error *e)
{
    bool same;
    *now = json_object();
    *after = NULL;
    if (device_refresh(&s->device, e) != 0)
        return STEP_FAILED;
    enum knob_answer answer = read_knob(s, knob, *now, NULL, NULL, e);
    if (answer != KNOB_READ)
        return answer == KNOB_MISSING ? STEP_MISSING : STEP_FAILED;
    if (same_slices(knob, *now, target, &same, e) != 0)
        return STEP_FAILED;
    if (same && !(knob->deferred && journal_unfinished(t->journal, s->device.name, knob->name)))
        return STEP_SAME;
    if (write_slice(t, s, knob, *now, target, e) != 0)
        return STEP_FAILED;
    *after = json_object();
    if (device_refresh(&s->device, e) != 0 || read_knob(s, knob, *after, NULL, NULL, e) == KNOB_FAILED ||
        same_slices(knob, *after, target, &same, e) != 0)
        return STEP_FAILED;
    return same ? STEP_WROTE : STEP_MISMATCH;
}

static void say_mismatch(struct transaction *t, const struct subject *s, const struct knob *knob,
                         const json_t *target, const json_t *after, struct error *e)
{
    char *asked = json_dumps(target, JSON_COMPACT | JSON_SORT_KEYS),
         *read = json_dumps(after, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(t->asked);
    json_decref(t->read);
    t->asked = json_deep_copy(target);
    t->read = json_deep_copy(after);
    error_set(e, "%s: %s was written and reads back as another value: asked for %.300s, read %.300s",
              s->device.name, knob->name, asked ? asked : "?", read ? read : "?");
    free(asked);
    free(read);
}

/* ---- applying
 * --------------------------------------------------------------------------------------------------- */

static bool interrupted(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1);
}

/* A setting that was not asked for is written when a write of ours has moved it, unless the driver means to move it. */
static bool concerns_apply(const struct transaction *t, const struct subject *s, const struct knob *knob)
{
    if (wants(s, knob))
        return true;
    json_t *slice = document_slice(s->before, knob);
    bool there = json_object_size(slice) > 0;
    json_decref(slice);
    return there && t->wrote && !knob->follows && !s->to_be_made;
}

static enum step apply_step(struct transaction *t, struct subject *s, const struct knob *knob,
                            struct error *e)
{
    json_t *target = document_slice(s->target, knob), *now, *after;
    enum step step = bring(t, s, knob, target, &now, &after, e);
    if (step == STEP_WROTE)
        note_change(t, s, now, target);
    if (step == STEP_MISMATCH)
        say_mismatch(t, s, knob, target, after, e);
    if (step == STEP_MISSING && !wants(s, knob))
        step = STEP_SAME;
    if (step == STEP_MISSING || step == STEP_FAILED)
        error_prefix(e, "%s: %s", s->device.name, knob->name);
    json_decref(target);
    json_decref(now);
    json_decref(after);
    return step;
}

/* One round over all knobs; *wrote counts. 0, 1 interrupted, -1 error. */
static int apply_round(struct transaction *t, int *wrote, struct error *e)
{
    for (const struct knob *const *knob = knobs; *knob; knob++)
        for (size_t i = 0; i < t->count; i++) {
            if (!concerns_apply(t, &t->subjects[i], *knob))
                continue;
            if (interrupted())
                return 1;
            enum step step = apply_step(t, &t->subjects[i], *knob, e);
            if (step != STEP_SAME && step != STEP_WROTE)
                return -1;
            *wrote += step == STEP_WROTE;
        }
    return 0;
}

int transaction_apply(struct transaction *t, struct error *e)
{
    if (journal_begin(t->journal, e) != 0)
        return -1;
    for (size_t i = 0; i < t->count; i++) {
        struct subject *s = &t->subjects[i];
        if (journal_note_before(t->journal, s->device.name, s->device.pci, s->before, e) != 0)
            return -1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        int wrote = 0, result = apply_round(t, &wrote, e);
        if (result != 0)
            return result;
        if (wrote == 0)
            return journal_note_done(t->journal, e);
    }
    return error_set(e, "settings keep moving each other: after %d rounds some still had to be written",
                     ROUNDS);
}

/* ---- putting back
 * ----------------------------------------------------------------------------------------------- */

/* The last knob first, but what reloads an interface before all: after it the others are the driver's defaults. */
static size_t undo_order(const struct knob *order[])
{
    size_t count = 0, total = 0;
    while (knobs[total])
        total++;
    order[count++] = &knob_roce;
    while (total-- > 0)
        if (knobs[total] != &knob_roce)
            order[count++] = knobs[total];
    return count;
}

static void note_failure(struct transaction *t, const struct subject *s, const struct knob *knob,
                         const struct error *e)
{
    json_array_append_new(t->failed, json_pack("{s:s,s:s,s:s}", "interface", s->device.name, "setting",
                                               knob->name, "why", e->text));
}

static void note_restored(struct transaction *t, const struct subject *s, const json_t *found,
                          const json_t *put_back)
{
    const char *key;
    json_t *to;
    json_object_foreach((json_t *)(uintptr_t)put_back, key, to)
    {
        json_t *from = json_object_get(found, key);
        if (from && !json_equal(from, to))
            json_array_append_new(t->restored, json_pack("{s:s,s:s,s:O,s:O}", "interface", s->device.name,
                                                         "setting", key, "found", from, "put_back", to));
    }
}

/* An interface that is not to be there has no other settings. */
static bool concerns_undo(const struct subject *s, const struct knob *knob)
{
    json_t *slice = document_slice(s->before, knob);
    bool there = json_object_size(slice) > 0;
    json_decref(slice);
    return there;
}

/* True when it wrote something. */
static bool undo_step(struct transaction *t, struct subject *s, const struct knob *knob)
{
    struct error e = {""};
    json_t *target = document_slice(s->before, knob), *now, *after;
    enum step step = bring(t, s, knob, target, &now, &after, &e);
    if (step == STEP_MISMATCH)
        say_mismatch(t, s, knob, target, after, &e);
    if (step == STEP_WROTE)
        note_restored(t, s, now, target);
    else if (step != STEP_SAME)
        note_failure(t, s, knob, &e);
    json_decref(target);
    json_decref(now);
    json_decref(after);
    return step == STEP_WROTE;
}

static int undo_round(struct transaction *t)
{
    const struct knob *order[64];
    size_t count = undo_order(order);
    int wrote = 0;
    json_array_clear(t->failed);
    for (size_t k = 0; k < count; k++)
        for (size_t i = t->count; i-- > 0;)
            if (concerns_undo(&t->subjects[i], order[k]))
                wrote += undo_step(t, &t->subjects[i], order[k]);
    return wrote;
}

int transaction_undo(struct transaction *t, struct error *e)
{
    for (int round = 0; round < ROUNDS; round++)
        if (undo_round(t) == 0)
            break;
    if (json_array_size(t->failed) == 0)
        return 0;
    const json_t *first = json_array_get(t->failed, 0);
    return error_set(e, "%zu settings could not be put back, the first is %s of %s: %s",
                     json_array_size(t->failed), json_string_value(json_object_get(first, "setting")),
                     json_string_value(json_object_get(first, "interface")),
                     json_string_value(json_object_get(first, "why")));
}

/* An interface that went away took our settings with it, and so did one whose name another device has now. */
static bool is_gone(struct transaction *t, const struct subject *s, const json_t *record)
{
    const char *pci = json_string_value(json_object_get(record, "pci"));
    bool was_there = strcmp(json_string_value(json_object_get(s->before, "kind")), "absent") != 0;
    const char *why = NULL;
    if (was_there && s->device.index == 0)
        why = "there is no interface of this name";
    else if (pci && pci[0] && strcmp(pci, s->device.pci) != 0)
        why = "the interface of this name is another device now";
    if (why)
        json_array_append_new(t->gone, json_pack("{s:s,s:s}", "interface", s->device.name, "why", why));
    return why != NULL;
}

int transaction_restore(struct transaction *t, struct error *e)
{
    const char *name;
    json_t *record;
    json_object_foreach(t->journal->before, name, record)
    {
        struct subject *s = add_subject(t, name, e);
        if (s == NULL)
            return -1;
        json_decref(s->before);
        s->before = json_incref(json_object_get(record, "settings"));
        if (!json_is_string(json_object_get(s->before, "kind")))
            return error_set(e, "the journal does not say whether %s was there", name);
        if (is_gone(t, s, record)) {
            json_decref(s->before);
            s->before = json_object();
        }
    }
    return transaction_undo(t, e);
}

/* ---- telling
 * ---------------------------------------------------------------------------------------------------- */

static json_t *read_now(struct subject *s)
{
    json_t *settings = json_object();
    if (device_refresh(&s->device, NULL) == 0)
        for (const struct knob *const *knob = knobs; *knob; knob++)
            (void)read_knob(s, *knob, settings, NULL, NULL, NULL);
    return settings;
}

json_t *transaction_document(struct transaction *t, char which)
{
    json_t *interfaces = json_object();
    for (size_t i = 0; i < t->count; i++) {
        struct subject *s = &t->subjects[i];
        json_t *settings = which == 'r'   ? read_now(s)
                           : which == 'b' ? json_incref(s->before)
                                          : json_incref(s->wanted);
        json_object_set_new(interfaces, s->device.name, settings);
    }
    return interfaces;
}
