#include "reports/export/tables.h"

#define INTEGER(name, unit, meaning, key)        \
    {                                            \
        name, EXPORT_INTEGER, unit, meaning, key \
    }
#define REAL(name, unit, meaning, key)        \
    {                                         \
        name, EXPORT_REAL, unit, meaning, key \
    }
#define TEXT(name, meaning, key)            \
    {                                       \
        name, EXPORT_TEXT, "", meaning, key \
    }
#define ANY(name, meaning)                  \
    {                                       \
        name, EXPORT_ANY, "", meaning, NULL \
    }
#define RUN  INTEGER("run", "", "the run, a row of the table runs", NULL)
#define HOST TEXT("host", "role", NULL)
#define END \
    {       \
        0   \
    }

/* The columns of a distribution of `what`: `suffix` ends their names, `unit` is what the column's unit is. */
#define DISTRIBUTION(of, suffix, unit, what, key)                                 \
    INTEGER(of "_count", "", "how many values there are: " what, key ".count"),   \
        REAL(of "_min" suffix, unit, "the smallest: " what, key ".min"),          \
        REAL(of "_mean" suffix, unit, "mean: " what, key ".mean"),                \
        REAL(of "_p50" suffix, unit, "median: " what, key ".p50"),                \
        REAL(of "_p90" suffix, unit, "90th percentile: " what, key ".p90"),       \
        REAL(of "_p99" suffix, unit, "99th percentile: " what, key ".p99"),       \
        REAL(of "_p99_9" suffix, unit, "99.9th percentile: " what, key ".p99_9"), \
        REAL(of "_max" suffix, unit, "the largest: " what, key ".max")

static const struct export_column runs[] = {
    RUN,
    TEXT("result", "the folder that was named", NULL),
    TEXT("folder", "the run's folder in it; empty: the result is the run", NULL),
    TEXT("scenario", "its name", "scenario.name"),
    TEXT("title", "of the scenario", "scenario.title"),
    TEXT("lab", "the lab's name", "lab.name"),
    TEXT("driver", "kind of lab: sim, libvirt, ssh", "lab.driver"),
    TEXT("origin", "simulated, virtual, measured or mixed", NULL),
    TEXT("varied", "the choices of the sweep's cell, for people", NULL),
    INTEGER("repeat", "", "which repetition, from 1", "repeat"),
    INTEGER("seed", "", "of the run: what is drawn at random follows from it", "seed"),
    INTEGER("complete", "", "0: the figures cover only the part that ran", "complete"),
    TEXT("verdict", "passed, failed, skipped, unjudged or incomplete; with what the end of its sweep judged",
         NULL),
    TEXT("reason", "why it is incomplete, or which expectation the end of its sweep judged so", NULL),
    TEXT("started", "UTC", "started"),
    TEXT("finished", "UTC", "finished"),
    TEXT("version", "of harness", "version"),
    TEXT("build", "of that version", "build"),
    TEXT("scenario_file", "where the scenario was read", "scenario_file"),
    TEXT("lab_file", "where the lab was read", "lab_file"),
    INTEGER("measure_start_ns", "ns", "the measure phase, on the clock of the samples", NULL),
    INTEGER("measure_end_ns", "ns", "end of the measure phase, on the clock of the samples", NULL),
    REAL("goodput_bps", "b/s", "payload of all flows; each byte is counted once", NULL),
    REAL("delivered_bps", "b/s",
         "of simulated flows: payload that arrived, whether its messages completed or not", NULL),
    REAL("line_scale", "",
         "virtual NICs only: how many times slower the line is than the driver takes it for", "scaled.scale"),
    INTEGER("simulated_events", "", "of a simulated lab", "simulator.events"),
    INTEGER("simulated_wall_ns", "ns", "how long the simulator took", "simulator.wall_ns"),
    END};

