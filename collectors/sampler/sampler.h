/*
 * Reads all sources into one row of values for each sample, while sources appear and disappear.
 * A source that fails is reported, its values are null, and it is opened again as soon as possible.
 */
#ifndef COLLECTORS_SAMPLER_H
#define COLLECTORS_SAMPLER_H

#include "collectors/sources/source.h"
#include <stdbool.h>
#include <stdint.h>

struct sampler;

struct sample {
    int64_t time_ns; /* CLOCK_REALTIME when its reading began */
    int64_t read_ns; /* how long the reading took */
    const int64_t *values;
};

/* Something that happened to a source: "gone", "back", "changed", "reset", "decreased" (docs/lines.md). */
typedef void (*sampler_event)(void *context, const char *source, const char *what, const char *text);

/* `groups` is a set of bits by enum counter_group. Sources without a column in these groups are not opened.
 * NULL when nothing can be read, or a source that the target names (an RDMA device, a GPU) cannot. */
struct sampler *sampler_open(const struct target *target, uint32_t groups, sampler_event event, void *context,
                             struct error *e);
void sampler_close(struct sampler *s);

/* Read everything once. Returns true when the columns differ from before. */
bool sampler_take(struct sampler *s, struct sample *sample);

const struct column *sampler_columns(const struct sampler *s, size_t *count);
/* The i-th source that cannot be read here, with the reason; NULL at the end. */
const char *sampler_missing(const struct sampler *s, size_t i, const char **reason);

/* ---- counters that wrap or are reset, for tests */

/* Extends counters: a 32-bit wrap or a reset is compensated, and the result never decreases. */
struct unwrap {
    int64_t raw;  /* as last read; the highest, while it is held */
    int64_t base; /* what is added to it */
    bool seen;
    bool held; /* it has decreased, and is not beyond its highest value yet */
};

/* How a counter went on. */
enum unwrap_step { UNWRAP_ON, UNWRAP_RESET, UNWRAP_DECREASED };

/*
 * How a counter that has the value `raw` now goes on. A 32-bit counter that decreased is taken to have
 * wrapped when that is the shorter distance (less than 2^31 forward). Any other that decreased was reset, and
 * continues from its last value - unless it lost an eighth at most: some drivers' sums go back a little, and
 * to count all of it once more would invent what never happened. Then it stays until it is beyond its highest
 * value. `reopened`: its source was closed, or others of it were reset, so a lower value means a reset.
 */
enum unwrap_step unwrap_look(const struct unwrap *u, int64_t raw, bool wraps32, bool reopened);

/* The extended value after that step. */
int64_t unwrap_next(struct unwrap *u, int64_t raw, enum unwrap_step step);

#endif
