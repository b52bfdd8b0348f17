/*
 * Kinds and ranges that the tables of the physics share. With them each product and sum of the simulator's
 * arithmetic fits into 64 bits (tests/unit/sim/test_sim_ranges.c tests the ends of each range): a memory may
 * have 65536 accesses waiting, each for an exponential time of up to 37 means, and the clock may show 1000
 * hours.
 */
#ifndef LIB_PHYSICS_RANGES_H
#define LIB_PHYSICS_RANGES_H

#define TIME         FIELD_QUANTITY, .unit = UNIT_TIME_PS, .min = 0, .max = INT64_C(1000000000000)
#define LONG_TIME    FIELD_QUANTITY, .unit = UNIT_TIME_PS, .min = 0, .max = INT64_C(1000000000000000)
#define BYTES        FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 0, .max = INT32_MAX
#define PACKET_BYTES FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 1, .max = 4096

/* The PFC frames that a NIC or a switch sends; AT is the table's. */
#define PAUSE_FIELDS                                                                                         \
    {"pause_quanta",                                                                                         \
     FIELD_INTEGER,                                                                                          \
     .min = 0,                                                                                               \
     .max = 65535,                                                                                           \
     AT(pause_quanta),                                                                                       \
     .fallback = "65535",                                                                                    \
     .help = "Pause time in sent PFC frames, in quanta of 512 bit times. 0: a pause lasts until XON. The "   \
             "default is the largest value of IEEE 802.1Qbb."},                                              \
    {                                                                                                        \
        "pause_refresh_percent", FIELD_INTEGER,                                                              \
            .min = 1, .max = 100, AT(pause_refresh_percent), .fallback = "50",                               \
            .help =                                                                                          \
                "XOFF is repeated after this percentage of the pause time while the threshold is exceeded. " \
                "The default is an assumption."                                                              \
    }

#endif
