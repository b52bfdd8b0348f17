/*
 * perftest as a traffic tool: ib_write_bw, ib_read_bw, ib_send_bw and the tests of latency. A process serves
 * one flow and ends with it. A flow runs for the time of the measure phase with perftest's margin before and
 * after it, or, with a size, for a number of messages. The only figures are those of the table at the end.
 * docs/traffic-tools.md.
 */
#include "harness/traffic/perftest.h"
#include "harness/traffic/printed.h"
#include "harness/traffic/traffic_tool.h"

#include "harness/plan/traffic_class.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/formats/lines.h"
#include "lib/roce/completion.h"
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME         "perftest"
#define PORT         18530
#define MOST_FLOWS   64
#define PROGRAM_SIZE 20

/* Limits of perftest (perftest_parameters.h): MAX_TX, MIN_ITER, and the smallest MAX_ITER of its versions. */
#define MOST_DEPTH     15000
#define LEAST_MESSAGES 5
#define MOST_MESSAGES  100000000
#define MOST_WARMUP_NS (30 * NS_PER_S) /* the margin after the measure phase is as long */
#define CONNECTING_NS  NS_PER_S        /* a client waits this long after it has connected */
#define GID_SIZE       40
#define BYTES_PER_MIB  1048576.
#define BITS_PER_BYTE  8

/* ---- the test */

static enum perftest_test test_of(const struct scenario_flow *flow)
{
    return flow->mode == MODE_BANDWIDTH      ? PERFTEST_BANDWIDTH
           : flow->size_bytes == FIELD_UNSET ? PERFTEST_LATENCY_TIMED
                                             : PERFTEST_LATENCY;
}

static void program_in_mode(const struct scenario_flow *flow, int mode, char program[PROGRAM_SIZE])
{
    static const char *const operations[] = {
        [OP_WRITE] = "write", [OP_WRITE_IMM] = "write", [OP_READ] = "read", [OP_SEND] = "send"};
    snprintf(program, PROGRAM_SIZE, "ib_%s_%s", operations[flow->op], mode == MODE_LATENCY ? "lat" : "bw");
}

static void program_of(const struct scenario_flow *flow, char program[PROGRAM_SIZE])
{
    program_in_mode(flow, flow->mode, program);
}

/* The messages of each queue pair. */
static int64_t messages_of(const struct scenario_flow *flow)
{
    return flow->size_bytes / flow->message_bytes / flow->queue_pairs;
}

static int64_t margin_s(const struct scenario *scenario)
{
    int64_t margin = (scenario->phases.warmup_ns + NS_PER_S - 1) / NS_PER_S;
    return margin > 0 ? margin : 1;
}

/* ---- what it cannot do */

static int refuse_flow(struct error *e, const char *path, const char *field, const char *what)
{
    return error_set(e, "%s%s: tool " NAME " cannot %s", path, field, what);
}

static int check_memory(const struct scenario_flow *flow, const char *path, struct error *e)
{
    switch (flow->memory) {
    case MEMORY_HOST:
    case MEMORY_GPU:
    case MEMORY_CUDA_PEERMEM:
    case MEMORY_CUDA_DMABUF:
        return 0;
    default:
        return refuse_flow(
            e, path, ".memory",
            "register it: expected host, gpu (which is cuda-peermem), cuda-peermem or cuda-dmabuf");
    }
}

static int check_size(const struct scenario_flow *flow, const char *path, struct error *e)
{
    int64_t messages = messages_of(flow);
    if (messages * flow->message_bytes * flow->queue_pairs != flow->size_bytes)
        return refuse_flow(e, path, ".size",
                           "send it: it has to be whole messages, as many on each queue pair of the flow");
    if (messages < LEAST_MESSAGES || messages > MOST_MESSAGES)
        return error_set(
            e, "%s.size: tool " NAME " cannot send %" PRId64 " messages on a queue pair: expected %d to %d",
            path, messages, LEAST_MESSAGES, MOST_MESSAGES);
    return 0;
}

