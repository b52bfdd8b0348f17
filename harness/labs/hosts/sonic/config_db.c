#include "harness/labs/hosts/sonic/config_db.h"

#include "lib/document/json_text.h"
#include "lib/output/visible.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const sonic_config_tables[] = {"DEVICE_METADATA",
                                           "PORT",
                                           "CABLE_LENGTH",
                                           "PORT_QOS_MAP",
                                           "DSCP_TO_TC_MAP",
                                           "TC_TO_PRIORITY_GROUP_MAP",
                                           "TC_TO_QUEUE_MAP",
                                           "MAP_PFC_PRIORITY_TO_QUEUE",
                                           "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
                                           "BUFFER_POOL",
                                           "BUFFER_PG",
                                           "QUEUE",
                                           "BUFFER_PROFILE",
                                           "WRED_PROFILE",
                                           "PFC_WD",
                                           NULL};

struct reading {
    const json_t *json;
    struct sonic_config *config;
};

/* ---- what is not understood */

#define MOST_UNREAD 64 /* sentences */

/* Several ports use one profile: a sentence is kept once. */
static void not_understood(struct reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void not_understood(struct reading *r, const char *format, ...)
{
    json_t *unread = r->config->unread, *there;
    struct text line = {0};
    size_t i;
    va_list arguments;
    va_start(arguments, format);
    visible_add_line(&line, format, arguments);
    va_end(arguments);
    bool known = json_array_size(unread) == MOST_UNREAD;
    json_array_foreach(unread, i, there)
    {
        known = known || strcmp(json_string_value(there), text_string(&line)) == 0;
    }
    if (!known)
        json_array_append_new(unread, json_text(json_array_size(unread) + 1 < MOST_UNREAD
                                                    ? text_string(&line)
                                                    : "more was not understood, which is not listed here"));
    text_free(&line);
}

/* ---- values */

/* A place in the document: "WRED_PROFILE|AZURE_LOSSLESS". */
struct entry {
    const char *table, *key;
    const json_t *fields; /* an object; NULL: there is none, or it is unread */
    bool unread;          /* so are all its fields */
};

static const json_t *find_table(struct reading *r, const char *table, bool *unread)
{
    const json_t *found = json_object_get(r->json, table);
    *unread = found && !json_is_object(found);
    if (*unread)
        not_understood(r, "%s is not an object of keys", table);
    return *unread ? NULL : found;
}

static struct entry entry_of(struct reading *r, const char *table, const char *key, const json_t *fields)
{
    bool unread = fields && !json_is_object(fields);
    if (unread)
        not_understood(r, "%s|%.80s is not an object of fields", table, key);
    return (struct entry){table, key, unread ? NULL : fields, unread};
}

static struct entry open_entry(struct reading *r, const char *table, const char *key)
{
    bool unread;
    const json_t *all = find_table(r, table, &unread);
    if (unread || sonic_is_unread(key))
        return (struct entry){table, key, NULL, true};
    return entry_of(r, table, key, json_object_get(all, key));
}

static enum sonic_answer is_there(const struct entry *entry)
{
    return entry->unread ? SONIC_UNKNOWN : entry->fields ? SONIC_YES : SONIC_NO;
}

/* Values of the database are strings. */
static enum sonic_answer field_text(struct reading *r, const struct entry *entry, const char *field,
                                    const char **text)
{
    const json_t *value = json_object_get(entry->fields, field);
    *text = json_string_value(value);
    if (value && !*text)
        not_understood(r, "%s|%.80s: %.80s is not a string", entry->table, entry->key, field);
    return entry->unread || (value && !*text) ? SONIC_UNKNOWN : value ? SONIC_YES : SONIC_NO;
}

#define BLANKS " \t\r\n\v\f"

static int whole_number(const char *text, int64_t *value)
{
    char *end;
    text += strspn(text, BLANKS);
    size_t digits = strspn(text + (*text == '-'), "0123456789");
    if (digits == 0 || digits > 15)
        return -1;
    *value = strtoll(text, &end, 10);
    return end[strspn(end, BLANKS)] == '\0' ? 0 : -1;
}

static int64_t field_number(struct reading *r, const struct entry *entry, const char *field, int64_t min,
                            int64_t max)
{
    const char *text;
    int64_t value;
    enum sonic_answer there = field_text(r, entry, field, &text);
    if (there != SONIC_YES)
        return there == SONIC_NO ? FIELD_UNSET : SONIC_UNREAD;
    if (whole_number(text, &value) == 0 && value >= min && value <= max)
        return value;
    not_understood(r, "%s|%.80s: %.40s is \"%.40s\": expected a whole number from %" PRId64 " to %" PRId64,
                   entry->table, entry->key, field, text, min, max);
    return SONIC_UNREAD;
}

static void mark_unread(char name[SONIC_NAME])
{
    snprintf(name, SONIC_NAME, "%s", SONIC_UNREAD_NAME);
}

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    return length < SONIC_NAME;
}

