/*
 * Messages of Protocol Buffers, written into a buffer of fixed size: tags, varints, fixed64 and length-delimited fields, as in
 * https://protobuf.dev/programming-guides/encoding/. A message in a message is begun and ended; they may be nested.
 */
#ifndef REPORTS_TRACE_PROTOBUF_H
#define REPORTS_TRACE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protobuf {
    unsigned char *bytes; /* the caller's */
    size_t length, room;
    bool full; /* something did not fit: the message is not whole */
};

/* The most bytes of a varint, and of a tag with one. */
#define PROTOBUF_VARINT_MOST 10

/* A value without a tag; returns its bytes, at most PROTOBUF_VARINT_MOST. */
size_t protobuf_encode(uint64_t value, unsigned char *bytes);

/* Fields of the kinds uint64, uint32, enum and (not negative) int64. */
void protobuf_varint(struct protobuf *p, unsigned field, uint64_t value);
void protobuf_fixed64(struct protobuf *p, unsigned field, uint64_t value);
void protobuf_double(struct protobuf *p, unsigned field, double value);
void protobuf_text(struct protobuf *p, unsigned field, const char *text);

/* A message as a field: what is written until protobuf_end is in it. */
size_t protobuf_begin(struct protobuf *p, unsigned field);
void protobuf_end(struct protobuf *p, size_t begin);

#endif
