// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Faults that were asked for: of single frames, of commands, of the firmware, of the link; how they are
 * asked for, word by word. */
#include "virtual-connectx/model/faults/faults.h"
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/objects.h"
#include "virtual-connectx/model/transport/packet.h"

#define VCX_FAULTS_AT_ONCE 16

enum vcx_frame_kind {
    VCX_ANY_FRAME,
    VCX_DATA_FRAME,
    VCX_CNP_FRAME,
    VCX_ACK_FRAME,
    VCX_NAK_FRAME,
    VCX_READ_REQUEST_FRAME,
    VCX_PAUSE_FRAME
};

struct vcx_frame_fault;
/* Does it to a frame. true: the frame is taken. */
typedef bool vcx_fault_action(struct vcx_device *device, const struct vcx_frame_fault *fault,
                              struct vcx_frame *frame);

struct vcx_frame_fault {
    const char *name;         /* of the action */
    vcx_fault_action *action; /* NULL: the place is free */
    enum vcx_direction direction;
    enum vcx_frame_kind kind;
    uint64_t nth;  /* the first frame that is met, counted from 1 */
    uint64_t step; /* after it each of this number */
    uint64_t most; /* how many are met; then it only counts */
    uint64_t ms;
    uint64_t seen, met;
};

struct vcx_faults {
    struct vcx_frame_fault frames[VCX_FAULTS_AT_ONCE];
    struct vcx_frames delayed[2]; /* by direction; in the order in which they came */
    uint64_t command_after;       /* commands until one is lost; 0: none is */
    bool stopped;
    uint64_t stopped_until_ns, flap_until_ns;
    uint64_t storm_from_ns, storm_until_ns;
    uint8_t storm_priorities; /* bit n: n */
};

vcx_fault_action vcx_fault_drop, vcx_fault_mark, vcx_fault_corrupt, vcx_fault_fcs, vcx_fault_duplicate,
    vcx_fault_delay;
/* Hands on the frames whose delay is over. true: there may be more. */

/* ---- what happens to frames */

#define AT_TYPE          12
#define TYPE_MAC_CONTROL 0x8808
#define OPERATION        0x1f
#define AETH_KIND        0xe0 /* of a syndrome; 0: an acknowledgement */
#define NS_OF_MS         1000000u
#define MOST_DELAYED     4096
#define DELAYED_PER_POLL 256

static void hand_on(struct vcx_device *device, enum vcx_direction direction, struct vcx_frame *frame)
{
    if (direction == VCX_RECEIVED)
        vcx_port_receive(device->port, frame);
    else
        device->ops->transmit(device->front, frame);
}

/* ---- the actions */

bool vcx_fault_drop(struct vcx_device *device, const struct vcx_frame_fault *fault, struct vcx_frame *frame)
{
    (void)device;
    (void)fault;
    vcx_release(frame);
    return true;
}

bool vcx_fault_fcs(struct vcx_device *device, const struct vcx_frame_fault *fault, struct vcx_frame *frame)
{
    device->port->counters.rx_fcs_errors += fault->direction == VCX_RECEIVED;
    return vcx_fault_drop(device, fault, frame);
}

bool vcx_fault_mark(struct vcx_device *device, const struct vcx_frame_fault *fault, struct vcx_frame *frame)
{
    (void)device;
    (void)fault;
    vcx_frame_mark(frame);
    return false;
}

bool vcx_fault_corrupt(struct vcx_device *device, const struct vcx_frame_fault *fault,
                       struct vcx_frame *frame)
{
    (void)device;
    (void)fault;
    if (frame->length)
        frame->data[frame->length - 1] ^= 1;
    return false;
}

bool vcx_fault_duplicate(struct vcx_device *device, const struct vcx_frame_fault *fault,
                         struct vcx_frame *frame)
{
    struct vcx_frame *copy = vcx_frame_copy(frame);
    if (copy)
        hand_on(device, fault->direction, copy);
    return false;
}

