#include "harness/doctor/check.h"

#include "harness/plan/traffic_class.h"
#include "lib/document/json_text.h"
#include "lib/log.h"
#include "lib/output/visible.h"
#include "lib/words.h"
#include <stdarg.h>
#include <string.h>

#define DOCTOR_ROW(name) &doctor_##name,
const struct doctor_check *const doctor_checks[] = {DOCTOR_CHECKS(DOCTOR_ROW) NULL};

/* ---- walking */

static unsigned known_needs(const struct doctor_subject *x)
{
    return (x->found ? *x->found : 0) | (lab_kind(x->lab)->simulated ? 0 : DOCTOR_NEEDS_REAL) |
           (x->plan || x->cell ? DOCTOR_NEEDS_SCENARIO : 0);
}

void doctor_walk(enum doctor_scope scope, enum doctor_when when, const struct doctor_subject *x)
{
    for (const struct doctor_check *const *check = doctor_checks; *check; check++)
        if ((*check)->scope == scope && (*check)->when & when && !((*check)->needs & ~known_needs(x)))
            (*check)->examine(x);
}

/* The entries that checks of a cell find before a run, without those that are ok. */
static json_t *walk_before_run(const struct cell *cell, const struct doctor_seen *seen, enum doctor_when when)
{
    const struct doctor_subject x = {.lab = &cell->lab, .cell = cell, .seen = seen, .entries = json_array()};
    json_t *found = json_array(), *entry;
    size_t i;
    doctor_walk(DOCTOR_CELL, when, &x);
    json_array_foreach(x.entries, i, entry)
    {
        const char *verdict = json_string_value(json_object_get(entry, "verdict"));
        if (strcmp(verdict, "ok") != 0 && (when != DOCTOR_REFUSES_RUN || strcmp(verdict, "failure") == 0))
            json_array_append(found, entry);
    }
    json_decref(x.entries);
    return found;
}

void doctor_say(const json_t *entry, struct text *out)
{
    const char *fix = json_string_value(json_object_get(entry, "fix"));
    text_add(out, "%s%s%s", json_string_value(json_object_get(entry, "reason")), fix ? "; " : "",
             fix ? fix : "");
}

int doctor_refuse_run(const struct cell *cell, struct error *e)
{
    json_t *found = walk_before_run(cell, NULL, DOCTOR_REFUSES_RUN);
    const json_t *first = json_array_get(found, 0);
    struct text words = {0};
    if (first)
        doctor_say(first, &words);
    int result = first ? error_set(e, "%s", text_string(&words)) : 0;
    text_free(&words);
    json_decref(found);
    return result;
}

/* A simulated lab is looked at once, before the run: its hosts will not say anything else. */
json_t *doctor_warnings_of_run(const struct cell *cell, const struct doctor_seen *seen)
{
    json_t *known = lab_kind(&cell->lab)->simulated ? cell->known : NULL;
    json_t *found = json_incref(json_object_get(known, "warnings"));
    if (found)
        return found;
    found = walk_before_run(cell, seen, DOCTOR_WARNS_OF_RUN);
    json_object_set(known, "warnings", found);
    return found;
}

void doctor_warn_of_run(const struct cell *cell, json_t *warnings)
{
    json_t *found = doctor_warnings_of_run(cell, NULL), *entry;
    size_t i;
    json_array_foreach(found, i, entry)
    {
        struct text words = {0};
        doctor_say(entry, &words);
        json_put(warnings, text_string(&words), json_true());
        text_free(&words);
    }
    json_decref(found);
}

void doctor_log_warnings(const json_t *warnings)
{
    const char *sentence;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)warnings, sentence, value)
    {
        log_warning("%s", sentence);
    }
}

/* ---- entries */

/* An entry is a line, whatever a host, a switch or a document has in the values of the sentence. */
static json_t *line_of(const char *format, va_list arguments)
{
    struct text line = {0};
    visible_add_line(&line, format, arguments);
    json_t *json = json_text(text_string(&line));
    text_free(&line);
    return json;
}

void doctor_add(json_t *entries, const char *host, const char *check, const char *verdict, const char *fix,
                const char *reason, ...)
{
    va_list arguments;
    va_start(arguments, reason);
    json_t *words = line_of(reason, arguments);
    va_end(arguments);
    json_array_append_new(entries, json_make("{s:s,s:s,s:s,s:o,s:s*}", "host", host, "check", check,
                                             "verdict", verdict, "reason", words, "fix", fix));
}

void doctor_add_evidence(json_t *entries, const char *from, ...)
{
    va_list arguments;
    va_start(arguments, from);
    json_t *words = line_of(from, arguments);
    va_end(arguments);
    json_object_set_new(json_array_get(entries, json_array_size(entries) - 1), "evidence", words);
}

void doctor_begin_ssh(struct text *fix, const char *ssh, int64_t port, const char *identity,
                      const char *known_hosts, const char *command)
{
    text_add(fix, "ssh ");
    if (port != FIELD_UNSET && port)
        text_add(fix, "-p %lld ", (long long)port);
    if (identity) {
        text_add(fix, "-i ");
        shell_quote(fix, identity);
        text_add(fix, " ");
    }
    if (known_hosts) {
        text_add(fix, "-oUserKnownHostsFile=");
        shell_quote(fix, known_hosts);
        text_add(fix, " ");
    }
    text_add(fix, "%s %s", ssh, command);
}

