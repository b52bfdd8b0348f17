/* Memory that is made once and then copied back: blocks of their own, so that the address sanitizer sees
 * what is beyond them. */
#ifndef FUZZ_VCX_KEPT_H
#define FUZZ_VCX_KEPT_H

#include <stdbool.h>
#include <stddef.h>

/* Between these two, memory is kept_allocate's. The second time it is the same, and it aborts if the
 * contents become others. */
void kept_begin(void);
void kept_end(void);
/* Is all made? */
bool kept_made(void);
/* Zeroed memory, of whose contents the first `compared` bytes are compared; aborts where there is none. */
void *kept_allocate(void *at, size_t bytes, size_t compared);
/* Until it is restored an access is an error. false: it is other memory. Aborts where it was released
 * before. */
bool kept_release(const void *memory);
/* All blocks as they were at kept_end(). */
void kept_restore(void);

#endif
