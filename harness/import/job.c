#include "harness/import/job.h"
#include <stdlib.h>

int import_job_begin(struct import_job *job, struct import *import, const char *format, const char *path,
                     size_t ranks, struct error *e)
{
    job->schedule = (struct schedule){0};
    job->tags = IMPORT_COLLECTIVE_TAGS;
    if (import_begin(import, format, e) != 0)
        return -1;
    import->flow_path = path;
    if (schedule_begin(&job->schedule, path, (int64_t)ranks, e) == 0 && import_nodes(import, ranks, e) == 0 &&
        job->network(job->context, import, e) == 0)
        return 0;
    schedule_free(&job->schedule);
    import_free(import);
    return -1;
}

int import_job_collective(struct import_job *job, const struct import *import,
                          const struct collective *collective, const int64_t *begin, int64_t *end,
                          struct error *e)
{
    struct collective all = *collective;
    all.algorithm = job->algorithm;
    all.channels = job->channels;
    all.bytes_per_s = (double)import->rate_bps / 8;
    all.most_operations = IMPORT_MOST_OPERATIONS;
    all.tag = job->tags;
    job->tags += COLLECTIVE_TAGS * job->channels;
    return collective_add(&job->schedule, &all, begin, end, e);
}

int import_job_end(struct import_job *job, struct import *import, struct error *e)
{
    struct schedule *whole = malloc(sizeof *whole);
    if (!whole) {
        error_set(e, "out of memory");
    } else if (schedule_finish(&job->schedule, e) == 0) {
        *whole = job->schedule;
        import->schedule = whole;
        return 0;
    }
    free(whole);
    schedule_free(&job->schedule);
    import_free(import);
    return -1;
}