static const struct export_column choices[] = {
    RUN,
    TEXT("path", "what the sweep varied: flows.*.message", NULL),
    ANY("value", "as in the scenario: 64KiB"),
    REAL("number", "", "the same as a number, in \"unit\"; empty: words", NULL),
    TEXT("unit", "bytes, ns, b/s, mm, %; empty: a plain number", NULL),
    END};

static const struct export_column phases[] = {
    RUN, TEXT("phase", "warmup, measure, cooldown", "name"),
    INTEGER("start_ns", "ns", "on the clock of the samples", "start_ns"),
    INTEGER("end_ns", "ns", "on the clock of the samples", "end_ns"), END};

static const struct export_column hosts[] = {
    RUN,
    HOST,
    TEXT("name", "the host's name in the lab", "name"),
    TEXT("machine", "that it is a NIC of, where the lab's host has several", "machine"),
    TEXT("address", "of its interface", "address"),
    TEXT("origin", "simulated, virtual or measured", "origin"),
    INTEGER("listed", "", "0: it has no samples, and only the counters that expectations read", NULL),
    INTEGER("clock_offset_ns", "ns", "its clock minus the controller's, already subtracted",
            "clock.offset_ns"),
    INTEGER("clock_error_ns", "ns", "bound of the error", "clock.error_ns"),
    INTEGER("samples", "", "how many it has", "sampling.samples"),
    INTEGER("overruns", "", "samples that were skipped", "sampling.overruns"),
    REAL("read_ns_mean", "ns", "how long reading a sample took", "sampling.read_ns_mean"),
    REAL("read_ns_max", "ns", "the longest time that reading a sample took", "sampling.read_ns_max"),
    END};

static const struct export_column counters[] = {
    RUN,
    HOST,
    TEXT("counter", "its name, as harness list counters has it", NULL),
    TEXT("unit", "of the values", "unit"),
    TEXT("kind", "counter or gauge", "kind"),
    TEXT("source", "what it was read from", "source"),
    TEXT("counter_group", "its group in docs/counters.md", "group"),
    INTEGER("delta", "", "increase in the measure phase", "delta"),
    REAL("rate_per_s", "", "delta over duration_ns", "rate_per_s"),
    INTEGER("first_value", "", "at the first sample of the measure phase", "first"),
    INTEGER("last_value", "", "at the last sample of the measure phase", "last"),
    INTEGER("total", "", "increase from the run's first sample to its last", "total"),
    INTEGER("duration_ns", "ns", "between the samples of first_value and last_value", "duration_ns"),
    INTEGER("min", "", "of a gauge", "min"),
    REAL("mean", "", "of a gauge in the measure phase", "mean"),
    REAL("p50", "", "median of a gauge in the measure phase", "p50"),
    REAL("p90", "", "90th percentile of a gauge in the measure phase", "p90"),
    REAL("p99", "", "99th percentile of a gauge in the measure phase", "p99"),
    REAL("p99_9", "", "99.9th percentile of a gauge in the measure phase", "p99_9"),
    INTEGER("max", "", "of a gauge in the measure phase", "max"),
    END};

static const struct export_column totals[] = {
    RUN,
    TEXT("counter", "of all roles together, where not all are listed", NULL),
    TEXT("unit", "of the values", "unit"),
    TEXT("kind", "counter or gauge", "kind"),
    TEXT("source", "what it was read from", "source"),
    TEXT("counter_group", "its group in docs/counters.md", "group"),
    INTEGER("delta", "", "increase in the measure phase, all roles together", "delta"),
    REAL("rate_per_s", "", "delta per second, all roles together", "rate_per_s"),
    INTEGER("total", "", "increase from the run's first sample to its last, all roles together", "total"),
    TEXT("most_host", "role whose counter increased most", "most.role"),
    INTEGER("most_delta", "", "that role's increase in the measure phase", "most.delta"),
    END};

