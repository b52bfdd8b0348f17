#include "lib/error.h"

#include "lib/output/visible.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The sentence, which may quote bytes from anywhere, as text: e is read by people, and is put into JSON and
 * pages. */
static void format_sentence(struct error *e, const char *format, va_list arguments)
{
    char raw[sizeof e->text + 4]; /* so that a last character which does not fit is known */
    vsnprintf(raw, sizeof raw, format, arguments);
    visible_copy(e->text, sizeof e->text, raw, utf8_cut(raw, strlen(raw), sizeof e->text - 1), VISIBLE_TEXT);
}

/* Add ": words" as far as there is room. */
static void append_words(struct error *e, const char *words)
{
    size_t length = strlen(e->text), room = sizeof e->text - length;
    if (room < 4)
        return;
    memcpy(e->text + length, ": ", 2);
    visible_copy(e->text + length + 2, room - 2, words, strlen(words), VISIBLE_TEXT);
}

int error_set(struct error *e, const char *format, ...)
{
    if (e) {
        va_list arguments;
        va_start(arguments, format);
        format_sentence(e, format, arguments);
        va_end(arguments);
    }
    return -1;
}

int error_set_errno(struct error *e, int number, const char *format, ...)
{
    if (e) {
        va_list arguments;
        va_start(arguments, format);
        format_sentence(e, format, arguments);
        va_end(arguments);
        char buffer[128];
        append_words(e, strerror_r(number, buffer, sizeof buffer));
    }
    return -1;
}

int error_prefix(struct error *e, const char *format, ...)
{
    if (e) {
        char old[sizeof e->text];
        memcpy(old, e->text, sizeof old);
        va_list arguments;
        va_start(arguments, format);
        format_sentence(e, format, arguments);
        va_end(arguments);
        append_words(e, old);
    }
    return -1;
}

void error_one_line(struct error *e)
{
    const struct error told = *e;
    visible_copy(e->text, sizeof e->text, told.text, strlen(told.text), VISIBLE_LINE);
}
