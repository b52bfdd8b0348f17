/* Captures: blocks and records of any bytes, and the frames in them. */
#include "lib/packets/capture_read.h"
#include "lib/packets/frame.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *at;
    size_t left;
};

/* In pieces, as a pipe gives them. */
static ssize_t read_piece(void *context, void *into, size_t room)
{
    struct input *in = context;
    size_t bytes = in->left < room ? in->left : room;
    if (bytes > 1000)
        bytes = 1000;
    memcpy(into, in->at, bytes);
    in->at += bytes;
    in->left -= bytes;
    return (ssize_t)bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct error e = {""};
    struct capture_packet p;
    struct capture_reader *c = capture_read_new(read_piece, &in, "input", &e);
    if (!c)
        return e.text[0] == 0 ? abort(), 1 : 0;
    uint64_t packets = 0, last = 0;
    int more;
    while ((more = capture_read_next(c, &p, &e)) > 0) {
        struct frame f;
        uint8_t *exact = malloc(p.captured + 1); /* a read past its end is seen */
        if (!exact)
            break;
        memcpy(exact, p.bytes, p.captured);
        frame_read(exact, p.captured, &f);
        enum frame_icrc icrc = frame_read_icrc(exact, p.captured);
        if (p.number <= last || p.interface >= capture_read_interfaces(c) || p.time_ns < 0 ||
            p.captured > p.original || (f.kind == FRAME_ROCE) != (icrc != FRAME_ICRC_NONE))
            abort();
        last = p.number;
        packets++;
        free(exact);
    }
    if (more < 0 && !e.text[0])
        abort();
    capture_read_free(c);
    return packets > size; /* a packet takes bytes */
}
