#include "lib/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void append_errno(struct error *e, int number)
{
    char buffer[128];
    size_t length = strlen(e->text);
    snprintf(e->text + length, sizeof e->text - length, ": %s", strerror_r(number, buffer, sizeof buffer));
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
        append_errno(e, number);
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
        int length = vsnprintf(e->text, sizeof e->text, format, arguments);
        va_end(arguments);
        if (length >= 0 && (size_t)length < sizeof e->text)
            snprintf(e->text + length, sizeof e->text - (size_t)length, ": %s", old);
    }
    return -1;
}
