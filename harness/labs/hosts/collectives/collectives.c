#include "harness/labs/hosts/collectives/collectives.h"

#include "harness/labs/hosts/parallel.h"
#include "harness/labs/hosts/start.h"
#include "harness/labs/hosts/tools.h"
#include "harness/doctor/check.h"
#include "lib/document/json_text.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <string.h>

/* ---- on a host */

struct question {
    struct collective_job *job;
    size_t host;
};

static int judge_tool_answer(void *context, const char *answer, bool *missing, struct error *e)
{
    const struct question *question = context;
    return question->job->tool->judge(question->job, question->host, answer, missing, e);
}

/* Ask a host of the collective for its tool. *missing: it is not there at all. */
static int find_tool_on_host(struct remote_host *h, struct collective_job *job, size_t host, bool *missing,
                             struct error *e)
{
    struct question question = {job, host};
    struct words command = {0};
    *missing = false;
    int result = job->tool->ask(job, host, &command, e);
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
    for (size_t i = 0; i < lab->collective_count; i++)
        for (size_t k = 0; k < lab->collectives[i].host_count; k++) {
            struct collective_job *job = &lab->collectives[i];
            struct error why;
            bool missing;
            if (job->hosts[k].role == role &&
                find_tool_on_host(&lab->hosts[role], job, k, &missing, &why) != 0)
                return error_set(e, "%.800s%s%s", why.text, missing ? "; to install it: " : "",
                                 missing ? job->tool->install : "");
        }
    return 0;
}

int collectives_find(struct remote_lab *lab, struct error *e)
{
    return lab->collective_count ? hosts_in_parallel(lab, lab->host_count, find_for_role, NULL, e) : 0;
}

/* ---- for doctor */

static void examine_job(struct remote_host *h, struct collective_job *job, size_t host, json_t *entries)
{
    struct error e;
    const char *name = job->collective->name;
    bool missing;
    if (find_tool_on_host(h, job, host, &missing, &e) == 0)
        doctor_add(entries, h->lab->name, "tool", "ok", NULL, "%s has what collective %s needs%s%s",
                   job->tool->name, name, *job->mpirun_version ? ", and starts on its hosts by " : "",
                   job->mpirun_version);
    else
        doctor_add(entries, h->lab->name, "tool", "failure", missing ? job->tool->install : NULL, "%s",
                   e.text);
    doctor_add_evidence(entries, "the answers of %s and mpirun on the host", job->tool->name);
}

void collectives_examine(struct remote_host *h, const struct lab *lab, const struct scenario *scenario,
                         json_t *entries)
{
    struct error e;
    size_t count;
    struct collective_job *jobs = collective_jobs(scenario, lab, &count, &e);
    for (size_t i = 0; jobs && i < count; i++)
        for (size_t k = 0; k < jobs[i].host_count; k++)
            if (jobs[i].hosts[k].lab == h->lab)
                examine_job(h, &jobs[i], k, entries);
    collective_jobs_free(jobs, jobs ? count : 0);
}

/* ---- variables of the hosts */

/* Of one NIC, or of each of several that the collective uses. */
static int ask_env(const struct remote_lab *lab, struct collective_host *host, struct error *e)
{
    const struct remote_host *h = &lab->hosts[host->role];
    char path[512];
    struct text answer = {0};
    const char **words = xcalloc(2 * host->nic_count + 3, sizeof *words);
    size_t count = 0;
    words[count++] = remote_program(h, "host-facts", path, sizeof path);
    words[count++] = "--nccl-env";
    for (size_t i = 0; i < host->nic_count; i++) {
        const char *netdev = lab->hosts[host->nics[i]].netdev;
        if (netdev)
            words[count++] = host->nic_count > 1 ? "--nccl-nic" : "--netdev";
        if (netdev)
            words[count++] = netdev;
    }
    int result = ssh_must(h->ssh, words, NULL, &answer, REMOTE_COMMAND_NS, e);
    free(words);
    if (result == 0 && (result = collective_take_env(host, text_string(&answer), e)) != 0)
        error_prefix(e, "host %s", h->lab->name);
    text_free(&answer);
    return result;
}

static int ask_env_for_role(struct remote_lab *lab, size_t role, void *context, json_t *warnings,
                            struct error *e)
{
    (void)context;
    (void)warnings;
    for (size_t i = 0; i < lab->collective_count; i++)
        for (size_t k = 0; k < lab->collectives[i].host_count; k++) {
            struct collective_host *host = &lab->collectives[i].hosts[k];
            if (lab->collectives[i].collective->env_from_hosts == 1 && host->role == role &&
                ask_env(lab, host, e) != 0)
                return -1;
        }
    return 0;
}

