#include "collectors/facts/nic/firmware_config.h"

#include "collectors/facts/judge.h"
#include "collectors/facts/nic/tools.h"
#include "lib/document/json_text.h"
#include "lib/kernel/sysfs.h"
#include "lib/text.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OUTPUT  (1 << 20)
#define MAX_COLUMNS 3

/* Names and meanings: mstflint, mlxconfig/mlxconfig_dbs/mlxconfig_host.db. A port's have _P1 or _P2 after
 * them. */
static const char *const keys[] = {
    "ROCE_CC_LEGACY_DCQCN", "ROCE_CC_LEGACY_DCQCN_SW", "USER_PROGRAMMABLE_CC", "ROCE_CC_PRIO_MASK",
    "LLDP_NB_DCBX",         "LLDP_NB_RX_MODE",         "LLDP_NB_TX_MODE",      "DCBX_WILLING"};

static bool is_known(const char *name, size_t length)
{
    if (length > 3 && name[length - 3] == '_' && name[length - 2] == 'P' &&
        isdigit((unsigned char)name[length - 1]))
        length -= 3;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i]) == length && strncmp(keys[i], name, length) == 0)
            return true;
    return false;
}

/* ---- one table: mstflint mlxconfig/mlxcfg_ui.cpp, printConfHeader and printSingleParam */

struct columns {
    size_t count;
    int current, next_boot; /* their places; -1: not shown */
};

/* "Configurations:      Default      Current      Next Boot" */
static bool read_heading(const char *line, struct columns *columns)
{
    static const char heading[] = "Configurations:";
    *columns = (struct columns){.current = -1, .next_boot = -1};
    if (strncmp(line, heading, sizeof heading - 1) != 0)
        return false;
    columns->count += strstr(line, "Default") != NULL;
    if (strstr(line, "Current"))
        columns->current = (int)columns->count++;
    if (strstr(line, "Next Boot"))
        columns->next_boot = (int)columns->count++;
    return columns->count > 0;
}

/* The next word of a line: its length, and where it begins. */
static size_t next_word(const char **at)
{
    *at += strspn(*at, " \t\r");
    return strcspn(*at, " \t\r\n");
}

/* "False(0)", "ALL(2)", "255"; -1: no number. */
static int64_t read_value(const char *word, size_t length)
{
    const char *number = memchr(word, '(', length);
    char *end;
    number = number ? number + 1 : word;
    if (!isdigit((unsigned char)*number))
        return -1;
    long value = strtol(number, &end, 10);
    return (end == word + length || *end == ')') && value >= 0 && value <= INT32_MAX ? value : -1;
}

static json_t *value_json(const int64_t *values, int column)
{
    return column < 0 || values[column] < 0 ? json_null() : json_integer(values[column]);
}

/* "*RO     ROCE_CC_LEGACY_DCQCN      True(1)      False(0)      False(0)" */
static void read_row(const char *line, const struct columns *columns, json_t *into)
{
    int64_t values[MAX_COLUMNS] = {-1, -1, -1};
    char name[64];
    line += strspn(line, "* ");
    if (strncmp(line, "RO ", 3) == 0)
        line += 3;
    size_t length = next_word(&line);
    if (length == 0 || length >= sizeof name || !is_known(line, length))
        return;
    memcpy(name, line, length);
    name[length] = '\0';
    line += length;
    for (size_t i = 0; i < columns->count; i++) {
        length = next_word(&line);
        if (length == 0)
            return;
        values[i] = read_value(line, length);
        line += length;
    }
    json_object_set_new(into, name,
                        json_make("{s:o,s:o}", "current", value_json(values, columns->current), "next_boot",
                                  value_json(values, columns->next_boot)));
}

json_t *firmware_config_parse(const char *text)
{
    json_t *values = NULL;
    struct columns columns;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (!values && read_heading(line, &columns))
            values = json_object();
        else if (values)
            read_row(line, &columns, values);
    }
    return values;
}

/* ---- where it is read */

static json_t *parsed(const char *text, const char *from)
{
    json_t *values = firmware_config_parse(text);
    return values ? json_make("{s:s,s:o}", "from", from, "values", values)
                  : json_make("{s:o}", "missing", json_textf("%s printed no table of settings", from));
}

static json_t *read_file(const char *root, const char *address)
{
    char *text = calloc(1, MAX_OUTPUT), from[128];
    ssize_t length = text ? sysfs_bytes(text, MAX_OUTPUT - 1, root, "/mlxconfig/%s", address) : -1;
    snprintf(from, sizeof from, "mlxconfig/%s", address);
    json_t *found = length < 0 ? json_make("{s:s}", "missing", "the copied tree has no output of mlxconfig")
                               : parsed(text, from);
    free(text);
    return found;
}

/* Older versions do not know -e, which asks for what is in force too. */
static int query(const char *program, const char *address, struct text *out, struct text *why)
{
    const char *const with[] = {program, "-d", address, "-e", "query", NULL}, *const without[] = {
                                                                                  program, "-d", address,
                                                                                  "query", NULL};
    int status = tool_ask(with, out, why);
    return status > 0 ? tool_ask(without, out, why) : status;
}

static json_t *run_tool(const char *address)
{
    static const char *const programs[] = {"mstconfig", "mlxconfig", NULL};
    const char *program = tool_installed(programs);
    struct text out = {0}, why = {0};
    char from[128];
    if (!program)
        return json_make("{s:s}", "missing",
                         "neither mstconfig (mstflint) nor mlxconfig (MFT) is installed here");
    snprintf(from, sizeof from, "%s -d %s query", program, address);
    json_t *found = query(program, address, &out, &why) == 0
                        ? parsed(text_string(&out), from)
                        : json_make("{s:s}", "missing", text_string(&why));
    text_free(&out);
    text_free(&why);
    return found;
}

json_t *firmware_config_read(const struct facts_source *s, const char *address)
{
    return s->live ? run_tool(address) : read_file(s->root, address);
}

/* ---- what it says */

bool firmware_config_known(const json_t *nic)
{
    return json_is_object(fact_at(nic, "firmware_config", "values"));
}

int64_t firmware_config_value(const json_t *nic, const char *key)
{
    const json_t *setting = json_object_get(fact_at(nic, "firmware_config", "values"), key);
    int64_t current = fact_number(setting, "current", NULL);
    return current >= 0 ? current : fact_number(setting, "next_boot", NULL);
}

int64_t firmware_config_port_value(const json_t *nic, const char *key)
{
    char name[64];
    const char *address = fact_word(nic, "pci", "address"), *dot = strrchr(address, '.');
    int function = dot && dot[1] >= '0' && dot[1] <= '7' ? dot[1] - '0' : 0;
    snprintf(name, sizeof name, "%s_P%d", key, function + 1);
    int64_t value = firmware_config_value(nic, name);
    snprintf(name, sizeof name, "%s_P1", key);
    return value >= 0 || function > 1 ? value : firmware_config_value(nic, name);
}
