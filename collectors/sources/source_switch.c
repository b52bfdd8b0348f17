/*
 * Counters of the switch of the virtual ConnectX (virtual-connectx/model/switch/show.c): lines "NAME VALUE",
 * the same in the same order at each reading. They are the whole switch's, whatever interface is sampled.
 */
#include "collectors/sources/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME    "/sys/kernel/debug/virtual-connectx/switch/counters"
#define BUFFER_BYTES 262144 /* 32 ports have 170,000 */

struct switch_counters {
    int descriptor;
    size_t count;
    char buffer[BUFFER_BYTES];
};

static int read_file(struct switch_counters *s, struct error *e)
{
    ssize_t length = pread(s->descriptor, s->buffer, sizeof s->buffer - 1, 0);
    if (length == -1)
        return error_set_errno(e, errno, "reading %s", FILE_NAME);
    s->buffer[length] = '\0';
    return 0;
}

/* Take the next line apart; *rest moves behind it. False at the end, or where there is not such a line. */
static bool take_line(char **rest, const char **name, int64_t *value)
{
    char *line = strsep(rest, "\n"), *space = line ? strchr(line, ' ') : NULL, *end;
    if (!space)
        return false;
    *space = '\0';
    *name = line;
    errno = 0;
    uint64_t number = strtoull(space + 1, &end, 10);
    *value = source_value(number);
    return errno == 0 && end != space + 1 && *end == '\0';
}

static void switch_close(void *state)
{
    struct switch_counters *s = state;
    if (s && s->descriptor != -1)
        close(s->descriptor);
    free(s);
}

static int add_columns(struct switch_counters *s, struct column_set *columns, struct error *e)
{
    char *rest = s->buffer;
    const char *name;
    int64_t value;
    while (take_line(&rest, &name, &value) && s->count < SOURCE_MAX_COLUMNS) {
        if (column_set_add(columns, name, e) == -1)
            return -1;
        s->count++;
    }
    return s->count ? 0 : error_set(e, "%s has no line \"NAME VALUE\"", FILE_NAME);
}

static void *switch_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct switch_counters *s = calloc(1, sizeof *s);
    char path[PATH_MAX];
    if (!s) {
        error_set(e, "out of memory for the switch's counters");
        return NULL;
    }
    snprintf(path, sizeof path, "%s%s", target->root, FILE_NAME);
    s->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (s->descriptor == -1)
        error_set_errno(e, errno, "no switch of the module virtual_connectx: opening %s", path);
    else if (read_file(s, e) == 0 && add_columns(s, columns, e) == 0)
        return s;
    switch_close(s);
    return NULL;
}

static enum source_outcome switch_read(void *state, int64_t *values, struct error *e)
{
    struct switch_counters *s = state;
    char *rest = s->buffer;
    const char *name;
    int64_t value;
    size_t count = 0;
    if (read_file(s, e) != 0)
        return SOURCE_GONE;
    for (; take_line(&rest, &name, &value); count++)
        if (count < s->count)
            values[count] = value;
    return count == s->count ? SOURCE_OK : SOURCE_CHANGED;
}

const struct source_kind source_switch = {
    .name = "switch",
    .about = "the virtual switch",
    .counts_for = "the switch",
    .open = switch_open,
    .read = switch_read,
    .close = switch_close,
};
