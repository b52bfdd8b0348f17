#include "harness/traffic/collective_tool.h"

#include "lib/document/json_text.h"
#include "lib/formats/lab_words.h"
#include "lib/xalloc.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VARIABLES 64

#define NAME_COLLECTIVE_TOOL(name, word) &collective_tool_##name,
static const struct collective_tool *const tools[] = {COLLECTIVE_TOOLS(NAME_COLLECTIVE_TOOL)};

/* ---- jobs */

static void free_env(struct list_of *env)
{
    struct named_string *items = env->items;
    for (size_t i = 0; i < env->count; i++) {
        free(items[i].name);
        free(items[i].value);
    }
    free(items);
    *env = (struct list_of){0};
}

void collective_jobs_free(struct collective_job *jobs, size_t count)
{
    for (size_t i = 0; jobs && i < count; i++) {
        for (size_t k = 0; jobs[i].hosts && k < jobs[i].host_count; k++) {
            free_env(&jobs[i].hosts[k].env);
            free(jobs[i].hosts[k].nics);
        }
        free(jobs[i].hosts);
    }
    free(jobs);
}

/* Does the collective use the NIC that is this node of the lab? */
static bool uses_nic(const struct scenario_collective *collective, const struct lab *lab, size_t host)
{
    char *const *globs = collective->nics.items;
    const char *nic = lab_nic_name(lab, host);
    bool uses = collective->nics.count == 0;
    for (size_t i = 0; nic && !uses && i < collective->nics.count; i++)
        uses = fnmatch(globs[i], nic, 0) == 0;
    return uses;
}

/* The NICs of a role's host that the collective uses, as far as they have roles; the first is the host's. */
static int take_nics(const struct scenario *scenario, const struct lab *lab,
                     const struct scenario_collective *collective, struct collective_host *host,
                     struct error *e)
{
    const char *role = scenario_role(scenario, host->role), *other;
    int of = lab_host_of(lab, role), node;
    if (of < 0) /* a switch, which is refused */
        return 0;
    if (!lab_nic_name(lab, (size_t)of)) {
        host->nics = xcalloc(1, sizeof *host->nics);
        host->nics[host->nic_count++] = host->role;
        return 0;
    }
    for (size_t i = 0; (other = scenario_role(scenario, i)); i++) {
        node = lab_host_of(lab, other);
        if (node < 0 || !lab_same_machine(lab, (size_t)of, (size_t)node) ||
            !uses_nic(collective, lab, (size_t)node))
            continue;
        host->nics = xreallocarray(host->nics, host->nic_count + 1, sizeof *host->nics);
        host->nics[host->nic_count++] = i;
    }
    if (!host->nic_count) {
        struct text nics = {0};
        lab_add_nics(lab, lab_machine_first(lab, (size_t)of), lab_machine_name(lab, (size_t)of), &nics);
        error_set(e, "collective %s: none of its nics is one of host %s: expected some of %s",
                  collective->name, lab_machine_name(lab, (size_t)of), text_string(&nics));
        text_free(&nics);
        return -1;
    }
    host->role = host->nics[0];
    host->lab = lab_real_host(lab, scenario_role(scenario, host->role));
    return 0;
}

static int make_job(const struct scenario *scenario, const struct lab *lab,
                    const struct scenario_collective *collective, struct collective_job *job, struct error *e)
{
    char *const *names = collective->roles.items;
    size_t count = collective->roles.count ? collective->roles.count : scenario->roles.count;
    *job = (struct collective_job){.tool = tools[collective->tool],
                                   .collective = collective,
                                   .lab = lab,
                                   .hosts = xcalloc(count, sizeof *job->hosts),
                                   .host_count = count};
    job->mpirun = collective->launcher < 0 ? count > 1 : collective->launcher == LAUNCH_MPIRUN;
    for (size_t i = 0; i < count; i++) {
        size_t role = collective->roles.count ? (size_t)scenario_role_index(scenario, names[i]) : i;
        job->hosts[i] =
            (struct collective_host){.role = role, .lab = lab_real_host(lab, scenario_role(scenario, role))};
        if (!job->hosts[i].lab)
            return error_set(e,
                             "collective %s: role \"%s\" is a switch in lab %s: name the hosts in its roles",
                             collective->name, scenario_role(scenario, role), lab->name);
        if (take_nics(scenario, lab, collective, &job->hosts[i], e) != 0)
            return -1;
    }
    return 0;
}

struct collective_job *collective_jobs(const struct scenario *scenario, const struct lab *lab, size_t *count,
                                       struct error *e)
{
    const struct scenario_collective *items = scenario->collectives.items;
    struct collective_job *jobs = xcalloc(scenario->collectives.count + 1, sizeof *jobs);
    *count = scenario->collectives.count;
    for (size_t i = 0; jobs && i < *count; i++)
        if (make_job(scenario, lab, &items[i], &jobs[i], e) != 0) {
            collective_jobs_free(jobs, *count);
            jobs = NULL;
        }
    return jobs;
}

