#include "lib/kernel/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_NAMES 4096

/* root + formatted path into path[PATH_MAX]; false with errno when it does not fit. */
static bool make_path(char *path, const char *root, const char *format, va_list arguments)
{
    int length = snprintf(path, PATH_MAX, "%s", root);
    int more = -1;
    if (length >= 0 && length < PATH_MAX)
        more = vsnprintf(path + length, (size_t)(PATH_MAX - length), format, arguments);
    if (more >= 0 && length + more < PATH_MAX)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

static ssize_t read_path(const char *path, void *buffer, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd == -1)
        return -1;
    size_t used = 0;
    ssize_t got = 1;
    while (used < size && got > 0) {
        got = read(fd, (char *)buffer + used, size - used);
        if (got == -1 && errno == EINTR)
            got = 1;
        else if (got > 0)
            used += (size_t)got;
    }
    int number = errno;
    close(fd);
    errno = number;
    return got == -1 ? -1 : (ssize_t)used;
}

ssize_t sysfs_bytes(void *buffer, size_t size, const char *root, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    bool fits = make_path(path, root, format, arguments);
    va_end(arguments);
    return fits ? read_path(path, buffer, size) : -1;
}

/* The first line, printable, without white space at the end. */
static size_t clean_line(char *text, size_t length)
{
    size_t end = 0;
    while (end < length && text[end] != '\n' && text[end] != '\0') {
        unsigned char c = (unsigned char)text[end];
        if (c == '\t')
            text[end] = ' ';
        else if (c < ' ' || c >= 0x7f)
            text[end] = '?';
        end++;
    }
    while (end > 0 && text[end - 1] == ' ')
        end--;
    text[end] = '\0';
    return end;
}

ssize_t sysfs_text(char *buffer, size_t size, const char *root, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    bool fits = make_path(path, root, format, arguments);
    va_end(arguments);
    buffer[0] = '\0';
    ssize_t length = fits ? read_path(path, buffer, size - 1) : -1;
    if (length == -1) {
        buffer[0] = '\0';
        return -1;
    }
    return (ssize_t)clean_line(buffer, (size_t)length);
}

bool sysfs_parse_number(const char *text, int64_t *value)
{
    char *end;
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!isdigit((unsigned char)text[0]) && text[0] != '-')
        return false;
    errno = 0;
    long long number = strtoll(text, &end, hexadecimal ? 16 : 10);
    if (errno != 0 || end == text || *end != '\0')
        return false;
    *value = number;
    return true;
}

bool sysfs_number(int64_t *value, const char *root, const char *format, ...)
{
    char path[PATH_MAX], text[64];
    va_list arguments;
    va_start(arguments, format);
    bool fits = make_path(path, root, format, arguments);
    va_end(arguments);
    ssize_t length = fits ? read_path(path, text, sizeof text - 1) : -1;
    if (length == -1)
        return false;
    clean_line(text, (size_t)length);
    if (sysfs_parse_number(text, value))
        return true;
    errno = EINVAL;
    return false;
}

ssize_t sysfs_link(char *buffer, size_t size, const char *root, const char *format, ...)
{
    char path[PATH_MAX], to[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    bool fits = make_path(path, root, format, arguments);
    va_end(arguments);
    buffer[0] = '\0';
    ssize_t length = fits ? readlink(path, to, sizeof to - 1) : -1;
    if (length == -1)
        return -1;
    to[length] = '\0';
    const char *slash = strrchr(to, '/');
    const char *name = slash ? slash + 1 : to;
    size_t used = strlen(name);
    if (used >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(buffer, name, used + 1);
    return (ssize_t)clean_line(buffer, used);
}

char *sysfs_resolve(const char *root, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    bool fits = make_path(path, root, format, arguments);
    va_end(arguments);
    char *found = fits ? realpath(path, NULL) : NULL;
    char *base = found && root[0] != '\0' ? realpath(root, NULL) : NULL;
    size_t length = base ? strlen(base) : 0;
    if (found && base) {
        /* A link that leaves the tree is treated as missing. */
        if (strncmp(found, base, length) == 0 && found[length] == '/') {
            memmove(found, found + length, strlen(found + length) + 1);
        } else {
            free(found);
            found = NULL;
            errno = ENOENT;
        }
    }
    free(base);
    return found;
}

bool sysfs_exists(const char *root, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    bool fits = make_path(path, root, format, arguments);
    va_end(arguments);
    return fits && access(path, F_OK) == 0;
}

bool sysfs_safe_name(const char *name)
{
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    for (const char *p = name; *p != '\0'; p++)
        if (*p == '/' || (unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
            return false;
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static bool add_name(struct sysfs_names *names, const char *name)
{
    char **larger = realloc(names->items, (names->count + 1) * sizeof *larger);
    if (!larger)
        return false;
    names->items = larger;
    larger[names->count] = strdup(name);
    if (!larger[names->count])
        return false;
    names->count++;
    return true;
}

struct sysfs_names sysfs_list(const char *root, const char *format, ...)
{
    struct sysfs_names names = {0};
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    bool fits = make_path(path, root, format, arguments);
    va_end(arguments);
    DIR *folder = fits ? opendir(path) : NULL;
    if (!folder)
        return names;
    const struct dirent *entry;
    while (names.count < MAX_NAMES && (entry = readdir(folder)))
        if (sysfs_safe_name(entry->d_name) && !add_name(&names, entry->d_name))
            break;
    closedir(folder);
    if (names.count > 0)
        qsort(names.items, names.count, sizeof *names.items, compare_names);
    return names;
}

void sysfs_names_free(struct sysfs_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct sysfs_names){0};
}
