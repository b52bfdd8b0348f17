/* The tables of command lines and jobs: names, ranges, defaults and help. docs/roce-traffic.1 */
#include "traffic/job.h"

#include "lib/clock.h"
#include "lib/formats/traffic_tools.h"

const char *const gid_type_names[] = {"roce-v2", "roce-v1", "infiniband", NULL};
static const char *const output_names[] = {"auto", "json", "table", NULL};
/* The two ECN bits after the DSCP, in the order of their values: RFC 3168, section 5. */
static const char *const ecn_names[] = {"not-ect", "ect1", "ect0", "ce", NULL};

#define TEXT_OF_WORD(word) #word
#define TEXT_OF(macro)     TEXT_OF_WORD(macro)

#define MAX_PHASE_NS (INT64_MAX / 4) /* sums of two stay within 63 bits */

/* ---- this host */

#define AT(member) .offset = offsetof(struct local_options, member)
#define DEVICE_OPTIONS                                                                              \
    {                                                                                               \
        "device",           FIELD_STRING,                                                           \
        AT(device),         .letter = 'd',                                                          \
        .argument = "NAME", .help = "Local RDMA device. Default: the one that has the address."},   \
        {"device_port",                                                                             \
         FIELD_INTEGER,                                                                             \
         AT(device_port),                                                                           \
         .min = 0,                                                                                  \
         .max = 255,                                                                                \
         .fallback = "0",                                                                           \
         .help = "Port of the RDMA device; 0: the first active one."},                              \
        {"address", FIELD_STRING, AT(address), .argument = "IP",                                    \
         .help = "Local IP address on the RDMA network. Default: that of the control connection."}, \
        {"gid_index", FIELD_INTEGER, AT(gid_index),                                                 \
         .min = 0,    .max = 65535,  .help = "GID index. Default: chosen by type and address."},    \
        {"gid_type",                                                                                \
         FIELD_CHOICE,                                                                              \
         AT(gid_type),                                                                              \
         .choices = gid_type_names,                                                                 \
         .fallback = "\"roce-v2\"",                                                                 \
         .help = "Type of the GID."},                                                               \
    {                                                                                               \
        "gpu", FIELD_STRING, AT(gpu), .argument = "GPU",                                            \
                                      .help = "Local GPU: number or PCI address. Default: 0."       \
    }
static const struct field local_fields[] = {
    DEVICE_OPTIONS,
    {"numa_node", FIELD_INTEGER, AT(numa_node), .min = 0, .max = 1023,
     .help = "Allocate host memory on this NUMA node."},
    {"huge_pages", FIELD_BOOL, AT(huge_pages), .fallback = "false",
     .help = "Allocate host memory in huge pages."},
    {0},
};
static const struct field device_fields[] = {DEVICE_OPTIONS, {0}};
#undef AT
static const struct table local_table = {.name = "local",
                                         .help = "Local device, address and memory.",
                                         .size = sizeof(struct local_options),
                                         .fields = local_fields};
static const struct table device_table = {.name = "local",
                                          .help = "Local device, address and GPU.",
                                          .size = sizeof(struct local_options),
                                          .fields = device_fields};

/* ---- the process: its output; with drivers, when it ends; with another host, how it is reached */

#define AT(member) .offset = offsetof(struct process_options, member)
#define OUTPUT_OPTION                                                                          \
    {                                                                                          \
        "output", FIELD_CHOICE, AT(output),                                                    \
            .choices = output_names, .fallback = "\"auto\"",                                   \
            .help = "Format of the output. auto: a table on a terminal, otherwise JSON lines." \
    }
#define STDIN_OPTION                                                                            \
    {                                                                                           \
        "while_stdin", FIELD_BOOL, AT(while_stdin),                                             \
            .fallback = "false", .help = "End, as after SIGINT, when standard input is closed." \
    }
