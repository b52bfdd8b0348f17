/*
 * RED as tc-red(8) sets it up: what people give, and what the kernel is given for it. The formulas are those
 * of iproute2's tc/tc_red.c and tc/tc_core.c; what they mean is in linux include/net/red.h.
 */
#ifndef LIB_ROCE_RED_H
#define LIB_ROCE_RED_H

#include "lib/document/table.h"

#define RED_STAB_SIZE 256

enum settings_red_at { RED_AT_EGRESS, RED_AT_INGRESS };

/* A kernel RED qdisc on a forwarding host (tc-red's names). */
struct settings_red {
    int at; /* enum settings_red_at */
    int64_t limit_bytes;
    int64_t min_bytes;
    int64_t max_bytes;
    int64_t avpkt_bytes;
    int64_t burst; /* packets */
    int64_t bandwidth_bps;
    double probability;
    int ecn;
    int roce_only;                 /* mark UDP port 4791 alone */
    int64_t shape_bps;             /* an htb class of this rate around it; unset: none */
    int64_t wlog, plog, scell_log; /* as the kernel keeps them, computed from the others */
};

struct red_derived {
    uint8_t wlog;                /* weight of the average, as a power of two */
    uint8_t plog;                /* slope of the probability, as a power of two */
    uint8_t scell_log;           /* step of the idle time, as a power of two */
    uint32_t max_p;              /* probability, of 2^32 */
    uint8_t stab[RED_STAB_SIZE]; /* right shifts of the average after an idle time, by its steps */
};

/* The default of burst in packets: (2*min + max) / (3*avpkt), as in tc. */
int64_t red_burst(const struct settings_red *red);
/* A probability as the kernel keeps it, of 2^32. */
uint32_t red_max_p(double probability);
/* packet_time: of avpkt at the bandwidth, in the unit in which idle times are counted. Fails when no weight,
 * slope or table fits these values, saying which value to change. */
int red_derive(const struct settings_red *red, double packet_time, struct red_derived *out, struct error *e);

#endif
