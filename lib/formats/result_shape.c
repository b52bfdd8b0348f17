#include "lib/formats/result_shape.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/formats/origin.h"
#include "lib/formats/verdicts.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What a value has to be. A null is a value that is not known; figures that every run has are never null. */
enum type {
    NUMBER,
    AMOUNT,
    WHOLE,
    COUNT,
    PRIORITY,
    BYTE,
    NUMBER_OR_NULL,
    AMOUNT_OR_NULL,
    TEXT,
    VERDICT,
    DECISION,
    ORIGIN,
    TRUTH,
    OBJECT,
    LIST
};

static const char *const decisions[] = {"passed", "failed", "skipped", NULL};

static const struct {
    const char *words;
    json_type type; /* JSON_REAL: any number, JSON_INTEGER: one without a fraction */
    bool or_null;
    double least, most;
    const char *const *texts; /* all that there are; NULL: any */
} types[] = {
    [NUMBER] = {"a number", JSON_REAL, false, -INFINITY, INFINITY, NULL},
    [AMOUNT] = {"a number from 0", JSON_REAL, false, 0, INFINITY, NULL},
    [WHOLE] = {"a whole number", JSON_INTEGER, false, -INFINITY, INFINITY, NULL},
    [COUNT] = {"a whole number from 0", JSON_INTEGER, false, 0, INFINITY, NULL},
    [PRIORITY] = {"a whole number from 0 to 7", JSON_INTEGER, false, 0, 7, NULL},
    [BYTE] = {"a whole number from 0 to 255", JSON_INTEGER, false, 0, 255, NULL},
    [NUMBER_OR_NULL] = {"a number or null", JSON_REAL, true, -INFINITY, INFINITY, NULL},
    [AMOUNT_OR_NULL] = {"a number from 0, or null", JSON_REAL, true, 0, INFINITY, NULL},
    [TEXT] = {"a text", JSON_STRING, true, 0, 0, NULL},
    [VERDICT] = {"unjudged, skipped, passed, failed or incomplete", JSON_STRING, false, 0, 0,
                 verdict_names + VERDICT_UNJUDGED},
    [DECISION] = {"passed, failed or skipped", JSON_STRING, false, 0, 0, decisions},
    [ORIGIN] = {"simulated, virtual, measured or mixed", JSON_STRING, true, 0, 0, origin_names},
    [TRUTH] = {"true or false", JSON_TRUE, false, 0, 0, NULL},
    [OBJECT] = {"an object", JSON_OBJECT, true, 0, 0, NULL},
    [LIST] = {"a list", JSON_ARRAY, true, 0, 0, NULL},
};

/* A key of an object, or the items of a list; "*": each key that has no row of its own. Other keys may have
 * any value. */
struct shape {
    const char *key;
    enum type type;
    const struct shape *members; /* of an object its keys, of a list one row for its items; NULL: any */
};

#define ITEMS(name, type, members) static const struct shape name[] = {{"*", type, members}, {0}}
ITEMS(texts, TEXT, NULL);
ITEMS(numbers, NUMBER, NULL);
ITEMS(amounts, AMOUNT, NULL);
ITEMS(priorities, PRIORITY, NULL);
ITEMS(objects, OBJECT, NULL);

/* ---- result.json */

static const struct shape spread[] = {{"*", AMOUNT, NULL}, {0}};
static const struct shape rates[] = {{"bytes", COUNT, NULL},
                                     {"messages", COUNT, NULL},
                                     {"duration_ns", COUNT, NULL},
                                     {"*", AMOUNT, NULL},
                                     {0}};

