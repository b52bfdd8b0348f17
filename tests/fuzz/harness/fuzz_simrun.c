/* Simulated runs with values at the edges of what documents may have: `harness run SCENARIO --set
 * PATH=VALUE...` with the first byte's scenario, and a PATH and VALUE, a fault of a link, or one of single
 * frames, for each four bytes after it. With FUZZ_VERBOSE set, the command is printed. */
#include "harness/plan/plan.h"
#include "harness/run/experiment.h"
#include "lib/text.h"
#include "tests/fuzz/scratch.h"
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_EDITS  6
#define MAX_NODES  300 /* more take long to set up; their edges are the same */
#define MAX_FLOWS  1000
#define LIMIT_S    2 /* of processor time: a run that would take longer is interrupted, as by a person */
#define LAST_SETS  3
#define IS_FAULT   128 /* in the last of four bytes */
#define IS_FRAME   64  /* beside it: of single frames */
#define CHANGEABLE 4096

/* A place in a document that has a value, and the value. */
struct place {
    char *path;
    const json_t *value;
};

/* A scenario of this project with the lab it names: where values can be changed. */
struct subject {
    char *scenario;
    struct plan plan;
    struct place places[CHANGEABLE];
    size_t count;
};

/* ---- what can be changed */

static void find_places(struct subject *s, const char *path, const json_t *value)
{
    const char *key;
    json_t *inner;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)value, key, inner)
    {
        struct text longer = {0};
        text_add(&longer, "%s%s%s", path, *path && path[strlen(path) - 1] != '.' ? "." : "", key);
        find_places(s, text_string(&longer), inner);
        text_free(&longer);
    }
    json_array_foreach(value, i, inner)
    {
        struct text longer = {0};
        text_add(&longer, "%s.%zu", path, i);
        find_places(s, text_string(&longer), inner);
        text_free(&longer);
    }
    if (!json_is_object(value) && !json_is_array(value) && s->count < CHANGEABLE)
        s->places[s->count++] = (struct place){strdup(path), value};
}

/* The scenarios with a simulated lab. They stay for the life of the process. */
static size_t subjects(struct subject **list)
{
    static struct subject *all;
    static size_t count;
    glob_t found = {0};
    struct error e;
    if (!all && glob("scenarios/*.json", 0, NULL, &found) == 0 && (all = calloc(found.gl_pathc, sizeof *all)))
        for (size_t i = 0; i < found.gl_pathc; i++) {
            struct subject *s = &all[count];
            const char *none = "sweep={}";
            struct plan_request request = {
                .scenario = found.gl_pathv[i], .sets = &none, .set_count = 1, .duration_ns = FIELD_UNSET};
            if (plan_load(&request, &s->plan, &e) != 0 || !lab_kind(&s->plan.first.lab)->simulated)
                continue;
            s->scenario = strdup(found.gl_pathv[i]);
            find_places(s, "", s->plan.first.scenario_json);
            find_places(s, "lab.", s->plan.first.lab_json);
            count++;
        }
    globfree(&found);
    if (!count) {
        fprintf(stderr, "no scenarios: run this in the root of the project\n");
        abort();
    }
    *list = all;
    return count;
}

/* ---- values at edges */

static int64_t edge_integer(uint8_t choice)
{
    static const int64_t beside[] = {0, -1, 1, 7};
    return (int64_t)((UINT64_C(1) << choice % 64) + (uint64_t)beside[choice / 64]) & INT64_MAX;
}

/* The unit of a value, by what it is written in; -1: it has none. */
static int unit_of(const char *text)
{
    int64_t value;
    for (int unit = UNIT_TIME_NS; unit <= UNIT_PERCENT_MILLI; unit++)
        if (text[0] >= '0' && text[0] <= '9' && units_parse((enum unit)unit, text, &value, NULL) == 0)
            return unit;
    return -1;
}

