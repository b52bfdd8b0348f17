#include "harness/burn_in/ask.h"

#include "harness/labs/hosts/parallel.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/process.h"
#include "lib/program/program.h"
#include "lib/xalloc.h"
#include <stdlib.h>
#include <string.h>

/* ---- doctor */

#define DOCTOR_NS ((int64_t)10 * 60 * NS_PER_S)

json_t *ask_doctor(const struct lab *lab, const char *lab_path, int *status, struct error *e)
{
    const char *argv[] = {"/proc/self/exe", "doctor", "--lab", lab_path, "--json", NULL};
    struct text out = {0}, said = {0};
    (void)lab;
    *status = process_run(argv, NULL, &out, &said, DOCTOR_NS, e);
    json_t *entries = *status >= 0 && out.length
                          ? json_file_parse(out.data, out.length, "harness doctor", DOCUMENT_ANSWER, e)
                          : NULL;
    if (!entries && *status >= 0)
        error_set(e, "%s", said.length ? text_string(&said) : "harness doctor said nothing");
    if (entries && *status == EXIT_SKIPPED)
        *status = EXIT_DONE; /* what it could not know is among the entries */
    text_free(&out);
    text_free(&said);
    return entries;
}

/* ---- nvbandwidth */

#define BANDWIDTH_NS ((int64_t)10 * 60 * NS_PER_S) /* eight GPUs have 56 pairs a test */
#define NOT_FOUND    127                           /* exit status of a shell without the program */

/* By copy engines, as NVIDIA's own acceptance of systems reads them: both ways of each GPU's PCIe, and each
 * pair of GPUs. */
static const char *const tests[] = {"host_to_device_memcpy_ce", "device_to_host_memcpy_ce",
                                    "device_to_device_memcpy_read_ce"};

/* A row of figures, which are texts: "54.56", or "N/A". */
static json_t *parse_row(const json_t *row)
{
    json_t *numbers = json_array(), *value;
    size_t i;
    json_array_foreach(row, i, value)
    {
        const char *text = json_string_value(value);
        char *end = NULL;
        double figure = text ? strtod(text, &end) : json_number_value(value);
        bool is = text ? end != text && *end == '\0' && figure > 0 && figure < 1e6 : figure > 0;
        json_array_append_new(numbers, is ? json_real(figure) : json_null());
    }
    return numbers;
}

/* Its exit status is 0 also if a test could not be run: only "Passed" is one that was. */
static int parse_test(const json_t *test, json_t *parsed, struct error *e)
{
    const char *name = json_string_value(json_object_get(test, "name")),
               *status = json_string_value(json_object_get(test, "status"));
    const json_t *matrix = json_object_get(test, "bandwidth_matrix");
    json_t *rows, *row;
    size_t i;
    if (!name || !status)
        return error_set(e, "nvbandwidth: a test has no name or status");
    if (strcmp(status, "Waived") == 0) {
        json_array_append_new(json_object_get(parsed, "waived"), json_text(name));
        return 0;
    }
    if (strcmp(status, "Passed") != 0 || !json_array_size(matrix))
        return error_set(e, "nvbandwidth: the test %.80s has status \"%.40s\"%s: expected figures", name,
                         status, json_array_size(matrix) ? "" : " and no figures");
    rows = json_array();
    json_array_foreach(matrix, i, row)
    {
        json_array_append_new(rows, parse_row(row));
    }
    json_object_set_new(json_object_get(parsed, "tests"), name, rows);
    return 0;
}

json_t *ask_parse_bandwidth(const char *text, size_t length, struct error *e)
{
    json_t *document = json_file_parse(text, length, "nvbandwidth", DOCUMENT_ANSWER, e), *test;
    const json_t *of = json_object_get(document, "nvbandwidth");
    const char *error = json_string_value(json_object_get(of, "error"));
    size_t i;
    if (document && (error || !json_is_array(json_object_get(of, "testcases")))) {
        error_set(e, error ? "nvbandwidth: %.400s" : "nvbandwidth: expected \"testcases\"", error);
        json_decref(document);
        return NULL;
    }
    if (!document)
        return NULL;
    json_t *gpus = json_object_get(of, "GPU Device list"),
           *parsed = json_make("{s:s?,s:s?,s:O?,s:{},s:[]}", "version",
                               json_string_value(json_object_get(of, "version")), "driver",
                               json_string_value(json_object_get(of, "Driver Version")), "gpus", gpus,
                               "tests", "waived");
    json_array_foreach(json_object_get(of, "testcases"), i, test)
    {
        if (parsed && parse_test(test, parsed, e) != 0) {
            json_decref(parsed);
            parsed = NULL;
        }
    }
    json_decref(document);
    return parsed;
}

struct answers {
    const char *program;
    json_t **of;   /* by host */
    bool *missing; /* it has not the program */
};

static int ask_host(void *context, size_t i, const struct host_way *way, struct text *out, struct error *e)
{
    struct answers *answers = context;
    struct remote_host h = {0};
    struct words command = {0};
    struct text answer = {0}, said = {0};
    (void)out;
    if (lab_forwards(way->host)) /* it is no host of GPUs */
        return 0;
    if (remote_host_open_locked(&h, way, e) < 0)
        return -1;
    words_add_all(&command, (const char *const[]){answers->program, "-j", "-t", NULL});
    for (size_t k = 0; k < sizeof tests / sizeof *tests; k++)
        words_add(&command, "%s", tests[k]);
    int status = words_whole(&command, e) != 0 ? -1
                                               : ssh_run(h.ssh, (const char *const *)command.items, NULL,
                                                         &answer, &said, BANDWIDTH_NS, e);
    if (status == NOT_FOUND) {
        answers->missing[i] = true;
        error_set(e, "%s is not on the host", answers->program);
    } else if (status >= 0) {
        answers->of[i] = ask_parse_bandwidth(text_string(&answer), answer.length, e);
    }
    if (!answers->of[i])
        answers->of[i] = json_make(
            "{s:o}", "why", json_textf("%s%s%.300s", e->text, said.length ? ": " : "", text_string(&said)));
    words_free(&command);
    text_free(&answer);
    text_free(&said);
    remote_host_close(&h);
    return 0;
}

json_t *ask_bandwidth(const struct lab *lab, const char *lab_path, int *status, struct error *e)
{
    size_t failures, with = 0, without = 0, asked = 0;
    struct answers answers = {.program = lab->nvbandwidth ? lab->nvbandwidth : "nvbandwidth",
                              .of = xcalloc(lab->hosts.count + 1, sizeof *answers.of),
                              .missing = xcalloc(lab->hosts.count + 1, sizeof *answers.missing)};
    (void)lab_path;
    int result = lab_hosts_run(lab, "burn-in", ask_host, &answers, &failures, e);
    json_t *all = result == 0 ? json_object() : NULL;
    for (size_t i = 0; i < lab->hosts.count; i++) {
        asked += lab_machine_first(lab, i) == i && !lab_forwards(lab_host_at(lab, i));
        without += answers.missing[i];
        with += json_object_get(answers.of[i], "tests") != NULL;
        if (all && answers.of[i])
            json_object_set(all, lab_machine_name(lab, i), answers.of[i]);
        json_decref(answers.of[i]);
    }
    *status = without == asked ? EXIT_SKIPPED : with + without < asked ? EXIT_LAB : EXIT_DONE;
    free(answers.of);
    free(answers.missing);
    return all;
}