static const struct field process_fields[] = {
    {"port", FIELD_INTEGER, AT(port), .min = 0, .max = 65535, .fallback = TEXT_OF(ROCE_TRAFFIC_PORT),
     .letter = 'p', .help = "TCP port of the control connection. 0, only for a server: any free port."},
    OUTPUT_OPTION,
    STDIN_OPTION,
    {"secret_file", FIELD_STRING, AT(secret_file), .argument = "FILE",
     .help = "The first line of this file (- for standard input) is a secret that both sides must know."},
    {0},
};
static const struct field alone_fields[] = {OUTPUT_OPTION, STDIN_OPTION, {0}};
static const struct field output_fields[] = {OUTPUT_OPTION, {0}};
#undef AT
#define PROCESS_TABLE(help_, fields_)                                                                   \
    {                                                                                                   \
        .name = "process", .help = (help_), .size = sizeof(struct process_options), .fields = (fields_) \
    }
static const struct table process_table = PROCESS_TABLE("Control connection and output.", process_fields),
                          alone_table = PROCESS_TABLE("Output, and when it ends.", alone_fields),
                          output_table = PROCESS_TABLE("Output.", output_fields);

/* ---- serve */

#define AT(member) .offset = offsetof(struct serve_options, member)
static const struct field serve_fields[] = {
    {"listen", FIELD_STRING, AT(listen), .argument = "IP",
     .help = "Listen only on this address; :: and 0.0.0.0 are all addresses. Default: with a secret all "
             "addresses, without one only loopback (127.0.0.1)."},
    {"max_memory", FIELD_QUANTITY, AT(max_memory_bytes), .unit = UNIT_BYTES, .min = 1 << 20, .max = INT64_MAX,
     .help = "Memory that the flows of all drivers may take together. Default: half of this "
             "host's memory."},
    {"once", FIELD_BOOL, AT(once), .fallback = "false",
     .help = "End after the first client has disconnected."},
    {"process", FIELD_OBJECT, AT(process), .sub = &process_table, .help = "Control connection and output."},
    {"local", FIELD_OBJECT, AT(local), .sub = &local_table, .help = "Local device, address and memory."},
    {0},
};
#undef AT
const struct table serve_table = {
    .name = "serve", .help = "A server.", .size = sizeof(struct serve_options), .fields = serve_fields};

#define AT(member) .offset = offsetof(struct serve_options, member)
static const struct field routes_fields[] = {
    {"process", FIELD_OBJECT, AT(process), .sub = &output_table, .help = "Output."},
    {"local", FIELD_OBJECT, AT(local), .sub = &device_table, .help = "Local device, address and GPU."},
    {0},
};
#undef AT
const struct table routes_table = {.name = "routes",
                                   .help = "Which routes to try.",
                                   .size = sizeof(struct serve_options),
                                   .fields = routes_fields};

/* ---- a flow */

