/*
 * Where the figures of a run come from: a simulator's arithmetic, the kernel's own drivers on a virtual
 * ConnectX (docs/virtual-connectx.md), or the NICs of the hosts. Each host's facts say it (host-facts:
 * nics[].virtual); whoever shows figures asks here, so that none that were not measured on hardware pass for
 * such.
 */
#ifndef LIB_ORIGIN_H
#define LIB_ORIGIN_H

#include <jansson.h>

enum origin { ORIGIN_MEASURED, ORIGIN_VIRTUAL, ORIGIN_SIMULATED, ORIGIN_MIXED };
/* "measured", "virtual", "simulated", "mixed"; ended by NULL. */
extern const char *const origin_names[];

/* The origin of two together: mixed, if they differ. */
enum origin origin_of_both(enum origin a, enum origin b);

/* The origin of a host by host-facts' document: of the NICs with these names (`count` of them), or of all
 * that it lists when it has none of them. */
enum origin origin_of_facts(const json_t *facts, const char *const netdevs[], size_t count);

/* The origin of a result or an index: its own word, "simulated" of older ones, and the words of its hosts and
 * cells; where these differ, mixed. */
enum origin origin_of_result(const json_t *result);

/* The word that pages and summaries show: "simulated", "virtual", "partly virtual"; NULL for what was
 * measured. */
const char *origin_word(enum origin origin);

/* The line of a virtual NIC in host-facts' document, {"line_bps", "nominal_bps", "scale"}; of several NICs
 * the one with the largest scale; NULL: none is known. A borrowed reference. */
const json_t *origin_scaled(const json_t *facts);

#endif
