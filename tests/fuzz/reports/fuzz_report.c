/* Result folders from elsewhere: all of `harness report`. The input is files, each a byte that chooses its
 * name and then its text, with \1 between them; with an odd length a cell of the sweep is compared with the
 * sweep. */
#define page_library_read some_library
#include "reports/report.c"
#include "reports/report_sweep.c"
#include "tests/fuzz/scratch.h"
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Its text matters not: data for it are written. */
void page_library_read(struct page_library *library)
{
    *library = (struct page_library){strdup("script"), strdup("style"), strdup("licence")};
}

static const char *const files[] = {"index.json",      "result.json",    "samples.jsonl",
                                    "pauses.jsonl",    "01/result.json", "01/samples.jsonl",
                                    "01/pauses.jsonl", "02/result.json"};
#define FILES (sizeof files / sizeof *files)

static void write_file(const char *folder, const char *name, const uint8_t *text, size_t length)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(text, 1, length, file);
        fclose(file);
    }
}

static void lay_out(const char *folder, const uint8_t *data, size_t size)
{
    static const char *const folders[] = {"01", "02", "out"};
    char path[300];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
        mkdir(path, 0700);
    }
    for (size_t i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    while (size > 1) {
        const uint8_t *end = memchr(data + 1, 1, size - 1);
        size_t length = end ? (size_t)(end - data) : size;
        write_file(folder, files[*data % FILES], data + 1, length - 1);
        size -= end ? length + 1 : length;
        data = end ? end + 1 : data;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char out[220], cell[220];
    const char *results[] = {scratch_folder(), cell};
    struct report_options options = {.folder = out};
    struct text page = {0};
    struct error e;
    snprintf(out, sizeof out, "%s/out", results[0]);
    snprintf(cell, sizeof cell, "%s/01", results[0]);
    lay_out(results[0], data, size);
    report_make(results, 1 + (size & 1), &options, &page, &e);
    text_free(&page);
    return 0;
}
