#include "traffic/job.h"

#include "lib/document/json_text.h"
#include "lib/document/arguments.h"
#include "lib/document/json_file.h"
#include "lib/formats/scenario.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- message sizes */

static int add_size(int64_t size, int64_t *sizes, size_t *count, struct error *e)
{
    if (size < 1 || size > FLOW_MAX_MESSAGE_BYTES)
        return error_set(e, "message: %" PRId64 " bytes is out of range: expected 1B to 1GiB", size);
    if (*count == TRAFFIC_MAX_SIZES)
        return error_set(e, "message: more than %d sizes", TRAFFIC_MAX_SIZES);
    sizes[(*count)++] = size;
    return 0;
}

/* One item of the list: a size, or "from..to": doubled sizes, and the last one even if it is not a
 * doubling. */
static int add_sizes(char *item, int64_t *sizes, size_t *count, struct error *e)
{
    char *dots = strstr(item, "..");
    int64_t from, to;
    if (dots)
        *dots = '\0';
    if (units_parse(UNIT_BYTES, item, &from, e) != 0)
        return error_prefix(e, "message");
    if (!dots)
        return add_size(from, sizes, count, e);
    if (units_parse(UNIT_BYTES, dots + 2, &to, e) != 0)
        return error_prefix(e, "message");
    if (from < 1 || to < from)
        return error_set(e, "message %s..%s: expected an increasing range", item, dots + 2);
    for (; from < to; from *= 2)
        if (add_size(from, sizes, count, e) != 0)
            return -1;
    return add_size(to, sizes, count, e);
}

int job_sizes(const char *text, int64_t *sizes, size_t *count, struct error *e)
{
    char *copy = strdup(text), *rest = copy, *item;
    int result = copy ? 0 : error_set(e, "out of memory");
    *count = 0;
    while (result == 0 && (item = strsep(&rest, ",")))
        result = add_sizes(item, sizes, count, e);
    free(copy);
    return result;
}

/* ---- from a flow to its plan */

static int traffic_class_of(const struct job_flow *f, int64_t *traffic_class, struct error *e)
{
    bool parts = f->dscp != FIELD_UNSET || f->ecn >= 0;
    if (f->load.traffic_class != FIELD_UNSET && parts)
        return error_set(e, "traffic_class already contains the DSCP and ECN bits: leave out dscp and ecn");
    *traffic_class = f->load.traffic_class != FIELD_UNSET ? f->load.traffic_class : 0;
    if (parts) /* the choices of ecn are in the order of the bits' values */
        *traffic_class = (f->dscp != FIELD_UNSET ? f->dscp * 4 : 0) + (f->ecn >= 0 ? f->ecn : 0);
    return 0;
}

static int check_mtu(int64_t mtu_bytes, int connection, struct error *e)
{
    if (mtu_bytes == FIELD_UNSET)
        return 0;
    if (connection == CONNECTION_RDMA)
        return error_set(e,
                         "mtu: rdma_cm derives the path MTU from the interfaces; use connection tcp, or set "
                         "the interface's MTU");
    if (mtu_bytes & (mtu_bytes - 1))
        return error_set(e, "mtu %" PRId64 ": expected 256, 512, 1024, 2048 or 4096", mtu_bytes);
    return 0;
}

/* Refuse invalid combinations; `load` is the flow with its largest message. */
static int check_flow(const struct job_flow *f, const struct scenario_flow *load, struct error *e)
{
    char path[FLOW_MAX_NAME + 10];
    struct scenario_flow theirs = *load;
    if (f->peer_memory >= 0)
        theirs.memory = f->peer_memory;
    snprintf(path, sizeof path, "flow %.*s", FLOW_MAX_NAME, load->name);
    if (flow_check(load, path, e) != 0 || flow_check_on_hosts(load, path, e) != 0 ||
        flow_check_on_hosts(&theirs, path, e) != 0)
        return -1;
    if ((load->start_ns || load->stop_ns != FIELD_UNSET) && f->bidirectional > 0)
        return error_set(e, "start and stop apply to one direction: use two flows instead of bidirectional");
    if (load->numa >= 0 && f->local.numa_node != FIELD_UNSET)
        return error_set(e, "numa and numa_node both choose a NUMA node: give only one of them");
    if (f->flip != FIELD_UNSET && load->validate != 1)
        return error_set(e, "flip corrupts a byte of validate's pattern: give both");
    if (load->size_bytes != FIELD_UNSET && f->count != FIELD_UNSET)
        return error_set(e, "size and count both limit the sent data: give only one of them");
    return check_mtu(f->mtu_bytes, f->connection, e);
}

static int64_t or_else(int64_t value, int64_t otherwise)
{
    return value != FIELD_UNSET ? value : otherwise;
}

#define LATENCY_INLINE_BYTES 220 /* perftest's default for latencies */

