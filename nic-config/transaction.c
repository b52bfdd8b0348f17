#include "nic-config/transaction.h"

#include "lib/document/json_text.h"
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/interrupt.h"
#include "lib/log.h"
#include "lib/xalloc.h"
#include "nic-config/device/bound.h"
#include "nic-config/document.h"
#include <stdlib.h>
#include <string.h>

/* ---- a subject: one interface, its current and its wanted settings */

/* Tell the device how RED was last written. Called again after each write, because the journal has
 * changed. */
static void subject_recall(struct subject *s, const struct journal *journal)
{
    const json_t *last = journal ? journal_last(journal, s->known_as, knob_red.name) : NULL;
    if (s->has_recalled)
        table_free(&settings_table, &s->recalled);
    s->has_recalled = last && document_settings(last, &s->recalled, NULL) == 0;
    s->device.red_written = s->has_recalled ? s->recalled.red : NULL;
}

/* journal may be NULL; it knows the interface as `known_as`. */
static int subject_open(struct subject *s, struct host *host, const struct journal *journal, const char *name,
                        const char *known_as, struct error *e)
{
    memset(s, 0, sizeof *s);
    if (device_open(&s->device, host, name, e) != 0)
        return -1;
    snprintf(s->known_as, sizeof s->known_as, "%s", known_as);
    s->before = json_object();
    s->places = json_object();
    s->missing = json_object();
    s->unread = json_object();
    subject_recall(s, journal);
    return 0;
}

static void subject_close(struct subject *s)
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

/* Read one knob into settings; its place, or the reason of its absence, is recorded if these arguments are
 * not NULL. */
static enum knob_answer subject_read(struct subject *s, const struct knob *knob, json_t *settings,
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

/* A setting that the write of another one changed is written again; after three rounds this cannot converge
 * any more. */
#define ROUNDS 3

/* ---- subjects */

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
    for (size_t i = 0; i < t->count; i++)
        subject_close(&t->subjects[i]);
    free(t->subjects);
    json_t *all[] = {t->changes, t->skipped, t->warnings, t->thresholds, t->restored,
                     t->failed,  t->gone,    t->asked,    t->read};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        json_decref(all[k]);
    memset(t, 0, sizeof *t);
}

static struct subject *add_known_as(struct transaction *t, const char *name, const char *known_as,
                                    struct error *e)
{
    struct subject *larger = realloc(t->subjects, (t->count + 1) * sizeof *larger);
    if (!larger) {
        error_set(e, "out of memory");
        return NULL;
    }
    t->subjects = larger;
    if (subject_open(&larger[t->count], t->host, t->journal, name, known_as, e) != 0)
        return NULL;
    return &larger[t->count++];
}

/* ---- which interface is it? */

/* Has the interface of this name this PCI function? */
static bool has_pci(struct transaction *t, const char *name, const char *pci)
{
    struct device d;
    return pci[0] != '\0' && device_open(&d, t->host, name, NULL) == 0 && d.index != 0 &&
           strcmp(d.pci, pci) == 0;
}

/* The one interface of a PCI function that the journal does not know by the name it has now; false: none, or
 * several. */
static bool find_by_pci(struct transaction *t, const char *pci, char *found)
{
    size_t i, count = 0;
    const json_t *item;
    json_t *names = pci[0] != '\0' ? device_list(t->host, NULL) : NULL;
    json_array_foreach(names, i, item)
    {
        const char *name = json_string_value(item),
                   *known =
                       json_string_value(json_object_get(json_object_get(t->journal->before, name), "pci"));
        if ((known && strcmp(known, pci) == 0) || !has_pci(t, name, pci))
            continue;
        snprintf(found, IFNAMSIZ, "%s", name);
        count++;
    }
    json_decref(names);
    return count == 1;
}

/* The name that an interface of the journal has now: an index is an interface's until the next boot, a PCI
 * function beyond it. */
