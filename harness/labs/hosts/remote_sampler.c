#include "harness/labs/hosts/remote_sampler.h"
#include "lib/clock.h"
#include "lib/roce/counters.h"
#include <inttypes.h>

/* An ordinary process on a busy host may wait this long for a processor (linux kernel/sched/fair.c, sysctl_sched_latency: 6 ms
 * times 1 + log2 of at most 8 processors). */
#define FAST_SAMPLING_NS (20 * NS_PER_MS)

static void add_groups(const struct cell *cell, struct words *w)
{
    const int *groups = cell->scenario.sample.groups.items;
    struct text list = {0};
    for (size_t i = 0; i < cell->scenario.sample.groups.count; i++)
        text_add(&list, "%s%s", list.length ? "," : "", counter_group_choices[groups[i]]);
    if (list.length) {
        words_add(w, "--groups");
        words_add(w, "%s", text_string(&list));
    }
    text_free(&list);
}

void remote_sampler_words(const struct cell *cell, const struct remote_host *h, struct words *w)
{
    char every[40], path[512];
    words_add(w, "%s", remote_program(h, "nic-sampler", path, sizeof path));
    words_add(w, "--netdev");
    words_add(w, "%s", h->netdev);
    if (h->rdma) {
        words_add(w, "--rdma");
        words_add(w, "%s", h->rdma);
    }
    if (h->nvml_answers) {
        words_add(w, "--gpu");
        words_add(w, "%" PRId64, h->lab->gpu->index);
    }
    words_add(w, "--every");
    words_add(w, "%s", units_format(UNIT_TIME_NS, cell->scenario.sample.every_ns, every, sizeof every));
    if (cell->scenario.sample.every_ns <= FAST_SAMPLING_NS)
        words_add(w, "--realtime");
    add_groups(cell, w);
}
