#include "lib/packets/capture.h"

#include "lib/packets/frame.h"
#include "lib/units.h"
#include <stdlib.h>

#define NAME(constant, identifier, name) name,
const char *const capture_check_names[] = {CAPTURE_CHECKS(NAME) NULL};
#undef NAME

static const char *const phase_names[] = {"run", "warmup", "measure", "cooldown", NULL};

#define SNAP "114"
_Static_assert(FRAME_SNAP_BYTES == 114, "the default of snap follows from the headers");

#define AT(member) .offset = offsetof(struct capture, member)
static const struct field fields[] = {
    {"ports", FIELD_LIST, AT(ports), .item = FIELD_STRING, .min = 0, .max = 100000,
     .help = "Ports: a host, switch or role for all ports of it, NODE:PORT for one; ports count from 0 in "
             "the order "
             "of the lab's links. Default: all."},
    {"flows", FIELD_LIST, AT(flows), .item = FIELD_STRING, .min = 0, .max = 100000,
     .help =
         "Flows or traffic patterns, whose frames are captured; globs are allowed. PFC frames belong to no "
         "flow and are captured in any case. Simulated labs only. Default: all."},
    {"priorities", FIELD_LIST, AT(priorities), .item = FIELD_INTEGER, .min = 0, .max = 7,
     .help =
         "Priorities, whose frames are captured, and PFC frames that name one of them. Simulated labs only. "
         "Default: all."},
    {"phase", FIELD_CHOICE, AT(phase), .choices = phase_names, .fallback = "\"run\"",
     .help = "Phase in which frames are captured."},
    {"snap", FIELD_QUANTITY, AT(snap_bytes), .unit = UNIT_BYTES, .min = 64, .max = 65536,
     .fallback = "\"" SNAP "B\"",
     .help =
         "Bytes of a frame that are kept: " SNAP " have all headers, and all of frames without a payload; "
         "64KiB keeps each whole."},
    {"limit", FIELD_QUANTITY, AT(limit_bytes), .unit = UNIT_BYTES, .min = 1024, .max = INT64_C(1) << 44,
     .fallback = "\"100MB\"",
     .help = "Bytes of the file, which are never exceeded. From then on nothing is captured."},
    {0},
};
#undef AT
const struct table capture_table = {"scenario.capture", "Frames that are written to a file.",
                                    sizeof(struct capture), fields, NULL};

struct capture *capture_of_all(void)
{
    struct capture *c = calloc(1, sizeof *c);
    if (c && table_defaults(&capture_table, c) != 0) {
        free(c);
        return NULL;
    }
    return c;
}

int64_t capture_start_ns(const struct capture *c, const int64_t phase_ns[4])
{
    return c->phase == CAPTURE_RUN ? phase_ns[0] : phase_ns[c->phase - CAPTURE_WARMUP];
}

int64_t capture_end_ns(const struct capture *c, const int64_t phase_ns[4])
{
    return c->phase == CAPTURE_RUN ? phase_ns[3] : phase_ns[c->phase - CAPTURE_WARMUP + 1];
}

void capture_say_full(const struct capture *c, const int64_t phase_ns[4], int64_t left_out_ns,
                      struct text *out)
{
    char limit[40];
    text_add(out,
             "capture.pcapng ends at its limit of %s (capture.limit): it covers the run from %.6g to %.6g "
             "ms, and not "
             "from there to %.6g ms",
             units_write(UNIT_BYTES, c->limit_bytes, UNITS_ANY, limit, sizeof limit),
             (double)capture_start_ns(c, phase_ns) / 1e6, (double)left_out_ns / 1e6,
             (double)capture_end_ns(c, phase_ns) / 1e6);
}
