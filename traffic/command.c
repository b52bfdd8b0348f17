#include "traffic/command.h"

#include "lib/clock.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const gid_type_names[] = {"roce-v2", "roce-v1", "infiniband", NULL};
static const char *const output_names[] = {"auto", "json", "table", NULL};
/* --ecn: the two bits beside the DSCP, RFC 3168 section 5. */
static const char *const ecn_names[] = {"not-ect", "ect1", "ect0", "ce", NULL};

#define ECN_UNSET  (-1)
#define DSCP_UNSET (-1)

/* ---- tables */

#define LOCAL(member) offsetof(struct traffic_options, flow.local.member)
#define FLOW(member)  offsetof(struct traffic_options, flow.member)
#define TOP(member)   offsetof(struct traffic_options, member)

#define LOCAL_OPTIONS                                                                              \
    {.name = "device",                                                                             \
     .letter = 'd',                                                                                \
     .kind = FIELD_STRING,                                                                         \
     .offset = LOCAL(device),                                                                      \
     .argument = "NAME",                                                                           \
     .help = "RDMA device here (default: the one that has the address)"},                          \
        {.name = "device_port",                                                                    \
         .kind = FIELD_INTEGER,                                                                    \
         .offset = LOCAL(device_port),                                                             \
         .argument = "N",                                                                          \
         .help = "its port (default: the first active one)",                                       \
         .min = 0,                                                                                 \
         .max = 255},                                                                              \
        {.name = "address",                                                                        \
         .kind = FIELD_STRING,                                                                     \
         .offset = LOCAL(address),                                                                 \
         .argument = "IP",                                                                         \
         .help = "IP address here on the RDMA network (default: that of the control connection)"}, \
        {.name = "gid_index",                                                                      \
         .kind = FIELD_INTEGER,                                                                    \
         .offset = LOCAL(gid_index),                                                               \
         .argument = "N",                                                                          \
         .help = "GID index (default: chosen by type and address)",                                \
         .min = 0,                                                                                 \
         .max = 65535},                                                                            \
        {.name = "gid_type",                                                                       \
         .kind = FIELD_CHOICE,                                                                     \
         .offset = LOCAL(gid_type),                                                                \
         .argument = "TYPE",                                                                       \
         .fallback = "\"roce-v2\"",                                                                \
         .help = "GID type to look for",                                                           \
         .choices = gid_type_names},                                                               \
        {.name = "gpu",                                                                            \
         .kind = FIELD_STRING,                                                                     \
         .offset = LOCAL(gpu),                                                                     \
         .argument = "GPU",                                                                        \
         .help = "GPU here: number or PCI address (default: 0)"},                                  \
        {.name = "numa_node",                                                                      \
         .kind = FIELD_INTEGER,                                                                    \
         .offset = LOCAL(numa_node),                                                               \
         .argument = "N",                                                                          \
         .help = "take host memory from this NUMA node",                                           \
         .min = 0,                                                                                 \
         .max = 1023},                                                                             \
    {                                                                                              \
        .name = "huge_pages", .kind = FIELD_BOOL, .offset = LOCAL(huge_pages),                     \
        .help = "take host memory from huge pages"                                                 \
    }

#define PROCESS_OPTIONS                                                          \
    {.name = "port",                                                             \
     .letter = 'p',                                                              \
     .kind = FIELD_INTEGER,                                                      \
     .offset = TOP(port),                                                        \
     .argument = "N",                                                            \
     .fallback = "18525",                                                        \
     .help = "TCP port of the control connection",                               \
     .min = 0,                                                                   \
     .max = 65535},                                                              \
        {.name = "output",                                                       \
         .kind = FIELD_CHOICE,                                                   \
         .offset = TOP(output),                                                  \
         .argument = "KIND",                                                     \
         .fallback = "\"auto\"",                                                 \
         .help = "json, table, or auto: a table on a terminal, else JSON lines", \
         .choices = output_names},                                               \
    {                                                                            \
        .name = "while_stdin", .kind = FIELD_BOOL, .offset = TOP(while_stdin),   \
        .help = "end, as by SIGINT, when standard input is closed"               \
    }

