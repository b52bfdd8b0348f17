#include "lib/log.h"

#include "lib/output/print.h"
#include "lib/output/visible.h"
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

static void write_line(const char *kind, const char *format, va_list arguments)
{
    struct text raw = {0}, line = {0}, folded = {0};
    text_add(&raw, "%s: %s", program_invocation_short_name, kind);
    visible_add(&line, text_string(&raw), raw.length, VISIBLE_LINE);
    visible_add_line(&line, format, arguments);
    text_add(&line, "\n");
    print_fold(&folded, text_string(&line), 0, PRINT_HANGING, columns_of_terminal(stderr));
    ssize_t written = write(STDERR_FILENO, text_string(&folded), folded.length);
    (void)written; /* a failure to write a message cannot be reported */
    text_free(&raw);
    text_free(&line);
    text_free(&folded);
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
