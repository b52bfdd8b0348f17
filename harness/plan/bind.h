/*
 * A scenario's names in a lab whose hosts have several NICs: before the scenario is parsed, a role of such a
 * host becomes the roles of its NICs, and what names it, or some of its NICs, names these. docs/scenario.md.
 */
#ifndef HARNESS_BIND_H
#define HARNESS_BIND_H

#include "lib/formats/lab.h"

/* Has the lab a host with several NICs, or the document a name of a NIC? Otherwise binding changes nothing.
 */
bool bind_is_needed(const json_t *document, const struct lab *lab);
/* Bind a scenario's document (scenario_expand), which is changed. *changed: it is another one now. On error
 * the sentence names the place, and the host's NICs. */
int bind_scenario(json_t *document, const struct lab *lab, bool *changed, struct error *e);

#endif
