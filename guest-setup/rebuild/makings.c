#include "guest-setup/rebuild/makings.h"

#include "lib/clock.h"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

int makings_open(struct context *c, struct storage *storage, struct making **makings, struct error *e)
{
    *makings = calloc(c->host_count + 1, sizeof **makings);
    if (!*makings)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < c->host_count; i++)
        if (making_open(c, c->hosts[i], storage, &(*makings)[i], e) != 0)
            return -1;
    return 0;
}

void makings_close(struct context *c, struct making *makings)
{
    for (size_t i = 0; makings && i < c->host_count; i++)
        making_free(&makings[i]);
    free(makings);
}

/* Wait for the threads; Ctrl-C cancels them. */
static void wait_for(struct context *c, pthread_t *threads, size_t count)
{
    struct timespec tick;
    for (size_t i = 0; i < count;) {
        if (interrupt_count(&c->interrupt) > 0 && !atomic_exchange(&c->cancelled, true))
            say(c, NULL, "interrupted: stopping");
        clock_gettime(CLOCK_REALTIME, &tick);
        tick.tv_nsec += 50 * NS_PER_MS;
        tick.tv_sec += tick.tv_nsec / NS_PER_S;
        tick.tv_nsec %= NS_PER_S;
        if (pthread_timedjoin_np(threads[i], NULL, &tick) == 0)
            i++;
    }
}

int makings_run(struct context *c, struct making *makings, void *(*work)(void *), struct error *e)
{
    pthread_t *threads = calloc(c->host_count + 1, sizeof *threads);
    size_t started = 0;
    int result = 0;
    if (!threads)
        return error_set(e, "out of memory");
    /* not earlier: while images are fetched, Ctrl-C simply ends the program */
    if (interrupt_open(&c->interrupt, e) != 0) {
        free(threads);
        return -1;
    }
    for (; started < c->host_count; started++)
        if (pthread_create(&threads[started], NULL, work, &makings[started]) != 0)
            break;
    wait_for(c, threads, started);
    interrupt_close(&c->interrupt);
    free(threads);
    if (started < c->host_count)
        return error_set(e, "cannot start a thread for host %s", makings[started].host->name);
    for (size_t i = 0; i < c->host_count; i++) {
        if (makings[i].result == 0)
            continue;
        if (result != 0)
            say(c, makings[i].host, "%s", makings[i].error.text);
        else
            *e = makings[i].error;
        result = -1;
    }
    return result;
}
