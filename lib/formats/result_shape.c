#include "lib/formats/result_shape.h"

#include "lib/document/json_text.h"
#include "lib/text.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A null is a value that is not known; figures that every run has are never null. */
enum type { NUMBER, WHOLE, NUMBER_OR_NULL, TEXT, TRUTH, OBJECT, LIST };

static const char *const type_words[] = {
    [NUMBER] = "a number", [WHOLE] = "a whole number", [NUMBER_OR_NULL] = "a number or null",
    [TEXT] = "a text",     [TRUTH] = "true or false",  [OBJECT] = "an object",
    [LIST] = "a list"};

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
ITEMS(objects, OBJECT, NULL);

/* ---- result.json */

static const struct shape most[] = {{"role", TEXT, NULL}, {"delta", WHOLE, NULL}, {0}};
static const struct shape counter[] = {{"unit", TEXT, NULL},         {"kind", TEXT, NULL},
                                       {"source", TEXT, NULL},       {"group", TEXT, NULL},
                                       {"delta", WHOLE, NULL},       {"total", WHOLE, NULL},
                                       {"first", WHOLE, NULL},       {"last", WHOLE, NULL},
                                       {"rate_per_s", NUMBER, NULL}, {"duration_ns", WHOLE, NULL},
                                       {"samples", WHOLE, NULL},     {"min", WHOLE, NULL},
                                       {"mean", NUMBER, NULL},       {"p50", NUMBER, NULL},
                                       {"p90", NUMBER, NULL},        {"p99", NUMBER, NULL},
                                       {"p99_9", NUMBER, NULL},      {"max", WHOLE, NULL},
                                       {"before", WHOLE, NULL},      {"after", WHOLE, NULL},
                                       {"most", OBJECT, most},       {0}};
ITEMS(counters, OBJECT, counter);
ITEMS(pauses, OBJECT, numbers);
static const struct shape buffer[] = {{"buffer", WHOLE, NULL},       {"size_bytes", WHOLE, NULL},
                                      {"xoff_bytes", WHOLE, NULL},   {"xon_bytes", WHOLE, NULL},
                                      {"priorities", LIST, numbers}, {0}};
ITEMS(buffers, OBJECT, buffer);
static const struct shape host[] = {{"name", TEXT, NULL},
                                    {"address", TEXT, NULL},
                                    {"origin", TEXT, NULL},
                                    {"listed", TRUTH, NULL},
                                    {"capabilities", LIST, texts},
                                    {"facts", OBJECT, NULL},
                                    {"scaled", OBJECT, numbers},
                                    {"buffers", LIST, buffers},
                                    {"clock", OBJECT, numbers},
                                    {"sampling", OBJECT, numbers},
                                    {"counters", OBJECT, counters},
                                    {"pauses", OBJECT, pauses},
                                    {0}};
ITEMS(hosts, OBJECT, host);
static const struct shape totals[] = {
    {"roles", WHOLE, NULL}, {"listed", WHOLE, NULL}, {"counters", OBJECT, counters}, {0}};
