/* The catalogue of counters: its rows, groups and units, names against its patterns, and the catalogue as a
 * document. */
#include "lib/roce/counters.h"

#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/roce/dcqcn.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A DCQCN parameter is a gauge; its name, unit and meaning are those of its row in lib/roce/dcqcn.h. */
#define UNIT_BOOL(unit)    "state"
#define UNIT_INTEGER(unit) (sizeof(unit) > 1 ? (unit) : "value")
#define PARAMETER(point, kind, name, ofed, upstream, least, most, standard, unit, simulated, meaning) \
    {"dcqcn_" #point "_" #name, UNIT_##kind(unit),                                                    \
     COUNTER_GROUP_DCQCN,       COUNTER_GAUGE,                                                        \
     COUNTER_FROM_CC,           meaning},
#define PARAMETER_RP(...) PARAMETER(rp, __VA_ARGS__)
#define PARAMETER_NP(...) PARAMETER(np, __VA_ARGS__)

static const struct counter rows[] = {
#define DCQCN_PARAMETERS DCQCN_RP_ROWS(PARAMETER_RP) DCQCN_NP_ROWS(PARAMETER_NP)
#define COUNTER(pattern, unit, group, kind, origin, meaning) \
    {pattern, unit, COUNTER_GROUP_##group, COUNTER_##kind, COUNTER_FROM_##origin, meaning},
#include "lib/roce/counters.def"
};

#define ROWS (sizeof rows / sizeof rows[0])

const struct counter counter_unlisted = {
    "*", "events", COUNTER_GROUP_OTHER, COUNTER_COUNT, COUNTER_FROM_DRIVER, "A counter that is not listed."};

const struct counter *counters_all(size_t *count)
{
    *count = ROWS;
    return rows;
}

/* ---- groups */

const char *const counter_group_names[] = {
#define GROUP(id, name, meaning) name,
#include "lib/roce/counters.def"
    NULL};

const char *const counter_group_choices[] = {"all",
#define GROUP(id, name, meaning) name,
#include "lib/roce/counters.def"
                                             NULL};

const char counter_group_list[] = "all"
#define GROUP(id, name, meaning) ", " name
#include "lib/roce/counters.def"
    ;

uint32_t counters_group_bits(const char *word, size_t length)
{
    for (size_t i = 0; counter_group_choices[i]; i++)
        if (strlen(counter_group_choices[i]) == length && memcmp(counter_group_choices[i], word, length) == 0)
            return i == 0 ? (1U << COUNTER_GROUPS) - 1 : 1U << (i - 1);
    return 0;
}

/* ---- units */

const struct counter_unit *counters_unit(const char *name)
{
    static const struct counter_unit units[] = {
        {"frames", COUNTER_NUMBER, 1, "frames", 1, 1},
        {"packets", COUNTER_NUMBER, 1, "packets", 1, 1},
        {"events", COUNTER_NUMBER, 1, "", 1, 1},
        {"requests", COUNTER_NUMBER, 1, "", 1, 1},
        {"bytes", COUNTER_BYTES, 1, "bytes", 1, 1},
        {"ns", COUNTER_TIME_NS, 1, "seconds", 1, 1000000000},
        {"us", COUNTER_TIME_NS, 1e3, "seconds", 1, 1000000},
        {"ms", COUNTER_TIME_NS, 1e6, "seconds", 1, 1000},
        {"seconds", COUNTER_TIME_NS, 1e9, "seconds", 1, 1},
        {"b/s", COUNTER_RATE_BPS, 1, "bytes_per_second", 1, 8},
        {"Mb/s", COUNTER_RATE_BPS, 1e6, "bytes_per_second", 125000, 1},
        {"bytes/s", COUNTER_RATE_BPS, 8, "bytes_per_second", 1, 1},
        {"%", COUNTER_NUMBER, 1, "ratio", 1, 100},
        {"stages", COUNTER_NUMBER, 1, "", 1, 1},
        {"log2", COUNTER_NUMBER, 1, "", 1, 1},
        {"1/1024", COUNTER_NUMBER, 1, "", 1, 1},
        {"MT/s", COUNTER_NUMBER, 1, "transfers_per_second", 1000000, 1},
        {"celsius", COUNTER_NUMBER, 1, "celsius", 1, 1},
        {"lanes", COUNTER_NUMBER, 1, "", 1, 1},
        {"generation", COUNTER_NUMBER, 1, "", 1, 1},
        {"state", COUNTER_NUMBER, 1, "", 1, 1},
        {"index", COUNTER_NUMBER, 1, "", 1, 1},
        {"value", COUNTER_NUMBER, 1, "", 1, 1},
        {"of 1024", COUNTER_NUMBER, 1, "", 1, 1},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

/* One row for each counter of the catalogue that counts losses. Not there: what a kernel drops on purpose
 * (link_rx_dropped, rx_steer_missed_packets: other protocols' packets), bytes, and parts whose whole has
 * always a row (qdisc_*_early, port#_rx_discards). */
static const struct loss {
    const char *pattern;
    enum counter_loss is;
    const char *whole; /* the counter of the same role that it is a part of, where there is that one */
} losses[] = {
    {"buffer_discards", COUNTER_LOST, NULL},
    {"watchdog_discards", COUNTER_LOST, NULL},
    {"port#_discards", COUNTER_LOST, "buffer_discards"},
    {"rx_out_of_buffer", COUNTER_LOST, NULL},
    {"port#_rx_out_of_buffer", COUNTER_LOST, "rx_out_of_buffer"},
    {"link_rx_missed", COUNTER_LOST, "rx_out_of_buffer"},
    {"qdisc_*_drops", COUNTER_LOST, NULL},
    {"rx_discards_phy", COUNTER_LOST, NULL},
    {"rx_prio#_discards", COUNTER_LOST, "rx_discards_phy"},
    {"rx_prio#_buf_discard", COUNTER_LOST, "rx_discards_phy"},
    {"rx_prio#_cong_discard", COUNTER_LOST, "rx_discards_phy"},
    {"tx_discards_phy", COUNTER_LOST, NULL},
    {"out_of_buffer", COUNTER_LOST, NULL},
    {"rx_discard_packets_cos#", COUNTER_LOST, NULL},
    {"link_discards", COUNTER_LOST_BY_LINK, NULL},
    {"port#_link_discards", COUNTER_LOST_BY_LINK, "link_discards"},
    {"route_discards", COUNTER_LOST_BY_LINK, NULL},
    {"crc_errors", COUNTER_LOST_BY_LINK, NULL},
    {"port#_crc_errors", COUNTER_LOST_BY_LINK, "crc_errors"},
    {"rx_crc_errors_phy", COUNTER_LOST_BY_LINK, NULL},
    {"rx_fcs_err_frames", COUNTER_LOST_BY_LINK, NULL},
    {"rx_crc_errors.nic", COUNTER_LOST_BY_LINK, NULL},
    {"link_rx_crc_errors", COUNTER_LOST_BY_LINK, "rx_crc_errors_phy"},
    {"packet_seq_err", COUNTER_LOSS_ANSWERED, NULL},
    {"implied_nak_seq_err", COUNTER_LOSS_ANSWERED, NULL},
    {"local_ack_timeout_err", COUNTER_LOSS_ANSWERED, NULL},
    {"roce_adp_retrans", COUNTER_LOSS_ANSWERED, NULL},
    {"rnr_nak_retry_err", COUNTER_LOSS_ANSWERED, NULL},
    {"rcvd_seq_err", COUNTER_LOSS_ANSWERED, NULL},
    {"rcvd_rnr_err", COUNTER_LOSS_ANSWERED, NULL},
    {"completer_retry_err", COUNTER_LOSS_ANSWERED, NULL},
};

enum counter_loss counters_loss(const char *name, const char **whole)
{
    *whole = NULL;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (counters_pattern_matches(losses[i].pattern, name)) {
            *whole = losses[i].whole;
            return losses[i].is;
        }
    return COUNTER_NO_LOSS;
}

bool counters_of_port(const char *name)
{
    size_t digits = strncmp(name, "port", 4) == 0 ? strspn(name + 4, "0123456789") : 0;
    return digits && name[4 + digits] == '_';
}

/* ---- a name against a pattern */

static bool behind_prio(const char *from, const char *at)
{
    return at - from >= 4 && memcmp(at - 4, "prio", 4) == 0;
}

/* The end of the number of a '#'; `at` itself if there is no number. */
static const char *skip_number(const char *at, bool priority)
{
    const char *end = at;
    while (isdigit((unsigned char)*end))
        end++;
    return priority && (end != at + 1 || *at > '7') ? at : end;
}

static bool pattern_matches(const char *whole, const char *pattern, const char *name);

/* The pattern's '*' may match any beginning of the name. */
static bool matches_after_any(const char *whole, const char *star, const char *name)
{
    char next = star[1];
    if (!next)
        return true;
    for (; *name; name++) {
        if (next != '#' && next != '*' && !(name = strchr(name, next)))
            return false;
        if (pattern_matches(whole, star + 1, name))
            return true;
    }
    return false;
}

static bool pattern_matches(const char *whole, const char *pattern, const char *name)
{
    for (; *pattern && *pattern != '*'; pattern++) {
        if (*pattern == '#') {
            const char *end = skip_number(name, behind_prio(whole, pattern));
            if (end == name)
                return false;
            name = end;
        } else if (*pattern != *name++) {
            return false;
        }
    }
    return *pattern ? matches_after_any(whole, pattern, name) : !*name;
}

bool counters_pattern_matches(const char *pattern, const char *name)
{
    return pattern_matches(pattern, pattern, name);
}

char *counters_instance(char *buffer, size_t size, const char *pattern, unsigned first, unsigned second)
{
    size_t used = 0, numbers = 0;
    for (const char *c = pattern; *c && used + 1 < size; c++) {
        if (*c != '#') {
            buffer[used++] = *c;
            continue;
        }
        unsigned number = numbers++ ? second : first;
        if (number < 10) { /* most are: snprintf took a tenth of a plan's time */
            buffer[used++] = (char)('0' + number);
            continue;
        }
        int length = snprintf(buffer + used, size - used, "%u", number);
        used = used + (size_t)length < size ? used + (size_t)length : size - 1;
    }
    buffer[used] = '\0';
    return buffer;
}

const struct counter *counters_find(const char *name)
{
    for (size_t i = 0; i < ROWS; i++) {
        const char *pattern = rows[i].pattern;
        /* Most rows end here. */
        if (*pattern != *name && *pattern != '*' && *pattern != '#')
            continue;
        if (pattern_matches(pattern, pattern, name))
            return &rows[i];
    }
    return NULL;
}

/* ---- a glob against a pattern */

#define MAX_TOKENS 128

/* One character of a set, or any number of them. */
struct token {
    uint64_t set[2]; /* of ASCII */
    bool repeats;
};

static void add_characters(struct token *token, unsigned char first, unsigned char last)
{
    for (unsigned c = first; c <= last && c < 128; c++)
        token->set[c / 64] |= UINT64_C(1) << c % 64;
}

/* "[a-c_]" at `at`: its characters; returns its end, or `at` if it is not closed. */
static const char *add_class(struct token *token, const char *at)
{
    const char *end = at[1] ? strchr(at + 2, ']') : NULL;
    if (!end)
        return at;
    for (const char *c = at + 1; c < end; c++) {
        bool range = c[1] == '-' && c + 2 < end;
        add_characters(token, (unsigned char)*c, (unsigned char)c[range ? 2 : 0]);
        c += range ? 2 : 0;
    }
    return end;
}

/* Parses both notations: globs contain no '#', patterns no '?' and '['. Returns the number of tokens;
 * MAX_TOKENS + 1: too many. */
static size_t tokenize(const char *text, struct token *tokens)
{
    size_t count = 0;
    for (const char *c = text; *c; c++) {
        if (count + 2 > MAX_TOKENS)
            return MAX_TOKENS + 1;
        struct token *token = &tokens[count++];
        *token = (struct token){.repeats = *c == '*'};
        if (*c == '*' || *c == '?') {
            add_characters(token, 1, 127);
        } else if (*c == '#') {
            bool priority = behind_prio(text, c);
            add_characters(token, '0', priority ? '7' : '9');
            if (!priority) {
                tokens[count] = *token;
                tokens[count++].repeats = true;
            }
        } else if (*c == '[' && add_class(token, c) != c) {
            c = strchr(c + 2, ']');
        } else {
            add_characters(token, (unsigned char)*c, (unsigned char)*c);
        }
    }
    return count;
}

static bool sets_meet(const struct token *a, const struct token *b)
{
    return (a->set[0] & b->set[0]) || (a->set[1] & b->set[1]);
}

/* reached[i][j]: some text brings a to its token i and b to its token j. */
bool counters_pattern_overlaps(const char *pattern, const char *glob)
{
    struct token a[MAX_TOKENS + 1], b[MAX_TOKENS + 1];
    bool reached[MAX_TOKENS + 1][MAX_TOKENS + 1] = {{true}};
    size_t n = tokenize(pattern, a), m = tokenize(glob, b);
    if (n > MAX_TOKENS || m > MAX_TOKENS)
        return false;
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (!reached[i][j])
                continue;
            if (i < n && a[i].repeats)
                reached[i + 1][j] = true;
            if (j < m && b[j].repeats)
                reached[i][j + 1] = true;
            if (i < n && j < m && sets_meet(&a[i], &b[j]))
                reached[a[i].repeats ? i : i + 1][b[j].repeats ? j : j + 1] = true;
        }
    }
    return reached[n][m];
}

/* ---- names that people write */

#define NAME_BYTES 128

/* A name in which each number is replaced by '#'. The numbers are later taken from the name itself. */
static void without_numbers(const char *name, char *plain, size_t size)
{
    size_t used = 0;
    for (const char *c = name; *c && used + 1 < size; c++) {
        plain[used++] = isdigit((unsigned char)*c) ? '#' : *c;
        while (isdigit((unsigned char)*c) && isdigit((unsigned char)c[1]))
            c++;
    }
    plain[used] = '\0';
}

/* A pattern in which each '#' is replaced by the name's number, or by 0 if the name has no suitable
 * number. */
static void with_numbers(const char *pattern, const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (const char *c = pattern; *c && used + 12 < size; c++) {
        if (*c != '#') {
            out[used++] = *c;
            continue;
        }
        name += strcspn(name, "0123456789");
        size_t digits = strspn(name, "0123456789");
        bool fits = digits && digits < 10 && skip_number(name, behind_prio(pattern, c)) != name;
        used += (size_t)snprintf(out + used, size - used, "%.*s", fits ? (int)digits : 1, fits ? name : "0");
        name += digits;
    }
    out[used] = '\0';
}

/* The listed pattern that is nearest to a name, or NULL. */
static const char *nearest_pattern(const char *plain)
{
    const char *words[512];
    size_t used = 0;
    for (size_t i = 0; i < ROWS && used + 1 < sizeof words / sizeof words[0]; i++)
        if (rows[i].origin != COUNTER_FROM_DRIVER || !strchr(rows[i].pattern, '*'))
            words[used++] = rows[i].pattern;
    words[used] = NULL;
    return nearest_word(plain, words);
}

/* Do two words differ in at most two adjacent characters? */
static bool is_slip(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), first = 0, last = 0;
    while (a[first] && a[first] == b[first])
        first++;
    while (last < la - first && last < lb - first && a[la - last - 1] == b[lb - last - 1])
        last++;
    return la - first - last <= 2 && lb - first - last <= 2;
}