static const struct shape most[] = {{"role", TEXT, NULL}, {"delta", COUNT, NULL}, {0}};
static const struct shape counter[] = {{"unit", TEXT, NULL},
                                       {"kind", TEXT, NULL},
                                       {"source", TEXT, NULL},
                                       {"group", TEXT, NULL},
                                       {"delta", COUNT, NULL},
                                       {"total", COUNT, NULL},
                                       {"first", WHOLE, NULL},
                                       {"last", WHOLE, NULL},
                                       {"rate_per_s", AMOUNT, NULL},
                                       {"duration_ns", COUNT, NULL},
                                       {"unread_ns", COUNT, NULL},
                                       {"beyond_ns", COUNT, NULL},
                                       {"samples", COUNT, NULL},
                                       {"min", WHOLE, NULL},
                                       {"mean", NUMBER, NULL},
                                       {"p50", NUMBER, NULL},
                                       {"p90", NUMBER, NULL},
                                       {"p99", NUMBER, NULL},
                                       {"p99_9", NUMBER, NULL},
                                       {"max", WHOLE, NULL},
                                       {"before", COUNT, NULL},
                                       {"after", COUNT, NULL},
                                       {"most", OBJECT, most},
                                       {"of", COUNT, NULL},
                                       {0}};
ITEMS(counters, OBJECT, counter);
ITEMS(pauses, OBJECT, spread);
static const struct shape buffer[] = {{"buffer", COUNT, NULL},          {"size_bytes", COUNT, NULL},
                                      {"xoff_bytes", COUNT, NULL},      {"xon_bytes", COUNT, NULL},
                                      {"priorities", LIST, priorities}, {0}};
ITEMS(buffers, OBJECT, buffer);
static const struct shape host[] = {{"name", TEXT, NULL},          {"machine", TEXT, NULL},
                                    {"address", TEXT, NULL},       {"origin", ORIGIN, NULL},
                                    {"listed", TRUTH, NULL},       {"capabilities", LIST, texts},
                                    {"facts", OBJECT, NULL},       {"scaled", OBJECT, amounts},
                                    {"buffers", LIST, buffers},    {"clock", OBJECT, numbers},
                                    {"sampling", OBJECT, amounts}, {"counters", OBJECT, counters},
                                    {"pauses", OBJECT, pauses},    {0}};
ITEMS(hosts, OBJECT, host);
static const struct shape machine[] = {{"of", LIST, texts}, {"counters", OBJECT, counters}, {0}};
ITEMS(machines, OBJECT, machine);
static const struct shape totals[] = {
    {"roles", COUNT, NULL}, {"listed", COUNT, NULL}, {"counters", OBJECT, counters}, {0}};
static const struct shape by_size[] = {{"up_to_bytes", COUNT, NULL}, {"slowdown", OBJECT, spread}, {0}};
ITEMS(by_sizes, OBJECT, by_size);
static const struct shape flow[] = {{"bytes", COUNT, NULL},
                                    {"messages", COUNT, NULL},
                                    {"duration_ns", COUNT, NULL},
                                    {"goodput_bps", AMOUNT, NULL},
                                    {"goodput_MiBps", AMOUNT, NULL},
                                    {"messages_per_s", AMOUNT, NULL},
                                    {"errors", COUNT, NULL},
                                    {"complete", TRUTH, NULL},
                                    {"from", TEXT, NULL},
                                    {"to", TEXT, NULL},
                                    {"op", TEXT, NULL},
                                    {"mode", TEXT, NULL},
                                    {"memory", TEXT, NULL},
                                    {"numa", TEXT, NULL},
                                    {"relaxed_ordering", TRUTH, NULL},
                                    {"priority", PRIORITY, NULL},
                                    {"queue_pairs", COUNT, NULL},
                                    {"message_bytes", COUNT, NULL},
                                    {"traffic_class", BYTE, NULL},
                                    {"delivered_bytes", COUNT, NULL},
                                    {"delivered_bps", AMOUNT, NULL},
                                    {"marked_packets", COUNT, NULL},
                                    {"decreases", COUNT, NULL},
                                    {"increases", COUNT, NULL},
                                    {"retransmitted_packets", COUNT, NULL},
                                    {"above_line_bps", AMOUNT, NULL},
                                    {"error", TEXT, NULL},
                                    {"phase", OBJECT, rates},
                                    {"latency_ns", OBJECT, spread},
                                    {"completion_ns", OBJECT, spread},
                                    {"slowdown", OBJECT, spread},
                                    {"flows", OBJECT, amounts},
                                    {"by_size", LIST, by_sizes},
                                    {"memory_used", OBJECT, NULL},
                                    {"tool", TEXT, NULL},
                                    {"tool_used", OBJECT, NULL},
                                    {0}};
