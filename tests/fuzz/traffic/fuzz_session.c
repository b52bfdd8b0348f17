/* The control connection of roce-traffic on a socket: what a peer may say, in any order and in any pieces,
 * without RDMA. The input is a byte of which side this is, then pieces: a length, and bytes as they arrive. A
 * server first waits for hello and offer. */
#include "lib/clock.h"
#include "traffic/flow_side.h"
#include "traffic/job.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct meeting {
    struct flow_side side;
    struct plan plan;
    struct output output;
    bool offered;
    int far; /* the peer's end of the socket */
};

/* The messages before an offer, as serve.c's set_up takes them; then the arrays that flow_side_open makes. */
static int take_offer(struct meeting *m, struct error *e)
{
    struct message message;
    int got = control_fill(&m->side.control, e);
    while (got == 0 && !m->offered && (got = control_next(&m->side.control, &message, e)) > 0) {
        m->offered = message.type == MESSAGE_OFFER;
        if (m->offered)
            m->plan = message.offer;
        else
            wire_free(&message);
        got = 0;
    }
    if (!m->offered)
        return got;
    m->side.arrived = calloc((size_t)m->plan.queue_pairs, sizeof *m->side.arrived);
    m->side.arrived_before = calloc((size_t)m->plan.queue_pairs, sizeof *m->side.arrived);
    return m->side.arrived && m->side.arrived_before ? 0 : -1;
}

static void speak(struct meeting *m, const uint8_t *data, size_t size)
{
    struct error e = {{0}};
    char heard[4096];
    int result = 0;
    while (size && result == 0) {
        size_t length = (size_t)*data * *data / 16 + 1; /* to 4 KiB, often short */
        data++, size--;
        if (length > size)
            length = size;
        ssize_t sent = send(m->far, data, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)sent;
        data += length, size -= length;
        result = m->offered ? flow_side_pump(&m->side, clock_monotonic_ns(), &e) : take_offer(m, &e);
        while (recv(m->far, heard, sizeof heard, MSG_DONTWAIT) > 0)
            ;
    }
    if (result != 0) {
        control_say_error(&m->side.control, e.text);
        output_line(&m->output, output_error(m->offered ? m->plan.flow : "", "REFUSED", e.text));
    }
}

static int meet(struct meeting *m, uint8_t kind, FILE *nowhere)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    m->far = ends[1];
    traffic_output_open(&m->output, nowhere, kind & 2 ? OUTPUT_JSON : OUTPUT_TABLE, -1);
    m->side = (struct flow_side){.plan = &m->plan,
                                 .driver = kind & 1,
                                 .output = &m->output,
                                 .stop_fd = -1,
                                 .control = {.fd = ends[0], .buffer = malloc(WIRE_MAX_LENGTH + 1)},
                                 .connection = {.stop_fd = -1},
                                 .engine = {.event_fd = -1}};
    m->side.control.heard_ns = m->side.control.said_ns = clock_monotonic_ns();
    return m->side.control.buffer ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct meeting *m = aligned_alloc(_Alignof(struct meeting), sizeof *m);
    FILE *nowhere = fopen("/dev/null", "w");
    if (!m || !nowhere)
        abort();
    memset(m, 0, sizeof *m);
    if (size && meet(m, *data, nowhere) == 0) {
        speak(m, data + 1, size - 1);
        flow_side_close(&m->side);
        close(m->far);
        traffic_output_close(&m->output);
        table_free(&plan_table, &m->plan);
    }
    fclose(nowhere);
    free(m);
    return 0;
}
