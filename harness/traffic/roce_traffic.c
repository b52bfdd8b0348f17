/* roce-traffic as a traffic tool. A driver takes its flows as a job on standard input: docs/roce-traffic.1,
 * traffic/job.h. */
#include "harness/traffic/traffic_tool.h"

#include "harness/plan/traffic_class.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME "roce-traffic"

/* A flow has about a hundred lines in a run, but no more than 10 a second. */
#define INTERVALS       100
#define INTERVAL_MIN_NS (100 * NS_PER_MS)

/* The address without its prefix length. */
static json_t *address_of(const struct lab_host *host)
{
    const char *address = lab_flow_address(&host->nic);
    return json_textn(address, strcspn(address, "/"));
}

/* The GID that the lab gives; unset: the one of the address. A VLAN's GID is always that of its address. */
static int64_t gid_index_of(const struct lab_nic *nic)
{
    return nic->vlan ? FIELD_UNSET : nic->gid_index;
}

/* Device, address, GID and GPU of a host, as options with these names. */
static json_t *local_of(const struct traffic_end *here)
{
    const struct lab_nic *nic = &here->lab->nic;
    json_t *local = json_object();
    if (here->device)
        json_object_set_new(local, "device", json_text(here->device));
    if (lab_flow_address(nic))
        json_object_set_new(local, "address", address_of(here->lab));
    if (gid_index_of(nic) != FIELD_UNSET)
        json_object_set_new(local, "gid_index", json_integer(gid_index_of(nic)));
    if (here->lab->gpu)
        json_object_set_new(local, "gpu", json_textf("%" PRId64, here->lab->gpu->index));
    return local;
}

static int roce_traffic_serve(const struct traffic_job *job, const struct traffic_end *here,
                              struct traffic_command *out, struct error *e)
{
    static const char *const words[] = {NAME, "serve", "--output", "json", "--secret-file", "-", NULL};
    const struct lab_nic *nic = &here->lab->nic;
    struct words *w = &out->words;
    (void)job;
    out->secret = true;
    words_add_all(w, words);
    if (here->device)
        words_add_all(w, (const char *const[]){"--device", here->device, NULL});
    const char *address = lab_flow_address(nic);
    if (address) { /* strangers on other networks cannot even connect */
        words_add(w, "--address=%.*s", (int)strcspn(address, "/"), address);
        words_add(w, "--listen=%.*s", (int)strcspn(address, "/"), address);
    }
    if (gid_index_of(nic) != FIELD_UNSET)
        words_add(w, "--gid-index=%" PRId64, gid_index_of(nic));
    if (here->lab->gpu)
        words_add(w, "--gpu=%" PRId64, here->lab->gpu->index);
    return words_whole(w, e);
}

static void set_time(json_t *object, const char *key, int64_t time_ns)
{
    char text[40];
    json_object_set_new(object, key, json_text(units_format(UNIT_TIME_NS, time_ns, text, sizeof text)));
}

static json_t *common_of(const struct traffic_job *job, const struct traffic_end *from)
{
    const struct scenario_phases *phases = &job->scenario->phases;
    int64_t interval_ns = phases->measure_ns / INTERVALS;
    json_t *common = json_make("{s:b,s:o}", "latency", 1, "local", local_of(from));
    set_time(common, "warmup", phases->warmup_ns);
    set_time(common, "duration", phases->measure_ns);
    set_time(common, "interval", interval_ns < INTERVAL_MIN_NS ? INTERVAL_MIN_NS : interval_ns);
    if (from->lab->nic.ack_timeout != FIELD_UNSET)
        json_object_set_new(common, "ack_timeout", json_integer(from->lab->nic.ack_timeout));
    return common;
}

/* The scenario's flow, with the traffic class that results from its settings. */
static json_t *flow_of(const struct traffic_job *job, const struct scenario_flow *flow)
{
    json_t *document = table_write(&flow_table, flow);
    json_object_set_new(document, "traffic_class", json_integer(flow_traffic_class(job->scenario, flow)));
    json_object_del(document, "gpu");
    if (flow->gpu != FIELD_UNSET) {
        json_object_set_new(document, "local", json_make("{s:o}", "gpu", json_textf("%" PRId64, flow->gpu)));
        json_object_set_new(document, "peer_gpu", json_integer(flow->gpu));
    }
    return document;
}

static int roce_traffic_drive(const struct traffic_job *job, const struct traffic_end *from,
                              const struct traffic_end *to, struct traffic_command *out, struct error *e)
{
    static const char *const words[] = {NAME, "drive",         "--job", "-", "--secret-file",
                                        "-",  "--await-start", NULL};
    json_t *flows = json_array();
    for (size_t i = 0; i < job->count; i++)
        json_array_append_new(flows, flow_of(job, job->flows[i]));
    json_t *document = json_make("{s:i,s:o,s:{s:s},s:o,s:o}", "schema", 1, "host", address_of(to->lab),
                                 "process", "output", "json", "common", common_of(job, from), "flows", flows);
    out->input = document ? json_dumps(document, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    json_decref(document);
    if (!out->input)
        return error_set(e, "out of memory for the job of %zu flows", job->count);
    out->secret = true;
    words_add_all(&out->words, words);
    return words_whole(&out->words, e);
}

static int roce_traffic_check(const struct scenario *scenario, const struct lab *lab,
                              const struct scenario_flow *flow, const char *path, struct error *e)
{
    (void)scenario;
    (void)lab;
    return flow_check_on_hosts(flow, path, e);
}

const struct traffic_tool traffic_tool_roce = {
    .name = NAME,
    .ours = true,
    .serving = NAME " serve",
    .driving = NAME " drive",
    .port = ROCE_TRAFFIC_PORT,
    .most_flows = FLOW_MAX_TOGETHER,
    .awaits_start = true,
    .lead_ns = NS_PER_S,
    .check = roce_traffic_check,
    .serve = roce_traffic_serve,
    .drive = roce_traffic_drive,
};
