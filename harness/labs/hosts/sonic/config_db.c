#include "harness/labs/hosts/sonic/config_db.h"

#include "lib/xalloc.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const sonic_config_tables[] = {"DEVICE_METADATA", "PORT",
                                           "CABLE_LENGTH",    "PORT_QOS_MAP",
                                           "DSCP_TO_TC_MAP",  "TC_TO_PRIORITY_GROUP_MAP",
                                           "TC_TO_QUEUE_MAP", "BUFFER_POOL",
                                           "BUFFER_PG",       "QUEUE",
                                           "BUFFER_PROFILE",  "WRED_PROFILE",
                                           "PFC_WD",          NULL};

/* ---- values */

/* A place in the document: "WRED_PROFILE|AZURE_LOSSLESS". */
struct entry {
    const char *table, *key;
    const json_t *fields; /* an object, or NULL */
};

/* NULL: the document has no such table. */
static int find_table(const json_t *json, const char *table, const json_t **found, struct error *e)
{
    *found = json_object_get(json, table);
    return !*found || json_is_object(*found) ? 0 : error_set(e, "%s is not an object of keys", table);
}

static int open_entry(const json_t *json, const char *table, const char *key, struct entry *entry,
                      struct error *e)
{
    const json_t *all;
    if (find_table(json, table, &all, e) != 0)
        return -1;
    *entry = (struct entry){table, key, json_object_get(all, key)};
    if (entry->fields && !json_is_object(entry->fields))
        return error_set(e, "%s|%.80s is not an object of fields", table, key);
    return 0;
}

/* Values of the database are strings; NULL: the field is not there. */
static int field_text(const struct entry *entry, const char *field, const char **text, struct error *e)
{
    const json_t *value = json_object_get(entry->fields, field);
    *text = json_string_value(value);
    return !value || *text ? 0
                           : error_set(e, "%s|%.80s: %.80s is not a string", entry->table, entry->key, field);
}

static int whole_number(const char *text, int64_t *value)
{
    char *end;
    size_t digits = strspn(text + (*text == '-'), "0123456789");
    if (digits == 0 || digits > 15)
        return -1;
    *value = strtoll(text, &end, 10);
    return *end == '\0' ? 0 : -1;
}

static int field_number(const struct entry *entry, const char *field, int64_t min, int64_t max,
                        int64_t *value, struct error *e)
{
    const char *text;
    *value = FIELD_UNSET;
    if (field_text(entry, field, &text, e) != 0)
        return -1;
    if (!text)
        return 0;
    if (whole_number(text, value) != 0 || *value < min || *value > max)
        return error_set(e, "%s|%.80s: %s is \"%.40s\": expected a whole number from %" PRId64 " to %" PRId64,
                         entry->table, entry->key, field, text, min, max);
    return 0;
}

static int copy_name(const struct entry *entry, const char *field, const char *text, size_t length,
                     char name[SONIC_NAME], struct error *e)
{
    if (length >= SONIC_NAME)
        return error_set(e, "%s|%.80s: %s has %zu characters: expected at most %d", entry->table, entry->key,
                         field, length, SONIC_NAME - 1);
    memcpy(name, text, length);
    name[length] = '\0';
    return 0;
}

static int field_name(const struct entry *entry, const char *field, char name[SONIC_NAME], struct error *e)
{
    const char *text;
    *name = '\0';
    if (field_text(entry, field, &text, e) != 0)
        return -1;
    return text ? copy_name(entry, field, text, strlen(text), name, e) : 0;
}

/* The key of another table's entry: "AZURE", or "[WRED_PROFILE|AZURE]" in releases before 202111. */
static int field_reference(const struct entry *entry, const char *field, char name[SONIC_NAME],
                           struct error *e)
{
    const char *text;
    *name = '\0';
    if (field_text(entry, field, &text, e) != 0)
        return -1;
    size_t length = text ? strlen(text) : 0;
    if (!text || *text != '[')
        return copy_name(entry, field, text ? text : "", length, name, e);
    const char *bar = strchr(text, '|');
    if (!bar || text[length - 1] != ']')
        return error_set(e, "%s|%.80s: %s is \"%.60s\": expected a name, or [TABLE|NAME]", entry->table,
                         entry->key, field, text);
    return copy_name(entry, field, bar + 1, (size_t)(text + length - 1 - (bar + 1)), name, e);
}

