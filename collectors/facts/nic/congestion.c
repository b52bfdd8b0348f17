/*
 * Sources: mstflint, mlxconfig/mlxconfig_dbs/mlxconfig_host.db ("legacy_cc_dcqcn": the device will only use
 * legacy Congestion Control DCQCN algorithm) and tools_layouts/adb/prm/hca/ext/register_access_table.adb
 * (register PPCC); NVIDIA's "Scaling Zero Touch RoCE Technology with Round Trip Time Congestion Control" and
 * its thread in NVIDIA's forum: both ends need ConnectX-6 Dx or newer, and agree through RDMA-CM, unless PPCC
 * forces it.
 */
#include "collectors/facts/nic/congestion.h"

#include "collectors/facts/judge.h"
#include "collectors/facts/nic/firmware_config.h"
#include "collectors/facts/nic/tools.h"
#include "lib/document/json_text.h"
#include "lib/kernel/sysfs.h"
#include "lib/text.h"
#include <ctype.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SLOTS      16
#define NAME_WORDS 55 /* of PPCC's field text */

/* PPCC's cmd_type */
enum { PPCC_ALGORITHM = 0x0, PPCC_ENABLED = 0x3, PPCC_ALGORITHMS = 0x10 };

/* Devices before ConnectX-6 Dx (pci-ids, 15b3): ConnectX-4, 4 Lx, 5, 5 Ex, 6 and BlueField, and their virtual
 * functions. */
static const char *const dcqcn_only[] = {"15b3:1013", "15b3:1014", "15b3:1015", "15b3:1016",
                                         "15b3:1017", "15b3:1018", "15b3:1019", "15b3:101a",
                                         "15b3:101b", "15b3:101c", "15b3:a2d2", "15b3:a2d3"};

static bool is_dcqcn_only(const char *id)
{
    for (size_t i = 0; i < sizeof dcqcn_only / sizeof *dcqcn_only; i++)
        if (strcmp(dcqcn_only[i], id) == 0)
            return true;
    return false;
}

/* ---- the register PPCC: which algorithms there are, and which are enabled */

/* Lines "value         | 0x00000001". */
int64_t ppcc_field(const char *output, const char *field)
{
    size_t length = strlen(field);
    for (const char *line = output; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *at = line + strspn(line, " \t"), *number = at + length;
        if (strncmp(at, field, length) != 0)
            continue;
        number += strspn(number, " \t");
        if (*number == '|' && strncmp(number + 1 + strspn(number + 1, " \t"), "0x", 2) == 0)
            return (int64_t)(strtoul(number + 1, NULL, 16) & UINT32_MAX);
    }
    return -1;
}

void ppcc_name(const char *output, char *name, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < 4 * NAME_WORDS && used + 1 < size; i++) {
        char field[16];
        snprintf(field, sizeof field, "text[%d]", i / 4);
        int64_t word = ppcc_field(output, field);
        int c = word < 0 ? 0 : (int)(word >> (24 - 8 * (i % 4)) & 0xff);
        if (c == ',' || !isprint(c))
            break;
        name[used++] = (char)c;
    }
    name[used] = '\0';
}

static int get_with(const char *program, const char *address, int command, int slot, const char *more,
                    struct text *out)
{
    char operation[32], indexes[128];
    const char *const argv[] = {program, "-d",      address,     "--reg_name", "PPCC", "--get",
                                "--op",  operation, "--indexes", indexes,      NULL};
    struct text why = {0};
    snprintf(operation, sizeof operation, "cmd_type=0x%x", (unsigned int)command);
    snprintf(indexes, sizeof indexes, "local_port=1,pnat=0,lp_msb=0,algo_slot=%d,algo_param_index=0%s", slot,
             more);
    int status = tool_ask(argv, out, &why);
    text_free(&why);
    return status;
}

/* Newer versions of the register have one more index. */
static bool run_mlxreg(const char *program, const char *address, int command, int slot, struct text *out)
{
    int status = get_with(program, address, command, slot, "", out);
    return (status > 0 ? get_with(program, address, command, slot, ",target_app=0", out) : status) == 0;
}

static json_t *read_slot(const char *program, const char *address, int slot)
{
    struct text out = {0};
    char name[64] = "";
    int64_t enabled =
        run_mlxreg(program, address, PPCC_ENABLED, slot, &out) ? ppcc_field(text_string(&out), "value") : -1;
    if (run_mlxreg(program, address, PPCC_ALGORITHM, slot, &out))
        ppcc_name(text_string(&out), name, sizeof name);
    text_free(&out);
    return json_make("{s:i,s:s,s:o}", "slot", slot, "name", name, "enabled",
                     enabled < 0 ? json_null() : json_boolean(enabled));
}

