#include "harness/labs/sim/jobs.h"
#include "harness/plan/traffic_class.h"
#include "lib/document/json_text.h"
#include "lib/formats/find.h"
#include "lib/schedule/job.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "sim/jobs.h"
#include <stdlib.h>
#include <string.h>

/* What a job's configuration points at. */
struct sim_job {
    struct schedule schedule;
    char *path;
    uint32_t *hosts;
    struct sim_flow_config *of_sender;
    const char **roles; /* of ranks */
};

/* ---- building */

static int take_role(const struct cell *cell, const struct sim_setup *setup, const char *role,
                     const char *job, struct sim_node *node, struct error *e)
{
    *node = setup->node_of_role[scenario_role_index(&cell->scenario, role)];
    if (node->kind == SIM_HOST)
        return 0;
    return error_set(e, "job %s: role \"%s\" is a switch in lab %s: only hosts are ranks", job, role,
                     cell->lab.name);
}

/* The first NICs of ranks; those that are named, or all hosts that are roles. */
static size_t take_roles(const struct cell *cell, const struct scenario_job *of,
                         const struct sim_setup *setup, struct sim_job *job)
{
    const struct list_of *list = of->roles.count ? &of->roles : &cell->scenario.roles;
    char *const *names = list->items;
    size_t count = 0;
    job->roles = xcalloc(list->count + 1, sizeof *job->roles);
    for (size_t i = 0; i < list->count; i++)
        if (of->roles.count ||
            setup->node_of_role[scenario_role_index(&cell->scenario, names[i])].kind == SIM_HOST)
            job->roles[count++] = names[i];
    return count;
}

/* A machine's NICs follow one another; a rank on another than the first has this one alone. */
static uint32_t nics_of(const struct lab *lab, uint32_t host)
{
    uint32_t count = 1;
    if (host && lab_same_machine(lab, host - 1, host))
        return 1;
    while (host + count < lab->hosts.count && lab_same_machine(lab, host, host + count))
        count++;
    return count;
}

static void place_ranks(const struct cell *cell, const struct sim_node *nodes, size_t ranks,
                        struct sim_job *job, struct sim_job_config *to)
{
    to->nics = 1;
    for (size_t r = 0; r < ranks; r++) {
        uint32_t nics = nics_of(&cell->lab, nodes[r].index);
        to->nics = nics > to->nics ? nics : to->nics;
    }
    job->hosts = xcalloc(ranks * to->nics + 1, sizeof *job->hosts);
    for (size_t r = 0; r < ranks; r++)
        for (uint32_t n = 0; n < to->nics; n++)
            job->hosts[r * to->nics + n] =
                n < nics_of(&cell->lab, nodes[r].index) ? nodes[r].index + n : UINT32_MAX;
}

/* What messages have of their sender, as flows have it. */
static int describe_senders(const struct cell *cell, const struct scenario_job *of,
                            const struct sim_setup *setup, size_t hosts, struct sim_job *job, struct error *e)
{
    char **roles = sim_setup_roles_of_hosts(cell, setup);
    struct scenario_flow sent;
    int result = table_defaults(&flow_table, &sent);
    job->of_sender = xcalloc(setup->config.host_count + 1, sizeof *job->of_sender);
    sent.priority = of->priority;
    for (size_t i = 0; result == 0 && i < hosts; i++) {
        uint32_t host = job->hosts[i];
        if (host == UINT32_MAX || !roles[host])
            continue;
        const struct physics_nic *nic = &lab_sim_host_at(&cell->lab, host)->nic;
        sent.from = roles[host];
        bool capable = traffic_class_is_ect(flow_traffic_class(&cell->scenario, &sent));
        job->of_sender[host] = (struct sim_flow_config){.ect = capable ? SIM_ECT_ALWAYS : SIM_ECT_NEVER,
                                                        .payload_bytes = nic->payload_bytes};
    }
    sent.from = NULL;
    table_free(&flow_table, &sent);
    free(roles);
    return result == 0 ? 0 : error_set(e, "out of memory");
}

static int check_nics(const struct cell *cell, const struct scenario_job *of, const struct sim_job *job,
                      const struct sim_job_config *to, struct error *e)
{
    const struct schedule *s = &job->schedule;
    char where[60];
    for (uint32_t i = 0; i < s->operation_count; i++) {
        uint32_t rank = schedule_rank_of(s, i), nic = s->operations[i].nic;
        if (s->operations[i].type == SCHEDULE_CALC || !nic ||
            (nic < to->nics && job->hosts[(size_t)rank * to->nics + nic] != UINT32_MAX))
            continue;
        schedule_where(s, i, where, sizeof where);
        return error_set(e, "job %s: %.160s, %s, is of nic %u: role %s, rank %u, has %u in lab %s, from 0 on",
                         of->name, of->schedule, where, nic, job->roles[rank], rank,
                         nics_of(&cell->lab, job->hosts[(size_t)rank * to->nics]), cell->lab.name);
    }
    return 0;
}

