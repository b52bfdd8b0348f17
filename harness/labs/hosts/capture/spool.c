#include "harness/labs/hosts/capture/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int spool_open(struct spool *s, const char *folder, int64_t limit_bytes, struct error *e)
{
    char *path = NULL;
    *s = (struct spool){.fd = -1, .limit_bytes = limit_bytes, .drops = -1};
    if (asprintf(&path, "%s/.capture-XXXXXX", folder) < 0)
        return error_set(e, "out of memory");
    s->fd = mkostemp(path, O_CLOEXEC);
    int result = s->fd < 0 || unlink(path) != 0 ? error_set_errno(e, errno, "capture: creating %s", path) : 0;
    free(path);
    return result;
}

int spool_take(struct spool *s, const char *bytes, size_t length, struct error *e)
{
    int64_t room = s->limit_bytes - s->bytes;
    s->full = s->full || (int64_t)length > room;
    size_t left = (int64_t)length > room ? (size_t)room : length;
    while (left > 0) {
        ssize_t written = write(s->fd, bytes, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return error_set_errno(e, written < 0 ? errno : ENOSPC, "capture: writing what a host captured");
        bytes += written;
        left -= (size_t)written;
        s->bytes += written;
    }
    return 0;
}

/* tcpdump(8): "listening on data0, ..."; at its end "3 packets dropped by kernel" and, if there are any, "... by interface". */
void spool_hear(struct spool *s, const char *line)
{
    int64_t count;
    char by[16];
    s->listening = s->listening || strstr(line, "listening on ");
    if (sscanf(line, "%" SCNd64 " packets dropped by %15s", &count, by) != 2 || count < 0 ||
        count > INT64_MAX / 4)
        return;
    s->drops = (s->drops < 0 ? 0 : s->drops) + count;
}

void spool_close(struct spool *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}
