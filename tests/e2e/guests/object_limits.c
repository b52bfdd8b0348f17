/* object_limits DEVICE makes as many and as large objects as programs ask of cards, and prints a line for
 * each kind: "ok" or "differs", and how many there were. */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LARGE_CQ = 98304, MANY_QPS = 1100, MANY_SRQS = 300 };

static bool limit(const char *what, int made, int wanted)
{
    printf("%s\t%s: %d of %d\n", made == wanted ? "ok" : "differs", what, made, wanted);
    return made == wanted;
}

static bool try_limits(struct ibv_context *context, struct ibv_pd *pd)
{
    static struct ibv_qp *qps[MANY_QPS];
    static struct ibv_srq *srqs[MANY_SRQS];
    int made = 0;
    struct ibv_cq *large = ibv_create_cq(context, LARGE_CQ, NULL, NULL, 0);
    bool all = limit("a completion queue of 98,304 entries, entries",
                     large && large->cqe >= LARGE_CQ ? LARGE_CQ : 0, LARGE_CQ);
    struct ibv_qp_init_attr init = {
        .send_cq = large, .recv_cq = large, .qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
    while (made < MANY_QPS && (qps[made] = ibv_create_qp(pd, &init)))
        made++;
    all &= limit("queue pairs", made, MANY_QPS);
    while (made)
        ibv_destroy_qp(qps[--made]);
    struct ibv_srq_init_attr shared = {.attr = {1, 1, 0}};
    while (made < MANY_SRQS && (srqs[made] = ibv_create_srq(pd, &shared)))
        made++;
    all &= limit("shared receive queues", made, MANY_SRQS);
    while (made)
        ibv_destroy_srq(srqs[--made]);
    if (large)
        ibv_destroy_cq(large);
    return all;
}

int main(int count, char **arguments)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    if (count != 2 || !list)
        return 2;
    while (*list && strcmp(ibv_get_device_name(*list), arguments[1]) != 0)
        list++;
    struct ibv_context *context = *list ? ibv_open_device(*list) : NULL;
    struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
    if (!pd) {
        perror(arguments[1]);
        return 2;
    }
    return !try_limits(context, pd);
}
