/*
 * Reliable connections between the two sides of a flow. A connection manager makes the queue pairs and brings
 * them to ready to send: cm_tcp.c with numbers exchanged over the control connection, cm_rdma.c with rdma_cm.
 */
#ifndef TRAFFIC_CONNECTION_H
#define TRAFFIC_CONNECTION_H

#include "traffic/connection/device.h"
#include "traffic/flow_plan.h"
#include "traffic/connection/wire.h"
#include <rdma/rdma_cma.h>

struct connection {
    const struct connection_manager *manager;
    const struct plan *plan;
    bool driver;
    int stop_fd; /* readable when waiting must end */
    struct device *device;
    struct ibv_pd *pd;
    struct ibv_cq *send_cq, *receive_cq;
    struct ibv_qp **pairs; /* plan->queue_pairs of them, NULL until made */
    uint32_t inline_bytes; /* what the device granted */
    int mtu_bytes;         /* the agreed path MTU */

    uint32_t *packet_start; /* cm_tcp */

    struct rdma_event_channel *channel; /* cm_rdma */
    struct rdma_cm_id *listener, **ids;
    int64_t token;
};

struct connection_manager {
    const char *name;
    /* Create what the peer needs and describe it in *mine (whose lists the caller frees). */
    int (*prepare)(struct connection *c, struct endpoint *mine, struct error *e);
    /* Bring every queue pair to ready to send. Both sides call it at the same time. */
    int (*connect)(struct connection *c, const struct endpoint *peer, struct error *e);
    /* Free queue pairs and what belongs to them. */
    void (*close)(struct connection *c);
};

extern const struct connection_manager cm_tcp, cm_rdma;

/* Protection domain and completion queues, then prepare. */
int connection_open(struct connection *c, struct endpoint *mine, struct error *e);
int connection_connect(struct connection *c, const struct endpoint *peer, struct error *e);
void connection_close(struct connection *c);

/* Attributes with which the managers create a queue pair. */
struct ibv_qp_init_attr connection_pair_attributes(const struct connection *c);
/* Largest number of reads in flight, from the device's limits. */
uint8_t connection_reads(int device_limit);

#endif
