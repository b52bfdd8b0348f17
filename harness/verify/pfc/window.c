/* How much of the time a priority is paused, and by how many frames: over windows, each at least as long as is set. */
#include "harness/verify/pfc/pfc.h"

#include <math.h>

#define KIND_SHARE "paused too long"
#define KIND_RATE  "too many pauses"

static void judge(const struct pfc_window *w, struct verify_context *c, int64_t now_ns, unsigned int priority)
{
    const struct verify_settings *s = c->settings;
    double all_ns = (double)(now_ns - w->start_ns);
    double share = (double)w->paused_ns / all_ns, per_s = (double)w->frames * 1e9 / all_ns;
    if (!isnan(s->paused_share) && share > s->paused_share)
        findings_add(c->findings, KIND_SHARE, w->number, w->number_ns,
                     "priority %u was paused for %.1f %% of %.3f ms; paused_share is %.1f %%", priority,
                     share * 100, all_ns / 1e6, s->paused_share * 100);
    if (!isnan(s->pauses_per_s) && per_s > s->pauses_per_s)
        findings_add(c->findings, KIND_RATE, w->number, w->number_ns,
                     "priority %u got %llu pause frames in %.3f ms, %.0f a second; pauses_per_s is %.0f",
                     priority, (unsigned long long)w->frames, all_ns / 1e6, per_s, s->pauses_per_s);
}

void pfc_window_advance(struct pfc_window *w, const struct pause *a, struct verify_context *c, int64_t now_ns,
                        unsigned int priority)
{
    int64_t until_ns = a->until_ns < now_ns ? a->until_ns : now_ns;
    if (a->on && until_ns > w->counted_ns)
        w->paused_ns += until_ns - w->counted_ns;
    if (now_ns > w->counted_ns)
        w->counted_ns = now_ns;
    if (!w->begun || now_ns - w->start_ns < c->settings->paused_window_ns)
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