static void copy_name(struct reading *r, const struct entry *entry, const char *field, const char *text,
                      size_t length, char name[SONIC_NAME])
{
    if (is_name(text, length)) {
        memcpy(name, text, length);
        name[length] = '\0';
        return;
    }
    not_understood(r, "%s|%.80s: %s is \"%.40s\": expected a name of at most %d characters in one line",
                   entry->table, entry->key, field, text, SONIC_NAME - 1);
    mark_unread(name);
}

static void field_name(struct reading *r, const struct entry *entry, const char *field, char name[SONIC_NAME])
{
    const char *text;
    enum sonic_answer there = field_text(r, entry, field, &text);
    *name = '\0';
    if (there == SONIC_UNKNOWN)
        mark_unread(name);
    else if (there == SONIC_YES)
        copy_name(r, entry, field, text, strlen(text), name);
}

/* The key of another table's entry: "AZURE", or "[WRED_PROFILE|AZURE]" in releases before 202111. */
static void field_reference(struct reading *r, const struct entry *entry, const char *field,
                            char name[SONIC_NAME])
{
    const char *text = json_string_value(json_object_get(entry->fields, field));
    if (!text || *text != '[') {
        field_name(r, entry, field, name);
        return;
    }
    const char *bar = strchr(text, '|');
    size_t length = strlen(text);
    if (bar && text[length - 1] == ']') {
        copy_name(r, entry, field, bar + 1, (size_t)(text + length - 1 - (bar + 1)), name);
        return;
    }
    not_understood(r, "%s|%.80s: %s is \"%.60s\": expected a name, or [TABLE|NAME]", entry->table, entry->key,
                   field, text);
    mark_unread(name);
}

/* One of two words; without the field `no`. */
static enum sonic_answer field_choice(struct reading *r, const struct entry *entry, const char *field,
                                      const char *yes, const char *no)
{
    const char *text;
    enum sonic_answer there = field_text(r, entry, field, &text);
    if (there != SONIC_YES)
        return there;
    if (strcmp(text, yes) == 0 || strcmp(text, no) == 0)
        return strcmp(text, yes) == 0 ? SONIC_YES : SONIC_NO;
    not_understood(r, "%s|%.80s: %s is \"%.40s\": expected %s or %s", entry->table, entry->key, field, text,
                   yes, no);
    return SONIC_UNKNOWN;
}

/* "3,4" as bits. */
static bool parse_priorities(const char *text, uint8_t *bits)
{
    *bits = 0;
    for (const char *at = text + strspn(text, BLANKS); *at;) {
        if (*at < '0' || *at > '7')
            return false;
        *bits |= (uint8_t)(1u << (*at - '0'));
        at += 1 + strspn(at + 1, BLANKS);
        if (*at != ',' && *at)
            return false;
        at += *at ? 1 + strspn(at + 1, BLANKS) : 0;
    }
    return true;
}

static enum sonic_answer field_priorities(struct reading *r, const struct entry *entry, const char *field,
                                          uint8_t *bits)
{
    const char *text;
    enum sonic_answer there = field_text(r, entry, field, &text);
    *bits = 0;
    if (there != SONIC_YES || parse_priorities(text, bits))
        return there;
    not_understood(r, "%s|%.80s: %s is \"%.40s\": expected priorities such as 3,4", entry->table, entry->key,
                   field, text);
    *bits = 0;
    return SONIC_UNKNOWN;
}

