#include "lib/formats/settings.h"
#include "lib/formats/lab_words.h"
#include "lib/physics/fabric.h"
#include "lib/roce/congestion_control.h"
#include <stdlib.h>
#include <string.h>

#define BITS(n) ((1LL << (n)) - 1)

static const char *const trust_names[] = {"pcp", "dscp", NULL};
static const char *const selection_names[] = {"strict", "credit", "ets", "vendor", NULL};
static const char *const red_at_names[] = {"egress", "ingress", NULL};
const char *const congestion_control_names[] = {CONGESTION_CONTROLS(CONGESTION_CONTROL_NAME) NULL};
static const char *const kind_names[] = {"device", "bridge", "absent", "vlan", NULL};

static int check_red(const void *object, const char *path, struct error *e)
{
    const struct settings_red *red = object;
    if (red->min_bytes >= red->max_bytes)
        return error_set(e, "%s: min %lld is not below max %lld (bytes of average queue)", path,
                         (long long)red->min_bytes, (long long)red->max_bytes);
    if (red->limit_bytes < red->max_bytes)
        return error_set(
            e, "%s: limit %lld is below max %lld: RED would never reach its full marking probability", path,
            (long long)red->limit_bytes, (long long)red->max_bytes);
    return 0;
}

static int check_ecn_threshold(const void *object, const char *path, struct error *e)
{
    const struct settings_ecn_threshold *ecn = object;
    if (ecn->kmin_bytes > ecn->kmax_bytes)
        return error_set(e, "%s: kmin %lld is above kmax %lld", path, (long long)ecn->kmin_bytes,
                         (long long)ecn->kmax_bytes);
    return 0;
}

static int check_settings(const void *object, const char *path, struct error *e)
{
    const struct settings *settings = object;
    char *const *addresses = settings->addresses.items;
    for (size_t i = 0; i < settings->addresses.count; i++)
        if (!strchr(addresses[i], '/') || !address_is_ip(addresses[i]))
            return error_set(
                e,
                "%s%saddresses[%zu]: \"%.60s\" is not an address with a prefix length, such as 10.0.0.1/24",
                path, *path ? "." : "", i, addresses[i]);
    return 0;
}

static int check_ets(const void *object, const char *path, struct error *e)
{
    const struct settings_ets *ets = object;
    const int64_t *weights = ets->weights.items;
    int64_t sum = 0;
    for (size_t i = 0; i < ets->weights.count; i++)
        sum += weights[i];
    if (sum != 0 && sum != 100)
        return error_set(e, "%s.weights: they add up to %lld, expected 100 (or all 0: strict priority)", path,
                         (long long)sum);
    return 0;
}

#define AT(member) .offset = offsetof(struct settings_ets, member)
static const struct field ets_fields[] = {
    {"prio_to_tc", FIELD_MAP, AT(prio_to_tc), .item = FIELD_INTEGER, .names = &form_priority, .min = 0,
     .max = 7, .help = "Traffic class of each priority."},
    {"weights", FIELD_LIST, AT(weights), .item = FIELD_INTEGER, .min = 0, .max = 100,
     .help = "Weight of each traffic class, in per cent; 0: strict priority."},
    {"selection", FIELD_LIST, AT(selection), .item = FIELD_CHOICE, .choices = selection_names,
     .help = "Transmission selection of each traffic class. Default: ets if the class has a weight, else "
             "strict."},
    {0},
};
#undef AT
static const struct table ets_table = {"settings.ets", "Enhanced transmission selection (IEEE 802.1Qaz).",
                                       sizeof(struct settings_ets), ets_fields, check_ets};

/* A number of 32 bits. */
static bool is_kernel_priority(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits >= 1 && digits <= 10 && text[digits] == '\0' && (digits == 1 || *text != '0') &&
           (digits < 10 || strcmp(text, "4294967295") <= 0);
}

