/* What hosts captured becomes one file on the run's clock: order, phases, limits, and pcaps that are not what
 * they should be. */
#include "tests/unit/unit.h"

#include "harness/labs/hosts/capture/pcaps.h"
#include "lib/files.h"
#include "lib/packets/capture.h"
#include "lib/packets/capture_read.h"
#include "tests/unit/group_folder.h"
#include <fcntl.h>
#include <unistd.h>

static const uint8_t macs[2][6] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};

#define HEADER_BYTES 38 /* before each frame of the second port */
#define FRAME_BYTES  60

static void add32(struct text *t, uint32_t value)
{
    text_add_bytes(t, (const char *)&value, sizeof value);
}

/* A pcap of nanoseconds, draft-ietf-opsawg-pcap. */
static void begin_pcap(struct text *t)
{
    add32(t, 0xa1b23c4d);
    add32(t, 4u << 16 | 2);
    add32(t, 0);
    add32(t, 0);
    add32(t, 128);
    add32(t, 1);
}

/* A frame from one address to the other, behind `before` bytes; its 15th byte is `mark`. */
static void add_frame(struct text *t, int64_t time_ns, unsigned from, uint32_t before, uint8_t mark)
{
    uint8_t bytes[HEADER_BYTES + FRAME_BYTES] = {0};
    memcpy(bytes + before, macs[!from], 6);
    memcpy(bytes + before + 6, macs[from], 6);
    bytes[before + 14] = mark;
    add32(t, (uint32_t)(time_ns / 1000000000));
    add32(t, (uint32_t)(time_ns % 1000000000));
    add32(t, before + FRAME_BYTES);
    add32(t, before + 4000);
    text_add_bytes(t, (const char *)bytes, before + FRAME_BYTES);
}

static void spool_of(struct spool *s, struct text *t, int64_t limit_bytes)
{
    struct error e;
    assert_int_equal(spool_open(s, folder, limit_bytes, &e), 0);
    assert_int_equal(spool_write(s, t->data, t->length, &e), 0);
    text_free(t);
}

static struct merge_port port_of(const struct spool *s, unsigned i, int64_t offset_ns)
{
    struct merge_port port = {.name = i ? "b:0" : "a:0",
                              .fd = s->fd,
                              .full = s->full,
                              .before = i ? HEADER_BYTES : 0,
                              .offset_ns = offset_ns};
    memcpy(port.address, macs[i], 6);
    return port;
}

static void merge(struct merge *m, struct merge_port *ports, size_t count)
{
    struct error e;
    m->ports = ports;
    m->count = count;
    m->folder = folder;
    m->comment = "";
    m->until_ns = m->until_ns ? m->until_ns : INT64_MAX;
    m->snap_bytes = m->snap_bytes ? m->snap_bytes : 128;
    m->limit_bytes = m->limit_bytes ? m->limit_bytes : 1 << 20;
    if (merge_write(m, &e) != 0)
        fail_msg("%s", e.text);
}

/* "a:0 < 1@1000 60/4000": interface, received, mark, time, bytes. */
static void expect_file(const char *expected)
{
    struct error e;
    struct text seen = {0};
    struct capture_packet p;
    char *path = files_join(folder, CAPTURE_FILE);
    int fd = open(path, O_RDONLY);
    struct capture_reader *c = capture_read_of(fd, path, &e);
    assert_non_null(c);
    while (capture_read_next(c, &p, &e) > 0)
        text_add(&seen, "%s %c %d@%lld %u/%u\n", capture_read_interface(c, p.interface)->name,
                 p.direction == CAPTURE_OUTBOUND ? '>' : '<', p.bytes[14], (long long)p.time_ns, p.captured,
                 p.original);
    assert_null(capture_read_cut(c));
    assert_string_equal(text_string(&seen), expected);
    text_free(&seen);
    capture_read_free(c);
    close(fd);
    free(path);
}