static const struct field serve_fields[] = {
    PROCESS_OPTIONS,
    {.name = "listen",
     .kind = FIELD_STRING,
     .offset = TOP(listen),
     .argument = "IP",
     .help = "listen on this address only (default: all)"},
    {.name = "once", .kind = FIELD_BOOL, .offset = TOP(once), .help = "end after the first driver has gone"},
    LOCAL_OPTIONS,
    {0},
};

static const struct field drive_fields[] = {
    PROCESS_OPTIONS,
    {.name = "flow",
     .letter = 'f',
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = TOP(flows),
     .argument = "\"KEY=VALUE ...\"",
     .help = "a flow of its own, with these option values over the others; several may be given"},
    {.name = "name",
     .kind = FIELD_STRING,
     .offset = FLOW(name),
     .argument = "NAME",
     .fallback = "\"flow\"",
     .help = "name of the flow in the lines printed"},
    {.name = "reverse",
     .kind = FIELD_STRING,
     .offset = FLOW(reverse),
     .argument = "NAME",
     .help = "name of the other direction (default: NAME-reverse)"},
    {.name = "op",
     .letter = 'o',
     .kind = FIELD_CHOICE,
     .offset = FLOW(operation),
     .argument = "OPERATION",
     .fallback = "\"write\"",
     .help = "what is done: RDMA write, write with immediate data, read, or send",
     .choices = flow_op_names},
    {.name = "mode",
     .kind = FIELD_CHOICE,
     .offset = FLOW(mode),
     .argument = "MODE",
     .fallback = "\"stream\"",
     .help = "keep the queue pairs busy, or measure half round trips",
     .choices = flow_mode_names},
    {.name = "bidirectional",
     .letter = 'b',
     .kind = FIELD_BOOL,
     .offset = FLOW(bidirectional),
     .help = "the server sends as well, on the same queue pairs"},
    {.name = "message",
     .letter = 's',
     .kind = FIELD_STRING,
     .offset = FLOW(message),
     .argument = "SIZES",
     .fallback = "\"64KiB\"",
     .help = "message size, a list 2B,1KiB, or a doubling sweep 2B..8MiB"},
    {.name = "queue_pairs",
     .letter = 'q',
     .kind = FIELD_INTEGER,
     .offset = FLOW(queue_pairs),
     .argument = "N",
     .fallback = "1",
     .help = "queue pairs",
     .min = 1,
     .max = FLOW_MAX_QUEUE_PAIRS},
    {.name = "depth",
     .kind = FIELD_INTEGER,
     .offset = FLOW(depth),
     .argument = "N",
     .fallback = "128",
     .help = "messages under way on a queue pair",
     .min = 1,
     .max = FLOW_MAX_DEPTH},
    {.name = "receive_depth",
     .kind = FIELD_INTEGER,
     .offset = FLOW(receive_depth),
     .argument = "N",
     .fallback = "512",
     .help = "receives posted on a queue pair",
     .min = 1,
     .max = FLOW_MAX_DEPTH},
    {.name = "moderation",
     .kind = FIELD_INTEGER,
     .offset = FLOW(moderation),
     .argument = "N",
     .help = "signal every Nth completion (default: 64 up to 8 KiB, 1 above)",
     .min = 0,
     .max = FLOW_MAX_DEPTH},
    {.name = "post_list",
     .kind = FIELD_INTEGER,
     .offset = FLOW(post_list),
     .argument = "N",
     .fallback = "1",
     .help = "work requests posted with one doorbell",
     .min = 1,
     .max = FLOW_MAX_DEPTH},
    {.name = "inline",
     .kind = FIELD_QUANTITY,
     .offset = FLOW(inline_bytes),
     .argument = "BYTES",
     .help = "send messages up to this size inline (default: 0B; ping-pong 220B)",
     .unit = UNIT_BYTES,
     .min = 0,
     .max = 4096},
    {.name = "slots",
     .kind = FIELD_INTEGER,
     .offset = FLOW(slots),
     .argument = "N",
     .fallback = "1",
     .help = "message buffers that a queue pair cycles through",
     .min = 1,
     .max = PLAN_MAX_SLOTS},
    {.name = "relaxed_ordering",
     .kind = FIELD_BOOL,
     .offset = FLOW(relaxed_ordering),
     .help = "let the PCIe fabric reorder the NIC's writes"},
    {.name = "connection",
     .letter = 'c',
     .kind = FIELD_CHOICE,
     .offset = FLOW(connection),
     .argument = "HOW",
     .fallback = "\"tcp\"",
     .help = "tcp: exchange queue pairs over the control connection; rdma: rdma_cm",
     .choices = connection_names},
    {.name = "memory",
     .letter = 'm',
     .kind = FIELD_CHOICE,
     .offset = FLOW(memory),
     .argument = "KIND",
     .fallback = "\"host\"",
     .help = "host, gpu (the first route that works), or a route: rm-dmabuf, cuda-dmabuf, "
             "cuda-peermem, rm-peermem, cuda-nv503c",
     .choices = flow_memory_names},
    {.name = "peer_memory",
     .kind = FIELD_CHOICE,
     .offset = FLOW(peer_memory),
     .argument = "KIND",
     .help = "the server's memory (default: as --memory)",
     .choices = flow_memory_names},
    {.name = "dscp",
     .kind = FIELD_INTEGER,
     .offset = FLOW(dscp),
     .argument = "N",
     .help = "differentiated services code point",
     .min = 0,
     .max = 63},
    {.name = "ecn",
     .kind = FIELD_CHOICE,
     .offset = FLOW(ecn),
     .argument = "BITS",
     .help = "not-ect, ect0, ect1 or ce",
     .choices = ecn_names},
    {.name = "traffic_class",
     .kind = FIELD_INTEGER,
     .offset = FLOW(traffic_class),
     .argument = "N",
     .help = "both at once: DSCP times 4 plus the ECN bits (default: 0)",
     .min = 0,
     .max = 255},
    {.name = "service_level",
     .kind = FIELD_INTEGER,
     .offset = FLOW(service_level),
     .argument = "N",
     .help = "service level: the priority on a VLAN (default: 0)",
     .min = 0,
     .max = 15},
    {.name = "mtu",
     .kind = FIELD_INTEGER,
     .offset = FLOW(mtu_bytes),
     .argument = "BYTES",
     .help = "path MTU: 256, 512, 1024, 2048 or 4096 (default: the smaller active one)",
     .min = 256,
     .max = 4096},
    {.name = "ack_timeout",
     .kind = FIELD_INTEGER,
     .offset = FLOW(ack_timeout),
     .argument = "N",
     .fallback = "14",
     .help = "local ACK timeout, 4.096 us times 2 to the N",
     .min = 0,
     .max = 31},
    {.name = "retries",
     .kind = FIELD_INTEGER,
     .offset = FLOW(retries),
     .argument = "N",
     .fallback = "7",
     .help = "transport retries",
     .min = 0,
     .max = 7},
    {.name = "rnr_retries",
     .kind = FIELD_INTEGER,
     .offset = FLOW(rnr_retries),
     .argument = "N",
     .fallback = "7",
     .help = "retries when the receiver is not ready; 7 is without end",
     .min = 0,
     .max = 7},
    {.name = "rnr_timer",
     .kind = FIELD_INTEGER,
     .offset = FLOW(rnr_timer),
     .argument = "N",
     .fallback = "12",
     .help = "minimum RNR NAK timer code; 12 is 0.64 ms",
     .min = 0,
     .max = 31},
    {.name = "rate",
     .kind = FIELD_QUANTITY,
     .offset = FLOW(rate_bps),
     .argument = "RATE",
     .help = "limit to this payload rate, e.g. 10Gb/s",
     .unit = UNIT_RATE_BPS,
     .min = 1,
     .max = INT64_MAX / 1000},
    {.name = "burst",
     .kind = FIELD_INTEGER,
     .offset = FLOW(burst),
     .argument = "N",
     .fallback = "1",
     .help = "messages that may go at once under --rate",
     .min = 1,
     .max = FLOW_MAX_DEPTH},
    {.name = "pacing",
     .kind = FIELD_CHOICE,
     .offset = FLOW(pacing),
     .argument = "HOW",
     .fallback = "\"auto\"",
     .help = "auto: in hardware where the device can, hardware, or software",
     .choices = pacing_names},
    {.name = "duration",
     .letter = 'D',
     .kind = FIELD_QUANTITY,
     .offset = FLOW(duration_ns),
     .argument = "TIME",
     .help = "measure for this long; with --count at most",
     .unit = UNIT_TIME_NS,
     .min = 1000000,
     .max = INT64_MAX / 4},
    {.name = "count",
     .letter = 'n',
     .kind = FIELD_INTEGER,
     .offset = FLOW(count),
     .argument = "N",
     .help = "send so many messages a size, without warm-up (neither: until told)",
     .min = 1,
     .max = INT64_MAX},
    {.name = "warmup",
     .kind = FIELD_QUANTITY,
     .offset = FLOW(warmup_ns),
     .argument = "TIME",
     .help = "send for this long before measuring",
     .unit = UNIT_TIME_NS,
     .min = 0,
     .max = INT64_MAX / 4},
    {.name = "interval",
     .letter = 'i',
     .kind = FIELD_QUANTITY,
     .offset = FLOW(interval_ns),
     .argument = "TIME",
     .fallback = "\"1s\"",
     .help = "print a line this often",
     .unit = UNIT_TIME_NS,
     .min = 1000000,
     .max = 3600 * NS_PER_S},
    {.name = "start_at",
     .kind = FIELD_INTEGER,
     .offset = FLOW(start_at_ns),
     .argument = "NS",
     .help = "start at this time, nanoseconds since 1970",
     .min = 1,
     .max = INT64_MAX},
    {.name = "latency",
     .letter = 'l',
     .kind = FIELD_BOOL,
     .offset = FLOW(latency),
     .help = "measure from post to completion of signalled messages"},
    {.name = "validate",
     .letter = 'v',
     .kind = FIELD_BOOL,
     .offset = FLOW(validate),
     .help = "send a pattern, check it at the far end"},
    {.name = "flip",
     .kind = FIELD_INTEGER,
     .offset = FLOW(flip),
     .argument = "OFFSET",
     .help = "spoil this byte of what is sent, to see that --validate finds it",
     .min = 0,
     .max = INT64_MAX},
    {.name = "peer_timeout",
     .kind = FIELD_QUANTITY,
     .offset = FLOW(peer_timeout_ns),
     .argument = "TIME",
     .fallback = "\"10s\"",
     .help = "give up when the other side says nothing for this long",
     .unit = UNIT_TIME_NS,
     .min = 100000000,
     .max = 3600 * NS_PER_S},
    LOCAL_OPTIONS,
    {0},
};

