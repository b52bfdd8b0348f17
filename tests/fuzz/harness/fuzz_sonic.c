/* A switch's config_db.json: read, and checked against a host. */
#include "harness/sonic/check.h"
#include "harness/sonic/counters.h"
#include "lib/document/json_file.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char lab_text[] =
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{\"a\":{\"ssh\":\"a\"}},\"switches\":{\"t\":{"
    "\"ssh\":\"t\"}},"
    "\"links\":[{\"between\":[\"a\",\"t\"],\"ports\":{\"t\":\"Ethernet0\"},\"length\":\"3m\"}]}";
static const char seen_text[] =
    "{\"a\":{\"settings\":{\"pfc\":[3],\"trust\":\"dscp\",\"mtu\":4200},\"speed_Mbps\":100000}}";

static void examine(const json_t *json, const struct lab *lab)
{
    static const char *const names[] = {"Ethernet0"};
    struct sonic_config config;
    struct error e;
    if (sonic_config_read(json, names, 1, &config, &e) != 0)
        return;
    json_t *seen = json_loads(seen_text, 0, NULL), *entries = json_array();
    const struct sonic_subject subject = {.lab = lab,
                                          .of = lab_real_switch_at(lab, 0),
                                          .config = &config,
                                          .from = "input",
                                          .seen = seen,
                                          .entries = entries};
    sonic_examine(&subject);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab lab;
    struct error e;
    json_t *json = json_file_parse((const char *)data, size, "input", DOCUMENT_ANSWER, &e);
    json_t *said = json_loads(lab_text, 0, NULL);
    if (json && said && lab_parse(said, &lab, &e) == 0) {
        examine(json, &lab);
        count(json);
        lab_free(&lab);
    }
    json_decref(json);
    json_decref(said);
    return 0;
}
