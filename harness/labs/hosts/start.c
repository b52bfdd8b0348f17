/* Starting the programs of a run on hosts: samplers, servers, and what makes traffic. */
#include "harness/labs/hosts/start.h"
#include "harness/labs/hosts/parallel.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/formats/lines.h"
#include "lib/output/print.h"
#include "lib/roce/counters.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void log_start(const struct remote_lab *lab, const struct stream_request *request)
{
    struct text line = {0};
    if (request->series)
        text_add(&line, "redis-cli -r -1 EVAL, a script that reads its counters");
    else
        shell_quote_all(&line, (const char *const *)request->words->items);
    if (lab->run->log)
        print_to(lab->run->log, "%s: %s%s%s\n", request->host->lab->name, text_string(&line),
                 request->input ? " <<< " : "", request->input ? request->input : "");
    text_free(&line);
}

int start_stream(struct remote_lab *lab, const struct stream_request *request, struct error *e)
{
    lab->streams = xreallocarray(lab->streams, lab->stream_count + 1, sizeof *lab->streams);
    if (stream_start(&lab->streams[lab->stream_count], request, e) != 0)
        return -1;
    lab->stream_count++;
    log_start(lab, request);
    return 0;
}

/* ---- samplers */

/* An ordinary process on a busy host may wait this long for a processor (linux kernel/sched/fair.c,
 * sysctl_sched_latency: 6 ms times 1 + log2 of at most 8 processors). */
#define FAST_SAMPLING_NS (20 * NS_PER_MS)

static void add_group_words(const struct cell *cell, struct words *w)
{
    const int *groups = cell->scenario.sample.groups.items;
    struct text list = {0};
    for (size_t i = 0; i < cell->scenario.sample.groups.count; i++)
        text_add(&list, "%s%s", list.length ? "," : "", counter_group_choices[groups[i]]);
    if (list.length) {
        words_add(w, "--groups");
        words_add(w, "%s", text_string(&list));
    }
    text_free(&list);
}

/* The GPUs that are sampled with NICs of the machine: each is once, with the first NIC that has it. */
static bool samples_gpu(const struct remote_host *const hosts[], size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (hosts[k]->nvml_answers && hosts[k]->lab->gpu->index == hosts[i]->lab->gpu->index)
            return false;
    return hosts[i]->nvml_answers;
}

static void add_nic_words(const struct remote_host *const hosts[], size_t count, struct words *w)
{
    for (size_t i = 0; i < count; i++) {
        struct text nic = {0};
        text_add(&nic, "%s", hosts[i]->netdev);
        if (hosts[i]->rdma)
            text_add(&nic, ":rdma=%s", hosts[i]->rdma);
        if (samples_gpu(hosts, i))
            text_add(&nic, ":gpu=%" PRId64, hosts[i]->lab->gpu->index);
        words_add(w, "--nic");
        words_add(w, "%s", text_string(&nic));
        text_free(&nic);
    }
}

static void add_only_nic_words(const struct remote_host *h, struct words *w)
{
    words_add(w, "--netdev");
    words_add(w, "%s", h->netdev);
    if (h->rdma) {
        words_add(w, "--rdma");
        words_add(w, "%s", h->rdma);
    }
    if (h->nvml_answers) {
        words_add(w, "--gpu");
        words_add(w, "%" PRId64, h->lab->gpu->index);
    }
}

void remote_sampler_words(const struct cell *cell, const struct remote_host *const hosts[], size_t count,
                          struct words *w)
{
    char every[40], path[512];
    words_add(w, "%s", remote_program(hosts[0], "nic-sampler", path, sizeof path));
    if (count > 1)
        add_nic_words(hosts, count, w);
    else
        add_only_nic_words(hosts[0], w);
    words_add(w, "--every");
    words_add(w, "%s", units_format(UNIT_TIME_NS, cell->scenario.sample.every_ns, every, sizeof every));
    if (cell->scenario.sample.every_ns <= FAST_SAMPLING_NS)
        words_add(w, "--realtime");
    add_group_words(cell, w);
}

json_t *remote_sampler_columns(struct remote_host *h, const struct cell *cell, struct error *e)
{
    struct words w = {0};
    struct text out = {0};
    json_t *names = NULL;
    const struct remote_host *const alone[] = {h};
    remote_sampler_words(cell, alone, 1, &w);
    words_add(&w, "--count");
    words_add(&w, "1");
    if (ssh_must(h->ssh, (const char *const *)w.items, NULL, &out, REMOTE_COMMAND_NS, e) == 0) {
        json_t *header = json_file_parse(text_string(&out), strcspn(text_string(&out), "\n"), "nic-sampler",
                                         DOCUMENT_LINE, NULL),
               *column;
        size_t i;
        names = json_array();
        json_array_foreach(json_object_get(header, "columns"), i, column)
        {
            json_t *name = json_object_get(column, "name");
            if (json_is_string(name))
                json_array_append(names, name);
        }
        json_decref(header);
    }
    text_free(&out);
    words_free(&w);
    return names;
}

