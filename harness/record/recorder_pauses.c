/* Single pauses: a line each, and their durations by place and priority. */
#include "harness/record/recorder_parts.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int recorder_pause(struct recorder *r, const char *where, unsigned priority, int64_t start_ns,
                   int64_t duration_ns, bool lasts, struct error *e)
{
    fprintf(r->pauses_file.stream, "[\"%s\",%u,%" PRId64 ",%" PRId64 "%s]\n", where, priority, start_ns,
            duration_ns, lasts ? ",true" : "");
    if (record_file_check(&r->pauses_file, e) != 0)
        return -1;
    if (lasts || priority >= PRIORITIES || start_ns < r->start_ns || start_ns >= r->end_ns)
        return 0;
    int role = scenario_role_index(r->scenario, where);
    if (role < 0 || r->hosts[role].unlisted)
        return 0;
    struct histogram **h = &r->hosts[role].pauses[priority];
    if (!*h && (*h = calloc(1, sizeof **h)))
        histogram_clear(*h);
    if (!*h)
        return error_set(e, "out of memory");
    histogram_add(*h, duration_ns);
    return 0;
}

json_t *recorder_pause_summary(const struct recorded_host *host)
{
    json_t *json = NULL;
    for (size_t p = 0; p < PRIORITIES; p++) {
        char key[24];
        if (!host->pauses[p])
            continue;
        json = json ? json : json_object();
        snprintf(key, sizeof key, "%zu", p);
        json_object_set_new(json, key, histogram_json(host->pauses[p]));
    }
    return json;
}
