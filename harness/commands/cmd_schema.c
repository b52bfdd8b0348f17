#include "harness/burn_in/document.h"
#include "harness/search/document.h"
#include "lib/document/json_text.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/formats/lab.h"
#include "lib/log.h"
#include "lib/physics/nic_models.h"
#include "lib/roce/completion.h"
#include "lib/roce/counters.h"
#include "lib/formats/scenario.h"
#include "verify/verify_settings.h"
#include <stdlib.h>
#include <string.h>

/* A whole manual page of section 5; the fields come from the tables. */
static void print_manual(const char *type, bool lab)
{
    struct text out = {0};
    text_add(&out,
             ".Dd November 20, 2026\n.Dt HARNESS-%s 5\n.Os\n.Sh NAME\n.Nm harness-%s\n.Nd fields of a %s "
             "file of\n.Xr harness 1\n"
             ".Sh DESCRIPTION\nA JSON document.\nQuantities are strings with a unit.\nUnknown keys are "
             "errors.\n.Sh FIELDS\n",
             lab ? "LAB" : "SCENARIO", type, type);
    if (lab)
        for (const struct lab_kind *kind = lab_kinds; kind->name; kind++)
            table_manual(&kind->table, &out);
    else
        table_manual(&scenario_table, &out);
    text_add(&out, ".Sh SEE ALSO\n.Xr harness 1\n");
    print_document(text_string(&out));
    text_free(&out);
}

/* What has no schema: the catalogue itself is printed. */
static const struct catalogue {
    const char *name;
    json_t *(*rows)(void);
    void (*manual)(struct text *out);
} catalogues[] = {{"counters", counters_json, counters_manual},
                  {"errors", completion_rows, completion_manual},
                  {"nic-models", nic_models_json, nic_models_manual},
                  {0}};

static const struct catalogue *catalogue_named(const char *name)
{
    for (const struct catalogue *c = catalogues; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static void print_catalogue(const struct catalogue *catalogue, bool manual)
{
    struct text out = {0};
    json_t *rows = catalogue->rows();
    if (manual)
        catalogue->manual(&out);
    else
        json_print(stdout, rows, 17);
    print_document(text_string(&out));
    text_free(&out);
    json_decref(rows);
}

struct schema_options {
    int manual;
};

static const struct field fields[] = {
    {.name = "manual",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct schema_options, manual),
     .help = "Print a manual page (mdoc) instead of a JSON Schema; of a catalogue, print what docs/ has of "
             "it: nic-models.md, the tables of counters.md and errors.md."},
    {0},
};
static const struct table options = {
    .name = "schema", .size = sizeof(struct schema_options), .fields = fields};

static int run_schema(const struct call *call)
{
    const struct schema_options *said = call->options;
    const char *type = call->arguments[0];
    const struct catalogue *catalogue = catalogue_named(type);
    bool scenario = strcmp(type, "scenario") == 0, lab = strcmp(type, "lab") == 0,
         settings = strcmp(type, "settings") == 0, verify = strcmp(type, "verify") == 0,
         burn_in = strcmp(type, "burn-in") == 0, search = strcmp(type, "search") == 0;
    int status =
        scenario || lab || settings || verify || burn_in || search || catalogue ? EXIT_DONE : EXIT_USAGE;
    if (status != EXIT_DONE) {
        log_error("schema: \"%s\" is not a document type: expected scenario, lab, settings, verify, "
                  "burn-in, search, counters, errors or nic-models",
                  type);
    } else if (catalogue) {
        print_catalogue(catalogue, said->manual > 0);
    } else if (said->manual && (scenario || lab)) {
        print_manual(type, lab);
    } else {
        json_t *schema = lab ? lab_schema()
                             : table_schema(scenario  ? &scenario_table
                                            : verify  ? &verify_settings_table
                                            : burn_in ? &burn_in_table
                                            : search  ? &search_table
                                                      : &settings_table);
        json_print(stdout, schema, 17);
        json_decref(schema);
    }
    return status;
}

const struct command command_schema = {
    .name = "schema",
    .arguments = "scenario|lab|settings|verify|burn-in|search|counters|errors|nic-models",
    .about = "Print the JSON Schema of a document type (verify: what harness verify --settings takes; "
             "burn-in: burn-in.json; search: search.json), or a "
             "catalogue: counters, what completion errors mean, models of NICs.",
    .options = &options,
    .least = 1,
    .most = 1,
    .run = run_schema,
};