static int make_plan(const struct job_flow *f, struct plan *p, struct error *e)
{
    const struct scenario_flow *load = &f->load;
    char reverse[FLOW_MAX_NAME + 20];
    bool latency = load->mode == MODE_LATENCY;
    snprintf(reverse, sizeof reverse, "%.*s-reverse", FLOW_MAX_NAME - (int)strlen("-reverse"), load->name);
    *p = (struct plan){
        .flow = strdup(load->name),
        .reverse = strdup(f->reverse ? f->reverse : reverse),
        .operation = load->op,
        .mode = load->mode,
        .connection = f->connection,
        .memory = f->peer_memory >= 0 ? f->peer_memory : load->memory,
        .gpu = f->peer_gpu,
        .pacing = f->pacing,
        .bidirectional = f->bidirectional > 0,
        .validate = load->validate > 0,
        .latency = f->latency > 0 || latency,
        .relaxed_ordering = load->relaxed_ordering > 0,
        .numa = load->numa,
        .queue_pairs = load->queue_pairs,
        .depth = latency ? 1 : load->depth,
        .receive_depth = f->receive_depth,
        .moderation = f->moderation,
        .inline_bytes = or_else(f->inline_bytes, latency ? LATENCY_INLINE_BYTES : 0),
        .post_list = latency ? 1 : f->post_list,
        .slots = f->slots,
        .service_level = or_else(f->service_level, load->priority),
        .mtu_bytes = or_else(f->mtu_bytes, 0),
        .ack_timeout = f->ack_timeout,
        .retries = f->retries,
        .rnr_retries = f->rnr_retries,
        .rnr_timer = f->rnr_timer,
        .rate_bps = or_else(load->rate_bps, 0),
        .burst = f->burst,
        .interval_ns = f->interval_ns,
        .peer_timeout_ns = f->peer_timeout_ns,
        .flip = or_else(f->flip, -1),
    };
    return p->flow && p->reverse ? traffic_class_of(f, &p->traffic_class, e) : error_set(e, "out of memory");
}

static int copy_string(const char *from, char **to, struct error *e)
{
    *to = from ? strdup(from) : NULL;
    return from && !*to ? error_set(e, "out of memory") : 0;
}

static int copy_local(const struct local_options *from, struct local_options *to, struct error *e)
{
    *to = *from;
    to->device = to->address = to->gpu = NULL;
    return copy_string(from->device, &to->device, e) != 0 || copy_string(from->address, &to->address, e) != 0
               ? -1
               : copy_string(from->gpu, &to->gpu, e);
}

/* Number of messages of each size after which the flow ends; 0: no limit. An amount below a message's size is
 * one message. */
static int count_messages(const struct job_flow *f, struct drive_plan *flow, struct error *e)
{
    flow->count = or_else(f->count, 0);
    if (f->load.size_bytes == FIELD_UNSET)
        return 0;
    if (flow->size_count > 1)
        return error_set(e, "size requires a single message size, but message %s has %zu: use count instead",
                         f->message, flow->size_count);
    if (f->load.size_bytes < flow->sizes[0])
        flow->sizes[0] = f->load.size_bytes;
    flow->count = (f->load.size_bytes + flow->sizes[0] - 1) / flow->sizes[0];
    return 0;
}

static int make_flow(const struct job_flow *f, struct drive_plan *flow, struct error *e)
{
    struct scenario_flow load = f->load;
    *flow = (struct drive_plan){.memory = load.memory,
                                .duration_ns = or_else(f->duration_ns, 0),
                                .start_at_ns = or_else(f->start_at_ns, 0),
                                .post_from_ns = load.start_ns,
                                .post_until_ns = or_else(load.stop_ns, 0)};
    if (copy_local(&f->local, &flow->local, e) != 0 ||
        job_sizes(f->message, flow->sizes, &flow->size_count, e) != 0 || count_messages(f, flow, e) != 0)
        return -1;
    flow->warmup_ns = flow->count ? 0 : f->warmup_ns; /* with a count all messages are measured */
    if (flow->size_count > 1 && !flow->duration_ns && !flow->count)
        return error_set(e, "message %s: several sizes require a duration or a count", f->message);
    if (flow->size_count > 1 && (load.start_ns || load.stop_ns != FIELD_UNSET))
        return error_set(e, "start and stop require a single message size, but message %s has %zu",
                         f->message, flow->size_count);
    load.message_bytes = flow->sizes[0];
    for (size_t i = 1; i < flow->size_count; i++)
        if (flow->sizes[i] > load.message_bytes)
            load.message_bytes = flow->sizes[i];
    if (check_flow(f, &load, e) != 0 || make_plan(f, &flow->plan, e) != 0)
        return -1;
    flow->plan.max_message_bytes = load.message_bytes;
    return plan_table.check(&flow->plan, "", e);
}

/* ---- the flows of a job */

#define FLOW_MAX_WORDS 100

/* "name=x op=read" as the words of a command line: "--name=x", "--op=read". Thus both use the same table. The
 * words point into *memory, which the caller frees. */