/* "5m" */
static int64_t cable_length(struct reading *r, const struct entry *entry, const char *port)
{
    const char *text;
    struct error wrong;
    char word[24] = "";
    int64_t length_mm = FIELD_UNSET;
    enum sonic_answer there = field_text(r, entry, port, &text);
    if (there == SONIC_YES) {
        text += strspn(text, BLANKS);
        size_t length = strcspn(text, BLANKS);
        if (length < sizeof word && text[length + strspn(text + length, BLANKS)] == '\0')
            memcpy(word, text, length);
    }
    if (there == SONIC_YES && units_parse(UNIT_LENGTH_MM, word, &length_mm, &wrong) != 0) {
        not_understood(r, "%s|%.80s: %s is \"%.40s\": expected a length such as 5m", entry->table, entry->key,
                       port, text);
        there = SONIC_UNKNOWN;
    }
    return there == SONIC_UNKNOWN ? SONIC_UNREAD : length_mm;
}

/* ---- keys, which may name several ports or numbers */

const char *sonic_key_entry(const char *name, char *table, size_t size)
{
    const char *bar = strchr(name, '|');
    snprintf(table, size, "%.*s", (int)(bar ? bar - name : 0), name);
    return bar ? bar + 1 : NULL;
}

bool sonic_key_parse(const char *text, struct sonic_key *key)
{
    const char *bars[4];
    size_t count = 0;
    for (const char *c = text; *c && count < 4; c++)
        if (*c == '|')
            bars[count++] = c;
    if (count != 1 && count != 3)
        return false;
    *key = (struct sonic_key){.card = text, .ports = text};
    if (count == 3) {
        key->card_length = (size_t)(bars[1] - text);
        key->ports = bars[1] + 1;
    }
    key->ports_length = (size_t)(bars[count - 1] - key->ports);
    key->numbers = bars[count - 1] + 1;
    return true;
}

/* sonic-swss, orchagent/qosorch.cpp, handleQueueTable: names of hosts by their case, those of ASICs not. */
enum sonic_answer sonic_key_is_here(const struct sonic_key *key, const struct sonic_config *config)
{
    size_t host = strcspn(key->card, "|");
    if (!key->card_length)
        return SONIC_YES;
    if (!*config->host || !*config->asic || sonic_is_unread(config->host) || sonic_is_unread(config->asic))
        return SONIC_UNKNOWN;
    const char *asic = key->card + host + 1;
    size_t length = key->card_length - host - 1;
    return strlen(config->host) == host && memcmp(key->card, config->host, host) == 0 &&
                   strlen(config->asic) == length && strncasecmp(asic, config->asic, length) == 0
               ? SONIC_YES
               : SONIC_NO;
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
static bool key_numbers(const char *text, unsigned *bits)
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
    for (int64_t i = first; i >= 0 && i <= last && i < SONIC_QUEUES; i++)
        *bits |= 1u << i;
    return first >= 0 && first <= last;
}

typedef void entry_reader(struct reading *r, struct sonic_port *port, const struct entry *entry,
                          unsigned bits);

/* Does the key name the port, and which numbers? *lost: what it says of the port is not known. */
static bool key_names(struct reading *r, const char *table, const char *text, const struct sonic_port *port,
                      unsigned *bits, bool *lost)
{
    struct sonic_key key;
    if (!sonic_key_parse(text, &key)) {
        not_understood(r,
                       "%s: the key \"%.80s\" has another form than PORT|3, PORT|3-4 or, on a line card, "
                       "HOST|ASIC|PORT|3",
                       table, text);
        *lost = *lost || sonic_key_lists(text, strlen(text), port->name);
        return false;
    }
    if (!sonic_key_lists(key.ports, key.ports_length, port->name))
        return false;
    enum sonic_answer here = sonic_key_is_here(&key, r->config);
    if (here == SONIC_UNKNOWN)
        not_understood(r,
                       "%s: the key \"%.80s\" is that of a line card's port: which card this is "
                       "DEVICE_METADATA|localhost does not say (hostname, asic_name)",
                       table, text);
    bool numbered = key_numbers(key.numbers, bits);
    if (here == SONIC_YES && !numbered)
        not_understood(
            r, "%s: the key \"%.80s\" does not end with a number or a range: expected PORT|3 or PORT|3-4",
            table, text);
    *lost = *lost || here == SONIC_UNKNOWN || (here == SONIC_YES && !numbered);
    return here == SONIC_YES && numbered;
}

/* The entries of a table with this port. True: there may be more of them, which were not understood. */
static bool read_numbered(struct reading *r, struct sonic_port *port, const char *table, entry_reader *read)
{
    bool lost;
    const json_t *all = find_table(r, table, &lost);
    const char *key;
    json_t *fields;
    json_object_foreach((json_t *)(uintptr_t)all, key, fields)
    {
        unsigned bits = 0;
        if (!key_names(r, table, key, port, &bits, &lost))
            continue;
        const struct entry entry = entry_of(r, table, key, fields);
        read(r, port, &entry, bits);
    }
    return lost;
}