static const struct shape by_size[] = {{"up_to_bytes", WHOLE, NULL}, {"slowdown", OBJECT, numbers}, {0}};
ITEMS(by_sizes, OBJECT, by_size);
static const struct shape flow[] = {{"bytes", WHOLE, NULL},
                                    {"messages", WHOLE, NULL},
                                    {"duration_ns", WHOLE, NULL},
                                    {"goodput_bps", NUMBER, NULL},
                                    {"goodput_MiBps", NUMBER, NULL},
                                    {"messages_per_s", NUMBER, NULL},
                                    {"errors", WHOLE, NULL},
                                    {"complete", TRUTH, NULL},
                                    {"from", TEXT, NULL},
                                    {"to", TEXT, NULL},
                                    {"op", TEXT, NULL},
                                    {"mode", TEXT, NULL},
                                    {"memory", TEXT, NULL},
                                    {"numa", TEXT, NULL},
                                    {"relaxed_ordering", TRUTH, NULL},
                                    {"priority", WHOLE, NULL},
                                    {"queue_pairs", WHOLE, NULL},
                                    {"message_bytes", WHOLE, NULL},
                                    {"traffic_class", WHOLE, NULL},
                                    {"delivered_bytes", WHOLE, NULL},
                                    {"delivered_bps", NUMBER, NULL},
                                    {"marked_packets", WHOLE, NULL},
                                    {"decreases", WHOLE, NULL},
                                    {"increases", WHOLE, NULL},
                                    {"retransmitted_packets", WHOLE, NULL},
                                    {"above_line_bps", NUMBER, NULL},
                                    {"error", TEXT, NULL},
                                    {"phase", OBJECT, numbers},
                                    {"latency_ns", OBJECT, numbers},
                                    {"completion_ns", OBJECT, numbers},
                                    {"slowdown", OBJECT, numbers},
                                    {"flows", OBJECT, numbers},
                                    {"by_size", LIST, by_sizes},
                                    {"memory_used", OBJECT, NULL},
                                    {"tool", TEXT, NULL},
                                    {"tool_used", OBJECT, NULL},
                                    {0}};
ITEMS(flows, OBJECT, flow);
static const struct shape half[] = {{"time_ns", NUMBER_OR_NULL, NULL},
                                    {"algbw_GBps", NUMBER_OR_NULL, NULL},
                                    {"busbw_GBps", NUMBER_OR_NULL, NULL},
                                    {"wrong", NUMBER_OR_NULL, NULL},
                                    {0}};
static const struct shape size[] = {{"bytes", WHOLE, NULL},     {"count", WHOLE, NULL},
                                    {"datatype", TEXT, NULL},   {"reduction", TEXT, NULL},
                                    {"root", WHOLE, NULL},      {"out_of_place", OBJECT, half},
                                    {"in_place", OBJECT, half}, {0}};
ITEMS(sizes, OBJECT, size);
static const struct shape collective[] = {{"tool", TEXT, NULL},
                                          {"op", TEXT, NULL},
                                          {"roles", LIST, texts},
                                          {"complete", TRUTH, NULL},
                                          {"ranks", WHOLE, NULL},
                                          {"avg_busbw_GBps", NUMBER_OR_NULL, NULL},
                                          {"max_busbw_GBps", NUMBER_OR_NULL, NULL},
                                          {"max_algbw_GBps", NUMBER_OR_NULL, NULL},
                                          {"min_time_ns", NUMBER_OR_NULL, NULL},
                                          {"wrong", WHOLE, NULL},
                                          {"out_of_bounds", NUMBER, NULL},
                                          {"path", TEXT, NULL},
                                          {"channels", OBJECT, numbers},
                                          {"sizes", LIST, sizes},
                                          {"devices", LIST, objects},
                                          {"tool_used", OBJECT, NULL},
                                          {0}};
ITEMS(collectives, OBJECT, collective);
/* An expectation, a published figure, or what a checker says; also over repetitions. */
static const struct shape judged[] = {{"name", TEXT, NULL},
                                      {"check", TEXT, NULL},
                                      {"of", TEXT, NULL},
                                      {"verdict", TEXT, NULL},
                                      {"reason", TEXT, NULL},
                                      {"note", TEXT, NULL},
                                      {"over", TEXT, NULL},
                                      {"origin", TEXT, NULL},
                                      {"unit", TEXT, NULL},
                                      {"source", TEXT, NULL},
                                      {"against", OBJECT, NULL},
                                      {"left", NUMBER_OR_NULL, NULL},
                                      {"right", NUMBER_OR_NULL, NULL},
                                      {"left_ci95", NUMBER_OR_NULL, NULL},
                                      {"right_ci95", NUMBER_OR_NULL, NULL},
                                      {"published", NUMBER, NULL},
                                      {"value", NUMBER_OR_NULL, NULL},
                                      {"difference_percent", NUMBER_OR_NULL, NULL},
                                      {"count", WHOLE, NULL},
                                      {"ci95", NUMBER_OR_NULL, NULL},
                                      {"findings", LIST, objects},
                                      {"not_judged", LIST, texts},
                                      {0}};
