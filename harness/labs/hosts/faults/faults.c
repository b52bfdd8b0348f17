#include "harness/labs/hosts/faults/faults.h"

#include "harness/labs/hosts/at_once.h"
#include "harness/labs/hosts/faults/means.h"
#include "lib/document/json_text.h"
#include <stdlib.h>

#define MOST_COUNTED 4294967295 /* a packet filter's numbers begin anew with the next frame */

static const struct fault_means *const means[] = {&fault_means_nic, &fault_means_filter};
#define MEANS (sizeof means / sizeof *means)

static bool has_faults(const struct host_faults *f, const struct remote_host *h, const struct fault_means *m)
{
    for (size_t i = 0; i < f->count; i++)
        if (fault_is_of(&f->rules[i], h, m->filter))
            return true;
    return false;
}

/* What of the scenario asks for them: injections come first. */
static const char *asked_by(const struct host_faults *f)
{
    return f->rules[0].fault.storm ? "storms" : "inject";
}

/* ---- before the run */

static struct host_faults *make_faults(const struct cell *cell, struct error *e)
{
    size_t count = faults_count(&cell->scenario);
    struct host_faults *f = calloc(1, sizeof *f);
    if (!f || !(f->rules = calloc(count + 1, sizeof *f->rules))) {
        free(f);
        error_set(e, "out of memory");
        return NULL;
    }
    for (; f->count < count; f->count++)
        if (faults_of_rule(&cell->scenario, &cell->lab, f->count, &f->rules[f->count].fault, e) != 0) {
            host_faults_free(f);
            return NULL;
        }
    return f;
}

/* 1: the host has means for all its faults; 0: it is to have none. */
static int find_of_host(struct remote_host *h, const struct host_faults *f, struct error *e)
{
    int found = 0;
    for (size_t i = 0; i < MEANS; i++)
        if (has_faults(f, h, means[i])) {
            if ((!h->netdev && remote_find_nic(h, e) != 0) || means[i]->find(h, f, e) != 0)
                return error_prefix(e, "%s", asked_by(f));
            found = 1;
        }
    return found;
}

static int find_one(struct remote_lab *lab, size_t i, void *context, json_t *warnings, struct error *e)
{
    (void)warnings;
    return host_is_first(lab, i) && find_of_host(&lab->hosts[i], context, e) < 0 ? -1 : 0;
}

int host_faults_find(struct remote_lab *lab, struct error *e)
{
    if (!faults_count(&lab->run->cell->scenario))
        return 0;
    lab->faults = make_faults(lab->run->cell, e);
    return lab->faults ? hosts_at_once(lab, lab->all_count, find_one, lab->faults, e) : -1;
}

int host_faults_examine(struct remote_host *h, const struct cell *cell, struct error *e)
{
    struct host_faults *f = make_faults(cell, e);
    int result = f ? find_of_host(h, f, e) : -1;
    host_faults_free(f);
    return result;
}

/* ---- the run */

static int begin_one(struct remote_lab *lab, size_t i, void *context, json_t *warnings, struct error *e)
{
    (void)warnings;
    for (size_t k = 0; host_is_first(lab, i) && k < MEANS; k++)
        if (has_faults(context, &lab->hosts[i], means[k]) && means[k]->begin(&lab->hosts[i], context, e) != 0)
            return error_prefix(e, "%s", asked_by(context));
    return 0;
}

int host_faults_begin(struct remote_lab *lab, struct error *e)
{
    if (!lab->faults)
        return 0;
    lab->faults->begun = true;
    return hosts_at_once(lab, lab->all_count, begin_one, lab->faults, e);
}

static int end_one(struct remote_lab *lab, size_t i, void *context, json_t *warnings, struct error *e)
{
    struct remote_host *h = &lab->hosts[i];
    for (size_t k = 0; host_is_first(lab, i) && k < MEANS; k++) {
        if (!has_faults(context, h, means[k]))
            continue;
        int result = h->silent ? error_set(e, "it is silent") : means[k]->end(h, context, e);
        if (result != 0)
            json_array_append_new(
                warnings, json_textf("%s: what the faults of host %s met is not known, and they were not "
                                     "ended: %s; a run or `harness restore` ends them",
                                     asked_by(context), h->lab->name, e->text));
    }
    return 0;
}

void host_faults_end(struct remote_lab *lab)
{
    struct error ignored;
    if (lab->faults && lab->faults->begun)
        hosts_at_once(lab, lab->all_count, end_one, lab->faults, &ignored);
}

/* ---- the result */

static void add_rule(const struct remote_lab *lab, size_t i, json_t *injected, json_t *warnings)
{
    const struct injection_rule *r =
        (const struct injection_rule *)lab->run->cell->scenario.injections.items + i;
    const struct fault_rule *rule = &lab->faults->rules[i];
    json_t *entry = injection_json(r, i);
    if (rule->counted) {
        json_object_set_new(entry, "seen", json_integer(rule->seen));
        json_object_set_new(entry, "injected", json_integer(rule->met));
    }
    if (rule->counted && !rule->met)
        json_array_append_new(warnings, injection_warning(entry));
    if (rule->counted && rule->fault.filter && rule->seen > MOST_COUNTED)
        json_array_append_new(
            warnings, json_textf("inject[%zu]: more than %lld frames passed: from then on host %s counted "
                                 "anew from the first one",
                                 i, (long long)MOST_COUNTED, rule->fault.host->name));
    json_array_append_new(injected, entry);
}

void host_faults_add_to_result(const struct remote_lab *lab, json_t *result)
{
    if (!lab->faults || !lab->faults->begun)
        return;
    size_t injections = lab->run->cell->scenario.injections.count;
    if (!injections)
        return;
    json_t *injected = json_array();
    for (size_t i = 0; i < injections; i++)
        add_rule(lab, i, injected, json_object_get(result, "warnings"));
    json_object_set_new(result, "injected", injected);
}

void host_faults_free(struct host_faults *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++)
        text_free(&f->rules[i].fault.line);
    free(f->rules);
    free(f);
}

/* ---- what a run has left */

int faults_ask(struct remote_host *h, const char *script, struct error *e)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct text out = {0};
    int result = ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    if (result == 0)
        result = out.length > 0;
    text_free(&out);
    return result;
}

/* 1: something is left; 0: nothing is, which is found out by one command for all means; -1 with `e` set. */
static int look_left(struct remote_host *h, struct error *e)
{
    return faults_ask(h, "if [ -e " FAULTS_LEFT_NIC " ] || [ -e " FAULTS_LEFT_FILTER " ]; then echo left; fi",
                      e);
}

bool host_faults_left(struct remote_host *h)
{
    return look_left(h, NULL) > 0;
}

int host_faults_restore(struct remote_host *h, struct text *said, struct error *e)
{
    int left = look_left(h, e);
    if (left < 0)
        return error_prefix(e, "looking for faults that a run left on host %s", h->lab->name);
    for (size_t i = 0; left && i < MEANS; i++) {
        int result = means[i]->restore(h, e);
        if (result < 0)
            return error_prefix(e, "%s that a run left on host %s", means[i]->ended, h->lab->name);
        if (result > 0)
            text_add(said, "%s: %s are ended\n", h->lab->name, means[i]->ended);
    }
    return 0;
}
