/* Work on hosts side by side. */
#include "harness/labs/hosts/parallel.h"

#include "harness/labs/hosts/watch.h"
#include "lib/clock.h"
#include "lib/formats/find.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/xalloc.h"
#include "remote/locks.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- workers */

/* Enough for a rack. Each waits for its host most of the time; a machine through which all are reached (a
 * jump host) is not flooded. */
#define MOST_AT_A_TIME 32

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* any of the following */
    void (*work)(void *context, size_t i);
    void *context;
    size_t begun; /* how often work was begun */
    size_t count, started, working;
    bool *ended; /* by i */
    bool stopping;
    struct worker {
        struct workers *workers;
        size_t i;
        pthread_t thread;
    } * threads;
};

/* Wait until this worker may begin: they begin in the order of i. False: there is no more work. */
static bool wait_for_work(struct worker *m, size_t *done)
{
    struct workers *w = m->workers;
    while (w->begun == *done ? !w->stopping : w->started != m->i || w->working == MOST_AT_A_TIME)
        pthread_cond_wait(&w->changed, &w->lock);
    if (w->begun == *done)
        return false;
    *done = w->begun;
    w->started++;
    w->working++;
    pthread_cond_broadcast(&w->changed);
    return true;
}

static void *run_worker(void *argument)
{
    struct worker *m = argument;
    struct workers *w = m->workers;
    size_t done = 0;
    pthread_mutex_lock(&w->lock);
    while (wait_for_work(m, &done)) {
        pthread_mutex_unlock(&w->lock);
        w->work(w->context, m->i);
        pthread_mutex_lock(&w->lock);
        w->working--;
        w->ended[m->i] = true;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void free_workers(struct workers *w)
{
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w->ended);
    free(w->threads);
    free(w);
}

struct workers *workers_start(size_t count, struct error *e)
{
    struct workers *w = xcalloc(1, sizeof *w);
    pthread_condattr_t attributes;
    w->ended = xcalloc(count + 1, sizeof *w->ended);
    w->threads = xcalloc(count + 1, sizeof *w->threads);
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    for (; w->count < count; w->count++) {
        struct worker *m = &w->threads[w->count];
        *m = (struct worker){.workers = w, .i = w->count};
        int number = pthread_create(&m->thread, NULL, run_worker, m);
        if (number != 0) {
            workers_stop(w);
            error_set_errno(e, number, "starting a thread for each of %zu hosts", count);
            return NULL;
        }
    }
    return w;
}

/* Begin work(context, i) for each i below the number of workers, a few dozen at a time, in the order of i.
 * What was begun before has ended. */
static void workers_begin(struct workers *w, void (*work)(void *context, size_t i), void *context)
{
    pthread_mutex_lock(&w->lock);
    w->work = work;
    w->context = context;
    w->begun++;
    w->started = 0;
    memset(w->ended, 0, w->count * sizeof *w->ended);
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* Wait at most timeout_ns (negative: without limit) for the work on i to end. Returns whether it has. */
static bool workers_wait(struct workers *w, size_t i, int64_t timeout_ns)
{
    int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
    struct timespec until = {.tv_sec = deadline_ns / NS_PER_S, .tv_nsec = deadline_ns % NS_PER_S};
    int late = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->ended[i] && late == 0)
        late = timeout_ns < 0 ? pthread_cond_wait(&w->changed, &w->lock)
                              : pthread_cond_timedwait(&w->changed, &w->lock, &until);
    bool ended = w->ended[i];
    pthread_mutex_unlock(&w->lock);
    return ended;
}

void workers_stop(struct workers *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < w->count; i++)
        pthread_join(w->threads[i].thread, NULL);
    free_workers(w);
}

/* ---- the hosts of a run */

struct parallel_work {
    struct remote_lab *lab;
    size_t count;
    host_work *work;
    void *context;
};

static size_t node_of(const struct remote_lab *lab, size_t i)
{
    return (size_t)(lab->hosts[i].lab - (const struct lab_host *)lab->run->cell->lab.hosts.items);
}

/* Switches have no host of the lab: each is by itself. */
static bool on_one_machine(const struct remote_lab *lab, size_t i, size_t k)
{
    return i == k || (lab->hosts[i].lab && lab->hosts[k].lab &&
                      lab_same_machine(&lab->run->cell->lab, node_of(lab, i), node_of(lab, k)));
}

void hosts_prepare(struct remote_lab *lab)
{
    lab->results = xcalloc(lab->all_count + 1, sizeof *lab->results);
    for (size_t i = 0; i < lab->all_count; i++) {
        struct host_result *r = &lab->results[i];
        r->warnings = json_array();
        while (!on_one_machine(lab, r->machine, i))
            r->machine++;
        while (r->node < i && (!lab->hosts[i].lab || lab->hosts[r->node].lab != lab->hosts[i].lab))
            r->node++;
    }
}

size_t machine_next(const struct remote_lab *lab, size_t first, size_t i, size_t count)
{
    for (i++; i < count; i++)
        if (lab->results[i].machine == first && !lab->hosts[i].sonic)
            return i;
    return SIZE_MAX;
}