ITEMS(flows, OBJECT, flow);
static const struct shape half[] = {{"time_ns", AMOUNT_OR_NULL, NULL},
                                    {"algbw_GBps", AMOUNT_OR_NULL, NULL},
                                    {"busbw_GBps", AMOUNT_OR_NULL, NULL},
                                    {"wrong", AMOUNT_OR_NULL, NULL},
                                    {0}};
static const struct shape size[] = {{"bytes", COUNT, NULL},     {"count", COUNT, NULL},
                                    {"datatype", TEXT, NULL},   {"reduction", TEXT, NULL},
                                    {"root", WHOLE, NULL},      {"out_of_place", OBJECT, half},
                                    {"in_place", OBJECT, half}, {0}};
ITEMS(sizes, OBJECT, size);
static const struct shape collective[] = {{"tool", TEXT, NULL},
                                          {"op", TEXT, NULL},
                                          {"roles", LIST, texts},
                                          {"complete", TRUTH, NULL},
                                          {"ranks", COUNT, NULL},
                                          {"avg_busbw_GBps", AMOUNT_OR_NULL, NULL},
                                          {"max_busbw_GBps", AMOUNT_OR_NULL, NULL},
                                          {"max_algbw_GBps", AMOUNT_OR_NULL, NULL},
                                          {"min_time_ns", AMOUNT_OR_NULL, NULL},
                                          {"wrong", COUNT, NULL},
                                          {"out_of_bounds", AMOUNT, NULL},
                                          {"path", TEXT, NULL},
                                          {"channels", OBJECT, numbers},
                                          {"sizes", LIST, sizes},
                                          {"devices", LIST, objects},
                                          {"tool_used", OBJECT, NULL},
                                          {0}};
ITEMS(collectives, OBJECT, collective);
static const struct shape rank[] = {{"role", TEXT, NULL},        {"end_ns", AMOUNT, NULL},
                                    {"calc_ns", AMOUNT, NULL},   {"exposed_ns", AMOUNT, NULL},
                                    {"sent_bytes", COUNT, NULL}, {"received_bytes", COUNT, NULL},
                                    {"unfinished", COUNT, NULL}, {0}};
ITEMS(ranks, OBJECT, rank);
static const struct shape job[] = {{"schedule", TEXT, NULL},
                                   {"operations", COUNT, NULL},
                                   {"unfinished", COUNT, NULL},
                                   {"end_ns", AMOUNT, NULL},
                                   {"not_ended", LIST, texts},
                                   {"ranks", LIST, ranks},
                                   {0}};
ITEMS(jobs, OBJECT, job);
/* An expectation, a published figure, or what a checker says; also over repetitions. */
static const struct shape judged[] = {{"name", TEXT, NULL},
                                      {"check", TEXT, NULL},
                                      {"of", TEXT, NULL},
                                      {"verdict", DECISION, NULL},
                                      {"reason", TEXT, NULL},
                                      {"note", TEXT, NULL},
                                      {"over", TEXT, NULL},
                                      {"origin", ORIGIN, NULL},
                                      {"unit", TEXT, NULL},
                                      {"source", TEXT, NULL},
                                      {"against", OBJECT, NULL},
                                      {"left", NUMBER_OR_NULL, NULL},
                                      {"right", NUMBER_OR_NULL, NULL},
                                      {"left_ci95", AMOUNT_OR_NULL, NULL},
                                      {"right_ci95", AMOUNT_OR_NULL, NULL},
                                      {"published", NUMBER, NULL},
                                      {"value", NUMBER_OR_NULL, NULL},
                                      {"difference_percent", NUMBER_OR_NULL, NULL},
                                      {"count", COUNT, NULL},
                                      {"ci95", AMOUNT_OR_NULL, NULL},
                                      {"findings", LIST, objects},
                                      {"not_judged", LIST, texts},
                                      {0}};
ITEMS(all_judged, OBJECT, judged);
static const struct shape phase[] = {
    {"name", TEXT, NULL}, {"start_ns", COUNT, NULL}, {"end_ns", COUNT, NULL}, {0}};
