/*
 * What a SONiC switch's CONFIG_DB says about some of its ports: speeds, PFC, maps of classes, buffers, WRED,
 * the PFC watchdog. The tables and keys: sonic-net/sonic-buildimage, src/sonic-yang-models
 * (doc/Configuration.md and yang-models/sonic-*.yang). A config_db.json comes from elsewhere: values of a
 * wrong type or range are errors that name table, key and field. A key may name several ports
 * ("Ethernet0,Ethernet4|3-4") and a reference may be written as "[WRED_PROFILE|AZURE]", as in older releases.
 */
#ifndef HARNESS_LABS_SONIC_CONFIG_DB_H
#define HARNESS_LABS_SONIC_CONFIG_DB_H

#include "lib/document/table.h"
#include "lib/formats/lab.h"

#define SONIC_NAME  128 /* bytes of a name with its end */
#define SONIC_DSCPS 64
#define SONIC_TCS   8

enum sonic_threshold { SONIC_NO_THRESHOLD, SONIC_DYNAMIC, SONIC_STATIC };

/* A profile of BUFFER_PROFILE, as it is used by a priority group. Sizes are FIELD_UNSET where the profile has
 * none. */
struct sonic_buffer {
    char profile[SONIC_NAME]; /* "": the priority group has no entry; "NULL": the switch computes it (dynamic
                                 buffer model) */
    char pool[SONIC_NAME];
    bool described; /* BUFFER_PROFILE has it */
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
    bool described;
    bool marks;   /* ECN: green packets that are ECN-capable are marked */
    bool own_ecn; /* the thresholds are those of ECN alone: drops have others */
    int64_t kmin_bytes, kmax_bytes, pmax_percent; /* FIELD_UNSET: not given */
};

struct sonic_watchdog {
    bool on;
    char action[SONIC_NAME];
    int64_t detection_ms, restoration_ms; /* FIELD_UNSET: not given */
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
    bool exists;                       /* PORT has it; nothing else is read otherwise */
    int64_t speed_Mbps, mtu, cable_mm; /* FIELD_UNSET: not given */
    bool admin_up;
    bool has_pfc;                                     /* PORT_QOS_MAP has pfc_enable */
    uint8_t pfc;                                      /* a bit for each priority */
    char dscp_map[SONIC_NAME], dot1p_map[SONIC_NAME]; /* "": none */
    int dscp_to_tc[SONIC_DSCPS];                      /* -1: not in the map */
    int tc_to_pg[SONIC_TCS], tc_to_queue[SONIC_TCS];
    struct sonic_buffer pg[SONIC_TCS];
    struct sonic_wred queue[SONIC_TCS];
    struct sonic_watchdog watchdog;
};

struct sonic_config {
    char hwsku[SONIC_NAME], platform[SONIC_NAME];
    int64_t poll_ms; /* PFC_WD|GLOBAL; FIELD_UNSET: not given */
    bool big_red_switch;
    struct sonic_port *ports;
    size_t count;
};

/* The ports of the switch that links of the lab name: *count pointers into the lab. The caller frees the
 * array. */
const char **sonic_ports_named(const struct lab *lab, const struct lab_switch *s, size_t *count);
/* Read what `json` says about these ports. On error nothing is left allocated. */
int sonic_config_read(const json_t *json, const char *const names[], size_t count,
                      struct sonic_config *config, struct error *e);
void sonic_config_free(struct sonic_config *config);
const struct sonic_port *sonic_port_named(const struct sonic_config *config, const char *name);

/* Keys. The entry's part of a name "TABLE|ENTRY", within `name`, and the table, which is cut to its size;
 * NULL: there is no entry. */
const char *sonic_key_entry(const char *name, char *table, size_t size);
/* The ports of a key "PORTS|NUMBERS", on a VoQ chassis "HOST|ASIC|PORTS|NUMBERS", within `key`; NULL: it has
 * no numbers. */
const char *sonic_key_ports(const char *key, size_t *length);
/* Is the port in a list such as "Ethernet0,Ethernet4"? */
bool sonic_key_lists(const char *list, size_t length, const char *port);

/* The tables that sonic_config_read looks at; ended by NULL. */
extern const char *const sonic_config_tables[];

#endif
