#include "lib/formats/scenario.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/names/range.h"
#include "lib/roce/counters.h"
#include "lib/schedule/job.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sizes_names[] = {"fixed",  "web-search",  "data-mining",
                                          "hadoop", "ali-storage", NULL};

#define CAPABILITIES(ROW)                                                                        \
    ROW("rdma", "traffic over verbs, or its simulation")                                         \
    ROW("roce-nic", "the NIC implements RoCE, not the kernel: published figures are comparable") \
    ROW("gpu", "flows may use GPU memory")                                                       \
    ROW("pfc", "priority flow control, with its counters")                                       \
    ROW("pfc-duration", "and pause durations")                                                   \
    ROW("ecn-mark", "packets are marked CE on the path")                                         \
    ROW("cnp", "DCQCN: CNPs are sent and handled")                                               \
    ROW("hw-counters", "mlx5's RDMA hw_counters")                                                \
    ROW("lossless", "drops and retransmissions are counted")                                     \
    ROW("pcie", "PCIe stall counters or GPU PCIe rates")                                         \
    ROW("switch", "a forwarding role")                                                           \
    ROW("numa", "another NUMA node than the NIC's")                                              \
    ROW("relaxed-ordering", "the NIC may send PCIe writes with relaxed ordering")
#define PRESENT(name, meaning) name,
#define ABSENT(name, meaning)  "!" name,

const char *const need_names[] = {CAPABILITIES(PRESENT) CAPABILITIES(ABSENT) NULL};

/* A capability that must be both present and absent: nothing with these needs could be decided. */
static int check_needs(const struct list_of *needs, const char *path, struct error *e)
{
    const int *items = needs->items;
    for (size_t i = 0; i < needs->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(need_capability(items[i]), need_capability(items[k])) == 0 && items[i] != items[k])
                return error_set(e, "%s.needs: \"%s\" and \"%s\" exclude each other", path,
                                 need_names[items[k]], need_names[items[i]]);
    return 0;
}

bool need_is_absence(int need)
{
    return *need_names[need] == '!';
}

const char *need_capability(int need)
{
    return need_names[need] + need_is_absence(need);
}

#define AT(member) .offset = offsetof(struct scenario_traffic, member)
static int check_incast(const struct scenario_traffic *traffic, const char *path, struct error *e)
{
    char *const *from = traffic->from.items, *const *to = traffic->to.items;
    if (traffic->to.count != 1)
        return error_set(e, "%s.to: an incast has %zu receivers, expected one role", path, traffic->to.count);
    for (size_t i = 0; i < traffic->from.count; i++)
        if (strcmp(from[i], to[0]) == 0)
            return error_set(
                e, "%s.from[%zu]: role \"%s\" is the receiver of the incast and cannot send to itself", path,
                i, from[i]);
    return 0;
}

/* Keys that the pattern does not use. */
static int check_unused(const struct scenario_traffic *traffic, const char *path, struct error *e)
{
    const char *pattern = traffic_pattern_names[traffic->pattern];
    if (traffic->pattern == PATTERN_RING_ALL_REDUCE && traffic->to.count)
        return error_set(e, "%s.to: a %s has no other receivers than its senders", path, pattern);
    if (traffic->pattern != PATTERN_PERMUTATION && traffic->shift != FIELD_UNSET)
        return error_set(e, "%s.shift: pattern %s has no shift, only a permutation has", path, pattern);
    if (traffic->pattern != PATTERN_PERMUTATION && traffic->nic_shift)
        return error_set(e, "%s.nic_shift: pattern %s has none, only a permutation has", path, pattern);
    if (traffic->sizes != SIZES_FIXED && traffic->size_bytes != FIELD_UNSET)
        return error_set(e, "%s.size: sizes are drawn from %s: leave out size, or sizes", path,
                         sizes_names[traffic->sizes]);
    if (traffic->pattern != PATTERN_POISSON && traffic->count != FIELD_UNSET &&
        !scenario_traffic_ends(traffic))
        return error_set(e, "%s.count: endless flows have no rounds: give the traffic a size", path);
    return 0;
}

static int check_traffic(const void *object, const char *path, struct error *e)
{
    const struct scenario_traffic *traffic = object;
    if (traffic->pattern == PATTERN_INCAST && check_incast(traffic, path, e) != 0)
        return -1;
    if (check_unused(traffic, path, e) != 0)
        return -1;
    if (scenario_traffic_flows(traffic) == 0)
        return error_set(e, "%s.from: nobody is left to send to", path);
    if (traffic->stop_ns != FIELD_UNSET && traffic->stop_ns <= traffic->start_ns)
        return error_set(e, "%s.stop: the traffic would end before it starts", path);
    return 0;
}

