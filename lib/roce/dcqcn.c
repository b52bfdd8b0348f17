#include "lib/roce/dcqcn.h"

#include "lib/document/json_text.h"

#define BOOLEAN_BOOL    true
#define BOOLEAN_INTEGER false

/* ---- expansions of the rows */

/* The point is a member of the struct. NOLINTBEGIN(bugprone-macro-parentheses) */
#define PARAMETER(point, kind, name, ofed, upstream, least, most, standard, unit, simulated, meaning) \
    {#point,         #name,    ofed, upstream, least,                                                 \
     most,           standard, unit, meaning,  offsetof(struct dcqcn_values, point.name),             \
     BOOLEAN_##kind, simulated},
/* NOLINTEND(bugprone-macro-parentheses) */
#define PARAMETER_RP(...) PARAMETER(rp, __VA_ARGS__)
#define PARAMETER_NP(...) PARAMETER(np, __VA_ARGS__)
const struct dcqcn_parameter dcqcn_parameters[] = {
    DCQCN_RP_ROWS(PARAMETER_RP) DCQCN_NP_ROWS(PARAMETER_NP){0},
};

#define FIELD(in, kind, name, least, most, meaning) \
    {#name, FIELD_##kind, offsetof(struct in, name), .min = (least), .max = (most), .help = (meaning)},
#define FIELD_OF_RP(kind, name, ofed, upstream, least, most, standard, unit, simulated, meaning) \
    FIELD(dcqcn_rp, kind, name, least, most, meaning)
#define FIELD_OF_NP(kind, name, ofed, upstream, least, most, standard, unit, simulated, meaning) \
    FIELD(dcqcn_np, kind, name, least, most, meaning)
static const struct field rp_fields[] = {DCQCN_RP_ROWS(FIELD_OF_RP){0}};
static const struct field np_fields[] = {DCQCN_NP_ROWS(FIELD_OF_NP){0}};

static const struct table rp_table = {"settings.dcqcn.rp", "DCQCN reaction point (the sender's side).",
                                      sizeof(struct dcqcn_rp), rp_fields, NULL};
static const struct table np_table = {"settings.dcqcn.np", "DCQCN notification point (the receiver's side).",
                                      sizeof(struct dcqcn_np), np_fields, NULL};
static const struct field points[] = {
    {"rp", FIELD_OBJECT, offsetof(struct dcqcn_values, rp), .sub = &rp_table, .help = "Reaction point."},
    {"np", FIELD_OBJECT, offsetof(struct dcqcn_values, np), .sub = &np_table, .help = "Notification point."},
    {0},
};
const struct table dcqcn_table = {"settings.dcqcn", "DCQCN parameters with mlx5's names.",
                                  sizeof(struct dcqcn_values), points, NULL};

/* ---- values */

int64_t dcqcn_get(const struct dcqcn_values *values, const struct dcqcn_parameter *parameter)
{
    const void *at = (const char *)values + parameter->offset;
    if (!parameter->boolean)
        return *(const int64_t *)at;
    return *(const int *)at < 0 ? FIELD_UNSET : *(const int *)at;
}

void dcqcn_set(struct dcqcn_values *values, const struct dcqcn_parameter *parameter, int64_t value)
{
    void *at = (char *)values + parameter->offset;
    if (parameter->boolean)
        *(int *)at = value == FIELD_UNSET ? -1 : value != 0;
    else
        *(int64_t *)at = value;
}

json_t *dcqcn_value_json(const struct dcqcn_parameter *parameter, int64_t value)
{
    return parameter->boolean ? json_boolean(value != 0) : json_integer(value);
}

void dcqcn_defaults(struct dcqcn_values *values)
{
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++)
        dcqcn_set(values, p, p->standard);
}

const char *const dcqcn_profile_names[] = {"driver", "slow-recovery", NULL};

/* Fitted to a ConnectX-5, whose driver cannot show what its firmware runs with (openfabric-systems/simllm,
 * September 2026). A rate grows by 1 Mb/s for each nic.byte_reset that is sent, of the model 130 kB, and by
 * 1 Mb/s in 130 us; by nothing else. Four queue pairs that share 50 Gb/s gain 0.1 Gb/s a millisecond so and
 * are back at 95 % after 440 ms (S-5.02, S-5.03). As most of it is in proportion to the rate, each of N queue
 * pairs needs about as many cuts a second with any N (S-4.02: 283 CNPs/s of each). The interval and weight of
 * alpha were chosen for that number: alpha is small where CNPs are rare. Where it begins is what a queue pair
 * alone loses by each of its bursts of loss, about 30 % (S-1.10, S-1.11), and the time after which a sender
 * gives way to another (S-5.01). Decreases are at least 200 us apart: a rate that comes back this slowly must
 * not fall by every mark of a queue. */
static void set_slow_recovery(struct dcqcn_rp *rp)
{
    rp->clamp_tgt_rate = true;
    rp->rpg_time_reset = 130;
    rp->rpg_threshold = 0;
    rp->rpg_ai_rate = rp->rpg_hai_rate = 1;
    rp->dce_tcp_g = 1021;
    rp->dce_tcp_rtt = 3;
    rp->rate_reduce_monitor_period = 200;
    rp->initial_alpha_value = 400;
}

void dcqcn_profile_values(enum dcqcn_profile profile, struct dcqcn_values *values)
{
    dcqcn_defaults(values);
    if (profile == DCQCN_PROFILE_SLOW_RECOVERY)
        set_slow_recovery(&values->rp);
}

void dcqcn_merge(struct dcqcn_values *to, const struct dcqcn_values *from)
{
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++)
        if (dcqcn_get(from, p) != FIELD_UNSET)
            dcqcn_set(to, p, dcqcn_get(from, p));
}

json_t *dcqcn_simulated_json(const struct dcqcn_values *values)
{
    json_t *json = json_make("{s:{},s:{}}", "rp", "np");
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++)
        if (p->simulated)
            json_object_set_new(json_object_get(json, p->point), p->name,
                                dcqcn_value_json(p, dcqcn_get(values, p)));
    return json;
}
