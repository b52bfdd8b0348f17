// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/pace/pace.h"

#include "virtual-connectx/model/random.h"

#define RULES             16
#define DEFAULT_WINDOW_NS 1000000u
#define NS_PER_S          1000000000u
#define LN2_Q16           45426u /* 2^16 * ln 2 */

enum memory { NO_MEMORY, ALL_MEMORY, A_KEY, A_RANGE };

struct rule {
    enum memory memory;
    uint64_t first, bytes; /* of the range; first: or the key */
    uint64_t bytes_per_s, stalls_per_s, stall_mean_ns, window_ns;
    bool fixed;
    uint64_t rest;                      /* of the last division */
    uint64_t last_ns, load_ns, next_ns; /* load: the clock of stalls, next: when it has one */
    uint64_t stalled_ns;                /* until then */
};

struct vcx_pace {
    struct rule rules[RULES];
    uint64_t random;
};

/* ---- rules */

struct setting {
    const char *name;
    size_t at;
    uint64_t most;
};

static const struct setting settings[] = {
    {"write_bytes_per_s", offsetof(struct rule, bytes_per_s), 1000000000000},
    {"stalls_per_s", offsetof(struct rule, stalls_per_s), 1000000},
    {"stall_mean_ns", offsetof(struct rule, stall_mean_ns), 100000000000},
    {"stall_window_ns", offsetof(struct rule, window_ns), 100000000000},
};

static bool take_setting(struct rule *rule, const struct vcx_words *w, int at, struct vcx_sentence *error)
{
    for (size_t i = 0; i < VCX_COUNT(settings); i++) {
        if (!vcx_word_is(w->word[at], settings[i].name))
            continue;
        uint64_t *value = (uint64_t *)((uint8_t *)rule + settings[i].at);
        if (at + 1 < w->count && vcx_word_number(w->word[at + 1], 0, settings[i].most, value))
            return true;
        return vcx_say(error, "%s: expected a number up to %llu", settings[i].name,
                       (unsigned long long)settings[i].most);
    }
    return vcx_say(error, "%s: no such setting of pace", w->word[at]);
}

static bool take_settings(struct rule *rule, const struct vcx_words *w, int at, struct vcx_sentence *error)
{
    while (at < w->count) {
        if (vcx_word_is(w->word[at], "fixed")) {
            rule->fixed = true;
            at++;
        } else if (take_setting(rule, w, at, error)) {
            at += 2;
        } else {
            return false;
        }
    }
    return true;
}

/* The memory that a line names; *at is where its settings begin. */
static bool take_memory(struct rule *rule, const struct vcx_words *w, int *at, struct vcx_sentence *error)
{
    const char *kind = w->count ? w->word[0] : "";
    bool ok = true;
    if (vcx_word_is(kind, "all")) {
        rule->memory = ALL_MEMORY;
        *at = 1;
    } else if (vcx_word_is(kind, "key")) {
        rule->memory = A_KEY;
        ok = w->count > 1 && vcx_word_number(w->word[1], 0, UINT32_MAX, &rule->first);
        *at = 2;
    } else if (vcx_word_is(kind, "range")) {
        rule->memory = A_RANGE;
        ok = w->count > 2 && vcx_word_number(w->word[1], 0, UINT64_MAX, &rule->first) &&
             vcx_word_number(w->word[2], 1, UINT64_MAX - rule->first, &rule->bytes);
        *at = 3;
    } else {
        return vcx_say(error, "expected off, all, key NUMBER or range ADDRESS BYTES, and settings");
    }
    return ok || vcx_say(error, "%s: a number is missing or out of range", kind);
}

static bool same_memory(const struct rule *a, const struct rule *b)
{
    return a->memory == b->memory && a->first == b->first && a->bytes == b->bytes;
}

static struct rule *place_for(struct vcx_pace *pace, const struct rule *rule)
{
    for (int i = 0; i < RULES; i++)
        if (same_memory(&pace->rules[i], rule))
            return &pace->rules[i];
    for (int i = 0; i < RULES; i++)
        if (pace->rules[i].memory == NO_MEMORY)
            return &pace->rules[i];
    return NULL;
}

/* ---- stalls */

/* log2 of a number of 1 to 2^32 in 16 fractional bits: the square of the mantissa has twice its logarithm. */
static uint64_t log2_q16(uint64_t value)
{
    uint32_t whole = 63 - (uint32_t)__builtin_clzll(value);
    uint64_t mantissa = whole > 31 ? value >> (whole - 31) : value << (31 - whole), result = whole;
    for (int bit = 0; bit < 16; bit++) {
        mantissa = mantissa * mantissa >> 31;
        result = result << 1 | mantissa >> 32;
        mantissa >>= mantissa >> 32;
    }
    return result;
}

/* The mean times -ln of a number between 0 and 1. */
static uint64_t draw_interval(struct vcx_pace *pace, const struct rule *rule, uint64_t mean_ns)
{
    if (rule->fixed)
        return mean_ns;
    uint64_t log2 = (32ull << 16) - log2_q16((vcx_random(&pace->random) >> 32) + 1);
    return mean_ns * (log2 * LN2_Q16 >> 16) >> 16;
}

