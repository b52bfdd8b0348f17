#include "lib/output/shell.h"

#include <stdbool.h>
#include <string.h>

/* Words of only these characters need no quotes in a POSIX shell ("=" is not among them: NAME=x before a command
 * assigns). */
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

void shell_quote_all(struct text *line, const char *const argv[])
{
    for (size_t i = 0; argv[i]; i++) {
        text_add(line, "%s", i ? " " : "");
        shell_quote(line, argv[i]);
    }
}