/* ---- maps */

static void fill(int *map, size_t count, int value)
{
    for (size_t i = 0; i < count; i++)
        map[i] = value;
}

/* "AZURE": {"0": "1", ...} into `map`; -1 where it has no entry. */
static void read_map(struct reading *r, const char *table, const char *name, int *map, size_t count,
                     int64_t most)
{
    const char *key;
    json_t *value;
    fill(map, count, -1);
    if (!*name)
        return;
    const struct entry entry = open_entry(r, table, name);
    if (is_there(&entry) == SONIC_NO)
        not_understood(r, "%s has no \"%.80s\", which PORT_QOS_MAP names", table, name);
    if (!entry.fields)
        fill(map, count, SONIC_UNREAD_CLASS);
    bool lost = false;
    json_object_foreach((json_t *)(uintptr_t)entry.fields, key, value)
    {
        int64_t from, to;
        (void)value;
        if (strcmp(key, "NULL") == 0) /* an entry without fields */
            continue;
        if (whole_number(key, &from) != 0 || from < 0 || from >= (int64_t)count) {
            not_understood(r, "%s|%.80s: \"%.40s\" is not a number below %zu", table, name, key, count);
            lost = true;
            continue;
        }
        to = field_number(r, &entry, key, 0, most);
        map[from] = sonic_is_given(to) ? (int)to : SONIC_UNREAD_CLASS;
    }
    for (size_t i = 0; lost && i < count; i++)
        map[i] = map[i] == -1 ? SONIC_UNREAD_CLASS : map[i];
}

/* Its entry of PORT_QOS_MAP, whose key may name other ports too. */
static struct entry find_qos(struct reading *r, const char *port)
{
    const char *key;
    json_t *fields;
    struct entry found = {.table = "PORT_QOS_MAP", .key = port};
    const json_t *all = find_table(r, "PORT_QOS_MAP", &found.unread);
    json_object_foreach((json_t *)(uintptr_t)all, key, fields)
    {
        if (!sonic_key_lists(key, strcspn(key, "|"), port))
            continue;
        const struct entry entry = entry_of(r, "PORT_QOS_MAP", key, fields);
        bool clash = found.fields && entry.fields && !json_equal((json_t *)(uintptr_t)found.fields, fields);
        if (clash)
            not_understood(
                r, "PORT_QOS_MAP: two keys name %.80s, with other fields: which holds is not known", port);
        found = found.unread || clash ? (struct entry){.table = "PORT_QOS_MAP", .key = port, .unread = true}
                                      : entry;
    }
    return found;
}

/* TCs go to the priority group and queue of their number where no map says otherwise. */
static void number_alike(const char *name, int *map, int most)
{
    for (int i = 0; !*name && i <= most; i++)
        map[i] = i;
}

/* A PFC frame stops the queue of its priority's number, and a priority group has one sent with its own: maps
 * that have other numbers are not followed. */
static void check_pfc_map(struct reading *r, const struct sonic_port *port, const struct entry *entry,
                          const char *field, const char *table, const char *what)
{
    char name[SONIC_NAME];
    int map[SONIC_PRIORITIES];
    field_reference(r, entry, field, name);
    fill(map, SONIC_PRIORITIES, -1);
    read_map(r, table, name, map, SONIC_PRIORITIES, SONIC_QUEUES - 1);
    for (int i = 0; i < SONIC_PRIORITIES; i++)
        if (port->pfc >> i & 1 && map[i] >= 0 && map[i] != i)
            not_understood(r,
                           "%s|%.80s: PFC of priority %d is that of %s %d: only maps to the same number are "
                           "followed",
                           table, name, i, what, map[i]);
}