static void find_name_now(struct transaction *t, const char *name, const json_t *record, char *now)
{
    const char *pci = json_string_value(json_object_get(record, "pci"));
    int64_t index = json_integer_value(json_object_get(record, "index"));
    char found[IFNAMSIZ] = "";
    snprintf(now, IFNAMSIZ, "%s", name);
    bool by_index = index > 0 && index <= INT32_MAX && !t->journal->rebooted && !t->journal->elsewhere &&
                    device_name_of(t->host, (int)index, found, NULL) == 0 && found[0] != '\0' &&
                    (pci[0] == '\0' || has_pci(t, found, pci));
    if (by_index || (!has_pci(t, name, pci) && find_by_pci(t, pci, found)))
        snprintf(now, IFNAMSIZ, "%s", found);
}

/* The name by which the journal knows the interface: that of the set before which it was renamed, perhaps. */
static const char *find_known_name(struct transaction *t, const char *name)
{
    const char *known;
    json_t *record;
    if (!t->journal)
        return name;
    const json_t *before = t->journal->before;
    if (json_object_get(before, name))
        return name;
    json_object_foreach((json_t *)(uintptr_t)before, known, record)
    {
        char now[IFNAMSIZ];
        find_name_now(t, known, record, now);
        if (strcmp(now, name) == 0)
            return known;
    }
    return name;
}

struct subject *transaction_add(struct transaction *t, const char *name, struct error *e)
{
    return add_known_as(t, name, find_known_name(t, name), e);
}

/* What is there, and what is missing of the others. A new reference. */
static json_t *with_missing(const json_t *there, const json_t *others)
{
    json_t *all = json_copy((json_t *)(uintptr_t)there), *one;
    size_t i;
    json_array_foreach(others, i, one)
    {
        if (!json_list_has(there, one))
            json_array_append(all, one);
    }
    return all;
}

void transaction_note_change(struct transaction *t, const struct subject *s, const struct knob *knob,
                             const json_t *now, const json_t *target)
{
    const char *key;
    json_t *to;
    json_object_foreach((json_t *)(uintptr_t)target, key, to)
    {
        json_t *from = json_object_get(now, key), *place = json_object_get(s->places, key);
        if (from && json_equal(from, to))
            continue;
        json_array_append_new(t->changes,
                              json_make("{s:s,s:s,s:O*,s:O*,s:o}", "interface", s->device.name, "setting",
                                        key, "place", place, "from", from, "to",
                                        knob->adds && from ? with_missing(from, to) : json_incref(to)));
    }
}

/* ---- one step: a knob of an interface. It is written first, and looked at when the others that have the
 * knob are written too: links that a write takes down come back side by side. */

enum step { STEP_SAME, STEP_WROTE, STEP_MISMATCH, STEP_MISSING, STEP_FAILED };

struct writing {
    const struct knob *knob;
    json_t *target;
    json_t *now, *after;  /* previous and new value; NULL: not read */
    bool written;         /* or partly, after a refusal: it is to be settled */
    struct device before; /* the interface before it, */
    int gids;
    int64_t since_ns; /* and when it was written */
    enum step step;   /* what came of it, once it is settled */
    struct error why; /* of STEP_MISSING and STEP_FAILED */
};

/* A restore that cannot write its journal goes on: the settings that it returns to are in the journal
 * already. */
static int noted(const struct transaction *t, int result, const struct error *e)
{
    if (result == 0 || !t->undoing)
        return result;
    log_warning("%s; the settings are restored all the same", e->text);
    return 0;
}

/* Write, after the journal has it. */
static int write_slice(struct transaction *t, struct subject *s, struct writing *w)
{
    struct settings a, b;
    if (document_settings(w->now, &a, &w->why) != 0)
        return -1;
    int result = document_settings(w->target, &b, &w->why);
    if (result == 0) {
        result =
            noted(t, journal_note_write(t->journal, s->known_as, w->knob->name, w->target, &w->why), &w->why);
        if (result == 0) {
            t->wrote = w->written = true;
            w->before = s->device;
            w->gids = w->knob->flap_ns > 0 ? device_gid_count(&s->device) : 0;
            result = w->knob->write(&s->device, &a, &b, &w->why);
            w->since_ns = clock_monotonic_ns();
        }
        table_free(&settings_table, &b);
    }
    table_free(&settings_table, &a);
    return result;
}

