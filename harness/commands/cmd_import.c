#include "harness/import/job.h"
#include "harness/run/precheck.h"
#include "lib/document/json_file.h"
#include "lib/files.h"
#include "lib/formats/find.h"
#include "lib/formats/flow.h"
#include "lib/output/print.h"
#include "lib/physics/fabric.h"
#include "lib/program/program.h"
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct import_options {
    const char *out, *name, *physics, *lab;
    int64_t tiers, rate_bps, delay_ps, channels, iterations;
    int algorithm, quiet;
};

/* In the order of enum collective_algorithm. */
static const char *const algorithms[] = {"by-size", "ring", "tree", "halving-doubling", NULL};

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
     .help =
         "The name of the lab and of the scenario, and of the folder of its results. Default: those of the "
         "case's network and flows, without their ends: fat-flow of fat.txt and flow.txt."},
    {.name = "physics",
     .kind = FIELD_STRING,
     .offset = offsetof(struct import_options, physics),
     .argument = "LAB",
     .fallback = "\"sim-leaf-spine\"",
     .help =
         "The simulated lab whose common values of hosts and switches, sizes of headers and clock are taken: "
         "sim-hpcc-star has those of the HPCC simulator, and is taken with its CONFIG."},
    {.name = "lab",
     .letter = 'l',
     .kind = FIELD_STRING,
     .offset = offsetof(struct import_options, lab),
     .argument = "LAB",
     .help = "Not hpcc: the simulated lab whose hosts, in its order, are the nodes or ranks. No lab is "
             "written. Otherwise the nodes of htsim are a fat tree, and ranks are on one switch."},
    {.name = "tiers",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct import_options, tiers),
     .argument = "N",
     .min = 2,
     .max = 3,
     .help = "htsim: the tiers of the fat tree (otherwise 3)."},
    {.name = "rate",
     .kind = FIELD_QUANTITY,
     .offset = offsetof(struct import_options, rate_bps),
     .argument = "RATE",
     .unit = UNIT_RATE_BPS,
     .min = PHYSICS_LINK_LEAST_BPS,
     .max = FLOW_MAX_RATE_BPS,
     .help = "Not hpcc: the rate of all links (otherwise 100Gb/s)."},
    {.name = "delay",
     .kind = FIELD_QUANTITY,
     .offset = offsetof(struct import_options, delay_ps),
     .argument = "TIME",
     .unit = UNIT_TIME_PS,
     .min = 0,
     .max = PHYSICS_LINK_MOST_DELAY_PS,
     .help = "Not hpcc: the delay of all links (otherwise 1us)."},
    {.name = "algorithm",
     .kind = FIELD_CHOICE,
     .offset = offsetof(struct import_options, algorithm),
     .choices = algorithms,
     .fallback = "\"by-size\"",
     .help = "chakra, aicb: how collectives go that have this algorithm: by-size as NCCL chooses."},
    {.name = "channels",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct import_options, channels),
     .argument = "N",
     .min = 1,
     .max = COLLECTIVE_MOST_CHANNELS,
     .fallback = "1",
     .help = "chakra, aicb: parts of each collective, which go side by side."},
    {.name = "iterations",
     .kind = FIELD_INTEGER,
     .offset = offsetof(struct import_options, iterations),
     .argument = "N",
     .min = 1,
     .max = 1000,
     .fallback = "1",
     .help = "aicb: how often its layers are computed, forward and backward."},
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

#define HPCC_FILES "CONFIG [TOPOLOGY [FLOW [TRACE]]] or TOPOLOGY FLOW [TRACE]"