/* One process samples all NICs of a machine that have a role; the second role of a NIC has its own. */
static int start_sampler(struct remote_lab *lab, size_t first, struct error *e)
{
    const struct remote_host **hosts = xcalloc(lab->host_count + 1, sizeof *hosts);
    size_t *roles = xcalloc(lab->host_count + 1, sizeof *roles), count = 0;
    struct words w = {0};
    struct stream_request request = {.kind = STREAM_SAMPLER,
                                     .program = "nic-sampler",
                                     .role = first,
                                     .host = &lab->hosts[first],
                                     .words = &w};
    for (size_t k = first; k != SIZE_MAX; k = machine_next(lab, lab->results[k].machine, k, lab->host_count))
        if (k == first || (machine_is_first(lab, first) && node_is_first(lab, k))) {
            roles[count] = k;
            hosts[count++] = &lab->hosts[k];
        }
    remote_sampler_words(lab->run->cell, hosts, count, &w);
    int result = words_whole(&w, e) == 0 ? start_stream(lab, &request, e) : -1;
    for (size_t i = 0; result == 0 && count > 1 && i < count; i++)
        stream_add_nic(&lab->streams[lab->stream_count - 1], roles[i], hosts[i]->netdev);
    words_free(&w);
    free(hosts);
    free(roles);
    return result;
}

int start_samplers(struct remote_lab *lab, struct error *e)
{
    for (size_t role = 0; role < lab->host_count; role++)
        if (!lab->hosts[role].sonic && (machine_is_first(lab, role) || !node_is_first(lab, role)) &&
            start_sampler(lab, role, e) != 0)
            return -1;
    return 0;
}

/* ---- traffic */

/* Start a program of a job's tool; its command is released. */
static int start_tool(struct remote_lab *lab, const struct traffic_job *job, enum stream_kind kind,
                      struct traffic_command *command, struct error *e)
{
    size_t role = kind == STREAM_SERVER ? job->to : job->from;
    char path[512];
    struct words w = {0};
    struct stream_request request = {.kind = kind,
                                     .program =
                                         kind == STREAM_SERVER ? job->tool->serving : job->tool->driving,
                                     .job = job,
                                     .role = role,
                                     .host = &lab->hosts[role],
                                     .words = &w,
                                     .secret = command->secret ? &lab->secret : NULL,
                                     .input = command->input,
                                     .more = kind == STREAM_TRAFFIC && job->tool->awaits_start};
    const char *const *words = (const char *const *)command->words.items;
    words_add(&w, "%s",
              job->tool->ours ? remote_program(request.host, words[0], path, sizeof path) : words[0]);
    words_add_all(&w, words + 1);
    int result = words_whole(&w, e) == 0 ? start_stream(lab, &request, e) : -1;
    words_free(&w);
    traffic_command_free(command);
    return result;
}

static struct traffic_end end_of_role(const struct remote_lab *lab, size_t role)
{
    return (struct traffic_end){.lab = lab->hosts[role].lab, .device = lab->hosts[role].rdma};
}

int start_servers(struct remote_lab *lab, struct error *e)
{
    for (size_t i = 0; i < lab->job_count; i++) {
        const struct traffic_job *job = &lab->jobs[i];
        const struct traffic_end here = end_of_role(lab, job->to);
        struct traffic_command command = {0};
        if (!traffic_needs_server(lab->jobs, i))
            continue;
        if (job->tool->serve(job, &here, &command, e) != 0) {
            traffic_command_free(&command);
            return -1;
        }
        if (start_tool(lab, job, STREAM_SERVER, &command, e) != 0)
            return -1;
    }
    return 0;
}

static int start_driver(struct remote_lab *lab, const struct traffic_job *job, struct error *e)
{
    const struct traffic_end from = end_of_role(lab, job->from), to = end_of_role(lab, job->to);
    struct traffic_command command = {0};
    if (job->tool->drive(job, &from, &to, &command, e) != 0) {
        traffic_command_free(&command);
        return -1;
    }
    return start_tool(lab, job, STREAM_TRAFFIC, &command, e);
}

int start_waiting_drivers(struct remote_lab *lab, struct error *e)
{
    for (size_t i = 0; i < lab->job_count; i++)
        if (lab->jobs[i].tool->awaits_start && start_driver(lab, &lab->jobs[i], e) != 0)
            return -1;
    return 0;
}

/* By the clock of the host where the driver runs. */
static int tell_start(struct stream *driver, struct error *e)
{
    char line[32];
    snprintf(line, sizeof line, "%" PRId64, driver->job->start_ns);
    return stream_say(driver, line, e);
}

int start_traffic(struct remote_lab *lab, int64_t start_ns, struct error *e)
{
    for (size_t i = 0; i < lab->job_count; i++)
        lab->jobs[i].start_ns = start_ns + lab->hosts[lab->jobs[i].from].offset_ns;
    for (size_t i = 0; i < lab->stream_count; i++)
        if (lab->streams[i].kind == STREAM_TRAFFIC && tell_start(&lab->streams[i], e) != 0)
            return -1;
    for (size_t i = 0; i < lab->job_count; i++)
        if (!lab->jobs[i].tool->awaits_start && start_driver(lab, &lab->jobs[i], e) != 0)
            return -1;
    return 0;
}