static int check_times(const struct scenario *scenario, const struct scenario_flow *flow, const char *path,
                       struct error *e)
{
    if (flow->start_ns || flow->stop_ns != FIELD_UNSET)
        return refuse_flow(e, path, flow->start_ns ? ".start" : ".stop",
                           "start and stop within a run: leave it out");
    if (flow->size_bytes != FIELD_UNSET)
        return check_size(flow, path, e);
    if (scenario->phases.measure_ns % NS_PER_S)
        return refuse_flow(e, path, "",
                           "measure parts of a second: expected whole seconds in phases.measure");
    if (scenario->phases.warmup_ns > MOST_WARMUP_NS)
        return refuse_flow(e, path, "", "have more than 30 s of phases.warmup");
    return 0;
}

static int check_address(const struct lab *lab, const struct scenario_flow *flow, const char *path,
                         struct error *e)
{
    const char *const roles[] = {flow->from, flow->to};
    for (size_t i = 0; i < 2; i++) {
        const struct lab_host *host = lab_real_host(lab, roles[i]);
        const char *address = host ? lab_flow_address(&host->nic) : NULL;
        if (!address || strchr(address, ':'))
            return error_set(e,
                             "%s: tool " NAME " needs an IPv4 address, which nic.address of role %s is not",
                             path, roles[i]);
    }
    return 0;
}

static int perftest_check(const struct scenario *scenario, const struct lab *lab,
                          const struct scenario_flow *flow, const char *path, struct error *e)
{
    if (flow->validate == 1)
        return refuse_flow(e, path, ".validate", "check the data that arrives: expected false");
    if (flow->rate_bps != FIELD_UNSET)
        return refuse_flow(e, path, ".rate", "keep to a rate as roce-traffic does: leave it out");
    if (flow->numa >= 0)
        return refuse_flow(e, path, ".numa", "choose a NUMA node: leave it out");
    if (flow->depth > MOST_DEPTH)
        return refuse_flow(e, path, ".depth", "have more than 15000 messages in flight on a queue pair");
    if (flow_check_on_hosts(flow, path, e) != 0 || check_memory(flow, path, e) != 0 ||
        check_address(lab, flow, path, e) != 0)
        return -1;
    return check_times(scenario, flow, path, e);
}

/* ---- commands */

static void add_memory(const struct scenario_flow *flow, const struct lab_host *here, struct words *w)
{
    if (flow->memory == MEMORY_HOST)
        return;
    words_add(w, "--use_cuda=%" PRId64,
              flow->gpu != FIELD_UNSET ? flow->gpu
              : here && here->gpu      ? here->gpu->index
                                       : 0);
    if (flow->memory == MEMORY_CUDA_DMABUF)
        words_add(w, "--use_cuda_dmabuf");
}

/* It asks for relaxed ordering unless it is told not to. */
#define STRICT_ORDERING "--disable_pcie_relaxed"

/* Both ends must have the same, except for the GPU. */
static void add_options(const struct traffic_job *job, const struct lab_host *here, struct words *w)
{
    const struct scenario_flow *flow = job->flows[0];
    words_add(w, "--CPU-freq"); /* a clock rate that varies is not a reason to refuse */
    words_add(w, "--port=%" PRId64, PORT + (int64_t)job->number);
    words_add(w, "--size=%" PRId64, flow->message_bytes);
    if (flow->size_bytes != FIELD_UNSET) {
        words_add(w, "--iters=%" PRId64, messages_of(flow));
    } else {
        words_add(w, "--duration=%lld",
                  job->scenario->phases.measure_ns / NS_PER_S + 2LL * margin_s(job->scenario));
        words_add(w, "--margin=%" PRId64, margin_s(job->scenario));
    }
    if (flow->mode == MODE_BANDWIDTH) {
        words_add(w, "--qp=%" PRId64, flow->queue_pairs);
        words_add(w, "--tx-depth=%" PRId64, flow->depth);
        words_add(w, "--noPeak");
    }
    if (flow->op == OP_WRITE_IMM)
        words_add(w, "--write_with_imm");
    words_add(w, "--sl=%" PRId64, flow->priority);
    words_add(w, "--tclass=%" PRId64, flow_traffic_class(job->scenario, flow));
    if (here && here->nic.ack_timeout != FIELD_UNSET)
        words_add(w, "--qp-timeout=%" PRId64, here->nic.ack_timeout);
    if (flow->relaxed_ordering == 0)
        words_add(w, STRICT_ORDERING);
    add_memory(flow, here, w);
}

