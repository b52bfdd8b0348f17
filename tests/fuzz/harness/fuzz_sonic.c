/* What a switch says: its config_db.json is read, checked against a host and changed for a scenario; counters
 * become samples. */
#include "harness/doctor/switches/switch.h"
#include "harness/labs/hosts/sonic/counters.h"
#include "harness/labs/hosts/sonic/changes.h"
#include "lib/document/json_file.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char lab_text[] =
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{\"a\":{\"ssh\":\"a\"}},\"switches\":{\"t\":{"
    "\"ssh\":\"t\"}},"
    "\"links\":[{\"between\":[\"a\",\"t\"],\"ports\":{\"t\":\"Ethernet0\"},\"length\":\"3m\"}]}";
static const char seen_text[] =
    "{\"a\":{\"settings\":{\"pfc\":[3],\"trust\":\"dscp\",\"mtu\":4200},\"speed_Mbps\":100000}}";

static const char *const requests[] = {
    "{\"pfc\":[3],\"ecn_threshold\":{\"kmin\":\"100KB\",\"kmax\":\"400KB\",\"pmax\":0.2},"
    "\"watchdog\":{\"detect\":\"300ms\"}}",
    "{\"pfc\":[],\"ecn_threshold\":{\"kmin\":\"0\",\"kmax\":\"0\",\"pmax\":0},\"watchdog\":{\"detect\":\"0\"}"
    "}"};

/* What a run would change; once it is changed, nothing is left to change. */
static void change(const json_t *json, const struct sonic_config *config, const char *request_text,
                   bool shared)
{
    static const char *const names[] = {"Ethernet0"};
    struct settings settings;
    struct sonic_changes changes, again;
    struct sonic_config then;
    struct error e;
    json_t *wanted = json_loads(request_text, 0, NULL), *warnings = json_array(), *tables = NULL;
    if (table_parse(&settings_table, wanted, &settings, &e) != 0)
        abort();
    const struct sonic_request request = {&settings, names, 1, shared};
    if (sonic_settings_plan(&request, json, config, &changes, warnings, &e) == 0) {
        tables = json_deep_copy(json);
        sonic_settings_put(tables, changes.wanted);
        if (sonic_config_read(tables, names, 1, &then, &e) == 0) {
            if (sonic_settings_plan(&request, tables, &then, &again, warnings, &e) == 0) {
                if (json_object_size(again.wanted))
                    abort();
                sonic_changes_free(&again);
            }
            sonic_config_free(&then);
        }
        sonic_changes_free(&changes);
    }
    table_free(&settings_table, &settings);
    json_decref(tables);
    json_decref(wanted);
    json_decref(warnings);
}

static void compare(const json_t *json, const struct sonic_config *config)
{
    struct text why = {0};
    sonic_asic_has(&config->ports[0], json_object_get(json, "Ethernet4"), &why);
    json_decref(sonic_settings_json(config));
    text_free(&why);
}

static void examine(const json_t *json, const struct lab *lab)
{
    static const char *const names[] = {"Ethernet0"};
    struct sonic_config config;
    struct error e;
    if (sonic_config_read(json, names, 1, &config, &e) != 0)
        return;
    json_t *seen = json_loads(seen_text, 0, NULL), *entries = json_array();
    const struct doctor_seen known = {.interfaces = seen};
    const struct doctor_subject x = {.lab = lab, .seen = &known, .entries = entries};
    doctor_walk_ports(
        &x, (struct switch_end){.of = lab_real_switch_at(lab, 0), .config = &config, .from = "input"});
    if (config.ports[0].exists)
        for (size_t i = 0; i < 4; i++)
            change(json, &config, requests[i & 1], i & 2);
    compare(json, &config);
    json_decref(seen);
    json_decref(entries);
    sonic_config_free(&config);
}

/* The same as an answer of COUNTERS_DB, before and after. */
static void count(const json_t *json)
{
    json_t *warnings = json_array();
    json_decref(sonic_counters(json_object_get(json, "Ethernet0"), json_object_get(json, "Ethernet4"),
                               "t Ethernet0", warnings));
    json_decref(warnings);
}

/* The same as lines of a sampler. */
static void sample(const json_t *json, const struct lab *lab)
{
    struct error e;
    struct text line = {0};
    int64_t time_ns;
    struct sonic_series *series = sonic_series_open(lab, lab_real_switch_at(lab, 0), json, UINT32_MAX);
    json_decref(sonic_series_header(series, "t", 1000));
    sonic_series_sample(series, json, &line, &time_ns, &e);
    text_free(&line);
    sonic_series_close(series);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab lab;
    struct error e;
    json_t *json = json_file_parse((const char *)data, size, "input", DOCUMENT_ANSWER, &e);
    json_t *said = json_loads(lab_text, 0, NULL);
    if (json && said && lab_parse(said, NULL, &lab, &e) == 0) {
        examine(json, &lab);
        count(json);
        sample(json, &lab);
        lab_free(&lab);
    }
    json_decref(json);
    json_decref(said);
    return 0;
}