ITEMS(phases, OBJECT, phase);
static const struct shape deadlock[] = {{"since_ns", COUNT, NULL},    {"found_ns", COUNT, NULL},
                                        {"priority", PRIORITY, NULL}, {"ports", LIST, texts},
                                        {"text", TEXT, NULL},         {0}};
ITEMS(deadlocks, OBJECT, deadlock);
static const struct shape node[] = {{"name", TEXT, NULL}, {"kind", TEXT, NULL}, {"machine", TEXT, NULL}, {0}};
ITEMS(nodes, OBJECT, node);
ITEMS(held, OBJECT, amounts);
static const struct shape link[] = {{"a", TEXT, NULL},         {"b", TEXT, NULL},
                                    {"rate_bps", COUNT, NULL}, {"a_held", OBJECT, held},
                                    {"b_held", OBJECT, held},  {0}};
ITEMS(links, OBJECT, link);
static const struct shape topology[] = {{"nodes", LIST, nodes}, {"links", LIST, links}, {0}};
static const struct shape port[] = {{"to", TEXT, NULL}, {"counters", OBJECT, counters}, {0}};
ITEMS(ports, OBJECT, port);
static const struct shape sonic[] = {{"before_ns", COUNT, NULL},
                                     {"after_ns", COUNT, NULL},
                                     {"settle_ns", COUNT, NULL},
                                     {"ports", OBJECT, ports},
                                     {0}};
ITEMS(switches, OBJECT, sonic);
static const struct shape capture[] = {{"file", TEXT, NULL},       {"frames", COUNT, NULL},
                                       {"bytes", COUNT, NULL},     {"left_out_from_ns", COUNT, NULL},
                                       {"settings", OBJECT, NULL}, {0}};
static const struct shape scenario[] = {{"name", TEXT, NULL},
                                        {"title", TEXT, NULL},
                                        {"roles", LIST, texts},
                                        {"phases", OBJECT, NULL},
                                        {"sample", OBJECT, NULL},
                                        {"settings", OBJECT, NULL},
                                        {"settings_of", OBJECT, objects},
                                        {"flows", LIST, objects},
                                        {"traffic", LIST, objects},
                                        {"jobs", LIST, objects},
                                        {"storms", LIST, objects},
                                        {"faults", LIST, objects},
                                        {0}};
static const struct shape lab[] = {{"name", TEXT, NULL}, {"title", TEXT, NULL}, {"driver", TEXT, NULL}, {0}};
static const struct shape result[] = {{"version", TEXT, NULL},
                                      {"build", TEXT, NULL},
                                      {"simulated", TRUTH, NULL},
                                      {"origin", ORIGIN, NULL},
                                      {"scaled", OBJECT, amounts},
                                      {"complete", TRUTH, NULL},
                                      {"stopped_early", TRUTH, NULL},
                                      {"reason", TEXT, NULL},
                                      {"verdict", VERDICT, NULL},
                                      {"started", TEXT, NULL},
                                      {"finished", TEXT, NULL},
                                      {"seed", COUNT, NULL},
                                      {"repeat", COUNT, NULL},
                                      {"cell", OBJECT, NULL},
                                      {"scenario", OBJECT, scenario},
                                      {"scenario_file", TEXT, NULL},
                                      {"lab_file", TEXT, NULL},
                                      {"working_folder", TEXT, NULL},
                                      {"lab", OBJECT, lab},
                                      {"sources", OBJECT, texts},
                                      {"phases", LIST, phases},
                                      {"hosts", OBJECT, hosts},
                                      {"machines", OBJECT, machines},
                                      {"totals", OBJECT, totals},
                                      {"flows", OBJECT, flows},
                                      {"collectives", OBJECT, collectives},
                                      {"jobs", OBJECT, jobs},
                                      {"expectations", LIST, all_judged},
                                      {"published", LIST, all_judged},
                                      {"verify", LIST, all_judged},
                                      {"deadlocks", LIST, deadlocks},
                                      {"injected", LIST, objects},
                                      {"capture", OBJECT, capture},
                                      {"simulator", OBJECT, amounts},
                                      {"topology", OBJECT, topology},
                                      {"switches", OBJECT, switches},
                                      {"warnings", LIST, texts},
                                      {0}};

