#include "lib/document/json_text.h"
#include "lib/output/columns.h"
#include "lib/program/program.h"
#include "lib/formats/find.h"
#include "lib/document/json_file.h"
#include "lib/log.h"
#include "lib/physics/nic_models.h"
#include "lib/roce/counters.h"
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

/* Put the catalogue of counters into `all`: of the group that the word names, or the row of the counter that
 * it names, or without a word all. An unknown word is an error, and nothing is put. */
static int list_counters(const char *word, json_t *all)
{
    char near[256] = "";
    bool every = !*word || counters_group_bits(word, strlen(word)) != 0;
    const struct counter *named = every ? NULL : counters_known(word, near, sizeof near);
    if (!every && !named) {
        log_error("list counters: \"%s\" is neither a known counter nor a group (%s)%s%s", word,
                  counter_group_list, *near ? ": the nearest name is " : "", near);
        return EXIT_USAGE;
    }
    json_t *rows = counters_json(), *list = json_array(), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (named ? strcmp(text_of(row, "pattern"), named->pattern) == 0
                  : !*word || strcmp(word, "all") == 0 || strcmp(text_of(row, "group"), word) == 0)
            json_array_append(list, row);
    }
    json_object_set_new(all, "counters", list);
    json_decref(rows);
    return EXIT_DONE;
}

/* A name in its column, and words beside it, which stay there on a terminal, or of a narrow one below it. */
static void print_entry(int width, const char *name, struct text *words)
{
    size_t column = (size_t)width + 3, length = strlen(name) + 3, terminal = columns_of_terminal(stdout);
    if (terminal && terminal < 2 * column) {
        column = length = 6;
        print_out("  %s\n%*s", name, (int)column, "");
    } else {
        print_out("  %-*s ", width, name);
    }
    columns_wrap(stdout, text_string(words), length > column ? length : column, column, terminal);
    text_free(words);
}

/* A line for each counter, and for each NIC of which it is known what it counts there. */
static void print_counters(const json_t *list)
{
    const char *group = "";
    size_t i, k;
    json_t *row, *found;
    struct text words = {0};
    json_array_foreach(list, i, row)
    {
        bool wraps = json_integer_value(json_object_get(row, "bits")) == 32;
        if (strcmp(group, text_of(row, "group")) != 0)
            print_out("%s%s\n", *group ? "\n" : "", text_of(row, "group"));
        group = text_of(row, "group");
        text_add(&words, "%s%s: %s", text_of(row, "unit"),
                 strcmp(text_of(row, "kind"), "gauge") == 0 ? ", gauge"
                 : wraps                                    ? ", 32 bits"
                                                            : "",
                 text_of(row, "meaning"));
        print_entry(32, text_of(row, "pattern"), &words);
        json_array_foreach(json_object_get(row, "measured"), k, found)
            print_out("      on %s: %s (%s)\n", text_of(found, "nic"), text_of(found, "counts"),
                      text_of(found, "source"));
        if (json_array_size(list) == 1)
            print_out("      named by: %s\n", text_of(row, "source"));
    }
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
        struct text words = {0};
        text_add(&words, "%s%s%s", *driver ? driver : "", *driver ? "  " : "",
                 error ? error : text_of(entry, "title"));
        print_entry(24, *text_of(entry, "name") ? text_of(entry, "name") : text_of(entry, "path"), &words);
    }
}

static int run_list(const struct call *call)
{
    const struct list_options *said = call->options;
    int status = EXIT_DONE;
    const char *what = call->count ? call->arguments[0] : "";
    bool scenarios = !*what || strcmp(what, "scenarios") == 0, labs = !*what || strcmp(what, "labs") == 0,
         models = !*what || strcmp(what, "models") == 0, counters = strcmp(what, "counters") == 0;
    if (!scenarios && !labs && !models && !counters) {
        log_error("list: \"%s\" cannot be listed: expected scenarios, labs, models or counters", what);
        status = EXIT_USAGE;
    } else if (call->count > 1 && !counters) {
        log_error("list: only of counters one can be named, not of %s", what);
        status = EXIT_USAGE;
    } else {
        json_t *all = json_object();
        if (scenarios)
            list_kind(FIND_SCENARIO, "scenarios", all, &status);
        if (labs)
            list_kind(FIND_LAB, "labs", all, &status);
        if (models)
            json_object_set_new(all, "models", list_models());
        if (counters)
            status = list_counters(call->count > 1 ? call->arguments[1] : "", all);
        const char *title;
        json_t *list;
        if (said->json && json_object_size(all)) {
            json_print(stdout, all, 17);
        } else {
            json_object_foreach(all, title, list)
            {
                if (counters)
                    print_counters(list);
                else if (json_array_size(list))
                    print_kind(title, list);
            }
        }
        json_decref(all);
    }
    return status;
}

const struct command command_list = {
    .name = "list",
    .arguments = "[scenarios|labs|models|counters [NAME|GROUP]]",
    .about = "List scenarios, labs and models of NICs; or what counters count, and on which NIC.",
    .options = &options,
    .least = 0,
    .most = 2,
    .run = run_list,
};