/* Begin to set one knob of one interface to its target: all but what comes when it is settled. */
static enum step begin_step(struct transaction *t, struct subject *s, struct writing *w)
{
    bool same;
    w->now = json_object();
    if (device_refresh(&s->device, &w->why) != 0)
        return STEP_FAILED;
    enum knob_answer answer = subject_read(s, w->knob, w->now, NULL, NULL, &w->why);
    if (answer != KNOB_READ)
        return answer == KNOB_MISSING ? STEP_MISSING : STEP_FAILED;
    if (document_same(w->knob, w->now, w->target, &same, &w->why) != 0)
        return STEP_FAILED;
    if (same && !(w->knob->deferred && journal_unfinished(t->journal, s->known_as, w->knob->name)))
        return STEP_SAME;
    return write_slice(t, s, w) == 0 ? STEP_WROTE : STEP_FAILED;
}

static void write_knob(struct transaction *t, struct subject *s, const struct knob *knob, const json_t *from,
                       struct writing *w)
{
    *w = (struct writing){.knob = knob, .target = document_slice(from, knob)};
    w->step = begin_step(t, s, w);
}

/* Wait for the link and the GIDs if the write may have affected them: also after a refusal, which may be half
 * done. Then it is read back. */
static void settle_written(struct transaction *t, struct subject *s, struct writing *w)
{
    struct error later;
    bool same;
    if (!w->written)
        return;
    if (w->knob->flap_ns > 0 &&
        device_settle(&s->device, &w->before, w->gids, w->since_ns, w->knob->flap_ns, &later) != 0 &&
        w->step == STEP_WROTE) {
        w->why = later;
        w->step = STEP_FAILED;
    }
    if (w->step == STEP_WROTE &&
        noted(t, journal_note_written(t->journal, s->known_as, w->knob->name, &w->why), &w->why) != 0)
        w->step = STEP_FAILED;
    subject_recall(s, t->journal);
    w->written = false;
    if (w->step != STEP_WROTE)
        return;
    w->after = json_object();
    if (device_refresh(&s->device, &w->why) != 0 ||
        subject_read(s, w->knob, w->after, NULL, NULL, &w->why) == KNOB_FAILED ||
        document_same(w->knob, w->after, w->target, &same, &w->why) != 0)
        w->step = STEP_FAILED;
    else if (!same)
        w->step = STEP_MISMATCH;
}

static void free_writing(struct writing *w)
{
    json_decref(w->target);
    json_decref(w->now);
    json_decref(w->after);
    *w = (struct writing){0};
}

