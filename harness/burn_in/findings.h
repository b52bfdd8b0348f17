/*
 * Who is to blame: from what the stages of a burn-in measured to hosts, NICs, links and switches. No file is
 * read here, and nothing but the document that is given.
 */
#ifndef HARNESS_BURN_IN_FINDINGS_H
#define HARNESS_BURN_IN_FINDINGS_H

#include <jansson.h>

/*
 * What was seen, by seen.h:
 *   nodes  NAME: {machine, nic (its name, "" of the only one), class (NICs of one are to carry the same),
 *          relation (of its nearest GPU: "PIX", ..., left out if it is not known),
 *          line_bps (of its port, where the host says it),
 *          relations {"0": "PIX", ...} of GPUs by their numbers, origin ("virtual": a model of a NIC)}
 *   links  [{a, b, bps (as the lab states it; left out if it does not)}]: names of nodes and switches; the
 *          ports of a switch are its links in this order
 *   switches [NAME]
 *   simulated  counters of all nodes are of one moment
 *   marks  false: the lab says that no switch marks packets (ECN); else left out
 *   runs   [{stage, folder, ecn (DCQCN is on), light (nothing waits), priorities (of flows), flows [FLOW],
 *          counters NODE: {NAME: increase, or mean of a gauge},
 *          totals NODE: {NAME: increase over the whole run}, rates NODE: {NAME: increase in a second},
 *          duration_ns,
 *          collectives {"all-reduce, VARIABLE VALUE": GB/s of bus bandwidth}}]
 *   FLOW   {from, to, memory, gpu (its number), bps, again (packets that were sent again), marked}
 *   untested [sentences]: stages that the lab has too few hosts for
 *   failed STAGE: {says (which expectations failed), folder}
 *   facts  MACHINE: {"firmware of NICs": "28.39", ...}
 *   baseline {figures, facts, collectives, nvbandwidth}: of an accepted burn-in
 *   doctor [{host, check, verdict, reason}]
 *   nvbandwidth MACHINE: as in ask.h
 *
 * Returns a new object:
 *   findings [{kind, culprit, host, nic, link [a, b], switch, sure, says, evidence [...], figure, expected,
 *          unit, source, stage}], at most one for each part and kind
 *   figures NAME: {host_tx_bps, host_rx_bps, gpu_tx_bps, gpu_rx_bps}: the best of all rounds
 *   pairs  FROM: {TO: b/s}: the best of all rounds with host memory
 *   gpus   NIC: {GPU: {tx_bps, rx_bps, relation}}: of each pair that was measured
 *   collectives, of all runs
 *   unknown [sentences]: rates and features that could not be judged, and why: it is undecided then
 *   notes  [sentences]: what is good to know and decides nothing
 */
json_t *burn_in_findings(const json_t *seen);

#endif
