/* Faults between two NICs, as a laboratory measured them on ConnectX-5 and ConnectX-6
 * (unionxic/rdma-fault-characterization, 2026; rows S-4 to S-12 of tests/data/silicon/rows.tsv): what
 * completions, counters, events and queue pairs say and when, beside what they said there.
 *
 *     fault_rows DEVICE             waits for the other one (port 18590)
 *     fault_rows DEVICE ADDRESS     makes the faults, and prints a line for each: "ok" or "differs", row,
 *                                   what was seen, what was measured
 *
 * Only the kernel's driver, libibverbs and libmlx5 are used; of a virtual ConnectX also its debugfs, where
 * both programs set how many times longer than on a card time-outs are, and ROCE_ACCL. */
#include "tests/e2e/guests/fault_rows.h"
#include <endian.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- requests written by hand, with a record of their own: the queue's memory and doorbell as libmlx5 shows
 * them */

struct raw {
    struct mlx5dv_qp qp;
    struct mlx5dv_cq cq;
    uint32_t taken;
};

static void open_raw(struct end *e, struct raw *r)
{
    struct mlx5dv_obj objects = {.qp = {e->qp, &r->qp}, .cq = {e->cq, &r->cq}};
    memset(r, 0, sizeof *r);
    if (mlx5dv_init_obj(&objects, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ))
        fail("mlx5dv");
}

static struct mlx5_wqe_ctrl_seg *put(struct end *e, struct raw *r, const struct told *peer, uint16_t index,
                                     uint32_t rkey)
{
    uint8_t *wqe = (uint8_t *)r->qp.sq.buf + (size_t)(index % r->qp.sq.wqe_cnt) * r->qp.sq.stride;
    struct mlx5_wqe_ctrl_seg *control = (void *)wqe;
    mlx5dv_set_ctrl_seg(control, index, MLX5_OPCODE_RDMA_WRITE, 0, e->qp->qp_num, MLX5_WQE_CTRL_CQ_UPDATE, 3,
                        0, 0);
    struct mlx5_wqe_raddr_seg *remote = (void *)(wqe + 16);
    *remote = (struct mlx5_wqe_raddr_seg){.raddr = htobe64(peer->address), .rkey = htobe32(rkey)};
    mlx5dv_set_data_seg((void *)(wqe + 32), 64, e->mr->lkey, (uintptr_t)e->memory);
    return control;
}

static void ring(struct raw *r, uint16_t record, const struct mlx5_wqe_ctrl_seg *last)
{
    uint64_t word;
    memcpy(&word, last, sizeof word);
    __sync_synchronize();
    *(volatile __be32 *)&r->qp.dbrec[MLX5_SND_DBR] = htobe32(record);
    __sync_synchronize();
    *(volatile uint64_t *)r->qp.bf.reg = word;
    __sync_synchronize();
}

/* The next completion, or NULL after `ms`. */
static const uint8_t *next_raw(struct raw *r, int ms)
{
    for (; ms >= 0; ms--) {
        const volatile uint8_t *cqe = (const uint8_t *)r->cq.buf +
                                      (size_t)(r->taken % r->cq.cqe_cnt) * r->cq.cqe_size +
                                      (r->cq.cqe_size - 64);
        if (cqe[63] >> 4 != MLX5_CQE_INVALID && (cqe[63] & 1) == !!(r->taken & r->cq.cqe_cnt)) {
            r->taken++;
            r->cq.dbrec[0] = htobe32(r->taken & 0xffffff);
            return (const uint8_t *)(uintptr_t)cqe;
        }
        usleep(1000);
    }
    return NULL;
}

/* ---- what was seen */

struct seen {
    int status, vendor, errors;
    bool in_order; /* nothing but the cause, then flushes with 0xf9 */
    int state;
    uint32_t psn;
    double ms; /* of a timed row, in a card's time */
    int successes;
};

/* Asynchronous events of a device, as they came. */
struct events {
    int count, type[4];
};

static struct events take_events(struct end *e)
{
    struct events seen = {0};
    struct ibv_async_event event;
    while (ibv_get_async_event(e->context, &event) == 0) {
        if (seen.count < 4)
            seen.type[seen.count++] = (int)event.event_type;
        ibv_ack_async_event(&event);
    }
    return seen;
}

static int status_of(int syndrome)
{
    return syndrome == MLX5_CQE_SYNDROME_WR_FLUSH_ERR        ? 5
           : syndrome == MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR ? 10
                                                             : -1;
}

