/* What fuzzers of imported cases share: what a reader accepts becomes a lab and a scenario that their own
 * readers accept. */
#ifndef TESTS_FUZZ_IMPORT_H
#define TESTS_FUZZ_IMPORT_H

#include "harness/import/job.h"
#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"
#include <stdio.h>
#include <stdlib.h>

#define FUZZ_MOST_NODES 300 /* more take long to write out; their edges are the same */

static inline void fuzz_import_refused(const char *what, const struct error *e)
{
    fprintf(stderr, "the %s is refused: %s\n", what, e->text);
    abort();
}

static inline void fuzz_import_check_lab(const struct import *import, const struct import_request *request)
{
    struct error e;
    struct lab lab;
    json_t *document = import_lab(import, request, &e), *whole = document ? lab_expand(document, &e) : NULL;
    if (!whole || lab_parse(whole, NULL, &lab, &e) != 0)
        fuzz_import_refused("lab", &e);
    lab_free(&lab);
    json_decref(whole);
    json_decref(document);
}

/* Frees it. */
static inline void fuzz_import_check(struct import *import)
{
    struct error e;
    struct scenario scenario;
    const struct import_request request = {.name = "imported", .lab_path = "lab.json", .lab = "lab.json"};
    if (import->nodes <= FUZZ_MOST_NODES && (import->links || import->topology))
        fuzz_import_check_lab(import, &request);
    json_t *document = import->nodes <= FUZZ_MOST_NODES ? import_scenario(import, &request, &e) : NULL;
    json_t *whole = document ? scenario_expand(document, &e) : NULL;
    if (whole && scenario_parse(whole, &scenario, &e) != 0)
        fuzz_import_refused("scenario", &e);
    if (whole)
        scenario_free(&scenario);
    json_decref(whole);
    json_decref(document);
    import_free(import);
}

/* A file that has no network: on a fat tree of three tiers where it has as many nodes, or on one switch. */
static inline void fuzz_import_file(const uint8_t *data, size_t size,
                                    int (*read)(struct reader *file, struct import *import, struct error *e),
                                    bool is_tree)
{
    struct reader file;
    struct import import;
    struct error e;
    if (reader_open_text(&file, "input", (const char *)data, size, &e) != 0)
        return;
    if (read(&file, &import, &e) == 0) {
        import.rate_bps = 100000000000;
        import.delay_ps = 1000000;
        if (is_tree)
            import_fat_tree(&import, 3, &e);
        else
            import_star(&import, &e);
        fuzz_import_check(&import);
    }
    reader_close(&file);
}

static inline int fuzz_import_star(void *context, struct import *import, struct error *e)
{
    (void)context;
    import->rate_bps = 100000000000;
    import->delay_ps = 1000000;
    return import_star(import, e);
}

static inline struct import_job fuzz_import_job(void)
{
    return (struct import_job){.channels = 1, .iterations = 1, .network = fuzz_import_star};
}

#endif
