#include "harness/labs/sim/capture/capture.h"
#include "lib/document/json_text.h"
#include "lib/packets/frame_write.h"
#include "lib/packets/pcapng_write.h"
#include <stdlib.h>
#include <string.h>

/* Between two looks at the simulator's frames about so many bytes pass the ports: their number bounds the memory that they take. */
#define STEP_BYTES (INT64_C(4) << 20)
#define LEAST_STEP 1000 /* ns */

struct sim_capture {
    struct pcapng_writer file;
    uint32_t *interfaces; /* by port */
    struct sim_known known;
    uint32_t snap_bytes;
    int64_t step_ns, from_ns, until_ns;
    int64_t frames, bytes;
    int64_t left_out_ns; /* the first frame for which there was no room; -1: none */
};

/* ---- the file's head */

static char *comment_of(const struct sim_lab *lab)
{
    const struct cell *cell = lab->run->cell;
    struct text text = {0};
    text_add(&text, "simulated: scenario %s, lab %s, seed %llu", cell->scenario.name, cell->lab.name,
             (unsigned long long)lab->run->seed);
    char *choice = json_object_size(cell->choice) ? json_dumps(cell->choice, JSON_COMPACT) : NULL;
    if (choice)
        text_add(&text, ", %s", choice);
    free(choice);
    text_add(&text,
             "; times are those of the run's clock; payloads, MAC addresses, queue pair numbers and memory "
             "addresses are made up");
    char *copy = text.failed ? NULL : strdup(text_string(&text));
    text_free(&text);
    return copy;
}

#define NAME_BYTES 160

static void write_name(const struct sim_lab *lab, uint32_t port, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%.140s:%u",
             sim_setup_node_name(lab->run->cell, &lab->setup, lab->capture->known.nodes[port]),
             sim_port_number(lab->sim, port));
}

static int add_interface(struct sim_lab *lab, uint32_t port, struct error *e)
{
    struct sim_capture *c = lab->capture;
    const struct sim_link_config *link = &lab->setup.links[port / 2];
    uint8_t address[6];
    char name[NAME_BYTES];
    write_name(lab, port, name);
    c->interfaces[port] = c->file.interfaces;
    sim_port_address(address, c->known.nodes[port], sim_port_number(lab->sim, port));
    return pcapng_interface(&c->file, name, address, link->rate_bps, c->snap_bytes, e);
}

static int begin_file(struct sim_lab *lab, struct error *e)
{
    struct sim_capture *c = lab->capture;
    char *comment = comment_of(lab);
    int result = comment ? pcapng_open(&c->file, lab->run->folder, CAPTURE_FILE, "harness " HARNESS_VERSION,
                                       comment, lab->run->cell->scenario.capture->limit_bytes, e)
                         : error_set(e, "out of memory");
    free(comment);
    for (uint32_t port = 0; result == 0 && port < 2 * lab->setup.config.link_count; port++)
        if (lab->setup.capture_ports[port])
            result = add_interface(lab, port, e);
    return result == 0 ? 0 : error_prefix(e, "capture");
}

static int64_t step_of(const struct sim_lab *lab)
{
    double bps = 0;
    for (size_t link = 0; link < lab->setup.config.link_count; link++)
        for (unsigned end = 0; end < 2; end++)
            if (lab->setup.capture_ports[2 * link + end])
                bps += (double)lab->setup.links[link].rate_bps;
    double step_ns = bps > 0 ? (double)STEP_BYTES * 8e9 / bps : LEAST_STEP;
    return step_ns > LEAST_STEP ? (int64_t)step_ns : LEAST_STEP;
}

/* By host, the role that it plays; NULL: out of memory. */
static char **roles_of(const struct sim_lab *lab)
{
    const struct scenario *scenario = &lab->run->cell->scenario;
    char **roles = calloc(lab->setup.config.host_count + 1, sizeof *roles);
    for (size_t i = 0; roles && i < scenario->roles.count; i++)
        if (lab->setup.node_of_role[i].kind == SIM_HOST)
            roles[lab->setup.node_of_role[i].index] = ((char **)scenario->roles.items)[i];
    return roles;
}

static int prepare(const struct sim_lab *lab, struct sim_capture *c)
{
    size_t ports = 2 * lab->setup.config.link_count, flows = lab->setup.config.flow_count;
    char **roles = roles_of(lab);
    c->interfaces = calloc(ports + 1, sizeof *c->interfaces);
    struct sim_known *k = &c->known;
    size_t pairs = sim_queue_pairs(lab->sim);
    k->nodes = calloc(ports + 1, sizeof *k->nodes);
    k->flows = calloc(flows + 1, sizeof *k->flows);
    k->pairs = calloc(pairs + 1, sizeof *k->pairs);
    bool made = roles && c->interfaces && k->nodes && k->flows && k->pairs;
    for (size_t i = 0; made && i < ports; i++)
        k->nodes[i] = i & 1 ? lab->setup.links[i / 2].b : lab->setup.links[i / 2].a;
    for (size_t i = 0; made && i < flows; i++)
        k->flows[i] = sim_flow_headers_of(lab->run->cell, &lab->setup, roles, i);
    for (size_t i = 0; made && i < pairs; i++)
        k->pairs[i] = sim_queue_pair(lab->sim, (uint32_t)i);
    free(roles);
    return made ? 0 : -1;
}

