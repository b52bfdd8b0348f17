#include "harness/labs/hosts/host.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/formats/lines.h"
#include "lib/text.h"
#include "remote/reach.h"
#include "lib/document/json_file.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLOCK_PROBES     24
#define CLOCK_TIMEOUT_NS (10 * NS_PER_S)

/* ---- connection */

static char *copy_if_given(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static struct ssh_session *open_ssh(const struct lab_host *host, int64_t timeout_ns,
                                    const atomic_bool *cancelled, struct error *e)
{
    struct ssh_target target = {.host = copy_if_given(host->ssh),
                                .port = host->port == FIELD_UNSET ? 0 : host->port,
                                .identity = copy_if_given(host->identity),
                                .known_hosts = copy_if_given(host->known_hosts),
                                .sudo = host->sudo == 1,
                                .cancelled = cancelled};
    struct ssh_session *session = ssh_open(host->name, &target, timeout_ns, e);
    ssh_target_free(&target);
    return session;
}

int remote_host_open_unless(struct remote_host *h, struct virt *virt, const struct lab *lab,
                            const struct lab_host *host, int64_t timeout_ns, const atomic_bool *cancelled,
                            struct error *e)
{
    *h = (struct remote_host){.lab = host};
    h->ssh = virt ? virt_host_open(virt, lab, host, timeout_ns, cancelled, e)
                  : open_ssh(host, timeout_ns, cancelled, e);
    return h->ssh ? 0 : -1;
}

int remote_host_open(struct remote_host *h, struct virt *virt, const struct lab *lab,
                     const struct lab_host *host, int64_t timeout_ns, struct error *e)
{
    return remote_host_open_unless(h, virt, lab, host, timeout_ns, NULL, e);
}

void remote_host_join(struct remote_host *h, const struct lab_host *host, const struct remote_host *first)
{
    *h = (struct remote_host){.lab = host, .ssh = first->ssh, .shares = true};
}

void remote_host_close(struct remote_host *h)
{
    if (h->ssh && !h->shares)
        ssh_close(h->ssh);
    free(h->netdev);
    free(h->rdma);
    for (size_t i = 0; i < REMOTE_EXTRA_NICS; i++)
        free(h->extra[i]);
    json_decref(h->nic);
    json_decref(h->thresholds);
    json_decref(h->warnings);
    *h = (struct remote_host){0};
}

/* ---- programs */

const char *remote_program(const struct remote_host *h, const char *name, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s/%s", h->lab->programs ? h->lab->programs : "/usr/local/bin", name);
    return buffer;
}

/* The last line that a program printed on stderr. */
static const char *last_line(struct text *text)
{
    while (text->length && text->data[text->length - 1] == '\n')
        text->data[--text->length] = '\0';
    const char *all = text_string(text), *newline = strrchr(all, '\n');
    return newline ? newline + 1 : all;
}

/* All lines that ssh and a program printed on stderr, as one. */
static const char *joined_lines(struct text *text)
{
    last_line(text);
    for (size_t i = 0; i < text->length; i++)
        if (text->data[i] == '\n')
            text->data[i] = ';';
    return text->length ? text_string(text) : "nothing was printed";
}

json_t *remote_json_within(struct remote_host *h, const char *const argv[], const char *input,
                           int64_t timeout_ns, int *status, struct error *e)
{
    struct text out = {0}, err = {0};
    int code = ssh_run(h->ssh, argv, input, &out, &err, timeout_ns, e);
    struct error wrong;
    json_t *json =
        code >= 0 ? json_file_parse(text_string(&out), out.length, argv[0], DOCUMENT_ANSWER, &wrong) : NULL;
    if (code == 127)
        error_set(e, "host %s has no %s (%.200s): `harness install` copies the programs there", h->lab->name,
                  argv[0], last_line(&err));
    else if (code == SSH_OWN_STATUS && !json_is_object(json))
        error_set(
            e,
            "host %s: %s: ssh has no exit status of it (its own is 255), and the connection is still there: "
            "a signal ended it, or ssh could not start it: %.400s",
            h->lab->name, argv[0], joined_lines(&err));
    else if (code >= 0 && !json_is_object(json))
        error_set(e, "host %s: %s did not print a JSON object (exit status %d): %.300s", h->lab->name,
                  argv[0], code, err.length ? last_line(&err) : "it printed nothing");
    if (!json_is_object(json)) {
        json_decref(json);
        json = NULL;
    }
    if (status)
        *status = code;
    text_free(&out);
    text_free(&err);
    return json;
}

json_t *remote_json(struct remote_host *h, const char *const argv[], const char *input, int *status,
                    struct error *e)
{
    return remote_json_within(h, argv, input, REMOTE_COMMAND_NS, status, e);
}

/* ---- facts */

/* Only GPUs that NVML knows have an NVML index. */
static bool has_nvml_index(const json_t *facts, int64_t index)
{
    size_t i;
    const json_t *gpu;
    json_array_foreach(json_object_get(facts, "gpus"), i, gpu)
    {
        const json_t *known = json_object_get(gpu, "index");
        if (json_is_integer(known) && json_integer_value(known) == index)
            return true;
    }
    return false;
}

static bool is_virtual_gpu(const json_t *facts, int64_t index)
{
    const json_t *gpu = json_array_get(json_object_get(facts, "gpus"), (size_t)index);
    return json_is_object(json_object_get(gpu, "virtual"));
}

void remote_find_gpu(struct remote_host *h, const json_t *facts)
{
    h->nvml_answers = h->lab->gpu && has_nvml_index(facts, h->lab->gpu->index);
    h->virtual_gpu = h->lab->gpu && is_virtual_gpu(facts, h->lab->gpu->index);
}

json_t *remote_facts(struct remote_host *h, int memory, const char *const netdevs[], struct error *e)
{
    char program[512];
    struct words w = {0};
    json_t *facts = NULL;
    words_add_all(&w, (const char *const[]){remote_program(h, "host-facts", program, sizeof program),
                                            "--memory", flow_memory_names[memory], NULL});
    for (size_t i = 0; netdevs[i]; i++)
        words_add_all(&w, (const char *const[]){"--tools", netdevs[i], NULL});
    if (words_whole(&w, e) == 0)
        facts = remote_json(h, (const char *const *)w.items, NULL, NULL, e);
    words_free(&w);
    remote_find_gpu(h, facts);
    return facts;
}

/* A setting counts as supported if nic-config could read it. */
static bool has_setting(const struct remote_host *h, const char *netdev, const char *key)
{
    const json_t *interfaces = json_object_get(h->nic, "interfaces");
    return json_object_get(json_object_get(interfaces, netdev), key);
}

static const char *driver_of(const struct remote_host *h)
{
    const json_t *facts = json_object_get(json_object_get(h->nic, "facts"), h->netdev);
    const char *driver = json_string_value(json_object_get(facts, "driver"));
    return driver ? driver : "";
}

/* The lab says that the host has a GPU for the experiment, and the host sees one. */
static bool has_gpu(const struct remote_host *h, const json_t *facts)
{
    const json_t *gpus = json_object_get(facts, "gpus");
    return h->lab->gpu && json_array_size(gpus) > (size_t)h->lab->gpu->index;
}

/* Its firmware has congestion control: what MLNX_OFED switches by priority, and upstream's driver only
 * shows the parameters of. */
static bool has_congestion_control(const struct remote_host *h)
{
    return has_setting(h, h->netdev, "ecn") || has_setting(h, h->netdev, "dcqcn");
}

/* The facts of the host's NIC; NULL: not seen. */
static const json_t *nic_facts(const struct remote_host *h, const json_t *facts)
{
    size_t i;
    json_t *nic;
    json_array_foreach(json_object_get(facts, "nics"), i, nic)
    {
        const char *netdev = json_string_value(json_object_get(nic, "netdev"));
        if (netdev && h->netdev && strcmp(netdev, h->netdev) == 0)
            return nic;
    }
    return NULL;
}

/* A NIC that implements RoCE in hardware has firmware; Soft-RoCE and Soft-iWARP have none. */
static bool has_roce_nic(const struct remote_host *h, const json_t *facts)
{
    const json_t *rdma = json_object_get(nic_facts(h, facts), "rdma");
    const char *firmware = json_string_value(json_object_get(rdma, "firmware"));
    return h->rdma && firmware && *firmware;
}

/* The NIC's NUMA node is known, and there are others. */
static bool has_numa_nodes(const struct remote_host *h, const json_t *facts)
{
    const json_t *system = json_object_get(facts, "system"),
                 *pci = json_object_get(nic_facts(h, facts), "pci");
    return json_integer_value(json_object_get(system, "numa_nodes")) > 1 &&
           json_is_integer(json_object_get(pci, "numa_node"));
}

/* The kernel that implements RoCE upon another NIC writes with the processor. */
static bool has_relaxed_ordering(const struct remote_host *h, const json_t *facts)
{
    const json_t *pci = json_object_get(nic_facts(h, facts), "pci");
    return has_roce_nic(h, facts) && json_is_true(json_object_get(pci, "relaxed_ordering"));
}

enum origin remote_origin(const struct remote_host *h, const json_t *facts)
{
    const char *netdevs[REMOTE_EXTRA_NICS + 1] = {h->netdev};
    for (size_t i = 0; i < REMOTE_EXTRA_NICS; i++)
        netdevs[i + 1] = h->extra[i];
    if (h->lab->forwarding)
        return ORIGIN_VIRTUAL; /* its ports are the module's, behind the guest's interfaces */
    return origin_of_facts(facts, netdevs, REMOTE_EXTRA_NICS + 1);
}

json_t *remote_capabilities(const struct remote_host *h, const json_t *facts)
{
    bool mlx5 = strcmp(driver_of(h), "mlx5_core") == 0;
    const struct {
        const char *name;
        bool there;
    } all[] = {
        {"rdma", h->rdma},
        {"roce-nic", has_roce_nic(h, facts)},
        {"lossless", h->rdma},
        {"pfc", mlx5 && has_setting(h, h->netdev, "pfc")},
        {"pfc-duration", mlx5 && has_setting(h, h->netdev, "pfc")},
        {"hw-counters", mlx5 && h->rdma},
        {"cnp", mlx5 && has_congestion_control(h)},
        {"pcie", mlx5},
        {"gpu", has_gpu(h, facts)},
        {"switch", lab_forwards(h->lab)},
        {"ecn-mark", lab_forwards(h->lab)},
        {"numa", has_numa_nodes(h, facts)},
        {"relaxed-ordering", has_relaxed_ordering(h, facts)},
    };
    json_t *names = json_array();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].there)
            json_array_append_new(names, json_text(all[i].name));
    return names;
}

