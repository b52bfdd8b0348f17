#include "harness/labs/hosts/tools.h"

#include "harness/labs/hosts/parallel.h"
#include "harness/doctor/check.h"
#include "lib/document/json_text.h"
#include <stdlib.h>
#include <string.h>

/* ---- on a host */

int tools_ask(struct remote_host *h, const struct words *command, tool_judge *judge, void *context,
              bool *missing, struct error *e)
{
    struct text answer = {0};
    *missing = false;
    int result = ssh_must(h->ssh, (const char *const *)command->items, NULL, &answer, REMOTE_COMMAND_NS, e);
    if (result == 0)
        result = judge(context, text_string(&answer), missing, e);
    text_free(&answer);
    return result;
}

struct question {
    const struct traffic_job *job;
    const char *host;
    char *version; /* of TRAFFIC_VERSION_SIZE */
};

static int judge_tool_answer(void *context, const char *answer, bool *missing, struct error *e)
{
    const struct question *question = context;
    const struct traffic_job *job = question->job;
    int result = job->tool->judge(job, question->host, answer, question->version, e);
    *missing = !*question->version;
    return result;
}

/* Ask the host for the job's tool. 0: it is there, of this version, and can run the job. Otherwise an
 * error; *missing: the whole tool is. */
static int find_tool_on_host(struct remote_host *h, const struct traffic_job *job,
                             char version[TRAFFIC_VERSION_SIZE], bool *missing, struct error *e)
{
    struct question question = {job, h->lab->name, version};
    struct words command = {0};
    *missing = false;
    *version = '\0';
    int result = job->tool->ask(job, &command, e);
    if (result == 0)
        result = tools_ask(h, &command, judge_tool_answer, &question, missing, e);
    words_free(&command);
    return result;
}

/* ---- before a run */

static int find_for_role(struct remote_lab *lab, size_t role, void *context, json_t *warnings,
                         struct error *e)
{
    (void)context;
    (void)warnings;
    for (size_t i = 0; i < lab->job_count; i++) {
        struct traffic_job *job = &lab->jobs[i];
        if (!job->tool->ask || (job->from != role && job->to != role))
            continue;
        struct error why;
        bool missing;
        if (find_tool_on_host(&lab->hosts[role], job, job->from == role ? job->version_from : job->version_to,
                              &missing, &why) != 0)
            return error_set(e, "%.800s%s%s", why.text, missing ? "; to install it: " : "",
                             missing ? job->tool->install : "");
    }
    return 0;
}

int tools_find(struct remote_lab *lab, struct error *e)
{
    if (hosts_in_parallel(lab, lab->host_count, find_for_role, NULL, e) != 0)
        return -1;
    for (size_t i = 0; i < lab->job_count; i++) {
        const struct traffic_job *job = &lab->jobs[i];
        if (strcmp(job->version_from, job->version_to) != 0)
            json_array_append_new(lab->warnings,
                                  json_textf("flow %s: its ends have different versions of %s, %s and %s",
                                             job->flows[0]->name, job->tool->name, job->version_from,
                                             job->version_to));
    }
    return 0;
}

/* ---- for doctor */

static void examine_job(struct remote_host *h, const struct traffic_job *job, json_t *entries)
{
    struct error e;
    char version[TRAFFIC_VERSION_SIZE];
    const char *flow = job->flows[0]->name;
    bool missing;
    if (find_tool_on_host(h, job, version, &missing, &e) == 0)
        doctor_add(entries, h->lab->name, "tool", "ok", NULL, "%s %s has what flow %s needs", job->tool->name,
                   version, flow);
    else
        doctor_add(entries, h->lab->name, "tool", "failure", missing ? job->tool->install : NULL, "%s",
                   e.text);
    doctor_add_evidence(entries, "the answers of %s to --version and --help on the host", job->tool->name);
}

void tools_examine(struct remote_host *h, const struct lab *lab, const struct scenario *scenario,
                   json_t *entries)
{
    size_t count;
    struct traffic_job *jobs = traffic_jobs(scenario, &count);
    for (size_t i = 0; i < count; i++) {
        const char *from = scenario_role(scenario, jobs[i].from), *to = scenario_role(scenario, jobs[i].to);
        if (jobs[i].tool->ask && (lab_real_host(lab, from) == h->lab || lab_real_host(lab, to) == h->lab))
            examine_job(h, &jobs[i], entries);
    }
    traffic_jobs_free(jobs, count);
}

json_t *tools_asked_for(const struct scenario *scenario)
{
    const struct scenario_flow *flows = scenario->flows.items;
    const struct scenario_collective *collectives = scenario->collectives.items;
    json_t *kinds = json_array();
    for (size_t i = 0; i < scenario->collectives.count; i++)
        json_array_append_new(
            kinds, json_make("[s,i,i]", collectives[i].name, collectives[i].op, collectives[i].launcher));
    for (size_t i = 0; i < scenario->flows.count; i++)
        json_array_append_new(kinds,
                              json_make("[s,i,i,i,i,b]", flows[i].name, flows[i].tool, flows[i].op,
                                        flows[i].mode, flows[i].memory, flows[i].size_bytes != FIELD_UNSET));
    return kinds;
}

/* ---- in a result */

static json_t *command_of(const struct remote_lab *lab, const struct traffic_job *job, enum stream_kind kind)
{
    struct text command = {0};
    for (size_t i = 0; i < lab->stream_count; i++)
        if (lab->streams[i].kind == kind && lab->streams[i].job == job)
            stream_ran(&lab->streams[i], &command);
    json_t *words = command.length ? json_textn(command.data, command.length) : NULL;
    text_free(&command);
    return words;
}

static json_t *tool_used_json(const struct remote_lab *lab, const struct traffic_job *job)
{
    return json_make("{s:s,s:s,s:o*,s:o*,s:s}", "version_from", job->version_from, "version_to",
                     job->version_to, "client", command_of(lab, job, STREAM_TRAFFIC), "server",
                     command_of(lab, job, STREAM_SERVER), "cannot", job->tool->cannot);
}

void tools_add_to_result(const struct remote_lab *lab, json_t *result)
{
    json_t *flows = json_object_get(result, "flows");
    for (size_t i = 0; i < lab->job_count; i++)
        for (size_t k = 0; k < lab->jobs[i].count; k++) {
            const struct traffic_job *job = &lab->jobs[i];
            json_t *flow = json_object_get(flows, job->flows[k]->name);
            if (!flow)
                continue;
            json_object_set_new(flow, "tool", json_text(job->tool->name));
            if (job->tool->ask)
                json_object_set_new(flow, "tool_used", tool_used_json(lab, job));
        }
}