int collectives_ask_env(struct remote_lab *lab, struct error *e)
{
    return lab->collective_count ? hosts_in_parallel(lab, lab->host_count, ask_env_for_role, NULL, e) : 0;
}

/* ---- the run */

static int start(struct remote_lab *lab, struct collective_job *job, struct error *e)
{
    struct words words = {0};
    size_t role = job->hosts[0].role;
    struct stream_request request = {.kind = STREAM_COLLECTIVE,
                                     .program = job->tool->name,
                                     .collective = job,
                                     .role = role,
                                     .host = &lab->hosts[role],
                                     .words = &words};
    int result = job->tool->command(job, &words, e) == 0 ? start_stream(lab, &request, e) : -1;
    words_free(&words);
    return result;
}

int collectives_start(struct remote_lab *lab, int64_t start_ns, struct error *e)
{
    int64_t begin_ns = start_ns + lab->run->cell->scenario.phases.warmup_ns;
    for (size_t i = 0; i < lab->collective_count; i++) {
        struct collective_job *job = &lab->collectives[i];
        job->start_ns = begin_ns + lab->hosts[job->hosts[0].role].offset_ns;
        if (start(lab, job, e) != 0)
            return -1;
    }
    return 0;
}

/* ---- in a result */

static const struct stream *stream_of(const struct remote_lab *lab, const struct collective_job *job)
{
    for (size_t i = 0; i < lab->stream_count; i++)
        if (lab->streams[i].kind == STREAM_COLLECTIVE && lab->streams[i].collective == job)
            return &lab->streams[i];
    return NULL;
}

/* What was run, with which variables, by the names of roles. */
static void add_used(const struct remote_lab *lab, const struct collective_job *job, const struct stream *s,
                     json_t *used)
{
    json_t *env = json_object();
    struct text ran = {0};
    for (size_t i = 0; i < job->host_count; i++)
        json_put(env, scenario_role(&lab->run->cell->scenario, job->hosts[i].role),
                 job->tool->environment(job, i));
    json_object_set_new(used, "env", env);
    json_object_set_new(used, "launcher", json_text(job->mpirun ? "mpirun" : "process"));
    if (*job->mpirun_version)
        json_object_set_new(used, "mpirun_version", json_text(job->mpirun_version));
    if (s)
        stream_ran(s, &ran);
    if (ran.length)
        json_object_set_new(used, "command", json_textn(ran.data, ran.length));
    json_object_set_new(used, "cannot", json_text(job->tool->cannot));
    text_free(&ran);
}

static json_t *entry_of(const struct remote_lab *lab, const struct collective_job *job,
                        const struct stream *s)
{
    const struct scenario *scenario = &lab->run->cell->scenario;
    json_t *roles = json_array();
    for (size_t i = 0; i < job->host_count; i++)
        json_array_append_new(roles, json_text(scenario_role(scenario, job->hosts[i].role)));
    json_t *entry =
        json_make("{s:s,s:s,s:o,s:b}", "tool", job->tool->name, "op",
                  collective_op_names[job->collective->op], "roles", roles, "complete", s && s->figures);
    if (s && s->figures)
        json_object_update(entry, s->figures);
    if (!json_object_get(entry, "tool_used"))
        json_object_set_new(entry, "tool_used", json_object());
    add_used(lab, job, s, json_object_get(entry, "tool_used"));
    return entry;
}

static void add_warnings(const char *name, const json_t *entry, json_t *warnings)
{
    json_int_t wrong = json_integer_value(json_object_get(entry, "out_of_bounds"));
    const json_t *reduced = json_object_get(entry, "reduced_max_bytes");
    if (wrong)
        json_array_append_new(warnings, json_textf("collective %s: %lld of its checks found wrong values",
                                                   name, (long long)wrong));
    if (reduced)
        json_array_append_new(
            warnings, json_textf("collective %s: its largest size is %lld bytes, because GPU memory has no "
                                 "room for more",
                                 name, (long long)json_integer_value(reduced)));
}

void collectives_add_to_result(const struct remote_lab *lab, json_t *result)
{
    json_t *all = json_object();
    for (size_t i = 0; i < lab->collective_count; i++) {
        const struct collective_job *job = &lab->collectives[i];
        json_t *entry = entry_of(lab, job, stream_of(lab, job));
        json_put(all, job->collective->name, entry);
        add_warnings(job->collective->name, entry, lab->warnings);
    }
    if (lab->collective_count)
        json_object_set(result, "collectives", all);
    json_decref(all);
}
