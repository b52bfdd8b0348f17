#include "reports/drawings.h"

#include "reports/drawing/gnuplot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int drawings_keep(struct drawings *drawings, const char *name, const char *title, const char *caption,
                  size_t run)
{
    struct drawing *items = realloc(drawings->items, (drawings->count + 1) * sizeof *items);
    if (!items)
        return -1;
    drawings->items = items;
    items[drawings->count++] = (struct drawing){strdup(name), strdup(title), caption, run};
    return items[drawings->count - 1].name && items[drawings->count - 1].title ? 0 : -1;
}

int drawings_draw(const struct drawings *drawings, const struct folder *folder, struct error *e)
{
    char **names = calloc(drawings->count + 1, sizeof *names);
    if (!names)
        return error_set(e, "out of memory for the drawings");
    for (size_t i = 0; i < drawings->count; i++)
        names[i] = drawings->items[i].name;
    int result = gnuplot_draw(folder, names, drawings->count, e);
    free(names);
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
    }
    free(drawings->items);
}
