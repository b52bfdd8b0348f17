#include "reports/explain/explain.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/roce/counters.h"
#include "reports/explain/causes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cause that took less than this part of what the first one took is not in the explanation. */
#define MINOR 0.05
/* Of a flow's line, all flows together: below that nothing is wrong. */
#define WRONG 0.01
static const struct {
    const char *name, *words;
} shares[SHARES] = {
    [SHARE_DELIVERED] = {"delivered", "delivered"},
    [SHARE_RESENT] = {"resent", "sent again"},
    [SHARE_OTHERS] = {"others", "what else its sender sends"},
    [SHARE_PAUSED] = {"paused", "paused"},
    [SHARE_ASKED] = {"not_asked", "not asked for by the scenario"},
    [SHARE_RATE] = {"rate", "held down by congestion control"},
    [SHARE_LOSS] = {"loss", "waiting after losses or time-outs"},
    [SHARE_QUEUE] = {"queue", "waiting in queues"},
    [SHARE_SENDER] = {"sender", "its sender: too little in flight, or slow"},
    [SHARE_UNKNOWN] = {"unknown", "not explained"},
};

static const char *const sureness_words[] = {[POSSIBLE] = "possible", [LIKELY] = "likely", [SURE] = "sure"};

/* ---- the document */

static json_t *lines_of(const struct text *text)
{
    json_t *list = json_array();
    for (const char *at = text_string(text), *end; *at; at = *end ? end + 1 : end) {
        end = strchrnul(at, '\n');
        if (end > at)
            json_array_append_new(list, json_textn(at, (size_t)(end - at)));
    }
    return list;
}

/* Shares that differ by less are the same in words. */
#define ROUNDED 0.001

/* Of a switch's port also what it sent: one that is half empty hardly feels the pauses. */
static json_t *told_text(const struct seen *s, const struct cause *cause)
{
    const struct network_port *port = &s->network.ports[cause->told_port];
    double use = s->network.nodes[port->node].host ? NAN : seen_use(s, cause->told_port, NULL);
    struct text out = {0};
    text_add(&out, "the port %s, which waits for it, was under XOFF for %.1f %% of the measure phase",
             port->name, 100 * cause->told_held);
    if (cause->told < cause->told_held - ROUNDED)
        text_add(&out, " (for its sake %.1f %%)", 100 * cause->told);
    if (!isnan(use))
        text_add(&out, ", and sent %.0f %% of what it carries", 100 * use);
    json_t *text = json_text(text_string(&out));
    text_free(&out);
    return text;
}

static json_t *cause_json(struct seen *s, const struct cause *cause)
{
    const struct cause_words *words = &cause_words[cause->kind];
    json_t *feeding = json_array(), *victims = json_array();
    size_t *order = seen_by_cost(s, cause->cost_of);
    bool any = s->flow_count && cause->cost_of[order[0]] >= WRONG; /* lost something */
    for (size_t k = 0; k < s->flow_count; k++) {
        const struct flow_seen *flow = &s->flows[order[k]];
        double cost = cause->cost_of[order[k]];
        bool feeds = !words->spreads || cause_feeds(s, cause, flow);
        bool named = feeds && words->spreads && flow->goodput_bps > 0 &&
                     (cause->priority < 0 || flow->priority == cause->priority);
        if (cost >= WRONG || (!any && named))
            json_array_append_new(feeds ? feeding : victims,
                                  json_make("{s:s, s:f}", "flow", flow->name, "cost", cost));
    }
    free(order);
    json_t *json =
        json_make("{s:s, s:s, s:s, s:o, s:f, s:o, s:o, s:o}", "kind", words->name, "culprit", cause->culprit,
                  "sureness", sureness_words[cause->sureness], "text",
                  json_textf("%s%s%s", words->before, cause->culprit, words->after), "cost", cause->cost,
                  "evidence", lines_of(&cause->evidence), "flows", feeding, "victims", victims);
    if (cause->priority >= 0)
        json_put(json, "priority", json_integer(cause->priority));
    if (cause->from_ns <= cause->to_ns) {
        json_put(json, "from_ns", json_integer(cause->from_ns));
        json_put(json, "to_ns", json_integer(cause->to_ns));
    }
    if (cause->told_port != NETWORK_NONE && cause->told >= WRONG)
        json_array_append_new(json_object_get(json, "evidence"), told_text(s, cause));
    struct help help = cause_help(s, cause);
    if (help.words)
        json_put(json, "help", json_text(help.words));
    if (help.set)
        json_put(json, "set", json_text(help.set));
    free(help.set);
    return json;
}

