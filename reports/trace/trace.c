#include "reports/trace/trace.h"

#include "lib/files.h"
#include "lib/folder/fresh.h"
#include "lib/folder/output.h"
#include "lib/folder/sweep_index.h"
#include "reports/results/lines.h"
#include "reports/trace/parts.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- pauses.jsonl, with arrows */

struct pause_reader {
    struct trace_parts *parts;
    uint64_t xoff, lasting; /* names of slices */
    uint64_t overlapping, without_peer, without_place;
};

/* The arrow begins where the XOFF comes from: an instant there, at the time when the peer stopped. */
static uint64_t begin_arrow(struct trace_parts *t, size_t from, size_t to, const struct pause_line *line,
                            const struct trace_lane *lane)
{
    struct place *source = &t->places.items[from];
    uint64_t track = places_sends(&t->places, from, line->priority);
    if (track == TRACE_NO_TRACK || lane->track == TRACE_NO_TRACK)
        return 0;
    if (!source->sent_name) {
        struct text name = {0};
        text_add(&name, "XOFF to %s", t->places.items[to].name);
        source->sent_name = trace_name(&t->writer, text_string(&name));
        text_free(&name);
    }
    uint64_t arrow = trace_arrow(&t->writer);
    trace_instant(&t->writer,
                  &(struct trace_event){
                      .track = track, .time_ns = line->start_ns, .name = source->sent_name, .arrow = arrow});
    return arrow;
}

static int take_pause(void *to, char *text, size_t length, struct error *e)
{
    struct pause_reader *reader = to;
    struct trace_parts *t = reader->parts;
    struct pause_line line;
    if (run_pause_line(text, length, &line, e) != 0)
        return LINE_DAMAGED;
    size_t place = places_find(&t->places, line.where);
    struct trace_lane *lane = place == PLACE_NONE ? NULL : places_paused(&t->places, place, line.priority);
    reader->without_place += !lane;
    if (!lane)
        return 0;
    size_t peer = t->places.items[place].peer;
    bool is_drawn = line.start_ns >= 0 && trace_fits(lane, line.start_ns);
    reader->without_peer += is_drawn && peer == PLACE_NONE;
    uint64_t arrow = is_drawn && peer != PLACE_NONE ? begin_arrow(t, peer, place, &line, lane) : 0;
    reader->overlapping +=
        !trace_slice(&t->writer, lane,
                     &(struct trace_event){.time_ns = line.start_ns,
                                           .name = line.lasts ? reader->lasting : reader->xoff,
                                           .arrow = arrow,
                                           .arrow_arrives = true},
                     line.start_ns + line.duration_ns);
    return trace_writer_check(&t->writer, t->path, e);
}

/* pauses.jsonl, with arrows. */
static int trace_pauses(struct trace_parts *t, struct error *e)
{
    struct pause_reader reader = {.parts = t,
                                  .xoff = trace_name(&t->writer, "XOFF"),
                                  .lasting = trace_name(&t->writer, "XOFF, lasts when the run ends")};
    int result = run_each_line(t->run, "pauses.jsonl", take_pause, &reader, e);
    trace_left_out(t, reader.overlapping, "pauses that overlap with another one of their port and priority");
    trace_left_out(t, reader.without_place, "pauses of ports beyond a limit, or with too long names");
    trace_left_out(t, reader.without_peer,
                   "arrows to pauses whose port has no single peer in the result's topology");
    return result;
}

static void trace_made_free(struct trace_made *made)
{
    text_free(&made->path);
    text_free(&made->left_out);
    damaged_free(&made->damaged);
}

void trace_left_out(struct trace_parts *t, uint64_t count, const char *what)
{
    if (count)
        text_add(&t->left_out, "left out: %" PRIu64 " %s\n", count, what);
}

/* ---- a trace */

static void note_limits(struct trace_parts *t)
{
    trace_left_out(t, t->writer.tracks_left_out, "tracks beyond a limit");
    trace_left_out(t, t->writer.events_left_out, "events of tracks beyond a limit");
    trace_left_out(t, t->writer.events_before_0, "events before the time 0");
}

/* In the trace, too: an instant at its beginning. */
static void draw_left_out(struct trace_parts *t)
{
    const struct trace_note note = {"text", text_string(&t->left_out), 0};
    if (t->left_out.length)
        trace_instant(&t->writer, &(struct trace_event){.track = t->run_track,
                                                        .time_ns = t->start_ns,
                                                        .name = trace_name(&t->writer, "left out"),
                                                        .notes = &note,
                                                        .note_count = 1});
}

/* If there are too many tracks, flows are what is left out. */
static int write_parts(struct trace_parts *t, struct error *e)
{
    if (trace_story(t, e) != 0 || trace_pauses(t, e) != 0 || trace_counters(t, e) != 0 ||
        trace_flows(t, e) != 0)
        return -1;
    note_limits(t);
    draw_left_out(t);
    return 0;
}