static uint64_t gap_ns(const struct rule *rule)
{
    return NS_PER_S / rule->stalls_per_s;
}

/* Stalls are a Poisson process on the clock of load, which runs while writes follow each other. */
static uint64_t rule_stall(struct vcx_pace *pace, struct rule *rule, uint64_t now_ns)
{
    uint64_t since = now_ns - rule->last_ns;
    rule->last_ns = now_ns;
    if (!rule->stalls_per_s || (rule->window_ns && since > rule->window_ns))
        return 0;
    rule->load_ns += since;
    if (rule->load_ns < rule->next_ns)
        return 0;
    rule->next_ns += draw_interval(pace, rule, gap_ns(rule));
    return draw_interval(pace, rule, rule->stall_mean_ns);
}

/* ---- writes */

static bool rule_applies(const struct rule *rule, uint32_t key, uint64_t address)
{
    if (rule->memory == A_KEY)
        return rule->first == key;
    if (rule->memory == A_RANGE)
        return address >= rule->first && address - rule->first < rule->bytes;
    return rule->memory == ALL_MEMORY;
}

static struct rule *rule_of(struct vcx_pace *pace, uint32_t key, uint64_t address)
{
    struct rule *best = NULL;
    for (int i = 0; i < RULES; i++) {
        struct rule *rule = &pace->rules[i];
        if (rule_applies(rule, key, address) && (!best || best->memory == ALL_MEMORY))
            best = rule;
    }
    return best;
}

void vcx_pace_write(struct vcx_device *device, uint32_t key, uint64_t address, uint32_t bytes)
{
    struct rule *rule = device->pace ? rule_of(device->pace, key, address) : NULL;
    if (!rule)
        return;
    uint64_t now_ns = vcx_now_ns(device), stalled_ns = rule_stall(device->pace, rule, now_ns);
    device->write_ns += stalled_ns;
    rule->stalled_ns = vcx_most(rule->stalled_ns, now_ns + stalled_ns);
    if (!rule->bytes_per_s)
        return;
    rule->rest += (uint64_t)bytes * NS_PER_S;
    device->write_ns += rule->rest / rule->bytes_per_s;
    rule->rest %= rule->bytes_per_s;
}

bool vcx_pace_stalls(struct vcx_device *device, uint32_t key, uint64_t address)
{
    const struct rule *rule = device->pace ? rule_of(device->pace, key, address) : NULL;
    return rule && vcx_now_ns(device) < rule->stalled_ns;
}

bool vcx_pace_request(struct vcx_device *device, const char *line, struct vcx_sentence *error)
{
    struct vcx_pace *pace = device->pace;
    struct vcx_words words;
    struct rule rule = {.window_ns = DEFAULT_WINDOW_NS, .last_ns = vcx_now_ns(device)};
    int at = 0;
    if (!vcx_words_split(&words, line))
        return vcx_say(error, "the line is too long");
    if (words.count == 1 && vcx_word_is(words.word[0], "off")) {
        memset(pace->rules, 0, sizeof pace->rules);
        return true;
    }
    if (!take_memory(&rule, &words, &at, error) || !take_settings(&rule, &words, at, error))
        return false;
    struct rule *place = place_for(pace, &rule);
    if (!place)
        return vcx_say(error, "there are %d rules already", RULES);
    if (rule.stalls_per_s)
        rule.next_ns = draw_interval(pace, &rule, gap_ns(&rule));
    *place = rule;
    return true;
}

/* ---- shown */

#define LINE_BYTES 240

static int show_memory(const struct rule *rule, char *line)
{
    unsigned long long first = rule->first, bytes = rule->bytes;
    if (rule->memory == A_KEY)
        return snprintf(line, LINE_BYTES, "key 0x%llx", first);
    if (rule->memory == A_RANGE)
        return snprintf(line, LINE_BYTES, "range 0x%llx 0x%llx", first, bytes);
    return snprintf(line, LINE_BYTES, "all");
}

void vcx_pace_show(const struct vcx_device *device, void (*put)(void *context, const char *line),
                   void *context)
{
    for (int i = 0; i < RULES; i++) {
        const struct rule *rule = &device->pace->rules[i];
        char line[LINE_BYTES];
        if (rule->memory == NO_MEMORY)
            continue;
        int used = show_memory(rule, line);
        for (size_t k = 0; k < VCX_COUNT(settings); k++)
            used += snprintf(line + used, (size_t)(LINE_BYTES - used), " %s %llu", settings[k].name,
                             (unsigned long long)*(const uint64_t *)((const uint8_t *)rule + settings[k].at));
        snprintf(line + used, (size_t)(LINE_BYTES - used), "%s", rule->fixed ? " fixed" : "");
        put(context, line);
    }
}

static int start_pace(struct vcx_device *device)
{
    device->pace = vcx_allocate(sizeof *device->pace);
    if (!device->pace)
        return -1;
    device->pace->random = device->configuration.seed;
    return 0;
}

static void stop_pace(struct vcx_device *device)
{
    vcx_release(device->pace);
    device->pace = NULL;
}

const struct vcx_room vcx_room_pace = {start_pace, stop_pace, NULL};