static json_t *flow_json(const struct flow_seen *flow)
{
    json_t *parts = json_object();
    for (size_t k = 0; k < SHARES; k++)
        if (flow->share[k] > 0)
            json_put(parts, shares[k].name, json_real(flow->share[k]));
    return json_make("{s:s, s:f, s:f, s:o}", "flow", flow->name, "most_bps", flow->most_bps, "delivered_bps",
                     flow->result_bps, "shares", parts);
}

static bool has_not_run(const struct run *run)
{
    return json_array_size(run_get(run, "phases")) == 0;
}

/* What the result does not tell, and what would. */
static json_t *unknown_json(const struct seen *s)
{
    json_t *list = json_array();
    bool paused = false;
    for (size_t i = 0; i < s->flow_count; i++)
        paused |= s->flows[i].share[SHARE_PAUSED] + s->flows[i].share[SHARE_UNKNOWN] > WRONG;
    if (s->hosts_only && paused)
        json_array_append_new(
            list,
            json_text("nothing of the switches was sampled: where pauses began is what hosts tell of it"));
    if (s->run->pauses_left_out)
        json_array_append_new(list, json_textf("%zu pauses were left out, so times are less than they were",
                                               s->run->pauses_left_out));
    if (!json_is_true(run_get(s->run, "complete")))
        json_array_append_new(list, json_text("the run is not complete: only what ran is explained"));
    if (s->flows_left_out)
        json_array_append_new(list, json_textf("%zu flows beyond the first %zu are not looked at",
                                               s->flows_left_out, s->flow_count));
    for (size_t i = 0; i < s->flow_count; i++)
        if (s->flows[i].slowdown > 0 && s->flows[i].most_bps <= 0)
            json_array_append_new(
                list,
                json_textf("the flows of %s ended, and are one in the result: what each waited for (their "
                           "slowdown is %.2f in the mean)",
                           s->flows[i].name, s->flows[i].slowdown));
    if (s->flow_count == 0 && !has_not_run(s->run))
        json_array_append_new(
            list, json_text("there are no flows in the result: what anything took from them is not known"));
    return list;
}

/* What the scenario asks of the flow, and its sender's other flows leave: a share of its line. */
static double asked_share(const struct flow_seen *flow)
{
    return seen_asked(flow) - (flow->rests ? flow->share[SHARE_SENDER] : 0);
}

/* "a (lost 57 % of its line), b (lost nothing) and 3 others" */
static void name_flows(struct text *out, const json_t *flows, size_t most)
{
    const json_t *one;
    size_t i, count = json_array_size(flows);
    json_array_foreach(flows, i, one)
    {
        double lost = json_number_value(json_object_get(one, "cost"));
        if (i == most)
            break;
        text_add(out, "%s%s (lost ", i ? ", " : "", run_member(one, "flow"));
        if (lost >= WRONG)
            text_add(out, "%.0f %% of its line)", 100 * lost);
        else
            text_add(out, "nothing)");
    }
    if (count > most)
        text_add(out, " and %zu %s", count - most, THINGS(count - most, "other"));
}
#define FLOWS_NAMED   4
#define VICTIMS_NAMED 2

