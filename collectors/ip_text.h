/* The texts in which the kernel tells IP's counters. */
#ifndef COLLECTORS_IP_TEXT_H
#define COLLECTORS_IP_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum ip_text_layout {
    IP_TEXT_PAIRS, /* a line of names and a line of values, both begun by "Prefix:" */
    IP_TEXT_LINES, /* a name and a value a line */
};

/* The values of `names` (ended by NULL; nstat's names: prefix and name joined), LINES_NULL where absent.
 * Untrusted text, not terminated. */
void ip_text_values(enum ip_text_layout layout, const char *text, size_t length, const char *const *names,
                    int64_t *values);

#endif
