/* What every unit test includes. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A build with sanitizers is slow. Its long tests run the same code for less time, and leave statistics to
 * the other build. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Is `rows` what a document of this tree has between two of its lines, `begin` and `end`? With UPDATE_DOCS=1
 * in the environment they are written there instead (make docs). */
void unit_document_has(const char *path, const char *begin, const char *end, const char *rows);

#endif
