#include "harness/search/use.h"

#include "harness/labs/hosts/sonic/changes.h"
#include "harness/plan/assign.h"
#include "harness/plan/decidable.h"
#include "harness/run/precheck.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/document/paths.h"
#include "lib/files.h"
#include "lib/formats/find.h"
#include "lib/formats/settings.h"
#include "lib/output/print.h"
#include "lib/xalloc.h"
#include "reports/results/run.h"
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCENARIO_FILE   "winner.json"
#define LAB_FILE        "winner-lab.json"
#define NIC_CONFIG_FILE "winner-nic-config"
#define SONIC_FILE      "winner-sonic"
#define ANY_INTERFACE   "INTERFACE" /* where a lab has none */

struct use {
    const struct study *study;
    const struct candidate *winner;
    const char *folder, *staged;
    json_t *files, *not_made;
    struct error lost; /* why a file could not be written; empty: all were */
};

static const struct plan *plan_of(const struct use *u)
{
    return &u->study->plan;
}

static bool is_simulated(const struct use *u)
{
    return lab_kind(&plan_of(u)->first.lab)->simulated;
}

static void not_made(const struct use *u, const char *what, const char *why)
{
    json_put(u->not_made, what, json_text(why));
}

/* `roles`: whose it is; NULL: it does not say. */
static int save(struct use *u, const char *name, const char *is, const json_t *roles, const json_t *document,
                struct error *e)
{
    char *path = files_join(u->staged, name);
    int result = path ? json_file_save(path, document, e) : error_set(e, "out of memory");
    free(path);
    if (result != 0) {
        u->lost = *e;
        return -1;
    }
    json_t *file = json_make("{s:s,s:s}", "file", name, "is", is);
    if (roles)
        json_object_set(file, "roles", (json_t *)(uintptr_t)roles);
    json_array_append_new(u->files, file);
    return 0;
}

/* ---- a scenario */

static int put_values(const struct use *u, json_t *scenario, json_t *lab, struct error *e)
{
    const char *path;
    json_t *value;
    json_object_foreach(u->winner->choice, path, value)
    {
        if (assign_value(scenario, lab, path, value, e) != 0)
            return -1;
    }
    return 0;
}

/* A simulated lab lies beside it; a scenario for hosts names what it did, and gets --lab. */
static void name_lab(const struct use *u, json_t *scenario)
{
    char *path = is_simulated(u) ? NULL : plan_named_lab(plan_of(u), NULL),
         *whole = path ? realpath(path, NULL) : NULL;
    if (is_simulated(u))
        json_object_set_new(scenario, "lab", json_text(LAB_FILE));
    else if (whole)
        json_object_set_new(scenario, "lab", json_text(whole));
    else
        json_object_del(scenario, "lab");
    free(whole);
    free(path);
}

/* As `harness check` does, of what is to be in the folder. */
static int check_scenario(const struct use *u, json_t *scenario, json_t *lab, struct error *e)
{
    char *path = files_join(u->folder, SCENARIO_FILE), *lab_path = files_join(u->folder, LAB_FILE);
    const struct plan_documents documents = {.scenario = scenario,
                                             .lab = is_simulated(u) ? lab : NULL,
                                             .scenario_path = path,
                                             .lab_path = lab_path,
                                             .lab_why = "the scenario"};
    const struct plan_request request = {.documents = &documents,
                                         .lab = is_simulated(u) ? NULL : plan_of(u)->from.lab_opened,
                                         .own_lab = true,
                                         .duration_ns = FIELD_UNSET};
    struct precheck precheck = {.seed = 1};
    struct plan plan;
    int result = plan_load(&request, &plan, e);
    if (result == 0) {
        result = decidable_as_written(&plan, e) == 0 ? precheck_plan(&plan, &precheck, e) : -1;
        plan_free(&plan);
    }
    free(path);
    free(lab_path);
    return result;
}

