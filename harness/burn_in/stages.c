#include "harness/burn_in/stages.h"

#include "harness/burn_in/ask.h"
#include "harness/plan/all_hosts.h"
#include "lib/clock.h"
#include "lib/formats/flow.h"
#include "lib/physics/host.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Few of many columns are kept of labs with more nodes (docs/result.md, Which roles are listed): all hosts
 * are named then, and the switches, too, unless a result could not have so many. */
#define NODES_LISTED 64
#define NODES_MOST   1024

/* The GPUs 0, 1, ... that the lab lists of a real host. */
static size_t gpus_numbered(const struct lab_host *host)
{
    const struct lab_gpu *gpus = host ? host->gpus.items : NULL;
    size_t count = 0, before;
    do {
        before = count;
        for (size_t i = 0; gpus && i < host->gpus.count; i++)
            if (gpus[i].index == (int64_t)count)
                count++;
    } while (count > before);
    return count;
}

struct stage_lab stage_lab_of(const struct lab *lab, int64_t soak_ns)
{
    json_t *hosts = all_hosts_of(lab);
    struct stage_lab of = {.lab = lab,
                           .hosts = json_array_size(hosts),
                           .simulated = lab_kind(lab)->simulated,
                           .soak_ns = soak_ns};
    json_decref(hosts);
    for (size_t i = 0; i < lab->hosts.count; i++) {
        const struct lab_host *real = lab_host_at(lab, i);
        const struct physics_host *simulated = lab_sim_host_at(lab, i);
        if (real && lab_forwards(real))
            continue;
        size_t gpus = gpus_numbered(real);
        of.gpus = of.nics++ == 0 || gpus < of.gpus ? gpus : of.gpus;
        if (!(real && real->gpu) && !(simulated && simulated->gpu))
            of.no_gpu = of.without_gpu++ ? of.no_gpu : lab_node_name(lab, i);
    }
    return of;
}

/* ---- why a lab cannot have a stage */

static void skip_simulated(const struct stage_lab *lab, struct text *why)
{
    if (lab->simulated)
        text_add(why, "the lab is simulated: it has no hosts to ask");
}

static void skip_no_gpus(const struct stage_lab *lab, struct text *why)
{
    skip_simulated(lab, why);
    if (!why->length && lab->without_gpu == lab->nics)
        text_add(why, "no host has a GPU in the lab");
}

static void skip_without_gpus(const struct stage_lab *lab, struct text *why)
{
    if (lab->without_gpu)
        text_add(why, "%zu of %zu NICs have no GPU in the lab, such as %s", lab->without_gpu, lab->nics,
                 lab->no_gpu);
}

static void skip_nccl(const struct stage_lab *lab, struct text *why)
{
    if (lab->simulated)
        text_add(why, "the lab is simulated: NCCL runs on GPUs of hosts");
    else
        skip_without_gpus(lab, why);
    if (!why->length && !lab->lab->nccl_tests)
        text_add(why, "the lab does not say where nccl-tests are (\"nccl_tests\")");
}

static void skip_without_time(const struct stage_lab *lab, struct text *why)
{
    if (lab->soak_ns == FIELD_UNSET)
        text_add(why, "no time was given (--soak TIME)");
}

bool stage_is_skipped(const struct stage *stage, const struct stage_lab *lab, struct text *why)
{
    if (stage->skip)
        stage->skip(lab, why);
    bool few = !why->length && lab->hosts < stage->hosts;
    if (few)
        text_add(why, "the lab has %zu %s, and this needs %s", lab->hosts, THINGS(lab->hosts, "host"),
                 stage->hosts == 2 ? "two" : "three");
    return few;
}

/* ---- cables that are long */

/* From here on phases are longer: what is sent at their beginning has to arrive in them. */
#define FAR_NS 50000

/* There and back by the longest cables that the lab states: of two hosts, and four between switches. */
static int64_t round_trip_ns(const struct lab *lab)
{
    int64_t of_hosts_ps = 0, between_ps = 0;
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        bool between = (size_t)lab_node_index(lab, ends[0]) >= lab->hosts.count &&
                       (size_t)lab_node_index(lab, ends[1]) >= lab->hosts.count;
        int64_t *most = between ? &between_ps : &of_hosts_ps, is = lab_link_delay_ps(link);
        *most = is > *most ? is : *most;
    }
    return 2 * (2 * of_hosts_ps + 4 * between_ps) / 1000;
}

