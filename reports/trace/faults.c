#include "lib/faults/link_fault.h"
#include "lib/formats/lines.h"
#include "reports/trace/parts.h"
#include <inttypes.h>
#include <stdlib.h>

#define FAULTS_MOST 1000
#define RANK_FAULT  10 /* behind the rest of the run's tracks */

/* "leaf0 - spine0" below the run, with a slice for each time that the fault acts. */
static struct trace_lane lane_of(struct trace_parts *t, size_t number, const char *title)
{
    return (struct trace_lane){.track =
                                   trace_track(&t->writer, t->run_track, RANK_FAULT + (int)number, title)};
}

/* ---- faults of links */

static void draw_link_fault(struct trace_parts *t, const json_t *document, const struct link_fault *fault,
                            const int64_t phase_ns[4], size_t number)
{
    const char *kind = run_member(document, "kind");
    char *const *ends = fault->link.items;
    struct text title = {0};
    text_add(&title, "fault of %s - %s", ends[0], ends[1]);
    struct trace_lane lane = lane_of(t, number, text_string(&title));
    text_free(&title);
    int64_t start_ns = link_fault_start_ns(fault, phase_ns), end_ns = link_fault_end_ns(fault, phase_ns);
    bool flaps = fault->kind == LINK_FLAP;
    struct trace_note notes[2] = {{"rate_bps", NULL, (double)fault->rate_bps}, {"loss", NULL, fault->loss}};
    struct trace_event event = {.name = trace_name(&t->writer, flaps ? "down" : kind),
                                .notes = fault->kind == LINK_RATE ? &notes[0] : &notes[1],
                                .note_count =
                                    fault->kind == LINK_RATE || (fault->kind == LINK_LOSS && !fault->bursts)};
    for (int64_t i = 0; i < (flaps ? link_fault_flaps(fault) : 1); i++) {
        event.time_ns = start_ns + (flaps ? i * fault->period_ns : 0);
        trace_slice(&t->writer, &lane, &event,
                    flaps ? event.time_ns + link_fault_flap_down_ns(fault) : end_ns);
    }
}

static bool take_link_fault(struct trace_parts *t, const json_t *document, const int64_t phase_ns[4],
                            size_t number)
{
    struct link_fault fault;
    struct error ignored;
    if (number >= FAULTS_MOST || table_parse(&link_fault_table, document, &fault, &ignored) != 0)
        return false;
    draw_link_fault(t, document, &fault, phase_ns, number);
    table_free(&link_fault_table, &fault);
    return true;
}

/* ---- storms */

/* Their times count from the beginning of the warm-up. */
static bool take_storm(struct trace_parts *t, const json_t *storm, int64_t run_ns, size_t number)
{
    struct text title = {0};
    int64_t start_ns, stop_ns;
    const char *role = run_member(storm, "role"), *start = run_member(storm, "start");
    if (number >= FAULTS_MOST || !*role || units_parse(UNIT_TIME_NS, start, &start_ns, NULL) != 0 ||
        units_parse(UNIT_TIME_NS, run_member(storm, "stop"), &stop_ns, NULL) != 0 ||
        !lines_fits(start_ns, 0) || !lines_fits(stop_ns, start_ns))
        return false;
    text_add(&title, "storm from %s, priority %" PRId64, role,
             (int64_t)json_integer_value(json_object_get(storm, "priority")));
    struct trace_lane lane = lane_of(t, number, text_string(&title));
    text_free(&title);
    return trace_slice(
        &t->writer, &lane,
        &(struct trace_event){.time_ns = run_ns + start_ns, .name = trace_name(&t->writer, "storm")},
        run_ns + stop_ns);
}

int trace_faults(struct trace_parts *t, const int64_t phase_ns[4], struct error *e)
{
    const json_t *document;
    uint64_t left_out = 0;
    size_t i, links = json_array_size(run_get(t->run, "scenario.faults"));
    json_array_foreach(run_get(t->run, "scenario.faults"), i, document)
    {
        left_out += !take_link_fault(t, document, phase_ns, i);
    }
    json_array_foreach(run_get(t->run, "scenario.storms"), i, document)
    {
        left_out += !take_storm(t, document, phase_ns[0], links + i);
    }
    trace_left_out(t, left_out, "faults beyond a limit, or that are damaged");
    return trace_writer_check(&t->writer, t->path, e);
}
