#include "collectors/sources/slow_files.h"

#include "lib/clock.h"
#include "lib/kernel/sysfs.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RENEW_WITHIN_NS NS_PER_S

struct slow_file {
    int descriptor;
    enum slow_text text;
    char *path;
    int64_t value;
};

struct slow_files {
    const char *root;
    int64_t every_ns;
    struct slow_file *items;
    size_t count;
    size_t next;
    bool filled; /* every file was read once */
};

/* ---- texts */

/* "8.0 GT/s PCIe" is 8000; older kernels wrote "8 GT/s" (drivers/pci/probe.c, pci_speed_string). */
static int64_t link_speed(const char *text)
{
    char *end;
    double gigatransfers = strtod(text, &end);
    if (end == text || strncmp(end, " GT/s", 5) != 0 || !(gigatransfers > 0) || gigatransfers > 1000)
        return LINES_NULL;
    return (int64_t)(gigatransfers * 1000 + 0.5);
}

/* drivers/pci/pcie/aer.c: "RxErr 0\n...TOTAL_ERR_COR 0\n". */
static int64_t aer_total(const char *text)
{
    const char *line = strstr(text, "TOTAL_ERR");
    const char *space = line ? strchr(line, ' ') : NULL;
    char *end;
    if (!space || space[1] < '0' || space[1] > '9')
        return LINES_NULL;
    errno = 0;
    long long total = strtoll(space + 1, &end, 10);
    return errno == 0 && (*end == '\n' || *end == '\0') ? total : LINES_NULL;
}

int64_t slow_text_value(enum slow_text text, const char *data, size_t length)
{
    char copy[1024];
    if (length >= sizeof copy)
        length = sizeof copy - 1;
    memcpy(copy, data, length);
    copy[length] = '\0';
    int64_t value = LINES_NULL;
    switch (text) {
    case SLOW_NUMBER:
        copy[strcspn(copy, "\n")] = '\0';
        return sysfs_parse_number(copy, &value) ? value : LINES_NULL;
    case SLOW_PORT_SPEED:
        value = slow_text_value(SLOW_NUMBER, data, length);
        return value >= 0 ? value : LINES_NULL;
    case SLOW_LINK_SPEED:
        return link_speed(copy);
    case SLOW_AER_TOTAL:
        return aer_total(copy);
    }
    return value;
}

/* ---- files */

struct slow_files *slow_files_new(const struct target *target, struct error *e)
{
    struct slow_files *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory");
        return NULL;
    }
    s->root = target->root;
    s->every_ns = target->every_ns > 0 ? target->every_ns : RENEW_WITHIN_NS;
    return s;
}

int slow_files_add(struct slow_files *s, struct column_set *columns, const char *name, enum slow_text text,
                   const char *path, struct error *e)
{
    char whole[PATH_MAX];
    if (snprintf(whole, sizeof whole, "%s%s", s->root, path) >= (int)sizeof whole)
        return 0;
    int descriptor = open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor == -1)
        return 0;
    struct slow_file *larger = realloc(s->items, (s->count + 1) * sizeof *larger);
    if (larger)
        s->items = larger;
    char *copy = strdup(whole);
    if (!larger || !copy || column_set_add(columns, name, e) == -1) {
        free(copy);
        close(descriptor);
        return error_set(e, "out of memory for %s", path);
    }
    larger[s->count++] = (struct slow_file){.descriptor = descriptor, .text = text, .path = copy};
    return 1;
}

/* A file whose device has gone says ENODEV; others may have no value at the moment (the speed of a link that
 * is down). */
static int renew(struct slow_file *f, struct error *e)
{
    char buffer[1024];
    ssize_t length = pread(f->descriptor, buffer, sizeof buffer, 0);
    f->value = LINES_NULL;
    if (length > 0)
        f->value = slow_text_value(f->text, buffer, (size_t)length);
    else if (length == -1 && (errno == ENODEV || errno == ENXIO))
        return error_set_errno(e, errno, "reading %s", f->path);
    return 0;
}

enum source_outcome slow_files_read(void *state, int64_t *values, struct error *e)
{
    struct slow_files *s = state;
    size_t renewals = (size_t)(((int64_t)s->count * s->every_ns + RENEW_WITHIN_NS - 1) / RENEW_WITHIN_NS);
    if (!s->filled || renewals > s->count)
        renewals = s->count;
    for (; renewals > 0; renewals--) {
        if (renew(&s->items[s->next], e) == -1)
            return SOURCE_GONE;
        s->next = (s->next + 1) % s->count;
    }
    s->filled = true;
    for (size_t i = 0; i < s->count; i++)
        values[i] = s->items[i].value;
    return SOURCE_OK;
}

void slow_files_close(void *state)
{
    struct slow_files *s = state;
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        close(s->items[i].descriptor);
        free(s->items[i].path);
    }
    free(s->items);
    free(s);
}
