/*
 * The configuration of the HPCC simulator and of its forks (config.txt): keys and their values, one table.
 * docs/import.md has what becomes of them.
 */
#ifndef HARNESS_IMPORT_HPCC_CONFIG_H
#define HARNESS_IMPORT_HPCC_CONFIG_H

#include "harness/import/import.h"

/* What controls the senders' rates, by the numbers of CC_MODE. */
enum config_control { DCQCN, HPCC, TIMELY, DCTCP, UNCONTROLLED, CONTROLS };

/* The keys that more depends on than the place that their row names; others have the numbers after these. */
enum config_key {
    CC_MODE,
    ENABLE_QCN,
    ENABLE_PFC,
    PACKET_PAYLOAD_SIZE,
    TOPOLOGY_FILE, /* these three in the order of import_hpcc's files */
    FLOW_FILE,
    TRACE_FILE,
    ENABLE_TRACE,
    SIMULATOR_STOP_TIME,
    FLOWGEN_STOP_TIME,
    EWMA_GAIN,
    RATE_ON_FIRST_CNP,
    HAS_WIN,
    GLOBAL_T,
    VAR_WIN,
    MULTI_RATE,
    SAMPLE_FEEDBACK,
    ACK_HIGH_PRIO,
    ERROR_RATE_PER_LINK,
    LINK_DOWN,
    KMIN_MAP,
    KMAX_MAP,
    PMAX_MAP,
    NO_CC_NODE,
    OTHER_KEYS
};
#define MOST_KEYS 128

/* Numbers with decimals are kept in these parts. */
#define SHARE_DIGITS 12
#define SHARE_ONE    INT64_C(1000000000000)

/* Of a map: a rate and its value; of LINK_DOWN: the ends; of NO_CC_NODE: the nodes, as keys. */
#define MOST_PAIRS 64
struct config_pair {
    int64_t key, value;
};

struct config_value {
    bool said;     /* in the file */
    unsigned line; /* 0: it has what the simulator has without it */
    int64_t number;
    char *text;
    size_t count;
    struct config_pair pairs[MOST_PAIRS];
};

struct hpcc_config {
    const struct reader *file;
    const char *fork; /* whose; NULL: HPCC's own */
    enum config_control control;
    struct config_value values[MOST_KEYS];
};

/* Is the file a configuration, rather than a topology, which begins with a number? */
bool hpcc_config_is(const struct reader *file);
/* Read it; what it has that means nothing here, or is unknown, is added to the notes. */
int hpcc_config_read(struct hpcc_config *config, struct reader *file, json_t *notes, struct error *e);
void hpcc_config_free(struct hpcc_config *config);
/* Put the values that have a place into the lab's and the scenario's document, and note those that have none
 * with this control. -1: one that is needed is missing. */
int hpcc_config_put(const struct hpcc_config *config, json_t *lab, json_t *scenario, json_t *notes,
                    struct error *e);
/* "PATH:LINE: KEY is WHAT: ..."; returns -1. */
int hpcc_config_error(const struct hpcc_config *config, enum config_key key, struct error *e,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Put a value at a path of keys with dots between them. Takes the reference. */
void hpcc_config_set(json_t *document, const char *path, json_t *value);

/* What the fork's name is where the switches or packets differ. */
extern const char hpcc_fork_conweave[], hpcc_fork_hawkeye[], hpcc_fork_paraleon[], hpcc_fork_simai[];

/* The base round-trip time of host pairs, as the simulator has it: the longest of all, or that of the flows,
 * if they have one. */
struct hpcc_rtt {
    int64_t ns, bdp_bytes;
    bool same;         /* all pairs that were looked at have these */
    uint32_t of[2][2]; /* else: the hosts of two flows that differ */
};
int hpcc_rtt_of(const struct import *import, int64_t payload_bytes, bool of_flows, struct hpcc_rtt *rtt,
                struct error *e);

#endif
