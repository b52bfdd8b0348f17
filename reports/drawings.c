#include "reports/drawings.h"

#include "lib/files.h"
#include "lib/folder/output.h"
#include "lib/xalloc.h"
#include "reports/drawing/svg.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PICTURE_MOST (64u << 20) /* bytes: curves have few points, a map or a table of colours has more */

void drawings_keep(struct drawings *drawings, const char *name, const char *title, const char *caption,
                   size_t run)
{
    drawings->items = xreallocarray(drawings->items, drawings->count + 1, sizeof *drawings->items);
    drawings->items[drawings->count++] = (struct drawing){
        .name = xstrdup(name), .title = xstrdup(title), .caption = xstrdup(caption), .run = run};
}

struct drawing *drawings_last(const struct drawings *drawings)
{
    return &drawings->items[drawings->count - 1];
}

int drawings_load(struct drawings *drawings, const struct folder *folder, struct error *e)
{
    for (size_t i = 0; i < drawings->count; i++) {
        struct drawing *drawing = &drawings->items[i];
        char *name = xasprintf("%s.svg", drawing->name);
        int fd = folder_open_file(folder, name, e);
        if (fd >= 0) {
            drawing->picture = files_read_descriptor(fd, name, PICTURE_MOST, &drawing->picture_length, e);
            close(fd);
        }
        free(name);
        drawing->png = drawings->png;
        if (!drawing->picture || (drawing->png && svg_to_png(folder, drawing->name, e) != 0))
            return -1;
    }
    return 0;
}

int drawings_publish(const struct drawings *drawings, const struct fresh *fresh, const struct folder *folder,
                     struct error *e)
{
    static const char *const endings[] = {"tsv", "svg", "png"};
    static const struct output kinds[] = {{.what = "the data of a drawing", .begins = "# ", .length = 2},
                                          {.what = "a drawing", .begins = "<svg ", .length = 5},
                                          {.what = "a picture", .begins = "\x89PNG", .length = 4}};
    for (size_t i = 0; i < (drawings->ours ? 0 : drawings->count); i++)
        for (size_t k = 0; k < (drawings->items[i].png ? 3 : 2); k++) {
            char *name = xasprintf("%s.%s", drawings->items[i].name, endings[k]);
            int result = output_check(folder, name, &kinds[k], e);
            free(name);
            if (result != 0)
                return -1;
        }
    for (size_t i = 0; i < drawings->count; i++)
        for (size_t k = 0; k < (drawings->items[i].png ? 3 : 2); k++) {
            char *name = xasprintf("%s.%s", drawings->items[i].name, endings[k]);
            int result = fresh_move(fresh, folder, name, e);
            free(name);
            if (result != 0)
                return -1;
        }
    return 0;
}

void drawings_free(struct drawings *drawings)
{
    for (size_t i = 0; i < drawings->count; i++) {
        free(drawings->items[i].name);
        free(drawings->items[i].title);
        free(drawings->items[i].caption);
        free(drawings->items[i].note);
        free(drawings->items[i].says);
        free(drawings->items[i].picture);
        text_free(&drawings->items[i].data);
    }
    free(drawings->items);
}
