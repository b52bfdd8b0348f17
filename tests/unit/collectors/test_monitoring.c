/* collectors/grafana/: the dashboard and the alerts name metrics that nic-sampler can export, by the
 * catalogue of counters. */
#include "tests/unit/unit.h"

#include "collectors/sampler/prometheus_text.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/roce/counters.h"

#define PREFIX "nic_"

/* The metrics of all rows that a host can have; names with a number have one of any. */
static json_t *exported(void)
{
    size_t count;
    const struct counter *rows = counters_all(&count);
    json_t *names = json_object();
    for (size_t i = 0; i < count; i++) {
        char name[128];
        struct prometheus_metric metric;
        if (strchr(rows[i].pattern, '*') || rows[i].origin == COUNTER_FROM_SIM)
            continue;
        counters_instance(name, sizeof name, rows[i].pattern, 3, 1);
        char unit[32];
        snprintf(unit, sizeof unit, "%s", rows[i].unit);
        const struct column column = {.name = name,
                                      .unit = unit,
                                      .kind = rows[i].kind == COUNTER_GAUGE ? COLUMN_GAUGE : COLUMN_COUNTER};
        prometheus_metric(&column, &metric);
        json_object_set_new(names, metric.family, json_true());
    }
    return names;
}

static size_t check_names(const char *path, const json_t *names)
{
    size_t found = 0;
    char *text = files_read(path, 1 << 20, NULL, NULL);
    assert_non_null(text);
    for (const char *at = text; (at = strstr(at, PREFIX));) {
        char name[PROMETHEUS_NAME] = "";
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
        assert_true(length < sizeof name);
        memcpy(name, at, length);
        /* its own metrics are no counters: tests/e2e/collectors/monitoring.sh compares them */
        if (strncmp(name, "nic_sampler_", 12) != 0) {
            if (!json_object_get(names, name))
                fail_msg("%s: nic-sampler exports no %s", path, name);
            found++;
        }
        at += length;
    }
    free(text);
    return found;
}

static void metrics_are_exported(void **state)
{
    (void)state;
    json_t *names = exported();
    assert_true(check_names("collectors/grafana/dashboard.json", names) > 20);
    assert_true(check_names("collectors/grafana/alerts.yml", names) > 8);
    assert_true(check_names("collectors/grafana/alerts_test.yml", names) > 16);
    json_decref(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(metrics_are_exported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
