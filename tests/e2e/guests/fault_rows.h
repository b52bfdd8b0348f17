/* What fault_rows.c works with: counters of the port, one end of a connection, and the rows: faults, and what
 * was measured of them. */
#ifndef FAULT_ROWS_H
#define FAULT_ROWS_H

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PORT = 18590,
    GID = 1,
    MTU = 1024,
    BYTES = 65536,
    DEPTH = 64,
    WAIT_MS = 20000,
    SETTLE_MS = 300,
    LATE_MS = 500, /* that a guest may notice something later than it was */
    REQUESTS = 8,
    QKEY = 0x11111111,
    GRH = 40,
    IPV4 = 20
};

static const char virtual_folder[] = "/sys/kernel/debug/virtual-connectx/0";

static inline void fail(const char *what)
{
    perror(what);
    exit(2);
}

static inline void *must(void *object, const char *what)
{
    if (!object)
        fail(what);
    return object;
}

/* ---- counters of the port, by name: what mlx5_ib shows */

static const char *const names[] = {"local_ack_timeout_err",
                                    "roce_adp_retrans",
                                    "roce_slow_restart_cnps",
                                    "rp_cnp_handled",
                                    "np_cnp_sent",
                                    "port_xmit_packets",
                                    "req_cqe_error",
                                    "req_cqe_flush_error",
                                    "req_remote_invalid_request",
                                    "req_remote_access_errors",
                                    "rnr_nak_retry_err",
                                    "req_rnr_retries_exceeded",
                                    "req_transport_retries_exceeded",
                                    "rx_write_requests",
                                    "rx_read_requests",
                                    "rx_atomic_requests",
                                    "out_of_buffer",
                                    "resp_cqe_error",
                                    "resp_remote_access_errors",
                                    "resp_remote_invalid_request"};
enum { TIMEOUTS, ADAPTIVE, RESTARTS, HANDLED, SENT, FRAMES, OF_TIMED_ROWS, OF_REQUESTER = 13 };
enum { NAMES = sizeof names / sizeof *names };

static inline void name_counter(const char *device, int which, char *path, size_t room)
{
    snprintf(path, room, "/sys/class/infiniband/%s/ports/1/%s/%s", device,
             which == FRAMES ? "counters" : "hw_counters", names[which]);
}

static inline void read_counters(const char *device, uint64_t *values)
{
    struct timespec lifespan = {0, 30000000}; /* the kernel keeps them for 10 ms */
    nanosleep(&lifespan, NULL);
    for (int i = 0; i < NAMES; i++) {
        char path[200];
        unsigned long long value = 0; /* also of one that the driver does not show */
        name_counter(device, i, path, sizeof path);
        FILE *f = fopen(path, "r");
        if (f && fscanf(f, "%llu", &value) != 1)
            value = 0;
        if (f)
            fclose(f);
        values[i] = value;
    }
}

/* ---- one end of a connection */

struct end {
    const char *device;
    bool is_card;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint8_t *memory;
    uint64_t before[NAMES], moved[NAMES];
};

/* What one tells the other. */
struct told {
    union ibv_gid gid;
    uint32_t qpn, rkey;
    uint64_t address;
};

/* How a connection differs from the usual one. */
struct options {
    int allows;     /* the responder's queue pair */
    int registered; /* the responder's first bytes; 0: all */
    int rnr_retry;
    /* of a timed row: how many times longer than on a card time-outs are */
    unsigned scale;
    int timeout, retries, rnr_timer;
    int entries; /* of the completion queue; 0: enough */
    bool datagrams;
};

static inline void open_end(struct end *e, const char *device)
{
    struct ibv_device **list = must(ibv_get_device_list(NULL), "devices");
    memset(e, 0, sizeof *e);
    e->device = device;
    for (; *list && !e->context; list++)
        if (strcmp(ibv_get_device_name(*list), device) == 0)
            e->context = ibv_open_device(*list);
    must(e->context, device);
    if (fcntl(e->context->async_fd, F_SETFL, O_NONBLOCK))
        fail("events");
    e->pd = must(ibv_alloc_pd(e->context), "protection domain");
    e->memory = must(aligned_alloc(4096, BYTES), "memory");
}

