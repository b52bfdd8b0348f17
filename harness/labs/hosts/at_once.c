#include "harness/labs/hosts/at_once.h"

#include "harness/labs/hosts/watch.h"
#include "lib/output/print.h"
#include <stdlib.h>

struct job {
    struct remote_lab *lab;
    size_t count;
    host_work *work;
    void *context;
};

int hosts_prepare(struct remote_lab *lab, struct error *e)
{
    lab->turns = calloc(lab->all_count + 1, sizeof *lab->turns);
    for (size_t i = 0; lab->turns && i < lab->all_count; i++) {
        struct host_turn *t = &lab->turns[i];
        t->warnings = json_array();
        while (lab->hosts[t->first].lab != lab->hosts[i].lab)
            t->first++;
        if (!t->warnings)
            return error_set(e, "out of memory for %zu hosts", lab->all_count);
    }
    return lab->turns ? 0 : error_set(e, "out of memory for %zu hosts", lab->all_count);
}

void hosts_release(struct remote_lab *lab)
{
    for (size_t i = 0; lab->turns && i < lab->all_count; i++)
        json_decref(lab->turns[i].warnings);
    free(lab->turns);
    lab->turns = NULL;
}

/* In the thread of host i, which is its first role's. */
static void take_turns(void *context, size_t i)
{
    struct job *job = context;
    for (size_t k = i; k < job->count; k++) {
        struct host_turn *t = &job->lab->turns[k];
        if (t->first == i && !job->lab->hosts[k].sonic)
            t->failed = job->work(job->lab, k, job->context, t->warnings, &t->e) != 0;
    }
}

static void await(struct remote_lab *lab)
{
    for (size_t i = 0; i < lab->all_count; i++)
        while (!crew_wait(lab->crew, i, WATCH_STEP_NS))
            if (interrupt_count(lab->run->interrupt) > 0)
                atomic_store(&lab->cancelled, true);
}

int hosts_at_once(struct remote_lab *lab, size_t count, host_work *work, void *context, struct error *e)
{
    struct job job = {.lab = lab, .count = count, .work = work, .context = context};
    int result = 0;
    crew_begin(lab->crew, take_turns, &job);
    await(lab);
    for (size_t i = 0; i < count; i++) {
        struct host_turn *t = &lab->turns[i];
        json_array_extend(lab->warnings, t->warnings);
        json_array_clear(t->warnings);
        if (t->failed && result == 0)
            result = error_set(e, "%s", t->e.text);
        else if (t->failed && lab->run->log)
            print_to(lab->run->log, "%s\n", t->e.text);
    }
    return result;
}