static void write_scenario(struct use *u)
{
    const struct cell_sources *from = &plan_of(u)->from;
    json_t *scenario = json_deep_copy(from->scenario), *lab = json_deep_copy(from->lab);
    struct error e;
    json_object_del(scenario, "search");
    json_object_set_new(scenario, "name", json_textf("%s-winner", plan_of(u)->first.scenario.name));
    name_lab(u, scenario);
    int result = put_values(u, scenario, lab, &e);
    if (result == 0 && !is_simulated(u) && paths_any_in_lab(u->winner->choice))
        result = error_set(&e, "values of a lab of hosts are in its own file: give them with --set");
    if (result == 0)
        result = check_scenario(u, scenario, lab, &e);
    if (result == 0 && save(u, SCENARIO_FILE, "scenario", NULL, scenario, &e) == 0 && is_simulated(u))
        (void)save(u, LAB_FILE, "lab", NULL, lab, &e);
    if (result != 0)
        not_made(u, SCENARIO_FILE, e.text);
    json_decref(scenario);
    json_decref(lab);
}

/* ---- what the hosts' own programs take */

/* settings.json of the winner's first run; NULL: there is none. */
static json_t *settings_of_run(const struct use *u)
{
    struct error ignored;
    const char *run = json_string_value(json_array_get(u->winner->folders, 0));
    char *folder = run ? files_join(u->folder, run) : NULL,
         *path = folder ? files_join(folder, "settings.json") : NULL;
    json_t *settings = path ? json_file_load(path, DOCUMENT_ANSWER, &ignored) : NULL;
    free(path);
    free(folder);
    return settings;
}

/* The interface of a role; NULL, and `why`. */
static const char *interface_of(const struct use *u, const json_t *settings, const char *role,
                                const char **why)
{
    json_t *before = json_object_get(json_object_get(settings, role), "before");
    *why = "its run has not said which interfaces it has";
    if (is_simulated(u))
        return ANY_INTERFACE;
    if (json_object_size(before) > 1)
        *why = "a host with several interfaces is set by harness run";
    return json_object_size(before) == 1 ? json_object_iter_key(json_object_iter(before)) : NULL;
}

/* A role's settings with the winner's values, as nic-config takes them. A new reference; NULL: not good. */
static json_t *own_settings(const json_t *scenario, const char *role, struct error *e)
{
    json_t *settings = scenario_role_settings(scenario, role);
    struct settings parsed;
    for (const struct setting *s = settings_known; s->key; s++)
        if (!(s->nodes & ON_HOST))
            json_object_del(settings, s->key);
    if (table_parse(&settings_table, settings, &parsed, e) == 0) {
        table_free(&settings_table, &parsed);
        return settings;
    }
    json_decref(settings);
    return NULL;
}

/* Hosts with the same settings share a file: `seen` has them by their document. */
static int add_host(struct use *u, const json_t *scenario, const json_t *settings, const char *role,
                    json_t *seen, struct error *e)
{
    const char *why, *interface = interface_of(u, settings, role, &why);
    if (!interface)
        return error_set(e, "%s: %s", role, why);
    json_t *own = own_settings(scenario, role, e);
    if (!own)
        return error_prefix(e, "%s", role);
    json_t *interfaces = json_object();
    json_put(interfaces, interface, own);
    json_t *document = json_make("{s:i,s:o}", "schema", 1, "interfaces", interfaces);
    struct text key = {0};
    json_add_canonical(document, &key);
    if (!json_object_get(seen, text_string(&key)))
        json_put(seen, text_string(&key), json_make("{s:O,s:[]}", "document", document, "roles"));
    json_array_append_new(json_object_get(json_object_get(seen, text_string(&key)), "roles"),
                          json_text(role));
    json_decref(document);
    text_free(&key);
    return 0;
}

static int save_documents(struct use *u, const json_t *seen, struct error *e)
{
    const char *key;
    json_t *one;
    json_object_foreach((json_t *)(uintptr_t)seen, key, one)
    {
        const json_t *roles = json_object_get(one, "roles");
        char *name = json_object_size(seen) == 1
                         ? xstrdup(NIC_CONFIG_FILE ".json")
                         : xasprintf(NIC_CONFIG_FILE "-%s.json", json_string_value(json_array_get(roles, 0)));
        int result = save(u, name, "nic-config", roles, json_object_get(one, "document"), e);
        free(name);
        if (result != 0)
            return -1;
    }
    return 0;
}

/* A value of a simulated NIC's own parameters is none that nic-config takes. */
static const char *value_of_lab(const struct use *u)
{
    const char *found = NULL;
    for (size_t i = 0; i < u->study->parameter_count; i++) {
        const char *path = u->study->parameters[i].path;
        if (strncmp(path, "lab.defaults.host.", 18) == 0 || strncmp(path, "lab.hosts.", 10) == 0)
            found = path;
    }
    return found;
}