const struct table traffic_serve_table = {
    .name = "options", .size = sizeof(struct traffic_options), .fields = serve_fields};
const struct table traffic_drive_table = {
    .name = "options", .size = sizeof(struct traffic_options), .fields = drive_fields};

static void set_unset(int64_t *value, int64_t to)
{
    if (*value == FIELD_UNSET)
        *value = to;
}

void traffic_local_defaults(struct local_options *local)
{
    set_unset(&local->device_port, 0);
    set_unset(&local->gid_index, -1);
    set_unset(&local->numa_node, -1);
}

/* What is chosen elsewhere when it was not given. */
static void set_defaults(struct flow_options *o)
{
    int64_t *const zero[] = {&o->moderation,  &o->service_level, &o->mtu_bytes, &o->rate_bps,
                             &o->duration_ns, &o->count,         &o->warmup_ns, &o->start_at_ns};
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++)
        set_unset(zero[i], 0);
    set_unset(&o->inline_bytes, -1);
    set_unset(&o->dscp, DSCP_UNSET);
    set_unset(&o->traffic_class, -1);
    set_unset(&o->flip, -1);
    traffic_local_defaults(&o->local);
}

/* ---- message sizes */

static int add_size(int64_t size, int64_t *sizes, size_t *count, struct error *e)
{
    if (size < 1 || size > FLOW_MAX_MESSAGE_BYTES)
        return error_set(e, "--message: %" PRId64 " bytes is out of range: expected 1B to 1GiB", size);
    if (*count == TRAFFIC_MAX_SIZES)
        return error_set(e, "--message: more than %d sizes", TRAFFIC_MAX_SIZES);
    sizes[(*count)++] = size;
    return 0;
}