#define AT(member) .offset = offsetof(struct job_flow, member)
static const struct field flow_fields[] = {
    {"name", FIELD_STRING, AT(load.name), .fallback = "\"flow\"", .help = "Name of the flow in the output."},
    {"reverse", FIELD_STRING, AT(reverse), .argument = "NAME",
     .help = "Name of the other direction of a bidirectional flow. Default: NAME-reverse."},
    FLOW_KIND_FIELDS(offsetof(struct job_flow, load)),
    {"message", FIELD_STRING, AT(message), .fallback = FLOW_MESSAGE_DEFAULT, .letter = 's',
     .argument = "SIZES", .help = "Message size, a list (2B,1KiB) or a doubling range (2B..8MiB)."},
    FLOW_LOAD_FIELDS(offsetof(struct job_flow, load)),
    {"bidirectional", FIELD_BOOL, AT(bidirectional), .fallback = "false", .letter = 'b',
     .help = "The server also sends, on the same queue pairs."},
    {"receive_depth", FIELD_INTEGER, AT(receive_depth), .min = 1, .max = FLOW_MAX_DEPTH, .fallback = "512",
     .help = "Number of receives posted on each queue pair."},
    {"moderation", FIELD_INTEGER, AT(moderation), .min = 0, .max = FLOW_MAX_DEPTH, .fallback = "0",
     .help = "Signal the completion of every Nth message; 0: automatic. The automatic value is about 64 for "
             "messages up to 8 KiB, and 1 for larger messages."},
    {"post_list", FIELD_INTEGER, AT(post_list), .min = 1, .max = FLOW_MAX_DEPTH, .fallback = "1",
     .help = "Number of work requests posted with one doorbell."},
    {"inline", FIELD_QUANTITY, AT(inline_bytes), .unit = UNIT_BYTES, .min = 0, .max = PLAN_MAX_INLINE_BYTES,
     .help = "Send messages up to this size inline. Default: 220B with mode latency, otherwise 0B."},
    {"slots", FIELD_INTEGER, AT(slots), .min = 1, .max = PLAN_MAX_SLOTS, .fallback = "1",
     .help = "Number of message buffers that each queue pair uses in turn."},
    {"connection", FIELD_CHOICE, AT(connection), .choices = connection_names, .fallback = "\"tcp\"",
     .letter = 'c',
     .help = "How queue pairs are connected. tcp: over the control connection; rdma: by rdma_cm."},
    {"peer_memory", FIELD_CHOICE, AT(peer_memory), .choices = flow_memory_names,
     .help = "Memory of the server's buffers. Default: the same as memory."},
    {"peer_gpu", FIELD_INTEGER, AT(peer_gpu), .min = 0, .max = 63,
     .help =
         "Number of the GPU whose memory the server's buffers are in. Default: that of the server's --gpu."},
    {"dscp", FIELD_INTEGER, AT(dscp), .min = 0, .max = 63,
     .help = "Differentiated services code point (DSCP) of the packets; an alternative to traffic_class."},
    {"ecn", FIELD_CHOICE, AT(ecn), .choices = ecn_names,
     .help = "ECN bits of the packets; an alternative to traffic_class."},
    {"service_level", FIELD_INTEGER, AT(service_level), .min = 0, .max = PLAN_MAX_SERVICE_LEVEL,
     .help = "Service level: the priority on a VLAN. Default: the flow's priority."},
    {"mtu", FIELD_INTEGER, AT(mtu_bytes), .min = 256, .max = PLAN_MAX_MTU_BYTES, .argument = "BYTES",
     .help = "Path MTU: 256, 512, 1024, 2048 or 4096. Default: the smaller of the active MTUs of both ends."},
    {"ack_timeout", FIELD_INTEGER, AT(ack_timeout), .min = 0, .max = PLAN_MAX_TIMER, .fallback = "14",
     .help = "Local ACK timeout: 4.096 us times 2 to the power of N."},
    {"retries", FIELD_INTEGER, AT(retries), .min = 0, .max = PLAN_MAX_RETRIES, .fallback = "7",
     .help = "Number of transport retries."},
    {"rnr_retries", FIELD_INTEGER, AT(rnr_retries), .min = 0, .max = PLAN_MAX_RETRIES, .fallback = "7",
     .help = "Number of retries when the receiver is not ready; 7: unlimited."},
    {"rnr_timer", FIELD_INTEGER, AT(rnr_timer), .min = 0, .max = PLAN_MAX_TIMER, .fallback = "12",
     .help = "Code of the minimum RNR NAK timer; 12 means 0.64 ms."},
    {"burst", FIELD_INTEGER, AT(burst), .min = 1, .max = FLOW_MAX_DEPTH, .fallback = "1",
     .help = "Size of a burst under a rate limit, in messages."},
    {"pacing", FIELD_CHOICE, AT(pacing), .choices = pacing_names, .fallback = "\"auto\"",
     .help = "How a rate limit is kept. auto: in hardware if the device supports it, otherwise in software."},
    {"duration", FIELD_QUANTITY, AT(duration_ns), .unit = UNIT_TIME_NS, .min = 1000000, .max = MAX_PHASE_NS,
     .letter = 'D', .help = "Duration of the measurement; with a count, its maximum."},
    {"count", FIELD_INTEGER, AT(count), .min = 1, .max = INT64_MAX, .letter = 'n',
     .help = "Send this many messages of each size, without warm-up. Without count, size and duration the "
             "flow runs until it is stopped."},
    {"warmup", FIELD_QUANTITY, AT(warmup_ns), .unit = UNIT_TIME_NS, .min = 0, .max = MAX_PHASE_NS,
     .fallback = "\"0\"", .help = "Send for this long before measuring."},
    {"interval", FIELD_QUANTITY, AT(interval_ns), .unit = UNIT_TIME_NS, .min = PLAN_MIN_INTERVAL_NS,
     .max = PLAN_MAX_WAIT_NS, .fallback = "\"1s\"", .letter = 'i', .help = "Time between interval lines."},
    {"start_at", FIELD_INTEGER, AT(start_at_ns), .min = 1, .max = INT64_MAX, .argument = "NS",
     .help = "Start at this time, in nanoseconds since 1970. Default: immediately."},
    {"start", FIELD_QUANTITY, AT(load.start_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .fallback = "\"0\"",
     .help =
         "Send the first message this long after the start of the process's flows. Without a count, warm-up "
         "and measurement begin at the common start all the same."},
    {"stop", FIELD_QUANTITY, AT(load.stop_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .help = "Send no message later than this after the start of the process's flows. Default: to the end."},
    {"latency", FIELD_BOOL, AT(latency), .fallback = "false", .letter = 'l',
     .help = "Measure the time from post to completion of signalled messages."},
    {"flip", FIELD_INTEGER, AT(flip), .min = 0, .max = INT64_MAX, .argument = "OFFSET",
     .help = "Corrupt this byte of the sent data, to test that validate finds it."},
    {"peer_timeout", FIELD_QUANTITY, AT(peer_timeout_ns), .unit = UNIT_TIME_NS, .min = PLAN_MIN_TIMEOUT_NS,
     .max = PLAN_MAX_WAIT_NS, .fallback = "\"10s\"",
     .help = "Give up if the other side sends nothing for this long."},
    {"local", FIELD_OBJECT, AT(local), .sub = &local_table, .help = "Local device, address and memory."},
    /* members of a scenario's flow that a job may contain too */
    {"from", FIELD_STRING, AT(load.from)},
    {"to", FIELD_STRING, AT(load.to)},
    {"tool", FIELD_CHOICE, AT(load.tool), .choices = flow_tool_names},
    {0},
};
#undef AT
const struct table job_flow_table = {
    .name = "flow", .help = "A flow.", .size = sizeof(struct job_flow), .fields = flow_fields};

/* ---- a job */

#define AT(member) .offset = offsetof(struct job, member)
#define JOB_OPTIONS(process_table_)                                                                         \
    {"job",                                                                                                 \
     FIELD_STRING,                                                                                          \
     AT(file),                                                                                              \
     .letter = 'j',                                                                                         \
     .argument = "FILE",                                                                                    \
     .help = "Read the job from this document (- for standard input). The other options override it."},     \
        {"flow",                                                                                            \
         FIELD_LIST,                                                                                        \
         AT(written),                                                                                       \
         .item = FIELD_STRING,                                                                              \
         .min = 0,                                                                                          \
         .max = FLOW_MAX_TOGETHER,                                                                          \
         .letter = 'f',                                                                                     \
         .argument = "\"KEY=VALUE ...\"",                                                                   \
         .help = "Add a flow; these values override the other options. May be given several times."},       \
        {"process", FIELD_OBJECT, AT(process), .sub = &(process_table_),                                    \
         .help = "Control connection and output."},                                                         \
        {"await_start", FIELD_BOOL, AT(await_start), .fallback = "false",                                   \
         .help =                                                                                            \
             "When all flows are connected, print a ready event; start at the time that the next line of "  \
             "standard input gives, in nanoseconds since 1970. A job on standard input is then one line."}, \
    {                                                                                                       \
        "common", FIELD_OBJECT, AT(common), .sub = &job_flow_table, .help = "Options of all flows."         \
    }
static const struct field job_fields[] = {
    JOB_OPTIONS(process_table),
    /* only in documents */
    {"schema", FIELD_INTEGER, AT(schema), .min = 0, .max = 1, .fallback = "1"},
    {"host", FIELD_STRING, AT(host)},
    {"flows", FIELD_JSON, AT(flows)},
    {0},
};
static const struct field loop_fields[] = {JOB_OPTIONS(alone_table), {0}};
#undef AT
const struct table job_table = {
    .name = "job", .help = "What a client does.", .size = sizeof(struct job), .fields = job_fields};
const struct table loop_table = {
    .name = "job", .help = "What both ends do.", .size = sizeof(struct job), .fields = loop_fields};