static inline void make(struct end *e, const struct options *o, bool responder)
{
    memset(e->memory, responder ? 0 : 0x5a, BYTES);
    /* libmlx5 makes room for one more, and rounds up */
    e->cq = must(ibv_create_cq(e->context, o->entries ? o->entries - 1 : 2 * DEPTH, NULL, NULL, 0),
                 "completion queue");
    struct ibv_qp_init_attr init = {.send_cq = e->cq,
                                    .recv_cq = e->cq,
                                    .qp_type = o->datagrams ? IBV_QPT_UD : IBV_QPT_RC,
                                    .cap = {DEPTH, DEPTH, 1, 1, 0}};
    e->qp = must(ibv_create_qp(e->pd, &init), "queue pair");
    e->mr = must(ibv_reg_mr(e->pd, e->memory, (size_t)(responder && o->registered ? o->registered : BYTES),
                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                IBV_ACCESS_REMOTE_ATOMIC),
                 "registration");
}

static inline void modify(struct end *e, struct ibv_qp_attr attr, int mask)
{
    if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | mask))
        fail("queue pair's state");
}

static inline struct told told_of(struct end *e)
{
    struct told t = {.qpn = e->qp->qp_num, .rkey = e->mr->rkey, .address = (uintptr_t)e->memory};
    if (ibv_query_gid(e->context, 1, GID, &t.gid))
        fail("GID");
    return t;
}

