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

/* The columns of a distribution: `suffix` ends their names, `unit` is what the column's unit is. */
#define DISTRIBUTION(of, suffix, unit, key)                                                             \
    INTEGER(of "_count", "", "how many there are", key ".count"),                                       \
        REAL(of "_min" suffix, unit, "", key ".min"), REAL(of "_mean" suffix, unit, "", key ".mean"),   \
        REAL(of "_p50" suffix, unit, "", key ".p50"), REAL(of "_p90" suffix, unit, "", key ".p90"),     \
        REAL(of "_p99" suffix, unit, "", key ".p99"), REAL(of "_p99_9" suffix, unit, "", key ".p99_9"), \
        REAL(of "_max" suffix, unit, "", key ".max")

static const struct export_column runs[] = {
    RUN,
    TEXT("result", "the folder that was named", NULL),
    TEXT("folder", "the run's folder in it; empty: the result is the run", NULL),
    TEXT("scenario", "", "scenario.name"),
    TEXT("title", "", "scenario.title"),
    TEXT("lab", "", "lab.name"),
    TEXT("driver", "kind of lab: sim, libvirt, ssh", "lab.driver"),
    TEXT("origin", "simulated, virtual, measured or mixed", NULL),
    TEXT("varied", "the choices of the sweep's cell, for people", NULL),
    INTEGER("repeat", "", "which repetition, from 1", "repeat"),
    INTEGER("seed", "", "", "seed"),
    INTEGER("complete", "", "0: the figures cover only the part that ran", "complete"),
    TEXT("verdict", "passed, failed, skipped, unjudged or incomplete", "verdict"),
    TEXT("reason", "why it is incomplete", "reason"),
    TEXT("started", "UTC", "started"),
    TEXT("finished", "UTC", "finished"),
    TEXT("version", "of harness", "version"),
    TEXT("scenario_file", "", "scenario_file"),
    TEXT("lab_file", "", "lab_file"),
    INTEGER("measure_start_ns", "ns", "the measure phase, on the clock of the samples", NULL),
    INTEGER("measure_end_ns", "ns", "", NULL),
    REAL("goodput_bps", "b/s", "payload of all flows; each byte is counted once", NULL),
    REAL("delivered_bps", "b/s",
         "of simulated flows: payload that arrived, whether its messages completed or not", NULL),
    REAL("line_scale", "",
         "virtual NICs only: how many times slower the line is than the driver takes it for", "scaled.scale"),
    INTEGER("simulated_events", "", "of a simulated lab", "simulator.events"),
    INTEGER("simulated_wall_ns", "ns", "", "simulator.wall_ns"),
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
    INTEGER("end_ns", "ns", "", "end_ns"), END};

static const struct export_column hosts[] = {
    RUN,
    HOST,
    TEXT("name", "", "name"),
    TEXT("address", "", "address"),
    TEXT("origin", "", "origin"),
    INTEGER("listed", "", "0: it has no samples, and only the counters that expectations read", NULL),
    INTEGER("clock_offset_ns", "ns", "its clock minus the controller's, already subtracted",
            "clock.offset_ns"),
    INTEGER("clock_error_ns", "ns", "bound of the error", "clock.error_ns"),
    INTEGER("samples", "", "", "sampling.samples"),
    INTEGER("overruns", "", "samples that were skipped", "sampling.overruns"),
    REAL("read_ns_mean", "ns", "how long reading a sample took", "sampling.read_ns_mean"),
    REAL("read_ns_max", "ns", "", "sampling.read_ns_max"),
    END};

static const struct export_column counters[] = {
    RUN,
    HOST,
    TEXT("counter", "", NULL),
    TEXT("unit", "of the values", "unit"),
    TEXT("kind", "counter or gauge", "kind"),
    TEXT("source", "", "source"),
    TEXT("counter_group", "", "group"),
    INTEGER("delta", "", "increase in the measure phase", "delta"),
    REAL("rate_per_s", "", "", "rate_per_s"),
    INTEGER("first_value", "", "", "first"),
    INTEGER("last_value", "", "", "last"),
    INTEGER("total", "", "increase from the run's first sample to its last", "total"),
    INTEGER("duration_ns", "ns", "between the samples of first_value and last_value", "duration_ns"),
    INTEGER("min", "", "of a gauge", "min"),
    REAL("mean", "", "", "mean"),
    REAL("p50", "", "", "p50"),
    REAL("p90", "", "", "p90"),
    REAL("p99", "", "", "p99"),
    REAL("p99_9", "", "", "p99_9"),
    INTEGER("max", "", "", "max"),
    END};

