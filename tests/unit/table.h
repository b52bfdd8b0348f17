/* All groups of unit tests: tests/unit/ROOM/NAME.c has a main(), which the build names NAME. The Makefile
 * writes the table. */
#ifndef TESTS_UNIT_TABLE_H
#define TESTS_UNIT_TABLE_H

typedef int unit_function(void); /* runs the group, prints TAP; the number of failed tests */

struct unit_entry {
    const char *name;
    unit_function *run;
};

extern const struct unit_entry unit_table[]; /* ends with a NULL name */

#endif
