/* lib/schedule: GOAL's text and its binary form, what is refused, and schedules that are built. */
#include "tests/unit/unit.h"
#include "lib/schedule/schedule.h"

static int read_bytes(const void *bytes, size_t length, struct schedule *s, struct error *e)
{
    char *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    return schedule_read_content(s, "s.goal", copy, length, e);
}

static void says(const struct error *e, const char *words)
{
    if (!strstr(e->text, words))
        fail_msg("no \"%s\" in: %s", words, e->text);
}

static void refused(const char *text, const char *words)
{
    struct schedule s;
    struct error e;
    assert_int_equal(read_bytes(text, strlen(text), &s, &e), -1);
    says(&e, words);
}

#define TWO(zero, one) "num_ranks 2\nrank 0 {\n" zero "}\nrank 1 {\n" one "}\n"

static char *printed(const struct schedule *s)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    schedule_print(s, to);
    fclose(to);
    return text;
}

static void text_is_read_and_written(void **state)
{
    (void)state;
    static const char text[] =
        TWO("a: send 10b to 1 tag 4 cpu 1 nic 2 /* c */\nb: calc 100 cpu 3\nb irequires a\n",
            "r: recv 10b from 0 tag 4 nic 1\nc: calc 5\nc requires r // d\n");
    struct schedule s;
    struct error e;
    double ns = 0;
    assert_int_equal(read_bytes(text, strlen(text), &s, &e), 0);
    assert_int_equal(s.operation_count, 4);
    assert_int_equal(s.match[0], 2);
    assert_int_equal(s.match[2], 0);
    assert_int_equal(s.wait_count[3], 1);
    assert_int_equal(schedule_rank_of(&s, 1), 0);
    assert_int_equal(schedule_rank_of(&s, 2), 1);
    char *again = printed(&s);
    assert_string_equal(again, "num_ranks 2\n\nrank 0 {\nl0: send 10b to 1 tag 4 cpu 1 nic 2\n"
                               "l1: calc 100 cpu 3\nl1 irequires l0\n}\n\nrank 1 {\n"
                               "l0: recv 10b from 0 tag 4 nic 1\nl1: calc 5\nl1 requires l0\n}\n");
    free(again);
    assert_int_equal(schedule_least_ns(&s, 2, 50, &ns, &e), 0);
    assert_int_equal((int)ns, 100); /* of the calc; the message needs 20 + 50, and 5 follow */
    schedule_free(&s);
}

static void schedules_are_checked(void **state)
{
    (void)state;
    refused(TWO("a: send 1b to 1\n", ""),
            "s.goal:3: no recv of rank 1 from rank 0 with tag 0 matches this send");
    refused(TWO("", "recv 1b from 0 tag 7\n"),
            "s.goal:5: no send of rank 0 to rank 1 with tag 7 matches this recv");
    refused(TWO("send 1b to 1\n", "recv 2b from 0\n"), "the recv has 2 bytes, and its send on line 3 has 1");
    refused(TWO("send 1b to 2\n", ""), "the other rank is \"2\"");
    refused(TWO("send 1b to 0\n", ""), "s.goal:3: rank 0 sends to itself");
    refused(TWO("send 1b to 1 nic 256\n", ""), "the NIC is \"256\"");
    refused(TWO("recv 1b from -1\n", ""), "recv from any rank");
    refused(TWO("recv 1b from 1 tag -1\n", ""), "recv from any tag");
    refused(TWO("a: calc 1\na requires b\n", ""), "no operation \"b\" above");
    refused(TWO("a: calc 1\na: calc 2\n", ""), "a second operation \"a\"");
    refused(TWO("calc 86400000000001\n", ""), "the time in ns is");
    refused(TWO("calc 1 tag 3\n", ""), "found \"tag\"");
    refused("num_ranks 2\nrank 0 {\n}\n", "without rank 1");
    refused("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", "a second rank 0");
    refused("num_ranks 2\nrank 0 {\n", "the file ends here");
    refused("rank 0 {\n}\n", "expected \"num_ranks\"");
    refused("num_ranks 4294967296\n", "the number of ranks is");
    refused(TWO("", ""), "its ranks have no operations");
    refused("", "the file ends here");
}

