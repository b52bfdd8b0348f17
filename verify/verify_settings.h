/* What must be known beyond the packets: a document of its own, with a host's settings in it. */
#ifndef VERIFY_SETTINGS_H
#define VERIFY_SETTINGS_H

#include "lib/formats/settings.h"
#include "lib/packets/capture_read.h"
#include "lib/physics/host.h"

/* What a NIC does beside go-back-N as the specification has it. NVIDIA's adapters have all three (roce_accl):
 * adaptive retransmission sends some packets again before the time-out, and the time-out may be longer than
 * it is set; selective repeat sends again what is missing, not all behind it; out-of-order placement takes
 * packets in any order, and asks for none. */
enum verify_recovery { RECOVERY_ADAPTIVE, RECOVERY_SELECTIVE, RECOVERY_OUT_OF_ORDER, RECOVERIES };
extern const char *const verify_recovery_names[]; /* ended by NULL */

/* Settings of some ports, where they differ. */
struct verify_port {
    struct list_of interfaces; /* char *: names of the capture's interfaces, or globs */
    struct settings settings;
    struct list_of recovery; /* int: enum verify_recovery */
    int64_t ack_timeout_ns, nak_again_ns, nak_delay_ns, byte_reset_bytes;
    int cnp_pacing, unmarked_cnps;
};

/* Ports whose egress queues mark above a length. */
struct verify_threshold {
    struct list_of interfaces; /* as of struct verify_port */
    int64_t kmin_bytes;
};

struct verify_settings {
    int64_t schema;
    struct settings settings;
    struct list_of hosts;    /* char *: addresses of the hosts at whose ports the capture was taken */
    struct list_of recovery; /* int: enum verify_recovery; not given: what the capture shows */
    int64_t nak_delay_ns;    /* a NAK leaves so much later than the packet came that shows a gap */
    int64_t
        nak_again_ns; /* a receiver asks once more for what has not come after this time; 0: it does not */
    int64_t byte_reset_bytes; /* between rate increases, in place of rpg_byte_reset */
    int64_t rate_bps, ack_timeout_ns, storm_ns, deadlock_ns, paused_window_ns;
    double paused_share, pauses_per_s; /* NAN: not given */
    int times;                         /* those of the capture are those of the wire */
    int complete;                      /* the capture has all packets of its ports */
    int cnp_pacing;                    /* enum physics_pacing; -1: not known */
    int unmarked_cnps;                 /* NICs send CNPs without marks, too; -1: not known */
    int some_flows;                    /* frames of other flows were left out of the capture */
    int links_down;                    /* links were down or slower for a time, in which senders waited */
    struct list_of priorities;         /* int64_t: all other frames were left out; none: no frame was */
    struct list_of ports;              /* struct verify_port */
    struct list_of ecn_thresholds;     /* struct verify_threshold */
    /* made of these */
    uint8_t (*addresses)[16];
    size_t address_count;
    struct verify_settings
        *of_ports; /* of each of `ports`: what it leaves out is that of all; they own nothing */
    bool own;      /* this is one of these */
};

extern const struct table verify_settings_table;

/* From a file, or the defaults if path is NULL; `hosts` has more addresses. Free with
 * verify_settings_free. */
int verify_settings_load(struct verify_settings *s, const char *path, const struct list_of *hosts,
                         struct error *e);
/* From a document. */
int verify_settings_parse(struct verify_settings *s, const json_t *document, const struct list_of *hosts,
                          struct error *e);
void verify_settings_free(struct verify_settings *s);
/* Those of an interface: of the first of `ports` that names it, or of all. */
const struct verify_settings *verify_settings_of(const struct verify_settings *s, const char *interface);
/* Above how many bytes the egress queues of an interface mark; -1: not known. */
int64_t verify_settings_threshold(const struct verify_settings *s, const char *interface);
/* Is it one of the hosts' addresses, as struct frame_ip has them? */
bool verify_settings_has(const struct verify_settings *s, const uint8_t address[16]);
/* The priority of a DSCP, or of a tag: -1: it cannot be known. */
int verify_settings_priority(const struct verify_settings *s, bool tagged, unsigned int pcp,
                             unsigned int dscp);
/* Does the NIC do it? -1: it is not said. */
int verify_settings_recovery(const struct verify_settings *s, enum verify_recovery which);
/* Is the number in a setting's list? `otherwise` if the list is not given. */
bool verify_settings_lists(const struct list_of *list, int64_t number, bool otherwise);

#endif