ITEMS(all_judged, OBJECT, judged);
static const struct shape phase[] = {
    {"name", TEXT, NULL}, {"start_ns", WHOLE, NULL}, {"end_ns", WHOLE, NULL}, {0}};
ITEMS(phases, OBJECT, phase);
static const struct shape deadlock[] = {{"since_ns", WHOLE, NULL}, {"found_ns", WHOLE, NULL},
                                        {"priority", WHOLE, NULL}, {"ports", LIST, texts},
                                        {"text", TEXT, NULL},      {0}};
ITEMS(deadlocks, OBJECT, deadlock);
static const struct shape node[] = {{"name", TEXT, NULL}, {"kind", TEXT, NULL}, {0}};
ITEMS(nodes, OBJECT, node);
ITEMS(held, OBJECT, numbers);
static const struct shape link[] = {{"a", TEXT, NULL},         {"b", TEXT, NULL},
                                    {"rate_bps", WHOLE, NULL}, {"a_held", OBJECT, held},
                                    {"b_held", OBJECT, held},  {0}};
ITEMS(links, OBJECT, link);
static const struct shape topology[] = {{"nodes", LIST, nodes}, {"links", LIST, links}, {0}};
static const struct shape port[] = {{"to", TEXT, NULL}, {"counters", OBJECT, counters}, {0}};
ITEMS(ports, OBJECT, port);
static const struct shape sonic[] = {{"before_ns", WHOLE, NULL},
                                     {"after_ns", WHOLE, NULL},
                                     {"settle_ns", WHOLE, NULL},
                                     {"ports", OBJECT, ports},
                                     {0}};
ITEMS(switches, OBJECT, sonic);
static const struct shape capture[] = {{"file", TEXT, NULL},       {"frames", WHOLE, NULL},
                                       {"bytes", WHOLE, NULL},     {"left_out_from_ns", WHOLE, NULL},
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
                                        {"storms", LIST, objects},
                                        {"faults", LIST, objects},
                                        {0}};
static const struct shape lab[] = {{"name", TEXT, NULL}, {"title", TEXT, NULL}, {"driver", TEXT, NULL}, {0}};
static const struct shape result[] = {{"version", TEXT, NULL},
                                      {"simulated", TRUTH, NULL},
                                      {"origin", TEXT, NULL},
                                      {"scaled", OBJECT, numbers},
                                      {"complete", TRUTH, NULL},
                                      {"reason", TEXT, NULL},
                                      {"verdict", TEXT, NULL},
                                      {"started", TEXT, NULL},
                                      {"finished", TEXT, NULL},
                                      {"seed", WHOLE, NULL},
                                      {"repeat", WHOLE, NULL},
                                      {"cell", OBJECT, NULL},
                                      {"scenario", OBJECT, scenario},
                                      {"scenario_file", TEXT, NULL},
                                      {"lab_file", TEXT, NULL},
                                      {"lab", OBJECT, lab},
                                      {"sources", OBJECT, texts},
                                      {"phases", LIST, phases},
                                      {"hosts", OBJECT, hosts},
                                      {"totals", OBJECT, totals},
                                      {"flows", OBJECT, flows},
                                      {"collectives", OBJECT, collectives},
                                      {"expectations", LIST, all_judged},
                                      {"published", LIST, all_judged},
                                      {"verify", LIST, all_judged},
                                      {"deadlocks", LIST, deadlocks},
                                      {"injected", LIST, objects},
                                      {"capture", OBJECT, capture},
                                      {"simulator", OBJECT, numbers},
                                      {"topology", OBJECT, topology},
                                      {"switches", OBJECT, switches},
                                      {"warnings", LIST, texts},
                                      {0}};

/* ---- index.json and settings.json */

static const struct shape cell[] = {
    {"folder", TEXT, NULL},    {"cell", OBJECT, NULL},  {"repeat", WHOLE, NULL},
    {"origin", TEXT, NULL},    {"verdict", TEXT, NULL}, {"complete", TRUTH, NULL},
    {"warnings", WHOLE, NULL}, {"reason", TEXT, NULL},  {0}};
