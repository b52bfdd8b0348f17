/*
 * Kinds and ranges that the tables of the physics share. With them each product and sum of the simulator's arithmetic fits into 64
 * bits (tests/unit/sim/test_sim_ranges.c tests the ends of each range): a memory may have 65536 accesses waiting, each for an
 * exponential time of up to 37 means, and the clock may show 1000 hours.
 */
#ifndef LIB_PHYSICS_RANGES_H
#define LIB_PHYSICS_RANGES_H

#define TIME         FIELD_QUANTITY, .unit = UNIT_TIME_PS, .min = 0, .max = INT64_C(1000000000000)
#define LONG_TIME    FIELD_QUANTITY, .unit = UNIT_TIME_PS, .min = 0, .max = INT64_C(1000000000000000)
#define BYTES        FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 0, .max = INT32_MAX
#define PACKET_BYTES FIELD_QUANTITY, .unit = UNIT_BYTES, .min = 1, .max = 4096

#endif