/* The first cause, and its victims: that is what is noticed. */
static json_t *first_text(const json_t *cause)
{
    json_t *hurt = json_array(), *victim;
    size_t i;
    json_array_foreach(json_object_get(cause, "victims"), i, victim)
    {
        if (json_number_value(json_object_get(victim, "cost")) >= MINOR)
            json_array_append(hurt, victim);
    }
    struct text out = {0};
    text_add(&out, "%s", run_member(cause, "text"));
    if (json_array_size(hurt))
        text_add(&out, "; %s: ", THINGS(json_array_size(hurt), "victim"));
    name_flows(&out, hurt, VICTIMS_NAMED);
    json_t *text = json_text(text_string(&out));
    text_free(&out);
    json_decref(hurt);
    return text;
}

/* "h0 crc_errors 3, h1 rx_crc_errors_phy 55": losses, outages and long pauses of the measure phase, a few.
 * They need not take anything from a flow to be faults. */
#define FAULTS_NAMED 4

static void add_fault(struct text *out, size_t *count, const char *role, const char *counter, double value,
                      const char *unit)
{
    if (++*count <= FAULTS_NAMED)
        text_add(out, "%s%s %s %.0f%s", *count > 1 ? ", " : "", role, counter, value, unit);
}

static size_t name_faults(const struct seen *s, struct text *out)
{
    const json_t *host, *counter, *counters;
    const char *role, *name, *whole;
    size_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)run_get(s->run, "hosts"), role, host)
    {
        counters = seen_counters(s, role);
        json_object_foreach((json_t *)(uintptr_t)counters, name, counter)
        {
            enum counter_loss is = counters_loss(name, &whole);
            bool down = strncmp(name, "link_down_events", strlen("link_down_events")) == 0,
                 other = counters_of_port(name) || (whole && json_object_get(counters, whole));
            double value = json_number_value(json_object_get(counter, "delta"));
            if (value > 0 && !other && (down || is == COUNTER_LOST || is == COUNTER_LOST_BY_LINK))
                add_fault(out, &count, role, name, value, "");
        }
        for (int priority = 0; priority < PRIORITIES; priority++) {
            char paused[] = "tx_prio0_pause_duration";
            paused[strlen("tx_prio")] = (char)('0' + priority);
            double held_us = seen_delta(s, role, "%s", paused);
            if (held_us * NS_PER_US > MINOR * (double)s->measure_ns)
                add_fault(out, &count, role, paused, held_us, " us");
        }
    }
    if (count > FAULTS_NAMED)
        text_add(out, " and %zu %s", count - FAULTS_NAMED, THINGS(count - FAULTS_NAMED, "other"));
    return count;
}

/* The whole in a sentence: of a run without a cause, what that rests on. */
static json_t *summary_text(const struct seen *s, const json_t *causes)
{
    double unknown = 0, least = 1;
    for (size_t i = 0; i < s->flow_count; i++) {
        const double *share = s->flows[i].share;
        double its = asked_share(&s->flows[i]);
        unknown = fmax(unknown, share[SHARE_UNKNOWN]);
        least = its > 0 ? fmin(least, share[SHARE_DELIVERED] / its) : least;
    }
    if (json_array_size(causes))
        return first_text(json_array_get(causes, 0));
    if (has_not_run(s->run))
        return json_textf("nothing ran (%s): %s", run_member(s->run->result, "verdict"),
                          run_member(s->run->result, "reason"));
    struct text out = {0}, faults = {0};
    bool faulty = name_faults(s, &faults);
    if (s->flow_count == 0)
        text_add(&out, "there is no flow whose rate could be explained");
    else if (unknown > MINOR)
        text_add(&out, "no cause was found; what kept flows from their rate is not known");
    else if (least < 1 - MINOR)
        text_add(&out,
                 "no cause was found; a flow has %.0f %% of what its sender's line carries, or the scenario "
                 "asks for",
                 floor(100 * least));
    else if (least < 1 - WRONG)
        text_add(&out,
                 "nothing took %.0f %% or more from a flow: each has at least %.0f %% of what its sender's "
                 "line carries, or the scenario asks for",
                 100 * MINOR, floor(100 * least));
    else
        text_add(&out, "%seach flow has what its sender's line carries, or what the scenario asks for",
                 faulty ? "" : "nothing is wrong: ");
    if (faulty)
        text_add(&out, "; but there were faults: %s", text_string(&faults));
    json_t *text = json_text(text_string(&out));
    text_free(&out);
    text_free(&faults);
    return text;
}

