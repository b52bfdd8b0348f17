#include "lib/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Add ": words" as far as there is room. */
static void append(struct error *e, const char *words)
{
    size_t length = strlen(e->text), room = sizeof e->text - 1 - length, more = strlen(words);
    if (room < 3)
        return;
    if (more > room - 2)
        more = room - 2;
    memcpy(e->text + length, ": ", 2);
    memcpy(e->text + length + 2, words, more);
    e->text[length + 2 + more] = '\0';
}

int error_set(struct error *e, const char *format, ...)
{
    if (e) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(e->text, sizeof e->text, format, arguments);
        va_end(arguments);
    }
    return -1;
}

int error_set_errno(struct error *e, int number, const char *format, ...)
{
    if (e) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(e->text, sizeof e->text, format, arguments);
        va_end(arguments);
        char buffer[128];
        append(e, strerror_r(number, buffer, sizeof buffer));
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
        vsnprintf(e->text, sizeof e->text, format, arguments);
        va_end(arguments);
        append(e, old);
    }
    return -1;
}
