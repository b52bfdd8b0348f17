/* Sets of CPUs as the kernel writes them: "0-3,8". */
#ifndef LIB_CPULIST_H
#define LIB_CPULIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPULIST_CPUS 8192 /* the largest NR_CPUS of x86 */

struct cpulist {
    uint64_t words[CPULIST_CPUS / 64];
};

/* Add the CPUs of a list to the set. False: this is not a list; "" is one without CPUs. */
bool cpulist_add(struct cpulist *set, const char *text);
size_t cpulist_count(const struct cpulist *set);
bool cpulist_within(const struct cpulist *set, const struct cpulist *other);
bool cpulist_equal(const struct cpulist *a, const struct cpulist *b);
/* As the kernel writes it; what does not fit is left out. */
void cpulist_format(const struct cpulist *set, char *buffer, size_t size);

#endif