/* The algorithms that the firmware has, or null. */
static json_t *read_slots(const char *address)
{
    static const char *const programs[] = {"mstreg", "mlxreg", NULL};
    const char *program = tool_installed(programs);
    struct text out = {0};
    json_t *slots = NULL;
    if (program && run_mlxreg(program, address, PPCC_ALGORITHMS, 0, &out))
        slots = json_array();
    for (int slot = 0; slots && slot < SLOTS; slot++) {
        char field[16];
        snprintf(field, sizeof field, "text[%d]", slot);
        if (ppcc_field(text_string(&out), field) > 0)
            json_array_append_new(slots, read_slot(program, address, slot));
    }
    text_free(&out);
    return slots ? slots : json_null();
}

/* ---- what follows */

struct enabled {
    bool dcqcn, rtt, unknown;
};

static struct enabled enabled_of(const json_t *slots)
{
    struct enabled found = {0};
    size_t i;
    const json_t *slot;
    json_array_foreach(slots, i, slot)
    {
        const char *name = fact_word(slot, "name", NULL);
        const json_t *on = json_object_get(slot, "enabled");
        bool rtt = strcasestr(name, "rtt"), dcqcn = strcasestr(name, "dcqcn");
        found.unknown = found.unknown || !json_is_boolean(on) || !(rtt || dcqcn);
        found.rtt = found.rtt || (rtt && json_is_true(on));
        found.dcqcn = found.dcqcn || (dcqcn && json_is_true(on));
    }
    return found;
}

static json_t *control_json(const char *control, const char *why, json_t *slots)
{
    return json_make("{s:s?,s:s,s:o}", "control", control, "why", why, "slots", slots);
}

/* The firmware has more than the legacy DCQCN: what PPCC says of it decides, if it was read. */
static json_t *by_slots(const struct facts_source *s, const char *address)
{
    json_t *slots = s->live ? read_slots(address) : json_null();
    struct enabled is = enabled_of(slots);
    if (is.rtt && !is.dcqcn && !is.unknown)
        return control_json("rtt", "the register PPCC has RTTCC enabled and DCQCN disabled", slots);
    if (is.dcqcn && !is.rtt && !is.unknown)
        return control_json("dcqcn", "the register PPCC has DCQCN alone enabled", slots);
    return control_json("negotiated", "ROCE_CC_LEGACY_DCQCN is False", slots);
}

static json_t *by_config(const struct facts_source *s, const json_t *nic)
{
    if (firmware_config_value(nic, "USER_PROGRAMMABLE_CC") > 0)
        return control_json("programmable", "USER_PROGRAMMABLE_CC is True", json_null());
    if (firmware_config_value(nic, "ROCE_CC_LEGACY_DCQCN") > 0)
        return control_json("dcqcn", "ROCE_CC_LEGACY_DCQCN is True", json_null());
    if (firmware_config_value(nic, "ROCE_CC_LEGACY_DCQCN_SW") > 0)
        return control_json("dcqcn", "ROCE_CC_LEGACY_DCQCN_SW is True", json_null());
    if (!json_object_get(fact_at(nic, "firmware_config", "values"), "ROCE_CC_LEGACY_DCQCN"))
        return control_json("dcqcn", "the firmware has no ROCE_CC_LEGACY_DCQCN: it has no other control",
                            json_null());
    if (firmware_config_value(nic, "ROCE_CC_LEGACY_DCQCN") < 0)
        return control_json(NULL, "ROCE_CC_LEGACY_DCQCN has no value that is known here", json_null());
    return by_slots(s, fact_word(nic, "pci", "address"));
}

/* Upstream's driver shows how RTT requests are answered where the firmware can (linux
 * drivers/infiniband/hw/mlx5/cong.c, mlx5_ib_init_cong_debugfs: roce_cc_general). */
static bool answers_rtt(const struct facts_source *s, const char *address)
{
    return sysfs_exists(s->root, "/sys/kernel/debug/mlx5/%s/cc_params/rtt_resp_dscp", address);
}

json_t *facts_congestion(const struct facts_source *s, const json_t *nic)
{
    const char *address = fact_word(nic, "pci", "address"), *driver = fact_word(nic, "pci", "driver");
    const char *transport = fact_word(nic, "rdma", "transport");
    if (strcmp(driver[0] ? driver : fact_word(nic, "driver", NULL), "mlx5_core") != 0 || address[0] == '\0')
        return json_null();
    int64_t type = 0;
    if (transport[0] && strcmp(transport, "RoCE") != 0) /* DCQCN is RoCE's */
        return json_null();
    if (!transport[0] &&
        sysfs_number(&type, s->root, "/sys/class/net/%s/type", fact_word(nic, "netdev", NULL)) &&
        type == ARPHRD_INFINIBAND)
        return json_null();
    if (json_is_object(json_object_get(nic, "virtual")))
        return control_json("dcqcn", "a virtual ConnectX has no other", json_null());
    if (firmware_config_known(nic))
        return by_config(s, nic);
    if (is_dcqcn_only(fact_word(nic, "pci", "id")))
        return control_json("dcqcn", "devices before ConnectX-6 Dx have no other", json_null());
    return control_json(
        NULL,
        answers_rtt(s, address)
            ? "the firmware answers RTT requests (cc_params/rtt_resp_dscp), so it may use RTTCC"
            : "the driver does not show it",
        json_null());
}
