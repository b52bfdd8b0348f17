/* The libvirt and the ssh lab: real hosts, reached over ssh. */
#include "harness/labs/hosts/parallel.h"
#include "harness/labs/hosts/capture/capture.h"
#include "harness/labs/hosts/capture/pcaps.h"
#include "harness/labs/hosts/collectives/collectives.h"
#include "harness/labs/hosts/faults/faults.h"
#include "harness/labs/hosts/settings/roles.h"
#include "harness/labs/hosts/sonic/switches.h"
#include "harness/labs/hosts/start.h"
#include "harness/labs/hosts/tools.h"
#include "harness/labs/hosts/virtual.h"
#include "harness/labs/hosts/watch.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/output/print.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define BRING_UP_NS \
    (5 * 60 * NS_PER_S) /* a guest boots; connecting to a real host has a shorter limit (remote/ssh.c) */
#define READY_NS       (120 * NS_PER_S)  /* samplers print their header, servers listen, drivers connect */
#define SUMMARY_NS     (60 * NS_PER_S)   /* how late summaries may come after the measure phase */
#define LAST_SAMPLE_NS (15 * NS_PER_S)   /* for a sample to be taken and to arrive, beyond its interval */
#define LAST_LINES_NS  (5 * NS_PER_S)    /* for programs to end after they were told to */
#define STEP_NS        (100 * NS_PER_MS) /* a clock that drifts by more within a run was set */

static const char *role_name(const struct remote_lab *lab, size_t role)
{
    return scenario_role(&lab->run->cell->scenario, role);
}

/* ---- before the run */

static bool has_role(const struct cell *cell, const struct lab_host *host)
{
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++)
        if (lab_real_host(&cell->lab, role) == host)
            return true;
    return false;
}

/* The n-th guest that forwards and has no role, or NULL: it must be up all the same. */
static const struct lab_host *forwarder(const struct cell *cell, size_t n)
{
    const struct lab_host *host;
    for (size_t i = 0; (host = lab_host_at(&cell->lab, i)); i++)
        if (host->domain && lab_forwards(host) && !has_role(cell, host) && n-- == 0)
            break;
    return host;
}

static void remote_lab_close(void *state)
{
    struct remote_lab *lab = state;
    if (!lab)
        return;
    for (size_t i = 0; i < lab->stream_count; i++)
        stream_close(&lab->streams[i]);
    host_capture_close(lab);
    switch_counts_close(lab);
    host_faults_free(lab->faults);
    roles_release_settings(lab);
    for (size_t i = 0; lab->hosts && i < lab->all_count; i++) {
        switch_role_free(lab->hosts[i].sonic);
        remote_host_close(&lab->hosts[i]);
    }
    workers_stop(lab->workers);
    hosts_release(lab);
    if (lab->virt)
        virt_close(lab->virt);
    lab_unlock(lab->lock);
    traffic_jobs_free(lab->jobs, lab->job_count);
    collective_jobs_free(lab->collectives, lab->collective_count);
    free(lab->streams);
    free(lab->hosts);
    json_decref(lab->warnings);
    json_decref(lab->left);
    free(lab);
}

static void name_hosts(struct remote_lab *lab)
{
    const struct cell *cell = lab->run->cell;
    for (size_t i = 0; i < lab->all_count; i++)
        lab->hosts[i].lab = i < lab->host_count ? lab_real_host(&cell->lab, role_name(lab, i))
                                                : forwarder(cell, i - lab->host_count);
}

static int remote_lab_open(const struct lab_run *run, void **state, struct error *e)
{
    struct remote_lab *lab = calloc(1, sizeof *lab);
    char purpose[160];
    if (!lab)
        return error_set(e, "out of memory");
    lab->run = run;
    lab->clock = clock_steady_start();
    lab->warnings = json_array();
    lab->left = json_deep_copy(run->kept);
    json_object_clear(run->kept);
    lab->host_count = run->cell->scenario.roles.count;
    lab->all_count = lab->host_count;
    while (forwarder(run->cell, lab->all_count - lab->host_count))
        lab->all_count++;
    lab->hosts = calloc(lab->all_count + 1, sizeof *lab->hosts);
    snprintf(purpose, sizeof purpose, "run %.100s", run->cell->scenario.name);
    if (!lab->hosts || !lab->warnings) {
        error_set(e, "out of memory");
        goto failed;
    }
    name_hosts(lab);
    hosts_prepare(lab);
    lab->jobs = traffic_jobs(&run->cell->scenario, &lab->job_count);
    if (secret_make(&lab->secret, e) != 0 ||
        !(lab->collectives =
              collective_jobs(&run->cell->scenario, &run->cell->lab, &lab->collective_count, e)) ||
        !(lab->lock = lab_lock(&run->cell->lab, purpose, e)) || switch_roles_make(lab, e) != 0)
        goto failed;
    *state = lab;
    return 0;
failed:
    remote_lab_close(lab);
    return -1;
}

