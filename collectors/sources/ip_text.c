#include "collectors/sources/ip_text.h"

#include "lib/formats/lines.h"
#include <stdbool.h>
#include <string.h>

/* A part of the text. */
struct span {
    const char *at, *end;
};

static struct span next_line(struct span *rest)
{
    struct span line = {.at = rest->at, .end = rest->end};
    const char *newline = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));
    if (newline)
        line.end = newline;
    rest->at = newline ? newline + 1 : rest->end;
    return line;
}

static struct span next_word(struct span *line)
{
    while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
        line->at++;
    struct span word = {.at = line->at, .end = line->at};
    while (word.end < line->end && *word.end != ' ' && *word.end != '\t')
        word.end++;
    line->at = word.end;
    return word;
}

static int64_t number(struct span word)
{
    int64_t value = 0;
    if (word.at == word.end)
        return LINES_NULL;
    for (; word.at < word.end; word.at++)
        if (*word.at < '0' || *word.at > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *word.at - '0', &value))
            return LINES_NULL;
    return value;
}

/* Is `name` the prefix followed by the word? */
static bool is_name(const char *name, struct span prefix, struct span word)
{
    size_t before = (size_t)(prefix.end - prefix.at), length = (size_t)(word.end - word.at);
    return strlen(name) == before + length && memcmp(name, prefix.at, before) == 0 &&
           memcmp(name + before, word.at, length) == 0;
}

static void store_counter(const char *const *names, struct span prefix, struct span word, struct span value,
                          int64_t *values)
{
    for (size_t i = 0; names[i]; i++)
        if (is_name(names[i], prefix, word))
            values[i] = number(value);
}

static bool spans_equal(struct span a, struct span b)
{
    return a.end - a.at == b.end - b.at && memcmp(a.at, b.at, (size_t)(a.end - a.at)) == 0;
}

/* A pair matters only when some name begins with its prefix. */
static bool begins_some_name(const char *const *names, struct span prefix)
{
    size_t length = (size_t)(prefix.end - prefix.at);
    for (size_t i = 0; names[i]; i++)
        if (strlen(names[i]) > length && memcmp(names[i], prefix.at, length) == 0)
            return true;
    return false;
}

static void take_pair(struct span heads, struct span numbers, const char *const *names, int64_t *values)
{
    struct span prefix = next_word(&heads);
    if (!spans_equal(prefix, next_word(&numbers)) || prefix.at == prefix.end || prefix.end[-1] != ':')
        return;
    prefix.end--;
    if (!begins_some_name(names, prefix))
        return;
    for (struct span word = next_word(&heads); word.at < word.end; word = next_word(&heads))
        store_counter(names, prefix, word, next_word(&numbers), values);
}

void ip_text_values(const char *text, size_t length, const char *const *names, int64_t *values)
{
    for (size_t i = 0; names[i]; i++)
        values[i] = LINES_NULL;
    struct span rest = {.at = text, .end = text + length};
    while (rest.at < rest.end) {
        struct span heads = next_line(&rest);
        take_pair(heads, next_line(&rest), names, values);
    }
}