static void read_qos(struct reading *r, struct sonic_port *port)
{
    const struct entry entry = find_qos(r, port->name), global = open_entry(r, "PORT_QOS_MAP", "global");
    char pg_map[SONIC_NAME], queue_map[SONIC_NAME];
    port->has_pfc = field_priorities(r, &entry, "pfc_enable", &port->pfc);
    field_reference(r, &entry, "dscp_to_tc_map", port->dscp_map);
    field_reference(r, &entry, "dot1p_to_tc_map", port->dot1p_map);
    field_reference(r, &entry, "tc_to_pg_map", pg_map);
    field_reference(r, &entry, "tc_to_queue_map", queue_map);
    if (!*port->dscp_map && !*port->dot1p_map)
        field_reference(r, &global, "dscp_to_tc_map", port->dscp_map);
    read_map(r, "DSCP_TO_TC_MAP", port->dscp_map, port->dscp_to_tc, SONIC_DSCPS, SONIC_TCS - 1);
    read_map(r, "TC_TO_PRIORITY_GROUP_MAP", pg_map, port->tc_to_pg, SONIC_TCS, SONIC_PRIORITIES - 1);
    read_map(r, "TC_TO_QUEUE_MAP", queue_map, port->tc_to_queue, SONIC_TCS, SONIC_QUEUES - 1);
    number_alike(pg_map, port->tc_to_pg, SONIC_PRIORITIES - 1);
    number_alike(queue_map, port->tc_to_queue, SONIC_PRIORITIES - 1);
    check_pfc_map(r, port, &entry, "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", "queue");
    check_pfc_map(r, port, &entry, "pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "group");
}

/* ---- buffers and WRED */

#define MOST_BYTES (INT64_C(1) << 40)

static void read_pool(struct reading *r, struct sonic_buffer *b)
{
    b->pool_bytes = b->pool_xoff_bytes = FIELD_UNSET;
    if (!*b->pool)
        return;
    const struct entry pool = open_entry(r, "BUFFER_POOL", b->pool);
    b->pool_bytes = field_number(r, &pool, "size", 0, MOST_BYTES);
    b->pool_xoff_bytes = field_number(r, &pool, "xoff", 0, MOST_BYTES);
}

static void read_buffer(struct reading *r, struct sonic_buffer *b)
{
    const struct entry profile = open_entry(r, "BUFFER_PROFILE", b->profile);
    b->described = is_there(&profile);
    field_reference(r, &profile, "pool", b->pool);
    b->size_bytes = field_number(r, &profile, "size", 0, MOST_BYTES);
    b->xon_bytes = field_number(r, &profile, "xon", 0, MOST_BYTES);
    b->xoff_bytes = field_number(r, &profile, "xoff", 0, MOST_BYTES);
    b->alpha_log = field_number(r, &profile, "dynamic_th", -8, 8);
    b->static_bytes = field_number(r, &profile, "static_th", 0, MOST_BYTES);
    b->threshold = sonic_is_given(b->alpha_log)      ? SONIC_DYNAMIC
                   : sonic_is_given(b->static_bytes) ? SONIC_STATIC
                                                     : SONIC_NO_THRESHOLD;
    read_pool(r, b);
}

/* Does an entry name a group or queue that another one gave another profile? orchagent takes the entry that
 * comes last, and the database does not say which that was. */
static bool is_clash(struct reading *r, const struct entry *entry, const char *before, const char *profile)
{
    bool clash = *before && strcmp(before, profile) != 0;
    if (clash)
        not_understood(
            r,
            "%s|%.80s: profile %.60s, and another key of the same port and number has %.60s: which "
            "of them holds is not known",
            entry->table, entry->key, profile, before);
    return clash;
}

static void read_group_buffer(struct reading *r, struct sonic_port *port, const struct entry *entry,
                              unsigned bits)
{
    struct sonic_buffer buffer = {.size_bytes = FIELD_UNSET};
    field_reference(r, entry, "profile", buffer.profile);
    read_buffer(r, &buffer);
    for (int i = 0; i < SONIC_PRIORITIES && *buffer.profile; i++)
        if (bits >> i & 1) {
            bool clash = is_clash(r, entry, port->pg[i].profile, buffer.profile);
            port->pg[i] = buffer;
            if (clash) {
                mark_unread(port->pg[i].profile);
                read_buffer(r, &port->pg[i]);
            }
        }
}

/* "ecn_green_yellow", "ecn_all": does the profile mark green packets, if WRED is on for them? */
static enum sonic_answer ecn_of_green(struct reading *r, const struct entry *profile)
{
    static const char *const modes[] = {"ecn_none",       "ecn_yellow", "ecn_red",
                                        "ecn_yellow_red", "ecn_green",  "ecn_green_yellow",
                                        "ecn_green_red",  "ecn_all",    NULL};
    char mode[SONIC_NAME];
    int i = 0;
    field_name(r, profile, "ecn", mode);
    if (!*mode || sonic_is_unread(mode))
        return *mode ? SONIC_UNKNOWN : SONIC_NO;
    while (modes[i] && strcmp(modes[i], mode) != 0)
        i++;
    if (!modes[i])
        not_understood(r, "%s|%.80s: ecn is \"%.40s\": expected ecn_none, ecn_all, ecn_green, ...",
                       profile->table, profile->key, mode);
    return !modes[i] ? SONIC_UNKNOWN : i >= 4 ? SONIC_YES : SONIC_NO;
}

/* Thresholds of ECN alone, which releases of 2026 have, take the place of those of WRED for what is
 * marked. */
static void read_wred(struct reading *r, struct sonic_wred *w)
{
    const struct entry profile = open_entry(r, "WRED_PROFILE", w->profile);
    w->described = is_there(&profile);
    w->ecn = ecn_of_green(r, &profile);
    w->enabled = field_choice(r, &profile, "wred_green_enable", "true", "false");
    w->kmin_bytes = field_number(r, &profile, "green_min_threshold", 0, MOST_BYTES);
    w->kmax_bytes = field_number(r, &profile, "green_max_threshold", 0, MOST_BYTES);
    w->pmax_percent = field_number(r, &profile, "green_drop_probability", 0, 100);
    int64_t kmin = field_number(r, &profile, "ecn_green_min_threshold", 0, MOST_BYTES),
            kmax = field_number(r, &profile, "ecn_green_max_threshold", 0, MOST_BYTES),
            pmax = field_number(r, &profile, "ecn_green_mark_probability", 0, 100);
    w->own_ecn = w->ecn != SONIC_NO && kmin != FIELD_UNSET && kmax != FIELD_UNSET && profile.fields;
    w->kmin_bytes = w->own_ecn ? kmin : w->kmin_bytes;
    w->kmax_bytes = w->own_ecn ? kmax : w->kmax_bytes;
    w->pmax_percent = w->own_ecn && pmax != FIELD_UNSET ? pmax : w->pmax_percent;
}

static void read_queue_wred(struct reading *r, struct sonic_port *port, const struct entry *entry,
                            unsigned bits)
{
    struct sonic_wred wred = {.kmin_bytes = FIELD_UNSET};
    field_reference(r, entry, "wred_profile", wred.profile);
    if (*wred.profile)
        read_wred(r, &wred);
    for (int i = 0; i < SONIC_QUEUES && *wred.profile; i++)
        if (bits >> i & 1) {
            bool clash = is_clash(r, entry, port->queue[i].profile, wred.profile);
            port->queue[i] = wred;
            if (clash) {
                mark_unread(port->queue[i].profile);
                read_wred(r, &port->queue[i]);
            }
        }
}

/* ---- ports */

static void read_cable(struct reading *r, struct sonic_port *port)
{
    bool unread;
    const json_t *all = find_table(r, "CABLE_LENGTH", &unread);
    const char *key;
    json_t *fields;
    port->cable_mm = unread ? SONIC_UNREAD : FIELD_UNSET;
    json_object_foreach((json_t *)(uintptr_t)all, key, fields)
    {
        const struct entry entry = entry_of(r, "CABLE_LENGTH", key, fields);
        int64_t length_mm = cable_length(r, &entry, port->name), before_mm = port->cable_mm;
        if (sonic_is_given(length_mm) && sonic_is_given(before_mm) && length_mm != before_mm)
            not_understood(r,
                           "CABLE_LENGTH: two keys have %.80s, with other lengths: which holds is not known",
                           port->name);
        port->cable_mm = length_mm == FIELD_UNSET                             ? before_mm
                         : before_mm == FIELD_UNSET || before_mm == length_mm ? length_mm
                                                                              : SONIC_UNREAD;
    }
}

static void read_watchdog(struct reading *r, struct sonic_port *port)
{
    const struct entry entry = open_entry(r, "PFC_WD", port->name);
    struct sonic_watchdog *w = &port->watchdog;
    w->on = is_there(&entry);
    field_name(r, &entry, "action", w->action);
    w->detection_ms = field_number(r, &entry, "detection_time", 0, INT32_MAX);
    w->restoration_ms = field_number(r, &entry, "restoration_time", 0, INT32_MAX);
}

/* Groups and queues of which an entry that was not understood may say something. */
static void mark_lost(struct reading *r, struct sonic_port *port, bool groups, bool queues)
{
    for (int i = 0; groups && i < SONIC_PRIORITIES; i++)
        if (!*port->pg[i].profile) {
            mark_unread(port->pg[i].profile);
            read_buffer(r, &port->pg[i]);
        }
    for (int i = 0; queues && i < SONIC_QUEUES; i++)
        if (!*port->queue[i].profile) {
            mark_unread(port->queue[i].profile);
            read_wred(r, &port->queue[i]);
        }
}

static int read_port(struct reading *r, const char *name, struct sonic_port *port, struct error *e)
{
    if (strlen(name) >= sizeof port->name)
        return error_set(e, "port %.80s...: a name has at most %d characters", name, SONIC_NAME - 1);
    snprintf(port->name, sizeof port->name, "%s", name);
    const struct entry entry = open_entry(r, "PORT", name);
    port->exists = is_there(&entry) != SONIC_NO;
    if (!port->exists)
        return 0;
    port->speed_Mbps = field_number(r, &entry, "speed", 1, 10000000);
    port->mtu = field_number(r, &entry, "mtu", 68, 65535);
    port->admin_up = field_choice(r, &entry, "admin_status", "up", "down");
    read_cable(r, port);
    read_qos(r, port);
    bool groups = read_numbered(r, port, "BUFFER_PG", read_group_buffer),
         queues = read_numbered(r, port, "QUEUE", read_queue_wred);
    mark_lost(r, port, groups, queues);
    read_watchdog(r, port);
    return 0;
}

static void read_switch(struct reading *r)
{
    struct sonic_config *config = r->config;
    const struct entry about = open_entry(r, "DEVICE_METADATA", "localhost"),
                       global = open_entry(r, "PFC_WD", "GLOBAL");
    field_name(r, &about, "hwsku", config->hwsku);
    field_name(r, &about, "platform", config->platform);
    field_name(r, &about, "hostname", config->host);
    field_name(r, &about, "asic_name", config->asic);
    config->poll_ms = field_number(r, &global, "POLL_INTERVAL", 1, INT32_MAX);
    config->big_red_switch = field_choice(r, &global, "BIG_RED_SWITCH", "enable", "disable");
    config->all_ports = json_object_size(json_object_get(r->json, "PORT"));
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

/* {"localhost": {tables}, "asic0": {tables}, ...} holds one configuration for each ASIC of a switch. */
static int refuse_tables(const json_t *json, struct error *e)
{
    struct text names = {0}, shown = {0};
    const char *key;
    json_t *value;
    if (!json_is_object(json))
        return error_set(e, "it is not an object of tables");
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        if (json_is_object(json_object_get(value, "PORT")))
            text_add(&names, "%s%.40s", names.length ? ", " : "", key);
    }
    visible_add(&shown, text_string(&names), names.length, VISIBLE_LINE);
    if (json_object_get(json, "PORT"))
        error_set(e, "PORT is not an object of keys");
    else if (names.length)
        error_set(
            e,
            "it has the tables of several ASICs or line cards, whose ports may have the same names (%.300s): "
            "record each by itself (sonic-cfggen -d -n asic0 --print-data), as a switch of the lab",
            text_string(&shown));
    else
        error_set(e, "it has no table PORT");
    text_free(&names);
    text_free(&shown);
    return -1;
}

int sonic_config_read(const json_t *json, const char *const names[], size_t count,
                      struct sonic_config *config, struct error *e)
{
    struct reading r = {json, config};
    if (!json_is_object(json_object_get(json, "PORT")))
        return refuse_tables(json, e);
    *config = (struct sonic_config){
        .ports = xcalloc(count + 1, sizeof *config->ports), .count = count, .unread = json_array()};
    read_switch(&r);
    int result = 0;
    for (size_t i = 0; result == 0 && i < count; i++)
        result = read_port(&r, names[i], &config->ports[i], e);
    if (result != 0)
        sonic_config_free(config);
    return result;
}

void sonic_config_free(struct sonic_config *config)
{
    free(config->ports);
    json_decref(config->unread);
    *config = (struct sonic_config){0};
}

const struct sonic_port *sonic_port_named(const struct sonic_config *config, const char *name)
{
    for (size_t i = 0; i < config->count; i++)
        if (strcmp(config->ports[i].name, name) == 0)
            return &config->ports[i];
    return NULL;
}