/* As /sys/class/infiniband/DEVICE/ports/PORT/gids shows the GID of an IPv4 address. */
static void gid_of(const struct lab_host *host, char gid[GID_SIZE])
{
    const char *address = lab_flow_address(&host->nic);
    char plain[INET_ADDRSTRLEN] = "";
    unsigned char b[4] = {0};
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(address, "/"), address);
    inet_pton(AF_INET, plain, b);
    snprintf(gid, GID_SIZE, "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", b[0], b[1], b[2], b[3]);
}

/*
 * On the host: the device and the GID are known when the run's settings are in force. The process becomes
 * perftest's, which a watcher may end (remote_stream.c). Words: GID, device or *, index of the GID or -, then
 * the script's own, then the command.
 */
#define FIND_GID                                                                                          \
    "gid=$1 device=$2 index=$3 own=$4; shift 4; found=; "                                                 \
    "if [ \"$index\" != - ]; then found=--gid-index=$index; "                                             \
    "[ \"$device\" = '*' ] || found=\"$found --ib-dev=$device\"; "                                        \
    "else for at in /sys/class/infiniband/$device/ports/*/gids/*; do "                                    \
    "port=${at%/gids/*}; n=${at##*/}; "                                                                   \
    "[ \"$(cat $at)\" = $gid ] && [ \"$(cat $port/gid_attrs/types/$n)\" = 'RoCE v2' ] || continue; "      \
    "name=${port%/ports/*}; found=\"--ib-dev=${name##*/} --ib-port=${port##*/} --gid-index=$n\"; break; " \
    "done 2>/dev/null; fi; "                                                                              \
    "[ \"$found\" ] || { echo \"" NAME                                                                    \
    ": error: RDMA device $device has no RoCE v2 GID $gid\" >&2; exit 3; }; "                             \
    "set -- \"$@\" $found; "

/* perftest says nothing before its end to what is not a terminal: that it listens is seen in the kernel's
 * table.
 */
static const char serve_script[] =
    FIND_GID "( until grep -qs \": [0-9A-F]*:$own [0-9A-F]*:0000 0A\" /proc/net/tcp /proc/net/tcp6; do "
             "[ -d /proc/$$ ] || exit; sleep 0.05; done; echo \"" TRAFFIC_RAN "$*\" ) & "
             "exec \"$@\"";
static const char drive_script[] =
    FIND_GID "left=$((own - $(date +%s%N))); "
             "[ $left -le 0 ] || sleep $((left / 1000000000)).$(printf %09d $((left % 1000000000))); "
             "echo \"" TRAFFIC_RAN "$*\"; exec \"$@\"";

static void add_start(const char *script, const struct traffic_end *here, const char *own, struct words *w)
{
    const struct lab_nic *nic = &here->lab->nic;
    char gid[GID_SIZE];
    gid_of(here->lab, gid);
    words_add_all(w, (const char *const[]){"sh", "-c", script, NAME, gid, NULL});
    words_add(w, "%s", here->device ? here->device : "*");
    if (nic->vlan || nic->gid_index == FIELD_UNSET)
        words_add(w, "-");
    else
        words_add(w, "%" PRId64, nic->gid_index);
    words_add(w, "%s", own);
}

static int perftest_serve(const struct traffic_job *job, const struct traffic_end *here,
                          struct traffic_command *out, struct error *e)
{
    char program[PROGRAM_SIZE], port[8];
    snprintf(port, sizeof port, "%04X", (unsigned int)(PORT + job->number) & 0xffff);
    program_of(job->flows[0], program);
    add_start(serve_script, here, port, &out->words);
    words_add(&out->words, "%s", program);
    add_options(job, here->lab, &out->words);
    return words_whole(&out->words, e);
}

