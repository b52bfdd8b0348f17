/*
 * The keys of the HPCC simulator's configuration: scratch/third.cc of March 2021, and of the forks that have
 * its format: SimAI (aliyun/SimAI, common.h, and the names of attributes that aliyun/ns-3-alibabacloud takes
 * since 2025), ConWeave (network-load-balance.cc), Hawkeye (wangshicheng1225/Hawkeye) and Paraleon
 * (ParaleonPlus). They read words: a key and its values; a word that is no key is passed over.
 */
#include "harness/import/hpcc_config.h"
#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/units.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char hpcc_fork_conweave[] = "ConWeave's simulator", hpcc_fork_hawkeye[] = "Hawkeye's simulator",
           hpcc_fork_paraleon[] = "Paraleon's simulator", hpcc_fork_simai[] = "SimAI";

enum kind {
    FILE_PATH,
    SWITCH,    /* 0 or 1, false or true */
    COUNT,     /* a whole number */
    SHARE,     /* a number, kept in parts of SHARE_ONE */
    RATE,      /* kept in bits a second */
    SECONDS,   /* kept in nanoseconds */
    COUNT_MAP, /* how many, and so many pairs of rate and COUNT */
    SHARE_MAP,
    LINK,    /* microseconds after 2 s, and the ends of the link */
    NODES,   /* how many, and so many nodes */
    IGNORED, /* whatever follows in the line */
};

struct key {
    const char *name, *attribute; /* ns-3's own name for it, which files may have too; NULL: none */
    enum kind kind;
    int64_t least, most;
    const char *otherwise;    /* what the simulator has without the key; NULL: what needs it fails */
    const char *to[CONTROLS]; /* its place in "lab" or "scenario"; NULL: without effect; "": hpcc_config.c */
    const char *unit;         /* behind a COUNT */
    const char *why;          /* it is ignored, or has no other value */
    const char *fork;         /* whose key it is */
};

#define CODE .to = {"", "", "", "", ""}
#define LAB(path)                                                                                  \
    .to = {"lab.defaults." path, "lab.defaults." path, "lab.defaults." path, "lab.defaults." path, \
           "lab.defaults." path}
#define RP(name)       "scenario.settings.dcqcn.rp." name
#define ON_DCQCN(path) .to = {[DCQCN] = (path)}
#define ON_HPCC(name)  .to = {[HPCC] = "scenario.settings.hpcc." name}
#define MOST_RATE      INT64_C(131071000000) /* of DCQCN's parameters */
#define MOST_US        131071

#define OUTPUTS   IGNORED, .why = "outputs"
#define UNUSED    IGNORED, .why = "without effect there"
#define ONLY(n)   (n), (n)
#define CONWEAVE  .fork = hpcc_fork_conweave
#define HAWKEYE   .fork = hpcc_fork_hawkeye
#define PARALEON  .fork = hpcc_fork_paraleon
#define SIMAI     .fork = hpcc_fork_simai
#define BALANCING IGNORED, .why = "of load balancing that is not simulated", CONWEAVE
#define TUNER     IGNORED, .why = "of the tuner, which is not simulated", PARALEON
#define AGENTS    IGNORED, .why = "of agents, which are not simulated", HAWKEYE
#define PINT      IGNORED, .why = "of PINT, which is not simulated"

