#include "lib/document/form.h"
#include "lib/folder/folder.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/text.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Documents to begin with, each a text in which ' stands for a quote and @ with a letter for a value: @n the
 * name, @h the number of hosts, @o one less, @l the number of the last host, @s that of the one before, @e
 * half of the hosts, @u the rate of as many links of 25 Gb/s, @f what a fair share is above, @g the NICs of a
 * host, and @r the rate of them all. */
struct network {
    const char *word;
    int64_t most;                 /* hosts */
    bool even;                    /* the number of them */
    const char *title, *document; /* of the lab */
    const char *roles, *drops;    /* of the scenario */
    const char *fair;             /* of many senders to one, more than this */
    const char *nics, *rate;      /* of a host; NULL: it has one, of 25 Gb/s */
};
struct beginning {
    const char *pattern;
    int64_t least, most; /* hosts */
    const char *title, *flows, *expect;
    const struct network *cable; /* the only network that it has; NULL: any of `networks` */
};

#define SWITCHES                                                                                        \
    "  'defaults': {\n"                                                                                 \
    "    'host': { 'nic': { 'model': 'ideal' } },\n"                                                    \
    "    'switch': { 'buffer': '4MiB', 'reserve': '4KiB', 'xoff_alpha': 0.125, 'xon_offset': '3KiB',\n" \
    "                'ecn': { 'kmin': '100KB', 'kmax': '400KB', 'pmax': 0.2 } },\n"                     \
    "    'link': { 'rate': '25Gb/s', 'length': '3m' }\n"                                                \
    "  },\n"

static const struct network networks[] = {
    {.word = "star",
     .most = 128,
     .title = "@h hosts at 25 Gb/s on one switch",
     .document = "  'topology': { 'kind': 'star', 'hosts': @h },\n" SWITCHES,
     .roles = "'h[0-@l]', 's0'",
     .drops = "delta(s0.buffer_discards) == 0",
     .fair = "50% * max(flows.*.goodput_bps)"},
    /* A link to a spine carries all hosts of a leaf, wherever ECMP sends their flows. PFC shares the
     * receiver's link among the leaf's ports, so that all hosts behind a spine have the share of one. */
    {.word = "leaf-spine",
     .most = 64,
     .even = true,
     .title = "@h hosts at 25 Gb/s, two leaves and two spines",
     .document = "  'topology': { 'kind': 'leaf_spine', 'hosts': @e, 'leaves': 2, 'spines': 2, 'uplink': "
                 "'@uGb/s' },\n" SWITCHES,
     .roles = "'h[0-@l]', 'leaf[0-1]', 'spine[0-1]'",
     .drops = "delta(*.buffer_discards) == 0",
     .fair = "max(flows.*.goodput_bps) / @h"},
    {.word = "rails",
     .most = 64,
     .title = "@h hosts with two NICs at 25 Gb/s, each on the switch of its rail",
     .document =
         "  'topology': { 'kind': 'rail_leaf_spine', 'groups': 1, 'hosts': @h, 'rails': 2, 'spines': 0 "
         "},\n" SWITCHES,
     .roles = "'h[0-@l]', 'leaf[0-1]'",
     .drops = "delta(*.buffer_discards) == 0",
     .fair = "50% * max(flows.*.goodput_bps)",
     .nics = ".rail*",
     .rate = "50Gb/s"},
};
static const char *const network_words[] = {"star", "leaf-spine", "rails", NULL};

static const struct network cable = {
    .most = 2,
    .title = "two hosts and a cable of 25 Gb/s",
    .document = "  'defaults': { 'host': { 'nic': { 'model': 'ideal' } } },\n"
                "  'hosts': { 'a': {}, 'b': {} },\n"
                "  'links': [{ 'between': ['a', 'b'], 'rate': '25Gb/s', 'length': '3m' }],\n",
    .roles = "'a', 'b'",
    .drops = "delta(*.*discard*) == 0"};

#define TRAFFIC(ends)                                      \
    "  'traffic': [{ 'name': '@p', 'pattern': '@p', " ends \
    ", 'message': '64KiB', 'depth': 16, 'priority': 3 }],\n"
#define EXPECT(name, check) "    { 'name': '" name "', 'check': '" check "', 'needs': ['rdma'] }"