static int64_t far_measure_ns(const struct stage_lab *lab)
{
    int64_t ns = round_trip_ns(lab->lab);
    return lab->simulated && ns >= FAR_NS ? NS_PER_MS + 4 * ns : 0;
}

/* Real phases are longer than any round trip. */
static void set_far(const struct stage_lab *lab, struct words *sets)
{
    int64_t ns = round_trip_ns(lab->lab), measure_ns = far_measure_ns(lab);
    if (measure_ns)
        words_add(sets, "phases={\"warmup\":\"%lldns\",\"measure\":\"%lldns\",\"cooldown\":\"%lldns\"}",
                  NS_PER_MS / 5 + 2 * ns, (long long)measure_ns, NS_PER_MS / 2 + ns);
}

/* As much in flight as its line holds twice, if that is more than the scenario's messages: what waits for
 * ACKs of a long cable sends less than its line. */
static void set_depth(const struct stage_lab *lab, const char *item, int64_t message_bytes, int64_t depth,
                      struct words *sets)
{
    double bps = 0;
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab->lab, i)); i++)
        bps = fmax(bps, (double)link->rate_bps);
    double wanted = ceil(2 * bps / 8e9 * (double)round_trip_ns(lab->lab) / (double)message_bytes);
    if (wanted > (double)depth)
        words_add(sets, "traffic.%s.depth=%.0f", item, fmin(wanted, FLOW_MAX_DEPTH));
}

/* ---- rails that have a switch each */

/* The switch that a NIC hangs on; -1: none, or it is not known. */
static int switch_of(const struct lab *lab, const char *name)
{
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        const char *peer = lab_link_peer(link, name);
        int place = peer ? lab_node_index(lab, peer) : -1;
        if (place >= (int)lab->hosts.count)
            return place;
    }
    return -1;
}

/* By node: a number that those have which links between switches join. The caller frees. */
static size_t *parts_of(const struct lab *lab)
{
    size_t count = lab_node_count(lab), *part = xcalloc(count + 1, sizeof *part);
    const struct lab_link *link;
    for (size_t i = 0; i < count; i++)
        part[i] = i;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        int a = lab_node_index(lab, ends[0]), b = lab_node_index(lab, ends[1]), hosts = (int)lab->hosts.count;
        if (a < hosts || b < hosts || part[a] == part[b])
            continue;
        for (size_t k = lab->hosts.count, from = part[b], to = part[a]; k < count; k++)
            part[k] = part[k] == from ? to : part[k];
    }
    return part;
}

/* How many NICs each host has, if a rail hangs on one switch that links join to another rail's: no flow of
 * one rail crosses them. They are parts of the cluster, whether or not its jobs avoid them (NCCL's PXN). 0:
 * there is no such rail, or hosts have NICs of other names. */
static size_t rails_to_cross(const struct stage_lab *of)
{
    const struct lab *lab = of->lab;
    size_t count = lab->hosts.count, rails = 1, *part;
    bool alike = true, crosses = false;
    int *at = xcalloc(count + 1, sizeof *at);
    while (rails < count && lab_same_machine(lab, 0, rails))
        rails++;
    for (size_t i = 0; i < count && rails > 1 && alike; i++) {
        const char *nic = lab_nic_name(lab, i), *own = lab_nic_name(lab, i % rails);
        alike = nic && own && strcmp(nic, own) == 0 && lab_machine_first(lab, i) == i - i % rails;
        at[i] = switch_of(lab, lab_node_name(lab, i));
    }
    part = parts_of(lab);
    for (size_t r = 0; r < rails && rails > 1 && alike && !crosses; r++) {
        bool one = at[r] >= 0, joined = false;
        for (size_t i = 0; i < count && one; i++) {
            one = i % rails != r || at[i] == at[r];
            joined = joined || (at[i] >= 0 && at[i] != at[r] && part[at[i]] == part[at[r]]);
        }
        crosses = one && joined;
    }
    free(part);
    free(at);
    return crosses ? rails : 0;
}