static int read_hpcc(const struct call *call, struct reader *files, struct import *import, struct error *e)
{
    static const char *const others[] = {"lab", "tiers", "rate", "delay"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (json_object_get(call->document, others[i]))
            return error_set(e, "--%s: the network of hpcc is in its TOPOLOGY", others[i]);
    if (import_is_hpcc_config(&files[0]))
        return import_hpcc_config(files, import, e);
    if (call->count - 1 == 2 || call->count - 1 == 3)
        return import_hpcc(files, import, e);
    return error_set(e, "%s: no key of a configuration is in it: expected " HPCC_FILES, files[0].path);
}

/* The network of files that have none: 1 us and 100 Gb/s are htsim's defaults (main_roce.cpp, HOST_NIC). */
static int add_network(const struct call *call, struct import *import, bool is_tree, struct error *e)
{
    static const char *const others[] = {"tiers", "rate", "delay", "physics"};
    const struct import_options *said = call->options;
    for (size_t i = 0; said->lab && i < sizeof others / sizeof *others; i++)
        if (json_object_get(call->document, others[i]))
            return error_set(e, "--%s: the lab that is given as --lab has its own network", others[i]);
    if (!is_tree && json_object_get(call->document, "tiers"))
        return error_set(e, "--tiers: only the network of htsim is a fat tree");
    if (said->lab) {
        char *path = find_file(FIND_LAB, said->lab, e);
        int result = path ? import_take_lab(import, path, e) : -1;
        free(path);
        return result;
    }
    import->rate_bps = said->rate_bps != FIELD_UNSET ? said->rate_bps : INT64_C(100000000000);
    import->delay_ps = said->delay_ps != FIELD_UNSET ? said->delay_ps : 1000000;
    return is_tree ? import_fat_tree(import, said->tiers != FIELD_UNSET ? said->tiers : 3, e)
                   : import_star(import, e);
}

static int read_htsim(const struct call *call, struct reader *files, struct import *import, struct error *e)
{
    if (import_htsim(&files[0], import, e) != 0)
        return -1;
    if (add_network(call, import, true, e) == 0)
        return 0;
    import_free(import);
    return -1;
}

static int read_goal(const struct call *call, struct reader *files, struct import *import, struct error *e)
{
    (void)files;
    if (import_goal(call->arguments[1], import, e) != 0)
        return -1;
    if (add_network(call, import, false, e) == 0)
        return 0;
    import_free(import);
    return -1;
}

static int job_network(void *call, struct import *import, struct error *e)
{
    return add_network(call, import, false, e);
}

static struct import_job job_of(struct call *call)
{
    const struct import_options *said = call->options;
    return (struct import_job){.algorithm = (enum collective_algorithm)said->algorithm,
                               .channels = (uint32_t)said->channels,
                               .iterations = said->iterations,
                               .network = job_network,
                               .context = call};
}

static int read_chakra(const struct call *call, struct reader *files, struct import *import, struct error *e)
{
    struct call of = *call;
    struct import_job job = job_of(&of);
    (void)files;
    return import_chakra(call->arguments + 1, call->count - 1, &job, import, e);
}

static int read_aicb(const struct call *call, struct reader *files, struct import *import, struct error *e)
{
    struct call of = *call;
    struct import_job job = job_of(&of);
    return import_aicb(&files[0], &job, import, e);
}

#define MOST_FILES  4
#define MOST_TRACES 4096

static const struct format {
    const char *name, *files;
    size_t least, most; /* files */
    bool opens;         /* them itself */
    int (*read)(const struct call *call, struct reader *files, struct import *import, struct error *e);
} formats[] = {{"hpcc", HPCC_FILES, 1, MOST_FILES, false, read_hpcc},
               {"htsim", "FILE.cm", 1, 1, false, read_htsim},
               {"goal", "FILE.goal", 1, 1, true, read_goal},
               {"chakra", "FOLDER or NAME.RANK.et...", 1, MOST_TRACES, true, read_chakra},
               {"aicb", "FILE.txt", 1, 1, false, read_aicb}};

static const struct format *format_of(const struct call *call, struct error *e)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(call->arguments[0], formats[i].name) != 0)
            continue;
        if (call->count - 1 >= formats[i].least && call->count - 1 <= formats[i].most)
            return &formats[i];
        error_set(e, "import: expected %s %s", formats[i].name, formats[i].files);
        return NULL;
    }
    error_set(e, "import: \"%.60s\" is unknown: expected hpcc, htsim, goal, chakra or aicb",
              call->arguments[0]);
    return NULL;
}

static int read_files(const struct call *call, struct import *import, struct error *e)
{
    struct reader files[MOST_FILES] = {0};
    const struct format *format = format_of(call, e);
    int result = format ? 0 : -1;
    for (size_t i = 0; result == 0 && !format->opens && i + 1 < call->count; i++)
        result = reader_open(&files[i], call->arguments[i + 1], e);
    if (result == 0)
        result = format->read(call, files, import, e);
    for (size_t i = 0; i < MOST_FILES; i++)
        reader_close(&files[i]);
    return result;
}

/* ---- writing */