static int connect_host(struct remote_lab *lab, size_t i, json_t *warnings, struct error *e)
{
    struct remote_host *h = &lab->hosts[i];
    if (!machine_is_first(lab, i)) {
        remote_host_join(h, h->lab, machine_of_host(lab, i));
        return 0;
    }
    if (remote_host_open_unless(h, lab->virt, &lab->run->cell->lab, h->lab, BRING_UP_NS, &lab->cancelled,
                                e) != 0)
        return -1;
    int locked = lab_lock_reached(lab->lock, h->ssh, "host", machine_name(lab, i), e);
    if (locked == 1)
        json_array_append_new(warnings, json_text(e->text));
    return locked < 0 ? -1 : 0;
}

/* Those of all its NICs. */
static int end_left_faults(struct remote_lab *lab, size_t i, json_t *warnings, struct error *e)
{
    struct text said = {0};
    int result = machine_is_first(lab, i) ? host_faults_restore(&lab->hosts[i], &said, e) : 0;
    if (said.length)
        json_array_append_new(warnings, json_textf("%s: faults that an earlier run had left were ended first",
                                                   machine_name(lab, i)));
    text_free(&said);
    return result;
}

/* Settings come last, when all NICs of the machine are found: they are one journal's. */
static int bring_up_host(struct remote_lab *lab, size_t role, json_t *warnings, struct error *e)
{
    struct remote_host *h = &lab->hosts[role];
    size_t first = lab->results[role].machine;
    if (connect_host(lab, role, warnings, e) != 0 || remote_find_nic(h, e) != 0)
        return -1;
    if (lab->run->as_is)
        return 0;
    if (end_left_faults(lab, role, warnings, e) != 0)
        return -1;
    return machine_next(lab, first, role, lab->host_count) == SIZE_MAX
               ? roles_bring_up_settings(lab, first, warnings, e)
               : 0;
}

/* A virtual switch takes the settings of all nodes; a bridge forwards since it booted. */
static int bring_up_forwarder(struct remote_lab *lab, size_t i, json_t *warnings, struct error *e)
{
    const struct cell *cell = lab->run->cell;
    struct remote_host *h = &lab->hosts[i];
    if (connect_host(lab, i, warnings, e) != 0)
        return -1;
    if (lab->run->as_is)
        return 0;
    if (end_left_faults(lab, i, warnings, e) != 0)
        return -1;
    if (!h->lab->forwarding)
        return 0;
    json_t *wanted = scenario_role_settings(cell->scenario_json, h->lab->name);
    json_t *taken = virtual_switch_set(h, &cell->lab, wanted, e);
    json_decref(wanted);
    json_decref(taken);
    return taken ? 0 : -1;
}

static int bring_up_one(struct remote_lab *lab, size_t i, void *context, json_t *warnings, struct error *e)
{
    (void)context;
    if (!machine_is_first(lab, i) && !machine_of_host(lab, i)->ssh) /* which has been said */
        return 0;
    return i < lab->host_count ? bring_up_host(lab, i, warnings, e) : bring_up_forwarder(lab, i, warnings, e);
}

static int remote_lab_bring_up(void *state, struct error *e)
{
    struct remote_lab *lab = state;
    const struct lab *where = &lab->run->cell->lab;
    if (lab_kind(where)->guests && !(lab->virt = virt_open(where->uri, e)))
        return -1;
    if (!(lab->workers = workers_start(lab->all_count, e)) ||
        hosts_in_parallel(lab, lab->all_count, bring_up_one, NULL, e) != 0 ||
        switch_roles_bring_up(lab, e) != 0 || host_capture_find(lab, e) != 0 || host_faults_find(lab, e) != 0)
        return -1;
    switch_counts_open(lab);
    return lab->virt ? virt_watch(lab->virt, e) : 0;
}

/* What the machine has once: its clock, and its facts, which are those of all its NICs. NULL with `e` set:
 * its clock could not be read. */
