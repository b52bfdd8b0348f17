#include "harness/run/request.h"

#include "harness/run/results.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/result_files.h"
#include "lib/folder/sweep_index.h"
#include "lib/formats/find.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/text.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REQUEST       "request.json"
#define CHANGES_NAMED 3

/* ---- writing */

static json_t *sets_json(const struct sweep_request *request)
{
    const char *const *sets = request->sets.items;
    json_t *list = json_array();
    for (size_t i = 0; i < request->sets.count; i++)
        json_array_append_new(list, json_text(sets[i]));
    return list;
}

static json_t *request_document(const char *command, const struct sweep_request *request,
                                const struct plan *plan)
{
    char *folder = plan->folder ? xstrdup(plan->folder) : get_current_dir_name();
    json_t *document = json_make(
        "{s:i,s:s,s:s,s:s,s:s,s:s?,s:s,s:O,s:s,s:s,s:O,s:o,s:I,s:I}", "schema", 1, "program", "harness",
        "command", command, "version", HARNESS_VERSION, "build", results_build(), "working_folder", folder,
        "scenario_file", plan->scenario_path, "scenario", plan->read.scenario, "lab_file", plan->lab_path,
        "lab_why", plan->lab_why, "lab", plan->read.lab, "set", sets_json(request), "repeat",
        (json_int_t)request->repeats, "seed", (json_int_t)request->seed);
    free(folder);
    if (document && request->duration_ns != FIELD_UNSET)
        json_object_set_new(document, "duration_ns", json_integer(request->duration_ns));
    return document;
}

int request_write(const char *folder, const json_t *document, struct error *e)
{
    char *path = files_join(folder, REQUEST);
    int result = document && path ? json_file_save(path, document, e) : error_set(e, "out of memory");
    free(path);
    return result;
}

int request_keep(const char *folder, const char *command, const struct sweep_request *request,
                 const struct plan *plan, const json_t *besides, struct error *e)
{
    json_t *document = request_document(command, request, plan);
    if (besides)
        json_object_update(document, (json_t *)(uintptr_t)besides);
    int result = request_write(folder, document, e);
    json_decref(document);
    return result;
}

/* ---- going on */

static void add_number(const char *option, int64_t value, struct words *command)
{
    if (value == FIELD_UNSET)
        return;
    words_add(command, "%s", option);
    words_add(command, "%" PRId64, value);
}

static void add_options(const struct sweep_request *asked, struct words *command)
{
    const char *const *rules = asked->fail_if.items;
    const struct {
        const char *option;
        int given;
    } flags[] = {{"--no-report", asked->no_report},
                 {"--quiet", asked->quiet},
                 {"--json", asked->json},
                 {"--yes", asked->yes}};
    add_number("--jobs", asked->jobs, command);
    add_number("--threads", asked->threads, command);
    if (asked->on)
        words_add_all(command, (const char *const[]){"--on", asked->on, NULL});
    add_number("--cells-per-task", asked->cells_per_task, command);
    if (asked->against)
        words_add_all(command, (const char *const[]){"--against", asked->against, NULL});
    for (size_t i = 0; i < asked->fail_if.count; i++)
        words_add_all(command, (const char *const[]){"--fail-if", rules[i], NULL});
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].given)
            words_add(command, "%s", flags[i].option);
}

/* As it is reached from the current folder: whoever is told it is there. The caller frees. */
static char *path_from_here(const char *folder)
{
    char *here = get_current_dir_name(), *whole = realpath(folder, NULL);
    size_t length = here ? strlen(here) : 0;
    bool below = whole && length > 1 && strncmp(whole, here, length) == 0 && whole[length] == '/' &&
                 whole[length + 1] != '-';
    char *path = xstrdup(below ? whole + length + 1 : whole ? whole : folder);
    free(here);
    free(whole);
    return path;
}