/* The clock of b is 500 ns ahead: its frames come between those of a. */
static void frames_are_in_the_order_of_the_runs_clock(void **state)
{
    struct text a = {0}, b = {0};
    struct spool spools[2];
    (void)state;
    begin_pcap(&a);
    begin_pcap(&b);
    add_frame(&a, 1000, 0, 0, 1);
    add_frame(&b, 1600, 0, HEADER_BYTES, 1);
    add_frame(&b, 1700, 1, HEADER_BYTES, 2);
    add_frame(&a, 1300, 1, 0, 2);
    spool_of(&spools[0], &a, 4096);
    spool_of(&spools[1], &b, 4096);
    struct merge_port ports[2] = {port_of(&spools[0], 0, 0), port_of(&spools[1], 1, 500)};
    struct merge m = {0};
    merge(&m, ports, 2);
    expect_file("a:0 > 1@1000 60/4000\n"
                "b:0 < 1@1100 60/4000\n"
                "b:0 > 2@1200 60/4000\n"
                "a:0 < 2@1300 60/4000\n");
    assert_int_equal(m.left_out_ns, -1);
    assert_int_equal(ports[1].frames, 2);
    assert_int_equal(ports[1].lacks.length, 0);
    m = (struct merge){.from_ns = 1100, .until_ns = 1300, .snap_bytes = 20};
    merge(&m, ports, 2);
    expect_file("b:0 < 1@1100 20/4000\nb:0 > 2@1200 20/4000\n");
    spool_close(&spools[0]);
    spool_close(&spools[1]);
}

/* Of the file, and of what a host sends: from the first frame that is missing on there is none. */
static void limits_leave_out_the_rest(void **state)
{
    (void)state;
    for (int64_t limit = 250; limit < 1400; limit += 13) {
        struct text a = {0}, b = {0};
        struct spool spools[2];
        size_t length;
        begin_pcap(&a);
        begin_pcap(&b);
        for (int i = 0; i < 8; i++) {
            add_frame(&a, 1000 * i, 0, 0, 1);
            add_frame(&b, 1000 * i + 10, 0, HEADER_BYTES, 1);
        }
        spool_of(&spools[0], &a, 4096);
        spool_of(&spools[1], &b, limit);
        struct merge_port ports[2] = {port_of(&spools[0], 0, 0), port_of(&spools[1], 1, 0)};
        struct merge m = {.limit_bytes = limit};
        merge(&m, ports, 2);
        char *path = files_join(folder, CAPTURE_FILE),
             *data = files_read(path, 1 << 20, &length, &(struct error){0});
        assert_in_range(length, 1, limit);
        assert_int_equal(length, m.bytes);
        assert_true(m.frames < 16 && m.left_out_ns >= 0);
        assert_true(ports[0].frames - ports[1].frames == 0 || ports[0].frames - ports[1].frames == 1);
        free(data);
        free(path);
        spool_close(&spools[0]);
        spool_close(&spools[1]);
    }
}

static void a_spool_never_exceeds_its_limit(void **state)
{
    struct spool s;
    struct error e;
    (void)state;
    assert_int_equal(spool_open(&s, folder, 10, &e), 0);
    assert_int_equal(spool_write(&s, "123456", 6, &e), 0);
    assert_false(s.full);
    assert_int_equal(spool_write(&s, "789012", 6, &e), 0);
    assert_true(s.full);
    assert_int_equal(spool_write(&s, "3", 1, &e), 0);
    assert_int_equal(lseek(s.fd, 0, SEEK_END), 10);
    spool_close(&s);
    int fd = s.fd = open("/dev/full", O_WRONLY);
    s.full = false;
    s.limit_bytes = 100;
    assert_int_equal(spool_write(&s, "789012", 6, &e), -1);
    assert_non_null(strstr(e.text, "No space left"));
    close(fd);
}