static void write_nic_config(struct use *u, const json_t *settings)
{
    const struct cell *first = &plan_of(u)->first;
    json_t *scenario = study_scenario(u->study, u->winner->choice), *seen = json_object();
    struct error e;
    int result = scenario ? 0 : error_set(&e, "its values make no scenario");
    for (size_t i = 0; result == 0 && i < first->scenario.roles.count; i++) {
        const char *role = scenario_role(&first->scenario, i);
        if (lab_host_of(&first->lab, role) >= 0)
            result = add_host(u, scenario, settings, role, seen, &e);
    }
    if (result == 0 && value_of_lab(u))
        result = error_set(&e, "%s is a value of the lab, and no setting of a host", value_of_lab(u));
    if (result != 0 || save_documents(u, seen, &e) != 0)
        not_made(u, NIC_CONFIG_FILE ".json", e.text);
    json_decref(scenario);
    json_decref(seen);
}

/* ---- SONiC */

static bool is_threshold(const char *path)
{
    return strstr(path, ".ecn.") || strstr(path, ".ecn_threshold.");
}

/* As they were in force in the winner's own run. */
static void write_entries(struct use *u, const char *role, const json_t *entries)
{
    struct error e;
    json_t *tables = json_object();
    sonic_settings_put(tables, entries);
    char *name = xasprintf(SONIC_FILE "-%s.json", role);
    json_t *roles = json_make("[s]", role);
    (void)save(u, name, "SONiC", roles, tables, &e);
    json_decref(roles);
    json_decref(tables);
    free(name);
}

static void write_sonic(struct use *u, const json_t *settings)
{
    const struct cell *first = &plan_of(u)->first;
    bool any = false, varied = false;
    for (size_t i = 0; i < first->scenario.roles.count; i++) {
        const char *role = scenario_role(&first->scenario, i);
        const json_t *mine = json_object_get(settings, role),
                     *entries = json_object_get(json_object_get(mine, "read_back"), "CONFIG_DB");
        bool switches = lab_real_switch(&first->lab, role) != NULL;
        any |= switches;
        if (switches && entries)
            write_entries(u, role, entries);
        else if (switches)
            not_made(u, role, "the switch had all values before the run: it has no entries to change");
    }
    for (size_t i = 0; i < u->study->parameter_count; i++)
        varied |= is_threshold(u->study->parameters[i].path);
    if (varied && !any)
        not_made(u, SONIC_FILE ".json", "no role of the scenario is a switch that runs SONiC");
}

/* ---- the whole */

json_t *use_write(const struct study *study, const struct candidate *winner, const char *folder,
                  const char *staged, struct error *e)
{
    struct use u = {.study = study,
                    .winner = winner,
                    .folder = folder,
                    .staged = staged,
                    .files = json_array(),
                    .not_made = json_object()};
    json_t *settings = settings_of_run(&u);
    write_scenario(&u);
    write_nic_config(&u, settings);
    write_sonic(&u, settings);
    json_decref(settings);
    json_t *use = json_make("{s:o,s:o}", "files", u.files, "not_made", u.not_made);
    if (!u.lost.text[0])
        return use;
    *e = u.lost;
    json_decref(use);
    return NULL;
}

static bool is_named(const json_t *use, const char *name)
{
    const json_t *one;
    size_t i;
    json_array_foreach(json_object_get(use, "files"), i, one)
    {
        if (strcmp(run_member(one, "file"), name) == 0)
            return true;
    }
    return false;
}

void use_forget_others(const json_t *use, const char *folder)
{
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; entries && (entry = readdir(entries));)
        if (fnmatch("winner*.json", entry->d_name, 0) == 0 && !is_named(use, entry->d_name))
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}

void use_print(const json_t *use, const char *folder)
{
    const json_t *one;
    const char *what;
    json_t *why;
    size_t i;
    if (json_array_size(json_object_get(use, "files")))
        print_out_line("to use it:");
    json_array_foreach(json_object_get(use, "files"), i, one)
    {
        print_out_line("  %s/%s (%s)", folder, run_member(one, "file"), run_member(one, "is"));
    }
    json_object_foreach(json_object_get(use, "not_made"), what, why)
    {
        print_out_line("  no %s: %s", what, json_string_value(why));
    }
}