int sim_capture_open(struct sim_lab *lab, struct error *e)
{
    const struct capture *wanted = lab->run->cell->scenario.capture;
    if (!wanted)
        return 0;
    struct sim_capture *c = lab->capture = calloc(1, sizeof *c);
    if (!c)
        return error_set(e, "out of memory");
    c->file.fd = -1;
    c->snap_bytes = (uint32_t)wanted->snap_bytes;
    c->from_ns = lab->setup.capture->from_ps / SIM_PS_PER_NS;
    c->until_ns = lab->setup.capture->until_ps / SIM_PS_PER_NS;
    c->left_out_ns = -1;
    c->step_ns = step_of(lab);
    return prepare(lab, c) == 0 ? begin_file(lab, e) : error_set(e, "out of memory");
}

/* ---- frames */

static bool is_over(const struct sim_capture *c)
{
    return c->left_out_ns >= 0;
}

int64_t sim_capture_until(const struct sim_lab *lab, int64_t until_ns)
{
    const struct sim_capture *c = lab->capture;
    int64_t now_ns = sim_now_ps(lab->sim) / SIM_PS_PER_NS;
    if (!c || is_over(c) || now_ns >= c->until_ns || until_ns <= c->from_ns)
        return until_ns;
    int64_t from_ns = now_ns > c->from_ns ? now_ns : c->from_ns;
    return until_ns - from_ns > c->step_ns ? from_ns + c->step_ns : until_ns;
}

static bool take_frame(const struct sim_lab *lab, struct sim_capture *c, const struct sim_captured *from)
{
    struct frame frame;
    sim_frame_of(lab->sim, &c->known, from, &frame);
    size_t bytes = frame_length(&frame);
    struct pcapng_packet packet = {
        .interface = c->interfaces[from->place / 2],
        .time_ns = from->time_ps / SIM_PS_PER_NS,
        .direction = from->place & 1 ? PCAPNG_SENT : PCAPNG_RECEIVED,
        .bytes = (uint32_t)bytes,
        .captured_bytes = (uint32_t)(bytes < c->snap_bytes ? bytes : c->snap_bytes),
    };
    uint8_t *at = pcapng_packet(&c->file, &packet);
    if (at)
        frame_write(&frame, at, packet.captured_bytes);
    return at;
}

int sim_capture_take(struct sim_lab *lab, struct error *e)
{
    struct sim_capture *c = lab->capture;
    const struct sim_captured_at *frames;
    if (!c || is_over(c))
        return 0;
    size_t count = sim_captured(lab->sim, &frames), i = 0;
    while (i < count && take_frame(lab, c, frames[i].frame))
        i++;
    c->frames += (int64_t)i;
    c->bytes = c->file.bytes;
    if (i == count)
        return 0;
    if (pcapng_check(&c->file, e) != 0)
        return -1;
    c->left_out_ns = frames[i].frame->time_ps / SIM_PS_PER_NS;
    sim_capture_stop(lab->sim);
    return 0;
}

/* ---- the end */

int sim_capture_finish(struct sim_lab *lab, struct error *e)
{
    return lab->capture ? pcapng_close(&lab->capture->file, e) : 0;
}

static json_t *interfaces_of(json_t *thresholds, int64_t kmin_bytes)
{
    json_t *entry;
    size_t i;
    json_array_foreach(thresholds, i, entry)
    {
        if (json_integer_value(json_object_get(entry, "kmin_bytes")) == kmin_bytes)
            return json_object_get(entry, "interfaces");
    }
    entry = json_make("{s:[],s:I}", "interfaces", "kmin_bytes", (json_int_t)kmin_bytes);
    json_array_append_new(thresholds, entry);
    return json_object_get(entry, "interfaces");
}

/* Captured ports that mark, by their thresholds. */
static json_t *thresholds_of(const struct sim_lab *lab)
{
    json_t *thresholds = json_array();
    char name[NAME_BYTES];
    for (uint32_t port = 0; port < 2 * lab->setup.config.link_count; port++) {
        int64_t kmin_bytes = lab->setup.capture_ports[port] ? sim_port_kmin_bytes(lab->sim, port) : -1;
        if (kmin_bytes < 0)
            continue;
        write_name(lab, port, name);
        json_array_append_new(interfaces_of(thresholds, kmin_bytes), json_text(name));
    }
    return thresholds;
}

void sim_capture_add_to_result(const struct sim_lab *lab, json_t *result)
{
    const struct sim_capture *c = lab->capture;
    if (!c)
        return;
    json_t *capture = json_make("{s:s,s:I,s:I}", "file", CAPTURE_FILE, "frames", (json_int_t)c->frames,
                                "bytes", (json_int_t)c->bytes);
    if (is_over(c))
        json_object_set_new(capture, "left_out_from_ns", json_integer(c->left_out_ns));
    json_t *thresholds = thresholds_of(lab);
    if (json_array_size(thresholds))
        json_object_set(capture, "ecn_thresholds", thresholds);
    json_decref(thresholds);
    json_object_set_new(result, "capture", capture);
}

void sim_capture_close(struct sim_lab *lab)
{
    struct sim_capture *c = lab->capture;
    if (!c)
        return;
    pcapng_close(&c->file, NULL);
    free(c->interfaces);
    free(c->known.nodes);
    free(c->known.flows);
    free(c->known.pairs);
    free(c);
}