/* The name without the source that nic-sampler puts before a name that would occur twice
 * ("rdma_duplicate_request"). */
static const char *without_source(const char *name)
{
    static const char *const sources[] = {
#define READER(name, interface, columns, freshness) #name "_",
#include "lib/roce/counters.def"
    };
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (strncmp(name, sources[i], strlen(sources[i])) == 0)
            return name + strlen(sources[i]);
    return NULL;
}

const struct counter *counters_known(const char *name, char *near, size_t size)
{
    char plain[NAME_BYTES];
    const struct counter *row = counters_find(name);
    const char *behind = without_source(name);
    *near = '\0';
    if (!row && behind)
        row = counters_find(behind);
    if (row && row->origin != COUNTER_FROM_DRIVER)
        return row;
    without_numbers(name, plain, sizeof plain);
    const char *pattern = nearest_pattern(plain);
    if (row && (strcmp(row->pattern, plain) == 0 || !pattern || !is_slip(plain, pattern)))
        return row;
    if (pattern)
        with_numbers(pattern, name, near, size);
    return NULL;
}

bool counters_of_machine(const char *source)
{
    return strcmp(source, "ip") == 0; /* /proc/net/netstat counts in the network namespace */
}

/* ---- the catalogue as a document */

static const struct {
    const char *name, *text;
} groups[] =
    {
#define GROUP(id, name, meaning) {name, meaning},
#include "lib/roce/counters.def"
},
  origins[] = {
#define ORIGIN(id, name, where) {name, where},
#include "lib/roce/counters.def"
};

