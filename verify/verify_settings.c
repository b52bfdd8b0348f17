#include "verify/verify_settings.h"

#include "lib/document/json_file.h"
#include <arpa/inet.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *const verify_recovery_names[] = {"adaptive-retransmission", "selective-repeat",
                                             "out-of-order-placement", NULL};

#define AT(member) .offset = offsetof(struct verify_port, member)
static const struct field port_fields[] = {
    {"interfaces", FIELD_LIST, AT(interfaces), .item = FIELD_STRING, .min = 1, .max = 65536, .required = true,
     .help = "Names of the capture's interfaces, or globs such as \"h0:*\"."},
    {"settings", FIELD_OBJECT, AT(settings), .sub = &settings_table,
     .help = "In place of the settings of all."},
    {"ack_timeout", FIELD_QUANTITY, AT(ack_timeout_ns), .unit = UNIT_TIME_NS, .min = 1,
     .max = INT64_C(1) << 50, .help = "Default: that of all."},
    {"nak_delay", FIELD_QUANTITY, AT(nak_delay_ns), .unit = UNIT_TIME_NS, .min = 0, .max = INT64_C(1) << 50,
     .help = "Default: that of all."},
    {"nak_again", FIELD_QUANTITY, AT(nak_again_ns), .unit = UNIT_TIME_NS, .min = 0, .max = INT64_C(1) << 50,
     .help = "Default: that of all."},
    {"recovery", FIELD_LIST, AT(recovery), .item = FIELD_CHOICE, .choices = verify_recovery_names, .min = 0,
     .max = RECOVERIES, .help = "Default: that of all."},
    {"byte_reset", FIELD_QUANTITY, AT(byte_reset_bytes), .unit = UNIT_BYTES, .min = 0, .max = 1 << 30,
     .help = "Default: that of all."},
    {"cnp_pacing", FIELD_CHOICE, AT(cnp_pacing), .choices = physics_pacing_names,
     .help = "Default: that of all."},
    {"unmarked_cnps", FIELD_BOOL, AT(unmarked_cnps), .help = "Default: that of all."},
    {0},
};
#undef AT
static const struct table port_table = {.name = "verify.port",
                                        .size = sizeof(struct verify_port),
                                        .fields = port_fields,
                                        .help = "Settings of some ports."};

#define AT(member) .offset = offsetof(struct verify_threshold, member)
static const struct field threshold_fields[] = {
    {"interfaces", FIELD_LIST, AT(interfaces), .item = FIELD_STRING, .min = 1, .max = 65536, .required = true,
     .help = "Names of the capture's interfaces, or globs such as \"leaf0:*\"."},
    {"kmin", FIELD_QUANTITY, AT(kmin_bytes), .unit = UNIT_BYTES, .min = 0, .max = INT64_C(1) << 40,
     .required = true, .help = "Length of an egress queue up to which nothing is marked."},
    {0},
};
#undef AT
static const struct table threshold_table = {.name = "verify.ecn_threshold",
                                             .size = sizeof(struct verify_threshold),
                                             .fields = threshold_fields,
                                             .help = "From where on ports mark (ECN)."};

