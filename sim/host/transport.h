/* What the files of the reliable transport share. */
#ifndef SIM_TRANSPORT_H
#define SIM_TRANSPORT_H

#include "sim/model.h"

/* transport.c */
/* A data packet's frame, without its congestion control's header, and before it is made the shortest one. */
int64_t data_frame_bytes(const struct sim *sim, const struct queue_pair *qp, uint32_t payload,
                         unsigned place);
/* The sender's next packet is this one; */
void qp_seek(const struct sim *sim, struct queue_pair *qp, uint64_t psn);
/* and it joins or leaves the round robin. */
void go_back(struct sim *sim, uint32_t qp, uint64_t psn);
/* What is before this PSN is acknowledged. */
void acknowledged(struct sim *sim, uint32_t qp, uint64_t psn);
void ring_join(struct sim *sim, uint32_t qp);
void ring_leave(struct sim *sim, uint32_t qp);
/* A frame without payload on the queue pair: ACK, NAK or read request. */
uint32_t control_packet(struct sim *sim, uint32_t qp, enum packet_kind kind, uint64_t psn);
/* A request of what the message of this number has from it on; counted if that was asked for before. */
uint32_t read_request(struct sim *sim, uint32_t qp, uint64_t psn);
void send_control(struct sim *sim, uint32_t host, uint32_t p);
/* What a NAK asks for is missing at the host: notify the sender, if its NIC does, and ask. */
void send_nak(struct sim *sim, uint32_t host, uint32_t qp, uint64_t psn);

/* timeouts.c */
/* A queue pair is new; what was silent made progress. */
void timeouts_begin(struct sim *sim, uint32_t qp);
void timeouts_end(struct sim *sim, uint32_t qp);
/* The requester's NIC notifies itself of congestion, because it sends again. */
void restart_slowly(struct sim *sim, uint32_t qp);

/* Responder: the packet, if it is the first of a SEND and expected, finds no receive, and is back in the
 * pool. Requester: it hears of that. */
bool not_ready_answer(struct sim *sim, uint32_t host, uint32_t p);
void not_ready_received(struct sim *sim, uint32_t host, uint32_t qp, uint64_t psn);

/* recovery.c */
/* Memory of a queue pair from one NIC to another. */
uint64_t recovery_bytes(const struct physics_nic *from, const struct physics_nic *to,
                        enum sim_operation operation);
int recovery_build(struct sim *sim, const struct sim_config *c, struct error *e);
/* Of one queue pair, from one NIC to another; -1: no memory. */
int recovery_begin(struct sim *sim, struct queue_pair *qp, const struct physics_nic *from,
                   const struct physics_nic *to);
void recovery_end(struct queue_pair *qp);
/* Sender: the first of the packets that are wanted again, of which there is one; packets were acknowledged,
 * asked for, or the timer has expired. */
uint32_t recovery_packet(struct sim *sim, uint32_t qp);
void recovery_acknowledged(struct sim *sim, uint32_t qp, uint64_t before_psn);
void recovery_asked(struct sim *sim, uint32_t qp, const struct packet *nak);
void recovery_timed_out(struct sim *sim, uint32_t qp);
/* Receiver: is the packet that arrived new, and to be written? It is on its way to memory: must
 * the sender, whose window may be full, have an ACK, also within a message? */
bool recovery_accept(struct sim *sim, uint32_t host, uint32_t p);
bool recovery_delivered(struct sim *sim, uint32_t qp, uint64_t psn);
/* Answer with an ACK of what was delivered, or ask for the packet that is expected, once. */
void acknowledge(struct sim *sim, uint32_t host, uint32_t qp, uint32_t data);
/* Send the read requests that the messages posted and the limit of outstanding ones allow. */
void request_reads(struct sim *sim, uint32_t qp);
void ask_again(struct sim *sim, uint32_t host, uint32_t qp);

/* Does the sender send only what is missing? */
static inline bool is_selective(const struct queue_pair *qp)
{
    return qp->recovery && qp->recovery->selective;
}

static inline uint32_t requester_of(const struct queue_pair *qp)
{
    return qp->operation == SIM_READ ? qp->receiver : qp->sender;
}

#endif