static const struct {
    const char *name, *interface, *columns, *freshness;
} readers[] = {
#define READER(name, interface, columns, freshness) {#name, interface, columns, freshness},
#include "lib/roce/counters.def"
};

static const struct {
    const char *pattern, *nic, *counts, *source;
} measured[] = {
#define NIC_COUNTS(pattern, nic, counts, source) {pattern, nic, counts, source},
#include "lib/roce/counters.def"
};

#define MEASURED (sizeof measured / sizeof measured[0])

const char *counters_never_moves_on(const char *name)
{
    static const char never[] = "Never moved";
    for (size_t i = 0; i < MEASURED; i++)
        if (strcmp(measured[i].pattern, name) == 0 &&
            strncmp(measured[i].counts, never, sizeof never - 1) == 0)
            return measured[i].nic;
    return NULL;
}

/* The groups with their first names, and the names that wrap at 32 bits. */
static void add_groups(struct text *out)
{
    text_add(out, "\n");
    for (int group = 0; group < COUNTER_GROUPS; group++) {
        int names = 0;
        text_add(out, "- `%s`: %s:", groups[group].name, groups[group].text);
        for (size_t i = 0; i < ROWS; i++)
            if (rows[i].group == (enum counter_group)group && names++ < 3)
                text_add(out, "%s `%s`", names > 1 ? "," : "", rows[i].pattern);
        text_add(out, "%s\n", names > 3 ? ", ..." : "");
    }
    int narrow = 0;
    text_add(out, "\n32 bits wide in the catalogue:");
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == COUNTER_COUNT32)
            text_add(out, "%s `%s`", narrow++ ? "," : "", rows[i].pattern);
    text_add(out, ".\n");
}