/* One item of the list: a size, or "from..to" in doublings, the last one included when it is not a doubling. */
static int add_sizes(char *item, int64_t *sizes, size_t *count, struct error *e)
{
    char *dots = strstr(item, "..");
    int64_t from, to;
    if (dots)
        *dots = '\0';
    if (units_parse(UNIT_BYTES, item, &from, e) != 0)
        return error_prefix(e, "--message");
    if (!dots)
        return add_size(from, sizes, count, e);
    if (units_parse(UNIT_BYTES, dots + 2, &to, e) != 0)
        return error_prefix(e, "--message");
    if (from < 1 || to < from)
        return error_set(e, "--message %s..%s: expected a range that rises", item, dots + 2);
    for (; from < to; from *= 2)
        if (add_size(from, sizes, count, e) != 0)
            return -1;
    return add_size(to, sizes, count, e);
}

int traffic_sizes(const char *text, int64_t *sizes, size_t *count, struct error *e)
{
    char *copy = strdup(text), *rest = copy, *item;
    int result = copy ? 0 : error_set(e, "out of memory");
    *count = 0;
    while (result == 0 && (item = strsep(&rest, ",")))
        result = add_sizes(item, sizes, count, e);
    free(copy);
    return result;
}

/* ---- from options to plans */

static int traffic_class_of(const struct flow_options *o, int64_t *traffic_class, struct error *e)
{
    bool parts = o->dscp != DSCP_UNSET || o->ecn != ECN_UNSET;
    if (o->traffic_class >= 0 && parts)
        return error_set(e, "--traffic-class says the DSCP and ECN bits already: leave out --dscp and --ecn");
    *traffic_class = o->traffic_class >= 0 ? o->traffic_class : 0;
    if (parts) /* ecn_names[] is in the order of the bits' values */
        *traffic_class = (o->dscp != DSCP_UNSET ? o->dscp * 4 : 0) + (o->ecn != ECN_UNSET ? o->ecn : 0);
    return 0;
}