static const struct export_column totals[] = {
    RUN,
    TEXT("counter", "of all roles together, where not all are listed", NULL),
    TEXT("unit", "of the values", "unit"),
    TEXT("kind", "", "kind"),
    TEXT("source", "", "source"),
    TEXT("counter_group", "", "group"),
    INTEGER("delta", "", "", "delta"),
    REAL("rate_per_s", "", "", "rate_per_s"),
    INTEGER("total", "", "", "total"),
    TEXT("most_host", "role whose counter increased most", "most.role"),
    INTEGER("most_delta", "", "", "most.delta"),
    END};

static const struct export_column flows[] = {
    RUN,
    TEXT("flow", "", NULL),
    INTEGER("parts", "", "flows of a pattern that have a row of their own: leave its row out of sums then",
            NULL),
    TEXT("from_host", "role", "from"),
    TEXT("to_host", "role", "to"),
    TEXT("op", "", "op"),
    TEXT("memory", "", "memory"),
    TEXT("memory_route", "the route to GPU memory that worked", "memory_used.route"),
    INTEGER("priority", "", "", "priority"),
    INTEGER("queue_pairs", "", "", "queue_pairs"),
    INTEGER("message_bytes", "bytes", "", "message_bytes"),
    INTEGER("bytes", "bytes",
            "payload whose completion the sender saw: in the measure phase, of a flow with an end in all",
            "bytes"),
    INTEGER("messages", "", "", "messages"),
    INTEGER("duration_ns", "ns", "the time that the rates are over: of a flow that ended its own",
            "duration_ns"),
    INTEGER("phase_bytes", "bytes", "of a simulated flow with an end: in the measure phase", "phase.bytes"),
    REAL("goodput_bps", "b/s", "", "goodput_bps"),
    REAL("goodput_MiBps", "MiB/s", "", "goodput_MiBps"),
    REAL("messages_per_s", "/s", "", "messages_per_s"),
    INTEGER("errors", "", "", "errors"),
    TEXT("error", "why the flow gave up", "error"),
    TEXT("completion_status", "of its first work request that failed: IBV_WC_... (docs/errors.md)",
         "completion.status"),
    INTEGER("vendor_error", "", "beside it, of mlx5 NICs", "completion.vendor_error"),
    INTEGER("silent_ns", "ns", "for how long at least no message had been completed then",
            "completion.silent_ns"),
    INTEGER("complete", "", "", "complete"),
    INTEGER("delivered_bytes", "bytes", "simulated flows: payload that arrived in order", "delivered_bytes"),
    REAL("delivered_bps", "b/s", "as a rate over the measure phase", "delivered_bps"),
    INTEGER("marked_packets", "packets", "that arrived with CE", "marked_packets"),
    INTEGER("decreases", "", "of the reaction point's rate", "decreases"),
    INTEGER("increases", "", "", "increases"),
    INTEGER("retransmitted_packets", "packets", "", "retransmitted_packets"),
    REAL("begin_ns", "ns", "of a simulated flow that ended, since the beginning of the run",
         "completion_ns.begin"),
    REAL("end_ns", "ns", "", "completion_ns.end"),
    INTEGER("flows_started", "", "of a pattern, in the measure phase or later; all, if none did then",
            "flows.started"),
    INTEGER("flows_finished", "", "of these", "flows.finished"),
    INTEGER("flows_earlier", "", "that began before the measure phase, and are not counted", "flows.earlier"),
    DISTRIBUTION("latency", "_ns", "ns", "latency_ns"),
    DISTRIBUTION("slowdown", "", "", "slowdown"),
    DISTRIBUTION("completion", "_ns", "ns", "completion_ns"),
    END};

static const struct export_column intervals[] = {RUN,
                                                 TEXT("flow", "", "flow"),
                                                 INTEGER("time_ns", "ns", "end of the interval", "time_ns"),
                                                 INTEGER("duration_ns", "ns", "", "duration_ns"),
                                                 INTEGER("bytes", "bytes", "payload", "bytes"),
                                                 INTEGER("messages", "", "", "messages"),
                                                 REAL("goodput_bps", "b/s", "", "goodput_bps"),
                                                 INTEGER("errors", "", "", "errors"),
                                                 DISTRIBUTION("latency", "_ns", "ns", "latency_ns"),
                                                 END};

