/* Preloaded into roce-traffic: an RDMA device that accepts everything and moves no data.
 * STAND_IN_FAILS="STATUS VENDOR_ERROR GOOD SILENT_MS" in the environment: after GOOD completions nothing for
 * SILENT_MS, then this error. STAND_IN_PART: a part number of Mellanox. STAND_IN_OVERRUN="send" or "receive":
 * that completion queue cannot be polled. */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef ibv_query_port
#undef ibv_reg_mr

#define PAIR       0x108
#define LOCAL_KEY  0x1de10
#define REMOTE_KEY 0x17eedf
#define MELLANOX   0x2c9
#define RING       65536u

static struct ibv_device device = {.name = "stand_in0"};

/* ---- work requests that are posted, and their completions: of one queue pair */

static uint64_t posted[RING], head, tail;
static int64_t since_ms;
static int queues; /* completion queues that were made */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
    (void)qp;
    (void)bad_wr;
    for (; wr; wr = wr->next)
        if (wr->send_flags & IBV_SEND_SIGNALED)
            posted[head++ % RING] = wr->wr_id;
    return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    (void)qp;
    (void)wr;
    (void)bad_wr;
    return 0;
}

static int poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
    const char *overrun = getenv("STAND_IN_OVERRUN");
    bool receives = cq->cqe > 0; /* the second that was made */
    const char *fails = getenv("STAND_IN_FAILS");
    unsigned status, vendor;
    unsigned long good;
    long silent;
    (void)num_entries;
    if (overrun && strcmp(overrun, receives ? "receive" : "send") == 0)
        return -1;
    if (receives)
        return 0;
    if (!fails || sscanf(fails, "%u %i %lu %ld", &status, (int *)&vendor, &good, &silent) != 4 ||
        tail == head)
        return 0;
    if (tail < good) {
        *wc = (struct ibv_wc){.wr_id = posted[tail++ % RING], .status = IBV_WC_SUCCESS, .qp_num = PAIR};
        return 1;
    }
    since_ms = since_ms ? since_ms : now_ms();
    if (now_ms() - since_ms < silent)
        return 0;
    *wc = (struct ibv_wc){
        .wr_id = posted[tail++ % RING], .status = status, .vendor_err = vendor, .qp_num = PAIR};
    return 1;
}

/* ---- the device */

struct ibv_device **ibv_get_device_list(int *num_devices)
{
    struct ibv_device **list = calloc(2, sizeof *list);
    *num_devices = list ? 1 : 0;
    if (list)
        list[0] = &device;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *d)
{
    return d->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
    struct ibv_context *context = calloc(1, sizeof *context);
    if (context)
        *context = (struct ibv_context){
            .device = d, .ops = {.post_send = post_send, .post_recv = post_recv, .poll_cq = poll_cq}};
    return context;
}

int ibv_close_device(struct ibv_context *context)
{
    free(context);
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr)
{
    (void)context;
    const char *part = getenv("STAND_IN_PART");
    *device_attr = (struct ibv_device_attr){.vendor_id = part ? MELLANOX : 0,
                                            .vendor_part_id = part ? (uint32_t)strtoul(part, NULL, 10) : 0,
                                            .phys_port_cnt = 1,
                                            .max_qp = 1 << 20,
                                            .max_qp_wr = 1 << 20,
                                            .max_cqe = 1 << 30,
                                            .max_qp_rd_atom = 16};
    return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *port_attr)
{
    struct ibv_port_attr active = {.state = IBV_PORT_ACTIVE,
                                   .active_mtu = IBV_MTU_1024,
                                   .gid_tbl_len = 1,
                                   .link_layer = IBV_LINK_LAYER_ETHERNET};
    (void)context;
    (void)port_num;
    memcpy(port_attr, &active, offsetof(struct ibv_port_attr, port_cap_flags2));
    return 0;
}

/* NOLINTNEXTLINE(bugprone-reserved-identifier): libibverbs' name of ibv_query_gid_ex */
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
                      uint32_t flags, size_t size)
{
    (void)context;
    (void)flags;
    memset(entry, 0, size);
    *entry = (struct ibv_gid_entry){.gid_index = index, .port_num = port, .gid_type = IBV_GID_TYPE_ROCE_V2};
    return inet_pton(AF_INET6, "::ffff:127.0.0.1", entry->gid.raw) == 1 ? 0 : -1;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = calloc(1, sizeof *pd);
    if (pd)
        pd->context = context;
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    free(pd);
    return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova,
                                unsigned int access)
{
    struct ibv_mr *mr = calloc(1, sizeof *mr);
    (void)iova;
    (void)access;
    if (mr)
        *mr = (struct ibv_mr){.context = pd->context,
                              .pd = pd,
                              .addr = address,
                              .length = length,
                              .lkey = LOCAL_KEY,
                              .rkey = REMOTE_KEY};
    return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
    return ibv_reg_mr_iova2(pd, address, length, 0, (unsigned int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    free(mr);
    return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int comp_vector)
{
    struct ibv_cq *cq = calloc(1, sizeof *cq);
    (void)cqe;
    (void)cq_context;
    (void)channel;
    (void)comp_vector;
    if (cq)
        *cq = (struct ibv_cq){.context = context, .cqe = queues++ % 2};
    return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    free(cq);
    return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
    struct ibv_qp *pair = calloc(1, sizeof *pair);
    (void)qp_init_attr;
    if (pair)
        *pair = (struct ibv_qp){.context = pd->context, .qp_num = PAIR};
    return pair;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
    (void)qp;
    (void)attr;
    (void)attr_mask;
    return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
    free(qp);
    return 0;
}
