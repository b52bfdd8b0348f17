/* The parameters of the congestion controls that exist only in the simulator, from the lists of
 * congestion_control.h. */
#ifndef LIB_CONGESTION_VALUES_H
#define LIB_CONGESTION_VALUES_H

#include "lib/document/table.h"
#include "lib/roce/congestion_control.h"
#include <stdbool.h>

#define CONGESTION_MEMBER_RATE(member)                  int64_t member;
#define CONGESTION_MEMBER_TIME(member)                  int64_t member;
#define CONGESTION_MEMBER_COUNT(member)                 int64_t member;
#define CONGESTION_MEMBER_SHARE(member)                 double member;
#define CONGESTION_MEMBER_SWITCH(member)                int member;
#define CONGESTION_MEMBER(part, kind, member, key, ...) CONGESTION_MEMBER_##kind(member)

/* struct hpcc_values, hpcc_table */
#define CONGESTION_STRUCT(with, part, ROWS, ...) \
    struct part##_values {                       \
        ROWS(CONGESTION_MEMBER, part)            \
    };                                           \
    extern const struct table part##_table;
CONGESTION_PARTS(CONGESTION_STRUCT, )

/* All of them: what a host has. */
struct congestion_values {
#define CONGESTION_PART_MEMBER(with, part, ...) struct part##_values part;
    CONGESTION_PARTS(CONGESTION_PART_MEMBER, )
#undef CONGESTION_PART_MEMBER
};
extern const struct table congestion_table;

/* Do CNPs change the rate of the control with this number in the list by DCQCN's rules? Below 0: the
 * default. */
bool congestion_control_is_dcqcn(int number);

/* Does the control with this number in the list reduce its rate for marks or CNPs? */
bool congestion_control_has_marks(int number);

/* All unset. */
void congestion_values_clear(struct congestion_values *values);
/* Copy all values of one of the tables that are set in `from`. */
void congestion_values_merge(const struct table *table, void *to, const void *from);
/* The document of the values that are set; NULL: none is. A new reference. */
json_t *congestion_values_json(const struct table *table, const void *values);

#endif
