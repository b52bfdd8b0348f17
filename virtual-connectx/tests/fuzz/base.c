/* The memory of the model in a fuzzer. */
#include "virtual-connectx/tests/fuzz/base.h"

#include "virtual-connectx/tests/fuzz/kept.h"
#include "virtual-connectx/model/base.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>

static size_t allocated;
static uint32_t until_failure;

size_t fuzz_vcx_allocated(void)
{
    return allocated;
}

void fuzz_vcx_fail(uint32_t nth)
{
    until_failure = nth;
}

static void count(size_t bytes)
{
    allocated += bytes;
    if (allocated > FUZZ_VCX_MOST_BYTES)
        abort();
}

void *vcx_allocate(size_t bytes)
{
    if (until_failure && --until_failure == 0)
        return NULL;
    void *memory = kept_made() ? calloc(1, bytes) : kept_allocate(NULL, bytes, bytes);
    count(malloc_usable_size(memory));
    return memory;
}

void vcx_release(void *memory)
{
    if (!memory)
        return;
    allocated -= malloc_usable_size(memory);
    if (!kept_release(memory))
        free(memory);
}

void *fuzz_vcx_begin(void *(*make)(void))
{
    static size_t at_begin;
    static void *made;
    const bool fresh = getenv("FUZZ_FRESH");
    if (kept_made() && !fresh) {
        kept_restore();
        allocated = at_begin;
        return made;
    }
    allocated = 0;
    kept_begin();
    made = make();
    kept_end();
    at_begin = allocated;
    return made;
}

void *fuzz_vcx_own(void *at, size_t bytes, size_t compared)
{
    return kept_allocate(at, bytes, compared);
}
