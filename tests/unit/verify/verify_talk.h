/* Two hosts that talk, each seen at its own port: sequences of packets without fault, and with any fault, for
 * the tests of checkers. */
#ifndef TESTS_VERIFY_TALK_H
#define TESTS_VERIFY_TALK_H

#include "verify/verify.h"
#include "lib/document/json_text.h"
#include "lib/packets/frame.h"
#include "lib/packets/opcode.h"
#include "tests/unit/lib/capture_bytes.h"

#define TALK_DELAY_NS 1000
#define TALK_BPS      INT64_C(100000000000)
#define TALK_MTU      4096

enum talk_host { HOST_A, HOST_B };

struct talk {
    struct capture_bytes bytes;
    int64_t now_ns;
    uint64_t number; /* of the last packet in the capture */
    bool addressed;  /* the capture says whose ports they are */
    bool one_port;   /* only host A's is in it */
    bool blind;      /* no directions */
    bool sliced;     /* a mirror cut packets: no more than what was captured was there */
    bool incomplete; /* nobody says that all packets are in it */
    uint8_t dscp, ecn, priority;
    bool tagged;
};

static inline void talk_start(struct talk *t)
{
    static const uint8_t addresses[2][6] = {{2, 0, 0, 0, 0, 0}, {2, 0, 0, 0, 0, 1}};
    t->bytes.length = t->bytes.at = 0;
    t->bytes.swapped = false;
    t->now_ns = 1000000000;
    t->number = 0;
    bytes_section(&t->bytes);
    for (int i = 0; i < 2; i++)
        bytes_interface_at(&t->bytes, i ? "b" : "a", 9, (uint64_t)TALK_BPS,
                           t->addressed ? addresses[i] : NULL);
}

/* A frame of RC between the hosts: its addresses, the destination's queue pair, the source port of both. */
static inline struct frame talk_frame(const struct talk *t, enum talk_host from, uint8_t opcode, uint32_t psn)
{
    uint8_t to = from == HOST_A;
    struct frame f = {.kind = FRAME_ROCE,
                      .ethernet = {.destination = {2, 0, 0, 0, 0, to},
                                   .source = {2, 0, 0, 0, 0, !to},
                                   .tagged = t->tagged,
                                   .priority = t->priority}};
    f.roce = (struct frame_roce){
        .ip = {.source = {10, 0, 0, !to}, .destination = {10, 0, 0, to}, .dscp = t->dscp, .ecn = t->ecn},
        .source_port = 49152,
        .bth = {.opcode = opcode,
                .partition = 0xffff,
                .qpn = to ? 0x200 : 0x100,
                .psn = psn & FRAME_PSN_MASK},
    };
    return f;
}

/* The packet as it is seen at one port. */
static inline uint64_t talk_seen(struct talk *t, enum talk_host port, bool sent, int64_t time_ns,
                                 const struct frame *f)
{
    uint8_t data[128];
    size_t captured = frame_write(f, data, sizeof data);
    if (t->one_port && port != HOST_A)
        return t->number;
    bytes_packet(&t->bytes, port, (uint64_t)time_ns, data, (uint32_t)captured,
                 t->sliced ? (uint32_t)captured : (uint32_t)frame_length(f),
                 t->blind ? 0
                 : sent   ? 2
                          : 1);
    return ++t->number;
}

/* It leaves one host now, and unless it is lost, arrives at the other. Returns its number at the sender. */
static inline uint64_t talk_say(struct talk *t, enum talk_host from, const struct frame *f, bool lost)
{
    uint64_t number = talk_seen(t, from, true, t->now_ns, f);
    if (!lost)
        talk_seen(t, from == HOST_A ? HOST_B : HOST_A, false, t->now_ns + TALK_DELAY_NS, f);
    t->now_ns += 500;
    return number;
}

/* Packet `psn` of a WRITE with `packets` packets, that begins at `first`. */
static inline struct frame talk_write(const struct talk *t, uint32_t first, uint32_t packets, uint32_t psn)
{
    uint32_t i = (psn - first) & FRAME_PSN_MASK;
    struct frame f = talk_frame(t, HOST_A,
                                packets == 1       ? OPCODE_WRITE_ONLY
                                : i == 0           ? OPCODE_WRITE_FIRST
                                : i == packets - 1 ? OPCODE_WRITE_LAST
                                                   : OPCODE_WRITE_MIDDLE,
                                psn);
    f.roce.payload_bytes = TALK_MTU;
    f.roce.bth.ack_request = i == packets - 1;
    f.roce.reth.length = packets * TALK_MTU;
    return f;
}