/* The rounds of a traffic item: neighbours in both directions first, whose paths are short and shared by
 * nobody where hosts are named as they stand in racks; then 2, 4, 8, ... places, each distance once. Where
 * flows from rail to rail do not cross all links, as many rounds more between rails, and one for each
 * distance of rails at least. */
static void set_rounds(const struct stage_lab *lab, const char *item, size_t most, const char *more,
                       struct words *sets)
{
    struct text rounds = {0}, nics = {0};
    size_t n = lab->hosts, shifts[2 + 8 * sizeof n] = {1}, count = 1, rails = *more ? 0 : rails_to_cross(lab);
    if (n > 2 && count < most)
        shifts[count++] = n - 1;
    for (size_t shift = 2; shift < n - 1 && count < most; shift *= 2)
        shifts[count++] = shift;
    size_t across = !rails ? 0 : count > rails - 1 ? count : rails - 1;
    for (size_t i = 0; i < count + across; i++) {
        text_add(&rounds, "%s%zu", i ? "," : "", shifts[i % count]);
        text_add(&nics, "%s%zu", i ? "," : "", i < count ? 0 : 1 + (i - count) % (rails - 1));
    }
    if (across)
        words_add(sets, "sweep={\"zip\":[{\"traffic.%s.shift\":[%s],\"traffic.%s.nic_shift\":[%s]}]}", item,
                  text_string(&rounds), item, text_string(&nics));
    else
        words_add(sets, "sweep={\"traffic.%s.shift\":[%s]%s}", item, text_string(&rounds), more);
    text_free(&rounds);
    text_free(&nics);
}

static void set_nics(const struct stage_lab *lab, struct words *sets)
{
    set_rounds(lab, "light", 4, "", sets);
}

#define PAIRS_MESSAGE_BYTES (64 << 10) /* of scenarios/burn-in/3-gpus, 5-pairs and 8-soak */
#define PAIRS_DEPTH         32

static void set_pairs_depth(const struct stage_lab *lab, struct words *sets)
{
    set_depth(lab, "pairs", PAIRS_MESSAGE_BYTES, PAIRS_DEPTH, sets);
}

/* Host memory, and that of each GPU by its number; or, of one GPU and in a simulated lab, the nearest. */
static void set_gpus(const struct stage_lab *lab, struct words *sets)
{
    struct text memory = {0}, gpu = {0}, more = {0};
    set_pairs_depth(lab, sets);
    for (size_t i = 0; lab->gpus > 1 && i < lab->gpus; i++) {
        text_add(&memory, ",\"gpu\"");
        text_add(&gpu, ",%zu", i);
    }
    if (memory.length)
        text_add(&more, ",\"zip\":[{\"traffic.*.memory\":[\"host\"%s],\"traffic.*.gpu\":[null%s]}]",
                 text_string(&memory), text_string(&gpu));
    else
        text_add(&more, ",\"traffic.*.memory\":[\"host\",\"gpu\"]");
    set_rounds(lab, "pairs", 2, text_string(&more), sets);
    text_free(&memory);
    text_free(&gpu);
    text_free(&more);
}

static void set_pairs(const struct stage_lab *lab, struct words *sets)
{
    set_pairs_depth(lab, sets);
    set_rounds(lab, "pairs", SIZE_MAX, "", sets);
}

/* Each host is the receiver of one incast, so that its notification point is seen to answer. Of more hosts
 * groups of so many are formed, which are spread over the lab and have one receiver each, behind different
 * switches: an incast of all would be longer than its phase, and than the timeouts of its senders. Each host
 * sends in some. */
#define GROUP 16

/* A receiver's line in a simulated run, for which senders share it: each is to have sent some messages. */
#define MEASURE_LEAST_NS     800000
#define INCAST_MESSAGES      8
#define INCAST_MESSAGE_BYTES 16384 /* of scenarios/burn-in/6-lossless */
#define INCAST_DEPTH         512