/* What is written is checked like every other lab and scenario. */
static int check(const struct import_request *request, const char *scenario_path, struct error *e)
{
    struct plan plan;
    struct plan_request checked = {.scenario = scenario_path, .own_lab = true, .duration_ns = FIELD_UNSET};
    struct precheck precheck = {.seed = 1};
    json_t *lab = request->physics ? json_file_load(request->lab_path, DOCUMENT_LAB, e) : NULL;
    int result = request->physics && (!lab || plan_check_lab(lab, request->lab_path, e) != 0) ? -1 : 0;
    json_decref(lab);
    if (result != 0 || plan_load(&checked, &plan, e) != 0)
        return -1;
    result = precheck_plan(&plan, &precheck, e);
    plan_free(&plan);
    return result;
}

/* What was written is gone again: a sentence that begins with its path says what it was made of. */
static void name_origin(const struct import *import, const struct import_request *request,
                        const char *scenario_path, struct error *e)
{
    const char *const written[] = {scenario_path, request->lab_path};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        size_t length = strlen(written[i]);
        if (strncmp(e->text, written[i], length) != 0 || strncmp(e->text + length, ": ", 2) != 0)
            continue;
        memmove(e->text, e->text + length + 2, strlen(e->text + length + 2) + 1);
        break;
    }
    error_prefix(e, "%.200s: nothing is written, as the case cannot be simulated", import->flow_path);
}

static int write_files(const struct import *import, const struct import_request *request, const json_t *lab,
                       const char *scenario_path, const json_t *scenario, struct error *e)
{
    char *schedule = find_path_of(scenario_path, IMPORT_SCHEDULE);
    int result = lab ? import_write(request->lab_path, lab, e) : 0;
    if (result == 0 && import->schedule)
        result = schedule ? schedule_write(import->schedule, schedule, e) : error_set(e, "out of memory");
    if (result == 0)
        result = import_write(scenario_path, scenario, e);
    if (result == 0 && (result = check(request, scenario_path, e)) != 0)
        name_origin(import, request, scenario_path, e);
    if (result != 0) {
        unlink(scenario_path);
        if (lab)
            unlink(request->lab_path);
        if (import->schedule && schedule)
            unlink(schedule);
    }
    free(schedule);
    return result;
}

/* The folders of a path that are not there yet: how much of it is there. */
static size_t part_that_exists(const char *path)
{
    size_t length = strlen(path);
    char *part = strdup(path);
    while (part && length > 0 && !files_exist(part)) {
        while (length > 0 && part[length - 1] != '/')
            length--;
        while (length > 0 && part[length - 1] == '/')
            length--;
        part[length] = '\0';
    }
    free(part);
    return length;
}

/* Remove the folders that were made, the last first: as long as they are empty. */
static void remove_made(const char *path, size_t there)
{
    char *part = strdup(path);
    for (size_t length = part ? strlen(part) : 0; length > there && rmdir(part) == 0;) {
        while (length > there && part[length - 1] != '/')
            length--;
        while (length > there && part[length - 1] == '/')
            length--;
        part[length] = '\0';
    }
    free(part);
}

/* Nothing is written before both are made. */
static int write_both(const struct import *import, const struct import_request *request, const char *folder,
                      const char *scenario_path, struct error *e)
{
    json_t *scenario = import_scenario(import, request, e), *lab = NULL;
    int result = scenario ? 0 : -1;
    if (result == 0 && request->physics && !(lab = import_lab(import, request, e)))
        result = -1;
    size_t there = part_that_exists(folder);
    if (result == 0 && (result = files_make_folders(folder, e)) == 0)
        result = write_files(import, request, lab, scenario_path, scenario, e);
    if (result != 0)
        remove_made(folder, there);
    json_decref(lab);
    json_decref(scenario);
    return result;
}

static void print_summary(const struct import *import, const struct import_request *request,
                          const char *scenario_path)
{
    size_t i;
    const json_t *note;
    json_array_foreach(import->notes, i, note)
    {
        print_out_line("note: %s", json_string_value(note));
    }
    size_t nodes = 0;
    for (i = 0; i < import->nodes; i++) {
        size_t nics = import->ports[i] + import->nvlinks[i];
        nodes += import->left_out[i] ? 0 : nics ? nics : 1;
    }
    if (request->physics)
        print_out_line("lab: %s, %zu nodes", request->lab_path, nodes);
    if (import->schedule)
        print_out_line("scenario: %s, ranks: %zu, operations: %u", scenario_path, import->nodes,
                       import->schedule->operation_count);
    else
        print_out_line("scenario: %s, flows: %zu", scenario_path, import->flow_count);
}

