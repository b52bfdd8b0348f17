/* The messages of a trace, byte by byte, and what a trace leaves out. */
#include "tests/unit/unit.h"

#include "reports/results/lines.h"
#include "reports/trace/writer.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void expect_bytes(const struct protobuf *p, const char *bytes, size_t length)
{
    assert_false(p->full);
    assert_int_equal(p->length, length);
    assert_memory_equal(p->bytes, bytes, length);
}

/* The examples of protobuf.dev/programming-guides/encoding: 150 is 96 01, "testing" 07 74 65 ..., a message
 * of them 1a 03 08 96 01. */
static void fields_are_encoded_as_published(void **state)
{
    (void)state;
    unsigned char room[64];
    struct protobuf p = {.bytes = room, .room = sizeof room};
    protobuf_varint(&p, 1, 150);
    expect_bytes(&p, "\x08\x96\x01", 3);
    p.length = 0;
    protobuf_text(&p, 2, "testing");
    expect_bytes(&p, "\x12\x07testing", 9);
    p.length = 0;
    size_t begin = protobuf_begin(&p, 3);
    protobuf_varint(&p, 1, 150);
    protobuf_end(&p, begin);
    expect_bytes(&p, "\x1a\x03\x08\x96\x01", 5);
    p.length = 0;
    protobuf_fixed64(&p, 47, UINT64_C(0x0102030405060708));
    expect_bytes(&p, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01", 10);
    p.length = 0;
    protobuf_varint(&p, 1, UINT64_MAX);
    expect_bytes(&p, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
}

static void a_long_message_has_a_longer_length(void **state)
{
    (void)state;
    unsigned char room[512];
    char text[201] = "";
    struct protobuf p = {.bytes = room, .room = sizeof room};
    memset(text, 'x', 200);
    size_t outer = protobuf_begin(&p, 1), inner = protobuf_begin(&p, 2);
    protobuf_text(&p, 3, text);
    protobuf_end(&p, inner);
    protobuf_end(&p, outer);
    assert_int_equal(p.length, 209);
    assert_memory_equal(room, "\x0a\xce\x01\x12\xcb\x01\x1a\xc8\x01x", 10);
}

static void what_does_not_fit_is_not_written(void **state)
{
    (void)state;
    for (size_t size = 0; size < 20; size++) { /* each size: the sanitizer sees a byte too many */
        unsigned char *room = malloc(size + 1);
        struct protobuf p = {.bytes = room, .room = size};
        size_t begin = protobuf_begin(&p, 1);
        protobuf_text(&p, 2, "fifteen letters");
        protobuf_end(&p, begin);
        assert_int_equal(p.full, size < 19);
        free(room);
    }
}

static void slices_of_a_lane_do_not_overlap(void **state)
{
    (void)state;
    struct trace_writer w;
    struct error e;
    int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(trace_writer_open(&w, fd, &e), 0);
    struct trace_lane lane = {.track = trace_track(&w, 0, 0, "lane")};
    struct trace_event event = {.name = trace_name(&w, "a"), .time_ns = 10};
    assert_true(trace_slice(&w, &lane, &event, 20));
    event.time_ns = 19;
    assert_false(trace_slice(&w, &lane, &event, 30));
    event.time_ns = 25;
    assert_false(trace_slice(&w, &lane, &event, 24));
    event.time_ns = 20;
    assert_true(trace_slice(&w, &lane, &event, 20));
    assert_int_equal(w.events, 4);
    event.time_ns = -1;
    assert_true(trace_slice(&w, &lane, &event, 5));
    assert_int_equal(w.events_before_0, 1);
    assert_int_equal(w.events, 4);
    assert_int_equal(trace_writer_close(&w, "trace", &e), 0);
    close(fd);
}

static void tracks_beyond_the_limit_are_counted(void **state)
{
    (void)state;
    struct trace_writer w;
    struct error e;
    int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(trace_writer_open(&w, fd, &e), 0);
    for (size_t i = 0; i < TRACE_TRACKS_MOST; i++)
        assert_int_equal(trace_track(&w, 0, 0, "t"), i + 1);
    assert_true(trace_track(&w, 0, 0, "t") == TRACE_NO_TRACK);
    trace_count(&w, TRACE_NO_TRACK, 5, 1);
    assert_int_equal(w.tracks_left_out, 1);
    assert_int_equal(w.events_left_out, 1);
    assert_int_equal(w.events, 0);
    assert_int_equal(trace_writer_close(&w, "trace", &e), 0);
    close(fd);
}

static void names_have_one_number_each(void **state)
{
    (void)state;
    struct trace_writer w;
    struct error e;
    char name[32];
    int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(trace_writer_open(&w, fd, &e), 0);
    uint64_t a = trace_name(&w, "a"), other = trace_name(&w, "\xff");
    assert_int_equal(trace_name(&w, "a"), a);
    assert_int_equal(trace_name(&w, "\xff"), other);
    assert_int_not_equal(a, other);
    for (int i = 0; i < TRACE_NAMES_MOST; i++) {
        snprintf(name, sizeof name, "name %d", i);
        assert_in_range(trace_name(&w, name), 1, TRACE_NAMES_MOST);
    }
    assert_int_equal(trace_name(&w, "one more"), trace_name(&w, "another"));
    assert_int_equal(trace_writer_close(&w, "trace", &e), 0);
    close(fd);
}

static void a_full_disk_is_a_sentence(void **state)
{
    (void)state;
    struct trace_writer w;
    struct error e;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_int_equal(trace_writer_open(&w, fd, &e), 0);
    assert_int_equal(trace_writer_close(&w, "the file", &e), -1);
    assert_string_equal(e.text, "writing the file: No space left on device");
    close(fd);
}

/* ---- lines of pauses.jsonl */

static bool parses(const char *line, struct pause_line *pause)
{
    char text[200];
    snprintf(text, sizeof text, "%s", line);
    bool good = run_pause_line(text, strlen(text), pause, NULL) == 0;
    pause->where = NULL;
    return good;
}

static void pauses_are_checked(void **state)
{
    (void)state;
    struct pause_line p;
    assert_true(parses("[\"s0:1\",3,100,20]", &p));
    assert_int_equal(p.priority, 3);
    assert_int_equal(p.start_ns, 100);
    assert_int_equal(p.duration_ns, 20);
    assert_false(p.lasts);
    assert_true(parses("[ \"s0:1\" , 7 , -5 , 0 , true ] ", &p));
    assert_true(p.lasts);
    static const char *const damaged[] = {"",
                                          "[]",
                                          "[\"\",3,1,2]",
                                          "[\"a\\\"b\",3,1,2]",
                                          "[\"a\",8,1,2]",
                                          "[\"a\",-1,1,2]",
                                          "[\"a\",3,1]",
                                          "[\"a\",3,1,-2]",
                                          "[\"a\",3,1,2,false]",
                                          "[\"a\",3,1,2,true,1]",
                                          "[\"a\",3,1,2] x",
                                          "[\"a\",3,1.5,2]",
                                          "[\"a\",3,+1,2]",
                                          "[\"a\",3,99999999999999999999,2]",
                                          "[\"a\",3,4611686018427387903,1]",
                                          "[\"a\",3,1,2",
                                          "[\"a"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        if (parses(damaged[i], &p))
            fail_msg("taken: %s", damaged[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fields_are_encoded_as_published),
                                       cmocka_unit_test(a_long_message_has_a_longer_length),
                                       cmocka_unit_test(what_does_not_fit_is_not_written),
                                       cmocka_unit_test(slices_of_a_lane_do_not_overlap),
                                       cmocka_unit_test(tracks_beyond_the_limit_are_counted),
                                       cmocka_unit_test(names_have_one_number_each),
                                       cmocka_unit_test(a_full_disk_is_a_sentence),
                                       cmocka_unit_test(pauses_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