#define AT(member) .offset = offsetof(struct verify_settings, member)
static const struct field fields[] = {
    {"schema", FIELD_INTEGER, AT(schema), .min = 1, .max = 1, .fallback = "1",
     .help = "Version of this format: 1."},
    {"settings", FIELD_OBJECT, AT(settings), .sub = &settings_table,
     .help =
         "The hosts' settings, as in a scenario: pfc, trust, dscp_to_prio, ecn, dcqcn, prio_to_buffer and "
         "others are compared with what is seen. What is not given is not judged."},
    {"hosts", FIELD_LIST, AT(hosts), .item = FIELD_STRING, .min = 0, .max = 65536,
     .help = "IP addresses of the hosts at whose ports the packets were captured. A pcapng may say it itself "
             "(if_MACaddr)."},
    {"link_rate", FIELD_QUANTITY, AT(rate_bps), .unit = UNIT_RATE_BPS, .min = CAPTURE_LEAST_BPS,
     .max = CAPTURE_MOST_BPS, .help = "Rate of the links, over what the capture says (if_speed)."},
    {"ack_timeout", FIELD_QUANTITY, AT(ack_timeout_ns), .unit = UNIT_TIME_NS, .min = 1,
     .max = INT64_C(1) << 50, .help = "Time after which a queue pair sends again what was not acknowledged."},
    {"nak_delay", FIELD_QUANTITY, AT(nak_delay_ns), .unit = UNIT_TIME_NS, .min = 0, .max = INT64_C(1) << 50,
     .help = "Time after which a NIC asks for a missing packet, over the 100us that any may take. Not given: "
             "whether a NAK was late is left open, up to 1ms."},
    {"nak_again", FIELD_QUANTITY, AT(nak_again_ns), .unit = UNIT_TIME_NS, .min = 0, .max = INT64_C(1) << 50,
     .help = "Time after a NAK from which on a NIC asks once more for the same packet, if others come before "
             "it; 0: "
             "it does not. Not given: whether such NAKs were due is left open, from 100us on."},
    {"recovery", FIELD_LIST, AT(recovery), .item = FIELD_CHOICE, .choices = verify_recovery_names, .min = 0,
     .max = RECOVERIES,
     .help =
         "What NICs do beside go-back-N as the specification has it; an empty list: nothing. Not given: what "
         "the capture shows is allowed, and said."},
    {"byte_reset", FIELD_QUANTITY, AT(byte_reset_bytes), .unit = UNIT_BYTES, .min = 0, .max = 1 << 30,
     .help = "Bytes between rate increases, for values that exceed rpg_byte_reset's 15 bits."},
    {"cnp_pacing", FIELD_CHOICE, AT(cnp_pacing), .choices = physics_pacing_names,
     .help = "What min_time_between_cnps holds for: a queue pair, or all of a port. Not given: what either "
             "allows is right."},
    {"unmarked_cnps", FIELD_BOOL, AT(unmarked_cnps),
     .help =
         "NICs send CNPs for lost packets or a full port, too, as a ConnectX-5 was seen to: one without a "
         "marked packet is counted. Not given: it is counted, with its likely cause. false: it is a "
         "finding."},
    {"times", FIELD_BOOL, AT(times), .fallback = "true",
     .help = "Times of the capture are those of the wire. Without, only what needs no time is judged."},
    {"complete", FIELD_BOOL, AT(complete), .fallback = "false",
     .help = "The capture has all packets of its ports. Otherwise what only a fault or a missing packet can "
             "explain, such as the ACK of a packet that was not seen, is taken for a missing packet."},
    {"some_flows", FIELD_BOOL, AT(some_flows), .fallback = "false",
     .help = "Frames of other flows were left out of the capture: what is in it may have waited for them."},
    {"links_down", FIELD_BOOL, AT(links_down), .fallback = "false",
     .help = "Links were down or slower for a time: what waited for them came late, as with pauses in the "
             "capture."},
    {"priorities", FIELD_LIST, AT(priorities), .item = FIELD_INTEGER, .min = 0, .max = 7,
     .help = "Frames of other priorities were left out of the capture. Not given: of none."},
    {"storm", FIELD_QUANTITY, AT(storm_ns), .unit = UNIT_TIME_NS, .min = 1, .max = INT64_C(1) << 50,
     .fallback = "\"100ms\"", .help = "A pause that lasts this long without a break is a pause storm."},
    {"deadlock", FIELD_QUANTITY, AT(deadlock_ns), .unit = UNIT_TIME_NS, .min = 1, .max = INT64_C(1) << 50,
     .fallback = "\"1ms\"",
     .help = "Ports that are paused, send nothing for this time and wait for each other are in a deadlock."},
    {"paused_share", FIELD_NUMBER, .min_number = 0, .max_number = 1, AT(paused_share),
     .help = "A priority of a port is paused for at most this part of the time."},
    {"pauses_per_s", FIELD_NUMBER, .min_number = 0, .max_number = 1e9, AT(pauses_per_s),
     .help = "The most pause frames per second that a priority of a port gets, repeated ones too."},
    {"paused_window", FIELD_QUANTITY, AT(paused_window_ns), .unit = UNIT_TIME_NS, .min = 1,
     .max = INT64_C(1) << 50, .fallback = "\"10ms\"",
     .help = "The time over which paused_share is judged, and the shortest one for pauses_per_s."},
    {"ports", FIELD_LIST, AT(ports), .item = FIELD_OBJECT, .sub = &port_table, .min = 0, .max = 65536,
     .help = "Ports whose settings differ from those of all. The first one that names an interface counts."},
    {"ecn_thresholds", FIELD_LIST, AT(ecn_thresholds), .item = FIELD_OBJECT, .sub = &threshold_table,
     .min = 0, .max = 65536,
     .help = "Ports of switches that mark, all of whose frames are in the capture, and those of the "
             "switches' other ports. The first one that names an interface counts."},
    {0},
};
#undef AT
const struct table verify_settings_table = {.name = "verify",
                                            .size = sizeof(struct verify_settings),
                                            .fields = fields,
                                            .help = "What harness verify must know beyond the packets."};

static int add_addresses(struct verify_settings *s, const struct list_of *from, struct error *e)
{
    char *const *words = from->items;
    for (size_t i = 0; i < from->count; i++) {
        uint8_t address[16] = {0};
        if (inet_pton(strchr(words[i], ':') ? AF_INET6 : AF_INET, words[i], address) != 1)
            return error_set(e, "hosts: \"%.60s\" is not an IP address, such as 10.0.0.1", words[i]);
        memcpy(s->addresses[s->address_count++], address, sizeof address);
    }
    return 0;
}

static int take_addresses(struct verify_settings *s, const struct list_of *more, struct error *e)
{
    size_t count = s->hosts.count + (more ? more->count : 0);
    s->addresses = calloc(count + 1, sizeof *s->addresses);
    if (!s->addresses)
        return error_set(e, "out of memory for %zu addresses", count);
    if (add_addresses(s, &s->hosts, e) != 0)
        return -1;
    return more ? add_addresses(s, more, e) : 0;
}