static const struct beginning beginnings[] = {
    {"incast", 3, 128, "@o hosts send to one", TRAFFIC("'from': ['h[0-@s]@g'], 'to': ['h@l@g']"),
     EXPECT("h@l receives at its line rate", "sum(flows.*.goodput_bps) > 90% * @r") ",\n" EXPECT(
         "no sender starves", "min(flows.*.goodput_bps) > @f"),
     NULL},
    {"permutation", 2, 128, "@h hosts, each of which sends to one and receives from one",
     TRAFFIC("'from': ['h[0-@l]@g']"),
     EXPECT("every host sends at its line rate", "min(flows.*.goodput_bps) > 90% * 25Gb/s"), NULL},
    {"all-to-all", 2, 64, "@h hosts, each of which sends to every other", TRAFFIC("'from': ['h[0-@l]@g']"),
     EXPECT("no flow starves", "min(flows.*.goodput_bps) > 25% * max(flows.*.goodput_bps)"), NULL},
    {"pair", 2, 2, "Two hosts send to each other",
     "  'flows': [\n"
     "    { 'name': 'a-to-b', 'from': 'a', 'to': 'b', 'message': '64KiB', 'depth': 16, 'priority': 3 },\n"
     "    { 'name': 'b-to-a', 'from': 'b', 'to': 'a', 'message': '64KiB', 'depth': 16, 'priority': 3 }\n"
     "  ],\n",
     EXPECT("both directions move data", "min(flows.*.bytes) > 0") ",\n" EXPECT(
         "neither direction starves", "min(flows.*.goodput_bps) > 50% * max(flows.*.goodput_bps)"),
     &cable},
};
static const char *const patterns[] = {"incast", "permutation", "all-to-all", "pair", NULL};

struct new_options {
    int64_t hosts;
    int pattern, network, quiet;
};

static const struct field fields[] = {
    {.name = "hosts",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct new_options, hosts),
     .argument = "N",
     .min = 2,
     .max = 128,
     .help = "The number of hosts (otherwise 4; of a pair 2)."},
    {.name = "pattern",
     .kind = FIELD_CHOICE,
     .offset = offsetof(struct new_options, pattern),
     .choices = patterns,
     .fallback = "\"incast\"",
     .help =
         "Who sends to whom. A pair has the roles a and b and no switch, and so runs on two guests or two "
         "hosts too."},
    {.name = "network",
     .kind = FIELD_CHOICE,
     .offset = offsetof(struct new_options, network),
     .choices = network_words,
     .fallback = "\"star\"",
     .help = "What connects the hosts: one switch; two leaves with half of the hosts each, and two spines; "
             "or, of "
             "two NICs of each host, a switch for each rail. A pair has a cable alone."},
    {.name = "quiet",
     .letter = 'q',
     .kind = FIELD_BOOL,
     .offset = offsetof(struct new_options, quiet),
     .help = "Print errors only."},
    {0},
};
static const struct table options = {.name = "new", .size = sizeof(struct new_options), .fields = fields};

/* ---- the documents */

struct making {
    const struct beginning *from;
    const struct network *network;
    int64_t hosts;
    const char *name;
};

static void add(struct text *out, const struct making *m, const char *words)
{
    for (; *words; words++) {
        if (*words != '@') {
            text_add(out, "%c", *words == '\'' ? '"' : *words);
            continue;
        }
        switch (*++words) {
        case 'n':
            text_add(out, "%s", m->name);
            break;
        case 'p':
            text_add(out, "%s", m->from->pattern);
            break;
        case 'h':
            text_add(out, "%lld", (long long)m->hosts);
            break;
        case 's':
            text_add(out, "%lld", (long long)m->hosts - 2);
            break;
        case 'f':
            add(out, m, m->network->fair);
            break;
        case 'g':
            text_add(out, "%s", m->network->nics ? m->network->nics : "");
            break;
        case 'r':
            text_add(out, "%s", m->network->rate ? m->network->rate : "25Gb/s");
            break;
        case 'e':
            text_add(out, "%lld", (long long)m->hosts / 2);
            break;
        case 'u':
            text_add(out, "%lld", (long long)m->hosts / 2 * 25);
            break;
        default:
            text_add(out, "%lld", (long long)m->hosts - 1); /* o, l */
        }
    }
}

static void add_scenario(struct text *out, const struct making *m)
{
    add(out, m, "{\n  'schema': 1,\n  'name': '@n',\n  'title': '");
    add(out, m, m->from->title);
    add(out, m, "',\n  'lab': '@n-lab.json',\n  'roles': [");
    add(out, m, m->network->roles);
    add(out, m,
        "],\n  'phases': { 'warmup': '5ms', 'measure': '20ms' },\n"
        "  'settings': { 'mtu': 4200, 'pfc': [3], 'trust': 'dscp' },\n");
    add(out, m, m->from->flows);
    add(out, m,
        "  'sample': { 'every': '100us' },\n  'expect': [\n    { 'name': 'nothing is dropped', 'check': '");
    add(out, m, m->network->drops);
    add(out, m, "', 'needs': ['lossless'] },\n");
    add(out, m, m->from->expect);
    add(out, m, "\n  ]\n}\n");
}