/* clang-format off */
static const struct key keys[] = {
    [CC_MODE] = {"CC_MODE", "ns3::RdmaHw::CcMode", COUNT, 0, UINT32_MAX, "1", CODE},
    [ENABLE_QCN] = {"ENABLE_QCN", "ns3::QbbNetDevice::QcnEnabled", SWITCH, 0, 1, "1", CODE},
    [ENABLE_PFC] = {"ENABLE_PFC", "ns3::SwitchNode::PfcEnabled", SWITCH, 0, 1, "1", CODE},
    [PACKET_PAYLOAD_SIZE] = {"PACKET_PAYLOAD_SIZE", "ns3::RdmaHw::Mtu", COUNT, 1, 16384, "1000", LAB("host.nic.payload"), "B"},
    [TOPOLOGY_FILE] = {"TOPOLOGY_FILE", NULL, FILE_PATH, .otherwise = "", CODE},
    [FLOW_FILE] = {"FLOW_FILE", NULL, FILE_PATH, .otherwise = "", CODE},
    [TRACE_FILE] = {"TRACE_FILE", NULL, FILE_PATH, .otherwise = "", CODE},
    [ENABLE_TRACE] = {"ENABLE_TRACE", NULL, SWITCH, 0, 1, "1", CODE},
    [SIMULATOR_STOP_TIME] = {"SIMULATOR_STOP_TIME", NULL, SECONDS, .otherwise = "3.01", CODE},
    [FLOWGEN_STOP_TIME] = {"FLOWGEN_STOP_TIME", NULL, SECONDS, .otherwise = "2.5", CODE, CONWEAVE},
    [EWMA_GAIN] = {"EWMA_GAIN", "ns3::MellanoxDcqcn::EwmaGain", SHARE, SHARE_ONE / 10000, SHARE_ONE,
                   .to = {[DCQCN] = "", [DCTCP] = "scenario.settings.dctcp.ewma_gain"}},
    [RATE_ON_FIRST_CNP] = {"RATE_ON_FIRST_CNP", "ns3::MellanoxDcqcn::RateOnFirstCnp", SHARE, 1, SHARE_ONE, "1", ON_DCQCN("")},
    [HAS_WIN] = {"HAS_WIN", NULL, SWITCH, 0, 1, "1", CODE},
    [GLOBAL_T] = {"GLOBAL_T", NULL, SWITCH, 0, 1, "1", CODE},
    [VAR_WIN] = {"VAR_WIN", "ns3::RdmaHw::VarWin", SWITCH, 0, 1, "0", CODE},
    [MULTI_RATE] = {"MULTI_RATE", "ns3::Hpcc::MultiRate", SWITCH, 0, 1, "1", .to = {[HPCC] = ""}},
    [SAMPLE_FEEDBACK] = {"SAMPLE_FEEDBACK", "ns3::Hpcc::SampleFeedback", SWITCH, 0, 1, "0", .to = {[HPCC] = ""}},
    [ACK_HIGH_PRIO] = {"ACK_HIGH_PRIO", NULL, SWITCH, 0, 1, "0", CODE},
    [ERROR_RATE_PER_LINK] = {"ERROR_RATE_PER_LINK", NULL, SHARE, 0, SHARE_ONE, "0", CODE},
    [LINK_DOWN] = {"LINK_DOWN", NULL, LINK, 0, INT64_C(86000000000), "0 0 0", CODE},
    [KMIN_MAP] = {"KMIN_MAP", NULL, COUNT_MAP, 0, 4294967, CODE},
    [KMAX_MAP] = {"KMAX_MAP", NULL, COUNT_MAP, 1, 4294967, CODE},
    [PMAX_MAP] = {"PMAX_MAP", NULL, SHARE_MAP, 0, SHARE_ONE, CODE},
    [NO_CC_NODE] = {"NO_CC_NODE", NULL, NODES, 0, UINT32_MAX, "0", CODE, HAWKEYE},

    /* ---- what their rows alone say of */
    [OTHER_KEYS] = {"BUFFER_SIZE", NULL, COUNT, 1, 2047, "16", LAB("switch.buffer"), "MiB"},
    {"ALPHA_RESUME_INTERVAL", "ns3::MellanoxDcqcn::AlphaResumInterval", COUNT, 1, MOST_US, "55", ON_DCQCN(RP("dce_tcp_rtt"))},
    {"RATE_DECREASE_INTERVAL", "ns3::MellanoxDcqcn::RateDecreaseInterval", COUNT, 1, MOST_US, "4", ON_DCQCN(RP("rate_reduce_monitor_period"))},
    {"RP_TIMER", "ns3::MellanoxDcqcn::RPTimer", COUNT, 1, MOST_US, NULL, ON_DCQCN(RP("rpg_time_reset"))},
    {"FAST_RECOVERY_TIMES", "ns3::MellanoxDcqcn::FastRecoveryTimes", COUNT, 0, 31, "5", ON_DCQCN(RP("rpg_threshold"))},
    {"CLAMP_TARGET_RATE", "ns3::MellanoxDcqcn::ClampTargetRate", SWITCH, 0, 1, "0", ON_DCQCN(RP("clamp_tgt_rate"))},
    {"RATE_AI", "ns3::RdmaHw::RateAI", RATE, 0, MOST_RATE, NULL,
     .to = {[DCQCN] = RP("rpg_ai_rate"), [HPCC] = "scenario.settings.hpcc.rate_ai", [TIMELY] = "scenario.settings.timely.rate_ai"}},
    {"RATE_HAI", "ns3::RdmaHw::RateHAI", RATE, 0, MOST_RATE, NULL,
     .to = {[DCQCN] = RP("rpg_hai_rate"), [TIMELY] = "scenario.settings.timely.rate_hai"}},
    {"MIN_RATE", "ns3::RdmaHw::MinRate", RATE, 1000000, MOST_RATE, "100Mb/s",
     .to = {[DCQCN] = RP("rpg_min_rate"), [HPCC] = "scenario.settings.hpcc.min_rate", [TIMELY] = "scenario.settings.timely.min_rate",
      [DCTCP] = "scenario.settings.dctcp.min_rate"}},
    {"DCTCP_RATE_AI", "ns3::Dctcp::DctcpRateAI", RATE, 0, MOST_RATE, "1000Mb/s", .to = {[DCTCP] = "scenario.settings.dctcp.rate_ai"}},
    {"U_TARGET", "ns3::Hpcc::TargetUtil", SHARE, SHARE_ONE / 100, SHARE_ONE, "0.95", ON_HPCC("u_target")},
    {"MI_THRESH", "ns3::Hpcc::MiThresh", COUNT, 0, 1000000, "5", ON_HPCC("mi_thresh")},
    {"FAST_REACT", "ns3::Hpcc::FastReact", SWITCH, 0, 1, "1", ON_HPCC("fast_react")},
    {"INT_MULTI", NULL, COUNT, 1, 1024, "1", ON_HPCC("int_multi")},
    {"RATE_BOUND", "ns3::RdmaHw::RateBound", SWITCH, ONLY(1), "1", CODE, .why = "senders keep to their rate"},
    {"L2_BACK_TO_ZERO", "ns3::RdmaHw::L2BackToZero", SWITCH, ONLY(0), "0", CODE, .why = "what is lost is sent again from there on"},
    {"L2_ACK_INTERVAL", "ns3::RdmaHw::L2AckInterval", COUNT, ONLY(1), NULL, CODE, .why = "each packet has an ACK"},
    {"LB_MODE", NULL, COUNT, ONLY(0), "0", CODE, .why = "a hash selects a flow's path, and no other load balancing is simulated", CONWEAVE},
    {"ENABLE_IRN", NULL, SWITCH, ONLY(0), "0", CODE, .why = "IRN is not simulated"},

    /* ---- what means nothing here */
    {"USE_DYNAMIC_PFC_THRESHOLD", "ns3::QbbNetDevice::DynamicThreshold", IGNORED, .why = "thresholds of PFC are dynamic there whatever it says"},
    {"L2_CHUNK_SIZE", "ns3::RdmaHw::L2ChunkSize", IGNORED, .why = "of L2_BACK_TO_ZERO"},
    {"PAUSE_TIME", NULL, UNUSED}, {"DATA_RATE", NULL, UNUSED}, {"LINK_DELAY", NULL, UNUSED},
    {"NIC_TOTAL_PAUSE_TIME", "ns3::RdmaHw::TotalPauseTime", UNUSED, SIMAI},
    {"FLOWGEN_START_TIME", NULL, UNUSED, CONWEAVE}, {"LOAD", NULL, UNUSED},
    {"RANDOM_SEED", NULL, IGNORED, .why = "--seed of harness run"},
    {"PINT_LOG_BASE", NULL, PINT}, {"PINT_PROB", "ns3::HpccPint::PintProb", PINT},
    {"TRACE_OUTPUT_FILE", NULL, OUTPUTS}, {"FCT_OUTPUT_FILE", NULL, OUTPUTS}, {"PFC_OUTPUT_FILE", NULL, OUTPUTS},
    {"QLEN_MON_FILE", NULL, OUTPUTS}, {"QLEN_MON_START", NULL, OUTPUTS}, {"QLEN_MON_END", NULL, OUTPUTS},
    {"QLEN_MON_INTERVAL", NULL, OUTPUTS}, {"SEND_OUTPUT_FILE", NULL, OUTPUTS, SIMAI}, {"BW_MON_FILE", NULL, OUTPUTS, SIMAI},
    {"RATE_MON_FILE", NULL, OUTPUTS, SIMAI}, {"CNP_MON_FILE", NULL, OUTPUTS, SIMAI}, {"MON_START", NULL, OUTPUTS, SIMAI},
    {"MON_END", NULL, OUTPUTS, SIMAI}, {"QP_MON_INTERVAL", NULL, OUTPUTS, SIMAI}, {"BW_MON_INTERVAL", NULL, OUTPUTS, SIMAI},
    {"FLOW_INPUT_FILE", NULL, OUTPUTS, CONWEAVE}, {"CNP_OUTPUT_FILE", NULL, OUTPUTS, CONWEAVE},
    {"EST_ERROR_MON_FILE", NULL, OUTPUTS, CONWEAVE}, {"VOQ_MON_FILE", NULL, OUTPUTS, CONWEAVE},
    {"VOQ_MON_DETAIL_FILE", NULL, OUTPUTS, CONWEAVE}, {"UPLINK_MON_FILE", NULL, OUTPUTS, CONWEAVE},
    {"CONN_MON_FILE", NULL, OUTPUTS, CONWEAVE}, {"SW_MONITORING_INTERVAL", NULL, OUTPUTS, CONWEAVE},
    {"DIR", NULL, OUTPUTS, HAWKEYE}, {"SKETCH_MON_INTERVAL", NULL, OUTPUTS, PARALEON}, {"ACC_MON_INTERVAL", NULL, OUTPUTS, PARALEON},
    {"CONWEAVE_TX_EXPIRY_TIME", NULL, BALANCING}, {"CONWEAVE_REPLY_TIMEOUT_EXTRA", NULL, BALANCING},
    {"CONWEAVE_PATH_PAUSE_TIME", NULL, BALANCING}, {"CONWEAVE_EXTRA_VOQ_FLUSH_TIME", NULL, BALANCING},
    {"CONWEAVE_DEFAULT_VOQ_WAITING_TIME", NULL, BALANCING},
    {"AGENT_NODE", NULL, AGENTS}, {"AGENT_THRESHOLD", NULL, AGENTS}, {"EPOCH_TIME", NULL, AGENTS},
    {"PARAMETER_TUNING_START", NULL, TUNER}, {"PARAMETER_TUNING_END", NULL, TUNER}, {"PARAMETER_TUNING_INTERVAL", NULL, TUNER},
};
/* clang-format on */
#define KEYS (sizeof keys / sizeof *keys)
_Static_assert(KEYS <= MOST_KEYS, "more keys than there is room for");