static int perftest_drive(const struct traffic_job *job, const struct traffic_end *from,
                          const struct traffic_end *to, struct traffic_command *out, struct error *e)
{
    const char *address = lab_flow_address(&to->lab->nic);
    char program[PROGRAM_SIZE], start[24];
    snprintf(start, sizeof start, "%lld", job->start_ns - CONNECTING_NS);
    program_of(job->flows[0], program);
    add_start(drive_script, from, start, &out->words);
    words_add(&out->words, "%s", program);
    words_add(&out->words, "%.*s", (int)strcspn(address, "/"), address);
    add_options(job, from->lab, &out->words);
    return words_whole(&out->words, e);
}

/* ---- why it failed */

#define MOST_SHOWN 4   /* lines of its messages; later ones are consequences */
#define SHOWN      120 /* bytes of a line */

static bool explain_completion(const struct printed_line *line, struct text *out)
{
    int status, vendor;
    if (!completion_read(line->at, line->length, &status, &vendor))
        return false;
    completion_explain_printed(status, vendor, out);
    return true;
}

/* "Couldn't allocate MR with error=14", and before 6.15 "Couldn't allocate MR" alone. */
static bool explain_registration(const struct traffic_job *job, const struct printed_line *line,
                                 struct text *out)
{
    static const char before[] = "Couldn't allocate MR", number_is[] = "error=";
    const char *at = memmem(line->at, line->length, before, strlen(before));
    const char *number =
        at ? memmem(at, line->length - (size_t)(at - line->at), number_is, strlen(number_is)) : NULL;
    int code = number ? atoi(number + strlen(number_is)) : 0;
    bool gpu = job->flows[0]->memory != MEMORY_HOST;
    if (!at)
        return false;
    text_add(out, "%s%s memory could not be registered with the NIC", out->length ? "; " : "",
             gpu ? "GPU" : "host");
    if (number)
        text_add(out, " (errno %d, %s)", code, strerror(code));
    if (gpu && job->flows[0]->memory != MEMORY_CUDA_DMABUF && (code == EFAULT || !number))
        text_add(out, ": nvidia-peermem is not loaded, or CUDA gives it no memory of this GPU (GeForce)");
    else if (gpu && (code == ENOMEM || code == EINVAL))
        text_add(out, ": BAR1 may be too small for it, or the IOMMU refuses peer-to-peer mappings");
    else if (gpu && (code == EOPNOTSUPP || code == ENOSYS))
        text_add(out, ": the NIC's driver cannot register dma-bufs");
    else if (code == ENOMEM)
        text_add(out, ": the limit on locked memory (ulimit -l), or the device's resources");
    text_add(out, gpu ? "; host-facts --check on the host judges that" : "");
    return true;
}

/* Does a line of its messages say nothing of a failure? */
static bool is_chatter(const struct printed_line *line)
{
    static const char *const notes[] = {"WARNING: BW peak", "Conflicting CPU frequency",
                                        "doesn't supports CUDA tests with inline"};
    bool empty = true;
    for (size_t i = 0; i < line->length && empty; i++)
        empty = strchr(" \t\r-", line->at[i]);
    for (size_t i = 0; !empty && i < sizeof notes / sizeof *notes; i++)
        empty = memmem(line->at, line->length, notes[i], strlen(notes[i]));
    return empty;
}

