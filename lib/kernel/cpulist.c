#include "lib/kernel/cpulist.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_cpu(const struct cpulist *set, size_t cpu)
{
    return cpu < CPULIST_CPUS && set->words[cpu / 64] >> (cpu % 64) & 1;
}

static bool parse_cpu(const char **text, size_t *cpu)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    unsigned long value = strtoul(*text, &end, 10);
    *text = end;
    *cpu = value;
    return value < CPULIST_CPUS;
}

bool cpulist_add(struct cpulist *set, const char *text)
{
    while (*text != '\0') {
        size_t first, last;
        if (!parse_cpu(&text, &first))
            return false;
        last = first;
        if (*text == '-' && (text++, !parse_cpu(&text, &last)))
            return false;
        if (last < first || (*text != ',' && *text != '\0'))
            return false;
        for (size_t cpu = first; cpu <= last; cpu++)
            set->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
        text += *text == ',';
    }
    return true;
}

size_t cpulist_count(const struct cpulist *set)
{
    size_t count = 0;
    for (size_t i = 0; i < CPULIST_CPUS / 64; i++)
        count += (size_t)__builtin_popcountll(set->words[i]);
    return count;
}

bool cpulist_within(const struct cpulist *set, const struct cpulist *other)
{
    for (size_t i = 0; i < CPULIST_CPUS / 64; i++)
        if (set->words[i] & ~other->words[i])
            return false;
    return true;
}

bool cpulist_equal(const struct cpulist *a, const struct cpulist *b)
{
    return memcmp(a->words, b->words, sizeof a->words) == 0;
}

void cpulist_format(const struct cpulist *set, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t cpu = 0; cpu < CPULIST_CPUS; cpu++) {
        size_t last = cpu;
        char range[32];
        if (!has_cpu(set, cpu))
            continue;
        while (has_cpu(set, last + 1))
            last++;
        snprintf(range, sizeof range, last > cpu ? "%s%zu-%zu" : "%s%zu", used ? "," : "", cpu, last);
        if (used + strlen(range) >= size)
            return;
        memcpy(buffer + used, range, strlen(range) + 1);
        used += strlen(range);
        cpu = last;
    }
}
