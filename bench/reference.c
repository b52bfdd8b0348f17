#include "bench/reference.h"

#include "lib/clock.h"
#include <stdint.h>
#include <stdio.h>

#define KEYS  1024
#define STEPS 1000000
#define RUNS  7

static void sift_down(uint64_t *heap, uint64_t key)
{
    uint32_t at = 0;
    for (uint32_t child = 1; child < KEYS; child = 2 * at + 1) {
        child += child + 1 < KEYS && heap[child + 1] < heap[child];
        if (heap[child] >= key)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = key;
}

static double run_ns(void)
{
    uint64_t heap[KEYS], state = 88172645463325252u;
    for (uint32_t i = 0; i < KEYS; i++)
        heap[i] = i;
    int64_t start_ns = clock_process_cpu_ns();
    for (int i = 0; i < STEPS; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        sift_down(heap, heap[0] + state % KEYS);
    }
    volatile uint64_t result = heap[0]; /* the loop must not be left out */
    (void)result;
    return (double)(clock_process_cpu_ns() - start_ns) / STEPS;
}

double reference_ns(void)
{
    double best_ns = run_ns();
    for (int i = 1; i < RUNS; i++) {
        double ns = run_ns();
        if (ns < best_ns)
            best_ns = ns;
    }
    return best_ns;
}

bool at_most(const char *what, double ratio, double limit)
{
    printf("%s %-58s %6.2f (at most %.2f)\n", ratio <= limit ? "holds " : "FAILED", what, ratio, limit);
    return ratio <= limit;
}
