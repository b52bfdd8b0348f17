#include "harness/search/find.h"

#include "harness/reduce/ddmin.h"
#include "harness/reduce/finding.h"
#include "harness/reduce/reduce.h"
#include "harness/search/answer.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/document/paths.h"
#include "lib/files.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/xalloc.h"
#include "reports/results/run.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the expression */

static const char *const signs[] = {"<=", ">=", "==", "!=", "<", ">", NULL};
static const char *const negated[] = {">", "<", "!=", "==", ">=", "<="};

/* The sign of a comparison, by its number in `signs`, and where it is. */
static const char *sign_of(const char *check, size_t *number)
{
    const char *at = strpbrk(check, "<>=!");
    for (*number = 0; at && signs[*number]; (*number)++)
        if (strncmp(at, signs[*number], strlen(signs[*number])) == 0)
            return at;
    return NULL;
}

char *finder_margin(const char *check, bool *equal, struct error *e)
{
    size_t number;
    const char *at = sign_of(check, &number);
    if (!at || strcmp(signs[number], "==") == 0 || strcmp(signs[number], "!=") == 0) {
        error_set(e, "expected a comparison with <, <=, > or >=, of which it can be said how near it is");
        return NULL;
    }
    const char *right = at + strlen(signs[number]);
    *equal = signs[number][1] == '=';
    return signs[number][0] == '>' ? xasprintf("(%.*s) - (%s)", (int)(at - check), check, right)
                                   : xasprintf("(%s) - (%.*s)", right, (int)(at - check), check);
}

static char *negation(const char *check)
{
    size_t number;
    const char *at = sign_of(check, &number);
    return xasprintf("%.*s%s%s", (int)(at - check), check, negated[number], at + strlen(signs[number]));
}

/* ---- values, and those that are written */

static json_t *written_value(const struct study *study, const char *path)
{
    json_t *has = study_has(study, NULL), *value = json_object_get(has, path);
    value = value ? json_incref(value) : json_null();
    json_decref(has);
    return value;
}

/* From what is written, at all places that the path leads to, to this value: -1 and 1 are the ways in which a
 * range is left, 0: it lies between, or they have no order. */
static int way_of(const struct finder *f, const struct parameter *p, const json_t *value)
{
    json_t *values = plan_values(&f->study->plan.first, p->path), *written;
    double to = value_range_place(&p->range, value);
    bool up = json_array_size(values), down = up;
    size_t i;
    json_array_foreach(values, i, written)
    {
        double from = value_range_place(&p->range, written);
        up = up && from <= to;
        down = down && from > to;
    }
    json_decref(values);
    return !p->ordered ? 0 : up - down;
}

/* Is a value as far from the written one as that of a finding, or further? `same_way`: however far. */
static bool is_beyond(const struct finder *f, const struct parameter *p, const json_t *found,
                      const json_t *value, bool same_way)
{
    int way = way_of(f, p, found);
    double there = value_range_place(&p->range, found), here = value_range_place(&p->range, value);
    bool is = way == 0   ? json_same(found, value)
              : same_way ? way_of(f, p, value) == way
              : way > 0  ? here >= there
                         : here <= there;
    return is;
}

static bool has_all(const struct finder *f, const json_t *features, const json_t *choice, bool same_way)
{
    for (size_t i = 0; i < f->study->parameter_count; i++) {
        const struct parameter *p = &f->study->parameters[i];
        const json_t *found = json_object_get(features, p->path), *value = json_object_get(choice, p->path);
        if (found && (!value || !is_beyond(f, p, found, value, same_way)))
            return false;
    }
    return true;
}

bool finder_explains(const struct finder *f, const json_t *choice)
{
    const json_t *finding;
    size_t i;
    json_array_foreach(f->findings, i, finding)
    {
        if (has_all(f, json_object_get(finding, "features"), choice, false))
            return true;
    }
    json_array_foreach(f->alike, i, finding)
    {
        if (has_all(f, finding, choice, false))
            return true;
    }
    return false;
}

/* ---- which values matter */

struct featuring {
    struct finder *f;
    const struct candidate *of;
    const struct candidate *least; /* that was found, with the fewest values */
    size_t unknown;                /* of the parts that were asked for, those that did not run */
    int status;
};

static json_t *part_of(const struct finder *f, const json_t *choice, const bool *kept)
{
    json_t *part = json_object();
    for (size_t i = 0; i < f->study->parameter_count; i++) {
        const char *path = f->study->parameters[i].path;
        json_t *value = json_object_get(choice, path);
        if (kept[i] && value)
            json_put(part, path, json_incref(value));
    }
    return part;
}

static struct candidate *known_part(const struct finder *f, const json_t *part)
{
    for (size_t i = 0; i < f->parts.count; i++)
        if (json_equal(f->parts.items[i]->choice, part))
            return f->parts.items[i];
    return NULL;
}