/* Within a rank, and by way of another one: each receives before it sends. */
static void rings_are_found(void **state)
{
    (void)state;
    struct schedule s;
    struct error e;
    refused(TWO("a: calc 1\nb: calc 1\na requires b\nb requires a\n", ""),
            "requires itself, by way of the one on line");
    refused(TWO("r: recv 1b from 1\ns: send 1b to 1\ns requires r\n",
                "r: recv 1b from 0\ns: send 1b to 0\ns requires r\n"),
            "requires itself, by way of the one on line");
    /* what waits for the beginning of a recv does not wait for its data */
    static const char good[] = TWO("r: recv 1b from 1\ns: send 1b to 1\ns irequires r\n",
                                   "r: recv 1b from 0\ns: send 1b to 0\ns requires r\n");
    assert_int_equal(read_bytes(good, strlen(good), &s, &e), 0);
    schedule_free(&s);
}

/* Operations of ranks by turns, as of a collective that is expanded. */
static void ranks_may_come_in_any_order(void **state)
{
    (void)state;
    struct schedule s;
    struct error e;
    assert_int_equal(schedule_begin(&s, "built", 2, &e), 0);
    int64_t recv = schedule_add_recv(&s, 1, 0, 64, 3, &e), send = schedule_add_send(&s, 0, 1, 64, 3, &e);
    int64_t calc = schedule_add_calc(&s, 1, 9, &e), before = schedule_add_calc(&s, 0, 7, &e);
    s.operations[send].nic = 1;
    assert_int_equal(schedule_add_wait(&s, calc, recv, false, &e), 0);
    assert_int_equal(schedule_add_wait(&s, send, before, true, &e), 0);
    assert_int_equal(schedule_add_wait(&s, send, calc, false, &e), -1);
    says(&e, "not of its rank");
    assert_int_equal(schedule_add_send(&s, 0, 2, 64, 3, &e), -1);
    says(&e, "built: rank 0: the other rank is 2");
    assert_int_equal(schedule_finish(&s, &e), 0);
    char *text = printed(&s);
    assert_string_equal(text, "num_ranks 2\n\nrank 0 {\nl0: send 64b to 1 tag 3 nic 1\nl1: calc 7\n"
                              "l0 irequires l1\n}\n\nrank 1 {\nl0: recv 64b from 0 tag 3\nl1: calc 9\n"
                              "l1 requires l0\n}\n");
    free(text);
    schedule_free(&s);
}

/* ---- the binary form */

static unsigned char *put(unsigned char *at, uint64_t value, int bytes)
{
    for (; bytes > 0; bytes--, value >>= 8)
        *at++ = (unsigned char)value;
    return at;
}

static unsigned char *put_operation(unsigned char *at, uint32_t waits, int type, uint32_t peer, uint64_t size,
                                    uint32_t tag, const uint32_t after[4])
{
    at = put(at, waits, 4);
    at = put(at, (uint64_t)type, 1);
    at = put(at, peer, 4);
    at = put(at, size, 8);
    at = put(at, tag, 4);
    at = put(at, 1, 1); /* CPU */
    at = put(at, 2, 1); /* NIC */
    for (int i = 0; i < 4; i++)
        at = put(at, after[i], 4);
    return at;
}