static json_t *describe_machine(struct remote_lab *lab, size_t first, json_t *warnings, struct error *e)
{
    struct remote_host *h = &lab->hosts[first];
    const char **netdevs = xcalloc(lab->host_count + 1, sizeof *netdevs);
    struct error why;
    size_t count = 0;
    json_t *facts = NULL;
    for (size_t k = first; k != SIZE_MAX; k = machine_next(lab, first, k, lab->host_count))
        if (lab->hosts[k].netdev)
            netdevs[count++] = lab->hosts[k].netdev;
    if (remote_clock(h, &lab->clock, &h->offset_ns, &h->error_ns, e) == 0 &&
        !(facts = remote_facts(h, MEMORY_GPU, netdevs, &why))) {
        json_array_append_new(warnings, json_textf("no facts: %s", why.text));
        facts = json_object();
    }
    free(netdevs);
    return facts;
}

/* `context`: descriptions by role. */
static int describe_role(struct remote_lab *lab, size_t role, void *context, json_t *warnings,
                         struct error *e)
{
    struct host_description *out = (struct host_description *)context + role;
    struct remote_host *h = &lab->hosts[role], *machine = machine_of_host(lab, role);
    out->facts = machine_is_first(lab, role)
                     ? describe_machine(lab, role, warnings, e)
                     : json_incref(((struct host_description *)context)[machine - lab->hosts].facts);
    if (!out->facts)
        return machine_is_first(lab, role) ? -1 : 0; /* it has been said */
    h->offset_ns = machine->offset_ns;
    h->error_ns = machine->error_ns;
    remote_find_gpu(h, out->facts);
    if (h->lab->gpu && !h->nvml_answers && !h->virtual_gpu)
        json_array_append_new(
            warnings, json_textf("GPU %" PRId64 " of %s is not sampled: NVIDIA's management library (NVML) "
                                 "does not find it on the host; is the driver loaded?",
                                 h->lab->gpu->index, h->lab->name));
    out->capabilities = remote_capabilities(h, out->facts);
    out->origin = remote_origin(h, out->facts);
    out->settings = json_incref(json_object_get(json_object_get(h->nic, "interfaces"), h->netdev));
    out->name = strdup(h->lab->domain ? h->lab->domain : h->lab->name);
    const char *address = lab_flow_address(&h->lab->nic);
    out->address = address ? strndup(address, strcspn(address, "/")) : NULL;
    out->clock_offset_ns = h->offset_ns;
    out->clock_error_ns = h->error_ns;
    return out->name && out->capabilities ? 0 : error_set(e, "out of memory");
}

static int remote_lab_describe(void *state, struct host_description out[], struct error *e)
{
    struct remote_lab *lab = state;
    return hosts_in_parallel(lab, lab->host_count, describe_role, out, e) != 0 ||
                   switch_roles_describe(lab, out, e) != 0
               ? -1
               : 0;
}

/* Now it is known that the lab has what the scenario needs, and nothing has been changed. */
static int remote_lab_save_settings(void *state, struct role_settings roles[], struct error *e)
{
    return tools_find(state, e) != 0 || collectives_find(state, e) != 0
               ? -1
               : roles_save_settings(state, roles, e);
}

/* ---- the run */

#define KIND(kind) (1u << (kind))
#define ALL_KINDS                                                                                \
    (KIND(STREAM_SAMPLER) | KIND(STREAM_SERVER) | KIND(STREAM_TRAFFIC) | KIND(STREAM_CAPTURER) | \
     KIND(STREAM_COLLECTIVE))

/* A sampler is ready when it has printed its header and a sample for each of its NICs, a server and a
 * capturer when they have printed that they listen, a driver that awaits its start when it says that it is
 * connected. */
static bool is_ready(const struct stream *s)
{
    if (s->spool)
        return s->spool->listening;
    return s->kind == STREAM_TRAFFIC
               ? s->ready || !s->job->tool->awaits_start
               : s->lines >= (s->kind == STREAM_SAMPLER ? 2 : 1) && (!s->nics || s->sample_ns);
}

static const struct stream *not_ready(const struct remote_lab *lab, unsigned kinds)
{
    for (size_t i = 0; i < lab->stream_count; i++)
        if (kinds & KIND(lab->streams[i].kind) && !is_ready(&lab->streams[i]))
            return &lab->streams[i];
    return NULL;
}