static int64_t incast_ns(const struct stage_lab *lab)
{
    double slowest = NAN;
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab->lab, i)); i++)
        if (link->rate_bps > 0)
            slowest = fmin(slowest, (double)link->rate_bps);
    size_t senders = lab->hosts < GROUP ? lab->hosts : GROUP;
    double ns = (double)senders * INCAST_MESSAGES * INCAST_MESSAGE_BYTES * 8 / slowest * 1e9;
    return ns > fmax(MEASURE_LEAST_NS, (double)far_measure_ns(lab)) ? (int64_t)ns
                                                                    : 0; /* 0 also without a rate */
}

/* Every `groups`-th host from `group` on; and the receiver of the group before, which sends nowhere else. */
static void add_group(size_t hosts, size_t groups, size_t group, struct text *from, struct text *to)
{
    size_t size = (hosts - group + groups - 1) / groups, before = (group + groups - 1) % groups,
           size_before = (hosts - before + groups - 1) / groups, receiver = group + groups * (group % size);
    text_add(from, "%s[", group ? "," : "");
    for (size_t i = group; i < hosts; i += groups)
        if (i != receiver)
            text_add(from, "\"*%zu.*\",", i);
    text_add(from, "\"*%zu.*\"]", before + groups * (before % size_before));
    text_add(to, "%s[\"*%zu.*\"]", group ? "," : "", receiver);
}

static void set_incasts(const struct stage_lab *lab, struct words *sets)
{
    struct text from = {0}, to = {0};
    size_t groups = (lab->hosts + GROUP - 1) / GROUP;
    int64_t ns = lab->simulated ? incast_ns(lab) : 0;
    set_depth(lab, "incast", INCAST_MESSAGE_BYTES, INCAST_DEPTH, sets);
    for (size_t i = 0; groups > 1 && i < groups; i++)
        add_group(lab->hosts, groups, i, &from, &to);
    for (size_t i = 0; groups == 1 && i < lab->hosts; i++)
        text_add(&to, "%s[\"*%zu.*\"]", i ? "," : "", i);
    if (groups > 1)
        words_add(sets,
                  "sweep={\"settings.ecn\":[[],[3]],\"zip\":[{\"traffic.incast.to\":[%s],"
                  "\"traffic.incast.from\":[%s]}]}",
                  text_string(&to), text_string(&from));
    else
        words_add(sets, "sweep={\"traffic.incast.to\":[%s],\"settings.ecn\":[[],[3]]}", text_string(&to));
    if (ns)
        words_add(sets, "phases.measure=%" PRId64 "ns", ns);
    text_free(&from);
    text_free(&to);
}

static void set_soak(const struct stage_lab *lab, struct words *sets)
{
    set_pairs_depth(lab, sets);
    words_add(sets, "phases.measure=%" PRId64 "ns", lab->soak_ns);
    if (!lab->simulated) /* events of modules, and of PCI Express, too */
        words_add(sets,
                  "sample.groups=[\"pfc\",\"drops\",\"errors\",\"throughput\",\"link\",\"pcie\",\"other\"]");
}

static void set_listed(const struct stage_lab *lab, struct words *sets)
{
    struct text roles = {0};
    size_t nodes = lab_node_count(lab->lab);
    text_add(&roles, "\"*\"");
    for (size_t i = lab->lab->hosts.count; lab->simulated && nodes <= NODES_MOST && i < nodes; i++)
        text_add(&roles, ",\"%s\"", lab_node_name(lab->lab, i));
    words_add(sets, "sample.roles=[%s]", text_string(&roles));
    text_free(&roles);
}

void stage_sets(const struct stage *stage, const struct stage_lab *lab, struct words *sets)
{
    bool has_own = json_object_get(lab->lab->scaled, "phases.measure"); /* times of slower lines */
    if (!lab->simulated && !has_own && stage->real_phases) {
        words_add(sets, "phases=%s", stage->real_phases);
        words_add(sets, "sample.every=%s", stage->real_every);
    }
    set_far(lab, sets);
    if (lab_node_count(lab->lab) > NODES_LISTED)
        set_listed(lab, sets);
    if (stage->set)
        stage->set(lab, sets);
}

const char *stage_folder(const struct stage *stage)
{
    const char *slash = strrchr(stage->path, '/');
    return slash ? slash + 1 : stage->path;
}

#define STAGE(...) {__VA_ARGS__},
const struct stage burn_in_stages[] = {BURN_IN_STAGES(STAGE){0}};
