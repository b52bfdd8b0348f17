/*
 * A trace as ui.perfetto.dev reads it: the messages Trace, TracePacket, TrackDescriptor and TrackEvent of
 * Perfetto (https://perfetto.dev/docs/reference/synthetic-track-event), written as they come, through a
 * buffer of fixed size. What failed is kept: a caller asks when it is done, and now and then on the way.
 *
 * Events of a track may be written in any order of time, but those of the same time in the order in which
 * they happen. Times are nanoseconds from 0; events before 0, and those of TRACE_NO_TRACK, are left out and
 * counted.
 */
#ifndef REPORTS_TRACE_WRITER_H
#define REPORTS_TRACE_WRITER_H

#include "lib/error.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- protocol buffers: the bytes of fields */

/*
 * Messages of Protocol Buffers, written into a buffer of fixed size: tags, varints, fixed64 and
 * length-delimited fields, as in https://protobuf.dev/programming-guides/encoding/. A message in a message is
 * begun and ended; they may be nested.
 */

struct protobuf {
    unsigned char *bytes; /* the caller's */
    size_t length, room;
    bool full; /* something did not fit: the message is not whole */
};

/* The most bytes of a varint, and of a tag with one. */
#define PROTOBUF_VARINT_MOST 10

/* Fields of the kinds uint64, uint32, enum and (not negative) int64. */
void protobuf_varint(struct protobuf *p, unsigned field, uint64_t value);
void protobuf_fixed64(struct protobuf *p, unsigned field, uint64_t value);
void protobuf_text(struct protobuf *p, unsigned field, const char *text);

/* A message as a field: what is written until protobuf_end is in it. */
size_t protobuf_begin(struct protobuf *p, unsigned field);
void protobuf_end(struct protobuf *p, size_t begin);

/* The most of tracks and of names of events; tracks beyond are left out, names become "...". */
#define TRACE_TRACKS_MOST 65536
#define TRACE_NAMES_MOST  65536
#define TRACE_NO_TRACK    UINT64_MAX
/* The most notes of an event, and bytes of a note or a name; longer ones end with "...". */
#define TRACE_NOTES_MOST 32
#define TRACE_TEXT_MOST  1024

struct trace_writer {
    int fd;
    int failed; /* errno of the first failure, or 0 */
    unsigned char *out;
    size_t used; /* of `out`: not written yet */
    struct protobuf packet;
    json_t *names; /* that were interned: their numbers */
    uint64_t tracks, arrows, events;
    uint64_t tracks_left_out, events_left_out, events_before_0;
};

/* A value that the interface shows for an event. */
struct trace_note {
    const char *name;
    const char *text; /* NULL: the number */
    double number;
};

struct trace_event {
    uint64_t track;
    int64_t time_ns;
    uint64_t name;      /* of trace_name */
    uint64_t arrow;     /* 0: none; else of trace_arrow */
    bool arrow_arrives; /* it ends here; else it begins here */
    const struct trace_note *notes;
    size_t note_count;
};

/* Slices of one track that follow one another. */
struct trace_lane {
    uint64_t track;
    int64_t end_ns; /* of the last one */
};

/* Write to an open file or pipe, which stays the caller's. After a failure too, trace_writer_close may be
 * called. */
int trace_writer_open(struct trace_writer *w, int fd, struct error *e);
/* Write what is buffered and free all. Did anything fail? `path` is for the sentence. */
int trace_writer_close(struct trace_writer *w, const char *path, struct error *e);
/* So far; the same sentence. */
int trace_writer_check(const struct trace_writer *w, const char *path, struct error *e);

/* A track below `parent` (0: none), in the order of `rank` there. It has slices, instants and other tracks.
 * Not 0; TRACE_NO_TRACK: there are too many. */
uint64_t trace_track(struct trace_writer *w, uint64_t parent, int rank, const char *name);
/* A track of a counter in this unit, "bytes" or any other. */
uint64_t trace_counter_track(struct trace_writer *w, uint64_t parent, int rank, const char *name,
                             const char *unit);
/* The number of an event's name. */
uint64_t trace_name(struct trace_writer *w, const char *bytes);
/* The number of a new arrow. Its first event is where it begins. */
uint64_t trace_arrow(struct trace_writer *w);

/* May a slice of the lane begin at this time? Not before the end of the last one. */
bool trace_fits(const struct trace_lane *lane, int64_t start_ns);
void trace_instant(struct trace_writer *w, const struct trace_event *event);
/* From the event's time to `end_ns`, on the lane's track. False: it does not fit, or ends before it begins;
 * nothing was written. */
bool trace_slice(struct trace_writer *w, struct trace_lane *lane, const struct trace_event *event,
                 int64_t end_ns);
/* From this time on the counter has this value. */
void trace_count(struct trace_writer *w, uint64_t track, int64_t time_ns, double value);

#endif
