#include "lib/faults/link_fault.h"
#include "lib/clock.h"
#include "lib/physics/fabric.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PORT 1000000

/* Defaults, and the same as texts. */
#define FLAPS      1
#define DOWN_SHARE 0.5
#define RETRAIN_US 100
#define WORD(x)    #x
#define TEXT(x)    WORD(x)

static const char *const kind_names[] = {"down", "flap", "rate", "loss", NULL};
const char *const link_fault_phases[] = {"warmup", "measure", "cooldown", NULL};

/* ---- checks */

static int needs_key(const char *path, const char *key, int kind, struct error *e)
{
    return error_set(e, "%s.%s is missing: a fault of kind \"%s\" needs it", path, key, kind_names[kind]);
}

/* A key that another kind has. */
static int check_foreign(const struct link_fault *f, const char *path, struct error *e)
{
    const struct {
        const char *key;
        bool given;
        int kind;
    } keys[] = {{"period", f->period_ns != FIELD_UNSET, LINK_FLAP},
                {"duty", !isnan(f->duty), LINK_FLAP},
                {"count", f->count != FIELD_UNSET, LINK_FLAP},
                {"rate", f->rate_bps != FIELD_UNSET, LINK_RATE},
                {"retrain", f->retrain_ns != FIELD_UNSET, LINK_RATE},
                {"loss", !isnan(f->loss), LINK_LOSS},
                {"bursts", f->bursts, LINK_LOSS}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].given && keys[i].kind != f->kind)
            return error_set(e, "%s.%s belongs to a fault of kind \"%s\": found the kind \"%s\"", path,
                             keys[i].key, kind_names[keys[i].kind], kind_names[f->kind]);
    return 0;
}

int link_fault_check_ends(const struct list_of *link, const char *path, struct error *e)
{
    char *const *ends = link->items;
    char name[80];
    int64_t port;
    if (link->count != 2)
        return error_set(e, "%s.link: %zu names: expected the two ends of a link", path, link->count);
    for (size_t i = 0; i < link->count; i++)
        if (link_fault_end(ends[i], name, sizeof name, &port) != 0)
            return error_set(e, "%s.link[%zu]: \"%.80s\": expected the name of a node, or NODE:PORT", path, i,
                             ends[i]);
    return 0;
}

static int check_fault(const void *object, const char *path, struct error *e)
{
    const struct link_fault *f = object;
    char start[40];
    if (check_foreign(f, path, e) != 0 || link_fault_check_ends(&f->link, path, e) != 0)
        return -1;
    if (f->stop_ns != FIELD_UNSET && f->stop_ns <= f->start_ns)
        return error_set(e, "%s.stop: the fault would end before it starts, at %s", path,
                         units_format(UNIT_TIME_NS, f->start_ns, start, sizeof start));
    if (f->kind == LINK_FLAP && f->period_ns == FIELD_UNSET)
        return needs_key(path, "period", LINK_FLAP, e);
    if (f->kind == LINK_FLAP && f->stop_ns != FIELD_UNSET)
        return error_set(e, "%s.stop: flaps end by their count: give \"count\" in its place", path);
    if (f->kind == LINK_RATE && f->rate_bps == FIELD_UNSET)
        return needs_key(path, "rate", LINK_RATE, e);
    if (f->kind == LINK_LOSS && isnan(f->loss) && !f->bursts)
        return needs_key(path, "loss", LINK_LOSS, e);
    if (!isnan(f->loss) && f->bursts)
        return error_set(e, "%s.loss: bursts have their own loss: give one of \"loss\" and \"bursts\"", path);
    return 0;
}

/* ---- the tables */

#define AT(member)  .offset = offsetof(struct link_fault_bursts, member)
#define PROBABILITY FIELD_NUMBER, .min_number = 0, .max_number = 1
static const struct field bursts_fields[] = {
    {"to_bad", PROBABILITY, AT(to_bad), .required = true,
     .help = "Probability to become bad, with each frame."},
    {"to_good", PROBABILITY, AT(to_good), .required = true,
     .help = "Probability to become good again, with each frame: bursts have 1/to_good frames on average."},
    {"loss_bad", PROBABILITY, AT(loss_bad), .fallback = "1", .help = "Probability of loss in the bad state."},
    {"loss_good", PROBABILITY, AT(loss_good), .fallback = "0",
     .help = "Probability of loss in the good state."},
    {0},
};
#undef AT
static const struct table bursts_table = {
    "scenario.fault.bursts", "Losses in bursts: the channel of Gilbert (1960) and Elliott (1963).",
    sizeof(struct link_fault_bursts), bursts_fields, NULL};

