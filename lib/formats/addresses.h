/* Addresses that people write into documents. */
#ifndef LIB_ADDRESSES_H
#define LIB_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

/* Parse "10.0.0.1/24" or "fd00::1/64" into 4 or 16 bytes: the family (AF_INET, AF_INET6), or 0 if it is neither. */
int address_parse(const char *text, uint8_t bytes[16], int *prefix);
/* The same as a question; the length of the prefix may also be missing. */
bool address_is_ip(const char *text);
/* "52:54:00:12:34:56" */
bool address_is_mac(const char *text);

#endif