static void note(struct seen *s, int status, int vendor, bool expected_place)
{
    if (s->errors++ == 0) {
        s->status = status;
        s->vendor = vendor;
    } else if (status != 5 || vendor != 0xf9) {
        s->in_order = false;
    }
    s->in_order &= expected_place;
}

static void run_raw(struct end *e, const struct row *row, const struct told *peer, struct seen *s)
{
    struct raw r;
    const uint8_t *cqe;
    struct mlx5_wqe_ctrl_seg *last = NULL;
    int first = row->kind == OWN_ERROR ? DONE : BAD, posted = row->posted ? row->posted : POSTED;
    open_raw(e, &r);
    for (int i = 0; i < DONE; i++)
        last = put(e, &r, peer, (uint16_t)i, peer->rkey);
    ring(&r, DONE, last);
    for (int i = 0; i < DONE; i++)
        if (!(cqe = next_raw(&r, WAIT_MS)) || cqe[63] >> 4 != MLX5_CQE_REQ)
            s->in_order = false;
    if (row->kind == OWN_ERROR)
        modify(e, (struct ibv_qp_attr){.qp_state = IBV_QPS_ERR}, 0);
    for (int i = DONE; i < posted; i++)
        last = put(e, &r, peer, (uint16_t)i,
                   row->kind == BAD_AMONG && i == BAD ? peer->rkey ^ 0x100 : peer->rkey);
    ring(&r, (uint16_t)row->record, last);
    for (int i = DONE; i < first; i++)
        if (!(cqe = next_raw(&r, WAIT_MS)) || cqe[63] >> 4 != MLX5_CQE_REQ)
            s->in_order = false;
    for (int i = first; (cqe = next_raw(&r, i < row->record ? WAIT_MS : SETTLE_MS)); i++)
        note(s, status_of(cqe[55]), cqe[54], cqe[60] << 8 | (cqe[61] == i));
    for (int i = 0; row->record <= first && i < WAIT_MS && s->state != IBV_QPS_ERR; i += 10, usleep(10000))
        s->state = state_of(e, &s->psn);
    /* raised without a doorbell: the missing ones follow */
    *(volatile __be32 *)&r.qp.dbrec[MLX5_SND_DBR] = htobe32((uint32_t)posted);
    int missing = posted - (row->record > first ? row->record : first), followed = 0;
    while (next_raw(&r, followed < missing ? WAIT_MS : SETTLE_MS))
        followed++;
    s->in_order &= followed == missing;
}

static void take_completions(struct end *e, const struct row *row, struct seen *s)
{
    for (int quiet = 0;
         quiet < (s->errors + s->successes < row->errors + row->successes ? WAIT_MS : SETTLE_MS);) {
        struct ibv_wc wc;
        if (ibv_poll_cq(e->cq, 1, &wc) != 1) {
            usleep(1000);
            quiet++;
            continue;
        }
        quiet = 0;
        if (wc.status == IBV_WC_SUCCESS)
            s->successes++;
        else
            note(s, (int)wc.status, (int)wc.vendor_err, wc.wr_id == (uint64_t)s->errors);
    }
}

/* Nobody looks at the completion queue until it has overrun, and until the last request was carried out. */
static void run_overrun(struct end *e, const struct row *row, const struct told *peer, struct seen *s)
{
    struct ibv_sge sge = {(uintptr_t)e->memory, 64, e->mr->lkey};
    struct ibv_send_wr *bad, wr = {.sg_list = &sge,
                                   .num_sge = 1,
                                   .opcode = WRITE,
                                   .send_flags = IBV_SEND_SIGNALED,
                                   .wr.rdma = {peer->address, peer->rkey}};
    for (int i = 0; i < POSTED; i++)
        if (ibv_post_send(e->qp, &wr, &bad))
            fail("post");
    for (int i = 0; i < WAIT_MS && s->state != IBV_QPS_ERR; i += 10, usleep(10000))
        s->state = state_of(e, &s->psn);
    take_completions(e, row, s);
}