static const struct form form_kernel_priority = {
    "a priority of the kernel's packets", "a number from 0 to 4294967295", .fits = is_kernel_priority,
    .pattern = "[0-9]|[1-9][0-9]{1,8}|[1-3][0-9]{9}|4([01][0-9]{8}|2([0-8][0-9]{7}|9([0-3][0-9]{6}|"
               "4([0-8][0-9]{5}|9([0-5][0-9]{4}|6([0-6][0-9]{3}|7([01][0-9]{2}|2([0-8][0-9]|9[0-5]))))))))"};

#define AT(member) .offset = offsetof(struct settings_vlan, member)
static const struct field vlan_fields[] = {
    {"of", FIELD_STRING, AT(of), .required = true, .help = "The interface whose frames get the tag."},
    {"id", FIELD_INTEGER, AT(id), .min = 1, .max = 4094, .required = true, .help = "VLAN identifier."},
    {"egress", FIELD_MAP, AT(egress), .item = FIELD_INTEGER, .names = &form_kernel_priority, .min = 0,
     .max = 7,
     .help = "Priority in the tag (PCP) of each priority of the kernel's packets; without an entry it is 0."},
    {0},
};
#undef AT
static const struct table vlan_table = {"settings.vlan", "A VLAN interface (IEEE 802.1Q).",
                                        sizeof(struct settings_vlan), vlan_fields, NULL};

#define AT(member) .offset = offsetof(struct settings_red, member)
static const struct field red_fields[] = {
    {"at", FIELD_CHOICE, AT(at), .choices = red_at_names, .fallback = "\"egress\"",
     .help = "Direction: packets that the interface sends, or packets that it receives. Received packets "
             "pass through an ifb interface."},
    {"limit", FIELD_QUANTITY, AT(limit_bytes), .unit = UNIT_BYTES, .min = 1, .max = BITS(31),
     .required = true, .help = "Hard limit of the queue length."},
    {"min", FIELD_QUANTITY, AT(min_bytes), .unit = UNIT_BYTES, .min = 1, .max = BITS(31), .required = true,
     .help = "Average queue length at which marking begins."},
    {"max", FIELD_QUANTITY, AT(max_bytes), .unit = UNIT_BYTES, .min = 1, .max = BITS(31), .required = true,
     .help = "Average queue length at which the full probability is reached."},
    {"avpkt", FIELD_QUANTITY, AT(avpkt_bytes), .unit = UNIT_BYTES, .min = 1, .max = 65535,
     .fallback = "\"1000B\"", .help = "Average packet size."},
    {"burst", FIELD_INTEGER, AT(burst), .min = 1, .max = 65535,
     .help = "Packets that may pass in a burst. Default: (2*min + max) / (3*avpkt), as in tc."},
    {"bandwidth", FIELD_QUANTITY, AT(bandwidth_bps), .unit = UNIT_RATE_BPS, .min = 8000, .max = 1LL << 43,
     .fallback = "\"10Mb/s\"",
     .help = "Rate at which the queue drains. Used to update the average while the queue is idle."},
    {"probability", FIELD_NUMBER, AT(probability), .min_number = 0, .max_number = 1, .fallback = "0.02",
     .help = "Marking probability at max."},
    {"ecn", FIELD_BOOL, AT(ecn), .fallback = "true", .help = "Mark packets instead of dropping them."},
    {"roce_only", FIELD_BOOL, AT(roce_only), .fallback = "false",
     .help = "Apply RED only to RoCE (UDP port 4791)."},
    {"shape", FIELD_QUANTITY, AT(shape_bps), .unit = UNIT_RATE_BPS, .min = 8000, .max = 1LL << 43,
     .help = "Rate of an htb class that contains the RED qdisc. Default: no htb class."},
    {"wlog", FIELD_INTEGER, AT(wlog), .min = 0, .max = 31,
     .help = "Weight of the average, as a power of two. Computed from min, avpkt and burst; cannot be set."},
    {"plog", FIELD_INTEGER, AT(plog), .min = 0, .max = 31,
     .help = "Slope of the probability, as a power of two. Computed; cannot be set."},
    {"scell_log", FIELD_INTEGER, AT(scell_log), .min = 0, .max = 31,
     .help = "Step of the idle time, as a power of two. Computed from avpkt and bandwidth; cannot be set."},
    {0},
};
#undef AT
static const struct table red_table = {"settings.red",
                                       "Kernel RED on the egress of a forwarding host (tc-red).",
                                       sizeof(struct settings_red), red_fields, check_red};

