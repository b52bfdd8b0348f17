/* burn-in.json: its keys, and how it is read. */
#include "harness/burn_in/document.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct document_stage {
    char *name, *about, *reason, *folder;
    int verdict;
    int64_t runs;
    double wall_s;
    struct list_of warnings; /* char * */
};

struct document_finding {
    char *kind, *culprit, *host, *nic, *switch_name, *stage, *says, *unit, *source;
    int sure;
    double figure, expected;
    struct list_of link, evidence; /* char * */
};

struct document_figures {
    char *name;
    double host_tx_bps, host_rx_bps, gpu_tx_bps, gpu_rx_bps;
};

struct document {
    int64_t schema;
    char *program, *version, *build, *lab, *started, *finished;
    int simulated, complete, verdict;
    json_t *request, *pairs, *gpus, *collectives, *facts, *rules, *nvbandwidth;
    struct list_of stages, findings, unknown, notes, warnings, figures;
};

static const char *const verdicts[] = {"passed", "failed", "undecided", "skipped", "incomplete", NULL};

#define STAGE(member) offsetof(struct document_stage, member)
static const struct field stage_fields[] = {
    {"name", FIELD_STRING, STAGE(name), .required = true, .help = "The stage."},
    {"about", FIELD_STRING, STAGE(about), .help = "What it does."},
    {"verdict", FIELD_CHOICE, STAGE(verdict), .choices = verdicts,
     .help = "failed: an expectation of a run failed, or there is a finding of it; skipped: the lab cannot "
             "have it, or "
             "nothing could be decided."},
    {"reason", FIELD_STRING, STAGE(reason), .form = &form_any,
     .help = "Why it was skipped or is incomplete, or which expectations failed, and where."},
    {"folder", FIELD_STRING, STAGE(folder), .help = "Its result, below that of the burn-in."},
    {"runs", FIELD_INTEGER, STAGE(runs), .min = 1, .max = 1000000, .help = "How many it has."},
    {"warnings", FIELD_LIST, STAGE(warnings), .item = FIELD_STRING, .form = &form_any,
     .help = "What its runs warn of, each with how many runs do."},
    {"wall_s", FIELD_NUMBER, STAGE(wall_s), .help = "The time that it took here, in seconds."},
    {0},
};
static const struct table stage_table = {
    .name = "burn-in.stage", .size = sizeof(struct document_stage), .fields = stage_fields};

#define FINDING(member) offsetof(struct document_finding, member)
static const struct field finding_fields[] = {
    {"kind", FIELD_STRING, FINDING(kind), .required = true,
     .help = "doctor, link-errors, hardware-errors, deadlock, loss, link-slow, nic-slow, slow-receiver, "
             "gpu-route, gpu-slow, "
             "pfc-off, "
             "switch-pfc, dcqcn-off, ecn-off, slower (than the baseline), drift, stage (that failed, where "
             "nothing else "
             "says why)."},
    {"culprit", FIELD_STRING, FINDING(culprit), .required = true,
     .help = "A host, a NIC (HOST.NIC), a link (\"a - leaf0\") or a switch."},
    {"host", FIELD_STRING, FINDING(host), .help = "The host that it is, or that the NIC or link is of."},
    {"nic", FIELD_STRING, FINDING(nic), .help = "The NIC of a host with several."},
    {"link", FIELD_LIST, FINDING(link), .item = FIELD_STRING, .min = 2, .max = 2, .help = "Its two ends."},
    {"switch", FIELD_STRING, FINDING(switch_name), .help = "The switch."},
    {"stage", FIELD_STRING, FINDING(stage), .help = "The stage that showed it."},
    {"says", FIELD_STRING, FINDING(says), .form = &form_any, .help = "What is wrong, a sentence."},
    {"sure", FIELD_BOOL, FINDING(sure), .help = "false: something else would look the same."},
    {"evidence", FIELD_LIST, FINDING(evidence), .item = FIELD_STRING, .form = &form_any,
     .help = "What tells of it."},
    {"figure", FIELD_NUMBER, FINDING(figure), .help = "What was measured,"},
    {"expected", FIELD_NUMBER, FINDING(expected), .help = "what was expected at least,"},
    {"unit", FIELD_STRING, FINDING(unit), .help = "and in which unit."},
    {"source", FIELD_STRING, FINDING(source), .form = &form_any, .help = "Where the expectation comes from."},
    {0},
};
static const struct table finding_table = {
    .name = "burn-in.finding", .size = sizeof(struct document_finding), .fields = finding_fields};