static void add_lab(struct text *out, const struct making *m)
{
    add(out, m, "{\n  'schema': 1,\n  'name': '@n-lab',\n  'title': 'Simulated: ");
    add(out, m, m->network->title);
    add(out, m, "',\n  'driver': 'sim',\n");
    add(out, m, m->network->document);
    add(out, m, "  'sources': { 'defaults.*': 'assumed: values to begin with, by harness new' }\n}\n");
}

/* ---- the files */

static int check_new(const struct folder *here, const char *name, struct error *e)
{
    return folder_has(here, name)
               ? error_set(e, "%s is there already and stays as it is: remove it, or give another NAME", name)
               : 0;
}

static int write_text(const struct folder *here, const char *name, struct text *out, struct error *e)
{
    const char *text = text_string(out);
    return folder_create(here, name, text, strlen(text), e);
}

/* Both files or none. */
static int write_both(const struct making *m, const char *scenario_name, const char *lab_name,
                      struct error *e)
{
    struct text scenario = {0}, lab = {0};
    struct folder here = {.fd = -1};
    add_scenario(&scenario, m);
    add_lab(&lab, m);
    int result = folder_open(&here, ".", e);
    if (result == 0 && (check_new(&here, scenario_name, e) != 0 || check_new(&here, lab_name, e) != 0))
        result = -1;
    if (result == 0 && (result = write_text(&here, lab_name, &lab, e)) == 0 &&
        (result = write_text(&here, scenario_name, &scenario, e)) != 0)
        unlinkat(here.fd, lab_name, 0);
    folder_close(&here);
    text_free(&scenario);
    text_free(&lab);
    return result;
}

/* The pattern, hosts and name that were asked for, or those that stand for them; -1: they do not fit. */
static int choose_experiment(const struct call *call, struct making *m, struct text *given_name,
                             struct error *e)
{
    const struct new_options *said = call->options;
    m->from = &beginnings[said->pattern];
    m->network = m->from->cable ? m->from->cable : &networks[said->network];
    m->hosts = said->hosts != FIELD_UNSET ? said->hosts : m->from->most == 2 ? 2 : 4;
    long long most = m->from->most < m->network->most ? m->from->most : m->network->most;
    if (m->hosts < m->from->least || m->hosts > most)
        return error_set(e, "new: --hosts %lld: a pattern %s has %lld to %lld hosts%s%s", (long long)m->hosts,
                         m->from->pattern, (long long)m->from->least, most,
                         most < m->from->most ? " on a network " : "",
                         most < m->from->most ? m->network->word : "");
    if (m->from->cable && said->network != 0)
        return error_set(e, "new: --network %s: a pattern %s has a cable alone", network_words[said->network],
                         m->from->pattern);
    if (m->network->even && m->hosts % 2)
        return error_set(e, "new: --hosts %lld: each leaf has half of the hosts: expected an even number",
                         (long long)m->hosts);
    text_add(given_name, "my-%s", m->from->pattern);
    m->name = call->count ? call->arguments[0] : text_string(given_name);
    if (!form_fits(&form_name, m->name) || strlen(m->name) > 60) /* the lab's is longer by "-lab" */
        return error_set(e,
                         "new: \"%.80s\" is not a valid name: expected at most 60 letters, digits, '.', '_', "
                         "'-', of which neither '.' nor '-' is the first; the files are made in this folder",
                         m->name);
    return 0;
}

static int run_new(const struct call *call)
{
    const struct new_options *said = call->options;
    struct making m = {0};
    struct text given_name = {0}, scenario = {0}, lab = {0};
    struct error e;
    int result = choose_experiment(call, &m, &given_name, &e);
    if (result == 0) {
        text_add(&scenario, "%s.json", m.name);
        text_add(&lab, "%s-lab.json", m.name);
        result = write_both(&m, text_string(&scenario), text_string(&lab), &e);
    }
    if (result == 0 && !said->quiet) {
        print_out_line("scenario: %s", text_string(&scenario));
        print_out_line("lab: %s", text_string(&lab));
        print_out_line("to run it: harness run %s", text_string(&scenario));
    }
    text_free(&given_name);
    text_free(&scenario);
    text_free(&lab);
    return result == 0 ? EXIT_DONE : program_fail(EXIT_USAGE, &e);
}

const struct command command_new = {
    .name = "new",
    .arguments = "[NAME]",
    .about =
        "Write an experiment to begin with into the current folder: a scenario NAME.json and a simulated "
        "lab NAME-lab.json, which run as they are.",
    .options = &options,
    .least = 0,
    .most = 1,
    .run = run_new,
};
