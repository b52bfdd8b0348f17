/* What a scenario captures, and what is judged in it. docs/captures.md, docs/verify.md. */
#ifndef LIB_CAPTURE_H
#define LIB_CAPTURE_H

#include "lib/document/table.h"
#include "lib/text.h"

/* The file in the folder of a run. */
#define CAPTURE_FILE "capture.pcapng"

enum capture_phase { CAPTURE_RUN, CAPTURE_WARMUP, CAPTURE_MEASURE, CAPTURE_COOLDOWN };

struct capture {
    struct list_of ports;      /* char *: "NODE" or "NODE:PORT"; empty: all */
    struct list_of flows;      /* char *: names, or globs; empty: all */
    struct list_of priorities; /* int64_t; empty: all */
    int phase;                 /* enum capture_phase */
    int64_t snap_bytes;        /* of a frame at most */
    int64_t limit_bytes;       /* of the file at most */
};

extern const struct table capture_table;
/* As without any key in the scenario; to be released with table_free and free. NULL: out of memory. */
struct capture *capture_of_all(void);

/* The checkers of captured packets (verify/): CHECK(constant, identifier, name). */
#define CAPTURE_CHECKS(CHECK)                \
    CHECK(GO_BACK_N, go_back_n, "go-back-n") \
    CHECK(CNP, cnp, "cnp")                   \
    CHECK(DCQCN, dcqcn, "dcqcn")             \
    CHECK(PFC, pfc, "pfc")                   \
    CHECK(ECN, ecn, "ecn")                   \
    CHECK(ICRC, icrc, "icrc")
#define CAPTURE_CHECK_CONSTANT(constant, identifier, name) CHECK_##constant,
enum capture_check { CAPTURE_CHECKS(CAPTURE_CHECK_CONSTANT) CAPTURE_CHECK_COUNT };
extern const char *const capture_check_names[]; /* ended by NULL */

/* When it begins and ends, since the beginning of the warm-up; `phase_ns`: when each phase begins, and at
 * last the end of the run. */
int64_t capture_start_ns(const struct capture *c, const int64_t phase_ns[4]);
int64_t capture_end_ns(const struct capture *c, const int64_t phase_ns[4]);

/* A warning of a capture that ended at its limit: what time of the run it covers. `left_out_ns`: the time of
 * the first frame that it does not have. */
void capture_say_full(const struct capture *c, const int64_t phase_ns[4], int64_t left_out_ns,
                      struct text *out);

#endif