/* rank 0: l0 send, l1 calc that requires l0, l2 calc that irequires l0; rank 1: a recv. */
static size_t make_binary(unsigned char *file)
{
    unsigned char *at = put(file, 4223, 8), *places;
    at = put(at, 2, 4);
    at = put(at, 1, 1);
    places = put(at, 2, 1);
    at = places + 32;
    unsigned char *base = file + 8, *rank = at;
    at = put(at, 3, 4);
    at = put(at, 1, 4);
    at = put(at, 0, 4);
    at = put_operation(at, 0, 1, 1, 4096, 7, (uint32_t[]){1, 0, 1, 1});
    at = put_operation(at, 1, 3, 0, 100, 0, (uint32_t[]){0, 2, 0, 2});
    at = put_operation(at, 1, 3, 0, 50, 0, (uint32_t[]){0, 2, 0, 2});
    at = put(at, 1, 4);
    at = put(at, 2, 4);
    put(places, (uint64_t)(rank - base), 8);
    put(places + 8, (uint64_t)(at - base), 8);
    rank = at;
    at = put(at, 1, 4);
    at = put(at, 1, 4);
    at = put(at, 0, 4);
    at = put_operation(at, 0, 2, 0, 4096, 7, (uint32_t[]){0, 0, 0, 0});
    put(places + 16, (uint64_t)(rank - base), 8);
    put(places + 24, (uint64_t)(at - base), 8);
    return (size_t)(at - file);
}

static void binary_refused(size_t offset, uint64_t value, int bytes, const char *words)
{
    unsigned char file[512];
    struct schedule s;
    struct error e;
    size_t length = make_binary(file);
    put(file + offset, value, bytes);
    assert_int_equal(read_bytes(file, length, &s, &e), -1);
    says(&e, words);
}

static void binary_is_read(void **state)
{
    (void)state;
    unsigned char file[512];
    struct schedule s;
    struct error e;
    size_t length = make_binary(file);
    assert_int_equal(read_bytes(file, length, &s, &e), 0);
    char *text = printed(&s);
    assert_string_equal(text,
                        "num_ranks 2\n\nrank 0 {\nl0: send 4096b to 1 tag 7 cpu 1 nic 2\nl1: calc 100 cpu 1\n"
                        "l2: calc 50 cpu 1\nl1 requires l0\nl2 irequires l0\n}\n\nrank 1 {\n"
                        "l0: recv 4096b from 0 tag 7 cpu 1 nic 2\n}\n");
    free(text);
    schedule_free(&s);
    for (size_t cut = 8; cut < length; cut++)
        assert_int_equal(read_bytes(file, cut, &s, &e), -1);
}

static void binary_is_checked(void **state)
{
    (void)state;
    const size_t places = 14, rank = places + 32, op = rank + 12;
    binary_refused(0, 2342, 8, "a run of LogGOPSim has counted in this schedule");
    binary_refused(8, UINT32_MAX, 4, "the file ends before the places of its 4294967295 ranks");
    binary_refused(8, 1, 4, "1 ranks: expected 2");
    binary_refused(places, 5, 8, "rank 0 is at 5 to");
    binary_refused(places + 8, UINT64_MAX, 8, "expected one rank after the other");
    binary_refused(rank, UINT32_MAX, 4, "shorter than its operations");
    binary_refused(rank + 4, UINT32_MAX, 4, "shorter than its operations");
    binary_refused(op, 1, 4, "an operation waits for another number of them than the file says");
    binary_refused(op + 4, 9, 1, "neither send, recv nor calc");
    binary_refused(op + 5, 2, 4, "the other rank is 2");
    binary_refused(op + 9, UINT64_MAX, 8, "a message of -1 bytes");
    binary_refused(op + 23, UINT32_MAX, 4, "have more that wait than the file has numbers");
    binary_refused(op + 27, UINT32_MAX, 4, "the file ends before the numbers");
    binary_refused(op + 3 * 39, 3, 4, "one waits whose number is above that of its operations");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_read_and_written), cmocka_unit_test(schedules_are_checked),
        cmocka_unit_test(rings_are_found),          cmocka_unit_test(ranks_may_come_in_any_order),
        cmocka_unit_test(binary_is_read),           cmocka_unit_test(binary_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
