/*
 * The settings of a NIC's firmware that decide about congestion control and DCBX. The driver does not show
 * them: mstconfig (mstflint) or mlxconfig (NVIDIA's MFT), where one is installed, does.
 */
#ifndef COLLECTORS_FIRMWARE_CONFIG_H
#define COLLECTORS_FIRMWARE_CONFIG_H

#include "collectors/facts/facts.h"

/* What `mstconfig -d ADDRESS -e query` printed: {KEY: {"current", "next_boot"}} of the settings that are
 * known here, numbers or null. Older firmware shows only those of the next boot. NULL: this is not
 * such output. A new reference. */
json_t *firmware_config_parse(const char *text);

/* {"from", "values"} of the function, or {"missing": why}. In a copied tree: what was printed, as
 * FOLDER/mlxconfig/ADDRESS. */
json_t *firmware_config_read(const struct facts_source *s, const char *address);

/* A setting in force, of facts of a NIC: that of the next boot where the current one is not shown. -1: not
 * known. */
int64_t firmware_config_value(const json_t *nic, const char *key);
/* The same of a setting for each port ("LLDP_NB_DCBX" for LLDP_NB_DCBX_P2): function 0 of a card is its first
 * port. */
int64_t firmware_config_port_value(const json_t *nic, const char *key);
/* Were the settings read? */
bool firmware_config_known(const json_t *nic);

#endif