static void add_value(struct text *set, const json_t *was, uint8_t choice)
{
    static const double reals[] = {0, 1e-300, 1e-9, 0.5, 1, 1.5, 2, 1000, 1e6, 1e300};
    static const char *const words[] = {"write", "read",    "send",      "write-imm", "host",   "gpu",
                                        "dcqcn", "latency", "bandwidth", "poisson",   "incast", "none"};
    int unit = json_is_string(was) ? unit_of(json_string_value(was)) : -1;
    char written[40];
    if (unit >= 0)
        text_add(set, "%s", units_format((enum unit)unit, edge_integer(choice), written, sizeof written));
    else if (json_is_string(was))
        text_add(set, "%s", words[choice % (sizeof words / sizeof *words)]);
    else if (json_is_integer(was))
        text_add(set, "%lld", (long long)edge_integer(choice));
    else if (json_is_real(was))
        text_add(set, "%g", reals[choice % (sizeof reals / sizeof *reals)]);
    else
        text_add(set, "%s", choice & 1 ? "true" : "false");
}

static char *edit(const struct subject *s, const uint8_t bytes[4])
{
    const struct place *place = &s->places[(bytes[0] | bytes[1] << 8) % s->count];
    struct text set = {0};
    text_add(&set, "%s=", place->path);
    add_value(&set, place->value, bytes[2]);
    return text_take(&set);
}

/* A fault of one of the lab's links, in the first 40 us; `faults` is a list that has begun. */
static void add_fault(const struct subject *s, const uint8_t bytes[4], struct text *faults)
{
    static const char *const rest[] = {
        "\"down\"",
        "\"down\",\"stop\":\"45us\"",
        "\"flap\",\"period\":\"2us\",\"count\":5",
        "\"flap\",\"period\":\"5us\",\"duty\":0.7,\"count\":2",
        "\"rate\",\"rate\":\"20Gb/s\",\"retrain\":\"4us\"",
        "\"rate\",\"rate\":\"5Gb/s\",\"retrain\":\"20us\",\"stop\":\"48us\"",
        "\"loss\",\"loss\":0.2",
        "\"loss\",\"loss\":1,\"stop\":\"44us\"",
        "\"loss\",\"bursts\":{\"to_bad\":0.1,\"to_good\":0.3,\"loss_good\":0.01}",
    };
    size_t links = s->plan.first.lab.links.count;
    const struct lab_link *link = links ? lab_link_at(&s->plan.first.lab, bytes[0] % links) : NULL;
    if (!link)
        return;
    char *const *ends = link->between.items;
    text_add(faults, "%s{\"link\":[\"%s\",\"%s\"],\"start\":\"%uus\",\"kind\":%s}",
             faults->length > 8 ? "," : "", ends[0], ends[1], bytes[1] % 40u,
             rest[bytes[2] % (sizeof rest / sizeof *rest)]);
}

/* A fault of single frames of a link, some at the edges: what is longer than the run, and what hosts do where
 * a switch is. */
static void add_injection(const struct subject *s, const uint8_t *bytes, struct text *injections)
{
    static const char *const rest[] = {
        "\"drop\"",
        "\"corrupt\",\"probability\":0.3",
        "\"mark\",\"every\":2",
        "\"delay\",\"delay\":\"3us\",\"every\":3",
        "\"duplicate\",\"every\":2",
        "\"duplicate\",\"delay\":\"1000s\",\"every\":2",
        "\"reorder\",\"behind\":1,\"every\":2",
        "\"reorder\",\"behind\":1000,\"every\":1",
        "\"cnp\",\"every\":1",
        "\"pause\",\"lasts\":\"1us\",\"every\":2",
        "\"pause\",\"lasts\":\"1000s\",\"pause_priority\":7,\"every\":1",
        "\"stall\",\"lasts\":\"2us\",\"every\":3",
        "\"stall\",\"lasts\":\"1000s\"",
    };
    static const char *const packets[] = {"data", "data", "ack", "nak", "read-request", "cnp", "pfc", "pfc"};
    size_t links = s->plan.first.lab.links.count;
    const struct lab_link *link = links ? lab_link_at(&s->plan.first.lab, bytes[0] % links) : NULL;
    if (!link)
        return;
    char *const *ends = link->between.items;
    bool back = bytes[1] & 1;
    text_add(injections, "%s{\"link\":[\"%s\",\"%s\"],\"start\":\"%uus\",\"packet\":\"%s\",\"do\":%s}",
             injections->length > 8 ? "," : "", ends[back], ends[!back], (bytes[1] >> 1) % 40u,
             packets[bytes[3] % 8], rest[bytes[2] % (sizeof rest / sizeof *rest)]);
}

