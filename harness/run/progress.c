#include "harness/run/progress.h"
#include "lib/clock.h"
#include "lib/output/print.h"
#include <stdio.h>
#include <unistd.h>

#define REDRAW_NS (100 * NS_PER_MS)

void progress_open(struct progress *p, bool quiet)
{
    *p = (struct progress){.on = !quiet && isatty(STDERR_FILENO), .cell = 1, .cells = 1};
}

static void begin(const struct progress *p, const char *phase)
{
    fputs("\r\033[K", stderr);
    if (p->cells > 1)
        print_to(stderr, "%zu/%zu ", p->cell, p->cells);
    if (p->label && *p->label)
        print_to(stderr, "%.60s  ", p->label);
    fputs(phase, stderr);
}

void progress_say(struct progress *p, const char *phase)
{
    if (!p->on)
        return;
    begin(p, phase);
    fputs(" ...", stderr);
    fflush(stderr);
}

void progress_show(struct progress *p, const char *phase, int64_t now_ns, int64_t start_ns, int64_t end_ns,
                   const struct recorder *recorder)
{
    int64_t wall_ns = clock_monotonic_ns();
    if (!p->on || (wall_ns - p->shown_ns < REDRAW_NS && now_ns < end_ns))
        return;
    double done = end_ns > start_ns ? (double)(now_ns - start_ns) / (double)(end_ns - start_ns) : 1;
    p->shown_ns = wall_ns;
    begin(p, phase);
    print_to(stderr, " %3.0f%%, %.1f s left", done * 100, (double)(end_ns - now_ns) / 1e9);
    if (recorder) {
        struct recorder_live live;
        recorder_live(recorder, &live);
        print_to(stderr, "  %.2f Gb/s, %.0f pauses/s", live.goodput_bps / 1e9, live.pauses_per_s);
        if (live.errors)
            print_to(stderr, ", %llu errors", (unsigned long long)live.errors);
    }
    fflush(stderr);
}

void progress_clear(struct progress *p)
{
    if (!p->on)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}
