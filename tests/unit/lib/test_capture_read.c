/* Captures of both formats and byte orders, whole, cut short at every byte, and malformed. */
#include "tests/unit/unit.h"

#include "lib/packets/capture_read.h"
#include "tests/unit/lib/capture_bytes.h"

static struct capture_bytes bytes; /* too large for the stack under sanitizers */

static void start(bool swapped)
{
    bytes.length = bytes.at = 0;
    bytes.swapped = swapped;
}

/* All packets of the bytes from the beginning; how many. */
static int read_all(struct capture_packet *last, bool *cut, struct error *e)
{
    struct capture_packet packet = {0};
    bytes.at = 0;
    struct capture_reader *c = capture_read_new(capture_bytes_read, &bytes, "it", e);
    if (!c)
        return -1;
    int count = 0, more;
    while ((more = capture_read_next(c, &packet, e)) > 0) {
        assert_int_equal(packet.number, ++count);
        *last = packet;
        last->bytes = NULL;
    }
    *cut = capture_read_cut(c) != NULL;
    capture_read_free(c);
    return more < 0 ? -1 : count;
}

static void refused(const char *with)
{
    struct capture_packet last = {0};
    struct error e = {""};
    bool cut;
    assert_int_equal(read_all(&last, &cut, &e), -1);
    if (!strstr(e.text, with))
        fail_msg("\"%s\" does not say \"%s\"", e.text, with);
}

static void pcap_of_each_kind(void **state)
{
    static const uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d};
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct capture_packet last = {0};
        struct error e;
        bool cut;
        start(kind & 1);
        bytes_pcap(&bytes, magics[kind >> 1], 1);
        bytes_record(&bytes, 5, 17, "abc", 3, 3);
        bytes_record(&bytes, 1700000000, 999999, "abcdef", 6, 1500);
        assert_int_equal(read_all(&last, &cut, &e), 2);
        assert_false(cut);
        assert_int_equal(last.time_ns, 1700000000000000000 + (kind >> 1 ? 999999 : 999999000));
        assert_int_equal(last.captured, 6);
        assert_int_equal(last.original, 1500);
        assert_true(last.timed);
        bytes_record(&bytes, 1700000000, kind >> 1 ? 1000000000 : 1000000, "abcdef", 6, 6);
        assert_int_equal(read_all(&last, &cut, &e), 3);
        assert_true(!last.timed && last.beyond && last.time_ns == 0); /* no fraction of a second */
    }
}

/* Packets of links that are not Ethernet are counted and numbered, unless there are no others. */
static void other_links(void **state)
{
    static const uint32_t order[] = {1, 0, 1, 1, 0};
    struct capture_packet p;
    struct error e;
    (void)state;
    start(false);
    bytes_section(&bytes);
    bytes_interface(&bytes, "eth0", 9, 0);
    size_t begin = bytes_block(&bytes, 1);
    bytes_16(&bytes, 113);
    bytes_16(&bytes, 0);
    bytes_32(&bytes, 0);
    bytes_end_block(&bytes, begin);
    size_t without = bytes.length;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        bytes_packet(&bytes, order[i], 0, "abcd", 4, 4, 0);
    struct capture_reader *c = capture_read_new(capture_bytes_read, &bytes, "it", &e);
    assert_int_equal(capture_read_next(c, &p, &e), 1);
    assert_int_equal(p.number, 2);
    assert_int_equal(capture_read_next(c, &p, &e), 1);
    assert_int_equal(p.number, 5);
    assert_int_equal(capture_read_next(c, &p, &e), 0);
    assert_int_equal(capture_read_interface(c, 0)->left_out, 0);
    assert_int_equal(capture_read_interface(c, 1)->left_out, 3);
    capture_read_free(c);
    bytes.length = without;
    bytes_packet(&bytes, 1, 0, "abcd", 4, 4, 0);
    refused("interface 1 has link type 113 (Linux \"any\"); only Ethernet");
}

/* What the interface and the operating system dropped, until the last statistics. */
static void statistics_of_drops(void **state)
{
    static const struct {
        uint64_t interface, system, dropped;
    } rows[] = {{3, 0, 3}, {0, 99, 99}, {3, 99, 102}, {1, 2, 102}, {UINT64_MAX, 5, UINT64_MAX}};
    struct capture_packet p;
    struct error e;
    (void)state;
    start(false);
    bytes_section(&bytes);
    bytes_interface(&bytes, "a", 9, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t begin = bytes_block(&bytes, 5);
        bytes_32(&bytes, 0);
        bytes_64(&bytes, 0);
        bytes_option(&bytes, 5, &rows[i].interface, 8);
        bytes_option(&bytes, 7, &rows[i].system, 8);
        bytes_end_block(&bytes, begin);
        bytes_packet(&bytes, 0, 0, "abcd", 4, 4, 0);
    }
    size_t begin = bytes_block(&bytes, 5);
    bytes_32(&bytes, 3); /* no interface of this section */
    bytes_64(&bytes, 0);
    bytes_end_block(&bytes, begin);
    struct capture_reader *c = capture_read_new(capture_bytes_read, &bytes, "it", &e);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(capture_read_next(c, &p, &e), 1);
        assert_true(capture_read_interface(c, 0)->dropped == rows[i].dropped);
    }
    assert_int_equal(capture_read_next(c, &p, &e), 0);
    capture_read_free(c);
}

