#include "lib/roce/completion.h"

#include "lib/document/json_text.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- statuses: in the order of the enumeration. Meanings: InfiniBand Architecture Specification, volume 1,
 * section 11.6.2 (completion return status). Syndromes: linux include/linux/mlx5/cq.h, MLX5_CQE_SYNDROME_*,
 * as the kernel's messages and raw completion queue entries have them; 0: none, or more than one. */

static const struct {
    const char *name, *cause;
    unsigned syndrome;
} statuses[] = {
    {"IBV_WC_SUCCESS", "done", 0},
    {"IBV_WC_LOC_LEN_ERR", "a message did not fit into the receive buffer, or exceeds the device's limit",
     0x01},
    {"IBV_WC_LOC_QP_OP_ERR", "the queue pair found its own work request inconsistent", 0x02},
    {"IBV_WC_LOC_EEC_OP_ERR", "inconsistent end-to-end context", 0},
    {"IBV_WC_LOC_PROT_ERR",
     "the local memory is not covered by the registration any more (GPU memory freed, or its driver reset?)",
     0x04},
    {"IBV_WC_WR_FLUSH_ERR",
     "the queue pair was closed before this work request was completed: the other "
     "side disconnected or died, or an earlier error occurred",
     0x05},
    {"IBV_WC_MW_BIND_ERR", "memory window binding", 0x06},
    {"IBV_WC_BAD_RESP_ERR", "the responder sent an answer that was not requested", 0x10},
    {"IBV_WC_LOC_ACCESS_ERR", "the local registration does not permit the access", 0x11},
    {"IBV_WC_REM_INV_REQ_ERR",
     "the responder finds the request invalid: a receive buffer too small, or too many reads at once", 0x12},
    {"IBV_WC_REM_ACCESS_ERR",
     "the responder refuses the access: wrong remote key or address, or its registration has gone", 0x13},
    {"IBV_WC_REM_OP_ERR", "the responder had an internal error: its memory could not be accessed", 0x14},
    {"IBV_WC_RETRY_EXC_ERR",
     "no acknowledgement after all retries: the other side died, a link is down, packets are dropped (MTU of "
     "a switch too small, PFC or ECN not set up), or the GID or VLAN leads nowhere",
     0x15},
    {"IBV_WC_RNR_RETRY_EXC_ERR",
     "the receiver still had no receive posted (RNR) after all retries: more receive buffers, or retries "
     "without limit (roce-traffic: --receive-depth, --rnr-retries 7)",
     0x16},
    {"IBV_WC_LOC_RDD_VIOL_ERR", "reliable datagram domain", 0},
    {"IBV_WC_REM_INV_RD_REQ_ERR", "the responder refuses the reliable datagram", 0},
    {"IBV_WC_REM_ABORT_ERR", "the responder aborted", 0x22},
    {"IBV_WC_INV_EECN_ERR", "invalid end-to-end context number", 0},
    {"IBV_WC_INV_EEC_STATE_ERR", "invalid end-to-end context state", 0},
    {"IBV_WC_FATAL_ERR", "the device reports a fatal error: look at dmesg", 0},
    {"IBV_WC_RESP_TIMEOUT_ERR", "the responder took too long", 0},
    {"IBV_WC_GENERAL_ERR", "the transport failed in another way: look at dmesg", 0},
};

enum { STATUSES = sizeof statuses / sizeof *statuses };

#define VENDOR_MOST 0xffff

const char *completion_name(int status)
{
    return status >= 0 && status < STATUSES ? statuses[status].name : "unknown status";
}

const char *completion_cause(int status)
{
    return status >= 0 && status < STATUSES ? statuses[status].cause : "look at dmesg";
}

/* ---- vendor's bytes of mlx5 NICs */

/* unionxic/rdma-fault-characterization, 2026. Codes and counters were counted in each run; roles exchanged.
 */
#define CX5_CX6 "ConnectX-6 (20.40.1000) and ConnectX-5 (16.35.8002), both roles; "
#define CX6     "ConnectX-6 (20.43.4100); "
#define REPORTS "public reports, not measured: "

