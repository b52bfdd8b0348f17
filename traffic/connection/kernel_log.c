/* Kernel messages during an operation: lines of NVIDIA's and the RDMA drivers in /dev/kmsg, if it is readable. */
#include "traffic/memory/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAX 8192 /* one read of /dev/kmsg gives one record, at most this long */

/* A record is "priority,sequence,time_us,flags;text\n...": Documentation/ABI/testing/dev-kmsg. */
static const char *text_of(char *record)
{
    char *semicolon = strchr(record, ';');
    record[strcspn(record, "\n")] = '\0';
    return semicolon ? semicolon + 1 : record;
}

static bool concerns_us(const char *text)
{
    static const char *const words[] = {"NVRM",       "nvidia",  "peermem", "mlx5",
                                        "infiniband", "ib_core", "rdma",    NULL};
    for (size_t i = 0; words[i]; i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

int kernel_log_open(void)
{
    int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        lseek(fd, 0, SEEK_END);
    return fd;
}

void kernel_log_read(int fd, char *text, size_t size)
{
    char record[RECORD_MAX + 1];
    size_t used = 0;
    ssize_t n;
    *text = '\0';
    while (fd >= 0 && (n = read(fd, record, RECORD_MAX)) > 0) {
        record[n] = '\0';
        const char *line = text_of(record);
        if (concerns_us(line) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " | " : "", line);
    }
}