static void add_readers(struct text *out)
{
    text_add(out, "\n## Sources of nic-sampler\n\n");
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        text_add(out, "- `%s` (%s): %s; %s\n", readers[i].name, readers[i].interface, readers[i].columns,
                 readers[i].freshness);
}

/* What is known of a NIC, NICs in the order in which they come first; sources are in the catalogue. */
static void add_measured(struct text *out)
{
    text_add(out, "\n## What NICs were measured to count\n\n"
                  "By model and, in parentheses, firmware; of others nothing is known.\n");
    for (size_t i = 0; i < MEASURED; i++) {
        size_t first = 0;
        while (strcmp(measured[first].nic, measured[i].nic) != 0)
            first++;
        if (first < i)
            continue;
        text_add(out, "\n### %s\n\n", measured[i].nic);
        for (size_t k = i; k < MEASURED; k++)
            if (strcmp(measured[k].nic, measured[i].nic) == 0)
                text_add(out, "- `%s`: %s\n", measured[k].pattern, measured[k].counts);
    }
}

void counters_manual(struct text *out)
{
    add_groups(out);
    add_readers(out);
    add_measured(out);
}

/* [{"nic", "counts", "source"}]; NULL: nothing was measured. */
static json_t *measured_json(const char *pattern)
{
    json_t *list = NULL;
    for (size_t i = 0; i < MEASURED; i++) {
        if (strcmp(measured[i].pattern, pattern) != 0)
            continue;
        list = list ? list : json_array();
        json_array_append_new(list, json_make("{s:s,s:s,s:s}", "nic", measured[i].nic, "counts",
                                              measured[i].counts, "source", measured[i].source));
    }
    return list;
}

json_t *counters_json(void)
{
    json_t *array = json_array();
    for (size_t i = 0; i < ROWS; i++)
        json_array_append_new(
            array, json_make("{s:s,s:s,s:s,s:i,s:s,s:s,s:s,s:o*}", "pattern", rows[i].pattern, "unit",
                             rows[i].unit, "kind", rows[i].kind == COUNTER_GAUGE ? "gauge" : "counter",
                             "bits", rows[i].kind == COUNTER_COUNT32 ? 32 : 64, "group",
                             groups[rows[i].group].name, "source", origins[rows[i].origin].text, "meaning",
                             rows[i].meaning, "measured", measured_json(rows[i].pattern)));
    return array;
}
