#include "guest-setup/guest/processor_clock.h"

#include "guest-setup/guest/kept.h"
#include "lib/clock.h"
#include "lib/files.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEASURED_NS (20 * NS_PER_MS)
#define READINGS    8
#define TRIES       10 /* on a busy machine */
#define KEPT_NAME   "processor-clock"
#define TOLERATED_NS \
    (MEASURED_NS /   \
     2000) /* between two readings of the clock with one of the counter in their midst: of both ends, 0.1 % */
#define CLOCK_SOURCE "sys/devices/system/clocksource/clocksource0/current_clocksource"

static bool kernel_takes_it(const char *root)
{
    char *path = files_join(root, CLOCK_SOURCE), *source = path ? files_read_line(path, NULL) : NULL;
    bool takes = source && strcmp(source, "tsc") == 0;
    free(source);
    free(path);
    return takes;
}

#ifdef __x86_64__
struct reading {
    int64_t time_ns, uncertain_ns;
    uint64_t count;
};

/* The best of several: none of them was interrupted, most probably. */
static struct reading read_both(void)
{
    struct reading best = {.uncertain_ns = INT64_MAX};
    for (int i = 0; i < READINGS; i++) {
        int64_t before = clock_monotonic_ns();
        uint64_t count = __builtin_ia32_rdtsc();
        int64_t after = clock_monotonic_ns();
        if (after - before < best.uncertain_ns)
            best = (struct reading){before + (after - before) / 2, after - before, count};
    }
    return best;
}

static int64_t measure(void)
{
    struct reading first = read_both();
    clock_sleep_until_ns(first.time_ns + MEASURED_NS);
    struct reading last = read_both();
    if (first.uncertain_ns > TOLERATED_NS || last.uncertain_ns > TOLERATED_NS || last.count < first.count)
        return 0;
    return (int64_t)((last.count - first.count) * 1000000 / (uint64_t)(last.time_ns - first.time_ns));
}
#else
static int64_t measure(void)
{
    return 0;
}
#endif

int64_t processor_clock_khz_of(const char *root)
{
    return kernel_takes_it(root) ? measure() : 0;
}

/* Of a file that anybody may have written. */
static int64_t khz_of(const char *text)
{
    int64_t khz = 0;
    int used = 0;
    return sscanf(text, "%9" SCNd64 "%n", &khz, &used) == 1 && text[used] == '\0' && khz > 0 ? khz : 0;
}

int64_t processor_clock_khz(const char *folder)
{
    char text[24], *kept = kept_recall(folder, KEPT_NAME);
    int64_t khz = kept ? khz_of(kept) : 0;
    free(kept);
    for (int i = 0; i < TRIES && khz == 0; i++) {
        khz = processor_clock_khz_of("/");
        snprintf(text, sizeof text, "%" PRId64, khz);
        if (khz > 0)
            kept_keep(folder, KEPT_NAME, text);
    }
    return khz;
}

const char *processor_clock_arguments(int64_t khz, char *buffer, int size)
{
    buffer[0] = '\0';
    if (khz > 0)
        snprintf(buffer, (size_t)size, " tsc=reliable tsc_early_khz=%" PRId64, khz);
    return buffer;
}
