/*
 * Counters of NICs, RDMA devices, qdiscs, links, GPUs and the simulator: the meaning of their names. The
 * table is lib/roce/counters.def. Every user of a counter's unit, kind or group gets it from here.
 */
#ifndef LIB_ROCE_COUNTERS_H
#define LIB_ROCE_COUNTERS_H

#include "lib/text.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counter_kind {
    COUNTER_COUNT,   /* increases: use differences */
    COUNTER_COUNT32, /* increases, 32 bits wide in hardware or in the kernel */
    COUNTER_GAUGE,   /* a state: differences have no meaning */
};

enum counter_group {
#define GROUP(id, name, meaning) COUNTER_GROUP_##id,
#include "lib/roce/counters.def"
    COUNTER_GROUPS
};

/* The origin of a counter's name. COUNTER_FROM_DRIVER: any driver; such a row is a family of unlisted
 * names. */
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

/* The row of a name, or NULL. This is fast, because hundreds of names are looked up whenever a source is
 * opened. */
const struct counter *counters_find(const char *name);
/* The row of all names without a row: events, a counter, group "other". */
extern const struct counter counter_unlisted;
/* All rows, in the order in which they are tried. */
const struct counter *counters_all(size_t *count);

/* Does a pattern of the table ("rx_prio#_pause") match a name? */
bool counters_pattern_matches(const char *pattern, const char *name);
/* Is there a name that matches both a pattern of the table and a glob (fnmatch(3), without "[!")? */
bool counters_pattern_overlaps(const char *pattern, const char *glob);
/* The name that a pattern gives with these numbers for its first and second '#'. Returns buffer. */
char *counters_instance(char *buffer, size_t size, const char *pattern, unsigned first, unsigned second);
/*
 * The row of a name that a person wrote. Accepts names to which nic-sampler has added a source, and names of
 * unlisted drivers' families, unless they look like a misspelled listed name. NULL: unknown; `near` is then
 * the nearest listed name, or "".
 */
const struct counter *counters_known(const char *name, char *near, size_t size);

/* The groups, ended by NULL, by enum counter_group. */
extern const char *const counter_group_names[];
/* "all" and the groups, ended by NULL: the choices of sample.groups and --groups. Their list as a text. */
extern const char *const counter_group_choices[];
extern const char counter_group_list[];
/* The groups of a word of counter_group_choices, one bit each (1 << enum counter_group); 0: unknown word. */
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

/* A NIC on which the counter was measured never to move, so that its 0 says nothing there: "ConnectX-5 Ex
 * (16.32.2004)"; NULL: none is known. */
const char *counters_never_moves_on(const char *name);

/* Is what this source reads of the machine as a whole, so that each of several NICs shows the same? */
bool counters_of_machine(const char *source);

/* The tables of docs/counters.md, and the rows as a JSON array of objects (a new reference). */
void counters_manual(struct text *out);
json_t *counters_json(void);

/* What a counter has to do with losses. */
enum counter_loss {
    COUNTER_NO_LOSS,
    COUNTER_LOST,          /* packets, where they were dropped: for lack of room, or on purpose */
    COUNTER_LOST_BY_LINK,  /* packets that a link damaged, or that its failure cost */
    COUNTER_LOSS_ANSWERED, /* a sender's NAKs and time-outs: one event for any number of packets, or for
                              packets that were only overtaken */
};
/* `*whole`: of a loss, the counter that has these packets too if the same role has it; NULL: none. */
enum counter_loss counters_loss(const char *name, const char **whole);

/* Is it what one port of a simulated switch counts ("port3_ecn_marked")? The switch's own counter has it
 * too. */
bool counters_of_port(const char *name);

#endif
