/*
 * One flow on one side: device, memory, queue pairs, engine and meter, and the control connection to the
 * other side. drive.c and serve.c use it for the steps of wire.h.
 */
#ifndef TRAFFIC_FLOW_SIDE_H
#define TRAFFIC_FLOW_SIDE_H

#include "traffic/connection/control.h"
#include "traffic/engine/engine.h"
#include "traffic/engine/meter.h"
#include "traffic/output.h"

/* Time limit for the other side to get ready, to complete its messages in flight, or to check its memory. */
#define FLOW_SIDE_PATIENCE_NS (120LL * 1000000000)

struct flow_side {
    const struct plan *plan;
    bool driver;
    struct control control;
    struct output
        *output;    /* destination of this side's lines; a server sends its lines to the driver instead */
    int stop_fd;    /* readable when the program must stop */
    bool heed_stop; /* whether stop_fd ends waiting */

    struct device device;
    struct ibv_pd *pd;
    struct memory memory;
    int64_t
        numa_node; /* of the flow's host memory, and of its threads where the plan has numa; negative: any */
    int64_t outgoing, incoming; /* offsets of the halves in the memory */
    struct connection connection;
    struct engine engine;
    bool hardware_pacing;
    struct endpoint mine, peer;

    struct meter meter;
    bool metered;        /* the meter is running */
    int64_t errors;      /* of the phase, for the summary */
    int64_t silent_ns;   /* before a completion error: for how long no message was completed; not above 0:
                            unknown */
    bool stopping;       /* told to stop */
    bool peer_gone;      /* the control connection ended, or the peer is silent */
    bool phase_reported; /* the phase has its summary line */

    /* received but not yet processed messages of the other side */
    bool got_ready, got_start, got_stop, got_drained, got_result, got_finish, got_phase;
    bool got_summary; /* of the server's direction, in this phase */
    bool said_stop;   /* in this phase: what comes before is not about all of it */
    struct start start;
    struct phase phase;
    struct result result;
    int64_t *arrived, *arrived_before; /* for each queue pair: messages that the other side has sent in all,
                                          and before this phase */
};

/* Open device and memory and create queue pairs; sets `mine`, which the other side needs. The control
 * connection must exist. */
int flow_side_open(struct flow_side *s, const struct local_options *local, int memory_kind, struct error *e);
/* Connect the queue pairs with those in `peer`, the other side's endpoint. */
int flow_side_connect(struct flow_side *s, struct error *e);
void flow_side_close(struct flow_side *s);

/* Prepare for messages of this size: write the pattern, post receives. */
int flow_side_prepare(struct flow_side *s, int64_t message_bytes, int64_t count, struct error *e);
/* Sleep for `start_in_ns`, then start the meter. */
int flow_side_begin(struct flow_side *s, const struct start *start, struct error *e);
/* Run the engine. */
int flow_side_post(struct flow_side *s, struct error *e);
/* Wait for one event (at most until deadline_ns, CLOCK_MONOTONIC): a heartbeat, a line, a message or a
 * failure. A message sets its got_... */
int flow_side_pump(struct flow_side *s, int64_t deadline_ns, struct error *e);
/* Handle events until *flag is set; `what` is used in the error sentence after timeout_ns. */
int flow_side_await(struct flow_side *s, const bool *flag, int64_t timeout_ns, const char *what,
                    struct error *e);
/* Tell the engine to stop and handle events until its messages in flight are completed. */
int flow_side_drain(struct flow_side *s, struct error *e);
/* Tell the other side (stop or drained) what was sent on each queue pair. */
int flow_side_say_sent(struct flow_side *s, enum message_type type, struct error *e);
/* Messages of this phase: sent by this side, and by the other side as reported by it. */
void flow_side_counts(const struct flow_side *s, int64_t *sent, int64_t *arrived);
/* End the engine's thread. */
void flow_side_quit(struct flow_side *s);
/* End the measurement and print the last interval's line. */
void flow_side_close_window(struct flow_side *s);
/* Print the summary of the window; only once in a phase. */
void flow_side_report(struct flow_side *s, bool complete);
/* Compare the received data with the pattern. */
int flow_side_check(struct flow_side *s, struct result *result, struct error *e);
/* The error line of a side that failed; before there is a plan, its offer was refused. */
json_t *flow_side_error(const struct flow_side *s, const struct error *e);
/* Print an error line and the summary of an incomplete phase. */
void flow_side_failed(struct flow_side *s, const struct error *e);

/* Print a line, or send it to the driver if this is the server. Releases the line. */
void flow_side_line(struct flow_side *s, json_t *line);
/* The header line of this side's direction. */
json_t *flow_side_header(const struct flow_side *s);
bool flow_side_sends(const struct flow_side *s);

#endif