static const struct export_column flows[] = {
    RUN,
    TEXT("flow", "its name; NAME/0, NAME/1, ... are the single flows of a pattern", NULL),
    INTEGER("parts", "", "flows of a pattern that have a row of their own: leave its row out of sums then",
            NULL),
    TEXT("from_host", "role", "from"),
    TEXT("to_host", "role", "to"),
    TEXT("op", "operation: write, write-imm, read, send", "op"),
    TEXT("memory", "where the payload lies", "memory"),
    TEXT("memory_route", "the route to GPU memory that worked", "memory_used.route"),
    INTEGER("priority", "", "of its packets, 0 to 7", "priority"),
    INTEGER("queue_pairs", "", "how many it has", "queue_pairs"),
    INTEGER("message_bytes", "bytes", "payload of a message", "message_bytes"),
    INTEGER("bytes", "bytes",
            "payload whose completion the sender saw: in the measure phase, of a flow with an end in all",
            "bytes"),
    INTEGER("messages", "", "completed ones, counted as bytes are", "messages"),
    INTEGER("duration_ns", "ns", "the time that the rates are over: of a flow that ended its own",
            "duration_ns"),
    INTEGER("phase_bytes", "bytes", "of a simulated flow with an end: in the measure phase", "phase.bytes"),
    REAL("goodput_bps", "b/s", "bytes over duration_ns", "goodput_bps"),
    REAL("goodput_MiBps", "MiB/s", "the same in MiB/s", "goodput_MiBps"),
    REAL("messages_per_s", "/s", "messages over duration_ns", "messages_per_s"),
    INTEGER("errors", "", "work requests that completed with an error", "errors"),
    TEXT("error", "why the flow gave up", "error"),
    TEXT("completion_status", "of its first work request that failed: IBV_WC_... (docs/errors.md)",
         "completion.status"),
    INTEGER("vendor_error", "", "beside it, of mlx5 NICs", "completion.vendor_error"),
    INTEGER("silent_ns", "ns", "for how long at least no message had been completed then",
            "completion.silent_ns"),
    INTEGER("complete", "", "0: it ended early, and the figures cover only the part that ran", "complete"),
    INTEGER("delivered_bytes", "bytes", "simulated flows: payload that arrived in order", "delivered_bytes"),
    REAL("delivered_bps", "b/s", "as a rate over the measure phase", "delivered_bps"),
    INTEGER("marked_packets", "packets", "that arrived with CE", "marked_packets"),
    INTEGER("decreases", "", "of the reaction point's rate", "decreases"),
    INTEGER("increases", "", "of the reaction point's rate", "increases"),
    INTEGER("retransmitted_packets", "packets", "packets that were sent again: data, and requests of reads",
            "retransmitted_packets"),
    REAL("begin_ns", "ns", "of a simulated flow that ended, since the beginning of the run",
         "completion_ns.begin"),
    REAL("end_ns", "ns", "of such a flow, since the beginning of the run", "completion_ns.end"),
    INTEGER("flows_started", "", "of a pattern, in the measure phase or later; all, if none did then",
            "flows.started"),
    INTEGER("flows_finished", "", "of these", "flows.finished"),
    INTEGER("flows_earlier", "", "that began before the measure phase, and are not counted", "flows.earlier"),
    DISTRIBUTION("latency", "_ns", "ns", "from posting a message to its completion", "latency_ns"),
    DISTRIBUTION(
        "slowdown", "", "",
        "a flow's completion time, divided by the time that links and switches alone need on an empty "
        "network: that of NICs, PCI Express and programs counts as slowdown",
        "slowdown"),
    DISTRIBUTION("completion", "_ns", "ns", "how long a flow took until its last message was complete",
                 "completion_ns"),
    END};

