/* A cable between two machines that are not always scheduled: nothing is lost, and nothing stands still
 * for good. */
#include "virtual-connectx/tests/unit/vcx_port_owner.h"
#include "virtual-connectx/model/port/credit.h"
#include "virtual-connectx/model/random.h"

#define MBIT     1000000ull
#define MS       1000000ull
#define PRIORITY 3
#define BYTES    4000

/* What is on the way to an end: headers, each with the frame that it announces. */
struct enclosed {
    struct enclosed *next;
    uint8_t header[VCX_CREDIT_BYTES];
    struct vcx_frame *frame;
};

struct end {
    struct owner owner; /* the first: ports know it as their owner */
    struct vcx_credit credit;
    struct end *other;
    struct enclosed *first, *last; /* on the way to here */
    uint64_t runs_at_ns;           /* not scheduled before */
    bool uncoupled, deaf;          /* deaf: what comes is gone */
};

static void enclose(struct end *end, enum vcx_credit_kind kind, struct vcx_frame *frame)
{
    struct enclosed *e = calloc(1, sizeof *e);
    struct end *to = end->other;
    assert_non_null(e);
    e->frame = frame;
    vcx_credit_write(&end->credit, kind, frame ? frame->length : 0, vcx_credit_window(&end->owner.port),
                     e->header);
    *(to->first ? &to->last->next : &to->first) = e;
    to->last = e;
}

static bool end_ready(void *owner, struct vcx_port *port)
{
    struct end *end = owner;
    return end->uncoupled || vcx_credit_open(&end->credit, port, end->owner.now_ns);
}

static void end_transmit(void *owner, struct vcx_port *port, struct vcx_frame *frame)
{
    struct end *end = owner;
    (void)port;
    end->owner.sent.frames++;
    end->owner.sent.pauses += vcx_be16(frame->data + 12) == 0x8808;
    enclose(end, VCX_CREDIT_FRAME, frame);
}

static const struct vcx_port_ops end_ops = {
    .now_ns = owner_now, .ready = end_ready, .transmit = end_transmit, .deliver = owner_deliver};

static bool take_next(struct end *end)
{
    struct enclosed *e = end->first;
    if (!e)
        return false;
    end->first = e->next;
    enum vcx_credit_kind kind =
        end->deaf ? VCX_CREDIT_BAD
                  : vcx_credit_take(&end->credit, e->header, e->frame ? e->frame->length : 0);
    if (kind == VCX_CREDIT_FRAME)
        vcx_port_receive(&end->owner.port, e->frame);
    else
        vcx_release(e->frame);
    free(e);
    return true;
}

/* A round of the machine's thread. */
static void run_end(struct end *end)
{
    end->credit.closed = vcx_port_closed(&end->owner.port);
    enum vcx_credit_kind kind =
        vcx_credit_due(&end->credit, vcx_credit_window(&end->owner.port), end->owner.now_ns);
    if (kind != VCX_CREDIT_BAD)
        enclose(end, kind, NULL);
    for (int i = 0; i < 4 && take_next(end); i++) {
    }
    vcx_port_poll(&end->owner.port);
}

static void open_end(struct end *end, struct end *other, uint32_t epoch)
{
    memset(end, 0, sizeof *end);
    owner_open(&end->owner, 20 * MBIT);
    end->owner.port.queue_bytes = 512u << 10;
    end->owner.port.ops = &end_ops;
    end->owner.port.owner = end;
    end->other = other;
    vcx_credit_start(&end->credit, epoch);
}

/* With PFC's thresholds as mlx5 computes them for pfc-bidir. */
static void open_ends(struct end *a, struct end *b)
{
    open_end(a, b, 1);
    open_end(b, a, 2);
    for (struct end *end = a; end; end = end == a ? b : NULL) {
        struct vcx_port_settings *s = &end->owner.port.settings;
        s->mtu = 4222;
        s->pfc_tx = s->pfc_rx = 1 << PRIORITY;
        s->buffers_set = true;
        s->buffer_of_priority[PRIORITY] = 1;
        s->buffers[1] = (struct vcx_receive_buffer){114944, 91392, 81408, false};
    }
}

static void close_end(struct end *end)
{
    end->deaf = true;
    while (take_next(end)) {
    }
    vcx_port_stop(&end->owner.port);
}

static void step(struct end *end, uint64_t now_ns)
{
    end->owner.now_ns = now_ns;
    if (now_ns >= end->runs_at_ns)
        run_end(end);
}

static uint64_t run_both(struct end *a, struct end *b, uint64_t now_ns, uint64_t for_ns)
{
    for (uint64_t end = now_ns + for_ns; now_ns < end; now_ns += MS / 2) {
        step(a, now_ns);
        step(b, now_ns);
    }
    return now_ns;
}