void request_print_resume(FILE *to, const char *command, const char *folder,
                          const struct sweep_request *asked)
{
    struct words words = {0};
    struct text line = {0};
    char *path = path_from_here(folder);
    words_add_all(&words, (const char *const[]){program_invocation_name, command, "--resume", path, NULL});
    free(path);
    if (asked)
        add_options(asked, &words);
    shell_quote_all(&line, (const char *const *)words.items);
    print_to(to, "    %s\n", text_string(&line));
    text_free(&line);
    words_free(&words);
}

int request_check_kept(const json_t *document, const char *const kept[], struct error *e)
{
    for (; *kept; kept++)
        if (json_object_get(document, *kept))
            return error_set(e, "--resume: the folder says this itself: give no --%s",
                             strcmp(*kept, "hosts_from") == 0 ? "hosts-from" : *kept);
    return 0;
}

/* ---- reading */

static int request_parse_sets(struct kept_request *kept, const char *path, struct error *e)
{
    const json_t *list = json_object_get(kept->document, "set");
    json_t *set;
    size_t i;
    if (list && !json_is_array(list))
        return error_set(e, "%s: set: expected a list of texts", path);
    kept->sets = calloc(json_array_size(list) + 1, sizeof *kept->sets);
    if (!kept->sets)
        return error_set(e, "out of memory");
    json_array_foreach(list, i, set)
    {
        if (!(kept->sets[i] = json_string_value(set)))
            return error_set(e, "%s: set[%zu]: expected a text", path, i);
    }
    kept->request.sets = (struct list_of){.items = kept->sets, .count = json_array_size(list)};
    return 0;
}

static int request_parse_number(const json_t *document, const char *key, json_int_t least, json_int_t most,
                                int64_t *into, const char *path, struct error *e)
{
    const json_t *value = json_object_get(document, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < least || number > most)
        return error_set(e, "%s: %s: expected a whole number from %lld to %lld", path, key, (long long)least,
                         (long long)most);
    *into = number;
    return 0;
}

static int request_parse(struct kept_request *kept, const char *path, struct error *e)
{
    const json_t *d = kept->document;
    struct plan_documents *documents = &kept->documents;
    documents->scenario = json_object_get(d, "scenario");
    documents->lab = json_object_get(d, "lab");
    documents->scenario_path = json_string_value(json_object_get(d, "scenario_file"));
    documents->lab_path = json_string_value(json_object_get(d, "lab_file"));
    documents->folder = json_string_value(json_object_get(d, "working_folder"));
    const char *why = json_string_value(json_object_get(d, "lab_why"));
    documents->lab_why = why ? why : "the sweep that is resumed";
    const json_t *folder = json_object_get(d, "working_folder");
    if (folder && !json_is_null(folder) && !json_is_string(folder))
        return error_set(e, "%s: working_folder: expected a text", path);
    if (!json_is_object(documents->scenario) || !json_is_object(documents->lab) ||
        !documents->scenario_path || !documents->lab_path)
        return error_set(
            e, "%s: expected the objects scenario and lab, and the texts scenario_file and lab_file", path);
    kept->request.duration_ns = FIELD_UNSET;
    if (json_object_get(d, "duration_ns") &&
        request_parse_number(d, "duration_ns", 1, INT64_MAX, &kept->request.duration_ns, path, e) != 0)
        return -1;
    if (request_parse_number(d, "repeat", 1, SWEEP_MOST_REPEATS, &kept->request.repeats, path, e) != 0 ||
        request_parse_number(d, "seed", 0, SWEEP_MOST_SEED, &kept->request.seed, path, e) != 0)
        return -1;
    return request_parse_sets(kept, path, e);
}

/* Not what is only read by people. */
static json_t *without_title(const json_t *document)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)document);
    json_object_del(copy, "title");
    return copy;
}