static const struct completion_error errors[] = {
    {4,
     0x33,
     "the answer to a read may not be written into its local memory",
     "the memory is registered without IBV_ACCESS_LOCAL_WRITE",
     {"req_cqe_error"},
     {"rx_read_requests"},
     "requester",
     "the read request",
     "requester ERR",
     CX5_CX6 "S-8.03"},
    {4,
     0x51,
     "the NIC could not access its local memory",
     "seen where PCIe access between NIC and GPU is blocked: ACS, the IOMMU, BAR1 or where the firmware of "
     "the host maps it "
     "(host-facts --check judges these)",
     {NULL},
     {NULL},
     "requester",
     "",
     "",
     REPORTS "NVIDIA/nccl 523, linux-rdma/perftest 173"},
    {4,
     0x52,
     "no local memory is registered with the key (lkey) of the work request",
     "a wrong or stale lkey: the registration was closed, or is of another protection domain (GPU memory "
     "freed?)",
     {"req_cqe_error"},
     {NULL},
     "requester",
     "none",
     "requester ERR",
     CX5_CX6 "S-8.02"},
    {4,
     0x53,
     "the work request reaches beyond its local memory's registration",
     "a length or address that does not fit the registered memory",
     {"req_cqe_error"},
     {NULL},
     "requester",
     "those before the end of the memory",
     "requester ERR",
     CX5_CX6 "S-8.01"},
    {5,
     0xf5,
     "the first unfinished work request of a queue pair that this host itself set to the error state",
     "the program or its library closed the queue pair, often after the peer's end was noticed",
     {"req_cqe_error"},
     {NULL},
     "requester",
     "none",
     "requester ERR",
     CX5_CX6 CX6 "S-8.04, S-9.01"},
    {5,
     0xf9,
     "flushed: the queue pair was already in the error state",
     "the completion with another code before this one has the cause",
     {NULL},
     {NULL},
     "requester",
     "none",
     "requester ERR",
     CX6 "S-8.05, S-8.14, S-9.08"},
    {9,
     0x8a,
     "the responder's queue pair does not permit this operation",
     "its access flags lack IBV_ACCESS_REMOTE_WRITE, _READ or _ATOMIC",
     {"req_cqe_error", "req_remote_invalid_request"},
     {NULL},
     "responder",
     "1",
     "both ERR",
     CX5_CX6 CX6 "S-8.06"},
    {10,
     0x88,
     "the responder refuses the memory access: its remote key (rkey) or range is not valid there",
     "a wrong rkey or address, a range beyond the registered memory, or the responder has closed that "
     "registration while its "
     "queue pair still answers (a killed process with GPU memory can)",
     {"req_cqe_error", "req_remote_access_errors"},
     {"rx_write_requests"},
     "responder",
     "up to the packet that leaves the memory",
     "both ERR",
     CX5_CX6 CX6 "S-8.07, S-8.08, S-11.02"},
    {11,
     0x89,
     "the responder could not carry out the request",
     "the responder's memory could not be accessed: look at its dmesg",
     {NULL},
     {NULL},
     "responder",
     "",
     "",
     REPORTS "openucx/ucx 5472"},
    {12,
     COMPLETION_VENDOR_NO_ANSWER,
     "no acknowledgement after all retries: the peer is silent",
     "its process or host died, its queue pair was closed or has an error, a link is down, packets are "
     "dropped (MTU of a switch "
     "too small, PFC or ECN not set up), or the GID or VLAN leads nowhere",
     {"roce_adp_retrans", "local_ack_timeout_err", "req_transport_retries_exceeded", "req_cqe_error"},
     {NULL},
     "responder",
     "1, each adaptive resend, and retry_cnt - 2 more",
     "requester ERR",
     CX5_CX6 CX6 "S-8.10, S-6.13"},
    {13,
     0x87,
     "the receiver still had no receive posted (RNR) after all retries",
     "more receive buffers, or retries without limit (roce-traffic: --receive-depth, --rnr-retries 7)",
     {"req_cqe_error", "rnr_nak_retry_err", "req_rnr_retries_exceeded"},
     {"out_of_buffer"},
     "responder",
     "1, and one for each retry",
     "requester ERR, responder stays RTS",
     CX5_CX6 CX6 "S-8.09, S-6.12"},
    {16,
     0x95,
     "this responder refused a request",
     "the remote key of a read that came in; the requester has an error of its own",
     {NULL},
     {NULL},
     "requester",
     "",
     "",
     "one kernel message of a responder (syndrome 0x22); S-8.11"},
};

enum { ERRORS = sizeof errors / sizeof *errors };

const struct completion_error *completion_find(int status, int vendor)
{
    for (size_t i = 0; i < ERRORS; i++)
        if (errors[i].status == status && errors[i].vendor == vendor)
            return &errors[i];
    return NULL;
}

/* `nics` is said before what a byte means. */
static void explain_on(int status, int vendor, const char *nics, struct text *out)
{
    const struct completion_error *row = completion_find(status, vendor);
    text_add(out, "completion error %d (%s)", status, completion_name(status));
    if (vendor != COMPLETION_NO_VENDOR)
        text_add(out, ", vendor error 0x%x", (unsigned)vendor);
    if (row)
        text_add(out, ": %s%s; likely: %s", nics, row->meaning, row->likely);
    else
        text_add(out, ": %s", completion_cause(status));
}

void completion_explain(int status, int vendor, struct text *out)
{
    explain_on(status, vendor, "", out);
}

void completion_explain_printed(int status, int vendor, struct text *out)
{
    explain_on(status, vendor, "on mlx5 NICs ", out);
}

json_t *completion_json(int status, int vendor)
{
    json_t *object = json_object();
    const struct completion_error *row = completion_find(status, vendor);
    json_put(object, "status", json_text(completion_name(status)));
    json_put(object, "status_number", json_integer(status));
    if (vendor != COMPLETION_NO_VENDOR)
        json_put(object, "vendor_error", json_integer(vendor));
    json_put(object, "meaning", json_text(row ? row->meaning : completion_cause(status)));
    if (row) {
        json_put(object, "likely", json_text(row->likely));
        json_put(object, "look_at", json_text(row->look));
    }
    return object;
}

