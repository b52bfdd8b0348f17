#include "reports/drawings.h"

#include "lib/files.h"
#include "reports/drawing/gnuplot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PICTURE_MOST (64u << 20) /* bytes: curves have few points, a map or a table of colours has more */

int drawings_keep(struct drawings *drawings, const char *name, const char *title, const char *caption,
                  size_t run)
{
    struct drawing *items = realloc(drawings->items, (drawings->count + 1) * sizeof *items);
    if (!items)
        return -1;
    drawings->items = items;
    items[drawings->count++] =
        (struct drawing){.name = strdup(name), .title = strdup(title), .caption = caption, .run = run};
    return items[drawings->count - 1].name && items[drawings->count - 1].title ? 0 : -1;
}

struct drawing *drawings_last(const struct drawings *drawings)
{
    return &drawings->items[drawings->count - 1];
}

static int take_picture(struct drawing *drawing, const struct folder *folder, struct error *e)
{
    char *name = NULL;
    int fd = asprintf(&name, "%s.svg", drawing->name) < 0 ? error_set(e, "out of memory for the drawings")
                                                          : folder_open_file(folder, name, e);
    if (fd >= 0) {
        drawing->picture = files_read_descriptor(fd, name, PICTURE_MOST, &drawing->picture_length, e);
        close(fd);
    }
    free(name);
    return drawing->picture ? 0 : -1;
}

int drawings_draw(struct drawings *drawings, const struct folder *folder, struct error *e)
{
    char **names = calloc(drawings->count + 1, sizeof *names);
    if (!names)
        return error_set(e, "out of memory for the drawings");
    for (size_t i = 0; i < drawings->count; i++)
        names[i] = drawings->items[i].name;
    int result = gnuplot_draw(folder, names, drawings->count, e);
    free(names);
    for (size_t i = 0; result == 0 && i < drawings->count; i++)
        result = take_picture(&drawings->items[i], folder, e);
    return result;
}

int drawings_publish(const struct drawings *drawings, const struct fresh *fresh, const struct folder *folder,
                     struct error *e)
{
    static const char *const endings[] = {"tsv", "gp", "svg", "png"};
    for (size_t i = 0; i < drawings->count; i++)
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
            char *name = NULL;
            int result = asprintf(&name, "%s.%s", drawings->items[i].name, endings[k]) < 0
                             ? error_set(e, "out of memory for the drawings")
                             : fresh_move(fresh, folder, name, e);
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
        free(drawings->items[i].note);
        free(drawings->items[i].picture);
        text_free(&drawings->items[i].data);
    }
    free(drawings->items);
}
