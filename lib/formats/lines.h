/*
 * Lines that the programs on a host print and that the harness reads: docs/lines.md.
 * nic-sampler (and the simulator) print samples, traffic tools (and the simulator) print flow lines.
 */
#ifndef LIB_LINES_H
#define LIB_LINES_H

#include "lib/error.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LINES_MAX_COLUMNS 16384     /* of a switch of 256 ports: 64 for each */
#define LINES_MAX_LENGTH  (4 << 20) /* bytes in one line; a header's columns, with its names, must fit */
#define LINES_MAX_NAME    255       /* bytes of a column's or flow's name, a unit, a source, a group */
#define LINES_NULL        INT64_MIN /* a value that could not be read */
/* The most of a time (the least is its negative), a duration or a count: sums and differences of two fit 64
 * bits. A clock reaches it in the year 2116. */
#define LINES_MOST ((INT64_C(1) << 62) - 1)

enum line_kind {
    LINE_HEADER,   /* {"type":"header",...}: its columns apply until the next header */
    LINE_SAMPLE,   /* [time_ns, read_ns, values...] */
    LINE_EVENT,    /* {"type":"event",...} */
    LINE_INTERVAL, /* {"type":"interval","flow":...} */
    LINE_SUMMARY,  /* {"type":"summary","flow":...} */
    LINE_ERROR,    /* {"type":"error",...} */
    LINE_END,      /* {"type":"end",...} */
};

enum column_kind { COLUMN_COUNTER, COLUMN_GAUGE };

struct column {
    char *name;   /* "rx_prio0_pause": mlx5's name where it has one */
    char *unit;   /* "frames", "bytes", "us", "packets", "events", "percent", ... */
    char *source; /* "ethtool", "rdma", "dcb", "qdisc", "snmp", "nvml", "sim", ... */
    char *group;  /* "pfc", "ecn", "throughput", "drops", "pcie", "dcqcn", "queue", ... */
    enum column_kind kind;
};

/* One parsed line. Everything points into memory that lines_free_parsed releases. */
struct line {
    enum line_kind kind;
    json_t *json; /* the object lines; NULL for samples */
    int64_t time_ns;
    int64_t read_ns;
    int64_t *values; /* samples: `count` of them, LINES_NULL where null */
    size_t count;
};

/* The next whole line into `text`, which has room for LINES_MAX_LENGTH + 1 bytes, without its newline; false
 * at the end, where a line without a newline is not a line. *length is larger than LINES_MAX_LENGTH if the
 * line does not fit, and then text is cut. */
bool lines_next(FILE *file, char *text, size_t *length);
/* Parse one line (without its newline). Bounded: untrusted input; times, durations and counts are within
 * LINES_MOST. */
int lines_parse(const char *text, size_t length, struct line *line, struct error *e);
void lines_free_parsed(struct line *line);
/* Is it within `least` (0 or -LINES_MOST) and LINES_MOST? */
bool lines_fits(int64_t value, int64_t least);
/* The columns of a header line; the caller frees with lines_free_columns. */
int lines_columns(const json_t *header, struct column **columns, size_t *count, struct error *e);
void lines_free_columns(struct column *columns, size_t count);
void lines_free_column(struct column *column);

/* Write one sample line; values of LINES_NULL are written as null. No allocation. Returns -1 on a write
 * error. */
int lines_write_sample(FILE *out, int64_t time_ns, int64_t read_ns, const int64_t *values, size_t count);
/* The same of a result's samples.jsonl, which begins with the host. */
int lines_write_sample_of(FILE *out, const char *host, int64_t time_ns, int64_t read_ns,
                          const int64_t *values, size_t count);
/* The header's "columns" array. A new reference. */
json_t *lines_columns_json(const struct column *columns, size_t count);
/* Write any object line in one piece. Returns -1 on a write error, with errno; ENOMEM, and EMSGSIZE for
 * one that no reader takes (LINES_MAX_LENGTH): nothing was written. */
int lines_write_object(FILE *out, const json_t *object);

#endif
