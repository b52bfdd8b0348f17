#include "harness/run/progress.h"

#include "lib/clock.h"
#include "lib/output/visible.h"
#include "lib/text.h"
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define REDRAW_NS (100 * NS_PER_MS)
#define LEAST     8 /* characters that are left of a run's name */

/* Another process reads while this one writes: `version` is odd meanwhile, and another one after it. */
struct progress_place {
    atomic_uint version;
    char name[160], state[160];
};

void progress_open(struct progress *p, bool quiet)
{
    *p = (struct progress){.on = !quiet && isatty(STDERR_FILENO), .cell = 1, .cells = 1};
}

/* ---- a line's place in shared memory */

void progress_share(struct progress *p, size_t places)
{
    void *memory = p->on ? mmap(NULL, places * sizeof *p->places, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0)
                         : MAP_FAILED;
    if (memory == MAP_FAILED) /* then the sweep's line alone is shown */
        return;
    p->places = memory;
    p->place_count = places;
}

void progress_unshare(struct progress *p)
{
    if (p->places)
        munmap(p->places, p->place_count * sizeof *p->places);
    p->places = NULL;
    p->place_count = 0;
}

static void place_put(struct progress_place *place, const char *name, const char *state)
{
    atomic_fetch_add(&place->version, 1);
    snprintf(place->name, sizeof place->name, "%.*s",
             (int)utf8_cut(name, strlen(name), sizeof place->name - 1), name);
    snprintf(place->state, sizeof place->state, "%.*s",
             (int)utf8_cut(state, strlen(state), sizeof place->state - 1), state);
    atomic_fetch_add(&place->version, 1);
}

/* Returns whether there is a run, whose line was not written meanwhile. */
static bool place_get(const struct progress_place *place, struct progress_place *copy)
{
    unsigned before = atomic_load(&place->version);
    memcpy(copy->name, place->name, sizeof copy->name);
    memcpy(copy->state, place->state, sizeof copy->state);
    copy->name[sizeof copy->name - 1] = copy->state[sizeof copy->state - 1] = '\0';
    return before % 2 == 0 && atomic_load(&place->version) == before && copy->state[0];
}

void progress_take(struct progress *p, size_t place)
{
    p->on = p->places;
    p->place = p->places ? &p->places[place] : NULL;
    if (p->place)
        place_put(p->place, "", "");
}

/* ---- lines on the terminal */

struct size {
    size_t rows, columns;
};

static struct size terminal_size(void)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
    return (struct size){known && size.ws_row ? size.ws_row : 24, known && size.ws_col ? size.ws_col : 80};
}

/* To the beginning of what was drawn, in whose place the next lines come. A terminal that became narrower has
 * broken its lines. */
static void go_back(struct progress *p, size_t columns, struct text *out)
{
    size_t rows = 0;
    for (size_t i = 0; i < p->drawn_count; i++)
        rows += p->drawn[i] > columns ? (p->drawn[i] + columns - 1) / columns : 1;
    text_add(out, "\r");
    if (rows > 1)
        text_add(out, "\033[%zuA", rows - 1);
    p->drawn_count = 0;
}

/* The name is cut, and then the state, so that both stand in a line of the terminal. */
static void add_line(struct progress *p, const char *name, const char *state, size_t columns,
                     struct text *out)
{
    struct text line = {0};
    size_t of_state = strlen(state), of_name = strlen(name), most = columns > 1 ? columns - 1 : 1;
    size_t room = most > of_state + 2 + LEAST ? most - of_state - 2 : LEAST;
    if (of_name > room)
        text_add(&line, "%.*s..  %s", (int)utf8_cut(name, of_name, room - 2), name, state);
    else
        text_add(&line, "%s%s%s", name, of_name ? "  " : "", state);
    size_t length = utf8_cut(text_string(&line), line.length, most);
    text_add(out, "%s%.*s\033[K", p->drawn_count ? "\r\n" : "", (int)length, text_string(&line));
    p->drawn[p->drawn_count++] = length;
    text_free(&line);
}

/* And clear what is left of earlier lines. */
static void draw(struct text *out)
{
    text_add(out, "\033[J");
    fwrite(text_string(out), 1, out->length, stderr);
    fflush(stderr);
}

