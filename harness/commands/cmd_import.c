#include "harness/import/import.h"
#include "harness/run/foresee.h"
#include "lib/files.h"
#include "lib/formats/find.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/text.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct import_options {
    const char *out, *name, *physics;
    int quiet;
};

static const struct field fields[] = {
    {.name = "out",
     .letter = 'o',
     .kind = FIELD_STRING,
     .offset = offsetof(struct import_options, out),
     .argument = "FOLDER",
     .fallback = "\"imported\"",
     .help = "The folder that lab.json and scenario.json are written to. Neither may be there yet."},
    {.name = "name",
     .kind = FIELD_STRING,
     .offset = offsetof(struct import_options, name),
     .argument = "NAME",
     .form = &form_name,
     .fallback = "\"imported\"",
     .help = "The name of the lab and of the scenario."},
    {.name = "physics",
     .kind = FIELD_STRING,
     .offset = offsetof(struct import_options, physics),
     .argument = "LAB",
     .fallback = "\"sim-leaf-spine\"",
     .help =
         "The simulated lab whose common values of hosts and switches, sizes of headers and clock are taken: "
         "sim-hpcc-star has those of the HPCC simulator."},
    {.name = "quiet",
     .letter = 'q',
     .kind = FIELD_BOOL,
     .offset = offsetof(struct import_options, quiet),
     .help = "Print errors only."},
    {0},
};
static const struct table options = {
    .name = "import", .size = sizeof(struct import_options), .fields = fields};

/* ---- the formats */

static int read_hpcc(const struct call *call, struct import *import, struct error *e)
{
    const char *const paths[3] = {call->arguments[1], call->arguments[2],
                                  call->count > 3 ? call->arguments[3] : NULL};
    return import_hpcc(paths, import, e);
}

static const struct format {
    const char *name, *files;
    size_t least, most; /* files */
    int (*read)(const struct call *call, struct import *import, struct error *e);
} formats[] = {{"hpcc", "TOPOLOGY FLOW [TRACE]", 2, 3, read_hpcc}};

static int read_files(const struct call *call, struct import *import, struct error *e)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(call->arguments[0], formats[i].name) != 0)
            continue;
        if (call->count - 1 < formats[i].least || call->count - 1 > formats[i].most)
            return error_set(e, "import: expected %s %s", formats[i].name, formats[i].files);
        return formats[i].read(call, import, e);
    }
    return error_set(e, "import: \"%.60s\" is unknown: expected hpcc", call->arguments[0]);
}

/* ---- writing */

/* What is written is checked like every other lab and scenario. */
static int check(const char *scenario_path, const char *lab_path, struct error *e)
{
    struct plan plan;
    struct plan_request request = {.scenario = scenario_path, .lab = lab_path, .duration_ns = FIELD_UNSET};
    if (plan_check_lab(lab_path, e) != 0 || foresee(&request, &plan, NULL, e) != 0)
        return -1;
    plan_free(&plan);
    return 0;
}

static int write_both(const struct import *import, const struct import_request *request,
                      const char *scenario_path, struct error *e)
{
    json_t *lab = import_lab(import, request, e);
    json_t *scenario = lab ? import_scenario(import, request, e) : NULL;
    int result = scenario ? 0 : -1;
    if (result == 0 && (result = import_write(request->lab_path, lab, e)) == 0 &&
        ((result = import_write(scenario_path, scenario, e)) != 0 ||
         (result = check(scenario_path, request->lab_path, e)) != 0)) {
        unlink(scenario_path);
        unlink(request->lab_path);
    }
    json_decref(lab);
    json_decref(scenario);
    return result;
}

static void print_summary(const struct import *import, const char *scenario_path, const char *lab_path)
{
    size_t switches = 0, i;
    const json_t *note;
    for (i = 0; i < import->nodes; i++)
        switches += import->is_switch[i];
    json_array_foreach(import->notes, i, note)
    {
        print_out("note: %s\n", json_string_value(note));
    }
    print_out("%s: %zu hosts, %zu switches, %zu links\n", lab_path, import->nodes - switches, switches,
              import->link_count);
    print_out("%s: %zu flows\n", scenario_path, import->flow_count);
}

static int check_is_new(const char *path, struct error *e)
{
    return files_exist(path) ? error_set(e, "%s is there already: remove it, or give another --out", path)
                             : 0;
}

static int import_files(const struct call *call, const char *lab_path, const char *scenario_path, int *status,
                        struct error *e)
{
    const struct import_options *said = call->options;
    struct import import = {0};
    *status = EXIT_USAGE;
    if (check_is_new(lab_path, e) != 0 || check_is_new(scenario_path, e) != 0)
        return -1;
    char *physics = find_file(FIND_LAB, said->physics, e);
    int result = physics ? read_files(call, &import, e) : -1;
    if (result == 0) {
        struct import_request request = {.name = said->name, .physics = physics, .lab_path = lab_path};
        if ((result = files_make_folders(said->out, e)) == 0)
            result = write_both(&import, &request, scenario_path, e);
        if (result == 0 && !said->quiet)
            print_summary(&import, scenario_path, lab_path);
        import_free(&import);
    }
    free(physics);
    return result;
}

static int run_import(const struct call *call)
{
    const struct import_options *said = call->options;
    char *lab_path = files_join(said->out, "lab.json"),
         *scenario_path = files_join(said->out, "scenario.json");
    struct error e;
    int status = EXIT_USAGE;
    int result = lab_path && scenario_path ? import_files(call, lab_path, scenario_path, &status, &e)
                                           : error_set(&e, "out of memory");
    free(lab_path);
    free(scenario_path);
    return result == 0 ? EXIT_DONE : program_fail(status, &e);
}

const struct command command_import = {
    .name = "import",
    .arguments = "hpcc FILE...",
    .about =
        "Write a lab and a scenario for a case of another simulator: of its files TOPOLOGY, FLOW and TRACE "
        "(hpcc: the HPCC simulator and SimAI).",
    .options = &options,
    .least = 1,
    .most = 4,
    .run = run_import,
};