static const struct key *find_key(const struct word *word)
{
    for (size_t i = 0; i < KEYS; i++)
        if (word_is(word, keys[i].name) || (keys[i].attribute && word_is(word, keys[i].attribute)))
            return &keys[i];
    return NULL;
}

int hpcc_config_error(const struct hpcc_config *config, enum config_key key, struct error *e,
                      const char *format, ...)
{
    const struct config_value *value = &config->values[key];
    char words[600];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    if (!value->line)
        return error_set(e, "%.160s: %s is not there, so it is %s: %s", config->file->path, keys[key].name,
                         value->text ? value->text : "", words);
    return reader_error(config->file, value->line, e, "%s is %s: %s", keys[key].name, value->text, words);
}

/* ---- values */

static int parse_number(const struct key *key, enum kind kind, const struct word *word, int64_t *number)
{
    static const char *const words[] = {"false", "true"};
    bool whole = true;
    for (int i = 0; kind == SWITCH && i < 2; i++)
        if (word_is(word, words[i])) {
            *number = i;
            return *number >= key->least && *number <= key->most ? 0 : -1;
        }
    int result = -1;
    if (kind == RATE)
        result = word_bps(word, number);
    else if (kind == SHARE)
        result = decimal_parse(word->at, word->length, SHARE_DIGITS, number, &whole) == 0 ? 0 : -1;
    else
        result = decimal_parse(word->at, word->length, 0, number, &whole) == 0 && whole ? 0 : -1;
    return result == 0 && *number >= key->least && *number <= key->most ? 0 : -1;
}

