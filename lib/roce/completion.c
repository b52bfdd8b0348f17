#include "lib/roce/completion.h"

#include <stddef.h>

/* In the order of the enumeration. Meanings: InfiniBand Architecture Specification, volume 1, section 11.6.2
 * (completion return status). */
static const struct {
    const char *name, *cause;
} completions[] = {
    {"IBV_WC_SUCCESS", "done"},
    {"IBV_WC_LOC_LEN_ERR", "a message did not fit into the receive buffer, or exceeds the device's limit"},
    {"IBV_WC_LOC_QP_OP_ERR", "the queue pair found its own work request inconsistent"},
    {"IBV_WC_LOC_EEC_OP_ERR", "inconsistent end-to-end context"},
    {"IBV_WC_LOC_PROT_ERR",
     "the local memory is not covered by the registration any more (GPU memory freed, or its driver reset?)"},
    {"IBV_WC_WR_FLUSH_ERR", "the queue pair was closed before this work request was completed: the other "
                            "side disconnected or died, or an earlier error occurred"},
    {"IBV_WC_MW_BIND_ERR", "memory window binding"},
    {"IBV_WC_BAD_RESP_ERR", "the responder sent an answer that was not requested"},
    {"IBV_WC_LOC_ACCESS_ERR", "the local registration does not permit the access"},
    {"IBV_WC_REM_INV_REQ_ERR",
     "the responder finds the request invalid: a receive buffer too small, or too many reads at once"},
    {"IBV_WC_REM_ACCESS_ERR",
     "the responder refuses the access: wrong remote key or address, or its registration has gone"},
    {"IBV_WC_REM_OP_ERR", "the responder had an internal error: its memory could not be accessed"},
    {"IBV_WC_RETRY_EXC_ERR",
     "no acknowledgement after all retries: the other side died, a link is down, packets are dropped (MTU of "
     "a switch too small, PFC or ECN not set up), or the GID or VLAN leads nowhere"},
    {"IBV_WC_RNR_RETRY_EXC_ERR",
     "the receiver still had no receive posted (RNR) after all retries: more receive buffers, or retries "
     "without limit (roce-traffic: --receive-depth, --rnr-retries 7)"},
    {"IBV_WC_LOC_RDD_VIOL_ERR", "reliable datagram domain"},
    {"IBV_WC_REM_INV_RD_REQ_ERR", "the responder refuses the reliable datagram"},
    {"IBV_WC_REM_ABORT_ERR", "the responder aborted"},
    {"IBV_WC_INV_EECN_ERR", "invalid end-to-end context number"},
    {"IBV_WC_INV_EEC_STATE_ERR", "invalid end-to-end context state"},
    {"IBV_WC_FATAL_ERR", "the device reports a fatal error: look at dmesg"},
    {"IBV_WC_RESP_TIMEOUT_ERR", "the responder took too long"},
    {"IBV_WC_GENERAL_ERR", "the transport failed in another way: look at dmesg"},
};

enum { KNOWN = sizeof completions / sizeof *completions };

const char *completion_name(int status)
{
    return status >= 0 && status < KNOWN ? completions[status].name : "unknown status";
}

const char *completion_cause(int status)
{
    return status >= 0 && status < KNOWN ? completions[status].cause : "look at dmesg";
}
