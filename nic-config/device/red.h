/* Parameters of the kernel's RED, computed from the user's values like tc(8). */
#ifndef NIC_CONFIG_RED_H
#define NIC_CONFIG_RED_H

#include "lib/error.h"
#include "lib/formats/settings.h"
#include <linux/pkt_sched.h>
#include <stdint.h>

struct red_parameters {
    struct tc_red_qopt qopt;
    struct red_derived derived;
};

/* Fails as red_derive does. */
int red_compute(const struct settings_red *red, struct red_parameters *out, struct error *e);
/* Whether two parameter sets are equal in all values that can be read back from the kernel. */
bool red_same(const struct settings_red *a, const struct settings_red *b);

/* Time that `bytes` take at a rate, in ticks of the kernel's packet schedulers (64 ns, /proc/net/psched).
 */
uint32_t red_ticks(int64_t bytes, int64_t rate_bps);

#endif