static void a_capturer_tells_what_it_lost(void **state)
{
    struct spool s;
    struct error e;
    (void)state;
    assert_int_equal(spool_open(&s, folder, 10, &e), 0);
    spool_read_message(&s,
                       "tcpdump: listening on data0, link-type EN10MB (Ethernet), snapshot length 118 bytes");
    assert_true(s.listening);
    spool_read_message(&s, "12 packets captured");
    assert_int_equal(s.drops, -1);
    spool_read_message(&s, "-3 packets dropped by kernel");
    assert_int_equal(s.drops, -1);
    spool_read_message(&s, "3 packets dropped by kernel");
    spool_read_message(&s, "4 packets dropped by interface");
    assert_int_equal(s.drops, 7);
    spool_read_message(&s, "1 packet dropped by kernel");
    assert_int_equal(s.drops, 8);
    for (int i = 0; i < 6; i++)
        spool_read_message(&s, "2305843009213693951 packets dropped by kernel");
    assert_true(s.drops == INT64_MAX);
    spool_close(&s);
}

/* Nothing, no pcap, one whose last frame is not whole, lengths that cannot be. */
static void what_is_no_pcap_ends_its_port_alone(void **state)
{
    static const char *const lacks[] = {"nothing came from its capturer", "", "is cut short", ""};
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct text a = {0}, b = {0};
        struct spool spools[2];
        begin_pcap(&a);
        add_frame(&a, 1000, 0, 0, 1);
        if (kind == 1)
            text_add(&b, "this is no pcap, but it is as long as the header of one");
        if (kind >= 2)
            begin_pcap(&b);
        if (kind >= 2)
            add_frame(&b, 900, 0, HEADER_BYTES, 2);
        if (kind == 2)
            add_frame(&b, 950, 0, HEADER_BYTES, 3), b.length -= 5;
        for (int i = 0; kind == 3 && i < 4; i++)
            add32(&b, UINT32_MAX);
        spool_of(&spools[0], &a, 4096);
        spool_of(&spools[1], &b, 4096);
        struct merge_port ports[2] = {port_of(&spools[0], 0, 0), port_of(&spools[1], 1, 0)};
        struct merge m = {0};
        merge(&m, ports, 2);
        expect_file(kind < 2 ? "a:0 > 1@1000 60/4000\n" : "b:0 < 2@900 60/4000\na:0 > 1@1000 60/4000\n");
        assert_true(ports[1].lacks.length > 0);
        assert_non_null(strstr(text_string(&ports[1].lacks), lacks[kind]));
        assert_int_equal(ports[0].lacks.length, 0);
        text_free(&ports[1].lacks);
        spool_close(&spools[0]);
        spool_close(&spools[1]);
    }
}

/* Shorter than what encloses a frame: it is left out. */
static void a_frame_without_a_frame_within_is_left_out(void **state)
{
    struct text b = {0};
    struct spool s;
    (void)state;
    begin_pcap(&b);
    add32(&b, 1);
    add32(&b, 0);
    add32(&b, HEADER_BYTES);
    add32(&b, HEADER_BYTES);
    text_add_bytes(&b, (const char[HEADER_BYTES]){0}, HEADER_BYTES);
    add_frame(&b, 1000000005, 1, HEADER_BYTES, 1);
    spool_of(&s, &b, 4096);
    struct merge_port port = port_of(&s, 1, 0);
    struct merge m = {0};
    merge(&m, &port, 1);
    expect_file("b:0 > 1@1000000005 60/4000\n");
    spool_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_in_the_order_of_the_runs_clock),
        cmocka_unit_test(limits_leave_out_the_rest),
        cmocka_unit_test(a_spool_never_exceeds_its_limit),
        cmocka_unit_test(a_capturer_tells_what_it_lost),
        cmocka_unit_test(what_is_no_pcap_ends_its_port_alone),
        cmocka_unit_test(a_frame_without_a_frame_within_is_left_out),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
