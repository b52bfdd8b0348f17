/* The figures of a result: printed for people, and as part of the document of --json. */
#ifndef HARNESS_FIGURES_H
#define HARNESS_FIGURES_H

#include <jansson.h>

/* Print a line for each flow: goodput, and median and 99th percentile of the latency. Of a pattern, the flows together, and its slowest
 * and fastest ones. */
void figures_print_flows(const json_t *result);

/* A line for each collective: its bus bandwidths, and the path between its hosts. */
void figures_print_collectives(const json_t *result);

/* "21.43 +- 0.02 Gb/s", below 0.1 Gb/s in Mb/s. */
void figures_print_goodput(double mean_bps, double ci95_bps);

/*
 * A new object: "total" {goodput_bps, goodput_MiBps, messages_per_s} of all flows, "flows" NAME {goodput_bps, latency_ns, ...}, "pauses"
 * ROLE COUNTER {unit, delta, rate_per_s}, "expectations", "published" and "warnings" as in result.json (docs/result.md).
 */
json_t *figures_json(const json_t *result);

#endif
