/* Checkers over captures of any bytes. The input is a capture, or, with a first byte of 0, a list of packets
 * between few queue pairs, which reaches deeper: each packet is made of the eight bytes that follow. */
#include "verify/verify.h"
#include "lib/packets/frame.h"
#include "lib/packets/opcode.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *at;
    size_t left;
    bool begun;
    uint32_t time_us;
};

static ssize_t read_bytes(void *context, void *into, size_t room)
{
    struct input *in = context;
    size_t bytes = in->left < room ? in->left : room;
    memcpy(into, in->at, bytes);
    in->at += bytes;
    in->left -= bytes;
    return (ssize_t)bytes;
}

static struct frame make(const uint8_t *word)
{
    static const uint8_t opcodes[] = {OPCODE_WRITE_ONLY,  OPCODE_WRITE_FIRST, OPCODE_WRITE_LAST,
                                      OPCODE_ACKNOWLEDGE, OPCODE_CNP,         OPCODE_READ_REQUEST,
                                      OPCODE_READ_ONLY,   OPCODE_FETCH_ADD};
    struct frame f = {.kind = FRAME_ROCE};
    uint8_t from = word[0] & 1, to = !from;
    f.ethernet.tagged = true;
    f.ethernet.priority = word[0] >> 1 & 7;
    if (word[0] & 0x10) {
        f.kind = FRAME_PFC;
        f.pfc.priorities = word[1];
        for (int i = 0; i < FRAME_PRIORITIES; i++)
            f.pfc.quanta[i] = (uint16_t)(word[2] << 8);
        return f;
    }
    f.roce.ip = (struct frame_ip){.source = {10, 0, 0, from},
                                  .destination = {10, 0, 0, to},
                                  .ecn = word[0] >> 5 & 3,
                                  .dscp = word[0] >> 7};
    f.roce.bth = (struct frame_bth){.opcode = opcodes[word[1] & 7],
                                    .qpn = word[1] >> 3 & 1,
                                    .psn = (uint32_t)(word[2] - 0x80) & FRAME_PSN_MASK,
                                    .becn = word[1] >> 4 & 1};
    f.roce.source_port = word[1] >> 3 & 1;
    f.roce.aeth = (struct frame_aeth){word[3] & 0x60, word[4]};
    f.roce.reth.length = (uint32_t)word[3] << (word[4] & 0x1f);
    f.roce.payload_bytes = opcode_find(f.roce.bth.opcode)->payload ? 64 : 0;
    return f;
}

#define MAKES 120

/* Records of a pcap. */
static ssize_t read_made(void *context, void *into, size_t room)
{
    struct input *in = context;
    if (!in->begun) {
        static const uint32_t header[6] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, 1};
        in->begun = true;
        memcpy(into, header, sizeof header);
        return sizeof header;
    }
    if (in->left < 8 || room < 16 + MAKES)
        return 0;
    struct frame f = make(in->at);
    uint8_t bytes[MAKES];
    uint32_t captured = (uint32_t)frame_write(&f, bytes, sizeof bytes);
    if (in->at[7] & 0x80 && captured > (in->at[7] & 0x7fu)) /* cut */
        captured = in->at[7] & 0x7fu;
    in->time_us += (uint32_t)in->at[5] << (in->at[6] & 7);
    uint32_t record[4] = {in->time_us / 1000000, in->time_us % 1000000, captured, (uint32_t)frame_length(&f)};
    memcpy(into, record, sizeof record);
    memcpy((uint8_t *)into + sizeof record, bytes, captured);
    in->at += 8;
    in->left -= 8;
    return (ssize_t)(sizeof record + captured);
}

static const char settings_text[] =
    "{\"deadlock\": \"1us\", \"paused_share\": 0.5, \"pauses_per_s\": 100, \"paused_window\": \"1us\", "
    "\"ecn_thresholds\": [{\"interfaces\": [\"*:*\"], \"kmin\": \"1KB\"}], "
    "\"ports\": [{\"interfaces\": [\"s1:*\"], \"settings\": {\"pfc\": [4], \"trust\": \"pcp\"}}], "
    "\"hosts\": [\"10.0.0.0\"], \"link_rate\": \"10Gb/s\", \"ack_timeout\": "
    "\"1ms\", \"settings\": {\"pfc\": [3], "
    "\"ecn\": [3], \"dcqcn\": {\"np\": {\"min_time_between_cnps\": 50, "
    "\"cnp_dscp\": 0, \"cnp_802p_prio\": 6}}}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct verify_settings settings;
    static bool ready;
    struct error e = {""};
    if (!ready) {
        json_t *document = json_loads(settings_text, 0, NULL);
        if (!document || verify_settings_parse(&settings, document, NULL, &e) != 0)
            abort();
        json_decref(document);
        ready = true;
    }
    bool made = size && data[0] == 0;
    struct input in = {.at = data + made, .left = size - made};
    struct capture_reader *c = capture_read_new(made ? read_made : read_bytes, &in, "input", &e);
    json_t *result = c ? verify_capture(c, &settings, checkers, &e) : NULL;
    if (!result && !e.text[0])
        abort();
    json_decref(result);
    capture_read_free(c);
    return 0;
}
