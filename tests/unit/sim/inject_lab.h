/* A star of hosts with faults of single frames, for the tests of these. */
#ifndef TESTS_INJECT_LAB_H
#define TESTS_INJECT_LAB_H

#include "sim/capture.h"
#include "sim/faults/faults.h"
#include "sim/faults/link_faults.h"
#include "tests/unit/sim/sim_fixture.h"

#define US SIM_PS_PER_US
#define MS (1000 * US)

enum { MOST_PORTS = 64, MOST_RULES = 8 };

/* A star at 100 Gb/s, of which every frame is captured. */
struct lab {
    struct fixture f;
    struct sim_capture_config capture;
    bool ports[MOST_PORTS];
    struct sim_injection rules[MOST_RULES];
    struct sim *sim;
};

static inline void open_lab(struct lab *lab, uint32_t hosts)
{
    struct sim_topology t;
    struct error e;
    memset(lab, 0, sizeof *lab);
    assert_int_equal(sim_topology_star(&t, hosts, INT64_C(100000000000), US, &e), 0);
    fixture_open(&lab->f, &t);
    memset(lab->ports, true, sizeof lab->ports);
    lab->capture =
        (struct sim_capture_config){.ports = lab->ports, .priorities = UINT8_MAX, .until_ps = SIM_FOREVER};
    lab->f.config.capture = &lab->capture;
    lab->f.config.injections = lab->rules;
}

/* The first data packet of flow 0 is dropped, unless the test changes that. */
static inline struct sim_injection *add_rule(struct lab *lab, enum packet_kind kind,
                                             enum sim_injected_action action)
{
    struct sim_injection *r = &lab->rules[lab->f.config.injection_count++];
    *r = (struct sim_injection){
        .kind = kind, .action = action, .until_ps = SIM_FOREVER, .first = 1, .every = 1, .most = 1};
    return r;
}

static inline void run(struct lab *lab, int64_t until_ps)
{
    sim_free(lab->sim);
    lab->sim = fixture_start(&lab->f);
    fixture_run(lab->sim, until_ps);
}

static inline void close_lab(struct lab *lab)
{
    sim_free(lab->sim);
    fixture_close(&lab->f);
}

/* The next frame of a kind that a host sent or received, from *from on; NULL: there is none. */
static inline const struct sim_captured *next(const struct lab *lab, uint32_t host, bool sent,
                                              enum packet_kind kind, size_t *from)
{
    const struct sim_captured_at *frames;
    size_t count = sim_captured(lab->sim, &frames);
    while (*from < count) {
        const struct sim_captured *f = frames[(*from)++].frame;
        if (f->place == 2 * lab->sim->hosts[host].port + sent && f->kind == kind)
            return f;
    }
    return NULL;
}

/* Do the data packets that a host sent or received have these numbers? */
static inline void assert_data(const struct lab *lab, uint32_t host, bool sent, const uint32_t *psns,
                               size_t count)
{
    const struct sim_captured *f;
    size_t from = 0, i = 0;
    for (; (f = next(lab, host, sent, PACKET_DATA, &from)); i++) {
        assert_true(i < count);
        assert_int_equal(f->psn, psns[i]);
    }
    assert_int_equal(i, count);
}

static inline void assert_counts(const struct lab *lab, size_t rule, int64_t seen, int64_t injected)
{
    struct sim_injected count = sim_injected(lab->sim, rule);
    assert_int_equal(count.seen, seen);
    assert_int_equal(count.injected, injected);
}

static inline int64_t of_host(const struct lab *lab, uint32_t host, const char *name)
{
    return counter_of(lab->sim, false, host, name);
}

#endif
