// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Requests for faults, word by word. */
#include "virtual-connectx/model/faults/inside.h"

#define MOST_NTH 1000000000u
#define MOST_MS  3600000u
#define NS_OF_MS 1000000u

struct action {
    const char *name;
    vcx_fault_action *run;
    int numbers; /* N, or N and MS */
};
static const struct action actions[] = {
    {"drop", vcx_fault_drop, 1},           {"mark", vcx_fault_mark, 1}, {"corrupt", vcx_fault_corrupt, 1},
    {"duplicate", vcx_fault_duplicate, 1}, {"fcs", vcx_fault_fcs, 1},   {"delay", vcx_fault_delay, 2},
};

static const char *const kinds[] = {
    [VCX_ANY_FRAME] = "any",    [VCX_DATA_FRAME] = "data", [VCX_CNP_FRAME] = "cnp",
    [VCX_ACK_FRAME] = "ack",    [VCX_NAK_FRAME] = "nak",   [VCX_READ_REQUEST_FRAME] = "read-request",
    [VCX_PAUSE_FRAME] = "pause"};
static const char *const directions[] = {[VCX_RECEIVED] = "received", [VCX_SENT] = "sent"};

/* The word's place among names, or -1. */
static int place_of(const char *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (vcx_word_is(word, names[i]))
            return (int)i;
    return -1;
}

/* "step N" and "count N". true: this word and the next one were taken. */
static bool take_pair(struct vcx_frame_fault *fault, const char *word, const char *number)
{
    uint64_t *to = vcx_word_is(word, "step")    ? &fault->step
                   : vcx_word_is(word, "count") ? &fault->most
                                                : NULL;
    return to && number && vcx_word_number(number, 1, MOST_NTH, to);
}

/* A word after the action that is no number. */
static bool take_word(struct vcx_frame_fault *fault, bool *every, const char *word)
{
    int kind = place_of(word, kinds, VCX_COUNT(kinds)),
        direction = place_of(word, directions, VCX_COUNT(directions));
    if (kind >= 0)
        fault->kind = (enum vcx_frame_kind)kind;
    else if (direction >= 0)
        fault->direction = (enum vcx_direction)direction;
    else if (vcx_word_is(word, "every"))
        *every = true;
    else
        return false;
    return true;
}

static bool read_fault(struct vcx_frame_fault *fault, const struct action *action, const struct vcx_words *w,
                       struct vcx_sentence *error)
{
    uint64_t numbers[2] = {0};
    int count = 0;
    bool every = false;
    for (int i = 1; i < w->count; i++) {
        if (take_word(fault, &every, w->word[i]))
            continue;
        if (take_pair(fault, w->word[i], i + 1 < w->count ? w->word[i + 1] : NULL)) {
            i++;
            continue;
        }
        if (count == action->numbers ||
            !vcx_word_number(w->word[i], 1, count ? MOST_MS : MOST_NTH, &numbers[count]))
            return vcx_say(error, "%s: not understood, or out of range", w->word[i]);
        count++;
    }
    bool many = every || fault->step;
    fault->name = action->name;
    fault->action = action->run;
    fault->nth = numbers[0];
    fault->step = fault->step ? fault->step : every ? fault->nth : 1;
    fault->most = fault->most ? fault->most : many ? UINT64_MAX : 1;
    fault->ms = numbers[1];
    return count == action->numbers ||
           vcx_say(error, "%s: expected %d number(s)", action->name, action->numbers);
}

static bool is_over(const struct vcx_frame_fault *fault)
{
    return !fault->action || fault->met == fault->most;
}

/* A free place, else that of one that only counts. */
static bool add_fault(struct vcx_faults *faults, const struct vcx_frame_fault *fault,
                      struct vcx_sentence *error)
{
    struct vcx_frame_fault *place = NULL;
    for (int i = 0; i < VCX_FAULTS_AT_ONCE && !(place && !place->action); i++)
        if (!faults->frames[i].action || (!place && is_over(&faults->frames[i])))
            place = &faults->frames[i];
    if (place) {
        *place = *fault;
        return true;
    }
    return vcx_say(error, "there are %d faults already", VCX_FAULTS_AT_ONCE);
}

/* ---- what is not of a frame */

static void lose_command(struct vcx_device *device, uint64_t nth)
{
    device->faults->command_after = nth;
}