static inline void start_datagrams(struct end *e)
{
    modify(e, (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY},
           IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    modify(e, (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR}, 0);
    modify(e, (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS}, IBV_QP_SQ_PSN);
}

static inline void initialize(struct end *e, const struct options *o, bool responder)
{
    modify(e,
           (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT,
                                .port_num = 1,
                                .qp_access_flags = (unsigned)(responder ? o->allows : 0)},
           IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static inline void receive_from(struct end *e, const struct told *peer, const struct options *o)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = IBV_MTU_1024,
                               .dest_qp_num = peer->qpn,
                               .rq_psn = 100,
                               .max_dest_rd_atomic = 4,
                               .min_rnr_timer = (uint8_t)(o->rnr_timer ? o->rnr_timer : 1),
                               .ah_attr = {.is_global = 1,
                                           .port_num = 1,
                                           .grh = {.dgid = peer->gid, .sgid_index = GID, .hop_limit = 4}}};
    modify(e, attr,
           IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
               IBV_QP_MIN_RNR_TIMER);
}

static inline void send_to_peer(struct end *e, const struct options *o)
{
    modify(e,
           (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .timeout = (uint8_t)(o->timeout ? o->timeout : 1),
                                .retry_cnt = (uint8_t)(o->scale ? o->retries : 1),
                                .rnr_retry = (uint8_t)o->rnr_retry,
                                .sq_psn = 100,
                                .max_rd_atomic = 4},
           IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static inline int state_of(struct end *e, uint32_t *psn)
{
    struct ibv_qp_attr attr = {0};
    struct ibv_qp_init_attr init;
    if (ibv_query_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN, &init))
        fail("query");
    *psn = attr.sq_psn;
    return (int)attr.qp_state;
}

static inline void unmake(struct end *e)
{
    if ((e->qp && ibv_destroy_qp(e->qp)) || ibv_destroy_cq(e->cq) || (e->mr && ibv_dereg_mr(e->mr)))
        fail("end");
}

/* ---- the rows */

enum kind { VERBS, OWN_ERROR, BAD_AMONG, TIMED, OVERRUN, DATAGRAM };
/* The responder's queue pair: for 1250 ms of a card's LATE is not ready for packets. DEREGISTERED: its
 * memory. */
enum peer { USUAL_PEER, SILENT, DESTROYED, RESET, RECEIVES, LATE, DEREGISTERED };

struct row {
    const char *id, *what;
    enum kind kind;
    struct options options;
    /* VERBS: the first of REQUESTS; TIMED: the only one */
    enum ibv_wr_opcode opcode;
    int bytes;
    int from;   /* offset in the own memory; what lies behind its end is not registered */
    int to;     /* offset in the peer's */
    int record; /* of the others: the doorbell record; DONE are complete, `posted` (0: POSTED) posted */
    int posted;
    int tos; /* DATAGRAM */
    enum peer peer;
    /* as measured */
    int status, vendor, errors; /* error completions, the cause or first flush among them */
    int placed;                 /* bytes at the peer; -1: not looked at */
    int successes;              /* of the signalled */
    int event; /* of the responder (enum ibv_event_type); NO_EVENT: none; 0: nothing was measured */
    int tos_seen;
    unsigned timeouts, adaptive_least, adaptive_most; /* of a timed row */
    const char *counters;                             /* that moved by one */
    /* of a timed row, in a card's time: from the post to the completion */
    const char *measured;
    double least_ms, most_ms;
    bool bad_lkey, bad_rkey, read_only, local_error, no_floor, peer_in_error;
};
enum { NO_EVENT = -1 };
enum { DONE = 8, BAD = 16, POSTED = 24, ENTRIES = 16 };

#define ALL \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define USUAL                         \
    {                                 \
        .allows = ALL, .rnr_retry = 7 \
    }
#define TIMES(times, code, count)                                                              \
    {                                                                                          \
        .allows = ALL, .rnr_retry = 7, .scale = (times), .timeout = (code), .retries = (count) \
    }
#define WRITE  IBV_WR_RDMA_WRITE
#define ACCESS "req_cqe_error req_remote_access_errors"

static const struct row rows[] = {
    {"S-8.01", "SGE longer than its MR", VERBS, USUAL, WRITE, 8192, BYTES - 4096, 0, .status = 4,
     .vendor = 0x53, .errors = 8, .counters = "req_cqe_error", .placed = 4096},
    {"S-8.02", "bad lkey", VERBS, USUAL, WRITE, 64, .bad_lkey = true, .status = 4, .vendor = 0x52,
     .errors = 8, .counters = "req_cqe_error", .placed = 0},
    {"S-8.03", "READ into an MR without LOCAL_WRITE", VERBS, USUAL, IBV_WR_RDMA_READ, 64, .read_only = true,
     .status = 4, .vendor = 0x33, .errors = 8, .counters = "req_cqe_error rx_read_requests", .placed = -1},
    {"S-8.04", "QP set to ERR locally, then posted", VERBS, USUAL, WRITE, 64, .local_error = true,
     .status = 5, .vendor = 0xf5, .errors = 8, .counters = "req_cqe_error", .placed = 0},
    {"S-8.06",
     "WRITE, QP without REMOTE_WRITE",
     VERBS,
     {.allows = IBV_ACCESS_REMOTE_READ, .registered = 0, .rnr_retry = 7},
     WRITE,
     64,
     .status = 9,
     .vendor = 0x8a,
     .errors = 8,
     .counters = "req_cqe_error req_remote_invalid_request",
     .peer_in_error = true,
     .placed = 0},
    {"S-8.06",
     "atomic, none enabled",
     VERBS,
     {.allows = IBV_ACCESS_REMOTE_WRITE, .registered = 0, .rnr_retry = 7},
     IBV_WR_ATOMIC_FETCH_AND_ADD,
     8,
     .status = 9,
     .vendor = 0x8a,
     .errors = 8,
     .counters = "req_cqe_error req_remote_invalid_request",
     .peer_in_error = true,
     .placed = 0},
    {"S-8.07", "WRITE, bad rkey", VERBS, USUAL, WRITE, 64, .bad_rkey = true, .status = 10, .vendor = 0x88,
     .errors = 8, .counters = ACCESS " rx_write_requests", .peer_in_error = true, .placed = 0},
    {"S-8.08",
     "WRITE beyond the MR",
     VERBS,
     {.allows = ALL, .registered = 4096, .rnr_retry = 7},
     WRITE,
     64,
     .to = 8192,
     .status = 10,
     .vendor = 0x88,
     .errors = 8,
     .counters = ACCESS " rx_write_requests",
     .peer_in_error = true,
     .placed = 0},
    {"S-8.09",
     "SEND, no receive, rnr_retry 0",
     VERBS,
     {.allows = ALL, .registered = 0, .rnr_retry = 0},
     IBV_WR_SEND,
     64,
     .status = 13,
     .vendor = 0x87,
     .errors = 8,
     .counters = "req_cqe_error rnr_nak_retry_err req_rnr_retries_exceeded out_of_buffer",
     .placed = 0},
    {"S-8.10", "responder's QP in ERR", VERBS, TIMES(1, 1, 1), WRITE, 64, .peer = SILENT, .status = 12,
     .vendor = 0x81, .errors = 8, .counters = "req_cqe_error req_transport_retries_exceeded",
     .peer_in_error = true, .placed = 0},
    {"S-8.12",
     "WRITE of 4 packets, 2 inside the MR",
     VERBS,
     {.allows = ALL, .registered = 2048, .rnr_retry = 7},
     WRITE,
     4096,
     .status = 10,
     .vendor = 0x88,
     .errors = 8,
     .counters = ACCESS " rx_write_requests",
     .peer_in_error = true,
     .placed = 2048},
    {"S-8.13",
     "WRITE of 64 B across the end",
     VERBS,
     {.allows = ALL, .registered = 4096, .rnr_retry = 7},
     WRITE,
     64,
     .to = 4064,
     .status = 10,
     .vendor = 0x88,
     .errors = 8,
     .counters = ACCESS " rx_write_requests",
     .peer_in_error = true,
     .placed = 0},
    {"S-9.01", "local ERR, record 24", OWN_ERROR, USUAL, .record = 24, .status = 5, .vendor = 0xf5,
     .errors = 16, .placed = -1},
    {"S-9.02", "record 8", OWN_ERROR, USUAL, .record = 8, .placed = -1},
    {"S-9.03", "record 9", OWN_ERROR, USUAL, .record = 9, .status = 5, .vendor = 0xf5, .errors = 1,
     .placed = -1},
    {"S-9.04", "record 16", OWN_ERROR, USUAL, .record = 16, .status = 5, .vendor = 0xf5, .errors = 8,
     .placed = -1},
    {"S-9.13", "record 23", OWN_ERROR, USUAL, .record = 23, .status = 5, .vendor = 0xf5, .errors = 15,
     .placed = -1},
    {"S-9.05", "bad rkey at 16, record 24", BAD_AMONG, USUAL, .record = 24, .status = 10, .vendor = 0x88,
     .errors = 8, .peer_in_error = true, .placed = -1},
    {"S-9.06", "record 17", BAD_AMONG, USUAL, .record = 17, .status = 10, .vendor = 0x88, .errors = 1,
     .peer_in_error = true, .placed = -1},
    {"S-9.07", "record 16: below the bad one", BAD_AMONG, USUAL, .record = 16, .peer_in_error = true,
     .placed = -1},
    {"S-9.12", "local ERR, all complete", OWN_ERROR, USUAL, .record = DONE, .posted = DONE, .placed = -1},
    {"S-10.01",
     "WRITE beyond the MR: responder's event",
     VERBS,
     {.allows = ALL, .registered = 4096, .rnr_retry = 7},
     WRITE,
     64,
     .to = 8192,
     .status = 10,
     .vendor = 0x88,
     .errors = 8,
     .peer_in_error = true,
     .event = IBV_EVENT_QP_ACCESS_ERR},
    {"S-10.02", "responder's QP reset: its event", VERBS, TIMES(1, 1, 1), WRITE, 64, .peer = RESET,
     .status = 12, .vendor = 0x81, .errors = 8, .event = NO_EVENT},
    {"S-12.04",
     "datagram, ToS 105 asked for",
     DATAGRAM,
     {.datagrams = true},
     .tos = 105,
     .tos_seen = 106,
     .placed = -1},
    {"S-12.04", "datagram, ToS 0 asked for", DATAGRAM, {.datagrams = true}, .tos_seen = 2, .placed = -1},
    {"-", "responder deregistered its MR", VERBS, TIMES(1, 14, 7), WRITE, 64, .peer = DEREGISTERED,
     .status = 10, .vendor = 0x88, .errors = 8, .counters = ACCESS " rx_write_requests",
     .peer_in_error = true},
    {"-",
     "CQ of 16 entries, 24 WRITEs, none taken",
     OVERRUN,
     {.allows = ALL, .rnr_retry = 7, .entries = ENTRIES},
     .placed = 64,
     .successes = ENTRIES},
    {"S-7.01", "silent peer, time-out 14, 7 retries", TIMED, TIMES(4, 14, 7), WRITE, .peer = SILENT,
     .status = 12, .vendor = 0x81, .measured = "12/0x81; 3661.8 ms", .least_ms = 3660.1, .most_ms = 3663.1,
     .timeouts = 6, .adaptive_least = 4, .adaptive_most = 7},
    {"S-7.06", "time-out 14, 1 retry", TIMED, TIMES(10, 14, 1), WRITE, .peer = SILENT, .status = 12,
     .vendor = 0x81, .measured = "12/0x81; 440.6 ms", .least_ms = 438.9, .most_ms = 441.9,
     .adaptive_least = 4, .adaptive_most = 7},
    {"S-7.11", "time-out 8, 7 retries, without the floor", TIMED, TIMES(1000, 8, 7), WRITE, .no_floor = true,
     .peer = SILENT, .status = 12, .vendor = 0x81, .measured = "12/0x81; 9.49 ms", .least_ms = 8.29,
     .most_ms = 10.69, .timeouts = 9},
    {"S-7.12", "time-out 8, no retry, without the floor", TIMED, TIMES(1000, 8, 0), WRITE, .no_floor = true,
     .peer = SILENT, .status = 12, .vendor = 0x81, .measured = "12/0x81; 2.24 ms", .least_ms = 1.04,
     .most_ms = 3.44, .timeouts = 2},
    {"S-7.16",
     "SEND, no receive, 6 retries, timer 12",
     TIMED,
     {.allows = ALL, .rnr_retry = 6, .scale = 1000, .timeout = 14, .retries = 7, .rnr_timer = 12},
     IBV_WR_SEND,
     .status = 13,
     .vendor = 0x87,
     .measured = "13/0x87; 12.77 ms",
     .least_ms = 11.5,
     .most_ms = 13.5},
    {"S-11.03", "responder deregistered its MR", TIMED, TIMES(2000, 14, 7), WRITE, .peer = DEREGISTERED,
     .status = 10, .vendor = 0x88, .measured = "10/0x88; 2.2 ms", .least_ms = 0.4, .most_ms = 3.5},
    {"S-11.04", "responder's QP destroyed", TIMED, TIMES(2, 14, 7), WRITE, .peer = DESTROYED, .status = 12,
     .vendor = 0x81, .measured = "12/0x81; 3.64 s", .least_ms = 3400, .most_ms = 3900, .timeouts = 6,
     .adaptive_least = 4, .adaptive_most = 7},
    {"S-11.06", "responder's QP in RESET", TIMED, TIMES(2, 14, 7), WRITE, .peer = RESET, .status = 12,
     .vendor = 0x81, .measured = "12/0x81; 3.40 to 3.90 s", .least_ms = 3400, .most_ms = 3900, .timeouts = 6,
     .adaptive_least = 4, .adaptive_most = 7},
    {"S-11.07", "responder's QP in RTR", TIMED, TIMES(50, 14, 7), WRITE, .peer = RECEIVES,
     .measured = "completes; within 10 ms", .most_ms = 10},
    {"S-11.08", "responder not ready for 1250 ms", TIMED, TIMES(4, 14, 7), WRITE, .peer = LATE,
     .measured = "completes; after 1.35 to 1.51 s", .least_ms = 1250, .most_ms = 1800, .timeouts = 2,
     .adaptive_least = 4, .adaptive_most = 7},
};
enum { ROWS = sizeof rows / sizeof *rows };

#endif
