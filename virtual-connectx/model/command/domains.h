/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Objects that are a number only: domains, UAR pages, counter sets. */
#ifndef VCX_DOMAINS_H
#define VCX_DOMAINS_H

#include "virtual-connectx/model/object.h"

/* Counters of queue pairs and receive queues that name the set. */
struct vcx_counter_set {
    struct vcx_object object;
    uint32_t rx_write_requests, rx_read_requests, rx_atomic_requests, out_of_buffer, out_of_sequence,
        duplicate_request;
    uint32_t packet_seq_err, local_ack_timeout_err, rnr_nak_retry_err, implied_nak_seq_err;
    /* enhanced_error_q_counters */
    uint32_t resp_local_length_error, req_local_length_error, local_operation_error, resp_local_protection,
        req_bad_response, req_remote_invalid_request, req_remote_access_errors, req_remote_operation_errors,
        req_transport_retries_exceeded, req_rnr_retries_exceeded, req_cqe_error, resp_cqe_flush_error;
    uint32_t roce_adp_retrans, roce_slow_restart_cnps; /* roce_accl */
};

extern const struct vcx_kind_of_object vcx_kind_pd, vcx_kind_transport_domain, vcx_kind_xrcd, vcx_kind_uar,
    vcx_kind_counter_set;

#endif