static int wait_ready(struct remote_lab *lab, unsigned kinds, struct error *e)
{
    int64_t deadline_ns = clock_monotonic_ns() + READY_NS;
    const struct stream *late;
    while ((late = not_ready(lab, kinds))) {
        if (watch_pump(lab, clock_monotonic_ns() + WATCH_STEP_NS, e) != 0 || watch_look(lab, e) != 0)
            return -1;
        if (interrupt_count(lab->run->interrupt) > 0)
            return error_set(e, "interrupted");
        if (clock_monotonic_ns() > deadline_ns)
            return error_set(e, "host %s: %s was not ready within %lld s", late->host->lab->name,
                             late->program, READY_NS / NS_PER_S);
    }
    return 0;
}

static int settle_role(struct remote_lab *lab, size_t role, void *context, json_t *warnings, struct error *e)
{
    (void)context;
    (void)warnings;
    return remote_settle(&lab->hosts[role], e);
}

/* Each host's nic-config has waited for its own link; a later write at the other end takes it down again. */
static int settle_links(struct remote_lab *lab, struct error *e)
{
    if (!lab->changed || hosts_in_parallel(lab, lab->host_count, settle_role, NULL, e) == 0)
        return 0;
    return error_prefix(e, "waiting for the links after the last host's settings");
}

static int remote_lab_start(void *state, int64_t *start_ns, struct error *e)
{
    struct remote_lab *lab = state;
    if (settle_links(lab, e) != 0 || collectives_ask_env(lab, e) != 0)
        return -1;
    lab->started = lab->failed = true;
    switch_counts_before(lab);
    /* a sampler's first sample is waited for while the drivers connect */
    if (start_samplers(lab, e) != 0 || switch_roles_sample(lab, e) != 0 || host_capture_start(lab, e) != 0 ||
        start_servers(lab, e) != 0 || wait_ready(lab, KIND(STREAM_SERVER) | KIND(STREAM_CAPTURER), e) != 0 ||
        start_waiting_drivers(lab, e) != 0 || wait_ready(lab, ALL_KINDS, e) != 0 ||
        host_faults_begin(lab, e) != 0)
        return -1;
    if (host_storms_schedule(lab, traffic_lead_ns(lab->jobs, lab->job_count), start_ns, e) != 0)
        return -1;
    host_capture_phases(lab, *start_ns);
    if (start_traffic(lab, *start_ns, e) != 0 || collectives_start(lab, *start_ns, e) != 0)
        return -1;
    lab->failed = false;
    return 0;
}

static int64_t remote_lab_now(void *state)
{
    const struct remote_lab *lab = state;
    return clock_steady_ns(&lab->clock);
}

static enum advance remote_lab_advance(void *state, int64_t until_ns, struct error *e)
{
    struct remote_lab *lab = state;
    for (;;) {
        int64_t left_ns = until_ns - clock_steady_ns(&lab->clock);
        if (left_ns <= 0)
            return ADVANCE_DONE;
        lab->failed =
            watch_pump(lab, clock_monotonic_ns() + left_ns, e) != 0 || host_capture_update(lab, e) != 0;
        if (!lab->failed && interrupt_count(lab->run->interrupt) > 0)
            return ADVANCE_INTERRUPTED;
        lab->failed = lab->failed || watch_look(lab, e) != 0;
        if (lab->failed)
            return ADVANCE_FAILED;
    }
}

/* ---- the end */

/* A host that hangs or was stopped is not waited for, nor a program whose output is too long already. */
static bool any_runs(const struct remote_lab *lab, unsigned kinds)
{
    for (size_t i = 0; i < lab->stream_count; i++)
        if (kinds & KIND(lab->streams[i].kind) && lab->streams[i].running && !lab->streams[i].unreadable &&
            !lab->streams[i].host->silent)
            return true;
    return false;
}

/* Wait up to `grace_ns` for programs of these kinds to end by themselves, then tell them to end. A second
 * Ctrl-C stops the wait; lines received so far are kept. */
static int end_streams(struct remote_lab *lab, unsigned kinds, int64_t grace_ns, struct error *e)
{
    int patience = interrupt_count(lab->run->interrupt) + 1, result = 0;
    struct error known; /* the cause of the run's end has been reported already */
    for (int told = 0; told < 2; told++) {
        int64_t deadline_ns = clock_monotonic_ns() + (told ? LAST_LINES_NS : grace_ns);
        for (size_t i = 0; told && i < lab->stream_count; i++)
            if (kinds & KIND(lab->streams[i].kind))
                stream_tell_end(&lab->streams[i]);
        while (result == 0 && any_runs(lab, kinds) && clock_monotonic_ns() < deadline_ns &&
               interrupt_count(lab->run->interrupt) < patience) {
            result = watch_pump(lab, deadline_ns, e);
            if (watch_events(lab, &known) != 0)
                deadline_ns = clock_monotonic_ns(); /* a guest that was stopped prints nothing more */
        }
    }
    return result;
}

