#include "lib/log.h"

#include "lib/text.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void write_line(const char *kind, const char *format, va_list arguments)
{
    char message[2048];
    struct text line = {0};
    vsnprintf(message, sizeof message, format, arguments);
    text_add(&line, "%s: %s%s\n", program_invocation_short_name, kind, message);
    ssize_t written = write(STDERR_FILENO, text_string(&line), line.length);
    (void)written; /* a failure to write a message cannot be reported */
    text_free(&line);
}

void log_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line("error: ", format, arguments);
    va_end(arguments);
}

void log_warning(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line("warning: ", format, arguments);
    va_end(arguments);
}

void log_info(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line("", format, arguments);
    va_end(arguments);
}