static const struct export_column intervals[] = {
    RUN,
    TEXT("flow", "its name, as in the table flows", "flow"),
    INTEGER("time_ns", "ns", "end of the interval", "time_ns"),
    INTEGER("duration_ns", "ns", "length of the interval", "duration_ns"),
    INTEGER("bytes", "bytes", "payload", "bytes"),
    INTEGER("messages", "", "that completed in the interval", "messages"),
    REAL("goodput_bps", "b/s", "bytes over duration_ns", "goodput_bps"),
    INTEGER("errors", "", "work requests that completed with an error in the interval", "errors"),
    DISTRIBUTION("latency", "_ns", "ns", "from posting a message to its completion", "latency_ns"),
    END};

static const struct export_column pauses[] = {
    RUN,
    TEXT("host", "role whose sending was stopped, or SWITCH:PORT", NULL),
    INTEGER("priority", "", "that was stopped, 0 to 7", NULL),
    INTEGER("start_ns", "ns", "on the clock of the samples", NULL),
    INTEGER("duration_ns", "ns", "how long sending was stopped", NULL),
    INTEGER("lasts", "", "1: it had not ended when the run did", NULL),
    END};

static const struct export_column series[] = {
    INTEGER("series", "", "a counter of a host in a run", NULL),
    RUN,
    HOST,
    TEXT("counter", "its name, as harness list counters has it", NULL),
    TEXT("unit", "of its samples", NULL),
    TEXT("kind", "counter or gauge", NULL),
    TEXT("source", "what it was read from", NULL),
    TEXT("counter_group", "its group in docs/counters.md", NULL),
    INTEGER("samples", "", "that the run has", NULL),
    INTEGER("constant", "",
            "1: all samples have the same value, and the table "
            "samples has the first and the last of them",
            NULL),
    END};

static const struct export_column samples[] = {
    RUN,
    HOST,
    TEXT("counter", "its name, as harness list counters has it", NULL),
    INTEGER("time_ns", "ns", "when reading began, on the result's clock", NULL),
    INTEGER("value", "", "in the unit of the table series; what was not read has no row", NULL),
    END};

static const struct export_column settings[] = {RUN,
                                                HOST,
                                                TEXT("kind", "before, wanted, read_back or after", NULL),
                                                TEXT("path", "eth1.buffer_bytes.0", NULL),
                                                ANY("value", "of the setting at path"),
                                                END};

static const struct export_column facts[] = {RUN, HOST, TEXT("path", "in host-facts' document", NULL),
                                             ANY("value", "what is found at path"), END};

static const struct export_column scenario[] = {RUN, TEXT("path", "in the scenario as it was run", NULL),
                                                ANY("value", "what is at path"), END};

static const struct export_column collectives[] = {
    RUN,
    TEXT("collective", "its name", NULL),
    TEXT("op", "what the ranks do: all-reduce, all-gather, ...", "op"),
    TEXT("tool", "the program that ran it", "tool"),
    TEXT("tool_version", "of that program", "tool_used.version"),
    TEXT("nccl_version", "of the NCCL that it used", "tool_used.nccl_version"),
    TEXT("launcher", "process or mpirun", "tool_used.launcher"),
    TEXT("command", "as it was run", "tool_used.command"),
    INTEGER("complete", "", "0: it has no figures", "complete"),
    INTEGER("ranks", "", "how many took part, a GPU each", "ranks"),
    REAL("avg_busbw_GBps", "GB/s", "of all sizes, out of place and in place, as the tool prints it",
         "avg_busbw_GBps"),
    REAL("max_busbw_GBps", "GB/s", "the highest bus bandwidth of all sizes, in place or not",
         "max_busbw_GBps"),
    REAL("max_algbw_GBps", "GB/s", "the highest algorithm bandwidth of all sizes, in place or not",
         "max_algbw_GBps"),
    REAL("min_time_ns", "ns", "the shortest time of all sizes, in place or not", "min_time_ns"),
    INTEGER("wrong", "", "elements; empty: not checked", "wrong"),
    INTEGER("out_of_bounds", "", "checks that found wrong elements", "out_of_bounds"),
    TEXT("path", "between hosts: gdrdma, ib, socket, net, collnet, mixed, none; empty: unknown", "path"),
    INTEGER("channels_gdrdma", "", "NCCL's channels, each direction by itself", "channels.gdrdma"),
    INTEGER("channels_ib", "", "the same, through verbs without GPUDirect", "channels.ib"),
    INTEGER("channels_socket", "", "the same, through sockets", "channels.socket"),
    END};