static void transaction_note_mismatch(struct transaction *t, const struct subject *s, const struct knob *knob,
                                      const json_t *target, const json_t *after, struct error *e)
{
    char *asked = json_dumps(target, JSON_COMPACT | JSON_SORT_KEYS),
         *read = json_dumps(after, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(t->asked);
    json_decref(t->read);
    t->asked = json_deep_copy(target);
    t->read = json_deep_copy(after);
    error_set(e, "%s: %s was written but has another value when read back: written %.300s, read %.300s",
              s->device.name, knob->name, asked ? asked : "?", read ? read : "?");
    free(asked);
    free(read);
}

/* ---- applying */

/* A setting that was not requested is written back when one of our writes has changed it, unless the driver
 * changes it by design, or it went with RoCE. */
static bool concerns_apply(const struct transaction *t, const struct subject *s, const struct knob *knob)
{
    if (subject_wants(s, knob))
        return true;
    if (knob_is_of_roce(knob) && json_is_false(json_object_get(s->target, "roce")))
        return false;
    json_t *slice = document_slice(s->before, knob);
    bool there = json_object_size(slice) > 0;
    json_decref(slice);
    return there && t->wrote && !knob->follows && !s->to_be_made;
}

/* What came of a step, which is settled. -1 with `e` set: it failed. */
static int take_applied(struct transaction *t, struct subject *s, struct writing *w, int *wrote,
                        struct error *e)
{
    if (w->step == STEP_WROTE)
        transaction_note_change(t, s, w->knob, w->now, w->target);
    if (w->step == STEP_MISMATCH)
        transaction_note_mismatch(t, s, w->knob, w->target, w->after, e);
    if (w->step == STEP_MISSING && !subject_wants(s, w->knob))
        w->step = STEP_SAME;
    if (w->step == STEP_MISSING || w->step == STEP_FAILED)
        error_set(e, "%s: %s: %.800s", s->device.name, w->knob->name, w->why.text);
    *wrote += w->step == STEP_WROTE;
    return w->step == STEP_SAME || w->step == STEP_WROTE ? 0 : -1;
}

/* What earlier writes took from the interface is put back before others may need it, as far as it can be
 * there. */
static int keep_bound(struct transaction *t, struct subject *s, struct error *e)
{
    if (!s->bound || !t->wrote)
        return 0;
    json_t *restored = json_array(), *failed = json_array(),
           *wanted = json_object_get(s->wanted, "addresses"),
           *except = wanted ? json_incref(wanted) : json_array();
    int result = bound_put_back(&s->device, s->bound, except, restored, failed, e) < 0 ? -1 : 0;
    if (result == 0 && json_array_size(failed) > 0)
        result = error_set(e, "%s", json_string_value(json_object_get(json_array_get(failed, 0), "why")));
    json_decref(except);
    json_decref(restored);
    json_decref(failed);
    return result;
}

/* Write a knob of all interfaces, of which a failure or an interruption leaves out the others. 0, 1
 * interrupted, -1 error. */
static int write_all(struct transaction *t, const struct knob *knob, struct writing all[], struct error *e)
{
    for (size_t i = 0; i < t->count; i++) {
        struct subject *s = &t->subjects[i];
        if (s->upon)
            continue;
        if (knob == &knob_address && keep_bound(t, s, e) != 0)
            return -1;
        if (!concerns_apply(t, s, knob))
            continue;
        if (interrupt_check(NULL) != 0)
            return 1;
        write_knob(t, s, knob, s->target, &all[i]);
        if (all[i].step == STEP_FAILED || (all[i].step == STEP_MISSING && subject_wants(s, knob)))
            return 0; /* its end is that of the round */
    }
    return 0;
}

/* One round over all knobs; *wrote counts. 0, 1 interrupted, -1 error. */
static int apply_round(struct transaction *t, int *wrote, struct error *e)
{
    struct writing *all = xcalloc(t->count + 1, sizeof *all);
    int result = 0;
    for (const struct knob *const *knob = knobs; *knob && result == 0; knob++) {
        result = write_all(t, *knob, all, e);
        for (size_t i = 0; i < t->count; i++)
            settle_written(t, &t->subjects[i], &all[i]);
        for (size_t i = 0; i < t->count; i++) {
            if (all[i].knob && result == 0)
                result = take_applied(t, &t->subjects[i], &all[i], wrote, e);
            free_writing(&all[i]);
        }
    }
    free(all);
    return result;
}

/* Room in the journal for this set and its restore: each round may write each setting once. */
static size_t journal_bytes(const struct transaction *t)
{
    size_t bytes = 0, count = 0;
    while (knobs[count])
        count++;
    for (size_t i = 0; i < t->count; i++) {
        const struct subject *s = &t->subjects[i];
        size_t settings = journal_size_of(s->before), target = journal_size_of(s->target);
        bytes += settings + (s->bound ? journal_size_of(s->bound) : 0) +
                 ROUNDS * (settings + target + 4 * count * JOURNAL_RECORD_BYTES);
    }
    return bytes;
}

int transaction_apply(struct transaction *t, struct error *e)
{
    if (journal_begin(t->journal, journal_bytes(t), e) != 0)
        return -1;
    for (size_t i = 0; i < t->count; i++) {
        struct subject *s = &t->subjects[i];
        const struct device *d = &s->device;
        if (journal_note_before(t->journal, s->known_as, d->pci, d->index, d->address, s->before, s->bound,
                                e) != 0)
            return -1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        int wrote = 0, result = apply_round(t, &wrote, e);
        if (result != 0)
            return result;
        if (wrote == 0)
            return journal_note_done(t->journal, e);
    }
    return error_set(e, "settings change each other: after %d rounds some still differed", ROUNDS);
}

/* ---- restoring */

/* Knobs in reverse order, but first those that reload an interface, because a reload resets the others to the
 * driver's defaults; and buffers before PFC also here, because the driver holds PFC against the buffers that
 * it finds. */
static size_t undo_order(const struct knob *order[])
{
    size_t count = 0, total = 0;
    while (knobs[total])
        total++;
    order[count++] = &knob_roce;
    while (total-- > 0) {
        if (knobs[total] == &knob_pfc)
            order[count++] = &knob_buffers;
        if (knobs[total] != &knob_roce && knobs[total] != &knob_buffers)
            order[count++] = knobs[total];
    }
    return count;
}

static void note_failure(struct transaction *t, const struct subject *s, const char *setting, const char *why)
{
    json_array_append_new(
        t->failed, json_make("{s:s,s:s,s:s}", "interface", s->device.name, "setting", setting, "why", why));
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
            json_array_append_new(t->restored, json_make("{s:s,s:s,s:O,s:O}", "interface", s->device.name,
                                                         "setting", key, "found", from, "put_back", to));
    }
}

