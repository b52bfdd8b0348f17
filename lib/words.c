#include "lib/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- for a shell */

/* Words of only these characters need no quotes in a POSIX shell ("=" is not among them: NAME=x before a
 * command assigns). */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+@%-";
    return *word && strspn(word, plain) == strlen(word);
}

void shell_quote(struct text *line, const char *word)
{
    if (is_plain(word)) {
        text_add(line, "%s", word);
        return;
    }
    text_add(line, "'");
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            text_add(line, "'\\''");
        else
            text_add_bytes(line, c, 1);
    text_add(line, "'");
}

char *shell_quoted(const char *word)
{
    struct text line = {0};
    shell_quote(&line, word);
    return text_take(&line);
}

void shell_quote_all(struct text *line, const char *const argv[])
{
    for (size_t i = 0; argv[i]; i++) {
        text_add(line, "%s", i ? " " : "");
        shell_quote(line, argv[i]);
    }
}
