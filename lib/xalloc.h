/*
 * Memory for the controllers (harness, virt-provision, reports): these never return NULL. Without memory the
 * program ends with EXIT_LAB and one sentence; what it has set on hosts by then is put back by `harness
 * restore`, as after a kill. Programs on hosts hold a machine's settings or a client's memory: they allocate
 * with malloc and report an error.
 */
#ifndef LIB_XALLOC_H
#define LIB_XALLOC_H

#include <stddef.h>

void *xmalloc(size_t bytes) __attribute__((malloc, returns_nonnull));
/* Zeroed. */
void *xcalloc(size_t count, size_t bytes) __attribute__((malloc, returns_nonnull));
void *xreallocarray(void *memory, size_t count, size_t bytes) __attribute__((returns_nonnull));
char *xstrdup(const char *string) __attribute__((malloc, returns_nonnull));
/* At most `length` bytes of the string. */
char *xstrndup(const char *string, size_t length) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2), malloc, returns_nonnull));

#endif