const char *machine_name(const struct remote_lab *lab, size_t i)
{
    bool alone = machine_is_first(lab, i) && machine_next(lab, i, i, lab->all_count) == SIZE_MAX;
    const char *role = i < lab->host_count ? scenario_role(&lab->run->cell->scenario, i) : NULL;
    return alone && role && !lab->hosts[i].lab->machine
               ? role
               : lab_machine_name(&lab->run->cell->lab, node_of(lab, i));
}

void hosts_release(struct remote_lab *lab)
{
    for (size_t i = 0; lab->results && i < lab->all_count; i++)
        json_decref(lab->results[i].warnings);
    free(lab->results);
    lab->results = NULL;
}

/* In the thread of host i, which is its machine's first role's. */
static void work_on_host(void *context, size_t i)
{
    struct parallel_work *p = context;
    for (size_t k = i; k < p->count; k++) {
        struct host_result *r = &p->lab->results[k];
        if (r->machine == i && !p->lab->hosts[k].sonic)
            r->failed = p->work(p->lab, k, p->context, r->warnings, &r->e) != 0;
    }
}

static void wait_for_all(struct remote_lab *lab)
{
    for (size_t i = 0; i < lab->all_count; i++)
        while (!workers_wait(lab->workers, i, WATCH_STEP_NS))
            if (interrupt_count(lab->run->interrupt) > 0)
                atomic_store(&lab->cancelled, true);
}

int hosts_in_parallel(struct remote_lab *lab, size_t count, host_work *work, void *context, struct error *e)
{
    struct parallel_work p = {.lab = lab, .count = count, .work = work, .context = context};
    int result = 0;
    workers_begin(lab->workers, work_on_host, &p);
    wait_for_all(lab);
    for (size_t i = 0; i < count; i++) {
        struct host_result *r = &lab->results[i];
        json_array_extend(lab->warnings, r->warnings);
        json_array_clear(r->warnings);
        if (r->failed && result == 0)
            result = error_set(e, "%s", r->e.text);
        else if (r->failed && lab->run->log)
            print_to(lab->run->log, "%s\n", r->e.text);
    }
    return result;
}

/* ---- the hosts of a lab, for a command */

#define OPEN_NS (60 * NS_PER_S) /* for a host to answer */

char *lab_hosts_load(const char *name, struct lab *lab, struct error *e)
{
    const char *why;
    char *path = find_lab(name, NULL, NULL, &why, e);
    if (path && lab_load(path, lab, e) == 0)
        return path;
    free(path);
    return NULL;
}

/* What came of the command on a host. */
struct command_result {
    struct text out;
    struct error e;
    bool failed;
};

struct command_run {
    struct host_way way;
    host_command *command;
    void *context;
    struct command_result *results; /* by host */
};

static void run_on_host(void *context, size_t i)
{
    struct command_run *c = context;
    struct command_result *r = &c->results[i];
    struct host_way way = c->way;
    if (lab_machine_first(way.lab, i) != i)
        return;
    way.host = lab_host_at(way.lab, i);
    way.name = lab_machine_name(way.lab, i);
    r->failed = c->command(c->context, i, &way, &r->out, &r->e) != 0;
}

int remote_host_open_locked(struct remote_host *h, const struct host_way *way, struct error *e)
{
    if (remote_host_open(h, way->virt, way->lab, way->host, OPEN_NS, e) != 0)
        return -1;
    int locked = lab_lock_reached(way->lock, h->ssh, "host", way->name, e);
    if (locked < 0)
        remote_host_close(h);
    return locked < 0 ? REMOTE_HOST_IN_USE : locked;
}

/* What the command says of a host, as soon as it has ended on it and on all hosts before it. Returns the
 * number of failures. */
static size_t print_in_order(struct command_run *c, struct workers *workers, size_t count)
{
    size_t failures = 0;
    for (size_t i = 0; i < count; i++) {
        struct command_result *r = &c->results[i];
        workers_wait(workers, i, -1);
        print_out("%s", text_string(&r->out));
        fflush(stdout);
        if (r->failed)
            log_error("%s", r->e.text);
        failures += r->failed;
        text_free(&r->out);
    }
    return failures;
}

static int run_on_hosts(struct command_run *c, size_t *failures, struct error *e)
{
    size_t count = c->way.lab->hosts.count;
    struct workers *workers = workers_start(count, e);
    if (!workers)
        return -1;
    c->results = xcalloc(count + 1, sizeof *c->results);
    workers_begin(workers, run_on_host, c);
    *failures = print_in_order(c, workers, count);
    workers_stop(workers);
    free(c->results);
    return 0;
}

int lab_hosts_run(const struct lab *lab, const char *purpose, host_command *command, void *context,
                  size_t *failures, struct error *e)
{
    struct lab_lock *lock = lab_lock(lab, purpose, e);
    struct command_run c = {.way = {.lab = lab, .lock = lock}, .command = command, .context = context};
    if (!lock || (lab_kind(lab)->guests && !(c.way.virt = virt_open(lab->uri, e)))) {
        lab_unlock(lock);
        return -1;
    }
    int result = run_on_hosts(&c, failures, e);
    if (c.way.virt)
        virt_close(c.way.virt);
    lab_unlock(lock);
    return result;
}
