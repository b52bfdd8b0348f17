/*
 * Control messages between driver and server: one JSON object on each line, over TCP. Received messages are
 * untrusted: their length is limited, tables check them, and unknown keys are refused.
 *
 *   driver                      server
 *   hello (the secret)     ->                        anything else ends the connection
 *                          <-   hello
 *   offer (a plan)         ->
 *                          <-   endpoint (or error)
 *   endpoint               ->
 *                          <-   connected
 *   phase                  ->                        for each message size
 *                          <-   ready
 *   start                  ->
 *   (both send; line and alive messages meanwhile)
 *   stop                   ->                        both sides stop posting
 *   drained               <->  drained               all completions seen
 *                          <-   result
 *   finish                 ->
 */
#ifndef TRAFFIC_WIRE_H
#define TRAFFIC_WIRE_H

#include "traffic/flow_plan.h"
#include <jansson.h>

#define WIRE_PROTOCOL     3
#define WIRE_MAX_LENGTH   (256 * 1024) /* bytes in one message */
#define WIRE_HELLO_LENGTH 512          /* bytes in a hello, which a stranger may send */

enum message_type {
    MESSAGE_HELLO,
    MESSAGE_OFFER,
    MESSAGE_ENDPOINT,
    MESSAGE_CONNECTED,
    MESSAGE_PHASE,
    MESSAGE_READY,
    MESSAGE_START,
    MESSAGE_LINE,
    MESSAGE_ALIVE,
    MESSAGE_STOP,
    MESSAGE_DRAINED,
    MESSAGE_RESULT,
    MESSAGE_FINISH,
    MESSAGE_ERROR,
    MESSAGE_TYPES,
};

struct hello {
    int64_t protocol;
    char *version;
    char *secret; /* of the session; "": none */
};

/* How to reach one side's queue pairs and memory. */
struct endpoint {
    char *gid;     /* "fe80::1": as an IPv6 address */
    char *device;  /* for messages only */
    char *route;   /* memory route in use */
    char *address; /* rdma_cm: where to connect to (empty otherwise) */
    int64_t rdma_port;
    int64_t lid, mtu_bytes;
    int64_t
        responder_reads; /* largest number of RDMA reads that it answers at the same time on a queue pair */
    int64_t outgoing_address, incoming_address; /* addresses of its memory for use with the remote key */
    int64_t remote_key;
    int64_t token;               /* rdma_cm: proves that a connection belongs to this session */
    struct list_of queue_pairs;  /* int64_t numbers; empty with rdma_cm */
    struct list_of packet_start; /* int64_t first packet sequence number of each queue pair */
};

/* Messages sent on each queue pair since its creation; the receiver needs them to check its memory. */
struct sent {
    struct list_of counts; /* int64_t; empty from a side that sends nothing */
};

struct phase {
    int64_t message_bytes;
};

struct start {
    int64_t
        start_in_ns; /* from now; 0: at once. Not a time of day, because the other host's clock may differ */
    int64_t warmup_ns, duration_ns, count;
};

/* What a side has received in the phase. */
struct result {
    int64_t received;    /* messages, if they are counted */
    int64_t wrong_bytes; /* of validation */
    char *text;          /* the first wrong byte, as a sentence */
};

struct message_line {
    json_t *line;
};

struct message_error {
    char *text;
};

struct message {
    enum message_type type;
    union {
        struct hello hello;
        struct plan offer;
        struct endpoint endpoint;
        struct phase phase;
        struct sent sent; /* of stop and drained */
        struct start start;
        struct result result;
        struct message_line line;
        struct message_error error;
    };
};

const char *wire_name(enum message_type type);
/* One line without its newline into *message; the caller frees with wire_free. */
int wire_decode(const char *text, size_t length, struct message *message, struct error *e);
/* The same for a line that must be a hello: other types are not looked into. */
int wire_decode_hello(const char *text, size_t length, struct message *message);
/* A string without newline; the caller frees. NULL when memory ran out. */
char *wire_encode(const struct message *message);
void wire_free(struct message *message);

#endif
