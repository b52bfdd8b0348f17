/* Real hosts over ssh: what the libvirt and the ssh lab share. */
#ifndef HARNESS_LABS_HOST_H
#define HARNESS_LABS_HOST_H

#include "remote/ssh.h"
#include "remote/virt.h"
#include "harness/labs/driver.h"
#include "lib/clock.h"

#define REMOTE_COMMAND_NS \
    (60 * 1000000000LL) /* a command on a host: nic-config waits for links, GIDs and firmware */

#define REMOTE_EXTRA_NICS 64 /* as many as a lab may give a host */

/* An open host. */
struct remote_host {
    const struct lab_host *lab; /* NULL: unused */
    struct ssh_session *ssh;
    bool shares; /* the connection is that of another host of its machine, which closes it */
    char *netdev, *rdma;
    char *extra[REMOTE_EXTRA_NICS]; /* network devices of a forwarding host's other ports; NULL after the
                                       last */
    json_t *nic;                    /* nic-config's last answer to get */
    json_t *thresholds;             /* nic-config's, after settings were applied */
    json_t *warnings;               /* made when they were applied */
    uint8_t priorities;             /* of the flows that have an end here, a bit each: for the NIC's VLAN */
    int64_t offset_ns, error_ns;
    bool nvml_answers; /* for the lab's GPU, by the last facts */
    bool virtual_gpu;  /* the lab's GPU is memory of a virtual ConnectX's module: NVML does not know it */
    bool slowed;       /* virtual_gpu_set was tried */
    bool settled;      /* what the last run kept was taken over or restored, or there was nothing */
    struct switch_role *sonic; /* the role is a switch's (sonic/switches.h); NULL: a host's */
    struct {
        uint64_t bytes, lines_left_out, bytes_left_out;
    } log;       /* what its programs said, in run.log (remote_stream.h) */
    bool silent; /* it was stopped, or had sent nothing for a while when the run failed */
};

/* Connect: start the host if it is a guest, wait for ssh. `virt` is NULL in an ssh lab. */
int remote_host_open(struct remote_host *h, struct virt *virt, const struct lab *lab,
                     const struct lab_host *host, int64_t timeout_ns, struct error *e);
/* The same, given up when *cancelled becomes true. */
int remote_host_open_unless(struct remote_host *h, struct virt *virt, const struct lab *lab,
                            const struct lab_host *host, int64_t timeout_ns, const atomic_bool *cancelled,
                            struct error *e);
/* Another NIC of the machine of `first`, which stays open as long. */
void remote_host_join(struct remote_host *h, const struct lab_host *host, const struct remote_host *first);
void remote_host_close(struct remote_host *h);

/* The name of its machine; its own where it is the only one. */
static inline const char *remote_machine_name(const struct remote_host *h)
{
    return h->lab->machine ? h->lab->machine : h->lab->name;
}
/* Path of one of our programs on the host; in `buffer`. */
const char *remote_program(const struct remote_host *h, const char *name, char *buffer, size_t size);
/* Run one of our programs that prints a JSON object. Exit status 1 is not an error: the caller decides, by
 * *status (may be NULL). Returns a new reference, or NULL with `e` set. */
json_t *remote_json(struct remote_host *h, const char *const argv[], const char *input, int *status,
                    struct error *e);
/* The same with another time limit than REMOTE_COMMAND_NS. */
json_t *remote_json_within(struct remote_host *h, const char *const argv[], const char *input,
                           int64_t timeout_ns, int *status, struct error *e);

/* ---- settings, through nic-config */

/* What is wrong with a role's settings on this host, or with how the lab names its NIC, that needs no
 * connection to be seen. */
int remote_settings_check(const struct lab_host *host, const json_t *wanted, struct error *e);
/* Find the network and RDMA device of the experiment's NIC; fills netdev, rdma and nic. */
int remote_find_nic(struct remote_host *h, struct error *e);
/* Settings in force of the host's NICs: nic-config's document. A new reference. */
json_t *remote_settings_get(struct remote_host *h, struct error *e);
/* A role's settings as nic-config's interfaces. A forwarding host joins its ports by a bridge; each port
 * gets the role's queue settings, and a port whose NIC handles RoCE leaves it to the bridge. A new
 * reference. */
json_t *remote_interfaces(const struct remote_host *h, const json_t *wanted);
/* Is what nic-config read back after it set them what was wanted? Settings that it left out are not looked
 * at. 0, or -1 with the setting that is not in force. */
int remote_settings_compare(const struct remote_host *h, const json_t *wanted, const json_t *read_back,
                            struct error *e);
/* A scenario's settings for one of the hosts of a machine. */
struct machine_settings {
    struct remote_host *host;
    const json_t *wanted;
    json_t *warnings;   /* the caller's: settings that are not supported are named there */
    json_t *read_back;  /* for the caller to release */
    json_t *interfaces; /* while they are applied */
};
/* Apply them to the NICs of all these hosts in one transaction: all are set, or none. */
int remote_settings_set(struct machine_settings all[], size_t count, struct error *e);
/* What applying would do, as entries of harness doctor (harness/doctor/check.h): thresholds, missing and
 * refused settings. Nothing is changed. */
void remote_settings_plan(struct remote_host *h, const json_t *wanted, json_t *entries);
/* Wait until the links of the host's NICs are up and stay up: the settings of another host may have taken
 * them down. */
int remote_settle(struct remote_host *h, struct error *e);
/* Restore whatever was changed. Returns nic-config's answer ("restored", "gone", "failed"). */
json_t *remote_settings_restore(struct remote_host *h, struct error *e);
/* Is there a journal of an earlier run that was not restored? From the last get. */
bool remote_journal_open(const struct remote_host *h);
/* The thresholds as result.json's "buffers". A new reference. */
json_t *remote_buffers(const struct remote_host *h);

/* ---- facts and clock */

/* host-facts' document of the machine, judged for flows with this memory (enum flow_memory); its tools are
 * asked about these interfaces, ended by NULL (none: about all). NULL with `e` set. */
json_t *remote_facts(struct remote_host *h, int memory, const char *const netdevs[], struct error *e);
/* Take from facts what the host's GPU is: nvml_answers, virtual_gpu. */
void remote_find_gpu(struct remote_host *h, const json_t *facts);
/* Where the NICs of the experiment come from. */
enum origin remote_origin(const struct remote_host *h, const json_t *facts);
/* Names of the host's capabilities. A new reference. */
json_t *remote_capabilities(const struct remote_host *h, const json_t *facts);
/* What a host says of its clock: seconds and microseconds, "1700000000.123456". -1: it is not that, or
 * after the year 2115. */
int remote_time(const char *text, int64_t *time_ns);
/* The host's clock minus the controller's (`here`), and its maximum error: half the shortest round trip. */
int remote_clock(struct remote_host *h, const struct clock_steady *here, int64_t *offset_ns,
                 int64_t *error_ns, struct error *e);

#endif
