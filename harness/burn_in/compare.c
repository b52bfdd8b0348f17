#include "harness/burn_in/compare.h"

#include "harness/burn_in/document.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/formats/verdicts.h"
#include "lib/output/columns.h"
#include "lib/program/program.h"
#include "lib/units.h"
#include "lib/words.h"
#include "reports/results/run.h"
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOVED       0.5 /* percents: smaller changes are none */
#define ROWS_SHOWN  20
#define RULE_LETTER "abcdefghijklmnopqrstuvwxyz_"

static const char *const figures[] = {"host_tx", "host_rx", "gpu_tx", "gpu_rx", NULL};

bool burn_in_is(const char *folder)
{
    char *path = files_join(folder, BURN_IN_DOCUMENT);
    bool is = path && files_exist(path);
    free(path);
    return is;
}

/* ---- rules */

struct rule {
    const char *figure; /* NULL: the number of findings */
    char sign[4];
    double share; /* of old; NAN: the limit is a number */
    double limit;
};

static int parse_limit(const char *at, struct rule *rule, const char *text, struct error *e)
{
    char *end;
    double number = strtod(at, &end);
    while (*end == ' ')
        end++;
    int64_t bps;
    rule->share = NAN;
    if (end == at || !isfinite(number))
        return error_set(e, "--fail-if %.80s: expected a limit such as 97%% of old, 380Gb/s or 0", text);
    if (!rule->figure && *end == '\0') {
        rule->limit = number;
    } else if (*end == '%' && rule->figure) {
        const char *rest = end + 1 + strspn(end + 1, " ");
        if (strcmp(rest, "of old") != 0)
            return error_set(e, "--fail-if %.80s: expected \"of old\" behind the share", text);
        rule->share = number / 100;
    } else if (rule->figure && units_parse(UNIT_RATE_BPS, at, &bps, NULL) == 0) {
        rule->limit = (double)bps;
    } else {
        return error_set(e, "--fail-if %.80s: expected a limit such as 97%% of old, 380Gb/s or 0", text);
    }
    return 0;
}

static int parse_rule(const char *text, struct rule *rule, struct error *e)
{
    size_t length = strspn(text, RULE_LETTER);
    const char *at = text + length + strspn(text + length, " ");
    size_t sign = strspn(at, "<>=!");
    bool findings = length == 8 && strncmp(text, "findings", length) == 0, known = findings;
    *rule = (struct rule){0};
    for (size_t i = 0; figures[i]; i++)
        if (strlen(figures[i]) == length && strncmp(figures[i], text, length) == 0)
            rule->figure = figures[i], known = true;
    if (!known)
        return error_set(e, "--fail-if %.80s: expected host_tx, host_rx, gpu_tx, gpu_rx or findings first",
                         text);
    if (sign < 1 || sign > 2)
        return error_set(e, "--fail-if %.80s: expected one of < <= > >= == != behind the figure", text);
    memcpy(rule->sign, at, sign);
    rule->sign[sign] = '\0';
    at += sign;
    return parse_limit(at + strspn(at, " "), rule, text, e);
}

int burn_in_check_rules(const struct list_of *rules, bool old, struct error *e)
{
    char *const *texts = rules->items;
    struct rule rule;
    for (size_t i = 0; i < rules->count; i++) {
        if (parse_rule(texts[i], &rule, e) != 0)
            return -1;
        if (!old && rule.figure && !isnan(rule.share))
            return error_set(e, "--fail-if %.80s: there is no old one: expected --baseline RESULT, or a rate",
                             texts[i]);
    }
    return 0;
}