static int compare_with_file(const char *path, enum document_kind kind, const json_t *kept,
                             const char *folder, struct error *e)
{
    json_t *now = json_file_load(path, kind, e);
    if (!now)
        return -1;
    json_t *one = without_title(kept), *other = without_title(now);
    struct text words = {0};
    size_t changes = json_changes(one, other, CHANGES_NAMED, &words);
    if (changes > CHANGES_NAMED)
        text_add(&words, "; and %zu more", changes - CHANGES_NAMED);
    int result =
        changes
            ? error_set(e,
                        "%s is not what it was when %s was begun: %s: undo the change, or run the sweep anew",
                        path, folder, text_string(&words))
            : 0;
    text_free(&words);
    json_decref(one);
    json_decref(other);
    json_decref(now);
    return result;
}

/* A file that is gone, or was a pipe, changes nothing: what was read is kept. */
static int request_check_file(const struct kept_request *kept, const char *key, enum document_kind kind,
                              const char *folder, struct error *e)
{
    const char *said = json_string_value(json_object_get(kept->document, key));
    char *path = find_path_from(kept->documents.folder, said);
    const json_t *read = kind == DOCUMENT_LAB ? kept->documents.lab : kept->documents.scenario;
    struct stat status;
    int result = !path ? error_set(e, "out of memory")
                 : stat(path, &status) == 0 && S_ISREG(status.st_mode)
                     ? compare_with_file(path, kind, read, folder, e)
                     : 0;
    free(path);
    return result;
}

static const char *const things[][2] = {
    {"run", "sweep"}, {"search", "search"}, {"reduce", "reduction"}, {"burn-in", "burn-in"}};
#define THINGS_COUNT (sizeof things / sizeof *things)

static const char *thing_of(const char *command)
{
    size_t i = 0;
    while (i + 1 < THINGS_COUNT && strcmp(things[i][0], command) != 0)
        i++;
    return things[i][1];
}

char *request_whole_of(const char *folder, const char **command)
{
    struct error ignored;
    char *above = files_join(folder, ".."), *whole = above ? realpath(above, NULL) : NULL,
         *own = files_join(folder, REQUEST), *path = whole ? files_join(whole, REQUEST) : NULL;
    json_t *request = path && own && !files_exist(own) && files_exist(path)
                          ? json_file_load(path, DOCUMENT_REQUEST, &ignored)
                          : NULL;
    const char *has = json_string_value(json_object_get(request, "command"));
    *command = NULL;
    for (size_t i = 0; has && i < THINGS_COUNT; i++)
        if (strcmp(has, things[i][0]) == 0)
            *command = things[i][0];
    json_decref(request);
    free(path);
    free(own);
    free(above);
    if (!*command) {
        free(whole);
        whole = NULL;
    }
    return whole;
}

/* Why a folder without a request cannot be taken. -1. */
static int refuse_folder(const char *folder, const char *command, struct error *e)
{
    static const char *const request[] = {REQUEST, NULL}, *const index[] = {SWEEP_INDEX, NULL};
    const char *goes_on;
    char *whole = request_whole_of(folder, &goes_on);
    if (whole) {
        struct text quoted = {0};
        shell_quote(&quoted, whole);
        error_set(e, "%s is a part of a %s, which goes on as a whole: harness %s --resume %s", folder,
                  thing_of(goes_on), goes_on, text_string(&quoted));
        text_free(&quoted);
        free(whole);
        return -1;
    }
    if (result_files_any(folder, index))
        return error_set(e,
                         "%s has no " REQUEST ", as sweeps of early versions 0.1: its runs can be read "
                         "(report, browse), not counted or resumed; run the sweep anew",
                         folder);
    char *meant = result_files_meant(folder, request);
    error_set(e, "%s is not the folder of a %s: it has no " REQUEST "%s%s", folder, thing_of(command),
              meant ? "; perhaps " : "", meant ? meant : "");
    free(meant);
    return -1;
}

