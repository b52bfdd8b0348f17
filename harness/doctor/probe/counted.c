#include "harness/doctor/probe/counted.h"

#include "harness/doctor/doctor.h"
#include <inttypes.h>

/* More than a probe of seconds can move on any line. Sums over all flows of a scenario, and multiples, fit into 64 bits then. */
#define COUNTED_MOST INT64_C(1000000000000)

static int64_t bounded(int64_t count)
{
    return count < COUNTED_MOST ? count : COUNTED_MOST;
}

int64_t counted_total(const struct probed *p, const char *role, const char *counter)
{
    const json_t *host = json_object_get(json_object_get(p->result, "hosts"), role);
    const json_t *total =
        json_object_get(json_object_get(json_object_get(host, "counters"), counter), "total");
    return json_is_integer(total) && json_integer_value(total) >= 0 ? bounded(json_integer_value(total)) : -1;
}

int64_t counted_priority(const struct probed *p, const char *role, const char *before, int64_t priority,
                         const char *after)
{
    char counter[80];
    snprintf(counter, sizeof counter, "%s%" PRId64 "%s", before, priority, after);
    return counted_total(p, role, counter);
}

int64_t counted_of_flow(const struct probed *p, const char *flow, const char *key)
{
    const json_t *value = json_object_get(json_object_get(json_object_get(p->result, "flows"), flow), key);
    int64_t number = json_integer_value(value);
    return number > 0 ? bounded(number) : 0;
}

void counted_say_bytes(struct text *out, int64_t bytes)
{
    if (bytes < 1000)
        text_add(out, "%" PRId64 " B", bytes);
    else if (bytes < 1000000)
        text_add(out, "%.1f kB", (double)bytes / 1e3);
    else
        text_add(out, "%.1f MB", (double)bytes / 1e6);
}

void counted_say(const struct probed *p, json_t *entries, const char *host, const char *check,
                 const char *verdict, const char *fix, const struct text *reason, const char *read)
{
    const char *simulated = json_is_true(json_object_get(p->result, "simulated")) ? "simulated: " : "";
    preflight_say(entries, host, check, verdict, fix, "%s%s", simulated, text_string(reason));
    preflight_read(entries, "%s%s%s%s", simulated, read, p->folder ? "; result.json in " : "",
                   p->folder ? p->folder : "");
}