#define FIGURES(member) offsetof(struct document_figures, member)
static const struct field figures_fields[] = {
    {"host_tx_bps", FIELD_NUMBER, FIGURES(host_tx_bps), .help = "Sent from host memory."},
    {"host_rx_bps", FIELD_NUMBER, FIGURES(host_rx_bps), .help = "Received into host memory."},
    {"gpu_tx_bps", FIELD_NUMBER, FIGURES(gpu_tx_bps), .help = "Sent from memory of the nearest GPU."},
    {"gpu_rx_bps", FIELD_NUMBER, FIGURES(gpu_rx_bps), .help = "Received into it."},
    {0},
};
static const struct table figures_table = {
    .name = "burn-in.figures", .size = sizeof(struct document_figures), .fields = figures_fields};

#define AT(member) offsetof(struct document, member)
static const struct field fields[] = {
    {"schema", FIELD_INTEGER, AT(schema), .required = true, .min = 1, .max = 1, .help = "1."},
    {"program", FIELD_STRING, AT(program), .help = "harness."},
    {"version", FIELD_STRING, AT(version), .help = "Its version,"},
    {"build", FIELD_STRING, AT(build), .help = "and its sources (harness --version)."},
    {"lab", FIELD_STRING, AT(lab), .required = true, .help = "The lab's name."},
    {"simulated", FIELD_BOOL, AT(simulated), .help = "Was it computed by the simulator?"},
    {"complete", FIELD_BOOL, AT(complete), .help = "false: stages are missing or not whole."},
    {"verdict", FIELD_CHOICE, AT(verdict), .choices = verdicts,
     .help = "failed: there is a finding, or a rule holds; undecided: a rate, a feature or a "
             "rule could not be judged (unknown, rules)."},
    {"started", FIELD_STRING, AT(started), .help = "When it was begun,"},
    {"finished", FIELD_STRING, AT(finished), .help = "and when it ended."},
    {"request", FIELD_JSON, AT(request), .help = "How it was started."},
    {"stages", FIELD_LIST, AT(stages), .item = FIELD_OBJECT, .sub = &stage_table, .required = true,
     .help = "The stages, in the order of running."},
    {"findings", FIELD_LIST, AT(findings), .item = FIELD_OBJECT, .sub = &finding_table,
     .help = "What is bad."},
    {"unknown", FIELD_LIST, AT(unknown), .item = FIELD_STRING, .form = &form_any,
     .help = "Rates and features that could not be judged, and why."},
    {"notes", FIELD_LIST, AT(notes), .item = FIELD_STRING, .form = &form_any,
     .help = "What is good to know and decides nothing."},
    {"warnings", FIELD_LIST, AT(warnings), .item = FIELD_STRING, .form = &form_any,
     .help = "What was warned of before the stages."},
    {"figures", FIELD_MAP, AT(figures), .item = FIELD_OBJECT, .sub = &figures_table, .required = true,
     .help =
         "By NIC: the best of all rounds, in bits per second. What harness compare and --baseline compare."},
    {"pairs", FIELD_JSON, AT(pairs), .help = "FROM {TO: the best of all rounds, in bits per second}."},
    {"gpus", FIELD_JSON, AT(gpus),
     .help = "NIC {GPU {tx_bps, rx_bps, relation}}: of each pair that was measured, in bits per second."},
    {"collectives", FIELD_JSON, AT(collectives),
     .help = "NAME, VARIABLE VALUE: the largest bus bandwidth of any size, in GB/s."},
    {"rules", FIELD_JSON, AT(rules), .help = "Those of --fail-if: rule, verdict, reason."},
    {"facts", FIELD_JSON, AT(facts), .help = "HOST {what: version}: of drivers, firmware, lanes, speeds."},
    {"nvbandwidth", FIELD_JSON, AT(nvbandwidth),
     .help = "HOST {version, driver, gpus, tests: {NAME: rows of GB/s, null where nothing was measured}, "
             "waived}, "
             "or HOST {why: it could not be asked}."},
    {0},
};
const struct table burn_in_table = {.name = "burn-in",
                                    .help = "What harness burn-in found.",
                                    .size = sizeof(struct document),
                                    .fields = fields};

/* Of this version all keys are known; another one may have others. */
static int check_document(const json_t *document, const char *file, struct error *e)
{
    const char *version = json_string_value(json_object_get(document, "version"));
    struct document parsed;
    if (!json_is_object(json_object_get(document, "figures")) ||
        !json_is_array(json_object_get(document, "stages")))
        return error_set(e, "%s is not the document of a burn-in: it has no stages or figures", file);
    if (!version || strcmp(version, HARNESS_VERSION) != 0)
        return 0;
    if (table_parse(&burn_in_table, document, &parsed, e) != 0)
        return error_prefix(e, "%s", file);
    table_free(&burn_in_table, &parsed);
    return 0;
}

json_t *burn_in_load(const char *path, struct error *e)
{
    struct stat status;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    char *file = folder ? files_join(path, BURN_IN_DOCUMENT) : strdup(path);
    json_t *document = file ? json_file_load(file, DOCUMENT_RESULT, e) : NULL;
    if (document && check_document(document, file, e) != 0) {
        json_decref(document);
        document = NULL;
    }
    free(file);
    return document;
}
