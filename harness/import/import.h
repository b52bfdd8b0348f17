/*
 * A case that was written for another simulator: its network and its flows, read from that simulator's files,
 * and written as a lab and a scenario. docs/import.md.
 */
#ifndef HARNESS_IMPORT_H
#define HARNESS_IMPORT_H

#include "lib/document/reader.h"
#include "lib/schedule/schedule.h"
#include <jansson.h>

/* The simulator addresses hosts and switches by 16 bits (sim/config.c). */
#define IMPORT_MOST_NODES 65535
/* As many NICs as a host of a lab may have (lib/formats/lab_expand.c). */
#define IMPORT_MOST_NICS 64
/* As many links as a lab may have. */
#define IMPORT_MOST_LINKS 100000
/* With about 2300 bytes each, these are the flows of the largest scenario that is read
 * (lib/document/json_file.h); their result has 140 MiB. */
#define IMPORT_MOST_FLOWS 100000
/* Waits of all flows together: 100 bytes each in a scenario. */
#define IMPORT_MOST_WAITS 500000

/* Which of a host's NICs: none: its only one; k: portK-1; -k: nvlinkK-1. */
#define IMPORT_ONE_PORT 0

struct import_link {
    uint32_t a, b; /* nodes */
    int a_port, b_port;
    unsigned line;
    int64_t rate_bps, delay_ps;
    int64_t loss_per_billion;
};

struct import_flow {
    uint32_t from, to; /* nodes */
    int from_port, to_port;
    unsigned line;
    int priority;
    uint16_t udp_port; /* 0: none of its own */
    int64_t bytes;     /* 0: endless */
    int64_t start_ns;
    size_t first_wait, waits;
};

/* A flow begins this time after another has ended: at its sender if that is this one's sender, at its
 * receiver if it is this one's sender. */
struct import_wait {
    uint32_t flow; /* its index */
    int64_t delay_ns;
};

struct import {
    const char *format; /* "the HPCC simulator" */
    const char *network_path, *flow_path;
    /* The network: nodes and links, or a topology of the lab's own words, whose hosts are the nodes, or a
     * lab's. */
    size_t nodes;
    bool *is_switch; /* of each node */
    bool *left_out;  /* nodes that the lab does not have */
    bool *is_nvswitch;
    uint32_t *server;          /* of each GPU, 1 and up; 0: it has no NVLink */
    unsigned *ports, *nvlinks; /* of each host */
    bool own_numbers;          /* the nodes' numbers are not those that the lab counts */
    bool *sampled;             /* besides the hosts of flows; may be NULL */
    struct import_link *links;
    size_t link_count;
    json_t *topology; /* without links */
    json_t *names;    /* of the hosts of a lab that exists, which is the network; NULL: h0, h1, ... */
    int64_t rate_bps, delay_ps; /* of a topology's links; of a lab's slowest and longest */
    struct schedule *schedule;  /* which nodes, all hosts, play as a job; NULL: there are flows */
    struct import_flow *flows;
    size_t flow_count;
    struct import_wait *waits;
    size_t wait_count;
    int64_t udp_port; /* 0: that of the lab */
    /* Of a configuration that was read with them: documents that are merged over the lab's, after the physics
     * of the lab with this name, and over the scenario's. NULL: none. */
    const char *physics;
    json_t *lab_values, *scenario_values;
    json_t *ecn;       /* marking: a list */
    uint32_t *ecn_of;  /* of each switch: an item of the list, from 1; 0: the lab's */
    char *files[3];    /* paths that were found */
    int64_t stop_ns;   /* after the first flow's start; 0: when the flows have ended */
    int64_t fault_ns;  /* when a link goes down */
    int64_t begin_ns;  /* the first flow's start in its file */
    int64_t first_bps; /* of the first link of the first host, which thresholds refer to */
    json_t *notes;     /* sentences: what was left out, and what differs */
};

/* Begin with an empty one. */
int import_begin(struct import *import, const char *format, struct error *e);
void import_free(struct import *import);
/* Room for `count` nodes, all of them hosts; links; flows. -1: out of memory. */
int import_nodes(struct import *import, size_t count, struct error *e);
int import_add_link(struct import *import, const struct import_link *link, struct error *e);
int import_add_flow(struct import *import, const struct import_flow *flow, struct error *e);
/* The next wait of the flow that was added last or is added next. */
int import_add_wait(struct import *import, const struct import_wait *wait, struct error *e);
/* A new reference: the name of a node. */
json_t *import_name(const struct import *import, size_t node);
/* The same of one of its NICs. */
json_t *import_port_name(const struct import *import, size_t node, int port);
/* The name of a node, h or s with the number that the file gives it, or a range of names for nodes first to
 * last, of one kind. */
json_t *import_names(const struct import *import, size_t first, size_t last);
/* The same of this NIC of each of them. */
json_t *import_port_names(const struct import *import, size_t first, size_t last, int port);
/* Note a sentence. */
void import_note(const struct import *import, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What no simulated lab can have: a host without a link, two links between the same nodes, flows between
 * hosts that no path joins. The readers name the line. */
int import_check_network(const struct import *import, const struct reader *network, struct error *e);
int import_check_paths(const struct import *import, const struct reader *flows, struct error *e);
/* Number the NICs of hosts with several links, leave out NVSwitches that no flow uses, and choose the NICs of
 * each flow (ports.c). */
int import_take_ports(struct import *import, const struct reader *flows, struct error *e);

/* The neighbours of each node n, by number: near[first[n]] up to near[first[n + 1]]. `first` has nodes + 3
 * items, all 0; `near` two for each link. */
struct import_near {
    uint32_t node, link;
};
void import_list_neighbours(const struct import *import, size_t *first, struct import_near *near);

/* ---- the formats, a file each */

/* Each reads open files; sentences name their lines. On error nothing is left allocated. */

/* HPCC's ns-3, SimAI's and ns3-datacenter's: topology.txt, flow.txt, and trace.txt (without text: none). */
int import_hpcc(struct reader files[3], struct import *import, struct error *e);
/* The same with a configuration before them. Files without text are those that it names; they are opened. */
bool import_is_hpcc_config(const struct reader *file);
int import_hpcc_config(struct reader files[4], struct import *import, struct error *e);

/* htsim's connection matrix, FILE.cm; it has no network. */
int import_htsim(struct reader *file, struct import *import, struct error *e);

/* A schedule of GOAL; it has no network either. The path must last. */
int import_goal(const char *path, struct import *import, struct error *e);

/* ---- networks of cases that have none */

/* htsim's own: a fat tree of 2 or 3 tiers with as many hosts as there are nodes. */
int import_fat_tree(struct import *import, int64_t tiers, struct error *e);
/* All nodes on one switch. */
int import_star(struct import *import, struct error *e);
/* The first hosts of a simulated lab, in its order. */
int import_take_lab(struct import *import, const char *path, struct error *e);

/* ---- writing */

/* The name of a schedule's file, beside the scenario. */
#define IMPORT_SCHEDULE "schedule.goal"

/* What the command line says of the result. */
struct import_request {
    const char *name;     /* of the lab and the scenario */
    const char *physics;  /* path of the lab whose common values are taken; NULL: none are */
    const char *lab_path; /* where the lab is */
    const char *lab;      /* the same, as the scenario names it */
};

/* New references; NULL with a sentence. */
json_t *import_lab(const struct import *import, const struct import_request *request, struct error *e);
json_t *import_scenario(const struct import *import, const struct import_request *request, struct error *e);
/* A document as people write it: a line for each key, and for each link, flow, host and expectation. */
int import_write(const char *path, const json_t *document, struct error *e);

#endif
