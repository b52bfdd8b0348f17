#include "harness/traffic/traffic_tool.h"

#include "lib/xalloc.h"
#include <stdlib.h>
#include <string.h>

#define NAME_TRAFFIC_TOOL(name) &traffic_tool_##name,
const struct traffic_tool *const traffic_tools[] = {TRAFFIC_TOOLS(NAME_TRAFFIC_TOOL) NULL};

const struct traffic_tool *traffic_tool_of(const struct scenario_flow *flow)
{
    return traffic_tools[flow->tool < 0 ? 0 : flow->tool];
}

/* ---- before the run */

static int check_count(const struct scenario *scenario, const struct lab *lab,
                       const struct scenario_flow *flow, struct error *e)
{
    const struct scenario_flow *flows = scenario->flows.items;
    const struct traffic_tool *tool = traffic_tool_of(flow);
    size_t count = 0;
    for (size_t i = 0; count <= tool->most_flows && i < scenario->flows.count; i++)
        count += strcmp(flows[i].to, flow->to) == 0 && traffic_tool_of(&flows[i]) == tool;
    if (count <= tool->most_flows)
        return 0;
    return error_set(e,
                     "scenario %s has more than %zu flows to role %s: %s supports at most %zu flows to one "
                     "host of lab %s: use fewer flows with more queue pairs each",
                     scenario->name, tool->most_flows, flow->to, tool->name, tool->most_flows, lab->name);
}

static int check_flow(const struct scenario *scenario, const struct lab *lab,
                      const struct scenario_flow *flow, struct error *e)
{
    char path[FLOW_MAX_NAME + 10];
    const struct lab_host *to = lab_real_host(lab, flow->to);
    snprintf(path, sizeof path, "flow %s", flow->name);
    if (!to || !lab_real_host(lab, flow->from))
        return error_set(e, "%s %s role %s, which is not a host of lab %s", path,
                         to ? "comes from" : "goes to", to ? flow->from : flow->to, lab->name);
    if (!lab_flow_address(&to->nic))
        return error_set(e, "host %s of lab %s has no nic.address, but %s is sent to it", to->name, lab->name,
                         path);
    return traffic_tool_of(flow)->check(scenario, lab, flow, path, e) != 0
               ? -1
               : check_count(scenario, lab, flow, e);
}

int traffic_check(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    const struct scenario_flow *flows = scenario->flows.items;
    for (size_t i = 0; i < scenario->flows.count; i++)
        if (check_flow(scenario, lab, &flows[i], e) != 0)
            return -1;
    return 0;
}

/* ---- jobs */

static size_t role_of(const struct scenario *scenario, const char *name)
{
    char *const *roles = scenario->roles.items;
    size_t i = 0;
    while (i + 1 < scenario->roles.count && strcmp(roles[i], name) != 0)
        i++;
    return i;
}

static bool job_takes(const struct traffic_job *job, const struct scenario_flow *flow, size_t from, size_t to)
{
    return job->from == from && job->to == to && job->tool == traffic_tool_of(flow) &&
           (job->tool->flows_a_job == 0 || job->count < job->tool->flows_a_job);
}

/* Put the flow into the first job that has room for it, or into a new one; the array has room for one job per
 * flow. */
static void job_add_flow(const struct scenario *scenario, const struct scenario_flow *flow,
                         struct traffic_job *jobs, size_t *count)
{
    size_t from = role_of(scenario, flow->from), to = role_of(scenario, flow->to), i = 0;
    while (i < *count && !job_takes(&jobs[i], flow, from, to))
        i++;
    struct traffic_job *job = &jobs[i];
    if (i == *count) {
        *job = (struct traffic_job){
            .tool = traffic_tool_of(flow), .scenario = scenario, .from = from, .to = to, .number = i};
        ++*count;
    }
    job->flows = xreallocarray(job->flows, job->count + 1, sizeof *job->flows);
    job->flows[job->count++] = flow;
}

struct traffic_job *traffic_jobs(const struct scenario *scenario, size_t *count)
{
    const struct scenario_flow *flows = scenario->flows.items;
    struct traffic_job *jobs = xcalloc(scenario->flows.count + 1, sizeof *jobs);
    *count = 0;
    for (size_t i = 0; i < scenario->flows.count; i++)
        job_add_flow(scenario, &flows[i], jobs, count);
    return jobs;
}

void traffic_jobs_free(struct traffic_job *jobs, size_t count)
{
    for (size_t i = 0; jobs && i < count; i++)
        free(jobs[i].flows);
    free(jobs);
}

int64_t traffic_lead_ns(const struct traffic_job *jobs, size_t count)
{
    int64_t longest_ns = 0;
    for (size_t i = 0; i < count; i++)
        longest_ns = jobs[i].tool->lead_ns > longest_ns ? jobs[i].tool->lead_ns : longest_ns;
    return longest_ns;
}

bool traffic_needs_server(const struct traffic_job *jobs, size_t i)
{
    if (jobs[i].tool->server_for_each_job)
        return true;
    for (size_t k = 0; k < i; k++)
        if (jobs[k].tool == jobs[i].tool && jobs[k].to == jobs[i].to)
            return false;
    return true;
}

void traffic_command_free(struct traffic_command *command)
{
    words_free(&command->words);
    free(command->input);
    *command = (struct traffic_command){0};
}
