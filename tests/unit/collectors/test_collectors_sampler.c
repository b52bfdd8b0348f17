/* The sampler on the loopback interface, which every machine has, and the way its lines leave. */
#include "tests/unit/unit.h"

#include "collectors/sampler/output.h"
#include "collectors/sampler/sampler.h"
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static void no_event(void *context, const char *source, const char *what, const char *text)
{
    (void)source;
    (void)what;
    (void)text;
    ++*(int *)context;
}

static struct target loopback(void)
{
    struct target t = {.root = "", .netdev = "lo", .gpu = -1, .rdma_port = 1, .every_ns = 10000000};
    t.ifindex = if_nametoindex("lo");
    return t;
}

static void loopback_is_sampled(void **state)
{
    (void)state;
    struct target t = loopback();
    struct error e = {0};
    struct sample s;
    int events = 0;
    size_t count;
    struct sampler *sampler = sampler_open(&t, UINT32_MAX, no_event, &events, &e);
    assert_non_null(sampler);
    assert_false(sampler_take(sampler, &s));
    const struct column *columns = sampler_columns(sampler, &count);
    assert_true(count > 5);
    bool link = false;
    for (size_t i = 0; i < count; i++) {
        assert_true(columns[i].name[0] != '\0' && columns[i].unit[0] != '\0' && columns[i].group[0] != '\0');
        link |= strcmp(columns[i].source, "link") == 0 && s.values[i] != LINES_NULL;
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(columns[i].name, columns[j].name);
    }
    assert_true(link);
    assert_true(s.time_ns > 0 && s.read_ns >= 0);
    /* loopback has neither DCB nor DCQCN: both are named */
    const char *name, *reason;
    int named = 0;
    for (size_t i = 0; (name = sampler_missing(sampler, i, &reason)); i++) {
        named += strcmp(name, "dcb") == 0 || strcmp(name, "dcqcn") == 0;
        assert_true(strlen(reason) > 10);
    }
    assert_int_equal(named, 2);
    assert_int_equal(events, 0);
    sampler_close(sampler);
    sampler_close(NULL);
}

static void only_groups_asked_for_are_shown(void **state)
{
    (void)state;
    struct target t = loopback();
    struct error e = {0};
    int events = 0;
    size_t count;
    struct sampler *sampler = sampler_open(&t, 1U << COUNTER_GROUP_LINK, no_event, &events, &e);
    assert_non_null(sampler);
    const struct column *columns = sampler_columns(sampler, &count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(columns[i].group, "link");
    sampler_close(sampler);
}

static void what_was_named_has_to_be_there(void **state)
{
    (void)state;
    struct target t = loopback();
    struct error e = {0};
    int events = 0;
    t.gpu = 200;
    assert_null(sampler_open(&t, UINT32_MAX, no_event, &events, &e));
    assert_true(strlen(e.text) > 10);
    t = loopback();
    strcpy(t.rdma, "nosuch_0");
    assert_null(sampler_open(&t, UINT32_MAX, no_event, &events, &e));
    t = loopback();
    assert_null(sampler_open(&t, 0, no_event, &events, &e)); /* nothing asked for */
}

/* ---- output */

static struct output *open_on(int descriptor, const char *text)
{
    struct error e;
    struct output *o = output_open(descriptor, &e);
    assert_non_null(o);
    fputs(text, output_stream(o));
    return o;
}

static void lines_leave_whole_and_once(void **state)
{
    (void)state;
    int p[2];
    char buffer[64] = "";
    struct error e;
    assert_int_equal(pipe(p), 0);
    struct output *o = open_on(p[1], "a longer line\n");
    assert_int_equal(output_send(o, -1, &e), OUTPUT_DONE);
    fputs("short\n", output_stream(o));
    assert_int_equal(output_send(o, -1, &e), OUTPUT_DONE);
    assert_int_equal(output_send(o, -1, &e), OUTPUT_DONE); /* nothing */
    assert_int_equal(read(p[0], buffer, sizeof buffer), 20);
    assert_memory_equal(buffer, "a longer line\nshort\n", 20);
    output_close(o);
    close(p[0]);
    close(p[1]);
}

static void a_reader_that_left_is_noticed(void **state)
{
    (void)state;
    int p[2];
    struct error e;
    assert_int_equal(pipe(p), 0);
    struct output *o = open_on(p[1], "line\n");
    close(p[0]);
    assert_int_equal(output_send(o, -1, &e), OUTPUT_CLOSED);
    output_close(o);
    close(p[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
    o = open_on(p[1], "line\n");
    close(p[0]);
    assert_int_equal(output_send(o, -1, &e), OUTPUT_CLOSED);
    output_close(o);
    close(p[1]);
}

/* Fill a pipe with lines longer than PIPE_BUF until there is no room, then stop: what it holds are whole
 * lines. */
static void waiting_for_room_can_be_stopped(void **state)
{
    (void)state;
    enum { LENGTH = 10000 };
    int p[2], wake[2];
    struct error e;
    char line[LENGTH + 1], *held;
    memset(line, 'x', LENGTH - 1);
    line[LENGTH - 1] = '\n';
    line[LENGTH] = '\0';
    assert_int_equal(pipe(p), 0);
    assert_int_equal(pipe(wake), 0);
    struct output *o = open_on(p[1], "");
    assert_int_equal(write(wake[1], "!", 1), 1);
    enum output_result result = OUTPUT_DONE;
    size_t sent = 0;
    while (result == OUTPUT_DONE && sent < 10000) {
        fputs(line, output_stream(o));
        result = output_send(o, wake[0], &e);
        sent += result == OUTPUT_DONE;
    }
    assert_int_equal(result, OUTPUT_STOPPED);
    assert_true(sent > 2);
    held = malloc(4 << 20);
    assert_non_null(held);
    assert_int_not_equal(fcntl(p[0], F_SETFL, O_NONBLOCK), -1);
    ssize_t length = read(p[0], held, 4 << 20);
    assert_int_equal(length, (ssize_t)(sent * LENGTH));
    free(held);
    output_close(o);
    for (int i = 0; i < 2; i++) {
        close(p[i]);
        close(wake[i]);
    }
}

static void a_full_disk_is_a_sentence(void **state)
{
    (void)state;
    struct error e = {0};
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(full >= 0);
    struct output *o = open_on(full, "line\n");
    assert_int_equal(output_send(o, -1, &e), OUTPUT_FAILED);
    assert_non_null(strstr(e.text, "standard output"));
    output_close(o);
    close(full);
    assert_null(output_open(-1, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loopback_is_sampled),
        cmocka_unit_test(only_groups_asked_for_are_shown),
        cmocka_unit_test(what_was_named_has_to_be_there),
        cmocka_unit_test(lines_leave_whole_and_once),
        cmocka_unit_test(a_reader_that_left_is_noticed),
        cmocka_unit_test(waiting_for_room_can_be_stopped),
        cmocka_unit_test(a_full_disk_is_a_sentence),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
