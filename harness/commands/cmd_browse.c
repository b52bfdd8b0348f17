#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/document/paths.h"
#include "lib/files.h"
#include "lib/folder/output.h"
#include "lib/formats/scenario.h"
#include "lib/formats/verdicts.h"
#include "lib/log.h"
#include "lib/output/columns.h"
#include "lib/output/print.h"
#include "lib/process.h"
#include "lib/program/program.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include "reports/browse/browse.h"
#include "reports/reports.h"
#include "lib/text.h"
#include "lib/words.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RESULTS_DEFAULT "results"
#define TABLE_COLUMNS   13 /* the last one only where a run has a reason */

struct browse_arguments {
    const char *scenario, *lab;
    struct list_of verdict, where;
    const char *since;
    int sort, reverse;
    int64_t limit;
    int cells;
    int json;
    const char *html;
    int force;
    int64_t page, open;
};

/* unfinished: there is no result yet; broken: it cannot be read */
static const char *const verdict_words[] = {"passed",     "failed",     "skipped", "unjudged",
                                            "incomplete", "unfinished", "broken",  NULL};
static const char *const orders[] = {"time", "scenario", "verdict", "goodput", "pauses", "latency", NULL};

#define AT(member) offsetof(struct browse_arguments, member)
static const struct field fields[] = {
    {.name = "scenario",
     .kind = FIELD_STRING,
     .offset = AT(scenario),
     .argument = "GLOB",
     .help = "Only runs of scenarios with such a name."},
    {.name = "lab",
     .kind = FIELD_STRING,
     .offset = AT(lab),
     .argument = "GLOB",
     .help = "Only runs in labs with such a name."},
    {.name = "verdict",
     .kind = FIELD_LIST,
     .offset = AT(verdict),
     .item = FIELD_CHOICE,
     .choices = verdict_words,
     .argument = "VERDICT",
     .help = "Only runs, or sweeps in one line, with this verdict: passed, failed, skipped, unjudged, "
             "incomplete, unfinished (no "
             "result yet) "
             "or broken (a result that cannot be read). May be given several times."},
    {.name = "where",
     .kind = FIELD_LIST,
     .offset = AT(where),
     .item = FIELD_STRING,
     .argument = "SETTING=VALUE",
     .help =
         "Only runs with this value of a setting that a sweep varied (\"message=64KiB\"), of the scenario "
         "(\"settings.cable=7m\", \"flows.*.depth=16\") or of the lab (\"lab.defaults.link.rate=25Gb/s\"), "
         "as the "
         "result "
         "has it. May be given several times."},
    {.name = "since",
     .kind = FIELD_STRING,
     .offset = AT(since),
     .argument = "TIME",
     .help = "Only runs that began at or after this time (UTC): 2026-03-01, 2026-03-01T12:00, or a time "
             "before now "
             "such as 48h."},
    {.name = "sort",
     .kind = FIELD_CHOICE,
     .offset = AT(sort),
     .choices = orders,
     .fallback = "\"time\"",
     .help = "The order: the newest first, by name, or the largest first."},
    {.name = "reverse", .kind = FIELD_BOOL, .offset = AT(reverse), .help = "The other way round."},
    {.name = "limit",
     .kind = FIELD_INTEGER,
     .offset = AT(limit),
     .min = 1,
     .max = INT64_MAX,
     .help = "List at most N runs, or sweeps."},
    {.name = "cells",
     .kind = FIELD_BOOL,
     .offset = AT(cells),
     .help =
         "A line for each run of a sweep, in place of one for the sweep. So it is with --where, --json, and "
         "an order by a figure."},
    {.name = "json", .kind = FIELD_BOOL, .offset = AT(json), .help = "Print one JSON document."},
    {.name = "html",
     .kind = FIELD_STRING,
     .offset = AT(html),
     .argument = "FILE",
     .help = "Write a page that lists the runs and links their folders and pages."},
    {.name = "force", .kind = FIELD_BOOL, .offset = AT(force), .help = "Replace the file of --html."},
    {.name = "page",
     .kind = FIELD_INTEGER,
     .offset = AT(page),
     .min = 1,
     .max = INT64_MAX,
     .help = "Print the path of run N's page, which is drawn if there is none. N is the number in the list "
             "that the "
             "same options print."},
    {.name = "open",
     .kind = FIELD_INTEGER,
     .offset = AT(open),
     .min = 1,
     .max = INT64_MAX,
     .help = "The same, and open the page with xdg-open."},
    {0},
};

/* ---- checks of the options */

