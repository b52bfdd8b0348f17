#include "lib/output/print.h"

#include "lib/output/visible.h"

void print_bytes(FILE *file, const char *bytes, size_t length)
{
    struct text shown = {0};
    visible_add(&shown, bytes, length, VISIBLE_TEXT);
    fputs(text_string(&shown), file); /* the program's end asks whether all was written */
    text_free(&shown);
}

void print_list(FILE *file, const char *format, va_list arguments)
{
    struct text raw = {0};
    text_add_list(&raw, format, arguments);
    print_bytes(file, text_string(&raw), raw.length);
    text_free(&raw);
}

void print_out(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_list(stdout, format, arguments);
    va_end(arguments);
}

void print_out_line(const char *format, ...)
{
    struct text line = {0};
    va_list arguments;
    va_start(arguments, format);
    visible_add_line(&line, format, arguments);
    va_end(arguments);
    text_add(&line, "\n");
    fwrite(text_string(&line), 1, line.length, stdout);
    text_free(&line);
}

void print_to(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_list(file, format, arguments);
    va_end(arguments);
}
