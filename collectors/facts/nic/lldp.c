/*
 * lldpd keeps the TLVs of DCBX as they were sent, among those that it does not know: lldpctl -f json0 prints
 * them as bytes. IEEE 802.1Q-2018, annex D.2: organisation 00-80-C2, subtypes 9 (ETS configuration), 11 (PFC
 * configuration) and 12 (application priorities).
 */
#include "collectors/facts/nic/lldp.h"

#include "collectors/facts/judge.h"
#include "collectors/facts/nic/tools.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/kernel/sysfs.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what the driver shows */

#define PRIORITIES 8

static json_t *mask_list(uint8_t mask)
{
    json_t *list = json_array();
    for (int i = 0; i < PRIORITIES; i++)
        if (mask >> i & 1)
            json_array_append_new(list, json_integer(i));
    return list;
}

static json_t *mode_json(uint8_t mode)
{
    return json_make("{s:b,s:b,s:b,s:b}", "host", mode & DCB_CAP_DCBX_HOST, "lld_managed",
                     mode & DCB_CAP_DCBX_LLD_MANAGED, "ieee", mode & DCB_CAP_DCBX_VER_IEEE, "cee",
                     mode & DCB_CAP_DCBX_VER_CEE);
}

json_t *dcbx_json(const struct dcb *dcb)
{
    json_t *peer = dcb->has_peer_pfc ? json_make("{s:s,s:o}", "from", "DCB netlink, ieee_peer_pfc", "pfc",
                                                 mask_list(dcb->peer_pfc.pfc_en))
                                     : json_null();
    return json_make("{s:o,s:o}", "mode", dcb->has_dcbx ? mode_json(dcb->dcbx) : json_null(), "peer", peer);
}

json_t *facts_dcbx(const struct facts_source *s, const char *netdev)
{
    struct host host = {.root = s->root};
    struct device device;
    struct dcb dcb = {0};
    int number;
    if (s->live && device_open(&device, &host, netdev, NULL) == 0)
        (void)dcb_read(&device, &dcb, &number, NULL);
    host_close(&host);
    return dcbx_json(&dcb);
}

#define MAX_OUTPUT (1 << 20)
#define MAX_TLV    507 /* of the information of an organisation's TLV */
#define PRIORITIES 8
#define CLASSES    8

enum { SUBTYPE_ETS = 9, SUBTYPE_PFC = 11, SUBTYPE_APPS = 12 };

/* ---- lldpd's document: every member is a list, a value is {"value": TEXT} */

static const json_t *first_of_list(const json_t *object, const char *key)
{
    const json_t *there = json_object_get(object, key);
    return json_is_array(there) ? json_array_get(there, 0) : there;
}

static const char *value_of(const json_t *object, const char *key)
{
    const json_t *there = first_of_list(object, key);
    return json_is_string(there) ? json_string_value(there) : fact_word(there, "value", NULL);
}

static const json_t *neighbour_at(const json_t *document, const char *netdev)
{
    size_t i, k;
    const json_t *lldp, *port;
    json_array_foreach(json_object_get(document, "lldp"), i, lldp)
    {
        json_array_foreach(json_object_get(lldp, "interface"), k, port)
        {
            if (strcmp(fact_word(port, "name", NULL), netdev) == 0)
                return port;
        }
    }
    return NULL;
}

/* "01,0F" as bytes; returns how many. */
static size_t read_bytes(const char *text, uint8_t bytes[MAX_TLV])
{
    size_t count = 0;
    while (count < MAX_TLV && isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1])) {
        const char pair[3] = {text[0], text[1], '\0'};
        bytes[count++] = (uint8_t)strtoul(pair, NULL, 16);
        text += 2;
        text += *text == ',';
    }
    return count;
}

/* The bytes after the subtype of the neighbour's TLV; 0: it sent none. */
static size_t find_tlv(const json_t *port, int subtype, uint8_t bytes[MAX_TLV])
{
    size_t i, k;
    const json_t *set, *tlv;
    json_array_foreach(json_object_get(port, "unknown-tlvs"), i, set)
    {
        json_array_foreach(json_object_get(set, "unknown-tlv"), k, tlv)
        {
            if (strcasecmp(fact_word(tlv, "oui", NULL), "00,80,C2") == 0 &&
                strtol(fact_word(tlv, "subtype", NULL), NULL, 10) == subtype)
                return read_bytes(fact_word(tlv, "value", NULL), bytes);
        }
    }
    return 0;
}

/* ---- the TLVs */

/* Willing, MBC, two reserved bits, the number of classes; then a bit for each priority. */
static void add_pfc(const json_t *port, json_t *into)
{
    uint8_t bytes[MAX_TLV];
    json_t *list = json_null();
    bool there = find_tlv(port, SUBTYPE_PFC, bytes) >= 2;
    if (there)
        list = json_array();
    for (int i = 0; there && i < PRIORITIES; i++)
        if (bytes[1] >> i & 1)
            json_array_append_new(list, json_integer(i));
    json_object_set_new(into, "pfc", list);
    json_object_set_new(into, "willing", there ? json_boolean(bytes[0] & 0x80) : json_null());
}

