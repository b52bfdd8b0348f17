/* What a result saw of flows, pauses and counters, as the search for causes needs it. */
#ifndef REPORTS_EXPLAIN_SEEN_H
#define REPORTS_EXPLAIN_SEEN_H

#include "reports/results/network.h"
#include "reports/results/run.h"

#define PRIORITIES 8

/* A time in which a port was kept from sending; since the start of the measure phase, as all times here. */
struct span {
    int64_t start_ns, end_ns;
    bool lasts; /* when the run ends */
};

/* Of a port and a priority: all such times, in order, none of which overlap. */
struct stop {
    size_t port;
    int priority;
    struct span *spans;
    size_t count;
    int64_t held_ns;    /* in the measure phase */
    int64_t longest_ns; /* of all */
};

/* Where the time of a flow went, each a share of what its line carries of payload, which add up to 1. */
enum share {
    SHARE_DELIVERED, /* completed messages */
    SHARE_RESENT,    /* what was sent again */
    SHARE_OTHERS,    /* other flows of its sender */
    SHARE_PAUSED,    /* the sender was kept from sending */
    SHARE_ASKED,     /* the scenario asks for no more */
    SHARE_RATE,      /* DCQCN held the rate down */
    SHARE_LOSS,      /* waited after losses, or for acknowledgements that came late or never */
    SHARE_QUEUE,     /* waited in a queue, its acknowledgements too, or in the buffer of its receiver */
    SHARE_SENDER, /* nothing in the network was in its way: too little is in flight, or the sender is slow */
    SHARE_UNKNOWN,
    SHARES
};

/* Where a stop keeps a flow from its rate: where all its packets pass, or where some may; and its
 * acknowledgements, which go the other way. */
enum way { WAY_MUST, WAY_MAY, WAY_BACK_MUST, WAY_BACK_MAY, WAYS };

/* Where a message of a flow waits, in the mean, seconds. */
struct waits {
    double ports_s;   /* at ports of switches that others use too, on its way and on its acknowledgements' */
    double buffer_s;  /* in receive buffers of its ends */
    double variance;  /* of what it waits at the port where it does longest, in square seconds */
    size_t port;      /* which that is; NETWORK_NONE: none */
    const char *host; /* whose receive buffer holds more than a few frames; NULL: none */
    bool unsampled;   /* others use a port on these ways whose queue was not sampled */
};

struct flow_seen {
    const char *name;    /* of the result */
    const json_t *asked; /* its flow or pattern of the scenario; NULL: there is none */
    const char *from, *to;
    size_t from_node, to_node; /* NETWORK_NONE: the result has no topology */
    int priority;
    double most_bps;          /* payload that its sender's line carries; 0: unknown */
    int64_t start_ns, end_ns; /* of its time in the measure phase; of a flow with an end its own time */
    /* its rate as the result has it: over the measure phase or, if it ends, its own time */
    double result_bps;
    double goodput_bps;    /* the same over its time */
    double payload;        /* bytes of a full packet */
    double message_bytes;  /* 0: of several sizes */
    double messages_per_s; /* as result_bps */
    double latency_s;      /* of a message, from when it was posted, in the mean; 0: not measured */
    double resent_packets; /* in the whole run; NAN: not counted */
    double resent_bps;     /* over its time */
    double decreases, marked;
    double packets;          /* of full size that arrived in the measure phase; 0: unknown */
    int traffic_class;       /* of its packets; -1: unknown */
    int64_t still_ns;        /* at the end of its time nothing was complete for so long */
    int64_t interval_end_ns; /* of the last line of flows.jsonl in which something was; before the first:
                                INT64_MIN */
    int64_t every_ns;        /* between such lines; 0: there are none */
    int64_t
        stalled_ns;   /* of its time nothing was complete, and it was not paused, until a loss was noticed */
    bool acks_late;   /* its sender sent again for time-outs alone, and its receiver missed nothing */
    double increases; /* of its rate, by DCQCN */
    const char *control; /* of its sender's rate: a name of CONGESTION_CONTROLS */
    bool ends;           /* when its messages are complete */
    bool at_once;        /* it ends, and all its messages were in flight together */
    double messages;     /* of one that ends */
    double slowdown; /* of many flows that the result has together, all of which ended: their mean; else 0 */
    bool rests;      /* a gap takes more from it than its sender does otherwise: it asks for no more */
    double lacks;    /* the share of its line that it asked for and did not get */
    uint8_t *ways;   /* of each port of a switch, a bit for each way: it is on it; NULL: not known */
    size_t stop[WAYS];    /* of seen->stops, the one that took most of its time; SIZE_MAX: none */
    double stopped[WAYS]; /* the shares of its time that they took */
    double slowed;        /* the share that a link took which carried less than its rate since it was down */
    size_t slowed_port;   /* of which */
    struct waits waits;   /* those that SHARE_QUEUE is of; else 0 */
    bool window_limits;   /* its messages take no longer than their way and what they wait: more in flight
                             are more */
    double share[SHARES];
};

