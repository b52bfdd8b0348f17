/* Jobs of roce-traffic drive: any document is refused with a sentence, or makes flows within the limits. */
#include "traffic/job.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct drive_plan plans[FLOW_MAX_TOGETHER];
    json_t *document = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    struct job job;
    struct error e;
    size_t count = 0;
    if (document && table_parse(&job_table, document, &job, &e) == 0) {
        if (job_plans(document, plans, &count, &e) == 0 && count == 0)
            abort();
        table_free(&job_table, &job);
    }
    json_decref(document);
    while (count) {
        struct drive_plan *p = &plans[--count];
        if (!p->size_count || p->plan.max_message_bytes > FLOW_MAX_MESSAGE_BYTES ||
            plan_half_bytes(&p->plan) > FLOW_MAX_MEMORY_BYTES || strlen(p->plan.reverse) > FLOW_MAX_NAME)
            abort();
        drive_plan_free(p);
    }
    return 0;
}
