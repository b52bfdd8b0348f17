#include "sim/islands/team.h"
#include "sim/packet.h"
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS 4000 /* some 40 us: windows of a busy network are shorter */

/* ---- the barrier */

static inline void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

void barrier_wait(struct barrier *b)
{
    if (b->threads == 1)
        return;
    uint32_t phase = atomic_load(&b->phase);
    if (atomic_fetch_add(&b->arrived, 1) + 1 == b->threads) {
        atomic_store(&b->arrived, 0);
        atomic_store(&b->phase, phase + 1);
        if (atomic_load(&b->asleep))
            futex(&b->phase, FUTEX_WAKE, INT32_MAX);
        return;
    }
    for (uint32_t i = 0; i < b->spins; i++) {
        if (atomic_load_explicit(&b->phase, memory_order_acquire) != phase)
            return;
        relax();
    }
    atomic_fetch_add(&b->asleep, 1);
    while (atomic_load(&b->phase) == phase)
        futex(&b->phase, FUTEX_WAIT, phase);
    atomic_fetch_sub(&b->asleep, 1);
}

/* ---- building */

/* Letters for all links from one thread's islands to another's. */
static int make_mail(struct sim *sim, struct team *team)
{
    for (uint32_t t = 0; t < team->count; t++)
        for (int i = 0; i < 2; i++)
            if (!(team->members[t].view->mail[i] = calloc(team->count, sizeof(struct mail))))
                return -1;
    for (uint32_t p = 0; p < sim->port_count; p++) {
        uint32_t from = sim->islands[sim->ports[p].island].thread;
        uint32_t to = sim->islands[sim->ports[sim->ports[p].peer].island].thread;
        for (int i = 0; i < 2 && !(sim->ports[p].flags & PORT_INSIDE); i++)
            team->members[from].view->mail[i][to].capacity++;
    }
    for (uint32_t t = 0; t < team->count; t++)
        for (uint32_t to = 0; to < 2 * team->count; to++) {
            struct mail *mail = &team->members[t].view->mail[to & 1][to / 2];
            mail->letters = calloc(mail->capacity + 1, sizeof *mail->letters);
            sim->bytes += mail->capacity * sizeof *mail->letters;
            if (!mail->letters)
                return -1;
        }
    return 0;
}

static int make_views(struct sim *sim, struct team *team)
{
    team->members[0].view = sim;
    sim->free_packet = NONE;
    for (uint32_t t = 1; t < team->count; t++) {
        struct sim *view = array_grow(NULL, 0, sizeof *view);
        if (!view)
            return -1;
        *view = *sim;
        view->thread = t;
        view->bytes = view->allocations = 0;
        team->members[t].view = view;
    }
    for (uint32_t t = 0; t < team->count; t++)
        if (packets_grow(team->members[t].view))
            return -1;
    return 0;
}

/* The queues of islands, with those that have something to do from the start. */
static int make_due(struct sim *sim, struct team *team)
{
    uint32_t slots = 64;
    while (slots < WHEEL_MOST_SLOTS && slots < sim->island_count / team->count)
        slots *= 2;
    for (uint32_t t = 0; t < team->count; t++) {
        int64_t slot_ps = sim->window_ps < SIM_PS_PER_S ? 2 * sim->window_ps / slots : SIM_PS_PER_US;
        if (events_open(&team->members[t].due, slots, slot_ps))
            return -1;
    }
    for (uint32_t i = 0; i < sim->island_count; i++) {
        struct island *island = &sim->islands[i];
        struct event_queue *due = &team->members[island->thread].due;
        if ((island->event = events_add(due, 0, i)) == EVENT_NONE)
            return -1;
        int64_t next_ps = events_next_ps(&island->queue);
        if (next_ps < SIM_FOREVER)
            event_schedule(due, island->event, next_ps);
    }
    for (uint32_t t = 0; t < team->count; t++)
        if (!(team->members[t].batch = calloc(team->members[t].due.count + 1, sizeof(uint32_t))))
            return -1;
    return 0;
}

int team_build(struct sim *sim, size_t pause_capacity, struct error *e)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < sim->island_count; i++)
        if (sim->islands[i].thread >= count)
            count = sim->islands[i].thread + 1;
    struct team *team = sim->team = array_grow(NULL, 0, sizeof *team);
    int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (team) {
        team->running = 1;
        team->count = team->barrier.threads = count;
        team->barrier.spins = cores >= count ? SPINS : 0;
        team->pause_capacity = pause_capacity;
        /* Most runs fill little of 32 MiB: calloc touches no page, which took longer than a run of 1 ms. */
        team->pauses = calloc(pause_capacity + 1, sizeof *team->pauses);
        team->members = array_grow(NULL, 0, count * sizeof *team->members);
        sim->bytes += pause_capacity * sizeof *team->pauses;
    }
    if (!team || !team->pauses || !team->members || make_views(sim, team) || make_mail(sim, team) ||
        make_due(sim, team))
        return error_set(e, "simulator: no memory for %u threads", count);
    return 0;
}

int team_start(struct team *team, struct error *e)
{
    for (; team->running < team->count; team->running++) {
        struct member *member = &team->members[team->running];
        int rc = pthread_create(&member->id, NULL, team_work, member);
        if (rc)
            return error_set(e, "simulator: cannot start thread %u of %u: %s", team->running + 1, team->count,
                             strerror(rc));
    }
    return 0;
}

/* ---- the end */

static void free_view(struct team *team, struct member *member)
{
    struct sim *view = member->view;
    for (uint32_t i = 0; view && i < 2; i++) {
        for (uint32_t t = 0; view->mail[i] && t < team->count; t++)
            free(view->mail[i][t].letters);
        free(view->mail[i]);
    }
    events_close(&member->due);
    free(member->batch);
    if (!view)
        return;
    free(view->packets);
    free(view->telemetry);
    free(view->telemetry_paths);
    free(view->pauses);
    free(view->captured);
    free(view->ended);
    for (size_t i = 0; i < view->retired_count; i++)
        free(view->retired[i]);
    free(view->retired);
    if (view->thread)
        free(view);
}

void team_free(struct sim *sim)
{
    struct team *team = sim->team;
    if (!team)
        return;
    if (team->running == team->count) {
        team->leaving = true;
        if (team->count > 1)
            barrier_wait(&team->barrier);
    }
    for (uint32_t t = 1; t < team->running; t++)
        pthread_join(team->members[t].id, NULL);
    for (uint32_t t = 0; team->members && t < team->count; t++)
        free_view(team, &team->members[t]);
    free(team->members);
    free(team->pauses);
    free(team->unsorted);
    free(team);
}
