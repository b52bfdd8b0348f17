#include "lib/faults/injection.h"
#include "lib/faults/link_fault.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include <math.h>

#define MOST_FRAMES INT64_C(1000000000000000)
#define MOST_BEHIND 1000

static const char *const packet_names[] = {"data", "ack", "nak", "read-request", "cnp", "pfc", NULL};
static const char *const action_names[] = {"drop", "corrupt", "mark",  "delay", "duplicate", "reorder",
                                           "cnp",  "pause",   "stall", "rnr",   NULL};

const char *injection_action_name(const struct injection_rule *r)
{
    return action_names[r->action];
}

const char *injection_packet_name(const struct injection_rule *r)
{
    return packet_names[r->packet];
}

/* ---- the result */

json_t *injection_json(const struct injection_rule *r, size_t i)
{
    char *const *ends = r->link.items;
    json_t *at = r->flow ? json_textf("flow %.100s", r->flow)
                         : json_textf("link from %.80s to %.80s", ends[0], ends[1]);
    json_t *name = r->name ? json_text(r->name) : json_textf("inject[%zu]", i);
    return json_make("{s:o,s:o,s:s,s:s}", "name", name, "at", at, "packet", injection_packet_name(r), "do",
                     injection_action_name(r));
}

json_t *injection_warning(const json_t *entry)
{
    return json_textf("%s met nothing: of %lld frames (%s, %s) it was to act on none",
                      json_string_value(json_object_get(entry, "name")),
                      (long long)json_integer_value(json_object_get(entry, "seen")),
                      json_string_value(json_object_get(entry, "packet")),
                      json_string_value(json_object_get(entry, "at")));
}

/* ---- checks */

static int check_place(const struct injection_rule *r, const char *path, struct error *e)
{
    if (!r->flow && !r->link.count)
        return error_set(e, "%s: it has no place: give \"flow\", or \"link\" with the two ends of a link",
                         path);
    if (r->flow && r->link.count)
        return error_set(e, "%s.link: a rule is for a flow or for a link: give one of \"flow\" and \"link\"",
                         path);
    if (r->flow && r->packet == INJECT_PFC)
        return error_set(e, "%s.packet: PFC frames belong to a link, not to a flow: give \"link\"", path);
    return r->flow ? 0 : link_fault_check_ends(&r->link, path, e);
}

/* A key that one or two actions have; required of the first. */
struct key {
    const char *name;
    int64_t value;
    int of, also; /* also: -1: only one */
};

static int check_key(const struct key *key, int action, const char *found, const char *path, struct error *e)
{
    bool two = key->also >= 0;
    if (key->value == FIELD_UNSET && action != key->of)
        return 0;
    if (key->value == FIELD_UNSET)
        return error_set(e, "%s.%s is missing: to \"%s\" needs it", path, key->name, found);
    if (action == key->of || action == key->also)
        return 0;
    return error_set(e, "%s.%s belongs to \"%s\"%s%s%s: found to \"%s\"", path, key->name,
                     action_names[key->of], two ? " and \"" : "", two ? action_names[key->also] : "",
                     two ? "\"" : "", found);
}

static int check_keys(const struct injection_rule *r, const char *path, struct error *e)
{
    const struct key keys[] = {{"delay", r->delay_ns, INJECT_DELAY, INJECT_DUPLICATE},
                               {"behind", r->behind, INJECT_REORDER, -1},
                               {"lasts", r->lasts_ns, INJECT_PAUSE, INJECT_STALL}};
    const char *found = injection_action_name(r);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (check_key(&keys[i], r->action, found, path, e) != 0)
            return -1;
    if (r->action == INJECT_STALL && r->lasts_ns == FIELD_UNSET)
        return error_set(e, "%s.lasts is missing: to \"stall\" needs it", path);
    if (r->pause_priority != FIELD_UNSET && r->action != INJECT_PAUSE)
        return error_set(e, "%s.pause_priority belongs to \"pause\": found to \"%s\"", path, found);
    return 0;
}

static int check_action(const struct injection_rule *r, const char *path, struct error *e)
{
    if (r->action == INJECT_MARK && r->packet != INJECT_DATA)
        return error_set(e, "%s.do: only data packets are marked: found the packets \"%s\"", path,
                         injection_packet_name(r));
    if ((r->action == INJECT_CNP_SENT || r->action >= INJECT_STALL) && r->packet != INJECT_DATA)
        return error_set(e, "%s.do: hosts \"%s\" for data packets only: found the packets \"%s\"", path,
                         injection_action_name(r), injection_packet_name(r));
    return check_keys(r, path, e);
}

static int check_rule(const void *object, const char *path, struct error *e)
{
    const struct injection_rule *r = object;
    char start[40];
    if (check_place(r, path, e) != 0 || check_action(r, path, e) != 0)
        return -1;
    if (!isnan(r->probability) && (r->nth != FIELD_UNSET || r->every != FIELD_UNSET))
        return error_set(
            e,
            "%s.probability: frames are chosen at random or by their number: give \"probability\", or "
            "\"nth\" and \"every\"",
            path);
    if (r->stop_ns != FIELD_UNSET && r->stop_ns <= r->start_ns)
        return error_set(e, "%s.stop: the rule would end before it starts, at %s", path,
                         units_format(UNIT_TIME_NS, r->start_ns, start, sizeof start));
    return 0;
}