/* "3,4" as bits. */
static int field_priorities(const struct entry *entry, const char *field, uint8_t *bits, bool *given,
                            struct error *e)
{
    const char *text;
    *bits = 0;
    if (field_text(entry, field, &text, e) != 0)
        return -1;
    *given = text != NULL;
    for (const char *c = text; c && *c; c++) {
        bool good = *c >= '0' && *c <= '7' && (c[1] == ',' || c[1] == '\0');
        if (!good)
            return error_set(e, "%s|%.80s: %s is \"%.40s\": expected priorities such as 3,4", entry->table,
                             entry->key, field, text);
        *bits |= (uint8_t)(1u << (*c - '0'));
        c += c[1] == ',';
    }
    return 0;
}

/* "5m" */
static int cable_length(const struct entry *entry, const char *port, int64_t *length_mm, struct error *e)
{
    const char *text;
    struct error wrong;
    *length_mm = FIELD_UNSET;
    if (field_text(entry, port, &text, e) != 0)
        return -1;
    if (text && units_parse(UNIT_LENGTH_MM, text, length_mm, &wrong) != 0)
        return error_set(e, "%s|%.80s: %s: %s", entry->table, entry->key, port, wrong.text);
    return 0;
}

/* ---- keys, which may name several ports or numbers */

const char *sonic_key_entry(const char *name, char *table, size_t size)
{
    const char *bar = strchr(name, '|');
    snprintf(table, size, "%.*s", (int)(bar ? bar - name : 0), name);
    return bar ? bar + 1 : NULL;
}

const char *sonic_key_ports(const char *key, size_t *length)
{
    const char *bar = strrchr(key, '|'), *ports = key;
    if (!bar)
        return NULL;
    for (const char *c = key; c < bar; c++)
        ports = *c == '|' ? c + 1 : ports;
    *length = (size_t)(bar - ports);
    return ports;
}

bool sonic_key_lists(const char *list, size_t length, const char *port)
{
    size_t wanted = strlen(port);
    for (const char *at = list, *end = list + length; at < end;) {
        size_t word = strcspn(at, ",|");
        if (word == wanted && memcmp(at, port, word) == 0)
            return true;
        at += word + 1;
    }
    return false;
}

