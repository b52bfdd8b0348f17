#include "harness/run/precheck.h"
#include "harness/search/search.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/xalloc.h"
#include "harness/doctor/check.h"
#include "lib/formats/find.h"
#include "lib/formats/lab_kinds.h"
#include "harness/plan/decidable.h"
#include "lib/document/json_file.h"
#include "lib/log.h"
#include "lib/physics/host.h"
#include "lib/physics/nic_models.h"
#include "lib/text.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check_options {
    const char *lab;
    struct list_of sets;
    int quiet;
};

static const struct field fields[] = {
    {.name = "lab",
     .letter = 'l',
     .kind = FIELD_STRING,
     .offset = offsetof(struct check_options, lab),
     .argument = "LAB",
     .help = "Check scenarios together with this lab (otherwise the lab that the scenario names)."},
    {.name = "set",
     .kind = FIELD_LIST,
     .item = FIELD_STRING,
     .offset = offsetof(struct check_options, sets),
     .argument = "KEY=VALUE",
     .help = "Change a value first, such as phases.measure=2s; lab.KEY changes the lab. "
             "May be given several times."},
    {.name = "quiet",
     .letter = 'q',
     .kind = FIELD_BOOL,
     .offset = offsetof(struct check_options, quiet),
     .help = "Print errors and warnings only."},
    {0},
};
static const struct table options = {.name = "check", .size = sizeof(struct check_options), .fields = fields};

/* Whose values come from the table of NIC models. */
static void print_models(const struct lab *lab)
{
    size_t hosts[NIC_MODEL_COUNT] = {0};
    bool nics = json_object_size(lab->machine_index); /* each of which is a node */
    const struct physics_host *host;
    for (size_t i = 0; (host = lab_sim_host_at(lab, i)); i++)
        if (nic_model_named(host->nic.model) > NIC_MODEL_IDEAL)
            hosts[nic_model_named(host->nic.model)]++;
    for (int i = 0; i < NIC_MODEL_COUNT; i++)
        if (hosts[i])
            print_out("NIC model %s (%zu %s): " NIC_MODEL_VALUES "\n", nic_model_names[i], hosts[i],
                      nics ? THINGS(hosts[i], "NIC") : THINGS(hosts[i], "host"));
}

static size_t warn_of_models(const struct lab *lab)
{
    const struct doctor_subject x = {.lab = lab, .entries = json_array()};
    json_t *entry;
    size_t i;
    doctor_nic_model.examine(&x);
    json_array_foreach(x.entries, i, entry)
    {
        struct text words = {0};
        doctor_say(entry, &words);
        log_warning("%s", text_string(&words));
        text_free(&words);
    }
    json_decref(x.entries);
    return i;
}

/* The simulator builds each node of a simulated lab, with a role or without: a NIC has one link. */
static int check_links(const struct lab *lab, struct error *e)
{
    size_t count = lab_node_count(lab), *links = xcalloc(count + 1, sizeof *links), i;
    const struct lab_link *link;
    int result = 0;
    for (i = 0; (link = lab_link_at(lab, i)); i++)
        for (size_t k = 0; k < link->between.count; k++) {
            int node = lab_node_index(lab, ((char *const *)link->between.items)[k]);
            if (node >= 0)
                links[node]++;
        }
    for (i = 0; i < count && result == 0; i++) {
        bool is_nic = i < lab->hosts.count;
        const char *name = lab_node_name(lab, i);
        if (links[i] == 0)
            result =
                error_set(e, "%s %s has no link: expected one in \"links\"", is_nic ? "NIC" : "switch", name);
        else if (is_nic && links[i] > 1)
            result = error_set(e, "NIC %s has %zu links: expected one; a host with several has \"nics\"",
                               name, links[i]);
    }
    free(links);
    return result;
}

static int check_lab(const struct check_options *said, const json_t *document, const char *path,
                     size_t *warnings, struct error *e)
{
    struct lab lab;
    json_t *whole = lab_expand(document, e);
    int result = whole ? lab_parse(whole, path, &lab, e) : -1;
    json_decref(whole);
    if (result == 0 && lab_kind(&lab)->simulated && check_links(&lab, e) != 0) {
        lab_free(&lab);
        result = -1;
    }
    if (result != 0)
        return error_prefix(e, "%s", path);
    *warnings = warn_of_models(&lab);
    if (!said->quiet)
        print_models(&lab);
    lab_free(&lab);
    return 0;
}

