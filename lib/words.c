#include "lib/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void words_add(struct words *w, const char *format, ...)
{
    va_list arguments;
    char *word = NULL, **items = realloc(w->items, (w->count + 2) * sizeof *items);
    w->failed = w->failed || !items;
    if (!items)
        return;
    w->items = items;
    va_start(arguments, format);
    if (vasprintf(&word, format, arguments) < 0)
        word = NULL;
    va_end(arguments);
    w->failed = w->failed || !word;
    if (word)
        items[w->count++] = word;
    items[w->count] = NULL;
}

void words_add_all(struct words *w, const char *const more[])
{
    for (size_t i = 0; more[i]; i++)
        words_add(w, "%s", more[i]);
}

int words_whole(const struct words *w, struct error *e)
{
    return w->failed || !w->items ? error_set(e, "out of memory for a command line") : 0;
}

void words_free(struct words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->items[i]);
    free(w->items);
    *w = (struct words){0};
}