/* ---- before the run */

static size_t node_of(const struct collective_job *job, const struct scenario *scenario, size_t host)
{
    return (size_t)lab_host_of(job->lab, scenario_role(scenario, job->hosts[host].role));
}

static int check_hosts(const struct scenario *scenario, const struct collective_job *job, struct error *e)
{
    if (job->host_count > COLLECTIVE_MOST_HOSTS)
        return error_set(e, "collective %s has %zu hosts: expected at most %d, in roles",
                         job->collective->name, job->host_count, COLLECTIVE_MOST_HOSTS);
    for (size_t i = 0; i < job->host_count; i++) {
        const struct lab_host *host = job->hosts[i].lab;
        const char *role = scenario_role(scenario, job->hosts[i].role);
        if (!host)
            return error_set(e, "collective %s: role %s is not a host of lab %s", job->collective->name, role,
                             job->lab->name);
        if (lab_forwards(host))
            return error_set(
                e, "collective %s: role %s is host %s of lab %s, which forwards: name the others in roles",
                job->collective->name, role, host->name, job->lab->name);
        for (size_t k = 0; k < i; k++)
            if (lab_same_machine(job->lab, node_of(job, scenario, k), node_of(job, scenario, i)))
                return error_set(
                    e, "collective %s: roles %s and %s are one host of lab %s: expected a host once",
                    job->collective->name, scenario_role(scenario, job->hosts[k].role), role, job->lab->name);
    }
    return job->tool->check(job, e);
}

int collectives_check(const struct scenario *scenario, const struct lab *lab, struct error *e)
{
    size_t count;
    struct collective_job *jobs = collective_jobs(scenario, lab, &count, e);
    int result = jobs ? 0 : -1;
    for (size_t i = 0; result == 0 && i < count; i++)
        result = check_hosts(scenario, &jobs[i], e);
    collective_jobs_free(jobs, count);
    return result;
}

/* ---- variables */

static void set_all(json_t *env, const struct list_of *list)
{
    const struct named_string *items = list->items;
    for (size_t i = 0; i < list->count; i++)
        json_object_set_new(env, items[i].name, json_text(items[i].value));
}

/* Has each NIC of the host a network of its own, as NICs on switches of their own have ("rails")? */
static bool has_rails(const struct collective_job *job, size_t host)
{
    const struct collective_host *h = &job->hosts[host];
    int first = lab_node_index(job->lab, h->lab->name);
    const struct lab_host *a, *b;
    size_t count = 0;
    for (size_t i = (size_t)first; (a = lab_host_at(job->lab, i)); i++) {
        if (!lab_same_machine(job->lab, (size_t)first, i) || !uses_nic(job->collective, job->lab, i))
            continue;
        count++;
        for (size_t k = (size_t)first; k < i && (b = lab_host_at(job->lab, k)); k++)
            if (!a->nic.address || !b->nic.address || lab_same_network(a->nic.address, b->nic.address))
                return false;
    }
    return count > 1;
}

json_t *collective_env(const struct collective_job *job, size_t host)
{
    json_t *env = json_object();
    set_all(env, &job->hosts[host].env);
    if (job->collective->env_from_hosts == 1 && has_rails(job, host))
        json_object_set_new(env, "NCCL_CROSS_NIC", json_text("0")); /* docs/nccl.md */
    set_all(env, &job->collective->env);
    return env;
}

static void add_variable(struct list_of *env, const char *line, size_t length)
{
    size_t name = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    struct named_string *grown = xreallocarray(env->items, env->count + 1, sizeof *grown);
    env->items = grown;
    grown[env->count++] = (struct named_string){.name = xstrndup(line, name),
                                                .value = xstrndup(line + name + 1, length - name - 1)};
}

/* NAME=VALUE of NCCL, with the characters that host-facts prints. */
static bool is_variable(const char *line, size_t length)
{
    size_t name = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (strncmp(line, "NCCL_", 5) != 0 || name >= length || line[name] != '=')
        return false;
    const char *value = line + name + 1;
    return strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,:=^@") >=
           length - name - 1;
}

int collective_take_env(struct collective_host *host, const char *printed, struct error *e)
{
    static const char before[] = "export ";
    free_env(&host->env);
    for (const char *line = printed; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n"), skipped = strlen(before);
        if (*line == '#' || !length)
            continue;
        if (length <= skipped || strncmp(line, before, skipped) != 0 ||
            !is_variable(line + skipped, length - skipped) || host->env.count == MOST_VARIABLES)
            return error_set(e, "host-facts --nccl-env says \"%.*s\": expected export NCCL_NAME=VALUE",
                             (int)(length < 160 ? length : 160), line);
        add_variable(&host->env, line + skipped, length - skipped);
    }
    return 0;
}