/* The first failure is the cause of those after it, and the last line alone says the least. */
static void perftest_explain(const struct traffic_job *job, const char *said, const char *printed,
                             struct text *out)
{
    const char *const texts[] = {said, printed};
    struct printed_line line;
    struct text shown = {0};
    size_t count = 0;
    for (size_t i = 0; i < 2; i++)
        for (const char *at = texts[i], *end = at + strlen(at);
             out->length == 0 && printed_next(&at, end, &line);)
            if (!explain_completion(&line, out))
                (void)explain_registration(job, &line, out);
    for (const char *at = said, *end = at + strlen(at); count < MOST_SHOWN && printed_next(&at, end, &line);)
        if (!is_chatter(&line))
            text_add(&shown, "%s%.*s", count++ ? " | " : "", (int)(line.length < SHOWN ? line.length : SHOWN),
                     line.at);
    if (shown.length)
        text_add(out, "%s%s%s", out->length ? " (it said: " : "", text_string(&shown),
                 out->length ? ")" : "");
    text_free(&shown);
}

/* Two lines for each queue pair of each end: with some hundreds they are most of what it prints. */
static bool perftest_needs(const char *line, size_t length)
{
    static const char *const addresses[] = {" local address: ", " remote address: ", " GID: "};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        if (length >= strlen(addresses[i]) && memcmp(line, addresses[i], strlen(addresses[i])) == 0)
            return false;
    return true;
}

/* ---- is it on the hosts? */

/* All its programs take --disable_pcie_relaxed, but only the help of those of bandwidth has it
 * (perftest_parameters.c, usage). */
#define ASK \
    ("{ $1 --version; $1 --help; [ \"$2\" = \"$1\" ] || $2 --help | grep -e " STRICT_ORDERING "; } 2>&1; :")

static int perftest_ask(const struct traffic_job *job, struct words *command, struct error *e)
{
    char program[PROGRAM_SIZE], with_ordering[PROGRAM_SIZE];
    program_of(job->flows[0], program);
    program_in_mode(job->flows[0], MODE_BANDWIDTH, with_ordering);
    words_add_all(command, (const char *const[]){"sh", "-c", ASK, "sh", program, with_ordering, NULL});
    return words_whole(command, e);
}

/* The version of a line "Version: 6.06". */
static bool read_version(const char *answer, char version[TRAFFIC_VERSION_SIZE])
{
    static const char before[] = "Version: ";
    const char *at = strstr(answer, before);
    size_t length = at ? strspn(at + strlen(before), "0123456789.") : 0;
    if (!length || length >= TRAFFIC_VERSION_SIZE)
        return false;
    snprintf(version, TRAFFIC_VERSION_SIZE, "%.*s", (int)length, at + strlen(before));
    return true;
}

static int judge_options(const struct traffic_job *job, const char *host, const char *program,
                         const char *answer, const char *version, struct error *e)
{
    /* of FIND_GID, and of a host */
    static const char *const more[] = {"--ib-dev", "--ib-port", "--gid-index", "--qp-timeout", NULL};
    struct words options = {0};
    int result = 0;
    add_options(job, NULL, &options);
    words_add_all(&options, more);
    if (job->flows[0]->relaxed_ordering > 0)
        words_add(&options, STRICT_ORDERING); /* a version without it never asks for relaxed ordering */
    if (words_whole(&options, e) != 0)
        result = -1;
    for (size_t i = 0; result == 0 && i < options.count; i++)
        if (!printed_help_knows(answer, options.items[i]))
            result =
                error_set(e, "host %s: %s %s has no option %.*s, which flow %s needs%s", host, program,
                          version, (int)strcspn(options.items[i], "="), options.items[i], job->flows[0]->name,
                          strstr(options.items[i], "cuda") ? ": it was built without CUDA, or is too old"
                                                           : ": a newer one is needed");
    words_free(&options);
    return result;
}

static int perftest_judge(const struct traffic_job *job, const char *host, const char *answer,
                          char version[TRAFFIC_VERSION_SIZE], struct error *e)
{
    char program[PROGRAM_SIZE];
    program_of(job->flows[0], program);
    if (!read_version(answer, version))
        return error_set(e, "host %s has no %s of " NAME " (flow %s): it says \"%.*s\"", host, program,
                         job->flows[0]->name, (int)strcspn(answer, "\n"), answer);
    return judge_options(job, host, program, answer, version, e);
}