#define AT(member) .offset = offsetof(struct link_fault, member)
static const struct field fields[] = {
    {"link", FIELD_LIST, AT(link), .item = FIELD_STRING, .min = 2, .max = 3, .required = true,
     .help =
         "The two ends of the link: names of hosts or switches of the lab, or roles. NODE:PORT names one of "
         "several links; ports count from 0 in the order of the lab's links."},
    {"kind", FIELD_CHOICE, AT(kind), .choices = kind_names, .required = true,
     .help =
         "down: it carries nothing. flap: it goes down and comes back again and again. rate: it is slower. "
         "loss: frames are damaged at random, in each direction by random numbers of its own."},
    {"phase", FIELD_CHOICE, AT(phase), .choices = link_fault_phases, .fallback = "\"warmup\"",
     .help = "Phase from whose beginning start and stop count."},
    {"start", FIELD_QUANTITY, AT(start_ns), .unit = UNIT_TIME_NS, .min = 0, .max = LINK_FAULT_MOST_NS,
     .fallback = "\"0\"", .help = "When the fault begins."},
    {"stop", FIELD_QUANTITY, AT(stop_ns), .unit = UNIT_TIME_NS, .min = 1, .max = LINK_FAULT_MOST_NS,
     .help = "When it is over. Default: it lasts until the end of the run."},
    {"period", FIELD_QUANTITY, AT(period_ns), .unit = UNIT_TIME_NS, .min = 1000, .max = LINK_FAULT_MOST_NS,
     .help = "Of flaps: time from one to the next. Each begins with the link down."},
    {"duty", FIELD_NUMBER, .min_number = 0.001, .max_number = 0.999, AT(duty),
     .help = "Of flaps: the part of a period that the link is down. Default: " TEXT(DOWN_SHARE) "."},
    {"count", FIELD_INTEGER, AT(count), .min = 1, .max = LINK_FAULT_MOST_FLAPS,
     .help = "Number of flaps. Default: " TEXT(FLAPS) "."},
    {"rate", FIELD_QUANTITY, AT(rate_bps), .unit = UNIT_RATE_BPS, .min = PHYSICS_LINK_LEAST_BPS,
     .max = PHYSICS_LINK_MOST_BPS, .help = "The lower rate."},
    {"retrain", FIELD_QUANTITY, AT(retrain_ns), .unit = UNIT_TIME_NS, .min = 1000, .max = LINK_FAULT_MOST_NS,
     .help = "How long the link is down when its rate changes, at both ends of the fault. Default: " TEXT(
         RETRAIN_US) "us, an assumption."},
    {"loss", FIELD_NUMBER, .min_number = 1e-12, .max_number = 1, AT(loss),
     .help = "Probability that a frame is damaged, PFC frames included."},
    {"bursts", FIELD_OPTIONAL, AT(bursts), .sub = &bursts_table,
     .help = "Losses in bursts, in place of loss."},
    {0},
};
#undef AT
const struct table link_fault_table = {"scenario.fault", "A fault of a link. Simulated labs only.",
                                       sizeof(struct link_fault), fields, check_fault};

/* ---- values, with their defaults */

int64_t link_fault_flaps(const struct link_fault *f)
{
    return f->count == FIELD_UNSET ? FLAPS : f->count;
}

int64_t link_fault_flap_down_ns(const struct link_fault *f)
{
    return llround((double)f->period_ns * (isnan(f->duty) ? DOWN_SHARE : f->duty));
}

int64_t link_fault_retrain_ns(const struct link_fault *f)
{
    return f->retrain_ns == FIELD_UNSET ? RETRAIN_US * NS_PER_US : f->retrain_ns;
}

/* ---- times */

int64_t link_fault_start_ns(const struct link_fault *f, const int64_t phase_ns[4])
{
    return phase_ns[f->phase] + f->start_ns;
}

int64_t link_fault_end_ns(const struct link_fault *f, const int64_t phase_ns[4])
{
    int64_t start_ns = link_fault_start_ns(f, phase_ns);
    if (f->kind == LINK_FLAP)
        return start_ns + link_fault_flaps(f) * f->period_ns;
    if (f->stop_ns != FIELD_UNSET)
        return phase_ns[f->phase] + f->stop_ns;
    /* the run ends before the fault begins, which is refused elsewhere: any end will do */
    return start_ns < phase_ns[3] ? phase_ns[3] : start_ns + NS_PER_S;
}

/* ---- ends */

int link_fault_end(const char *text, char *name, size_t size, int64_t *port)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    char *rest = NULL;
    *port = -1;
    if (!length || length >= size)
        return -1;
    memcpy(name, text, length);
    name[length] = 0;
    if (!colon)
        return 0;
    if (colon[1] < '0' || colon[1] > '9' || strlen(colon) > 8)
        return -1;
    *port = strtoll(colon + 1, &rest, 10);
    return *rest || *port > MOST_PORT ? -1 : 0;
}
