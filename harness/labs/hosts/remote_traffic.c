#include "harness/labs/hosts/remote_traffic.h"
#include "harness/preflight/ecn.h"
#include "lib/clock.h"
#include "lib/roce/counters.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void words_add(struct words *w, const char *format, ...)
{
    va_list arguments;
    char *word = NULL, **items = realloc(w->items, (w->count + 2) * sizeof *items);
    if (!items)
        return;
    w->items = items;
    va_start(arguments, format);
    if (vasprintf(&word, format, arguments) < 0)
        word = NULL;
    va_end(arguments);
    if (word)
        items[w->count++] = word;
    items[w->count] = NULL;
}

void words_free(struct words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->items[i]);
    free(w->items);
    *w = (struct words){0};
}

static void add_program(const struct remote_host *h, const char *name, struct words *w)
{
    char path[512];
    words_add(w, "%s", remote_program(h, name, path, sizeof path));
}

/* ---- nic-sampler */

/* An ordinary process on a busy host may wait this long for a processor (linux kernel/sched/fair.c, sysctl_sched_latency: 6 ms
 * times 1 + log2 of at most 8 processors). */
#define FAST_SAMPLING_NS (20 * NS_PER_MS)

static void add_groups(const struct cell *cell, struct words *w)
{
    const int *groups = cell->scenario.sample.groups.items;
    struct text list = {0};
    for (size_t i = 0; i < cell->scenario.sample.groups.count; i++)
        text_add(&list, "%s%s", list.length ? "," : "", counter_group_choices[groups[i]]);
    if (list.length) {
        words_add(w, "--groups");
        words_add(w, "%s", text_string(&list));
    }
    text_free(&list);
}

void remote_sampler_words(const struct cell *cell, const struct remote_host *h, struct words *w)
{
    char every[40];
    add_program(h, "nic-sampler", w);
    words_add(w, "--netdev");
    words_add(w, "%s", h->netdev);
    if (h->rdma) {
        words_add(w, "--rdma");
        words_add(w, "%s", h->rdma);
    }
    if (h->nvml_answers) {
        words_add(w, "--gpu");
        words_add(w, "%" PRId64, h->lab->gpu->index);
    }
    words_add(w, "--every");
    words_add(w, "%s", units_format(UNIT_TIME_NS, cell->scenario.sample.every_ns, every, sizeof every));
    if (cell->scenario.sample.every_ns <= FAST_SAMPLING_NS)
        words_add(w, "--realtime");
    add_groups(cell, w);
}

/* ---- roce-traffic */

/* Which device, GID and GPU of a host. */
static void add_local(const struct remote_host *h, struct words *w)
{
    const struct lab_nic *nic = &h->lab->nic;
    if (h->rdma) {
        words_add(w, "--device");
        words_add(w, "%s", h->rdma);
    }
    if (nic->address) {
        words_add(w, "--address");
        words_add(w, "%.*s", (int)strcspn(nic->address, "/"), nic->address);
    }
    if (nic->gid_index != FIELD_UNSET) {
        words_add(w, "--gid-index");
        words_add(w, "%" PRId64, nic->gid_index);
    }
    if (h->lab->gpu) {
        words_add(w, "--gpu");
        words_add(w, "%" PRId64, h->lab->gpu->index);
    }
}

void remote_server_words(const struct remote_host *h, struct words *w)
{
    add_program(h, "roce-traffic", w);
    words_add(w, "serve");
    words_add(w, "--output");
    words_add(w, "json");
    add_local(h, w);
}

/* "key=value ..." for --flow: what differs from flow to flow. */
static void add_flow(const struct scenario *scenario, const struct scenario_flow *flow, struct words *w)
{
    struct text line = {0};
    char bytes[40];
    text_add(&line, "name=%s op=%s mode=%s memory=%s message=%s queue-pairs=%" PRId64 " depth=%" PRId64,
             flow->name, flow_op_names[flow->op], flow->mode == MODE_LATENCY ? "ping-pong" : "stream",
             flow_memory_names[flow->memory],
             units_format(UNIT_BYTES, flow->message_bytes, bytes, sizeof bytes), flow->queue_pairs,
             flow->depth);
    text_add(&line, " traffic-class=%" PRId64 " service-level=%" PRId64, ecn_traffic_class(scenario, flow),
             flow->priority);
    if (flow->validate == 1)
        text_add(&line, " validate");
    if (flow->rate_bps != FIELD_UNSET)
        text_add(&line, " rate=%s", units_format(UNIT_RATE_BPS, flow->rate_bps, bytes, sizeof bytes));
    if (flow->size_bytes != FIELD_UNSET)
        text_add(&line, " count=%" PRId64,
                 (flow->size_bytes + flow->message_bytes - 1) / flow->message_bytes);
    words_add(w, "--flow");
    words_add(w, "%s", text_string(&line));
    text_free(&line);
}

static void add_times(const struct scenario *scenario, int64_t start_ns, struct words *w)
{
    int64_t interval_ns = scenario->phases.measure_ns / 100;
    char text[40];
    words_add(w, "--start-at");
    words_add(w, "%" PRId64, start_ns);
    words_add(w, "--warmup");
    words_add(w, "%s", units_format(UNIT_TIME_NS, scenario->phases.warmup_ns, text, sizeof text));
    words_add(w, "--duration");
    words_add(w, "%s", units_format(UNIT_TIME_NS, scenario->phases.measure_ns, text, sizeof text));
    words_add(w, "--interval");
    words_add(w, "%s",
              units_format(UNIT_TIME_NS, interval_ns < 100 * NS_PER_MS ? 100 * NS_PER_MS : interval_ns, text,
                           sizeof text));
}

size_t remote_drive_words(const struct cell *cell, size_t from, size_t to,
                          const struct remote_host *from_host, const struct remote_host *to_host,
                          int64_t start_ns, struct words *w)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    size_t count = 0;
    for (size_t i = 0; i < cell->scenario.flows.count; i++) {
        if (strcmp(flows[i].from, scenario_role(&cell->scenario, from)) != 0 ||
            strcmp(flows[i].to, scenario_role(&cell->scenario, to)) != 0)
            continue;
        if (count++ == 0) {
            add_program(from_host, "roce-traffic", w);
            words_add(w, "drive");
            words_add(w, "--output");
            words_add(w, "json");
            words_add(w, "--latency");
            add_local(from_host, w);
            if (from_host->lab->nic.ack_timeout != FIELD_UNSET) {
                words_add(w, "--ack-timeout");
                words_add(w, "%" PRId64, from_host->lab->nic.ack_timeout);
            }
            add_times(&cell->scenario, start_ns, w);
        }
        add_flow(&cell->scenario, &flows[i], w);
    }
    if (count)
        words_add(w, "%.*s", (int)strcspn(to_host->lab->nic.address, "/"), to_host->lab->nic.address);
    return count;
}