/* An interface that is to be removed has no other settings. Addresses are restored with all that is bound to
 * it. */
static bool concerns_undo(const struct subject *s, const struct knob *knob)
{
    if (knob == &knob_address && s->bound)
        return false;
    json_t *slice = document_slice(s->before, knob);
    bool there = json_object_size(slice) > 0;
    json_decref(slice);
    return there;
}

/* True when it wrote something. */
static bool take_undone(struct transaction *t, struct subject *s, struct writing *w)
{
    struct error e = w->why;
    if (w->step == STEP_MISMATCH)
        transaction_note_mismatch(t, s, w->knob, w->target, w->after, &e);
    if (w->step == STEP_WROTE)
        note_restored(t, s, w->now, w->target);
    else if (w->step != STEP_SAME)
        note_failure(t, s, w->knob->name, e.text);
    return w->step == STEP_WROTE;
}

/* Remove the addresses that a set has given the interface. */
static int remove_given(struct transaction *t, struct subject *s, const json_t *addresses)
{
    int removed = 0;
    size_t i;
    const json_t *address;
    json_array_foreach(addresses, i, address)
    {
        struct error e = {""};
        const char *text = json_string_value(address);
        int result =
            !text || bound_has_address(s->bound, text) ? 0 : bound_remove_address(&s->device, text, &e);
        if (result < 0)
            note_failure(t, s, knob_address.name, e.text);
        if (result > 0)
            json_array_append_new(t->restored, json_make("{s:s,s:s,s:s,s:n}", "interface", s->device.name,
                                                         "setting", "addresses", "found", text, "put_back"));
        removed += result > 0;
    }
    return removed;
}

/* Returns how much it wrote. */
static int undo_bound(struct transaction *t, struct subject *s)
{
    struct error e = {""};
    size_t i;
    const json_t *settings;
    int wrote = 0;
    if (!s->bound || device_refresh(&s->device, &e) != 0 || s->device.index == 0)
        return 0;
    json_array_foreach(journal_all(t->journal, s->known_as, knob_address.name), i, settings) wrote +=
        remove_given(t, s, json_object_get(settings, "addresses"));
    int back = bound_put_back(&s->device, s->bound, NULL, t->restored, t->failed, &e);
    if (back < 0)
        note_failure(t, s, knob_address.name, e.text);
    return wrote + (back > 0 ? back : 0);
}