#define MOST_COLUMNS  9
#define LATENCY_STDEV 6 /* its column; no result has it */
#define MOST_WORDS    16
#define DASHES        10 /* perftest prints more */

/* ---- the table: lines */

static bool begins_table(const struct printed_words *words)
{
    return strcmp(words->items[0], "#bytes") == 0;
}

static bool is_rule(const struct printed_line *line)
{
    size_t dashes = 0;
    while (dashes < line->length && line->at[dashes] == '-')
        dashes++;
    return dashes >= DASHES && dashes == line->length;
}

/* ---- the table: its header */

/* The words of each header; an alternative is behind '|'. */
static const char *const headers[][MOST_WORDS] = {
    [PERFTEST_BANDWIDTH] = {"#bytes", "#iterations", "BW", "peak[MiB/sec]|peak[MB/sec]", "BW",
                            "average[MiB/sec]|average[MB/sec]", "MsgRate[Mpps]"},
    [PERFTEST_LATENCY] = {"#bytes", "#iterations", "t_min[usec]", "t_max[usec]", "t_typical[usec]",
                          "t_avg[usec]", "t_stdev[usec]", "99%", "percentile[usec]", "99.9%",
                          "percentile[usec]"},
    [PERFTEST_LATENCY_TIMED] = {"#bytes", "#iterations", "t_avg[usec]", "tps", "average"},
};
static const size_t columns[] = {
    [PERFTEST_BANDWIDTH] = 5, [PERFTEST_LATENCY] = 9, [PERFTEST_LATENCY_TIMED] = 4};

static bool is_header(const struct printed_words *words, enum perftest_test test)
{
    return printed_words_are(words, headers[test]);
}

/* ---- the table: its row */

/* perftest squares the deviations as 32-bit integers (print_report_lat of its perftest_parameters.c): above
 * 46 ms the sum overflows, and the standard deviation is the root of a negative number. */
static bool is_not_a_number(const char *word)
{
    return strcmp(word, "nan") == 0 || strcmp(word, "-nan") == 0;
}

static bool read_numbers(enum perftest_test test, const struct printed_words *words, struct perftest_row *row,
                         double *numbers)
{
    bool good = words->count == columns[test] && printed_count(words->items[0], &row->bytes) &&
                printed_count(words->items[1], &row->messages);
    for (size_t i = 2; good && i < columns[test]; i++)
        good = printed_number(words->items[i], &numbers[i]) ||
               (test == PERFTEST_LATENCY && i == LATENCY_STDEV && is_not_a_number(words->items[i]));
    return good;
}

/* Both averages are of the same messages, each rounded as it is printed: 2 and 6 decimals. */
static bool averages_agree(const struct perftest_row *row)
{
    double a_million = (double)row->bytes * 1e6 / 1048576;
    double difference = row->mibps - row->million_messages_per_s * a_million;
    double rounding = 0.0051 + 0.51e-6 * a_million;
    return difference <= rounding && difference >= -rounding;
}

/* Both rates are 0 only if less than a message in two seconds was sent; an hour has few of them. */
static bool rates_fit_count(const struct perftest_row *row)
{
    return row->mibps > 0 || row->million_messages_per_s > 0 ? row->messages > 0 : row->messages < 3600 / 2;
}

/* The mean is the time over the messages, or half of it where each is answered (rtt_factor: all but reads);
 * tps the messages over the time: rounded to two decimals each. */
static bool mean_fits_rate(const struct perftest_row *row, int ways)
{
    double both = row->mean_us * row->messages_per_s * ways;
    double rounding = 0.0051 * (row->mean_us + row->messages_per_s + 0.0051) * ways;
    return row->messages > 0 ? row->mean_us > 0 && both - 1e6 <= rounding && 1e6 - both <= rounding
                             : row->messages_per_s == 0;
}

static bool latencies_in_order(const struct perftest_row *row)
{
    return row->max_us > 0 && row->messages > 0 && row->min_us <= row->typical_us &&
           row->typical_us <= row->p99_us && row->p99_us <= row->p99_9_us && row->p99_9_us <= row->max_us &&
           row->min_us <= row->mean_us && row->mean_us <= row->max_us;
}

