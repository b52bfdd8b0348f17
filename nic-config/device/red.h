/* Parameters of the kernel's RED, computed from the user's values like tc(8). */
#ifndef NIC_CONFIG_RED_H
#define NIC_CONFIG_RED_H

#include "lib/error.h"
#include "lib/formats/settings.h"
#include <linux/pkt_sched.h>
#include <stdint.h>

struct red_parameters {
    struct tc_red_qopt qopt;
    uint32_t max_p; /* probability, of 2^32 */
    uint8_t stab[256];
};

/* The default of burst in packets: (2*min + max) / (3*avpkt), as in tc. */
int64_t red_burst(const struct settings_red *red);
/* Fails when there is no weight, slope or table for these values; the error says which value to change. */
int red_compute(const struct settings_red *red, struct red_parameters *out, struct error *e);
/* Whether two parameter sets are equal in all values that can be read back from the kernel. */
bool red_same(const struct settings_red *a, const struct settings_red *b);

/* Time that `bytes` take at a rate, in ticks of the kernel's packet schedulers (64 ns, /proc/net/psched).
 */
uint32_t red_ticks(int64_t bytes, int64_t rate_bps);

#endif