/* ---- index.json and settings.json */

static const struct shape cell[] = {
    {"folder", TEXT, NULL},    {"cell", OBJECT, NULL},     {"repeat", COUNT, NULL},
    {"origin", ORIGIN, NULL},  {"verdict", VERDICT, NULL}, {"complete", TRUTH, NULL},
    {"warnings", COUNT, NULL}, {"reason", TEXT, NULL},     {0}};
ITEMS(cells, OBJECT, cell);
static const struct shape figure[] = {
    {"count", COUNT, NULL},         {"mean", NUMBER_OR_NULL, NULL}, {"stddev", AMOUNT_OR_NULL, NULL},
    {"ci95", AMOUNT_OR_NULL, NULL}, {"unit", TEXT, NULL},           {0}};
ITEMS(figures, OBJECT, figure);
static const struct shape repeat[] = {{"cell", OBJECT, NULL},
                                      {"folders", LIST, texts},
                                      {"identical", TRUTH, NULL},
                                      {"figures", OBJECT, figures},
                                      {"figures_left_out", COUNT, NULL},
                                      {"expectations", LIST, all_judged},
                                      {"published", LIST, all_judged},
                                      {0}};
ITEMS(repeated, OBJECT, repeat);
ITEMS(values, LIST, NULL);
static const struct shape index_shape[] = {{"version", TEXT, NULL},
                                           {"build", TEXT, NULL},
                                           {"scenario", TEXT, NULL},
                                           {"title", TEXT, NULL},
                                           {"simulated", TRUTH, NULL},
                                           {"origin", ORIGIN, NULL},
                                           {"complete", TRUTH, NULL},
                                           {"reason", TEXT, NULL},
                                           {"verdict", VERDICT, NULL},
                                           {"started", TEXT, NULL},
                                           {"finished", TEXT, NULL},
                                           {"sweep", OBJECT, values},
                                           {"repeats", COUNT, NULL},
                                           {"runs", COUNT, NULL},
                                           {"warnings", LIST, texts},
                                           {"cells", LIST, cells},
                                           {"repeated", LIST, repeated},
                                           {"repeated_left_out", COUNT, NULL},
                                           {0}};
static const struct shape of_role[] = {{"before", OBJECT, NULL},    {"wanted", OBJECT, NULL},
                                       {"read_back", OBJECT, NULL}, {"after", OBJECT, NULL},
                                       {"restored", TRUTH, NULL},   {0}};
ITEMS(of_roles, OBJECT, of_role);

static const struct {
    const char *file;
    const struct shape *shape;
} documents[] = {[RESULT_DOCUMENT] = {"result.json", result},
                 [INDEX_DOCUMENT] = {"index.json", index_shape},
                 [SETTINGS_DOCUMENT] = {"settings.json", of_roles}};

/* ---- the walk */

#define MOST_WHOLE 9007199254740992.0 /* 2 to the power of 53: a double has each whole number up to it */
#define ROUNDED    1e-9               /* of a number that was written with 15 digits */
#define SENTENCES  10                 /* of a document; the rest is counted */

struct place {
    const struct place *above; /* NULL: the document */
    const char *key;           /* NULL: an item of a list */
    size_t number;
};

struct walk {
    const char *file;
    json_t *sentences;
    size_t wrong;
};

/* Is the number, the text among those that there are? */
static bool is_in_range(const json_t *value, enum type type)
{
    double number = json_number_value(value);
    const char *const *one = types[type].texts;
    if (json_is_number(value))
        return number >= types[type].least && number <= types[type].most;
    while (one && *one && json_is_string(value) && strcmp(*one, json_string_value(value)) != 0)
        one++;
    return !one || !json_is_string(value) || *one;
}

static bool is_of_type(const json_t *value, enum type type)
{
    switch (types[type].type) {
    case JSON_REAL:
        return json_is_number(value);
    case JSON_INTEGER:
        return json_is_integer(value) ||
               (json_is_real(value) && floor(json_real_value(value)) == json_real_value(value) &&
                fabs(json_real_value(value)) <= MOST_WHOLE);
    case JSON_TRUE:
        return json_is_boolean(value);
    default:
        return json_typeof(value) == types[type].type;
    }
}

