/* The table of a sweep from elsewhere, and all that is made of it. The input is files with \1 between them:
 * each begins with a byte that chooses the index or one of three results, which two cells each have. */
#include "reports/drawing/over_sweep.h"
#include "reports/page/page.h"
#include "tests/fuzz/scratch.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILES 4

static void write_file(const char *name, const uint8_t *text, size_t length)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", scratch_folder(), name);
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(text, 1, length, file);
        fclose(file);
    }
}

static void lay_out(const uint8_t *data, size_t size)
{
    static const char *const names[FILES][2] = {{"index.json", NULL},
                                                {"01/result.json", "04/result.json"},
                                                {"02/result.json", "05/result.json"},
                                                {"03/result.json", "06/result.json"}};
    char path[300];
    for (int i = 1; i <= 6; i++) {
        snprintf(path, sizeof path, "%s/%02d", scratch_folder(), i);
        mkdir(path, 0700);
    }
    for (size_t i = 0; i < FILES; i++)
        for (size_t j = 0; j < 2 && names[i][j]; j++)
            write_file(names[i][j], (const uint8_t *)"", 0);
    while (size > 1) {
        const uint8_t *end = memchr(data + 1, 1, size - 1);
        size_t length = end ? (size_t)(end - data) : size;
        for (size_t j = 0; j < 2 && names[*data % FILES][j]; j++)
            write_file(names[*data % FILES][j], data + 1, length - 1);
        size -= end ? length + 1 : length;
        data = end ? end + 1 : data;
    }
}

static void draw(const struct sweep_table *t)
{
    struct folder folder;
    struct text note = {0};
    struct error e;
    bool drawn;
    if (folder_open(&folder, scratch_folder(), &e) == 0)
        for (size_t i = 0; i < t->figure_count; i++) {
            unlinkat(folder.fd, "drawn.tsv", 0);
            unlinkat(folder.fd, "drawn.svg", 0);
            if (over_sweep_wants(t, i))
                over_sweep_draw(t, i, 0, "drawn", t->figures[i].name, &folder, &drawn, &note, &e);
            text_clear(&note);
        }
    text_free(&note);
    folder_close(&folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sweep_table t;
    struct text csv = {0}, page = {0};
    struct error e;
    lay_out(data, size);
    if (sweep_table_load(scratch_folder(), &t, &e) == 0) {
        draw(&t);
        sweep_table_csv(&t, &csv);
        page_sweep_write(&t, NULL, 0, over_sweep_how(&t), 0, &page);
    }
    text_free(&csv);
    text_free(&page);
    sweep_table_free(&t);
    return 0;
}