/* How traffic ended, after the wait for its end. */
static int end_of(struct remote_lab *lab, struct stream *s, struct error *e)
{
    struct error first;
    if (s->unreadable && s->cut)
        return error_set(e, "host %s: %s: %s", s->host->lab->name, s->program, s->why.text);
    if (s->kind == STREAM_COLLECTIVE && s->cut)
        return error_set(e,
                         "host %s: collective %s had not ended %lld s after the phases: it needs a longer "
                         "phases.measure, fewer sizes or fewer iterations",
                         s->host->lab->name, s->collective->collective->name, SUMMARY_NS / NS_PER_S);
    switch (stream_outcome(s, lab->run, SUMMARY_NS, &first)) {
    case STREAM_WELL:
        return 0;
    case STREAM_BADLY:
        break;
    case STREAM_NOT_YET:
        error_set(&first, "host %s: %s does not end", s->host->lab->name, s->program);
        break;
    }
    return watch_find_cause(lab, &first, e);
}

static bool sampled_since(const struct remote_lab *lab, int64_t time_ns)
{
    for (size_t i = 0; i < lab->stream_count; i++) {
        const struct stream *s = &lab->streams[i];
        if (s->kind == STREAM_SAMPLER && s->running && !s->host->silent &&
            s->sample_ns < time_ns + s->host->offset_ns + (s->series ? s->host->sonic->settle_ns : 0))
            return false;
    }
    return true;
}

/* What the last packets moved, on each host, is in a sample that begins after the end of traffic. */
static int await_last_samples(struct remote_lab *lab, struct error *e)
{
    int64_t now_ns = clock_monotonic_ns(), ended_ns = clock_steady_ns(&lab->clock);
    int64_t deadline_ns = now_ns + lab->run->cell->scenario.sample.every_ns + LAST_SAMPLE_NS;
    lab->traffic_ended_ns = now_ns;
    for (size_t i = 0; i < lab->host_count; i++)
        if (lab->hosts[i].sonic && now_ns + lab->hosts[i].sonic->settle_ns + LAST_SAMPLE_NS > deadline_ns)
            deadline_ns = now_ns + lab->hosts[i].sonic->settle_ns + LAST_SAMPLE_NS;
    int patience = interrupt_count(lab->run->interrupt) + 1, result = 0;
    while (result == 0 && !sampled_since(lab, ended_ns) && clock_monotonic_ns() < deadline_ns &&
           interrupt_count(lab->run->interrupt) < patience)
        result = watch_pump(lab, deadline_ns, e);
    return result;
}

/* Traffic first: it prints its summaries when it ends, and samplers cover it to the end. */
static int finish_whole(struct remote_lab *lab, struct error *e)
{
    struct error later;
    int result = end_streams(lab, KIND(STREAM_TRAFFIC) | KIND(STREAM_COLLECTIVE), SUMMARY_NS, e);
    if (result == 0)
        result = await_last_samples(lab, e);
    for (size_t i = 0; result == 0 && i < lab->stream_count; i++)
        if (lab->streams[i].kind == STREAM_TRAFFIC || lab->streams[i].kind == STREAM_COLLECTIVE)
            result = end_of(lab, &lab->streams[i], e);
    if (end_streams(lab, ALL_KINDS, 0, &later) != 0)
        result = result == 0 ? error_set(e, "%s", later.text) : -1;
    return result;
}

static int record_patterns(struct remote_lab *lab, struct error *e)
{
    const struct list_of *traffic = &lab->run->cell->scenario.traffic;
    int result = 0;
    for (size_t i = 0; result == 0 && i < traffic->count; i++)
        result =
            recorder_pattern(lab->run->recorder, ((const struct scenario_traffic *)traffic->items)[i].name,
                             clock_steady_ns(&lab->clock), e);
    return result;
}

