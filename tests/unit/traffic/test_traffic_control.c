/* The control messages, and the connection they go over: real sockets on loopback. */
#include "tests/unit/unit.h"

#include "lib/clock.h"
#include "lib/network/listener.h"
#include "traffic/connection/control.h"
#include "traffic/flow_side.h"
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- a connected pair */

struct pair {
    struct control a, b; /* driver and server */
    struct listener listener;
};

static const struct secret no_secret = {{0}};

static void open_pair(struct pair *p, const char *address)
{
    struct error e = {{0}};
    int64_t port = 0;
    if (listener_open(&p->listener, address, &port, &e) != 0)
        fail_msg("%s", e.text);
    assert_true(port > 0);
    if (control_connect(&p->a, address ? address : "127.0.0.1", port, -1, &e) != 0)
        fail_msg("%s", e.text);
    int fd = listener_accept(&p->listener); /* loopback: it waits already */
    assert_true(fd >= 0);
    if (control_take(&p->b, fd, &e) != 0)
        fail_msg("%s", e.text);
}

static void close_pair(struct pair *p)
{
    control_close(&p->a);
    control_close(&p->b);
    listener_close(&p->listener);
}

static void send_raw(struct control *control, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length) {
        ssize_t n = send(control->fd, at, length, MSG_NOSIGNAL);
        if (n < 0) { /* the reader's buffer is full: it has received more than enough */
            usleep(1000);
            return;
        }
        at += n;
        length -= (size_t)n;
    }
}

/* ---- messages */