/* Sends all the time from a to b, whose memory is slow, while both machines stand still now and then: up
 * to 4 s, longer than XOFF's 1.7 s. */
static void run_with_stalls(struct end *a, struct end *b)
{
    uint64_t random = 7, now = 2000 * MS;
    b->owner.deliver_ns = 5 * MS; /* the line has a frame in 1.6 ms */
    for (int i = 0; i < 300; i++) {
        struct end *still = vcx_random_below(&random, 2) ? a : b;
        uint64_t longest = vcx_random_below(&random, 8) ? 300 : 4000;
        if (still->runs_at_ns <= now)
            still->runs_at_ns = now + vcx_random_below(&random, longest) * MS;
        for (int k = 0; k < 20; k++) {
            while (vcx_port_room(&a->owner.port, PRIORITY) >= BYTES)
                vcx_port_send(&a->owner.port, tagged(BYTES, PRIORITY), PRIORITY);
            now = run_both(a, b, now, vcx_random_below(&random, 40) * MS);
        }
    }
}

static void nothing_is_lost_while_machines_stand_still(void **state)
{
    (void)state;
    struct end a, b;
    open_ends(&a, &b);
    run_with_stalls(&a, &b);
    assert_int_equal(b.owner.port.counters.priority[PRIORITY].rx_discards, 0);
    assert_in_range(b.owner.port.counters.priority[PRIORITY].tx_pause, 100, 100000);
    assert_in_range(a.owner.port.expired, 1, 1000);
    assert_in_range(b.owner.delivered, 2000, 100000);
    assert_int_equal(b.credit.missing, 0);
    close_end(&a);
    close_end(&b);
}

static void without_credits_frames_are_lost(void **state)
{
    (void)state;
    struct end a, b;
    open_ends(&a, &b);
    a.uncoupled = b.uncoupled = true;
    run_with_stalls(&a, &b);
    assert_in_range(b.owner.port.counters.priority[PRIORITY].rx_discards, 1, 100000);
    close_end(&a);
    close_end(&b);
}

/* Without flow control it is the receive buffer that loses. */
static void a_lossy_priority_is_not_held(void **state)
{
    (void)state;
    struct end a, b;
    open_ends(&a, &b);
    b.owner.port.settings.pfc_tx = 0;
    b.owner.port.settings.pause_tx = false;
    b.owner.port.settings.buffers[1].lossy = true;
    run_with_stalls(&a, &b);
    assert_in_range(b.owner.port.counters.priority[PRIORITY].rx_discards, 1000, 100000);
    close_end(&a);
    close_end(&b);
}

static void sends(struct end *end, int frames)
{
    for (int i = 0; i < frames; i++)
        vcx_port_send(&end->owner.port, tagged(1000, 0), 0);
}

/* An end that is made again starts to count again; the other one asks it how far it is. */
static void an_end_comes_back(void **state)
{
    (void)state;
    struct end a, b;
    open_ends(&a, &b);
    sends(&a, 50);
    uint64_t now = run_both(&a, &b, 2000 * MS, 500 * MS);
    assert_int_equal(b.owner.delivered, 50);
    b.deaf = true;
    sends(&a, 400);
    now = run_both(&a, &b, now, 500 * MS);
    uint32_t sent = a.owner.sent.frames; /* a window of the lossless memory at most (110 KB), less what was
                                            not acknowledged before */
    assert_in_range(sent, 50 + 55, 50 + 111);
    b.deaf = false;
    vcx_credit_start(&b.credit, 3);
    now = run_both(&a, &b, now, 500 * MS);
    assert_int_equal(a.owner.sent.frames, 450);
    sends(&a, 90);
    run_both(&a, &b, now, 1000 * MS);
    assert_int_equal(b.owner.delivered, 450 + 50 - sent + 90);
    assert_int_equal(b.credit.missing, 0);
    close_end(&a);
    close_end(&b);
}

/* Nobody is at the other end any more: frames go as on a cable that nobody looks at. */
static void an_end_goes_for_good(void **state)
{
    (void)state;
    struct end a, b;
    open_ends(&a, &b);
    sends(&a, 10);
    uint64_t now = run_both(&a, &b, 2000 * MS, 200 * MS);
    b.deaf = true;
    b.runs_at_ns = UINT64_MAX;
    sends(&a, 400);
    now = run_both(&a, &b, now, 5000 * MS);
    assert_in_range(a.owner.sent.frames, 10 + 55, 10 + 111);
    run_both(&a, &b, now, 1000 * MS);
    assert_int_equal(a.owner.sent.frames, 410);
    close_end(&a);
    close_end(&b);
}