static bool fits(const json_t *value, enum type type)
{
    return json_is_null(value) ? types[type].or_null : is_of_type(value, type) && is_in_range(value, type);
}

static const struct shape *row_of(const struct shape *shape, const char *key)
{
    while (shape->key && strcmp(shape->key, key) != 0 && strcmp(shape->key, "*") != 0)
        shape++;
    return shape->key ? shape : NULL;
}

static void add_place(const struct place *place, struct text *out)
{
    if (!place)
        return;
    add_place(place->above, out);
    if (place->key)
        text_add(out, "%s%.100s", place->above ? "." : "", place->key);
    else
        text_add(out, "[%zu]", place->number);
}

/* Room for one more sentence? The rest is counted. */
static bool walk_says_more(struct walk *walk)
{
    return walk->wrong++ < SENTENCES;
}

static void note_wrong(struct walk *walk, const struct place *place, const json_t *value, enum type type)
{
    struct text where = {0};
    if (!walk_says_more(walk))
        return;
    char *shown = json_shown(value);
    add_place(place, &where);
    json_array_append_new(walk->sentences,
                          json_textf("%s: %s is %.60s%s, expected %s: it is left out", walk->file,
                                     text_string(&where), shown ? shown : "?",
                                     shown && strlen(shown) > 60 ? "..." : "", types[type].words));
    text_free(&where);
    free(shown);
}

/* ---- values that follow from others */

/* "flows.f" and "goodput_bps": "result.json: flows.f.goodput_bps WORDS" */
static void note_contradiction(struct walk *walk, const struct place *object, const char *key,
                               const char *words)
{
    const struct place place = {object, key, 0};
    struct text where = {0};
    if (!walk_says_more(walk))
        return;
    add_place(&place, &where);
    json_array_append_new(walk->sentences, json_textf("%s: %s %s", walk->file, text_string(&where), words));
    text_free(&where);
}

/* Quantiles grow, and the mean is among them. */
static void mend_spread(struct walk *walk, const struct place *place, json_t *object)
{
    static const char *const keys[] = {"min", "p50", "p90", "p99", "p99_9", "p99_99", "max"};
    const char *before = NULL;
    const json_t *mean = json_object_get(object, "mean"), *smallest = json_object_get(object, "min"),
                 *largest = json_object_get(object, "max");
    char words[100] = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(object, keys[i]);
        if (value && before && json_number_value(value) < json_number_value(json_object_get(object, before)))
            snprintf(words, sizeof words, "is less than its %s: it is left out", before);
        if (words[0]) {
            note_contradiction(walk, place, keys[i], words);
            json_object_del(object, keys[i]);
            return;
        }
        before = value ? keys[i] : before;
    }
    if (!mean || !smallest || !largest ||
        (json_number_value(mean) >= json_number_value(smallest) * (1 - ROUNDED) &&
         json_number_value(mean) <= json_number_value(largest) * (1 + ROUNDED)))
        return;
    note_contradiction(walk, place, "mean", "is not between its min and max: it is left out");
    json_object_del(object, "mean");
}

static void mend_rate(struct walk *walk, const struct place *place, json_t *object, const char *key,
                      double wanted)
{
    const json_t *said = json_object_get(object, key);
    char words[120];
    if (!said || fabs(json_number_value(said) - wanted) <= ROUNDED * wanted)
        return;
    snprintf(words, sizeof words, "is %.15g, and its amount and duration make %.15g: it is taken as that",
             json_number_value(said), wanted);
    note_contradiction(walk, place, key, words);
    json_object_set_new(object, key, json_real(wanted));
}

