#include "harness/labs/hosts/crew.h"

#include "lib/clock.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Enough for a rack. Each waits for its host most of the time; a machine through which all are reached (a jump host) is not flooded. */
#define MOST_AT_A_TIME 32

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* any of the following */
    void (*work)(void *context, size_t i);
    void *context;
    size_t begun; /* how often work was begun */
    size_t count, started, working;
    bool *ended; /* by i */
    bool dismissed;
    struct member {
        struct crew *crew;
        size_t i;
        pthread_t thread;
    } * members;
};

/* Wait for a member's turn: they take it in the order of i. False: there is no more work. */
static bool take_turn(struct member *m, size_t *done)
{
    struct crew *crew = m->crew;
    while (crew->begun == *done ? !crew->dismissed : crew->started != m->i || crew->working == MOST_AT_A_TIME)
        pthread_cond_wait(&crew->changed, &crew->lock);
    if (crew->begun == *done)
        return false;
    *done = crew->begun;
    crew->started++;
    crew->working++;
    pthread_cond_broadcast(&crew->changed);
    return true;
}

static void *run(void *argument)
{
    struct member *m = argument;
    struct crew *crew = m->crew;
    size_t done = 0;
    pthread_mutex_lock(&crew->lock);
    while (take_turn(m, &done)) {
        pthread_mutex_unlock(&crew->lock);
        crew->work(crew->context, m->i);
        pthread_mutex_lock(&crew->lock);
        crew->working--;
        crew->ended[m->i] = true;
        pthread_cond_broadcast(&crew->changed);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static void free_crew(struct crew *crew)
{
    pthread_cond_destroy(&crew->changed);
    pthread_mutex_destroy(&crew->lock);
    free(crew->ended);
    free(crew->members);
    free(crew);
}

static struct crew *new_crew(size_t count)
{
    struct crew *crew = calloc(1, sizeof *crew);
    pthread_condattr_t attributes;
    if (!crew)
        return NULL;
    *crew = (struct crew){.ended = calloc(count + 1, sizeof *crew->ended),
                          .members = calloc(count + 1, sizeof *crew->members)};
    pthread_mutex_init(&crew->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&crew->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (crew->ended && crew->members)
        return crew;
    free_crew(crew);
    return NULL;
}

struct crew *crew_start(size_t count, struct error *e)
{
    struct crew *crew = new_crew(count);
    if (!crew) {
        error_set(e, "out of memory for %zu hosts", count);
        return NULL;
    }
    for (; crew->count < count; crew->count++) {
        struct member *m = &crew->members[crew->count];
        *m = (struct member){.crew = crew, .i = crew->count};
        int number = pthread_create(&m->thread, NULL, run, m);
        if (number != 0) {
            crew_dismiss(crew);
            error_set_errno(e, number, "starting a thread for each of %zu hosts", count);
            return NULL;
        }
    }
    return crew;
}

void crew_begin(struct crew *crew, void (*work)(void *context, size_t i), void *context)
{
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->context = context;
    crew->begun++;
    crew->started = 0;
    memset(crew->ended, 0, crew->count * sizeof *crew->ended);
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

bool crew_wait(struct crew *crew, size_t i, int64_t timeout_ns)
{
    int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
    struct timespec until = {.tv_sec = deadline_ns / NS_PER_S, .tv_nsec = deadline_ns % NS_PER_S};
    int late = 0;
    pthread_mutex_lock(&crew->lock);
    while (!crew->ended[i] && late == 0)
        late = timeout_ns < 0 ? pthread_cond_wait(&crew->changed, &crew->lock)
                              : pthread_cond_timedwait(&crew->changed, &crew->lock, &until);
    bool ended = crew->ended[i];
    pthread_mutex_unlock(&crew->lock);
    return ended;
}

void crew_dismiss(struct crew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->dismissed = true;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
    for (size_t i = 0; i < crew->count; i++)
        pthread_join(crew->members[i].thread, NULL);
    free_crew(crew);
}
