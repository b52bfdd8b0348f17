/* The text with the kernel's IP counters: /proc/net/netstat and /proc/net/snmp. */
#ifndef COLLECTORS_IP_TEXT_H
#define COLLECTORS_IP_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The values of `names` (ended by NULL; nstat's: prefix and name joined, as in "IpExtInCEPkts"), LINES_NULL
 * where absent. The text consists of pairs of lines, names and values, both beginning with "Prefix:". It is
 * untrusted and not NUL-terminated. */
void ip_text_values(const char *text, size_t length, const char *const *names, int64_t *values);

#endif