#define HALF(name, key)                                                                           \
    REAL(name "_time_ns", "ns", "of one operation, " key, key ".time_ns"),                        \
        REAL(name "_algbw_GBps", "GB/s", "algorithm bandwidth, " key ": bytes over the time",     \
             key ".algbw_GBps"),                                                                  \
        REAL(name "_busbw_GBps", "GB/s", "bus bandwidth, " key ": what the links carry at least", \
             key ".busbw_GBps"),                                                                  \
        INTEGER(name "_wrong", "", "elements; empty: not checked", key ".wrong")
static const struct export_column collective_sizes[] = {
    RUN,
    TEXT("collective", "its name", NULL),
    INTEGER("bytes", "", "size of the operation, as the tool prints it", "bytes"),
    INTEGER("elements", "", "elements of that size, as the tool prints them", "count"),
    TEXT("datatype", "of the elements", "datatype"),
    TEXT("reduction", "what the elements are combined by: sum, prod, ...; none: nothing is", "reduction"),
    INTEGER("root", "", "-1: the operation has none", "root"),
    HALF("out_of_place", "out_of_place"),
    HALF("in_place", "in_place"),
    END};
#undef HALF

static const struct export_column jobs[] = {
    RUN,
    TEXT("job", "its name", NULL),
    INTEGER("rank", "", "0 and up", NULL),
    TEXT("role", "which the rank is", "role"),
    REAL("end_ns", "ns", "of its last operation; empty: not all have ended", "end_ns"),
    REAL("calc_ns", "ns", "in which at least one of its CPUs computed", "calc_ns"),
    REAL("exposed_ns", "ns", "in which it waited for messages, and none computed", "exposed_ns"),
    INTEGER("sent_bytes", "bytes", "of sends that have ended", "sent_bytes"),
    INTEGER("received_bytes", "bytes", "of recvs that have ended", "received_bytes"),
    INTEGER("unfinished", "", "operations that have not ended", "unfinished"),
    END};

static const struct export_column expectations[] = {
    RUN,
    TEXT("name", "of the expectation or the checker", "name"),
    TEXT("rule", "what is compared", "check"),
    TEXT("verdict", "passed, failed or skipped", "verdict"),
    REAL("left_side", "", "empty: the number is unavailable", "left"),
    REAL("right_side", "", "what it was held against; empty: the number is unavailable", "right"),
    TEXT("unit", "of both sides", "unit"),
    TEXT("reason", "the verdict in words, with the figures", "reason"),
    END};

static const struct export_column published[] = {
    RUN,
    TEXT("name", "of the figure", "name"),
    TEXT("rule", "what is compared with it", "of"),
    REAL("published", "", "the figure, as its source has it", "published"),
    REAL("value", "", "of the run", "value"),
    REAL("difference_percent", "%", "of value from published", "difference_percent"),
    TEXT("unit", "of both values", "unit"),
    TEXT("source", "who published it", "source"),
    TEXT("reason", "why nothing is compared", "reason"),
    END};

static const struct export_column repeated[] = {
    TEXT("result", "the sweep's folder", NULL),
    TEXT("cell", "its choices, as JSON", NULL),
    TEXT("name", "of an expectation that is judged over repetitions or cells", "name"),
    TEXT("rule", "what is compared", "check"),
    TEXT("over_what", "repeats or cells", "over"),
    TEXT("verdict", "passed, failed or skipped", "verdict"),
    INTEGER("count", "", "runs that were judged", "count"),
    REAL("left_side", "", "mean", "left"),
    REAL("left_ci95", "", "half the width of the 95 % confidence interval of the mean", "left_ci95"),
    REAL("right_side", "", "mean of what it was held against", "right"),
    REAL("right_ci95", "", "the same of the right side", "right_ci95"),
    TEXT("unit", "of both sides", "unit"),
    TEXT("reason", "the verdict in words, with the figures", "reason"),
    END};

