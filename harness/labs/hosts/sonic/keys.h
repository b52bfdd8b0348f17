/* Keys of CONFIG_DB. */
#ifndef HARNESS_SONIC_KEYS_H
#define HARNESS_SONIC_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Of a name "TABLE|ENTRY" the entry, within `name`, and the table, which is cut to its size; NULL: there is no entry. */
const char *sonic_key_entry(const char *name, char *table, size_t size);
/* Of a key "PORTS|NUMBERS", on a VoQ chassis "HOST|ASIC|PORTS|NUMBERS", the ports, within `key`; NULL: it has no numbers. */
const char *sonic_key_ports(const char *key, size_t *length);
/* Is the port in a list such as "Ethernet0,Ethernet4"? */
bool sonic_key_lists(const char *list, size_t length, const char *port);

#endif
