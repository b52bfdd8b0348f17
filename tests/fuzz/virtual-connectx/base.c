/* The memory of the model in a fuzzer. */
#include "tests/fuzz/virtual-connectx/base.h"

#include "virtual-connectx/model/base.h"

#include <malloc.h>
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

void *vcx_allocate(size_t bytes)
{
    if (until_failure && --until_failure == 0)
        return NULL;
    void *memory = calloc(1, bytes);
    allocated += malloc_usable_size(memory);
    if (allocated > FUZZ_VCX_MOST_BYTES)
        abort();
    return memory;
}

void vcx_release(void *memory)
{
    allocated -= malloc_usable_size(memory);
    free(memory);
}
