/* A fault of single frames, as a scenario states it. docs/scenario.md. */
#ifndef LIB_INJECTION_H
#define LIB_INJECTION_H

#include "lib/document/table.h"

/* In the order of the names that `packet` and `action` have. */
enum injection_packet { INJECT_DATA, INJECT_ACK, INJECT_NAK, INJECT_READ_REQUEST, INJECT_CNP, INJECT_PFC };
enum injection_action {
    INJECT_DROP,
    INJECT_CORRUPT,
    INJECT_MARK,
    INJECT_DELAY,
    INJECT_DUPLICATE,
    INJECT_REORDER,
    INJECT_CNP_SENT,
    INJECT_PAUSE,
    INJECT_STALL,
    INJECT_NOT_READY
};

struct injection_rule {
    char *name; /* NULL: none */
    char *flow; /* NULL: `link` */
    struct list_of
        link; /* char *: its two ends, as a fault of a link has them: frames from the first to the second */
    int packet, action;
    int64_t nth, every, count;                          /* FIELD_UNSET: not given */
    double probability;                                 /* NAN: not given */
    int64_t priority;                                   /* of the frames; FIELD_UNSET: all */
    int64_t delay_ns, behind, lasts_ns, pause_priority; /* FIELD_UNSET: not given */
    int phase;                 /* enum link_fault_phase: times count from its beginning */
    int64_t start_ns, stop_ns; /* stop: FIELD_UNSET: the end of the run */
};

extern const struct table injection_table;

/* "drop", "data" */
const char *injection_action_name(const struct injection_rule *r);
const char *injection_packet_name(const struct injection_rule *r);

/* A rule's entry in the result: its name, place, packets and action; NULL: out of memory. `i`: its place in
 * the scenario. */
json_t *injection_json(const struct injection_rule *r, size_t i);
/* The warning about an entry that has "seen" too and met no frame. */
json_t *injection_warning(const json_t *entry);

/* The first frame, counted from 1, then each `every`th, and how many at most: INT64_MAX without a limit. */
struct injection_choice {
    int64_t first, every, most;
};
struct injection_choice injection_choice(const struct injection_rule *r);

/* Times since the beginning of the warm-up; `phase_ns`: as for link_fault_start_ns. */
int64_t injection_start_ns(const struct injection_rule *r, const int64_t phase_ns[4]);
int64_t injection_end_ns(const struct injection_rule *r, const int64_t phase_ns[4]);

#endif
