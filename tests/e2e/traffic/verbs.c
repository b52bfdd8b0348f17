/* Preloaded into roce-traffic serve: an RDMA device that accepts everything up to the connection of queue
 * pairs, to show what an offer makes the server allocate. It moves no data. */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_query_port
#undef ibv_reg_mr

static struct ibv_device device = {.name = "stand_in0"};

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
        context->device = d;
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
    *device_attr = (struct ibv_device_attr){.phys_port_cnt = 1,
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
        *mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = address, .length = length};
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
    (void)context;
    (void)cqe;
    (void)cq_context;
    (void)channel;
    (void)comp_vector;
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
    (void)pd;
    (void)qp_init_attr;
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