/* ---- the table */

#define AT(member) .offset = offsetof(struct injection_rule, member)
static const struct field fields[] = {
    {"name", FIELD_STRING, AT(name),
     .help = "Name of the rule in the result. Default: its place, as \"inject[0]\"."},
    {"flow", FIELD_STRING, AT(flow),
     .help = "Packets of this flow: data where it arrives at its receiver, the others where they arrive at "
             "its sender."},
    {"link", FIELD_LIST, AT(link), .item = FIELD_STRING, .min = 0, .max = 3,
     .help = "In place of flow: frames that the first of these ends of a link sends to the second. Names are "
             "those of "
             "a fault's link."},
    {"packet", FIELD_CHOICE, AT(packet), .choices = packet_names, .fallback = "\"data\"",
     .help = "Which frames. pfc: pauses and resumes, of a link only."},
    {"do", FIELD_CHOICE, AT(action), .choices = action_names, .required = true,
     .help = "drop: lost on the link. corrupt: the same, and counted as a frame with a wrong check sequence. "
             "mark: CE. "
             "delay: it arrives later, frames behind it overtake it. duplicate: a copy arrives. reorder: it "
             "arrives "
             "behind the next frames. cnp: its receiver answers it with a CNP. pause: the host to which it "
             "comes pauses "
             "the other end. stall: the memory of the host to which it comes stands still."},
    {"priority", FIELD_INTEGER, AT(priority), .min = 0, .max = 7,
     .help = "Only frames of this priority; PFC frames that name it. Default: all."},
    {"nth", FIELD_INTEGER, AT(nth), .min = 1, .max = MOST_FRAMES,
     .help = "The first of these frames, counted from 1 since start. Default: 1."},
    {"every", FIELD_INTEGER, AT(every), .min = 1, .max = MOST_FRAMES,
     .help = "After the first one, each of this number. Default: 1, if there is a count."},
    {"count", FIELD_INTEGER, AT(count), .min = 1, .max = MOST_FRAMES,
     .help = "The largest number of frames. Default: without every and probability 1, otherwise no limit."},
    {"probability", FIELD_NUMBER, .min_number = 1e-12, .max_number = 1, AT(probability),
     .help = "In place of nth and every: the probability of each frame."},
    {"delay", FIELD_QUANTITY, AT(delay_ns), .unit = UNIT_TIME_NS, .min = 1, .max = LINK_FAULT_MOST_NS,
     .help = "How much later the frame, or its copy, arrives. A copy arrives at the same time by default."},
    {"behind", FIELD_INTEGER, AT(behind), .min = 1, .max = MOST_BEHIND,
     .help = "How many frames of its kind overtake a frame that is reordered."},
    {"lasts", FIELD_QUANTITY, AT(lasts_ns), .unit = UNIT_TIME_NS, .min = 1, .max = LINK_FAULT_MOST_NS,
     .help = "How long a pause lasts, or a memory stands still."},
    {"pause_priority", FIELD_INTEGER, AT(pause_priority), .min = 0, .max = 7,
     .help = "Which priority is paused. Default: the frame's."},
    {"phase", FIELD_CHOICE, AT(phase), .choices = link_fault_phases, .fallback = "\"warmup\"",
     .help = "Phase from whose beginning start and stop count."},
    {"start", FIELD_QUANTITY, AT(start_ns), .unit = UNIT_TIME_NS, .min = 0, .max = LINK_FAULT_MOST_NS,
     .fallback = "\"0\"", .help = "Frames that arrive from then on."},
    {"stop", FIELD_QUANTITY, AT(stop_ns), .unit = UNIT_TIME_NS, .min = 1, .max = LINK_FAULT_MOST_NS,
     .help = "And before then. Default: the end of the run."},
    {0},
};
#undef AT
const struct table injection_table = {
    "scenario.inject",
    "A fault of single frames, in simulated labs, virtual ConnectX, Linux bridges and Soft-RoCE hosts.",
    sizeof(struct injection_rule), fields, check_rule};

/* ---- values, with their defaults */

struct injection_choice injection_choice(const struct injection_rule *r)
{
    bool single = r->every == FIELD_UNSET && isnan(r->probability);
    return (struct injection_choice){.first = r->nth == FIELD_UNSET ? 1 : r->nth,
                                     .every = r->every == FIELD_UNSET ? 1 : r->every,
                                     .most = r->count != FIELD_UNSET ? r->count
                                             : single                ? 1
                                                                     : INT64_MAX};
}

int64_t injection_start_ns(const struct injection_rule *r, const int64_t phase_ns[4])
{
    return phase_ns[r->phase] + r->start_ns;
}

int64_t injection_end_ns(const struct injection_rule *r, const int64_t phase_ns[4])
{
    return r->stop_ns == FIELD_UNSET ? phase_ns[3] : phase_ns[r->phase] + r->stop_ns;
}
