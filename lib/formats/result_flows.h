/*
 * The flows of a result (docs/result.md): their values by the names that expressions use, and which flows a
 * statistic counts. A traffic pattern has an entry for all its flows together, "NAME", and often one for
 * each, "NAME/0", "NAME/1", ...: whoever adds up flows, counts them or takes their mean asks here, so that
 * nothing is counted twice.
 */
#ifndef LIB_RESULT_FLOWS_H
#define LIB_RESULT_FLOWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A flow's number by its name in expressions: "goodput_bps", "latency_p50_ns" (of latency_ns.p50),
 * "slowdown_p99" (of slowdown.p99). NULL if the flow has none. */
const json_t *result_flow_value(const json_t *flow, const char *value);

/* A member of a distribution such as latency_ns for people: "mean", "p99". NAN if it has none, and if it is a
 * quantile beyond which not one of its values is to be expected, which is *few then: a p99 of less than 100
 * values is no more than the largest. `few` may be NULL. */
double result_distribution_value(const json_t *distribution, const char *key, bool *few);
/* Of which share a value of a flow is the quantile ("latency_p99_ns": 0.99), and of how many values; 0: it is
 * not a quantile of counted values. */
double result_flow_quantile(const json_t *flow, const char *value, double *count);
/* Values of a flow, by the names of result_flow_value. */
double result_flow_figure(const json_t *flow, const char *value);

/* Does a statistic of `value` over the flows that match the glob count this one? Not if the flow lacks the
 * value, and not if it is a pattern's own entry and one of the pattern's single flows matches and has the
 * value. */
bool result_flow_counts(const json_t *flows, const char *name, const char *glob, const char *value);

/* Has the flow an end, so that its rates are over its own time, and its "phase" has those of the measure
 * phase? */
bool result_flow_ends(const json_t *flow);

/* What arrived in the measure phase is far from what completed in it, so that its goodput there says little:
 * messages take as long as the phase. False where what arrived was not counted: of real hosts. */
bool result_flow_is_far(const json_t *flow);

/* A flow's value in the measure phase: of one with an end not that of its own time. NULL: there is none. */
const json_t *result_flow_in_phase(const json_t *flow, const char *value);

/* The sum over all flows that count, of what they moved in the measure phase, those with an end too; those
 * without the value are left out. */
double result_flows_sum(const json_t *flows, const char *value);

/* How many single flows of a pattern have an entry; 0 for every entry that is not a pattern's own. */
size_t result_flow_parts(const json_t *flows, const char *name);
/* Up to `most` of a pattern's single flows, by rising value, where more have one: those with the smallest and
 * the largest values. `names` point into `flows`. Returns how many. */
size_t result_flow_extremes(const json_t *flows, const char *pattern, const char *value, size_t most,
                            const char **names);
/* Is it the entry of one flow of a pattern? */
bool result_flow_is_part(const json_t *flows, const char *name);

/* The rate of all flows together in the measure phase, b/s: of what was delivered, if that was counted of
 * each of them (*delivered), else of the messages that completed. */
double result_flows_throughput(const json_t *flows, bool *delivered);

#endif