static int flow_words(const char *text, char **argv, char **memory, struct error *e)
{
    char *out = malloc(strlen(text) * 3 + 4);
    int argc = 1;
    *memory = out;
    if (!out)
        return error_set(e, "out of memory");
    for (const char *word = text; *(word += strspn(word, " \t"));) {
        size_t length = strcspn(word, " \t");
        if (argc == FLOW_MAX_WORDS)
            return error_set(e, "more than %d words", FLOW_MAX_WORDS - 1);
        argv[argc++] = out;
        out += sprintf(out, "--%.*s", (int)length, word) + 1;
        word += length;
    }
    argv[argc] = NULL;
    return argc;
}

/* The document of a text of --flow. A new reference. */
static json_t *written_flow(const char *text, struct error *e)
{
    char first[] = "flow", *argv[FLOW_MAX_WORDS + 1] = {first}, *memory;
    const char **rest = NULL;
    size_t count = 0;
    int argc = flow_words(text, argv, &memory, e);
    json_t *said = argc < 0 ? NULL : arguments_read(&job_flow_table, argc, argv, &rest, &count, e);
    free(rest); /* empty: every word is an option */
    free(memory);
    return said;
}

/* One flow: the common options, overridden by `said`; either may be NULL. */
static int make_said_flow(const json_t *common, const json_t *said, struct drive_plan *flow, struct error *e)
{
    struct job_flow own;
    json_t *document = common ? json_deep_copy(common) : json_object();
    *flow = (struct drive_plan){0};
    if (said)
        json_merge_deep(document, said);
    int result = document ? table_parse(&job_flow_table, document, &own, e) : error_set(e, "out of memory");
    json_decref(document);
    if (result == 0) {
        result = make_flow(&own, flow, e);
        table_free(&job_flow_table, &own);
    }
    return result;
}

void drive_plan_free(struct drive_plan *flow)
{
    table_free(&plan_table, &flow->plan);
    free(flow->local.device);
    free(flow->local.address);
    free(flow->local.gpu);
    *flow = (struct drive_plan){0};
}

static int check_names(const struct drive_plan *flows, size_t count, struct error *e)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(flows[i].plan.flow, flows[j].plan.flow) == 0)
                return error_set(e, "two flows have the name \"%s\"", flows[i].plan.flow);
    return 0;
}

static int make_listed(const json_t *job, struct drive_plan *flows, size_t *count, struct error *e)
{
    const json_t *common = json_object_get(job, "common");
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(job, "flow"), i, item)
    {
        json_t *said = written_flow(json_string_value(item), e);
        int result = said ? make_said_flow(common, said, &flows[(*count)++], e) : -1;
        json_decref(said);
        if (result != 0)
            return error_prefix(e, "--flow \"%.80s\"", json_string_value(item));
    }
    json_array_foreach(json_object_get(job, "flows"), i, item)
    {
        if (!json_is_object(item))
            return error_set(e, "flows[%zu]: expected an object", i);
        if (make_said_flow(common, item, &flows[(*count)++], e) != 0)
            return error_prefix(e, "flows[%zu]", i);
    }
    return 0;
}

int job_plans(const json_t *job, struct drive_plan *flows, size_t *count, struct error *e)
{
    const json_t *listed = json_object_get(job, "flows");
    *count = 0;
    if (listed && !json_is_array(listed))
        return error_set(e, "flows: expected a list of flows");
    size_t wanted = json_array_size(json_object_get(job, "flow")) + json_array_size(listed);
    if (wanted > FLOW_MAX_TOGETHER)
        return error_set(e, "%zu flows: expected at most %d", wanted, FLOW_MAX_TOGETHER);
    int result = wanted ? make_listed(job, flows, count, e)
                        : make_said_flow(json_object_get(job, "common"), NULL, &flows[(*count)++], e);
    if (result == 0)
        result = check_names(flows, *count, e);
    if (result != 0)
        while (*count)
            drive_plan_free(&flows[--*count]);
    return result;
}

/* ---- a job's document */

json_t *job_document(const json_t *said, struct error *e)
{
    const char *path = json_string_value(json_object_get(said, "job"));
    struct job job;
    if (!path)
        return json_deep_copy(said);
    bool standard = strcmp(path, "-") == 0;
    bool more = json_is_true(json_object_get(said, "await_start")); /* on standard input, after the job */
    const char *name = standard ? "the job on standard input" : path;
    json_t *document = !standard ? json_file_load(path, DOCUMENT_SCENARIO, e)
                       : more    ? json_file_load_next_line(STDIN_FILENO, name, DOCUMENT_SCENARIO, e)
                                 : json_file_load_descriptor(STDIN_FILENO, name, DOCUMENT_SCENARIO, e);
    if (!document)
        return NULL;
    if (table_parse(&job_table, document, &job, e) != 0) {
        json_decref(document);
        error_prefix(e, "%s", name);
        return NULL;
    }
    table_free(&job_table, &job);
    json_merge_deep(document, said);
    return document;
}