static double figure_of(const json_t *document, const char *nic, const char *figure)
{
    char key[40];
    snprintf(key, sizeof key, "%s_bps", figure);
    const json_t *value = json_object_get(json_object_get(json_object_get(document, "figures"), nic), key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The first NIC for which the rule holds decides; one that lacks a figure is not judged. */
static json_t *judge_rule(const struct rule *rule, const char *text, const json_t *old, const json_t *new)
{
    const char *nic;
    json_t *of;
    size_t judged = 0;
    if (!rule->figure) {
        size_t found = json_array_size(json_object_get(new, "findings"));
        bool holds = verdict_holds(rule->sign, (double)found, rule->limit);
        return json_make("{s:s,s:s,s:o}", "rule", text, "verdict", holds ? "failed" : "passed", "reason",
                         json_textf("%zu %s", found, THINGS(found, "finding")));
    }
    json_object_foreach(json_object_get(new, "figures"), nic, of)
    {
        double is = figure_of(new, nic, rule->figure), was = figure_of(old, nic, rule->figure),
               limit = isnan(rule->share) ? rule->limit : rule->share * was;
        if (isnan(is) || isnan(limit))
            continue;
        judged++;
        if (verdict_holds(rule->sign, is, limit))
            return json_make("{s:s,s:s,s:o}", "rule", text, "verdict", "failed", "reason",
                             json_textf("%s: %.4g Gb/s, the limit is %.4g Gb/s", nic, is / 1e9, limit / 1e9));
    }
    return json_make("{s:s,s:s,s:o}", "rule", text, "verdict", judged ? "passed" : "skipped", "reason",
                     judged               ? json_textf("for none of %zu NICs", judged)
                     : isnan(rule->share) ? json_text("no NIC has the figure")
                                          : json_text("no NIC has the figure on both sides"));
}

json_t *burn_in_judge_rules(const json_t *old, const json_t *new, const struct list_of *rules)
{
    char *const *texts = rules->items;
    json_t *list = json_array();
    struct rule rule;
    struct error e;
    for (size_t i = 0; i < rules->count; i++)
        if (parse_rule(texts[i], &rule, &e) == 0)
            json_array_append_new(list, judge_rule(&rule, texts[i], old, new));
    return list;
}

/* ---- what differs */

static json_t *head_of(const json_t *document, const char *folder)
{
    return json_make(
        "{s:s,s:s,s:s,s:s,s:b,s:s}", "folder", folder, "verdict", run_member(document, "verdict"), "started",
        run_member(document, "started"), "version", run_member(document, "version"), "simulated",
        json_is_true(json_object_get(document, "simulated")), "lab", run_member(document, "lab"));
}

static bool has_finding(const json_t *document, const json_t *wanted)
{
    const json_t *finding;
    size_t i;
    json_array_foreach(json_object_get(document, "findings"), i, finding)
    {
        if (strcmp(run_member(finding, "kind"), run_member(wanted, "kind")) == 0 &&
            strcmp(run_member(finding, "culprit"), run_member(wanted, "culprit")) == 0)
            return true;
    }
    return false;
}

/* Those of one that the other has not. */
static json_t *findings_only(const json_t *one, const json_t *other)
{
    json_t *list = json_array(), *finding;
    size_t i;
    json_array_foreach(json_object_get(one, "findings"), i, finding)
    {
        if (!has_finding(other, finding))
            json_array_append(list, finding);
    }
    return list;
}

static void compare_figures(const json_t *old, const json_t *new, json_t *list, size_t *compared)
{
    const char *nic;
    json_t *of;
    json_object_foreach(json_object_get(new, "figures"), nic, of)
    {
        for (size_t k = 0; figures[k]; k++) {
            double was = figure_of(old, nic, figures[k]), is = figure_of(new, nic, figures[k]);
            if (isnan(was) || isnan(is))
                continue;
            ++*compared;
            double percent = was > 0 ? 100 * (is - was) / was : NAN;
            if (fabs(percent) >= MOVED || (isnan(percent) && is > was))
                json_array_append_new(list,
                                      json_make("{s:s,s:s,s:f,s:f,s:f}", "nic", nic, "figure", figures[k],
                                                "old_bps", was, "new_bps", is, "change_percent", percent));
        }
    }
}

static void compare_facts(const json_t *old, const json_t *new, json_t *list)
{
    const char *host, *what;
    json_t *of, *value;
    json_object_foreach(json_object_get(new, "facts"), host, of)
    {
        const json_t *before = json_object_get(json_object_get(old, "facts"), host);
        json_object_foreach(before ? of : NULL, what, value)
        {
            if (!json_equal(json_object_get(before, what), value))
                json_array_append_new(list, json_make("{s:s,s:s,s:s,s:O}", "host", host, "what", what, "old",
                                                      run_member(before, what), "new", value));
        }
    }
}

/* NICs that have figures on one side alone. */
static void note_only(const json_t *one, const json_t *other, const char *where, json_t *notes)
{
    const char *nic, *first = NULL;
    json_t *of;
    size_t only = 0;
    json_object_foreach(json_object_get(one, "figures"), nic, of)
    {
        if (!json_object_get(json_object_get(other, "figures"), nic) && only++ == 0)
            first = nic;
    }
    if (only)
        json_array_append_new(notes, json_textf("%zu %s figures in %s alone, such as %s", only,
                                                only == 1 ? "NIC has" : "NICs have", where, first));
}

static json_t *make_document(const char *old_folder, const json_t *old, const char *new_folder,
                             const json_t *new, const struct list_of *rules)
{
    json_t *versions = json_array(), *moved = json_array(), *notes = json_array(),
           *judged = burn_in_judge_rules(old, new, rules);
    size_t compared = 0;
    compare_facts(old, new, versions);
    compare_figures(old, new, moved, &compared);
    if (strcmp(run_member(old, "lab"), run_member(new, "lab")) != 0)
        json_array_append_new(
            notes, json_textf("OLD is of lab %s, NEW of %s", run_member(old, "lab"), run_member(new, "lab")));
    if (json_is_true(json_object_get(old, "simulated")) != json_is_true(json_object_get(new, "simulated")))
        json_array_append_new(notes, json_text("only one of both was simulated"));
    if (!json_is_true(json_object_get(old, "complete")) || !json_is_true(json_object_get(new, "complete")))
        json_array_append_new(notes, json_text("one of both is not complete"));
    note_only(old, new, "OLD", notes);
    note_only(new, old, "NEW", notes);
    if (!compared)
        json_array_append_new(notes,
                              json_text("there is nothing to compare: no NIC has figures on both sides"));
    return json_make("{s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:s}", "schema", 1, "old",
                     head_of(old, old_folder), "new", head_of(new, new_folder), "notes", notes, "versions",
                     versions, "gone", findings_only(old, new), "found", findings_only(new, old), "figures",
                     moved, "rules", judged, "compared", (json_int_t)compared, "verdict",
                     verdict_names[verdict_with(VERDICT_UNJUDGED, judged)]);
}

json_t *burn_in_compare(const char *old_folder, const char *new_folder, const struct list_of *rules,
                        struct error *e)
{
    json_t *old = NULL, *new = NULL, *document = NULL;
    if (files_are_one(old_folder, new_folder))
        error_set(e, "%s and %s are the same burn-in", old_folder, new_folder);
    else if (burn_in_check_rules(rules, true, e) == 0 && (old = burn_in_load(old_folder, e)) &&
             (new = burn_in_load(new_folder, e)))
        document = make_document(old_folder, old, new_folder, new, rules);
    json_decref(old);
    json_decref(new);
    return document;
}

/* ---- for people */

static void print_head(const char *word, const json_t *head)
{
    print_out_line("%s  %s", word, run_member(head, "folder"));
    print_out_line("     burn-in of %s%s, %s, %s, harness %s", run_member(head, "lab"),
                   json_is_true(json_object_get(head, "simulated")) ? " (simulated)" : "",
                   run_member(head, "verdict"), run_member(head, "started"), run_member(head, "version"));
}

static void print_findings(const char *word, const json_t *list)
{
    const json_t *finding;
    size_t i;
    json_array_foreach(list, i, finding)
    {
        if (i == ROWS_SHOWN)
            print_out_line("%s: and %zu others: --json has all", word, json_array_size(list) - i);
        if (i >= ROWS_SHOWN)
            break;
        print_out_line("%s: %s: %s", word, run_member(finding, "culprit"), run_member(finding, "says"));
    }
}

static int by_change(const void *a, const void *b)
{
    const json_t *const *x = a, *const *y = b;
    double one = fabs(json_number_value(json_object_get(*x, "change_percent"))),
           other = fabs(json_number_value(json_object_get(*y, "change_percent")));
    return (one < other) - (one > other);
}

static void print_figures(const json_t *list, size_t width)
{
    static const struct columns_style styles[] = {{.title = "NIC", .least = 8},
                                                  {.title = "figure"},
                                                  {.title = "OLD Gb/s", .right = true},
                                                  {.title = "NEW Gb/s", .right = true},
                                                  {.title = "change", .right = true}};
    size_t count = json_array_size(list), shown = count < ROWS_SHOWN ? count : ROWS_SHOWN;
    const json_t **rows = calloc(count + 1, sizeof *rows);
    struct words cells = {0};
    char percents[32];
    for (size_t i = 0; rows && i < count; i++)
        rows[i] = json_array_get(list, i);
    if (rows)
        qsort(rows, count, sizeof *rows, by_change);
    for (size_t i = 0; rows && i < shown; i++) {
        words_add(&cells, "%s", run_member(rows[i], "nic"));
        words_add(&cells, "%s", run_member(rows[i], "figure"));
        words_add(&cells, "%.4g", json_number_value(json_object_get(rows[i], "old_bps")) / 1e9);
        words_add(&cells, "%.4g", json_number_value(json_object_get(rows[i], "new_bps")) / 1e9);
        words_add(&cells, "%s",
                  verdict_percents(json_number_value(json_object_get(rows[i], "change_percent")), percents));
    }
    if (cells.count)
        columns_print(stdout, styles, 5, (const char *const *)cells.items, shown, width);
    if (count > shown)
        print_out_line("  %zu more figures moved: --json has all", count - shown);
    words_free(&cells);
    free(rows);
}

void burn_in_compare_print(const json_t *c, size_t width)
{
    const json_t *item;
    size_t i;
    print_head("OLD", json_object_get(c, "old"));
    print_head("NEW", json_object_get(c, "new"));
    json_array_foreach(json_object_get(c, "notes"), i, item)
    {
        print_out_line("note: %s", json_string_value(item));
    }
    json_array_foreach(json_object_get(c, "versions"), i, item)
    {
        print_out_line("version: %s: %s was %s and is %s", run_member(item, "host"), run_member(item, "what"),
                       run_member(item, "old"), run_member(item, "new"));
    }
    print_findings("gone", json_object_get(c, "gone"));
    print_findings("found", json_object_get(c, "found"));
    if (json_array_size(json_object_get(c, "figures")))
        print_figures(json_object_get(c, "figures"), width);
    else if (json_integer_value(json_object_get(c, "compared")))
        print_out_line("figures: the same within %.1f %%", MOVED);
    json_array_foreach(json_object_get(c, "rules"), i, item)
    {
        print_out_line("%-8s %s (%s)", run_member(item, "verdict"), run_member(item, "rule"),
                       run_member(item, "reason"));
    }
}

int burn_in_compare_status(const json_t *c)
{
    enum verdict verdict = verdict_of(run_member(c, "verdict"));
    bool none = json_integer_value(json_object_get(c, "compared")) == 0;
    return verdict == VERDICT_FAILED            ? EXIT_FAILED
           : verdict == VERDICT_SKIPPED || none ? EXIT_SKIPPED
                                                : EXIT_DONE;
}