static void run_datagram(struct end *e, const struct row *row, const struct told *peer)
{
    struct ibv_ah_attr way = {
        .is_global = 1,
        .port_num = 1,
        .grh = {.dgid = peer->gid, .sgid_index = GID, .hop_limit = 4, .traffic_class = (uint8_t)row->tos}};
    struct ibv_sge sge = {(uintptr_t)e->memory, 64, e->mr->lkey};
    struct ibv_send_wr *bad, wr = {.sg_list = &sge,
                                   .num_sge = 1,
                                   .opcode = IBV_WR_SEND,
                                   .wr.ud = {must(ibv_create_ah(e->pd, &way), "way"), peer->qpn, QKEY}};
    if (ibv_post_send(e->qp, &wr, &bad))
        fail("post");
    usleep(SETTLE_MS * 1000);
    ibv_destroy_ah(wr.wr.ud.ah);
}

static void run_verbs(struct end *e, const struct row *row, const struct told *peer, struct seen *s)
{
    struct ibv_mr *read_only = must(ibv_reg_mr(e->pd, e->memory, BYTES, 0), "registration");
    if (row->local_error)
        modify(e, (struct ibv_qp_attr){.qp_state = IBV_QPS_ERR}, 0);
    struct ibv_sge sge[REQUESTS];
    struct ibv_send_wr wr[REQUESTS], *bad;
    for (int i = 0; i < REQUESTS; i++) {
        bool faulty = i == 0;
        sge[i] = (struct ibv_sge){(uintptr_t)e->memory + (uint64_t)(faulty ? row->from : 0),
                                  (uint32_t)(faulty ? row->bytes : 64),
                                  faulty && row->bad_lkey    ? e->mr->lkey ^ 0x100
                                  : faulty && row->read_only ? read_only->lkey
                                                             : e->mr->lkey};
        wr[i] = (struct ibv_send_wr){.wr_id = (uint64_t)i,
                                     .next = i + 1 < REQUESTS ? &wr[i + 1] : NULL,
                                     .sg_list = &sge[i],
                                     .num_sge = 1,
                                     .opcode = faulty ? row->opcode : WRITE,
                                     .send_flags = i & 1 ? 0 : IBV_SEND_SIGNALED};
        uint32_t rkey = faulty && row->bad_rkey ? peer->rkey ^ 0x100 : peer->rkey;
        uint64_t address = peer->address + (uint64_t)(faulty ? row->to : 0);
        if (faulty && row->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
            wr[i].wr.atomic.remote_addr = address;
            wr[i].wr.atomic.rkey = rkey;
        } else {
            wr[i].wr.rdma.remote_addr = address;
            wr[i].wr.rdma.rkey = rkey;
        }
    }
    if (ibv_post_send(e->qp, wr, &bad))
        fail("post");
    take_completions(e, row, s);
    if (ibv_dereg_mr(read_only))
        fail("registration's end");
}

/* ---- times */

static unsigned scale_of(const struct end *e, const struct row *row)
{
    return e->is_card ? 1 : row->options.scale;
}

static void write_to_debugfs(const char *file, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", virtual_folder, file);
    FILE *f = must(fopen(path, "w"), path);
    if (fputs(text, f) < 0 || fclose(f))
        fail(path);
}

