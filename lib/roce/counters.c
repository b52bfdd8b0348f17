#include "lib/roce/counters.h"

#include "lib/roce/dcqcn.h"
#include <string.h>

/* A DCQCN parameter is a gauge; its name, unit and meaning are those of its row in lib/roce/dcqcn.h. */
#define UNIT_BOOL(unit)    "state"
#define UNIT_INTEGER(unit) (sizeof(unit) > 1 ? (unit) : "value")
#define PARAMETER(point, kind, name, ofed, upstream, least, most, standard, unit, simulated, meaning) \
    {"dcqcn_" #point "_" #name, UNIT_##kind(unit),                                                    \
     COUNTER_GROUP_DCQCN,       COUNTER_GAUGE,                                                        \
     COUNTER_FROM_CC,           meaning},
#define PARAMETER_RP(...) PARAMETER(rp, __VA_ARGS__)
#define PARAMETER_NP(...) PARAMETER(np, __VA_ARGS__)

static const struct counter rows[] = {
#define DCQCN_PARAMETERS DCQCN_RP_ROWS(PARAMETER_RP) DCQCN_NP_ROWS(PARAMETER_NP)
#define COUNTER(pattern, unit, group, kind, origin, meaning) \
    {pattern, unit, COUNTER_GROUP_##group, COUNTER_##kind, COUNTER_FROM_##origin, meaning},
#include "lib/roce/counters.def"
};

const struct counter counter_unlisted = {
    "*", "events", COUNTER_GROUP_OTHER, COUNTER_COUNT, COUNTER_FROM_DRIVER, "A counter that is not listed."};

const struct counter *counters_all(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

/* ---- groups */

const char *const counter_group_names[] = {
#define GROUP(id, name, meaning) name,
#include "lib/roce/counters.def"
    NULL};

const char *const counter_group_choices[] = {"all",
#define GROUP(id, name, meaning) name,
#include "lib/roce/counters.def"
                                             NULL};

const char counter_group_list[] = "all"
#define GROUP(id, name, meaning) ", " name
#include "lib/roce/counters.def"
    ;

uint32_t counters_group_bits(const char *word, size_t length)
{
    for (size_t i = 0; counter_group_choices[i]; i++)
        if (strlen(counter_group_choices[i]) == length && memcmp(counter_group_choices[i], word, length) == 0)
            return i == 0 ? (1U << COUNTER_GROUPS) - 1 : 1U << (i - 1);
    return 0;
}

/* ---- units */

const struct counter_unit *counters_unit(const char *name)
{
    static const struct counter_unit units[] = {
        {"frames", COUNTER_NUMBER, 1, "frames", 1, 1},
        {"packets", COUNTER_NUMBER, 1, "packets", 1, 1},
        {"events", COUNTER_NUMBER, 1, "", 1, 1},
        {"requests", COUNTER_NUMBER, 1, "", 1, 1},
        {"bytes", COUNTER_BYTES, 1, "bytes", 1, 1},
        {"ns", COUNTER_TIME_NS, 1, "seconds", 1, 1000000000},
        {"us", COUNTER_TIME_NS, 1e3, "seconds", 1, 1000000},
        {"ms", COUNTER_TIME_NS, 1e6, "seconds", 1, 1000},
        {"seconds", COUNTER_TIME_NS, 1e9, "seconds", 1, 1},
        {"b/s", COUNTER_RATE_BPS, 1, "bytes_per_second", 1, 8},
        {"Mb/s", COUNTER_RATE_BPS, 1e6, "bytes_per_second", 125000, 1},
        {"bytes/s", COUNTER_RATE_BPS, 8, "bytes_per_second", 1, 1},
        {"%", COUNTER_NUMBER, 1, "ratio", 1, 100},
        {"stages", COUNTER_NUMBER, 1, "", 1, 1},
        {"log2", COUNTER_NUMBER, 1, "", 1, 1},
        {"1/1024", COUNTER_NUMBER, 1, "", 1, 1},
        {"MT/s", COUNTER_NUMBER, 1, "transfers_per_second", 1000000, 1},
        {"celsius", COUNTER_NUMBER, 1, "celsius", 1, 1},
        {"lanes", COUNTER_NUMBER, 1, "", 1, 1},
        {"generation", COUNTER_NUMBER, 1, "", 1, 1},
        {"state", COUNTER_NUMBER, 1, "", 1, 1},
        {"index", COUNTER_NUMBER, 1, "", 1, 1},
        {"value", COUNTER_NUMBER, 1, "", 1, 1},
        {"of 1024", COUNTER_NUMBER, 1, "", 1, 1},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

bool counters_of_port(const char *name)
{
    size_t digits = strncmp(name, "port", 4) == 0 ? strspn(name + 4, "0123456789") : 0;
    return digits && name[4 + digits] == '_';
}