static int check_mtu(int64_t mtu_bytes, int connection, struct error *e)
{
    if (mtu_bytes && connection == CONNECTION_RDMA)
        return error_set(e, "--mtu: rdma_cm takes the path MTU from the interfaces; use --connection tcp, or "
                            "set the interface's MTU");
    if (mtu_bytes && (mtu_bytes & (mtu_bytes - 1)))
        return error_set(e, "--mtu %" PRId64 ": expected 256, 512, 1024, 2048 or 4096", mtu_bytes);
    return 0;
}

static int check_flow(const struct flow_options *o, struct error *e)
{
    if (o->flip >= 0 && !o->validate)
        return error_set(e, "--flip spoils a byte of --validate's pattern: give both");
    if (o->mode == MODE_LATENCY && o->operation == OP_WRITE && o->validate)
        return error_set(
            e, "--mode ping-pong --op write counts in the last byte of its messages: --validate is for the "
               "others");
    if (o->mode == MODE_LATENCY && o->rate_bps)
        return error_set(e, "--rate is for --mode stream");
    if (o->mode == MODE_LATENCY && o->operation == OP_WRITE &&
        (o->memory != MEMORY_HOST || (o->peer_memory > MEMORY_HOST)))
        return error_set(e, "--mode ping-pong --op write watches memory with the CPU, which cannot see the "
                            "GPU's: use --op write-imm or send");
    return check_mtu(o->mtu_bytes, o->connection, e);
}