static int write_trace(struct run *run, int fd, struct trace_made *made, struct error *e)
{
    struct trace_parts t = {.run = run, .path = text_string(&made->path)};
    int result = trace_writer_open(&t.writer, fd, e);
    if (result == 0)
        result = places_open(&t.places, run, &t.writer, e);
    if (result == 0)
        result = write_parts(&t, e);
    made->events = t.writer.events;
    made->tracks = t.writer.tracks;
    made->left_out = t.left_out;
    places_free(&t.places);
    return trace_writer_close(&t.writer, t.path, result == 0 ? e : NULL) == 0 ? result : -1;
}

/* ---- its file */

/* What the writer's first packet is, which has no time and no values. */
#define TRACE_BEGINS "\x0a\x04\x50\x01\x68\x01"

/* A file of its own until it is whole, which then replaces a trace of its name. `chosen`: by the user. */
static int write_file(struct run *run, const struct folder *folder, const char *name, bool chosen,
                      struct trace_made *made, struct error *e)
{
    const struct output output = {
        .what = "a trace", .begins = TRACE_BEGINS, .length = sizeof TRACE_BEGINS - 1, .takes_links = !chosen};
    struct fresh fresh = {.fd = -1};
    const char *path = text_string(&made->path);
    if (output_check(folder, name, &output, e) != 0)
        return -1;
    fresh_clear(folder);
    int result = fresh_file(&fresh, folder, name, e);
    if (result == 0)
        result = write_trace(run, fresh.fd, made, e);
    if (result == 0 && fsync(fresh.fd) != 0)
        result = error_set_errno(e, errno, "writing %s", path);
    if (result == 0)
        result = fresh_publish(&fresh, folder, name, true, e);
    fresh_remove(&fresh, folder);
    return result;
}

/* A path that the user named. */
static int write_named(struct run *run, const char *out, struct trace_made *made, struct error *e)
{
    struct folder folder = {.fd = -1};
    char *parent;
    const char *name = files_split(out, &parent);
    int result = -1;
    if (!parent)
        error_set(e, "out of memory for %s", out);
    else if (!*name)
        error_set(e, "--out: %s is a folder: expected a file", out);
    else
        result = folder_open(&folder, parent, e);
    if (result == 0)
        result = write_file(run, &folder, name, true, made, e);
    folder_close(&folder);
    free(parent);
    return result;
}

static int write_in_run(struct run *run, struct trace_made *made, struct error *e)
{
    struct folder folder = {.fd = -1};
    int result = run_open_folder(run, &folder, e);
    if (result == 0)
        result = write_file(run, &folder, TRACE_FILE, false, made, e);
    folder_close(&folder);
    return result;
}

/* `judged`: of the cell's sweep (sweep_index_judged). */
static int make_trace(const char *result, const char *cell, const json_t *judged, const char *out,
                      trace_tell *tell, void *to, struct error *e)
{
    struct run run;
    struct trace_made made = {0};
    int done = run_load(&run, result, cell, e);
    if (done == 0 && cell)
        run_note_judged(&run, result, judged, cell);
    else if (done == 0)
        run_look_for_sweep(&run);
    if (done == 0 && out && strcmp(out, TRACE_STDOUT) == 0) {
        text_add(&made.path, "standard output");
        done = write_trace(&run, STDOUT_FILENO, &made, e);
    } else if (done == 0) {
        text_add(&made.path, "%s%s", out ? out : run.folder, out ? "" : "/" TRACE_FILE);
        done = out ? write_named(&run, out, &made, e) : write_in_run(&run, &made, e);
    }
    damaged_add(&made.damaged, &run);
    if (done == 0)
        tell(to, &made);
    trace_made_free(&made);
    run_free(&run);
    return done;
}

/* ---- sweeps */

static int make_cells(const char *result, const json_t *index, trace_tell *tell, void *to, struct error *e)
{
    json_t *taken = json_object();
    const json_t *cell;
    size_t i, count = 0;
    int done = 0;
    json_array_foreach(json_object_get(index, "cells"), i, cell)
    {
        const char *name = run_cell_folder(cell, taken);
        done = name ? make_trace(result, name, json_object_get(index, "repeated"), NULL, tell, to, e)
                    : error_set(e, "%s: the index: cell %zu does not name a folder of its own", result, i);
        if (done != 0)
            break;
        count++;
    }
    json_decref(taken);
    return done != 0 || count ? done : error_set(e, "there is no finished run in %s", result);
}

int trace_result(const char *result, const char *out, trace_tell *tell, void *to, struct damaged *left_out,
                 struct error *e)
{
    struct folder folder;
    json_t *index = NULL;
    int done = folder_open(&folder, result, e);
    bool is_sweep = done == 0 && sweep_index_exists(&folder);
    if (done != 0)
        error_prefix(e, "%s is not a result", result);
    else if (is_sweep && out)
        done = error_set(e,
                         "--out: %s is a sweep, of which each run has a trace of its own: name the folder "
                         "of a run (%s/01), or leave out --out",
                         result, result);
    else if (is_sweep && !(index = sweep_index_load(&folder, e)))
        done = -1;
    folder_close(&folder);
    damaged_add_left_out(left_out, index);
    if (done == 0)
        done = is_sweep ? make_cells(result, index, tell, to, e)
                        : make_trace(result, NULL, NULL, out, tell, to, e);
    json_decref(index);
    return done;
}