/* ---- the run */

static bool is_small(const struct cell *cell)
{
    const struct scenario_traffic *traffic = cell->scenario.traffic.items;
    bool small = cell->lab.hosts.count + cell->lab.switches.count <= MAX_NODES;
    for (size_t i = 0; i < cell->scenario.traffic.count; i++)
        small &= traffic[i].pattern == PATTERN_POISSON ||
                 (traffic[i].count <= MAX_FLOWS && scenario_traffic_flows(&traffic[i]) <= MAX_FLOWS);
    return small;
}

static void run_plan(const struct plan *plan)
{
    struct error e;
    struct interrupt interrupt;
    struct progress progress;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGHUP};
    struct itimerspec limit = {.it_value = {.tv_sec = LIMIT_S}};
    if (!is_small(&plan->first) || interrupt_open(&interrupt, &e) != 0)
        return;
    progress_open(&progress, true);
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0) {
        timer_settime(timer, 0, &limit, NULL);
        struct experiment x = {.plan = plan,
                               .cell = &plan->first,
                               .folder = scratch_folder(),
                               .seed = 1,
                               .repeat = 1,
                               .repeats = 1,
                               .interrupt = &interrupt,
                               .progress = &progress};
        experiment_run(&x, &e);
        timer_delete(timer);
    }
    interrupt_count(&interrupt); /* a signal that came late */
    interrupt_close(&interrupt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const last[LAST_SETS] = {
        "sweep={}", "phases={\"warmup\":\"10us\",\"measure\":\"40us\",\"cooldown\":\"5us\"}",
        "sample={\"every\":\"5us\"}"};
    const char *sets[MAX_EDITS + 2 + LAST_SETS];
    struct text faults = {0}, injections = {0};
    struct subject *all;
    struct plan plan;
    struct error e;
    size_t edits = 0;
    if (!size)
        return 0;
    size_t count = subjects(&all);
    const struct subject *s = &all[data[0] % count];
    text_add(&faults, "faults=[");
    text_add(&injections, "inject=[");
    for (size_t at = 1; at + 4 <= size && edits < MAX_EDITS; at += 4)
        if ((data[at + 3] & IS_FAULT) && (data[at + 3] & IS_FRAME))
            add_injection(s, data + at, &injections);
        else if (data[at + 3] & IS_FAULT)
            add_fault(s, data + at, &faults);
        else
            sets[edits++] = edit(s, data + at);
    text_add(&faults, "]");
    text_add(&injections, "]");
    if (injections.length > sizeof "inject=[]" - 1)
        sets[edits++] = text_take(&injections);
    text_free(&injections);
    if (faults.length > sizeof "faults=[]" - 1)
        sets[edits++] = text_take(&faults);
    text_free(&faults);
    memcpy(sets + edits, last, sizeof last);
    for (size_t i = 0; getenv("FUZZ_VERBOSE") && i < edits + LAST_SETS; i++)
        fprintf(stderr, " --set '%s'%s", sets[i], i + 1 < edits + LAST_SETS ? " " : "\n");
    struct plan_request request = {
        .scenario = s->scenario, .sets = sets, .set_count = edits + LAST_SETS, .duration_ns = FIELD_UNSET};
    if (plan_load(&request, &plan, &e) == 0) {
        run_plan(&plan);
        plan_free(&plan);
    }
    for (size_t i = 0; i < edits; i++)
        free((char *)(uintptr_t)sets[i]);
    return 0;
}