#define PING_PONG_INLINE_BYTES 220 /* perftest's default for latencies */

static int make_plan(const struct flow_options *o, struct plan *p, struct error *e)
{
    char reverse[FLOW_MAX_NAME + 20];
    bool ping_pong = o->mode == MODE_LATENCY;
    snprintf(reverse, sizeof reverse, "%.*s-reverse", FLOW_MAX_NAME, o->name);
    *p = (struct plan){
        .flow = strdup(o->name),
        .reverse = strdup(o->reverse ? o->reverse : reverse),
        .operation = o->operation,
        .mode = o->mode,
        .connection = o->connection,
        .memory = o->peer_memory >= 0 ? o->peer_memory : o->memory,
        .pacing = o->pacing,
        .bidirectional = o->bidirectional > 0,
        .validate = o->validate > 0,
        .latency = o->latency > 0 || ping_pong,
        .relaxed_ordering = o->relaxed_ordering > 0,
        .queue_pairs = o->queue_pairs,
        .depth = ping_pong ? 1 : o->depth,
        .receive_depth = o->receive_depth,
        .moderation = o->moderation,
        .inline_bytes = o->inline_bytes >= 0 ? o->inline_bytes
                        : ping_pong          ? PING_PONG_INLINE_BYTES
                                             : 0,
        .post_list = ping_pong ? 1 : o->post_list,
        .slots = o->slots,
        .service_level = o->service_level,
        .mtu_bytes = o->mtu_bytes,
        .ack_timeout = o->ack_timeout,
        .retries = o->retries,
        .rnr_retries = o->rnr_retries,
        .rnr_timer = o->rnr_timer,
        .rate_bps = o->rate_bps,
        .burst = o->burst,
        .interval_ns = o->interval_ns,
        .peer_timeout_ns = o->peer_timeout_ns,
        .flip = o->flip,
    };
    return p->flow && p->reverse ? traffic_class_of(o, &p->traffic_class, e) : error_set(e, "out of memory");
}

static int copy_string(const char *from, const char **to, struct error *e)
{
    *to = from ? strdup(from) : NULL;
    return from && !*to ? error_set(e, "out of memory") : 0;
}

static int make_flow(const struct flow_options *o, struct drive_plan *flow, struct error *e)
{
    *flow = (struct drive_plan){.local = {.device_port = o->local.device_port,
                                          .gid_index = o->local.gid_index,
                                          .gid_type = o->local.gid_type,
                                          .numa_node = o->local.numa_node,
                                          .huge_pages = o->local.huge_pages},
                                .memory = o->memory,
                                .duration_ns = o->duration_ns,
                                .count = o->count,
                                .warmup_ns = o->count ? 0 : o->warmup_ns, /* a count is whole */
                                .start_at_ns = o->start_at_ns};
    if (copy_string(o->local.device, &flow->local.device, e) != 0 ||
        copy_string(o->local.address, &flow->local.address, e) != 0 ||
        copy_string(o->local.gpu, &flow->local.gpu, e) != 0)
        return -1;
    if (check_flow(o, e) != 0 || traffic_sizes(o->message, flow->sizes, &flow->size_count, e) != 0)
        return -1;
    if (flow->size_count > 1 && !o->duration_ns && !o->count)
        return error_set(e, "--message %s: several sizes need --duration or --count for each", o->message);
    if (make_plan(o, &flow->plan, e) != 0)
        return -1;
    for (size_t i = 0; i < flow->size_count; i++)
        if (flow->sizes[i] > flow->plan.max_message_bytes)
            flow->plan.max_message_bytes = flow->sizes[i];
    return plan_table.check(&flow->plan, "", e);
}