static const struct export_column pauses[] = {
    RUN,
    TEXT("host", "role whose sending was stopped, or SWITCH:PORT", NULL),
    INTEGER("priority", "", "", NULL),
    INTEGER("start_ns", "ns", "on the clock of the samples", NULL),
    INTEGER("duration_ns", "ns", "", NULL),
    INTEGER("lasts", "", "1: it had not ended when the run did", NULL),
    END};

static const struct export_column series[] = {INTEGER("series", "", "a counter of a host in a run", NULL),
                                              RUN,
                                              HOST,
                                              TEXT("counter", "", NULL),
                                              TEXT("unit", "of its samples", NULL),
                                              TEXT("kind", "counter or gauge", NULL),
                                              TEXT("source", "", NULL),
                                              TEXT("counter_group", "", NULL),
                                              INTEGER("samples", "", "that the run has", NULL),
                                              INTEGER("constant", "",
                                                      "1: all samples have the same value, and the table "
                                                      "samples has the first and the last of them",
                                                      NULL),
                                              END};

static const struct export_column samples[] = {
    RUN,
    HOST,
    TEXT("counter", "", NULL),
    INTEGER("time_ns", "ns", "when reading began, on the result's clock", NULL),
    INTEGER("value", "", "in the unit of the table series; what was not read has no row", NULL),
    END};

static const struct export_column settings[] = {RUN,
                                                HOST,
                                                TEXT("kind", "before, wanted, read_back or after", NULL),
                                                TEXT("path", "eth1.buffer_bytes.0", NULL),
                                                ANY("value", ""),
                                                END};

static const struct export_column facts[] = {RUN, HOST, TEXT("path", "in host-facts' document", NULL),
                                             ANY("value", ""), END};

static const struct export_column scenario[] = {RUN, TEXT("path", "in the scenario as it was run", NULL),
                                                ANY("value", ""), END};

static const struct export_column collectives[] = {
    RUN,
    TEXT("collective", "", NULL),
    TEXT("op", "", "op"),
    TEXT("tool", "", "tool"),
    TEXT("tool_version", "", "tool_used.version"),
    TEXT("nccl_version", "", "tool_used.nccl_version"),
    TEXT("launcher", "process or mpirun", "tool_used.launcher"),
    TEXT("command", "", "tool_used.command"),
    INTEGER("complete", "", "0: it has no figures", "complete"),
    INTEGER("ranks", "", "", "ranks"),
    REAL("avg_busbw_GBps", "GB/s", "of all sizes, out of place and in place, as the tool prints it",
         "avg_busbw_GBps"),
    REAL("max_busbw_GBps", "GB/s", "", "max_busbw_GBps"),
    REAL("max_algbw_GBps", "GB/s", "", "max_algbw_GBps"),
    REAL("min_time_ns", "ns", "", "min_time_ns"),
    INTEGER("wrong", "", "elements; empty: not checked", "wrong"),
    INTEGER("out_of_bounds", "", "checks that found wrong elements", "out_of_bounds"),
    TEXT("path", "between hosts: gdrdma, ib, socket, net, collnet, mixed, none; empty: unknown", "path"),
    INTEGER("channels_gdrdma", "", "NCCL's channels, each direction by itself", "channels.gdrdma"),
    INTEGER("channels_ib", "", "", "channels.ib"),
    INTEGER("channels_socket", "", "", "channels.socket"),
    END};

#define HALF(name, key)                                          \
    REAL(name "_time_ns", "ns", "", key ".time_ns"),             \
        REAL(name "_algbw_GBps", "GB/s", "", key ".algbw_GBps"), \
        REAL(name "_busbw_GBps", "GB/s", "", key ".busbw_GBps"), \
        INTEGER(name "_wrong", "", "elements; empty: not checked", key ".wrong")