/* With the lab that is given, else with the one that the scenario names, else alone. */
static int check_scenario(const struct check_options *said, json_t *document, const char *path,
                          size_t *warned, struct error *e)
{
    struct plan plan;
    const struct plan_documents documents = {.scenario = document, .scenario_path = path};
    struct plan_request request = {.documents = &documents,
                                   .lab = said->lab,
                                   .own_lab = true,
                                   .sets = said->sets.items,
                                   .set_count = said->sets.count,
                                   .duration_ns = FIELD_UNSET};
    json_t *warnings = json_object();
    struct precheck precheck = {.seed = 1, .warnings = warnings};
    int result = plan_load(&request, &plan, e);
    if (result == 0) {
        bool searches = plan.search && plan.from.lab && !said->lab; /* a run elsewhere does not search */
        precheck.judged = searches;                                 /* of all that is searched */
        if ((searches ? search_check(&request, e) : decidable_as_written(&plan, e)) != 0 ||
            precheck_plan(&plan, &precheck, e) != 0)
            result = -1;
        else
            doctor_log_warnings(warnings);
        *warned = json_object_size(warnings);
        if (result == 0 && !said->quiet && plan.first.lab_json)
            print_models(&plan.first.lab);
        plan_free(&plan);
    }
    json_decref(warnings);
    return result;
}

/* Read once, as it may be a pipe. A document with the key "driver" is a lab; any other is a scenario, which
 * may take less memory. NULL: neither can be read. */
static json_t *load_document(const char *path, bool *is_lab, struct error *e)
{
    size_t length = 0;
    char *text = json_file_read(path, DOCUMENT_LAB, &length, e);
    json_t *document = text ? json_file_parse(text, length, path, DOCUMENT_LAB, e) : NULL;
    *is_lab = json_object_get(document, "driver");
    if (document && !*is_lab) {
        json_decref(document);
        document = json_file_parse(text, length, path, DOCUMENT_SCENARIO, e);
    }
    free(text);
    if (document && !json_is_object(document)) {
        json_decref(document);
        document = NULL;
        error_set(e, "%s: expected an object", path);
    }
    return document;
}

/* All values that the table of the document does not take where it names several, or else the one error that
 * was found. */
static void log_errors(const json_t *document, bool is_lab, const char *path, const struct error *found)
{
    struct error e;
    struct text all = {0};
    const char *driver = json_string_value(json_object_get(document, "driver"));
    const struct lab_kind *kind = is_lab && driver ? lab_kind_named(driver) : NULL;
    json_t *expanded = is_lab ? lab_expand(document, &e) : scenario_expand(document, &e);
    const struct table *table = kind ? &kind->table : is_lab ? NULL : &scenario_table;
    bool several = expanded && table && table_errors(table, expanded, &all) > 1;
    if (!several)
        log_error("%s", found->text);
    for (const char *line = text_string(&all), *end; several && (end = strchr(line, '\n')); line = end + 1)
        log_error("%s: %.*s", path, (int)(end - line), line);
    json_decref(expanded);
    text_free(&all);
}

/* -1: it is not good. Else how many warnings it has. */
static int check_one(const struct check_options *said, const char *word)
{
    size_t warnings = 0;
    struct error e;
    char *path = find_file(FIND_SCENARIO, word, NULL);
    if (!path)
        path = find_file(FIND_LAB, word, &e);
    bool is_lab;
    json_t *document = path ? load_document(path, &is_lab, &e) : NULL;
    int result = !document ? -1
                 : is_lab  ? check_lab(said, document, path, &warnings, &e)
                           : check_scenario(said, document, path, &warnings, &e);
    if (!document)
        log_error("%s", e.text);
    else if (result != 0)
        log_errors(document, is_lab, path, &e);
    json_decref(document);
    free(path);
    return result == 0 ? (int)warnings : -1;
}

static int run_check(const struct call *call)
{
    const struct check_options *said = call->options;
    int status = EXIT_DONE;
    for (size_t i = 0; i < call->count; i++) {
        int warnings = check_one(said, call->arguments[i]);
        if (warnings < 0)
            status = EXIT_USAGE;
        else if (!said->quiet && warnings)
            print_out("%s: good, with %d %s\n", call->arguments[i], warnings, THINGS(warnings, "warning"));
        else if (!said->quiet)
            print_out("%s: good\n", call->arguments[i]);
    }
    return status;
}

const struct command command_check = {
    .name = "check",
    .arguments = "FILE...",
    .about = "Check scenarios and labs without running anything.",
    .options = &options,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_check,
};