static void pcapng_of_both_orders(void **state)
{
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        struct capture_packet p;
        struct error e;
        uint8_t address[6] = {2, 0, 0, 0, 0, 9};
        start(swapped);
        bytes_section(&bytes);
        bytes_interface(&bytes, "a", 9, 100000000000);
        bytes_interface(&bytes, "switch:1", 0x80 | 20, 0);
        bytes_packet(&bytes, 1, UINT64_C(7) << 20 | 1 << 19, "abcde", 5, 100, 2);
        bytes_end_block(&bytes, bytes_block(&bytes, 0x1234)); /* not known */
        bytes_packet(&bytes, 0, 123456789012, "abcd", 4, 4, 1);
        bytes_section(&bytes); /* another, with interfaces of its own */
        size_t begin = bytes_block(&bytes, 1);
        bytes_16(&bytes, 1);
        bytes_16(&bytes, 0);
        bytes_32(&bytes, 3);
        bytes_option(&bytes, 6, address, 6);
        bytes_end_block(&bytes, begin);
        begin = bytes_block(&bytes, 3); /* simple */
        bytes_32(&bytes, 1000);
        bytes_add(&bytes, "xyz", 3);
        bytes_pad(&bytes);
        bytes_end_block(&bytes, begin);
        bytes_packet(&bytes, 0, 5, "abcd", 4, 4, 0); /* microseconds, unless stated */

        struct capture_reader *c = capture_read_new(capture_bytes_read, &bytes, "it", &e);
        assert_non_null(c);
        assert_int_equal(capture_read_next(c, &p, &e), 1);
        assert_int_equal(p.time_ns, 7500000000);
        assert_int_equal(p.direction, CAPTURE_OUTBOUND);
        assert_int_equal(p.original, 100);
        assert_memory_equal(p.bytes, "abcde", 5);
        assert_string_equal(capture_read_interface(c, p.interface)->name, "switch:1");
        assert_int_equal(capture_read_next(c, &p, &e), 1);
        assert_int_equal(p.time_ns, 123456789012);
        assert_int_equal(p.direction, CAPTURE_INBOUND);
        assert_int_equal(capture_read_interface(c, p.interface)->rate_bps, 100000000000);
        assert_false(capture_read_interface(c, p.interface)->addressed);
        assert_int_equal(capture_read_next(c, &p, &e), 1);
        assert_false(p.timed);
        assert_int_equal(p.captured, 3); /* the snap length */
        assert_int_equal(p.interface, 2);
        assert_true(capture_read_interface(c, 2)->addressed);
        assert_memory_equal(capture_read_interface(c, 2)->address, address, 6);
        assert_int_equal(capture_read_next(c, &p, &e), 1);
        assert_int_equal(p.time_ns, 5000);
        assert_int_equal(p.number, 4);
        assert_int_equal(capture_read_next(c, &p, &e), 0);
        assert_null(capture_read_cut(c));
        capture_read_free(c);
    }
}

/* What is before the cut is read, and the cut is said; a cut between packets cannot be seen. */
static void cut_at_every_byte(void **state)
{
    (void)state;
    for (int pcapng = 0; pcapng < 2; pcapng++) {
        size_t ends[4] = {0};
        start(false);
        if (pcapng) {
            bytes_section(&bytes);
            bytes_interface(&bytes, "a", 9, 0);
        } else {
            bytes_pcap(&bytes, 0xa1b2c3d4, 1);
        }
        ends[0] = bytes.length;
        for (int i = 1; i < 4; i++) {
            if (pcapng)
                bytes_packet(&bytes, 0, (uint64_t)i, "abcdefg", 7, 9, 1);
            else
                bytes_record(&bytes, 0, (uint32_t)i, "abcdefg", 7, 9);
            ends[i] = bytes.length;
        }
        size_t section = pcapng ? 28 : 24; /* a file that ends behind it has no packets */
        for (size_t length = 0; length <= ends[3]; length++) {
            struct capture_packet last = {0};
            struct error e = {""};
            bool cut = false;
            bytes.length = length;
            int count = read_all(&last, &cut, &e), whole = 0;
            while (whole < 3 && ends[whole + 1] <= length)
                whole++;
            if (count < 0) {
                assert_true(length < section);
                assert_true(strlen(e.text) > 0);
                continue;
            }
            assert_int_equal(count, whole);
            bool between = length == section;
            for (int i = 0; i < 4; i++)
                between = between || length == ends[i];
            assert_int_equal(cut, !between);
        }
    }
}