struct seen {
    struct run *run;
    struct network network;
    json_t *settings; /* settings.json; NULL: there is none */
    json_t *roles;    /* name of a node -> the role that it has */
    bool hosts_only;  /* as real hosts see it: nothing of switches, and no single pauses */
    bool has_pauses;  /* single ones */
    int64_t measure_ns;
    struct stop *stops;
    size_t stop_count;
    size_t *stop_of; /* by port and priority: 1 + the number of its stop; 0: it never was */
    struct flow_seen *flows;
    size_t flow_count, flows_left_out;
    json_t *flow_index; /* name -> number */
};

/* In bytes: what is not in a queue or buffer that is emptied as fast as it fills. */
#define SEEN_SEVERAL_FRAMES 18000
/* In bytes: what a frame has on the line that counters of bytes do not have, preamble and gap. */
#define SEEN_NOT_COUNTED 20
/* Of a line: from there on those who share it wait for each other; and the same by the payload of flows. */
#define SEEN_FULL   0.9
#define SEEN_LOADED 0.85
#define SEEN_MARKED 0.7 /* of a line whose packets are marked */

void seen_open(struct seen *s, struct run *run, bool hosts_only);
void seen_free(struct seen *s);

/* The stop of this port and priority; NULL: it never was. */
struct stop *seen_stop(const struct seen *s, size_t port, int priority);
/* How long both lasted at the same time. `with` NULL: from start to end. */
int64_t stop_overlap(const struct stop *stop, const struct stop *with);
/* Its times in which the other one (NULL: none) does not last; the caller frees the spans. */
struct stop stop_without(const struct stop *stop, const struct stop *other);
int64_t stop_within(const struct stop *stop, int64_t start_ns, int64_t end_ns);

/* What the result has of a counter, whose name `format` makes: its increase in the whole run ("total") and in
 * the measure phase ("delta"), and its rate in that ("rate_per_s"). NAN: not counted. */
