/*
 * Counters of NICs, RDMA devices, qdiscs, links, GPUs and of the simulator: what their names mean. The table is
 * lib/roce/counters.def; everything that needs a unit, a kind or a group of a counter asks here.
 */
#ifndef LIB_ROCE_COUNTERS_H
#define LIB_ROCE_COUNTERS_H

#include "lib/text.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counter_kind {
    COUNTER_COUNT,   /* rises: differences are meant */
    COUNTER_COUNT32, /* rises, 32 bits wide in hardware or in the kernel */
    COUNTER_GAUGE,   /* a state: differences mean nothing */
};

enum counter_group {
#define GROUP(id, name, meaning) COUNTER_GROUP_##id,
#include "lib/roce/counters.def"
    COUNTER_GROUPS
};

/* Who names a counter. COUNTER_FROM_DRIVER: any driver; such a row is a family of names that are not listed. */
enum counter_origin {
#define ORIGIN(id, name, where) COUNTER_FROM_##id,
#include "lib/roce/counters.def"
    COUNTER_ORIGINS
};

struct counter {
    const char *pattern; /* "rx_prio#_pause": # is a number, * any text */
    const char *unit;    /* "frames"; one of counters_unit */
    enum counter_group group;
    enum counter_kind kind;
    enum counter_origin origin;
    const char *meaning; /* a sentence */
};

/* The row that a name belongs to; NULL: none. Fast: hundreds of names are looked up whenever a source is opened. */
const struct counter *counters_find(const char *name);
/* What a name without a row is taken for: events, a counter, group "other". */
extern const struct counter counter_unlisted;
/* All rows, in the order in which they are tried. */
const struct counter *counters_all(size_t *count);

/* Does a pattern of the table ("rx_prio#_pause") match a name? */
bool counters_pattern_matches(const char *pattern, const char *name);
/* Is there a name that both a pattern of the table and a glob (fnmatch(3), without "[!") match? */
bool counters_pattern_overlaps(const char *pattern, const char *glob);
/* The name that a pattern gives with these numbers for its first and second '#'. Returns buffer. */
char *counters_instance(char *buffer, size_t size, const char *pattern, unsigned first, unsigned second);
/*
 * The row of a name that a person wrote. Takes names that nic-sampler has put a source before, and names of unlisted
 * drivers' families, unless they look like a slip in a listed name. NULL: unknown; `near` then holds the listed name
 * that is nearest, or "".
 */
const struct counter *counters_known(const char *name, char *near, size_t size);

/* The groups, ended by NULL, by enum counter_group. */
extern const char *const counter_group_names[];
/* "all" and then the groups, ended by NULL: what sample.groups and --groups take. Their list as a text. */
extern const char *const counter_group_choices[];
extern const char counter_group_list[];
/* The groups that a word of counter_group_choices stands for, a bit each (1 << enum counter_group); 0: no such word. */
uint32_t counters_group_bits(const char *word, size_t length);

enum counter_quantity { COUNTER_NUMBER, COUNTER_TIME_NS, COUNTER_BYTES, COUNTER_RATE_BPS };

struct counter_unit {
    const char *name; /* "us" */
    enum counter_quantity quantity;
    double scale;             /* to ns, bytes or b/s; of a number: 1 */
    const char *base;         /* Prometheus' base unit: "seconds"; "": none */
    int64_t multiply, divide; /* to the base unit */
};

/* NULL: not a unit of counters. */
const struct counter_unit *counters_unit(const char *name);

/* docs/counters.md, and the rows as a JSON array of objects (a new reference). */
void counters_manual(struct text *out);
json_t *counters_json(void);

#endif