static void set_times(const struct end *e, const struct row *row)
{
    char scale[20];
    snprintf(scale, sizeof scale, "%u", row->options.scale);
    if (e->is_card)
        return;
    write_to_debugfs("timeout_scale", scale);
    write_to_debugfs("roce_accl",
                     row->no_floor ? "min_ack_timeout_limit_disabled 1" : "min_ack_timeout_limit_disabled 0");
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* One request, until it completes. */
static void run_timed(struct end *e, const struct row *row, const struct told *peer, struct seen *s)
{
    struct ibv_sge sge = {(uintptr_t)e->memory, 64, e->mr->lkey};
    struct ibv_send_wr *bad, wr = {.sg_list = &sge,
                                   .num_sge = 1,
                                   .opcode = row->opcode,
                                   .send_flags = IBV_SEND_SIGNALED,
                                   .wr.rdma = {peer->address, peer->rkey}};
    struct ibv_wc wc;
    double begin = now_ms(), end = begin + row->most_ms * scale_of(e, row) + WAIT_MS;
    if (ibv_post_send(e->qp, &wr, &bad))
        fail("post");
    s->status = -1;
    while (s->status < 0 && now_ms() < end) {
        if (ibv_poll_cq(e->cq, 1, &wc) == 1) {
            s->status = (int)wc.status;
            s->vendor = wc.status ? (int)wc.vendor_err : 0;
            s->ms = (now_ms() - begin) / scale_of(e, row);
        } else {
            usleep(1000);
        }
    }
}

static bool line(bool ok, const char *id, const char *what, const char *measured, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
static bool line(bool ok, const char *id, const char *what, const char *measured, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("%s\t%s\t%s\t", ok ? "ok" : "differs", id, what);
    vprintf(format, list);
    printf("\t%s\n", measured);
    va_end(list);
    return ok;
}

/* Frames, time-outs and notifications belong together: each resend is a frame more than the first, and one
 * notification that the requester makes for itself. */
static bool judge_timed(struct end *e, const struct row *row, const struct seen *s,
                        const uint64_t *peer_moved)
{
    unsigned moved[OF_TIMED_ROWS];
    for (int i = 0; i < OF_TIMED_ROWS; i++)
        moved[i] = (unsigned)(e->moved[i] - e->before[i]);
    unsigned resends = moved[FRAMES] - 1;
    bool counts = moved[TIMEOUTS] == row->timeouts && moved[ADAPTIVE] >= row->adaptive_least &&
                  moved[ADAPTIVE] <= row->adaptive_most;
    bool ok = s->status == row->status && s->vendor == row->vendor && s->ms >= row->least_ms &&
              s->ms <= row->most_ms + (double)LATE_MS / scale_of(e, row) && counts;
    char first[40] = "completes";
    if (s->status)
        snprintf(first, sizeof first, "%d/0x%02x", s->status, (unsigned)s->vendor);
    ok = line(ok, row->id, row->what, row->measured,
              "%s after %.4g ms (%u times slower), %u time-outs, %u adaptive", first, s->ms, scale_of(e, row),
              moved[TIMEOUTS], moved[ADAPTIVE]);
    if (strcmp(row->id, "S-7.01") != 0)
        return ok;
    ok &= line(counts && e->moved[OF_TIMED_ROWS] == e->before[OF_TIMED_ROWS] + 1, "S-6.13", row->what,
               "6 time-outs; 4 to 7 adaptive", "%u time-outs, %u adaptive, `req_cqe_error` +%llu",
               moved[TIMEOUTS], moved[ADAPTIVE],
               (unsigned long long)(e->moved[OF_TIMED_ROWS] - e->before[OF_TIMED_ROWS]));
    ok &= line(moved[HANDLED] == resends && moved[RESTARTS] == resends &&
                   resends == moved[TIMEOUTS] + moved[ADAPTIVE] - 1,
               "S-4.07", row->what, "as many as resends",
               "as many as resends: `rp_cnp_handled` +%u, `roce_slow_restart_cnps` +%u, %u frames",
               moved[HANDLED], moved[RESTARTS], moved[FRAMES]);
    ok &= line(!moved[SENT], "S-4.08", row->what, "`np_cnp_sent` +0", "`np_cnp_sent` +%u", moved[SENT]);
    return line(!peer_moved[FRAMES], "S-6.16", row->what, "0 frames", "%llu frames of the peer",
                (unsigned long long)peer_moved[FRAMES]) &&
           ok;
}

/* ---- the two programs */

static void pass(int fd, void *data, size_t bytes, bool out)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n =
            out ? write(fd, (char *)data + done, bytes - done) : read(fd, (char *)data + done, bytes - done);
        if (n <= 0)
            fail("the other program");
        done += (size_t)n;
    }
}

/* What the responder saw. */
struct answer {
    int state, placed, tos;
    struct events events;
    uint64_t moved[NAMES];
};

static void post_receive(struct end *e)
{
    struct ibv_sge sge = {(uintptr_t)e->memory, BYTES, e->mr->lkey};
    struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};
    if (ibv_post_recv(e->qp, &wr, &bad))
        fail("receive");
}

/* A datagram's network header lies before its data: that of IPv4 at the end of the place. -1: none came. */
static int tos_of_datagram(struct end *e)
{
    struct ibv_wc wc;
    for (int i = 0; i < WAIT_MS; i++, usleep(1000))
        if (ibv_poll_cq(e->cq, 1, &wc) == 1)
            return wc.status == IBV_WC_SUCCESS ? e->memory[GRH - IPV4 + 1] : -1;
    return -1;
}