/* What a value has to be. */
static void describe(const struct key *key, enum kind kind, char *words, size_t size)
{
    char least[40], most[40];
    const char *what = "";
    if (kind == RATE) {
        units_write(UNIT_RATE_BPS, key->least, UNITS_ANY, least, sizeof least);
        units_write(UNIT_RATE_BPS, key->most, UNITS_ANY, most, sizeof most);
        what = "a rate, ";
    } else if (kind == SHARE) {
        snprintf(least, sizeof least, "%g", (double)key->least / (double)SHARE_ONE);
        snprintf(most, sizeof most, "%g", (double)key->most / (double)SHARE_ONE);
        what = "a number, ";
    } else {
        snprintf(least, sizeof least, "%" PRId64, key->least);
        snprintf(most, sizeof most, "%" PRId64, key->most);
        what = "a whole number, ";
    }
    if (key->least == key->most)
        snprintf(words, size, "%s, as %s", least, key->why);
    else
        snprintf(words, size, "%s%s to %s", what, least, most);
}

static int read_number(struct reader *in, const struct key *key, enum kind kind, int64_t *number,
                       struct error *e)
{
    struct word word;
    char expected[200];
    if (reader_expect(in, key->name, &word, e) != 0)
        return -1;
    if (parse_number(key, kind, &word, number) == 0)
        return 0;
    describe(key, kind, expected, sizeof expected);
    return reader_error(in, word.line, e, "%s is \"%.*s\": expected %s", key->name, word_shown(&word),
                        word.at, expected);
}