/* What this run does: drawn, or left to the process that draws. */
static void show_run(struct progress *p, struct text *state)
{
    struct text name = {0}, out = {0};
    if (p->place)
        text_add(&name, "%02zu", p->cell);
    else if (p->cells > 1)
        text_add(&name, "%zu/%zu", p->cell, p->cells);
    if (p->label && *p->label) {
        text_add(&name, "%s", name.length ? " " : "");
        visible_add(&name, p->label, strlen(p->label), VISIBLE_LINE);
    }
    if (p->place) {
        place_put(p->place, text_string(&name), text_string(state));
    } else {
        struct size size = terminal_size();
        go_back(p, size.columns, &out);
        add_line(p, text_string(&name), text_string(state), size.columns, &out);
        draw(&out);
    }
    text_free(&name);
    text_free(&out);
    text_free(state);
}

void progress_clear(struct progress *p)
{
    struct text out = {0};
    if (p->place) {
        place_put(p->place, "", "");
    } else if (p->on) {
        go_back(p, terminal_size().columns, &out);
        draw(&out);
    }
    text_free(&out);
}

/* ---- what a run does */

void progress_say(struct progress *p, const char *phase)
{
    struct text state = {0};
    if (!p->on)
        return;
    text_add(&state, "%s ...", phase);
    show_run(p, &state);
}

/* "1 h 05 min", "3 min 20 s", "12 s" */
static void add_left(int64_t left_ns, struct text *out)
{
    long long s = (left_ns + NS_PER_S / 2) / NS_PER_S;
    if (s >= 3600)
        text_add(out, ", %lld h %02lld min left", s / 3600, s / 60 % 60);
    else if (s >= 60)
        text_add(out, ", %lld min %02lld s left", s / 60, s % 60);
    else
        text_add(out, ", %lld s left", s);
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
    struct text state = {0};
    double done = end_ns > start_ns ? (double)(now_ns - start_ns) / (double)(end_ns - start_ns) : 1;
    p->shown_ns = wall_ns;
    text_add(&state, "%s %3.0f%%", phase, done * 100);
    if (left_ns >= 0)
        add_left(left_ns, &state);
    if (recorder) {
        struct recorder_live live;
        recorder_live(recorder, &live);
        text_add(&state, "  %.2f Gb/s", live.goodput_bps / 1e9);
        if (!isnan(live.pauses_per_s))
            text_add(&state, ", %.0f pauses/s", live.pauses_per_s);
        if (live.errors)
            text_add(&state, ", %llu errors", (unsigned long long)live.errors);
    }
    show_run(p, &state);
}

/* ---- what a sweep does */

/* A line for each run, as many as there is room for above the sweep's own and below the last line printed. */
static void add_runs(struct progress *p, size_t running, struct size size, struct text *out)
{
    struct progress_place run;
    size_t room = size.rows > 2 ? size.rows - 2 : 0, shown = 0;
    if (room > PROGRESS_LINES - 2)
        room = PROGRESS_LINES - 2;
    bool all = running <= room;
    for (size_t i = 0; i < p->place_count && shown + !all < room; i++)
        if (place_get(&p->places[i], &run)) {
            add_line(p, run.name, run.state, size.columns, out);
            shown++;
        }
    if (!all && room && p->place_count) {
        char more[60];
        snprintf(more, sizeof more, "... and %zu more", running - shown);
        add_line(p, "", more, size.columns, out);
    }
}

void progress_sweep(struct progress *p, const struct progress_sweep *sweep)
{
    int64_t wall_ns = clock_monotonic_ns();
    if (!p->on || wall_ns - p->shown_ns < REDRAW_NS)
        return;
    struct text state = {0}, out = {0};
    struct size size = terminal_size();
    p->shown_ns = wall_ns;
    text_add(&state, "%zu of %zu runs, %zu failed, ", sweep->ended, sweep->runs, sweep->failed);
    if (sweep->tasks)
        text_add(&state, "%s", sweep->tasks);
    else
        text_add(&state, "%zu running", sweep->running);
    if (sweep->left_ns >= 0)
        add_left(sweep->left_ns, &state);
    go_back(p, size.columns, &out);
    add_runs(p, sweep->running, size, &out);
    add_line(p, "", text_string(&state), size.columns, &out);
    draw(&out);
    text_free(&state);
    text_free(&out);
}