ITEMS(cells, OBJECT, cell);
static const struct shape figure[] = {
    {"count", WHOLE, NULL},         {"mean", NUMBER_OR_NULL, NULL}, {"stddev", NUMBER_OR_NULL, NULL},
    {"ci95", NUMBER_OR_NULL, NULL}, {"unit", TEXT, NULL},           {0}};
ITEMS(figures, OBJECT, figure);
static const struct shape repeat[] = {{"cell", OBJECT, NULL},
                                      {"folders", LIST, texts},
                                      {"identical", TRUTH, NULL},
                                      {"figures", OBJECT, figures},
                                      {"figures_left_out", WHOLE, NULL},
                                      {"expectations", LIST, all_judged},
                                      {"published", LIST, all_judged},
                                      {0}};
ITEMS(repeated, OBJECT, repeat);
ITEMS(values, LIST, NULL);
static const struct shape index_shape[] = {{"version", TEXT, NULL},
                                           {"scenario", TEXT, NULL},
                                           {"title", TEXT, NULL},
                                           {"simulated", TRUTH, NULL},
                                           {"origin", TEXT, NULL},
                                           {"complete", TRUTH, NULL},
                                           {"reason", TEXT, NULL},
                                           {"verdict", TEXT, NULL},
                                           {"started", TEXT, NULL},
                                           {"finished", TEXT, NULL},
                                           {"sweep", OBJECT, values},
                                           {"repeats", WHOLE, NULL},
                                           {"warnings", LIST, texts},
                                           {"cells", LIST, cells},
                                           {"repeated", LIST, repeated},
                                           {"repeated_left_out", WHOLE, NULL},
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

static bool fits(const json_t *value, enum type type)
{
    switch (type) {
    case NUMBER:
        return json_is_number(value);
    case WHOLE:
        return json_is_integer(value) || (json_is_real(value) && fabs(json_real_value(value)) <= MOST_WHOLE &&
                                          json_real_value(value) == floor(json_real_value(value)));
    case NUMBER_OR_NULL:
        return json_is_number(value) || json_is_null(value);
    case TEXT:
        return json_is_string(value) || json_is_null(value);
    case TRUTH:
        return json_is_boolean(value);
    case OBJECT:
        return json_is_object(value) || json_is_null(value);
    default:
        return json_is_array(value) || json_is_null(value);
    }
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

static void note_wrong(struct walk *walk, const struct place *place, const json_t *value, enum type type)
{
    struct text where = {0};
    if (walk->wrong++ >= SENTENCES)
        return;
    char *shown = json_shown(value);
    add_place(place, &where);
    json_array_append_new(walk->sentences,
                          json_textf("%s: %s is %.60s%s, expected %s: it is left out", walk->file,
                                     text_string(&where), shown ? shown : "?",
                                     shown && strlen(shown) > 60 ? "..." : "", type_words[type]));
    text_free(&where);
    free(shown);
}

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
        else if (row && row->type == WHOLE && json_is_real(member)) /* 2.0 */
            json_object_set_new(value, key, json_integer((json_int_t)json_real_value(member)));
    }
    for (size_t i = 0, number = 0; i < json_array_size(value); number++) {
        const struct place here = {place, NULL, number};
        if (stays(walk, &here, json_array_get(value, i), shape))
            i++;
        else
            json_array_remove(value, i);
    }
}

json_t *result_take_out_wrong(enum result_document which, json_t *document)
{
    struct walk walk = {documents[which].file, json_array(), 0};
    if (json_is_object(document))
        take_out_below(&walk, NULL, document, documents[which].shape);
    if (walk.wrong > SENTENCES)
        json_array_append_new(
            walk.sentences,
            json_textf("%s: %zu more values are not of the type that they have to be, and are "
                       "left out",
                       walk.file, walk.wrong - SENTENCES));
    return walk.sentences;
}