/* A time so long that no number has it is as long as one may be. */
static int read_seconds(struct reader *in, const struct key *key, int64_t *ns, struct error *e)
{
    struct word word;
    bool whole;
    if (reader_expect(in, key->name, &word, e) != 0)
        return -1;
    if (decimal_parse(word.at, word.length, 9, ns, &whole) == 0)
        return 0;
    if (decimal_parse(word.at, word.length, 0, ns, &whole) != 0)
        return reader_error(in, word.line, e, "%s is \"%.*s\": expected seconds", key->name,
                            word_shown(&word), word.at);
    *ns = INT64_MAX / 16;
    return 0;
}

/* The last pair of a rate counts. */
static int read_pairs(struct reader *in, const struct key *key, struct config_value *value, struct error *e)
{
    static const struct key rate = {.name = "a rate", .least = 1, .most = INT64_MAX / 16};
    const struct key pairs = {.name = key->name, .most = MOST_PAIRS};
    int64_t count = 0;
    if (read_number(in, &pairs, COUNT, &count, e) != 0)
        return -1;
    value->count = 0;
    for (int64_t i = 0; i < count; i++) {
        struct config_pair pair = {0};
        size_t at = 0;
        if (read_number(in, key->kind == NODES ? key : &rate, COUNT, &pair.key, e) != 0 ||
            (key->kind != NODES &&
             read_number(in, key, key->kind == SHARE_MAP ? SHARE : COUNT, &pair.value, e) != 0))
            return -1;
        while (at < value->count && value->pairs[at].key != pair.key)
            at++;
        value->pairs[at] = pair;
        value->count += at == value->count;
    }
    return 0;
}

static int read_link_down(struct reader *in, const struct key *key, struct config_value *value,
                          struct error *e)
{
    static const struct key node = {.name = "an end of LINK_DOWN", .most = UINT32_MAX};
    return read_number(in, key, COUNT, &value->number, e) != 0 ||
                   read_number(in, &node, COUNT, &value->pairs[0].key, e) != 0 ||
                   read_number(in, &node, COUNT, &value->pairs[0].value, e) != 0
               ? -1
               : 0;
}

static int read_value(struct reader *in, const struct key *key, struct config_value *value, struct error *e)
{
    struct reader ahead = *in;
    struct word first;
    if (reader_expect(&ahead, key->name, &first, e) != 0)
        return -1;
    free(value->text);
    value->text = strndup(first.at, first.length);
    value->line = first.line;
    if (!value->text)
        return error_set(e, "out of memory");
    switch (key->kind) {
    case FILE_PATH:
        *in = ahead;
        return 0;
    case SECONDS:
        return read_seconds(in, key, &value->number, e);
    case COUNT_MAP:
    case SHARE_MAP:
    case NODES:
        return read_pairs(in, key, value, e);
    case LINK:
        return read_link_down(in, key, value, e);
    default:
        return read_number(in, key, key->kind, &value->number, e);
    }
}