static void stop_firmware(struct vcx_device *device, uint64_t ms)
{
    vcx_fault_stop_firmware(device, ms ? vcx_now_ns(device) + ms * NS_OF_MS : UINT64_MAX);
}

static void flap(struct vcx_device *device, uint64_t ms)
{
    device->faults->flap_until_ns = vcx_now_ns(device) + ms * NS_OF_MS;
    device->port->flapping = true;
}

/* "storm MS [after MS] [priority N]" */
static bool storm(struct vcx_device *device, const struct vcx_words *w, struct vcx_sentence *error)
{
    uint64_t ms = 0, after = 0, priority = VCX_PRIORITIES;
    bool good = w->count > 1 && vcx_word_number(w->word[1], 1, MOST_MS, &ms) && w->count % 2 == 0;
    for (int i = 2; good && i < w->count; i += 2)
        good = vcx_word_is(w->word[i], "after")
                   ? vcx_word_number(w->word[i + 1], 0, MOST_MS, &after)
                   : vcx_word_is(w->word[i], "priority") &&
                         vcx_word_number(w->word[i + 1], 0, VCX_PRIORITIES - 1, &priority);
    if (!good)
        return vcx_say(error, "storm: expected MS [after MS] [priority N]");
    device->faults->storm_from_ns = vcx_now_ns(device) + after * NS_OF_MS;
    device->faults->storm_until_ns = device->faults->storm_from_ns + ms * NS_OF_MS;
    device->faults->storm_priorities = (uint8_t)(priority == VCX_PRIORITIES ? 0xff : 1u << priority);
    return true;
}

static void end_all(struct vcx_device *device, uint64_t unused)
{
    struct vcx_faults *faults = device->faults;
    (void)unused;
    memset(faults->frames, 0, sizeof faults->frames);
    faults->command_after = faults->flap_until_ns = faults->storm_until_ns = 0;
    if (faults->stopped)
        vcx_fault_start_firmware(device);
}

struct single {
    const char *name;
    void (*run)(struct vcx_device *device, uint64_t number);
    int least_numbers, most_numbers;
    uint64_t most;
};
static const struct single singles[] = {
    {"command-timeout", lose_command, 1, 1, MOST_NTH},
    {"internal-error", stop_firmware, 0, 1, MOST_MS},
    {"flap", flap, 1, 1, MOST_MS},
    {"off", end_all, 0, 0, 0},
};

static bool run_single(struct vcx_device *device, const struct single *single, const struct vcx_words *w,
                       struct vcx_sentence *error)
{
    uint64_t number = 0;
    int numbers = w->count - 1;
    if (numbers < single->least_numbers || numbers > single->most_numbers ||
        (numbers && !vcx_word_number(w->word[1], 1, single->most, &number)))
        return vcx_say(error, "%s: a number is missing, too many or out of range", single->name);
    single->run(device, number);
    return true;
}

bool vcx_fault_request(struct vcx_device *device, const char *line, struct vcx_sentence *error)
{
    struct vcx_words words;
    if (!vcx_words_split(&words, line) || !words.count)
        return vcx_say(error, "the line is empty or too long");
    if (vcx_word_is(words.word[0], "storm"))
        return storm(device, &words, error);
    for (size_t i = 0; i < VCX_COUNT(singles); i++)
        if (vcx_word_is(words.word[0], singles[i].name))
            return run_single(device, &singles[i], &words, error);
    for (size_t i = 0; i < VCX_COUNT(actions); i++) {
        struct vcx_frame_fault fault = {0};
        if (vcx_word_is(words.word[0], actions[i].name))
            return read_fault(&fault, &actions[i], &words, error) && add_fault(device->faults, &fault, error);
    }
    return vcx_say(error, "%s: no such fault", words.word[0]);
}

/* ---- shown */

void vcx_fault_show(const struct vcx_device *device, void (*put)(void *context, const char *line),
                    void *context)
{
    for (int i = 0; i < VCX_FAULTS_AT_ONCE; i++) {
        const struct vcx_frame_fault *fault = &device->faults->frames[i];
        char line[VCX_LINE_BYTES];
        if (!fault->action)
            continue;
        snprintf(line, sizeof line, "%s %s %s seen %llu met %llu", fault->name, directions[fault->direction],
                 kinds[fault->kind], (unsigned long long)fault->seen, (unsigned long long)fault->met);
        put(context, line);
    }
}
