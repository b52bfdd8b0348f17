/* What squeue prints, and names of jobs. */
#include "harness/slurm/commands.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slurm_queue queue;
    struct error e;
    char *text = strndup((const char *)data, size);
    if (!text)
        return 0;
    if (slurm_read_queue(text, &queue, &e) == 0 &&
        (queue.waiting + queue.running > SLURM_MOST_TASKS || strlen(queue.reason) >= sizeof queue.reason))
        abort();
    char *name = slurm_new_name(text);
    if (name && !slurm_is_name(name))
        abort();
    free(name);
    free(text);
    return 0;
}