/* What the simulator has without the key. */
static int take_otherwise(const struct key *key, struct config_value *value, struct error *e)
{
    struct reader in = {
        .path = "", .text = (char *)(uintptr_t)key->otherwise, .length = strlen(key->otherwise)};
    return in.length ? read_value(&in, key, value, e) : 0;
}

/* ---- the file */

static void pass_line(struct reader *in)
{
    struct word word;
    while (reader_word_in_line(in, &word))
        ;
}

/* HPCC's own explained example has {what it means} behind values; forks have lines of #. */
static bool is_comment(struct reader *in, const struct word *word)
{
    struct word more = *word;
    if (word->at[0] == '#')
        pass_line(in);
    else if (word->at[0] == '{')
        while (more.at[more.length - 1] != '}' && reader_word_in_line(in, &more))
            ;
    return word->at[0] == '#' || word->at[0] == '{';
}

bool hpcc_config_is(const struct reader *file)
{
    struct reader in = *file;
    struct word word;
    do {
        int64_t number;
        bool whole;
        while (reader_word_in_line(&in, &word) && is_comment(&in, &word))
            ;
        if (word.length && find_key(&word))
            return true;
        if (word.length && decimal_parse(word.at, word.length, 0, &number, &whole) == 0)
            return false;
        pass_line(&in);
    } while (reader_next_line(&in));
    return false;
}

#define MOST_UNKNOWN 20 /* that are named */

static void add_unknown(struct text *unknown, size_t *count, const struct word *word)
{
    if ((*count)++ < MOST_UNKNOWN)
        text_add(unknown, "%s%.*s (line %u)", unknown->length ? ", " : "", word_shown(word), word->at,
                 word->line);
}

static int read_line(struct hpcc_config *config, struct reader *in, struct text *unknown, size_t *count,
                     struct error *e)
{
    struct word word;
    while (reader_word_in_line(in, &word)) {
        const struct key *key = find_key(&word);
        if (!key && !is_comment(in, &word))
            add_unknown(unknown, count, &word);
        if (!key || key->kind == IGNORED)
            pass_line(in);
        if (!key)
            continue;
        struct config_value *value = &config->values[key - keys];
        value->said = true;
        if (key->attribute && word_is(&word, key->attribute))
            config->fork = hpcc_fork_simai;
        else if (!config->fork)
            config->fork = key->fork;
        if (key->kind != IGNORED && read_value(in, key, value, e) != 0)
            return -1;
    }
    return 0;
}

static int take_control(struct hpcc_config *config, struct error *e)
{
    static const int64_t modes[CONTROLS] = {
        [DCQCN] = 1, [HPCC] = 3, [TIMELY] = 7, [DCTCP] = 8, [UNCONTROLLED] = 0};
    for (int i = 0; i < CONTROLS; i++)
        if (modes[i] == config->values[CC_MODE].number) {
            config->control = (enum config_control)i;
            return 0;
        }
    return hpcc_config_error(config, CC_MODE, e,
                             "this congestion control is not simulated: expected 1 (DCQCN), 3 (HPCC), 7 "
                             "(TIMELY), 8 (DCTCP) or 0 (none)%s",
                             config->values[CC_MODE].number == 10 ? "; 10 is HPCC with PINT" : "");
}

int hpcc_config_read(struct hpcc_config *config, struct reader *file, json_t *notes, struct error *e)
{
    struct text unknown = {0};
    size_t count = 0;
    int result = 0;
    *config = (struct hpcc_config){.file = file};
    for (size_t i = 0; result == 0 && i < KEYS; i++)
        if (keys[i].otherwise)
            result = take_otherwise(&keys[i], &config->values[i], e);
    do
        result = result == 0 ? read_line(config, file, &unknown, &count, e) : -1;
    while (result == 0 && reader_next_line(file));
    if (result == 0)
        result = take_control(config, e);
    if (result == 0 && count)
        json_array_append_new(notes, json_textf("%s: unknown, so without effect: %s%s", file->path,
                                                text_string(&unknown), count > MOST_UNKNOWN ? ", ..." : ""));
    text_free(&unknown);
    if (result != 0)
        hpcc_config_free(config);
    return result;
}

