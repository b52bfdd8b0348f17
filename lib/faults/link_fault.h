/* A fault of a link in a simulated lab, as a scenario states it. docs/scenario.md. */
#ifndef LIB_LINK_FAULT_H
#define LIB_LINK_FAULT_H

#include "lib/clock.h"
#include "lib/document/table.h"

enum link_fault_kind { LINK_DOWN, LINK_FLAP, LINK_RATE, LINK_LOSS };
enum link_fault_phase { FAULT_IN_WARMUP, FAULT_IN_MEASURE, FAULT_IN_COOLDOWN };
/* Their names, ended by NULL. */
extern const char *const link_fault_phases[];

/* The latest time of a fault: a day. */
#define LINK_FAULT_MOST_NS (86400 * NS_PER_S)

/* Most flaps of one fault. */
#define LINK_FAULT_MOST_FLAPS 10000

/* The two states of Gilbert and Elliott's channel: the steps between them, and the loss in each;
 * probabilities for each frame. */
struct link_fault_bursts {
    double to_bad, to_good, loss_bad, loss_good;
};

struct link_fault {
    struct list_of link; /* char *: its two ends, "NODE" or "NODE:PORT" */
    int kind;            /* enum link_fault_kind */
    int phase;           /* enum link_fault_phase: times count from its beginning */
    int64_t start_ns;
    int64_t stop_ns; /* FIELD_UNSET: the end of the run, or of the last flap */
    int64_t period_ns;
    double duty; /* share of a period that the link is down */
    int64_t count;
    int64_t rate_bps, retrain_ns;
    double loss;
    struct link_fault_bursts *bursts; /* NULL: `loss` alone */
};

extern const struct table link_fault_table;

/* Values that have a default: how often a flapping link goes down and how long each time, and how long a link
 * that changes its rate is down. */
int64_t link_fault_flaps(const struct link_fault *f);
int64_t link_fault_flap_down_ns(const struct link_fault *f);
int64_t link_fault_retrain_ns(const struct link_fault *f);

/* Times since the beginning of the warm-up; `phase_ns`: when each phase begins, and at last the end of the
 * run. `end`: of the fault. */
int64_t link_fault_start_ns(const struct link_fault *f, const int64_t phase_ns[4]);
int64_t link_fault_end_ns(const struct link_fault *f, const int64_t phase_ns[4]);

/* Does the `link` of a fault, whose place is `path`, name two ends? */
int link_fault_check_ends(const struct list_of *link, const char *path, struct error *e);
/* An end of a link is "NODE" or "NODE:PORT": copies the node's name to `name` and gives the port's number, -1
 * when there is none. */
int link_fault_end(const char *text, char *name, size_t size, int64_t *port);

#endif
