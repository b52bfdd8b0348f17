/* Storms of pauses count from the beginning of the warm-up, as simulated ones do. */
#include "harness/labs/hosts/faults/faults.h"

#include "harness/labs/hosts/at_once.h"
#include "harness/labs/hosts/faults/means.h"
#include <stdatomic.h>

#define FIRST_MARGIN_NS (500 * NS_PER_MS)
#define MOST_MARGIN_NS  (128 * NS_PER_S)

struct schedule {
    int64_t start_ns;
    atomic_bool late;
};

static bool storms(const struct host_faults *f, const struct remote_host *h)
{
    for (size_t i = 0; f && i < f->count; i++)
        if (f->rules[i].fault.storm && (!h || fault_is_of(&f->rules[i], h, false)))
            return true;
    return false;
}

static int tell(struct remote_lab *lab, size_t i, void *context, json_t *warnings, struct error *e)
{
    struct remote_host *h = &lab->hosts[i];
    struct schedule *s = context;
    (void)warnings;
    if (!host_is_first(lab, i) || !storms(lab->faults, h))
        return 0;
    int result = fault_means_nic.schedule(h, lab->faults, s->start_ns + h->offset_ns, e);
    if (result > 0)
        atomic_store(&s->late, true);
    return result < 0 ? error_prefix(e, "storms") : 0;
}

/* A busy host takes seconds to be told. What it was told too late is told again, with more time before the start. */
int host_storms_schedule(struct remote_lab *lab, int64_t lead_ns, int64_t *start_ns, struct error *e)
{
    if (!storms(lab->faults, NULL)) {
        *start_ns = clock_steady_ns(&lab->clock) + lead_ns;
        return 0;
    }
    for (int64_t margin_ns = FIRST_MARGIN_NS; margin_ns <= MOST_MARGIN_NS; margin_ns *= 2) {
        struct schedule s = {.start_ns = clock_steady_ns(&lab->clock) + lead_ns + margin_ns};
        if (hosts_at_once(lab, lab->all_count, tell, &s, e) != 0)
            return -1;
        if (!atomic_load(&s.late) && clock_steady_ns(&lab->clock) + lead_ns <= s.start_ns) {
            *start_ns = s.start_ns;
            return 0;
        }
    }
    return error_set(e, "storms: the hosts took more than %lld s to be told when these begin",
                     MOST_MARGIN_NS / NS_PER_S);
}