static int remote_lab_finish(void *state, struct error *e)
{
    struct remote_lab *lab = state;
    struct error later;
    if (!lab->started)
        return 0;
    bool whole = !lab->failed && interrupt_count(lab->run->interrupt) == 0;
    for (size_t i = 0; whole && i < lab->stream_count; i++)
        whole = lab->streams[i].running || stream_may_end(&lab->streams[i]) ||
                lab->streams[i].kind == STREAM_CAPTURER;
    int result = whole ? finish_whole(lab, e) : end_streams(lab, ALL_KINDS, 0, e);
    if (whole)
        switch_counts_after(lab);
    host_faults_end(lab);
    if (host_capture_finish(lab, &later) != 0)
        result = result == 0 ? error_set(e, "%s", later.text) : -1;
    return result == 0 ? record_patterns(lab, e) : -1;
}

/* Clocks drift: a second reading widens the error bound. This machine's own clock may be set meanwhile;
 * the run's is not. `context`: what the result says of it, by the first role of each machine; NULL where it
 * was not read. */
static int read_clock_again(struct remote_lab *lab, size_t role, void *context, json_t *warnings,
                            struct error *e)
{
    struct remote_host *h = &lab->hosts[role];
    int64_t offset_ns, error_ns;
    if (!machine_is_first(lab, role) || !lab->started || h->silent || !ssh_alive(h->ssh, NULL) ||
        remote_clock(h, &lab->clock, &offset_ns, &error_ns, e) != 0)
        return 0;
    int64_t drift_ns = llabs(offset_ns - h->offset_ns);
    int64_t bound_ns = h->error_ns > error_ns ? h->error_ns : error_ns;
    if (drift_ns > STEP_NS)
        json_array_append_new(warnings,
                              json_textf("%s: its clock was set by %+.3f s during the run: times of its "
                                         "samples and events are wrong by that",
                                         machine_name(lab, role), (double)(offset_ns - h->offset_ns) / 1e9));
    ((json_t **)context)[role] =
        json_make("{s:I,s:I,s:I}", "offset_ns", (json_int_t)h->offset_ns, "error_ns",
                  (json_int_t)(bound_ns + drift_ns), "drift_ns", (json_int_t)drift_ns);
    return 0;
}

static void warn_of_log(struct remote_lab *lab, size_t role)
{
    const struct remote_host *h = &lab->hosts[role];
    if (h->log.lines_left_out)
        json_array_append_new(
            lab->warnings,
            json_textf("%s: left out %" PRIu64
                       " lines (%.1f MB) of what its programs said: run.log takes %u MiB of a host",
                       role_name(lab, role), h->log.lines_left_out, (double)h->log.bytes_left_out / 1e6,
                       STREAM_LOG_MOST >> 20));
}

static void remote_lab_add_to_result(void *state, json_t *result)
{
    struct remote_lab *lab = state;
    json_t **clocks = calloc(lab->host_count + 1, sizeof *clocks);
    if (clocks)
        hosts_in_parallel(lab, lab->host_count, read_clock_again, clocks, NULL);
    for (size_t role = 0; role < lab->host_count; role++) {
        json_t *host = json_object_get(json_object_get(result, "hosts"), role_name(lab, role));
        json_object_set_new(host, "buffers", remote_buffers(&lab->hosts[role]));
        json_t *clock = clocks ? clocks[lab->results[role].machine] : NULL;
        if (clock)
            json_object_set_new(host, "clock", json_deep_copy(clock));
        warn_of_log(lab, role);
    }
    for (size_t role = 0; clocks && role < lab->host_count; role++)
        json_decref(clocks[role]);
    free(clocks);
    switch_counts_add_to_result(lab, result);
    tools_add_to_result(lab, result);
    collectives_add_to_result(lab, result);
    host_capture_add_to_result(lab, result);
    host_faults_add_to_result(lab, result);
    json_array_extend(json_object_get(result, "warnings"), lab->warnings);
}

#define REMOTE_LAB(NAME)                                                                                  \
    {                                                                                                     \
        .name = (NAME), .open = remote_lab_open, .bring_up = remote_lab_bring_up,                         \
        .describe = remote_lab_describe, .save_settings = remote_lab_save_settings,                       \
        .apply_settings = roles_apply_settings, .restore_settings = roles_restore_settings,               \
        .keep_settings = roles_keep_settings, .start = remote_lab_start, .advance = remote_lab_advance,   \
        .now_ns = remote_lab_now, .finish = remote_lab_finish, .add_to_result = remote_lab_add_to_result, \
        .close = remote_lab_close                                                                         \
    }
const struct lab_driver lab_driver_libvirt = REMOTE_LAB("libvirt");
const struct lab_driver lab_driver_ssh = REMOTE_LAB("ssh");
