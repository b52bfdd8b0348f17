/* The tables of command lines and jobs: names, ranges, defaults and help. docs/roce-traffic.1 */
#include "traffic/job.h"

#include "lib/clock.h"

const char *const gid_type_names[] = {"roce-v2", "roce-v1", "infiniband", NULL};
static const char *const output_names[] = {"auto", "json", "table", NULL};
/* The two bits beside the DSCP, in the order of their values: RFC 3168, section 5. */
static const char *const ecn_names[] = {"not-ect", "ect1", "ect0", "ce", NULL};

#define MAX_PHASE_NS (INT64_MAX / 4) /* sums of two stay within 63 bits */

/* ---- this host */

#define AT(member) .offset = offsetof(struct local_options, member)
static const struct field local_fields[] = {
    {"device", FIELD_STRING, AT(device), .letter = 'd', .argument = "NAME",
     .help = "RDMA device here; unset: the one that has the address."},
    {"device_port", FIELD_INTEGER, AT(device_port), .min = 0, .max = 255, .fallback = "0",
     .help = "Its port; 0: the first active one."},
    {"address", FIELD_STRING, AT(address), .argument = "IP",
     .help = "IP address here on the RDMA network; unset: that of the control connection."},
    {"gid_index", FIELD_INTEGER, AT(gid_index), .min = 0, .max = 65535,
     .help = "GID index; unset: chosen by type and address."},
    {"gid_type", FIELD_CHOICE, AT(gid_type), .choices = gid_type_names, .fallback = "\"roce-v2\"",
     .help = "Type of the GID."},
    {"gpu", FIELD_STRING, AT(gpu), .argument = "GPU",
     .help = "GPU here, by number or PCI address; unset: 0."},
    {"numa_node", FIELD_INTEGER, AT(numa_node), .min = 0, .max = 1023,
     .help = "Take host memory from this NUMA node."},
    {"huge_pages", FIELD_BOOL, AT(huge_pages), .fallback = "false",
     .help = "Take host memory from huge pages."},
    {0},
};
#undef AT
static const struct table local_table = {.name = "local",
                                         .help = "Device, address and memory of this host.",
                                         .size = sizeof(struct local_options),
                                         .fields = local_fields};

/* ---- the process */

#define AT(member) .offset = offsetof(struct process_options, member)
static const struct field process_fields[] = {
    {"port", FIELD_INTEGER, AT(port), .min = 0, .max = 65535, .fallback = "18525", .letter = 'p',
     .help = "TCP port of the control connection; 0, for a server: a free one."},
    {"output", FIELD_CHOICE, AT(output), .choices = output_names, .fallback = "\"auto\"",
     .help = "JSON lines, a table, or auto: a table on a terminal, else JSON lines."},
    {"while_stdin", FIELD_BOOL, AT(while_stdin), .fallback = "false",
     .help = "End, as by SIGINT, when standard input is closed."},
    {0},
};
#undef AT
static const struct table process_table = {.name = "process",
                                           .help = "The control connection and what is printed.",
                                           .size = sizeof(struct process_options),
                                           .fields = process_fields};

/* ---- serve */

#define AT(member) .offset = offsetof(struct serve_options, member)
static const struct field serve_fields[] = {
    {"listen", FIELD_STRING, AT(listen), .argument = "IP",
     .help = "Listen on this address only; unset: on all."},
    {"once", FIELD_BOOL, AT(once), .fallback = "false", .help = "End after the first driver has gone."},
    {"process", FIELD_OBJECT, AT(process), .sub = &process_table, .help = "The process."},
    {"local", FIELD_OBJECT, AT(local), .sub = &local_table, .help = "This host."},
    {0},
};
#undef AT
const struct table serve_table = {
    .name = "serve", .help = "A server.", .size = sizeof(struct serve_options), .fields = serve_fields};

/* ---- a flow */