bool vcx_fault_delay(struct vcx_device *device, const struct vcx_frame_fault *fault, struct vcx_frame *frame)
{
    struct vcx_frames *delayed = &device->faults->delayed[fault->direction];
    if (delayed->count >= MOST_DELAYED)
        return vcx_fault_drop(device, fault, frame);
    frame->at_ns = vcx_now_ns(device) + fault->ms * NS_OF_MS;
    vcx_frames_put(delayed, frame);
    return true;
}

/* ---- which frames */

static enum vcx_frame_kind kind_of(struct vcx_frame *frame)
{
    struct vcx_packet packet;
    if (frame->length >= AT_TYPE + 2 && vcx_be16(frame->data + AT_TYPE) == TYPE_MAC_CONTROL)
        return VCX_PAUSE_FRAME;
    if (vcx_packet_parse(frame, &packet) != VCX_PACKET)
        return VCX_ANY_FRAME;
    if (packet.opcode == VCX_OPCODE_CNP)
        return VCX_CNP_FRAME;
    if ((packet.opcode & OPERATION) == VCX_READ_REQUEST)
        return VCX_READ_REQUEST_FRAME;
    if ((packet.opcode & OPERATION) != VCX_ACKNOWLEDGE)
        return VCX_DATA_FRAME;
    return packet.header[0] & AETH_KIND ? VCX_NAK_FRAME : VCX_ACK_FRAME;
}

/* Counts a frame that the fault is for. true: it is the one. */
static bool fault_meets(struct vcx_frame_fault *fault, enum vcx_direction direction, enum vcx_frame_kind kind)
{
    if (!fault->action || fault->direction != direction ||
        (fault->kind != VCX_ANY_FRAME && fault->kind != kind))
        return false;
    fault->seen++;
    if (fault->seen < fault->nth || (fault->seen - fault->nth) % fault->step || fault->met == fault->most)
        return false;
    fault->met++;
    return true;
}

static bool is_any_set(const struct vcx_faults *faults)
{
    for (int i = 0; i < VCX_FAULTS_AT_ONCE; i++)
        if (faults->frames[i].action)
            return true;
    return false;
}

void vcx_fault_pass(struct vcx_device *device, enum vcx_direction direction, struct vcx_frame *frame)
{
    struct vcx_faults *faults = device->faults;
    enum vcx_frame_kind kind = is_any_set(faults) ? kind_of(frame) : VCX_ANY_FRAME;
    for (int i = 0; i < VCX_FAULTS_AT_ONCE; i++) {
        struct vcx_frame_fault fault = faults->frames[i];
        if (!fault_meets(&faults->frames[i], direction, kind))
            continue;
        if (fault.action(device, &fault, frame))
            return;
    }
    hand_on(device, direction, frame);
}

/* ---- delayed frames: each has a time of its own */

static bool poll_direction(struct vcx_device *device, enum vcx_direction direction)
{
    struct vcx_frames *delayed = &device->faults->delayed[direction];
    uint64_t now = vcx_now_ns(device);
    uint32_t count = delayed->count < DELAYED_PER_POLL ? delayed->count : DELAYED_PER_POLL;
    bool busy = false;
    for (uint32_t i = 0; i < count; i++) {
        struct vcx_frame *frame = vcx_frames_take(delayed);
        if (frame->at_ns > now) {
            vcx_frames_put(delayed, frame);
            continue;
        }
        hand_on(device, direction, frame);
        busy = true;
    }
    return busy;
}

/* mlx5's struct health_buffer in struct mlx5_init_seg */
#define SEGMENT_SEVERITY  0x238 /* the driver heeds the syndrome if the upper bit is set */
#define SEGMENT_SYNDROME  0x23c
#define SEVERITY_RESET    (1u << 31)
#define SYNDROME_INTERNAL (1u << 16) /* MLX5_INITIAL_SEG_HEALTH_SYNDROME_FW_INTERNAL_ERR */