/* Willing, CBS, reserved, the number of classes; the class of each priority, half a byte each; the share of
 * each class in per cent; its selection (0 strict, 2 ETS). */
static void add_ets(const json_t *port, json_t *into)
{
    uint8_t bytes[MAX_TLV];
    if (find_tlv(port, SUBTYPE_ETS, bytes) < 1 + PRIORITIES / 2 + 2 * CLASSES) {
        json_object_set_new(into, "ets", json_null());
        return;
    }
    json_t *map = json_object(), *weights = json_array();
    for (int i = 0; i < PRIORITIES; i++) {
        const char key[2] = {(char)('0' + i), '\0'};
        json_object_set_new(map, key, json_integer(bytes[1 + i / 2] >> (i % 2 ? 0 : 4) & 0xf));
    }
    for (int i = 0; i < CLASSES; i++)
        json_array_append_new(weights, json_integer(bytes[1 + PRIORITIES / 2 + i]));
    json_object_set_new(into, "ets", json_make("{s:o,s:o}", "prio_to_tc", map, "weights", weights));
}

/* A reserved byte; then for each entry priority (3 bits), 2 reserved, selector (3 bits), protocol (2
 * bytes). */
static void add_apps(const json_t *port, json_t *into)
{
    uint8_t bytes[MAX_TLV];
    size_t length = find_tlv(port, SUBTYPE_APPS, bytes);
    json_t *list = length > 0 ? json_array() : json_null();
    for (size_t i = 1; length > 0 && i + 3 <= length; i += 3)
        json_array_append_new(list, json_make("{s:i,s:i,s:i}", "priority", bytes[i] >> 5, "selector",
                                              bytes[i] & 7, "protocol", bytes[i + 1] << 8 | bytes[i + 2]));
    json_object_set_new(into, "apps", list);
}

json_t *lldp_parse(const json_t *document, const char *netdev)
{
    const json_t *port = neighbour_at(document, netdev);
    if (!port)
        return json_null();
    json_t *o = json_object();
    const char *chassis = value_of(first_of_list(port, "chassis"), "name");
    json_object_set_new(o, "from", json_text("lldpctl"));
    json_object_set_new(o, "name",
                        json_text(chassis[0] ? chassis : value_of(first_of_list(port, "chassis"), "id")));
    json_object_set_new(o, "port", json_text(value_of(first_of_list(port, "port"), "id")));
    add_pfc(port, o);
    add_ets(port, o);
    add_apps(port, o);
    return o;
}

/* ---- where it is read */

/* Any bytes: a neighbour has sent what is in it. */
static json_t *parse_lldpctl(const char *text, size_t length)
{
    struct error e;
    return json_file_parse(text, length, "lldpctl", DOCUMENT_ANSWER, &e);
}

static json_t *run_lldpctl(const char *netdev)
{
    const char *const argv[] = {"lldpctl", "-f", "json0", netdev, NULL};
    struct text out = {0}, why = {0};
    json_t *document = tool_ask(argv, &out, &why) == 0 ? parse_lldpctl(text_string(&out), out.length) : NULL;
    text_free(&out);
    text_free(&why);
    return document;
}

static json_t *read_copy(const char *root)
{
    char *text = malloc(MAX_OUTPUT);
    ssize_t length = text ? sysfs_bytes(text, MAX_OUTPUT, root, "/lldpctl") : -1;
    json_t *document = length > 0 ? parse_lldpctl(text, (size_t)length) : NULL;
    free(text);
    return document;
}

json_t *facts_lldp(const struct facts_source *s, const char *netdev)
{
    json_t *document = !s->live ? read_copy(s->root) : facts_may_ask(s, netdev) ? run_lldpctl(netdev) : NULL;
    json_t *found = lldp_parse(document, netdev);
    json_decref(document);
    return found;
}

/* By their sockets; the name of lldpad's (include/clif.h of open-lldp) has no file. */
json_t *facts_lldp_agents(const struct facts_source *s)
{
    static const char *const agents[][2] = {{"lldpd", "/lldpd.socket"}, {"lldpad", "@/com/intel/lldpad"}};
    json_t *list = json_array();
    char *text = malloc(MAX_OUTPUT);
    ssize_t length = text ? sysfs_bytes(text, MAX_OUTPUT - 1, s->root, "/proc/net/unix") : -1;
    bool whole = length >= 0 && length < MAX_OUTPUT - 1;
    if (length >= 0)
        text[length] = '\0';
    for (size_t i = 0; length > 0 && i < sizeof agents / sizeof *agents; i++)
        if (strstr(text, agents[i][1]))
            json_array_append_new(list, json_text(agents[i][0]));
    free(text);
    if (whole || json_array_size(list) == sizeof agents / sizeof *agents)
        return list;
    json_decref(list); /* what is not in the part that was read may be in the rest */
    return json_null();
}
