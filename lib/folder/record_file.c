#include "lib/folder/record_file.h"

#include "lib/files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ssize_t record_file_write(void *cookie, const char *data, size_t length)
{
    struct record_file *f = cookie;
    for (size_t at = 0; at < length && !f->failed;) {
        ssize_t written = write(f->fd, data + at, length - at);
        if (written > 0)
            at += (size_t)written;
        else if (written == 0 || errno != EINTR)
            f->failed = written == 0 ? ENOSPC : errno;
    }
    return f->failed ? 0 : (ssize_t)length;
}

int record_file_open(struct record_file *f, const char *folder, const char *name, struct error *e)
{
    static const cookie_io_functions_t functions = {.write = record_file_write};
    *f = (struct record_file){.fd = -1};
    if (asprintf(&f->path, "%s/%s", folder, name) < 0) {
        f->path = NULL;
        return error_set(e, "creating %s: out of memory", name);
    }
    f->fd = open(f->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (f->fd >= 0 && ftruncate(f->fd, 0) == 0) /* what is not a regular file fails: EINVAL */
        f->stream = fopencookie(f, "w", functions);
    if (f->stream)
        return 0;
    error_set_errno(e, errno, "creating %s", f->path);
    record_file_close(f, NULL);
    return -1;
}

int record_file_check(const struct record_file *f, struct error *e)
{
    return f->failed ? error_set_errno(e, f->failed, "writing %s", f->path) : 0;
}

int record_file_flush(struct record_file *f, struct error *e)
{
    if (f->stream && fflush(f->stream) != 0 && !f->failed)
        f->failed = errno;
    return record_file_check(f, e);
}

int record_file_sync(struct record_file *f, struct error *e)
{
    if (record_file_flush(f, e) == 0 && fsync(f->fd) != 0)
        f->failed = errno;
    return record_file_check(f, e) != 0 ? -1 : files_sync_name(f->path, e);
}

static void record_file_cut_last_line(const struct record_file *f)
{
    char byte = '\n';
    off_t end = lseek(f->fd, 0, SEEK_END);
    while (end > 0 && pread(f->fd, &byte, 1, end - 1) == 1 && byte != '\n')
        end--;
    int cut = ftruncate(f->fd, end);
    (void)cut; /* readers leave out a last line without a newline */
}

int record_file_close(struct record_file *f, struct error *e)
{
    int result = record_file_flush(f, e);
    if (f->stream)
        fclose(f->stream);
    if (f->fd >= 0 && f->failed)
        record_file_cut_last_line(f);
    if (f->fd >= 0 && close(f->fd) != 0 && result == 0)
        result = error_set_errno(e, errno, "writing %s", f->path);
    free(f->path);
    *f = (struct record_file){.fd = -1};
    return result;
}