bool completion_take_json(const json_t *object, int *status, int *vendor)
{
    const json_t *byte = json_object_get(object, "vendor_error");
    json_int_t number = json_integer_value(json_object_get(object, "status_number")),
               second = json_integer_value(byte);
    *status = (int)number;
    *vendor =
        json_is_integer(byte) && second >= 0 && second <= VENDOR_MOST ? (int)second : COMPLETION_NO_VENDOR;
    return number > 0 && number < STATUSES;
}

/* ---- what programs print */

/* perftest: perftest_resources.c, NOTIFY_COMP_ERROR_SEND and _RECV. NCCL: src/transport/net_ib.cc of several
 * versions; plugins have its words too. */
static const struct {
    const char *begin, *status, *vendor;
    int vendor_base;
} printed[] = {
    /* Failed status 12: wr_id 0 syndrom 0x81 */
    {"Failed status ", "Failed status ", " syndrom 0x", 16},
    /* Got completion from peer 192.0.2.1<4791> with status=12 opcode=0 len=0 vendor err 129 (Send) */
    {"Got completion", " with status=", " vendor err ", 10},
    /* Got completion with error 12, opcode 0, len 0, vendor err 129 */
    {"Got completion", " with error ", " vendor err ", 10},
};

#define LINE_MOST 400 /* bytes of a line that are looked at */

/* The number behind `word`, which comes at `at` or later; NULL: there is none, or it exceeds `most`. */
static const char *number_behind(const char *at, const char *word, int base, long most, int *value)
{
    const char *found = strstr(at, word), *digits = found ? found + strlen(word) : "";
    char *end;
    long number = isxdigit((unsigned char)*digits) ? strtol(digits, &end, base) : -1;
    *value = (int)number;
    return number >= 0 && number <= most && end != digits ? end : NULL;
}

bool completion_read(const char *line, size_t length, int *status, int *vendor)
{
    char text[LINE_MOST + 1];
    snprintf(text, sizeof text, "%.*s", (int)(length < LINE_MOST ? length : LINE_MOST), line);
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        const char *begin = strstr(text, printed[i].begin),
                   *at = begin ? number_behind(begin, printed[i].status, 10, 999, status) : NULL;
        if (!at || *status == 0)
            continue;
        if (!number_behind(at, printed[i].vendor, printed[i].vendor_base, VENDOR_MOST, vendor))
            *vendor = COMPLETION_NO_VENDOR;
        return true;
    }
    return false;
}

/* ---- the tables as a document */

static void add_counters(struct text *out, const char *const names[])
{
    if (!names[0])
        text_add(out, "none");
    for (size_t i = 0; names[i]; i++)
        text_add(out, "%s`%s`", i ? ", " : "", names[i]);
}

/* What was not measured has no frames either. */
void completion_manual(struct text *out)
{
    text_add(out, "\n");
    for (size_t i = 0; i < ERRORS; i++) {
        const struct completion_error *e = &errors[i];
        const char *rows = strstr(e->source, "S-");
        text_add(out, "- **%d `0x%02x`** (%d): %s. Likely: %s. Look at the %s.", e->status,
                 (unsigned)e->vendor, e->vendor, e->meaning, e->likely, e->look);
        if (*e->frames) {
            text_add(out, " Requester: ");
            add_counters(out, e->requester);
            text_add(out, "; responder: ");
            add_counters(out, e->responder);
            text_add(out, "; frames: %s; %s.", e->frames, e->states);
        }
        text_add(out, " (%s)\n", *e->frames && rows ? rows : e->source);
    }
    text_add(out, "\nBy status, whatever the NIC (in parentheses the syndrome of the kernel's messages; "
                  "without words: as "
                  "above):\n\n");
    for (int i = 1; i < STATUSES; i++) {
        text_add(out, "- %d `%s`", i, statuses[i].name);
        if (statuses[i].syndrome)
            text_add(out, " (`0x%02x`)", statuses[i].syndrome);
        bool said = false; /* by a row with a byte */
        for (size_t k = 0; k < ERRORS; k++)
            said = said || (errors[k].status == i && strncmp(errors[k].meaning, statuses[i].cause, 20) == 0);
        text_add(out, "%s%s\n", said ? "" : ": ", said ? "" : statuses[i].cause);
    }
}

static json_t *names_json(const char *const names[])
{
    json_t *list = json_array();
    for (size_t i = 0; names[i]; i++)
        json_array_append_new(list, json_text(names[i]));
    return list;
}

json_t *completion_rows(void)
{
    json_t *array = json_array();
    for (size_t i = 0; i < ERRORS; i++) {
        const struct completion_error *e = &errors[i];
        json_t *row = completion_json(e->status, e->vendor);
        json_put(row, "syndrome", json_integer((json_int_t)statuses[e->status].syndrome));
        json_put(row, "requester_counters", names_json(e->requester));
        json_put(row, "responder_counters", names_json(e->responder));
        json_put(row, "frames", json_text(e->frames));
        json_put(row, "queue_pairs", json_text(e->states));
        json_put(row, "source", json_text(e->source));
        json_array_append_new(array, row);
    }
    return array;
}