double seen_value(const struct seen *s, const char *role, const char *member, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define seen_counter(s, role, ...) seen_value(s, role, "total", __VA_ARGS__)
#define seen_delta(s, role, ...)   seen_value(s, role, "delta", __VA_ARGS__)
#define seen_rate(s, role, ...)    seen_value(s, role, "rate_per_s", __VA_ARGS__)
/* The host of a role that is one of several NICs; NULL: the role is a host or a switch. */
const char *seen_machine(const struct seen *s, const char *role);
/* All counters of a role, by name; NULL: none. */
const json_t *seen_counters(const struct seen *s, const char *role);
/* The samples of a column; NULL: none. Those of switches are not seen with `hosts_only`. */
const struct series *seen_series(const struct seen *s, const char *role, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A sample's value at the time, or before it. NAN: none. */
double series_at(const struct series *series, int64_t time_ns);

/* The part of the time from the first to the last pause of the stop (NULL: of the measure phase) in which
 * more than a few frames of the priority waited at a switch's port: it is not the port alone that is busy.
 * `but`: of the time in which this one (NULL: none) does not last. NAN: no queue was sampled. */
double seen_backlog(const struct seen *s, size_t port, int priority, const struct stop *stop,
                    const struct stop *but);
/* The same of the time of a flow, at the port of its way at which most waits and others send; NAN: others
 * send at one whose queue was not sampled. */
double seen_shared_backlog(struct seen *s, const struct flow_seen *flow);
/* Do others than this sender put frames into the port while the flow runs, acknowledgements too? */
bool seen_is_shared(struct seen *s, const struct flow_seen *flow, size_t port, const char *sender);
/* The mean of a column while the flow ran, and what it varies by; NAN: no sample is of its time. */
double seen_mean(const struct series *series, const struct flow_seen *during, double *variance);
/* The bytes of the flow's priority that waited at a switch's port while it ran, in the mean; NAN: not
 * sampled.
 */
double seen_queue_bytes(const struct seen *s, size_t port, const struct flow_seen *during, double *variance);
/* The part of what a switch's port carries that left there while the flow ran (NULL: in the measure phase);
 * NAN: not counted. */
double seen_use(const struct seen *s, size_t port, const struct flow_seen *during);
/* The same from one time to another; NAN also where it has no two samples. */
double seen_use_within(const struct seen *s, size_t port, int64_t from_ns, int64_t to_ns);
/* Did more leave the port in the measure phase than what surely leaves there, of flows that have no other
 * way? True where bytes were not sampled. */
bool seen_has_others(struct seen *s, size_t port);
/* Did the flow run in a part of the measure phase only? */
bool seen_is_partial(const struct seen *s, const struct flow_seen *flow);
/* Does as much leave a switch's port as its line carries, and do others wait there, while the flow runs? */
bool seen_is_full(const struct seen *s, size_t port, const struct flow_seen *during);
/* What a switch's port, or the queueing discipline of one that forwards, marked: "total" or "delta"; NAN: not
 * counted. */
double seen_marks(const struct seen *s, size_t port, const char *member);
/* The role of a node, or its own name. */
const char *seen_role(const struct seen *s, size_t node);
/* The name of the node at the other end of the port's link. */
const char *seen_behind(const struct seen *s, size_t port);
/* May packets of the flow leave by this port? True where routes are not known. */
bool seen_may_pass(struct seen *s, const struct flow_seen *flow, size_t port);
/* The same for a way of a flow whose ends are in the topology; else false. */
bool seen_passes(struct seen *s, const struct flow_seen *flow, enum way way, size_t port);
/* May packets of the flow leave by this port, or their acknowledgements? */
bool seen_may_use(struct seen *s, const struct flow_seen *flow, size_t port);
/* Does the scenario turn "pfc" or "ecn" on for the priority, at hosts? */
bool seen_is_on(const struct seen *s, const char *setting, int priority);
/* The same as it was read back at the role: is it there, without the priority? */
bool seen_is_off(const struct seen *s, const char *role, const char *setting, int priority);
/* Was PFC on for the priority at this role, as it was read back? As the scenario says, where it was not. */
bool seen_is_lossless(const struct seen *s, const char *role, int priority);
/* Do CNPs change the rate of the flow's sender? */
bool seen_obeys_cnps(const struct flow_seen *flow);
/* The messages that the flow has in flight at most. */
double seen_depth(const struct flow_seen *flow);
/* The share that the flow asks for beside others of its sender; what it sends again it does not. */
double seen_asked(const struct flow_seen *flow);
/* Does the flow lack nothing of what it asks for? */
bool seen_takes_all(const struct flow_seen *flow);
/* The value of a quantity of the scenario or lab, in its base unit; `fallback`: it is not there. */
int64_t seen_quantity(const json_t *value, int64_t fallback);
/* What left a port, or arrived at it, after its link had been down. */
struct after_down {
    double before_bps, bps; /* the middle of the rates between samples, before and since */
    int64_t from_ns, to_ns; /* until it was down again */
};
/* The longest time in which the port's link had one rate, far below that before, after it was down (links.c).
 */
bool seen_slower_since(const struct seen *s, size_t port, int priority, struct after_down *after);
/* PFC frames that the other end of the port's link sent to it, of which not all arrived (links.c). */
struct lost_pauses {
    double sent, arrived, damaged; /* of these some may have been such */
    double asked_ns, held_ns;      /* in the measure phase: the pauses that it was sent, and those it made */
};
/* Are there any? In a simulated run each is counted; on hosts and switches frames that arrived damaged tell.
 */
bool seen_lost_pauses(const struct seen *s, size_t port, int priority, struct lost_pauses *lost);
/* Of what came to a switch by the port and was lost for lack of room, the frames between two samples with
 * each PFC frame of the priority heard by the other end, since the one before them: it was stopped in time.
 * NAN: not sampled, or not simulated: then samples of both ends are of different times (links.c). */
double seen_lost_though_stopped(const struct seen *s, size_t port, int priority);
/* Where the flow's time went: its shares (shares.c). */
void seen_share_out(struct seen *s, struct flow_seen *flow);
/* What losses took from the flow: it waited, and what it sent again took room that it asked for. */
double seen_lost(const struct flow_seen *flow);
/* The numbers of all flows, those first that have most of these costs; the caller frees. */
size_t *seen_by_cost(const struct seen *s, const double *cost_of);
/* The part of the flow's time in which the other one runs too. */
double seen_overlap(const struct flow_seen *flow, const struct flow_seen *other);
/* The most that a port on all its packets' way was kept from sending in this time. */
int64_t seen_stopped_ns(struct seen *s, const struct flow_seen *flow, int64_t from_ns, int64_t to_ns);
/* What a host's line carries, b/s; 0: unknown. */
double seen_line_bps(const struct seen *s, const char *role);

#endif
