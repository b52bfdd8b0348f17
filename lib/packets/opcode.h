/* Opcodes of RoCEv2's base transport header, and syndromes of the ACK header (InfiniBand Architecture
 * Specification, 9.2 and 9.7.5). */
#ifndef LIB_OPCODE_H
#define LIB_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

/* The upper three bits. */
enum opcode_service {
    OPCODE_RC = 0,
    OPCODE_UC = 1,
    OPCODE_RD = 2,
    OPCODE_UD = 3,
    OPCODE_CNP_SERVICE = 4,
    OPCODE_XRC = 5,
};

/* The lower five. */
enum opcode_operation {
    OPCODE_SEND_FIRST = 0x00,
    OPCODE_SEND_MIDDLE = 0x01,
    OPCODE_SEND_LAST = 0x02,
    OPCODE_SEND_LAST_IMMEDIATE = 0x03,
    OPCODE_SEND_ONLY = 0x04,
    OPCODE_SEND_ONLY_IMMEDIATE = 0x05,
    OPCODE_WRITE_FIRST = 0x06,
    OPCODE_WRITE_MIDDLE = 0x07,
    OPCODE_WRITE_LAST = 0x08,
    OPCODE_WRITE_LAST_IMMEDIATE = 0x09,
    OPCODE_WRITE_ONLY = 0x0a,
    OPCODE_WRITE_ONLY_IMMEDIATE = 0x0b,
    OPCODE_READ_REQUEST = 0x0c,
    OPCODE_READ_FIRST = 0x0d,
    OPCODE_READ_MIDDLE = 0x0e,
    OPCODE_READ_LAST = 0x0f,
    OPCODE_READ_ONLY = 0x10,
    OPCODE_ACKNOWLEDGE = 0x11,
    OPCODE_ATOMIC_ACKNOWLEDGE = 0x12,
    OPCODE_COMPARE_SWAP = 0x13,
    OPCODE_FETCH_ADD = 0x14,
    OPCODE_SEND_LAST_INVALIDATE = 0x16,
    OPCODE_SEND_ONLY_INVALIDATE = 0x17,
    OPCODE_FLUSH = 0x1c, /* this and the next since release 1.7; a READ Response Only answers both */
    OPCODE_ATOMIC_WRITE = 0x1d,
};
/* Congestion notification packet (annex A17.9.3): the whole opcode. */
#define OPCODE_CNP 0x81

#define OPCODE_SERVICE(opcode)   ((enum opcode_service)((opcode) >> 5))
#define OPCODE_OPERATION(opcode) ((enum opcode_operation)((opcode)&0x1f))

/* What the packet of an operation has. */
struct opcode_row {
    const char *name; /* "WRITE First"; NULL: there is no such operation */
    bool first, last; /* packet of a message; both: the only one */
    bool payload;
    bool response; /* goes from the responder to the requester */
    bool feth, reth, aeth, atomic, atomic_answer;
    bool immediate; /* or the key to invalidate */
};
/* By the lower five bits. */
extern const struct opcode_row opcode_rows[32];

/* The row of an opcode, its service included; NULL: it does not exist, or its service is not known (reliable
 * datagrams). */
const struct opcode_row *opcode_find(uint8_t opcode);
/* The most extension headers: those of an atomic request of an extended reliable connection. */
#define OPCODE_XRCETH_BYTES      4
#define OPCODE_ATOMIC_BYTES      28
#define OPCODE_MOST_HEADER_BYTES (OPCODE_XRCETH_BYTES + OPCODE_ATOMIC_BYTES)
/* Bytes of the extension headers that follow the base transport header; 0 for an opcode that is not known. */
uint32_t opcode_header_bytes(uint8_t opcode);

/* Syndrome of the ACK header: the kind in bits 6 and 5, its value below. */
enum aeth_kind { AETH_ACK = 0, AETH_RNR_NAK = 1, AETH_NAK = 3 };
#define AETH_KIND(syndrome)  ((enum aeth_kind)((syndrome) >> 5 & 3))
#define AETH_VALUE(syndrome) ((syndrome)&0x1f)
#define AETH_NO_CREDITS      0x1f /* an ACK of a responder that does not count credits */
enum aeth_nak { AETH_NAK_SEQUENCE = 0, AETH_NAK_INVALID = 1, AETH_NAK_ACCESS = 2, AETH_NAK_OPERATION = 3 };

#endif