static bool read_row(enum perftest_test test, const struct printed_words *words, struct perftest_row *row)
{
    double n[MOST_COLUMNS] = {0};
    *row = (struct perftest_row){0};
    if (!read_numbers(test, words, row, n))
        return false;
    switch (test) {
    case PERFTEST_BANDWIDTH:
        row->mibps = n[3];
        row->million_messages_per_s = n[4];
        return averages_agree(row) && rates_fit_count(row);
    case PERFTEST_LATENCY:
        row->min_us = n[2];
        row->max_us = n[3];
        row->typical_us = n[4];
        row->mean_us = n[5];
        row->p99_us = n[7];
        row->p99_9_us = n[8];
        return latencies_in_order(row);
    case PERFTEST_LATENCY_TIMED:
        row->mean_us = n[2];
        row->messages_per_s = n[3];
        return mean_fits_rate(row, 1) || mean_fits_rate(row, 2);
    }
    return false;
}

/* ---- the table, whole */

/* Read on after the header. */
static int read_body(enum perftest_test test, const char *at, const char *end, struct perftest_row *row,
                     struct error *e)
{
    struct printed_line line;
    struct printed_words words;
    if (!printed_next(&at, end, &line))
        return error_set(e, "its output ends before the row of its table");
    printed_split(&line, &words);
    if (!read_row(test, &words, row))
        return printed_refuse(&line, "a row of its table, with numbers that belong together", e);
    if (!printed_next(&at, end, &line))
        return error_set(e, "its output ends before the end of its table");
    if (!is_rule(&line))
        return printed_refuse(&line, "the end of its table", e);
    while (printed_next(&at, end, &line)) {
        printed_split(&line, &words);
        if (begins_table(&words))
            return printed_refuse(&line, "one table", e);
    }
    return 0;
}

int perftest_table_read(enum perftest_test test, const char *printed, size_t length, struct perftest_row *row,
                        struct error *e)
{
    const char *at = printed, *end = printed + length;
    struct printed_line line;
    struct printed_words words;
    while (printed_next(&at, end, &line)) {
        printed_split(&line, &words);
        if (is_header(&words, test))
            return read_body(test, at, end, row, e);
        if (begins_table(&words))
            return printed_refuse(&line, "the columns that perftest 6.06 and later print for this test", e);
    }
    return error_set(e, "its output has no table of results");
}

/* ---- its results */

/* The average with the smaller error by rounding: "BW average" has two decimals, "MsgRate" six. Both are 0 if
 * nothing was counted. */
static double goodput_bps(const struct perftest_row *row)
{
    double by_bytes = row->mibps * BYTES_PER_MIB * BITS_PER_BYTE;
    double by_messages = row->million_messages_per_s * 1e6 * (double)row->bytes * BITS_PER_BYTE;
    return 0.005 * row->million_messages_per_s <= 0.5e-6 * row->mibps ? by_bytes : by_messages;
}

static int check_row(const struct scenario_flow *flow, const struct perftest_row *row, struct error *e)
{
    int64_t messages =
        flow->size_bytes == FIELD_UNSET ? row->messages : messages_of(flow) * flow->queue_pairs;
    if (row->bytes != flow->message_bytes)
        return error_set(e, "its table is about messages of %" PRId64 " bytes: expected %" PRId64, row->bytes,
                         flow->message_bytes);
    if (row->messages != messages)
        return error_set(e, "its table is about %" PRId64 " messages: expected %" PRId64, row->messages,
                         messages);
    if (row->messages == 0)
        return error_set(e, "no message was complete in the measured time");
    if (test_of(flow) == PERFTEST_LATENCY_TIMED && !mean_fits_rate(row, flow->op == OP_READ ? 1 : 2))
        return error_set(e, "its table has a mean of %.2f us beside %.2f messages a second, %s", row->mean_us,
                         row->messages_per_s,
                         flow->op == OP_READ ? "which are read one by one" : "each of which is answered");
    if (row->messages > LINES_MOST / row->bytes)
        return error_set(e, "its table is about %" PRId64 " messages: expected fewer", row->messages);
    return 0;
}

