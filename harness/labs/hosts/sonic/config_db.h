/*
 * What a SONiC switch's CONFIG_DB says about some of its ports: speeds, PFC, maps of classes, buffers, WRED,
 * the PFC watchdog. The tables and keys: sonic-net/sonic-buildimage, src/sonic-yang-models
 * (doc/Configuration.md and yang-models/sonic-*.yang). A config_db.json comes from elsewhere: a value of a
 * wrong type or range costs that value alone. It is unread, which is not the same as not given, and a
 * sentence in `unread` names table, key and field. A key may name several ports ("Ethernet0,Ethernet4|3-4"),
 * on a line card of a chassis also the card ("HOST|ASIC|Ethernet0|3"), and a reference may be written as
 * "[WRED_PROFILE|AZURE]", as in older releases. Blanks around a number mean nothing, as to orchagent.
 */
#ifndef HARNESS_LABS_SONIC_CONFIG_DB_H
#define HARNESS_LABS_SONIC_CONFIG_DB_H

#include "lib/document/table.h"
#include "lib/formats/lab.h"
#include <string.h>

#define SONIC_NAME       128 /* bytes of a name with its end */
#define SONIC_DSCPS      64
#define SONIC_TCS        16 /* sonic-types.yang: tc_type */
#define SONIC_PRIORITIES 8  /* of PFC; priority groups too */
#define SONIC_QUEUES     10 /* sonic-tc-queue-map.yang */

/* What was there and not understood: a number, a name, a class of a map. */
#define SONIC_UNREAD       (FIELD_UNSET + 1)
#define SONIC_UNREAD_NAME  "?"
#define SONIC_UNREAD_CLASS (-2)

enum sonic_answer { SONIC_NO, SONIC_YES, SONIC_UNKNOWN };

enum sonic_threshold { SONIC_NO_THRESHOLD, SONIC_DYNAMIC, SONIC_STATIC };

/* A number is a value, FIELD_UNSET (not given) or SONIC_UNREAD, a name a word, "" or SONIC_UNREAD_NAME. */

/* A profile of BUFFER_PROFILE, as it is used by a priority group. */
struct sonic_buffer {
    char profile[SONIC_NAME]; /* "": the priority group has no entry; "NULL": the switch computes it (dynamic
                                 buffer model) */
    char pool[SONIC_NAME];
    enum sonic_answer described; /* BUFFER_PROFILE has it */
    int64_t size_bytes, xon_bytes, xoff_bytes;
    int threshold; /* enum sonic_threshold */
    int64_t
        alpha_log; /* SONIC_DYNAMIC: the shared buffer may be used up to 2 to this times what is free of it */
    int64_t static_bytes;
    int64_t pool_bytes, pool_xoff_bytes; /* of the pool: its size; headroom that its ports share */
};

/* A profile of WRED_PROFILE, as it is used by a queue; what it does to green packets, which packets are
 * unless a policer says otherwise. */
struct sonic_wred {
    char profile[SONIC_NAME]; /* "": the queue has none */
    enum sonic_answer described;
    enum sonic_answer ecn, enabled; /* for green packets: ECN; WRED, without which nothing is marked */
    bool own_ecn;                   /* the thresholds are those of ECN alone: drops have others */
    int64_t kmin_bytes, kmax_bytes, pmax_percent;
};

struct sonic_watchdog {
    enum sonic_answer on;
    char action[SONIC_NAME];
    int64_t detection_ms, restoration_ms;
};

/* sonic-swss: orchagent/pfcwdorch.cpp, PFC_WD_DETECTION_TIME_MIN and so on; orchdaemon.cpp,
 * PFC_WD_POLL_MSECS. */
#define SONIC_DETECTION_LEAST_MS   INT64_C(100)
#define SONIC_DETECTION_MOST_MS    INT64_C(5000)
#define SONIC_RESTORATION_LEAST_MS INT64_C(100)
#define SONIC_RESTORATION_MOST_MS  INT64_C(60000)
#define SONIC_POLL_DEFAULT_MS      INT64_C(100)

struct sonic_port {
    char name[SONIC_NAME];
    bool exists; /* PORT has it; nothing else is read otherwise */
    int64_t speed_Mbps, mtu, cable_mm;
    enum sonic_answer admin_up;
    enum sonic_answer has_pfc;                        /* PORT_QOS_MAP has pfc_enable */
    uint8_t pfc;                                      /* a bit for each priority, if it has */
    char dscp_map[SONIC_NAME], dot1p_map[SONIC_NAME]; /* "": none */
    int dscp_to_tc[SONIC_DSCPS];                      /* -1: not in the map */
    int tc_to_pg[SONIC_TCS], tc_to_queue[SONIC_TCS];
    struct sonic_buffer pg[SONIC_PRIORITIES];
    struct sonic_wred queue[SONIC_QUEUES];
    struct sonic_watchdog watchdog;
};

struct sonic_config {
    char hwsku[SONIC_NAME], platform[SONIC_NAME];
    char host[SONIC_NAME], asic[SONIC_NAME]; /* of a line card; asic is "" where there are none */
    int64_t poll_ms;                         /* PFC_WD|GLOBAL */
    enum sonic_answer big_red_switch;
    size_t all_ports; /* that PORT has */
    struct sonic_port *ports;
    size_t count;
    json_t *unread; /* sentences, in one line each: what was not understood */
};

static inline bool sonic_is_given(int64_t value)
{
    return value > SONIC_UNREAD;
}

static inline bool sonic_is_unread(const char *name)
{
    return strcmp(name, SONIC_UNREAD_NAME) == 0;
}

/* The ports of the switch that links of the lab name: *count pointers into the lab. The caller frees the
 * array. */
const char **sonic_ports_named(const struct lab *lab, const struct lab_switch *s, size_t *count);
/* Read what `json` says about these ports. Fails only where it is not a configuration at all; nothing is left
 * allocated then. */
int sonic_config_read(const json_t *json, const char *const names[], size_t count,
                      struct sonic_config *config, struct error *e);
void sonic_config_free(struct sonic_config *config);
const struct sonic_port *sonic_port_named(const struct sonic_config *config, const char *name);

/* Keys. The entry's part of a name "TABLE|ENTRY", within `name`, and the table, which is cut to its size;
 * NULL: there is no entry. */
const char *sonic_key_entry(const char *name, char *table, size_t size);
/* The parts of a key "PORTS|NUMBERS", on a VoQ chassis "HOST|ASIC|PORTS|NUMBERS", within the key. */
struct sonic_key {
    const char *card, *ports, *numbers; /* card: "HOST|ASIC", of any line card of the chassis */
    size_t card_length, ports_length;
};
/* False: it has no numbers. */
bool sonic_key_parse(const char *text, struct sonic_key *key);
/* Are its ports of this line card, where others have ports of the same names? A key without a card: yes. */
enum sonic_answer sonic_key_is_here(const struct sonic_key *key, const struct sonic_config *config);
/* Is the port in a list such as "Ethernet0,Ethernet4"? */
bool sonic_key_lists(const char *list, size_t length, const char *port);

/* The tables that sonic_config_read looks at; ended by NULL. */
extern const char *const sonic_config_tables[];

#endif