static inline struct frame talk_ack(const struct talk *t, uint32_t psn, uint32_t msn)
{
    struct frame f = talk_frame(t, HOST_B, OPCODE_ACKNOWLEDGE, psn);
    f.roce.aeth = (struct frame_aeth){AETH_NO_CREDITS, msn & FRAME_PSN_MASK};
    return f;
}

static inline struct frame talk_nak(const struct talk *t, uint32_t psn, uint32_t msn)
{
    struct frame f = talk_ack(t, psn, msn);
    f.roce.aeth.syndrome = AETH_NAK << 5 | AETH_NAK_SEQUENCE;
    return f;
}

static inline struct frame talk_cnp(const struct talk *t)
{
    struct frame f = talk_frame(t, HOST_B, OPCODE_CNP, 0);
    f.roce.bth.becn = true;
    f.roce.source_port = 0;
    return f;
}

/* A capture_source. */
static inline ssize_t talk_read(void *context, void *into, size_t room)
{
    struct talk *t = context;
    return capture_bytes_read(&t->bytes, into, room);
}

/* The entry of one checker, with settings as JSON or NULL. A new reference. */
static inline json_t *talk_judge(struct talk *t, const char *name, const char *settings)
{
    struct error e = {""};
    struct verify_settings s;
    json_t *document = json_loads(settings ? settings : "{}", 0, NULL);
    const struct checker *which[] = {verify_find(name, &e), NULL};
    if (!which[0] || !document || verify_settings_parse(&s, document, NULL, &e) != 0)
        fail_msg("%s", e.text);
    s.complete = !t->incomplete;
    t->bytes.at = 0;
    struct capture_reader *c = capture_read_new(talk_read, t, "talk", &e);
    json_t *result = c ? verify_capture(c, &s, which, &e) : NULL;
    if (!result)
        fail_msg("%s", e.text);
    json_t *entry = json_incref(json_array_get(json_object_get(result, "checks"), 0));
    json_decref(result);
    json_decref(document);
    capture_read_free(c);
    verify_settings_free(&s);
    return entry;
}

/* Nothing is found, and something was judged. */
static inline void talk_good(struct talk *t, const char *name, const char *settings)
{
    json_t *entry = talk_judge(t, name, settings);
    char *shown = json_shown(entry);
    if (strcmp(json_string_value(json_object_get(entry, "verdict")), "ok") != 0)
        fail_msg("%s", shown);
    free(shown);
    json_decref(entry);
}

/* One thing is found, of this kind at this packet. */
static inline void talk_bad(struct talk *t, const char *name, const char *settings, const char *kind,
                            uint64_t number)
{
    json_t *entry = talk_judge(t, name, settings);
    json_t *found = json_array_get(json_object_get(entry, "findings"), 0);
    const json_t *packet = json_array_get(json_object_get(found, "packets"), 0);
    char *shown = json_shown(entry);
    if (json_integer_value(json_object_get(entry, "count")) != 1 ||
        strcmp(json_string_value(json_object_get(found, "kind")), kind) != 0 ||
        (uint64_t)json_integer_value(json_object_get(packet, "packet")) != number)
        fail_msg("expected \"%s\" at packet %d alone, found %s", kind, (int)number, shown);
    free(shown);
    json_decref(entry);
}

/* The verdict is a failure. */
static inline void talk_fails(struct talk *t, const char *name, const char *settings)
{
    json_t *entry = talk_judge(t, name, settings);
    char *shown = json_shown(entry);
    if (strcmp(json_string_value(json_object_get(entry, "verdict")), "failure") != 0)
        fail_msg("expected a failure, found %s", shown);
    free(shown);
    json_decref(entry);
}

/* Nothing was judged, and this is a part of why. */
static inline void talk_unknown(struct talk *t, const char *name, const char *settings, const char *why)
{
    json_t *entry = talk_judge(t, name, settings);
    char *shown = json_shown(entry);
    if (strcmp(json_string_value(json_object_get(entry, "verdict")), "unknown") != 0 || !strstr(shown, why))
        fail_msg("expected unknown with \"%s\", found %s", why, shown);
    free(shown);
    json_decref(entry);
}

#endif
