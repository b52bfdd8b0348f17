#include "lib/document/json_text.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/formats/find.h"
#include "lib/document/json_file.h"
#include "lib/log.h"
#include "lib/physics/nic_models.h"
#include <stdio.h>
#include <string.h>

struct list_options {
    int json;
};

static const struct field fields[] = {
    {.name = "json",
     .kind = FIELD_BOOL,
     .offset = offsetof(struct list_options, json),
     .help = "Print one JSON document."},
    {0},
};
static const struct table options = {.name = "list", .size = sizeof(struct list_options), .fields = fields};

static const char *text_of(const json_t *document, const char *key)
{
    const char *text = json_string_value(json_object_get(document, key));
    return text ? text : "";
}

/* Append the entry of one file; a file that cannot be read is listed with its error. */
static void add(json_t *list, enum find_kind kind, const char *path)
{
    struct error e;
    json_t *document = json_file_load(path, kind == FIND_LAB ? DOCUMENT_LAB : DOCUMENT_SCENARIO, &e);
    json_t *entry = json_make("{s:s}", "path", path);
    if (!document) {
        json_object_set_new(entry, "error", json_text(e.text));
    } else {
        json_object_set_new(entry, "name", json_text(text_of(document, "name")));
        json_object_set_new(entry, "title", json_text(text_of(document, "title")));
        if (kind == FIND_LAB)
            json_object_set_new(entry, "driver", json_text(text_of(document, "driver")));
    }
    json_array_append_new(list, entry);
    json_decref(document);
}

/* Put the files of a kind into `all`; *status is that of a wrong file if there are none. */
static void list_kind(enum find_kind kind, const char *title, json_t *all, int *status)
{
    char **paths;
    size_t count;
    struct error e;
    json_t *list = json_array();
    if (find_all(kind, &paths, &count, &e) != 0)
        *status = program_fail(EXIT_USAGE, &e);
    for (size_t i = 0; i < count; i++)
        add(list, kind, paths[i]);
    find_free(paths, count);
    json_object_set_new(all, title, list);
}

static json_t *list_models(void)
{
    json_t *list = json_array();
    for (int i = 0; i < NIC_MODEL_COUNT; i++)
        json_array_append_new(
            list, json_make("{s:s,s:s}", "name", nic_model_names[i], "title", nic_model_titles[i]));
    return list;
}

static void print_kind(const char *title, const json_t *list)
{
    size_t i;
    json_t *entry;
    print_out("%s\n", title);
    json_array_foreach(list, i, entry)
    {
        const char *error = json_string_value(json_object_get(entry, "error")),
                   *driver = text_of(entry, "driver");
        print_out("  %-24s %s%s%s\n",
                  *text_of(entry, "name") ? text_of(entry, "name") : text_of(entry, "path"),
                  *driver ? driver : "", *driver ? "  " : "", error ? error : text_of(entry, "title"));
    }
}

static int run_list(const struct call *call)
{
    const struct list_options *said = call->options;
    int status = EXIT_DONE;
    const char *what = call->count ? call->arguments[0] : "";
    bool scenarios = !*what || strcmp(what, "scenarios") == 0, labs = !*what || strcmp(what, "labs") == 0,
         models = !*what || strcmp(what, "models") == 0;
    if (!scenarios && !labs && !models) {
        log_error("list: \"%s\" cannot be listed: expected scenarios, labs or models", what);
        status = EXIT_USAGE;
    } else {
        json_t *all = json_object();
        if (scenarios)
            list_kind(FIND_SCENARIO, "scenarios", all, &status);
        if (labs)
            list_kind(FIND_LAB, "labs", all, &status);
        if (models)
            json_object_set_new(all, "models", list_models());
        const char *title;
        json_t *list;
        if (said->json) {
            json_print(stdout, all, 17);
        } else {
            json_object_foreach(all, title, list)
            {
                if (json_array_size(list))
                    print_kind(title, list);
            }
        }
        json_decref(all);
    }
    return status;
}

const struct command command_list = {
    .name = "list",
    .arguments = "[scenarios|labs|models]",
    .about = "List scenarios, labs, and models of NICs.",
    .options = &options,
    .least = 0,
    .most = 1,
    .run = run_list,
};