#define AT(member) .offset = offsetof(struct job_flow, member)
static const struct field flow_fields[] = {
    {"name", FIELD_STRING, AT(load.name), .fallback = "\"flow\"",
     .help = "Name of the flow in the lines printed."},
    {"reverse", FIELD_STRING, AT(reverse), .argument = "NAME",
     .help = "Name of the other direction; unset: NAME-reverse."},
    FLOW_KIND_FIELDS(offsetof(struct job_flow, load)),
    {"message", FIELD_STRING, AT(message), .fallback = FLOW_MESSAGE_DEFAULT, .letter = 's',
     .argument = "SIZES", .help = "Message size, a list 2B,1KiB, or a doubling sweep 2B..8MiB."},
    FLOW_LOAD_FIELDS(offsetof(struct job_flow, load)),
    {"bidirectional", FIELD_BOOL, AT(bidirectional), .fallback = "false", .letter = 'b',
     .help = "The server sends as well, on the same queue pairs."},
    {"receive_depth", FIELD_INTEGER, AT(receive_depth), .min = 1, .max = FLOW_MAX_DEPTH, .fallback = "512",
     .help = "Receives posted on a queue pair."},
    {"moderation", FIELD_INTEGER, AT(moderation), .min = 0, .max = FLOW_MAX_DEPTH, .fallback = "0",
     .help = "Signal every Nth completion; 0: about every 64th up to 8 KiB, each above."},
    {"post_list", FIELD_INTEGER, AT(post_list), .min = 1, .max = FLOW_MAX_DEPTH, .fallback = "1",
     .help = "Work requests posted with one doorbell."},
    {"inline", FIELD_QUANTITY, AT(inline_bytes), .unit = UNIT_BYTES, .min = 0, .max = PLAN_MAX_INLINE_BYTES,
     .help = "Send messages up to this size inline; unset: 0B, with mode latency 220B."},
    {"slots", FIELD_INTEGER, AT(slots), .min = 1, .max = PLAN_MAX_SLOTS, .fallback = "1",
     .help = "Message buffers that a queue pair cycles through."},
    {"relaxed_ordering", FIELD_BOOL, AT(relaxed_ordering), .fallback = "false",
     .help = "Let the PCIe fabric reorder the NIC's writes."},
    {"connection", FIELD_CHOICE, AT(connection), .choices = connection_names, .fallback = "\"tcp\"",
     .letter = 'c', .help = "Exchange queue pairs over the control connection, or connect by rdma_cm."},
    {"peer_memory", FIELD_CHOICE, AT(peer_memory), .choices = flow_memory_names,
     .help = "The server's memory; unset: as memory."},
    {"dscp", FIELD_INTEGER, AT(dscp), .min = 0, .max = 63,
     .help = "Differentiated services code point; for traffic_class."},
    {"ecn", FIELD_CHOICE, AT(ecn), .choices = ecn_names, .help = "ECN bits; for traffic_class."},
    {"service_level", FIELD_INTEGER, AT(service_level), .min = 0, .max = PLAN_MAX_SERVICE_LEVEL,
     .help = "Service level: the priority on a VLAN; unset: the priority."},
    {"mtu", FIELD_INTEGER, AT(mtu_bytes), .min = 256, .max = PLAN_MAX_MTU_BYTES, .argument = "BYTES",
     .help = "Path MTU: 256, 512, 1024, 2048 or 4096; unset: the smaller active one."},
    {"ack_timeout", FIELD_INTEGER, AT(ack_timeout), .min = 0, .max = PLAN_MAX_TIMER, .fallback = "14",
     .help = "Local ACK timeout, 4.096 us times 2 to the N."},
    {"retries", FIELD_INTEGER, AT(retries), .min = 0, .max = PLAN_MAX_RETRIES, .fallback = "7",
     .help = "Transport retries."},
    {"rnr_retries", FIELD_INTEGER, AT(rnr_retries), .min = 0, .max = PLAN_MAX_RETRIES, .fallback = "7",
     .help = "Retries when the receiver is not ready; 7: without end."},
    {"rnr_timer", FIELD_INTEGER, AT(rnr_timer), .min = 0, .max = PLAN_MAX_TIMER, .fallback = "12",
     .help = "Minimum RNR NAK timer code; 12: 0.64 ms."},
    {"burst", FIELD_INTEGER, AT(burst), .min = 1, .max = FLOW_MAX_DEPTH, .fallback = "1",
     .help = "Messages that may go at once under a rate."},
    {"pacing", FIELD_CHOICE, AT(pacing), .choices = pacing_names, .fallback = "\"auto\"",
     .help = "Pace in hardware where the device can, in hardware only, or in software."},
    {"duration", FIELD_QUANTITY, AT(duration_ns), .unit = UNIT_TIME_NS, .min = 1000000, .max = MAX_PHASE_NS,
     .letter = 'D', .help = "Measure for this long; with a count at most."},
    {"count", FIELD_INTEGER, AT(count), .min = 1, .max = INT64_MAX, .letter = 'n',
     .help = "Send this many messages of each size, without warm-up; neither count, size nor duration: until "
             "told to stop."},
    {"warmup", FIELD_QUANTITY, AT(warmup_ns), .unit = UNIT_TIME_NS, .min = 0, .max = MAX_PHASE_NS,
     .fallback = "\"0\"", .help = "Send for this long before measuring."},
    {"interval", FIELD_QUANTITY, AT(interval_ns), .unit = UNIT_TIME_NS, .min = PLAN_MIN_INTERVAL_NS,
     .max = PLAN_MAX_WAIT_NS, .fallback = "\"1s\"", .letter = 'i', .help = "Time between two lines."},
    {"start_at", FIELD_INTEGER, AT(start_at_ns), .min = 1, .max = INT64_MAX, .argument = "NS",
     .help = "Start at this time, nanoseconds since 1970; unset: at once."},
    {"latency", FIELD_BOOL, AT(latency), .fallback = "false", .letter = 'l',
     .help = "Measure from post to completion of signalled messages."},
    {"flip", FIELD_INTEGER, AT(flip), .min = 0, .max = INT64_MAX, .argument = "OFFSET",
     .help = "Change this byte of what is sent, to see that validate finds it."},
    {"peer_timeout", FIELD_QUANTITY, AT(peer_timeout_ns), .unit = UNIT_TIME_NS, .min = PLAN_MIN_TIMEOUT_NS,
     .max = PLAN_MAX_WAIT_NS, .fallback = "\"10s\"",
     .help = "Give up when the other side says nothing for this long."},
    {"local", FIELD_OBJECT, AT(local), .sub = &local_table, .help = "This host."},
    /* a scenario's flow may stand here as it is */
    {"from", FIELD_STRING, AT(load.from)},
    {"to", FIELD_STRING, AT(load.to)},
    {"tool", FIELD_CHOICE, AT(load.tool), .choices = flow_tool_names},
    {"start", FIELD_QUANTITY, AT(load.start_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .fallback = "\"0\""},
    {"stop", FIELD_QUANTITY, AT(load.stop_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS},
    {0},
};
#undef AT
const struct table job_flow_table = {
    .name = "flow", .help = "A flow.", .size = sizeof(struct job_flow), .fields = flow_fields};

/* ---- a job */

#define AT(member) .offset = offsetof(struct job, member)
static const struct field job_fields[] = {
    {"job", FIELD_STRING, AT(file), .letter = 'j', .argument = "FILE",
     .help = "Take the job from this document, with the other options over it; - is standard input."},
    {"flow", FIELD_LIST, AT(written), .item = FIELD_STRING, .min = 0, .max = FLOW_MAX_TOGETHER, .letter = 'f',
     .argument = "\"KEY=VALUE ...\"",
     .help = "A flow of its own, with these values over the other options'; several may be given."},
    {"process", FIELD_OBJECT, AT(process), .sub = &process_table, .help = "The process."},
    {"common", FIELD_OBJECT, AT(common), .sub = &job_flow_table, .help = "What all flows have in common."},
    /* of documents */
    {"schema", FIELD_INTEGER, AT(schema), .min = 0, .max = 1, .fallback = "1"},
    {"host", FIELD_STRING, AT(host)},
    {"flows", FIELD_JSON, AT(flows)},
    {0},
};
#undef AT
const struct table job_table = {
    .name = "job", .help = "What a driver does.", .size = sizeof(struct job), .fields = job_fields};
