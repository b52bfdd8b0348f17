#include "reports/trace/writer.h"

#include "lib/document/json_text.h"
#include "lib/output/visible.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- protocol buffers: the bytes of fields */

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };

/* A value without a tag; returns its bytes, at most PROTOBUF_VARINT_MOST. */
static size_t protobuf_encode(uint64_t value, unsigned char *bytes)
{
    size_t length = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[length++] = (unsigned char)(value & 0x7f) | 0x80;
    bytes[length++] = (unsigned char)value;
    return length;
}

static void protobuf_put(struct protobuf *p, const void *bytes, size_t length)
{
    if (p->full || length > p->room - p->length) {
        p->full = true;
        return;
    }
    memcpy(p->bytes + p->length, bytes, length);
    p->length += length;
}

static void put_varint(struct protobuf *p, uint64_t value)
{
    unsigned char bytes[PROTOBUF_VARINT_MOST];
    size_t length = protobuf_encode(value, bytes);
    protobuf_put(p, bytes, length);
}

static void put_tag(struct protobuf *p, unsigned field, enum wire_type type)
{
    put_varint(p, (uint64_t)field << 3 | type);
}

void protobuf_varint(struct protobuf *p, unsigned field, uint64_t value)
{
    put_tag(p, field, WIRE_VARINT);
    put_varint(p, value);
}

void protobuf_fixed64(struct protobuf *p, unsigned field, uint64_t value)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> (8 * i) & 0xff);
    put_tag(p, field, WIRE_FIXED64);
    protobuf_put(p, bytes, sizeof bytes);
}

static void protobuf_double(struct protobuf *p, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    protobuf_fixed64(p, field, bits);
}

void protobuf_text(struct protobuf *p, unsigned field, const char *text)
{
    size_t length = strlen(text);
    put_tag(p, field, WIRE_LENGTH);
    put_varint(p, length);
    protobuf_put(p, text, length);
}

/* One byte is kept for the length; a longer one moves the message when its length is known. */
size_t protobuf_begin(struct protobuf *p, unsigned field)
{
    put_tag(p, field, WIRE_LENGTH);
    protobuf_put(p, "", 1);
    return p->length;
}

void protobuf_end(struct protobuf *p, size_t begin)
{
    unsigned char bytes[PROTOBUF_VARINT_MOST];
    size_t length = p->length - begin, more = protobuf_encode(length, bytes) - 1;
    if (p->full || more > p->room - p->length) {
        p->full = true;
        return;
    }
    memmove(p->bytes + begin + more, p->bytes + begin, length);
    memcpy(p->bytes + begin - 1, bytes, more + 1);
    p->length += more;
}

#define OUT_BYTES    (256 << 10)
#define OTHER_NAMES  "..."       /* of events whose name is one too many */
#define PACKET_BYTES (128 << 10) /* more than TRACE_NOTES_MOST notes have */

/* Field numbers of google/perfetto, protos/perfetto/trace/: trace.proto, trace_packet.proto,
 * interned_data/interned_data.proto and, in track_event/, track_descriptor.proto, counter_descriptor.proto,
 * track_event.proto, debug_annotation.proto. */
enum {
    TRACE_PACKET = 1,

    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60,

    INTERNED_EVENT_NAMES = 2,
    EVENT_NAME_IID = 1,
    EVENT_NAME_NAME = 2,

    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_CHILD_ORDERING = 11,
    TRACK_RANK = 12,

    COUNTER_UNIT = 3,
    COUNTER_UNIT_NAME = 6,

    EVENT_NOTES = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_VALUE = 44,
    EVENT_ARROWS = 47,
    EVENT_LAST_ARROWS = 48,

    NOTE_DOUBLE = 5,
    NOTE_TEXT = 6,
    NOTE_NAME = 10,
};
enum { SEQUENCE = 1, STATE_CLEARED = 1, NEEDS_STATE = 2, ORDERED_BY_RANK = 3, UNIT_SIZE_BYTES = 3 };
enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

/* ---- to the file */

static void flush(struct trace_writer *w)
{
    for (size_t at = 0; at < w->used && !w->failed;) {
        ssize_t written = write(w->fd, w->out + at, w->used - at);
        if (written < 0 && errno != EINTR)
            w->failed = errno;
        at += written > 0 ? (size_t)written : 0;
    }
    w->used = 0;
}

