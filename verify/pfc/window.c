/* How much of the time a priority is paused, and by how many frames: over windows that begin with a pause. The share is that of the
 * time which is set; the frames are counted until the next one after it, since they come one by one. */
#include "verify/pfc/pfc.h"

#include <math.h>

#define KIND_SHARE "paused too long"
#define KIND_RATE  "too many pauses"

static void judge(const struct pfc_window *w, struct verify_context *c, int64_t now_ns, unsigned int priority)
{
    const struct verify_settings *s = c->settings;
    double all_ns = (double)(now_ns - w->start_ns), share_ns = (double)s->paused_window_ns;
    double share = (double)w->paused_ns / share_ns, per_s = (double)w->frames * 1e9 / all_ns;
    if (!isnan(s->paused_share) && share > s->paused_share)
        findings_add(c->findings, KIND_SHARE, w->number, w->number_ns,
                     "priority %u was paused for %.1f %% of %.3f ms; paused_share is %.1f %%", priority,
                     share * 100, share_ns / 1e6, s->paused_share * 100);
    if (!isnan(s->pauses_per_s) && per_s > s->pauses_per_s)
        findings_add(c->findings, KIND_RATE, w->number, w->number_ns,
                     "priority %u got %llu pause frames in %.3f ms, %.0f a second; pauses_per_s is %.0f",
                     priority, (unsigned long long)w->frames, all_ns / 1e6, per_s, s->pauses_per_s);
}

void pfc_window_advance(struct pfc_window *w, const struct pause *a, struct verify_context *c, int64_t now_ns,
                        unsigned int priority)
{
    const int64_t window_ns = c->settings->paused_window_ns;
    bool over = w->begun && now_ns - w->start_ns >= window_ns;
    int64_t end_ns = over ? w->start_ns + window_ns : now_ns; /* of the time that counts for the share */
    int64_t until_ns = a->until_ns < end_ns ? a->until_ns : end_ns;
    if (a->on && until_ns > w->counted_ns)
        w->paused_ns += until_ns - w->counted_ns;
    if (end_ns > w->counted_ns)
        w->counted_ns = end_ns;
    if (!over)
        return;
    if (w->frames)
        judge(w, c, now_ns, priority);
    *w = (struct pfc_window){.begun = true, .start_ns = now_ns, .counted_ns = now_ns};
}

void pfc_window_count(struct pfc_window *w, const struct verify_packet *p)
{
    if (!w->begun)
        *w = (struct pfc_window){.begun = true, .start_ns = p->time_ns, .counted_ns = p->time_ns};
    w->frames++;
    w->number = p->number;
    w->number_ns = p->time_ns;
}
