#include "harness/traffic/perftest_table.h"

#include "harness/traffic/printed.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COLUMNS  9
#define LATENCY_STDEV 6 /* its column; no result has it */
#define MOST_WORDS    16
#define DASHES        10 /* perftest prints more */

/* ---- lines */

static bool begins_table(const struct printed_words *words)
{
    return strcmp(words->items[0], "#bytes") == 0;
}

static bool is_rule(const struct printed_line *line)
{
    size_t dashes = 0;
    while (dashes < line->length && line->at[dashes] == '-')
        dashes++;
    return dashes >= DASHES && dashes == line->length;
}

/* ---- the header */

/* The words of each header; an alternative is behind '|'. */
static const char *const headers[][MOST_WORDS] = {
    [PERFTEST_BANDWIDTH] = {"#bytes", "#iterations", "BW", "peak[MiB/sec]|peak[MB/sec]", "BW",
                            "average[MiB/sec]|average[MB/sec]", "MsgRate[Mpps]"},
    [PERFTEST_LATENCY] = {"#bytes", "#iterations", "t_min[usec]", "t_max[usec]", "t_typical[usec]",
                          "t_avg[usec]", "t_stdev[usec]", "99%", "percentile[usec]", "99.9%",
                          "percentile[usec]"},
    [PERFTEST_LATENCY_TIMED] = {"#bytes", "#iterations", "t_avg[usec]", "tps", "average"},
};
static const size_t columns[] = {
    [PERFTEST_BANDWIDTH] = 5, [PERFTEST_LATENCY] = 9, [PERFTEST_LATENCY_TIMED] = 4};

static bool is_header(const struct printed_words *words, enum perftest_test test)
{
    return printed_words_are(words, headers[test]);
}

/* ---- the row */

/* perftest squares the deviations as 32-bit integers (print_report_lat of its perftest_parameters.c): above 46 ms the
 * sum overflows, and the standard deviation is the root of a negative number. */
static bool is_not_a_number(const char *word)
{
    return strcmp(word, "nan") == 0 || strcmp(word, "-nan") == 0;
}

static bool read_numbers(enum perftest_test test, const struct printed_words *words, struct perftest_row *row,
                         double *numbers)
{
    bool good = words->count == columns[test] && printed_count(words->items[0], &row->bytes) &&
                printed_count(words->items[1], &row->messages);
    for (size_t i = 2; good && i < columns[test]; i++)
        good = printed_number(words->items[i], &numbers[i]) ||
               (test == PERFTEST_LATENCY && i == LATENCY_STDEV && is_not_a_number(words->items[i]));
    return good;
}

/* Both averages are of the same messages, each rounded as it is printed: 2 and 6 decimals. */
static bool averages_agree(const struct perftest_row *row)
{
    double a_million = (double)row->bytes * 1e6 / 1048576;
    double difference = row->mibps - row->million_messages_per_s * a_million;
    double rounding = 0.0051 + 0.51e-6 * a_million;
    return difference <= rounding && difference >= -rounding;
}

static bool latencies_in_order(const struct perftest_row *row)
{
    return row->min_us <= row->typical_us && row->typical_us <= row->p99_us && row->p99_us <= row->p99_9_us &&
           row->p99_9_us <= row->max_us && row->min_us <= row->mean_us && row->mean_us <= row->max_us;
}

static bool read_row(enum perftest_test test, const struct printed_words *words, struct perftest_row *row)
{
    double n[MOST_COLUMNS] = {0};
    *row = (struct perftest_row){0};
    if (!read_numbers(test, words, row, n))
        return false;
    switch (test) {
    case PERFTEST_BANDWIDTH:
        row->mibps = n[3];
        row->million_messages_per_s = n[4];
        return averages_agree(row);
    case PERFTEST_LATENCY:
        row->min_us = n[2];
        row->max_us = n[3];
        row->typical_us = n[4];
        row->mean_us = n[5];
        row->p99_us = n[7];
        row->p99_9_us = n[8];
        return latencies_in_order(row);
    case PERFTEST_LATENCY_TIMED:
        row->mean_us = n[2];
        row->messages_per_s = n[3];
        break;
    }
    return true;
}

/* ---- the table */

/* Read on after the header. */
static int read_body(enum perftest_test test, const char *at, const char *end, struct perftest_row *row,
                     struct error *e)
{
    struct printed_line line;
    struct printed_words words;
    if (!printed_next(&at, end, &line))
        return error_set(e, "its output ends before the row of its table");
    printed_split(&line, &words);
    if (!read_row(test, &words, row))
        return printed_refuse(&line, "a row of its table, with numbers that belong together", e);
    if (!printed_next(&at, end, &line))
        return error_set(e, "its output ends before the end of its table");
    if (!is_rule(&line))
        return printed_refuse(&line, "the end of its table", e);
    while (printed_next(&at, end, &line)) {
        printed_split(&line, &words);
        if (begins_table(&words))
            return printed_refuse(&line, "one table", e);
    }
    return 0;
}

int perftest_table_read(enum perftest_test test, const char *printed, size_t length, struct perftest_row *row,
                        struct error *e)
{
    const char *at = printed, *end = printed + length;
    struct printed_line line;
    struct printed_words words;
    while (printed_next(&at, end, &line)) {
        printed_split(&line, &words);
        if (is_header(&words, test))
            return read_body(test, at, end, row, e);
        if (begins_table(&words))
            return printed_refuse(&line, "the columns that perftest 6.06 and later print for this test", e);
    }
    return error_set(e, "its output has no table of results");
}
