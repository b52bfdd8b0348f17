/* What the files of a schedule share. */
#ifndef LIB_SCHEDULE_PARTS_H
#define LIB_SCHEDULE_PARTS_H

#include "lib/schedule/schedule.h"

/* Does every operation end, whatever the network? Needs s->waits. */
int schedule_check_order(const struct schedule *s, struct error *e);
/* A sentence that begins with the schedule's name and the operation; returns -1. */
int schedule_error(const struct schedule *s, uint32_t operation, struct error *e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- text.c, binary.c: add all that a file has to a schedule that they begin */

int schedule_parse_text(struct schedule *s, const char *name, char *content, size_t length, struct error *e);
bool schedule_is_binary(const char *content, size_t length);
int schedule_parse_binary(struct schedule *s, const char *name, const char *content, size_t length,
                          struct error *e);

#endif
