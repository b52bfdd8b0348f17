/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The transport: what its files share of a device, and what each does for the others. */
#ifndef VCX_TRANSPORT_H
#define VCX_TRANSPORT_H

#include "virtual-connectx/model/room.h"
#include "virtual-connectx/model/transport/qp.h"

#define VCX_SOURCES           16 /* QUERY_HCA_CAP's roce_address_table_size */
#define VCX_SOURCE_BYTES      32
#define VCX_MULTICAST_MEMBERS 64
#define VCX_MULTICAST_QPN     0xffffff
#define VCX_GSI_QPN           1
#define VCX_MOST_WQE          2048

struct vcx_multicast_member {
    uint32_t qpn; /* 0: free */
    uint8_t group[16];
};

struct vcx_transport {
    uint8_t source[VCX_SOURCES][VCX_SOURCE_BYTES]; /* of frames: SET_ROCE_ADDRESS */
    struct vcx_multicast_member members[VCX_MULTICAST_MEMBERS];
    uint32_t next_qp;          /* whose turn it is */
    bool data_sent;            /* in this turn: of requests, or of answers to reads and atomics */
    uint8_t wqe[VCX_MOST_WQE]; /* the work request that is being read */
};

extern const struct vcx_room vcx_room_transport;

/* ---- addresses.c: the way of a packet */

struct vcx_route {
    struct vcx_path path;
    uint8_t priority;
};
/* Of a connection: its primary address path. */
void vcx_route_connection(struct vcx_device *device, const struct vcx_qp *qp, struct vcx_route *route);
/* Of a datagram: the address vector of its request. */
void vcx_route_vector(struct vcx_device *device, const struct vcx_qp *qp, const uint8_t *vector,
                      struct vcx_route *route);

/* ---- transport.c: sending */

/* There is room for a packet with so many bytes after the base transport header. */
bool vcx_transport_room(struct vcx_device *device, const struct vcx_route *route, uint32_t bytes);
/* Takes the frame, whose payload is written. One to a group of which the function has members also comes back, as a copy. */
void vcx_transport_send(struct vcx_device *device, const struct vcx_route *route, struct vcx_frame *frame);

/* ---- notification.c: congestion control of a queue pair */

/* Sets the ECN bits of a packet with data. */
void vcx_congestion_capable(struct vcx_device *device, struct vcx_route *route);
/* A packet of a connection came: answers a mark with a CNP. */
void vcx_congestion_notify(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet);
/* A CNP came; NULL: for no queue pair. */
void vcx_congestion_cnp(struct vcx_device *device, struct vcx_qp *qp);
/* Its rate allows a packet now. */
bool vcx_congestion_may_send(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns);
/* A packet of so many bytes was sent. */
void vcx_congestion_sent(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t bytes);
/* Nothing waits to be sent: no time is owed to what comes later. */
void vcx_congestion_idle(struct vcx_qp *qp, uint64_t now_ns);

/* ---- requester.c */

/* Sends up to `most` packets, and completes what has ended. Returns how much there was to do. */
uint32_t vcx_requester_poll(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t most);
/* Everything before requester.acked_psn is done: completes it. */
void vcx_requester_retire(struct vcx_device *device, struct vcx_qp *qp);
/* Sends again from the oldest packet that is not acknowledged. */
void vcx_requester_go_back(struct vcx_qp *qp);
/* What is acknowledged since is not sent again. */
void vcx_requester_skip_acked(struct vcx_qp *qp);
/* Starts waiting for an acknowledgement anew. */
void vcx_requester_await(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns);

/* ---- umr.c: changes a memory key as the request asks for. Returns its syndrome, or 0 */
uint8_t vcx_umr_execute(struct vcx_device *device, const struct vcx_qp *qp, const struct vcx_request *q);

/* ---- acknowledge.c: acknowledgements and answers that a requester gets */
void vcx_acknowledge_receive(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet);

/* ---- responder.c: requests that a responder gets; answers.c: what it sends */
void vcx_responder_receive(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet);
uint32_t vcx_answers_poll(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t most);
/* false: more than the responder takes at a time. */
bool vcx_answer_add(struct vcx_qp *qp, const struct vcx_answer *answer);
/* The peer repeats a read or atomic operation: answers that wait from its packet on are dropped. */
void vcx_answers_forget(struct vcx_qp *qp, uint32_t psn);

/* ---- datagram.c */
void vcx_datagram_receive(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet);
/* To every queue pair that is attached to the packet's group; not to the one that sent it, if the driver asked for that. */
void vcx_datagram_multicast(struct vcx_device *device, const struct vcx_packet *packet);
/* Sends the request's packet. false: not now. */
bool vcx_datagram_send(struct vcx_device *device, struct vcx_qp *qp, struct vcx_request *request);
bool vcx_multicast_has_members(const struct vcx_device *device, const uint8_t *group);
/* false: no room for a further member, or there is no such one. */
bool vcx_multicast_attach(struct vcx_device *device, uint32_t qpn, const uint8_t *group);
bool vcx_multicast_detach(struct vcx_device *device, uint32_t qpn, const uint8_t *group);
/* The queue pair is destroyed. */
void vcx_multicast_leave(struct vcx_device *device, uint32_t qpn);

#endif