static json_t *latency_of(enum perftest_test test, const struct perftest_row *row)
{
    if (test == PERFTEST_LATENCY_TIMED)
        return json_make("{s:f}", "mean", row->mean_us * 1e3);
    return json_make("{s:f,s:f,s:f,s:f,s:f,s:f}", "min", row->min_us * 1e3, "mean", row->mean_us * 1e3, "p50",
                     row->typical_us * 1e3, "p99", row->p99_us * 1e3, "p99_9", row->p99_9_us * 1e3, "max",
                     row->max_us * 1e3);
}

static json_t *memory_of(const struct scenario_flow *flow)
{
    const char *route =
        flow->memory == MEMORY_GPU ? flow_memory_names[MEMORY_CUDA_PEERMEM] : flow_memory_names[flow->memory];
    return json_make("{s:s,s:s}", "kind", flow->memory == MEMORY_HOST ? "host" : "gpu", "route", route);
}

/* perftest prints no time: it follows from count and rate, and is unknown (0) where it prints no rate. */
static json_t *summary_of(const struct scenario_flow *flow, enum perftest_test test,
                          const struct perftest_row *row, int64_t time_ns)
{
    double bytes = (double)row->bytes * (double)row->messages;
    double bps = test == PERFTEST_BANDWIDTH ? goodput_bps(row)
                                            : row->messages_per_s * (double)row->bytes * BITS_PER_BYTE;
    double took_ns = bps > 0 ? bytes * BITS_PER_BYTE / bps * 1e9 : 0;
    json_t *line =
        json_make("{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:i,s:b,s:o}", "type", "summary", "flow", flow->name,
                  "message_bytes", (json_int_t)row->bytes, "time_ns", (json_int_t)time_ns, "duration_ns",
                  (json_int_t)(took_ns + 0.5), "bytes", (json_int_t)(row->bytes * row->messages), "messages",
                  (json_int_t)row->messages, "errors", 0, "complete", 1, "memory", memory_of(flow));
    if (bps > 0) {
        json_object_set_new(line, "goodput_bps", json_real(bps));
        json_object_set_new(line, "messages_per_s", json_real(bps / BITS_PER_BYTE / (double)row->bytes));
    }
    if (test != PERFTEST_BANDWIDTH)
        json_object_set_new(line, "latency_ns", latency_of(test, row));
    return line;
}

static int perftest_read(const struct traffic_job *job, const char *printed, size_t length, int64_t time_ns,
                         struct text *out, struct error *e)
{
    const struct scenario_flow *flow = job->flows[0];
    enum perftest_test test = test_of(flow);
    struct perftest_row row = {0};
    if (perftest_table_read(test, printed, length, &row, e) != 0 || check_row(flow, &row, e) != 0)
        return -1;
    json_t *line = summary_of(flow, test, &row, time_ns);
    char *text = line ? json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    json_decref(line);
    if (!text)
        return error_set(e, "out of memory for the summary of flow %s", flow->name);
    text_add(out, "%s", text);
    free(text);
    return 0;
}

const struct traffic_tool traffic_tool_perftest = {
    .name = NAME,
    .serving = NAME "'s server",
    .driving = NAME,
    .port = PORT,
    .most_flows = MOST_FLOWS,
    .flows_a_job = 1,
    .server_for_each_job = true,
    .lead_ns = 2 * NS_PER_S,
    .check = perftest_check,
    .serve = perftest_serve,
    .drive = perftest_drive,
    .install = "apt-get install perftest, or dnf install perftest",
    .cannot = "no lines while it runs, no latencies of single messages under load, no check of the data",
    .ask = perftest_ask,
    .judge = perftest_judge,
    .read = perftest_read,
    .needs = perftest_needs,
    .explain = perftest_explain,
};