static void a_block(uint32_t type, uint32_t length, uint32_t at_end)
{
    start(false);
    bytes_section(&bytes);
    bytes_interface(&bytes, "a", 6, 0);
    bytes_32(&bytes, type);
    bytes_32(&bytes, length);
    while (bytes.length < 2000)
        bytes.data[bytes.length++] = 0;
    if (at_end)
        memcpy(bytes.data + 28 + 52 + length - 4, &at_end, 4);
}

static void malformed(void **state)
{
    start(false);
    bytes_pcap(&bytes, 0xa1b2c3d4, 1);
    bytes_record(&bytes, 5, 17, "abc", 3, 3);
    bytes_pcap(&bytes, 0xa1b2c3d4, 1);
    bytes_record(&bytes, 1700000000, 17, "abc", 3, 3);
    refused("another pcap begins at byte 43; mergecap -a");
    uint32_t value;
    (void)state;
    start(false);
    refused("it is empty");
    bytes_add(&bytes, "\x89PNG\r\n\x1a\n", 8);
    refused("neither pcap nor pcapng: it begins with 89 50");
    start(false);
    bytes_add(&bytes, "\x1f\x8b\x08\x00", 4);
    refused("gunzip");
    start(false);
    bytes_pcap(&bytes, 0xa1b2c3d4, 113);
    refused("link type 113 (Linux");
    start(false);
    bytes_pcap(&bytes, 0xa1b2c3d4, 1);
    bytes_record(&bytes, 1, 0, "", 0, 0);
    bytes_32(&bytes, 0);
    bytes_32(&bytes, 0);
    bytes_32(&bytes, 0xffffffff);
    bytes_32(&bytes, 0xffffffff);
    refused("byte 40: packet 2 has 4294967295 bytes");
    a_block(6, 0, 0);
    refused("at byte 80 says it has 0 bytes");
    a_block(6, 34, 0);
    refused("multiple of 4");
    a_block(6, 0xfffffffc, 0);
    refused("at byte 80 says it has 4294967292 bytes, expected at most");
    a_block(6, 400, 404);
    refused("its length at its end");
    a_block(6, 28, 28);
    refused("needs 32 bytes");
    a_block(6, 400, 400);
    value = 400;
    memcpy(bytes.data + 80 + 8 + 12, &value, 4); /* captured */
    refused("longer than its block");
    value = 0xffffffff;
    memcpy(bytes.data + 80 + 8 + 12, &value, 4);
    refused("more than 262144");
    a_block(6, 400, 400);
    value = 1;
    memcpy(bytes.data + 80 + 8, &value, 4);
    refused("an interface that the section does not have");
    a_block(6, 400, 400);
    value = 0x01900002; /* an option of 400 bytes */
    memcpy(bytes.data + 80 + 28, &value, 4);
    refused("an option is longer");
    a_block(0x0a0d0d0a, 28, 28);
    refused("is not a byte order");
}

/* A block that is not known may be as long as it likes; if the file ends within it, that is said. */
static void long_unknown_block(void **state)
{
    struct capture_packet last = {0};
    struct error e;
    bool cut;
    (void)state;
    a_block(0x77, 0xfffffffc, 0);
    assert_int_equal(read_all(&last, &cut, &e), 0);
    assert_true(cut);
}