/* ---- flows */

#define FLOW_MAX_WORDS 64

/* "name=x op=read" as the words of a command line: "--name=x", "--op=read", so that there is one table of names, ranges
 * and sentences. The words lie in *memory, which the caller frees. */
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

/* What belongs to the process and not to a flow. */
static int check_keys(const json_t *flow, struct error *e)
{
    static const char *const of_process[] = {"port", "output", "while_stdin", "flow"};
    for (size_t i = 0; i < sizeof of_process / sizeof *of_process; i++)
        if (json_object_get(flow, of_process[i]))
            return error_set(e, "port, output, while-stdin and flow are for the whole process");
    return 0;
}

/* A flow from what the options say, and over it what its own words say. */
static int make_from(const json_t *said, const json_t *words, struct drive_plan *flow, struct error *e)
{
    struct traffic_options own;
    json_t *whole = json_copy((json_t *)(uintptr_t)said);
    int result = whole && (!words || json_object_update(whole, (json_t *)(uintptr_t)words) == 0)
                     ? arguments_fill(&traffic_drive_table, whole, &own, e)
                     : error_set(e, "out of memory");
    json_decref(whole);
    if (result != 0)
        return -1;
    set_defaults(&own.flow);
    result = make_flow(&own.flow, flow, e);
    table_free(&traffic_drive_table, &own);
    return result;
}

static int make_named_flow(const json_t *said, const char *text, struct drive_plan *flow, struct error *e)
{
    char flow_word[] = "flow";
    char *argv[FLOW_MAX_WORDS + 1] = {flow_word}, *memory;
    const char **arguments = NULL;
    size_t argument_count = 0;
    int argc = flow_words(text, argv, &memory, e);
    json_t *words =
        argc < 0 ? NULL : arguments_read(&traffic_drive_table, argc, argv, &arguments, &argument_count, e);
    int result = words && check_keys(words, e) == 0 ? make_from(said, words, flow, e) : -1;
    json_decref(words);
    free(arguments);
    free(memory);
    return result == 0 ? 0 : error_prefix(e, "--flow \"%.80s\"", text);
}

void drive_plan_free(struct drive_plan *flow)
{
    table_free(&plan_table, &flow->plan);
    free((void *)(uintptr_t)flow->local.device);
    free((void *)(uintptr_t)flow->local.address);
    free((void *)(uintptr_t)flow->local.gpu);
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

int traffic_flows(const json_t *said, struct drive_plan *flows, size_t *count, struct error *e)
{
    const json_t *named = json_object_get(said, "flow");
    size_t wanted = json_array_size(named);
    *count = 0;
    if (wanted > TRAFFIC_MAX_FLOWS)
        return error_set(e, "%zu flows: at most %d are expected", wanted, TRAFFIC_MAX_FLOWS);
    int result = 0;
    if (wanted == 0)
        result = make_from(said, NULL, &flows[(*count)++], e);
    for (size_t i = 0; result == 0 && i < wanted; i++)
        result = make_named_flow(said, json_string_value(json_array_get(named, i)), &flows[(*count)++], e);
    if (result == 0)
        result = check_names(flows, *count, e);
    if (result != 0)
        while (*count)
            drive_plan_free(&flows[--*count]);
    return result;
}
