/* What orchagent has asked the ASIC for, by ASIC_DB, beside what CONFIG_DB says. Attributes: opencomputeproject/SAI, inc/saiport.h,
 * saiqueue.h, saiwred.h. */
#include "harness/labs/hosts/sonic/counters.h"
#include "harness/labs/hosts/sonic/changes.h"
#include "lib/text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* With asymmetric PFC a port has a mask for each direction; that for sending follows CONFIG_DB (sonic-swss, portsorch.cpp, setPortPfc). */
static bool has_pfc(const struct sonic_port *port, const json_t *attributes, struct text *why)
{
    const char *mode =
        json_string_value(json_object_get(attributes, "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_MODE"));
    bool separate = mode && strcmp(mode, "SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE") == 0;
    int64_t mask = 0;
    sonic_read_value(
        attributes,
        separate ? "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX" : "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL", &mask);
    if (!port->has_pfc || mask == port->pfc)
        return true;
    text_add(why, "%s: CONFIG_DB has PFC with the mask 0x%x, the ASIC 0x%" PRIx64, port->name,
             (unsigned)port->pfc, mask);
    return false;
}

static bool agrees(int64_t wanted, const json_t *attributes, const char *name, const struct sonic_port *port,
                   int queue, struct text *why)
{
    int64_t value = FIELD_UNSET;
    if (wanted == FIELD_UNSET || (sonic_read_value(attributes, name, &value) && value == wanted))
        return true;
    text_add(why, "%s, queue %d: %s ", port->name, queue, name);
    if (value == FIELD_UNSET)
        text_add(why, "is not there");
    else
        text_add(why, "is %" PRId64, value);
    text_add(why, ", by CONFIG_DB %" PRId64, wanted);
    return false;
}

static bool has_wred(const struct sonic_port *port, int queue, const json_t *attributes, struct text *why)
{
    const struct sonic_wred *w = &port->queue[queue];
    if (!*w->profile && json_object_size(attributes) == 0)
        return true;
    if (!*w->profile) {
        text_add(why, "%s, queue %d: it has no WRED profile in CONFIG_DB, and one in the ASIC", port->name,
                 queue);
        return false;
    }
    if (w->own_ecn) /* these attributes have other names, which not all releases have */
        return true;
    return agrees(w->kmin_bytes, attributes, "SAI_WRED_ATTR_GREEN_MIN_THRESHOLD", port, queue, why) &&
           agrees(w->kmax_bytes, attributes, "SAI_WRED_ATTR_GREEN_MAX_THRESHOLD", port, queue, why) &&
           agrees(w->pmax_percent, attributes, "SAI_WRED_ATTR_GREEN_DROP_PROBABILITY", port, queue, why);
}

enum sonic_applied sonic_asic_has(const struct sonic_port *port, const json_t *asic, struct text *why)
{
    const json_t *attributes = json_object_get(asic, "port"), *queues = json_object_get(asic, "queues");
    char key[8];
    if (!json_is_object(attributes))
        return SONIC_UNSEEN;
    if (!has_pfc(port, attributes, why))
        return SONIC_DIFFERS;
    for (int i = 0; i < SONIC_TCS; i++) {
        snprintf(key, sizeof key, "%d", i);
        const json_t *queue = json_object_get(queues, key);
        if (queue && !has_wred(port, i, queue, why))
            return SONIC_DIFFERS;
    }
    return SONIC_APPLIED;
}