/* The names of shares, and what they are. */
static json_t *share_words(void)
{
    json_t *words = json_object();
    for (size_t k = 0; k < SHARES; k++)
        json_put(words, shares[k].name, json_text(shares[k].words));
    return words;
}

/* It took much of what a flow asks for, however little that is of its line. */
static bool slows_a_flow(const struct seen *s, const struct cause *cause)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (cause->cost_of[i] > MINOR * asked_share(&s->flows[i]))
            return true;
    return false;
}

/* Is it known of each flow what it lacks, and why? */
static bool costs_are_known(const struct seen *s)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (s->flows[i].share[SHARE_UNKNOWN] > WRONG)
            return false;
    return s->flow_count > 0 && s->flows_left_out == 0;
}

/* It took something from flows or, where what it took is not known, stopped ports. A link that fails is told
 * of beside what took more, a storm whatever it took, and a headroom that is too short: they are to be
 * mended. */
static bool is_told(const struct seen *s, const struct cause *cause, const struct cause *first)
{
    if ((cause->kind == CAUSE_LINK_DOWN && cause->cost >= WRONG) ||
        (cause->kind == CAUSE_HEADROOM && cause->sureness == SURE))
        return true;
    if (slows_a_flow(s, cause))
        return cause->cost >= MINOR * first->cost;
    return first->cost >= WRONG
               ? cause->cost >= WRONG && cause->cost >= MINOR * first->cost
               : cause->worst >= MINOR && (cause->kind == CAUSE_STORM || !costs_are_known(s));
}

json_t *explain_run(struct run *run, bool hosts_only)
{
    struct seen s;
    struct roots roots = {0};
    struct causes causes;
    json_t *list = json_array(), *flows = json_array();
    seen_open(&s, run, hosts_only);
    roots_find(&s, &roots);
    causes_find(&s, &roots, &causes);
    for (size_t i = 0; i < causes.count; i++)
        if (is_told(&s, &causes.items[i], &causes.items[0]))
            json_array_append_new(list, cause_json(&s, &causes.items[i]));
    for (size_t i = 0; i < s.flow_count; i++)
        json_array_append_new(flows, flow_json(&s.flows[i]));
    json_t *explanation = json_make("{s:i, s:b, s:o, s:o, s:o, s:o, s:o}", "schema", 1, "hosts_only",
                                    s.hosts_only, "causes", list, "flows", flows, "shares", share_words(),
                                    "text", summary_text(&s, list), "unknown", unknown_json(&s));
    causes_free(&causes);
    roots_free(&s, &roots);
    seen_free(&s);
    return explanation;
}

static json_t *explain_folder(struct run *run, bool hosts_only, struct error *e)
{
    if (run_load_samples(run, e) != 0)
        return NULL;
    json_t *explanation = explain_run(run, hosts_only);
    const char *origin = run_origin(run);
    json_put(explanation, "folder", json_text(run->folder));
    json_put(explanation, "origin", json_text(origin ? origin : "measured"));
    run_free_samples(run);
    return explanation;
}

json_t *explain_result(const char *result, bool hosts_only, struct damaged *damaged, struct error *e)
{
    struct runs runs;
    if (runs_load(&result, 1, &runs, e) != 0)
        return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(runs.indices); i++)
        damaged_add_left_out(damaged, json_array_get(runs.indices, i));
    for (size_t i = 0; i < runs.count && list; i++) {
        json_t *one = explain_folder(&runs.items[i], hosts_only, e);
        damaged_add(damaged, &runs.items[i]);
        if (one)
            json_array_append_new(list, one);
        else
            json_decref(list), list = NULL;
    }
    bool sweep = json_array_size(runs.indices) || runs.count != 1;
    runs_free(&runs);
    if (sweep || !list)
        return list;
    json_t *single = json_incref(json_array_get(list, 0));
    json_decref(list);
    return single;
}

