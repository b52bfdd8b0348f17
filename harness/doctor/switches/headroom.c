/* Does what arrives after XOFF fit above the threshold? */
#include "harness/doctor/switches/switch.h"

#include "lib/physics/fabric.h"
#include "lib/roce/thresholds.h"
#include "lib/text.h"
#include <inttypes.h>
#include <string.h>

/* On the wire besides the MTU: Ethernet header and checksum, preamble and the gap (IEEE 802.3). */
#define FRAME_BESIDES INT64_C(38)
#define PAUSE_BYTES   INT64_C(84) /* a frame of the least size, with preamble and gap */

struct headroom {
    const struct doctor_subject *x;
    const struct sonic_buffer *buffer;
    int priority, group;
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The lab and the switch may both say how long the cable is; not given, which are the least numbers, where
 * neither does. */
static int64_t cable_mm(const struct switch_end *end)
{
    return larger(end->port->cable_mm, end->link->length_mm);
}

static void report_headroom(const struct headroom *h, const char *verdict, const char *fix, const char *words)
{
    struct text reason = {0};
    switch_describe_end(h->x->end, &reason);
    text_add(&reason, ", priority %d: %s", h->priority, words);
    doctor_add(h->x->entries, h->x->end->of->name, "headroom", verdict, fix, "%s", text_string(&reason));
    doctor_add_evidence(h->x->entries, "%s: BUFFER_PG|%s|%d%s%s, CABLE_LENGTH", h->x->end->from,
                        h->x->end->port->name, h->group, *h->buffer->profile ? ", BUFFER_PROFILE|" : "",
                        h->buffer->profile);
    text_free(&reason);
}

/* With the dynamic buffer model the switch computes the headroom from the length that it knows. */
static void examine_computed(const struct headroom *h)
{
    const struct switch_end *end = h->x->end;
    struct text words = {0};
    bool unread = end->port->cable_mm == SONIC_UNREAD, unknown = !sonic_is_given(end->port->cable_mm),
         longer = end->link->length_mm > end->port->cable_mm;
    text_add(&words, "the switch computes the headroom of group %d for a cable ", h->group);
    if (unknown)
        text_add(&words,
                 unread ? "whose length was not understood" : "whose length CABLE_LENGTH does not say");
    else
        switch_describe_length(end->port->cable_mm, &words);
    if (!unknown)
        text_add(&words, " long");
    if (!unknown && longer) {
        text_add(&words, "; by the lab it is ");
        switch_describe_length(end->link->length_mm, &words);
    }
    report_headroom(h,
                    unread              ? "unknown"
                    : unknown || longer ? "warning"
                                        : "ok",
                    unknown || longer ? "config interface cable-length PORT LENGTH" : NULL,
                    text_string(&words));
    text_free(&words);
}

/* The frames are the host's. Where its MTU is not known they may be as long as the port allows, and whether
 * what is too little for those suffices is not known. What mlx5 keeps in its own buffers is more than most
 * vendors of switches state: it is told beside the least, not compared. */
static void compare_headroom(const struct headroom *h, int64_t speed_Mbps, int64_t mtu)
{
    const int64_t mm = cable_mm(h->x->end), xoff = h->buffer->xoff_bytes;
    const struct thresholds_port port = {
        .cable_m = (mm + 999) / 1000, .speed_Mbps = speed_Mbps, .mtu = mtu, .max_mtu = mtu};
    bool of_host = h->x->end->host_mtu != FIELD_UNSET;
    int64_t least = thresholds_in_flight(speed_Mbps * 1000000, mm * PHYSICS_CABLE_PS_PER_MM,
                                         mtu + FRAME_BESIDES, PAUSE_BYTES);
    int64_t mlx5 = thresholds_mlx5_headroom(&port);
    struct text words = {0}, fix = {0};
    text_add(&words, "profile %s of group %d keeps %" PRId64 " bytes (xoff) for what arrives after XOFF; at ",
             h->buffer->profile, h->group, xoff);
    switch_describe_rate(speed_Mbps, &words);
    text_add(&words, " over ");
    switch_describe_length(mm, &words);
    text_add(&words,
             " with the %s MTU of %" PRId64 " these are at least %" PRId64
             " bytes, and the mlx5 driver keeps %" PRId64 " for such a port",
             of_host ? "host's" : "port's", mtu, least, mlx5);
    if (xoff < least)
        text_add(&words,
                 of_host
                     ? ": packets are lost although PFC is on"
                     : ": packets as long as that are lost although PFC is on; the host's MTU is not known");
    text_add(&fix,
             "xoff of at least %" PRId64 " in BUFFER_PROFILE|%s; with the dynamic buffer model, "
             "config interface cable-length %s LENGTH",
             least, h->buffer->profile, h->x->end->port->name);
    report_headroom(h,
                    xoff >= least ? "ok"
                    : of_host     ? "failure"
                                  : "unknown",
                    xoff < least ? text_string(&fix) : NULL, text_string(&words));
    text_free(&words);
    text_free(&fix);
}

static void examine_stated(const struct headroom *h)
{
    const struct switch_end *end = h->x->end;
    const struct sonic_port *p = end->port;
    int64_t speed = p->speed_Mbps != FIELD_UNSET         ? p->speed_Mbps
                    : end->link->rate_bps != FIELD_UNSET ? end->link->rate_bps / 1000000
                                                         : FIELD_UNSET;
    int64_t mtu = end->host_mtu != FIELD_UNSET ? end->host_mtu : end->port->mtu;
    if (h->buffer->xoff_bytes == SONIC_UNREAD)
        report_headroom(h, "unknown", NULL, "xoff of its priority group's profile was not understood");
    else if (h->buffer->xoff_bytes == FIELD_UNSET || h->buffer->xoff_bytes == 0)
        report_headroom(
            h, "failure", "give the group a lossless profile, with xoff: BUFFER_PG",
            "its priority group has a profile without headroom (xoff): packets are lost although PFC is on");
    else if (speed == SONIC_UNREAD || mtu == SONIC_UNREAD || p->cable_mm == SONIC_UNREAD)
        report_headroom(
            h, "unknown", NULL,
            speed == SONIC_UNREAD ? "whether its headroom suffices is not known: the port's speed "
                                    "was not understood (PORT)"
            : mtu == SONIC_UNREAD ? "whether its headroom suffices is not known: the port's MTU was "
                                    "not understood (PORT)"
                                  : "whether its headroom suffices is not known: the length of the "
                                    "port's cable was not understood (CABLE_LENGTH)");
    else if (speed == FIELD_UNSET || !sonic_is_given(mtu) || !sonic_is_given(cable_mm(end)))
        report_headroom(
            h, "unknown", "state the link's rate and length in the lab",
            "whether its headroom suffices is not known: the port's speed, MTU or cable length is not "
            "stated");
    else
        compare_headroom(h, speed, mtu);
}

/* The switch itself makes these entries when a port comes up: a file that was saved may lack them. */
static void examine_absent(const struct headroom *h)
{
    if (h->x->end->recorded)
        report_headroom(h, "unknown", "record the running configuration: sonic-cfggen -d --print-data",
                        "BUFFER_PG has no profile for its group in this file");
    else
        report_headroom(
            h, "failure", "config interface cable-length PORT LENGTH; BUFFER_PG must have the group",
            "BUFFER_PG has no profile for its group: no headroom, and packets are lost although PFC is on");
}

static void examine_group(const struct headroom *h)
{
    if (h->group == SONIC_UNREAD_CLASS)
        report_headroom(h, "unknown", NULL,
                        "its priority group was not understood (TC_TO_PRIORITY_GROUP_MAP)");
    else if (sonic_is_unread(h->buffer->profile) || h->buffer->described == SONIC_UNKNOWN)
        report_headroom(h, "unknown", NULL, "the profile of its priority group was not understood");
    else if (!*h->buffer->profile)
        examine_absent(h);
    else if (strcmp(h->buffer->profile, "NULL") == 0)
        examine_computed(h);
    else if (!h->buffer->described)
        report_headroom(h, h->x->end->recorded ? "unknown" : "failure",
                        "BUFFER_PROFILE must have what BUFFER_PG names",
                        "BUFFER_PROFILE lacks the profile that BUFFER_PG names");
    else
        examine_stated(h);
}

static void examine_headroom(const struct doctor_subject *x)
{
    const struct switch_end *end = x->end;
    static const struct sonic_buffer none = {.xoff_bytes = FIELD_UNSET};
    if (end->port->has_pfc == SONIC_UNKNOWN)
        switch_report_pfc_unread(x, "headroom");
    for (int priority = 0; priority < SONIC_PRIORITIES; priority++) {
        int group = end->port->tc_to_pg[priority];
        struct headroom h = {x, NULL, priority, group};
        if (!(end->port->pfc >> priority & 1))
            continue;
        h.buffer = group >= 0 ? &end->port->pg[group] : &none;
        examine_group(&h);
    }
}

const struct doctor_check doctor_switch_headroom = {.name = "headroom",
                                                    .scope = DOCTOR_PORT,
                                                    .when = DOCTOR_EXAMINES,
                                                    .needs = DOCTOR_NEEDS_PORT,
                                                    .examine = examine_headroom};
