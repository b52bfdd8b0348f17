#include "collectors/sampler/prometheus_text.h"

#include "collectors/sources/source.h"
#include "lib/roce/counters.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "IpExtInCEPkts" is ip_ext_in_ce_packets; characters that a metric's name must not contain become
 * underscores. */
static void snake_case(const char *name, char *out, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; name[i] != '\0' && at + 3 < size; i++) {
        unsigned char c = (unsigned char)name[i], before = i > 0 ? (unsigned char)name[i - 1] : '_';
        bool boundary = isupper(c) && (islower(before) || isdigit(before) ||
                                       (isupper(before) && islower((unsigned char)name[i + 1])));
        if (boundary)
            out[at++] = '_';
        out[at++] = (char)(isalnum(c) && c < 0x80 ? tolower(c) : '_');
    }
    out[at] = '\0';
}

/* Take the number behind `word` out of the name and into a label: "rx_prio0_pause" is rx_prio_pause with
 * prio="0". */
static void number_to_label(char *name, const char *word, const char *label, char *labels, size_t size)
{
    size_t length = strlen(word);
    for (char *at = strstr(name, word); at; at = strstr(at + 1, word)) {
        char *digits = at + length, *end = digits;
        bool begins = at == name || at[-1] == '_';
        while (isdigit((unsigned char)*end))
            end++;
        if (!begins || end == digits || end - digits > 4 || (*end != '_' && *end != '\0'))
            continue;
        snprintf(labels, size, "%s=\"%.*s\"", label, (int)(end - digits), digits);
        memmove(digits, end, strlen(end) + 1);
        return;
    }
}

/* "pkts" at the end of a name is the kernel's way to write packets. */
static void spell_out(char *name, size_t size)
{
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, "_pkts") == 0 && length + 4 < size)
        snprintf(name + length - 4, size - length + 4, "packets");
}

static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(name, word); at; at = strstr(at + 1, word))
        if ((at == name || at[-1] == '_') && (at[length] == '_' || at[length] == '\0'))
            return true;
    return false;
}

void prometheus_metric(const struct column *column, struct prometheus_metric *metric)
{
    char name[96];
    const struct counter_unit *unit = counters_unit(column->unit);
    const char *suffix = unit ? unit->base : "";
    *metric =
        (struct prometheus_metric){.multiply = unit ? unit->multiply : 1, .divide = unit ? unit->divide : 1};
    snake_case(column->name, name, sizeof name - 8);
    number_to_label(name, "prio", "prio", metric->labels, sizeof metric->labels);
    if (metric->labels[0] == '\0')
        number_to_label(name, "gpu", "gpu", metric->labels, sizeof metric->labels);
    spell_out(name, sizeof name);
    bool needed = suffix[0] != '\0' && !has_word(name, suffix);
    const char *total = column->kind == COLUMN_COUNTER && !has_word(name, "total") ? "_total" : "";
    snprintf(metric->family, sizeof metric->family, "nic_%s%s%s%s", name, needed ? "_" : "",
             needed ? suffix : "", total);
}

void prometheus_label(struct text *out, const char *name, const char *value)
{
    text_add(out, "%s=\"", name);
    for (; *value != '\0'; value++) {
        if (*value == '\\' || *value == '"')
            text_add(out, "\\%c", *value);
        else if (*value == '\n')
            text_add(out, "\\n");
        else
            text_add(out, "%c", *value);
    }
    text_add(out, "\"");
}

/* How many decimals the quotient has; -1: the divisor is not a power of ten. */
static int decimals(int64_t divide)
{
    int digits = 0;
    for (; divide > 1 && divide % 10 == 0; divide /= 10)
        digits++;
    return divide == 1 ? digits : -1;
}

/* Exact if possible: 64-bit counts do not fit a double. */
static void write_value(struct text *out, const struct prometheus_metric *m, int64_t value)
{
    int64_t scaled;
    if (m->divide == 1 && !__builtin_mul_overflow(value, m->multiply, &scaled)) {
        text_add(out, "%" PRId64, scaled);
        return;
    }
    int digits = decimals(m->divide);
    if (m->divide == 1 || digits < 0) {
        text_add(out, "%.17g", (double)value * (double)m->multiply / (double)m->divide);
        return;
    }
    text_add(out, "%s%" PRId64 ".%0*" PRId64, value < 0 ? "-" : "", (int64_t)llabs(value / m->divide), digits,
             (int64_t)llabs(value % m->divide));
}