/* What goes on in a folder is what began there. */
static int request_check_command(const json_t *document, const char *command, const char *folder,
                                 struct error *e)
{
    const char *has = json_string_value(json_object_get(document, "command"));
    for (size_t i = 0; has && i < THINGS_COUNT; i++)
        if (strcmp(has, things[i][0]) == 0 && strcmp(has, command) != 0)
            return error_set(e, "%s is the folder of a %s: harness %s --resume goes on with it", folder,
                             things[i][1], has);
    return has && strcmp(has, command) == 0
               ? 0
               : error_set(e, "%s/" REQUEST ": command: expected \"%s\"", folder, command);
}

static int request_check_program(const json_t *document, const char *command, const char *path,
                                 struct error *e)
{
    const char *version = json_string_value(json_object_get(document, "version")),
               *build = json_string_value(json_object_get(document, "build"));
    if (!version || strcmp(version, HARNESS_VERSION) != 0)
        return error_set(
            e,
            "%s was written by harness %s, and this is " HARNESS_VERSION
            ", which reads the runs (report, browse) and counts or resumes none: take that version, "
            "or run the %s anew",
            path, version ? version : "without a version", thing_of(command));
    if (!build || strcmp(build, results_build()) != 0)
        return error_set(e,
                         "%s was written by build %s of harness " HARNESS_VERSION
                         ", and this is build %s, whose results may be others: take that build, or run the "
                         "%s anew",
                         path, build ? build : "(not named)", results_build(), thing_of(command));
    return 0;
}

json_t *request_read(const char *folder, const char *command, struct error *e)
{
    char *path = files_join(folder, REQUEST);
    json_t *document = files_exist(path) ? json_file_load(path, DOCUMENT_REQUEST, e) : NULL;
    int result = document             ? request_check_program(document, command, path, e)
                 : !files_exist(path) ? refuse_folder(folder, command, e)
                                      : -1;
    if (result == 0)
        result = request_check_command(document, command, folder, e);
    free(path);
    if (result == 0)
        return document;
    json_decref(document);
    return NULL;
}

int request_load(const struct sweep_request *asked, const char *command, struct kept_request *kept,
                 struct error *e)
{
    *kept = (struct kept_request){.request = *asked};
    kept->request.yes = true; /* it was asked for then */
    kept->document = request_read(asked->resume, command, e);
    char *path = files_join(asked->resume, REQUEST);
    int result = kept->document ? request_parse(kept, path, e) : -1;
    free(path);
    return result;
}

int request_check_files(const struct kept_request *kept, struct error *e)
{
    const char *folder = kept->request.resume;
    return request_check_file(kept, "scenario_file", DOCUMENT_SCENARIO, folder, e) != 0
               ? -1
               : request_check_file(kept, "lab_file", DOCUMENT_LAB, folder, e);
}

void request_free(struct kept_request *kept)
{
    free(kept->sets);
    json_decref(kept->document);
    *kept = (struct kept_request){0};
}

/* ---- one process at a time */

/* A lock of the process, by fcntl: it names its holder, and processes of runs do not inherit it. The file is
 * not opened again. */
int request_lock(const char *folder, struct error *e)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}, holder = lock;
    char *path = files_join(folder, REQUEST);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd < 0) {
        error_set_errno(e, path ? errno : ENOMEM, "opening %s/" REQUEST, folder);
    } else if (fcntl(fd, F_SETLK, &lock) != 0) {
        int number = errno;
        if (number != EACCES && number != EAGAIN)
            error_set_errno(e, number, "locking %s", path);
        else if (fcntl(fd, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK)
            error_set(e, "%s is being worked on by process %d: wait for it or stop it", folder,
                      (int)holder.l_pid);
        else
            error_set(e, "%s is being worked on by another process: wait for it or stop it", folder);
        close(fd);
        fd = -1;
    }
    free(path);
    return fd;
}

pid_t request_holder(const char *folder)
{
    struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *path = files_join(folder, REQUEST);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    bool held = fd >= 0 && fcntl(fd, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    free(path);
    return held ? holder.l_pid : 0;
}