static const struct export_column collective_sizes[] = {
    RUN,
    TEXT("collective", "", NULL),
    INTEGER("bytes", "", "", "bytes"),
    INTEGER("elements", "", "", "count"),
    TEXT("datatype", "", "datatype"),
    TEXT("reduction", "", "reduction"),
    INTEGER("root", "", "-1: the operation has none", "root"),
    HALF("out_of_place", "out_of_place"),
    HALF("in_place", "in_place"),
    END};
#undef HALF

static const struct export_column expectations[] = {
    RUN,
    TEXT("name", "", "name"),
    TEXT("rule", "", "check"),
    TEXT("verdict", "passed, failed or skipped", "verdict"),
    REAL("left_side", "", "empty: the number is unavailable", "left"),
    REAL("right_side", "", "", "right"),
    TEXT("unit", "of both sides", "unit"),
    TEXT("reason", "", "reason"),
    END};

static const struct export_column published[] = {RUN,
                                                 TEXT("name", "", "name"),
                                                 TEXT("rule", "what is compared with it", "of"),
                                                 REAL("published", "", "", "published"),
                                                 REAL("value", "", "of the run", "value"),
                                                 REAL("difference_percent", "%", "", "difference_percent"),
                                                 TEXT("unit", "of both values", "unit"),
                                                 TEXT("source", "", "source"),
                                                 TEXT("reason", "why nothing is compared", "reason"),
                                                 END};

static const struct export_column repeated[] = {
    TEXT("result", "the sweep's folder", NULL),
    TEXT("cell", "its choices, as JSON", NULL),
    TEXT("name", "of an expectation that is judged over repetitions or cells", "name"),
    TEXT("rule", "", "check"),
    TEXT("over_what", "repeats or cells", "over"),
    TEXT("verdict", "", "verdict"),
    INTEGER("count", "", "runs that were judged", "count"),
    REAL("left_side", "", "mean", "left"),
    REAL("left_ci95", "", "half the width of the 95 % confidence interval of the mean", "left_ci95"),
    REAL("right_side", "", "", "right"),
    REAL("right_ci95", "", "", "right_ci95"),
    TEXT("unit", "of both sides", "unit"),
    TEXT("reason", "", "reason"),
    END};

static const struct export_column repeated_published[] = {
    TEXT("result", "the sweep's folder", NULL),
    TEXT("cell", "its choices, as JSON", NULL),
    TEXT("name", "of a figure that is compared over repetitions or cells", "name"),
    TEXT("rule", "what is compared with it", "of"),
    REAL("published", "", "", "published"),
    TEXT("over_what", "repeats or cells", "over"),
    INTEGER("count", "", "runs that it is of", "count"),
    REAL("value", "", "mean", "value"),
    REAL("value_ci95", "", "half the width of the 95 % confidence interval of the mean", "ci95"),
    REAL("difference_percent", "%", "", "difference_percent"),
    TEXT("unit", "of both values", "unit"),
    TEXT("source", "", "source"),
    TEXT("reason", "why nothing is compared", "reason"),
    END};

static const struct export_column warnings[] = {RUN, TEXT("warning", "", NULL), END};

static const struct export_column columns[] = {TEXT("table_name", "", NULL), TEXT("column_name", "", NULL),
                                               TEXT("unit", "", NULL), TEXT("meaning", "", NULL), END};

const struct export_table_of export_tables[EXPORT_TABLES] = {
    [EXPORT_RUNS] = {"runs", "a row for each run", runs},
    [EXPORT_CHOICES] = {"choices", "what a sweep varied, a row for each choice of a run", choices},
    [EXPORT_PHASES] = {"phases", "", phases},
    [EXPORT_HOSTS] = {"hosts", "", hosts},
    [EXPORT_COUNTERS] = {"counters", "counters and gauges of each host over the measure phase", counters},
    [EXPORT_TOTALS] = {"totals", "counters of all hosts together", totals},
    [EXPORT_FLOWS] = {"flows", "summaries of the flows", flows},
    [EXPORT_COLLECTIVES] = {"collectives", "collectives between GPUs", collectives},
    [EXPORT_COLLECTIVE_SIZES] = {"collective_sizes", "the sizes of each collective", collective_sizes},
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
    [EXPORT_WARNINGS] = {"warnings", "", warnings},
    [EXPORT_COLUMNS] = {"columns", "the columns of these tables", columns},
};

size_t export_column_count(enum export_table table)
{
    size_t count = 0;
    while (export_tables[table].columns[count].name)
        count++;
    return count;
}
