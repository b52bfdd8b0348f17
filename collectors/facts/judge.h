/* What the checks (checks*.c) share: how facts are read, and how a verdict is given. */
#ifndef COLLECTORS_JUDGE_H
#define COLLECTORS_JUDGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict { VERDICT_OK, VERDICT_WARNING, VERDICT_FAILURE, VERDICT_UNKNOWN };

struct checks_wanted;

struct judge {
    const json_t *facts;
    const json_t *gpus;                 /* those of the facts that are hardware */
    const struct checks_wanted *wanted; /* checks.h */
    json_t *list;
    const char *check;    /* the check that is running */
    const char *evidence; /* where its facts are read */
};

/* Add a verdict; what was not read is VERDICT_UNKNOWN. fix: a command where possible, NULL if there is
 * nothing to do. */
void judge_say(struct judge *j, enum verdict verdict, const char *subject, const char *fix,
               const char *format, ...) __attribute__((format(printf, 5, 6)));
/* As judge_say, with the place and the value that this verdict comes from instead of the check's evidence. */
void judge_show(struct judge *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A fact, below `b` if that is not NULL: NULL, "" or -1 if it is not there or of another type. */
const json_t *fact_at(const json_t *from, const char *a, const char *b);
const char *fact_word(const json_t *from, const char *a, const char *b);
int64_t fact_number(const json_t *from, const char *a, const char *b);

enum link { LINK_UNKNOWN, LINK_UP, LINK_DOWN };
/* That of a NIC of the facts: of its RDMA port, and of its interface. */
enum link fact_link(const json_t *nic);

bool judge_has_module(const struct judge *j, const char *name);
/* Were the loaded modules read? */
bool judge_saw_modules(const struct judge *j);
bool judge_in_guest(const struct judge *j);
/* Memory of a virtual ConnectX's module that stands for a GPU's? It is in the facts, but no check of a card
 * is for it. */
bool judge_gpu_virtual(const json_t *gpu);
const json_t *judge_gpus(const struct judge *j);
/* Its interface; an RDMA port without one has its device's name. */
const char *judge_nic_name(const json_t *nic);
/* Is what is judged of RoCE for this NIC? Not if it is known that its port speaks something else. */
bool judge_speaks_roce(const json_t *nic);
/* Is a pair of GPU and NIC one by which RDMA could go? */
bool judge_can_pair(const struct judge *j, const json_t *pair);
/* vfio-pci has all GPUs: a guest's driver uses them, and its NICs may be a guest's too. */
bool judge_given_to_guests(const struct judge *j);
const char *judge_gpu_name(const json_t *gpu);
/* Are all of them GeForce, whose memory CUDA registers for no other device? False if there is none. */
bool gpus_are_geforce(const json_t *gpus);
/* True if checks of GPUs are left out: without a word if flows have host memory, for what was not asked is
 * not unknown; with a verdict if the host has no GPU. Of one that is virtual check_virtual says what it is.
 */
bool judge_no_gpu(struct judge *j);
/* "0000:41:00.0 - 0000:06:00.0": NIC and GPU. */
void judge_pair_name(const json_t *pair, char *subject, size_t size);

/* ---- checks; the list is in checks.c */

/* Is the flows' route one by dma-buf, or one by nvidia_peermem? Neither: host memory, or any route. */
bool judge_by_dmabuf(const struct judge *j);
bool judge_by_peermem(const struct judge *j);

void check_peer_memory(struct judge *j);
void check_peer_client(struct judge *j);
void check_peer_lock(struct judge *j);
void check_gdrcopy(struct judge *j);
void check_cluster_policy(struct judge *j);
void check_virtual(struct judge *j);
void check_link(struct judge *j);
void check_gid(struct judge *j);
void check_governor(struct judge *j);
void check_numa(struct judge *j);
void check_relaxed_ordering(struct judge *j);
void check_irq_affinity(struct judge *j);
void check_iommu_groups(struct judge *j);
void check_congestion(struct judge *j);
void check_dcbx(struct judge *j);
void check_lldp(struct judge *j);
void check_counters(struct judge *j);
void check_port(struct judge *j);

#endif