#define AT(member) .offset = offsetof(struct settings_ecn_threshold, member)
static const struct field ecn_threshold_fields[] = {
    {"kmin", FIELD_QUANTITY, AT(kmin_bytes), .unit = UNIT_BYTES, .min = 0, .max = BITS(40), .required = true,
     .help = "Queue length above which packets are marked with a probability."},
    {"kmax", FIELD_QUANTITY, AT(kmax_bytes), .unit = UNIT_BYTES, .min = 0, .max = BITS(40), .required = true,
     .help = "Queue length above which every packet is marked."},
    {"pmax", FIELD_NUMBER, AT(pmax), .min_number = 0, .max_number = 1, .required = true,
     .help = "Marking probability at kmax."},
    {0},
};
#undef AT
static const struct table ecn_threshold_table = {
    "settings.ecn_threshold", "ECN marking of a switch's egress queues.",
    sizeof(struct settings_ecn_threshold), ecn_threshold_fields, check_ecn_threshold};

#undef AT
#define AT(member) .offset = offsetof(struct settings_watchdog, member)
const char *const settings_watchdog_action_names[] = {"drop", "forward", "alert", NULL};
static const struct field watchdog_fields[] = {
    {"detect", FIELD_QUANTITY, AT(detect_ns), .unit = UNIT_TIME_NS, .min = 0, .max = 60 * BITS(30),
     .required = true,
     .help = "A queue that is paused for this time is in a pause storm, at least 1us; 0: no watchdog."},
    {"restore", FIELD_QUANTITY, AT(restore_ns), .unit = UNIT_TIME_NS, .min = 0, .max = 60 * BITS(30),
     .help = "Time without a pause after which the storm is over. Default: twice detect."},
    {"action", FIELD_CHOICE, AT(action), .choices = settings_watchdog_action_names, .fallback = "\"drop\"",
     .help = "What happens to the queue's packets during the storm: they are dropped, or sent despite the "
             "pause, or (alert) nothing."},
    {0},
};
/* As of a lab's switch. */
static int check_watchdog(const void *object, const char *path, struct error *e)
{
    const struct settings_watchdog *watchdog = object;
    if (!watchdog->detect_ns || watchdog->detect_ns * 1000 >= PHYSICS_WATCHDOG_LEAST_PS)
        return 0;
    return error_set(e, "%s.detect: %lld ns is out of range: expected 0 for no watchdog, or at least 1us",
                     path, (long long)watchdog->detect_ns);
}

static const struct table watchdog_table = {"settings.watchdog", "PFC watchdog of a switch's ports.",
                                            sizeof(struct settings_watchdog), watchdog_fields,
                                            check_watchdog};

#define SETTINGS_FIELD(type, member, key, known, kind, ...) \
    {key, kind, .offset = offsetof(struct settings, member), __VA_ARGS__},
static const struct field settings_fields[] = {SETTINGS_ROWS(SETTINGS_FIELD){0}};

#define UNPACK(...)                                            __VA_ARGS__
#define SETTINGS_KNOWN(type, member, document_key, known, ...) {.key = document_key, .nodes = UNPACK known},
const struct setting settings_known[] = {SETTINGS_ROWS(SETTINGS_KNOWN){0}};

const struct setting *settings_find(const char *key)
{
    for (const struct setting *s = settings_known; s->key; s++)
        if (strcmp(s->key, key) == 0)
            return s;
    return NULL;
}

const struct table settings_table = {"settings",
                                     "Settings of a host. Settings that are not named are not changed.",
                                     sizeof(struct settings), settings_fields, check_settings};
