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

static void progress_begin_phase(const struct progress *p, const char *phase)
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
    progress_begin_phase(p, phase);
    fputs(" ...", stderr);
    fflush(stderr);
}

/* "1 h 05 min", "3 min 20 s", "12 s" */
static void print_left(int64_t left_ns)
{
    long long s = (left_ns + NS_PER_S / 2) / NS_PER_S;
    if (s >= 3600)
        print_to(stderr, ", %lld h %02lld min left", s / 3600, s / 60 % 60);
    else if (s >= 60)
        print_to(stderr, ", %lld min %02lld s left", s / 60, s % 60);
    else
        print_to(stderr, ", %lld s left", s);
}

/* Time left on the wall's clock: a simulated phase goes on at another speed. Negative: not known yet. */
static int64_t wall_left_ns(struct progress *p, int64_t wall_ns, int64_t now_ns, int64_t start_ns,
                            int64_t end_ns)
{
    if (p->phase_ns != start_ns || !p->since_ns) {
        p->phase_ns = start_ns;
        p->since_ns = wall_ns;
    }
    double done = (double)(now_ns - start_ns), left = (double)(end_ns - now_ns);
    return done > left / 100 ? (int64_t)((double)(wall_ns - p->since_ns) * left / done) : -1;
}

void progress_show(struct progress *p, const char *phase, int64_t now_ns, int64_t start_ns, int64_t end_ns,
                   const struct recorder *recorder)
{
    int64_t wall_ns = clock_monotonic_ns();
    int64_t left_ns = wall_left_ns(p, wall_ns, now_ns, start_ns, end_ns);
    if (!p->on || (wall_ns - p->shown_ns < REDRAW_NS && now_ns < end_ns))
        return;
    double done = end_ns > start_ns ? (double)(now_ns - start_ns) / (double)(end_ns - start_ns) : 1;
    p->shown_ns = wall_ns;
    progress_begin_phase(p, phase);
    print_to(stderr, " %3.0f%%", done * 100);
    if (left_ns >= 0)
        print_left(left_ns);
    if (recorder) {
        struct recorder_live live;
        recorder_live(recorder, &live);
        print_to(stderr, "  %.2f Gb/s, %.0f pauses/s", live.goodput_bps / 1e9, live.pauses_per_s);
        if (live.errors)
            print_to(stderr, ", %llu errors", (unsigned long long)live.errors);
    }
    fflush(stderr);
}

void progress_sweep(struct progress *p, const struct progress_sweep *sweep)
{
    int64_t wall_ns = clock_monotonic_ns();
    if (!p->on || wall_ns - p->shown_ns < REDRAW_NS)
        return;
    p->shown_ns = wall_ns;
    fputs("\r\033[K", stderr);
    print_to(stderr, "%zu of %zu runs, %zu failed, ", sweep->ended, sweep->runs, sweep->failed);
    if (sweep->tasks)
        print_to(stderr, "%s", sweep->tasks);
    else
        print_to(stderr, "%zu running", sweep->running);
    if (sweep->left_ns >= 0)
        print_left(sweep->left_ns);
    fflush(stderr);
}

void progress_clear(struct progress *p)
{
    if (!p->on)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}