static void times_stay_in_range(void **state)
{
    (void)state;
    for (unsigned int resolution = 0; resolution < 256; resolution++) {
        struct capture_packet last = {0};
        struct error e;
        bool cut;
        start(false);
        bytes_section(&bytes);
        bytes_interface(&bytes, "a", (uint8_t)resolution, 0);
        bytes_packet(&bytes, 0, UINT64_MAX, "abcd", 4, 4, 0);
        assert_int_equal(read_all(&last, &cut, &e), 1);
        assert_in_range(last.time_ns, 0, CAPTURE_MOST_TIME_NS);
        assert_true(last.timed != last.beyond);
        assert_true(last.timed || last.time_ns == 0);
    }
    const struct {
        uint8_t resolution;
        uint64_t units;
        int64_t offset_s, time_ns; /* -1: beyond what is a time */
    } rows[] = {{6, UINT64_C(4102444800500000), 0, INT64_C(4102444800500000000)}, /* 2100 */
                {9, UINT64_C(4102444800500000000), 0, INT64_C(4102444800500000000)},
                {0x80 | 20, UINT64_C(4102444800) << 20, 0, INT64_C(4102444800000000000)},
                {6, UINT64_C(4702444800500000), 0, -1},
                {6, UINT64_C(4702444800500000), -1000000000, -1},
                {6, 5000000, -5, 0},
                {6, 4999999, -5, -1},
                {6, 0, INT64_MIN, -1},
                {0, 7, 3, INT64_C(10000000000)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct capture_packet last = {0};
        struct error e;
        bool cut;
        start(false);
        bytes_section(&bytes);
        size_t begin = bytes_block(&bytes, 1);
        bytes_16(&bytes, 1);
        bytes_16(&bytes, 0);
        bytes_32(&bytes, 0);
        bytes_option(&bytes, 9, &rows[i].resolution, 1);
        bytes_option(&bytes, 14, &rows[i].offset_s, 8);
        bytes_end_block(&bytes, begin);
        bytes_packet(&bytes, 0, rows[i].units, "abcd", 4, 4, 0);
        assert_int_equal(read_all(&last, &cut, &e), 1);
        assert_true(last.beyond == (rows[i].time_ns < 0));
        assert_int_equal(last.time_ns, rows[i].time_ns < 0 ? 0 : rows[i].time_ns);
    }
}

static void many_interfaces(void **state)
{
    struct capture_packet last = {0};
    struct error e = {""};
    bool cut;
    (void)state;
    start(false);
    bytes_section(&bytes);
    for (int i = 0; i < 1000; i++) {
        size_t begin = bytes_block(&bytes, 1);
        bytes_16(&bytes, 1);
        bytes_16(&bytes, 0);
        bytes_32(&bytes, 0);
        bytes_end_block(&bytes, begin);
    }
    bytes_packet(&bytes, 999, 0, "abcd", 4, 4, 0);
    assert_int_equal(read_all(&last, &cut, &e), 1);
    assert_int_equal(last.interface, 999);
}

/* Packets have the numbers that Wireshark shows, which counts some blocks that are no packets. */
static void numbered_blocks(void **state)
{
    static const struct {
        uint32_t type;
        bool numbered;
    } blocks[] = {{9, true},       {0xbad, true}, {0x40000bad, true}, {0x204, true},
                  {0x1234, false}, {4, false},    {10, false},        {0x80000001, false}};
    struct capture_packet last;
    struct error e;
    (void)state;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        bytes.length = bytes.at = 0;
        bytes_section(&bytes);
        bytes_interface(&bytes, "a", 9, 0);
        bytes_packet(&bytes, 0, 0, "abcd", 4, 4, 0);
        size_t begin = bytes_block(&bytes, blocks[i].type);
        bytes_32(&bytes, 32473);
        bytes_end_block(&bytes, begin);
        bytes_packet(&bytes, 0, 0, "abcd", 4, 4, 0);
        struct capture_reader *c = capture_read_new(capture_bytes_read, &bytes, "it", &e);
        assert_int_equal(capture_read_next(c, &last, &e), 1);
        assert_int_equal(capture_read_next(c, &last, &e), 1);
        assert_int_equal(last.number, blocks[i].numbered ? 3 : 2);
        capture_read_free(c);
    }
}

/* A rate that no link has would make times of frames that no 64 bits hold. */
static void rates_of_no_link(void **state)
{
    static const uint64_t rates[] = {1, 999999, UINT64_C(1) << 51, UINT64_MAX, 1000000};
    struct capture_packet last;
    struct error e;
    (void)state;
    bytes.length = bytes.at = 0;
    bytes_section(&bytes);
    for (size_t i = 0; i < 5; i++)
        bytes_interface(&bytes, "a", 9, rates[i]);
    bytes_packet(&bytes, 0, 0, "abcd", 4, UINT32_MAX, 0);
    struct capture_reader *c = capture_read_new(capture_bytes_read, &bytes, "it", &e);
    assert_non_null(c);
    assert_int_equal(capture_read_next(c, &last, &e), 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(capture_read_interface(c, i)->rate_bps, 0);
    assert_int_equal(capture_read_interface(c, 4)->rate_bps, 1000000);
    capture_read_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcap_of_each_kind),  cmocka_unit_test(pcapng_of_both_orders),
        cmocka_unit_test(cut_at_every_byte),  cmocka_unit_test(malformed),
        cmocka_unit_test(long_unknown_block), cmocka_unit_test(times_stay_in_range),
        cmocka_unit_test(many_interfaces),    cmocka_unit_test(rates_of_no_link),
        cmocka_unit_test(numbered_blocks),    cmocka_unit_test(statistics_of_drops),
        cmocka_unit_test(other_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