static int take_ports(struct verify_settings *s, struct error *e)
{
    const struct verify_port *ports = s->ports.items;
    s->of_ports = calloc(s->ports.count + 1, sizeof *s->of_ports);
    if (!s->of_ports)
        return error_set(e, "out of memory for %zu ports", s->ports.count);
    for (size_t i = 0; i < s->ports.count; i++) {
        struct verify_settings *of = &s->of_ports[i];
        *of = *s;
        of->own = true;
        of->settings = ports[i].settings;
        of->ack_timeout_ns =
            ports[i].ack_timeout_ns != FIELD_UNSET ? ports[i].ack_timeout_ns : s->ack_timeout_ns;
        of->nak_delay_ns = ports[i].nak_delay_ns != FIELD_UNSET ? ports[i].nak_delay_ns : s->nak_delay_ns;
        of->nak_again_ns = ports[i].nak_again_ns != FIELD_UNSET ? ports[i].nak_again_ns : s->nak_again_ns;
        of->byte_reset_bytes =
            ports[i].byte_reset_bytes != FIELD_UNSET ? ports[i].byte_reset_bytes : s->byte_reset_bytes;
        of->recovery = ports[i].recovery.items ? ports[i].recovery : s->recovery;
        of->cnp_pacing = ports[i].cnp_pacing >= 0 ? ports[i].cnp_pacing : s->cnp_pacing;
        of->unmarked_cnps = ports[i].unmarked_cnps >= 0 ? ports[i].unmarked_cnps : s->unmarked_cnps;
    }
    return 0;
}

const struct verify_settings *verify_settings_of(const struct verify_settings *s, const char *interface)
{
    const struct verify_port *ports = s->ports.items;
    for (size_t i = 0; i < s->ports.count; i++)
        for (size_t k = 0; k < ports[i].interfaces.count; k++)
            if (fnmatch(((char *const *)ports[i].interfaces.items)[k], interface, 0) == 0)
                return &s->of_ports[i];
    return s;
}

int64_t verify_settings_threshold(const struct verify_settings *s, const char *interface)
{
    const struct verify_threshold *thresholds = s->ecn_thresholds.items;
    for (size_t i = 0; i < s->ecn_thresholds.count; i++)
        for (size_t k = 0; k < thresholds[i].interfaces.count; k++)
            if (fnmatch(((char *const *)thresholds[i].interfaces.items)[k], interface, 0) == 0)
                return thresholds[i].kmin_bytes;
    return -1;
}

int verify_settings_parse(struct verify_settings *s, const json_t *document, const struct list_of *hosts,
                          struct error *e)
{
    *s = (struct verify_settings){0};
    if (table_parse(&verify_settings_table, document, s, e) != 0)
        return -1;
    if (take_addresses(s, hosts, e) == 0 && take_ports(s, e) == 0)
        return 0;
    verify_settings_free(s);
    return -1;
}

int verify_settings_load(struct verify_settings *s, const char *path, const struct list_of *hosts,
                         struct error *e)
{
    json_t *document = path ? json_file_load(path, DOCUMENT_SCENARIO, e) : json_object();
    if (!document)
        return path ? -1 : error_set(e, "out of memory");
    int result = verify_settings_parse(s, document, hosts, e);
    if (result != 0 && path)
        error_prefix(e, "%s", path);
    json_decref(document);
    return result;
}

void verify_settings_free(struct verify_settings *s)
{
    free(s->addresses);
    free(s->of_ports);
    table_free(&verify_settings_table, s);
    *s = (struct verify_settings){0};
}

bool verify_settings_has(const struct verify_settings *s, const uint8_t address[16])
{
    for (size_t i = 0; i < s->address_count; i++)
        if (memcmp(s->addresses[i], address, 16) == 0)
            return true;
    return false;
}

int verify_settings_priority(const struct verify_settings *s, bool tagged, unsigned int pcp,
                             unsigned int dscp)
{
    const struct settings *host = &s->settings;
    if (host->trust != TRUST_DSCP)
        return tagged ? (int)pcp : host->trust == TRUST_PCP ? 0 : -1;
    const struct named_integer *map = host->dscp_to_prio.items;
    for (size_t i = 0; i < host->dscp_to_prio.count; i++)
        if (strtoul(map[i].name, NULL, 10) == dscp)
            return (int)map[i].value;
    return (int)dscp >> 3; /* mlx5's map, unless it is changed */
}

int verify_settings_recovery(const struct verify_settings *s, enum verify_recovery which)
{
    const int *items = s->recovery.items;
    if (!items)
        return -1;
    for (size_t i = 0; i < s->recovery.count; i++)
        if (items[i] == (int)which)
            return 1;
    return 0;
}

bool verify_settings_lists(const struct list_of *list, int64_t number, bool otherwise)
{
    const int64_t *items = list->items;
    if (!items)
        return otherwise;
    for (size_t i = 0; i < list->count; i++)
        if (items[i] == number)
            return true;
    return false;
}
