#include "harness/labs/hosts/remote_sampler.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/formats/lines.h"
#include "lib/roce/counters.h"
#include <inttypes.h>
#include <string.h>

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

json_t *remote_sampler_columns(struct remote_host *h, const struct cell *cell, struct error *e)
{
    struct words w = {0};
    struct text out = {0};
    json_t *names = NULL;
    remote_sampler_words(cell, h, &w);
    words_add(&w, "--count");
    words_add(&w, "1");
    if (ssh_must(h->ssh, (const char *const *)w.items, NULL, &out, REMOTE_COMMAND_NS, e) == 0) {
        json_t *header = json_file_parse(text_string(&out), strcspn(text_string(&out), "\n"), "nic-sampler",
                                         DOCUMENT_LINE, NULL),
               *column;
        size_t i;
        names = json_array();
        json_array_foreach(json_object_get(header, "columns"), i, column)
        {
            json_t *name = json_object_get(column, "name");
            if (json_is_string(name))
                json_array_append(names, name);
        }
        json_decref(header);
    }
    text_free(&out);
    words_free(&w);
    return names;
}
