/* The memory of the model in a fuzzer, counted: the fuzzers' own vcx_allocate and vcx_release. What each
 * execution begins with is made once and copied back, because to bring two functions up takes longer than
 * most inputs. */
#ifndef FUZZ_VCX_BASE_H
#define FUZZ_VCX_BASE_H

#include <stddef.h>
#include <stdint.h>

/* More than this at a time is a finding, whatever a driver or the wire ask for. */
#define FUZZ_VCX_MOST_BYTES (64u << 20)

/* Bytes that are allocated now. */
size_t fuzz_vcx_allocated(void);
/* The nth allocation from now on fails, once. 0: none. */
void fuzz_vcx_fail(uint32_t nth);

/* What `make` returned when it was called first, with all memory that it allocated as it was then. With
 * FUZZ_FRESH in the environment `make` is called each time, and what it makes must be equal to what is
 * copied else. */
void *fuzz_vcx_begin(void *(*make)(void));
/* Zeroed memory of the fuzzer itself, for `make`; never released. It is at `at`, or new if that is NULL.
 * Only its first `compared` bytes must be equal: those of a structure that is copied have padding. */
void *fuzz_vcx_own(void *at, size_t bytes, size_t compared);

#endif