/* ---- words */

static void add_flows(struct text *out, const char *before, const json_t *flows)
{
    if (!json_array_size(flows))
        return;
    text_add(out, "    %s ", before);
    name_flows(out, flows, FLOWS_NAMED);
    text_add(out, "\n");
}

#define EVIDENCE_SHOWN 6

static void add_cause(struct text *out, const json_t *cause)
{
    size_t i;
    const json_t *line;
    text_add(out, "  %s (%s)\n", run_member(cause, "text"), run_member(cause, "sureness"));
    if (json_object_get(cause, "from_ns"))
        text_add(out, "    from %.3f to %.3f ms, where 0 is the beginning of the measure phase\n",
                 json_number_value(json_object_get(cause, "from_ns")) / NS_PER_MS,
                 json_number_value(json_object_get(cause, "to_ns")) / NS_PER_MS);
    json_array_foreach(json_object_get(cause, "evidence"), i, line)
    {
        if (i < EVIDENCE_SHOWN)
            text_add(out, "    %s\n", json_string_value(line));
    }
    add_flows(out, "flows:", json_object_get(cause, "flows"));
    add_flows(out, "victims, which go elsewhere:", json_object_get(cause, "victims"));
    if (json_object_get(cause, "help"))
        text_add(out, "    perhaps: %s", run_member(cause, "help"));
    if (json_object_get(cause, "set"))
        text_add(out, "; to see it, run with --set '%s'", run_member(cause, "set"));
    if (json_object_get(cause, "help"))
        text_add(out, "\n");
}

static void add_shares(struct text *out, const json_t *flow)
{
    const json_t *parts = json_object_get(flow, "shares");
    bool first = true;
    text_add(out, "  %-16s", run_member(flow, "flow"));
    for (size_t k = 0; k < SHARES; k++) {
        double share = json_number_value(json_object_get(parts, shares[k].name));
        if (share >= 0.005) {
            text_add(out, "%s %.0f %% %s", first ? "" : ",", 100 * share, shares[k].words);
            first = false;
        }
    }
    text_add(out, "\n");
}

#define FLOWS_SHOWN  16
#define CAUSES_SHOWN 4

/* How many of the list are not among the first ones, which are shown. */
static void add_rest(struct text *out, const json_t *list, size_t shown)
{
    size_t rest = json_array_size(list) > shown ? json_array_size(list) - shown : 0;
    if (rest)
        text_add(out, "  and %zu %s: --json has them\n", rest, THINGS(rest, "other"));
}

void explain_add_words(const json_t *explanation, bool brief, struct text *out)
{
    const json_t *causes = json_object_get(explanation, "causes"),
                 *flows = json_object_get(explanation, "flows");
    const json_t *one;
    size_t i;
    if (brief || json_array_size(causes) == 0)
        text_add(out, "%s\n", run_member(explanation, "text"));
    if (brief)
        return;
    json_array_foreach(causes, i, one)
    {
        if (i < CAUSES_SHOWN)
            add_cause(out, one);
    }
    add_rest(out, causes, CAUSES_SHOWN);
    if (json_array_size(flows))
        text_add(out, "where the time of flows went, as parts of what the sender's line carries:\n");
    json_array_foreach(flows, i, one)
    {
        if (i < FLOWS_SHOWN)
            add_shares(out, one);
    }
    add_rest(out, flows, FLOWS_SHOWN);
    json_array_foreach(json_object_get(explanation, "unknown"), i, one)
        text_add(out, "not known: %s\n", json_string_value(one));
}