/* Of a flow, or of its part in the measure phase (harness/record/flows.c: add_rates). */
static void mend_rates(struct walk *walk, const struct place *place, json_t *object)
{
    const json_t *bytes = json_object_get(object, "bytes"), *messages = json_object_get(object, "messages");
    double seconds = json_number_value(json_object_get(object, "duration_ns")) / 1e9;
    if (bytes && seconds > 0) {
        mend_rate(walk, place, object, "goodput_bps", json_number_value(bytes) * 8 / seconds);
        mend_rate(walk, place, object, "goodput_MiBps", json_number_value(bytes) / seconds / 1048576);
    }
    if (messages && seconds > 0)
        mend_rate(walk, place, object, "messages_per_s", json_number_value(messages) / seconds);
}

/* The verdict of an expectation is that of its numbers, which are written with 15 digits. */
static void mend_judged(struct walk *walk, const struct place *place, json_t *object)
{
    const char *check = json_string_value(json_object_get(object, "check"));
    enum verdict said = verdict_of(json_string_value(json_object_get(object, "verdict")));
    double left = json_number_value(json_object_get(object, "left")),
           right = json_number_value(json_object_get(object, "right"));
    const char *sign = check ? check + strcspn(check, "<>=!") : ""; /* it stands between two expressions */
    if ((said != VERDICT_PASSED && said != VERDICT_FAILED) || !*sign ||
        !json_is_number(json_object_get(object, "left")) || !json_is_number(json_object_get(object, "right")))
        return;
    enum verdict is = verdict_holds(sign, left, right) ? VERDICT_PASSED : VERDICT_FAILED;
    char words[160];
    if (is == said || (left != right && fabs(left - right) <= ROUNDED * fabs(right)))
        return;
    snprintf(words, sizeof words,
             "is \"%s\", and its numbers, %.15g and %.15g, make it %s: it is taken as that",
             verdict_names[said], left, right, verdict_names[is]);
    note_contradiction(walk, place, "verdict", words);
    json_object_set_new(object, "verdict", json_text(verdict_names[is]));
}

/* How far a figure is from the published one (harness/judge/verdict.c: entry_set_value). harness 0.1 called
 * the figure "measured", also where it was simulated. */
static void mend_published(struct walk *walk, const struct place *place, json_t *object)
{
    if (json_object_get(object, "published") && !json_object_get(object, "value") &&
        json_is_number(json_object_get(object, "measured")))
        json_object_set(object, "value", json_object_get(object, "measured"));
    const json_t *value = json_object_get(object, "value"),
                 *said = json_object_get(object, "difference_percent");
    double published = json_number_value(json_object_get(object, "published")),
           is = (json_number_value(value) - published) / fabs(published) * 100;
    char words[120];
    if (!json_is_number(value) || !json_is_number(said) || published == 0 ||
        fabs(json_number_value(said) - is) <= ROUNDED * fmax(fabs(is), 100))
        return;
    snprintf(words, sizeof words, "is %.15g, and the two figures make %.15g: it is taken as that",
             json_number_value(said), is);
    note_contradiction(walk, place, "difference_percent", words);
    json_object_set_new(object, "difference_percent", json_real(is));
}

static void mend_verdict(struct walk *walk, const struct place *place, json_t *object, enum verdict is,
                         const char *by)
{
    const char *said = json_string_value(json_object_get(object, "verdict"));
    char words[160];
    if (verdict_of(said) == is)
        return;
    if (said) {
        snprintf(words, sizeof words, "is \"%s\", and %s make it %s: it is taken as that", said, by,
                 verdict_names[is]);
        note_contradiction(walk, place, "verdict", words);
    }
    json_object_set_new(object, "verdict", json_text(verdict_names[is]));
}