static int check_words(const struct browse_arguments *said, struct error *e)
{
    const char *const *settings = said->where.items;
    for (size_t i = 0; i < said->where.count; i++)
        if (!strchr(settings[i], '=') || settings[i][0] == '=')
            return error_set(e, "--where: \"%s\": expected SETTING=VALUE, such as message=64KiB",
                             settings[i]);
        else if (strchr("<>=!", strchr(settings[i], '=')[1]) && strchr(settings[i], '=')[1])
            return error_set(e, "--where: \"%s\": a value is expected, not a comparison", settings[i]);
    return 0;
}

static int check(const void *object, const char *path, struct error *e)
{
    (void)path;
    const struct browse_arguments *said = object;
    if ((said->json == 1) + (said->html != NULL) + (said->page != FIELD_UNSET) + (said->open != FIELD_UNSET) >
        1)
        return error_set(e, "--json, --html, --page and --open are one at a time");
    return check_words(said, e);
}

static const struct table options = {
    .name = "browse", .size = sizeof(struct browse_arguments), .fields = fields, .check = check};

/* "2026-03-01T12:00" up to any of its parts, or a time before now. */
static int since_of(const char *said, char since[32], struct error *e)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ", least[] = "0000-01-01T00:00:00Z";
    int64_t before;
    size_t length = strlen(said), i = 0;
    if (units_parse(UNIT_TIME_NS, said, &before, NULL) == 0 && before >= 0) {
        time_t then = (time_t)((clock_realtime_ns() - before) / NS_PER_S);
        struct tm utc;
        return gmtime_r(&then, &utc) && strftime(since, 32, "%Y-%m-%dT%H:%M:%SZ", &utc)
                   ? 0
                   : error_set(e, "--since: \"%s\" is out of range", said);
    }
    while (i < length && i < sizeof form - 1 &&
           (form[i] == 'd' ? said[i] >= '0' && said[i] <= '9' : said[i] == form[i]))
        i++;
    if (i < length || length < 4)
        return error_set(
            e,
            "--since: \"%s\" is not a time: expected 2026-03-01, 2026-03-01T12:00, or a time before now "
            "such as 48h",
            said);
    char whole[sizeof least];
    struct tm tm = {0}, as;
    snprintf(whole, sizeof whole, "%s%s", said, least + length);
    const char *end = strptime(whole, "%Y-%m-%dT%H:%M:%SZ", &tm);
    as = tm;
    if (!end || *end || timegm(&as) == -1 || as.tm_mday != tm.tm_mday || tm.tm_sec > 59)
        return error_set(e, "--since: \"%s\" is no day of the calendar, or no time of a day", said);
    memcpy(since, said, length + 1);
    return 0;
}

/* ---- the list on a terminal */

static const struct columns_style styles[TABLE_COLUMNS] = {
    {.title = "N", .right = true},
    {.title = "STARTED"},
    {.title = "VERDICT"},
    {.title = "SCENARIO", .least = 8},
    {.title = "LAB", .least = 8, .leave = 2},
    {.title = "VARIED", .least = 8, .keep = 40},
    {.title = "DELIVERED", .right = true, .leave = 6},
    {.title = "GOODPUT", .right = true},
    {.title = "PAUSES", .right = true, .leave = 1},
    {.title = "CNPS", .right = true, .leave = 4},
    {.title = "P99", .right = true, .leave = 3},
    {.title = "FOLDER", .least = 20, .leave = 5},
    {.title = "REASON", .least = 12},
};

static char *number(double value, double scale, const char *unit)
{
    struct text out = {0};
    if (isfinite(value))
        text_add(&out, "%.*f%s",
                 !*unit || value * scale >= 100 ? 0
                 : value * scale >= 10          ? 1
                                                : 2,
                 value * scale, unit);
    else
        text_add(&out, "-");
    return text_take(&out);
}

static void fill_row(const struct browse_run *run, size_t n, char *cells[TABLE_COLUMNS])
{
    struct text count = {0};
    text_add(&count, "%zu", n);
    cells[0] = text_take(&count);
    cells[1] = browse_shown_time(run, 16);
    cells[2] = strdup(run->verdict);
    cells[3] = strdup(run->scenario);
    cells[4] = strdup(run->lab);
    cells[5] = strdup(run->varied);
    cells[6] = number(run->delivered_bps, 1e-9, " Gb/s");
    cells[7] = number(run->goodput_bps, 1e-9, " Gb/s");
    cells[8] = number(run->pauses, 1, "");
    cells[9] = number(run->cnps, 1, "");
    cells[10] = number(run->latency_p99_us, 1, " us");
    cells[11] = strdup(run->folder);
    cells[12] = strdup(run->reason);
}