/* ---- clock */

/* Answers each line with the time: bash reads the clock without starting another program. */
static const char answer_times[] = "while read -r _; do echo \"$EPOCHREALTIME\"; done";

#define NO_TIMES "it needs bash 5, which provides $EPOCHREALTIME"

/* One line of the answers, within the time left. */
static int read_answer(struct process *p, struct text *line, int64_t deadline_ns)
{
    text_clear(line);
    for (;;) {
        char c;
        ssize_t got = read(p->out, &c, 1);
        if (got == 1 && c == '\n')
            return 0;
        if (got == 1 && line->length < 64) {
            text_add_bytes(line, &c, 1);
            continue;
        }
        struct pollfd fd = {.fd = p->out, .events = POLLIN};
        int64_t left_ns = deadline_ns - clock_monotonic_ns();
        if (got >= 0 || left_ns <= 0 || poll(&fd, 1, (int)(left_ns / NS_PER_MS) + 1) < 0)
            return -1;
    }
}

int remote_time(const char *text, int64_t *time_ns)
{
    static const char digits[] = "0123456789";
    size_t whole = strspn(text, digits);
    const char *fraction = text + whole + 1;
    if (!whole || whole > 10 || (text[whole] != '.' && text[whole] != ',') || strlen(fraction) != 6 ||
        strspn(fraction, digits) != 6)
        return -1;
    int64_t seconds = strtoll(text, NULL, 10), microseconds = strtoll(fraction, NULL, 10);
    if (seconds > LINES_MOST / NS_PER_S - 1)
        return -1;
    *time_ns = seconds * NS_PER_S + microseconds * NS_PER_US;
    return 0;
}

