// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The memory of the model in a program. Fuzzers have their own, which counts and fails. */
#include "virtual-connectx/model/base.h"

#include <stdlib.h>

void *vcx_allocate(size_t bytes)
{
    return calloc(1, bytes);
}

void vcx_release(void *memory)
{
    free(memory);
}