static int undo_round(struct transaction *t)
{
    const struct knob *order[64];
    size_t count = undo_order(order);
    struct writing *all = xcalloc(t->count + 1, sizeof *all);
    int wrote = 0;
    json_array_clear(t->failed);
    for (size_t k = 0; k < count; k++) {
        for (size_t i = t->count; i-- > 0;)
            if (concerns_undo(&t->subjects[i], order[k]))
                write_knob(t, &t->subjects[i], order[k], t->subjects[i].before, &all[i]);
        for (size_t i = t->count; i-- > 0;)
            settle_written(t, &t->subjects[i], &all[i]);
        for (size_t i = t->count; i-- > 0;) {
            wrote += all[i].knob && take_undone(t, &t->subjects[i], &all[i]);
            free_writing(&all[i]);
        }
    }
    free(all);
    for (size_t i = 0; i < t->count; i++)
        wrote += undo_bound(t, &t->subjects[i]);
    for (size_t i = 0; i < t->count; i++)
        if (t->subjects[i].out_of_reach[0] != '\0')
            note_failure(t, &t->subjects[i], "all", t->subjects[i].out_of_reach);
    return wrote;
}

int transaction_undo(struct transaction *t, struct error *e)
{
    t->undoing = true;
    for (int round = 0; round < ROUNDS; round++)
        if (undo_round(t) == 0)
            break;
    if (json_array_size(t->failed) == 0)
        return 0;
    const json_t *first = json_array_get(t->failed, 0);
    return error_set(e, "%zu settings could not be restored, the first of them is %s of %s: %s",
                     json_array_size(t->failed), json_string_value(json_object_get(first, "setting")),
                     json_string_value(json_object_get(first, "interface")),
                     json_string_value(json_object_get(first, "why")));
}

/* A reload of the interface below has removed a VLAN. */
static bool can_be_made_again(struct transaction *t, const struct subject *s)
{
    struct device below;
    const char *of = json_string_value(json_object_get(json_object_get(s->before, "vlan"), "of"));
    return of && device_open(&below, t->host, of, NULL) == 0 && below.index != 0;
}

/* A function with a driver has an interface, perhaps one that another network namespace was given. */
static bool has_driver(const struct transaction *t, const char *pci)
{
    char *path = pci[0] != '\0' ? host_path(t->host, "/sys/bus/pci/devices/%s/driver", pci) : NULL;
    bool has = path && files_exist(path);
    free(path);
    return has;
}

/* Settings that are still there, but not where this process may change them. */
static void look_for_reach(struct transaction *t, struct subject *s, const json_t *record)
{
    const char *pci = json_string_value(json_object_get(record, "pci"));
    bool proven = s->device.index != 0 && pci[0] != '\0' && strcmp(pci, s->device.pci) == 0;
    if (t->journal->elsewhere && !proven)
        snprintf(
            s->out_of_reach, sizeof s->out_of_reach,
            "they were set in another network namespace: run nic-config restore there (ip netns exec, or "
            "nsenter)");
    else if (s->device.index == 0 && has_driver(t, pci))
        snprintf(s->out_of_reach, sizeof s->out_of_reach,
                 "PCI function %.40s has a driver, but no interface here: another network namespace may have "
                 "it",
                 pci);
}

/* Was one that has no PCI function removed, and another one made with its name? Until the next boot its index
 * says so, unless it is one that came back (a USB NIC), or was made anew by a set (a VLAN). */
static bool is_another(struct transaction *t, const struct subject *s, const json_t *record)
{
    const char *known = json_string_value(json_object_get(record, "address"));
    int64_t index = json_integer_value(json_object_get(record, "index"));
    if (t->journal->rebooted || t->journal->elsewhere || index <= 0 || index == s->device.index ||
        can_be_made_again(t, s))
        return false;
    return !known || strcmp(known, s->device.address) != 0;
}

