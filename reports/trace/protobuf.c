#include "reports/trace/protobuf.h"

#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };

size_t protobuf_encode(uint64_t value, unsigned char *bytes)
{
    size_t length = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[length++] = (unsigned char)(value & 0x7f) | 0x80;
    bytes[length++] = (unsigned char)value;
    return length;
}

static void put(struct protobuf *p, const void *bytes, size_t length)
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
    put(p, bytes, length);
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
    put(p, bytes, sizeof bytes);
}

void protobuf_double(struct protobuf *p, unsigned field, double value)
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
    put(p, text, length);
}

/* One byte is kept for the length; a longer one moves the message when its length is known. */
size_t protobuf_begin(struct protobuf *p, unsigned field)
{
    put_tag(p, field, WIRE_LENGTH);
    put(p, "", 1);
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
