/* Who sets PFC, ETS and application priorities of a port: the host alone, an agent on it, or the NIC's
 * firmware; and what the port at the other end of the cable says of its own. */
#ifndef COLLECTORS_LLDP_H
#define COLLECTORS_LLDP_H

#include "collectors/facts/facts.h"
#include "nic-config/device/dcb.h"

/* {"mode", "peer"} by the driver: mode {"host", "lld_managed", "ieee", "cee"}; each null if the driver does
 * not show it. In a copied tree both are. */
json_t *facts_dcbx(const struct facts_source *s, const char *netdev);
json_t *dcbx_json(const struct dcb *dcb);

/* What the neighbour at the interface sent by LLDP, from lldpctl: {"from", "name", "port", "pfc", "willing",
 * "ets", "apps"}; "pfc": list of priorities, null if it sent no such TLV. null without lldpd or a neighbour.
 * In a copied tree: what `lldpctl -f json0` printed, as FOLDER/lldpctl. */
json_t *facts_lldp(const struct facts_source *s, const char *netdev);
/* The same from lldpctl's document. */
json_t *lldp_parse(const json_t *document, const char *netdev);

#endif
