/* The choices of a sweep's cell, as words and as numbers. */
#ifndef REPORTS_CHOICE_H
#define REPORTS_CHOICE_H

#include "lib/text.h"
#include <jansson.h>
#include <stdbool.h>

/* "64KiB"; of an object its values, and of objects in it the names alone: "(rx_ring 8192, red)"; of a list its items: "3 and 4"; of
 * an empty one "none". Numbers as a person wrote them: 0.1. */
void choice_describe(const json_t *value, struct text *out);
/* A choice by the last part of its path: "memory gpu", with a comma before it if `out` is not empty. */
void choice_add(const char *path, const json_t *value, struct text *out);
/* As a number: a plain one, or a quantity with a unit; of sizes in bytes *is_bytes is set. False of all others. */
bool choice_number(const json_t *value, double *number, bool *is_bytes);

#endif
