/* Options that several commands which run something have: of a field of the same name of the struct that a
 * command's options are. */
#ifndef HARNESS_RUN_OPTIONS_H
#define HARNESS_RUN_OPTIONS_H

#include "harness/run/request.h"
#include "lib/document/table.h"

#define OPTION_OUT(of)                                                                                     \
    {                                                                                                      \
        .name = "out", .letter = 'o', .kind = FIELD_STRING, .offset = offsetof(of, out),                   \
        .argument = "FOLDER", .help = "The folder that results are written to.", .fallback = "\"results\"" \
    }
#define OPTION_DURATION(of)                                                                                \
    {                                                                                                      \
        .name = "duration", .letter = 'd', .kind = FIELD_QUANTITY, .offset = offsetof(of, duration_ns),    \
        .argument = "TIME", .help = "The length of the measure phase.", .unit = UNIT_TIME_NS, .min = 1000, \
        .max = 86400000000000                                                                              \
    }
#define OPTION_SEED(of, words)                                                                \
    {                                                                                         \
        .name = "seed", .kind = FIELD_INTEGER, .offset = offsetof(of, seed), .argument = "N", \
        .help = (words), .fallback = "1", .min = 0, .max = SWEEP_MOST_SEED                    \
    }
#define OPTION_JOBS(of, words)                                                                               \
    {                                                                                                        \
        .name = "jobs", .letter = 'j', .kind = FIELD_INTEGER, .offset = offsetof(of, jobs), .argument = "N", \
        .help = (words), .min = 1, .max = 4096                                                               \
    }

#endif
