#include "lib/xalloc.h"
#include "lib/log.h"
#include "lib/program/program.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void end_without_memory(size_t count, size_t bytes)
{
    log_error("out of memory: %zu x %zu bytes were refused by the system", count, bytes);
    exit(EXIT_LAB);
}

void *xmalloc(size_t bytes)
{
    return xreallocarray(NULL, 1, bytes);
}

void *xcalloc(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes ? bytes : 1);
    if (!memory)
        end_without_memory(count, bytes);
    return memory;
}

void *xreallocarray(void *memory, size_t count, size_t bytes)
{
    void *moved = reallocarray(memory, count ? count : 1, bytes ? bytes : 1);
    if (!moved)
        end_without_memory(count, bytes);
    return moved;
}

char *xstrdup(const char *string)
{
    return xstrndup(string, strlen(string));
}

char *xstrndup(const char *string, size_t length)
{
    char *copy = strndup(string, length);
    if (!copy)
        end_without_memory(1, length);
    return copy;
}

char *xasprintf(const char *format, ...)
{
    va_list arguments;
    char *string = NULL;
    va_start(arguments, format);
    int length = vasprintf(&string, format, arguments);
    va_end(arguments);
    if (length < 0)
        end_without_memory(1, strlen(format));
    return string;
}