struct entry {
    struct prometheus_metric metric;
    size_t set, column;
};

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->metric.family, y->metric.family);
    if (order == 0)
        order = (x->set > y->set) - (x->set < y->set);
    return order != 0 ? order : (x->column > y->column) - (x->column < y->column);
}

/* What is counted, for what, and from which unit the value was converted. */
static void write_head(struct text *out, const struct entry *entry, const struct column *column)
{
    char near[PROMETHEUS_NAME];
    const struct counter *row = counters_known(column->name, near, sizeof near);
    const struct source_kind *source = source_kind_named(column->source);
    bool converted = entry->metric.multiply != 1 || entry->metric.divide != 1;
    text_add(out, "# HELP %s %s", entry->metric.family, row ? row->meaning : counter_unlisted.meaning);
    if (source && source->counts_for)
        text_add(out, " Counted for %s, not for one NIC.", source->counts_for);
    text_add(out, " From %s, group %s", column->source, column->group);
    if (converted)
        text_add(out, ", in %s before conversion", column->unit);
    text_add(out, ".\n# TYPE %s %s\n", entry->metric.family,
             column->kind == COLUMN_COUNTER ? "counter" : "gauge");
}

/* `labels` name the NIC: values that are not the NIC's do not get them. */
static void write_series(struct text *out, const struct entry *entry, const struct column *column,
                         int64_t value, const char *labels)
{
    const struct source_kind *source = source_kind_named(column->source);
    bool of_nic = labels[0] != '\0' && !(source && source->counts_for);
    text_add(out, "%s{%s%s", entry->metric.family, of_nic ? labels : "", of_nic ? "," : "");
    if (entry->metric.labels[0] != '\0')
        text_add(out, "%s,", entry->metric.labels);
    /* When two columns have the same metric name, a label with the kernel's name distinguishes them. */
    prometheus_label(out, "counter", column->name);
    text_add(out, "} ");
    write_value(out, &entry->metric, value);
    text_add(out, "\n");
}

static bool same_family(const struct entry *a, const struct entry *b)
{
    return strcmp(a->metric.family, b->metric.family) == 0;
}

/* Of what several NICs share, a GPU for example, an earlier set has the series. */
static bool is_written(const struct prometheus_set *sets, const struct entry *entries, size_t i)
{
    const struct column *own = &sets[entries[i].set].columns[entries[i].column];
    const struct source_kind *source = source_kind_named(own->source);
    for (size_t k = i; source && source->counts_for && k > 0 && same_family(&entries[k - 1], &entries[i]);
         k--)
        if (strcmp(sets[entries[k - 1].set].columns[entries[k - 1].column].name, own->name) == 0)
            return true;
    return false;
}

void prometheus_write(struct text *out, const struct prometheus_set *sets, size_t count)
{
    size_t most = 0, used = 0;
    for (size_t s = 0; s < count; s++)
        most += sets[s].count;
    struct entry *entries = calloc(most + 1, sizeof *entries);
    if (!entries) {
        out->failed = true;
        return;
    }
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < sets[s].count; i++) {
            if (sets[s].values[i] == LINES_NULL)
                continue;
            prometheus_metric(&sets[s].columns[i], &entries[used].metric);
            entries[used].set = s;
            entries[used++].column = i;
        }
    if (used > 1)
        qsort(entries, used, sizeof *entries, compare);
    for (size_t i = 0; i < used; i++) {
        const struct prometheus_set *set = &sets[entries[i].set];
        const struct column *column = &set->columns[entries[i].column];
        if (i == 0 || !same_family(&entries[i], &entries[i - 1]))
            write_head(out, &entries[i], column);
        if (!is_written(sets, entries, i))
            write_series(out, &entries[i], column, set->values[entries[i].column], set->labels);
    }
    free(entries);
}

void prometheus_head(struct text *out, const char *family, const char *type, const char *help)
{
    text_add(out, "# HELP %s %s\n# TYPE %s %s\n", family, help, family, type);
}

void prometheus_value(struct text *out, const char *family, const char *labels, double value)
{
    text_add(out, "%s%s%s%s %.9g\n", family, labels[0] != '\0' ? "{" : "", labels,
             labels[0] != '\0' ? "}" : "", value);
}