static int probe(struct process *p, const struct clock_steady *here, struct text *line, int64_t deadline_ns,
                 int64_t *offset_ns, int64_t *round_ns)
{
    int64_t there_ns, sent_ns = clock_steady_ns(here);
    if (write(p->in, "\n", 1) != 1 || read_answer(p, line, deadline_ns) != 0)
        return -1;
    int64_t back_ns = clock_steady_ns(here);
    if (remote_time(text_string(line), &there_ns) != 0)
        return -1;
    *round_ns = back_ns - sent_ns;
    *offset_ns = there_ns - (sent_ns + *round_ns / 2);
    return 0;
}

/*
 * Cristian's method (Distributed Computing 3, 1989): of many probes, use the one with the shortest round
 * trip. The host read its clock at some moment within this round trip, so the error is at most half of it,
 * plus one microsecond for the rounding of the answer.
 */
int remote_clock(struct remote_host *h, const struct clock_steady *here, int64_t *offset_ns,
                 int64_t *error_ns, struct error *e)
{
    const char *const argv[] = {"env", "LC_ALL=C", "bash", "-c", answer_times, NULL};
    struct process p;
    struct text line = {0};
    int64_t deadline_ns = clock_monotonic_ns() + CLOCK_TIMEOUT_NS, shortest_ns = INT64_MAX;
    if (ssh_start(h->ssh, argv, PROCESS_IN | PROCESS_OUT | PROCESS_ERR, &p, e) != 0)
        return -1;
    for (int i = 0; i < CLOCK_PROBES; i++) {
        int64_t offset, round;
        if (probe(&p, here, &line, deadline_ns, &offset, &round) != 0)
            break;
        if (round < shortest_ns) {
            shortest_ns = round;
            *offset_ns = offset;
        }
    }
    char said[200];
    ssize_t length = shortest_ns == INT64_MAX ? read(p.err, said, sizeof said - 1) : 0;
    said[length > 0 ? length : 0] = '\0';
    process_stop(&p, 0);
    text_free(&line);
    if (shortest_ns == INT64_MAX)
        return error_set(e, "host %s: its clock could not be read: %.*s", h->lab->name,
                         (int)strcspn(*said ? said : NO_TIMES, "\n"), *said ? said : NO_TIMES);
    *error_ns = shortest_ns / 2 + NS_PER_US;
    return 0;
}
