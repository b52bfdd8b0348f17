/*
 * A GPU's PCIe throughput, BAR1 use, PCIe link, ECC errors and slowdown by heat, through NVML. The library
 * measures throughput over 20 ms and waits for that long, so a thread reads the values and the sampler uses
 * the latest.
 */
#include "collectors/sources/source.h"

#include "collectors/sources/nvml.h"
#include "lib/clock.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Each round waits twice for 20 ms in the library. */
#define ROUND_NS (100 * NS_PER_MS)

enum value {
    RX,
    TX,
    BAR1_USED,
    BAR1_TOTAL,
    REPLAYS,
    GENERATION,
    WIDTH,
    CORRECTED,
    UNCORRECTED,
    SLOWDOWN,
    VALUES
};

static const char *const names[VALUES] = {"pcie_rx",         "pcie_tx",         "bar1_used",  "bar1_total",
                                          "pcie_replays",    "pcie_generation", "pcie_width", "ecc_corrected",
                                          "ecc_uncorrected", "thermal_slowdown"};

struct gpu {
    struct nvml *nvml;
    nvml_device device;
    pthread_t thread;
    bool running;
    atomic_bool stop;
    atomic_bool failed; /* `error` was written before and is not written again */
    struct error error;
    _Atomic int64_t values[VALUES];
};

/* One round; false when nothing could be read: the GPU has disappeared from the bus. */
static bool renew(struct gpu *s, struct error *e)
{
    int64_t v[VALUES];
    struct nvml_bar1 bar1;
    for (int i = 0; i < VALUES; i++)
        v[i] = LINES_NULL;
    bool alive = nvml_pcie_throughput(s->nvml, s->device, NVML_RECEIVED, &v[RX], e) == 0;
    alive |= nvml_pcie_throughput(s->nvml, s->device, NVML_TRANSMITTED, &v[TX], e) == 0;
    if (nvml_bar1_memory(s->nvml, s->device, &bar1, e) == 0) {
        v[BAR1_USED] = source_value(bar1.used_bytes);
        v[BAR1_TOTAL] = source_value(bar1.total_bytes);
        alive = true;
    }
    alive |= nvml_pcie_replays(s->nvml, s->device, &v[REPLAYS], e) == 0;
    alive |= nvml_pcie_generation(s->nvml, s->device, &v[GENERATION], e) == 0;
    alive |= nvml_pcie_width(s->nvml, s->device, &v[WIDTH], e) == 0;
    alive |= nvml_ecc_errors(s->nvml, s->device, NVML_CORRECTED, &v[CORRECTED], e) == 0;
    alive |= nvml_ecc_errors(s->nvml, s->device, NVML_UNCORRECTED, &v[UNCORRECTED], e) == 0;
    alive |= nvml_thermal_slowdown(s->nvml, s->device, &v[SLOWDOWN], e) == 0;
    for (int i = 0; i < VALUES; i++)
        atomic_store_explicit(&s->values[i], v[i], memory_order_relaxed);
    return alive;
}

static void *read_gpus(void *state)
{
    struct gpu *s = state;
    while (!atomic_load(&s->stop)) {
        int64_t next = clock_monotonic_ns() + ROUND_NS;
        if (!renew(s, &s->error)) {
            atomic_store(&s->failed, true);
            break;
        }
        (void)clock_sleep_until_ns(next);
    }
    return NULL;
}

/* The main thread handles the signals. */
static int start_thread(struct gpu *s, struct error *e)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int number = pthread_create(&s->thread, NULL, read_gpus, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    s->running = number == 0;
    return number == 0 ? 0 : error_set_errno(e, number, "cannot start the thread that reads the GPU");
}

static void nvml_source_close(void *state)
{
    struct gpu *s = state;
    if (!s)
        return;
    atomic_store(&s->stop, true);
    if (s->running)
        pthread_join(s->thread, NULL);
    nvml_close(s->nvml);
    free(s);
}

static int add_columns(int gpu, struct column_set *columns, struct error *e)
{
    for (int i = 0; i < VALUES; i++) {
        char name[48];
        snprintf(name, sizeof name, "gpu%d_%s", gpu, names[i]);
        if (column_set_add(columns, name, e) == -1)
            return -1;
    }
    return 0;
}

static void *nvml_source_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct gpu *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory for the GPU");
        return NULL;
    }
    s->nvml = nvml_open(e);
    if (s->nvml && nvml_device_by_index(s->nvml, (unsigned int)target->gpu, &s->device, e) == 0) {
        if (!renew(s, e))
            error_prefix(e, "GPU %d reports no values", target->gpu);
        else if (add_columns(target->gpu, columns, e) == 0 && start_thread(s, e) == 0)
            return s;
    }
    nvml_source_close(s);
    return NULL;
}

static enum source_outcome nvml_source_read(void *state, int64_t *values, struct error *e)
{
    struct gpu *s = state;
    if (atomic_load(&s->failed)) {
        if (e)
            *e = s->error;
        return SOURCE_GONE;
    }
    for (int i = 0; i < VALUES; i++)
        values[i] = atomic_load_explicit(&s->values[i], memory_order_relaxed);
    return SOURCE_OK;
}

const struct source_kind source_nvml = {
    .name = "nvml",
    .about = "PCIe, BAR1, ECC and heat of the GPU",
    .counts_for = "the GPU",
    .open = nvml_source_open,
    .read = nvml_source_read,
    .close = nvml_source_close,
};
