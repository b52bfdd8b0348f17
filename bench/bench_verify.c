/*
 * Speed of `harness verify`: packets a second of all checkers over captures in memory, with the first 128
 * bytes of each packet, of one processor's time. Hosts whose port it is send and receive over many queue
 * pairs, with ACKs, marks, CNPs and PFC frames. Limits are ratios against a loop of the same run
 * (bench/reference.h); exit code 1 when one is not met.
 */
#include "bench/reference.h"
#include "verify/verify.h"
#include "lib/document/json_text.h"
#include "lib/packets/frame.h"
#include "lib/packets/opcode.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PACKETS 2000000
#define SNAP    128
#define RUNS    3
#define MESSAGE 8 /* packets */
#define RECORD  (28 + SNAP + 8 + 4 + 4)

/* Limits in steps of the reference loop a packet, about twice the values measured when this was written
 * (5.0; 6.6). */
#define STEPS_FEW  10.0
#define STEPS_MANY 13.0

static void stop(const char *what)
{
    fprintf(stderr, "bench_verify: %s\n", what);
    exit(2);
}

struct file {
    uint8_t *bytes;
    size_t length, room, at;
};

static void put32(struct file *f, uint32_t value)
{
    memcpy(f->bytes + f->length, &value, 4);
    f->length += 4;
}

static void put_block(struct file *f, uint32_t type, const void *body, uint32_t bytes)
{
    put32(f, type);
    put32(f, bytes + 12);
    memcpy(f->bytes + f->length, body, bytes);
    f->length += bytes;
    put32(f, bytes + 12);
}

static void put_packet(struct file *f, uint64_t time_ns, bool sent, const struct frame *frame)
{
    struct {
        uint32_t interface, high, low, captured, original;
        uint8_t data[SNAP];
        uint16_t code, length;
        uint32_t flags;
    } body = {.high = (uint32_t)(time_ns >> 32),
              .low = (uint32_t)time_ns,
              .code = 2,
              .length = 4,
              .flags = sent ? 2 : 1};
    body.captured = SNAP;
    memset(body.data, 0, sizeof body.data);
    frame_write(frame, body.data, SNAP);
    body.original = (uint32_t)frame_length(frame);
    put_block(f, 6, &body, sizeof body);
}

static struct frame make(bool sent, uint8_t opcode, uint32_t q, uint32_t psn)
{
    struct frame f = {.kind = FRAME_ROCE,
                      .ethernet = {.source = {2, 0, 0, 0, 0, !sent}, .destination = {2, 0, 0, 0, 0, sent}}};
    uint8_t far[4] = {10, 1, (uint8_t)(q >> 8 & 0x3f), (uint8_t)q}, own[4] = {10, 0, 0, 1};
    memcpy(f.roce.ip.source, sent ? own : far, 4);
    memcpy(f.roce.ip.destination, sent ? far : own, 4);
    f.roce.ip.ecn = FRAME_ECT_0;
    f.roce.source_port = (uint16_t)q;
    f.roce.bth = (struct frame_bth){
        .opcode = opcode, .qpn = (sent ? 0x10000 : 0x20000) + q, .psn = psn & FRAME_PSN_MASK};
    return f;
}

/* Each queue pair in turn sends a message of the host and gets its ACK; every second one gets a message with
 * a mark and answers it. */
static void fill(struct file *f, uint32_t queue_pairs)
{
    static const uint8_t section[] = {0x4d, 0x3c, 0x2b, 0x1a, 1,   0,   0,   0,
                                      255,  255,  255,  255,  255, 255, 255, 255};
    static const uint8_t interface[] = {1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 9, 0,
                                        0, 0, 6, 0, 6, 0, 2, 0, 0, 0, 0, 0, 0, 0};
    put_block(f, 0x0a0d0d0a, section, sizeof section);
    put_block(f, 1, interface, sizeof interface);
    uint64_t ns = 1000000000;
    uint32_t packets = 0;
    for (uint32_t round = 0; packets < PACKETS; round++)
        for (uint32_t q = 0; q < queue_pairs && packets < PACKETS; q++) {
            bool sent = q & 1;
            for (uint32_t k = 0; k < MESSAGE; k++, ns += 340, packets++) {
                struct frame p = make(sent,
                                      k == 0             ? OPCODE_WRITE_FIRST
                                      : k == MESSAGE - 1 ? OPCODE_WRITE_LAST
                                                         : OPCODE_WRITE_MIDDLE,
                                      q, round * MESSAGE + k);
                p.roce.payload_bytes = 4096;
                if (!sent && k == 0)
                    p.roce.ip.ecn = FRAME_CE;
                put_packet(f, ns, sent, &p);
            }
            struct frame a = make(!sent, OPCODE_ACKNOWLEDGE, q, round * MESSAGE + MESSAGE - 1);
            a.roce.aeth = (struct frame_aeth){AETH_NO_CREDITS, round + 1};
            put_packet(f, ns += 340, !sent, &a);
            packets++;
        }
}

static ssize_t read_file(void *context, void *into, size_t room)
{
    struct file *f = context;
    size_t left = f->length - f->at, bytes = left < room ? left : room;
    memcpy(into, f->bytes + f->at, bytes);
    f->at += bytes;
    return (ssize_t)bytes;
}

static double judge_ns(struct file *f, const struct verify_settings *settings)
{
    struct error e = {""};
    struct timespec from, to;
    f->at = 0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    struct capture_reader *c = capture_read_new(read_file, f, "capture", &e);
    json_t *result = c ? verify_capture(c, settings, checkers, &e) : NULL;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    if (!result)
        stop(e.text);
    json_int_t packets = json_integer_value(json_object_get(result, "packets"));
    json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(result, "checks"), i,
                       entry) if (json_integer_value(json_object_get(entry, "count")))
        stop(json_shown(entry));
    json_decref(result);
    capture_read_free(c);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / (double)packets;
}

static bool measure(struct file *f, const struct verify_settings *settings, uint32_t queue_pairs,
                    double limit)
{
    char what[80];
    f->length = 0;
    fill(f, queue_pairs);
    double best = 1e9, step = reference_ns();
    for (int i = 0; i < RUNS; i++) {
        double ns = judge_ns(f, settings);
        best = ns < best ? ns : best;
    }
    printf("%u queue pairs: %.0f ns a packet, %.2f million packets a second\n", queue_pairs, best,
           1e3 / best);
    snprintf(what, sizeof what, "%u queue pairs, steps a packet", queue_pairs);
    return at_most(what, best / step, limit);
}

int main(void)
{
    struct error e;
    struct verify_settings settings;
    json_t *document = json_loads(
        "{\"link_rate\": \"100Gb/s\", \"ack_timeout\": \"1ms\", \"settings\": {\"trust\": \"dscp\", "
        "\"pfc\": [3]}}",
        0, NULL);
    struct file f = {.room = (size_t)(PACKETS + 100) * (RECORD + 16)};
    f.bytes = malloc(f.room);
    if (!f.bytes || !document || verify_settings_parse(&settings, document, NULL, &e) != 0)
        stop("out of memory");
    bool good = measure(&f, &settings, 16, STEPS_FEW);
    good &= measure(&f, &settings, 10000, STEPS_MANY);
    free(f.bytes);
    json_decref(document);
    verify_settings_free(&settings);
    return !good;
}