/* What is lost between the ends is a gap, and does not count as being on the way for ever. */
static void lost_frames_are_gaps(void **state)
{
    (void)state;
    struct end a, b;
    open_ends(&a, &b);
    sends(&a, 10);
    uint64_t now = run_both(&a, &b, 2000 * MS, 200 * MS);
    b.deaf = true;
    sends(&a, 60);
    now = run_both(&a, &b, now, 200 * MS);
    b.deaf = false;
    uint32_t lost = a.owner.sent.frames - 10;
    sends(&a, 90);
    run_both(&a, &b, now, 2000 * MS);
    assert_int_equal(a.owner.sent.frames, 160);
    assert_int_equal(b.owner.delivered, 160 - lost);
    assert_int_equal(b.credit.missing, 1);
    close_end(&a);
    close_end(&b);
}

/* So many frames of the least size are on the way that a tap device holds them, and of large ones what
 * fills its memory's window. */
static void a_short_frame_counts_for_more(void **state)
{
    (void)state;
    struct end a, b;
    open_ends(&a, &b);
    a.owner.port.settings.pfc_tx = b.owner.port.settings.pfc_tx = 0;
    b.owner.port.settings.pause_tx = false;
    sends(&a, 10);
    uint64_t now = run_both(&a, &b, 2000 * MS, 200 * MS);
    b.deaf = true;
    uint32_t before = a.owner.sent.frames;
    for (int i = 0; i < 2000; i++)
        vcx_port_send(&a.owner.port, tagged(64, 0), 0);
    run_both(&a, &b, now, 2000 * MS);
    assert_in_range(a.owner.sent.frames - before, 900, 960);
    close_end(&a);
    close_end(&b);
}

/* As on cards back to back; a notice that is lost is told again, or asked for. */
static void the_other_end_hears_of_a_closed_port(void **state)
{
    (void)state;
    struct end a, b;
    open_ends(&a, &b);
    uint64_t now = run_both(&a, &b, MS, 100 * MS);
    for (int deaf = 0; deaf < 2; deaf++) {
        a.owner.port.settings.admin_up = false;
        b.deaf = deaf;
        now = run_both(&a, &b, now, 50 * MS);
        assert_int_equal(b.credit.peer_closed, !deaf);
        b.deaf = false;
        now = run_both(&a, &b, now, 300 * MS);
        assert_true(b.credit.peer_closed && !a.credit.peer_closed);
        b.deaf = deaf;
        a.owner.port.settings.admin_up = true;
        now = run_both(&a, &b, now, 50 * MS);
        assert_int_equal(b.credit.peer_closed, deaf);
        b.deaf = false;
        now = run_both(&a, &b, now, 1200 * MS);
        assert_true(!b.credit.peer_closed);
    }
    a.owner.port.flapping = true;
    run_both(&a, &b, now, 50 * MS);
    assert_true(b.credit.peer_closed);
    close_end(&a);
    close_end(&b);
}

static void bad_headers_do_nothing(void **state)
{
    (void)state;
    struct vcx_credit a, b;
    uint8_t header[VCX_CREDIT_BYTES];
    vcx_credit_start(&a, 1);
    vcx_credit_start(&b, 0);
    assert_int_equal(b.epoch, 1);
    vcx_credit_write(&a, VCX_CREDIT_FRAME, 100, 1000, header);
    header[0] = 9;
    assert_int_equal(vcx_credit_take(&b, header, 100), VCX_CREDIT_BAD);
    vcx_credit_write(&a, VCX_CREDIT_BAD, 0, 1000, header);
    assert_int_equal(vcx_credit_take(&b, header, 0), VCX_CREDIT_BAD);
    vcx_credit_write(&a, VCX_CREDIT_FRAME, 100, 1000, header);
    memset(header + 4, 0, 4);
    assert_int_equal(vcx_credit_take(&b, header, 100), VCX_CREDIT_BAD);
    assert_false(b.heard);
    /* an acknowledgement of what was never sent */
    b.epoch = 5;
    a.peer_epoch = 5;
    a.taken = 7;
    vcx_credit_write(&a, VCX_CREDIT_STATE, 0, 1000, header);
    assert_int_equal(vcx_credit_take(&b, header, 0), VCX_CREDIT_STATE);
    assert_false(b.heard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_while_machines_stand_still),
        cmocka_unit_test(without_credits_frames_are_lost),
        cmocka_unit_test(a_lossy_priority_is_not_held),
        cmocka_unit_test(an_end_comes_back),
        cmocka_unit_test(an_end_goes_for_good),
        cmocka_unit_test(lost_frames_are_gaps),
        cmocka_unit_test(a_short_frame_counts_for_more),
        cmocka_unit_test(the_other_end_hears_of_a_closed_port),
        cmocka_unit_test(bad_headers_do_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