/* With the first seed, and with the others only if it holds there. */
static int run_part(struct finder *f, struct candidate *c)
{
    char *name = xasprintf("part-%zu", f->parts.count), *more = xasprintf("%s-more", name);
    int status = f->run(f->context, name, c, 0, 1);
    if (status == EXIT_DONE && c->found && f->seeds > 1)
        status = f->run(f->context, more, c, 1, f->seeds - 1);
    free(more);
    free(name);
    return status;
}

static size_t first_found(void *context, const bool *const *kept, size_t sets)
{
    struct featuring *of = context;
    struct error ignored;
    bool by_lab;
    for (size_t i = 0; i < sets; i++) {
        json_t *part = part_of(of->f, of->of->choice, kept[i]);
        struct candidate *c = known_part(of->f, part);
        if (!c && json_object_size(part) && study_can_run(of->f->study, part, &by_lab, &ignored) != 1) {
            json_decref(part);
            continue;
        }
        if (c) {
            json_decref(part);
        } else {
            c = candidates_add(&of->f->parts, part, "a part");
            of->status = run_part(of->f, c);
        }
        if (of->status != EXIT_DONE)
            return DDMIN_BROKEN_OFF;
        of->unknown += c->lost > 0;
        if (c->found == c->runs && c->runs >= of->f->seeds) {
            of->least = c;
            return i;
        }
    }
    return sets;
}

/* ---- the finding */

static bool is_setting(const char *path)
{
    return strncmp(path, "settings", strlen("settings")) == 0 || strncmp(path, "lab.", strlen("lab.")) == 0;
}

/* Which of the features are as written where what is reduced has to pass: settings and the lab if it does so
 * without these, with the traffic that was found, so that they stay; else all. */
static void choose_blamed(struct featuring *of, const bool *features, bool *blamed)
{
    bool traffic[STUDY_MOST_PARAMETERS];
    const bool *const parts[] = {traffic};
    size_t settings = 0, others = 0, count = of->f->study->parameter_count;
    for (size_t i = 0; i < count; i++) {
        bool setting = is_setting(of->f->study->parameters[i].path);
        blamed[i] = features[i] && setting;
        traffic[i] = features[i] && !setting;
        settings += blamed[i];
        others += traffic[i];
    }
    const struct candidate *least = of->least;
    if (settings == 0 || (others && first_found(of, parts, 1) != 1))
        memcpy(blamed, features, count * sizeof *blamed);
    of->least = least;
}

/* ---- with what it passes: values at paths of the run's scenario, in which ranges are written out */

/* "flows.in-*.rate" for "flows.in-{}.rate". The caller frees. */
static char *path_of_names(const char *path)
{
    struct text out = {0};
    for (const char *at = path; *at; at++) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        text_add(&out, "%c", end ? '*' : *at);
        at = end ? end : at;
    }
    return text_take(&out);
}

/* What has to be put into `from` to make it `to`: path -> value. */
static void add_changes(const json_t *from, const json_t *to, const char *path, json_t *changes)
{
    const char *key;
    json_t *value;
    size_t i;
    bool lists = json_is_array(from) && json_is_array(to) && json_array_size(from) == json_array_size(to) &&
                 json_is_object(json_array_get(to, 0));
    if (from && to && json_same(from, to))
        return;
    if (!lists && !(json_is_object(from) && json_is_object(to))) {
        json_put(changes, path, to ? json_incref((json_t *)(uintptr_t)to) : json_null());
        return;
    }
    json_array_foreach(lists ? to : NULL, i, value)
    {
        const char *name = json_string_value(json_object_get(value, "name"));
        char *at = name ? xasprintf("%s.%s", path, name) : xasprintf("%s.%zu", path, i);
        add_changes(json_array_get(from, i), value, at, changes);
        free(at);
    }
    json_t *keys = lists ? json_object() : json_copy((json_t *)(uintptr_t)from);
    json_object_update(keys, lists ? NULL : (json_t *)(uintptr_t)to);
    json_object_foreach(keys, key, value)
    {
        char *at = xasprintf("%s.%s", path, key);
        add_changes(json_object_get(from, key), json_object_get(to, key), at, changes);
        free(at);
    }
    json_decref(keys);
}

/* The blamed values as they are written: at their own paths if these make the run's scenario such a one, else
 * at each place. A new reference. */
