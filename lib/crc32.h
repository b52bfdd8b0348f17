/* CRC-32 of IEEE 802.3, reflected. */
#ifndef LIB_CRC32_H
#define LIB_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Goes on with a CRC, without the inversions before the first byte and after the last. */
uint32_t crc32_continue(uint32_t crc, const void *data, size_t length);
/* The same over so many zero bytes, at most 65535, in a time that hardly depends on their number. */
uint32_t crc32_zeros(uint32_t crc, uint32_t length);

#endif
