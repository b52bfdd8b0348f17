/* Quantities with units ("10ms", "64KiB", "25Gb/s", "1m") and their values (int64_t). */
#ifndef LIB_UNITS_H
#define LIB_UNITS_H

#include "lib/error.h"
#include "lib/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unit {
    UNIT_TIME_NS,       /* ns us ms s min h      kept in nanoseconds  */
    UNIT_TIME_PS,       /* ps ns us ms           kept in picoseconds (the simulator's physics) */
    UNIT_BYTES,         /* B kB KB MB GB KiB MiB GiB  kept in bytes   */
    UNIT_RATE_BPS,      /* b/s kb/s Mb/s Gb/s B/s kB/s MB/s GB/s KiB/s MiB/s GiB/s  kept in bits per second */
    UNIT_LENGTH_MM,     /* mm cm m km            kept in millimetres  */
    UNIT_PER_SECOND,    /* /s k/s M/s           kept in events per second */
    UNIT_PERCENT_MILLI, /* %                 kept in thousandths of a per cent */
};
#define UNIT_COUNT (UNIT_PERCENT_MILLI + 1)

/* Parse `string` ("0" needs no unit; decimals are allowed where the result is whole). */
int units_parse(enum unit unit, const char *string, int64_t *value, struct error *e);
/* The unit and value of a quantity, whose suffix tells both; false if it is none. */
bool units_find(const char *string, enum unit *unit, int64_t *value);
/* Write the shortest exact form into buffer ("64KiB"); returns buffer. */
char *units_format(enum unit unit, int64_t value, char *buffer, size_t size);
/* Which prefixes of sizes are written: KiB, MiB and so on, kB, MB and so on, or both. Other quantities have
 * one kind. */
enum units_prefixes { UNITS_ANY, UNITS_BINARY, UNITS_DECIMAL };
/* Write the shortest exact form as a person would, with decimals ("1.5us", "12.5Gb/s"); returns buffer. */
char *units_write(enum unit unit, int64_t value, enum units_prefixes prefixes, char *buffer, size_t size);
/* A limit as sentences say it: as units_format, but with three digits, rounded toward 0, where that would
 * have more than five ("8.79Tb/s"); returns buffer. */
char *units_limit(enum unit unit, int64_t value, char *buffer, size_t size);
/* How much the largest unit is that is not above value: 1024 of 3000 bytes with binary prefixes. */
int64_t units_scale(enum unit unit, int64_t value, enum units_prefixes prefixes);
/* The unit in which times of about so many nanoseconds are easy to read, ns, us or ms, and what one of it is.
 */
const char *units_of_time(double ns, double *one_ns);
/* All nine decimals of seconds, as packets have them ("1700000000.003000000"); returns buffer. */
char *units_write_seconds(int64_t ns, char *buffer, size_t size);
/* "a time such as 10ms (ns, us, ms, s, min, h)": for error messages and documents. */
const char *units_describe(enum unit unit);
/* Add the names of its units: "ns", "us", ... */
void units_names(enum unit unit, const char *between, struct text *out);

#endif
