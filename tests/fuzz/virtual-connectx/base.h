/* The memory that the model holds, counted: the fuzzers' own vcx_allocate and vcx_release. */
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

#endif