/* The numbers at the end of a key "PORTS|3-4" as bits; false: it does not end with numbers. */
static bool key_numbers(const char *text, uint8_t *bits)
{
    int64_t first, last;
    char word[8];
    size_t length = strcspn(text, "-");
    if (length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    if (whole_number(word, &first) != 0)
        return false;
    last = first;
    if (text[length] == '-' && whole_number(text + length + 1, &last) != 0)
        return false;
    *bits = 0;
    for (int64_t i = first; i >= 0 && i <= last && i < SONIC_TCS; i++)
        *bits |= (uint8_t)(1u << i);
    return first >= 0 && first <= last;
}

typedef int entry_reader(struct sonic_port *port, const json_t *json, const struct entry *entry, uint8_t bits,
                         struct error *e);

/* The entries of a table whose key is "PORTS|NUMBERS" with this port; on a VoQ chassis
 * "HOST|ASIC|PORT|NUMBERS". */
static int read_numbered(struct sonic_port *port, const json_t *json, const char *table, entry_reader *read,
                         struct error *e)
{
    const json_t *all;
    const char *key;
    json_t *fields;
    if (find_table(json, table, &all, e) != 0)
        return -1;
    json_object_foreach((json_t *)(uintptr_t)all, key, fields)
    {
        size_t length;
        const char *ports = sonic_key_ports(key, &length);
        uint8_t bits;
        if (!ports)
            return error_set(e, "%s: the key \"%.80s\" does not end with a number: expected PORT|NUMBERS",
                             table, key);
        if (!sonic_key_lists(ports, length, port->name))
            continue;
        const struct entry entry = {table, key, fields};
        if (!json_is_object(fields))
            return error_set(e, "%s|%.80s is not an object of fields", table, key);
        if (!key_numbers(ports + length + 1, &bits))
            return error_set(
                e, "%s: the key \"%.80s\" does not end with a number or a range: expected PORT|3 or PORT|3-4",
                table, key);
        if (read(port, json, &entry, bits, e) != 0)
            return -1;
    }
    return 0;
}

/* ---- maps */

/* "AZURE": {"0": "1", ...} into `map`; -1 where it has no entry. */
static int read_map(const json_t *json, const char *table, const char *name, int *map, size_t count,
                    struct error *e)
{
    struct entry entry;
    const char *key;
    json_t *value;
    for (size_t i = 0; i < count; i++)
        map[i] = -1;
    if (!*name)
        return 0;
    if (open_entry(json, table, name, &entry, e) != 0)
        return -1;
    if (!entry.fields)
        return error_set(e, "%s has no \"%.80s\", which PORT_QOS_MAP names", table, name);
    json_object_foreach((json_t *)(uintptr_t)entry.fields, key, value)
    {
        int64_t from, to;
        (void)value;
        if (strcmp(key, "NULL") == 0) /* an entry without fields */
            continue;
        if (whole_number(key, &from) != 0 || from < 0 || from >= (int64_t)count)
            return error_set(e, "%s|%.80s: \"%.40s\" is not a number below %zu", table, name, key, count);
        if (field_number(&entry, key, 0, SONIC_TCS - 1, &to, e) != 0)
            return -1;
        map[from] = (int)to;
    }
    return 0;
}

/* Its entry of PORT_QOS_MAP, whose key may name other ports too. */
static int find_qos(const json_t *json, const char *port, struct entry *found, struct error *e)
{
    const json_t *all;
    const char *key;
    json_t *fields;
    *found = (struct entry){"PORT_QOS_MAP", port, NULL};
    if (find_table(json, "PORT_QOS_MAP", &all, e) != 0)
        return -1;
    json_object_foreach((json_t *)(uintptr_t)all, key, fields)
    {
        if (!sonic_key_lists(key, strlen(key), port))
            continue;
        if (!json_is_object(fields))
            return error_set(e, "PORT_QOS_MAP|%.80s is not an object of fields", key);
        *found = (struct entry){"PORT_QOS_MAP", key, fields};
    }
    return 0;
}

/* TCs go to the priority group and queue of their number where no map says otherwise. */
static void number_alike(const char *name, int *map)
{
    for (int i = 0; !*name && i < SONIC_TCS; i++)
        map[i] = i;
}

static int read_qos(const json_t *json, struct sonic_port *port, struct error *e)
{
    struct entry entry, global;
    char pg_map[SONIC_NAME], queue_map[SONIC_NAME];
    if (find_qos(json, port->name, &entry, e) != 0 ||
        open_entry(json, "PORT_QOS_MAP", "global", &global, e) != 0 ||
        field_priorities(&entry, "pfc_enable", &port->pfc, &port->has_pfc, e) != 0 ||
        field_reference(&entry, "dscp_to_tc_map", port->dscp_map, e) != 0 ||
        field_reference(&entry, "dot1p_to_tc_map", port->dot1p_map, e) != 0 ||
        field_reference(&entry, "tc_to_pg_map", pg_map, e) != 0 ||
        field_reference(&entry, "tc_to_queue_map", queue_map, e) != 0)
        return -1;
    if (!*port->dscp_map && !*port->dot1p_map &&
        field_reference(&global, "dscp_to_tc_map", port->dscp_map, e) != 0)
        return -1;
    if (read_map(json, "DSCP_TO_TC_MAP", port->dscp_map, port->dscp_to_tc, SONIC_DSCPS, e) != 0 ||
        read_map(json, "TC_TO_PRIORITY_GROUP_MAP", pg_map, port->tc_to_pg, SONIC_TCS, e) != 0 ||
        read_map(json, "TC_TO_QUEUE_MAP", queue_map, port->tc_to_queue, SONIC_TCS, e) != 0)
        return -1;
    number_alike(pg_map, port->tc_to_pg);
    number_alike(queue_map, port->tc_to_queue);
    return 0;
}

/* ---- buffers and WRED */

#define MOST_BYTES (INT64_C(1) << 40)

static int read_pool(const json_t *json, struct sonic_buffer *b, struct error *e)
{
    struct entry pool;
    b->pool_bytes = b->pool_xoff_bytes = FIELD_UNSET;
    if (!*b->pool)
        return 0;
    return open_entry(json, "BUFFER_POOL", b->pool, &pool, e) != 0 ||
                   field_number(&pool, "size", 0, MOST_BYTES, &b->pool_bytes, e) != 0 ||
                   field_number(&pool, "xoff", 0, MOST_BYTES, &b->pool_xoff_bytes, e) != 0
               ? -1
               : 0;
}

static int read_buffer(const json_t *json, struct sonic_buffer *b, struct error *e)
{
    struct entry profile;
    if (open_entry(json, "BUFFER_PROFILE", b->profile, &profile, e) != 0)
        return -1;
    b->described = profile.fields;
    if (field_reference(&profile, "pool", b->pool, e) != 0 ||
        field_number(&profile, "size", 0, MOST_BYTES, &b->size_bytes, e) != 0 ||
        field_number(&profile, "xon", 0, MOST_BYTES, &b->xon_bytes, e) != 0 ||
        field_number(&profile, "xoff", 0, MOST_BYTES, &b->xoff_bytes, e) != 0 ||
        field_number(&profile, "dynamic_th", -8, 8, &b->alpha_log, e) != 0 ||
        field_number(&profile, "static_th", 0, MOST_BYTES, &b->static_bytes, e) != 0)
        return -1;
    b->threshold = b->alpha_log != FIELD_UNSET      ? SONIC_DYNAMIC
                   : b->static_bytes != FIELD_UNSET ? SONIC_STATIC
                                                    : SONIC_NO_THRESHOLD;
    return read_pool(json, b, e);
}

static int read_group_buffer(struct sonic_port *port, const json_t *json, const struct entry *entry,
                             uint8_t bits, struct error *e)
{
    struct sonic_buffer buffer = {.size_bytes = FIELD_UNSET};
    if (field_reference(entry, "profile", buffer.profile, e) != 0 || read_buffer(json, &buffer, e) != 0)
        return -1;
    for (int i = 0; i < SONIC_TCS; i++)
        if (bits >> i & 1)
            port->pg[i] = buffer;
    return 0;
}

/* "ecn_green_yellow", "ecn_all": are green packets marked? */
static int marks_green(const struct entry *profile, bool *marks, struct error *e)
{
    static const char *const modes[] = {"ecn_none",       "ecn_yellow", "ecn_red",
                                        "ecn_yellow_red", "ecn_green",  "ecn_green_yellow",
                                        "ecn_green_red",  "ecn_all",    NULL};
    char mode[SONIC_NAME];
    int i = 0;
    if (field_name(profile, "ecn", mode, e) != 0)
        return -1;
    while (*mode && modes[i] && strcmp(modes[i], mode) != 0)
        i++;
    *marks = i >= 4;
    return modes[i] ? 0
                    : error_set(e, "%s|%.80s: ecn is \"%.40s\": expected ecn_none, ecn_all, ecn_green, ...",
                                profile->table, profile->key, mode);
}

/* Thresholds of ECN alone, which releases of 2026 have, take the place of those of WRED for what is
 * marked. */
static int read_wred(const json_t *json, struct sonic_wred *w, struct error *e)
{
    struct entry profile;
    int64_t kmin, kmax, pmax;
    if (open_entry(json, "WRED_PROFILE", w->profile, &profile, e) != 0)
        return -1;
    w->described = profile.fields;
    if (marks_green(&profile, &w->marks, e) != 0 ||
        field_number(&profile, "green_min_threshold", 0, MOST_BYTES, &w->kmin_bytes, e) != 0 ||
        field_number(&profile, "green_max_threshold", 0, MOST_BYTES, &w->kmax_bytes, e) != 0 ||
        field_number(&profile, "green_drop_probability", 0, 100, &w->pmax_percent, e) != 0 ||
        field_number(&profile, "ecn_green_min_threshold", 0, MOST_BYTES, &kmin, e) != 0 ||
        field_number(&profile, "ecn_green_max_threshold", 0, MOST_BYTES, &kmax, e) != 0 ||
        field_number(&profile, "ecn_green_mark_probability", 0, 100, &pmax, e) != 0)
        return -1;
    w->own_ecn = w->marks && kmin != FIELD_UNSET && kmax != FIELD_UNSET;
    w->kmin_bytes = w->own_ecn ? kmin : w->kmin_bytes;
    w->kmax_bytes = w->own_ecn ? kmax : w->kmax_bytes;
    w->pmax_percent = w->own_ecn && pmax != FIELD_UNSET ? pmax : w->pmax_percent;
    return 0;
}

static int read_queue_wred(struct sonic_port *port, const json_t *json, const struct entry *entry,
                           uint8_t bits, struct error *e)
{
    struct sonic_wred wred = {.kmin_bytes = FIELD_UNSET};
    if (field_reference(entry, "wred_profile", wred.profile, e) != 0)
        return -1;
    if (*wred.profile && read_wred(json, &wred, e) != 0)
        return -1;
    for (int i = 0; i < SONIC_TCS && *wred.profile; i++)
        if (bits >> i & 1)
            port->queue[i] = wred;
    return 0;
}

/* ---- ports */

static int read_cable(const json_t *json, struct sonic_port *port, struct error *e)
{
    const json_t *all;
    const char *key;
    json_t *fields;
    port->cable_mm = FIELD_UNSET;
    if (find_table(json, "CABLE_LENGTH", &all, e) != 0)
        return -1;
    json_object_foreach((json_t *)(uintptr_t)all, key, fields)
    {
        const struct entry entry = {"CABLE_LENGTH", key, fields};
        if (!json_is_object(fields))
            return error_set(e, "CABLE_LENGTH|%.80s is not an object of ports", key);
        if (port->cable_mm == FIELD_UNSET && cable_length(&entry, port->name, &port->cable_mm, e) != 0)
            return -1;
    }
    return 0;
}

static int read_watchdog(const json_t *json, struct sonic_port *port, struct error *e)
{
    struct entry entry;
    struct sonic_watchdog *w = &port->watchdog;
    if (open_entry(json, "PFC_WD", port->name, &entry, e) != 0)
        return -1;
    w->on = entry.fields;
    return field_name(&entry, "action", w->action, e) != 0 ||
                   field_number(&entry, "detection_time", 0, INT32_MAX, &w->detection_ms, e) != 0 ||
                   field_number(&entry, "restoration_time", 0, INT32_MAX, &w->restoration_ms, e) != 0
               ? -1
               : 0;
}

static int read_port(const json_t *json, const char *name, struct sonic_port *port, struct error *e)
{
    struct entry entry;
    char status[SONIC_NAME];
    if (strlen(name) >= sizeof port->name)
        return error_set(e, "port %.80s...: a name has at most %d characters", name, SONIC_NAME - 1);
    snprintf(port->name, sizeof port->name, "%s", name);
    if (open_entry(json, "PORT", name, &entry, e) != 0)
        return -1;
    port->exists = entry.fields;
    if (!port->exists)
        return 0;
    if (field_number(&entry, "speed", 1, 10000000, &port->speed_Mbps, e) != 0 ||
        field_number(&entry, "mtu", 68, 65535, &port->mtu, e) != 0 ||
        field_name(&entry, "admin_status", status, e) != 0 || read_cable(json, port, e) != 0 ||
        read_qos(json, port, e) != 0 || read_numbered(port, json, "BUFFER_PG", read_group_buffer, e) != 0 ||
        read_numbered(port, json, "QUEUE", read_queue_wred, e) != 0)
        return -1;
    port->admin_up = strcmp(status, "up") == 0;
    return read_watchdog(json, port, e);
}

static int read_switch(const json_t *json, struct sonic_config *config, struct error *e)
{
    struct entry about, global;
    char brs[SONIC_NAME];
    if (open_entry(json, "DEVICE_METADATA", "localhost", &about, e) != 0 ||
        open_entry(json, "PFC_WD", "GLOBAL", &global, e) != 0 ||
        field_name(&about, "hwsku", config->hwsku, e) != 0 ||
        field_name(&about, "platform", config->platform, e) != 0 ||
        field_number(&global, "POLL_INTERVAL", 1, INT32_MAX, &config->poll_ms, e) != 0 ||
        field_name(&global, "BIG_RED_SWITCH", brs, e) != 0)
        return -1;
    config->big_red_switch = strcmp(brs, "enable") == 0;
    return 0;
}

const char **sonic_ports_named(const struct lab *lab, const struct lab_switch *s, size_t *count)
{
    const struct lab_link *link;
    const char **names = xcalloc(lab->links.count + 1, sizeof *names);
    *count = 0;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        const char *port = lab_link_port(link, s->name);
        if (port)
            names[(*count)++] = port;
    }
    return names;
}

int sonic_config_read(const json_t *json, const char *const names[], size_t count,
                      struct sonic_config *config, struct error *e)
{
    *config = (struct sonic_config){.ports = xcalloc(count + 1, sizeof *config->ports), .count = count};
    int result = !json_is_object(json)            ? error_set(e, "it is not an object of tables")
                 : !json_object_get(json, "PORT") ? error_set(e, "it has no table PORT")
                                                  : read_switch(json, config, e);
    for (size_t i = 0; result == 0 && i < count; i++)
        result = read_port(json, names[i], &config->ports[i], e);
    if (result != 0)
        sonic_config_free(config);
    return result;
}

void sonic_config_free(struct sonic_config *config)
{
    free(config->ports);
    *config = (struct sonic_config){0};
}

const struct sonic_port *sonic_port_named(const struct sonic_config *config, const char *name)
{
    for (size_t i = 0; i < config->count; i++)
        if (strcmp(config->ports[i].name, name) == 0)
            return &config->ports[i];
    return NULL;
}