static void prepare(struct end *e, const struct row *row, int fd, struct told *peer, bool responder)
{
    set_times(e, row);
    make(e, &row->options, responder);
    struct told own = told_of(e);
    pass(fd, &own, sizeof own, true);
    pass(fd, peer, sizeof *peer, false);
    if (row->options.datagrams)
        start_datagrams(e);
    else
        initialize(e, &row->options, responder);
    if (!row->options.datagrams && (!responder || row->peer != LATE))
        receive_from(e, peer, &row->options);
    if (!row->options.datagrams && (!responder || (row->peer != LATE && row->peer != RECEIVES)))
        send_to_peer(e, &row->options);
    if (responder && (row->peer == SILENT || row->peer == RESET))
        modify(e, (struct ibv_qp_attr){.qp_state = row->peer == SILENT ? IBV_QPS_ERR : IBV_QPS_RESET}, 0);
    if (responder && row->peer == DESTROYED) {
        if (ibv_destroy_qp(e->qp))
            fail("queue pair's end");
        e->qp = NULL;
    }
    if (responder && row->peer == DEREGISTERED) {
        if (ibv_dereg_mr(e->mr))
            fail("registration's end");
        e->mr = NULL;
    }
    if (responder && row->kind == DATAGRAM)
        post_receive(e);
    take_events(e); /* of earlier rows */
    read_counters(e->device, e->before);
    char ready = 1;
    pass(fd, &ready, 1, true);
    pass(fd, &ready, 1, false);
}

static void respond(struct end *e, const struct row *row, int fd)
{
    struct told peer;
    struct answer a = {0};
    uint32_t psn;
    char done;
    prepare(e, row, fd, &peer, true);
    if (row->peer == LATE) {
        usleep(1250000 * scale_of(e, row));
        receive_from(e, &peer, &row->options);
    }
    pass(fd, &done, 1, false);
    if (row->kind == DATAGRAM)
        a.tos = tos_of_datagram(e);
    read_counters(e->device, e->moved);
    for (int i = 0; i < NAMES; i++)
        a.moved[i] = e->moved[i] - e->before[i];
    a.state = e->qp ? state_of(e, &psn) : -1;
    a.events = take_events(e);
    while (a.placed < BYTES && e->memory[a.placed])
        a.placed++;
    for (int i = a.placed; i < BYTES; i++)
        if (e->memory[i])
            a.placed = -2; /* elsewhere */
    pass(fd, &a, sizeof a, true);
    unmake(e);
}