bool vcx_fault_command(struct vcx_device *device)
{
    struct vcx_faults *faults = device->faults;
    return faults->command_after && --faults->command_after == 0;
}

/* ---- the firmware's end */

static void fault_stop_firmware(struct vcx_device *device, uint64_t until_ns)
{
    device->faults->stopped = true;
    device->faults->stopped_until_ns = until_ns;
    device->ops->bar_write(device->front, SEGMENT_SEVERITY, SEVERITY_RESET);
    device->ops->bar_write(device->front, SEGMENT_SYNDROME, SYNDROME_INTERNAL);
}

static void fault_start_firmware(struct vcx_device *device)
{
    device->faults->stopped = false;
    device->ops->bar_write(device->front, SEGMENT_SEVERITY, 0);
    device->ops->bar_write(device->front, SEGMENT_SYNDROME, 0);
    vcx_objects_free(device);
    device->command_eq = 0;
    device->command_queue = 0;
    vcx_command_start(device);
}

bool vcx_fault_stopped(struct vcx_device *device)
{
    struct vcx_faults *faults = device->faults;
    if (faults->stopped && vcx_now_ns(device) >= faults->stopped_until_ns)
        fault_start_firmware(device);
    return faults->stopped;
}

/* ---- the room */

static int faults_start(struct vcx_device *device)
{
    device->faults = vcx_allocate(sizeof *device->faults);
    return device->faults ? 0 : -1;
}

static void faults_stop(struct vcx_device *device)
{
    if (device->faults) {
        vcx_frames_drop(&device->faults->delayed[VCX_RECEIVED]);
        vcx_frames_drop(&device->faults->delayed[VCX_SENT]);
    }
    vcx_release(device->faults);
    device->faults = NULL;
}

static bool faults_poll(struct vcx_device *device)
{
    struct vcx_faults *faults = device->faults;
    uint64_t now_ns = vcx_now_ns(device);
    if (device->port->flapping && now_ns >= faults->flap_until_ns)
        device->port->flapping = false;
    bool storms = now_ns >= faults->storm_from_ns && now_ns < faults->storm_until_ns;
    device->port->storming = storms ? faults->storm_priorities : 0;
    bool busy = poll_direction(device, VCX_RECEIVED);
    return poll_direction(device, VCX_SENT) || busy;
}

const struct vcx_room vcx_room_faults = {faults_start, faults_stop, faults_poll};

/* ---- requests for faults, word by word */

#define MOST_NTH 1000000000u
#define MOST_MS  3600000u

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

/* A word after the action that is not a number. */
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

/* A free place, else that of one that only counts. */
static bool add_fault(struct vcx_faults *faults, const struct vcx_frame_fault *fault,
                      struct vcx_sentence *error)
{
    struct vcx_frame_fault *place = NULL;
    for (int i = 0; i < VCX_FAULTS_AT_ONCE && !(place && !place->action); i++) {
        struct vcx_frame_fault *at = &faults->frames[i];
        if (!at->action || (!place && at->met == at->most))
            place = at;
    }
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
    fault_stop_firmware(device, ms ? vcx_now_ns(device) + ms * NS_OF_MS : UINT64_MAX);
}

static void link_flap(struct vcx_device *device, uint64_t ms)
{
    device->faults->flap_until_ns = vcx_now_ns(device) + ms * NS_OF_MS;
    device->port->flapping = true;
}

/* "storm MS [after MS] [priority N]"; 0 ms end the one that was asked for. */
static bool storm_request(struct vcx_device *device, const struct vcx_words *w, struct vcx_sentence *error)
{
    uint64_t ms = 0, after = 0, priority = VCX_PRIORITIES;
    bool good = w->count > 1 && vcx_word_number(w->word[1], 0, MOST_MS, &ms) && w->count % 2 == 0;
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
        fault_start_firmware(device);
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
    {"flap", link_flap, 1, 1, MOST_MS},
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
        return storm_request(device, &words, error);
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
