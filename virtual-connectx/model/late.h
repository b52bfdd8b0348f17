/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Rates that are kept by polls, which come late. */
#ifndef VCX_LATE_H
#define VCX_LATE_H

#include "virtual-connectx/model/base.h"

#define VCX_SLACK_NS 2000000u /* how late a poll may come and still keep a rate, at least */

/* What was free since then and had work is taken for that time. A poll that is late by less than that has
 * lost nothing. */
static inline void vcx_take_ns(uint64_t *free_ns, uint64_t now_ns, uint64_t ns)
{
    uint64_t slack = vcx_most(VCX_SLACK_NS, ns);
    if (*free_ns + slack < now_ns)
        *free_ns = now_ns - slack;
    *free_ns += ns;
}

#endif