static void every_message_survives_the_wire(void **state)
{
    char flow[] = "x \"y\"", reverse[] = "z", gid[] = "10.0.0.1", device[] = "mlx5_0", route[] = "host",
         none[] = "";
    int64_t numbers[] = {1, 0xffffff}, starts[] = {0, 77};
    struct message endpoint = {.type = MESSAGE_ENDPOINT,
                               .endpoint = {.gid = gid,
                                            .device = device,
                                            .route = route,
                                            .address = none,
                                            .lid = 3,
                                            .mtu_bytes = 4096,
                                            .remote_key = UINT32_MAX,
                                            .token = INT64_MAX,
                                            .queue_pairs = {numbers, 2},
                                            .packet_start = {starts, 2}}};
    struct message offer = {.type = MESSAGE_OFFER,
                            .offer = {.flow = flow,
                                      .reverse = reverse,
                                      .operation = OP_SEND,
                                      .memory = MEMORY_CUDA_NV503C,
                                      .numa = NUMA_FAR,
                                      .bidirectional = 1,
                                      .max_message_bytes = 65536,
                                      .queue_pairs = 2,
                                      .depth = 128,
                                      .receive_depth = 1,
                                      .post_list = 1,
                                      .slots = 3,
                                      .burst = 1,
                                      .interval_ns = 1000000,
                                      .peer_timeout_ns = 100000000,
                                      .flip = -1}};
    struct message got;
    struct error e = {{0}};
    (void)state;
    char *text = wire_encode(&endpoint);
    if (wire_decode(text, strlen(text), &got, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(got.type, MESSAGE_ENDPOINT);
    assert_string_equal(got.endpoint.gid, gid);
    assert_int_equal(got.endpoint.remote_key, UINT32_MAX);
    assert_int_equal(got.endpoint.queue_pairs.count, 2);
    assert_int_equal(((int64_t *)got.endpoint.queue_pairs.items)[1], 0xffffff);
    wire_free(&got);
    free(text);
    text = wire_encode(&offer);
    if (wire_decode(text, strlen(text), &got, &e) != 0)
        fail_msg("%s", e.text);
    assert_string_equal(got.offer.flow, flow);
    assert_int_equal(got.offer.memory, MEMORY_CUDA_NV503C);
    assert_int_equal(got.offer.numa, NUMA_FAR);
    assert_int_equal(got.offer.slots, 3);
    assert_int_equal(got.offer.flip, -1);
    wire_free(&got);
    free(text);
}

static void what_is_no_message_is_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "not a control message"},
        {"GET / HTTP/1.1", "not a control message"},
        {"[1,2]", "not a control message"},
        {"{}", "unknown type \"none\""},
        {"{\"type\":\"shell\"}", "unknown type \"shell\""},
        {"{\"type\":7}", "unknown type \"none\""},
        {"{\"type\":\"phase\"}", "message_bytes is missing"},
        {"{\"type\":\"phase\",\"message_bytes\":0}", "out of range"},
        {"{\"type\":\"phase\",\"message_bytes\":\"64KiB\"}", "is a string"},
        {"{\"type\":\"phase\",\"message_bytes\":64,\"size\":1}", "unknown key"},
        {"{\"type\":\"phase\",\"type\":\"stop\"}", "not a control message"},
        {"{\"type\":\"stop\",\"counts\":[-1]}", "out of range"},
        {"{\"type\":\"hello\",\"protocol\":1}", "version is missing"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct message message;
        struct error e = {{0}};
        assert_int_equal(wire_decode(cases[i].text, strlen(cases[i].text), &message, &e), -1);
        if (!strstr(e.text, cases[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, e.text, cases[i].says);
    }
}

/* The checks beyond single ranges apply to offers as well as to options. */
static void an_offer_that_asks_too_much_is_refused(void **state)
{
    char flow[] = "x";
    struct message offer = {.type = MESSAGE_OFFER,
                            .offer = {.flow = flow,
                                      .reverse = flow,
                                      .max_message_bytes = 1 << 30,
                                      .queue_pairs = 1024,
                                      .depth = 1,
                                      .receive_depth = 1,
                                      .post_list = 1,
                                      .slots = 65536,
                                      .burst = 1,
                                      .interval_ns = 1000000,
                                      .peer_timeout_ns = 100000000,
                                      .flip = -1}};
    struct message got;
    struct error e = {{0}};
    (void)state;
    char *text = wire_encode(&offer);
    assert_int_equal(wire_decode(text, strlen(text), &got, &e), -1);
    assert_non_null(strstr(e.text, "GiB"));
    free(text);
}

/* ---- the connection */

/* The server's side of a greeting, when the driver's hello is there. */
static int admit(struct pair *p, const char *secret, struct error *e)
{
    struct secret ours;
    int admitted = 0;
    secret_copy(&ours, secret);
    for (int tries = 0; admitted == 0 && tries < 1000; tries++) {
        admitted = control_admit(&p->b, &ours, e);
        usleep(admitted == 0 ? 1000 : 0);
    }
    return admitted;
}

static void say_hello(struct pair *p, int64_t protocol, const char *secret)
{
    char version[] = "9.9", text[200];
    struct error e;
    struct message hello = {.type = MESSAGE_HELLO,
                            .hello = {.protocol = protocol, .version = version, .secret = text}};
    snprintf(text, sizeof text, "%s", secret);
    assert_int_equal(control_send(&p->a, &hello, &e), 0);
}

static void sides_greet_each_other(const char *address)
{
    struct pair p;
    struct error e = {{0}};
    struct message message;
    open_pair(&p, address);
    assert_int_equal(control_admit(&p.b, &no_secret, &e), 0);
    say_hello(&p, WIRE_PROTOCOL, "");
    assert_int_equal(admit(&p, "", &e), 1);
    assert_int_equal(control_expect(&p.a, MESSAGE_HELLO, NS_PER_S, -1, &message, &e), 0);
    assert_string_equal(message.hello.version, HARNESS_VERSION);
    assert_string_equal(message.hello.secret, "");
    wire_free(&message);
    close_pair(&p);
}

static void sides_greet_over_ipv4_and_ipv6(void **state)
{
    struct error e = {{0}};
    struct listener probe;
    int64_t port = 0;
    (void)state;
    sides_greet_each_other("127.0.0.1");
    sides_greet_each_other(NULL);
    if (listener_open(&probe, "::1", &port, &e) != 0) /* a host without IPv6 */
        return;
    listener_close(&probe);
    sides_greet_each_other("::1");
}

static void another_protocol_is_refused_by_name(void **state)
{
    struct pair p;
    struct error e = {{0}};
    (void)state;
    open_pair(&p, "127.0.0.1");
    static const char hello[] = "{\"type\":\"hello\",\"protocol\":7,\"version\":\"3.1\"}\n";
    send_raw(&p.b, hello, sizeof hello - 1);
    assert_int_equal(control_greet(&p.a, &no_secret, -1, &e), -1);
    assert_non_null(strstr(e.text, "uses control protocol 7 (roce-traffic 3.1)"));
    close_pair(&p);
    open_pair(&p, "127.0.0.1");
    say_hello(&p, 7, "");
    assert_int_equal(admit(&p, "", &e), -1);
    assert_non_null(strstr(e.text, "uses control protocol 7 (roce-traffic 9.9)"));
    close_pair(&p);
}

/* Whoever does not know the secret learns nothing of this program, and no message of it is decoded but its
 * hello. */
static void a_stranger_is_refused(void **state)
{
    static const char secret[] = "0123456789abcdef0123456789abcdef";
    static const struct {
        const char *sent, *says;
    } lines[] = {
        {"", "did not say hello"},
        {"\xff", "did not say hello"},
        {"[[[[[[[[", "did not say hello"},
        {"{\"type\":\"alive\"}", "did not say hello"},
        {"{\"type\":\"error\",\"text\":\"\\u001b[2J\"}", "did not say hello"},
        {"{\"type\":\"hello\",\"protocol\":3}", "did not say hello"},
        {"{\"type\":\"hello\",\"protocol\":7,\"version\":\"1\"}", "does not know this server's secret"},
        {"{\"type\":\"hello\",\"protocol\":7,\"version\":\"1\",\"secret\":"
         "\"0123456789abcdef0123456789abcdee\"}",
         "knows another secret"},
        {"{\"type\":\"hello\",\"protocol\":7,\"version\":\"1\",\"secret\":"
         "\"0123456789abcdef0123456789abcdef0\"}",
         "knows another secret"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct pair p;
        struct error e = {{0}};
        open_pair(&p, "127.0.0.1");
        send_raw(&p.a, lines[i].sent, strlen(lines[i].sent));
        send_raw(&p.a, "\n", 1);
        assert_int_equal(admit(&p, secret, &e), -1);
        if (!strstr(e.text, lines[i].says) || strstr(e.text, HARNESS_VERSION))
            fail_msg("%s: %s", lines[i].sent, e.text);
        close_pair(&p);
    }
}

static void a_driver_with_the_secret_is_greeted(void **state)
{
    struct pair p;
    struct error e = {{0}};
    struct secret secret, other;
    struct message message;
    (void)state;
    assert_int_equal(secret_make(&secret, &e), 0);
    assert_int_equal(secret_make(&other, &e), 0);
    assert_int_equal(strlen(secret.text), 32);
    assert_false(secret_equal(&secret, &other));
    open_pair(&p, "127.0.0.1");
    say_hello(&p, WIRE_PROTOCOL, secret.text);
    assert_int_equal(admit(&p, secret.text, &e), 1);
    assert_int_equal(control_expect(&p.a, MESSAGE_HELLO, NS_PER_S, -1, &message, &e), 0);
    assert_string_equal(message.hello.secret, "");
    wire_free(&message);
    close_pair(&p);
}

static void a_hello_without_end_is_refused(void **state)
{
    struct pair p;
    struct error e = {{0}};
    char garbage[2 * WIRE_HELLO_LENGTH];
    (void)state;
    memset(garbage, 'x', sizeof garbage);
    open_pair(&p, "127.0.0.1");
    send_raw(&p.a, garbage, sizeof garbage);
    assert_int_equal(admit(&p, "", &e), -1);
    assert_non_null(strstr(e.text, "a line of more than 512 bytes"));
    close_pair(&p);
}

static void a_line_without_end_is_refused(void **state)
{
    struct pair p;
    struct error e = {{0}};
    struct message message;
    char *garbage = calloc(1, 2 * WIRE_MAX_LENGTH);
    int got = 0;
    (void)state;
    open_pair(&p, "127.0.0.1");
    for (int i = 0; got == 0 && i < 100; i++) {
        send_raw(&p.b, garbage, 64 * 1024);
        assert_int_equal(control_fill(&p.a, &e), 0);
        got = control_next(&p.a, &message, &e);
    }
    assert_int_equal(got, -1);
    assert_non_null(strstr(e.text, "a line of more than"));
    free(garbage);
    close_pair(&p);
}

static void messages_come_whole_however_they_are_cut(void **state)
{
    static const char bytes[] =
        "{\"type\":\"alive\"}\n{\"type\":\"phase\",\"message_bytes\":64}\n{\"type\":\"ready\"}\n";
    struct pair p;
    struct error e = {{0}};
    struct message message;
    (void)state;
    open_pair(&p, "127.0.0.1");
    enum message_type seen[3] = {MESSAGE_ERROR, MESSAGE_ERROR, MESSAGE_ERROR};
    size_t count = 0;
    for (size_t i = 0; i < sizeof bytes - 1; i++) {
        send_raw(&p.b, bytes + i, 1);
        for (int tries = 0; p.a.used == 0 && tries < 1000; tries++)
            assert_int_equal(control_fill(&p.a, &e), 0);
        assert_int_equal(control_fill(&p.a, &e), 0);
        while (control_next(&p.a, &message, &e) > 0) {
            assert_true(count < 3);
            seen[count++] = message.type;
            wire_free(&message);
        }
    }
    for (int tries = 0; count < 3 && tries < 1000; tries++) {
        assert_int_equal(control_fill(&p.a, &e), 0);
        while (control_next(&p.a, &message, &e) > 0) {
            seen[count++] = message.type;
            wire_free(&message);
        }
    }
    assert_int_equal(count, 3);
    assert_int_equal(seen[0], MESSAGE_ALIVE);
    assert_int_equal(seen[1], MESSAGE_PHASE);
    assert_int_equal(seen[2], MESSAGE_READY);
    close_pair(&p);
}

static void the_other_side_s_last_words_are_heard(void **state)
{
    struct pair p;
    struct error e = {{0}};
    struct message message;
    (void)state;
    open_pair(&p, "127.0.0.1");
    control_say_error(&p.b, "no GPU here");
    control_close(&p.b);
    assert_int_equal(control_expect(&p.a, MESSAGE_READY, NS_PER_S, -1, &message, &e), -1);
    assert_non_null(strstr(e.text, "no GPU here"));
    assert_int_equal(control_expect(&p.a, MESSAGE_READY, NS_PER_S, -1, &message, &e), -1);
    assert_non_null(strstr(e.text, "has disconnected: its process ended or was killed"));
    close_pair(&p);
}

static void waiting_has_an_end(void **state)
{
    struct pair p;
    struct error e = {{0}};
    struct message message;
    int stop = eventfd(1, 0);
    (void)state;
    open_pair(&p, "127.0.0.1");
    int64_t begin_ns = clock_monotonic_ns();
    assert_int_equal(control_expect(&p.a, MESSAGE_READY, 50 * NS_PER_MS, -1, &message, &e), -1);
    assert_non_null(strstr(e.text, "does not answer"));
    assert_true(clock_monotonic_ns() - begin_ns >= 50 * NS_PER_MS);
    assert_int_equal(control_expect(&p.a, MESSAGE_READY, 60 * NS_PER_S, stop, &message, &e), -1);
    assert_non_null(strstr(e.text, "stopped on request"));
    assert_int_equal(control_say(&p.b, MESSAGE_READY, &e), 0);
    assert_int_equal(control_expect(&p.a, MESSAGE_CONNECTED, NS_PER_S, -1, &message, &e), -1);
    assert_non_null(strstr(e.text, "sent \"ready\": expected \"connected\""));
    close(stop);
    close_pair(&p);
}

static void a_closed_port_is_named(void **state)
{
    struct control control;
    struct listener listener, second;
    struct error e = {{0}};
    int64_t port = 0;
    (void)state;
    assert_int_equal(listener_open(&listener, "127.0.0.1", &port, &e), 0);
    int64_t taken = port;
    assert_int_equal(listener_open(&second, "127.0.0.1", &taken, &e), -1);
    assert_non_null(strstr(e.text, "is another one running?"));
    listener_close(&listener);
    assert_int_equal(control_connect(&control, "127.0.0.1", port, -1, &e), -1);
    assert_non_null(strstr(e.text, "refused"));
}

/* Without a descriptor for it, a connection is turned away: it would make each poll return at once. */
static void without_descriptors_connections_are_turned_away(void **state)
{
    struct listener listener;
    struct control control;
    struct error e = {{0}};
    struct rlimit before, none;
    int64_t port = 0;
    char c;
    (void)state;
    assert_int_equal(listener_open(&listener, "127.0.0.1", &port, &e), 0);
    if (control_connect(&control, "127.0.0.1", port, -1, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = (rlim_t)control.fd, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int fd = listener_accept(&listener), number = errno;
    struct pollfd more = {.fd = listener_descriptor(&listener), .events = POLLIN};
    int ready = poll(&more, 1, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(fd, -1);
    assert_int_equal(number, EMFILE);
    assert_int_equal(ready, 0);
    struct pollfd closed = {.fd = control.fd, .events = POLLIN};
    assert_int_equal(poll(&closed, 1, 5000), 1);
    assert_int_equal(recv(control.fd, &c, 1, 0), 0);
    control_close(&control);
    listener_close(&listener);
}

/* With not even a spare descriptor, the listener is not polled for a while. */
static void a_listener_without_its_spare_rests(void **state)
{
    struct listener listener;
    struct control control;
    struct error e = {{0}};
    struct rlimit before, none;
    int64_t port = 0;
    (void)state;
    assert_int_equal(listener_open(&listener, "127.0.0.1", &port, &e), 0);
    if (control_connect(&control, "127.0.0.1", port, -1, &e) != 0)
        fail_msg("%s", e.text);
    close(listener.spare);
    listener.spare = -1;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int fd = listener_accept(&listener);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(fd, -1);
    assert_true(listener.rest_until_ns > 0);
    listener.rest_until_ns = clock_monotonic_ns() + NS_PER_S;
    assert_int_equal(listener_descriptor(&listener), -1);
    assert_true(listener_timeout_ms(&listener, -1) > 0);
    listener.rest_until_ns = clock_monotonic_ns() - 1;
    assert_int_equal(listener_descriptor(&listener), listener.fd);
    assert_int_equal(listener_timeout_ms(&listener, -1), -1);
    fd = listener_accept(&listener);
    assert_true(fd >= 0);
    close(fd);
    control_close(&control);
    listener_close(&listener);
}

/* ---- what a driver takes of a server */

#define OF_REVERSE "{\"type\":\"line\",\"line\":{\"type\":\"summary\",\"flow\":\"z\",\"bytes\":"

/* What the driver says of a message from its server, "" if it takes it. */
static void hear_from_server(struct flow_side *side, struct pair *p, const char *message, struct error *e)
{
    e->text[0] = '\0';
    send_raw(&p->b, message, strlen(message));
    send_raw(&p->b, "\n", 1);
    (void)flow_side_pump(side, clock_monotonic_ns() + 10 * NS_PER_S, e);
}

static void a_driver_takes_what_is_of_its_flow(void **state)
{
    struct pair p = {.listener = {.fd = -1}};
    struct error e;
    struct output output;
    char flow[] = "x", reverse[] = "z";
    struct plan plan = {.flow = flow, .reverse = reverse, .queue_pairs = 1, .peer_timeout_ns = 60 * NS_PER_S};
    FILE *nowhere = fopen("/dev/null", "w");
    (void)state;
    assert_non_null(nowhere);
    traffic_output_open(&output, nowhere, 0, -1);
    open_pair(&p, "127.0.0.1");
    p.a.only_hello = false; /* as after the greeting */
    struct flow_side side = {.plan = &plan, .driver = true, .control = p.a, .output = &output, .stop_fd = -1};
    /* a server whose flow has one direction has nothing to tell of another */
    hear_from_server(&side, &p, OF_REVERSE "1}}", &e);
    assert_non_null(strstr(e.text, "does not belong to flow \"z\""));
    plan.bidirectional = true;
    hear_from_server(&side, &p, OF_REVERSE "1}}", &e);
    assert_string_equal(e.text, "");
    assert_true(side.got_summary);
    /* bytes that are no count, and the line that ends a program's output */
    hear_from_server(&side, &p, OF_REVERSE "-1}}", &e);
    assert_non_null(strstr(e.text, "does not belong"));
    hear_from_server(&side, &p, OF_REVERSE "\"x\"}}", &e);
    assert_non_null(strstr(e.text, "does not belong"));
    hear_from_server(&side, &p, "{\"type\":\"line\",\"line\":{\"type\":\"end\",\"flow\":\"z\"}}", &e);
    assert_non_null(strstr(e.text, "does not belong"));
    /* before it was told to stop, the server cannot know what all of the phase came to */
    hear_from_server(&side, &p, "{\"type\":\"drained\",\"counts\":[]}", &e);
    assert_non_null(strstr(e.text, "sent \"drained\" at the wrong time"));
    side.said_stop = true;
    hear_from_server(&side, &p, "{\"type\":\"drained\",\"counts\":[]}", &e);
    assert_string_equal(e.text, "");
    assert_true(side.got_drained);
    p.a = side.control;
    close_pair(&p);
    traffic_output_close(&output);
    fclose(nowhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_survives_the_wire),
        cmocka_unit_test(what_is_no_message_is_refused),
        cmocka_unit_test(an_offer_that_asks_too_much_is_refused),
        cmocka_unit_test(sides_greet_over_ipv4_and_ipv6),
        cmocka_unit_test(another_protocol_is_refused_by_name),
        cmocka_unit_test(a_stranger_is_refused),
        cmocka_unit_test(a_driver_with_the_secret_is_greeted),
        cmocka_unit_test(a_hello_without_end_is_refused),
        cmocka_unit_test(a_line_without_end_is_refused),
        cmocka_unit_test(messages_come_whole_however_they_are_cut),
        cmocka_unit_test(the_other_side_s_last_words_are_heard),
        cmocka_unit_test(waiting_has_an_end),
        cmocka_unit_test(a_closed_port_is_named),
        cmocka_unit_test(without_descriptors_connections_are_turned_away),
        cmocka_unit_test(a_listener_without_its_spare_rests),
        cmocka_unit_test(a_driver_takes_what_is_of_its_flow),
    };
    return cmocka_run_group_tests_name("traffic_control", tests, NULL, NULL);
}