static void write_packet(struct trace_writer *w, const unsigned char *bytes, size_t length)
{
    if (length > OUT_BYTES - w->used)
        flush(w);
    memcpy(w->out + w->used, bytes, length);
    w->used += length;
}

static void begin_packet(struct trace_writer *w, uint64_t flags)
{
    w->packet.length = 0;
    w->packet.full = false;
    protobuf_varint(&w->packet, PACKET_SEQUENCE_ID, SEQUENCE);
    protobuf_varint(&w->packet, PACKET_SEQUENCE_FLAGS, flags);
}

static void end_packet(struct trace_writer *w)
{
    unsigned char head[1 + PROTOBUF_VARINT_MOST] = {TRACE_PACKET << 3 | 2};
    if (w->packet.full)
        w->failed = w->failed ? w->failed : EMSGSIZE;
    if (w->failed)
        return;
    write_packet(w, head, 1 + protobuf_encode(w->packet.length, head + 1));
    write_packet(w, w->packet.bytes, w->packet.length);
}

int trace_writer_open(struct trace_writer *w, int fd, struct error *e)
{
    *w = (struct trace_writer){.fd = fd, .out = malloc(OUT_BYTES), .names = json_object()};
    w->packet = (struct protobuf){.bytes = malloc(PACKET_BYTES), .room = PACKET_BYTES};
    if (!w->out || !w->packet.bytes || !w->names)
        return error_set(e, "out of memory for a trace");
    begin_packet(w, STATE_CLEARED);
    end_packet(w);
    trace_name(w, OTHER_NAMES);
    return 0;
}

int trace_writer_check(const struct trace_writer *w, const char *path, struct error *e)
{
    return w->failed ? error_set_errno(e, w->failed, "writing %s", path) : 0;
}

int trace_writer_close(struct trace_writer *w, const char *path, struct error *e)
{
    if (w->out)
        flush(w);
    free(w->out);
    free(w->packet.bytes);
    json_decref(w->names);
    w->out = w->packet.bytes = NULL;
    w->names = NULL;
    return trace_writer_check(w, path, e);
}

/* ---- texts */

/* As valid UTF-8 without control characters, into TRACE_TEXT_MOST + 4 bytes. */
static void copy_text(char *text, const char *bytes)
{
    size_t length = strlen(bytes);
    visible_copy(text, TRACE_TEXT_MOST + 1, bytes, length, VISIBLE_LINE);
    if (length > TRACE_TEXT_MOST)
        memcpy(text + strlen(text), "...", 4);
}

static void put_text(struct protobuf *p, unsigned field, const char *bytes)
{
    char text[TRACE_TEXT_MOST + 4];
    copy_text(text, bytes);
    protobuf_text(p, field, text);
}

uint64_t trace_name(struct trace_writer *w, const char *bytes)
{
    char name[TRACE_TEXT_MOST + 4];
    copy_text(name, bytes);
    const json_t *known = json_object_get(w->names, name);
    if (known)
        return (uint64_t)json_integer_value(known);
    size_t count = json_object_size(w->names);
    if (count >= TRACE_NAMES_MOST)
        return trace_name(w, OTHER_NAMES);
    if (json_put(w->names, name, json_integer((json_int_t)count + 1)) != 0)
        w->failed = w->failed ? w->failed : ENOMEM;
    begin_packet(w, NEEDS_STATE);
    size_t data = protobuf_begin(&w->packet, PACKET_INTERNED_DATA);
    size_t entry = protobuf_begin(&w->packet, INTERNED_EVENT_NAMES);
    protobuf_varint(&w->packet, EVENT_NAME_IID, count + 1);
    protobuf_text(&w->packet, EVENT_NAME_NAME, name);
    protobuf_end(&w->packet, entry);
    protobuf_end(&w->packet, data);
    end_packet(w);
    return count + 1;
}

/* ---- tracks */

static uint64_t describe_track(struct trace_writer *w, uint64_t parent, int rank, const char *name,
                               const char *unit)
{
    struct protobuf *p = &w->packet;
    if (w->tracks >= TRACE_TRACKS_MOST) {
        w->tracks_left_out++;
        return TRACE_NO_TRACK;
    }
    begin_packet(w, NEEDS_STATE);
    size_t track = protobuf_begin(p, PACKET_TRACK_DESCRIPTOR);
    protobuf_varint(p, TRACK_UUID, ++w->tracks);
    put_text(p, TRACK_NAME, name);
    if (parent)
        protobuf_varint(p, TRACK_PARENT, parent);
    protobuf_varint(p, TRACK_RANK, (uint64_t)rank);
    if (unit) {
        size_t counter = protobuf_begin(p, TRACK_COUNTER);
        if (strcmp(unit, "bytes") == 0)
            protobuf_varint(p, COUNTER_UNIT, UNIT_SIZE_BYTES);
        else
            put_text(p, COUNTER_UNIT_NAME, unit);
        protobuf_end(p, counter);
    } else {
        protobuf_varint(p, TRACK_CHILD_ORDERING, ORDERED_BY_RANK);
    }
    protobuf_end(p, track);
    end_packet(w);
    return w->tracks;
}