static json_t *healthy_of(const struct finder *f, const json_t *choice, const json_t *blamed)
{
    json_t *rest = json_copy((json_t *)(uintptr_t)choice), *healthy = json_object(), *value;
    struct error ignored;
    const char *path;
    json_object_foreach((json_t *)(uintptr_t)blamed, path, value)
    {
        json_object_del(rest, path);
    }
    json_t *from = study_scenario(f->study, choice), *to = study_scenario(f->study, rest),
           *made = json_deep_copy(from);
    json_object_foreach((json_t *)(uintptr_t)blamed, path, value)
    {
        char *at = path_of_names(path);
        json_t *written = written_value(f->study, path);
        if (!paths_in_lab(path))
            paths_set(made, at, written, &ignored);
        json_put(healthy, at, written);
        free(at);
    }
    json_object_foreach(from && to && !json_same(made, to) ? (json_t *)(uintptr_t)blamed : NULL, path, value)
    {
        char part[PATHS_PART], *at = path_of_names(path);
        paths_first_part(path, part);
        if (!paths_in_lab(path)) {
            json_object_del(healthy, at);
            add_changes(json_object_get(from, part), json_object_get(to, part), part, healthy);
        }
        free(at);
    }
    json_decref(rest);
    json_decref(from);
    json_decref(to);
    json_decref(made);
    return healthy;
}

/* What a candidate's run is reduced from: what was found is an expectation that fails; it passes with what is
 * blamed as it is written. */
static int take_source(const struct finder *f, const struct candidate *c, const json_t *blamed,
                       struct reduce_source *source, struct error *e)
{
    const char *folder = json_string_value(json_array_get(c->folders, 0));
    char *in = files_join(f->folder, folder ? folder : ""), *file = files_join(in, "result.json"),
         *check = negation(f->study->search->find), *name = xasprintf("not: %s", f->study->search->find);
    json_t *result = json_file_load(file, DOCUMENT_RESULT, e);
    *source = (struct reduce_source){0};
    int status = result ? source_of(result, folder, name, check, source, e) : -1;
    if (status == 0) {
        source->seed = f->seed;
        json_object_set_new(source->scenario, "name", json_text(f->study->plan.first.scenario.name));
        source->healthy = json_object_size(blamed) ? healthy_of(f, c->choice, blamed) : NULL;
    }
    json_decref(result);
    free(name);
    free(check);
    free(file);
    free(in);
    return status;
}

static bool is_whole(const char *folder)
{
    json_t *document = finding_load(folder);
    bool whole = json_is_true(json_object_get(document, "complete"));
    json_decref(document);
    return whole;
}

/* "EXPRESSION holds with flows.a.rate = 20Gb/s", of what is not reduced. The caller frees. */
static char *sentence_of(const struct finder *f, const json_t *features)
{
    struct text words = {0};
    const char *path, *before = " with ";
    json_t *value;
    text_add(&words, "\"%s\" holds", f->study->search->find);
    json_object_foreach((json_t *)(uintptr_t)features, path, value)
    {
        char *shown = json_bare(value);
        text_add(&words, "%s%s = %s", before, path, shown ? shown : "?");
        before = ", ";
        free(shown);
    }
    return text_take(&words);
}

static void add_said(const struct finder *f, json_t *finding, const char *folder)
{
    json_t *document = finding_load(folder);
    const char *said = run_member(document, "sentence"), *why = run_member(document, "why_not");
    char *sentence = *said ? xstrdup(said) : sentence_of(f, json_object_get(finding, "features"));
    if (document)
        json_object_set_new(finding, "sentence", json_text(sentence));
    if (*why)
        json_object_set_new(finding, "not_reduced", json_text(why));
    json_object_set(finding, "differs", json_object_get(document, "differs"));
    json_decref(document);
    free(sentence);
}

/* EXIT_FAILED of a reduction: what was found does not fail by itself; it is told of without a scenario, and
 * the search goes on (finder_end). */
static int reduce(struct finder *f, const struct candidate *c, const json_t *blamed, json_t *finding)
{
    struct error e;
    struct reduce_source source = {0};
    const struct reduce_request request = {
        .seeds = (int64_t)f->seeds, .jobs = f->jobs, .quiet = true, .as_found = !f->study->search->reduce};
    char *folder = files_join(f->folder, run_member(finding, "folder"));
    int status = EXIT_DONE;
    bool whole = is_whole(folder);
    if (!whole && (take_source(f, c, blamed, &source, &e) != 0 || files_make_folders(folder, &e) != 0)) {
        log_error("%s", e.text);
        status = EXIT_LAB;
    } else if (!whole) {
        f->release(f->context);
        status = reduce_in(folder, &source, &request);
    }
    source_free(&source);
    add_said(f, finding, folder);
    free(folder);
    return status == EXIT_FAILED ? EXIT_DONE : status;
}

/* Of the same kind as an earlier one, whose blamed values are among its own: the values of the same
 * parameters are then the nearer ones; others are kept beside. */