void doctor_add_new(json_t *entries, json_t *found)
{
    size_t i;
    json_t *entry;
    json_array_foreach(found, i, entry)
    {
        if (!json_list_has(entries, entry))
            json_array_append(entries, entry);
    }
    json_decref(found);
}

/* ---- what was seen */

struct doctor_seen doctor_seen_open(void)
{
    return (struct doctor_seen){json_object(), json_object(), json_object(), json_object()};
}

void doctor_seen_add(const struct doctor_seen *seen, const struct doctor_seen *more)
{
    json_object_update(seen->interfaces, more->interfaces);
    json_object_update(seen->in_force, more->in_force);
    json_object_update(seen->nics, more->nics);
    json_object_update(seen->columns, more->columns);
}

void doctor_seen_close(struct doctor_seen *seen)
{
    json_decref(seen->interfaces);
    json_decref(seen->in_force);
    json_decref(seen->nics);
    json_decref(seen->columns);
    *seen = (struct doctor_seen){0};
}

/* ---- what several checks ask */

const struct cell *doctor_cell_at(const struct plan *plan, size_t i)
{
    struct error e;
    if (!plan || i >= plan->cell_count)
        return NULL;
    const struct cell *cell = plan_cell(plan, i, &e);
    if (!cell)
        log_error("%s", e.text);
    return cell;
}

json_t *doctor_settings_of(const struct cell *cell, const struct doctor_seen *seen, const char *role)
{
    const json_t *there = seen ? json_object_get(seen->in_force, role) : NULL;
    json_t *settings = there ? json_deep_copy(there) : json_object();
    json_t *wanted = scenario_role_settings(cell->scenario_json, role);
    json_merge_deep(settings, wanted);
    json_decref(wanted);
    return settings;
}

void doctor_each_flow(const struct cell *cell, void (*each)(void *context, const struct scenario_flow *flow),
                      void *context)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    const struct scenario_traffic *traffic = cell->scenario.traffic.items;
    for (size_t i = 0; i < cell->scenario.flows.count; i++)
        each(context, &flows[i]);
    for (size_t t = 0; lab_kind(&cell->lab)->simulated && t < cell->scenario.traffic.count; t++) {
        const struct list_of *from = &traffic[t].from, *to = traffic[t].to.count ? &traffic[t].to : from;
        for (size_t i = 0; i < from->count; i++) {
            char *sender = ((char *const *)from->items)[i], *const *receivers = to->items;
            size_t k = 0;
            while (k + 1 < to->count && strcmp(receivers[k], sender) == 0)
                k++;
            struct scenario_flow flow = flow_of_pattern(&traffic[t], sender, receivers[k]);
            each(context, &flow);
        }
    }
}

static bool has_key_below(const json_t *value, const char *key)
{
    const char *each;
    json_t *part;
    if (json_object_get(value, key))
        return true;
    json_object_foreach((json_t *)(uintptr_t)value, each, part)
    {
        if (has_key_below(part, key))
            return true;
    }
    return false;
}

/* A role's settings as a whole may differ in any key. */
static bool path_has(const char *path, const char *key)
{
    size_t length = strlen(key);
    if (strcmp(path, "settings") == 0 ||
        (strncmp(path, "settings_of", 11) == 0 && !strchr(path + strcspn(path, ".") + 1, '.')))
        return true;
    for (const char *at = path; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL)
        if (strncmp(at, key, length) == 0 && (at[length] == '.' || !at[length]))
            return true;
    return false;
}

bool doctor_varies(const struct cell *cell, const char *const keys[], bool in_lab)
{
    const char *path;
    json_t *value;
    json_object_foreach(cell->choice, path, value)
    {
        bool counts = in_lab || strncmp(path, "lab.", 4) != 0;
        for (size_t i = 0; counts && keys[i]; i++)
            if (path_has(path, keys[i]) || has_key_below(value, keys[i]))
                return true;
    }
    return false;
}

bool doctor_is_end(const struct cell *cell, const char *role)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    for (size_t i = 0; i < cell->scenario.flows.count; i++)
        if (strcmp(flows[i].from, role) == 0 || strcmp(flows[i].to, role) == 0)
            return true;
    return false;
}

/* ---- what expectations ask for, by the counters that they read */

/* The priority that a counter's name says: "rx_prio3_pause"; -1: none, or several ("rx_prio*_pause"). */
static int priority_in_name(const char *counter)
{
    const char *at = strstr(counter, "prio");
    return at && at[4] >= '0' && at[4] <= '7' ? at[4] - '0' : -1;
}

static void note_interest(void *context, const char *role, const char *counter, const char *key)
{
    struct doctor_interest *interest = context;
    int priority = priority_in_name(counter);
    (void)key;
    (void)role;
    if (strstr(counter, "_pause") && priority >= 0)
        interest->pauses |= (uint8_t)(1u << priority);
    else if (strstr(counter, "_pause"))
        interest->any_pauses = true;
    interest->cnps = interest->cnps || strstr(counter, "cnp") || strstr(counter, "np_ecn");
}

struct doctor_interest doctor_interest_of(const struct cell *cell)
{
    const struct scenario_expect *expect = cell->scenario.expect.items;
    struct doctor_interest interest = {0};
    for (size_t i = 0; i < cell->scenario.expect.count; i++)
        if (plan_when(cell, expect[i].when) && !expr_holds_uncounted(cell->checks[i]))
            expr_each_counter(cell->checks[i], note_interest, &interest);
    return interest;
}
