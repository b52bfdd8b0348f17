/* The text format that Prometheus scrapes (exposition format 0.0.4), with its naming conventions: base units,
 * unit and _total at the end of the name, snake case, priority and GPU as labels. */
#ifndef COLLECTORS_PROMETHEUS_TEXT_H
#define COLLECTORS_PROMETHEUS_TEXT_H

#include "lib/formats/lines.h"
#include "lib/text.h"

#define PROMETHEUS_NAME 128

/* How one column is shown. The value is multiplied, then divided. */
struct prometheus_metric {
    char family[PROMETHEUS_NAME]; /* "nic_rx_prio_pause_duration_seconds_total" */
    char labels[64];              /* "prio=\"0\"", or "" */
    int64_t multiply, divide;
};

void prometheus_metric(const struct column *column, struct prometheus_metric *metric);

/* The values of one NIC, and what its series are labelled with; "" for none. */
struct prometheus_set {
    const struct column *columns;
    const int64_t *values;
    size_t count;
    const char *labels;
};
/* All of them, family by family. Values that are not a NIC's get no labels of one, and are there once. */
void prometheus_write(struct text *out, const struct prometheus_set *sets, size_t count);
/* A family of the program's own, and a value of it. */
void prometheus_head(struct text *out, const char *family, const char *type, const char *help);
void prometheus_value(struct text *out, const char *family, const char *labels, double value);
/* A label's value, escaped. */
void prometheus_label(struct text *out, const char *name, const char *value);

#endif