static bool widen_known(struct finder *f, const json_t *features, const json_t *blamed)
{
    json_t *known, *value;
    const char *path;
    size_t i;
    json_array_foreach(f->blamed, i, known)
    {
        json_t *had = json_object_get(json_array_get(f->findings, i), "features");
        if (!has_all(f, known, blamed, true))
            continue;
        if (json_object_size(had) != json_object_size(features) || !has_all(f, had, features, true)) {
            json_array_append(f->alike, (json_t *)(uintptr_t)features);
            return true;
        }
        json_object_foreach((json_t *)(uintptr_t)features, path, value)
        {
            json_object_set(had, path, value);
        }
        return true;
    }
    return false;
}

static void print_finding(const char *name, const json_t *finding)
{
    struct text words = {0};
    long long unknown = (long long)json_integer_value(json_object_get(finding, "not_run"));
    if (unknown)
        text_add(&words, " (not known: whether fewer values do, as %lld %s of them did not run)", unknown,
                 THINGS(unknown, "part"));
    if (*run_member(finding, "not_reduced"))
        text_add(&words, "; it is not reduced: %s", run_member(finding, "not_reduced"));
    print_out_line("%s: %s%s", name, run_member(finding, "sentence"), text_string(&words));
    text_free(&words);
}

static int take_finding(struct finder *f, struct candidate *c)
{
    bool kept[STUDY_MOST_PARAMETERS], to_blame[STUDY_MOST_PARAMETERS] = {false};
    struct featuring of = {.f = f, .of = c, .least = c, .status = EXIT_DONE};
    memset(kept, true, sizeof kept);
    if (json_object_size(c->choice) && ddmin(kept, f->study->parameter_count, first_found, &of) != 0)
        return of.status;
    choose_blamed(&of, kept, to_blame);
    if (of.status != EXIT_DONE)
        return of.status;
    json_t *features = part_of(f, c->choice, kept), *blamed = part_of(f, c->choice, to_blame);
    if (widen_known(f, features, blamed)) {
        json_decref(features);
        json_decref(blamed);
        return EXIT_DONE;
    }
    json_array_append_new(f->blamed, blamed);
    size_t number = json_array_size(f->findings) + 1;
    char *folder = xasprintf("finding-%zu", number);
    json_t *finding = json_make("{s:s,s:I,s:o}", "folder", folder, "runs", (json_int_t)f->runs(f->context),
                                "features", features);
    if (of.unknown)
        json_object_set_new(finding, "not_run", json_integer((json_int_t)of.unknown));
    json_array_append_new(f->findings, finding);
    free(folder);
    int status = reduce(f, of.least, blamed, finding);
    if (status == EXIT_DONE && !f->quiet) {
        char *name = xasprintf("found after %lld runs",
                               (long long)json_integer_value(json_object_get(finding, "runs")));
        print_finding(name, finding);
        fflush(stdout);
        free(name);
    }
    return status;
}

bool finder_has_enough(const struct finder *f)
{
    int64_t most = f->study->search->findings;
    return most != FIELD_UNSET && (int64_t)json_array_size(f->findings) >= most;
}

int finder_look(struct finder *f, struct candidate *const *candidates, size_t count)
{
    int status = EXIT_DONE;
    f->findings = f->findings ? f->findings : json_array();
    f->blamed = f->blamed ? f->blamed : json_array();
    f->alike = f->alike ? f->alike : json_array();
    for (size_t i = 0; status == EXIT_DONE && i < count && !finder_has_enough(f); i++) {
        struct candidate *c = candidates[i];
        if (!c->found || finder_explains(f, c->choice))
            continue;
        if (c->runs < f->seeds) {
            char *name = xasprintf("again-%zu-%zu", c->round, i + 1);
            status = f->run(f->context, name, c, c->runs, f->seeds - c->runs);
            free(name);
        }
        if (status == EXIT_DONE && c->found == c->runs && !c->lost)
            status = take_finding(f, c);
    }
    return status;
}

int finder_end(const struct finder *f)
{
    const json_t *finding;
    size_t i, not_reduced = 0;
    json_array_foreach(f->findings, i, finding)
    {
        not_reduced += json_object_get(finding, "not_reduced") != NULL;
    }
    return not_reduced ? EXIT_FAILED : EXIT_DONE;
}

void finder_print(const json_t *document)
{
    const json_t *findings = json_object_get(document, "findings"), *finding;
    size_t i, count = json_array_size(findings);
    answer_print_runs(document);
    print_out_line("%zu %s of \"%s\" in %lld runs%s", count, THINGS(count, "kind"),
                   run_member(document, "find"),
                   (long long)json_integer_value(json_object_get(document, "runs")), count ? ":" : "");
    json_array_foreach(findings, i, finding)
    {
        char *name = xasprintf("  %s", run_member(finding, "folder"));
        print_finding(name, finding);
        free(name);
    }
}

void finder_free(struct finder *f)
{
    candidates_free(&f->parts);
    json_decref(f->findings);
    json_decref(f->blamed);
    json_decref(f->alike);
}
