/* Files of the PCAP Next Generation format, block by block, by the offsets of the draft. */
#include "tests/unit/unit.h"

#include "lib/files.h"
#include "lib/packets/capture_read.h"
#include "lib/packets/pcapng_write.h"
#include "tests/unit/group_folder.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

static uint32_t word(const char *data, size_t at)
{
    const uint8_t *b = (const uint8_t *)data + at;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static char *contents(size_t *length)
{
    struct error e;
    char *path = files_join(folder, "capture.pcapng");
    char *data = files_read(path, (size_t)1 << 24, length, &e);
    assert_non_null(data);
    free(path);
    return data;
}

/* How many blocks of a type; fails if one is not whole. */
static unsigned blocks(const char *data, size_t length, uint32_t type)
{
    unsigned count = 0;
    for (size_t at = 0; at < length; at += word(data, at + 4)) {
        assert_in_range(word(data, at + 4), 12, length - at);
        assert_int_equal(word(data, at + 4) % 4, 0);
        assert_int_equal(word(data, at + word(data, at + 4) - 4), word(data, at + 4));
        count += word(data, at) == type;
    }
    return count;
}

static const uint8_t address[6] = {2, 0, 0, 0, 0, 9};

static void begin(struct pcapng_writer *w, int64_t limit_bytes)
{
    struct error e;
    assert_int_equal(pcapng_open(w, folder, "capture.pcapng", "test 1", "simulated", limit_bytes, &e), 0);
    assert_int_equal(pcapng_interface(w, "h0", address, 400000000000, 128, &e), 0);
}

static bool add(struct pcapng_writer *w, uint32_t captured_bytes)
{
    struct pcapng_packet p = {0, 0x123456789a, PCAPNG_SENT, 5000, captured_bytes};
    uint8_t *at = pcapng_packet(w, &p);
    if (at)
        memset(at, 0x5a, captured_bytes);
    return at;
}

static void every_field_has_its_place(void **state)
{
    struct pcapng_writer w;
    struct error e;
    size_t length;
    (void)state;
    begin(&w, 1 << 20);
    assert_true(add(&w, 61));
    int64_t bytes = w.bytes;
    assert_int_equal(pcapng_close(&w, &e), 0);
    char *data = contents(&length);
    assert_int_equal(length, bytes);
    assert_int_equal(word(data, 0), 0x0a0d0d0a);
    assert_int_equal(word(data, 8), 0x1a2b3c4d);
    assert_int_equal(word(data, 12), 1); /* 1.0 */
    assert_int_equal(word(data, 24), 9u << 16 | 1);
    assert_memory_equal(data + 28, "simulated\0\0\0", 12);
    assert_int_equal(word(data, 40), 6u << 16 | 4);
    assert_memory_equal(data + 44, "test 1\0\0", 8);
    size_t at = word(data, 4);
    assert_int_equal(word(data, at), 1);
    assert_int_equal(word(data, at + 8), 1);    /* Ethernet */
    assert_int_equal(word(data, at + 12), 128); /* snap length */
    assert_int_equal(word(data, at + 16), 2u << 16 | 2);
    assert_memory_equal(data + at + 20, "h0\0", 4);
    assert_int_equal(word(data, at + 24), 8u << 16 | 8);
    assert_int_equal(word(data, at + 28) | (int64_t)word(data, at + 32) << 32, 400000000000);
    assert_int_equal(word(data, at + 36), 1u << 16 | 9);
    assert_int_equal(data[at + 40], 9);
    assert_int_equal(word(data, at + 44), 6u << 16 | 6);
    assert_memory_equal(data + at + 48, address, sizeof address);
    at += word(data, at + 4);
    assert_int_equal(word(data, at), 6);
    assert_int_equal(word(data, at + 8), 0);
    assert_int_equal(word(data, at + 12), 0x12);
    assert_int_equal(word(data, at + 16), 0x3456789a);
    assert_int_equal(word(data, at + 20), 61);
    assert_int_equal(word(data, at + 24), 5000);
    assert_int_equal(word(data, at + 28 + 60), 0x5a); /* and three bytes of pad */
    assert_int_equal(word(data, at + 28 + 64), 4u << 16 | 2);
    assert_int_equal(word(data, at + 28 + 68), 2); /* outbound */
    assert_int_equal(word(data, at + 28 + 72), 0);
    assert_int_equal(blocks(data, length, 6), 1);
    free(data);
}

/* By the project's own reader. */
static void a_rate_may_be_unknown_and_losses_are_told(void **state)
{
    struct pcapng_writer w;
    struct capture_packet packet;
    struct error e;
    (void)state;
    assert_int_equal(pcapng_open(&w, folder, "capture.pcapng", "test 1", "", 1 << 20, &e), 0);
    assert_int_equal(pcapng_interface(&w, "a:0", address, 0, 128, &e), 0);
    assert_int_equal(pcapng_interface(&w, "b:0", address, 5000000, 128, &e), 0);
    assert_true(add(&w, 61));
    pcapng_drops(&w, 0, 0x123456789b, 0x100000007);
    assert_int_equal(pcapng_close(&w, &e), 0);
    char *path = files_join(folder, "capture.pcapng");
    int fd = open(path, O_RDONLY);
    struct capture_reader *c = capture_read_of(fd, path, &e);
    assert_non_null(c);
    assert_int_equal(capture_read_next(c, &packet, &e), 1);
    assert_int_equal(capture_read_next(c, &packet, &e), 0);
    assert_null(capture_read_cut(c));
    assert_int_equal(capture_read_interface(c, 0)->rate_bps, 0);
    assert_string_equal(capture_read_interface(c, 0)->name, "a:0");
    assert_int_equal(capture_read_interface(c, 0)->dropped, 0x100000007);
    assert_int_equal(capture_read_interface(c, 1)->rate_bps, 5000000);
    assert_int_equal(capture_read_interface(c, 1)->dropped, 0);
    capture_read_free(c);
    close(fd);
    free(path);
}

static void the_limit_is_never_exceeded(void **state)
{
    (void)state;
    for (int64_t limit = 200; limit < 800; limit += 7) {
        struct pcapng_writer w;
        size_t length;
        unsigned taken = 0;
        begin(&w, limit);
        while (add(&w, 64))
            taken++;
        assert_true(w.full);
        assert_false(add(&w, 0)); /* one that is shorter neither: there would be a gap */
        assert_int_equal(pcapng_close(&w, NULL), 0);
        char *data = contents(&length);
        assert_in_range(length, limit - 107, limit); /* a block has 108 bytes */
        assert_int_equal(blocks(data, length, 6), taken);
        free(data);
    }
}

static void a_limit_without_room_for_the_ports(void **state)
{
    struct pcapng_writer w;
    struct error e;
    (void)state;
    assert_int_equal(pcapng_open(&w, folder, "capture.pcapng", "test 1", "simulated", 59, &e), -1);
    assert_non_null(strstr(e.text, "59 bytes"));
    assert_int_equal(pcapng_open(&w, folder, "capture.pcapng", "test 1", "simulated", 100, &e), 0);
    assert_int_equal(pcapng_interface(&w, "h0", address, 1, 128, &e), -1);
    assert_int_equal(pcapng_close(&w, &e), 0);
}

/* Larger than the buffer, so that it is written in the midst. */
static void a_write_that_fails_leaves_whole_blocks(void **state)
{
    const struct rlimit most = {1000001, RLIM_INFINITY};
    struct rlimit before;
    struct pcapng_writer w;
    struct error e;
    size_t length;
    (void)state;
    begin(&w, INT64_C(1) << 40);
    getrlimit(RLIMIT_FSIZE, &before);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &most);
    for (int i = 0; i < 100000 && add(&w, 1000); i++)
        ;
    int rc = pcapng_check(&w, &e);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(rc, -1);
    assert_false(w.full);
    assert_non_null(strstr(e.text, "capture.pcapng: File too large"));
    assert_int_equal(pcapng_close(&w, &e), -1);
    char *data = contents(&length);
    assert_in_range(length, 1000001 - 1044, 1000001);
    assert_in_range(blocks(data, length, 6), 900, 1000);
    free(data);
}

static void a_full_disk_is_an_error(void **state)
{
    struct pcapng_writer w;
    struct error e;
    (void)state;
    assert_int_equal(pcapng_open(&w, "/dev", "full", "test 1", "simulated", 1 << 20, &e), 0);
    assert_int_equal(pcapng_close(&w, &e), -1);
    assert_string_equal(e.text, "writing /dev/full: No space left on device");
    assert_int_equal(pcapng_open(&w, "/nowhere", "capture", "test 1", "simulated", 1 << 20, &e), -1);
    assert_string_equal(e.text, "creating /nowhere/capture: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_has_its_place),
        cmocka_unit_test(a_rate_may_be_unknown_and_losses_are_told),
        cmocka_unit_test(the_limit_is_never_exceeded),
        cmocka_unit_test(a_limit_without_room_for_the_ports),
        cmocka_unit_test(a_write_that_fails_leaves_whole_blocks),
        cmocka_unit_test(a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
