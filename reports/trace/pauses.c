#include "reports/results/run_lines.h"
#include "reports/trace/parts.h"

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
        return -1;
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

int trace_pauses(struct trace_parts *t, struct error *e)
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