static bool is_in(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

static bool is_shown(const char *device, int which)
{
    char path[200];
    name_counter(device, which, path, sizeof path);
    return access(path, R_OK) == 0;
}

/* ---- a line of the table */

struct text {
    char line[1000];
    size_t length;
};

static void text_append(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(t->line + t->length, sizeof t->line - t->length, format, list);
    va_end(list);
    if (n > 0 && t->length + (size_t)n < sizeof t->line)
        t->length += (size_t)n;
}

static const char *state_name(int state)
{
    static const char *const names_of[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
    return state >= 0 && state <= IBV_QPS_ERR ? names_of[state] : "gone";
}

static void say_events(struct text *t, const char *who, const struct events *events)
{
    for (int i = 0; i < events->count; i++)
        text_append(t, "%s%s", i ? ", " : who, ibv_event_type_str((enum ibv_event_type)events->type[i]));
}

/* What was measured, and what is said first of what was seen: the same where the row holds. */
static void say_measured(struct text *t, const struct row *row)
{
    if (row->kind == DATAGRAM)
        text_append(t, "%d", row->tos_seen);
    else if (row->event)
        text_append(t, "%s",
                    row->event == NO_EVENT ? "no event"
                                           : ibv_event_type_str((enum ibv_event_type)row->event));
    else if (row->id[0] == '-')
        text_append(t, "not measured");
    else if (row->errors)
        text_append(t, "%d/0x%02x, %d", row->status, (unsigned)row->vendor, row->errors);
    else
        text_append(t, "none");
}

static void say_seen(struct text *t, const struct row *row, const struct seen *s, const struct answer *a)
{
    if (row->kind == DATAGRAM) {
        text_append(t, "%d on the wire", a->tos);
        return;
    }
    if (row->event)
        text_append(t, "%s; ",
                    a->events.count ? ibv_event_type_str((enum ibv_event_type)a->events.type[0])
                                    : "no event");
    if (s->errors)
        text_append(t, "%d/0x%02x, %d error completion%s", s->status, (unsigned)s->vendor, s->errors,
                    s->errors > 1 ? "s" : "");
    else
        text_append(t, row->kind == OVERRUN ? "%d completions" : "no error completion", s->successes);
    text_append(t, "%s, requester %s, responder %s", s->in_order ? "" : " out of order", state_name(s->state),
                state_name(a->state));
    if (row->placed >= 0)
        text_append(t, ", %d B placed", a->placed);
    if (row->kind != OVERRUN)
        text_append(t, ", `sq_psn` +%d", (int)s->psn - 100);
}

static bool events_hold(const struct row *row, const struct events *own, const struct events *peers)
{
    if (row->kind == OVERRUN)
        return own->count == 2 && own->type[0] == IBV_EVENT_CQ_ERR && own->type[1] == IBV_EVENT_QP_FATAL;
    if (row->event == NO_EVENT)
        return peers->count == 0;
    return !row->event || (peers->count == 1 && peers->type[0] == row->event);
}

static bool request(struct end *e, const struct row *row, int fd)
{
    struct told peer;
    struct answer a;
    struct seen s = {.in_order = true};
    struct text seen = {.length = 0}, measured = {.length = 0}, moved = {.length = 0};
    char done = 1;
    prepare(e, row, fd, &peer, false);
    if (row->kind == TIMED)
        run_timed(e, row, &peer, &s);
    else if (row->kind == VERBS)
        run_verbs(e, row, &peer, &s);
    else if (row->kind == OVERRUN)
        run_overrun(e, row, &peer, &s);
    else if (row->kind == DATAGRAM)
        run_datagram(e, row, &peer);
    else
        run_raw(e, row, &peer, &s);
    s.state = state_of(e, &s.psn);
    read_counters(e->device, e->moved);
    struct events own = take_events(e);
    pass(fd, &done, 1, true);
    pass(fd, &a, sizeof a, false);
    if (row->kind == TIMED) {
        unmake(e);
        return judge_timed(e, row, &s, a.moved);
    }
    bool ok = s.in_order && s.errors == row->errors && s.status == row->status && s.vendor == row->vendor &&
              (!row->successes || s.successes == row->successes) &&
              s.state == (row->kind == DATAGRAM ? IBV_QPS_RTS : IBV_QPS_ERR) &&
              (a.state == IBV_QPS_ERR) == row->peer_in_error &&
              (row->placed < 0 || a.placed == row->placed) && events_hold(row, &own, &a.events) &&
              a.tos == row->tos_seen;
    if (row->placed >= 0 && row->peer_in_error && row->peer == USUAL_PEER)
        ok &= s.psn == 100 + (uint32_t)row->placed / MTU;
    for (int i = OF_TIMED_ROWS; i < NAMES && row->counters; i++) {
        uint64_t by = i < OF_REQUESTER ? e->moved[i] - e->before[i] : a.moved[i];
        /* of what the peer took before a local fault nothing was measured */
        bool counts = strcmp(names[i], "rx_write_requests") != 0 || row->peer_in_error;
        ok &= !counts || !is_shown(e->device, i) || by == is_in(row->counters, names[i]);
        if (by && counts)
            text_append(&moved, "%s `%s` +%llu", moved.length ? "" : ",", names[i], (unsigned long long)by);
    }
    say_measured(&measured, row);
    say_seen(&seen, row, &s, &a);
    say_events(&moved, ", events: ", &own);
    if (!row->event)
        say_events(&moved, ", responder's event: ", &a.events);
    line(ok, row->id, row->what, measured.line, "%s%s", seen.line, moved.line);
    unmake(e);
    return ok;
}

static int listen_for_one(void)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
    int one = 1, fd = socket(AF_INET6, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&any, sizeof any) || listen(fd, 1))
        fail("listen");
    puts("waits");
    int peer = accept(fd, NULL, NULL);
    close(fd);
    return peer;
}

static int call(const char *address)
{
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM};
    if (getaddrinfo(address, "18590", &hints, &found))
        fail(address);
    int fd = socket(found->ai_family, SOCK_STREAM, 0);
    if (connect(fd, found->ai_addr, found->ai_addrlen))
        fail(address);
    freeaddrinfo(found);
    return fd;
}

int main(int count, char **arguments)
{
    struct end e;
    bool all = true;
    setlinebuf(stdout);
    if (count < 2)
        return 2;
    open_end(&e, arguments[1]);
    e.is_card = access(virtual_folder, F_OK) != 0;
    int fd = count > 2 ? call(arguments[2]) : listen_for_one();
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].no_floor && e.is_card)
            continue; /* another program has to set its ROCE_ACCL */
        if (count > 2)
            all &= request(&e, &rows[i], fd);
        else
            respond(&e, &rows[i], fd);
    }
    return !all;
}