static int check_is_new(const char *path, struct error *e)
{
    return files_exist(path) ? error_set(e, "%s is there already: remove it, or give another --out", path)
                             : 0;
}

/* What a scenario calls the lab: what was said, if that is the same file for whoever reads the scenario. */
static char *name_of_lab(const char *said, const char *path, const char *scenario_path)
{
    char *beside = find_beside(FIND_LAB, scenario_path, said, NULL),
         *found = beside ? realpath(beside, NULL) : NULL, *whole = realpath(path, NULL);
    bool same = found && whole && strcmp(found, whole) == 0;
    free(beside);
    free(found);
    if (!same)
        return whole;
    free(whole);
    return strdup(said);
}

/* The file's name without folders and its end, in characters that a name may have. */
static void add_stem(const char *path, struct text *name)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path, *dot = strrchr(file, '.');
    size_t length = dot && dot > file ? (size_t)(dot - file) : strlen(file);
    for (size_t i = 0; i < length; i++) {
        bool fits =
            isascii((unsigned char)file[i]) && (isalnum((unsigned char)file[i]) || strchr("._-", file[i]));
        if (fits && (name->length || isalnum((unsigned char)file[i]) || file[i] == '_'))
            text_add(name, "%c", file[i]);
        else if (name->length && name->data[name->length - 1] != '_')
            text_add(name, "_");
    }
}

/* The name of a case that was given none: that of its files, as far as a name may be long. */
static void add_case_name(const struct import *import, struct text *name)
{
    if (import->network_path && strcmp(import->network_path, import->flow_path) != 0)
        add_stem(import->network_path, name);
    if (name->length)
        text_add(name, "-");
    add_stem(import->flow_path, name);
    if (!name->length)
        text_add(name, "imported");
    while (name->length > 1 && !form_fits(&form_name, text_string(name)))
        name->data[--name->length] = '\0'; /* it is too long */
}

static int import_files(const struct call *call, const char *lab_path, const char *scenario_path,
                        struct error *e)
{
    const struct import_options *said = call->options;
    struct import import = {0};
    if ((!said->lab && check_is_new(lab_path, e) != 0) || check_is_new(scenario_path, e) != 0 ||
        read_files(call, &import, e) != 0)
        return -1;
    const char *base =
        import.physics && !json_object_get(call->document, "physics") ? import.physics : said->physics;
    char *physics = said->lab ? NULL : find_file(FIND_LAB, base, e),
         *found = said->lab ? find_file(FIND_LAB, said->lab, e) : NULL,
         *lab = found ? name_of_lab(said->lab, found, scenario_path) : NULL;
    struct text name = {0};
    if (!said->name)
        add_case_name(&import, &name);
    struct import_request request = {.name = said->name ? said->name : text_string(&name),
                                     .physics = physics,
                                     .lab_path = said->lab ? found : lab_path,
                                     .lab = said->lab ? lab : "lab.json"};
    int result = lab || physics ? write_both(&import, &request, said->out, scenario_path, e) : -1;
    if (result == 0 && !said->quiet)
        print_summary(&import, &request, scenario_path);
    text_free(&name);
    import_free(&import);
    free(physics);
    free(found);
    free(lab);
    return result;
}

static int run_import(const struct call *call)
{
    const struct import_options *said = call->options;
    char *lab_path = files_join(said->out, "lab.json"),
         *scenario_path = files_join(said->out, "scenario.json");
    struct error e;
    int result = lab_path && scenario_path ? import_files(call, lab_path, scenario_path, &e)
                                           : error_set(&e, "out of memory");
    free(lab_path);
    free(scenario_path);
    return result == 0 ? EXIT_DONE : program_fail(EXIT_USAGE, &e);
}

const struct command command_import = {
    .name = "import",
    .arguments = "hpcc|htsim|goal|chakra|aicb FILE...",
    .about = "Write a simulated lab and a scenario for a case of another simulator: hpcc CONFIG, or hpcc "
             "TOPOLOGY FLOW [TRACE], of the HPCC simulator and its forks, htsim FILE.cm, goal FILE.goal, or "
             "for a training job: chakra FOLDER, or "
             "chakra NAME.RANK.et..., aicb FILE.txt.",
    .options = &options,
    .least = 1,
    .most = 1 + MOST_TRACES,
    .run = run_import,
};
