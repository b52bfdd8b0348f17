/* How causes are found: what ports of the network tell, what hosts tell, and losses. */
#ifndef REPORTS_EXPLAIN_JUDGE_H
#define REPORTS_EXPLAIN_JUDGE_H

#include "reports/explain/causes.h"

/* Of the measure phase: pauses and losses that take less from every flow and port are no cause of anything.
 */
#define MATTERS 0.01

struct cause *causes_add(const struct seen *s, struct causes *causes, enum cause_kind kind,
                         const char *culprit, enum sureness sureness);
/* NULL: there is none of this kind and culprit. */
struct cause *causes_get(const struct causes *causes, enum cause_kind kind, const char *culprit);
/* That which there is, or a new one, as *is_new (if not NULL) says. */
struct cause *causes_get_or_add(const struct seen *s, struct causes *causes, enum cause_kind kind,
                                const char *culprit, enum sureness sureness, bool *is_new);
/* It took this share from the flow: with what it took before, at most all. */
void cause_add_cost(struct cause *cause, size_t flow, double cost);
/* Adds a line that was perhaps said of another flow or port already; returns whether it was not. */
bool cause_tell_once(struct cause *cause, const struct text *line);

/* Between the ports of a ring, in the name of the cause. */
#define RING_ARROW " -> "
/* Is the port one of the ring? */
bool judge_is_in_ring(const struct cause *cause, const char *port);

/* Did the port's link lose packets as it was down, or was it down for a part, in the measure phase? */
bool judge_failed(const struct seen *s, size_t port);
/* Both directions of a link have one name, with the node first that the network has first; the caller frees.
 */
char *judge_link_name(const struct seen *s, size_t port);
/* A port that packets of the flows that pass this one may take as well: any, or one that is not full, by
 * whichever path, or one whose link went down, so that what is more than this one carries is what the other
 * one does not. NETWORK_NONE: there is none. */
enum beside { BESIDE_ANY, BESIDE_WITH_ROOM, BESIDE_FAILED };
size_t judge_port_beside(struct seen *s, size_t port, int priority, enum beside which);
/* The port by which all packets of the flow reach its receiver; NETWORK_NONE: unknown. */
size_t judge_last_port(const struct seen *s, const struct flow_seen *flow);
/* Is it one that loses packets? */
bool judge_loses(const struct cause *cause);
/* The cause that it went down: that which there is, or a new one. */
struct cause *judge_link_down(struct seen *s, struct causes *causes, size_t port);
/* Frames that came to the port with a wrong check sequence; 0: none, or they were not counted. */
double judge_damaged(const struct seen *s, size_t port);
/* The cause that its link loses PFC frames, or damages frames: that which there is, or a new one. */
struct cause *judge_lost_pauses(struct seen *s, struct causes *causes, size_t port, int priority,
                                const struct lost_pauses *lost);
/* The same that it carries less than its rate; NULL: nothing tells that it does. By a queue that stands: */
struct cause *judge_slowed(struct seen *s, struct causes *causes, size_t port, int priority);
/* By what it carries since it was down. */
struct cause *judge_slower_since(struct seen *s, struct causes *causes, size_t port, int priority);
/* What was counted in the measure phase or, if nothing was in that, in the whole run, as *whole (if not NULL)
 * says. */
double judge_count(const struct seen *s, const char *role, const char *counter, bool *whole);
/* " 58 (rx_discards_phy) in the measure phase" */
void judge_add_count(const struct seen *s, struct text *out, const char *role, const char *counter);
/* " and sent 24.87 Gb/s in the measure phase", of lines that guests can fill " ... 1.99 Mb/s ...". */
void judge_add_rate(struct text *out, const char *before, double bps, const char *after);
/* Do flows of the priority, or their acknowledgements, pass the port? Priorities that share a buffer are
 * paused together, also those that no flow has. */
bool judge_has_flows(struct seen *s, size_t port, int priority);

/* A host that pauses its link, for `longest_ns` at a time. */
struct cause *judge_host(const struct seen *s, struct causes *causes, const char *host, int priority,
                         int64_t longest_ns);

/* A receiver that takes less than its line carries: the cause that there is of it, or a new one of this kind.
 */
struct cause *judge_receiver(const struct seen *s, struct causes *causes, enum cause_kind kind,
                             const char *host, int priority);

/* What stood in a receive buffer that pauses nothing, of the flow of this number; returns what that took. */
double judge_buffered(const struct seen *s, struct causes *causes, size_t flow);

/* Pauses by their roots; marks, and full lines without pauses; both as ports of switches tell it. */
void judge_roots(struct seen *s, struct roots *roots, struct causes *causes);
void judge_queues(struct seen *s, struct roots *roots, struct causes *causes);
/* Pauses and marks as hosts alone tell it. */
void judge_hosts(struct seen *s, struct causes *causes);
/* What receivers lose, for lack of room. */
void judge_receivers(struct seen *s, struct causes *causes);
/* Losses that a counter of a link or buffer tells of, and those that none does. */
void judge_losses(struct seen *s, struct causes *causes);
void judge_other_losses(struct seen *s, struct causes *causes);

#endif