uint64_t trace_track(struct trace_writer *w, uint64_t parent, int rank, const char *name)
{
    return describe_track(w, parent, rank, name, NULL);
}

uint64_t trace_counter_track(struct trace_writer *w, uint64_t parent, int rank, const char *name,
                             const char *unit)
{
    return describe_track(w, parent, rank, name, unit);
}

uint64_t trace_arrow(struct trace_writer *w)
{
    return ++w->arrows;
}

/* ---- events */

static bool has_room(struct trace_writer *w, uint64_t track, int64_t time_ns)
{
    w->events_left_out += track == TRACE_NO_TRACK;
    w->events_before_0 += track != TRACE_NO_TRACK && time_ns < 0;
    return track != TRACE_NO_TRACK && time_ns >= 0;
}

/* The caller ends the event and its packet. */
static size_t begin_event(struct trace_writer *w, enum event_type type, uint64_t track, int64_t time_ns)
{
    begin_packet(w, NEEDS_STATE);
    protobuf_varint(&w->packet, PACKET_TIMESTAMP, (uint64_t)time_ns);
    size_t event = protobuf_begin(&w->packet, PACKET_TRACK_EVENT);
    protobuf_varint(&w->packet, EVENT_TYPE, type);
    protobuf_varint(&w->packet, EVENT_TRACK, track);
    return event;
}

static void end_event(struct trace_writer *w, size_t event)
{
    protobuf_end(&w->packet, event);
    end_packet(w);
    w->events++;
}

static void put_note(struct protobuf *p, const struct trace_note *note)
{
    size_t message = protobuf_begin(p, EVENT_NOTES);
    put_text(p, NOTE_NAME, note->name);
    if (note->text)
        put_text(p, NOTE_TEXT, note->text);
    else
        protobuf_double(p, NOTE_DOUBLE, note->number);
    protobuf_end(p, message);
}

static void put_event(struct trace_writer *w, enum event_type type, const struct trace_event *event)
{
    struct protobuf *p = &w->packet;
    size_t message = begin_event(w, type, event->track, event->time_ns);
    protobuf_varint(p, EVENT_NAME, event->name);
    if (event->arrow)
        protobuf_fixed64(p, event->arrow_arrives ? EVENT_LAST_ARROWS : EVENT_ARROWS, event->arrow);
    for (size_t i = 0; i < event->note_count && i < TRACE_NOTES_MOST; i++)
        put_note(p, &event->notes[i]);
    if (event->note_count > TRACE_NOTES_MOST)
        put_note(
            p, &(struct trace_note){"notes left out", NULL, (double)(event->note_count - TRACE_NOTES_MOST)});
    end_event(w, message);
}

bool trace_fits(const struct trace_lane *lane, int64_t start_ns)
{
    return start_ns >= lane->end_ns;
}

void trace_instant(struct trace_writer *w, const struct trace_event *event)
{
    if (has_room(w, event->track, event->time_ns))
        put_event(w, INSTANT, event);
}

bool trace_slice(struct trace_writer *w, struct trace_lane *lane, const struct trace_event *event,
                 int64_t end_ns)
{
    struct trace_event begin = *event;
    if (!has_room(w, lane->track, event->time_ns))
        return true;
    if (!trace_fits(lane, event->time_ns) || end_ns < event->time_ns)
        return false;
    lane->end_ns = end_ns;
    begin.track = lane->track;
    put_event(w, SLICE_BEGIN, &begin);
    end_event(w, begin_event(w, SLICE_END, lane->track, end_ns));
    return true;
}

void trace_count(struct trace_writer *w, uint64_t track, int64_t time_ns, double value)
{
    if (!has_room(w, track, time_ns))
        return;
    size_t event = begin_event(w, COUNTER, track, time_ns);
    protobuf_double(&w->packet, EVENT_VALUE, value);
    end_event(w, event);
}
