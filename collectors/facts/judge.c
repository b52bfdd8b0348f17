#include "collectors/facts/judge.h"

#include "lib/document/json_text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void judge_say(struct judge *j, enum verdict verdict, const char *subject, const char *fix,
               const char *format, ...)
{
    static const char *const names[] = {"ok", "warning", "failure", "unknown"};
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    json_array_append_new(j->list, json_make("{s:s,s:s,s:s,s:s,s:s?,s:s}", "check", j->check, "subject",
                                             subject, "verdict", names[verdict], "reason", reason, "fix", fix,
                                             "evidence", j->evidence));
}

void judge_show(struct judge *j, const char *format, ...)
{
    char evidence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(evidence, sizeof evidence, format, arguments);
    va_end(arguments);
    json_object_set_new(json_array_get(j->list, json_array_size(j->list) - 1), "evidence",
                        json_text(evidence));
}

/* ---- reading facts */

const json_t *fact_at(const json_t *from, const char *a, const char *b)
{
    const json_t *found = json_object_get(from, a);
    return b ? json_object_get(found, b) : found;
}

const char *fact_word(const json_t *from, const char *a, const char *b)
{
    const char *text = json_string_value(fact_at(from, a, b));
    return text ? text : "";
}

int64_t fact_number(const json_t *from, const char *a, const char *b)
{
    const json_t *found = fact_at(from, a, b);
    return json_is_integer(found) ? json_integer_value(found) : -1;
}

/* By the RDMA port's state ("4: ACTIVE", or "5: ACTIVE_DEFER", an active port whose link is being recovered:
 * linux include/rdma/ib_verbs.h, enum ib_port_state) and the interface's (RFC 2863; "unknown" is what drivers
 * that do not say it have). */
enum link fact_link(const json_t *nic)
{
    const char *port = fact_word(nic, "rdma", "state"), *netdev = fact_word(nic, "state", NULL);
    char state =
        port[0] >= '1' && port[0] <= '5' && port[1] == ':' ? port[0] : '0'; /* "0: NOP" says nothing */
    if ((state >= '1' && state <= '3') || strcmp(netdev, "down") == 0 ||
        strcmp(netdev, "lowerlayerdown") == 0 || strcmp(netdev, "notpresent") == 0)
        return LINK_DOWN;
    return state != '0' || (!port[0] && strcmp(netdev, "up") == 0) ? LINK_UP : LINK_UNKNOWN;
}

bool judge_has_module(const struct judge *j, const char *name)
{
    return fact_at(j->facts, "modules", name);
}

bool judge_saw_modules(const struct judge *j)
{
    return json_is_object(json_object_get(j->facts, "modules"));
}

bool judge_in_guest(const struct judge *j)
{
    return json_is_string(fact_at(j->facts, "system", "hypervisor"));
}

const json_t *judge_gpus(const struct judge *j)
{
    return j->gpus;
}

bool judge_gpu_virtual(const json_t *gpu)
{
    return json_is_object(json_object_get(gpu, "virtual"));
}

const char *judge_gpu_name(const json_t *gpu)
{
    const char *name = fact_word(gpu, "pci", "address");
    return name[0] != '\0' ? name : "gpu";
}

const char *judge_nic_name(const json_t *nic)
{
    const char *netdev = fact_word(nic, "netdev", NULL);
    return netdev[0] != '\0' ? netdev : fact_word(nic, "rdma", "device");
}

bool judge_speaks_roce(const json_t *nic)
{
    const char *transport = fact_word(nic, "rdma", "transport");
    return transport[0] == '\0' || strcmp(transport, "RoCE") == 0;
}

/* Can the NIC itself do RDMA? Not the kernel upon it (Soft-RoCE): that copies. */
static bool judge_can_rdma(const json_t *nic)
{
    /* with its RDMA module not loaded, too: linux drivers/infiniband/hw */
    static const char *const drivers[] = {"mlx4_core", "mlx5_core", "bnxt_en", "ice",   "qede", "cxgb4",
                                          "hns3",      "ionic",     "mana",    "erdma", "efa",  NULL};
    const char *driver = fact_word(nic, "driver", NULL);
    if (fact_word(nic, "rdma", "firmware")[0] || fact_word(nic, "rdma", "pci")[0])
        return true;
    for (size_t i = 0; drivers[i]; i++)
        if (strcmp(drivers[i], driver) == 0)
            return true;
    return false;
}

bool judge_can_pair(const struct judge *j, const json_t *pair)
{
    const char *address = fact_word(pair, "nic", NULL);
    bool known = false;
    size_t i;
    const json_t *nic;
    json_array_foreach(json_object_get(j->facts, "nics"), i, nic)
    {
        if (strcmp(fact_word(nic, "pci", "address"), address) != 0)
            continue;
        known = true;
        if (judge_can_rdma(nic))
            return true;
    }
    return !known;
}

bool judge_given_to_guests(const struct judge *j)
{
    size_t i;
    const json_t *gpu;
    json_array_foreach(judge_gpus(j), i, gpu)
    {
        if (strcmp(fact_word(gpu, "pci", "driver"), "vfio-pci") != 0)
            return false;
    }
    return json_array_size(judge_gpus(j)) > 0;
}

void judge_pair_name(const json_t *pair, char *subject, size_t size)
{
    snprintf(subject, size, "%s - %s", fact_word(pair, "nic", NULL), fact_word(pair, "gpu", NULL));
}