static const struct export_column repeated_published[] = {
    TEXT("result", "the sweep's folder", NULL),
    TEXT("cell", "its choices, as JSON", NULL),
    TEXT("name", "of a figure that is compared over repetitions or cells", "name"),
    TEXT("rule", "what is compared with it", "of"),
    REAL("published", "", "the figure, as its source has it", "published"),
    TEXT("over_what", "repeats or cells", "over"),
    INTEGER("count", "", "runs that it is of", "count"),
    REAL("value", "", "mean", "value"),
    REAL("value_ci95", "", "half the width of the 95 % confidence interval of the mean", "ci95"),
    REAL("difference_percent", "%", "of value from published", "difference_percent"),
    TEXT("unit", "of both values", "unit"),
    TEXT("source", "who published it", "source"),
    TEXT("reason", "why nothing is compared", "reason"),
    END};

static const struct export_column warnings[] = {RUN, TEXT("warning", "a sentence", NULL), END};

static const struct export_column columns[] = {
    TEXT("table_name", "of these tables", NULL), TEXT("column_name", "of a column there", NULL),
    TEXT("unit", "of its values; empty: none, or that of the column unit", NULL),
    TEXT("meaning", "what its values are", NULL), END};

const struct export_table_of export_tables[EXPORT_TABLES] = {
    [EXPORT_RUNS] = {"runs", "a row for each run", runs},
    [EXPORT_CHOICES] = {"choices", "what a sweep varied, a row for each choice of a run", choices},
    [EXPORT_PHASES] = {"phases", "the phases of each run", phases},
    [EXPORT_HOSTS] = {"hosts", "the hosts of each run, and how they were sampled", hosts},
    [EXPORT_COUNTERS] = {"counters", "counters and gauges of each host over the measure phase", counters},
    [EXPORT_TOTALS] = {"totals", "counters of all hosts together", totals},
    [EXPORT_FLOWS] = {"flows", "summaries of the flows", flows},
    [EXPORT_COLLECTIVES] = {"collectives", "collectives between GPUs", collectives},
    [EXPORT_COLLECTIVE_SIZES] = {"collective_sizes", "the sizes of each collective", collective_sizes},
    [EXPORT_JOBS] = {"jobs", "the ranks of each job", jobs},
    [EXPORT_INTERVALS] = {"intervals", "the flows over time", intervals},
    [EXPORT_PAUSES] = {"pauses", "single pauses", pauses},
    [EXPORT_SERIES] = {"series", "which counters have samples", series},
    [EXPORT_SAMPLES] = {"samples", "counters and gauges over time", samples},
    [EXPORT_SETTINGS] = {"settings", "settings of each host", settings},
    [EXPORT_FACTS] = {"facts", "what host-facts found on each host", facts},
    [EXPORT_SCENARIO] = {"scenario", "the scenario of each run", scenario},
    [EXPORT_EXPECTATIONS] = {"expectations", "of each run, and the verdicts of its checkers", expectations},
    [EXPORT_PUBLISHED] = {"published", "published figures, and the same of the run", published},
    [EXPORT_REPEATED] = {"repeated", "expectations of a sweep over its runs", repeated},
    [EXPORT_REPEATED_PUBLISHED] = {"repeated_published", "published figures of a sweep over its runs",
                                   repeated_published},
    [EXPORT_WARNINGS] = {"warnings", "what a reader of a run should know", warnings},
    [EXPORT_COLUMNS] = {"columns", "the columns of these tables", columns},
};

size_t export_column_count(enum export_table table)
{
    size_t count = 0;
    while (export_tables[table].columns[count].name)
        count++;
    return count;
}