void hpcc_config_free(struct hpcc_config *config)
{
    for (size_t i = 0; i < KEYS; i++) {
        free(config->values[i].text);
        config->values[i].text = NULL;
    }
}

/* ---- what becomes of it */

void hpcc_config_set(json_t *document, const char *path, json_t *value)
{
    const char *dot = strchr(path, '.');
    if (!dot) {
        json_object_set_new(document, path, value);
        return;
    }
    char *key = strndup(path, (size_t)(dot - path));
    json_t *inner = key ? json_object_get(document, key) : NULL;
    if (key && !inner)
        json_object_set_new(document, key, inner = json_object());
    hpcc_config_set(inner, dot + 1, value);
    free(key);
}

static json_t *value_json(const struct key *key, const char *path, int64_t number)
{
    char text[40];
    if (key->kind == SWITCH)
        return json_boolean(number);
    if (key->kind == SHARE)
        return json_real((double)number / (double)SHARE_ONE);
    if (key->kind == RATE && !strstr(path, ".dcqcn."))
        return json_text(units_write(UNIT_RATE_BPS, number, UNITS_ANY, text, sizeof text));
    if (key->unit)
        return json_textf("%" PRId64 "%s", number, key->unit);
    return json_integer((json_int_t)(key->kind == RATE ? number / 1000000 : number));
}

static int put(const struct hpcc_config *config, const struct key *key, json_t *lab, json_t *scenario,
               struct error *e)
{
    static const char in_lab[] = "lab.", in_scenario[] = "scenario.";
    const enum config_key number = (enum config_key)(key - keys);
    const struct config_value *value = &config->values[number];
    const char *path = key->to[config->control];
    if (key->kind == IGNORED || !path)
        return 0;
    if (!value->said && !key->otherwise)
        return error_set(e, "%.160s: %s is missing: CC_MODE %" PRId64 " needs it", config->file->path,
                         key->name, config->values[CC_MODE].number);
    if (!*path)
        return 0;
    if (key->kind == RATE && strstr(path, ".dcqcn.") && value->number % 1000000)
        return hpcc_config_error(config, number, e, "expected whole Mb/s, which DCQCN's parameters have");
    bool of_lab = strncmp(path, in_lab, strlen(in_lab)) == 0;
    path += of_lab ? strlen(in_lab) : strlen(in_scenario);
    hpcc_config_set(of_lab ? lab : scenario, path, value_json(key, path, value->number));
    if (of_lab && value->said)
        json_object_set_new(json_object_get(lab, "sources"), path,
                            json_textf("%s:%u: %s", config->file->path, value->line, key->name));
    return 0;
}

/* The names of the keys that were said and for which there is the same reason as for this one; each time the
 * first of them alone. */
static void note_ignored(const struct hpcc_config *config, size_t first, json_t *notes)
{
    struct text names = {0};
    const char *why = keys[first].kind == IGNORED ? keys[first].why : NULL;
    for (size_t i = 0; i < KEYS; i++) {
        const char *other = keys[i].kind == IGNORED ? keys[i].why : NULL;
        bool alike = config->values[i].said &&
                     (why ? other && strcmp(why, other) == 0 : !other && !keys[i].to[config->control]);
        if (alike && i < first) {
            text_free(&names);
            return;
        }
        if (alike)
            text_add(&names, "%s%s", names.length ? ", " : "", keys[i].name);
    }
    if (why)
        json_array_append_new(
            notes, json_textf("%s: %s: not read, %s", config->file->path, text_string(&names), why));
    else
        json_array_append_new(notes,
                              json_textf("%s: %s: without effect with CC_MODE %" PRId64, config->file->path,
                                         text_string(&names), config->values[CC_MODE].number));
    text_free(&names);
}

int hpcc_config_put(const struct hpcc_config *config, json_t *lab, json_t *scenario, json_t *notes,
                    struct error *e)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (put(config, &keys[i], lab, scenario, e) != 0)
            return -1;
        if (config->values[i].said && (keys[i].kind == IGNORED || !keys[i].to[config->control]))
            note_ignored(config, i, notes);
    }
    return 0;
}