static int make_job(const struct cell *cell, const struct scenario_job *of, struct sim_setup *setup,
                    struct sim_job *job, struct sim_job_config *to, struct error *e)
{
    job->path = cell->folder_of ? find_path_of(cell->folder_of, of->schedule) : xstrdup(of->schedule);
    if (!job->path || schedule_read(&job->schedule, job->path, e) != 0)
        return job->path ? error_prefix(e, "job %s", of->name) : error_set(e, "out of memory");
    size_t ranks = take_roles(cell, of, setup, job);
    if (ranks != job->schedule.rank_count)
        return error_set(e, "job %s: %.160s has %u ranks, and %zu roles play it: expected a role for each",
                         of->name, of->schedule, job->schedule.rank_count, ranks);
    struct sim_node *nodes = xcalloc(ranks, sizeof *nodes);
    int result = 0;
    for (size_t r = 0; result == 0 && r < ranks; r++)
        result = take_role(cell, setup, job->roles[r], of->name, &nodes[r], e);
    if (result == 0)
        place_ranks(cell, nodes, ranks, job, to);
    free(nodes);
    if (result != 0 || check_nics(cell, of, job, to, e) != 0 ||
        describe_senders(cell, of, setup, ranks * to->nics, job, e) != 0)
        return -1;
    to->name = of->name;
    to->schedule = &job->schedule;
    to->hosts = job->hosts;
    to->of_sender = job->of_sender;
    to->start_ps = of->start_ns * SIM_PS_PER_NS;
    sim_flow_defaults(&to->flow);
    to->flow.priority = (int32_t)of->priority;
    to->flow.from_memory = to->flow.to_memory =
        flow_in_gpu_memory(of->memory) ? SIM_MEMORY_GPU : SIM_MEMORY_HOST;
    return 0;
}

int sim_jobs_make(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    const struct list_of *list = &cell->scenario.jobs;
    const struct scenario_job *items = list->items;
    setup->jobs = xcalloc(list->count + 1, sizeof *setup->jobs);
    setup->job_configs = xcalloc(list->count + 1, sizeof *setup->job_configs);
    setup->config.jobs = setup->job_configs;
    for (size_t i = 0; i < list->count; i++) {
        setup->config.job_count = i + 1;
        if (make_job(cell, &items[i], setup, &setup->jobs[i], &setup->job_configs[i], e) != 0)
            return -1;
    }
    return 0;
}

void sim_jobs_free(struct sim_setup *setup)
{
    for (size_t i = 0; setup->jobs && i < setup->config.job_count; i++) {
        schedule_free(&setup->jobs[i].schedule);
        free(setup->jobs[i].path);
        free(setup->jobs[i].hosts);
        free(setup->jobs[i].of_sender);
        free(setup->jobs[i].roles);
    }
    free(setup->jobs);
    free(setup->job_configs);
}

/* ---- what they did */

#define MOST_NAMED 10

static json_t *ns_json(int64_t ps)
{
    return ps % SIM_PS_PER_NS ? json_real((double)ps / SIM_PS_PER_NS) : json_integer(ps / SIM_PS_PER_NS);
}

static json_t *rank_json(const struct sim_lab *lab, size_t j, uint32_t r, uint32_t *unfinished)
{
    struct sim_rank rank;
    sim_rank(lab->sim, j, r, &rank);
    *unfinished += rank.unfinished;
    json_t *json = json_make("{s:s,s:o,s:o,s:I,s:I,s:I}", "role", lab->setup.jobs[j].roles[r], "calc_ns",
                             ns_json(rank.calc_ps), "exposed_ns", ns_json(rank.exposed_ps), "sent_bytes",
                             (json_int_t)rank.sent_bytes, "received_bytes", (json_int_t)rank.received_bytes,
                             "unfinished", (json_int_t)rank.unfinished);
    if (rank.end_ps >= 0)
        json_object_set_new(json, "end_ns", ns_json(rank.end_ps));
    return json;
}

/* The first operations that did not end: those that had begun, which the others wait for. Without any the job
 * has not begun. */
static json_t *not_ended(const struct sim_lab *lab, size_t j)
{
    const struct schedule *s = &lab->setup.jobs[j].schedule;
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->operation_count && json_array_size(list) < MOST_NAMED; i++) {
        int64_t begin_ps, end_ps;
        char where[60], what[120];
        sim_rank_operation(lab->sim, j, i, &begin_ps, &end_ps);
        if (begin_ps < 0 || end_ps >= 0)
            continue;
        schedule_where(s, i, where, sizeof where);
        schedule_what(s, i, what, sizeof what);
        json_array_append_new(list,
                              json_textf("%s of rank %u, %s: begun at %.6g ms", what, schedule_rank_of(s, i),
                                         where, (double)begin_ps / SIM_PS_PER_NS / 1e6));
    }
    return list;
}

static json_t *job_json(const struct sim_lab *lab, size_t j, json_t *warnings)
{
    const struct scenario_job *of = (const struct scenario_job *)lab->run->cell->scenario.jobs.items + j;
    const struct schedule *s = &lab->setup.jobs[j].schedule;
    uint32_t unfinished = 0;
    json_t *ranks = json_array();
    for (uint32_t r = 0; r < s->rank_count; r++)
        json_array_append_new(ranks, rank_json(lab, j, r, &unfinished));
    json_t *json =
        json_make("{s:s,s:I,s:I,s:o}", "schedule", of->schedule, "operations", (json_int_t)s->operation_count,
                  "unfinished", (json_int_t)unfinished, "ranks", ranks);
    if (!unfinished) {
        json_object_set_new(json, "end_ns", json_real(result_job_end_ns(json)));
        return json;
    }
    json_t *names = not_ended(lab, j);
    const char *first = json_string_value(json_array_get(names, 0));
    json_array_append_new(warnings,
                          json_textf("job %s: %u of %u operations did not end%s%s", of->name, unfinished,
                                     s->operation_count, first ? ", such as a " : ": it has not begun",
                                     first ? first : ""));
    json_object_set_new(json, "not_ended", names);
    return json;
}

void sim_jobs_add_to_result(const struct sim_lab *lab, json_t *result)
{
    const struct scenario_job *items = lab->run->cell->scenario.jobs.items;
    json_t *jobs = json_object();
    for (size_t j = 0; j < lab->setup.config.job_count; j++)
        json_object_set_new(jobs, items[j].name, job_json(lab, j, json_object_get(result, "warnings")));
    if (json_object_size(jobs))
        json_object_set(result, "jobs", jobs);
    json_decref(jobs);
}
