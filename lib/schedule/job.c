#include "lib/schedule/job.h"
#include "lib/formats/flow.h"

#define AT(member) .offset = offsetof(struct scenario_job, member)
static const struct field job_fields[] = {
    {"name", FIELD_STRING, AT(name), .required = true, .form = &form_role, .single = true,
     .help = "Unique name."},
    {"schedule", FIELD_STRING, AT(schedule), .required = true,
     .help = "File with a schedule of GOAL, text or binary. A path begins at the scenario's folder."},
    {"roles", FIELD_LIST, AT(roles), .item = FIELD_STRING, .min = 0, .max = 100000,
     .help = "Roles that are the ranks, in their order. Default: all of the scenario."},
    {"priority", FIELD_INTEGER, AT(priority), .min = 0, .max = FLOW_MAX_PRIORITY, .fallback = "0",
     .help = "Priority of the packets."},
    {"memory", FIELD_CHOICE, AT(memory), .choices = flow_memory_names, .fallback = "\"host\"",
     .help = "Memory of the buffers."},
    {"start", FIELD_QUANTITY, AT(start_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .fallback = "\"0\"", .help = "When it begins, from the beginning of the warm-up."},
    {0},
};
#undef AT
const struct table scenario_job_table = {"scenario.job",
                                         "A schedule of sends, recvs and computations. Simulated labs.",
                                         sizeof(struct scenario_job), job_fields, NULL};

static const struct {
    const char *name, *unit, *words;
} values[] = {
    {"end_ns", "ns", "end"},
    {"calc_ns", "ns", "time in computations"},
    {"exposed_ns", "ns", "exposed communication"},
    {"sent_bytes", "bytes", "sent"},
    {"received_bytes", "bytes", "received"},
    {"unfinished", "", "operations that did not end"},
};

const char *result_job_name(size_t i, const char **unit, const char **words)
{
    if (i >= sizeof values / sizeof *values)
        return NULL;
    *unit = values[i].unit;
    *words = values[i].words;
    return values[i].name;
}

double result_job_end_ns(const json_t *job)
{
    double last_ns = -1;
    size_t i;
    const json_t *rank;
    json_array_foreach(json_object_get(job, "ranks"), i, rank)
    {
        const json_t *end = json_object_get(rank, "end_ns");
        if (!json_is_number(end))
            return -1;
        last_ns = json_number_value(end) > last_ns ? json_number_value(end) : last_ns;
    }
    return last_ns;
}
