#include "lib/output/print.h"

#include "lib/output/visible.h"

#include <stdio_ext.h>
#include <string.h>
#include <sys/ioctl.h>

#define HANG         4 /* columns behind the beginning of a line */
#define HANG_OF_PART 6 /* where its beginning was printed before */

/* ---- lines as wide as the terminal */

size_t columns_of_terminal(FILE *file)
{
    struct winsize size;
    return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static size_t characters(const char *bytes, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
    return count;
}

/* One line, up to its line feed; returns where it ends. */
static const char *fold_line(struct text *out, const char *line, size_t at, size_t indent, size_t width)
{
    size_t own = at ? 0 : strspn(line, " "), hang = own + HANG, column = at, begins = own;
    if (indent != PRINT_HANGING)
        hang = indent;
    else if (at)
        hang = HANG_OF_PART;
    while (*line && *line != '\n') {
        size_t spaces = strspn(line, " "), length = strcspn(line + spaces, " \n"),
               count = characters(line + spaces, length);
        if (spaces && length && column > begins && column + spaces + count > width) {
            text_add(out, "\n%*s", (int)hang, "");
            column = begins = hang;
        } else {
            text_add(out, "%*s", (int)spaces, "");
            column += spaces;
        }
        text_add_bytes(out, line + spaces, length);
        column += count;
        line += spaces + length;
    }
    return line;
}

void print_fold(struct text *out, const char *text, size_t at, size_t indent, size_t width)
{
    if (!width) {
        text_add_bytes(out, text, strlen(text));
        return;
    }
    while (*text) {
        text = fold_line(out, text, at, indent, width);
        if (*text == '\n') {
            text_add(out, "\n");
            text++;
        }
        at = 0;
    }
}

/* A terminal's output is kept until its line ends (__flbf): what is kept stands in the line. Before the first
 * output there is no buffer, and it is not known yet; a buffer of one byte is that of an unbuffered stream.
 * Elsewhere the kernel is not asked each time. */
static void put(FILE *file, const char *shown)
{
    bool may_be_terminal = file == stdout && (__flbf(stdout) || __fbufsize(stdout) <= 1);
    size_t width = may_be_terminal ? columns_of_terminal(stdout) : 0;
    struct text folded = {0};
    if (width)
        print_fold(&folded, shown, __fpending(stdout), PRINT_HANGING, width);
    fputs(folded.length ? text_string(&folded) : shown,
          file); /* the program's end asks whether all was written */
    text_free(&folded);
}

/* ---- printing */

void print_bytes(FILE *file, const char *bytes, size_t length)
{
    struct text shown = {0};
    visible_add(&shown, bytes, length, VISIBLE_TEXT);
    put(file, text_string(&shown));
    text_free(&shown);
}

void print_document(const char *text)
{
    struct text shown = {0};
    visible_add(&shown, text, strlen(text), VISIBLE_TEXT);
    fputs(text_string(&shown), stdout);
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
    put(stdout, text_string(&line));
    text_free(&line);
}

void print_to(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_list(file, format, arguments);
    va_end(arguments);
}
