/*
 * The interface of a source of counters; each source has a file source_NAME.c. The list of sources, and what
 * their columns mean, is lib/roce/counters.def. A source gives its columns when it is opened, and their
 * values at every read.
 */
#ifndef COLLECTORS_SOURCE_H
#define COLLECTORS_SOURCE_H

#include "lib/error.h"
#include "lib/formats/lines.h"
#include "lib/roce/counters.h"
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Drivers with many queues have many thousands of statistics; a line of values holds at most
 * LINES_MAX_COLUMNS requested columns. */
#define SOURCE_MAX_COLUMNS 65536

/* The devices to sample. */
struct target {
    const char *root;      /* where sys/ and proc/ are: "" or a folder laid out by a test */
    char netdev[IFNAMSIZ]; /* "" without an interface */
    unsigned int ifindex;  /* of netdev; 0: none */
    char rdma[64];         /* RDMA device, "": that of netdev */
    unsigned int rdma_port;
    int gpu;                /* NVML index, -1: none */
    bool shared;            /* another NIC of the machine has what the machine has once (counts_for) */
    bool optional_counters; /* switch on the RDMA device's optional counters */
    int64_t every_ns;
};

/* A column; its name is owned by the set. */
struct source_column {
    char *name;
    const struct counter *counter; /* what the name means */
};

struct column_set {
    struct source_column *items;
    size_t count;
};

/* Add a column; what it means follows from its name (lib/roce/counters.h). */
int column_set_add(struct column_set *set, const char *name, struct error *e);
void column_set_free(struct column_set *set);

enum source_outcome {
    SOURCE_OK,
    SOURCE_CHANGED, /* its columns have changed since it was opened: open it again */
    SOURCE_GONE,    /* it can no longer be read; the error says why */
};

struct source_kind {
    const char *name;  /* "ethtool": the column's `source` */
    const char *about; /* name for messages: "driver statistics" */
    bool needs_netdev; /* not used without an interface */
    bool wraps32;      /* all its counters are 32 bits wide, or may be */
    /* What its values belong to when that is not the interface or RDMA device: "the network namespace". They
     * are the same for every NIC, so that a sum over NICs must not include them. NULL: they are the NIC's. */
    const char *counts_for;
    void *(*open)(const struct target *target, struct column_set *columns, struct error *e);
    /* One value for each column, in the order of open; LINES_NULL for a value that could not be read. */
    enum source_outcome (*read)(void *state, int64_t *values, struct error *e);
    /* Are the columns still those of open? Asked about once a second and after every change of the interface.
     * May be NULL: read itself notices. */
    enum source_outcome (*verify)(void *state, struct error *e);
    void (*close)(void *state);
};

#define READER(name, interface, columns, freshness) extern const struct source_kind source_##name;
#include "lib/roce/counters.def"

/* All of them in the order in which they are read, ended by NULL. */
extern const struct source_kind *const source_kinds[];
/* The kind of this name; NULL if there is none. */
const struct source_kind *source_kind_named(const char *name);

/* A kernel's unsigned number as a value; LINES_NULL when it does not fit. */
static inline int64_t source_value(uint64_t number)
{
    return number > INT64_MAX ? LINES_NULL : (int64_t)number;
}

#endif
