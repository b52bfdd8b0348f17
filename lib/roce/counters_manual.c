/* The catalogue of counters as a document. */
#include "lib/roce/counters.h"

#include "lib/document/json_text.h"
#include <string.h>

static const struct {
    const char *name, *text;
} groups[] =
    {
#define GROUP(id, name, meaning) {name, meaning},
#include "lib/roce/counters.def"
},
  origins[] = {
#define ORIGIN(id, name, where) {name, where},
#include "lib/roce/counters.def"
};

static const struct {
    const char *name, *interface, *columns, *freshness;
} readers[] = {
#define READER(name, interface, columns, freshness) {#name, interface, columns, freshness},
#include "lib/roce/counters.def"
};

static const char introduction[] =
    "# Counters\n\n"
    "`make docs` generates this file from the catalogue, `lib/roce/counters.def`. `harness schema "
    "counters` prints the\n"
    "catalogue as JSON. How `nic-sampler` reads counters is in [sampling.md](sampling.md).\n\n"
    "In a name, `#` is a number (after `prio` a number from 0 to 7) and `*` is any text. A counter "
    "increases: use its\n"
    "differences. A gauge is a state: its differences have no meaning. The first matching name applies.\n";

static void add_readers(struct text *out)
{
    text_add(
        out,
        "\n## Sources of nic-sampler\n\n| source | read by | columns | how fresh |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        text_add(out, "| `%s` | %s | %s | %s |\n", readers[i].name, readers[i].interface, readers[i].columns,
                 readers[i].freshness);
}

static const char *kind_word(enum counter_kind kind)
{
    return kind == COUNTER_GAUGE ? "gauge" : kind == COUNTER_COUNT32 ? "counter, 32 bits" : "counter";
}

static void add_group(struct text *out, enum counter_group group)
{
    size_t count;
    const struct counter *rows = counters_all(&count);
    text_add(out, "\n## %s: %s\n\n| name | unit | kind | named by | meaning |\n|---|---|---|---|---|\n",
             groups[group].name, groups[group].text);
    for (size_t i = 0; i < count; i++)
        if (rows[i].group == group)
            text_add(out, "| `%s` | %s | %s | %s | %s |\n", rows[i].pattern, rows[i].unit,
                     kind_word(rows[i].kind), origins[rows[i].origin].name, rows[i].meaning);
}

void counters_manual(struct text *out)
{
    text_add(out, "%s", introduction);
    add_readers(out);
    for (int group = 0; group < COUNTER_GROUPS; group++)
        add_group(out, (enum counter_group)group);
    text_add(out, "| any other name | %s | counter | %s | %s |\n", counter_unlisted.unit,
             origins[counter_unlisted.origin].name, counter_unlisted.meaning);
    text_add(out, "\n## Who names the counters\n\n| named by | where |\n|---|---|\n");
    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++)
        text_add(out, "| %s | %s |\n", origins[i].name, origins[i].text);
}

json_t *counters_json(void)
{
    size_t count;
    const struct counter *rows = counters_all(&count);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_make("{s:s,s:s,s:s,s:i,s:s,s:s,s:s}", "pattern", rows[i].pattern,
                                               "unit", rows[i].unit, "kind",
                                               rows[i].kind == COUNTER_GAUGE ? "gauge" : "counter", "bits",
                                               rows[i].kind == COUNTER_COUNT32 ? 32 : 64, "group",
                                               groups[rows[i].group].name, "source",
                                               origins[rows[i].origin].text, "meaning", rows[i].meaning));
    return array;
}