static const struct field traffic_fields[] = {
    {"name", FIELD_STRING, AT(name), .required = true, .form = &form_nic_of, .single = true,
     .help = "Unique name of the traffic; its flows are NAME/0, NAME/1, ..."},
    {"pattern", FIELD_CHOICE, AT(pattern), .choices = traffic_pattern_names, .required = true,
     .help = "Who sends to whom."},
    {"from", FIELD_LIST, AT(from), .item = FIELD_STRING, .min = 1, .max = 100000, .required = true,
     .help = "Sending roles."},
    {"to", FIELD_LIST, AT(to), .item = FIELD_STRING, .min = 0, .max = 100000,
     .help = "Receiving roles. Default: the senders."},
    {"size", FIELD_QUANTITY, AT(size_bytes), .unit = UNIT_BYTES, .min = 1, .max = FLOW_MAX_SIZE_BYTES,
     .help = "Payload of a flow, with sizes \"fixed\"; of all reduced data with a ring. Default: endless."},
    {"sizes", FIELD_CHOICE, AT(sizes), .choices = sizes_names, .fallback = "\"fixed\"",
     .help = "Distribution of flow sizes. web-search is from DCTCP (SIGCOMM 2010), data-mining from VL2 "
             "(SIGCOMM 2009), hadoop and ali-storage from HPCC (SIGCOMM 2019)."},
    {"load", FIELD_NUMBER, AT(load), .min_number = 0.0001, .max_number = 1, .fallback = "0.5",
     .help = "Load of Poisson arrivals, as a fraction of each sender's link rate."},
    {"count", FIELD_INTEGER, AT(count), .min = 1, .max = 100000000,
     .help =
         "Number of rounds. Default: 1. With Poisson arrivals: the largest number of flows. Default: as many "
         "as begin before the end."},
    {"shift", FIELD_INTEGER, AT(shift), .min = 1, .max = 100000,
     .help =
         "With a permutation, role i sends to role i+shift. Default: a random permutation from the seed."},
    {"nic_shift", FIELD_INTEGER, AT(nic_shift), .min = 0, .max = 100000, .fallback = "0",
     .help = "With a permutation between NICs of a glob, those of rail i send to those of rail i+nic_shift."},
    {"memory", FIELD_CHOICE, AT(memory), .choices = flow_memory_names, .fallback = "\"host\"",
     .help = "Memory of the buffers."},
    {"gpu", FIELD_INTEGER, AT(gpu), .min = 0, .max = 63,
     .help = "Number of the GPU whose memory is used, at both ends of flows between real hosts. Default: the "
             "one nearest to each NIC, by the lab."},
    {"message", FIELD_QUANTITY, AT(message_bytes), .unit = UNIT_BYTES, .min = 1,
     .max = FLOW_MAX_MESSAGE_BYTES, .fallback = FLOW_MESSAGE_DEFAULT,
     .help = "Size of a message of endless flows; a flow with a size is one message in simulated labs."},
    {"depth", FIELD_INTEGER, AT(depth), .min = 1, .max = FLOW_MAX_DEPTH, .fallback = FLOW_DEPTH_DEFAULT,
     .help = "Number of messages in flight for each flow."},
    {"priority", FIELD_INTEGER, AT(priority), .min = 0, .max = FLOW_MAX_PRIORITY, .fallback = "0",
     .help = "Priority of the packets."},
    {"start", FIELD_QUANTITY, AT(start_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .fallback = "\"0\"", .help = "Time of the first flow, from the beginning of the warm-up."},
    {"stop", FIELD_QUANTITY, AT(stop_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .help = "Time after which no new flow starts, and no message of an endless one. Default: the end of the "
             "measurement."},
    {0},
};
#undef AT
static const struct table traffic_table = {"scenario.traffic", "Many flows that a pattern generates.",
                                           sizeof(struct scenario_traffic), traffic_fields, check_traffic};

#define AT(member) .offset = offsetof(struct scenario_storm, member)
static int check_storm(const void *object, const char *path, struct error *e)
{
    const struct scenario_storm *storm = object;
    if (storm->stop_ns <= storm->start_ns)
        return error_set(e, "%s.stop: the storm would end before it starts", path);
    return 0;
}

static const struct field storm_fields[] = {
    {"role", FIELD_STRING, AT(role), .required = true, .help = "Role of the faulty host."},
    {"priority", FIELD_INTEGER, AT(priority), .min = 0, .max = FLOW_MAX_PRIORITY, .fallback = "0",
     .help = "Priority that the host pauses."},
    {"start", FIELD_QUANTITY, AT(start_ns), .unit = UNIT_TIME_NS, .min = 0, .max = FLOW_MAX_TIME_NS,
     .fallback = "\"0\"", .help = "Start time, from the beginning of the warm-up."},
    {"stop", FIELD_QUANTITY, AT(stop_ns), .unit = UNIT_TIME_NS, .min = 1, .max = FLOW_MAX_TIME_NS,
     .required = true, .help = "End time, from the beginning of the warm-up."},
    {0},
};
#undef AT
static const struct table storm_table = {"scenario.storm",
                                         "A fault: a host that pauses its peer without a reason. Simulated "
                                         "labs, and hosts with a virtual ConnectX.",
                                         sizeof(struct scenario_storm), storm_fields, check_storm};

#define AT(member) .offset = offsetof(struct scenario_phases, member)
static const struct field phases_fields[] = {
    {"warmup", FIELD_QUANTITY, AT(warmup_ns), .unit = UNIT_TIME_NS, .min = 0, .max = 3600 * NS_PER_S,
     .fallback = "\"1s\"",
     .help = "Duration of traffic before the measurement. It is not included in the figures."},
    {"measure", FIELD_QUANTITY, AT(measure_ns), .unit = UNIT_TIME_NS, .min = 1000, .max = 86400 * NS_PER_S,
     .fallback = "\"10s\"", .help = "Duration of the measurement, which all figures cover."},
    {"cooldown", FIELD_QUANTITY, AT(cooldown_ns), .unit = UNIT_TIME_NS, .min = 0, .max = 3600 * NS_PER_S,
     .fallback = "\"500ms\"",
     .help = "Duration of sampling after the traffic has stopped; of a simulated lab, if it is not "
             "given, " SCENARIO_SIMULATED_COOLDOWN "."},
    {0},
};
#undef AT
static const struct table phases_table = {"scenario.phases", "Durations of the phases.",
                                          sizeof(struct scenario_phases), phases_fields, NULL};

#define AT(member) .offset = offsetof(struct scenario_sample, member)
static const struct field sample_fields[] = {
    {"every", FIELD_QUANTITY, AT(every_ns), .unit = UNIT_TIME_NS, .min = 1000, .max = 60 * NS_PER_S,
     .fallback = "\"10ms\"", .help = "Time between samples."},
    {"groups", FIELD_LIST, .any_order = true, AT(groups), .item = FIELD_CHOICE,
     .choices = counter_group_choices, .min = 0, .max = 32,
     .help = "Groups of counters to sample (docs/counters.md). Default: all."},
    {"roles", FIELD_LIST, AT(roles), .item = FIELD_STRING, .min = 1, .max = 100000,
     .help = "Roles whose samples are written and whose counters the result lists; the others are in its "
             "totals. Default: all, of a large simulated lab the first ones."},
    {0},
};
#undef AT
static const struct table sample_table = {"scenario.sample", "What is sampled.",
                                          sizeof(struct scenario_sample), sample_fields, NULL};

#define AT(member) .offset = offsetof(struct scenario_expect, member)
static int check_expect(const void *object, const char *path, struct error *e)
{
    return check_needs(&((const struct scenario_expect *)object)->needs, path, e);
}

#define AGAINST_HELP                                                                                        \
    "Map of paths of the sweep to values. The expression reads the cell with these and otherwise the same " \
    "values "                                                                                               \
    "by other(...). It is judged once for each cell, over its repetitions."
static const char *const over_names[] = {"run", "repeats", NULL};

static const struct field expect_fields[] = {
    {"name", FIELD_STRING, AT(name), .required = true, .help = "Description of what is expected."},
    {"when", FIELD_JSON, AT(when),
     .help = "Map of path to value, or to a comparison such as \">= 64KiB\". It applies only in cells of the "
             "sweep in "
             "which each path has this value."},
    {"check", FIELD_STRING, AT(check), .required = true, .help = "Expression that must hold."},
    {"over", FIELD_CHOICE, AT(over), .choices = over_names, .fallback = "\"run\"",
     .help = "What is judged: each run, or once for each cell the means of both sides over its repetitions."},
    {"against", FIELD_JSON, AT(against), .help = AGAINST_HELP},
    {"needs", FIELD_LIST, .any_order = true, AT(needs), .item = FIELD_CHOICE, .choices = need_names, .min = 0,
     .max = 16,
     .help = "Capabilities that the lab must have, or with \"!\" must not have. Otherwise the expectation is "
             "skipped."},
    {0},
};
#undef AT
static const struct table expect_table = {"scenario.expect", "An expectation.",
                                          sizeof(struct scenario_expect), expect_fields, check_expect};

#define AT(member) .offset = offsetof(struct scenario_published, member)
static int check_published(const void *object, const char *path, struct error *e)
{
    return check_needs(&((const struct scenario_published *)object)->needs, path, e);
}

static const struct field published_fields[] = {
    {"name", FIELD_STRING, AT(name), .required = true, .help = "Description of the figure."},
    {"when", FIELD_JSON, AT(when),
     .help = "Map of path to value, or to a comparison such as \">= 64KiB\". It applies only in cells of the "
             "sweep in "
             "which each path has this value."},
    {"of", FIELD_STRING, AT(of), .required = true,
     .help = "Expression whose value is compared with the figure."},
    {"value", FIELD_NUMBER, AT(value), .required = true, .help = "The published figure."},
    {"unit", FIELD_STRING, AT(unit), .help = "Unit of the figure."},
    {"source", FIELD_STRING, AT(source), .required = true, .help = "Where it was published."},
    {"against", FIELD_JSON, AT(against), .help = AGAINST_HELP},
    {"conditions", FIELD_JSON, AT(conditions),
     .help =
         "Map of path to value, or to a comparison: values of the scenario and of the lab that the figure "
         "holds for, besides published_conditions. Otherwise it is not compared."},
    {"needs", FIELD_LIST, .any_order = true, AT(needs), .item = FIELD_CHOICE, .choices = need_names, .min = 0,
     .max = 16,
     .help = "Capabilities that the lab must have, or with \"!\" must not have, for a meaningful comparison. "
             "Otherwise the figure is not compared."},
    {0},
};
#undef AT
static const struct table published_table = {"scenario.published", "A published figure.",
                                             sizeof(struct scenario_published), published_fields,
                                             check_published};

#define AT(member) .offset = offsetof(struct scenario, member)
static const struct field scenario_fields[] = {
    {"schema", FIELD_INTEGER, AT(schema), .min = 1, .max = 1, .required = true,
     .help = "Version of the format: 1."},
    {"name", FIELD_STRING, AT(name), .required = true, .form = &form_name, .single = true,
     .help = "Name of the scenario, and of the folder of its results."},
    {"title", FIELD_STRING, AT(title), .help = "A descriptive title."},
    {"lab", FIELD_STRING, AT(lab),
     .help = "The simulated lab that is used if no lab is given. A path begins at the scenario's folder."},
    {"roles", FIELD_LIST, AT(roles), .item = FIELD_STRING, .form = &form_roles, .min = 1, .max = 100000,
     .required = true,
     .help =
         "Names of the hosts; \"h[0-31]\" stands for h0 to h31, \"h[0-1,16]\" for h0, h1 and h16. Wherever a "
         "role is named, such a range of names may stand. ROLE.NIC is one NIC of a host that has several."},
    {"phases", FIELD_OBJECT, AT(phases), .sub = &phases_table, .help = "Durations of the phases."},
    {"settings", FIELD_OBJECT, AT(settings), .sub = &settings_table, .help = "Settings of every role."},
    {"settings_of", FIELD_MAP, AT(settings_of), .item = FIELD_OBJECT, .sub = &settings_table, .min = 0,
     .max = 100000, .help = "Settings of single roles. They override the common ones."},
    {"flows", FIELD_LIST, AT(flows), .item = FIELD_OBJECT, .sub = &flow_table, .min = 0, .max = 100000,
     .help = "Flows between roles."},
    {"traffic", FIELD_LIST, AT(traffic), .item = FIELD_OBJECT, .sub = &traffic_table, .min = 0, .max = 1000,
     .help = "Flows that patterns generate."},
    {"collectives", FIELD_LIST, AT(collectives), .item = FIELD_OBJECT, .sub = &collective_table, .min = 0,
     .max = 64,
     .help = "Collective operations between GPUs of real hosts, which begin with the measurement."},
    {"jobs", FIELD_LIST, AT(jobs), .item = FIELD_OBJECT, .sub = &scenario_job_table, .min = 0, .max = 64,
     .help = "Schedules of sends, recvs and computations, such as training jobs, that simulated hosts play."},
    {"storms", FIELD_LIST, AT(storms), .item = FIELD_OBJECT, .sub = &storm_table, .min = 0, .max = 1000,
     .help = "Faults of simulated labs and virtual ConnectX: hosts that pause their peers without a reason."},
    {"faults", FIELD_LIST, AT(faults), .item = FIELD_OBJECT, .sub = &link_fault_table, .min = 0, .max = 1000,
     .help = "Faults of links of simulated labs: down, flapping, slower, lossy."},
    {"inject", FIELD_LIST, AT(injections), .item = FIELD_OBJECT, .sub = &injection_table, .min = 0,
     .max = 1000,
     .help = "Faults of single frames of simulated labs: dropped, corrupted, marked, delayed, duplicated."},
    {"sample", FIELD_OBJECT, AT(sample), .sub = &sample_table, .help = "What is sampled."},
    {"capture", FIELD_OPTIONAL, AT(capture), .sub = &capture_table,
     .help = "Frames that are written to a file, capture.pcapng."},
    {"verify", FIELD_LIST, .any_order = true, AT(verify), .item = FIELD_CHOICE,
     .choices = capture_check_names, .min = 0, .max = CAPTURE_CHECK_COUNT,
     .help = "Checkers that judge the captured frames after the run, with the run's settings; each counts as "
             "an expectation does. Without capture all is captured."},
    {"sweep", FIELD_JSON, AT(sweep),
     .help = "Map of path to a list of values, or to {\"from\": VALUE, \"to\": VALUE} with \"factor\", "
             "\"step\" or "
             "\"points\" and \"scale\". Every combination is run. Beside paths: \"zip\", a list of maps "
             "whose values go "
             "together; \"draw\", samples of ranges; \"except\" and \"only\", lists of conditions."},
    {"search", FIELD_OPTIONAL, AT(search), .sub = &scenario_search_table,
     .help = "What harness search looks for. Runs do not need it."},
    {"expect", FIELD_LIST, AT(expect), .item = FIELD_OBJECT, .sub = &expect_table, .min = 0, .max = 1000,
     .help = "Expectations about the results."},
    {"published", FIELD_LIST, AT(published), .item = FIELD_OBJECT, .sub = &published_table, .min = 0,
     .max = 1000, .help = "Published figures to compare with this run's."},
    {"published_conditions", FIELD_JSON, AT(conditions),
     .help = "Conditions of all published figures: map of path to value, or to a comparison."},
    {0},
};
#undef AT

const struct table scenario_table = {"scenario",
                                     "An experiment: flows, settings, phases, samples, expectations, sweep.",
                                     sizeof(struct scenario), scenario_fields, NULL};

/* ---- references between names */

/* `names`: name -> number. -1: it is there already, or memory ran out. */
static int names_add(json_t *names, const char *name, size_t number)
{
    if (json_object_get(names, name))
        return -1;
    return json_object_set_new(names, name, json_integer((json_int_t)number));
}

/* ROLE.NIC and ROLE.GLOB are known only with a lab, which is asked before (harness/plan/bind.h). */
static bool is_role(const struct scenario *scenario, const char *name)
{
    const char *dot = json_object_get(scenario->role_index, name) ? NULL : strrchr(name, '.');
    return dot ? dot[1] && json_object_getn(scenario->role_index, name, (size_t)(dot - name))
               : json_object_get(scenario->role_index, name) != NULL;
}

int scenario_no_role(const struct list_of *roles, const char *path, const char *role, struct error *e)
{
    const char **words = calloc(roles->count + 1, sizeof *words);
    struct text known = {0};
    if (!words)
        return error_set(e, "%s: out of memory", path);
    memcpy(words, roles->items, roles->count * sizeof *words);
    for (size_t i = 0; i < roles->count && i < 20; i++)
        text_add(&known, "%s%s", i ? ", " : "", words[i]);
    if (roles->count > 20)
        text_add(&known, ", ... (%zu)", roles->count);
    const char *near = nearest_word(role, words);
    error_set(e, "%s: there is no role \"%.60s\"%s%s%s: expected one of %s", path, role,
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", text_string(&known));
    free(words);
    text_free(&known);
    return -1;
}

static int check_roles(const struct list_of *list, const struct scenario *scenario, const char *path,
                       struct error *e)
{
    char *const *items = list->items;
    for (size_t i = 0; i < list->count; i++) {
        char at[160];
        snprintf(at, sizeof at, "%s[%zu]", path, i);
        if (!is_role(scenario, items[i]))
            return scenario_no_role(&scenario->roles, at, items[i], e);
    }
    return 0;
}

static int collect_roles(struct scenario *scenario, struct error *e)
{
    char *const *items = scenario->roles.items;
    for (size_t i = 0; i < scenario->roles.count; i++) {
        size_t length = strcspn(items[i], ".");
        if ((length == 5 && strncmp(items[i], "flows", length) == 0) ||
            (length == 11 && strncmp(items[i], "collectives", length) == 0))
            return error_set(
                e, "roles[%zu]: \"%s\" cannot be the name of a role, because expressions use this word", i,
                items[i]);
        if (names_add(scenario->role_index, items[i], i) != 0)
            return error_set(e, "roles[%zu]: \"%s\" occurs twice", i, items[i]);
    }
    return 0;
}

static int check_flow_names(const struct scenario *scenario, json_t *flows, struct error *e)
{
    const struct scenario_flow *items = scenario->flows.items;
    for (size_t i = 0; i < scenario->flows.count; i++) {
        char at[64];
        snprintf(at, sizeof at, "flows[%zu].from", i);
        if (!is_role(scenario, items[i].from))
            return scenario_no_role(&scenario->roles, at, items[i].from, e);
        snprintf(at, sizeof at, "flows[%zu].to", i);
        if (!is_role(scenario, items[i].to))
            return scenario_no_role(&scenario->roles, at, items[i].to, e);
        if (names_add(flows, items[i].name, i) != 0)
            return error_set(e, "flows[%zu].name: \"%s\" occurs twice", i, items[i].name);
    }
    return 0;
}

static int check_traffic_names(const struct scenario *scenario, json_t *flows, struct error *e)
{
    const struct scenario_traffic *items = scenario->traffic.items;
    for (size_t i = 0; i < scenario->traffic.count; i++) {
        char at[64];
        snprintf(at, sizeof at, "traffic[%zu].from", i);
        if (check_roles(&items[i].from, scenario, at, e) != 0)
            return -1;
        snprintf(at, sizeof at, "traffic[%zu].to", i);
        if (check_roles(&items[i].to, scenario, at, e) != 0)
            return -1;
        if (names_add(flows, items[i].name, i) != 0)
            return error_set(e, "traffic[%zu].name: \"%s\" occurs twice", i, items[i].name);
    }
    return 0;
}

/* A role is one rank. */
static int check_roles_once(const struct list_of *roles, const char *at, struct error *e)
{
    char *const *role = roles->items;
    json_t *seen = json_object();
    int result = seen ? 0 : error_set(e, "out of memory");
    for (size_t k = 0; result == 0 && k < roles->count; k++) {
        if (json_object_get(seen, role[k]))
            result = error_set(e, "%s[%zu]: \"%s\" occurs twice", at, k, role[k]);
        else if (json_object_set_new(seen, role[k], json_true()) != 0)
            result = error_set(e, "out of memory");
    }
    json_decref(seen);
    return result;
}

/* They have names of their own: expressions read them apart from flows. */
static int check_collectives(const struct scenario *scenario, struct error *e)
{
    const struct scenario_collective *items = scenario->collectives.items;
    for (size_t i = 0; i < scenario->collectives.count; i++) {
        char at[64];
        snprintf(at, sizeof at, "collectives[%zu].roles", i);
        if (check_roles(&items[i].roles, scenario, at, e) != 0)
            return -1;
        size_t roles = items[i].roles.count ? items[i].roles.count : scenario->roles.count;
        if (items[i].launcher == LAUNCH_PROCESS && roles > 1)
            return error_set(
                e,
                "collectives[%zu].launcher: one process has the GPUs of one host: expected mpirun "
                "for %zu roles, or a single one in roles",
                i, roles);
        for (size_t k = 0; k < i; k++)
            if (strcmp(items[i].name, items[k].name) == 0)
                return error_set(e, "collectives[%zu].name: \"%s\" occurs twice", i, items[i].name);
        if (check_roles_once(&items[i].roles, at, e) != 0)
            return -1;
    }
    return 0;
}

static int check_jobs(const struct scenario *scenario, struct error *e)
{
    const struct scenario_job *items = scenario->jobs.items;
    for (size_t i = 0; i < scenario->jobs.count; i++) {
        char at[64];
        snprintf(at, sizeof at, "jobs[%zu].roles", i);
        if (check_roles(&items[i].roles, scenario, at, e) != 0 ||
            check_roles_once(&items[i].roles, at, e) != 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(items[i].name, items[k].name) == 0)
                return error_set(e, "jobs[%zu].name: \"%s\" occurs twice", i, items[i].name);
    }
    return 0;
}

/* A kernel may have optional counters that are not listed here: only those are refused that look like a slip
 * of one that is. */
static int check_optional_counters(const struct settings *settings, const char *path, struct error *e)
{
    char *const *names = settings->optional_counters.items, near[128];
    for (size_t i = 0; i < settings->optional_counters.count; i++)
        if (!counters_known(names[i], near, sizeof near) && *near)
            return error_set(e,
                             "%s.optional_counters[%zu]: there is no counter \"%.60s\"; did you mean \"%s\"?",
                             path, i, names[i], near);
    return 0;
}

static int check_settings_of(const struct scenario *scenario, struct error *e)
{
    const struct settings *of = scenario->settings_of.items;
    char path[160];
    for (size_t i = 0; i < scenario->settings_of.count; i++) {
        snprintf(path, sizeof path, "settings_of.%.100s", of[i].name);
        if (!is_role(scenario, of[i].name))
            return scenario_no_role(&scenario->roles, "settings_of", of[i].name, e);
        if (check_optional_counters(&of[i], path, e) != 0)
            return -1;
    }
    return check_optional_counters(&scenario->settings, "settings", e);
}

static int check_references(struct scenario *scenario, json_t *flows, struct error *e)
{
    if (collect_roles(scenario, e) != 0 || check_flow_names(scenario, flows, e) != 0 ||
        check_traffic_names(scenario, flows, e) != 0 || flow_order_check(&scenario->flows, e) != 0 ||
        check_collectives(scenario, e) != 0 || check_jobs(scenario, e) != 0)
        return -1;
    const struct scenario_storm *storms = scenario->storms.items;
    for (size_t i = 0; i < scenario->storms.count; i++)
        if (!is_role(scenario, storms[i].role))
            return scenario_no_role(&scenario->roles, "storms", storms[i].role, e);
    if (check_settings_of(scenario, e) != 0 ||
        check_roles(&scenario->sample.roles, scenario, "sample.roles", e) != 0)
        return -1;
    if (scenario->flows.count + scenario->traffic.count + scenario->collectives.count +
            scenario->jobs.count ==
        0)
        return error_set(e, "flows: expected at least one flow, or traffic, collectives or jobs");
    return 0;
}

/* Each checker judges once, and what is judged must be captured. */
static int prepare_verify(struct scenario *scenario, struct error *e)
{
    const int *checks = scenario->verify.items;
    for (size_t i = 0; i < scenario->verify.count; i++)
        for (size_t k = 0; k < i; k++)
            if (checks[i] == checks[k])
                return error_set(e, "verify[%zu]: \"%s\" occurs twice", i, capture_check_names[checks[i]]);
    if (!scenario->verify.count || scenario->capture || (scenario->capture = capture_of_all()))
        return 0;
    return error_set(e, "out of memory");
}

int scenario_parse(const json_t *json, struct scenario *scenario, struct error *e)
{
    if (table_parse(&scenario_table, json, scenario, e) != 0)
        return -1;
    json_t *flows = json_object();
    scenario->role_index = json_object();
    int result =
        flows && scenario->role_index ? check_references(scenario, flows, e) : error_set(e, "out of memory");
    if (result == 0)
        result = prepare_verify(scenario, e);
    json_decref(flows);
    if (result != 0)
        scenario_free(scenario);
    return result;
}

void scenario_free(struct scenario *scenario)
{
    json_decref(scenario->role_index);
    table_free(&scenario_table, scenario);
}

const char *scenario_role(const struct scenario *scenario, size_t i)
{
    return i < scenario->roles.count ? ((char *const *)scenario->roles.items)[i] : NULL;
}

int scenario_role_index(const struct scenario *scenario, const char *name)
{
    const json_t *index = json_object_get(scenario->role_index, name);
    return index ? (int)json_integer_value(index) : -1;
}

/* ---- traffic */

bool scenario_traffic_ends(const struct scenario_traffic *traffic)
{
    return traffic->size_bytes != FIELD_UNSET || traffic->sizes != SIZES_FIXED;
}

int64_t scenario_traffic_flows(const struct scenario_traffic *traffic)
{
    const struct list_of *receivers = traffic->to.count ? &traffic->to : &traffic->from;
    char *const *from = traffic->from.items, *const *to = receivers->items;
    int64_t count = 0;
    if (traffic->pattern == PATTERN_POISSON)
        return -1;
    if (traffic->pattern == PATTERN_PERMUTATION || traffic->pattern == PATTERN_RING_ALL_REDUCE)
        return (int64_t)traffic->from.count;
    for (size_t i = 0; i < receivers->count && count <= SCENARIO_PATTERN_FLOWS; i++)
        for (size_t k = 0; k < traffic->from.count; k++)
            count += strcmp(from[k], to[i]) != 0;
    return count;
}

/* ---- keys that nothing uses */

static const char *word_of(const json_t *item, const char *key)
{
    const char *word = json_string_value(json_object_get(item, key));
    return word ? word : "";
}

static bool is_sized(const json_t *traffic)
{
    return json_object_get(traffic, "size") || strcmp(word_of(traffic, "sizes"), "fixed") != 0;
}

static bool is_deep(const json_t *item)
{
    return json_integer_value(json_object_get(item, "depth")) > 1;
}

static bool is_sized_and_deep(const json_t *traffic)
{
    return is_sized(traffic) && is_deep(traffic);
}

/* -1: it has none. */
static int64_t bytes_at(const json_t *item, const char *key)
{
    int64_t bytes;
    return units_parse(UNIT_BYTES, word_of(item, key), &bytes, NULL) == 0 ? bytes : -1;
}

static bool has_own_message(const json_t *traffic)
{
    return is_sized(traffic) && bytes_at(traffic, "message") != bytes_at(traffic, "size");
}

static bool is_shorter(const json_t *flow)
{
    return bytes_at(flow, "size") > 0 && bytes_at(flow, "size") < bytes_at(flow, "message");
}

static bool arrives_otherwise(const json_t *traffic)
{
    return strcmp(word_of(traffic, "pattern"), "poisson") != 0;
}

static bool is_latency_and_deep(const json_t *flow)
{
    return strcmp(word_of(flow, "mode"), "latency") == 0 && is_deep(flow);
}

static bool is_one_of(const char *word, const char *const words[])
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words;
}

static bool reduces_nothing(const json_t *collective)
{
    static const char *const reducing[] = {"all-reduce", "reduce-scatter", "reduce", NULL};
    return !is_one_of(word_of(collective, "op"), reducing);
}

static bool has_no_root(const json_t *collective)
{
    static const char *const rooted[] = {"broadcast", "reduce", "gather", "scatter", NULL};
    return !is_one_of(word_of(collective, "op"), rooted);
}

static bool has_numa(const json_t *flow)
{
    return json_object_get(flow, "numa");
}

static bool has_gpu(const json_t *flow)
{
    return json_object_get(flow, "gpu");
}

static bool has_ordering(const json_t *flow)
{
    return json_object_get(flow, "relaxed_ordering");
}

static bool has_tool(const json_t *flow)
{
    return json_object_get(flow, "tool");
}

static bool is_validated(const json_t *flow)
{
    return json_is_true(json_object_get(flow, "validate"));
}

static bool names_route(const json_t *item)
{
    const char *memory = word_of(item, "memory");
    return strcmp(memory, flow_memory_names[MEMORY_HOST]) != 0 &&
           strcmp(memory, flow_memory_names[MEMORY_GPU]) != 0;
}

const struct scenario_unused scenario_unused[] = {
    {"traffic", "message", false, has_own_message, "what a message of the pattern has follows from its size"},
    {"traffic", "depth", false, is_sized_and_deep,
     "a flow of a pattern that has a size sends one message at a time"},
    {"traffic", "load", false, arrives_otherwise, "only Poisson arrivals have a load"},
    {"flows", "message", false, is_shorter, "a flow with a smaller size is one message of that size"},
    {"flows", "depth", false, is_latency_and_deep, "mode latency sends one message at a time"},
    {"collectives", "reduction", false, reduces_nothing, "the operation reduces nothing"},
    {"collectives", "root", false, has_no_root, "the operation has no root"},
    {"flows", "tool", true, has_tool, "simulated flows need no program"},
    {NULL, "gpu", true, has_gpu, "a simulated NIC has the memory of its nearest GPU alone"},
    {"flows", "numa", true, has_numa, "simulated hosts have no NUMA nodes"},
    {"flows", "relaxed_ordering", true, has_ordering,
     "the simulator does not model the order of PCIe writes"},
    {"flows", "validate", true, is_validated, "simulated packets carry no data that could be checked"},
    {NULL, "memory", true, names_route, "simulated GPU memory has one route, that of \"gpu\""},
    {0}};

static void drop_unused(const struct scenario_unused *row, const json_t *said, json_t *resolved)
{
    const json_t *items = json_object_get(said, row->list);
    json_t *item;
    size_t i;
    json_array_foreach(json_object_get(resolved, row->list), i, item)
    {
        if (!json_object_get(json_array_get(items, i), row->key) && row->is(item))
            json_object_del(item, row->key);
    }
}

json_t *scenario_resolve(const json_t *json)
{
    json_t *resolved = table_resolve(&scenario_table, json);
    for (const struct scenario_unused *row = scenario_unused; row->key; row++)
        if (row->list && !row->simulated)
            drop_unused(row, json, resolved);
    return resolved;
}

/* ---- settings of a role */

json_t *scenario_role_settings(const json_t *json, const char *role)
{
    json_t *common = json_object_get(json, "settings");
    json_t *merged = json_is_object(common) ? json_deep_copy(common) : json_object();
    json_merge_deep(merged, json_object_get(json_object_get(json, "settings_of"), role));
    return merged;
}

uint32_t scenario_groups(const struct scenario *scenario)
{
    const int *items = scenario->sample.groups.items;
    uint32_t bits = 0;
    for (size_t i = 0; i < scenario->sample.groups.count; i++)
        bits |= counters_group_bits(counter_group_choices[items[i]], strlen(counter_group_choices[items[i]]));
    return bits ? bits : UINT32_MAX;
}

void scenario_phase_starts(const struct scenario *scenario, int64_t phase_ns[4])
{
    const struct scenario_phases *p = &scenario->phases;
    phase_ns[0] = 0;
    phase_ns[1] = p->warmup_ns;
    phase_ns[2] = phase_ns[1] + p->measure_ns;
    phase_ns[3] = phase_ns[2] + p->cooldown_ns;
}

/* ---- ranges of roles, written out: "h[0-31]" wherever a role is named */

static int expand_traffic(json_t *document, struct error *e)
{
    json_t *traffic;
    size_t i;
    json_array_foreach(json_object_get(document, "traffic"), i, traffic)
    {
        if (expand_list(traffic, "from", e) != 0 || expand_list(traffic, "to", e) != 0)
            return error_prefix(e, "traffic[%zu]", i);
    }
    return 0;
}

/* Roles of collectives, or of jobs. */
static int expand_roles(json_t *document, const char *list, struct error *e)
{
    json_t *item;
    size_t i;
    json_array_foreach(json_object_get(document, list), i, item)
    {
        if (expand_list(item, "roles", e) != 0)
            return error_prefix(e, "%s[%zu]", list, i);
    }
    return 0;
}

/* A role's null takes away what its range sets. */
static int expand_settings(json_t *document, struct error *e)
{
    json_t *written = json_incref(json_object_get(document, "settings_of"));
    int result = expand_keys(document, "settings_of", e);
    json_t *expanded = json_object_get(document, "settings_of");
    if (result == 0 && expanded != written)
        json_object_set_new(document, "settings_of", json_merged(NULL, expanded));
    json_decref(written);
    return result;
}

/* A list of names in an object of the document. */
static int expand_names(json_t *document, const char *object, const char *list, struct error *e)
{
    return expand_list(json_object_get(document, object), list, e) == 0 ? 0 : error_prefix(e, "%s", object);
}

json_t *scenario_expand(const json_t *json, struct error *e)
{
    static const struct expand_ends of_flow = {.one = "from", .other = "to"}, of_storm = {.one = "role"};
    static const struct expand_ends of_link = {.one = "link", .list = true}, of_rule = {.one = "flow"};
    json_t *copy = json_deep_copy(json);
    if (!copy)
        error_set(e, "out of memory");
    if (json_is_object(json_object_get(copy, "roles"))) { /* as a lab has them */
        json_decref(copy);
        error_set(e,
                  "roles: is an object: expected a list of names, such as [\"a\", \"b\"]; which hosts these "
                  "are is said by \"roles\" of the lab");
        return NULL;
    }
    if (copy && expand_list(copy, "roles", e) == 0 && expand_settings(copy, e) == 0 &&
        expand_items(copy, "flows", &of_flow, e) == 0 && expand_traffic(copy, e) == 0 &&
        expand_roles(copy, "collectives", e) == 0 && expand_roles(copy, "jobs", e) == 0 &&
        expand_items(copy, "storms", &of_storm, e) == 0 && expand_items(copy, "inject", &of_link, e) == 0 &&
        expand_items(copy, "inject", &of_rule, e) == 0 && expand_names(copy, "sample", "roles", e) == 0 &&
        expand_names(copy, "capture", "ports", e) == 0)
        return copy;
    json_decref(copy);
    return NULL;
}
