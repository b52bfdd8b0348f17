#include "reports/results/damaged.h"

#include "lib/folder/sweep_index.h"
#include "lib/log.h"
#include <string.h>

#define SAID 5 /* of many runs */

void damaged_add(struct damaged *d, const struct run *run)
{
    size_t i;
    const json_t *sentence;
    if (d && json_array_size(run->wrong) && d->wrong++ < SAID)
        json_array_foreach(run->wrong, i, sentence)
            text_add(&d->values, "%s/%s\n", run->folder, json_string_value(sentence));
    if (d && run->damage && d->runs++ < SAID)
        text_add(&d->first, "%s: %s\n", run->folder, run->damage);
}

void damaged_add_left_out(struct damaged *d, const json_t *index)
{
    const char *sentence = json_string_value(json_object_get(index, SWEEP_LEFT_OUT));
    const json_t *wrong;
    size_t i;
    if (d && sentence)
        text_add(&d->left_out, "%s\n", sentence);
    json_array_foreach(json_object_get(d ? index : NULL, SWEEP_WRONG), i, wrong)
    {
        text_add(&d->left_out, "%s\n", json_string_value(wrong));
    }
}

void damaged_free(struct damaged *d)
{
    text_free(&d->first);
    text_free(&d->values);
    text_free(&d->left_out);
}

static void warn_of_lines(const struct text *lines, const char *what)
{
    const char *line = text_string(lines);
    for (size_t length; *line; line += length + 1) {
        length = strcspn(line, "\n");
        log_warning("%.*s%s", (int)length, line, what);
    }
}

bool damaged_warn(const struct damaged *d)
{
    warn_of_lines(&d->left_out, "");
    warn_of_lines(&d->first, ": the run is not whole");
    if (d->runs > SAID)
        log_warning("%zu more runs are not whole", d->runs - SAID);
    warn_of_lines(&d->values, "");
    if (d->wrong > SAID)
        log_warning("%zu more runs have values of the wrong type", d->wrong - SAID);
    return d->runs > 0 || d->wrong > 0 || d->left_out.length > 0;
}
