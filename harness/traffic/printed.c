#include "harness/traffic/printed.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN      160
#define MOST_COUNT 1000000000000000. /* a number with more digits was not counted */
#define DIGITS     "0123456789"

bool printed_next(const char **at, const char *end, struct printed_line *line)
{
    const char *feed = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
    if (!feed)
        return false;
    *line = (struct printed_line){*at, (size_t)(feed - *at)};
    *at = feed + 1;
    return true;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

void printed_split(const struct printed_line *line, struct printed_words *out)
{
    out->count = 0;
    out->items[0][0] = '\0';
    for (size_t i = 0; i < line->length;) {
        size_t begin = i;
        while (i < line->length && !blank(line->at[i]))
            i++;
        size_t length = i - begin;
        if (length >= PRINTED_WORD || (length && out->count == PRINTED_WORDS)) {
            out->count = PRINTED_WORDS + 1;
            return;
        }
        if (length) {
            memcpy(out->items[out->count], line->at + begin, length);
            out->items[out->count++][length] = '\0';
        }
        i += i < line->length;
    }
}

static bool same_word(const char *word, const char *expected)
{
    const char *other = strchr(expected, '|');
    size_t length = other ? (size_t)(other - expected) : strlen(expected);
    return (strlen(word) == length && memcmp(word, expected, length) == 0) ||
           (other && strcmp(word, other + 1) == 0);
}

bool printed_words_are(const struct printed_words *words, const char *const expected[])
{
    size_t count = 0;
    while (expected[count])
        count++;
    bool same = words->count == count;
    for (size_t i = 0; same && i < count; i++)
        same = same_word(words->items[i], expected[i]);
    return same;
}

bool printed_number(const char *word, double *value)
{
    size_t whole = strspn(word, DIGITS), end = whole;
    if (whole && word[whole] == '.') {
        size_t fraction = strspn(word + whole + 1, DIGITS);
        end = fraction ? whole + 1 + fraction : whole;
    }
    if (whole && word[end] == 'e' && (word[end + 1] == '+' || word[end + 1] == '-')) {
        size_t exponent = strspn(word + end + 2, DIGITS);
        end = exponent == 2 ? end + 2 + exponent : end;
    }
    *value = strtod(word, NULL);
    return whole && !word[end];
}

bool printed_count(const char *word, int64_t *value)
{
    double number;
    if (!printed_number(word, &number) || word[strspn(word, DIGITS)] || number > MOST_COUNT)
        return false;
    *value = (int64_t)number;
    return true;
}

int printed_refuse(const struct printed_line *line, const char *expected, struct error *e)
{
    return error_set(e, "its output has the line \"%.*s\": expected %s",
                     (int)(line->length < SHOWN ? line->length : SHOWN), line->at, expected);
}

/* ---- for messages */

#define TAIL_LINES 3

static bool says_something(const char *line, size_t length)
{
    size_t i = 0;
    while (i < length && (line[i] == '-' || blank(line[i])))
        i++;
    return i < length && !memmem(line, length, " NCCL INFO ", strlen(" NCCL INFO "));
}

void printed_tail(const char *printed, size_t length, struct text *out)
{
    struct printed_line kept[TAIL_LINES];
    size_t count = 0, end = length;
    while (end && count < TAIL_LINES) {
        size_t begin = end;
        while (begin && printed[begin - 1] != '\n')
            begin--;
        if (says_something(printed + begin, end - begin))
            kept[count++] = (struct printed_line){printed + begin, end - begin};
        end = begin ? begin - 1 : 0;
    }
    while (count--) {
        size_t most = kept[count].length < SHOWN ? kept[count].length : SHOWN;
        text_add_bytes(out, kept[count].at, most);
        text_add(out, "%s", count ? " | " : "");
    }
}

bool printed_help_knows(const char *help, const char *option)
{
    size_t length = strcspn(option, "=");
    for (const char *at = help; (at = strstr(at, "--")); at += 2)
        if (strncmp(at, option, length) == 0 && !isalnum((unsigned char)at[length]) && at[length] != '_' &&
            at[length] != '-')
            return true;
    return false;
}