/* The settings of an interface that was removed are gone with it, also when another device has its name
 * now. */
static bool is_gone(struct transaction *t, const struct subject *s, const json_t *record)
{
    const char *pci = json_string_value(json_object_get(record, "pci"));
    bool was_there = strcmp(json_string_value(json_object_get(s->before, "kind")), "absent") != 0;
    const char *why = NULL;
    if (was_there && s->device.index == 0 && !can_be_made_again(t, s))
        why = "there is no interface with this name";
    else if (pci[0] != '\0' ? strcmp(pci, s->device.pci) != 0 : is_another(t, s, record))
        why = "the interface with this name is a different device now";
    if (why)
        json_array_append_new(t->gone, json_make("{s:s,s:s}", "interface", s->device.name, "why", why));
    return why;
}

/* Settings of an interface of the journal, as far as they are still those of an interface here. */
static int take_subject(struct transaction *t, const char *name, const json_t *record, struct error *e)
{
    char now[IFNAMSIZ];
    find_name_now(t, name, record, now);
    struct subject *s = add_known_as(t, now, name, e);
    if (!s)
        return -1;
    json_decref(s->before);
    s->before = json_incref(json_object_get(record, "settings"));
    if (!json_is_string(json_object_get(s->before, "kind")))
        return error_set(e, "the journal does not state whether %s existed", name);
    if (strcmp(now, name) != 0)
        log_info("%s is called %s now", name, now);
    look_for_reach(t, s, record);
    if (s->out_of_reach[0] != '\0' || is_gone(t, s, record)) {
        json_decref(s->before);
        s->before = json_object();
    } else {
        s->bound = json_incref(json_object_get(record, "bound"));
    }
    return 0;
}

/* The name that another interface of the journal has now. */
static const char *name_now(const struct transaction *t, const char *name)
{
    for (size_t i = 0; name && i < t->count; i++)
        if (strcmp(t->subjects[i].known_as, name) == 0)
            return t->subjects[i].device.name;
    return name;
}

/* Settings name other interfaces: the bridge of a port, and what a VLAN is upon. */
static void name_others_now(struct transaction *t, struct subject *s)
{
    const char *bridge = json_string_value(json_object_get(s->before, "bridge")),
               *of = json_string_value(json_object_get(json_object_get(s->before, "vlan"), "of"));
    json_t *settings = json_deep_copy(s->before);
    if (bridge)
        json_object_set_new(settings, "bridge", json_text(name_now(t, bridge)));
    if (of)
        json_object_set_new(json_object_get(settings, "vlan"), "of", json_text(name_now(t, of)));
    json_decref(s->before);
    s->before = settings;
}

int transaction_restore(struct transaction *t, struct error *e)
{
    const char *name;
    json_t *record;
    json_object_foreach(t->journal->before, name, record)
    {
        if (take_subject(t, name, record, e) != 0)
            return -1;
    }
    for (size_t i = 0; i < t->count; i++)
        name_others_now(t, &t->subjects[i]);
    return transaction_undo(t, e);
}

/* ---- output */

static json_t *read_now(struct subject *s)
{
    json_t *settings = json_object();
    if (device_refresh(&s->device, NULL) == 0)
        for (const struct knob *const *knob = knobs; *knob; knob++)
            (void)subject_read(s, *knob, settings, NULL, NULL, NULL);
    return settings;
}

json_t *transaction_document(struct transaction *t, char which)
{
    json_t *interfaces = json_object();
    for (size_t i = 0; i < t->count; i++) {
        struct subject *s = &t->subjects[i];
        if (s->upon)
            continue;
        json_t *settings = which == 'r'   ? read_now(s)
                           : which == 'b' ? json_incref(s->before)
                                          : json_incref(s->wanted);
        json_put(interfaces, s->device.name, settings);
    }
    return interfaces;
}