static int print_table(const struct browse_list *list, const char *results, struct error *e)
{
    if (!list->count) {
        print_out("no runs in %s%s\n", results, list->left_out ? " fit these options" : "");
        return 0;
    }
    char **cells = calloc(list->count, TABLE_COLUMNS * sizeof *cells);
    if (!cells)
        return error_set(e, "out of memory for %zu runs", list->count);
    bool reasons = false;
    for (size_t i = 0; i < list->count; i++)
        reasons = reasons || *list->runs[i].reason;
    size_t columns = TABLE_COLUMNS - !reasons;
    for (size_t i = 0; i < list->count; i++) {
        char *row[TABLE_COLUMNS];
        fill_row(&list->runs[i], i + 1, row);
        memcpy(&cells[i * columns], row, columns * sizeof *row);
        if (!reasons)
            free(row[TABLE_COLUMNS - 1]);
    }
    columns_print(stdout, styles, columns, (const char *const *)cells, list->count,
                  columns_of_terminal(stdout));
    for (size_t i = 0; i < list->count * columns; i++)
        free(cells[i]);
    free(cells);
    for (size_t i = 0; i < list->count; i++)
        if (list->runs[i].cell_count) {
            char *path = files_join(results, list->runs[i].folder),
                 *folder = path ? shell_quoted(path) : NULL;
            log_info("runs of sweep %zu: harness browse %s", i + 1, folder ? folder : "");
            free(folder);
            free(path);
            break;
        }
    return 0;
}

/* ---- pages */

/* Is the file to be written into the results folder? Links are then relative. */
static bool is_beside(const char *file, const char *results)
{
    const char *slash = strrchr(file, '/');
    char *parent = slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file)) : strdup(".");
    char *real = parent ? realpath(parent, NULL) : NULL;
    bool same = real && strcmp(real, results) == 0;
    free(real);
    free(parent);
    return same;
}

static int write_page(const struct browse_list *list, const char *results,
                      const struct browse_arguments *said, struct error *e)
{
    struct text page = {0};
    if (output_check_path(said->html,
                          &(struct output){.what = "a page",
                                           .begins = PAGE_BEGINS,
                                           .length = sizeof PAGE_BEGINS - 1,
                                           .can_force = true,
                                           .force = said->force == 1},
                          e) != 0)
        return -1;
    char *real = realpath(results, NULL);
    if (!real)
        return error_set_errno(e, errno, "finding %s", results);
    browse_page(list, real, is_beside(said->html, real), &page);
    int result = page.failed ? error_set(e, "out of memory for the page")
                             : files_write_atomic(said->html, page.data, page.length, e);
    if (result == 0)
        print_out("%s\n", said->html);
    text_free(&page);
    free(real);
    return result;
}

static int open_page(const char *path, struct error *e)
{
    const char *const argv[] = {"xdg-open", path, NULL};
    int status = process_run(argv, NULL, NULL, NULL, 60 * NS_PER_S, e);
    return status <= 0 ? status : error_set(e, "xdg-open %s exited with %d", path, status);
}

static int show_page(const struct browse_list *list, const char *results, const struct browse_arguments *said,
                     struct error *e)
{
    int64_t n = said->open != FIELD_UNSET ? said->open : said->page;
    struct text page = {0};
    if ((uint64_t)n > list->count)
        return error_set(e, "there is no run %" PRId64 " in the list: it has %zu", n, list->count);
    const struct browse_run *run = &list->runs[n - 1];
    if (verdict_of(run->verdict) == VERDICT_NONE && !run->is_sweep)
        return error_set(e, "%s/%s is %s and has no page: %s", results, run->folder, run->verdict,
                         run->reason);
    char *folder = strcmp(run->folder, ".") == 0 ? strdup(results) : files_join(results, run->folder);
    int result = folder ? 0 : error_set(e, "out of memory for %s", results);
    if (result == 0 && run->has_page)
        text_add(&page, "%s/report/index.html", folder);
    else if (result == 0)
        result = report_make((const char *const *)&folder, 1, NULL, &page, e);
    if (result == 0)
        print_out("%s\n", text_string(&page));
    if (result == 0 && said->open != FIELD_UNSET)
        result = open_page(text_string(&page), e);
    text_free(&page);
    free(folder);
    return result;
}

/* ---- the command */

static int print_json(const struct browse_list *list, struct error *e)
{
    json_t *document = browse_json(list);
    if (!document)
        return error_set(e, "out of memory for %zu runs", list->count);
    json_print(stdout, document, 17);
    json_decref(document);
    return 0;
}

