/* Single pauses: a line each, and their durations by place and priority. */
#include "harness/record/recorder_parts.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct recorded_pauses *find_pauses(struct recorder *r, const char *where)
{
    for (size_t i = 0; i < r->pause_count; i++)
        if (strcmp(r->pauses[i].where, where) == 0)
            return &r->pauses[i];
    struct recorded_pauses *grown = realloc(r->pauses, (r->pause_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    r->pauses = grown;
    grown[r->pause_count] = (struct recorded_pauses){.where = strdup(where)};
    return grown[r->pause_count].where ? &grown[r->pause_count++] : NULL;
}

int recorder_pause(struct recorder *r, const char *where, unsigned priority, int64_t start_ns,
                   int64_t duration_ns, struct error *e)
{
    fprintf(r->pauses_file.stream, "[\"%s\",%u,%" PRId64 ",%" PRId64 "]\n", where, priority, start_ns,
            duration_ns);
    if (record_file_check(&r->pauses_file, e) != 0)
        return -1;
    if (priority >= PRIORITIES || start_ns < r->start_ns || start_ns >= r->end_ns)
        return 0;
    struct recorded_pauses *pauses = find_pauses(r, where);
    if (!pauses)
        return error_set(e, "out of memory");
    struct histogram **h = &pauses->priorities[priority];
    if (!*h && (*h = calloc(1, sizeof **h)))
        histogram_clear(*h);
    if (!*h)
        return error_set(e, "out of memory");
    histogram_add(*h, duration_ns);
    return 0;
}

void recorder_free_pauses(struct recorder *r)
{
    for (size_t i = 0; i < r->pause_count; i++) {
        for (size_t p = 0; p < PRIORITIES; p++)
            free(r->pauses[i].priorities[p]);
        free(r->pauses[i].where);
    }
    free(r->pauses);
}

json_t *recorder_pause_summary(const struct recorded_pauses *pauses)
{
    json_t *json = json_object();
    for (size_t p = 0; p < PRIORITIES; p++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", p);
        if (pauses->priorities[p])
            json_object_set_new(json, key, histogram_json(pauses->priorities[p]));
    }
    return json;
}