const char *result_missing_key(const json_t *document, bool whole)
{
    static const struct {
        const char *key;
        bool listed; /* the list of runs reads it too (reports/browse/entry.c) */
    } keys[] = {{"verdict", true}, {"started", true},    {"simulated", true}, {"seed", true},
                {"repeat", true},  {"cell", true},       {"phases", true},    {"expectations", true},
                {"schema", false}, {"version", false},   {"build", false},    {"scenario", false},
                {"lab", false},    {"finished", false},  {"origin", false},   {"hosts", false},
                {"flows", false},  {"published", false}, {"warnings", false}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if ((whole || keys[i].listed) && !json_object_get(document, keys[i].key))
            return keys[i].key;
    return NULL;
}

static void mend_result(struct walk *walk, const struct place *place, json_t *object)
{
    const char *missing = json_object_get(object, "program") ? result_missing_key(object, false) : NULL;
    if (missing && !walk->wrong) /* what was taken out has been said */
        note_contradiction(walk, place, missing, "is missing");
    const char *origin = json_string_value(json_object_get(object, "origin"));
    const json_t *simulated = json_object_get(object, "simulated");
    enum verdict said = verdict_of(json_string_value(json_object_get(object, "verdict"))),
                 is = verdict_of_result(object);
    if (is == VERDICT_NONE) /* nothing was to be judged, or the cell did not run */
        is = said == VERDICT_SKIPPED ? said : VERDICT_UNJUDGED;
    if (json_is_boolean(json_object_get(object, "complete")) && json_object_get(object, "expectations"))
        mend_verdict(walk, place, object, is, "its expectations and captured packets");
    if (!origin || !simulated || json_is_true(simulated) == (strcmp(origin, "simulated") == 0))
        return;
    note_contradiction(walk, place, "origin",
                       json_is_true(simulated) ? "is not \"simulated\", and the lab was: it is taken as that"
                                               : "is \"simulated\", and the lab was not: it is left out");
    if (json_is_true(simulated))
        json_object_set_new(object, "origin", json_text("simulated"));
    else
        json_object_del(object, "origin");
}

/* The worst of its cells and of what was judged over them. */
static void mend_index(struct walk *walk, const struct place *place, json_t *object)
{
    enum verdict worst = verdict_with(VERDICT_UNJUDGED, json_object_get(object, "cells"));
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(object, "repeated"), i, entry) worst =
        verdict_with(worst, json_object_get(entry, "expectations"));
    if (json_is_true(json_object_get(object, "complete")) && json_object_get(object, "cells"))
        mend_verdict(walk, place, object, worst, "its cells");
}

static const struct {
    const struct shape *of; /* the members of an object */
    /* Say what of them contradicts the others, and mend it. */
    void (*mend)(struct walk *walk, const struct place *place, json_t *object);
} followers[] = {{spread, mend_spread}, {counter, mend_spread},   {rates, mend_rates},
                 {flow, mend_rates},    {judged, mend_judged},    {judged, mend_published},
                 {result, mend_result}, {index_shape, mend_index}};

static void take_out_below(struct walk *walk, const struct place *place, json_t *value,
                           const struct shape *shape);

/* Is the value as its row says? What is wrong below it is taken out. */
static bool stays(struct walk *walk, const struct place *place, json_t *value, const struct shape *row)
{
    if (!fits(value, row->type)) {
        note_wrong(walk, place, value, row->type);
        return false;
    }
    if (row->members)
        take_out_below(walk, place, value, row->members);
    return true;
}

static void take_out_below(struct walk *walk, const struct place *place, json_t *value,
                           const struct shape *shape)
{
    const char *key;
    json_t *member;
    void *next;
    json_object_foreach_safe(value, next, key, member)
    {
        const struct shape *row = row_of(shape, key);
        const struct place here = {place, key, 0};
        if (row && !stays(walk, &here, member, row))
            json_object_del(value, key);
        else if (row && types[row->type].type == JSON_INTEGER && json_is_real(member)) /* 2.0 */
            json_object_set_new(value, key, json_integer((json_int_t)json_real_value(member)));
    }
    for (size_t i = 0, number = 0; i < json_array_size(value); number++) {
        const struct place here = {place, NULL, number};
        if (stays(walk, &here, json_array_get(value, i), shape))
            i++;
        else
            json_array_remove(value, i);
    }
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++)
        if (followers[i].of == shape && json_is_object(value))
            followers[i].mend(walk, place, value);
}

json_t *result_take_out_wrong(enum result_document which, json_t *document)
{
    struct walk walk = {documents[which].file, json_array(), 0};
    if (json_is_object(document))
        take_out_below(&walk, NULL, document, documents[which].shape);
    if (walk.wrong > SENTENCES)
        json_array_append_new(walk.sentences, json_textf("%s: %zu more values are not what they have to be",
                                                         walk.file, walk.wrong - SENTENCES));
    return walk.sentences;
}