/* Sweeps that are not whole and have no line which says so: those whose runs are listed one by one. */
static void say_lacks(const struct browse_list *list, const char *results)
{
    for (size_t i = 0; i < list->lack_count; i++) {
        const struct browse_lack *lack = &list->lacks[i];
        bool itself = strcmp(lack->folder, ".") == 0;
        if (!lack->has_line)
            log_info("the sweep in %s%s%s is %s, with %zu of %zu runs: %s", results, itself ? "" : "/",
                     itself ? "" : lack->folder, lack->verdict, lack->found, lack->runs, lack->reason);
    }
}

/* Its rounds are in the list, one by one. */
static void say_searches(const struct browse_list *list, const char *results)
{
    const json_t *folder;
    size_t i;
    json_array_foreach(list->searches, i, folder)
    {
        bool itself = strcmp(json_string_value(folder), ".") == 0;
        log_info("%s%s%s is a search, whose answer is its index.html: harness status shows it", results,
                 itself ? "" : "/", itself ? "" : json_string_value(folder));
    }
}

static int show(struct browse_list *list, const char *results, const struct browse_filter *filter,
                const struct browse_arguments *said, struct error *e)
{
    bool cells = said->cells == 1 || said->json == 1 || said->where.count || said->sort >= BROWSE_BY_GOODPUT;
    if (!cells)
        browse_fold(list, results);
    browse_keep_verdicts(list, filter);
    browse_sort(list, (enum browse_order)said->sort, said->reverse == 1);
    if (said->page != FIELD_UNSET || said->open != FIELD_UNSET)
        return show_page(list, results, said, e);
    size_t count = list->count, shown = count;
    if (said->limit != FIELD_UNSET && (uint64_t)said->limit < count)
        shown = (size_t)said->limit;
    list->beyond = browse_count(list, shown);
    list->count = shown;
    int result = said->html        ? write_page(list, results, said, e)
                 : said->json == 1 ? print_json(list, e)
                                   : print_table(list, results, e);
    if (list->beyond)
        log_info("%zu more %s: --limit is %zu", list->beyond, THINGS(list->beyond, "run"), list->count);
    list->count = count;
    if (said->json != 1) {
        say_lacks(list, results);
        say_searches(list, results);
    }
    return result;
}

/* A path that no run has is a slip, or of other runs. */
static void say_unknown(const struct browse_filter *filter, size_t found)
{
    for (size_t i = 0; i < filter->setting_count && found; i++) {
        size_t length = strcspn(filter->settings[i], "=");
        char path[256];
        struct error why;
        snprintf(path, sizeof path, "%.*s", (int)(length < 255 ? length : 255), filter->settings[i]);
        bool wrong =
            strchr(path, '.') && !paths_in_lab(path) && table_check_path(&scenario_table, path, &why) != 0;
        if (!filter->known[i])
            log_warning("--where: no run has %s%s%s", path, wrong ? ": " : "", wrong ? why.text : "");
    }
}

static int run_browse(const struct call *call)
{
    const struct browse_arguments *said = call->options;
    const int *verdicts = said->verdict.items;
    const char *words[sizeof verdict_words / sizeof *verdict_words];
    size_t word_count = 0;
    for (size_t i = 0; verdict_words[i]; i++)
        for (size_t k = 0; k < said->verdict.count; k++)
            if (verdicts[k] == (int)i && (!word_count || words[word_count - 1] != verdict_words[i]))
                words[word_count++] = verdict_words[i];
    const char *results = call->count ? call->arguments[0] : RESULTS_DEFAULT;
    struct browse_filter filter = {.scenario = said->scenario,
                                   .lab = said->lab,
                                   .verdicts = words,
                                   .verdict_count = word_count,
                                   .settings = said->where.items,
                                   .setting_count = said->where.count};
    struct browse_list list = {0};
    struct error e;
    char since[32];
    filter.known = xcalloc(filter.setting_count + 1, sizeof *filter.known);
    int result = said->since ? since_of(said->since, since, &e) : 0;
    filter.since = said->since ? since : NULL;
    if (result == 0)
        result = browse_find(results, &filter, &list, &e);
    if (result == 0)
        say_unknown(&filter, list.count + list.left_out);
    if (result == 0)
        result = show(&list, results, &filter, said, &e);
    bool unread = damaged_warn(&list.unread);
    browse_free(&list);
    free(filter.known);
    if (result == 0)
        return unread ? EXIT_FAILED : EXIT_DONE;
    log_error("%s", e.text);
    return EXIT_USAGE;
}

const struct command command_browse = {
    .name = "browse",
    .arguments = "[RESULTS]",
    .about = "List the runs below a results folder.",
    .options = &options,
    .least = 0,
    .most = 1,
    .run = run_browse,
};
